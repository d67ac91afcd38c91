"""What the terminal shows: width, colours and characters; tables, charts and heat maps that fit."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
import numpy as np

from fujiscore.errors import one_line, printable, shortened
from fujiscore.text.tables import display_width, pad

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fujiscore.inputs.coercion import Scores
    from fujiscore.measures.grids import Sizes

NARROWEST, WIDEST, PLAIN_WIDTH = 60, 160, 80
# Of middle lightness: they stand out on white as on black (contrast with either at least 4).
ORANGE, BLUE, GREEN, PURPLE, GREY = 166, 31, 64, 133, 243
# Charts: lines, the width of the numbers at the vertical axis and of the axis, the widest one, the gap between two.
HEIGHT, LABEL, WIDEST_CHART, GAP = 7, 5, 64, 3
# The bit of each of a braille character's 4 x 2 dots.
BRAILLE = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
# Heat maps: dark blue through grey to yellow, safe for the colour-blind; a cell sets its ink too.
RAMP = (17, 18, 24, 60, 66, 102, 144, 186, 228)
BLACK, WHITE, FIRST_LIGHT, LEAST_LABEL = 16, 231, 4, 10
# Corrected values scatter about 0: the ramp starts below it only where values are well below.
SLIGHTLY_NEGATIVE = -0.25
# The width of a cell and its decimals, in order of preference.
CELLS = ((7, 3), (6, 2), (4, 1))


@dataclass(frozen=True)
class Screen:
    """What the reader's end can show."""

    width: int
    colour: bool
    unicode: bool

    def style(self, text: str, colour: int | None = None, background: int | None = None, *, bold: bool = False) -> str:
        """Return the text in a colour of the 256-colour palette, where colours are shown."""
        if not self.colour:
            return text
        return click.style(text, fg=colour, bg=background, bold=bold or None)

    def fit(self, text: str, width: int) -> str:
        """Return the text no wider than a width, with an ellipsis where its middle was left out."""
        return text if display_width(text) <= width else shortened(text, width, "…" if self.unicode else "~")

    def wrap(self, text: str) -> list[str]:
        """Return the text in lines that fit."""
        return textwrap.wrap(text, self.width - 2, break_long_words=False)

    def notes(self, notes: Sequence[str]) -> list[str]:
        """Return notes as wrapped lines beneath a blank one."""
        lines = [
            line
            for note in notes
            for line in textwrap.wrap(
                f"Note: {one_line(note)}", self.width - 2, subsequent_indent="  ", break_long_words=False
            )
        ]
        return ["", *lines] if lines else []


def label(value: object) -> str:
    """Return a name for the terminal: printable, and no longer than its widest line."""
    return printable(value, WIDEST)


FILE = Screen(PLAIN_WIDTH, colour=False, unicode=True)


def terminal() -> Screen:
    """Return what standard output can show; colour only on a terminal, and not where NO_COLOR is set."""
    width = shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        "⣿┤─…".encode(encoding)
        unicode = True
    except (UnicodeEncodeError, LookupError):
        unicode = False
    return Screen(min(max(width, NARROWEST), WIDEST), colour=sys.stdout.isatty() and not plain, unicode=unicode)


