"""Relief: nearest neighbours in Manhattan distance, tile by tile, and the differences they add to each feature.

Rows are sorted by class. A *strip* is up to TILE rows of one class against the rows of one class, and a *cell* is
the list of the k nearest that one row has in one class, sorted by (distance, row): the same lists whatever the order
in which candidates come, so whatever the threads.

A missing numeric value differs from t by max(t, 1 - t) = |0.5 - t| + 0.5, and from a missing one by 1 = 0 + 0.5 + 0.5:
it is read as 0.5, and every missing side adds 0.5.
"""

from __future__ import annotations

import numpy as np

from fujiscore._kernels._jit import kernel

TILE = 128
# A chunk of 32 features of a tile is 32 KB: it stays in the first-level cache while 128 rows pass over it.
CHUNK = 32
# Features whose differences are summed side by side, in vector registers.
LANES = 16


@kernel
def load(z, first, last, start, end, out):
    """Copy features first..last of rows start..end, missing as 0.5; features beyond the last become 0."""
    for f in range(first, last):
        source = z[f, start:end]
        target = out[f - first]
        for i in range(source.size):
            value = source[i]
            target[i] = 0.5 if value != value else value
    out[last - first :] = 0.0


@kernel
def add_numeric(left, right, features, rows, columns, distances):
    """Add the differences of a chunk of features, in their order."""
    # Two rows and four features a pass keep the sums in registers and load each value once for both rows; a row beyond
    # an odd number of rows, and features up to a multiple of four, hold nothing of use.
    for i in range(0, rows, 2):
        line, next_line = distances[i], distances[i + 1]
        for f in range(0, features, 4):
            a0, a1, a2, a3 = left[f, i], left[f + 1, i], left[f + 2, i], left[f + 3, i]
            b0, b1, b2, b3 = left[f, i + 1], left[f + 1, i + 1], left[f + 2, i + 1], left[f + 3, i + 1]
            for j in range(columns):
                c0, c1, c2, c3 = right[f, j], right[f + 1, j], right[f + 2, j], right[f + 3, j]
                total = line[j] + abs(a0 - c0)
                total += abs(a1 - c1)
                total += abs(a2 - c2)
                total += abs(a3 - c3)
                next_total = next_line[j] + abs(b0 - c0)
                next_total += abs(b1 - c1)
                next_total += abs(b2 - c2)
                next_total += abs(b3 - c3)
                line[j] = total
                next_line[j] = next_total


@kernel
def add_nominal(codes, unknown, start, end, other, other_end, distances):
    """Add 1 where the categories differ, and a feature's `unknown` where one is missing (-1)."""
    for f in range(codes.shape[0]):
        theirs = codes[f, other:other_end]
        for i in range(start, end):
            a = codes[f, i]
            line = distances[i - start]
            for j in range(theirs.size):
                difference = 1.0 if a != theirs[j] else 0.0
                line[j] += unknown[f] if min(a, theirs[j]) < 0 else difference


@kernel
def tile_distances(z, codes, unknown, halves, start, end, other, other_end, left, right, distances):
    """Write the distances between rows start..end and other..other_end."""
    # Whole vectors are faster than a remainder: up to seven columns more hold nothing of use.
    columns = (other_end - other + 7) // 8 * 8
    distances[: end - start + 1, :columns] = 0.0
    for first in range(0, z.shape[0], CHUNK):
        last = min(first + CHUNK, z.shape[0])
        load(z, first, last, start, end, left)
        load(z, first, last, other, other_end, right)
        add_numeric(left, right, last - first, end - start, columns, distances)
    add_nominal(codes, unknown, start, end, other, other_end, distances)
    theirs = halves[other:other_end]
    for i in range(start, end):
        line = distances[i - start]
        for j in range(theirs.size):
            line[j] += halves[i] + theirs[j]


@kernel
def insert(distance, row, near, rows):
    """Put a candidate into a cell sorted by (distance, row), if it is nearer than the last there."""
    place = near.size - 1
    if distance > near[place] or (distance == near[place] and row > rows[place]):
        return
    while place > 0 and (near[place - 1] > distance or (near[place - 1] == distance and rows[place - 1] > row)):
        near[place] = near[place - 1]
        rows[place] = rows[place - 1]
        place -= 1
    near[place] = distance
    rows[place] = row


@kernel
def offer(distances, start, other, other_end, near, rows):
    """Offer the rows other..other_end to the cells of the rows from start on, one cell a line of distances."""
    last = near.shape[1] - 1
    for i in range(near.shape[0]):
        cell = near[i]
        furthest = cell[last]
        line = distances[i, : other_end - other]
        for j in range(line.size):
            if line[j] <= furthest and start + i != other + j:
                insert(line[j], other + j, cell, rows[i])
                furthest = cell[last]


