"""Recall of an approximate search, where equally good items are not errors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fujiscore.charts.kinds import Chart, intervals
from fujiscore.charts.palette import BLUE
from fujiscore.charts.result import Result
from fujiscore.errors import InputError, counted, integer, shown, spelled
from fujiscore.inputs import models
from fujiscore.inputs.coercion import NO_ITEM, Scores, as_ids, unique_labels
from fujiscore.inputs.rankings import align
from fujiscore.inputs.transforms import AS_IS
from fujiscore.text.notes import states
from fujiscore.text.tables import Table, frame, text_columns, text_table

if TYPE_CHECKING:
    Mask = NDArray[np.bool_]
    Ids = NDArray[Any]

# By how much true scores of one item may differ, relative to the larger or the k-th: float32 against float64.
ROUNDING = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class Recall(Result):
    """Recall of the top k, query by query.

    Attributes
    ----------
    k : int
        The number of items asked for.
    epsilon : float
        How much worse than the k-th exact item `within` allows.
    values : ndarray of float64
        For each query, the sum of what the first k returned items are worth, over k. An item is worth 1 if its true
        score is at least the k-th true score, otherwise the ratio of the two; an item of unknown score is worth 0.
    upper : ndarray of float64
        The same with every item of unknown score worth as much as the last one of the exact list; it cannot be better.
    plain : ndarray of float64
        The share of the exact top k that is among the first k returned items.
    within : ndarray of float64
        The share of items whose true score, times 1 + epsilon, reaches the k-th (whose distance is at most 1 + epsilon
        times the k-th); an item of unknown score does not count.
    within_upper : ndarray of float64
        The same with every item of unknown score as good as the last one of the exact list.
    notes : tuple of str
        What a reader must know: unknown scores, repeated or missing answers.
    """

    k: int
    epsilon: float
    values: Scores
    upper: Scores
    plain: Scores
    within: Scores
    within_upper: Scores
    notes: tuple[str, ...] = ()

    _keys = ("k", "epsilon", "mean", "known", "values", "upper", "plain", "within", "within_upper")

    def __len__(self) -> int:
        """Return the number of queries."""
        return self.values.size

    @property
    def mean(self) -> float:
        """The mean recall over the queries; a lower bound where true scores are unknown."""
        return float(self.values.mean())

    @property
    def known(self) -> bool:
        """Whether the values do not depend on unknown scores."""
        return bool((self.values == self.upper).all() and (self.within == self.within_upper).all())

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row per query as a pandas or polars DataFrame, the notes in `.attrs`."""
        columns = {"query": np.arange(len(self)), "recall": self.values, "plain": self.plain, "within": self.within}
        if not self.known:
            columns |= {"recall_upper": self.upper, "within_upper": self.within_upper}
        return frame(columns, library, self.notes)

    def _rows(self) -> list[tuple[str, str, str]]:
        """Return each kind of recall with its mean and its least value over the queries."""
        names = ("recall", f"recall within {self.epsilon:g}", "plain recall")
        low, high = (self.values, self.within, self.plain), (self.upper, self.within_upper, self.plain)
        return [
            (name, _interval(least.mean(), most.mean()), _interval(least.min(), most.min()))
            for name, least, most in zip(names, low, high, strict=True)
        ]

    def _header(self) -> list[str]:
        return ["measure", "value"] if len(self) == 1 else ["measure", "mean", "least"]

    def _summary(self) -> list[str]:
        header = self._header()
        queries = "" if len(self) == 1 else f", {len(self)} queries"
        return [f"k = {self.k}{queries}", *text_table(header, [row[: len(header)] for row in self._rows()])]

    def _charts(self) -> Sequence[Chart]:
        names = ["recall", f"within {self.epsilon:g}", "plain recall"]
        low = [float(part.mean()) for part in (self.values, self.within, self.plain)]
        high = [float(part.mean()) for part in (self.upper, self.within_upper, self.plain)]
        label = "of one query" if len(self) == 1 else f"mean over {len(self)} queries"
        label += "" if self.known else "; line: up to the upper bound"
        return [intervals(names, list(zip(low, low, high, strict=True)), label, BLUE, f"recall at k = {self.k}")]

    def _tables(self, rows: int | None) -> list[Table]:  # noqa: ARG002 - there are three rows
        header = self._header()
        cells = [row[: len(header)] for row in self._rows()]
        return [text_columns(f"recall at {self._summary()[0]}", header, cells)]


