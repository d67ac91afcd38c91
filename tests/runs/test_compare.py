"""Runs: one comparison per query equals the comparison of that query alone, however the tables are stored and read."""

from __future__ import annotations

import gzip
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore.runs import spans

pa = pytest.importorskip("pyarrow")
import pandas as pd  # noqa: E402
import polars as pl  # noqa: E402
from pyarrow import parquet as pq  # noqa: E402

MEASURES = ("fuji", "rbo", "jaccard")
SCORES = st.one_of(st.integers(0, 4).map(float), st.floats(0, 1), st.sampled_from([0.0, 1e-300, 0.1, 0.3]))


def alone(one, other, k, **options):
    """Return each measure of one query, by comparing its two rankings."""
    depth = min(k, len(one), len(other))
    if depth == 0:
        return dict.fromkeys(MEASURES, math.nan)
    result = fj.compare(one, other, MEASURES, ks=[depth], missing="zero", **options)
    return {level.measure: level.value for level in result.levels()}


def check(result, a, b, k=10, **options):
    """Compare each row of a result with the query alone."""
    both = [query for query in a if query in b]
    assert sorted(map(str, result.queries)) == sorted(map(str, both))
    frame = result.to_frame("pandas")
    for place, query in enumerate(result.queries.tolist()):
        one, other = a[query], b[query]
        row = frame.iloc[place]
        assert (row.n_a, row.n_b, row.shared) == (len(one), len(other), len(one.keys() & other.keys()))
        for name, value in alone(one, other, k, **options).items():
            np.testing.assert_allclose(row[name], value, rtol=1e-13, atol=0)
    assert set(result.only_a) == a.keys() - b.keys()
    assert set(result.only_b) == b.keys() - a.keys()


def rows(run):
    return [(query, item, score) for query, ranking in run.items() for item, score in ranking.items()]


def table(run, names=("query", "item", "score"), queries=None, items=None):
    columns = list(zip(*rows(run), strict=True)) or [[], [], []]
    kinds = (queries or pa.string(), items or pa.string(), pa.float64())
    return pa.table({name: pa.array(c, kind) for name, c, kind in zip(names, columns, kinds, strict=True)})


def example(seed=0, queries=40, depth=12, shift=0):
    """Return two runs with lists of all lengths; some queries in one of them only."""
    rng = np.random.default_rng(seed)
    runs = []
    for side in range(2):
        run = {}
        for q in range(side * 2, queries - 3 * (1 - side)):
            items = rng.permutation(20)[: rng.integers(1, depth)]
            run[f"q{q:03d}"] = {
                f"d{i + shift}": float(x) for i, x in zip(items, rng.integers(0, 9, items.size), strict=True)
            }
        runs.append(run)
    return runs


labels = st.sampled_from(["d1", "d2", "D2", "é", "d10", "a b", "1", "01", "x" * 40])
a_run = st.dictionaries(
    st.sampled_from(["q1", "q2", "q10", "ü", "Q1"]), st.dictionaries(labels, SCORES, min_size=1), min_size=1
)


@given(a_run, a_run, st.integers(1, 6))
def test_mappings(a, b, k):
    if not a.keys() & b.keys():
        with pytest.raises(fj.InputError, match="query in common"):
            fj.compare_runs(a, b, k=k)
        return
    check(fj.compare_runs(a, b, k=k), a, b, k)


@given(a_run, a_run, st.randoms())
def test_tables_in_any_order(a, b, random):
    if not a.keys() & b.keys():
        return
    shuffled = []
    for run in (a, b):
        some = rows(run)
        random.shuffle(some)
        shuffled.append(
            pa.table({n: pa.array(c) for n, c in zip(("qid", "doc_id", "sim"), zip(*some, strict=True), strict=True)})
        )
    check(fj.compare_runs(*shuffled, k=4), a, b, 4)


@pytest.mark.parametrize("make", [pa.Table.to_pandas, pl.from_arrow, lambda t: t, lambda t: t.to_reader(3)])
def test_frames(make):
    a, b = example()
    check(fj.compare_runs(make(table(a)), make(table(b))), a, b)


@pytest.mark.parametrize(
    "names",
    [
        ("query", "doc", "score"),
        ("q_id", "docno", "sim"),
        ("query_id", "doc_id", "score"),
        ("topic", "item", "score"),
        ("user", "item_id", "score"),
        ("QID", "DocID", "Score"),
    ],
)
def test_names_of_columns(names):
    a, b = example()
    result = fj.compare_runs(table(a, names), table(b, names))
    check(result, a, b)
    assert any(f"query column {names[0]!r}" in note for note in result.notes)


