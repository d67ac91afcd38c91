"""Counts, sums and moments of two rankings by level, and the overlap from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fujiscore._kernels.sweep import memberships
from fujiscore.errors import NAME, InputError, printable, shown
from fujiscore.inputs.coercion import ReadInPasses, Scores
from fujiscore.inputs.ranking import Ranking
from fujiscore.measures.overlap import require_scores_for_fuji
from fujiscore.pair.passes.thresholds import Classes, KthScores, Spans, kept_keys, kth_scores, log_ties, score
from fujiscore.text.tables import Table
from fujiscore.text.tabular import Tabular

if TYPE_CHECKING:
    from fujiscore.measures.grids import Sizes

    Moments: TypeAlias = tuple[float, float, float, float]


class WithoutItems(ReadInPasses, Tabular):
    """A ranking or several, read in passes: what needs the items is refused."""

    in_memory: ClassVar[type]  # what it stands for
    split: ClassVar[None] = None
    universe: ClassVar[None] = None

    def __getattr__(self, name: str) -> NoReturn:
        """Raise: whatever else rankings in memory have needs their items."""
        if hasattr(self.in_memory, name) and not name.startswith("_"):
            raise self.refusal(f".{name}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        """Return names and sizes in one line; print shows the notes too."""
        return self._summary()[0]


@dataclass(frozen=True, eq=False, repr=False)
class SummarisedRanking(WithoutItems):
    """A ranking that is too long for memory: what passes over it tell, above all its levels along a path.

    A level is what the next larger top set of a path adds to the one before; the last level is outside all sets.
    Together with `Ranking` it is a `ScoresByRank`.
    """

    name: str
    n: int
    best: float  # the highest score, or one close to it, of the same sign
    constant: bool  # whether all items have the same score
    top_sets: KthScores  # along the path
    moments: Scores  # count, mean, squares and cubes of each level
    log_ties: float  # the logarithm of the number of ways to arrange equal scores, or a bound of it
    upper: int  # how many items have the higher of two scores; 0 for more or fewer
    notes: tuple[str, ...] = ()

    in_memory: ClassVar[type] = Ranking
    untied: ClassVar[bool] = False  # not known

    def __len__(self) -> int:
        """Return the number of items."""
        return self.n

    @property
    def names(self) -> tuple[str, ...]:
        """The only name."""
        return (self.name,)

    @property
    def listed(self) -> int:
        """Number of items that the ranking itself lists: all of them."""
        return self.n

    def _summary(self) -> list[str]:
        return [f"Ranking({shown(self.name)}, {self.n} items, read in passes)"]

    def _tables(self, rows: int | None) -> list[Table]:  # noqa: ARG002 - there is one row
        return [
            Table("a ranking read in passes", ["ranking", "items"], [[printable(self.name, NAME), self.n]], ["", "d"])
        ]

    def kth(self, sizes: Sizes) -> Scores:
        """Return the last scores of top sets of the path."""
        return self.top_sets.kth[np.searchsorted(self.top_sets.sizes, sizes)]

    def ends_at_zero(self, sizes: Sizes, *, fuzzy: bool) -> NDArray[np.bool_]:
        """Return which top sets of the path end with a score of 0; scores below 0 count as 0 in memberships."""
        scores = self.top_sets.kth if fuzzy else self.top_sets.raw
        zero: NDArray[np.bool_] = scores[np.searchsorted(self.top_sets.sizes, sizes)] == 0
        return zero

    def level_moments(self, sizes: Sizes, counts: Scores) -> Scores:
        """Return mean, squares and cubes of the scores between top sets of the path."""
        out = np.zeros((3, counts.size))
        ends = np.append(np.searchsorted(self.top_sets.sizes, sizes, side="right"), len(self.moments))
        for level in range(1, counts.size):
            last = float(self.kth(sizes[level - 1 : level])[0])
            if last > 0 and counts[level]:
                _, mean, second, third = self.joined(ends[level - 1], ends[level], last)
                out[:, level] = 1.0 - mean, second, -third
        return out

    def higher_of_two(self, n: int) -> int:  # noqa: ARG002 - all items are listed
        """Return how many items have the higher of two scores; 0 for more or fewer."""
        return self.upper

    def tail_moments(self, zero_tail: float) -> tuple[Scores, Scores]:
        """Return mean and variance of the memberships outside each top set of the path."""
        kth, moments = self.top_sets.kth, self.moments
        mean, variance = np.full(kth.size, zero_tail), np.zeros(kth.size)
        for point in np.flatnonzero(kth > 0).tolist():
            count, mean[point], second, _ = self.joined(point + 1, len(moments), kth[point])
            variance[point] = second / max(count, 1.0)
        return mean, variance

    def joined(self, start: int, stop: int, unit: float) -> Moments:
        """Return count, mean, and squares and cubes about it, of the levels from start up to stop, in units of a score.

        Level j + 1 is kept in units of the j-th of the path's last scores.
        """
        total = (0.0, 0.0, 0.0, 0.0)
        for level in range(start, stop):
            count, *powers = self.moments[level].tolist()
            scale = float(self.top_sets.kth[level - 1]) / unit
            total = join(total, (count, *(x * scale**i for i, x in enumerate(powers, 1))))
        return total


def join(a: Moments, b: Moments) -> Moments:
    """Return count, mean, and squares and cubes about the mean, of two parts taken together."""
    count = a[0] + b[0]
    if not (a[0] and b[0]):
        return a if a[0] else b
    difference, share = b[1] - a[1], b[0] / count
    second = a[2] + b[2] + difference**2 * a[0] * share
    third = a[3] + b[3] + difference**3 * a[0] * share * (a[0] - b[0]) / count
    third += 3 * difference * (a[0] / count * b[2] - share * a[2])
    return count, a[1] + difference * share, second, third


def moments_of(
    levels: int, top_sets: KthScores, classes: Classes, totals: Scores, scaled: Scores, kept_level: Sizes
) -> Scores:
    """Return count, mean, squares and cubes of each level, in units of the last score of the set before it."""
    # Rows of `totals`: items, sums of their scaled scores, squares and cubes of the distance to the centre, by class;
    # `scaled` are the kept scores in units of their levels.
    count = np.bincount(kept_level, minlength=levels).astype(np.float64)
    mean = np.bincount(kept_level, scaled, levels) / np.maximum(count, 1.0)
    difference = scaled - mean[kept_level]
    out = np.stack([count, mean, *(np.bincount(kept_level, difference**i, levels) for i in (2, 3))], axis=1)
    to_unit = units(top_sets, classes)
    for number in np.flatnonzero(totals[0]).tolist():
        size, total, second, third = totals[:, number].tolist()
        level, scale, centre = int(classes.level[number]), float(to_unit[number]), float(classes.centres[number])
        off = (total - size * centre) / size
        about = third - 3 * off * second + 2 * size * off**3
        part = (centre + off) * scale, max(second - size * off**2, 0.0) * scale**2, about * scale**3
        out[level] = join(tuple(out[level].tolist()), (size, *part))
    return out


def units(top_sets: KthScores, classes: Classes) -> Scores:
    """Return what turns a class's scaled scores into parts of the last score of the set before; 0 if that is 0."""
    fraction, exponent = np.frexp(np.concatenate([[0.0], top_sets.kth])[classes.level])
    positive = fraction > 0
    factor = np.ldexp(1.0 / np.where(positive, fraction, 1.0), np.where(positive, classes.exponent - exponent, 0))
    return np.where(positive, factor, 0.0)


