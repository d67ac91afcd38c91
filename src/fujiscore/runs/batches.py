"""Many pairs of lists, such as the answers to queries: every measure of every pair.

Lists of all sizes follow each other in flat arrays, so that kernels see thousands of pairs at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import fujiscore._kernels as _kernels
from fujiscore.inputs.ranking import Ranking
from fujiscore.measures.grids import Grid, Sizes, named_grid
from fujiscore.measures.overlap import Counts, Overlap
from fujiscore.measures.registry import Measure, evaluate
from fujiscore.null.area import has_area_null
from fujiscore.null.chance import chances
from fujiscore.null.closed_forms import closed_form, correct, floors, has_closed_form
from fujiscore.null.lists import Nulls, side

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores

# Measures that the numbers of concordant and tied pairs, or SciPy's coefficients, tell.
RANK_CORRELATIONS = {"gamma", "kendall", "pairwise_rank_agreement", "spearman", "weightedtau"}


@dataclass(frozen=True, eq=False)
class Lists:
    """Several lists of scored items, one after the other."""

    start: Sizes  # list q is start[q] to start[q + 1] of the other arrays
    items: NDArray[Any]  # any integers
    scores: Scores  # higher is better; no NaN and no infinity but -inf
    negatives: NDArray[np.bool_] | None = None  # of magnitudes: which were negative

    def __len__(self) -> int:
        """Return the number of lists."""
        return self.start.size - 1

    @property
    def sizes(self) -> Sizes:
        """The number of items of each list."""
        return np.diff(self.start)

    def part(self, first: int, last: int) -> Lists:
        """Return the lists from the first up to the last, which is left out; arrays are shared."""
        a, b = int(self.start[first]), int(self.start[last])
        return Lists(self.start[first : last + 1] - a, self.items[a:b], self.scores[a:b])

    def uniform(self) -> Lists:
        """Return the same lists in arrays of the types that kernels are compiled for, once."""
        arrays = ((self.start, np.int64), (self.items, np.int64), (self.scores, np.float64))
        return Lists(*(np.require(array, dtype, ["C", "W"]) for array, dtype in arrays))

    def read(self, negative: str) -> Lists:
        """Return the same lists of magnitudes ("abs"), or of items by sign ("split"); as they are by other policies."""
        if negative == "abs":
            return Lists(self.start, self.items, np.abs(self.scores), self.scores < 0)
        if negative != "split":
            return self
        sizes = self.sizes
        plus = np.arange(self.items.size) + np.repeat(self.start[:-1], sizes)  # of each list first the positive parts
        minus = plus + np.repeat(sizes, sizes)
        items, scores = np.empty(2 * self.items.size, np.int64), np.empty(2 * self.items.size)
        items[plus], items[minus] = 2 * self.items, 2 * self.items + 1
        scores[plus], scores[minus] = np.maximum(self.scores, 0.0), np.maximum(-self.scores, 0.0)
        return Lists(2 * self.start, items, scores + 0.0)  # no -0.0

    def best(self, q: int) -> NDArray[Any]:
        """Return the items of a list that have its highest score."""
        rows = slice(*self.start[q : q + 2])
        best: NDArray[Any] = self.items[rows][self.scores[rows] == self.scores[rows].max()]
        return best


@dataclass(frozen=True, eq=False)
class Depths:
    """Where each pair is evaluated: at k (or at the end of the shorter list), or over a grid."""

    ks: Any  # one k; the name of a grid, which ends with the shorter list; or chosen k, those that it has

    @property
    def single(self) -> bool:
        """Whether there is one k, whose values are reported, rather than an area."""
        return isinstance(self.ks, int) or (not isinstance(self.ks, str) and self.ks.size == 1)

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
class ListTask:
    """What to compute of every pair."""

    measures: tuple[Measure, ...]
    depths: Depths
    universe: int | None = None  # number of items that lists were drawn from, if values are held against chance
    ties: str = "closed"
    zero_tail: str = "include"
    missing: str = "bounds"  # items that a list lacks count as 0; "bounds": `fuji_high` is the most that FUJI can be
    negative: str = "raise"  # with "split" items are below 2^62, and depths end with the number of whole items

    @property
    def signs(self) -> int:
        """How many items of a list stand for each whole item."""
        return 2 if self.negative == "split" else 1

    @property
    def tail(self) -> float:
        """The membership of items outside a set whose last score is 0."""
        return float(self.zero_tail == "include")

    @property
    def capped(self) -> bool:
        """Whether top sets hold positive scores only."""
        return self.zero_tail == "cap"


class RepeatedItem(Exception):  # noqa: N818 - names a place, and is always caught
    """A list holds an item twice: which pair of lists."""


class UniverseTooSmall(Exception):  # noqa: N818 - names a place, and is always caught
    """Two lists hold more items together than the universe: which pair of lists, and how many items."""


@dataclass(frozen=True, eq=False)
class Swept:
    """What measures are formulas of, along the paths of all pairs; the path of pair q is first[q] to first[q + 1]."""

    first: Sizes  # where each pair's path begins
    paths: Sizes  # the k
    sizes: Sizes  # items that the lists of each pair have together
    k1: Sizes  # set sizes
    k2: Sizes
    shared: Sizes  # items in both sets
    fuji: Scores
    high: Scores  # upper bound of FUJI
    by_depth: Scores  # one column per measure of the agreement at all depths
    kth: Scores  # one column per list: the last scores of its sets
    outside: Scores  # one column per list: the mean membership of its items outside its sets
    near: Scores  # the summed memberships of near misses, for paths of one point


def compared(r: Lists, s: Lists, task: ListTask) -> dict[str, NDArray[Any]]:
    """Return one column per result, one row per pair of lists: what `compare` gives for each alone.

    `n_a`, `n_b`, `shared` (sizes of the lists, items that they share), `k` (where the pair is evaluated, or its path
    ends; 0 if a list is empty), `zero` (whether values are undefined because zeros are no members), and each measure
    under its name: its headline, NaN where it is undefined, such as FUJI of a list whose scores are all negative, and
    any value at a k beyond the positive scores of both lists. Beside them `fuji_high`, `fuji_floor`,
    `fuji_above_floor`, `fuji_near` and, with a universe, `*_expected`, `*_corrected` and `*_p`, NaN where ties="stable"
    cuts ties.
    """
    r, s = (side.uniform().read(task.negative) for side in (r, s))
    swept = _sweep(r, s, task)
    if task.universe is not None and (swept.sizes > task.universe).any():
        pair = int(np.argmax(swept.sizes > task.universe))
        raise UniverseTooSmall(pair, int(swept.sizes[pair]))
    lengths = np.diff(swept.first)
    counts = {"n_a": r.sizes, "n_b": s.sizes, "shared": r.sizes + s.sizes - swept.sizes}
    columns: dict[str, NDArray[Any]] = {name: count // task.signs for name, count in counts.items()}
    columns["k"] = np.where(lengths > 0, np.append(swept.paths, 0)[swept.first[1:] - 1], 0)
    zero = _says_nothing(task, swept, task.measures[0].name) & ~np.isnan(swept.fuji)
    columns["zero"] = (lengths > 0) & np.append(zero, False)[swept.first[1:] - 1]
    values = _values(r, s, task, swept)
    against = _against_chance(r, s, task, swept, values) if task.universe is not None else {}
    for measure in task.measures:
        columns[measure.name] = _headlines(measure, values[measure.name], swept.first)
        if measure.name == "fuji":
            columns |= _beside_fuji(r, s, task, swept, measure, columns["fuji"])
        columns |= against.get(measure.name, {})
    return columns


def _beside_fuji(
    r: Lists, s: Lists, task: ListTask, swept: Swept, measure: Measure, fuji: Scores
) -> dict[str, NDArray[Any]]:
    """Return the columns beside FUJI: the most that it can be, its floor, its value above that, the near misses' part.

    Where both lists end with their top sets, reordering them changes nothing and nothing outside gets credit: the
    floor is 1, and the value above it is FUJI itself. Items split by sign have no floor in closed form.
    """
    columns: dict[str, NDArray[Any]] = {}
    undefined = np.isnan(fuji)
    if task.missing == "bounds":
        high = _headlines(measure, swept.high, swept.first)
        columns["fuji_high"] = np.where(undefined, np.nan, high)
    if task.signs == 1:
        lengths = np.diff(swept.first)
        n = [np.repeat(side.sizes, lengths) for side in (r, s)]
        sides = zip(n, (swept.k1, swept.k2), swept.outside.T, strict=True)
        floor = _headlines(measure, sum(floors(*one) for one in sides) / 2, swept.first)  # type: ignore[arg-type]
        outside = ((swept.k1 < n[0]) | (swept.k2 < n[1])).astype(np.float64)
        within = _headlines(measure, outside, swept.first) > 0
        columns["fuji_floor"] = np.where(undefined, np.nan, floor)
        columns["fuji_above_floor"] = np.where(within, correct(fuji, columns["fuji_floor"]), fuji)
    if task.depths.single:
        union = swept.k1 + swept.k2 - swept.shared
        columns["fuji_near"] = np.where(undefined, np.nan, _headlines(measure, swept.near / union, swept.first))
    return columns


def _sweep(r: Lists, s: Lists, task: ListTask) -> Swept:
    """Sort, match and sweep all pairs."""
    first, paths = task.depths.paths(np.minimum(r.sizes, s.sizes) // task.signs)
    persistence = [measure.parameters.get("p", 0.0) for measure in task.measures if measure.by_depth]
    k1, k2, shared = np.empty((3, paths.size), np.int64)
    fuji, high, near = np.empty((3, paths.size))
    kth, outside = np.empty((2, paths.size, 2))
    by_depth = np.empty((paths.size, len(persistence)))
    sizes = np.empty(len(r), np.int64)
    swept = Swept(first, paths, sizes, k1, k2, shared, fuji, high, by_depth, kth, outside, near)
    bounds = task.missing == "bounds" and any(measure.name == "fuji" for measure in task.measures)
    bad = _kernels.batch.overlaps(
        *(r.start, r.items, r.scores, s.start, s.items, s.scores, first, paths),
        *(task.ties == "closed", task.capped, task.tail, bounds, np.array(persistence, np.float64)),
        *(sizes, k1, k2, shared, fuji, high, by_depth, kth, outside, near),
    )
    if bad >= 0:
        raise RepeatedItem(int(bad))
    return swept


def _values(r: Lists, s: Lists, task: ListTask, swept: Swept) -> dict[str, Scores]:
    """Return each measure's values along all paths."""
    n: Any = np.repeat(swept.sizes, np.diff(swept.first)) if task.universe is None else task.universe
    counts = Counts(n, swept.k1, swept.k2, swept.shared, swept.fuji)
    by_depth = iter(swept.by_depth.T)
    values: dict[str, Scores] = {}
    for measure in task.measures:
        if measure.by_depth:
            values[measure.name] = next(by_depth)
        elif not measure.by_rank:
            values[measure.name] = evaluate(measure, counts)
    by_rank = [measure for measure in task.measures if measure.name not in values]
    values |= _by_rank(r, s, task, by_rank, swept) if by_rank else {}
    return {name: np.where(_says_nothing(task, swept, name), np.nan, value) for name, value in values.items()}


