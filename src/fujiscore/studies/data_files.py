"""Tables of features in files: delimited text, ARFF, libsvm, Parquet, Feather. Imports documents and errors."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, choice
from fujiscore.readers import columnar
from fujiscore.readers.documents import document
from fujiscore.readers.tables import distinct, number, numeric_share, shown

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from fujiscore.readers.documents import Document

FORMATS = ("csv", "tsv", "parquet", "feather", "arff", "libsvm")
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".arff": "arff",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".svm": "libsvm",
}
SEPARATORS = ("\t", ";", ",", "|")
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "?")
SAMPLE = 500  # rows that tell which columns hold numbers
CHUNK = 20_000  # rows converted at once: as text a table takes ten times its size
LARGEST_DENSE = 2**32  # bytes of a libsvm file's table
PAIR = re.compile(r"(\d+):(\S+)")
ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s*(.*)""", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a file: numbers as float64 (NaN: missing), text as objects (None: missing)."""

    file: str
    names: list[str]
    values: list[NDArray[Any]]


def read_columns(path: str | os.PathLike[str], kind: str | None = None, categorical: Collection[str] = ()) -> Columns:
    """Return all columns of a file; those named in `categorical` as text, whatever they hold."""
    if kind is not None:
        choice("format", kind, FORMATS)
    if Path(path).is_file() and Path(path).stat().st_size == 0:
        raise InputError(f"{path} must hold a table; it is empty.")
    found = document(path)
    chosen = kind or _detect(found)
    if chosen in {"parquet", "feather"}:
        return _columnar(found, chosen, categorical)
    if chosen == "arff":
        return _arff(found, categorical)
    return _libsvm(found) if chosen == "libsvm" else _delimited(found, categorical, "\t" if chosen == "tsv" else None)


def _detect(found: Document) -> str:
    """Return the format: by the first bytes, the extension, or what the first line looks like."""
    for magic, name in ((b"PAR1", "parquet"), (b"ARROW1", "feather"), (b"FEA1", "feather")):
        if found.head.startswith(magic):
            return name
    if found.suffix in SUFFIXES:
        return SUFFIXES[found.suffix]
    if b"\0" in found.head:
        raise InputError(f"{found.name} must be a table; it is another kind of binary file: {', '.join(FORMATS)}.")
    lines = [line.strip() for line in islice(found.lines(), 50)]
    text = [line for line in lines if line and not line.startswith("%")]
    if text and text[0].lower().startswith(("@relation", "@attribute")):
        return "arff"
    fields = text[0].split() if text else []
    pairs = len(fields) > 1 and all(PAIR.fullmatch(field) for field in fields[1:])
    return "libsvm" if pairs and number(fields[0]) is not None else "csv"


# Delimited text


def _delimited(found: Document, categorical: Collection[str], separator: str | None) -> Columns:
    """Return the columns of a delimited file with a header."""
    first = next((line for line in found.lines() if line.strip()), "")
    chosen = separator or max(SEPARATORS, key=lambda own: len(next(csv.reader([first], delimiter=own))))
    rows = _rows(found, chosen)
    _, header = next(rows)
    names = [cell.strip() for cell in header]
    _check_header(found, names)
    sample = list(islice(rows, SAMPLE))
    if not sample:
        raise InputError(f"{found.name} must hold rows; it has a header and nothing beneath it.")
    columns = list(zip(*(row for _, row in sample), strict=True))
    shares = [numeric_share(None if cell.strip() in MISSING else cell for cell in column) for column in columns]
    text = [name in categorical or share < 0.5 for name, share in zip(names, shares, strict=True)]
    for name, own, column in zip(names, text, columns, strict=True):
        if own and name not in categorical:
            _no_decimal_comma(found, name, column)
    parts: list[list[Any]] = [[] for _ in names]
    _convert(found, names, text, sample, parts)
    while chunk := list(islice(rows, CHUNK)):
        _convert(found, names, text, chunk, parts)
    return Columns(found.name, names, [np.concatenate(own) for own in parts])


def _rows(found: Document, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank with their line; each must have as many fields as the first."""
    reader = csv.reader(found.lines(), delimiter=separator)
    width = 0
    try:
        for row in reader:
            if not row or (len(row) == 1 and not row[0].strip()):
                continue
            width = width or len(row)
            if len(row) != width:
                raise InputError(
                    f"{found.name}, line {reader.line_num} must have {width} fields, as the header has; it has "
                    f"{len(row)}. Quote fields that contain the separator."
                )
            yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{found.name}, line {reader.line_num} must be delimited text: {error}.") from None


