"""Two versions of a model: changes of features and the test against resamples, held against slow obvious versions."""

from __future__ import annotations

import json
import math
import runpy
import warnings
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import oracle
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore.cli import fuji
from fujiscore.versions.noise import DRAWN, ENUMERATED, _splits, enough, least_p
from fujiscore.versions.results import COLUMNS

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SEEDED = ("-r", EXAMPLES / "v1_seeds.csv", "-c", EXAMPLES / "v2_seeds.csv")


# Oracles: straight from the definitions, in pure Python


def similarity(r, s, ks="exp"):
    points = oracle.grid(ks, len(r)) if isinstance(ks, str) else ks
    return oracle.auc(oracle.curve("fuji", r, s, points))


def mean(values):
    return sum(values) / len(values)


def all_pairs(rankings):
    return {(i, j): similarity(rankings[i], rankings[j]) for i, j in combinations(range(len(rankings)), 2)}


def difference(sim, count, second):
    """Return the lower mean similarity within a group less that between the groups."""
    groups = [[i for i in range(count) if (i in second) == inside] for inside in (False, True)]
    within = [mean([sim[pair] for pair in combinations(group, 2)]) for group in groups if len(group) > 1]
    between = mean([sim[min(i, j), max(i, j)] for i in groups[0] for j in groups[1]])
    return min(within) - between, within, between


def p_value(sim, m, n):
    """Return the share of splits of all rankings into two groups that differ at least as much as the given one."""
    observed = difference(sim, m + n, set(range(m, m + n)))[0]
    splits = list(combinations(range(m + n), n))
    tiny = Fraction(1, 10**12)
    return mean([Fraction(difference(sim, m + n, set(split))[0] >= observed - tiny) for split in splits])


def changes(old, new):
    """Return {feature: what is to be known of it} for dicts of feature to non-negative score."""
    rows = {}
    for item in {**old, **new}:
        ranks = [1 + sum(other > own[item] for other in own.values()) if item in own else None for own in (old, new)]
        shares = [own.get(item, 0) / sum(own.values()) if sum(own.values()) else 0.0 for own in (old, new)]
        if item not in old or item not in new:
            kind = "appeared" if item not in old else "vanished"
            moved = None
        else:
            moved = ranks[1] - ranks[0]
            kind = "moved" if moved or abs(shares[1] - shares[0]) > 1e-12 else "same"
        rows[item] = (kind, *ranks, moved, old.get(item), new.get(item), *shares, shares[1] - shares[0])
    return rows


def draw(seed, m, n=8, spread=0.3, **factors):
    rng = np.random.default_rng(seed)
    truth = np.linspace(2, 0.2, n) ** 3
    for place, factor in factors.items():
        truth[int(place[1:])] *= factor
    return np.round(truth * np.exp(spread * rng.normal(size=(m, n))), 3)


# Features


def scores():
    return st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 9).map(float), min_size=2)


@given(scores(), scores())
def test_changes_are_those_of_the_definition(old, new):
    if not set(old) & set(new):
        with pytest.raises(fj.InputError, match="must share features"):
            fj.drift(old, new)
        return
    result = fj.drift(old, new, permutations=0)
    expected = changes(old, new)
    assert {change.item for change in result.changes} == set(expected)
    for change in result.changes:
        row = [getattr(change, name) for name in COLUMNS[1:]]
        assert row[:4] == list(expected[change.item][:4])
        assert row[4:6] == list(expected[change.item][4:6])
        assert row[6:] == pytest.approx(list(expected[change.item][6:]), abs=1e-12)
    turned = [abs(change.share_change) for change in result.changes]
    assert turned == sorted(turned, reverse=True)
    for kind, part in (("appeared", result.appeared), ("vanished", result.vanished)):
        assert {change.item for change in part} == {item for item, row in expected.items() if row[0] == kind}
    ranked = [abs(change.rank_change) for change in result.rank_movers]
    assert ranked == sorted(ranked, reverse=True)
    moved = {i for i, row in expected.items() if row[3] and (old[i] or new[i])}
    assert {change.item for change in result.rank_movers} == moved


