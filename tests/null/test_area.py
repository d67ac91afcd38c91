"""The area's null without permutations: against the definition, all permutations of few items, and drawn ones."""

from __future__ import annotations

from importlib import import_module
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln
from scipy.stats import gamma, hypergeom, norm

import fujiscore as fj
from fujiscore.inputs.ranking import Ranking
from fujiscore.measures.grids import grid
from fujiscore.measures.overlap import Overlap
from fujiscore.measures.registry import evaluate, headline
from fujiscore.null import area
from fujiscore.null.closed_forms import closed_form

kernels, pearson = (import_module(f"fujiscore._kernels.{name}") for name in ("area", "pearson"))
FUJI, JACCARD = fj.MEASURES["fuji"], fj.MEASURES["jaccard"]
# Few items: falling, ties in one, ties in both, zeros, nearly equal, far apart.
FEW = {
    "falling": ([9.0, 7.0, 4.0, 1.0, 0.5, 0.25], [3.0, 2.5, 2.0, 0.25, 0.125, 0.0]),
    "tied": ([5.0, 3.0, 3.0, 0.0, 0.0], [4.0, 4.0, 1.0, 1.0, 0.0]),
    "tied once": ([5.0, 4.0, 3.0, 2.0, 1.0], [4.0, 4.0, 1.0, 1.0, 0.5]),
    "zeros": ([0.0, 3.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 2.0, 0.0, 4.0, 0.0]),
    "halves": ([8.0, 4.0, 2.0, 1.0], [8.0, 7.0, 0.0, 0.0]),
    "nearly equal": ([1.0, 1.01, 1.02, 1.03, 1.04, 1.05], [2.0, 2.1, 2.2, 2.3, 2.4, 2.5]),
    "far apart": ([1e300, 1e10, 1.0, 1e-300, 1e-320], [1e-320, 1e-323, 1e300, 1.0, 2.0]),
    "seven": ([7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0], [64.0, 32.0, 16.0, 8.0, 4.0, 2.0, 1.0]),
}


def sides(r, s, ks, zero_tail="include", population=None):
    """Two rankings along a path, and what the area's null takes of each."""
    overlap = Overlap(Ranking(r), Ranking(s), ks, ks, zero_tail=zero_tail, population=population)
    first = area.prepared(overlap.r, overlap.k1, overlap.n, overlap.zero_tail)
    return overlap, first, area.prepared(overlap.s, overlap.k2, overlap.n, overlap.zero_tail)


def one_pair(first, second, measure, weights, exact=None):
    """Variance and law of one pair."""
    known = np.full((1, weights.size), np.nan) if exact is None else exact[None]
    only, stacks = np.zeros(1, np.int64), (area.stacked([first]), area.stacked([second]))
    variances, laws = area.pair_moments(only, only, *stacks, measure, weights, known)
    return variances[0], laws[0]


def moments(*arguments):
    """Variance and skewness."""
    variance, law = one_pair(*arguments)
    return variance, law[kernels.SKEWNESS]


def functions(scores, sizes, zero_tail, n):
    """The indicator and what is lacking at each rank and point, from the definition."""
    ranked = sorted((max(score, 0.0) for score in scores), reverse=True)
    ranked += [0.0] * (n - len(ranked))
    inside, lacking = np.zeros((2, len(sizes), n))
    for g, k in enumerate(sizes):
        for p in range(n):
            if p < k:
                inside[g, p] = 1
            elif ranked[k - 1] > 0:
                lacking[g, p] = (ranked[k - 1] - ranked[p]) / ranked[k - 1]
            else:
                lacking[g, p] = 1 - zero_tail
    return inside, lacking


