"""Significance of an area without permutations: its variance and skewness by chance, and the p-value from them.

An area is a weighted sum of values along a path of set sizes. To first order each value is a sum over items of
products of a function of the rank in r and one of the rank in s, so by Hoeffding's formulas its covariances and third
moment under random ranks factorise by ranking (docs/chance.md). The standard deviation at each point is then brought
to the exact one. Imports measures and kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore import _kernels
from fujiscore.errors import choice
from fujiscore.measures import evaluate
from fujiscore.overlap import Counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fujiscore.coercion import Scores
    from fujiscore.measures import Measure
    from fujiscore.overlap import Sizes
    from fujiscore.ranking import Ranking

ALTERNATIVES = ("greater", "less", "two-sided")
# Of a longer path so many points serve for the covariances.
MOST_POINTS = 96
# The tail of the approximating distribution is trusted down to here: no p-value is smaller.
LEAST = 1e-9
# Below this skewness the normal distribution serves.
STRAIGHT = 1e-4


@dataclass(frozen=True, eq=False)
class Prepared:
    """What chance depends on in one ranking; `stacked` makes it one for many rankings, with one more axis in front.

    Attributes
    ----------
    n : int
        Number of items: of the universe, if there is one.
    sizes : ndarray of int64
        The set sizes k_g at the points of the path, with tied items where ties are closed.
    lacking : ndarray
        For each point the mean over all ranks of L, what an item outside the set lacks of membership.
    points : ndarray
        For each point (last axis) variance of the indicator I of the set, variance of L, covariance of the two.
    table : ndarray
        One row per level: see the kernel.
    least : float
        One in the number of ways to assign the scores to the items: no p-value is smaller.
    """

    n: int
    sizes: Sizes
    lacking: Scores
    points: Scores
    table: Scores
    least: Any


def prepared(ranking: Ranking, sizes: Sizes, n: int, zero_tail: float) -> Prepared:
    """Return what chance depends on in one ranking, for the (closed) set sizes along a path, which never fall."""
    sizes = np.asarray(sizes, np.int64)
    counts, means, squares, cubes = _levels(ranking, sizes, n)
    kth = ranking.ranked[np.minimum(sizes, ranking.n) - 1]
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
    return Prepared(n, sizes, lacking, points, table, _one_in_all(ranking, n))


def _levels(ranking: Ranking, sizes: Sizes, n: int) -> tuple[Scores, Scores, Scores, Scores]:
    """Return the ranks in each level, and of x, the part by which a score is below the last one above, the moments.

    Ranks beyond the ranking's own items are at 0.
    """
    ranked, number = np.append(ranking.ranked, 0.0), np.ones(ranking.n + 1)
    number[-1] = n - ranking.n
    level = np.searchsorted(sizes, np.arange(1, ranking.n + 2))
    kth = np.append(0.0, ranked[np.minimum(sizes, ranking.n) - 1])[level]
    x = np.divide(kth - ranked, kth, out=np.zeros(ranked.size), where=kth > 0)

    def total(values: Scores) -> Scores:
        return np.bincount(level, number * values, sizes.size + 1).astype(np.float64, copy=False)

    counts = total(np.ones(ranked.size))
    means = total(x) / np.maximum(counts, 1)
    x -= means[level]
    return counts, means, total(x**2), total(x**3)


def _one_in_all(ranking: Ranking, n: int) -> float:
    """Return one in the number of different ways to assign the scores to the items, not below LEAST."""
    from math import exp, lgamma, log

    ties = lgamma(n - ranking.listed + 1)
    if not ranking.untied:
        above, up_to = (bound[: ranking.listed] for bound in ranking.tie_groups)
        groups = np.bincount((up_to - above)[above == np.arange(ranking.listed)])
        ties += sum(int(number) * lgamma(size + 1) for size, number in enumerate(groups) if number)
    return exp(min(0.0, max(log(LEAST), ties - lgamma(n + 1))))


def stacked(sides: Sequence[Prepared]) -> Prepared:
    """Return several rankings as one, for `pair_moments`."""
    fields = ("sizes", "lacking", "points", "table", "least")
    return Prepared(sides[0].n, *(np.array([getattr(side, name) for side in sides]) for name in fields))


def has_area_null(measure: Measure) -> bool:
    """Return whether a measure's area has variance and p-value without permutations."""
    return measure.linear or measure.name in {"fuji", "jaccard"}


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


