"""How the pictures of the reproduction are drawn: each function draws on a matplotlib Figure that it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore as fj
from fujiscore.plots import colour

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Scores = NDArray[Any]

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


def by_delta(figure: Any, ks: Scores, curves: Mapping[float, Scores], jaccard: Scores) -> None:
    """Draw FUJI for each difference, told apart by marks and line styles, and Jaccard."""
    ax = figure.add_subplot()
    for at, (delta, values) in enumerate(curves.items()):
        label = f"FUJI, Δ = {delta:g}"
        ax.plot(ks, values, color=colour("fuji"), ls=LINES[at], marker=MARKS[at], ms=4, lw=1.4, label=label)
    ax.plot(ks, jaccard, color=colour("jaccard"), marker="x", ms=5, lw=1.8, label="Jaccard, every Δ")
    _label(ax, ks)
    figure.legend(loc="outside lower center", ncols=3)


def many_measures(figure: Any, ks: Scores, curves: Mapping[str, Scores]) -> None:
    """Draw one line a measure, each with its own colour, mark and line style."""
    ax = figure.add_subplot()
    for at, (measure, values) in enumerate(curves.items()):
        title = "nPOG, Kuncheva, Wald, Pearson" if measure == "npog" else fj.MEASURES[measure].title
        width = 2.4 if measure == "fuji" else 1.2
        # Curves that coincide stay visible: hollow marks around full ones.
        look = {"ls": LINES[at % len(LINES)], "marker": MARKS[at % len(MARKS)], "lw": width}
        look |= {"ms": 7.5, "mfc": "none"} if at % 2 else {"ms": 4}
        ax.plot(ks, values, color=colour(measure), label=title, **look)
    _label(ax, ks)
    figure.legend(loc="outside lower center", ncols=3)


def two_lines(figure: Any, ks: Scores, lines: Mapping[str, Scores]) -> None:
    """Draw two FUJI curves."""
    ax = figure.add_subplot()
    for at, (label, values) in enumerate(lines.items()):
        ax.plot(ks, values, color=colour("fuji"), ls=LINES[at], marker=MARKS[at], ms=5, label=label)
    _label(ax, ks)
    ax.legend(loc="lower right")


def limit(figure: Any, alphas: Sequence[float], apart: Sequence[float]) -> None:
    """Draw the largest distance of FUJI from Jaccard over alpha, both on a logarithmic scale."""
    ax = figure.add_subplot()
    ax.loglog(alphas, apart, color=colour("fuji"), marker="o", ms=4)
    ax.set(xlabel="alpha, ratio of neighbouring scores", ylabel="largest FUJI - Jaccard")


def ratios(figure: Any, lines: Mapping[int, tuple[Scores, Scores]]) -> None:
    """Draw approximation over exact expectation against k/n."""
    ax = figure.add_subplot()
    for at, (n, (shares, values)) in enumerate(lines.items()):
        ax.plot(shares, values, color=colour("jaccard"), ls=LINES[at], lw=1.6, label=f"n = {n}")
    ax.set_xscale("log")
    ax.set(xlabel="k / n", ylabel="approximation / exact")
    ax.legend(loc="lower right")


def null(figure: Any, columns: Mapping[str, Scores]) -> None:
    """Draw the exact expectation with two standard deviations, and the permutations' means."""
    ax = figure.add_subplot()
    ks, expected, reach = columns["k"], columns["expected"], 2 * np.sqrt(columns["variance"])
    low, high = np.maximum(expected - reach, 0.0), np.minimum(expected + reach, 1.0)
    ax.fill_between(ks, low, high, color=colour("fuji"), alpha=0.2, lw=0, label="± 2 sd, exact")
    ax.plot(ks, expected, color=colour("fuji"), label="expectation, exact")
    ax.plot(ks, columns["permutation_mean"], ls="none", marker="o", ms=3, color="black", label="mean of permutations")
    ax.set(xlabel="k, number of top items", ylabel="FUJI by chance")
    ax.legend(loc="upper left")


def dumbbells(figure: Any, names: Sequence[str], before: Sequence[float], after: Sequence[float]) -> None:
    """Draw a line a data set, from the value before to the value after."""
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


