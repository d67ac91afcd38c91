"""Answers of the command line that must not mislead: chance, universe, notes, names of areas, undefined, row order."""

from __future__ import annotations

import builtins
import csv
import io
import json
import os
import shlex
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import fujiscore as fj
from fujiscore.cli import COMMANDS, fuji
from fujiscore.cli.terminal import display_width

ROOT = Path(__file__).parents[2]
ITEMS = [f"g{i}" for i in range(20)]


def write(name, columns, items=ITEMS):
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        rows = zip(items, *(list(map(float, scores)) for scores in columns.values()), strict=True)
        csv.writer(file).writerows([["item", *columns], *rows])


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Run a command in an empty folder that holds two rankings of 20 items."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(1)
    a = generator.pareto(1.5, 20)
    write("a.csv", {"score": a})
    write("b.csv", {"score": a * np.exp(generator.normal(0, 0.7, 20))})

    def invoke(*arguments, **options):
        return CliRunner().invoke(fuji, [str(argument) for argument in arguments], **options)

    return invoke


def data(done):
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def flat(text):
    """Return a text without its line breaks."""
    return " ".join(text.split())


# --- once


@pytest.mark.parametrize("options", [(), ("--top", 5), ("--ks", "exp", "-k", 7), ("-k", 3, "-k", 9)])
def test_compare_reads_aligns_sorts_and_draws_once(call, monkeypatch, options):
    counts = Counter()

    def counting(name, function):
        def counted(*args, **kwargs):
            counts[name if name != "open" else Path(str(args[0])).name] += 1
            return function(*args, **kwargs)

        return counted

    monkeypatch.setattr(builtins, "open", counting("open", open))
    monkeypatch.setattr(io, "open", counting("open", io.open))
    monkeypatch.setattr(os, "open", counting("open", os.open))
    door, drawing = (import_module(f"fujiscore.{name}") for name in ("inputs.rankings", "null.permutations"))
    monkeypatch.setattr(door, "_aligned", counting("align", door._aligned))
    monkeypatch.setattr(drawing, "_permuted", counting("draw", drawing._permuted))
    kernels = import_module("fujiscore._kernels").order
    monkeypatch.setattr(kernels, "descending", counting("sort", kernels.descending))
    done = call("compare", "a.csv", "b.csv", "--permutations", 20, "--json", *options)
    assert data(done)["measures"]["fuji"]["auc"]["p_value"] is not None
    assert counts["a.csv"] == counts["b.csv"] == 1
    assert (counts["align"], counts["sort"], counts["draw"]) == (1, 2, 1)


# --- names of values


def test_compare_and_matrix_show_the_same_number_under_the_same_name(call):
    pair = data(call("compare", "a.csv", "b.csv", "--json"))["measures"]
    matrix = data(call("matrix", "a.csv", "b.csv", "--json", "-m", "fuji", "-m", "jaccard", "--corrected"))
    for name in ("fuji", "jaccard"):
        level = pair[name]["auc_top_weighted"]
        assert level["place"] == "top-weighted AUC"
        assert matrix["value"][name] == "top-weighted AUC, corrected for chance"
        assert matrix["measures"][name][0][1] == pytest.approx(level["corrected"], rel=1e-12)
        assert matrix["raw"][name][0][1] == pytest.approx(level["value"], rel=1e-12)
        assert pair[name]["auc"]["place"] == "AUC"
        assert pair[name]["auc"]["value"] != level["value"]
    text = call("compare", "a.csv", "b.csv").stdout
    assert f"top-weighted AUC  {pair['fuji']['auc_top_weighted']['value']:.4f}" in text
    assert f"{pair['fuji']['auc_top_weighted']['value']:.3f}" in call("matrix", "a.csv", "b.csv").stdout


