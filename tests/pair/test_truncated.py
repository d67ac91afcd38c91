"""Truncated lists: RBO and average overlap by their definitions; bounds of FUJI hold, and completions reach them."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import chain, permutations, product
from statistics import fmean

import bounds_oracle
import lists_oracle as oracle
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore import average_overlap, rbo

VARIANTS = ("w", "a", "b")
PERSISTENCE = st.floats(0.05, 0.9)
# At p = 0.9 all depths beyond this one weigh 1e-11 together.
DEPTH = 240


@st.composite
def lists(draw, *, tied=True, most=8, letters="abcdefghij"):
    """Return a list of tie groups of different items, groups of one if not tied."""
    items = draw(st.permutations(letters))[: draw(st.integers(1, most))]
    groups = []
    while items:
        size = draw(st.integers(1, 4)) if tied else 1
        groups.append(items[:size])
        items = items[size:]
    return groups


class TestOracle:
    def test_depth_by_depth(self):
        # ab and ba: nothing shared at depth 1, all at depth 2, and then the new items.
        assert oracle.rbo_to_depth([["a"], ["b"]], [["b"], ["a"]], 0.5, "a", 2) == 0.25
        assert oracle.agreement([["a", "b"]], [["a"], ["b"]], 1, "w") == pytest.approx(2 / 3)
        assert oracle.agreement([["a", "b"]], [["a"], ["b"]], 1, "a") == 0.5
        assert oracle.agreement([["a", "b"]], [["a"], ["b"]], 1, "b") == pytest.approx(0.5**0.5)

    def test_published_value(self):
        assert oracle.webber(list("NHMACFL"), list("CGNA"), 0.9)[2] == pytest.approx(0.490384, abs=5e-7)


class TestWithoutTies:
    def test_published_value(self):
        found = rbo(list("NHMACFL"), list("CGNA"), 0.9)
        assert found.ext == pytest.approx(0.490384, abs=5e-7)
        assert float(found) == found.ext
        assert found.p == 0.9

    @given(r=lists(tied=False), s=lists(tied=False), p=st.floats(0.01, 0.99))
    def test_closed_formulas(self, r, s, p):
        found = rbo(oracle.flat(r), oracle.flat(s), p)
        assert (found.min, found.res, found.ext) == pytest.approx(
            oracle.webber(oracle.flat(r), oracle.flat(s), p), abs=1e-11
        )

    def test_ten_thousand_depths(self):
        r, s, p = list("abcdefgh"), list("bagx"), 0.99
        found = rbo(r, s, p)
        for completed, value in ((oracle.disjoint, found.min), (oracle.agreeing, found.max)):
            first, second = (oracle.flat(own) for own in completed([[x] for x in r], [[x] for x in s], 10_000))
            seen_1, seen_2, shared, total = set(), set(), 0, 0.0
            for d, (x, y) in enumerate(zip(first, second, strict=True), start=1):
                shared += (x in seen_2) + (y in seen_1) + (x == y)
                seen_1.add(x)
                seen_2.add(y)
                total += (1 - p) * p ** (d - 1) * shared / d
            assert value == pytest.approx(total, abs=1e-10)

    @given(r=lists(tied=False, most=4), s=lists(tied=False, most=4), p=PERSISTENCE, seed=st.integers(0, 10**6))
    @settings(max_examples=30)
    def test_every_continuation_lies_between(self, r, s, p, seed):
        source = random.Random(seed)
        pool = [*"abcdefghij", *range(30)]
        longer = []
        for own in (r, s):
            rest = [x for x in pool if [x] not in own]
            source.shuffle(rest)
            longer.append(own + [[x] for x in rest])
        value = oracle.rbo_to_depth(*longer, p, "a", len(pool))
        found = rbo(oracle.flat(r), oracle.flat(s), p)
        assert found.min - 1e-12 <= value + p ** len(pool)
        assert value <= found.max + 1e-12


class TestTies:
    @pytest.mark.parametrize("ties", VARIANTS)
    @given(r=lists(), s=lists(), p=PERSISTENCE)
    @settings(max_examples=25)
    def test_definition(self, r, s, p, ties):
        found = rbo(r, s, p, ties=ties)
        assert found.min == pytest.approx(oracle.rbo_to_depth(*oracle.disjoint(r, s, DEPTH), p, ties, DEPTH), abs=1e-9)
        assert found.max == pytest.approx(oracle.rbo_to_depth(*oracle.agreeing(r, s, DEPTH), p, ties, DEPTH), abs=1e-9)
        assert found.ext == pytest.approx(oracle.extrapolated(r, s, p, ties, DEPTH), abs=1e-9)

    @pytest.mark.parametrize("ties", ["stable", *VARIANTS])
    @given(r=lists(), s=lists(), p=st.floats(0.01, 0.99))
    def test_range_order_and_symmetry(self, r, s, p, ties):
        found, mirrored = rbo(r, s, p, ties=ties), rbo(s, r, p, ties=ties)
        assert 0 <= found.min <= found.ext + 1e-12
        assert found.ext <= min(1, found.max + 1e-12)
        assert found.max <= 1 + 1e-12
        assert (mirrored.min, mirrored.res, mirrored.ext) == pytest.approx((found.min, found.res, found.ext))

    @given(r=lists(), p=st.floats(0.3, 0.99))
    def test_identical_lists(self, r, p):
        for ties in ("stable", "w", "b"):
            assert rbo(r, r, p, ties=ties).ext == pytest.approx(1, abs=1e-14)
        tied = any(len(group) > 1 for group in r)
        assert (rbo(r, r, p, ties="a").ext < 1 - 1e-9) == tied

    @pytest.mark.parametrize("p", [0.3, 0.9])
    def test_variant_a_is_the_mean_over_all_orders(self, p):
        r, s = [["a", "b", "c"], ["d"], ["e", "f"]], [["d", "a"], ["f"], ["x", "b", "e"]]
        broken = [rbo(first, second, p) for first, second in product(*(list(orders(own)) for own in (r, s)))]
        found = rbo(r, s, p, ties="a")
        assert found.ext == pytest.approx(fmean(own.ext for own in broken), abs=1e-12)
        assert found.min == pytest.approx(fmean(own.min for own in broken), abs=1e-12)

    def test_stable_keeps_the_given_order(self):
        assert rbo([["a", "b"], "c"], ["b", "a"]) == rbo(["a", "b", "c"], ["b", "a"])

    def test_ties_beyond_the_short_list_never_count_double(self):
        # Where the unseen items would count in full against a group that is only partly in, b would exceed 1.
        assert rbo(["a"], ["a", ["b", "c", "d", "e"]], 0.9, ties="b").ext <= 1
        assert rbo(["a"], ["a", ["b", "c", "d", "e"]], 0.9, ties="b").ext == pytest.approx(
            oracle.extrapolated([["a"]], [["a"], list("bcde")], 0.9, "b", DEPTH), abs=1e-9
        )


def orders(groups):
    """Return every way to break the ties."""
    for parts in product(*(permutations(group) for group in groups)):
        yield list(chain.from_iterable(parts))


class TestSize:
    @pytest.mark.parametrize("ties", ["stable", *VARIANTS])
    def test_a_hundred_thousand_items(self, ties):
        # Quadratic work would take hours here. Half of s is r's order, and the groups are long.
        source = random.Random(3)
        n = 100_000
        r = [f"x{i}" for i in range(n)]
        s = r[: n // 2] + [f"y{i}" for i in range(n // 4)]
        source.shuffle(s)
        grouped = [s[i : i + 1000] for i in range(0, len(s), 1000)]
        found = rbo(r, grouped, 0.9999, ties=ties)
        assert 0 < found.min <= found.ext <= found.max < 1
        assert rbo(r, r, 0.9999, ties=ties).ext == pytest.approx(1, abs=1e-12)

    @pytest.mark.parametrize("p", [1e-9, 1e-3, 0.999, 1 - 1e-9])
    def test_extreme_persistence(self, p):
        r, s = [*"abcdef"], [*"bacxyz"]
        found = rbo(r, s, p)
        if p > 0.5:
            expected = oracle.webber(r, s, p)
        else:  # the closed formulas divide by p, and keep few digits
            first, second = [[x] for x in r], [[x] for x in s]
            low = oracle.rbo_to_depth(*oracle.disjoint(first, second, 20), p, "a", 20)
            high = oracle.rbo_to_depth(*oracle.agreeing(first, second, 20), p, "a", 20)
            expected = low, high - low, oracle.extrapolated(first, second, p, "a", 20)
        assert (found.min, found.res, found.ext) == pytest.approx(expected, abs=1e-14)


class TestAverageOverlap:
    @given(r=lists(tied=False), s=lists(tied=False), data=st.data())
    def test_definition(self, r, s, data):
        first, second = oracle.flat(r), oracle.flat(s)
        most = min(len(first), len(second))
        k = data.draw(st.integers(1, most))
        assert average_overlap(first, second, k) == pytest.approx(oracle.average_overlap(first, second, k))
        assert average_overlap(first, second) == pytest.approx(oracle.average_overlap(first, second, most))

    @pytest.mark.parametrize("ties", VARIANTS)
    @given(r=lists(), s=lists())
    def test_with_ties(self, r, s, ties):
        depth = min(len(oracle.flat(r)), len(oracle.flat(s)))
        expected = fmean(oracle.agreement(r, s, d, ties) for d in range(1, depth + 1))
        assert average_overlap(r, s, ties=ties) == pytest.approx(expected, abs=1e-12)

    def test_same_and_disjoint(self):
        assert average_overlap([*"abc"], [*"abc"]) == 1
        assert average_overlap([*"abc"], [*"xyz"]) == 0


class TestTopWeight:
    """The share of RBO's weight that the first d ranks hold."""

    @staticmethod
    def by_definition(p, d):
        """Depth D weighs (1-p) p^(D-1), spread evenly over its D ranks: sum what the first d ranks get."""
        return math.fsum((1 - p) * p ** (depth - 1) * min(depth, d) / depth for depth in range(1, 6000))

    @pytest.mark.parametrize("p", [0.01, 0.5, 0.9, 0.98, 0.99])
    @pytest.mark.parametrize("d", [1, 2, 10, 50, 1000])
    def test_definition(self, p, d):
        assert fj.stats.top_weight(p, d) == pytest.approx(self.by_definition(p, d), abs=1e-12)

    def test_published_value(self):
        assert fj.stats.top_weight(0.9, 10) == pytest.approx(0.8556, abs=5e-5)

    def test_what_agreement_of_the_top_is_worth(self):
        """Lists whose first d items agree, and that share nothing else, have that much RBO at least."""
        same = [f"x{i}" for i in range(10)]
        value = rbo([*same, *(f"r{i}" for i in range(3000))], [*same, *(f"s{i}" for i in range(3000))], 0.95)
        assert value.min == pytest.approx(fj.stats.top_weight(0.95, 10), abs=1e-9)

    @pytest.mark.parametrize(("p", "d"), [(0.0, 1), (1.0, 1), ("x", 1), (0.5, 0), (0.5, 1.5)])
    def test_refusals(self, p, d):
        with pytest.raises(fj.InputError, match="must be"):
            fj.stats.top_weight(p, d)


