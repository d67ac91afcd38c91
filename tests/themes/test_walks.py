"""Work that is done once: what a result computes of itself is kept, not pickled, and cannot be overwritten."""

import pickle
from dataclasses import fields

import numpy as np
import pytest

import fujiscore as fj
import fujiscore.pair.compare
import fujiscore.runs.compare
from fujiscore.null import area

RNG = np.random.default_rng(5)
R, S, T = RNG.lognormal(size=(3, 60))


def shown(result, path):
    str(result), repr(result), result.to_markdown(), result._repr_html_(), result.report(path)


def counted(monkeypatch, module, name):
    calls, function = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given, **named: calls.append(given) or function(*given, **named))
    return calls


def test_a_comparison_computes_its_levels_and_its_band_once(monkeypatch, tmp_path):
    levels = counted(monkeypatch, fujiscore.pair.compare, "_headline")
    draws = counted(monkeypatch, area, "_correlation")
    result = fj.compare(R, S)
    shown(result, tmp_path / "page.html")
    result.levels(), result.headline, result.verdict()
    assert len(levels) == 4  # two measures, each with its area and its top-weighted area
    assert 1 <= len(draws) <= 2  # a band for each measure at most


def test_levels_are_a_new_list_each_time():
    result = fj.compare(R, S)
    result.levels().clear()
    assert len(result.levels()) == 4


def test_runs_align_only_the_lists_that_are_looked_up(monkeypatch):
    aligned = counted(monkeypatch, fujiscore.runs.compare, "align")
    result = fj.compare_runs({"q": {"x": 2.0, "y": 1.0}, "p": {"x": 1.0}}, {"q": {"x": 1.0}, "p": {"x": 1.0}}, k=1)
    str(result), result.to_markdown()
    assert not aligned
    assert set(result.lists) == {"q", "p"}
    assert [ranking.name for ranking in result.lists["q"]] == ["a", "b"]
    assert len(aligned) == 1


@pytest.mark.parametrize(
    "result",
    [
        fj.compare(R, S),
        fj.chance(R, S),
        fj.pairwise([R, S, T], corrected=True, p_values=True),
        fj.compare_runs({"q": {"x": 2.0, "y": 1.0}}, {"q": {"x": 1.0, "y": 2.0}}, k=1),
    ],
    ids=lambda result: type(result).__name__,
)
def test_a_pickle_holds_the_fields_alone(result):
    text = str(result), result._repr_html_()
    again = pickle.loads(pickle.dumps(result))
    names = {field.name for field in fields(result)}
    assert vars(again).keys() == names < vars(result).keys()
    assert (str(again), again._repr_html_()) == text


@pytest.mark.parametrize(
    "array",
    [
        fj.pairwise([R, S, T], corrected=True).values,
        fj.pairwise([R, S, T], p_values=True).insignificant,
        fj.chance(R, S).corrected,
        fj.chance(R, S).z,
        fj.chance(R, S, permutations=9).p_values,
    ],
)
def test_what_is_kept_cannot_be_overwritten(array):
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 0
