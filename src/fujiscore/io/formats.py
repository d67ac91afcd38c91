"""How formats are recognised, and the table in a file of each."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import dropwhile, islice
from math import isfinite
from typing import TYPE_CHECKING, Any

from fujiscore.errors import InputError, shown, spelled
from fujiscore.io import arrays, columnar
from fujiscore.io.headers import SEPARATED, decimal_comma, has_header
from fujiscore.io.limits import JSON
from fujiscore.io.table import (
    FileTable,
    Group,
    Layout,
    Quoted,
    Roles,
    Row,
    is_foreign_number,
    no_rows,
    number,
    numeric_share,
    picked,
    require_distinct,
)

if TYPE_CHECKING:
    from fujiscore.io.documents import Document

LONGEST_FIELD = 16 * 2**20
# A name may be a megabyte; the module's own limit is that of all programs that use it, and is only raised.
csv.field_size_limit(max(csv.field_size_limit(), LONGEST_FIELD))
FORMATS = ("csv", "tsv", "parquet", "feather", "npy", "json", "fimp", "trec")
COLUMNAR = ("parquet", "feather", columnar.STREAM)
SUFFIXES = {
    ".tab": "tsv",
    ".pq": "parquet",
    ".arrow": "feather",
    ".run": "trec",
    ".svmlight": "libsvm",
    ".svm": "libsvm",
}
SUFFIXES |= {f".{name}": name for name in (*FORMATS, "arff", "libsvm")}
MAGIC = {b"PAR1": "parquet", b"ARROW1": "feather", b"\xff" * 4: columnar.STREAM, b"\x93NUMPY": "npy"}
TITLES = {"parquet": "Parquet", "feather": "Feather", "npy": "NumPy"}  # of formats that their first bytes prove
# Formats that are not read, by the place and value of some bytes, and what to do.
OTHERS = {
    (0, b"PK\x03\x04"): ("a zip archive, as .xlsx and .npz are", "Extract the file in it, or export it as CSV"),
    (0, b"PK\x05\x06"): ("an empty zip archive", "Name a file"),
    (0, b"7z\xbc\xaf"): ("a 7z archive", "Extract the file in it"),
    (0, b"\xd0\xcf\x11\xe0"): ("an old Office file, such as .xls", "Export the sheet as CSV"),
    (0, b"\x89HDF\r\n"): ("an HDF5 file, such as .h5 and .h5ad", "Export the table as CSV or Parquet"),
    (0, b"SQLite format 3\0"): ("an SQLite database", "Export the table as CSV"),
    (0, b"%PDF-"): ("a PDF", "Export the table as CSV"),
    (0, b"\x80\x04\x95"): ("a Python pickle", "Write it with to_csv or to_parquet"),
    (0, b"\x80\x05\x95"): ("a Python pickle", "Write it with to_csv or to_parquet"),
    (0, b"Obj\x01"): ("an Avro file", "Write it as Parquet"),
    (257, b"ustar"): ("a tar archive", "Extract the file in it"),
}
FEATHER_V1 = b"FEA1"
PAGE = re.compile(rb"(?is)(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html\b|html(?=[\s>])(?=.*</)|\?xml\s)")
# Columns of fixed formats, and whether they hold numbers.
FIMP = {"index": 1.0, "name": 0.0, "rank": 1.0, "score": 1.0}
TREC = {"qid": 0.0, "Q0": 0.0, "docid": 0.0, "rank": 1.0, "score": 1.0, "tag": 0.0}
FIMP_ROW = re.compile(r"([^\t]*)\t([^\t]*)\t *\[([^\[\],\t]*)\] *\t *\[([^\[\],\t]*)\]\s*")
QUOTED = r"""'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*\""""
ATTRIBUTE = re.compile(
    rf"@attribute\s+((?:{QUOTED})\s*|\S+\s+)((?:numeric|real|integer|string)(?!\S)|\{{)", re.IGNORECASE
)
VALUE = re.compile(rf"""\s*({QUOTED}|(?!['"\s])[^,]*|)\s*(,|$)""")  # one value of a row of ARFF, quoted or bare
ESCAPED = re.compile(r"""\\(.)|(['"])\2""")
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
ATTRIBUTE_SHAPE = "'@attribute name type', each name once, the type numeric, real, integer, string or {...}"
# As in trec_eval, only ASCII whitespace separates: a non-breaking space may be part of a label.
TREC_ROW = re.compile(r"\s*" + r"\s+".join([r"(\S+)"] * len(TREC)) + r"\s*", re.ASCII)
COMMENT = re.compile(r"(?:^|\s)#")  # in 1.#IND there is none
PAIR = re.compile(r"([0-9]+):(\S+)")  # libsvm's index:value
SEPARATORS = ("\t", ";", "|", ",")  # if two fit equally well, not the comma: it may be a decimal comma
SAMPLE = 500  # rows that tell the separator, the header and the kinds of the columns
SAMPLE_CELLS = 200_000
SPARSE = 10  # cells per value that a list of JSON records may have
OTHER_SEPARATORS = ":=#^~& "  # not read, but recognised where each line ends with a number after one


