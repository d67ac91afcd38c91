"""Whatever is wrong with the compiler's cache, results are the same: kernels are compiled again, and nothing fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from numba.core import caching

from fujiscore._kernels import _jit

# One kernel that calls another; prints its result, and how many kernels came from the cache and from the compiler.
SCRIPT = """
import numpy as np
from fujiscore import _kernels
print(_kernels.order.differing_bits(np.array([1.0, 1.0 + 2.0**-52]).view(np.uint64)))
stats = _kernels.order.differing_bits.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
order = import_module("fujiscore._kernels.order")  # the functions, without gates
LOADED, COMPILED = ["1", "1", "0"], ["1", "0", "1"]


def start(folder, script=SCRIPT, **options):
    """Start a process that compiles, with its cache in a folder."""
    # Measuring coverage writes files, too, which a limit on their size would stop.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    environment |= {"FUJISCORE_COMPILE": "always", "NUMBA_CACHE_DIR": str(folder)}
    command = [sys.executable, "-W", "error", "-c", script]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=environment, **pipes, **options)


def run(folder, script=SCRIPT, **options):
    """Run it to its end, which must be a good and silent one, and return what it prints."""
    process = start(folder, script, **options)
    printed, said = process.communicate()
    assert (process.returncode, said) == (0, "")
    return printed.split()