def test_scales_do_not_matter():
    old, new = {"a": 3.0, "b": 2.0, "c": 1.0}, {"a": 3e200, "b": 2e200, "c": 1e200}
    result = fj.drift(old, new)
    assert result.verdict == "no change"
    assert result.movers == ()
    assert result.level.value == pytest.approx(1)
    huge = fj.drift({"a": 1.7e308, "b": 1.7e308}, {"a": 1.0, "b": 1.0})
    assert [change.share_reference for change in huge.changes] == [0.5, 0.5]


@pytest.mark.parametrize("negative", ["split", "abs", "clip"])
def test_opposite_signs_are_found_whatever_the_policy(negative):
    old, new = {"a": 4.0, "b": -3.0, "c": 2.0, "d": 1.0}, {"a": 4.0, "b": 3.0, "c": -1.0, "d": 1.0}
    result = fj.drift(old, new, negative=negative)
    assert {change.item for change in result.flipped} == {"b", "c"}
    flip = next(change for change in result.changes if change.item == "b")
    assert (flip.score_reference, flip.score_current) == (-3.0, 3.0)
    shares = {"split": (-0.3, 3 / 9), "abs": (0.3, 3 / 9), "clip": (0.0, 3 / 8)}[negative]
    assert (flip.share_reference, flip.share_current) == pytest.approx(shares)
    ranks = {"split": (2, 2), "abs": (2, 2), "clip": (4, 2)}[negative]
    assert (flip.rank_reference, flip.rank_current) == ranks


def test_negative_scores_need_a_decision():
    with pytest.raises(fj.InputError, match="negative="):
        fj.drift({"a": 1, "b": -1}, {"a": 1, "b": 1})


def test_features_that_one_version_lacks():
    old, new = {"a": 5, "b": 3, "c": 2}, {"a": 5, "b": 3, "d": 2}
    result = fj.drift(old, new)
    assert ([c.item for c in result.vanished], [c.item for c in result.appeared]) == (["c"], ["d"])
    assert result.comparison.rankings.universe == 4
    assert any("current lacks 1 of 4 items, scored 0: c" in note for note in result.notes)
    dropped = fj.drift(old, new, missing="drop")
    assert dropped.level.value == 1
    assert [c.item for c in dropped.vanished] == ["c"]
    assert not dropped.judge(fail_under=0.5).passed
    with pytest.raises(fj.InputError, match="lacks 1 of 4"):
        fj.drift(old, new, missing="raise")
    assert fj.drift(old, new, universe=100).comparison.rankings.universe == 100


def test_notes_on_opposite_signs():
    old, new = {"a": 3.0, "b": -2.0, "c": 1.0}, {"a": -3.0, "b": 2.0, "c": 1.0}
    blind = fj.drift(old, new, negative="abs")
    assert blind.level.value == 1
    assert any(note.startswith("opposite signs (2 features) do not lower the similarity") for note in blind.notes)
    assert any("pass negative='split' to count them" in note for note in blind.notes)
    seeing = fj.drift(old, new, negative="split")
    assert seeing.level.value < 1
    unsigned = fj.drift({"a": 3.0, "b": 2.0, "c": 1.0}, new, negative="abs")
    assert [change.item for change in unsigned.flipped] == ["a"]
    assert any(
        note.startswith("no score of reference is negative: if its scores have no signs") for note in unsigned.notes
    )
    assert any(note.startswith("opposite signs (1 feature) do not lower") for note in unsigned.notes)
    same = fj.drift(old, old, negative="abs")
    assert not any("opposite" in note for result in (seeing, same) for note in result.notes)


