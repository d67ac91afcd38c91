"""The policies: one set for single rankings, for the lists of runs, and for columns read in passes.

All work on ragged lists: scores and items of several lists that follow each other. A single ranking is one list, a run
one list per query. The order of operations, each step for the first ranking or run, then the next:

1. transform: every row of a list, NaN stays NaN.
2. scores: NaN rows (nan="raise"), then infinite ones, then negative ones (negative="raise") are refused. -inf is
   negative, but infinite where magnitudes rank.
3. duplicates: rows of the same item, with a score or not, are refused, or merged into one at the place of the first.
   Rows without a score take no part: an item is NaN only if all its rows are.
4. NaN: items without a score become 0, or are dropped from all rankings (from both lists of the query).
5. missing: items that a ranking lacks are refused, score 0, or are dropped.
6. signs: scores become magnitudes ("abs") or two items each ("split").
7. universe.

Steps 5 to 7 are done where lists are brought together, `rankings.align` and `queries.together`; columns read in passes
have the same items in the same order, each once, so that steps 2, 4 and 6 are all of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import fujiscore._kernels as _kernels
from fujiscore.errors import InputError, counted, first_few, shown, spelled
from fujiscore.inputs.transforms import SMALLEST, transformed_lists
from fujiscore.text.notes import Fact, about

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores

    Mask = NDArray[np.bool_]
    Sizes = NDArray[np.int64]

FLAWS = ("NaN", "infinite", "negative")  # of scores, in the order in which they are reported
SIGNED = ("abs", "split")  # policies by which the magnitudes rank
# The kind of fact that a policy for negative scores makes.
SIGNS = {"clip": "negative as 0", "abs": "magnitudes", "split": "signs split"}


@dataclass
class RawLists:
    """The lists of one ranking, or of one run, while policies are applied to them."""

    name: str  # of the ranking or run
    scores: Scores  # of all lists; never changed in place
    start: Sizes  # list q is start[q] to start[q + 1]
    labels_at: Callable[[NDArray[Any]], list[Any]]  # given rows as they were at first, returns their labels
    items: NDArray[Any] | None = None  # small integers, the same for equal labels; None if no item is listed twice
    span: int = (
        0  # more than the greatest of these in any side; small, for keys of a small range are looked up in tables
    )
    queries: Sequence[Any] | None = None  # what the lists belong to; None for a single ranking
    negative: str = "raise"
    transform: Any = None
    signed: bool = False  # signs are part of what the scores are (attributions): magnitudes rank them
    quiet: bool = False  # it is known already that scores are read as magnitudes
    rows: NDArray[np.int64] | None = None  # which of the first rows are left; None for all of them
    has_nan: bool = False  # some score is NaN, once that was looked for

    @property
    def sizes(self) -> Scores:
        """The scores that rank: magnitudes by some policies."""
        return np.abs(self.scores) if self.negative in SIGNED else self.scores

    def list_of(self, row: int) -> int:
        """Return which list has a row."""
        return int(np.searchsorted(self.start, row, side="right")) - 1

    def labels(self, rows: NDArray[Any]) -> list[Any]:
        """Return the labels of some of the rows that are left."""
        return self.labels_at(rows if self.rows is None else self.rows[rows])

    def place(self, row: int) -> str:
        """Return where a row is, in words."""
        item = f"item {shown(self.labels(np.array([row]))[0])}"
        return item if self.queries is None else f"query {shown(self.queries[self.list_of(row)])}, {item}"

    @property
    def coded(self) -> NDArray[Any]:
        """The items, where they are known to be integers."""
        assert self.items is not None  # noqa: S101 - for the type checker
        return self.items

    def keys(self) -> Sizes:
        """Return a number per row that is the same for rows of the same list and item, in all sides."""
        if self.start.size == 2:
            return self.coded
        sizes = np.diff(self.start)
        keys: Sizes = np.repeat(np.arange(sizes.size) * self.span, sizes) + self.coded
        return keys

    def keep(self, wanted: Mask) -> None:
        """Keep some rows."""
        rows = np.flatnonzero(wanted)
        self.start = np.concatenate([[0], np.cumsum(wanted)])[self.start]
        self.scores = self.scores[rows]
        self.items = None if self.items is None else self.items[rows]
        self.rows = rows if self.rows is None else self.rows[rows]


def transform_and_check(sides: Sequence[RawLists], nan: str, report: Callable[[Fact], None]) -> None:
    """Transform the scores of all sides, then refuse those that the policies do not allow (steps 1 and 2)."""
    for side in sides:
        _transform(side, report)
    for side in sides:
        _check(side, nan, report)


def _transform(side: RawLists, report: Callable[[Fact], None]) -> None:
    """Transform the scores; "abs" of scores that are read as magnitudes leaves the signs beside them."""
    if side.transform is None:
        return
    before = side.scores
    side.scores = transformed_lists(side.start, before, side.transform, side.name)
    word = side.transform if isinstance(side.transform, str) else ""
    if word == "neglog10":
        report(Fact("p-values of 0", side.name, int((before == 0).sum()), detail=f"{SMALLEST:.1g}"))
    if word == "abs" and side.queries is None and (before < 0).all():
        report(Fact("magnitudes", side.name, before.size, before.size))
    if word == side.negative == "abs":
        side.scores, side.quiet = np.copysign(side.scores, before), True


def _check(side: RawLists, nan: str, report: Callable[[Fact], None]) -> None:
    """Refuse scores that are NaN, infinite or negative, by the policies; count the negative ones that are not."""
    side.has_nan, infinite, below = _kernels.order.flaws(side.scores)
    if side.has_nan or infinite or below:
        for what, bad in refused(side.scores, side.negative, nan).items():
            row = int(np.argmax(bad))
            raise bad_scores(what, side.name, int(bad.sum()), bad.size, side.scores[row], side.place(row))
    if side.negative in SIGNS and not side.quiet:
        negative = int((side.scores < 0).sum()) if below else 0
        detail = "signed" if side.signed else ""
        report(Fact(SIGNS[side.negative], side.name, negative, side.scores.size, detail=detail))


def refused(scores: Scores, negative: str, nan: str) -> dict[str, Mask]:
    """Return the flaws that the policies refuse, in the order of their reports, and which scores have them."""
    flaws = {"NaN": np.isnan(scores)} if nan == "raise" else {}
    flaws["infinite"] = np.isinf(scores) if negative in SIGNED else scores == np.inf
    flaws |= {"negative": scores < 0} if negative == "raise" else {}
    return {what: bad for what, bad in flaws.items() if bad.any()}


def bad_scores(what: str, name: str, count: int, total: int, first: float, place: str) -> InputError:
    """Return the error for scores that are NaN, infinite or negative: what is required, what came, and the remedy."""
    came = f"{count} of {total} {'is' if count == 1 else 'are'} {what} (first: {first:g} at {place})"
    if what == "NaN":
        remedy = f"Pass {spelled('nan', 'zero')} to score them 0, or {spelled('nan', 'drop')} to leave those items out."
        return InputError(f"{name} must hold scores that are numbers; {came}. {remedy}", what)
    if what == "infinite":
        return InputError(f"{name} must hold finite scores; {came}. Replace them by a large finite score.", what)
    remedy = (
        f"Pass {spelled('negative', 'clip')} to count them as 0 (right where negative means no better than noise), "
        f"{spelled('negative', 'abs')} to rank by magnitude, {spelled('negative', 'split')} to separate signs, or "
        f"{spelled('transform', 'exp')} if they are logs."
    )
    return InputError(f"{name} must hold non-negative scores; {came}. {remedy}", what)


def merge(side: RawLists, duplicates: str, report: Callable[[Fact], None]) -> None:
    """List each item of a list once (step 3): merge the rows of an item, or refuse them."""
    keys, scores = side.keys(), side.scores
    _, first, group, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    if first.size == keys.size:
        return
    again = np.sort(first[counts > 1])
    if duplicates == "raise":
        number = side.list_of(int(again[0]))
        rows = again[again < side.start[number + 1]]
        raise repeated(side.name, side.labels(rows), None if side.queries is None else side.queries[number])
    report(about("duplicates", side.name, side.labels(again), count=keys.size - first.size, detail=duplicates))
    merged = scores.copy()
    if duplicates == "mean":
        merged[first] = _means(side, group, first.size)
    else:
        # The last of a group wins: rows with a score before others, then the best, then the first.
        best = side.sizes if duplicates == "max" else np.zeros(keys.size)
        order = np.lexsort((-np.arange(keys.size), best, ~np.isnan(scores)))
        winner = np.empty(first.size, np.intp)
        winner[group[order]] = order
        merged[first] = scores[winner]
    wanted = np.zeros(keys.size, np.bool_)
    wanted[first] = True
    side.scores = merged
    side.keep(wanted)


def _means(side: RawLists, group: NDArray[np.intp], size: int) -> Scores:
    """Return the mean score of each group, of magnitudes by "abs"; NaN where there is none."""
    scored = ~np.isnan(side.scores)
    group, scores = group[scored], side.scores[scored]
    counts = np.bincount(group, minlength=size)
    means = _mean(scores, group, counts)
    if side.negative == "abs":
        means = np.copysign(_mean(np.abs(scores), group, counts), means)
    return np.where(counts > 0, means, np.nan)


def _mean(scores: Scores, group: NDArray[np.intp], counts: NDArray[np.intp]) -> Scores:
    """Return the mean of each group of scores, 0 of none."""
    times = np.maximum(counts, 1)
    means: Scores = np.bincount(group, scores, counts.size) / times
    if np.isinf(means).any():  # the sum overflows, the mean does not
        return np.bincount(group, scores / times[group], counts.size).astype(np.float64)
    return means


def repeated(name: str, items: Sequence[Any], query: Any = None) -> InputError:
    """Return the error for items that a ranking, or the list of a query, lists more than once."""
    once, which = ("", "it") if query is None else (" of a query", f"query {shown(query)}")
    return InputError(
        f"{name} must list each item{once} once; {which} repeats {counted(len(items), 'item')} ({first_few(items)}). "
        f"Pass {spelled('duplicates', 'max')}, {spelled('duplicates', 'mean')} or {spelled('duplicates', 'first')}.",
        "duplicates",
    )


def zero_nan(sides: Sequence[RawLists], report: Callable[[Fact], None]) -> None:
    """Score items 0 that have no score (step 4)."""
    for side in sides:
        bad = np.isnan(side.scores) if side.has_nan else np.empty(0)
        if bad.any():
            report(Fact("NaN as 0", side.name, int(bad.sum())))
            side.scores = np.where(bad, 0.0, side.scores)


def without_score(sides: Sequence[RawLists]) -> list[Mask] | None:
    """Return for each side which items have no score in some side (step 4); None if all have one."""
    if not any(side.has_nan for side in sides):
        return None
    keys = [side.keys() for side in sides]
    gone = np.concatenate([key[np.isnan(side.scores)] for key, side in zip(keys, sides, strict=True)])
    return [np.isin(key, gone) for key in keys] if gone.size else None


def drop(sides: Sequence[RawLists], gone: Sequence[Mask], duplicates: str) -> None:
    """Leave out rows of all sides; what is left out must not repeat where duplicates are refused."""
    if duplicates == "raise":
        for side, mask in zip(sides, gone, strict=True):
            keys = side.keys()[mask]
            if np.unique(keys).size < keys.size:
                for repeating in sides:
                    merge(repeating, duplicates, lambda _: None)
    for side, mask in zip(sides, gone, strict=True):
        if mask.any():
            side.keep(~mask)
