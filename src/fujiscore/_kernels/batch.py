"""Many pairs of lists at once: each pair is sorted, matched and swept as one pair alone would be.

Lists follow each other in flat arrays: list q is start[q] to start[q + 1]. Items are integers.
"""

from __future__ import annotations

import numpy as np

from fujiscore._kernels._jit import kernel
from fujiscore._kernels.area import level_moments
from fujiscore._kernels.order import TINY, descending, mend, tie_bounds
from fujiscore._kernels.random import GOLDEN
from fujiscore._kernels.sweep import add, memberships, overlap

ONE = np.uint64(1)
# A membership this close to the border between near and far is at it.
ROUNDING = 1e-12


@kernel
def slot_of(item, keys, place, shift):
    """Return where the table holds an item, or would: the first free slot from its own on."""
    mask = np.uint64(place.size - 1)
    slot = np.uint64(item) * GOLDEN >> shift
    while place[slot] >= 0 and keys[slot] != item:
        slot = slot + ONE & mask
    return slot


@kernel
def match(items_r, items_s, keys, place, partner_r, partner_s):
    """Write where each item is in the other list (-1: nowhere); return how many items there are, -1 if one is repeated.

    By a hash table as small as the pair allows: it stays in the fastest memory however many items all lists have.
    """
    n_r = n = items_r.size
    slots, shift = 2, np.uint64(63)
    while slots < 2 * (n_r + items_s.size):
        slots *= 2
        shift -= ONE
    place = place[:slots]
    place[:] = -1
    repeated = False
    for i in range(n_r):
        item = items_r[i]
        slot = slot_of(item, keys, place, shift)
        repeated |= place[slot] >= 0
        keys[slot] = item
        place[slot] = i
        partner_r[i] = -1
    for j in range(items_s.size):
        item = items_s[j]
        slot = slot_of(item, keys, place, shift)
        i = place[slot]
        partner_s[j] = i
        if i < 0:
            keys[slot] = item
            place[slot] = n_r
            n += 1
        elif i == n_r or partner_r[i] >= 0:
            repeated = True
        else:
            partner_r[i] = j
    return -1 if repeated else n


@kernel
def align(partner_r, partner_s, scores_s, aligned):
    """Write s's scores in the order of r's items, its other items behind, and both lists' partners accordingly."""
    # Of equal scores the first item of the aligned pair comes first, as in one pair alone.
    size = 0
    for i in range(partner_r.size):
        if partner_r[i] >= 0:
            aligned[size] = scores_s[partner_r[i]]
            partner_r[i] = size
            size += 1
    for j in range(partner_s.size):
        if partner_s[j] < 0:
            aligned[size] = scores_s[j]
            size += 1
    size = 0
    for i in range(partner_r.size):
        if partner_r[i] >= 0:
            partner_s[size] = i
            size += 1
    partner_s[size:] = -1


@kernel
def kth_score(scores, k, best):
    """Return the k-th highest score; `best` is scratch for k scores."""
    for i in range(scores.size):
        score = scores[i]
        if i >= k and score <= best[k - 1]:
            continue
        place = min(i, k - 1)
        while place > 0 and best[place - 1] < score:
            best[place] = best[place - 1]
            place -= 1
        best[place] = score
    return best[k - 1]


@kernel
def sort(scores, k, order, ranked, packed, spare):
    """Write the stable descending order and the scores in it, at least of the k best and all that tie with them."""
    # Most lists come sorted; of others a few best items are picked, and the rest follow in any order.
    n = scores.size
    falls = True
    for i in range(1, n):
        falls &= scores[i - 1] >= scores[i]
    if falls:
        for i in range(n):
            order[i] = i
            ranked[i] = scores[i]
    elif k > TINY or 2 * k > n:
        descending(scores, order, ranked, packed, spare)
    else:
        last = kth_score(scores, k, ranked)
        top, end = 0, n - 1
        for i in range(n):
            inside = scores[i] >= last
            place = top if inside else end  # no branch: which way it goes cannot be predicted
            order[place] = i
            ranked[place] = scores[i]
            top += inside
            end -= not inside
        mend(ranked[:top], order[:top], top * top)


@kernel
def set_sizes(ranked, path, closed, capped, above, up_to, sizes):
    """Write the set sizes along a path, and in `up_to` those at each depth."""
    # Where ties are closed, all items that tie with the last one are in. Capped sets hold positive scores only, unless
    # there is none.
    depth = last = path[-1]
    while closed and last < ranked.size and ranked[last] == ranked[depth - 1]:
        last += 1
    if closed:
        tie_bounds(ranked[:last], above, up_to)
    else:
        for d in range(depth):
            up_to[d] = d + 1
    if capped and ranked[0] > 0.0:
        positive = last
        while ranked[positive - 1] <= 0.0:
            positive -= 1
        for d in range(depth):
            up_to[d] = min(up_to[d], positive)
    for j in range(path.size):
        sizes[j] = up_to[path[j] - 1]


