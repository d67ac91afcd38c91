"""Where curves are evaluated: grids of k, by name or as given."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, choice, spelled

Sizes: TypeAlias = "NDArray[np.int64]"
GRIDS = ("all", "exp", "squared")
# Where curves are evaluated by default. Over every k, many pairs would take 8 times as long, with p-values 250 times.
ONE_PAIR, MANY_PAIRS = "all", "exp"


@dataclass(frozen=True, eq=False)
class Grid:
    """Where curves are evaluated: increasing set sizes, and the name of the area under a curve over them."""

    ks: Sizes  # the evaluated k
    kind: str  # "all": every k; "exp": 1, 2, 4, ...; "squared": 1, 4, 9, ...; "custom": other k
    depth: int  # the largest k that the rankings allow
    other: Sizes | None = None  # the sizes of s's sets, where they are not those of r's: of one pair (k1, k2)

    @property
    def single(self) -> str:
        """The only k, or the pair of sizes."""
        return f"{self.ks[0]}" if self.other is None else f"({self.ks[0]}, {self.other[0]})"

    @property
    def area(self) -> str:
        """The name of the area under a curve over this grid."""
        if self.ks.size == 1:
            return f"value at k = {self.single}"
        if self.kind == "custom":
            return f"AUC over {self.ks.size} chosen k"
        name = {"all": "AUC", "exp": "top-weighted AUC", "squared": "AUC over squared k"}[self.kind]
        return name if self.ks[-1] == self.depth else f"{name} to k = {self.ks[-1]}"

    @property
    def whole(self) -> str:
        """The name of the value at the last k, the headline of measures of whole lists."""
        if self.other is not None:
            return f"value at k = {self.single}"
        return "value over the whole list" if self.ks[-1] == self.depth else f"value at k = {self.ks[-1]}"

    def described(self) -> str:
        """Return which k are evaluated, in words."""
        if self.ks.size == 1:
            return f"k = {self.single}"
        return f"k = {self.ks[0]} to {self.ks[-1]}" + ("" if self.kind == "all" else f" ({self.ks.size} points)")


def named_grid(kind: str, depth: int) -> Sizes:
    """Return the k of a named grid, up to a depth."""
    if kind == "all":
        return np.arange(1, depth + 1)
    if kind == "exp":
        points = [1 << i for i in range(depth.bit_length())]
    else:
        points = [i * i for i in range(1, isqrt(depth) + 1)]
    return np.array(points if points[-1] == depth else [*points, depth], np.int64)


def grid(ks: Any, depth: int, limit: int | None = None, argument: str = "ks") -> Grid:
    """Return the grid that a name or increasing integers stand for; named ones end at the depth."""
    # `limit` is the largest k that may be asked for: the depth, unless a universe tells what lies beyond it.
    if isinstance(ks, Grid):
        return ks
    if isinstance(ks, str):
        choice("ks", ks, GRIDS)
        return Grid(named_grid(ks, depth), ks, depth)
    try:
        points = np.atleast_1d(np.asarray(ks))
    except ValueError:
        points = np.empty(0)
    limit = depth if limit is None else limit
    if points.ndim != 1 or points.size == 0 or points.dtype.kind not in "iu":
        raise InputError(
            f"{spelled(argument)} must be 'all', 'exp', 'squared' or increasing integers from 1 to {limit}; got {ks!r}."
        )
    points = points.astype(np.int64)
    for before, after in pairwise(points):
        if after <= before:
            raise InputError(
                f"{spelled(argument)} must increase; {before} is followed by {after}. Sort them, each once."
            )
    if points[0] < 1 or points[-1] > limit:
        raise _outside(argument, points[0] if points[0] < 1 else points[-1], limit)
    kind = "all" if points.size > 1 and points[-1] == points.size else "custom"
    return Grid(points, kind, depth)


def _outside(argument: str, k: int, limit: int) -> InputError:
    """Return the error for a k that the rankings do not reach."""
    return InputError(
        f"{spelled(argument)} must lie between 1 and {limit}, the number of items in each ranking (in the shorter one, "
        f"if lists are truncated); got {k}."
    )


def set_sizes(k: Any, limit: int) -> tuple[Sizes, Sizes]:
    """Return the path of one point for k, an integer or a pair of integers."""
    if type(k) is int and 1 <= k <= limit:
        sizes = np.array([k], np.int64)
        return sizes, sizes
    if isinstance(k, np.ndarray):
        k = k.tolist()
    pair = tuple(k) if isinstance(k, (tuple, list)) else (k, k)
    for size in pair if len(pair) == 2 else (None,):
        if isinstance(size, (bool, np.bool_)) or not isinstance(size, (int, np.integer)):
            raise InputError(f"{spelled('k')} must be an integer or a pair of integers (k1, k2); got {k!r}.")
        if not 1 <= size <= limit:
            raise _outside("k", int(size), limit)
    return np.array(pair[:1], np.int64), np.array(pair[1:], np.int64)
