"""Draw the picture of README.md from examples/scores.csv: `python docs/make_pictures.py`."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

import fujiscore as fj

ROOT = Path(__file__).parents[1]


def main():
    """Draw FUJI and Jaccard of two feature rankings of the digits data."""
    mpl.use("Agg")
    rankings = fj.read(ROOT / "examples" / "scores.csv")
    ax = fj.compare(rankings["random_forest"], rankings["mutual_information"]).plot()
    ax.figure.set_size_inches(7.2, 3.6)
    ax.figure.savefig(ROOT / "docs" / "curves.png", dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