def write(tmp_path, run, kind, name):
    path = tmp_path / f"{name}.{kind}"
    if kind == "parquet":
        pq.write_table(table(run), path)
    elif kind == "csv":
        path.write_text("query,item,score\n" + "".join(f"{q},{i},{s!r}\n" for q, i, s in rows(run)))
    elif kind == "tsv.gz":
        path.write_bytes(
            gzip.compress(("query\titem\tscore\n" + "".join(f"{q}\t{i}\t{s!r}\n" for q, i, s in rows(run))).encode())
        )
    else:
        path.write_text("".join(f"{q} Q0 {i} 1 {s!r} tag\n" for q, i, s in rows(run)))
    return path


@pytest.mark.parametrize("kind", ["parquet", "csv", "tsv.gz", "trec"])
def test_files(tmp_path, kind):
    a, b = example()
    check(fj.compare_runs(write(tmp_path, a, kind, "a"), write(tmp_path, b, kind, "b")), a, b)


def test_large_text_is_read_by_arrow(tmp_path):
    a, b = example(queries=4000)
    for kind in ("csv", "trec"):
        first, second = write(tmp_path, a, kind, "a"), write(tmp_path, b, kind, "b")
        assert first.stat().st_size > 2 * 10**5
        check_frames(fj.compare_runs(first, second), fj.compare_runs(a, b))


def check_frames(one, other):
    """Require the same rows, whatever their order."""
    one, other = (result.to_frame("pandas").sort_values("query", ignore_index=True) for result in (one, other))
    pd.testing.assert_frame_equal(one, other, check_exact=True, check_dtype=False)


@pytest.fixture
def tiny(monkeypatch):
    """Read as a stream, in parts of a few rows."""
    for name, value in {"SPAN": 8, "TILE": 24, "STREAM": 0}.items():
        monkeypatch.setattr(spans, name, value)
    monkeypatch.setattr(spans.chunks, "__defaults__", (5,))


def write_sorted(path, run, group=7, **options):
    """Write Parquet sorted by query, in row groups of a few rows."""
    pq.write_table(table(dict(sorted(run.items())), **options), path, row_group_size=group)


