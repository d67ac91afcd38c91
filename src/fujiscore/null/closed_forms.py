"""Exact expectation and variance of a measure at each k by chance, and values corrected for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import fujiscore._kernels as _kernels
from fujiscore.errors import choice, integer
from fujiscore.measures.grids import Sizes, grid
from fujiscore.measures.overlap import Counts, Overlap, TopSets
from fujiscore.measures.registry import MEASURES, Measure, evaluate
from fujiscore.null.area import running_moments

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores

    Moments: TypeAlias = tuple[Scores, Scores]

# Room this small between chance and the maximum is rounding.
ROUNDING = 1e-12
# FUJI can hardly see the order of lists that have a higher floor.
HIGH_FLOOR = 0.5


def correct(observed: Scores, expected: Scores) -> Scores:
    """Rescale so that chance level is 0 and the maximum stays 1; NaN where chance alone gives 1."""
    room = 1.0 - expected
    return np.divide(observed - expected, room, out=np.full_like(room, np.nan), where=room > ROUNDING)


def floors(n: Sizes, sizes: Sizes, outside: Scores) -> Scores:
    """Return the expected FUJI of lists with themselves, their items reordered at random.

    Parameters
    ----------
    n, sizes : ndarray of int64
        The number of items of each list, and of its top set.
    outside : ndarray
        The mean membership of the items outside the set.
    """
    base = int(sizes.max(initial=0)) + 1
    keys, which = np.unique(n * base + sizes, return_inverse=True)  # lists of the same sizes share the sum
    lengths, tops = np.divmod(keys, base)
    overlaps = np.empty((keys.size, 6))
    starts = np.flatnonzero(np.diff(lengths, prepend=-1))  # the keys are sorted by length
    for start, stop in zip(starts, np.append(starts, keys.size)[1:], strict=True):
        _kernels.chance.moments(int(lengths[start]), tops[start:stop], tops[start:stop], overlaps[start:stop])
    floor: Scores = overlaps[which, 0] + 2 * overlaps[which, 1] * outside
    return floor


def has_closed_form(measure: Measure) -> bool:
    """Return whether a measure's expectation is known in closed form."""
    return measure.linear or measure.by_depth or measure.name in CLOSED_FORMS


def closed_form(measure: Measure, overlap: TopSets) -> Moments | None:
    """Return a measure's exact expectation and variance at each point, or None where no closed form applies."""
    if not has_closed_form(measure) or overlap.r.split is not None or (overlap.ties == "stable" and overlap.ties_cut):
        return None
    if measure.by_depth:
        return _by_depth(measure, overlap) if isinstance(overlap, Overlap) else None
    return moments(measure, Null(overlap.n, overlap.k1, overlap.k2, *overlap.tail_moments()))


def moments(measure: Measure, null: Null) -> Moments:
    """Return expectation and variance of a measure that has a closed form."""
    return _linear(measure, null) if measure.linear else CLOSED_FORMS[measure.name](measure, null)


@dataclass(frozen=True, eq=False)
class Null:
    """All that chance depends on: set sizes, and mean and variance of the memberships outside the sets."""

    n: int
    k1: Sizes
    k2: Sizes
    tails_r: Moments
    tails_s: Moments

    def overlap_moments(self) -> Scores:
        """Return the six moments over the hypergeometric overlap (see the kernel) in the last axis."""
        k1, k2 = self.k1.ravel(), self.k2.ravel()
        if self.k1.ndim > 1 and (self.k1 == self.k1[:1]).all() and (self.k2 == self.k2[:1]).all():
            return replace(self, k1=self.k1[0], k2=self.k2[0]).overlap_moments()[None]  # pairs without ties share them
        if self.k1.ndim == 1:  # sizes never fall along a path, so repeated pairs are neighbours
            new = np.concatenate([[True], (np.diff(k1) != 0) | (np.diff(k2) != 0)])
            unique, inverse = np.stack([k1[new], k2[new]]), np.cumsum(new) - 1
        else:
            base = int(k2.max()) + 1  # one number per pair of sizes: much faster to sort than pairs
            keys, inverse = np.unique(k1 * base + k2, return_inverse=True)
            unique = np.stack(np.divmod(keys, base))
        out = np.empty((unique.shape[1], 6))
        _kernels.chance.moments(self.n, unique[0], unique[1], out)
        moments: Scores = out[inverse.ravel()].reshape(*self.k1.shape, 6)
        return moments