def entries(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Return a cache that holds the kernels of the script."""
    folder = tmp_path_factory.mktemp("filled")
    assert run(folder) == COMPILED
    assert len(entries(folder)) >= 2
    return folder


@pytest.fixture
def kept(filled, tmp_path):
    return Path(shutil.copytree(filled, tmp_path / "cache"))


DAMAGE = {
    "empty": lambda _: b"",
    "cut in half": lambda content: content[: len(content) // 2],
    "noise": lambda content: np.random.default_rng(0).bytes(len(content)),
    "of another version": lambda content: content.replace(b"0.", b"9."),
}


class TestDamage:
    @pytest.mark.parametrize("damage", DAMAGE)
    def test_damaged_entries_are_compiled_again_and_replaced(self, kept, damage):
        for path in entries(kept):
            path.write_bytes(DAMAGE[damage](path.read_bytes()))
        assert run(kept) == COMPILED
        assert run(kept) == LOADED

    def test_changed_machine_code_never_runs(self, kept):
        """One changed byte anywhere would be another program: a wrong number, or a crash."""
        for path in entries(kept):
            content = bytearray(path.read_bytes())
            content[len(content) // 3 :: 97] = bytes(byte ^ 1 for byte in content[len(content) // 3 :: 97])
            path.write_bytes(content)
        assert run(kept) == COMPILED

    def test_the_entry_of_another_kernel_never_runs(self, kept):
        """As two processes may leave it that number their files at the same time."""
        contents = {path: path.read_bytes() for path in entries(kept)}
        for ending in {path.suffix for path in contents}:
            same = [path for path in contents if path.suffix == ending]
            for path, other in zip(same, same[1:] + same[:1], strict=True):
                path.write_bytes(contents[other])
        assert run(kept) == COMPILED

    def test_a_folder_in_place_of_a_file(self, kept):
        for path in entries(kept):
            path.unlink()
            path.mkdir()
        assert run(kept)[0] == "1"

    @pytest.mark.slow
    def test_changed_sources_are_compiled(self, tmp_path):
        """Also those of another module that a kernel calls: Numba looks at the kernel's own only."""
        shutil.copytree(Path(_jit.__file__).parents[1], tmp_path / "fujiscore")
        script = (
            "import numpy as np\nfrom fujiscore import _kernels\nrank = np.arange(9, dtype=np.int32)\n"
            "order, scratch, scores = np.empty(9, np.int32), np.empty(9, np.int32), np.empty(9)\n"
            "_kernels.chance.reassign(np.linspace(1, 0, 9), rank, np.uint64(1), scratch, scores, order)\nprint(order)"
        )

        def shuffled(mode):
            environment = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
            environment = {**os.environ, **environment, "FUJISCORE_COMPILE": mode}
            return subprocess.check_output([sys.executable, "-W", "ignore", "-c", script], env=environment)

        before = shuffled("always")
        source = tmp_path / "fujiscore" / "_kernels" / "random.py"
        text = source.read_text(encoding="utf-8")
        assert "np.uint64(30)" in text
        source.write_text(text.replace("np.uint64(30)", "np.uint64(29)"), encoding="utf-8")
        assert shuffled("always") == shuffled("never") != before


class TestDisk:
    def test_a_limit_on_the_size_of_files(self, tmp_path):
        """Writing an entry fails half-way, as on a full disk."""
        resource = pytest.importorskip("resource")
        limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))}
        for _ in range(2):
            assert run(tmp_path, **limited) == COMPILED
        assert entries(tmp_path) == []
        assert run(tmp_path) == COMPILED
        assert run(tmp_path) == LOADED

    def test_a_full_disk(self, tmp_path):
        mount = shutil.which("mount")
        options = ["-t", "tmpfs", "-o", "size=8k", "none", str(tmp_path)]
        if mount is None or subprocess.run([mount, *options], capture_output=True, check=False).returncode:
            pytest.skip("only root may mount a small disk")
        try:
            for _ in range(2):
                assert run(tmp_path) == COMPILED
            (tmp_path / "all that is left").write_bytes(bytes(4096))
            assert run(tmp_path)[0] == "1"
        finally:
            subprocess.run(["umount", str(tmp_path)], check=True)

    def test_a_folder_that_goes_away(self, tmp_path):
        """And a file in its place: nothing can be written there any more."""
        gone = (
            "import shutil\nfrom pathlib import Path\nfrom fujiscore._kernels import _jit, order\n"
            "stats = _jit.compiled(order.differing_bits.plain).stats\nfolder = Path(stats.cache_path)\n"
            "shutil.rmtree(folder)\nfolder.write_text('mine')\n"
        )
        assert run(tmp_path, gone + SCRIPT) == COMPILED
        assert [path.read_text() for path in entries(tmp_path)] == ["mine"]

    def test_no_folder_at_all(self, monkeypatch):
        """A read-only installation without a home: Numba finds no place."""
        monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
        monkeypatch.setattr(_jit, "compiled", _jit.cache(_jit.compiled.__wrapped__))
        dispatcher = _jit.compiled(order.differing_bits)
        assert dispatcher(np.array([1.0, 1.0 + 2.0**-52]).view(np.uint64)) == 1
        assert dispatcher.stats.cache_path is None

    def test_a_terminal_is_told_once(self, tmp_path, capsys, monkeypatch):
        from fujiscore._kernels import _cache

        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        monkeypatch.setattr(_cache, "announced", [])
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
        monkeypatch.setattr(_cache, "dumps", refuse)
        monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path))
        monkeypatch.setattr(_jit, "compiled", _jit.cache(_jit.compiled.__wrapped__))
        for kernel in (order.differing_bits, order.flaws):
            _jit.compiled(kernel)(np.array([1], np.uint64 if kernel is order.differing_bits else np.float64))
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "cannot be kept in" in said
        assert "(No space left on device); set NUMBA_CACHE_DIR" in said


def refuse(_):
    raise OSError(28, "No space left on device")


class TestProcesses:
    @pytest.mark.slow
    def test_eight_at_once_and_some_are_killed(self, tmp_path):
        processes = [start(tmp_path) for _ in range(8)]
        while not entries(tmp_path) and processes[0].poll() is None:
            time.sleep(0.01)
        for process in processes[:2]:
            process.kill()
        for process in processes[:2]:
            process.communicate()
        for process in processes[2:]:
            printed, said = process.communicate()
            assert (process.returncode, said) == (0, "")
            assert printed.split()[0] == "1"
        assert run(tmp_path) == LOADED

    def test_what_a_killed_process_left_is_removed(self, kept):
        left = []
        for path in entries(kept):
            left.append(path.with_name(f"{path.name}.0123456789abcdef"))
            path.rename(left[-1])
        now = time.time()
        for path, age in zip(left, (7200, 60), strict=False):
            os.utime(path, (now - age, now - age))
        assert run(kept) == COMPILED
        assert [path.exists() for path in left[:2]] == [False, True]