def hoeffding(r, s, overlap, measure, weights, exact=None):
    """Variance and skewness of the linear statistic, rank by rank: the doubly centred matrix d(p, q)."""
    n = overlap.n
    in_r, lack_r = functions(r, overlap.k1, overlap.zero_tail, n)
    in_s, lack_s = functions(s, overlap.k2, overlap.zero_tail, n)
    total = np.zeros((n, n))
    for g, weight in enumerate(weights):
        k1, k2 = overlap.k1[g], overlap.k2[g]
        union = k1 + k2 - k1 * k2 / n
        both, mixed = np.outer(in_r[g], in_s[g]), np.outer(in_r[g], lack_s[g]) + np.outer(lack_r[g], in_s[g])
        fuzzy, crisp = -(mixed + mixed.mean() * n / union * both) / union, (k1 + k2) / union**2 * both
        d = fuzzy if measure is FUJI else crisp
        d = d - d.mean(axis=0) - d.mean(axis=1)[:, None] + d.mean()
        variance = (d**2).sum() / (n - 1)
        if exact is not None:
            d *= np.sqrt(exact[g] / variance) if variance > 1e-18 else 0.0
        total += weight * d
    variance = (total**2).sum() / (n - 1)
    return variance, n / ((n - 1) * (n - 2)) * (total**3).sum() / variance**1.5


@pytest.mark.parametrize("zero_tail", ["include", "exclude"])
@pytest.mark.parametrize("shape", FEW)
@pytest.mark.parametrize("measure", [FUJI, JACCARD])
def test_levels_give_the_sums_over_ranks(measure, shape, zero_tail):
    r, s = FEW[shape]
    for population in (None, len(r)):
        overlap, first, second = sides(r, s, grid("all", len(r)).ks, zero_tail, population)
        weights = area.area_weights(len(r))
        for exact in (None, closed_form(measure, overlap)[1]):
            found = moments(first, second, measure, weights, exact)
            assert found == pytest.approx(hoeffding(r, s, overlap, measure, weights, exact), rel=1e-7)


def test_a_universe_adds_ranks_at_zero():
    rng = np.random.default_rng(4)
    r, s = rng.random((2, 9))
    for ks in (np.arange(1, 10), np.array([2, 5, 9, 40])):
        overlap, first, second = sides(r, s, ks, population=40)
        weights = area.area_weights(ks.size)
        found = moments(first, second, FUJI, weights)
        assert found == pytest.approx(hoeffding(r, s, overlap, FUJI, weights), rel=1e-9)


def areas_of(dealt, measure, overlap):
    """The area of every assignment."""
    first = overlap.r
    overlaps = (
        Overlap(
            first,
            Ranking.checked("s", np.array(own)),
            *overlap.requested,
            zero_tail="include" if overlap.zero_tail else "exclude",
        )
        for own in dealt
    )
    return [float(headline(measure, evaluate(measure, own))) for own in overlaps]


@pytest.mark.parametrize("zero_tail", ["include", "exclude"])
@pytest.mark.parametrize("shape", FEW)
@pytest.mark.parametrize("measure", [FUJI, JACCARD])
def test_variance_against_all_permutations(measure, shape, zero_tail):
    r, s = FEW[shape]
    overlap, first, second = sides(r, s, grid("all", len(r)).ks, zero_tail)
    dealt = set(permutations(s))
    areas = areas_of(dealt, measure, overlap)
    variance, _ = moments(first, second, measure, area.area_weights(len(r)), closed_form(measure, overlap)[1])
    assert variance == pytest.approx(np.var(areas), rel=0.12, abs=1e-15)
    assert first.least == pytest.approx(1 / len(set(permutations(r))))
    assert second.least == pytest.approx(1 / len(dealt))


