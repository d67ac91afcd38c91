"""Measure everything against its bounds: `make bench`, or `python benchmarks/run.py --only core,chances`.

Prints figures and bounds, writes the figures into docs/benchmarks.md and a sentence into README.md, and exits with 1 if
a bound is missed.
"""

from __future__ import annotations

import argparse
import os
import sys

import batches
import chances
import cli
import cluster
import cold_start
import core
import files
import long
import rankers
import runs
from measured import PAGE, judged, machine, page_table, write_between

SECTIONS = {
    "cold_start": cold_start.rows,
    "cli": cli.rows,
    "chances": chances.rows,
    "batches": batches.rows,
    "cluster": cluster.rows,
    "files": files.rows,
    "long": long.rows,
    "rankers": rankers.measure,
    "runs": runs.rows,
}


def main():
    """Run the chosen sections and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = ["core", *SECTIONS]
    parser.add_argument("--only", default=",".join(names), help=f"sections, of {', '.join(names)}")
    chosen = parser.parse_args().only.split(",")
    if unknown := set(chosen) - set(names):
        parser.error(f"--only must name sections of {', '.join(names)}; got {', '.join(sorted(unknown))}.")
    print(f"load before the run: {os.getloadavg()[0]:.1f}", file=sys.stderr)
    missed = core.run() if "core" in chosen else 0
    for name, measure in SECTIONS.items():
        if name in chosen:
            rows = measure()
            missed |= any(row.holds is False for row in rows)
            print(judged(rows), flush=True)
            write_between(PAGE, name, f"{page_table(rows)}\n\nMeasured on {machine()}.")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
