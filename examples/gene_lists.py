"""Two studies each print their 100 best genes, and 13 genes are on both lists: is that many or few?

python gene_lists.py [--plot figure.png]

The lists are genes_a.csv and genes_b.csv beside this script: synthetic, 100 genes out of 17,611, best first. How many
genes were tested is not on a printed list, and the answer depends on it.
"""

from argparse import ArgumentParser
from pathlib import Path

import numpy as np

import fujiscore as fj
from fujiscore.charts.palette import CHANCE

FOLDER = Path(__file__).parent
FILES = [FOLDER / "genes_a.csv", FOLDER / "genes_b.csv"]
TESTED, SIZES = 17_611, (187, 500, 2000, 17_611, 60_000)


def compare(tested):
    """Compare the lists with chance, given the number of genes that they were drawn from."""
    return fj.chance(*fj.read(FILES, universe=tested))


def report(result, limits):
    """Print the comparison, what the lists leave open, and what another number of genes would say."""
    a, b = fj.read(FILES, universe=TESTED)
    both = [gene for gene, x, y in zip(a.items, a.scores, b.scores, strict=True) if x and y]
    print(f"{a.listed} and {b.listed} genes, {len(both)} on both lists, {TESTED} tested")
    print(f"area under FUJI {result.auc:.3f}, by chance {result.expected_auc:.3f}, p = {result.p_value:.0e}")
    print(result.in_words())
    print("if genes that a list lacks score as high as they can: {1:.3f} instead of {0:.3f}\n".format(*limits.auc))
    print("genes tested  by chance  corrected  p-value")
    for tested in SIZES:
        other = compare(tested)
        print(f"{tested:12d}  {other.expected_auc:9.3f}  {other.corrected_auc:9.3f}  {other.p_value:7.2g}")


def draw(result, limits, path):
    """Draw FUJI over k with its bounds and its chance level, and the chance level by the number of genes."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.6), layout="constrained")
    left.fill_between(limits.ks, limits.low, limits.high, color=fj.MEASURES["fuji"].colour, alpha=0.12, linewidth=0)
    left.plot(result.ks, result.observed, color=fj.MEASURES["fuji"].colour, label="FUJI, and what it can be at most")
    left.fill_between(result.ks, *result.band(), color=CHANCE, alpha=0.3, linewidth=0)
    left.plot(result.ks, result.expected, "--", color=CHANCE, label="by chance, 95% band")
    left.set(xlabel="k, number of top genes", ylabel="FUJI", ylim=(-0.02, 1.02), xlim=(0, 100))
    left.legend(frameon=False, loc="upper left")
    sizes = np.geomspace(200, 100_000, 25).round().astype(int)
    right.axhline(result.auc, color=fj.MEASURES["fuji"].colour, label="observed")
    right.plot(sizes, [compare(int(size)).expected_auc for size in sizes], "--", color=CHANCE, label="by chance")
    right.axvline(TESTED, color="black", linewidth=0.8, linestyle=":")
    right.text(TESTED, 0.3, f" {TESTED} tested", fontsize=8)
    right.set(xscale="log", xlabel="number of genes tested", ylabel="area under FUJI", ylim=(0, None))
    right.legend(frameon=False)
    figure.savefig(path, dpi=100)


def main():
    """Compare the lists, print and draw."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE", help="write the figure to this file")
    path = parser.parse_args().plot
    result, limits = compare(TESTED), fj.bounds(*fj.read(FILES, universe=TESTED))
    report(result, limits)
    if path:
        draw(result, limits, path)


if __name__ == "__main__":
    main()
