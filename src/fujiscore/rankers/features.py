"""The prepared table: features and classes of whatever users have, checked once, as arrays. Imports errors only."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fujiscore.coercion import is_number, unmasked
from fujiscore.errors import InputError, first_few, spelled

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

Scores: TypeAlias = "NDArray[np.float64]"
# A float target with more distinct values than this, and than a tenth of the rows, is taken for a quantity.
MOST_FLOAT_CLASSES = 10
# Text with more distinct numbers in it than this is numbers written as text; with fewer it may be codes of categories.
MOST_NUMERIC_CATEGORIES = 10


@dataclass(frozen=True, eq=False)
class Features:
    """A table of features and the class of each row, checked: every ranker takes it as X, without y.

    Attributes
    ----------
    values, categorical : ndarray of float64, shape (n, m), and of bool, shape (m,)
        Finite, or NaN where missing; a categorical column holds codes 0, 1, ... of its categories.
    names : sequence or None
        The names of the columns, None if the input had none.
    codes, counts : ndarray of int32, shape (n,), and of int64
        The class of each row: 0, 1, ... in the order of the sorted classes; and the number of rows of each class.
    notes : tuple of str
        What a reader of results on these data should know.
    """

    values: Scores
    categorical: NDArray[np.bool_]
    names: Sequence[Hashable] | None
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> list[Hashable]:
        """The names of the columns, or their positions as text."""
        return [str(column) for column in range(self.categorical.size)] if self.names is None else list(self.names)

    def at(self, rows: NDArray[np.int64]) -> Features:
        """Return some of the rows, unchecked but for their classes; classes without rows are closed up."""
        codes = renumbered(self.codes[rows])
        counts = np.bincount(codes)
        _require_classes(counts, "0")
        return replace(self, values=self.values[rows], codes=codes, counts=counts)

    def require_complete(self, method: str) -> None:
        """Raise if values are missing, for a method that cannot use them."""
        incomplete = np.isnan(self.values).any(axis=0)
        if incomplete.any():
            some = described_columns(incomplete, self.names, "has some", "have some")
            raise InputError(f"{method} cannot use missing values; {some}. Fill them in, drop them, or use relief.")


def described_columns(columns: Any, names: Sequence[Hashable] | None, one: str = "", many: str = "") -> str:
    """Return columns (a mask or positions) and a verb for one or many of them, as words for a message."""
    positions = np.flatnonzero(columns) if np.asarray(columns).dtype == np.bool_ else columns
    shown = [repr(int(position) if names is None else names[int(position)]) for position in positions]
    return (f"column {shown[0]} {one}" if len(shown) == 1 else f"columns {first_few(shown)} {many}").rstrip()


def renumbered(codes: NDArray[Any]) -> NDArray[Any]:
    """Return codes from 0 up without gaps: those that do not occur are closed up."""
    occurs = np.bincount(codes) > 0
    return codes if occurs.all() else (np.cumsum(occurs) - 1).astype(codes.dtype)[codes]


def prepare(
    X: Any, y: Any = None, categorical: Any = None, *, names: Sequence[Hashable] | None = None, inspect: bool = False
) -> Features:
    """Return the prepared table; a prepared table is returned as it is.

    Parameters
    ----------
    X, y, categorical
        As in `relief`.
    names : sequence, optional
        The names of the columns, if X does not carry them.
    inspect : bool
        Also treat text columns of dataframes as categorical, refuse columns that look like identifiers, and note
        what is odd about the data.
    """
    if isinstance(X, Features):
        if y is not None or categorical is not None or names is not None:
            raise InputError("X is a prepared table, which holds y, names and categorical columns: do not pass them.")
        return X
    _same_index(X, y)
    values, marked, own_names, text = _table(X, categorical, inspect=inspect)
    n, m = values.shape
    if n == 0 or m == 0:
        raise InputError(f"X must have rows and columns; got {n} rows and {m} columns.")
    codes, counts = as_classes(y)
    if n != codes.size:
        raise InputError(f"X and y must have the same number of rows; they have {n} and {codes.size}.")
    if names is not None and (len(names) != m or len(set(names)) < m):
        raise InputError(f"features must name each of the {m} columns of X once; got {len(names)} names.")
    table = Features(values, marked, own_names if names is None else list(names), codes, counts)
    infinite = np.isinf(values).any(axis=0)
    if infinite.any():
        some = described_columns(infinite, table.names, "has infinite ones", "have infinite ones")
        raise InputError(f"X must hold finite numbers; {some}. Replace them, or use NaN for missing values.")
    return replace(table, notes=tuple(_inspect(table, text))) if inspect else table


def _table(X: Any, categorical: Any, *, inspect: bool) -> tuple[Any, ...]:
    """Return values, categorical columns, names, and the text columns treated as categorical."""
    import narwhals as nw

    if hasattr(X, "tocsr"):
        raise InputError("X must be a dense table; got a sparse matrix. Pass X.toarray().")
    if nw.dependencies.is_into_dataframe(X):
        return _from_frame(X, categorical, inspect=inspect)
    try:
        values = unmasked(np.asanyarray(X))
    except ValueError:
        raise InputError("X must be a table; its rows have unequal lengths.") from None
    if values.ndim != 2:
        remedy = " Pass X.reshape(-1, 1) if it is one feature." if values.ndim == 1 else ""
        raise InputError(f"X must be two-dimensional, with one row per instance; got shape {values.shape}.{remedy}")
    marked, is_bool = _marked(categorical, values.shape[1], None), values.dtype.kind == "b"
    if is_bool or (values.dtype.kind in "fiu" and not marked.any()):
        return np.asarray(values, np.float64), marked | is_bool, None, []
    return _from_columns(values.T, values.shape, marked, None), marked, None, []


def _from_frame(X: Any, categorical: Any, *, inspect: bool) -> tuple[Any, ...]:
    """Return a dataframe as `_table` does; its types say which columns are categorical, and `categorical` adds more."""
    import narwhals as nw

    repeated = [name for name, count in Counter(getattr(X, "column_names", X.columns)).items() if count > 1]
    if repeated:
        raise InputError(f"X must have unique column names; {repeated[0]!r} names more than one. Rename them.")
    frame = nw.from_native(X, eager_only=True)
    names, types = list(frame.columns), list(frame.schema.values())
    marked = _marked(categorical, len(names), names)
    marked |= np.array([isinstance(kind, (nw.Categorical, nw.Enum, nw.Boolean)) for kind in types], np.bool_)
    text = [column for column, kind in enumerate(types) if inspect and kind == nw.String and not marked[column]]
    for column in text:
        _refuse_numeric_text(names[column], frame[names[column]].to_list())
    marked[text] = True
    if not marked.any() and all(kind.is_numeric() for kind in types):
        if nw.dependencies.is_pandas_dataframe(X):
            return X.to_numpy(dtype=np.float64, na_value=np.nan), marked, names, text
        return np.asarray(frame.to_numpy(), np.float64), marked, names, text
    columns = (_objects(series, in_order=True) for series in frame.iter_columns())
    return _from_columns(columns, frame.shape, marked, names), marked, names, text


def _refuse_numeric_text(name: Hashable, values: Sequence[Any]) -> None:
    """Raise if a text column holds numbers."""
    distinct = {value for value in values if isinstance(value, str)}
    other = [value for value in distinct if not is_number(value)]
    if len(distinct) > MOST_NUMERIC_CATEGORIES and len(other) * 2 <= len(distinct):
        what = f"most of it numbers, but also {other[0]!r}" if other else "all of it numbers"
        raise InputError(f"X must hold numbers as numbers; column {name!r} holds text, {what}. {_remedy()}")


def _remedy() -> str:
    """Return what to do about a column that holds something other than numbers."""
    return f"Convert it to numbers, or declare it categorical (by its dataframe type or {spelled('categorical')})."


def _objects(series: Any, *, in_order: bool = False) -> NDArray[Any]:
    """Return a dataframe's column as an array: numbers as they are, ordered categories as positions, or objects."""
    categories = getattr(series.dtype, "categories", None)
    if in_order and categories is not None:
        order = {category: position for position, category in enumerate(categories)}
        return np.array([order.get(value, np.nan) for value in series.to_list()])
    if series.dtype.is_numeric() and not series.is_null().any():
        return np.asarray(series.to_numpy())
    # NaN is not null in every library, and comes as it is.
    return np.array([*series.to_list(), None], np.object_)[:-1]