@pytest.mark.parametrize("measure", ["RBO:0.98", "Kendall", "spearman", "weightedTau", "average_overlap"])
def test_measures_of_whole_lists_are_not_areas(call, measure):
    text = call("compare", "a.csv", "b.csv", "-m", measure).stdout
    assert "whole list" in text
    assert "AUC" not in text
    report = data(call("compare", "a.csv", "b.csv", "-m", measure, "--json"))["measures"]
    (name,) = report
    assert report[name]["auc"]["value"] == fj.score(*both(), 20, name)
    matrix = data(call("matrix", "a.csv", "b.csv", "-m", measure, "--json"))
    assert matrix["value"] == {name: "value over the whole list"}
    assert matrix["measures"][name][0][1] == pytest.approx(report[name]["auc"]["value"], rel=1e-12)
    mixed = call("matrix", "a.csv", "b.csv", "-m", measure, "-m", "fuji").stdout
    assert "FUJI: top-weighted AUC" in mixed
    assert ": value over the whole list" in mixed


def both():
    return fj.read("a.csv"), fj.read("b.csv")


def test_names_of_measures(call):
    values = [
        data(call("compare", "a.csv", "b.csv", "-m", name, "--json"))["measures"]["pog"]["auc"]["value"]
        for name in ("pog", "POG", "feature_agreement", "Feature_Agreement")
    ]
    assert len(set(values)) == 1
    done = call("compare", "a.csv", "b.csv", "-m", "jacard")
    assert (done.exit_code, "Did you mean 'jaccard'?" in done.stderr) == (2, True)


# --- notes


def test_notes_are_under_text_beside_tables_and_in_json(call):
    write("cut.csv", {"score": range(15, 0, -1)}, ITEMS[:15])
    command = ("compare", "a.csv", "cut.csv", "--missing", "zero")
    text = call(*command)
    assert text.stderr == ""
    assert "Note: cut lacks 5 of 20 items, scored 0: g15, g16, g17, g18, g19" in flat(text.stdout)
    assert "--universe N" in flat(text.stdout)
    assert max(map(len, text.stdout.splitlines())) <= 80
    table = call(*command, "--csv")
    assert "Note" not in table.stdout
    assert "Note: cut lacks 5 of 20 items, scored 0" in table.stderr
    assert call(*command, "--csv", "--quiet").stderr == ""
    notes = data(call(*command, "--json"))["notes"]
    assert any(note.startswith("cut lacks 5 of 20 items") for note in notes)
    assert any("--universe N" in note for note in notes)
    for command in (["matrix", "a.csv", "cut.csv"], ["explain", "a.csv", "cut.csv", "-k", 3]):
        assert "cut lacks 5 of 20 items" in flat(call(*command, "--missing", "zero").stdout)


def test_new_and_vanished_items_are_named(call):
    write("old.csv", {"score": [3, 2, 1]}, ["kept", "also", "vanished"])
    write("new.csv", {"score": [3, 2, 1]}, ["kept", "also", "fresh"])
    text = flat(call("compare", "old.csv", "new.csv", "--missing", "zero").stdout)
    assert "old lacks 1 of 4 items, scored 0: fresh" in text
    assert "new lacks 1 of 4 items, scored 0: vanished" in text
    text = flat(call("compare", "old.csv", "new.csv", "--missing", "drop").stdout)
    assert "2 of 4 items left; 2 dropped, not in every ranking: vanished, fresh" in text


def test_dropped_items_are_counted_over_several_tables(call):
    generator = np.random.default_rng(0)
    kept, every = None, set()
    for number in range(4):
        items = sorted(generator.choice(200, 150, replace=False).tolist())
        scores = generator.random(150)
        scores[:10] = np.nan
        write(f"t{number}.csv", {f"r{number}": scores}, [f"i{item}" for item in items])
        usable = set(items[10:])
        every |= set(items)
        kept = usable if kept is None else kept & usable
    done = call("matrix", *(f"t{i}.csv" for i in range(4)), "--nan", "drop", "--missing", "drop", "--json")
    assert data(done)["items"] == len(kept)
    left = [note.split()[:3] for note in data(done)["notes"] if "items left" in note]
    assert left[0][2] == str(len(every))
    assert left[-1][0] == str(len(kept))
    text = flat(call("matrix", *(f"t{i}.csv" for i in range(4)), "--nan", "drop", "--missing", "drop").stdout)
    assert f"Note: {' '.join(left[-1])} items left" in text


