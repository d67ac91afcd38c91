"""Permutation importance of one decision tree on its out-of-bag rows.

Node t of a tree sends a row to left[t] if its value of feature[t] is at most threshold[t], else to right[t]. A leaf's
feature is negative, and it predicts prediction[t]: the number of a class, or a quantity. `slot[t]` numbers the features
that the tree uses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fujiscore._kernels._jit import kernel
from fujiscore._kernels.random import GOLDEN, scramble


class Tree(NamedTuple):
    """A decision tree's arrays, one entry per node."""

    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    slot: np.ndarray
    prediction: np.ndarray


HALF = np.uint64(32)


@kernel
def permutation(seed, tree, feature, out):
    """Write a random permutation of 0, 1, ..., out.size - 1 that seed, tree and feature determine (Fisher-Yates)."""
    state = scramble(scramble(scramble(np.uint64(seed)) ^ np.uint64(tree)) ^ np.uint64(feature))
    for i in range(out.size):
        out[i] = i
    for i in range(out.size - 1, 0, -1):
        state += GOLDEN
        # A 32-bit fraction times i + 1: its bias is below out.size / 2^32.
        j = np.int64(((scramble(state) >> HALF) * np.uint64(i + 1)) >> HALF)
        out[i], out[j] = out[j], out[i]


@kernel
def leaf_of(x, row, tree):
    """Return the leaf where a row ends."""
    node = 0
    while tree.feature[node] >= 0:
        node = tree.left[node] if x[row, tree.feature[node]] <= tree.threshold[node] else tree.right[node]
    return node


@kernel
def error(prediction, actual, squared):
    """Return the error of one row: the squared difference of a quantity, or 1 for the wrong class."""
    difference = prediction - actual
    if squared:
        return difference * difference
    return 1.0 if difference != 0.0 else 0.0


@kernel
def uses(x, rows, tree, slots):
    """Return, slot by slot, the nodes on the rows' ways that use the feature."""
    # Slot s has places starts[s]..starts[s + 1] of `members` (positions in `rows`, each row's nodes from the root
    # down), `nodes` and `lefts` (whether the row goes left there); `leaves` is where each row ends.
    starts = np.zeros(slots + 1, np.int64)
    leaves = np.empty(rows.size, np.int32)
    for i in range(rows.size):
        node = 0
        while tree.feature[node] >= 0:
            starts[tree.slot[node] + 1] += 1
            node = tree.left[node] if x[rows[i], tree.feature[node]] <= tree.threshold[node] else tree.right[node]
        leaves[i] = node
    starts = np.cumsum(starts)
    filled = starts.copy()
    members = np.empty(starts[slots], np.int32)
    nodes = np.empty(starts[slots], np.int32)
    lefts = np.empty(starts[slots], np.bool_)
    for i in range(rows.size):
        node = 0
        while tree.feature[node] >= 0:
            place = filled[tree.slot[node]]
            filled[tree.slot[node]] = place + 1
            left = x[rows[i], tree.feature[node]] <= tree.threshold[node]
            members[place] = i
            nodes[place] = node
            lefts[place] = left
            node = tree.left[node] if left else tree.right[node]
    return starts, members, nodes, lefts, leaves


@kernel
def losses(x, columns, y, squared, rows, tree, used, seed, number, out):
    """Write by how much the errors of the rows increase, in sum, when a used feature is permuted."""
    # Only rows that meet the feature on their way can change, and only from the first node on where the permuted value
    # parts from the row's own way. `columns` is x transposed: permuted values come from all over one column, which fits
    # the cache where the rows do not.
    starts, members, nodes, lefts, leaves = uses(x, rows, tree, used.size)
    order = np.empty(rows.size, np.int32)
    for s in range(used.size):
        permutation(seed, number, used[s], order)
        column = columns[used[s]]
        parted = -1
        out[s] = 0.0
        for p in range(starts[s], starts[s + 1]):
            i = members[p]
            if i == parted:
                continue
            value = column[rows[order[i]]]
            node = nodes[p]
            left = value <= tree.threshold[node]
            if left == lefts[p]:
                continue
            parted = i
            row = rows[i]
            node = tree.left[node] if left else tree.right[node]
            while tree.feature[node] >= 0:
                current = value if tree.slot[node] == s else x[row, tree.feature[node]]
                node = tree.left[node] if current <= tree.threshold[node] else tree.right[node]
            out[s] += error(tree.prediction[node], y[row], squared)
            out[s] -= error(tree.prediction[leaves[i]], y[row], squared)


@kernel
def accumulated_losses(x, columns, y, squared, rows, tree, used, seed, number, out):
    """Write the same with no permutation undone: feature s is permuted in rows where those before it are already."""
    order = np.empty(rows.size, np.int32)
    values = np.empty((rows.size, used.size), x.dtype)
    before = 0.0
    for i in range(rows.size):
        before += error(tree.prediction[leaf_of(x, rows[i], tree)], y[rows[i]], squared)
        for s in range(used.size):
            values[i, s] = x[rows[i], used[s]]
    for s in range(used.size):
        permutation(seed, number, used[s], order)
        out[s] = -before
        for i in range(rows.size):
            values[i, s] = columns[used[s], rows[order[i]]]
        for i in range(rows.size):
            node = 0
            while tree.feature[node] >= 0:
                current = values[i, tree.slot[node]]
                node = tree.left[node] if current <= tree.threshold[node] else tree.right[node]
            out[s] += error(tree.prediction[node], y[rows[i]], squared)