def test_many_pairs_as_single_ones():
    rng = np.random.default_rng(5)
    scores = np.round(rng.random((5, 60)), 1)
    ks = grid("exp", 60).ks
    rankings = [Ranking(own) for own in scores]
    kept = [area.prepared(own, own.tie_groups[1][ks - 1], 60, 1.0) for own in rankings]
    i, j = np.triu_indices(5, 1)
    weights = area.area_weights(ks.size)
    exact = np.array([fj.chance(scores[a], scores[b], ks="exp").variance for a, b in zip(i, j, strict=True)])
    stack = area.stacked(kept)
    variances, laws = area.pair_moments(i, j, stack, stack, FUJI, weights, exact)
    for t, (a, b) in enumerate(zip(i, j, strict=True)):
        variance, law = one_pair(kept[a], kept[b], FUJI, weights, exact[t])
        assert variances[t] == pytest.approx(variance, rel=1e-12)
        np.testing.assert_allclose(laws[t], law, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", [lambda x: x, lambda x: x**8, lambda x: np.maximum(x - 0.7, 0)])
def test_a_thinned_path_gives_the_same(shape):
    rng = np.random.default_rng(6)
    r, s = shape(rng.random((2, 400)))
    ks = np.arange(1, 401)
    overlap, first, second = sides(r, s, ks)
    exact = closed_form(FUJI, overlap)[1]
    full = moments(first, second, FUJI, area.area_weights(400), exact)
    places, weights = area.thinned(area.area_weights(400), overlap.k1, overlap.k2)
    assert places.size <= area.MOST_POINTS
    assert weights.sum() == pytest.approx(1)
    _, first, second = sides(r, s, ks[places])
    thin = moments(first, second, FUJI, weights, exact[places])
    assert thin == pytest.approx(full, rel=0.03)


def smooth(skewness):
    """The law of an area without jumps and steps."""
    law = np.zeros(kernels.LAW)
    law[[kernels.SKEWNESS, kernels.SPREAD]] = skewness, 1.0
    return law


def test_p_values_are_tails_of_pearsons_third_type():
    straight = smooth(0.0)
    assert area.p_value(1.96, straight) == pytest.approx(norm.sf(1.96))
    assert area.p_value(-1.0, straight, alternative="less") == pytest.approx(norm.sf(1))
    assert area.p_value(-1.96, straight, alternative="two-sided") == pytest.approx(2 * norm.sf(1.96))
    # A gamma distribution of shape 4 has mean 4, variance 4 and skewness 1.
    assert area.p_value(2.5, smooth(1.0)) == pytest.approx(gamma.sf(9, 4))
    assert area.p_value(2.5, smooth(1.0), alternative="two-sided") == pytest.approx(2 * gamma.sf(9, 4))
    assert area.p_value(-2.5, smooth(-1.0), alternative="less") == pytest.approx(gamma.sf(9, 4))
    # Of shape 16: skewness 0.5, the most that shortens the other tail.
    assert area.p_value(-2.0, smooth(0.5), alternative="less") == pytest.approx(gamma.cdf(8, 16))
    assert area.p_value(-2.0, smooth(3.0), alternative="less") == pytest.approx(gamma.cdf(8, 16))


@given(
    skewness=st.floats(1e-3, 30) | st.sampled_from([1e-12, 1e-9, 0.1999, 0.2, 0.2001]),
    z=st.floats(-8, 12),
    mirrored=st.booleans(),
)
def test_tails_by_integration(skewness, z, mirrored):
    """The density of the standardised gamma distribution, summed up."""
    shape = 4 / skewness**2
    found = pearson.upper_tail(-z, -skewness) if mirrored else pearson.upper_tail(z, skewness)
    if skewness < 1e-3:
        expected = norm.sf(z)
    elif z <= -2 / skewness:
        expected = 1.0
    else:
        # The logarithm of a gamma value has a smooth density, whatever the shape.
        start, stop = np.log1p(z * skewness / 2), np.log1p(40 * max(skewness, 1) * skewness / 2)
        t = np.linspace(start, max(stop, start + 1e-9), 400_001)
        x = np.expm1(t)
        stirling = gammaln(shape) - ((shape - 0.5) * np.log(shape) - shape)
        expected = np.trapezoid(np.exp(shape * (np.log1p(x) - x) + 0.5 * np.log(shape) - stirling), t)
    expected = 1 - expected if mirrored else expected
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-9)


