"""Rank and study: the rankings are the rankers', the statistics those of the library, and a stopped run goes on."""

from __future__ import annotations

import csv
import multiprocessing
import os
import pickle
import runpy
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fujiscore as fj
from fujiscore.features import charts as study_charts
from fujiscore.features import files as study_files
from fujiscore.features import report as study_report
from fujiscore.features.resampling import Plan, describe, plan
from fujiscore.features.study import study
from fujiscore.rankers import as_ranker, genie3, mutual_information, prepare, random_forest, rank, relief
from fujiscore.rankers import features as features_module
from fujiscore.work.seeds import as_seed

QUICK = {"trees": 10, "resamples": 4, "permutations": 19}


def table(n=60, m=6, seed=0):
    """Return features of which the first two matter, and the class of each row."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, m))
    return x, np.where(x[:, 0] + 0.7 * x[:, 1] > 0, "yes", "no")


@pytest.fixture(scope="module")
def found():
    return study(*table(), features=list("abcdef"), **QUICK)


def plain_ranks(scores):
    """Return ranks from the definition: the mean place among those of equal score."""
    above = [sum(other > own for other in scores) for own in scores]
    equal = [sum(other == own for other in scores) for own in scores]
    return [a + (e + 1) / 2 for a, e in zip(above, equal, strict=True)]


# Ranking


def test_rank_gives_each_rankers_own_scores():
    x, y = table()
    held = rank(x, y, trees=10, random_state=3)
    assert held.names == ("relief", "mutual_information", "genie3", "random_forest")
    np.testing.assert_array_equal(held["relief"], relief(x, y))
    np.testing.assert_array_equal(held["mutual_information"], mutual_information(x, y, random_state=3))
    np.testing.assert_array_equal(held["genie3"], genie3(x, y, trees=10, random_state=3))
    np.testing.assert_array_equal(held["random_forest"], random_forest(x, y, trees=10, random_state=3))
    assert held["relief"].scores.min() < 0 or held["random_forest"].scores.min() < 0  # signs are kept


def test_genie3_and_random_forest_share_one_forest(monkeypatch):
    from sklearn.ensemble import RandomForestClassifier

    fits = []
    fit = RandomForestClassifier.fit
    monkeypatch.setattr(RandomForestClassifier, "fit", lambda *args, **kw: fits.append(1) or fit(*args, **kw))
    rank(*table(), trees=5, progress=False)
    assert len(fits) == 1


def test_methods_can_be_functions_estimators_and_named():
    from sklearn.linear_model import LogisticRegression

    x, y = table()

    def spread(x, classes):
        return x[classes == 1].mean(axis=0) ** 2

    held = rank(x, y, {"own": spread, "logistic": LogisticRegression(), "near": "relief"})
    assert held.names == ("own", "logistic", "near")
    np.testing.assert_array_equal(held["own"], spread(x, (y == "yes").astype(int)))
    assert rank(x, y, [spread]).names == ("spread",)
    assert rank(x, y, "relief").names == ("relief",)


@pytest.mark.parametrize(
    ("methods", "message"),
    [([], "at least one"), (["relief", "relief"], "'relief' occurs twice"), (["reliev"], "must be one of"), ([3], "3")],
)
def test_wrong_methods_are_refused(methods, message):
    with pytest.raises(fj.InputError, match=message):
        rank(*table(), methods)


def test_dataframes_name_the_items_and_text_is_categorical():
    x, y = table()
    frame = pd.DataFrame(x[:, :2], columns=["size", "noise"]).assign(colour=["red", "blue", "green"] * 20)
    held = rank(frame, y, ["relief"])
    assert [held.label(i) for i in range(held.n)] == ["size", "noise", "colour"]
    as_category = rank(frame.astype({"colour": "category"}), y, ["relief"])
    np.testing.assert_array_equal(held["relief"], as_category["relief"])
    assert prepare(frame, y, inspect=True).notes == ("text treated as categories: colour",)
    frame["noise"] = np.arange(60) % 4
    np.testing.assert_array_equal(
        prepare(frame, y, [False, True, False], inspect=True).categorical, [False, True, True]
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.assign(a=[str(v) for v in f["a"]]), "column 'a' holds text, all of it numbers"),
        (lambda f: f.assign(a=["typo", *(str(v) for v in f["a"][1:])]), "most of it numbers, but also 'typo'"),
        (
            lambda f: f.assign(a=[f"row {i}" for i in range(len(f))]),
            "column 'a' is unique in every row and looks like an identifier",
        ),
        (lambda f: f.assign(a=np.inf), "column 'a' has infinite"),
        (lambda f: f.rename(columns={"b": "a"}), "'a' names more than one"),
    ],
)
def test_bad_columns_are_refused(change, message):
    x, y = table()
    with pytest.raises(fj.InputError, match=message):
        study(change(pd.DataFrame(x, columns=list("abcdef"))), y, **QUICK)


@pytest.mark.parametrize(
    ("y", "message"),
    [(["a"] * 60, "at least two classes"), (np.full(60, 0.5), "at least two classes"), (["a", "b"] * 29, "rows")],
)
def test_bad_targets_are_refused(y, message):
    with pytest.raises(fj.InputError, match=message):
        study(table()[0], y, **QUICK)


def test_odd_but_usable_data_are_noted():
    x, y = table()
    x[:, 2], x[:, 3] = 5.0, np.arange(60)
    y[0] = "rare"
    found = study(x, y, **QUICK)
    text = " ".join(found.notes)
    assert "constant, so no method can use them: 2" in text
    assert "numbers the rows" in text
    assert "1 of 3 classes has only one row" in text
    assert found.rankings["relief"].scores[2] == 0


def test_one_feature_can_be_ranked_but_not_studied():
    x, y = table(m=2)
    assert rank(x[:, :1], y, ["relief"]).n == 1
    with pytest.raises(fj.InputError, match="at least 2 features"):
        study(x[:, :1], y, **QUICK)


# Resamples


def classes(*sizes):
    """Return a prepared table with so many rows of each class."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    return prepare(np.zeros((y.size, 1)), [str(code) for code in y.tolist()])