@kernel
def outside_means(ranked, sizes, zero_tail, out):
    """Write the mean membership of the listed items outside each set; 1 if there are none."""
    n = place = ranked.size
    high = low = 0.0
    for j in range(sizes.size - 1, -1, -1):
        while place > sizes[j]:
            place -= 1
            high, low = add(high, low, ranked[place] / n)  # the same whatever the order; of huge scores no overflow
        mean = (high + low) * (n / max(n - place, 1))
        out[j] = memberships(mean, ranked[place - 1], 1, zero_tail) if place < n else 1.0


@kernel
def near(membership, outside):
    """Return whether a miss is near: closer to the set than halfway from the mean membership of the items outside."""
    return (membership - (1.0 + outside) / 2.0 > ROUNDING) | (membership >= 1.0)


@kernel
def near_credit(rank, ranked, inside, size, outside, zero_tail):
    """Return the summed memberships in a set of `size` items of those of the other set (`inside`) that miss it nearly.

    `rank` has their ranks in this list; `outside` is the mean membership of the listed items outside the set.
    """
    credit = 0.0
    for p in range(inside):
        if rank[p] >= size:
            membership = memberships(ranked[rank[p]], ranked[size - 1], 1, zero_tail)
            if near(membership, outside):
                credit += membership
    return credit


@kernel
def cross(order, partner, rank, out):
    """Write the ranks in the other list of the first items of an order; return whether it lacks one: ranked last."""
    lacks = False
    for p in range(out.size):
        other = partner[order[p]]
        lacks |= other < 0
        out[p] = rank[other] if other >= 0 else rank.size
    return lacks


@kernel
def agreements(s_rank, r_rank, up_to_r, up_to_s, depth, out):
    """Write the agreement 2h / (k1 + k2) at each depth."""
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
def clip(ranked, listed):
    """Count negative scores as 0, put 0 for items that are not listed behind them, and return the least score."""
    least = np.inf
    for i in range(listed):
        ranked[i] = max(ranked[i], 0.0)
        least = min(least, ranked[i])
    ranked[listed] = 0.0
    return least


@kernel
def one_pair(
    scores_r, scores_s, path, closed, capped, zero_tail, bounds, persistence, work,
    k1, k2, shared, fuji, high, depths, kth, outside, near_misses,
):  # fmt: skip
    """Write what `overlaps` does for one pair; `work` holds the items' places in the other list, and scratch."""
    whole, real, keys = work
    n_r, n_s = scores_r.size, scores_s.size
    partner_r, partner_s = whole[0, :n_r], whole[1, :n_s]
    if not closed:
        align(partner_r, partner_s, scores_s, real[2])
        scores_s = real[2, :n_s]
    for side in range(2):  # a loop: the compiler writes out each call of a kernel, and needs a second more
        scores, sizes = (scores_r, scores_s)[side], (k1, k2)[side]
        n = scores.size
        order, rank, ranked = whole[2 + side, :n], whole[4 + side], real[side, :n]
        sort(scores, path[-1], order, ranked, keys[0, :n], keys[1, :n])
        for p in range(n):
            rank[order[p]] = p
        set_sizes(ranked, path, closed, capped, whole[8], whole[6 + side], sizes)
        for j in range(path.size):
            kth[j, side] = ranked[sizes[j] - 1]
    s_rank, r_rank = whole[8, : k1[-1]], whole[9, : k2[-1]]
    lacks = cross(whole[2], partner_r, whole[5, :n_s], s_rank)
    lacks |= cross(whole[3], partner_s, whole[4, :n_r], r_rank)
    ranked_r, ranked_s, up_to_r, up_to_s = real[0, : n_r + 1], real[1, : n_s + 1], whole[6], whole[7]
    if persistence.size:
        agreements(s_rank, r_rank, up_to_r, up_to_s, path[-1], real[2])
        by_depth(real[2], path, persistence, depths)
    negative = ranked_r[0] < 0.0 or ranked_s[0] < 0.0
    least_r, least_s = clip(ranked_r, n_r), clip(ranked_s, n_s)
    outside_means(ranked_r[:n_r], k1, zero_tail, outside[:, 0])
    outside_means(ranked_s[:n_s], k2, zero_tail, outside[:, 1])
    near_misses[:] = np.nan
    if path.size == 1 and not negative:
        near_misses[0] = near_credit(s_rank, ranked_s, k1[0], k2[0], outside[0, 1], zero_tail)
        near_misses[0] += near_credit(r_rank, ranked_r, k2[0], k1[0], outside[0, 0], zero_tail)
    for upper in range(1 + (bounds and lacks)):
        overlap(s_rank, r_rank, ranked_r, ranked_s, k1, k2, zero_tail, shared, high)
        ranked_r[n_r], ranked_s[n_s] = least_r, least_s
        for j in range(path.size):
            if negative:
                high[j] = np.nan
            if upper == 0:
                fuji[j] = high[j]
            high[j] = max(high[j], fuji[j])


