"""Labelled scores: whatever users have, as float64, aligned by label, checked once. Imports kernels and errors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import as_strided

from fujiscore import _kernels
from fujiscore.errors import InputError, choice
from fujiscore.tables import frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

Negative: TypeAlias = Literal["raise", "clip", "abs"]
Nan: TypeAlias = Literal["raise", "zero", "drop"]
Missing: TypeAlias = Literal["raise", "zero", "drop"]
Bounded: TypeAlias = Literal["bounds"]
NEGATIVE = ("raise", "clip", "abs")
NAN = ("raise", "zero", "drop")
MISSING = ("raise", "zero", "drop")
CLEAN = (False, False, False)

Scores: TypeAlias = "NDArray[np.float64]"
Labels: TypeAlias = Sequence[Hashable]


class Labelled(NamedTuple):
    """One ranking as labels, each once, and scores in the same order: no dict of millions of items is needed."""

    items: Labels
    scores: Scores


@dataclass(frozen=True, eq=False)
class Rankings:
    """Scores of the same items by one or more rankings: finite or -inf, never NaN, in one item order.

    Attributes
    ----------
    names : tuple of str
        One name a ranking.
    scores : tuple of ndarray of float64
        One array a ranking, an entry an item; higher is better.
    items : sequence or None
        The items' labels, None where the input had none.
    """

    names: tuple[str, ...]
    scores: tuple[Scores, ...]
    items: Labels | None = None

    def __len__(self) -> int:
        """Return the number of rankings."""
        return len(self.scores)

    @property
    def n(self) -> int:
        """The number of items."""
        return self.scores[0].size

    def __getitem__(self, name: str) -> Scores:
        """Return one ranking's scores."""
        if name not in self.names:
            raise InputError(f"rankings must hold the name asked for; {name!r} is not among {', '.join(self.names)}.")
        return self.scores[self.names.index(name)]

    def matrix(self) -> Scores:
        """Return all scores, a row a ranking; the user's own array where the rankings are its rows."""
        first = self.scores[0]
        step = 8 * self.n
        in_rows = all(own.ctypes.data == first.ctypes.data + i * step for i, own in enumerate(self.scores))
        if in_rows and isinstance(first.base, np.ndarray) and first.base.nbytes >= len(self) * step:
            return as_strided(first, (len(self), self.n), (step, 8))
        return np.array(self.scores)

    def to_frame(self, library: str | None = None) -> Any:
        """Return a column of items and a column a ranking as a pandas or polars DataFrame."""
        items = range(self.n) if self.items is None else self.items
        return frame({"item": list(items), **dict(zip(self.names, self.scores, strict=True))}, library)

    def label(self, position: int) -> Hashable:
        """Return the label of the item at a position: the position itself where items have no labels."""
        return position if self.items is None else self.items[position]


def rankings(
    obj: Any,
    *,
    items: str | None = None,
    negative: Negative = "raise",
    nan: Nan = "raise",
    missing: Missing = "raise",
) -> Rankings:
    """Return several rankings of the same items, aligned by label and checked.

    Parameters
    ----------
    obj : mapping, DataFrame, 2-D array or sequence
        A mapping of name to ranking; a pandas, polars or other DataFrame with one column a ranking (pandas: the
        index labels the items); a 2-D array with one row a ranking; or a sequence of rankings, each an array, a
        Series or a dict of item to score. Rankings are returned as they are.
    items : str, optional
        The DataFrame's column that labels the items.
    negative, nan, missing
        As in `fuji`; with nan="drop" and missing="drop" an item is left out of all rankings.

    Returns
    -------
    Rankings
        With `.names`, `.scores`, `.items` and `.to_frame()`.

    Examples
    --------
    >>> import fujiscore as fj
    >>> fj.rankings({"first": {"a": 3, "b": 1}, "second": {"b": 2, "a": 0}}).scores
    (array([3., 1.]), array([0., 2.]))
    """
    if isinstance(obj, Rankings):
        return obj
    names, objects = _split(obj, items)
    if not names:
        raise InputError("rankings must hold at least one ranking; got none.")
    return align(objects, names, negative=negative, nan=nan, missing=missing)


