"""Chance: tails of a ranking, moments over the hypergeometric overlap of two random sets, random reassignment."""

from __future__ import annotations

import numpy as np

from fujiscore._kernels._jit import kernel

# Weights below this, relative to the mode's, are left out of a sum over overlaps.
NEGLIGIBLE = 1e-22
# With more than MANY items, overlaps that spread over WIDE or more are summed by series instead of term by term.
MANY = 50_000
WIDE = 10.0


@kernel
def tails(ranked, mean, variance):
    """Write, for each rank, mean and population variance of the scores below it relative to the score there.

    Going up, the scores below are rescaled by the ratio of neighbours, so that nothing overflows or cancels.
    Where the score is 0 an item below, 0 as well, counts 1.
    """
    n = ranked.size
    m = 0.0
    spread = 0.0
    for i in range(n - 1, -1, -1):
        below = n - 1 - i
        if below > 0:
            # The score just below, 1 on its own scale, joins those below it.
            step = 1.0 - m
            m += step / below
            spread += step * (1.0 - m)
            ratio = ranked[i + 1] / ranked[i] if ranked[i] > 0.0 else 0.0
            m *= ratio
            spread *= ratio * ratio
        if ranked[i] > 0.0:
            mean[i] = m
            variance[i] = spread / max(below, 1)
        else:
            mean[i] = 1.0
            variance[i] = 0.0


@kernel
def moments_by_sum(n, k1, k2, out):
    """Sum over the overlaps h of random sets of sizes k1 and k2, weights by recurrence from the mode.

    With U = k1 + k2 - h, writes the means of h/U, (k1-h)/U and (k2-h)/U, the variance of 1/U, and the means of
    (k1-h)(n-U)/U² and (k2-h)(n-U)/U².
    """
    low = max(0, k1 + k2 - n)
    high = min(k1, k2)
    mode = min(high, max(low, int((k1 + 1.0) * (k2 + 1.0) / (n + 2.0))))
    centre = 1.0 / (k1 + k2 - mode)
    total = first = second = 0.0
    out[:] = 0.0
    for direction in (1, -1):
        h = mode
        weight = 1.0
        while low <= h <= high and weight > NEGLIGIBLE:
            if direction == 1 or h != mode:
                union = float(k1 + k2 - h)
                off = 1.0 / union - centre
                total += weight
                first += weight * off
                second += weight * off * off
                out[0] += weight * h / union
                out[1] += weight * (k1 - h) / union
                out[2] += weight * (k2 - h) / union
                out[4] += weight * (k1 - h) / union * ((n - union) / union)
                out[5] += weight * (k2 - h) / union * ((n - union) / union)
            if direction == 1:
                weight *= (k1 - h) / (h + 1.0) * ((k2 - h) / (n - k1 - k2 + h + 1.0))
            else:
                weight *= h / (k1 - h + 1.0) * ((n - k1 - k2 + h) / (k2 - h + 1.0))
            h += direction
    out /= total
    out[3] = max(0.0, second / total - (first / total) ** 2)


@kernel
def moments_by_series(n, k1, k2, out):
    """Write what `moments_by_sum` does, from the central moments of h up to the fourth.

    The overlap strays from its mean by a small part of U only (less than 1e-3 where this is used): what is left
    out is of the order of the sixth power of that.
    """
    a, b, c = float(k1), float(k2), float(n)
    mean = a * b / c
    second = mean * (1.0 - a / c) * ((c - b) / (c - 1.0))
    third = second * (1.0 - 2.0 * a / c) * ((c - 2.0 * b) / (c - 2.0))
    # The fourth moment over the squared variance, less 3.
    product = a * b * (c - a) * (c - b)
    excess = (c - 1.0) * c * c * (c * (c + 1.0) - 6.0 * a * (c - a) - 6.0 * b * (c - b)) / product
    excess = (excess + 6.0 * (5.0 * c - 6.0)) / ((c - 2.0) * (c - 3.0))
    fourth = second * second * (3.0 + excess)
    union = a + b - mean
    x2, x3, x4 = second / union**2, third / union**3, fourth / union**4
    inverse = (1.0 + x2 + x3 + x4) / union
    inverse_square = (1.0 + 3.0 * x2 + 4.0 * x3 + 5.0 * x4) / union**2
    out[0] = (a + b) * inverse - 1.0
    out[1] = 1.0 - b * inverse
    out[2] = 1.0 - a * inverse
    out[3] = (x2 + 2.0 * x3 + 3.0 * x4 - x2 * x2) / union**2
    out[4] = (c + b) * inverse - 1.0 - c * b * inverse_square
    out[5] = (c + a) * inverse - 1.0 - c * a * inverse_square


@kernel
def moments(n, k1, k2, out):
    """Write the six moments of `moments_by_sum` at every point of a path: rows of `out`."""
    for j in range(k1.size):
        a, b = k1[j], k2[j]
        spread = np.sqrt(a / n * b * ((n - a) / n) * ((n - b) / max(n - 1.0, 1.0)))
        if n > MANY and spread >= WIDE:
            moments_by_series(n, a, b, out[j])
        else:
            moments_by_sum(n, a, b, out[j])


@kernel
def random_unit(state):
    """Return the next state and a number in [0, 1) (SplitMix64)."""
    state += np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return state, (z >> np.uint64(11)) * 2.0**-53


@kernel
def reassign(ranked, tie_start, seed, next_in_group, scores, order):
    """Deal the ranked scores to the items at random; write each item's score, and the items in order.

    `tie_start` is the first rank of each rank's tie group. Items that draw the same score are put in input order,
    as a stable sort would, so nothing needs sorting. `next_in_group` is scratch.
    """
    n = ranked.size
    for q in range(n):
        order[q] = tie_start[q]
        next_in_group[q] = q
    state = seed
    for i in range(n - 1, 0, -1):
        state, unit = random_unit(state)
        j = int(unit * (i + 1))
        order[i], order[j] = order[j], order[i]
    # order[x] is now the tie group that item x drew; its rank there is the next free one.
    for x in range(n):
        group = order[x]
        q = next_in_group[group]
        next_in_group[group] = q + 1
        scores[x] = ranked[q]
        order[x] = q
    for x in range(n):
        next_in_group[order[x]] = x
    order[:] = next_in_group
