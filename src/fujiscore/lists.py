"""Two lists of items, whole or cut off: rank-biased overlap and average overlap. Imports rankings and errors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Number
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from fujiscore.errors import InputError, choice
from fujiscore.rankings import align

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fujiscore.rankings import Nan, Scores

ListTies: TypeAlias = Literal["stable", "w", "a", "b"]
TIES = ("stable", "w", "a", "b")
# Weights below this add nothing to a sum that is at most 1.
NEGLIGIBLE = 1e-18

Depths: TypeAlias = "NDArray[np.int64]"


@dataclass(frozen=True)
class RBO:
    """Rank-biased overlap of two lists that may go on unseen.

    `float(result)` is `ext`.

    Attributes
    ----------
    min : float
        The value if the unseen items have nothing in common.
    res : float
        How much the unseen items could add: the value lies between `min` and `min + res`.
    ext : float
        The value if the lists go on to agree as they do where both are seen.
    p : float
        The persistence.
    """

    min: float
    res: float
    ext: float
    p: float

    @property
    def max(self) -> float:
        """The value if the unseen items agree as far as they can."""
        return self.min + self.res

    def __float__(self) -> float:
        """Return the extrapolated value."""
        return self.ext


@dataclass(frozen=True, eq=False)
class _Listed:
    """Items from best to worst, each with the first and the last rank (from 1) of its tie group."""

    items: list[Hashable]
    top: Depths
    bottom: Depths

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, eq=False)
class _Agreement:
    """Agreement of a short and a long list at each depth 1, 2, ..., length of the long one.

    `low`, `extrapolated` and `high` differ beyond the short list's end only: its unseen items agree with
    nothing, as the seen ones do, or as far as they can.
    """

    low: Scores
    extrapolated: Scores
    high: Scores
    shared: int


def rbo(r: Any, s: Any, p: float = 0.9, *, ties: ListTies = "stable", k: int | None = None, nan: Nan = "raise") -> RBO:
    """Return the rank-biased overlap of two lists, which may be cut off and hold different items.

    RBO is (1 - p) times the sum over depths d of p^(d-1) A_d, where A_d is the agreement of the first d items:
    the number they share, over d. It is bounded by `min` and `min + res`, and `ext` extrapolates it.

    Parameters
    ----------
    r, s : list of items, or dict or pandas Series of item to score
        Items from best to worst, where an inner list, tuple or set is a group of tied items; or labelled scores,
        higher is better, where equal scores tie. The lengths may differ.
    p : float
        Persistence, above 0 and below 1: the higher, the deeper the lists count. The first d items carry a
        little more than the share 1 - p^d of the weight.
    ties : {"stable", "w", "a", "b"}
        "stable" keeps the given order of tied items. The others treat a group that spans the ranks t to b as
        one: "w" takes all of it in from depth t on (the items are equal); "a" takes each item in to the degree
        (d-t+1)/(b-t+1) (their order is unknown); "b" does so too, and corrects for what the ties hide. Two
        identical lists have `ext` = 1, but with "a" less if they have ties. An item unseen counts as untied.
    k : int, optional
        Use the first k items of each list (a shorter list is used whole). With "w", "a" or "b" k must not
        divide a group.
    nan : {"raise", "zero", "drop"}
        NaN among labelled scores: refuse it, score it 0, or leave the item out of that list.

    Returns
    -------
    RBO
        With `.min`, `.res`, `.ext`, `.max` and `.p`; all values lie between 0 and 1.

    References
    ----------
    Webber, Moffat, Zobel (2010), A similarity measure for indefinite rankings.
    Corsi, Urbano (2024), The treatment of ties in rank-biased overlap.

    Examples
    --------
    >>> from fujiscore.lists import rbo
    >>> found = rbo(["a", "b", "c"], ["b", "a", "d"], p=0.8)
    >>> round(found.min, 3), round(found.ext, 3), round(found.max, 3)
    (0.405, 0.587, 0.757)
    >>> round(float(rbo({"a": 3, "b": 1, "c": 1}, {"a": 9, "c": 8}, ties="w")), 3)
    0.928
    """
    choice("ties", ties, TIES)
    persistence = _between_0_and_1(p)
    depth = None if k is None else _positive_integer(k)
    lists = [_cut(_listed(obj, name, ties, nan), depth, name) for obj, name in ((r, "r"), (s, "s"))]
    short, long = sorted(lists, key=len)
    return _weighted(_agreement(short, long, ties), len(short), len(long), persistence)


def average_overlap(r: Any, s: Any, k: int | None = None, *, nan: Nan = "raise") -> float:
    """Return the mean, over the depths 1 to k, of the share of items that the first items of two lists share.

    Parameters
    ----------
    r, s, nan
        As in `rbo`; tied items keep the given order.
    k : int, optional
        The last depth, at most the length of the shorter list, which is the default.

    Returns
    -------
    float
        Between 0 and 1; 1 if the first k items are the same in the same order.

    Examples
    --------
    >>> from fujiscore.lists import average_overlap
    >>> average_overlap(["a", "b", "c", "d"], ["a", "c", "b", "x"], k=3)
    0.8333333333333334
    """
    short, long = sorted((_listed(r, "r", "stable", nan), _listed(s, "s", "stable", nan)), key=len)
    depth = len(short) if k is None else _positive_integer(k)
    if depth > len(short):
        raise InputError(f"k must be at most the length of the shorter list, {len(short)}; got {k}. Lower k.")
    at, to, _ = _matched(short, long)
    shared = _begun(np.maximum(at, to) + 1, len(long))[:depth]
    return float(np.mean(shared / np.arange(1, depth + 1)))


def _weighted(agreement: _Agreement, short: int, long: int, p: float) -> RBO:
    """Return the weighted sums of the agreements, with what follows unseen in closed form.

    All sums are divided by that of the weights, which is 1 but for rounding: identical lists give exactly 1.
    """
    shared = agreement.shared
    same = long + short - shared  # from this depth on, lists that agree as far as they can hold the same items
    beyond = np.arange(long + 1, same + 1)
    low = np.concatenate((agreement.low, shared / beyond))
    high = np.concatenate((agreement.high, (shared + 2 * beyond - long - short) / beyond))
    weights = (1 - p) * p ** np.arange(float(same))
    tail = p**same
    disjoint_tail = min(tail, shared * (1 - p) / p * _log_tail(p, same))
    total = float(weights.sum()) + tail
    least = (float((weights * low).sum()) + disjoint_tail) / total
    most = (float((weights * high).sum()) + tail) / total
    seen = weights[:long]
    extrapolated = float((seen * agreement.extrapolated).sum()) + float(agreement.extrapolated[-1]) * p**long
    return RBO(least, most - least, extrapolated / (float(seen.sum()) + p**long), p)


def _log_tail(p: float, after: int) -> float:
    """Return the sum of p^d / d over all depths d beyond a given one."""
    # The difference of two like numbers is off by a rounding of -log(1-p), however small it is itself.
    if p**after < NEGLIGIBLE:
        return 0.0
    depths = np.arange(1.0, after + 1)
    return max(0.0, -math.log1p(-p) - float((p**depths / depths).sum()))


def _agreement(short: _Listed, long: _Listed, ties: str) -> _Agreement:
    """Return the agreement at every depth, in linear time: only one group of each list is partly in at a time."""
    end, depth = len(short), len(long)
    at, to, alone = _matched(short, long)
    # From depth `top` on an item counts in part, from `full` on as 1.
    full_short, full_long = (short.top, long.top) if ties == "w" else (short.bottom, long.bottom)
    top_s, full_s, top_l, full_l = short.top[at], full_short[at], long.top[to], full_long[to]
    part_s, part_l = _part(short, depth), _part(long, depth)
    seen = _begun(np.maximum(full_s, full_l), depth) + part_s * _under_way(np.maximum(top_s, full_l), full_s, depth)
    seen += part_l * _under_way(np.maximum(top_l, full_s), full_l, depth)
    seen += part_s * part_l * _under_way(np.maximum(top_s, top_l), np.minimum(full_s, full_l), depth)
    most = _most(short, long, ties)

    # The short list's unseen items agree with items of the long one that it does not list, as far as those count.
    whole, part = _begun(full_long[alone], depth)[end:], _under_way(long.top[alone], full_long[alone], depth)[end:]
    unseen = np.arange(1, depth - end + 1)
    mean = (whole + part_l[end:] * part) / (whole + part)
    first = np.minimum(whole, unseen) + part_l[end:] * np.maximum(0, unseen - whole)
    low = seen / most
    extrapolated, high = low.copy(), low.copy()
    extrapolated[end:] = (seen[end:] + low[end - 1] * unseen * mean) / most[end:]
    high[end:] = (seen[end:] + first) / most[end:]
    return _Agreement(low, np.minimum(extrapolated, 1.0), np.minimum(high, 1.0), to.size)


def _matched(short: _Listed, long: _Listed) -> tuple[Depths, Depths, Depths]:
    """Return the shared items' positions in the short and in the long list, and the long list's other positions."""
    place = {item: i for i, item in enumerate(short.items)}
    partner = np.array([place.get(item, -1) for item in long.items], np.int64)
    to = np.flatnonzero(partner >= 0)
    return partner[to], to, np.flatnonzero(partner < 0)


def _begun(start: Depths, depth: int) -> Scores:
    """Return how many intervals have begun by each depth 1, ..., depth."""
    return np.cumsum(np.bincount(start, minlength=depth + 1)[1:]).astype(np.float64)


def _under_way(start: Depths, stop: Depths, depth: int) -> Scores:
    """Return how many intervals from start to before stop hold each depth 1, ..., depth."""
    proper = start < stop
    return _begun(start[proper], depth) - _begun(stop[proper], depth)


def _part(listed: _Listed, depth: int) -> Scores:
    """Return the degree to which the tie group at each depth is in; 1 beyond the list's end."""
    part = np.ones(depth)
    ranks = np.arange(1, len(listed) + 1)
    part[: len(listed)] = (ranks - listed.top + 1) / (listed.bottom - listed.top + 1)
    return part


