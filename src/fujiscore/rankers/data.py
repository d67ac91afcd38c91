"""Tables of features and classes: whatever users have, as checked arrays. Imports errors only."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fujiscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

Scores: TypeAlias = "NDArray[np.float64]"
# A float target with more distinct values than this, and than a tenth of the rows, is taken for a quantity.
MOST_FLOAT_CLASSES = 10
SHOWN_COLUMNS = 5


@dataclass(frozen=True, eq=False)
class Table:
    """Features as numbers, one row an instance.

    Attributes
    ----------
    values : ndarray of float64, shape (n, m)
        Finite or NaN (missing). A categorical column holds the codes 0, 1, ... of the categories it shows.
    categorical : ndarray of bool, shape (m,)
        Which columns are categorical.
    names : sequence or None
        The columns' names, None where the input had none.
    """

    values: Scores
    categorical: NDArray[np.bool_]
    names: Sequence[Hashable] | None

    def listed(self, bad: NDArray[np.bool_] | np.bool_) -> str:
        """Return the marked columns as words for a message."""
        return listed_columns(np.flatnonzero(bad).tolist(), self.names)


@dataclass(frozen=True, eq=False)
class Classes:
    """The target as codes 0, 1, ... in the order of the sorted classes, and each class's number of members."""

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]


def at_least_one(argument: str, value: Any) -> int:
    """Return a whole number from 1 up, or raise."""
    try:
        number = index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise InputError(f"{argument} must be a whole number from 1 up; got {value!r}.")
    return number


def listed_columns(positions: Sequence[int], names: Sequence[Hashable] | None) -> str:
    """Return column positions, or their names where there are any, as words for a message."""
    shown = [repr(position if names is None else names[position]) for position in positions[:SHOWN_COLUMNS]]
    more = f" and {len(positions) - len(shown)} more" if len(positions) > len(shown) else ""
    return f"column{'s' if len(positions) > 1 else ''} {', '.join(shown)}{more}"


def prepare(X: Any, y: Any, categorical: Any, *, missing: str | None = None) -> tuple[Table, Classes]:
    """Return checked features and classes; `missing` names the method that cannot use missing values."""
    _same_index(X, y)
    table, classes = as_table(X, categorical), as_classes(y)
    n = table.values.shape[0]
    if n != classes.codes.size:
        raise InputError(f"X and y must have the same number of rows; they have {n} and {classes.codes.size}.")
    infinite = np.isinf(table.values).any(axis=0)
    if infinite.any():
        raise InputError(
            f"X must hold finite numbers; {table.listed(infinite)} hold infinite ones. "
            "Replace them by finite numbers, or by NaN where they stand for missing values."
        )
    if missing is not None:
        lacking = np.isnan(table.values).any(axis=0)
        if lacking.any():
            raise InputError(
                f"{missing} cannot use missing values; {table.listed(lacking)} have some. Fill them in "
                "(sklearn.impute), drop those rows or columns, or rank with relief, which can."
            )
    return table, classes


def as_table(X: Any, categorical: Any) -> Table:
    """Return the features of an array, a nested list, or a dataframe of pandas, polars or pyarrow."""
    import narwhals as nw

    if hasattr(X, "tocsr"):
        raise InputError("X must be a dense table; got a sparse matrix. Pass X.toarray().")
    if nw.dependencies.is_into_dataframe(X):
        return _from_frame(nw.from_native(_unique_names(X), eager_only=True), categorical)
    values = _two_dimensional(np.ma.filled(X.astype(np.float64), np.nan) if isinstance(X, np.ma.MaskedArray) else X)
    marked = _marked(categorical, values.shape[1], None)
    if values.dtype.kind == "b":
        return Table(values.astype(np.float64), np.ones(values.shape[1], np.bool_), None)
    if values.dtype.kind in "fiu" and not marked.any():
        return Table(np.asarray(values, np.float64), marked, None)
    return _from_columns((values[:, at] for at in range(values.shape[1])), values.shape, marked, None)


def _two_dimensional(X: Any) -> NDArray[Any]:
    """Return a non-empty two-dimensional array, or say what came."""
    try:
        values = np.asarray(X)
    except ValueError:
        raise InputError("X must be a table; its rows have unequal lengths.") from None
    if values.ndim != 2:
        remedy = " Pass X.reshape(-1, 1) if it is one feature." if values.ndim == 1 else ""
        raise InputError(
            f"X must be two-dimensional, one row an instance, one column a feature; got shape {values.shape}.{remedy}"
        )
    _not_empty(values.shape)
    return values


