"""Results as HTML for notebooks: a picture, tables and notes, without scripts or style sheets.

Styles are attributes, and repeated where a site strips them: `align` beside `text-align`. Text has the colour of the
page, so that it can be read on light and dark ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from fujiscore.errors import NAME, one_line, printable

if TYPE_CHECKING:
    from fujiscore.text.tables import Table

# How many notes and columns are shown; a matrix of hundreds of rankings has as many columns.
NOTES, COLUMNS = 8, 12
RULE = "border: 0; border-bottom: 1px solid currentColor"
CELL = "padding: 0.15em 0.6em; white-space: nowrap"


def html(tables: Sequence[Table], picture: str, notes: Sequence[str]) -> str:
    """Return a picture, tables and notes as one element."""
    parts = [f"<div>{picture}</div>"] if picture else []
    parts += [table(each) for each in tables]
    listed = [note for each in tables for note in each.notes] + [f"note: {note}" for note in notes[:NOTES]]
    if len(notes) > NOTES:
        listed.append(f"{len(notes) - NOTES} more notes are in .notes")
    parts += [f'<p style="font-size: 0.85em; margin: 0.2em 0">{text(one_line(note))}</p>' for note in listed]
    return f'<div style="max-width: 60em; overflow-x: auto">{"".join(parts)}</div>'


def text(value: object, most: int | None = None) -> str:
    """Return a text as HTML shows it unchanged: no element, no attribute, no invisible character."""
    return escape(printable(value, most))


def table(table: Table) -> str:
    """Return one table with its caption; the columns after the first many are left out, and said to be."""
    shown = range(min(len(table.header), COLUMNS))
    left = len(table.header) - len(shown)
    more = f"; {left} more columns are not shown" if left else ""
    ends = ["left" if column in table.text else "right" for column in shown]
    header = [_cell("th", table.header[column], ends[column], f"{CELL}; {RULE}") for column in shown]
    rows = [[_cell("td", row[column], ends[column], CELL) for column in shown] for row in table.cells()]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        f'<p style="margin: 0.6em 0 0.1em"><b>{text(one_line(table.caption + more))}</b></p>'
        '<table style="border-collapse: collapse; margin: 0 0 0.6em; font-size: 0.9em">'
        f"<thead><tr>{''.join(header)}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(tag: str, value: str, end: str, style: str) -> str:
    """Return a cell; a long name is shortened."""
    return f'<{tag} align="{end}" style="{style}; text-align: {end}">{text(value, NAME)}</{tag}>'