@pytest.mark.usefixtures("tiny")
@settings(max_examples=60, deadline=None)
@given(a_run, a_run, st.integers(1, 9), st.integers(1, 9))
def test_stream(tmp_path_factory, a, b, group_a, group_b):
    folder = tmp_path_factory.mktemp("stream")
    write_sorted(folder / "a.parquet", a, group_a)
    write_sorted(folder / "b.parquet", b, group_b)
    if not a.keys() & b.keys():
        with pytest.raises(fj.InputError, match="query in common"):
            fj.compare_runs(folder / "a.parquet", folder / "b.parquet")
        return
    check(fj.compare_runs(folder / "a.parquet", folder / "b.parquet", k=4), a, b, 4)


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    "kind", [pa.int32(), pa.int64(), pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_stream_of_types(tmp_path, kind, n_jobs):
    a, b = example(queries=90)
    if pa.types.is_integer(kind):
        a, b = ({int(q[1:]): {int(i[1:]): s for i, s in r.items()} for q, r in run.items()} for run in (a, b))
    for name, run in (("a", a), ("b", b)):
        plain = pa.string() if pa.types.is_dictionary(kind) else kind
        made = table(dict(sorted(run.items())), queries=plain, items=plain)
        made = made.set_column(0, "query", made["query"].cast(kind)).set_column(1, "item", made["item"].cast(kind))
        pq.write_table(made, tmp_path / f"{name}.parquet", row_group_size=11)
    check(fj.compare_runs(tmp_path / "a.parquet", tmp_path / "b.parquet", n_jobs=n_jobs), a, b)


@pytest.mark.usefixtures("tiny")
def test_stream_equals_memory_to_the_bit(tmp_path):
    a, b = example(queries=200)
    write_sorted(tmp_path / "a.parquet", a, 13)
    write_sorted(tmp_path / "b.parquet", b, 29)
    streamed = fj.compare_runs(tmp_path / "a.parquet", tmp_path / "b.parquet", universe=50)
    check_frames(streamed, fj.compare_runs(a, b, universe=50))
    assert streamed.lists.keys() == fj.compare_runs(table(a), table(b), universe=50).lists.keys()


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("limit", [None, "100KB"])
def test_unsorted_parquet(tmp_path, monkeypatch, limit):
    pytest.importorskip("duckdb")
    a, b = example(queries=60)
    for seed in range(6):
        paths = []
        for name, run in (("a", a), ("b", b)):
            made = table(dict(sorted(run.items())))
            order = np.arange(len(made))
            rng = np.random.default_rng(seed)
            # From two rows exchanged to all rows shuffled.
            places = rng.choice(len(made), 2 if seed < 4 else len(made), replace=False)
            order[np.sort(places)] = order[places]
            pq.write_table(made.take(pa.array(order)), tmp_path / f"{name}.parquet", row_group_size=9)
            paths.append(tmp_path / f"{name}.parquet")
        if limit:
            monkeypatch.setenv("FUJISCORE_MEMORY_LIMIT", limit)
        result = fj.compare_runs(*paths)
        monkeypatch.delenv("FUJISCORE_MEMORY_LIMIT", raising=False)
        check_frames(result, fj.compare_runs(a, b))
        sorted_first = [note for note in result.notes if note.startswith("sorted by query first")]
        assert bool(sorted_first) <= (limit is not None)
    assert bool(sorted_first) == (limit is not None)


@pytest.mark.parametrize("kind", ["csv", "trec", "tsv.gz"])
def test_text_beyond_memory(tmp_path, monkeypatch, kind):
    pytest.importorskip("duckdb")
    a, b = example(queries=5000)
    paths = write(tmp_path, a, kind, "a"), write(tmp_path, b, kind, "b")
    monkeypatch.setattr(spans, "STREAM", 0)
    monkeypatch.setenv("FUJISCORE_MEMORY_LIMIT", "3MB")
    result = fj.compare_runs(*paths)
    monkeypatch.delenv("FUJISCORE_MEMORY_LIMIT")
    check_frames(result, fj.compare_runs(a, b))
    assert any("sorted by query first" in note for note in result.notes)


def test_folder_of_parquet(tmp_path):
    a, b = example(queries=60)
    for name, run in (("a", a), ("b", b)):
        (tmp_path / name).mkdir()
        made = table(dict(sorted(run.items())))
        for part, (start, stop) in enumerate([(0, 50), (50, 51), (51, len(made))]):
            pq.write_table(made.slice(start, stop - start), tmp_path / name / f"part-{part}.parquet")
    check(fj.compare_runs(tmp_path / "a", tmp_path / "b"), a, b)
    (tmp_path / "empty").mkdir()
    with pytest.raises(fj.InputError, match=r"folder of \.parquet files"):
        fj.compare_runs(tmp_path / "a", tmp_path / "empty")


def test_arrays():
    rng = np.random.default_rng(3)
    a, b = rng.random((30, 15)), rng.random((30, 15))
    result = fj.compare_runs(a, b, k=5)
    check(result, *({q: dict(enumerate(map(float, row))) for q, row in enumerate(x)} for x in (a, b)), 5)
    assert result.queries.dtype == np.int64


def test_integers_and_text_are_compared_as_text():
    a = {1: {10: 3.0, 11: 1.0}, 2: {12: 1.0}}
    b = {"1": {"10": 2.0, "11": 1.5}, "2": {"12": 1.0}}
    result = fj.compare_runs(a, b)
    assert result.columns["shared"].tolist() == [2, 1]
    assert sum("compared as text" in note for note in result.notes) == 2
    frames = table(a, queries=pa.int64(), items=pa.int64()), table(b)
    assert fj.compare_runs(*frames).columns["shared"].tolist() == [2, 1]


@pytest.mark.parametrize("stream", [False, True])
def test_duplicates(tmp_path, request, stream):
    if stream:
        request.getfixturevalue("tiny")
    rows_a = [("q1", "x", 1.0), ("q1", "y", 5.0), ("q1", "x", 4.0), ("q2", "x", 1.0)]
    a = pa.table({n: pa.array(c) for n, c in zip(("query", "item", "score"), zip(*rows_a, strict=True), strict=True)})
    b = table({"q1": {"x": 1.0, "y": 2.0}, "q2": {"x": 1.0}})
    pq.write_table(a, tmp_path / "a.parquet")
    pq.write_table(b, tmp_path / "b.parquet")
    paths = tmp_path / "a.parquet", tmp_path / "b.parquet"
    with pytest.raises(
        fj.InputError, match=r"a.parquet must list each item of a query once; query 'q1' repeats 1 item \(x\)"
    ):
        fj.compare_runs(*paths)
    for policy, score in (("max", 4.0), ("mean", 2.5), ("first", 1.0)):
        result = fj.compare_runs(*paths, duplicates=policy, k=1)
        check(
            result, {"q1": {"x": score, "y": 5.0}, "q2": {"x": 1.0}}, {"q1": {"x": 1.0, "y": 2.0}, "q2": {"x": 1.0}}, 1
        )
        assert any("1 duplicate merged" in note for note in result.notes)


def test_nan_and_negative_scores():
    a = {"q1": {"x": 1.0, "y": math.nan}, "q2": {"x": 3.0, "y": -2.0, "z": 1.0}}
    b = {"q1": {"x": 1.0, "y": 2.0}, "q2": {"x": 3.0, "y": -2.0, "z": -1.0}}
    with pytest.raises(
        fj.InputError, match=r"a must hold scores that are numbers; 1 of 5 is NaN .* query 'q1', item 'y'"
    ):
        fj.compare_runs(a, b)
    with pytest.raises(fj.InputError, match=r"a must hold non-negative scores; .* -2 at query 'q2', item 'y'"):
        fj.compare_runs(a, b, nan="zero")
    clipped = fj.compare_runs(a, b, nan="zero", negative="clip", k=2)
    check(clipped, {**a, "q1": {"x": 1.0, "y": 0.0}}, b, 2, negative="clip")
    magnitudes = {q: {i: abs(s) for i, s in r.items()} for q, r in b.items()}
    check(
        fj.compare_runs(a, b, nan="zero", negative="abs", k=2),
        {"q1": {"x": 1.0, "y": 0.0}, "q2": {"x": 3.0, "y": 2.0, "z": 1.0}},
        magnitudes,
        2,
    )
    dropped = fj.compare_runs(a, b, nan="drop", negative="clip", k=2)
    assert dropped.columns["n_a"].tolist() == [1, 3]
    with pytest.raises(fj.InputError, match="finite"):
        fj.compare_runs({"q": {"x": math.inf}}, {"q": {"x": 1.0}})


@pytest.mark.parametrize("transform", ["exp", "rank", "reciprocal", "abs", "neglog10", np.sqrt])
def test_transforms_of_each_query(transform):
    a, b = example(seed=5)
    a, b = ({q: {i: (s + 1) / 20 for i, s in r.items()} for q, r in run.items()} for run in (a, b))
    check(fj.compare_runs(a, b, transform=transform), a, b, transform=transform)


def test_log_probabilities():
    a = {"q": {"x": -1.0, "y": -2.0, "z": -math.inf}}
    b = {"q": {"x": -3.0, "y": -2.5, "z": -9.0}}
    check(fj.compare_runs(a, b, transform="exp", k=2), a, b, 2, transform="exp")


def test_missing():
    a = {"q1": {"x": 3.0, "y": 2.0, "w": 1.0}, "q2": {"x": 1.0}}
    b = {"q1": {"x": 3.0, "z": 2.0, "w": 1.0}, "q2": {"x": 1.0}}
    assert "fuji_high" in fj.compare_runs(a, b).columns
    assert "fuji_high" not in fj.compare_runs(a, b, missing="zero").columns
    with pytest.raises(fj.InputError, match="for query 'q1' one of them lacks 'y'"):
        fj.compare_runs(a, b, missing="raise")
    dropped = fj.compare_runs(a, b, missing="drop")
    check(dropped, *({q: {i: s for i, s in r.items() if i in "xw"} for q, r in run.items()} for run in (a, b)))
    assert any("1 row dropped" in note for note in dropped.notes)


def test_groups():
    a, b = example()
    frame = table(a).append_column("lang", pa.array([f"g{int(q[1:]) % 3}" for q, _, _ in rows(a)]))
    result = fj.compare_runs(frame, table(b), group_by="lang")
    assert result.groups.tolist() == [f"g{int(q[1:]) % 3}" for q in result.queries]
    with pytest.raises(fj.InputError, match="one value per query; query 'q000' has several"):
        fj.compare_runs(frame.append_column("row", pa.array(range(len(frame)))), table(b), group_by="row")
    with pytest.raises(fj.InputError, match="group_by"):
        fj.compare_runs(frame, table(b), group_by="nothing")
    with pytest.raises(fj.InputError, match="group_by"):
        fj.compare_runs(a, b, group_by="lang")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be"),
        ({"k": 3, "ks": "all"}, "k and ks both"),
        ({"ks": [3, 2]}, "ks must be"),
        ({"ks": "some"}, "ks must be"),
        ({"measures": ()}, "measures must name"),
        ({"measures": ["fuzzy"]}, "fuji"),
        ({"missing": "fill"}, "missing must be"),
        ({"negative": "both"}, "negative must be"),
        ({"universe": 2}, "universe"),
        ({"confidence": 2}, "confidence must be"),
        ({"by": "qid"}, "by"),
        ({"keep": -1}, "keep must be"),
    ],
)
def test_bad_arguments(options, message):
    a, b = example()
    with pytest.raises(fj.InputError, match=message):
        fj.compare_runs(table(a), table(b), **options)


