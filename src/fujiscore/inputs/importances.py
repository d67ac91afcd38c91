"""`importances`: the ranking of the features, nodes or items in a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from fujiscore.errors import InputError, shown, spelled
from fujiscore.inputs import models
from fujiscore.inputs.coercion import labelled
from fujiscore.inputs.models.attributions import read_array
from fujiscore.inputs.options import Policies, takes
from fujiscore.inputs.ranking import Ranking, Rankings
from fujiscore.inputs.rankings import align


@takes(Policies)
def importances(
    obj: Any,
    *,
    feature_names: Iterable[Any] | None = None,
    group: bool | Mapping[Any, Any] = False,
    each: bool | None = None,
    importance_type: str | None = None,
    name: str | None = None,
    **policies: Unpack[Policies],
) -> Ranking | Rankings:
    """Return the ranking of a model's features, or of whatever else an object scores.

    Every function that takes a ranking takes these objects as they are, except arrays of attributions. What was read,
    averaged or summed is in the notes of the result.

    Parameters
    ----------
    obj : object
        A fitted scikit-learn estimator, pipeline, search, feature selector or another wrapper; a model of XGBoost,
        LightGBM or CatBoost; what `permutation_importance` or `cross_validate(return_estimator=True)` returns; a
        `shap.Explanation`; attributions as an array, tensor or table with one row per instance and one column per
        feature; or scores that `rankings` accepts, such as a centrality of networkx.
    feature_names : sequence, optional
        Names of the features, in their order, for objects that have none.
    group : bool or mapping
        With True, columns that a pipeline made (one-hot, for example) count for the input column that they come from:
        their scores are summed. A mapping of feature to group sums by group.
    each : bool, optional
        Return one ranking per repeat, row or fold instead of their mean. By default only for `cross_validate`.
    importance_type : str, optional
        For XGBoost, LightGBM and CatBoost: "gain", "split", ...; the library's default otherwise.
    name : str, optional
        The ranking's name; by default the model's class.
    negative : {"raise", "clip", "abs", "split"}
        How to treat negative scores, as in `rankings`. Where it is "raise", coefficients and attributions rank by
        magnitude, with their signs kept ("abs"), and importances below 0 count as 0 ("clip"). Means of magnitudes, over
        rows, outputs or classes, have no signs: "split" and sign agreement refuse them.

    Returns
    -------
    Ranking or Rankings
        With the scores, their labels, and notes on how they were read.

    Examples
    --------
    >>> import fujiscore as fj
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> ranking = fj.importances(tree, feature_names=["sepal length", "sepal width", "petal length", "petal width"])
    >>> ranking
    Ranking('DecisionTreeClassifier', 4 items: petal width: 1, sepal length: 0, sepal width: 0, ...)
    >>> ranking.notes
    ('DecisionTreeClassifier: feature_importances_',)
    """
    if isinstance(feature_names, (str, bytes)) or not (feature_names is None or hasattr(feature_names, "__iter__")):
        raise InputError(f"{spelled('feature_names')} must be a sequence of names; got {shown(feature_names)}.")
    if not isinstance(group, bool) and not hasattr(group, "items"):
        must = f"{spelled('group')} must be True, False or a mapping of feature to group"
        raise InputError(f"{must}; got {shown(group)}.")
    options = models.Options(None if feature_names is None else list(feature_names), group, importance_type)
    called = name or models.title(obj) or (obj.name if isinstance(obj, Ranking) else "importances")
    source = models.read(obj, called, options) or read_array(obj, called)
    if source is None:
        return _plain(obj, called, options, each, policies)
    if options.group is True and source.word == "row":
        raise InputError(
            f"{spelled('group', value=True)} needs a pipeline; {called} does not tell which columns come from one. "
            "Pass a dict of feature to group."
        )
    if models.recognised(obj) is None:
        source = source.prepared(called, options)
    several = source.word == "fold" if each is None else each
    if not several:
        ranking: Ranking = align([source.single(called)], [called], **policies)[0]
        return ranking
    if source.word == "model":
        raise InputError(f"{spelled('each', value=True)} needs repeats, rows or folds; {called} gives one ranking.")
    parts = source.each()
    return align(list(parts.values()), list(parts), notes=[f"{called}: {'; '.join(source.notes)}"], **policies)


def _plain(obj: Any, name: str, options: models.Options, each: bool | None, policies: Any) -> Ranking:
    """Return scores that are no model's, as `rankings` reads them."""
    members = list(obj.values()) if isinstance(obj, Mapping) else obj
    if isinstance(members, (list, tuple)) and any(models.recognised(member) for member in members):
        raise InputError(f"{name} must be one model; got {len(members)}. Read several with fujiscore.rankings.")
    if each or options.group is True or options.importance_type is not None:
        raise InputError(
            f"{name} must be a model to have groups, types or parts of its importances; got {type(obj).__name__}."
        )
    if options != models.Options():
        scores = models.ModelScores([labelled(models.without_gradient(obj), name)], "model", ())
        obj = scores.prepared(name, options).parts[0]
    ranking: Ranking = align([obj], [name], **policies)[0]
    return ranking