def detect(document: Document, named: str | None, formats: Sequence[str]) -> str:
    """Return the format, one of those given: by its first bytes, its extension, or its first lines."""
    by_suffix = SUFFIXES.get(document.unpacked.suffix.lower())
    marked = (name for magic, name in MAGIC.items() if _begins(document, magic, name in {named, by_suffix}))
    proven = next(marked, None)
    name = proven if proven == columnar.STREAM and named in {None, "feather"} else named or proven
    name = name or (by_suffix if by_suffix in formats else None)
    allowed = ", ".join(formats)
    # pyarrow does not check these at all: one wrong byte ends the process.
    if _begins(document, FEATHER_V1, by_suffix == "feather"):
        need = "must be a Feather file of version 2; it has version 1, which pyarrow has given up"
        raise InputError(f"{document.name} {need}. Read it with pandas.read_feather, and write it again.")
    if name in {*COLUMNAR, "npy"}:
        if proven != name:
            must = f"{document.name} must be a {TITLES[name]} file; its first bytes are not those of one"
            raise InputError(f"{must}. Name its format with {spelled('format')}: {allowed}.")
        if name == "npy" and name not in formats:
            must = f"{document.name} must have names of columns; a NumPy array has none"
            raise InputError(f"{must}. Write it as a table with a header, such as CSV or Parquet.")
        return name
    others = [about for (place, magic), about in OTHERS.items() if document.head.startswith(magic, place)]
    if others:
        what, remedy = others[0]
        raise InputError(f"{document.name} must be text, Parquet, Feather or NumPy; it is {what}. {remedy}.")
    if page := PAGE.match(document.head):
        kind = "a web page (HTML)" if b"html" in page[0].lower() else "an XML document"
        raise InputError(
            f"{document.name} must be one of {allowed}; it is {kind}. Was a page saved in place of the file that it "
            "links to, or is it that of an error or a login? Download the file itself."
        )
    if document.encoding == "utf-8" and b"\0" in document.head:
        raise InputError(
            f"{document.name} must be text, Parquet, Feather or NumPy; it is another kind of binary file, or UTF-16 "
            f"without a byte order mark. Save it as UTF-8, or export it as one of {allowed}."
        )
    likely = name or _look(document)
    return likely if likely in formats else "csv"


def is_stored_parquet(document: Document) -> bool:
    """Return whether a file is Parquet that pyarrow and DuckDB can open themselves: on disk, not compressed."""
    named = SUFFIXES.get(document.unpacked.suffix.lower()) == "parquet"
    return document.regular and document.compression is None and _begins(document, b"PAR1", named)


def _begins(document: Document, magic: bytes, expected: bool) -> bool:
    """Return whether a file begins with the mark of a format; unless that is expected, PAR1 may be an item's name."""
    following = document.head[len(magic) : len(magic) + 1].decode("ascii", "ignore")
    text = following.isprintable() or following.isspace() if following else False
    return document.head.startswith(magic) and (expected or not text or not magic.isascii())


def _look(document: Document) -> str:
    """Return the format that the first lines of a text suggest."""
    lines = [line.strip() for line in document.first_lines(50) if line.strip()]
    if lines[0][0] in "{[":
        return "json"
    if any(map(_is_rule, lines)):
        return "fimp"
    runs = [TREC_ROW.fullmatch(line) for line in lines]
    if all(row is not None and row[2].upper() == "Q0" and number(row[5]) is not None for row in runs):
        return "trec"
    if next((line for line in lines if not line.startswith("%")), "").lower().startswith(("@relation", "@attribute")):
        return "arff"
    label, *words = lines[0].split()
    return "libsvm" if words and all(map(PAIR.fullmatch, words)) and number(label) is not None else "csv"


