"""Stability: definition, jackknife by hand, coverage and type-I error by simulation."""

from __future__ import annotations

import runpy
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import fujiscore as fj
from fujiscore.many.stability_tests import compare_stabilities
from fujiscore.null.closed_forms import has_closed_form


def resamples(m, noise, rng, n=60):
    """Rankings of one method: the same scores, disturbed."""
    base = np.linspace(3, 0, n) ** 3
    return base * np.exp(noise * rng.normal(size=(m, n)))


def mean_over_pairs(scores, **options):
    return np.mean([fj.auc(a, b, ks="exp", **options) for a, b in combinations(scores, 2)])


def test_value_and_interval_by_hand():
    scores = resamples(6, 0.4, np.random.default_rng(0))
    found = fj.stability(scores, confidence=0.9)
    assert found.value == pytest.approx(mean_over_pairs(scores))
    without = np.array([mean_over_pairs(np.delete(scores, i, axis=0)) for i in range(6)])
    np.testing.assert_allclose(found.left_out, without)
    error = np.sqrt(5 / 6 * ((without - without.mean()) ** 2).sum())
    assert found.standard_error == pytest.approx(error)
    reach = stats.t.ppf(0.95, 5) * error / (found.value * (1 - found.value))
    ends = [special.expit(special.logit(found.value) + side * reach) for side in (-1, 1)]
    assert (found.low, found.high) == pytest.approx(ends)
    assert found.pairs.values.shape == (6, 6)


def test_identical_rankings_are_perfectly_stable():
    found = fj.stability(np.tile(np.arange(20.0), (4, 1)))
    assert (found.value, found.high) == (1, 1)
    assert found.low == pytest.approx(0.05 ** (2 / 4))
    assert any(note.startswith("the spread over the 4 rankings is zero") for note in found.notes)


def test_corrected_stability_of_random_rankings_is_near_zero():
    rng = np.random.default_rng(3)
    scores = [rng.permutation(np.r_[np.ones(5) * rng.random(5), np.zeros(95)]) for _ in range(20)]
    assert fj.stability(scores, ties="closed").value > 0.3
    assert abs(fj.stability(scores, ties="closed", corrected=True).value) < 0.05


def test_curve():
    scores = resamples(5, 0.4, np.random.default_rng(1))
    found = fj.stability_curve(scores, ks=[1, 5, 20])
    for k, value, low, high in zip(found.ks, found.values, found.low, found.high, strict=True):
        alone = fj.stability(scores, ks=int(k))
        assert (value, low, high) == pytest.approx((alone.value, alone.low, alone.high))
    corrected = fj.stability_curve(scores, ks=[5], corrected=True).values[0]
    assert corrected == pytest.approx(fj.stability(scores, ks=5, corrected=True).value)


def test_difference_paired_and_not():
    rng = np.random.default_rng(2)
    a, b = resamples(8, 0.3, rng), resamples(8, 0.8, rng)
    unpaired, paired = fj.stats.compare_stability(a, b), fj.stats.compare_stability(a, b, paired=True)
    assert not unpaired.paired
    assert unpaired.difference == pytest.approx(fj.stability(b).value - fj.stability(a).value)
    assert unpaired.difference == paired.difference < 0
    assert unpaired.high < 0
    assert unpaired.p_value < 0.05
    one, two = unpaired.first.pairs.values, unpaired.second.pairs.values
    error = np.sqrt(tempered_variance(two - one))
    assert paired.p_value == pytest.approx(2 * stats.t.sf(abs(paired.difference / error), 7))
    assert paired.low == pytest.approx(paired.difference - stats.t.ppf(0.975, 7) * error)
    error = np.sqrt(tempered_variance(one) + tempered_variance(two))
    assert unpaired.statistic == pytest.approx(unpaired.difference / error)


def tempered_variance(values):
    """Halfway between jackknife and unbiased variance of a mean over pairs, by enumeration."""
    m = len(values)

    def mean(members):
        return np.mean([values[i, j] for i, j in combinations(members, 2)])

    without = np.array([mean([x for x in range(m) if x != i]) for i in range(m)])
    jackknife = (m - 1) / m * ((without - without.mean()) ** 2).sum()
    products = [values[i, j] * values[k, x] for i, j, k, x in permutations(range(m), 4)]
    unbiased = mean(range(m)) ** 2 - np.mean(products)
    return (jackknife + np.clip(unbiased, 0, jackknife)) / 2


def test_names_tell_pairs():
    rng = np.random.default_rng(2)
    named = [dict(zip("abcd", resamples(4, noise, rng), strict=True)) for noise in (0.3, 0.6)]
    assert fj.stats.compare_stability(*named).paired
    assert not fj.stats.compare_stability(*(list(own.values()) for own in named)).paired