@pytest.mark.parametrize("scheme", ["subsample", "bootstrap", "folds"])
def test_every_class_is_in_every_resample(scheme):
    held = classes(30, 9, 2, 1)
    drawn = [plan(held, 6, scheme, 0.8, 1).rows(held, i) for i in range(6)]
    for rows in drawn:
        assert set(held.target.values[rows]) == {0, 1, 2, 3}
    assert len({tuple(rows) for rows in drawn}) > 1


def test_subsamples_take_each_classs_share_without_repeating():
    held = classes(40, 10)
    for i in range(5):
        rows = plan(held, 5, "subsample", 0.8, 0).rows(held, i)
        assert len(set(rows)) == rows.size
        assert np.bincount(held.target.values[rows]).tolist() == [32, 8]


def test_bootstrap_draws_as_many_rows_of_each_class():
    held = classes(40, 10)
    rows = plan(held, 5, "bootstrap", 0.8, 0).rows(held, 0)
    assert np.bincount(held.target.values[rows]).tolist() == [40, 10]
    assert len(set(rows)) < rows.size


def test_folds_leave_every_row_out_once():
    held = classes(41, 12)
    left = np.concatenate([np.setdiff1d(np.arange(53), plan(held, 5, "folds", 0.8, 0).rows(held, i)) for i in range(5)])
    assert sorted(left.tolist()) == list(range(53))


