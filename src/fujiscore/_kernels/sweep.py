"""Linear sweeps along a path of set sizes (k1, k2): shared items with FUJI, and correlation.

Items are known by their ranks alone: `s_rank[p]` is the rank in s of the item that r ranks p-th, `r_rank`
the other way round, and `ranked_r`, `ranked_s` hold the scores from best to worst. Ranks count from 0 here.
"""

from __future__ import annotations

from math import frexp

import numpy as np

from fujiscore._kernels._jit import kernel

# Scores from HUGE up are carried times SHRINK, so that no sum of 2**31 of them overflows.
HUGE = 2.0**960
SHRINK = 2.0**-64
# Deviations are carried in units in which none exceeds this, so that their squares do not overflow.
MODERATE = 2.0**200


@kernel
def add(high, low, x):
    """Add x to the unevaluated sum high + low, rounding errors and all (two-sum): as if with twice the digits."""
    total = high + x
    part = total - high
    return total, low + ((high - (total - part)) + (x - part))


@kernel
def memberships(total, kth, outside, zero_tail):
    """Return the summed memberships of `outside` items whose scores sum to `total`, given the set's last score."""
    if kth > 0.0:
        return max(0.0, min(total / kth, float(outside)))
    return outside * zero_tail


@kernel
def enter(high, low, scale, x):
    """Add a score to a running sum that is carried times `scale`; from the first huge score on, shrunk."""
    if x >= HUGE and scale == 1.0:
        high, low, scale = high * SHRINK, low * SHRINK, SHRINK
    high, low = add(high, low, x * scale)
    return high, low, scale


@kernel
def head_sums(rank, ranked, start, size, other, high, low, huge):
    """Add the other ranking's scores of the items start..size-1; stop (True) at one that the other set holds."""
    for i in range(start, size):
        q = rank[i]
        if q < other:
            return True, high, low, huge
        x = ranked[q]
        if x >= HUGE:
            huge += x * SHRINK
        else:
            high, low = add(high, low, x)
    return False, high, low, huge


@kernel
def disjoint_head(s_rank, r_rank, ranked_r, ranked_s, k1, k2, zero_tail, shared, fuji):
    """Fill the points before the first shared item, and return how many they are."""
    # While the two sets are disjoint every member is a miss, so going upward both sums only grow: nothing is
    # subtracted, and a tiny FUJI value keeps its relative precision. A huge score can only be summed while the k-th is
    # huge too.
    a = a_low = a_huge = 0.0
    b = b_low = b_huge = 0.0
    c1 = c2 = 0
    for j in range(k1.size):
        met_r, a, a_low, a_huge = head_sums(s_rank, ranked_s, c1, k1[j], k2[j], a, a_low, a_huge)
        met_s, b, b_low, b_huge = head_sums(r_rank, ranked_r, c2, k2[j], k1[j], b, b_low, b_huge)
        if met_r or met_s:
            return j
        c1 = k1[j]
        c2 = k2[j]
        kth_r = ranked_r[c1 - 1]
        kth_s = ranked_s[c2 - 1]
        credit = memberships(a + a_low, kth_s, c1, zero_tail) + memberships(b + b_low, kth_r, c2, zero_tail)
        credit += a_huge / max(kth_s * SHRINK, 1.0) + b_huge / max(kth_r * SHRINK, 1.0)
        shared[j] = 0
        fuji[j] = min(credit / (c1 + c2), 1.0)
    return k1.size


