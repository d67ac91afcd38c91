"""Tables of (query, item, score) brought together query by query, under the door's policies. Imports batches.

Columns are Arrow arrays of text, arrays of integers, or arrays of Python objects; nothing here is done row by row but
for the latter.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore._kernels as _kernels
from fujiscore.admission import MAGNITUDES, SIGNED, bad_score
from fujiscore.batches import Lists
from fujiscore.errors import InputError, counted, first_few, shown, spelled
from fujiscore.transforms import SMALLEST, transformed_lists

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from fujiscore.coercion import Scores
    from fujiscore.overlap import Sizes

# What happens to negative scores.
COUNTED_AS_ZERO, APART = "counted as 0", "kept apart from positive ones"
# Stand for the number in what a tally counts, and for an s after several; names of files may have braces.
COUNT, S = "\0", "\1"


@dataclass(frozen=True, eq=False)
class Columns:
    """Rows of a run; those of a query that stand together are a block.

    Attributes
    ----------
    queries : list
        The query of each block.
    start : ndarray of int64
        The first row of each block.
    items : pyarrow.Array of large_string, or ndarray of int64 or object
        The labels of the rows.
    scores : ndarray of float64
        NaN where there is none.
    groups : list, optional
        The group of each block's query.
    """

    queries: list[Any]
    start: Sizes
    items: Any
    scores: Scores
    groups: list[Any] | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.scores.size

    @property
    def sizes(self) -> Sizes:
        """The number of rows of each block."""
        return np.diff(np.append(self.start, len(self)))

    def blocks(self, first: int, last: int) -> Columns:
        """Return the blocks from the first up to the last, which is left out."""
        start = np.append(self.start, len(self))
        rows = slice(int(start[first]), int(start[last]))
        groups = None if self.groups is None else self.groups[first:last]
        begins = self.start[first:last] - rows.start
        return Columns(self.queries[first:last], begins, self.items[rows], self.scores[rows], groups)


def joined(parts: Sequence[Columns]) -> Columns:
    """Return parts of one run as one; a block that a cut divides is one again."""
    parts = [part for part in parts if len(part)] or list(parts[:1])
    if len(parts) == 1:
        return parts[0]
    queries = [query for part in parts for query in part.queries]
    before = np.cumsum([0, *(len(part) for part in parts[:-1])])
    start = np.concatenate([part.start + rows for part, rows in zip(parts, before.tolist(), strict=True)])
    new = np.array([True, *(later != former for former, later in pairwise(queries))])
    groups = None if parts[0].groups is None else [group for part in parts for group in part.groups or ()]
    if not new.all():
        kept = np.flatnonzero(new).tolist()
        groups = None if groups is None else [groups[i] for i in kept]
        queries, start = [queries[i] for i in kept], start[new]
    columns = [part.items for part in parts]
    items = np.concatenate(columns) if isinstance(columns[0], np.ndarray) else _concatenated(columns)
    return Columns(queries, start, items, np.concatenate([part.scores for part in parts]), groups)


def _concatenated(columns: Sequence[Any]) -> Any:
    import pyarrow as pa

    return pa.concat_arrays(columns)


@dataclass(frozen=True)
class Policies:
    """How to treat scores and items that need a decision; see `rankings`. There is a transform for each run."""

    negative: str = "raise"
    nan: str = "raise"
    missing: str = "bounds"
    duplicates: str = "raise"
    transforms: tuple[Any, Any] = (None, None)


@dataclass
class Tally:
    """What was done to the rows, added up over parts of the runs."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, what: str, count: int, examples: Iterable[str] = ()) -> None:
        """Count, and keep the first few examples."""
        if count:
            self.counts[what] += count
            kept = self.examples.setdefault(what, [])
            kept += list(examples)[: 3 - len(kept)] if len(kept) < 3 else []

    @property
    def negative(self) -> bool:
        """Whether negative scores count as 0."""
        return any(what.endswith(COUNTED_AS_ZERO) for what in self.counts)

    def kept_apart(self, name: str) -> bool:
        """Whether a run has negative scores that are kept apart from positive ones."""
        return any(what.startswith(f"{name}: ") and what.endswith(APART) for what in self.counts)

    def merge(self, other: Tally) -> None:
        """Add what another part counted."""
        for what, count in other.counts.items():
            self.add(what, count, other.examples.get(what, ()))

    def notes(self) -> list[str]:
        """Return what was counted, each as a note."""
        said = []
        for what, count in self.counts.items():
            such = f" ({first_few(self.examples[what])})" if self.examples[what] else ""
            said.append(f"{what.replace(COUNT, str(count)).replace(S, '' if count == 1 else 's')}{such}")
        return said


