"""Whatever users have, as labels and float64 scores: lists, arrays, dicts, Series, DataFrames, Arrow streams."""

from __future__ import annotations

import os
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence, Sized
from decimal import Decimal
from math import isinf
from numbers import Number, Rational
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, MissingExtraError, spelled
from fujiscore.inputs.direction import Evidence, evidence
from fujiscore.inputs.roles import is_group_name
from fujiscore.text.notes import Fact, Note

Scores: TypeAlias = "NDArray[np.float64]"
Labels: TypeAlias = Sequence[Hashable]
EXACT = 2.0**53  # smaller integers are exact as float64; beyond, neighbours become equal
MOST_ITEMS = 2**31 - 1  # positions are 32-bit integers
NO_ITEM = -1  # what indexes return as the id where they have no more items


class Labelled(NamedTuple):
    """One ranking as labels (None: positions) and unchecked scores in the same order."""

    items: Labels | None
    scores: Scores
    notes: tuple[str, ...] = ()
    negative: str = "raise"  # the policy for negative scores that suits them, for callers that name none
    underscored: bool = False  # the labels have underscores where they may have had blanks
    unsigned: str | None = (
        None  # of scores that lost their signs: what they are and how to keep the signs, for `no_signs`
    )
    evidence: Evidence | None = None  # what is known about their direction


def no_signs(name: str, wanted: str, unsigned: str) -> InputError:
    """Return the error for scores without signs where something is wanted that compares signs."""
    return InputError(f"{name} must have signs for {wanted}; it holds {unsigned}", "signs")


