"""A table of features and a target to one ranking per method: `rank`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fujiscore.errors import InputError, integer, spelled
from fujiscore.inputs.ranking import Rankings
from fujiscore.rankers.adapt import Ranker, as_ranker
from fujiscore.rankers.features import Features, Nan, Scores, described, described_columns, prepare
from fujiscore.rankers.forest import METHODS as FOREST
from fujiscore.rankers.forest import forest_scores
from fujiscore.work.seeds import as_seed

if TYPE_CHECKING:
    from fujiscore.rankers.targets import Target, Task

Rankers: TypeAlias = dict[str, Ranker]
# The methods of `rank` and `study` by default.
METHODS = ("relief", "mutual_information", "genie3", "random_forest")
# The beginning of scikit-learn's warning when forests grown on several threads have emptied each other's filters.
SPURIOUS = "`sklearn.utils.parallel.delayed` should be used with"


@described
def rank(
    X: Any,
    y: Any = None,
    methods: Any = METHODS,
    *,
    features: Sequence[Hashable] | None = None,
    categorical: Any = None,
    task: Task = "auto",
    nan: Nan = "keep",
    trees: int = 200,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Rankings:
    """Rank the features of a data set by several methods.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None
        Seed of the methods; None for a fresh one.

    Returns
    -------
    Rankings
        One ranking per method, with the features as items and the methods' signed scores; `.notes` says what is odd
        about the data. Negative scores order the features and count as 0 where rankings are compared.

    Examples
    --------
    >>> import numpy as np
    >>> from fujiscore.rankers import rank
    >>> X = np.array([[0.0, 5], [1, 9], [10, 5], [9, 8]])
    >>> rankings = rank(X, ["a", "a", "b", "b"], ["relief"], features=["size", "noise"])
    >>> rankings.names, rankings.label(0), rankings.scores[0].round(4)
    (('relief',), 'size', array([ 0.8  , -0.375]))
    """
    table, rankers = ready(X, y, methods, categorical=categorical, task=task, nan=nan, names=features)
    number, seed = integer("trees", trees, 1), as_seed(random_state)
    with kept_warning_filters():
        scores = scores_of(table, rankers, number, seed, n_jobs=n_jobs, progress=progress)
    return as_rankings(rankers, scores, table)


def as_rankings(names: Iterable[str], scores: Iterable[Scores], table: Features) -> Rankings:
    """Return scores, one row per ranking, as rankings of the features: the only place that builds them."""
    return Rankings(tuple(names), [np.ascontiguousarray(row) for row in scores], table.labels, notes=table.notes)


def ready(X: Any, y: Any, methods: Any, **options: Any) -> tuple[Features, Rankers]:
    """Return the prepared table, noting how the methods get it, and the rankers by name; options are `prepare`'s."""
    rankers = _by_name(methods)
    table = prepare(X, y, inspect=True, **options)
    for name, ranker in rankers.items():
        _require_task(name, ranker, table.target)
    notes = [*table.notes, *(note for ranker in rankers.values() for note in ranker.notes(table))]
    filling = [name for name, ranker in rankers.items() if not ranker.keeps_gaps]
    if filling and table.incomplete.any():
        some = described_columns(table.incomplete, table.names)
        notes.append(f"missing values in {some}: medians and most frequent categories for {', '.join(filling)}")
    return replace(table, notes=tuple(notes)), rankers


def _by_name(methods: Any) -> Rankers:
    """Return the rankers by name."""
    if isinstance(methods, Mapping):
        rankers = {str(name): as_ranker(method) for name, method in methods.items()}
    else:
        rankers = {}
        for ranker in map(as_ranker, methods if isinstance(methods, (list, tuple)) else [methods]):
            if ranker.name in rankers:
                raise InputError(f"methods must have unique names; {ranker.name!r} occurs twice. Pass a dict of names.")
            rankers[ranker.name] = ranker
    if not rankers:
        raise InputError("methods must hold at least one method; got none.")
    return rankers


def _require_task(name: str, ranker: Ranker, target: Target) -> None:
    """Raise if an estimator is for another kind of target; a regressor can tell two classes apart."""
    task = ranker.task
    if task in {None, target.task} or (task == "regression" and target.counts.size == 2):
        return
    kind = "regressor" if task == "regression" else "classifier"
    raise InputError(
        f"{name} is a {kind}, but the target is treated as {target.described}: pass {spelled('task', task)}, or leave "
        "it out."
    )


def scores_of(
    table: Features, rankers: Rankers, trees: int, seed: int, *, n_jobs: int | None, progress: bool | None
) -> Scores:
    """Return one row of scores per method; the forest methods without options of their own share one forest."""
    work: Any = {"n_jobs": n_jobs, "progress": progress}
    forest = shared_forest(rankers)
    shared = forest_scores(table.filled(), None, forest, trees=trees, random_state=seed, **work) if forest else {}
    rows = []
    for ranker in rankers.values():
        if ranker.built_in and ranker.method in shared and not ranker.options:
            rows.append(shared[ranker.method])
        else:
            ours = {**work, "trees": trees} if ranker.method in FOREST else work
            options = {**ours, **ranker.options} if ranker.built_in else ranker.options
            rows.append(replace(ranker, options=options)(table, None, seed))
    return np.array(rows)


def shared_forest(rankers: Rankers) -> tuple[str, ...]:
    """Return the methods that are computed from the shared forest."""
    plain = {ranker.method for ranker in rankers.values() if ranker.built_in and not ranker.options}
    return tuple(method for method in FOREST if method in plain)


@contextmanager
def kept_warning_filters() -> Iterator[None]:
    """Restore the caller's warning filters after work on threads, and drop the warning that their loss causes."""
    # Each thread of a scikit-learn forest sets and restores the process's one list of filters, so that threads empty
    # each other's. The filter below is the first that scikit-learn puts back, and the hook serves while there is none.
    with warnings.catch_warnings():
        show = warnings.showwarning

        def shown(message: Any, *details: Any, **options: Any) -> None:
            if not str(message).startswith(SPURIOUS):
                show(message, *details, **options)

        warnings.filterwarnings("ignore", re.escape(SPURIOUS), UserWarning)
        warnings.showwarning = shown
        yield
