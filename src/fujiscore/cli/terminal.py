"""What the terminal shows: width, colours and characters; tables that fit."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import click

from fujiscore.charts.terminal import COLOURS
from fujiscore.errors import one_line, printable, shortened
from fujiscore.text.tables import Table, display_width, pad

NARROWEST, WIDEST, PLAIN_WIDTH = 60, 160, 80
ORANGE, BLUE, GREEN, PURPLE, GREY = COLOURS


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


def fitted(screen: Screen, table: Table, caption: str | None = None, colours: Sequence[int] | None = None) -> list[str]:
    """Return a table in lines no wider than the screen, its caption above it (none if empty) and its notes beneath.

    Optional columns give way first, then the first column; `colours` has one entry per row, for its last column.
    """
    head = [screen.style(line, bold=True) for line in screen.wrap(table.caption if caption is None else caption)]
    for names in table.optional:
        if sum(_widths(table)) + 2 * (len(table.header) - 1) > screen.width:
            table = table.without(names)
    widths = _widths(table)
    spare = screen.width - sum(widths) - 2 * (len(widths) - 1)
    widths[0] = max(min(widths[0], 6), widths[0] + min(spare, 0))
    lines = []
    for number, row in enumerate((table.header, *table.cells())):
        cells = [
            pad(screen.fit(cell, width), width, right=column not in table.text)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        if number and colours:
            cells[-1] = screen.style(cells[-1].rstrip(), colours[number - 1])
        lines.append("  ".join(cells).rstrip())
    lines[0] = screen.style(lines[0], bold=True)
    return [*head, *lines, *(line for note in table.notes for line in screen.wrap(note))]


def _widths(table: Table) -> list[int]:
    """Return the width of each column."""
    return [max(map(display_width, cells)) for cells in zip(table.header, *table.cells(), strict=True)]