def _interval(low: float, high: float) -> str:
    """Return a value, or the bounds of one that is not known."""
    return f"{low:.4f}" if low == high else f"{low:.4f} to {high:.4f}"


class _Search(NamedTuple):
    """Checked queries, one per row: exact ids and true scores from best to worst, returned ids and their scores."""

    exact: Ids
    truth: Scores
    returned: Ids
    scores: Scores
    notes: tuple[str, ...]


def recall(
    exact: Any,
    approximate: Any,
    k: int,
    *,
    scores: Any = None,
    distances: bool = False,
    epsilon: Any = 0.01,
) -> Recall:
    """Return how much of the exact top k an approximate search finds, counting items by their true scores.

    A returned item that is as good as the k-th exact one is no error, whatever its id; a worse one counts by its true
    score relative to the k-th (by the inverse ratio of distances). Plain recall, which compares ids, and the share of
    items within 1 + epsilon of the k-th are computed beside it.

    Parameters
    ----------
    exact : ranking, or pair of 2-D arrays
        The exact answer with true scores: one ranking with labels (dict, Series, `Ranking`, (item, score) pairs), or
        for many queries (ids, scores), one row per query from best to worst. More than k items tell more.
    approximate : list of items, ranking, or 2-D array of ids
        What the search returned, from best to worst; of a ranking only the order counts. In an array, the id -1 means
        that nothing was returned there.
    k : int
        Number of items asked for; the first k returned ones count.
    scores : mapping of item to score, or array in the shape of `approximate`, optional
        True scores of the returned items, needed for those that the exact answer lacks; NaN where unknown. Not the
        scores that an index estimates: where they contradict the exact answer, an error is raised.
    distances : bool
        Whether all scores are distances: lower is better.
    epsilon : float
        What `within` allows.

    Returns
    -------
    Recall
        With `.values` (one per query), `.mean`, `.plain`, `.within`, `.upper` and `.within_upper` (where scores are
        unknown), `.notes` and `.to_frame()`.

    Examples
    --------
    >>> import fujiscore as fj
    >>> exact = {"a": 0.90, "b": 0.80, "c": 0.80, "d": 0.40}
    >>> print(fj.recall(exact, ["a", "c"], 2))
    k = 2
    measure             value
    recall              1.0000
    recall within 0.01  1.0000
    plain recall        0.5000
    >>> fj.recall(exact, ["a", "d"], 2).mean
    0.75

    Two queries, as ids and distances:

    >>> ids, near = [[7, 3, 5], [1, 2, 4]], [[0.1, 0.2, 0.4], [0.5, 0.5, 1.0]]
    >>> fj.recall((ids, near), [[7, 5], [2, 4]], 2, distances=True).values
    array([0.75, 0.75])
    """
    if isinstance(epsilon, bool) or not isinstance(epsilon, Real) or not 0 <= float(epsilon) < np.inf:
        raise InputError(f"{spelled('epsilon')} must be a number of at least 0; got {shown(epsilon)}.")
    if isinstance(exact, np.ndarray) and exact.ndim > 1:
        raise InputError("exact must have true scores beside the ids: pass (ids, scores), two arrays of one shape.")
    pairs = isinstance(exact, tuple) and len(exact) == 2 and not isinstance(exact[0], (tuple, str, Number))
    read = _many if pairs else _one
    search = read(exact, approximate, scores, distances)
    if integer("k", k, 1) > search.exact.shape[1]:
        raise InputError(f"{spelled('k')} must be at most {search.exact.shape[1]}, the length of exact; got {k}.")
    kth = search.truth[:, int(k) - 1]
    if not distances and (kth < 0).any():
        row = int(np.argmax(kth < 0))
        raise InputError(
            f"exact must have a k-th score of at least 0, which other scores are relative to; query {row} has "
            f"{kth[row]:g} at k = {k}. Pass distances (for cosines 1 - score) with {spelled('distances', value=True)}."
        )
    return _recall(search, int(k), distances, float(epsilon))