def heat_map(figure: Any, grid: Scores, titles: Sequence[str], *, corrected: bool) -> None:
    """Draw FUJI below the diagonal and Jaccard above, with the values written in."""
    ax = figure.add_subplot()
    image = ax.imshow(grid, cmap="cividis", vmin=0.0, vmax=1.0)
    ax.grid(visible=False)
    ax.set_xticks(range(len(titles)), titles)
    ax.set_yticks(range(len(titles)), titles)
    ax.spines[:].set_visible(False)
    for (i, j), value in np.ndenumerate(grid):
        if i == j:
            ax.text(j, i, titles[i], ha="center", va="center", color=GREY)
        else:
            ax.text(j, i, f"{value:.3f}", ha="center", va="center", color="black" if value > 0.5 else "white")
    ax.set_title("upper right: Jaccard", loc="right", color=colour("jaccard"))
    ax.set_xlabel("lower left: FUJI", loc="left", color=colour("fuji"))
    figure.colorbar(image, ax=ax, label="mean AUC" + (", corrected" if corrected else ""), shrink=0.85)


def counts(figure: Any, features: Sequence[int]) -> None:
    """Draw a histogram of feature counts on a logarithmic scale."""
    ax = figure.add_subplot()
    edges = np.logspace(1.5, 4.5, 10)
    ax.hist(features, bins=edges.tolist(), color=GREY, edgecolor="white")
    ax.set_xscale("log")
    ax.set_xticks([30, 100, 300, 1000, 3000, 10000, 30000], ["30", "100", "300", "1,000", "3,000", "10,000", "30,000"])
    ax.set_xticks([], minor=True)
    ax.set(xlabel="number of features", ylabel="data sets")
    ax.yaxis.get_major_locator().set_params(integer=True)


def panels(figure: Any, name: str, found: Mapping[str, fj.Comparison]) -> None:
    """Draw one panel a pair of rankings: the measures over k, on a logarithmic axis."""
    axes = figure.subplots(len(found), 1, sharex=True)
    for ax, (pair, comparison) in zip(axes, found.items(), strict=True):
        lowest = 0.0
        for measure, curve in comparison.curves.items():
            at = thinned(curve.ks, curve.values)
            ax.plot(curve.ks[at], curve.values[at], color=colour(measure), **LOOKS[measure])
            lowest = min(lowest, float(curve.values.min()))
        ax.set_xscale("log")
        ax.set_ylim(lowest - 0.04, 1.04)
        ax.set_title(f"{name}: {pair}", loc="left")
        ax.set_ylabel("similarity")
    _plain_ticks(axes[-1], int(next(iter(found.values())).n))
    axes[-1].set_xlabel("k, number of top features")
    names = list(next(iter(found.values())).curves)
    lines = [axes[0].plot([], [], color=colour(name), **LOOKS[name])[0] for name in names]
    figure.legend(lines, [fj.MEASURES[name].title for name in names], loc="outside lower center", ncols=4)


def thinned(ks: NDArray[np.int64], values: Scores) -> NDArray[np.int64]:
    """Return the points that show on a logarithmic axis: of each column the first, the last and both extremes."""
    column = (np.log(ks) * (COLUMNS / max(np.log(ks[-1]), 1.0))).astype(np.int64)
    kept: set[int] = set()
    for points in np.split(np.arange(ks.size), np.flatnonzero(np.diff(column)) + 1):
        own = values[points]
        kept.update((int(points[0]), int(points[-1]), int(points[own.argmin()]), int(points[own.argmax()])))
    return np.array(sorted(kept))


def _plain_ticks(ax: Any, n: int) -> None:
    """Mark 1, 10, 100, ... on a logarithmic axis in plain numbers; with few items 1, 2, 5, 10, ..."""
    ticks = [step * 10**power for power in range(6) for step in ((1, 2, 5) if n < 500 else (1,))]
    shown = [tick for tick in ticks if tick <= n]
    ax.set_xticks(shown, [f"{tick:,}" for tick in shown])
    ax.set_xticks([], minor=True)


def _label(ax: Any, ks: Scores) -> None:
    """Label the axes of a curve over few k."""
    ax.set_xticks(ks)
    ax.set(xlabel="k, number of top items", ylabel="similarity")
