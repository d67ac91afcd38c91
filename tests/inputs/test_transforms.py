"""Transforms: p-values, log-probabilities, distances and ranks become scores, higher is better."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore.cli import fuji
from fujiscore.inputs.transforms import SMALLEST, TRANSFORMS, transformed_lists

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
        message = rf"transform='neglog10' requires p-values between 0 and 1; a has 1 other \(first: {bad:g}\)"
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
        with pytest.raises(fj.InputError, match="transform='reciprocal' requires positive scores; a has 1 other"):
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


NUMBERS = st.lists(st.floats(-1e6, 1e6) | st.just(NAN), min_size=1, max_size=8)


def relative(values, *, upside_down=False):
    """The definition of minmax and flip, with NaN left alone; all equal scores become 1."""
    known = [x for x in values if not math.isnan(x)]
    if not known:
        return values
    least, greatest = min(known), max(known)
    if least == greatest:
        return [x if math.isnan(x) else 1.0 for x in values]
    if upside_down:
        return [(greatest - x) / (greatest - least) for x in values]
    return [(x - least) / (greatest - least) for x in values]


class TestMinmaxAndFlip:
    @given(NUMBERS)
    def test_by_definition(self, values):
        for transform in ("minmax", "flip"):
            found = alone(values, transform)
            np.testing.assert_allclose(found, relative(values, upside_down=transform == "flip"), rtol=1e-12, atol=0)

    @given(st.lists(st.integers(-50, 50), min_size=2, max_size=10), st.integers(-9, 9), st.sampled_from([0.25, 1, 8]))
    def test_offset_and_scale_change_nothing(self, values, offset, scale):
        scores = np.array(values, np.float64)
        for transform in ("minmax", "flip"):
            np.testing.assert_array_equal(alone(scale * scores + offset, transform), alone(scores, transform))
        np.testing.assert_array_equal(alone(-scores, "minmax"), alone(scores, "flip"))

    def test_notes_and_ends(self):
        assert scores_of([3.0, 7.0, 5.0], "minmax") == [0, 1, 0.5]
        assert scores_of([3.0, 7.0, 5.0], "flip") == [1, 0, 0.5]
        assert scores_of([0.0, 2.0, 1.0], "flip") == [1, 0, 0.5]  # an exact match is the best
        assert scores_of([-2.0, 0.0], "minmax") == [0, 1]
        assert scores_of([1.7e308, -1.7e308, 0.0], "minmax") == [1, 0, 0.5]
        assert notes_of([3.0, 7.0], "minmax") == ("scores read as (score - least) / (greatest - least)",)
        assert notes_of([3.0, 7.0], "flip") == ("scores read as (greatest - score) / (greatest - least)",)
        assert all(math.copysign(1, x) == 1 for x in scores_of([1.0, 2.0], "flip"))

    @pytest.mark.parametrize("transform", ["minmax", "flip"])
    def test_equal_scores_stay_equal_and_are_the_best(self, transform):
        assert scores_of([4.0, 4.0], transform) == [1, 1]
        assert scores_of([0.0], transform) == [1]

    @pytest.mark.parametrize("bad", [float("inf"), float("-inf")])
    @pytest.mark.parametrize("transform", ["minmax", "flip"])
    def test_only_finite(self, transform, bad):
        with pytest.raises(fj.InputError, match=f"transform='{transform}' requires finite scores; a has 1 other"):
            scores_of([1.0, bad], transform)

    def test_an_absent_item_is_below_the_least_listed(self):
        both = fj.rankings({"r": {"x": 9.0, "y": 5.0}, "s": {"x": 2.0, "z": 1.0}}, transform="minmax", missing="zero")
        assert list(both.labels) == ["x", "y", "z"]
        assert both["r"].scores.tolist() == [1, 0, 0]
        assert both["r"].order.tolist() == [0, 1, 2]
        assert both["s"].order.tolist() == [0, 2, 1]
        assert both["r"].listed == 2

    def test_a_shuffled_run_with_an_offset_is_no_longer_alike(self):
        """Scores from 1004 to 1016 look the same in any order; their positions in that range do not."""
        rng = np.random.default_rng(0)
        first = {
            f"q{q}": dict(enumerate((1004 + 12 * np.sort(rng.random(200))[::-1] ** 4).tolist())) for q in range(20)
        }
        second = {q: dict(zip(rng.permutation(200).tolist(), own.values(), strict=True)) for q, own in first.items()}
        values = {
            transform: float(np.mean(fj.compare_runs(first, second, transform=transform).columns["fuji"]))
            for transform in (None, "minmax")
        }
        assert values[None] > 0.98
        assert values["minmax"] < 0.45


def test_the_reciprocal_of_0_names_flip():
    with pytest.raises(fj.InputError, match=r"a has 1 other \(first: 0\). 1/0 has no value: pass transform='flip'"):
        scores_of([0.0, 1.0], "reciprocal")
    run = {"q": {"x": 0.0, "y": 2.0}}
    with pytest.raises(fj.InputError, match="pass transform='flip'"):
        fj.compare_runs(run, run, transform="reciprocal")
    with pytest.raises(fj.InputError, match="Check the column"):
        scores_of([0.0, -1.0], "reciprocal")


def alone(values, transform):
    scores = np.array(values, np.float64)
    return transformed_lists(np.array([0, scores.size]), scores, transform, "a")


@given(st.lists(st.lists(st.floats(0.001, 1) | st.just(NAN), max_size=6), min_size=1, max_size=6))
def test_a_list_among_others_is_transformed_as_it_would_be_alone(lists):
    start = np.cumsum([0, *map(len, lists)])
    flat = np.array([score for own in lists for score in own], np.float64)
    for transform in (*TRANSFORMS, np.sqrt, lambda x: np.nan_to_num(x).sum() - x):
        expected = np.concatenate([alone(own, transform) for own in lists])
        np.testing.assert_array_equal(transformed_lists(start, flat, transform, "a"), expected)
        np.testing.assert_array_equal(np.isnan(expected), np.isnan(flat))


class TestOnePerSide:
    LOGS, PLAIN = np.array([-1.0, -3.0, -2.0, -0.5]), np.array([4.0, 1.0, 2.0, 3.0])

    @pytest.mark.parametrize(
        "function", [fj.auc, lambda *a, **k: fj.fuji(*a, 2, **k), lambda *a, **k: fj.score(*a, 2, **k)]
    )
    def test_numbers(self, function):
        expected = function(np.exp(self.LOGS + 0.5), self.PLAIN)
        assert function(self.LOGS, self.PLAIN, transform=("exp", None)) == expected
        assert function(self.PLAIN, self.LOGS, transform=[None, "exp"]) == pytest.approx(expected)

    def test_results(self):
        pair = (np.exp(self.LOGS + 0.5), self.PLAIN)
        sided = {"transform": ("exp", "as_is")}
        np.testing.assert_array_equal(fj.curve(self.LOGS, self.PLAIN, **sided).values, fj.curve(*pair).values)
        result = fj.compare(self.LOGS, self.PLAIN, **sided)
        assert result.auc == fj.compare(*pair).auc
        assert "r: scores read as exp(score - best score)" in result.notes
        assert fj.chance(self.LOGS, self.PLAIN, **sided).auc == fj.chance(*pair).auc
        assert fj.explain(self.LOGS, self.PLAIN, 2, **sided).value == fj.explain(*pair, 2).value
        named = [dict(zip("wxyz", scores.tolist(), strict=True)) for scores in (self.LOGS, self.PLAIN)]
        assert fj.bounds(*named, **sided).low == pytest.approx(fj.curve(*pair).values)
        assert fj.drift(self.LOGS, self.PLAIN, **sided).comparison.auc == fj.drift(*pair).comparison.auc

    def test_runs(self):
        def run(scores):
            return {"q": dict(zip("wxyz", scores.tolist(), strict=True))}

        result = fj.compare_runs(run(self.LOGS), run(self.PLAIN), k=2, transform=("exp", None))
        expected = fj.compare_runs(run(np.exp(self.LOGS + 0.5)), run(self.PLAIN), k=2)
        assert result.columns["fuji"].tolist() == expected.columns["fuji"].tolist()
        assert "a: scores read as exp(score - best score)" in result.notes

    def test_by_name(self):
        both = fj.rankings({"logs": self.LOGS, "plain": self.PLAIN}, transform={"logs": "exp"})
        assert both["plain"].scores.tolist() == self.PLAIN.tolist()
        assert both["logs"].scores[3] == 1
        assert fj.pairwise({"logs": self.LOGS, "plain": self.PLAIN}, transform={"logs": "exp"}).values[
            0, 1
        ] == pytest.approx(fj.pairwise({"logs": np.exp(self.LOGS + 0.5), "plain": self.PLAIN}).values[0, 1])

    @pytest.mark.parametrize(
        ("transform", "message"),
        [
            (("exp",), "transform must be one transform, or one per ranking; got 1 for 2 rankings"),
            (("exp", None, None), "got 3 for 2 rankings"),
            (("exp", "log"), "transform must be one of 'neglog10'"),
            ({"t": "exp"}, "transform must name rankings; 't' is not among r, s"),
        ],
    )
    def test_errors(self, transform, message):
        with pytest.raises(fj.InputError, match=message):
            fj.compare(self.PLAIN, self.PLAIN, transform=transform)

    def test_command(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        for name, scores in (("a", self.LOGS), ("b", self.PLAIN)):
            rows = "".join(f"g{i},{score}\n" for i, score in enumerate(scores))
            (tmp_path / f"{name}.csv").write_text("gene,score\n" + rows)
        expected = fj.auc(np.exp(self.LOGS + 0.5), self.PLAIN)
        for command in ("compare", "explain", "matrix", "drift"):
            extra = ["-k", "2"] if command == "explain" else []
            result = CliRunner().invoke(fuji, [command, "a.csv", "b.csv", "--transform", "exp,none", "--json", *extra])
            assert result.exit_code == 0, result.output
            report = json.loads(result.output)
            if command == "compare":
                assert report["measures"]["fuji"]["auc"]["value"] == pytest.approx(expected)
        for wrong in ("none", "log", "exp,log", "exp,"):
            result = CliRunner().invoke(fuji, ["compare", "a.csv", "b.csv", "--transform", wrong])
            assert result.exit_code == 2
            assert "must be one of neglog10, exp," in result.output


def test_as_is_leaves_scores_alone():
    assert scores_of([3.0, 1.0], "as_is") == [3, 1]
    assert notes_of([3.0, 1.0], "as_is") == ()
    with pytest.raises(fj.InputError, match="non-negative"):
        scores_of([3.0, -1.0], "as_is")
    checked = fj.rankings({"a": [3.0, -1.0]}, negative="abs")
    assert fj.rankings(checked, transform="as_is").scores[0].tolist() == [3, 1]


def test_drift_names_the_version_whose_scores_are_transformed():
    old, new = {f"f{i}": i + 1.0 for i in range(8)}, {f"f{i}": i * 3 % 8 + 1.0 for i in range(8)}
    read = "scores read as (greatest - score) / (greatest - least)"
    seeds = {"reference_resamples": [old] * 4, "current_resamples": [new] * 4}
    for resamples in ({}, seeds):
        notes = fj.drift(old, new, transform=("flip", None), **resamples).notes
        assert f"reference: {read}" in notes
        assert read not in notes
        assert read in fj.drift(old, new, transform="flip", **resamples).notes


def test_the_note_on_a_high_floor_advises_no_other_transform_than_the_one_passed():
    run = {q: {f"d{i}": 100.0 - (i * q) % 31 for i in range(31)} for q in range(1, 6)}
    plain = [note for note in fj.compare_runs(run, run).notes if note.startswith("the floor of FUJI")]
    assert "transform='minmax'" in plain[0]
    for transform in ("minmax", "flip", ("reciprocal", None), np.sqrt):
        result = fj.compare_runs(run, run, k=20, transform=transform)
        notes = [note for note in result.notes if note.startswith("the floor of FUJI")]
        assert len(notes) == 1
        assert "minmax" not in notes[0]
    assert result.to_dict()["settings"]["transform"] == ["sqrt", "sqrt"]
