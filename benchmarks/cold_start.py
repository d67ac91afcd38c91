"""How long the first comparison takes on a machine without any cache.

Every figure is of a new process. `python benchmarks/cold_start.py` also prints where the time of a warm one goes.
"""

from __future__ import annotations

import sys

from cli import ITEMS, RUNS, prepared, row, seconds
from measured import judged, machine, table

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


def caches(folder, name):
    """Return the environment of an empty Numba cache of that name; bytecode is kept, as after an installation."""
    return {"NUMBA_CACHE_DIR": f"{folder}/{name}", "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}


def rows():
    """Return one row per figure."""
    with prepared() as (files, array, folder):
        command = ["-m", "fujiscore", "compare", *files]
        seconds(command, **caches(folder, "bytecode only"))
        cold = [seconds(command, **caches(folder, f"cold{run}"))[:2] for run in range(RUNS)]
        done = [seconds(["-c", AFTER_IMPORT, array], **caches(folder, f"call{run}"))[2] for run in range(RUNS)]
        calls = [tuple(map(float, process.stdout.split())) for process in done]
    return [
        row(f"`fuji compare`, {ITEMS} items, no compiled kernels", cold, 2),
        row(f"`fj.compare`, {ITEMS} items, the first call after import", calls, 0.5),
    ]


def imports():
    """Return, for each heavy package that a warm `fuji compare` imports, the milliseconds spent in its own modules."""
    with prepared() as (files, _, folder):
        command = ["-X", "importtime", "-m", "fujiscore", "compare", *files]
        for _ in range(2):
            _, _, done = seconds(command, **caches(folder, "imports"))
    spent = dict.fromkeys(HEAVY, 0)
    for line in done.stderr.splitlines():
        cells = line.removeprefix("import time:").split("|")
        package = cells[-1].strip().partition(".")[0]
        if package in spent and cells[0].strip().isdigit():
            spent[package] += int(cells[0])
    return {package: time / 1000 for package, time in spent.items() if time}


if __name__ == "__main__":
    measured = rows()
    print(judged(measured))
    print()
    print(table(["imported", "own time"], [[name, f"{time:.0f} ms"] for name, time in imports().items()]))
    print(f"\nMeasured on {machine()}.")
    sys.exit(any(row.holds is False for row in measured))
