"""A table in a file: its columns, the one syntax of numbers, the one list of missing values. Imports errors only."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeAlias

from fujiscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

MISSING = frozenset(("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"))
LISTED = 12
LISTED_IN_NOTES = 5
SHOWN = 40

# Where a row stands (its line, row or record), and its cells.
Row: TypeAlias = "tuple[int, Sequence[Any]]"


@dataclass(frozen=True)
class Roles:
    """The positions of the item, score and ranking columns; without scores the table is a list, best item first."""

    item: int
    scores: tuple[int, ...]
    ranking: int | None


@dataclass(frozen=True)
class Group:
    """The rows of one ranking: its name (None if the table holds one), items, and one array per score column."""

    name: str | None
    items: Sequence[str]
    scores: tuple[NDArray[np.float64], ...]


@dataclass(frozen=True)
class Table:
    """A table in a file.

    `rows` yields the cells of some columns. `fast` returns the rankings at once, or None if a row may be wrong (or,
    with unique=True, an item repeated): then `rows` finds where.
    """

    file: str
    columns: tuple[str, ...]
    numeric: tuple[float, ...]  # the share of numbers among each column's first values
    rows: Callable[[Sequence[int]], Iterator[Row]]
    sample: Callable[[int], Sequence[Any]] = lambda _: ()  # a column's first values
    fast: Callable[[Roles, bool], list[Group] | None] | None = None
    unit: str = "line"
    header: bool = True
    known: Roles | None = None  # the format's own roles
    signed: bool = False  # the format has negative scores, for items no better than noise

    def place(self, number: int, column: int | None = None) -> str:
        """Return where a value stands, for messages."""
        where = f"{self.file}, {self.unit} {number}"
        return where if column is None else f"{where}, column {self.columns[column]!r}"

    def listed(self, positions: Collection[int], most: int = LISTED) -> str:
        """Return the names of columns, for messages."""
        return listed([self.columns[position] for position in positions], most)


def number(value: Any) -> float | None:
    """Return a value as a float: NaN if it is missing, None if it is not a number."""
    if isinstance(value, str):
        value = value.strip()
        if value in MISSING:
            return float("nan")
        if "_" in value or not value.isascii():  # float() accepts 1_2 and the digits of all scripts: these are labels
            return None
    if value is None:
        return float("nan")
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def numeric_share(values: Iterable[Any]) -> float:
    """Return the share of numbers among the values that are not missing; 1 if all are missing."""
    present = [value for value in values if value is not None and str(value).strip() not in MISSING]
    return sum(number(value) is not None for value in present) / len(present) if present else 1.0


def not_a_number(where: str, value: Any, item: str | None = None, remedy: str = "") -> InputError:
    """Return the error for a value that is not a number."""
    got = shown(value) if item is None else f"{shown(value)} for {shown(item)}"
    if isinstance(value, str) and value.count(",") == 1 and number(value.replace(",", ".")) is not None:
        return InputError(f"{where} must hold a number; got {got}. Write numbers with a decimal point.")
    return InputError(f"{where} must hold a number; got {got}. Correct it, or leave it empty (NaN){remedy}.")


def shown(value: Any) -> str:
    """Return a value for a message, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def listed(names: Collection[str], most: int = LISTED) -> str:
    """Return names for a message: the first ones, and how many more."""
    first = ", ".join(repr(name) for name in list(names)[:most])
    return first if len(names) <= most else f"{first} and {len(names) - most} more"


def require_distinct(file: str, names: Sequence[str]) -> None:
    """Raise if two columns have the same name."""
    first: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if first.setdefault(name, position) != position:
            raise InputError(
                f"{file} must name each column once; {name!r} names columns {first[name]} and {position}. Rename one."
            )


def unknown(file: str, argument: str, name: object, names: Collection[str], what: str = "column") -> InputError:
    """Return the error for a name that the file does not have, with the closest one that it has."""
    close = get_close_matches(str(name), names, 1, 0.5)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return InputError(
        f"{file}: {argument} must name a {what}; got {shown(name)}.{hint} The {what}s are {listed(names)}."
    )
