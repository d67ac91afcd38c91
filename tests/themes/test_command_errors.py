"""Bad input and wrong usage: exit code 2, a line or two that name the place and the remedy, and nothing left behind."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field

import pytest
from click.testing import CliRunner

from fujiscore.cli import fuji

GOOD = b"item,score\na,3\nb,2\nc,1\nd,0.5\n"
WIDE = b"item,x,y,z\na,3,1,2\nb,2,3,1\nc,1,2,3\nd,0,0,0\n"
FIMP = b"made for a test\n" + b"-" * 100 + b"\n"
RUN = b"q1 Q0 a 1 3.0 t\nq1 Q0 b 2 2.0 t\n"


@dataclass(frozen=True)
class Case:
    """A command line, the files it finds (good.csv and wide.csv are always there), and what it must say."""

    name: str
    arguments: tuple[str, ...]
    says: tuple[str, ...]
    files: dict[str, bytes] = field(default_factory=dict)
    process: bool = False


def bad(name, content, *says, file="bad.csv", options=(), process=False):
    """Return a case of one file that cannot be read."""
    return Case(name, ("compare", file, "good.csv", *options), ("bad", *says), {file: content}, process)


def wrong(name, line, *says, process=False, **files):
    """Return a case of wrong usage."""
    return Case(name, tuple(line.split()), says, files, process)


CASES = [
    bad("empty file", b"", "it is empty", process=True),
    bad("blank lines only", b"\n\n  \n"),
    bad("header only", b"item,score\n", "header", process=True),
    bad("one column of numbers", b"score\n1.5\n2.5\n", "bad.csv must name its items", "--item score"),
    bad("a list that lacks items", b"item\na\nb\n", "lacks 2 of 4", "--universe N", "--missing zero", "--missing drop"),
    bad("text in the score column", GOOD + b"e,high\n", "line 6", "'score'", "'high'", process=True),
    bad("duplicate item", GOOD + b"a,9\n", "'a'", "lines 2 and 6", process=True),
    bad("NaN", GOOD.replace(b"2", b"NaN"), "NaN", "'b'", "--nan zero", "--nan drop"),
    bad("an empty score", GOOD.replace(b"2", b""), "--nan zero"),
    bad("infinite score", GOOD.replace(b"2", b"inf"), "infinite", "'b'"),
    bad(
        "negative score",
        GOOD.replace(b"2", b"-2"),
        "negative",
        "'b'",
        "--negative clip",
        "--negative abs",
        process=True,
    ),
    bad(
        "other items",
        b"item,score\na,1\nx,2\n",
        "lacks",
        "--universe N",
        "--missing zero",
        "--missing drop",
        process=True,
    ),
    bad("no shared items", b"item,score\nx,1\ny,2\n", "none in common", options=("--missing", "drop")),
    bad("wrong delimiter", b"item#score\na#1\nb#2\n", "two columns"),
    bad("ragged row", GOOD + b"e,1,2\n", "line 6", process=True),
    bad("quote never closed", b'item,score\n"a,1\nb,2\n'),
    bad("binary", bytes(range(256)) * 8, "binary", process=True),
    bad("UTF-16 without a mark", GOOD.decode().encode("utf-16-le"), "UTF-16"),
    bad("Latin-1", "item,score\na,1\né,2\n".encode("latin-1"), "line 3", "UTF-8"),
    bad("truncated gzip", gzip.compress(GOOD * 50)[:-12], file="bad.csv.gz", process=True),
    bad("not gzip", b"\x1f\x8bnothing of the kind", file="bad.csv.gz"),
    bad("huge line", b"item,score\n" + b"a" * (20 << 20), "16 MB", process=True),
    bad("JSON syntax", b'{"a": 1,', "line 1", file="bad.json"),
    bad("JSON of another shape", b"[[1, 2], [3, 4]]", file="bad.json"),
    bad("JSON text score", b'{"a": 1, "b": "x"}', "item 2", "'x'", file="bad.json"),
    bad("JSON empty", b"{}", file="bad.json"),
    bad("JSON repeated item", b'{"a": 1, "a": 2}', "'a'", file="bad.json"),
    bad("fimp without header", b"1\ta\t[1]\t[2]\n", file="bad.fimp"),
    bad("fimp line", FIMP + b"1\ta\t[1]\n", "line 3", file="bad.fimp"),
    bad("fimp score", FIMP + b"1\ta\t[1]\t[x]\n", "line 3", file="bad.fimp"),
    bad("TREC line", RUN + b"q1 Q0 c 3\n", "line 3", file="bad.trec"),
    bad("TREC score", RUN + b"q1 Q0 c 3 high t\n", "line 3", file="bad.trec"),
    bad("not Parquet", b"item,score\na,1\n", file="bad.parquet"),
    bad("broken Parquet", b"PAR1" + bytes(64) + b"PAR1", file="bad.parquet"),
    bad("not Feather", b"ARROW1" + bytes(64), file="bad.feather"),
    bad("repeated column", b"item,score,score\na,1,2\nb,2,1\n", "'score'"),
    bad("no item column", b"x,y,z\n1.5,2,3\n4.5,5,6\n", "--item"),
    bad("unknown item column", GOOD, "--item", "'itme'", "'item'", options=("--item", "itme")),
    bad("unknown score column", GOOD, "--score", "'scor'", "'score'", options=("--score", "scor"), process=True),
    bad("unknown ranking column", GOOD, "--ranking", "'fold'", options=("--ranking", "fold")),
    wrong("missing file", "compare goof.csv good.csv", "goof.csv", "Did you mean good.csv?", process=True),
    wrong("missing folder", "compare nowhere/a.csv good.csv", "no folder nowhere"),
    wrong("a folder", "compare . good.csv", "it is a folder"),
    wrong("unknown column after the colon", "compare wide.csv:w good.csv", "wide.csv", "'w'"),
    wrong("several rankings in a file", "compare wide.csv good.csv", "3 rankings: x, y, z", "wide.csv:x", process=True),
    wrong("one ranking only", "compare good.csv", "one ranking", "second file"),
    wrong("three files", "compare good.csv good.csv good.csv", "got 3", "fuji matrix"),
    wrong("standard input twice", "compare - -", "standard input"),
    wrong("no files", "compare", "Missing argument"),
    wrong("unknown command", "comprae good.csv good.csv", "comprae", process=True),
    wrong("unknown option", "compare good.csv good.csv --mesure fuji", "--mesure", process=True),
    wrong(
        "unknown measure", "compare good.csv good.csv -m jacard", "'jacard'", "Did you mean 'jaccard'?", process=True
    ),
    wrong("unknown policy", "compare good.csv good.csv --nan ignore", "'ignore'", "drop"),
    wrong("unknown format", "compare good.csv good.csv --format xls", "'xls'", "parquet"),
    wrong("k too large", "compare good.csv good.csv -k 9", "-k", "4", "got 9"),
    wrong("k of nothing", "compare good.csv good.csv -k 0", "'0'", "an integer of at least 1"),
    wrong("k is a word", "explain good.csv good.csv -k ten", "'ten'"),
    wrong("k too large to explain", "explain good.csv good.csv -k 10", "-k must lie between 1 and 4", "got 10"),
    wrong("top too large", "compare good.csv good.csv --top 9", "--top must be at most 4", "got 9"),
    wrong("top and ks", "compare good.csv good.csv --top 2 --ks exp", "--top", "--ks"),
    wrong("ks unknown", "compare good.csv good.csv --ks log", "'log'", "squared"),
    wrong("ks falling", "compare good.csv good.csv --ks 3,1", "--ks must increase"),
    wrong("ks outside", "matrix wide.csv --ks 1,9", "--ks must lie between 1 and 4", "got 9"),
    wrong("permutations below 0", "compare good.csv good.csv --permutations -1", "'-1'"),
    wrong("threshold is a word", "compare good.csv good.csv --fail-under high", "'high'"),
    wrong("threshold out of range", "compare good.csv good.csv --fail-under 80", "from 0 to 1", "got 80"),
    wrong("threshold below range", "compare good.csv good.csv --fail-under -0.1", "from 0 to 1"),
    wrong(
        "corrected without a level",
        "compare good.csv good.csv -m gamma --corrected --fail-under 0.5",
        "the chance level of gamma",
        "--permutations 1000",
    ),
    wrong("universe too small", "compare good.csv good.csv --universe 3", "--universe must be at least", "4"),
    wrong("universe of nothing", "compare good.csv good.csv --universe 0", "--universe"),
    wrong("universe without a file", "compare good.csv good.csv --universe none.txt", "none.txt"),
    wrong(
        "universe without some items",
        "compare good.csv good.csv --universe some.txt",
        "--universe must hold every item",
        **{"some.txt": b"a\nb\nx\ny\nz\n"},
    ),
    wrong("universe and drop", "compare good.csv good.csv --universe 9 --missing drop", "--universe", "--missing drop"),
    bad("p-values out of range", GOOD, "--transform neglog10", "between 0 and 1", options=("--transform", "neglog10")),
    bad(
        "all negative",
        b"item,score\na,-1\nb,-2\nc,-3\nd,-4\n",
        "--transform exp",
        "--negative abs",
        options=("--negative", "clip"),
    ),
    wrong("parameter of a measure", "compare good.csv good.csv -m rbo:2", "rbo:2: p must be"),
    wrong("parameter of no measure", "compare good.csv good.csv -m fuji:2", "fuji"),
    wrong("JSON and CSV", "compare good.csv good.csv --json --csv", "--json", "--csv"),
    wrong("plot without suffix", "compare good.csv good.csv --plot picture", ".png", "'picture'"),
    wrong("plot and report alike", "compare good.csv good.csv --plot x.png --out x.png", "two files"),
    wrong("plot into nowhere", "compare good.csv good.csv --plot nowhere/x.png", "folder nowhere does not exist"),
    wrong(
        "report into nowhere",
        "compare good.csv good.csv --out nowhere/x",
        "folder nowhere does not exist",
        process=True,
    ),
    wrong("report onto a folder", "compare good.csv good.csv --out .", "not an ordinary file"),
    wrong("report onto a device", f"measures --out {os.devnull} --force", "not an ordinary file"),
    wrong("report onto an input", "compare good.csv wide.csv:x --out good.csv --force", "read as input"),
    wrong("bounds of another measure", "compare good.csv good.csv --missing bounds -m gamma", "FUJI only"),
    wrong("bounds corrected", "compare good.csv good.csv --missing bounds --corrected", "--corrected"),
    wrong("bounds with stable ties", "compare good.csv good.csv --missing bounds --ties stable", "--ties closed"),
    wrong("matrix of one", "matrix good.csv", "at least 2"),
    wrong("matrix corrected by permutations", "matrix wide.csv -m gamma --corrected", "gamma", "permutations"),
    wrong(
        "stable ties corrected",
        "matrix ties.csv --corrected --ties stable",
        "--ties closed",
        **{"ties.csv": b"item,x,y\na,3,0\nb,0,3\nc,0,0\nd,0,0\n"},
    ),
    wrong("unknown reference", "matrix wide.csv --reference w", "'w'", "x, y, z"),
    wrong("stability of two", "stability good.csv good.csv", "at least 3", "got 2", process=True),
    wrong("stability against nothing", "stability wide.csv --versus", "--versus"),
    wrong("stability against too few", "stability wide.csv --versus good.csv", "at least 3"),
    wrong("paired with nothing", "stability wide.csv --paired", "--versus"),
    wrong("confidence", "stability wide.csv --confidence 95", "--confidence", "between 0 and 1", "95"),
    wrong("unknown measure to explain", "measures gama", "'gama'", "'gamma'"),
]
PROCESSES = [case for case in CASES if case.process][::3]  # all run within this process
OUTPUT = ("--out", "report.txt", "--plot", "picture.png")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "good.csv").write_bytes(GOOD)
    (tmp_path / "wide.csv").write_bytes(WIDE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def prepare(folder, case):
    """Write the case's files, and return its arguments with files to write where it names none."""
    for name, content in case.files.items():
        (folder / name).write_bytes(content)
    files = case.arguments[0] == "compare" and not {"--out", "--plot"} & set(case.arguments)
    return [*case.arguments, *(OUTPUT if files else ())], snapshot(folder)


