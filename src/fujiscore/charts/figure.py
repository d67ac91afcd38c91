"""Charts drawn by matplotlib: on an Axes, or on a figure of their own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from math import ceil
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fujiscore.charts.kinds import Bars, Chart, Dots, HeatMap, Lines, Points, Rows, Slopes, Tree
from fujiscore.charts.palette import CHANCE, INK, SLATE
from fujiscore.charts.slopes import Layout, placed
from fujiscore.errors import MissingExtraError, short_names

# Names are shortened to so many columns: longer ones would leave no room for the chart; those of slopes as they fit.
LONGEST, SLOPE_NAMES = 32, (20, 15, 11)
# The most points of an area, rows or columns with names, leaves or points with names, and marked points of a line.
POINTS, NAMED, LEAVES, MARKED = 1000, 40, 60, 40
# Text that is drawn as it is, even where matplotlib would take dollars for mathematics or sends all text to LaTeX.
LITERAL = {"parse_math": False, "usetex": False}
SMALL = {"fontsize": 8}
BENEATH = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "borderaxespad": 4.6}
# In inches: the height of a line of small text, the distance from a slope's end to its name, a name's width at most,
# and the room for the names and slopes of a slope chart: the chart without scale, title and legend.
LINE, MARGIN, WIDEST, SLOPE_CHART = 0.15, 0.22, 1.35, (4.2, 3.1)


def draw(chart: Chart, ax: Any = None) -> Any:
    """Draw a chart on an Axes (that of a new figure if None) and return the Axes."""
    ax = new_figure(*size(chart)).add_subplot() if ax is None else ax
    if chart.heading:  # before the names of points, which need the layout
        ax.set_title(chart.heading, fontsize="medium", **LITERAL)
    PAINTERS[type(chart)](chart, ax)
    return ax


def new_figure(width: float, height: float) -> Any:
    """Return a new figure of pyplot."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("plots need matplotlib: pip install 'fujiscore[plot]'") from error
    return plt.figure(figsize=(width, height), layout="constrained")


def size(chart: Chart, cell: tuple[float, float] = (0.55, 0.5)) -> tuple[float, float]:
    """Return the width and height in inches that suit a chart; the cells of a heat map are about so large."""
    if isinstance(chart, HeatMap):  # with room for the names beside and beneath the cells
        rows, columns = (min(count, 24) for count in chart.values.shape)
        beside, beneath = (max(map(len, short_names(names, LONGEST))) for names in (chart.rows, chart.columns))
        return max(4.8, 2.2 + 0.08 * beside + cell[0] * columns), max(2.8, 1.2 + 0.055 * beneath + cell[1] * rows)
    if isinstance(chart, Lines):
        return 6.4, 4.0 + LINE * max(0, ceil(len(chart.named) / 2) - 2)
    if isinstance(chart, Points):
        return 6.4, 5.2
    count = min(len(chart.names), getattr(chart, "most", None) or NAMED) if isinstance(chart, Rows | Bars | Tree) else 9
    return 6.4, 1.5 + 0.25 * max(count, 3)


def compose(charts: Sequence[Chart], figure: Any = None) -> Any:
    """Draw charts side by side under the heading of the first, on a new figure if None; return the first Axes."""
    figure = new_figure(*composed_size(charts)) if figure is None else figure
    axes = figure.subplots(1, len(charts), squeeze=False)[0]
    for chart, ax in zip(charts, axes, strict=True):
        title = (chart.caption, "left") if chart.caption else (chart.heading, "center")
        draw(chart, ax).set_title(title[0], loc=title[1], **SMALL, **LITERAL)
    axes[0].set_title("")
    figure.suptitle(charts[0].heading, x=0.012, ha="left", fontsize=12 if len(charts) > 1 else 9.5, **LITERAL)
    return axes[0]


def composed_size(charts: Sequence[Chart]) -> tuple[float, float]:
    """Return the size in inches of charts side by side."""
    return 6.4 if len(charts) == 1 else 5.3 * len(charts), size(charts[0])[1] + 0.6


