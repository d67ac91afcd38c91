"""Small inputs never wait for a compiler; large or many ones are compiled, once, and kept on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from threading import Barrier
from time import monotonic, sleep

import numba
import numpy as np
import pytest
from numba.core import event

from fujiscore import InputError, _kernels
from fujiscore._kernels import _jit

PREPARED = """
import sys
import numpy as np
import fujiscore as fj

generator = np.random.default_rng(0)
r = generator.pareto(1.5, 1000)
s = r * np.exp(generator.normal(0, 0.5, 1000))
"""


def run(*arguments, **environment):
    """Run Python in a process of its own, with warnings as errors, and return what it prints."""
    command = [sys.executable, "-W", "error", *arguments]
    inherited = {name: value for name, value in os.environ.items() if name != "FUJISCORE_COMPILE"}
    done = subprocess.run(command, env=inherited | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def script(text, **environment):
    return run("-c", PREPARED + text, **environment)[0].split()


@pytest.fixture
def kernels(monkeypatch):
    """Return gates as a new process has them."""
    monkeypatch.setattr(_jit, "mode", lambda: "auto")
    monkeypatch.setattr(_jit, "spent", {"uncompiled": 0.0, "compiling": 0.0})
    modules = {name: import_module(f"fujiscore._kernels.{name}") for name in ("chance", "order", "relief")}
    return {name: _jit.KernelGates(module, tiered=name != "relief") for name, module in modules.items()}


def tails(kernels, n=10):
    """Run a small kernel, and return what it wrote."""
    ranked = np.linspace(1, 0, n)
    mean, variance = np.empty(n), np.empty(n)
    kernels["chance"].tails(ranked, mean, variance)
    return mean


def is_compiled(function):
    return hasattr(function, "py_func")


class TestSmallInputs:
    @pytest.mark.parametrize(
        "call",
        [
            "fj.compare(r, s)",
            "fj.curve(r, s, 'gamma')",
            "fj.curve(r, s, 'correlation')",
            "fj.chance(r, s)",
            "fj.chance(r, s, ties='closed', ks='exp', permutations=20)",
            "fj.pairwise([r[:100], s[:100], r[100:200]])",
        ],
    )
    def test_numba_is_not_imported(self, call):
        assert script(f"{call}\nprint('numba' in sys.modules)") == ["False"]

    def test_the_check_above_can_fail(self):
        assert script("fj.compare(np.tile(r, 10), np.tile(s, 10))\nprint('numba' in sys.modules)") == ["True"]

    def test_the_command_line_does_not_import_numba_either(self, tmp_path):
        rng = np.random.default_rng(0)
        for name in ("a", "b"):
            rows = "".join(f"item_{i},{score!r}\n" for i, score in enumerate(rng.pareto(1.5, 1000).tolist()))
            (tmp_path / f"{name}.csv").write_text(f"item,score\n{rows}", encoding="utf-8")
        files = [str(tmp_path / f"{name}.csv") for name in ("a", "b")]
        _, imports = run("-X", "importtime", "-m", "fujiscore", "compare", *files)
        modules = {line.rsplit("|", 1)[-1].strip() for line in imports.splitlines()}
        assert "fujiscore.measures.overlap" in modules
        assert "numba" not in modules


class TestGate:
    def test_small_calls_stay_plain(self, kernels):
        tails(kernels)
        assert not is_compiled(kernels["chance"].tails)

    def test_one_large_call_has_everything_compiled(self, kernels, monkeypatch):
        monkeypatch.setattr(_jit, "LARGE", 10)
        expected = tails(kernels)
        assert not is_compiled(kernels["chance"].tails)
        assert kernels["order"].flaws(np.zeros(11)) == (False, False, False)
        assert is_compiled(kernels["order"].flaws)
        np.testing.assert_array_equal(tails(kernels), expected)
        assert is_compiled(kernels["chance"].tails)

    def test_patience_ends_for_all_kernels(self, kernels, monkeypatch):
        """After 90 µs of small calls, kernels that have not run yet are compiled as well."""
        monkeypatch.setattr(_jit, "PATIENCE", 90)
        for _ in range(6):  # of 10 items and 5 µs each
            tails(kernels)
            assert not is_compiled(kernels["chance"].tails)
        assert kernels["order"].flaws(np.array([np.nan])) == (True, False, False)
        assert is_compiled(kernels["order"].flaws)
        tails(kernels)
        assert is_compiled(kernels["chance"].tails)

    def test_a_gate_kept_by_a_caller_goes_on_working(self, kernels, monkeypatch):
        gate = kernels["order"].flaws
        monkeypatch.setattr(_jit, "LARGE", 0)
        for _ in range(2):
            assert gate(np.array([1.0, -1.0])) == (False, False, True)

    def test_the_rankers_kernels_are_always_compiled(self, kernels):
        kernels["relief"].insert(1.0, 0, np.full(2, np.inf), np.full(2, -1, np.int32))
        assert is_compiled(kernels["relief"].insert)

    def test_constants_are_passed_on(self):
        assert _kernels.relief.TILE == 128
        assert _kernels.order.TINY == import_module("fujiscore._kernels.order").TINY

    def test_overflow_is_as_silent_as_in_compiled_code(self, kernels):
        """SplitMix64 overflows by design; warnings are errors here."""
        ranked, start = np.array([2.0, 1.0]), np.arange(2, dtype=np.int32)
        order = np.empty(2, np.int32)
        kernels["chance"].reassign(ranked, start, np.uint64(2**64 - 1), np.empty(2, np.int32), np.empty(2), order)
        assert not is_compiled(kernels["chance"].reassign)
        assert sorted(order.tolist()) == [0, 1]


class TestMode:
    COMPILED = "fj.score(r[:5], s[:5], 2)\nprint(hasattr(fj._kernels.sweep.overlap, 'py_func'))"

    @pytest.mark.parametrize(("mode", "expected"), [("auto", "False"), ("always", "True"), ("never", "False")])
    def test_the_environment_decides(self, mode, expected):
        assert script(self.COMPILED, FUJISCORE_COMPILE=mode) == [expected]

    def test_never_holds_for_large_inputs_too(self):
        large = "fj.score(np.tile(r, 20), np.tile(s, 20), 2)\nprint('numba' in sys.modules)"
        assert script(large, FUJISCORE_COMPILE="never") == ["False"]

    def test_numbas_own_switch(self):
        assert script(self.COMPILED, FUJISCORE_COMPILE="always", NUMBA_DISABLE_JIT="1") == ["False"]

    def test_other_words_are_errors(self, monkeypatch):
        monkeypatch.setenv("FUJISCORE_COMPILE", "sometimes")
        with pytest.raises(InputError, match="FUJISCORE_COMPILE must be auto, always or never; got 'sometimes'"):
            _jit.mode.__wrapped__()


class TestCompiling:
    def test_concurrent_first_calls_compile_once(self, kernels, monkeypatch):
        """Eight threads meet at a kernel that no process has compiled: one compiles, the others wait."""
        monkeypatch.setattr(_jit, "mode", lambda: "always")
        monkeypatch.setattr(_jit, "compiled", _jit.cache(uncached))
        barrier = Barrier(8)

        def call(_):
            barrier.wait()
            return kernels["order"].flaws(np.array([1.0, -1.0]))

        with event.install_recorder("numba:compile") as recorder, ThreadPoolExecutor(8) as pool:
            results = list(pool.map(call, range(8)))
        assert results == [(False, False, True)] * 8
        assert sum(record.is_start for _, record in recorder.buffer) == 1

    def test_the_second_process_compiles_nothing(self, tmp_path):
        counts = """