class TestInput:
    def test_scores_order_the_items_and_equal_ones_tie(self):
        scores = {"c": -1.0, "a": 3.0, "b": 2.0, "d": 2.0}
        items = ["a", ["b", "d"], "c"]
        for ties in ("stable", *VARIANTS):
            assert rbo(scores, ["d", "a"], ties=ties) == rbo(items, ["d", "a"], ties=ties)
        assert average_overlap(scores, scores) == 1

    def test_the_default_is_a_for_scores_and_stable_for_lists(self):
        scores, items = {"a": 3.0, "b": 2.0, "d": 2.0}, ["a", ["b", "d"], "c"]
        assert rbo(scores, scores) == rbo(scores, scores, ties="a")
        assert rbo(scores, scores).ext < 1
        assert rbo(scores, items) == rbo(scores, items, ties="a")
        assert rbo(items, items) == rbo(items, items, ties="stable")
        assert average_overlap(scores, items) == average_overlap(scores, items, ties="w")
        assert average_overlap(items, ["d", "a"]) == average_overlap(["a", "b", "d", "c"], ["d", "a"])

    def test_integers_are_items(self):
        letters = dict(zip(range(7), "abcdefg", strict=True))
        r, s = [3, 1, 0, 2], [1, 6, 3]
        expected = rbo([letters[x] for x in r], [letters[x] for x in s])
        assert rbo(r, s) == expected
        assert rbo(np.array(r), np.array(s)) == expected
        assert rbo([[3, 1], 0, 2], [1, 6, 3], ties="w") == rbo([["d", "b"], "a", "c"], ["b", "g", "d"], ties="w")
        assert rbo({3: 9.0, 1: 8.0, 0: 7.0, 2: 1.0}, s) == expected
        assert average_overlap(r, s) == average_overlap([letters[x] for x in r], [letters[x] for x in s])

    def test_rankings(self):
        both = fj.rankings({"r": {"a": 3, "b": 2, "c": 2}, "s": {"b": 5, "d": 1}}, missing="zero")
        # An item that a list lacks is no item of it, though it is aligned with the others.
        assert rbo(both["r"], both["s"]) == rbo({"a": 3, "b": 2, "c": 2}, {"b": 5, "d": 1})
        assert average_overlap(*both) == average_overlap({"a": 3, "b": 2, "c": 2}, {"b": 5, "d": 1})

    @given(st.lists(st.tuples(*[st.integers(0, 3)] * 2), min_size=1, max_size=10), st.randoms())
    def test_the_order_of_scored_rows_does_not_matter(self, scores, source):
        rows = [(str(i), *pair) for i, pair in enumerate(scores)]
        mixed = source.sample(rows, len(rows))
        plain, shuffled = ([{row[0]: row[side] for row in own} for side in (1, 2)] for own in (rows, mixed))
        assert average_overlap(*shuffled) == pytest.approx(average_overlap(*plain), abs=1e-14)
        for ties in (None, *VARIANTS):
            first, second = rbo(*shuffled, ties=ties), rbo(*plain, ties=ties)
            assert (first.min, first.res, first.ext) == pytest.approx((second.min, second.res, second.ext), abs=1e-14)

    def test_series(self):
        pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
        expected = rbo(["a", "b", "c"], ["b", "c"])
        assert rbo(pandas.Series({"b": 2, "a": 3, "c": 1}), ["b", "c"]) == expected
        assert rbo(pandas.Series(["a", "b", "c"]), polars.Series(["b", "c"])) == expected
        assert rbo(np.array(["a", "b", "c"]), ("b", "c")) == expected

    def test_scores_that_are_all_ends_of_the_range(self):
        scores = {"a": -np.inf, "b": 1.7e308, "c": -1.7e308, "d": -np.inf, "e": 0.0, "f": -0.0}
        assert rbo(scores, ["d", "e"], ties="w") == rbo(["b", ["e", "f"], "c", ["a", "d"]], ["d", "e"], ties="w")

    def test_items_of_other_kinds(self):
        assert rbo([None, b"x", frozenset("ab")], [b"x"], ties="w") == rbo(["n", "x", ["a", "b"]], ["x"], ties="w")

    def test_groups_may_be_sets(self):
        assert rbo([{"a", "b"}, "c"], ["a"], ties="a") == rbo([("a", "b"), "c"], ["a"], ties="a")

    def test_nan_scores(self):
        scores = {"a": 2.0, "b": float("nan"), "c": 1.0}
        assert rbo(scores, ["c"], nan="drop") == rbo(["a", "c"], ["c"])
        assert rbo(scores, ["c"], nan="zero") == rbo(["a", "c", "b"], ["c"])
        assert average_overlap(scores, ["c", "a"], nan="drop") == average_overlap(["a", "c"], ["c", "a"])

    def test_cut(self):
        assert rbo([*"abcdef"], [*"bac"], k=4) == rbo([*"abcd"], [*"bac"])
        assert rbo(["a", ["b", "c"], "d"], ["b"], ties="w", k=3) == rbo(["a", ["b", "c"]], ["b"], ties="w")
        assert rbo(["a", ["b", "c"], "d"], ["b"], k=2) == rbo(["a", "b"], ["b"])


