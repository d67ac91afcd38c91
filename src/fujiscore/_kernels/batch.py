"""Many pairs of lists at once: each pair is sorted, matched and swept as one pair alone would be.

Lists follow each other in flat arrays: list q is start[q] to start[q + 1]. Items are integers from 0.
"""

from __future__ import annotations

import numpy as np

from fujiscore._kernels._jit import kernel
from fujiscore._kernels.order import descending, tie_bounds
from fujiscore._kernels.sweep import overlap

# Columns of a point's row.
SHARED, SIZE_R, SIZE_S, FUJI, FUJI_HIGH, TAIL_R, TAIL_S, COLUMNS = 0, 1, 2, 3, 4, 5, 8, 11


@kernel
def sort(scores, order, ranked, packed, spare):
    """Write the stable descending order and the scores in it; most lists come sorted."""
    falls = True
    for i in range(1, scores.size):
        falls &= scores[i - 1] >= scores[i]
    if not falls:
        descending(scores, order, ranked, packed, spare)
        return
    for i in range(scores.size):
        order[i] = i
        ranked[i] = scores[i]


@kernel
def match(items_r, order_r, items_s, order_s, place, s_rank, r_rank):
    """Write each item's rank in the other list, and return the number of items of both, or -1 if one is repeated.

    Items that a list lacks follow its own. `place` is -1 for every item, before and after.
    """
    n_r, n_s = order_r.size, order_s.size
    repeated = False
    for p in range(n_r):
        item = items_r[order_r[p]]
        repeated |= place[item] >= 0
        place[item] = p
        s_rank[p] = -1
    n = n_r
    for q in range(n_s):
        item = items_s[order_s[q]]
        p = place[item]
        if p < 0:
            p = n
            place[item] = p
            n += 1
        elif p >= n_r or s_rank[p] >= 0:
            repeated = True
        s_rank[p] = q
        r_rank[q] = p
    rest = n_s
    for p in range(n_r):
        if s_rank[p] < 0:
            s_rank[p] = rest
            r_rank[rest] = p
            rest += 1
    for item in items_r:
        place[item] = -1
    for item in items_s:
        place[item] = -1
    return -1 if repeated else n


@kernel
def fill(ranked, listed, last):
    """Count negative scores as 0, and give the items that a list lacks its last score, or 0."""
    for i in range(listed):
        ranked[i] = max(ranked[i], 0.0)
    for i in range(listed, ranked.size):
        ranked[i] = ranked[listed - 1] if last else 0.0


@kernel
def agreements(s_rank, r_rank, up_to_r, up_to_s, depth, out):
    """Write the agreement 2h / (k1 + k2) at each depth, with all items that tie."""
    c1 = c2 = h = 0
    for d in range(depth):
        while c1 < up_to_r[d]:
            h += s_rank[c1] < c2
            c1 += 1
        while c2 < up_to_s[d]:
            h += r_rank[c2] < c1
            c2 += 1
        out[d] = 2.0 * h / (c1 + c2)


@kernel
def by_depth(agreement, path, persistence, out):
    """Write, at each point, extrapolated RBO for each persistence; for 0, average overlap."""
    for i in range(persistence.size):
        p = persistence[i]
        total = 0.0
        weight = 1.0
        d = 0
        for j in range(path.size):
            while d < path[j]:
                if d > 0:
                    weight *= p
                total += agreement[d] * (weight if p > 0.0 else 1.0)
                d += 1
            out[j, i] = (1.0 - p) * total + agreement[d - 1] * weight * p if p > 0.0 else total / d


@kernel
def closed_sizes(up_to, path, closed, out):
    """Write the set sizes along a path, with all items that tie with the last one where ties are closed."""
    for j in range(path.size):
        out[j] = up_to[path[j] - 1] if closed else path[j]


@kernel
def tail(ranked, size, universe, zero_tail, out):
    """Write mean, variance and third central moment of the memberships outside a set.

    The items of the universe that neither list has are at 0.
    """
    kth, number = ranked[size - 1], max(universe, ranked.size) - size
    out[0], out[1], out[2] = zero_tail, 0.0, 0.0
    if kth <= 0.0 or number == 0:
        return
    total = 0.0
    for i in range(size, ranked.size):
        total += ranked[i] / kth
    mean = total / number
    second = third = 0.0
    for i in range(size, ranked.size):
        apart = ranked[i] / kth - mean
        second += apart * apart
        third += apart * apart * apart
    unseen = number - (ranked.size - size)
    out[0], out[1], out[2] = mean, (second + unseen * mean**2) / number, (third - unseen * mean**3) / number


