"""Chance for many pairs of lists at one k: what `chance` gives for each alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import lgamma, log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import fujiscore._kernels as _kernels
from fujiscore.measures.registry import MEASURES, Measure
from fujiscore.null import area
from fujiscore.null.closed_forms import Null, moments
from fujiscore.null.permutations import ROUNDING
from fujiscore.text.numbers import LEAST

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.measures.grids import Sizes

# Numbers in the tables of those pairs that are held against chance at a time.
TABLES = 1 << 21


@dataclass(frozen=True, eq=False)
class ListFacts:
    """What chance depends on in one list of each pair; see the kernel for what is not explained."""

    n: int  # of items of the universe
    sizes: Sizes  # of the top sets
    moments: Scores
    upper: Sizes
    cut: NDArray[np.bool_]
    by_depth: NDArray[np.int32]
    least: Scores  # one in the number of ways to assign the scores to the items of the universe

    def tails(self, zero_tail: float) -> tuple[Scores, Scores]:
        """Return mean and variance of the memberships outside the sets, one row per pair."""
        positive, mean, squares, _ = self.moments.T
        variance = squares / np.maximum(self.n - self.sizes, 1)
        return np.where(positive, 1 - mean, zero_tail)[:, None], np.where(positive, variance, 0.0)[:, None]

    def prepared(self, zero_tail: float) -> area.Prepared:
        """Return the lists as `area` takes them, along paths of one point: two levels, inside and outside."""
        positive, mean, squares, cubes = self.moments.T
        outside = self.n - self.sizes
        lack = np.where(positive, mean, (1 - zero_tail) * (outside > 0))
        table = np.zeros((self.sizes.size, 2, 5))
        table[:, 0, 0] = self.sizes
        table[:, 1] = np.stack([outside, squares, cubes, lack, positive], axis=1)
        lacking, inside = outside * lack / self.n, self.sizes / self.n
        spread = np.maximum((outside * lack**2 + squares) / self.n - lacking**2, 0.0)
        points = np.stack([inside * (outside / self.n), spread, -inside * lacking], axis=1)[:, :, None]
        return area.Prepared(self.n, self.sizes[:, None], lacking[:, None], points, table, self.least, self.upper)


def side(n: int, start: Sizes, scores: Scores, ks: Sizes, sizes: Sizes, *, closed: bool, capped: bool) -> ListFacts:
    """Return what chance depends on in lists cut at one k each, 0 for those that are left out."""
    # `sizes` are the sizes of the others' top sets.
    here = np.flatnonzero(ks)
    set_sizes = np.zeros(ks.size, np.int64)
    set_sizes[here] = sizes
    lengths = np.diff(start)
    log_factorials = np.array([lgamma(size + 1.0) for size in range(int(lengths.max(initial=0)) + 1)])
    moments, log_ties, upper = np.zeros((ks.size, 4)), np.zeros(ks.size), np.zeros(ks.size, np.int64)
    cut, by_depth = np.zeros((ks.size, 2), np.bool_), np.empty(int(ks.sum()), np.int32)
    _kernels.batch.sides(
        start, scores, ks, set_sizes, n, closed, capped, log_factorials, moments, log_ties, upper, cut, by_depth
    )
    unlisted, which = np.unique(n - lengths, return_inverse=True)
    ways = log_ties + np.array([lgamma(size + 1.0) - lgamma(n + 1.0) for size in unlisted.tolist()])[which]
    least = np.exp(np.clip(ways, log(LEAST), 0.0))
    return ListFacts(n, sizes, moments[here], upper[here], cut[here], by_depth, least[here])


@dataclass(frozen=True, eq=False)
class Nulls:
    """Chance for all pairs at one k each."""

    ks: Sizes
    r: ListFacts
    s: ListFacts
    shared_best: Sizes  # how many items both lists score highest, if both have two scores, unlisted items below others
    closed: bool  # whether tied items are all in
    zero_tail: float  # the membership of items outside a set whose last score is 0

    def against(self, measure: Measure, values: Scores) -> tuple[Scores, Scores]:
        """Return a measure's expectation by chance, and how often chance gives as much; NaN where it is unknown."""
        expected, variance, laws = self._by_depth(measure) if measure.by_depth else self._at_k(measure)
        unknown = np.isnan(values)
        if not self.closed:
            unknown |= (self.r.cut | self.s.cut)[:, int(measure.by_depth)]
        expected = np.where(unknown, np.nan, expected)
        if not area.has_area_null(measure) or self.r.n < area.FEWEST:
            return expected, np.full(expected.size, np.nan)
        spread = np.sqrt(variance)
        z = np.divide(values - expected, spread, out=np.full(spread.size, np.nan), where=spread > ROUNDING)
        here = (self.r.upper > 0) & (self.s.upper > 0)
        if not measure.by_depth:  # all items with the higher score are the first set
            here &= (self.r.sizes == self.r.upper) & (self.s.sizes == self.s.upper)
        least = np.maximum(self.r.least, self.s.least)
        least[here] = np.maximum(least[here], self._overlap_tails[here])
        return expected, area.p_value(z, laws, least)

    @cached_property
    def _overlap_tails(self) -> Scores:
        """How often random sets share as many items as the best of lists with two different scores."""
        out = np.zeros(self.ks.size)
        here = np.flatnonzero((self.r.upper > 0) & (self.s.upper > 0))
        cases = np.stack([self.r.upper[here], self.s.upper[here], self.shared_best[here]], axis=1)
        unique, which = np.unique(cases, axis=0, return_inverse=True)
        out[here] = np.array([area.overlap_tails(self.r.n, *case)[0] for case in unique.tolist()])[which.ravel()]
        return out

    def _at_k(self, measure: Measure) -> tuple[Scores, Scores, Scores]:
        """Return expectation, variance and law of a measure of top sets."""
        n, k1, k2 = self.r.n, self.r.sizes[:, None], self.s.sizes[:, None]
        null = Null(n, k1, k2, self.r.tails(self.zero_tail), self.s.tails(self.zero_tail))
        expected, exact = moments(measure, null)
        if not area.has_area_null(measure):
            return expected[:, 0], exact[:, 0], np.empty(0)
        every = np.arange(k1.size)
        sides = self.r.prepared(self.zero_tail), self.s.prepared(self.zero_tail)
        variance, laws = area.pair_moments(every, every, *sides, measure, np.ones(1), np.ascontiguousarray(exact))
        return expected[:, 0], exact[:, 0] if measure.linear else variance, laws

    def _by_depth(self, measure: Measure) -> tuple[Scores, Scores, Scores]:
        """Return the same for a weighted mean of Dice's values at all depths, which depends on set sizes alone."""
        out = np.empty((2, self.ks.size))
        laws = np.empty((self.ks.size, _kernels.area.LAW))
        for rows, which, k1, k2 in self._depth_sizes:
            *moments, law = _depths_by_chance(measure, self.r.n, k1, k2)
            out[:, rows], laws[rows] = np.stack(moments)[:, which], law[which]
        return out[0], out[1], laws

    @cached_property
    def _depth_sizes(self) -> list[tuple[Sizes, Sizes, Sizes, Sizes]]:
        """For each k the pairs, and which of the following rows is theirs: set sizes at all depths in r and in s."""
        first = np.cumsum(self.ks) - self.ks
        groups = []
        for k in np.unique(self.ks).tolist():
            rows = np.flatnonzero(self.ks == k)
            places = first[rows, None] + np.arange(k)
            both = np.hstack([self.r.by_depth[places], self.s.by_depth[places]]).astype(np.int64)
            untied = np.tile(np.arange(1, k + 1), (1, 2))
            tied = (both != untied).any(axis=1)
            sizes = np.concatenate([untied, both[tied]])  # most pairs share the first row
            groups.append((rows, np.cumsum(tied) * tied, sizes[:, :k], sizes[:, k:]))
        return groups