class TestErrors:
    @pytest.mark.parametrize(
        ("r", "options", "words"),
        [
            (["a", "b", "a"], {}, "r must list each item once; 'a' comes more than once"),
            (["a", ["b", "a"]], {}, "r must list each item once"),
            ([], {}, "r must list at least one item"),
            (["a", []], {}, "the group at position 1 is empty"),
            ([0.3, 0.2], {}, "got 0.3 at position 0, which may be a score"),
            (np.array([3.0, 1.0]), {}, "Pass scores with labels"),
            ([["a", 2.0]], {}, "got 2.0 at position 0, which may be a score"),
            ([True, "a"], {}, "got True at position 0"),
            ("abc", {}, "got str"),
            ({"a", "b"}, {}, "got set"),
            (7, {}, "got int"),
            ([{"a", "b"}], {}, "has a set of 2 tied items at position 0, and ties='stable' needs their order"),
            ([{"a": 1}], {}, "hashable items such as strings; got dict at position 0"),
            ({"a": float("nan")}, {}, "NaN"),
            (["a"], {"p": 0}, "p must be a number between 0 and 1 \\(exclusive\\); got 0"),
            (["a"], {"p": 1.0}, "p must be a number between 0 and 1 \\(exclusive\\); got 1.0"),
            (["a"], {"p": float("nan")}, "p must be a number"),
            (["a"], {"p": "0.9"}, "p must be a number"),
            (["a"], {"k": 0}, "k must be an integer of at least 1; got 0"),
            (["a"], {"k": 1.5}, "k must be an integer of at least 1; got 1.5"),
            (["a"], {"k": True}, "k must be an integer of at least 1; got True"),
            (["a", ["b", "c"]], {"k": 2, "ties": "a"}, "r has one at ranks 2 to 3, and k is 2"),
            (["a"], {"ties": "closed"}, "ties must be one of 'stable', 'w', 'a', 'b'"),
        ],
    )
    def test_messages(self, r, options, words):
        with pytest.raises(fj.InputError, match=words):
            rbo(r, ["a", "b"], **options)

    def test_a_table_is_not_a_list(self):
        pandas = pytest.importorskip("pandas")
        with pytest.raises(fj.InputError, match="got DataFrame"):
            rbo(pandas.DataFrame({"a": [1.0]}), ["a"])

    def test_average_overlap_needs_both_lists_to_reach_k(self):
        with pytest.raises(fj.InputError, match="k must be at most 2, the length of the shorter list; got 3"):
            average_overlap([*"abc"], [*"ab"], k=3)


