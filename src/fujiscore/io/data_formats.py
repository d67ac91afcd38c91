"""Tables of features in files: delimited text, ARFF, libsvm, Parquet, Feather. Imports formats, delimited, columnar."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, choice, spelled
from fujiscore.io import columnar, delimited
from fujiscore.io.documents import document
from fujiscore.io.formats import PAIR, detect
from fujiscore.io.table import MISSING, not_a_number, number, numeric_share, shown

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from fujiscore.io.documents import Document
    from fujiscore.io.table import Row

FORMATS = ("csv", "tsv", "parquet", "feather", "arff", "libsvm")
CHUNK = 20_000  # rows converted at once: as text a table takes ten times its size
LARGEST_DENSE = 2**32  # bytes of a libsvm file's table
ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s*(.*)""", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a file: numbers as float64 (NaN: missing), text as objects (None: missing)."""

    file: str
    names: list[str]
    values: list[NDArray[Any]]
    target: str | None = None  # where the source implies it


def read_columns(path: str | os.PathLike[str], format: str | None = None, categorical: Collection[str] = ()) -> Columns:
    """Return all columns of a file; those named in `categorical` as text, whatever they hold."""
    if format is not None:
        choice("format", format, FORMATS)
    file = document(path)
    name = detect(file, format, FORMATS)
    if name in {"parquet", "feather"}:
        columns = columnar.arrays(file.name, name, file.whole(), categorical)
        if not columns or not next(iter(columns.values())).size:
            raise InputError(f"{file.name} must hold at least one row; it has none.")
        return Columns(file.name, list(columns), list(columns.values()))
    if name == "libsvm":
        return _libsvm(file)
    return _arff(file, categorical) if name == "arff" else _delimited(file, categorical)


def _delimited(file: Document, categorical: Collection[str]) -> Columns:
    """Return the columns of a delimited file with a header."""
    table = delimited.table(file, data=True)
    text = [name in categorical or share < 0.5 for name, share in zip(table.columns, table.numeric, strict=True)]
    for position, name in enumerate(table.columns):
        if text[position] and name not in categorical:
            _require_points(file, name, table.sample(position))
    return _converted(file, table.columns, text, table.rows(range(len(text))))


def _require_points(file: Document, name: str, cells: Sequence[str]) -> None:
    """Raise if text becomes numbers once decimal commas are points."""
    example = next((cell for cell in cells if "," in cell), None)
    if example is not None and numeric_share(cell.replace(",", ".", 1) for cell in cells) == 1:
        raise InputError(f"{file.name}, column {name!r} must hold numbers with a decimal point; got {shown(example)}.")


def _converted(file: Document, names: Sequence[str], text: Sequence[bool], rows: Iterator[Row]) -> Columns:
    """Return the columns of rows of text, as numbers or as text."""
    parts: list[list[NDArray[Any]]] = [[] for _ in names]
    while chunk := list(islice(rows, CHUNK)):
        lines = [line for line, _ in chunk]
        for position, cells in enumerate(zip(*(row for _, row in chunk), strict=True)):
            as_text = text[position]
            parts[position].append(_as_text(cells) if as_text else _as_numbers(file, names[position], cells, lines))
    if not parts or not parts[0]:
        raise InputError(f"{file.name} must hold at least one row; it has a header and nothing beneath it.")
    return Columns(file.name, list(names), [np.concatenate(part) for part in parts])


def _as_text(cells: Sequence[str]) -> NDArray[Any]:
    """Return text, None where it is missing."""
    stripped = [cell.strip() for cell in cells]
    return np.array([*(None if cell in MISSING else cell for cell in stripped), None], np.object_)[:-1]


def _as_numbers(file: Document, name: str, cells: Sequence[str], lines: Sequence[int]) -> NDArray[np.float64]:
    """Return numbers, NaN where they are missing, or say where there is something else."""
    joined = "".join(cells)
    if joined.isascii() and "_" not in joined:  # NumPy accepts 1_2 and the digits of all scripts; we do not
        try:
            return np.array(cells, np.float64)
        except ValueError:
            pass
    values = [number(cell) for cell in cells]
    if None in values:
        wrong = values.index(None)
        remedy = f", or name the column as {spelled('categorical')}"
        raise not_a_number(f"{file.name}, line {lines[wrong]}, column {name!r}", cells[wrong], remedy=remedy)
    return np.array(values, np.float64)


def _arff(file: Document, categorical: Collection[str]) -> Columns:
    """Return the columns of an ARFF file: numeric, nominal and text attributes, ? for missing values."""
    text: dict[str, bool] = {}
    lines = ((line, content.strip()) for line, content in enumerate(file.lines(), 1))
    for line, content in lines:
        if content.lower().startswith("@data"):
            break
        if content.lower().startswith("@attribute"):
            name, is_text = _attribute(file, line, content)
            if name in text:
                raise InputError(f"{file.name}, line {line} must name another attribute; {name!r} occurs twice.")
            text[name] = is_text or name in categorical
    else:
        raise InputError(f"{file.name} must be an ARFF file; it has no line @data.")
    return _converted(file, list(text), list(text.values()), _arff_rows(file, lines, len(text)))


def _attribute(file: Document, line: int, text: str) -> tuple[str, bool]:
    """Return an attribute's name, and whether it holds text."""
    match = ATTRIBUTE.match(text)
    if match is None:
        raise InputError(f"{file.name}, line {line} must be '@attribute name type'; got {shown(text)}.")
    name, kind = match[1].strip("'\""), match[2].strip()
    word = "nominal" if kind.startswith("{") else kind.lower().partition(" ")[0]
    if word not in {"numeric", "real", "integer", "string", "nominal"}:
        raise InputError(
            f"{file.name}, line {line}: the type of {name!r} must be numeric, real, integer, string or {{...}}; got "
            f"{shown(kind)}. Leave the attribute out of the file."
        )
    return name, word in {"string", "nominal"}