def _check_header(found: Document, names: list[str]) -> None:
    """Raise unless the first line names two columns or more, each once."""
    if len(names) < 2:
        raise InputError(
            f"{found.name} must have at least two columns, separated by comma, tab, semicolon or |; its first line is "
            f"one: {shown(names[0])}."
        )
    counted = names == [str(at) for at in range(len(names))]  # the names of a table that had none
    if not counted and all(name not in MISSING and number(name) is not None for name in names):
        raise InputError(f"{found.name}, line 1 must name the columns; it holds numbers. Add a header.")
    distinct(found.name, names)


def _no_decimal_comma(found: Document, name: str, column: Sequence[str]) -> None:
    """Raise if text becomes numbers once decimal commas are points."""
    if numeric_share(cell.replace(",", ".", 1) for cell in column if cell.strip() not in MISSING) == 1:
        example = next((cell for cell in column if "," in cell), None)
        if example is not None:
            raise InputError(
                f"{found.name}, column {name!r} must hold numbers with a decimal point; got {shown(example)}."
            )


def _convert(
    found: Document,
    names: Sequence[str],
    text: Sequence[bool],
    rows: Sequence[tuple[int, list[str]]],
    parts: list[list[Any]],
) -> None:
    """Append some rows to each column's parts, as numbers or as text."""
    lines = [line for line, _ in rows]
    for name, own, part, column in zip(names, text, parts, zip(*(row for _, row in rows), strict=True), strict=True):
        part.append(_as_text(column) if own else _as_numbers(found.name, name, column, lines))


def _as_text(column: Sequence[str | None]) -> NDArray[Any]:
    """Return text, None where it is missing."""
    cells = [None if cell is None or cell.strip() in MISSING else cell.strip() for cell in column]
    return np.array([*cells, None], np.object_)[:-1]


def _as_numbers(file: str, name: str, column: Sequence[str], lines: Sequence[int]) -> NDArray[np.float64]:
    """Return numbers, NaN where they are missing, or say where there is something else."""
    try:
        return np.array(column, np.float64)
    except ValueError:
        found = [number("" if cell.strip() in MISSING else cell) for cell in column]
    for line, cell, value in zip(lines, column, found, strict=True):
        if value is None:
            raise InputError(
                f"{file}, line {line}, column {name!r} must hold a number, as most of the column does; got "
                f"{shown(cell)}. Mend it, leave it empty, or name the column as categorical."
            )
    return np.array(found, np.float64)


# ARFF


def _arff(found: Document, categorical: Collection[str]) -> Columns:
    """Return the columns of an ARFF file: numeric, nominal and text attributes, ? for missing values."""
    names: list[str] = []
    text: list[bool] = []
    start = 0
    for at, line in enumerate(found.lines(), 1):
        stripped = line.strip()
        if stripped.lower().startswith("@data"):
            start = at
            break
        if stripped.lower().startswith("@attribute"):
            name, own = _attribute(found, at, stripped)
            names.append(name)
            text.append(own or name in categorical)
    if not start or not names:
        missing = "attributes" if start else "line @data"
        raise InputError(f"{found.name} must be an ARFF file with @attribute lines and @data; it has no {missing}.")
    distinct(found.name, names)
    parts: list[list[Any]] = [[] for _ in names]
    rows = _arff_rows(found, start, len(names))
    while chunk := list(islice(rows, CHUNK)):
        _convert(found, names, text, chunk, parts)
    if not parts[0]:
        raise InputError(f"{found.name} must hold rows; there are none beneath @data.")
    return Columns(found.name, names, [np.concatenate(own) for own in parts])


