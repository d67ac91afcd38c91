"""Tiles: in order whatever runs them; finished ones are kept on disk, and a killed matrix resumes to the same bits."""

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from threading import Barrier, Event

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore.work.checkpoint import Finished, finished_tiles, resumable, sum_of
from fujiscore.work.tiles import run

PAIRS = import_module("fujiscore.many.pairwise")
EXAMPLE = Path(__file__).parents[2] / "examples" / "scores.csv"
SCORES = np.random.default_rng(3).random((20, 60)).round(2)


def power(base, offset, exponent):
    """Return a number; at the top of the module, for processes to find it."""
    return base**exponent + offset


@pytest.fixture(scope="module")
def pools():
    """Return executors of threads and of processes."""
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(2) as processes:
        yield None, threads, processes


@settings(max_examples=30, deadline=None)
@given(exponents=st.lists(st.integers(0, 9), max_size=12), base=st.integers(-3, 3))
def test_results_are_in_the_order_of_the_tiles(pools, exponents, base):
    expected = [base**exponent + 1 for exponent in exponents]
    for executor in pools:
        assert run(power, [(e,) for e in exponents], shared=(base, 1), executor=executor) == expected
        assert run(power, [(base, 1, e) for e in exponents], executor=executor) == expected


def test_two_computations_in_one_pool_do_not_mix_up_what_they_share(pools):
    tiles = [(e,) for e in range(6)]
    for base in (2, 3, 2):
        assert run(power, tiles, shared=(base, 0), executor=pools[2]) == [base**e for e in range(6)]