def _depths_by_chance(measure: Measure, n: int, k1: Sizes, k2: Sizes) -> tuple[Scores, Scores, Scores]:
    """Return expectation, variance and law of average overlap or RBO, given the set sizes at all depths."""
    weights = area.depth_weights(measure, k1.shape[1])
    slopes = weights * (2 / (k1 + k2))
    expected = (slopes * (k1 * (k2 / n))).sum(axis=1)
    variance = np.maximum(area.running_moments(n, k1, k2, slopes)[0][:, -1], 0.0)
    laws = np.empty((k1.shape[0], _kernels.area.LAW))
    for part in _parts(*k1.shape):
        chosen, kept = area.thinned(weights, k1[part][0], k2[part][0])
        sides = [_dice_sides(n, sizes[part][:, chosen]) for sizes in (k1, k2)]
        every, exact = np.arange(sides[0].sizes.shape[0]), np.full(sides[0].sizes.shape, np.nan)
        laws[part] = area.pair_moments(every, every, sides[0], sides[1], MEASURES["dice"], kept, exact)[1]
    return expected, variance, laws


def _parts(rows: int, depth: int) -> Iterator[slice]:
    """Cut rows into parts whose tables fit in memory; single rows where paths are thinned, each in its own way."""
    step = 1 if depth > area.MOST_POINTS else max(1, TABLES // ((depth + 1) * (3 + 2 * depth)))
    return (slice(begin, begin + step) for begin in range(0, rows, step))


def _dice_sides(n: int, sizes: Sizes) -> area.Prepared:
    """Return lists along paths for Dice's values, in which scores have no part."""
    rows, points = sizes.shape
    table = np.zeros((rows, points + 1, 3 + 2 * points))
    table[:, :, 0] = np.diff(sizes, axis=1, prepend=0, append=n)
    spread = np.zeros((rows, 3, points))
    spread[:, 0] = sizes / n * ((n - sizes) / n)
    nothing = np.zeros(rows)
    return area.Prepared(n, sizes, np.zeros((rows, points)), spread, table, nothing, nothing)
