"""Is higher better? Names of columns, rank columns and the order of rows, from every input to the result."""

from __future__ import annotations

import itertools
import json
import random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import fujiscore as fj
from fujiscore.cli import fuji
from fujiscore.inputs.direction import NEARLY_ALL, ROW_STEPS, by_rank, by_rows, kind_of

P_VALUES = [
    *("pvals", "pvals_adj"),  # scanpy
    *("p_val", "p_val_adj"),  # Seurat
    *("P.Value", "adj.P.Val"),  # limma
    *("pvalue", "padj", "svalue"),  # DESeq2
    *("PValue", "FDR"),  # edgeR
    *("NOM.p.val", "FDR.q.val", "FWER.p.val", "NOM p-val", "FDR q-val", "FWER p-val"),  # GSEA
    *("P>|t|", "P>|z|"),  # statsmodels
    *("Pr(>|t|)", "Pr(>F)", "Pr(>Chisq)", "Pr...t..", "p.value", "p.adjust", "q.value"),  # R
    *("pvalue_adjusted", "qvalue", "q_value", "pval", "P-value", "Adjusted P-value", "p-unc", "p-corr", "p", "q"),
    *("pval_nominal", "fdr_bh", "lfdr", "adjp", "adjPval", "BH_padj", "p_fdr", "padj_1", "P", "P value"),
]
DISTANCES = [
    *("distance", "Distance", "dist", "distances", "l2", "L2", "l1", "cosine_distance", "euclidean", "l2_distance"),
    *("distance_2", "hamming", "edit_distance", "distance_a", "distance_km", "DistanceKm", "distance (m)", "dist [nm]"),
]
ERRORS = [
    *("error", "loss", "val_loss", "log_loss", "logloss", "wer", "WER", "test_wer", "cer", "rmse", "RMSE", "mae"),
    *("mse", "perplexity", "cross_entropy", "nll", "valid_error", "AIC", "error_rate", "Word Error Rate", "ErrorRate"),
    *("loss_v2", "loss_b", "loss_mean", "WER (%)", "Test loss (lower is better)"),
]
NOTHING = [
    *("score", "scores", "value", "weight", "importance", "alpha", "pearson", "precision", "mean", "p1", "topk", "p10"),
    *("rank_score", "pvalue_neglog10", "-log10(p)", "-log10 pvalue", "neglog10_padj", "log10p", "logp", "mlog10p"),
    *("1-p", "1 - pvalue", "one_minus_pvalue", "interval", "approval", "probability", "P@10", "q1", "quality", "qps"),
    *("PageRank", "pagerank", "page_rank", "pct_rank", "reciprocal_rank", "ranked", "rankings", "mean_rank_score"),
    *("%IncMSE", "IncNodePurity", "dropout_loss", "mean_dropout_loss", "neg_mean_squared_error", "neg_log_loss"),
    *("error_reduction", "loss_increase", "neg_distance", "-distance", "inverse_distance", "distance_score"),
    *("adjusted_r2", "adj", "values", "ndcg", "map", "gain", "logFC", "log2FoldChange", "baseMean", "stat", "t", "F"),
    *(
        "shap_value",
        "pr_auc",
        "PR_AUC",
        "recall",
        "terror",
        "glossary",
        "district",
        "padding",
        "population",
        "spearman",
    ),
]


@pytest.mark.parametrize(
    ("kind", "names"),
    [("p-values", P_VALUES), ("distances", DISTANCES), ("errors", ERRORS), (None, NOTHING), ("E-values", ["e_value"])],
)
def test_names(kind, names):
    assert {name: kind_of(name) for name in names} == dict.fromkeys(names, kind)


@pytest.mark.parametrize("name", ["rank", "Rank", "mean_rank", "avg.rank"])
def test_ranks(name):
    assert kind_of(name) == "ranks"


def noted(notes, *words):
    return [note for note in notes if "where small means good" in note and all(word in note for word in words)]


# Series, frames and files, read as they stand


SCORES = [0.9, 0.5, 0.04, 1e-9]
ITEMS = ["a", "b", "c", "d"]


