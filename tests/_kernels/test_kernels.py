"""The kernels themselves: plain and compiled with the same bits, and each against a brute-force or exact oracle."""

from __future__ import annotations

import random
import struct
import sys
from contextlib import contextmanager
from decimal import Decimal, localcontext
from fractions import Fraction
from importlib import import_module
from itertools import combinations
from math import comb

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import FULL_RANGE, LARGEST, SIGNED, SMALLEST, pairs

import fujiscore as fj
from fujiscore import _kernels
from fujiscore._kernels import _jit

# The modules hold the plain functions; the package's attributes of the same names are gates.
chance, gamma, grid, order, sweep, splitmix = (
    import_module(f"fujiscore._kernels.{name}") for name in ("chance", "gamma", "grid", "order", "sweep", "random")
)
TINY, LARGE = order.TINY, order.LARGE
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


def bits(value):
    """Return what identifies a result to the last bit, whichever type of number it is; all NaNs are one."""
    if isinstance(value, tuple):
        return tuple(map(bits, value))
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, np.where(np.isnan(value), np.nan, value).tobytes()
    return struct.pack("d", value) if isinstance(value, float) else None if value is None else int(value)


def both(function, *args):
    """Run a kernel compiled and plain, check that every array and the result have the same bits; return the result."""
    copies = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    result = _jit.compiled(function)(*copies)
    with np.errstate(all="ignore"):
        plain = function(*args)
    assert bits(plain) == bits(result)
    for position, (arg, copy) in enumerate(zip(args, copies, strict=True)):
        if isinstance(arg, np.ndarray):
            assert bits(arg) == bits(copy), f"argument {position} of {function.__name__}"
    return result


def descending(scores):
    """Return the order and the scores in it."""
    scores = np.array(scores)
    n = scores.size
    positions, ranked = np.zeros(n, np.int32), np.zeros(n)
    both(order.descending, scores, positions, ranked, np.zeros(n, np.uint64), np.zeros(n, np.uint64))
    return positions, ranked


def tie_bounds(ranked):
    above, up_to = np.zeros(ranked.size, np.int32), np.zeros(ranked.size, np.int32)
    both(order.tie_bounds, ranked, above, up_to)
    both(order.has_ties, ranked)
    return above, up_to


def match(first, second):
    s_rank, r_rank, scratch = (np.zeros(len(first), np.int32) for _ in range(3))
    both(order.match, np.array(first, np.int32), np.array(second, np.int32), s_rank, r_rank, scratch)
    return s_rank, r_rank


def moments(n, k1, k2):
    out = np.zeros((len(k1), 6))
    both(chance.moments, n, np.array(k1, np.int64), np.array(k2, np.int64), out)
    return out


def pair_counts(r, s, k1, k2):
    """Return the four counts at every point of a path."""
    (order_r, ranked_r), (order_s, ranked_s) = descending(r), descending(s)
    out = np.zeros((k1.size, 4))
    both(gamma.pairs, *match(order_r, order_s), ranked_r, ranked_s, k1, k2, out)
    return out


def correlation(r, s, k1, k2):
    (order_r, ranked_r), (order_s, ranked_s) = descending(r), descending(s)
    out = np.zeros(k1.size)
    both(sweep.correlation, *match(order_r, order_s), ranked_r, ranked_s, k1, k2, out)
    return out


