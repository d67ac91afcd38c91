"""A data set for ranking: features and target from a file, from scikit-learn or from OpenML. Imports data files."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, MissingExtraError, choice, integer
from fujiscore.rankers.features import as_classes
from fujiscore.readers.tables import INDEX_NAMES, listed, number, unknown
from fujiscore.resampling import Plan
from fujiscore.studies.data_files import Columns, read_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

BUNDLED = ("breast_cancer", "digits", "iris", "wine")
OPENML = "openml:"
TARGET_NAMES = ("target", "class", "label", "y", "outcome")
NAN = ("keep", "drop", "fill")


@dataclass(frozen=True, eq=False)
class Data:
    """Features and target.

    Attributes
    ----------
    name : str
        Where they came from.
    X : ndarray of float64, shape (n, m)
        The features; categories as codes, missing values as NaN.
    y : ndarray, shape (n,)
        The class of each row.
    features : list of str
        The features' names.
    categorical : ndarray of bool, shape (m,)
        Which features are categorical.
    target : str
        The target's name.
    notes : tuple of str
        What was decided on reading.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    features: list[str]
    categorical: NDArray[np.bool_]
    target: str
    notes: tuple[str, ...]

    @property
    def lacking(self) -> list[str]:
        """The features with missing values."""
        return [self.features[at] for at in np.flatnonzero(np.isnan(self.X).any(axis=0)).tolist()]


def load(
    source: str | os.PathLike[str],
    target: str | None = None,
    *,
    drop: Collection[str] = (),
    categorical: Collection[str] = (),
    nan: str = "keep",
    rows: int | None = None,
    random_state: int = 0,
    format: str | None = None,
) -> Data:
    """Return the features and the target of a data set.

    Parameters
    ----------
    source : str or path-like
        A CSV, TSV, Parquet, Feather, ARFF or libsvm file; the name of a data set that scikit-learn brings along
        (breast_cancer, digits, iris, wine); or "openml:NAME" for one to be fetched.
    target : str, optional
        The column of classes; needed for files other than libsvm.
    drop : collection of str
        Columns to leave out.
    categorical : collection of str
        Columns of numbers that stand for categories; columns of text are categorical anyway.
    nan : {"keep", "drop", "fill"}
        Missing values: keep them, leave those rows out, or fill in medians and the most frequent categories.
    rows : int, optional
        Take a sample of so many rows, with each class in its share.
    random_state : int
        The seed of that sample.
    format : {"csv", "tsv", "parquet", "feather", "arff", "libsvm"}, optional
        The file's format; by content and extension if not given.

    Returns
    -------
    Data
        With `.X`, `.y`, `.features`, `.categorical` and `.notes`.
    """
    choice("nan", nan, NAN)
    columns, implied = _columns(source, format, categorical)
    for name in (*drop, *categorical):
        if name not in columns.names:
            raise unknown(columns.file, "drop" if name in drop else "categorical", name, columns.names)
    chosen = _target(columns, target if target is not None else implied)
    if chosen in drop:
        raise InputError(f"{columns.file}: the target {chosen!r} must not be left out.")
    found = _data(columns, chosen, set(drop))
    found = {"keep": _keep, "drop": _without_gaps, "fill": _filled}[nan](found)
    return found if rows is None else _sampled(found, integer("rows", rows, 1), random_state)


def _columns(
    source: str | os.PathLike[str], kind: str | None, categorical: Collection[str]
) -> tuple[Columns, str | None]:
    """Return all columns, and the target if the source implies it."""
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
    found = read_columns(source, kind, categorical)
    libsvm = found.names[0] == "target" and found.names[1:2] in (["0"], ["1"]) and found.values[0].dtype.kind == "f"
    return found, "target" if libsvm else None


def _bundled(name: str) -> tuple[Columns, str]:
    """Return a data set that scikit-learn brings along."""
    try:
        from sklearn import datasets
    except ImportError:
        raise MissingExtraError(f"the data set {name} needs scikit-learn: pip install 'fujiscore[ml]'") from None
    held = getattr(datasets, f"load_{name}")()
    classes = np.array([str(own) for own in held.target_names], np.object_)[held.target]
    names = [str(own) for own in held.feature_names]
    return Columns(name, [*names, "target"], [*held.data.T, classes]), "target"


