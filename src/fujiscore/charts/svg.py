"""Small pictures as SVG text: lines with bands, heat maps, bars, intervals.

Text and axes have the colour of the page (currentColor), and everything is an attribute: no style sheet, no script.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from fujiscore.errors import short_names
from fujiscore.text.tables import display_width, spread_places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

# Pixels: of a chart, a line of text, a column of text (about), a row of bars or intervals, and a cell of a heat map.
WIDTH, HEIGHT, LINE, LETTER, ROW, CELL = 560, 220, 16, 6.4, 18, 34
# The most points of a line, rows of bars or intervals, cells on a side, and columns of a name.
POINTS, ROWS, CELLS, NAME = 200, 20, 20, 26
# Values are written into the cells of a heat map of at most so many columns.
WRITTEN = 14
# Steps of a scale of colours.
KEY = 24
# Text is white on shares below this, black on others: its contrast is at least 4.5.
INK = 0.46
GREY, BLUE = "#7F7F7F", "#0072B2"
# Matplotlib's cividis from low to high, evenly spaced: told apart by all, and in grey.
CIVIDIS = ("#00224e", "#1a386f", "#434e6c", "#61656f", "#7d7c78", "#9b9476", "#bcae6c", "#dec958", "#fee838")


@dataclass(frozen=True)
class Line:
    """A line of a chart."""

    values: ArrayLike
    name: str
    colour: str
    width: float = 1.8
    dashed: bool = False


@dataclass(frozen=True)
class Frame:
    """Where numbers are on a picture: the pixels of the axes, and the spans that they show."""

    left: float
    right: float
    top: float
    bottom: float
    x_span: tuple[float, float]
    y_span: tuple[float, float] = (0.0, 1.0)
    log: bool = False

    def x(self, value: float) -> float:
        """Return the pixel of a number on the horizontal axis."""
        return self.left + (self.right - self.left) * _share(value, *self.x_span, log=self.log)

    def y(self, value: float) -> float:
        """Return the pixel of a number on the vertical axis."""
        return self.bottom - (self.bottom - self.top) * _share(value, *self.y_span)


def _share(value: float, low: float, high: float, *, log: bool = False) -> float:
    """Return where a number lies between two others, from 0 to 1; outside of them at the nearer one."""
    if log:
        value, low, high = (math.log(max(number, 1e-300)) for number in (value, low, high))
    return 0.5 if high <= low else min(max((value - low) / (high - low), 0.0), 1.0)


def text(value: object, x: float, y: float, anchor: str = "start", **attributes: object) -> str:
    """Return a text at a place."""
    given = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor, "fill": "currentColor", **attributes}
    return f"<text {_attributes(given)}>{escape(str(value))}</text>"


def stroke(x1: float, y1: float, x2: float, y2: float, **attributes: object) -> str:
    """Return a straight line."""
    ends = {name: f"{value:.1f}" for name, value in zip(("x1", "y1", "x2", "y2"), (x1, y1, x2, y2), strict=True)}
    return f"<line {_attributes({**ends, 'stroke': 'currentColor', **attributes})}/>"


def box(x: float, y: float, width: float, height: float, **attributes: object) -> str:
    """Return a filled rectangle."""
    given = {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": f"{width:.1f}", "height": f"{height:.1f}", **attributes}
    return f"<rect {_attributes(given)}/>"


def _attributes(attributes: dict[str, object]) -> str:
    """Return attributes as SVG has them; underscores stand for hyphens."""
    return " ".join(f'{name.replace("_", "-")}="{escape(str(value))}"' for name, value in attributes.items())


def picture(parts: Sequence[str], title: str, width: float, height: float) -> str:
    """Return a picture of its parts; the title is for screen readers and pointers."""
    given: dict[str, object] = {
        "xmlns": "http://www.w3.org/2000/svg",
        "width": f"{width:.0f}",
        "height": f"{height:.0f}",
        "viewBox": f"0 0 {width:.0f} {height:.0f}",
        "role": "img",
        "aria-label": title,
        "font-family": "sans-serif",
        "font-size": 11,
        "fill": "none",
    }
    return f"<svg {_attributes(given)}><title>{escape(title)}</title>{''.join(parts)}</svg>"


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers from low to high, at most so many."""
    if not high > low:
        return [low]
    rough = (high - low) / (most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 5, 10) if size * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten, or of two where there would be fewer than three."""
    base = 10 if high >= 100 * low else 2
    first, last = (math.log(end, base) for end in (low, high))
    return [float(base) ** power for power in range(math.ceil(first - 1e-9), math.floor(last + 1e-9) + 1)]


def legend(lines: Sequence[Line], left: float, right: float) -> tuple[list[str], float]:
    """Return the names of lines beside a sample of each, in rows that fit, and how many pixels these take."""
    parts: list[str] = []
    x, y = left, 12.0
    for line in (line for line in lines if line.name):
        size = 26 + LETTER * display_width(line.name)
        if x > left and x + size > right:
            x, y = left, y + LINE
        style = {
            "stroke": line.colour,
            "stroke_width": line.width,
            **({"stroke_dasharray": "4 3"} if line.dashed else {}),
        }
        parts += [stroke(x, y - 4, x + 18, y - 4, **style), text(line.name, x + 22, y)]
        x += size + 8
    return parts, y + 10 if lines else 6.0


def axes(frame: Frame, x_label: str, y_label: str = "") -> list[str]:
    """Return axes with ticks, faint rules and labels; without a label the vertical axis is left out."""
    parts = [stroke(frame.left, frame.bottom, frame.right, frame.bottom, stroke_opacity=0.6)]
    for tick in (log_ticks if frame.log else ticks)(*frame.x_span):
        x = frame.x(tick)
        parts += [stroke(x, frame.bottom, x, frame.bottom + 4, stroke_opacity=0.6)]
        parts += [text(f"{tick:g}", x, frame.bottom + 15, "middle")]
    if y_label:
        for tick in ticks(*frame.y_span):
            y = frame.y(tick)
            parts += [stroke(frame.left, y, frame.right, y, stroke_opacity=0.15)]
            parts += [text(f"{tick:g}", frame.left - 6, y + 4, "end")]
        middle = (frame.top + frame.bottom) / 2
        parts.append(text(y_label, 11, middle, "middle", transform=f"rotate(-90 11 {middle:.1f})"))
    parts.append(text(x_label, (frame.left + frame.right) / 2, frame.bottom + 30, "middle"))
    return parts


def line_chart(
    x: ArrayLike,
    lines: Sequence[Line],
    *,
    title: str,
    x_label: str,
    y_label: str,
    span: tuple[float, float],
    bands: Sequence[tuple[ArrayLike, ArrayLike, str]] = (),
    log: bool = False,
) -> str:
    """Return lines over bands (lower end, upper end, colour) of the same x; many points are thinned, which is said."""
    numbers = np.asarray(x, np.float64)
    places = spread_places(numbers.size, POINTS)
    frame_left, frame_right = 52.0, WIDTH - 10.0
    names, top = legend(lines, frame_left, frame_right)
    ends = (float(numbers[0]), float(numbers[-1]))
    frame = Frame(
        frame_left, frame_right, top, top + HEIGHT - 60, ends, span, log and ends[0] > 0 and ends[1] > ends[0]
    )
    drawn = f"; {len(places)} of {numbers.size} drawn" if len(places) < numbers.size else ""
    parts = [*names, *axes(frame, x_label + drawn, y_label)]
    across = [frame.x(value) for value in numbers[places]]
    for low, high, colour in bands:
        parts.append(_band(frame, across, np.asarray(low)[places], np.asarray(high)[places], colour))
    for line in reversed(lines):  # the first on top
        parts += _path(frame, across, np.asarray(line.values, np.float64)[places], line)
    return picture(parts, title, WIDTH, frame.bottom + 38)


def _band(
    frame: Frame, across: Sequence[float], low: NDArray[np.float64], high: NDArray[np.float64], colour: str
) -> str:
    """Return the area between two lines, where both are defined."""
    known = np.flatnonzero(np.isfinite(low) & np.isfinite(high)).tolist()
    there = [f"{across[i]:.1f},{frame.y(high[i]):.1f}" for i in known]
    back = [f"{across[i]:.1f},{frame.y(low[i]):.1f}" for i in known[::-1]]
    return f'<polygon points="{" ".join(there + back)}" fill="{colour}" fill-opacity="0.22"/>'


def _path(frame: Frame, across: Sequence[float], values: NDArray[np.float64], line: Line) -> list[str]:
    """Return a line with gaps where it is undefined, and dots where there are few points."""
    commands, last = [], False
    for x, value in zip(across, values, strict=True):
        known = bool(np.isfinite(value))
        if known:
            commands.append(f"{'L' if last else 'M'}{x:.1f} {frame.y(value):.1f}")
        last = known
    style: dict[str, object] = {"stroke": line.colour, "stroke_width": line.width}
    style |= {"stroke_dasharray": "4 3"} if line.dashed else {}
    parts = [f'<path d="{"".join(commands)}" {_attributes(style)}/>']
    if len(across) <= 40 and not line.dashed:
        dots = [(x, frame.y(value)) for x, value in zip(across, values, strict=True) if np.isfinite(value)]
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{line.colour}"/>' for x, y in dots]
    return parts


def shade(share: float) -> tuple[str, str]:
    """Return the colour of a share from 0 to 1, and the colour of text that can be read on it."""
    place = min(max(share, 0.0), 1.0) * (len(CIVIDIS) - 1)
    first = min(int(place), len(CIVIDIS) - 2)
    pair = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in CIVIDIS[first : first + 2]]
    mixed = [round(a + (b - a) * (place - first)) for a, b in zip(*pair, strict=True)]
    return "#" + "".join(f"{part:02x}" for part in mixed), "#ffffff" if share < INK else "#000000"


def heat_map(
    values: NDArray[np.float64],
    names: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    label: str,
    span: tuple[float, float] = (0.0, 1.0),
    faint: NDArray[np.bool_] | None = None,
) -> str:
    """Return a heat map with names; many rows and columns are cut off, which is said. Faint cells are pale."""
    rows, across = min(len(names), CELLS), min(len(columns), CELLS)
    down, over = short_names(names[:rows], NAME), short_names(columns[:across], NAME)
    slant = LETTER * max(map(display_width, over)) * 0.64 + 14  # the names are at 45 degrees
    left = max(10 + LETTER * max(map(display_width, down)), slant - 14)
    written = across <= WRITTEN
    side, high = (CELL, 22) if written else (18, 18)
    parts = [text(name, left - 6, i * high + high / 2 + 4, "end") for i, name in enumerate(down)]
    for i in range(rows):
        for j in range(across):
            value, pale = float(values[i, j]), faint is not None and bool(faint[i, j])
            parts += _square(value, left + j * side, i * high, side, high, span, pale=pale, written=written)
    bottom = rows * high + 12
    for j, name in enumerate(over):
        x = left + (j + 0.6) * side
        parts.append(text(name, x, bottom, "end", transform=f"rotate(-45 {x:.1f} {bottom:.1f})"))
    cut = [
        f"{shown} of {count} {what}"
        for shown, count, what in ((rows, len(names), "rows"), (across, len(columns), "columns"))
        if shown < count
    ]
    said = label + (f"; {' and '.join(cut)} drawn" if cut else "")
    width = left + max(across * side, LETTER * display_width(said), 5 * KEY + 20) + 10
    key, tall = _key(left, bottom + slant + 4, span, said)
    return picture([*parts, *key], title, width, tall)


def _square(
    value: float, x: float, y: float, side: float, high: float, span: tuple[float, float], *, pale: bool, written: bool
) -> list[str]:
    """Return one cell, with its value where there is room; an undefined one is empty."""
    if math.isnan(value):
        outline = box(x + 1, y + 1, side - 2, high - 2, stroke="currentColor", stroke_opacity=0.3)
        return [outline, *([text("-", x + side / 2, y + high / 2 + 4, "middle")] if written else [])]
    colour, ink = shade(_share(value, *span))
    parts = [box(x, y, side, high, fill=colour, fill_opacity=0.3 if pale else 1)]
    if written:
        parts.append(
            text(
                f"{value:.2f}",
                x + side / 2,
                y + high / 2 + 4,
                "middle",
                fill="currentColor" if pale else ink,
                font_size=10,
            )
        )
    return parts


def _key(left: float, y: float, span: tuple[float, float], label: str) -> tuple[list[str], float]:
    """Return the scale of colours with its ends and what it shows, and where the picture ends."""
    parts = [box(left + i * 5, y, 5.5, 9, fill=shade(i / (KEY - 1))[0]) for i in range(KEY)]
    parts += [text(f"{span[0]:g}", left - 4, y + 9, "end"), text(f"{span[1]:g}", left + 5 * KEY + 5, y + 9)]
    return [*parts, text(label, left, y + 24)], y + 32


def bars(
    names: Sequence[object],
    values: ArrayLike,
    *,
    title: str,
    label: str,
    colours: Sequence[str],
    form: str = "g",
    most: float | None = None,
) -> str:
    """Return horizontal bars from 0, each with its value; of many the first are drawn, which is said."""
    numbers = np.asarray(values, np.float64)[:ROWS]
    shown = short_names(names[:ROWS], NAME)
    left, right = 14 + LETTER * max(map(display_width, shown)), WIDTH - 60.0
    known = numbers[np.isfinite(numbers)]
    low = min(0.0, float(known.min(initial=0.0)))
    high = max(0.0, float(known.max(initial=0.0))) if most is None else most
    frame = Frame(left, right, 0, ROW * len(shown), (low, high if high > low else low + 1))
    parts = []
    for i, (name, value) in enumerate(zip(shown, numbers, strict=True)):
        y = i * ROW
        parts.append(text(name, left - 6, y + 13, "end"))
        if np.isfinite(value):
            ends = sorted((frame.x(0.0), frame.x(value)))
            parts.append(box(ends[0], y + 3, ends[1] - ends[0], ROW - 6, fill=colours[i]))
        parts.append(
            text(f"{value:{form}}", max(frame.x(value if np.isfinite(value) else 0.0), frame.x(0.0)) + 5, y + 13)
        )
    parts.append(stroke(frame.x(0.0), 0, frame.x(0.0), frame.bottom, stroke_opacity=0.6))
    cut = f"; first {ROWS} of {len(names)} drawn" if len(names) > ROWS else ""
    parts.append(text(label + cut, left, frame.bottom + 15))
    return picture(parts, title, WIDTH, frame.bottom + 22)


def intervals(
    names: Sequence[object],
    values: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    title: str,
    label: str,
    colours: Sequence[str],
    span: tuple[float, float] | None = None,
    form: str = ".3f",
) -> str:
    """Return a dot and an interval per name above one axis; of many the first are drawn, which is said."""
    shown = short_names(names[:ROWS], NAME)
    middle, lower, upper = (np.asarray(part, np.float64)[:ROWS] for part in (values, low, high))
    known = np.concatenate((middle, lower, upper))
    known = known[np.isfinite(known)]
    if span is None:
        span = (float(known.min(initial=0.0)), float(known.max(initial=1.0)))
    left = 14 + LETTER * max(map(display_width, shown))
    frame = Frame(left, WIDTH - 60.0, 0, ROW * len(shown) + 2, span)
    cut = f"; first {ROWS} of {len(names)} drawn" if len(names) > ROWS else ""
    parts = axes(frame, label + cut)
    for i, name in enumerate(shown):
        y, colour = i * ROW + 10, colours[i]
        parts.append(text(name, left - 6, y + 4, "end"))
        if np.isfinite(lower[i]) and np.isfinite(upper[i]):
            parts.append(
                stroke(frame.x(lower[i]), y, frame.x(upper[i]), y, stroke=colour, stroke_width=4, stroke_opacity=0.55)
            )
        if np.isfinite(middle[i]):
            parts.append(f'<circle cx="{frame.x(middle[i]):.1f}" cy="{y}" r="3.5" fill="{colour}"/>')
        parts.append(text(f"{middle[i]:{form}}" if np.isfinite(middle[i]) else "undefined", frame.right + 6, y + 4))
    return picture(parts, title, WIDTH, frame.bottom + 38)
