"""Data sets to rank: features and target from a file, scikit-learn or OpenML. Imports data_formats and errors."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, MissingExtraError, choice, integer, spelled
from fujiscore.io.columns import is_index_name
from fujiscore.io.data_formats import FORMATS, Columns, read_columns
from fujiscore.io.table import listed, number, unknown
from fujiscore.seeds import as_seed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

__all__ = ["BUNDLED", "FORMATS", "NAN", "Data", "load"]

BUNDLED = ("breast_cancer", "digits", "iris", "wine")
OPENML = "openml:"
TARGET_NAMES = ("target", "class", "label", "y", "outcome")
NAN = ("keep", "drop", "fill")


@dataclass(frozen=True, eq=False)
class Data:
    """Features and target; X has one row per example."""

    name: str  # where they came from
    X: NDArray[np.float64]  # categories as codes, missing values as NaN
    y: NDArray[Any]  # the class of each row
    features: list[str]
    categorical: NDArray[np.bool_]  # which features are categorical
    target: str
    notes: tuple[str, ...]  # what was left out, filled in or sampled while reading

    @property
    def lacking(self) -> list[str]:
        """The features with missing values."""
        return _select(self.features, np.isnan(self.X).any(axis=0))


def load(
    source: str | os.PathLike[str],
    target: str | None = None,
    *,
    drop: Collection[str] = (),
    categorical: Collection[str] = (),
    nan: str = "keep",
    rows: int | None = None,
    random_state: Any = 0,
    format: str | None = None,
) -> Data:
    """Return the features and the target of a data set.

    The source is a CSV, TSV, Parquet, Feather, ARFF or libsvm file, the name of a data set that scikit-learn bundles
    (breast_cancer, digits, iris, wine), or "openml:NAME" for one to download. The target is the column of classes,
    required for files other than libsvm. Text columns are always categorical, numeric ones if named. Missing values
    are kept, their rows dropped, or the median or most frequent category filled in (nan="keep" | "drop" | "fill").
    With rows=N a stratified sample of about N rows is taken. The format is told by content and extension if not given.
    """
    choice("nan", nan, NAN)
    columns = _columns(source, format, categorical)
    for argument, names in (("drop", drop), ("categorical", categorical)):
        for name in names:
            if name not in columns.names:
                raise unknown(columns.file, spelled(argument), name, columns.names)
    target = _target(columns, columns.target if target is None else target)
    if target in drop:
        raise InputError(f"{columns.file}: the target {target!r} must not be in {spelled('drop')}.")
    data = _data(columns, target, drop)
    if nan != "keep":
        data = _without_gaps(data) if nan == "drop" else _filled(data)
    return data if rows is None else _sampled(data, integer("rows", rows, 1), random_state)


def _columns(source: str | os.PathLike[str], format: str | None, categorical: Collection[str]) -> Columns:
    """Return all columns of a file, a bundled data set or one of OpenML."""
    name = os.fspath(source)
    if name.startswith(OPENML):
        return _openml(name.removeprefix(OPENML))
    if name in BUNDLED and not Path(name).exists():
        return _bundled(name)
    if "." not in name and not Path(name).exists() and os.sep not in name:
        near = get_close_matches(name, BUNDLED, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(
            f"{name} must be a file, one of {', '.join(BUNDLED)}, or {OPENML}NAME; there is no such file.{hint}"
        )
    return read_columns(source, format, categorical)


def _sklearn_datasets(name: str) -> Any:
    """Return scikit-learn's module of data sets."""
    try:
        from sklearn import datasets
    except ImportError:
        raise MissingExtraError(f"the data set {name} needs scikit-learn: pip install 'fujiscore[ml]'") from None
    return datasets


def _bundled(name: str) -> Columns:
    """Return a data set that scikit-learn bundles."""
    bunch = getattr(_sklearn_datasets(name), f"load_{name}")()
    classes = np.array([str(label) for label in bunch.target_names], np.object_)[bunch.target]
    names = [str(feature) for feature in bunch.feature_names]
    return Columns(name, [*names, "target"], [*bunch.data.T, classes], "target")


