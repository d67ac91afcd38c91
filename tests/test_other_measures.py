"""The measures that users of other tools expect: against the sets and lists themselves, and against SciPy."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import fujiscore as fj


def tops(r, s, k1, k2):
    """The top sets of two rankings without ties."""
    n = len(r)
    return set(sorted(range(n), key=lambda x: -r[x])[:k1]), set(sorted(range(n), key=lambda x: -s[x])[:k2])


@st.composite
def cases(draw):
    n = draw(st.integers(2, 12))
    r, s = draw(st.permutations(range(n))), draw(st.permutations(range(n)))
    return [float(x) for x in r], [float(x) for x in s], draw(st.integers(1, n)), draw(st.integers(1, n))


@given(cases())
def test_dice_ochiai_kappa(case):
    r, s, k1, k2 = case
    a, b = tops(r, s, k1, k2)
    n, h, e = len(r), len(a & b), k1 * k2 / len(r)
    assert fj.score(r, s, (k1, k2), "dice") == pytest.approx(2 * h / (k1 + k2))
    assert fj.score(r, s, (k1, k2), "ochiai") == pytest.approx(h / sqrt(k1 * k2))
    if max(k1, k2) < n:
        assert fj.score(r, s, (k1, k2), "kappa") == pytest.approx((h - e) / ((k1 + k2) / 2 - e))
    else:
        assert fj.score(r, s, (k1, k2), "kappa") == (a == b)


@given(cases())
def test_average_overlap_and_rbo_of_the_lists_cut_at_k(case):
    r, s, k, _ = case
    agreement = [len(set.intersection(*tops(r, s, d, d))) / d for d in range(1, k + 1)]
    assert fj.score(r, s, k, "average_overlap") == pytest.approx(sum(agreement) / k)
    p = 0.9
    ext = (1 - p) * sum(a * p**d for d, a in enumerate(agreement)) + agreement[-1] * p**k
    assert fj.score(r, s, k, "rbo") == pytest.approx(ext)
    first, second = (sorted(range(len(r)), key=lambda x, own=own: -own[x])[:k] for own in (r, s))
    listed = fj.rbo([f"i{x}" for x in first], [f"i{x}" for x in second], p)
    assert fj.score(r, s, k, "rbo") == pytest.approx(listed.ext)


@pytest.mark.parametrize(
    ("name", "function"),
    [("kendall", stats.kendalltau), ("weightedtau", stats.weightedtau), ("spearman", stats.spearmanr)],
)
def test_rank_correlations_over_the_union(name, function):
    rng = np.random.default_rng(0)
    r, s = np.round(rng.random(30), 1), np.round(rng.random(30), 1)
    assert fj.score(r, s, 30, name) == pytest.approx(function(r, s).statistic)
    order_r, order_s = (np.argsort(-own, kind="stable") for own in (r, s))
    union = sorted({*order_r[:7], *order_s[:12]})
    assert fj.score(r, s, (7, 12), name) == pytest.approx(function(r[union], s[union]).statistic)
    assert fj.score([1, 1, 1], [1, 2, 3], 3, name) == 1


@pytest.mark.parametrize("name", ["average_overlap", "rbo"])
def test_depth_measures_need_equal_sizes(name):
    with pytest.raises(fj.InputError, match=f"{name} is defined for sets of equal size only; got sizes 1 and 2"):
        fj.score([3, 2, 1], [3, 2, 1], (1, 2), name)
