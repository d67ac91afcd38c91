"""All pairs of many rankings: each is sorted once, and the pairs run in tiles. Imports chance and below."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fujiscore import _kernels
from fujiscore.chance import Null, correct, expectation, has_closed_form, null_of, tail_moments
from fujiscore.errors import InputError, choice
from fujiscore.tables import frame
from fujiscore.measures import area, evaluate, find
from fujiscore.overlap import MOST_LEVELS, TIES, ZERO_TAIL, Ordered, Overlap, grid
from fujiscore.rankings import combine
from fujiscore.rankings import rankings as as_rankings
from fujiscore.tiles import run, spans

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from fujiscore.measures import Measure
    from fujiscore.overlap import Sizes, Ties, ZeroTail
    from fujiscore.rankings import Missing, Nan, Negative, Rankings, Scores

    Indices: TypeAlias = NDArray[np.int64]
    Block: TypeAlias = tuple[Indices, Indices]


@dataclass(frozen=True, eq=False)
class Task:
    """What to compute of each pair."""

    measure: Measure
    points: Sizes
    ties: str
    zero_tail: str
    corrected: bool

    def overlap(self, r: Ordered, s: Ordered) -> Overlap:
        """Return the overlap of a pair along the task's path."""
        return Overlap(r, s, self.points, self.points, ties=self.ties, zero_tail=self.zero_tail)

    def curve(self, r: Ordered, s: Ordered) -> Scores:
        """Return a pair's curve, not corrected."""
        return evaluate(self.measure, self.overlap(r, s))


# Rankings a side of a tile: some milliseconds of work at 20,000 items, so that Ctrl-C is heard at once.
TILE = 16