EQUAL_PAIRS = [[3, 2, 1], [1, 3, 2], [2, 1, 3]]  # a cycle: the pairs' values are all the same


@pytest.mark.parametrize("measure", list(fj.MEASURES))
@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("scores", [EQUAL_PAIRS, [[3, 2, 1]] * 3, [[3, 2, 1]] * 40], ids=["cycle", "same", "many"])
def test_no_spread_leaves_no_interval_of_width_zero(measure, corrected, scores):
    if corrected and not has_closed_form(fj.MEASURES[measure]):
        pytest.skip("no closed form")
    found = fj.stability(scores, measure, ks="all", corrected=corrected)
    curve = fj.stability_curve(scores, measure, ks="all", corrected=corrected)
    test = fj.stats.compare_stability(scores, scores, measure, ks="all", corrected=corrected)
    assert np.isnan(found.value) or found.low < found.high
    assert np.all(np.isnan(curve.values) | (curve.low < curve.high))
    assert np.isnan(test.difference) or (test.low < 0 < test.high and test.p_value == 1)


def test_equal_pairs_say_little():
    found = fj.stability(EQUAL_PAIRS, ks="all")
    assert found.standard_error == pytest.approx(0, abs=1e-12)
    share = 0.05 ** (2 / 3)
    assert (found.low, found.high) == pytest.approx((found.value * share, 1 - (1 - found.value) * share))


@pytest.mark.parametrize("m", [3, 5, 8])
def test_the_bound_of_equal_rankings_holds(m):
    """Two draws are alike with probability S = sum of p squared, m with sum of p ** m, at most S ** (m / 2)."""
    rng = np.random.default_rng(m)
    for p in rng.dirichlet(np.full(4, 0.3), size=500):
        assert (p**m).sum() <= (p**2).sum() ** (m / 2) + 1e-12


def test_methods_without_spread():
    same = np.tile(np.arange(9.0), (4, 1))
    found = fj.stats.compare_stability(same, same)
    assert (found.difference, found.p_value) == (0, 1)
    assert found.low < 0 < found.high
    assert any("the difference has no spread" in note for note in found.notes)
    few, many = (fj.stats.compare_stability(EQUAL_PAIRS, [[3, 2, 1]] * m, "kendall", paired=False) for m in (3, 50))
    assert few.difference == many.difference == pytest.approx(4 / 3)
    assert 0.05 < few.p_value < 1
    assert many.low < many.high


@pytest.mark.parametrize("paired", [False, True])
def test_huge_statistics_have_no_p_value_of_zero(paired):
    rng = np.random.default_rng(0)
    first = np.tile(np.arange(200.0), (40, 1)) + 1e-4 * rng.random((40, 200))
    found = fj.stats.compare_stability(first, rng.random((40, 200)), paired=paired)
    assert 0 < found.p_value < 1e-20
    assert found.low < found.high


def test_one_ranking_makes_the_spread():
    scores = resamples(12, 0.05, np.random.default_rng(4))
    assert not fj.stability(scores).notes
    scores[7] = scores[7, ::-1]
    found = fj.stability({f"seed {i}": row for i, row in enumerate(scores)})
    assert found.notes == ("the interval rests on one ranking, seed 7: the others differ much less",)


def test_ordinary_rankings_carry_no_warning():
    rng = np.random.default_rng(6)
    warned = sum(bool(fj.stability(resamples(6, 0.5, rng), n_jobs=1).notes) for _ in range(200))
    assert warned <= 10


def test_unequal_numbers_have_the_smaller_ones_freedom():
    rng = np.random.default_rng(2)
    first, second = resamples(5, 0.3, rng), resamples(9, 0.5, rng)
    found = fj.stats.compare_stability(first, second)
    variance = sum(tempered_variance(method.pairs.values) for method in (found.first, found.second))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(found.difference) / np.sqrt(variance), 4))


def test_one_sided_tests_of_unequal_numbers_carry_a_warning():
    rng = np.random.default_rng(2)
    first, second = resamples(5, 0.3, rng), resamples(9, 0.5, rng)
    for sides, warned in (("two-sided", False), ("greater", True), ("less", True)):
        notes = fj.stats.compare_stability(first, second, alternative=sides).notes
        assert any("a one-sided test rejects too often" in note for note in notes) == warned


@pytest.mark.parametrize("paired", [False, True])
def test_one_sided(paired):
    rng = np.random.default_rng(8)
    a, b = resamples(6, 0.5, rng), resamples(6, 0.45, rng)
    options = {"paired": paired, "confidence": 0.9}
    both, more, less = (
        fj.stats.compare_stability(a, b, alternative=sides, **options) for sides in ("two-sided", "greater", "less")
    )
    assert more.p_value + less.p_value == pytest.approx(1)
    assert both.p_value == pytest.approx(2 * min(more.p_value, less.p_value))
    assert (more.low, less.high) == pytest.approx(
        [both.difference + side * (both.high - both.difference) * ratio(both, paired) for side in (-1, 1)]
    )
    assert (more.high, less.low) == (1, -1)
    assert "one-sided: greater" in str(more)


