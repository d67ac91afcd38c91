"""Tables that files hold: which column is what, and their rows as rankings. Imports errors only."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fujiscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

ITEM_NAMES = ("item", "id", "name", "feature", "gene", "doc", "docid", "node", "token")
INDEX_NAMES = ("", "index", "unnamed: 0", "__index_level_0__")  # pandas writes the last two for an unnamed index
RANKING_NAMES = ("ranking", "method", "query", "qid", "query_id")
NUMBERED_RANKINGS = ("query", "qid", "query_id")  # these name rankings even where they are numbers
SCORE_NAMES = ("score", "scores", "weight", "importance", "value")
NOT_SCORES = ("rank", "ranking", "position", "fold")
LISTED = 12
SHOWN = 40

# Where a row stands, its item, its ranking's name (None: the table holds one) and its scores, as the file has them.
Row: TypeAlias = "tuple[int, Any, Any, Sequence[Any]]"


@dataclass(frozen=True)
class Roles:
    """The positions of the item, score and ranking columns, and what was guessed about them."""

    item: int
    scores: tuple[int, ...]
    ranking: int | None
    guess: str | None


@dataclass(frozen=True)
class Group:
    """The rows of one ranking: its name (None: the table holds one), items, and an array a score column."""

    name: str | None
    items: Sequence[Any]
    scores: tuple[NDArray[np.float64], ...]


@dataclass(frozen=True)
class Table:
    """A table in a file: its columns, and how to read them. `fast` returns None where only the rows can tell."""

    file: str
    columns: tuple[str, ...]
    numeric: tuple[float, ...]  # the share of numbers among each column's first values
    rows: Callable[[Roles], Iterator[Row]]
    fast: Callable[[Roles], list[Group] | None] | None = None
    unit: str = "line"
    header: bool = True
    counted: bool = False  # the first column holds integers
    known: tuple[str, str, str | None] | None = None  # the format's own item, score and ranking columns

    def groups(self, roles: Roles) -> list[Group]:
        """Return the rankings: the fast way, or row by row, which finds the place of every error."""
        found = self.fast(roles) if self.fast else None
        return _collect(self, roles) if found is None else found

    def place(self, number: int, column: int | None = None) -> str:
        """Return where a value stands, for messages."""
        where = f"{self.file}, {self.unit} {number}"
        return where if column is None else f"{where}, column {self.columns[column]!r}"


def number(value: Any) -> float | None:
    """Return a value as a float: NaN for '', 'NA' and null, None for anything that is not a number."""
    if isinstance(value, str):
        value = value.strip()
        if value in {"", "NA"}:
            return float("nan")
        if "_" in value or not value.isascii():  # float takes 1_2 and digits of all scripts, which are labels
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
    present = [value for value in values if value is not None and str(value).strip() not in {"", "NA"}]
    return sum(number(value) is not None for value in present) / len(present) if present else 1.0


def shown(value: Any) -> str:
    """Return a value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def listed(names: Collection[str]) -> str:
    """Return names for a message, the first dozen of them."""
    first = ", ".join(repr(name) for name in list(names)[:LISTED])
    return first if len(names) <= LISTED else f"{first} and {len(names) - LISTED} more"


def distinct(file: str, names: Sequence[str]) -> None:
    """Raise if two columns have the same name."""
    first: dict[str, int] = {}
    for at, name in enumerate(names):
        if name in first:
            raise InputError(
                f"{file} must name each column once; {name!r} names columns {first[name] + 1} and {at + 1}. Rename one."
            )
        first[name] = at


def unknown(file: str, argument: str, name: object, names: Collection[str], what: str = "column") -> InputError:
    """Return the error for a name that is not there, with the closest one that is."""
    close = get_close_matches(str(name), names, 1, 0.5)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return InputError(
        f"{file}: {argument} must name a {what}; got {shown(name)}.{hint} The {what}s are {listed(names)}."
    )


