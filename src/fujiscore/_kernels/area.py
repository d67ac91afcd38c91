"""Distribution by chance of a weighted sum of overlaps along a path: moments of Hoeffding's statistic, rare jumps.

The standardised sum is described by a row of LAW numbers. Most of it is a bulk of many small terms. Where two levels
that few ranks belong to meet in one item, it jumps; such cells are drawn by a Poisson distribution instead.
"""

from __future__ import annotations

from math import exp, expm1, isnan, log2, sqrt

import numpy as np

from fujiscore._kernels._jit import kernel
from fujiscore._kernels.pearson import upper_tail

# Jumps of at least one standard deviation are told apart by their size, two classes to each factor of 2.
CLASSES = 16
# The largest of them, as many as come this often on average, are not part of the bulk.
MOST_JUMPS = 0.4
# In a law: skewness; the smallest step, if all steps are discrete; how often jumps come; mean, standard deviation and
# skewness of the bulk; then, for each class of jumps, how often they come and how large they are. All in standard
# deviations.
SKEWNESS, STEP, RATE, SHIFT, SPREAD, BULK_SKEWNESS, JUMPS = range(7)
LAW = JUMPS + 2 * CLASSES
# Beyond so many standard deviations the bulk has nothing.
FAR = 9.0
# A tail on the side away from which a distribution is skewed is taken as no shorter than with this skewness: Pearson's
# third type ends there.
SHORT = 0.5
# Quantiles are so exact, in standard deviations.
PRECISION = 1e-3
# Steps smaller than this are rounding.
STEP_ROUNDING = 1e-12
# A variance smaller than this part of the terms it is summed from is rounding.
ROUNDING = 1e-13


@kernel
def level_moments(ranked, ends, counts, out):
    """Write, for each level, the mean of x and the sums of squares and cubes of what x is apart from it."""
    # x is the part by which a score is below the last one of the level above; where that is 0, so is x. Levels end with
    # `ends`, the last one with the ranking; a level counts more ranks than that if others follow, which are at 0.
    start = 0
    for level in range(counts.size):
        stop = ends[level] if level < ends.size else ranked.size
        last = ranked[start - 1] if start > 0 else 0.0
        out[0, level] = out[1, level] = out[2, level] = 0.0
        if last > 0.0:
            beyond = counts[level] - (stop - start)
            total = beyond
            for i in range(start, stop):
                total += (last - ranked[i]) / last
            mean = total / max(counts[level], 1.0)
            second = beyond * (1.0 - mean) ** 2
            third = beyond * (1.0 - mean) ** 3
            for i in range(start, stop):
                apart = (last - ranked[i]) / last - mean
                second += apart * apart
                third += apart * apart * apart
            out[0, level], out[1, level], out[2, level] = mean, second, third
        start = stop


@kernel
def scales(n, points_r, points_s, coefficients, exact, out):
    """Write, for each point, what brings the standard deviation of the linear statistic there to the exact one."""
    # Rows of `points_*`: variance of the indicator, variance of the deficit, covariance of the two. NaN in `exact`
    # leaves the linear one.
    for g in range(exact.size):
        both, only_r, only_s = coefficients[0, g], coefficients[1, g], coefficients[2, g]
        in_r, lack_r, mixed_r = points_r[0, g], points_r[1, g], points_r[2, g]
        in_s, lack_s, mixed_s = points_s[0, g], points_s[1, g], points_s[2, g]
        squares = both * both * in_r * in_s + only_r * only_r * in_r * lack_s + only_s * only_s * lack_r * in_s
        products = both * only_r * in_r * mixed_s + both * only_s * mixed_r * in_s + only_r * only_s * mixed_r * mixed_s
        linear = squares + 2.0 * products
        if isnan(exact[g]):
            out[g] = 1.0
        elif linear <= ROUNDING * squares:
            out[g] = 0.0
        else:
            out[g] = sqrt(exact[g] * (n - 1.0) / linear) / n