@kernel
def scratch(start_r, start_s):
    """Return arrays that any of the pairs fits in."""
    longest = 1
    for q in range(start_r.size - 1):
        longest = max(longest, start_r[q + 1] - start_r[q], start_s[q + 1] - start_s[q])
    slots = 2
    while slots < 4 * longest:
        slots *= 2
    whole, real = np.empty((10, longest), np.int32), np.empty((3, longest + 1))
    return (whole, real, np.empty((2, longest), np.uint64)), np.empty(slots, np.int64), np.empty(slots, np.int32)


@kernel(cost=20)
def overlaps(
    start_r, items_r, scores_r, start_s, items_s, scores_s, first, paths, closed, capped, zero_tail, bounds,
    persistence, sizes, k1, k2, shared, fuji, high, depths, kth, outside, near_misses,
):  # fmt: skip
    """Write for each pair, along its path, what measures are formulas of; return the first pair that repeats an item.

    The path of pair q is first[q] to first[q + 1] of `paths`; so are its set sizes, shared items, FUJI, its upper
    bounds (if asked for) and its rows of `depths` (by persistence). FUJI is NaN if all scores of a list are negative.
    `sizes` takes the number of items that the two lists have together. `kth` and `outside` have a column for each list:
    the last scores of its sets, and the mean membership of its items outside them. `near_misses` takes their summed
    memberships, for paths of one point. Returns -1 if no pair repeats an item.
    """
    work, keys, place = scratch(start_r, start_s)
    for q in range(first.size - 1):
        a, b = start_r[q], start_r[q + 1]
        c, d = start_s[q], start_s[q + 1]
        e, f = first[q], first[q + 1]
        sizes[q] = match(items_r[a:b], items_s[c:d], keys, place, work[0][0, : b - a], work[0][1, : d - c])
        if sizes[q] < 0:
            return q
        if e < f:
            one_pair(
                scores_r[a:b], scores_s[c:d], paths[e:f], closed, capped, zero_tail, bounds, persistence, work,
                k1[e:f], k2[e:f], shared[e:f], fuji[e:f], high[e:f], depths[e:f],
                kth[e:f], outside[e:f], near_misses[e:f],
            )  # fmt: skip
    return -1


@kernel(cost=15)
def sides(start, scores, ks, sizes, universe, closed, capped, log_factorials, moments, log_ties, upper, cut, by_depth):
    """Write what chance depends on in each list, cut at its k (0: left out), with a top set of the given size."""
    # `moments`: whether the k-th score is positive; of the part by which the scores outside are below it, mean and sums
    # of squares and cubes (see `level_moments`). `log_ties`: the logarithm of how many orders of tied items there are.
    # `upper`: how many items have the higher of two scores, 0 for more or fewer. `cut`: whether ties are cut at k, and
    # at any depth down to k. `by_depth`: the set sizes at these depths, one list after the other.
    (whole, real, keys), _, _ = scratch(start, start)
    ends, counts, levels = np.empty(1, np.int64), np.empty(2), np.empty((3, 2))
    first = 0
    for q in range(start.size - 1):
        n, k = start[q + 1] - start[q], ks[q]
        if k == 0:
            continue
        above, up_to, ranked = whole[0, :n], whole[1, :n], real[0, :n]
        sort(scores[start[q] : start[q + 1]], n, above, ranked, keys[0, :n], keys[1, :n])
        tie_bounds(ranked, above, up_to)
        group = 0
        while group < n:
            log_ties[q] += log_factorials[up_to[group] - group]
            group = up_to[group]
        two = up_to[0] == n if universe > n else up_to[0] < n and up_to[up_to[0]] == n
        upper[q] = up_to[0] if two else 0
        last = n
        while capped and last > 1 and ranked[last - 1] <= 0.0:
            last -= 1
        for d in range(1, k + 1):
            cut[q, 0] = min(up_to[d - 1], last) > d
            cut[q, 1] |= cut[q, 0]
            by_depth[first + d - 1] = min(up_to[d - 1] if closed else d, last)
        first += k
        clip(real[0], n)
        ends[0], counts[0], counts[1] = sizes[q], sizes[q], universe - sizes[q]
        level_moments(ranked, ends, counts, levels)
        moments[q, 0] = ranked[sizes[q] - 1] > 0.0
        for power in range(3):
            moments[q, 1 + power] = levels[power, 1]