def test_a_nan_that_is_dropped_moves_no_feature_of_a_model_without_names():
    selection = pytest.importorskip("sklearn.feature_selection")
    x = np.random.default_rng(0).normal(size=(40, 5))
    y = x[:, 1] > 0
    models = []
    for constant in (0, 4):
        changed = x.copy()
        changed[:, constant] = 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn's, on constant features
            models.append(selection.SelectKBest(k=2).fit(changed, y))
    result = fj.drift(*models, nan="drop")
    assert [change.item for change in result.appeared] == [0]
    assert [change.item for change in result.vanished] == [4]
    scores = {change.item: (change.score_reference, change.score_current) for change in result.changes}
    assert all(scores[i] == (models[0].scores_[i], models[1].scores_[i]) for i in (1, 2, 3))


def test_a_nan_that_is_dropped_is_a_feature_that_vanished():
    result = fj.drift([5.0, 3.0, 2.0, 1.0], [5.0, math.nan, 2.0, 1.0], nan="drop")
    assert [change.item for change in result.vanished] == [1]
    assert [(c.item, c.score_reference, c.score_current) for c in result.changes if c.kind != "vanished"] == [
        (0, 5.0, 5.0),
        (2, 2.0, 2.0),
        (3, 1.0, 1.0),
    ]
    assert not result.judge(fail_under=0.1).passed


# Similarity and chance


def test_the_similarity_is_that_of_compare():
    old, new = draw(1, 1, 30)[0], draw(2, 1, 30)[0]
    result = fj.drift(old, new)
    assert result.level.value == pytest.approx(float(similarity(old.tolist(), new.tolist())), abs=1e-12)
    chance = fj.compare(old, new, ks="exp").chance["fuji"]
    assert (result.level.expected, result.level.p_value) == (chance.expected_auc, chance.p_value)
    assert result.chance.corrected_auc == chance.corrected_auc
    assert result.level.method == "analytic"
    at = fj.drift(old, new, k=5)
    assert at.level.value == pytest.approx(fj.fuji(old, new, 5))
    assert at.level.k == 5
    assert fj.drift(old, new, "jaccard", ks="all").level.value == fj.auc(old, new, "jaccard")


def test_few_features_have_a_p_value_from_permutations():
    old, new = draw(1, 1)[0], draw(2, 1)[0]
    result = fj.drift(old, new)
    assert result.level.method == "permutations"
    assert result.level.p_value == fj.compare(old, new, ks="exp", permutations=1000).chance["fuji"].p_value
    assert fj.drift(old, new, permutations=0).level.p_value is None
    split = fj.drift(old, -new, negative="split")
    assert 0 < split.level.p_value <= 1


# Noise


@pytest.mark.parametrize(("m", "n"), [(4, 4), (3, 5), (5, 2), (6, 1), (1, 6)])
@pytest.mark.parametrize("factor", [1.0, 0.1])
def test_the_test_is_that_of_the_definition(m, n, factor):
    old, new = draw(m, m), draw(10 + n, n, p0=factor)
    given_ = {"reference_resamples": old if m > 1 else None, "current_resamples": new if n > 1 else None}
    result = fj.drift(old[0], new[0], **given_)
    sim = all_pairs([*old.tolist(), *new.tolist()])
    expected, within, between = difference(sim, m + n, set(range(m, m + n)))
    assert result.noise.difference == pytest.approx(float(expected), abs=1e-12)
    assert result.between == pytest.approx(float(between), abs=1e-12)
    assert [value for value in result.within if not math.isnan(value)] == pytest.approx(list(map(float, within)))
    assert result.noise.p_value == pytest.approx(float(p_value(sim, m, n)), abs=1e-12)
    assert result.noise.m == (m, n)
    assert result.noise.exact
    assert result.noise.splits == math.comb(m + n, n)


def test_many_splits_are_drawn_and_p_is_never_0():
    old, new = draw(1, 10, spread=0.05), draw(2, 10, spread=0.05, p0=0.0)
    result = fj.drift(old[0], new[0], reference_resamples=old, current_resamples=new)
    assert not result.noise.exact
    assert result.noise.splits == DRAWN + 1
    assert result.noise.p_value == 1 / (DRAWN + 1)
    assert result.verdict == "beyond the noise between seeds"
    again = fj.drift(old[0], new[0], reference_resamples=old, current_resamples=new, random_state=5)
    assert again.noise.p_value > 0