def test_averaged_clipped_transformed_and_guessed_are_said(call):
    write("twice.csv", {"score": range(22)}, [*ITEMS, "g3", "g4"])
    assert call("compare", "twice.csv", "a.csv").exit_code == 2
    for policy, how in (("max", "the best score kept"), ("mean", "scores averaged"), ("first", "the first score kept")):
        text = flat(call("compare", "twice.csv", "a.csv", "--duplicates", policy).stdout)
        assert f"twice: 2 duplicates merged, {how} (g3, g4)" in text
    write("signed.csv", {"score": np.arange(20) - 4.0})
    text = flat(call("compare", "signed.csv", "a.csv", "--negative", "clip").stdout)
    assert "signed: 4 of 20 scores are negative and count as 0" in text
    write("p.csv", {"padj": np.linspace(0.001, 1, 20)})
    write("d.csv", {"distance": np.linspace(1, 3, 20)})
    text = flat(call("compare", "p.csv", "d.csv").stdout)
    assert "p ('padj') looks like p-values, where small means good" in text
    assert "--transform neglog10" in text
    assert "d ('distance') looks like distances" in text
    assert "--transform reciprocal" in text
    text = flat(call("compare", "p.csv", "a.csv", "--transform", "neglog10").stderr)
    write("q.csv", {"padj": np.linspace(0.001, 1, 20)[::-1]})
    text = flat(call("compare", "p.csv", "q.csv", "--transform", "neglog10").stdout)
    assert "scores read as -log10" in text
    assert "looks like" not in text
    expected = fj.auc(-np.log10(np.linspace(0.001, 1, 20)), -np.log10(np.linspace(0.001, 1, 20)[::-1]))
    report = data(call("compare", "p.csv", "q.csv", "--transform", "neglog10", "--json"))
    assert report["measures"]["fuji"]["auc"]["value"] == pytest.approx(expected, rel=1e-12)


def test_lists_without_scores(call):
    Path("x.txt").write_text("\n".join(ITEMS) + "\n")
    Path("y.txt").write_text("\n".join(ITEMS[::-1]) + "\n")
    report = data(call("compare", "x.txt", "y.txt", "--json"))
    ranks = 1 / np.arange(1, 21)
    assert report["measures"]["fuji"]["auc"]["value"] == pytest.approx(fj.auc(ranks, ranks[::-1]), rel=1e-13)
    assert any("read as a list from best to worst, scores 1/rank" in note for note in report["notes"])


# --- universe


@pytest.fixture
def genes(call):
    """Write two top-100 lists of 17,611 genes that share 13, and the list of all genes."""
    folder = ROOT / "examples"
    lists = [fj.read(folder / f"genes_{name}.csv") for name in "ab"]
    assert len(set(lists[0].labels) & set(lists[1].labels)) == 13
    Path("all.txt").write_text("".join(f"GENE{i:05}\n" for i in range(1, 17_612)))
    return [call, str(folder / "genes_a.csv"), str(folder / "genes_b.csv")]


def test_a_universe_makes_gene_lists_significant(genes):
    call, a, b = genes
    reports = [
        data(call("compare", a, b, "--json", "--permutations", 1000, "--universe", universe))
        for universe in (17_611, "all.txt")
    ]
    assert reports[0]["measures"] == reports[1]["measures"]
    assert reports[0]["universe"] == 17_611
    assert reports[0]["ks"][-1] == 100
    for name in ("fuji", "jaccard"):
        level = reports[0]["measures"][name]["auc"]
        assert level["corrected"] > 0
        assert level["p_value"] < 0.01
    direct = fj.compare(fj.read(a), fj.read(b), universe=17_611)
    assert reports[0]["measures"]["fuji"]["auc"]["value"] == direct.auc["fuji"]
    assert "187 of 17611 items" in call("compare", a, b, "--universe", 17_611).stdout


