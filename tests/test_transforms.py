"""Transforms: p-values, log-probabilities, distances and ranks become scores, higher is better."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore.transforms import SMALLEST, TRANSFORMS

NAN = float("nan")
LOGS = st.lists(st.integers(-60, 60).map(lambda x: x / 4), min_size=2, max_size=12)


def scores_of(values, transform, **policies):
    return fj.rankings({"a": values}, transform=transform, **policies).scores[0].tolist()


def notes_of(values, transform, **policies):
    return fj.rankings({"a": values}, transform=transform, **policies).notes


class TestPValues:
    @given(st.lists(st.floats(1e-300, 1), min_size=1, max_size=10))
    def test_by_definition(self, values):
        assert scores_of(values, "neglog10") == pytest.approx([-math.log10(p) for p in values])

    def test_small_p_is_best(self):
        both = fj.rankings({"a": [0.5, 1e-9, 0.01]}, transform="neglog10")
        assert both["a"].order.tolist() == [1, 2, 0]
        assert both.notes == ("scores read as -log10",)
        assert math.copysign(1, scores_of([1.0], "neglog10")[0]) == 1

    def test_zeros_are_noted(self):
        assert notes_of([0.0, 0.5, 0.0], "neglog10") == (
            "scores read as -log10",
            "a: 2 p-values of 0 read as 5e-324, the smallest number",
        )
        assert scores_of([0.0], "neglog10") == [-math.log10(SMALLEST)]

    @pytest.mark.parametrize("bad", [1.5, -0.1, float("inf"), float("-inf")])
    def test_only_p_values(self, bad):
        message = rf"transform='neglog10' requires p-values between 0 and 1; a has 1 others \(first: {bad:g}\)"
        with pytest.raises(fj.InputError, match=message):
            scores_of([0.5, bad], "neglog10")


class TestLogs:
    @given(LOGS, LOGS, st.integers(-1000, 1000))
    def test_a_constant_changes_nothing(self, r, s, constant):
        n = min(len(r), len(s))
        r, s = np.array(r[:n]), np.array(s[:n])
        expected = fj.curve(r, s, transform="exp").values
        np.testing.assert_array_equal(fj.curve(r + constant, s - constant, transform="exp").values, expected)

    def test_by_definition(self):
        assert scores_of([-1.0, -3.0, float("-inf")], "exp") == pytest.approx([1, math.exp(-2), 0])
        assert notes_of([-1.0], "exp") == ("scores read as exp(score - best score)",)
        assert scores_of([1e300, 0.0], "exp") == [1, 0]
        assert scores_of([float("-inf")] * 2, "exp") == [0, 0]
        with pytest.raises(fj.InputError, match="transform='exp' requires scores below infinity"):
            scores_of([float("inf"), 1.0], "exp")


class TestDistances:
    @given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=10))
    def test_by_definition(self, values):
        assert scores_of(values, "reciprocal") == [1 / x for x in values]

    def test_near_is_best(self):
        assert fj.rankings({"a": [2.0, 0.5, 1.0]}, transform="reciprocal")["a"].order.tolist() == [1, 2, 0]
        assert notes_of([2.0], "reciprocal") == ("scores read as 1/score",)

    @pytest.mark.parametrize("bad", [0.0, -1.0, float("inf")])
    def test_only_positive(self, bad):
        with pytest.raises(fj.InputError, match="transform='reciprocal' requires positive scores; a has 1 others"):
            scores_of([1.0, bad], "reciprocal")


class TestRanks:
    @given(st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=12))
    def test_ties_share_the_best_rank(self, values):
        assert scores_of(values, "rank") == [1 / (1 + sum(y > x for y in values)) for x in values]

    def test_infinities_and_nan(self):
        assert scores_of([1.0, float("inf"), float("-inf")], "rank") == [1 / 2, 1, 1 / 3]
        assert scores_of([1.0, NAN, 3.0], "rank", nan="zero") == [1 / 2, 0, 1]
        assert notes_of([1.0, 2.0], "rank") == ("scores read as 1/rank",)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_nan_stays_nan(transform):
    assert scores_of([0.5, NAN], transform, nan="drop") == scores_of([0.5], transform)
    with pytest.raises(fj.InputError, match="a must hold scores that are numbers; 1 of 2 is NaN"):
        scores_of([0.5, NAN], transform)
    with pytest.raises(fj.InputError, match="no item left"):
        scores_of([NAN, NAN], transform, nan="drop")


def test_magnitudes():
    assert scores_of([-3.0, 2.0], "abs") == [3, 2]
    assert notes_of([-3.0, 2.0], "abs") == ("scores read as magnitudes",)


class TestCallables:
    def test_functions_of_the_whole_array(self):
        assert scores_of([1.0, 4.0], np.sqrt) == [1, 2]
        assert scores_of([1.0, 4.0], lambda x: (x.max() - x).tolist()) == [3, 0]
        assert notes_of([1.0], np.sqrt) == ("scores read as sqrt(score)",)

    def test_the_users_array_is_left_alone(self):
        values = np.array([1.0, 4.0])
        assert scores_of(values, lambda x: np.negative(x, out=x) + 5) == [4, 1]
        assert values.tolist() == [1, 4]

    @pytest.mark.parametrize(
        ("function", "message"),
        [
            (lambda x: x[:1], r"transform must return one score per item; for a it returned shape \(1,\) instead of"),
            (lambda _: 3.0, "must return one score per item"),
            (lambda _: ["a", "b"], "transform must turn an array of scores into another; for a it fails"),
            (lambda x: x.undefined, None),
        ],
    )
    def test_errors(self, function, message):
        error = AttributeError if message is None else fj.InputError
        with pytest.raises(error, match=message):
            scores_of([1.0, 2.0], function)


@pytest.mark.parametrize("transform", ["log", 3, ["ln"]])
def test_unknown(transform):
    with pytest.raises(fj.InputError, match="transform must be one of 'neglog10', 'exp', 'reciprocal', 'flip'"):
        fj.rankings([[1, 2]], transform=transform)


def test_checked_rankings_can_be_transformed():
    both = fj.rankings({"a": [-1.0, -2.0], "b": [-3.0, -1.0]}, negative="clip")
    assert fj.rankings(both, transform="exp").scores[0].tolist() == [1, math.exp(-1)]
    assert fj.auc(both["a"], both["b"], transform="exp") == fj.auc([-1, -2], [-3, -1], transform="exp")
