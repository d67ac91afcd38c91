"""FUJI of two rankings that are cut off: what it can be, whatever the scores of the items that one of them misses.

Imports the measures' area, the overlap, rankings and kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore import _kernels
from fujiscore.errors import InputError, choice
from fujiscore.tables import frame
from fujiscore.measures import area
from fujiscore.overlap import ZERO_TAIL, Ordered, grid
from fujiscore.rankings import align

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from numpy.typing import NDArray

    from fujiscore.overlap import Sizes, ZeroTail
    from fujiscore.rankings import Nan, Negative, Scores

# Sums relative to a score from HUGE up are carried times SHRINK, so that they do not overflow.
HUGE = 2.0**900
SHRINK = 2.0**-64


@dataclass(frozen=True, eq=False)
class Bounds:
    """The least and the greatest FUJI at each k, over all scores that missing items can have.

    Attributes
    ----------
    ks : ndarray of int64
        The evaluated k.
    low, high : ndarray of float64
        The bounds at each k; both can be reached (the lowest and the highest at different k not always at once).
    n : int
        The number of items that the rankings list between them.
    """

    ks: Sizes
    low: Scores
    high: Scores
    n: int

    @property
    def auc(self) -> tuple[float, float]:
        """The areas under both bounds; the area under the curve lies between them."""
        return float(area(self.low)), float(area(self.high))

    def to_frame(self, library: str | None = None) -> Any:
        """Return columns k, low and high as a pandas or polars DataFrame."""
        return frame({"k": self.ks, "low": self.low, "high": self.high}, library)

    def plot(self, ax: Any = None) -> Any:
        """Draw the band between the bounds on a matplotlib Axes (a new one if None) and return the Axes."""
        from fujiscore import plots

        return plots.bounds(self, ax=ax)


@dataclass(frozen=True, eq=False)
class _CutOff:
    """A ranking of some of the items: their positions from best to worst, with scores, negative ones as 0."""

    order: NDArray[np.int64]
    ranked: Scores

    @property
    def least(self) -> float:
        """The last listed score: no missing item scores more."""
        return float(self.ranked[-1])

    def __len__(self) -> int:
        return self.order.size


def bounds(
    r: Any,
    s: Any,
    *,
    ks: Any = "all",
    zero_tail: ZeroTail = "include",
    negative: Negative = "raise",
    nan: Nan = "raise",
) -> Bounds:
    """Return what FUJI can be for two rankings that are cut off, such as top lists and search results.

    An item that only one ranking lists has a score in the other that is unknown, but not above the least score
    listed there (nor below 0). The bounds hold whatever those scores are, and are the narrowest that do. Items are
    those that either ranking lists.

    Parameters
    ----------
    r, s : dict or pandas Series of item to score
        Labelled scores, higher is better. A missing item comes after all listed ones.
    ks : {"all", "exp", "squared"} or increasing integers
        Where to evaluate, up to the number n of items.
    zero_tail, negative, nan
        As in `fuji`. Where the least listed score is 0, missing items score 0, and `zero_tail` decides.

    Returns
    -------
    Bounds
        With `.ks`, `.low`, `.high`, `.auc`, `.plot()` and `.to_frame()`. For rankings of the same items both
        bounds are the curve.

    Examples
    --------
    >>> from fujiscore.bounds import bounds
    >>> found = bounds({"a": 4, "b": 3, "c": 2}, {"b": 8, "a": 4, "d": 4})
    >>> found.low.round(3)
    array([0.625, 1.   , 0.5  , 1.   ])
    >>> found.high.round(3)
    array([0.625, 1.   , 1.   , 1.   ])
    """
    choice("zero_tail", zero_tail, ZERO_TAIL)
    first, second, n = _cut_off(r, s, negative, nan)
    points = grid(ks, n)
    tail = float(zero_tail == "include")
    short, long = sorted((first, second), key=len)
    low, high = np.empty(points.size), np.empty(points.size)
    # The points increase, so each of the three regions is a run of them.
    both, one = np.searchsorted(points, (len(short), len(long)), side="right")
    low[:both], high[:both] = _both_listed(first, second, n, points[:both], tail)
    low[both:one], high[both:one] = _one_listed(long, short, n, points[both:one], tail)
    low[one:], high[one:] = _none_listed(first, second, n, points[one:], tail)
    return Bounds(points, low, np.maximum(low, high), n)


def _cut_off(r: Any, s: Any, negative: str, nan: str) -> tuple[_CutOff, _CutOff, int]:
    """Check and sort both rankings; positions are those of r's items, then of s's other items, as in `align`."""
    scored = [_labelled(obj, name, negative, nan) for obj, name in ((r, "r"), (s, "s"))]
    if nan == "drop":
        dropped = {item for own in scored for item, score in own.items() if np.isnan(score)}
        scored = [{item: score for item, score in own.items() if item not in dropped} for own in scored]
        for own, name in zip(scored, ("r", "s"), strict=True):
            if not own:
                raise InputError(f"{name} has no item left after nan='drop': each one has a NaN in r or s.")
    position = {item: i for i, item in enumerate(dict.fromkeys([*scored[0], *scored[1]]))}
    lists = []
    for own in scored:
        # Equal scores keep the order of all items, so that complete rankings are ordered as everywhere.
        at = np.array([position[item] for item in own])
        by_position = np.argsort(at)
        ordered = Ordered(np.array(list(own.values()))[by_position])
        lists.append(_CutOff(at[by_position][ordered.order], ordered.ranked))
    return lists[0], lists[1], len(position)


def _labelled(obj: Any, name: str, negative: str, nan: str) -> dict[Hashable, float]:
    """Return one ranking as item to score, with the policies applied; NaN stays only to be dropped."""
    checked = align((obj,), (name,), negative=negative, nan=nan)
    if checked.items is None:
        raise InputError(
            f"{name} must have item labels, to tell which items are missing from it. "
            "Pass a dict or a pandas Series of item to score."
        )
    scores = dict(zip(checked.items, checked.scores[0].tolist(), strict=True))
    if nan != "drop":
        return scores
    every = align((obj,), (name,), negative=negative, nan="zero").items or ()
    return {item: scores.get(item, np.nan) for item in every}


def _both_listed(r: _CutOff, s: _CutOff, n: int, ks: Sizes, tail: float) -> tuple[Scores, Scores]:
    """Return the bounds where both rankings list k items: missing items score 0, or as the last listed one."""
    if ks.size == 0:
        return np.empty(0), np.empty(0)
    order_r, order_s = _completed(r, n).astype(np.int32), _completed(s, n).astype(np.int32)
    s_rank, r_rank, scratch = np.empty((3, n), np.int32)
    _kernels.order.match(order_r, order_s, s_rank, r_rank, scratch)
    found = []
    for share in (0.0, 1.0):
        scores = [np.concatenate((own.ranked, np.full(n - len(own), share * own.least))) for own in (r, s)]
        fuji = np.empty(ks.size)
        _kernels.sweep.overlap(s_rank, r_rank, *scores, ks, ks, tail, np.empty(ks.size, np.int64), fuji)
        found.append(fuji)
    return found[0], found[1]


def _completed(cut_off: _CutOff, n: int) -> NDArray[np.int64]:
    """Return the order with the missing items at its end."""
    missing = np.ones(n, np.bool_)
    missing[cut_off.order] = False
    return np.concatenate((cut_off.order, np.flatnonzero(missing)))


def _none_listed(r: _CutOff, s: _CutOff, n: int, ks: Sizes, tail: float) -> tuple[Scores, Scores]:
    """Return the bounds where both top sets take in missing items: their union is all n items."""
    shared, misses = 2 * ks - n, n - ks
    low, high = shared.astype(np.float64), shared.astype(np.float64)
    for own in (r, s):
        # A miss can score anything from nothing to as much as the last item inside, unless all of them score 0.
        low += misses * (0.0 if own.least > 0 else tail)
        high += misses * (1.0 if own.least > 0 else tail)
    return low / n, high / n


def _one_listed(long: _CutOff, short: _CutOff, n: int, ks: Sizes, tail: float) -> tuple[Scores, Scores]:
    """Return the bounds where only the long ranking lists k items, and the short one's top set is filled up.

    With j of the filled-in items outside the long ranking's top set FUJI is (top + their memberships) /
    (least union + j).
    """
    if ks.size == 0:
        return np.empty(0), np.empty(0)
    inside = np.zeros(n, np.bool_)
    inside[short.order] = True
    both = inside[long.order]
    listed = _Tail(long.ranked, both, ks, tail)
    candidates = _Tail(long.ranked, ~both, ks, tail)
    shared = np.cumsum(both)[ks - 1]
    fills = ks - len(short)
    # Items of the short ranking that the long one misses score 0 there, or as its last item; a miss at 0 is a tie.
    unknown = len(short) - int(both.sum())
    kth = long.ranked[ks - 1]
    at_most = np.divide(long.least, kth, out=np.full(ks.size, tail), where=kth > 0)
    near = listed.first(listed.size)
    near_low, near_high = near + unknown * np.where(kth > 0, 0.0, tail), near + unknown * at_most
    union = ks + len(short) - shared
    outside = np.minimum(fills, candidates.size)

    # Fills that tie all earn full membership for the misses; fills above misses at 0 earn them none.
    if short.least == 0 and tail == 0:
        high = (shared + fills + near_high) / union
    else:
        count = _turning_point(candidates.first, ks + near_high, union, outside, 1)
        high = (ks + near_high + candidates.first(count)) / (union + count)
    if short.least == 0 and tail == 1:
        count = _turning_point(candidates.last, ks + near_low, union, outside, -1)
        low = (ks + near_low + candidates.last(count)) / (union + count)
    else:
        low = (shared + fills - outside + near_low + candidates.last(outside)) / (union + outside)
    return np.minimum(low, 1.0), np.minimum(high, 1.0)


class _Tail:
    """The marked items below the top k of a ranking, at each k: sums of their memberships, in order.

    Attributes
    ----------
    size : ndarray of int64
        How many they are.
    """

    def __init__(self, ranked: Scores, marked: NDArray[np.bool_], ks: Sizes, zero_tail: float) -> None:
        scores = ranked[marked]
        self._total, self._zero_tail = scores.size, zero_tail
        self._start = np.cumsum(marked, dtype=np.int64)[ks - 1]
        self.size = self._total - self._start
        kth = ranked[ks - 1]
        self._kth = np.where(kth >= HUGE, kth * SHRINK, kth)
        self._huge = (kth >= HUGE).astype(np.int64)
        # Sums from the end upward: below a k nothing is larger than the k-th score, so that ratios keep their digits.
        with np.errstate(over="ignore", invalid="ignore"):
            self._sums = np.stack((_sums_from_end(scores), _sums_from_end(scores * SHRINK)))

    def first(self, count: Sizes) -> Scores:
        """Return the summed memberships of that many of the best of them, for each k."""
        return self._relative(self._start, self._start + count, count)

    def last(self, count: Sizes) -> Scores:
        """Return the summed memberships of that many of the worst of them, for each k."""
        return self._relative(self._total - count, np.full(count.size, self._total, np.int64), count)

    def _relative(self, start: Sizes, stop: Sizes, count: Sizes) -> Scores:
        """Return the sum from start to stop over the k-th score."""
        high, low = (self._sums[self._huge, part, start] - self._sums[self._huge, part, stop] for part in (0, 1))
        positive = self._kth > 0
        sums: Scores = np.divide(high + low, self._kth, out=self._zero_tail * count, where=positive)
        return np.minimum(np.maximum(sums, 0.0), count)


def _sums_from_end(scores: Scores) -> Scores:
    """Return the sums of scores[i:] for i = 0, ..., size, each as a rounded sum and what the rounding lost."""
    terms = scores[::-1]
    rounded = np.concatenate(([0.0], np.cumsum(terms)))
    before, after = rounded[:-1], rounded[1:]
    part = after - before
    lost = np.concatenate(([0.0], np.cumsum((before - (after - part)) + (terms - part))))
    return np.stack((rounded[::-1], lost[::-1]))


def _turning_point(sums: Callable[[Sizes], Scores], above: Scores, below: Sizes, most: Sizes, sign: int) -> Sizes:
    """Return the count j <= most where (above + sums(j)) / (below + j) is greatest (sign 1) or least (sign -1).

    The terms of the sums fall (rise, for the least value), so the ratio turns once: where the next term is no
    longer on the better side of it. Bisection at all points at once.
    """
    start, stop = np.zeros_like(most), most
    while np.any(start < stop):
        middle = (start + stop) // 2
        total = sums(middle)
        step = sums(np.minimum(middle + 1, most)) - total
        better = sign * (step * (below + middle) - (above + total)) > 0
        better &= start < stop
        start, stop = np.where(better, middle + 1, start), np.where(better, stop, middle)
    return start