@contextmanager
def forced(mode):
    """Run the whole package with kernels compiled always or never."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_jit, "mode", lambda: mode)
        for name in _kernels.__all__:
            module = import_module(f"fujiscore._kernels.{name}")
            patch.setattr(_kernels, name, _jit.KernelGates(module, tiered=True))
        yield


def path(n, seed):
    """Return set sizes that never fall, often stand still, and differ between the two sides."""
    sizes = np.random.default_rng(seed).integers(1, n + 1, (2, n + 3))
    return np.sort(sizes[0]), np.sort(sizes[1])


def exercise(r, s, k1, k2):
    """Run every tiered kernel, plain and compiled, on two rankings and a path of set sizes."""
    r, s = np.array(r), np.array(s)
    n, points = r.size, k1.size
    for scores in (r, s):
        both(order.flaws, scores)
    (order_r, raw_r), (order_s, raw_s) = descending(r), descending(s)
    # Negative scores give no membership, and correlation is given finite scores whose differences are finite.
    ranked_r, ranked_s = np.maximum(raw_r, 0.0), np.maximum(raw_s, 0.0)
    ranks = match(order_r, order_s)
    above, _ = tie_bounds(raw_s)
    both(order.ties_cut, raw_r, raw_s, k1, k2)
    for zero_tail in (0.0, 1.0):
        both(sweep.overlap, *ranks, ranked_r, ranked_s, k1, k2, zero_tail, np.zeros(points, np.int64), np.zeros(points))
    finite_r, finite_s = (np.maximum(raw, -1e300) / 4 for raw in (raw_r, raw_s))
    both(sweep.correlation, *ranks, finite_r, finite_s, k1, k2, np.zeros(points))
    both(gamma.pairs, *ranks, raw_r, raw_s, k1, k2, np.zeros((points, 4)))
    both(chance.tails, ranked_r, np.zeros(n), np.zeros(n))
    moments(n, k1, k2)
    both(chance.reassign, raw_s, above, np.uint64(n), np.zeros(n, np.int32), np.zeros(n), np.zeros(n, np.int32))
    exercise_grid(np.maximum(r, 0.0), np.maximum(s, 0.0), (order_r, order_s), np.unique(k1)[:12])


def exercise_grid(r, s, orders, sizes):
    levels = np.zeros((2, r.size), np.uint8)
    for positions, out in zip(orders, levels, strict=True):
        both(grid.levels, positions, sizes, out)
    scores = np.minimum([r, s], sweep.HUGE)
    kth = np.stack([np.sort(row)[::-1][sizes - 1] for row in scores])
    rows, columns = np.array([0, 0, 1]), np.array([0, 1, 1])
    shared, fuji = np.zeros((3, sizes.size), np.int64), np.zeros((3, sizes.size))
    both(grid.pairs, rows, columns, levels, levels, scores, scores, kth, kth, 1.0, shared, fuji)
    both(grid.overlap, *levels, *scores, *kth, 0.0, shared[0], fuji[0])


class TestPlainAndCompiled:
    """The same bits, whichever runs."""

    @pytest.mark.parametrize("n", [3, TINY + 1, 150])
    @pytest.mark.parametrize("kind", KINDS)
    def test_kinds_of_scores(self, kind, n):
        exercise(KINDS[kind](n), KINDS[kind](n), *path(n, n))

    @pytest.mark.parametrize("n", [1, 2, 400])
    def test_sizes(self, n):
        exercise(KINDS["uniform"](n), KINDS["few values"](n), np.arange(1, n + 1), np.arange(1, n + 1))

    @given(pairs(FULL_RANGE), st.integers(0, 5))
    def test_any_scores(self, pair, seed):
        exercise(*pair, *path(len(pair[0]), seed))

    @given(pairs(SIGNED), st.integers(0, 5))
    def test_any_signed_scores(self, pair, seed):
        exercise(*pair, *path(len(pair[0]), seed))

    @pytest.mark.parametrize("n", [60_000, 10_000_000])
    def test_many_items_at_few_points(self, n):
        moments(n, [1, 7, n // 3, n - 1, n], [5, 7, n // 2, n - 2, n])

    @pytest.mark.parametrize("state", [0, 1, 2**63, 2**64 - 1])
    def test_random_numbers(self, state):
        assert int(both(splitmix.scramble, np.uint64(state))) == splitmix64(state)

    def test_no_kernel_is_left_out(self):
        """The cases above reach every kernel that may run uncompiled."""
        reached = set()
        sys.setprofile(lambda frame, event, _: reached.add(frame.f_code) if event == "call" else None)
        try:
            exercise([1.0, 2.0, 2.0], [2.0, 1.0, 2.0], np.arange(1, 4), np.arange(1, 4))
            # Huge scores, more than 32 bits to sort by, and more items than are summed term by term.
            exercise([1e300, 1.0, 3.0], [1.0, 1e305, 2.0], np.arange(1, 4), np.arange(1, 4))
            descending(KINDS["one last bit out of place"](TINY + 9))
            moments(60_000, [30_000], [30_000])
        finally:
            sys.setprofile(None)
        kernels = {
            function
            for module in (chance, gamma, grid, order, sweep, splitmix)
            for function in vars(module).values()
            if hasattr(function, "cost")
        }
        assert {function.__name__ for function in kernels if function.__code__ not in reached} == set()

    @pytest.mark.parametrize("ties", ["stable", "closed"])
    def test_curves_and_rankers(self, ties):
        """Through the library, the rankers' kernels included."""
        rng = np.random.default_rng(3)
        r, s = (rng.choice([0.0, 1.0, *rng.random(3)], 60) for _ in range(2))
        X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
        X[:, 2] += y
        gaps = np.column_stack([X, y])
        gaps[::7, 0] = gaps[::9, 3] = np.nan

        def results():
            measures = ("fuji", "jaccard", "correlation", "gamma")
            yield from (fj.curve(r, s, name, ties=ties).values for name in measures)
            methods = ["relief", "mutual_information", "random_forest", "surf", "multisurf"]
            yield from fj.rank(X, y, methods, trees=5).scores
            yield from fj.rank(gaps, X[:, 2] + X[:, 1], methods, categorical=[3], trees=5).scores

        with forced("always"):
            expected = list(results())
        with forced("never"):
            assert [bits(values) for values in results()] == [bits(values) for values in expected]


