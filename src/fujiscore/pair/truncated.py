"""Truncated lists: bounds of FUJI, rank-biased overlap and average overlap."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

import fujiscore._kernels as _kernels
from fujiscore.charts.kinds import Band, Chart, Line, intervals
from fujiscore.charts.result import Result, record
from fujiscore.errors import InputError, choice, integer, proportion, spelled
from fujiscore.inputs import models
from fujiscore.inputs.options import Nan, Policies, takes
from fujiscore.inputs.ranking import Ranking, Rankings
from fujiscore.inputs.rankings import align
from fujiscore.measures.grids import Grid, grid
from fujiscore.measures.over_k import ResultOverK
from fujiscore.measures.overlap import ZeroTail, overlap_of, pair
from fujiscore.measures.registry import area, find
from fujiscore.text.notes import reworded, without

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.text.tables import Table

ListTies: TypeAlias = Literal["stable", "w", "a", "b"]
LIST_TIES = ("stable", "w", "a", "b")
# Weights below this add nothing to a sum that is at most 1.
NEGLIGIBLE = 1e-18

Depths: TypeAlias = "NDArray[np.int64]"


@dataclass(frozen=True, eq=False, repr=False)
class Bounds(ResultOverK):
    """The least and the greatest FUJI at each k, over all scores that missing items can have.

    Attributes
    ----------
    grid : Grid
        The evaluated k, at most the length of the shorter list.
    low, high : ndarray of float64
        The bounds at each k.
    n : int
        Number of items that the rankings list between them.
    notes : tuple of str
        What was done to the input.
    """

    grid: Grid
    low: Scores
    high: Scores
    n: int
    notes: tuple[str, ...] = ()

    @property
    def auc(self) -> tuple[float, float]:
        """The areas under both bounds; the area under the curve lies between them."""
        return float(area(self.low)), float(area(self.high))

    def _summary(self) -> list[str]:
        low, high = self.auc
        return [f"{self.grid.area} of FUJI between {low:.4f} and {high:.4f}, {self.grid.described()}"]

    def _columns(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high}

    def _data(self) -> dict[str, Any]:
        ends = dict(zip(("low", "high"), self.auc, strict=True))
        return {"items": self.n, "bounds": {"auc": ends, "curve": {"low": self.low, "high": self.high}}, "ks": self.ks}

    def _charts(self) -> Sequence[Chart]:
        colour, (low, high) = find("fuji").colour, self.auc
        lower = Line(self.low, f"FUJI, bounds ({self.grid.area} {low:.3f} to {high:.3f})", colour)
        band = Band(self.low, self.high, colour)
        return self._over_k("bounds of FUJI over k", [lower, Line(self.high, "", colour)], [band])


@takes(Policies)
def bounds(r: Any, s: Any, *, ks: Any = "all", zero_tail: ZeroTail = "include", **policies: Unpack[Policies]) -> Bounds:
    """Return what FUJI can be for two truncated lists, such as gene lists and search results.

    An item that only one ranking lists has an unknown score in the other: not above the least score listed there, and
    not below 0. The bounds hold whatever those scores are, and both are reached. They end with the shorter list:
    beyond it the next item is unknown.

    Parameters
    ----------
    r, s : dict, pandas Series or Ranking
        Labelled scores, higher is better. A missing item ranks below all listed ones, also at the same score.
    ks : {"all", "exp", "squared"} or increasing integers
        Where to evaluate, up to the length of the shorter list.
    missing : {"raise", "zero", "drop"}
        Of no effect: the scores of missing items are unknown.

    Returns
    -------
    Bounds
        With `.ks`, `.low`, `.high`, `.auc`, `.notes`, `.plot()` and `.to_frame()`. For rankings of the same items
        both bounds are the curve.

    Examples
    --------
    >>> import fujiscore as fj
    >>> result = fj.bounds({"a": 4, "b": 3, "c": 2}, {"b": 8, "a": 5, "d": 4})
    >>> result.low.round(3), result.high.round(3)
    (array([0.688, 1.   , 0.5  ]), array([0.688, 1.   , 1.   ]))
    """
    policies["missing"] = "zero"
    both = pair(r, s, policies)
    if both.labels is None:
        raise InputError("r and s must have item labels, to tell which items are missing. Pass dicts or pandas Series.")
    if both.split is not None:
        raise InputError(f"{spelled('negative', 'split')} has no bounds: the signs of missing items are unknown.")
    points = grid(ks, both.depth)
    overlap = overlap_of(both, points.ks, points.ks, zero_tail=zero_tail)
    low = overlap.fuji
    high, shared = np.empty(points.ks.size), np.empty(points.ks.size, np.int64)
    ranked = [_at_most(ranking) for ranking in both]
    _kernels.sweep.overlap(*overlap.ranks, *ranked, overlap.k1, overlap.k2, overlap.zero_tail, shared, high)
    notes = reworded(both.notes, "missing", "scores unknown")
    return Bounds(points, low, np.maximum(low, high), both.n, notes)


def _at_most(ranking: Ranking) -> Scores:
    """Return the sorted scores with the missing items as high as they can be: at the least listed score."""
    if ranking.absent is None:
        return ranking.ordered.by_rank.clipped
    ranked = ranking.ranked.copy()
    ranked[ranking.listed :] = ranked[ranking.listed - 1]
    return ranked


@dataclass(frozen=True, repr=False)
class RBO(Result):
    """Rank-biased overlap of two possibly truncated lists.

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
    notes : tuple of str
        What was done to the input.
    """

    min: float
    res: float
    ext: float
    p: float
    notes: tuple[str, ...] = field(default=(), compare=False)

    _keys = ("ext", "min", "max", "res", "p")

    @property
    def max(self) -> float:
        """The value if the unseen items agree as far as they can."""
        return self.min + self.res

    def __float__(self) -> float:
        """Return the extrapolated value."""
        return self.ext

    def _summary(self) -> list[str]:
        return [f"RBO {self.ext:.4f} (between {self.min:.4f} and {self.max:.4f}), p = {self.p:g}"]

    def _charts(self) -> Sequence[Chart]:
        label = f"RBO, p = {self.p:g}: extrapolated, between its bounds"
        return [intervals(["RBO"], [(self.ext, self.min, self.max)], label, find("rbo").colour)]

    def _tables(self, rows: int | None) -> list[Table]:  # noqa: ARG002 - there is one row
        known = {"extrapolated": self.ext, "least": self.min, "greatest": self.max}
        columns = {name: (".4f", value) for name, value in known.items()}
        return [record("rank-biased overlap (RBO)", {**columns, "p": ("g", self.p)})]


@dataclass(frozen=True, eq=False)
class _Listed:
    """Items from best to worst, each with the first and the last rank (from 1) of its tie group."""

    items: list[Hashable]
    top: Depths
    bottom: Depths
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.items)


class _Agreement(NamedTuple):
    """Agreement of a short and a long list at each depth, where the short one's unseen items agree ..."""

    low: Scores  # with nothing
    extrapolated: Scores  # as the seen ones do
    high: Scores  # as far as they can
    shared: int


