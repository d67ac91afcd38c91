"""Degenerate input of everything that prints an interval or a p-value: no interval of width 0, no p-value of 0."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore.inference.intervals import ALTERNATIVES
from fujiscore.many.sets import compare_set_stability, set_stability

SAME = [[3, 2, 1]] * 3
CYCLE = [[3, 2, 1], [1, 3, 2], [2, 1, 3]]  # the pairs' values are all the same
CONSTANT = [[1, 1, 1]] * 4
ZERO = [[0, 0, 0]] * 3
REVERSED = [[1, 2, 3]] * 5
MEASURES = ("fuji", "jaccard", "kendall", "rbo", "krizek")


@st.composite
def methods(draw, count):
    """Draw the rankings of several methods, of few different scores, so that equal rankings and ties are common."""
    n = draw(st.integers(1, 5))
    rows = st.lists(st.integers(0, draw(st.integers(0, 3))), min_size=n, max_size=n)
    equal = st.tuples(rows, st.integers(3, 8)).map(lambda drawn: [drawn[0]] * drawn[1])
    return [draw(equal | st.lists(rows, min_size=3, max_size=6)) for _ in range(count)]


def check(result, value):
    """Require an interval that holds the value and is not a point, and a p-value above 0, or NaN in all of them."""
    if np.isnan(value):
        assert np.isnan([result.low, result.high, getattr(result, "p_value", np.nan)]).all()
        return
    assert result.low <= value <= result.high
    assert result.low < result.high
    assert 0 < getattr(result, "p_value", 1) <= 1


@given(given_methods=methods(1), measure=st.sampled_from(MEASURES), corrected=st.booleans())
@example(given_methods=[SAME], measure="fuji", corrected=False)
@example(given_methods=[CYCLE], measure="kendall", corrected=False)
@example(given_methods=[CONSTANT], measure="fuji", corrected=True)
@example(given_methods=[ZERO], measure="jaccard", corrected=True)
def test_one_method(given_methods, measure, corrected):
    (scores,), corrected = given_methods, corrected and measure != "kendall"
    found = fj.stability(scores, measure, ks="all", corrected=corrected, n_jobs=1)
    check(found, found.value)
    curve = fj.stability_curve(scores, measure, ks="all", corrected=corrected, n_jobs=1)
    known = ~np.isnan(curve.values)
    assert (curve.low < curve.high)[known].all()
    assert np.isnan([curve.low[~known], curve.high[~known]]).all()
    ranks = found.ranks(1)
    if len(scores[0]) > 1:  # a single item always has rank 1
        assert (ranks.low < ranks.high).all()
    assert ((ranks.low <= ranks.mean) & (ranks.mean <= ranks.high)).all()


@given(given_methods=methods(3), measure=st.sampled_from(MEASURES), corrected=st.booleans())
@example(given_methods=[SAME, REVERSED, CYCLE], measure="fuji", corrected=False)
@example(given_methods=[CONSTANT, ZERO, SAME], measure="jaccard", corrected=True)
@example(given_methods=[SAME, SAME, SAME], measure="krizek", corrected=True)
def test_several_methods(given_methods, measure, corrected):
    n, m = min(len(method[0]) for method in given_methods), min(map(len, given_methods))
    paired = [[row[:n] for row in method[:m]] for method in given_methods]
    unpaired = [[row[:n] for row in method] for method in given_methods]
    options = {"measure": measure, "ks": "all", "corrected": corrected and measure != "kendall", "n_jobs": 1}
    for (a, b, c), alternative in product((paired, unpaired), ALTERNATIVES):
        options["paired"] = a is paired[0]
        stabler = fj.stats.compare_stability(a, b, alternative=alternative, **options)
        check(stabler, stabler.difference)
        closer = fj.stats.compare_pairs(a, b, c, alternative=alternative, **options)
        check(closer, closer.difference)
        check(closer.first, closer.first.value)


@given(st.integers(2, 6), st.integers(2, 5), st.data())
def test_sets(m, n, data):
    row = st.lists(st.booleans(), min_size=n, max_size=n)
    rows = st.lists(row, min_size=m, max_size=m) | row.map(lambda chosen: [chosen] * m)
    both = [np.array(data.draw(rows.filter(lambda drawn: 0 < np.sum(drawn) < m * n))) for _ in range(2)]
    a, b = map(set_stability, both)
    check(a, a.value)
    for alternative in ALTERNATIVES:
        for test in (a.test(0.5, alternative=alternative), compare_set_stability(a, b, alternative=alternative)):
            check(test, test.difference)


@pytest.mark.parametrize("scores", [SAME, CYCLE, ZERO, CONSTANT], ids=["same", "cycle", "zero", "constant"])
def test_what_it_rests_on_is_said(scores):
    assert any("spread" in note or "the same score" in note for note in fj.stability(scores, ks="all").notes)
    with pytest.raises(fj.InputError, match="at least 3 rankings"):
        fj.stability(scores[:2])