def _most(short: _Listed, long: _Listed, ties: str) -> Scores:
    """Return what the summed contributions are divided by at each depth."""
    depths = np.arange(1.0, len(long) + 1)
    if ties not in {"w", "b"}:
        return depths
    sizes = []
    for listed in (short, long):
        size = depths.copy()
        before, group = listed.top - 1, listed.bottom - listed.top + 1
        size[: len(listed)] = before + group * (1 if ties == "w" else _part(listed, len(listed)) ** 2)
        sizes.append(size)
    return (sizes[0] + sizes[1]) / 2 if ties == "w" else np.sqrt(sizes[0] * sizes[1])


def _listed(obj: Any, name: str, ties: str, nan: str) -> _Listed:
    """Read a list of items, of tie groups, or labelled scores."""
    items, groups = _from_scores(obj, name, nan) if _is_scored(obj, name) else _from_items(obj, name, ties)
    if not items:
        raise InputError(f"{name} must list at least one item; it is empty.")
    _refuse_repeated(items, name)
    sizes = np.ones(len(items), np.int64) if ties == "stable" else np.array(groups, np.int64)
    bottom = np.cumsum(sizes)
    return _Listed(items, np.repeat(bottom - sizes + 1, sizes), np.repeat(bottom, sizes))


def _is_scored(obj: Any, name: str) -> bool:
    """Tell labelled scores from a list of items; refuse what is neither."""
    if isinstance(obj, Mapping):
        return True
    if isinstance(obj, (list, tuple, np.ndarray)):
        return False
    import narwhals as nw

    if nw.dependencies.is_pandas_series(obj):
        return bool(obj.dtype.kind in "fiub")
    unordered = isinstance(obj, (str, bytes, set, frozenset)) or nw.dependencies.is_into_dataframe(obj)
    if unordered or not isinstance(obj, Iterable):
        raise InputError(
            f"{name} must be a list of items from best to worst, or a dict or pandas Series of item to score; "
            f"got {type(obj).__name__}."
        )
    return False


