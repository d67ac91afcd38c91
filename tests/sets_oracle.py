"""Slow: the stability of sets and its variance, item by item from the formulas.

Pure Python; nothing of the package. Sets are rows of 0 and 1.
"""

from __future__ import annotations

from itertools import combinations


def stability(rows):
    """Return one less the mean unbiased variance of an item's column, over that of random sets of the mean size."""
    m, n = len(rows), len(rows[0])
    share = sum(map(sum, rows)) / m / n
    variances = []
    for column in zip(*rows, strict=True):
        mean = sum(column) / m
        variances.append(sum((z - mean) ** 2 for z in column) / (m - 1))
    return 1 - sum(variances) / n / (share * (1 - share))


def variance(rows, sign=1):
    """Return the variance of the stability; sign is that of the term with half the stability."""
    m, n = len(rows), len(rows[0])
    value = stability(rows)
    chosen = [sum(column) / m for column in zip(*rows, strict=True)]
    mean_size = sum(map(sum, rows)) / m
    spread = mean_size / n * (1 - mean_size / n)
    influence = []
    for row in rows:
        size = sum(row)
        common = sum(z * p for z, p in zip(row, chosen, strict=True)) / n
        half = value / 2 * (2 * size * mean_size / n**2 - size / n - mean_size / n + 1)
        influence.append((common - size * mean_size / n**2 + sign * half) / spread)
    mean = sum(influence) / m
    return 4 / m**2 * sum((phi - mean) ** 2 for phi in influence)


def mean_kuncheva(rows):
    """Return the mean over all pairs of sets of one size k of (shared - k²/n) / (k - k²/n)."""
    n, k = len(rows[0]), sum(rows[0])
    pairs = list(combinations(rows, 2))
    values = [(sum(a * b for a, b in zip(x, y, strict=True)) - k * k / n) / (k - k * k / n) for x, y in pairs]
    return sum(values) / len(pairs)
