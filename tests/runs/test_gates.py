"""Gates pass only what they should, and a stored run is the run."""

from __future__ import annotations

import csv
import gzip
import io
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fujiscore.errors import InputError
from fujiscore.measures.registry import find
from fujiscore.runs.baselines import ENDINGS, bless
from fujiscore.runs.compare import compare_runs
from fujiscore.runs.gates import judge
from fujiscore.runs.results import RunComparison

LABELS = st.text(st.characters(exclude_categories=("Cs",)) | st.sampled_from('\r\n\t"\\ #'), min_size=1, max_size=4)
SCORES = st.dictionaries(LABELS, st.floats(0, 1e6, width=64), min_size=1, max_size=6)


def made(values, only_a=(), **columns):
    values = np.array(values, float)
    n = values.size
    counts = {name: np.full(n, 10) for name in ("n_a", "n_b", "shared", "k")}
    queries, lost, none = (np.array(list(part), object) for part in (range(n), only_a, ()))
    extra = {name: np.array(column, float) for name, column in columns.items()}
    settings = {"k": 10}
    return RunComparison(queries, {**counts, "fuji": values, **extra}, (find("fuji"),), settings, lost, none)


# Gates


def test_without_gates_everything_passes():
    verdict = judge(made([0.0, np.nan], only_a=["q"]))
    assert verdict.passed
    assert verdict.lines() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0, 1), st.floats(0, 1))
def test_gates_judge_by_the_definition(values, bound, share):
    result = made(values)
    assert judge(result, fail_under=bound).passed == (result.spread().mean >= bound)
    assert judge(result, fail_under_quantile=(share, bound)).passed == (np.quantile(values, share) >= bound)
    below = sum(value < bound for value in values) / len(values)
    assert judge(result, fail_share_below=(bound, share)).passed == (below <= share)


def test_a_line_per_gate():
    result = made([1.0, 0.9, 0.2, 0.4])
    verdict = judge(result, fail_under=0.6, fail_under_quantile=(0.05, 0.5), fail_share_below=(0.5, 0.1))
    assert verdict.lines() == [
        "passed: mean FUJI 0.6250, at least 0.6 required",
        "FAILED: 5 % quantile of FUJI 0.2300, at least 0.5 required",
        "FAILED: share of queries with FUJI below 0.5: 0.5000, at most 0.1 allowed",
    ]
    assert verdict.failed() == verdict.lines()[1:]
    assert [entry["passed"] for entry in verdict.to_dict()["gates"]] == [True, False, False]


def test_all_equal_runs_pass_the_strictest_gates():
    run = {q: {"a": 0.1, "b": 0.3} for q in range(7)}
    gates = {"fail_under": 1, "fail_under_quantile": (0, 1), "fail_share_below": (1, 0)}
    assert judge(compare_runs(run, run), **gates).passed


def test_a_value_just_below_the_bound_is_told_from_it():
    text = judge(made([math.nextafter(0.9, 0)]), fail_under=0.9).lines()[0]
    assert text.startswith("FAILED: mean FUJI 0.8999999")
    assert "0.9000," in judge(made([0.9]), fail_under=0.9).lines()[0]
    assert judge(made([0.89996]), fail_under=0.9).lines()[0].startswith("FAILED: mean FUJI 0.89996,")


def test_a_query_without_a_value_fails():
    result = made([1.0, np.nan])
    verdict = judge(result, fail_under=0.5)
    assert not verdict.passed
    assert verdict.failed() == [
        "FAILED: 1 query without a value of FUJI (1), 0 allowed; allow_missing_queries accepts them"
    ]
    assert judge(result, fail_under=0.5, allow_missing_queries=True).passed
    nothing = made([np.nan])
    assert not judge(nothing, fail_under=0, allow_missing_queries=True).passed
    assert not judge(nothing, fail_share_below=(0.5, 1), allow_missing_queries=True).passed
    assert not judge(nothing, fail_under_quantile=(0.5, 0), allow_missing_queries=True).passed


def test_a_lost_query_fails():
    result = made([1.0, 1.0], only_a=["q7", "q9"])
    verdict = judge(result, fail_under=0.5)
    assert verdict.failed()[0].startswith("FAILED: 2 queries of a missing in b (q7, q9), 0 allowed")
    assert judge(result, fail_under=0.5, allow_missing_queries=True).passed
    new = replace(made([1.0]), only_b=np.array(["new"], object))
    assert judge(new, fail_under=1).passed


