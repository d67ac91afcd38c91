"""The overlap of two orders along a path of set sizes: the one primitive that every measure is a formula of."""
# ruff: noqa: D102 - `Overlap` describes the members of its protocol

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

import fujiscore._kernels as _kernels
from fujiscore.errors import InputError, choice, spelled
from fujiscore.inputs import models
from fujiscore.inputs.orders import LOWEST, Order, Scored, ScoresByRank, lazy
from fujiscore.inputs.ranking import Ranking, Rankings
from fujiscore.inputs.rankings import align
from fujiscore.work.tiles import run

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.measures.grids import Sizes

Ties: TypeAlias = Literal["closed", "stable"]
ZeroTail: TypeAlias = Literal["include", "exclude", "cap"]
TIES = ("closed", "stable")
ZERO_TAIL = ("include", "exclude", "cap")
# The grid kernel keeps an item's level in one byte; with few items the sweep is faster at any grid.
MOST_LEVELS = 255
LEAST_SPARSE = 1000
# From this many items on the two sorts run in two threads: they are half of the work, and take milliseconds.
SORT_SIDE_BY_SIDE = 1 << 17


@dataclass(frozen=True, eq=False)
class Counts:
    """What set measures are formulas of: n items, sets of sizes k1 and k2, how many they share, and FUJI."""

    n: int
    k1: Sizes
    k2: Sizes
    shared: Any
    fuji: Any = None


class TopSets(Protocol):
    """What set measures and their chance levels need of two rankings, in memory or read in passes; see `Overlap`."""

    @property
    def r(self) -> ScoresByRank: ...
    @property
    def s(self) -> ScoresByRank: ...
    @property
    def n(self) -> int: ...
    @property
    def ties(self) -> str: ...
    @property
    def zero_tail(self) -> float: ...
    @property
    def capped(self) -> bool: ...
    @property
    def population(self) -> int | None: ...
    @property
    def requested(self) -> tuple[Sizes, Sizes]: ...
    @property
    def k1(self) -> Sizes: ...
    @property
    def k2(self) -> Sizes: ...
    @property
    def ties_cut(self) -> int: ...
    @property
    def shared(self) -> Sizes: ...
    @property
    def fuji(self) -> Scores: ...

    def tail_moments(self) -> tuple[tuple[Scores, Scores], tuple[Scores, Scores]]: ...