def test_rare_jumps_and_steps_by_hand():
    """Two rankings of 1,000 items with one score above 0 each: the sets share the item once in 1,000 times."""
    r = np.zeros(1000)
    r[0] = 1
    alike, apart = fj.chance(r, r, ks=[1]), fj.chance(r, np.roll(r, 1), ks=[1])
    law = alike.analytic.law
    assert law[kernels.RATE] == pytest.approx(1 / 1000)
    assert law[kernels.STEP] == pytest.approx(1 / np.sqrt(alike.auc_variance), rel=1e-3)
    assert alike.p_value == pytest.approx(1 / 1000, rel=1e-2)
    assert apart.p_value == pytest.approx(1, abs=1e-2)
    # The rate and the sizes of jumps and the bulk make up the variance.
    sizes, rates = law[kernels.JUMPS + 1 :: 2], law[kernels.JUMPS :: 2]
    assert rates @ sizes**2 + law[kernels.SPREAD] ** 2 == pytest.approx(1, rel=0.01)


def test_the_law_has_the_same_bits_compiled_or_not():
    from fujiscore._kernels import _jit

    rng = np.random.default_rng(9)
    z = np.concatenate([rng.normal(0, 3, 50), [0.0, 40.0, -40.0, np.nan]])
    for r, s in (rng.pareto(0.5, (2, 300)), np.round(rng.random((2, 300)), 1), rng.random((2, 300)) < 0.02):
        ks = grid("exp", 300).ks
        overlap, first, second = sides(r.astype(float), s.astype(float), ks)
        exact = closed_form(JACCARD, overlap)[1]
        factors = area.coefficients(JACCARD, 300, first.sizes, second.sizes, first.lacking, second.lacking)
        tables = (first.table, first.points, second.table, second.points)
        found = []
        for moments_of, tails_of in (
            (kernels.moments, kernels.tails),
            (_jit.compiled(kernels.moments), _jit.compiled(kernels.tails)),
        ):
            law, tails = np.empty(kernels.LAW), np.empty((2, z.size))
            variance = moments_of(300, *tables, factors, area.area_weights(ks.size), exact, law)
            for side, out in zip((1, -1), tails, strict=True):
                tails_of(z, law[None], side, out)
            found.append((variance, law.tobytes(), tails.tobytes()))
        assert found[0] == found[1]


def test_no_p_value_is_zero_or_above_one():
    assert area.p_value(100.0, smooth(-1.0)) == area.LEAST  # beyond the end of the distribution
    assert area.p_value(100.0, smooth(-1.0), 1 / 24) == 1 / 24
    assert area.p_value(0.0, smooth(0.0), alternative="two-sided") == 1
    assert np.isnan(area.p_value(np.nan, smooth(0.0)))
    with pytest.raises(fj.InputError, match="alternative must be"):
        area.p_value(1.0, smooth(0.0), alternative="more")


@pytest.mark.parametrize("name", ["hamming", "pog", "dice", "cwrel", "pearson", "average_overlap", "rbo"])
def test_areas_of_linear_measures_have_exact_variances(name):
    r, s = FEW["tied once"]
    level = fj.chance(r, s, name)
    areas = [fj.chance(r, list(own), name).auc for own in set(permutations(s))]
    assert level.auc_variance == pytest.approx(np.var(areas), rel=1e-10)
    third = np.mean((areas - np.mean(areas)) ** 3) / np.std(areas) ** 3
    assert level.analytic.skewness == pytest.approx(third, rel=1e-8)


def test_covariances_along_the_path():
    """The correlations behind the band give the area's variance, and each point's skewness is that of one point."""
    rng = np.random.default_rng(7)
    r, s = np.round(rng.pareto(1, (2, 40)), 1)
    overlap, first, second = sides(r, s, grid("exp", 40).ks)
    null = area.area_null(overlap, FUJI, np.arange(overlap.k1.size), closed_form(FUJI, overlap)[1])
    weights = area.area_weights(overlap.k1.size) * np.sqrt(null.exact)
    assert weights @ area._correlation(first, second, null.factors) @ weights == pytest.approx(null.variance, rel=1e-9)
    for g, law in enumerate(null._point_laws[:-1]):
        one = sides(r, s, overlap.requested[0][g : g + 1])[1:]
        alone = one_pair(*one, FUJI, np.ones(1), null.exact[g : g + 1])[1]
        np.testing.assert_allclose(law, alone, rtol=1e-9, atol=1e-12)


