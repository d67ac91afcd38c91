"""`fuji runs`: the report in all its forms, gates and exit codes, baselines, and errors in one line."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fujiscore.cli import fuji
from fujiscore.cli.terminal import display_width
from fujiscore.runs.compare import compare_runs

ROOT = Path(__file__).parents[2]
EXAMPLES, PAGE = ROOT / "examples", ROOT / "docs" / "runs.md"
A, B = str(EXAMPLES / "run_a.trec"), str(EXAMPLES / "run_b.trec")


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(fuji, ["runs", *map(str, arguments)])


def written(name, run):
    """Write a run as CSV, and return its name."""
    rows = [(query, item, score) for query, items in run.items() for item, score in items.items()]
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("query", "item", "score"), *rows])
    return name


def flat(text):
    return " ".join(text.split())


# The report


@pytest.mark.parametrize("options", [(), ("-k", 5, "--explain", 2), ("--fail-under", 0.99), ("--ks", "exp")])
def test_the_report_fits_80_columns(call, options):
    done = call(A, B, *options)
    assert max(map(display_width, done.stdout.splitlines())) <= 80
    assert "3 queries in both runs" in done.stdout
    assert "FUJI, at least" in done.stdout
    assert "q3" in done.stdout


@pytest.mark.parametrize("width", [60, 80, 120])
def test_many_measures_fit_any_width(call, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    names = ("fuji", "rbo", "jaccard", "kendall", "weightedtau", "average_overlap")
    options = [part for name in names for part in ("-m", name)]
    text = call(A, B, "-k", 5, *options, "--universe", 100, "--explain", 1, "--fail-under", 0.1).stdout
    assert max(map(display_width, text.splitlines())) <= width


def test_the_numbers_are_those_of_the_library(call):
    result = compare_runs(A, B, k=5)
    data = json.loads(call(A, B, "-k", 5, "--json").stdout)
    assert data["columns"]["query"] == ["q1", "q2", "q3"]
    assert data["columns"]["fuji"] == result.values().tolist()
    assert data["measures"]["rbo"]["mean"] == result.spread("rbo").mean
    assert [note.replace("--transform minmax", "transform='minmax'") for note in data["notes"]] == [
        note.replace("measures='rbo'", "--measure rbo") for note in result.notes
    ]
    assert data["passed"] is None
    rows = list(csv.DictReader(io.StringIO(call(A, B, "-k", 5, "--csv").stdout)))
    assert [float(row["fuji"]) for row in rows] == result.values().tolist()
    assert [row["query"] for row in rows] == ["q1", "q2", "q3"]


def test_measures_and_depth_are_chosen(call):
    done = call(A, B, "-m", "rbo:0.98", "-m", "jaccard", "--ks", "1,3,5", "--confidence", 0.9, "--json")
    data = json.loads(done.stdout)
    assert list(data["measures"]) == ["rbo(p=0.98)", "jaccard"]
    assert data["settings"]["k"] == [1, 3, 5]
    assert data["confidence"] == 0.9


def test_few_or_many_queries_are_shown(call):
    assert call(A, B, "--show", 1).stdout.count("9 of 10") == 1
    assert call(A, B).stdout.count(" of 10") == 2  # in the third, nothing changed
    assert "least alike" not in call(A, A).stdout


def test_the_worst_queries_are_explained(call):
    text = call(A, B, "-k", 5, "--explain", 1).stdout
    assert "Query q3" in text
    assert "Query q2" not in text
    assert "near miss" in text
    data = json.loads(call(A, B, "-k", 5, "--explain", 3, "--json").stdout)
    assert [entry["query"] for entry in data["explained"]] == ["q3", "q2", "q1"]
    assert data["explained"][0]["fuji"] == pytest.approx(min(data["columns"]["fuji"]))


def test_a_shuffled_run_of_scores_far_from_zero_fails(call):
    generator = np.random.default_rng(0)
    old = {f"q{q}": dict(enumerate((1004 + 12 * generator.beta(1, 6, 1000)).tolist())) for q in range(30)}
    new = {
        q: dict(zip(items, generator.permutation([*items.values()]).tolist(), strict=True)) for q, items in old.items()
    }
    names = written("old.csv", old), written("new.csv", new)
    done = call(*names, "--fail-under", 0.9)
    assert done.exit_code == 1
    text = flat(done.output)
    assert "FAILED: mean FUJI above its floor" in text
    assert "--transform minmax" in text
    data = json.loads(call(*names, "--json").stdout)
    measures = data["measures"]
    assert measures["fuji"]["mean"] > 0.99
    assert abs(measures["fuji_above_floor"]["mean"]) < 0.1
    assert measures["fuji_floor"]["mean"] == pytest.approx(measures["fuji"]["mean"], abs=0.001)
    near = np.sum(data["columns"]["fuji_near"]) / np.sum(1 - np.array(data["columns"]["jaccard"]))
    assert f"near misses make up {near:.0%} of the difference" in text
    assert near < 0.3
    same = call(names[0], names[0], "--fail-under", 0.9)
    assert same.exit_code == 0, same.output
    assert "passed: mean FUJI above its floor 1.0000" in flat(same.stdout)


def test_markdown_goes_to_a_summary(call):
    text = call(A, B, "-k", 5, "--fail-under", 0.4, "--markdown").stdout
    words = (
        "- passed: mean FUJI above its floor 0.4767, at least 0.4 required (FUJI 0.8361; reordered at random 0.6590)"
    )
    assert words in text
    assert "<details>" in text
    assert call(A, B, "-k", 5, "--fail-under", 0.4, "--out", "comment.md").exit_code == 0
    assert Path("comment.md").read_text(encoding="utf-8") == text


def test_a_table_per_query_is_written(call):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert call(A, B, "--out", "result.parquet").exit_code == 0
    table = parquet.read_table("result.parquet")
    assert table.column("fuji").to_pylist() == compare_runs(A, B).values().tolist()
    assert b"queries are few" in table.schema.metadata[b"fujiscore"]
    assert call(A, B, "--out", "result.csv").exit_code == 0
    assert call(A, B, "--out", "result.json").exit_code == 0
    assert "3 queries are few" in json.loads(Path("result.json").read_text(encoding="utf-8"))["notes"][-1]
    again = call(A, B, "--out", "result.csv")
    assert again.exit_code == 2
    assert "--force" in again.stderr


def test_a_figure_is_drawn(call):
    pytest.importorskip("matplotlib")
    assert call(A, B, "--plot", "queries.svg").exit_code == 0
    assert Path("queries.svg").stat().st_size > 1000


def test_queries_in_one_run_only_are_said(call):
    new = written("new.csv", {"q": {"a": 2, "b": 1}, "x": {"a": 1}, "y": {"a": 1}})
    old = written("old.csv", {"q": {"a": 2, "b": 1}, "z": {"a": 1}})
    text = flat(call(old, new).stdout)
    assert "not compared, and in no mean: 1 only in a, 2 only in b" in text
    assert "the means cover 1 of 4 queries: 3 are in one run only" in text
    assert "one query only: no interval" in text


def test_groups_have_rows(call):
    rows = [("q1", "a", 2, "de"), ("q1", "b", 1, "de"), ("q2", "a", 1, "fr"), ("q2", "c", 2, "fr")]
    for name, last in (("old.csv", 2), ("new.csv", 3)):
        lines = [("query", "item", "score", "language"), *rows[:last], *rows[last:]]
        with Path(name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(lines)
    done = call("old.csv", "new.csv", "--by", "query", "--item", "item", "--score", "score", "--group-by", "language")
    assert done.exit_code == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["de", "1", "1.0000"] in [line[:3] for line in lines]
    assert ["fr", "1", "1.0000"] in [line[:3] for line in lines]


# Gates


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--fail-under", 0.87), 0),
        (("--fail-under", 0.88), 1),
        (("--fail-under-quantile", "0.05:0.8"), 0),
        (("--fail-under-quantile", "0.05:0.9"), 1),
        (("--fail-share-below", "0.9:0.7"), 0),
        (("--fail-share-below", "0.9:0.5"), 1),
        (("-m", "rbo", "--fail-under", 0.87), 1),
    ],
)
@pytest.mark.parametrize("form", ["text", "json", "csv", "markdown"])
def test_gates_set_the_exit_code(call, options, code, form):
    done = call(A, B, *options, *([] if form == "text" else [f"--{form}"]))
    assert done.exit_code == code
    word = "FAILED: " if code else "passed: "
    if form == "json":
        data = json.loads(done.stdout)
        assert data["passed"] == (not code)
        assert [check["passed"] for check in data["gates"]] == [not code]
    elif form != "csv":
        assert done.stdout.count(word) == 1
    assert done.stderr.count("fuji runs: FAILED: ") == (code if form != "text" else 0)


def test_lost_queries_fail_the_gate(call):
    old = written("old.csv", {"q": {"a": 2, "b": 1}, "z": {"a": 1, "b": 2}})
    new = written("new.csv", {"q": {"a": 2, "b": 1}})
    done = call(old, new, "--fail-under", 0.5)
    assert done.exit_code == 1
    said = "FAILED: 1 query of a missing in b (z), 0 allowed; --allow-missing-queries accepts them"
    assert said in flat(done.stdout)
    assert "passed: mean FUJI" in done.stdout
    assert call(old, new, "--fail-under", 0.5, "--allow-missing-queries").exit_code == 0
    assert call(new, old, "--fail-under", 0.5).exit_code == 0


def test_lost_items_fail_the_gate(call):
    old, new = written("old.csv", {"q": {"a": 2, "b": 1}}), written("new.csv", {"q": {"a": 2}})
    done = call(old, new, "--fail-under", 0.5)
    assert done.exit_code == 1
    assert "FAILED: 1 query with a shorter list in b than in a (q)" in done.stdout
    assert call(old, new, "--fail-under", 0.5, "--allow-shorter-lists").exit_code == 0


def test_dropped_items_fail_the_gate(call):
    old, new = written("old.csv", {"q": {"a": 2, "b": 1}}), written("new.csv", {"q": {"a": 2}})
    done = call(old, new, "--missing", "drop", "--fail-under", 0.99)
    assert done.exit_code == 1
    assert "FAILED: items that one run lacks are left out (--missing drop)" in flat(done.stdout)
    data = json.loads(call(old, new, "--missing", "drop", "--fail-under", 0.99, "--json").stdout)
    assert data["gates"][0]["value"] is None
    assert data["passed"] is False
    accepted = call(old, new, "--missing", "drop", "--fail-under", 0.99, "--allow-shorter-lists")
    assert accepted.exit_code == 0


def test_a_query_without_a_value_fails_the_gate(call):
    old = written("old.csv", {"q": {"a": 2, "b": 1}, "z\x1b[31m": {"a": 1, "b": 2}})
    new = written("new.csv", {"q": {"a": 2, "b": 1}, "z\x1b[31m": {"c": 1}})
    done = call(old, new, "--missing", "drop", "--fail-under", 0.5, "--explain", 1)
    assert done.exit_code == 1
    assert "FAILED: 1 query without a value of FUJI" in done.stdout
    assert "undefined for 1 of 2 queries (z\\x1b[31m)" in flat(done.stdout)
    assert "\x1b" not in done.stdout


# Baselines


@pytest.mark.parametrize("name", ["accepted.parquet", "accepted.tsv.gz"])
def test_a_run_equals_its_baseline(call, name):
    stored = call(B, "--baseline", name, "--bless")
    assert stored.exit_code == 0
    assert stored.stderr == f"baseline: {name} (new), 3 queries of {B}\n"
    same = call(B, "--baseline", name, "--fail-under", 1, "--fail-under-quantile", "0:1", "--json")
    assert same.exit_code == 0, same.stderr
    assert np.array(json.loads(same.stdout)["columns"]["rbo"]).tolist() == [1, 1, 1]
    changed = call(A, "--baseline", name, "--fail-under", 0.9)
    assert changed.exit_code == 1
    assert flat(changed.stdout).startswith(f"fuji runs: A = {name}, B = ")


def test_the_first_run_is_reported_against_itself(call):
    done = call(B, "--baseline", "accepted.parquet", "--bless", "--out", "report.md", "--fail-under", 0.9)
    assert done.exit_code == 0, done.stderr
    text = Path("report.md").read_text(encoding="utf-8")
    assert "there was no baseline: the run is compared with itself" in text
    assert "passed: mean FUJI above its floor 1.0000" in text
    data = json.loads(call(B, "--baseline", "second.parquet", "--bless", "--json").stdout)
    assert data["a"] == data["b"] == B
    assert data["columns"]["fuji"] == [1, 1, 1]
    again = call(B, "--baseline", "accepted.parquet", "--bless", "--markdown")
    assert "there was no baseline" not in again.stdout


def test_a_baseline_without_a_common_query_is_to_be_deleted(call):
    old, new = written("old.csv", {"q": {"a": 1}}), written("new.csv", {"z": {"a": 1}})
    call(old, "--baseline", "accepted.tsv.gz", "--bless")
    done = call(new, "--baseline", "accepted.tsv.gz", "--bless")
    assert done.exit_code == 2
    assert "must have a query in common" in done.stderr
    assert "To store new.csv all the same, delete accepted.tsv.gz first." in done.stderr
    assert "delete" not in call(new, "--baseline", "accepted.tsv.gz").stderr
    Path("accepted.tsv.gz").unlink()
    assert call(new, "--baseline", "accepted.tsv.gz", "--bless").exit_code == 0


def test_blessing_accepts_what_the_gates_refuse(call):
    call(A, "--baseline", "accepted.parquet", "--bless")
    done = call(B, "--baseline", "accepted.parquet", "--bless", "--fail-under", 0.99)
    assert done.exit_code == 0
    assert "FAILED: mean FUJI above its floor 0.8788" in done.stdout  # lists of 10: FUJI itself
    assert f"baseline: accepted.parquet (replaced), 3 queries of {B}" in done.stderr
    assert call(B, "--baseline", "accepted.parquet", "--fail-under", 1).exit_code == 0


def test_a_run_that_cannot_be_compared_is_not_blessed(call):
    Path("bad.csv").write_text("query,item,score\nq,a,1\nq,a,2\n", encoding="utf-8")
    done = call("bad.csv", "--baseline", "accepted.parquet", "--bless")
    assert done.exit_code == 2
    assert not Path("accepted.parquet").exists()


@pytest.mark.parametrize("lines", ["qd,a,1\nqd,a,2\n", "qd,a,nan\n"])
def test_a_query_that_only_the_new_run_has_is_checked_before_blessing(call, lines):
    good = written("good.csv", {"q1": {"a": 3, "b": 2}})
    call(good, "--baseline", "accepted.parquet", "--bless")
    before = Path("accepted.parquet").read_bytes()
    Path("bad.csv").write_text(f"query,item,score\nq1,a,3\nq1,b,2\n{lines}", encoding="utf-8")
    done = call("bad.csv", "--baseline", "accepted.parquet", "--bless")
    assert done.exit_code == 2
    assert "qd" in done.stderr
    assert not done.stdout
    assert Path("accepted.parquet").read_bytes() == before


@pytest.mark.parametrize("name", ["mine.parquet", "link.parquet"])
def test_the_run_itself_is_no_place_for_a_baseline(call, name):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"query": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0], "url": ["x", "y"]})
    parquet.write_table(table, "mine.parquet")
    Path("link.parquet").symlink_to("mine.parquet")
    before = Path("mine.parquet").read_bytes()
    done = call("mine.parquet", "--baseline", name, "--bless")
    assert done.exit_code == 2
    assert f"--baseline {name}: this file is the run itself" in done.stderr
    assert not done.stdout
    assert Path("mine.parquet").read_bytes() == before


# Errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((A,), "two runs can be compared; got 1"),
        ((A, B, A), "two runs can be compared; got 3"),
        ((A, B, "--baseline", A), "--baseline is compared with one run; got 2"),
        ((A, B, "--bless"), "--bless needs --baseline FILE"),
        ((A, "--baseline", "no.parquet"), "--baseline no.parquet does not exist. Pass --bless"),
        ((A, "--baseline", "no.csv", "--bless"), "--baseline must end in .parquet or .tsv.gz"),
        (
            (A, "--baseline", "nodir/x.parquet", "--bless"),
            "the folder nodir does not exist. Create it first.",
        ),
        ((EXAMPLES, "--baseline", "new.parquet", "--bless"), "it is a folder. Write the run to one file."),
        ((A, B, "--fail-under", 2), "--fail-under must have numbers from 0 to 1 with fuji; got 2.0"),
        ((A, B, "--fail-under-quantile", 2), "is not two numbers with a colon"),
        ((A, B, "--fail-under-quantile", "5:0.5"), "--fail-under-quantile must have numbers from 0 to 1"),
        ((A, B, "--fail-under", 0.5, "--corrected"), "--corrected needs"),
        ((A, B, "-k", 5, "--ks", "all"), "-k and --ks"),
        (("-", "-"), "standard input (-) can be read once only"),
        ((A, B, "--json", "--markdown"), "--json and --markdown exclude each other"),
        ((A, B, "--out", A), "this file is read as input"),
        ((A, "--baseline", B, "--out", B, "--force"), "this file is read as input"),
        ((A, "missing.trec"), "missing.trec"),
    ],
)
def test_errors_are_one_line(call, arguments, said):
    done = call(*arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout


def test_compare_points_to_runs():
    done = CliRunner().invoke(fuji, ["compare", A, B])
    assert done.exit_code == 2
    assert f"{A} holds 3 rankings and {B} holds 3 rankings. Compare all: fuji runs {A} {B}." in done.stderr
    assert f"{A}:q1 {B}:q1" in done.stderr
    one = CliRunner().invoke(fuji, ["compare", A, f"{B}:q1"])
    assert "holds 3 rankings: q1, q2, q3. Name one: " in one.stderr
    single = CliRunner().invoke(fuji, ["compare", f"{B}:q1"])
    assert "holds one ranking" in single.stderr
    two = CliRunner().invoke(fuji, ["compare", f"{A}:q1", f"{B}:q1", "--missing", "zero"])
    assert two.exit_code == 0


# The page on runs; its other commands and examples are run by test_docs


def block(kind):
    """Return the first code block of a kind on the page."""
    return re.search(rf"```{kind}\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)[1]


def test_the_page_shows_what_the_command_prints(monkeypatch):
    monkeypatch.chdir(ROOT)
    done = CliRunner().invoke(fuji, block("sh").split()[1:], env={"COLUMNS": "80"})
    assert done.stdout.partition("\n")[2] == block("text")  # without the line that names the files


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(("new", "code"), [(A, 0), (B, 1)])
def test_the_step_of_the_github_action_runs(tmp_path, new, code):
    lines = textwrap.dedent(block("yaml").split("run: |\n")[1]).splitlines()
    assert lines[0].startswith("pip install")
    shutil.copy(new, tmp_path / "new.trec")
    fuji_command = f'fuji() {{ "{sys.executable}" -m fujiscore "$@"; }}'
    store = f'fuji runs "{A}" --baseline accepted.parquet --bless'
    script = "\n".join(["set -eo pipefail", fuji_command, store, *lines[1:]])  # as GitHub runs bash
    environment = {**os.environ, "GITHUB_STEP_SUMMARY": "summary.md"}
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == code, done.stderr
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert f"- {'FAILED' if code else 'passed'}: mean FUJI" in summary
    assert "| FUJI" in summary
