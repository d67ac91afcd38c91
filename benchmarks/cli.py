"""How long a person waits for the command `fuji`: the help, and a comparison of two files."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from measured import Row

ITEMS, RUNS = 1000, 5
BOUNDS = {"fuji --help": 0.4, f"fuji compare, {ITEMS} items": 1.5}


def write(path, scores):
    """Write a file of items and scores."""
    rows = "".join(f"item_{i},{float(score)!r}\n" for i, score in enumerate(scores))
    path.write_text(f"item,score\n{rows}", encoding="utf-8")
    return str(path)


def seconds(arguments):
    """Return the least of several times, on the clock and of the processor, after one run that fills the caches."""
    command = [sys.executable, "-m", "fujiscore", *arguments]
    waited, worked = [], []
    for _ in range(RUNS + 1):
        start, used = perf_counter(), processor()
        subprocess.run(command, check=True, capture_output=True)
        waited.append(perf_counter() - start)
        worked.append(processor() - used)
    return min(waited[1:]), min(worked[1:])


def processor():
    """Return the processor time of all processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def rows():
    """Return a row a command."""
    rng = np.random.default_rng(0)
    first = rng.pareto(1.5, ITEMS)
    with tempfile.TemporaryDirectory() as folder:
        files = [
            write(Path(folder, "a.csv"), first),
            write(Path(folder, "b.csv"), first * np.exp(rng.normal(0, 0.5, ITEMS))),
        ]
        taken = [seconds(["--help"]), seconds(["compare", *files])]
    return [
        Row(f"`{name}`, warm", waited, f"{waited:.2f} s ({worked:.2f} s of CPU)", ("below", bound, f"{bound} s"))
        for (name, bound), (waited, worked) in zip(BOUNDS.items(), taken, strict=True)
    ]