def _from_scores(obj: Any, name: str, nan: str) -> tuple[list[Hashable], Sequence[int]]:
    """Return the items by falling score, equal scores in the given order, and the sizes of the groups of equals."""
    # Scores only order the items here, so negative ones are as good as others.
    ranking = align((obj,), (name,), negative="clip", nan=nan)
    scores = ranking.scores[0]
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)) + 1
    sizes: list[int] = np.diff(ends, prepend=0).tolist()
    return [ranking.label(position) for position in order.tolist()], sizes


def _from_items(obj: Any, name: str, ties: str) -> tuple[list[Hashable], Sequence[int]]:
    """Return the items in order, and the size of each entry: more than 1 for a tie group."""
    items: list[Hashable] = []
    sizes = []
    for position, entry in enumerate(obj.tolist() if isinstance(obj, np.ndarray) and obj.ndim else obj):
        if isinstance(entry, str):
            items.append(entry)
            sizes.append(1)
            continue
        group = list(entry) if isinstance(entry, (list, tuple, set, frozenset)) else [entry]
        if not group:
            raise InputError(f"{name} must hold items or groups of items; the group at position {position} is empty.")
        if ties == "stable" and isinstance(entry, (set, frozenset)) and len(group) > 1:
            raise InputError(
                f"{name} has a set of {len(group)} tied items at position {position}, and ties='stable' needs their "
                "order. Pass a list there, or ties='w', 'a' or 'b'."
            )
        for item in group:
            _refuse_unless_item(item, name, position)
        items += group
        sizes.append(len(group))
    return items, sizes


