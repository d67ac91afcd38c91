"""Where the lines and the names of a slope chart are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import short_names

if TYPE_CHECKING:
    from fujiscore.charts.kinds import Slopes

# Scores above the unit take at most this many times the room of those below it.
ROOM = 1.5
# Where items that a side does not list are drawn: below a score of 0.
UNLISTED = -0.16


@dataclass(frozen=True, eq=False)
class Layout:
    """Places on a slope chart.

    `heights` (2, items) are relative scores up to 1, and 1 + stretch * log above; `labels` are the places of names, as
    close to the heights as a distance of `gap` allows, NaN for names left out.
    """

    chart: Slopes
    items: list[str]
    heights: NDArray[np.float64]
    labels: NDArray[np.float64]
    gap: float
    stretch: float

    @property
    def unnamed(self) -> int:
        """The number of drawn items without a name."""
        return int(np.isnan(self.labels[0]).sum())

    @property
    def left_out(self) -> str:
        """What of the items is not drawn or named, in words."""
        count = sum(self.chart.counts.values())
        hidden = count - len(self.items)
        parts = [f"{hidden} not drawn"] if hidden else []
        parts += [f"{self.unnamed + hidden} not named"] if self.unnamed else []
        return f"of {count} items, {', '.join(parts)}" if parts else ""

    @cached_property
    def span(self) -> tuple[float, float]:
        """The lowest and the highest place: 0 and the unit at least."""
        return min(0.0, float(self.heights.min())), max(1.0, float(self.heights.max()))

    def ticks(self) -> tuple[list[float], list[str]]:
        """Return the heights of round relative scores, and these scores as text."""
        first = (1.0, 2.0, 5.0) if self.stretch > 0.3 else (1.0,)  # within a power of ten, if there is room
        steps = [1.2, 1.5, 2.0, 3.0, 5.0, *(digit * 10.0**power for power in range(1, 308) for digit in first)]
        kept = [(0.0, "0"), (0.5, "0.5"), (1.0, "1")]
        for step in steps:
            height = 1 + self.stretch * float(np.log(step))
            if height - kept[-1][0] >= 0.2 and height <= self.span[1]:
                kept.append((height, f"{step:g}"))
        if np.isnan(self.chart.relative).any():
            kept.insert(0, (UNLISTED, "not listed"))
        return [height for height, _ in kept], [text for _, text in kept]


def placed(chart: Slopes, *, lines: int, columns: int) -> Layout:
    """Return the layout of a slope chart, with names on at most so many lines per side, in so many columns."""
    highest = float(chart.logs.max(initial=0.0))
    stretch = 1.0 if highest <= ROOM else ROOM / highest
    heights = np.where(chart.relative > 1, 1 + stretch * chart.logs, chart.relative)
    heights = np.where(np.isnan(chart.relative), UNLISTED, heights)
    bare = Layout(chart, short_names(chart.items, columns), heights, np.full(heights.shape, np.nan), 0.0, stretch)
    low, high = bare.span
    gap = (high - low) / max(lines - 1, 1)
    for side in (0, 1):
        bare.labels[side, :lines] = spread(heights[side, :lines], gap, low, high)
    return Layout(chart, bare.items, heights, bare.labels, gap, stretch)


def spread(heights: Sequence[float] | NDArray[Any], gap: float, low: float, high: float) -> NDArray[Any]:
    """Return places at least a gap apart, between low and high and in the same order, with least squared distance.

    Equal heights keep their order, the first on top. Less the gaps below it, each place must not be below the one
    before: that is isotonic regression, whose solution within bounds is the one without them, clipped.
    """
    from scipy.optimize import isotonic_regression

    heights = np.asarray(heights, np.float64)
    if not heights.size:
        return heights
    order = np.lexsort((-np.arange(heights.size), heights))
    offsets = gap * np.arange(heights.size)
    places = np.empty(heights.size)
    pooled = isotonic_regression(heights[order] - offsets).x
    places[order] = np.clip(pooled, low, max(low, high - offsets[-1])) + offsets
    return places
