"""Ross's estimate of the mutual information of a number and a class, by sorting: neighbours on a line are adjacent."""

from __future__ import annotations

import numpy as np

from fujiscore._kernels._jit import kernel


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
    """Write, for each feature, the mean digamma of the number of points nearer than the k-th of the own class.

    `order` sorts each feature's values x (feature, row); class c takes places starts[c]..ends[c], and a class of one
    member none. `digamma[m]` is the digamma function of m.
    """
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
