"""Charts as SVG text, for notebooks.

Text and axes have the colour of the page (currentColor), and everything is an attribute: no style sheet, no script.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fujiscore.charts.kinds import Band, Bars, Chart, Dots, HeatMap, Line, Lines, Points, Ranges, Rows, Slopes, Tree
from fujiscore.charts.palette import BLUE, CHANCE, INK, PALE
from fujiscore.charts.slopes import placed
from fujiscore.errors import short_names
from fujiscore.text.tables import display_width, spread_places

# Pixels: of a chart, a line of text, a column of text (about), a row of bars or dots, and a cell of a heat map.
WIDTH, HEIGHT, LINE, LETTER, ROW, CELL = 560, 220, 16, 6.4, 18, 34
# The most points of a line, rows of bars or dots, cells on a side, leaves of a tree or points of a map, columns of a
# name, and points of a line that are marked.
POINTS, ROWS, CELLS, LEAVES, NAME, MARKED = 200, 20, 20, 40, 26, 40
# Values are written into the cells of a heat map of at most so many columns.
WRITTEN = 14
# Steps of a scale of colours.
KEY = 24
# Text is white on shares below this, black on others: its contrast is at least 4.5.
DARK = 0.46
# Matplotlib's cividis from low to high, evenly spaced: told apart by all, and in grey.
CIVIDIS = ("#00224e", "#1a386f", "#434e6c", "#61656f", "#7d7c78", "#9b9476", "#bcae6c", "#dec958", "#fee838")


def draw(charts: Iterable[Chart]) -> str:
    """Return charts as pictures one below the other; one that could not be read is left out."""
    return "<br/>".join(filter(None, (PAINTERS[type(chart)](chart) for chart in charts)))


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


# Parts of pictures


def _element(tag: str, content: str | None = None, **attributes: Any) -> str:
    """Return an element; numbers have one decimal, underscores stand for hyphens, None for no attribute."""
    given = " ".join(
        f'{name.replace("_", "-")}="{escape(f"{value:.1f}" if isinstance(value, float) else str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag} {given}/>" if content is None else f"<{tag} {given}>{content}</{tag}>"


def _text(value: object, x: float, y: float, anchor: str = "start", **attributes: Any) -> str:
    return _element("text", escape(str(value)), x=x, y=y, text_anchor=anchor, **{"fill": "currentColor", **attributes})


def _stroke(x1: float, y1: float, x2: float, y2: float, **attributes: Any) -> str:
    return _element("line", x1=x1, y1=y1, x2=x2, y2=y2, **{"stroke": "currentColor", **attributes})


def _box(x: float, y: float, width: float, height: float, **attributes: Any) -> str:
    return _element("rect", x=x, y=y, width=width, height=height, **attributes)


def _dot(x: float, y: float, radius: float, colour: str, *, hollow: bool = False) -> str:
    return _element("circle", cx=x, cy=y, r=radius, fill="none" if hollow else _ink(colour), stroke=_ink(colour))


def _ink(colour: str) -> str:
    """Return a colour; nearly black is the colour of the page's text, which may be white."""
    return "currentColor" if colour == INK else colour


def _picture(parts: Iterable[str], chart: Chart, width: float, height: float) -> str:
    """Return a picture of its parts; the title is for screen readers and pointers."""
    given = {
        "xmlns": "http://www.w3.org/2000/svg",
        "width": f"{width:.0f}",
        "height": f"{height:.0f}",
        "viewBox": f"0 0 {width:.0f} {height:.0f}",
        "role": "img",
        "aria_label": chart.title,
        "font_family": "sans-serif",
        "font_size": 11,
        "fill": "none",
    }
    return _element("svg", f"<title>{escape(chart.title)}</title>{''.join(parts)}", **given)


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers from low to high, at most so many."""
    if not high > low:
        return [low]
    rough = (high - low) / (most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 5, 10) if size * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten, or of two where there would be fewer than three."""
    base = 10 if high >= 100 * low else 2
    first, last = (math.log(end, base) for end in (low, high))
    return [float(base) ** power for power in range(math.ceil(first - 1e-9), math.floor(last + 1e-9) + 1)]


def _legend(named: Iterable[Line | Band | Dots | Ranges], left: float, right: float) -> tuple[list[str], float]:
    """Return names beside a sample of each, in rows that fit, and how many pixels these take."""
    parts: list[str] = []
    x, y = left, 0.0
    for part in named:
        size = 26 + LETTER * display_width(part.name)
        if not y:
            y = 12.0
        elif x + size > right:
            x, y = left, y + LINE
        parts += [_sample(part, x, y - 4), _text(part.name, x + 22, y)]
        x += size + 8
    return parts, y + 10 if y else 6.0


