"""A table in a file: its columns, the one syntax of numbers, the one list of missing values."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, first_few, shown
from fujiscore.inputs.coercion import is_null, is_number

MISSING = frozenset(("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"))
# How other programs write numbers: nan(ind), 1.#IND, 0x1p3.
PROGRAMS = re.compile(r"[+-]?(nan\(\w*\)|[0-9]+\.#\w+|0x[0-9a-f.]+(p[+-]?[0-9]+)?)", re.IGNORECASE)
# How people write amounts: 1,234.5, 1 000, -5 with a Unicode minus, 90%, $5, 12ms, <0.5, (5), 3.1±0.1.
_SIGN = "[+\\-\u2212\u2013]"
_DIGITS = "(?:[0-9]{1,3}(?:[ ,.'\u2019\u00a0\u2009\u202f][0-9]{3})+|[0-9]+)(?:[.,][0-9]*)?|[.,][0-9]+"
_AMOUNT = f"{_SIGN}?(?:{_DIGITS})(?:[eE]{_SIGN}?[0-9]+)?"
_CURRENCY = "[$€£¥₹]"
_UNITS = f"%|‰|°|{_CURRENCY}|[nuµ\u03bcm]?s|sec|min|h|[numµ\u03bck]?[gm]|cm|k?Hz|[kKMG]i?[bB]|[kKM]|x|pp|dB"
_MEASURED = f"{_SIGN}?{_CURRENCY}?\\s?{_AMOUNT}\\s?(?:{{units}})?"
_WRITTEN = rf"[<>≤≥~≈]?=?\s?(?:{_MEASURED}|\({_MEASURED}\))(?:\s?(?:±|\+/-)\s?{_AMOUNT}\s?(?:{_UNITS})?)?[*†‡]*"
FOREIGN = re.compile(_WRITTEN.replace("{units}", _UNITS))
# With any short word behind the number: 12 points.
QUANTITY = re.compile(_WRITTEN.replace("{units}", f"{_UNITS}|[A-Za-z]{{1,8}}"))
LONGEST_NUMBER = 80
LISTED = 12
# A longer name is not compared with others in search of a similar one: that takes the square of its length.
LONGEST_HINT = 200

# Where a row stands (its line, row or record), and its cells.
Row: TypeAlias = "tuple[int, Sequence[Any]]"


class Quoted(str):
    """A value that the file has in quotes: text as it stands, also where it looks like a missing value."""

    __slots__ = ()


@dataclass(frozen=True)
class Roles:
    """The item, score and ranking columns; without scores the table is a list, best item first."""

    item: str
    scores: Sequence[str]
    ranking: str | None = None
    group: str | None = None  # of rankings, where several of them belong together
    by_row: bool = False  # each row is a ranking, and the columns of scores are its items

    @property
    def labels(self) -> list[str]:
        """The columns of labels: of items, and of rankings and their groups if there are any."""
        return [name for name in (self.item, self.ranking, self.group) if name is not None]


@dataclass(frozen=True)
class Group:
    """The rows of one ranking: its name (None if the table holds one), items, and one array per score column."""

    name: str | None
    items: Sequence[str]
    scores: tuple[NDArray[np.float64], ...]


@dataclass(frozen=True)
class Layout:
    """How the lines of a delimited file are cut: with blanks=True fields have no quotes."""

    names: Sequence[str]
    delimiter: str
    skip: int
    blanks: bool = False


@dataclass(frozen=True)
class FileTable:
    """A table in a file."""

    file: str
    numeric: dict[str, float]  # the columns, each with the share of numbers among its first values
    rows: Callable[[Sequence[str]], Iterator[Row]]  # the cells of some columns
    sample: Callable[[str], Sequence[Any]] = lambda _: ()  # a column's first values
    # The rankings at once, or None if a row may be wrong (with unique=True, an item repeated): then `rows` finds where.
    fast: Callable[[Roles, bool], list[Group] | None] | None = None
    # The columns of labels and scores as Arrow has them, None if a row may be wrong.
    arrow: Callable[[Roles], list[Any] | None] | None = None
    layout: Layout | None = None
    unit: str = "line"
    header: bool = True
    known: Roles | None = None  # the format's own roles
    signed: bool = False  # the format has negative scores, for items no better than noise

    def place(self, number: int, column: str) -> str:
        """Return where a value stands, for messages."""
        return f"{self.file}, {self.unit} {number}, column {column!r}"


def picked(columns: Iterable[str], rows: Callable[[], Iterator[Row]]) -> Callable[[Sequence[str]], Iterator[Row]]:
    """Return a reader of some columns, given one of all."""
    position = {name: index for index, name in enumerate(columns)}

    def some(names: Sequence[str]) -> Iterator[Row]:
        positions = [position[name] for name in names]
        return ((place, [row[index] for index in positions]) for place, row in rows())

    return some


def number(value: Any) -> float | None:
    """Return a value as a float: NaN if it is missing, None if it is not a number."""
    if isinstance(value, str):
        quoted, value = isinstance(value, Quoted), value.strip()
        if value in MISSING and not quoted:
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


def exact(value: Any) -> Any:
    """Return the number that a text is, exactly; other values as they are."""
    return Decimal(value.strip()) if isinstance(value, str) else value


def texts(cells: Iterable[Any]) -> NDArray[Any]:
    """Return cells as an array of stripped text, None where it is missing; text in quotes as it stands."""
    stripped = (cell if isinstance(cell, Quoted) else "" if cell is None else str(cell).strip() for cell in cells)
    present = [str(cell) if isinstance(cell, Quoted) else None if cell in MISSING else cell for cell in stripped]
    return np.array(present, np.object_)


def is_decimal_comma(value: Any) -> bool:
    """Return whether a value is a number but for its decimal comma."""
    return isinstance(value, str) and value.count(",") == 1 and number(value.replace(",", ".")) is not None


def is_foreign_number(value: Any) -> bool:
    """Return whether a value is a number only as Python (1_0), other programs (0x1p3) or people (90%, $5) write it."""
    if not isinstance(value, str) or number(value) is not None:
        return False
    return is_number(value) or any(_matches(pattern, value) for pattern in (PROGRAMS, FOREIGN))


def is_quantity(value: Any) -> bool:
    """Return whether a value is a number in another syntax, or one with a word for its unit."""
    return is_foreign_number(value) or (isinstance(value, str) and number(value) is None and _matches(QUANTITY, value))


def _matches(pattern: re.Pattern[str], value: str) -> bool:
    text = value.strip()
    return len(text) <= LONGEST_NUMBER and pattern.fullmatch(text) is not None


def not_numbers(values: Iterable[Any]) -> list[Any]:
    """Return the values that are neither missing nor numbers."""
    return [
        value for value in values if number(value) is None and not (is_null(value) or str(value).strip() in MISSING)
    ]


def are_amounts(cells: Sequence[Any]) -> bool:
    """Return whether all cells are numbers in another syntax; a word behind them must be the same in all."""
    if all(map(is_foreign_number, cells)):
        return True
    units = {str(cell).strip().lstrip("<>=~+-.,0123456789 ") for cell in cells}
    return all(map(is_quantity, cells)) and len(units) == 1


def require_plain_numbers(table: FileTable, names: Iterable[str], remedy: str = "") -> None:
    """Raise if a column that seems to be text holds numbers in another syntax, such as with decimal commas."""
    for name in names:
        other = not_numbers(table.sample(name))
        if other and are_amounts(other):
            raise not_a_number(f"{table.file}, column {name!r}", other[0], remedy=remedy)


def numeric_share(values: Iterable[Any]) -> float:
    """Return the share of numbers among the values that are not missing; 1 if all are missing."""
    present = [value for value in values if value is not None and str(value).strip() not in MISSING]
    return sum(number(value) is not None for value in present) / len(present) if present else 1.0


def listed(names: Iterable[str], most: int = LISTED) -> str:
    """Return names for a message, quoted: the first ones, and how many more."""
    return first_few([shown(name) for name in names], most)


def did_you_mean(name: object, names: Collection[str], show: Callable[[str], str] = shown) -> str:
    """Return a hint of the most similar names for the end of a message, empty if there are none."""
    close = get_close_matches(str(name), names, 3) if len(str(name)) <= LONGEST_HINT else []
    return f" Did you mean {' or '.join(map(show, close))}?" if close else ""


def unknown(file: str, argument: str, name: object, names: Collection[str], what: str = "column") -> InputError:
    """Return the error for a name that the file does not have."""
    got = f"{shown(name)}.{did_you_mean(name, names)}"
    numbers = any(number(other) is not None and not other.isdecimal() for other in names if other)
    hint = " Some are numbers: add a header if the file has none." if numbers and what == "column" else ""
    return InputError(f"{file}: {argument} must name a {what}; got {got} The {what}s are {listed(names)}.{hint}")


def not_a_number(where: str, value: Any, item: str | None = None, remedy: str = "") -> InputError:
    """Return the error for a value that is not a number."""
    got = shown(value) if item is None else f"{shown(value)} for {shown(item)}"
    advice = "Correct it, or leave it empty (NaN)"
    if is_decimal_comma(value):
        advice = "Write numbers with a decimal point"
    elif is_quantity(value):
        advice = "Write plain numbers such as -1234.5, without units, signs of other kinds or thousands separators"
    return InputError(f"{where} must hold a number; got {got}. {advice}{remedy}.")


def no_rows(file: str) -> InputError:
    """Return the error for a table without rows."""
    return InputError(f"{file} must hold at least one row; it has no rows beneath its header.")


def damaged(file: str, kind: str, reason: object) -> InputError:
    """Return the error for a file of which a part is missing or wrong."""
    why = str(reason).partition("\n")[0].rstrip(".")
    return InputError(f"{file} must be a complete {kind} file; it is damaged or truncated ({why}). Write it again.")


def require_distinct(file: str, names: Sequence[str]) -> None:
    """Raise if two columns have the same name."""
    first: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if first.setdefault(name, position) != position:
            where = f"columns {first[name]} and {position}"
            raise InputError(f"{file} must name each column once; {name!r} names {where}. Rename one.")
