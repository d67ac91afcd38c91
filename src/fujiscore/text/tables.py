"""A result as text, Markdown, LaTeX, HTML, CSV, JSON or dataframe."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from unicodedata import category, east_asian_width

import numpy as np

from fujiscore.errors import MissingExtraError, choice, one_line, printable, short_names, shortened
from fujiscore.text.numbers import p_text

LIBRARIES = ("pandas", "polars")
# How many rows of each table Markdown and LaTeX show by default, and notebooks always.
ROWS, NOTEBOOK_ROWS = 20, 10
# The most lines and columns of a repr, and how many of the lines are kept for notes.
LINES, COLUMNS, NOTE_LINES = 20, 100, 6
# What Markdown takes for markup; an underscore within a word is none.
MARKUP = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")


def frame(columns: Mapping[str, Any], library: str | None = None, notes: Sequence[str] = ()) -> Any:
    """Return the columns as a DataFrame of the named library, or of the first one installed.

    A pandas DataFrame carries the notes in `.attrs["notes"]`; polars has no place for them.
    """
    if library is not None:
        choice("library", library, LIBRARIES)
    wanted = LIBRARIES if library is None else (library,)
    installed = next((name for name in wanted if find_spec(name)), None)
    if installed is None:
        extra = "'fujiscore[frames]'" if "pandas" in wanted else library
        raise MissingExtraError(f"to_frame needs {' or '.join(wanted)}: pip install {extra}")
    create = import_module(installed).DataFrame
    if installed == "polars":
        create = partial(create, strict=False)  # labels of several types: text
    try:
        table = create(dict(columns))
    except UnicodeEncodeError:
        table = create(_encodable_columns(columns))
    if installed == "pandas":
        table.attrs["notes"] = list(notes)
    return table


def _encodable_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns with lone surrogates in names and labels escaped."""
    result: dict[str, Any] = {}
    for name, values in columns.items():
        cells = [encodable(v) if isinstance(v, str) else v for v in values] if isinstance(values, list) else values
        result[free_name(encodable(name), result)] = cells
    return result


def encodable(text: str) -> str:
    """Return the text with lone surrogates, as in the names of files that are not UTF-8, escaped: UTF-8 has none."""
    return text.encode("utf-8", "backslashreplace").decode()


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a column's name, with underscores behind it if another column has it."""
    while name in taken:
        name += "_"
    return name


def display_width(text: str) -> int:
    """Return how many columns a text takes: wide characters two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if category(character) in {"Mn", "Me"} else 2 if east_asian_width(character) in "WF" else 1
        for character in text
    )


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Return the text with blanks up to a width."""
    blanks = " " * (width - display_width(text))
    return blanks + text if right else text + blanks


def text_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table of plain text, every column left-aligned."""
    cells = [list(header), *(list(row) for row in rows)]
    widths = [max(display_width(row[column]) for row in cells) for column in range(len(header))]
    return ["  ".join(pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def bars(header: tuple[str, str], counts: Mapping[str, int], width: int, mark: str = "#") -> list[str]:
    """Return the lines of a bar chart of counts, under a header of two words; one count or more has a mark or more."""
    numbers = [f"{count}" for count in counts.values()]
    first = max(map(display_width, (header[0], *counts)))
    second = max(map(len, (header[1], *numbers)))
    most, room = max(counts.values(), default=0), width - first - second - 4
    lines = [f"{pad(header[0], first)}  {header[1]:>{second}}"]
    for name, count in counts.items():
        length = -(-count * room // most) if most else 0
        lines.append(f"{pad(name, first)}  {count:>{second}}  {mark * length}".rstrip())
    return lines


def to_markdown(header: Sequence[str], rows: Iterable[Sequence[str]], text: Collection[int] = (0,)) -> list[str]:
    """Return the lines of a Markdown table; the columns `text` are left-aligned, the others, numbers, right-aligned."""
    names, *safe = [[markdown_text(cell) for cell in row] for row in (header, *rows)]
    marks = ["---" if column in text else "---:" for column in range(len(header))]
    return [f"| {' | '.join(cells)} |" for cells in (names, marks, *safe)]


def markdown_text(text: str) -> str:
    """Return a text as one line that Markdown shows as it is: no HTML, no emphasis, no link, no end of the cell."""
    html = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return MARKUP.sub(r"\\\g<0>", html)


def to_csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV; NaN and None become empty cells."""
    import csv
    from types import SimpleNamespace

    lines: list[str] = []
    file: Any = SimpleNamespace(write=lines.append)
    writer = csv.writer(file, lineterminator="\r\n")  # a cell with either of these characters is quoted
    writer.writerow(header)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return encodable("".join([line[:-2] + "\n" for line in lines]))


def _cell(value: Any) -> Any:
    """Return a value as CSV shows it."""
    return "" if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)) else value