def splitmix64(state):
    """Return SplitMix64's next output from its definition, in Python's integers."""
    mask = 2**64 - 1
    z = (state + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


class TestOrder:
    """Against sorted()."""

    def check(self, scores):
        positions, ranked = descending(scores)
        expected = oracle.order(scores)
        assert positions.tolist() == expected
        np.testing.assert_array_equal(ranked, [scores[i] for i in expected])

    @pytest.mark.parametrize("n", [TINY - 1, TINY, TINY + 1, 300, 2000])
    @pytest.mark.parametrize("kind", KINDS)
    def test_kinds_of_scores(self, kind, n):
        self.check(KINDS[kind](n))

    @pytest.mark.parametrize("scores", [[1.0], [0.0], [1.0, 2.0], [2.0, 1.0], [-0.0, 0.0], [0.0, -0.0]])
    def test_one_or_two(self, scores):
        self.check(scores)

    @pytest.mark.parametrize("kind", ["uniform", "few values", "last bits and one far away"])
    def test_more_items_than_large(self, kind):
        """Beyond LARGE items the digits are narrower."""
        scores = np.array(KINDS[kind](LARGE + 1))
        n = scores.size
        positions, ranked = np.empty(n, np.int32), np.empty(n)
        _kernels.order.descending(scores, positions, ranked, np.empty(n, np.uint64), np.empty(n, np.uint64))
        expected = np.argsort(-scores, kind="stable")
        np.testing.assert_array_equal(positions, expected)
        np.testing.assert_array_equal(ranked, scores[expected])

    @given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8), st.integers(1, 120))
    def test_any_floats(self, pool, n):
        chooser = random.Random(n)
        self.check([chooser.choice(pool) for _ in range(n)])


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
    assert both(order.flaws, np.array(scores)) == expected


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_tie_bounds(scores):
    ranked = np.array(sorted(scores, reverse=True), float)
    above, up_to = tie_bounds(ranked)
    assert above.tolist() == [sum(x > y for x in ranked) for y in ranked]
    assert up_to.tolist() == [sum(x >= y for x in ranked) for y in ranked]


@given(st.integers(1, 30), st.randoms(use_true_random=False))
def test_match(n, shuffler):
    first, second = (shuffler.sample(range(n), n) for _ in range(2))
    s_rank, r_rank = match(first, second)
    assert s_rank.tolist() == [second.index(item) for item in first]
    assert r_rank.tolist() == [first.index(item) for item in second]