@dataclass(frozen=True, eq=False)
class Extent:
    """One ranking after the first pass: its name, its buckets, and what they tell."""

    name: str
    buckets: Spans

    @property
    def n(self) -> int:
        """The number of items."""
        return int(self.buckets.count.sum())

    @property
    def best(self) -> float:
        """The highest score, or one close to it, of the same sign."""
        return float(score(self.buckets.first[0]))

    @property
    def constant(self) -> bool:
        """Whether all items have the same score."""
        return self.n > 1 and self.buckets.count.size == 1 and not self.buckets.mixed[0]


@dataclass(frozen=True, eq=False)
class RankingLevels:
    """One ranking after the last pass: its extent, spans and classes, and the scores that were kept."""

    extent: Extent
    spans: Spans
    classes: Classes
    kept: Scores


def summarised(
    sides: Sequence[RankingLevels], path: Sizes, totals: Scores, zero_tail: float, notes: tuple[str, ...]
) -> SummarisedOverlap:
    """Return the overlap along a path, from the cells of both rankings' classes and the items that were kept."""
    keys = [kept_keys(side.spans, side.kept) for side in sides]
    if [kept.size for kept in keys] != [side.spans.kept for side in sides]:
        raise InputError("the files must not change while they are read; they did. Compare them again.")
    tops = [kth_scores(side.spans, path, kept) for side, kept in zip(sides, keys, strict=True)]
    level = [top_sets.level(side.kept) for side, top_sets in zip(sides, tops, strict=True)]
    size = path.size + 1
    place = (sides[0].classes.level[:, None] * size + sides[1].classes.level).ravel()
    kept_place = level[0] * size + level[1]

    def table(of_classes: Scores, of_kept: Scores | None) -> Scores:
        counted: Any = np.bincount(kept_place, of_kept, size * size)
        both: Scores = np.bincount(place, of_classes.ravel(), size * size) + counted
        return both.reshape(size, size)

    sums, rankings = [], []
    for i, (side, top_sets) in enumerate(zip(sides, tops, strict=True)):
        # Scores, negative ones as 0, as parts of the last score of the set before their level; 0 if that is 0.
        unit = np.concatenate([[0.0], top_sets.kth])[level[i]]
        scaled = np.divide(np.maximum(side.kept, 0.0), unit, out=np.zeros(unit.size), where=unit > 0)
        factor = units(top_sets, side.classes)
        sums.append(table(totals[..., 1 + i] * (factor if i else factor[:, None]), scaled))
        by_class = totals[..., [0, 1 + i, 3 + i, 5 + i]].sum(axis=1 - i).T
        moments = moments_of(size, top_sets, side.classes, by_class, scaled, level[i])
        ties = log_ties(side.extent.buckets, side.spans, keys[i], top_sets.sizes)
        one = side.extent
        rankings.append(SummarisedRanking(one.name, one.n, one.best, one.constant, top_sets, moments, *ties, notes))
    count = table(totals[..., 0], None).astype(np.int64)
    shared, fuji = _shared_and_fuji(count, sums[0], sums[1], tops[0], tops[1], zero_tail)
    return SummarisedOverlap(rankings[0], rankings[1], (path, path), zero_tail, shared, fuji)


