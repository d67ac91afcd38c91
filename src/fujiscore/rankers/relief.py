"""ReliefF and RReliefF over all instances: what near instances tell about features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

import fujiscore._kernels as _kernels
from fujiscore.errors import choice, integer
from fujiscore.rankers.columns import renumbered
from fujiscore.rankers.features import DESCRIPTIONS, Features, Scores, prepare
from fujiscore.text.docstrings import documented
from fujiscore.work.tiles import progress_bar, spread, workers

if TYPE_CHECKING:
    from fujiscore.rankers.targets import Task

FEATURES_AT_ONCE = 64
# Upper bound for the neighbour lists of all workers; the lists of one class pair are the least there can be.
LIST_BYTES = 1 << 27
# Differences in one task, about 3 ms of one core: enough to outweigh the hand-over, and small enough to balance.
TASK_DIFFERENCES = 1 << 25


OF_DISTANCES = f"""{DESCRIPTIONS}
X : array, dataframe, sparse matrix or Features, shape (n, m)
    Numbers; NaN, None and null are missing values, for which the largest possible difference is assumed. Columns of a
    categorical, enum or boolean type, and those in `categorical`, are nominal. A sparse matrix is converted to a dense
    one.
random_state : object
    Ignored: nothing is random. It is accepted so that all rankers can be called alike.
