"""Which characters of Les Misérables are central, and do five measures of centrality agree on it?

python centralities.py [--plot figure.png]

The network is Knuth's: 77 characters, linked where they appear in the same chapter. networkx brings it.
"""

from argparse import ArgumentParser

import networkx as nx
import numpy as np

import fujiscore as fj

TOP = 10


def centralities(graph):
    """Return the score of every node by each centrality, links unweighted."""
    return {
        "degree": nx.degree_centrality(graph),
        "betweenness": nx.betweenness_centrality(graph),
        "closeness": nx.closeness_centrality(graph),
        "eigenvector": nx.eigenvector_centrality(graph, max_iter=1000, tol=1e-10),
        "PageRank": nx.pagerank(graph, tol=1e-10),
    }


def compare(scores):
    """Return all pairs, corrected for chance and tested."""
    return fj.pairwise(scores, corrected=True, p_values=True)


def extremes(matrix):
    """Return the pairs of names from the most to the least similar, with their values."""
    names, values = matrix.names, matrix.values
    pairs = [(values[i, j], names[i], names[j]) for i in range(len(names)) for j in range(i)]
    return sorted(pairs, reverse=True)


def report(graph, scores, matrix):
    """Print both matrices, the extremes, and where the least similar pair differs."""
    print(f"{graph.number_of_nodes()} characters, {graph.number_of_edges()} links\n")
    print("FUJI, top-weighted area, as it is:")
    print(matrix.as_raw().to_frame().round(2).to_string(), "\n")
    print("corrected for chance:")
    print(matrix.to_frame().round(2).to_string(), "\n")
    pairs = extremes(matrix)
    print("most similar:  {1} and {2}, {0:.2f}".format(*pairs[0]))
    print("least similar: {1} and {2}, {0:.2f}".format(*pairs[-1]))
    doubtful = int(matrix.insignificant.sum()) // 2
    p_value = np.nanmax(matrix.adjusted_p_values)
    print(f"{doubtful} of {len(pairs)} pairs could be chance; largest adjusted p-value {p_value:.0e}\n")
    _, first, second = pairs[-1]
    why = fj.explain(scores[first], scores[second], TOP)
    shown = [f"{item} ({a}, {b})" for item, a, b in zip(why.items, why.rank_r, why.rank_s, strict=True)]
    far = [text for text, kind in zip(shown, why.kind, strict=True) if kind == "far miss"]
    print(f"in one top {TOP} only and far from the other (rank by {first}, by {second}):")
    print("\n".join(far))


def draw(matrix, path):
    """Draw the matrix and the tree side by side."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.6), layout="constrained", width_ratios=(3, 2))
    matrix.plot(ax=left, clustered=True)
    left.set_xlabel("")
    matrix.dendrogram().plot(ax=right).set_xlabel("1 - FUJI, corrected for chance")
    figure.savefig(path, dpi=100)


def main():
    """Print the comparison and draw it if asked to."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE", help="write the figure to this file")
    path = parser.parse_args().plot
    graph = nx.les_miserables_graph()
    scores = centralities(graph)
    matrix = compare(scores)
    report(graph, scores, matrix)
    if path:
        draw(matrix, path)


if __name__ == "__main__":
    main()
