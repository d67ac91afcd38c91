"""Tables of (query, item, score) brought together query by query, under the policies.

Columns are Arrow arrays of text, arrays of integers, or arrays of Python objects; nothing here is done row by row but
for the latter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import fujiscore._kernels as _kernels
from fujiscore.errors import InputError, shown, spelled
from fujiscore.inputs import policies
from fujiscore.inputs.policies import RawLists
from fujiscore.runs.batches import Lists
from fujiscore.text.notes import Fact, Tally

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.measures.grids import Sizes


@dataclass(frozen=True, eq=False)
class RunRows:
    """Rows of a run; those of a query that stand together are a block."""

    queries: list[Any]  # of each block
    start: Sizes  # the first row of each block
    items: Any  # labels of the rows: a pyarrow.Array of large_string, or an array of int64 or object
    scores: Scores  # NaN where there is none
    groups: list[Any] | None = None  # of each block's query

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.scores.size

    @property
    def sizes(self) -> Sizes:
        """The number of rows of each block."""
        return np.diff(np.append(self.start, len(self)))

    def blocks(self, first: int, last: int) -> RunRows:
        """Return the blocks from the first up to the last, which is left out."""
        start = np.append(self.start, len(self))
        rows = slice(int(start[first]), int(start[last]))
        groups = None if self.groups is None else self.groups[first:last]
        begins = self.start[first:last] - rows.start
        return RunRows(self.queries[first:last], begins, self.items[rows], self.scores[rows], groups)


def joined(parts: Sequence[RunRows]) -> RunRows:
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
    columns: list[Any] = [part.items for part in parts]
    if isinstance(columns[0], np.ndarray):
        items = np.concatenate(columns)
    else:
        import pyarrow as pa

        items = pa.concat_arrays(columns)
    return RunRows(queries, start, items, np.concatenate([part.scores for part in parts]), groups)


@dataclass(frozen=True)
class Rules:
    """How to treat scores and items that need a decision; see `rankings`. There is a transform for each run."""

    negative: str = "raise"
    nan: str = "raise"
    missing: str = "bounds"
    duplicates: str = "raise"
    transforms: tuple[Any, Any] = (None, None)


@dataclass(frozen=True, eq=False)
class Chunk:
    """The lists of the queries that both runs have, and the queries that one lacks."""

    queries: list[Any]  # labels, in the order of the lists
    # The lists; items are integers, the same for equal labels of one query. Scores that are read as magnitudes, or by
    # sign, still have their signs.
    r: Lists
    s: Lists
    # The items' labels; `rows` says which of them each entry of a list has (None: they correspond).
    labels: tuple[Any, Any]
    rows: tuple[NDArray[Any] | None, NDArray[Any] | None]
    only: tuple[list[Any], list[Any]]  # the queries that one run alone has
    groups: list[Any]  # the group of each query, empty without groups

    def listed(self, q: int) -> list[tuple[list[Any], Scores]]:
        """Return items and scores of a query in both runs."""
        both = []
        for lists, labels, rows in zip((self.r, self.s), self.labels, self.rows, strict=True):
            entries = slice(int(lists.start[q]), int(lists.start[q + 1]))
            places = np.arange(entries.start, entries.stop) if rows is None else rows[entries]
            both.append((labels_at(labels, places), lists.scores[entries].copy()))
        return both


def labels_at(column: Any, places: NDArray[Any]) -> list[Any]:
    """Return the labels at some places, as Python has them."""
    labels = _taken(column, places)
    return labels.tolist() if isinstance(labels, np.ndarray) else labels.to_pylist()  # type: ignore[no-any-return]


def _taken(column: Any, rows: NDArray[Any]) -> Any:
    """Return a column's rows, in the order given."""
    if isinstance(column, np.ndarray):
        return column[rows]
    import pyarrow as pa

    return column.take(pa.array(rows))


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