@dataclass(frozen=True)
class Table:
    """One table of a result: the cells as they are, and how they are written.

    Attributes
    ----------
    caption : str
        What it shows.
    header : sequence of str
        The names of the columns.
    rows : sequence of sequences
        Text, numbers, truth values; None where there is no value, NaN where it is undefined.
    formats : sequence of str
        How the numbers of each column are written, ".4f" for example, "p" for p-values; "" for a column of text.
    notes : sequence of str
        What to read with the table, beside the notes of the result.
    optional : sequence of sequences of str
        The columns that a narrow screen has no room for, in the order in which they go, those that go together as one.
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    formats: Sequence[str]
    notes: Sequence[str] = ()
    optional: Sequence[Sequence[str]] = ()

    @property
    def text(self) -> list[int]:
        """The columns of text."""
        return [column for column, form in enumerate(self.formats) if not form]

    def cells(self) -> list[list[str]]:
        """Return the rows as text."""
        return [[cell_text(*cell) for cell in zip(row, self.formats, strict=True)] for row in self.rows]

    def lines(self) -> list[str]:
        """Return the header and the rows as lines of plain text."""
        return text_table(self.header, self.cells())

    def markdown(self) -> list[str]:
        """Return the header and the rows as lines of Markdown."""
        return to_markdown(self.header, self.cells(), self.text)

    def without(self, names: Collection[str]) -> Table:
        """Return the table without some columns."""
        kept = [column for column, title in enumerate(self.header) if title not in names]
        header, formats, *rows = ([row[column] for column in kept] for row in (self.header, self.formats, *self.rows))
        return replace(self, header=header, rows=rows, formats=formats)


def text_columns(
    caption: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    text: Collection[int] = (0,),
    notes: Sequence[str] = (),
    optional: Sequence[Sequence[str]] = (),
) -> Table:
    """Return a table of cells that are text already; the columns not named in `text` hold numbers."""
    return Table(caption, header, rows, ["" if i in text else "s" for i in range(len(header))], notes, optional)


def cell_text(value: Any, form: str = "") -> str:
    """Return a cell as text: a dash for None, "undefined" for NaN; -0 has no sign; "p" is the form of p-values."""
    if value is None:
        return "-"
    if form == "p":
        return p_text(value)
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, float, np.number)):
        if value != value:  # noqa: PLR0124 - NaN
            return "undefined"
        return f"{value + 0.0:{form.replace('.', 'z.')}}" if form.endswith("f") else f"{value:{form}}"
    return printable(value)


def columns_table(
    caption: str,
    columns: Mapping[str, tuple[str, Any]],
    total: str = "",
    places: Sequence[int] | None = None,
    notes: Sequence[str] = (),
    optional: Sequence[Sequence[str]] = (),
) -> Table:
    """Return a table of columns, each a format and its cells, at some places; `total` says what these are part of."""
    cells = [values if places is None else [values[place] for place in places] for _, values in columns.values()]
    rows = [list(row) for row in zip(*cells, strict=True)]
    left_out = places is not None and any(len(values) > len(places) for _, values in columns.values())
    shown = f" ({len(rows)} of {total} shown)" if left_out else ""
    return Table(caption + shown, list(columns), rows, [form for form, _ in columns.values()], notes, optional)


def short_start(names: Sequence[object], most: int | None) -> list[str]:
    """Return names of which the first are shown, these short."""
    return [*short_names(names[:most]), *("" for _ in names[len(names) if most is None else most :])]


def first_places(count: int, most: int | None) -> range:
    """Return the places of the first rows."""
    return range(count if most is None else min(count, most))


def spread_places(count: int, most: int | None) -> list[int]:
    """Return places from the first to the last, spread evenly on a log scale."""
    if most is None or count <= most:
        return list(range(count))
    found: list[int] = np.unique(np.geomspace(1, count, most).round().astype(np.int64) - 1).tolist()
    return found


def folded(line: str, width: int = COLUMNS) -> list[str]:
    """Return a line in lines of at most `width` columns, the second and further ones indented."""
    if display_width(line) <= width and len(line) <= width:
        return [line]
    lines = [""]
    for word in line.split():
        short = shortened(word, width - 2)
        if lines[-1].strip() and _widest(f"{lines[-1]} {short}") > width:
            lines.append("  " + short)
        else:
            lines[-1] = f"{lines[-1]} {short}" if lines[-1].strip() else lines[-1] + short
    return lines


def _widest(text: str) -> int:
    """Return how many columns a text takes at most, where combining marks may take one."""
    return max(display_width(text), len(text))


def short_text(summary: Iterable[str], notes: Sequence[str]) -> str:
    """Return a summary and its notes in few lines of bounded width; the last of each says that there are more."""
    head = [part for line in summary for part in folded(line)]
    tail = [part for note in notes for part in folded(f"note: {one_line(note)}")]
    room = LINES - min(len(tail), NOTE_LINES)
    if len(head) > room and len(head) + len(tail) > LINES:
        head = [*head[: room - 1], f"... {len(head) - room + 1} more lines: print shows them"]
    room = LINES - len(head)
    if len(tail) > room:
        tail = [*tail[: room - 1], f"... {len(notes)} notes in all: see .notes"]
    return "\n".join([*head, *tail])