@dataclass(frozen=True, eq=False)
class Chunk:
    """The lists of the queries that both runs have, and the queries that one lacks.

    Attributes
    ----------
    queries : list
        Labels, in the order of the lists.
    r, s : Lists
        The lists; items are integers, the same for equal labels of one query. Scores that are read as magnitudes, or
        by sign, still have their signs.
    labels : pair of columns
        The items' labels; `rows` says which of them each entry of a list has (None: they correspond).
    only : pair of lists
        The queries that one run alone has.
    groups : list
        The group of each query, empty without groups.
    """

    queries: list[Any]
    r: Lists
    s: Lists
    labels: tuple[Any, Any]
    rows: tuple[NDArray[Any] | None, NDArray[Any] | None]
    only: tuple[list[Any], list[Any]]
    groups: list[Any]

    def listed(self, q: int) -> list[tuple[list[Any], Scores]]:
        """Return items and scores of a query in both runs."""
        found = []
        for lists, labels, rows in zip((self.r, self.s), self.labels, self.rows, strict=True):
            own = slice(int(lists.start[q]), int(lists.start[q + 1]))
            places = np.arange(own.start, own.stop) if rows is None else rows[own]
            found.append((labels_at(labels, places), lists.scores[own].copy()))
        return found


def labels_at(column: Any, places: NDArray[Any]) -> list[Any]:
    """Return the labels at some places, as Python has them."""
    if isinstance(column, np.ndarray):
        return column[places].tolist()  # type: ignore[no-any-return]
    return column.take(_indices(places)).to_pylist()  # type: ignore[no-any-return]


def _indices(places: NDArray[Any]) -> Any:
    import pyarrow as pa

    return pa.array(places)


def _taken(column: Any, rows: NDArray[Any]) -> Any:
    """Return a column's rows, in the order given."""
    return column[rows] if isinstance(column, np.ndarray) else column.take(_indices(rows))


def changes(column: Any) -> Sizes:
    """Return the places where a column's label is another than before; the first place is one."""
    if not len(column):
        return np.empty(0, np.int64)
    if isinstance(column, np.ndarray):
        different = np.asarray(column[1:] != column[:-1], np.bool_)
    else:
        from pyarrow import compute

        unequal = compute.not_equal(column[1:], column[:-1])
        # Not to_numpy, which imports pandas where it is installed.
        bits = np.frombuffer(unequal.buffers()[1], np.uint8) if len(unequal) else np.empty(0, np.uint8)
        different = np.unpackbits(bits, bitorder="little")[: len(unequal)].astype(np.bool_)
    return np.concatenate([[0], np.flatnonzero(different) + 1])


