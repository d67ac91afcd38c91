"""Four walks through the package: modules entered, calls, switches between modules, and work that was done again.

`python benchmarks/walks.py` walks the package that is imported; with PYTHONPATH another source tree. Work is done again
where a function is called a second time with equal arguments: `--repeats 5` lists the functions with as many repeats.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import io
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from pathlib import Path
from time import perf_counter

import numpy as np
from measured import table

import fujiscore as fj

PACKAGE = Path(fj.__file__).parent
EXAMPLES = Path(__file__).parents[1] / "examples"
# Arrays up to so many bytes are equal if their values are, larger ones if they are the same object.
LARGE = 1_000_000


class Walk:
    """The calls of the package's functions while it is active, in all threads.

    Attributes
    ----------
    calls : Counter
        Calls by function, "module:name".
    switches : int
        Calls of a function of another module than the caller's.
    repeats, seconds : Counter
        Calls with arguments that the same function had before, by function, and the time spent in them.
    outermost : float
        The time in repeats that no other repeat called.
    """

    def __init__(self):
        self.calls, self.repeats, self.seconds, self.switches, self.outermost = Counter(), Counter(), Counter(), 0, 0.0
        self._seen, self._kept = defaultdict(set), []
        self._stacks = threading.local()

    def __enter__(self):
        """Start counting."""
        threading.setprofile(self._event)
        sys.setprofile(self._event)
        return self

    def __exit__(self, *_):
        """Stop counting."""
        sys.setprofile(None)
        threading.setprofile(None)

    @property
    def modules(self):
        """The modules entered."""
        return {name.partition(":")[0] for name in self.calls}

    def _event(self, frame, event, _):
        code = frame.f_code
        if event not in {"call", "return"} or code.co_name.startswith("<") or not _is_ours(code.co_filename):
            return
        stack = self._stacks.__dict__.setdefault("frames", [])
        if event == "return":
            if stack and stack[-1][0] is frame:
                _, _, name, start = stack.pop()
                if start is not None:
                    spent = perf_counter() - start
                    self.seconds[name] += spent
                    self.outermost += 0.0 if any(outer[3] for outer in stack) else spent
            return
        module = ".".join(Path(code.co_filename).relative_to(PACKAGE).with_suffix("").parts)
        name = f"{module}:{code.co_qualname}"
        self.calls[name] += 1
        self.switches += bool(stack) and stack[-1][1] != module
        key = self._arguments(frame)
        again = key is not None and key in self._seen[name]
        self._seen[name].add(key)
        self.repeats[name] += again
        stack.append((frame, module, name, perf_counter() if again else None))

    def _arguments(self, frame):
        """Return what makes the arguments of a call equal to those of another; None if there is no telling."""
        code = frame.f_code
        if code.co_flags & inspect.CO_GENERATOR or code.co_freevars:
            return None
        variadic = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + variadic]
        return tuple(self._value(frame.f_locals.get(name)) for name in names)

    def _value(self, value):
        """Return what makes a value equal to another."""
        if isinstance(value, (int, float, str, bytes, type(None), Path)):
            return value
        if isinstance(value, np.ndarray) and value.dtype != object and value.nbytes <= LARGE:
            return value.dtype.str, value.shape, value.tobytes()
        if isinstance(value, (list, tuple)) and len(value) < 100:
            return tuple(map(self._value, value))
        if isinstance(value, dict) and len(value) < 100:
            return tuple((key, self._value(part)) for key, part in value.items())
        self._kept.append(value)  # alive, it shares its id with no other object
        return id(value)


def _is_ours(path, known={}):  # noqa: B006 - remembered between calls
    """Return whether a file is one of the package's."""
    if path not in known:
        known[path] = Path(path).is_relative_to(PACKAGE)
    return known[path]


def compare():
    """Compare the rankings of two files."""
    both = [EXAMPLES / "model_a.csv", EXAMPLES / "model_b.csv"]
    return fj.compare(*map(fj.read, both), k=10)


def matrix():
    """Compare all pairs of four rankings, corrected for chance."""
    rng = np.random.default_rng(0)
    scores = rng.lognormal(size=500)
    rankings = {name: scores * rng.lognormal(size=500) for name in "abcd"}
    return fj.pairwise(rankings, corrected=True)


def runs():
    """Compare two TREC runs."""
    return fj.compare_runs(EXAMPLES / "run_a.trec", EXAMPLES / "run_b.trec", universe=1000)


def study():
    """Study a small data set."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12))
    return fj.study(X, X[:, 0] + X[:, 1] > 0, resamples=5, permutations=50, trees=20, n_jobs=1, progress=False)


WALKS = {"compare": compare, "matrix": matrix, "runs": runs, "study": study}


def show(result, folder):
    """Print a result, write its page and, of a study, its folder."""
    str(result), repr(result)
    result.to_markdown()
    result._repr_html_()
    result.report(folder / "page.html")
    if hasattr(result, "save"):
        result.save(folder / "results", pictures=False)


def walked(name):
    """Return one walk, after another one that imported and compiled what it needs."""
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), Walk() as walk:
            show(WALKS[name](), Path(folder))
    return walk


def main(arguments=None):
    """Print the table of the walks and, below it, the repeats of each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("walks", nargs="*", metavar="WALK", help="which walks (all by default)")
    parser.add_argument("--repeats", type=int, default=10, help="least number of repeats to list (default: 10)")
    asked = parser.parse_args(arguments)
    taken = {name: walked(name) for name in asked.walks or WALKS}
    header = ["walk", "modules", "calls", "switches", "repeats", "ms in repeats"]
    cells = []
    for name, walk in taken.items():
        counts = (len(walk.modules), walk.calls.total(), walk.switches, walk.repeats.total())
        cells.append([name, *map(str, counts), f"{1000 * walk.outermost:.0f}"])
    print(table(header, cells))
    for name, walk in taken.items():
        print(f"\n{name}: calls with equal arguments")
        for function, _ in walk.seconds.most_common():
            count = walk.repeats[function]
            if count >= asked.repeats:
                print(f"{count:6} x {1000 * walk.seconds[function]:8.1f} ms  {function}")


if __name__ == "__main__":
    main()
