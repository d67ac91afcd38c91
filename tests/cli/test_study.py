"""`fuji rank` and `fuji study` from the command line: the right numbers, whole files, one-line errors."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fujiscore.cli import fuji
from fujiscore.cli.data import Request, estimate
from fujiscore.features.datasets import load
from fujiscore.rankers import rank
from fujiscore.work.files import results_folder

QUICK = ("--resamples", "3", "--trees", "5", "--permutations", "9", "--no-progress")


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Return a function that runs a command in an empty folder: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as leaving:
            fuji.main(list(arguments))
        captured = capsys.readouterr()
        return leaving.value.code, captured.out, captured.err

    return call


def write(name, header, rows):
    Path(name).write_text("\n".join([header, *rows]) + "\n")


def example(name="d.csv", n=40):
    random = np.random.default_rng(0)
    write(
        name,
        "a,b,c,class",
        [f"{own[0]:.4f},{own[1]:.4f},{own[2]:.4f},{'xy'[int(own[0] > 0)]}" for own in random.normal(size=(n, 3))],
    )


def test_rank_writes_a_table_of_all_scores(run):
    example()
    code, _, errors = run("rank", "d.csv", "--target", "class", "--trees", "5", "-o", "rankings.csv")
    assert (code, errors) == (0, "report: rankings.csv\n")
    data = load("d.csv", "class")
    expected = rank(data.X, data.y, features=data.features, trees=5)
    with Path("rankings.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["feature"] for row in rows] == ["a", "b", "c"]
    for name in expected.names:
        assert [float(row[name]) for row in rows] == expected[name].scores.tolist()


def test_the_table_can_be_compared(run):
    example()
    run("rank", "d.csv", "--target", "class", "--trees", "5", "-o", "rankings.csv")
    code, out, _ = run("matrix", "rankings.csv", "--negative", "clip")
    assert code == 0
    assert "4 rankings of 3 items" in out


def test_rank_prints_the_best_features(run):
    code, out, _ = run("rank", "iris", "--method", "relief", "--show", "2")
    assert code == 0
    assert out.splitlines()[0] == "fuji rank: iris, 150 rows, 4 features, 3 classes"
    assert "petal width (cm)" in out
    assert "sepal" not in out


def test_rank_as_json(run):
    _, out, _ = run("rank", "iris", "--method", "relief", "--json")
    found = json.loads(out)
    assert found["target"] == "target"
    assert len(found["scores"]["relief"]) == 4


def test_study_prints_a_summary_and_writes_everything(run):
    example()
    code, out, errors = run("study", "d.csv", "--target", "class", "--out", "results/d", *QUICK)
    assert code == 0
    for words in (
        "Do the methods agree?",
        "How stable is each method?",
        "Which features matter?",
        "Features of different tiers",
    ):
        assert words in out
    assert "15 files: results/d" in errors
    assert "resumed" not in errors
    assert len(list(Path("results/d").iterdir())) == 16  # with the manifest
    assert [path.name for path in Path("results").iterdir()] == ["d"]  # the kept resamples are gone
    assert Path("results/d/summary.md").read_text().startswith("# Feature ranking study")


def test_study_replaces_its_own_files_and_no_others(run):
    example()
    arguments = ("study", "d.csv", "--target", "class", "--method", "relief", "--out", "mine", *QUICK)
    Path("mine").mkdir()
    write("mine/matrix.csv", "my,own", ["1,2"])
    code, _, errors = run(*arguments)
    assert code == 2
    assert "--out mine: the folder holds files that this command did not write (matrix.csv). Use --force" in errors
    assert Path("mine/matrix.csv").read_text().startswith("my,own")
    assert run(*arguments, "--force")[0] == 0
    assert run(*arguments)[0] == 0


MINE = ["curves.csv", "stability.csv", "p_values.csv", "top_features.csv", "matrix.png", "summary.md", "notes.txt"]


@pytest.mark.parametrize("name", [*MINE, ".resamples/resample-0000-0123456789abcdef.npz"])
def test_no_file_of_the_users_is_touched(run, name):
    example()
    arguments = ("study", "d.csv", "--target", "class", "--method", "relief", "--out", "mine", *QUICK)
    path = Path("mine", name)
    path.parent.mkdir(parents=True)
    path.write_text("# Feature ranking study\nmine")
    path.chmod(0o600)
    code, _, errors = run(*arguments)
    assert code == 2
    assert f"did not write ({name}). Use --force" in errors
    assert path.read_text() == "# Feature ranking study\nmine"
    assert run(*arguments, "--force")[0] == 0
    assert path.stat().st_mode & 0o777 == 0o600
    if name.endswith(".png"):
        pytest.importorskip("matplotlib")
    kept = name in {"notes.txt", ".resamples/resample-0000-0123456789abcdef.npz"}
    assert (path.read_bytes() == b"# Feature ranking study\nmine") == kept


def test_a_file_that_looks_like_ours_is_replaced_only_with_force(run):
    write("scores.csv", "item,a,b", ["x,3,1", "y,2,2", "z,1,3"])
    Path("results.csv").write_text("auc,mine\n1,2\n")
    Path("results.csv").chmod(0o600)
    arguments = ("compare", "scores.csv", "--csv", "--out", "results.csv")
    code, _, errors = run(*arguments)
    assert code == 2
    assert "exists already. Pass --force" in errors
    assert Path("results.csv").read_text() == "auc,mine\n1,2\n"
    assert run(*arguments, "--force")[0] == 0
    assert Path("results.csv").read_text() != "auc,mine\n1,2\n"
    assert Path("results.csv").stat().st_mode & 0o777 == 0o600


def test_finished_resamples_of_other_options_are_not_said_to_be_resumed(run):
    example()
    arguments = ("study", "d.csv", "--target", "class", "--method", "relief", *QUICK)
    assert run(*arguments, "--out", "whole")[0] == 0
    folder = Path(".o.fujiscore/resume")
    folder.mkdir(parents=True)
    Path(".o.fujiscore/.fujiscore").touch()
    (folder / "resample-0000-0123456789abcdef.scores").write_text("of other data")
    code, _, errors = run(*arguments, "--out", "o")
    assert code == 0
    assert "resumed" not in errors
    assert Path("o/summary.md").read_bytes() == Path("whole/summary.md").read_bytes()
    assert not Path(".o.fujiscore").exists()


def test_a_second_writer_is_told_at_once(run):
    example()
    arguments = ("study", "d.csv", "--target", "class", "--method", "relief", *QUICK, "--out", "o")
    with results_folder("o", "fuji study", argument="out", force=False):
        code, _, errors = run(*arguments)
    assert code == 2
    assert "--out o: another process is writing to it" in errors
    assert run(*arguments)[0] == 0


def test_study_as_json_holds_all_tables(run):
    _, out, _ = run("study", "iris", "--method", "relief", "--method", "mutual_information", "--json", *QUICK)
    found = json.loads(out)
    assert found["command"] == "fuji study"
    assert found["resamples"] == 3
    assert [row["method"] for row in found["matrix"]] == ["relief", "mutual_information"]
    assert found["p_values"][0]["relief"] is None
    assert found["area"] == "top-weighted AUC"


LONG = ["study", "d.csv", "--target", "class", "--method", "random_forest", "--resamples", "6", "--trees", "80"]
LONG += ["--permutations", "9", "--jobs", "1"]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """Return what the long study prints if nothing stops it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("uninterrupted"))
        example(n=400)
        return CliRunner().invoke(fuji, LONG).stdout


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_study_goes_on_with_the_same_command(run, tmp_path, stop, uninterrupted):
    example(n=400)
    arguments = [*LONG, "--out", "o"]
    running = subprocess.Popen([sys.executable, "-m", "fujiscore", *arguments], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while len(list(tmp_path.glob(".o.fujiscore/resume/resample-*"))) < 2:
        assert running.poll() is None, "it ended before it could be stopped"
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(running.pid, stop)
    said = running.communicate()[1]
    assert re.search(r"\d+ finished resamples? kept: the same command resumes", said) or stop == signal.SIGKILL
    assert running.returncode == (-9 if stop == signal.SIGKILL else 128 + stop)
    code, out, errors = run(*arguments)
    assert code == 0
    assert re.search(r"resumed with \d+ finished resamples of an interrupted run", errors)
    assert not list(tmp_path.glob(".o*"))
    assert out == uninterrupted


BAD = {
    "no target": (["d.csv"], "--target class"),
    "mistyped target": (["d.csv", "--target", "clas"], "Did you mean 'class'"),
    "no file": (["e.csv", "--target", "class"], "must be a file; there is none"),
    "one class": (["one.csv", "--target", "class"], "at least two classes"),
    "text as a quantity": (["d.csv", "--target", "class", "--task", "regression"], "numbers for --task regression"),
    "a quantity as classes": (["gaps.csv", "--target", "a", "--task", "classification"], "Pass --task regression"),
    "infinite": (["inf.csv", "--target", "class"], "finite numbers"),
    "duplicate": (["dup.csv", "--target", "class"], "must name each column once"),
    "fraction": (["d.csv", "--target", "class", "--fraction", "2"], "fraction must be a number between 0 and 1"),
    "method": (["d.csv", "--target", "class", "--method", "magic"], "'magic' is not one of"),
    "one feature": (["single.csv", "--target", "class"], "at least 2 features"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_exit_code_2(run, case):
    example()
    write("one.csv", "a,b,class", [f"{i},{i % 3},x" for i in range(9)])
    write("gaps.csv", "a,b,class", [f"{i or ''},{i % 3},{'xy'[i % 2]}" for i in range(9)])
    write("inf.csv", "a,b,class", [f"{i or 'inf'},{i % 3},{'xy'[i % 2]}" for i in range(9)])
    write("dup.csv", "a,a,class", [f"{i},{i % 3},{'xy'[i % 2]}" for i in range(9)])
    write("single.csv", "a,class", [f"{i * i},{'xy'[i % 2]}" for i in range(9)])
    arguments, message = BAD[case]
    code, out, errors = run("study", *arguments)
    assert code == 2
    assert out == ""
    assert message in errors
    assert "Traceback" not in errors
    assert len([line for line in errors.splitlines() if not line.startswith("Try ")]) == 1


def test_text_becomes_categories_with_a_note(run):
    write("d.csv", "a,colour,class", [f"{i * i % 11},{['red', 'blue'][i // 3 % 2]},{'xy'[i % 2]}" for i in range(30)])
    code, out, errors = run("rank", "d.csv", "--target", "class", "--method", "relief")
    assert (code, errors) == (0, "")
    assert "Note: d.csv: " in out
    assert "categorical: 'colour'" in out
    _, _, errors = run("rank", "d.csv", "--target", "class", "--method", "relief", "--csv")
    assert "categorical: 'colour'" in errors
    _, out, _ = run("rank", "d.csv", "--target", "class", "--method", "relief", "--json")
    assert any("categorical: 'colour'" in note for note in json.loads(out)["notes"])


def test_a_million_rows_are_announced_with_a_way_out(run, monkeypatch):
    asked = Request("d", "y", (), (), "auto", None, "keep", None, None, ("relief", "genie3"), 200, 0)
    assert estimate((1_000_000, 20), asked, 21) > 3600
    assert estimate((1797, 64), asked, 21) < 120
    example()
    monkeypatch.setattr("fujiscore.cli.data.LONG", 1e-9)
    _, _, errors = run("study", "d.csv", "--target", "class", *QUICK)
    assert "40 rows: about" in errors
    write("long.csv", "a,b,class", [f"{i % 13},{i % 7},{'xy'[i % 2]}" for i in range(3000)])
    _, out, _ = run("rank", "long.csv", "--target", "class", "--method", "relief", "--rows", "200")
    assert "sample of 200 of 3000 rows" in " ".join(out.split())


@pytest.mark.parametrize("measure", ["kendall", "RBO:0.98", "jaccard"])
def test_a_study_by_another_measure(run, measure):
    example()
    arguments = ("study", "d.csv", "--target", "class", "--method", "relief", "--method", "mutual_information")
    arguments += ("--resamples", "3", "--permutations", "0", "--no-progress", "-m", measure)
    code, out, errors = run(*arguments)
    assert code == 0, errors
    assert max(map(len, out.splitlines())) <= 80
    table = out.split("Do the methods agree?")[1].split("\n\n")[0]
    whole, closed = measure != "jaccard", measure != "kendall"  # RBO's chance level has a closed form
    assert ("value over the whole list" in table, "by chance" in table) == (whole, closed)
    code, out, _ = run(*arguments, "--json")
    report = json.loads(out)
    assert report["area"] == ("value over the whole list" if whole else "top-weighted AUC")
    assert all((row["expected"] is not None) == closed for row in report["curves"])


def test_a_dead_method_is_marked(run):
    random = np.random.default_rng(0)
    rows = [f"{a},{b},{'xy'[i % 2]}" for i, (a, b) in enumerate(random.normal(size=(40, 2)).tolist())]
    write("noise.csv", "a,b,class", rows)
    code, out, errors = run("study", "noise.csv", "--target", "class", *QUICK)
    assert code == 0, errors
    assert "(flat" in out
    assert "undefined" in out
    assert max(map(len, out.splitlines())) <= 80


def test_figures_in_other_formats(run, tmp_path):
    code, _, err = run("study", "iris", *QUICK, "--method", "relief", "--figures", "svg")
    assert code == 2
    assert err.startswith("fuji study: --figures is the format of the figures in a folder: pass --out DIR too.")
    code, _, err = run("study", "iris", *QUICK, "--method", "relief", "--figures", "svg", "--out", "new")
    assert code == 0
    assert "no figures" not in err
    names = {path.name for path in (tmp_path / "new").iterdir()}
    assert "stability.svg" in names
    assert not [name for name in names if name.endswith((".png", ".pdf"))]
