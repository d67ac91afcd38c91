"""Files and folders of results: whole or not at all, and nobody's files touched."""

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import fujiscore as fj
from fujiscore.work import files
from fujiscore.work.files import MANIFEST, PART, claimed, results_folder, write_atomically

posix = pytest.mark.skipif(os.name != "posix", reason="uses fork and POSIX permissions")


def names(folder):
    """Return the names of all files in a folder, hidden ones included."""
    paths = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return sorted(path.relative_to(folder).as_posix() for path in paths)


class TestAtomicWrites:
    def test_a_failure_leaves_the_old_file_and_nothing_else(self, tmp_path):
        path = tmp_path / "result.csv"
        path.write_text("old")

        def fail(file):
            file.write(b"half")
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            write_atomically(path, fail)
        assert [path.name for path in tmp_path.iterdir()] == ["result.csv"]
        assert path.read_text() == "old"
        write_atomically(path, lambda file: file.write(b"new"))
        assert path.read_text() == "new"
        assert len(list(tmp_path.iterdir())) == 1

    def test_no_directory(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            write_atomically(tmp_path / "none" / "x", lambda file: file.write(b"x"))
        assert not list(tmp_path.iterdir())

    def test_links_are_followed(self, tmp_path):
        real, link = tmp_path / "real", tmp_path / "link"
        real.write_text("old")
        link.symlink_to(real)
        write_atomically(link, lambda file: file.write(b"new"))
        assert link.is_symlink()
        assert real.read_text() == "new"

    def test_many_threads(self, tmp_path):
        path = tmp_path / "shared"

        def write(number):
            write_atomically(path, lambda file: file.write(str(number).encode() * 10_000))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(1, 9)))
        text = path.read_text()
        assert (len(text), len(set(text))) == (10_000, 1)
        assert len(list(tmp_path.iterdir())) == 1

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
    def test_pipes_are_written_to_and_not_replaced(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        with ThreadPoolExecutor(1) as pool:
            read = pool.submit(pipe.read_bytes)
            write_atomically(pipe, lambda file: file.write(b"text"))
            assert read.result(timeout=10) == b"text"
        assert pipe.is_fifo()

    @posix
    @pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o440])
    def test_a_replaced_file_keeps_its_permissions(self, tmp_path, mode):
        path = tmp_path / "secret.csv"
        path.write_text("old")
        path.chmod(mode)
        modes = []

        def write(file):
            modes.append(stat.S_IMODE(os.fstat(file.fileno()).st_mode))
            file.write(b"new")

        write_atomically(path, write)
        assert path.read_text() == "new"
        assert [*modes, stat.S_IMODE(path.stat().st_mode)] == [mode, mode]

    @posix
    def test_a_new_file_has_the_usual_permissions(self, tmp_path):
        write_atomically(tmp_path / "ours", lambda file: file.write(b"x"))
        (tmp_path / "plain").write_text("x")
        assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode

    def test_leftovers_of_killed_processes_are_removed_and_no_other_file(self, tmp_path):
        leftover, other = tmp_path / f".a.csv.0123abcd{PART}", tmp_path / f".b.csv.0123abcd{PART}"
        mine = tmp_path / ".a.csv.part"
        for path in (leftover, other, mine):
            path.write_text("half")
        write_atomically(tmp_path / "a.csv", lambda file: file.write(b"x"))
        assert names(tmp_path) == sorted([other.name, mine.name, "a.csv"])

    def test_a_file_that_another_process_is_writing_is_no_leftover(self, tmp_path):
        started, go = threading.Event(), threading.Event()

        def slowly(file):
            file.write(b"slow")
            started.set()
            go.wait(10)

        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write_atomically, tmp_path / "a", slowly)
            started.wait(10)
            write_atomically(tmp_path / "a", lambda file: file.write(b"quick"))
            assert (tmp_path / "a").read_text() == "quick"
            go.set()
            writing.result()
        assert names(tmp_path) == ["a"]
        assert (tmp_path / "a").read_text() == "slow"

    def test_a_file_that_came_to_exist_meanwhile_is_kept(self, tmp_path):
        path = tmp_path / "report.json"

        def write(file):
            path.write_text("somebody's")
            file.write(b"ours")

        with pytest.raises(fj.InputError, match=r"report.json came to exist meanwhile"):
            write_atomically(path, write, replace=False)
        assert path.read_text() == "somebody's"
        assert names(tmp_path) == ["report.json"]

    def test_long_names(self, tmp_path):
        for name in ("a" * 255, "é" * 127, "a" * 60 + ".csv"):
            write_atomically(tmp_path / name, lambda file: file.write(b"x"))
            assert (tmp_path / name).read_text() == "x"


