"""The command line, driven as people do: every command, option and format, terminals, pipes, interrupts, files."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from importlib import import_module
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import fujiscore as fj
from fujiscore.cli import COMMANDS, fuji
from fujiscore.cli.terminal import Screen, display_width, fitted
from fujiscore.text.tables import text_columns
from fujiscore.work.files import write_atomically

ROOT = Path(__file__).parents[2]
FUJI = [sys.executable, "-m", "fujiscore"]
N = 24
ITEMS = [f"gene {i}" for i in range(N)]
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def scores(seed, spread=0.5):
    rng = np.random.default_rng(1)
    return rng.pareto(1.5, N) * np.exp(np.random.default_rng(seed).normal(0, spread, N))


A, B = scores(2), scores(3)
WIDE = {"relief": A, "genie3": B, "forest": scores(4), "tree": scores(5, 1.5)}
GROUPS = {"calm": [scores(10 + i, 0.2) for i in range(4)], "wild": [scores(20 + i, 1.5) for i in range(4)]}


def write_csv(path, columns, items=ITEMS):
    rows = [["item", *columns], *zip(items, *(own.tolist() for own in columns.values()), strict=True)]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture
def folder(tmp_path):
    write_csv(tmp_path / "a.csv", {"score": A})
    write_csv(tmp_path / "b.csv", {"score": B})
    write_csv(tmp_path / "wide.csv", WIDE)
    for name, group in GROUPS.items():
        write_csv(tmp_path / f"{name}.csv", {f"fold_{i}": own for i, own in enumerate(group)})
        for i, own in enumerate(group):
            write_csv(tmp_path / f"{name}_{i}.csv", {"score": own})
    write_csv(tmp_path / "cut.csv", {"score": B[:15]}, ITEMS[:15])
    write_csv(tmp_path / "signed.csv", {"score": A - 1})
    return tmp_path


def run(folder, *arguments, **environment):
    """Run the command as a process of its own."""
    return subprocess.run(
        [*FUJI, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
    )


@pytest.fixture
def call(folder, monkeypatch):
    """Run the command in this process, which saves its start, by the same way in."""
    monkeypatch.chdir(folder)

    def invoke(*arguments, **options):
        return CliRunner().invoke(fuji, list(arguments), **options)

    return invoke


def data(done, expected=0):
    code = done.returncode if isinstance(done, subprocess.CompletedProcess) else done.exit_code
    assert code == expected, done.stderr
    return json.loads(done.stdout)


# --- compare


def test_compare_says_what_the_library_says(folder):
    found = data(run(folder, "compare", "a.csv", "b.csv", "-k", "5", "-k", "10", "--json"))
    direct = fj.compare(A, B)
    for name in ("fuji", "jaccard"):
        chance = fj.chance(A, B, name)
        own = found["measures"][name]
        assert own["auc"]["value"] == direct.auc[name]
        assert own["auc"]["expected"] == chance.expected_auc
        assert own["auc"]["corrected"] == chance.corrected_auc
        assert (own["auc"]["z"], own["auc"]["p_value"]) == (chance.auc_z, chance.p_value)
        assert own["auc"]["method"] == "analytic"
        assert own["above_chance"] == [list(run) for run in chance.above()]
        assert own["curve"] == direct[name].values.tolist()
        assert list(own["at"]) == ["5", "10"]
        for k in (5, 10):
            at = own["at"][str(k)]
            assert at["value"] == pytest.approx(fj.score(A, B, k, name), rel=1e-14)
            assert (at["expected"], at["z"]) == (chance.expected[k - 1], chance.z[k - 1])
    why = fj.explain(A, B, 5)
    assert found["explained"]["fuji"] == why.value
    rows = [(row["item"], row["contribution"], row["kind"]) for row in found["explained"]["rows"]]
    assert rows == [(ITEMS[int(item)], *row) for item, *row in zip(why.items, why.contribution, why.kind, strict=True)]
    assert (found["schema"], found["gates"], found["passed"]) == ("fujiscore.comparison/1", [], None)
    assert (found["a"], found["b"], found["files"]) == ("a", "b", ["a.csv", "b.csv"])
    assert found["notes"] == ["a.csv, b.csv: item column 'item', score column 'score'"]
    assert found["ks"] == list(range(1, N + 1))


def test_compare_as_text(folder):
    done = run(folder, "compare", "a.csv", "b.csv")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[:2] == ["fuji compare: A = a, B = b", f"{N} items, k = 1 to {N}"]
    assert lines[3].split() == ["measure", "place", "value", "by", "chance", "corrected", "z", "p"]
    direct = fj.chance(A, B)
    assert lines[4].split() == [
        "FUJI",
        "AUC",
        *(f"{x:.4f}" for x in (direct.auc, direct.expected_auc, direct.corrected_auc)),
        f"{direct.auc_z:.2f}",
        f"{round(direct.p_value, 10):.2g}",
    ]
    top = fj.chance(A, B, ks="exp")
    assert lines[5].split() == [
        "FUJI",
        "top-weighted",
        "AUC",
        *(f"{x:.4f}" for x in (top.auc, top.expected_auc, top.corrected_auc)),
        f"{top.auc_z:.2f}",
        f"{round(top.p_value, 10):.2g}",
    ]
    assert "p of an area: analytic" in lines
    assert direct.in_words() in lines
    assert any(line.startswith(f"FUJI {fj.fuji(A, B, 10):.4f} at k = 10: (") for line in lines)
    assert "near miss" in done.stdout
    assert any("\u2800" < character <= "\u28ff" for character in done.stdout)
    assert lines[-1] == "Note: a.csv, b.csv: item column 'item', score column 'score'"
    assert done.stderr == ""


def test_compare_as_a_table(call):
    done = call("compare", "a.csv", "b.csv", "--csv", "-m", "fuji", "-m", "gamma", "--ks", "exp")
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert rows[0] == [
        "k",
        *(f"{name}{kind}" for name in ("fuji", "gamma") for kind in ("", "_expected", "_corrected", "_z")),
    ]
    direct = fj.compare(A, B, ("fuji", "gamma"), ks="exp")
    assert [int(row[0]) for row in rows[1:]] == direct.ks.tolist()
    assert [float(row[1]) for row in rows[1:]] == direct["fuji"].values.tolist()
    assert [float(row[4]) for row in rows[1:]] == direct.chance["fuji"].z.tolist()
    assert [float(row[5]) for row in rows[1:]] == direct["gamma"].values.tolist()
    assert {row[6] for row in rows[1:]} == {""}  # no formula, and no permutations were asked for


def test_permutations_and_seed(call):
    options = ("compare", "a.csv", "b.csv", "--json", "--permutations", "99", "-m", "fuji", "-m", "gamma")
    first = data(call(*options, "--seed", "7"))
    direct = fj.compare(A, B, ("fuji", "gamma"), permutations=99, random_state=7)
    for name in ("fuji", "gamma"):
        assert first["measures"][name]["auc"]["p_value"] == direct.p_value[name]
        assert first["measures"][name]["auc"]["z"] == direct.chance[name].auc_z
    assert data(call(*options, "--seed", "7", "--jobs", "1", "--no-progress")) == first
    other = data(call(*options, "--seed", "8"))
    assert other["measures"]["gamma"]["auc"]["expected"] != first["measures"]["gamma"]["auc"]["expected"]
    assert " p\n" in call(*options[:3], "--permutations", "9").stdout


def test_sizes_off_the_grid_and_the_top(call):
    off = data(call("compare", "a.csv", "b.csv", "--json", "--ks", "exp", "-k", "5"))
    assert off["measures"]["fuji"]["at"]["5"]["value"] == pytest.approx(fj.fuji(A, B, 5), rel=1e-14)
    assert off["measures"]["fuji"]["auc"]["value"] == fj.auc(A, B, ks="exp")
    top = data(call("compare", "a.csv", "b.csv", "--json", "--top", "6"))
    assert top["ks"] == [1, 2, 3, 4, 5, 6]
    listed = data(call("compare", "a.csv", "b.csv", "--json", "--ks", "2,3,11"))
    assert listed["measures"]["jaccard"]["auc"]["value"] == fj.auc(A, B, "jaccard", ks=[2, 3, 11])


def test_one_point_has_no_chart(call):
    text = call("compare", "a.csv", "b.csv", "--ks", "4").stdout
    assert f"{N} items, k = 4\n" in text
    assert "┤" not in text
    values = [line.split()[-4:] for line in text.splitlines() if "k = 4 " in line]
    assert [row[0] for row in values] == [f"{fj.score(A, B, 4, name):.4f}" for name in ("fuji", "jaccard")]
    assert len(values) == 2
    assert "AUC" not in text


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--fail-under", "0.1"], 0),
        (["--fail-under", "0.999"], 1),
        (["--fail-under", "{auc}"], 0),
        (["--fail-under", "{auc}", "--corrected"], 1),
        (["--fail-under", "{auc}", "-m", "jaccard"], 1),
    ],
)
def test_a_threshold(call, options, code):
    options = [option.format(auc=repr(fj.auc(A, B))) for option in options]
    done = call("compare", "a.csv", "b.csv", "--quiet", *options)
    assert done.exit_code == code
    assert done.stdout.startswith("fuji compare: ")
    said = next(line for line in done.stdout.splitlines() if line.startswith(("passed: ", "FAILED: ")))
    assert re.fullmatch(r"(passed|FAILED): \w+( corrected)? \(AUC\) 0\.\d+, at least [\d.]+ required", said)
    assert (said.startswith("FAILED"), done.stderr) == (bool(code), "")
    report = data(call("compare", "a.csv", "b.csv", "--quiet", *options, "--json"), code)
    assert (report["passed"], report["gates"][0]["passed"]) == (not code, not code)
    assert said.endswith(report["gates"][0]["text"])


def test_a_threshold_as_a_process(folder):
    done = run(folder, "compare", "a.csv", "b.csv", "--fail-under", "0.999", "-q")
    assert done.returncode == 1
    assert "FAILED: FUJI (AUC) " in done.stdout
    done = run(folder, "compare", "a.csv", "b.csv", "--fail-under", "0.999", "-q", "--csv")
    assert done.stderr.startswith("fuji compare: FAILED: FUJI (AUC) ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["wide.csv:relief", "wide.csv:genie3"],
        ["wide.csv", "--score", "relief", "--score", "genie3"],
        ["a.csv", "-"],
    ],
)
def test_two_columns_and_standard_input(folder, arguments):
    with (folder / "b.csv").open() as file:
        done = subprocess.run(
            [*FUJI, "compare", *arguments, "--json"],
            cwd=folder,
            stdin=file,
            capture_output=True,
            text=True,
            check=False,
        )
    assert data(done)["measures"]["fuji"]["auc"]["value"] == fj.auc(A, B)


def test_policies_reach_the_library(call, folder):
    with_zeros = np.where(np.median(B) > B, 0.0, B)
    write_csv(folder / "zeros.csv", {"score": with_zeros})
    stable = data(call("compare", "a.csv", "zeros.csv", "--json", "--ties", "stable"))["measures"]["fuji"]["auc"]
    assert stable["value"] == fj.auc(A, with_zeros, ties="stable") != fj.auc(A, with_zeros)
    options = ("--ties", "stable", "--zero-tail", "exclude")
    excluded = data(call("compare", "a.csv", "zeros.csv", "--json", *options))["measures"]["fuji"]["auc"]
    direct = fj.auc(A, with_zeros, ties="stable", zero_tail="exclude")
    assert excluded["value"] == direct != stable["value"]
    assert "ties cut at" in call("compare", "a.csv", "zeros.csv", "--ties", "stable").stdout
    assert "ties cut at" not in call("compare", "a.csv", "zeros.csv").stdout
    for policy in ("clip", "abs"):
        found = data(call("compare", "signed.csv", "b.csv", "--json", "--negative", policy))
        assert found["measures"]["fuji"]["auc"]["value"] == fj.auc(A - 1, B, negative=policy)
    cut = dict(zip(ITEMS[:15], B, strict=False))
    for policy in ("zero", "drop"):
        found = data(call("compare", "a.csv", "cut.csv", "--json", "--missing", policy))
        direct = fj.auc(dict(zip(ITEMS, A, strict=True)), cut, missing=policy)
        assert found["measures"]["fuji"]["auc"]["value"] == direct
    hole = A.copy()
    hole[3] = np.nan
    write_csv(folder / "hole.csv", {"score": hole})
    for policy in ("zero", "drop"):
        found = data(call("compare", "hole.csv", "b.csv", "--json", "--nan", policy))
        assert found["measures"]["fuji"]["auc"]["value"] == fj.auc(hole, B, nan=policy)


def test_bounds(call, folder):
    direct = fj.bounds(dict(zip(ITEMS, A, strict=True)), dict(zip(ITEMS[:15], B, strict=False)))
    found = data(call("compare", "a.csv", "cut.csv", "--missing", "bounds", "--json", "-k", "4"))
    assert found["bounds"]["auc"] == {"low": direct.auc[0], "high": direct.auc[1]}
    assert found["bounds"]["at"] == {"4": {"low": direct.low[3], "high": direct.high[3]}}
    assert (found["a"]["lacks"], found["b"]["lacks"]) == (0, N - 15)
    text = call("compare", "a.csv", "cut.csv", "--missing", "bounds").stdout
    assert ["FUJI", "AUC", *(f"{bound:.4f}" for bound in direct.auc)] in [line.split() for line in text.splitlines()]
    between = str((direct.auc[0] + direct.auc[1]) / 2)
    done = call("compare", "a.csv", "cut.csv", "--missing", "bounds", "--fail-under", between, "--plot", "b.svg", "-q")
    assert done.exit_code == 1
    assert (folder / "b.svg").read_text().startswith("<?xml")
    rows = call("compare", "a.csv", "cut.csv", "--missing", "bounds", "--csv").stdout.splitlines()
    assert rows[0] == "k,fuji_low,fuji_high"
    assert rows[1] == f"1,{float(direct.low[0])!r},{float(direct.high[0])!r}"


# --- explain, matrix, stability, measures


def test_explain(folder, call):
    done = run(folder, "explain", "a.csv", "b.csv", "-k", "6")
    why = fj.explain(A, B, 6)
    lines = done.stdout.splitlines()
    assert " ".join(lines[1:3]) == why.in_words()
    columns = "item rank A rank B score A score B in A in B credit kind"
    assert " ".join(lines[3].split()) == columns
    narrow = call("explain", "a.csv", "b.csv", env={"COLUMNS": "60"}).stdout
    assert columns.replace(" in A in B", "") in [" ".join(line.split()) for line in narrow.splitlines()]
    assert len(lines) == 4 + len(why) + 2  # a note
    assert lines[4].startswith(ITEMS[int(why.items[0])])
    found = data(call("explain", "a.csv", "b.csv", "-k", "6", "--json"))
    assert [row["contribution"] for row in found["rows"]] == why.contribution.tolist()
    assert [row["kind"] for row in found["rows"]] == why.kind
    assert [row["score_b"] for row in found["rows"]] == why.score_s.tolist()
    rows = list(csv.reader(io.StringIO(call("explain", "a.csv", "b.csv", "-k", "6", "--csv").stdout)))
    assert rows[0][:3] == ["item", "rank_a", "rank_b"]
    assert [int(row[1]) for row in rows[1:]] == why.rank_r.tolist()
    assert "(2 of " in call("explain", "a.csv", "b.csv", "--show", "2").stdout


def test_matrix(folder, call):
    done = run(folder, "matrix", "wide.csv")
    assert done.returncode == 0
    assert not ANSI.search(done.stdout)
    direct = fj.pairwise(WIDE).clustered()
    lines = done.stdout.splitlines()
    assert lines[:2] == ["fuji matrix: top-weighted AUC", f"4 rankings of {N} items, k = 1 to {N} (6 points)"]
    shown = [[float(word) for word in line.split()[-4:]] for line in lines[5:9]]
    assert np.array(shown) == pytest.approx(direct.values, abs=6e-4)
    found = data(call("matrix", "wide.csv", "--json", "--corrected", "-m", "fuji", "-m", "jaccard", "--no-cluster"))
    for name in ("fuji", "jaccard"):
        assert found["measures"][name] == fj.pairwise(WIDE, measure=name, corrected=True).values.tolist()
    assert found["rows"] == list(WIDE)
    rows = list(csv.reader(io.StringIO(call("matrix", "a.csv", "b.csv", "--csv").stdout)))
    assert rows[0] == ["top_weighted_auc_fuji", "a", "b"]
    assert float(rows[1][2]) == fj.auc(A, B, ks="exp")
    both = list(csv.reader(io.StringIO(call("matrix", "wide.csv", "--csv", "-m", "fuji", "-m", "pog").stdout)))
    assert both[0][:3] == ["measure", "value", "ranking"]
    assert [row[:2] for row in both[1:]] == [["fuji", "top-weighted AUC"]] * 4 + [["pog", "top-weighted AUC"]] * 4


def test_one_against_all(call):
    direct = {name: fj.auc(WIDE["relief"], own, ks="exp") for name, own in WIDE.items() if name != "relief"}
    found = data(call("matrix", "wide.csv", "--reference", "relief", "--json"))
    assert dict(zip(found["columns"], found["measures"]["fuji"][0], strict=True)) == direct
    assert found["measures"]["fuji"][0] == sorted(direct.values(), reverse=True)
    text = call("matrix", "wide.csv", "--reference", "relief").stdout.splitlines()
    assert text[4].split() == ["first", "second", "value"]
    assert [line.split()[:2] for line in text[5 : 5 + len(direct)]] == [["relief", name] for name in found["columns"]]
    file = data(call("matrix", "wide.csv", "--reference", "a.csv", "--json"))
    assert file["rows"] == ["a"]
    assert dict(zip(file["columns"], file["measures"]["fuji"][0], strict=True))["relief"] == 1


def test_a_matrix_too_wide_for_the_screen(call, folder):
    write_csv(folder / "many.csv", {f"ranking_{i}": scores(100 + i) for i in range(30)})
    text = call("matrix", "many.csv", env={"COLUMNS": "60"}).stdout
    assert "most similar" in text
    assert "--csv, --json or --plot" in text
    assert "most similar" not in call("matrix", "many.csv", env={"COLUMNS": "140"}).stdout


def test_stability(folder, call):
    done = run(folder, "stability", "calm.csv", "--json")
    direct = fj.stability(GROUPS["calm"])
    (group,) = data(done)["groups"]
    assert (group["stability"], group["low"], group["high"]) == (direct.value, direct.low, direct.high)
    files = data(call("stability", *(f"calm_{i}.csv" for i in range(4)), "--json", "--confidence", "0.8"))
    assert files["groups"][0]["low"] == fj.stability(GROUPS["calm"], confidence=0.8).low
    assert files["groups"][0]["group"] == "calm"
    assert "80% interval" in call("stability", "calm.csv", "--confidence", "0.8").stdout


@pytest.mark.parametrize(
    ("arguments", "paired"),
    [
        (["calm.csv", "wild.csv"], True),
        (["calm.csv", "--versus", "wild.csv", "--unpaired"], False),
        ([*(f"calm_{i}.csv" for i in range(4)), "--versus", *(f"wild_{i}.csv" for i in range(4))], False),
        (["--versus", *(f"wild_{i}.csv" for i in range(4)), "--paired", *(f"calm_{i}.csv" for i in range(4))], True),
    ],
)
def test_stability_of_two_methods(call, arguments, paired):
    found = data(call("stability", *arguments, "--json"))
    direct = fj.stats.compare_stability(GROUPS["calm"], GROUPS["wild"], paired=paired)
    (own,) = found["differences"]
    assert own["paired"] is paired
    assert (own["difference"], own["p_value"]) == (direct.difference, direct.p_value)
    text = call("stability", *arguments).stdout
    assert f"calm is more stable (p = {direct.p_value:.2g}, {'paired' if paired else 'unpaired'})" in text


def test_stability_in_other_forms(call):
    rows = list(csv.reader(io.StringIO(call("stability", "calm.csv", "wild.csv", "--csv", "--corrected").stdout)))
    assert rows[0][:5] == ["group", "measure", "area", "stability", "low"]
    assert [row[0] for row in rows[1:]] == ["calm", "wild"]
    assert float(rows[1][3]) == fj.stability(GROUPS["calm"], corrected=True).value


def test_measures(folder, call):
    done = run(folder, "measures")
    assert [line.split()[0] for line in done.stdout.splitlines()[3 : 3 + len(fj.MEASURES)]] == list(fj.MEASURES)
    listed = data(call("measures", "--json"))["measures"]
    assert [own["name"] for own in listed] == list(fj.MEASURES)
    assert next(own for own in listed if own["name"] == "npog")["low"] is None
    assert len(call("measures", "--csv").stdout.splitlines()) == len(fj.MEASURES) + 1


@pytest.mark.parametrize("name", fj.MEASURES)
def test_every_measure_is_explained_and_usable(call, name):
    text = " ".join(call("measures", name).stdout.split())
    assert text.startswith(f"fuji measures: {name} ({fj.MEASURES[name].title})")
    assert fj.MEASURES[name].formula in text
    assert fj.MEASURES[name].reference in text
    found = data(call("compare", "a.csv", "b.csv", "-m", name, "--json", "--ks", "exp"))
    assert found["measures"][name]["auc"]["value"] == pytest.approx(
        fj.compare(A, B, (name,), ks="exp").auc[name], rel=1e-13
    )


# --- formats


def trec(query, items, own):
    order = np.argsort(-own)
    return "".join(f"{query} Q0 {items[i]} {rank} {float(own[i])!r} run\n" for rank, i in enumerate(order, 1))


def fimp(own):
    rows = "".join(f"{i}\t{ITEMS[i]}\t[1]\t[{float(x)!r}]\n" for i, x in enumerate(own, 1 - 1))
    return f"made for a test\n{'-' * 100}\n{rows}"


def write_format(path, own):
    import pyarrow as pa
    from pyarrow import feather, parquet

    frame = pa.table({"item": ITEMS, "score": own})
    rows = [f"{item}\t{float(x)!r}\n" for item, x in zip(ITEMS, own, strict=True)]
    as_text = {
        ".tsv": "item\tscore\n" + "".join(rows),
        ".json": json.dumps(dict(zip(ITEMS, own.tolist(), strict=True))),
        ".fimp": fimp(own),
        ".trec": trec("q1", [item.replace(" ", "_") for item in ITEMS], own),
    }
    if path.suffix == ".parquet":
        parquet.write_table(frame, path)
    elif path.suffix == ".feather":
        feather.write_feather(frame, path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(as_text[".tsv"].encode()))
    else:
        path.write_text(as_text[path.suffix])


@pytest.mark.parametrize("suffix", [".tsv", ".json", ".fimp", ".trec", ".parquet", ".feather", ".tsv.gz"])
def test_every_format_gives_the_same(call, folder, suffix):
    for name, own in (("first", A), ("second", B)):
        write_format(folder / f"{name}{suffix}", own)
    found = data(call("compare", f"first{suffix}", f"second{suffix}", "--json"))
    assert found["measures"]["fuji"]["auc"]["value"] == fj.auc(A, B)


def test_long_tables_and_named_columns(call, folder):
    long = [["method", "gene", "w"]] + [
        [m, i, x] for m, own in (("r", A), ("s", B)) for i, x in zip(ITEMS, own, strict=True)
    ]
    with (folder / "long.txt").open("w", newline="") as file:
        csv.writer(file, delimiter=";").writerows(long)
    options = ("--ranking", "method", "--item", "gene", "--score", "w", "--format", "csv")
    assert data(call("compare", "long.txt", "--json", *options))["measures"]["fuji"]["auc"]["value"] == fj.auc(A, B)
    (folder / "run.trec").write_text(trec("q1", ["x", "y"], A[:2]) + trec("q2", ["x", "y"], B[:2]))
    assert data(call("compare", "run.trec:q1", "run.trec:q2", "--json"))["a"] == "q1"


def test_signed_fimp_files_work_as_they_are(call, folder):
    (folder / "signed.fimp").write_text(fimp(A - 1))
    done = call("compare", "signed.fimp", "b.csv", "--json")
    assert data(done)["measures"]["fuji"]["auc"]["value"] == fj.auc(A - 1, B, negative="clip")
    assert f"signed: {(A < 1).sum()} of {N} scores are negative and count as 0" in data(done)["notes"]
    refused = call("compare", "signed.fimp", "b.csv", "--negative", "raise")
    assert refused.exit_code == 2
    mixed = call("compare", "signed.fimp", "signed.csv")
    assert mixed.exit_code == 2
    assert "signed.csv:signed must hold non-negative scores" in mixed.stderr


# --- files out


def test_reports_into_files(call, folder):
    shown = call("compare", "a.csv", "b.csv", "-q").stdout
    for options in ([], ["--json"], ["--csv"]):
        done = call("compare", "a.csv", "b.csv", "--out", "report", "--force", *options)
        assert (done.exit_code, done.stdout) == (0, "")
        assert done.stderr.endswith("report: report\n")
    assert (folder / "report").read_text().startswith("k,fuji,fuji_expected,")
    for command in (["explain", "a.csv", "b.csv"], ["matrix", "wide.csv"], ["stability", "calm.csv"], ["measures"]):
        for options in ([], ["--json"], ["--csv"]):
            assert call(*command, "--out", "report", *options).exit_code == 2  # it exists
            assert call(*command, "--out", "report", "--force", *options).exit_code == 0
    call("compare", "a.csv", "b.csv", "--out", "report", "--force")
    assert (folder / "report").read_text() == shown
    assert call("compare", "a.csv", "b.csv", "-q", "--out", "-").stdout == shown
    assert not list(folder.glob(".*"))


def test_foreign_files_stay(call, folder):
    (folder / "notes.txt").write_text("mine")
    for options in (["--out", "notes.txt"], ["--plot", "notes.png"]):
        (folder / "notes.png").write_text("mine")
        done = call("compare", "a.csv", "b.csv", *options)
        assert done.exit_code == 2
        assert "--force" in done.stderr
        assert (folder / options[1]).read_text() == "mine"
        assert call("compare", "a.csv", "b.csv", *options, "--force").exit_code == 0
        assert (folder / options[1]).read_bytes() != b"mine"


def test_inputs_are_never_replaced(call, folder):
    before = (folder / "wide.csv").read_bytes()
    for source in ("wide.csv", "./wide.csv"):
        done = call("compare", "wide.csv:relief", "wide.csv:tree", "--out", source, "--force")
        assert done.exit_code == 2
        assert "read as input" in done.stderr
    assert (folder / "wide.csv").read_bytes() == before


def test_files_are_whole_or_absent(tmp_path):
    path = tmp_path / "report"
    path.write_text("old")

    def fail(file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_atomically(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    link = tmp_path / "link"
    link.symlink_to(path)
    write_atomically(link, lambda file: file.write(b"new"))
    assert (path.read_text(), link.is_symlink()) == ("new", True)


@pytest.mark.parametrize(
    ("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("PNG", b"\x89PNG")]
)
def test_pictures(call, folder, suffix, start):
    commands = (
        ["compare", "a.csv", "b.csv"],
        ["compare", "a.csv", "b.csv", "-m", "fuji"],
        ["matrix", "wide.csv", "-m", "fuji", "-m", "jaccard"],
        ["stability", "calm.csv", "wild.csv"],
    )
    for command in commands if suffix == "png" else commands[:1]:
        done = call(*command, "--plot", f"picture.{suffix}", "--force")
        assert done.exit_code == 0, done.stderr
        assert (folder / f"picture.{suffix}").read_bytes().startswith(start)
        assert done.stderr.endswith(f"figure: picture.{suffix}\n")


# --- terminals, pipes and signals


def in_terminal(folder, *arguments, columns=80, **environment):
    """Run the command on a pseudo-terminal and return what it shows."""
    pty, fcntl, termios = (pytest.importorskip(name) for name in ("pty", "fcntl", "termios"))
    import struct

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES", "NO_COLOR"}}
    kept |= {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **environment}
    process = subprocess.Popen([*FUJI, *arguments], cwd=folder, stdout=theirs, stderr=theirs, env=kept)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait() == 0
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [80, 140])
@pytest.mark.parametrize(
    "command", [["compare", "a.csv", "b.csv"], ["explain", "a.csv", "b.csv"], ["matrix", "wide.csv"]]
)
def test_a_terminal_is_filled_in_colour_and_nothing_wraps(folder, command, columns):
    shown = in_terminal(folder, *command, columns=columns)
    assert ANSI.search(shown)
    widths = [display_width(line) for line in ANSI.sub("", shown).splitlines()]
    assert max(widths) <= columns
    assert command[0] != "compare" or max(widths) > columns - 20


def test_no_colour_where_it_is_not_wanted(folder):
    assert not ANSI.search(in_terminal(folder, "matrix", "wide.csv", NO_COLOR="1"))
    assert not ANSI.search(in_terminal(folder, "matrix", "wide.csv", TERM="dumb"))


@pytest.mark.parametrize("columns", ["60", "80", "140"])
def test_no_line_is_wider_than_asked(call, folder, columns):
    long = [f"a very long name of an item that goes on and on, 表 {i}" for i in range(N)]
    write_csv(folder / "long_a.csv", {"score": A}, long)
    write_csv(folder / "long_b.csv", {"score": B}, long)
    for command in (
        ["compare", "long_a.csv", "long_b.csv"],
        ["explain", "long_a.csv", "long_b.csv"],
        ["matrix", "wide.csv", "--corrected"],
        ["stability", "calm.csv", "wild.csv", "--corrected"],
    ):
        text = call(*command, env={"COLUMNS": columns}).stdout
        assert [line for line in text.splitlines() if display_width(line) > int(columns)] == []
    assert "…" in call("explain", "long_a.csv", "long_b.csv", env={"COLUMNS": columns}).stdout or columns == "140"


def test_plain_characters_where_the_encoding_has_no_others(folder):
    done = subprocess.run(
        [*FUJI, "compare", "a.csv", "b.csv"],
        cwd=folder,
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    text = done.stdout.decode("ascii")
    assert re.search(r"^ 1\.0\+.*\*", text, re.MULTILINE)


def test_labels_cannot_steer_the_terminal(call, folder):
    steering = [f"\x1b[31m{i}\x07" for i in range(N)]
    write_csv(folder / "x.csv", {"score": A}, steering)
    write_csv(folder / "y.csv", {"score": B}, steering)
    text = call("explain", "x.csv", "y.csv").stdout
    assert "\x1b" not in text
    assert "\\x1b[31m" in text


def test_a_table_fits():
    screen = Screen(30, colour=False, unicode=False)
    lines = fitted(screen, text_columns("", ["name", "value"], [["x" * 60, "1.0"], ["y", "22.0"]]))
    assert [len(line) for line in lines] == [30, 30, 30]
    assert lines[1].startswith("xxx")
    assert "~" in lines[1]


def test_optional_columns_give_way_together():
    cells = ["n" * 12, "a" * 12, "b" * 12, "c" * 12]
    table = text_columns("what", ["name", "a", "b", "c"], [cells], optional=[["a", "c"]])
    wide, narrow = (fitted(Screen(width, colour=False, unicode=False), table) for width in (60, 50))
    assert [line.split() for line in wide] == [["what"], ["name", "a", "b", "c"], cells]
    assert [line.split() for line in narrow] == [["what"], ["name", "b"], ["n" * 12, "b" * 12]]


def test_a_reader_that_goes_away_is_no_error(folder):
    rng = np.random.default_rng(0)
    for name in ("big_a.csv", "big_b.csv"):
        write_csv(folder / name, {"score": rng.random(5000)}, range(5000))
    process = subprocess.Popen(
        [*FUJI, "compare", "big_a.csv", "big_b.csv", "--csv", "-q", "--fail-under", "0.9999"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.read(100)
    process.stdout.close()
    said = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait() == 1  # the threshold still counts
    assert re.fullmatch(r"fuji compare: FAILED: FUJI \(AUC\) 0\.\d+, at least 0\.9999 required\n", said)


def test_an_interrupt_is_one_line(folder):
    process = subprocess.Popen(
        [*FUJI, "compare", "a.csv", "-", "--permutations", "5000000", "--no-progress"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdin.write((folder / "b.csv").read_text() + "\n" * 90_000)  # more than a pipe holds: it is being read
    process.stdin.close()
    process.stdin = None
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    try:
        shown, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, shown, said) == (130, "", "fuji compare: interrupted\n")


# --- help, completion, documentation


def test_help_loads_nothing_heavy():
    script = (
        "import sys\nfrom fujiscore.cli import fuji\n"
        "try:\n    fuji.main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print([name for name in 'numba scipy pandas matplotlib pyarrow sklearn'.split() if name in sys.modules])"
    )
    for arguments in (["--help"], ["compare", "--help"], ["measures"]):
        done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"


def test_help_and_version(folder):
    assert run(folder).stdout == run(folder, "--help").stdout
    assert run(folder, "--version").stdout == f"fuji {fj.__version__}\n"


def commands():
    for name in COMMANDS:
        yield name, import_module(f"fujiscore.cli.{name}").command


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(call, name):
    text = call(name, "--help").stdout
    assert "Examples:\n  fuji " in text
    for line in dict(commands())[name].examples:
        assert f"  {line}\n" in text
        assert len(line) <= 100


def test_completion(folder):
    source = run(folder, _FUJI_COMPLETE="zsh_source").stdout
    assert "#compdef fuji" in source
    words = {"_FUJI_COMPLETE": "bash_complete", "COMP_WORDS": "fuji stab", "COMP_CWORD": "1"}
    assert run(folder, **words).stdout == "plain,stability\n"
    words |= {"COMP_WORDS": "fuji compare -m jac", "COMP_CWORD": "3"}
    assert run(folder, **words).stdout == "plain,jaccard\n"
    for shell in ("bash", "zsh", "fish"):
        assert f"_FUJI_COMPLETE={shell}_source fuji" in run(folder, "--help").stdout


def test_the_reference_is_up_to_date_and_complete():
    done = subprocess.run(
        [sys.executable, "docs/make_cli_reference.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for name, command in commands():
        part = page.split(f"## fuji {name}\n")[1].split("\n## ")[0]
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{name} {parameter.name}"
                for spelling in (*parameter.opts, *parameter.secondary_opts):
                    assert f"`{spelling}`" in part, f"{name} {spelling}"


def test_shared_options_mean_the_same_wherever_rankings_are_read():
    own_meaning = {"missing", "corrected", "plot", "sizes", "k", "alternative"}
    texts = {}
    for name, command in commands():
        for parameter in command.params if name in {"compare", "explain", "matrix", "stability", "measures"} else ():
            if isinstance(parameter, click.Option) and parameter.name not in own_meaning:
                text = re.sub(r"\[default: .*\]", "", parameter.help)
                assert texts.setdefault(parameter.opts[0], text) == text


def test_the_script_is_this_command():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    module, _, name = scripts["fuji"].partition(":")
    assert getattr(import_module(module), name)
