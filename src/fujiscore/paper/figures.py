"""How the figures of the page are drawn: each function draws on the matplotlib Figure that it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import fujiscore as fj
from fujiscore.paper.record import Figure

if TYPE_CHECKING:
    from fujiscore.paper.conventions import Scores

# Label, k, values and style of a line.
Line: TypeAlias = tuple[str, Any, Any, dict[str, Any]]
STYLE = {
    "font.size": 9.5,
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "fujiscore",
}
GREY = "#5F5F5F"
DASHES = ("-", "--", "-.", ":", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
PANEL_STYLES: dict[str, dict[str, Any]] = {
    "fuji": {"lw": 1.9, "ls": "-"},
    "jaccard": {"lw": 1.2, "ls": "-"},
    "correlation": {"lw": 1.8, "ls": ":"},
    "hamming": {"lw": 1.2, "ls": "--"},
}
# A panel is about this many pixels wide: more points cannot be told apart.
COLUMNS = 500


def style(index: int, measure: str = "fuji", **more: Any) -> dict[str, Any]:
    """Return the style of one of several lines: a measure's colour, dashes and markers of its own."""
    dashes, marker = DASHES[index % len(DASHES)], MARKERS[index % len(MARKERS)]
    return {"color": fj.MEASURES[measure].colour, "ls": dashes, "marker": marker, "ms": 4, "lw": 1.4} | more


def lines(figure: Any, rows: Sequence[Line], band: Sequence[Any] | None = None, **axes: Any) -> None:
    """Draw lines, and a band of (label, k, low, high), with a legend below."""
    ax = figure.add_subplot()
    if band is not None:
        label, *edges = band
        ax.fill_between(*edges, color=fj.MEASURES["fuji"].colour, alpha=0.2, lw=0, label=label)
    for label, ks, values, look in rows:
        ax.plot(ks, values, label=label, **look)
    ax.set(**{"xlabel": "k, number of top items", "ylabel": "similarity"} | axes)
    figure.legend(loc="outside lower center", ncols=3)


def line_figure(name: str, caption: str, rows: Sequence[Line], numbers: Any = None, **axes: Any) -> Figure:
    """Return a figure of lines, higher for a longer legend; its numbers are the lines' unless others are given."""
    shown = {"k": rows[0][1], **{label: values for label, _, values, _ in rows}}
    size = (5.2, 3.3 + 0.4 * (len(rows) // 3))
    return Figure(name, caption, size, partial(lines, rows=rows, **axes), numbers or shown)


def heat_map(figure: Any, grid: Scores, titles: Sequence[str], label: str) -> None:
    """Draw FUJI below the diagonal and Jaccard above, with the values as text."""
    ax = figure.add_subplot()
    image = ax.imshow(grid, cmap="cividis", vmin=0.0, vmax=1.0)
    ax.grid(visible=False)
    ax.set_xticks(range(len(titles)), titles)
    ax.set_yticks(range(len(titles)), titles)
    ax.spines[:].set_visible(False)
    for (i, j), value in np.ndenumerate(grid):
        text, shade = (titles[i], GREY) if i == j else (f"{value:.3f}", "black" if value > 0.5 else "white")
        ax.text(j, i, text, ha="center", va="center", color=shade)
    ax.set_title("upper right: Jaccard", loc="right", color=fj.MEASURES["jaccard"].colour)
    ax.set_xlabel("lower left: FUJI", loc="left", color=fj.MEASURES["fuji"].colour)
    figure.colorbar(image, ax=ax, label=label, shrink=0.85)


def counts(figure: Any, features: Sequence[int]) -> None:
    """Draw a histogram of feature counts on a logarithmic scale."""
    ax = figure.add_subplot()
    ax.hist(features, bins=np.logspace(1.5, 4.5, 10).tolist(), color=GREY, edgecolor="white")
    _log_axis(ax, [30, 100, 300, 1000, 3000, 10000, 30000])
    ax.set(xlabel="number of features", ylabel="data sets")
    ax.yaxis.get_major_locator().set_params(integer=True)


def panels(figure: Any, name: str, comparisons: Mapping[str, fj.results.Comparison]) -> None:
    """Draw one panel per pair of rankings: the measures over k, on a logarithmic axis."""
    axes = figure.subplots(len(comparisons), 1, sharex=True)
    for ax, (pair, comparison) in zip(axes, comparisons.items(), strict=True):
        for measure, curve in comparison.curves.items():
            shown = thinned(curve.ks, curve.values)
            label = fj.MEASURES[measure].title if ax is axes[0] else None
            look = {"color": fj.MEASURES[measure].colour, "label": label, **PANEL_STYLES[measure]}
            ax.plot(curve.ks[shown], curve.values[shown], **look)
        lowest = min(float(curve.values.min()) for curve in comparison.curves.values())
        ax.set(ylim=(min(lowest, 0.0) - 0.04, 1.04), ylabel="similarity")
        ax.set_title(f"{name}: {pair}", loc="left")
    n = next(iter(comparisons.values())).n
    # Powers of ten; with few items also 2, 5, 20, 50, ...
    ticks = [step * 10**power for power in range(6) for step in ((1, 2, 5) if n < 500 else (1,))]
    _log_axis(axes[-1], [tick for tick in ticks if tick <= n])
    axes[-1].set_xlabel("k, number of top features")
    figure.legend(loc="outside lower center", ncols=4)


def thinned(ks: NDArray[np.int64], values: Scores) -> NDArray[np.int64]:
    """Return the points that show on a logarithmic axis: the first, the last and both extremes per pixel column."""
    column = (np.log(ks) * (COLUMNS / max(np.log(ks[-1]), 1.0))).astype(np.int64)
    kept: set[int] = set()
    for points in np.split(np.arange(ks.size), np.flatnonzero(np.diff(column)) + 1):
        inside = values[points]
        kept.update((int(points[0]), int(points[-1]), int(points[inside.argmin()]), int(points[inside.argmax()])))
    return np.array(sorted(kept))


def _log_axis(ax: Any, ticks: Sequence[int]) -> None:
    """Make k logarithmic, with plain numbers at the ticks."""
    ax.set_xscale("log")
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.set_xticks([], minor=True)