@pytest.mark.parametrize("name", ["pvals", "pvals_adj", "p_val_adj", "FDR.q.val", "NOM.p.val", "P>|t|", "padj"])
def test_a_series_is_looked_at(name):
    first, second = (pd.Series(SCORES, ITEMS, name=name) for _ in range(2))
    result = fj.compare(first, second)
    assert len(noted(result.notes, f"r ({name!r}) looks like p-values", "transform='neglog10'")) == 1
    assert len(noted(result.notes, f"s ({name!r})")) == 1
    assert noted(fj.compare(pl.Series(name, SCORES), pl.Series("x", SCORES)).notes)
    assert not noted(fj.compare(first, second, transform="neglog10").notes)
    assert not noted(fj.compare(first, second, transform="as_is").notes)
    sided = fj.compare(first, second, transform=("neglog10", "as_is")).notes
    assert not noted(sided)
    assert "r: scores read as -log10" in sided
    assert len(noted(fj.compare(first, second, transform=("neglog10", None)).notes, "s (")) == 1
    assert not noted(fj.compare(first.rename("score"), second.rename(None)).notes)


def test_values_that_cannot_be_what_the_name_says():
    assert not noted(fj.compare(pd.Series([3.0, 2], name="p"), pd.Series([3.0, 2], name="q")).notes)
    assert not noted(fj.compare(pd.Series([-3.0, 2], name="loss"), pd.Series([3.0, 2]), negative="clip").notes)
    assert noted(fj.compare(pd.Series([0.3, np.nan], name="p"), pd.Series([3.0, 2]), nan="drop").notes)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("function", [fj.rankings, fj.pairwise])
def test_frame_columns_are_looked_at(frame, function):
    table = frame({"gene": ITEMS, "pvals": SCORES, "score": SCORES, "WER": SCORES, "cosine_distance": SCORES})
    notes = function(table).notes
    assert len(noted(notes)) == 3
    for name, kind in (("pvals", "p-values"), ("WER", "errors"), ("cosine_distance", "distances")):
        assert len(noted(notes, f"{name} looks like {kind}")) == 1
    mapped = function(table, transform={"pvals": "neglog10", "WER": "flip", "cosine_distance": "as_is"}).notes
    assert not noted(mapped)
    assert "WER: scores read as (greatest - score) / (greatest - least)" in mapped
    assert len(noted(function(table, transform=("neglog10", None, None, "flip")).notes)) == 1


def test_many_columns_share_a_note():
    table = pd.DataFrame({f"cluster{i}.p_val": SCORES for i in range(20)}, ITEMS)
    assert len(noted(fj.rankings(table).notes, "likewise 19 other rankings")) == 1


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_file_columns_are_looked_at(tmp_path, ending):
    table = pd.DataFrame({"gene": ITEMS, "pvals_adj": SCORES})
    path = tmp_path / f"x.{ending}"
    if ending == "csv":
        table.to_csv(path, index=False)
    elif ending == "json":
        path.write_text(json.dumps(table.to_dict("records")))
    else:
        table.to_parquet(path)
    assert noted(fj.read(path).notes, "x ('pvals_adj') looks like p-values")
    assert not noted(fj.read(path, transform="neglog10").notes)
    assert not noted(fj.read(path, transform="as_is").notes)


# Rank columns


def ranked(rows, ranks):
    return "gene,rank,score\n" + "".join(
        f"g{i},{rank},{score}\n" for i, (score, rank) in enumerate(zip(rows, ranks, strict=True))
    )


def test_a_rank_column_that_contradicts_the_scores_is_an_error(tmp_path):
    path = tmp_path / "x.csv"
    scores = [0.5, 0.1, 0.4, 0.2, 0.9, 0.7]
    up = [1 + sum(other < score for other in scores) for score in scores]
    down = [1 + sum(other > score for other in scores) for score in scores]
    path.write_text(ranked(scores, up))
    with pytest.raises(fj.InputError, match=r"its scores rise with column 'rank'.*flip.*reciprocal.*as_is"):
        fj.read(path)
    assert fj.read(path, transform="as_is").scores[0].tolist() == scores
    assert fj.read(path, transform="flip")[0].order.tolist() == np.argsort(scores).tolist()
    path.write_text(ranked(scores, down))
    assert fj.read(path).scores[0].tolist() == scores
    for other in (list(range(1, 7)), [1] * 6, [0.1, 0.2, 0.15, 0.17, 0.9, 0.8], [x / 6 for x in up]):
        path.write_text(ranked(scores, other))  # another order, no order, no ranks
        assert fj.read(path).scores[0].tolist() == scores
    path.write_text(ranked(scores[:3], [3, 1, 2]))  # too few rows to tell
    assert len(fj.read(path)) == 1


