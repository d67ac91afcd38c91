"""Do two decision trees see the same splits? Trees that split on different features may have been a near-tie apart.

python tree_splits.py [--plot figure.png]

Trees of depth two on bootstrap samples of scikit-learn's breast cancer data, each grown once with the Gini impurity and
once with the entropy. At every inner node each feature has a score, the largest gain that a split on it would give.
Two trees are compared node by node by these scores: does the sample or the criterion make trees differ?
"""

from argparse import ArgumentParser
from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy.cluster.hierarchy import fcluster
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import resample

import fujiscore as fj
from fujiscore.charts.palette import PALETTE

SAMPLES = 6


def impurity(share, criterion):
    """Return the impurity of nodes with these shares of one of two classes."""
    if criterion == "gini":
        return 2 * share * (1 - share)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = share * np.log2(share), (1 - share) * np.log2(1 - share)
    return -np.nan_to_num(terms).sum(axis=0)


def gains(X, y, criterion):
    """Return for each feature the largest decrease of impurity that one threshold gives."""
    count = len(y)
    order = np.argsort(X, axis=0, kind="stable")
    values, positives = np.take_along_axis(X, order, axis=0), np.cumsum(y[order], axis=0)
    left = np.arange(1, count)[:, None]
    below, above = positives[:-1] / left, (positives[-1] - positives[:-1]) / (count - left)
    after = (left * impurity(below, criterion) + (count - left) * impurity(above, criterion)) / count
    after[values[1:] == values[:-1]] = np.inf  # no threshold lies between equal values
    return np.maximum(impurity(y.mean(), criterion) - after.min(axis=0), 0)


def node_scores(tree, X, y):
    """Return the gains at the root and at its children, the child with more malignant rows first, and the features."""
    fitted, reached = tree.tree_, tree.decision_path(X).toarray().astype(bool)
    children = fitted.children_left[0], fitted.children_right[0]
    nodes = [0, *sorted(children, key=lambda node: y[reached[:, node]].mean())]  # 0 is malignant
    scores = [gains(X[reached[:, node]], y[reached[:, node]], tree.criterion) for node in nodes]
    return scores, fitted.feature[nodes]


def similarity(scores):
    """Return the similarity of all pairs of trees: the mean over the nodes, corrected for chance."""
    nodes = [{tree: gain[node] for tree, gain in scores.items()} for node in range(3)]
    matrices = [fj.pairwise(node, corrected=True) for node in nodes]
    mean = {part: np.mean([getattr(matrix, part) for matrix in matrices], axis=0) for part in ("raw", "expected")}
    return replace(matrices[0], **mean)


def shared(first, second):
    """Return what two trees have in common."""
    (criterion, sample), (other_criterion, other_sample) = first.split(), second.split()
    return "sample" if sample == other_sample else "criterion" if criterion == other_criterion else "neither"


def report(matrix, scores, chosen, names):
    """Print how alike the trees are, by what they share; their two groups; and a pair that a near-tie sets apart."""
    fuji = {pair: matrix[pair] for pair in combinations(matrix.names, 2)}
    print("trees share  pairs  FUJI, corrected  nodes split on the same feature")
    for common in ("sample", "criterion", "neither"):
        pairs = [pair for pair in fuji if shared(*pair) == common]
        same = np.mean([chosen[a] == chosen[b] for a, b in pairs])
        print(f"{common:11s}  {len(pairs):5d}  {np.mean([fuji[pair] for pair in pairs]):15.2f}  {same:31.2f}")
    different = [(a, b) for a, b in fuji if chosen[a][0] != chosen[b][0]]
    print(f"{len(different)} of {len(fuji)} pairs split on different features at the root\n")
    groups = fcluster(matrix.dendrogram().merges, 2, "maxclust")
    for group in np.unique(groups):
        members = [tree for tree, own in zip(matrix.names, groups, strict=True) if own == group]
        roots = sorted({str(names[chosen[tree][0]]) for tree in members})
        print(f"group {group}: {', '.join(members)}\n  split at the root on {', '.join(roots)}")
    pair = max(different, key=fuji.get)
    print(f"\nmost similar pair with different root features: {' and '.join(pair)}")
    for tree in pair:
        root = scores[tree][0]
        print(f"{tree:9s} gains " + ", ".join(f"{names[i]} {root[i]:.3f}" for i in np.argsort(-root)[:3]))
    return pair


def draw(matrix, pair, scores, names, path):
    """Draw the matrix of all trees, and the gains at the root of two that split differently."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", width_ratios=(5, 4))
    matrix.plot(ax=left, clustered=True)
    first, second = (scores[tree][0] for tree in pair)
    shown = np.argsort(-np.maximum(first / first.max(), second / second.max()), kind="stable")[:10]
    for gain, colour, mark, tree in ((first, PALETTE[0], "o", pair[0]), (second, PALETTE[1], "D", pair[1])):
        right.plot(gain[shown] / gain.max(), range(shown.size), mark, color=colour, label=tree, markersize=6, alpha=0.8)
    right.set_yticks(range(shown.size), [names[i] for i in shown], fontsize=8)
    right.invert_yaxis()
    right.set_xlabel("gain at the root, relative to the best split")
    right.grid(alpha=0.25)
    right.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    figure.savefig(path, dpi=100)


def main():
    """Grow the trees, compare them."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE", help="write the figure to this file")
    path = parser.parse_args().plot
    data = load_breast_cancer()
    scores, chosen = {}, {}
    for sample in range(1, SAMPLES + 1):
        X, y = resample(data.data, data.target, random_state=sample, stratify=data.target)
        for criterion in ("gini", "entropy"):
            tree = DecisionTreeClassifier(criterion=criterion, max_depth=2, random_state=0).fit(X, y)
            name = f"{criterion} {sample}"
            scores[name], chosen[name] = node_scores(tree, X, y)
    matrix = similarity(scores)
    pair = report(matrix, scores, chosen, data.feature_names)
    if path:
        draw(matrix, pair, scores, data.feature_names, path)


if __name__ == "__main__":
    main()
