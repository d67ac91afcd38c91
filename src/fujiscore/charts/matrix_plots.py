"""Figures of all pairs of many rankings: heat map, tree and map."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.charts.plots import CHANCE, LITERAL, LONGEST, SLATE, SMALL, new_axes, text_width
from fujiscore.errors import short_names
from fujiscore.measures.registry import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fujiscore.many.matrix import Dendrogram, Embedding, Matrix


def matrix(result: Matrix, ax: Any = None) -> Any:
    """Draw all pairs as a heat map, with the values written in where there is room."""
    values = result.values
    rows, columns = values.shape
    ax = new_axes(*matrix_size(result, 0.55, 0.5)) if ax is None else ax
    low = -1.0 if np.nanmin(values, initial=1.0) < -0.25 else 0.0  # a value just below chance need not halve the scale
    pale = result.insignificant
    shade = None if pale is None else np.where(pale, 0.35, 1.0)
    image = ax.imshow(values, cmap="cividis", vmin=low, vmax=1.0, aspect="auto", alpha=shade)
    if pale is not None:
        ax.set_xlabel("\n".join(wrap(f"pale, {result.legend}", 44)), **SMALL, **LITERAL)
    if columns > 40:
        ax.set_xticks([])
    else:
        names = short_names(result.columns, LONGEST)
        ax.set_xticks(range(columns), names, rotation=45, ha="right", rotation_mode="anchor", **LITERAL)
    if rows > 40:
        ax.set(yticks=[], ylabel=f"{rows} rankings")
    else:
        ax.set_yticks(range(rows), short_names(result.names, LONGEST), **LITERAL)
    if columns <= 12 and rows <= 24:
        for i in range(rows):
            for j in range(columns):
                value = values[i, j]
                faint = pale is not None and pale[i, j]
                ink = "white" if (value - low) / (1 - low) <= 0.55 and not faint else "black"
                text = "undefined" if np.isnan(value) else f"{value:.2f}{result.marks[i][j].strip()}"
                ax.text(j, i, text, ha="center", va="center", color=ink, fontsize=8)
    label = f"{find(result.measure).title}, {result.area}".replace(", corrected", "\ncorrected")
    ax.figure.colorbar(image, ax=ax).set_label(label, **LITERAL)
    return ax


def matrix_size(result: Matrix, width: float, height: float) -> tuple[float, float]:
    """Return the size of a figure whose cells are about so large, with room for the names beside and beneath them."""
    rows, columns = (min(count, 24) for count in result.values.shape)
    beside, beneath = (max(map(len, short_names(names, LONGEST))) for names in (result.names, result.columns))
    room = 2.2 + 0.08 * beside, 1.2 + 0.055 * beneath
    return max(4.8, room[0] + width * columns), max(2.8, room[1] + height * rows)


def dendrogram(result: Dendrogram, ax: Any = None) -> Any:
    """Draw a tree of rankings, distances on the horizontal axis and the names beside the leaves."""
    from scipy.cluster.hierarchy import dendrogram as coordinates

    count = len(result.names)
    ax = new_axes(6.4, 1.2 + 0.28 * min(max(count, 4), 40)) if ax is None else ax
    tree = coordinates(result.merges, no_plot=True)
    for heights, places in zip(tree["dcoord"], tree["icoord"], strict=True):
        ax.plot(heights, places, color=SLATE, linewidth=1.2)
    named = count <= 60
    names = short_names(result.leaves, LONGEST) if named else []
    ax.set_yticks([5 + 10 * leaf for leaf in range(count)] if named else [], names, **LITERAL)
    ax.set_ylabel("" if named else f"{count} rankings")
    ax.set_ylim(10 * count, 0)
    ax.set_xlim(0, max(1.05 * float(result.merges[-1, 2]), 0.01))
    ax.yaxis.tick_right()
    ax.invert_xaxis()
    ax.set_xlabel(f"1 - {find(result.measure).title}, {result.area} ({result.linkage} linkage)", **LITERAL)
    for side in ("left", "top", "right"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def embedding(result: Embedding, ax: Any = None) -> Any:
    """Draw a map of rankings, one unit as long on both axes, so that distances can be read."""
    ax = new_axes(6.4, 5.2) if ax is None else ax
    x, y = result.coordinates[:, 0], result.coordinates[:, 1]
    ax.scatter(x, y, color=SLATE, s=24, zorder=2)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.15)
    ax.grid(alpha=0.25)
    first, second = (f"{share:.0%}" for share in result.shares[:2])
    ax.set(xlabel=f"axis 1 ({first} of the variation)", ylabel=f"axis 2 ({second})")
    ax.set_title(f"1 - {find(result.measure).title}, {result.area}", fontsize="medium", **LITERAL)
    if len(result.names) <= 60:
        label_points(ax, short_names(result.names, LONGEST), x, y)
    return ax


def label_points(ax: Any, names: Sequence[str], x: Any, y: Any) -> None:
    """Write names beside points, each as near as it finds room; without room inside the axes it is left out."""
    ax.figure.draw_without_rendering()  # the layout settles where points are
    scale = 72 / ax.figure.dpi  # pixels to points, the unit of offsets and of fonts
    points = ax.transData.transform(np.column_stack([x, y])) * scale
    box = ax.get_window_extent()
    low, high = np.array([box.x0, box.y0]) * scale, np.array([box.x1, box.y1]) * scale
    taken = [(*(point - 4), *(point + 4)) for point in points]
    leads = {"arrowstyle": "-", "color": CHANCE, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2}
    for name, point, at in zip(names, points, zip(x, y, strict=True), strict=True):
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
