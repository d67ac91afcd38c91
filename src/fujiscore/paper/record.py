"""What a section of the reproduction consists of: tables, pictures, and statements judged. Imports NumPy only."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

HOLDS, CAVEAT, FAILS, UNCHECKED = "holds", "holds with a caveat", "fails", "not checked"
VERDICTS = (HOLDS, CAVEAT, FAILS, UNCHECKED)
NO_RANKINGS = "needs the published rankings (--rankings DIR)"
NO_DATA = "needs the raw data (--data DIR)"


@dataclass(frozen=True)
class Table:
    """A table of the reproduction, kept as CSV.

    Attributes
    ----------
    name, title : str
        The file's stem, and the heading on the page.
    columns : sequence of str
        The header.
    rows : sequence of sequences
        Numbers and text.
    shown : bool
        Whether the page shows it; the numbers behind a picture are only kept as a file.
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    shown: bool = True

    def to_csv(self) -> str:
        """Return the table as text; numbers with eight digits."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([[cell(value) for value in row] for row in self.rows])
        return text.getvalue()


@dataclass(frozen=True)
class Picture:
    """A picture, drawn when it is written: a function that draws on a matplotlib Figure of the given size."""

    name: str
    caption: str
    size: tuple[float, float]
    draw: Callable[[Any], None]
    numbers: Table
    small: bool = False


@dataclass(frozen=True)
class Judged:
    """A verdict and the figure it rests on."""

    verdict: str
    measured: str


@dataclass(frozen=True)
class Claim:
    """A statement of the paper in our words, judged.

    Attributes
    ----------
    source : str
        The part of the paper that makes it.
    statement : str
        What it says.
    judged : Judged
        The verdict, and what was measured.
    how : str
        How it was measured.
    correct_rf : Judged or None
        For statements about RF: the same on correct permutation importance instead of the published scores.
    """

    source: str
    statement: str
    judged: Judged
    how: str
    correct_rf: Judged | None = None


@dataclass(frozen=True)
class Section:
    """One part of the page."""

    title: str
    text: Sequence[str]
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()
    claims: Sequence[Claim] = field(default=())


def judge(measured: str, *, holds: bool, caveat: bool = False) -> Judged:
    """Return the verdict: a statement that does not hold fails, caveat or not."""
    return Judged((CAVEAT if caveat else HOLDS) if holds else FAILS, measured)


def unchecked(reason: str) -> Judged:
    """Return the verdict of a statement whose data are not at hand."""
    return Judged(UNCHECKED, reason)


def cell(value: Any) -> str:
    """Return a table's cell as text."""
    if isinstance(value, (float, np.floating)):
        return f"{value:.8g}"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    return str(value)


def listed(values: Iterable[float], digits: int = 3) -> str:
    """Return numbers as a short list."""
    return ", ".join(f"{value:.{digits}g}" for value in values)


def columns_table(name: str, title: str, columns: Mapping[str, Any], *, shown: bool = False) -> Table:
    """Return a table from columns of equal length."""
    return Table(name, title, tuple(columns), list(zip(*columns.values(), strict=True)), shown)