@kernel(cost=12)
def overlap(s_rank, r_rank, ranked_r, ranked_s, k1, k2, zero_tail, shared, fuji):
    """Write the number h of shared items, and FUJI = (h + A/s_(k2) + B/r_(k1)) / (k1 + k2 - h), along the path."""
    # From the end of the path downward the scores that enter a sum grow, and none exceeds the current k-th: with 106
    # bits the error is far below the shared count, which is at least 1 here. (Upward, large scores leave and small ones
    # stay: with scores that fall geometrically nothing of them would be left.)
    first = disjoint_head(s_rank, r_rank, ranked_r, ranked_s, k1, k2, zero_tail, shared, fuji)
    a = a_low = b = b_low = 0.0
    scale_a = scale_b = 1.0
    c1 = k1[-1]
    c2 = k2[-1]
    h = 0
    for p in range(c1):
        q = s_rank[p]
        if q < c2:
            h += 1
        else:
            a, a_low, scale_a = enter(a, a_low, scale_a, ranked_s[q])
    for q in range(c2):
        p = r_rank[q]
        if p >= c1:
            b, b_low, scale_b = enter(b, b_low, scale_b, ranked_r[p])
    for j in range(k1.size - 1, first - 1, -1):
        while c1 > k1[j]:
            c1 -= 1
            q = s_rank[c1]
            if q < c2:
                h -= 1
                b, b_low, scale_b = enter(b, b_low, scale_b, ranked_r[c1])
            else:
                a, a_low = add(a, a_low, -ranked_s[q] * scale_a)
        while c2 > k2[j]:
            c2 -= 1
            p = r_rank[c2]
            if p < c1:
                h -= 1
                a, a_low, scale_a = enter(a, a_low, scale_a, ranked_s[c2])
            else:
                b, b_low = add(b, b_low, -ranked_r[p] * scale_b)
        if h == c1:
            a = a_low = 0.0
        if h == c2:
            b = b_low = 0.0
        credit = memberships(a + a_low, ranked_s[c2 - 1] * scale_a, c1 - h, zero_tail)
        credit += memberships(b + b_low, ranked_r[c1 - 1] * scale_b, c2 - h, zero_tail)
        shared[j] = h
        fuji[j] = (h + credit) / (c1 + c2 - h)


@kernel
def unit_for(x):
    """Return a power of two that brings x near 1, as far as powers of two go."""
    _, exponent = frexp(x)
    return 2.0 ** -max(-1000, min(1000, exponent))


@kernel
def fit_unit(x, unit):
    """Return the unit in which a deviation x stays moderate, given the unit in use (0: none yet)."""
    if x == 0.0 or (unit > 0.0 and abs(x) * unit < MODERATE):
        return unit
    return unit_for(x)


@kernel(cost=8)
def correlation(s_rank, r_rank, ranked_r, ranked_s, k1, k2, out):
    """Write the Pearson correlation of the scores over the union at every point (NaN where a side is constant)."""
    # The union only grows, so Welford's update never subtracts. Scores enter as deviations from the best one, which is
    # exact for scores close together, and in a unit that follows the largest deviation so far.
    size = 0
    mean_r = mean_s = spread_r = spread_s = both = unit_r = unit_s = 0.0
    best_r = ranked_r[0]
    best_s = ranked_s[0]
    c1 = c2 = 0
    for j in range(k1.size):
        while c1 < k1[j] or c2 < k2[j]:
            if c1 < k1[j]:
                p, q = c1, s_rank[c1]
                c1 += 1
                known = q < c2
            else:
                p, q = r_rank[c2], c2
                c2 += 1
                known = p < c1
            if known:
                continue
            x = ranked_r[p] - best_r
            y = ranked_s[q] - best_s
            fit_r = fit_unit(x, unit_r)
            fit_s = fit_unit(y, unit_s)
            if fit_r != unit_r or fit_s != unit_s:
                shrink_r = fit_r / unit_r if unit_r > 0.0 else 1.0
                shrink_s = fit_s / unit_s if unit_s > 0.0 else 1.0
                mean_r *= shrink_r
                mean_s *= shrink_s
                spread_r *= shrink_r * shrink_r
                spread_s *= shrink_s * shrink_s
                both *= shrink_r * shrink_s
                unit_r, unit_s = fit_r, fit_s
            size += 1
            step_r = x * unit_r - mean_r
            step_s = y * unit_s - mean_s
            mean_r += step_r / size
            mean_s += step_s / size
            spread_r += step_r * (x * unit_r - mean_r)
            spread_s += step_s * (y * unit_s - mean_s)
            both += step_r * (y * unit_s - mean_s)
        if spread_r > 0.0 and spread_s > 0.0:
            out[j] = max(-1.0, min(1.0, both / np.sqrt(spread_r) / np.sqrt(spread_s)))
        else:
            out[j] = np.nan
