"""Estimates of mutual information by sorting: neighbours on a line are adjacent.

Ross's of a number and a class, and Kraskov's of two numbers.
"""

from __future__ import annotations

import numpy as np

from fujiscore._kernels._jit import kernel

# Values counted at once, in vector registers.
BLOCK = 8
# The least positive number: equal values are nearer than it.
LEAST = 5e-324


@kernel
def kth_distance(values, position, k):
    """Return the distance from one of the sorted values to its k-th nearest other: the best of k + 1 windows."""
    best = np.inf
    for start in range(max(0, position - k), min(position, values.size - 1 - k) + 1):
        best = min(best, max(values[position] - values[start], values[start + k] - values[position]))
    return best


@kernel
def reach(values, position, distance, step):
    """Return how many sorted values on one side (step 1 or -1) are nearer than `distance`, or equal; galloping."""
    room = values.size - 1 - position if step > 0 else position
    inside = 0  # known to be near
    outside = 1  # to be tried, then known to be too far
    while outside <= room:
        gap = abs(values[position + step * outside] - values[position])
        if gap >= distance and gap > 0.0:
            break
        inside = outside
        outside = 2 * outside
    outside = min(outside, room + 1)
    while outside - inside > 1:
        middle = (inside + outside) // 2
        gap = abs(values[position + step * middle] - values[position])
        if gap < distance or gap == 0.0:
            inside = middle
        else:
            outside = middle
    return inside


@kernel
def mean_digamma(x, order, codes, starts, ends, neighbours, digamma, out):
    """Write, for each feature, the mean digamma of the number of points nearer than the k-th of the own class."""
    # `order` sorts each feature's values x (feature, row); class c takes places starts[c]..ends[c], and a class of one
    # member none. `digamma[m]` is the digamma function of m.
    rows = order.shape[1]
    line = np.empty(rows)  # all values, sorted
    grouped = np.empty(rows)  # the same, sorted within each class
    places = np.empty(rows, np.int64)  # where in the line a grouped value is
    filled = np.empty(starts.size, np.int64)
    for f in range(x.shape[0]):
        filled[:] = starts
        for p in range(rows):
            row = order[f, p]
            value = x[f, row]
            slot = filled[codes[row]]
            filled[codes[row]] += 1
            line[p] = value
            grouped[slot] = value
            places[slot] = p
        total = 0.0
        for c in range(starts.size):
            members = grouped[starts[c] : ends[c]]
            k = min(neighbours, members.size - 1)
            for position in range(members.size):
                distance = kth_distance(members, position, k)
                place = places[starts[c] + position]
                total += digamma[1 + reach(line, place, distance, 1) + reach(line, place, distance, -1)]
        out[f] = total / rows


@kernel
def put(distance, near):
    """Put a distance into a sorted list in place of the last; return the one that is last now."""
    place = near.size - 1
    while place > 0 and near[place - 1] > distance:
        near[place] = near[place - 1]
        place -= 1
    near[place] = distance
    return near[near.size - 1]


@kernel
def offer_slab(xs, ys, left, right, x, y, near, furthest):
    """Offer a slab's points to a point's list of the nearest: outward in x from left and right, while near enough."""
    # Returns the last distance of the list, as `furthest` is before.
    while x - xs[left] < furthest:
        gap = abs(ys[left] - y)
        if gap < furthest:
            furthest = put(max(gap, x - xs[left]), near)
        left -= 1
    while xs[right] - x < furthest:
        gap = abs(ys[right] - y)
        if gap < furthest:
            furthest = put(max(gap, xs[right] - x), near)
        right += 1
    return furthest


@kernel
def inside(line, place, distance):
    """Return how many of the sorted values are nearer to one of them than `distance`, itself included."""
    # BLOCK infinite values at either end of the line let blocks be counted whole.
    value = line[place]
    start = place + 1
    while line[start + BLOCK - 1] - value < distance:
        start += BLOCK
    number = start - place
    for p in range(start, start + BLOCK):
        number += int(line[p] - value < distance)
    start = place - BLOCK
    while value - line[start] < distance:
        start -= BLOCK
    number += place - BLOCK - start
    for p in range(start, start + BLOCK):
        number += int(value - line[p] < distance)
    return number


@kernel
def fill_slabs(x, order, y, size, xs, ys, line, fronts):
    """Sort one feature: into the line, and by x within slabs of `size` points that are adjacent in y."""
    fronts[:] = 1
    for p in range(order.size):
        point = order[p]
        slab = point // size
        line[BLOCK + p] = x[point]
        xs[slab, fronts[slab]] = x[point]
        ys[slab, fronts[slab]] = y[point]
        fronts[slab] += 1
    for slab in range(fronts.size):
        xs[slab, 0] = -np.inf
        xs[slab, fronts[slab]] = np.inf


@kernel
def joint_distance(x, y, point, slab, size, xs, ys, fronts, near):
    """Return the distance of a point to its k-th nearest other (k = near.size): the larger of the gaps in x and y."""
    # Slabs are visited outward from the point's own until their gap in y is too large. `fronts` says how many points of
    # each slab are left of x, as points come in order of x; y[point] is the point's own.
    value = y[point]
    near[:] = np.inf
    furthest = offer_slab(xs[slab], ys[slab], fronts[slab] - 1, fronts[slab] + 1, x, value, near, np.inf)
    above, below = slab + 1, slab - 1
    while above < fronts.size and y[above * size] - value < furthest:
        furthest = offer_slab(xs[above], ys[above], fronts[above] - 1, fronts[above], x, value, near, furthest)
        above += 1
    while below >= 0 and value - y[below * size + size - 1] < furthest:
        furthest = offer_slab(xs[below], ys[below], fronts[below] - 1, fronts[below], x, value, near, furthest)
        below -= 1
    return furthest


@kernel
def mean_digammas(x, order, y, k, digamma, out):
    """Write, for each feature, the mean of the digammas, in sum, of how many points are nearer in x and in y."""
    # Nearer than the k-th nearest, as in `joint_distance`. Points are sorted by y, and `order` sorts each feature's
    # values x (feature, point). A slab of about sqrt(n) points costs as much to enter as its points near x to visit.
    n = y.size
    size = max(8, int(0.8 * np.sqrt(n * k)))
    slabs = (n + size - 1) // size
    xs = np.empty((slabs, size + 2))
    ys = np.zeros((slabs, size + 2))
    fronts = np.empty(slabs, np.int64)
    near = np.empty(k)
    line = np.full(n + 2 * BLOCK, np.inf)
    line[:BLOCK] = -np.inf
    line_y = line.copy()
    line_y[BLOCK : BLOCK + n] = y
    for f in range(x.shape[0]):
        fill_slabs(x[f], order[f], y, size, xs, ys, line, fronts)
        fronts[:] = 1
        total = 0.0
        for p in range(n):
            point = order[f, p]
            slab = point // size
            distance = joint_distance(x[f, point], y, point, slab, size, xs, ys, fronts, near)
            fronts[slab] += 1
            distance = max(distance, LEAST)
            total += digamma[inside(line, BLOCK + p, distance)] + digamma[inside(line_y, BLOCK + point, distance)]
        out[f] = total / n
