"""Many pairs of lists, such as the answers to queries: every measure of every pair. Imports the null and below.

Lists of all sizes follow each other in flat arrays, so that kernels see thousands of pairs at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore import _kernels
from fujiscore.closed_forms import Null, has_closed_form, moments
from fujiscore.measures import evaluate
from fujiscore.overlap import Counts, Overlap, named_grid
from fujiscore.ranking import Ranking

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fujiscore.coercion import Scores
    from fujiscore.measures import Measure
    from fujiscore.overlap import Sizes


@dataclass(frozen=True, eq=False)
class Lists:
    """Several lists of scored items.

    Attributes
    ----------
    start : ndarray of int64
        List q is start[q] to start[q + 1] of the other arrays.
    items : ndarray of int32 or int64
        Codes of the items, from 0.
    scores : ndarray of float64
        Their scores, higher is better.
    """

    start: Sizes
    items: NDArray[Any]
    scores: Scores

    def __len__(self) -> int:
        return self.start.size - 1

    @property
    def sizes(self) -> Sizes:
        """The number of items of each list."""
        return np.diff(self.start)

    def part(self, first: int, last: int) -> Lists:
        """Return the lists from the first up to the last, which is left out; arrays are shared."""
        a, b = int(self.start[first]), int(self.start[last])
        return Lists(self.start[first : last + 1] - a, self.items[a:b], self.scores[a:b])


@dataclass(frozen=True, eq=False)
class Depths:
    """Where each pair is evaluated: at k (or at the end of the shorter list), or over a grid.

    Attributes
    ----------
    ks : int, str or ndarray of int64
        One k; the name of a grid, which ends with the shorter list; or chosen k, those that it has.
    """

    ks: Any

    def paths(self, depth: Sizes) -> tuple[Sizes, Sizes]:
        """Return where each pair's path begins, and all paths one after the other; none for a depth of 0."""
        if isinstance(self.ks, int):
            first = np.concatenate([[0], np.cumsum(depth > 0)])
            return first, np.minimum(depth, self.ks)[depth > 0]
        unique, which = np.unique(depth, return_inverse=True)
        known = [self._path(int(size)) for size in unique]
        sizes = np.array([path.size for path in known], np.int64)[which]
        paths = np.concatenate([known[i] for i in which.tolist()]) if which.size else np.empty(0, np.int64)
        return np.concatenate([[0], np.cumsum(sizes)]), paths

    def _path(self, depth: int) -> Sizes:
        """Return the path of a pair whose shorter list is that long."""
        if depth == 0:
            return np.empty(0, np.int64)
        if isinstance(self.ks, str):
            return named_grid(self.ks, depth)
        reached = self.ks[self.ks <= depth]
        return reached if reached.size == self.ks.size else np.append(reached[reached < depth], depth)


@dataclass(frozen=True, eq=False)
class Task:
    """What to compute of every pair.

    Attributes
    ----------
    measures : tuple of Measure
        The measures.
    depths : Depths
        Where they are evaluated.
    universe : int or None
        Number of items that lists were drawn from, if values are to be held against chance.
    ties, zero_tail : str
        As in `compare`.
    """

    measures: tuple[Measure, ...]
    depths: Depths
    universe: int | None = None
    ties: str = "closed"
    zero_tail: str = "include"

    @property
    def tail(self) -> float:
        """The membership of items outside a set whose last score is 0."""
        return float(self.zero_tail == "include")


class RepeatedItem(Exception):  # noqa: N818 - names a place, and is always caught
    """A list holds an item twice: which pair of lists."""


def compared(r: Lists, s: Lists, task: Task, items: int) -> dict[str, NDArray[Any]]:
    """Return one column per result, one row per pair of lists; `items` is the number of different codes."""
    depth = np.minimum(r.sizes, s.sizes)
    first, paths = task.depths.paths(depth)
    persistence = [measure for measure in task.measures if _is_by_depth(measure)]
    sizes = np.empty(len(r), np.int64)
    points = np.zeros((paths.size, _kernels.batch.COLUMNS))
    depths = np.zeros((paths.size, len(persistence)))
    fuji = any(measure.name == "fuji" for measure in task.measures)
    universe = task.universe or (0 if fuji else -1)
    bad = _kernels.batch.overlaps(
        *(r.start, r.items, r.scores, s.start, s.items, s.scores, first, paths),
        *(np.full(items, -1, np.int32), task.ties == "closed", task.tail),
        *(np.array([measure.parameters.get("p", 0.0) for measure in persistence], np.float64), universe),
        *(sizes, points, depths),
    )
    if bad >= 0:
        raise RepeatedItem(int(bad))
    return _columns(r, s, task, first, paths, sizes, points, depths)


