"""Adjusted p-values: by their definitions, by Holm's procedure and as SciPy has them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

import fujiscore as fj
from fujiscore.inference.multiplicity import adjusted

P_VALUES = arrays(np.float64, st.integers(1, 12), elements=st.floats(0, 1) | st.sampled_from([0.01, 0.02, np.nan]))


def by_definition(p_values, method):
    """Adjusted p-values one by one, each the least level at which its test is rejected."""
    tests = sorted(p for p in p_values if not np.isnan(p))
    count = len(tests)
    steps = [p * (count / (i + 1) if method == "bh" else count - i) for i, p in enumerate(tests)]
    levels = {}
    for i, p in enumerate(tests):
        level = min(steps[i:]) if method == "bh" else max(steps[: i + 1])
        levels.setdefault(p, []).append(min(level, 1.0))
    # Equal p-values are adjusted alike: Holm's of the first, whose factor is the largest, is the running maximum.
    return [float("nan") if np.isnan(p) else max(levels[p]) for p in p_values]


@pytest.mark.parametrize("method", ["bh", "holm"])
@given(p_values=P_VALUES)
def test_adjusted_by_definition(method, p_values):
    result = adjusted(p_values, method)
    np.testing.assert_allclose(result, by_definition(p_values.tolist(), method), rtol=1e-12)
    tests = ~np.isnan(p_values)
    assert (result[tests] >= p_values[tests]).all()


@given(p_values=P_VALUES)
def test_benjamini_hochberg_as_scipy_has_it(p_values):
    tests = ~np.isnan(p_values)
    expected = stats.false_discovery_control(p_values[tests]) if tests.any() else []
    np.testing.assert_allclose(adjusted(p_values, "bh")[tests], expected, rtol=1e-12)


@given(p_values=P_VALUES, level=st.sampled_from([0.01, 0.05, 0.2]))
def test_holm_rejects_as_its_procedure_does(p_values, level):
    """Reject from the least p-value on, each at level / (number of tests left), and stop at the first that is not."""
    tests = np.sort(p_values[~np.isnan(p_values)])
    rejected = 0
    for i, p in enumerate(tests):
        if p * (tests.size - i) > level:
            break
        rejected += 1
    assert int((adjusted(p_values, "holm") <= level).sum()) == rejected


def test_adjusted_by_hand_and_at_the_edges():
    p_values = [0.01, 0.04, 0.03, 0.005]
    # sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1, and never falling
    assert adjusted(p_values, "holm") == pytest.approx([0.03, 0.06, 0.06, 0.02])
    # times 4, 4/2, 4/3, 1, and never above a later one
    assert adjusted(p_values, "bh") == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert adjusted([0.9, 0.8], "holm").tolist() == [1.0, 1.0]
    for method in ("bh", "holm"):
        assert adjusted([], method).tolist() == []
        assert adjusted([0.3], method).tolist() == [0.3]
        assert np.isnan(adjusted([np.nan, np.nan], method)).all()
        assert adjusted([[0.5, np.nan], [0.5, 0.5]], method).shape == (2, 2)
    with pytest.raises(fj.InputError, match="adjust must be one of 'bh', 'holm'; got 'bonferroni'"):
        adjusted(p_values, "bonferroni")
