"""All pairs as coloured cells, as large as the screen allows. Imports the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fujiscore.cli.screen import display_width, pad

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fujiscore.cli.screen import Screen
    from fujiscore.rankings import Scores

# Dark blue through grey to yellow, safe for the colour-blind; a cell sets its ink too, so any background will do.
RAMP = (17, 18, 24, 60, 66, 102, 144, 186, 228)
LEAST_LABEL = 10
BLACK, WHITE = 16, 231
FIRST_LIGHT = 4
# Corrected values scatter about 0: the ramp starts below it only where values are well below.
SLIGHTLY_NEGATIVE = -0.25
# The width of a cell and its decimals, in order of preference.
CELLS = ((7, 3), (6, 2), (4, 1))


def heat_map(screen: Screen, rows: Sequence[str], columns: Sequence[str], values: Scores) -> list[str] | None:
    """Return the matrix as lines, or None if it is too wide for any form of cell."""
    numbered = [f"{i + 1}" for i in range(len(columns))]
    square = list(rows) == list(columns)
    longest = max(display_width(name) for name in columns)
    if max(longest, 5) * len(columns) + 2 * len(columns) + _labels(rows, square=False) <= screen.width:
        return _cells(screen, rows, columns, values, max(longest, 5) + 2, 3)
    if not square:
        return None
    names = [f"{number:>{len(numbered[-1])}} {name}" for number, name in zip(numbered, rows, strict=True)]
    for cell, decimals in CELLS:
        space = screen.width - cell * len(columns)
        if space >= min(_labels(names, square=True), LEAST_LABEL):
            fitted = [screen.fit(name, space - 1) for name in names]
            return _cells(screen, fitted, numbered, values, cell, decimals)
    return None


def _labels(names: Sequence[str], *, square: bool) -> int:
    """Return the width of the row labels."""
    return max(display_width(name) for name in names) + (1 if square else 2)


def _cells(
    screen: Screen, rows: Sequence[str], columns: Sequence[str], values: Scores, cell: int, decimals: int
) -> list[str]:
    """Return a heading and a line a row, each cell of the given width."""
    label = max(display_width(name) for name in rows) + 1
    lines = [" " * label + "".join(pad(name + " ", cell, right=True) for name in columns).rstrip()]
    low = 0.0 if values.min() >= SLIGHTLY_NEGATIVE else -1.0
    for name, row in zip(rows, values, strict=True):
        text = pad(name, label, right=False)
        for value in row:
            shade = min(int((max(value, low) - low) / (1.0 - low) * len(RAMP)), len(RAMP) - 1)
            ink = BLACK if shade >= FIRST_LIGHT else WHITE
            text += screen.style(pad(f"{number(value, decimals)} ", cell, right=True), ink, RAMP[shade])
        lines.append(text.rstrip())
    return lines


def number(value: float, decimals: int) -> str:
    """Return a value between -1 and 1 in few characters: without the leading 0 where there is no room."""
    text = f"{round(value, decimals) + 0.0:.{decimals}f}"  # + 0.0: no minus sign before a zero
    return text.replace("0.", ".", 1) if decimals == 1 and value < 1 else text