class ReadInPasses:
    """A ranking or several, read in passes because they do not fit in memory: no item is known."""

    @property
    def names(self) -> tuple[str, ...]:
        """One name per ranking."""
        raise NotImplementedError

    def refusal(self, what: str = "") -> InputError:
        """Return the error for what needs the items."""
        wanted = f" for {what}" if what else ""
        return InputError(
            f"{' and '.join(self.names)} must be in memory{wanted}, not read in passes, which keep no items. Raise the "
            "memory limit (FUJISCORE_MEMORY_LIMIT), rank fewer items, or pass both columns through fujiscore.scan to "
            "fujiscore.compare."
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Raise: there are no scores in memory."""
        raise self.refusal("an array")


def is_null(value: Any) -> bool:
    """Return whether a value stands for nothing: None, a NaN or NaT of any type, pandas.NA, or masked."""
    if isinstance(value, (Number, np.generic)):
        try:
            return bool(value != value)  # noqa: PLR0124 - only NaN and NaT differ from themselves
        except ArithmeticError:  # a signalling NaN
            return True
    return value is None or type(value).__name__ in {"NAType", "NaTType", "MaskedConstant"}


def _is_null_label(value: Any) -> bool:
    """Return whether a label is missing, or a part of it: a tuple with a NaN does not match another one."""
    return any(map(_is_null_label, value)) if isinstance(value, (tuple, frozenset)) else is_null(value)


def unique_labels(items: Iterable[Any], name: str) -> dict[Hashable, None]:
    """Return each label once, in order; unhashable and missing labels are an error."""
    try:
        unique = dict.fromkeys(items)
    except TypeError as error:
        raise InputError(f"{name} must have hashable labels such as strings; got an {error}.") from None
    require_labels(unique, name)
    return unique


def require_labels(items: Iterable[Any], name: str) -> None:
    """Raise if a label is missing (None, NaN): such labels match nothing, not even themselves."""
    if set(map(type, items)) <= {str, int}:
        return
    position = next((i for i, item in enumerate(items) if _is_null_label(item)), None)
    if position is not None:
        raise InputError(f"{name} must label every item; the label at position {position} is missing. Drop that item.")


def first_repeated(names: Iterable[Hashable]) -> Any:
    """Return the first name that occurs a second time, None if there is none."""
    seen: set[Hashable] = set()
    return next((name for name in names if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]


def merged(values: Iterable[Any]) -> tuple[Any, Any] | None:
    """Return two different numbers that are equal as float64, None if there are none."""
    first: dict[float, Any] = {}
    for value in values:
        if isinstance(value, (Rational, Decimal, float)) and value == value:  # noqa: PLR0124 - NaN
            other = first.setdefault(float(value), value)
            if other != value and not isinf(float(value)):
                return other, value
    return None


def unmasked(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array with NaN (None, unless it holds floats) in place of what a mask hides."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    hidden: Any = np.nan if values.dtype.kind == "f" else None
    return np.where(np.ma.getmaskarray(values), hidden, values.data)


def labelled(obj: Any, name: str) -> Labelled:
    """Return one object as labels and scores; the scores may still be negative, NaN or infinite."""
    if isinstance(obj, Labelled):
        require_size(obj.scores.size, name)
        return obj
    if isinstance(obj, ReadInPasses):
        raise obj.refusal()
    if isinstance(obj, np.ndarray):
        return _from_array(obj, name)
    if isinstance(obj, (list, tuple, range)):
        return _from_sequence(obj, name)
    if isinstance(obj, Mapping):
        return Labelled(list(obj), _numbers(_array(list(obj.values()), name), name))
    return _from_library(obj, name)


def _from_array(obj: NDArray[Any], name: str) -> Labelled:
    """Return an array's scores; an array of text is a list of items."""
    require_size(obj.size, name)
    values = unmasked(obj)
    if values.dtype.kind in "UOT" and values.ndim == 1 and values.size and _all_text(values.tolist()):
        return _from_items(values.tolist(), name)
    return Labelled(None, _numbers(values, name))


def _from_sequence(obj: Sequence[Any], name: str) -> Labelled:
    """Return scores, (item, score) pairs, or a list of items from best to worst."""
    require_size(len(obj), name)
    if obj and isinstance(obj[0], tuple) and all(isinstance(entry, tuple) and len(entry) == 2 for entry in obj):
        return Labelled([item for item, _ in obj], _numbers(_array([score for _, score in obj], name), name))
    if obj and isinstance(obj[0], str) and _all_text(obj):
        return _from_items(obj, name)
    return Labelled(None, _numbers(_array(obj, name), name))


def _all_text(entries: Sequence[Any]) -> bool:
    """Return whether the entries are strings, and not numbers written as strings."""
    return all(isinstance(entry, str) for entry in entries) and not all(is_number(entry) for entry in entries)


def is_number(text: str) -> bool:
    """Return whether Python reads a text as a number: also 1_0 and the digits of all scripts, which no score may be."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _from_items(items: Sequence[str], name: str) -> Labelled:
    """Return a list without scores: 1/rank, so that rank j counts k/j towards the top k."""
    return Labelled(list(items), 1.0 / np.arange(1, len(items) + 1), (Note(Fact("no scores", name)),))


def _array(obj: Any, name: str) -> NDArray[Any]:
    """Return an array, or say that the sequence has no regular shape."""
    try:
        values = np.asarray(obj)
    except OverflowError:  # a range
        raise InputError(f"{name} must hold fewer than 2^31 items; it has far more. Rank the best of them.") from None
    except ValueError:
        raise InputError(
            f"{name} must be a flat list of scores; its entries are sequences of unequal lengths."
        ) from None
    # Numbers beside text became text too, and large integers beside floats became floats.
    if values.ndim == 1 and (values.dtype.kind in "US" or (values.dtype.kind == "f" and _is_large(values).any())):
        values = objects(obj)
    return values


def objects(values: Iterable[Any]) -> NDArray[Any]:
    """Return values as a vector of Python objects, sequences among them, too."""
    return np.array([*values, None], np.object_)[:-1]


def as_ids(obj: Any, name: str, remedy: str) -> NDArray[Any]:
    """Return ids as a 2-D array of integers or text, one row per query; NO_ITEM also where it was unsigned."""
    try:
        ids = np.atleast_2d(np.asarray(obj))
    except ValueError:
        ids = np.empty((0, 0, 0))
    text = ids.dtype == object and all(isinstance(label, str) for label in ids.ravel().tolist())
    if ids.ndim != 2 or ids.size == 0 or not (ids.dtype.kind in "iuUT" or text):
        raise InputError(
            f"{name} must have ids, integers or text, as a 2-D array with one row per query; got "
            f"{'rows of unequal length' if ids.ndim == 3 and not ids.size else f'shape {ids.shape} of {ids.dtype}'}. "
            f"{remedy} Fill up short rows with {NO_ITEM}."
        )
    if ids.dtype.kind == "u" and ((ids < 2**63) | (ids == np.iinfo(ids.dtype).max)).all():
        return np.where(ids == np.iinfo(ids.dtype).max, NO_ITEM, ids.astype(np.int64))  # the same, unsigned
    return ids


def require_size(size: int, name: str) -> None:
    """Raise if there are more items than positions."""
    if size > MOST_ITEMS:
        raise InputError(f"{name} must hold fewer than 2^31 items; it has {size:,}. Rank the best of them.")


def _is_large(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which numbers are so large that float64 need not hold them exactly if they are integers."""
    return np.asarray(np.abs(values) >= EXACT)


def _numbers(values: NDArray[Any], name: str) -> Scores:
    """Return scores as a contiguous float64 array."""
    if values.ndim != 1:
        raise InputError(
            f"{name} must be one-dimensional: one score per item. Got an array of shape {values.shape}; "
            "pass one row or one column of it, or fujiscore.importances of attributions (rows by features)."
        )
    if values.size == 0:
        raise InputError(f"{name} must hold at least one score; it is empty.")
    require_size(values.size, name)
    numbers = values if values.dtype.kind in "fiub" else _from_objects(values, name)
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes infinite, which is refused later
        scores = np.ascontiguousarray(numbers, dtype=np.float64)
    if values.dtype.kind not in "fb" and (large := _is_large(scores)).any():
        require_apart(values[large].tolist(), f"{name} must hold")
    return scores.copy() if np.may_share_memory(scores, values) else scores  # users may write to their array


def require_apart(values: Iterable[Any], must: str) -> None:
    """Raise if float64 makes two different integers equal; the message begins with what must hold numbers."""
    if pair := merged(values):
        raise InputError(
            f"{must} numbers that float64 tells apart; {pair[0]} and {pair[1]} become equal. Replace them by smaller "
            "numbers in the same order."
        )


def _from_objects(values: NDArray[Any], name: str) -> Scores:
    """Convert Python objects that are numbers (None and pandas.NA count as NaN); others are an error that names it."""
    if values.dtype.kind in "mM":
        raise InputError(f"{name} must hold numbers; got {values.dtype}. Convert the scores to float first.")
    values = values.astype(np.object_)
    for position, value in enumerate(values.tolist()):
        if value is None or type(value).__name__ in {"NAType", "MaskedConstant"}:
            values[position] = np.nan
        elif isinstance(value, Mapping):
            raise InputError(f"{name} must be one ranking; got several, each a mapping. Pass one of them.")
        elif isinstance(value, (str, bytes, complex)) or not hasattr(value, "__float__"):
            raise InputError(
                f"{name} must hold numbers; got {value!r} ({type(value).__name__}) at position {position}. "
                "Convert the scores to float first."
            )
    try:
        return values.astype(np.float64)
    except (OverflowError, TypeError, ValueError):
        raise InputError(f"{name} must hold finite scores, one number per item; some do not fit a float.") from None


def _from_library(obj: Any, name: str) -> Labelled:
    """Return the scores of a Series (with its index), a table with one score column, or another iterable."""
    import narwhals as nw

    if isinstance(obj, Sized):
        require_size(len(obj), name)
    _require_consistent(obj, name)
    if nw.dependencies.is_pandas_series(obj):
        return _from_pandas(obj, name)
    if nw.dependencies.is_into_series(obj):
        series = nw.from_native(obj, series_only=True)
        values = np.asarray(series.to_numpy())
        if series.dtype.is_integer() and values.dtype.kind == "f" and _is_large(values).any():
            values = objects(series.to_list())  # integers that nulls beside them made floats
        part = _from_array(values, name)
        return part._replace(evidence=evidence(getattr(obj, "name", None), part.scores))
    if is_table(obj):
        names, columns = from_table(obj, None)
        if len(columns) != 1:
            raise InputError(
                f"{name} must be one ranking; got a table of {len(columns)} score columns "
                f"({', '.join(names[:8])}). Pass one column of it."
            )
        return labelled(columns[0], name)
    if hasattr(type(obj), "fit"):  # ensembles are iterable
        raise InputError(
            f"{name} must be scores; got the model {type(obj).__name__}. Pass fujiscore.importances of it."
        )
    if hasattr(obj, "__array__") and not isinstance(obj, type):
        return _from_array(_converted(obj, name), name)
    if isinstance(obj, Iterable) and not isinstance(obj, (str, bytes, set, frozenset)):
        return _from_sequence(list(obj), name)
    remedy = " Read files with fujiscore.read." if isinstance(obj, (str, os.PathLike)) else ""
    raise InputError(
        f"{name} must be scores: a list, an array, a pandas or polars Series, a dict of item to score, or "
        f"(item, score) pairs. Got {type(obj).__name__}.{remedy}"
    )


def _converted(obj: Any, name: str) -> NDArray[Any]:
    """Return the array that an object, such as a tensor, converts itself to."""
    try:
        return np.asanyarray(obj)  # a masked array stays one
    except (RuntimeError, TypeError, ValueError) as error:
        raise InputError(f"{name} must be scores; its {type(obj).__name__} gives no array: {error}") from None


def _from_pandas(series: Any, name: str) -> Labelled:
    """Return a pandas Series with its index as labels; a Series of text is a list of items."""
    if series.dtype.kind in "OT" and len(series) and _all_text(series.tolist()):
        return _from_items(series.tolist(), name)
    values = _numbers(_pandas_array(series), name)
    return Labelled(_index_labels(series.index), values, evidence=evidence(series.name, values))


def _index_labels(index: Any) -> Labels:
    """Return the labels of a pandas index, a range for the default one."""
    plain = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    return range(len(index)) if plain else index.tolist()


def _pandas_array(series: Any) -> NDArray[Any]:
    """Return a pandas Series as an array of its own numbers, NaN where it has none."""
    kind = series.dtype.kind
    if kind in "iu" and not series.hasnans:
        return np.asarray(series.to_numpy(dtype=f"{kind}8"))
    if kind in "fiub":
        values = np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
        if kind in "fb" or not _is_large(values).any():
            return values
    return np.asarray(series.to_numpy(dtype=np.object_, na_value=np.nan))


def is_table(obj: Any) -> bool:
    """Return whether an object is a DataFrame or an Arrow stream (such as a DuckDB relation)."""
    import narwhals as nw

    if nw.dependencies.is_into_dataframe(obj):
        return True
    return hasattr(obj, "__arrow_c_stream__") and not nw.dependencies.is_into_series(obj)


def as_frame(obj: Any, name: str) -> tuple[Any, Any]:
    """Return a DataFrame or Arrow stream with names of text for its columns, and the same as narwhals sees it."""
    import narwhals as nw

    if not nw.dependencies.is_into_dataframe(obj):
        obj = _arrow_table(obj)
    _require_consistent(obj, name)
    names = obj.column_names if hasattr(obj, "column_names") else list(obj.columns)
    _require_plain_names(names, name)
    if nw.dependencies.is_pandas_dataframe(obj) and any(not isinstance(column, str) for column in names):
        obj = obj.set_axis([str(column) for column in names], axis=1)
    return obj, nw.from_native(obj, eager_only=True)


def from_table(obj: Any, items: Any) -> tuple[list[str], list[Labelled]]:
    """Return a table's score columns as labelled rankings: one text column, the pandas index or nothing labels them."""
    obj, table = as_frame(obj, "rankings")
    items = str(items) if items is not None and not isinstance(items, str) else items
    require_size(len(table), "rankings")
    columns = list(table.columns)
    if items is not None and items not in columns:
        raise InputError(
            f"{spelled('items')} must name a column; got {items!r}. The columns are {', '.join(columns[:12])}."
        )
    column = items if items is not None else _text_column(table)
    labels = _frame_labels(obj, table, column)
    indexed = not isinstance(_frame_labels(obj, table, None), range | None)
    guessed = column is not None and items is None and indexed
    notes = (f"the column {column!r} labels the items, not the index",) if guessed else ()
    scored = [name for name in columns if name != column]
    if column is not None:
        _require_columns_of_rankings(table, column, labels, scored, named=items is not None)
    block = np.empty((len(scored), len(table)))  # one copy of the table: rankings.block() needs no second one
    for row, name in zip(block, scored, strict=True):
        column_ = table[name]
        nulls = not column_.dtype.is_numeric() or column_.is_null().any()
        row[:] = _numbers(objects(column_.to_list()) if nulls else np.asarray(column_.to_numpy()), name)
    both = zip(scored, block, strict=True)
    return scored, [Labelled(labels, row, notes, evidence=evidence(name, row)) for name, row in both]


def _require_columns_of_rankings(table: Any, column: str, labels: Any, scored: Sequence[str], *, named: bool) -> None:
    """Raise if a table may have one row per item and ranking, or one ranking per row, by its columns' names."""
    by = next((name for name in scored if is_group_name(name) and table[name].dtype.is_integer()), None)
    if by is not None and len(set(labels)) < len(labels):
        raise InputError(
            f"rankings must have one column per ranking; this table seems to have one row per item and ranking, named "
            f"by {by!r}. Reshape it, in pandas by .pivot(index={column!r}, columns={by!r}, values=...), or drop {by!r}."
        )
    if not named and len(scored) > 1 and is_group_name(column):
        raise InputError(
            f"rankings must say whether rows or columns are rankings, for column {column!r} may name either. Pass "
            f"{spelled('items', column)} to rank the rows by each column; or transpose the table to rank the columns "
            f"in each row, in pandas by .set_index({column!r}).T."
        )


def _require_consistent(obj: Any, name: str) -> None:
    """Raise if Arrow data refers to what lies beyond its buffers: who reads it, reads there or crashes."""
    pa: Any = sys.modules.get("pyarrow")  # without it, nothing here comes from Arrow buffers
    if pa is None:
        return
    try:
        for part in _arrow_parts(obj, pa):
            part.validate(full=True)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise InputError(f"{name} must be consistent Arrow data; it is damaged: {error}") from None


def _arrow_parts(obj: Any, pa: Any) -> list[Any]:
    """Return the Arrow data that an object consists of, without a copy."""
    import narwhals as nw

    depends = nw.dependencies
    if depends.is_pandas_series(obj) or depends.is_pandas_dataframe(obj):
        kinds = [obj.dtype] if obj.ndim == 1 else list(obj.dtypes)
        arrow = [i for i, kind in enumerate(kinds) if type(kind).__name__ in {"ArrowDtype", "StringDtype"}]
        arrays = [obj.array if obj.ndim == 1 else obj.iloc[:, i].array for i in arrow]
        arrays += [obj.index.array] if obj.index.nlevels == 1 else []
        return [array.__arrow_array__() for array in arrays if type(array).__name__.startswith("Arrow")]
    if depends.is_polars_dataframe(obj):
        return [pa.table(obj)]
    if depends.is_polars_series(obj):
        return [pa.chunked_array(obj)]
    return [obj] if isinstance(obj, (pa.Table, pa.RecordBatch, pa.ChunkedArray, pa.Array)) else []


def _arrow_table(obj: Any) -> Any:
    """Read an object that offers an Arrow stream."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError("reading an Arrow stream needs pyarrow: pip install 'fujiscore[parquet]'") from None
    try:
        return pa.table(obj)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"rankings must be a table; the {type(obj).__name__} is not one: {error}") from None


def _require_plain_names(names: Sequence[Any], name: str) -> None:
    """Raise if column names repeat or are tuples (a MultiIndex)."""
    if any(isinstance(name, tuple) for name in names):
        raise InputError(f"{name} must have one level of column names; got a MultiIndex. Flatten the columns first.")
    repeated = first_repeated(map(str, names))
    if repeated is not None:
        raise InputError(f"{name} must name each column once; {repeated!r} names more than one. Rename them.")


def _text_column(table: Any) -> str | None:
    """Return the one column of text, which labels the items; None if all columns are numbers."""
    text = [name for name in table.columns if not _holds_scores(table[name])]
    if len(text) > 1:
        item, *others = sorted(text, key=is_group_name)  # those that may name rankings last
        advice = f"Name the column of labels: {spelled('items', item)}, and drop the others."
        if is_group_name(others[-1]):
            pivot = f".pivot(index={item!r}, columns={others[-1]!r}, values=...)"
            advice += f" Or, if {others[-1]!r} names the rankings, reshape the table, in pandas by {pivot}."
        raise InputError(
            f"rankings must have numeric columns and at most one of labels; {', '.join(map(repr, text[:8]))} are not "
            f"numeric. {advice}"
        )
    if text and len(table.columns) == 1:
        raise InputError(f"rankings must have a column of scores; {text[0]!r} is the only column, and it is text.")
    return text[0] if text else None


def _holds_scores(series: Any) -> bool:
    """Return whether a column holds numbers; Python objects are looked at one by one."""
    import narwhals as nw

    kind = series.dtype
    if kind.is_numeric() or kind == nw.Boolean:
        return True
    return kind in {nw.Object, nw.Unknown} and all(
        is_null(value) or isinstance(value, Number) for value in series.to_list()
    )


def _frame_labels(obj: Any, table: Any, column: str | None) -> Labels | None:
    """Return the labels of a table's rows."""
    import narwhals as nw

    if column is not None:
        labels: list[Hashable] = table[column].to_list()
        return labels
    return _index_labels(obj.index) if nw.dependencies.is_pandas_dataframe(obj) else None
