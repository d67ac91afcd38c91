"""The prepared table: features and target of whatever users have, checked once, as arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import index
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, choice, counted, first_few, spelled
from fujiscore.inputs.coercion import is_number, unmasked
from fujiscore.rankers.columns import codes_of, is_missing, objects, renumbered
from fujiscore.rankers.targets import Target, Task, as_target, one_dimensional
from fujiscore.text.docstrings import documented
from fujiscore.work.seeds import as_seed

Scores: TypeAlias = "NDArray[np.float64]"
Nan: TypeAlias = Literal["keep", "drop", "fill"]
NAN = ("keep", "drop", "fill")
# Bytes of a sparse matrix as a dense one, at most.
MOST_DENSE = 4 << 30
# Text with more distinct numbers in it than this is numbers written as text; with fewer it may be codes of categories.
MOST_NUMERIC_CATEGORIES = 10


@dataclass(frozen=True, eq=False)
class Features:
    """A table of features and the target of each row, checked: every ranker takes it as X, without y.

    Attributes
    ----------
    values, categorical : ndarray of float64, shape (n, m), and of bool, shape (m,)
        Finite, or NaN where missing; a categorical column holds codes 0, 1, ... of its categories.
    names : sequence or None
        The names of the columns, None if the input had none.
    target : Target
        The class of each row, or a quantity.
    groups : ndarray of int64 or None
        The group of each row, 0, 1, ...: rows that belong together, for resampling.
    notes : tuple of str
        What a reader of results on these data should know.
    """

    values: Scores
    categorical: NDArray[np.bool_]
    names: Sequence[Hashable] | None
    target: Target
    groups: NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.target.values.size

    @property
    def labels(self) -> list[Hashable]:
        """The names of the columns, or their positions as text."""
        return [str(column) for column in range(self.categorical.size)] if self.names is None else list(self.names)

    def at(self, rows: NDArray[np.int64]) -> Features:
        """Return some of the rows; only their target is checked."""
        groups = None if self.groups is None else renumbered(self.groups[rows])
        return replace(self, values=self.values[rows], target=self.target.at(rows), groups=groups)

    def sampled(self, rows: int, random_state: Any = 0) -> Features:
        """Return a sample of about this many rows, in order: the same share of each class, and at least one row.

        Parameters
        ----------
        rows : int
            About how many rows.
        random_state : int, RandomState, Generator or None
            Seed of the sample.
        """
        if rows >= self.rows:
            return self
        random = np.random.default_rng(as_seed(random_state))
        drawn = [
            random.choice(stratum, max(1, round(rows * stratum.size / self.rows)), replace=False)
            for stratum in self.target.strata()
        ]
        sample = self.at(np.sort(np.concatenate(drawn)))
        return replace(sample, notes=(*self.notes, f"a sample of {sample.rows} of {self.rows} rows"))

    @property
    def incomplete(self) -> NDArray[np.bool_]:
        """Which columns have missing values."""
        return np.asarray(np.isnan(self.values).any(axis=0))

    def filled(self) -> Features:
        """Return the table with medians and most frequent categories for what is missing; 0 in an empty column."""
        incomplete = np.flatnonzero(self.incomplete)
        if not incomplete.size:
            return self
        values = self.values.copy()
        for column in incomplete.tolist():
            gaps = np.isnan(values[:, column])
            known = values[~gaps, column]
            if not known.size:
                values[:, column] = 0.0
            elif self.categorical[column]:
                values[gaps, column] = np.bincount(known.astype(np.int64)).argmax()
            else:
                values[gaps, column] = 2 * np.median(known / 2)  # two halves do not overflow
        return replace(self, values=values)

    def one_hot(self) -> tuple[Scores, NDArray[np.int64]]:
        """Return numbers as they are, a column of 0 and 1 per category, and which column each of them comes from.

        A missing category is 0 in all of its columns.
        """
        parts, owners = [], []
        for column, values in enumerate(self.values.T):
            levels = np.unique(values[~np.isnan(values)])
            part = values[:, None] == levels if self.categorical[column] and levels.size else values[:, None]
            parts.append(part)
            owners += [column] * part.shape[1]
        return np.hstack(parts, dtype=np.float64, casting="unsafe"), np.array(owners, np.int64)

    def require_complete(self, method: str) -> None:
        """Raise if values are missing, for a method that cannot use them."""
        if self.incomplete.any():
            some = described_columns(self.incomplete, self.names, "has some", "have some")
            raise InputError(
                f"{method} cannot use missing values; {some}. Fill them in, drop them, or use relief; rank and study "
                "fill in medians by themselves."
            )


def described_columns(columns: Any, names: Sequence[Hashable] | None, one: str = "", many: str = "") -> str:
    """Return columns (a mask or positions) and a verb for one or many of them, as words for a message."""
    positions = np.flatnonzero(columns) if np.asarray(columns).dtype == np.bool_ else columns
    shown = [repr(int(position) if names is None else names[int(position)]) for position in positions]
    return (f"column {shown[0]} {one}" if len(shown) == 1 else f"columns {first_few(shown)} {many}").rstrip()


DESCRIPTIONS = """
X : array, dataframe, sparse matrix or Features, shape (n, m)
    Numbers; NaN, None and null are missing values. Columns of a categorical, enum or boolean type, and those in
    `categorical`, are categorical. A sparse matrix is converted to a dense one.
