"""Any ranker as one kind of function: ours by name, score functions, scikit-learn estimators."""

from __future__ import annotations

from inspect import Parameter, isclass, signature
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fujiscore.errors import InputError, MissingExtraError, choice
from fujiscore.rankers.data import listed_columns
from fujiscore.rankers.forest import genie3, random_forest
from fujiscore.rankers.information import mutual_information
from fujiscore.rankers.relief import relief
from fujiscore.seeds import as_seed

if TYPE_CHECKING:
    from collections.abc import Callable

    from fujiscore.rankers.data import Scores

    Ranker: TypeAlias = Callable[[Any, Any, Any], Scores]

RANKERS: dict[str, Callable[..., Scores]] = {
    "relief": relief,
    "mutual_information": mutual_information,
    "genie3": genie3,
    "random_forest": random_forest,
}


def as_ranker(ranker: Any, **options: Any) -> Ranker:
    """Return a function (X, y, random_state) -> scores, whatever the ranker is.

    Parameters
    ----------
    ranker : str, callable or scikit-learn estimator
        A name ("relief", "mutual_information", "genie3", "random_forest"); a function of (X, y) that returns one
        score a feature, or a pair whose first part does, as scikit-learn's `f_classif`; or an estimator that has
        `feature_importances_` or `coef_` once fitted (of `coef_`, the norm over the classes). The estimator is
        cloned, never changed. Functions and estimators that take a `random_state` are given it.
    **options
        Passed to the function at each call; not for estimators, which have their own parameters.

    Returns
    -------
    callable
        (X, y, random_state) -> ndarray of float64, one finite score a feature.

    Examples
    --------
    >>> import numpy as np
    >>> from fujiscore.rankers import as_ranker
    >>> X = np.array([[0.0, 5], [1, 9], [10, 5], [9, 8]])
    >>> as_ranker("relief", neighbours=1)(X, ["a", "a", "b", "b"], 0).round(4)
    array([ 0.8 , -0.75])
    """
    if isinstance(ranker, str):
        choice("ranker", ranker, RANKERS)
        return _from_function(RANKERS[ranker], options)
    if hasattr(ranker, "fit") and not isclass(ranker):
        if options:
            raise InputError(f"An estimator takes no options here; got {', '.join(options)}. Set its own parameters.")
        return _from_estimator(ranker)
    if isclass(ranker) or not callable(ranker):
        shown = f"the class {ranker.__name__}; pass an instance of it" if isclass(ranker) else repr(ranker)
        raise InputError(
            f"ranker must be one of {', '.join(map(repr, RANKERS))}, a function of (X, y), or a scikit-learn "
            f"estimator; got {shown}."
        )
    return _from_function(ranker, options)


def _from_function(function: Callable[..., Any], options: dict[str, Any]) -> Ranker:
    """Return a ranker that calls a function of (X, y)."""
    name = getattr(function, "__name__", type(function).__name__)
    seeded = _takes_random_state(function) and "random_state" not in options

    def rank(X: Any, y: Any, random_state: Any = 0) -> Scores:
        seed = {"random_state": random_state} if seeded else {}
        found = function(X, y, **seed, **options)
        return _checked(found[0] if isinstance(found, tuple) else found, X, name)

    return rank


def _takes_random_state(function: Callable[..., Any]) -> bool:
    """Return whether a function has a parameter `random_state` that can be passed by name."""
    try:
        parameter = signature(function).parameters.get("random_state")
    except (TypeError, ValueError):  # some built-in functions do not tell
        return False
    return parameter is not None and parameter.kind in {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY}


def _from_estimator(estimator: Any) -> Ranker:
    """Return a ranker that fits a clone of an estimator and reads its importances or coefficients."""
    try:
        from sklearn.base import clone
    except ImportError:
        raise MissingExtraError("An estimator as a ranker needs scikit-learn: pip install 'fujiscore[ml]'") from None
    name = type(estimator).__name__

    def rank(X: Any, y: Any, random_state: Any = 0) -> Scores:
        fitted = clone(estimator)
        if "random_state" in fitted.get_params():
            fitted.set_params(random_state=as_seed(random_state))
        fitted.fit(X, y)
        if hasattr(fitted, "feature_importances_"):
            return _checked(fitted.feature_importances_, X, name)
        if hasattr(fitted, "coef_"):
            return _checked(_coefficient_norms(fitted.coef_), X, name)
        raise InputError(f"ranker must have feature_importances_ or coef_ once fitted; {name} has neither.")

    return rank


def _coefficient_norms(coefficients: Any) -> Scores:
    """Return the norm over the classes of each feature's coefficients."""
    dense = coefficients.toarray() if hasattr(coefficients, "toarray") else np.asarray(coefficients, np.float64)
    norms: Scores = np.linalg.norm(np.atleast_2d(dense), axis=0)
    return norms


def _checked(found: Any, X: Any, name: str) -> Scores:
    """Return scores as float64, or say what is wrong with them."""
    scores = np.asarray(found, np.float64)
    m = X.shape[1] if hasattr(X, "shape") else np.asarray(X).shape[1]
    if scores.shape != (m,):
        raise InputError(f"{name} must return one score a feature, an array of shape ({m},); got shape {scores.shape}.")
    bad = np.flatnonzero(np.isnan(scores)).tolist()
    if bad:
        raise InputError(f"{name} must score every feature; its score is NaN at {listed_columns(bad, None)}.")
    return scores