def _is_by_depth(measure: Measure) -> bool:
    """Return whether the kernel computes a measure from the agreement at all depths."""
    return measure.base in {"rbo", "average_overlap"}


def _columns(
    r: Lists, s: Lists, task: Task, first: Sizes, paths: Sizes, sizes: Sizes, points: Scores, depths: Scores
) -> dict[str, NDArray[Any]]:
    """Return the columns of results from what the kernel counted."""
    batch = _kernels.batch
    lengths = np.diff(first)
    n = np.repeat(sizes, lengths) if task.universe is None else task.universe
    shared, k1, k2 = (points[:, column].astype(np.int64) for column in (batch.SHARED, batch.SIZE_R, batch.SIZE_S))
    counts = Counts(n, k1, k2, shared, points[:, batch.FUJI])  # type: ignore[arg-type] - one n per point
    columns: dict[str, NDArray[Any]] = {"n_a": r.sizes, "n_b": s.sizes, "shared": r.sizes + s.sizes - sizes}
    columns["k"] = np.where(lengths > 0, np.append(paths, 0)[first[1:] - 1], 0)
    by_depth = iter(depths.T)
    for measure in task.measures:
        if _is_by_depth(measure):
            values = next(by_depth)
        elif measure.by_rank:
            values = _pair_by_pair(r, s, task, measure, first, paths)
        else:
            values = evaluate(measure, counts)
        columns[measure.name] = _headlines(measure, values, first)
        if measure.name == "fuji":
            columns["fuji_high"] = _headlines(measure, points[:, batch.FUJI_HIGH], first)
        if task.universe is not None and not measure.by_rank and has_closed_form(measure):
            tails = [(points[:, tail], points[:, tail + 1]) for tail in (batch.TAIL_R, batch.TAIL_S)]
            expected, _ = moments(measure, Null(task.universe, k1, k2, *tails))
            columns[f"{measure.name}_expected"] = _headlines(measure, expected, first)
    return columns


def _headlines(measure: Measure, values: Scores, first: Sizes) -> Scores:
    """Return each pair's headline: the area, or the value at its last point; NaN where it has none."""
    out = np.full(first.size - 1, np.nan)
    here = np.flatnonzero(np.diff(first))
    begin, end = first[here], first[here + 1]
    if measure.whole or (end - begin == 1).all():
        out[here] = values[end - 1]
        return out
    ends = (values[begin] + values[end - 1]) / 2
    sums = np.add.reduceat(values, begin) - ends
    out[here] = np.where(end - begin == 1, ends, sums / np.maximum(end - begin - 1, 1))
    return out


def _pair_by_pair(r: Lists, s: Lists, task: Task, measure: Measure, first: Sizes, paths: Sizes) -> Scores:
    """Return the values of a measure of single ranks, which needs the whole overlap of each pair."""
    values = np.empty(paths.size)
    for q in np.flatnonzero(np.diff(first)).tolist():
        points = slice(first[q], first[q + 1])
        values[points] = evaluate(measure, overlap_of_lists(r, s, q, paths[points], task))
    return values


def overlap_of_lists(r: Lists, s: Lists, q: int, path: Sizes, task: Task) -> Overlap:
    """Return the overlap of one pair of lists along a path."""
    own = [(side.items[slice(*side.start[q : q + 2])], side.scores[slice(*side.start[q : q + 2])]) for side in (r, s)]
    items = np.union1d(own[0][0], own[1][0])
    rankings = []
    for name, (listed, scores) in zip("ab", own, strict=True):
        places, filled = np.searchsorted(items, listed), np.zeros(items.size)
        absent = np.ones(items.size, np.bool_)
        filled[places], absent[places] = scores, False
        rankings.append(Ranking.checked(name, filled, absent=absent if absent.any() else None))
    options: Any = {"ties": task.ties, "zero_tail": task.zero_tail, "population": task.universe}
    return Overlap(rankings[0], rankings[1], path, path, **options)