def _arff_rows(file: Document, lines: Iterator[tuple[int, str]], width: int) -> Iterator[Row]:
    """Yield the rows beneath @data."""
    for line, text in lines:
        if not text or text.startswith("%"):
            continue
        if text.startswith("{"):
            raise InputError(f"{file.name}, line {line}: sparse ARFF is not supported. Save it as dense ARFF or CSV.")
        quote = "'" if "'" in text else '"'
        row = next(csv.reader([text], quotechar=quote, skipinitialspace=True, escapechar="\\"))
        if len(row) != width:
            raise InputError(
                f"{file.name}, line {line} must have {width} values, one per @attribute; it has {len(row)}."
            )
        yield line, row


def _libsvm(file: Document) -> Columns:
    """Return the columns of a libsvm (svmlight) file: `target`, then the features by their number."""
    labels: list[float] = []
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    for line, content in enumerate(file.lines(), 1):
        fields = content.partition("#")[0].split()
        if not fields:
            continue
        label = number(fields[0])
        pairs = [PAIR.fullmatch(field) for field in fields[1:] if not field.startswith("qid:")]
        row = [(int(pair[1]), number(pair[2])) for pair in pairs if pair]
        if label is None or len(row) < len(pairs) or any(value is None for _, value in row):
            raise InputError(f"{file.name}, line {line} must be 'class index:value ...'; got {shown(content.strip())}.")
        rows += [len(labels)] * len(row)
        columns += [column for column, _ in row]
        values += [value for _, value in row if value is not None]
        labels.append(label)
    if not columns:
        raise InputError(f"{file.name} must hold features as index:value; it has none.")
    first = 0 if min(columns) == 0 else 1
    width = max(columns) + 1 - first
    if width * len(labels) * 8 > LARGEST_DENSE:
        raise InputError(
            f"{file.name} must fit in memory as a dense table; {len(labels):,} rows of {width:,} features do not. "
            "Select features or rows first."
        )
    dense = np.zeros((width, len(labels)))
    dense[np.array(columns) - first, rows] = values
    names = ["target", *(str(column + first) for column in range(width))]
    return Columns(file.name, names, [np.array(labels), *dense], "target")
