"""Stable descending order of float64 scores by radix sort, and the match of two orders."""

from __future__ import annotations

import numpy as np

from fujiscore._kernels._jit import kernel

SIGN = np.uint64(1 << 63)
ZERO = np.uint64(0)
HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
# Up to TINY items insertion sort wins. From LARGE on, 6-bit digits (more passes, but only 64 places written at a
# time) took 15 ms a million items where 8-bit or 11-bit ones took 25 to 30; below, 8-bit digits are fastest.
TINY = 40
LARGE = 1 << 19
# 32 bits decide nearly every comparison of real scores, and insertion sort mends the rest. If that takes more
# than this many moves an item, the scores were built against it, and all 64 bits are sorted.
MEND_MOVES = 4


@kernel
def flaws(scores):
    """Return whether any score is NaN, is +inf, is negative."""
    nan = False
    infinite = False
    negative = False
    for x in scores:
        nan |= x != x
        infinite |= x == np.inf
        negative |= x < 0.0
    return nan, infinite, negative


@kernel
def descending_key(bits):
    """Return an integer that sorts upward as the score with these bits sorts downward; -0.0 as 0.0."""
    if bits == SIGN:
        bits = ZERO
    return bits if bits & SIGN else ~(bits | SIGN)


@kernel
def differing_bits(bits):
    """Return how many of the keys' low bits it takes to tell them apart."""
    ones = ZERO
    zeros = ZERO
    for b in bits:
        key = descending_key(b)
        ones |= key
        zeros |= ~key
    differing = ones & zeros
    count = 0
    while differing:
        differing >>= np.uint64(1)
        count += 1
    return count


@kernel
def radix_sort(packed, spare, bits, width):
    """Sort by the lowest `bits` bits of the upper halves, stably; return the array that holds the result."""
    buckets = 1 << width
    mask = np.uint64(buckets - 1)
    digits = (bits + width - 1) // width
    counts = np.zeros((digits, buckets), np.uint32)  # unsigned: no wrap-around test when used as an index
    for x in packed:
        key = x >> HALF
        for d in range(digits):
            counts[d, key & mask] += 1
            key >>= np.uint64(width)
    for d in range(digits):
        count = counts[d]
        low = np.uint64(32 + d * width)
        if count[(packed[0] >> low) & mask] == packed.size:
            continue
        start = 0
        for b in range(buckets):
            size = count[b]
            count[b] = start
            start += size
        for x in packed:
            b = (x >> low) & mask
            place = count[b]
            count[b] = place + 1
            spare[place] = x
        packed, spare = spare, packed
    return packed


@kernel
def radix_order(scores, order, shift, used, packed, spare):
    """Sort the items in `order` by bits `shift` to `shift` + 31 of their keys: each packed above its item."""
    n = order.size
    bits = scores.view(np.uint64)
    for i in range(n):
        item = order[i]
        packed[i] = (descending_key(bits[item]) >> np.uint64(shift)) << HALF | np.uint64(item)
    packed = radix_sort(packed, spare, min(32, used - shift), 8 if n < LARGE else 6)
    for i in range(n):
        order[i] = packed[i] & LOW


@kernel
def mend(ranked, order, most):
    """Finish the descending order by insertion sort, stably; give up (False) after `most` moves."""
    moves = 0
    for i in range(1, ranked.size):
        score = ranked[i]
        if ranked[i - 1] >= score:
            continue
        item = order[i]
        place = i
        while place > 0 and ranked[place - 1] < score:
            ranked[place] = ranked[place - 1]
            order[place] = order[place - 1]
            place -= 1
        ranked[place] = score
        order[place] = item
        moves += i - place
        if moves > most:
            return False
    return True


@kernel(cost=15)
def descending(scores, order, ranked, packed, spare):
    """Write the stable descending order of the scores (int32), and the scores in that order."""
    n = scores.size
    for i in range(n):
        order[i] = i
    used = 0
    if n > TINY:
        used = differing_bits(scores.view(np.uint64))
        radix_order(scores, order, max(0, used - 32), used, packed, spare)
    for i in range(n):
        ranked[i] = scores[order[i]]
    if n <= TINY:
        mend(ranked, order, n * n)
    elif used > 32 and not mend(ranked, order, MEND_MOVES * n):
        for i in range(n):
            order[i] = i
        radix_order(scores, order, 0, used, packed, spare)
        radix_order(scores, order, 32, used, packed, spare)
        for i in range(n):
            ranked[i] = scores[order[i]]


@kernel
def match(order_r, order_s, s_rank, r_rank, rank):
    """Write, for each rank in r, the item's rank in s, and the other way round; `rank` is scratch."""
    n = order_r.size
    for q in range(n):
        rank[order_s[q]] = q
    for p in range(n):
        q = rank[order_r[p]]
        s_rank[p] = q
        r_rank[q] = p


@kernel
def tie_bounds(ranked, above, up_to):
    """Write, for each rank, how many items score strictly higher, and how many at least as high."""
    n = ranked.size
    start = 0
    for i in range(1, n + 1):
        if i == n or ranked[i] != ranked[start]:
            for t in range(start, i):
                above[t] = start
                up_to[t] = i
            start = i


@kernel
def has_ties(ranked):
    """Return whether two neighbours in the order have equal scores."""
    for i in range(1, ranked.size):  # noqa: SIM110 - any() with a generator does not compile
        if ranked[i] == ranked[i - 1]:
            return True
    return False


@kernel
def ties_cut(ranked_r, ranked_s, k1, k2):
    """Return at how many points of the path a set ends between equal scores."""
    n = ranked_r.size
    cut = 0
    for j in range(k1.size):
        a = k1[j]
        b = k2[j]
        cut += (a < n and ranked_r[a - 1] == ranked_r[a]) or (b < n and ranked_s[b - 1] == ranked_s[b])
    return cut