def snapshot(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def check(case, code, shown, said, folder, before):
    assert code == 2, shown + said
    assert shown == ""
    assert "Traceback" not in said
    message = said[said.index("fuji") :].splitlines()
    assert len(message) == 1, said
    assert "='" not in message[0], said  # options, never arguments of Python
    assert "fujiscore." not in message[0], said
    for part in case.says:
        assert part in "\n".join(message), said
    assert snapshot(folder) == before


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bad_input(folder, case):
    arguments, before = prepare(folder, case)
    done = CliRunner().invoke(fuji, arguments)
    check(case, done.exit_code, done.stdout, done.stderr, folder, before)


@pytest.mark.parametrize("case", PROCESSES, ids=lambda case: case.name)
def test_bad_input_to_a_process(folder, case):
    arguments, before = prepare(folder, case)
    done = subprocess.run(
        [sys.executable, "-m", "fujiscore", *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    check(case, done.returncode, done.stdout, done.stderr, folder, before)


def test_there_are_many_kinds():
    assert len({case.name for case in CASES}) == len(CASES) >= 40
    assert len(PROCESSES) >= 5


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("BOM", b"\xef\xbb\xbf" + GOOD),
        ("CRLF", GOOD.replace(b"\n", b"\r\n")),
        ("UTF-16 with its mark", GOOD.decode().encode("utf-16")),
        ("quoted separators", b'item,score\n"a",3\n"b",2\n"c","1"\n"d",0.5\n'),
        ("no newline at the end", GOOD.rstrip()),
        ("semicolons", GOOD.replace(b",", b";")),
        ("no header", GOOD.split(b"\n", 1)[1]),
        ("another order", b"item,score\nd,0.5\nc,1\nb,2\na,3\n"),
        ("numbers in other forms", b"item,score\na,3e0\nb,+2\nc,1.\nd,.5\n"),
    ],
)
def test_good_input_in_other_clothes(folder, name, content):
    (folder / "other.csv").write_bytes(content)
    done = CliRunner().invoke(fuji, ["compare", "other.csv", "good.csv", "--json"])
    assert done.exit_code == 0, (name, done.stderr)
    assert json.loads(done.stdout)["measures"]["fuji"]["auc"]["value"] == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_no_permission(folder):
    (folder / "locked.csv").write_bytes(GOOD)
    (folder / "locked.csv").chmod(0)
    done = CliRunner().invoke(fuji, ["compare", "locked.csv", "good.csv"])
    assert (done.exit_code, "locked.csv" in done.stderr) == (2, True)
    shut = folder / "shut"
    shut.mkdir()
    shut.chmod(0o500)
    done = CliRunner().invoke(fuji, ["compare", "good.csv", "good.csv", "--out", "shut/report"])
    assert (done.exit_code, "shut" in done.stderr) == (2, True)


def test_a_full_disk():
    """Linux has a device that is always full: what is written there fails when it is flushed."""
    if not os.path.exists("/dev/full"):  # noqa: PTH110
        pytest.skip("needs /dev/full")
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "fujiscore", "measures"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr == "fuji: standard output cannot be written: No space left on device.\n"


@pytest.mark.usefixtures("folder")
def test_debug_shows_where():
    done = CliRunner().invoke(fuji, ["compare", "none.csv", "good.csv", "--debug"])
    assert done.exit_code == 2
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("fuji compare: none.csv")


@pytest.mark.usefixtures("folder")
def test_a_fault_of_ours_is_said_plainly(monkeypatch):
    def fail(*_args, **_options):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("fujiscore.compare", fail)
    done = CliRunner().invoke(fuji, ["compare", "good.csv", "good.csv", "-q"])
    assert done.exit_code == 2
    assert done.stderr == (
        "fuji compare: unexpected ZeroDivisionError: division by zero. Run it again with --debug to see where, and "
        "report it.\n"
    )


def test_a_library_that_is_not_installed(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    done = CliRunner().invoke(fuji, ["compare", "good.csv", "good.csv", "-q", "--plot", "x.png", "--out", "report"])
    assert done.exit_code == 2
    assert done.stderr == "fuji compare: --plot needs matplotlib: pip install 'fujiscore[plot]'\n"
    assert sorted(path.name for path in folder.iterdir()) == ["good.csv", "wide.csv"]