def test_random_splits_agree_with_all_of_them(monkeypatch):
    old, new = draw(3, 6), draw(4, 6, p0=0.7)
    options = {"reference_resamples": old, "current_resamples": new}
    exact = fj.drift(old[0], new[0], **options).noise
    monkeypatch.setattr("fujiscore.versions.noise.ENUMERATED", 10)
    monkeypatch.setattr("fujiscore.versions.noise._splits", _splits.__wrapped__)  # what was enumerated is remembered
    drawn = fj.drift(old[0], new[0], **options).noise
    assert (exact.exact, drawn.exact) == (True, False)
    assert exact.p_value == pytest.approx(drawn.p_value, abs=4 * math.sqrt(0.25 / DRAWN))


def test_the_least_p_value():
    assert least_p(4, 4) == pytest.approx(2 / 70)
    assert least_p(3, 3) == pytest.approx(2 / 20)
    assert least_p(19, 1) == pytest.approx(1 / 20)
    assert math.comb(20, 10) > ENUMERATED
    assert least_p(10, 10) == 1 / (DRAWN + 1)
    assert (enough(0.05), enough(0.01), enough(0.1)) == (4, 5, 3)


@pytest.mark.parametrize(
    ("m", "n", "confidence", "judged"),
    [
        (3, 3, 0.95, False),
        (4, 4, 0.95, True),
        (19, 1, 0.95, True),
        (18, 1, 0.95, False),
        (3, 3, 0.9, True),
        (4, 4, 0.99, False),
    ],
)
def test_too_few_resamples_are_not_judged(m, n, confidence, judged):
    old, new = draw(1, m, spread=0.05), draw(2, n, spread=0.05, p0=0.0)
    given_ = {"reference_resamples": old, "current_resamples": new if n > 1 else None}
    result = fj.drift(old[0], new[0], **given_, confidence=confidence)
    assert (result.beyond is not None) == judged
    if judged:
        assert result.verdict == "beyond the noise between seeds"
    else:
        assert result.verdict.startswith(f"cannot be judged: {m} and {n} rankings give p = ")
    assert any("few resamples" in note for note in result.notes) == (1 < min(m, n) < 5)
    assert any("one ranking of the current version" in note for note in result.notes) == (n == 1)
    assert any("leave out the noise of the data" in note for note in result.notes)


def test_without_resamples_there_is_no_verdict():
    result = fj.drift([3, 2, 1], [1, 2, 3])
    assert result.verdict == "cannot be judged: no seeds given to compare with"
    assert (result.noise, result.within, result.between, result.beyond) == (None, None, None, None)
    assert any("reference_resamples and current_resamples" in note for note in result.notes)


def test_the_noise_has_its_name():
    old = draw(1, 5)
    options = {"reference_resamples": old, "current_resamples": draw(2, 5), "noise": "folds"}
    result = fj.drift(old[0], old[1], **options)
    assert result.verdict == "no more than between folds"
    assert any("folds of one data set" in note for note in result.notes)
    with pytest.raises(fj.InputError, match="noise must be one of 'seeds'"):
        fj.drift(old[0], old[1], noise="chaos")


def test_a_noisier_version_is_not_a_changed_one():
    old, new = draw(1, 8, spread=0.1), draw(2, 8, spread=0.5)
    result = fj.drift(old[0], new[0], reference_resamples=old, current_resamples=new)
    assert result.within[0] > result.between > result.within[1]
    assert result.verdict == "no more than between seeds"


