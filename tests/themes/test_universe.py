"""Truncated lists and the universe they were drawn from, against the same lists padded to the whole universe."""

from __future__ import annotations

import math
import random
import time

import numpy as np
import oracle
import pytest
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore.cli import fuji

SET_MEASURES = [name for name, measure in fj.MEASURES.items() if not measure.by_rank]
BY_RANK = [name for name, measure in fj.MEASURES.items() if measure.by_rank]
CLOSED_FORM = [name for name in SET_MEASURES if fj.MEASURES[name].linear or name in {"fuji", "jaccard", "krizek"}]
EQUAL_SIZES = {"kuncheva", "krizek"}
ITEMS = "abcdef"
# Lists of unequal length, disjoint ones, ties, zeros, a complete one, and one that the other contains.
SMALL_CASES = {
    "overlapping": ({"a": 5.0, "b": 3.0, "c": 2.0}, {"b": 4.0, "d": 1.0}),
    "disjoint": ({"a": 5.0, "b": 3.0}, {"c": 4.0, "d": 1.0}),
    "tied": ({"a": 2.0, "b": 2.0, "c": 1.0, "d": 1.0}, {"b": 4.0, "e": 4.0, "c": 4.0}),
    "zeros": ({"a": 5.0, "b": 0.0, "c": 0.0}, {"b": 4.0, "c": 0.0}),
    "complete": ({x: float(i) for i, x in enumerate(ITEMS)}, {"c": 4.0, "f": 1.0}),
    "contained": ({"a": 9.0, "b": 7.0, "c": 1.0, "d": 0.5}, {"a": 2.0, "c": 1.0}),
    "one item": ({"a": 1.0}, {"a": 3.0}),
}


def padded_pair(r, s, items):
    return oracle.padded(r, items), oracle.padded(s, items)


@st.composite
def truncated(draw, universe, most=8):
    """Return two lists of some items of a universe, with ties and zeros."""
    lists = []
    for _ in range(2):
        items = draw(st.permutations(range(universe)))[: draw(st.integers(1, most))]
        lists.append({x: float(draw(st.integers(0, 5))) for x in items})
    return lists


@pytest.mark.parametrize("zero_tail", ["include", "exclude"])
@pytest.mark.parametrize("case", SMALL_CASES)
class TestEnumeration:
    """All assignments of the padded second list's scores to the six items."""

    def test_fuji(self, case, zero_tail):
        r, s = SMALL_CASES[case]
        pair = padded_pair(r, s, ITEMS)
        level = fj.chance(r, s, universe=6, zero_tail=zero_tail)
        assert level.exact
        assert level.ks.tolist() == list(range(1, min(len(r), len(s)) + 1))
        for i, k in enumerate(level.ks.tolist()):
            mean, variance = oracle.moments("fuji", *pair, k, zero_tail=zero_tail)
            assert level.observed[i] == pytest.approx(float(oracle.value("fuji", *pair, k, zero_tail=zero_tail)))
            assert level.expected[i] == pytest.approx(float(mean), abs=1e-12)
            assert level.variance[i] == pytest.approx(float(variance), abs=1e-12)

    def test_beyond_the_lists(self, case, zero_tail):
        r, s = SMALL_CASES[case]
        pair = padded_pair(r, s, ITEMS)
        for k in range(min(len(r), len(s)) + 1, 7):
            exact = float(oracle.value("fuji", *pair, k, zero_tail=zero_tail))
            assert fj.fuji(r, s, k, universe=6, zero_tail=zero_tail) == pytest.approx(exact, abs=1e-12)
            level = fj.chance(r, s, ks=[k], universe=6, zero_tail=zero_tail)
            mean, variance = oracle.moments("fuji", *pair, k, zero_tail=zero_tail)
            assert level.observed[0] == pytest.approx(exact, abs=1e-12)
            assert level.expected[0] == pytest.approx(float(mean), abs=1e-12)
            assert level.variance[0] == pytest.approx(float(variance), abs=1e-12)


