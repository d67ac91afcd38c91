"""Upper tails of Pearson's third type: a gamma distribution, or its mirror image, with mean 0 and variance 1."""

from __future__ import annotations

from math import erfc, exp, isnan, log, log1p, pi, sqrt

from fujiscore._kernels._jit import kernel

# Skewness this small is none.
STRAIGHT = 1e-9
# From this shape of the gamma distribution on, the saddlepoint approximation errs by less than 1e-5 of the tail.
SADDLEPOINT = 100.0
# So near its mean (as a part of it), the approximation takes the first terms of power series.
NEAR = 1e-4
# From this shape on Stirling's series gives the gamma function to the last bits.
STIRLING = 16.0
# Terms below this share of a sum add nothing to it.
NEGLIGIBLE = 1e-16
MOST_TERMS = 10_000


@kernel
def log_gamma(shape):
    """Return the logarithm of the gamma function."""
    product = 1.0
    while shape < STIRLING:
        product *= shape
        shape += 1.0
    square = shape * shape
    rest = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / shape
    return (shape - 0.5) * log(shape) - shape + 0.5 * log(2.0 * pi) + rest - log(product)


@kernel
def by_saddlepoint(shape, apart, upper):
    """Return the tail of a large shape: Lugannani and Rice's formula, the first term of Temme's expansion."""
    if abs(apart) < NEAR:
        eta = apart * (1.0 - apart * (1.0 / 3.0 - apart * 7.0 / 36.0))
        rest = -1.0 / 3.0 + apart / 12.0
    else:
        eta = sqrt(2.0 * (apart - log1p(apart)))
        if apart < 0.0:
            eta = -eta
        rest = 1.0 / apart - 1.0 / eta
    rest *= exp(-0.5 * shape * eta * eta) / sqrt(2.0 * pi * shape)
    if upper:
        return 0.5 * erfc(eta * sqrt(0.5 * shape)) + rest
    return 0.5 * erfc(-eta * sqrt(0.5 * shape)) - rest


@kernel
def gamma_tail(shape, apart, upper):
    """Return how often a gamma value is above (or below) the value that is larger than the mean by this part of it."""
    x = shape * (1.0 + apart)
    if x <= 0.0:
        return 1.0 if upper else 0.0
    if shape >= SADDLEPOINT:
        return by_saddlepoint(shape, apart, upper)
    front = exp(shape * log(x) - x - log_gamma(shape))
    if x < shape + 1.0:  # the lower tail as a power series
        term = total = 1.0 / shape
        for i in range(1, MOST_TERMS):
            term *= x / (shape + i)
            total += term
            if term < NEGLIGIBLE * total:
                break
        return 1.0 - front * total if upper else front * total
    # the upper tail as a continued fraction, by Lentz's method
    b = x + 1.0 - shape
    c = 1e300
    d = 1.0 / b
    fraction = d
    for i in range(1, MOST_TERMS):
        a = i * (shape - i)
        b += 2.0
        d = 1.0 / (a * d + b)
        c = b + a / c
        fraction *= c * d
        if abs(c * d - 1.0) < NEGLIGIBLE:
            break
    return front * fraction if upper else 1.0 - front * fraction


@kernel
def upper_tail(z, skewness):
    """Return how often a value is at least z standard deviations above the mean; NaN where either is."""
    if isnan(z + skewness):
        return z + skewness
    if abs(skewness) < STRAIGHT:
        return 0.5 * erfc(z / sqrt(2.0))
    return gamma_tail(4.0 / (skewness * skewness), z * skewness / 2.0, skewness > 0.0)
