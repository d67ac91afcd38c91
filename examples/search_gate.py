"""A search engine gets a new release: may it ship, or did its results change too much?

python search_gate.py [--plot figure.png]

run_a.trec and run_b.trec beside this script hold the results of two releases for three queries. Gates judge the new
release, first in Python, then on the command line as a CI job does: accept a baseline, compare with it, exit with 1.
"""

import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import fujiscore as fj
from fujiscore.charts.palette import CHANCE, INK

FOLDER = Path(__file__).parent
OLD, NEW = FOLDER / "run_a.trec", FOLDER / "run_b.trec"
K, MEAN, QUERY = 5, 0.9, 0.7
KINDS = {"shared": CHANCE, "near miss": fj.MEASURES["fuji"].colour, "far miss": INK}


def gate():
    """Compare the releases, and judge the mean of all queries and the share of bad ones."""
    result = fj.compare_runs(OLD, NEW, k=K)
    return result, result.judge(fail_under=MEAN, fail_share_below=(QUERY, 0.1))


def report(result, verdict):
    """Print what changed, what the gates say, and why the worst query has its value."""
    columns = [result.values(name) for name in ("fuji", "fuji_high", "jaccard")]
    for query, low, high, jaccard in zip(result.queries, *columns, strict=True):
        print(f"{query}: FUJI {low:.3f} to {high:.3f}, Jaccard {jaccard:.3f}")
    print(*verdict.lines(), sep="\n")
    worst = result.queries[result.changed_most(1)[0]]
    why = result.explain(worst)
    counts = ", ".join(f"{why.kind.count(kind)} {kind}" for kind in KINDS)
    print(f"\n{worst}, documents in either top {K}: {counts}")
    return worst, why


def command_line(folder):
    """Do the same as a CI job, and print each exit code: 0 passed, 1 failed, 2 bad input."""
    baseline = Path(folder) / "accepted.tsv.gz"
    steps = {
        "accept the old release": [OLD, "--bless"],
        "judge the new release": [NEW, "--fail-under", MEAN],
        "accept the new release": [NEW, "--bless"],
        "judge it once more": [NEW, "--fail-under", MEAN],
    }
    print()
    for title, (run, *options) in steps.items():
        command = [sys.executable, "-m", "fujiscore", "runs", run, "--baseline", baseline, "-k", K, *options]
        done = subprocess.run(list(map(str, command)), check=False, capture_output=True)
        print(f"{title:22s}  exit code {done.returncode}")


def draw(result, worst, why, path):
    """Draw the queries, and the documents of the worst one."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.2), layout="constrained")
    places = np.arange(len(result.queries))
    low, high = result.values("fuji"), result.values("fuji_high")
    left.hlines(places, low, high, color=fj.MEASURES["fuji"].colour, linewidth=5, alpha=0.5)
    left.plot(
        low, places, "o", color=fj.MEASURES["fuji"].colour, markersize=10, label="FUJI, at least (line: to at most)"
    )
    left.plot(result.values("jaccard"), places, "D", color=fj.MEASURES["jaccard"].colour, markersize=5, label="Jaccard")
    left.axvline(QUERY, color="black", linewidth=0.8, linestyle=":", label=f"gate for single queries, {QUERY}")
    left.set_yticks(places, result.queries)
    left.set(xlim=(0, 1.03), ylim=(places[-1] + 0.5, -0.5), xlabel=f"similarity of the top {K}")
    left.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    right.barh(range(len(why.items)), why.contribution, color=[KINDS[kind] for kind in why.kind])
    right.set_yticks(range(len(why.items)), why.items)
    right.invert_yaxis()
    right.set(xlabel="contribution to FUJI", xlim=(0, 1.03), ylabel=f"documents of {worst}")
    handles = [plt.Rectangle((0, 0), 1, 1, color=shade) for shade in KINDS.values()]
    right.legend(handles, KINDS, frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    figure.savefig(path, dpi=100)


def main():
    """Judge the new release."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE", help="write the figure to this file")
    path = parser.parse_args().plot
    result, verdict = gate()
    worst, why = report(result, verdict)
    with TemporaryDirectory() as folder:
        command_line(folder)
    if path:
        draw(result, worst, why, path)


if __name__ == "__main__":
    main()