def table(
    screen: Screen,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: Sequence[int] = (0,),
    flexible: int = 0,
    colours: Sequence[int | None] | None = None,
) -> list[str]:
    """Return aligned lines no wider than the screen: the flexible column gives way, the others keep their width.

    Columns in `left` are flush left, the others flush right; `colours` has one entry a row, for its last column.
    """
    widths = [max(display_width(row[c]) for row in (header, *rows)) for c in range(len(header))]
    spare = screen.width - sum(widths) - 2 * (len(widths) - 1)
    widths[flexible] = max(min(widths[flexible], 6), widths[flexible] + min(spare, 0))
    lines = []
    for number, row in enumerate((header, *rows)):
        cells = [
            pad(screen.fit(cell, width), width, right=c not in left)
            for c, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        if number == 0:
            lines.append(screen.style("  ".join(cells).rstrip(), bold=True))
            continue
        colour = colours[number - 1] if colours else None
        if colour is not None:
            cells[-1] = screen.style(cells[-1].rstrip(), colour)
        lines.append("  ".join(cells).rstrip())
    return lines


# Charts


def side_by_side(
    screen: Screen, charts: Sequence[tuple[str, Sizes, Sequence[Scores], Scores | None, int]]
) -> list[str]:
    """Return charts in rows of two: each has a title, the k, the lines, a dotted level (or None) and a colour."""
    width = min((screen.width - GAP) // 2, WIDEST_CHART) if len(charts) > 1 else min(screen.width, WIDEST_CHART)
    lines: list[str] = []
    for start in range(0, len(charts), 2):
        drawn = [chart(screen, width, *part) for part in charts[start : start + 2]]
        if lines:
            lines.append("")
        lines += [(" " * GAP).join(parts).rstrip() for parts in zip(*drawn, strict=True)]
    return lines


def chart(
    screen: Screen,
    width: int,
    title: str,
    ks: Sizes,
    lines: Sequence[Scores],
    level: Scores | None,
    colour: int,
) -> list[str]:
    """Return one chart, all lines of the same width."""
    low = 0.0 if min(np.nanmin(line, initial=1.0) for line in lines) >= 0 else -1.0
    columns = width - LABEL
    cell = (4, 2) if screen.unicode else (1, 1)
    shape = (HEIGHT * cell[0], columns * cell[1])
    solid = np.any([_trace(line, shape, low) for line in lines], axis=0)
    dotted = np.zeros(shape, np.bool_) if level is None else _trace(level, shape, low, every=3)
    axis, tick, corner = ("│", "┤", "└") if screen.unicode else ("|", "+", "+")
    labels = {0: "1.0", HEIGHT // 2: f"{(1 + low) / 2:.1f}", HEIGHT - 1: f"{low:.1f}"}
    drawn = [screen.style(pad(screen.fit(title, width), width), colour)]
    for row in range(HEIGHT):
        part = slice(row * cell[0], (row + 1) * cell[0])
        text = _row(screen, solid[part], dotted[part], colour)
        drawn.append(f"{labels.get(row, ''):>{LABEL - 1}}{tick if row in labels else axis}{text}")
    rule = ("─" if screen.unicode else "-") * columns
    drawn.append(f"{'':>{LABEL - 1}}{corner}{rule}")
    drawn.append(" " * LABEL + _ticks(ks, columns))
    return drawn


def _trace(values: Scores, shape: tuple[int, int], low: float, every: int = 1) -> NDArray[np.bool_]:
    """Return the dots of a line: in each column from its least to its greatest value there (dotted: one of many)."""
    height, width = shape
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
            parts.append(screen.style("".join(texts[start:stop]), colour if inked[start] else GREY))
            start = stop
    return "".join(parts)


def _ticks(ks: Sizes, columns: int) -> str:
    """Return the first, middle and last k under their places."""
    first, middle, last = f"k = {ks[0]}", str(ks[(ks.size - 1) // 2]), str(ks[-1])
    line = first
    centre = (columns - len(middle)) // 2
    if ks.size > 2 and centre > len(first) + 1 and centre + len(middle) + 1 < columns - len(last):
        line = line.ljust(centre) + middle
    if ks.size > 1:
        line = line.ljust(columns - len(last)) + last
    return pad(line, columns) if display_width(line) <= columns else line[:columns]


# Heat maps


def heat_map(
    screen: Screen, rows: Sequence[str], columns: Sequence[str], values: Scores, marks: Sequence[Sequence[str]]
) -> list[str] | None:
    """Return the matrix as lines, or None if it is too wide for any form of cell; each cell ends in its mark."""
    numbered = [f"{i + 1}" for i in range(len(columns))]
    square = list(rows) == list(columns)
    longest = max(display_width(name) for name in columns)
    if max(longest, 5) * len(columns) + 2 * len(columns) + _labels(rows, square=False) <= screen.width:
        return _cells(screen, rows, columns, values, marks, max(longest, 5) + 2, 3)
    if not square:
        return None
    names = [f"{number:>{len(numbered[-1])}} {name}" for number, name in zip(numbered, rows, strict=True)]
    for cell, decimals in CELLS:
        space = screen.width - cell * len(columns)
        if space >= min(_labels(names, square=True), LEAST_LABEL):
            fitted = [screen.fit(name, space - 1) for name in names]
            return _cells(screen, fitted, numbered, values, marks, cell, decimals)
    return None


def _labels(names: Sequence[str], *, square: bool) -> int:
    """Return the width of the row labels."""
    return max(display_width(name) for name in names) + (1 if square else 2)


def _cells(
    screen: Screen,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Scores,
    marks: Sequence[Sequence[str]],
    cell: int,
    decimals: int,
) -> list[str]:
    """Return a heading and one line per row, each cell of the given width."""
    label = max(display_width(name) for name in rows) + 1
    lines = [" " * label + "".join(pad(name + " ", cell, right=True) for name in columns).rstrip()]
    low = 0.0 if np.nanmin(values, initial=1.0) >= SLIGHTLY_NEGATIVE else -1.0
    for name, row, marked in zip(rows, values, marks, strict=True):
        text = pad(name, label)
        for value, mark in zip(row, marked, strict=True):
            if np.isnan(value):
                text += pad("- ", cell, right=True)
                continue
            shade = min(int((max(value, low) - low) / (1.0 - low) * len(RAMP)), len(RAMP) - 1)
            ink = BLACK if shade >= FIRST_LIGHT else WHITE
            text += screen.style(pad(f"{number(value, decimals)}{mark}", cell, right=True), ink, RAMP[shade])
        lines.append(text.rstrip())
    return lines


def number(value: float, decimals: int) -> str:
    """Return a value between -1 and 1 in few characters: without the leading 0 where there is no room."""
    text = f"{round(value, decimals) + 0.0:.{decimals}f}"  # + 0.0: no minus sign before a zero
    return text.replace("0.", ".", 1) if decimals == 1 and value < 1 else text
