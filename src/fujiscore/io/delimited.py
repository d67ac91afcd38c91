"""Delimited text: separator, header and rows, for rankings and data sets alike. Imports columns, columnar, errors."""

from __future__ import annotations

import csv
from functools import partial
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING

from fujiscore.errors import InputError
from fujiscore.io import columnar
from fujiscore.io.columns import is_index_name, is_item_name
from fujiscore.io.table import MISSING, Table, no_rows, number, numeric_share, picked, require_distinct, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fujiscore.io.documents import Document
    from fujiscore.io.table import Group, Roles, Row

SEPARATORS = ("\t", ";", "|", ",")  # if two fit equally well, not the comma: it may be a decimal comma
SAMPLE = 500  # rows that tell the separator, the header and the kinds of the columns
SAMPLE_CELLS = 200_000
SEPARATED = "separated by comma, tab, semicolon, | or space"
OTHER_SEPARATORS = ":=#^~& "  # not read, but recognised where each line ends with a number after one


def table(document: Document, *, data: bool = False) -> Table:
    """Return the table in a delimited file, of rankings or of data, as its first rows show it."""
    separator = _separator(document, document.first_lines(SAMPLE))
    parsed = _parse(document, document.lines(), separator)
    start, first = next(parsed, (0, [""]))
    most = max(20, min(SAMPLE, SAMPLE_CELLS // len(first)))
    body = [row for _, row in islice(parsed, most)]
    width = _width([first, *body])
    header = _has_header(document, first, body, width, data=data)
    if not header:
        body = [first, *body]
    if not body:
        raise no_rows(document.name)
    names = _names(document, first, width) if header else [str(column + 1) for column in range(width)]
    values = {name: [row[column] for row in body if column < len(row)] for column, name in enumerate(names)}
    skip = start if header else 0
    rows = picked(names, partial(_rows, document, separator, skip, width))
    quick = fast(document, names, separator, skip, quoted=True)
    numeric = {name: numeric_share(cells) for name, cells in values.items()}
    return Table(document.name, numeric, rows, values.__getitem__, quick, header=header)


def fast(
    document: Document, names: Sequence[str], separator: str, skip: int, *, quoted: bool
) -> Callable[[Roles, bool], list[Group] | None] | None:
    """Return the reader of a large delimited file through pyarrow, None if that cannot be used."""
    usable = document.large and document.encoding in {"utf-8", "utf-8-sig"} and find_spec("pyarrow") is not None
    return partial(columnar.delimited, document, names, separator, skip, quoted) if usable else None


def _parse(document: Document, lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the number of its last line."""
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=separator == " ")
    line = 0
    try:
        for row in reader:
            line = reader.line_num
            if len(row) > 1 or (row and row[0].strip()):
                yield line, row
    except csv.Error:
        must = f"a field must have at most {csv.field_size_limit():,} characters; one has more"
        raise InputError(f"{document.name}, line {line + 1}: {must}. Is a quote opened and never closed?") from None


def _separator(document: Document, lines: list[str]) -> str:
    """Return the separator that splits the first rows most regularly, preferably into a column of numbers."""
    merits = {separator: _merit(document, lines, separator) for separator in SEPARATORS}
    best = max(merits, key=lambda separator: merits[separator])
    if merits[best][0] < 1 and _merit(document, lines, " ")[::2] == (1, True):
        return " "
    if merits[best][0] > 0:
        return best
    list(_parse(document, lines, ","))  # where a field is too long, that is the error to show
    if any(_splits_scores(lines, separator) for separator in OTHER_SEPARATORS):
        raise InputError(
            f"{document.name} must have two columns or more, {SEPARATED}; its first line is "
            f"{shown(lines[0].strip())}. Separate the scores so, or write 'item' above a list of items."
        )
    return ","


def _splits_scores(lines: list[str], separator: str) -> bool:
    """Return whether all lines are a label of their own, a separator and a number, save a header."""
    cells = [line.strip().rpartition(separator) for line in lines if line.strip()]
    values = [number(score) for _, _, score in cells[1:] or cells]
    numbers = all(value is not None and value == value for value in values)  # noqa: PLR0124 - NaN
    return numbers and len({label for label, _, _ in cells} - {""}) == len(cells)


def _merit(document: Document, lines: list[str], separator: str) -> tuple[float, bool, bool]:
    """Return the share of rows of equal width, whether the first row has it, and whether a column is numeric."""
    try:
        rows = [row for _, row in _parse(document, lines, separator)]
    except InputError:
        rows = []
    if not rows:
        return 0.0, False, False
    width = _width(rows)
    if width == 1:
        return sum(len(row) > 1 for row in rows) / len(rows) / 2, False, False
    alike = [row for row in rows[1:] if len(row) == width]
    regular = len(alike) + (len(rows[0]) in {width, width - 1})
    columns = zip(*(alike or rows), strict=True)
    # 0,5 is not a number here, but tells the separator as well as 0.5 does.
    numbers = any(numeric_share(value.replace(",", ".") for value in column) == 1 for column in columns)
    return regular / len(rows), len(rows[0]) == width, numbers


def _width(rows: list[list[str]]) -> int:
    """Return the number of fields that most rows beneath the first have."""
    widths = [len(row) for row in rows[1:] or rows]
    return max(dict.fromkeys([len(rows[0]), *widths]), key=widths.count)


def _has_header(document: Document, first: list[str], body: list[list[str]], width: int, *, data: bool) -> bool:
    """Return whether the first row names the columns: in a data set it must, above one or two of rankings it may."""
    cells = [cell.strip() for cell in first]
    values = [number(cell) for cell in cells]
    counted = cells == [str(column) for column in range(width)]  # what pandas writes for columns without names
    if data:
        if width < 2:
            must = f"{document.name} must have at least two columns, {SEPARATED}"
            raise InputError(f"{must}; its first line is one: {shown(first[0])}.")
        if counted or any(cell in MISSING or number(cell) is None for cell in cells):
            return True
        raise InputError(f"{document.name}, line 1 must name the columns; it holds numbers. Add a header.")
    words = all(value is None for value in values)
    names_items = is_item_name(cells[0], plural=width == 1) or is_index_name(cells[0])
    if len(cells) < width or (names_items and all(v is None or v != v or v.is_integer() for v in values[1:])):  # noqa: PLR0124 - NaN
        return True
    if counted and (width > 2 or numeric_share(row[0] for row in body) < 1):
        return True
    if width == 1:  # above numbers only, a word is their column's name, not the best of a list of items
        return words and bool(body) and numeric_share(row[0] for row in body) == 1
    if width == 2 or words:
        return words
    raise InputError(
        f"{document.name}, line 1 must name the {width} columns; it holds numbers. "
        "Add a header (only an item column and one score column can do without)."
    )


def _names(document: Document, first: list[str], width: int) -> list[str]:
    """Return the columns' names; R's header leaves out the first, that of the row names."""
    names = [*([""] if len(first) == width - 1 else []), *(cell.strip() for cell in first)]
    _require_fields(document, 1, names, width)
    require_distinct(document.name, names)
    return names


def _require_fields(document: Document, line: int, row: list[str], width: int) -> None:
    """Raise unless a row has as many fields as the others."""
    if len(row) != width:
        raise InputError(
            f"{document.name}, line {line} must have {width} fields, as the other rows; it has {len(row)}. Quote "
            "fields that contain the separator, and close every quote."
        )


def _rows(document: Document, separator: str, skip: int, width: int) -> Iterator[Row]:
    """Yield the rows beneath the header, which must all have the same number of fields."""
    for line, row in _parse(document, document.lines(), separator):
        if line <= skip:
            continue
        _require_fields(document, line, row, width)
        yield line, row
