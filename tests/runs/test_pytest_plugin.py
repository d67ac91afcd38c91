"""The fixture ranking_gate, in pytest sessions of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fujiscore as fj
from fujiscore.errors import InputError
from fujiscore.runs.baselines import ENDINGS
from fujiscore.runs.pytest_plugin import RankingGate

SOURCE = Path(fj.__file__).parents[1]
OLD = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 3.0, "b": 2.0, "c": 1.0}}
NEW = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"x": 3.0, "y": 2.0, "z": 1.0}}
MODULE = """
import os

def run():
    return {
        "q1": {"a": 3.0, "b": 2.0, "c": 1.0},
        "q2": {"x" if os.environ.get("CHANGED") else "a": 3.0, "b": 2.0, "c": 1.0},
    }

def test_search(ranking_gate):
    ranking_gate("search", run(), fail_under=0.9, k=2)

def test_features(ranking_gate):
    ranking_gate("features", run()["q2"], fail_under=0.9)
"""


@pytest.fixture
def session(tmp_path):
    """Run pytest in a folder with a test module; return its exit code and output."""
    (tmp_path / "test_search.py").write_text(MODULE, encoding="utf-8")

    def run(*options, **variables):
        paths = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONPATH": paths, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **variables}
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-W",
            "error",
            "-p",
            "pytest_fujiscore",
            "-p",
            "no:cacheprovider",
        ]
        done = subprocess.run(
            [*command, *options], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return run


def test_a_baseline_is_stored_held_against_and_replaced(session, tmp_path):
    folder = tmp_path / "ranking_baselines"
    code, text = session("--ranking-bless")
    assert code == 0, text
    assert sorted(path.name for path in folder.iterdir()) == ["features.parquet", "search.parquet"]
    assert "search.parquet (new), 2 queries" in text
    code, text = session()
    assert code == 0, text

    code, text = session(CHANGED="1")
    assert code == 1
    assert "FAILED: mean FUJI" in text
    assert "2 queries in both runs, compared at k = 2" in text
    assert "test_search.py:" in text  # the line of the test, not one of the package
    assert "pytest_plugin.py" not in text
    assert "If the change is wanted: pytest --ranking-bless replaces" in text
    least = text.split("query  FUJI")[1].splitlines()
    assert least[1].split()[:2] == ["E", "q2"]

    code, text = session("--ranking-bless", CHANGED="1")
    assert code == 0, text
    assert "search.parquet (replaced), 2 queries" in text


def test_the_tests_on_the_page_run(session, tmp_path):
    page = (SOURCE.parent / "docs" / "runs.md").read_text(encoding="utf-8")
    (tmp_path / "test_search.py").write_text(page.split("```py\n")[1].split("```")[0], encoding="utf-8")
    code, text = session("--ranking-bless")
    assert code == 0, text
    assert "3 passed" in text
    assert sorted(path.stem for path in (tmp_path / "ranking_baselines").iterdir()) == ["importances", "search"]


def test_the_plugin_loads_nothing_until_it_is_used(session, tmp_path):
    (tmp_path / "test_search.py").write_text(
        "import sys\ndef test_imports():\n    assert not {'numpy', 'fujiscore', 'numba'} & set(sys.modules)\n",
        encoding="utf-8",
    )
    code, text = session()
    assert code == 0, text


def test_the_entry_point_is_the_module():
    project = (SOURCE.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\npytest_fujiscore = "pytest_fujiscore"\n' in project


# The gate itself


@pytest.fixture
def gate(tmp_path):
    return RankingGate(tmp_path / "ranking_baselines")


def test_equal_runs_and_rankings_pass(gate):
    assert len(gate.check(OLD, OLD, fail_under=1)) == 2
    ranking = fj.rankings({"r": OLD["q1"]})
    for one in (OLD["q1"], ranking, ranking[0], [3, 2, 1], np.array([3.0, 2.0, 1.0]), ["a", "b", "c"]):
        result = gate.check(one, one, fail_under=1)
        assert len(result) == 1
        assert result.settings["k"] == "all"
    assert len(gate.check(1 + np.eye(3), 1 + np.eye(3), fail_under=1)) == 3
    assert len(gate.check(fj.rankings(OLD), fj.rankings(OLD), fail_under=1)) == 2


def test_tables_and_series_are_taken(gate):
    pandas = pytest.importorskip("pandas")
    rows = [(query, item, score) for query, items in OLD.items() for item, score in items.items()]
    table = pandas.DataFrame(rows, columns=["user", "item_id", "score"])
    assert len(gate.check(table, OLD, fail_under=1)) == 2
    series = pandas.Series(OLD["q1"])
    assert gate.check(series, OLD["q1"], fail_under=1).settings["k"] == "all"
    blessing = RankingGate(gate.folder, bless=True)
    blessing("table", table, fail_under=1)
    assert len(gate("table", table, fail_under=1)) == 2
    assert len(gate("table", OLD, fail_under=1)) == 2


def test_a_ranking_is_judged_above_its_floor(gate):
    a, b = {"a": 4, "b": 3, "c": 2, "d": 1}, {"a": 3, "b": 4, "c": 1, "d": 2}
    value = fj.compare(a, b).chance["fuji"].corrected_auc  # both have the same scores: the floor is the chance level
    assert gate.check(a, b, fail_under=value - 1e-9).values()[0] == pytest.approx(fj.auc(a, b))
    with pytest.raises(AssertionError, match="FAILED: mean FUJI above its floor"):
        gate.check(a, b, fail_under=value + 1e-9)
    assert gate.check(a, b, fail_under=1, k=2).settings["k"] == 2


def test_a_change_fails_with_what_changed(gate):
    with pytest.raises(AssertionError) as failure:
        gate.check(OLD, NEW, fail_under=0.9, fail_share_below=(0.5, 0.1), measures=["jaccard"])
    text = str(failure.value)
    assert "FAILED: mean Jaccard 0.5000, at least 0.9 required" in text
    assert "FAILED: share of queries with Jaccard below 0.5: 0.5000, at most 0.1 allowed" in text
    assert text.splitlines()[-1].split() == ["q2", "0.0000", "0", "of", "3"]
    with pytest.raises(AssertionError, match="1 query of a missing in b"):
        gate.check(OLD, {"q1": OLD["q1"]}, fail_under=0.1)
    assert gate.check(OLD, {"q1": OLD["q1"]}, fail_under=0.1, allow_missing_queries=True)


def test_rows_of_two_arrays_are_compared_by_position(gate):
    values = np.random.default_rng(0).random((20, 30))
    gate.check(values, values * 2, fail_under=1)
    with pytest.raises(AssertionError):
        gate.check(values, values[:, ::-1], fail_under=0.9)
    blessing = RankingGate(gate.folder, bless=True)
    blessing("rows", values, fail_under=1)
    assert gate("rows", values, fail_under=1).values().tolist() == [1] * 20


@pytest.mark.parametrize("ending", ENDINGS)
def test_labels_that_are_numbers_are_the_same_in_any_file(gate, monkeypatch, ending):
    monkeypatch.setattr("fujiscore.runs.pytest_plugin.usual_ending", lambda: ending)
    run = {1: {10: 3.0, 11: 2.0}, 2: {10: 1.0, 12: 2.0}}
    RankingGate(gate.folder, bless=True)("numbers", run, fail_under=1)
    assert [path.name for path in gate.folder.iterdir()] == [f"numbers{ending}"]
    assert len(gate("numbers", run, fail_under=1)) == 2


def test_a_missing_baseline_says_how_to_store_it(gate):
    with pytest.raises(AssertionError, match=r"no baseline .*search\.parquet\. Run pytest --ranking-bless once"):
        gate("search", OLD, fail_under=0.5)


def test_wrong_use_says_what_to_do(gate):
    with pytest.raises(InputError, match="a gate needs a bound: pass one of fail_under"):
        gate.check(OLD, NEW)
    with pytest.raises(InputError, match="fail_under must have numbers from 0 to 1"):
        gate.check(OLD, NEW, fail_under=90)
    with pytest.raises(InputError, match="both be rankings or both be runs"):
        gate.check(OLD, OLD["q1"], fail_under=0.9)
    for name in ("a/b", "", "../up", 3):
        with pytest.raises(InputError, match="name must be letters"):
            gate(name, OLD, fail_under=0.9)
    with pytest.raises(TypeError, match="depth"):
        gate.check(OLD, NEW, fail_under=0.9, depth=3)
    with pytest.raises(InputError):
        RankingGate(gate.folder, bless=True)("bad", {"q": {"a": -1.0}}, fail_under=0.9)
    assert not gate.folder.exists()