def _split(obj: Any, items: str | None) -> tuple[list[str], list[Any]]:
    """Return the names and the rankings in a container of any kind."""
    if isinstance(obj, Mapping):
        return [str(name) for name in obj], list(obj.values())
    if isinstance(obj, np.ndarray):
        if obj.ndim != 2:
            raise InputError(f"rankings must be a 2-D array, one row a ranking; got shape {obj.shape}.")
        return [str(i) for i in range(len(obj))], list(obj)
    if isinstance(obj, (list, tuple)):
        series = [str(getattr(own, "name", None) or i) for i, own in enumerate(obj)]
        unique = series if len(set(series)) == len(series) else [str(i) for i in range(len(obj))]
        return unique, list(obj)
    return _split_frame(obj, items)


def _split_frame(obj: Any, items: str | None) -> tuple[list[str], list[Any]]:
    """Return a DataFrame's columns as labelled rankings."""
    import narwhals as nw

    if not nw.dependencies.is_into_dataframe(obj):
        raise InputError(
            "rankings must be a mapping of name to ranking, a DataFrame, a 2-D array or a sequence of rankings; "
            f"got {type(obj).__name__}. Read files with fujiscore.read."
        )
    table = nw.from_native(obj, eager_only=True)
    if items is not None and items not in table.columns:
        raise InputError(f"items must name a column; got {items!r}. The columns are {', '.join(table.columns)}.")
    names = [name for name in table.columns if name != items]
    if items is not None:
        labels = table[items].to_list()
        return names, [_labelled(labels, table[name].to_list(), items) for name in names]
    text = [name for name in names if not (table[name].dtype.is_numeric() or table[name].dtype == nw.Boolean)]
    if text:
        raise InputError(
            f"rankings must have numeric columns; {text[0]!r} is {table[text[0]].dtype}. "
            f"If it labels the items, pass items={text[0]!r}."
        )
    pandas = nw.dependencies.is_pandas_dataframe(obj)
    return [str(name) for name in names], [obj[name] if pandas else table[name].to_native() for name in names]


def _labelled(labels: list[Any], scores: list[Any], column: str) -> dict[Any, Any]:
    """Return a dict of label to score, or say which label is repeated."""
    found = dict(zip(labels, scores, strict=True))
    if len(found) < len(labels):
        repeated = next(label for i, label in enumerate(labels) if label in labels[:i])
        raise InputError(f"column {column!r} must name each item once; {repeated!r} occurs more than once.")
    return found


def combine(first: Rankings, second: Rankings, missing: str) -> Rankings:
    """Bring two collections of rankings over one set of items together, the first's before the second's."""
    names = first.names + second.names
    if first.items is None and second.items is None:
        _same_length(first.scores + second.scores, names)
        return Rankings(names, first.scores + second.scores)
    labels = [first.items] * len(first) + [second.items] * len(second)
    scores, items = _align_labels(first.scores + second.scores, labels, names, missing)
    return Rankings(names, scores, items)


def align(
    objects: Sequence[Any],
    names: Sequence[str],
    *,
    negative: str = "raise",
    nan: str = "raise",
    missing: str = "raise",
) -> Rankings:
    """Turn one object a ranking into checked scores of the same items in the same order."""
    choice("negative", negative, NEGATIVE)
    choice("nan", nan, NAN)
    if missing == "bounds":
        raise InputError(
            "missing='bounds' gives an interval, not a value: use fujiscore.bounds(r, s), "
            "or fujiscore.curve(r, s, missing='bounds')."
        )
    choice("missing", missing, MISSING)
    coerced = [_coerce(obj, name) for obj, name in zip(objects, names, strict=True)]
    scores = tuple([own for own, _ in coerced])
    labels = [own for _, own in coerced]
    items = None
    if labels.count(None) == len(labels):
        _same_length(scores, names)
    else:
        scores, items = _align_labels(scores, labels, names, missing)
    return _clean(Rankings(tuple(names), scores, items), negative, nan)