@dataclass(frozen=True, eq=False)
class Matrix:
    """A measure's area under the curve for every pair.

    Attributes
    ----------
    names, columns : tuple of str
        The rankings of the rows and of the columns (the same ones unless two collections were compared).
    values : ndarray
        One row a ranking, one column a ranking.
    measure : str
        The measure's name.
    ks : ndarray of int64
        The evaluated k.
    corrected : bool
        Whether the values are corrected for chance.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    values: Scores
    measure: str
    ks: Sizes
    corrected: bool

    @property
    def square(self) -> bool:
        """Whether rows and columns are the same rankings."""
        return self.names == self.columns

    def __getitem__(self, pair: tuple[str, str]) -> float:
        """Return the value of one pair, by names."""
        row, column = pair
        return float(self.values[self.names.index(row), self.columns.index(column)])

    def clustered(self) -> Matrix:
        """Return the matrix with similar rankings side by side (average-linkage clustering, optimal leaf order)."""
        from scipy.cluster.hierarchy import leaves_list, linkage
        from scipy.spatial.distance import squareform

        if not self.square:
            raise InputError("clustered needs one collection of rankings; this matrix compares two.")
        if len(self.names) < 3:
            return self
        distances = np.maximum(1.0 - (self.values + self.values.T) / 2, 0.0)
        np.fill_diagonal(distances, 0.0)
        tree = linkage(squareform(distances, checks=False), "average", optimal_ordering=True)
        order = leaves_list(tree)
        names = tuple(self.names[i] for i in order)
        return Matrix(names, names, self.values[np.ix_(order, order)], self.measure, self.ks, self.corrected)

    def to_frame(self, library: str | None = None) -> Any:
        """Return a DataFrame: with pandas labelled rows and columns, with polars a first column `ranking`."""
        columns = {name: self.values[:, j] for j, name in enumerate(self.columns)}
        table = frame({"ranking": list(self.names), **columns}, library)
        return table.set_index("ranking") if hasattr(table, "set_index") else table

    def plot(self, ax: Any = None, *, clustered: bool = False) -> Any:
        """Draw a heat map on a matplotlib Axes (a new one if None) and return the Axes."""
        from fujiscore import plots

        return plots.matrix(self.clustered() if clustered else self, ax=ax)


def pairwise(
    rankings: Any,
    others: Any = None,
    *,
    measure: str = "fuji",
    ks: Any = "exp",
    corrected: bool = False,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
    ties: Ties = "stable",
    zero_tail: ZeroTail = "include",
    negative: Negative = "raise",
    nan: Nan = "raise",
    missing: Missing = "raise",
) -> Matrix:
    """Compare every ranking with every other by the area under a measure's curve.

    Parameters
    ----------
    rankings : mapping, DataFrame, 2-D array, sequence or Rankings
        As in `fujiscore.rankings`: m rankings of n items.
    others : the same, optional
        Compare every one of `rankings` with every one of these instead of with each other.
    measure : str
        A name in `MEASURES`.
    ks : {"exp", "all", "squared"}, an integer or increasing integers
        Where to evaluate. The default weighs the top more, and takes one pass over the items a pair; "all" is the
        whole curve; one integer gives the value at that k.
    corrected : bool
        Correct for chance: 0 is chance level, 1 the maximum.
    n_jobs, executor, progress
        As in `chance`. The result does not depend on them.
    ties, zero_tail, negative, nan, missing
        As in `curve`.

    Returns
    -------
    Matrix
        With `.values`, `.names`, `.to_frame()`, `.clustered()` and `.plot()`.

    Examples
    --------
    >>> import fujiscore as fj
    >>> found = fj.pairwise({"a": [3, 2, 1], "b": [3, 1, 2], "c": [1, 2, 3]})
    >>> found.values.round(3)
    array([[1.   , 0.833, 0.667],
           [0.833, 1.   , 0.708],
           [0.667, 0.708, 1.   ]])
    """
    found = find(measure)
    choice("ties", ties, TIES)
    choice("zero_tail", zero_tail, ZERO_TAIL)
    if corrected:
        require_closed_form(found)
    policies: Any = {"negative": negative, "nan": nan, "missing": missing}
    both = first = as_rankings(rankings, **policies)
    if others is not None:
        both = combine(first, as_rankings(others, **policies), missing)
    task = Task(found, grid(ks, both.n), ties, zero_tail, corrected)
    blocks = _blocks(len(first), len(both), square=others is None, both_ways=not found.symmetric)
    work = {"n_jobs": n_jobs, "executor": executor, "progress": progress}
    compute = _sparse if _is_sparse(task, both) else _full
    values = np.concatenate(compute(task, both, blocks, work))
    rows, columns = (np.concatenate(side) for side in zip(*blocks, strict=True))
    offset = 0 if others is None else len(first)
    matrix = np.empty((len(first), len(both) - offset))
    matrix[rows, columns - offset] = values
    if others is None and found.symmetric:
        matrix[columns, rows] = values
    names = both.names[: len(first)]
    return Matrix(names, names if others is None else both.names[offset:], matrix, measure, task.points, corrected)


def _blocks(first: int, total: int, *, square: bool, both_ways: bool) -> list[Block]:
    """Return the pairs to compare in blocks of neighbouring rankings, which stay in the cache: rows and columns."""
    start = 0 if square else first
    blocks = []
    for top, bottom in spans(first, TILE):
        for left, right in spans(total - start, TILE):
            i, j = np.meshgrid(np.arange(top, bottom), np.arange(start + left, start + right), indexing="ij")
            keep = (i <= j) | (not square) | both_ways
            if keep.any():
                blocks.append((i[keep], j[keep]))
    return blocks


def require_closed_form(measure: Measure) -> None:
    """Raise if a measure's chance level has no closed form."""
    if not has_closed_form(measure):
        raise InputError(
            f"corrected=True needs a measure whose chance level has a closed form; {measure.name} has none. "
            "Use fujiscore.chance on single pairs, which draws permutations."
        )


def _is_sparse(task: Task, rankings: Rankings) -> bool:
    """Return whether the grid kernel serves: few points, a measure of overlaps, no sum of scores that overflows."""
    points = task.points.size
    few = points <= MOST_LEVELS and (points + 1) ** 2 <= max(8 * rankings.n, 1024)
    return few and not task.measure.by_rank and max(own.max() for own in rankings.scores) < _kernels.sweep.HUGE