def together(a: RunRows, b: RunRows, names: tuple[str, str], rules: Rules, tally: Tally) -> Chunk:
    """Bring two runs together: the lists of each query that both have, after the policies."""
    codes, queries = _numbered((a.queries, b.queries))
    sizes = [
        np.bincount(code, side.sizes, len(queries)).astype(np.int64) for code, side in zip(codes, (a, b), strict=True)
    ]
    present = [np.bincount(code, minlength=len(queries)) > 0 for code in codes]
    both = present[0] & present[1]
    kept = [queries[q] for q in np.flatnonzero(both).tolist()]
    groups = _groups((a, b), kept)
    rows = [_in_order(side, code, both) for side, code in zip((a, b), codes, strict=True)]
    labels = rows[0][0], rows[1][0]
    starts = [np.concatenate([[0], np.cumsum(size[both])]) for size in sizes]
    small = rules.duplicates != "raise" or "drop" in {rules.missing, rules.nan} or rules.negative == "split"
    *items, span = _item_codes(starts[0], labels[0], starts[1], labels[1], small=small)
    sides = [
        RawLists(name, scores, start, partial(labels_at, column), code, span, kept, rules.negative, transform)
        for name, start, (column, scores), code, transform in zip(
            names, starts, rows, items, rules.transforms, strict=True
        )
    ]
    _apply(sides, rules, tally)
    lists = [Lists(side.start, side.coded, side.scores) for side in sides]
    only = [[queries[q] for q in np.flatnonzero(here & ~both).tolist()] for here in present]
    return Chunk(kept, lists[0], lists[1], labels, (sides[0].rows, sides[1].rows), (only[0], only[1]), groups)


def _numbered(columns: Sequence[Sequence[Any]]) -> tuple[list[Sizes], list[Any]]:
    """Return the labels of several columns as integers, counted as they come, and the labels by number."""
    numbers: dict[Any, int] = {}
    codes = [np.array([numbers.setdefault(label, len(numbers)) for label in column], np.int64) for column in columns]
    return codes, list(numbers)


def _apply(sides: Sequence[RawLists], rules: Rules, tally: Tally) -> None:
    """Apply the policies to both runs; repeated items that are refused are found when lists are compared."""
    policies.transform_and_check(sides, rules.nan, tally.add)
    for side in sides if rules.duplicates != "raise" else ():
        policies.merge(side, rules.duplicates, tally.add)
    if rules.nan == "zero":
        policies.zero_nan(sides, tally.add)
    if rules.nan == "drop" and (gone := policies.without_score(sides)) is not None:
        for side, mask in zip(sides, gone, strict=True):
            unscored = int(np.isnan(side.scores).sum())
            tally.add(Fact("rows without score", side.name, unscored))
            tally.add(Fact("rows without other score", side.name, int(mask.sum()) - unscored))
        policies.drop(sides, gone, rules.duplicates)
    if rules.missing == "drop":
        keys = [side.keys() for side in sides]
        lacking = [~np.isin(keys[0], keys[1]), ~np.isin(keys[1], keys[0])]
        for side, mask in zip(sides, lacking, strict=True):
            tally.add(Fact("rows missing", side.name, int(mask.sum())))
        policies.drop(sides, lacking, rules.duplicates)
    for side in sides:
        tally.add(Fact("constant lists", side.name, _constant(side)))


def _constant(side: RawLists) -> int:
    """Return the number of lists of several items with equal scores."""
    lengths, scores = np.diff(side.start), side.sizes
    start = side.start[:-1][lengths > 0]
    if not start.size:
        return 0
    equal = np.maximum.reduceat(scores, start) == np.minimum.reduceat(scores, start)
    return int((equal & (lengths[lengths > 0] > 1)).sum())


def _in_order(side: RunRows, codes: Sizes, kept: NDArray[np.bool_]) -> tuple[Any, Scores]:
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
    """Return the items of both sides as integers, equal for equal labels of a query; small ones are below the span."""
    if not small and all(isinstance(column, np.ndarray) and column.dtype != object for column in (r, s)):
        return r, s, 0
    first, second = _marks(r), _marks(s)
    if first is None or second is None:
        coded, labels = _numbered([np.asarray(column).tolist() for column in (r, s)])
        return coded[0], coded[1], len(labels)
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


def _groups(sides: Sequence[RunRows], queries: Sequence[Any]) -> list[Any]:
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
        if (several := [item for item, times in count.items() if times > 1])
    )
    return policies.repeated(name, again, chunk.queries[q])
