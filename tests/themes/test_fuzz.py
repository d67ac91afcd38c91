"""The fuzzer itself: whatever a reader does wrong is found, counted, and kept with the file that makes it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))
from fuzz import tables  # noqa: E402 - the fuzzer is not installed

PLANTED = """
import ctypes, os, sys, time, warnings
from pathlib import Path
from fuzz import watch
from fujiscore import InputError

def refuse(): raise InputError("a file must be right.")
class Rambling(InputError):
    def __str__(self): return "a file\\nmust be right."
def ramble(): raise Rambling()
def fail(): raise IndexError("planted")
def warn(): warnings.warn("planted", RuntimeWarning)
def crash(): ctypes.string_at(0)
def hang(): time.sleep(60)
def grow(): bytearray(watch.MEMORY)

def prepare(index, slot):
    (slot / "mutated.csv").write_text(str(index))
    return "csv", (lambda: "read", refuse, ramble, fail, warn, crash, hang, grow, lambda: "read")[index]

tally = watch.Tally(Path(sys.argv[1], "kept"))
watch.campaign("files", lambda: prepare, 9, tally, Path(sys.argv[1], "scratch"), InputError, limit=1)
print(sorted((word, count) for (_, word), count in tally.outcomes.items()))
"""


def run(*arguments):
    """Run Python in the project's folder."""
    command, path = [sys.executable, *map(str, arguments)], os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONFAULTHANDLER": ""}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=False)


def test_whatever_goes_wrong_is_found_and_kept(tmp_path):
    ended = run("-c", PLANTED, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == "[('failed', 6), ('read', 2), ('refused', 1)]"
    kinds = {2: "one line", 3: "IndexError", 4: "RuntimeWarning", 5: "SIGSEGV", 6: "hang", 7: "MemoryError"}
    kept = tmp_path / "kept"
    assert {path.name for path in kept.iterdir()} == {f"files-{index}" for index in kinds}
    for index, kind in kinds.items():
        folder = kept / f"files-{index}"
        assert (folder / "mutated.csv").read_text() == str(index)
        printed = ended.stdout.partition(f"  files   {folder}: mutated.csv\n")
        assert kind in printed[0].splitlines()[-1]
        assert printed[2].startswith(f"  repeat  python -m fuzz --repeat {folder}\n")


def test_files_processes_resume_and_arguments_are_tried_and_counted(tmp_path):
    sizes = ("--files", 40, "--processes", 1, "--resume", 2, "--arguments", 6)
    ended = run("-m", "fuzz", *sizes, "--formats", "json", "libsvm", "--keep", tmp_path / "kept")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    lines = [line for line in ended.stdout.splitlines() if line and not line.startswith(" ")]
    assert [line.partition(":")[0] for line in lines] == ["files", "processes", "resume", "arguments"]
    read = [int(line.split("; ")[1].split()[0]) for line in lines]
    assert read[0] >= 4
    assert read[2] == 2
    assert [line.split()[0] for line in ended.stdout.splitlines() if line.startswith("  ")][:2] == ["json", "libsvm"]


@pytest.mark.parametrize(("arguments", "ending"), [(["compare", "absent.csv"], "refused"), (["measures"], "read")])
def test_a_kept_case_is_repeated(tmp_path, arguments, ending):
    case = {"kind": "arguments", "process": False, "choice": 0, "arguments": arguments}
    (tmp_path / "case.json").write_text(json.dumps(case))
    ended = run("-m", "fuzz", "--repeat", tmp_path)
    assert ended.stdout.splitlines()[-1] == ending
    assert ended.returncode == 0


@pytest.mark.parametrize(
    ("items", "scores", "wrong"),
    [
        (["672", "7157"], [5.0, 3.0], ""),
        (["5", "3"], [672.0, 7157.0], "items must be those of a column of labels"),
        (["672", "7157"], [0.1, 0.2], "must not be skipped"),
        (["672", "7157"], [5.0, 4.0], "scores must be those of a column of numbers"),
        (["672"], [5.0], "items must be those of a column of labels"),
    ],
)
def test_the_oracle_of_tables_finds_swapped_and_skipped_columns(items, scores, wrong):
    truth = {
        "labels": [["672", "7157"]],
        "numbers": {"score": [5.0, 3.0], "std": [0.1, 0.2]},
        "score": "score",
        "regular": True,
        "unknown": False,
    }
    assert wrong in tables.agrees([("x", items, scores)], truth)
    assert bool(wrong) == bool(tables.agrees([("x", items, scores)], truth))
    assert tables.agrees(None, truth) == "a regular table must be read"
    foreign = truth | {"numbers": {"std": [0.1, 0.2]}, "regular": False}
    deviations = [("x", ["672", "7157"], [0.1, 0.2])]
    assert tables.agrees(deviations, foreign) == "scores that are not plain numbers must be refused"
    assert tables.agrees(None, foreign) == ""


def test_generated_tables_are_read_as_made_or_refused(tmp_path):
    ended = run("-m", "fuzz", "--tables", 120, "--keep", tmp_path)
    assert ended.returncode == 0, ended.stdout
    assert ", 0 failed" in ended.stdout