@pytest.mark.parametrize("bad", [3, "no such file", [[1, 2], [3]], {}, np.zeros(3), pa.table({"x": ["a"], "y": [1.0]})])
def test_what_is_no_run(bad):
    with pytest.raises(fj.InputError, match=r"must|not exist|No such"):
        fj.compare_runs(bad, {"q": {"x": 1.0}})


def test_frames_that_are_no_runs():
    run = pd.DataFrame({"query": [1, 1], "doc": ["a", "b"], "score": [1.0, 2.0]})
    ids = pd.DataFrame({"u": [1, 2], "i": [3, 4], "r": [0.5, 1.5]})
    for bad, message in [
        (pd.concat([run, run["score"]], axis=1), "a must name each column once"),
        (ids, r"whole numbers may be ids; got the columns u, i, r"),
        (ids.rename(columns={"i": "item"}), "must have a column that names the queries"),
        (run.assign(query=[1.5, 1.5]), "column 'query' must hold text or integers"),
        (run.assign(doc=["a", None]), "row 2, column 'doc' must not be empty"),
        (run.assign(score=["1", "x"]), "row 2, column 'score' must hold a number"),
        (run.iloc[:0], "must have rows"),
    ]:
        with pytest.raises(fj.InputError, match=message):
            fj.compare_runs(bad, run)
    with pytest.raises(fj.InputError, match="one shape"):
        fj.compare_runs(np.ones((2, 3)), np.ones((2, 4)))
    assert fj.compare_runs(run.rename(columns={"doc": 0}), run).columns["shared"].tolist() == [2]