def test_a_resample_depends_on_its_number_alone():
    held = classes(40, 10)
    few, many = Plan(5, "subsample", 0.8, 7), Plan(50, "subsample", 0.8, 7)
    np.testing.assert_array_equal(few.rows(held, 3), many.rows(held, 3))
    assert few.seeds(3) == many.seeds(3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resamples": 2}, "resamples must be an integer of at least 3"),
        ({"scheme": "jackknife"}, "scheme must be one of"),
        ({"fraction": 1.0}, "fraction must be a number between 0 and 1"),
        ({"scheme": "folds", "resamples": 61}, "at most the number of rows"),
        ({"fraction": 0.9999}, "must leave rows out"),
        ({"measure": "fuzzy"}, "measure must be one of"),
        ({"top": 0}, "top must be an integer of at least 1"),
        ({"trees": 0}, "trees must be an integer of at least 1"),
        ({"confidence": 2}, "confidence must be a number between 0 and 1"),
        ({"random_state": -1}, "random_state"),
        ({"permutations": -1}, "permutations must be an integer of at least 0"),
        ({"ks": [0]}, "ks must lie"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(fj.InputError, match=message):
        study(*table(), ["relief"], **{**QUICK, **options})


def test_copies_of_rows_raise_the_scores_of_useless_features():
    """The reason why subsamples are the default: with a bootstrap noise looks like signal."""
    random = np.random.default_rng(0)
    x, y = random.normal(size=(200, 30)), random.integers(0, 2, 200)
    held = {
        scheme: study(x, y, ["relief", "mutual_information"], scheme=scheme, **QUICK).resampled
        for scheme in ("subsample", "bootstrap")
    }
    for method in ("relief", "mutual_information"):
        own = {scheme: np.maximum(found[method].matrix(), 0).mean() for scheme, found in held.items()}
        assert own["bootstrap"] > 3 * own["subsample"], method


# What a study holds


def test_statistics_are_those_of_the_library(found):
    pairs = list(combinations(found.methods, 2))
    assert list(found.curves) == list(found.comparisons) == pairs
    for a, b in pairs:
        own, other = found.rankings[a], found.rankings[b]
        assert found.matrix[a, b] == pytest.approx(fj.auc(own, other, ks="exp", negative="clip"), abs=1e-12)
        chance = fj.chance(own, other, ks="exp", permutations=19, negative="clip")
        assert found.corrected[a, b] == pytest.approx(chance.corrected_auc, abs=1e-12)
        assert found.p_value(a, b) == found.p_value(b, a) == chance.p_value
        direct = fj.stats.compare_stability(
            found.resampled[a], found.resampled[b], corrected=True, paired=True, negative="clip"
        )
        assert found.comparisons[a, b].p_value == direct.p_value
    for name in found.methods:
        assert found.stability[name].value == fj.stability(found.resampled[name]).value
        assert found.stability_corrected[name].value == fj.stability(found.resampled[name], corrected=True).value
    assert np.isnan(np.diag(found.p_values)).all()


def test_resamples_are_ranked_on_their_own_rows(found):
    x, y = table()
    chosen = Plan(4, "subsample", 0.8, 0)
    rows = chosen.rows(prepare(x, y), 2)
    np.testing.assert_array_equal(found.resampled["relief"].scores[2], relief(x[rows], y[rows]))
    seed = chosen.seeds(2)[1]
    np.testing.assert_array_equal(
        found.resampled["genie3"].scores[2], genie3(x[rows], y[rows], trees=10, random_state=seed)
    )


def test_top_features_from_the_definition(found):
    ranks = {name: plain_ranks(found.rankings[name].scores.tolist()) for name in found.methods}
    means = [sum(own[at] for own in ranks.values()) / 4 for at in range(6)]
    order = sorted(range(6), key=lambda at: means[at])
    assert [own.feature for own in found.top] == ["abcdef"[at] for at in order]
    for own, at in zip(found.top, order, strict=True):
        held = [ranks[name][at] for name in found.methods]
        assert list(own.ranks.values()) == held
        assert own.agreement == pytest.approx(1 - (max(held) - min(held)) / 5)
    assert {own.feature for own in found.top[:2]} == {"a", "b"}


def test_the_top_takes_in_equal_scores_together_or_not_at_all():
    x, y = table(n=40, m=5)

    def tied(*_):
        return np.array([5.0, 1, 1, 1, 0])

    found = study(x, y, {"tied": tied}, top=2, **QUICK)
    assert [(own.feature, own.in_top, own.frequency) for own in found.top] == [("0", 1, 1.0), ("1", 0, 0.0)]
    assert found.top[1].mean_rank == 3.0
    assert found.comparisons == {}


def test_a_measure_without_a_formula_for_chance_is_not_corrected():
    found = study(*table(), ["relief", "mutual_information"], measure="correlation", **QUICK)
    assert found.corrected is None
    assert found.stability_corrected is None
    assert "matrix_corrected.csv" not in study_report.tables(found)
    assert "How stable" in found.to_markdown()


def test_without_permutations_there_are_no_p_values():
    found = study(*table(), ["relief", "mutual_information"], **{**QUICK, "permutations": 0})
    assert found.p_values is None
    assert found.p_value("relief", "mutual_information") is None
    assert "p_values.csv" not in study_report.tables(found)


def same(first, second):
    """Raise unless two studies agree to the bit."""
    np.testing.assert_array_equal(first.matrix.values, second.matrix.values)
    np.testing.assert_array_equal(first.p_values, second.p_values)
    for name in first.methods:
        np.testing.assert_array_equal(first.resampled[name].matrix(), second.resampled[name].matrix())
        assert first.stability[name].value == second.stability[name].value
    assert first.to_markdown() == second.to_markdown()


@pytest.fixture(scope="module")
def other_process():
    """Return an executor of one process, which begins with nothing."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def test_threads_and_processes_do_not_change_the_result(found, other_process):
    options = {"features": list("abcdef"), **QUICK}
    same(found, study(*table(), n_jobs=1, **options))
    same(found, study(*table(), executor=other_process, **options))


def test_a_study_prepares_its_table_once(monkeypatch):
    calls = []
    convert = features_module._table
    monkeypatch.setattr(features_module, "_table", lambda *args, **kw: calls.append(1) or convert(*args, **kw))
    study(*table(), trees=5, resamples=5, permutations=0, n_jobs=1)
    assert len(calls) == 1
    rank(*table(), trees=5)
    assert len(calls) == 2
    prepared = prepare(*table(), names=list("abcdef"))
    assert len(calls) == 3
    by_hand = rank(*table(), features=list("abcdef"), trees=5).matrix()
    np.testing.assert_array_equal(rank(prepared, trees=5).matrix(), by_hand)
    same(study(prepared, **QUICK), study(*table(), features=list("abcdef"), **QUICK))
    assert len(calls) == 5


def test_a_prepared_table_holds_everything():
    prepared = prepare(*table(), inspect=True)
    assert prepare(prepared) is prepared
    for wrong in ({"y": table()[1]}, {"categorical": [0]}, {"names": list("abcdef")}):
        with pytest.raises(fj.InputError, match="X is a prepared table"):
            prepare(prepared, **wrong)
    with pytest.raises(fj.InputError, match=r"one target per row\. Got None"):
        rank(table()[0])


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_random_states_of_any_kind(kind):
    x, y = table()
    x = np.round(x)  # equal values are separated by noise, which the seed decides

    def scores(state):
        return rank(x, y, ["mutual_information", "genie3"], trees=5, random_state=state).matrix()

    def drawn(state):
        return study(x, y, ["mutual_information"], random_state=state, **QUICK).resampled["mutual_information"].matrix()

    for compute in (scores, drawn):
        state = kind(5)
        first, second = compute(state), compute(state)
        assert (first != second).any()  # the state advances
        again = kind(5)
        np.testing.assert_array_equal(compute(again), first)
        np.testing.assert_array_equal(compute(again), second)
        np.testing.assert_array_equal(compute(np.int64(3)), compute(3))
        assert (compute(None) != compute(None)).any()


def test_functions_get_a_seed_that_they_know():
    from sklearn.feature_selection import mutual_info_classif

    x, y = table()
    expected = rank(x, y, {"mi": mutual_info_classif}, random_state=as_seed(np.random.default_rng(1)))
    direct = as_ranker(mutual_info_classif)(x, y, np.random.default_rng(1))
    np.testing.assert_array_equal(expected.scores[0], direct)


def test_rankers_travel_to_other_processes(other_process):
    from sklearn.feature_selection import f_classif
    from sklearn.linear_model import LogisticRegression

    x, y = table()
    rankers = {
        "near": as_ranker("relief", neighbours=3),
        "ours": as_ranker(relief),
        "f": as_ranker(f_classif),
        "logistic": as_ranker(LogisticRegression()),
    }
    for ranker in rankers.values():
        back = pickle.loads(pickle.dumps(ranker))
        np.testing.assert_array_equal(back(x, y, 3), ranker(x, y, 3))
    here = study(x, y, rankers, **QUICK)
    np.testing.assert_array_equal(here.rankings.scores[0], relief(x, y, neighbours=3))
    same(here, study(x, y, rankers, executor=other_process, **QUICK))


def test_options_of_a_ranker_win():
    x, y = table()
    both = rank(x, y, {"few": as_ranker("genie3", trees=3), "many": "genie3"}, trees=9)
    np.testing.assert_array_equal(both.scores[0], genie3(x, y, trees=3))
    np.testing.assert_array_equal(both.scores[1], genie3(x, y, trees=9))
    assert as_ranker(as_ranker("genie3", trees=3), n_jobs=1).options == {"trees": 3, "n_jobs": 1}


def test_infinite_scores_are_refused_wherever_they_come_up():
    x, y = table()

    def endless(x, _):
        return np.where(np.arange(x.shape[1]) == 2, np.inf if len(x) < 60 else 1.0, 0.5)

    with pytest.raises(
        fj.InputError, match="endless must give every feature a finite score; it gives inf for column 2"
    ):
        study(x, y, [endless], **QUICK)


def test_a_resample_without_two_rows_of_a_class_is_refused():
    x, y = table(n=8)[0], list("aabbccdd")
    with pytest.raises(fj.InputError, match="a class with at least two rows"):
        study(x, y, ["relief"], **{**QUICK, "fraction": 0.5})


# Rankings that do not tell features apart


def dead(x, _):
    return np.zeros(x.shape[1])


def dead_too(x, _):
    return np.full(x.shape[1], 3.0)


def negative(x, _):
    return -1.0 - np.arange(x.shape[1])


@pytest.mark.parametrize("measure", ["fuji", "jaccard", "kendall"])
def test_flat_rankings_are_undefined_and_not_in_agreement(measure, tmp_path):
    found = study(*table(), ["relief", "mutual_information", dead, dead_too], measure=measure, **QUICK)
    assert found.flat == ("dead", "dead_too")
    live = found.methods[:2]
    assert list(found.curves) == list(found.comparisons) == [live]
    for matrix in [found.matrix, *([found.corrected] if found.corrected else [])]:
        assert np.isfinite(matrix.values[:2, :2]).all()
        assert np.isnan(matrix.values[2:]).all()
        assert np.isnan(matrix.values[:, 2:]).all()
    assert np.isnan(found.p_value("dead", "dead_too"))
    for kind in (found.stability, found.stability_corrected or {}):
        assert all(np.isnan(kind[name].value) == (name not in live) for name in kind)
    for name in ("dead", "dead_too"):
        assert f"{name} gives every feature the same score: it ranks nothing" in " ".join(found.notes)
        assert f"{name} ranks nothing in 4 of 4 resamples: its stability is undefined" in found.notes
    text = found.to_markdown()
    assert "| relief and dead (flat) | undefined |" in text
    assert "| dead (flat) and dead_too (flat) | undefined |" in text
    assert "| dead (flat in 4 of 4) | undefined |" in text
    found.save(tmp_path)
    back = pd.read_csv(tmp_path / "matrix.csv", index_col="method")
    assert back["dead"].isna().all()
    stabilities = pd.read_csv(tmp_path / "stability.csv")
    assert stabilities["stability"][stabilities["method"].str.startswith("dead")].isna().all()
    assert set(pd.read_csv(tmp_path / "curves.csv")["second"]) == {"mutual_information"}


def test_ranks_and_tiers_of_each_method_over_the_resamples():
    """The first two features matter, the first more: with 20 resamples they are tiers of their own."""
    x, y = table(300)
    found = study(x, y, ["relief", "mutual_information"], features=list("abcdef"), resamples=20, permutations=0, top=3)
    for name, sample in found.resampled.items():
        ranks, expected = found.ranks[name], fj.stability(sample, negative="clip").ranks(k=3)
        assert (ranks.items, ranks.k, ranks.m) == (expected.items, 3, 20)
        np.testing.assert_array_equal(ranks.tier, expected.tier)
        np.testing.assert_array_equal(ranks.low, expected.low)
        assert ranks.items[:2] == ("a", "b")
        assert ranks.tier[:3].tolist() == [1, 2, 3]
    header, rows = study_report.tables(found)["ranks.csv"]
    assert header == ["method", "feature", "tier", "mean_rank", "low", "high", "best", "worst", "in_top_3"]
    assert [row[:4] for row in rows[:2]] == [["relief", "a", 1, 1.0], ["relief", "b", 2, 2.0]]
    assert len(rows) == 12
    assert "| relief | 2 | b | 2.0 |" in found.to_markdown()
    (line, _) = study_report.tiers(found)
    assert line.startswith("relief: tier 1 a; tier 2 b; tier 3 ")
    assert line.endswith(f"and 3 more, {found.ranks['relief'].tier[-1]} tiers in all")


def test_flat_methods_have_no_part_in_the_top_features():
    with_dead = study(*table(), ["relief", "mutual_information", dead], **QUICK)
    without = study(*table(), ["relief", "mutual_information"], **QUICK)
    assert with_dead.top == without.top
    assert all(list(own.ranks) == ["relief", "mutual_information"] for own in with_dead.top)
    assert "2 of 2" in with_dead.to_markdown()
    assert list(with_dead.ranks) == ["relief", "mutual_information"]
    nothing = study(*table(), [dead, dead_too], **QUICK)
    assert nothing.top == ()
    assert nothing.ranks == {}
    assert "How certain" not in nothing.to_markdown()
    assert "ranks" not in study_files.figures(nothing)
    assert nothing.curves == nothing.comparisons == {}
    assert "1.000" not in nothing.to_markdown()


def test_scores_that_are_all_negative_say_nothing_to_fuji():
    """Two such rankings would have a FUJI of 1, also corrected for chance."""
    both = {"a": negative, "b": lambda x, _: negative(x, _)[::-1]}
    found = study(*table(), both, **QUICK)
    assert found.flat == ("a", "b")
    assert "a scores no feature above 0: it ranks nothing, so its agreement and its ranks are undefined" in found.notes
    assert study(*table(), both, measure="jaccard", **QUICK).flat == ()


def test_a_few_flat_resamples_are_marked():
    x, y = table()
    lucky = x[Plan(4, "subsample", 0.8, 0).rows(prepare(x, y), 1)][:, 0].sum()

    def moody(x, _):
        return np.zeros(6) if x[:, 0].sum() == lucky else np.arange(6.0) + (len(x) == 60)

    found = study(x, y, {"moody": moody}, **QUICK)
    assert found.flat == ()
    assert found.flat_resamples == {"moody": 1}
    assert found.ranks["moody"].m == 3
    assert np.isfinite(found.stability["moody"].value)
    assert "moody ranks nothing in 1 of 4 resamples: pairs of these raise its stability" in found.notes
    assert "| moody (flat in 1 of 4) | 0." in found.to_markdown()


# What else could mislead


def notes_of(*methods, **options):
    x, y = table()
    return " ".join(study(x, y, list(methods), **{**QUICK, "top": 3, "permutations": 99, **options}).notes)


def test_notes_say_what_could_mislead_and_nothing_else():
    assert notes_of("relief", "mutual_information") == ""
    assert "copies of rows in a bootstrap sample" in notes_of("relief", scheme="bootstrap")
    assert "scheme='subsample' avoids it" in notes_of("relief", scheme="bootstrap")
    assert "from the same forest" in notes_of("genie3", "random_forest")
    assert "from the same forest" not in notes_of("genie3", as_ranker("random_forest", random_state=9))
    assert "all 6 features are in the top 6" in notes_of("relief", top=6)
    assert "with 9 permutations no p-value is below 0.1" in notes_of("relief", permutations=9)
    assert "with 19 permutations no p-value is below 0.05" in notes_of("relief", permutations=19)
    assert notes_of("relief", permutations=20) == notes_of("relief", permutations=0) == ""

    def spread(x, _):
        return x.std(axis=0)

    x, y = table()
    x[:, 5] = np.arange(60) % 3
    found = study(x, y, ["relief", spread], categorical=[5], **QUICK)
    assert "spread is given the categories of column 5 as codes 0, 1, ..., in sorted order" in found.notes


@pytest.mark.parametrize(
    ("ks", "name", "scale"),
    [
        ("exp", "top-weighted AUC", "log"),
        ("all", "AUC", "linear"),
        ("squared", "AUC over squared k", "linear"),
        ([2, 3], "AUC over 2 chosen k", "linear"),
        (2, "value at k = 2", "linear"),
    ],
)
def test_results_name_their_area_and_draw_it(ks, name, scale):
    from matplotlib.figure import Figure

    found = study(*table(), ["relief", "mutual_information"], ks=ks, **QUICK)
    assert found.settings["area"] == name
    assert f"FUJI, {name}, k = " in found.to_markdown()
    assert "| methods | value | by chance |" in found.to_markdown()
    figure = Figure()
    study_files.figures(found)["curves"][1](figure)
    assert [ax.get_xscale() for ax in figure.axes] == [scale]
    assert figure.get_suptitle() == f"FUJI over k ({name})"


# Stopping and going on


def test_finished_resamples_are_used_again(tmp_path, found):
    options = {"features": list("abcdef"), **QUICK, "checkpoint": tmp_path}
    same(found, study(*table(), **options))
    files = sorted(tmp_path.iterdir())
    assert len(files) == 4
    times = [path.stat().st_mtime_ns for path in files]
    files[1].write_bytes(files[1].read_bytes()[:50])  # damaged
    same(found, study(*table(), **options))
    now = [path.stat().st_mtime_ns for path in files]
    assert [a == b for a, b in zip(times, now, strict=True)] == [True, False, True, True]
    more = study(*table(), **{**options, "resamples": 6})
    assert [path.stat().st_mtime_ns for path in files] == now
    np.testing.assert_array_equal(more.resampled["relief"].scores[3], found.resampled["relief"].scores[3])


@pytest.mark.parametrize(
    "change",
    [{"trees": 11}, {"random_state": 1}, {"fraction": 0.7}, {"scheme": "folds"}, {"methods": ["relief"]}],
    ids=str,
)
def test_resamples_of_other_options_are_not_used(tmp_path, change):
    options = {"methods": ["relief", "genie3"], **QUICK, "checkpoint": tmp_path}
    study(*table(), **options)
    study(*table(), **{**options, **change})
    assert len(list(tmp_path.iterdir())) == 8


def test_resamples_of_other_data_are_not_used(tmp_path):
    x, y = table()
    study(x, y, ["relief"], **QUICK, checkpoint=tmp_path)
    x[5, 3] += 1e-9
    study(x, y, ["relief"], **QUICK, checkpoint=tmp_path)
    assert len(list(tmp_path.iterdir())) == 8


def test_methods_are_known_by_code_and_parameters():
    from sklearn.linear_model import LogisticRegression

    def scaled(factor):
        return lambda x, _: x.mean(axis=0) * factor

    assert describe(scaled(2)) == describe(scaled(2)) != describe(scaled(3))
    assert describe(lambda x, _: x[0]) != describe(lambda x, _: x[1])
    assert describe(lambda x, _, i=0: x[i]) != describe(lambda x, _, i=1: x[i])
    assert describe(as_ranker("relief")) != describe(as_ranker("relief", neighbours=3))
    assert describe(partial(relief, neighbours=3)) != describe(partial(relief, neighbours=4))
    assert describe(LogisticRegression()) == describe(LogisticRegression()) != describe(LogisticRegression(C=2.0))


SLOW_RUN = """
import sys, time
import numpy as np
from fujiscore.features.study import study
def slow(X, y):
    time.sleep(0.15)
    return X[y == 1].mean(axis=0) ** 2
random = np.random.default_rng(0)
X = random.normal(size=(60, 6))
found = study(X, X[:, 0] > 0, ["relief", slow], resamples=6, permutations=9, n_jobs=1, checkpoint=sys.argv[1])
print(found.to_markdown())
"""


def test_a_killed_run_goes_on_where_it_was(tmp_path, monkeypatch, capsys):
    script = tmp_path / "run.py"
    script.write_text(SLOW_RUN)
    folder, whole = tmp_path / "kept", tmp_path / "whole"
    running = subprocess.Popen([sys.executable, str(script), str(folder)], stdout=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while len(list(folder.glob("resample-*"))) < 2:
        assert running.poll() is None, "it ended before it could be stopped"
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(running.pid, signal.SIGKILL)
    running.communicate()
    finished = {path: path.stat().st_mtime_ns for path in folder.glob("resample-*")}
    assert 2 <= len(finished) < 6
    again = subprocess.run([sys.executable, str(script), str(folder)], capture_output=True, text=True, check=True)
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    assert len(list(folder.glob("resample-*"))) == 6
    monkeypatch.setattr(sys, "argv", [str(script), str(whole)])
    runpy.run_path(str(script), run_name="__main__")
    assert again.stdout == capsys.readouterr().out


def test_resume_must_be_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(fj.InputError, match=r"checkpoint=.* must name a folder; it is a file"):
        study(*table(), ["relief"], **QUICK, checkpoint=tmp_path / "file")


# Files


def test_everything_is_saved_and_can_be_read(tmp_path, found):
    paths = found.save(tmp_path / "new" / "folder")
    names = sorted(path.name for path in (tmp_path / "new" / "folder").iterdir())
    assert sorted([*(path.name for path in paths), "manifest.json"]) == names
    assert {path.name for path in paths} >= {"summary.md", "curves.png", "stability.png", "ranks.png", "ranks.csv"}
    for path in paths:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG")
    folder = paths[0].parent
    back = pd.read_csv(folder / "rankings.csv", index_col="feature")
    for name in found.methods:
        np.testing.assert_array_equal(back[name], found.rankings[name])
    matrix = pd.read_csv(folder / "matrix_corrected.csv", index_col="method")
    np.testing.assert_array_equal(matrix, found.corrected.values)
    curves = pd.read_csv(folder / "curves.csv")
    assert len(curves) == 6 * found.matrix.ks.size
    with (folder / "stability_comparisons.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["holm_p_value"]) for row in rows] == list(found.adjusted_p_values.values())
    assert (folder / "summary.md").read_text() == found.to_markdown() == str(found)


def test_pictures_can_be_left_out(tmp_path, found):
    assert not [path for path in found.save(tmp_path, pictures=False) if path.suffix == ".png"]


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_vector_figures_have_text_and_are_the_same_each_time(tmp_path, found, kind, start):
    first = found.save(tmp_path / "first", picture_format=kind)
    second = found.save(tmp_path / "second", picture_format=kind) if kind == "svg" else first  # PDF: see test_figure.py
    figures = [path for path in first if path.suffix == f".{kind}"]
    assert {path.stem for path in figures} == {"curves", "matrix", "matrix_corrected", "ranks", "stability"}
    assert not [path for path in first if path.suffix == ".png"]
    for path in figures:
        content = path.read_bytes()
        assert content.startswith(start)
        assert content == (second[0].parent / path.name).read_bytes()
        if kind == "svg":
            assert b"k, number of top features</text>" in content or path.stem != "curves"
            assert b"<text" in content
        else:
            assert b"/CreationDate" not in content
            assert b"/FontFile2" in content
            assert b"/Type3" not in content, "letters as drawings cannot be edited"
    assert len(first) == len(second)


def test_other_formats_of_figures_are_refused(tmp_path, found):
    with pytest.raises(fj.InputError, match="picture_format"):
        found.save(tmp_path / "new", picture_format="gif")
    assert not (tmp_path / "new").exists()


def test_curves_of_many_methods_have_panels_of_their_own(monkeypatch, found):
    from matplotlib.figure import Figure

    figure = Figure(figsize=study_files.figures(found)["curves"][0], layout="constrained")
    study_files.figures(found)["curves"][1](figure)
    pairs = study_report.most_similar(found)
    assert len(figure.axes) == len(pairs) == 6
    for ax, pair in zip(figure.axes, pairs, strict=True):
        curve = found.curves[pair]["fuji"]
        assert ax.get_title() == f"{pair[0]}\n{pair[1]}\n{curve.value:.3f}"
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), curve.values)
        np.testing.assert_array_equal(ax.lines[1].get_ydata(), found.curves[pair].chance["fuji"].expected)
        assert ax.lines[1].get_color() == "#7F7F7F"
    monkeypatch.setattr(study_charts, "MOST_PAIRS", 4)
    some = Figure(figsize=(8, 4), layout="constrained")
    study_files.figures(found)["curves"][1](some)
    assert len(some.axes) == 4
    assert some.get_suptitle().endswith("the 2 most and the 2 least similar of 6 pairs")
    assert [ax.get_title() for ax in some.axes] == [figure.axes[i].get_title() for i in (0, 1, 4, 5)]


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path, found):
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(fj.InputError, match="is a file"):
        found.save(tmp_path / "taken")
    assert (tmp_path / "taken").read_text() == "mine"


def test_an_unfinished_file_leaves_the_old_one(tmp_path, found, monkeypatch):
    found.save(tmp_path, pictures=False)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(path, _content):
        with path.open("wb") as file:
            file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        found.save(tmp_path, pictures=False)
    assert {path.name: path.read_bytes() for path in Path(tmp_path).iterdir()} == before


def test_the_summary_answers_the_three_questions(found):
    text = found.to_markdown()
    for heading in ("Do the methods agree?", "How stable is each method?", "Which features matter?"):
        assert heading in text
    assert "| a | " in text
    assert "genie3 and random_forest" in text


def test_threads_leave_the_callers_warning_filters_alone():
    """Forests on several threads empty each other's filters; without care this fails in most runs."""
    x, y = table()
    before = list(warnings.filters)
    for seed in range(2):
        study(x, y, ["genie3"], trees=30, resamples=12, permutations=0, n_jobs=4, random_state=seed)
        rank(x, y, ["genie3"], trees=30, n_jobs=4, random_state=seed)
    assert warnings.filters == before


def test_the_summary_says_how_much_resamples_share():
    rows = {}
    for scheme in ("subsample", "bootstrap", "folds"):
        found = study(*table(), ["relief"], scheme=scheme, **{**QUICK, "fraction": 0.5, "resamples": 5})
        rows[scheme] = found.to_markdown().split("about ")[1].split("%")[0]
        held = classes(1500, 1500)
        first, second = (Plan(5, scheme, 0.5, 0).rows(held, i) for i in (0, 1))
        assert np.isin(first, second).mean() == pytest.approx(int(rows[scheme]) / 100, abs=0.04)
    assert rows == {"subsample": "50", "bootstrap": "63", "folds": "75"}


def test_a_finished_resample_that_is_not_as_written_is_computed_again(tmp_path):
    options = {"methods": ["relief"], **QUICK, "checkpoint": tmp_path}
    whole = study(*table(), **options)
    first, second, third, fourth = sorted(tmp_path.iterdir())
    first.write_bytes(second.read_bytes())  # sound, but another resample's
    content = bytearray(third.read_bytes())
    content[-3] ^= 1
    third.write_bytes(content)
    fourth.write_bytes(fourth.read_bytes() + b"\0")
    again = study(*table(), **options)
    assert (whole.resumed, again.resumed) == (0, 1)
    assert str(again) == str(whole)
    assert study(*table(), **options).resumed == 4


def test_a_note_is_told_once():
    x, y = table()
    x[:, 2] = 0.0
    notes = study(x, y, ["relief", "mutual_information"], **QUICK).notes
    assert len(set(notes)) == len(notes) > 0