def rbo(
    r: Any, s: Any, p: float = 0.9, *, ties: ListTies | None = None, k: int | None = None, nan: Nan = "raise"
) -> RBO:
    """Return the rank-biased overlap of two possibly truncated lists, which may hold different items.

    RBO is (1 - p) times the sum over depths d of p^(d-1) A_d, where A_d is the agreement of the first d items:
    the number they share, over d. It is bounded by `min` and `min + res`, and `ext` extrapolates it.

    Parameters
    ----------
    r, s : list of items, dict or pandas Series of item to score, or Ranking
        Items (strings, integers, ...) from best to worst, where an inner list, tuple or set is a group of tied items;
        or labelled scores, higher is better, where equal scores tie. The lengths may differ.
    p : float
        Persistence, above 0 and below 1: the higher, the deeper the lists count; see `top_weight`.
    ties : {"a", "w", "b", "stable"}, optional
        By default "a" for scores and "stable" for lists of items. "stable" keeps the given order of tied items. The
        others treat a group that spans the ranks t to b as one: "w" takes all of it in from depth t on (the items are
        equal); "a" takes each item in to the degree (d-t+1)/(b-t+1) (their order is unknown); "b" does so too, and
        corrects for what the ties hide. Two identical lists have `ext` = 1, but with "a" less if they have ties.
    k : int, optional
        Use the first k items of each list (a shorter list is used whole). With "w", "a" or "b" k must not divide a
        group.
    nan : {"raise", "zero", "drop"}
        How to treat NaN among labelled scores: raise, replace with 0, or drop the item from that list.

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
    >>> import fujiscore as fj
    >>> result = fj.rbo(["a", "b", "c"], ["b", "a", "d"], p=0.8)
    >>> round(result.min, 3), round(result.ext, 3), round(result.max, 3)
    (0.405, 0.587, 0.757)
    >>> round(float(fj.rbo({"a": 3, "b": 1, "c": 1}, {"a": 9, "c": 8}, ties="w")), 3)
    0.928
    """
    variant = _variant(r, s, ties, "a")
    persistence = proportion("p", p)
    depth = None if k is None else integer("k", k, 1)
    lists = [_cut(_listed(obj, name, variant, nan), depth, name) for obj, name in ((r, "r"), (s, "s"))]
    short, long = sorted(lists, key=len)
    result = _weighted(_agreement(short, long, variant), len(short), len(long), persistence)
    return replace(result, notes=tuple(dict.fromkeys(note for listed in lists for note in listed.notes)))


def _variant(r: Any, s: Any, ties: str | None, for_scores: str) -> str:
    """Return the treatment of ties: as asked for, or by whether there are scores."""
    if ties is not None:
        choice("ties", ties, LIST_TIES)
        return ties
    return for_scores if _is_scored(r, "r") or _is_scored(s, "s") else "stable"


