"""How long the first comparison takes on a machine without any cache, and where the time of a warm one goes.

Every figure is of a new process; `python benchmarks/cold_start.py` prints the slowest imports as well.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import numpy as np
from cli import ITEMS, RUNS, processor, write
from measured import Row, machine, table

AFTER_IMPORT = """
import sys
from time import perf_counter, process_time

import numpy as np
import fujiscore as fj

r, s = np.load(sys.argv[1])
start, used = perf_counter(), process_time()
fj.compare(r, s)
print(perf_counter() - start, process_time() - used)
"""
# Packages whose import is worth avoiding for a small comparison.
HEAVY = ("numba", "scipy", "pandas", "polars", "pyarrow", "narwhals", "click", "tqdm", "numpy", "fujiscore")


@contextmanager
def prepared():
    """Give two files of items and scores, a file of the same scores as an array, and their folder."""
    rng = np.random.default_rng(0)
    first = rng.pareto(1.5, ITEMS)
    pair = np.stack([first, first * np.exp(rng.normal(0, 0.5, ITEMS))])
    with tempfile.TemporaryDirectory() as folder:
        files = [write(Path(folder, name), scores) for name, scores in zip(("a.csv", "b.csv"), pair, strict=True)]
        array = Path(folder, "pair.npy")
        np.save(array, pair)
        yield files, str(array), folder


def seconds(arguments, folder, cache):
    """Run Python with a Numba cache of that name; return the time on the clock and of the processor, and the process.

    Bytecode is kept, as after an installation.
    """
    caches = {"NUMBA_CACHE_DIR": f"{folder}/{cache}", "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
    environment = {**os.environ, **caches}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start, used = perf_counter(), processor()
    done = subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True, env=environment)
    return perf_counter() - start, processor() - used, done


def rows():
    """Return one row per figure: cold runs find an empty cache each time, warm ones that of the run before."""
    with prepared() as (files, array, folder):
        command = ["-m", "fujiscore", "compare", *files]
        seconds(command, folder, "bytecode only")
        cold = [seconds(command, folder, f"cold{run}")[:2] for run in range(RUNS)]
        warm = [seconds(command, folder, "cold0")[:2] for _ in range(RUNS)]
        done = [seconds(["-c", AFTER_IMPORT, array], folder, f"call{run}")[2] for run in range(RUNS)]
        calls = [tuple(map(float, process.stdout.split())) for process in done]
    return [
        row(f"`fuji compare`, {ITEMS} items, without compiled kernels", cold, 2),
        row(f"`fj.compare`, {ITEMS} items, the first after import", calls, 0.5),
        row(f"`fuji compare`, {ITEMS} items, warm", warm, 0.8),
    ]


def row(what, times, bound):
    """Return the least of the times, on the clock and of the processor, with its bound."""
    waited, worked = map(min, zip(*times, strict=True))
    return Row(what, waited, f"{waited:.2f} s ({worked:.2f} s of CPU)", ("at most", bound, f"{bound} s"))


def imports():
    """Return, for each heavy package that a warm `fuji compare` imports, the milliseconds spent in its own modules."""
    with prepared() as (files, _, folder):
        command = ["-X", "importtime", "-m", "fujiscore", "compare", *files]
        for _ in range(2):
            _, _, done = seconds(command, folder, "imports")
    spent = dict.fromkeys(HEAVY, 0)
    for line in done.stderr.splitlines():
        cells = line.removeprefix("import time:").split("|")
        package = cells[-1].strip().partition(".")[0]
        if package in spent and cells[0].strip().isdigit():
            spent[package] += int(cells[0])
    return {package: time / 1000 for package, time in spent.items() if time}


if __name__ == "__main__":
    measured = rows()
    print(table(["measured", "figure", "required", "holds"], [row.cells() for row in measured]))
    print()
    print(table(["imported", "own time"], [[name, f"{time:.0f} ms"] for name, time in imports().items()]))
    print(f"\nMeasured on {machine()}.")
    sys.exit(any(row.holds is False for row in measured))
