"""A result as text, Markdown, CSV, JSON or dataframe. Imports errors only."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import MissingExtraError, choice

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

LIBRARIES = ("pandas", "polars")


def frame(columns: Mapping[str, Any], library: str | None = None, notes: Sequence[str] = ()) -> Any:
    """Return the columns as a DataFrame of the named library, or of the first one installed.

    A pandas DataFrame carries the notes in `.attrs["notes"]`; polars has no place for them.
    """
    if library is not None:
        choice("library", library, LIBRARIES)
    wanted = LIBRARIES if library is None else (library,)
    for name in wanted:
        if find_spec(name):
            if name == "polars":
                return import_module(name).DataFrame(dict(columns), strict=False)  # labels of several types: text
            table = import_module(name).DataFrame(dict(columns))
            table.attrs["notes"] = list(notes)
            return table
    raise MissingExtraError(f"to_frame needs {' or '.join(wanted)}: pip install {wanted[0]}")


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a column's name, with underscores behind it if another column has it."""
    while name in taken:
        name += "_"
    return name


def text_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table of plain text, every column left-aligned."""
    cells = [list(header), *(list(row) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def to_markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table; the first column is text, the others are numbers."""
    names, *safe = [
        [" ".join(cell.replace("\\", "\\\\").replace("|", "\\|").splitlines()) for cell in row]
        for row in (header, *rows)
    ]
    marks = ["---"] + ["---:"] * (len(header) - 1)
    return [f"| {' | '.join(cells)} |" for cells in (names, marks, *safe)]


def to_csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV; NaN and None become empty cells."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Return a value as CSV shows it."""
    return "" if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)) else value


def to_json(data: Mapping[str, Any]) -> str:
    """Return JSON with one line per entry and plain lists on one line; NaN and infinities become null."""
    text = _indented(_plain(data), "") + "\n"
    return text.encode("utf-8", "backslashreplace").decode()  # lone surrogates as \\ud800, which is JSON


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
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, np.longdouble):
        return _plain(float(value))
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple, range)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
