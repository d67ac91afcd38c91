"""Ranking and Rankings, the one currency: labelled scores, checked once and sorted once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fujiscore._kernels as _kernels
from fujiscore.charts import svg
from fujiscore.charts.kinds import Bars
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
from fujiscore.inputs.coercion import Labels, Scores, first_repeated, labelled, unique_labels
from fujiscore.inputs.orders import Order, read_only
from fujiscore.text.tables import COLUMNS, Table, display_width, first_places, frame, free_name
from fujiscore.text.tabular import Tabular

# Products of two set sizes, which may be as large as the universe, fit in 64 bits.
LARGEST_UNIVERSE = 2**31 - 1
# Columns of a name in a line of several, and how many scores a picture shows.
SHORT, DRAWN = 24, 10


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
        values, labels = part.scores, part.items if items is None else items
        if np.isnan(values).any() or (values == np.inf).any():
            raise InputError(
                f"{name} must hold finite scores (or -inf); it has NaN or infinity. Pass it through fujiscore.rankings."
            )
        labels = frozen(labels)
        if labels is not None and len(labels) != values.size:
            must = f"{name} must have one label per score"
            raise InputError(f"{must}; got {len(labels)} labels and {values.size} scores.")
        if not isinstance(labels, range | None) and len(unique_labels(labels, name)) < values.size:
            raise InputError(f"{name} must list each item once; labels repeat. Merge them with fujiscore.rankings.")
        if items is not None and not isinstance(part.items, range | None) and list(part.items) != list(labels or ()):
            raise InputError(
                f"{name} must have one set of labels; its scores have labels of their own, and items are others, or in "
                "another order. Leave items out, or align the scores with fujiscore.rankings."
            )
        size = None if universe is None else universe_size(universe, values.size)
        self._name, self._ordered, self._items = name, Order(values), labels
        self._universe, self._notes = size, (*notes, *part.notes)
        self._negatives: NDArray[np.bool_] | None = None
        self._split: Labels | None = None
        self._unsigned: str | None = None

    @classmethod
    def checked(
        cls,
        name: str,
        scores: Scores | Order,
        items: Labels | None = None,
        universe: int | None = None,
        notes: tuple[str, ...] = (),
        absent: NDArray[np.bool_] | None = None,
        negatives: NDArray[np.bool_] | None = None,
        split: Labels | None = None,
        unsigned: str | None = None,
    ) -> Ranking:
        """Return a ranking of scores that are checked, sorted or not: arrays that nobody else writes to."""
        ranking = object.__new__(cls)
        ranking._name, ranking._universe, ranking._notes, ranking._negatives = name, universe, notes, negatives
        ranking._ordered = scores if isinstance(scores, Order) else Order(scores, absent)
        ranking._items, ranking._split, ranking._unsigned = frozen(items), frozen(split), unsigned
        return ranking

    @property
    def name(self) -> str:
        """The ranking's name in messages and results."""
        return self._name

    @property
    def ordered(self) -> Order:
        """The scores and their order as kernels take them, which rankings of the same scores share."""
        return self._ordered

    @property
    def n(self) -> int:
        """The number of items."""
        return self._ordered.n

    @property
    def scores(self) -> Scores:
        """One score per item, in item order."""
        return read_only(self._ordered.scores)

    @property
    def items(self) -> Labels | None:
        """The items' labels; None for positions."""
        return self._items

    @property
    def universe(self) -> int | None:
        """Number of items that a truncated list was drawn from."""
        return self._universe

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]  # read-only
        """What a reader of results must know about it."""
        return self._notes

    @property
    def absent(self) -> NDArray[np.bool_] | None:
        """Items that the ranking does not list but another one does."""
        return None if self._ordered.absent is None else read_only(self._ordered.absent)

    @property
    def negatives(self) -> NDArray[np.bool_] | None:
        """Where the scores are magnitudes: which of them were negative."""
        return None if self._negatives is None else read_only(self._negatives)

    @property
    def split(self) -> Labels | None:
        """With negative="split", the items before each became two."""
        return self._split

    @property
    def unsigned(self) -> str | None:
        """Of scores that lost their signs, what they are and the remedy."""
        return self._unsigned

    def __len__(self) -> int:
        """Return the number of items."""
        return self.n

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the scores."""
        return np.array(self.scores, dtype=dtype, copy=copy)

    def _summary(self) -> list[str]:
        """Return the name, the size and the best items, as many of three as fit in a line."""
        scores = self.scores
        best = [f"{printable(self.label(int(i)), SHORT)}: {scores[i]:g}" for i in self.order[:3]]
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
        scores = [score if here else None for score, here in zip(self.scores[first], listed, strict=True)]
        ranks = (self.tie_groups[0][: first.size] + 1).tolist()
        cut = f" (first {first.size} shown)" if first.size < self.n else ""
        caption = f"{printable(self.name, NAME)}, {counted(self.n, 'item')}{cut}"
        return [
            Table(caption, ["item", "score", "rank"], list(zip(names, scores, ranks, strict=True)), ["", ".5g", "d"])
        ]

    def _data(self) -> dict[str, Any]:
        listed = {"n": self.n, "universe": self.universe, "labels": self.items}
        return {"name": self.name, **listed, "scores": self._plain_scores()}

    def _plain_scores(self) -> Scores:
        """Return the scores in item order, NaN for items that the ranking does not list."""
        return self.scores if self.absent is None else np.where(self.absent, np.nan, self.scores)

    def _picture(self) -> str:
        names, first = self._first_items(DRAWN)
        title = f"scores of the first {first.size} of {counted(self.n, 'item')}"
        return svg.draw([Bars(names, self.scores[first], title, form=".4g", title=title)])

    @property
    def listed(self) -> int:
        """Number of items that the ranking itself lists."""
        return self._ordered.listed

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
        return self._ordered.is_known

    @property
    def order(self) -> NDArray[np.int32]:
        """The items' positions from best to worst."""
        return read_only(self._ordered.positions)

    @property
    def ranked_raw(self) -> Scores:
        """The scores from best to worst, absent items as -inf."""
        return read_only(self._ordered.by_rank.raw)

    @property
    def ranked(self) -> Scores:
        """The scores from best to worst, negative ones as 0."""
        return read_only(self._ordered.by_rank.clipped)

    @property
    def clipped(self) -> Scores:
        """The scores in item order, negative ones as 0."""
        return read_only(self._ordered.clipped)

    @property
    def signs(self) -> Scores:
        """The signs of the scores as they were given, -1, 0 or 1: 0 for items that are not listed."""
        signs = np.sign(self.scores) if self.negatives is None else np.where(self.negatives, -1.0, np.sign(self.scores))
        return signs if self.absent is None else np.where(self.absent, 0.0, signs)

    @property
    def tie_groups(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """For each rank, how many items score strictly higher than the item there, and how many at least as high."""
        above, up_to = self._ordered.by_rank.tie_groups
        return read_only(above), read_only(up_to)

    @property
    def untied(self) -> bool:
        """Whether no two items have equal scores."""
        return self._ordered.by_rank.untied

    @property
    def tails(self) -> tuple[Scores, Scores]:
        """For each rank, mean and variance of the scores below it, relative to the score there (0 / 0 counts 1)."""
        mean, variance = self._ordered.by_rank.tails
        return read_only(mean), read_only(variance)

    def kth(self, sizes: NDArray[np.int64]) -> Scores:
        """Return the last scores of top sets, negative ones as 0."""
        scores: Scores = self._ordered.by_rank.clipped[np.minimum(sizes, self.n) - 1]
        return scores

    def ends_at_zero(self, sizes: NDArray[np.int64], *, fuzzy: bool) -> NDArray[np.bool_]:
        """Return which top sets end with a score of 0; in memberships (`fuzzy`) scores below 0 count as 0."""
        zero: NDArray[np.bool_] = self.kth(sizes) == 0
        if fuzzy or not zero.any():
            return zero
        below: NDArray[np.bool_] = self._ordered.by_rank.raw[np.minimum(sizes, self.n) - 1] < 0
        return zero & ~(below & (sizes <= self.listed))  # absent items are at 0

    def level_moments(self, sizes: NDArray[np.int64], counts: Scores) -> Scores:
        """Return mean, squares and cubes (see the kernel) of the scores between top sets of rising sizes, as rows."""
        out = np.empty((3, counts.size))
        _kernels.area.level_moments(self._ordered.by_rank.clipped, np.minimum(sizes, self.n), counts, out)
        return out

    @property
    def log_ties(self) -> float:
        """The logarithm of the number of ways to arrange the listed items within their tie groups."""
        return self._ordered.by_rank.log_ties

    def higher_of_two(self, n: int) -> int:
        """Return how many of n items have the higher of two scores, unlisted ones the lower; 0 for more or fewer."""
        up_to = self._ordered.by_rank.tie_groups[1]
        upper = int(up_to[0])
        two = upper == self.listed if n > self.listed else upper < n and int(up_to[upper]) == n
        return upper if two else 0

    @property
    def ranks(self) -> NDArray[np.int64]:
        """Each item's rank, from 1; equal scores share the best of their ranks."""
        return read_only(self._ordered.ranks)

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
        if (self._name, self._universe, self._notes) == (name, universe, notes):
            return self
        return self._of(self._ordered, name, universe, notes)

    def detached(self) -> Ranking:
        """Return the same ranking, to forget its order with it, unless that is known already."""
        known = self._ordered
        if known.is_known:
            return self
        return self._of(Order(known.scores, known.absent), self._name, self._universe, self._notes)

    def _of(self, ordered: Order, name: str, universe: int | None, notes: tuple[str, ...]) -> Ranking:
        """Return a ranking of the same items and signs."""
        signs: Any = {"negatives": self._negatives, "split": self._split, "unsigned": self._unsigned}
        return Ranking.checked(name, ordered, self._items, universe, notes, **signs)

    @property
    def signed(self) -> Scores:
        """The scores before each item became two, one for each sign."""
        return read_only(self._ordered.signed)

    def rearranged(self, items: NDArray[np.intp]) -> Ranking:
        """Return a ranking split by sign with its whole items in another order."""
        halves = np.concatenate([items, items + self.n // 2])
        absent = None if self.absent is None else self.absent[halves]
        return Ranking.checked(self.name, self.scores[halves], absent=absent, split=self.split)

    @property
    def whole_items(self) -> NDArray[np.intp]:
        """The items of a ranking split by sign from the greatest magnitude to the least, (+) before (-)."""
        return read_only(self._ordered.whole_items)

    def shuffled(self, seed: np.uint64) -> Ranking:
        """Return the same scores assigned to the items at random; nothing is sorted, unless items are split by sign."""
        if self.split is not None:
            return self.rearranged(self.whole_items[np.random.default_rng(seed).permutation(self.n // 2)])
        by_rank = self._ordered.by_rank
        scores, order, scratch = np.empty(self.n), np.empty(self.n, np.int32), np.empty(self.n, np.int32)
        _kernels.chance.reassign(by_rank.raw, by_rank.tie_groups[0], seed, scratch, scores, order)
        absent = None if self._ordered.absent is None else scores == -np.inf
        negatives = None
        if self._negatives is not None:  # equal magnitudes get their signs at random, too
            ranked = self._negatives[self._ordered.positions]
            if not self.untied:
                ranked = ranked[np.lexsort((np.random.default_rng(seed).random(self.n), self.tie_groups[0]))]
            negatives = np.empty(self.n, np.bool_)
            negatives[order] = ranked
        dealt = Order.known(scores, absent, order, by_rank)
        return Ranking.checked(
            self.name, dealt, None, self.universe, self.notes, negatives=negatives, unsigned=self.unsigned
        )


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
            Ranking(values, labels, name=name, universe=universe, notes=notes)
            for values, name in zip(scores, names, strict=True)
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
        self._rankings, self._labels, self._universe, self._notes = members, labels, universe, notes
        self._names = tuple([ranking.name for ranking in members])

    @classmethod
    def of(
        cls,
        members: Sequence[Ranking],
        labels: Labels | None,
        universe: int | None = None,
        notes: Sequence[str] = (),
    ) -> Rankings:
        """Return rankings that are aligned and checked."""
        result = object.__new__(cls)
        result._set(tuple(members), frozen(labels), universe, tuple(notes))
        return result

    @property
    def names(self) -> tuple[str, ...]:
        """One name per ranking."""
        return self._names

    @property
    def labels(self) -> Labels | None:
        """The items' labels, None where the input had none."""
        return self._labels

    @property
    def universe(self) -> int | None:
        """Number of items that truncated lists were drawn from, if it is known."""
        return self._universe

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]  # read-only
        """What was done to the input, and what a reader of results must know."""
        return self._notes

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

    def _data(self) -> dict[str, Any]:
        scores = {ranking.name: ranking._plain_scores() for ranking in self}  # noqa: SLF001 - as in _tables
        listed = {"n": self.n, "universe": self.universe, "labels": self.labels}
        return {"names": self.names, **listed, "scores": scores}

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
        """Return all scores, one row per ranking, read-only."""
        return read_only(self.block())

    def block(self) -> Scores:
        """Return all scores as kernels take them, one row per ranking; without a copy where they are one array's rows.

        Nobody may write to it.
        """
        rows = [ranking.ordered.scores for ranking in self._rankings]
        block = rows[0].base
        if block is not None and block.shape == (len(rows), self.n) and block.dtype == rows[0].dtype:
            same = (a.strides == b.strides and np.shares_memory(a[:1], b[:1]) for a, b in zip(block, rows, strict=True))
            if all(same):
                return block
        return np.array(rows)

    def to_frame(self, library: str | None = None) -> Any:
        """Return a column `item` and one column per ranking as a pandas or polars DataFrame."""
        items = range(self.n) if self.labels is None else self.labels
        scores = dict(zip(self.names, self.scores, strict=True))
        return frame({free_name("item", scores): list(items), **scores}, library, self.notes)


def frozen(labels: Labels | None) -> Labels | None:
    """Return labels that cannot change: a tuple or a range."""
    return labels if labels is None or isinstance(labels, (tuple, range)) else tuple(labels)


def universe_size(given: Any, n: int) -> int:
    """Return the number of items that n listed ones were drawn from, or raise."""
    size = integer("universe", given, 1, LARGEST_UNIVERSE)
    if size < n:
        least = f"at least the number of items that the rankings list, {n}"
        raise InputError(f"{spelled('universe')} must be {least}; got {size}.")
    return size


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
