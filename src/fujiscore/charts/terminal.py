"""Lines and heat maps in the terminal: Braille dots, or ASCII where there are none, and coloured cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import printable
from fujiscore.text.tables import display_width, pad

if TYPE_CHECKING:
    from fujiscore.charts.kinds import HeatMap, Line, Lines

# Orange, blue, green, purple and grey of the 256-colour palette, of middle lightness: they stand out on white as on
# black (contrast with either at least 4).
COLOURS = (166, 31, 64, 133, 243)
# Charts: lines, the width of the numbers at the vertical axis and of the axis, the widest one, the gap between two.
HEIGHT, LABEL, WIDEST, GAP = 7, 5, 64, 3
# The bit of each of a braille character's 4 x 2 dots.
BRAILLE = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
# Heat maps: dark blue through grey to yellow, safe for the colour-blind; a cell sets its ink too.
RAMP = (17, 18, 24, 60, 66, 102, 144, 186, 228)
BLACK, WHITE, FIRST_LIGHT, LEAST_LABEL = 16, 231, 4, 10
# The width of a cell and its decimals, in order of preference; a name in full columns.
CELLS, NAME = ((7, 3), (6, 2), (4, 1)), 160


class Screen(Protocol):
    """What the reader's end can show."""

    @property
    def width(self) -> int:
        """The number of columns."""

    @property
    def colour(self) -> bool:
        """Whether colours are shown."""

    @property
    def unicode(self) -> bool:
        """Whether Braille dots are shown."""

    def style(self, text: str, colour: int | None = None, background: int | None = None) -> str:
        """Return the text in a colour of the 256-colour palette, where colours are shown."""

    def fit(self, text: str, width: int) -> str:
        """Return the text no wider than a width."""