def choose(
    table: Table, item: str | None = None, score: str | Sequence[str] | None = None, ranking: str | None = None
) -> Roles:
    """Return the columns asked for, and guess the others."""
    guessed = item is None or score is None
    if table.known:
        own_item, own_score, own_ranking = table.known
        item, score, ranking = item or own_item, score or own_score, ranking or own_ranking
        guessed = False
    at = None if item is None else _find(table, "item", item)
    scores = None if score is None else _find_all(table, score)
    by = None if ranking is None else _find(table, "ranking", ranking)
    used = {at, by, *(scores or ())} - {None}
    if len(used) < (at is not None) + (by is not None) + len(scores or ()):
        raise InputError(f"{table.file}: item, score and ranking must be different columns; one was named twice.")
    if by is None and not table.known:
        by = _guess_ranking(table, at, used, scored=scores is not None)
    if at is None:
        at = _guess_item(table, {*used, by})
    if at is None:
        raise InputError(
            f"{table.file} must have a column that names the items, and none of {listed(table.columns)} is plainly it."
            " Name it with item."
        )
    free = scores is None
    if scores is None:
        scores = _guess_scores(table, {at, by}, long=by is not None)
    return Roles(at, tuple(scores), by, _describe(table, at, scores, by, left_out=free) if guessed else None)


def _find(table: Table, argument: str, name: object) -> int:
    """Return the position of a column by its name."""
    if name not in table.columns:
        raise unknown(table.file, argument, name, table.columns)
    return table.columns.index(str(name))


def _find_all(table: Table, score: str | Sequence[str]) -> list[int]:
    """Return the positions of one or more score columns."""
    names = [score] if isinstance(score, str) else list(score)
    if not names:
        raise InputError(f"{table.file}: score must name at least one column; got none.")
    return [_find(table, "score", name) for name in names]


def _guess_ranking(table: Table, item: int | None, used: Collection[int | None], *, scored: bool) -> int | None:
    """Return the column that names rankings in a long table, if others are left for the items and scores."""
    for at, name in enumerate(table.columns):
        text = table.numeric[at] < 1 or name.lower() in NUMBERED_RANKINGS
        if name.lower() in RANKING_NAMES and text and at not in used:
            others = {*used, at}
            found = item if item is not None else _guess_item(table, others)
            if found is not None and (scored or len(others | {found}) < len(table.columns)):
                return at
    return None


def _guess_item(table: Table, used: Collection[int | None]) -> int | None:
    """Return the column that labels the items: by its name, as the only text, or the first if it is an index."""
    free = [at for at in range(len(table.columns)) if at not in used]
    named = [at for at in free if table.columns[at].lower() in ITEM_NAMES]
    if named:
        return min(named, key=lambda at: (table.numeric[at] == 1, ITEM_NAMES.index(table.columns[at].lower())))
    for most in (1.0, 0.5):  # a column with some text labels items if no other has any
        text = [at for at in free if table.numeric[at] < most]
        if len(text) == 1:
            return text[0]
    if 0 not in free:
        return None
    name = table.columns[0].lower()
    both_text = len(free) == 2 and all(table.numeric[at] < 1 for at in free)
    counted = table.counted and name not in NOT_SCORES
    return 0 if name in INDEX_NAMES or not table.header or both_text or counted else None


def _guess_scores(table: Table, used: Collection[int | None], *, long: bool) -> list[int]:
    """Return the columns of scores: all that hold numbers and are not ranks or indices."""
    free = [at for at in range(len(table.columns)) if at not in used]
    found = [at for at in free if _why_not(table, at) is None]
    by_name = [at for at in free if table.columns[at].lower() in SCORE_NAMES]
    if found and not (long and len(found) > 1):
        return found
    if len(by_name) == 1:
        return by_name
    if len(free) == 1 and table.columns[free[0]].lower() not in NOT_SCORES:
        return free
    if found:
        raise InputError(
            f"{table.file} must have one column of scores beside the ranking's name; it has {listed_at(table, found)}."
            " Name it with score."
        )
    if not free:
        raise InputError(
            f"{table.file} must have a column of scores; it has {listed(table.columns)} alone. "
            "Give each item a score, higher for better."
        )
    why = ", ".join(f"{table.columns[at]!r} ({_why_not(table, at)})" for at in free[:LISTED])
    raise InputError(
        f"{table.file} must have a column of scores, that is of numbers where higher is better; it has {why}. "
        "Name it with score."
    )