def _openml(name: str) -> tuple[Columns, str]:
    """Return a data set of OpenML, or say in one line why it cannot be had."""
    try:
        from sklearn.datasets import fetch_openml
    except ImportError:
        raise MissingExtraError(f"{OPENML}{name} needs scikit-learn: pip install 'fujiscore[ml]'") from None
    wanted: Any = {"data_id": int(name)} if name.isdecimal() else {"name": name, "version": "active"}
    try:
        with warnings.catch_warnings():  # of every attempt to connect; the error below says it once
            warnings.simplefilter("ignore")
            held = fetch_openml(**wanted, as_frame=True, parser="auto")
    except ImportError as error:
        raise MissingExtraError(f"{OPENML}{name} needs pandas: pip install pandas ({error})") from None
    except (OSError, ValueError) as error:  # URLError is an OSError
        reason = str(getattr(error, "reason", error)).splitlines()[0]
        raise InputError(
            f"{OPENML}{name} cannot be fetched: {reason}. Check the connection and the name, or download the file."
        ) from None
    if len(held.target_names) != 1:
        raise InputError(f"{OPENML}{name} must have one target; it has {len(held.target_names)}.")
    table = held.frame
    values = [_series(table[own]) for own in table.columns]
    return Columns(f"{OPENML}{name}", [str(own) for own in table.columns], values), str(held.target_names[0])


def _series(series: Any) -> NDArray[Any]:
    """Return a pandas column: numbers as numbers, anything else as text."""
    if series.dtype.kind in "fiu":
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    missing = series.isna().tolist()
    cells = [None if gone else str(value) for value, gone in zip(series.tolist(), missing, strict=True)]
    return np.array([*cells, None], np.object_)[:-1]


def _target(columns: Columns, target: str | None) -> str:
    """Return the target's column, or suggest one."""
    likely = next((name for name in columns.names if name.lower() in TARGET_NAMES), columns.names[-1])
    if target is None:
        raise InputError(
            f"{columns.file}: the target must be named: the column of classes. It may be {likely!r}: --target {likely}"
        )
    if target in columns.names:
        return target
    close = get_close_matches(target, columns.names, 3, 0.5)
    hint = f"Did you mean {' or '.join(map(repr, close))}?" if close else f"It may be {likely!r}."
    if any(number(name) is not None and not name.isdecimal() for name in columns.names if name):
        hint = "Some of them are numbers: add a header to the file if it has none."
    raise InputError(
        f"{columns.file}: the target must be one of its columns; got {target!r}. {hint} "
        f"The columns are {listed(columns.names)}."
    )


def _data(columns: Columns, target: str, drop: Collection[str]) -> Data:
    """Return the features as numbers, with codes for categories, and the target."""
    notes = []
    left = set(drop)
    if columns.names[0].lower() in INDEX_NAMES and columns.names[0] != target:
        left.add(columns.names[0])
        notes.append("left out the unnamed first column, which labels the rows")
    kept = [at for at, name in enumerate(columns.names) if name not in left and name != target]
    if not kept:
        raise InputError(f"{columns.file} must have a feature beside the target; it has none.")
    table, categorical = np.empty((columns.values[0].size, len(kept)), order="F"), np.zeros(len(kept), np.bool_)
    for place, at in enumerate(kept):
        own = columns.values[at]
        categorical[place] = own.dtype.kind == "O"
        table[:, place] = _codes(columns, at) if categorical[place] else own
    names = [columns.names[at] for at in kept]
    infinite = [names[place] for place in np.flatnonzero(np.isinf(table).any(axis=0)).tolist()]
    if infinite:
        raise InputError(
            f"{columns.file} must hold finite numbers; infinite ones are in {listed(infinite)}. Replace them, or leave "
            "them empty where they stand for missing values."
        )
    text = [name for name, own in zip(names, categorical, strict=True) if own]
    if text:
        notes.append(f"categorical: {listed(text)}")
    y = columns.values[columns.names.index(target)]
    return Data(columns.file, table, _as_integers(y), names, categorical, target, tuple(notes))