@pytest.mark.parametrize("options", [{"k": 3}, {"ks": [1, 2, 3]}, {"ks": "all"}])
def test_a_list_that_lost_items_fails(options):
    old = {"q1": {"a": 4, "b": 3, "c": 2, "d": 1}, "q2": {"a": 4, "b": 3}}
    new = {"q1": {"a": 4}, "q2": {"a": 4, "b": 3, "c": 1}}
    result = compare_runs(old, new, **options, measures=["jaccard"])
    assert result.values().tolist() == [1, 1]  # up to the end of the shorter list
    verdict = judge(result, fail_under=1)
    assert verdict.failed() == [
        "FAILED: 1 query with a shorter list in b than in a (q1), 0 allowed; allow_shorter_lists accepts them"
    ]
    assert judge(result, fail_under=1, allow_shorter_lists=True).passed
    assert judge(compare_runs(new, old, **options, measures=["jaccard"]), fail_under=1).failed()[0].count("(q2)") == 1


def test_a_list_that_lost_items_beyond_k_passes():
    old = {"q": {"a": 4, "b": 3, "c": 2}}
    assert judge(compare_runs(old, {"q": {"a": 4, "b": 3}}, k=2, measures=["jaccard"]), fail_under=1).passed


@pytest.mark.parametrize("new", [{"d0": 9}, {"zz": 9, "d0": 8}, {f"d{i}": 10 - i for i in range(10)}])
def test_items_left_out_fail(new):
    old = {"q": {f"d{i}": 10 - i for i in range(10)}}
    result = compare_runs(old, {"q": new}, missing="drop")
    assert result.values().tolist() == [1]
    said = "FAILED: items that one run lacks are left out (missing='drop'), where lost items do not show; "
    assert judge(result, fail_under=0.99).failed() == [f"{said}allow_shorter_lists accepts it"]
    allowed = judge(result, fail_under=0.99, allow_shorter_lists=True)
    assert allowed.passed
    assert allowed.lines()[0].endswith("are left out (missing='drop'), allowed")


def test_truncated_lists_are_judged_by_what_fuji_is_at_least():
    result = made([0.4, 0.6], fuji_high=[1.0, 1.0])
    assert not judge(result, fail_under=0.9).passed


def test_corrected_values_are_judged_on_request():
    result = made([0.9, 0.9], fuji_corrected=[-0.2, 0.1])
    assert judge(result, fail_under=0.5).passed
    assert judge(result, fail_under=-0.1, corrected=True).passed
    assert judge(result, fail_under=0, corrected=True).lines()[0].startswith("FAILED: mean FUJI corrected -0.05")
    with pytest.raises(InputError, match=r"corrected needs a value of fuji corrected for chance.*universe=N"):
        judge(made([1.0]), fail_under=0.5, corrected=True)


@pytest.mark.parametrize(
    "gate",
    [
        {"fail_under": 1.5},
        {"fail_under": -0.1},
        {"fail_under": math.nan},
        {"fail_under": "high"},
        {"fail_under": True},
        {"fail_under_quantile": (5, 0.5)},
        {"fail_under_quantile": (0.05, 5)},
        {"fail_under_quantile": 0.5},
        {"fail_share_below": (0.5, 10)},
        {"fail_share_below": (0.5,)},
    ],
)
def test_bounds_out_of_range_are_refused(gate):
    with pytest.raises(InputError, match=rf"{next(iter(gate))} must"):
        judge(made([1.0]), **gate)


# Baselines


def stored_run(path):
    """Return the run in a stored file, by other readers than ours."""
    if path.suffix == ".parquet":
        rows = pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    else:
        text = gzip.decompress(path.read_bytes()).decode()
        rows = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t")
    run = {}
    for row in rows:
        run.setdefault(row["query"], {})[row["item"]] = float(row["score"])
    return run


@pytest.mark.parametrize("ending", ENDINGS)
@given(run=st.dictionaries(LABELS, SCORES, min_size=1, max_size=5))
def test_a_stored_run_is_the_run(ending, run, tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / f"run{ending}"
    assert bless(run, path) == len(run)
    assert stored_run(path) == run
    assert list(stored_run(path)) == sorted(run)
    result = compare_runs(stored_run(path), run)  # in memory: a file's labels are stripped
    for measure in result.measures:  # undefined where the last score is 0
        assert np.isin(result.values(measure)[~np.isnan(result.values(measure))], 1).all()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_stored_file_compares_as_the_file(ending, tmp_path, write):
    lines = [f"q{q} Q0 d{(7 * i + q) % 30} {i + 1} {1 / (i + 1 / 3)!r} x\n" for q in (10, 9, 1) for i in range(20)]
    run, stored = write("run.trec", "".join(lines)), tmp_path / f"stored{ending}"
    assert bless(str(run), stored) == 3
    result = compare_runs(str(stored), str(run))
    assert len(result) == 3
    assert result.only_a.size == result.only_b.size == 0
    assert all((result.values(measure) == 1).all() for measure in result.measures)


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_equal_run_gives_an_equal_file(ending, tmp_path):
    run = {"b": {"x": 1 / 3, "y": 2.0}, "a": {"x": 1.0}}
    first, second = tmp_path / f"1{ending}", tmp_path / f"2{ending}"
    bless(run, first)
    bless(dict(reversed(run.items())), second)
    assert first.read_bytes() == second.read_bytes()
    bless({"a": {"x": 2.0}}, first)
    assert stored_run(first) == {"a": {"x": 2.0}}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([first.name, second.name])


def test_types_and_order_of_a_table_are_kept(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"qid": [2, 10, 2], "docno": ["b", "x", "a"], "sim": pa.array([1, 2, 1], pa.float32())})
    parquet.write_table(table, tmp_path / "run.parquet")
    bless(str(tmp_path / "run.parquet"), tmp_path / "kept.parquet", score="sim")
    kept = parquet.read_table(tmp_path / "kept.parquet")
    assert kept.to_pydict() == {"query": [2, 2, 10], "item": ["b", "a", "x"], "score": [1.0, 1.0, 2.0]}
    assert b"fujiscore" in kept.schema.metadata
    file = parquet.ParquetFile(tmp_path / "kept.parquet").metadata.row_group(0)
    assert file.column(0).compression == "ZSTD"
    assert "RLE_DICTIONARY" in file.column(1).encodings