def test_lists_of_negative_scores_say_why_there_is_no_value():
    run = {"q": {"a": -1.0, "b": -2.0}, "r": {"a": 1.0}}
    result = fj.compare_runs(run, run, negative="clip")
    assert np.isnan(result.columns["fuji"]).tolist() == [True, False]
    assert any("all scores of a list are negative" in note for note in result.notes)


def test_lists_of_the_queries_that_changed_most():
    a, b = example()
    result = fj.compare_runs(a, b, keep=3)
    worst = result.worst(3, "pandas")["query"].tolist()
    assert set(result.lists) == set(worst)
    for query in worst:
        one, other = result.lists[query]
        assert dict(zip(one.items, one.scores, strict=True)).items() >= a[query].items()
        assert dict(zip(other.items, other.scores, strict=True)).items() >= b[query].items()
    assert fj.compare_runs(a, b, keep=0).lists == {}


def test_checked_rankings_keep_their_labels():
    first, second = (fj.rankings({"r": scores})[0] for scores in ({"x": 1, "y": 2, "z": 3}, {"z": 3, "y": 2, "x": 1}))
    assert fj.compare_runs({"q": first}, {"q": second}, k=1).columns["jaccard"].tolist() == [1]
    aligned = fj.rankings({"a": {"x": 1, "y": 2}, "b": {"y": 1, "z": 2}}, missing="zero")
    result = fj.compare_runs({"q": aligned[0]}, {"q": aligned[1]}, k=2)
    assert [int(result.columns[name][0]) for name in ("n_a", "n_b", "shared")] == [2, 2, 1]


