"""Closed, full and broken streams, and signals at any moment: the right exit code, one line at most, no traceback."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
FUJI = [sys.executable, "-m", "fujiscore"]
A, B = str(EXAMPLES / "model_a.csv"), str(EXAMPLES / "model_b.csv")
COMPARE = ["compare", A, B]
CLOSED, FULL, BROKEN = "closed", "full", "broken"
pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a POSIX shell and /dev/full")


def run(*arguments, stdin=None, stdout=None, stderr=None, **environment):
    """Run the command with streams that are closed, full, or pipes without a reader; return code, output and error."""
    places = {}
    broken = []
    for name, kind in (("stdout", stdout), ("stderr", stderr)):
        places[name] = subprocess.PIPE
        if kind == FULL:
            places[name] = os.open("/dev/full", os.O_WRONLY)
        elif kind == BROKEN:
            reader, places[name] = os.pipe()
            os.close(reader)
        broken += [places[name]] if kind in {FULL, BROKEN} else []
    closed = [number for number, kind in enumerate((stdin, stdout, stderr)) if kind == CLOSED]
    process = subprocess.Popen(
        [*FUJI, *arguments],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        preexec_fn=lambda: [os.close(number) for number in closed],  # noqa: PLW1509 - there are no threads here
        **places,
    )
    for number in broken:
        os.close(number)
    shown, said = process.communicate(timeout=120)
    return process.returncode, (shown or b"").decode(), (said or b"").decode()


# Everything that prints: reports in their forms, help, completion, messages.
PRINTING = {
    "report": (COMPARE, {}),
    "json": ([*COMPARE, "--json"], {}),
    "csv": ([*COMPARE, "--csv", "-q"], {}),
    "help": (["--help"], {}),
    "help of a command": (["compare", "--help"], {}),
    "no arguments": ([], {}),
    "version": (["--version"], {}),
    "measures": (["measures"], {}),
    "example": (["example", str(EXAMPLES)], {}),
    "completion": ([], {"_FUJI_COMPLETE": "bash_source"}),
}


class TestOutput:
    @pytest.mark.parametrize("what", PRINTING)
    def test_full(self, what):
        """A report that was not written is no success."""
        arguments, environment = PRINTING[what]
        code, _, said = run(*arguments, stdout=FULL, **environment)
        assert (code, said) == (2, "fuji: standard output cannot be written: No space left on device.\n")

    @pytest.mark.parametrize("what", PRINTING)
    def test_without_a_reader(self, what):
        """`fuji ... | head`: the reader has seen enough."""
        arguments, environment = PRINTING[what]
        assert run(*arguments, stdout=BROKEN, **environment) == (0, "", "")

    @pytest.mark.parametrize("what", ["report", "help", "version", "completion"])
    def test_closed(self, what):
        arguments, environment = PRINTING[what]
        code, _, said = run(*arguments, stdout=CLOSED, **environment)
        assert (code, said) == (2, "fuji: standard output cannot be written: it is closed.\n")

    @pytest.mark.parametrize("kind", [None, FULL, BROKEN, CLOSED])
    def test_the_threshold_counts_whatever_becomes_of_the_report(self, kind):
        code, _, said = run(*COMPARE, "--fail-under", "0.99", "--json", stdout=kind)
        assert code == 1
        assert "FAILED: FUJI (AUC) 0." in said

    def test_a_closed_stream_does_not_matter_to_a_file(self, tmp_path):
        """And the file does not get the number of the stream, with whatever else is written there."""
        out = tmp_path / "report.json"
        assert run(*COMPARE, "--out", str(out), stdin=CLOSED, stdout=CLOSED, stderr=CLOSED)[0] == 0
        assert json.loads(out.read_text())["command"] == "fuji compare"

    def test_a_pipe_that_does_not_block(self):
        """As some terminals and servers hand it on."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        process = subprocess.Popen([*FUJI, "measures", "--json"], stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        time.sleep(0.5)  # until the pipe is full
        text = b"".join(iter(lambda: os.read(reader, 4096), b""))
        os.close(reader)
        assert process.communicate()[1] == b""
        assert process.returncode == 0
        assert text.rstrip().endswith(b"}")


