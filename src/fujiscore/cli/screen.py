"""Where text goes: how wide, whether in colour, which characters; tables that fit. Imports click only."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

NARROWEST, WIDEST, PLAIN_WIDTH = 60, 160, 80
# Of middle lightness: they stand out on white as on black (contrast with either at least 4).
ORANGE, BLUE, GREEN, PURPLE, GREY = 166, 31, 64, 133, 243


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
        """Return the text cut to a width, with a mark where something was cut."""
        if display_width(text) <= width:
            return text
        mark = "…" if self.unicode else "~"
        kept, used = "", 1
        for character in text:
            used += display_width(character)
            if used > width:
                break
            kept += character
        return kept + mark

    def wrap(self, text: str) -> list[str]:
        """Return the text in lines that fit."""
        return textwrap.wrap(text, self.width - 2, break_long_words=False)


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


def display_width(text: str) -> int:
    """Return how many columns a text takes: wide characters two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def printable(value: object) -> str:
    """Return a label without control characters, which could move the cursor or break the table."""
    text = str(value)
    return text if text.isprintable() else "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def pad(text: str, width: int, *, right: bool) -> str:
    """Return the text with blanks up to a width."""
    blanks = " " * (width - display_width(text))
    return blanks + text if right else text + blanks


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
