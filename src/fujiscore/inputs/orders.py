"""Scores in item order and from best to worst, sorted once, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable
from math import lgamma
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

import fujiscore._kernels as _kernels

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Labels, Scores

LOWEST = -float(np.finfo(np.float64).max)
T = TypeVar("T")
D = TypeVar("D", bound=np.generic)


class lazy(Generic[T]):  # noqa: N801 - a decorator, as functools.cached_property
    """An attribute computed when first needed: functools.cached_property without the lock that Python 3.11 takes."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function, self.name, self.__doc__ = function, function.__name__, function.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        """Compute the value, and keep it as an attribute of the instance."""
        value = self.function(instance)
        setattr(instance, self.name, value)
        return value


def read_only(array: NDArray[D]) -> NDArray[D]:
    """Return a view that cannot be written to: what users get of an array that results rest on."""
    view = array.view()
    view.flags.writeable = False
    return view


class Scored(Protocol):
    """A ranking of which the best score is known."""

    @property
    def name(self) -> str:
        """The name in messages and results."""

    @property
    def best(self) -> float:
        """The highest score, or one close to it, of the same sign."""


class ScoresByRank(Scored, Protocol):
    """What chance levels need of a ranking, in memory or read in passes: its scores by rank, and no item."""

    @property
    def n(self) -> int:
        """The number of items."""

    @property
    def listed(self) -> int:
        """The number of items that the ranking itself lists."""

    @property
    def split(self) -> Labels | None:
        """With negative="split", the items before each became two."""

    @property
    def constant(self) -> bool:
        """Whether all listed items have the same score."""

    @property
    def untied(self) -> bool:
        """Whether no two items have equal scores; False if that is not known."""

    @property
    def log_ties(self) -> float:
        """The logarithm of the number of ways to arrange the listed items within their tie groups."""

    def kth(self, sizes: NDArray[np.int64]) -> Scores:
        """Return the last scores of top sets, negative ones as 0."""

    def ends_at_zero(self, sizes: NDArray[np.int64], *, fuzzy: bool) -> NDArray[np.bool_]:
        """Return which top sets end with a score of 0; in memberships (`fuzzy`) scores below 0 count as 0."""

    def level_moments(self, sizes: NDArray[np.int64], counts: Scores) -> Scores:
        """Return mean, squares and cubes of the scores between top sets of rising sizes, as rows."""

    def higher_of_two(self, n: int) -> int:
        """Return how many of n items have the higher of two scores, unlisted ones the lower; 0 for more or fewer."""


class SortedScores:
    """Scores from best to worst (absent items as -inf) and what follows from them, whichever items have them."""

    def __init__(self, raw: Scores, listed: int) -> None:
        self.raw, self.listed = raw, listed

    @lazy
    def clipped(self) -> Scores:
        """The scores, negative ones as 0."""
        return np.maximum(self.raw, 0.0) if self.raw[-1] < 0 else self.raw

    @lazy
    def tie_groups(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """For each rank, how many items score strictly higher than the item there, and how many at least as high."""
        above, up_to = np.empty((2, self.raw.size), np.int32)
        _kernels.order.tie_bounds(self.raw, above, up_to)
        return above, up_to

    @lazy
    def untied(self) -> bool:
        """Whether no two items have equal scores."""
        return not _kernels.order.has_ties(self.raw)

    @lazy
    def tails(self) -> tuple[Scores, Scores]:
        """For each rank, mean and variance of the scores below it, relative to the score there (0 / 0 counts 1)."""
        mean, variance = np.empty((2, self.raw.size))
        _kernels.chance.tails(self.clipped, mean, variance)
        return mean, variance

    @lazy
    def log_ties(self) -> float:
        """The logarithm of the number of ways to arrange the listed items within their tie groups."""
        if self.untied:
            return 0.0
        above, up_to = (bound[: self.listed] for bound in self.tie_groups)
        groups = np.bincount((up_to - above)[above == np.arange(self.listed)])
        return sum(int(groups[size]) * lgamma(size + 1) for size in np.flatnonzero(groups).tolist())


class Order:
    """Scores in item order, and the order that they give, sorted when first needed; its arrays are never written to."""

    def __init__(self, scores: Scores, absent: NDArray[np.bool_] | None = None) -> None:
        self.scores, self.absent, self.n = scores, absent, scores.size
        self.listed = self.n if absent is None else self.n - int(absent.sum())
        self._known: tuple[NDArray[np.int32], SortedScores] | None = None

    @classmethod
    def known(
        cls,
        scores: Scores,
        absent: NDArray[np.bool_] | None,
        positions: NDArray[np.int32],
        by_rank: SortedScores,
    ) -> Order:
        """Return an order that need not be sorted."""
        order = cls(scores, absent)
        order._known = positions, by_rank
        return order

    @property
    def is_known(self) -> bool:
        """Whether the scores are sorted already."""
        return self._known is not None

    @property
    def positions(self) -> NDArray[np.int32]:
        """The items' positions from best to worst."""
        return (self._known or self._sort())[0]

    @property
    def by_rank(self) -> SortedScores:
        """The scores from best to worst."""
        return (self._known or self._sort())[1]

    def _sort(self) -> tuple[NDArray[np.int32], SortedScores]:
        keys, n = self.scores, self.n
        if self.absent is not None:
            keys = np.where(self.absent, -np.inf, np.maximum(keys, LOWEST))
        positions, ranked = np.empty(n, np.int32), np.empty(n)
        # NumPy asks the system for large pages, which Numba's own arrays lack: the sort is twice as fast.
        _kernels.order.descending(keys, positions, ranked, np.empty(n, np.uint64), np.empty(n, np.uint64))
        self._known = known = positions, SortedScores(ranked, self.listed)
        return known

    @property
    def clipped(self) -> Scores:
        """The scores in item order, negative ones as 0."""
        return np.maximum(self.scores, 0.0) if self.by_rank.raw[-1] < 0 else self.scores

    @lazy
    def ranks(self) -> NDArray[np.int64]:
        """Each item's rank, from 1; equal scores share the best of their ranks."""
        ranks = np.empty(self.n, np.int64)
        ranks[self.positions] = self.by_rank.tie_groups[0] + 1
        return ranks

    @lazy
    def signed(self) -> Scores:
        """Where each item became two, one for each sign: the scores before."""
        half = self.n // 2
        return self.scores[:half] - self.scores[half:]

    @lazy
    def whole_items(self) -> NDArray[np.intp]:
        """The items before each became two, from the greatest magnitude to the least, (+) before (-)."""
        return np.lexsort((-self.signed, -np.abs(self.signed)))