@pytest.mark.usefixtures("tiny")
def test_notes_of_a_stream_are_those_of_memory(tmp_path, monkeypatch):
    a, b = example()
    names = ("query", "doc", "distance")
    for name, run in (("a", a), ("b", b)):
        pq.write_table(table(dict(sorted(run.items())), names), tmp_path / f"{name}.parquet", row_group_size=7)
    paths = tmp_path / "a.parquet", tmp_path / "b.parquet"
    streamed = fj.compare_runs(*paths)
    assert sum("looks like distances" in note for note in streamed.notes) == 2
    assert sum("query column 'query'" in note for note in streamed.notes) == 2
    monkeypatch.setattr(spans, "STREAM", 10**9)
    assert set(streamed.notes) == set(fj.compare_runs(*paths).notes)


@pytest.fixture
def sorted_by_duckdb(monkeypatch):
    """Have DuckDB sort whatever is not sorted."""
    pytest.importorskip("duckdb")
    monkeypatch.setattr(spans, "STREAM", 0)
    monkeypatch.setattr(spans, "memory_limit", lambda: 0)


BACKWARDS = {"query": ["q2", "q2", "q1"], "item": ["a", "b", "c"], "score": [2.0, 1.0, 1.0]}


@pytest.mark.usefixtures("sorted_by_duckdb")
def test_names_of_files_stand_for_themselves(tmp_path):
    other = {**BACKWARDS, "item": ["x", "y", "z"]}
    for place, columns in {
        "run[1]/0.parquet": BACKWARDS,
        "run1/0.parquet": other,
        "score=9/q?.parquet": BACKWARDS,
        "score=9/qq.parquet": other,
        "plain.parquet": BACKWARDS,
    }.items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        pq.write_table(pa.table(columns), tmp_path / place)
    plain = tmp_path / "plain.parquet"
    for name in ("run[1]", "score=9/q?.parquet"):
        result = fj.compare_runs(tmp_path / name, plain)
        assert any("sorted by query first" in note for note in result.notes)
        assert result.columns["fuji"].tolist() == [1, 1]
    assert fj.compare_runs(tmp_path / "run1", plain).columns["shared"].tolist() == [0, 0]


@pytest.mark.usefixtures("sorted_by_duckdb")
def test_types_that_duckdb_would_change(tmp_path):
    text, number = tmp_path / "text.parquet", tmp_path / "number.parquet"
    pq.write_table(pa.table({**BACKWARDS, "item": ["1", "2", "3"]}), text)
    pq.write_table(pa.table({**BACKWARDS, "item": [1, 2, 3]}), number)
    result = fj.compare_runs(text, number)
    assert result.columns["shared"].tolist() == [1, 2]
    assert any("items are text in one run and not in the other" in note for note in result.notes)
    pq.write_table(pa.table({**BACKWARDS, "item": [1.5, 2.0, 3.0]}), number)
    with pytest.raises(fj.InputError, match="column 'item' must hold text or integers"):
        fj.compare_runs(text, number)
    pq.write_table(pa.table({**BACKWARDS, "item": ["1", "2", "3"], "score": [2**53, 2**53 + 1, 1]}), number)
    with pytest.raises(fj.InputError, match="float64 tells apart"):
        fj.compare_runs(text, number)


@pytest.mark.usefixtures("sorted_by_duckdb")
@pytest.mark.parametrize(
    ("rows_", "message"),
    [
        ("q2,a,1_000", "1_000 is not a number"),
        ("q2,a,9007199254740993", "too large"),
        ("q2,a,1,2", "regular table"),
        ("q2,,1", "a.csv, column 'item' must not be empty"),
    ],
)
def test_text_that_duckdb_would_read_otherwise(tmp_path, rows_, message):
    good, bad = tmp_path / "b.csv", tmp_path / "a.csv"
    good.write_text("query,item,score\nq2,NA,1\nq1,c,2\n")
    assert fj.compare_runs(good, good).columns["shared"].tolist() == [1, 1]
    bad.write_text(f"query,item,score\nq2,b,3\n{rows_}\nq1,c,2\n")
    with pytest.raises(fj.InputError, match=message):
        fj.compare_runs(bad, good)


def test_integers_that_float64_makes_equal(tmp_path):
    a = {"query": ["q", "q"], "item": ["a", "b"], "score": [2**53 + 1, 2**53]}
    b = {**a, "item": ["b", "a"]}
    for name, columns in (("a", a), ("b", b)):
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    paths = tmp_path / "a.parquet", tmp_path / "b.parquet"
    for first, second in [(pa.table(a), pa.table(b)), (pd.DataFrame(a), pd.DataFrame(b)), paths]:
        with pytest.raises(fj.InputError, match="float64 tells apart"):
            fj.compare_runs(first, second, k=1)