def _openml(name: str) -> Columns:
    """Return a data set of OpenML, or say in one line why it cannot be downloaded."""
    datasets = _sklearn_datasets(f"{OPENML}{name}")
    query: Any = {"data_id": int(name)} if name.isdecimal() else {"name": name, "version": "active"}
    try:
        with warnings.catch_warnings():  # one warning per attempt to connect; the error below says it once
            warnings.simplefilter("ignore")
            bunch = datasets.fetch_openml(**query, as_frame=True, parser="auto")
    except ImportError as error:
        raise MissingExtraError(f"{OPENML}{name} needs pandas: pip install pandas ({error})") from None
    except (OSError, ValueError) as error:  # URLError is an OSError
        reason = str(getattr(error, "reason", error)).splitlines()[0]
        raise InputError(
            f"{OPENML}{name} cannot be downloaded: {reason}. Check the connection and the name, or pass a file."
        ) from None
    if len(bunch.target_names) != 1:
        raise InputError(f"{OPENML}{name} must have one target; it has {len(bunch.target_names)}.")
    values = [_series(bunch.frame[column]) for column in bunch.frame.columns]
    names = [str(column) for column in bunch.frame.columns]
    return Columns(f"{OPENML}{name}", names, values, str(bunch.target_names[0]))


def _series(series: Any) -> NDArray[Any]:
    """Return a pandas column: numbers as numbers, anything else as text."""
    if series.dtype.kind in "fiu":
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    missing = series.isna().tolist()
    cells = [None if is_missing else str(value) for value, is_missing in zip(series.tolist(), missing, strict=True)]
    return np.array([*cells, None], np.object_)[:-1]


def _target(columns: Columns, target: str | None) -> str:
    """Return the target's column, or suggest one."""
    likely = next((name for name in columns.names if name.lower() in TARGET_NAMES), columns.names[-1])
    if target is None:
        raise InputError(
            f"{columns.file}: {spelled('target')} must name the column of classes. It may be {likely!r}: pass "
            f"{spelled('target', likely)}."
        )
    if str(target) in columns.names:
        return str(target)
    close = get_close_matches(str(target), columns.names, 3, 0.5)
    hint = f"Did you mean {' or '.join(map(repr, close))}?" if close else f"It may be {likely!r}."
    if any(number(name) is not None and not name.isdecimal() for name in columns.names if name):
        hint = "Some of them are numbers: add a header to the file if it has none."
    raise InputError(
        f"{columns.file}: {spelled('target')} must be one of its columns; got {target!r}. {hint} "
        f"The columns are {listed(columns.names)}."
    )


def _data(columns: Columns, target: str, drop: Collection[str]) -> Data:
    """Return the features as numbers, with codes for categories, and the target."""
    notes = []
    excluded = {*drop, target}
    if is_index_name(columns.names[0]) and columns.names[0] not in excluded:
        excluded.add(columns.names[0])
        notes.append("left out the unnamed first column, which labels the rows")
    kept = [position for position, name in enumerate(columns.names) if name not in excluded]
    if not kept:
        raise InputError(f"{columns.file} must have a feature beside the target; it has none.")
    names = [columns.names[position] for position in kept]
    categorical = np.array([columns.values[position].dtype.kind == "O" for position in kept])
    X = np.empty((columns.values[0].size, len(kept)), order="F")
    for column, position in enumerate(kept):
        X[:, column] = _codes(columns, position) if categorical[column] else columns.values[position]
    infinite = _select(names, np.isinf(X).any(axis=0))
    if infinite:
        raise InputError(
            f"{columns.file} must hold finite numbers; infinite ones are in {listed(infinite)}. Replace them, or leave "
            "them empty if they stand for missing values."
        )
    if categorical.any():
        notes.append(f"categorical: {listed(_select(names, categorical))}")
    y = columns.values[columns.names.index(target)]
    return Data(columns.file, X, _as_integers(y), names, categorical, target, tuple(notes))


def _select(names: Sequence[str], mask: Any) -> list[str]:
    """Return the names that a mask selects."""
    return [names[position] for position in np.flatnonzero(mask).tolist()]


