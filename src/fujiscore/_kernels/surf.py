"""SURF and MultiSURF: the differences to all instances within a radius, a strip of rows at a time."""

from __future__ import annotations

import numpy as np

from fujiscore._kernels._jit import kernel
from fujiscore._kernels.relief import CHUNK, TILE, load, tile_distances

# Distances that differ by less, relatively, are equal up to rounding: an instance on the radius is outside.
TOLERANCE = 1e-10


@kernel
def strip_distances(z, codes, unknown, halves, start, end, lines):
    """Write the distances between rows start..end, at most TILE, and all rows, one line per row."""
    n = lines.shape[1]
    left = np.zeros((CHUNK, TILE))
    right = np.zeros((CHUNK, TILE))
    distances = np.empty((TILE, TILE))
    for other in range(0, n, TILE):
        last = min(other + TILE, n)
        tile_distances(z, codes, unknown, halves, start, end, other, last, left, right, distances)
        for i in range(end - start):
            lines[i, other:last] = distances[i, : last - other]


@kernel
def in_order(values):
    """Return the sum of the values, added in their order, compiled or not."""
    total = 0.0
    for j in range(values.size):
        total += values[j]
    return total


@kernel
def sum_lines(lines, start, out):
    """Write the sum of each row's distances to the other rows."""
    for i in range(lines.shape[0]):
        line = lines[i]
        total = 0.0
        for j in range(line.size):
            if j != start + i:
                total += line[j]
        out[i] = total


@kernel
def radius(line, row):
    """Return MultiSURF's radius: the mean distance to the other rows less half of the standard deviation."""
    total = 0.0
    for j in range(line.size):
        if j != row:
            total += line[j]
    mean = total / (line.size - 1)
    total = 0.0
    for j in range(line.size):
        if j != row:
            total += (line[j] - mean) * (line[j] - mean)
    return mean - np.sqrt(total / (line.size - 1)) / 2


@kernel
def near_weights(lines, start, target, bound, limit):
    """Replace distances by weights: those of a row's near hits sum to -1 / n, of its near misses to 1 / n."""
    # Near is nearer than `limit`, or than the row's own radius if that is NaN. A hit has a target that is less than
    # `bound` away.
    n = lines.shape[1]
    for i in range(lines.shape[0]):
        line = lines[i]
        row = start + i
        within = (limit if limit == limit else radius(line, row)) * (1 - TOLERANCE)
        hits = 0
        misses = 0
        for j in range(n):
            if line[j] < within and j != row:
                if abs(target[j] - target[row]) < bound:
                    hits += 1
                else:
                    misses += 1
        for j in range(n):
            if line[j] < within and j != row:
                line[j] = -1.0 / (n * hits) if abs(target[j] - target[row]) < bound else 1.0 / (n * misses)
            else:
                line[j] = 0.0


@kernel
def numeric_sums(z, start, end, weights, out):
    """Write the weighted differences between rows start..end and all rows, of the numeric features."""
    n, rows = z.shape[1], end - start
    left = np.zeros((CHUNK, TILE))
    right = np.zeros((CHUNK, TILE))
    totals = np.empty((CHUNK, TILE))
    for first in range(0, z.shape[0], CHUNK):
        last = min(first + CHUNK, z.shape[0])
        load(z, first, last, start, end, left)
        totals[:] = 0.0
        for other in range(0, n, TILE):
            columns = min(TILE, n - other)
            load(z, first, last, other, other + columns, right)
            for f in range(last - first):
                theirs, total = right[f, :columns], totals[f, :columns]
                for i in range(rows):
                    mine = left[f, i]
                    line = weights[i, other : other + columns]
                    for j in range(line.size):
                        total[j] += line[j] * abs(mine - theirs[j])
        for f in range(first, last):
            out[f] = in_order(totals[f - first])
    by_column = np.zeros(n)
    for i in range(rows):
        by_column += weights[i]
    for f in range(z.shape[0]):
        # Every missing side adds 0.5, as in `relief`.
        for j in range(n):
            if z[f, j] != z[f, j]:
                out[f] += 0.5 * by_column[j]
        for i in range(rows):
            if z[f, start + i] != z[f, start + i]:
                out[f] += 0.5 * in_order(weights[i])


@kernel
def nominal_sums(codes, unknown, start, end, weights, out):
    """Write the same of the nominal features."""
    n = codes.shape[1]
    total = np.empty(n)
    for f in range(codes.shape[0]):
        theirs = codes[f]
        total[:] = 0.0
        for i in range(end - start):
            mine = codes[f, start + i]
            line = weights[i]
            for j in range(n):
                difference = 1.0 if mine != theirs[j] else 0.0
                total[j] += line[j] * (unknown[f] if min(mine, theirs[j]) < 0 else difference)
        out[f] = in_order(total)
