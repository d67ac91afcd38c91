"""Measure the core's speed and memory against the required bounds: `make bench`.

Prints two tables, writes the figures into docs/benchmarks.md and a sentence into README.md, and exits with 1 if a bound
is missed. With --quick: a smoke test on small arrays that writes nothing and judges only whether the results agree.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import timeit
from dataclasses import dataclass, replace
from math import log
from pathlib import Path

import numpy as np
from algorithm1 import credit_tuned, similarity_curve
from measured import PAGE, Row, as_installed, fastest, judged, machine, page_table, pair, table, write_between
from peers import Rbo, rbo_ready, scipy_peers

import fujiscore as fj

HERE = Path(__file__).parent
README = HERE.parent / "README.md"


@dataclass(frozen=True)
class Plan:
    """Sizes and repetitions of a run."""

    sizes: dict[int, int]  # n: rounds
    growth: tuple[int, int]
    baseline: int
    baseline_growth: tuple[int, int]
    rounds: int
    memory: int
    processes: int


FULL = Plan({20_531: 40, 100_000: 20, 1_000_000: 8}, (10_000, 1_000_000), 10_000, (1_000, 8_000), 3, 1_000_000, 10)
QUICK = Plan({2_000: 5, 20_531: 3}, (1_000, 20_531), 1_000, (250, 1_000), 2, 200_000, 2)


def slope(times, sizes):
    """Return the exponent of growth between two sizes."""
    small, large = sizes
    return log(times[large] / times[small]) / log(large / small)


def whole_curves(plan, folder, *, with_rbo):
    """Return the rows on whole curves, and each peer's time as a multiple of the curve's by n."""
    rows, multiples = [], {}
    for n, rounds in plan.sizes.items():
        r, s = scores = pair(n)
        np.save(folder / f"{n}.npy", scores)
        calls = {
            "curve": lambda r=r, s=s: fj.curve(r, s),
            "argsort": lambda r=r, s=s: (np.argsort(r, kind="stable"), np.argsort(s, kind="stable")),
            **scipy_peers(r, s),
        }
        rbo = Rbo(folder / f"{n}.npy") if with_rbo else None
        if rbo:
            calls["rbo"] = rbo
        times = fastest(calls, rounds)
        if rbo:
            rbo.close()
        what = f"whole FUJI curve from raw arrays, n = {n:,}: time relative to"
        for peer, limit, name in (
            ("argsort", ("at most", 0.6, "0.6"), "two stable NumPy argsorts"),
            ("kendalltau", ("below", 1.0, "1"), "SciPy's kendalltau (one number)"),
        ):
            ratio = times["curve"] / times[peer]
            rows.append(Row(f"{what} {name}", ratio, f"{ratio:.2f}", limit))
        multiples[n] = {"milliseconds": times["curve"] * 1e3} | {p: times[p] / times["curve"] for p in times}
    return rows, multiples


def baseline(plan):
    """Return the rows on Algorithm 1: agreement, speed, and growth of both."""
    n = plan.baseline
    r, s = pair(n)
    lists = r.tolist(), s.tolist()
    error = float(np.abs(np.array(similarity_curve(*lists)) - fj.curve(r, s).values).max())
    calls = {
        "curve": lambda: fj.curve(r, s),
        "plain": lambda: similarity_curve(*lists),
        "tuned": lambda: similarity_curve(*lists, credit_tuned),
    }
    times = fastest(calls, plan.rounds, {"curve": 100})
    plain, tuned = times["plain"] / times["curve"], times["tuned"] / times["curve"]
    pairs = {size: pair(size) for size in (*plan.growth, *plan.baseline_growth)}
    small, large = plan.growth
    ours = {size: lambda size=size: fj.curve(*pairs[size]) for size in plan.growth}
    grows = slope(fastest(ours, 20, {small: 20}), plan.growth)
    slow = {size: lambda size=size: similarity_curve(*pairs[size].tolist()) for size in plan.baseline_growth}
    grows_1 = slope(fastest(slow, plan.rounds), plan.baseline_growth)
    versus = f"the paper's Algorithm 1 in plain Python, n = {n:,}"
    return [
        Row(f"largest difference from {versus}", error, f"{error:.0e}", ("at most", 1e-9, "1e-9")),
        Row(f"times faster than {versus}", plain, f"{plain:,.0f}", ("at least", 10_000, "10,000")),
        Row("the same with the inner loop of Algorithm 1 tuned by hand", tuned, f"{tuned:,.0f}"),
        Row(f"time grows as n to the power, n = {small:,} to {large:,}", grows, f"{grows:.2f}", ("below", 1.2, "1.2")),
        Row("the same of Algorithm 1, n = {:,} to {:,}".format(*plan.baseline_growth), grows_1, f"{grows_1:.2f}"),
    ]


def all_measures():
    """Return the row on the curves of all measures."""
    n = 20_531
    r, s = pair(n)
    names = list(fj.PAPER_MEASURES)
    times = fastest({"one": lambda: fj.curve(r, s), "all": lambda: fj.compare(r, s, names)}, 20)
    ratio = times["all"] / times["one"]
    what = f"whole curves of the paper's {len(names)} measures, n = {n:,}: time relative to the FUJI curve alone"
    return [Row(what, ratio, f"{ratio:.1f}", ("at most", 12, "12"))]


def small_calls():
    """Return the rows on warm calls with few items."""
    r, s = pair(100)
    rows = []
    for text, call in (("fj.fuji(r, s, 10)", lambda: fj.fuji(r, s, 10)), ("fj.curve(r, s)", lambda: fj.curve(r, s))):
        call()
        micro = min(timeit.repeat(call, number=200, repeat=50)) / 200 * 1e6
        rows.append(Row(f"`{text}`, n = 100, a warm call", micro, f"{micro:.0f} µs", ("below", 40, "40 µs")))
    return rows


def memory(plan, folder):
    """Return the row on memory, the most of three runs: Linux alone tells a process's peak since a moment."""
    if sys.platform != "linux":
        return []
    n = plan.memory
    path = folder / "memory.npy"
    np.save(path, pair(n))
    command = [sys.executable, str(HERE / "memory.py"), str(path)]
    runs = [float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(3)]
    what = f"peak memory of the whole FUJI curve beyond its inputs, n = {n:,}"
    return [Row(what, max(runs), f"{max(runs):.0f} bytes per item", ("below", 120, "120 bytes per item"))]