def test_arrays_with_masks_and_complex_numbers():
    plain = np.array([[1.0, 2.0, 9.0]])
    with pytest.raises(fj.InputError, match="NaN"):
        fj.compare_runs(np.ma.array(plain, mask=[[0, 0, 1]]), plain)
    with pytest.raises(fj.InputError, match="must hold numbers"):
        fj.compare_runs(plain + 1j, plain)


def test_labels_that_are_equal_numbers():
    a, b = {"q": {1.0: 3.0, 2.0: 2.0}}, {"q": {1: 3.0, 2: 2.0}}
    result = fj.compare_runs(a, b)
    assert result.columns["shared"].tolist() == [2]
    assert not any("text" in note for note in result.notes)
    assert fj.compare_runs(a, {"q": {"1": 3.0, "2": 2.0}}).columns["shared"].tolist() == [2]


def test_items_without_a_score_are_dropped_from_both_runs():
    a = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    b = {"q": {"a": math.nan, "b": 2.0, "c": 1.0}}
    result = fj.compare_runs(a, b, nan="drop", k=1)
    both = fj.rankings({"a": a["q"], "b": b["q"]}, nan="drop")
    assert result.columns["jaccard"].tolist() == [fj.score(both["a"], both["b"], 1, "jaccard")] == [1]


@pytest.mark.parametrize(
    ("place", "columns", "message"),
    [
        ("more/1.parquet", BACKWARDS, "nothing else; it has more"),
        ("1.csv", BACKWARDS, "nothing else; it has 1.csv"),
        ("1.parquet", {**BACKWARDS, "item": [1, 2, 3]}, "one type in all files; 'item' is"),
        ("1.parquet", {**BACKWARDS, "query": [1, 2, 3]}, "one type in all files; 'query' is"),
        ("1.parquet", {"query": ["q"], "doc": ["a"], "score": [1.0]}, "item"),
    ],
)
@pytest.mark.parametrize("stream", [0, 10**6])
def test_folders_of_different_files(tmp_path, monkeypatch, place, columns, message, stream):
    monkeypatch.setattr(spans, "STREAM", stream)
    pq.write_table(pa.table(BACKWARDS), tmp_path / "plain.parquet")
    (tmp_path / "run" / place).parent.mkdir(parents=True)
    pq.write_table(pa.table(BACKWARDS), tmp_path / "run" / "0.PARQUET")
    (tmp_path / "run" / "_SUCCESS").touch()
    assert fj.compare_runs(tmp_path / "plain.parquet", tmp_path / "plain.parquet").columns["fuji"].tolist() == [1, 1]
    pq.write_table(pa.table(columns), tmp_path / "run" / place)
    with pytest.raises(fj.InputError, match=message):
        fj.compare_runs(tmp_path / "run", tmp_path / "plain.parquet")


@pytest.mark.parametrize("stream", [0, 10**6])
def test_tables_without_rows(tmp_path, monkeypatch, stream):
    monkeypatch.setattr(spans, "STREAM", stream)
    pq.write_table(pa.table(BACKWARDS), tmp_path / "full.parquet")
    pq.write_table(pa.table(BACKWARDS).slice(0, 0), tmp_path / "empty.parquet")
    with pytest.raises(fj.InputError, match=r"empty.parquet"):
        fj.compare_runs(tmp_path / "full.parquet", tmp_path / "empty.parquet")


def test_groups_that_differ_between_the_runs():
    a = pa.table({**BACKWARDS, "lang": ["x", "x", "y"]})
    assert fj.compare_runs(a, a, group_by="lang").groups.tolist() == ["x", "y"]
    with pytest.raises(fj.InputError, match="query 'q1' has several"):
        fj.compare_runs(a, pa.table({**BACKWARDS, "lang": ["x", "x", "z"]}), group_by="lang")
    with pytest.raises(fj.InputError, match="another column than that of the queries"):
        fj.compare_runs(a, a, group_by="query")


def test_braces_in_names_and_equal_scores_in_notes(tmp_path):
    (tmp_path / "r{x}{}.csv").write_text("query,item,score\nq,a,-1\nq,b,1\n")
    (tmp_path / "b.csv").write_text("query,item,score\nq,a,1\nq,b,1\n")
    result = fj.compare_runs(tmp_path / "r{x}{}.csv", tmp_path / "b.csv", negative="abs")
    assert any("r{x}{}.csv: 1 negative score replaced" in note for note in result.notes)
    assert sum("1 list with equal scores only" in note for note in result.notes) == 2