def test_mixed_up_files_are_noted():
    old, new = draw(1, 6, spread=0.1), draw(2, 6, spread=0.1, p0=0.0)
    wrong = fj.drift(old[0], new[0], reference_resamples=old, current_resamples=old)
    assert any("both versions have 6 equal ranking(s)" in note for note in wrong.notes)
    assert any(note.startswith("current is less similar to its resamples") for note in wrong.notes)
    right = fj.drift(old[0], new[0], reference_resamples=old, current_resamples=new)
    assert not any("mixed up" in note or "same version?" in note for note in right.notes)
    copies = fj.drift(old[0], new[0], reference_resamples=[old[0]] * 5, current_resamples=new)
    assert any("the 5 resamples of the reference are all alike" in note for note in copies.notes)


def test_similarities_that_are_undefined_are_not_judged():
    old, new = draw(1, 5), np.ones((5, 8))
    result = fj.drift(old[0], new[0], "kendall", reference_resamples=old, current_resamples=new)
    assert result.verdict == "cannot be judged: some seeds have no similarity"
    assert not result.judge(fail_beyond=True).passed


def test_one_resample_is_refused():
    with pytest.raises(fj.InputError, match="reference_resamples must hold at least 2"):
        fj.drift([3, 2, 1], [1, 2, 3], reference_resamples=[[3, 2, 1]])


def test_several_rankings_are_no_version():
    several = fj.rankings({"x": [1, 2], "y": [2, 1]})
    with pytest.raises(fj.InputError, match=r"reference must be one ranking; got 2: x, y.* reference_resamples"):
        fj.drift(several, [1, 2])


def test_resamples_are_aligned_by_label():
    old = [dict(zip("abcdefgh", row, strict=True)) for row in draw(1, 5).tolist()]
    new = [dict(zip("abcdefgh", row, strict=True)) for row in draw(2, 5).tolist()]
    shuffled = [dict(sorted(one.items(), reverse=True)) for one in new]
    results = [fj.drift(old[0], c[0], reference_resamples=old, current_resamples=c) for c in (new, shuffled)]
    assert results[0].noise.p_value == results[1].noise.p_value
    assert results[0].between == results[1].between


# Real forests


def forests(x, y, seeds, trees=40):
    from sklearn.ensemble import RandomForestClassifier

    return [RandomForestClassifier(trees, random_state=seed).fit(x, y).feature_importances_ for seed in seeds]


@pytest.fixture(scope="module")
def wine():
    from sklearn.datasets import load_wine

    return load_wine()


def test_forests_of_other_seeds_do_not_drift(wine):
    """Of two pairs of versions, none is beyond the noise; a single false alarm has a chance of 5 %."""
    for start in (0, 100):
        drawn = forests(wine.data, wine.target, range(start, start + 10))
        old, new = (
            [dict(zip(wine.feature_names, one, strict=True)) for one in part] for part in (drawn[:5], drawn[5:])
        )
        result = fj.drift(old[0], new[0], reference_resamples=old, current_resamples=new)
        assert result.verdict == "no more than between seeds"


@pytest.mark.parametrize("column", ["flavanoids", "proline"])
def test_a_shuffled_column_is_beyond_the_noise(wine, column):
    place = wine.feature_names.index(column)
    broken = wine.data.copy()
    broken[:, place] = np.random.default_rng(0).permutation(broken[:, place])
    old, new = forests(wine.data, wine.target, range(5)), forests(broken, wine.target, range(50, 55))
    result = fj.drift(old[0], new[0], reference_resamples=old, current_resamples=new)
    assert result.verdict == "beyond the noise between seeds"
    assert result.movers[0].item == place
    assert result.movers[0].rank_change > 0


def test_fitted_models_are_versions(wine):
    from sklearn.ensemble import RandomForestClassifier

    drawn = [RandomForestClassifier(10, random_state=seed).fit(wine.data, wine.target) for seed in range(8)]
    options = [
        {"reference_resamples": part[:4], "current_resamples": part[4:]}
        for part in (drawn, [model.feature_importances_ for model in drawn])
    ]
    results = [fj.drift(drawn[0], drawn[4], **each, nan="drop") for each in options]
    assert results[0].noise.p_value == results[1].noise.p_value
    assert results[0].movers == results[1].movers
    assert any("feature_importances_ of RandomForestClassifier" in note for note in results[0].notes)