class Overlap:
    """Two rankings and a path of set sizes; everything that measures need, computed once when asked for."""

    r: Ranking
    s: Ranking  # over the same items
    requested: tuple[Sizes, Sizes]  # the set sizes asked for at each point, without tied items
    k1: Sizes  # the sizes of r's sets at each point, with tied items where ties are closed; they never fall
    k2: Sizes  # the same for s
    n: int  # the number of items: of the universe, if there is one
    ties: str  # whether all items that tie with the k-th are in ("closed"), or the first ones in input order ("stable")
    zero_tail: float  # the membership of an item outside a set whose last score is 0: 1, or 0 if excluded
    capped: bool  # whether sets hold positive scores only, so that none has a last score of 0
    population: int | None  # of items that random rankings are drawn from; None if it is unknown

    def __init__(
        self,
        r: Ranking,
        s: Ranking,
        k1: Sizes,
        k2: Sizes,
        *,
        ties: str = "closed",
        zero_tail: str = "include",
        population: int | None = None,
    ) -> None:
        if ties not in TIES:
            choice("ties", ties, TIES)
        if zero_tail not in ZERO_TAIL:
            choice("zero_tail", zero_tail, ZERO_TAIL)
        self.r, self.s, self.ties, self.population = r, s, ties, population
        self.n = r.n if population is None else population
        self.requested = (k1, k2)
        self.k1, self.k2 = _closed(r, k1, self.n, ties), _closed(s, k2, self.n, ties)
        self.zero_tail, self.capped = float(zero_tail == "include"), zero_tail == "cap"
        if self.capped:
            self.k1, self.k2 = capped(r, self.k1), capped(s, self.k2)

    def with_second(self, s: Ranking) -> Overlap:
        """Return the overlap of r with another ranking that has the same sorted scores as s."""
        other = self._with(self.r, s)
        if self.sparse:
            other.levels_r = self.levels_r
        return other

    def with_first(self, r: Ranking) -> Overlap:
        """Return the overlap of s with another ranking that lists the same scores as r."""
        return self._with(r, self.s)

    def _with(self, r: Ranking, s: Ranking) -> Overlap:
        """Return an overlap of other rankings along the same path."""
        other = object.__new__(Overlap)
        other.r, other.s, other.ties, other.population, other.n = r, s, self.ties, self.population, self.n
        other.requested, other.k1, other.k2 = self.requested, self.k1, self.k2
        other.zero_tail, other.capped = self.zero_tail, self.capped
        return other

    @lazy
    def inner(self) -> int:
        """Number of points at which both rankings still list their last item; beyond, a set holds all items."""
        if self.k1[-1] <= self.r.n and self.k2[-1] <= self.s.n:
            return self.k1.size
        return int(np.argmax((self.k1 > self.r.n) | (self.k2 > self.s.n)))

    @lazy
    def ranks(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """For each rank in r the item's rank in s, and the other way round (from 0)."""
        n = self.r.n
        s_rank, r_rank, scratch = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
        _kernels.order.match(self.r.ordered.positions, self.s.ordered.positions, s_rank, r_rank, scratch)
        return s_rank, r_rank

    @property
    def shared(self) -> Sizes:
        """How many items are in both sets."""
        return self._shared_and_fuji[0]

    @property
    def fuji(self) -> Scores:
        """The fuzzy Jaccard index: shared items, plus credit for the near misses, over the size of the union."""
        if self.r.ordered.by_rank.raw[0] < 0 or self.s.ordered.by_rank.raw[0] < 0:
            require_scores_for_fuji((self.r, self.s))
        return self._shared_and_fuji[1]

    @lazy
    def _shared_and_fuji(self) -> tuple[Sizes, Scores]:
        points = self.inner
        shared, fuji = np.empty(self.k1.size, np.int64), np.empty(self.k1.size)
        if points == self.k1.size:  # no slices: they take 3 % of a short curve
            self._within_lists(self.k1, self.k2, shared, fuji)
            return shared, fuji
        if points:
            self._within_lists(self.k1[:points], self.k2[:points], shared[:points], fuji[:points])
        self._beyond_lists(shared[points:], fuji[points:])
        return shared, fuji

    def _within_lists(self, k1: Sizes, k2: Sizes, shared: Sizes, fuji: Scores) -> None:
        """Fill the points at which both rankings still list their last item."""
        r, s = self.r.ordered, self.s.ordered
        ranked = r.by_rank.clipped, s.by_rank.clipped
        if self.sparse:
            tables = (self.levels_r, levels(s, k2), r.clipped, s.clipped, ranked[0][k1 - 1], ranked[1][k2 - 1])
            _kernels.grid.overlap(*tables, self.zero_tail, shared, fuji)
        else:
            s_rank, r_rank = self.ranks
            _kernels.sweep.overlap(s_rank, r_rank, *ranked, k1, k2, self.zero_tail, shared, fuji)

    def _beyond_lists(self, shared: Sizes, fuji: Scores) -> None:
        """Fill the points at which a set holds the whole universe: the union is everything."""
        k1, k2 = self.k1[self.inner :], self.k2[self.inner :]
        shared[:] = np.minimum(k1, k2)
        tails_r, tails_s = self.tail_moments()
        smaller = np.where(k1 < k2, tails_r[0][self.inner :], tails_s[0][self.inner :])
        fuji[:] = (shared + (self.n - shared) * np.where(k1 == k2, 1.0, smaller)) / self.n

    def tail_moments(self) -> tuple[tuple[Scores, Scores], tuple[Scores, Scores]]:
        """Return, for r and for s, mean and variance of the memberships outside each set, over all n items."""
        n, zero_tail = self.n, self.zero_tail
        return tail_moments(self.r, self.k1, n, zero_tail), tail_moments(self.s, self.k2, n, zero_tail)

    @lazy
    def sparse(self) -> bool:
        """Whether the points are few enough for a table of levels, and no sum of scores can overflow."""
        points, n = self.inner, self.r.n
        if n < LEAST_SPARSE or not 0 < points <= MOST_LEVELS or points * points > n:
            return False
        best = max(self.r.ordered.by_rank.raw[0], self.s.ordered.by_rank.raw[0])
        return bool(best < _kernels.sweep.HUGE)

    @lazy
    def levels_r(self) -> NDArray[np.uint8]:
        """For each item, the first of r's sets that holds it."""
        return levels(self.r.ordered, self.k1[: self.inner])

    @lazy
    def at_depths(self) -> Overlap:
        """The overlap at every depth 1, 2, ... down to the last point of the path."""
        depths = np.arange(1, int(self.requested[0][-1]) + 1)
        tail = zero_policy(self)
        return Overlap(self.r, self.s, depths, depths, ties=self.ties, zero_tail=tail, population=self.population)

    @lazy
    def coefficients(self) -> dict[tuple[Any, ...], Scores]:
        """Curves of the coefficients that take long, once they are computed."""
        return {}

    def union_levels(self, point: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return, over the union at a point of the path, how many items score lower or equal in each ranking."""
        s_rank, r_rank = self.ranks
        k1, k2 = self.k1[point], self.k2[point]
        only_s = np.flatnonzero(r_rank[:k2] >= k1)
        higher_r, higher_s = self.r.tie_groups[0], self.s.tie_groups[0]
        r = np.concatenate([higher_r[:k1], higher_r[r_rank[only_s]]])
        s = np.concatenate([higher_s[s_rank[:k1]], higher_s[only_s]])
        return self.r.n - r, self.s.n - s

    @lazy
    def ties_cut(self) -> int:
        """At how many points a set ends between equal scores, so that the input order decides who is in it."""
        k1, k2 = self.k1[: self.inner], self.k2[: self.inner]
        ranked = self.r.ordered.by_rank.raw, self.s.ordered.by_rank.raw
        return int(_kernels.order.ties_cut(*ranked, k1, k2)) if self.inner else 0

    @lazy
    def correlation(self) -> Scores:
        """Pearson's correlation of the raw scores over the union; NaN where it is undefined."""
        out = np.empty(self.k1.size)
        _kernels.sweep.correlation(*self.ranks, _finite(self.r), _finite(self.s), self.k1, self.k2, out)
        return out

    @lazy
    def pairs(self) -> Scores:
        """Pairs of the union: concordant, discordant, tied in r, tied in s; one row per point."""
        out = np.empty((self.k1.size, 4))
        ranked = self.r.ordered.by_rank.raw, self.s.ordered.by_rank.raw
        _kernels.gamma.pairs(*self.ranks, *ranked, self.k1, self.k2, out)
        return out


def require_scores_for_fuji(rankings: Iterable[Scored]) -> None:
    """Raise if all scores of a ranking are negative."""
    for ranking in rankings:
        if ranking.best < 0:
            raise InputError(
                f"{ranking.name} must have a positive or zero score for FUJI; all of its scores are negative, and "
                f"{spelled('negative', 'clip')} would make them all 0. Pass {spelled('transform', 'exp')} for "
                f"log-probabilities, or {spelled('negative', 'abs')} to rank by magnitude."
            )


def _closed(ranking: Ranking, sizes: Sizes, n: int, ties: str) -> Sizes:
    """Return the sizes with every item that ties with the k-th; beyond the listed items all items tie."""
    ordered = ranking.ordered
    if sizes[-1] > ordered.listed:
        if ties == "stable":
            raise InputError(
                f"{spelled('k')} must not exceed the {ranking.listed} items that {ranking.name} lists with "
                f"{spelled('ties', 'stable')}: the order beyond is unknown. Use {spelled('ties', 'closed')}."
            )
        inside = np.minimum(sizes, ordered.listed)
        return np.where(sizes > ordered.listed, n, ordered.by_rank.tie_groups[1][inside - 1].astype(np.int64))
    by_rank = ordered.by_rank
    if ties == "stable":
        return sizes
    if sizes.size > 1:
        untied = by_rank.untied
    else:
        k = int(sizes[0])
        untied = k == by_rank.raw.size or bool(by_rank.raw[k - 1] != by_rank.raw[k])
    return sizes if untied else by_rank.tie_groups[1][sizes - 1].astype(np.int64)


def at_zero(sets: TopSets, *, fuzzy: bool) -> NDArray[np.bool_]:
    """Return at which points both sets end with scores of 0: these hold everything, and every measure is 1."""
    # In memberships (`fuzzy`) scores below 0 count as 0.
    return sets.r.ends_at_zero(sets.k1, fuzzy=fuzzy) & sets.s.ends_at_zero(sets.k2, fuzzy=fuzzy)


def zero_policy(sets: TopSets) -> ZeroTail:
    """Return how scores of 0 count, as it was asked for."""
    return "cap" if sets.capped else "include" if sets.zero_tail else "exclude"


def positive_scores(ranking: Ranking) -> int:
    """Return how many scores of a ranking are positive."""
    return int(np.searchsorted(-ranking.ordered.by_rank.clipped, 0.0))


def capped(ranking: Ranking, sizes: Sizes) -> Sizes:
    """Return the sizes of sets that hold positive scores only."""
    positive = positive_scores(ranking)
    if not positive:
        raise InputError(
            f"{ranking.name} must have a positive score with {spelled('zero_tail', 'cap')}, under which top sets hold "
            f"positive scores only; it has none. Leave it out, or pass {spelled('zero_tail', 'include')}."
        )
    return np.minimum(sizes, positive)


def tail_moments(ranking: Ranking, sizes: Sizes, n: int, zero_tail: float) -> tuple[Scores, Scores]:
    """Return mean and variance of the memberships outside a ranking's top sets."""
    # With a universe of n items, those that the ranking does not hold are at 0 below all others.
    inside = np.minimum(sizes, ranking.n) - 1
    mean, variance = (tails[inside] for tails in ranking.tails)
    if n > ranking.n:
        share = (ranking.n - 1 - inside) / np.maximum(n - 1 - inside, 1)
        second = (variance + mean * mean) * share
        mean = mean * share
        variance = np.maximum(second - mean * mean, 0.0)
    positive = ranking.ranked[inside] > 0
    return np.where(positive, mean, zero_tail), np.where(positive, variance, 0.0)


def levels(order: Order, sizes: Sizes) -> NDArray[np.uint8]:
    """Return, for each item, the index of the first top set that holds it."""
    out = np.empty(order.n, np.uint8)
    _kernels.grid.levels(order.positions, sizes, out)
    return out


def pair(r: Any, s: Any, policies: Any, names: tuple[str, str] = ("r", "s"), *, kept: bool = True) -> Rankings:
    """Align and check two rankings, and sort large ones side by side."""
    # Arrays are copied, unless the rankings are not kept beyond the call: the copy takes up to 15 % of a whole curve.
    both = (None if policies else _clean_arrays(r, s, kept=kept)) or align((r, s), _names(r, s, names), **policies)
    if both.n >= SORT_SIDE_BY_SIDE:
        run(_sort, [(ranking,) for ranking in both], n_jobs=2, progress=False)
    return both


def _clean_arrays(r: Any, s: Any, *, kept: bool) -> Rankings | None:
    """Return two flawless float64 arrays as rankings: most calls, and twice as fast as the general way."""
    if type(r) is not np.ndarray or type(s) is not np.ndarray or r.dtype != np.float64 or s.dtype != np.float64:
        return None
    if r.ndim != 1 or r.shape != s.shape or not (r.size and r.flags.c_contiguous and s.flags.c_contiguous):
        return None
    if kept:
        r, s = r.copy(), s.copy()  # the caller may write to them before the result is read
    if any(_kernels.order.flaws(r)) or any(_kernels.order.flaws(s)):
        return None
    return Rankings.of((Ranking.checked("r", r), Ranking.checked("s", s)), None)


def _names(r: Any, s: Any, default: tuple[str, str]) -> tuple[str, str]:
    """Return the rankings' own names where they have two different ones."""
    single = [obj[0] if isinstance(obj, Rankings) and len(obj) == 1 else obj for obj in (r, s)]
    first, second = (obj.name if isinstance(obj, Ranking) else models.title(obj) for obj in single)
    return (first, second) if first and second and first != second else default


def _sort(ranking: Ranking) -> None:
    """Sort a ranking now rather than when it is first needed."""
    ranking.ordered.positions  # noqa: B018


def overlap_of(both: Rankings, k1: Sizes, k2: Sizes, *, ties: str = "closed", zero_tail: str = "include") -> Overlap:
    """Return the overlap of two aligned rankings along a path of set sizes."""
    r, s = both
    return Overlap(r, s, k1, k2, ties=ties, zero_tail=zero_tail, population=both.population)


def _finite(ranking: Ranking) -> Scores:
    """Return scores with -inf as the least finite score, small enough that no difference of two overflows."""
    # Absent items are at 0, or at the least listed score if that is lower.
    ranked = ranking.ordered.by_rank.raw
    if ranked[-1] == -np.inf:
        finite = ranked[ranked > (-np.inf if ranking.absent is None else LOWEST)]
        least = finite[-1] if finite.size else 0.0
        ranked = np.maximum(ranked, least if ranking.absent is None else min(least, 0.0))
    return ranked / 4 if max(ranked[0], -ranked[-1]) > 2.0**1020 else ranked
