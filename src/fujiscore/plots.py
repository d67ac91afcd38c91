"""Pictures (matplotlib): each function takes computed results and an Axes, and returns the Axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import MissingExtraError
from fujiscore.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fujiscore.bounds import Bounds
    from fujiscore.chance import Chance
    from fujiscore.compare import Curve
    from fujiscore.pairwise import Matrix
    from fujiscore.stability import StabilityCurve

# One colour a measure, everywhere: Okabe and Ito's colour-blind-safe palette first, then others apart from it.
PALETTE = (
    "#D55E00",
    "#0072B2",
    "#009E73",
    "#E69F00",
    "#56B4E9",
    "#CC79A7",
    "#7F7F7F",
    "#000000",
    "#8C564B",
    "#5B3A8E",
    "#BCBD22",
    "#1B7837",
    "#762A83",
)


def colour(measure: str) -> str:
    """Return a measure's colour."""
    return PALETTE[list(MEASURES).index(measure) % len(PALETTE)]


def new_axes(width: float = 6.4, height: float = 4.0) -> Any:
    """Return the Axes of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("plots need matplotlib: pip install 'fujiscore[plot]'") from error
    _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def curves(lines: Sequence[Curve], ax: Any = None) -> Any:
    """Draw curves over k, one a measure, with their areas in the legend."""
    ax = new_axes() if ax is None else ax
    for line in lines:
        label = f"{MEASURES[line.measure].title} (AUC {line.auc:.3f})"
        _line(ax, line.ks, line.values, color=colour(line.measure), label=label)
    return _finish(ax, [line.measure for line in lines])


def chance(found: Chance, ax: Any = None) -> Any:
    """Draw a curve, its chance level, and a band of two standard deviations about that."""
    ax = new_axes() if ax is None else ax
    title = MEASURES[found.measure].title
    _line(ax, found.ks, found.observed, color=colour(found.measure), label=f"{title} (AUC {found.auc:.3f})")
    label = f"by chance (AUC {found.expected_auc:.3f}), ± 2 sd"
    _line(ax, found.ks, found.expected, color="#7F7F7F", linestyle="--", label=label)
    reach = 2 * np.sqrt(found.variance)
    ax.fill_between(found.ks, found.expected - reach, found.expected + reach, color="#7F7F7F", alpha=0.2, linewidth=0)
    return _finish(ax, [found.measure])


def bounds(found: Bounds, ax: Any = None) -> Any:
    """Draw the band between the lower and the upper FUJI curve."""
    ax = new_axes() if ax is None else ax
    low, high = found.auc
    ax.fill_between(found.ks, found.low, found.high, color=colour("fuji"), alpha=0.25, linewidth=0)
    _line(ax, found.ks, found.low, color=colour("fuji"), label=f"FUJI, bounds (AUC {low:.3f} to {high:.3f})")
    _line(ax, found.ks, found.high, color=colour("fuji"))
    return _finish(ax, ["fuji"])


def stability(found: StabilityCurve, ax: Any = None) -> Any:
    """Draw stability over k with its confidence band."""
    ax = new_axes() if ax is None else ax
    shade = colour(found.measure)
    ax.fill_between(found.ks, found.low, found.high, color=shade, alpha=0.25, linewidth=0)
    label = f"{MEASURES[found.measure].title}, {found.confidence:.0%} interval"
    _line(ax, found.ks, found.values, color=shade, label=label)
    return _finish(ax, [found.measure])


def matrix(found: Matrix, ax: Any = None) -> Any:
    """Draw all pairs as a heat map, with the values written in where there is room."""
    rows, columns = found.values.shape
    ax = new_axes(2.6 + 0.55 * min(columns, 24), 1.6 + 0.5 * min(rows, 24)) if ax is None else ax
    low = -1.0 if found.values.min() < -0.25 else 0.0  # a value just below chance need not halve the scale
    image = ax.imshow(found.values, cmap="cividis", vmin=low, vmax=1.0, aspect="auto")
    if columns <= 40:
        ax.set_xticks(range(columns), found.columns, rotation=45, ha="right", rotation_mode="anchor")
        ax.set_yticks(range(rows), found.names)
    if columns <= 12 and rows <= 24:
        for i in range(rows):
            for j in range(columns):
                value = found.values[i, j]
                ink = "black" if (value - low) / (1 - low) > 0.55 else "white"
                ax.text(j, i, f"{value:.2f}", ha="center", va="center", color=ink, fontsize=8)
    label = f"AUC {MEASURES[found.measure].title}" + (", corrected for chance" if found.corrected else "")
    ax.figure.colorbar(image, ax=ax, label=label)
    return ax


def _line(ax: Any, ks: Any, values: Any, **style: Any) -> None:
    """Draw a line over k, with marks where points are few."""
    ax.plot(ks, values, marker="o" if ks.size <= 40 else None, markersize=3, **style)


def _finish(ax: Any, measures: Sequence[str]) -> Any:
    """Label the axes, and fit them to the measures' range."""
    low = min((MEASURES[name].low for name in measures), default=0.0)
    ax.set(xlabel="k, number of top items", ylabel="similarity")
    ax.set_ylim(max(low, -1.0) - 0.03, 1.03)
    ax.grid(alpha=0.25)
    beside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if len(measures) > 4 else {}
    ax.legend(frameon=False, **beside)
    return ax