def _sample(part: Line | Band | Dots | Ranges, x: float, y: float) -> str:
    """Return a sample of what a legend names."""
    if isinstance(part, Line):
        return _stroke(x, y, x + 18, y, **_pen(part))
    if isinstance(part, Dots):
        return _dot(x + 9, y, 3.5, _each(part.colours, 1)[0], hollow=part.hollow)
    if isinstance(part, Band):
        return _box(x, y - 5, 18, 10, fill=part.colour, fill_opacity=str(part.opacity))
    return _stroke(x, y, x + 18, y, stroke=_each(part.colours, 1)[0], stroke_width=part.width)


def _pen(line: Line) -> dict[str, Any]:
    """Return the attributes of a line."""
    dashes = "4 3" if line.dashed else None
    return {"stroke": _ink(line.colour), "stroke_width": line.width, "stroke_dasharray": dashes}


def _each(colours: str | Sequence[str], count: int) -> list[str]:
    """Return one colour per row."""
    return [_ink(colour) for colour in ([colours] * count if isinstance(colours, str) else colours)]


def _axes(frame: Frame, x_label: str, y_label: str = "") -> list[str]:
    """Return axes with ticks, faint rules and labels; without a label the vertical axis is left out."""
    parts = [_stroke(frame.left, frame.bottom, frame.right, frame.bottom, stroke_opacity=0.6)]
    for tick in (_log_ticks if frame.log else ticks)(*frame.x_span):
        x = frame.x(tick)
        parts += [_stroke(x, frame.bottom, x, frame.bottom + 4, stroke_opacity=0.6)]
        parts += [_text(f"{tick:g}", x, frame.bottom + 15, "middle")]
    if y_label:
        for tick in ticks(*frame.y_span):
            y = frame.y(tick)
            parts += [_stroke(frame.left, y, frame.right, y, stroke_opacity="0.15")]
            parts += [_text(f"{tick:g}", frame.left - 6, y + 4, "end")]
        middle = (frame.top + frame.bottom) / 2
        parts.append(_text(y_label, 11, middle, "middle", transform=f"rotate(-90 11 {middle:.1f})"))
    parts.append(_text(x_label, (frame.left + frame.right) / 2, frame.bottom + 30, "middle"))
    return parts


# Lines


def _lines(chart: Lines) -> str:
    """Return lines over bands; many points are thinned, which is said."""
    left, right = 52.0, WIDTH - 10.0
    names, top = _legend(chart.named, left, right)
    numbers = np.asarray(chart.x, np.float64)
    ends = (float(numbers[0]), float(numbers[-1]))
    frame = Frame(left, right, top, top + HEIGHT - 60, ends, chart.span, chart.log and 0 < ends[0] < ends[1])
    places = spread_places(numbers.size, POINTS)
    cut = "" if chart.steps or len(places) == numbers.size else f"; {len(places)} of {numbers.size} drawn"
    parts = [*names, *_axes(frame, chart.x_label + cut, chart.y_label)]
    parts += [_area(frame, numbers, band, places) for band in chart.bands]
    for _, line in sorted(enumerate(chart.lines), key=lambda pair: (pair[1].dashed, -pair[0])):  # the first on top
        x, y = (np.asarray(part, np.float64) for part in (numbers if line.x is None else line.x, line.values))
        shown = (
            spread_places(x.size, POINTS)
            if line.x is None
            else np.linspace(0, x.size - 1, min(x.size, POINTS), dtype=int)
        )
        parts += _path(frame, x[shown], y[shown], line, steps=chart.steps)
    return _picture(parts, chart, WIDTH, frame.bottom + 38)


def _area(frame: Frame, numbers: NDArray[Any], band: Band, places: list[int]) -> str:
    """Return the area between two lines, where both are defined."""
    x, low, high = (np.asarray(part)[places] for part in (numbers, band.low, band.high))
    known = np.isfinite(low) & np.isfinite(high)
    edge = [*zip(x[known], high[known], strict=True), *zip(x[known][::-1], low[known][::-1], strict=True)]
    points = " ".join(f"{frame.x(a):.1f},{frame.y(b):.1f}" for a, b in edge)
    return _element("polygon", points=points, fill=_ink(band.colour), fill_opacity=str(band.opacity))