def _says_nothing(task: ListTask, swept: Swept, name: str) -> NDArray[np.bool_]:
    """Return where a value is undefined, for zeros are no members.

    Capped sets: a list without a positive score has none. Others, at one k: the last scores of both are 0. Below 0
    scores still order items, but count as 0 in FUJI.
    """
    if task.capped:
        return np.asarray((swept.kth <= 0).any(axis=1))
    if not task.depths.single:
        return np.zeros(swept.paths.size, np.bool_)
    return np.asarray(((swept.kth <= 0) if name == "fuji" else (swept.kth == 0)).all(axis=1))


def _by_rank(r: Lists, s: Lists, task: ListTask, measures: Sequence[Measure], swept: Swept) -> dict[str, Scores]:
    """Return the values of measures of single ranks: rank correlations at once, others pair by pair."""
    pair_of = np.repeat(np.arange(len(r)), np.diff(swept.first))
    values, left = _rank_correlations(r, s, task, [m for m in measures if m.base in RANK_CORRELATIONS], swept)
    others = [measure for measure in measures if measure.name not in values]
    values |= {measure.name: np.full(swept.paths.size, np.nan) for measure in others}
    large = set(pair_of[left].tolist())
    empty = set(pair_of[(swept.kth <= 0).any(axis=1)].tolist()) if task.capped else set()
    for q in np.unique(pair_of).tolist() if others else sorted(large):
        if q in empty:
            continue
        points = slice(swept.first[q], swept.first[q + 1])
        overlap = overlap_of_lists(r, s, q, swept.paths[points], task)
        for measure in measures if q in large else others:
            values[measure.name][points] = evaluate(measure, overlap)
    return values


