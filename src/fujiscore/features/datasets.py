"""Data sets to rank: features and target from a file, scikit-learn or OpenML."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, MissingExtraError, choice, counted, spelled
from fujiscore.inputs.coercion import EXACT, is_null, require_apart
from fujiscore.io import columnar, formats
from fujiscore.io.columns import is_index_name
from fujiscore.io.documents import Document, document
from fujiscore.io.table import (
    FileTable,
    did_you_mean,
    exact,
    listed,
    no_rows,
    not_a_number,
    number,
    require_plain_numbers,
    texts,
    unknown,
)

FORMATS = ("csv", "tsv", "parquet", "feather", "arff", "libsvm")
BUNDLED = ("breast_cancer", "diabetes", "digits", "iris", "wine")
OPENML = "openml:"
TARGET_NAMES = ("target", "class", "label", "y", "outcome")
CODE = re.compile(r"\s*0[0-9]+\s*")
CHUNK = 20_000  # rows converted at once: as text a table takes ten times its size
LARGEST_DENSE = 2**32  # bytes of a libsvm file's table


@dataclass(frozen=True, eq=False)
class DatasetColumns:
    """The columns of a source by name: numbers as float64 (NaN: missing), text as objects (None: missing)."""

    file: str
    values: dict[str, NDArray[Any]]
    target: str | None = None  # where the source implies it

    def error(self, message: str) -> InputError:
        """Return an error about the source."""
        return InputError(f"{self.file}: {message}")


@dataclass(frozen=True, eq=False)
class Data:
    """Features and target; X has one row per example."""

    name: str  # where they came from
    X: NDArray[np.float64]  # categories as codes, missing values as NaN
    y: NDArray[Any]  # the class of each row, or a quantity
    features: list[str]
    categorical: NDArray[np.bool_]  # which features are categorical
    target: str
    notes: tuple[str, ...]  # what was left out while reading
    groups: NDArray[Any] | None = None  # which rows belong together


def load(
    source: str | os.PathLike[str],
    target: str | None = None,
    *,
    drop: Collection[str] = (),
    categorical: Collection[str] = (),
    groups: str | None = None,
    format: str | None = None,
) -> Data:
    """Return the features and the target of a data set.

    The source is a file, the name of a data set that scikit-learn bundles (breast_cancer, diabetes, digits, iris,
    wine), or "openml:NAME" for one to download. The target is the column of classes or the numeric target, required for
    files other than libsvm; rows without one are left out. Text columns are always categorical, numeric ones if named.
    The column of groups is not a feature.
    """
    columns = _columns(source, format, categorical, None if target is None else str(target))
    target = columns.target if target is None else str(target)
    if target is None:
        likely = next((name for name in columns.values if name.lower() in TARGET_NAMES), list(columns.values)[-1])
        remedy = f"For example, pass {spelled('target', likely)}."
        raise columns.error(f"{spelled('target')} must name the column of classes or the numeric target. {remedy}")
    grouping = [] if groups is None else [str(groups)]
    named = {"target": [target], "drop": drop, "categorical": categorical, "groups": grouping}
    for argument, names in named.items():
        for name in names:
            if name not in columns.values:
                raise unknown(columns.file, spelled(argument), name, list(columns.values))
    if target in {*drop, *grouping}:
        raise columns.error(f"the target {target!r} must not be in {spelled('drop')} or {spelled('groups')}.")
    data = _data(columns, target, {*drop, *grouping})
    if grouping:
        data = replace(data, groups=columns.values[grouping[0]])
    return _with_target(data)


def _columns(
    source: str | os.PathLike[str], format: str | None, categorical: Collection[str], target: str | None = None
) -> DatasetColumns:
    """Return all columns of a file, a bundled data set or one of OpenML; of a file, some as text if so named."""
    name = os.fspath(source)
    if name.startswith(OPENML):
        return _openml(name)
    exists = name == "-" or Path(name).exists()
    if name in BUNDLED and not exists:
        return _bundled(name)
    if not exists and "." not in name and os.sep not in name:
        known, hint = ", ".join(BUNDLED), did_you_mean(name, BUNDLED)
        raise InputError(f"{name} must be a file, one of {known}, or {OPENML}NAME; there is no such file.{hint}")
    if format is not None:
        choice("format", format, FORMATS)
    file = document(source)
    kind = formats.detect(file, format, FORMATS)
    if kind == "libsvm":
        return _libsvm(file)
    if kind in formats.COLUMNAR:
        values = columnar.arrays(file.name, kind, file.whole(), categorical)
    else:
        values = _arrays(formats.table(file, kind, data=True), categorical, target)
    if not values or not next(iter(values.values())).size:
        raise no_rows(file.name)
    return DatasetColumns(file.name, values)


def _sklearn_datasets(name: str) -> Any:
    """Return scikit-learn's module of data sets."""
    try:
        from sklearn import datasets
    except ImportError:
        raise MissingExtraError(f"the data set {name} needs scikit-learn: pip install 'fujiscore[ml]'") from None
    return datasets


