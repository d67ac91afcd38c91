"""The compiled kernels themselves: the order against sorted(), and the same results without compilation."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import LARGEST, SMALLEST

import fujiscore as fj
from fujiscore import _kernels

TINY, LARGE = _kernels.order.TINY, _kernels.order.LARGE
source = random.Random(0)
# Kinds of scores, each a function of n.
KINDS = {
    "uniform": lambda n: [source.random() for _ in range(n)],
    "few values": lambda n: [float(source.randrange(5)) for _ in range(n)],
    "all equal": lambda n: [2.5] * n,
    "both zeros": lambda n: [source.choice([0.0, -0.0]) for _ in range(n)],
    "zeros and few": lambda n: [source.choice([0.0, -0.0, 0.0, source.random()]) for _ in range(n)],
    "signed": lambda n: [source.gauss(0, 1) for _ in range(n)],
    "infinite": lambda n: [source.choice([-np.inf, -1.0, 0.0, source.random()]) for _ in range(n)],
    "subnormal": lambda n: [SMALLEST * source.randrange(1000) for _ in range(n)],
    "all magnitudes": lambda n: [10.0 ** source.uniform(-323, 308) for _ in range(n)],
    "largest": lambda n: [source.choice([LARGEST, -LARGEST, SMALLEST, -SMALLEST]) for _ in range(n)],
    "sorted": lambda n: [float(n - i) for i in range(n)],
    "reversed": lambda n: [float(i) for i in range(n)],
    # The first 32 differing bits say nothing here: the order is in the last ones.
    "last bits": lambda n: [1 + source.randrange(n) * 2.0**-52 for _ in range(n)],
    "last bits and one far away": lambda n: [1e300, *(1 + source.randrange(n) * 2.0**-52 for _ in range(n - 1))],
    "negative last bits": lambda n: [-1e300, *(-1 - source.randrange(n) * 2.0**-52 for _ in range(n - 1))],
    "both signs and last bits": lambda n: [
        source.choice([-1, 1]) * (1 + source.randrange(n) * 2.0**-52) for _ in range(n)
    ],
    # One bit more than the first sort sees.
    "33 bits": lambda n: [1 + (source.randrange(2) + 2**32 * source.randrange(2)) * 2.0**-52 for _ in range(n)],
    "spaced by 1e-15": lambda n: [1 + i * 1e-15 for i in source.sample(range(n), n)],
    "rising last bits and one far away": lambda n: [1e-300, *(1 + i * 2.0**-52 for i in range(n - 1))],
    "one last bit out of place": lambda n: [1e300, *(1 - (i % (n - 2)) * 2.0**-53 for i in range(n - 1))],
}


def descending(scores):
    """Run the kernel as the package does."""
    scores = np.array(scores)
    n = scores.size
    order, ranked = np.empty(n, np.int32), np.empty(n)
    _kernels.order.descending(scores, order, ranked, np.empty(n, np.uint64), np.empty(n, np.uint64))
    return order, ranked


def assert_ordered(scores):
    order, ranked = descending(scores)
    expected = oracle.order(scores)
    assert order.tolist() == expected
    np.testing.assert_array_equal(ranked, [scores[i] for i in expected])


@pytest.mark.parametrize("n", [2, TINY - 1, TINY, TINY + 1, 300, 5000])
@pytest.mark.parametrize("kind", KINDS)
def test_the_order_is_stable_and_descending(kind, n):
    if n > 2:
        assert_ordered(KINDS[kind](n))


@pytest.mark.parametrize("scores", [[1.0], [0.0], [1.0, 2.0], [2.0, 1.0], [-0.0, 0.0], [0.0, -0.0]])
def test_the_order_of_one_or_two(scores):
    assert_ordered(scores)


@pytest.mark.parametrize("kind", ["uniform", "few values", "last bits and one far away"])
def test_the_order_of_more_items_than_large(kind):
    """Beyond LARGE items the digits are narrower."""
    scores = np.array(KINDS[kind](LARGE + 1))
    order, ranked = descending(scores)
    expected = np.argsort(-scores, kind="stable")
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_array_equal(ranked, scores[expected])


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8), st.integers(1, 120))
def test_the_order_of_any_floats(pool, n):
    chooser = random.Random(n)
    assert_ordered([chooser.choice(pool) for _ in range(n)])


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([1.0, 0.0], (False, False, False)),
        ([1.0, -0.0], (False, False, False)),
        ([1.0, np.nan], (True, False, False)),
        ([np.inf, 1.0], (False, True, False)),
        ([-np.inf, 1.0], (False, False, True)),
        ([-SMALLEST, np.nan, np.inf], (True, True, True)),
    ],
)
def test_flaws(scores, expected):
    assert _kernels.order.flaws(np.array(scores)) == expected


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_tie_bounds(scores):
    ranked = np.array(sorted(scores, reverse=True), float)
    above, up_to = np.empty((2, ranked.size), np.int32)
    _kernels.order.tie_bounds(ranked, above, up_to)
    assert above.tolist() == [sum(x > y for x in ranked) for y in ranked]
    assert up_to.tolist() == [sum(x >= y for x in ranked) for y in ranked]


@given(st.integers(1, 30), st.randoms(use_true_random=False))
def test_match(n, shuffler):
    first, second = (shuffler.sample(range(n), n) for _ in range(2))
    s_rank, r_rank, scratch = np.empty((3, n), np.int32)
    _kernels.order.match(np.array(first, np.int32), np.array(second, np.int32), s_rank, r_rank, scratch)
    assert s_rank.tolist() == [second.index(item) for item in first]
    assert r_rank.tolist() == [first.index(item) for item in second]


def test_results_do_not_depend_on_threads():
    """Kernels share nothing: four threads at once give the very bits of one."""
    from concurrent.futures import ThreadPoolExecutor

    pairs = np.random.default_rng(0).pareto(1, (16, 2, 3000))
    alone = [fj.curve(*pair).values for pair in pairs]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda pair: fj.curve(*pair).values, pairs))
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a, b)


UNCOMPILED = """
import random
import fujiscore as fj
from fujiscore._kernels import order
assert not hasattr(order.descending, "py_func"), "compiled all the same"
source = random.Random(3)
for n in (6, 60, 1001):
    r, s = [[source.choice([0.0, 1.0, source.random()]) for _ in range(n)] for _ in range(2)]
    for name in fj.PAPER_MEASURES:
        print(*fj.curve(r, s, name, ks="exp" if n > 100 else "all").values.tolist())
"""


def run(script, **environment):
    """Return what a script prints, run with warnings as errors."""
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_kernels_run_uncompiled_with_the_same_results():
    lines = UNCOMPILED.splitlines()
    compiled = run("\n".join(line for line in lines if "assert" not in line))
    uncompiled = run(UNCOMPILED, NUMBA_DISABLE_JIT="1")
    values = [[float(x) for x in line.split()] for line in compiled.splitlines()]
    others = [[float(x) for x in line.split()] for line in uncompiled.splitlines()]
    assert len(values) == len(others) == 3 * len(fj.PAPER_MEASURES)
    for a, b in zip(values, others, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)
