"""FUJI of truncated rankings: the bounds hold for every completion, and completions reach them."""

from __future__ import annotations

import random
from fractions import Fraction

import bounds_oracle as oracle
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fujiscore as fj

ZERO_TAIL = ("include", "exclude")
SCORES = st.one_of(st.integers(0, 3).map(float), st.floats(0, 10), st.sampled_from([1e-300, 5e-324, 1e300, 1.7e308]))


@st.composite
def truncated(draw, items, scores=SCORES):
    """Return two rankings that each list some of the items, in an order of their own."""
    lists = []
    for _ in range(2):
        own = draw(st.permutations(items))[: draw(st.integers(1, len(items)))]
        lists.append({x: draw(scores) for x in own})
    return lists


def pareto(items, seed):
    """Return a ranking of the items with many small scores and a few large ones."""
    source = random.Random(seed)
    return {x: source.paretovariate(0.7) for x in items}


class TestOracle:
    def test_a_miss_can_score_anything_up_to_the_last(self):
        # Top one: a in r, b in s. b scores 0 to 4 in r, a 0 to 2 in s.
        assert oracle.bounds({"a": 8, "c": 4}, {"b": 4, "c": 2}, 1) == (0, Fraction(1, 2))

    def test_tied_items_enter_together(self):
        # Top one: {a, c} in r, {b} in s; a and c score 0 to 4 in s, b 0 to 4 in r.
        assert oracle.bounds({"a": 4, "c": 4}, {"b": 4}, 1) == (0, 1)


class TestExact:
    @pytest.mark.parametrize("zero_tail", ZERO_TAIL)
    @given(pair=truncated("abcde"))
    @settings(max_examples=40)
    def test_the_extremes_of_all_completions(self, pair, zero_tail):
        r, s = pair
        limits = fj.bounds(r, s, zero_tail=zero_tail)
        depth = min(len(r), len(s))
        assert limits.n == len(oracle.all_items(r, s))
        assert limits.ks.tolist() == list(range(1, depth + 1))
        for k in range(1, depth + 1):
            low, high = oracle.bounds(r, s, k, zero_tail, fills=(Fraction(0), Fraction(1)))
            assert limits.low[k - 1] == pytest.approx(float(low), rel=1e-12, abs=1e-300), k
            assert limits.high[k - 1] == pytest.approx(float(high), rel=1e-12, abs=1e-300), k

    def test_two_disjoint_top_ten_lists(self):
        r, s = ({f"{name}{i}": 1 / i for i in range(1, 11)} for name in "rs")
        limits = fj.bounds(r, s)
        assert limits.ks.tolist() == list(range(1, 11))
        assert limits.low.tolist() == [0] * 10
        assert limits.auc[0] == 0
        # A miss scores at most 1/10, so at most k/10 of the k-th.
        np.testing.assert_allclose(limits.high, np.arange(1, 11) / 10, rtol=1e-14)
        with pytest.raises(fj.InputError, match=r"ks must lie between 1 and 10.*got 11"):
            fj.bounds(r, s, ks=[1, 11])

    def test_negative_scores_order_and_count_as_nothing(self):
        r, s = {"a": 3.0, "b": 1.0, "c": -1.0, "d": -2.0}, {"b": 2.0, "e": 1.0, "f": -3.0}
        limits = fj.bounds(r, s, negative="clip")
        for k in range(1, 4):
            low, high = oracle.bounds(r, s, k)
            assert (limits.low[k - 1], limits.high[k - 1]) == pytest.approx((float(low), float(high)))
        assert (
            fj.bounds(r, s, negative="abs").low[0]
            == fj.bounds(*({x: abs(y) for x, y in own.items()} for own in (r, s))).low[0]
        )


class TestContainment:
    @pytest.mark.parametrize("zero_tail", ZERO_TAIL)
    @given(pair=truncated("abcdefghijkl"), seed=st.integers(0, 10**6))
    def test_every_completion_lies_between(self, pair, seed, zero_tail):
        r, s = pair
        items = oracle.all_items(r, s)
        source = random.Random(seed)
        limits = fj.bounds(r, s, zero_tail=zero_tail)
        for _ in range(3):
            completed = [oracle.random_completion(own, items, source) for own in (r, s)]
            for i, k in enumerate(limits.ks.tolist()):
                value = float(oracle.fuji(r, s, *completed, k, zero_tail))
                assert limits.low[i] * (1 - 1e-12) - 1e-300 <= value <= limits.high[i] + 1e-12

    @given(pair=truncated("abcdefghijkl"))
    @example(pair=[{"a": 0.0, "b": 5e-324, "c": 0.0, "d": 1.0, "e": 1.0, "f": 1.0}, {"b": 0.0}])
    def test_range_and_symmetry(self, pair):
        limits, mirrored = fj.bounds(*pair), fj.bounds(*reversed(pair))
        assert np.all(limits.low >= 0)
        assert np.all(limits.low <= limits.high)
        assert np.all(limits.high <= 1)
        np.testing.assert_allclose(limits.low, mirrored.low, rtol=1e-12)
        np.testing.assert_allclose(limits.high, mirrored.high, rtol=1e-12)

    def test_completions_reach_both_bounds_of_large_lists(self):
        items = list(range(3000))
        full_r, full_s = pareto(items, 1), pareto(items, 2)
        r = dict(sorted(full_r.items(), key=lambda pair: -pair[1])[:2000])
        s = dict(sorted(full_s.items(), key=lambda pair: -pair[1])[:500])
        limits = fj.bounds(r, s)
        every = oracle.all_items(r, s)
        truth = fj.curve({x: full_r[x] for x in every}, {x: full_s[x] for x in every}, ks=limits.ks).values
        assert np.all(limits.low <= truth + 1e-12)
        assert np.all(truth <= limits.high + 1e-12)
        assert np.all(limits.low < limits.high)
        for fill, reached in ((0.0, limits.low), (1 - 1e-13, limits.high)):
            whole = [{x: own.get(x, fill * min(own.values())) for x in every} for own in (r, s)]
            np.testing.assert_allclose(fj.curve(*whole, ks=limits.ks).values, reached, rtol=1e-10)

    def test_the_lower_bound_is_the_curve_with_missing_items_at_zero(self):
        r, s = pareto("abcdefgh", 1), pareto("egxyz", 2)
        np.testing.assert_allclose(fj.bounds(r, s).low, fj.curve(r, s, missing="zero").values, rtol=1e-14)