def _recall(search: _Search, k: int, distances: bool, epsilon: float) -> Recall:
    """Return the recall of checked queries."""
    returned, given = search.returned[:, :k], search.scores[:, :k]
    place, repeated = _places(search.exact, returned)
    listed = place >= 0
    empty = returned == NO_ITEM if returned.dtype.kind == "i" else np.zeros_like(listed)
    in_exact = np.take_along_axis(search.truth, np.maximum(place, 0), axis=1)
    kth, last = search.truth[:, k - 1 : k], search.truth[:, -1:]
    _require_consistent(np.where(empty, np.nan, given), in_exact, listed, kth, last, distances)
    unknown = ~listed & ~empty & np.isnan(given)
    counted_once = ~(empty | repeated)
    low = np.where(listed, in_exact, given)
    high = np.where(unknown, last, low)
    values, upper = (
        np.where(counted_once & ~np.isnan(true), _worth(true, kth, distances), 0.0).sum(axis=1) / k
        for true in (low, high)
    )
    within, within_upper = (  # NaN is not within 1 + epsilon of the k-th
        (counted_once & (true <= kth * (1 + epsilon) if distances else true * (1 + epsilon) >= kth)).sum(axis=1) / k
        for true in (low, high)
    )
    plain = (listed & ~repeated & (place < k)).sum(axis=1) / k
    notes = _notes(unknown & ~repeated, repeated & ~empty, empty, listed, search, k)
    return Recall(k, epsilon, values, upper, plain, within, within_upper, (*search.notes, *notes))


def _worth(true: Scores, kth: Scores, distances: bool) -> Scores:
    """Return the memberships of items in the top k: 1, or for a worse item its score relative to the k-th."""
    above, below = (kth, true) if distances else (np.maximum(true, 0.0), kth)
    worse = true > kth if distances else true < kth
    above, below = np.broadcast_arrays(above, below)
    return np.divide(above, below, out=np.where(worse, 0.0, 1.0), where=worse & (below > 0))


def _notes(unknown: Mask, repeated: Mask, empty: Mask, listed: Mask, search: _Search, k: int) -> list[str]:
    """Return what the values rest on."""
    notes = []
    if unknown.any():
        best = "the k-th, so that the upper bound counts them fully" if k == search.exact.shape[1] else "its last item"
        notes.append(
            f"{int(unknown.sum())} of {unknown.size} returned items are not in exact and have no true score: worth 0 "
            f"at least, and at most as much as {best}; pass {spelled('scores')}, or a longer exact answer"
        )
    if repeated.any():
        notes.append(f"{counted(int(repeated.sum()), 'returned item')} repeated within a query: counted once")
    short = k - search.returned.shape[1]
    if short > 0 or empty.any():
        missing = max(short, 0) * len(empty) + int(empty.sum())
        notes.append(f"{missing} of {k * len(empty)} answers were not returned: worth 0")
    if not listed.any():
        notes.append("no returned item is in exact: check that both use the same ids")
    return notes