def test_where_a_curve_is_above_chance():
    rng = np.random.default_rng(0)
    x, noise = rng.random(60), rng.random((2, 60))
    level = fj.chance(x + 0.3 * noise[0], x + 0.3 * noise[1])
    low, high = level.band()
    narrow = level.band(simultaneous=False)
    assert (low <= narrow[0]).all()
    assert (high >= narrow[1]).all()
    assert (low[:-1] < level.expected[:-1]).all()
    inside = {k for a, b in level.above() for k in range(a, b + 1)}
    assert inside == set(level.ks[level.observed > high + 1e-12].tolist())
    (run,) = level.above()
    assert level.in_words() == f"FUJI is above chance from k = {run[0]} to {run[1]} (simultaneous 95% band)"
    apart = fj.chance(x, -x, negative="clip", measure="jaccard")
    assert apart.above() == []
    assert apart.in_words() == "Jaccard is above chance at no k (simultaneous 95% band)"
    with pytest.raises(fj.InputError, match="a band needs a measure of top sets"):
        fj.chance(x, x, "rbo").band()


def share_of_zeros(n, share, rng):
    """Scores of which a share is 0."""
    return np.where(rng.permutation(n) < share * n, 0.0, rng.random(n) + 0.1)


SHAPES = {
    "uniform": lambda n, rng: rng.random(n),
    "halving": lambda n, _: 0.5 ** np.arange(n),
    "pareto 1": lambda n, rng: rng.pareto(1, n),
    "pareto 0.3": lambda n, rng: rng.pareto(0.3, n),
    "80 % zeros": lambda n, rng: share_of_zeros(n, 0.8, rng),
    "97 % zeros": lambda n, rng: share_of_zeros(n, 0.97, rng),
    "binary": lambda n, rng: (rng.permutation(n) < n / 2).astype(float),
    "rare binary": lambda n, rng: (rng.permutation(n) < max(1, n / 30)).astype(float),
    "three values": lambda n, rng: rng.integers(0, 3, n).astype(float),
    "rounded": lambda n, rng: np.round(rng.random(n), 1),
    "reciprocal ranks": lambda n, _: 1 / np.arange(1.0, n + 1),
    "nearly equal": lambda n, rng: 1 + 0.05 * rng.random(n),
}


def check_calibration(level, areas):
    """The variance of the area, and how often its p-value is small, over many random rankings."""
    null = level.analytic
    apart = areas - level.expected_auc
    error = np.sqrt(np.mean((apart**2 - areas.var()) ** 2) / areas.size)
    assert abs(null.variance - areas.var()) <= 0.06 * areas.var() + 3 * error
    p = area.p_value(apart / np.sqrt(null.variance), null.law, null.least)
    true = 1 - np.searchsorted(np.sort(areas), areas - 1e-12) / areas.size
    # Of few different areas, none may be that rare and yet not much rarer.
    possible = np.mean(true <= 0.04)
    assert (0.025 if possible > 0.03 else 0.9 * possible) <= np.mean(p <= 0.05) <= 0.07
    assert np.mean(p <= 0.001) <= 0.005
    # No p-value is far too small.
    seen = true >= 0.005
    assert (p[seen] > true[seen] / 4).all()
    for alternative in ("less", "two-sided"):
        p = area.p_value(apart / np.sqrt(null.variance), null.law, null.least, alternative)
        assert np.mean(p <= 0.05) <= 0.07
        assert np.mean(p <= 0.001) <= 0.005


