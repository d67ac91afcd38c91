"""Formats of rankings, and how every format is recognised. Imports delimited, columnar, table and errors."""

from __future__ import annotations

import json
import re
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any

from fujiscore.errors import InputError, spelled
from fujiscore.io import columnar, delimited
from fujiscore.io.table import Roles, Table, number, numeric_share, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fujiscore.io.documents import Document
    from fujiscore.io.table import Row

FORMATS = ("csv", "tsv", "parquet", "feather", "json", "fimp", "trec")
SUFFIXES = {
    **{f".{name}": name for name in (*FORMATS, "arff", "libsvm")},
    ".tab": "tsv",
    ".pq": "parquet",
    ".arrow": "feather",
    ".run": "trec",
    ".svmlight": "libsvm",
    ".svm": "libsvm",
}
MAGIC = {b"PAR1": "parquet", b"ARROW1": "feather", b"FEA1": "feather"}
FIMP_COLUMNS = ("index", "name", "rank", "score")
TREC_COLUMNS = ("qid", "Q0", "docid", "rank", "score", "tag")
FIMP_ROW = re.compile(r"([^\t]*)\t([^\t]*)\t *\[([^\[\],\t]*)\] *\t *\[([^\[\],\t]*)\]\s*")
PAIR = re.compile(r"(\d+):(\S+)")  # libsvm's index:value


def detect(document: Document, named: str | None, formats: Sequence[str]) -> str:
    """Return the format, one of those given: by its first bytes, its extension, or its first lines."""
    proven = next((name for magic, name in MAGIC.items() if document.head.startswith(magic)), None)
    by_suffix = SUFFIXES.get(document.unpacked.suffix.lower())
    name = named or proven or (by_suffix if by_suffix in formats else None)
    if name in {"parquet", "feather"}:
        if proven != name:
            raise InputError(
                f"{document.name} must be a {name.capitalize()} file; its first bytes are not those of one. "
                f"Name its format with {spelled('format')}: {', '.join(formats)}."
            )
        return name
    _require_text(document, formats)
    likely = name or _look(document)
    return likely if likely in formats else "csv"


def _require_text(document: Document, formats: Sequence[str]) -> None:
    """Raise if the content is not text."""
    if document.encoding != "utf-8" or b"\0" not in document.head:
        return
    for start in (0, 1):  # every second byte of UTF-16 is zero
        if document.head[start:400:2].count(0) > len(document.head[:400]) // 3:
            raise InputError(
                f"{document.name} must be UTF-8; it looks like UTF-16 without a byte order mark. Save it as UTF-8."
            )
    raise InputError(
        f"{document.name} must be text, Parquet or Feather; it is another kind of binary file. "
        f"Export it as one of {', '.join(formats)}."
    )


def _look(document: Document) -> str:
    """Return the format that the first lines of a text suggest."""
    lines = [line.strip() for line in document.first_lines(50) if line.strip()]
    if lines[0][0] in "{[":
        return "json"
    if any(map(_is_rule, lines)):
        return "fimp"
    words = [line.split() for line in lines]
    if all(len(row) == 6 and row[1].upper() == "Q0" and number(row[4]) is not None for row in words):
        return "trec"
    if next((line for line in lines if not line.startswith("%")), "").lower().startswith(("@relation", "@attribute")):
        return "arff"
    pairs = len(words[0]) > 1 and all(PAIR.fullmatch(word) for word in words[0][1:])
    return "libsvm" if pairs and number(words[0][0]) is not None else "csv"


def table(document: Document, name: str) -> Table:
    """Return the table in a file of rankings."""
    if name in {"parquet", "feather"}:
        return columnar.table(document.name, name, document.whole())
    readers: dict[str, Callable[[Document], Table]] = {"fimp": _fimp, "trec": _trec, "json": _json}
    return readers.get(name, delimited.table)(document)


def _is_rule(line: str) -> bool:
    """Return whether a line consists of dashes, as the last of a .fimp header does."""
    return len(line.strip()) >= 10 and not line.strip("-\r\n")


def _fimp(document: Document) -> Table:
    """Return the table in a .fimp file: index, name, [rank], [score] beneath a line of dashes."""
    head = enumerate(islice(document.lines(), 100), 1)
    rule = next((line_number for line_number, line in head if _is_rule(line)), None)
    if rule is None:
        raise InputError(
            f"{document.name} must be a .fimp file: a header that ends with a line of dashes; it has none."
        )

    def rows(columns: Sequence[int]) -> Iterator[Row]:
        for line, text in enumerate(document.lines(), 1):
            if line <= rule or not text.strip():
                continue
            fields = FIMP_ROW.fullmatch(text)
            if fields is None:
                raise InputError(
                    f"{document.name}, line {line} must be index, name, [rank] and [score], separated by tabs; "
                    f"got {shown(text.strip())}."
                )
            yield line, [fields[column + 1] for column in columns]

    return Table(document.name, FIMP_COLUMNS, (1.0, 0.0, 1.0, 1.0), rows, known=Roles(1, (3,), None), signed=True)