def moments(
    first: Prepared, second: Prepared, measure: Measure, weights: Scores, exact: Scores | None = None
) -> tuple[float, float]:
    """Return variance and skewness, by chance, of the weighted sum of a measure's values along the path.

    `exact` are the exact variances at the points.
    """
    factors = coefficients(measure, first.n, first.sizes, second.sizes, first.lacking, second.lacking)
    known = np.full(weights.size, np.nan) if exact is None else exact
    out = np.empty(2)
    sides = (first.table, first.points, second.table, second.points)
    _kernels.area.moments(first.n, *sides, factors, weights, known, out)
    return float(out[0]), float(out[1])


def pair_moments(
    i: Sizes, j: Sizes, first: Prepared, second: Prepared, measure: Measure, weights: Scores, exact: Scores
) -> tuple[Scores, Scores]:
    """Return the same for many pairs: rankings i of the first stack against rankings j of the second.

    `exact` has one row per pair.
    """
    sizes, lacking = (first.sizes[i], second.sizes[j]), (first.lacking[i], second.lacking[j])
    factors = coefficients(measure, first.n, *sizes, *lacking)
    out = np.empty((i.size, 2))
    sides = (first.table, first.points, second.table, second.points)
    _kernels.area.pairs(i, j, first.n, *sides, factors, weights, exact, out)
    return out[:, 0], out[:, 1]


def area_weights(size: int) -> Scores:
    """Return the weights of the points of a curve in the area under it."""
    weights = np.full(size, 1.0 / max(size - 1, 1))
    if size > 1:
        weights[[0, -1]] /= 2
    return weights


def thinned(weights: Scores, k1: Sizes | None = None, k2: Sizes | None = None) -> tuple[Sizes, Scores]:
    """Return at most MOST_POINTS places along a path, dense where it begins, and their weights.

    The weight of a point between two places goes to them as linear interpolation would take from them. Points with
    the same sets (of sizes k1 and k2) are one.
    """
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


def p_value(value: Any, mean: Any, variance: Any, skewness: Any, least: Any = 0.0, alternative: str = "greater") -> Any:
    """Return how often chance gives a value at least as large (small, far from the mean), from three moments.

    The tail of the Pearson III distribution (a shifted gamma distribution), elementwise; not below `least` nor LEAST;
    NaN where chance leaves no choice.
    """
    choice("alternative", alternative, ALTERNATIVES)
    value, mean, variance, skewness = np.broadcast_arrays(value, mean, variance, skewness)
    spread = np.sqrt(np.where(variance > 0, variance, np.nan))
    z = (value - mean) / spread
    if alternative == "less":
        z, skewness = -z, -skewness
    p = _upper_tail(z, skewness)
    if alternative == "two-sided":
        p = 2 * np.minimum(p, _upper_tail(-z, -skewness))
    p = np.where(np.isnan(z), np.nan, np.clip(p, np.maximum(least, LEAST), 1.0))
    return float(p) if p.ndim == 0 else p


def _upper_tail(z: Scores, skewness: Scores) -> Scores:
    """Return the upper tail of the standardised Pearson III distribution: a gamma distribution, or its mirror image."""
    from scipy.special import gammainc, gammaincc, ndtr

    straight = np.abs(skewness) < STRAIGHT
    shape = 4 / np.where(straight, 1.0, skewness) ** 2
    up, down = (np.maximum(shape + sign * z * np.sqrt(shape), 0.0) for sign in (1, -1))
    tail = np.where(skewness > 0, gammaincc(shape, up), gammainc(shape, down))
    values: Scores = np.where(straight, ndtr(-z), tail)
    return values
