"""Formats of rankings: delimited text, .fimp, TREC runs, JSON, Parquet, Feather. Imports tables, columnar, errors."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from functools import partial
from itertools import dropwhile, islice
from math import isfinite
from typing import TYPE_CHECKING, Any

from fujiscore.errors import InputError
from fujiscore.readers import columnar
from fujiscore.readers.tables import INDEX_NAMES, ITEM_NAMES, Table, distinct, number, numeric_share, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fujiscore.readers.documents import Document
    from fujiscore.readers.tables import Group, Roles, Row

FORMATS = ("csv", "tsv", "parquet", "feather", "json", "fimp", "trec")
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".json": "json",
    ".fimp": "fimp",
    ".trec": "trec",
    ".run": "trec",
}
MAGIC = {b"PAR1": "parquet", b"ARROW1": "feather", b"FEA1": "feather"}
SEPARATORS = ("\t", ";", "|", ",")  # of two that fit equally the comma yields: it may be a decimal comma
SAMPLE = 500  # rows that tell the separator, the header and the columns' kinds
SAMPLE_CELLS = 200_000
QUOTES = "Quote fields that contain the separator, and close every quote."
FIMP_COLUMNS = ("index", "name", "rank", "score")
TREC_COLUMNS = ("qid", "Q0", "docid", "rank", "score", "tag")
BRACKETED = re.compile(r"\[([^\[\],]*)\]")


def detect(document: Document, chosen: str | None) -> str:
    """Return the format: what the bytes prove, then the extension, then what the text looks like."""
    proved = next((name for magic, name in MAGIC.items() if document.head.startswith(magic)), None)
    found = chosen or proved or SUFFIXES.get(document.suffix)
    if found in {"parquet", "feather"}:
        if proved != found:
            raise InputError(
                f"{document.name} must be a {found.capitalize()} file; its first bytes are not those of one. "
                f"Name its format: {', '.join(FORMATS)}."
            )
        return found
    _require_text(document)
    return found or _look(document)


def _require_text(document: Document) -> None:
    """Raise if the content is not text."""
    head = document.head
    if document.encoding != "utf-8" or b"\0" not in head:
        return
    if head[1:400:2].count(0) > len(head[:400]) // 3 or head[0:400:2].count(0) > len(head[:400]) // 3:
        raise InputError(
            f"{document.name} must be UTF-8; it looks like UTF-16 without a byte order mark. Save as UTF-8."
        )
    raise InputError(
        f"{document.name} must be text, Parquet or Feather; it is another kind of binary file. "
        f"Export it as one of {', '.join(FORMATS)}."
    )


def _look(document: Document) -> str:
    """Return the format that the first lines of a text suggest."""
    lines = [line for line in _first_lines(document, 20) if line.strip()]
    if lines[0].lstrip()[0] in "{[":
        return "json"
    if any(_is_rule(line) for line in lines):
        return "fimp"
    fields = [line.split() for line in lines]
    if all(len(own) == 6 and own[1].upper() == "Q0" and number(own[4]) is not None for own in fields):
        return "trec"
    return "csv"


def _first_lines(document: Document, count: int) -> list[str]:
    """Return lines from the first that is not blank."""
    lines = list(islice(dropwhile(lambda line: not line.strip(), document.lines()), count))
    if not lines:
        raise InputError(f"{document.name} must hold a ranking; it is empty.")
    return lines


def table(document: Document, name: str) -> Table:
    """Return the table in a file of any format but JSON."""
    if name in {"parquet", "feather"}:
        read = columnar.parquet if name == "parquet" else columnar.feather
        return read(document.name, document.whole())
    return {"fimp": _fimp, "trec": _trec}.get(name, _delimited)(document)


# Delimited text


def _delimited(document: Document) -> Table:
    """Return the table in a delimited file: its separator, header and columns as its first rows show them."""
    separator = _separator(document, _first_lines(document, SAMPLE))
    start, first = next(_parse(document, document.lines(), separator))
    most = max(20, min(SAMPLE, SAMPLE_CELLS // len(first)))
    sample = [row for _, row in islice(_parse(document, document.lines(), separator), most)]
    width = _width(sample)
    header = _has_header(document, first, width)
    columns = _names(document, first, width) if header else tuple(str(at + 1) for at in range(width))
    body = sample[1:] if header else sample
    if not body:
        raise InputError(f"{document.name} must hold at least one item; it has a header and no rows beneath it.")
    values = [[row[at] for row in body if at < len(row)] for at in range(width)]
    skip = start if header else 0
    return Table(
        document.name,
        columns,
        tuple(numeric_share(own) for own in values),
        partial(_rows, document, separator, skip, width),
        _fast(document, columns, separator, skip, quoted=True),
        header=header,
        counted=all(value.strip().isdecimal() for value in values[0]),
    )


def _fast(
    document: Document, columns: Sequence[str], separator: str, skip: int, *, quoted: bool
) -> Callable[[Roles], list[Group] | None] | None:
    """Return the reader of a delimited file through pyarrow, None where that cannot be used."""
    if not columnar.installed() or document.encoding not in {"utf-8", "utf-8-sig"}:
        return None
    return partial(columnar.delimited, document.open, len(columns), separator, skip, quoted=quoted)


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
        raise InputError(
            f"{document.name}, line {line + 1}: a field must have at most {csv.field_size_limit():,} characters; one "
            "has more. Check for a quote that is opened and never closed."
        ) from None


def _separator(document: Document, lines: list[str]) -> str:
    """Return the separator that cuts the first rows regularly, best if into a column of numbers."""
    merits = {separator: _merit(document, lines, separator) for separator in SEPARATORS}
    best = max(merits, key=lambda separator: merits[separator])
    if merits[best][0] < 1:
        share, _, numbers = _merit(document, lines, " ")
        if share == 1 and numbers:
            return " "
    if merits[best][0] == 0:
        list(_parse(document, lines, ","))  # where a field is too long, that is the error to show
        raise InputError(
            f"{document.name} must have at least two columns, separated by comma, tab, semicolon, | or space; "
            f"its first line is one: {shown(lines[0].strip())}. Give each item a score, or name the format: "
            f"{', '.join(FORMATS)}."
        )
    return best


def _merit(document: Document, lines: list[str], separator: str) -> tuple[float, bool, bool]:
    """Return the share of rows that a separator cuts alike, whether the first is one, and whether numbers result."""
    try:
        rows = [row for _, row in _parse(document, lines, separator)]
    except InputError:
        return 0.0, False, False
    if not rows:
        return 0.0, False, False
    width = _width(rows)
    if width == 1:
        return sum(len(row) > 1 for row in rows) / len(rows) / 2, False, False
    alike = [row for row in rows[1:] if len(row) == width]
    regular = len(alike) + (len(rows[0]) in {width, width - 1})
    columns = zip(*(alike or rows), strict=True)
    # 0,5 is an error, but tells the separator as well as 0.5 does.
    numbers = any(numeric_share(value.replace(",", ".") for value in column) == 1 for column in columns)
    return regular / len(rows), len(rows[0]) == width, numbers


def _width(rows: list[list[str]]) -> int:
    """Return the number of fields that most rows beneath the first have."""
    widths = [len(row) for row in rows[1:] or rows]
    return max(dict.fromkeys([len(rows[0]), *widths]), key=widths.count)


def _has_header(document: Document, first: list[str], width: int) -> bool:
    """Return whether the first row names the columns; without a header a file has two of them, item and score."""
    cells = [cell.strip() for cell in first]
    if len(cells) < width or cells[0].lower() in {*ITEM_NAMES, *INDEX_NAMES}:
        return True
    if all(number(cell) is None for cell in cells):
        return True
    if width == 2:
        return False
    raise InputError(
        f"{document.name}, line 1 must name the {width} columns; it holds numbers. "
        "Add a header (only a file of two columns, item and score, may do without)."
    )


def _names(document: Document, first: list[str], width: int) -> tuple[str, ...]:
    """Return the columns' names; R's header leaves out the first, of the row names."""
    names = [cell.strip() for cell in first]
    names = ["", *names] if len(names) == width - 1 else names
    if len(names) != width:
        raise InputError(
            f"{document.name}, line 1 must have {width} fields, as the rows beneath it have; it has {len(names)}. "
            f"{QUOTES}"
        )
    distinct(document.name, names)
    return tuple(names)


def _rows(document: Document, separator: str, skip: int, width: int, roles: Roles) -> Iterator[Row]:
    """Yield the rows beneath the header, or say which has too few or too many fields."""
    for line, row in _parse(document, document.lines(), separator):
        if line <= skip:
            continue
        if len(row) != width:
            raise InputError(
                f"{document.name}, line {line} must have {width} fields, as the rows before it have; it has {len(row)}."
                f" {QUOTES}"
            )
        yield _cells(line, row, roles)


def _cells(line: int, row: Sequence[Any], roles: Roles) -> Row:
    """Return a row's cells by their roles."""
    ranking = None if roles.ranking is None else row[roles.ranking]
    return line, row[roles.item], ranking, [row[at] for at in roles.scores]


