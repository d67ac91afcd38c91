"""Chance: tails of a ranking, moments over the hypergeometric overlap of two random sets, random reassignment."""

from __future__ import annotations

from math import isqrt, sqrt

import numpy as np

from fujiscore._kernels._jit import kernel
from fujiscore._kernels.random import GOLDEN, scramble

# Weights below this, relative to the mode's, are left out of a sum over overlaps.
NEGLIGIBLE = 1e-22
# With more than MANY items, overlaps that spread over WIDE or more are summed by series instead of term by term.
MANY = 50_000
WIDE = 10.0
UNUSED = np.uint64(11)


@kernel
def tails(ranked, mean, variance):
    """Write, for each rank, mean and population variance of the scores below it relative to the score there."""
    # Going up, the scores below are rescaled by the ratio of neighbours, so that nothing overflows or cancels. Where
    # the score is 0 an item below, 0 as well, counts 1.
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
def one_side(p, q, u, v, union, sign):
    """Return the sums of w, w x and w x² over overlaps on one side of the mode, for x = (h - mode) / U."""
    # `union` is U at the mode, where w is 1; a step away multiplies w by p q / (u v), each of them a step further.
    total = first = second = 0.0
    step = 1.0
    weight = p * q / (u * v)
    while weight > NEGLIGIBLE:
        x = sign * step / (union - sign * step)
        total += weight
        first += weight * x
        second += weight * x * x
        weight *= (p - step) * (q - step) / ((u + step) * (v + step))
        step += 1.0
    return total, first, second


@kernel
def moments_by_sum(n, k1, k2, out):
    """Sum over the overlaps h of random sets of sizes k1 and k2, weights by recurrence from the mode."""
    # With U = k1 + k2 - h, writes the means of h/U, (k1-h)/U and (k2-h)/U, the variance of 1/U, and the means of
    # (k1-h)(n-U)/U² and (k2-h)(n-U)/U². All follow from the means of x = (h - mode)/U and x², as 1/U = (1 + x)/U₀ with
    # U₀ the union at the mode: written around the mode, none of them cancels.
    low = max(0, k1 + k2 - n)
    mode = min(k1, k2, max(low, int((k1 + 1.0) * (k2 + 1.0) / (n + 2.0))))
    # At the mode: items in both sets, in the first or second only, in their union, in neither.
    both, only_1, only_2, union = float(mode), float(k1 - mode), float(k2 - mode), float(k1 + k2 - mode)
    neither = n - union
    total_up, first_up, second_up = one_side(only_1, only_2, both + 1.0, neither + 1.0, union, 1.0)
    total_down, first_down, second_down = one_side(both, neither, only_1 + 1.0, only_2 + 1.0, union, -1.0)
    total = 1.0 + total_up + total_down
    x = (first_up + first_down) / total
    xx = (second_up + second_down) / total
    inverse = (1.0 + x) / union
    inverse_square = (1.0 + 2.0 * x + xx) / (union * union)
    out[0] = both * inverse + x
    out[1] = only_1 * inverse - x
    out[2] = only_2 * inverse - x
    out[3] = max(0.0, xx - x * x) / (union * union)
    out[4] = max(0.0, only_1 * neither * inverse_square + (only_1 - neither) * ((x + xx) / union) - xx)
    out[5] = max(0.0, only_2 * neither * inverse_square + (only_2 - neither) * ((x + xx) / union) - xx)


@kernel
def moments_by_series(n, k1, k2, out):
    """Write what `moments_by_sum` does, from the central moments of h up to the fourth."""
    # The overlap strays from its mean by a small part of U only (less than 1e-3 where this is used): what is left out
    # is of the order of the sixth power of that.
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
    square = union * union
    x2, x3, x4 = second / square, third / (square * union), fourth / (square * square)
    inverse = (1.0 + x2 + x3 + x4) / union
    inverse_square = (1.0 + 3.0 * x2 + 4.0 * x3 + 5.0 * x4) / square
    out[0] = (a + b) * inverse - 1.0
    out[1] = 1.0 - b * inverse
    out[2] = 1.0 - a * inverse
    out[3] = (x2 + 2.0 * x3 + 3.0 * x4 - x2 * x2) / square
    out[4] = (c + b) * inverse - 1.0 - c * b * inverse_square
    out[5] = (c + a) * inverse - 1.0 - c * a * inverse_square


@kernel(cost=24, items=lambda n, k1, *_: k1.size * isqrt(n) // 16)
def moments(n, k1, k2, out):
    """Write the six moments of `moments_by_sum` at every point of a path: rows of `out`."""
    for j in range(k1.size):
        a, b = int(k1[j]), int(k2[j])
        spread = sqrt(a / n * b * ((n - a) / n) * ((n - b) / max(n - 1.0, 1.0)))
        if n > MANY and spread >= WIDE:
            moments_by_series(n, a, b, out[j])
        else:
            moments_by_sum(n, a, b, out[j])


@kernel(cost=5)
def reassign(ranked, tie_start, seed, next_in_group, scores, order):
    """Permute the ranked scores across items; write each item's score, and the items in order."""
    # `tie_start` is the first rank of each rank's tie group. Items that draw the same score are put in input order, as
    # a stable sort would, so nothing needs sorting. `next_in_group` is scratch.
    n = ranked.size
    for q in range(n):
        order[q] = tie_start[q]
        next_in_group[q] = q
    state = seed
    for i in range(n - 1, 0, -1):
        # The upper 53 bits as a fraction of 1.
        j = int((scramble(state) >> UNUSED) * 2.0**-53 * (i + 1))
        state += GOLDEN
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
