"""The picture of a comparison: curves against chance, and a slope chart."""

from __future__ import annotations

from math import ceil, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.charts.plots import (
    INK,
    LITERAL,
    SMALL,
    chance_level,
    colour,
    legend,
    log_k,
    new_figure,
    style,
    text_width,
    thinned,
)
from fujiscore.errors import InputError, short_names, spelled
from fujiscore.pair.slopes import KINDS, LONGEST, default_k, slopes
from fujiscore.pair.verdicts import two_digits

if TYPE_CHECKING:
    from fujiscore.inputs.ranking import Rankings
    from fujiscore.pair.compare import Comparison
    from fujiscore.pair.explain import Explanation
    from fujiscore.pair.slopes import Slopes

WIDTH, HEIGHT = 10.6, 4.6
# In inches: the height of a line of small text, the distance from a slope's end to its name, a name's width at most.
LINE, MARGIN, WIDEST = 0.15, 0.22, 1.35
# The room for names and slopes in inches: the chart without scale, title and legend.
CHART = (4.2, 3.1)
# Names of rankings in the picture are shortened to so many columns.
NAME = 24
LOOKS: dict[str, dict[str, Any]] = {
    "shared": {"color": "#B3B3B3", "linewidth": 1.0, "zorder": 2},
    "near miss": {"color": colour("fuji"), "alpha": 0.55, "linewidth": 1.0, "zorder": 3},
    "far miss": {"color": INK, "linewidth": 1.9, "zorder": 4},
    "opposite sign": {"color": INK, "linewidth": 1.9, "linestyle": (0, (2, 1)), "zorder": 4},
}
# Text needs more contrast than lines.
TEXTS: dict[str, dict[str, Any]] = {
    "shared": {"color": "#6B6B6B"},
    "near miss": {"color": "#A34700"},
    "far miss": {"color": INK, "fontweight": "bold"},
    "opposite sign": {"color": INK, "fontweight": "bold"},
}


def comparison(result: Comparison, ax: Any = None, k: Any = None) -> Any:
    """Draw a comparison on a figure of its own, or its curves on an Axes; return the Axes of the curves."""
    if ax is not None:
        if k is not None:
            raise InputError(
                f"{spelled('k')} chooses the slope chart, for which one Axes has no room: leave out {spelled('k')} or "
                f"{spelled('ax')}."
            )
        _curves(result, ax)
        ax.set_title(result.verdict(), fontsize="medium")
        return ax
    return draw(result, new_figure(*size(result, k)), k)


def size(result: Comparison, k: Any = None) -> tuple[float, float]:
    """Return the width and height of the picture in inches."""
    rows = ceil((len(result.curves) + 2) / 2)
    return WIDTH if _has_chart(result, k) else 6.4, HEIGHT + LINE * max(0, rows - 2)


def draw(result: Comparison, figure: Any, k: Any = None) -> Any:
    """Draw the picture on a new figure with a constrained layout; return the Axes of the curves."""
    if not _has_chart(result, k):
        ax = _curves(result, figure.add_subplot())
    else:
        both = result.loaded("a slope chart")
        chosen = min(default_k(both), int(result.ks[-1])) if k is None else k
        explanation = result.explain(chosen)
        ax, beside = figure.subplots(1, 2)
        _curves(result, ax)
        _slopes(_fitting(both, explanation), both.names, beside)
        beside.set_title(_chart_title(explanation, chosen), **SMALL)
    ax.set_title(_subtitle(result), loc="left", **SMALL, **LITERAL)
    figure.suptitle(result.verdict(), x=0.012, ha="left", fontsize=12 if _has_chart(result, k) else 9.5, **LITERAL)
    return ax


def _has_chart(result: Comparison, k: Any) -> bool:
    """Return whether there is a slope chart: where FUJI is, and both rankings are in memory."""
    return k is not None or ("fuji" in result.curves and result.in_memory)


def _subtitle(result: Comparison) -> str:
    """Return which rankings are compared, and what the number of the title is."""
    a, b = short_names(result.rankings.names, NAME)
    universe = f" of {result.rankings.universe}" if result.rankings.universe else ""
    return f"A: {a}, B: {b}\n{result.headline.place}, {result.n}{universe} {'item' if result.n == 1 else 'items'}"


def _curves(result: Comparison, ax: Any) -> Any:
    """Draw the first measure's curve against chance, the credit for misses, and all other curves as thin lines."""
    lead, *others = result.curves.values()
    marker = "o" if result.ks.size <= 40 else None
    ax.plot(lead.ks, lead.values, linewidth=2.2, zorder=3, marker=marker, markersize=3, **style(lead.measure))
    marker = "o" if result.ks.size == 1 else None
    for curve in others:
        ax.plot(curve.ks, curve.values, linewidth=0.9, zorder=2.5, marker=marker, markersize=2, **style(curve.measure))
    if lead.measure == "fuji" and "jaccard" in result.curves:
        shown = thinned(result.ks)
        ends = result.curves["jaccard"].values[shown], lead.values[shown]
        look = {"color": colour("fuji"), "alpha": 0.13, "linewidth": 0, "label": "credit for misses"}
        ax.fill_between(result.ks[shown], *ends, **look)
    level = result.chance.get(lead.measure)
    if level is not None:
        chance_level(ax, level, simultaneous=True)
    return log_k(ax, [curve.values for curve in result.curves.values()], result.grid)