def _rank_correlations(
    r: Lists, s: Lists, task: ListTask, measures: Sequence[Measure], swept: Swept
) -> tuple[dict[str, Scores], Sizes]:
    """Return the values of rank correlations, and the points where unions are too large for them."""
    if not measures:
        return {}, np.empty(0, np.int64)
    rows = np.empty((swept.paths.size, _kernels.coefficients.COLUMNS))
    correlations = any(measure.base in {"spearman", "weightedtau"} for measure in measures)
    lists = (r.start, r.items, r.scores, s.start, s.items, s.scores, swept.first, swept.paths)
    _kernels.coefficients.unions(*lists, task.ties == "closed", task.capped, correlations, rows)
    unions = Unions(swept.k1, swept.k2, swept.shared, rows)
    values = {measure.name: measure.values(unions, **measure.parameters) for measure in measures}
    for measure in measures:
        values[measure.name][np.isnan(values[measure.name])] = measure.undefined
    return values, np.flatnonzero(np.isnan(rows[:, 0]))


@dataclass(frozen=True, eq=False)
class Unions:
    """What rank correlations are formulas of; see the kernel."""

    k1: Sizes
    k2: Sizes
    shared: Sizes
    rows: Scores

    @property
    def pairs(self) -> Scores:
        """Pairs of the union: concordant, discordant, tied in r, tied in s."""
        return self.rows[:, :4]

    @property
    def coefficients(self) -> dict[tuple[Any, ...], Scores]:
        """The coefficients that SciPy would compute, one union after the other."""
        names = ("spearman",), ("weightedtau", True), ("weightedtau", False)
        return dict(zip(names, self.rows[:, 4:].T, strict=True))


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


