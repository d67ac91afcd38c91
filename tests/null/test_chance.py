"""Chance: closed forms against exhaustive enumeration and against permutations; permutation p-values."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import oracle
import pytest
from scipy.stats import hypergeom

import fujiscore as fj

SET_MEASURES = [name for name, measure in fj.MEASURES.items() if not measure.by_rank]
CORRECTED_BY_DESIGN = ["npog", "kuncheva", "lustgarten", "wald", "pearson", "kappa"]
# Falling scores, ties in one, ties in both, a constant, zeros on both sides, all zeros, one item, tiny scores.
SHAPES = {
    "falling": ([9.0, 7.0, 4.0, 1.0, 0.5], [3.0, 2.5, 2.0, 0.25, 0.125]),
    "tied": ([5.0, 3.0, 3.0, 0.0, 0.0], [4.0, 4.0, 1.0, 1.0, 0.0]),
    "constant": ([1.0, 1.0, 1.0, 1.0, 1.0], [2.0, 1.0, 0.0, 0.0, 0.0]),
    "halves": ([8.0, 4.0, 2.0, 1.0], [8.0, 8.0, 0.0, 0.0]),
    "mostly zero": ([0.0, 3.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 2.0, 0.0, 0.0, 0.0]),
    "all zero": ([0.0, 0.0, 0.0], [1.0, 2.0, 0.0]),
    "one item": ([1.0], [2.0]),
    "heavy ties": ([2.0, 2.0, 2.0, 1.0, 1.0, 1.0], [3.0, 3.0, 3.0, 3.0, 0.0, 0.0]),
    "far apart": ([1e300, 1.0, 1e-300, 0.0], [1e-320, 1e-323, 1e300, 1.0]),
    "six": ([6.0, 5.5, 3.0, 2.0, 1.0, 0.0], [5.0, 5.0, 4.0, 3.0, 0.0, 0.0]),
}
# A number of items for which all permutations take some seconds.
SEVEN = ([7.0, 6.0, 5.0, 3.0, 3.0, 1.0, 0.0], [64.0, 32.0, 16.0, 8.0, 4.0, 2.0, 0.0])


def all_deals(s):
    """Every way to assign the scores of s to the items, each equally likely."""
    return [list(dealt) for dealt in permutations(s)]


@pytest.mark.parametrize("zero_tail", ["include", "exclude"])
@pytest.mark.parametrize("shape", SHAPES)
def test_fuji_exactly(shape, zero_tail):
    r, s = SHAPES[shape]
    level = fj.chance(r, s, zero_tail=zero_tail)
    assert level.exact
    assert level.permutations is None
    for k in range(1, len(r) + 1):
        mean, variance = oracle.moments("fuji", r, s, k, zero_tail=zero_tail)
        assert level.expected[k - 1] == pytest.approx(float(mean), abs=1e-12)
        assert level.variance[k - 1] == pytest.approx(float(variance), abs=1e-12)


@pytest.mark.parametrize("zero_tail", ["include", "exclude"])
def test_seven_items_exactly(zero_tail):
    r, s = SEVEN
    levels = {name: fj.chance(r, s, name, zero_tail=zero_tail) for name in ("fuji", "average_overlap", "rbo")}
    for name, level in levels.items():
        for k in (2, 5, 7):
            mean, variance = oracle.moments(name, r, s, k, **({"zero_tail": zero_tail} if name == "fuji" else {}))
            assert level.expected[k - 1] == pytest.approx(float(mean), abs=1e-12)
            assert level.variance[k - 1] == pytest.approx(float(variance), abs=1e-12)


def test_stable_without_ties_is_exact_and_with_cut_ties_is_not():
    assert fj.chance([3, 2, 1], [1, 2, 3], ties="stable").exact
    assert not fj.chance([3, 2, 2], [1, 2, 3], ties="stable").exact
    assert fj.chance([3, 2, 2], [1, 2, 3], ks=[1, 3], ties="stable").exact
    assert fj.chance([3, 2, 2], [1, 2, 3]).exact


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", [name for name in SET_MEASURES if name != "fuji"])
def test_set_measures_exactly(name, shape):
    r, s = SHAPES[shape]
    level = fj.chance(r, s, name)
    assert level.exact
    assert level.permutations is None
    for k in range(1, len(r) + 1):
        mean, variance = oracle.moments(name, r, s, k)
        assert level.expected[k - 1] == pytest.approx(float(mean), abs=1e-12, nan_ok=True)
        assert level.variance[k - 1] == pytest.approx(float(variance), abs=1e-12, nan_ok=True)


def test_two_sizes_exactly():
    """Closed ties give sets of unequal sizes; the same holds for every pair of sizes."""
    r, s = [5.0, 5.0, 3.0, 1.0, 0.0, 0.0], [4.0, 3.0, 3.0, 3.0, 3.0, 1.0]
    sizes = {(len(oracle.top(r, k)), len(oracle.top(s, k))) for k in range(1, 7)}
    assert {(2, 1), (3, 5), (4, 5), (6, 5)} < sizes
    test = fj.chance(r, s)
    for k in range(1, 7):
        mean, variance = oracle.moments("fuji", r, s, k)
        assert (test.expected[k - 1], test.variance[k - 1]) == pytest.approx((float(mean), float(variance)), abs=1e-12)


@pytest.mark.parametrize("zero_tail", ["include", "exclude"])
@pytest.mark.parametrize("shape", ["falling", "tied", "mostly zero", "six"])
@pytest.mark.parametrize("name", ["fuji", "jaccard", "dice", "wald"])
def test_one_pair_of_sizes_exactly(name, shape, zero_tail):
    r, s = SHAPES[shape]
    for k in ((1, 3), (4, 2), (5, 1), (2, 2)):
        level = fj.chance(r, s, name, k=k, zero_tail=zero_tail)
        mean, variance = oracle.moments(name, r, s, k, zero_tail=zero_tail)
        assert level.observed.tolist() == [fj.score(r, s, k, name, zero_tail=zero_tail)]
        assert level.expected == pytest.approx([float(mean)], abs=1e-12)
        assert level.variance == pytest.approx([float(variance)], abs=1e-12)
        spread = math.sqrt(variance)
        assert level.z == pytest.approx([(level.auc - float(mean)) / spread if spread else 0.0], abs=1e-9)
        # At one point the area is the value, and its variance is exact.
        assert level.auc_variance == pytest.approx(float(variance), abs=1e-12)


def test_one_pair_of_sizes_is_named():
    rng = np.random.default_rng(0)
    r, s = rng.random((2, 40))
    level = fj.chance(r, s, k=(3, 12))
    assert str(level).startswith("value at k = (3, 12) of FUJI ")
    assert level.to_frame()[["k", "k2"]].values.tolist() == [[3, 12]]
    drawn = fj.chance(r, s, k=(3, 12), permutations=2000, n_jobs=1)
    assert level.p_value == pytest.approx(drawn.p_value, abs=0.05)
    assert fj.chance(r, s, k=5).p_value == fj.chance(r, s, ks=[5]).p_value
    assert "value at k = (3, 12) of Kendall's tau" in str(fj.chance(r, s, "kendall", k=(3, 12), n_jobs=1))
    with pytest.raises(fj.InputError, match="k and ks exclude each other"):
        fj.chance(r, s, k=5, ks="exp")
    with pytest.raises(fj.InputError, match="rbo is defined for sets of equal size only"):
        fj.chance(r, s, "rbo", k=(3, 12))


@pytest.mark.parametrize("n", [40, 200])
@pytest.mark.parametrize("k", [1, 2, 5, 12])
@pytest.mark.parametrize("name", ["jaccard", "dice"])
def test_p_values_of_one_k_are_about_hypergeometric(name, k, n):
    """The value of a set measure at one k rises with the overlap, whose distribution is known."""
    r = np.arange(n, 0, -1)
    for shared in range(k + 1):
        s = np.arange(n, 0, -1.0)
        s[:shared] += 3 * n
        s[n - k + shared :] += 2 * n  # n >= 2 k: none of them is among the first k
        level = fj.chance(r, s, name, k=k)
        exact = hypergeom(n, k, k).sf(shared - 1)
        if exact >= 0.005:
            assert 0.4 <= level.p_value / exact <= 2.6
        else:
            assert level.p_value < 0.02


@pytest.mark.parametrize("name", CORRECTED_BY_DESIGN)
def test_measures_corrected_by_design_expect_nothing(name):
    rng = np.random.default_rng(3)
    found = fj.chance(rng.random(40), rng.random(40), name)
    np.testing.assert_allclose(found.expected[:-1], 0, atol=1e-15)
    assert found.expected[-1] == 1


def hypergeometric(n, k1, k2):
    """The distribution of the overlap, in exact arithmetic."""
    total = math.comb(n, k2)
    return {
        h: Fraction(math.comb(k1, h) * math.comb(n - k1, k2 - h), total)
        for h in range(max(0, k1 + k2 - n), min(k1, k2) + 1)
    }


@pytest.mark.parametrize("n", [1, 2, 3, 10, 57])
def test_expected_jaccard(n):
    exact = fj.stats.expected_jaccard(n)
    for k in range(1, n + 1):
        expected = sum(p * Fraction(h, 2 * k - h) for h, p in hypergeometric(n, k, k).items())
        assert exact[k - 1] == pytest.approx(float(expected), rel=1e-13)


def test_the_papers_approximation_and_its_error():
    n = 200
    error = fj.stats.expected_jaccard(n) - fj.stats.expected_jaccard(n, method="paper")
    assert (error[:-1] > 0).all()
    assert error.max() < 3e-3


@pytest.mark.parametrize(("k1", "k2"), [(30_000, 30_000), (9_000, 41_000), (59_000, 58_000), (5_000, 5_000)])
def test_series_agrees_with_the_sum(k1, k2):
    from fujiscore import _kernels

    by_sum, by_series = np.empty((2, 6))
    _kernels.chance.moments_by_sum(60_000, k1, k2, by_sum)
    _kernels.chance.moments_by_series(60_000, k1, k2, by_series)
    np.testing.assert_allclose(by_series[:3], by_sum[:3], rtol=1e-10)
    np.testing.assert_allclose(by_series[3:], by_sum[3:], rtol=1e-6)


def shapes():
    """Six shapes of scores, the last ones heavily tied."""
    rng = np.random.default_rng(11)
    n = 120
    return {
        "uniform": (rng.random(n), rng.random(n), "stable"),
        "pareto": (rng.pareto(1.2, n), rng.pareto(1.2, n), "stable"),
        "geometric": (0.9 ** rng.permutation(n), 0.8 ** rng.permutation(n), "stable"),
        "zeros": (rng.random(n) * (rng.random(n) < 0.1), rng.random(n) * (rng.random(n) < 0.1), "closed"),
        "rounded": (np.round(rng.random(n), 1), np.round(rng.pareto(2, n), 1), "closed"),
        "mixed": (np.maximum(rng.normal(size=n), 0), np.round(rng.random(n), 2), "closed"),
    }


def check_against_permutations(r, s, ties, permutations=20_000):
    found = fj.chance(r, s, ties=ties, ks="exp", permutations=permutations, random_state=5)
    drawn = found.permutations
    assert found.exact
    error = np.sqrt(np.maximum(drawn.variance, 1e-30) / permutations)
    assert np.all(np.abs(drawn.mean - found.expected) <= 4 * error + 1e-12)
    # The full set's value is 1 whatever is dealt; a variance of that order is rounding.
    visible = found.variance > 1e-12
    np.testing.assert_allclose(drawn.variance[visible], found.variance[visible], rtol=0.05)


@pytest.mark.parametrize("shape", list(shapes()))
def test_fuji_against_permutations(shape):
    check_against_permutations(*shapes()[shape])


def test_published_rankings_against_permutations(shared):
    for stem in ("sonar", "digits", "QSAR-biodegradation"):
        r, s = (published(shared, f"{stem}_{method}") for method in ("Genie3", "RForest"))
        clipped = [np.maximum([own[item] for item in r], 0.0) for own in (r, s)]
        check_against_permutations(*clipped, "closed")


def published(shared, name):
    """A published ranking: two header lines, then index, name, [rank], [score]."""
    lines = (shared / "data" / "published_rankings" / f"{name}.fimp").read_text().splitlines()[2:]
    return {row[1]: float(row[3].strip("[]")) for row in (line.split("\t") for line in lines)}


def test_permutation_statistic_respects_ties():
    """With ties="stable" permuted items that draw equal scores stand in input order, as in the statistic itself."""
    r, s = [4.0, 3.0, 2.0, 1.0], [1.0, 1.0, 0.0, 0.0]
    found = fj.chance(r, s, permutations=6000, random_state=1, ties="stable")
    curves = np.array([fj.curve(r, dealt, ties="stable").values for dealt in all_deals(s)])
    np.testing.assert_allclose(found.permutations.mean, curves.mean(axis=0), atol=0.02)
    at_least = (curves >= found.observed - 1e-12).mean(axis=0)
    np.testing.assert_allclose(found.p_values, at_least, atol=0.03)


def test_p_value_counts_itself():
    found = fj.chance(range(10, 0, -1), range(10, 0, -1), permutations=99)
    assert found.p_value == pytest.approx(1 / 100)
    assert found.auc_z > 3


def test_p_values_do_not_depend_on_threads_and_do_on_the_seed():
    rng = np.random.default_rng(0)
    r, s = rng.random(50), rng.random(50)
    one, two, other = (
        fj.chance(r, s, "gamma", permutations=130, random_state=seed, n_jobs=jobs)
        for seed, jobs in ((4, 1), (4, 2), (5, 2))
    )
    assert one.permutations.aucs.tobytes() == two.permutations.aucs.tobytes()
    assert one.expected.tobytes() == two.expected.tobytes()
    assert one.permutations.aucs.tobytes() != other.permutations.aucs.tobytes()


def test_measures_without_closed_form_draw_permutations():
    rng = np.random.default_rng(0)
    r, s = rng.random((2, 20))
    found = fj.chance(r, s, "gamma", ks="exp")
    assert found.permutations.count == 1000
    assert not found.exact
    assert found.notes == ("gamma: chance level estimated from 1000 permutations",)
    comparison = fj.compare(r, s, ("fuji", "gamma"))
    assert list(comparison.chance) == ["fuji"]
    assert any("chance level of gamma: pass permutations=1000" in note for note in comparison.notes)


@pytest.mark.parametrize("zero_tail", ["include", "exclude"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["average_overlap", "rbo"])
def test_average_overlap_and_rbo_exactly(name, shape, zero_tail):
    r, s = SHAPES[shape]
    level = fj.chance(r, s, name, zero_tail=zero_tail)
    assert level.exact
    for k in range(1, len(r) + 1):
        mean, variance = oracle.moments(name, r, s, k)
        assert level.expected[k - 1] == pytest.approx(float(mean), abs=1e-12)
        assert level.variance[k - 1] == pytest.approx(float(variance), abs=1e-12)
    assert level.auc_variance == pytest.approx(level.variance[-1], abs=1e-12)


def test_average_overlap_and_rbo_of_cut_ties_draw_permutations():
    """Depths that were not asked for cut ties too."""
    r, s = [3.0, 2.0, 2.0, 1.0], [4.0, 3.0, 2.0, 1.0]
    for name in ("average_overlap", "rbo"):
        assert not fj.chance(r, s, name, ks=[1, 3], ties="stable", n_jobs=1).exact
        assert fj.chance(r, s, name, ks=[1, 3]).exact
    both = fj.pairwise([r, s], measure="rbo", corrected=True)
    assert both.values[0, 1] == pytest.approx(fj.chance(r, s, "rbo").corrected_auc)


@pytest.mark.parametrize("name", ["gamma", "kendall", "correlation"])
def test_measures_without_closed_form_against_enumeration(name):
    r, s = [4.0, 3.0, 2.0, 2.0], [1.0, 1.0, 0.0, 3.0]
    level = fj.chance(r, s, name, permutations=4000, random_state=2, n_jobs=1)
    for k in range(1, 5):
        mean, variance = oracle.moments(name, r, s, k)
        if not math.isnan(mean):
            error = math.sqrt(variance / 4000)
            assert abs(level.expected[k - 1] - float(mean)) <= 4.5 * error + 1e-12
            assert level.variance[k - 1] == pytest.approx(float(variance), rel=0.15, abs=1e-12)


def test_the_top_weighted_area_comes_along():
    rng = np.random.default_rng(1)
    r, s = rng.random((2, 40))
    for options in ({}, {"permutations": 60, "n_jobs": 1}):
        level, top = fj.chance(r, s, **options), fj.chance(r, s, ks="exp", **options)
        np.testing.assert_allclose(level.top_weighted.expected, top.expected, rtol=1e-14)
        assert level.top_weighted.corrected_auc == pytest.approx(top.corrected_auc)
        assert top.top_weighted is None
    assert level.top_weighted.p_value == top.p_value


def test_measures_of_whole_lists_are_judged_over_the_whole_list():
    rng = np.random.default_rng(1)
    r, s = rng.random((2, 20))
    level = fj.chance(r, s, "rbo:0.8", permutations=100, n_jobs=1)
    assert level.auc == level.observed[-1] == fj.score(r, s, 20, "rbo:0.8")
    assert level.expected_auc == level.expected[-1]
    assert level.p_value == level.p_values[-1]
    assert "value over the whole list of RBO (p=0.8)" in str(level)


def test_the_result_says_where_its_p_value_comes_from():
    rng = np.random.default_rng(3)
    r, s = rng.random((2, 30))
    analytic, drawn = fj.chance(r, s), fj.chance(r, s, method="permutations", n_jobs=1)
    assert (analytic.method, drawn.method) == ("analytic", "permutations")
    assert (analytic.permutations, drawn.permutations.count) == (None, 1000)
    assert fj.chance(r, s, method="analytic").p_value == analytic.p_value
    assert analytic.p_value == pytest.approx(drawn.p_value, abs=0.05)
    assert analytic.auc_variance == pytest.approx(drawn.auc_variance, rel=0.2)
    assert f"p = {analytic.p_value:.2g} (analytic), z = {analytic.auc_z:.2f}" in str(analytic)
    assert "(1000 permutations)" in str(drawn)
    assert fj.chance(r, s, "krizek").method is None


@pytest.mark.parametrize("method", ["analytic", "permutations"])
def test_alternatives(method):
    rng = np.random.default_rng(4)
    r, s = rng.random((2, 25))
    greater, less, both = (
        fj.chance(r, s, method=method, alternative=alternative, n_jobs=1)
        for alternative in ("greater", "less", "two-sided")
    )
    assert greater.p_value + less.p_value == pytest.approx(1, abs=0.003)
    assert both.p_value == pytest.approx(2 * min(greater.p_value, less.p_value), abs=0.003)
    assert "two-sided" in str(both)
    alike = [fj.chance(r, r, method=method, alternative=word, n_jobs=1).p_value for word in ("greater", "less")]
    assert alike[0] < 0.01
    assert alike[1] > 0.99


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"measure": "krizek"}, "krizek has no null distribution in closed form"),
        ({"measure": "gamma"}, "gamma has no null distribution in closed form"),
        ({"ties": "stable"}, "top sets cut ties"),
        ({"ties": "stable", "measure": "rbo"}, "top sets cut ties"),
        ({"negative": "split"}, "both signs of an item move together"),
    ],
)
def test_where_only_permutations_tell(options, why):
    """The analytic method is refused with the reason; without a method, permutations are drawn or nothing is said."""
    rng = np.random.default_rng(5)
    r, s = np.round(rng.normal(size=(2, 30)), 1)
    options = {"negative": "clip", **options}
    with pytest.raises(fj.InputError, match=rf"method='analytic' is not known here: {why}.*method='permutations'"):
        fj.chance(r, s, method="analytic", **options)
    level = fj.chance(r, s, method="permutations", n_jobs=1, **options)
    assert level.method == "permutations"
    assert fj.chance(r, s, n_jobs=1, **options).method in {None, "permutations"}


def test_few_items_have_no_analytic_p_value():
    rng = np.random.default_rng(6)
    r, s = rng.random((2, 19))
    level = fj.chance(r, s)
    assert level.p_value is None
    assert level.auc_z is not None
    assert level.notes == ("no p-value: with 19 items, fewer than 20, it takes permutations=1000",)
    result = fj.compare(r, s)
    assert (result.p_value["fuji"], result.notes) == (None, ())
    drawn = fj.chance(r, s, permutations=50, n_jobs=1)
    assert drawn.p_value is not None
    assert drawn.notes == ()
    with pytest.raises(fj.InputError, match="method='analytic' is not known here: 19 items, fewer"):
        fj.chance(r, s, method="analytic")
    assert fj.chance(r, s, universe=20).p_value is not None


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize("permutations", [0, 200])
def test_comparisons_say_which_alternative(alternative, permutations):
    rng = np.random.default_rng(7)
    r, s = rng.random((2, 40))
    options = {"permutations": permutations, "alternative": alternative, "n_jobs": 1}
    result = fj.compare(r, s, k=5, **options)
    alone = fj.chance(r, s, **options)
    levels = [level for level in result.levels() if level.measure == "fuji"]
    assert levels[0].p_value == result.p_value["fuji"] == alone.p_value
    assert levels[1].p_value == alone.top_weighted.p_value
    assert {level.alternative for level in levels} == {alternative, alone.alternative} == {alternative}
    with pytest.raises(fj.InputError, match="alternative must be one of"):
        fj.compare(r, s, alternative="more")


def test_constant_rankings_have_no_p_value():
    level = fj.chance([1.0] * 24, np.arange(24))
    assert math.isnan(level.p_value)
    assert math.isnan(level.auc_z)
    assert any("every random ranking" in note for note in level.notes)


def test_corrected_and_z():
    rng = np.random.default_rng(2)
    r, s = rng.random(30), rng.random(30)
    found = fj.chance(r, s)
    np.testing.assert_allclose(
        found.corrected[:-1], (found.observed - found.expected)[:-1] / (1 - found.expected[:-1]), rtol=1e-12
    )
    assert math.isnan(found.corrected[-1])  # all items are the same set: nothing is left to correct
    assert found.z[-1] == 0
    area = fj.auc(r, s)
    assert found.corrected_auc == pytest.approx((area - found.expected_auc) / (1 - found.expected_auc))
    assert fj.chance(r, r).corrected_auc == pytest.approx(1)


@pytest.mark.slow
def test_type_one_error_of_the_permutation_test():
    rng = np.random.default_rng(8)
    rejected = 0
    trials = 2000
    for trial in range(trials):
        r, s = rng.pareto(1.5, 40), np.maximum(rng.normal(size=40), 0)
        rejected += fj.chance(r, s, ks="exp", permutations=199, random_state=trial, n_jobs=1).p_value <= 0.05
    assert 0.03 <= rejected / trials <= 0.07


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"permutations": -1}, "permutations must be an integer of at least 0; got -1"),
        ({"permutations": 2.5}, "permutations must be an integer of at least 0; got 2.5"),
        ({"permutations": 9, "random_state": "x"}, "random_state must be.*got 'x'"),
        ({"alternative": "more"}, "alternative must be one of 'two-sided', 'greater', 'less'; got 'more'"),
        ({"method": "exact"}, "method must be one of 'analytic', 'permutations'; got 'exact'"),
        ({"method": "analytic", "measure": "gamma"}, "method='analytic' is not known here: gamma has no null"),
        ({"method": "analytic", "permutations": 9}, "method='analytic' takes no permutations; got 9"),
        ({"permutations": 9, "n_jobs": 0}, "n_jobs must be.*got 0"),
    ],
)
def test_errors(options, message):
    with pytest.raises(fj.InputError, match=message):
        fj.chance([3, 2, 1], [1, 2, 3], **options)
