"""Importances of fitted scikit-learn estimators: pipelines, searches and other wrappers, down to what has scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, counted, first_few, spelled
from fujiscore.inputs.models import boosters, columns
from fujiscore.inputs.models.boosters import UNITS, FeatureScores, coefficients, not_fitted
from fujiscore.inputs.models.source import Options, Origin, sums

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Labels, Scores

# Ensembles of estimators of one kind, whose scores have one scale.
AVERAGED = {
    "BaggingClassifier",
    "BaggingRegressor",
    "CalibratedClassifierCV",
    "MultiOutputClassifier",
    "MultiOutputRegressor",
    "OneVsOneClassifier",
    "OneVsRestClassifier",
}


def title(estimator: Any) -> str:
    """Return the name of the class that gives the scores: what a pipeline ends with, or a search or wrapper fitted."""
    while True:
        inner = columns.steps_of(estimator)[-1:] if hasattr(estimator, "steps") else _inner(estimator)
        if not inner or hasattr(type(estimator), "get_support"):
            return type(estimator).__name__
        estimator = inner[0]


def read(estimator: Any, options: Options) -> FeatureScores:
    """Return the scores of a fitted estimator's features, or raise; input columns that it does not see are left out."""
    _require_fitted(estimator)
    found = _found(estimator, None, options)
    if found is None:
        raise InputError(
            f"{title(estimator)} must have feature_importances_, coef_ or another score per feature; "
            f"{_lack(estimator)}. Or compute one with sklearn.inspection.permutation_importance(model, X, y), and pass "
            "its result."
        )
    return found if found.reached is None or found.reached.all() else _without_unseen(found, found.reached)


def input_scores(estimator: Any) -> Scores | None:
    """Return one score per input column of an estimator, of coefficients the magnitude; None if it has none."""
    found = _found(estimator, None, Options(group=True))
    return None if found is None else np.abs(found.scores) if found.signed else found.scores


def _found(estimator: Any, given: Labels | None, options: Options) -> FeatureScores | None:
    """Return the scores of an estimator's features, None if it has none; `given` names columns that have no names."""
    if hasattr(estimator, "steps"):
        return _of_pipeline(estimator, given, options)
    library = boosters.library_of(estimator)
    if library is not None:
        found: FeatureScores | None = boosters.read(estimator, library, options.importance_type)
    else:
        found = _direct_scores(estimator)
        if found is None:
            inner, names = _inner(estimator), columns.names_in(estimator) or given
            found = _found(inner[0], names, options) if inner else _mean(estimator, names, options)
        else:
            boosters.require_no_type(options.importance_type, type(estimator).__name__)
    if found is None or found.names is not None:
        return found
    names = columns.names_in(estimator) or given
    return found._replace(names=names) if names is not None and len(names) == found.scores.size else found


def _direct_scores(estimator: Any) -> FeatureScores | None:
    """Return the scores that an estimator itself has."""
    name = type(estimator).__name__
    if hasattr(type(estimator), "get_support"):
        return _of_selector(estimator)
    importances = getattr(estimator, "feature_importances_", None)
    if importances is not None:
        return FeatureScores(np.asarray(importances, np.float64), None, Origin(("feature_importances_", name)))
    values = getattr(estimator, "coef_", None)
    if values is None:
        return None
    return coefficients(values, None, "coef_", name)


def _of_selector(selector: Any) -> FeatureScores | None:
    """Return the scores of a feature selector."""
    name = type(selector).__name__
    ranking = getattr(selector, "ranking_", None)
    if ranking is not None:
        tied = "selected features tie at rank 1"
        return FeatureScores(
            1.0 / np.asarray(ranking, np.float64), None, Origin(("1 / ranking_", name)), caveats=(tied,)
        )
    scores = getattr(selector, "scores_", None)
    if scores is None:
        return None
    # The highest are selected; whether signed ones mean magnitudes, their function knows.
    return FeatureScores(np.asarray(scores, np.float64), None, Origin(("scores_", name)), negative="raise")


def _of_pipeline(pipeline: Any, given: Labels | None, options: Options) -> FeatureScores | None:
    """Return the scores that the last step of a pipeline gives its columns, or the pipeline's input columns."""
    *transformers, last = columns.steps_of(pipeline) or [None]
    if last is None:
        return None
    inputs = columns.names_in(pipeline) or given
    names, unnamed = columns.names_out(transformers, inputs)
    found = _found(last, names, options)
    if found is None:
        return None
    if any(columns.scaled(transformer) for transformer in transformers):
        found = found._replace(caveats=tuple(caveat for caveat in found.caveats if caveat != UNITS))
    if options.group is True:
        return _to_inputs(found, transformers, inputs)
    if unnamed is not None and found.names is None:
        lack = f"{unnamed} does not name the columns it makes: features are positions among them"
        found = found._replace(caveats=(*found.caveats, lack), positional=True)
    return found


