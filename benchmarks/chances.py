"""Measure chance, permutations, all pairs and a consensus against the required bounds."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from measured import Row, fastest, pair

import fujiscore as fj

HERE = Path(__file__).parent


def chance_rows():
    """Return the rows on exact chance levels."""
    rows = []
    for n, rounds, limit in ((20_531, 5, 0.5), (1_000_000, 2, 10.0)):
        r, s = pair(n)
        seconds = fastest({"chance": lambda r=r, s=s: fj.chance(r, s)}, rounds)["chance"]
        what = f"exact chance level and variance of FUJI at every k, n = {n:,}"
        rows.append(Row(what, seconds, f"{seconds:.2f} s", ("below", limit, f"{limit:g} s")))
    return rows


def permutation_rows():
    """Return the row on permutation p-values."""
    r, s = pair(20_531)
    fj.chance(r, s, ks="exp", permutations=100)
    call = {"p": lambda: fj.chance(r, s, ks="exp", permutations=10_000)}
    seconds = fastest(call, 1)["p"]
    what = "p-value of the FUJI area from 10,000 permutations, n = 20,531, exp grid"
    return [Row(what, seconds, f"{seconds:.1f} s", ("below", 10, "10 s"))]


def some_rankings(m, n):
    """Return noisy copies of the same log-normal scores."""
    generator = np.random.default_rng(m)
    return generator.lognormal(size=n) * generator.lognormal(size=(m, n))


def pairs_rows(m=500, n=20_531):
    """Return the rows on all pairs: time per item and pair on one core, two threads, memory."""
    scores = some_rankings(m, n)
    fj.pairwise(scores[:20])
    calls = {jobs: lambda jobs=jobs: fj.pairwise(scores, n_jobs=jobs) for jobs in (1, 2)}
    times = fastest(calls, 2)
    nanoseconds = times[1] / (m * (m + 1) / 2) / n * 1e9
    gain = times[1] / times[2]
    what = f"all pairs of {m} rankings of {n:,} items, exp grid"
    rows = [
        Row(
            f"{what}: one core, per item and pair, sorting included",
            nanoseconds,
            f"{nanoseconds:.2f} ns",
            ("below", 4, "4 ns"),
        ),
        Row(f"{what}: two threads over one", gain, f"{gain:.2f}", ("at least", 1.5, "1.5")),
    ]
    if sys.platform == "linux":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "scores.npy"
            np.save(path, scores)
            command = [sys.executable, str(HERE / "memory.py"), str(path), "pairwise"]
            more = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) / (8 * m)
        shown = f"{1 + more:.1f} x the input"
        rows.append(Row(f"{what}: peak memory, input included", 1 + more, shown, ("at most", 3, "3 x the input")))
    return rows


def consensus_rows(m=1000, n=20_000):
    """Return the rows on a consensus with its agreement, leave-one-out included."""
    scores = some_rankings(m, n)
    fj.consensus(scores[:20], "rra")
    times = fastest({method: lambda method=method: fj.consensus(scores, method) for method in ("borda", "rra")}, 1)
    what = f"consensus of {m:,} rankings of {n:,} items, leave-one-out agreement included"
    return [Row(f"{what}: {method}", seconds, f"{seconds:.1f} s") for method, seconds in times.items()]


def p_value_rows(m=500, n=20_531, some=6):
    """Return the rows on p-values of all pairs: time over that of the matrix alone, and that of permutations."""
    scores = some_rankings(m, n)
    fj.pairwise(scores[:20], p_values=True)
    calls = {tested: lambda tested=tested: fj.pairwise(scores, p_values=tested) for tested in (False, True)}
    times = fastest(calls, 3)
    ratio = times[True] / times[False]
    pairs = m * (m - 1) // 2
    drawn = {"p": lambda: [fj.chance(scores[i], scores[i + 1], ks="exp", permutations=1000) for i in range(some)]}
    hours = fastest(drawn, 1)["p"] / some * pairs / 3600
    what = f"p-values of all {pairs:,} pairs of {m} rankings of {n:,} items, exp grid"
    return [
        Row(f"{what}: time over that without them", ratio, f"{ratio:.2f}", ("at most", 1.3, "1.3")),
        Row(f"{what}: matrix and p-values together", times[True], f"{times[True]:.1f} s"),
        Row(f"the same from 1,000 permutations a pair, extrapolated from {some} pairs", hours, f"{hours:.1f} h"),
    ]


def rows():
    """Return all rows."""
    return [*chance_rows(), *permutation_rows(), *pairs_rows(), *p_value_rows(), *consensus_rows()]
