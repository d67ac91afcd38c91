"""Each input is opened once by every command: pipes, named pipes and standard input give what regular files give."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from click.testing import CliRunner

import fujiscore as fj
from fujiscore.cli import fuji
from fujiscore.features.datasets import load as load_data
from fujiscore.io import documents, load

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
ITEMS, QUERIES, SECONDS = 4000, 2200, 120
recorded: list[str] | None = None


def hook(event, arguments):
    """Record every file that Python opens; a hook cannot be removed."""
    if recorded is not None and event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
        recorded.append(os.fsdecode(arguments[0]))


sys.addaudithook(hook)


@pytest.fixture
def opened():
    """Return the list of files that are opened from now on."""
    global recorded  # noqa: PLW0603
    recorded = []
    yield recorded
    recorded = None


@pytest.fixture(autouse=True)
def _deadline():
    """Make a test that waits for a pipe that nobody writes to fail."""

    def late(*_):
        raise TimeoutError("waiting for a pipe")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def ranking_table(columns, seed):
    scores = np.random.default_rng(seed).random((ITEMS, len(columns)))
    rows = [f"gene{i:06d}," + ",".join(f"{value:.9f}" for value in row) for i, row in enumerate(scores.tolist())]
    return "\n".join(["item," + ",".join(columns), *rows, ""]).encode()


def trec(seed):
    draw = np.random.default_rng(seed)
    rows = (
        f"q{query:05d} Q0 doc{item:04d} {rank + 1} {9.5 - rank:.4f} t\n"
        for query in range(QUERIES)
        for rank, item in enumerate(draw.permutation(8)[:3].tolist())
    )
    return "".join(rows).encode()


def data_table():
    draw = np.random.default_rng(5)
    rows = draw.random((1500, 6)).round(6).tolist()
    return "\n".join(["a,b,c,d,e,f,kind", *(",".join(map(str, [*row, int(row[0] > 0.5)])) for row in rows)]).encode()


CONTENT = {
    "one.csv": lambda: ranking_table(["score"], 1),
    "two.csv": lambda: ranking_table(["score"], 2),
    "three.csv": lambda: ranking_table(["score"], 3),
    "wide.csv": lambda: ranking_table(["f1", "f2", "f3"], 4),
    "tall.csv": lambda: ranking_table(["f1", "f2", "f3"], 5),
    "old.trec": lambda: trec(1),
    "new.trec": lambda: trec(2),
    "data.csv": data_table,
    "items.txt": lambda: "".join(f"gene{i:06d}\n" for i in range(2 * ITEMS)).encode(),
    "one.csv.gz": lambda: gzip.compress(ranking_table(["score"], 1)),
    "two.csv.bz2": lambda: bz2.compress(ranking_table(["score"], 2)),
    "two.csv.xz": lambda: lzma.compress(ranking_table(["score"], 2)),
}
COMMANDS = [
    ("compare", "one.csv", "two.csv"),
    ("compare", "one.csv", "two.csv", "--universe", "items.txt"),
    ("compare", "one.csv", "two.csv", "--missing", "bounds"),
    ("compare", "one.csv.gz", "two.csv.bz2"),
    ("compare", "one.csv", "two.csv.xz"),
    ("compare", "wide.csv:f1", "wide.csv:f2"),
    ("compare", "wide.csv:f1", "tall.csv:f2"),
    ("explain", "one.csv", "two.csv", "-k", "20"),
    ("matrix", "one.csv", "two.csv", "three.csv"),
    ("matrix", "one.csv", "two.csv", "--reference", "three.csv"),
    ("consensus", "one.csv", "two.csv", "three.csv"),
    ("stability", "wide.csv", "tall.csv"),
    ("stability", "one.csv", "two.csv", "three.csv", "--universe", "items.txt"),
    ("stability", "wide.csv", "--versus", "tall.csv"),
    ("stability", "one.csv", "wide.csv"),
    ("stability", "wide.csv", "tall.csv", "--between"),
    ("drift", "one.csv", "two.csv"),
    ("drift", "one.csv", "two.csv", "-r", "wide.csv", "-c", "tall.csv", "--universe", "items.txt"),
    ("runs", "old.trec", "new.trec", "-k", "3", "--fail-under", "0.1"),
    ("runs", "new.trec", "--baseline", "old.trec", "-k", "3"),
    ("rank", "data.csv", "--target", "kind", "--method", "relief"),
]


def named(word):
    """Return the file that a word of a command names, None if it names none."""
    return next((name for name in (word, word.partition(":")[0]) if name in CONTENT), None)


def inputs_of(command):
    """Return the files that a command names."""
    return list(dict.fromkeys(filter(None, map(named, command))))


@pytest.fixture(scope="session")
def plain(tmp_path_factory):
    """Return a folder of regular files, all of them larger than what a pipe holds."""
    folder = tmp_path_factory.mktemp("plain")
    for name, content in CONTENT.items():
        folder.joinpath(name).write_bytes(content())
    assert min(file.stat().st_size for file in folder.iterdir() if file.suffix in {".csv", ".trec"}) > 1 << 16
    return folder


def called(command, folder, **options):
    """Run a command on the files of a folder; return its answer, in which the folder is not named."""
    words = [str(folder / word) if named(word) else word for word in command]
    done = CliRunner().invoke(fuji, [*words, "--json"], **options)
    assert done.exit_code in {0, 1}, (done.stderr, done.exception)
    return done.exit_code, done.stdout.replace(str(folder), "")


def feed(write, content):
    """Write to a pipe in another thread, as another program would."""
    threading.Thread(target=write, args=(content,), daemon=True).start()


def fifo(folder, name, content):
    """Make a named pipe."""
    os.mkfifo(folder / name)
    feed((folder / name).write_bytes, content)


def pipe(folder, name, content):
    """Make what the shell makes of <(cat name), under a name that can be compared; return its reading end."""
    reader, writer = os.pipe()
    (folder / name).symlink_to(f"/dev/fd/{reader}")

    def write(content):
        with os.fdopen(writer, "wb") as stream:
            stream.write(content)

    feed(write, content)
    return reader


@pytest.mark.parametrize("size", [documents.SMALL, 1000])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_regular_files_are_opened_once(command, size, plain, opened, monkeypatch):
    monkeypatch.setattr(documents, "SMALL", size)
    called(command, plain)
    counts = {name: opened.count(str(plain / name)) for name in inputs_of(command)}
    assert counts == dict.fromkeys(counts, 1)


@pytest.mark.parametrize("channel", [fifo, pipe])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_pipes_give_what_files_give(command, channel, plain, tmp_path):
    readers = [channel(tmp_path, name, (plain / name).read_bytes()) for name in inputs_of(command)]
    try:
        assert called(command, tmp_path) == called(command, plain)
    finally:
        for reader in filter(None, readers):
            os.close(reader)


# A shell cannot give -:f1, which looks like an option.
@pytest.mark.parametrize("command", [some for some in COMMANDS if ":" not in some[1]], ids=" ".join)
def test_standard_input_gives_what_files_give(command, plain):
    name, *_ = inputs_of(command)
    words = [word.replace(name, "-") if named(word) == name else word for word in command]
    by_input, by_file = (
        called(some, plain, input=(plain / name).read_bytes() if some is words else None) for some in (words, command)
    )
    assert by_input[0] == by_file[0]
    numbers = [_numbers(json.loads(text)) for _, text in (by_input, by_file)]
    assert numbers[0] == numbers[1]
    assert len(numbers[0]) > 5


def _numbers(answer):
    """Return all numbers in an answer, in order: the names of files differ."""
    if isinstance(answer, dict):
        answer = list(answer.values())
    if isinstance(answer, list):
        return [number for part in answer for number in _numbers(part)]
    return [answer] if isinstance(answer, (int, float)) else []


@pytest.mark.parametrize("size", [documents.SMALL, 1000])
@pytest.mark.parametrize("way", [fifo, pipe, "-"])
def test_a_run_that_is_blessed_is_read_once(way, size, plain, tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "SMALL", size)
    content = (plain / "new.trec").read_bytes()
    name = "-" if way == "-" else str(tmp_path / "new.trec")
    reader = None if way == "-" else way(tmp_path, "new.trec", content)
    words = ["runs", name, "--baseline", str(tmp_path / "b.parquet"), "--bless", "-k", "3"]
    done = CliRunner().invoke(fuji, words, input=content if way == "-" else None)
    assert done.exit_code == 0, (done.stderr, done.exception)
    assert f"(new), {QUERIES} queries of" in done.stderr
    assert fj.compare_runs(plain / "new.trec", tmp_path / "b.parquet", k=3).values("jaccard").min() == 1
    if reader is not None:
        os.close(reader)


def test_one_pipe_under_two_names_is_read_once(plain, tmp_path):
    fifo(tmp_path, "wide.csv", (plain / "wide.csv").read_bytes())
    (tmp_path / "link.csv").symlink_to(tmp_path / "wide.csv")
    names = fj.read([f"{tmp_path}/wide.csv:f1", f"{tmp_path}/link.csv:f2", f"{tmp_path}/wide.csv:f3"]).names
    assert names == ("f1", "f2", "f3")


def test_library_calls_open_once(plain, opened, monkeypatch):
    monkeypatch.setattr(documents, "SMALL", 1000)
    for call, *names in [
        (fj.read, "one.csv"),
        (load, "wide.csv"),
        (fj.compare_runs, "old.trec", "new.trec"),
        (lambda path: fj.compare_runs(path, path), "old.trec"),
        (lambda path: fj.compare_runs({"q": {"a": 1.0}}, path, item="f1", by="item", score="f2"), "wide.csv"),
        (lambda path: load_data(path, "kind"), "data.csv"),
    ]:
        opened.clear()
        try:
            call(*(plain / name for name in names))
        except fj.errors.InputError as error:
            assert "must have a query in common" in str(error)  # noqa: PT017
        assert [opened.count(str(plain / name)) for name in names] == [1] * len(names), names


def test_process_substitution(tmp_path):
    rows = [f"q{i:06d} Q0 doc{i % 977:05d} 1 9.5 tag\n" for i in range(20_000)]
    (tmp_path / "x.trec").write_text("".join(rows))
    (tmp_path / "small.trec").write_text("".join(rows[:3]))
    for name, queries in (("x", 20_000), ("small", 3)):
        command = f"{sys.executable} -m fujiscore runs <(cat {name}.trec) <(cat {name}.trec) -k 1 --fail-under 0.9"
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=SECONDS
        )
        assert f"{queries} queries in both runs" in done.stdout


def test_pipes_written_one_after_the_other(plain, tmp_path, monkeypatch):
    """A program that writes to the second pipe once the first one is written must not wait for ever."""
    monkeypatch.setattr(documents, "SMALL", 1000)
    for name in ("old.trec", "new.trec"):
        os.mkfifo(tmp_path / name)

    def write(folder):
        for name in ("old.trec", "new.trec"):
            (tmp_path / name).write_bytes((folder / name).read_bytes())

    feed(write, plain)
    command = ("runs", "old.trec", "new.trec")
    assert called(command, tmp_path) == called(command, plain)