def _to_inputs(found: FeatureScores, transformers: Sequence[Any], names: Labels | None) -> FeatureScores:
    """Return scores of the columns that a pipeline makes as sums for the columns that they come from."""
    if not transformers:
        return found
    width = len(names) if names is not None else int(transformers[0].n_features_in_)
    origins = columns.through(transformers, width)
    seen = origins if found.reached is None else origins[found.reached]
    scores = sums(found.scores, origins, width, additive=not found.signed)
    what = found.what
    if np.bincount(origins).max() > 1:
        what = what.plus(f", {'magnitudes ' * found.signed}summed over the columns made from one")
    # A sum of magnitudes has no sign; without one to sum, there still are signs.
    unsigned = found.unsigned
    if found.signed and np.unique(origins).size == origins.size:
        scores[origins] = found.scores
    elif found.signed and unsigned is None:
        unsigned = f"sums of magnitudes over the columns made from one. Leave out {spelled('group', value=True)}."
    reached = np.bincount(seen, minlength=width) > 0
    return found._replace(scores=scores, names=names, what=what, reached=reached, unsigned=unsigned)


def _inner(estimator: Any) -> list[Any]:
    """Return the estimator that a search or another wrapper fitted to all data, if there is one."""
    names = ["best_estimator_"]
    if not hasattr(estimator, "estimators_"):  # of ensembles, estimator_ is a template
        names += ["estimator_", "regressor_"]
    return [getattr(estimator, name) for name in names if getattr(estimator, name, None) is not None][:1]


def _mean(ensemble: Any, names: Labels | None, options: Options) -> FeatureScores | None:
    """Return the mean of the scores of an ensemble's members, of magnitudes if they have signs; None if it has none."""
    if not AVERAGED & {base.__name__ for base in type(ensemble).__mro__}:
        return None
    calibrated = getattr(ensemble, "calibrated_classifiers_", None)
    members = [part.estimator for part in calibrated] if calibrated else ensemble.estimators_
    subsets = getattr(ensemble, "estimators_features_", None)
    if subsets is None:
        found = [_found(member, names, options) for member in members]
    else:
        width = int(ensemble.n_features_in_)
        found = [_spread(member, subset, width, options) for member, subset in zip(members, subsets, strict=True)]
    known = [one for one in found if one is not None]
    first = known[0] if known else None
    if first is None or len(known) < len(found):
        return None
    if any(one.names != first.names or one.scores.size != first.scores.size for one in known):
        return None
    scores = np.array([np.abs(one.scores) if one.signed else one.scores for one in known])
    kind = "magnitude " if first.signed else ""
    over, whole = f"over the {counted(len(known), 'estimator')}", type(ensemble).__name__
    remedy = "Pass one of its estimators."
    unsigned = first.unsigned or (f"mean magnitudes {over} of {whole}. {remedy}" if first.signed else None)
    what = first.what.plus(f", mean {kind}{over}", whole)
    return first._replace(scores=scores.mean(axis=0), what=what, unsigned=unsigned)


def _spread(member: Any, features: Any, width: int, options: Options) -> FeatureScores | None:
    """Return the scores of an estimator fitted on some columns, the others at 0; None if it has no score per column."""
    marks = [f"x{i}" for i in range(len(features))]
    found = _found(member, marks, options)
    if found is None or found.names != marks:
        return None
    return found._replace(scores=sums(found.scores, features, width, additive=True), names=None, reached=None)


def _require_fitted(estimator: Any) -> None:
    """Raise unless an estimator is fitted, as far as scikit-learn can tell."""
    if boosters.library_of(estimator) is not None:
        return  # says so itself
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(estimator)
    except NotFittedError:
        raise not_fitted(estimator) from None
    except TypeError:  # it follows scikit-learn's conventions only in part
        return


def _lack(estimator: Any) -> str:
    """Return why an estimator has no scores of features."""
    if hasattr(estimator, "refit") and not hasattr(estimator, "best_estimator_"):
        return "a search has them only with refit=True"
    if hasattr(estimator, "named_estimators_"):
        return "the scores of its members have no common scale"
    if hasattr(estimator, "estimators_features_") and hasattr(estimator.estimators_[0], "steps"):
        return f"its pipelines have them for other columns, which {spelled('group', value=True)} sums"
    return "it has none"


def _without_unseen(found: FeatureScores, reached: NDArray[np.bool_]) -> FeatureScores:
    """Return the scores of the input columns that the model sees."""
    labels: Labels = range(reached.size) if found.names is None else found.names
    unseen = [labels[i] for i in np.flatnonzero(~reached).tolist()]
    note = f"{len(unseen)} of {reached.size} input columns do not reach the model: {first_few(unseen)}"
    return found._replace(
        scores=found.scores[reached],
        names=[labels[i] for i in np.flatnonzero(reached).tolist()],
        caveats=(*found.caveats, note),
    )
