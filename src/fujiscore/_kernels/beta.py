"""Smallest tail probability of the order statistics of uniform values, as logarithms, which do not underflow.

The k-th smallest of m uniform values is at most x with probability I_x(k, m - k + 1) = P(Binomial(m, x) >= k).
"""

from __future__ import annotations

from math import exp, log, log1p

from fujiscore._kernels._jit import kernel

# Terms below this share of a sum add nothing to it.
NEGLIGIBLE = 1e-17
# The logarithm of no double is larger.
LARGEST_LOG = 700.0


@kernel
def smaller_tail(x, k, m, log_choose, best):
    """Return log P(Binomial(m, x) >= k) if it is less than `best`, else `best`."""
    # Above its mean, k / (m + 1), the probability is at least 1 / e.
    above_mean = x * (m + 1) > k
    if x >= 1.0 or (above_mean and best < -1.0):
        return best
    odds = x / (1.0 - x)
    first = log_choose + k * log(x) + (m - k) * log1p(-x)  # log P(Binomial = k)
    if above_mean:
        # 1 less the sum of the terms k - 1, k - 2, ..., 0, which fall
        term = exp(first)
        below = 0.0
        for i in range(k, 0, -1):
            term *= i / ((m - i + 1) * odds)
            below += term
            if term < NEGLIGIBLE * below:
                break
        return min(best, log1p(-min(below, 1.0)))
    if first >= best:
        return best
    enough = exp(best - first) if best - first < LARGEST_LOG else 1e300
    term = total = 1.0
    for i in range(k, m):
        term *= odds * (m - i) / (i + 1)
        total += term
        if term < NEGLIGIBLE * total or total >= enough:
            break
    return min(best, first + log(total))


@kernel(cost=3.0)
def smallest_tails(ordered, offset, downward, log_choose, out):
    """Write, for every row of increasing values, the smallest log tail so far, with k going up or down."""
    # The k-th value is the one at k - 1 + offset; there are as many values as `out` has columns.
    m = out.shape[1]
    for row in range(out.shape[0]):
        best = 0.0
        for step in range(m):
            k = m - step if downward else step + 1
            best = smaller_tail(ordered[row, k - 1 + offset], k, m, log_choose[k], best)
            out[row, k - 1] = best