def together(a: Columns, b: Columns, names: tuple[str, str], policies: Policies, tally: Tally) -> Chunk:
    """Bring two runs together: the lists of each query that both have, after the policies."""
    numbers: dict[Any, int] = {}
    codes = [np.array([numbers.setdefault(query, len(numbers)) for query in side.queries], np.int64) for side in (a, b)]
    queries = list(numbers)
    sizes = [
        np.bincount(code, side.sizes, len(queries)).astype(np.int64) for code, side in zip(codes, (a, b), strict=True)
    ]
    present = [np.bincount(code, minlength=len(queries)) > 0 for code in codes]
    both = present[0] & present[1]
    kept = [queries[q] for q in np.flatnonzero(both).tolist()]
    groups = _groups((a, b), kept)
    sides = [_in_order(side, code, both) for side, code in zip((a, b), codes, strict=True)]
    start_r, start_s = (np.concatenate([[0], np.cumsum(size[both])]) for size in sizes)
    small = policies.duplicates != "raise" or "drop" in {policies.missing, policies.nan} or policies.negative == "split"
    items_r, items_s, number = _item_codes(start_r, sides[0][0], start_s, sides[1][0], small=small)
    both_runs = [
        _Admitted(Lists(start, items, side[1]), name, kept, side[0], number)
        for name, start, items, side in zip(names, (start_r, start_s), (items_r, items_s), sides, strict=True)
    ]
    for admitted, transform in zip(both_runs, policies.transforms, strict=True):
        admitted.apply(policies, transform, tally)
    if "drop" in {policies.missing, policies.nan}:
        _drop(both_runs, tally, shared_only=policies.missing == "drop")
    lists, rows = [side.lists for side in both_runs], [side.rows for side in both_runs]
    only = [[queries[q] for q in np.flatnonzero(here & ~both).tolist()] for here in present]
    labels = (sides[0][0], sides[1][0])
    return Chunk(kept, lists[0], lists[1], labels, (rows[0], rows[1]), (only[0], only[1]), groups)


def _in_order(side: Columns, codes: Sizes, kept: NDArray[np.bool_]) -> tuple[Any, Scores]:
    """Return items and scores of the queries kept, by the queries' codes, and in the table's order within a query."""
    if bool(kept[codes].all()) and bool((codes[1:] > codes[:-1]).all()):
        return side.items, side.scores
    order = np.argsort(codes, kind="stable")
    order = order[kept[codes[order]]]
    lengths = side.sizes[order]
    begins = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.arange(begins[-1]) + np.repeat(side.start[order] - begins[:-1], lengths)
    return _taken(side.items, rows), side.scores[rows]


