"""Pictures (matplotlib): each function takes computed results and an Axes, and returns the Axes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import MissingExtraError, short_names
from fujiscore.measures.registry import MEASURES, find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fujiscore.many.consensus import Consensus
    from fujiscore.many.rank_agreement import RankAgreement
    from fujiscore.many.ranks import ItemRanks
    from fujiscore.many.stability import StabilityCurve
    from fujiscore.measures.grids import Grid
    from fujiscore.null.chance import Chance
    from fujiscore.pair.compare import Curve
    from fujiscore.pair.truncated import Bounds
    from fujiscore.runs.results import RunComparison
    from fujiscore.versions.results import Drift

# Longer names of rankings are shortened: they would leave no room for the matrix.
LONGEST = 32
# The most points of a line over queries: there may be millions.
POINTS = 1000
# Text that is drawn as it is, even where matplotlib would take dollars for mathematics or sends all text to LaTeX.
LITERAL = {"parse_math": False, "usetex": False}
SMALL = {"fontsize": 8}
# What comes from chance is grey, everywhere; what is no measure is slate or nearly black.
CHANCE, SLATE, INK = "#7F7F7F", "#5A7391", "#222222"
# One colour per measure, everywhere: Okabe and Ito's colour-blind-safe palette first, then others apart from it. When
# the colours begin again, lines are dashed.
DASHES = ("-", "--")
PALETTE = (
    "#D55E00",
    "#0072B2",
    "#009E73",
    "#E69F00",
    "#56B4E9",
    "#CC79A7",
    "#882255",
    "#3E2723",
    "#8C564B",
    "#5B3A8E",
    "#BCBD22",
    "#1B7837",
    "#762A83",
)


def colour(measure: str) -> str:
    """Return a measure's colour."""
    return PALETTE[list(MEASURES).index(find(measure).base) % len(PALETTE)]


def style(measure: str) -> dict[str, Any]:
    """Return how a measure's line is drawn, and its title for the legend."""
    cycle = list(MEASURES).index(find(measure).base) // len(PALETTE)
    return {"color": colour(measure), "linestyle": DASHES[cycle % len(DASHES)], "label": find(measure).title}