def listed_at(table: Table, positions: Sequence[int]) -> str:
    """Return the names of columns for a message."""
    return listed([table.columns[at] for at in positions])


def _why_not(table: Table, at: int) -> str | None:
    """Return why a column is not taken for scores, None if it is."""
    name = table.columns[at].lower()
    if table.numeric[at] < 0.5:
        return "text"
    if name in NOT_SCORES:
        return "not a score"
    return "labels" if name in ITEM_NAMES or (at == 0 and name in INDEX_NAMES) else None


def _describe(table: Table, item: int, scores: Sequence[int], ranking: int | None, *, left_out: bool) -> str:
    """Return in one line which columns are used as what, and which are left out."""
    columns = f"score column{'s' if len(scores) > 1 else ''} {listed_at(table, scores)}"
    text = f"item column {table.columns[item]!r}, {columns}"
    if ranking is not None:
        text = f"ranking column {table.columns[ranking]!r}, {text}"
    if not table.header:
        text = f"no header: {text}"
    used = {item, ranking, *scores}
    left = [at for at in range(len(table.columns)) if left_out and at not in used]
    reasons = [f"{table.columns[at]!r} ({_why_not(table, at) or 'another number'})" for at in left[:LISTED]]
    more = f" and {len(left) - LISTED} more" if len(left) > LISTED else ""
    return f"{text}; left out {', '.join(reasons)}{more}" if left else text


def _collect(table: Table, roles: Roles) -> list[Group]:
    """Return the rankings row by row, or say where a row is wrong."""
    found: dict[str | None, tuple[dict[str, int], list[array[float]]]] = {}
    for place, item, ranking, values in table.rows(roles):
        by = None if roles.ranking is None else _label(table, place, roles.ranking, ranking)
        label = _label(table, place, roles.item, item)
        if by not in found:
            found[by] = {}, [array("d") for _ in roles.scores]
        places, scores = found[by]
        if label in places:
            raise _repeated(table, roles, label, by, (places[label], place))
        places[label] = place
        for at, value, column in zip(roles.scores, values, scores, strict=True):
            score = number(value)
            if score is None:
                raise InputError(_not_a_number(table, place, at, value))
            column.append(score)
    if not found:
        raise InputError(f"{table.file} must hold at least one item; it has no rows beneath its header.")
    return [
        Group(by, list(places), tuple(np.array(column, dtype=np.float64) for column in scores))
        for by, (places, scores) in found.items()
    ]


def _label(table: Table, place: int, column: int, value: Any) -> str:
    """Return a label as text, or say that it is missing or spans lines."""
    label = "" if value is None else str(value)
    if not label:
        raise InputError(f"{table.place(place, column)} must not be empty: every row needs its label there.")
    if table.unit == "line" and ("\n" in label or "\r" in label):
        raise InputError(
            f"{table.place(place, column)} must be a label within one line; got {shown(label)}. "
            "A quote is opened and not closed in its line: close it, or write it twice inside quotes."
        )
    return label


def _repeated(table: Table, roles: Roles, label: str, ranking: str | None, places: tuple[int, int]) -> InputError:
    """Return the error for an item that occurs twice."""
    within = "" if ranking is None else f" in ranking {shown(ranking)}"
    others = [name for at, name in enumerate(table.columns) if at != roles.item and name.lower() in RANKING_NAMES]
    remedy = "Drop or average the repeated items."
    if ranking is None and others:
        remedy = f"If column {others[0]!r} tells several rankings apart, name it with ranking."
    return InputError(
        f"{table.file}, {table.unit}s {places[0]} and {places[1]}: column {table.columns[roles.item]!r} must name each "
        f"item once{within}; {shown(label)} occurs twice. {remedy}"
    )


def _not_a_number(table: Table, place: int, column: int, value: Any) -> str:
    """Return the message for a score that is not a number."""
    remedy = "Mend it, or leave it empty to count as NaN."
    if isinstance(value, str) and value.count(",") == 1 and number(value.replace(",", ".")) is not None:
        remedy = "Write numbers with a decimal point."
    return f"{table.place(place, column)} must hold a number; got {shown(value)}. {remedy}"
