"""One set of policies: single rankings, runs and columns read in passes give the same numbers, or the same error."""

from __future__ import annotations

import json
import pickle
import random
from collections import Counter
from math import inf, isnan, nan

import numpy as np
import oracle
import policies_oracle
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import fujiscore as fj
from fujiscore.cli import fuji
from fujiscore.text.notes import Fact, Note, Tally, gathered

WORDS = {
    "negative": ("raise", "clip", "abs", "split"),
    "nan": ("raise", "zero", "drop"),
    "missing": ("raise", "zero", "drop"),
    "duplicates": ("raise", "max", "mean", "first"),
    "transform": (None, None, None, "neglog10", "exp", "reciprocal", "minmax", "flip", "rank", "abs"),
}
FLAWS = (nan, nan, -1.0, -2.0, -3.0, -inf, inf)
MEASURES = ("fuji", "jaccard", "rbo")
ITEMS = "uvwxyz"


def a_case(number):
    """Return two rankings of (item, score), and the policies."""
    dice = random.Random(number)
    policies = {name: dice.choice(words) for name, words in WORDS.items()}
    palette = [0.0, 0.001, 0.05, 0.5, 1.0] if policies["transform"] == "neglog10" else [0.0, 0.5, 1.0, 2.0, 3.0, 7.0]
    palette = [*palette, *dice.sample(FLAWS, dice.choice((0, 1, 1, 2, 3)))]
    if policies["transform"] == "reciprocal":
        palette.remove(0.0)
    items = dice.sample(ITEMS, dice.randint(2, len(ITEMS)))
    aligned = dice.random() < 0.4
    both = []
    for _ in range(2):
        own = items if aligned else dice.sample(ITEMS, dice.randint(1, len(ITEMS)))
        own = own if aligned or dice.random() < 0.5 else own + dice.choices(own, k=dice.randint(1, 3))
        both.append([(item, dice.choice(palette)) for item in own])
    return both, policies


def caught(call):
    """Return what a call gives: its result, or its error."""
    try:
        return call()
    except fj.InputError as error:
        return error


def words_of(error):
    """Return an error's words but for the query."""
    return str(error).replace("query 'q', ", "").replace("query 'q' repeats", "it repeats").replace(" of a query", "")


def expected_values(lists, k):
    """Return each measure's value by the definition; None where both k-th scores are 0, and everything is a member."""
    a, b = (list(own.values()) for own in lists.values())
    pair = oracle.Pair(a, b, k)
    if all(min(own[x] for x in top) <= 0 for own, top in ((a, pair.top_r), (b, pair.top_s))):
        return None
    values = {name: float(oracle.value(name, a, b, k)) for name in MEASURES}
    return values | ({"fuji": nan} if max(a) < 0 or max(b) < 0 else {})


def in_passes(tmp_path, both, k, policies):
    """Compare two columns of a file that does not fit in memory."""
    (a, b), file = both, tmp_path / "case.parquet"
    columns = {"item": [x for x, _ in a], "one": [v for _, v in a], "two": [v for _, v in b]}
    pq.write_table(pa.table(columns), file)
    options = {name: policies[name] for name in ("negative", "nan", "missing")}
    result = fj.compare(fj.scan(f"{file}:one"), fj.scan(f"{file}:two"), MEASURES[:2], ks=[k], **options)
    return {name: result.auc[name] for name in MEASURES[:2]}