"""


@partial(documented, descriptions=OF_DISTANCES)
def relief(
    X: Any,
    y: Any = None,
    *,
    neighbours: int = 15,
    small_classes: Literal["average", "drop"] = "average",
    categorical: Any = None,
    task: Task = "auto",
    random_state: Any = None,  # noqa: ARG001
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Scores:
    """Score features by ReliefF or, for a quantity, RReliefF: whether they differ where the target differs nearby.

    Every instance is used. A numeric difference is |a - b| over the feature's range, a nominal one 0 or 1, and the
    distance of two instances is the sum of the differences.

    Classes: with the k nearest instances of each class, score = mean over instances of (- mean difference to the hits
    + sum over other classes c of P(c) / (1 - P(own)) * mean difference to the misses in c).

    A quantity: with the k nearest instances of any target, all of the same weight, and the target's difference t, from
    0 to 1, score = sum of t * difference / sum of t - sum of (1 - t) * difference / sum of (1 - t), over all pairs of
    an instance and a neighbour; a term without weight is 0. (Robnik-Sikonja and Kononenko, 2003. Their other
    weighting, by rank, is not used.)

    Parameters
    ----------
    neighbours : int
        Number of nearest instances, of each class if there are classes. Equal distances are resolved by row order.
    small_classes : {"average", "drop"}
        For a class with fewer other instances than `neighbours`: average over those there are, or ignore it.

    Returns
    -------
    ndarray of float64, shape (m,)
        Between -1 and 1, higher is better; about 0 or below is no better than noise. 0 for a constant feature.

    Examples
    --------
    >>> import numpy as np
    >>> from fujiscore.rankers import relief
    >>> X = np.array([[0.0, 5], [1, 9], [10, 5], [9, 8]])
    >>> relief(X, ["a", "a", "b", "b"], neighbours=1).round(4)
    array([ 0.8 , -0.75])
    >>> relief(X, [0.5, 1.0, 9.5, 9.0], neighbours=2).round(4)
    array([ 0.7222, -0.6806])
    """
    choice("small_classes", small_classes, ("average", "drop"))
    k, threads = integer("neighbours", neighbours, 1), workers(n_jobs)
    features = prepare(X, y, categorical, task=task)
    compute = _of_quantity if features.target.is_quantity else _of_classes
    return compute(features, k, threads, progress, average=small_classes == "average")


def _of_classes(features: Features, k: int, threads: int, progress: bool | None, *, average: bool) -> Scores:
    """Return the scores of ReliefF."""
    counts = features.target.counts
    varying = scaled_to_range(features, np.argsort(features.target.values, kind="stable"))
    width = min(k, int(counts.max()))
    numeric, nominal = np.zeros(varying.numeric.size), np.zeros(varying.nominal.size)
    with progress_bar(_row_pairs(counts), "relief", progress=progress) as finished:
        for group in _groups(counts, k, width, threads, average=average):
            rows = _nearest(varying, group, width, threads, finished)
            _by_feature(varying, "scores", (group.sides, group.weights, rows), threads, numeric, nominal)
    return varying.scattered(numeric, nominal)


def _of_quantity(features: Features, k: int, threads: int, progress: bool | None, **_: bool) -> Scores:
    """Return the scores of RReliefF: the neighbours are those of ReliefF with a single class."""
    n, target = features.rows, _in_range(features.target.values)
    varying = scaled_to_range(features, np.arange(n))
    width, single = min(k, n - 1), np.array([n])
    with progress_bar(_row_pairs(single), "relief", progress=progress) as finished:
        group = next(_groups(single, k, width, threads, average=True))
        rows = _nearest(varying, group, width, threads, finished)
    differences = np.abs(target[rows] - target[:, None])
    differing = float(differences.sum())
    alike = differences.size - differing
    # Without a pair that differs, or that does not, all numerators of its term are 0.
    weights = differences / (differing or 1.0) - (1 - differences) / (alike or 1.0)
    numeric, nominal = np.empty(varying.numeric.size), np.empty(varying.nominal.size)
    _by_feature(varying, "sums", (rows, weights), threads, numeric, nominal)
    return varying.scattered(numeric, nominal)


def _in_range(values: Scores) -> Scores:
    """Return numbers that vary, scaled to 0..1."""
    low, high = values.min(), values.max()
    half = 0.5 if high / 2 - low / 2 > np.finfo(np.float64).max / 2 else 1.0  # as in `scaled_to_range`
    return np.asarray((values * half - low * half) / (high * half - low * half))


def _by_feature(varying: Varying, kind: str, data: Any, threads: int, numeric: Scores, nominal: Scores) -> None:
    """Fill the features' scores with the kernels for several numeric features side by side and for a nominal one."""
    # A feature's differences are added in one order, so that the sum depends on neither groups nor threads.
    kernels, width = _kernels.relief, _kernels.relief.LANES
    lanes = -(-numeric.size // width)

    def work(_: int, task: int) -> None:
        if task < lanes:
            first, last = task * width, min((task + 1) * width, numeric.size)
            getattr(kernels, f"numeric_{kind}")(varying.scaled, first, last, *data, numeric)
        else:
            getattr(kernels, f"nominal_{kind}")(varying.codes, varying.unknown, task - lanes, *data, nominal)

    spread(lanes + nominal.size, work, threads)


@dataclass(frozen=True, eq=False)
class Varying:
    """The features that vary, one row per feature, instances in a given order; and their positions in the table.

    `scaled` holds numbers from 0 to 1 (NaN: missing), `codes` categories (-1: missing), `unknown` the difference to a
    missing category, and `halves` half the number of missing numbers in each row.
    """

    scaled: Scores
    codes: NDArray[np.int32]
    unknown: Scores
    halves: Scores
    numeric: NDArray[np.int64]
    nominal: NDArray[np.int64]
    features: int

    def scattered(self, numeric: Scores, nominal: Scores) -> Scores:
        """Return the scores of all features: 0 for those that do not vary."""
        scores = np.zeros(self.features)
        scores[self.numeric] = numeric
        scores[self.nominal] = nominal
        return scores


@dataclass(frozen=True, eq=False)
class _Group:
    """Class pairs whose neighbour lists are in memory together; see the kernels for strips and sides."""

    strips: NDArray[np.int64]
    sides: NDArray[np.int64]
    weights: Scores
    cells: int


def scaled_to_range(features: Features, order: NDArray[np.int64]) -> Varying:
    """Put the rows in order, scale the numbers to their range, and drop what does not vary."""
    values = features.values
    low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    varies = low < high
    numeric = np.flatnonzero(varies & ~features.categorical)
    nominal = np.flatnonzero(varies & features.categorical)
    # A range may overflow where its half does not; halves are exact except for the smallest numbers.
    half = np.where(high / 2 - low / 2 > np.finfo(np.float64).max / 2, 0.5, 1.0)
    scaled, halves = np.empty((numeric.size, order.size)), np.zeros(order.size)
    for first in range(0, numeric.size, FEATURES_AT_ONCE):
        block = numeric[first : first + FEATURES_AT_ONCE]
        bottom, top = low[block] * half[block], high[block] * half[block]
        rows = values[:, block][order] * half[block]
        scaled[first : first + FEATURES_AT_ONCE] = ((rows - bottom) / (top - bottom)).T
        halves += 0.5 * np.isnan(rows).sum(axis=1)
    codes = np.full((nominal.size, order.size), -1, np.int32)
    for row, column in zip(codes, nominal, strict=True):
        known = ~np.isnan(values[order, column])
        row[known] = renumbered(values[order, column][known].astype(np.int32))
    unknown = 1 - 1 / (codes.max(axis=1, initial=0) + 1)
    return Varying(scaled, codes, unknown, halves, numeric, nominal, features.categorical.size)


def _groups(counts: NDArray[np.int64], k: int, width: int, threads: int, *, average: bool) -> Iterator[_Group]:
    """Yield all class pairs, as many together as their neighbour lists leave room for."""
    firsts, seconds = np.triu_indices(counts.size)
    lists = np.where(firsts == seconds, counts[firsts], counts[firsts] + counts[seconds])
    most = max(1, LIST_BYTES // (12 * width * threads))
    start = 0
    while start < firsts.size:
        end = start + max(1, int(np.searchsorted(np.cumsum(lists[start:]), most, side="right")))
        pairs = np.column_stack((firsts[start:end], seconds[start:end])).tolist()
        yield _group(counts, pairs, k, average=average)
        start = end


def _group(counts: NDArray[np.int64], pairs: list[list[int]], k: int, *, average: bool) -> _Group:
    """Cut class pairs into strips, and weigh the differences between their sides."""
    sizes, tile = counts.tolist(), _kernels.relief.TILE
    starts = (np.cumsum(counts) - counts).tolist()
    n, cells = sum(sizes), 0
    strips, sides, weights = [], [], []
    for a, b in pairs:
        start, other, other_end = starts[a], starts[b], starts[b] + sizes[b]
        # The rows of class a have their cells first; those of class b follow, unless they are the same.
        cells_b = cells if a == b else cells + sizes[a]
        for row in range(0, sizes[a], tile):
            # Within a class every pair of tiles is met once: from the diagonal on.
            skip = row if a == b else 0
            rows = (start + row, start + min(row + tile, sizes[a]))
            strips.append((*rows, other + skip, other_end, cells + row, cells_b + skip))
        for side, nearby, cell in dict.fromkeys(((a, b, cells), (b, a, cells_b))):
            used = min(k, sizes[nearby] - (a == b))
            if used == k or (average and used):
                share = -1.0 if a == b else sizes[nearby] / (n - sizes[side])
                sides.append((starts[side], starts[side] + sizes[side], cell, used))
                weights.append(share / (n * used))
        cells = cells_b + sizes[b]
    return _Group(np.array(strips, np.int64), np.array(sides, np.int64).reshape(-1, 4), np.array(weights), cells)


def _row_pairs(counts: NDArray[np.int64]) -> int:
    """Return the number of row pairs in all strips: those of a class overlap on its diagonal."""
    tile = _kernels.relief.TILE
    inside: int = sum(min(tile, left) * left for count in counts.tolist() for left in range(count, 0, -tile))
    return inside + (int(counts.sum()) ** 2 - int((counts**2).sum())) // 2


def _nearest(varying: Varying, group: _Group, width: int, threads: int, finished: Any) -> NDArray[np.int32]:
    """Return the rows in the group's cells, nearest first (-1 beyond a cell's end)."""
    strips, features = group.strips, max(1, varying.numeric.size + varying.nominal.size)
    areas = (strips[:, 1] - strips[:, 0]) * (strips[:, 3] - strips[:, 2])
    tasks = np.cumsum(areas * features) // TASK_DIFFERENCES
    bounds = [0, *(np.flatnonzero(np.diff(tasks)) + 1).tolist(), len(areas)]
    workers = min(threads, len(bounds) - 1)
    near = np.full((workers, group.cells, width), np.inf)
    rows = np.full((workers, group.cells, width), -1, np.int32)

    def work(worker: int, task: int) -> None:
        part = slice(bounds[task], bounds[task + 1])
        table = (varying.scaled, varying.codes, varying.unknown, varying.halves)
        _kernels.relief.nearest(*table, strips[part], near[worker], rows[worker])
        finished(int(areas[part].sum()))

    spread(len(bounds) - 1, work, workers)
    _kernels.relief.merge(near, rows, group.cells)
    return np.asarray(rows[0])