def _refuse_unless_item(item: Any, name: str, position: int) -> None:
    """Raise for a number, which may be a score, and for what cannot be looked up."""
    if isinstance(item, (Number, np.generic)) and not isinstance(item, np.character):
        raise InputError(
            f"{name} must be items from best to worst; got the number {item!r} at position {position}, which may be a "
            "score. Pass scores with labels (a dict or pandas Series of item to score), or items as strings."
        )
    try:
        hash(item)
    except TypeError:
        raise InputError(
            f"{name} must hold hashable items such as strings; got {type(item).__name__} at position {position}."
        ) from None


def _refuse_repeated(items: list[Hashable], name: str) -> None:
    """Raise if an item is listed twice."""
    if len(set(items)) < len(items):
        repeated = next(item for item, count in Counter(items).items() if count > 1)
        raise InputError(f"{name} must list each item once; {repeated!r} comes more than once. Drop the repetitions.")


def _between_0_and_1(p: Any) -> float:
    """Return p, or say what it must be."""
    if isinstance(p, bool) or not isinstance(p, (float, np.floating)) or not 0 < p < 1:
        raise InputError(f"p must be a number above 0 and below 1; got {p!r}.")
    return float(p)


def _positive_integer(k: Any) -> int:
    """Return k, or say what it must be."""
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)) or k < 1:
        raise InputError(f"k must be an integer from 1; got {k!r}.")
    return int(k)


def _cut(listed: _Listed, k: int | None, name: str) -> _Listed:
    """Return the first k items; a tie group is never divided."""
    if k is None or k >= len(listed):
        return listed
    if listed.bottom[k - 1] != k:
        top, bottom = listed.top[k - 1], listed.bottom[k - 1]
        raise InputError(
            f"k must not divide a group of tied items; {name} has one at ranks {top} to {bottom}, and k is {k}. "
            f"Pass k={bottom}, or ties='stable' to keep the given order."
        )
    return _Listed(listed.items[:k], listed.top[:k], listed.bottom[:k])