def test_empty_lists():
    a = {"q1": {}, "q2": {"x": 1.0}, "q3": []}
    b = {"q1": {"x": 1.0}, "q2": {"x": 1.0}, "q3": {}}
    result = fj.compare_runs(a, b)
    assert result.columns["n_a"].tolist() == [0, 1, 0]
    assert np.isnan(result.columns["fuji"]).tolist() == [True, False, True]
    assert len(result.only_a) == len(result.only_b) == 0


def test_one_measure_and_a_universe_beyond_reach():
    a, b = example()
    assert [measure.name for measure in fj.compare_runs(a, b, measures="jaccard").measures] == ["jaccard"]
    with pytest.raises(fj.InputError, match="universe"):
        fj.compare_runs(a, b, universe=3 * 10**9)


def test_labels_of_any_kind():
    run = {("x", 1): {("a", 1): 2.0, ("b", 2): 1.0}, ("y", 2): {("a", 1): 1.0}, 2**70: {2**70: 1.0}}
    result = fj.compare_runs(run, run)
    assert result.queries.tolist() == list(run)
    assert result.columns["fuji"].tolist() == [1, 1, 1]


def test_caveats_of_scores_are_told():
    lists = {"q1": ["a", "b"], "q2": ["b", "a"], "q3": {"a": 1.0}}
    notes = fj.compare_runs(lists, {query: {"a": 1.0, "b": 0.5} for query in lists}).notes
    assert any("a, query 'q1' has no scores" in note and "likewise 1 other query" in note for note in notes)
    values = {"q": {"a": 0.0, "b": 0.5}}
    notes = fj.compare_runs(values, values, transform="neglog10").notes
    assert sum("1 p-value of 0 read as 5e-324" in note for note in notes) == 2


# Items that never match


NEARLY = [
    ("case", "A{}", "a{}"),
    ("blanks", "a {}", "a  {}"),
    ("number format", "{}", "{}.0"),
    ("Unicode form", "\u00e9{}", "e\u0301{}"),
]


def nearly_equal(pattern, queries=5, items=4):
    return {f"q{q}": {pattern.format(10 * q + i): float(items - i) for i in range(items)} for q in range(queries)}


@pytest.mark.parametrize(("change", "first", "second"), NEARLY)
@pytest.mark.parametrize("missing", ["bounds", "zero", "drop"])
def test_items_that_never_match_but_for_their_spelling_are_noted(change, first, second, missing):
    a, b = nearly_equal(first), nearly_equal(second)
    [note] = [note for note in fj.compare_runs(a, b, missing=missing).notes if "although" in note]
    assert f"no query has an item of both runs, although 20 items match but for {change}" in note
    with pytest.raises(fj.errors.InputError, match=f"4 items match but for {change}"):
        fj.compare_runs(a, b, missing="raise")
    # One item in common, or nothing that is nearly alike: no such note.
    b["q0"][first.format(0)] = 9.0
    assert not any("although" in note for note in fj.compare_runs(a, b, missing=missing).notes)
    assert not any("although" in note for note in fj.compare_runs(a, nearly_equal("other{}"), missing=missing).notes)


@pytest.mark.parametrize(("change", "first", "second"), NEARLY)
def test_so_are_those_of_files_read_in_parts(change, first, second, tmp_path, monkeypatch):
    monkeypatch.setattr(spans, "STREAM", 0)
    for name, pattern in (("a", first), ("b", second)):
        rows = [(q, item, score) for q, items in nearly_equal(pattern).items() for item, score in items.items()]
        columns = dict(zip(("query", "item", "score"), map(list, zip(*rows, strict=True)), strict=True))
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    notes = fj.compare_runs(tmp_path / "a.parquet", tmp_path / "b.parquet", keep=2).notes
    assert any(f"although in 2 of the queries 8 items match but for {change}" in note for note in notes)


def test_queries_that_match_but_for_their_spelling():
    with pytest.raises(
        fj.errors.InputError, match=r"a query in common.*5 queries match but for case \('q0' in a, 'Q0' in b\)"
    ):
        fj.compare_runs(nearly_equal("a{}"), {query.upper(): items for query, items in nearly_equal("a{}").items()})
