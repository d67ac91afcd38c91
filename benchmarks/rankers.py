"""Measure the feature rankers' speed and memory against the required bounds, and against other implementations.

    python benchmarks/rankers.py [--quick] [--only relief,information,forest,large,quantity]

Prints a table; exits with 1 if a bound is missed. `measure()` returns its rows.
Two peers from PyPI live in an environment of their own: `python benchmarks/rankers.py --install-peers`. R's ranger is
used where Rscript finds it (Debian: r-cran-ranger). A peer that is absent is said to be not installed.
With --quick: a smoke test on small tables, whose figures are not judged.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from dataclasses import replace
from pathlib import Path
from shutil import which
from time import perf_counter, process_time

import numpy as np
from measured import Row, table

HERE = Path(__file__).parent
PEERS = HERE / ".venv-rankers"
PEER_PYTHON = PEERS / "bin" / "python"
MADELON = HERE.parents[1] / "shared" / "data" / "datasets" / "madelon.parquet"
SECONDS, MEGABYTES = "{:.1f} s", "{:.0f} MB"
TIMES, PARTS = "{:.1f} times", "{:.2f} times"
RANGER = """
suppressPackageStartupMessages(library(ranger))
args <- commandArgs(trailingOnly = TRUE)
n <- as.integer(args[2]); m <- as.integer(args[3]); threads <- as.integer(args[4])
x <- matrix(readBin(args[1], "double", n * m), n, m, dimnames = list(NULL, paste0("x", seq_len(m))))
y <- factor(readBin(paste0(args[1], ".y"), "integer", n))
grow <- function(importance) system.time(ranger(x = x, y = y, num.trees = 200, mtry = floor(sqrt(m)),
  min.node.size = 1, importance = importance, num.threads = threads, seed = 1, verbose = FALSE))[["elapsed"]]
