"""FUJI of cut-off rankings: the bounds hold for every completion, and completions reach them."""

from __future__ import annotations

import random
from fractions import Fraction

import bounds_oracle as oracle
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore import bounds

ZERO_TAIL = ("include", "exclude")
SCORES = st.one_of(st.integers(0, 3).map(float), st.floats(0, 10), st.sampled_from([1e-300, 5e-324, 1e300, 1.7e308]))


@st.composite
def cut_off(draw, items, scores=SCORES):
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

    def test_fills_can_be_chosen(self):
        # Top two: {a, b} in r. s has b and takes in a, or at worst c, with half of b's score in r.
        assert oracle.bounds({"a": 4, "b": 2, "c": 1}, {"b": 1}, 2) == ((1 + Fraction(1, 2)) / 3, 1)


class TestExact:
    @pytest.mark.parametrize("zero_tail", ZERO_TAIL)
    @given(pair=cut_off("abcde"))
    @settings(max_examples=80)
    def test_the_extremes_of_all_completions(self, pair, zero_tail):
        r, s = pair
        n = len(oracle.all_items(r, s))
        found = bounds(r, s, zero_tail=zero_tail)
        assert found.n == n
        assert found.ks.tolist() == list(range(1, n + 1))
        for k in range(1, n + 1):
            low, high = oracle.bounds(r, s, k, zero_tail)
            assert found.low[k - 1] == pytest.approx(float(low), rel=1e-12, abs=1e-300), k
            assert found.high[k - 1] == pytest.approx(float(high), rel=1e-12, abs=1e-300), k

    @pytest.mark.parametrize("zero_tail", ZERO_TAIL)
    def test_choosing_many_fills(self, zero_tail):
        # One list is much shorter, so which fills to take, and how many outside the top set, is a real choice.
        turned = 0
        for seed in range(60):
            source = random.Random(seed)
            r = pareto("abcdef", seed)
            if source.random() < 0.5:
                r[source.choice("abcdef")] = 0.0
            s = {"a" if source.random() < 0.5 else "x": source.choice([0.0, 1.0]), "b": 2.0}
            found = bounds(r, s, zero_tail=zero_tail)
            for k in (3, 4, 5):
                low, high = oracle.bounds(r, s, k, zero_tail)
                assert found.low[k - 1] == pytest.approx(float(low), rel=1e-12)
                assert found.high[k - 1] == pytest.approx(float(high), rel=1e-12)
                turned += low < high < 1
        assert turned > 20

    @pytest.mark.parametrize("zero_tail", ZERO_TAIL)
    @pytest.mark.parametrize(("last_r", "last_s"), [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)])
    def test_top_sets_beyond_both_lists(self, last_r, last_s, zero_tail):
        r, s = {"a": 3.0, "b": last_r}, {"b": 4.0, "c": 2.0, "d": last_s}
        found = bounds({**r, "e": last_r}, s, zero_tail=zero_tail)
        low, high = oracle.bounds({**r, "e": last_r}, s, 4, zero_tail)
        assert (found.low[3], found.high[3]) == pytest.approx((float(low), float(high)), rel=1e-12)

    def test_negative_scores_order_and_count_as_nothing(self):
        r, s = {"a": 3.0, "b": 1.0, "c": -1.0, "d": -2.0}, {"b": 2.0, "e": 1.0}
        found = bounds(r, s, negative="clip")
        for k in range(1, 6):
            low, high = oracle.bounds(r, s, k)
            assert (found.low[k - 1], found.high[k - 1]) == pytest.approx((float(low), float(high)))
        assert bounds(r, s, negative="abs").low[0] == bounds({x: abs(y) for x, y in r.items()}, s).low[0]


class TestContainment:
    @pytest.mark.parametrize("zero_tail", ZERO_TAIL)
    @given(pair=cut_off("abcdefghijkl"), seed=st.integers(0, 10**6))
    def test_every_completion_lies_between(self, pair, seed, zero_tail):
        r, s = pair
        items = oracle.all_items(r, s)
        source = random.Random(seed)
        found = bounds(r, s, zero_tail=zero_tail)
        for _ in range(3):
            completed = [oracle.random_completion(own, items, source) for own in (r, s)]
            for i, k in enumerate(found.ks.tolist()):
                value = float(oracle.fuji(*completed, k, zero_tail))
                assert found.low[i] * (1 - 1e-12) - 1e-300 <= value <= found.high[i] + 1e-12

    @given(pair=cut_off("abcdefghijkl"))
    @example(pair=[{"a": 0.0, "b": 5e-324, "c": 0.0, "d": 1.0, "e": 1.0, "f": 1.0}, {"b": 0.0}])
    def test_range_symmetry_and_end(self, pair):
        found, mirrored = bounds(*pair), bounds(*reversed(pair))
        assert np.all(found.low >= 0)
        assert np.all(found.low <= found.high)
        assert np.all(found.high <= 1)
        assert (found.low[-1], found.high[-1]) == (1, 1)
        if not tied(pair):
            np.testing.assert_allclose(found.low, mirrored.low, rtol=1e-12)
            np.testing.assert_allclose(found.high, mirrored.high, rtol=1e-12)

    def test_large_lists_hold_and_are_close_to_a_completion_that_reaches_them(self):
        items = list(range(3000))
        full_r, full_s = pareto(items, 1), pareto(items, 2)
        r = dict(sorted(full_r.items(), key=lambda pair: -pair[1])[:2000])
        s = dict(sorted(full_s.items(), key=lambda pair: -pair[1])[:500])
        every = {*r, *s}
        found = bounds(r, s)
        truth = fj.curve({x: full_r[x] for x in every}, {x: full_s[x] for x in every}).values
        assert np.all(found.low <= truth + 1e-12)
        assert np.all(truth <= found.high + 1e-12)
        # Least at every k between the lengths: the fills are r's last items, all others score 0.
        last = [x for x in sorted(r, key=r.get) if x not in s]
        for k in (501, 700, 1200, 1999):
            fills = dict.fromkeys(last[: k - 500], min(s.values()) / 2)
            worst = {**dict.fromkeys(every, 0.0), **s, **fills}
            zeros = {**dict.fromkeys(every, 0.0), **r}
            assert fj.fuji(zeros, worst, k) == pytest.approx(found.low[k - 1], rel=1e-12)