@dataclass(frozen=True, eq=False)
class SummarisedOverlap:
    """The overlap of two rankings that are read in passes, along a path: as `Overlap` a kind of `TopSets`."""

    r: SummarisedRanking
    s: SummarisedRanking
    requested: tuple[Sizes, Sizes]
    zero_tail: float
    shared: Sizes
    values: Scores

    ties: ClassVar[str] = "closed"
    ties_cut: ClassVar[int] = 0
    capped: ClassVar[bool] = False

    @property
    def n(self) -> int:
        """The number of items, from which random rankings are drawn."""
        return self.r.n

    population = n

    @property
    def k1(self) -> Sizes:
        """The sizes of r's sets at each point."""
        return self.r.top_sets.sizes

    @property
    def k2(self) -> Sizes:
        """The sizes of s's sets at each point."""
        return self.s.top_sets.sizes

    @property
    def fuji(self) -> Scores:
        """The fuzzy Jaccard index."""
        require_scores_for_fuji((self.r, self.s))
        return self.values

    def tail_moments(self) -> tuple[tuple[Scores, Scores], tuple[Scores, Scores]]:
        """Return, for r and for s, mean and variance of the memberships outside each set."""
        return self.r.tail_moments(self.zero_tail), self.s.tail_moments(self.zero_tail)


def _shared_and_fuji(
    count: Sizes, sums_r: Scores, sums_s: Scores, r: KthScores, s: KthScores, zero_tail: float
) -> tuple[Sizes, Scores]:
    """Return the number of shared items and FUJI at every point, from counts and sums of scores by pair of levels."""
    points = r.sizes.size
    shared, fuji = np.empty(points, np.int64), np.empty(points)
    for j in range(points):
        inside = slice(0, j + 1)
        h = int(count[inside, inside].sum())
        outside = int(r.sizes[j]) - h, int(s.sizes[j]) - h
        credit = _credit(sums_s[inside, j + 1 :].sum(axis=0), s.kth, j, outside[0], zero_tail)
        credit += _credit(sums_r[j + 1 :, inside].sum(axis=1), r.kth, j, outside[1], zero_tail)
        shared[j], fuji[j] = h, (h + credit) / (h + sum(outside))
    return shared, fuji


def _credit(sums: Scores, kth: Scores, j: int, outside: int, zero_tail: float) -> float:
    """Return the memberships of items outside the j-th set, from their sums by level."""
    total = float((sums * kth[j:] / kth[j]).sum()) if kth[j] > 0 else 0.0
    return float(memberships(total, float(kth[j] > 0), outside, zero_tail))