def imports(plan, folder):
    """Return the row on import time; bytecode is cached, as it is for users."""
    calls = {
        name: lambda name=name: subprocess.run(
            [sys.executable, "-c", f"import {name}"], env=as_installed(), cwd=folder, check=True
        )
        for name in ("numpy", "fujiscore")
    }
    times = fastest(calls, plan.processes)
    more = (times["fujiscore"] - times["numpy"]) * 1e3
    what = "`import fujiscore` beyond `import numpy`, whole process"
    return [Row(what, more, f"{more:.0f} ms", ("at most", 40, "40 ms"))]


def peer_table(multiples):
    """Return each peer's time as a multiple of the whole curve's, one column per n."""
    titles = {
        "argsort": "NumPy argsort, stable, both arrays",
        "kendalltau": "SciPy kendalltau",
        "weightedtau": "SciPy weightedtau",
        "spearmanr": "SciPy spearmanr",
        "rbo": "rbo 0.1.3, p = 0.98, sorting included",
    }
    sizes = list(multiples)
    first = ["fujiscore, whole FUJI curve", *[f"1 ({multiples[n]['milliseconds']:.3g} ms)" for n in sizes]]
    rows = [
        [title, *[f"{multiples[n][peer]:.1f}" if peer in multiples[n] else "not installed" for n in sizes]]
        for peer, title in titles.items()
    ]
    return table(["time relative to the curve", *[f"n = {n:,}" for n in sizes]], [first, *rows])


def report(rows, multiples):
    """Return the text of the page: caption and both tables."""
    caption = (
        f"Measured on {machine()}. The arrays are two noisy copies of the same log-normal scores (seeded, the noise as "
        "wide as the scores: their top sets overlap about as much as published feature rankings do)."
    )
    peers = f"The peers compute one number each (the argsorts none):\n\n{peer_table(multiples)}"
    return f"{caption}\n\n{page_table(rows)}\n\n{peers}"


def summary(rows, multiples):
    """Return the README's sentence."""
    n = min(multiples)
    sorts, faster = (next(row for row in rows if key in row.what) for key in ("two stable NumPy", "times faster"))
    of = faster.what.rpartition(", ")[2]
    return (
        f"The whole FUJI curve of two rankings of {n:,} items takes {multiples[n]['milliseconds']:.2g} ms, "
        f"{sorts.shown} times as long as sorting both with NumPy. For {of}, the paper's Algorithm 1 in "
        f"plain Python takes {faster.shown} times as long as fujiscore."
    )


def run(*, quick=False):
    """Run everything, print and write the tables, and return 1 if a bound is missed."""
    plan = QUICK if quick else FULL
    with_rbo = rbo_ready(install=not quick)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows, multiples = whole_curves(plan, folder, with_rbo=with_rbo)
        rows += [*baseline(plan), *all_measures(), *memory(plan, folder), *small_calls()]
        rows += imports(plan, folder)
    if quick:  # the bounds on time and memory are for the full run's sizes
        rows = [row if row.what.startswith("largest difference") else replace(row, required=None) for row in rows]
    print(judged(rows), peer_table(multiples), sep="\n\n", flush=True)
    if not quick:
        write_between(PAGE, "core", report(rows, multiples))
        write_between(README, "speed", summary(rows, multiples))
    return int(any(row.holds is False for row in rows))


if __name__ == "__main__":
    sys.exit(run(quick="--quick" in sys.argv[1:]))