def tied(pair):
    return any(len(set(own.values())) < len(own) for own in pair)


class TestComplete:
    @pytest.mark.parametrize("zero_tail", ZERO_TAIL)
    @given(scores=st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=12), shuffled=st.randoms())
    def test_rankings_of_the_same_items_have_the_curve(self, scores, shuffled, zero_tail):
        r = {str(i): pair[0] for i, pair in enumerate(scores)}
        rows = [(str(i), pair[1]) for i, pair in enumerate(scores)]
        shuffled.shuffle(rows)
        found = bounds(r, dict(rows), zero_tail=zero_tail)
        expected = fj.curve(r, dict(rows), zero_tail=zero_tail).values
        np.testing.assert_array_equal(found.low, found.high)
        np.testing.assert_allclose(found.low, expected, rtol=1e-13)


class TestResult:
    def test_area_grid_and_frame(self):
        r, s = pareto("abcdefgh", 1), pareto("aceg", 2)
        found = bounds(r, s, ks="exp")
        assert found.ks.tolist() == [1, 2, 4, 8]
        every = bounds(r, s)
        np.testing.assert_array_equal(found.low, every.low[[0, 1, 3, 7]])
        np.testing.assert_array_equal(found.high, every.high[[0, 1, 3, 7]])
        low = found.low
        assert found.auc[0] == pytest.approx((low[0] / 2 + low[1] + low[2] + low[3] / 2) / 3)
        assert found.auc[0] < found.auc[1]
        assert list(found.to_frame().columns) == ["k", "low", "high"]

    def test_plot(self):
        matplotlib = pytest.importorskip("matplotlib")
        matplotlib.use("Agg")
        ax = bounds(pareto("abcd", 1), pareto("cdef", 2)).plot()
        assert len(ax.lines) == 2
        matplotlib.pyplot.close(ax.figure)

    def test_series_and_dicts_are_the_same(self):
        pandas = pytest.importorskip("pandas")
        r, s = pareto("abcdef", 1), pareto("dexyz", 2)
        np.testing.assert_array_equal(bounds(pandas.Series(r), pandas.Series(s)).high, bounds(r, s).high)

    def test_nan(self):
        r, s = {"a": 3.0, "b": float("nan"), "c": 1.0}, {"b": 2.0, "c": 1.0, "d": 0.5}
        dropped = bounds({"a": 3.0, "c": 1.0}, {"c": 1.0, "d": 0.5})
        np.testing.assert_array_equal(bounds(r, s, nan="drop").high, dropped.high)
        np.testing.assert_array_equal(bounds(r, s, nan="zero").low, bounds({**r, "b": 0.0}, s).low)
        with pytest.raises(fj.InputError, match="NaN"):
            bounds(r, s)


class TestErrors:
    @pytest.mark.parametrize(
        ("r", "s", "options", "words"),
        [
            ([1.0, 2.0], {"a": 1.0}, {}, "r must have item labels"),
            ({"a": 1.0}, [1.0, 2.0], {}, "s must have item labels"),
            ({"a": -1.0}, {"a": 1.0}, {}, "r must hold non-negative scores"),
            ({"a": 1.0}, {"a": 1.0}, {"zero_tail": "keep"}, "zero_tail must be one of"),
            ({"a": 1.0}, {"b": 1.0}, {"ks": [3]}, "between 1 and the number of items, 2"),
            ({"a": 1.0}, {}, {}, "s must hold at least one score"),
            ({"a": 1.0}, {"a": float("nan"), "b": 1.0}, {"nan": "drop"}, "r has no item left"),
        ],
    )
    def test_messages(self, r, s, options, words):
        with pytest.raises(fj.InputError, match=words):
            bounds(r, s, **options)
