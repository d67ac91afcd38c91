"""Two runs, tables of (query, item, score): one comparison per query. Imports batches, io and below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.batches import Depths, Lists, RepeatedItem, Task, compared
from fujiscore.closed_forms import correct
from fujiscore.errors import InputError, counted, first_few, integer, spelled
from fujiscore.intervals import quantile
from fujiscore.measures import find
from fujiscore.results import Result
from fujiscore.tables import frame, text_table
from fujiscore.tiles import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fujiscore.measures import Measure

# Rows of both runs per tile: some tenths of a second.
TILE = 1 << 18
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class RunComparison(Result):
    """One comparison per query.

    Attributes
    ----------
    queries : sequence
        The queries that both runs have.
    columns : mapping of str to ndarray
        One array per column, one entry per query: `n_a`, `n_b`, `shared`, `k` (where it was evaluated), each measure
        by its name, `fuji_high` (the most that FUJI can be, the scores of missing items being unknown), and with a
        universe `*_expected`.
    measures : tuple of Measure
        The measures.
    only_a, only_b : tuple
        The queries that one run alone has; they count in no mean.
    """

    queries: Sequence[Any]
    columns: Mapping[str, NDArray[Any]]
    measures: tuple[Measure, ...]
    only_a: tuple[Any, ...]
    only_b: tuple[Any, ...]
    confidence: float = 0.95
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of queries that both runs have."""
        return len(self.queries)

    def interval(self, measure: str) -> tuple[float, float, float]:
        """Return a measure's mean over the queries, with Student's interval."""
        values = self.columns[find(measure).name]
        values = values[~np.isnan(values)]
        mean = float(values.mean()) if values.size else float("nan")
        if values.size < 2:
            return mean, float("nan"), float("nan")
        reach = quantile(self.confidence, values.size - 1) * float(values.std(ddof=1)) / np.sqrt(values.size)
        least, most = find(measure).low, find(measure).high
        return mean, max(mean - reach, least), min(mean + reach, most)

    @cached_property
    def quantiles(self) -> dict[str, list[float]]:
        """For each measure the least value, the 5, 25, 50, 75 and 95 % quantiles, and the greatest."""
        return {m.name: np.nanquantile(self.columns[m.name], QUANTILES).tolist() for m in self.measures}

    def worst(self, number: int = 10) -> list[int]:
        """Return the places of the queries that changed most by the first measure, the least similar first."""
        values = self.columns[self.measures[0].name]
        order = np.argsort(values, kind="stable")
        return order[: min(integer("number", number, 1), int((~np.isnan(values)).sum()))].tolist()  # type: ignore[no-any-return]

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row per query as a pandas or polars DataFrame, the notes in `.attrs`."""
        return frame({"query": list(self.queries), **self.columns}, library, self.notes)

    def _summary(self) -> list[str]:
        rows = []
        for measure in self.measures:
            mean, low, high = self.interval(measure.name)
            least, five, _, median, *_ = self.quantiles[measure.name]
            numbers = (f"{mean:.4f}", f"{low:.4f} to {high:.4f}", f"{median:.4f}", f"{five:.4f}", f"{least:.4f}")
            rows.append((measure.title, *numbers))
        header = ("measure", "mean", f"{self.confidence:.0%} interval", "median", "5 %", "least")
        return [f"{counted(len(self), 'query')}", *text_table(header, rows)]


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
    measures: Sequence[Any] = ("fuji", "rbo", "jaccard"),
    k: int = 10,
    ks: Any = None,
    universe: int | None = None,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> RunComparison:
    """Compare two runs query by query."""
    chosen = tuple({measure.name: measure for measure in map(find, measures)}.values())
    depths = Depths(integer("k", k, 1) if ks is None else ks)
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
    return RunComparison(both, columns, chosen, *only, confidence, notes)


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
        f"{counted(len(queries), 'query')} in {name} alone, in no mean: {first_few(queries)}"
        for name, queries in zip("ab", only, strict=True)
        if queries
    ]
    short = int((columns["k"] < depths.ks).sum()) if isinstance(depths.ks, int) else 0
    if short:
        notes.append(
            f"{counted(short, 'query')} with a list shorter than {spelled('k', depths.ks)}: compared at its length"
        )
    return tuple(notes)
