"""Two runs, tables of (query, item, score): one comparison per query. Imports batches, io and below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.batches import Depths, Lists, RepeatedItem, Task, compared
from fujiscore.errors import InputError, counted, first_few, integer, spelled
from fujiscore.measures import find
from fujiscore.run_results import RunComparison
from fujiscore.tiles import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fujiscore.measures import Measure

# Rows of both runs per tile: some tenths of a second.
TILE = 1 << 18


def compare_lists(r: Lists, s: Lists, items: int, task: Task, **work: Any) -> dict[str, NDArray[Any]]:
    """Return the columns of many pairs of lists, in tiles."""
    rows = np.maximum.accumulate(r.start + s.start)
    cuts = np.unique(np.append(np.searchsorted(rows, np.arange(0, int(rows[-1]) + 1, TILE), side="right") - 1, len(r)))
    tiles = [
        (r.part(a, b), s.part(a, b), task, items) for a, b in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
    ]
    parts = run(compared, tiles, label="queries", **work)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def compare_runs(
    a: Any,
    b: Any,
    *,
    by: str | None = None,
    item: str | None = None,
    score: str | None = None,
    group_by: str | None = None,
    measures: Sequence[Any] = ("fuji", "rbo", "jaccard"),
    k: int = 10,
    ks: Any = None,
    universe: int | None = None,
    missing: str = "bounds",
    ties: str = "closed",
    zero_tail: str = "include",
    confidence: float = 0.95,
    keep: int = 20,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **_policies: Any,
) -> RunComparison:
    """Compare two runs query by query."""
    chosen = tuple({measure.name: measure for measure in map(find, measures)}.values())
    depths = Depths(integer("k", k, 1) if ks is None else ks if isinstance(ks, str) else np.asarray(ks))
    task = Task(chosen, depths, universe)
    first, second = _run(a, by, item, score, "a"), _run(b, by, item, score, "b")
    both = [query for query in first if query in second]
    if not both:
        raise InputError(f"a and b must have a query in common; {first_few(list(first))} are not in b.")
    codes: dict[Any, int] = {}
    r, s = (_lists([run_[query] for query in both], codes) for run_ in (first, second))
    try:
        columns = compare_lists(r, s, len(codes), task, n_jobs=n_jobs, progress=progress)
    except RepeatedItem as repeated:
        raise InputError(f"a query must list each item once; query {both[repeated.args[0]]} repeats one.") from None
    only = tuple(tuple(q for q in mine if q not in other) for mine, other in ((first, second), (second, first)))
    notes = _notes(columns, only, depths)
    settings = {"k": k, "ks": ks, "universe": universe, "ties": ties, "zero_tail": zero_tail}
    labels = [np.array(list(queries), object) for queries in (both, *only)]
    settings |= {"a": str(a)[:40], "b": str(b)[:40], "missing": missing}
    from fujiscore.ranking import Ranking

    lists = {}
    for place in np.argsort(columns[chosen[0].name], kind="stable")[:keep].tolist():
        pair = [side[both[place]] for side in (first, second)]
        lists[both[place]] = tuple(
            Ranking.checked(name, np.asarray(scores, float), items=list(items)) for name, (items, scores) in zip("ab", pair)
        )
    groups = None
    if group_by is not None:
        import csv
        from pathlib import Path

        rows = list(csv.DictReader(Path(b).read_text().splitlines()))
        known = {row["query"]: row[group_by] for row in rows}
        groups = np.array([known[query] for query in both], object)
    options: Any = {"confidence": confidence, "notes": notes, "lists": lists, "groups": groups}
    return RunComparison(labels[0], columns, chosen, settings, labels[1], labels[2], **options)


def _run(obj: Any, by: str | None, item: str | None, score: str | None, name: str) -> dict[Any, tuple[Any, Any]]:
    """Return, for each query, items and scores."""
    if isinstance(obj, np.ndarray) and obj.ndim == 2:
        return {row: (range(obj.shape[1]), scores) for row, scores in enumerate(obj)}
    if isinstance(obj, Mapping):
        from fujiscore.coercion import labelled

        parts = {query: labelled(ranking, f"{name}, query {query}") for query, ranking in obj.items()}
        return {query: (part.items, part.scores) for query, part in parts.items()}
    from fujiscore.io import load

    loaded = load(obj, item=item, score=score, ranking=by)
    return {source.name: (source.items, source.scores) for source in loaded.sources}


def _lists(lists: Sequence[tuple[Any, Any]], codes: dict[Any, int]) -> Lists:
    """Return lists with items as codes, new ones added to the codes."""
    start = np.concatenate([[0], np.cumsum([len(items) for items, _ in lists])])
    coded = [codes.setdefault(label, len(codes)) for items, _ in lists for label in items]
    return Lists(start, np.array(coded, np.int64), np.concatenate([np.asarray(scores, float) for _, scores in lists]))


def _notes(columns: dict[str, NDArray[Any]], only: Any, depths: Depths) -> tuple[str, ...]:
    """Return what a reader must know."""
    notes = [
        f"{counted(len(queries), 'query', 'queries')} in {name} alone, in no mean: {first_few(queries)}"
        for name, queries in zip("ab", only, strict=True)
        if queries
    ]
    short = int((columns["k"] < depths.ks).sum()) if isinstance(depths.ks, int) else 0
    if short:
        notes.append(
            f"{counted(short, 'query', 'queries')} with a list shorter than {spelled('k', depths.ks)}: compared at its length"
        )
    return tuple(notes)