class TestErrors:
    @pytest.mark.parametrize("kind", [FULL, BROKEN, CLOSED])
    def test_the_code_is_right_where_nothing_can_be_said(self, kind):
        assert run("compare", A, "nowhere.csv", stderr=kind)[0] == 2
        assert run("compare", "--nonsense", stderr=kind)[0] == 2
        assert run(*COMPARE, "--fail-under", "0.99", stderr=kind)[0] == 1
        code, shown, _ = run(*COMPARE, "--csv", stderr=kind)  # with notes
        assert code == 0
        assert shown.startswith("k,fuji")

    @pytest.mark.parametrize("kind", [FULL, BROKEN, CLOSED])
    def test_both_streams(self, kind):
        expected = 0 if kind == BROKEN else 2
        assert run(*COMPARE, stdin=CLOSED, stdout=kind, stderr=kind)[0] == expected
        assert run("--help", stdin=CLOSED, stdout=kind, stderr=kind)[0] == expected
        assert run("compare", A, "nowhere.csv", stdin=CLOSED, stdout=kind, stderr=kind)[0] == 2

    def test_debugging(self):
        assert run("compare", A, "nowhere.csv", "--debug", stderr=FULL)[0] == 2

    def test_1_is_for_the_threshold_only(self):
        """Click leaves with 1 if it does not know the shell."""
        assert run(_FUJI_COMPLETE="tcsh_source")[0] == 2


def test_closed_input():
    said = "fuji compare: standard input must hold rankings or data; it is empty.\n"
    assert run("compare", "-", B, stdin=CLOSED) == (2, "", said)
    assert run(*COMPARE, stdin=CLOSED)[0] == 0


@pytest.mark.parametrize("stream", ["None", "open(os.devnull, 'w')"])
def test_the_library_without_standard_error(stream):
    """As in programs without a console; a bar that was asked for has nowhere to go."""
    script = (
        f"import os, sys\nsys.stderr = {stream}\nif sys.stderr: sys.stderr.close()\n"
        "import fujiscore as fj\nfrom fujiscore._kernels import _jit\n_jit.SILENCE = 0\n"
        "x = [[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]]\n"
        "for progress in (True, None): print(fj.pairwise(x, progress=progress).values[0, 1])"
    )
    environment = {**os.environ, "FUJISCORE_COMPILE": "always"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(set(done.stdout.split())) == 1


# Signals

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
SAID = {
    signal.SIGINT: "fuji compare: interrupted\n",
    signal.SIGTERM: "fuji compare: terminated\n",
    signal.SIGHUP: "fuji compare: terminated: the terminal was closed\n",
}
SCRIPT = "import sys\nfrom fujiscore.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
LONG = [*COMPARE, "--permutations", "2000000", "--no-progress"]
# The command, which says when the permutations begin.
WORKING = (
    "from fujiscore import cli\nfrom fujiscore.work import tiles\nrun = tiles.run\n"
    "def announced(*arguments, **options):\n    print('working', flush=True)\n    return run(*arguments, **options)\n"
    "tiles.run = announced\ncli.main()\n"
)


@pytest.fixture
def script(tmp_path):
    """Return the command as a script, as pip writes it."""
    path = tmp_path / "fuji"
    path.write_text(SCRIPT, encoding="utf-8")
    return [sys.executable, str(path)]


def start(command, **options):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def start_working(**options):
    """Return a long comparison that has begun to work."""
    process = start([sys.executable, "-c", WORKING, *LONG], **options)
    assert process.stdout.readline() == "working\n"
    time.sleep(0.3)
    return process


class TestSignals:
    @pytest.mark.parametrize("number", CODES)
    def test_while_it_works(self, number):
        process = start_working()
        process.send_signal(number)
        shown, said = process.communicate(timeout=10)
        assert (process.returncode, shown, said) == (CODES[number], "", SAID[number])

    @pytest.mark.parametrize("number", CODES)
    def test_while_it_starts(self, script, number):
        """As soon as the package begins to load: NumPy takes most of the time, and waits here for the signal."""
        slow = "import os, time\nos.write(2, b'loading\\n')\ntime.sleep(60)\n"
        numpy = Path(script[1]).parent / "numpy.py"
        numpy.write_text(slow, encoding="utf-8")
        for command in (script, FUJI):
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(numpy.parent), *sys.path])}
            process = start([*command, *COMPARE], env=environment)
            assert process.stderr.readline() == "loading\n"
            process.send_signal(number)
            shown, said = process.communicate(timeout=10)
            # Which command it is, is not known yet.
            expected = SAID[number].replace("fuji compare", "fuji")
            assert (process.returncode, shown, said) == (CODES[number], "", expected)

    def test_cleaning_up_is_done_and_not_disturbed(self, tmp_path):
        """What the command began is undone, also after the second signal, and before threads have finished."""
        program = (
            "import sys, time\nfrom pathlib import Path\nfrom fujiscore import cli\nfrom fujiscore.work import tiles\n"
            "from fujiscore.cli import compare\nfolder = Path(sys.argv.pop(1))\n"
            "def work(*_):\n    begun = folder / 'begun'\n    begun.touch()\n"
            "    try:\n        tiles.run(time.sleep, [(60,), (60,)], n_jobs=2)\n"
            "    finally:\n        time.sleep(1)\n        begun.rename(folder / 'undone')\n"
            "compare.inputs.Inputs.pair = work\ncli.main()\n"
        )
        process = start([sys.executable, "-c", program, str(tmp_path), *COMPARE])
        while not (tmp_path / "begun").exists():
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
            process.send_signal(number)
            time.sleep(0.2)
        shown, said = process.communicate(timeout=10)
        assert (process.returncode, shown, said) == (143, "", SAID[signal.SIGTERM])
        assert [path.name for path in tmp_path.iterdir()] == ["undone"]

    def test_nohup(self):
        """Signals that the caller has ignored stay ignored."""
        ignored = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
        process = start_working(**ignored)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        assert process.poll() is None
        process.terminate()
        assert process.communicate(timeout=10)[1] == SAID[signal.SIGTERM]

    def test_a_signal_in_a_finalizer_is_not_lost(self):
        """Python prints exceptions there and goes on."""
        program = (
            "import os, signal, sys, time\nfrom fujiscore import cli\nfrom fujiscore.cli import compare\n"
            "class Last:\n    def __del__(self):\n"
            "        os.kill(os.getpid(), signal.SIGINT)\n        time.sleep(0.1)\n"
            "def work(*_):\n    last = Last()\n    del last\n    time.sleep(60)\n"
            "compare.inputs.Inputs.pair = work\ncli.main()\n"
        )
        process = start([sys.executable, "-c", program, *COMPARE])
        shown, said = process.communicate(timeout=20)
        assert (process.returncode, shown, said) == (130, "", SAID[signal.SIGINT])

    def test_the_library_leaves_signals_alone(self, tmp_path):
        program = "import signal, fujiscore, fujiscore.cli\nprint([signal.getsignal(n).__class__ for n in (1, 2, 15)])"
        expected = [signal.SIG_DFL.__class__, signal.default_int_handler.__class__, signal.SIG_DFL.__class__]
        other = tmp_path / "fuji"  # a program of this name that is not ours
        other.write_text(program.replace(", fujiscore.cli", ""), encoding="utf-8")
        for command in (["-c", program], [str(other)]):
            assert subprocess.check_output([sys.executable, *command], text=True) == f"{expected}\n"

    @pytest.mark.slow
    def test_at_random_moments(self, script):
        """Before Python has come to the package, it ends as every Python program does."""
        rng = random.Random(7)
        study = ["study", "iris", "--resamples", "3", "--trees", "10", "--permutations", "100"]
        for _ in range(60):
            process = start([*rng.choice([FUJI, script]), *rng.choice([LONG, study])])
            number = rng.choice(list(CODES))
            time.sleep(rng.uniform(0.2, 2))
            process.send_signal(number)
            _, said = process.communicate(timeout=20)
            assert process.returncode in {0, CODES[number]}, said
            assert process.returncode == 0 or said.count("\n") <= 1, said