def ratio(result, paired):
    """Return a one-sided quantile over the two-sided one at 90 %."""
    parts = [tempered_variance(method.pairs.values) for method in (result.first, result.second)]
    freedom = 5 if paired else 5 * sum(parts) ** 2 / sum(part**2 for part in parts)
    return stats.t.ppf(0.9, freedom) / stats.t.ppf(0.95, freedom)


def test_the_interval_says_what_it_covers():
    assert "covers rankings drawn as these were" in str(fj.stability(resamples(4, 0.5, np.random.default_rng(1))))


@pytest.mark.parametrize("measure", list(fj.MEASURES))
@pytest.mark.parametrize("corrected", [False, True])
def test_intervals_stay_inside_the_measures_range(measure, corrected):
    if corrected and not has_closed_form(fj.MEASURES[measure]):
        pytest.skip("no closed form")
    scores = np.random.default_rng(5).permuted(np.tile(np.arange(8.0), (3, 1)), axis=1)
    found = fj.stability(scores, measure, ks="all", corrected=corrected)
    curve = fj.stability_curve(scores, measure, ks=[1, 4], corrected=corrected)
    low = fj.MEASURES[measure].low
    for result in (found, curve):
        values = np.atleast_1d(result.value if result is found else result.values)
        assert (np.atleast_1d(result.low) <= values).all()
        assert (values <= np.atleast_1d(result.high)).all()
        assert (np.atleast_1d(result.high) <= 1).all()
    if not corrected:
        assert found.low >= low
        assert (curve.low >= low).all()
    elif np.isfinite(low):
        pairs = [fj.chance(a, b, measure, ks="all") for a, b in combinations(scores, 2)]
        assert found.low >= np.mean([(low - own.expected_auc) / (1 - own.expected_auc) for own in pairs]) - 1e-12
        for point, k in enumerate((1, 4)):
            by_chance = np.array([own.expected[k - 1] for own in pairs])
            assert curve.low[point] >= np.mean((low - by_chance) / (1 - by_chance)) - 1e-12


def test_the_difference_stays_inside_the_range():
    rng = np.random.default_rng(1)
    found = fj.stats.compare_stability(rng.random((3, 6)), rng.random((3, 6)), ks=1)
    assert -1 <= found.low <= found.difference <= found.high <= 1


def test_asymmetric_measures_count_both_ways():
    scores = [[3, 3, 1, 0], [4, 3, 2, 1], [1, 1, 1, 2]]
    both = [fj.score(a, b, 1, "pog") for a, b in permutations(scores, 2)]
    assert fj.stability(scores, "pog", ks=1).value == pytest.approx(np.mean(both))
    assert fj.stability_curve(scores, "pog", ks=[1]).values[0] == pytest.approx(np.mean(both))
    assert fj.score(scores[0], scores[1], 1, "pog") != fj.score(scores[1], scores[0], 1, "pog")


def test_a_constant_ranking_is_undefined_with_itself_alone():
    rankings = {"a": [1, 1, 1], "b": [1, 2, 3], "c": [3, 2, 1]}
    pairs = fj.pairwise(rankings, corrected=True).values
    assert np.isnan(pairs[0, 0])
    apart = [pairs[0, 1], pairs[0, 2], pairs[1, 2]]
    found = fj.stability(rankings, corrected=True)
    assert found.value == pytest.approx(sum(apart) / 3)
    np.testing.assert_allclose(found.left_out, apart[::-1])
    assert found.low <= found.value <= found.high


def test_undefined_pairs_make_the_value_nan_and_say_so():
    scores = {"dead": [1, 1, 1, 1], "b": [4, 3, 2, 1], "c": [4, 2, 3, 1]}
    found = fj.stability(scores, "kendall")
    assert np.isnan([found.value, found.low, found.high]).all()
    assert any("kendall is undefined in 5 of 9 cells" in note for note in found.notes)
    curve = fj.stability_curve(scores, "kendall", ks=[2, 4])
    assert np.isnan(curve.values).all()
    assert any("kendall is undefined in 2 of 2 k" in note for note in curve.notes)
    for result in (found, curve):
        assert any(note.startswith("dead gives every item the same score") for note in result.notes)