# Gates


def test_gates():
    old, new = {"a": 5, "b": 3, "c": 2, "d": 1}, {"a": 3, "b": 5, "c": 1, "d": 2}
    result = fj.drift(old, new)
    value = result.level.value
    assert result.judge().checks == ()
    assert result.judge(fail_under=value).passed
    assert not result.judge(fail_under=math.nextafter(value, 1)).passed
    (check,) = result.judge(fail_under=0.99, corrected=True).checks
    assert (check.value, check.passed) == (result.level.corrected, False)
    assert check.what == "FUJI corrected (top-weighted AUC)"
    (check,) = fj.drift(old, new, k=2).judge(fail_under=1.0).checks
    assert (check.what, check.value, check.passed) == ("FUJI (k = 2)", 1.0, True)
    (check,) = result.judge(fail_beyond=True).checks
    assert not check.passed
    assert "cannot be judged" in check.text
    with pytest.raises(fj.InputError, match="fail_under must have numbers from 0 to 1"):
        result.judge(fail_under=7)


def test_lost_features_fail_whatever_the_similarity():
    result = fj.drift({"a": 5, "b": 3, "c": 0.001}, {"a": 5, "b": 3})
    assert result.level.value > 0.99
    verdict = result.judge(fail_under=0.5)
    assert not verdict.passed
    assert verdict.failed() == ["FAILED: 1 feature missing (c), 0 allowed; allow_missing_features accepts them"]
    assert result.judge(fail_under=0.5, allow_missing_features=True).passed
    assert result.judge(allow_missing_features=False).passed  # no gate was asked for
    assert fj.drift({"a": 5, "b": 3}, {"a": 5, "b": 3, "c": 0.001}).judge(fail_under=0.5).passed


def test_a_gate_on_what_is_not_known_is_refused():
    result = fj.drift({"a": 5, "b": 3}, {"a": 5, "c": 3}, missing="drop")
    with pytest.raises(fj.InputError, match="chance"):
        fj.drift({"a": 5, "b": -3}, {"a": 5, "b": 3}, negative="split", permutations=0).judge(
            fail_under=0.5, corrected=True
        )
    assert not result.judge(fail_under=0.5).passed


# Forms


@pytest.fixture
def result():
    old, new = (fj.read(EXAMPLES / f"{name}.csv") for name in ("v1", "v2"))
    seeds = [fj.read(EXAMPLES / f"{name}_seeds.csv") for name in ("v1", "v2")]
    return fj.drift(old, new, reference_resamples=seeds[0], current_resamples=seeds[1])


def test_the_example(result):
    assert result.verdict == "beyond the noise between seeds"
    assert result.names == ("v1", "v2")
    assert result.movers[0].item == "flavanoids"
    assert result.noise.p_value == pytest.approx(2 / 252)
    assert f"p = {2 / 252:.2g}" in str(result)
    frame = result.to_frame("pandas")
    assert list(frame.columns) == list(COLUMNS)
    assert frame["share_reference"].sum() == pytest.approx(1)
    assert frame.attrs["notes"] == list(result.notes)


def test_notebooks_and_latex_have_the_verdict(result):
    for text in (result._repr_html_(), result.to_latex()):
        assert "beyond the noise between seeds" in text
        assert "flavanoids" in text
        assert "0.8006" in text
    assert "0.8006" in result.noise.to_markdown()
    assert len(result.to_markdown(rows=None).splitlines()) > len(result.to_markdown(rows=2).splitlines())


