"""Curves drawn with characters: braille dots, or ASCII where the encoding has none. Imports the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fujiscore.cli.screen import GREY, display_width, pad

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fujiscore.cli.screen import Screen
    from fujiscore.overlap import Sizes
    from fujiscore.rankings import Scores

HEIGHT = 7
LABEL = 5  # the width of the numbers at the vertical axis, and of the axis
WIDEST_CHART, GAP = 64, 3
# The bit of each of a braille character's 4 x 2 dots.
BRAILLE = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


def side_by_side(
    screen: Screen, charts: Sequence[tuple[str, Sizes, Sequence[Scores], Scores | None, int]]
) -> list[str]:
    """Return charts in rows of two: each a title, the k, the lines, a dotted level (or None) and a colour."""
    width = min((screen.width - GAP) // 2, WIDEST_CHART) if len(charts) > 1 else min(screen.width, WIDEST_CHART)
    lines: list[str] = []
    for start in range(0, len(charts), 2):
        drawn = [chart(screen, width, *own) for own in charts[start : start + 2]]
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
    low = 0.0 if min(own.min() for own in lines) >= 0 else -1.0
    columns = width - LABEL
    cell = (4, 2) if screen.unicode else (1, 1)
    shape = (HEIGHT * cell[0], columns * cell[1])
    solid = np.any([_trace(own, shape, low) for own in lines], axis=0)
    dotted = np.zeros(shape, np.bool_) if level is None else _trace(level, shape, low, every=3)
    axis, tick, corner = ("│", "┤", "└") if screen.unicode else ("|", "+", "+")
    labels = {0: "1.0", HEIGHT // 2: f"{(1 + low) / 2:.1f}", HEIGHT - 1: f"{low:.1f}"}
    drawn = [screen.style(pad(screen.fit(title, width), width, right=False), colour)]
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
    return pad(line, columns, right=False) if display_width(line) <= columns else line[:columns]
