"""Notes: what a reader of a result must know, as text that carries the facts it states.

Code decides by a note's facts, never by its words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from fujiscore.errors import LISTED, WORD, counted, one_line, printable, spelled

# More rankings than these that have a note of the same kind share one.
FEW = 5
MERGED = {"max": "the best score kept", "mean": "scores averaged", "first": "the first score kept"}


@dataclass(frozen=True)
class Fact:
    """What a note states.

    Attributes
    ----------
    kind : str
        A key of `WORDS`.
    ranking : str
        The name of the ranking or run that it is about; empty if it is about all.
    count, total : int
        How many scores or items it is about, and of how many.
    examples : tuple of str
        The names of the first few of them.
    named : int
        How many such names there are in all.
    detail : str
        What else the text says.
    others : int
        How many other rankings it holds for likewise.
    """

    kind: str
    ranking: str = ""
    count: int = 0
    total: int = 0
    examples: tuple[str, ...] = ()
    named: int = 0
    detail: str = ""
    others: int = 0

    def plus(self, other: Fact) -> Fact:
        """Return the same fact about more rows."""
        return replace(
            self,
            count=self.count + other.count,
            total=self.total + other.total,
            examples=(*self.examples, *other.examples)[:LISTED],
            named=self.named + other.named,
        )


def about(kind: str, ranking: str, names: Sequence[Any], **fields: Any) -> Fact:
    """Return a fact about named items: as many as there are names, unless a count is given."""
    examples = tuple(printable(name, WORD) for name in names[:LISTED])
    return Fact(kind, ranking, examples=examples, named=len(names), **{"count": len(names), **fields})


def _listed(fact: Fact) -> str:
    more = fact.named - len(fact.examples)
    return ", ".join(fact.examples) + (f" and {more} more" if more else "")


def _left(fact: Fact, why: str) -> str:
    such = f": {_listed(fact)}" if fact.examples else ""
    return f"{fact.total - fact.count} of {fact.total} items left; {fact.count} dropped, {why}{such}"


def _magnitudes(fact: Fact) -> str:
    replaced = f"{counted(fact.count, 'negative score')} replaced by magnitudes"
    if fact.count < fact.total or fact.count == 1 or fact.detail == "signed":
        return replaced
    remedy = f"pass {spelled('transform', 'exp')} if they are logs"
    return f"{replaced}, which reverses the order, as all scores are negative: {remedy}"


def _merged(fact: Fact) -> str:
    return f"{counted(fact.count, 'duplicate')} merged, {MERGED[fact.detail]} ({_listed(fact)})"


# The words of every kind of fact; those of one ranking follow its name.
WORDS: dict[str, Callable[[Fact], str]] = {
    "said": lambda fact: fact.detail,
    "model": lambda fact: fact.detail,
    "no scores": lambda _: "no scores: read as a list from best to worst, scores 1/rank",
    "transform": lambda fact: f"scores read as {fact.detail}",
    "direction": lambda fact: f"({_listed(fact)}) {fact.detail}" if fact.examples else fact.detail,
    "p-values of 0": lambda fact: f"{counted(fact.count, 'p-value')} of 0 read as {fact.detail}, the smallest number",
    "NaN as 0": lambda fact: f"{counted(fact.count, 'NaN score')} replaced with 0",
    "NaN dropped": lambda fact: _left(fact, "NaN in some ranking"),
    "rows without score": lambda fact: f"{counted(fact.count, 'row')} without a score dropped",
    "rows without other score": lambda fact: (
        f"{counted(fact.count, 'row')} dropped, whose item has no score in the other run"
    ),
    "rows missing": lambda fact: f"{counted(fact.count, 'row')} dropped, whose item the other run lacks",
    "negative as 0": lambda fact: f"{fact.count} of {fact.total} scores are negative and count as 0",
    "magnitudes": _magnitudes,
    "signs split": lambda fact: f"{counted(fact.count, 'negative score')} kept apart from positive ones",
    "items split": lambda fact: (
        f"{spelled('negative', 'split')}: {counted(fact.count, 'item')} read as {2 * fact.count}, two signs each"
    ),
    "duplicates": _merged,
    "missing": lambda fact: f"lacks {fact.count} of {fact.total} items, {fact.detail}: {_listed(fact)}",
    "missing dropped": lambda fact: _left(fact, "not in every ranking"),
    "no p-value": lambda fact: f"no p-value: {fact.detail}",
    "constant lists": lambda fact: f"{counted(fact.count, 'list')} with equal scores only: they order nothing",
}
# What stands between a ranking's name and the words, where it is not a colon.
VERBS = {"missing": " ", "no scores": " has ", "direction": " "}


class Note(str):
    """A note that knows the fact it states."""

    __slots__ = ("fact",)
    fact: Fact

    def __new__(cls, fact: Fact, text: str | None = None) -> Self:
        """Return the fact in words, unless they are given."""
        note = super().__new__(cls, _text(fact) if text is None else text)
        note.fact = fact
        return note

    def __reduce__(self) -> Any:
        """Keep the words: those of another process may spell arguments differently."""
        return Note, (self.fact, str(self))


def _text(fact: Fact) -> str:
    start = f"{fact.ranking}{VERBS.get(fact.kind, ': ')}" if fact.ranking else ""
    likewise = f"; likewise {counted(fact.others, 'other ranking')}" if fact.others else ""
    return one_line(f"{start}{WORDS[fact.kind](fact)}{likewise}")


def kind(note: str) -> str:
    """Return the kind of fact that a note states; empty for plain text."""
    return note.fact.kind if isinstance(note, Note) else ""


def states(notes: Iterable[str], wanted: str) -> bool:
    """Return whether one of the notes states a kind of fact."""
    return any(kind(note) == wanted for note in notes)


def without(notes: Iterable[str], unwanted: str) -> tuple[str, ...]:
    """Return the notes but those of a kind."""
    return tuple(note for note in notes if kind(note) != unwanted)


def reworded(notes: Iterable[str], wanted: str, detail: str) -> tuple[str, ...]:
    """Return the notes, those of a kind with another detail."""
    return tuple(
        Note(replace(note.fact, detail=detail)) if isinstance(note, Note) and note.fact.kind == wanted else note
        for note in notes
    )


def prefixed(start: str, note: str) -> str:
    """Return a note that begins with where it comes from."""
    text = f"{start}: {note}"
    return Note(note.fact, text) if isinstance(note, Note) else text


def final(notes: Iterable[str]) -> tuple[str, ...]:
    """Return each note once, as one line that is safe to print."""
    return tuple(dict.fromkeys(note if isinstance(note, Note) else one_line(note) for note in notes))


def gathered(notes: Iterable[str]) -> list[str]:
    """Return notes on single rankings; of many that say the same, the first, and how many others there are."""
    listed = list(notes)
    counts = Counter(_alike(note) for note in listed)
    first: dict[Any, str] = {}
    for note in listed:
        same = _alike(note)
        if counts[same] <= FEW or not isinstance(note, Note):
            first[note] = note
        elif same not in first:
            first[same] = Note(replace(note.fact, others=counts[same] - 1))
    return list(first.values())


def _alike(note: str) -> Any:
    """Return what notes on different rankings have in common if they say the same."""
    known = isinstance(note, Note) and note.fact.ranking
    return (note.fact.kind, note.fact.detail) if isinstance(note, Note) and known else note


@dataclass
class Tally:
    """Facts about runs, added up over parts of them."""

    facts: dict[tuple[str, str, str], Fact] = field(default_factory=dict)

    def add(self, fact: Fact) -> None:
        """Add a fact to what is known."""
        key = fact.kind, fact.ranking, fact.detail
        self.facts[key] = self.facts[key].plus(fact) if key in self.facts else fact

    def merge(self, other: Tally) -> None:
        """Add what another part counted."""
        for fact in other.facts.values():
            self.add(fact)

    def counted(self, wanted: str, ranking: str | None = None) -> int:
        """Return how many rows facts of a kind are about, in one run or in both."""
        return sum(
            fact.count for fact in self.facts.values() if fact.kind == wanted and ranking in {None, fact.ranking}
        )

    def notes(self) -> list[str]:
        """Return the facts as notes; those about no row are none."""
        return [Note(fact) for fact in self.facts.values() if fact.count]