def test_markdown_shows_names_as_they_are():
    old, new = {"<b>|x": 3.0, "b": 2.0, "c": 1.0}, {"<b>|x": 1.0, "b": 2.0, "*d*": 3.0}
    result = fj.drift(old, new)
    text = result.to_markdown(verdict=result.judge(fail_under=0.99).lines())
    assert "**Importance drift: cannot be judged" in text
    assert r"| &lt;b&gt;\|x | 50.0% | 16.7% | -33.3 | 1 | 3 | moved |" in text
    assert r"- new: 1 (\*d\*)" in text
    assert "- FAILED: FUJI (top-weighted AUC)" in text
    assert "- FAILED: 1 feature missing (c)" in text
    assert text.count("<details>") == text.count("</details>") == 2
    for note in result.notes:
        assert note.split(":")[0] in text


def test_the_figure(result):
    ax = result.plot()
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert lines["v1"].get_xdata() == pytest.approx([100 * change.share_reference for change in result.changes])
    assert lines["v2"].get_xdata() == pytest.approx([100 * change.share_current for change in result.changes])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [change.item for change in result.changes]
    assert ax.get_title() == result.verdict
    import matplotlib.pyplot as plt

    plt.close(ax.figure)


def test_the_figure_of_versions_that_are_the_same():
    ax = fj.drift([3, 2, 1], [3, 2, 1]).plot()
    assert len(ax.get_yticks()) == 3
    import matplotlib.pyplot as plt

    plt.close(ax.figure)


# The command


def call(*arguments):
    return CliRunner().invoke(fuji, ["drift", *map(str, arguments)])


V1, V2 = EXAMPLES / "v1.csv", EXAMPLES / "v2.csv"


def test_the_command_prints_what_the_library_says(result):
    done = call(V1, V2, *SEEDED)
    assert done.exit_code == 0
    assert "Verdict: beyond the noise between seeds" in done.stdout
    assert "p = 0.0079" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    report = json.loads(call(V1, V2, *SEEDED, "--json").stdout)
    assert report["verdict"] == result.verdict
    assert report["noise"]["p_value"] == result.noise.p_value
    assert report["similarity"][0]["value"] == result.level.value
    assert [change["item"] for change in report["changes"]] == [change.item for change in result.changes]
    assert (report["passed"], report["gates"]) == (None, [])  # no gate was set
    rows = call(V1, V2, "--csv").stdout.splitlines()
    assert rows[0] == ",".join(COLUMNS)
    assert len(rows) == 14


def test_files_of_seeds_are_versions_if_asked_for():
    old, new = EXAMPLES / "v1_seeds.csv", EXAMPLES / "v2_seeds.csv"
    report = json.loads(call(old, new, "--seeds", "--json").stdout)
    assert report["verdict"] == "beyond the noise between seeds"
    assert report["noise"]["m"] == [5, 5]
    assert "comparing the first rankings, seed_1 and seed_1" in report["notes"]
    first = json.loads(call(f"{old}:seed_1", f"{new}:seed_1", "-r", old, "-c", new, "--json").stdout)
    assert first["changes"] == report["changes"]
    assert first["noise"] == report["noise"]
    assert "leave out -r and -c" in call(old, new, "--seeds", "-r", old).stderr
    alone = call(V1, V2, "--seeds")
    assert alone.exit_code == 2
    assert "at least 2 rankings" in alone.stderr


def test_the_command_writes_markdown_and_a_figure(tmp_path):
    done = call(V1, V2, *SEEDED, "-o", tmp_path / "drift.md", "--plot", tmp_path / "drift.svg")
    assert done.exit_code == 0
    text = (tmp_path / "drift.md").read_text(encoding="utf-8")
    assert text == call(V1, V2, *SEEDED, "--markdown").stdout
    assert text.startswith("**Importance drift: beyond the noise between seeds** (v1 → v2)\n")
    assert (tmp_path / "drift.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--fail-under", 0.8], 0),
        (["--fail-under", 0.9], 1),
        (["--fail-under", 0.9, "-k", 1], 0),
        (["--fail-under", 0.8, "--corrected"], 1),
        (["--fail-beyond"], 1),
        (["--fail-beyond", *SEEDED], 1),
        (["--fail-beyond", "--confidence", 0.99, "-r", EXAMPLES / "v1_seeds.csv", "-c", EXAMPLES / "v1_seeds.csv"], 0),
    ],
)
def test_exit_codes_of_gates(options, code):
    for form in ([], ["--json"], ["--markdown"]):
        done = call(V1, V2, *options, *form)
        assert done.exit_code == code, done.output
        assert ("FAILED" in done.output) == (code == 1 and "--json" not in form) or "--json" in form