def _item_codes(
    start_r: Sizes, r: Any, start_s: Sizes, s: Any, *, small: bool
) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Return the items of both sides as integers that are the same for equal labels of a query.

    If these must be small, they are below the number that comes with them; otherwise integer labels stay as they are.
    """
    if not small and all(isinstance(column, np.ndarray) and column.dtype != object for column in (r, s)):
        return r, s, 0
    first, second = _marks(r), _marks(s)
    if first is None or second is None:
        numbers: dict[Any, int] = {}
        coded = [
            np.array([numbers.setdefault(label, len(numbers)) for label in column.tolist()], np.int64)
            for column in (np.asarray(r), np.asarray(s))
        ]
        return coded[0], coded[1], len(numbers)
    codes_r, codes_s = np.empty(len(r), np.int32), np.empty(len(s), np.int32)
    most = _kernels.labels.codes(start_r, *first, start_s, *second, codes_r, codes_s)
    return codes_r, codes_s, int(most)


def _marks(column: Any) -> tuple[Any, Any, Any] | None:
    """Return 64 bits of each label, and for text where each ends and the bytes; None for Python objects."""
    if isinstance(column, np.ndarray):
        none = np.empty(0, np.int64), np.empty(0, np.uint8)
        return None if column.dtype == object else (np.ascontiguousarray(column, np.int64).view(np.uint64), *none)
    _, offsets, content = column.buffers()
    ends = np.frombuffer(offsets, np.int64, len(column) + 1, 8 * column.offset)
    content = np.frombuffer(content, np.uint8) if content is not None and content.size else np.empty(0, np.uint8)
    marks = np.empty(len(column), np.uint64)
    _kernels.labels.hashes(ends, content, marks)
    return marks, ends, content


class _Admitted:
    """The lists of one run while policies are applied to them."""

    def __init__(self, lists: Lists, name: str, queries: Sequence[Any], labels: Any, codes: int) -> None:
        self.lists, self.name, self.queries, self.labels, self.codes = lists, name, queries, labels, codes
        self.rows: NDArray[Any] | None = None
        self.dropped: Sizes = np.empty(0, np.int64)  # keys of rows without a score

    def keys(self) -> Sizes:
        """Return a number for each row that tells list and item."""
        keys: Sizes = np.repeat(np.arange(len(self.lists)), self.lists.sizes) * self.codes + self.lists.items
        return keys

    def apply(self, policies: Policies, transform: Any, tally: Tally) -> None:
        """Apply the policies that concern one run alone."""
        if transform == "neglog10":
            read = f"{self.name}: {COUNT} p-value{S} of 0 read as {SMALLEST:.1g}, the smallest number"
            tally.add(read, int((self.lists.scores == 0).sum()))
        if transform is not None:
            before = self.lists.scores
            scores = transformed_lists(self.lists.start, before, transform, self.name)
            if transform == policies.negative == "abs":
                scores = np.copysign(scores, before)
            self.lists = Lists(self.lists.start, self.lists.items, scores)
        self._check(policies, tally)
        if policies.duplicates != "raise":
            self._merge(policies, tally)
        tally.add(f"{self.name}: {COUNT} list{S} with equal scores only: they order nothing", self._constant(policies))

    def _sizes(self, policies: Policies) -> Scores:
        """Return the scores that rank: magnitudes by some policies."""
        return np.abs(self.lists.scores) if policies.negative in SIGNED else self.lists.scores

    def _constant(self, policies: Policies) -> int:
        """Return the number of lists of several items with equal scores."""
        sizes, scores = self.lists.sizes, self._sizes(policies)
        start = self.lists.start[:-1][sizes > 0]
        if not start.size:
            return 0
        equal = np.maximum.reduceat(scores, start) == np.minimum.reduceat(scores, start)
        return int((equal & (sizes[sizes > 0] > 1)).sum())

    def _check(self, policies: Policies, tally: Tally) -> None:
        """Refuse or mend scores that are NaN, infinite or negative."""
        scores = self.lists.scores
        has_nan, infinite, below = _kernels.order.flaws(scores)
        if has_nan:
            bad = np.isnan(scores)
            if policies.nan == "raise":
                raise self._bad(bad, "NaN")
            if policies.nan == "drop":
                tally.add(f"{self.name}: {COUNT} row{S} without a score dropped", int(bad.sum()))
                self.dropped = self.keys()[bad]
                self.keep(~bad)
            else:
                tally.add(f"{self.name}: {COUNT} NaN score{S} replaced with 0", int(bad.sum()))
                self.lists = Lists(self.lists.start, self.lists.items, np.where(bad, 0.0, scores))
            scores = self.lists.scores
        if infinite or (below and policies.negative in SIGNED):
            bad = np.isinf(scores) if policies.negative in SIGNED else scores == np.inf
            if bad.any():
                raise self._bad(bad, "infinite")
        if not below:
            return
        if policies.negative == "raise":
            raise self._bad(scores < 0, "negative")
        how = {"abs": MAGNITUDES, "split": APART, "clip": COUNTED_AS_ZERO}[policies.negative]
        tally.add(f"{self.name}: {COUNT} negative score{S} {how}", int((scores < 0).sum()))

    def _bad(self, bad: NDArray[np.bool_], what: str) -> InputError:
        """Return the error that names the first bad score."""
        row = int(np.argmax(bad))
        count, place = int(bad.sum()), "is" if int(bad.sum()) == 1 else "are"
        query = self.queries[int(np.searchsorted(self.lists.start, row, side="right")) - 1]
        item = labels_at(self.labels, np.array([row if self.rows is None else self.rows[row]]))[0]
        first = f"first: {self.lists.scores[row]:g} at query {shown(query)}, item {shown(item)}"
        return bad_score(what, self.name, f"{count} of {bad.size} {place} {what} ({first})")

    def keep(self, wanted: NDArray[np.bool_]) -> None:
        """Keep some rows."""
        lists = self.lists
        start = np.concatenate([[0], np.cumsum(wanted)])[lists.start]
        rows = np.flatnonzero(wanted)
        self.rows = rows if self.rows is None else self.rows[rows]
        self.lists = Lists(start, lists.items[wanted], lists.scores[wanted])

    def _merge(self, policies: Policies, tally: Tally) -> None:
        """Keep each item of a query once."""
        lists = self.lists
        keys = self.keys()
        unique, first, group, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        if unique.size == keys.size:
            return
        how = {"max": "the best score kept", "mean": "scores averaged", "first": "the first score kept"}
        again = first[counts > 1][:3]
        examples = labels_at(self.labels, again if self.rows is None else self.rows[again])
        what = f"{self.name}: {COUNT} duplicate{S} merged, {how[policies.duplicates]}"
        tally.add(what, int(keys.size - unique.size), map(str, examples))
        scores, sizes = lists.scores.copy(), self._sizes(policies)
        if policies.duplicates == "max":
            best_last = np.argsort(sizes, kind="stable")
            best = np.empty(unique.size, np.intp)
            best[group[best_last]] = best_last
            scores[first] = lists.scores[best]
        elif policies.duplicates == "mean":
            means = np.bincount(group, scores) / counts
            of_sizes = policies.negative == "abs"
            scores[first] = np.copysign(np.bincount(group, sizes) / counts, means) if of_sizes else means
        wanted = np.zeros(keys.size, np.bool_)
        wanted[first] = True
        self.lists = Lists(lists.start, lists.items, scores)
        self.keep(wanted)


def _drop(sides: Sequence[_Admitted], tally: Tally, *, shared_only: bool) -> None:
    """Leave out the items of each query that have no score in the other run, and, if asked, those that it lacks."""
    keys = [side.keys() for side in sides]
    for i, side in enumerate(sides):
        without = np.isin(keys[i], sides[1 - i].dropped)
        tally.add(f"{side.name}: {COUNT} row{S} dropped, whose item has no score in the other run", int(without.sum()))
        lacking = ~without & ~np.isin(keys[i], keys[1 - i]) if shared_only else np.zeros(without.size, np.bool_)
        tally.add(f"{side.name}: {COUNT} row{S} dropped, whose item the other run lacks", int(lacking.sum()))
        side.keep(~(without | lacking))


def _groups(sides: Sequence[Columns], queries: Sequence[Any]) -> list[Any]:
    """Return each query's group; where both runs have groups, they must agree."""
    known: dict[Any, Any] = {}
    for side in sides:
        for query, group in zip(side.queries, side.groups or (), strict=side.groups is not None):
            if known.setdefault(query, group) != group:
                raise two_groups(query, known[query], group)
    return [known[query] for query in queries] if known else []


def two_groups(query: Any, first: Any, second: Any) -> InputError:
    """Return the error for a query in two groups."""
    return InputError(
        f"{spelled('group_by')} must name a column with one value per query; query {shown(query)} has several "
        f"({shown(first)}, {shown(second)})."
    )


def repeated(chunk: Chunk, q: int, names: tuple[str, str]) -> InputError:
    """Return the error that names what a query repeats."""
    counts = [Counter(items) for items, _ in chunk.listed(q)]
    name, again = next(
        (name, several)
        for name, count in zip(names, counts, strict=True)
        if (several := [shown(item) for item, times in count.items() if times > 1])
    )
    words = ", ".join(spelled("duplicates", word) for word in ("max", "mean"))
    return InputError(
        f"{name} must list each item of a query once; query {shown(chunk.queries[q])} repeats "
        f"{counted(len(again), 'item')} ({first_few(again)}). Pass {words} or {spelled('duplicates', 'first')}."
    )