def test_arrays_are_stored_by_position(tmp_path):
    values = np.array([[0.5, 0.25], [0.0, 1.0]])
    bless(values, tmp_path / "rows.parquet")
    assert stored_run(tmp_path / "rows.parquet") == {0: {0: 0.5, 1: 0.25}, 1: {0: 0.0, 1: 1.0}}


def test_what_cannot_be_stored_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"baseline must end in \.parquet or \.tsv\.gz to be stored; got '.*run\.csv'"):
        bless({"q": {"a": 1}}, tmp_path / "run.csv")
    with pytest.raises(InputError, match="the run must be a file, a table with columns"):
        bless(3, tmp_path / "run.parquet")
    with pytest.raises(InputError, match="must be of one type each"):
        bless({"q": {np.int8(1): 1, np.uint64(2): 1}}, tmp_path / "run.parquet")
    with pytest.raises(InputError, match=r"the folder .*nodir does not exist"):
        bless({"q": {"a": 1}}, tmp_path / "nodir" / "run.parquet")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "parts.parquet").mkdir()
    with pytest.raises(InputError, match="must name a file to be stored; it is a folder"):
        bless({"q": {"a": 1}}, tmp_path / "parts.parquet")
    with pytest.raises(InputError, match=r"must be a file to become a baseline; it is a folder"):
        bless(tmp_path / "parts.parquet", tmp_path / "run.parquet")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("label", [2**70, 2**63, -(2**63) - 1, "\ud800", "a\udfff", "", 1.5, 2.0, True, ("a", 1), b"a"])
def test_labels_that_a_file_cannot_hold_are_refused(ending, label, tmp_path):
    for run, what in (({label: {"a": 1.0}}, "queries"), ({"q": {label: 1.0}}, "items")):
        with pytest.raises(InputError, match=f"^{what} of a baseline must be text or integers of 64 bits.*; got "):
            bless(run, tmp_path / f"run{ending}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ENDINGS)
def test_labels_of_two_types_are_refused(ending, tmp_path):
    for run in ({"q": {"a": 1, 2: 1}}, {"q": {"a": 1}, 2: {"a": 1}}):
        with pytest.raises(InputError, match="must be of one type; got text and integers"):
            bless(run, tmp_path / f"run{ending}")


@pytest.mark.parametrize("ending", ENDINGS)
@given(labels=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4, unique=True))
def test_integers_come_back(ending, labels, tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / f"run{ending}"
    run = {query: {np.int64(item): 1.0 + place for place, item in enumerate(labels)} for query in labels}
    bless(run, path)
    result = compare_runs(str(path), run, measures=["jaccard"], transform="as_is")
    assert len(result) == len(run)
    assert result.only_a.size == result.only_b.size == 0
    assert (result.values() == 1).all()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_run_is_not_stored_over_itself(ending, tmp_path):
    path = tmp_path / f"run{ending}"
    bless({"q": {"a": 1}}, path)
    with pytest.raises(InputError, match="this file is the run itself"):
        bless(str(path), path)


def test_text_needs_no_pyarrow(tmp_path):
    """In a process that cannot import pyarrow, a baseline is text, and Parquet says what is missing."""
    code = f"""
import importlib.util, sys
real = importlib.util.find_spec
sys.modules["pyarrow"] = None
importlib.util.find_spec = lambda name, *rest: None if name == "pyarrow" else real(name, *rest)
from fujiscore import MissingExtraError
from fujiscore.runs.baselines import bless, usual_ending
assert usual_ending() == ".tsv.gz"
bless({{"q": {{"a": 0.1}}}}, {str(tmp_path / "b.tsv.gz")!r})
try:
    bless({{"q": {{"a": 0.1}}}}, {str(tmp_path / "b.parquet")!r})
except MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "a baseline in Parquet needs pyarrow" in done.stdout
    assert gzip.decompress((tmp_path / "b.tsv.gz").read_bytes()) == b"query\titem\tscore\r\nq\ta\t0.1\r\n"
