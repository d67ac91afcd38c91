"""Charts as data, each drawn by all painters that can show it: `svg`, `figure` (matplotlib) and `terminal`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fujiscore.charts.palette import BLUE, PALE, SLATE

OVER_K = "k, number of top items"


@dataclass(frozen=True, eq=False, kw_only=True)
class Chart:
    """What every chart has: a title for screen readers, a heading that figures show, and further lines beneath it."""

    title: str
    heading: str = ""
    caption: str = ""


@dataclass(frozen=True, eq=False)
class Line:
    """A line of a chart, with gaps where values are NaN; `x` if it is not the chart's."""

    values: Any
    name: str = ""
    colour: str = SLATE
    width: float = 1.8
    dashed: bool = False
    x: Any = None


@dataclass(frozen=True, eq=False)
class Band:
    """The area between two lines."""

    low: Any
    high: Any
    colour: str
    name: str = ""
    opacity: float = 0.22


@dataclass(frozen=True, eq=False)
class Lines(Chart):
    """Lines over bands of the same x, the first line on top; `steps` are constant from point to point."""

    x: Any
    lines: Sequence[Line]
    bands: Sequence[Band] = ()
    x_label: str = OVER_K
    y_label: str = "similarity"
    span: tuple[float, float] = (0.0, 1.0)
    log: bool = False
    steps: bool = False

    @property
    def named(self) -> list[Line | Band]:
        """What a legend names."""
        return [*(line for line in self.lines if line.name), *(band for band in self.bands if band.name)]


@dataclass(frozen=True, eq=False)
class Dots:
    """A dot per row; one colour, or one per row. `shift` moves it down by a part of the row's height."""

    values: Any
    name: str = ""
    colours: str | Sequence[str] = SLATE
    size: float = 5.0
    hollow: bool = False
    shift: float = 0.0

    @property
    def ends(self) -> Sequence[Any]:
        """The values that they show."""
        return [self.values]


@dataclass(frozen=True, eq=False)
class Ranges:
    """A line per row from one value to another; one colour, or one per row."""

    low: Any
    high: Any
    name: str = ""
    colours: str | Sequence[str] = PALE
    width: float = 4.0
    opacity: float = 1.0
    shift: float = 0.0

    @property
    def ends(self) -> Sequence[Any]:
        """The values that they show."""
        return [self.low, self.high]


Mark: TypeAlias = Dots | Ranges


@dataclass(frozen=True, eq=False)
class Rows(Chart):
    """Dots and ranges beside names, above one axis; the first filled dots are written out in `form`.

    `groups` are names of groups of neighbouring rows, at most the first `most` rows are drawn.
    """

    names: Sequence[object]
    marks: Sequence[Mark]
    label: str
    span: tuple[float, float] | None = None
    form: str = ".3f"
    groups: Sequence[str] = ()
    most: int | None = None

    def blocks(self, count: int) -> list[tuple[str, list[int]]]:
        """Return the groups of the first so many rows, each with its rows."""
        groups = groupby(range(count) if self.groups else (), lambda row: self.groups[row])
        return [(group, list(rows)) for group, rows in groups]

    def ends(self, count: int) -> tuple[float, float]:
        """Return the span, or that of the marks of the first so many rows."""
        if self.span is not None:
            return self.span
        known = np.concatenate([np.asarray(end, np.float64)[:count] for mark in self.marks for end in mark.ends])
        known = known[np.isfinite(known)] if np.isfinite(known).any() else np.array([0.0])
        low, high = float(known.min()), float(known.max())
        return low, high if high > low else low + 1


@dataclass(frozen=True, eq=False)
class Bars(Chart):
    """Horizontal bars from 0, each with its value in `form`; the axis ends at `end`, or the greatest value."""

    names: Sequence[object]
    values: Any
    label: str
    colours: str | Sequence[str] = BLUE
    form: str = "g"
    end: float | None = None


@dataclass(frozen=True, eq=False)
class HeatMap(Chart):
    """Cells with names; `pale` ones have a mark, and a note says what it means."""

    values: NDArray[np.float64]
    rows: Sequence[str]
    columns: Sequence[str]
    label: str
    span: tuple[float, float] = (0.0, 1.0)
    pale: NDArray[np.bool_] | None = None
    mark: str = ""
    note: str = ""

    def marked(self, row: int, column: int) -> bool:
        """Return whether a cell is pale."""
        return self.pale is not None and bool(self.pale[row, column])


@dataclass(frozen=True, eq=False)
class Tree(Chart):
    """A tree of merges as SciPy has them (two clusters, their distance, size), and the names of its leaves."""

    merges: NDArray[np.float64]
    names: Sequence[str]
    label: str


@dataclass(frozen=True, eq=False)
class Points(Chart):
    """Points with names, one unit as long on both axes."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    names: Sequence[str]
    x_label: str
    y_label: str


@dataclass(frozen=True)
class Style:
    """How the slopes of one kind are drawn; their names need more contrast."""

    colour: str
    ink: str
    width: float = 1.0
    opacity: float = 1.0
    bold: bool = False
    dashed: bool = False


@dataclass(frozen=True, eq=False)
class Slopes(Chart):
    """Items with a place on two sides by their score relative to a unit; the first are named first.

    `relative` and its logarithms have the shape (2, items); NaN is an item that a side does not list. `counts` has the
    number of items of each kind, of which some may not be drawn.
    """

    items: Sequence[object]
    kinds: Sequence[str]
    relative: NDArray[np.float64]
    logs: NDArray[np.float64]
    sides: Sequence[str]
    counts: Mapping[str, int]
    styles: Mapping[str, Style]
    label: str


def values_span(*values: ArrayLike) -> tuple[float, float]:
    """Return from 0, or from a round number beneath the least value, to 1."""
    least = min((float(np.nanmin(np.asarray(part, np.float64), initial=0.0)) for part in values), default=0.0)
    return max(float(np.floor(least * 5)) / 5, -1.0), 1.0


def intervals(
    names: Sequence[object],
    values: Sequence[tuple[float, float, float]],
    label: str,
    colours: str | Sequence[str],
    title: str = "",
) -> Rows:
    """Return values with the ends of their intervals, on an axis to 1 from 0 or as far below it as they reach."""
    middle, low, high = np.array(values, np.float64).T
    marks: list[Mark] = [Ranges(low, high, colours=colours, opacity=0.6), Dots(middle, colours=colours)]
    return Rows(names, marks, label, values_span(middle, low, high), title=title or label)
