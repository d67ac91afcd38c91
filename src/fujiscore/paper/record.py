"""What a section consists of: tables, figures and judged statements; and the paper's facts, from CSV files."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fujiscore.tables import to_csv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

HOLDS, CAVEAT, FAILS, UNCHECKED = "holds", "holds with a caveat", "fails", "not checked"
VERDICTS = (HOLDS, CAVEAT, FAILS, UNCHECKED)
NO_RANKINGS = "needs the published rankings"
NO_DATA = "needs the raw data"


def shipped(file: str) -> str:
    """Return the text of a file that comes with the package."""
    return files("fujiscore.paper").joinpath(file).read_text(encoding="utf-8")


def facts(file: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file that comes with the package."""
    return list(csv.DictReader(shipped(file).splitlines(keepends=True)))


SECTIONS = {row["key"]: row for row in facts("sections.csv")}
# The statements in the order of their numbers. `source` is the part of the paper, `how` says what is computed,
# `measured` is the text that a check's values fill in, and `rf` says which data sets a statement about RF needs: "all",
# names separated by spaces, or "".
STATEMENTS = {row["key"]: row for row in facts("statements.csv")}
# The paper's table, by the stem of the published files.
DATA_SETS = {row["name"]: row for row in facts("data_sets.csv")}


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
    draw: Callable[[Any], Any]
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


Checks: TypeAlias = "list[tuple[str, Judged]]"


@dataclass(frozen=True)
class Claim:
    """A statement of the paper in our words, judged; if it is about RF, also with correct RF scores (`correct_rf`)."""

    number: int
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


def check(key: str, *, holds: bool | np.bool_, caveat: bool | np.bool_ = False, **values: Any) -> tuple[str, Judged]:
    """Return a statement's key, and its verdict: one that does not hold fails, caveat or not."""
    verdict = (CAVEAT if caveat else HOLDS) if holds else FAILS
    return key, Judged(verdict, STATEMENTS[key]["measured"].format_map(values))


def make_section(
    key: str,
    checks: Checks | None,
    tables: Sequence[Table] = (),
    figures: Sequence[Figure] = (),
    *,
    text: Sequence[str] = (),
    correct_rf: Mapping[str, Judged] | None = None,
) -> Section:
    """Return a section with its statements; they are "not checked" without checks, for lack of the rankings."""
    judged = dict.fromkeys(STATEMENTS, Judged(UNCHECKED, NO_RANKINGS)) if checks is None else dict(checks)
    again = correct_rf or {}
    claims = [
        Claim(number, row["source"], row["statement"], judged[name], row["how"], again.get(name))
        for number, (name, row) in enumerate(STATEMENTS.items(), 1)
        if row["section"] == key
    ]
    missing = [f"Not computed: {NO_RANKINGS}."] if checks is None else []
    texts = [*SECTIONS[key]["text"].splitlines(), *missing, *text]
    return Section(SECTIONS[key]["title"], texts, tables, figures, claims)


def cell(value: Any) -> str:
    """Return a table's cell as text."""
    return f"{value:.8g}" if isinstance(value, (float, np.floating)) else str(value)


def listed(values: Iterable[float], digits: int = 3) -> str:
    """Return numbers as a short list."""
    return ", ".join(f"{value:.{digits}g}" for value in values)