def _codes(columns: Columns, position: int) -> NDArray[np.float64]:
    """Return text as the codes of its sorted categories, NaN where it is missing; dates are an error."""
    name, values = columns.names[position], columns.values[position].tolist()
    other = next((value for value in values if value is not None and not isinstance(value, str)), None)
    categories = sorted({value for value in values if isinstance(value, str)})
    unique = len(categories) == len(values) > 2
    if other is not None or unique:
        problem = "is unique in every row and looks like an identifier" if unique else f"holds {type(other).__name__}s"
        raise InputError(
            f"{columns.file}: column {name!r} must hold numbers or categories; it {problem}. Leave it out with "
            f"{spelled('drop', name)}."
        )
    order = {category: code for code, category in enumerate(categories)}
    return np.array([order.get(value, np.nan) for value in values], np.float64)


def _as_integers(y: NDArray[Any]) -> NDArray[Any]:
    """Return classes that are whole numbers as integers, so that they do not look like a regression target."""
    if y.dtype.kind == "f" and np.isfinite(y).all() and (y == np.round(y)).all() and np.abs(y).max() < 2**53:
        return y.astype(np.int64)
    if y.dtype.kind == "O" and all(value is not None and number(value) is not None for value in y.tolist()):
        return _as_integers(np.array([number(value) for value in y.tolist()], np.float64))
    return y


def _rows(data: Data, rows: NDArray[Any], note: str) -> Data:
    """Return some of the rows."""
    return replace(data, X=data.X[rows], y=data.y[rows], notes=(*data.notes, note))


def _without_gaps(data: Data) -> Data:
    """Leave out the rows with a missing value."""
    complete = ~np.isnan(data.X).any(axis=1)
    complete &= np.array([value is not None and value == value for value in data.y.tolist()])  # noqa: PLR0124 - NaN
    if not complete.any():
        emptiest = np.argsort(-np.isnan(data.X).sum(axis=0), kind="stable")[:3].tolist()
        raise InputError(
            f"{data.name} must have rows without missing values for {spelled('nan', 'drop')}; it has none. Pass "
            f"{spelled('nan', 'fill')}, or leave out the columns with the most missing values: "
            f"{listed([data.features[column] for column in emptiest])}."
        )
    gone = int((~complete).sum())
    return _rows(data, np.flatnonzero(complete), f"left out {gone} rows with missing values") if gone else data


def _filled(data: Data) -> Data:
    """Fill in medians of numbers and the most frequent categories."""
    X = data.X.copy()
    gaps = np.isnan(X)
    empty = _select(data.features, gaps.all(axis=0))
    if empty:
        raise InputError(
            f"{data.name}: every column must have a value for {spelled('nan', 'fill')}; {listed(empty)} has none. "
            f"Leave it out with {spelled('drop', empty[0])}."
        )
    for column in np.flatnonzero(gaps.any(axis=0)).tolist():
        known = X[~gaps[:, column], column]
        value = np.bincount(known.astype(np.int64)).argmax() if data.categorical[column] else np.median(known)
        X[gaps[:, column], column] = value
    count = int(gaps.sum())
    return replace(data, X=X, notes=(*data.notes, f"filled in {count} missing values")) if count else data


def _sampled(data: Data, rows: int, random_state: Any) -> Data:
    """Return a sample of the rows with each class in its share, at least one row per class."""
    n = data.y.size
    if rows >= n:
        return data
    random = np.random.default_rng(as_seed(random_state))
    labels, codes = np.unique(data.y.astype(str), return_inverse=True)
    if labels.size > rows:  # not classes, which the rankers will refuse
        labels, codes = labels[:1], np.zeros_like(codes)
    classes = [np.flatnonzero(codes == code) for code in range(labels.size)]
    sizes = [max(1, round(rows * members.size / n)) for members in classes]
    drawn = [random.choice(members, size, replace=False) for members, size in zip(classes, sizes, strict=True)]
    sample = np.sort(np.concatenate(drawn))
    return _rows(data, sample, f"a sample of {sample.size} of {n} rows")