def _codes(columns: Columns, at: int) -> NDArray[np.float64]:
    """Return text as the codes of its sorted categories, NaN where it is missing; dates are an error."""
    values = columns.values[at].tolist()
    odd = next((value for value in values if value is not None and not isinstance(value, str)), None)
    if odd is not None:
        raise InputError(
            f"{columns.file}: column {columns.names[at]!r} must hold numbers or categories; it holds "
            f"{type(odd).__name__}s. Leave it out with --drop {columns.names[at]}, or convert it."
        )
    categories = sorted({value for value in values if value is not None})
    if len(categories) == len(values) > 2:
        raise InputError(
            f"{columns.file}: column {columns.names[at]!r} must tell something about the rows; it has another text in "
            f"every row, as an identifier has. Leave it out with --drop {columns.names[at]}."
        )
    order = {category: code for code, category in enumerate(categories)}
    return np.array([order.get(value, np.nan) for value in values], np.float64)


def _as_integers(y: NDArray[Any]) -> NDArray[Any]:
    """Return classes that are whole numbers as integers, so that they are not taken for a quantity."""
    if y.dtype.kind == "f" and np.isfinite(y).all() and (y == np.round(y)).all() and np.abs(y).max() < 2**53:
        return y.astype(np.int64)
    if y.dtype.kind == "O" and all(value is not None and number(value) is not None for value in y.tolist()):
        return _as_integers(np.array([number(value) for value in y.tolist()], np.float64))
    return y


def _keep(data: Data) -> Data:
    """Return the data as they are."""
    return data


def _at(data: Data, rows: NDArray[Any], note: str) -> Data:
    """Return some of the rows."""
    return replace(data, X=data.X[rows], y=data.y[rows], notes=(*data.notes, note))


def _without_gaps(data: Data) -> Data:
    """Leave out the rows with a missing value."""
    whole = ~np.isnan(data.X).any(axis=1)
    whole &= np.array([value is not None and value == value for value in data.y.tolist()])  # noqa: PLR0124 - NaN
    if not whole.any():
        raise InputError(
            f"{data.name} must have rows without missing values for nan='drop'; it has none. Pass nan='fill', or "
            f"leave out the columns that lack the most: {listed(_emptiest(data))}."
        )
    gone = int((~whole).sum())
    return _at(data, np.flatnonzero(whole), f"left out {gone} rows with missing values") if gone else data


def _emptiest(data: Data) -> Sequence[str]:
    """Return the columns with the most missing values."""
    order = np.argsort(-np.isnan(data.X).sum(axis=0), kind="stable")[:3]
    return [data.features[at] for at in order.tolist()]


def _filled(data: Data) -> Data:
    """Fill in medians of numbers and the most frequent categories."""
    table = data.X.copy()
    gaps = np.isnan(table)
    empty = [data.features[at] for at in np.flatnonzero(gaps.all(axis=0)).tolist()]
    if empty:
        raise InputError(
            f"{data.name}: a column must have a value for nan='fill'; {listed(empty)} has none. Leave it out."
        )
    for at in np.flatnonzero(gaps.any(axis=0)).tolist():
        known = table[~gaps[:, at], at]
        value = np.bincount(known.astype(np.int64)).argmax() if data.categorical[at] else np.median(known)
        table[gaps[:, at], at] = value
    count = int(gaps.sum())
    notes = (*data.notes, f"filled in {count} missing values") if count else data.notes
    return replace(data, X=table, notes=notes)


def _sampled(data: Data, rows: int, seed: int) -> Data:
    """Return a sample of the rows, with each class in its share."""
    n = data.y.size
    if rows >= n:
        return data
    chosen = Plan(1, "subsample", rows / n, seed).rows(as_classes(data.y).codes, 0)
    return _at(data, chosen, f"a sample of {chosen.size} of {n} rows")
