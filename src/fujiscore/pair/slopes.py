"""The slope chart of two rankings at one k, as numbers: heights, kinds and places of labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import short_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fujiscore.inputs.coercion import Scores
    from fujiscore.inputs.ranking import Rankings
    from fujiscore.pair.explain import Explanation

KINDS = ("shared", "near miss", "far miss", "opposite sign")
# Scores above the k-th take at most this many times the room of those below it.
ROOM = 1.5
# Where items that a ranking does not list are drawn: below a score of 0.
UNLISTED = -0.16
# More items than this are lines that nobody can follow; the misses come first.
MOST_ITEMS = 200
# Items' names are shortened to so many columns of text.
LONGEST = 20
# By default the picture is at this k, or at half of the items if they are few, as in `Comparison.explain`.
USUAL_K = 10


@dataclass(frozen=True, eq=False)
class Slopes:
    """The union of two top sets, each item with a place in either ranking by its score relative to the k-th score.

    Attributes
    ----------
    explanation : Explanation
        The items, scores and kinds, all of them.
    items : list of str
        The drawn items' names, short enough for a figure.
    kind : list of str
        Their kinds, one of `KINDS`.
    units : pair of float
        What scores are divided by: the k-th score; where that is 0 the least positive one; 0 without any.
    zero : pair of bool
        Whether the k-th score is 0.
    relative : ndarray of shape (2, items)
        Scores over the unit; negative ones as 0, NaN for an item that the ranking does not list.
    heights : ndarray of shape (2, items)
        Where items are drawn: up to 1 the relative score, so the membership; above 1 it grows with the logarithm.
    labels : ndarray of shape (2, items)
        Where names are written, as close to the heights as a distance of `gap` allows; NaN for names left out.
    gap : float
        The least distance between names.
    stretch : float
        The height of a relative score x above 1 is 1 + stretch * log(x).
    """

    explanation: Explanation
    items: list[str]
    kind: list[str]
    units: tuple[float, float]
    zero: tuple[bool, bool]
    relative: Scores
    heights: Scores
    labels: Scores
    gap: float
    stretch: float

    @property
    def left_out(self) -> int:
        """The number of items that are not drawn."""
        return len(self.explanation) - len(self.items)

    @property
    def unnamed(self) -> int:
        """The number of drawn items without a name."""
        return int(np.isnan(self.labels[0]).sum())

    @property
    def span(self) -> tuple[float, float]:
        """The lowest and the highest place of the chart."""
        return _span(self.heights)

    def ticks(self) -> tuple[list[float], list[str]]:
        """Return the heights of round relative scores, and these scores as text."""
        top = self.span[1]
        first = (1.0, 2.0, 5.0) if self.stretch > 0.3 else (1.0,)  # within a power of ten, if there is room
        steps = [1.2, 1.5, 2.0, 3.0, 5.0, *(digit * 10.0**power for power in range(1, 308) for digit in first)]
        above = [(1 + self.stretch * float(np.log(step)), f"{step:g}") for step in steps]
        kept = [(0.0, "0"), (0.5, "0.5"), (1.0, "1")]
        for height, text in above:
            if height - kept[-1][0] >= 0.2 and height <= top:
                kept.append((height, text))
        if np.isnan(self.relative).any():
            kept.insert(0, (UNLISTED, "not listed"))
        return [height for height, _ in kept], [text for _, text in kept]


def slopes(rankings: Rankings, explanation: Explanation, *, lines: int = 20, columns: int = LONGEST) -> Slopes:
    """Return the slope chart of an explained k, with names on at most so many lines per side, in so many columns.

    Misses have precedence over shared items, the worst first: they are what the rankings disagree about.
    """
    misses = [i for i, kind in enumerate(explanation.kind) if kind != "shared"]
    shared = [i for i, kind in enumerate(explanation.kind) if kind == "shared"]
    rows = [*reversed(misses), *shared][:MOST_ITEMS]
    given = np.array([explanation.score_r, explanation.score_s])[:, rows]
    first, second = rankings
    last = float(first.ranked[explanation.k1 - 1]), float(second.ranked[explanation.k2 - 1])
    units = unit(first.ranked, last[0]), unit(second.ranked, last[1])
    relative = np.array([_relative(scores, by) for scores, by in zip(given, units, strict=True)])
    logs = np.array([_logs(scores, by) for scores, by in zip(given, units, strict=True)])
    highest = float(logs.max(initial=0.0))
    stretch = 1.0 if highest <= ROOM else ROOM / highest
    heights = np.where(relative > 1, 1 + stretch * logs, relative)
    heights = np.where(np.isnan(relative), UNLISTED, heights)
    low, high = _span(heights)
    gap = (high - low) / max(lines - 1, 1)
    labels = np.full(heights.shape, np.nan)
    for side in (0, 1):
        labels[side, :lines] = spread(heights[side, :lines], gap, low, high)
    kinds = [explanation.kind[row] for row in rows]
    names = short_names([explanation.items[row] for row in rows], columns)
    zero = last[0] <= 0, last[1] <= 0
    return Slopes(explanation, names, kinds, units, zero, relative, heights, labels, gap, stretch)


def default_k(rankings: Rankings) -> int:
    """Return 10 or half of the items, but not so many that the k-th score is 0: nothing is relative to 0."""
    positive = min(int(np.count_nonzero(ranking.ranked > 0)) for ranking in rankings)
    return max(1, min(USUAL_K, rankings.depth // 2, positive))


def unit(ranked: Scores, last: float) -> float:
    """Return the k-th score; if it is 0 the least positive one of the ranking, and 0 if there is none."""
    positive = ranked[ranked > 0]
    return last if last > 0 else float(positive[-1]) if positive.size else 0.0


def _relative(scores: Scores, by: float) -> Scores:
    """Return scores over the unit, negative ones as 0; NaN stays."""
    if by == 0:
        return np.where(np.isnan(scores), np.nan, 0.0)
    with np.errstate(over="ignore"):
        return np.maximum(scores, 0.0) / by


def _logs(scores: Scores, by: float) -> Scores:
    """Return the logarithm of scores over the unit, which is finite where the quotient is not; at most 1 as 0."""
    above = np.nan_to_num(scores) > (by or np.inf)
    return np.log(np.where(above, scores, 1.0)) - np.where(above, np.log(by or 1.0), 0.0)


def _span(heights: Scores) -> tuple[float, float]:
    """Return the lowest and the highest place of a chart: it shows 0 and the k-th score at least."""
    return min(0.0, float(heights.min())), max(1.0, float(heights.max()))


def spread(heights: Sequence[float] | Scores, gap: float, low: float, high: float) -> NDArray[Any]:
    """Return places at least a gap apart, between low and high and in the same order, with least squared distance.

    Equal heights keep their order, the first on top. Less the gaps below it, each place must not be below the one
    before: that is isotonic regression, solved by pooling neighbours, whose solution within bounds is the one
    without them, clipped.
    """
    heights = np.asarray(heights, np.float64)
    order = np.lexsort((-np.arange(heights.size), heights))
    offsets = gap * np.arange(heights.size)
    pools: list[tuple[float, int]] = []
    for wish in heights[order] - offsets:
        mean, size = float(wish), 1
        while pools and pools[-1][0] > mean:
            before, count = pools.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        pools.append((mean, size))
    pooled = np.repeat([mean for mean, _ in pools], [size for _, size in pools]) if pools else np.empty(0)
    places = np.empty(heights.size)
    room = max(low, high - (offsets[-1] if heights.size else 0.0))
    places[order] = np.clip(pooled, low, room) + offsets
    return places
