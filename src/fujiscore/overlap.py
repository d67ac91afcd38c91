"""The overlap of two orders along a path of set sizes: the one primitive that every measure is a formula of."""

from __future__ import annotations

import itertools
from copy import copy
from functools import cached_property
from math import isqrt
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from fujiscore import _kernels
from fujiscore.errors import InputError, choice
from fujiscore.rankings import align
from fujiscore.tiles import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fujiscore.rankings import Rankings, Scores

Ties: TypeAlias = Literal["stable", "closed"]
ZeroTail: TypeAlias = Literal["include", "exclude"]
TIES = ("stable", "closed")
ZERO_TAIL = ("include", "exclude")
GRIDS = ("all", "exp", "squared")
# The grid kernel keeps an item's level in one byte; with few items the sweep is faster at any grid.
MOST_LEVELS = 255
LEAST_SPARSE = 1000
# From this many items on the two sorts run in two threads: they are half of the work, and take milliseconds.
SORT_SIDE_BY_SIDE = 1 << 17

Sizes: TypeAlias = "NDArray[np.int64]"


class Ordered:
    """A ranking sorted once. Equal scores keep the items' input order.

    Attributes
    ----------
    scores : ndarray of float64
        The scores as given, an entry an item.
    order : ndarray of int32
        The items' positions from best to worst.
    ranked_raw : ndarray of float64
        The scores from best to worst.
    ranked : ndarray of float64
        The same with negative scores as 0: they order the items, but give no membership.
    """

    def __init__(self, scores: Scores) -> None:
        n = scores.size
        self.scores, self.n = scores, n
        self.order = np.empty(n, np.int32)
        self.ranked_raw = np.empty(n)
        # NumPy asks the system for large pages, which Numba's own arrays lack: the sort is twice as fast.
        _kernels.order.descending(scores, self.order, self.ranked_raw, np.empty(n, np.uint64), np.empty(n, np.uint64))
        self.ranked = np.maximum(self.ranked_raw, 0.0) if self.ranked_raw[-1] < 0 else self.ranked_raw

    @property
    def clipped(self) -> Scores:
        """The scores an entry an item, negative ones as 0."""
        return np.maximum(self.scores, 0.0) if self.ranked_raw[-1] < 0 else self.scores

    @cached_property
    def tie_groups(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """For each rank, how many items score strictly higher than the item there, and how many at least as high."""
        above, up_to = np.empty((2, self.n), np.int32)
        _kernels.order.tie_bounds(self.ranked_raw, above, up_to)
        return above, up_to

    @cached_property
    def tails(self) -> tuple[Scores, Scores]:
        """For each rank, mean and variance of the scores below it, relative to the score there (0 / 0 counts 1)."""
        mean, variance = np.empty((2, self.n))
        _kernels.chance.tails(self.ranked, mean, variance)
        return mean, variance

    def shuffled(self, seed: np.uint64) -> Ordered:
        """Return the same scores dealt to the items at random; nothing is sorted."""
        dealt = copy(self)
        dealt.scores, dealt.order = np.empty(self.n), np.empty(self.n, np.int32)
        scratch = np.empty(self.n, np.int32)
        _kernels.chance.reassign(self.ranked_raw, self.tie_groups[0], seed, scratch, dealt.scores, dealt.order)
        return dealt


def grid(ks: Any, n: int) -> Sizes:
    """Return the sizes that a grid's name or increasing integers stand for, with n items."""
    if isinstance(ks, str):
        choice("ks", ks, GRIDS)
        if ks == "all":
            return np.arange(1, n + 1)
        named = [1 << i for i in range(n.bit_length())] if ks == "exp" else [i * i for i in range(1, isqrt(n) + 1)]
        return np.array(named if named[-1] == n else [*named, n], np.int64)
    try:
        points = np.atleast_1d(np.asarray(ks))
    except ValueError:
        points = np.empty(0)
    if points.ndim != 1 or points.size == 0 or points.dtype.kind not in "iu":
        raise InputError(f"ks must be 'all', 'exp', 'squared' or increasing integers from 1 to {n}; got {ks!r}.")
    points = points.astype(np.int64)
    for before, after in itertools.pairwise(points):
        if after <= before:
            raise InputError(f"ks must increase; {before} is followed by {after}. Sort them and drop repetitions.")
    if points[0] < 1 or points[-1] > n:
        outside = points[0] if points[0] < 1 else points[-1]
        raise InputError(f"ks must lie between 1 and the number of items, {n}; got {outside}.")
    return points


def set_sizes(k: Any, n: int) -> tuple[Sizes, Sizes]:
    """Return the path of one point for k, an integer or a pair of integers."""
    if isinstance(k, np.ndarray):
        k = k.tolist()
    pair = tuple(k) if isinstance(k, (tuple, list)) else (k, k)
    if len(pair) != 2:
        raise InputError(f"k must be an integer or a pair (k1, k2); got {k!r}.")
    for size in pair:
        if isinstance(size, (bool, np.bool_)) or not isinstance(size, (int, np.integer)):
            raise InputError(f"k must be an integer or a pair of integers (k1, k2); got {k!r}.")
        if not 1 <= size <= n:
            raise InputError(f"k must lie between 1 and the number of items, {n}; got {size}.")
    return np.array(pair[:1], np.int64), np.array(pair[1:], np.int64)


class Overlap:
    """Two ordered rankings and a path of set sizes; everything that measures need, computed once when asked for.

    Attributes
    ----------
    r, s : Ordered
        The rankings.
    k1, k2 : ndarray of int64
        The set sizes at each point; neither ever falls.
    n : int
        The number of items.
    zero_tail : float
        The membership of an item outside a set whose last score is 0: 1, or 0 if excluded.
    """

    def __init__(
        self, r: Ordered, s: Ordered, k1: Sizes, k2: Sizes, *, ties: str = "stable", zero_tail: str = "include"
    ) -> None:
        choice("ties", ties, TIES)
        choice("zero_tail", zero_tail, ZERO_TAIL)
        self.r, self.s, self.n = r, s, r.n
        closed = ties == "closed"
        self.k1 = r.tie_groups[1][k1 - 1].astype(np.int64) if closed else k1
        self.k2 = s.tie_groups[1][k2 - 1].astype(np.int64) if closed else k2
        self.zero_tail = float(zero_tail == "include")

    def shuffled(self, seed: np.uint64) -> Overlap:
        """Return the overlap, along the same path, with s's scores dealt to the items at random."""
        other = object.__new__(Overlap)
        other.__dict__.update(
            r=self.r, s=self.s.shuffled(seed), n=self.n, k1=self.k1, k2=self.k2, zero_tail=self.zero_tail
        )
        if self.sparse:
            other.__dict__["levels_r"] = self.levels_r
        return other

    @cached_property
    def ranks(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """For each rank in r the item's rank in s, and the other way round (from 0)."""
        s_rank, r_rank, scratch = np.empty((3, self.n), np.int32)
        _kernels.order.match(self.r.order, self.s.order, s_rank, r_rank, scratch)
        return s_rank, r_rank

    @property
    def shared(self) -> Sizes:
        """How many items are in both sets."""
        return self._shared_and_fuji[0]

    @property
    def fuji(self) -> Scores:
        """The fuzzy Jaccard index: shared items, plus credit for the near misses, over the size of the union."""
        return self._shared_and_fuji[1]

    @cached_property
    def _shared_and_fuji(self) -> tuple[Sizes, Scores]:
        r, s, points = self.r, self.s, self.k1.size
        shared = np.empty(points, np.int64)
        fuji = np.empty(points)
        if self.sparse:
            levels_s = levels(s, self.k2)
            kth_r, kth_s = r.ranked[self.k1 - 1], s.ranked[self.k2 - 1]
            _kernels.grid.overlap(
                self.levels_r, levels_s, r.clipped, s.clipped, kth_r, kth_s, self.zero_tail, shared, fuji
            )
        else:
            s_rank, r_rank = self.ranks
            _kernels.sweep.overlap(s_rank, r_rank, r.ranked, s.ranked, self.k1, self.k2, self.zero_tail, shared, fuji)
        return shared, fuji

    @property
    def sparse(self) -> bool:
        """Whether the points are few enough for a table of levels, and no sum of scores can overflow."""
        points = self.k1.size
        few = self.n >= LEAST_SPARSE and points <= MOST_LEVELS and points * points <= self.n
        return few and bool(max(self.r.ranked[0], self.s.ranked[0]) < _kernels.sweep.HUGE)

    @cached_property
    def levels_r(self) -> NDArray[np.uint8]:
        """For each item, the first of r's sets that holds it."""
        return levels(self.r, self.k1)

    @cached_property
    def shared_at_depth(self) -> Sizes:
        """How many items are in both top d, for every depth d from 1 to n, whatever the path."""
        s_rank, _ = self.ranks
        deeper = np.maximum(np.arange(self.n), s_rank)
        return np.cumsum(np.bincount(deeper, minlength=self.n))

    def union_levels(self, point: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return, over the union at a point of the path, how many items score lower or equal in each ranking."""
        s_rank, r_rank = self.ranks
        k1, k2 = self.k1[point], self.k2[point]
        only_s = np.flatnonzero(r_rank[:k2] >= k1)
        higher_r, higher_s = self.r.tie_groups[0], self.s.tie_groups[0]
        r = np.concatenate([higher_r[:k1], higher_r[r_rank[only_s]]])
        s = np.concatenate([higher_s[s_rank[:k1]], higher_s[only_s]])
        return self.n - r, self.n - s

    @cached_property
    def ties_cut(self) -> int:
        """At how many points a set ends between equal scores, so that the input order decides who is in it."""
        return int(_kernels.order.ties_cut(self.r.ranked_raw, self.s.ranked_raw, self.k1, self.k2))

    @cached_property
    def correlation(self) -> Scores:
        """Pearson's correlation of the raw scores over the union (1 where it is undefined)."""
        out = np.empty(self.k1.size)
        _kernels.sweep.correlation(
            *self.ranks, _finite(self.r.ranked_raw), _finite(self.s.ranked_raw), self.k1, self.k2, out
        )
        return np.where(np.isnan(out), 1.0, out)

    @cached_property
    def gamma(self) -> Scores:
        """Goodman and Kruskal's gamma of the ranks over the union (1 where no pair counts)."""
        pairs = np.empty((self.k1.size, 4))
        _kernels.gamma.pairs(*self.ranks, self.r.ranked_raw, self.s.ranked_raw, self.k1, self.k2, pairs)
        concordant, discordant = pairs[:, 0], pairs[:, 1]
        counted = concordant + discordant
        return np.divide(concordant - discordant, counted, out=np.ones(counted.size), where=counted > 0)


def levels(ranking: Ordered, sizes: Sizes) -> NDArray[np.uint8]:
    """Return, for each item, the index of the first top set that holds it."""
    out = np.empty(ranking.n, np.uint8)
    _kernels.grid.levels(ranking.order, sizes, out)
    return out


def ordered_pair(r: Any, s: Any, *, negative: str, nan: str, missing: str) -> tuple[Ordered, Ordered, Rankings]:
    """Check, align and sort two rankings."""
    rankings = align((r, s), ("r", "s"), negative=negative, nan=nan, missing=missing)
    first, second = rankings.scores
    if rankings.n < SORT_SIDE_BY_SIDE:
        return Ordered(first), Ordered(second), rankings
    in_order = run(Ordered, [(first,), (second,)], n_jobs=2, progress=False)
    return in_order[0], in_order[1], rankings


def _finite(ranked: Scores) -> Scores:
    """Return scores with -inf as the least finite score, small enough that no difference of two overflows."""
    if ranked[-1] == -np.inf:
        finite = ranked[ranked > -np.inf]
        ranked = np.maximum(ranked, finite[-1] if finite.size else 0.0)
    return ranked / 4 if max(ranked[0], -ranked[-1]) > 2.0**1020 else ranked