def table(document: Document, name: str, *, data: bool = False) -> FileTable:
    """Return the table in a file of rankings or of data."""
    if name in COLUMNAR:
        return columnar.table(document.name, name, document.whole())
    readers: dict[str, Callable[[Document], FileTable]] = {
        "fimp": _fimp,
        "trec": _trec,
        "json": _json,
        "arff": _arff,
        "npy": arrays.table,
    }
    return readers[name](document) if name in readers else _delimited(document, data=data)


def _delimited(document: Document, *, data: bool) -> FileTable:
    """Return the table in a delimited file, of rankings or of data, as its first rows show it."""
    separator = _separator(document, document.first_lines(SAMPLE))
    parsed = _closed(document, separator)
    start, first = next(parsed, (0, [""]))
    body = [row for _, row in islice(parsed, _sample_size(len(first)))]
    width = _width([first, *body])
    header = has_header(document.name, [first, *body], width, separator, data=data)
    if not header:
        body = [first, *body]
    if not body:
        raise no_rows(document.name)
    names = _names(document, first, body, width, separator) if header else [str(column + 1) for column in range(width)]
    values = {name: [row[column] for row in body if column < len(row)] for column, name in enumerate(names)}
    skip = start if header else 0
    rows = picked(names, partial(_fields, document, separator, skip, width))
    numeric = {name: numeric_share(cells) for name, cells in values.items()}
    table = FileTable(document.name, numeric, rows, values.__getitem__, header=header)
    return _with_arrow(table, document, Layout(names, separator, skip))