class TestClaims:
    def test_a_second_process_is_told_at_once(self, tmp_path):
        code = "import sys; from pathlib import Path; from fujiscore.work.files import claimed\n"
        code += "with claimed(Path(sys.argv[1]), 'out'): print('held')"
        with claimed(tmp_path / "f", "out"):
            second = subprocess.run(
                [sys.executable, "-c", code, tmp_path / "f"], capture_output=True, text=True, check=False
            )
        assert "InputError: out: another process is writing to it. Wait for its end" in second.stderr
        third = subprocess.run([sys.executable, "-c", code, tmp_path / "f"], capture_output=True, text=True, check=True)
        assert third.stdout == "held\n"
        assert names(tmp_path) == []

    def test_a_lock_that_a_killed_process_left_holds_nobody_up(self, tmp_path):
        (tmp_path / files.LOCK).write_text("")
        with claimed(tmp_path, "out"):
            assert names(tmp_path) == [files.LOCK]
        assert names(tmp_path) == []

    def test_many_at_once_never_hold_it_together(self, tmp_path):
        inside, most, refused = [], [], []

        def hold(_):
            try:
                with claimed(tmp_path / "f", "out"):
                    inside.append(1)
                    most.append(len(inside))
                    inside.pop()
            except fj.InputError:
                refused.append(1)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(hold, range(400)))
        assert len(most) + len(refused) == 400
        assert set(most) == {1}

    @pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
    def test_a_folder_that_cannot_be_written(self, tmp_path):
        tmp_path.chmod(0o500)
        with (
            pytest.raises(fj.InputError, match="out must be writable; the system reports: Permission denied"),
            claimed(tmp_path / "f", "out"),
        ):
            pass


def save(out, texts, *, force=False, made_by="fuji test"):
    """Write texts to a folder of results, and return their paths."""
    with results_folder(out, made_by, argument="out", force=force) as results:
        for name, text in texts.items():
            (results.new / name).parent.mkdir(exist_ok=True)
            (results.new / name).write_text(text)
        return results.publish()


OLD = {"a.csv": "old a", "figures/b.png": "old b", "gone.csv": "no longer made"}
NEW = {"a.csv": "new a", "figures/b.png": "new b", "figures/c.png": "new c"}


def content(folder):
    """Return a folder's texts by name, without the manifest."""
    return {name: (folder / name).read_text() for name in names(folder) if name != MANIFEST}


@pytest.fixture(params=["one step", "two steps"])
def exchange(request, monkeypatch):
    """Whether the system can exchange two folders in one step."""
    if request.param == "two steps":
        monkeypatch.setattr(files, "_exchanged", lambda *_: False)
    return request.param