def top_weight(p: float, d: int) -> float:
    """Return the share of RBO's weight that the top d ranks hold, at persistence p.

    Parameters
    ----------
    p : float
        Persistence, above 0 and below 1.
    d : int
        Number of top ranks.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> import fujiscore as fj
    >>> round(fj.stats.top_weight(0.9, 10), 4)
    0.8556
    """
    persistence, depth = proportion("p", p), integer("d", d, 1)
    return 1 - persistence ** (depth - 1) + (1 - persistence) / persistence * depth * _log_tail(persistence, depth - 1)


def average_overlap(r: Any, s: Any, k: int | None = None, *, ties: ListTies | None = None, nan: Nan = "raise") -> float:
    """Return the mean, over the depths 1 to k, of the share of items that the first items of two lists share.

    Parameters
    ----------
    r, s : list of items, dict or pandas Series of item to score, or Ranking
        Items from best to worst, where an inner list, tuple or set is a group of tied items; or labelled scores.
    k : int, optional
        The last depth, at most the length of the shorter list, which is the default.
    ties : {"w", "a", "b", "stable"}, optional
        How to treat tied items, by the variants of `rbo`; by default "w" for scores (all tied items are in) and
        "stable" for lists of items.
    nan : {"raise", "zero", "drop"}
        How to treat NaN among labelled scores: raise, replace with 0, or drop the item from that list.

    Returns
    -------
    float
        Between 0 and 1; 1 if the first k items are the same in the same order.

    Examples
    --------
    >>> import fujiscore as fj
    >>> fj.average_overlap(["a", "b", "c", "d"], ["a", "c", "b", "x"], k=3)
    0.8333333333333334
    """
    variant = _variant(r, s, ties, "w")
    short, long = sorted((_listed(r, "r", variant, nan), _listed(s, "s", variant, nan)), key=len)
    depth = len(short) if k is None else integer("k", k, 1)
    if depth > len(short):
        raise InputError(f"{spelled('k')} must be at most {len(short)}, the length of the shorter list; got {k}.")
    return float(np.mean(_agreement(short, long, variant).low[:depth]))


def _weighted(agreement: _Agreement, short: int, long: int, p: float) -> RBO:
    """Return the weighted sums of the agreements, with what follows unseen in closed form."""
    # All sums are divided by that of the weights, which is 1 but for rounding: identical lists give exactly 1.
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
    place = {item: i for i, item in enumerate(short.items)}
    partner = np.array([place.get(item, -1) for item in long.items], np.int64)
    to, alone = np.flatnonzero(partner >= 0), np.flatnonzero(partner < 0)
    at = partner[to]
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
    read = _from_scores(obj, name, nan) if _is_scored(obj, name) else (*_from_items(obj, name, ties), ())
    items, groups, notes = read
    if not items:
        raise InputError(f"{name} must list at least one item; it is empty.")
    if len(set(items)) < len(items):
        repeated = next(item for item, count in Counter(items).items() if count > 1)
        raise InputError(f"{name} must list each item once; {repeated!r} comes more than once. Drop the repetitions.")
    sizes = np.ones(len(items), np.int64) if ties == "stable" else np.array(groups, np.int64)
    bottom = np.cumsum(sizes)
    return _Listed(items, np.repeat(bottom - sizes + 1, sizes), np.repeat(bottom, sizes), notes)


def _is_scored(obj: Any, name: str) -> bool:
    """Tell labelled scores from a list of items; refuse what is neither."""
    if isinstance(obj, (Mapping, Ranking, Rankings)) or models.recognised(obj) is not None:
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


def _from_scores(obj: Any, name: str, nan: str) -> tuple[list[Hashable], Sequence[int], tuple[str, ...]]:
    """Return the items by falling score, equal scores in the given order, the sizes of groups of equals, and notes."""
    # Scores only order the items here, so negative ones are as good as others.
    ranking = align((obj,), (name,), negative=models.policy(obj, "clip"), nan=nan)[0]
    listed = ranking.listed
    above, up_to = (bound[:listed] for bound in ranking.tie_groups)
    sizes: list[int] = (up_to - above)[np.arange(listed) == above].tolist()
    notes = without(ranking.notes, "negative as 0")
    return [ranking.label(position) for position in ranking.order[:listed].tolist()], sizes, notes


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
    """Raise for a fractional number, which may be a score, and for what cannot be looked up."""
    if isinstance(item, (float, complex, bool, np.bool_)):
        raise InputError(
            f"{name} must be items from best to worst; got {item!r} at position {position}, which may be a score. "
            "Pass scores with labels (a dict or pandas Series of item to score), or items as strings or integers."
        )
    try:
        hash(item)
    except TypeError:
        raise InputError(
            f"{name} must hold hashable items such as strings; got {type(item).__name__} at position {position}."
        ) from None


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
    return _Listed(listed.items[:k], listed.top[:k], listed.bottom[:k], listed.notes)