def _bundled(name: str) -> DatasetColumns:
    """Return a data set that scikit-learn bundles."""
    bunch = getattr(_sklearn_datasets(name), f"load_{name}")()
    values = dict(zip(map(str, bunch.feature_names), bunch.data.T, strict=True))
    target = bunch.target
    if "target_names" in bunch:
        target = np.array([str(label) for label in bunch.target_names], np.object_)[target]
    return DatasetColumns(name, {**values, "target": target}, "target")


def _openml(source: str) -> DatasetColumns:
    """Return a data set of OpenML, or say in one line why it cannot be downloaded."""
    datasets, name = _sklearn_datasets(source), source.removeprefix(OPENML)
    query: Any = {"data_id": int(name)} if name.isdecimal() else {"name": name, "version": "active"}
    try:
        with warnings.catch_warnings():  # one warning per attempt to connect; the error below says it once
            warnings.simplefilter("ignore")
            bunch = datasets.fetch_openml(**query, as_frame=True, parser="auto")
    except ImportError as error:
        raise MissingExtraError(f"{source} needs pandas: pip install 'fujiscore[frames]' ({error})") from None
    except (OSError, ValueError) as error:  # URLError is an OSError
        why = str(getattr(error, "reason", error)).splitlines()[0]
        raise InputError(f"{source} cannot be downloaded: {why}. Check connection and name, or pass a file.") from None
    if len(bunch.target_names) != 1:
        raise InputError(f"{source} must have one target; it has {len(bunch.target_names)}.")
    values: dict[str, NDArray[Any]] = {}
    for column, series in bunch.frame.items():  # numbers as numbers, anything else as text
        if series.dtype.kind in "fiu":
            values[str(column)] = series.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            cells = [None if is_null(value) else str(value) for value in series.tolist()]
            values[str(column)] = np.array(cells, np.object_)
    return DatasetColumns(source, values, str(bunch.target_names[0]))


def _arrays(table: FileTable, categorical: Collection[str], target: str | None) -> dict[str, NDArray[Any]]:
    """Return the columns of a table as numbers, or as text if named or mostly text, or a target with leading zeros."""
    text = [name for name, share in table.numeric.items() if share < 0.5 and name not in categorical]
    require_plain_numbers(table, text, f", or name the column as {spelled('categorical')}")
    as_text = {*text, *categorical}
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in table.numeric}
    large: dict[str, list[Any]] = {}  # values that float64 need not hold exactly
    coded = False
    rows = table.rows(list(table.numeric))
    while chunk := list(islice(rows, CHUNK)):
        lines = [line for line, _ in chunk]
        for name, *cells in zip(table.numeric, *(row for _, row in chunk), strict=True):
            part = texts(cells) if name in as_text else _as_numbers(table, name, cells, lines)
            parts[name].append(part)
            coded = coded or (name == target and name not in as_text and any(map(CODE.fullmatch, cells)))
            if name not in as_text and (np.abs(part) >= EXACT).any():
                large.setdefault(name, []).extend(exact(cells[row]) for row in np.flatnonzero(np.abs(part) >= EXACT))
    for name, values in large.items():
        require_apart(values, f"{table.file}, column {name!r} must hold")
    if coded:  # 10 and 010 are two classes
        parts[str(target)] = [texts(cell for _, (cell,) in table.rows([str(target)]))]
    return {name: np.concatenate(part) for name, part in parts.items() if part}


def _as_numbers(table: FileTable, name: str, cells: Sequence[str], lines: Sequence[int]) -> NDArray[np.float64]:
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
        raise not_a_number(table.place(lines[wrong], name), cells[wrong], remedy=remedy)
    return np.array(values, np.float64)