@pytest.mark.parametrize("names", ["xyz", "012"])
def test_names_pair_and_positions_do_not(names):
    rng = np.random.default_rng(3)
    first, second = (dict(zip(names, resamples(3, 0.4, rng), strict=True)) for _ in range(2))
    assert fj.stats.compare_stability(first, second).paired == (names == "xyz")
    assert not fj.stats.compare_stability(first, dict(reversed(second.items()))).paired
    assert fj.stats.compare_stability(first, second, paired=True).paired


def test_truncated_lists_end_with_the_shortest():
    lists = {"a": {"x": 3, "y": 2, "z": 1}, "b": {"x": 3, "w": 2}, "c": {"y": 4, "x": 2, "w": 1}}
    found = fj.stability(lists, universe=50, corrected=True)
    assert found.pairs.ks[-1] == 2
    assert "truncated lists: k ends at 2, the length of the shortest" in found.notes
    curve = fj.stability_curve(lists, universe=50, corrected=True)
    assert curve.ks[-1] == 2
    assert "truncated lists: k ends at 2, the length of the shortest" in curve.notes
    with pytest.raises(fj.InputError, match="no chance level"):
        fj.stability(lists, missing="zero", corrected=True)


COVERAGE = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "make_coverage.py"))
FEW = 1500


@pytest.mark.slow
@pytest.mark.parametrize("name", list(COVERAGE["GENERATORS"]))
def test_the_tables_of_the_page(name):
    """Repeat the simulation of the page with other draws; tests keep their level whatever the page says."""
    shown = COVERAGE["read_tables"](COVERAGE["PAGE"].read_text(encoding="utf-8"))
    _, covered, rejected = COVERAGE["rates"]([name], FEW, seed=2)[name]
    for table, values in (("coverage", covered), ("errors", rejected)):
        expected = np.array(shown[table][name])
        # Four standard errors of the difference, and the rounding of the page.
        room = 4 * np.sqrt(expected * (1 - expected) * (1 / FEW + 1 / COVERAGE["TRIALS"])) + 0.005
        np.testing.assert_array_less(np.abs(values - expected), room)
    if name in COVERAGE["ORDINARY"]:
        rates = np.array(rejected)
        error = np.sqrt(rates * (1 - rates) / FEW)
        assert (rates + error >= 0.02).all()
        assert (rates - error <= 0.07).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", COVERAGE["ORDINARY"])
def test_type_one_error_of_one_sided_tests(name):
    rng, trials = np.random.default_rng(3), 1000
    matrix, _ = COVERAGE["pool"](name, 500)
    for m, alternative in ((5, "greater"), (10, "less"), (30, "greater")):
        rate = COVERAGE["rejections"](matrix, (m, m), trials, rng, alternative)
        error = np.sqrt(rate * (1 - rate) / trials)
        assert rate + error >= 0.02
        assert rate - error <= 0.07


def test_the_page_shows_errors_at_the_level_of_the_test():
    shown = COVERAGE["read_tables"](COVERAGE["PAGE"].read_text(encoding="utf-8"))
    assert len(shown["coverage"]) == len(COVERAGE["GENERATORS"])
    for name in COVERAGE["ORDINARY"]:
        assert all(0.02 <= rate <= 0.07 for rate in shown["errors"][name]), name


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.2, 0.6, 1.5])
@pytest.mark.parametrize("m", [5, 10, 30])
def test_type_one_error_of_paired_tests(m, noise):
    rng = np.random.default_rng(18)
    size, trials = 600, 2000
    common = np.exp(0.7 * noise * rng.normal(size=(size, 60)))
    pools = [fj.pairwise(resamples(size, 0.7 * noise, rng) * common) for _ in range(2)]
    rejected = 0
    for _ in range(trials):
        positions = rng.choice(size, m, replace=False)
        first, second = (COVERAGE["drawn"](matrix, positions) for matrix in pools)
        rejected += compare_stabilities(first, second, paired=True).p_value < 0.05
    assert 0.02 <= rejected / trials <= 0.07


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fj.stability([[1, 2], [2, 1]]), "rankings must hold at least 3 rankings of one method"),
        (lambda: fj.stability(np.ones((3, 4)), confidence=95), "confidence must be a number between 0 and 1"),
        (lambda: fj.stats.compare_stability(np.ones((3, 4)), np.ones((2, 4))), "second must hold at least 3"),
        (
            lambda: fj.stats.compare_stability(np.ones((3, 4)), np.ones((4, 4)), paired=True),
            "paired needs as many rankings of one method as of the other; got 3 and 4",
        ),
        (
            lambda: fj.stability_curve(np.ones((3, 4)), "gamma", corrected=True),
            "corrected needs a measure whose chance level has a closed form; gamma has none",
        ),
        (
            lambda: fj.stats.compare_stability(np.eye(3), np.eye(3), alternative="larger"),
            "alternative must be one of 'two-sided', 'greater', 'less'; got 'larger'",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(fj.InputError, match=message):
        call()