@pytest.mark.parametrize("name", [name for name in CLOSED_FORM if name != "fuji"])
@pytest.mark.parametrize("case", SMALL_CASES)
def test_set_measures_by_enumeration(case, name):
    r, s = SMALL_CASES[case]
    pair = padded_pair(r, s, ITEMS)
    level = fj.chance(r, s, name, ks=[*range(1, 7)], universe=6)
    for i in range(6):
        mean, variance = oracle.moments(name, *pair, i + 1)
        exact = float(oracle.value(name, *pair, i + 1))
        assert level.observed[i] == pytest.approx(exact, abs=1e-12, nan_ok=True)
        assert level.expected[i] == pytest.approx(float(mean), abs=1e-12, nan_ok=True)
        assert level.variance[i] == pytest.approx(float(variance), abs=1e-12, nan_ok=True)


class TestPadding:
    """A universe of 50 items equals both lists written out over all 50."""

    UNIVERSE = 50

    @pytest.mark.parametrize("name", SET_MEASURES)
    @settings(max_examples=15)
    @given(pair=truncated(UNIVERSE), ks=st.sets(st.integers(1, UNIVERSE), min_size=1, max_size=5))
    def test_values_and_chance(self, name, pair, ks):
        points = sorted(ks)
        whole = [np.array(scores) for scores in padded_pair(*pair, range(self.UNIVERSE))]
        level = fj.chance(*pair, name, ks=points, universe=self.UNIVERSE)
        expected = fj.chance(*whole, name, ks=points, negative="clip")
        for part in ("observed", "expected", "variance"):
            np.testing.assert_allclose(getattr(level, part), getattr(expected, part), rtol=1e-12, atol=1e-12)
        if name not in EQUAL_SIZES:
            sizes = points[0], points[-1]
            value = fj.score(*pair, sizes, name, universe=self.UNIVERSE)
            assert value == pytest.approx(fj.score(*whole, sizes, name, negative="clip"), abs=1e-12)

    @pytest.mark.parametrize("name", BY_RANK)
    @settings(max_examples=15)
    @given(pair=truncated(UNIVERSE))
    def test_measures_by_rank_within_the_lists(self, name, pair):
        positive = [{x: score + 1 for x, score in own.items()} for own in pair]
        zeros = [[own.get(x, 0.0) for x in range(self.UNIVERSE)] for own in positive]
        depth = min(map(len, pair))
        values = fj.curve(*positive, name, universe=self.UNIVERSE).values
        expected = fj.curve(*zeros, name, ks=[*range(1, depth + 1)]).values
        np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)

    @given(pair=truncated(UNIVERSE))
    def test_matrices(self, pair):
        whole = [np.array(scores) for scores in padded_pair(*pair, range(self.UNIVERSE))]
        depth = min(map(len, pair))
        for name in ("fuji", "jaccard", "kappa"):
            for ks in ([*range(1, depth + 1)], [depth], [self.UNIVERSE // 2]):
                listed = fj.pairwise(
                    dict(zip("rs", pair, strict=True)),
                    measure=name,
                    ks=ks,
                    corrected=True,
                    universe=self.UNIVERSE,
                    n_jobs=1,
                )
                full = fj.pairwise(
                    dict(zip("rs", whole, strict=True)), measure=name, ks=ks, corrected=True, negative="clip", n_jobs=1
                )
                known = ~np.isnan(listed.raw)  # not at a k beyond the positive scores: unlisted items are at 0
                assert known.all() or len(ks) == 1
                np.testing.assert_allclose(listed.raw[known], full.raw[known], rtol=1e-12, atol=1e-12)
                np.testing.assert_allclose(listed.expected, full.expected, rtol=1e-12, atol=1e-12)

    def test_many_listed_items(self):
        """From 1,000 listed items on sparse grids take another way."""
        rng = np.random.default_rng(3)
        lists = [
            {int(x): float(score) for x, score in zip(rng.permutation(4000)[:size], rng.pareto(1, size), strict=True)}
            for size in (1500, 1200)
        ]
        whole = [np.array(scores) for scores in padded_pair(*lists, range(4000))]
        for ks in ([1, 10, 300, 1200], [1, 10, 1200, 1300, 2000]):
            for name in ("fuji", "jaccard"):
                level = fj.chance(*lists, name, ks=ks, universe=4000)
                expected = fj.chance(*whole, name, ks=ks, negative="clip")
                for part in ("observed", "expected", "variance"):
                    np.testing.assert_allclose(getattr(level, part), getattr(expected, part), rtol=1e-10)


LISTED_R = {"a": 9.0, "b": 7.0, "c": 7.0, "d": 2.0, "e": 1.0, "f": 0.5}
LISTED_S = {"b": 3.0, "x": 2.0, "a": 2.0, "y": 1.0}


class TestPermutations:
    DRAWN = 2000

    @pytest.mark.parametrize("name", ["fuji", "jaccard", "gamma", "correlation", "kendall", "average_overlap", "rbo"])
    @pytest.mark.parametrize("universe", [8, 12, 40])
    def test_as_of_the_padded_lists(self, name, universe):
        items = [*LISTED_R, "x", "y", *range(universe - 8)]
        zeros = [[own.get(x, 0.0) for x in items] for own in (LISTED_R, LISTED_S)]
        options = {"permutations": self.DRAWN, "n_jobs": 1}
        listed = fj.chance(LISTED_R, LISTED_S, name, universe=universe, random_state=1, **options)
        whole = fj.chance(*zeros, name, ks=[1, 2, 3, 4], random_state=2, **options)
        np.testing.assert_allclose(listed.observed, whole.observed, rtol=1e-12)
        a, b = listed.permutations, whole.permutations
        defined = ~np.isnan(a.mean)
        np.testing.assert_array_equal(defined, ~np.isnan(b.mean))
        error = np.sqrt((a.variance + b.variance) / self.DRAWN)
        assert np.all(np.abs(a.mean - b.mean)[defined] <= 4.5 * error[defined] + 1e-12)
        np.testing.assert_allclose(listed.p_values[defined], whole.p_values[defined], atol=0.07)
        if defined.all():
            assert listed.p_value == pytest.approx(whole.p_value, abs=0.07)

    @pytest.mark.parametrize("name", ["fuji", "jaccard"])
    def test_agree_with_the_closed_form(self, name):
        level = fj.chance(LISTED_R, LISTED_S, name, universe=20, permutations=self.DRAWN, random_state=1, n_jobs=1)
        error = np.sqrt(level.variance / self.DRAWN)
        assert np.all(np.abs(level.permutations.mean - level.expected) <= 4.5 * error + 1e-12)
        np.testing.assert_allclose(level.permutations.variance, level.variance, rtol=0.15)

    def test_beyond_the_lists(self):
        level = fj.chance(LISTED_R, LISTED_S, ks=[3, 5, 10, 20], universe=20, permutations=self.DRAWN, n_jobs=1)
        error = np.sqrt(level.variance / self.DRAWN)
        assert np.all(np.abs(level.permutations.mean - level.expected) <= 4.5 * error + 1e-12)

    def test_stable_ties_within_the_lists(self):
        level = fj.chance(LISTED_R, LISTED_S, "jaccard", universe=20, ties="stable", random_state=1, n_jobs=1)
        assert not level.exact
        assert 0 < level.expected[0] < 0.2

    def test_scores_of_minus_infinity_are_listed(self):
        """A listed -inf ranks above the items that are not listed."""
        r, s = {"a": 2.0, "b": 1.0, "c": -math.inf}, {"a": 2.0, "d": -math.inf, "e": -math.inf}
        level = fj.chance(r, s, "jaccard", universe=30, negative="clip", permutations=self.DRAWN, n_jobs=1)
        np.testing.assert_allclose(level.permutations.mean, level.expected, atol=0.02)
        assert level.expected[-1] < 0.1
        r, s = {"a": 2.0, "b": 1.0}, {"a": 2.0, "b": -math.inf, "c": -math.inf}
        items = [*"abc", *range(5)]
        lowest = [[max(own.get(x, -2.0), -1.0 if x in own else -2.0) for x in items] for own in (r, s)]
        for name in ("average_overlap", "gamma"):
            options = {"ks": [2], "negative": "clip", "permutations": self.DRAWN, "n_jobs": 1}
            listed = fj.chance(r, s, name, universe=8, **options)
            padded = fj.chance(*lowest, name, random_state=1, **options)
            np.testing.assert_allclose(listed.observed, padded.observed, rtol=1e-12)
            np.testing.assert_allclose(listed.expected, padded.expected, atol=0.05)

    def test_millions_of_unlisted_items_cost_nothing(self):
        fj.chance(LISTED_R, LISTED_S, universe=20, permutations=10, n_jobs=1)
        start = time.perf_counter()
        level = fj.chance(LISTED_R, LISTED_S, universe=10**7, permutations=200, n_jobs=1)
        assert time.perf_counter() - start < 2
        assert level.p_value == pytest.approx(1 / 201)
        assert level.corrected_auc == pytest.approx(level.auc, abs=1e-3)


class TestTopHundred:
    """Two top-100 lists of 17,611 genes that share 13."""

    def lists(self):
        source = random.Random(7)
        genes = [f"g{i}" for i in range(187)]
        source.shuffle(genes)
        r, s = genes[:100], genes[87:187]
        assert len(set(r) & set(s)) == 13
        for own in (r, s):
            source.shuffle(own)
        return tuple({gene: 1 / rank for rank, gene in enumerate(own, start=1)} for own in (r, s))

    def test_more_than_chance(self):
        comparison = fj.compare(*self.lists(), universe=17_611, permutations=1000, k=100, n_jobs=1)
        for level in comparison.levels():
            if level.k == 100:
                assert level.corrected > 0
                assert level.p_value < 0.01
                assert level.z > 10
        level = fj.chance(*self.lists(), "jaccard", ks=[100], universe=17_611)
        assert level.observed[0] == 13 / 187
        assert 0.06 < level.corrected[0] < 0.07
        assert comparison.chance["jaccard"].corrected_auc > 0
        assert comparison.p_value["jaccard"] < 0.01

    def test_without_a_universe(self):
        comparison = fj.compare(*self.lists(), permutations=100, missing="zero")
        assert comparison.chance == {}
        assert comparison.p_value == {"fuji": None, "jaccard": None}
        assert any("no chance level" in note and "universe=N" in note for note in comparison.notes)
        for level in comparison.levels():
            assert (level.expected, level.corrected, level.z, level.p_value) == (None, None, None, None)

    def test_missing_items_are_an_error_without_a_universe(self):
        with pytest.raises(fj.InputError, match=r"r must score every item.*universe=N.*missing='zero'"):
            fj.compare(*self.lists())


R, S = {"a": 3.0, "b": 2.0, "c": 1.0}, {"a": 3.0, "b": 2.0, "d": 1.0, "e": 0.5}


class TestWithoutUniverse:
    def test_the_curve_ends_with_the_shorter_list(self):
        assert fj.curve(R, S, missing="zero").ks.tolist() == [1, 2, 3]
        assert fj.curve(R, S, universe=100).ks.tolist() == [1, 2, 3]
        assert fj.curve(R, S, missing="zero", ks="exp").ks.tolist() == [1, 2, 3]
        assert fj.compare(R, S, missing="zero").ks.tolist() == [1, 2, 3]
        assert fj.pairwise({"r": R, "s": S}, missing="zero").ks.tolist() == [1, 2, 3]
        assert fj.bounds(R, S).ks.tolist() == [1, 2, 3]

    @pytest.mark.parametrize("name", fj.MEASURES)
    def test_a_k_beyond_it_is_refused(self, name):
        with pytest.raises(fj.InputError, match=r"k must lie between 1 and 3.*shorter one.*got 4"):
            fj.score(R, S, 4, name, missing="zero")
        with pytest.raises(fj.InputError, match=r"ks must lie between 1 and 3.*shorter one.*got 4"):
            fj.curve(R, S, name, ks=[1, 4], missing="zero")

    @pytest.mark.parametrize("name", SET_MEASURES)
    def test_with_a_universe_it_is_the_padded_value(self, name):
        exact = float(oracle.value(name, *padded_pair(R, S, [*"abcdefgh"]), 4))
        assert fj.score(R, S, 4, name, universe=8) == pytest.approx(exact, nan_ok=True)

    @pytest.mark.parametrize("name", BY_RANK)
    def test_measures_by_rank_refuse_it_all_the_same(self, name):
        with pytest.raises(fj.InputError, match=f"{name} needs the items' ranks"):
            fj.score(R, S, 4, name, universe=8)

    def test_stable_ties_refuse_it_too(self):
        with pytest.raises(fj.InputError, match="must not exceed the 3 items that r lists with ties='stable'"):
            fj.score(R, S, 4, universe=8, ties="stable")
        with pytest.raises(fj.InputError, match=r"k must lie between 1 and 8.*got 9"):
            fj.score(R, S, 9, universe=8)

    def test_chance_names_the_remedy(self):
        with pytest.raises(fj.InputError, match=r"no chance level: the lists are truncated.*universe=N"):
            fj.chance(R, S, missing="zero")
        for call in (fj.pairwise, fj.stability, fj.stability_curve):
            with pytest.raises(fj.InputError, match=r"no chance level: the lists are truncated.*universe=N"):
                call([R, S, S], missing="zero", corrected=True)
            call([R, S, S], universe=20, corrected=True)

    def test_dropping_items_leaves_complete_rankings(self):
        assert fj.chance(R, S, missing="drop").ks.tolist() == [1, 2]

    def test_the_notes_say_what_was_filled(self):
        assert "r lacks 2 of 5 items, scored 0: d, e" in fj.curve(R, S, universe=9).notes
        assert "s lacks 1 of 5 items, scored 0: c" in fj.compare(R, S, missing="zero").notes


class TestTheUniverse:
    def test_as_items(self):
        number = fj.chance(R, S, universe=8)
        for items in ([*"abcdefgh"], set("abcdefgh"), dict.fromkeys("abcdefgh"), np.array([*"abcdefgh"])):
            np.testing.assert_array_equal(fj.chance(R, S, universe=items).expected, number.expected)

    @pytest.mark.parametrize(
        ("universe", "message"),
        [
            ([*"abcd", "x"], "universe must hold every item; 1 of 5 are not: e"),
            (4, "universe must be at least the number of items that the rankings list, 5; got 4"),
            (0, "universe must be an integer of at least 1; got 0"),
            (8.0, "universe must be an integer"),
            (True, "universe must be an integer"),
            ("abcdefgh", "universe must be an integer"),
        ],
    )
    def test_refusals(self, universe, message):
        with pytest.raises(fj.InputError, match=message):
            fj.chance(R, S, universe=universe)

    def test_dropping_contradicts_it(self):
        with pytest.raises(fj.InputError, match="universe cannot be combined with missing='drop'"):
            fj.curve(R, S, universe=9, missing="drop")

    def test_it_travels_with_the_rankings(self):
        both = fj.rankings({"r": R, "s": S}, universe=8)
        assert (both.universe, both.population, both.depth, both.n) == (8, 8, 3, 5)
        direct = fj.chance(R, S, universe=8)
        np.testing.assert_array_equal(fj.chance(both["r"], both["s"]).expected, direct.expected)
        np.testing.assert_array_equal(fj.chance(*both).expected, direct.expected)
        assert fj.pairwise(both, ks=[3], corrected=True)["r", "s"] == pytest.approx(direct.corrected[-1])

    def test_complete_rankings_may_come_from_a_larger_universe(self):
        """Chance then draws from the items that neither ranking lists as well."""
        r, s = [3.0, 2.0, 1.0], [2.0, 3.0, 1.0]
        level = fj.chance(r, s, "jaccard", universe=6)
        for i in range(3):
            mean, variance = oracle.moments("jaccard", [*r, *[-math.inf] * 3], [*s, *[-math.inf] * 3], i + 1)
            assert level.expected[i] == pytest.approx(float(mean))
            assert level.variance[i] == pytest.approx(float(variance))


NEGATIVE_R, NEGATIVE_S = {"a": -1, "b": -2, "c": -3}, {"a": -1, "b": -2, "d": -3}
ABSENT_AT_ZERO = {"missing": "zero", "negative": "clip"}


class TestAbsentItems:
    """An absent item never outranks a listed one, whatever the signs."""

    def test_they_rank_last(self):
        both = fj.rankings({"r": NEGATIVE_R, "s": NEGATIVE_S}, **ABSENT_AT_ZERO)
        assert dict(zip(both.labels, both["r"].ranks, strict=True)) == {"a": 1, "b": 2, "c": 3, "d": 4}
        assert dict(zip(both.labels, both["s"].ranks, strict=True)) == {"a": 1, "b": 2, "d": 3, "c": 4}

    def test_set_measures_work_and_fuji_refuses(self):
        assert fj.curve(NEGATIVE_R, NEGATIVE_S, "jaccard", **ABSENT_AT_ZERO).values.tolist() == [1, 1, 1 / 2]
        for call in (fj.curve, fj.bounds, lambda *own, **options: fj.explain(*own, 1, **options)):
            with pytest.raises(fj.InputError, match=r"r must have a positive or zero score for FUJI.*transform='exp'"):
                call(NEGATIVE_R, NEGATIVE_S, **ABSENT_AT_ZERO)
        with pytest.raises(fj.InputError, match=r"r must have a positive or zero score for FUJI.*transform='exp'"):
            fj.pairwise({"r": NEGATIVE_R, "s": NEGATIVE_S}, **ABSENT_AT_ZERO)
        assert 0 < fj.auc(NEGATIVE_R, NEGATIVE_S, transform="exp", missing="zero") <= 1

    @given(st.data())
    def test_in_any_lists(self, data):
        score = st.one_of(st.integers(-3, 3).map(float), st.just(-math.inf))
        lists = [
            {x: data.draw(score) for x in data.draw(st.permutations(ITEMS))[: data.draw(st.integers(1, 6))]}
            for _ in range(3)
        ]
        both = fj.rankings(dict(zip("rst", lists, strict=True)), **ABSENT_AT_ZERO)
        assume(both.truncated)
        for ranking, own in zip(both, lists, strict=True):
            ranks = dict(zip(both.labels, ranking.ranks, strict=True))
            for x in both.labels:
                if x in own:
                    assert ranks[x] == 1 + sum(score > own[x] for score in own.values())
                else:
                    assert ranks[x] == len(own) + 1
                    assert ranking.scores[both.labels.index(x)] == 0


class TestTooLarge:
    """A universe whose square does not fit in 64 bits, where products of set sizes would wrap around."""

    LARGEST = 2**31 - 1

    def test_the_largest_is_exact(self):
        level = fj.chance(LISTED_R, LISTED_S, "pearson", ks=[1, 3], universe=self.LARGEST)
        assert fj.score(LISTED_R, LISTED_S, self.LARGEST, "pog", universe=self.LARGEST) == 1
        assert level.expected == pytest.approx([0, 0], abs=1e-12)

    @pytest.mark.parametrize("universe", [2**31, 2**62, 2**63, 10**30, 10**400])
    @pytest.mark.parametrize("function", [fj.compare, fj.chance, fj.curve, fj.bounds])
    def test_larger_ones_are_refused(self, function, universe):
        with pytest.raises(fj.InputError, match="universe must be at most 2147483647"):
            function(LISTED_R, LISTED_S, universe=universe)

    def test_of_one_ranking(self):
        with pytest.raises(fj.InputError, match="universe must be at most 2147483647"):
            fj.Ranking([1, 2], universe=2**31)

    @pytest.mark.parametrize("given", ["2147483648", "1" + "0" * 30, "9" * 5000])
    def test_on_the_command_line(self, tmp_path, given):
        file = tmp_path / "a.csv"
        file.write_text("item,score\na,1\nb,2\n")
        result = CliRunner().invoke(fuji, ["compare", str(file), str(file), "--universe", given])
        assert result.exit_code == 2
        assert result.stderr.startswith("fuji compare: --universe must be at most 2147483647")

    def test_digits_of_other_scripts_are_no_number(self, tmp_path):
        file = tmp_path / "a.csv"
        file.write_text("item,score\na,1\nb,2\n")
        result = CliRunner().invoke(fuji, ["compare", str(file), str(file), "--universe", "\uff12\uff10"])
        assert result.exit_code == 2
        assert "must be a file" in result.stderr