def test_without_a_universe_there_is_no_chance_level(genes):
    call, a, b = genes
    report = data(call("compare", a, b, "--json", "--missing", "zero"))
    level = report["measures"]["fuji"]["auc"]
    assert (level["expected"], level["corrected"], level["z"], level["p_value"]) == (None, None, None, None)
    assert any("no chance level" in note and "--universe N" in note for note in report["notes"])
    assert "by chance" not in call("compare", a, b, "--missing", "zero").stdout
    done = call("compare", a, b)
    assert (done.exit_code, done.stdout) == (2, "")
    for remedy in ("--universe N", "--missing zero", "--missing drop"):
        assert remedy in done.stderr
    for command in (["matrix", a, b, "--corrected"], ["compare", a, b, "--corrected", "--fail-under", "0"]):
        done = call(*command, "--missing", "zero")
        assert (done.exit_code, "--universe" in done.stderr) == (2, True), command


def test_disjoint_lists_are_bounded_below_by_zero(call):
    write("one.csv", {"score": range(10, 0, -1)}, [f"x{i}" for i in range(10)])
    write("two.csv", {"score": range(10, 0, -1)}, [f"y{i}" for i in range(10)])
    report = data(call("compare", "one.csv", "two.csv", "--missing", "bounds", "--json"))
    assert report["ks"] == list(range(1, 11))
    assert report["bounds"]["auc"]["low"] == 0
    assert report["bounds"]["curve"]["low"] == [0] * 10
    assert 0 < report["bounds"]["auc"]["high"] < 1


# --- k


def test_no_k_beyond_what_was_asked_for(call):
    items = [f"i{i}" for i in range(1500)]
    generator = np.random.default_rng(0)
    for name in ("big_a", "big_b"):
        write(f"{name}.csv", {"score": generator.random(1500)}, items)
    report = data(call("compare", "big_a.csv", "big_b.csv", "--top", 500, "--json"))
    assert list(report["measures"]["fuji"]["at"]) == ["1", "5", "10", "50", "100"]
    assert "k = 1000" not in call("compare", "big_a.csv", "big_b.csv", "--top", 500).stdout
    report = data(call("compare", "big_a.csv", "big_b.csv", "--json"))
    assert list(report["measures"]["fuji"]["at"]) == ["1", "5", "10", "50", "100", "1000"]


def test_one_k_is_one_row(call):
    text = call("compare", "a.csv", "b.csv", "--ks", 5).stdout
    assert text.splitlines()[1] == "20 items, k = 5"
    assert text.count("k = 5 ") == 2  # one per measure
    assert "point" not in text
    report = data(call("compare", "a.csv", "b.csv", "--ks", 5, "--json"))
    assert list(report["measures"]["fuji"]["at"]) == ["5"]
    assert report["measures"]["fuji"]["auc"]["value"] == fj.fuji(*both(), 5)
    for command in (["compare", "a.csv", "b.csv", "-k", 21], ["explain", "a.csv", "b.csv", "-k", 21]):
        done = call(*command)
        assert (done.exit_code, "-k must lie between 1 and 20" in done.stderr) == (2, True)
    judged = call("compare", "a.csv", "b.csv", "--ks", 5, "--fail-under", 1)
    assert (judged.exit_code, "FAILED: FUJI (k = 5) " in judged.stdout, judged.stderr) == (1, True, "")


# --- undefined


