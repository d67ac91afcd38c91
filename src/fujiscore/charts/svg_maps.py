"""Trees and maps of rankings as SVG text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fujiscore.charts.svg import BLUE, HEIGHT, LETTER, NAME, ROW, WIDTH, Frame, axes, picture, text
from fujiscore.errors import short_names
from fujiscore.text.tables import display_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


def tree(merges: NDArray[np.float64], names: Sequence[str], *, title: str, label: str) -> str:
    """Return a tree of merges (two clusters, their distance), the leaves at the left and distances along the axis."""
    count = len(names)
    order: list[int] = []
    waiting = [count + len(merges) - 1]
    while waiting:
        cluster = waiting.pop()
        if cluster < count:
            order.append(cluster)
        else:
            first, second = (int(part) for part in merges[cluster - count, :2])
            waiting += [second, first]
    shown = short_names([names[i] for i in order], NAME)
    left = 14 + LETTER * max(map(display_width, shown))
    frame = Frame(left, WIDTH - 20.0, 0, ROW * count + 2, (0.0, max(float(merges[-1, 2]), 0.01)))
    parts = [text(name, left - 6, row * ROW + 14, "end") for row, name in enumerate(shown)]
    places = {leaf: (left, row * ROW + 10.0) for row, leaf in enumerate(order)}
    for number, (first, second, distance) in enumerate(merges[:, :3]):
        (x1, y1), (x2, y2), x = places[int(first)], places[int(second)], frame.x(distance)
        points = f"{x1:.1f},{y1:.1f} {x:.1f},{y1:.1f} {x:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"
        parts.append(f'<polyline points="{points}" stroke="{BLUE}" stroke-width="1.4"/>')
        places[count + number] = (x, (y1 + y2) / 2)
    return picture([*parts, *axes(frame, label)], title, WIDTH, frame.bottom + 38)


def scatter(x: ArrayLike, y: ArrayLike, names: Sequence[str], *, title: str, x_label: str, y_label: str) -> str:
    """Return points with names, one unit as long on both axes."""
    across, up = np.asarray(x, np.float64), np.asarray(y, np.float64)
    tall = HEIGHT + 60.0
    left, right, top, bottom = 52.0, WIDTH - 20.0, 8.0, tall - 40
    reach = max(float(np.ptp(across)) / (right - left), float(np.ptp(up)) / (bottom - top), 1e-9) * 1.25
    middle = [(float(part.max()) + float(part.min())) / 2 for part in (across, up)]
    (x_low, x_high), (y_low, y_high) = (
        (centre - reach * size / 2, centre + reach * size / 2)
        for centre, size in zip(middle, (right - left, bottom - top), strict=True)
    )
    frame = Frame(left, right, top, bottom, (x_low, x_high), (y_low, y_high))
    parts = axes(frame, x_label, y_label)
    for name, a, b in zip(short_names(names, NAME), across, up, strict=True):
        side, anchor = (6, "start") if a <= middle[0] else (-6, "end")
        parts.append(f'<circle cx="{frame.x(a):.1f}" cy="{frame.y(b):.1f}" r="3.5" fill="{BLUE}"/>')
        parts.append(text(name, frame.x(a) + side, frame.y(b) + 4, anchor))
    return picture(parts, title, WIDTH, tall)