@kernel
def offer_back(distances, start, near, rows):
    """Offer the rows from start on, one a line of distances, to the cells of the other side."""
    last = near.shape[1] - 1
    furthest = np.empty(near.shape[0])
    furthest[:] = near[:, last]
    for i in range(distances.shape[0]):
        line = distances[i, : furthest.size]
        for j in range(line.size):
            if line[j] <= furthest[j]:
                insert(line[j], start + i, near[j], rows[j])
                furthest[j] = near[j, last]


@kernel
def nearest(z, codes, unknown, halves, strips, near, rows):
    """Fill the cells from strips (start, end, other, other_end, cell, other_cell)."""
    left = np.zeros((CHUNK, TILE))
    right = np.zeros((CHUNK, TILE))
    distances = np.empty((TILE, TILE))
    for strip in range(strips.shape[0]):
        start, end, other, other_end = strips[strip, 0], strips[strip, 1], strips[strip, 2], strips[strip, 3]
        cell, other_cell = strips[strip, 4], strips[strip, 5]
        mine = slice(cell, cell + end - start)
        for first in range(other, other_end, TILE):
            last = min(first + TILE, other_end)
            tile_distances(z, codes, unknown, halves, start, end, first, last, left, right, distances)
            offer(distances, start, first, last, near[mine], rows[mine])
            if first != start:  # a tile on the diagonal holds both directions
                theirs = slice(other_cell + first - other, other_cell + last - other)
                offer_back(distances[: end - start], start, near[theirs], rows[theirs])


@kernel
def merge(near, rows, cells):
    """Merge every worker's cells into the first worker's."""
    for worker in range(1, near.shape[0]):
        for cell in range(cells):
            for place in range(near.shape[2]):
                if rows[worker, cell, place] < 0:
                    break
                insert(near[worker, cell, place], rows[worker, cell, place], near[0, cell], rows[0, cell])


@kernel
def load_lanes(z, first, last, lanes, missing):
    """Copy features first..last side by side, missing as 0.5; return whether there are any missing."""
    some = False
    for f in range(first, last):
        source = z[f]
        for i in range(source.size):
            lost = source[i] != source[i]
            some |= lost
            lanes[i, f - first] = 0.5 if lost else source[i]
            missing[i, f - first] = 0.5 if lost else 0.0
    return some


@kernel
def numeric_scores(z, first, last, sides, weights, rows, out):
    """Add the weighted differences to numeric features first..last, at most LANES."""
    # A side is (first row, end, first cell, neighbours in a cell): rows of one class and their nearest in one class.
    lanes = np.zeros((z.shape[1], LANES))
    missing = np.zeros((z.shape[1], LANES))
    some = load_lanes(z, first, last, lanes, missing)
    for side in range(sides.shape[0]):
        start, end, cell, width = sides[side, 0], sides[side, 1], sides[side, 2], sides[side, 3]
        total = np.zeros(LANES)
        for i in range(start, end):
            for neighbour in range(width):
                j = rows[cell + i - start, neighbour]
                a, b = lanes[i], lanes[j]
                for f in range(LANES):
                    total[f] += abs(a[f] - b[f])
                if some:
                    for f in range(LANES):
                        total[f] += missing[i, f] + missing[j, f]
        for f in range(first, last):
            out[f] += weights[side] * total[f - first]


@kernel
def nominal_scores(codes, unknown, feature, sides, weights, rows, out):
    """Add the weighted differences to one nominal feature."""
    line = codes[feature]
    for side in range(sides.shape[0]):
        start, end, cell, width = sides[side, 0], sides[side, 1], sides[side, 2], sides[side, 3]
        differing = 0
        lost = 0
        for i in range(start, end):
            for neighbour in range(width):
                b = line[rows[cell + i - start, neighbour]]
                if min(line[i], b) < 0:
                    lost += 1
                elif line[i] != b:
                    differing += 1
        out[feature] += weights[side] * (differing + unknown[feature] * lost)


@kernel
def numeric_sums(z, first, last, rows, weights, out):
    """Write the differences to the neighbours rows[i] of each row i, weighted one by one, of numeric features."""
    lanes = np.zeros((z.shape[1], LANES))
    missing = np.zeros((z.shape[1], LANES))
    some = load_lanes(z, first, last, lanes, missing)
    total = np.zeros(LANES)
    for i in range(rows.shape[0]):
        for neighbour in range(rows.shape[1]):
            j, weight = rows[i, neighbour], weights[i, neighbour]
            a, b = lanes[i], lanes[j]
            for f in range(LANES):
                total[f] += weight * abs(a[f] - b[f])
            if some:
                for f in range(LANES):
                    total[f] += weight * (missing[i, f] + missing[j, f])
    out[first:last] = total[: last - first]


@kernel
def nominal_sums(codes, unknown, feature, rows, weights, out):
    """Write the same of one nominal feature."""
    line = codes[feature]
    total = 0.0
    for i in range(rows.shape[0]):
        for neighbour in range(rows.shape[1]):
            b = line[rows[i, neighbour]]
            if min(line[i], b) < 0:
                total += weights[i, neighbour] * unknown[feature]
            elif line[i] != b:
                total += weights[i, neighbour]
    out[feature] = total