def _coerce(obj: Any, name: str) -> tuple[Scores, Labels | None]:
    """Return an object's scores as a contiguous float64 array, and its labels if it has any."""
    labels: Labels | None = None
    if isinstance(obj, Labelled):
        labels, values = obj
    elif isinstance(obj, np.ma.MaskedArray):
        values = np.ma.filled(obj.astype(np.float64), np.nan) if obj.dtype.kind in "fiub" else obj.data
    elif isinstance(obj, (np.ndarray, list, tuple, range)):
        values = _array(obj, name)
    elif isinstance(obj, Mapping):
        labels = list(obj)
        values = _array(list(obj.values()), name)
    else:
        values, labels = _foreign(obj, name)
    if values.ndim != 1:
        raise InputError(
            f"{name} must be one-dimensional: one score an item. Got an array of shape {values.shape}; "
            "pass one row or one column of it."
        )
    if values.size == 0:
        raise InputError(f"{name} must hold at least one score; it is empty.")
    if values.dtype.kind not in "fiub":
        values = _from_objects(values, name)
    return np.ascontiguousarray(values, dtype=np.float64), labels


def _array(obj: Any, name: str) -> NDArray[Any]:
    """Return an array, or say that the sequence has no regular shape."""
    try:
        return np.asarray(obj)
    except ValueError:
        raise InputError(
            f"{name} must be a flat list of scores; its entries are sequences of unequal lengths."
        ) from None


def _foreign(obj: Any, name: str) -> tuple[NDArray[Any], Labels | None]:
    """Return the values of a dataframe library's Series (with its index, if it has one) or of an array-like."""
    import narwhals as nw

    if nw.dependencies.is_pandas_series(obj):
        return obj.to_numpy(dtype=_numeric(obj), na_value=np.nan), _index_labels(obj.index, name)
    if nw.dependencies.is_into_series(obj):
        return nw.from_native(obj, series_only=True).to_numpy(), None
    if nw.dependencies.is_into_dataframe(obj):
        raise InputError(f"{name} must be one ranking; got a table of {obj.shape[1]} columns. Pass one column of it.")
    if not hasattr(obj, "__array__"):
        raise InputError(
            f"{name} must be scores: a list, an array, a pandas or polars Series, or a dict of item to score. "
            f"Got {type(obj).__name__}."
        )
    return np.asarray(obj), None


def _numeric(series: Any) -> type[Any]:
    """Return the NumPy type that a pandas Series of numbers converts to (object for anything else)."""
    return np.float64 if series.dtype.kind in "fiub" else np.object_


def _index_labels(index: Any, name: str) -> Labels:
    """Return a pandas index as labels; the default index stays a range."""
    if not index.is_unique:
        raise InputError(
            f"{name} must score each item once; its index holds {index[index.duplicated()][0]!r} more than once. "
            "Drop or average the repeated items."
        )
    if index.__class__.__name__ == "RangeIndex" and index.start == 0 and index.step == 1:
        return range(len(index))
    labels: list[Hashable] = index.tolist()
    return labels


def _from_objects(values: NDArray[Any], name: str) -> Scores:
    """Convert Python objects that are numbers (None counts as NaN); anything else is an error that names it."""
    entries = values.astype(str) if values.dtype.kind in "mM" else values
    for position, value in enumerate(entries.tolist()):
        if isinstance(value, (str, bytes, complex)) or not (value is None or hasattr(value, "__float__")):
            raise InputError(
                f"{name} must hold numbers; got {value!r} ({type(value).__name__}) at position {position}. "
                "Convert the scores to float first."
            )
    try:
        return values.astype(np.float64)
    except (OverflowError, TypeError, ValueError):
        raise InputError(f"{name} must hold finite scores, one number an item; some do not fit a float.") from None


def _same_length(scores: Sequence[Scores], names: Sequence[str]) -> None:
    """Raise if rankings without labels differ in length."""
    for own, name in zip(scores, names, strict=True):
        if own.size != scores[0].size:
            raise InputError(
                f"{names[0]} and {name} must score the same items; they have {scores[0].size} and {own.size} scores. "
                "Pass pandas Series or dicts to align them by label."
            )


def _align_labels(
    scores: Sequence[Scores], labels: Sequence[Labels | None], names: Sequence[str], missing: str
) -> tuple[tuple[Scores, ...], Labels]:
    """Bring labelled scores into one item order: the first ranking's, then other items as they come."""
    for own, name in zip(labels, names, strict=True):
        if own is None:
            return _positional(scores, labels, names, name)
    known = [own for own in labels if own is not None]
    first = known[0]
    if all(own == first for own in known):
        return tuple(scores), first
    at = [{label: i for i, label in enumerate(own)} for own in known]
    items: Labels
    if missing == "drop":
        items = [label for label in first if all(label in own for own in at)]
        if not items:
            raise InputError(f"{' and '.join(names)} must share items to be compared; they have none in common.")
    else:
        items = list(dict.fromkeys(label for own in at for label in own))
        if missing == "raise":
            _raise_if_missing(items, at, names)
    aligned = []
    for own_scores, own_at in zip(scores, at, strict=True):
        positions = np.array([own_at.get(label, -1) for label in items])
        aligned.append(np.where(positions >= 0, own_scores[positions], 0.0))
    return tuple(aligned), items


