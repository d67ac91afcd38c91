"""Any ranker as one kind of callable: ours by name, score functions, scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, isclass, signature
from typing import Any

import numpy as np

from fujiscore.errors import InputError, MissingExtraError, choice
from fujiscore.inputs.models.estimators import input_scores
from fujiscore.rankers.features import Features, Scores, described_columns
from fujiscore.rankers.forest import genie3, random_forest
from fujiscore.rankers.information import mutual_information
from fujiscore.rankers.relief import relief
from fujiscore.rankers.surf import multisurf, surf
from fujiscore.work.seeds import as_seed

RANKERS: dict[str, Callable[..., Scores]] = {
    "relief": relief,
    "mutual_information": mutual_information,
    "genie3": genie3,
    "random_forest": random_forest,
    "surf": surf,
    "multisurf": multisurf,
}
# Our methods that can use missing values.
GAPS = ("relief", "surf", "multisurf")


@dataclass(frozen=True, eq=False)
class Ranker:
    """A feature ranker, called as ranker(X, y, random_state); it can be pickled if its method can.

    Attributes
    ----------
    method : str, callable or scikit-learn estimator
        What computes the scores.
    options : mapping of str to value
        Keyword arguments for the method.
    """

    method: Any
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the method."""
        named = self.method if isinstance(self.method, str) else getattr(self.method, "__name__", None)
        return str(named or type(self.method).__name__)

    @property
    def built_in(self) -> bool:
        """Whether the method is one of ours, which take a prepared table and know its categorical columns."""
        return isinstance(self.method, str)

    @property
    def is_estimator(self) -> bool:
        """Whether the method is an estimator to be fitted."""
        return not self.built_in and hasattr(self.method, "fit")

    @property
    def keeps_gaps(self) -> bool:
        """Whether the method can use missing values, or is a function, which may."""
        return _allows_nan(self.method) if self.is_estimator else self.method in GAPS or not self.built_in

    @property
    def keeps_codes(self) -> bool:
        """Whether categories reach the method as codes: trees split them, functions get a note; not linear models."""
        return not self.is_estimator or hasattr(type(_innermost(self.method)), "feature_importances_")

    @property
    def task(self) -> str | None:
        """What an estimator is made for, as `Target.task` has it; None if it does not say, or is a function."""
        if not self.is_estimator:
            return None
        from sklearn.base import is_classifier, is_regressor

        return "regression" if is_regressor(self.method) else "classification" if is_classifier(self.method) else None

    def notes(self, table: Features) -> list[str]:
        """Return what a reader should know about how the method gets a table.

        Parameters
        ----------
        table : Features
            The prepared table.
        """
        some = described_columns(table.categorical, table.names) if table.categorical.any() else ""
        if self.built_in or not some:
            return []
        if self.keeps_codes:
            return [f"{self.name} is given the categories of {some} as codes 0, 1, ..., in sorted order"]
        score = "a column's score is the sum of the magnitudes over its categories, which grows with their number"
        return [f"{self.name} is given {some} one-hot; {score}"]

    def __call__(self, X: Any, y: Any = None, random_state: Any = 0) -> Scores:
        """Return one score per feature; methods other than ours are given a prepared table as X and y."""
        table = X if isinstance(X, Features) else None
        if table is not None:
            table = X = table if self.keeps_gaps else table.filled()
        if isinstance(self.method, str):
            scores = RANKERS[self.method](X, y, **{"random_state": random_state, **self.options})
        elif table is not None:
            scores = self._of_table(table, random_state)
        else:
            scores = self._computed(X, y, random_state)
        m = np.shape(X)[1] if table is None else table.categorical.size
        if scores.shape != (m,):
            required = f"must return one score per feature, an array of shape ({m},)"
            raise InputError(f"{self.name} {required}; got shape {scores.shape}.")
        bad = np.flatnonzero(np.isnan(scores) | (scores == np.inf))
        if bad.size:
            gives = f"{scores[bad[0]]} for {described_columns(bad, None if table is None else table.names)}"
            raise InputError(f"{self.name} must give every feature a finite score; it gives {gives}.")
        return scores

    def _of_table(self, table: Features, random_state: Any) -> Scores:
        """Return the scores of a method other than ours; one-hot columns count for the column they come from."""
        if self.keeps_codes or not table.categorical.any():
            return self._computed(table.values, table.target.values, random_state)
        columns, owners = table.one_hot()
        scores = self._computed(columns, table.target.values, random_state)
        if scores.shape != owners.shape:
            return scores
        return np.asarray(np.bincount(owners, np.abs(scores), table.categorical.size), np.float64)

    def _computed(self, X: Any, y: Any, random_state: Any) -> Scores:
        """Return the scores of a method other than ours."""
        compute = self._fitted if self.is_estimator else self._called
        return np.asarray(compute(X, y, random_state), np.float64)

    def _called(self, X: Any, y: Any, random_state: Any) -> Any:
        """Return the scores of a function of (X, y)."""
        options = dict(self.options)
        if "random_state" not in options and _takes_random_state(self.method):
            # scikit-learn does not know Generators
            is_generator = isinstance(random_state, np.random.Generator)
            options["random_state"] = as_seed(random_state) if is_generator else random_state
        scores = self.method(X, y, **options)
        return scores[0] if isinstance(scores, tuple) else scores

    def _fitted(self, X: Any, y: Any, random_state: Any) -> Any:
        """Fit a clone of an estimator and return its importances or the magnitudes of its coefficients."""
        estimator = _clone()(self.method)
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=as_seed(random_state))
        try:
            estimator.fit(X, y)
        except ValueError as error:
            why = next(iter(str(error).splitlines()), "no reason given")
            raise InputError(f"{self.name} cannot be fitted to these data: {why}") from error
        try:
            scores = input_scores(estimator)
        except InputError as error:
            raise InputError(
                f"{self.name} must score the features themselves; a step of it makes columns of several features, or "
                "does not say of which. Leave out that step, or pass a function of (X, y)."
            ) from error
        if scores is None:
            raise InputError(f"ranker must have feature_importances_ or coef_ once fitted; {self.name} has neither.")
        return scores


