"""How the figures of the page are drawn: each function draws on the matplotlib Figure that it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore as fj
from fujiscore.plots import colour

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fujiscore.paper.conventions import Scores

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
LINES = ("-", "--", "-.", ":", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))
MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
LOOKS: dict[str, dict[str, Any]] = {
    "fuji": {"lw": 1.9, "ls": "-"},
    "jaccard": {"lw": 1.2, "ls": "-"},
    "correlation": {"lw": 1.8, "ls": ":"},
    "hamming": {"lw": 1.2, "ls": "--"},
}
# A panel is about this many pixels wide: more points cannot be told apart.
COLUMNS = 500


def lines(figure: Any, ks: Scores, lines: Mapping[str, Scores]) -> None:
    """Draw a few curves of FUJI, distinguished by markers and line styles, and of Jaccard."""
    ax = figure.add_subplot()
    for index, (label, values) in enumerate(lines.items()):
        look: dict[str, Any] = {"color": colour("fuji"), "ls": LINES[index], "marker": MARKS[index], "ms": 4, "lw": 1.4}
        if label.startswith("Jaccard"):
            look = {"color": colour("jaccard"), "marker": "x", "ms": 5, "lw": 1.8}
        ax.plot(ks, values, label=label, **look)
    _finish(figure, ax, ks)


def many_measures(figure: Any, ks: Scores, curves: Mapping[str, Scores]) -> None:
    """Draw one line per measure, each with its own colour, marker and line style."""
    ax = figure.add_subplot()
    for index, (measure, values) in enumerate(curves.items()):
        title = "nPOG, Kuncheva, Wald, Pearson" if measure == "npog" else fj.MEASURES[measure].title
        width = 2.4 if measure == "fuji" else 1.2
        # Curves that coincide stay visible: hollow markers around filled ones.
        look = {"ls": LINES[index % len(LINES)], "marker": MARKS[index % len(MARKS)], "lw": width}
        look |= {"ms": 7.5, "mfc": "none"} if index % 2 else {"ms": 4}
        ax.plot(ks, values, color=colour(measure), label=title, **look)
    _finish(figure, ax, ks)


def _finish(figure: Any, ax: Any, ks: Scores) -> None:
    """Label the axes of curves over few k, and place the legend below."""
    ax.set_xticks(ks)
    ax.set(xlabel="k, number of top items", ylabel="similarity")
    figure.legend(loc="outside lower center", ncols=3)


def limit(figure: Any, alphas: Sequence[float], distances: Sequence[float]) -> None:
    """Draw the largest distance of FUJI from Jaccard over alpha, both on a logarithmic scale."""
    ax = figure.add_subplot()
    ax.loglog(alphas, distances, color=colour("fuji"), marker="o", ms=4)
    ax.set(xlabel="alpha, ratio of neighbouring scores", ylabel="largest FUJI - Jaccard")


def ratios(figure: Any, lines: Mapping[int, Scores]) -> None:
    """Draw the ratio of approximation and exact expectation over k/n, one line per n."""
    ax = figure.add_subplot()
    for index, (n, values) in enumerate(lines.items()):
        ax.plot(np.arange(1, n + 1) / n, values, color=colour("jaccard"), ls=LINES[index], lw=1.6, label=f"n = {n}")
    ax.set_xscale("log")
    ax.set(xlabel="k / n", ylabel="approximation / exact")
    ax.legend(loc="lower right")


def null(figure: Any, columns: Mapping[str, Scores]) -> None:
    """Draw the exact expectation with two standard deviations, and the means of permutations."""
    ax = figure.add_subplot()
    ks, expected, reach = columns["k"], columns["expected"], 2 * np.sqrt(columns["variance"])
    low, high = np.maximum(expected - reach, 0.0), np.minimum(expected + reach, 1.0)
    ax.fill_between(ks, low, high, color=colour("fuji"), alpha=0.2, lw=0, label="± 2 sd, exact")
    ax.plot(ks, expected, color=colour("fuji"), label="expectation, exact")
    ax.plot(ks, columns["permutation_mean"], ls="none", marker="o", ms=3, color="black", label="mean of permutations")
    ax.set(xlabel="k, number of top items", ylabel="FUJI by chance")
    ax.legend(loc="upper left")


def dumbbells(figure: Any, names: Sequence[str], before: Sequence[float], after: Sequence[float]) -> None:
    """Draw one line per data set, from the value before to the value after."""
    ax = figure.add_subplot()
    order = np.argsort(after)
    rows = np.arange(len(names))
    first, second = np.array(before)[order], np.array(after)[order]
    ax.hlines(rows, first, second, color=GREY, lw=1.2)
    ax.plot(first, rows, "o", mfc="white", mec=colour("fuji"), ms=7, label="RF as published")
    ax.plot(second, rows, "o", color=colour("fuji"), ms=7, label="RF correct")
    ax.set_yticks(rows, [names[i] for i in order])
    ax.set(xlabel="AUC of FUJI, Genie3 and RF")
    ax.margins(y=0.08)
    figure.legend(loc="outside lower center", ncols=2)


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
    ax.set_title("upper right: Jaccard", loc="right", color=colour("jaccard"))
    ax.set_xlabel("lower left: FUJI", loc="left", color=colour("fuji"))
    figure.colorbar(image, ax=ax, label=label, shrink=0.85)


def counts(figure: Any, features: Sequence[int]) -> None:
    """Draw a histogram of feature counts on a logarithmic scale."""
    ax = figure.add_subplot()
    ax.hist(features, bins=np.logspace(1.5, 4.5, 10).tolist(), color=GREY, edgecolor="white")
    ax.set_xscale("log")
    _plain_ticks(ax, [30, 100, 300, 1000, 3000, 10000, 30000])
    ax.set(xlabel="number of features", ylabel="data sets")
    ax.yaxis.get_major_locator().set_params(integer=True)


def panels(figure: Any, name: str, comparisons: Mapping[str, fj.Comparison]) -> None:
    """Draw one panel per pair of rankings: the measures over k, on a logarithmic axis."""
    axes = figure.subplots(len(comparisons), 1, sharex=True)
    for ax, (pair, comparison) in zip(axes, comparisons.items(), strict=True):
        lowest = 0.0
        for measure, curve in comparison.curves.items():
            shown = thinned(curve.ks, curve.values)
            ax.plot(curve.ks[shown], curve.values[shown], color=colour(measure), **LOOKS[measure])
            lowest = min(lowest, float(curve.values.min()))
        ax.set_xscale("log")
        ax.set_ylim(lowest - 0.04, 1.04)
        ax.set_title(f"{name}: {pair}", loc="left")
        ax.set_ylabel("similarity")
    comparison = next(iter(comparisons.values()))
    # Powers of ten; with few items also 2, 5, 20, 50, ...
    steps = (1, 2, 5) if comparison.n < 500 else (1,)
    ticks = [step * 10**power for power in range(6) for step in steps]
    _plain_ticks(axes[-1], [tick for tick in ticks if tick <= comparison.n])
    axes[-1].set_xlabel("k, number of top features")
    handles = [axes[0].plot([], [], color=colour(measure), **LOOKS[measure])[0] for measure in comparison.curves]
    titles = [fj.MEASURES[measure].title for measure in comparison.curves]
    figure.legend(handles, titles, loc="outside lower center", ncols=4)


def thinned(ks: NDArray[np.int64], values: Scores) -> NDArray[np.int64]:
    """Return the points that show on a logarithmic axis: the first, the last and both extremes per pixel column."""
    column = (np.log(ks) * (COLUMNS / max(np.log(ks[-1]), 1.0))).astype(np.int64)
    kept: set[int] = set()
    for points in np.split(np.arange(ks.size), np.flatnonzero(np.diff(column)) + 1):
        inside = values[points]
        kept.update((int(points[0]), int(points[-1]), int(points[inside.argmin()]), int(points[inside.argmax()])))
    return np.array(sorted(kept))


def _plain_ticks(ax: Any, ticks: Sequence[int]) -> None:
    """Label a logarithmic axis with plain numbers."""
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.set_xticks([], minor=True)
