"""Every value against exact rational arithmetic, on scores from subnormals to the largest floats."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import inf, isnan

import numpy as np
import oracle
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from strategies import FULL_RANGE, LARGEST, SIGNED, SMALL, SMALLEST, heavy, pairs, spread

import fujiscore as fj

HALF = Fraction(1, 2)
TIES = ("stable", "closed")
ZERO_TAIL = ("include", "exclude")
OPTIONS = [{"ties": ties, "zero_tail": zero_tail} for ties, zero_tail in product(TIES, ZERO_TAIL)]
# Both sets must be asked for at one size.
EQUAL_ONLY = ("kuncheva", "krizek", "average_overlap", "rbo", "ndcg")
TOLERANCE = {"fuji": 1e-13, "correlation": 1e-9}
# FUJI's relative error counts however small the value; the others may be differences that cancel.
FLOOR = {"fuji": 1e-300}
THOROUGH = settings(max_examples=5 * settings().max_examples)


def assert_exact(measure, actual, exact):
    actual = np.atleast_1d(actual)
    assert actual.size == len(exact)
    worst = max(oracle.error(a, e, FLOOR.get(measure, 1.0)) for a, e in zip(actual, exact, strict=True))
    assert worst <= TOLERANCE.get(measure, 1e-12), (measure, worst)


def has_membership(scores):
    """Whether FUJI has something to go by: rankings of negative scores only are refused."""
    return max(scores) >= 0


class TestOracle:
    """Values worked out by hand, so that an error common to oracle and package shows."""

    def test_fuji_counts_a_near_miss_by_its_relative_score(self):
        # Shared: the first item. The second has 2/3 of s's second best score, the third 2/3 of r's.
        assert oracle.value("fuji", [4, 3, 2, 1], [4, 2, 3, 1], 2) == (1 + Fraction(2, 3) + Fraction(2, 3)) / 3

    def test_fuji_of_two_sizes(self):
        # r's set is {0}, s's is {1, 2}: item 0 has 1/2 of s's second best score, items 1 and 2 have 3/4 and 1/2 of r's.
        assert oracle.value("fuji", [4, 3, 2], [1, 4, 2], (1, 2)) == (Fraction(1, 2) + Fraction(3, 4) + HALF) / 3

    @pytest.mark.parametrize(("zero_tail", "expected"), [("include", 1), ("exclude", 0)])
    def test_items_tied_at_zero(self, zero_tail, expected):
        options = {"ties": "stable", "zero_tail": zero_tail}
        assert oracle.value("fuji", [0, 0], [0, 1], (1, 1), **options) == Fraction(expected, 2)
        # With closed ties no item outside a set ties with its last one, at 0 or elsewhere.
        assert oracle.value("fuji", [0, 0], [0, 1], (1, 1), zero_tail=zero_tail) == HALF

    def test_closed_ties_enter_together(self):
        assert oracle.top([1, 2, 2, 0], 1) == {1, 2}
        assert oracle.top([1, 2, 2, 0], 1, "stable") == {1}

    @pytest.mark.parametrize(
        ("measure", "expected"),
        [
            ("jaccard", Fraction(1, 4)),
            ("hamming", Fraction(4, 7)),
            ("pog", Fraction(1, 2)),
            ("npog", (1 - Fraction(6, 7)) / (2 - Fraction(6, 7))),
            ("wald", (1 - Fraction(6, 7)) / (2 - Fraction(6, 7))),
            ("lustgarten", (1 - Fraction(6, 7)) / 2),
            ("cwrel", Fraction(1, 2)),
            ("gamma", Fraction(-2, 3)),
            ("dice", Fraction(2, 5)),
            ("kappa", (1 - Fraction(6, 7)) / (Fraction(5, 2) - Fraction(6, 7))),
            ("kendall", Fraction(-2, 3)),
            ("spearman", Fraction(-4, 5)),
        ],
    )
    def test_two_and_three_of_seven_items(self, measure, expected):
        # r's set {0, 1}, s's {1, 2, 3}: one item shared, four in the union. r orders it 0 1 2 3, s 3 1 2 0.
        r, s = [7, 6, 5, 4, 3, 2, 1], [0, 6, 5, 7, 1, 2, 3]
        assert oracle.value(measure, r, s, (2, 3)) == expected

    def test_roots(self):
        assert oracle.root(Fraction(9, 16)) == Fraction(3, 4)
        assert abs(oracle.root(Fraction(2)) ** 2 - 2) < Fraction(1, 2**190)
        # 2 of 4 items each, one shared: exactly what chance gives; both shared: 1.
        assert oracle.value("pearson", [4, 3, 2, 1], [4, 1, 3, 2], 2) == 0
        assert oracle.value("correlation", [1, 2, 3], [3, 5, 7], 3) == 1

    def test_lists_cut_at_a_depth(self):
        # The first items differ, the first two are the same.
        assert oracle.value("average_overlap", [3, 2, 1], [2, 3, 1], 2) == HALF
        assert oracle.value("rbo", [3, 2, 1], [2, 3, 1], 2) == Fraction(9, 10)

    def test_lists_with_ties_cut_at_a_depth(self):
        # Depth 1: {0} and {1}; depth 2: {0, 1, 2} and {0, 1}.
        assert oracle.value("average_overlap", [3, 2, 2], [2, 3, 1], 2) == Fraction(2, 5)
        assert oracle.value("average_overlap", [3, 2, 2], [2, 3, 1], 2, ties="stable") == HALF

    def test_undefined(self):
        for measure in ("kendall", "spearman", "weightedtau"):
            assert isnan(oracle.value(measure, [1, 1, 1], [1, 2, 3], 3))
        for measure in ("gamma", "correlation"):
            assert oracle.value(measure, [1, 1, 1], [1, 2, 3], 3) == 1
        assert isnan(oracle.value("krizek", [2, 2, 1], [3, 2, 1], 1))
        assert oracle.error(float("nan"), float("nan")) == 0
        assert oracle.error(1.0, float("nan")) == inf

    def test_moments_over_all_assignments(self):
        # The one best item of three is the same in a third of all assignments.
        assert oracle.moments("jaccard", [3, 2, 1], [3, 2, 1], 1) == (Fraction(1, 3), Fraction(2, 9))
        assert oracle.padded({"a": 1.0}, "ab") == [1.0, -inf]

    def test_weighted_tau_counts_the_top_more(self):
        # Swapped at the top: pairs weigh 1 + 1/2, 1 + 1/3 and 1/2 + 1/3 by either ranking.
        top, bottom = Fraction(3, 2), Fraction(5, 6)
        total = top + bottom + Fraction(4, 3)
        assert oracle.value("weightedtau", [3, 2, 1], [2, 3, 1], 3) == (total - 2 * top) / total

    def test_auc_and_grids(self):
        assert oracle.auc([Fraction(0), Fraction(1), Fraction(1)]) == Fraction(3, 4)
        assert oracle.auc([Fraction(1, 3)]) == Fraction(1, 3)
        assert oracle.grid("exp", 8) == [1, 2, 4, 8]
        assert oracle.grid("exp", 9) == [1, 2, 4, 8, 9]
        assert oracle.grid("squared", 10) == [1, 4, 9, 10]


def test_the_oracle_knows_every_measure():
    assert set(oracle.MEASURES) == set(fj.MEASURES)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("make", [spread, heavy])
def test_fuji_at_every_k(make, tied, options):
    for seed, n in enumerate((1, 2, 3, 5, 9, 17, 40, 41, 60)):
        r, s = make(n, seed, tied=tied), make(n, seed + 100, tied=tied)
        exact = oracle.curve("fuji", r, s, range(1, n + 1), **options)
        curve = fj.curve(r, s, **options)
        assert curve.ks.tolist() == list(range(1, n + 1))
        assert_exact("fuji", curve.values, exact)
        assert oracle.error(curve.auc, oracle.auc(exact)) < 1e-13


@pytest.mark.parametrize("seed", range(6))
def test_nearly_equal_orders_keep_their_precision(seed):
    """Few swaps: the running sums empty and fill again while the scores fall by 300 orders of magnitude."""
    source = random.Random(seed)
    r = sorted(spread(50, seed), reverse=True)
    s = list(r)
    for _ in range(seed + 1):
        i = source.randrange(49)
        s[i], s[i + 1] = s[i + 1], s[i]
    assert_exact("fuji", fj.curve(r, s).values, oracle.curve("fuji", r, s, range(1, 51)))


def test_fuji_of_the_reversed_order_keeps_its_precision_at_the_smallest_values():
    r = sorted(spread(40, 0))
    exact = oracle.curve("fuji", r, r[::-1], range(1, 41))
    assert exact[0] < Fraction(1e-290)
    assert_exact("fuji", fj.curve(r, r[::-1]).values, exact)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("tied", [False, True])
def test_sparse_grids_of_few_items(tied, options):
    for seed in range(6):
        source = random.Random(seed)
        n = source.randrange(30, 60)
        r, s = spread(n, seed, tied=tied), heavy(n, seed, tied=tied)
        chosen = sorted(source.sample(range(1, n + 1), 5))
        for ks, points in [(chosen, chosen), ("exp", oracle.grid("exp", n)), ("squared", oracle.grid("squared", n))]:
            curve = fj.curve(r, s, ks=ks, **options)
            assert curve.ks.tolist() == points
            assert_exact("fuji", curve.values, oracle.curve("fuji", r, s, points, **options))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(("n", "make"), [(1000, spread), (1237, heavy)])
def test_sparse_grids_of_many_items(n, make, tied, options):
    """From 1000 items on a sparse grid takes another way (one table, no sort of the pair)."""
    r, s = make(n, 1, tied=tied), make(n, 2, tied=tied)
    ks = [1, 2, 7, 31, 300, n - 1, n]
    exact = oracle.curve("fuji", r, s, ks, **options)
    jaccard = oracle.curve("jaccard", r, s, ks, **options)
    assert_exact("fuji", fj.curve(r, s, ks=ks, **options).values, exact)
    assert_exact("jaccard", fj.curve(r, s, "jaccard", ks=ks, **options).values, jaccard)
    whole = fj.curve(r, s, **options).values
    assert_exact("fuji", whole[np.array(ks) - 1], exact)


@pytest.mark.parametrize("points", [31, 32, 38, 39])
def test_both_ways_meet_where_one_takes_over(points):
    """With 1500 items, 38 points are the most that the table takes (points² <= n)."""
    r, s = heavy(1500, 3), heavy(1500, 4)
    ks = np.linspace(1, 1500, points).astype(int)
    np.testing.assert_allclose(fj.curve(r, s, ks=ks).values, fj.curve(r, s).values[ks - 1], rtol=1e-13)


def test_a_grid_of_255_points():
    """The table keeps an item's level in a byte, one more for the items in no set: 256 points go the other way."""
    n = 256 * 256
    r, s = np.random.default_rng(5).pareto(1, (2, n))
    whole = fj.curve(r, s)
    for points in (254, 255, 256):
        ks = np.unique(np.linspace(1, n // 2, points).astype(int))
        assert ks.size == points
        np.testing.assert_allclose(fj.curve(r, s, ks=ks).values, whole.values[ks - 1], rtol=1e-12)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_huge_scores_of_many_items(options):
    """Sums of 1000 scores near the largest float overflow unless they are carried scaled."""
    source = random.Random(0)
    r, s = [[source.choice([LARGEST, 9e307, 1e300, 1.0, 1e-300, 0.0]) for _ in range(1100)] for _ in range(2)]
    ks = [1, 100, 250, 500, 800, 1000]
    exact = oracle.curve("fuji", r, s, ks, **options)
    assert_exact("fuji", fj.curve(r, s, ks=ks, **options).values, exact)
    assert_exact("fuji", fj.curve(r, s, **options).values[np.array(ks) - 1], exact)


def test_long_sums_leave_no_rounding_behind():
    """100,000 scores enter and leave the running sums before the top is reached; plain sums would err by 1e-10."""
    source = random.Random(11)
    r, s = [[0.9 + 0.1 * source.random() for _ in range(100_000)] for _ in range(2)]
    r[5] = s[5] = 1.0
    ks = [1, 2, 3, 5, 10, 100]
    values = fj.curve(r, s).values[np.array(ks) - 1]
    exact = oracle.curve("fuji", r, s, ks)
    assert max(oracle.error(a, e) for a, e in zip(values, exact, strict=True)) < 1e-15


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_signed_scores_of_many_items(options):
    source = random.Random(7)
    r, s = [[source.choice([-inf, source.gauss(0, 1), 0.0, source.gauss(1, 1)]) for _ in range(1100)] for _ in range(2)]
    ks = [1, 30, 400, 600, 700, 1000]
    exact = oracle.curve("fuji", r, s, ks, **options)
    assert_exact("fuji", fj.curve(r, s, ks=ks, negative="clip", **options).values, exact)
    assert_exact("fuji", fj.curve(r, s, negative="clip", **options).values[np.array(ks) - 1], exact)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("measure", fj.MEASURES)
def test_every_pair_of_sizes(measure, options):
    for seed, tied in product(range(3), (False, True)):
        r, s = spread(7, seed, tied=tied), heavy(7, seed + 50, tied=tied)
        for k in product(range(1, 8), repeat=2):
            if measure not in EQUAL_ONLY or k[0] == k[1]:
                exact = oracle.value(measure, r, s, k, **options)
                assert_exact(measure, fj.score(r, s, k, measure, **options), [exact])


@pytest.mark.parametrize("k", [(1, 1100), (3, 700), (600, 2), (1100, 1100), (500, 501)])
def test_unequal_sizes_of_many_items(k):
    for make, tied in product((spread, heavy), (False, True)):
        r, s = make(1100, 8, tied=tied), make(1100, 9, tied=tied)
        assert_exact("fuji", fj.fuji(r, s, k), [oracle.value("fuji", r, s, k)])


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("make", [spread, heavy])
@pytest.mark.parametrize("measure", [name for name in fj.MEASURES if name != "fuji"])
def test_every_measure_at_every_k(measure, make, tied, ties):
    options = {"ties": ties}
    for seed, n in enumerate((1, 2, 3, 8, 25)):
        r, s = make(n, seed, tied=tied), make(n, seed + 200, tied=tied)
        exact = oracle.curve(measure, r, s, range(1, n + 1), **options)
        curve = fj.curve(r, s, measure, **options)
        assert_exact(measure, curve.values, exact)
        assert oracle.error(curve.auc, oracle.auc(exact), 1.0) < TOLERANCE.get(measure, 1e-12)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("measure", ["gamma", "correlation", "kendall"])
def test_pairwise_measures_of_more_items(measure, ties):
    for seed, tied in product(range(2), (False, True)):
        r, s = heavy(60, seed, tied=tied), heavy(60, seed + 20, tied=tied)
        exact = oracle.curve(measure, r, s, range(1, 61), ties=ties)
        assert_exact(measure, fj.curve(r, s, measure, ties=ties).values, exact)


@THOROUGH
@given(pairs(), st.sampled_from(OPTIONS))
@example(([LARGEST] * 3 + [0.0], [LARGEST, 0.0, LARGEST, SMALLEST]), OPTIONS[0])
@example(([SMALLEST, 2 * SMALLEST, 3 * SMALLEST], [3 * SMALLEST, SMALLEST, 2 * SMALLEST]), OPTIONS[0])
def test_fuji_of_any_floats(pair, options):
    r, s = pair
    assert_exact("fuji", fj.curve(r, s, **options).values, oracle.curve("fuji", r, s, range(1, len(r) + 1), **options))


@THOROUGH
@given(pairs(), st.data(), st.sampled_from(OPTIONS))
def test_fuji_of_any_floats_and_sizes(pair, data, options):
    r, s = pair
    size = st.integers(1, len(r))
    k = (data.draw(size), data.draw(size))
    assert_exact("fuji", fj.fuji(r, s, k, **options), [oracle.value("fuji", r, s, k, **options)])


@given(pairs(FULL_RANGE, most=6), st.data(), st.sampled_from(OPTIONS))
def test_fuji_of_any_floats_among_many_items(pair, data, options):
    """The same floats, repeated to 1000 items and more: the table's way, and the guard against overflow."""
    source = random.Random(data.draw(st.integers(0, 99)))
    r, s = [[source.choice(scores) for _ in range(1001)] for scores in pair]
    ks = sorted(data.draw(st.sets(st.integers(1, 1001), min_size=1, max_size=3)))
    assert_exact("fuji", fj.curve(r, s, ks=ks, **options).values, oracle.curve("fuji", r, s, ks, **options))


@pytest.mark.parametrize("measure", [name for name in fj.MEASURES if name not in EQUAL_ONLY])
@given(pair=pairs(st.one_of(SMALL, SIGNED), most=8), data=st.data(), options=st.sampled_from(OPTIONS))
def test_signed_scores_order_raw_and_count_as_zero(measure, pair, data, options):
    r, s = pair
    assume(measure != "fuji" or (has_membership(r) and has_membership(s)))
    size = st.integers(1, len(r))
    k = (data.draw(size), data.draw(size))
    exact = oracle.value(measure, r, s, k, **options)
    assert_exact(measure, fj.score(r, s, k, measure, negative="clip", **options), [exact])


@pytest.mark.parametrize("spacing", [1e-3, 1e-10, 1e-15])
def test_correlation_of_scores_far_from_zero(spacing):
    """Scores such as 1.0000000001 differ in their last digits only; those digits are exact all the same."""
    source = random.Random(2)
    r, s = [[1 + spacing * source.random() for _ in range(20)] for _ in range(2)]
    assert_exact("correlation", fj.curve(r, s, "correlation").values, oracle.curve("correlation", r, s, range(1, 21)))


def test_correlation_beside_a_hugely_negative_score():
    r, s = [1.0, 0.5, -LARGEST], [0.5, 1.0, 0.1]
    exact = oracle.curve("correlation", r, s, range(1, 4))
    assert_exact("correlation", fj.curve(r, s, "correlation", negative="clip").values, exact)


def test_correlation_beside_minus_infinity():
    """-inf counts as the least finite score, however low that is."""
    r, s = [1.0, 0.5, -LARGEST, -inf], [0.5, 1.0, 0.1, 0.2]
    exact = oracle.curve("correlation", r, s, range(1, 5))
    assert_exact("correlation", fj.curve(r, s, "correlation", negative="clip").values, exact)


@pytest.mark.parametrize("measure", ["correlation", "gamma", "kendall"])
@THOROUGH
@given(pair=pairs(most=7), ties=st.sampled_from(TIES))
@example(pair=([1 + 2.0**-52, 1.0], [0.0, 1.0]), ties="closed")
def test_pairwise_measures_of_any_floats(measure, pair, ties):
    r, s = pair
    exact = oracle.curve(measure, r, s, range(1, len(r) + 1), ties=ties)
    assert_exact(measure, fj.curve(r, s, measure, ties=ties).values, exact)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@given(pair=pairs(FULL_RANGE, most=8), data=st.data())
def test_explanations_row_by_row(options, pair, data):
    r, s = pair
    size = st.integers(1, len(r))
    k = (data.draw(size), data.draw(size))
    why = fj.explain(r, s, k, **options)
    rows = oracle.explain(r, s, k, **options)
    assert sorted(why.items) == sorted(rows)
    for i, item in enumerate(why.items):
        row = rows[item]
        assert (why.rank_r[i], why.rank_s[i]) == (row["rank_r"], row["rank_s"])
        assert (why.score_r[i], why.score_s[i]) == (r[item], s[item])
        for column in ("membership_r", "membership_s", "contribution"):
            assert oracle.error(getattr(why, column)[i], row[column]) < 1e-15
        # The border between near and far is a rounded mean: leave it its last bits.
        if row["from border"] > 1e-11 or row["kind"] == "shared":
            assert why.kind[i] == row["kind"]
    last = [sorted(scores, reverse=True)[size - 1] for scores, size in zip(pair, k, strict=True)]
    undefined = {"fuji": max(last) <= 0, "jaccard": last == [0, 0]}
    for name, value in (("fuji", why.value), ("jaccard", why.jaccard)):
        if undefined[name]:
            assert np.isnan(value)
        else:
            assert_exact(name, value, [oracle.value(name, r, s, k, **options)])