def new_figure(width: float = 6.4, height: float = 4.0) -> Any:
    """Return a new figure of pyplot."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("plots need matplotlib: pip install 'fujiscore[plot]'") from error
    return plt.figure(figsize=(width, height), layout="constrained")


def new_axes(width: float = 6.4, height: float = 4.0) -> Any:
    """Return the Axes of a new figure."""
    return new_figure(width, height).add_subplot()


def curve(result: Curve, ax: Any = None) -> Any:
    """Draw one curve over k, with its headline value in the legend."""
    ax = new_axes() if ax is None else ax
    measure = find(result.measure)
    name = result.grid.whole if measure.whole else result.grid.area
    label = f"{measure.title} ({name} {result.value:.3f})"
    _line(ax, result.ks, result.values, color=colour(result.measure), label=label)
    return _finish(ax, result.measure, result.grid)


def chance(result: Chance, ax: Any = None) -> Any:
    """Draw a curve, its chance level, and the 95% bands around it: at each k, and over all k at once."""
    ax = new_axes() if ax is None else ax
    measure = find(result.measure)
    title, name = measure.title, result.grid.whole if measure.whole else result.grid.area
    _line(ax, result.ks, result.observed, color=colour(result.measure), label=f"{title} ({name} {result.auc:.3f})")
    chance_level(ax, result)
    return _finish(ax, result.measure, result.grid)


def chance_level(ax: Any, result: Chance, *, simultaneous: bool = False) -> None:
    """Draw the chance level in grey with its 95% bands, at each k and over all k, or over all k alone."""
    name = result.grid.whole if find(result.measure).whole else result.grid.area
    if result.has_band:
        bands = [result.band()] if simultaneous else [result.band(simultaneous=False), result.band()]
        what = "95% band over all k" if simultaneous else "95% bands: each k, all k"
    else:
        reach = 2 * np.sqrt(result.variance)
        bands, what = [(result.expected - reach, result.expected + reach)], "± 2 sd"
    label = f"by chance, {what}" if simultaneous else f"by chance ({name} {result.expected_auc:.3f}), {what}"
    marker = "o" if result.ks.size == 1 else None
    look = {"color": CHANCE, "linestyle": "--", "linewidth": 1.2, "marker": marker, "markersize": 3, "zorder": 3.5}
    ax.plot(result.ks, result.expected, label=label, **look)
    shown = thinned(result.ks)
    for low, high in bands:
        ax.fill_between(result.ks[shown], low[shown], high[shown], color=CHANCE, alpha=0.22, linewidth=0)


def thinned(ks: Any) -> Any:
    """Return which k an area is drawn at: all, or about as many as a figure shows, even on a log axis."""
    if ks.size <= POINTS:
        return np.arange(ks.size)
    return np.unique(np.searchsorted(ks, np.geomspace(ks[0], ks[-1], POINTS)).clip(0, ks.size - 1))


def run_comparison(result: RunComparison, ax: Any = None) -> Any:
    """Draw the share of queries up to each value, one line per measure, with the mean in the legend."""
    ax = new_axes() if ax is None else ax
    least = min(measure.low for measure in result.measures)
    for order, measure in enumerate(result.measures):
        values = np.sort(result.values(measure.name))
        values = values[~np.isnan(values)]
        places = np.unique(np.linspace(0, values.size - 1, min(values.size, POINTS)).astype(np.int64))
        x = np.concatenate([[least], values[places], [measure.high]])
        y = np.concatenate([[0.0], (places + 1) / max(values.size, 1), [1.0]])
        label = f"{result.column_title(measure.name)} (mean {result.spread(measure.name).mean:.3f})"
        # The first on top; those beneath are wider, so that equal lines are all seen.
        look = {"linewidth": 1.4 + 1.2 * order, "zorder": 3 - order / 100}
        ax.step(x, y, where="post", **(style(measure.name) | look | {"label": label}))
    ax.set_xlabel("value")
    ax.set_ylabel("share of queries up to the value")
    ax.set_ylim(0, 1.02)
    ax.grid(alpha=0.25)
    legend(ax, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, **SMALL)
    return ax


def bounds(result: Bounds, ax: Any = None) -> Any:
    """Draw the band between the lower and the upper FUJI curve."""
    ax = new_axes() if ax is None else ax
    low, high = result.auc
    ax.fill_between(result.ks, result.low, result.high, color=colour("fuji"), alpha=0.25, linewidth=0)
    label = f"FUJI, bounds ({result.grid.area} {low:.3f} to {high:.3f})"
    _line(ax, result.ks, result.low, color=colour("fuji"), label=label)
    _line(ax, result.ks, result.high, color=colour("fuji"))
    return _finish(ax, "fuji", result.grid)


def stability(result: StabilityCurve, ax: Any = None) -> Any:
    """Draw stability over k with its confidence band."""
    ax = new_axes() if ax is None else ax
    shade = colour(result.measure)
    ax.fill_between(result.ks, result.low, result.high, color=shade, alpha=0.25, linewidth=0)
    kind = ", corrected for chance" if result.corrected else ""
    label = f"{find(result.measure).title}{kind}, {result.confidence:.0%} interval"
    _line(ax, result.ks, result.values, color=shade, label=label)
    least = float(np.nanmin(result.low, initial=0.0))  # corrected values fall below the measure's range
    return _finish(ax, result.measure, result.grid, least)


def item_ranks(result: ItemRanks, ax: Any = None, items: int = 30) -> Any:
    """Draw the rank intervals of the first items, the best on top, shaded by tier."""
    names = short_names(result.items[:items], LONGEST)
    shown = len(names)
    ax = new_axes(6.4, 1.4 + 0.24 * shown) if ax is None else ax
    places = np.arange(shown)
    for tier in np.unique(result.tier[:shown]).tolist():
        own = places[result.tier[:shown] == tier]
        ends = (own[0] - 0.5, own[-1] + 0.5)
        ax.axhspan(*ends, color=CHANCE, alpha=0.14 if tier % 2 else 0.0, linewidth=0)
        ax.text(1.01, own.mean(), f"tier {tier}", transform=ax.get_yaxis_transform(), va="center", fontsize=8)
    mean, low, high = (part[:shown] for part in (result.mean, result.low, result.high))
    ax.hlines(places, result.best[:shown], result.worst[:shown], color=SLATE, linewidth=1, label="best to worst")
    ax.hlines(places, low, high, color=SLATE, linewidth=4, label=f"{result.confidence:.0%} interval of the mean")
    look = {"color": "white", "markeredgecolor": INK, "markersize": 4.5}
    ax.plot(mean, places, "o", **look, label=f"mean rank of {result.m}")
    ax.set_yticks(places, names, **LITERAL)
    some = f" (first {shown} of {len(result.items)} items)" if shown < len(result.items) else ""
    ax.set(xlabel=f"rank{some}", ylim=(shown - 0.5, -0.5), xlim=(0.5 if result.worst[:shown].max() < 50 else 0.0, None))
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.grid(alpha=0.25, axis="x")
    # Over the names to the left there is room, beside the tiers there is none.
    legend(ax, fontsize=8, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3)
    return ax


def consensus(result: Consensus, ax: Any = None) -> Any:
    """Draw each list's similarity with the consensus, and with that of the others, which orders the lists."""
    order = np.argsort(np.nan_to_num(result.left_out, nan=-np.inf), kind="stable")
    rows = np.arange(order.size)
    ax = new_axes(6.4, 1.8 + 0.3 * min(order.size, 40)) if ax is None else ax
    within, apart = result.agreement[order], result.left_out[order]
    ax.hlines(rows, apart, within, color="#BBBBBB", linewidth=1)
    shade = colour(result.measure)
    ax.plot(apart, rows, "o", color=shade, markersize=5, label="consensus of the others")
    ax.plot(within, rows, "o", color=shade, markersize=5, markerfacecolor="white", label="consensus of all lists")
    if order.size <= 40:
        ax.set_yticks(rows, short_names([result.names[i] for i in order], LONGEST), **LITERAL)
    else:
        ax.set(ylabel="lists", yticks=[])
    low = float(np.nanmin(np.concatenate((within, apart)), initial=0.0))
    ax.set_xlim(max(low, -1.0) - 0.03, 1.03)
    ax.set_ylim(-0.6, order.size - 0.4)
    ax.set_xlabel(f"similarity with the consensus ({find(result.measure).title}, {result.area})", **LITERAL)
    ax.grid(alpha=0.25)
    legend(ax, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return ax


def drift(result: Drift, ax: Any = None, items: int = 15) -> Any:
    """Draw the shares of the features that changed most in both versions, the largest change on top."""
    changes = [change for change in result.changes if change.kind != "same"][:items] or list(result.changes[:items])
    rows = np.arange(len(changes))
    ax = new_axes(6.4, 1.6 + 0.28 * rows.size) if ax is None else ax
    old, new = (
        np.array([100 * share for share in shares])
        for shares in zip(*((one.share_reference, one.share_current) for one in changes), strict=True)
    )
    ax.hlines(rows, old, new, color="#BBBBBB", linewidth=2, zorder=1)
    ax.axvline(0, color=CHANCE, linewidth=0.8, zorder=0)
    names = short_names(result.names, LONGEST)
    ax.plot(old, rows, "o", color=SLATE, markersize=7, markerfacecolor="white", label=names[0])
    ax.plot(new, rows, "o", color=INK, markersize=5, label=names[1])
    kinds = ["" if change.kind in {"moved", "same"} else f" ({change.kind})" for change in changes]
    labels = short_names([change.item for change in changes], LONGEST)
    ax.set_yticks(rows, [name + kind for name, kind in zip(labels, kinds, strict=True)], **LITERAL)
    some = f" ({rows.size} of {len(result.changes)} features)" if rows.size < len(result.changes) else ""
    ax.set(xlabel=f"share of the version's total score, in %{some}", ylim=(rows.size - 0.5, -0.5))
    ax.grid(alpha=0.25, axis="x")
    ax.set_title(result.headline, fontsize="medium", **LITERAL)
    legend(ax, fontsize=8)
    return ax


def rank_agreement(result: RankAgreement, ax: Any = None) -> Any:
    """Draw sequential rank agreement over depth, and the band of lists in random order."""
    ax = new_axes() if ax is None else ax
    if result.low is not None:
        label = f"random orders, {result.confidence:.0%} band"
        ax.fill_between(result.ks, result.low, result.high, color=CHANCE, alpha=0.2, linewidth=0, label=label)
        _line(ax, result.ks, result.expected, color=CHANCE, linestyle="--")
    _line(ax, result.ks, result.values, color=SLATE, label=f"{len(result.names)} lists")
    ax.set(xlabel="depth d, number of top ranks", ylabel="standard deviation of ranks")
    ax.set_ylim(bottom=0)
    if result.grid.kind == "exp":
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:g}")
    ax.grid(alpha=0.25)
    legend(ax)
    return ax