def test_kendall_of_a_constant_is_undefined_everywhere(call):
    write("zeros.csv", {"score": np.zeros(10)}, ITEMS[:10])
    write("count.csv", {"score": range(10)}, ITEMS[:10])
    command = ("compare", "zeros.csv", "count.csv", "-m", "kendall")
    text = call(*command).stdout
    (row,) = [line.split() for line in text.splitlines() if "whole list" in line]
    assert row[-1] == "undefined"
    assert "kendall is undefined" in flat(text)
    report = data(call(*command, "--json"))
    assert report["measures"]["kendall"]["auc"]["value"] is None
    assert set(report["measures"]["kendall"]["curve"]) == {None}
    assert any("kendall is undefined" in note for note in report["notes"])
    done = call(*command, "--csv")
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert [row[1] for row in rows[1:]] == [""] * 10
    assert "kendall is undefined" in done.stderr
    command = ("matrix", "zeros.csv", "count.csv", "-m", "kendall", "--no-cluster")
    text = call(*command).stdout
    assert [line.split()[1:] for line in text.splitlines() if line.startswith(("zeros", "count"))] == [
        ["-", "-"],
        ["-", "1.000"],
    ]
    assert "kendall is undefined in 3 of 4 cells" in flat(text)
    (first, second) = data(call(*command, "--json"))["measures"]["kendall"]
    assert (first, second[0], second[1]) == ([None, None], None, pytest.approx(1))
    rows = list(csv.reader(io.StringIO(call(*command, "--csv").stdout)))
    assert [row[:2] for row in rows[1:]] == [["zeros", ""], ["count", ""]]
    text = call("matrix", "zeros.csv", "count.csv", "-m", "kendall", "--reference", "count.csv").stdout
    assert ["count", "zeros", "undefined"] in [line.split() for line in text.splitlines()]
    assert "nan" not in text


# --- chance and row order


def sparse(generator):
    scores = np.zeros(1000)
    scores[generator.choice(1000, 20, replace=False)] = generator.random(20) + 0.1
    return scores


def test_unrelated_sparse_rankings_are_at_chance(call):
    generator = np.random.default_rng(0)
    items = [f"i{i}" for i in range(1000)]
    write("left.csv", {f"l{i}": sparse(generator) for i in range(50)}, items)
    write("right.csv", {f"r{i}": sparse(generator) for i in range(50)}, items)
    measures = ("-m", "fuji", "-m", "jaccard", "-m", "pearson")
    report = data(call("matrix", "left.csv", "right.csv", "--corrected", "--no-cluster", "--json", *measures))
    for values in report["measures"].values():
        pairs = np.array(values)[:50, 50:].diagonal()
        assert abs(pairs.mean()) < 0.02
    for group in data(call("stability", "left.csv", "--corrected", "--json", *measures))["groups"]:
        assert abs(group["stability"]) < 0.02


@pytest.mark.parametrize("together", [True, False])
def test_the_order_of_rows_changes_nothing(call, together):
    generator = np.random.default_rng(3)
    columns = {f"c{i}": np.round(generator.pareto(1, 20), 0) for i in range(4)}
    commands = (
        ["compare", "x.csv", "y.csv", "-k", 4, "--permutations", 50],
        ["compare", "x.csv", "y.csv", "--csv", "-m", "gamma", "-m", "correlation", "-m", "kendall"],
        ["matrix", "x.csv", "y.csv", "z.csv", "--no-cluster", "--corrected"],
        ["stability", "x.csv", "y.csv", "z.csv", "--corrected"],
        ["explain", "x.csv", "y.csv", "-k", 4, "--csv"],
    )
    shown = []
    for seed in (None, 1, 2):
        orders = np.random.default_rng(seed)
        order = np.arange(20) if seed is None else orders.permutation(20)
        for name, scores in zip("xyz", columns.values(), strict=False):
            order = order if seed is None or together else orders.permutation(20)
            write(f"{name}.csv", {"score": scores[order]}, [ITEMS[i] for i in order])
        shown.append([rounded(call(*command).stdout, command) for command in commands])
    assert shown[0] == shown[1] == shown[2]


def rounded(text, command):
    """Return what is printed; a CSV table's numbers to 12 digits, and explain's rows as a set."""
    if "--csv" not in command:
        return text
    rows = [[_number(cell) for cell in row] for row in csv.reader(io.StringIO(text))]
    return sorted(rows, key=str) if command[0] == "explain" else rows