def _fitting(rankings: Rankings, explanation: Explanation) -> Slopes:
    """Return the slope chart with names as long as there is room for."""
    for columns in (LONGEST, 15, 11):
        chart = slopes(rankings, explanation, lines=int(CHART[1] / LINE), columns=columns)
        if _widest(chart) <= WIDEST:
            break
    return chart


def _widest(chart: Slopes) -> float:
    """Return the width in inches of the widest name that is written."""
    named = np.flatnonzero(~np.isnan(chart.labels[0])).tolist()
    return max([text_width(chart.items[i], **SMALL, **TEXTS[chart.kind[i]]) for i in named], default=0.0) / 72


def _slopes(chart: Slopes, names: tuple[str, ...], ax: Any) -> None:
    """Draw the slope chart: one line per item, names on both sides, the k-th score across."""
    for kind in KINDS:
        rows = [i for i, own in enumerate(chart.kind) if own == kind]
        if rows:
            label = f"{kind} ({chart.explanation.kind.count(kind)})"
            look = {"marker": "o", "markersize": 3, "solid_capstyle": "round", **LOOKS[kind]}
            lines = ax.plot([0, 1], chart.heights[:, rows], **look)
            lines[0].set_label(label)
    ax.hlines(1.0, 0, 1, color=INK, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
    _names(chart, ax)
    ax.set_yticks(*chart.ticks(), **SMALL)
    ax.set_xticks([0, 1], [f"{side}: {name}" for side, name in zip("AB", short_names(names, LONGEST), strict=True)])
    for text in ax.get_xticklabels():
        text.set(**LITERAL, **SMALL)
    ax.set_ylabel(_scale(chart), **SMALL)
    ax.set_xlabel(_left_out(chart), **SMALL)
    for side in ("top", "right", "bottom"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="x", length=0)
    legend(ax, loc="upper center", bbox_to_anchor=(0.5, 0.0), borderaxespad=4.6, ncols=4, **SMALL)


def _names(chart: Slopes, ax: Any) -> None:
    """Write the items' names beside the lines' ends, each with a lead to its end."""
    between = CHART[0] - 2 * (MARGIN + _widest(chart))  # in inches; the unit of the horizontal axis
    margin, outside = MARGIN / between, (MARGIN + _widest(chart)) / between
    low, high = chart.span
    ax.set(xlim=(-outside, 1 + outside), ylim=(low - 0.7 * chart.gap, high + 0.7 * chart.gap))
    named = np.flatnonzero(~np.isnan(chart.labels[0]))
    for side, (at, sign, align) in enumerate(((0.0, -1, "right"), (1.0, 1, "left"))):
        heights, places = chart.heights[side, named], chart.labels[side, named]
        ends = at + sign * 0.15 * margin, at + sign * 0.75 * margin
        ax.plot(ends, [heights, places], color="#C9C9C9", linewidth=0.6, zorder=1)
        for i, place in zip(named.tolist(), places.tolist(), strict=True):
            look = {"ha": align, "va": "center", **TEXTS[chart.kind[i]]}
            ax.text(at + sign * 0.85 * margin, place, chart.items[i], **look, **SMALL, **LITERAL)


def _scale(chart: Slopes) -> str:
    """Return what the vertical axis shows; where a k-th score is 0, what scores are relative to instead."""
    label = "score / k-th score (log above 1)"
    zero = " and ".join(side for side, last in zip("AB", chart.zero, strict=True) if last)
    return f"{label}\nk-th score of {zero} is 0: / least positive score" if zero else label


def _left_out(chart: Slopes) -> str:
    """Return in words what of the items is not drawn or named."""
    count = len(chart.explanation)
    parts = [f"{chart.left_out} not drawn"] if chart.left_out else []
    parts += [f"{chart.unnamed + chart.left_out} not named"] if chart.unnamed else []
    return f"of {count} items, {', '.join(parts)}" if parts else ""


def _chart_title(why: Explanation, k: Any) -> str:
    """Return the title of the slope chart; ties may make the top sets larger than k."""
    sizes = (why.k1, why.k2)
    asked = k if isinstance(k, tuple) else (k, k)
    text = f"Top k = {asked[0] if asked[0] == asked[1] else asked}"
    ties = "" if sizes == tuple(asked) else f" (sets of {sizes[0]} and {sizes[1]})"
    if isnan(why.value):
        return f"{text}{ties}: undefined, the k-th scores are 0"
    return f"{text}{ties}: FUJI {two_digits(why.value)}, Jaccard {two_digits(why.jaccard)}"