# The rankings' own formats


def _is_rule(line: str) -> bool:
    """Return whether a line consists of dashes, as the last of a .fimp header does."""
    return len(line.strip()) >= 10 and not line.strip("-\r\n")


def _fimp(document: Document) -> Table:
    """Return the table in a .fimp file: index, name, [rank], [score] beneath a line of dashes."""
    rule = next((at for at, line in enumerate(islice(document.lines(), 100), 1) if _is_rule(line)), None)
    if rule is None:
        raise InputError(
            f"{document.name} must be a .fimp file: a header that ends with a line of dashes; it has none."
        )

    def rows(roles: Roles) -> Iterator[Row]:
        for line, text in enumerate(document.lines(), 1):
            if line > rule and text.strip():
                yield _cells(line, _fimp_row(document, line, text), roles)

    known = ("name", "score", None)
    return Table(document.name, FIMP_COLUMNS, (1.0, 0.0, 1.0, 1.0), rows, known=known)


def _fimp_row(document: Document, line: int, text: str) -> list[str]:
    """Return the four fields of a .fimp line, or say what is wrong with it."""
    fields = text.rstrip("\r\n").split("\t")
    values = [BRACKETED.fullmatch(field.strip()) for field in fields[2:]]
    if len(fields) != 4 or None in values:
        raise InputError(
            f"{document.name}, line {line} must be index, name, [rank] and [score], separated by tabs; "
            f"got {shown(text.strip())}."
        )
    return [*fields[:2], *(value[1] for value in values if value)]


