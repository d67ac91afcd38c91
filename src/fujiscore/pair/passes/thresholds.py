"""Where the k-th scores of a ranking are that is read in passes, and what its levels hold.

A key is an unsigned integer that rises as scores fall (see the kernels). A first pass counts scores in buckets, by the
leading bits of their keys; the buckets that hold the k-th scores are the spans. Between spans every score has a known
level, the first of the growing top sets that holds it; scores inside a span are kept and sorted, unless all are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lgamma
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import fujiscore._kernels as _kernels

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores

    Keys: TypeAlias = NDArray[np.uint64]
    Sizes: TypeAlias = NDArray[np.int64]

# Bits of a key that the first pass tells apart: sign, exponent and 10 of the fraction; and that a further pass adds.
BITS, FURTHER = 22, 16
SIGN = np.uint64(1 << 63)
MOST = float(np.finfo(np.float64).max)
LEAST = -1021  # the exponent of the smallest normal number
# The fields of spans that have one value for each.
FIELDS = ("low", "high", "above", "count", "first", "mixed")
# Classes are bytes, two of which have another meaning: a path has at most so many points.
MOST_POINTS = 126


def keys(scores: Scores) -> Keys:
    """Return the keys of scores; -0.0 has that of 0.0."""
    bits = (scores + 0.0).view(np.uint64)
    return np.where(bits & SIGN, bits, ~(bits | SIGN))


def score(key: Any) -> Scores:
    """Return the scores of keys; at the ends of spans there may be infinities and NaN."""
    key = np.asarray(key, np.uint64)
    scores: Scores = np.where(key & SIGN, key, ~(key | SIGN)).view(np.float64)
    return scores


@dataclass(frozen=True, eq=False)
class Spans:
    """Spans of keys that hold scores, best first, and the span of each k."""

    low: Keys  # the first key
    high: Keys  # the last key
    above: Sizes  # how many scores are better than the span's
    count: Sizes  # how many scores it holds
    first: Keys  # the key of one of its scores
    mixed: NDArray[np.bool_]  # whether its scores differ
    place: Sizes  # for each k, the span of the k-th score

    @property
    def kept(self) -> int:
        """How many scores have to be kept."""
        return int(self.count[self.mixed].sum())

    def holding(self, ks: Sizes) -> Spans:
        """Return the spans that hold the k-th scores."""
        place = np.searchsorted(self.above, ks, side="left") - 1
        used, place = np.unique(place, return_inverse=True)
        fields: Any = {name: getattr(self, name)[used] for name in FIELDS}
        return Spans(**fields, place=place)


def buckets(tables: Sequence[Keys], shift: int, least: int, most: int) -> Spans:
    """Return the buckets of the first pass that hold scores, from one table of counts per worker."""
    # Only the part between the least and the greatest key is looked at: the rest takes no memory as yet.
    start = least >> shift
    places, count, first, mixed = _merged([table[2 * start : 2 * (most >> shift) + 2] for table in tables])
    places += start
    low = places.astype(np.uint64) << np.uint64(shift)
    above = np.cumsum(count) - count
    high = low + np.uint64((1 << shift) - 1)
    return Spans(low, high, above, count, first, mixed, np.empty(0, np.int64))


def refined(spans: Spans, ks: Sizes, shift: int, tables: Sequence[Keys]) -> Spans:
    """Return narrower spans, from counts of the scores in the mixed ones by their bits from `shift` up."""
    places, count, first, mixed = _merged(tables)
    inside, bucket = np.divmod(places, 1 << FURTHER)
    span = np.flatnonzero(spans.mixed)[inside]
    low = spans.low[span] + (bucket.astype(np.uint64) << np.uint64(shift))
    high = low + np.uint64((1 << shift) - 1)
    before = np.cumsum(count) - count
    above = spans.above[span] + before - before[np.searchsorted(span, span)]
    new = dict(zip(FIELDS, (low, high, above, count, first, mixed), strict=True))
    together: Any = {name: np.concatenate([getattr(spans, name)[~spans.mixed], new[name]]) for name in FIELDS}
    order = np.argsort(together["low"])
    return Spans(**{name: field[order] for name, field in together.items()}, place=spans.place).holding(ks)


def _merged(tables: Sequence[Keys]) -> tuple[Sizes, Sizes, Keys, NDArray[np.bool_]]:
    """Return the places of buckets that hold scores, how many, the key of one, and whether they differ."""
    size = tables[0].size // 2
    places = np.unique(np.concatenate([np.flatnonzero(table[::2]) for table in tables]))
    count, first, mixed = np.zeros(places.size, np.int64), np.zeros(places.size, np.uint64), np.zeros(places.size, bool)
    for table in tables:
        numbers, keys_ = table.reshape(size, 2)[places].T
        here = numbers > 0
        mixed |= (numbers & _kernels.long.MIXED) > 0
        mixed |= here & (count > 0) & (keys_ != first)
        first = np.where(here, keys_, first)
        count += (numbers & ~_kernels.long.MIXED).astype(np.int64)
    return places, count, first, mixed


@dataclass(frozen=True, eq=False)
class Classes:
    """What a score's key tells of its level: classes between the spans and of spans of one score, best first."""

    table: NDArray[np.uint8]  # by the leading bits of a key, the class; or that it is kept, or that it takes a search
    low: Keys  # of the spans, for the search
    high: Keys
    numbers: NDArray[np.uint8]  # the classes before, in and between the spans
    level: Sizes  # of each class
    exponent: NDArray[np.int64]  # a power of 2 not below its scores
    scales: Scores  # what its scores are multiplied by
    centres: Scores  # about where most of them are