def side_by_side(screen: Screen, charts: Sequence[Lines], colours: Sequence[int] = COLOURS[:4]) -> list[str]:
    """Return charts in rows of two, each with its title and a colour of its own, colours in turn."""
    width = min((screen.width - GAP) // 2, WIDEST) if len(charts) > 1 else min(screen.width, WIDEST)
    lines: list[str] = []
    for start in range(0, len(charts), 2):
        places = range(start, min(start + 2, len(charts)))
        drawn = [_lines(screen, charts[place], width, colours[place % len(colours)]) for place in places]
        lines += [*([""] if lines else []), *((" " * GAP).join(parts).rstrip() for parts in zip(*drawn, strict=True))]
    return lines


def _lines(screen: Screen, chart: Lines, width: int, colour: int) -> list[str]:
    """Return lines over x as text of one width; a dashed line after the first is a dotted level."""
    levels = [line for line in chart.lines[1:] if line.dashed]
    curves = [line for line in chart.lines if line not in levels]
    low = 0.0 if min(np.nanmin(line.values, initial=1.0) for line in curves) >= 0 else -1.0
    columns = width - LABEL
    cell = (4, 2) if screen.unicode else (1, 1)
    shape = (HEIGHT * cell[0], columns * cell[1])
    solid = np.any([_trace(line, shape, low) for line in curves], axis=0)
    dotted = np.any([np.zeros(shape, np.bool_), *(_trace(line, shape, low, every=3) for line in levels)], axis=0)
    axis, tick, corner = ("│", "┤", "└") if screen.unicode else ("|", "+", "+")
    labels = {0: "1.0", HEIGHT // 2: f"{(1 + low) / 2:.1f}", HEIGHT - 1: f"{low:.1f}"}
    drawn = [screen.style(pad(screen.fit(chart.title, width), width), colour)]
    for row in range(HEIGHT):
        part = slice(row * cell[0], (row + 1) * cell[0])
        text = _row(screen, solid[part], dotted[part], colour)
        drawn.append(f"{labels.get(row, ''):>{LABEL - 1}}{tick if row in labels else axis}{text}")
    drawn.append(f"{'':>{LABEL - 1}}{corner}{('─' if screen.unicode else '-') * columns}")
    return [*drawn, " " * LABEL + _ticks(chart.x, columns)]


def _trace(line: Line, shape: tuple[int, int], low: float, every: int = 1) -> NDArray[np.bool_]:
    """Return the dots of a line: in each column from its least to its greatest value there (dotted: one of many)."""
    values, (height, width) = np.asarray(line.values), shape
    dots = np.zeros(shape, np.bool_)
    positions = np.arange(values.size)
    edges = np.linspace(0, values.size - 1, width + 1)
    at_edges = np.interp(edges, positions, values)
    for column in range(0, width, every):
        start, stop = edges[column], edges[column + 1]
        within = values[int(np.ceil(start)) : int(np.floor(stop)) + 1]
        ends = at_edges[column : column + 2]
        span = ends[:1] if every > 1 else np.concatenate((ends, within))
        span = span[~np.isnan(span)]
        if not span.size:
            continue
        place = (1.0 - (np.array([span.max(), span.min()]) - low) / (1.0 - low)) * (height - 1)
        top, bottom = np.clip(np.rint(place), 0, height - 1).astype(int)
        dots[top : bottom + 1, column] = True
    return dots


def _row(screen: Screen, solid: NDArray[np.bool_], dotted: NDArray[np.bool_], colour: int) -> str:
    """Return one row of characters, the level in grey where no line covers it; runs of a colour share its codes."""
    if screen.unicode:
        cells = (solid | dotted).reshape(4, -1, 2).transpose(1, 0, 2)
        texts = [chr(0x2800 + int(bits)) if bits else " " for bits in (cells * BRAILLE).sum(axis=(1, 2))]
        inked = [bool(cell.any()) for cell in solid.reshape(4, -1, 2).transpose(1, 0, 2)]
    else:
        texts = ["*" if line else "." if level else " " for line, level in zip(solid[0], dotted[0], strict=True)]
        inked = [bool(line) for line in solid[0]]
    if not screen.colour:
        return "".join(texts)
    parts, start = [], 0
    for stop in range(1, len(texts) + 1):
        if stop == len(texts) or inked[stop] != inked[start]:
            parts.append(screen.style("".join(texts[start:stop]), colour if inked[start] else COLOURS[4]))
            start = stop
    return "".join(parts)


def _ticks(ks: NDArray[Any], columns: int) -> str:
    """Return the first, middle and last k under their places."""
    first, middle, last = f"k = {ks[0]}", str(ks[(ks.size - 1) // 2]), str(ks[-1])
    line = first
    centre = (columns - len(middle)) // 2
    if ks.size > 2 and centre > len(first) + 1 and centre + len(middle) + 1 < columns - len(last):
        line = line.ljust(centre) + middle
    if ks.size > 1:
        line = line.ljust(columns - len(last)) + last
    return pad(line, columns) if display_width(line) <= columns else line[:columns]


def heat_map(screen: Screen, chart: HeatMap) -> list[str] | None:
    """Return a heat map as lines, or None if it is too wide for any form of cell; pale cells end in their mark."""
    rows, columns = ([printable(name, NAME) for name in names] for names in (chart.rows, chart.columns))
    longest = max(map(display_width, columns))
    if (max(longest, 5) + 2) * len(columns) + max(map(display_width, rows)) + 2 <= screen.width:
        return _cells(screen, chart, rows, columns, max(longest, 5) + 2, 3)
    if rows != columns:
        return None
    numbered = [f"{i + 1}" for i in range(len(columns))]
    names = [f"{number:>{len(numbered[-1])}} {name}" for number, name in zip(numbered, rows, strict=True)]
    for cell, decimals in CELLS:
        space = screen.width - cell * len(columns)
        if space >= min(max(map(display_width, names)) + 1, LEAST_LABEL):
            return _cells(screen, chart, [screen.fit(name, space - 1) for name in names], numbered, cell, decimals)
    return None


def _cells(
    screen: Screen, chart: HeatMap, rows: Sequence[str], columns: Sequence[str], cell: int, decimals: int
) -> list[str]:
    """Return a heading and one line per row, each cell of the given width."""
    label = max(map(display_width, rows)) + 1
    lines = [" " * label + "".join(pad(name + " ", cell, right=True) for name in columns).rstrip()]
    low, high = chart.span
    for i, name in enumerate(rows):
        text = pad(name, label)
        for j, value in enumerate(chart.values[i].tolist()):
            if np.isnan(value):
                text += pad("- ", cell, right=True)
                continue
            shade = min(int((max(value, low) - low) / (high - low) * len(RAMP)), len(RAMP) - 1)
            ink, mark = BLACK if shade >= FIRST_LIGHT else WHITE, chart.mark if chart.marked(i, j) else " "
            text += screen.style(pad(f"{number(value, decimals)}{mark}", cell, right=True), ink, RAMP[shade])
        lines.append(text.rstrip())
    return lines


def number(value: float, decimals: int) -> str:
    """Return a value between -1 and 1 in few characters: without the leading 0 where there is no room."""
    text = f"{round(value, decimals) + 0.0:.{decimals}f}"  # + 0.0: no minus sign before a zero
    return text.replace("0.", ".", 1) if decimals == 1 and value < 1 else text