def _positional(
    scores: Sequence[Scores], labels: Sequence[Labels | None], names: Sequence[str], bare: str
) -> tuple[tuple[Scores, ...], Labels]:
    """Align by position where one ranking has no labels and the others only a default index."""
    for own, name in zip(labels, names, strict=True):
        if own is not None and not isinstance(own, range):
            raise InputError(
                f"{name} has item labels and {bare} has none, so they cannot be aligned. "
                "Label both (pandas Series or dicts), or pass plain arrays in the same item order."
            )
    _same_length(scores, names)
    return tuple(scores), range(scores[0].size)


def _raise_if_missing(items: Labels, at: Sequence[Mapping[Hashable, int]], names: Sequence[str]) -> None:
    """Raise if a ranking lacks an item that another one scores."""
    for own, name in zip(at, names, strict=True):
        lacking = [label for label in items if label not in own]
        if lacking:
            raise InputError(
                f"{name} must score every item; it lacks {len(lacking)} of {len(items)} (first: {lacking[0]!r}). "
                "Pass missing='zero' to score them 0, or missing='drop' to compare the shared items only."
            )


def _clean(rankings: Rankings, negative: str, nan: str) -> Rankings:
    """Apply the NaN and negative policies; most input is clean and passes through untouched."""
    flaws = {_kernels.order.flaws(own) for own in rankings.scores}
    if flaws == {CLEAN}:
        return rankings
    if any(has_nan for has_nan, _, _ in flaws):
        rankings = _clean_nan(rankings, nan)
    scores = []
    for index, own in enumerate(rankings.scores):
        if negative == "abs":
            own = np.abs(own)  # noqa: PLW2901
        _raise_at(rankings, index, own == np.inf, "finite scores", "infinite", "Replace them by a large finite score.")
        if negative == "raise":
            _raise_at(
                rankings,
                index,
                own < 0,
                "non-negative scores",
                "negative",
                "Pass negative='clip' to count them as 0 (right where negative means no better than noise), "
                "or negative='abs' to rank by magnitude.",
            )
        scores.append(own)
    return Rankings(rankings.names, tuple(scores), rankings.items)


def _clean_nan(rankings: Rankings, nan: str) -> Rankings:
    """Refuse NaN, score it 0, or drop its items from all rankings."""
    if nan == "zero":
        return Rankings(
            rankings.names, tuple(np.where(np.isnan(own), 0.0, own) for own in rankings.scores), rankings.items
        )
    if nan == "raise":
        for index, own in enumerate(rankings.scores):
            remedy = "Pass nan='zero' to score them 0, or nan='drop' to leave those items out."
            _raise_at(rankings, index, np.isnan(own), "scores that are numbers", "NaN", remedy)
    keep = ~np.any([np.isnan(own) for own in rankings.scores], axis=0)
    if not keep.any():
        raise InputError(f"{' and '.join(rankings.names)} have no item left after nan='drop': each one has a NaN.")
    items = None if rankings.items is None else [rankings.items[i] for i in np.flatnonzero(keep).tolist()]
    return Rankings(rankings.names, tuple(own[keep] for own in rankings.scores), items)


def _raise_at(rankings: Rankings, index: int, bad: NDArray[np.bool_], required: str, what: str, remedy: str) -> None:
    """Raise if any score is bad, naming the ranking, the first such item and its score."""
    if not bad.any():
        return
    position = int(np.argmax(bad))
    value = rankings.scores[index][position]
    count = int(bad.sum())
    found = f"{count} of {bad.size} {'is' if count == 1 else 'are'} {what}"
    first = f"first: {value:g} at item {rankings.label(position)!r}"
    raise InputError(f"{rankings.names[index]} must hold {required}; {found} ({first}). {remedy}")