def _path(frame: Frame, x: NDArray[Any], values: NDArray[Any], line: Line, *, steps: bool) -> list[str]:
    """Return a line with gaps where it is undefined, and dots where there are few points."""
    commands, last = "", False
    for across, value in zip(x.tolist(), values.tolist(), strict=True):
        known = math.isfinite(value)
        if known:
            to, up = f"{frame.x(across):.1f}", f"{frame.y(value):.1f}"
            commands += f"M{to} {up}" if not last else f"H{to}V{up}" if steps else f"L{to} {up}"
        last = known
    parts = [_element("path", d=commands, **_pen(line))]
    if len(x) == 1 or (len(x) <= MARKED and line.width > 1 and not line.dashed and not steps):
        dots = [(a, b) for a, b in zip(x.tolist(), values.tolist(), strict=True) if math.isfinite(b)]
        parts += [_element("circle", cx=frame.x(a), cy=frame.y(b), r=2, fill=_ink(line.colour)) for a, b in dots]
    return parts


# Rows: dots, ranges and bars beside names


def _first(total: int, shown: int) -> str:
    """Return that only the first rows are drawn."""
    return f"; first {shown} of {total} drawn" if shown < total else ""


def _rows(chart: Rows) -> str:
    """Return dots and ranges beside names above one axis; of many the first are drawn, which is said."""
    count = min(len(chart.names), ROWS, chart.most or ROWS)
    shown = short_names(chart.names[:count], NAME)
    left, right = 14 + LETTER * max(map(display_width, shown)), WIDTH - (110.0 if chart.groups else 60.0)
    names, top = _legend([mark for mark in chart.marks if mark.name], left, right)
    frame = Frame(left, right, top, top + ROW * count + 2, chart.ends(count))
    parts = [*names, *_axes(frame, chart.label + _first(len(chart.names), count))]
    for place, (group, rows) in enumerate(chart.blocks(count)):
        y = top + rows[0] * ROW
        parts += [_box(left, y, right - left, ROW * len(rows), fill=CHANCE, fill_opacity="0.14")] if place % 2 else []
        parts += [_text(group, right + 50, y + 14)]
    parts += [_stroke(frame.x(0), top, frame.x(0), frame.bottom, stroke_opacity=0.6)] if frame.x_span[0] < 0 else []
    parts += [_text(name, left - 6, top + row * ROW + 14, "end") for row, name in enumerate(shown)]
    for mark in chart.marks:
        for row, colour in enumerate(_each(mark.colours, count)[:count]):
            y = top + (row + mark.shift) * ROW + 10
            if isinstance(mark, Dots) and np.isfinite(mark.values[row]):
                parts.append(_dot(frame.x(mark.values[row]), y, 0.7 * mark.size, colour, hollow=mark.hollow))
            elif isinstance(mark, Ranges) and np.isfinite((mark.low[row], mark.high[row])).all():
                look: Any = {"stroke": colour, "stroke_width": mark.width, "stroke_opacity": mark.opacity}
                parts.append(_stroke(frame.x(mark.low[row]), y, frame.x(mark.high[row]), y, **look))
    written = min((mark for mark in chart.marks if isinstance(mark, Dots)), key=lambda dots: dots.hollow).values
    for row in range(count):
        text = f"{written[row]:{chart.form}}" if np.isfinite(written[row]) else "undefined"
        parts.append(_text(text, right + 10, top + row * ROW + 14))
    return _picture(parts, chart, WIDTH, frame.bottom + 38)


def _bars(chart: Bars) -> str:
    """Return horizontal bars from 0, each with its value; of many the first are drawn, which is said."""
    numbers = np.asarray(chart.values, np.float64)[:ROWS]
    shown = short_names(chart.names[:ROWS], NAME)
    left = 14 + LETTER * max(map(display_width, shown))
    known = numbers[np.isfinite(numbers)]
    low = float(known.min(initial=0.0))
    high = float(known.max(initial=0.0)) if chart.end is None else chart.end
    frame = Frame(left, WIDTH - 60.0, 0, ROW * len(shown), (low, high if high > low else low + 1))
    parts = []
    for row, (name, value, colour) in enumerate(zip(shown, numbers, _each(chart.colours, len(shown)), strict=False)):
        ends = sorted((frame.x(0.0), frame.x(value if np.isfinite(value) else 0.0)))
        parts.append(_text(name, left - 6, row * ROW + 13, "end"))
        parts.append(_box(ends[0], row * ROW + 3, ends[1] - ends[0], ROW - 6, fill=colour))
        parts.append(_text(f"{value:{chart.form}}", ends[1] + 5, row * ROW + 13))
    parts.append(_stroke(frame.x(0.0), 0, frame.x(0.0), frame.bottom, stroke_opacity=0.6))
    parts.append(_text(chart.label + _first(len(chart.names), len(shown)), left, frame.bottom + 15))
    return _picture(parts, chart, WIDTH, frame.bottom + 22)