@pytest.mark.parametrize("call", ["run(work, [(), ()], n_jobs=2)", "spread(2, work, 2)"])
def test_an_interrupt_does_not_wait_for_threads(call):
    """In the library, too: what the threads still compute is not awaited."""
    program = (
        "import os, signal, threading, time\nfrom fujiscore.work.tiles import run, spread\n"
        "ended, begun = threading.Event(), time.monotonic()\n"
        "def work(*_): ended.wait(60)\n"
        "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        f"try: {call}\n"
        "except KeyboardInterrupt: print(time.monotonic() - begun < 30)\n"
        "ended.set()\n"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout == b"True\n"


@pytest.mark.slow
def test_interrupted_compiling_starts_again(tmp_path):
    """Ctrl-C while a kernel is compiled, in a notebook, leaves nothing half-made behind."""
    program = (
        "import os, signal, threading, time\nimport numpy as np\nimport fujiscore as fj\nimport numba\n"
        "r = np.arange(100.0)\n"
        "threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "try:\n    fj.curve(r, r[::-1].copy(), 'gamma')\n    time.sleep(60)\n"
        "except KeyboardInterrupt:\n    print(fj.curve(r, r[::-1].copy(), 'gamma').values[-1])\n"
    )
    environment = {**os.environ, "FUJISCORE_COMPILE": "always", "NUMBA_CACHE_DIR": str(tmp_path)}
    assert subprocess.check_output([sys.executable, "-c", program], env=environment, text=True) == "-1.0\n"


@pytest.mark.skipif(os.name != "posix", reason="uses the C library's exit handlers")
@pytest.mark.parametrize(("arguments", "code"), [(["measures"], 0), (["compare", "absent.csv"], 2)])
def test_what_libraries_do_while_the_process_shuts_down_does_not_matter(arguments, code):
    script = "import ctypes, sys; c = ctypes.CDLL(None); c.__cxa_atexit(c.abort, None, None)\n"
    script += "from fujiscore.cli import main\nmain()"
    ended = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, check=False)
    assert ended.returncode == code