def check_case(number, tmp_path):
    """Check one case; return what came of it."""
    (a, b), policies = a_case(number)
    try:
        lists = policies_oracle.outcome({"a": a, "b": b}, **policies)
        error = None
    except policies_oracle.Refused as refused:
        lists, error = {}, refused.args
    depths = [sum(v > -inf for v in own.values()) // (1 + (policies["negative"] == "split")) for own in lists.values()]
    k = random.Random(number).randint(1, min(depths, default=1))
    options = {"measures": MEASURES, **policies}
    same_rows = [x for x, _ in a] == [x for x, _ in b] and len(dict(a)) == len(a)
    streamed = same_rows and policies["transform"] is None and policies["negative"] != "split"
    if streamed:
        passes = caught(lambda: in_passes(tmp_path, (a, b), k, policies))
    compared = caught(lambda: fj.rankings({"a": a, "b": b}, **policies))
    run = caught(lambda: fj.compare_runs({"q": a}, {"q": b}, k=k, keep=0, **options))
    if error is not None:
        assert compared.kind == error[0], (compared, error)
        if error[0] == "empty":
            assert run.columns["k"][0] == 0
            assert isnan(run.columns["fuji"][0])
        else:
            assert run.kind == error[0], (run, error)
        if error[0] in {"NaN", "infinite", "negative", "duplicates"}:
            assert words_of(run) == str(compared)
            assert str(compared).startswith(f"{error[1]} ")
        if error[0] in {"transform", "signs"}:
            assert str(run) == str(compared)
        assert not streamed or passes.kind == error[0]
        return error[0]
    assert not isinstance(run, fj.InputError), run
    for ranking, own in zip(compared, lists.values(), strict=True):
        absent = np.zeros(ranking.n, bool) if ranking.absent is None else ranking.absent
        scores = np.where(absent, -inf, np.maximum(ranking.scores, policies_oracle.LOWEST))
        np.testing.assert_allclose(scores, list(own.values()), rtol=1e-12)
    expected = expected_values(lists, k)
    if expected is None:
        return "zeros"
    values = caught(lambda: fj.compare(a, b, MEASURES, ks=[k], **policies).auc)
    if isnan(expected["fuji"]):
        assert isinstance(values, fj.InputError)
        values = dict(fj.compare(a, b, MEASURES[1:], ks=[k], **policies).auc) | {"fuji": nan}
    for name in MEASURES:
        assert values[name] == pytest.approx(expected[name], rel=1e-9, nan_ok=True)
        assert run.columns[name][0] == pytest.approx(values[name], rel=1e-12, nan_ok=True)
    if streamed and not isnan(expected["fuji"]):
        assert passes == pytest.approx({name: values[name] for name in passes}, rel=1e-12)
    return "values in passes" if streamed else "values"


def check_cases(numbers, tmp_path, monkeypatch):
    """Check many cases; return how often each outcome came up."""
    monkeypatch.setenv("FUJISCORE_MEMORY_LIMIT", "1B")
    outcomes = Counter()
    for number in numbers:
        try:
            outcomes[check_case(number, tmp_path)] += 1
        except AssertionError as error:
            raise AssertionError(f"case {number}: {a_case(number)}") from error
    return outcomes


def test_all_ways_agree(tmp_path, monkeypatch):
    outcomes = check_cases(range(600), tmp_path, monkeypatch)
    kinds = {"NaN", "infinite", "negative", "duplicates", "missing", "transform", "signs", "empty"}
    assert set(outcomes) == {"values", "values in passes", "zeros", *kinds}
    assert min(outcomes.values()) >= 2


@pytest.mark.slow
def test_all_ways_agree_in_many_cases(tmp_path, monkeypatch):
    check_cases(range(600, 20_600), tmp_path, monkeypatch)


def test_all_nan_rows_of_an_item():
    rows = [("x", nan), ("x", 9.0), ("z", 3.0), ("y", 1.0)]
    other = {"x": 3.0, "y": 2.0, "z": 1.0}
    for duplicates in ("max", "mean", "first"):
        for policy in ("drop", "zero"):
            options = {"duplicates": duplicates, "nan": policy}
            merged = fj.rankings({"a": rows}, **options)
            assert dict(zip(merged.labels, merged.scores[0], strict=True)) == {"x": 9, "z": 3, "y": 1}
            values = fj.compare(other, rows, ks=[2], **options).auc["fuji"]
            assert values == fj.compare_runs({"q": other}, {"q": rows}, k=2, **options).columns["fuji"][0]
    for call in (
        lambda: fj.compare(other, rows, nan="drop"),
        lambda: fj.compare_runs({"q": other}, {"q": rows}, nan="drop"),
        lambda: fj.compare_runs({"q": {"w": 1.0}}, {"q": rows[1:] + [("v", 1.0)] * 2}, missing="drop"),
    ):
        with pytest.raises(fj.InputError, match="repeats 1 item") as error:
            call()
        assert error.value.kind == "duplicates"


def test_files_keep_an_item_that_has_a_score_in_one_row(tmp_path):
    file = tmp_path / "genes.csv"
    file.write_text("gene,score\nA,\nA,5\nB,3\n")
    for duplicates in ("max", "mean", "first"):
        read = fj.read(file, duplicates=duplicates, nan="drop")
        assert (list(read.labels), read.scores[0].tolist()) == (["A", "B"], [5, 3])


def test_errors_come_in_the_order_of_operations(tmp_path, monkeypatch):
    """The first ranking's flaws first, NaN before negative ones, whatever is read first."""
    monkeypatch.setenv("FUJISCORE_MEMORY_LIMIT", "1B")
    n = 5000
    one, two = np.arange(1.0, n + 1), np.arange(1.0, n + 1)
    two[0], one[1], one[n - 1] = np.inf, -1.0, np.nan
    file = tmp_path / "long.parquet"
    items = [f"i{number}" for number in range(n)]
    pq.write_table(pa.table({"item": items, "one": one, "two": two}), file, row_group_size=500)
    calls = (
        lambda: fj.compare(fj.scan(f"{file}:one"), fj.scan(f"{file}:two"), ks="exp"),
        lambda: fj.compare(fj.scan(f"{file}:one"), fj.scan(f"{file}:two"), ks="exp", nan="zero"),
        lambda: fj.compare(one, two),
        lambda: fj.compare(one, two, nan="zero"),
        lambda: fj.compare_runs(one[None], two[None]),
        lambda: fj.compare_runs(one[None], two[None], nan="zero"),
    )
    for call, kind in zip(calls, ("NaN", "negative") * 3, strict=True):
        with pytest.raises(fj.InputError, match=f"1 of {n} is {kind}") as error:
            call()
        assert error.value.kind == kind


def test_labels_are_not_words_of_notes():
    """Items and rankings may be called what notes say."""
    one, two = {"scored 0": 2.0, "x": 1.0}, {"x": 1.0, "scored 0: y": 3.0}
    assert fj.bounds(one, two).notes == (
        "r lacks 1 of 3 items, scores unknown: scored 0: y",
        "s lacks 1 of 3 items, scores unknown: scored 0",
    )
    odd = {f"r{number}: 1 (": {"a": -1.0, "b": 2.0} for number in range(7)}
    assert fj.rankings(odd, negative="clip").notes == (
        "r0: 1 (: 1 of 2 scores are negative and count as 0; likewise 6 other rankings",
    )
    named = fj.compare_runs({"q": {"a": -1.0, "b": 1.0}}, {"q": {"a": 1.0, "b": 2.0}}, negative="split", missing="zero")
    assert any("b has no negative score, the other run has" in note for note in named.notes)


def test_notes_keep_their_facts():
    note = fj.bounds({"x": 1.0, "y": 2.0}, {"x": 1.0}).notes[0]
    assert isinstance(note, Note)
    again = pickle.loads(pickle.dumps(note))
    assert (again, again.fact, type(again)) == (note, note.fact, Note)
    assert note.fact == Fact("missing", "s", 1, 2, ("y",), 1, "scores unknown")
    assert gathered([note, "plain", "plain"]) == [note, "plain"]


def test_runs_count_facts_over_parts():
    whole, parts = Tally(), Tally()
    for number in range(3):
        part = Tally()
        part.add(Fact("negative as 0", "a", number, 10))
        part.add(Fact("duplicates", "a", 1, examples=(f"x{number}",), named=1, detail="max"))
        parts.merge(part)
    whole.add(Fact("negative as 0", "b", 0, 10))
    parts.merge(whole)
    assert parts.notes() == [
        "a: 3 of 30 scores are negative and count as 0",
        "a: 3 duplicates merged, the best score kept (x0, x1, x2)",
    ]
    assert parts.counted("negative as 0") == parts.counted("negative as 0", "a") == 3
    assert not parts.counted("negative as 0", "b")


def test_commands_follow_the_same_policies(tmp_path):
    """Of a table with repeated items and empty cells, the commands tell what the library does."""
    nothing = "{},,\n"
    files = [tmp_path / "one.csv", tmp_path / "two.csv"]
    rows = [("x", 5, 3), ("y", 2, 4), ("z", 3, 1), ("x", 1, 6)]
    for number, file in enumerate(files):
        listed = "".join(f"{item},{a + number},{b}\n" for item, a, b in rows)
        file.write_text("item,a,b\n" + nothing.format("y") + listed + nothing.format("w"))
    policies = {"nan": "drop", "duplicates": "max"}
    words = ["--nan", "drop", "--duplicates", "max", "--json"]
    both = [fj.read(file, **policies) for file in files]
    assert list(both[0].labels) == ["y", "x", "z"]

    def told(*arguments):
        done = CliRunner().invoke(fuji, [*map(str, arguments), *words])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    compared = told("compare", f"{files[0]}:a", f"{files[1]}:b")
    ours = fj.compare(both[0]["a"], both[1]["b"])
    assert {name: own["curve"] for name, own in compared["measures"].items()} == {
        name: curve.values.tolist() for name, curve in ours.curves.items()
    }
    assert any(note == "a: 2 duplicates merged, the best score kept (y, x)" for note in compared["notes"])
    stable = told("stability", *files)
    everything = fj.read(files, **policies)
    assert stable["groups"][0]["stability"] == fj.stability(everything, ks="exp").value
    assert set(everything.notes) <= set(stable["notes"])