def _libsvm(file: Document) -> DatasetColumns:
    """Return the columns of a libsvm (svmlight) file: `target`, then the features by their number."""
    labels: list[float] = []
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    for label, pairs in formats.libsvm(file):
        rows += [len(labels)] * len(pairs)
        columns += [column for column, _ in pairs]
        values += [value for _, value in pairs]
        labels.append(label)
    if not columns:
        raise InputError(f"{file.name} must hold features as index:value; it has none.")
    first = 0 if min(columns) == 0 else 1
    width = max(columns) + 1 - first
    if width * len(labels) * 8 > LARGEST_DENSE:
        size = f"{len(labels):,} rows of {width:,} features"
        raise InputError(f"{file.name} must fit in memory as a dense table; {size} do not. Select some.")
    dense = np.zeros((width, len(labels)))
    dense[np.array(columns) - first, rows] = values
    features = {str(column + first): dense[column] for column in range(width)}
    return DatasetColumns(file.name, {"target": np.array(labels), **features}, "target")


def _data(columns: DatasetColumns, target: str, left_out: Collection[str]) -> Data:
    """Return the features as numbers, with codes for categories, and the target."""
    notes = []
    y = columns.values[target]
    names = [name for name in columns.values if name not in {*left_out, target}]
    if names and names[0] == next(iter(columns.values)) and is_index_name(names[0]):
        del names[0]
        notes.append("left out the unnamed first column, which labels the rows")
    if not names:
        raise columns.error("there must be a feature besides the target; there is none.")
    categorical = np.array([columns.values[name].dtype.kind == "O" for name in names])
    X = np.empty((y.size, len(names)), order="F")
    for position, name in enumerate(names):
        X[:, position] = _codes(columns, name) if categorical[position] else columns.values[name]
    infinite = [name for name, column in zip(names, X.T, strict=True) if np.isinf(column).any()]
    if infinite:
        where = listed(infinite)
        raise columns.error(f"values must be finite numbers; infinite ones are in {where}. Replace or empty them.")
    if categorical.any():
        coded = [name for name, is_text in zip(names, categorical, strict=True) if is_text]
        notes.append(f"categorical: {listed(coded)}")
    return Data(columns.file, X, _as_integers(y), names, categorical, target, tuple(notes))


def _codes(columns: DatasetColumns, name: str) -> NDArray[np.float64]:
    """Return text as the codes of its sorted categories, NaN where it is missing; dates are an error."""
    values = columns.values[name].tolist()
    other = next((value for value in values if value is not None and not isinstance(value, str)), None)
    categories = sorted({value for value in values if isinstance(value, str)})
    unique = len(categories) == len(values) > 2
    if other is not None or unique:
        problem = "is unique in every row and looks like an identifier" if unique else f"holds {type(other).__name__}s"
        remedy = f"Leave it out with {spelled('drop', name)}."
        raise columns.error(f"column {name!r} must hold numbers or categories; it {problem}. {remedy}")
    order = {category: code for code, category in enumerate(categories)}
    return np.array([order.get(value, np.nan) for value in values], np.float64)


def _as_integers(y: NDArray[Any]) -> NDArray[Any]:
    """Return classes that are whole numbers as integers, so that they do not look like a regression target."""
    if y.dtype.kind == "f" and np.isfinite(y).all() and (y == np.round(y)).all() and np.abs(y).max() < 2**53:
        return y.astype(np.int64)
    values = [number(value) for value in y.tolist()] if y.dtype.kind == "O" else [None]
    # As numbers, large integers might become one class, and so might 10 and 010.
    small = all(value is not None and abs(value) < EXACT for value in values)
    if small and len(set(values)) == len(set(y.tolist())):
        return _as_integers(np.array(values, np.float64))
    return y


def _with_target(data: Data) -> Data:
    """Leave out the rows without a target."""
    known = np.flatnonzero([not is_null(value) for value in data.y.tolist()])
    gone = data.y.size - known.size
    if not gone or not known.size:
        return data
    groups = None if data.groups is None else data.groups[known]
    note = f"left out {counted(gone, 'row')} without a target"
    return replace(data, X=data.X[known], y=_as_integers(data.y[known]), groups=groups, notes=(*data.notes, note))
