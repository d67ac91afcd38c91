"""A model is retrained on new data: does it use its features as before, and is a change more than noise?

python importance_drift.py [--plot figure.png]

Random forests on scikit-learn's breast cancer data, dealt to twelve batches as if they came in month by month. The old
version is trained on the first six, the new one on the others: once as they are, and once after a faulty join that
shifts one column by a row. A forest of each single batch shows how much importances vary anyway.
"""

from argparse import ArgumentParser

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import fujiscore as fj
from fujiscore.charts.palette import PALETTE, SLATE

BATCHES, BROKEN, SHOWN = 12, "worst perimeter", 10


def train(X, y, names, seed):
    """Return the importances of a forest, and its accuracy on out-of-bag rows."""
    forest = RandomForestClassifier(100, oob_score=True, random_state=seed).fit(X, y)
    return fj.importances(forest, feature_names=names), forest.oob_score_


def version(X, y, names, batches, seed):
    """Return importances and accuracy of a model of all batches, and the importances of a model of each batch."""
    rows = np.concatenate(batches)
    importances, accuracy = train(X[rows], y[rows], names, seed)
    each = [train(X[batch], y[batch], names, seed + i)[0] for i, batch in enumerate(batches, start=1)]
    return importances, accuracy, each


def compare(old, new):
    """Compare two versions; the models of single batches say what is noise."""
    (reference, _, before), (current, _, after) = old, new
    return fj.drift(reference, current, reference_resamples=before, current_resamples=after, noise="resamples")


def faulty_join(X, names, batches):
    """Return the table with one column shifted by a row within the new batches."""
    X, column = X.copy(), names.index(BROKEN)
    for batch in batches:
        X[batch, column] = np.roll(X[batch, column], 1)
    return X


def report(title, old, new, result):
    """Print accuracy, verdict, the features that changed most, and what a gate says."""
    print(f"{title}: {result.verdict}")
    print(f"  accuracy {old[1]:.3f} before, {new[1]:.3f} now")
    before, after = result.within
    print(f"  FUJI between the versions {result.between:.3f}, within them {before:.3f} and {after:.3f}", end="")
    print(f", p = {result.noise.p_value:.3f}")
    for change in result.movers[:3]:
        print(f"  {change.item}: rank {change.rank_reference} to {change.rank_current}", end="")
        print(f", share {change.share_reference:.3f} to {change.share_current:.3f}")
    print(f"  gate: {'passed' if result.judge(fail_beyond=True).passed else 'failed'}\n")


def shares(ranking, items):
    """Return the scores of some items, over the sum of all."""
    scores = dict(zip(ranking.items, ranking.scores / ranking.scores.sum(), strict=True))
    return np.array([scores[item] for item in items])


def draw(old, versions, path):
    """Draw the shares of the most important features in both versions, and their range over single batches."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(versions), figsize=(10, 4), layout="constrained", sharex=True, sharey=True)
    order = np.argsort(-old[0].scores)[:SHOWN]
    items, places = [old[0].items[i] for i in order], np.arange(SHOWN)
    for ax, (title, (new, result)) in zip(axes, versions.items(), strict=True):
        for (model, _, batches), colour, mark, shift, label in (
            (old, SLATE, "o", -0.15, "old"),
            (new, PALETTE[0], "D", 0.15, "new"),
        ):
            each = np.array([shares(batch, items) for batch in batches])
            ax.hlines(places + shift, each.min(axis=0), each.max(axis=0), color=colour, linewidth=3, alpha=0.35)
            ax.plot(shares(model, items), places + shift, mark, color=colour, label=f"{label} (line: single batches)")
        ax.set_yticks(places, items)
        ax.set(xlabel="share of importance", ylim=(SHOWN - 0.5, -0.5))
        ax.set_title(f"{title}: {result.verdict}", fontsize="medium")
        ax.grid(alpha=0.25)
    figure.legend(*axes[0].get_legend_handles_labels(), frameon=False, loc="outside upper center", ncols=2)
    figure.savefig(path, dpi=100)


def main():
    """Train the versions, compare them."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE", help="write the figure to this file")
    path = parser.parse_args().plot
    data = load_breast_cancer()
    names = data.feature_names.tolist()
    batches = np.array_split(np.random.default_rng(0).permutation(len(data.target)), BATCHES)
    first, second = batches[: BATCHES // 2], batches[BATCHES // 2 :]
    old = version(data.data, data.target, names, first, seed=0)
    tables = {"new data": data.data, "faulty join": faulty_join(data.data, names, second)}
    versions = {}
    for title, X in tables.items():
        new = version(X, data.target, names, second, seed=100)
        versions[title] = new, compare(old, new)
        report(title, old, *versions[title])
    if path:
        draw(old, versions, path)


if __name__ == "__main__":
    main()