def _from_columns(
    columns: Iterable[NDArray[Any]], shape: tuple[int, ...], marked: NDArray[np.bool_], names: Sequence[Hashable] | None
) -> Scores:
    """Convert column by column: categories to codes, the rest to numbers."""
    values = np.empty(shape, order="F")
    for position, column in enumerate(columns):
        values[:, position] = _codes(column) if marked[position] else _numbers(column, position, names)
    return values


def _numbers(column: NDArray[Any], position: int, names: Sequence[Hashable] | None) -> Scores:
    """Return a column as float64 (None as NaN); text and other objects are an error that names the column."""
    if column.dtype.kind in "fiub":
        return column.astype(np.float64)
    numbers = np.full(column.size, np.nan)
    for row, value in enumerate(column.tolist()):
        if _is_missing(value):
            continue
        if isinstance(value, (str, bytes, complex)) or not hasattr(value, "__float__"):
            where, kind = described_columns([position], names), type(value).__name__
            raise InputError(f"X must hold numbers; {where} holds {value!r} ({kind}). {_remedy()}")
        numbers[row] = float(value)
    return numbers


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas' NA: not equal to itself, or not saying whether it is."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except TypeError:
        return True


def _codes(column: NDArray[Any]) -> Scores:
    """Return categories as 0, 1, ... in sorted order (of appearance, where they do not sort); missing as NaN."""
    if column.dtype.kind in "fiub":
        codes = np.unique(column, return_inverse=True)[1].astype(np.float64)
        return np.where(np.isnan(column), np.nan, codes)  # NaN sorts last
    values = column.tolist()
    distinct = [value for value in dict.fromkeys(values) if not _is_missing(value)]
    with suppress(TypeError):
        distinct.sort()
    order = {value: code for code, value in enumerate(distinct)}
    return np.array([order.get(value, np.nan) for value in values], np.float64)