class TestPairs:
    """Concordant, discordant and tied pairs against a count over all pairs of the union."""

    def check(self, r, s, k1, k2):
        counts = pair_counts(r, s, k1, k2)
        order_r, order_s = oracle.order(r), oracle.order(s)
        for a, b, row in zip(k1, k2, counts, strict=True):
            expected = [0, 0, 0, 0]
            for x, y in combinations(set(order_r[:a]) | set(order_s[:b]), 2):
                above_r, above_s = (r[x] > r[y]) - (r[x] < r[y]), (s[x] > s[y]) - (s[x] < s[y])
                expected[0] += above_r * above_s > 0
                expected[1] += above_r * above_s < 0
                expected[2] += above_r == 0
                expected[3] += above_s == 0
            assert row.tolist() == expected

    @given(pairs(st.integers(0, 3).map(float), most=14), st.integers(0, 99))
    def test_heavy_ties(self, pair, seed):
        self.check(*pair, *path(len(pair[0]), seed))

    @given(pairs(st.one_of(SIGNED, FULL_RANGE), most=10), st.integers(0, 99))
    def test_any_scores(self, pair, seed):
        self.check(*pair, *path(len(pair[0]), seed))

    def test_a_pair_tied_in_both_counts_in_both(self):
        ks = np.array([1, 2])
        assert pair_counts([1.0, 1.0], [5.0, 5.0], ks, ks).tolist() == [[0, 0, 0, 0], [0, 0, 1, 1]]

    def test_many_pairs(self):
        """Twelve thousand items against the reverse: 72 million pairs, all discordant."""
        n = 12_000
        scores, ks, out = np.arange(n, 0.0, -1.0), np.array([n]), np.zeros((1, 4))
        ranks = np.arange(n - 1, -1, -1, np.int32)
        _kernels.gamma.pairs(ranks, ranks, scores, scores, ks, ks, out)
        assert out.tolist() == [[0, comb(n, 2), 0, 0]]


class TestCorrelation:
    def test_undefined_is_nan(self):
        ks = np.arange(1, 4)
        assert np.isnan(correlation([2.0, 2.0, 2.0], [3.0, 2.0, 1.0], ks, ks)).all()
        values = correlation([3.0, 2.0, 1.0], [3.0, 2.0, 1.0], ks, ks)
        assert np.isnan(values[0])
        np.testing.assert_allclose(values[1:], 1.0, rtol=1e-15)

    @given(pairs(st.integers(0, 3).map(float), most=14), st.integers(0, 99))
    def test_nan_exactly_where_a_side_is_constant(self, pair, seed):
        k1, k2 = path(len(pair[0]), seed)
        tops = [oracle.order(scores) for scores in pair]
        unions = [sorted({*tops[0][:a], *tops[1][:b]}) for a, b in zip(k1, k2, strict=True)]
        constant = [any(len({scores[x] for x in union}) == 1 for scores in pair) for union in unions]
        assert np.isnan(correlation(*pair, k1, k2)).tolist() == constant


def exact_moments(n, k1, k2):
    """Return the six moments over the hypergeometric overlap as fractions."""
    overlaps = range(max(0, k1 + k2 - n), min(k1, k2) + 1)
    weights = [comb(k1, h) * comb(n - k1, k2 - h) for h in overlaps]

    def mean(value):
        return sum(weight * value(h, k1 + k2 - h) for h, weight in zip(overlaps, weights, strict=True)) / sum(weights)

    inverse = mean(lambda _, union: Fraction(1, union))
    return [
        mean(Fraction),
        mean(lambda h, union: Fraction(k1 - h, union)),
        mean(lambda h, union: Fraction(k2 - h, union)),
        mean(lambda _, union: (Fraction(1, union) - inverse) ** 2),
        mean(lambda h, union: Fraction((k1 - h) * (n - union), union * union)),
        mean(lambda h, union: Fraction((k2 - h) * (n - union), union * union)),
    ]