# Heat maps, trees and maps


def shade(share: float) -> tuple[str, str]:
    """Return the colour of a share from 0 to 1, and the colour of text that can be read on it."""
    place = min(max(share, 0.0), 1.0) * (len(CIVIDIS) - 1)
    first = min(int(place), len(CIVIDIS) - 2)
    pair = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in CIVIDIS[first : first + 2]]
    mixed = [round(a + (b - a) * (place - first)) for a, b in zip(*pair, strict=True)]
    return "#" + "".join(f"{part:02x}" for part in mixed), "#ffffff" if share < DARK else "#000000"


def _heat_map(chart: HeatMap) -> str:
    """Return a heat map with names; many rows and columns are cut off, which is said."""
    rows, across = min(len(chart.rows), CELLS), min(len(chart.columns), CELLS)
    down, over = short_names(chart.rows[:rows], NAME), short_names(chart.columns[:across], NAME)
    slant = LETTER * max(map(display_width, over)) * 0.64 + 14  # the names are at 45 degrees
    left = max(10 + LETTER * max(map(display_width, down)), slant - 14)
    side, high = (CELL, 22) if across <= WRITTEN else (18, 18)
    parts = [_text(name, left - 6, i * high + high / 2 + 4, "end") for i, name in enumerate(down)]
    for i in range(rows):
        for j in range(across):
            parts += _cell(chart, i, j, (left + j * side, i * high, side, high), written=across <= WRITTEN)
    bottom = rows * high + 12
    for j, name in enumerate(over):
        x = left + (j + 0.6) * side
        parts.append(_text(name, x, bottom, "end", transform=f"rotate(-45 {x:.1f} {bottom:.1f})"))
    counts = ((rows, len(chart.rows), "rows"), (across, len(chart.columns), "columns"))
    cut = " and ".join(f"{shown} of {count} {what}" for shown, count, what in counts if shown < count)
    note = f"; pale cells {chart.note}" if chart.note else ""
    said = chart.label + note + (f"; {cut} drawn" if cut else "")
    y = bottom + slant + 4
    parts += [_box(left + i * 5, y, 5.5, 9, fill=shade(i / (KEY - 1))[0]) for i in range(KEY)]
    parts += [
        _text(f"{chart.span[0]:g}", left - 4, y + 9, "end"),
        _text(f"{chart.span[1]:g}", left + 5 * KEY + 5, y + 9),
    ]
    width = left + max(across * side, LETTER * display_width(said), 5 * KEY + 20) + 10
    return _picture([*parts, _text(said, left, y + 24)], chart, width, y + 32)


def _cell(chart: HeatMap, i: int, j: int, where: tuple[float, float, float, float], *, written: bool) -> list[str]:
    """Return one cell, with its value where there is room; an undefined one is empty."""
    x, y, side, high = where
    value, pale = float(chart.values[i, j]), chart.marked(i, j)
    middle: Any = (x + side / 2, y + high / 2 + 4, "middle")
    if math.isnan(value):
        outline = _box(x + 1, y + 1, side - 2, high - 2, stroke="currentColor", stroke_opacity=0.3)
        return [outline, *([_text("-", *middle)] if written else [])]
    colour, ink = shade(_share(value, *chart.span))
    parts = [_box(x, y, side, high, fill=colour, fill_opacity=0.3 if pale else 1)]
    return [
        *parts,
        *([_text(f"{value:.2f}", *middle, fill="currentColor" if pale else ink, font_size=10)] if written else []),
    ]