@pytest.mark.usefixtures("exchange")
class TestFolders:
    def test_the_manifest_has_the_hash_of_every_file(self, tmp_path):
        paths = save(tmp_path / "out", OLD)
        assert paths == [tmp_path / "out" / name for name in OLD]
        hashes = json.loads((tmp_path / "out" / MANIFEST).read_text())
        assert hashes["command"] == "fuji test"
        sums = subprocess.run(["sha256sum", *OLD], cwd=tmp_path / "out", capture_output=True, text=True, check=True)
        assert [f"{digest}  {name}" for name, digest in hashes["files"].items()] == sums.stdout.splitlines()

    def test_earlier_results_are_replaced_as_a_whole(self, tmp_path):
        save(tmp_path / "deep" / "out", OLD)
        save(tmp_path / "deep" / "out", NEW)
        assert content(tmp_path / "deep" / "out") == NEW
        assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]

    def test_an_empty_folder_is_nobodys(self, tmp_path):
        (tmp_path / "out").mkdir(mode=0o700)
        save(tmp_path / "out", NEW)
        assert content(tmp_path / "out") == NEW
        assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700

    @pytest.mark.parametrize("name", ["a.csv", "figures/b.png", "notes.txt", MANIFEST, ".resamples/mine"])
    def test_a_folder_of_somebody_elses_is_refused_and_untouched(self, tmp_path, name):
        path = tmp_path / "out" / name
        path.parent.mkdir(parents=True)
        path.write_text("auc,mine")
        with pytest.raises(fj.InputError, match=r"holds files that this command did not write \(.*force"):
            save(tmp_path / "out", NEW)
        assert names(tmp_path) == [f"out/{name}"]
        save(tmp_path / "out", NEW, force=True)
        kept = {} if name in {*NEW, MANIFEST} else {name: "auc,mine"}
        assert content(tmp_path / "out") == {**NEW, **kept}

    def test_results_of_another_command_are_not_ours(self, tmp_path):
        save(tmp_path / "out", OLD, made_by="fuji other")
        with pytest.raises(fj.InputError, match="did not write"):
            save(tmp_path / "out", NEW)
        assert content(tmp_path / "out") == OLD

    def test_a_file_that_was_changed_since_is_not_ours(self, tmp_path):
        save(tmp_path / "out", OLD)
        (tmp_path / "out" / "gone.csv").write_text("with my remarks")
        with pytest.raises(fj.InputError, match=r"holds files that were changed since \(gone.csv\)"):
            save(tmp_path / "out", NEW)
        save(tmp_path / "out", NEW, force=True)
        assert content(tmp_path / "out") == {**NEW, "gone.csv": "with my remarks"}

    def test_a_name_that_somebody_took_since_is_not_ours(self, tmp_path):
        save(tmp_path / "out", OLD)
        (tmp_path / "out" / "figures" / "c.png").write_text("mine")
        with pytest.raises(fj.InputError, match=r"did not write \(figures/c.png\)"):
            save(tmp_path / "out", NEW)
        assert content(tmp_path / "out") == {**OLD, "figures/c.png": "mine"}
        assert [path.name for path in tmp_path.iterdir()] == ["out"]

    def test_a_manifest_that_claims_other_files_deletes_nothing(self, tmp_path):
        save(tmp_path / "out", OLD)
        (tmp_path / "outside").write_text("mine")
        manifest = json.loads((tmp_path / "out" / MANIFEST).read_text())
        manifest["files"]["../outside"] = files._hash(tmp_path / "outside")
        (tmp_path / "out" / MANIFEST).write_text(json.dumps(manifest))
        save(tmp_path / "out", NEW)
        assert (tmp_path / "outside").read_text() == "mine"

    @pytest.mark.parametrize("text", ["", "[]", "{}", '{"command": "fuji test", "files": 3}', "[" * 100_000, "\udc80"])
    def test_a_damaged_manifest_proves_nothing(self, tmp_path, text):
        save(tmp_path / "out", OLD)
        (tmp_path / "out" / MANIFEST).write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(fj.InputError, match="did not write"):
            save(tmp_path / "out", NEW)
        assert content(tmp_path / "out") == OLD

    @posix
    def test_other_files_stay_the_same_files(self, tmp_path):
        out = tmp_path / "out"
        save(out, OLD)
        (out / "mine" / "empty").mkdir(parents=True)
        (out / "mine" / "notes.txt").write_text("mine")
        (out / ".hidden").write_text("hidden")
        (out / "link").symlink_to("mine")
        (out / "dangling").symlink_to("nowhere")
        os.mkfifo(out / "pipe")
        (out / "mine" / "closed").mkdir(mode=0o500)
        (out / "mine" / "closed").chmod(0o500)
        numbers = {name: (out / name).lstat().st_ino for name in ("mine/notes.txt", ".hidden", "pipe")}
        save(out, NEW)
        assert names(out) == sorted([*NEW, MANIFEST, "mine/notes.txt", ".hidden", "link", "dangling", "pipe"])
        assert {name: (out / name).lstat().st_ino for name in numbers} == numbers
        assert (out / "mine" / "empty").is_dir()
        assert stat.S_IMODE((out / "mine" / "closed").stat().st_mode) == 0o500
        assert (out / "link").readlink() == Path("mine")
        assert [path.name for path in tmp_path.iterdir()] == ["out"]

    @posix
    def test_permissions_are_kept(self, tmp_path):
        out = tmp_path / "out"
        save(out, OLD)
        for name, mode in {"a.csv": 0o600, "figures/b.png": 0o640, "figures": 0o750, ".": 0o700}.items():
            (out / name).chmod(mode)
        save(out, NEW)
        modes = [stat.S_IMODE((out / name).stat().st_mode) for name in ("a.csv", "figures/b.png", "figures", ".")]
        assert modes == [0o600, 0o640, 0o750, 0o700]

    def test_a_file_replaced_while_the_new_folder_is_prepared_is_kept(self, tmp_path, monkeypatch):
        out = tmp_path / "out"
        save(out, OLD)
        (out / "notes.txt").write_text("first draft")
        sync = files._sync

        def edited_meanwhile(*args):
            (tmp_path / "draft").write_text("second draft")
            (tmp_path / "draft").replace(out / "notes.txt")
            sync(*args)

        monkeypatch.setattr(files, "_sync", edited_meanwhile)
        save(out, NEW)
        assert content(out) == {**NEW, "notes.txt": "second draft"}

    def test_files_that_appear_while_the_new_folder_is_prepared_are_kept(self, tmp_path, monkeypatch):
        out = tmp_path / "out"
        save(out, OLD)
        sync = files._sync

        def written_meanwhile(*args):
            (out / "late.txt").write_text("mine")
            (out / "late" / "empty").mkdir(parents=True)
            (out / "late" / "deep.txt").write_text("mine too")
            (out / "figures" / "c.png").write_text("my own c")
            sync(*args)

        monkeypatch.setattr(files, "_sync", written_meanwhile)
        save(out, NEW)
        mine = {"late.txt": "mine", "late/deep.txt": "mine too", "figures/c.png": "my own c"}
        assert content(out) == {**NEW, **mine}
        assert (out / "late" / "empty").is_dir()

    @pytest.mark.parametrize("error", [KeyboardInterrupt, PermissionError])
    def test_files_that_appeared_are_kept_if_the_run_is_stopped_before_it_has_moved_them(
        self, tmp_path, monkeypatch, error
    ):
        out = tmp_path / "out"
        save(out, OLD)
        sync, sync_folder = files._sync, files._sync_folder

        def written_meanwhile(*args):
            (out / "late.txt").write_text("mine")
            sync(*args)

        def stopped(folder):
            sync_folder(folder)
            if folder == tmp_path:  # right after the new folder has taken its place
                raise error

        monkeypatch.setattr(files, "_sync", written_meanwhile)
        monkeypatch.setattr(files, "_sync_folder", stopped)
        with pytest.raises(error):
            save(out, NEW)
        assert content(out) == {**NEW, "late.txt": "mine"}
        assert [path.name for path in tmp_path.iterdir()] == ["out"]

    @pytest.mark.parametrize("kind", ["link", "file", "folder"])
    def test_a_working_folder_that_is_not_ours_is_left_alone(self, tmp_path, kind):
        (tmp_path / "victim" / "new").mkdir(parents=True)
        (tmp_path / "victim" / "new" / "f").write_text("mine")
        work = tmp_path / ".out.fujiscore"
        if kind == "link":
            work.symlink_to("victim")
        elif kind == "file":
            work.write_text("mine")
        else:
            (tmp_path / "victim").rename(work)
        before = names(tmp_path)
        with pytest.raises(fj.InputError, match=r"\.out\.fujiscore must be free for unfinished results"):
            save(tmp_path / "out", NEW)
        assert names(tmp_path) == before

    @posix
    def test_the_working_folder_is_private(self, tmp_path):
        with results_folder(tmp_path / "out", "fuji test", argument="out", force=False) as results:
            assert stat.S_IMODE(results.work.stat().st_mode) == 0o700
            (results.new / "a").write_text("a")
            results.publish()
        (tmp_path / "plain").mkdir()
        assert (tmp_path / "out").stat().st_mode == (tmp_path / "plain").stat().st_mode

    def test_where_the_file_system_has_no_links(self, tmp_path, monkeypatch):
        def no_links(*_, **__):
            raise OSError(errno.EPERM, "no links here")

        monkeypatch.setattr(os, "link", no_links)
        save(tmp_path / "out", OLD)
        (tmp_path / "out" / "notes.txt").write_text("mine")
        save(tmp_path / "out", NEW)
        assert content(tmp_path / "out") == {**NEW, "notes.txt": "mine"}

    def test_a_link_to_a_folder_stays_one(self, tmp_path):
        (tmp_path / "real").mkdir()
        (tmp_path / "out").symlink_to("real")
        save(tmp_path / "out", NEW)
        assert (tmp_path / "out").is_symlink()
        assert content(tmp_path / "real") == NEW

    def test_places_that_cannot_be_replaced(self, tmp_path, monkeypatch):
        (tmp_path / "file").write_text("")
        with pytest.raises(fj.InputError, match="must be a folder; it is a file"):
            save(tmp_path / "file", NEW)
        for mount in ("/proc", "/"):
            with pytest.raises(fj.InputError, match="it is a mount point"):
                save(mount, NEW)
        (tmp_path / "sub").mkdir()
        monkeypatch.chdir(tmp_path / "sub")
        for here in (".", "..", tmp_path):
            with pytest.raises(fj.InputError, match="current folder, or above it"):
                save(here, NEW, force=True)
        assert names(tmp_path) == ["file"]

    def test_two_writers(self, tmp_path):
        claim = results_folder(tmp_path / "out", "fuji test", argument="out", force=True)
        with claim, pytest.raises(fj.InputError, match="another process is writing to it"):
            save(tmp_path / "out", NEW, force=True)
        save(tmp_path / "out", NEW)
        assert content(tmp_path / "out") == NEW

    def test_finished_parts_are_kept_until_the_results_are_published(self, tmp_path):
        def attempt(*, fails):
            with results_folder(tmp_path / "out", "fuji test", argument="out", force=False) as results:
                results.resume.mkdir(exist_ok=True)
                parts = names(results.resume)
                (results.resume / "part").write_text("x")
                (results.new / "a.csv").write_text("a")
                if fails:
                    raise RuntimeError
                results.publish()
                return parts

        with pytest.raises(RuntimeError):
            attempt(fails=True)
        assert names(tmp_path) == [".out.fujiscore/.fujiscore", ".out.fujiscore/resume/part"]
        assert attempt(fails=False) == ["part"]
        assert [path.name for path in tmp_path.iterdir()] == ["out"]