def _number(cell):
    try:
        return f"{float(cell):.12g}"
    except ValueError:
        return cell


# --- pairing


@pytest.mark.parametrize(("names", "paired"), [(["f1", "f2", "f3"], True), (["0", "1", "2"], False)])
def test_resamples_pair_by_name_as_in_the_library(call, names, paired):
    generator = np.random.default_rng(0)
    groups = [{name: generator.random(20) for name in names} for _ in range(2)]
    for file, group in zip(("m.csv", "n.csv"), groups, strict=True):
        write(file, group)
    (found,) = data(call("stability", "m.csv", "n.csv", "--json"))["differences"]
    direct = fj.stats.compare_stability(*groups)
    assert found["paired"] is direct.paired is paired
    assert found["p_value"] == direct.p_value


# --- writing, help, examples


def test_the_ending_decides_the_format(call):
    for command in (
        ["compare", "a.csv", "b.csv"],
        ["explain", "a.csv", "b.csv"],
        ["matrix", "a.csv", "b.csv"],
        ["measures"],
        ["rank", "iris", "--method", "mutual_information"],
    ):
        for option in ("--out", "-o"):
            assert call(*command, option, "r.json", "--force", "-q").exit_code == 0
            assert json.loads(Path("r.json").read_text())["command"] == f"fuji {command[0]}"
        assert call(*command, "-o", "r.csv", "-q").exit_code == 0
        assert len(list(csv.reader(io.StringIO(Path("r.csv").read_text())))) > 1
        done = call(*command, "-o", "r.csv")
        assert (done.exit_code, "Pass --force" in done.stderr) == (2, True)
        assert call(*command, "-o", "r.csv", "--force", "--json", "-q").exit_code == 0
        assert "notes" in json.loads(Path("r.csv").read_text())
        Path("r.csv").unlink()


def test_all_commands_share_the_writing_options():
    for name in COMMANDS:
        options = {
            spelling
            for parameter in import_module(f"fujiscore.cli.{name}").command.params
            for spelling in parameter.opts
            if spelling.startswith("-")
        }
        if name not in {"cite", "example"}:
            assert {"--out", "-o", "--json", "--force", "--quiet", "-q", "--show", "--debug"} <= options, name
        if name not in {"cite", "study", "paper", "example"}:
            assert "--csv" in options, name


@pytest.mark.parametrize("command", [[], ["measures"], *([name] for name in COMMANDS)])
def test_help_fits_80_columns(call, command):
    arguments = command if command == ["measures"] else [*command, "--help"]
    for options in (arguments, [*command, "--help"]):
        text = call(*options, env={"COLUMNS": "80"}).stdout
        assert [line for line in text.splitlines() if display_width(line) > 80] == []


def test_the_example_writes_files_and_commands_that_run(call):
    done = call("example", "my folder")
    assert done.exit_code == 0
    head, *lines = done.stdout.splitlines()
    assert head == "Example files are in my folder. Try:"
    assert {path.suffix for path in Path("my folder").iterdir()} == {".csv", ".trec"}
    assert len(lines) >= 4
    for line in lines:
        ran = call(*shlex.split(line)[1:])
        assert ran.exit_code == 0, (line, ran.stderr)
    again = call("example", "my folder")
    assert (again.exit_code, "--force" in again.stderr) == (2, True)
    assert call("example", "my folder", "--force").exit_code == 0