def _marked(categorical: Any, m: int, names: Sequence[Hashable] | None) -> NDArray[np.bool_]:
    """Return the mask that `categorical` stands for: a mask of m bools, column positions, or column names."""
    marked = np.zeros(m, np.bool_)
    if categorical is None:
        return marked
    entries: list[Any] = [categorical] if isinstance(categorical, (str, int)) else list(categorical)
    if entries and all(isinstance(entry, (bool, np.bool_)) for entry in entries):
        if len(entries) != m:
            raise InputError(f"{spelled('categorical')} must have one entry per column of X, {m}; got {len(entries)}.")
        return np.array(entries, np.bool_)
    for entry in entries:
        try:
            marked[names.index(entry) if names is not None and entry in names else index(entry)] = True
        except (TypeError, IndexError):
            kinds = f"a mask of {m} bools, or a list of columns of X (names or positions)"
            raise InputError(f"{spelled('categorical')} must be {kinds}; got {entry!r}.") from None
    return marked


def _same_index(X: Any, y: Any) -> None:
    """Raise if a pandas y has the row labels of a pandas X in another order: one of them was shuffled."""
    labels: Any = getattr(X, "index", None)
    others: Any = getattr(y, "index", None)
    both = hasattr(labels, "equals") and hasattr(others, "equals")
    if both and not labels.equals(others) and Counter(labels) == Counter(others):
        raise InputError("X and y must have their rows in the same order; their indexes differ. Pass y.loc[X.index].")


