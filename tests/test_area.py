"""The area's null without permutations: against the definition, all permutations of few items, and drawn ones."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import fujiscore as fj
from fujiscore import area
from fujiscore.null import closed_form
from fujiscore.overlap import Overlap, grid
from fujiscore.ranking import Ranking

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
            found = area.moments(first, second, measure, weights, exact)
            assert found == pytest.approx(hoeffding(r, s, overlap, measure, weights, exact), rel=1e-7)


def test_a_universe_adds_ranks_at_zero():
    rng = np.random.default_rng(4)
    r, s = rng.random((2, 9))
    for ks in (np.arange(1, 10), np.array([2, 5, 9, 40])):
        overlap, first, second = sides(r, s, ks, population=40)
        weights = area.area_weights(ks.size)
        found = area.moments(first, second, FUJI, weights)
        assert found == pytest.approx(hoeffding(r, s, overlap, FUJI, weights), rel=1e-9)


@pytest.mark.parametrize("zero_tail", ["include", "exclude"])
@pytest.mark.parametrize("shape", FEW)
@pytest.mark.parametrize("measure", [FUJI, JACCARD])
def test_variance_against_all_permutations(measure, shape, zero_tail):
    r, s = FEW[shape]
    overlap, first, second = sides(r, s, grid("all", len(r)).ks, zero_tail)
    dealt = set(permutations(s))
    areas = [fj.auc(r, list(own), measure, zero_tail=zero_tail) for own in dealt]
    variance, _ = area.moments(first, second, measure, area.area_weights(len(r)), closed_form(measure, overlap)[1])
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
    variance, skewness = area.pair_moments(i, j, stack, stack, FUJI, weights, exact)
    for t, (a, b) in enumerate(zip(i, j, strict=True)):
        single = area.moments(kept[a], kept[b], FUJI, weights, exact[t])
        assert (variance[t], skewness[t]) == pytest.approx(single, rel=1e-12)


@pytest.mark.parametrize("shape", [lambda x: x, lambda x: x**8, lambda x: np.maximum(x - 0.7, 0)])
def test_a_thinned_path_gives_the_same(shape):
    rng = np.random.default_rng(6)
    r, s = shape(rng.random((2, 400)))
    ks = np.arange(1, 401)
    overlap, first, second = sides(r, s, ks)
    exact = closed_form(FUJI, overlap)[1]
    full = area.moments(first, second, FUJI, area.area_weights(400), exact)
    places, weights = area.thinned(area.area_weights(400), overlap.k1, overlap.k2)
    assert places.size <= area.MOST_POINTS
    assert weights.sum() == pytest.approx(1)
    _, first, second = sides(r, s, ks[places])
    thin = area.moments(first, second, FUJI, weights, exact[places])
    assert thin == pytest.approx(full, rel=0.01)


def test_p_values_are_tails_of_pearsons_third_type():
    from scipy.stats import gamma, norm

    assert area.p_value(1.96, 0.0, 1.0, 0.0) == pytest.approx(norm.sf(1.96))
    assert area.p_value(-1.0, 0.0, 1.0, 0.0, alternative="less") == pytest.approx(norm.sf(1))
    assert area.p_value(-1.96, 0.0, 1.0, 0.0, alternative="two-sided") == pytest.approx(2 * norm.sf(1.96))
    # A gamma distribution of shape 4 has mean 4, variance 4 and skewness 1.
    assert area.p_value(9.0, 4.0, 4.0, 1.0) == pytest.approx(gamma.sf(9, 4))
    assert area.p_value(1.0, 4.0, 4.0, 1.0, alternative="less") == pytest.approx(gamma.cdf(1, 4))
    assert area.p_value(9.0, 4.0, 4.0, 1.0, alternative="two-sided") == pytest.approx(2 * gamma.sf(9, 4))
    assert area.p_value(-9.0, -4.0, 4.0, -1.0, alternative="less") == pytest.approx(gamma.sf(9, 4))


def test_no_p_value_is_zero_or_above_one():
    assert area.p_value(100.0, 0.0, 1.0, -1.0) == area.LEAST  # beyond the end of the distribution
    assert area.p_value(100.0, 0.0, 1.0, -1.0, 1 / 24) == 1 / 24
    assert area.p_value(0.0, 0.0, 1.0, 0.0, alternative="two-sided") == 1
    assert np.isnan(area.p_value(1.0, 1.0, 0.0, 0.0))
    with pytest.raises(fj.InputError, match="alternative must be"):
        area.p_value(1.0, 0.0, 1.0, 0.0, alternative="more")