def _attribute(found: Document, line: int, text: str) -> tuple[str, bool]:
    """Return an attribute's name, and whether it holds text."""
    match = ATTRIBUTE.match(text)
    if match is None:
        raise InputError(f"{found.name}, line {line} must be '@attribute name type'; got {shown(text)}.")
    name, kind = match[1].strip("'\""), match[2].strip().lower()
    if kind.split(" ")[0] in {"numeric", "real", "integer"}:
        return name, False
    if kind.startswith("{") or kind.split(" ")[0] == "string":
        return name, True
    raise InputError(
        f"{found.name}, line {line}: the type of {name!r} must be numeric, real, integer, string or {{...}}; got "
        f"{shown(match[2].strip())}. Leave the attribute out of the file."
    )


def _arff_rows(found: Document, start: int, width: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows beneath @data."""
    for at, line in enumerate(found.lines(), 1):
        text = line.strip()
        if at <= start or not text or text.startswith("%"):
            continue
        if text.startswith("{"):
            raise InputError(f"{found.name}, line {at}: sparse ARFF is not read. Save it as dense ARFF or as CSV.")
        quote = "'" if "'" in text else '"'
        row = next(csv.reader([text], quotechar=quote, skipinitialspace=True, escapechar="\\"))
        if len(row) != width:
            raise InputError(f"{found.name}, line {at} must have {width} values, as @attribute has; it has {len(row)}.")
        yield at, row


# libsvm


def _libsvm(found: Document) -> Columns:
    """Return the columns of a libsvm (svmlight) file: `target`, then the features by their number."""
    labels: list[float] = []
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    for at, line in enumerate(found.lines(), 1):
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        label = number(fields[0])
        pairs = [PAIR.fullmatch(field) for field in fields[1:] if not field.startswith("qid:")]
        if label is None or any(pair is None or number(pair[2]) is None for pair in pairs):
            raise InputError(f"{found.name}, line {at} must be 'class index:value ...'; got {shown(line.strip())}.")
        rows += [len(labels)] * len(pairs)
        columns += [int(pair[1]) for pair in pairs if pair]
        values += [float(pair[2]) for pair in pairs if pair]
        labels.append(label)
    if not columns:
        raise InputError(f"{found.name} must hold features as index:value; it has none.")
    first = 0 if min(columns) == 0 else 1
    width = max(columns) + 1 - first
    if width * len(labels) * 8 > LARGEST_DENSE:
        raise InputError(
            f"{found.name} must fit in memory as a dense table; {len(labels):,} rows of {width:,} features do not. "
            "Select features or rows first."
        )
    dense = np.zeros((width, len(labels)))
    dense[np.array(columns) - first, rows] = values
    return Columns(found.name, ["target", *(str(at + first) for at in range(width))], [np.array(labels), *dense])


# Parquet and Feather


def _columnar(found: Document, kind: str, categorical: Collection[str]) -> Columns:
    """Return the columns of a Parquet or Feather file."""
    columnar.need(f"reading {kind.capitalize()}")
    import pyarrow as pa
    from pyarrow import feather, parquet

    read = parquet.read_table if kind == "parquet" else feather.read_table
    try:
        table = read(found.whole())
    except (pa.ArrowException, OSError):
        raise InputError(
            f"{found.name} must be a whole {kind.capitalize()} file; it is damaged or cut off. Write it again."
        ) from None
    names = list(table.column_names)
    distinct(found.name, names)
    if table.num_rows == 0:
        raise InputError(f"{found.name} must hold rows; it has none.")
    values = [_arrow(column, own in categorical) for column, own in zip(table.columns, names, strict=True)]
    return Columns(found.name, names, values)


def _arrow(column: Any, as_text: bool) -> NDArray[Any]:
    """Return an Arrow column: numbers as numbers, bools, text and categories as text, dates as they are."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if numeric and not as_text and not pa.types.is_dictionary(column.type):
        numbers: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy()
        return numbers
    if pa.types.is_temporal(kind) and not as_text:
        return np.array([*column.to_pylist(), None], np.object_)[:-1]
    return _as_text([None if value is None else str(value) for value in column.to_pylist()])