def _sparse(task: Task, rankings: Rankings, blocks: list[Block], work: dict[str, Any]) -> list[Scores]:
    """All pairs by the grid kernel: of each ranking only scores, levels and what depends on the grid are kept."""
    scores = rankings.matrix()
    item_levels = np.empty(scores.shape, np.uint8)
    tiles: list[tuple[Any, ...]] = [(task, own, out) for own, out in zip(scores, item_levels, strict=True)]
    prepared = run(_prepare, tiles, n_jobs=work["n_jobs"], progress=False)
    sizes, kth, tails = (np.array(part) for part in zip(*prepared, strict=True))
    if scores.min() < 0:
        scores = np.maximum(scores, 0.0)
    tiles = []
    for rows, columns in blocks:
        top, left = rows.min(), columns.min()
        a, b = slice(top, rows.max() + 1), slice(left, columns.max() + 1)
        sides = ((part[a], part[b]) for part in (item_levels, scores, sizes, kth, tails))
        tiles.append((task, rows - top, columns - left, *sides))
    return run(_sparse_tile, tiles, label="pairs", **work)


def _prepare(task: Task, scores: Scores, item_levels: NDArray[np.uint8]) -> tuple[Any, ...]:
    """Sort one ranking and keep what a grid needs: levels (written out), set sizes, last scores and mean tails."""
    ranking = Ordered(np.ascontiguousarray(scores))
    sizes = task.points
    if task.ties == "closed":
        sizes = ranking.tie_groups[1][sizes - 1].astype(np.int64)
    _kernels.grid.levels(ranking.order, sizes, item_levels)
    if not task.corrected:
        return sizes, ranking.ranked[sizes - 1], 0.0
    return sizes, ranking.ranked[sizes - 1], tail_moments(ranking, sizes, float(task.zero_tail == "include"))[0]


def _sparse_tile(
    task: Task,
    i: Indices,
    j: Indices,
    item_levels: tuple[Any, Any],
    scores: tuple[Any, Any],
    sizes: tuple[Any, Any],
    kth: tuple[Any, Any],
    tails: tuple[Any, Any],
) -> Scores:
    """Return the areas of one tile of pairs: rows i of the first arrays against rows j of the second."""
    n = scores[0].shape[1]
    k1, k2 = sizes[0][i], sizes[1][j]
    shared, fuji = np.empty(k1.shape, np.int64), np.empty(k1.shape)
    _kernels.grid.pairs(i, j, *item_levels, *scores, *kth, float(task.zero_tail == "include"), shared, fuji)
    overlaps: Any = SimpleNamespace(n=n, k1=k1, k2=k2, shared=shared, fuji=fuji)
    areas: Scores = area(evaluate(task.measure, overlaps))
    if not task.corrected:
        return areas
    null = Null(n, k1, k2, (tails[0][i], np.zeros(1)), (tails[1][j], np.zeros(1)))
    return correct(areas, area(expectation(task.measure, null)))


def _full(task: Task, rankings: Rankings, blocks: list[Block], work: dict[str, Any]) -> list[Scores]:
    """All pairs by the sweep along the whole path: each ranking is sorted once and kept in order."""
    ordered = sort_all(rankings, task, work)
    size = max(1, 2_000_000 // rankings.n)  # some tenths of a second a tile, so that Ctrl-C is heard
    tiles = [
        (task, [ordered[i] for i in rows[start:stop]], [ordered[j] for j in columns[start:stop]])
        for rows, columns in blocks
        for start, stop in spans(rows.size, size)
    ]
    return run(_full_tile, tiles, label="pairs", **work)


def sort_all(rankings: Rankings, task: Task, work: dict[str, Any]) -> list[Ordered]:
    """Sort every ranking once, and compute what threads will share before they start."""
    ordered = run(Ordered, [(own,) for own in rankings.scores], n_jobs=work["n_jobs"], progress=False)
    for ranking in ordered:
        if task.ties == "closed":
            _ = ranking.tie_groups
        if task.corrected:
            _ = ranking.tails
    return ordered


def _full_tile(task: Task, first: Sequence[Ordered], second: Sequence[Ordered]) -> Scores:
    """Return the areas of one tile of pairs."""
    areas = np.empty(len(first))
    for t, (r, s) in enumerate(zip(first, second, strict=True)):
        overlap = task.overlap(r, s)
        areas[t] = area(evaluate(task.measure, overlap))
        if task.corrected:
            expected = area(expectation(task.measure, null_of(overlap)))
            areas[t : t + 1] = correct(areas[t : t + 1], expected[None])
    return areas