def overlap_of_lists(r: Lists, s: Lists, q: int, path: Sizes, task: ListTask) -> Overlap:
    """Return the overlap of one pair of lists along a path; items are in the order of r's, then of s's others."""
    rows_r, rows_s = (slice(*side.start[q : q + 2]) for side in (r, s))
    place_r = np.arange(rows_r.stop - rows_r.start)
    place_s, partner = np.empty(rows_s.stop - rows_s.start, np.int32), np.empty(place_r.size, np.int32)
    slots = 1 << (2 * (place_r.size + place_s.size)).bit_length()
    table = np.empty(slots, np.int64), np.empty(slots, np.int32)
    n = _kernels.batch.match(r.items[rows_r], s.items[rows_s], *table, partner, place_s)
    place_s[place_s < 0] = np.arange(place_r.size, n)
    rankings = []
    for name, place, lists, rows in (("a", place_r, r, rows_r), ("b", place_s, s, rows_s)):
        filled, absent = np.zeros(n), np.ones(n, np.bool_)
        filled[place], absent[place] = lists.scores[rows], False
        negatives = None
        if lists.negatives is not None:
            negatives = np.zeros(n, np.bool_)
            negatives[place] = lists.negatives[rows]
        gone = absent if place.size < n else None
        rankings.append(Ranking.checked(name, filled, absent=gone, negatives=negatives))
    options: Any = {"ties": task.ties, "zero_tail": task.zero_tail, "population": task.universe}
    return Overlap(rankings[0], rankings[1], path, path, **options)


def _against_chance(
    r: Lists, s: Lists, task: ListTask, swept: Swept, values: Mapping[str, Scores]
) -> dict[str, dict[str, Scores]]:
    """Return, for each measure with a closed form, what chance would give, the corrected value and the p-value."""
    known = [measure for measure in task.measures if has_closed_form(measure)]
    out = {measure.name: np.full((3, len(r)), np.nan) for measure in known}
    here = np.flatnonzero(np.diff(swept.first))
    if (np.diff(swept.first) <= 1).all():
        null = _nulls(r, s, task, swept, here)
        for measure in known if here.size else ():
            expected, p = null.against(measure, values[measure.name])
            out[measure.name][:, here] = expected, correct(values[measure.name], expected), p
    else:
        for q in here.tolist():
            points = slice(swept.first[q], swept.first[q + 1])
            defined = [measure for measure in known if not np.isnan(values[measure.name][points]).all()]
            if not defined:
                continue
            path = swept.paths[points]
            overlap = overlap_of_lists(r, s, q, path, task)
            closed = [measure for measure in defined if closed_form(measure, overlap) is not None]
            for name, (level,) in chances(overlap, closed, [Grid(path, "custom", int(path[-1]))]).items():
                p_value = np.nan if level.p_value is None else level.p_value
                out[name][:, q] = level.expected_auc, level.corrected_auc, p_value
    columns = {}
    for measure in known:
        names = ("expected", "corrected", "p") if has_area_null(measure) else ("expected", "corrected")
        rows = zip(names, out[measure.name], strict=False)
        columns[measure.name] = {f"{measure.name}_{name}": row for name, row in rows}
    return columns


def _nulls(r: Lists, s: Lists, task: ListTask, swept: Swept, here: Sizes) -> Nulls:
    """Return chance at one k each, of the pairs that have one."""
    ks = np.zeros(len(r), np.int64)
    ks[here] = swept.paths
    closed, n = task.ties == "closed", task.universe or 0
    side_r = side(n, r.start, r.scores, ks, swept.k1, closed=closed, capped=task.capped)
    side_s = side(n, s.start, s.scores, ks, swept.k2, closed=closed, capped=task.capped)
    shared = (r.sizes + s.sizes - swept.sizes)[here]
    two = (side_r.upper > 0) & (side_s.upper > 0)
    for q in np.flatnonzero(two & ((side_r.upper < r.sizes[here]) | (side_s.upper < s.sizes[here]))).tolist():
        shared[q] = np.intersect1d(r.best(here[q]), s.best(here[q])).size
    return Nulls(swept.paths, side_r, side_s, shared, closed, task.tail)