def _fuji(_: Measure, null: Null) -> Moments:
    n, k1, k2 = null.n, null.k1, null.k2
    both, only_r, only_s, inverse, draw_s, draw_r = np.moveaxis(null.overlap_moments(), -1, 0)
    mean_r, variance_r = null.tails_r
    mean_s, variance_s = null.tails_s
    expected = both + only_r * mean_s + only_s * mean_r
    variance = (k1 * (1 - mean_r) + k2 * (1 - mean_s)) ** 2 * inverse
    variance += draw_s * variance_s / np.maximum(n - k2 - 1, 1) + draw_r * variance_r / np.maximum(n - k1 - 1, 1)
    return expected, variance


def _jaccard(_: Measure, null: Null) -> Moments:
    overlaps = null.overlap_moments()
    return np.broadcast_to(overlaps[..., 0], null.k1.shape), (null.k1 + null.k2) ** 2 * overlaps[..., 3]


def _krizek(_: Measure, null: Null) -> Moments:
    """Two random sets of one size are equal with a probability of one in all sets of that size."""
    from scipy.special import gammaln

    logs = gammaln(null.k1 + 1.0) + gammaln(null.n - null.k1 + 1.0) - gammaln(null.n + 1.0)
    equal = np.where(null.k1 == null.k2, np.exp(np.minimum(logs, 0.0)), np.nan)
    return equal, equal * (1 - equal)


def _overlap_moments(n: int, k1: Sizes, k2: Sizes) -> Moments:
    """Return mean and variance of the overlap of two random sets."""
    mean = k1 * (k2 / n)
    return mean, mean * ((n - k1) / n) * ((n - k2) / max(n - 1, 1))


def _linear(measure: Measure, null: Null) -> Moments:
    """Evaluate a formula that is linear in the overlap at the expected overlap."""
    n, k1, k2 = null.n, null.k1, null.k2
    mean, spread = _overlap_moments(n, k1, k2)
    expected = evaluate(measure, Counts(n, k1, k2, mean))
    return expected, (evaluate(measure, Counts(n, k1, k2, mean + 1)) - expected) ** 2 * spread


def _by_depth(measure: Measure, overlap: Overlap) -> Moments | None:
    """Return the moments of average overlap and RBO, which are linear in the overlaps at all depths."""
    if overlap.inner < overlap.k1.size or (overlap.ties == "stable" and overlap.at_depths.ties_cut):
        return None
    n, k1, k2 = overlap.n, overlap.at_depths.k1, overlap.at_depths.k2
    slopes = 2 / (k1 + k2)
    last = np.zeros(k1.size)  # what the last depth counts more than by its weight
    if measure.base == "average_overlap":
        scale = 1.0 / np.arange(1, k1.size + 1)
        weighted = slopes
    else:
        p = measure.parameters["p"]
        powers = p ** np.arange(float(k1.size))
        scale, weighted, last = np.ones(k1.size), (1 - p) * powers * slopes, p * powers * slopes
    mean, spread = _overlap_moments(n, k1, k2)
    variance, covariance = running_moments(n, k1, k2, weighted)
    expected = scale * (np.cumsum(weighted * mean) + last * mean)
    variance = scale**2 * (variance + 2 * last * covariance + last**2 * spread)
    at = overlap.requested[0] - 1
    return expected[at], np.maximum(variance[at], 0.0)


CLOSED_FORMS: dict[str, Callable[[Measure, Null], Moments]] = {
    "fuji": _fuji,
    "jaccard": _jaccard,
    "krizek": _krizek,
}


def expected_jaccard(n: int, ks: Any = "all", *, method: str = "exact") -> Scores:
    """Return the expected Jaccard index of the top k of two random rankings of n items.

    Parameters
    ----------
    n : int
        Number of items.
    ks : {"all", "exp", "squared"} or increasing integers
        Where to evaluate.
    method : {"exact", "paper"}
        The mean over the hypergeometric overlap, or the paper's approximation k / (2n - k).

    Returns
    -------
    ndarray of float64
        The expected index at each k.

    Examples
    --------
    >>> import fujiscore as fj
    >>> fj.stats.expected_jaccard(4)
    array([0.25      , 0.38888889, 0.625     , 1.        ])
    >>> fj.stats.expected_jaccard(4, method="paper")
    array([0.14285714, 0.33333333, 0.6       , 1.        ])
    """
    choice("method", method, ("exact", "paper"))
    size = integer("n", n, 1)
    points = grid(ks, size).ks
    if method == "paper":
        return points / (2 * size - points)
    nothing = (np.zeros(points.size), np.zeros(points.size))
    return _jaccard(MEASURES["jaccard"], Null(size, points, points, nothing, nothing))[0]