def _sample_size(columns: int) -> int:
    """Return how many rows show what so many columns hold."""
    return max(20, min(SAMPLE, SAMPLE_CELLS // columns))


def _with_arrow(table: FileTable, document: Document, layout: Layout) -> FileTable:
    """Return the table of a delimited file, read through pyarrow if that can be done and the file is large."""
    table = replace(table, layout=layout)
    if not document.large or document.encoding not in {"utf-8", "utf-8-sig"} or find_spec("pyarrow") is None:
        return table

    def fast(roles: Roles, unique: bool) -> list[Group] | None:
        return columnar.delimited(document, layout, roles, lambda parts: columnar.rankings_in(parts, roles, unique))

    return replace(table, fast=fast, arrow=partial(columnar.delimited, document, layout))


def _parse(document: Document, lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the number of its last line."""
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=separator == " ")
    line = blank = 0
    try:
        for row in reader:
            line = reader.line_num
            if len(row) > 1 or (row and row[0].strip()):
                blank = 0
                yield line, row
            else:
                blank = document.blank_so_far(blank, line)
    except csv.Error:
        must = f"a field must have at most {csv.field_size_limit():,} characters; one has more"
        raise InputError(f"{document.name}, line {line + 1}: {must}. Is a quote opened and never closed?") from None


def _separator(document: Document, lines: list[str]) -> str:
    """Return the separator that splits the first rows most regularly, preferably into a column of numbers."""
    merits = {separator: _merit(document, lines, separator) for separator in SEPARATORS}
    best = max(merits, key=lambda separator: merits[separator])
    if best == ",":
        best = next((other for other in SEPARATORS[:3] if _has_decimal_commas(lines, other)), best)
    if merits[best][0] < 1 and not _is_ragged(lines, merits[best]):
        spaced = _merit(document, lines, " ")
        if spaced[::2] == (1, True) and (spaced[1] or not _has_separator(lines[0])):
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


def _is_ragged(lines: list[str], merit: tuple[float, bool, bool]) -> bool:
    """Return whether most lines have a separator, so that blanks are part of cells, and the other lines are wrong."""
    tabs = sum("\t" in line for line in lines)
    if 2 * tabs >= len(lines) or (merit[0] >= 0.5 and merit[2]):
        return True
    numbers = all(number(line.split()[-1]) is not None for line in lines[1:] if line.strip())
    return _has_separator(lines[0]) and not numbers


def _has_separator(line: str) -> bool:
    return any(separator in line for separator in SEPARATORS)


def _has_decimal_commas(lines: list[str], separator: str) -> bool:
    """Return whether most lines have another separator than the comma, and commas only in the numbers behind it."""
    if separator in lines[0] and "," not in lines[0]:
        return 2 * sum(separator in line for line in lines) > len(lines)
    number_behind = re.compile(re.escape(separator) + r'"?[+-]?[0-9.]+,[0-9]')
    return 2 * sum(number_behind.search(line) is not None for line in lines) > len(lines)


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
    width = _width(rows) if rows else 0
    if width < 2:
        return sum(len(row) > 1 for row in rows) / max(len(rows), 1) / 2, False, False
    alike = [row for row in rows[1:] if len(row) == width]
    regular = len(alike) + (len(rows[0]) in {width, width - 1})
    columns = zip(*(alike or rows), strict=True)
    # 0,5 and 90% are not numbers here, but tell the separator as well as 0.5 does.
    numbers = any(all(number(cell) is not None or is_foreign_number(cell) for cell in column) for column in columns)
    return regular / len(rows), len(rows[0]) == width, numbers


def _width(rows: list[list[str]]) -> int:
    """Return the number of fields that most rows beneath the first have."""
    widths = [len(row) for row in rows[1:] or rows]
    return max(dict.fromkeys([len(rows[0]), *widths]), key=widths.count)


def _names(document: Document, first: list[str], body: list[list[str]], width: int, separator: str) -> list[str]:
    """Return the columns' names; R's header leaves out the first, that of the row names."""
    names = [*([""] if len(first) == width - 1 else []), *(cell.strip() for cell in first)]
    if len(names) != width:
        advice = decimal_comma([row for row in body if len(row) == width], separator)
        raise _uneven(document, 1, names, width, advice)
    require_distinct(document.name, names)
    return names


def _uneven(document: Document, line: int, row: list[str], width: int, advice: str) -> InputError:
    """Return the error for a row that has not as many fields as the others."""
    breaks = "".join(row).rstrip("\n").count("\n")
    where = f"lines {line - breaks} to {line}" if breaks else f"line {line}"
    return InputError(
        f"{document.name}, {where} must have {width} fields, as the other rows; it has {len(row)}. Quote "
        f"fields that contain the separator, and close every quote.{advice}"
    )


def _fields(document: Document, separator: str, skip: int, width: int) -> Iterator[Row]:
    """Yield the rows beneath the header, which must all have the same number of fields."""
    for line, row in _closed(document, separator):
        if line <= skip:
            continue
        if len(row) != width:
            raise _uneven(document, line, row, width, decimal_comma([row], separator))
        yield line, row


def _closed(document: Document, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a file, or raise where a quote that is opened and not closed makes one of several lines."""
    recent: deque[str] = deque()

    def remembered() -> Iterator[str]:
        for line in document.lines():
            recent.append(line)
            yield line

    for line, row in _parse(document, remembered(), separator):
        if (len(recent) > 1 and any("\n" in cell or "\r" in cell for cell in row)) or row[-1].endswith(("\n", "\r")):
            _require_closed(document, line, list(recent), row, separator)
        recent.clear()
        yield line, row


def _require_closed(document: Document, line: int, lines: list[str], row: list[str], separator: str) -> None:
    """Raise if the lines of one row may be several: a quote in them ends in the middle of a field, or nowhere."""
    record = list(dropwhile(lambda text: not text.strip(), lines))
    try:
        list(csv.reader(record, delimiter=separator, skipinitialspace=separator == " ", strict=True))
    except csv.Error:
        several = True
    else:
        several = _may_be_rows(row, separator)
    if several:
        raise InputError(
            f"{document.name}, lines {line - len(record) + 1} to {line} must be rows; a quote makes them one of "
            f"{len(row)} fields, which may be several rows. To separate them, close every quote; inside quotes, "
            "write a quote twice."
        )


def _may_be_rows(row: list[str], separator: str) -> bool:
    """Return whether a line within a field, or each line of the row, has as many fields and numbers where it has."""
    numbers = [at for at, cell in enumerate(row) if cell.strip() and number(cell) is not None]

    def alike(line: str) -> bool:
        cells = line.split(separator)
        return len(cells) == len(row) and all(number(cells[at]) is not None for at in numbers)

    within = [line for cell in row for line in cell.splitlines()[1:]]
    return any(map(alike, within)) or all(map(alike, separator.join(row).splitlines()))


def _is_rule(line: str) -> bool:
    """Return whether a line consists of dashes, as the last of a .fimp header does."""
    return len(line.strip()) >= 10 and not line.strip("-\r\n")


def _rows(document: Document, start: int, shape: str, split: Callable[[str], Sequence[Any] | None]) -> Iterator[Row]:
    """Yield the rows after the first `start` lines: None from `split` is an error, no fields are no row."""
    for line, text in islice(enumerate(document.lines(), 1), start, None):
        fields = split(text) if text.strip() else ()
        if fields is None:
            raise InputError(f"{document.name}, line {line} must be {shape}; got {shown(text.strip())}.")
        if fields:
            yield line, fields


def _matched(row: re.Pattern[str]) -> Callable[[str], Sequence[str] | None]:
    """Return a function that splits a line into the groups of a pattern, None if it does not match."""
    return lambda text: (match := row.fullmatch(text)) and match.groups()


def _fimp(document: Document) -> FileTable:
    """Return the table in a .fimp file: index, name, [rank], [score] beneath a line of dashes."""
    head = enumerate(islice(document.lines(), 100), 1)
    rule = next((line for line, text in head if _is_rule(text)), None)
    if rule is None:
        raise InputError(f"{document.name} must be a .fimp file with a line of dashes above the table; it has none.")

    rows = partial(_rows, document, rule, "index, name, [rank] and [score], separated by tabs", _matched(FIMP_ROW))
    return FileTable(document.name, FIMP, picked(FIMP, rows), known=Roles("name", ["score"]), signed=True)


def _trec(document: Document) -> FileTable:
    """Return the table in a TREC run: one ranking per query."""
    rows = partial(_rows, document, 0, f"'{' '.join(TREC)}'", _matched(TREC_ROW))
    lines = document.first_lines(SAMPLE)
    separator = "\t" if "\t" in lines[0] else " "

    def sample(name: str) -> list[str]:
        fields = (line.split() for line in lines)
        return [row[list(TREC).index(name)] for row in fields if len(row) == len(TREC)]

    table = FileTable(document.name, TREC, picked(TREC, rows), sample, known=Roles("docid", ["score"], "qid"))
    return _with_arrow(table, document, Layout(list(TREC), separator, 0, blanks=True))


def _arff(document: Document) -> FileTable:
    """Return the table in a dense ARFF file: numeric, nominal and text attributes."""
    numeric: dict[str, float] = {}
    for start, line in enumerate(document.lines(), 1):
        text = line.strip()
        if text.lower().startswith("@data"):
            break
        if text.lower().startswith("@attribute"):
            match = ATTRIBUTE.match(text)
            name = str(_unquoted(match[1].strip())) if match else ""
            if match is None or name in numeric:
                raise InputError(f"{document.name}, line {start} must be {ATTRIBUTE_SHAPE}; got {shown(text)}.")
            numeric[name] = float(match[2].lower() in {"numeric", "real", "integer"})
    else:
        raise InputError(f"{document.name} must be an ARFF file; it has no line @data.")

    def split(text: str) -> Sequence[str] | None:
        if text.lstrip().startswith("%"):
            return ()
        row = _values(text.strip())
        return row if len(row) == len(numeric) and not text.lstrip().startswith("{") else None

    shape = f"{len(numeric)} values, one per @attribute (dense, not sparse ARFF)"
    return FileTable(document.name, numeric, picked(numeric, partial(_rows, document, start, shape, split)))


def _values(row: str) -> list[str]:
    """Return the values in a row of ARFF, each quoted or not by itself; none if a quote is not closed."""
    values, end = [], 0
    while match := VALUE.match(row, end):
        values.append(_unquoted(match[1]))
        end = match.end()
        if not match[2]:
            return values
    return []


def _unquoted(value: str) -> str:
    """Return a value of ARFF: without quotes and escapes if it is in quotes, or else as it stands."""
    if value[:1] not in {"'", '"'}:
        return value.strip()
    return Quoted(ESCAPED.sub(lambda match: match[2] or ESCAPES.get(match[1], match[1]), value[1:-1]))


def libsvm(document: Document) -> Iterator[tuple[float, list[tuple[int, float]]]]:
    """Yield the class and the pairs of feature and value in every row of a libsvm file."""

    def split(text: str) -> Sequence[Any] | None:
        fields = COMMENT.split(text, maxsplit=1)[0].split()
        pairs = [PAIR.fullmatch(field) for field in fields[1:] if not field.startswith("qid:")]
        row = [(int(pair[1]), number(pair[2])) for pair in pairs if pair]
        values = [number(fields[0]) if fields else 0.0, *(value for _, value in row)]
        if len(dict(row)) < len(pairs) or None in values:
            return None
        return (values[0], row) if fields else ()

    return (row for _, row in _rows(document, 0, "'class index:value ...' with each index once", split))  # type: ignore[misc]


class Pairs(list[tuple[str, Any]]):
    """A JSON object with all its pairs: a name may be repeated."""


def _json(document: Document) -> FileTable:
    """Return the table in a JSON document: an object of items, of rankings, or a list of records or items."""
    text = document.text(JSON)
    try:
        content = json.loads(text, object_pairs_hook=Pairs)
        if not isinstance(content, list):
            raise _other_shape(document, f"only {shown(content)}")
        return _objects(document, content) if isinstance(content, Pairs) else _records(document, content)
    except json.JSONDecodeError as error:
        where = f"{document.name}, line {error.lineno}, column {error.colno}"
        raise InputError(f"{where} must be JSON; {error.msg[0].lower()}{error.msg[1:]}. Check the syntax.") from None
    except InputError:
        raise
    except RecursionError:
        raise _other_shape(document, "too many levels") from None
    except ValueError as error:
        raise InputError(f"{document.name} must hold numbers of ordinary length; {error}.") from None


def _other_shape(document: Document, what: str) -> InputError:
    """Return the error for JSON that is not one of the known shapes."""
    return InputError(
        f"{document.name} must be an object of item to score, an object of name to such objects, a list of records, or "
        f'a list of items, best first; it is {what}. Write, for example, {{"a": 0.5, "b": 0.2}}.'
    )


def _objects(document: Document, content: Pairs) -> FileTable:
    """Return the table in an object of item to score, or of name to such objects."""
    nested = [name for name, value in content if isinstance(value, Pairs)]
    other = [name for name, value in content if not isinstance(value, Pairs)]
    repeated = [name for name, count in Counter(nested).items() if count > 1]
    if repeated:
        raise InputError(f"{document.name} must name each ranking once; {shown(repeated[0])} occurs twice. Rename one.")
    if nested and other:
        raise _other_shape(document, f"an object where {nested[0]!r} holds an object and {other[0]!r} does not")
    empty = [f", ranking {name!r}" for name, pairs in content if nested and not pairs]
    if empty or not content:
        raise InputError(f"{document.name}{''.join(empty[:1])} must hold at least one item; it is an empty object.")
    cells = [(name, *pair) for name, pairs in content for pair in pairs] if nested else content
    for *_, item, score in cells:
        if isinstance(score, list):
            value = dict(score) if isinstance(score, Pairs) else score
            raise _other_shape(document, f"an object where {shown(item)} holds {shown(value)}")
    numeric = dict.fromkeys(("ranking", "item", "score") if nested else ("item", "score"), 0.0)
    known = Roles("item", ["score"], "ranking" if nested else None)
    return FileTable(document.name, numeric, picked(numeric, lambda: enumerate(cells, 1)), unit="item", known=known)


def _records(document: Document, content: list[Any]) -> FileTable:
    """Return the table in a list of JSON records, or in a list of strings: one column of items."""
    items = bool(content) and all(isinstance(record, str) for record in content)
    wrong = [record for record in content if not (items or isinstance(record, Pairs))]
    if wrong:
        raise _other_shape(document, f"a list with {shown(wrong[0])} in it")
    for place, record in enumerate(content if not items else (), 1):
        if len(dict(record)) < len(record):
            name = next(name for name, count in Counter(name for name, _ in record).items() if count > 1)
            once = f"must have each name once; {shown(name)} occurs twice"
            raise InputError(f"{document.name}, record {place} {once}. Remove or rename one.")
    records = [{"item": record} if items else dict(record) for record in content]
    columns = dict.fromkeys(name for record in records for name in record)
    if not columns:
        raise InputError(f"{document.name} must hold at least one record; it is an empty list.")
    cells, filled = len(records) * len(columns), sum(map(len, records))
    if cells > SPARSE * max(filled, SAMPLE_CELLS):  # their table would be far larger than they are
        few = f"{len(records):,} records have {len(columns):,} names in all, and {filled:,} values"
        raise InputError(f"{document.name} must be a list of records with the same names; {few}.")

    def rows(names: Sequence[str]) -> Iterator[Row]:
        return ((place, [record.get(name) for name in names]) for place, record in enumerate(records, 1))

    sample = records[: _sample_size(len(columns))]
    values = {name: [record.get(name) for record in sample] for name in columns}

    def is_text(value: Any) -> bool:  # "NaN" and "inf" are how some write what JSON cannot
        return isinstance(value, str) and ((parsed := number(value)) is None or isfinite(parsed))

    numeric = {name: 0.0 if any(map(is_text, cells)) else numeric_share(cells) for name, cells in values.items()}
    unit = "item" if items else "record"
    return FileTable(document.name, numeric, rows, values.__getitem__, unit=unit, header=not items)
