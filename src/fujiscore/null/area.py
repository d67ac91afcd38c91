"""Significance of an area without permutations: its variance and law by chance, and the p-value from them.

An area is a weighted sum of values along a path of set sizes. To first order each value is a sum over items of
products of a function of the rank in r and one of the rank in s, so by Hoeffding's formulas its covariances and third
moment under random ranks factorise by ranking (docs/chance.md). The standard deviation at each point is then brought
to the exact one. Rare coincidences near the top, which no smooth curve describes, are counted apart (see the kernel).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import erfc, exp, lgamma, log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore._kernels as _kernels
from fujiscore.errors import choice
from fujiscore.inference.intervals import ALTERNATIVES
from fujiscore.measures.overlap import Counts, Overlap, TopSets
from fujiscore.measures.registry import MEASURES, Measure, evaluate
from fujiscore.text.numbers import LEAST
from fujiscore.text.tabular import fields_only

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.inputs.orders import ScoresByRank
    from fujiscore.measures.grids import Sizes

# Of a longer path so many points serve for the covariances.
MOST_POINTS = 48
# With fewer items the law is only a guess.
FEWEST = 20
# Normal curves drawn for a simultaneous band.
DRAWS = 5000


@dataclass(frozen=True, eq=False)
class Prepared:
    """What chance depends on in one ranking; `stacked` makes it one for many rankings, with one more axis in front."""

    n: int  # of items: of the universe, if there is one
    sizes: Sizes  # of the top sets along the path, with tied items where ties are closed
    lacking: Scores  # for each point the mean over all ranks of L, what an item outside the set lacks of membership
    points: Scores  # for each point (last axis) variance of the set's indicator I, variance of L, their covariance
    table: Scores  # one row per level: see the kernel
    least: Any  # one in the number of ways to assign the scores to the items: no p-value is smaller
    upper: Any  # how many items have the higher of two scores; 0 unless there are exactly two different ones


def prepared(ranking: ScoresByRank, sizes: Sizes, n: int, zero_tail: float) -> Prepared:
    """Return what chance depends on in one ranking, for the (closed) set sizes along a path, which never fall."""
    sizes = np.asarray(sizes, np.int64)
    # The ranks in each level, and the moments of x, the part by which a score is below the last one above; ranks beyond
    # the ranking's own items are at 0.
    counts = np.diff(np.concatenate([[0], sizes, [n]])).astype(np.float64)
    means, squares, cubes = ranking.level_moments(sizes, counts)
    kth = ranking.kth(sizes)
    above = np.concatenate([[0.0], kth])  # the last score of the set just above each level
    outside = np.arange(sizes.size) < np.arange(sizes.size + 1)[:, None]
    positive = outside & (kth > 0)
    slope = np.divide(above[:, None], kth, out=np.zeros(positive.shape), where=positive)
    lack = np.where(outside & (counts > 0)[:, None], 1.0 - zero_tail, 0.0)
    np.divide(kth - above[:, None], kth, out=lack, where=positive)
    lack += slope * means[:, None]
    lacking = counts @ lack / n
    inside = sizes / n
    spread = (counts @ lack**2 + squares @ slope**2) / n - lacking**2
    points = np.stack([inside * ((n - sizes) / n), np.maximum(spread, 0.0), -inside * lacking])
    table = np.column_stack([counts, squares, cubes, lack, slope])
    ways = lgamma(n - ranking.listed + 1) + ranking.log_ties - lgamma(n + 1)
    least = exp(min(0.0, max(log(LEAST), ways)))
    return Prepared(n, sizes, lacking, points, table, least, ranking.higher_of_two(n))


def overlap_tails(n: int, k1: int, k2: int, shared: int) -> tuple[float, float]:
    """Return how often random sets of these sizes share at least, and at most, so many of n items."""
    h = np.arange(max(0, k1 + k2 - n), min(k1, k2) + 1)
    before = h[:-1]
    ratios = np.log((k1 - before) * (k2 - before)) - np.log((before + 1.0) * (n - k1 - k2 + before + 1))
    logs = np.concatenate([[0.0], np.cumsum(ratios)])
    weights = np.exp(logs - logs.max())
    return float(weights[h >= shared].sum() / weights.sum()), float(weights[h <= shared].sum() / weights.sum())


def one_of(tails: Any, alternative: str) -> Any:
    """Return the p-value of an alternative from both tails."""
    at_least, at_most = tails
    two_sided = np.minimum(2 * np.minimum(at_least, at_most), 1.0)
    return {"greater": at_least, "less": at_most, "two-sided": two_sided}[alternative]


@dataclass(frozen=True, eq=False)
class AreaNull:
    """Variance and law of an area by chance, and what a band around the curve needs."""

    variance: float
    law: Scores  # the distribution of the standardised area: see the kernel
    least: float  # the smallest p-value that the number of ways to assign the scores allows
    places: Sizes  # of a long path, the points that serve for covariances
    sides: tuple[Prepared, Prepared]  # the rankings at these points
    factors: Scores  # the coefficients of the values there
    exact: Scores  # their exact variances
    # Where both rankings have two different scores, the area depends on one overlap alone: how often chance gives at
    # least and at most that overlap; otherwise 0.
    tails: tuple[float, float] = (0.0, 0.0)

    __getstate__ = fields_only

    def floor(self, alternative: str) -> float:
        """Return the smallest p-value that is possible."""
        return max(self.least, float(one_of(self.tails, alternative)))

    @property
    def n(self) -> int:
        """Number of items: of the universe, if there is one."""
        return self.sides[0].n

    @property
    def skewness(self) -> float:
        """The area's skewness by chance."""
        return float(self.law[_kernels.area.SKEWNESS])

    def critical(self, confidence: float) -> float:
        """Return what the largest |z| along the path stays below, with this probability: by seeded normal draws."""
        return float(np.quantile(self._largest_z, confidence))

    @cached_property
    def _largest_z(self) -> Scores:
        """The largest |z| along the path of each normal draw."""
        sizes, axes = np.linalg.eigh(_correlation(*self.sides, self.factors))
        draws = np.random.default_rng(0).standard_normal((DRAWS, sizes.size)) * np.sqrt(np.maximum(sizes, 0.0))
        largest: Scores = np.abs(draws @ axes.T).max(axis=1)
        return largest

    @cached_property
    def _point_laws(self) -> Scores:
        """The law of the value at each of the places."""
        tables, points = zip(*(_one_point_each(side) for side in self.sides), strict=True)
        every = np.arange(self.places.size)
        variances, laws = np.empty(every.size), np.empty((every.size, _kernels.area.LAW))
        factors = np.ascontiguousarray(self.factors.T[:, :, None])
        exact = np.ascontiguousarray(self.exact[:, None])
        sides = (tables[0], points[0], tables[1], points[1])
        _kernels.area.pairs(every, every, self.sides[0].n, *sides, factors, np.ones(1), exact, variances, laws)
        return laws

    def reach(self, side: int, size: int, confidence: float, *, simultaneous: bool) -> Scores:
        """Return how many standard deviations a band reaches up (side 1) or down (-1), at every point of the path."""
        probability = (1 - confidence) / 2
        if simultaneous:
            probability = erfc(self.critical(confidence) / sqrt(2)) / 2
        ends = np.empty(self.places.size)
        _kernels.area.quantiles(probability, side, self._point_laws, ends)
        return np.interp(np.arange(size), self.places, ends)


