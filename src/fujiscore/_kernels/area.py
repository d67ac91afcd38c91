"""Null moments of a weighted sum of overlaps along a path: second and third moment of Hoeffding's statistic."""

from __future__ import annotations

from math import isnan, sqrt

import numpy as np

from fujiscore._kernels._jit import kernel

# A variance smaller than this part of the terms it is summed from is rounding.
ROUNDING = 1e-13


@kernel
def scales(n, points_r, points_s, coefficients, exact, out):
    """Write, for each point, what brings the standard deviation of the linear statistic there to the exact one.

    Rows of `points_*`: variance of the indicator, variance of the deficit, covariance of the two. NaN in `exact`
    leaves the linear one.
    """
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
def moments(n, table_r, points_r, table_s, points_s, coefficients, weights, exact, out):
    """Write variance and skewness of the sum over items of d(p, q), p and q an item's ranks in r and in s.

    d is the weighted sum over the points g of coefficients[0] I_r I_s + coefficients[1] I_r L_s +
    coefficients[2] L_r I_s, with I the indicator of a top set and L what an item outside lacks of membership. A row
    of `table_*` is a level, the ranks between two set sizes: their number, the sums of squares and cubes of the
    centred x, and for each point the mean of L and its slope in x. So within two levels d is a + b x_q + c x_p, and
    all sums over ranks are sums over levels.
    """
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
    second = third = 0.0
    for p in range(size + 1):
        count_r, square_r, cube_r = table_r[p, 0], table_r[p, 1], table_r[p, 2]
        for q in range(size + 1):
            count_s, square_s, cube_s = table_s[q, 0], table_s[q, 1], table_s[q, 2]
            a = level[p, q] - rows[p] - columns[q] + mean
            b = (slope[p, q] if p < q else 0.0) - column_slopes[q]
            c = (slope[p, q] if p > q else 0.0) - row_slopes[p]
            within = b * b * count_r * square_s + c * c * square_r * count_s
            second += a * a * count_r * count_s + within
            third += a * (a * a * count_r * count_s + 3.0 * within)
            third += b * b * b * count_r * cube_s + c * c * c * cube_r * count_s
    out[0] = second / max(n - 1.0, 1.0)
    out[1] = 0.0
    if n > 2 and out[0] > 0.0:
        out[1] = n / ((n - 1.0) * (n - 2.0)) * third / (out[0] * sqrt(out[0]))
    elif isnan(out[0]):
        out[1] = out[0]


@kernel(cost=4, items=lambda i, _, __, tables, *___: i.size * tables.shape[1] ** 2)
def pairs(i, j, n, tables_r, points_r, tables_s, points_s, coefficients, weights, exact, out):
    """Write variance and skewness for row i[t] of the first arrays and row j[t] of the second."""
    for t in range(i.size):
        r, s = i[t], j[t]
        moments(n, tables_r[r], points_r[r], tables_s[s], points_s[s], coefficients[t], weights, exact[t], out[t])
