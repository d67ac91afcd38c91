"""Labels that nearly match: equal but for case, blanks, type or Unicode form, or changed by a spreadsheet.

Nothing is renamed here: whether "Gene1" and "GENE1" are one item is for the user to decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from unicodedata import normalize

from fujiscore.errors import NAME, counted, shortened, shown

INVISIBLE = dict.fromkeys((0x200B, 0x2060, 0xFEFF))  # zero-width space, word joiner, byte order mark
NUMBER = re.compile(r"([+-]?)0*([0-9]+)(?:\.([0-9]*?)0*)?")
NUMBER_STARTS = frozenset("+-0123456789")
HIDDEN = frozenset(("invisible characters", "Unicode form"))  # differences that do not show, and that ASCII lacks
MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
# What spreadsheets make of DEC1 and SEPT2 ("1-Dec", "Sep-02", "2006-12-01") and of 2310009E13 ("2.31E+19").
SPREADSHEET = re.compile(
    rf"[0-3]?[0-9]-{MONTH}(?:-[0-9]{{2,4}})?|{MONTH}-[0-9]{{2}}|(?:19|20)[0-9]{{2}}-[01][0-9]-[0-3][0-9](?: 00:00:00)?"
    r"|[0-9](?:\.[0-9]+)?e\+[0-9]{2}",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class NearMatches:
    """Items that several rankings list under labels which differ in spelling only."""

    count: int  # of such items
    changes: tuple[str, ...]  # in what the labels differ: the keys of `REMEDIES`
    labels: tuple[Any, Any]  # two labels of one item
    lists: tuple[int, int]  # which of the rankings have these labels


def near_matches(*lists: Collection[Hashable]) -> NearMatches | None:
    """Return how many items would match across the lists if their labels were spelled alike, None if none would.

    Labels that all lists have match already, and two labels of one list are different items.
    """
    return _near(_unmatched(lists), lists)


def _near(unmatched: Sequence[Any], lists: Sequence[Collection[Hashable]]) -> NearMatches | None:
    """Return the items whose labels match but for their spelling."""
    keys: dict[str, Any] = {}
    several: dict[str, list[Any]] = {}
    for label, key in zip(unmatched, _keys(unmatched), strict=True):
        if keys.setdefault(key, label) is not label:
            several.setdefault(key, [keys[key]]).append(label)
    owners: dict[Any, list[int]] = {label: [] for group in several.values() for label in group}
    for place, items in enumerate(lists):
        for label in owners.keys() & items:
            owners[label].append(place)
    places = [[place for label in group for place in owners[label]] for group in several.values()]
    # A list with two of the labels has them for different items.
    groups = [group for group, of in zip(several.values(), places, strict=True) if len(set(of)) == len(of)]
    if not groups:
        return None
    first, second = groups[0][:2]
    return NearMatches(len(groups), _differences(groups), (first, second), (owners[first][0], owners[second][0]))


def _changed_by_spreadsheet(
    unmatched: Sequence[Any], lists: Sequence[Collection[Hashable]]
) -> tuple[int, list[str]] | None:
    """Return which list has labels such as "1-Dec", and these; None if no list does, or all: then items are dates."""
    changed = {label for label in unmatched if isinstance(label, str) and SPREADSHEET.fullmatch(label)}
    found = [[str(label) for label in items if label in changed] for items in lists] if changed else []
    return None if all(found) else next((place, labels) for place, labels in enumerate(found) if labels)


def advice(
    lists: Sequence[Collection[Hashable]], names: Sequence[str], noun: tuple[str, str] = ("item", "items")
) -> str | None:
    """Return a sentence on labels that nearly match and what to do about them, None if there are none."""
    parts = []
    unmatched = _unmatched(lists)
    if (near := _near(unmatched, lists)) is not None:
        i, j = near.lists
        hidden = not HIDDEN.isdisjoint(near.changes)  # labels that would look the same are escaped
        one, other = (shortened(ascii(label), NAME) if hidden else shown(label) for label in near.labels)
        match = "matches" if near.count == 1 else "match"
        parts.append(
            f"{counted(near.count, *noun)} {match} but for {', '.join(near.changes)} ({one} in {names[i]}, {other} in "
            f"{names[j]}): if these are the same, {', '.join(REMEDIES[change] for change in near.changes)}"
        )
    if (changed := _changed_by_spreadsheet(unmatched, lists)) is not None:
        place, labels = changed
        look = "looks" if len(labels) == 1 else "look"
        parts.append(
            f"{counted(len(labels), 'label')} of {names[place]} {look} like a name that a spreadsheet has turned into "
            f"a date or a number ({shown(labels[0])}): restore it from the source"
        )
    return "; ".join(parts) or None


def _unmatched(lists: Sequence[Collection[Hashable]]) -> list[Any]:
    """Return the labels that are not in all lists, each once."""
    common = set(lists[0]).intersection(*lists[1:])
    return list(dict.fromkeys(label for items in lists for label in items if label not in common))


def _text(label: Any) -> str:
    """Return a label as text; bytes, which HDF5 files hold, are decoded."""
    if isinstance(label, str):
        return label
    return label.decode(errors="replace") if isinstance(label, bytes) else str(label)


def _one_number(text: str) -> str:
    """Return 1.0, 01 and +1 as 1; other text as it is."""
    if text[:1] not in NUMBER_STARTS or (match := NUMBER.fullmatch(text)) is None:
        return text
    sign, whole, fraction = match.groups()
    return f"{sign.rstrip('+')}{whole}{'.' * bool(fraction)}{fraction or ''}"


# How each difference in spelling is undone, and what the user can do about it.
STEPS: dict[str, Callable[[str], str]] = {
    "invisible characters": lambda text: text.translate(INVISIBLE),
    "Unicode form": partial(normalize, "NFKC"),
    "blanks": lambda text: " ".join(text.split()),
    "case": str.casefold,
    "number format": _one_number,
}
REMEDIES = {
    "bytes": "decode them, e.g. with .str.decode('utf-8')",
    "type": "make both text, e.g. with .astype(str)",
    "invisible characters": "remove them",
    "Unicode form": "normalise both, e.g. with .str.normalize('NFKC')",
    "blanks": "make the blanks equal, e.g. with ' '.join(label.split())",
    "case": "use one case, e.g. with .str.upper()",
    "number format": "write the numbers alike (1, not 1.0 or 01)",
}


def _keys(labels: Sequence[Any], without: str | None = None) -> list[str]:
    """Return what is left of labels if spelling does not count, but for one kind of difference."""
    texts = list(map(_text, labels))
    plain = "".join(texts).isascii()
    for change, step in STEPS.items():
        if change != without and not (plain and change in HIDDEN):
            texts = list(map(step, texts))
    return texts


def _differences(pairs: Iterable[Sequence[Any]]) -> tuple[str, ...]:
    """Return in what the labels of the pairs differ: a change that suffices, or all that it takes."""
    changes: dict[str, None] = {}
    known: list[Callable[[str], str]] = []
    for first, second, *_ in pairs:
        if not (isinstance(first, str) and isinstance(second, str)) and type(first) is not type(second):
            changes["bytes" if isinstance(first, bytes) or isinstance(second, bytes) else "type"] = None
        one, other = _text(first), _text(second)
        if one != other and not any(step(one) == step(other) for step in known):
            # The first change that makes the labels equal, or those without which they are not.
            alone = [change for change, step in STEPS.items() if step(one) == step(other)][:1]
            needed = alone or [change for change in STEPS if len(set(_keys((one, other), change))) > 1] or list(STEPS)
            changes |= dict.fromkeys(needed)
            known = [step for change, step in STEPS.items() if change in changes]
    return tuple(change for change in REMEDIES if change in changes)