def _one_point_each(side: Prepared) -> tuple[Scores, Scores]:
    """Return the tables of paths of one point each: two levels, inside and outside."""
    size, n = side.sizes.size, side.n
    counts, squares, cubes = side.table[:, 0], side.table[:, 1], side.table[:, 2]
    lack, slope = side.table[:, 3 : 3 + size], side.table[:, 3 + size :]
    out = np.zeros((size, 2, 5))
    out[:, 0, 0], out[:, 1, 0] = side.sizes, n - side.sizes
    mean = side.lacking * n / np.maximum(n - side.sizes, 1)
    outside = np.arange(size) < np.arange(size + 1)[:, None]
    deviation = np.where(outside, lack - mean, 0.0)
    out[:, 1, 1] = counts @ deviation**2 + squares @ slope**2
    out[:, 1, 2] = counts @ deviation**3 + 3 * squares @ (deviation * slope**2) + cubes @ slope**3
    out[:, 1, 3], out[:, 1, 4] = mean, 1.0
    return out, np.ascontiguousarray(side.points.T[:, :, None])


def _correlation(first: Prepared, second: Prepared, factors: Scores) -> Scores:
    """Return the correlations of the values along the path; points without variance are independent of all."""
    of_r, of_s = _covariances(first), _covariances(second)
    terms = ((0, 0), (0, 1), (1, 0))  # indicator or lack, in r and in s
    total = np.zeros_like(of_r[0][0])
    for one, (r, s) in enumerate(terms):
        for other, (r_other, s_other) in enumerate(terms):
            total += np.outer(factors[one], factors[other]) * of_r[r][r_other] * of_s[s][s_other]
    spread = np.sqrt(np.maximum(np.diag(total), 0.0))
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    correlation: Scores = total * np.outer(scale, scale)
    np.fill_diagonal(correlation, scale > 0)
    return correlation