@pytest.mark.slow
@pytest.mark.parametrize("n", [40, 200, 1000])
@pytest.mark.parametrize("shape", SHAPES)
def test_calibration(shape, n):
    """Areas over every k and over k = 1, 2, 4, ... of 20,000 random rankings."""
    rng = np.random.default_rng(n)
    r, s = (SHAPES[shape](n, rng) for _ in "rs")
    known, drawn = fj.compare(r, s), fj.compare(r, s, permutations=20_000)
    for measure in ("fuji", "jaccard"):
        for level, permuted in zip(known._levels[measure], drawn._levels[measure], strict=True):
            check_calibration(level, permuted.permutations.aucs)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["uniform", "halving", "pareto 1", "97 % zeros"])
def test_calibration_of_many_items(shape):
    """With many items, the area over k = 1, 2, 4, ... depends on rare coincidences near the top."""
    n = 20_000
    rng = np.random.default_rng(n)
    r, s = (SHAPES[shape](n, rng) for _ in "rs")
    for measure in ("fuji", "jaccard"):
        level = fj.chance(r, s, measure, ks="exp")
        areas = fj.chance(r, s, measure, ks="exp", permutations=4000).permutations.aucs
        p = area.p_value((areas - level.expected_auc) / np.sqrt(level.auc_variance), level.analytic.law)
        assert 0.025 <= np.mean(p <= 0.05) <= 0.07
        assert np.mean(p <= 0.001) <= 0.005


@pytest.mark.slow
@pytest.mark.parametrize("ks", ["all", "exp"])
@pytest.mark.parametrize("n", [60, 200])
@pytest.mark.parametrize("shape", ["uniform", "halving", "pareto 1", "80 % zeros", "rounded"])
def test_random_curves_leave_the_simultaneous_band_in_5_percent(shape, n, ks):
    rng = np.random.default_rng(1)
    r, s = (SHAPES[shape](n, rng) for _ in "rs")
    for measure in ("fuji", "jaccard"):
        low, high = fj.chance(r, s, measure, ks=ks).band()
        curves = np.array([fj.curve(r, rng.permutation(s), measure, ks=ks).values for _ in range(1500)])
        left = np.mean(((curves < low - 1e-9) | (curves > high + 1e-9)).any(axis=1))
        # Sampling error: 0.6 points. Jaccard has few values, so its band is wide.
        assert left <= 0.07 + 0.01
        assert left >= 0.03 - 0.01 or measure == "jaccard"


@pytest.mark.parametrize("measure", ["fuji", "jaccard", "hamming", "average_overlap", "rbo"])
@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_of_two_scores_no_p_value_is_below_that_of_the_overlap(measure, alternative):
    for n, k1, k2, shared in [(20, 8, 10, 8), (25, 8, 8, 7), (25, 8, 8, 0), (40, 20, 20, 16), (100, 8, 50, 8)]:
        r, s = np.zeros((2, n))
        r[:k1], s[k1 - shared : k1 - shared + k2] = 2.0, 5.0
        at_least, at_most = hypergeom.sf(shared - 1, n, k1, k2), hypergeom.cdf(shared, n, k1, k2)
        exact = {"greater": at_least, "less": at_most, "two-sided": min(1, 2 * min(at_least, at_most))}[alternative]
        one = fj.chance(r, s, measure, ks="exp", alternative=alternative).p_value
        assert exact * (1 - 1e-9) <= one <= 1
        pair = fj.pairwise([r, s], measure=measure, ks="exp", p_values=True, alternative=alternative)
        assert pair.p_values[0, 1] == pytest.approx(one, rel=1e-9)


def test_two_scores_of_a_truncated_list_are_those_listed_and_0():
    r, s = dict.fromkeys("abcdefgh", 3.0), dict.fromkeys("bcdefghi", 1.0)
    assert fj.chance(r, s, universe=25).p_value >= hypergeom.sf(6, 25, 8, 8) * (1 - 1e-9)


def test_p_values_at_the_floor_are_printed_as_bounds():
    scores = np.random.default_rng(0).random(60)
    assert "p <= 1e-09 (analytic)" in str(fj.chance(scores, scores))
