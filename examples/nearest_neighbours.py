"""How many cells must an approximate nearest-neighbour index search before its answers are as good as exact ones?

python nearest_neighbours.py [--plot figure.png]

The index is an inverted file: k-means puts scikit-learn's digits into cells, and a query looks only into the cells
whose centres are nearest. Its answers are judged by ids (plain recall), by true distances (recall), and as rankings.
"""

from argparse import ArgumentParser

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import pairwise_distances

import fujiscore as fj
from fujiscore.charts.palette import PALETTE

QUERIES, CELLS, K, DEPTH = 300, 40, 10, 50
PROBES = (1, 2, 3, 5, 8, 12, 20, CELLS)


def search(distances, labels, cells):
    """Return the ids nearest to each query within its cells, -1 where there are too few, and the share looked at."""
    seen = (labels[None, None, :] == cells[:, :, None]).any(axis=1)
    order = np.argsort(np.where(seen, distances, np.inf), axis=1, kind="stable")[:, :DEPTH]
    return np.where(np.take_along_axis(seen, order, axis=1), order, -1), seen.mean()


def true_distances(distances, ids):
    """Return the distances of returned ids, NaN where nothing was returned."""
    return np.where(ids >= 0, np.take_along_axis(distances, ids, axis=1), np.nan)


def as_run(distances, ids):
    """Return what compare_runs takes: for each query the items and their distances."""
    return {query: {int(item): distances[query, item] for item in row[row >= 0]} for query, row in enumerate(ids)}


def judge(distances, exact, ids):
    """Return the recall of the first K, and the comparison of both answers as rankings."""
    truth = exact, true_distances(distances, exact)
    recall = fj.recall(truth, ids, K, scores=true_distances(distances, ids), distances=True)
    runs = fj.compare_runs(as_run(distances, exact), as_run(distances, ids), k=K, transform="reciprocal")
    return recall, runs


def measure(queries, base):
    """Yield the number of cells searched, the share of vectors looked at, and the means of all measures."""
    index = KMeans(CELLS, n_init=1, random_state=0).fit(base)
    distances = pairwise_distances(queries, base)
    nearest = np.argsort(pairwise_distances(queries, index.cluster_centers_), axis=1)
    exact = np.argsort(distances, axis=1, kind="stable")[:, :DEPTH]
    for probes in PROBES:
        ids, share = search(distances, index.labels_, nearest[:, :probes])
        recall, runs = judge(distances, exact, ids)
        values = [recall.mean, recall.within.mean(), recall.plain.mean()]
        values += [runs.values(name).mean() for name in ("fuji", "fuji_high", "jaccard")]
        yield probes, share, *values


def draw(table, path):
    """Draw all measures against the share of vectors that were looked at."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7.2, 4), layout="constrained")
    _, share, recall, within, plain, low, high, jaccard = np.array(table).T
    lines = (
        (recall, PALETTE[2], "s-", "recall, by true distances"),
        (within, PALETTE[3], "^-", "recall within 1 %"),
        (plain, PALETTE[5], "v-", "plain recall, by ids"),
        (low, fj.MEASURES["fuji"].colour, "o-", "FUJI of the rankings, at least to at most"),
        (jaccard, fj.MEASURES["jaccard"].colour, "D-", "Jaccard"),
    )
    for values, shade, style, label in lines:
        ax.plot(share, values, style, color=shade, label=label, markersize=5)
    ax.fill_between(share, low, high, color=fj.MEASURES["fuji"].colour, alpha=0.15, linewidth=0)
    ax.set(xscale="log", xlabel="share of the vectors looked at", ylabel=f"mean of {QUERIES} queries, top {K}")
    ax.set_xticks(share, [f"{100 * value:.0f} %" for value in share])
    ax.minorticks_off()
    ax.grid(alpha=0.25)
    ax.legend(frameon=False)
    figure.savefig(path, dpi=100)


def main():
    """Search with more and more cells, print and draw."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE", help="write the figure to this file")
    path = parser.parse_args().plot
    data = load_digits().data
    table = list(measure(data[:QUERIES], data[QUERIES:]))
    print(f"{len(data) - QUERIES} vectors of {data.shape[1]} dimensions in {CELLS} cells, {QUERIES} queries, top {K}\n")
    print("cells  looked at  recall  within 1 %  plain recall  FUJI            Jaccard")
    for probes, share, recall, within, plain, low, high, jaccard in table:
        print(f"{probes:5d}  {share:9.3f}  {recall:6.3f}  {within:10.3f}  {plain:12.3f}  ", end="")
        print(f"{low:.3f} to {high:.3f}  {jaccard:7.3f}")
    if path:
        draw(table, path)


if __name__ == "__main__":
    main()