def _covariances(side: Prepared) -> tuple[tuple[Scores, Scores], tuple[Scores, Scores]]:
    """Return the covariances over ranks of the indicators and of what is lacking, between all points."""
    size, n = side.sizes.size, side.n
    counts, squares = side.table[:, :1], side.table[:, 1:2]
    lack, slope = side.table[:, 3 : 3 + size], side.table[:, 3 + size :]
    inside = (np.arange(size + 1)[:, None] <= np.arange(size)).astype(np.float64)
    share = side.sizes / n
    both = (counts * inside).T @ inside / n - np.outer(share, share)
    mixed = (counts * inside).T @ lack / n - np.outer(share, side.lacking)
    lacks = ((counts * lack).T @ lack + (squares * slope).T @ slope) / n - np.outer(side.lacking, side.lacking)
    return (both, mixed), (mixed.T, lacks)


def area_null(overlap: TopSets, measure: Measure, places: Sizes, variances: Scores) -> AreaNull | None:
    """Return the null of the headline over some places of a path; None where only permutations tell it."""
    # `variances` are the exact ones at these places.
    if not has_area_null(measure):
        return None
    serving, exact = measure, variances
    k1, k2, weights = overlap.k1[places], overlap.k2[places], area_weights(places.size)
    depths = overlap.at_depths if measure.by_depth and isinstance(overlap, Overlap) else None
    if depths is not None:  # a weighted sum of Dice's values at all depths
        depth = int(overlap.requested[0][places[-1]])
        k1, k2 = depths.k1[:depth], depths.k2[:depth]
        serving, exact = MEASURES["dice"], np.full(depth, np.nan)
        weights = depth_weights(measure, depth)
    chosen, kept = thinned(weights, k1, k2)
    both = ((overlap.r, k1), (overlap.s, k2))
    sides = [prepared(ranking, k[chosen], overlap.n, overlap.zero_tail) for ranking, k in both]
    factors = coefficients(serving, overlap.n, sides[0].sizes, sides[1].sizes, sides[0].lacking, sides[1].lacking)
    law = np.empty(_kernels.area.LAW)
    tables = (sides[0].table, sides[0].points, sides[1].table, sides[1].points)
    variance = float(_kernels.area.moments(overlap.n, *tables, factors, kept, exact[chosen], law))
    if serving.linear:  # exactly, whatever was left out
        slopes = coefficients(serving, overlap.n, k1, k2, np.zeros(1), np.zeros(1))[0]
        variance = float(running_moments(overlap.n, k1, k2, weights * slopes)[0][-1])
    least = max(side.least for side in sides)
    known = (variance, law, least, chosen, (sides[0], sides[1]), factors, exact[chosen])
    upper = sides[0].upper, sides[1].upper
    here = np.flatnonzero((k1 == upper[0]) & (k2 == upper[1]))
    if not here.size:
        return AreaNull(*known)
    shared = overlap.shared[places] if depths is None else depths.shared
    return AreaNull(*known, overlap_tails(overlap.n, *upper, int(shared[here[0]])))


def depth_weights(measure: Measure, depth: int) -> Scores:
    """Return the weights of the agreements at depths 1, 2, ... in average overlap or RBO of lists cut at a depth."""
    if measure.base == "average_overlap":
        return np.full(depth, 1.0 / depth)
    p = measure.parameters["p"]
    weights: Scores = (1 - p) * p ** np.arange(float(depth))
    weights[-1] += p**depth
    return weights


def running_moments(n: int, k1: Sizes, k2: Sizes, slopes: Scores) -> tuple[Scores, Scores]:
    """Return the variances of the running sums of slopes times overlaps, and their covariances with the overlap there.

    The sets grow, so overlaps at two points have the covariance k1 k2 of the first times (n - k1)(n - k2) of the second
    over n²(n - 1).
    """
    rising = k1 * (k2 / n)
    falling = ((n - k1) / n) * ((n - k2) / max(n - 1, 1))
    partial = np.cumsum(slopes * rising, axis=-1)
    return np.cumsum(slopes * falling * (2 * partial - slopes * rising), axis=-1), falling * partial


def stacked(sides: Sequence[Prepared]) -> Prepared:
    """Return several rankings as one, for `pair_moments`."""
    fields = ("sizes", "lacking", "points", "table", "least", "upper")
    return Prepared(sides[0].n, *(np.array([getattr(side, name) for side in sides]) for name in fields))


