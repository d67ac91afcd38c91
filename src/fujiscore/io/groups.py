"""Rows of a table as rankings, with the place of every error. Imports columns, table and errors."""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, spelled
from fujiscore.io.columns import RANKING_NAMES, plain
from fujiscore.io.table import Group, not_a_number, number, shown

if TYPE_CHECKING:
    from fujiscore.io.table import Roles, Table


class RepeatedItemError(InputError):
    """An item occurs twice in a ranking."""


def groups(table: Table, roles: Roles, *, unique: bool) -> list[Group]:
    """Return the rankings in a table: at once, or row by row, which finds the place of every error."""
    result = table.fast(roles, unique) if table.fast else None
    return _collect(table, roles, unique=unique) if result is None else result


def groups_of_unique_items(table: Table, roles: Roles, *, named: bool) -> tuple[list[Group], str | None]:
    """Return the rankings in a table where each item may occur once, and a note if this took another item column.

    If the items repeat and another column of text has a different value in every row, that column is taken, or only
    suggested if the item column was named by the user.
    """
    try:
        return groups(table, roles, unique=True), None
    except RepeatedItemError as error:
        for column in [] if table.known or _other_rankings(table, roles) else _other_labels(table, roles):
            try:
                result = groups(table, replace(roles, item=column), unique=True)
            except InputError:
                continue
            other = table.columns[column]
            if named:
                hint = f"Or pass {spelled('item', other)}: column {other!r} is different in every row."
                raise RepeatedItemError(f"{error} {hint}") from None
            return result, f"item column {other!r} instead of {table.columns[roles.item]!r}, which repeats items"
        raise


def _other_labels(table: Table, roles: Roles) -> list[int]:
    """Return the columns of text that could name the items instead, identifiers first."""
    used = {roles.item, roles.ranking, *roles.scores}
    text = [column for column, share in enumerate(table.numeric) if share < 0.5 and column not in used]
    return sorted(text, key=lambda column: not plain(table.columns[column]).endswith("id"))


def _other_rankings(table: Table, roles: Roles) -> list[str]:
    """Return the columns that may tell rankings apart, if the table is read as one ranking."""
    if roles.ranking is not None:
        return []
    used = {roles.item, *roles.scores}
    return [name for column, name in enumerate(table.columns) if column not in used and plain(name) in RANKING_NAMES]


def _collect(table: Table, roles: Roles, *, unique: bool) -> list[Group]:
    """Return the rankings row by row, or say where a row is wrong."""
    collected: dict[str | None, tuple[list[str], dict[str, int], list[array[float]]]] = {}
    used = [roles.item, roles.item if roles.ranking is None else roles.ranking, *roles.scores]
    for place, (item, ranking, *values) in table.rows(used):
        name = None if roles.ranking is None else _label(table, place, roles.ranking, ranking)
        label = _label(table, place, roles.item, item)
        if name not in collected:
            collected[name] = [], {}, [array("d") for _ in roles.scores]
        items, places, scores = collected[name]
        if unique and label in places:
            raise _repeated(table, roles, label, name, (places[label], place))
        items.append(label)
        places[label] = place
        for position, value, column in zip(roles.scores, values, scores, strict=True):
            score = number(value)
            if score is None:
                raise not_a_number(table.place(place, position), value, label)
            column.append(score)
    if not collected:
        raise InputError(f"{table.file} must hold at least one item; it has no rows beneath its header.")
    return [
        Group(name, items, tuple(np.array(column, dtype=np.float64) for column in scores))
        for name, (items, _, scores) in collected.items()
    ]


def _label(table: Table, place: int, column: int, value: Any) -> str:
    """Return a label as text, or raise if it is missing or spans lines."""
    label = "" if value is None else str(value)
    if not label:
        raise InputError(f"{table.place(place, column)} must not be empty: every row needs a label there.")
    if table.unit == "line" and ("\n" in label or "\r" in label):
        raise InputError(
            f"{table.place(place, column)} must be a label within one line; got {shown(label)}. "
            "A quote is opened and not closed in its line: close it, or write it twice inside quotes."
        )
    return label


def _repeated(
    table: Table, roles: Roles, label: str, ranking: str | None, places: tuple[int, int]
) -> RepeatedItemError:
    """Return the error for an item that occurs twice."""
    within = "" if ranking is None else f" in ranking {shown(ranking)}"
    remedy = f"Pass {spelled('duplicates', 'max')} to keep the highest score of each item."
    if other := _other_rankings(table, roles):
        remedy = f"If column {other[0]!r} tells several rankings apart, pass {spelled('ranking', other[0])}. {remedy}"
    return RepeatedItemError(
        f"{table.file}, {table.unit}s {places[0]} and {places[1]}: column {table.columns[roles.item]!r} must name each "
        f"item once{within}; {shown(label)} occurs twice. {remedy}"
    )
