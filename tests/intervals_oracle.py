"""The spread of values over queries, from the definitions; nothing of the package."""

from __future__ import annotations

import math
import statistics

from scipy import stats


def spread(values, confidence, span):
    """Return mean, sd, interval, median, 5 % quantile and least value from the definitions."""
    values = sorted(value for value in values if not math.isnan(value))
    n, mean = len(values), statistics.fmean(values)
    sd = statistics.stdev(values)
    reach = stats.t.ppf((1 + confidence) / 2, n - 1) * sd / math.sqrt(n)
    place = 0.05 * (n - 1)
    below, part = int(place), place - int(place)
    five = values[below] + part * (values[min(below + 1, n - 1)] - values[below])
    return [
        mean,
        sd,
        max(mean - reach, span[0]),
        min(mean + reach, span[1]),
        statistics.median(values),
        five,
        values[0],
    ]
