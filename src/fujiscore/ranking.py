"""Ranking and Rankings, the one currency: labelled scores, checked once and sorted once. Imports coercion, kernels."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from copy import copy
from math import lgamma
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from fujiscore import _kernels
from fujiscore.coercion import first_repeated, labelled, unique_labels
from fujiscore.errors import (
    LISTED,
    NAME,
    InputError,
    counted,
    first_few,
    integer,
    printable,
    short_names,
    shown,
    spelled,
)
from fujiscore.tables import COLUMNS, Table, Tabular, display_width, first_places, frame, free_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from fujiscore.coercion import Labels, Scores

# Products of two set sizes, which may be as large as the universe, fit in 64 bits.
LARGEST_UNIVERSE = 2**31 - 1
# Columns of a name in a line of several, and how many scores a picture shows.
SHORT, DRAWN = 24, 10
LOWEST = -float(np.finfo(np.float64).max)
T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801 - a decorator, as functools.cached_property
    """An attribute computed when first needed: functools.cached_property without the lock that Python 3.11 takes."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function, self.__doc__ = function, function.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        """Compute the value, and keep it as an attribute of the instance."""
        value = instance.__dict__[self.function.__name__] = self.function(instance)
        return value


class Ranking(Tabular):
    """One ranking: labelled scores, checked once and sorted once.

    Parameters
    ----------
    scores : array-like
        One score per item, higher is better: finite or -inf.
    items : sequence, optional
        The items' labels; None for positions.
    name : str
        The ranking's name in messages and results.
    universe : int, optional
        Number of items that a truncated list was drawn from.
    notes : sequence of str
        What a reader of results must know about it.

    Attributes
    ----------
    absent : ndarray of bool or None
        Items that the ranking does not list but another one does: they score 0 and rank below every listed item.
    negatives : ndarray of bool or None
        Where negative="abs" made the scores magnitudes: which of them were negative.
    split : sequence or None
        With negative="split", the items before each became two: first all with sign (+), then all with (-).
    unsigned : str or None
        Of scores that lost their signs, such as mean magnitudes: what they are, and how to keep the signs.
    order : ndarray of int32
        The items' positions from best to worst; equal scores keep the input order.
    ranked_raw, ranked : ndarray of float64
        The scores from best to worst (absent items as -inf), and the same with negative scores as 0: these order the
        items, but give no membership.
    """

    def __init__(
        self,
        scores: Any,
        items: Labels | None = None,
        *,
        name: str = "ranking",
        universe: int | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        part = labelled(scores, name)
        values = _require_scores(part.scores, name)
        given = part.items if items is None else items
        labels = None if given is None else _plain_labels(given, values.size, name)
        if items is not None and part.items is not None and not isinstance(part.items, range):
            _require_same_labels(part.items, labels, name)
        size = None if universe is None else universe_size(universe, values.size)
        self.__dict__.update(Ranking.checked(name, values, labels, size, (*notes, *part.notes)).__dict__)

    name: str
    scores: Scores
    items: Labels | None
    universe: int | None
    notes: tuple[str, ...]
    absent: NDArray[np.bool_] | None
    negatives: NDArray[np.bool_] | None = None
    split: Labels | None = None
    unsigned: str | None = None
    n: int
    _cache: dict[str, Any]

    @classmethod
    def checked(
        cls,
        name: str,
        scores: Scores,
        items: Labels | None = None,
        universe: int | None = None,
        notes: tuple[str, ...] = (),
        absent: NDArray[np.bool_] | None = None,
    ) -> Ranking:
        """Return a ranking of arrays that the door has checked."""
        ranking = object.__new__(cls)
        ranking.__dict__ = {
            "name": name,
            "scores": scores,
            "items": items,
            "universe": universe,
            "notes": notes,
            "absent": absent,
            "n": scores.size,
            "_cache": {},
        }
        return ranking

    def __len__(self) -> int:
        """Return the number of items."""
        return self.n

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the scores."""
        return np.array(self.scores, dtype=dtype, copy=copy)

    def _summary(self) -> list[str]:
        """Return the name, the size and the best items, as many of three as fit in a line."""
        best = [f"{printable(self.label(int(i)), SHORT)}: {self.scores[i]:g}" for i in self.order[:3]]
        listed = (", ".join([*best[:most], *(["..."] if most < self.n else [])]) for most in range(len(best), -1, -1))
        return [_first_fitting(f"Ranking({shown(self.name)}, {self.n} items: {items})" for items in listed)]

    def __repr__(self) -> str:
        """Return the name, the size and the best items in one line; print shows the notes too."""
        return self._summary()[0]

    def _first_items(self, most: int | None) -> tuple[list[str], NDArray[np.int32]]:
        """Return the names of the best items, and their positions."""
        first = self.order[:most]
        return short_names(self.label(int(position)) for position in first), first

    def _tables(self, rows: int | None) -> list[Table]:
        names, first = self._first_items(rows)
        listed = (True,) * first.size if self.absent is None else ~self.absent[first]
        scores = [self.scores[i] if here else None for i, here in zip(first.tolist(), listed, strict=True)]
        ranks = (self.tie_groups[0][: first.size] + 1).tolist()
        cut = f" (first {first.size} shown)" if first.size < self.n else ""
        caption = f"{printable(self.name, NAME)}, {counted(self.n, 'item')}{cut}"
        return [
            Table(caption, ["item", "score", "rank"], list(zip(names, scores, ranks, strict=True)), ["", ".5g", "d"])
        ]

    def _picture(self) -> str:
        from fujiscore.report import svg

        names, first = self._first_items(DRAWN)
        title = f"scores of the first {first.size} of {counted(self.n, 'item')}"
        scores = self.scores[first]
        return svg.bars(names, scores, title=title, label=title, colours=[svg.BLUE] * first.size, form=".4g")

    @property
    def listed(self) -> int:
        """Number of items that the ranking itself lists."""
        return self.n if self.absent is None else self.n - int(self.absent.sum())

    def label(self, position: int) -> Hashable:
        """Return the label of the item at a position: the position itself where items have no labels."""
        return position if self.items is None else self.items[position]

    def to_frame(self, library: str | None = None) -> Any:
        """Return columns item, score and rank, best first, as a pandas or polars DataFrame."""
        items = [self.label(int(position)) for position in self.order]
        ranks = self.tie_groups[0] + 1
        columns = {"item": items, "score": self.scores[self.order], "rank": ranks.astype(np.int64)}
        return frame(columns, library, self.notes)

    @property
    def is_sorted(self) -> bool:
        """Whether the order is known already."""
        return "sorted" in self._cache

    @lazy
    def _sorted(self) -> tuple[NDArray[np.int32], Scores]:
        if "sorted" not in self._cache:  # shared with the same ranking under other names
            self._cache["sorted"] = self._sort()
        order: tuple[NDArray[np.int32], Scores] = self._cache["sorted"]
        return order

    def _sort(self) -> tuple[NDArray[np.int32], Scores]:
        keys = self.scores
        if self.absent is not None:
            keys = np.where(self.absent, -np.inf, np.maximum(keys, LOWEST))
        order, ranked = np.empty(self.n, np.int32), np.empty(self.n)
        # NumPy asks the system for large pages, which Numba's own arrays lack: the sort is twice as fast.
        _kernels.order.descending(keys, order, ranked, np.empty(self.n, np.uint64), np.empty(self.n, np.uint64))
        return order, ranked

    @property
    def order(self) -> NDArray[np.int32]:
        """The items' positions from best to worst."""
        return self._sorted[0]

    @property
    def ranked_raw(self) -> Scores:
        """The scores from best to worst, absent items as -inf."""
        return self._sorted[1]

    @lazy
    def ranked(self) -> Scores:
        """The scores from best to worst, negative ones as 0."""
        ranked = self.ranked_raw
        return np.maximum(ranked, 0.0) if ranked[-1] < 0 else ranked

    @property
    def clipped(self) -> Scores:
        """The scores in item order, negative ones as 0."""
        return np.maximum(self.scores, 0.0) if self.ranked_raw[-1] < 0 else self.scores

    @property
    def signs(self) -> Scores:
        """The signs of the scores as they were given, -1, 0 or 1: 0 for items that are not listed."""
        signs = np.sign(self.scores) if self.negatives is None else np.where(self.negatives, -1.0, np.sign(self.scores))
        return signs if self.absent is None else np.where(self.absent, 0.0, signs)

    @lazy
    def tie_groups(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """For each rank, how many items score strictly higher than the item there, and how many at least as high."""
        above, up_to = np.empty((2, self.n), np.int32)
        _kernels.order.tie_bounds(self.ranked_raw, above, up_to)
        return above, up_to

    @lazy
    def untied(self) -> bool:
        """Whether no two items have equal scores."""
        return not _kernels.order.has_ties(self.ranked_raw)

    @lazy
    def tails(self) -> tuple[Scores, Scores]:
        """For each rank, mean and variance of the scores below it, relative to the score there (0 / 0 counts 1)."""
        mean, variance = np.empty((2, self.n))
        _kernels.chance.tails(self.ranked, mean, variance)
        return mean, variance

    def kth(self, sizes: NDArray[np.int64]) -> Scores:
        """Return the last scores of top sets, negative ones as 0."""
        scores: Scores = self.ranked[np.minimum(sizes, self.n) - 1]
        return scores

    def level_moments(self, sizes: NDArray[np.int64], counts: Scores) -> Scores:
        """Return mean, squares and cubes (see the kernel) of the scores between top sets of rising sizes, as rows."""
        out = np.empty((3, counts.size))
        _kernels.area.level_moments(self.ranked, np.minimum(sizes, self.n), counts, out)
        return out

    @lazy
    def log_ties(self) -> float:
        """The logarithm of the number of ways to arrange the listed items within their tie groups."""
        if self.untied:
            return 0.0
        above, up_to = (bound[: self.listed] for bound in self.tie_groups)
        groups = np.bincount((up_to - above)[above == np.arange(self.listed)])
        return sum(int(groups[size]) * lgamma(size + 1) for size in np.flatnonzero(groups).tolist())

    def higher_of_two(self, n: int) -> int:
        """Return how many of n items have the higher of two scores, unlisted ones the lower; 0 for more or fewer."""
        up_to = self.tie_groups[1]
        upper = int(up_to[0])
        two = upper == self.listed if n > self.listed else upper < n and int(up_to[upper]) == n
        return upper if two else 0

    @lazy
    def ranks(self) -> NDArray[np.int64]:
        """Each item's rank, from 1; equal scores share the best of their ranks."""
        ranks = np.empty(self.n, np.int64)
        ranks[self.order] = self.tie_groups[0] + 1
        return ranks

    @property
    def _listed_scores(self) -> Scores:
        return self.scores if self.absent is None else self.scores[~self.absent]

    @property
    def best(self) -> float:
        """The highest score."""
        return float(self.ranked_raw[0]) if self.is_sorted else float(self._listed_scores.max())

    @property
    def constant(self) -> bool:
        """Whether all listed items have the same score, so that the ranking orders nothing."""
        if self.is_sorted:
            return self.listed > 1 and bool(self.ranked_raw[0] == self.ranked_raw[self.listed - 1])
        scores = self._listed_scores
        return scores.size > 1 and bool(scores.min() == scores.max())

    def renamed(self, name: str, universe: int | None, notes: tuple[str, ...]) -> Ranking:
        """Return the same ranking, its order included, under another name."""
        if (self.name, self.universe, self.notes) == (name, universe, notes):
            return self
        other = copy(self)
        other.__dict__.update(name=name, universe=universe, notes=notes)
        return other

    def detached(self) -> Ranking:
        """Return the same ranking, to forget its order with it, unless that is known already."""
        if self.is_sorted:
            return self
        other = copy(self)
        other.__dict__["_cache"] = {}
        return other

    @lazy
    def signed(self) -> Scores:
        """The scores before each item became two, one for each sign."""
        half = self.n // 2
        return self.scores[:half] - self.scores[half:]

    def rearranged(self, items: NDArray[np.intp]) -> Ranking:
        """Return a ranking split by sign with its whole items in another order."""
        halves = np.concatenate([items, items + self.n // 2])
        other = Ranking.checked(
            self.name, self.scores[halves], absent=None if self.absent is None else self.absent[halves]
        )
        other.split = self.split
        return other

    @lazy
    def whole_items(self) -> NDArray[np.intp]:
        """The items of a ranking split by sign from the greatest magnitude to the least, (+) before (-)."""
        return np.lexsort((-self.signed, -np.abs(self.signed)))

    def shuffled(self, seed: np.uint64) -> Ranking:
        """Return the same scores assigned to the items at random; nothing is sorted, unless items are split by sign."""
        if self.split is not None:
            return self.rearranged(self.whole_items[np.random.default_rng(seed).permutation(self.n // 2)])
        permuted = copy(self)
        scores, order, scratch = np.empty(self.n), np.empty(self.n, np.int32), np.empty(self.n, np.int32)
        _kernels.chance.reassign(self.ranked_raw, self.tie_groups[0], seed, scratch, scores, order)
        absent = None if self.absent is None else scores == -np.inf
        permuted.__dict__.update(scores=scores, _sorted=(order, self.ranked_raw), items=None, absent=absent)
        permuted.__dict__.pop("ranks", None)
        if self.negatives is not None:
            permuted.__dict__["negatives"] = self._dealt_signs(order, seed)
        return permuted

    def _dealt_signs(self, order: NDArray[np.int32], seed: np.uint64) -> NDArray[np.bool_]:
        """Return which items got a score that was negative; equal magnitudes deal their signs at random, too."""
        assert self.negatives is not None  # noqa: S101 - for the type checker
        ranked = self.negatives[self.order]
        if not self.untied:
            ranked = ranked[np.lexsort((np.random.default_rng(seed).random(self.n), self.tie_groups[0]))]
        dealt = np.empty(self.n, np.bool_)
        dealt[order] = ranked
        return dealt


class Rankings(Sequence[Ranking], Tabular):
    """Several rankings over one set of items, aligned and checked.

    Iterating gives `Ranking`s, as do `rankings["name"]`, `rankings[0]` and the pairs of `.items()`.

    Attributes
    ----------
    names : tuple of str
        One name per ranking.
    labels : sequence or None
        The items' labels, None where the input had none.
    universe : int or None
        Number of items that truncated lists were drawn from, if it is known.
    notes : tuple of str
        What was done to the input, and what a reader of results must know.
    """

    def __init__(
        self,
        names: Sequence[str],
        scores: Sequence[Any],
        labels: Labels | None = None,
        *,
        universe: int | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        if isinstance(names, str) or len(names) != len(scores) or not names:
            raise InputError(f"names must name each of the {len(scores)} rankings; got {len(names)} names.")
        require_names(names)
        members = [
            Ranking(own, labels, name=name, universe=universe, notes=notes)
            for own, name in zip(scores, names, strict=True)
        ]
        for ranking in members:
            if ranking.n != members[0].n or (labels is None and ranking.items is not None):
                raise InputError(
                    f"{ranking.name} must be scores in the order of the labels; align labelled scores or lists of "
                    "other lengths with fujiscore.rankings."
                )
        self._set(tuple(members), members[0].items, members[0].universe, tuple(notes))

    def _set(
        self, members: tuple[Ranking, ...], labels: Labels | None, universe: int | None, notes: tuple[str, ...]
    ) -> None:
        self._rankings, self.labels, self.universe, self.notes = members, labels, universe, notes
        self.names = tuple([ranking.name for ranking in members])
        self._rows: Scores | None = None

    @classmethod
    def of(
        cls,
        members: Sequence[Ranking],
        labels: Labels | None,
        universe: int | None = None,
        notes: Sequence[str] = (),
    ) -> Rankings:
        """Return rankings that the door has aligned and checked."""
        result = object.__new__(cls)
        result._set(tuple(members), labels, universe, tuple(notes))
        return result

    def __len__(self) -> int:
        """Return the number of rankings."""
        return len(self._rankings)

    def __iter__(self) -> Iterator[Ranking]:
        """Return the rankings one after the other."""
        return iter(self._rankings)

    def __getitem__(self, key: Any) -> Any:
        """Return a ranking by its name or position, or several for a slice or a list of names."""
        if isinstance(key, (int, np.integer)):
            return self._rankings[key]
        if isinstance(key, (slice, list, tuple)):
            chosen = self._rankings[key] if isinstance(key, slice) else [self[name] for name in key]
            if not chosen:
                raise InputError(f"rankings must keep at least one ranking; none of {len(self)} is in {key!r}.")
            return Rankings.of(chosen, self.labels, self.universe, self.notes)
        if key not in self.names:
            raise InputError(
                f"rankings must hold the name asked for; {key!r} is not among {first_few(self.names, 12)}."
            )
        return self._rankings[self.names.index(key)]

    def __contains__(self, key: object) -> bool:
        """Return whether there is a ranking of that name, or this very ranking."""
        return key in self.names if isinstance(key, str) else any(key is ranking for ranking in self._rankings)

    def rows_of(self, array: NDArray[Any]) -> Rankings:
        """Remember the array whose rows the scores may be, so that `matrix` need not copy them."""
        usable = array.dtype == np.float64 and array.flags.c_contiguous and array.shape == (len(self), self.n)
        self._rows = array if usable else None
        return self

    def items(self) -> list[tuple[str, Ranking]]:
        """Return pairs of name and ranking, as a dict does."""
        return list(zip(self.names, self._rankings, strict=True))

    def _summary(self) -> list[str]:
        """Return the sizes and the first names, as many as fit in a line."""
        size = f"{counted(len(self), 'ranking')} of {counted(self.n, 'item')}"
        named = (first_few(self.names, most, SHORT) for most in range(LISTED, 0, -1))
        return [_first_fitting(f"Rankings({size}: {names})" for names in named)]

    def __repr__(self) -> str:
        """Return the names and sizes in one line; print shows the notes too."""
        return self._summary()[0]

    def _tables(self, rows: int | None) -> list[Table]:
        places = first_places(len(self), rows)
        members = [self._rankings[i]._first_items(3)[0] for i in places]  # noqa: SLF001 - rankings and their collection are one
        best = [", ".join(printable(name, SHORT) for name in names) for names in members]
        cut = f" (first {len(places)} shown)" if len(places) < len(self) else ""
        caption = f"{counted(len(self), 'ranking')} of {counted(self.n, 'item')}{cut}"
        cells = zip(short_names(self.names[:rows]), [self._rankings[i].listed for i in places], best, strict=True)
        return [Table(caption, ["ranking", "listed items", "best items"], list(cells), ["", "d", ""])]

    @property
    def n(self) -> int:
        """The number of items."""
        return self._rankings[0].n

    @property
    def n_whole(self) -> int:
        """The number of items, where those split by sign count once."""
        return self.n if self.split is None else len(self.split)

    @property
    def scores(self) -> tuple[Scores, ...]:
        """One array of scores per ranking, in item order."""
        return tuple([ranking.scores for ranking in self._rankings])

    @property
    def truncated(self) -> bool:
        """Whether a ranking lacks items that another one lists."""
        return any(ranking.absent is not None for ranking in self._rankings)

    @property
    def population(self) -> int | None:
        """Number of items that random rankings are drawn from: the universe, or all items; None if it is unknown."""
        return self.universe or (None if self.truncated else self._rankings[0].n)

    @property
    def depth(self) -> int:
        """The largest k at which every ranking still lists its k-th item; of items split by sign, half of them."""
        return min([ranking.listed for ranking in self._rankings]) // (1 if self.split is None else 2)

    @property
    def split(self) -> Labels | None:
        """The items before negative="split" made two of each; None without."""
        return self._rankings[0].split

    def label(self, position: int) -> Hashable:
        """Return the label of the item at a position: the position itself where items have no labels."""
        return position if self.labels is None else self.labels[position]

    def matrix(self) -> Scores:
        """Return all scores, one row per ranking; without a copy where they are the rows of the user's array."""
        rows = self._rows
        if rows is not None and all(_same_memory(rows[i], ranking.scores) for i, ranking in enumerate(self)):
            return rows
        return np.array(self.scores)

    def to_frame(self, library: str | None = None) -> Any:
        """Return a column `item` and one column per ranking as a pandas or polars DataFrame."""
        items = range(self.n) if self.labels is None else self.labels
        scores = dict(zip(self.names, self.scores, strict=True))
        return frame({free_name("item", scores): list(items), **scores}, library, self.notes)


def _same_memory(a: Scores, b: Scores) -> bool:
    """Return whether two arrays are the same stretch of memory."""
    return a.shape == b.shape and a.strides == b.strides and a.dtype == b.dtype and np.shares_memory(a[:1], b[:1])


def universe_size(given: Any, n: int) -> int:
    """Return the number of items that n listed ones were drawn from, or raise."""
    size = integer("universe", given, 1, LARGEST_UNIVERSE)
    if size < n:
        least = f"at least the number of items that the rankings list, {n}"
        raise InputError(f"{spelled('universe')} must be {least}; got {size}.")
    return size


def _require_same_labels(labels: Labels, given: Any, name: str) -> None:
    """Raise if scores that have labels are given others."""
    if list(labels) != list(given):
        raise InputError(
            f"{name} must have one set of labels; its scores have labels of their own, and items are others, or in "
            "another order. Leave items out, or align the scores with fujiscore.rankings."
        )


def _require_scores(scores: Scores, name: str) -> Scores:
    """Return scores that are finite or -inf, or raise."""
    if np.isnan(scores).any() or (scores == np.inf).any():
        raise InputError(
            f"{name} must hold finite scores (or -inf); it has NaN or infinity. Pass it through fujiscore.rankings."
        )
    return scores


def _plain_labels(labels: Any, size: int, name: str) -> Labels:
    """Return one label per score, each once, or raise."""
    items: Labels = labels if isinstance(labels, (list, tuple, range)) else list(labels)
    if len(items) != size:
        raise InputError(f"{name} must have one label per score; got {len(items)} labels and {size} scores.")
    if not isinstance(items, range) and len(unique_labels(items, name)) < size:
        raise InputError(f"{name} must list each item once; labels repeat. Merge them with fujiscore.rankings.")
    return items


def require_names(names: Sequence[str]) -> None:
    """Raise unless each ranking has a name of its own."""
    repeated = first_repeated(names)
    if repeated is not None:
        raise InputError(f"rankings must have different names; {str(repeated)!r} names more than one. Rename them.")


def _first_fitting(lines: Iterable[str]) -> str:
    """Return the first of several lines, each shorter than the one before, that is short enough, or the last."""
    line = ""
    for line in lines:
        if max(display_width(line), len(line)) <= COLUMNS:
            break
    return line