def _not_empty(shape: tuple[int, ...]) -> None:
    """Raise if there are no rows or no columns."""
    if 0 in shape[:2]:
        raise InputError(f"X must have rows and columns; got {shape[0]} rows and {shape[1]} columns.")


def _unique_names(X: Any) -> Any:
    """Return a dataframe unless two of its columns have one name."""
    names = X.column_names if hasattr(X, "column_names") else list(X.columns)
    if len(set(names)) < len(names):
        repeated = next(name for at, name in enumerate(names) if name in names[:at])
        raise InputError(f"X must name each column once; {repeated!r} names more than one. Rename them.")
    return X


def _from_frame(frame: Any, categorical: Any) -> Table:
    """Return the features of a dataframe; its types say which are categorical, and `categorical` can add some."""
    import narwhals as nw

    _not_empty(frame.shape)
    names = list(frame.columns)
    types = list(frame.schema.values())
    marked = _marked(categorical, len(names), names)
    marked |= np.array([isinstance(kind, (nw.Categorical, nw.Enum, nw.Boolean)) for kind in types])
    if not marked.any() and all(kind.is_numeric() for kind in types):
        native = nw.to_native(frame)
        if nw.dependencies.is_pandas_dataframe(native):
            return Table(native.to_numpy(dtype=np.float64, na_value=np.nan), marked, names)
        return Table(np.asarray(frame.to_numpy(), np.float64), marked, names)
    columns = (_in_category_order(series) for series in frame.iter_columns())
    return _from_columns(columns, frame.shape, marked, names)


def _in_category_order(series: Any) -> NDArray[Any]:
    """Return a column as an array; one of ordered categories as their positions in that order."""
    categories = getattr(series.dtype, "categories", None)
    if categories is None:
        return _objects(series)
    order = {category: at for at, category in enumerate(categories)}
    return np.array([order.get(value, np.nan) for value in series.to_list()])


def _objects(series: Any) -> NDArray[Any]:
    """Return a dataframe's column as an array: numbers as they are, anything else as Python objects."""
    if series.dtype.is_numeric() and not series.is_null().any():
        return np.asarray(series.to_numpy())
    # NaN is not null in every library, and comes as it is.
    return np.array([*series.to_list(), None], np.object_)[:-1]


def _from_columns(
    columns: Iterable[NDArray[Any]],
    shape: tuple[int, ...],
    marked: NDArray[np.bool_],
    names: Sequence[Hashable] | None,
) -> Table:
    """Convert column by column: categories to codes, the rest to numbers."""
    values = np.empty(shape, order="F")
    for at, column in enumerate(columns):
        values[:, at] = _codes(column) if marked[at] else _numbers(column, at, names)
    return Table(values, marked, names)


def _numbers(column: NDArray[Any], at: int, names: Sequence[Hashable] | None) -> Scores:
    """Return a column as float64 (None as NaN); text and other objects are an error that names it."""
    if column.dtype.kind in "fiub":
        return column.astype(np.float64)
    for value in column.tolist():
        if value is None or _is_missing(value):
            continue
        if isinstance(value, (str, bytes, complex)) or not hasattr(value, "__float__"):
            raise InputError(
                f"X must hold numbers; {listed_columns([at], names)} holds {value!r} ({type(value).__name__}). Convert "
                "it to numbers, or say that it is categorical (by its dataframe type, or by categorical=...)."
            )
    return np.array([np.nan if value is None or _is_missing(value) else float(value) for value in column.tolist()])


def _is_missing(value: Any) -> bool:
    """Return whether a value is NaN, NaT or pandas' NA: not equal to itself, or not saying whether it is."""
    try:
        return bool(value != value)  # noqa: PLR0124
    except TypeError:
        return True


def _codes(column: NDArray[Any]) -> Scores:
    """Return categories as 0, 1, ... in sorted order (of appearance, where they do not sort); missing as NaN."""
    if column.dtype.kind in "fiub":
        codes = np.unique(column, return_inverse=True)[1].astype(np.float64)
        return np.where(np.isnan(column), np.nan, codes)  # NaN sorts last
    values = column.tolist()
    order = {value: at for at, value in enumerate(_sorted_categories(values))}
    return np.array([order.get(value, np.nan) for value in values], np.float64)