def _places(exact: Ids, returned: Ids) -> tuple[NDArray[np.int64], Mask]:
    """Return, for each returned id, its place in the exact row (-1: none), and whether it occurs earlier in its row."""
    keys, wanted = _keys(exact, returned)
    by_key = np.argsort(keys, axis=1, kind="stable")
    ordered = np.take_along_axis(keys, by_key, axis=1)
    twice = np.flatnonzero((np.diff(ordered, axis=1) == 0).any(axis=1))
    if twice.size:
        raise InputError(f"exact must list each item once; query {twice[0]} repeats one. Drop the repeated items.")
    flat = ordered.ravel()  # rows follow each other, so that one search serves all
    nearest = np.minimum(np.searchsorted(flat, wanted), flat.size - 1)
    place = np.where(flat[nearest] == wanted, by_key.ravel()[nearest], -1)
    by_wanted = np.argsort(wanted, axis=1, kind="stable")
    again = np.diff(np.take_along_axis(wanted, by_wanted, axis=1), axis=1, prepend=-1) == 0
    repeated = np.empty_like(again)
    np.put_along_axis(repeated, by_wanted, again, axis=1)
    return place, repeated


def _keys(exact: Ids, returned: Ids) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ids as integers that differ between rows and rise with them."""
    codes = np.concatenate([exact.ravel(), returned.ravel()])
    if codes.dtype.kind == "i" and len(exact) * (int(codes.max()) - int(codes.min()) + 1) < 2**62:
        codes = codes.astype(np.int64) - int(codes.min())
    else:
        codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
    rows = np.arange(len(exact))[:, None] * (int(codes.max()) + 1)
    return codes[: exact.size].reshape(exact.shape) + rows, codes[exact.size :].reshape(returned.shape) + rows


def _many(exact: Any, approximate: Any, scores: Any, distances: bool) -> _Search:
    """Return many queries, given as arrays."""
    ids = as_ids(exact[0], "exact", "Pass (ids, scores), in this order.")
    returned = as_ids(approximate, "approximate", f"Pass true scores apart from ids, as {spelled('scores')}.")
    if (ids.dtype.kind in "iu") != (returned.dtype.kind in "iu"):
        raise InputError(
            f"exact and approximate must use the same ids; got {ids.dtype} and {returned.dtype}. Convert one of them."
        )
    if len(ids) != len(returned):
        raise InputError(
            f"exact and approximate must answer the same queries; got {len(ids)} and {len(returned)} rows."
        )
    truth = _matrix(exact[1], "exact", ids.shape)
    given = np.full(returned.shape, np.nan) if scores is None else _matrix(scores, spelled("scores"), returned.shape)
    fill = "Leave out columns that some queries do not fill."
    if ids.dtype.kind == "i" and (ids == NO_ITEM).any():
        raise InputError(f"exact must list items; {NO_ITEM} stands for none. {fill}")
    wrong = np.isnan(truth) | np.isposinf(truth) | ((truth < 0) if distances else np.zeros_like(truth, np.bool_))
    if wrong.any():
        what = "finite distances of at least 0" if distances else "finite true scores"
        row, column = np.argwhere(wrong)[0]
        raise InputError(f"exact must hold {what}; query {row} has {truth[row, column]:g} at position {column}. {fill}")
    before, after = truth[:, :-1], truth[:, 1:]
    falls = np.flatnonzero((after < before if distances else after > before).any(axis=1))
    if falls.size:
        other = spelled("distances", value=not distances)
        raise InputError(
            f"exact must list its items from best to worst; query {falls[0]} does not. Sort each row by its scores, or "
            f"pass {other} if {'higher' if distances else 'lower'} is better."
        )
    return _Search(ids, truth, returned, given, ())


def _matrix(obj: Any, name: str, shape: tuple[int, ...]) -> Scores:
    """Return scores in the shape of the ids."""
    try:
        values = np.atleast_2d(np.asarray(obj)).astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold one true score for each id; got {type(obj).__name__}.") from None
    if values.shape != shape:
        raise InputError(f"{name} must hold one true score for each id, shape {shape}; got shape {values.shape}.")
    return values


def _one(exact: Any, approximate: Any, scores: Any, distances: bool) -> _Search:
    """Return one query, given as a ranking and a list of items."""
    both = align([exact], ["exact"], negative=models.policy(exact, "clip"), transform=AS_IS)  # `distances` says it
    if both.labels is None:
        raise InputError("exact must label its items: pass a dict of item to score, or (ids, scores) as arrays.")
    if distances and states(both.notes, "no scores"):
        raise InputError(
            f"exact must hold distances with {spelled('distances', value=True)}; it is a list without scores."
        )
    if distances and (both[0].scores < 0).any():
        raise InputError(f"exact must hold distances of at least 0; got {both[0].scores.min():g}.")
    order = np.argsort(both[0].scores if distances else -both[0].scores, kind="stable")
    items = _returned(approximate, distances)
    codes = {both.labels[i]: place for place, i in enumerate(order.tolist())}
    known = len(codes)
    for item in unique_labels(items, "approximate"):
        codes.setdefault(item, len(codes))
    returned = np.array([[codes[item] for item in items]])
    given = np.full((1, len(items)), np.nan)
    if scores is not None:
        listed = [scores.get(item, np.nan) for item in items] if isinstance(scores, Mapping) else scores
        given = _matrix(listed, spelled("scores"), given.shape)
    truth, notes = both[0].scores[order], both.notes
    steps = np.diff(truth[returned[returned < known]])
    if steps.size and (steps < 0 if distances else steps > 0).all():
        remedy = f"pass {spelled('distances', value=not distances)} if {'higher' if distances else 'lower'} is better"
        notes = (*notes, f"the returned items run from worst to best by the scores of exact: {remedy}")
    return _Search(np.arange(known)[None], truth[None], returned, given, notes)


def _returned(obj: Any, distances: bool) -> list[Hashable]:
    """Return the items of one answer from best to worst."""
    plain = obj.tolist() if isinstance(obj, np.ndarray) else obj
    if isinstance(plain, (list, tuple)) and plain and not isinstance(plain[0], (tuple, list)):
        if any(isinstance(item, (float, np.floating)) for item in plain):
            raise InputError(
                "approximate must list items from best to worst; got numbers that are not whole. Pass a dict of item "
                "to score, or the items in order."
            )
        return list(plain)
    ranking = align([obj], ["approximate"], negative=models.policy(obj, "clip"), transform=AS_IS)
    if ranking.labels is None:
        raise InputError("approximate must be a list of items from best to worst, or a ranking with labels.")
    listed = states(ranking.notes, "no scores")
    order = np.argsort(ranking[0].scores if distances and not listed else -ranking[0].scores, kind="stable")
    return [ranking.label(int(i)) for i in order]


def _require_consistent(
    given: Scores, in_exact: Scores, listed: Mask, kth: Scores, last: Scores, distances: bool
) -> None:
    """Raise if given scores cannot be the true ones: others than exact's, or better than the last of exact outside."""
    if np.isinf(given).any() or (distances and (given < 0).any()):
        what = "finite, and at least 0 for distances" if distances else "finite"
        raise InputError(f"{spelled('scores')} must be {what}; got {given[np.isinf(given) | (given < 0)][0]:g}.")
    size = np.maximum(np.maximum(np.abs(given), np.abs(kth)), np.where(listed, np.abs(in_exact), 0.0))
    better = last - given if distances else given - last
    wrong = np.where(listed, np.abs(given - in_exact), better) > ROUNDING * size
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        where = f"query {row}, answer {column}" if len(given) > 1 else f"answer {column}"
        other = (
            f"exact has {in_exact[row, column]:g} for the same item"
            if listed[row, column]
            else f"exact lacks the item, though its last is worse ({last[row, 0]:g})"
        )
        raise InputError(
            f"{spelled('scores')} must be true scores on the scale of exact; {where} has {given[row, column]:g}, and "
            f"{other}. Compute them as those of exact; the scores that an index estimates are not true ones."
        )