class TestComplete:
    @pytest.mark.parametrize("zero_tail", ZERO_TAIL)
    @given(scores=st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=12), shuffled=st.randoms())
    def test_rankings_of_the_same_items_have_the_curve(self, scores, shuffled, zero_tail):
        r = {str(i): pair[0] for i, pair in enumerate(scores)}
        rows = [(str(i), pair[1]) for i, pair in enumerate(scores)]
        shuffled.shuffle(rows)
        limits = fj.bounds(r, dict(rows), zero_tail=zero_tail)
        expected = fj.curve(r, dict(rows), zero_tail=zero_tail).values
        np.testing.assert_allclose(limits.low, limits.high, rtol=1e-13)
        np.testing.assert_allclose(limits.low, expected, rtol=1e-13)


class TestResult:
    def test_area_grid_and_frame(self):
        r, s = pareto("abcdefgh", 1), pareto("aceg", 2)
        limits = fj.bounds(r, s, ks="exp")
        assert limits.ks.tolist() == [1, 2, 4]
        every = fj.bounds(r, s)
        np.testing.assert_allclose(limits.low, every.low[[0, 1, 3]], rtol=1e-14)
        np.testing.assert_allclose(limits.high, every.high[[0, 1, 3]], rtol=1e-14)
        low = limits.low
        assert limits.auc[0] == pytest.approx((low[0] / 2 + low[1] + low[2] / 2) / 2)
        assert limits.auc[0] < limits.auc[1]
        assert list(limits.to_frame().columns) == ["k", "low", "high"]
        assert str(limits).startswith(f"top-weighted AUC of FUJI between {limits.auc[0]:.4f} and {limits.auc[1]:.4f}")
        assert "s lacks 4 of 8 items, scores unknown: b, d, f, h" in limits.notes

    def test_as_a_policy_of_curve(self):
        r, s = pareto("abcdefgh", 1), pareto("aceg", 2)
        limits = fj.curve(r, s, missing="bounds")
        np.testing.assert_array_equal(limits.high, fj.bounds(r, s).high)
        for options in ({"measure": "jaccard"}, {"ties": "stable"}):
            with pytest.raises(fj.InputError, match="missing='bounds' is for measure='fuji' and ties='closed' only"):
                fj.curve(r, s, missing="bounds", **options)
        with pytest.raises(fj.InputError, match=r"use fujiscore\.bounds"):
            fj.auc(r, s, missing="bounds")

    def test_plot(self):
        matplotlib = pytest.importorskip("matplotlib")
        matplotlib.use("Agg")
        ax = fj.bounds(pareto("abcd", 1), pareto("cdef", 2)).plot()
        assert len(ax.lines) == 2
        matplotlib.pyplot.close(ax.figure)

    def test_series_and_dicts_are_the_same(self):
        pandas = pytest.importorskip("pandas")
        r, s = pareto("abcdef", 1), pareto("dexyz", 2)
        np.testing.assert_array_equal(fj.bounds(pandas.Series(r), pandas.Series(s)).high, fj.bounds(r, s).high)

    def test_nan(self):
        r, s = {"a": 3.0, "b": float("nan"), "c": 1.0}, {"b": 2.0, "c": 1.0, "d": 0.5}
        dropped = fj.bounds({"a": 3.0, "c": 1.0}, {"c": 1.0, "d": 0.5})
        np.testing.assert_array_equal(fj.bounds(r, s, nan="drop").high, dropped.high)
        np.testing.assert_array_equal(fj.bounds(r, s, nan="zero").low, fj.bounds({**r, "b": 0.0}, s).low)
        with pytest.raises(fj.InputError, match="NaN"):
            fj.bounds(r, s)


class TestErrors:
    @pytest.mark.parametrize(
        ("r", "s", "options", "words"),
        [
            ([1.0, 2.0], {"a": 1.0}, {}, "s has item labels and r has none"),
            ({"a": 1.0}, [1.0, 2.0], {}, "r has item labels and s has none"),
            ([1.0, 2.0], [1.0, 2.0], {}, "r and s must have item labels"),
            ({"a": -1.0}, {"a": 1.0}, {}, "r must hold non-negative scores"),
            ({"a": 1.0}, {"a": 1.0}, {"zero_tail": "keep"}, "zero_tail must be one of"),
            ({"a": 1.0}, {"b": 1.0}, {"ks": [2]}, "between 1 and 1.*shorter one.*got 2"),
            ({"a": 1.0}, {}, {}, "s must hold at least one score"),
            ({"a": 1.0}, {"a": float("nan"), "b": 1.0}, {"nan": "drop"}, "r must list an item that is left"),
        ],
    )
    def test_messages(self, r, s, options, words):
        with pytest.raises(fj.InputError, match=words):
            fj.bounds(r, s, **options)