def test_p_values_with_a_rank_column_name_their_transform(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("gene,rank,padj\n" + "".join(f"g{i},{i},{i / 10}\n" for i in range(1, 9)))
    with pytest.raises(fj.InputError, match="transform='neglog10'; if higher is, transform='as_is'"):
        fj.read(path)


def test_a_file_without_ranks_may_be_sorted_in_any_way(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("gene,score\n" + "".join(f"g{i},{i}\n" for i in range(1, 30)))
    assert fj.read(path).notes == (f"{path}: item column 'gene', score column 'score'",)


# Runs


def found(seed, noise=0.0, queries=30, depth=20, documents=200):
    """Return lists of the nearest documents, the nearest first, with their distances."""
    truth, draw = np.random.default_rng(1), np.random.default_rng(seed)
    lists = {}
    for q in range(queries):
        distances = truth.gamma(3, size=documents) + noise * draw.random(documents)
        nearest = np.argsort(distances)[:depth]
        lists[f"q{q}"] = {f"d{i}": float(distances[i]) for i in nearest}
    return lists


def trec(lists, *, ranks=True):
    return "".join(
        f"{query} Q0 {item} {rank if ranks else 0} {score:.6f} tag\n"
        for query, items in lists.items()
        for rank, (item, score) in enumerate(items.items(), 1)
    )


@pytest.fixture
def distances(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = found(2), found(3, noise=0.4)
    for name, run in zip("ab", runs, strict=True):
        (tmp_path / f"{name}.trec").write_text(trec(run))
    return runs


def jaccard_of_the_nearest(runs, k=10):
    """The truth: the k items of least distance."""
    values = []
    for query, items in runs[0].items():
        first, second = (set(sorted(own, key=own.get)[:k]) for own in (items, runs[1][query]))
        values.append(len(first & second) / len(first | second))
    return values


class TestRunsOfDistances:
    def test_the_command_refuses_and_then_compares_the_nearest(self, distances):
        refused = CliRunner().invoke(fuji, ["runs", "a.trec", "b.trec"])
        assert refused.exit_code == 2
        assert "a.trec must hold scores of which higher is better; its scores rise with column 'rank'" in refused.output
        assert (
            "--transform flip (or --transform reciprocal if none is 0); if higher is, --transform as_is"
            in refused.output
        )
        truth = float(np.mean(jaccard_of_the_nearest(distances)))
        for transform in ("flip", "reciprocal", "flip,reciprocal"):
            arguments = ["runs", "a.trec", "b.trec", "-m", "jaccard", "--transform", transform, "--json"]
            report = CliRunner().invoke(fuji, arguments)
            assert report.exit_code == 0
            assert json.loads(report.output)["measures"]["jaccard"]["mean"] == pytest.approx(truth)
        upside_down = CliRunner().invoke(
            fuji, ["runs", "a.trec", "b.trec", "-m", "jaccard", "--transform", "as_is", "--json"]
        )
        assert json.loads(upside_down.output)["measures"]["jaccard"]["mean"] < truth - 0.2

    @pytest.mark.parametrize("form", ["path", "frame", "ranks", "polars", "mapping", "lists", "parquet"])
    def test_the_library_too_whatever_the_form(self, distances, tmp_path, form):
        frames = [
            pd.DataFrame([(q, item, score) for q, items in run.items() for item, score in items.items()])
            for run in distances
        ]
        for frame in frames:
            frame.columns = ["qid", "docid", "score"]
        if form == "ranks":  # in no order, but with a rank column
            frames = [
                frame.assign(rank=frame.groupby("qid").cumcount() + 1).sample(frac=1, random_state=0)
                for frame in frames
            ]
        if form == "parquet":
            for name, frame in zip("ab", frames, strict=True):
                frame.to_parquet(tmp_path / f"{name}.parquet")
        a, b = {
            "path": ["a.trec", "b.trec"],
            "frame": frames,
            "ranks": frames,
            "polars": [pl.from_pandas(frame) for frame in frames],
            "mapping": distances,
            "lists": [{q: list(items.items()) for q, items in run.items()} for run in distances],
            "parquet": [tmp_path / "a.parquet", tmp_path / "b.parquet"],
        }[form]
        with pytest.raises(fj.InputError, match="must hold scores of which higher is better"):
            fj.compare_runs(a, b)
        result = fj.compare_runs(a, b, measures=["jaccard"], transform="flip")
        by_query = dict(zip(result.queries.tolist(), result.columns["jaccard"].tolist(), strict=True))
        truth = dict(zip(distances[0], jaccard_of_the_nearest(distances), strict=True))
        assert by_query == pytest.approx(truth)
        assert not noted(result.notes)

    def test_a_column_called_distance_is_noted(self, distances):
        rng = random.Random(0)
        frames = []
        for run in distances:
            rows = [(q, item, score) for q, items in run.items() for item, score in rng.sample(list(items.items()), 20)]
            frames.append(pd.DataFrame(rows, columns=["query", "doc", "distance"]))
        notes = fj.compare_runs(*frames).notes
        assert len(noted(notes, "a ('distance') looks like distances", "transform='flip'")) == 1
        assert not noted(fj.compare_runs(*frames, transform="flip").notes)
        assert len(noted(fj.compare_runs(*frames, transform=("flip", None)).notes)) == 1

    def test_a_stream_too(self, distances, tmp_path, monkeypatch):
        monkeypatch.setattr("fujiscore.runs.spans.STREAM", 10)
        for name, run in zip("ab", distances, strict=True):
            rows = [(q, item, score) for q, items in sorted(run.items()) for item, score in items.items()]
            columns = dict(zip(("query", "doc", "score"), zip(*rows, strict=True), strict=True))
            parquet.write_table(
                pa.table({key: list(column) for key, column in columns.items()}), tmp_path / f"{name}.parquet"
            )
        paths = tmp_path / "a.parquet", tmp_path / "b.parquet"
        with pytest.raises(fj.InputError, match="its rows go from the lowest score to the highest in 30 of 30 lists"):
            fj.compare_runs(*paths)
        assert len(fj.compare_runs(*paths, transform="flip")) == 30


class TestLegitimateRuns:
    """No error where a run is what it seems to be."""

    def scores(self):
        return {q: {item: 1 / (1 + d) for item, d in items.items()} for q, items in found(2).items()}

    def test_best_first_and_in_no_order(self):
        best_first = self.scores()
        rng = random.Random(1)
        shuffled = {q: dict(rng.sample(list(items.items()), len(items))) for q, items in best_first.items()}
        for run in (best_first, shuffled):
            assert fj.compare_runs(run, run, measures=["jaccard"]).columns["jaccard"].tolist() == [1.0] * 30

    def test_a_rank_column_outweighs_the_order_of_rows(self, tmp_path):
        lines = trec(self.scores()).splitlines()
        path = tmp_path / "worst_first.trec"
        path.write_text("\n".join(reversed(lines)) + "\n")
        assert len(fj.compare_runs(path, path)) == 30

    def test_ranks_that_say_nothing_leave_it_to_the_rows(self, tmp_path):
        path = tmp_path / "a.trec"
        path.write_text(trec(self.scores(), ranks=False))
        assert len(fj.compare_runs(path, path)) == 30
        path.write_text(trec(found(2), ranks=False))
        with pytest.raises(fj.InputError, match="its rows go from the lowest score to the highest in 30 of 30 lists"):
            fj.compare_runs(path, path)

    def test_positions_are_no_order(self):
        features = np.sort(np.random.default_rng(0).random((40, 12)), axis=1)
        assert len(fj.compare_runs(features, features)) == 40
        assert len(fj.compare_runs(dict(enumerate(features)), dict(enumerate(features)))) == 40

    def test_a_few_rows_are_no_evidence(self):
        few = {"q1": {"x": 1.0, "y": 2.0, "z": 3.0}, "q2": {"x": 1.0, "y": 2.0}}
        assert len(fj.compare_runs(few, few)) == 2

    def test_most_lists_are_a_note(self):
        run = found(2)
        mixed = {
            q: dict(sorted(items.items(), key=lambda pair: pair[1], reverse=i % 4 == 0))
            for i, (q, items) in enumerate(run.items())
        }
        notes = fj.compare_runs(mixed, mixed).notes
        words = "a: its rows go from the lowest score to the highest in 22 of 30 lists; if lower is better"
        assert any(words in note for note in notes)


LISTS = st.lists(st.lists(st.integers(0, 4), max_size=6), max_size=8)


@given(LISTS, st.randoms())
def test_orders_by_definition(lists, rng):
    counted = rising = steps = 0
    for scores in lists:
        ups = sum(b > a for a, b in itertools.pairwise(scores))
        downs = sum(b < a for a, b in itertools.pairwise(scores))
        counted += ups + downs >= 2
        rising += ups >= 2 and not downs
        steps += ups if ups >= 2 and not downs else 0
    start = np.cumsum([0, *map(len, lists)])[:-1] if lists else np.empty(0, np.int64)
    flat = np.array([score for scores in lists for score in scores], np.float64)
    order = by_rows(start, flat)
    assert (order.lists, order.rising, order.steps) == (counted, rising, steps)
    # The same rows in another order, with their ranks.
    rows = [rng.sample(list(enumerate(scores, 1)), len(scores)) for scores in lists]
    ranks = np.array([rank for row in rows for rank, _ in row], np.float64)
    shuffled = np.array([score for row in rows for _, score in row], np.float64)
    order = by_rank(start, shuffled, ranks, "rank")
    assert (order.lists, order.rising, order.steps) == (counted, rising, steps)


def test_the_documented_rule():
    """Nine of ten lists, and ten steps in all."""
    assert (NEARLY_ALL, ROW_STEPS) == (0.9, 10)
    rises, falls = {"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 3.0, "b": 2.0, "c": 1.0}

    def run(up, down):
        return dict(enumerate([rises] * up + [falls] * down))

    for allowed in (run(4, 0), run(17, 3)):
        assert len(fj.compare_runs(allowed, allowed))
    for refused in (run(5, 0), run(18, 2)):
        with pytest.raises(fj.InputError, match="rows go from the lowest"):
            fj.compare_runs(refused, refused)


# Hints


def test_opposite_rankings_get_a_hint():
    scores = np.random.default_rng(0).random(60)
    hints = [note for note in fj.compare(scores, 1 - scores).notes if "far less alike than by chance" in note]
    assert len(hints) == 1
    assert "transform=('flip', None)" in hints[0]
    assert not any("far less" in note for note in fj.compare(scores, 1 - scores, transform=("flip", None)).notes)
    assert not any("far less" in note for note in fj.compare(scores, np.roll(scores, 7)).notes)
    assert not any("far less" in note for note in fj.compare(scores, 1 - scores, ["spearman"]).notes)
    lists = [dict(zip(range(first, first + 30), range(30), strict=True)) for first in (0, 30)]
    assert not any("far less" in note for note in fj.compare(*lists, missing="zero").notes)


def test_sparse_rankings_with_negative_scores_get_no_hint():
    # The sets of s that end at 0 hold all but its negative scores, which are among the positive ones of r.
    r, s = np.zeros(2000), np.zeros(2000)
    r[:60], s[:40], s[40:60] = np.arange(60, 0, -1), np.arange(40, 0, -1), -1
    assert not any("far less" in note for note in fj.compare(r, s, negative="clip").notes)


def test_opposite_rankings_get_a_hint_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, sign in (("a", 1), ("b", -1)):
        rows = "".join(f"g{i},{100 + sign * i}\n" for i in range(60))
        (tmp_path / f"{name}.csv").write_text("gene,score\n" + rows)
    result = CliRunner().invoke(fuji, ["compare", "a.csv", "b.csv"])
    assert "--transform flip,none or --transform none,flip" in " ".join(result.output.split())
    turned = CliRunner().invoke(fuji, ["compare", "a.csv", "b.csv", "--transform", "flip,none", "--json"])
    assert not any("far less" in note for note in json.loads(turned.output)["notes"])


def test_magnitudes_of_log_probabilities_reverse_the_order():
    logs = [-1.0, -2.0, -3.0]
    words = "a: 3 negative scores replaced by magnitudes, which reverses the order, as all scores are negative"
    assert any(note.startswith(words) for note in fj.rankings({"a": logs}, negative="abs").notes)
    assert any(note.startswith(words) for note in fj.rankings({"a": logs}, transform="abs").notes)
    assert "transform='exp'" in fj.rankings({"a": logs}, negative="abs").notes[0]
    run = {"q": dict(zip("xyz", logs, strict=True))}
    assert any(note.startswith(words) for note in fj.compare_runs(run, run, negative="abs").notes)
    assert not any("reverses" in note for note in fj.rankings({"a": [*logs, 1.0]}, negative="abs").notes)
    assert not any("reverses" in note for note in fj.rankings({"a": logs}, transform="exp").notes)
