"""How long a person waits for the command `fuji`: the help, and a comparison of two files. Prints rows with bounds."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

ITEMS, RUNS = 1000, 5
BOUNDS = {"fuji --help": 0.4, f"fuji compare, {ITEMS} items": 1.5}


def write(path, scores):
    """Write a file of items and scores."""
    rows = "".join(f"item_{i},{float(score)!r}\n" for i, score in enumerate(scores))
    path.write_text(f"item,score\n{rows}", encoding="utf-8")
    return str(path)


def seconds(arguments):
    """Return the least of several times, after one run that fills the caches."""
    command = [sys.executable, "-m", "fujiscore", *arguments]
    times = []
    for _ in range(RUNS + 1):
        start = perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(perf_counter() - start)
    return min(times[1:])


def main():
    """Measure both, print a row each, and fail if one is over its bound."""
    rng = np.random.default_rng(0)
    first = rng.pareto(1.5, ITEMS)
    with tempfile.TemporaryDirectory() as folder:
        files = [
            write(Path(folder, "a.csv"), first),
            write(Path(folder, "b.csv"), first * np.exp(rng.normal(0, 0.5, ITEMS))),
        ]
        taken = [seconds(["--help"]), seconds(["compare", *files])]
    over = False
    for (name, bound), own in zip(BOUNDS.items(), taken, strict=True):
        over |= own > bound
        print(f"{name:<28} {own:6.2f} s   bound {bound:.1f} s   {'ok' if own <= bound else 'OVER'}")
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
