"""Intervals and tests: the spread of values from the definitions, and p-values beyond the least number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from intervals_oracle import spread

from fujiscore.inference.intervals import Spread
from fujiscore.inference.intervals import test as student_test


@given(st.lists(st.floats(0, 1), min_size=2, max_size=40), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_spread_is_that_of_the_definitions(values, confidence):
    found = Spread.of(np.array([*values, np.nan]), confidence, (0.0, 1.0))
    assert list(found)[2:9] == pytest.approx(spread(values, confidence, (0, 1)), abs=1e-9)
    assert (found.queries, found.undefined, found.at_1) == (len(values), 1, values.count(1.0))
    assert 0 <= found.low <= found.mean <= found.high <= 1


def test_a_p_value_that_underflows_is_not_zero():
    found = student_test(1.0, 1e-11, 400, confidence=0.95, alternative="greater", span=(-1, 1), m=401)
    assert 0 < found.p_value < 1e-300
    assert found.low < 1
