"""The overlap at a sparse grid of set sizes: one streaming pass into a small table, and no subtraction."""

from __future__ import annotations

import numpy as np

from fujiscore._kernels._jit import kernel
from fujiscore._kernels.sweep import memberships


@kernel
def levels(order, sizes, out):
    """Write, for each item, the index of the first set of the growing sizes that holds it (sizes.size if none)."""
    start = 0
    for j in range(sizes.size):
        for p in range(start, sizes[j]):
            out[order[p]] = j
        start = sizes[j]
    for p in range(start, order.size):
        out[order[p]] = sizes.size


@kernel
def table(level_r, level_s, r, s, counts, sums_r, sums_s):
    """Add every item into the cell (its level in r, its level in s): one, and both scores."""
    for x in range(r.size):
        a = level_r[x]
        b = level_s[x]
        counts[a, b] += 1
        sums_r[a, b] += max(r[x], 0.0)
        sums_s[a, b] += max(s[x], 0.0)


@kernel
def overlap(level_r, level_s, r, s, kth_r, kth_s, zero_tail, shared, fuji):
    """Write the number of shared items and FUJI at every grid point.

    `kth_r[j]` and `kth_s[j]` are the last scores of the j-th sets.
    """
    size = kth_r.size
    counts = np.zeros((size + 1, size + 1), np.int64)
    sums_r = np.zeros((size + 1, size + 1))
    sums_s = np.zeros((size + 1, size + 1))
    table(level_r, level_s, r, s, counts, sums_r, sums_s)
    # Turn each row of sums_s into suffix sums, and each column of sums_r, so that misses[j] adds j + 1 cells.
    for a in range(size + 1):
        for b in range(size - 1, -1, -1):
            sums_s[a, b] += sums_s[a, b + 1]
            sums_r[b, a] += sums_r[b + 1, a]
    inside_r = inside_s = h = 0
    for j in range(size):
        for i in range(j):
            h += counts[i, j] + counts[j, i]
        h += counts[j, j]
        for i in range(size + 1):
            inside_r += counts[j, i]
            inside_s += counts[i, j]
        misses_r = misses_s = 0.0
        for i in range(j + 1):
            misses_r += sums_s[i, j + 1]
            misses_s += sums_r[j + 1, i]
        credit = memberships(misses_r, kth_s[j], inside_r - h, zero_tail)
        credit += memberships(misses_s, kth_r[j], inside_s - h, zero_tail)
        shared[j] = h
        fuji[j] = (h + credit) / (inside_r + inside_s - h)
