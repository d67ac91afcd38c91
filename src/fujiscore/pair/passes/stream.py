"""Columns of scores in files, and two of them checked and read side by side, in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fujiscore.errors import InputError, choice
from fujiscore.inputs.coercion import MOST_ITEMS, Labelled, Scores
from fujiscore.inputs.options import NAN
from fujiscore.inputs.policies import FLAWS, SIGNS, bad_scores, refused
from fujiscore.text.notes import Fact, Note
from fujiscore.work.tiles import progress_bar, spread, workers

if TYPE_CHECKING:
    from fujiscore.inputs.direction import Evidence

Batches: TypeAlias = Iterator[tuple["Scores", "Scores"]]
# Rows read at a time: two columns of them fit in a core's cache. Rows of a segment, which one thread reads.
ROWS, SEGMENT = 1 << 16, 1 << 21
# More threads would wait for the file, and each counts in tables of its own.
MOST_THREADS = 4


@dataclass(frozen=True, eq=False)
class Column:
    """A column of scores in a file, not read yet; `scan` returns it, and `compare` takes it.

    Attributes
    ----------
    name : str
        The ranking's name.
    origin : str
        The file and the column, for messages.
    file : hashable
        Columns of the same file hold the scores of the same items, row by row.
    parts : tuple of int
        The number of rows in each part of the file that can be read by itself.
    fits : bool
        Whether a comparison in memory is possible.
    key : str
        The column's name in the file.
    batches : callable
        Given the names of columns, the first and the last part to read and a number of rows, yield the columns' scores
        (NaN where there is none), at most so many at a time.
    labels : callable
        Given the parts and the number of rows, yield the items' labels.
    load : callable
        Given the policy for duplicates, read the column into memory.
    notes : tuple of str
        What was guessed about the columns.
    evidence : Evidence or None
        What the column's name, or a rank column, says about the direction of the scores.
    """

    name: str
    origin: str
    file: Hashable
    parts: tuple[int, ...]
    fits: bool
    key: str
    batches: Callable[[Sequence[str], int, int, int], Iterator[Sequence[Scores]]]
    labels: Callable[[int, int, int], Iterator[Any]]
    load: Callable[[Any], Labelled]
    notes: tuple[str, ...] = ()
    evidence: Evidence | None = None

    def __repr__(self) -> str:
        """Return where the scores are."""
        return f"Column({self.origin}, {self.depth} rows)"

    @property
    def depth(self) -> int:
        """The number of rows."""
        return sum(self.parts)


@dataclass(frozen=True)
class Segment:
    """Rows that one thread reads: the first and the last part of each column, the rows before, and their number."""

    parts: tuple[tuple[int, int], tuple[int, int]]
    before: int
    rows: int


def segments(r: Column, s: Column, least: int = SEGMENT) -> list[Segment]:
    """Cut two columns into segments of whole parts of both, of at least so many rows (the last may have fewer)."""
    ends = [{end: i for i, end in enumerate(accumulate(column.parts))} for column in (r, s)]
    common = sorted(ends[0].keys() & ends[1].keys())
    result: list[Segment] = []
    start, before = (0, 0), 0
    for end in common:
        if end - before >= least or end == common[-1]:
            stop = ends[0][end], ends[1][end]
            result.append(Segment(((start[0], stop[0]), (start[1], stop[1])), before, end - before))
            start, before = (stop[0] + 1, stop[1] + 1), end
    return result


class ColumnPair:
    """Two columns, checked and read side by side."""

    def __init__(
        self,
        r: Column,
        s: Column,
        nan: str = "raise",
        negative: str = "raise",
        *,
        n_jobs: int | None = None,
        progress: bool | None = None,
        rows: int = ROWS,
    ) -> None:
        choice("nan", nan, NAN)
        choice("negative", negative, ("raise", "clip", "abs"))
        self.columns, self.nan, self.negative, self.rows = (r, s), nan, negative, rows
        if r.depth != s.depth:
            raise InputError(
                f"{r.origin} and {s.origin} must list the same items in the same order; they have {r.depth} and "
                f"{s.depth} rows. Bring both into one file, one column each."
            )
        if not 0 < r.depth <= MOST_ITEMS:
            raise InputError(f"{r.origin} must list 1 to {MOST_ITEMS} items; it has {r.depth} rows.")
        self.segments = segments(r, s, max(SEGMENT, rows) if rows == ROWS else rows)
        self.threads, self.progress = min(workers(n_jobs), MOST_THREADS, len(self.segments)), progress
        self.flaws: Counter[tuple[int, str]] = Counter()
        self.passes, self._lock = 0, Lock()

    def run(self, work: Callable[[int, int, Batches], object]) -> None:
        """Read both columns once: call work(worker, segment's number, its batches) for every segment."""
        self.passes += 1
        with progress_bar(self.columns[0].depth, f"pass {self.passes}", progress=self.progress) as count:

            def segment(worker: int, number: int) -> None:
                work(worker, number, self._read(self.segments[number], count))

            spread(len(self.segments), segment, self.threads)

    @property
    def strict(self) -> bool:
        """Whether NaN and negative scores are refused, so that scores need no change; `refuse` checks them."""
        return self.nan == self.negative == "raise"

    def refuse(self) -> None:
        """Raise for scores that the policies refuse: those of the first column first, whatever was read first."""
        for column in self.columns:
            counts: Counter[str] = Counter()
            first: dict[str, tuple[float, int]] = {}
            row = 0
            for (scores,) in column.batches([column.key], 0, len(column.parts) - 1, self.rows):
                for what, bad in refused(scores, self.negative, self.nan).items():
                    counts[what] += int(bad.sum())
                    at = int(np.argmax(bad))
                    first.setdefault(what, (float(scores[at]), row + at + 1))
                row += scores.size
            for what in FLAWS:
                if what in first:
                    raise bad_scores(what, column.origin, counts[what], row, first[what][0], f"row {first[what][1]}")

    def _read(self, segment: Segment, count: Callable[[int], object]) -> Batches:
        """Yield the scores of a segment, checked unless they are strict."""
        self._require_same_labels(segment)
        for unchecked in self._unchecked(segment):
            both = list(unchecked)
            if not self.strict:
                both = [self._checked(side, scores) for side, scores in enumerate(unchecked)]
                both = self._without_nan(both) if self.nan == "drop" else both
            for scores in both:  # as Arrow has them: kernels are compiled once
                scores.flags.writeable = False
            yield both[0], both[1]
            count(unchecked[0].size)

    def _unchecked(self, segment: Segment) -> Batches:
        """Yield the scores of a segment as the files have them."""
        r, s = self.columns
        (first, second), row = segment.parts, segment.before
        if r.file == s.file:
            pairs = iter(r.batches([r.key, s.key], *first, self.rows))
        else:
            of_r, of_s = r.batches([r.key], *first, self.rows), s.batches([s.key], *second, self.rows)
            pairs = together((scores for (scores,) in of_r), (scores for (scores,) in of_s))
        for one, other in pairs:
            yield one, other
            row += one.size
        if row < segment.before + segment.rows:
            names = " or ".join(dict.fromkeys(column.origin for column in self.columns))
            raise InputError(f"{names} ends before row {segment.before + segment.rows}: it is damaged. Write it again.")

    def _require_same_labels(self, segment: Segment) -> None:
        """Raise unless both columns list the same items, in the first pass over columns of two files."""
        r, s = self.columns
        if r.file == s.file or self.passes > 1:
            return
        row = segment.before
        labels = [column.labels(*part, self.rows) for column, part in zip(self.columns, segment.parts, strict=True)]
        for first, second in together(*labels):
            if not first.equals(second):
                at = next(i for i in range(len(first)) if first[i] != second[i])
                raise InputError(
                    f"{r.origin} and {s.origin} must list the same items in the same order; row {row + at + 1} has "
                    f"{first[at].as_py()!r} and {second[at].as_py()!r}. Sort both files by item."
                )
            row += len(first)

    def _checked(self, side: int, scores: Scores) -> Scores:
        """Return scores after the policies for NaN (except dropping), infinite and negative ones."""
        if scores.min() >= 0 and scores.max() < np.inf:
            return scores
        if refused(scores, self.negative, self.nan):
            self.refuse()
        nan = np.isnan(scores)
        if self.passes == 1:
            with self._lock:
                self.flaws[side, "NaN"] += int(nan.sum())
                self.flaws[side, "negative"] += int((scores < 0).sum())
        scores = np.where(nan, 0.0, scores) if self.nan == "zero" else scores
        return np.abs(scores) if self.negative == "abs" else scores

    def _without_nan(self, scores: list[Scores]) -> list[Scores]:
        """Leave out rows with a NaN in either column."""
        bad = np.isnan(scores[0]) | np.isnan(scores[1])
        if not bad.any():
            return scores
        if self.passes == 1:
            with self._lock:
                self.flaws[0, "dropped"] += int(bad.sum())
        return [one[~bad] for one in scores]

    def notes(self) -> list[str]:
        """Return what was done to the scores."""
        n, dropped = self.columns[0].depth, self.flaws[0, "dropped"]
        facts = []
        for side, column in enumerate(self.columns):
            if self.nan == "zero":
                facts.append(Fact("NaN as 0", column.name, self.flaws[side, "NaN"]))
            if self.negative in SIGNS:
                facts.append(Fact(SIGNS[self.negative], column.name, self.flaws[side, "negative"], n))
        facts.append(Fact("NaN dropped", count=dropped, total=n))
        return [Note(fact) for fact in facts if fact.count]


def together(first: Iterator[Any], second: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield stretches of equal length from two streams of arrays."""
    a = b = None
    while True:
        a = next(first, None) if a is None or not len(a) else a
        b = next(second, None) if b is None or not len(b) else b
        if a is None or b is None:
            return
        size = min(len(a), len(b))
        if size:
            yield a[:size], b[:size]
        a, b = a[size:], b[size:]
