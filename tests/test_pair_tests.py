"""Similarity of two methods from resamples, and tests between pairs: by brute force, and coverage by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

import fujiscore as fj

BASE = np.linspace(3, 0, 20) ** 3


def methods(m, rng, noise=(0.3, 0.3, 0.6), common=0.3):
    """Return resamples of three methods that share the noise of each resample."""
    shared = np.exp(common * rng.normal(size=(m, BASE.size)))
    return [BASE * shared * np.exp(own * rng.normal(size=(m, BASE.size))) for own in noise]


def values(a, b):
    return np.array([[fj.auc(x, y, ks="exp") for y in b] for x in a])


def logit_interval(value, error, m):
    reach = stats.t.ppf(0.975, m - 1) * error / (value * (1 - value))
    return [special.expit(special.logit(value) + side * reach) for side in (-1, 1)]


def jackknife(statistic, size):
    """Return the jackknife variance of a statistic of the positions that are kept."""
    without = np.array([statistic([i for i in range(size) if i != j]) for j in range(size)])
    return (size - 1) / size * ((without - without.mean()) ** 2).sum()


def test_paired_value_and_interval():
    a, b, _ = methods(6, np.random.default_rng(0))
    found = fj.resampled_similarity(a, b, paired=True)
    own = [fj.auc(x, y, ks="exp") for x, y in zip(a, b, strict=True)]
    assert found.value == pytest.approx(np.mean(own))
    assert found.standard_error == pytest.approx(stats.sem(own))
    assert (found.low, found.high) == pytest.approx(logit_interval(np.mean(own), stats.sem(own), 6))
    assert "resamples drawn as these were" in str(found)


def test_unpaired_value_and_interval():
    rng = np.random.default_rng(1)
    a, b = methods(6, rng)[0], methods(4, rng)[1]
    found, own = fj.resampled_similarity(a, b), values(a, b)
    variance = jackknife(lambda kept: own[kept].mean(), 6) + jackknife(lambda kept: own[:, kept].mean(), 4)
    assert not found.paired
    assert found.value == pytest.approx(own.mean())
    assert found.standard_error == pytest.approx(np.sqrt(variance))
    assert (found.low, found.high) == pytest.approx(logit_interval(own.mean(), np.sqrt(variance), 4))


def test_paired_comparison_is_a_t_test():
    a, b, c = methods(7, np.random.default_rng(2))
    ab, ac = ([fj.auc(x, y, ks="exp") for x, y in zip(a, other, strict=True)] for other in (b, c))
    for sides in ("two-sided", "greater", "less"):
        found = fj.compare_pairs(a, b, c, paired=True, alternative=sides)
        expected = stats.ttest_rel(ab, ac, alternative=sides)
        assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))
        low, high = expected.confidence_interval()
        assert (found.low, found.high) == pytest.approx((max(low, -1), min(high, 1)))
    assert fj.compare_pairs(a, c, b, paired=True).difference == -found.difference


def test_unpaired_comparison_by_jackknife():
    rng = np.random.default_rng(3)
    a, b, c = methods(5, rng)[0], methods(4, rng)[1], methods(6, rng)[2]
    ab, ac = values(a, b), values(a, c)
    variance = (
        jackknife(lambda kept: ab[kept].mean() - ac[kept].mean(), 5)
        + jackknife(lambda kept: ab[:, kept].mean(), 4)
        + jackknife(lambda kept: ac[:, kept].mean(), 6)
    )
    found = fj.compare_pairs(a, b, c)
    assert found.difference == pytest.approx(ab.mean() - ac.mean())
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(found.difference) / np.sqrt(variance), 3))


def test_names_tell_pairs():
    named = [dict(zip("xyz", method, strict=True)) for method in methods(3, np.random.default_rng(4))]
    assert fj.compare_pairs(*named).first.paired
    assert fj.resampled_similarity(*named[:2]).paired
    assert not fj.resampled_similarity(named[0], list(named[1].values())).paired


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("corrected", [False, True])
def test_no_spread(paired, corrected):
    same, other = np.tile([4.0, 3, 2, 1], (3, 1)), np.tile([1.0, 2, 3, 4], (3, 1))
    options = {"paired": paired, "corrected": corrected}
    for b in (same, other):
        found = fj.resampled_similarity(same, b, **options)
        assert found.low < found.high
        assert any("spread over the resamples is zero" in note for note in found.notes)
    test = fj.compare_pairs(same, same, other, **options)
    assert 0.05 < test.p_value < 1
    assert test.low < test.difference <= test.high
    assert fj.compare_pairs(same, other, other, **options).p_value == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: fj.compare_pairs(x, x, x[:2]), "c must hold at least 3 rankings of one method; got 2"),
        (lambda x: fj.compare_pairs(x, x, x, alternative="more"), "alternative must be one of"),
        (
            lambda x: fj.compare_pairs(x, x, x[:3], paired=True),
            "paired needs as many rankings of each method; got 4, 4, 3",
        ),
        (lambda x: fj.resampled_similarity(x, x, confidence=2), "confidence must be a number between 0 and 1"),
    ],
)
def test_errors(call, message):
    with pytest.raises(fj.InputError, match=message):
        call(np.random.default_rng(0).random((4, 5)))


@pytest.mark.slow
@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("m", [5, 10, 30])
def test_coverage_and_type_one_error(m, paired):
    rng = np.random.default_rng(m)
    size, trials = 400, 1500
    a, b, c = methods(size, rng, (0.3, 0.5, 0.5))
    pools = [fj.pairwise(a, other).values for other in (b, c)]
    truth = (np.diagonal(pools[0]) if paired else pools[0]).mean()
    covered = rejected = 0
    for _ in range(trials):
        chosen = rng.choice(size, m, replace=False)
        found = fj.compare_pairs(a[chosen], b[chosen], c[chosen], paired=paired, n_jobs=1)
        covered += found.first.low <= truth <= found.first.high
        rejected += found.p_value < 0.05
    # Rankings of the same resamples are not independent: unpaired intervals are then too wide or about right.
    assert 0.9 <= covered / trials <= (0.98 if paired else 1)
    assert rejected / trials <= 0.075
    assert rejected / trials >= (0.02 if paired else 0)
