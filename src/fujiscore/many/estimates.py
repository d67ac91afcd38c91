"""A mean over pairs of rankings with its interval, and the difference of two such means with its test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np

from fujiscore.charts.kinds import Chart, intervals
from fujiscore.charts.palette import CHANCE
from fujiscore.charts.result import Result, estimate_cells, record
from fujiscore.inference.intervals import test
from fujiscore.measures.registry import find
from fujiscore.null.closed_forms import correct
from fujiscore.text.numbers import p_words
from fujiscore.text.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fujiscore.many.matrix import Matrix

    Range: TypeAlias = tuple[float, float]


def covers(noun: str) -> str:
    """Return what an interval says, printed with it."""
    return f"the interval covers {noun} drawn as these were: resamples of one data set tell about that data set"


def are_paired(names: Sequence[tuple[str, ...]]) -> bool:
    """Return whether all methods name their rankings alike, and by more than positions 0, 1, 2, ..."""
    return len(set(names)) == 1 and names[0] != tuple(map(str, range(len(names[0]))))


def described(pairs: Matrix) -> str:
    """Return the measure of a matrix, and what its values are."""
    return f"{find(pairs.measure).title}, {pairs.area}"


def mean_range(pairs: Matrix, used: NDArray[np.bool_]) -> Range:
    """Return the least and the greatest value that the mean of some cells can have."""
    measure = find(pairs.measure)
    if not pairs.corrected or pairs.expected is None:
        return measure.low, measure.high
    return float(correct(np.full_like(pairs.expected, measure.low), pairs.expected)[used].mean()), 1.0


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Result):
    """The mean of a matrix of pairs, or of some of its cells, with a confidence interval."""

    value: float
    low: float
    high: float
    standard_error: float
    confidence: float
    m: Any
    pairs: Matrix

    _noun: ClassVar[str]  # what the value is
    _caption: ClassVar[str]  # what its table shows
    _covers: ClassVar[str]  # what the interval says

    def _basis(self) -> str:
        """Return what the mean is over, in words."""
        raise NotImplementedError

    def _cells(self) -> dict[str, tuple[str, Any]]:
        """Return the cells of the table beside value, interval and standard error."""
        raise NotImplementedError

    def _left_out(self) -> list[tuple[str, float]]:
        """Return values without some of the rankings, which a chart shows too."""
        return []

    def _charts(self) -> list[Chart]:
        measure, further = find(self.pairs.measure), self._left_out()
        names = ["all rankings" if further else self._noun, *(name for name, _ in further)]
        values = [(self.value, self.low, self.high), *((value, np.nan, np.nan) for _, value in further)]
        label = f"{described(self.pairs)}, {self.confidence:.0%} interval"
        return [intervals(names, values, label, [measure.colour, *[CHANCE] * len(further)], self._noun)]

    def _summary(self) -> list[str]:
        interval = f"{self.confidence:.0%} interval {self.low:.4f} to {self.high:.4f}"
        return [f"{self._noun} ({described(self.pairs)}) {self.value:.4f}, {interval}, {self._basis()}", self._covers]

    def _data(self) -> dict[str, Any]:
        ends = {key: getattr(self, key) for key in ("low", "high", "standard_error", "confidence")}
        pairs = {"corrected": self.pairs.corrected, "pairs": self.pairs.values}
        head = {"measure": self.pairs.measure, "area": self.pairs.area, self._noun: self.value}
        return {**head, **ends, **pairs, "rankings": self.m}

    def _tables(self, rows: int | None) -> list[Table]:  # noqa: ARG002 - there is one row
        known = estimate_cells(self._noun, self) | self._cells()
        return [record(f"{self._caption} ({described(self.pairs)})", known, [self._covers])]


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Result):
    """The difference of two estimates, with its interval and a test."""

    difference: float
    low: float
    high: float
    p_value: float
    statistic: float
    paired: bool
    alternative: str
    first: Any
    second: Any
    notes: tuple[str, ...]

    _second_less_first: ClassVar[bool]
    _caption: ClassVar[str]  # what the table shows
    _covers: ClassVar[str]  # what the interval says
    _names: ClassVar[tuple[str, str]] = ("first", "second")

    @classmethod
    def of(
        cls,
        first: Any,
        second: Any,
        variance: float,
        freedom: float,
        ranges: Sequence[Range],
        *,
        paired: bool,
        alternative: str,
        doubts: Sequence[str],
    ) -> Self:
        """Return Student's test of the difference, which has that variance and so many degrees of freedom.

        `ranges` hold the least and the greatest value of the first and of the second.
        """
        order = slice(None, None, -1 if cls._second_less_first else 1)
        one, other = (first, second)[order]
        (least, most), (other_least, other_most) = ranges[order]
        difference = one.value - other.value
        found = test(
            difference,
            float(np.sqrt(variance)),
            freedom,
            confidence=first.confidence,
            alternative=alternative,
            span=(least - other_most, most - other_least),
            m=int(np.min((first.m, second.m))),
        )
        tested = (difference, found.low, found.high, found.p_value, found.statistic)
        notes = tuple(dict.fromkeys((*first.notes, *second.notes, *doubts)))
        return cls(*tested, paired, alternative, first, second, notes)

    @property
    def kind(self) -> str:
        """The kind of test, in words."""
        sides = "" if self.alternative == "two-sided" else f", one-sided: {self.alternative}"
        return f"{'paired' if self.paired else 'unpaired'}{sides}"

    def _summary(self) -> list[str]:
        one, other = (self.second, self.first) if self._second_less_first else (self.first, self.second)
        interval = f"{self.first.confidence:.0%} interval {self.low:+.4f} to {self.high:+.4f}"
        values = f"{self.difference:+.4f} ({one.value:.4f} - {other.value:.4f})"
        head = f"difference ({described(self.first.pairs)}) {values}, {interval}"
        return [f"{head}, {p_words(self.p_value)} ({self.kind})", self._covers]

    def _charts(self) -> list[Chart]:
        values = [(each.value, each.low, each.high) for each in (self.first, self.second)]
        values.append((self.difference, self.low, self.high))
        colour = find(self.first.pairs.measure).colour
        label = f"{described(self.first.pairs)}, {self.first.confidence:.0%} intervals"
        return [intervals([*self._names, "difference"], values, label, [colour, colour, CHANCE], "difference")]

    def _data(self) -> dict[str, Any]:
        return {"measure": self.first.pairs.measure, **super()._data()}

    def _tables(self, rows: int | None) -> list[Table]:  # noqa: ARG002 - there are three rows
        return [self.table()]

    def table(self, names: Sequence[str] = ()) -> Table:
        """Return both values and their difference, under names of one's choice."""
        both = zip(names or self._names, (self.first, self.second), strict=True)
        cells = [[name, each.value, each.low, each.high, None] for name, each in both]
        cells.append(["difference", self.difference, self.low, self.high, self.p_value])
        sides = "" if self.alternative == "two-sided" else f" (one-sided: {self.alternative})"
        header = ["", "value", f"{self.first.confidence:.0%} interval, low", "high", f"p{sides}"]
        caption = f"{self._caption} ({described(self.first.pairs)})"
        return Table(caption, header, cells, ["", ".4f", ".4f", ".4f", "p"], [self._covers])
