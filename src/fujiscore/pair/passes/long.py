"""Two columns of scores too long for memory, read batch by batch in passes.

The first pass counts scores by their leading bits, which tells between which values the k-th scores of a grid lie; the
second one fills a table of counts and sums by both rankings' levels, and keeps the few items whose level is not known
yet. Where too many would be kept, passes in between tell the k-th scores apart by further bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isqrt
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import fujiscore._kernels as _kernels
from fujiscore._kernels.sweep import add
from fujiscore.errors import InputError, choice, counted, first_few, short_names, spelled
from fujiscore.inputs.direction import judged
from fujiscore.inputs.ranking import Rankings
from fujiscore.inputs.transforms import AS_IS, one_per_ranking
from fujiscore.measures.overlap import ZERO_TAIL, pair
from fujiscore.pair.passes.levels import (
    Extent,
    RankingLevels,
    SummarisedOverlap,
    SummarisedRanking,
    WithoutItems,
    summarised,
)
from fujiscore.pair.passes.stream import Batches, Column, ColumnPair
from fujiscore.pair.passes.thresholds import BITS, FURTHER, MOST_POINTS, Classes, Spans, buckets, classes, refined
from fujiscore.text.tables import Table

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.inputs.options import Policies
    from fujiscore.measures.grids import Sizes
    from fujiscore.measures.registry import Measure

# Scores of one ranking that may be kept.
KEEP = 1 << 22


def pair_of_columns(r: Any, s: Any, policies: Policies, request: LongRequest, **work: Any) -> Rankings | Passes:
    """Return two columns, or one and another ranking: in memory if they fit, otherwise for reading in passes."""
    long = [obj for obj in (r, s) if isinstance(obj, Column) and not obj.fits]
    if not long:
        names = [obj.name if isinstance(obj, Column) else "" for obj in (r, s)]
        duplicates = policies.get("duplicates", "raise")
        first, second = (obj.load(duplicates) if isinstance(obj, Column) else obj for obj in (r, s))
        return pair(
            first, second, policies, (names[0], names[1]) if all(names) and len(set(names)) == 2 else ("r", "s")
        )
    if not (isinstance(r, Column) and isinstance(s, Column)):
        raise InputError(
            f"{long[0].origin} does not fit in memory, and can be compared with another column only: pass both through "
            "fujiscore.scan."
        )
    request.refuse(r.depth, policies)
    transforms = one_per_ranking(policies.get("transform"), ("r", "s"))
    # A note if something says that less is better, and nobody has said that more is.
    r, s = (
        column if transform == AS_IS else replace(column, notes=(*column.notes, *judged(column.evidence, column.name)))
        for column, transform in zip((r, s), transforms, strict=True)
    )
    return Passes(ColumnPair(r, s, policies.get("nan", "raise"), policies.get("negative", "raise"), **work))


@dataclass(frozen=True)
class LongRequest:
    """What a comparison was asked for, of which passes cannot give all."""

    measures: Sequence[Measure]
    ks: Any
    permutations: int
    ties: str

    def refuse(self, n: int, policies: Policies) -> None:
        """Raise if reading in passes cannot give it."""
        ranked = [measure.name for measure in self.measures if measure.by_rank]
        why = f"{n} items do not fit in memory (see FUJISCORE_MEMORY_LIMIT) and are read in passes, which"
        points = {"all": n, "squared": isqrt(n) + 1}.get(self.ks, 0) if isinstance(self.ks, str) else np.size(self.ks)
        if points > MOST_POINTS:
            remedy = f"Pass {spelled('ks', 'exp')}, or a few k"
            raise InputError(f"{why} take at most {MOST_POINTS} k; got {points}. {remedy}.")
        if ranked:
            raise InputError(
                f"{why} cannot tell the ranks that {', '.join(ranked)} needs. Choose measures of top sets, such as "
                "fuji and jaccard, or compare the top of both columns."
            )
        if self.permutations:
            raise InputError(f"{why} draw no permutations. Leave out {spelled('permutations')}: p is analytic.")
        if self.ties != "closed":
            raise InputError(f"{why} do not break ties by input order. Pass {spelled('ties', 'closed')}.")
        if any(one not in (None, AS_IS) for one in one_per_ranking(policies.get("transform"), ("r", "s"))):
            raise InputError(f"{why} know no {spelled('transform')}. Store the transformed scores in the file.")
        if policies.get("universe") is not None:
            raise InputError(f"{why} know no {spelled('universe')}. Add the other items to the file, scored 0.")
        if policies.get("duplicates", "raise") != "raise":
            raise InputError(f"{why} do not merge repeated items. Leave out {spelled('duplicates')}; merge them first.")
        if policies.get("negative") == "split":
            raise InputError(f"{why} do not split items by sign. Pass another {spelled('negative')}.")


class LongRankings(WithoutItems, Sequence[SummarisedRanking]):
    """Two rankings that were read in passes; what needs their items is refused."""

    in_memory: ClassVar[type] = Rankings
    labels: ClassVar[None] = None
    truncated: ClassVar[bool] = False

    def __init__(self, members: Sequence[SummarisedRanking], notes: tuple[str, ...]) -> None:
        self._members, self.notes = tuple(members), notes

    @property
    def names(self) -> tuple[str, ...]:
        """One name per ranking."""
        return tuple(ranking.name for ranking in self._members)

    @property
    def n(self) -> int:
        """The number of items: all are listed, none is split by sign, and random rankings are drawn from them."""
        return self._members[0].n

    n_whole = depth = population = n

    def __len__(self) -> int:
        """Return the number of rankings."""
        return len(self._members)

    def __getitem__(self, key: Any) -> Any:
        """Return a ranking by its name or position."""
        return self._members[self.names.index(key) if key in self.names else key]

    def items(self) -> list[tuple[str, SummarisedRanking]]:
        """Return pairs of name and ranking, as a dict does."""
        return list(zip(self.names, self._members, strict=True))

    def _summary(self) -> list[str]:
        return [f"Rankings(2 rankings of {counted(self.n, 'item')}, read in passes: {first_few(self.names)})"]

    def _tables(self, rows: int | None) -> list[Table]:
        names = short_names(self.names[:rows])
        return [Table("rankings read in passes", ["ranking", "items"], [[name, self.n] for name in names], ["", "d"])]


class Passes:
    """Two columns after the first pass over them; `overlap` reads them again.

    The first pass tells scores apart by `bits` bits of their keys; of each ranking at most `keep` scores are kept.
    """

    def __init__(self, stream: ColumnPair, *, bits: int = BITS, keep: int = KEEP) -> None:
        self._stream, self._keep, self._shift = stream, keep, 64 - bits
        tables = [[np.zeros(2 << bits, np.uint64) for _ in range(stream.threads)] for _ in range(2)]
        ends = [[(1 << 64) - 1, 0], [(1 << 64) - 1, 0]]  # of each ranking, the least and the greatest key
        lock = Lock()

        def work(worker: int, _: int, batches: Batches) -> None:
            for both in batches:
                for i, scores in enumerate(both):
                    least, most = map(int, _kernels.long.count(scores, self._shift, tables[i][worker]))
                    if stream.strict and (least <= _kernels.long.INFINITE or most > _kernels.long.NOTHING):
                        stream.refuse()
                    with lock:
                        ends[i] = [min(ends[i][0], least), max(ends[i][1], most)]

        stream.run(work)
        columns = stream.columns
        names = [column.name for column in columns] if columns[0].name != columns[1].name else ["r", "s"]
        counts = [buckets(table, self._shift, *span) for table, span in zip(tables, ends, strict=True)]
        self.extents = [Extent(*known) for known in zip(names, counts, strict=True)]
        if not self.depth:
            both = " and ".join(column.origin for column in columns)
            raise InputError(f"{both} have no item left after {spelled('nan', 'drop')}: each has a NaN.", "empty")
        self.notes = tuple(dict.fromkeys([*columns[0].notes, *columns[1].notes, *stream.notes()]))

    @property
    def depth(self) -> int:
        """The number of items, and the largest k."""
        return self.extents[0].n

    @property
    def passes(self) -> int:
        """How often the columns were read."""
        return self._stream.passes

    def overlap(self, path: Sizes, zero_tail: str) -> tuple[LongRankings, SummarisedOverlap]:
        """Return both rankings and their overlap along a path."""
        # That takes one more pass, or a few where many scores are nearly equal.
        choice("zero_tail", zero_tail, ZERO_TAIL)
        if zero_tail == "cap":
            raise InputError(
                f"{spelled('zero_tail', 'cap')} needs rankings in memory; these are read in passes. Pass "
                f"{spelled('zero_tail', 'include')} and a k up to the number of positive scores."
            )
        if path.size > MOST_POINTS:
            both = f"{spelled('ks')} and {spelled('k')}"
            raise InputError(f"{both} must be at most {MOST_POINTS} in all; got {path.size}. Choose fewer.")
        spans, shift = [extent.buckets.holding(path) for extent in self.extents], self._shift
        while max(side.kept for side in spans) > self._keep and shift:  # too many different scores: by further bits
            shift = max(0, shift - FURTHER)
            spans = self._by_further_bits(spans, path, shift)
        known = [classes(side, extent.buckets, self._shift) for side, extent in zip(spans, self.extents, strict=True)]
        totals, kept = self._filled(known)
        rows = counted(self._stream.columns[0].depth, "row")
        note = f"{rows} read in {self.passes} passes, each row one item: repeated items are not looked for"
        sides = [RankingLevels(*side) for side in zip(self.extents, spans, known, kept, strict=True)]
        notes = (*self.notes, note)
        overlap = summarised(sides, path, totals, float(zero_tail == "include"), notes)
        return LongRankings((overlap.r, overlap.s), notes), overlap

    def _by_further_bits(self, spans: list[Spans], path: Sizes, shift: int) -> list[Spans]:
        """Read both columns and return narrower spans."""
        threads = range(self._stream.threads)
        tables = [[np.zeros(2 * int(side.mixed.sum()) << FURTHER, np.uint64) for _ in threads] for side in spans]
        ends = [(side.low[side.mixed], side.high[side.mixed]) for side in spans]

        def work(worker: int, _: int, batches: Batches) -> None:
            for both in batches:
                for scores, (low, high), table in zip(both, ends, tables, strict=True):
                    _kernels.long.count_in_spans(scores, low, high, shift, 1 << FURTHER, table[worker])

        self._stream.run(work)
        both = zip(spans, tables, strict=True)
        return [refined(side, path, shift, table) if side.mixed.any() else side for side, table in both]

    def _filled(self, sides: list[Classes]) -> tuple[Scores, Scores]:
        """Return the cells of all pairs of classes, and both scores of the items that are kept."""
        shape = (sides[0].level.size, sides[1].level.size, _kernels.long.CELL)
        total, rest = np.zeros(shape), np.zeros(shape)
        finished: dict[int, tuple[Scores, list[Scores]]] = {}
        kept: list[Scores] = []
        lock, turn = Lock(), 0

        def work(_: int, number: int, batches: Batches) -> None:
            nonlocal turn, total, rest
            cells = np.zeros(shape)
            scores = [self._add(sides, both, cells.reshape(-1)) for both in batches]
            with lock:  # in the order of the segments: sums do not depend on the threads
                finished[number] = cells, scores
                while turn in finished:
                    cells, scores = finished.pop(turn)
                    total, rest = add(total, rest, cells)
                    kept.extend(scores)
                    turn += 1

        self._stream.run(work)
        return total + rest, np.concatenate(kept, axis=1)

    def _add(self, sides: list[Classes], both: tuple[Scores, Scores], cells: Scores) -> Scores:
        """Add a batch to the cells; return the scores that are kept."""
        size = both[0].size
        numbers, kept = np.empty((2, size), np.uint8), np.empty((2, size))
        for scores, side, out in zip(both, sides, numbers, strict=True):
            _kernels.long.classify(scores, side.table, self._shift, side.low, side.high, side.numbers, out)
        r, s = sides
        scaling = (r.scales, s.scales, r.centres, s.centres)
        size = _kernels.long.fill(*both, numbers[0], numbers[1], *scaling, cells, kept)
        return kept[:, :size].copy()