y : array-like, shape (n,)
    The target of each row: classes (strings, integers, bools or categories) or numbers. None if X is a `Features`.
categorical : mask, positions or names, optional
    Further columns to treat as categorical.
task : {"auto", "classification", "regression"}
    Whether y holds classes or a quantity; by default many different numbers are a quantity, as `rank` notes.
methods : sequence or mapping
    Whatever `as_ranker` takes, or a mapping of names to it. Functions and estimators are given X as float64 and y as
    codes of the classes, or as it is in regression. Categories are codes 0, 1, ... to functions and to estimators that
    have `feature_importances_`, and one-hot to others, as linear models, whose magnitudes are summed over the
    categories. "genie3" and "random_forest" share one forest.
features : sequence, optional
    The names of the features, if X does not carry them.
nan : {"keep", "drop", "fill"}
    Missing values: keep them for the methods that can use them (relief, functions, estimators that say so) and fill in
    medians and most frequent categories for the others; drop their rows; or fill them in for all.
trees : int
    Number of trees in the forest of "genie3" and "random_forest".
restore : bool
    Whether a feature's values are put back before the next one is permuted. False lets the damage accumulate along the
    features of a tree (depth first), as in the rankings published with FUJI; it is slow.
"""
described = partial(documented, descriptions=DESCRIPTIONS)


@described
def prepare(
    X: Any,
    y: Any = None,
    categorical: Any = None,
    *,
    task: Task = "auto",
    nan: Nan = "keep",
    groups: Any = None,
    names: Sequence[Hashable] | None = None,
    inspect: bool = False,
) -> Features:
    """Return the prepared table; a prepared table is returned as it is.

    Parameters
    ----------
    nan : {"keep", "drop", "fill"}
        Keep missing values, leave out their rows, or fill in medians and most frequent categories.
    groups : array-like, optional
        The group of each row, for resampling.
    names : sequence, optional
        The names of the columns, if X does not carry them.
    inspect : bool
        Also treat text columns of dataframes as categorical, refuse columns that look like identifiers, and note
        what is odd about the data.

    Returns
    -------
    Features
        The table that rankers take in place of X and y.
    """
    if isinstance(X, Features):
        if any(part is not None for part in (y, categorical, groups, names)):
            raise InputError("X is a prepared table, with its y, groups, names and categorical columns: pass it alone.")
        if task not in {"auto", X.target.task}:
            raise InputError(f"X is a prepared table for {X.target.task}; got {spelled('task', task)}. Prepare it so.")
        return X
    _same_index(X, y)
    values, marked, own_names, text = _table(X, categorical, inspect=inspect)
    n, m = values.shape
    if n == 0 or m == 0:
        raise InputError(f"X must have rows and columns; got {n} rows and {m} columns.")
    target = as_target(y, task)
    if n != target.values.size:
        raise InputError(f"X and y must have the same number of rows; they have {n} and {target.values.size}.")
    if names is not None and (len(names) != m or len(set(names)) < m):
        raise InputError(f"features must name each of the {m} columns of X once; got {len(names)} names.")
    rows_of = None if groups is None else _groups(groups, n)
    table = Features(values, marked, own_names if names is None else list(names), target, rows_of)
    infinite = np.isinf(values).any(axis=0)
    if infinite.any():
        some = described_columns(infinite, table.names, "has infinite ones", "have infinite ones")
        raise InputError(f"X must hold finite numbers; {some}. Replace them, or use NaN for missing values.")
    table, notes = _without_gaps(table, nan)
    if not inspect:
        return table
    sparse = ["the sparse X was converted to a dense table; entries that are not stored are 0"] if _is_sparse(X) else []
    return replace(table, notes=(*sparse, *notes, *_inspect(table, text)))


def _is_sparse(X: Any) -> bool:
    """Return whether X is a sparse matrix or array of SciPy."""
    return hasattr(X, "tocsr")


def _groups(groups: Any, n: int) -> NDArray[np.int64]:
    """Return the group of each row as a code."""
    codes = codes_of(one_dimensional(groups, "groups", "one group per row"))
    if codes.size != n:
        raise InputError(f"{spelled('groups')} must name the group of each of the {n} rows of X; got {codes.size}.")
    if np.isnan(codes).any():
        few = f"{int(np.isnan(codes).sum())} of {n} are missing"
        raise InputError(f"{spelled('groups')} must give every row a group; {few}. Drop those rows, or name a group.")
    return codes.astype(np.int64)


def _without_gaps(table: Features, nan: Nan) -> tuple[Features, list[str]]:
    """Return a table whose missing values are kept, dropped or filled in, and a note on it."""
    choice("nan", nan, NAN)
    gaps = 0 if nan == "keep" else int(np.isnan(table.values).sum())
    if not gaps:
        return table, []
    if nan == "fill":
        return table.filled(), [f"filled in {counted(gaps, 'missing value')}: medians, most frequent categories"]
    complete = np.flatnonzero(~np.isnan(table.values).any(axis=1))
    if not complete.size:
        emptiest = np.argsort(-np.isnan(table.values).sum(axis=0), kind="stable")[:3].tolist()
        raise InputError(
            f"{spelled('X')} must have rows without missing values for {spelled('nan', 'drop')}; it has none. Pass "
            f"{spelled('nan', 'fill')}, or leave out {described_columns(emptiest, table.names)}."
        )
    gone = counted(table.rows - complete.size, "row")
    return table.at(complete), [f"left out {gone} with missing values"]


def _table(X: Any, categorical: Any, *, inspect: bool) -> tuple[Any, ...]:
    """Return values, categorical columns, names, and the text columns treated as categorical."""
    import narwhals as nw

    if _is_sparse(X):  # entries that are not stored are 0, not missing
        size = 8 * X.shape[0] * X.shape[1] if len(X.shape) == 2 else 0
        if size > MOST_DENSE:
            raise InputError(
                f"X must be at most {MOST_DENSE >> 30} GB as a dense table, which every method needs; this sparse "
                f"matrix of shape {X.shape} is {size / 2**30:.0f} GB. Leave out columns, such as those with few "
                "entries."
            )
        X = X.toarray()
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
    for name in (names[column] for column in text):
        distinct = {value for value in frame[name].to_list() if isinstance(value, str)}
        other = [value for value in distinct if not is_number(value)]
        if len(distinct) > MOST_NUMERIC_CATEGORIES and len(other) * 2 <= len(distinct):
            what = f"most of it numbers, but also {other[0]!r}" if other else "all of it numbers"
            raise InputError(f"X must hold numbers as numbers; column {name!r} holds text, {what}. {_remedy()}")
    marked[text] = True
    if not marked.any() and all(kind.is_numeric() for kind in types):
        if nw.dependencies.is_pandas_dataframe(X):
            return X.to_numpy(dtype=np.float64, na_value=np.nan), marked, names, text
        return np.asarray(frame.to_numpy(), np.float64), marked, names, text
    columns = (objects(series, in_order=True) for series in frame.iter_columns())
    return _from_columns(columns, frame.shape, marked, names), marked, names, text


def _remedy() -> str:
    """Return what to do about a column that holds something other than numbers."""
    return f"Convert it to numbers, or declare it categorical (by its dataframe type or {spelled('categorical')})."


def _from_columns(
    columns: Iterable[NDArray[Any]], shape: tuple[int, ...], marked: NDArray[np.bool_], names: Sequence[Hashable] | None
) -> Scores:
    """Convert column by column: categories to codes, the rest to numbers."""
    values = np.empty(shape, order="F")
    for position, column in enumerate(columns):
        values[:, position] = codes_of(column) if marked[position] else _numbers(column, position, names)
    return values


def _numbers(column: NDArray[Any], position: int, names: Sequence[Hashable] | None) -> Scores:
    """Return a column as float64 (None as NaN); text and other objects are an error that names the column."""
    if column.dtype.kind in "fiub":
        return column.astype(np.float64)
    numbers = np.full(column.size, np.nan)
    for row, value in enumerate(column.tolist()):
        if is_missing(value):
            continue
        if isinstance(value, (str, bytes, complex)) or not hasattr(value, "__float__"):
            where, kind = described_columns([position], names), type(value).__name__
            raise InputError(f"X must hold numbers; {where} holds {value!r} ({kind}). {_remedy()}")
        numbers[row] = float(value)
    return numbers


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


def _inspect(table: Features, text: Sequence[int]) -> list[str]:
    """Return what is odd about the columns and the target; a column that looks like an identifier is an error."""
    values, names, n = table.values, table.labels, table.rows
    lowest, highest = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    present = n - np.isnan(values).sum(axis=0)
    levels = np.zeros(len(names), np.int64)
    for column in np.flatnonzero(table.categorical):
        levels[column] = np.unique(values[~np.isnan(values[:, column]), column]).size
    many = levels * 2 > np.maximum(present, 4)
    identifiers = table.categorical & (levels == present) & (present > 2)
    if identifiers.any():
        one, several = (f"{verb} unique in every row and looks like an identifier" for verb in ("is", "are"))
        some = described_columns(identifiers, table.names, one, several)
        raise InputError(f"{spelled('X')} must hold features; {some}. Leave it out.")
    steps = ~table.categorical & (highest / 2 - lowest / 2 == (n - 1) / 2) & (n > 2)
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
    return [*notes, *table.target.notes]