def _trec(document: Document) -> Table:
    """Return the table in a TREC run: one ranking a query."""

    def rows(roles: Roles) -> Iterator[Row]:
        for line, text in enumerate(document.lines(), 1):
            fields = text.split()
            if fields and len(fields) != len(TREC_COLUMNS):
                raise InputError(
                    f"{document.name}, line {line} must be '{' '.join(TREC_COLUMNS)}'; it has {len(fields)} fields: "
                    f"{shown(text.strip())}."
                )
            if fields:
                yield _cells(line, fields, roles)

    separator = "\t" if "\t" in _first_lines(document, 1)[0] else " "
    fast = _fast(document, TREC_COLUMNS, separator, 0, quoted=False)
    kinds = (0.0, 0.0, 0.0, 1.0, 1.0, 0.0)
    return Table(document.name, TREC_COLUMNS, kinds, rows, fast, known=("docid", "score", "qid"))


# JSON


def json_content(document: Document) -> Any:
    """Return a JSON document's value, or say where its syntax is wrong."""
    try:
        return json.loads(document.text(), object_pairs_hook=partial(_unique, document))
    except json.JSONDecodeError as error:
        raise InputError(
            f"{document.name}, line {error.lineno}, column {error.colno} must be JSON; {error.msg[0].lower()}"
            f"{error.msg[1:]}. Check the syntax there."
        ) from None
    except RecursionError:
        raise other_shape(document, "too many levels") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{document.name} must hold numbers of ordinary length; {error}.") from None


def _unique(document: Document, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, or say which of its names is repeated."""
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise InputError(
            f"{document.name} must name each item once; {shown(repeated)} occurs twice in one object. "
            "Drop or average the repeated items."
        )
    return found


def other_shape(document: Document, what: str) -> InputError:
    """Return the error for JSON that is not one of the known shapes."""
    return InputError(
        f"{document.name} must be an object of item to score, an object of name to such objects, or a list of "
        f'records; it is {what}. Write it as one of these, for example {{"a": 0.5, "b": 0.2}}.'
    )


def _is_text(value: Any) -> bool:
    """Return whether a value of JSON is text; 'NaN' and 'inf' are how some write what JSON cannot."""
    return isinstance(value, str) and ((own := number(value)) is None or isfinite(own))


def records(document: Document, content: list[Any]) -> Table:
    """Return the table in a list of JSON records."""
    wrong = next((record for record in content if not isinstance(record, dict)), None)
    if wrong is not None:
        raise other_shape(document, f"a list with {shown(wrong)} in it")
    columns = tuple(dict.fromkeys(name for record in content for name in record))
    if not columns:
        raise InputError(f"{document.name} must hold at least one record; it is an empty list.")
    values = [[record.get(name) for record in content[:SAMPLE]] for name in columns]
    numeric = [0.0 if any(_is_text(value) for value in own) else numeric_share(own) for own in values]

    def rows(roles: Roles) -> Iterator[Row]:
        for at, record in enumerate(content, 1):
            yield _cells(at, [record.get(name) for name in columns], roles)

    counted = all(isinstance(value, int) for value in values[0])
    return Table(document.name, columns, tuple(numeric), rows, unit="record", counted=counted)
