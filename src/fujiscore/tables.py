"""A result as text, Markdown, CSV, JSON or dataframe. Imports errors only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from unicodedata import category, east_asian_width

import numpy as np

from fujiscore.errors import MissingExtraError, choice, printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

LIBRARIES = ("pandas", "polars")
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


def to_markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table; the first column is text, the others are numbers."""
    names, *safe = [[markdown_text(cell) for cell in row] for row in (header, *rows)]
    marks = ["---"] + ["---:"] * (len(header) - 1)
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


def to_json(data: Mapping[str, Any]) -> str:
    """Return JSON with one line per entry and plain lists on one line; NaN and infinities become null."""
    return encodable(_indented(_plain(data), "") + "\n")  # lone surrogates as \\ud800, which is JSON


def ascii_json(text: str) -> str:
    """Return JSON with its other characters escaped, for a place that has none but ASCII."""
    import json

    return "".join(part if part.isascii() else json.dumps(part)[1:-1] for part in re.split(r"([^\x00-\x7f]+)", text))


def _indented(value: Any, margin: str) -> str:
    """Return a JSON value with nested containers indented."""
    import json

    inner = margin + "  "
    if isinstance(value, dict) and value:
        entries = [f"{json.dumps(key, ensure_ascii=False)}: {_indented(part, inner)}" for key, part in value.items()]
    elif isinstance(value, list) and any(isinstance(part, (dict, list)) for part in value):
        entries = [_indented(part, inner) for part in value]
    else:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    start, end = "{}" if isinstance(value, dict) else "[]"
    return f"{start}\n{inner}" + f",\n{inner}".join(entries) + f"\n{margin}{end}"


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold."""
    if isinstance(value, Mapping):
        entries: dict[str, Any] = {}
        for key, part in value.items():
            entries[free_name(str(key), entries)] = _plain(part)  # 1 and "1" are two keys
        return entries
    if isinstance(value, np.longdouble):
        return _plain(float(value))
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple, range)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