# The folder is stopped at every single step, by each way of stopping.

STEPS = ("open", "os.", "shutil.", "ctypes.dlsym")


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt():
    raise KeyboardInterrupt


def disk_full():
    raise OSError(errno.ENOSPC, "No space left on device")


def stop_at(step, stop):
    """Stop at the n-th operation on files; return a function that tells whether it came to that.

    An audit hook cannot be removed: this needs a process of its own.
    """
    count = 0

    def hook(event, _):
        nonlocal count
        if event.startswith(STEPS):
            count += 1
            if count == step:
                stop()

    sys.addaudithook(hook)
    return lambda: count >= step


def in_child(action):
    """Return what an action returns, in a forked process; True if it fails or the process dies."""
    from posix import _exit  # not that of os, which writes measured coverage, and may be stopped in that

    child = os.fork()
    if not child:
        result = True
        try:
            result = action()
        finally:
            _exit(int(result))
    return bool(os.waitpid(child, 0)[1])


def every_step(out, exchange, stop):
    """Stop at the first step, at the second, and so on to the end; return how many there are."""
    os.fsync = lambda _: None  # which would take most of the time
    if exchange == "two steps":
        files._exchanged = lambda *_: False
    mine = {"notes.txt": "mine", "figures/mine.txt": "mine too"}

    def attempt(step):
        stopped = stop_at(step, stop)
        save(out, NEW)
        return stopped()

    states, step, stopped = [], 0, True
    while stopped:
        step += 1
        save(out, OLD, force=True)
        for name, text in mine.items():
            (out / name).write_text(text)
        stopped = in_child(lambda: attempt(step))  # noqa: B023
        if out.exists() or exchange == "one step":
            states.append(content(out) == {**NEW, **mine})
            assert states[-1] or content(out) == {**OLD, **mine}
        save(out, NEW)  # the next run needs no help
        assert content(out) == {**NEW, **mine}
        assert [path.name for path in out.parent.iterdir()] == ["out"]
    assert set(states) == {True, False}
    return step


@posix
@pytest.mark.parametrize("exchange", ["one step", "two steps"])
@pytest.mark.parametrize("stop", ["kill", "interrupt", "disk_full"])
def test_stopped_at_any_step_the_old_state_or_the_new_one_is_there(tmp_path, exchange, stop):
    """In a small process: one with all of pytest takes ten times as long to fork."""
    command = [sys.executable, __file__, str(tmp_path / "out"), exchange, stop]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 50


if __name__ == "__main__":
    sys.stdout.write(str(every_step(Path(sys.argv[1]), sys.argv[2], globals()[sys.argv[3]])))
