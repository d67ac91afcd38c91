"""What a section consists of: tables, figures and judged statements; and the paper's facts, from CSV files."""

from __future__ import annotations

import csv
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, TypeAlias

import numpy as np

from fujiscore.text.tables import to_csv

HOLDS, CAVEAT, DIFFERS = "holds", "holds with a caveat", "differs from the algorithm"
FAILS, UNCHECKED = "fails", "not checked"
VERDICTS = (HOLDS, CAVEAT, DIFFERS, FAILS, UNCHECKED)
NO_RANKINGS = "needs the published rankings"
NO_DATA = "needs the raw data"


def shipped(file: str) -> str:
    """Return the text of a file that comes with the package."""
    return files("fujiscore.paper").joinpath(file).read_text(encoding="utf-8")


def facts(file: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file that comes with the package."""
    return list(csv.DictReader(shipped(file).splitlines(keepends=True)))


SECTIONS = {row["key"]: row for row in facts("sections.csv")}
# The statements by section. A number stays with its statement: later ones are numbered on, at the end of their section.
# `source` is the part of the paper, `how` says what is computed, `measured` is the text that a check's values fill in,
# and `rf` says which data sets a statement about RF needs: "all", names separated by spaces, or "". The rule for the
# verdict is in `holds`, `caveat` and `differs`: conditions on the values of the check (see `met`).
STATEMENTS = {row["key"]: row for row in facts("statements.csv")}
# The paper's table, by the stem of the published files.
DATA_SETS = {row["name"]: row for row in facts("data_sets.csv")}


@dataclass(frozen=True)
class PageTable:
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
        return PageTable(self.name, "", tuple(self.numbers), list(zip(*self.numbers.values(), strict=True))).to_csv()


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
    rule: str
    correct_rf: Judged | None = None


@dataclass(frozen=True)
class Section:
    """One section of the page."""

    title: str
    text: Sequence[str]
    tables: Sequence[PageTable] = ()
    figures: Sequence[Figure] = ()
    claims: Sequence[Claim] = ()


SIGNS: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def met(condition: str, values: Mapping[str, Any]) -> bool:
    """Return whether values meet a condition such as `share > 0.5 and rises`: comparisons with numbers, names or text.

    An empty condition is never met.
    """
    return bool(condition) and all(_compare(part.split(), values) for part in condition.split(" and "))


def _compare(words: Sequence[str], values: Mapping[str, Any]) -> bool:
    """Evaluate one comparison, or the truth of one value."""
    if len(words) == 1:
        return bool(values[words[0]])
    left, sign, right = words
    if right in values:
        return bool(SIGNS[sign](values[left], values[right]))
    given = values[left]
    return bool(SIGNS[sign](given, right if isinstance(given, str) else float(right)))


def verdict(key: str, values: Mapping[str, Any]) -> str:
    """Return the verdict that a statement's rule gives to the measured values."""
    row = STATEMENTS[key]
    if met(row["holds"], values):
        return CAVEAT if met(row["caveat"], values) else HOLDS
    return DIFFERS if met(row["differs"], values) else FAILS


def rule(key: str) -> str:
    """Return a statement's rule in words."""
    row = STATEMENTS[key]
    words = {"holds": HOLDS, "caveat": "with a caveat", "differs": DIFFERS}
    parts = [f"{word} if {row[name]}" for name, word in words.items() if row[name]]
    return f"{'; '.join(parts)}; otherwise fails".replace("_", " ")


def check(key: str, **values: Any) -> tuple[str, Judged]:
    """Return a statement's key, and its verdict by its rule, with the values measured."""
    return key, Judged(verdict(key, values), STATEMENTS[key]["measured"].format_map(values))


def make_section(
    key: str,
    checks: Checks | None,
    tables: Sequence[PageTable] = (),
    figures: Sequence[Figure] = (),
    *,
    text: Sequence[str] = (),
    correct_rf: Mapping[str, Judged] | None = None,
) -> Section:
    """Return a section with its statements; they are "not checked" without checks, for lack of the rankings."""
    judged = dict.fromkeys(STATEMENTS, Judged(UNCHECKED, NO_RANKINGS)) if checks is None else dict(checks)
    again = correct_rf or {}
    claims = [
        Claim(
            int(row["number"]), row["source"], row["statement"], judged[name], row["how"], rule(name), again.get(name)
        )
        for name, row in STATEMENTS.items()
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
