"""Notes: what was done to the input and what a result rests on travels with every result, and is printed with it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from gallery import public_classes

import fujiscore as fj

R = {"a": 5.0, "b": -2.0, "c": 3.0, "d": 1.0, "e": 0.5}
S = {"a": 4.0, "b": 2.0, "c": 5.0, "d": -1.0, "f": 0.5}
POLICIES = {"negative": "clip", "universe": 50}
SAID = (
    "{0}: 1 of 5 scores are negative and count as 0",
    "{1}: 1 of 5 scores are negative and count as 0",
    "{0} lacks 1 of 6 items, scored 0: f",
    "{1} lacks 1 of 6 items, scored 0: e",
)
PAIR = tuple(note.format("r", "s") for note in SAID)
THREE = {"r": R, "s": S, "t": R}
RESULTS = {
    "rankings": lambda: fj.rankings({"r": R, "s": S}, **POLICIES),
    "ranking": lambda: fj.rankings({"r": R, "s": S}, **POLICIES)["r"],
    "curve": lambda: fj.curve(R, S, **POLICIES),
    "compare": lambda: fj.compare(R, S, **POLICIES),
    "compare with permutations": lambda: fj.compare(R, S, permutations=20, **POLICIES),
    "a curve of compare": lambda: fj.compare(R, S, **POLICIES)["fuji"],
    "explain": lambda: fj.explain(R, S, 2, **POLICIES),
    "explain of compare": lambda: fj.compare(R, S, **POLICIES).explain(2),
    "chance": lambda: fj.chance(R, S, **POLICIES),
    "bounds": lambda: fj.bounds(R, S, **POLICIES),
    "pairwise": lambda: fj.pairwise({"r": R, "s": S}, **POLICIES),
    "pairwise, two collections": lambda: fj.pairwise({"r": R}, {"s": S}, **POLICIES),
    "corrected": lambda: fj.pairwise({"r": R, "s": S}, corrected=True, **POLICIES).as_raw(),
    "stability": lambda: fj.stability(THREE, **POLICIES),
    "stability_curve": lambda: fj.stability_curve(THREE, **POLICIES),
    "compare_stability": lambda: fj.stats.compare_stability(THREE, THREE, **POLICIES),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_has_the_notes(name):
    result = RESULTS[name]()
    assert isinstance(result.notes, tuple)
    how = "scores unknown" if name == "bounds" else "scored 0"
    assert {note.replace("scored 0", how) for note in PAIR} <= set(result.notes)
    assert len(set(result.notes)) == len(result.notes)


@pytest.mark.parametrize("name", [name for name in RESULTS if name not in {"rankings", "ranking"}])
def test_every_result_prints_them(name):
    result = RESULTS[name]()
    assert str(result).splitlines()[-len(result.notes) :] == [f"note: {note}" for note in result.notes]
    short = repr(result).replace("\n  ", " ")  # long lines are folded
    left_out = [note for note in result.notes if f"note: {note}" not in short]
    assert not left_out or f"{len(result.notes)} notes in all: see .notes" in short


@pytest.mark.parametrize("name", RESULTS)
def test_frames_carry_them(name):
    result = RESULTS[name]()
    if hasattr(result, "to_frame"):
        assert result.to_frame("pandas").attrs["notes"] == list(result.notes)
        assert len(result.to_frame("polars"))
    else:
        assert name in {"stability", "compare_stability"}


def test_every_public_result_class_has_notes():
    rows_and_definitions = {
        "FeatureChange",
        "Level",
        "Permutations",
        "Measure",
        "Properties",
        "Study",
        "TopFeature",
        "Verdict",
    }
    classes = [public_classes()[name] for name in public_classes().keys() - rows_and_definitions]
    results = [own for own in classes if dataclasses.is_dataclass(own)]
    assert len(results) >= 12
    for own in results:
        fields = {field.name for field in dataclasses.fields(own)}
        assert "notes" in fields or isinstance(own.notes, property), own


def test_lists():
    result = fj.rbo({"a": 2, "b": None, "c": -1}, {"a": 1, "c": -2}, nan="drop")
    assert result.notes == ("2 of 3 items left; 1 dropped, NaN in some ranking: b",)
    assert str(result).endswith("\nnote: " + result.notes[0])
    merged = fj.rankings({"a": [("x", 2), ("x", 1), ("y", 1)]}, duplicates="max")
    assert fj.rbo(merged, ["x", "y"]).notes == ("a: 1 duplicate merged, the best score kept (x)",)


def test_what_the_door_did_is_counted_and_named():
    result = fj.rankings(
        {"a": [("u", 1), ("u", 3), ("v", None), ("w", -1)], "b": {"u": 1, "w": 2}},
        duplicates="mean",
        nan="zero",
        negative="clip",
        missing="zero",
    )
    assert result.notes == (
        "a: 1 of 4 scores are negative and count as 0",
        "a: 1 duplicate merged, scores averaged (u)",
        "a: 1 NaN score replaced with 0",
        "b lacks 1 of 3 items, scored 0: v",
    )
    assert fj.rankings([[-1, 2]], negative="abs").notes == ("0: 1 negative score replaced by magnitudes",)
    many = {i: 1.0 + i for i in range(30)}
    assert fj.rankings({"a": many, "b": {0: 1.0}}, missing="zero").notes == (
        "b lacks 29 of 30 items, scored 0: 1, 2, 3, 4, 5 and 24 more",
    )


def test_clean_input_has_no_notes():
    for result in (
        fj.rankings([[1, 2, 3], [3, 1, 2]]),
        fj.curve([1, 2, 3], [3, 1, 2]),
        fj.compare([1, 2, 3], [3, 1, 2]),
        fj.pairwise([[1, 2, 3], [3, 1, 2]]),
        fj.stability([[1, 2, 3], [3, 1, 2], [2, 1, 3]]),
    ):
        assert result.notes == ()
        assert "note" not in str(result)


def test_no_universe():
    lists = {"a": 2.0, "b": 1.0}, {"a": 1.0, "c": 2.0}
    result = fj.compare(*lists, missing="zero")
    assert not result.chance
    assert any(note.startswith("no chance level") and "universe=N" in note for note in result.notes)
    assert fj.compare(*lists, universe=9).chance
    assert not any("no chance level" in note for note in fj.compare(*lists, universe=9).notes)
    with pytest.raises(fj.InputError, match=r"no chance level.*pass universe=N"):
        fj.chance(*lists, missing="zero")


def test_cut_ties():
    result = fj.compare([1, 1, 0, 0], [4, 3, 2, 1], ties="stable")
    assert any(note.startswith("ties cut at 2 of 4 k") for note in result.notes)
    assert any(note.startswith("no chance level: with cut ties") for note in result.notes)
    assert not result.chance
    assert fj.compare([1, 1, 0, 0], [4, 3, 2, 1]).notes == ()


@pytest.mark.parametrize("measure", ["kendall", "spearman", "weightedtau"])
def test_undefined_is_nan_with_a_note(measure):
    dead, live = np.zeros(10), np.arange(10.0)
    result = fj.compare(dead, live, measure)
    assert np.isnan(result.auc[measure])
    assert any(note.startswith(f"{measure} is undefined at 10 of 10 k") for note in result.notes)
    assert "r gives every item the same score: it orders nothing" in result.notes
    assert np.isnan(fj.pairwise([dead, live], measure=measure).values[0, 1])


@pytest.mark.parametrize("measure", ["gamma", "correlation"])
def test_the_papers_convention_is_noted(measure):
    result = fj.compare(np.zeros(10), np.arange(10.0), measure)
    assert result.auc[measure] == 1
    assert any("1 by the paper's convention" in note for note in result.notes)