def as_classes(y: Any) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return a target's codes and the rows of each; a quantity, a single class, or missing values are errors."""
    values = _target(y)
    n = values.size
    if n == 0:
        raise InputError("y must hold the class of each row; it is empty.")
    is_float, codes = values.dtype.kind == "f", _codes(values)
    bad = np.isnan(codes) | np.isinf(values) if is_float else np.isnan(codes)
    if bad.any():
        few = f"{int(bad.sum())} of {n} are missing or infinite"
        raise InputError(f"y must give every row a class; {few}. Drop those rows from X and y.")
    counts = np.bincount(codes.astype(np.int64))
    if is_float and counts.size > max(MOST_FLOAT_CLASSES, n / 10):
        raise InputError(
            f"y must hold classes; it has {counts.size} distinct floats in {n} rows, which looks like a regression "
            "target. These rankers are for classification: bin it, or pass classes as integers or strings."
        )
    _require_classes(counts, repr(values[:1].tolist()[0]))
    return codes.astype(np.int32), counts


def _require_classes(counts: NDArray[np.int64], first: str) -> None:
    """Raise unless there are two classes, and two rows of some class."""
    if counts.size < 2:
        raise InputError(f"y must hold at least two classes; all {counts.sum()} rows are of class {first}.")
    if counts.max() < 2:
        raise InputError(
            f"y must hold a class with at least two rows; all {counts.size} rows are of different classes."
        )


def _target(y: Any) -> NDArray[Any]:
    """Return the target as a one-dimensional array: of numbers or bools as they are, anything else as objects."""
    import narwhals as nw

    if nw.dependencies.is_into_dataframe(y):
        y = y[next(iter(nw.from_native(y, eager_only=True).columns))] if y.shape[1] == 1 else np.empty(y.shape)
    if nw.dependencies.is_into_series(y):
        return _objects(nw.from_native(y, series_only=True))
    try:
        values = unmasked(np.asanyarray(y))
    except ValueError:
        raise InputError("y must be one-dimensional: one class per row. Its entries have unequal lengths.") from None
    if isinstance(y, (list, tuple)) and values.dtype.kind in "US":
        # NumPy turns [1, "a", None] into strings, and None into a class of its own.
        values = np.array([*y, None], np.object_)[:-1]
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        got = "None" if y is None else f"shape {values.shape}"
        raise InputError(f"y must be one-dimensional: one class per row. Got {got}.")
    return values


def _inspect(table: Features, text: Sequence[int]) -> list[str]:
    """Return what is odd about the columns and the classes; a column that looks like an identifier is an error."""
    values, names, n = table.values, table.labels, table.codes.size
    lowest, highest = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    present = n - np.isnan(values).sum(axis=0)
    levels = np.where(table.categorical, highest + 1, 0)
    many = levels * 2 > np.maximum(present, 4)
    identifiers = table.categorical & (levels == present) & (present > 2)
    if identifiers.any():
        one, many = (f"{verb} unique in every row and looks like an identifier" for verb in ("is", "are"))
        raise InputError(f"X must hold features; {described_columns(identifiers, table.names, one, many)}. Drop it.")
    steps = ~table.categorical & (highest - lowest == n - 1) & (n > 2)
    steps[steps] = [(np.abs(np.diff(values[:, column])) == 1).all() for column in np.flatnonzero(steps)]
    odd = {
        "text treated as categories": np.isin(np.arange(len(names)), text),
        "more than half as many categories as rows, which inflates mutual information": many,
        "no values at all": present == 0,
        "constant, so no method can use them": (lowest == highest) & (present > 0),
        "numbers the rows, and carries only their order": steps,
    }
    notes = [
        f"{what}: {first_few([names[column] for column in np.flatnonzero(columns)])}"
        for what, columns in odd.items()
        if columns.any()
    ]
    classes, single = table.counts.size, int((table.counts == 1).sum())
    if classes > max(20, n / 10):
        notes.append(f"the target has {classes} classes in {n} rows: check that it is not a quantity")
    if single:
        notes.append(f"{single} of {classes} classes {'has' if single == 1 else 'have'} only one row")
    return notes
