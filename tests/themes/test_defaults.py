"""The same call gives the same number, whichever function computes it, and says which number it is."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from gallery import public_functions

import fujiscore as fj
from fujiscore.many.pairwise import PairOptions

AREA = "top-weighted AUC"


@pytest.fixture(scope="module")
def rankings():
    rng = np.random.default_rng(3)
    return rng.exponential(size=40) * np.exp(0.5 * rng.normal(size=(4, 40)))


def test_the_headline_of_a_pair(rankings):
    a, b, *_ = rankings
    headline = fj.compare(a, b).headline
    drift = fj.drift(a, b).comparison.headline
    assert headline.place == drift.place == fj.pairwise([a, b]).area == AREA
    values = {
        fj.compare(a, b).top_weighted_auc["fuji"],
        fj.auc(a, b, ks="exp"),
        fj.chance(a, b).top_weighted.auc,
        drift.value,
    }
    assert values == {headline.value}


def test_all_pairs_agree_to_rounding():
    rng = np.random.default_rng(0)
    for n in rng.integers(5, 200, size=60):
        a, b = rng.gamma(0.5, size=(2, n)).round(int(rng.integers(1, 9)))
        assert fj.pairwise([a, b]).values[0, 1] == pytest.approx(fj.compare(a, b).headline.value, rel=5e-16, abs=0)


def test_the_whole_curve_of_a_pair(rankings):
    a, b, *_ = rankings
    whole = fj.pairwise([a, b], ks="all")
    assert whole.area == "AUC"
    assert {fj.compare(a, b).auc["fuji"], fj.auc(a, b), fj.curve(a, b).auc} == {whole.values[0, 1]}
    assert fj.auc(a, b) != fj.auc(a, b, ks="exp")


def test_many_rankings(rankings):
    pairs = fj.pairwise(rankings)
    above = pairs.values[np.triu_indices(4, 1)]
    assert fj.stability(rankings).value == pytest.approx(above.mean(), rel=1e-14)
    similar = fj.stats.resampled_similarity(rankings[:3], rankings[1:], paired=True)
    assert similar.value == pytest.approx(np.diagonal(pairs.values, 1).mean(), rel=1e-14)
    result = fj.consensus(rankings, measure="fuji")
    assert result.agreement[0] == fj.compare(rankings[0], result.ranking).headline.value


@pytest.mark.parametrize("name", ["stability", "stability_curve", "compare_stability", "resampled_similarity"])
def test_functions_of_pairs_share_the_defaults_of_pairwise(name):
    shown, pairwise = (inspect.signature(public_functions()[each]).parameters for each in (name, "pairwise"))
    for option in PairOptions.__annotations__:
        assert shown[option].default == pairwise[option].default, option
    assert shown["ks"].default == "exp"


def test_results_name_their_number(rankings):
    several = {"first": rankings[:3], "second": rankings[1:]}
    results = [
        fj.pairwise(rankings),
        fj.stability(rankings),
        fj.consensus(rankings),
        fj.drift(*rankings[:2]),
        fj.stats.compare_stability(*several.values()),
        fj.stats.resampled_similarity(*several.values()),
        fj.compare(*rankings[:2]),
    ]
    for result in results:
        assert AREA in str(result), type(result).__name__
