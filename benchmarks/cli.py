"""How long users wait for the command `fuji`: the help, and a comparison of two files. Caches are warm."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import numpy as np
from measured import Row, as_installed

ITEMS, RUNS = 1000, 5


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


def write(path, scores):
    """Write a file of items and scores."""
    rows = "".join(f"item_{i},{float(score)!r}\n" for i, score in enumerate(scores))
    path.write_text(f"item,score\n{rows}", encoding="utf-8")
    return str(path)


def seconds(arguments, **environment):
    """Run Python as users have it; return the time on the clock and of the processor, and the process."""
    start, used = perf_counter(), processor()
    command = [sys.executable, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=as_installed(**environment))
    return perf_counter() - start, processor() - used, done


def processor():
    """Return the processor time of all processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def row(what, times, bound):
    """Return the least of the times, on the clock and of the processor, with its bound."""
    waited, worked = map(min, zip(*times, strict=True))
    return Row(what, waited, f"{waited:.2f} s ({worked:.2f} s of CPU)", ("at most", bound, f"{bound} s"))


def rows():
    """Return one row per command."""
    with prepared() as (files, _, _):
        commands = (("`fuji --help`", ["--help"], 0.4), (f"`fuji compare`, {ITEMS} items", ["compare", *files], 0.8))
        measured = []
        for what, arguments, bound in commands:
            seconds(["-m", "fujiscore", *arguments])  # fills the caches
            times = [seconds(["-m", "fujiscore", *arguments])[:2] for _ in range(RUNS)]
            measured.append(row(f"{what}, warm", times, bound))
    return measured