@kernel(cost=4, items=lambda _, table, *__: table.shape[0] ** 2)
def moments(n, table_r, points_r, table_s, points_s, coefficients, weights, exact, law):
    """Return the variance of the sum over items of d(p, q), p and q an item's ranks in r and in s; write its law."""
    # d is the weighted sum over the points g of coefficients[0] I_r I_s + coefficients[1] I_r L_s + coefficients[2] L_r
    # I_s, with I the indicator of a top set and L what an item outside lacks of membership. A row of `table_*` is a
    # level, the ranks between two set sizes: their number, the sums of squares and cubes of the centred x, and for each
    # point the mean of L and its slope in x. So within two levels d is a + b x_q + c x_p, and all sums over ranks are
    # sums over levels.
    size = weights.size
    scale = np.empty(size)
    scales(n, points_r, points_s, coefficients, exact, scale)
    level = np.zeros((size + 1, size + 1))
    slope = np.zeros((size + 1, size + 1))
    both = 0.0
    for g in range(size, -1, -1):
        if g < size:
            both += scale[g] * weights[g] * coefficients[0, g]
        for other in range(g + 1):
            level[g, other] = both
            level[other, g] = both
    for high in range(1, size + 1):
        mean_s = slope_s = mean_r = slope_r = 0.0
        for g in range(high - 1, -1, -1):
            weight = scale[g] * weights[g]
            mean_s += weight * coefficients[1, g] * table_s[high, 3 + g]
            slope_s += weight * coefficients[1, g] * table_s[high, 3 + size + g]
            mean_r += weight * coefficients[2, g] * table_r[high, 3 + g]
            slope_r += weight * coefficients[2, g] * table_r[high, 3 + size + g]
            level[g, high] += mean_s
            slope[g, high] = slope_s
            level[high, g] += mean_r
            slope[high, g] = slope_r
    rows, row_slopes = np.zeros(size + 1), np.zeros(size + 1)
    columns, column_slopes = np.zeros(size + 1), np.zeros(size + 1)
    mean = 0.0
    for p in range(size + 1):
        for q in range(size + 1):
            rows[p] += table_s[q, 0] * level[p, q] / n
            columns[q] += table_r[p, 0] * level[p, q] / n
            if p > q:
                row_slopes[p] += table_s[q, 0] * slope[p, q] / n
            else:
                column_slopes[q] += table_r[p, 0] * slope[p, q] / n
        mean += table_r[p, 0] * rows[p] / n
    second = third = smooth = 0.0
    for p in range(size + 1):
        count_r, square_r, cube_r = table_r[p, 0], table_r[p, 1], table_r[p, 2]
        row, row_slope = rows[p] - mean, row_slopes[p]
        for q in range(size + 1):
            count_s, square_s = table_s[q, 0], table_s[q, 1]
            a = level[p, q] - row - columns[q]
            level[p, q] = a
            weighted = a * a * count_r * count_s
            if square_r > 0.0 or square_s > 0.0:
                b = (slope[p, q] if p < q else 0.0) - column_slopes[q]
                c = (slope[p, q] if p > q else 0.0) - row_slope
                within = b * b * count_r * square_s + c * c * square_r * count_s
                smooth += within
                third += a * 3.0 * within + b * b * b * count_r * table_s[q, 2] + c * c * c * cube_r * count_s
            second += weighted
            third += a * weighted
    second += smooth
    law[:] = 0.0
    law[SPREAD] = 1.0
    variance = second / max(n - 1.0, 1.0)
    if n > 2 and variance > 0.0:
        separate(n, table_r, table_s, level, second, third, law)
        if smooth <= ROUNDING * second:
            law[STEP] = smallest_step(table_r, table_s, level) / sqrt(variance)
    elif isnan(variance):
        law[:] = variance
    return variance


@kernel
def separate(n, table_r, table_s, centred, second, third, law):
    """Write the law: skewness, the classes of the largest jumps, and what is left when they are taken out."""
    deviation = sqrt(second / (n - 1.0))
    scale = n / ((n - 1.0) * (n - 2.0)) / (deviation * deviation * deviation)
    law[SKEWNESS] = law[BULK_SKEWNESS] = scale * third
    sums = np.zeros((4, CLASSES))
    for p in range(centred.shape[0]):
        for q in range(centred.shape[1]):
            size = centred[p, q]
            if size < deviation:
                continue
            one = min(int(2.0 * log2(size / deviation)), CLASSES - 1)
            count = table_r[p, 0] * table_s[q, 0]
            for power in range(4):
                sums[power, one] += count
                count *= size
    for one in range(CLASSES - 1, -1, -1):
        rate = sums[0, one] / n
        if law[RATE] + rate > MOST_JUMPS:
            break
        if rate > 0.0:
            size = sums[1, one] / sums[0, one] / deviation
            law[RATE] += rate
            law[SHIFT] -= rate * size
            law[JUMPS + 2 * one], law[JUMPS + 2 * one + 1] = rate, size
            second -= sums[2, one]
            third -= sums[3, one]
    if law[RATE] > 0.0:
        share = sqrt(max(second, 0.0) / (n - 1.0)) / deviation
        law[SPREAD] = share
        law[BULK_SKEWNESS] = scale * third / (share * share * share) if share > ROUNDING else 0.0