def classes(spans: Spans, all_buckets: Spans, shift: int) -> Classes:
    """Return the classes of the scores outside the spans that are kept."""
    size = spans.low.size
    known = np.ones(2 * size + 1, np.bool_)  # before, in and between the spans
    known[1::2] = ~spans.mixed
    numbers = np.where(known, np.cumsum(known) - 1, _kernels.long.KEPT).astype(np.uint8)
    start = np.empty(2 * size + 1, np.uint64)
    start[0], start[1::2], start[2::2] = all_buckets.low[0], spans.low, spans.high + np.uint64(1)
    stop = np.append(start[1:] - np.uint64(1), all_buckets.high[-1])
    level = np.searchsorted(spans.place, np.arange(2 * size + 1) // 2)
    table = _table(spans, numbers, shift)
    best = np.where(start & SIGN, 0.0, np.fmin(score(start), MOST))
    exponent = np.where(best > 0, np.maximum(np.frexp(best)[1], LEAST), LEAST).astype(np.int64)
    scales = np.ldexp(1.0, -exponent)
    centres = _centres(start, stop, all_buckets) * scales
    chosen = (level[known], exponent[known], scales[known], centres[known])
    return Classes(table, spans.low, spans.high, numbers, *chosen)


def _table(spans: Spans, numbers: NDArray[np.uint8], shift: int) -> NDArray[np.uint8]:
    """Return the class by the leading bits of a key, where a span is not narrower than that."""
    table = np.empty(1 << 64 - shift, np.uint8)
    edge = 0
    for i, (low, high) in enumerate(zip(spans.low.tolist(), spans.high.tolist(), strict=True)):
        table[edge : low >> shift] = numbers[2 * i]
        whole = high - low >= (1 << shift) - 1
        table[low >> shift] = numbers[2 * i + 1] if whole else _kernels.long.SEARCH
        edge = (low >> shift) + 1
    table[edge:] = numbers[-1]
    return table


def _centres(start: Keys, stop: Keys, all_buckets: Spans) -> Scores:
    """Return a score of the fullest bucket between each two keys: sums of powers of the distance hardly cancel."""
    centres = np.zeros(start.size)
    # Of different scores, which one was met first depends on the threads.
    known = np.where(all_buckets.mixed, all_buckets.high, all_buckets.first)
    firsts = np.searchsorted(known, start), np.searchsorted(known, stop, side="right")
    for i, (first, last) in enumerate(zip(*firsts, strict=True)):
        if first < last:
            fullest = first + int(np.argmax(all_buckets.count[first:last]))
            centres[i] = max(0.0, float(score(known[fullest])))
    return centres


@dataclass(frozen=True, eq=False)
class KthScores:
    """The k-th scores of a ranking: with their signs and as members have them, and the sizes of the closed sets."""

    raw: Scores
    sizes: Sizes

    @cached_property
    def kth(self) -> Scores:
        """The k-th scores, negative ones as 0."""
        return np.maximum(self.raw, 0.0)

    def level(self, scores: Scores) -> Sizes:
        """Return the levels of scores: how many k-th scores are better."""
        return self.raw.size - np.searchsorted(self.raw[::-1], scores, side="right")


def kth_scores(spans: Spans, ks: Sizes, kept: Keys) -> KthScores:
    """Return the k-th scores; `kept` are the keys in the mixed spans, sorted."""
    place = spans.place
    start = np.searchsorted(kept, spans.low[place])
    inside = np.minimum(start + ks - spans.above[place] - 1, max(kept.size - 1, 0))
    mixed, key = spans.mixed[place], spans.first[place]
    if kept.size:
        key = np.where(mixed, kept[inside], key)
    count = np.where(mixed, np.searchsorted(kept, key, side="right") - start, spans.count[place])
    return KthScores(score(key), spans.above[place] + count)


def kept_keys(spans: Spans, scores: Scores) -> Keys:
    """Return the keys of those scores that are in mixed spans, sorted."""
    key = keys(scores)
    place = np.maximum(np.searchsorted(spans.low, key, side="right") - 1, 0)
    inside = spans.mixed[place] & (spans.low[place] <= key) & (key <= spans.high[place])
    return np.sort(key[inside])


def log_ties(all_buckets: Spans, spans: Spans, kept: Keys, sizes: Sizes) -> tuple[float, int]:
    """Return the logarithm of the number of ways to arrange equal scores, and how many have the higher of two scores.

    Of a bucket of different scores that are not kept, all but one may be equal; on the other hand scores of different
    levels differ: the number is the lesser of two upper bounds. The second is 0 if there are more or fewer than two
    different scores.
    """
    whole = spans.high - spans.low == all_buckets.high[0] - all_buckets.low[0]
    if spans.count.sum() == all_buckets.count.sum():  # every score is in a span: all of them are known
        all_buckets, whole = spans, np.ones(whole.size, np.bool_)
    pure = all_buckets.count[~all_buckets.mixed]
    mixed = all_buckets.low[all_buckets.mixed]
    known = np.isin(mixed, spans.low[whole])
    unknown = all_buckets.count[all_buckets.mixed][~known] - 1
    groups = np.unique(kept, return_counts=True)[1] if known.any() else np.empty(0, np.int64)
    levels = np.diff(np.concatenate([[0], sizes, [all_buckets.count.sum()]]))
    upper = 0
    if pure.size + groups.size == 2 and not unknown.size:
        upper = int(groups[0] if groups.size == 2 else all_buckets.count[0])
    return min(_log_factorials(np.concatenate([pure, unknown, groups])), _log_factorials(levels)), upper


def _log_factorials(groups: Sizes) -> float:
    """Return the sum of the logarithms of factorials."""
    sizes, numbers = np.unique(groups, return_counts=True)
    return float(sum(number * lgamma(size + 1) for size, number in zip(sizes.tolist(), numbers.tolist(), strict=True)))
