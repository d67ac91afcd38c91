"""Confidence intervals that stay inside a measure's range, and tests of differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import choice

if TYPE_CHECKING:
    Scores: TypeAlias = NDArray[np.float64]
    Span: TypeAlias = tuple[float, float]

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
ALTERNATIVES = ("two-sided", "greater", "less")
# A standard error below this is rounding.
ZERO = 1e-12
# The least p-value that is reported: that of a huge statistic is 0 in floating-point numbers only.
SMALLEST = float(np.finfo(np.float64).tiny)


class Test(NamedTuple):
    """Statistic, p-value and interval of a difference."""

    statistic: float
    p_value: float
    low: float
    high: float


class Spread(NamedTuple):
    """How a value spreads over the queries.

    Attributes
    ----------
    queries, undefined : int
        The number of queries with a value, and without one, which no other number counts.
    mean, sd : float
        Mean and standard deviation.
    low, high : float
        Student's interval of the mean, cut to the range of the measure; NaN for a single query.
    median, q05, least : float
        The median, the 5 % quantile and the least value.
    at_1 : int
        The number of queries with the greatest possible value.
    """

    queries: int
    undefined: int
    mean: float
    sd: float
    low: float
    high: float
    median: float
    q05: float
    least: float
    at_1: int

    @classmethod
    def of(cls, values: Scores, confidence: float, span: tuple[float, float]) -> Spread:
        """Return the spread of some values, NaN where there is none."""
        defined = np.sort(values[~np.isnan(values)])
        n, nan = defined.size, float("nan")
        if not n:
            return cls(0, values.size, *(nan,) * 7, 0)
        least, greatest = float(defined[0]), float(defined[-1])
        mean = min(max(float(defined.mean()), least), greatest)  # of equal values: that value, not one next to it
        sd = nan if n == 1 else 0.0 if least == greatest else float(defined.std(ddof=1))
        reach = nan if n == 1 else quantile(confidence, n - 1) * sd / float(np.sqrt(n))
        ends = (nan, nan) if n == 1 else (max(mean - reach, span[0]), min(mean + reach, span[1]))
        median, five = (_interpolated(defined, q) for q in (0.5, 0.05))
        return cls(n, values.size - n, mean, sd, *ends, median, five, least, int((defined >= span[1]).sum()))


def _interpolated(ordered: Scores, q: float) -> float:
    """Return a quantile of ordered values; for a few of them much faster than numpy.quantile."""
    place = q * (ordered.size - 1)
    low, high = float(ordered[int(place)]), float(ordered[math.ceil(place)])
    return low if low == high else low + (high - low) * (place - int(place))


def bounded(value: Any, error: Any, m: int, confidence: float, least: Any, most: Any) -> tuple[Scores, Scores]:
    """Return the ends of intervals of m draws: Student's on the logit scale between the least and the greatest value.

    Where the standard error is 0, the interval is what draws without a difference leave possible: see `certain`.
    """
    value, error, least, most = (np.asarray(part, np.float64) for part in (value, error, least, most))
    share = certain(m, confidence)
    flat_low, flat_high = _weighted(value, least, share), _weighted(value, most, share)
    below, above = value - least, most - value
    with np.errstate(all="ignore"):
        ratio = np.where(np.isinf(below), 0.0, above / below)
        factor = np.exp(quantile(confidence, m - 1) * error * (1 / below + 1 / above))
        low = most - above * (1 + ratio) / (ratio + 1 / factor)
        high = most - above * (1 + ratio) / (ratio + factor)
    inside = (error > ZERO) & (below > 0) & (above > 0)
    unknown = np.isnan(value) | np.isnan(error)
    low = np.where(inside, np.clip(low, least, value), flat_low)
    high = np.where(inside, np.clip(high, value, most), flat_high)
    return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)


def certain(m: int, confidence: float) -> float:
    """Return the least probability that two draws are alike, at that confidence, if m draws are.

    With probability S that two are alike, m are with probability S ** (m / 2) at most.
    """
    return float((1 - confidence) ** (2 / m))


def _weighted(value: Scores, end: Scores, share: float) -> Scores:
    """Return the mean of a value that holds for a share of the pairs and of the end of the range for the others."""
    return np.where(value == end, value, share * value + (1 - share) * end)


def test(
    difference: float, error: float, freedom: float, *, confidence: float, alternative: str, span: Span, m: int
) -> Test:
    """Return Student's test of a difference from 0, with its interval inside the span.

    An interval is as one-sided as the test. Without any spread, the error is what m draws without one leave possible.
    """
    from scipy.special import stdtr

    choice("alternative", alternative, ALTERNATIVES)
    if math.isnan(difference) or math.isnan(error):
        return Test(math.nan, math.nan, math.nan, math.nan)
    two_sided = alternative == "two-sided"
    factor = quantile(confidence if two_sided else 2 * confidence - 1, freedom)
    if error <= ZERO:
        reach = (1 - certain(m, confidence)) * max(difference - span[0], span[1] - difference)
        error = reach / quantile(confidence, freedom)
    statistic = difference / error
    tail = {"two-sided": -abs(statistic), "greater": -statistic, "less": statistic}[alternative]
    p_value = float(stdtr(freedom, tail)) * (2 if two_sided else 1)
    low = span[0] if alternative == "less" else max(difference - factor * error, span[0])
    high = span[1] if alternative == "greater" else min(difference + factor * error, span[1])
    return Test(statistic, min(max(p_value, SMALLEST), 1.0), low, high)


def welch(variances: Any, sizes: Any) -> float:
    """Return the degrees of freedom of a sum of variances, after Welch and Satterthwaite."""
    variances, sizes = np.asarray(variances, np.float64), np.asarray(sizes, np.float64)
    rest = float((variances**2 / (sizes - 1)).sum())
    return float(variances.sum() ** 2 / rest) if rest > 0 else float(sizes.min() - 1)


def degrees_of_freedom(variances: Any, sizes: Sequence[int]) -> float:
    """Return those of a difference of stabilities: Welch's for equal numbers, otherwise one less than the fewest.

    With unequal numbers, Welch's let tests at 5 % reject in up to 24 % of cases.
    """
    return welch(variances, sizes) if len(set(sizes)) == 1 else min(sizes) - 1.0


def quantile(confidence: float, freedom: float) -> float:
    """Return how many standard errors a two-sided Student interval reaches to each side."""
    from scipy.special import stdtrit  # a hundred times faster than scipy.stats

    return -float(stdtrit(freedom, (1 - confidence) / 2))
