"""Runs of signed scores: each query equals its comparison alone, items split by sign or ranked by magnitude."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore.cli import fuji
from fujiscore.runs import spans

pa = pytest.importorskip("pyarrow")
from pyarrow import parquet as pq  # noqa: E402

MEASURES = ("fuji", "rbo", "jaccard", "kuncheva", "average_overlap", "rank_agreement", "sign_agreement")
SIGNED = st.sampled_from([-3.0, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 4.0])
POSITIVE = st.sampled_from([0.0, 0.5, 1.0, 2.0])
QUERIES = ("q1", "q2", "q3")


def runs(scores, items):
    one_list = st.dictionaries(st.sampled_from(items), scores, min_size=1)
    return st.fixed_dictionaries(dict.fromkeys(QUERIES, one_list))


anything = runs(SIGNED, ["x", "y", "z", "u", "v", "w"])
positive = runs(POSITIVE, ["x", "y", "z", "u", "v", "w"])


def check(result, a, b, k, **options):
    """Compare each row of a result with the query alone."""
    assert sorted(result.queries) == sorted(a)
    for place, query in enumerate(result.queries.tolist()):
        one, other = a[query], b[query]
        shared = len(one.keys() & other.keys())
        assert [int(result.columns[n][place]) for n in ("n_a", "n_b", "shared")] == [len(one), len(other), shared]
        depth = min(k, len(one), len(other))
        names = [measure.name for measure in result.measures]
        alone = fj.compare(one, other, names, ks=[depth], missing="zero", **options)
        for level in alone.levels():
            np.testing.assert_allclose(
                result.columns[level.measure][place], level.value, rtol=1e-13, err_msg=level.measure
            )
        assert result.columns["k"][place] == depth


def table(run):
    rows = [(query, item, score) for query, ranking in sorted(run.items()) for item, score in ranking.items()]
    return pa.table(dict(zip(("query", "item", "score"), zip(*rows, strict=True), strict=True)))


@pytest.mark.parametrize("negative", ["split", "abs"])
@settings(max_examples=50)
@given(
    a=anything, b=st.one_of(anything, positive), k=st.integers(1, 7), ties=st.sampled_from(["closed", "stable"]),
    zero_tail=st.sampled_from(["include", "exclude"]),
)  # fmt: skip
def test_each_query_equals_its_comparison_alone(negative, a, b, k, ties, zero_tail):
    options = {"negative": negative, "ties": ties, "zero_tail": zero_tail}
    if ties == "stable" and negative == "split":  # needs the same items
        b = {query: {item: b[query].get(item, 0.0) for item in reversed(ranking)} for query, ranking in a.items()}
    check(fj.compare_runs(a, b, measures=MEASURES, k=k, missing="zero", **options), a, b, k, **options)


@settings(max_examples=30)
@given(a=anything, b=anything)
def test_areas_end_with_the_shorter_list(a, b):
    result = fj.compare_runs(a, b, ks="all", missing="zero", negative="split")
    for place, query in enumerate(result.queries.tolist()):
        area = fj.auc(a[query], b[query], ks="all", missing="zero", negative="split")
        assert result.columns["fuji"][place] == pytest.approx(area, rel=1e-12)


@settings(max_examples=30)
@given(a=anything, b=anything)
def test_shared_items_only(a, b):
    both = [{q: {i: s for i, s in x[q].items() if i in y[q]} for q in QUERIES} for x, y in ((a, b), (b, a))]
    result = fj.compare_runs(a, b, k=3, missing="drop", negative="split")
    shared = [query for query in QUERIES if both[0][query]]
    assert np.isnan(result.columns["fuji"][[query not in shared for query in result.queries]]).all()
    for query in shared:
        lists = both[0][query], both[1][query]
        depth = min(3, len(lists[0]))
        zero = all(sum(score != 0 for score in one.values()) < depth for one in lists)
        expected = np.nan if zero else fj.fuji(*lists, depth, negative="split")
        assert result.columns["fuji"][result.queries.tolist().index(query)] == pytest.approx(expected, nan_ok=True)


def signed_example(queries=40, n=8):
    rng = np.random.default_rng(2)
    first = np.round(rng.normal(size=(queries, n)), 1)
    return first, np.round(first + rng.normal(scale=0.6, size=first.shape), 1)


def as_runs(*arrays):
    return [
        {f"q{q:02d}": {f"f{i}": float(x) for i, x in enumerate(row)} for q, row in enumerate(array)} for array in arrays
    ]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_all_forms_give_the_same(tmp_path, monkeypatch, n_jobs):
    arrays = signed_example()
    a, b = as_runs(*arrays)
    options = {"k": 3, "negative": "split", "measures": MEASURES, "n_jobs": n_jobs}
    expected = fj.compare_runs(a, b, **options)
    check(expected, a, b, 3, negative="split")
    for name, run in (("a", a), ("b", b)):
        pq.write_table(table(run), tmp_path / f"{name}.parquet", row_group_size=7)
    forms = {
        "arrays": arrays,
        "frames": (table(a).to_pandas(), table(b).to_pandas()),
        "Parquet": (tmp_path / "a.parquet", tmp_path / "b.parquet"),
    }
    results = {form: fj.compare_runs(*both, **options) for form, both in forms.items()}
    for name, value in {"SPAN": 8, "TILE": 24, "STREAM": 0}.items():
        monkeypatch.setattr(spans, name, value)
    results["stream"] = fj.compare_runs(*forms["Parquet"], **options)
    for form, result in results.items():
        for name, column in expected.columns.items():
            np.testing.assert_array_equal(result.columns[name], column, err_msg=f"{form}, {name}")
        assert sum(note.endswith("negative scores kept apart from positive ones") for note in result.notes) == 2
        assert "negative='split': each item read as two, one for each sign" in result.notes


def test_kept_queries_are_explained_by_sign():
    a = {"q": {"x": 3.0, "y": -2.0, "z": 1.0}, "same": {"x": -1.0, "y": 0.5}}
    b = {"q": {"x": 2.0, "y": 2.5, "z": -1.0}, "same": {"x": -1.0, "y": 0.5}}
    result = fj.compare_runs(a, b, k=2, negative="split")
    assert result.columns["fuji"].tolist() == pytest.approx([1 / 3, 1])
    why, alone = result.explain("q"), fj.explain(a["q"], b["q"], 2, negative="split")
    assert (why.items, why.kind, why.value) == (alone.items, alone.kind, alone.value)
    assert why.items == ["y (+)", "y (-)", "x (+)"]
    assert why.score_r.tolist() == [0, 2, 3]
    assert result.explain("same").items == ["x (-)", "y (+)"]


def test_magnitudes_keep_their_signs_for_measures_of_signs():
    """An array against its own negative: the same features, no sign."""
    array = np.array([[3.0, -2.0, 1.0, 0.5]])
    for options in ({"negative": "abs"}, {"transform": "abs"}):
        result = fj.compare_runs(array, -array, k=2, measures=["pog", "sign_agreement"], **options)
        assert (result.columns["pog"].item(), result.columns["sign_agreement"].item()) == (1, 0)


@pytest.mark.parametrize("negative", ["split", "abs"])
@pytest.mark.parametrize("policy", ["max", "mean", "first"])
def test_duplicates(negative, policy):
    rows = {"item": ["x", "y", "x", "y", "z"], "score": [1.0, 2.0, -4.0, -2.0, 3.0]}
    a, b = pa.table({"query": ["q"] * 5, **rows}), {"x": 2.0, "y": -3.0, "z": 1.0}
    alone = fj.compare(pa.table(rows).to_pandas(), b, MEASURES, ks=[2], negative=negative, duplicates=policy)
    frame = table({"q": b})
    result = fj.compare_runs(a, frame, measures=MEASURES, k=2, negative=negative, duplicates=policy)
    assert [result.columns[name].item() for name in MEASURES] == pytest.approx([alone.auc[n] for n in MEASURES])


def test_integer_items_of_any_size():
    """Items that are 2^63 apart do not become one when each is doubled."""
    ids = [0, 2**62, -(2**62), 2**63 - 1, -(2**63)]
    a = pa.table({"query": [1] * 5, "item": ids, "score": [5.0, -4.0, 3.0, -2.0, 1.0]})
    assert fj.compare_runs(a, a, negative="split", k=3).columns["jaccard"].tolist() == [1]
    b = a.set_column(1, "item", pa.array([0, -(2**62), 2**62, 2**63 - 1, -(2**63)]))
    assert fj.compare_runs(a, b, negative="split", k=2).columns["jaccard"].tolist() == [pytest.approx(1 / 3)]


def test_a_run_of_magnitudes_is_pointed_out():
    a, b = as_runs(*signed_example(4))
    magnitudes = {query: {item: abs(score) for item, score in ranking.items()} for query, ranking in b.items()}
    question = "b has no negative score, the other run has: are its scores magnitudes?"
    assert question in fj.compare_runs(a, magnitudes, negative="split", k=2).notes
    assert question not in fj.compare_runs(a, b, negative="split", k=2).notes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"negative='abs' to rank by magnitude, negative='split' to separate signs"),
        ({"negative": "split", "universe": 99}, "universe cannot be combined with negative='split'"),
        ({"negative": "split", "measures": ["fuji", "kendall"]}, "kendall compares whole lists"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(fj.InputError, match=message):
        fj.compare_runs(*signed_example(4), k=2, **options)


def test_signs_of_missing_items_are_unknown():
    a, b = {"q": {"x": 1.0, "y": -2.0}}, {"q": {"x": 1.0}}
    with pytest.raises(fj.InputError, match=r"lacks 'y'.*no bounds: the signs of missing items are unknown.*'zero'"):
        fj.compare_runs(a, b, negative="split")
    with pytest.raises(fj.InputError, match=r"need one order of all items\. Pass ties='closed' or missing='drop'"):
        fj.compare_runs(a, b, negative="split", missing="zero", ties="stable")
    with pytest.raises(fj.InputError, match="must hold finite scores; 1 of 2 is infinite"):
        fj.compare_runs(a, {"q": {"x": 1.0, "y": -math.inf}}, negative="split")


def test_command(tmp_path):
    a, b = as_runs(*signed_example(12))
    for name, run in (("a", a), ("b", b)):
        lines = [f"{query},{item},{score}" for query, ranking in run.items() for item, score in ranking.items()]
        (tmp_path / f"{name}.csv").write_text("\n".join(["query,item,score", *lines]) + "\n", encoding="utf-8")
    files = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    done = CliRunner().invoke(fuji, ["runs", *files, "-k", "3", "--negative", "split", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["columns"]["fuji"] == pytest.approx(
        fj.compare_runs(a, b, k=3, negative="split").columns["fuji"].tolist()
    )
    done = CliRunner().invoke(fuji, ["runs", *files, "-k", "3"])
    assert done.exit_code == 2
    assert "--negative split" in done.output