def has_area_null(measure: Measure) -> bool:
    """Return whether a measure's area has variance and p-value without permutations."""
    return measure.linear or measure.by_depth or measure.name in {"fuji", "jaccard"}


def coefficients(measure: Measure, n: int, k1: Sizes, k2: Sizes, lacking_r: Scores, lacking_s: Scores) -> Scores:
    """Return, in the axis before the last, the coefficients of I_r I_s, I_r L_s and L_r I_s in a value."""
    mean = k1 * (k2 / n)
    union = k1 + k2 - mean
    out = np.zeros((*mean.shape[:-1], 3, mean.shape[-1]))
    if measure.name == "fuji":  # 1 - (sum of what is lacking in the union) / its size
        out[..., 0, :] = -(k1 * lacking_s + k2 * lacking_r) / union**2
        out[..., 1, :] = out[..., 2, :] = -1 / union
    elif measure.name == "jaccard":
        out[..., 0, :] = (k1 + k2) / union**2
    else:
        out[..., 0, :] = evaluate(measure, Counts(n, k1, k2, mean + 1)) - evaluate(measure, Counts(n, k1, k2, mean))
    return out


def pair_moments(
    i: Sizes, j: Sizes, first: Prepared, second: Prepared, measure: Measure, weights: Scores, exact: Scores
) -> tuple[Scores, Scores]:
    """Return variance and law by chance of the weighted sum of a measure's values: rankings i and j of two stacks."""
    # `exact` are the exact variances at the points of the path, one row per pair.
    sizes, lacking = (first.sizes[i], second.sizes[j]), (first.lacking[i], second.lacking[j])
    factors = coefficients(measure, first.n, *sizes, *lacking)
    variances, laws = np.empty(i.size), np.empty((i.size, _kernels.area.LAW))
    sides = (first.table, first.points, second.table, second.points)
    _kernels.area.pairs(i, j, first.n, *sides, factors, weights, exact, variances, laws)
    return variances, laws


def area_weights(size: int) -> Scores:
    """Return the weights of the points of a curve in the area under it."""
    weights = np.full(size, 1.0 / max(size - 1, 1))
    if size > 1:
        weights[[0, -1]] /= 2
    return weights


def thinned(weights: Scores, k1: Sizes | None = None, k2: Sizes | None = None) -> tuple[Sizes, Scores]:
    """Return at most MOST_POINTS places along a path, dense where it begins, and their weights."""
    # The weight of a point between two places goes to them as linear interpolation would take from them. Points with
    # the same sets (of sizes k1 and k2) are one.
    size = weights.size
    if size <= MOST_POINTS:
        return np.arange(size), weights
    first = np.arange(size)
    if k1 is not None and k2 is not None:
        first = np.flatnonzero(np.concatenate([[True], (np.diff(k1) != 0) | (np.diff(k2) != 0)]))
        weights = np.add.reduceat(weights, first)
    last = first.size
    if last <= MOST_POINTS:
        return first, weights
    # The last but one as well: tied zeros make the curve jump after it.
    half = MOST_POINTS // 2
    steps = np.concatenate([np.geomspace(1, last, half), np.linspace(1, last, half - 1), [last - 1]])
    places = np.unique(np.round(steps).astype(np.int64)) - 1
    right = np.clip(np.searchsorted(places, np.arange(last)), 1, places.size - 1)
    share = (np.arange(last) - places[right - 1]) / (places[right] - places[right - 1])
    kept = np.zeros(places.size)
    np.add.at(kept, right - 1, weights * (1 - share))
    np.add.at(kept, right, weights * share)
    return first[places], kept


def p_value(z: Any, laws: Scores, least: Any = 0.0, alternative: str = "greater") -> Any:
    """Return how often chance gives an area at least as large (small, far from the mean), elementwise."""
    # `z` in standard deviations; one law for all, or a row each. Not below `least` nor LEAST; NaN where z is.
    choice("alternative", alternative, ALTERNATIVES)
    standardised = np.asarray(z, np.float64)
    sides = {"greater": (1,), "less": (-1,), "two-sided": (1, -1)}[alternative]
    tails = np.empty((len(sides), standardised.size))
    for side, out in zip(sides, tails, strict=True):
        _kernels.area.tails(standardised.ravel(), np.atleast_2d(laws), side, out)
    p = len(sides) * tails.min(axis=0).reshape(standardised.shape)
    p = np.clip(p, np.maximum(least, LEAST), 1.0)
    return float(p) if p.ndim == 0 else p
