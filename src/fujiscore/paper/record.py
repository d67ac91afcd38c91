"""What a section consists of: tables, figures, and the paper's statements with verdicts. Imports tables and facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.paper.catalogue import STATEMENTS
from fujiscore.tables import to_csv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

HOLDS, CAVEAT, FAILS, UNCHECKED = "holds", "holds with a caveat", "fails", "not checked"
VERDICTS = (HOLDS, CAVEAT, FAILS, UNCHECKED)
NO_RANKINGS = "needs the published rankings"
NO_DATA = "needs the raw data"


@dataclass(frozen=True)
class Table:
    """A table of the page, also written as CSV under its name."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def to_csv(self) -> str:
        """Return the table as CSV; numbers with eight digits."""
        return to_csv(self.columns, ([cell(value) for value in row] for row in self.rows))


@dataclass(frozen=True)
class Figure:
    """A figure: a function that draws on a matplotlib Figure of the given size, and the numbers it shows by column."""

    name: str
    caption: str
    size: tuple[float, float]
    draw: Callable[[Any], None]
    numbers: Mapping[str, Any]
    small: bool = False

    def to_csv(self) -> str:
        """Return the numbers as CSV."""
        return Table(self.name, "", tuple(self.numbers), list(zip(*self.numbers.values(), strict=True))).to_csv()


@dataclass(frozen=True)
class Judged:
    """A verdict and the measurement it rests on."""

    verdict: str
    measured: str


@dataclass(frozen=True)
class Claim:
    """A statement of the paper in our words, judged; if it is about RF, also with correct RF scores (`correct_rf`)."""

    source: str
    statement: str
    judged: Judged
    how: str
    correct_rf: Judged | None = None


@dataclass(frozen=True)
class Section:
    """One section of the page."""

    title: str
    text: Sequence[str]
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    claims: Sequence[Claim] = ()


def claims(
    section: str, judged: Mapping[str, Judged] | None, correct_rf: Mapping[str, Judged] | None = None
) -> list[Claim]:
    """Return a section's statements with their verdicts; "not checked" where the rankings are missing."""
    return [
        Claim(
            one.source,
            one.statement,
            Judged(UNCHECKED, NO_RANKINGS) if judged is None else judged[one.key],
            one.how,
            (correct_rf or {}).get(one.key),
        )
        for one in STATEMENTS
        if one.section == section
    ]


def judge(measured: str, *, holds: bool, caveat: bool = False) -> Judged:
    """Return the verdict; a statement that does not hold fails, caveat or not."""
    return Judged((CAVEAT if caveat else HOLDS) if holds else FAILS, measured)


def cell(value: Any) -> str:
    """Return a table's cell as text."""
    if isinstance(value, (float, np.floating)):
        return f"{value:.8g}"
    return str(value)


def listed(values: Iterable[float], digits: int = 3) -> str:
    """Return numbers as a short list."""
    return ", ".join(f"{value:.{digits}g}" for value in values)