def _sorted_categories(values: Sequence[Any]) -> list[Any]:
    """Return the distinct values that are not missing, sorted if they can be."""
    distinct = [value for value in dict.fromkeys(values) if value is not None and not _is_missing(value)]
    try:
        return sorted(distinct)
    except TypeError:
        return distinct


def _marked(categorical: Any, m: int, names: Sequence[Hashable] | None) -> NDArray[np.bool_]:
    """Return the mask that `categorical` stands for: a mask of m bools, column positions, or column names."""
    marked = np.zeros(m, np.bool_)
    if categorical is None:
        return marked
    chosen = [categorical] if isinstance(categorical, (str, int)) else list(categorical)
    if chosen and all(isinstance(entry, (bool, np.bool_)) for entry in chosen):
        if len(chosen) != m:
            raise InputError(f"categorical must have one entry a column of X, {m}; got {len(chosen)}.")
        return np.array(chosen, np.bool_)
    for entry in chosen:
        marked[_position(entry, m, names)] = True
    return marked


def _position(entry: Any, m: int, names: Sequence[Hashable] | None) -> int:
    """Return the position of a column given by name or position."""
    if names is not None and entry in names:
        return names.index(entry)
    try:
        position = index(entry)
    except TypeError:
        position = m
    if not -m <= position < m:
        raise InputError(
            f"categorical must be a mask of {m} bools, or a list of columns of X (names or positions); got {entry!r}."
        )
    return position


def _same_index(X: Any, y: Any) -> None:
    """Raise if a pandas y has the row labels of a pandas X in another order: one of them was shuffled."""
    labels: Any = getattr(X, "index", None)
    others: Any = getattr(y, "index", None)
    if not (hasattr(labels, "equals") and hasattr(others, "equals")) or labels.equals(others):
        return
    if Counter(labels) == Counter(others):
        raise InputError("X and y must have their rows in the same order; their indexes differ. Pass y.loc[X.index].")


def as_classes(y: Any) -> Classes:
    """Return the target's classes; a quantity, a single class, or missing values are errors."""
    values = _target(y)
    n = values.size
    if n == 0:
        raise InputError("y must hold the class of each row; it is empty.")
    is_float = values.dtype.kind == "f"
    codes = _codes(values)
    bad = np.isnan(codes) | np.isinf(values) if is_float else np.isnan(codes)
    if bad.any():
        raise InputError(
            f"y must give every row a class; {int(bad.sum())} of {n} are missing or infinite. "
            "Leave those rows out of X and y."
        )
    counts = np.bincount(codes.astype(np.int64))
    if is_float and counts.size > max(MOST_FLOAT_CLASSES, n / 10):
        raise InputError(
            f"y must hold classes; it has {counts.size} distinct floats in {n} rows, which looks like a regression "
            "target. These rankers are for classification: bin it, or pass it as integers or strings if it is classes."
        )
    if counts.size < 2:
        raise InputError(f"y must hold at least two classes; all {n} rows are of class {values[:1].tolist()[0]!r}.")
    if counts.max() < 2:
        raise InputError(f"y must hold a class with at least two rows; all {n} rows are of different classes.")
    return Classes(codes.astype(np.int32), counts)


def _target(y: Any) -> NDArray[Any]:
    """Return the target as a one-dimensional array: of numbers or bools as they are, anything else as objects."""
    import narwhals as nw

    if nw.dependencies.is_into_dataframe(y):
        y = y[next(iter(nw.from_native(y, eager_only=True).columns))] if y.shape[1] == 1 else np.empty(y.shape)
    if nw.dependencies.is_into_series(y):
        return _objects(nw.from_native(y, series_only=True))
    try:
        values = np.asarray(y)
    except ValueError:
        raise InputError("y must be one-dimensional: one class a row. Its entries have unequal lengths.") from None
    if isinstance(y, (list, tuple)) and values.dtype.kind in "US":
        # NumPy turns [1, "a", None] into strings, and None into a class of its own.
        values = np.array([*y, None], np.object_)[:-1]
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InputError(f"y must be one-dimensional: one class a row. Got shape {values.shape}.")
    return values
