"""The target of a data set: classes or a quantity, by its values or as `task` says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, choice, shown, spelled
from fujiscore.inputs.coercion import unmasked
from fujiscore.rankers.columns import codes_of, objects, renumbered

Task: TypeAlias = Literal["auto", "classification", "regression"]
TASKS = ("auto", "classification", "regression")
# More distinct whole numbers than the first are a quantity, unless they number the classes; fractions, than the second.
MOST_CLASSES, MOST_FRACTIONS = 20, 10
# With this many numbers as classes, a note says that they may be a quantity.
MANY_CLASSES = 11
# Numbers 0, 1, 2, ... or 1, 2, 3, ... are classes only with this many rows each, on average.
ROWS_PER_CLASS = 10


@dataclass(frozen=True, eq=False)
class Target:
    """The target of each row: its class, or a quantity."""

    task: Literal["classification", "regression"]  # what kind it is
    values: NDArray[Any]  # the quantity as float64; or the classes as int32: 0, 1, ... in their sorted order
    counts: NDArray[np.int64]  # the number of rows of each class; none of a quantity
    notes: tuple[str, ...] = ()  # what was assumed, and what is odd about it

    @property
    def is_quantity(self) -> bool:
        """Whether the target is a quantity, not classes."""
        return self.task == "regression"

    @property
    def described(self) -> str:
        """What kind of target it is, in words."""
        return "a numeric target (regression)" if self.is_quantity else f"{self.counts.size} classes"

    def strata(self) -> list[NDArray[np.int64]]:
        """Return the rows of each class; all rows if the target is a quantity."""
        if self.is_quantity:
            return [np.arange(self.values.size)]
        return [np.flatnonzero(self.values == code) for code in range(self.counts.size)]

    def at(self, rows: NDArray[np.int64]) -> Target:
        """Return the target of some rows, which must vary; classes without rows are closed up."""
        if self.is_quantity:
            _require_varied(self.values[rows])
            return replace(self, values=self.values[rows])
        codes = renumbered(self.values[rows])
        counts = np.bincount(codes)
        _require_classes(counts, "one class")
        return replace(self, values=codes, counts=counts)


def as_target(y: Any, task: Task = "auto") -> Target:
    """Return a checked target; missing values, a single class and a constant quantity are errors."""
    choice("task", task, TASKS)
    values = one_dimensional(y, "y", "one target per row")
    n = values.size
    if n == 0:
        raise InputError(f"{spelled('y')} must hold the target of each row; it is empty.")
    codes, numbers = codes_of(values), _numbers(values)
    bad = np.isnan(codes) if numbers is None else ~np.isfinite(numbers)
    if bad.any():
        few = f"{int(bad.sum())} of {n} are missing or infinite"
        raise InputError(f"{spelled('y')} must give every row a target; {few}. Drop those rows.")
    counts = np.bincount(codes.astype(np.int64))
    if task == "regression":
        if numbers is None:
            holds = shown(_first(values))
            raise InputError(f"{spelled('y')} must hold numbers for {spelled('task', task)}; it holds {holds}.")
        return _quantity(numbers)
    if task == "auto" and numbers is not None and _is_quantity(numbers, counts.size):
        what = f"the target has {counts.size} distinct numbers in {n} rows and is treated as a quantity"
        return _quantity(numbers, f"{what}; {spelled('task', 'classification')} if they are classes")
    _require_classes(counts, f"class {shown(_first(values))}", numeric=numbers is not None)
    notes = _odd_classes(counts, numbers, guessed=task == "auto")
    return Target("classification", codes.astype(np.int32), counts, tuple(notes))


def _is_quantity(numbers: NDArray[np.float64], distinct: int) -> bool:
    """Return whether numbers look like a quantity rather than classes."""
    if (numbers != np.round(numbers)).any():
        return distinct > max(2, min(MOST_FRACTIONS, numbers.size / 2))
    first, last = numbers.min(), numbers.max()
    in_sequence = first in {0, 1} and last - first + 1 == distinct and numbers.size >= ROWS_PER_CLASS * distinct
    return distinct > MOST_CLASSES and not in_sequence


def _quantity(values: NDArray[np.float64], *notes: str) -> Target:
    """Return a quantity that varies."""
    _require_varied(values)
    return Target("regression", values, np.zeros(0, np.int64), notes)


def _require_varied(values: NDArray[np.float64]) -> None:
    """Raise if a quantity is constant."""
    if values.min() == values.max():
        what = f"the only row has {values[0]:g}" if values.size == 1 else f"all {values.size} rows have {values[0]:g}"
        raise InputError(f"{spelled('y')} must vary; {what}.")


def _require_classes(counts: NDArray[np.int64], only: str, *, numeric: bool = False) -> None:
    """Raise unless there are two classes, and two rows of some class."""
    if counts.size < 2:
        raise InputError(f"{spelled('y')} must hold at least two classes; all {counts.sum()} rows are of {only}.")
    if counts.max() < 2:
        remedy = f" Pass {spelled('task', 'regression')} if it is a quantity." if numeric else ""
        raise InputError(
            f"{spelled('y')} must hold a class with at least two rows; all {counts.size} rows are of different "
            f"classes.{remedy}"
        )


def _odd_classes(counts: NDArray[np.int64], numbers: NDArray[np.float64] | None, *, guessed: bool) -> list[str]:
    """Return what is odd about classes: as many as a quantity has, fractions, single rows."""
    notes, classes = [], counts.size
    fractions = numbers is not None and bool((numbers != np.round(numbers)).any())
    if guessed and numbers is not None and (fractions or classes >= MANY_CLASSES):
        what = f"the target's {classes} distinct numbers are treated as classes"
        notes.append(f"{what}; {spelled('task', 'regression')} if they are a quantity")
    elif numbers is None and classes > max(MOST_CLASSES, counts.sum() / 10):
        notes.append(f"the target has {classes} classes in {counts.sum()} rows")
    single = int((counts == 1).sum())
    if single:
        notes.append(f"{single} of {classes} classes {'has' if single == 1 else 'have'} only one row")
    return notes


def _first(values: NDArray[Any]) -> Any:
    """Return the first entry as a Python object."""
    return values[:1].tolist()[0]


def _numbers(values: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return a target as float64, None unless it holds numbers."""
    if values.dtype.kind in "fiu":
        return values.astype(np.float64)
    if values.dtype.kind == "O" and all(_is_number(value) for value in values.tolist()):
        return values.astype(np.float64)
    return None


def _is_number(value: Any) -> bool:
    """Return whether an object is a number."""
    return isinstance(value, (Real, Decimal)) and not isinstance(value, bool)


def one_dimensional(y: Any, name: str, required: str) -> NDArray[Any]:
    """Return one entry per row as an array: of numbers or bools as they are, anything else as objects."""
    import narwhals as nw

    if nw.dependencies.is_into_dataframe(y):
        y = y[next(iter(nw.from_native(y, eager_only=True).columns))] if y.shape[1] == 1 else np.empty(y.shape)
    if nw.dependencies.is_into_series(y):
        return objects(nw.from_native(y, series_only=True))
    try:
        values = unmasked(np.asanyarray(y))
    except ValueError:
        raise InputError(f"{name} must be one-dimensional: {required}. Its entries have unequal lengths.") from None
    if isinstance(y, (list, tuple)) and values.dtype.kind in "US":
        # NumPy turns [1, "a", None] into strings, and None into a class of its own.
        values = np.array([*y, None], np.object_)[:-1]
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        got = "None" if y is None else f"shape {values.shape}"
        raise InputError(f"{name} must be one-dimensional: {required}. Got {got}.")
    return values
