"""Ties: every tied item enters together by default, so the order of the rows decides nothing."""

from __future__ import annotations

import math
from dataclasses import astuple

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from strategies import SMALL, pairs

import fujiscore as fj

NAMES = tuple(fj.MEASURES)
CLOSED_FORM = tuple(name for name, m in fj.MEASURES.items() if m.linear or name in {"fuji", "jaccard", "krizek"})
CONSTANT, RISING = [0.0] * 10, [float(i) for i in range(10)]
TIED = st.integers(0, 3).map(float)
# Cuts a tie at k = 2 only.
CUT = ([4.0, 2.0, 2.0, 1.0], [1.0, 4.0, 3.0, 2.0])


@st.composite
def tied_rankings(draw):
    """Return three rankings with heavy ties, their labels, and another order of the rows."""
    n = draw(st.integers(2, 10))
    rankings = [draw(st.lists(TIED, min_size=n, max_size=n)) for _ in range(3)]
    labels = [f"item {i}" for i in range(n)]
    return rankings, labels, draw(st.permutations(range(n)))


def labelled(scores, labels, rows):
    return {labels[i]: scores[i] for i in rows}


def every_default_result(rankings, labels, rows):
    """Return what every public function says by default about the rankings with their rows in that order."""
    r, s, t = (labelled(scores, labels, rows) for scores in rankings)
    n, k = len(rows), max(1, len(rows) // 2)
    collection, options = {"r": r, "s": s, "t": t}, {"n_jobs": 1, "progress": False}
    results = {"fuji": fj.fuji(r, s, k), "pair of sizes": fj.fuji(r, s, (k, n))}
    for name in NAMES:
        results[name, "score"] = fj.score(r, s, k, name)
        results[name, "curve"] = fj.curve(r, s, name).values
        results[name, "auc"] = fj.auc(r, s, name, ks="exp")
        results[name, "pairwise"] = fj.pairwise(collection, measure=name, **options).values
    comparison = fj.compare(r, s, NAMES, k=k)
    results["levels"] = [astuple(level) for level in comparison.levels()]
    for name, level in comparison.chance.items():
        results[name, "chance"] = np.array([level.expected, level.variance, level.corrected, level.z])
    results["notes"] = comparison.notes
    for name in ("fuji", "jaccard", "wald"):
        alone = fj.chance(r, s, name)
        results[name, "alone"] = np.array([alone.auc, alone.expected_auc, alone.corrected_auc])
        results[name, "corrected"] = fj.pairwise(collection, measure=name, corrected=True, **options).values
        stable = fj.stability(collection, name, corrected=True, **options)
        results[name, "stability"] = (stable.value, stable.low, stable.high)
        over_k = fj.stability_curve(collection, name, corrected=True, **options)
        results[name, "stability curve"] = np.array([over_k.values, over_k.low, over_k.high])
        against = fj.stats.compare_stability(collection, {"r": t, "s": r, "t": t}, name, **options)
        results[name, "against"] = (against.difference, against.low, against.high, against.p_value)
    why = fj.explain(r, s, k)
    results["explain"] = why.items, why.kind
    results["explained"] = np.array([why.rank_r, why.rank_s, why.contribution, why.membership_r, why.membership_s])
    limits = fj.bounds(r, {item: s[item] for item in s if item != labels[0]})
    results["bounds"] = np.array([limits.low, limits.high])
    results["rbo"] = astuple(fj.rbo(r, s))
    results["average overlap"] = fj.average_overlap(r, s)
    aligned = fj.rankings(collection)
    ranks = {item: [ranking.ranks[i] for ranking in aligned] for i, item in enumerate(aligned.labels)}
    results["ranks"] = [ranks[label] for label in labels]
    return results


def assert_same(actual, expected, what):
    """Compare results of any shape, numbers to 1e-13 and everything else exactly."""
    if isinstance(expected, np.ndarray):
        np.testing.assert_allclose(actual, expected, rtol=1e-13, atol=1e-13, err_msg=str(what))
    elif isinstance(expected, float):
        assert actual == pytest.approx(expected, rel=1e-13, abs=1e-13, nan_ok=True), what
    elif isinstance(expected, (list, tuple)):
        assert len(actual) == len(expected), what
        for one, other in zip(actual, expected, strict=True):
            assert_same(one, other, what)
    else:
        assert actual == expected, what


@settings(max_examples=12)
@given(tied_rankings())
def test_the_order_of_the_rows_changes_no_default_result(case):
    rankings, labels, shuffled = case
    expected = every_default_result(rankings, labels, range(len(labels)))
    actual = every_default_result(rankings, labels, shuffled)
    assert actual.keys() == expected.keys()
    for what, value in expected.items():
        assert_same(actual[what], value, what)


def test_the_order_of_many_rows_changes_nothing():
    """From 1,000 items on sparse grids and compiled kernels take other ways."""
    rng = np.random.default_rng(4)
    rankings = np.round(rng.pareto(1.5, (3, 1500)), 1)
    mixed = rng.permutation(1500)
    for name in NAMES:
        ks = "exp" if name in {"spearman", "weightedtau"} else "all"
        values = [fj.curve(own[0], own[1], name, ks=ks).values for own in (rankings, rankings[:, mixed])]
        np.testing.assert_allclose(*values, rtol=1e-12, atol=1e-13, err_msg=name)
    for name in CLOSED_FORM:
        cells = [
            fj.pairwise(own, measure=name, corrected=True, n_jobs=1).values for own in (rankings, rankings[:, mixed])
        ]
        np.testing.assert_allclose(*cells, rtol=1e-12, atol=1e-13, err_msg=name)


def test_permutations_leave_the_closed_form_alone():
    rng = np.random.default_rng(0)
    r, s = rng.integers(0, 4, (2, 30)).astype(float)
    mixed = rng.permutation(30)
    plain, shuffled = (
        fj.compare(a, b, ("fuji", "jaccard", "kappa"), permutations=20, n_jobs=1).chance
        for a, b in ((r, s), (r[mixed], s[mixed]))
    )
    for name in plain:
        np.testing.assert_allclose(plain[name].expected, shuffled[name].expected, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(plain[name].variance, shuffled[name].variance, rtol=1e-12, atol=1e-15)
        assert plain[name].exact


class TestClosedIsTheDefault:
    @pytest.mark.parametrize("name", NAMES)
    @given(pair=pairs(TIED, least=2, most=8))
    def test_curves(self, name, pair):
        exact = [float(x) for x in oracle.curve(name, *pair, range(1, len(pair[0]) + 1), ties="closed")]
        np.testing.assert_allclose(fj.curve(*pair, name).values, exact, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(fj.compare(*pair, [name])[name].values, exact, rtol=1e-12, atol=1e-12)

    @given(pairs(TIED, least=2, most=8), st.sampled_from(NAMES))
    def test_matrices(self, pair, name):
        n = len(pair[0])
        values = oracle.curve(name, *pair, oracle.grid("exp", n), ties="closed")
        expected = float(values[-1]) if fj.MEASURES[name].whole else float(oracle.auc(values))
        cell = fj.pairwise(dict(zip("rs", pair, strict=True)), measure=name, n_jobs=1)["r", "s"]
        assert cell == pytest.approx(expected, abs=1e-12, nan_ok=True)

    def test_all_items_that_tie_with_the_kth_are_in(self):
        r, s = [3.0, 1.0, 1.0, 1.0], [0.0, 5.0, 4.0, 3.0]
        # r's top two are all four items, s's are two of them.
        assert fj.score(r, s, 2, "jaccard") == 1 / 2
        assert fj.score(r, s, 2, "jaccard", ties="stable") == 1 / 3
        assert fj.score(r, s, 2, "pog") == 1 / 2
        assert (fj.explain(r, s, 2).k1, fj.explain(r, s, 2).k2) == (4, 2)

    def test_average_overlap_over_the_mean_size(self):
        r, s = [3.0, 2.0, 2.0, 1.0], [2.0, 3.0, 1.0, 0.0]
        # Depth 1: {a} and {b}; depth 2: {a, b, c} and {a, b}; depth 3: the same three items.
        assert fj.score(r, s, 3, "average_overlap") == pytest.approx((0 + 4 / 5 + 1) / 3)

    def test_rbo_is_variant_w(self):
        rng = np.random.default_rng(1)
        for _ in range(20):
            r, s = ({str(i): float(x) for i, x in enumerate(rng.integers(0, 4, 12))} for _ in range(2))
            for p in (0.5, 0.9):
                value = fj.score(r, s, 12, f"rbo:{p}")
                assert value == pytest.approx(fj.rbo(r, s, p, ties="w").ext, abs=1e-14)

    @pytest.mark.parametrize("seed", range(5))
    def test_kendall_is_tau_b(self, seed):
        rng = np.random.default_rng(seed)
        r, s = rng.integers(0, 5, (2, 40)).astype(float)
        for k in (1, 3, 10, 25, 40):
            union = sorted(oracle.top(r.tolist(), k) | oracle.top(s.tolist(), k))
            expected = stats.kendalltau(r[union], s[union]).statistic
            assert fj.score(r, s, k, "kendall") == pytest.approx(expected, nan_ok=True)
            brute = float(oracle.value("kendall", r.tolist(), s.tolist(), k))
            assert fj.score(r, s, k, "kendall") == pytest.approx(brute, nan_ok=True)

    def test_kendall_of_many_items(self):
        r, s = np.round(np.random.default_rng(2).normal(size=(2, 20_000)), 2) + 5
        assert fj.score(r, s, 20_000, "kendall") == pytest.approx(stats.kendalltau(r, s).statistic, rel=1e-12)


class TestUndefined:
    @pytest.mark.parametrize("name", ["kendall", "spearman", "weightedtau"])
    def test_rank_correlations_of_a_constant_are_nan_with_a_note(self, name):
        assert math.isnan(fj.score(CONSTANT, RISING, 10, name))
        assert np.isnan(fj.curve(CONSTANT, RISING, name).values).all()
        comparison = fj.compare(CONSTANT, RISING, [name])
        assert math.isnan(comparison.auc[name])
        for notes in (comparison.notes, fj.curve(CONSTANT, RISING, name).notes):
            assert any(note.startswith(f"{name} is undefined at 10 of 10 k") and "NaN" in note for note in notes)
        matrix = fj.pairwise({"dead": CONSTANT, "alive": RISING}, measure=name, n_jobs=1)
        assert np.isnan(matrix["dead", "alive"])
        assert any(f"{name} is undefined in 3 of 4 cells" in note for note in matrix.notes)

    @pytest.mark.parametrize("name", ["correlation", "gamma"])
    def test_published_measures_are_1_with_a_note(self, name):
        assert fj.score(CONSTANT, RISING, 10, name) == 1
        for notes in (fj.compare(CONSTANT, RISING, [name]).notes, fj.curve(CONSTANT, RISING, name).notes):
            assert any(note.startswith(f"{name} is undefined at 10 of 10 k") and "1 by the" in note for note in notes)

    @pytest.mark.parametrize("name", NAMES)
    def test_a_dead_ranking_is_named(self, name):
        assert "r gives every item the same score: it orders nothing" in fj.curve(CONSTANT, RISING, name).notes
        assert any("dead" in note for note in fj.pairwise({"dead": CONSTANT, "x": RISING}, measure=name).notes)

    @pytest.mark.parametrize("name", NAMES)
    def test_nothing_is_said_where_all_is_defined(self, name):
        r, s = [4.0, 3.0, 2.0, 1.0], [1.0, 4.0, 3.0, 2.0]
        assert fj.curve(r, s, name).notes == ()

    @pytest.mark.parametrize("name", ["kuncheva", "krizek"])
    def test_measures_of_equal_sizes_say_where_ties_make_them_differ(self, name):
        curve = fj.curve([2.0, 2.0, 1.0], [3.0, 2.0, 1.0], name)
        assert np.isnan(curve.values).tolist() == [True, False, False]
        assert any("undefined at 1 of 3 k (ties make the sets differ in size): NaN" in note for note in curve.notes)
        assert fj.score([2.0, 2.0, 1.0], [3.0, 3.0, 1.0], 1, name) == 1


class TestUnrelatedSparseRankings:
    """20 of 1,000 scores are non-zero, in different places: no default may find any similarity."""

    PAIRS = 50

    def rankings(self, seed):
        rng = np.random.default_rng(seed)
        r, s = np.zeros((2, 1000))
        for scores in (r, s):
            scores[rng.choice(1000, 20, replace=False)] = rng.pareto(1, 20) + 0.01
        return r, s

    def test_compare_and_chance(self):
        corrected = {name: [] for name in CLOSED_FORM}
        for seed in range(self.PAIRS):
            r, s = self.rankings(seed)
            for level in fj.compare(r, s, CLOSED_FORM).levels():
                corrected[level.measure].append(level.corrected)
            alone = fj.chance(r, s)
            assert alone.exact
            assert [alone.corrected_auc, alone.top_weighted.corrected_auc] == pytest.approx(corrected["fuji"][-2:])
        for name, values in corrected.items():
            assert len(values) == 2 * self.PAIRS, name
            assert abs(np.mean(values)) < 0.02, name

    @pytest.mark.parametrize("ks", ["exp", "all"])
    def test_pairwise(self, ks):
        for name in CLOSED_FORM:
            cells = []
            for seed in range(self.PAIRS):
                matrix = fj.pairwise(
                    dict(zip("rs", self.rankings(seed), strict=True)), measure=name, ks=ks, corrected=True, n_jobs=1
                )
                cells.append(matrix["r", "s"])
            assert abs(np.mean(cells)) < 0.02, name

    def test_stability(self):
        rankings = [ranking for seed in range(5) for ranking in self.rankings(seed)]
        for name in CLOSED_FORM:
            stable = fj.stability(rankings, name, corrected=True, n_jobs=1)
            assert abs(stable.value) < 0.02, name
            assert stable.low < 0.02, name


class TestStableTies:
    def test_only_what_a_top_set_cuts_counts(self):
        assert fj.chance(*CUT, ties="stable", ks=[1, 3, 4]).exact
        assert fj.compare(*CUT, ks=[1, 3, 4], ties="stable").chance["fuji"].exact
        assert not fj.chance(*CUT, ties="stable").exact

    def test_chance_draws_permutations(self):
        drawn = fj.chance(*CUT, "jaccard", ties="stable", random_state=3)
        assert drawn.permutations.count == 1000
        np.testing.assert_array_equal(drawn.expected, drawn.permutations.mean)
        np.testing.assert_array_equal(drawn.variance, drawn.permutations.variance)
        assert any("estimated from 1000 permutations (ties are cut" in note for note in drawn.notes)
        exact = [oracle.moments("jaccard", *CUT, k, ties="stable") for k in range(1, 5)]
        np.testing.assert_allclose(drawn.expected, [float(mean) for mean, _ in exact], atol=0.03)
        np.testing.assert_allclose(drawn.variance, [float(variance) for _, variance in exact], atol=0.02)

    def test_compare_gives_a_note_and_no_chance_level(self):
        comparison = fj.compare(*CUT, ties="stable")
        assert comparison.chance == {}
        assert comparison.ties_cut == 1
        assert any("ties cut at 1 of 4 k" in note for note in comparison.notes)
        assert any("permutations=1000 or ties='closed'" in note for note in comparison.notes)
        assert all(level.expected is None and level.corrected is None for level in comparison.levels())
        drawn = fj.compare(*CUT, ties="stable", permutations=200)
        assert not drawn.chance["fuji"].exact
        assert any("fuji: chance level estimated from 200 permutations" in note for note in drawn.notes)

    @pytest.mark.parametrize("call", [fj.pairwise, fj.stability, fj.stability_curve])
    def test_many_rankings_are_refused(self, call):
        rankings = [CUT[0], CUT[1], [4.0, 3.0, 2.0, 1.0]]
        with pytest.raises(fj.InputError, match=r"corrected needs ties='closed': 0 has ties that top sets cut"):
            call(rankings, corrected=True, ties="stable")
        call(rankings, corrected=True)
        call(rankings, ties="stable")

    @pytest.mark.parametrize("call", [fj.pairwise, fj.stability])
    def test_ties_that_no_set_cuts_are_fine(self, call):
        rankings = {"a": CUT[0], "b": CUT[1], "c": [4.0, 3.0, 2.0, 1.0]}
        stable, closed = (call(rankings, ks=[1, 3, 4], corrected=True, ties=ties) for ties in ("stable", "closed"))
        if call is fj.pairwise:
            np.testing.assert_allclose(stable.values, closed.values, rtol=1e-14)
        else:
            assert stable.value == pytest.approx(closed.value, rel=1e-14)

    @given(pairs(SMALL), st.data())
    def test_the_points_where_ties_straddle_are_counted(self, pair, data):
        ks = sorted(data.draw(st.sets(st.integers(1, len(pair[0])), min_size=1)))
        cut = sum(any(oracle.top(x, k, "stable") != oracle.top(x, k) for x in pair) for k in ks)
        assert fj.compare(*pair, ks=ks, ties="stable").ties_cut == cut
        assert fj.compare(*pair, ks=ks).ties_cut == 0
        said = any("ties cut at" in note for note in fj.curve(*pair, ks=ks, ties="stable").notes)
        assert said == (cut > 0)