def text_width(text: str, **font: Any) -> float:
    """Return the width of a text in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    size = {"size": font["fontsize"], "weight": font.get("fontweight", "normal")}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        return float(text_to_path.get_text_width_height_descent(text, FontProperties(**size), ismath=False)[0])


def title(ax: Any, *names: str) -> Any:
    """Write the names of the rankings above the Axes, and return it."""
    ax.set_title(" and ".join(short_names(names, LONGEST)), **LITERAL)
    return ax


def legend(ax: Any, figure: Any = None, **style: Any) -> None:
    """Draw the legend of an Axes, or of the figure whose Axes all look like this one, its text as it is."""
    drawn = ax.legend(**style) if figure is None else figure.legend(*ax.get_legend_handles_labels(), **style)
    drawn.set_frame_on(False)
    for text in drawn.get_texts():
        text.set(**LITERAL)


def write_figure(figure: Any, file: Any, kind: str) -> None:
    """Write a figure; a character that the font lacks shows as a box, without a warning for each.

    Text in SVG and PDF remains text, which can be searched and edited, and the same figure gives the same bytes.
    """
    import matplotlib as mpl

    editable = {"svg.fonttype": "none", "svg.hashsalt": "fujiscore", "pdf.fonttype": 42}
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
    with warnings.catch_warnings(), mpl.rc_context(editable):
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(file, format=kind, dpi=150, metadata=undated[kind])


def _line(ax: Any, ks: Any, values: Any, **style: Any) -> None:
    """Draw a line over k, with marks where points are few."""
    ax.plot(ks, values, marker="o" if ks.size <= 40 else None, markersize=3, **style)


def log_k(ax: Any, lines: Sequence[Any], points: Grid) -> Any:
    """Label the axes of curves, with k on a log axis, and put the legend beneath."""
    _axes(ax, max(-1.0, float(np.nanmin(np.concatenate(lines), initial=0.0))), points)
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter("{x:g}")
    if points.ks.size == 1:
        ax.set_xticks(points.ks)
        ax.set_xlim(points.ks[0] / 2, points.ks[0] * 2)
    ax.tick_params(labelsize=8)
    ax.xaxis.label.set(**SMALL)
    ax.yaxis.label.set(**SMALL)
    legend(ax, loc="upper center", bbox_to_anchor=(0.5, 0.0), borderaxespad=4.6, ncols=2, **SMALL)
    return ax


def _finish(ax: Any, measure: str, points: Grid, least: float = 0.0) -> Any:
    """Label the axes, and fit them to the measure's range; k on a log axis where the grid is exponential."""
    _axes(ax, max(-1.0, min(least, find(measure).low)), points)
    if points.kind == "exp":  # so that the area seen is the area computed
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:g}")
    legend(ax)
    return ax


def _axes(ax: Any, low: float, points: Grid) -> None:
    """Label the axes of curves, from a lowest value to 1."""
    ax.set(xlabel="k, number of top items", ylabel="similarity")
    ax.set_ylim(low - 0.03, 1.03)
    ax.update_datalim([(points.ks[0], 0.0), (points.ks[-1], 1.0)])  # also where every value is undefined
    ax.grid(alpha=0.25)