# FUJI of truncated rankings

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


class TestBoundsOracle:
    def test_a_miss_can_score_anything_up_to_the_last(self):
        # Top one: a in r, b in s. b scores 0 to 4 in r, a 0 to 2 in s.
        assert bounds_oracle.bounds({"a": 8, "c": 4}, {"b": 4, "c": 2}, 1) == (0, Fraction(1, 2))

    def test_tied_items_enter_together(self):
        # Top one: {a, c} in r, {b} in s; a and c score 0 to 4 in s, b 0 to 4 in r.
        assert bounds_oracle.bounds({"a": 4, "c": 4}, {"b": 4}, 1) == (0, 1)


class TestBoundsExact:
    @pytest.mark.parametrize("zero_tail", ZERO_TAIL)
    @given(pair=truncated("abcde"))
    @settings(max_examples=40)
    def test_the_extremes_of_all_completions(self, pair, zero_tail):
        r, s = pair
        limits = fj.bounds(r, s, zero_tail=zero_tail)
        depth = min(len(r), len(s))
        assert limits.n == len(bounds_oracle.all_items(r, s))
        assert limits.ks.tolist() == list(range(1, depth + 1))
        for k in range(1, depth + 1):
            low, high = bounds_oracle.bounds(r, s, k, zero_tail, fills=(Fraction(0), Fraction(1)))
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
            low, high = bounds_oracle.bounds(r, s, k)
            assert (limits.low[k - 1], limits.high[k - 1]) == pytest.approx((float(low), float(high)))
        assert (
            fj.bounds(r, s, negative="abs").low[0]
            == fj.bounds(*({x: abs(y) for x, y in own.items()} for own in (r, s))).low[0]
        )


class TestBoundsContainment:
    @pytest.mark.parametrize("zero_tail", ZERO_TAIL)
    @given(pair=truncated("abcdefghijkl"), seed=st.integers(0, 10**6))
    def test_every_completion_lies_between(self, pair, seed, zero_tail):
        r, s = pair
        items = bounds_oracle.all_items(r, s)
        source = random.Random(seed)
        limits = fj.bounds(r, s, zero_tail=zero_tail)
        for _ in range(3):
            completed = [bounds_oracle.random_completion(own, items, source) for own in (r, s)]
            for i, k in enumerate(limits.ks.tolist()):
                value = float(bounds_oracle.fuji(r, s, *completed, k, zero_tail))
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
        every = bounds_oracle.all_items(r, s)
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


class TestBoundsComplete:
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


class TestBoundsResult:
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


class TestBoundsErrors:
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