def as_ranker(ranker: Any, **options: Any) -> Ranker:
    """Return a callable (X, y, random_state) -> finite scores, one per feature, for any kind of ranker.

    Parameters
    ----------
    ranker : str, callable or scikit-learn estimator
        A name ("relief", "mutual_information", "genie3", "random_forest", "surf", "multisurf"); a function of (X, y)
        that returns one score per feature, or a pair whose first part does, as scikit-learn's `f_classif`; or an
        estimator that has `feature_importances_` or `coef_` once fitted (of `coef_`, the mean magnitude over the
        classes), a pipeline or search of such estimators included (`importances` says what is read). The estimator is
        cloned, never changed. Functions and estimators that take a `random_state` are given it.
    **options
        Passed to the function at each call; not for estimators, which have their own parameters.

    Returns
    -------
    Ranker
        With `.name`, `.method` and `.options`.

    Examples
    --------
    >>> import numpy as np
    >>> from fujiscore.rankers import as_ranker
    >>> X = np.array([[0.0, 5], [1, 9], [10, 5], [9, 8]])
    >>> as_ranker("relief", neighbours=1)(X, ["a", "a", "b", "b"], 0).round(4)
    array([ 0.8 , -0.75])
    """
    if isinstance(ranker, Ranker):
        return Ranker(ranker.method, {**ranker.options, **options}) if options else ranker
    if isinstance(ranker, str):
        choice("ranker", ranker, RANKERS)
        return Ranker(ranker, options)
    if isclass(ranker) or not (hasattr(ranker, "fit") or callable(ranker)):
        got = f"the class {ranker.__name__}; pass an instance of it" if isclass(ranker) else repr(ranker)
        known = f"one of {', '.join(map(repr, RANKERS))}, a function of (X, y), or a scikit-learn estimator"
        raise InputError(f"ranker must be {known}; got {got}.")
    if hasattr(ranker, "fit"):
        _clone()
        if options:
            raise InputError(f"An estimator takes no options here; got {', '.join(options)}. Set its own parameters.")
    ours = next((name for name, function in RANKERS.items() if ranker is function), None)
    return Ranker(ours or ranker, options)


def _innermost(estimator: Any) -> Any:
    """Return the estimator that scores the features: the last step of a pipeline, what a search or wrapper fits."""
    while True:
        steps = getattr(estimator, "steps", None)
        wrapped = getattr(estimator, "estimator", getattr(estimator, "regressor", None))
        inner = steps[-1][1] if steps else wrapped
        if inner is None:
            return estimator
        estimator = inner


def _allows_nan(estimator: Any) -> bool:
    """Return whether an estimator says that it can use missing values."""
    try:
        from sklearn.utils import get_tags
    except ImportError:  # scikit-learn before 1.6
        return bool(estimator._get_tags()["allow_nan"])  # noqa: SLF001
    try:
        return bool(get_tags(estimator).input_tags.allow_nan)
    except (AttributeError, ValueError):  # it follows scikit-learn's conventions only in part
        return True


def _clone() -> Callable[[Any], Any]:
    """Return scikit-learn's `clone`."""
    try:
        from sklearn.base import clone
    except ImportError:
        raise MissingExtraError("An estimator as a ranker needs scikit-learn: pip install 'fujiscore[ml]'") from None
    return clone  # type: ignore[no-any-return]


def _takes_random_state(function: Callable[..., Any]) -> bool:
    """Return whether a function has a parameter `random_state` that can be passed by name."""
    try:
        parameter = signature(function).parameters.get("random_state")
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False
    return parameter is not None and parameter.kind in {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY}
