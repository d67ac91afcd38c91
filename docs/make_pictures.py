"""Draw the pictures of README.md and docs/reading-curves.md: `python docs/make_pictures.py`."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

import fujiscore as fj
from fujiscore.charts import figure as painter
from fujiscore.charts.result import charts_of

ROOT = Path(__file__).parents[1]
DPI = 100


def main():
    """Draw the picture of two models' importances, and four typical pairs of rankings."""
    mpl.use("Agg")
    models = [fj.read(ROOT / "examples" / f"model_{name}.csv") for name in "ab"]
    result = fj.compare(*models)
    charts = charts_of(result)
    figure = Figure(figsize=painter.composed_size(charts), layout="constrained")
    painter.compose(charts, figure)
    write(figure, "curves.png")
    write(gallery(), "reading-curves.png")


def gallery():
    """Return the curves of four typical pairs of rankings, made from one ranking of 200 items."""
    rng = np.random.default_rng(0)
    scores = np.sort(rng.pareto(1.2, 200) + 0.05)[::-1]
    swapped = scores * rng.lognormal(0, 0.1, 200)
    top_only = np.concatenate([scores[:20] * rng.lognormal(0, 0.1, 20), rng.permutation(scores[20:])])
    no_top = np.concatenate([rng.permutation(scores[:40]), scores[40:]])
    pairs = {
        "Near ties swapped": swapped,
        "The same top 20, the rest shuffled": top_only,
        "The top 40 shuffled, the rest the same": no_top,
        "All shuffled": rng.permutation(scores),
    }
    figure = Figure(figsize=(10.4, 6.8), layout="constrained")
    for ax, (name, other) in zip(figure.subplots(2, 2).ravel(), pairs.items(), strict=True):
        result = fj.compare(scores, other)
        result.plot(ax=ax)
        ax.set_title(f"{name}\n{result.verdict()}", fontsize=8)
    return figure


def write(figure, name):
    """Write a figure beside this script in 160 colours, which are enough and half the bytes."""
    file = BytesIO()
    figure.savefig(file, dpi=DPI)
    Image.open(file).convert("RGB").quantize(160).save(ROOT / "docs" / name, optimize=True)


if __name__ == "__main__":
    main()