def _trec(document: Document) -> Table:
    """Return the table in a TREC run: one ranking per query."""

    def rows(columns: Sequence[int]) -> Iterator[Row]:
        for line, text in enumerate(document.lines(), 1):
            fields = text.split()
            if fields and len(fields) != len(TREC_COLUMNS):
                raise InputError(
                    f"{document.name}, line {line} must be '{' '.join(TREC_COLUMNS)}'; it has {len(fields)} fields: "
                    f"{shown(text.strip())}."
                )
            if fields:
                yield line, [fields[column] for column in columns]

    separator = "\t" if "\t" in document.first_lines(1)[0] else " "
    fast = delimited.fast(document, len(TREC_COLUMNS), separator, 0, quoted=False)
    numeric = (0.0, 0.0, 0.0, 1.0, 1.0, 0.0)
    return Table(document.name, TREC_COLUMNS, numeric, rows, fast=fast, known=Roles(2, (4,), 0))


class Pairs(list[tuple[str, Any]]):
    """A JSON object with all its pairs: a name may be repeated."""


def _json(document: Document) -> Table:
    """Return the table in a JSON document: an object of items, of rankings, or a list of records or items."""
    try:
        content = json.loads(document.text(), object_pairs_hook=Pairs)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{document.name}, line {error.lineno}, column {error.colno} must be JSON; {error.msg[0].lower()}"
            f"{error.msg[1:]}. Check the syntax there."
        ) from None
    except RecursionError:
        raise _other_shape(document, "too many levels") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{document.name} must hold numbers of ordinary length; {error}.") from None
    if not isinstance(content, list):
        raise _other_shape(document, f"only {shown(content)}")
    return _objects(document, content) if isinstance(content, Pairs) else _records(document, content)


def _other_shape(document: Document, what: str) -> InputError:
    """Return the error for JSON that is not one of the known shapes."""
    return InputError(
        f"{document.name} must be an object of item to score, an object of name to such objects, a list of records, or "
        f'a list of items, best first; it is {what}. Write it as one of these, for example {{"a": 0.5, "b": 0.2}}.'
    )


def _objects(document: Document, content: Pairs) -> Table:
    """Return the table in an object of item to score, or of name to such objects."""
    nested = [name for name, value in content if isinstance(value, Pairs)]
    other = next((name for name, value in content if not isinstance(value, Pairs)), None)
    if nested and other is not None:
        raise _other_shape(document, f"an object where {nested[0]!r} holds an object and {other!r} does not")
    cells = [(name, *pair) for name, pairs in content for pair in pairs] if nested else content
    empty = next((name for name, pairs in content if not pairs), None) if nested else None
    if not cells or empty is not None:
        where = document.name if empty is None else f"{document.name}, ranking {empty!r}"
        raise InputError(f"{where} must hold at least one item; it is an empty object.")
    for *_, item, score in cells:
        if isinstance(score, list):
            value = dict(score) if isinstance(score, Pairs) else score
            raise _other_shape(document, f"an object where {shown(item)} holds {shown(value)}")
    columns = ("ranking", "item", "score") if nested else ("item", "score")
    known = Roles(1, (2,), 0) if nested else Roles(0, (1,), None)

    def rows(positions: Sequence[int]) -> Iterator[Row]:
        for place, row in enumerate(cells, 1):
            yield place, [row[position] for position in positions]

    return Table(document.name, columns, (0.0,) * len(columns), rows, unit="item", known=known)


def _is_text(value: Any) -> bool:
    """Return whether a JSON value is text; 'NaN' and 'inf' are how some write what JSON cannot."""
    return isinstance(value, str) and ((parsed := number(value)) is None or isfinite(parsed))


def _records(document: Document, content: list[Any]) -> Table:
    """Return the table in a list of JSON records, or in a list of strings: one column of items."""
    header = not (content and all(isinstance(record, str) for record in content))
    wrong = [record for record in content if header and not isinstance(record, Pairs)]
    if wrong:
        raise _other_shape(document, f"a list with {shown(wrong[0])} in it")
    records = [dict(record) if header else {"item": record} for record in content]
    columns = tuple(dict.fromkeys(name for record in records for name in record))
    if not columns:
        raise InputError(f"{document.name} must hold at least one record; it is an empty list.")
    values = [[record.get(name) for record in records[: delimited.SAMPLE]] for name in columns]
    numeric = tuple(0.0 if any(map(_is_text, column)) else numeric_share(column) for column in values)

    def rows(positions: Sequence[int]) -> Iterator[Row]:
        for place, record in enumerate(records, 1):
            yield place, [record.get(columns[position]) for position in positions]

    unit = "record" if header else "item"
    return Table(document.name, columns, numeric, rows, values.__getitem__, unit=unit, header=header)