# --- chance


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_compare_says_which_alternative(monkeypatch, tmp_path, alternative):
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(1)
    scores = generator.random((2, 40)) + generator.random(40)
    for name, own in zip("ab", scores, strict=True):
        write(f"{name}.csv", {"score": own}, [f"i{i}" for i in range(40)])
    options = ["compare", "a.csv", "b.csv", "--alternative", alternative]
    run = CliRunner().invoke(fuji, [*options, "--json"])
    area = json.loads(run.stdout)["measures"]["fuji"]["auc"]
    level = fj.compare(*scores, alternative=alternative).levels()[0]
    assert (area["alternative"], area["method"], area["p_value"]) == (alternative, "analytic", level.p_value)
    assert area["z"] == level.z
    text = CliRunner().invoke(fuji, options).stdout
    how = "analytic" if alternative == "greater" else f"analytic, {alternative}"
    assert f"p of an area: {how}\n" in text
    assert fj.chance(*scores).in_words() in " ".join(text.split())
    bad = CliRunner().invoke(fuji, [*options[:-1], "more"])
    assert (bad.exit_code, "--alternative" in bad.stderr) == (2, True)


def test_compare_of_few_items_says_why_there_is_no_p(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        write(f"{name}.csv", {"score": range(1, 9)}, [f"i{i}" for i in range(8)])
    text = CliRunner().invoke(fuji, ["compare", "a.csv", "b.csv"]).stdout
    assert "no p-value: with 8 items, fewer than 20, it takes --permutations 1000" in " ".join(text.split())


# --- start


@pytest.mark.parametrize("arguments", [["--help"], ["compare", "a.csv", "b.csv"], ["compare", "--help"]])
def test_small_commands_load_nothing_heavy(monkeypatch, tmp_path, arguments):
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    items = [f"i{i}" for i in range(1000)]
    for name in "ab":
        write(f"{name}.csv", {"score": generator.pareto(1.5, 1000)}, items)
    script = (
        "import os, sys\nfor name in ('sched_getaffinity', 'fork', 'getuid', 'geteuid'):\n"
        "    if hasattr(os, name): delattr(os, name)\n"  # as on Windows
        "from fujiscore.cli import fuji\n"
        "try:\n    fuji.main(sys.argv[1:])\nexcept SystemExit as leaving:\n    assert not leaving.code\n"
        "heavy = 'numba scipy pandas pyarrow matplotlib sklearn fcntl resource termios pwd grp'.split()\n"
        "print([name for name in heavy if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={name: value for name, value in os.environ.items() if name != "FUJISCORE_COMPILE"},
    )
    assert done.stderr.splitlines()[-1] == "[]"


def test_show_limits_the_rows(call):
    assert "items shown)" not in flat(call("explain", "a.csv", "b.csv", "-k", 8).stdout)
    rows = len(fj.explain(*both(), 8).items)
    assert f"(2 of {rows} items shown)" in flat(call("explain", "a.csv", "b.csv", "-k", 8, "--show", 2).stdout)
    assert f"(1 of {rows} items shown)" in flat(call("compare", "a.csv", "b.csv", "-k", 8, "--show", 1).stdout)
    generator = np.random.default_rng(0)
    write("many.csv", {f"r{i}": generator.random(20) for i in range(40)})
    text = call("matrix", "many.csv", "--reference", "r0", "--show", 3).stdout
    assert "... 36 more rows" in text
    text = call("matrix", "many.csv", "--show", 3, env={"COLUMNS": "60"}).stdout
    most = text.split("most similar")[1].split("least similar")
    assert [len(part.strip().splitlines()) for part in (most[0], most[1].split("\n\n")[0])] == [4, 4]  # a header each


def test_the_least_p_value_is_a_bound(monkeypatch):
    monkeypatch.chdir(ROOT)
    done = CliRunner().invoke(fuji, ["compare", "examples/scores.csv:anova", "examples/scores.csv:anova", "-q"])
    rows = [line.split() for line in done.stdout.splitlines() if "AUC" in line]
    assert [row[-2:] for row in rows[:2]] == [["<=", "1e-09"]] * 2


def test_an_undefined_stability_is_no_number(call):
    Path("dead.csv").write_text("item,a,b,c\nx,1,1,3\ny,1,1,2\nz,1,1,1\n")
    done = call("stability", "dead.csv", "--corrected")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[lines.index(next(line for line in lines if line.startswith("dead: "))) + 2].split()[0] == "undefined"
    assert "nan" not in done.stdout
