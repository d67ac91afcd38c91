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
def fill(level_r, level_s, r, s, even, odd, width):
    """Add every item into the cell of its two levels, four numbers wide: one, and both scores."""
    # Neighbouring items often share a cell, and an addition there has to wait for the one before: even and odd items
    # have tables of their own, which takes two thirds of the time. Unsigned indices need no wrap-around test.
    n = r.size
    width = np.uint64(width)
    for x in range(0, n - 1, 2):
        a = np.uint64(4) * (level_r[x] * width + level_s[x])
        b = np.uint64(4) * (level_r[x + 1] * width + level_s[x + 1])
        even[a] += 1.0
        odd[b] += 1.0
        even[a + np.uint64(1)] += r[x]
        odd[b + np.uint64(1)] += r[x + 1]
        even[a + np.uint64(2)] += s[x]
        odd[b + np.uint64(2)] += s[x + 1]
    if n % 2:
        a = np.uint64(4) * (level_r[n - 1] * width + level_s[n - 1])
        even[a] += 1.0
        even[a + np.uint64(1)] += r[n - 1]
        even[a + np.uint64(2)] += s[n - 1]


@kernel(cost=5)
def overlap(level_r, level_s, r, s, kth_r, kth_s, zero_tail, shared, fuji):
    """Write the number of shared items and FUJI at every grid point."""
    # The scores are not negative; `kth_r[j]` and `kth_s[j]` are the last scores of the j-th sets.
    size = kth_r.size
    even = np.zeros(4 * (size + 1) * (size + 1))
    odd = np.zeros(4 * (size + 1) * (size + 1))
    fill(level_r, level_s, r, s, even, odd, size + 1)
    even += odd
    cells = even.reshape((size + 1, size + 1, 4))
    counts, sums_r, sums_s = cells[:, :, 0], cells[:, :, 1], cells[:, :, 2]
    # Turn each row of sums_s into suffix sums, and each column of sums_r, so that misses[j] adds j + 1 cells.
    for a in range(size + 1):
        for b in range(size - 1, -1, -1):
            sums_s[a, b] += sums_s[a, b + 1]
            sums_r[b, a] += sums_r[b + 1, a]
    inside_r = inside_s = h = 0.0
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


@kernel(cost=5, items=lambda rows, _, levels_r, *_rest: rows.size * levels_r.shape[1])
def pairs(rows, columns, levels_r, levels_s, r, s, kth_r, kth_s, zero_tail, shared, fuji):
    """Write `overlap` for many pairs: row rows[i] of the first arrays against row columns[i] of the second."""
    for i in range(rows.size):
        a = rows[i]
        b = columns[i]
        overlap(levels_r[a], levels_s[b], r[a], s[b], kth_r[a], kth_s[b], zero_tail, shared[i], fuji[i])