from fujiscore import _kernels
assert _kernels.order.differing_bits(np.array([1.0, 1.0 + 2.0**-52]).view(np.uint64)) == 1
stats = _kernels.order.differing_bits.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
        environment = {"FUJISCORE_COMPILE": "always", "NUMBA_CACHE_DIR": str(tmp_path)}
        assert script(counts, **environment) == ["0", "1"]
        assert script(counts, **environment) == ["1", "0"]


def uncached(function):
    """Compile without the disk."""
    return numba.njit(function)


def abs_of(x):
    return abs(x)


class TestAnnouncement:
    def wait(self, capsys, seconds):
        """Compile for that long, and return what the user sees."""
        end = monotonic() + seconds
        text = ""
        with _jit.announced(uncached(abs_of)):
            while not text and monotonic() < end:
                sleep(0.01)
                text = capsys.readouterr().err
        return text + capsys.readouterr().err

    @pytest.fixture(autouse=True)
    def quick(self, kernels, monkeypatch):
        assert kernels
        monkeypatch.setattr(_jit, "SILENCE", 0.05)

    def test_a_terminal_is_told_once(self, capsys, monkeypatch):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        assert self.wait(capsys, 10) == "fujiscore: compiling, once per installation ...\n"
        assert self.wait(capsys, 0.2) == ""

    def test_what_is_quick_is_not_announced(self, capsys, monkeypatch):
        monkeypatch.setattr(_jit, "SILENCE", 5)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        assert self.wait(capsys, 0.1) == ""

    def test_a_log_is_not_told(self, capsys):
        assert self.wait(capsys, 0.2) == ""