def test_the_temporary_file_is_removed(pools, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run(power, [(1,)], shared=(2, 0), executor=pools[2])
    with pytest.raises(TypeError):
        run(power, [("x",)], shared=(2, 0), executor=pools[2])
    assert not list(tmp_path.iterdir())


# Finished tiles on disk


@given(
    array=st.one_of(
        st.lists(st.floats(allow_nan=True), max_size=9).map(np.array),
        st.integers(0, 5).map(lambda n: np.arange(3 * n, dtype=np.int64).reshape(3, n)),
    )
)
def test_an_array_is_read_as_it_was_written(tmp_path_factory, array):
    folder = tmp_path_factory.mktemp("kept")
    Finished(folder, "a", "key", "folder").save(7, array)
    again = Finished(folder, "a", "key", "folder")
    loaded = again.load(7)
    assert loaded is not None
    assert (loaded.dtype, loaded.shape, loaded.tobytes(), again.found) == (array.dtype, array.shape, array.tobytes(), 1)
    assert Finished(folder, "a", "other", "folder").load(7) is None


@given(at=st.integers(0, 10_000), bit=st.integers(0, 7), cut=st.booleans())
def test_a_file_that_was_changed_or_cut_is_not_read(tmp_path_factory, at, bit, cut):
    folder = tmp_path_factory.mktemp("kept")
    finished = Finished(folder, "a", "key", "folder")
    finished.save(0, np.arange(20.0))
    (path,) = folder.iterdir()
    content = bytearray(path.read_bytes())
    at %= len(content)
    if cut:
        del content[at:]
    else:
        content[at] ^= 1 << bit
    path.write_bytes(content)
    assert finished.load(0) is None


def test_a_file_under_the_name_of_another_is_not_read(tmp_path):
    finished = Finished(tmp_path, "a", "key", "folder")
    finished.save(0, np.arange(3.0))
    (path,) = tmp_path.iterdir()
    path.rename(tmp_path / path.name.replace("0000", "0001"))
    assert finished.load(1) is None


def test_only_what_is_missing_is_computed(tmp_path):
    ran = []

    def row(number):
        ran.append(number)
        return np.array([number])

    tiles = [(i,) for i in range(6)]
    with finished_tiles(tmp_path, "row", "key") as kept:
        run(row, tiles[:4], kept=kept, n_jobs=1)
        assert kept.found == 0
    with finished_tiles(tmp_path, "row", "key") as kept:
        assert [int(part[0]) for part in run(row, tiles, kept=kept, n_jobs=1)] == list(range(6))
        assert kept.found == 4
    assert ran == list(range(6))


def test_a_full_disk_counts_what_other_workers_still_keep(tmp_path, monkeypatch):
    module = import_module("fujiscore.work.checkpoint")
    write, failed, both = module.write_atomically, Event(), Barrier(2)

    def row(number):
        both.wait()
        return np.array([number])

    def write_or_fail(path, content):
        if "row-0000" in path.name:
            failed.set()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        failed.wait()
        time.sleep(0.2)  # the error is on its way
        write(path, content)

    monkeypatch.setattr(module, "write_atomically", write_or_fail)
    with (
        pytest.raises(fj.InputError, match=r"No space left on device\. 1 finished part kept"),
        finished_tiles(tmp_path, "row", "key") as kept,
    ):
        run(row, [(0,), (1,)], kept=kept, n_jobs=2)


def test_sums_tell_arrays_apart():
    zeros = np.zeros(4)
    others = [np.zeros(3), np.zeros((2, 2)), np.zeros(4, np.int64), np.array([0, 0, 0, 1e-300]), None]
    assert len({sum_of([part]) for part in (zeros, *others)}) == 6
    assert sum_of([zeros]) == sum_of([np.zeros(8)[::2]])


# All pairs

OPTIONS = [{}, {"corrected": True}, {"p_values": True}, {"ks": "all"}, {"measure": "kendall"}, {"measure": "pog"}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_matrix_from_a_checkpoint_is_the_same(tmp_path, monkeypatch, options):
    plain = fj.pairwise(SCORES, **options)
    monkeypatch.setattr(PAIRS, "TILE", 4)
    monkeypatch.setattr(PAIRS, "MOST_FILES", 7)
    for _ in range(2):
        again = fj.pairwise(SCORES, checkpoint=tmp_path, **options)
        for part in ("raw", "expected", "p_values", "adjusted_p_values"):
            expected, got = getattr(plain, part), getattr(again, part)
            assert (expected is None and got is None) or expected.tobytes() == got.tobytes()
        assert again.notes == plain.notes
    tiles = sorted(tmp_path.glob("*.tile"))
    assert 1 < len(tiles) <= 7
    tiles[1].write_bytes(b"torn")
    tiles[0].unlink()
    assert fj.pairwise(SCORES, checkpoint=tmp_path, **options).raw.tobytes() == plain.raw.tobytes()


@pytest.mark.parametrize("options", [{}, {"ks": "all", "corrected": True}], ids=str)
def test_an_executor_resumes_what_threads_began_and_the_other_way_round(tmp_path, pools, monkeypatch, options):
    monkeypatch.setattr(PAIRS, "TILE", 4)
    whole = fj.pairwise(SCORES, **options).raw.tobytes()
    for number, (first, second) in enumerate([(None, pools[2]), (pools[2], None), (pools[1], pools[2])]):
        folder = tmp_path / str(number)
        assert fj.pairwise(SCORES, executor=first, checkpoint=folder, **options).raw.tobytes() == whole
        tiles = sorted(folder.glob("*.tile"))
        for path in tiles[::2]:
            path.unlink()
        kept = {path: path.stat().st_mtime_ns for path in tiles[1::2]}
        assert len(kept) > 3
        assert fj.pairwise(SCORES, executor=second, checkpoint=folder, **options).raw.tobytes() == whole
        assert {path: path.stat().st_mtime_ns for path in kept} == kept
        assert sorted(folder.glob("*.tile")) == tiles


def test_two_collections_have_their_own(tmp_path):
    plain = fj.pairwise(SCORES[:3], SCORES[3:])
    for _ in range(2):
        assert fj.pairwise(SCORES[:3], SCORES[3:], checkpoint=tmp_path).raw.tobytes() == plain.raw.tobytes()
    with pytest.raises(fj.InputError, match=r"number of rankings was \[3, 17\] and is 20"):
        fj.pairwise(SCORES, checkpoint=tmp_path)


CHANGES = {
    "measure was 'fuji' and is 'jaccard'": {"measure": "jaccard"},
    "ks was 'exp up to 60' and is 'all up to 60'": {"ks": "all"},
    r"ks was 'exp up to 60' and is \[1, 5\]": {"ks": [1, 5]},
    "ks was 'exp up to 60' and is 'all up to 3'": {"ks": [1, 2, 3]},
    "corrected was False and is True": {"corrected": True},
    "p_values was False and is True": {"p_values": True},
    "ties was 'closed' and is 'stable'": {"ties": "stable"},
    "zero_tail was 'include' and is 'exclude'": {"zero_tail": "exclude"},
    "universe was None and is 99": {"universe": 99},
}


@pytest.mark.parametrize("told", CHANGES)
def test_changed_options_are_refused(tmp_path, told):
    fj.pairwise(SCORES, checkpoint=tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(fj.InputError, match=rf"checkpoint=.* keeps the tiles of other input or options: {told}"):
        fj.pairwise(SCORES, checkpoint=tmp_path, **CHANGES[told])
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_changed_input_is_refused(tmp_path):
    fj.pairwise(SCORES, checkpoint=tmp_path)
    changed = SCORES.copy()
    changed[7, 7] += 1e-12
    for other, told in (
        (changed, "the scores differ"),
        (SCORES[:9], "number of rankings was 20 and is 9"),
        (SCORES[:, :30], "number of items was 60 and is 30"),
        ({f"x{i}": row for i, row in enumerate(SCORES)}, "options: the names differ"),
    ):
        with pytest.raises(fj.InputError, match=told):
            fj.pairwise(other, checkpoint=tmp_path)
    lists = {"a": {"x": 3, "y": 2}, "b": {"x": 3, "y": 2, "z": 0}}
    fj.pairwise(lists, universe=9, checkpoint=tmp_path / "lists")
    with pytest.raises(fj.InputError, match="the scores differ"):  # z is listed now, with the score it was given
        fj.pairwise({**lists, "a": {"x": 3, "y": 2, "z": 0}}, universe=9, checkpoint=tmp_path / "lists")


def test_another_version_is_refused(tmp_path, monkeypatch):
    fj.pairwise(SCORES, checkpoint=tmp_path)
    monkeypatch.setattr("fujiscore.work.checkpoint.__version__", "99")
    with pytest.raises(fj.InputError, match=r"version of fujiscore was '.*' and is '99'"):
        fj.pairwise(SCORES, checkpoint=tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"data": 3}', '{"data": {}, "options": null}', "\0" * 9])
def test_a_damaged_record_of_settings_is_written_anew(tmp_path, content):
    fj.pairwise(SCORES, checkpoint=tmp_path)
    (tmp_path / "checkpoint.json").write_text(content)
    fj.pairwise(SCORES, measure="jaccard", checkpoint=tmp_path)  # keys tell its tiles apart
    assert json.loads((tmp_path / "checkpoint.json").read_text())["options"]["measure"] == "jaccard"


def test_one_process_at_a_time(tmp_path):
    with (
        resumable(tmp_path, "pairs", {}, {}),
        pytest.raises(fj.InputError, match=r"checkpoint=.*: another process is writing to it"),
    ):
        fj.pairwise(SCORES, checkpoint=tmp_path)


def test_a_checkpoint_must_be_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(fj.InputError, match=r"checkpoint=.* must name a folder; it is a file"):
        fj.pairwise(SCORES, checkpoint=tmp_path / "file")


def test_a_checkpoint_must_have_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(fj.InputError, match="checkpoint must name a folder; got an empty name"):
        fj.pairwise(SCORES, checkpoint="")
    command = [sys.executable, "-m", "fujiscore", "matrix", EXAMPLE, "-m", "fuji", "-m", "rbo", "--checkpoint", ""]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert done.stderr == "fuji matrix: --checkpoint must name a folder; got an empty name.\n"
    assert list(tmp_path.iterdir()) == []


def test_the_command_keeps_every_measure_and_refuses_other_options(tmp_path):
    def fuji(*arguments):
        command = [sys.executable, "-m", "fujiscore", "matrix", EXAMPLE, "--csv", "--quiet", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    both = ("--measure", "fuji", "--measure", "rbo:0.8")
    plain = fuji(*both)
    assert plain.returncode == 0
    for _ in range(2):
        assert fuji(*both, "--checkpoint", tmp_path / "kept").stdout == plain.stdout
    assert len(list(tmp_path.rglob("*.tile"))) == 2
    refused = fuji("--measure", "jaccard", "--checkpoint", tmp_path / "kept")
    assert refused.returncode == 2
    assert refused.stderr == (
        f"fuji matrix: --checkpoint {tmp_path / 'kept'} keeps the tiles of other input or options: "
        "--measure was 'fuji' and is 'jaccard'. Repeat the call as it was, or name another folder.\n"
    )


MATRIX = """
import sys
import numpy as np
import fujiscore as fj
import fujiscore.many.pairwise as pairs
pairs.TILE = 2
print("ready", flush=True)
fj.pairwise(np.load(sys.argv[1]), p_values=True, n_jobs=2, checkpoint=sys.argv[2], progress=False)
"""


@pytest.mark.slow
def test_killed_at_ten_random_moments(tmp_path, monkeypatch):
    monkeypatch.setattr(PAIRS, "TILE", 2)
    scores = np.random.default_rng(5).random((36, 9000))
    np.save(tmp_path / "scores.npy", scores)
    (tmp_path / "run.py").write_text(MATRIX)
    whole = fj.pairwise(scores, p_values=True)
    tiles = 18 * 19 // 2
    for number in range(10):
        folder, wanted = tmp_path / f"kept{number}", random.randrange(tiles * 3 // 4)
        command = [sys.executable, tmp_path / "run.py", tmp_path / "scores.npy", folder]
        running = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert running.stdout.readline() == b"ready\n"
        deadline = time.monotonic() + 60
        while len(list(folder.glob("*.tile"))) < wanted:
            assert running.poll() is None, "it ended before it could be stopped"
            assert time.monotonic() < deadline
            time.sleep(random.random() / 1000)
        os.kill(running.pid, signal.SIGKILL)
        running.communicate()
        finished = {path: path.stat().st_mtime_ns for path in folder.glob("*.tile")}
        assert wanted <= len(finished) < tiles
        again = fj.pairwise(scores, p_values=True, checkpoint=folder)
        for part in ("values", "p_values", "adjusted_p_values"):
            assert getattr(again, part).tobytes() == getattr(whole, part).tobytes()
        assert {path: path.stat().st_mtime_ns for path in finished} == finished  # none was computed again
        assert sorted(path.suffix for path in folder.iterdir()) == [".json", *[".tile"] * tiles]