def test_a_lost_feature_fails_the_gate_of_the_command(tmp_path):
    short = tmp_path / "short.csv"
    short.write_text("".join(V1.read_text().splitlines(keepends=True)[:-1]))
    done = call(V1, short, "--fail-under", 0.1)
    assert done.exit_code == 1
    assert "FAILED: 1 feature missing (proline), 0 allowed; --allow-missing-features" in done.stdout
    assert call(V1, short, "--fail-under", 0.1, "--allow-missing-features").exit_code == 0
    assert call(V1, short, "--fail-under", 0.1, "--missing", "drop").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([V1], "two versions can be compared; got 1"),
        ([V1, EXAMPLES / "v2_seeds.csv"], "--current-resamples"),
        ([V1, EXAMPLES / "run_a.trec"], "one ranking"),
        ([V1, EXAMPLES / "model_a.csv"], "must share features"),
        ([V1, V2, "-k", 14], "-k must be at most 13"),
        ([V1, V2, "-k", 3, "--ks", "all"], "-k and --ks"),
        ([V1, V2, "--fail-under", 2], "--fail-under must have numbers from 0 to 1"),
        ([V1, V2, "-r", V1], "--reference-resamples must hold at least 2"),
        ([V1, V2, "-r", EXAMPLES / "run_a.trec"], "lacks"),
        ([V1, V2, "--confidence", 1], "--confidence must be"),
        ([V1, EXAMPLES / "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_bad_usage_is_one_line(arguments, message):
    done = call(*arguments, "--missing", "raise") if message == "lacks" else call(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


# The page


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(ROOT / "docs" / "make_drift.py"))


def test_the_page_has_every_row_of_the_table(script):
    rows = script["read_table"]((ROOT / "docs" / "drift.md").read_text(encoding="utf-8"))
    assert set(rows) == {*script["ALIKE"], *script["NOISIER"], *script["APART"]}
    for name in script["ALIKE"]:
        assert max(rows[name]) < 0.075, name


def test_the_level_of_the_test_in_few_trials(script):
    """A quick part of the table: 400 trials at 5 % exceed 9 % with a chance of 0.1 %."""
    found = script["rates"](("noise", "first feature unused"), trials=400, sizes=((5, 5),))
    assert found["noise"][0] < 0.09
    assert found["first feature unused"][0] > 0.9


@pytest.mark.slow
def test_the_table_holds(script):
    """Repeat the table with other draws: rates agree within four standard errors of both."""
    rows = script["read_table"]((ROOT / "docs" / "drift.md").read_text(encoding="utf-8"))
    trials = 500
    for name, found in script["rates"](trials=trials, seed=2).items():
        for here, there in zip(found, rows[name], strict=True):
            rate = (here + there) / 2
            reach = 4 * math.sqrt(rate * (1 - rate) * (1 / trials + 1 / script["TRIALS"])) + 0.02
            # a pool of forests is small: it is one draw of the shuffled column, too
            assert abs(here - there) < (0.5 if "shuffled" in name else reach), name
        if name in script["ALIKE"]:
            assert max(found) < 0.05 + 4 * math.sqrt(0.05 * 0.95 / trials)


def test_notebooks_say_once_what_a_share_is():
    html = fj.drift({"a": 3.0, "b": 2.0, "c": 1.0}, {"a": 1.0, "b": 2.0, "c": 3.0})._repr_html_()
    assert html.count("the score over the sum of its version") == 1