@kernel
def one_pair(
    items_r, scores_r, items_s, scores_s, path, place, closed, zero_tail, persistence, universe, work, points, depths
):
    """Write a pair's rows, and return the number of its items, or -1 if a list repeats one."""
    whole, real, keys = work
    n_r, n_s, size = items_r.size, items_s.size, path.size
    order_r, order_s, s_rank, r_rank = whole[0, :n_r], whole[1, :n_s], whole[2], whole[3]
    ranked_r, ranked_s = real[0], real[1]
    sort(scores_r, order_r, ranked_r[:n_r], keys[0, :n_r], keys[1, :n_r])
    sort(scores_s, order_s, ranked_s[:n_s], keys[0, :n_s], keys[1, :n_s])
    n = match(items_r, order_r, items_s, order_s, place, s_rank, r_rank)
    if n < 0:
        return n
    s_rank, r_rank = s_rank[:n], r_rank[:n]
    up_to_r, up_to_s = whole[4, :n_r], whole[5, :n_s]
    tie_bounds(ranked_r[:n_r], whole[6, :n_r], up_to_r)
    tie_bounds(ranked_s[:n_s], whole[6, :n_s], up_to_s)
    k1, k2, shared, fuji = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size)
    closed_sizes(up_to_r, path, closed, k1)
    closed_sizes(up_to_s, path, closed, k2)
    ranked_r, ranked_s = ranked_r[:n], ranked_s[:n]
    fill(ranked_r, n_r, False)
    fill(ranked_s, n_s, False)
    overlap(s_rank, r_rank, ranked_r, ranked_s, k1, k2, zero_tail, shared, fuji)
    for j in range(size):
        points[j, SHARED], points[j, SIZE_R], points[j, SIZE_S], points[j, FUJI] = shared[j], k1[j], k2[j], fuji[j]
    if persistence.size:
        if not closed:
            for d in range(path[-1]):
                up_to_r[d] = up_to_s[d] = d + 1
        agreements(s_rank, r_rank, up_to_r, up_to_s, path[-1], real[2])
        by_depth(real[2], path, persistence, depths)
    if universe >= 0:
        for j in range(size):
            tail(ranked_r, k1[j], universe, zero_tail, points[j, TAIL_R:TAIL_S])
            tail(ranked_s, k2[j], universe, zero_tail, points[j, TAIL_S:COLUMNS])
        fill(ranked_r, n_r, True)
        fill(ranked_s, n_s, True)
        overlap(s_rank, r_rank, ranked_r, ranked_s, k1, k2, zero_tail, shared, fuji)
        for j in range(size):
            points[j, FUJI_HIGH] = max(fuji[j], points[j, FUJI])
    return n


@kernel(cost=60)
def overlaps(
    start_r, items_r, scores_r, start_s, items_s, scores_s, first, paths, place, closed, zero_tail, persistence, universe,
    sizes, points, depths,
):  # fmt: skip
    """Write for each pair, along its path, what measures are formulas of; return the first pair that repeats an item.

    The path of pair q is first[q] to first[q + 1] of `paths`; so are its rows of `points` (see above) and `depths`
    (by persistence). `sizes` takes the number of items that the two lists have together. Upper bounds and
    tail moments are computed unless the universe is -1 (0: it is unknown). Returns -1 if no pair repeats an item.
    """
    longest = 1
    for q in range(first.size - 1):
        longest = max(longest, start_r[q + 1] - start_r[q] + start_s[q + 1] - start_s[q])
    work = np.empty((7, longest), np.int32), np.empty((3, longest)), np.empty((2, longest), np.uint64)
    for q in range(first.size - 1):
        a, b = start_r[q], start_r[q + 1]
        c, d = start_s[q], start_s[q + 1]
        e, f = first[q], first[q + 1]
        sizes[q] = b - a + d - c
        if e < f:
            sizes[q] = one_pair(
                items_r[a:b], scores_r[a:b], items_s[c:d], scores_s[c:d], paths[e:f], place, closed, zero_tail,
                persistence, universe, work, points[e:f], depths[e:f],
            )  # fmt: skip
            if sizes[q] < 0:
                return q
    return -1
