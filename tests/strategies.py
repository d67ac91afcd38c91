"""Hypothesis strategies for rankings, and seeded ones spread over hundreds of orders of magnitude."""

from __future__ import annotations

import random

from hypothesis import strategies as st

LARGEST = 1.7976931348623157e308
SMALLEST = 5e-324

# Everything from subnormals to the largest float, small integers (which tie), and the hard spots.
FULL_RANGE = st.one_of(
    st.floats(min_value=0, max_value=LARGEST),
    st.floats(min_value=1e307, max_value=LARGEST),
    st.floats(min_value=0, max_value=1e-307),
    st.integers(0, 4).map(float),
    st.sampled_from([0.0, -0.0, SMALLEST, 2.0**-1022, 1.0, 1 + 2.0**-52, 1 - 2.0**-53, 2.0**959, 2.0**960, LARGEST]),
)
SIGNED = st.one_of(st.floats(-1e6, 1e6), st.integers(-3, 3).map(float), st.just(float("-inf")))
SMALL = st.integers(0, 12).map(float)


@st.composite
def pairs(draw, scores=FULL_RANGE, least=1, most=12):
    """Return two rankings of the same items."""
    n = draw(st.integers(least, most))
    column = st.lists(scores, min_size=n, max_size=n)
    return draw(column), draw(column)


@st.composite
def distinct_pairs(draw, least=1, most=12):
    """Return two rankings without ties whose scores are integers, so that no two ratios round to the same."""
    n = draw(st.integers(least, most))
    column = st.lists(st.integers(0, 1000), min_size=n, max_size=n, unique=True)
    return [float(x) for x in draw(column)], [float(x) for x in draw(column)]


def spread(n, seed, *, tied=False):
    """Return a ranking whose scores fall geometrically over 300 orders of magnitude, in random order."""
    source = random.Random(seed)
    distinct = [10.0 ** (150 - 300 * i / max(1, n - 1)) for i in range(n)]
    scores = [source.choice([*distinct[:: max(1, n // 4)], 0.0]) for _ in range(n)] if tied else distinct
    source.shuffle(scores)
    return scores


def heavy(n, seed, *, tied=False):
    """Return a ranking with many scores of like size and a few large ones; a third of them 0 if tied."""
    source = random.Random(seed)
    scores = [source.paretovariate(0.7) for _ in range(n)]
    return [0.0 if source.random() < 1 / 3 else float(round(x, 1)) for x in scores] if tied else scores