def panels(figure: Any, charts: Sequence[Chart], columns: int, legend_at: str, title: str = "") -> None:
    """Draw charts of one kind on panels with one legend for all."""
    shared = columns > 1
    axes = figure.subplots(-(-len(charts) // columns), columns, sharex=shared, sharey=shared, squeeze=False).ravel()
    for place, (chart, ax) in enumerate(zip(charts, axes, strict=False)):
        draw(chart, ax).get_legend().remove()
        if shared:
            ax.set_title(chart.heading, fontsize=7.5, **LITERAL)
            ax.tick_params(labelsize=7, labelbottom=place >= len(charts) - columns)
            ax.set_ylabel("")
            ax.set_xlabel(ax.get_xlabel() if place >= len(charts) - columns else "", **SMALL)
    for ax in axes[len(charts) :]:
        ax.remove()
    figure.suptitle(title, fontsize="medium")
    legend(axes[0], figure, loc=legend_at, ncols=3, **SMALL)


def text_width(text: str, **font: Any) -> float:
    """Return the width of a text in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    properties = {"size": font["fontsize"], "weight": font.get("fontweight", "normal")}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        return float(text_to_path.get_text_width_height_descent(text, FontProperties(**properties), ismath=False)[0])


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


def _padded(span: tuple[float, float], share: float = 0.03) -> tuple[float, float]:
    """Return a span with room at both ends."""
    room = share * ((span[1] - span[0]) or 1.0)
    return span[0] - room, span[1] + room


# Lines


def _lines(chart: Lines, ax: Any) -> None:
    x = np.asarray(chart.x)
    shown = _thinned(x)
    for place, line in enumerate(chart.lines):
        over = x if line.x is None else line.x
        marked = over.size == 1 or (over.size <= MARKED and line.width > 1 and not line.dashed and not chart.steps)
        look = {"color": line.colour, "linewidth": line.width, "linestyle": "--" if line.dashed else "-"}
        look |= {"marker": "o" if marked else None, "markersize": 3, "label": line.name or None}
        look |= {"zorder": 3.5 if line.dashed else 3 - place / 100, "drawstyle": "steps-post" if chart.steps else None}
        ax.plot(over, line.values, **look)
    for band in chart.bands:
        ends = np.asarray(band.low)[shown], np.asarray(band.high)[shown]
        look = {"color": band.colour, "alpha": band.opacity, "linewidth": 0, "label": band.name or None}
        ax.fill_between(x[shown], *ends, **look)
    ax.set(xlabel=chart.x_label, ylabel=chart.y_label, ylim=_padded(chart.span))
    ax.update_datalim([(x[0], chart.span[0]), (x[-1], chart.span[1])])  # also where every value is undefined
    ax.grid(alpha=0.25)
    if chart.log:
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:g}")
        if x.size == 1:
            ax.set(xticks=x, xlim=(x[0] / 2, x[0] * 2))
    if len(chart.named) <= 2:
        legend(ax)
        return
    ax.tick_params(labelsize=8)
    ax.xaxis.label.set(**SMALL)
    ax.yaxis.label.set(**SMALL)
    legend(ax, ncols=2, **BENEATH, **SMALL)


def _thinned(x: NDArray[Any]) -> NDArray[Any]:
    """Return where an area is drawn: at all x, or about as many as a figure shows, even on a log axis."""
    if x.size <= POINTS:
        return np.arange(x.size)
    return np.unique(np.searchsorted(x, np.geomspace(x[0], x[-1], POINTS)).clip(0, x.size - 1))


# Rows: dots, ranges and bars beside names


def _rows(chart: Rows, ax: Any) -> None:
    count = len(chart.names) if chart.most is None else min(len(chart.names), chart.most)
    places = np.arange(count)
    for place, (group, rows) in enumerate(chart.blocks(count)):
        ax.axhspan(rows[0] - 0.5, rows[-1] + 0.5, color=CHANCE, alpha=0.0 if place % 2 else 0.14, linewidth=0)
        ax.text(1.01, np.mean(rows), group, transform=ax.get_yaxis_transform(), va="center", **SMALL, **LITERAL)
    for mark in chart.marks:
        colours = np.array([mark.colours] * count if isinstance(mark.colours, str) else mark.colours[:count])
        for place, colour in enumerate(dict.fromkeys(colours.tolist())):
            rows, label = colours == colour, mark.name if not place and mark.name else None
            if isinstance(mark, Dots):
                look = {"color": colour, "markersize": mark.size, "markerfacecolor": "white" if mark.hollow else colour}
                ax.plot(np.asarray(mark.values)[:count][rows], places[rows] + mark.shift, "o", **look, label=label)
            else:
                ends = (np.asarray(end)[:count][rows] for end in (mark.low, mark.high))
                ax.hlines(
                    places[rows] + mark.shift,
                    *ends,
                    color=colour,
                    linewidth=mark.width,
                    alpha=mark.opacity,
                    label=label,
                )
    if chart.ends(count)[0] <= 0:
        ax.axvline(0, color=CHANCE, linewidth=0.8, zorder=0)
    _beside(ax, chart.names[:count], chart.label, len(chart.names))
    ax.set_xlim(_padded(chart.ends(count)))
    if any(mark.name for mark in chart.marks):
        above = {} if chart.heading else {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "ncols": 3}
        legend(ax, **above, **SMALL)


def _beside(ax: Any, names: Sequence[object], label: str, total: int) -> None:
    """Write names beside rows, the first on top, and what the axis shows; of many rows there are no names."""
    if len(names) <= NAMED:
        ax.set_yticks(range(len(names)), short_names(names, LONGEST), **LITERAL)
    else:
        ax.set(yticks=[], ylabel=f"{len(names)} rows")
    some = f"; first {len(names)} of {total} drawn" if len(names) < total else ""
    ax.set_xlabel("\n".join(wrap(label + some, 80)), **LITERAL)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(alpha=0.25, axis="x")


def _bars(chart: Bars, ax: Any) -> None:
    count = min(len(chart.names), NAMED)
    values = np.asarray(chart.values, np.float64)[:count]
    colours = chart.colours if isinstance(chart.colours, str) else chart.colours[:count]
    bars = ax.barh(range(count), values, height=0.7, color=colours)
    ax.bar_label(bars, [f"{value:{chart.form}}" for value in values], padding=3, **SMALL)
    _beside(ax, chart.names[:count], chart.label, len(chart.names))
    ax.margins(x=0.12)
    if chart.end is not None:
        ax.set_xlim(0, 1.1 * chart.end)


# Heat maps, trees and maps


def _heat_map(chart: HeatMap, ax: Any) -> None:
    rows, columns = chart.values.shape
    low, high = chart.span
    shade = None if chart.pale is None else np.where(chart.pale, 0.35, 1.0)
    image = ax.imshow(chart.values, cmap="cividis", vmin=low, vmax=high, aspect="auto", alpha=shade)
    if chart.note:
        ax.set_xlabel("\n".join(wrap(f"pale, {chart.mark} {chart.note}", 44)), **SMALL, **LITERAL)
    if columns > NAMED:
        ax.set_xticks([])
    else:
        names = short_names(chart.columns, LONGEST)
        ax.set_xticks(range(columns), names, rotation=45, ha="right", rotation_mode="anchor", **LITERAL)
    if rows > NAMED:
        ax.set(yticks=[], ylabel=f"{rows} rankings")
    else:
        ax.set_yticks(range(rows), short_names(chart.rows, LONGEST), **LITERAL)
    if columns <= 12 and rows <= 24:
        for (i, j), value in np.ndenumerate(chart.values):
            pale = chart.marked(i, j)
            ink = "white" if (value - low) / (high - low) <= 0.55 and not pale else "black"
            text = "undefined" if np.isnan(value) else f"{value:.2f}{chart.mark if pale else ''}"
            ax.text(j, i, text, ha="center", va="center", color=ink, fontsize=8)
    ax.figure.colorbar(image, ax=ax).set_label(chart.label.replace(", corrected", "\ncorrected"), **LITERAL)


def _tree(chart: Tree, ax: Any) -> None:
    """Draw a tree, distances on the horizontal axis and the names beside the leaves."""
    from scipy.cluster.hierarchy import dendrogram

    count = len(chart.names)
    tree = dendrogram(chart.merges, no_plot=True)
    for heights, places in zip(tree["dcoord"], tree["icoord"], strict=True):
        ax.plot(heights, places, color=SLATE, linewidth=1.2)
    leaves = [chart.names[leaf] for leaf in tree["leaves"]] if count <= LEAVES else []
    ax.set_yticks([5 + 10 * leaf for leaf in range(len(leaves))], short_names(leaves, LONGEST), **LITERAL)
    ax.set_ylabel("" if leaves else f"{count} rankings")
    ax.set_ylim(10 * count, 0)
    ax.set_xlim(max(1.05 * float(chart.merges[-1, 2]), 0.01), 0)
    ax.yaxis.tick_right()
    ax.set_xlabel(chart.label, **LITERAL)
    ax.spines[["left", "top", "right"]].set_visible(False)
    ax.tick_params(axis="y", length=0)


def _points(chart: Points, ax: Any) -> None:
    """Draw a map, one unit as long on both axes, so that distances can be read."""
    ax.scatter(chart.x, chart.y, color=SLATE, s=24, zorder=2)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.15)
    ax.grid(alpha=0.25)
    ax.set(xlabel=chart.x_label, ylabel=chart.y_label)
    if len(chart.names) <= LEAVES:
        _label_points(ax, short_names(chart.names, LONGEST), np.column_stack([chart.x, chart.y]))


def _label_points(ax: Any, names: Sequence[str], places: NDArray[Any]) -> None:
    """Write names beside points, each as near as it finds room; without room inside the axes it is left out."""
    ax.figure.draw_without_rendering()  # the layout settles where points are
    scale = 72 / ax.figure.dpi  # pixels to points, the unit of offsets and of fonts
    points = ax.transData.transform(places) * scale
    low, high = ax.get_window_extent().get_points() * scale
    taken = [(*(point - 4), *(point + 4)) for point in points]
    leads = {"arrowstyle": "-", "color": CHANCE, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2}
    for name, point, at in zip(names, points, places, strict=True):
        width, height = text_width(name, **SMALL), 1.3 * SMALL["fontsize"]
        for left, bottom in point + _offsets(width, height):
            free = (left, bottom, left + width, bottom + height)
            inside = left > low[0] and bottom > low[1] and free[2] < high[0] and free[3] < high[1]
            if inside and not any(_overlap(free, other) for other in taken):
                taken.append(free)
                place = (left - point[0], bottom + height / 2 - point[1])
                text = {"textcoords": "offset points", "va": "center", "arrowprops": leads}
                ax.annotate(name, at, place, **text, **SMALL, **LITERAL).set_in_layout(False)
                break


def _offsets(width: float, height: float) -> NDArray[Any]:
    """Return where the lower left corner of a name may be, seen from its point in points of text, the nearest first."""
    rings = [
        (side * (6 + 3 * abs(step)) + (0 if side > 0 else -width), step * height - height / 2)
        for ring in range(40)
        for step in dict.fromkeys((ring / 2, -ring / 2))
        for side in (1, -1)
    ]
    return np.array(rings)


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    """Return whether two boxes (left, bottom, right, top) overlap."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


# Slopes


def _slopes(chart: Slopes, ax: Any) -> None:
    """Draw one line per item, names on both sides, the unit across."""
    for columns in SLOPE_NAMES:
        layout = placed(chart, lines=int(SLOPE_CHART[1] / LINE), columns=columns)
        widest = _widest(layout)
        if widest <= WIDEST:
            break
    for order, (kind, style) in enumerate(chart.styles.items()):
        rows = [i for i, one in enumerate(chart.kinds) if one == kind]
        if rows:
            look = {"marker": "o", "markersize": 3, "solid_capstyle": "round", "zorder": 2 + order / 2}
            look |= {"color": style.colour, "alpha": style.opacity, "linewidth": style.width}
            lines = ax.plot([0, 1], layout.heights[:, rows], linestyle=(0, (2, 1)) if style.dashed else "-", **look)
            lines[0].set_label(f"{kind} ({chart.counts[kind]})")
    ax.hlines(1.0, 0, 1, color=INK, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
    _slope_names(layout, ax, widest)
    ax.set_yticks(*layout.ticks(), **SMALL)
    ax.set_xticks([0, 1], short_names(chart.sides, SLOPE_NAMES[0] + 3), **LITERAL, **SMALL)
    ax.set_ylabel(chart.label, **SMALL)
    ax.set_xlabel(layout.left_out, **SMALL)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.tick_params(axis="x", length=0)
    legend(ax, ncols=4, **BENEATH, **SMALL)


def _font(layout: Layout, item: int) -> dict[str, Any]:
    """Return how the name of an item is written."""
    style = layout.chart.styles[layout.chart.kinds[item]]
    return {"color": style.ink, "fontweight": "bold" if style.bold else "normal", **SMALL}


def _widest(layout: Layout) -> float:
    """Return the width in inches of the widest name that is written."""
    named = np.flatnonzero(~np.isnan(layout.labels[0])).tolist()
    return max([text_width(layout.items[i], **_font(layout, i)) for i in named], default=0.0) / 72


def _slope_names(layout: Layout, ax: Any, widest: float) -> None:
    """Write the items' names beside the lines' ends, each with a lead to its end."""
    between = SLOPE_CHART[0] - 2 * (MARGIN + widest)  # in inches; the unit of the horizontal axis
    margin, outside = MARGIN / between, (MARGIN + widest) / between
    low, high = layout.span
    ax.set(xlim=(-outside, 1 + outside), ylim=(low - 0.7 * layout.gap, high + 0.7 * layout.gap))
    named = np.flatnonzero(~np.isnan(layout.labels[0]))
    for side, (at, sign, align) in enumerate(((0.0, -1, "right"), (1.0, 1, "left"))):
        heights, places = layout.heights[side, named], layout.labels[side, named]
        ends = at + sign * 0.15 * margin, at + sign * 0.75 * margin
        ax.plot(ends, [heights, places], color="#C9C9C9", linewidth=0.6, zorder=1)
        for i, place in zip(named.tolist(), places.tolist(), strict=True):
            look = {"ha": align, "va": "center", **_font(layout, i), **LITERAL}
            ax.text(at + sign * 0.85 * margin, place, layout.items[i], **look)


PAINTERS: dict[type[Chart], Callable[[Any, Any], None]] = {
    Lines: _lines,
    Rows: _rows,
    Bars: _bars,
    HeatMap: _heat_map,
    Tree: _tree,
    Points: _points,
    Slopes: _slopes,
}