for (round in seq_len(as.integer(args[5]))) cat(grow("impurity"), grow("permutation"), "\\n")
"""


def judged(what, figure, form, required=None, detail=""):
    """Return a row; a figure of None is that of a peer that is absent."""
    shown = "not installed" if figure is None else form.format(figure) + detail
    return Row(what, figure, shown, required and (*required, form.format(required[1])))


def classes_and_noise(n, m, classes, informative):
    """Return a table whose first columns depend on the class, and the classes."""
    generator = np.random.default_rng(n + m)
    y = generator.integers(0, classes, n)
    table = generator.standard_normal((n, m))
    table[:, :informative] += generator.normal(0, 1.5, (classes, informative))[y]
    return table, y


def quantity_and_noise(n, m, informative):
    """Return a table, and a quantity that depends on its first columns."""
    generator = np.random.default_rng(n + m)
    table = generator.standard_normal((n, m))
    return table, table[:, :informative].sum(axis=1) + generator.standard_normal(n)


def madelon(quick):
    """Return the madelon data, or a table of its shape where they are not at hand; its name."""
    if MADELON.exists() and not quick:
        import pandas as pd

        table = pd.read_parquet(MADELON)
        return table.drop(columns="target").to_numpy(), (table["target"] == "1").to_numpy().astype(int), "madelon"
    n, m = (300, 40) if quick else (2000, 500)
    return *classes_and_noise(n, m, 2, 20), f"{n} x {m}, synthetic"


class Peer:
    """A ReliefF of the peers' environment: each call ranks the table once and returns the seconds it took."""

    def __init__(self, name, path):
        command = [PEER_PYTHON, __file__, "--serve", name, path]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self):
        """Return the seconds of one ranking."""
        print(file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def close(self):
        """End the process."""
        self.process.communicate()


def serve(name, path):
    """Rank a table by a peer whenever a line comes in, and print the seconds."""
    data = np.load(path)
    if name == "fast-select":
        from fast_select import ReliefF

        options = {"n_features_to_select": 10, "n_neighbors": 15, "backend": "cpu", "n_jobs": -1}
    else:
        from skrebate import ReliefF

        options = {"n_features_to_select": 10, "n_neighbors": 15, "n_jobs": -1}
    for _ in sys.stdin:
        start = perf_counter()
        ReliefF(**options).fit(data["x"], data["y"])
        print(perf_counter() - start, flush=True)


def seconds(call):
    """Return the seconds that a call takes."""
    start = perf_counter()
    call()
    return perf_counter() - start


def relief_rows(quick):
    """Compare relief with two implementations of the same method, in turn."""
    from fujiscore.rankers import relief

    x, y, name = madelon(quick)
    return against_peers(relief, f"relief, {name}", x, y, (("fast-select", 9, 2.0), ("skrebate", 1, 100.0)))


def against_peers(ranker, name, x, y, peers):
    """Compare a ranker with peers (name, rounds, bound)."""
    ranker(x, y)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npz"
        np.savez(path, x=x, y=y)
        for peer, rounds, bound in peers:
            what, required = f"{name}: faster than {peer}", ("at least", bound)
            if not PEER_PYTHON.exists():
                rows.append(judged(what, None, TIMES, required))
                continue
            theirs = Peer(peer, path)
            if rounds > 1:
                theirs()  # compiles
            # Medians on both sides: other work on the machine disturbs a short run and a long one differently.
            their_times, our_times = [], []
            for _ in range(rounds):
                our_times += [seconds(lambda: ranker(x, y)) for _ in range(5)]
                their_times.append(theirs())
                our_times += [seconds(lambda: ranker(x, y)) for _ in range(5)]
            theirs.close()
            they, we = np.median(their_times), np.median(our_times)
            rows.append(judged(what, they / we, TIMES, required, f" ({they:.2f} s, {we:.3f} s)"))
    return rows


def information_rows(quick):
    """Compare mutual information with scikit-learn's, by default and with as many processes as there are cores."""
    from sklearn.feature_selection import mutual_info_classif

    from fujiscore.rankers import mutual_information

    n, m = (100, 200) if quick else (801, 20_531)
    x, y = classes_and_noise(n, m, 5, 100)
    mutual_information(x[:50, :5], y[:50])
    rows = []
    for n_jobs, words, bound in ((None, "", 20.0), (-1, " on all cores", None)):
        ours = [seconds(lambda: mutual_information(x, y))]
        they = seconds(lambda n_jobs=n_jobs: mutual_info_classif(x, y, random_state=0, n_jobs=n_jobs))
        we = min([*ours, seconds(lambda: mutual_information(x, y))])
        required = None if bound is None else ("at least", bound)
        what = f"mutual_information, {n} x {m:,}, 5 classes: faster than scikit-learn{words}"
        rows.append(judged(what, they / we, TIMES, required, f" ({they:.1f} s, {we:.2f} s)"))
    return rows


def forest_steps(x, y, rounds):
    """Return the least seconds of growing a forest and of its permutation step."""
    from fujiscore.rankers import forest
    from fujiscore.rankers.features import prepare
    from fujiscore.work.tiles import workers

    table = prepare(x, y)
    single, response = forest._as_float32(table), forest._response(table.target)  # noqa: SLF001
    threads = workers(None)
    fits, steps = [], []
    for _ in range(rounds):
        start = perf_counter()
        grown = forest._fit(single, response, 200, 0, threads, 200, lambda _: None)  # noqa: SLF001
        fits.append(perf_counter() - start)
        steps.append(
            seconds(lambda grown=grown: forest._permutation(grown, single, response, 0, threads, restore=True))  # noqa: SLF001
        )
    return min(fits), min(steps)


def forest_rows(quick):
    """Compare the permutation step with growing the forest, and with the same step of R's ranger."""
    sizes = [(300, 40, 2), (100, 300, 5)] if quick else [(2000, 500, 2), (801, 20_531, 5)]
    rows = []
    forest_steps(*classes_and_noise(60, 5, 2, 2), 1)  # compiles
    for n, m, classes in sizes:
        fit, step = forest_steps(*classes_and_noise(n, m, classes, 20), 3)
        what = f"random_forest, {n} x {m:,}: permutation step, relative to growing the forest"
        rows.append(judged(what, step / fit, PARTS, ("at most", 0.5), f" ({step:.2f} s, {fit:.2f} s)"))
    n, m = (300, 20) if quick else (13_910, 128)
    x, y = classes_and_noise(n, m, 6, m // 3)
    fit, step = forest_steps(x, y, 3)
    they, grow = ranger_steps(x, y)
    detail = "" if they is None else f" ({they:.1f} s, {step:.2f} s; growing: {grow:.1f} s, {fit:.1f} s)"
    what = f"random_forest, {n:,} x {m}: permutation step, faster than ranger's"
    rows.append(judged(what, None if they is None else they / step, TIMES, ("at least", 5.0), detail))
    return rows


def ranger_steps(x, y, rounds=3):
    """Return the seconds that permutation importance adds in ranger, and those without; None where it is absent."""
    if not which("Rscript"):
        return None, None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        x.T.tofile(path)  # column by column
        y.astype(np.int32).tofile(f"{path}.y")
        script = Path(folder) / "grow.R"
        script.write_text(RANGER)
        numbers = [*x.shape, len(os.sched_getaffinity(0)), rounds]
        command = ["Rscript", "--vanilla", script, path, *map(str, numbers)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        if "no package called" in done.stderr:
            return None, None
        raise RuntimeError(done.stderr)
    times = np.array([line.split() for line in done.stdout.splitlines()], float)
    impurity, permutation = times.min(axis=0)
    return permutation - impurity, impurity


def large_rows(quick):
    """Rank a large table by relief in a fresh process: seconds and megabytes beyond the data."""
    size = (1000, 20) if quick else (76_000, 170)
    command = [sys.executable, __file__, "--large", *map(str, size)]
    result = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    what = f"relief, {size[0]:,} x {size[1]}, 2 classes, 2 threads"
    return [
        judged(f"{what}: time", result["seconds"], SECONDS, ("at most", 60.0), f" ({result['cpu']:.0f} s of CPU)"),
        judged(f"{what}: memory beyond the data", result["megabytes"], MEGABYTES, ("at most", 500.0)),
    ]


def large(n, m):
    """Print the seconds and the peak memory of relief on a large table."""
    from fujiscore.rankers import relief

    x, y = classes_and_noise(n, m, 2, 10)
    relief(x[:300], y[:300])
    # getrusage would not do: its peak includes the compilation above, and even that of the parent process.
    Path("/proc/self/clear_refs").write_text("5")
    before, cpu = resident("VmRSS"), process_time()
    taken = seconds(lambda: relief(x, y, n_jobs=2))
    print(json.dumps({"seconds": taken, "cpu": process_time() - cpu, "megabytes": resident("VmHWM") - before}))


def resident(field):
    """Return this process's memory now (VmRSS) or at its peak since the last reset (VmHWM), in megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def quantity_rows(quick):
    """Compare the rankers of a quantity: scikit-learn has mutual information, skrebate a kin of RReliefF."""
    from sklearn.feature_selection import mutual_info_regression

    from fujiscore.rankers import mutual_information, relief

    x, y = quantity_and_noise(*((300, 40) if quick else (2000, 500)), 20)
    name = f"relief of a quantity, {x.shape[0]} x {x.shape[1]}"
    rows = against_peers(relief, name, x, y, [("skrebate", 1, 100.0)])
    n, m = (100, 200) if quick else (801, 20_531)
    x, y = quantity_and_noise(n, m, 10)
    mutual_information(x[:50, :5], y[:50])
    ours = [seconds(lambda: mutual_information(x, y)) for _ in range(2)]
    they = seconds(lambda: mutual_info_regression(x, y, random_state=0))
    we = min([*ours, seconds(lambda: mutual_information(x, y))])
    what = f"mutual_information of a quantity, {n} x {m:,}: faster than scikit-learn"
    return [*rows, judged(what, they / we, TIMES, ("at least", 20.0), f" ({they:.1f} s, {we:.2f} s)")]


PARTS_OF_RUN = {
    "relief": relief_rows,
    "information": information_rows,
    "forest": forest_rows,
    "large": large_rows,
    "quantity": quantity_rows,
}


def measure(parts=tuple(PARTS_OF_RUN), *, quick=False):
    """Return the rows of the chosen parts."""
    rows = []
    for part in parts:
        for row in PARTS_OF_RUN[part](quick):
            rows.append(replace(row, required=None) if quick else row)
            print(" | ".join(rows[-1].cells()), file=sys.stderr, flush=True)
    return rows


def install_peers():
    """Create the peers' environment, which git ignores."""
    venv.create(PEERS, with_pip=True)
    (PEERS / ".gitignore").write_text("*\n")
    subprocess.run([PEER_PYTHON, "-m", "pip", "install", "--quiet", "fast-select", "skrebate"], check=True)


def main():
    """Measure, print, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default=",".join(PARTS_OF_RUN))
    parser.add_argument("--install-peers", action="store_true")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--large", nargs=2, type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.install_peers:
        install_peers()
    elif arguments.serve:
        serve(*arguments.serve)
    elif arguments.large:
        large(*arguments.large)
    else:
        rows = measure(arguments.only.split(","), quick=arguments.quick)
        print(table(["measured", "figure", "required", "holds"], [row.cells() for row in rows]))
        sys.exit(any(row.holds is False for row in rows))


if __name__ == "__main__":
    main()
