"""Rankings inside models: estimators, boosters, explanations and what libraries return, as labels and scores.

Libraries are recognised by the names of types and modules, and never imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import isclass
from typing import Any

import numpy as np

from fujiscore.errors import InputError
from fujiscore.inputs.coercion import Labelled, ReadInPasses, labelled
from fujiscore.inputs.models import attributions, boosters
from fujiscore.inputs.models.source import ModelScores, Options, Origin, is_of

__all__ = [
    "ModelScores",
    "Options",
    "is_ranx_run",
    "policy",
    "read",
    "recognised",
    "title",
    "with_blanks",
    "without_gradient",
]

# Most of what users pass; a model is none of these.
PLAIN = {np.ndarray, list, tuple, str, Labelled, type(None)}
PERMUTATIONS = "permutation_importance"
POSITIONS = "fitted without feature names: features are positions"


def recognised(obj: Any) -> Callable[[Any, str, Options], ModelScores] | None:
    """Return the reader of an object that holds rankings in a way of its own, None for scores of any other kind."""
    kind = type(obj)
    if kind in PLAIN:
        return None
    if isinstance(obj, ReadInPasses):
        raise obj.refusal()
    if isinstance(obj, Mapping):
        if isinstance(obj.get("importances_mean"), np.ndarray):
            return _read_permutations
        folds = all(isinstance(obj.get(name), np.ndarray) for name in ("fit_time", "score_time"))
        return _read_folds if folds else None
    readers = (
        (_read_explanation, is_of(kind, "shap", "Explanation")),
        (_read_model, hasattr(kind, "fit") or boosters.library_of(obj) is not None),
        (_refuse_class, isclass(obj) and hasattr(obj, "fit")),
        (_read_degrees, is_of(kind, "networkx", "DiDegreeView")),
        (_refuse_graph, is_of(kind, "networkx", "Graph")),
    )
    return next((reader for reader, applies in readers if applies), None)


def is_ranx_run(obj: Any) -> bool:
    """Return whether an object is a ranx.Run, whose to_dict gives a mapping of query to scores."""
    return is_of(type(obj), "ranx", "Run")


def policy(obj: Any, otherwise: str) -> str:
    """Return the policy for negative scores of a function that has one of its own, which models do not need."""
    return otherwise if recognised(obj) is None else "raise"


def read(obj: Any, name: str, options: Options | None = None) -> ModelScores | None:
    """Return the rankings in an object, None if it is not of a kind that holds them in a way of its own."""
    reader = recognised(obj)
    if reader is None:
        return None
    wanted = options or Options()
    return reader(obj, name, wanted).prepared(name, wanted)


def title(obj: Any) -> str | None:
    """Return what a model or a result of a library is called, None for other objects."""
    reader = recognised(obj)
    if reader is _read_folds and obj.get("estimator"):
        obj = obj["estimator"][0]
    elif reader is not _read_model:
        return TITLES.get(reader) if reader else None
    from fujiscore.inputs.models.estimators import title as title_of

    return title_of(obj)


def with_blanks(objects: list[Any]) -> list[Any]:
    """Return rankings with blanks in names where LightGBM has underscores, unless other names differ in these alone."""
    if not any(_underscored(obj) for obj in objects):
        return objects
    labels = [
        obj if isinstance(obj, Mapping) else getattr(obj, "items", None) for obj in objects if not _underscored(obj)
    ]
    names = {name for items in labels if not callable(items) for name in items or () if isinstance(name, str)}
    original = {name.replace(" ", "_"): name for name in names}
    if len(original) < len(names):
        return objects
    return [_renamed(obj, original) if _underscored(obj) else obj for obj in objects]


def _underscored(obj: Any) -> bool:
    """Return whether an object is a ranking whose labels may have had blanks."""
    return isinstance(obj, Labelled) and obj.underscored


def _renamed(ranking: Labelled, original: Mapping[Any, str]) -> Labelled:
    """Return a ranking with the original names of its items, and a note if these differ."""
    items = [original.get(item, item) for item in ranking.items or ()]
    if items == ranking.items:
        return ranking
    note = "names with underscores read as those with blanks, which LightGBM replaces"
    return ranking._replace(items=items, notes=(*ranking.notes, note))


def without_gradient(obj: Any) -> Any:
    """Return a tensor as an array, wherever it is and whether or not it has a gradient; other objects as they are."""
    return obj if type(obj) in PLAIN or not attributions.is_tensor(obj) else attributions.tensor_array(obj)


def _read_explanation(explanation: Any, name: str, options: Options) -> ModelScores:
    """Return the rows of a shap.Explanation."""
    boosters.require_no_type(options.importance_type, name)
    return attributions.read_explanation(explanation, name)


def _read_permutations(bunch: Mapping[str, Any], name: str, options: Options) -> ModelScores:
    """Return the repeats of a permutation_importance result."""
    boosters.require_no_type(options.importance_type, name)
    repeats = np.array(np.transpose(bunch["importances"]), np.float64, order="C")
    unnamed = () if options.feature_names is not None else ("no feature names: features are positions",)
    return ModelScores(
        [Labelled(None, row) for row in repeats], "repeat", (Origin(("importances", PERMUTATIONS)), *unnamed), "clip"
    )


def _read_folds(results: Mapping[str, Any], name: str, options: Options) -> ModelScores:
    """Return the rankings of the estimators that cross_validate fitted."""
    if "estimator" not in results:
        raise InputError(
            f"{name} must hold the fitted estimators; call cross_validate with return_estimator=True to have them."
        )
    sources = [_read_model(estimator, name, options) for estimator in results["estimator"]]
    first = sources[0]
    return ModelScores(
        [source.parts[0] for source in sources],
        "fold",
        tuple(dict.fromkeys(note for source in sources for note in source.notes)),
        first.negative,
        magnitudes=first.negative == "abs",
        additive=first.additive,
        unsigned=first.unsigned,
    )


def _read_model(model: Any, _: str, options: Options) -> ModelScores:
    """Return the scores of a fitted model's features."""
    library = boosters.library_of(model)
    if library is not None:
        found = boosters.read(model, library, options.importance_type)
    else:
        from fujiscore.inputs.models import estimators

        found = estimators.read(model, options)
    unnamed = found.names is None and options.feature_names is None and not found.positional
    notes = (found.what, *found.caveats, *([POSITIONS] if unnamed else []))
    part = Labelled(found.names, np.array(found.scores, np.float64, order="C"), underscored=found.underscored)
    # Coefficients do not add up.
    return ModelScores([part], "model", notes, found.negative, additive=not found.signed, unsigned=found.unsigned)


def _read_degrees(view: Any, name: str, options: Options) -> ModelScores:
    """Return the degrees of a networkx graph's nodes."""
    boosters.require_no_type(options.importance_type, name)
    nodes = dict(view)
    return ModelScores([labelled(nodes, name)], "model", ("degrees of nodes",))


TITLES: dict[Callable[[Any, str, Options], ModelScores], str] = {
    _read_permutations: PERMUTATIONS,
    _read_explanation: attributions.EXPLANATION,
    _read_degrees: "degree",
}


def _refuse_class(obj: Any, name: str, _: Options) -> ModelScores:
    raise InputError(f"{name} must be a fitted model; got the class {obj.__name__}. Pass a fitted instance of it.")


def _refuse_graph(obj: Any, name: str, _: Options) -> ModelScores:
    raise InputError(
        f"{name} must be scores of nodes; got a networkx {type(obj).__name__}. Pass a centrality, such as "
        "networkx.pagerank(graph), or its degrees, graph.degree."
    )