def decimal_moments(n, k1, k2):
    """Return the same for many items, with fifty digits and every overlap."""
    with localcontext() as context:
        context.prec = 50
        low, high = max(0, k1 + k2 - n), min(k1, k2)
        weight, sums = Decimal(1), [Decimal(0)] * 7
        for h in range(low, high + 1):
            union = Decimal(k1 + k2 - h)
            only_1, only_2 = (k1 - h) / union, (k2 - h) / union
            rest = (n - union) / union
            terms = (1, h / union, only_1, only_2, 1 / union, only_1 * rest, only_2 * rest)
            sums = [total + weight * term for total, term in zip(sums, terms, strict=True)]
            weight *= Decimal((k1 - h) * (k2 - h)) / ((h + 1) * (n - k1 - k2 + h + 1))
        means = [total / sums[0] for total in sums[1:]]
        return [float(value) for value in (*means[:3], *means[4:])]


class TestMoments:
    def check(self, n, k1, k2):
        for a, b, row in zip(k1, k2, moments(n, k1, k2), strict=True):
            for actual, expected in zip(row, exact_moments(n, a, b), strict=True):
                assert abs(Fraction(actual) - expected) <= max(Fraction(1e-12) * expected, Fraction(1e-18)), (a, b)

    @pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 21])
    def test_all_sizes_of_few_items_exactly(self, n):
        sizes = [(a, b) for a in range(1, n + 1) for b in range(1, n + 1)]
        self.check(n, *zip(*sizes, strict=True))

    def test_sixty_items_exactly(self):
        """One quarter of the pairs of sizes: all residues meet all others."""
        sizes = [(a, b) for a in range(1, 61) for b in range(1, 61) if (a + 3 * b) % 4 == 0 or max(a, b) > 58]
        self.check(60, *zip(*sizes, strict=True))

    @pytest.mark.parametrize(("k1", "k2"), [(1, 1), (1, 9000), (40, 700), (5000, 5000), (20_000, 20_500), (20_531, 3)])
    def test_many_items(self, k1, k2):
        expected = decimal_moments(20_531, k1, k2)
        actual = np.delete(moments(20_531, [k1], [k2])[0], 3)
        np.testing.assert_allclose(actual, expected, rtol=1e-12)


def test_results_do_not_depend_on_threads():
    """Kernels share nothing: four threads at once give the very bits of one."""
    from concurrent.futures import ThreadPoolExecutor

    pairs = np.random.default_rng(0).pareto(1, (16, 2, 3000))
    alone = [fj.curve(*pair).values for pair in pairs]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda pair: fj.curve(*pair).values, pairs))
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a, b)


LABELS = ("", "a", "b", "ab", "ba", "é", "x" * 40, "x" * 39 + "y")


@pytest.mark.parametrize("collide", [False, True])
@given(st.lists(st.tuples(*[st.lists(st.sampled_from(LABELS), max_size=8)] * 2), min_size=1, max_size=5))
def test_codes_of_labels(collide, lists):
    sides = []
    for side in zip(*lists, strict=True):
        labels = [label.encode() for some in side for label in some]
        ends = np.cumsum([0, *map(len, labels)]).astype(np.int64)
        content, marks = np.frombuffer(b"".join(labels), np.uint8), np.empty(len(labels), np.uint64)
        _kernels.labels.hashes(ends, content, marks)
        if collide:  # labels of one hash are told apart by their bytes
            marks[:] = 7
        start = np.cumsum([0, *map(len, side)]).astype(np.int64)
        sides.append((start, marks, ends, content, np.empty(len(labels), np.int32)))
    (*r, out_r), (*s, out_s) = sides
    most = _kernels.labels.codes(*r, *s, out_r, out_s)
    numbers = []
    for q, (first, second) in enumerate(lists):
        known = {}
        for label in [*first, *second]:
            known.setdefault(label, len(known))
        assert out_r[r[0][q] : r[0][q + 1]].tolist() == [known[label] for label in first]
        assert out_s[s[0][q] : s[0][q + 1]].tolist() == [known[label] for label in second]
        numbers.append(len(known))
    assert most == max(numbers)