def _tree(chart: Tree) -> str:
    """Return a tree, the leaves at the left and distances along the axis."""
    count = len(chart.names)
    if count > LEAVES:
        return ""
    order: list[int] = []
    waiting = [count + len(chart.merges) - 1]
    while waiting:
        cluster = waiting.pop()
        if cluster < count:
            order.append(cluster)
        else:
            first, second = (int(part) for part in chart.merges[cluster - count, :2])
            waiting += [second, first]
    shown = short_names([chart.names[i] for i in order], NAME)
    left = 14 + LETTER * max(map(display_width, shown))
    frame = Frame(left, WIDTH - 20.0, 0, ROW * count + 2, (0.0, max(float(chart.merges[-1, 2]), 0.01)))
    parts = [_text(name, left - 6, row * ROW + 14, "end") for row, name in enumerate(shown)]
    places = {leaf: (left, row * ROW + 10.0) for row, leaf in enumerate(order)}
    for number, (first, second, distance) in enumerate(chart.merges[:, :3]):
        (x1, y1), (x2, y2), x = places[int(first)], places[int(second)], frame.x(distance)
        points = f"{x1:.1f},{y1:.1f} {x:.1f},{y1:.1f} {x:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"
        parts.append(_element("polyline", points=points, stroke=BLUE, stroke_width=1.4))
        places[count + number] = (x, (y1 + y2) / 2)
    return _picture([*parts, *_axes(frame, chart.label)], chart, WIDTH, frame.bottom + 38)


def _points(chart: Points) -> str:
    """Return points with names, one unit as long on both axes."""
    if len(chart.names) > LEAVES:
        return ""
    tall = HEIGHT + 60.0
    left, right, top, bottom = 52.0, WIDTH - 20.0, 8.0, tall - 40
    reach = max(float(np.ptp(chart.x)) / (right - left), float(np.ptp(chart.y)) / (bottom - top), 1e-9) * 1.25
    middle = [(float(part.max()) + float(part.min())) / 2 for part in (chart.x, chart.y)]
    x_span, y_span = (
        (centre - reach * size / 2, centre + reach * size / 2)
        for centre, size in zip(middle, (right - left, bottom - top), strict=True)
    )
    frame = Frame(left, right, top, bottom, x_span, y_span)
    parts = _axes(frame, chart.x_label, chart.y_label)
    for name, a, b in zip(short_names(chart.names, NAME), chart.x, chart.y, strict=True):
        side, anchor = (6, "start") if a <= middle[0] else (-6, "end")
        parts += [_dot(frame.x(a), frame.y(b), 3.5, BLUE), _text(name, frame.x(a) + side, frame.y(b) + 4, anchor)]
    return _picture(parts, chart, WIDTH, tall)


def _slopes(chart: Slopes) -> str:
    """Return one line per item between two sides, names beside their ends."""
    layout = placed(chart, lines=ROWS, columns=NAME)
    lines = [Line([], f"{kind} ({count})", chart.styles[kind].colour) for kind, count in chart.counts.items()]
    names, top = _legend(lines, 52.0, WIDTH - 10.0)
    frame = Frame(WIDTH * 0.38, WIDTH * 0.68, top + 10, top + 10 + LINE * ROWS, (0.0, 1.0), layout.span)
    parts = [*names, _stroke(frame.left, frame.y(1), frame.right, frame.y(1), stroke_dasharray="1 2")]
    for place, text in zip(*layout.ticks(), strict=True):
        parts += [_text(text, 52, frame.y(place) + 4, "end"), _stroke(56, frame.y(place), 60, frame.y(place))]
    for i in reversed(range(len(layout.items))):
        style, (a, b) = chart.styles[chart.kinds[i]], layout.heights[:, i]
        line = Line([], "", style.colour, style.width, style.dashed)
        parts.append(_stroke(frame.left, frame.y(a), frame.right, frame.y(b), **_pen(line)))
        for x, sign, anchor, end, label in zip(
            (frame.left, frame.right), (-1, 1), ("end", "start"), (a, b), layout.labels[:, i], strict=True
        ):
            if np.isfinite(label):
                parts.append(_stroke(x + 3 * sign, frame.y(end), x + 15 * sign, frame.y(label), stroke=PALE))
                parts.append(_text(layout.items[i], x + 18 * sign, frame.y(label) + 4, anchor))
    for x, name in zip((frame.left, frame.right), short_names(chart.sides, NAME), strict=True):
        parts.append(_text(name, x, frame.bottom + 22, "middle"))
    middle = (frame.top + frame.bottom) / 2
    parts.append(_text(chart.label.split("\n")[0], 11, middle, "middle", transform=f"rotate(-90 11 {middle:.1f})"))
    parts.append(
        _text("; ".join(filter(None, (chart.heading, layout.left_out))), WIDTH / 2, frame.bottom + 40, "middle")
    )
    return _picture(parts, chart, WIDTH, frame.bottom + 48)


PAINTERS: dict[type[Chart], Callable[[Any], str]] = {
    Lines: _lines,
    Rows: _rows,
    Bars: _bars,
    HeatMap: _heat_map,
    Tree: _tree,
    Points: _points,
    Slopes: _slopes,
}