@kernel
def smallest_step(table_r, table_s, level):
    """Return by how little the sum can change: two items exchange the level in s, from one to the next."""
    least = np.inf
    above_p = -1
    for p in range(level.shape[0]):
        if table_r[p, 0] == 0.0:
            continue
        above_q = -1
        for q in range(level.shape[1]):
            if table_s[q, 0] == 0.0:
                continue
            if above_p >= 0 and above_q >= 0:
                step = abs(level[above_p, above_q] - level[above_p, q] - level[p, above_q] + level[p, q])
                if step > STEP_ROUNDING:
                    least = min(least, step)
            above_q = q
        above_p = p
    return least if least < np.inf else 0.0


@kernel
def bulk_tail(z, law, side):
    """Return how often the bulk is at least (side 1) or at most (side -1) so large."""
    apart = side * (z - law[SHIFT])
    if abs(apart) >= FAR * law[SPREAD]:
        return 0.0 if apart > 0.0 else 1.0
    return upper_tail(apart / law[SPREAD], max(side * law[BULK_SKEWNESS], -SHORT))


@kernel
def tail(z, law, side):
    """Return how often chance gives at least (side 1) or at most (side -1) z standard deviations above the mean."""
    # Without jumps, a tail of Pearson's third type. A jump leaves the rest to the bulk or, above what the bulk reaches,
    # to the tail with all jumps: another one may follow. Discrete values get the usual correction by half a step.
    z -= side * law[STEP] / 2.0
    rate = law[RATE]
    if not rate > 0.0:
        return upper_tail(side * z, max(side * law[SKEWNESS], -SHORT))
    share = -expm1(-rate) / rate
    total = exp(-rate) * bulk_tail(z, law, side)
    for one in range(CLASSES):
        if law[JUMPS + 2 * one] > 0.0:
            left = z - law[JUMPS + 2 * one + 1]
            rest = bulk_tail(left, law, side)
            if side > 0 and left > 0.0:
                rest = max(rest, upper_tail(left, law[SKEWNESS]))
            total += share * law[JUMPS + 2 * one] * rest
    return min(total, 1.0)


@kernel(cost=20, items=lambda z, *_: z.size)
def tails(z, laws, side, out):
    """Write the upper (side 1) or lower tail (side -1) at each z, of the one law or of a law each."""
    for t in range(z.size):
        out[t] = tail(z[t], laws[min(t, laws.shape[0] - 1)], side)


@kernel(cost=400, items=lambda _, __, laws, *___: laws.shape[0])
def quantiles(probability, side, laws, out):
    """Write the z beyond which (above on side 1, below on side -1) each law has this probability."""
    for t in range(laws.shape[0]):
        inside, outside = 0.0, 1.0
        while tail(side * outside, laws[t], side) > probability:
            inside, outside = outside, 2.0 * outside
        if inside == 0.0 and tail(0.0, laws[t], side) < probability:
            inside = -FAR
        while outside - inside > PRECISION:
            middle = (inside + outside) / 2.0
            if tail(side * middle, laws[t], side) > probability:
                inside = middle
            else:
                outside = middle
        out[t] = side * outside


@kernel(cost=4, items=lambda i, _, __, tables, *___: i.size * tables.shape[1] ** 2)
def pairs(i, j, n, tables_r, points_r, tables_s, points_s, coefficients, weights, exact, variances, laws):
    """Write variance and law for row i[t] of the first arrays and row j[t] of the second."""
    for t in range(i.size):
        r, s = i[t], j[t]
        sides = tables_r[r], points_r[r], tables_s[s], points_s[s]
        variances[t] = moments(n, *sides, coefficients[t], weights, exact[t], laws[t])
