"""Do performance metrics rank learning methods alike, or does the metric decide which method is best?

python performance_metrics.py [--plot figure.png]

Ten classifiers on three data sets that scikit-learn brings, judged by six losses of cross-validated predictions. A
method's score is 1 / loss, so that half the loss counts twice as much. Every metric is compared with every other one
on other shuffles of the folds: the same metric on two shuffles shows how much is noise.
"""

from argparse import ArgumentParser

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, log_loss, matthews_corrcoef, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import fujiscore as fj

SHUFFLES = 3
METHODS = {
    "logistic": LogisticRegression(max_iter=500),
    "weak logistic": LogisticRegression(C=0.01),
    "LDA": LinearDiscriminantAnalysis(),
    "AdaBoost": AdaBoostClassifier(n_estimators=15, random_state=0),
    "naive Bayes": GaussianNB(),
    "3 neighbours": KNeighborsClassifier(3),
    "25 neighbours": KNeighborsClassifier(25),
    "tree": DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": RandomForestClassifier(30, random_state=0),
    "extra trees": ExtraTreesClassifier(30, random_state=0),
}


def data_sets():
    """Yield name, features and classes; the target of the diabetes data is cut at its median."""
    cancer, digits, diabetes = load_breast_cancer(), load_digits(), load_diabetes()
    yield "breast cancer", cancer.data, cancer.target
    yield "digits", digits.data[:500], digits.target[:500]
    yield "diabetes", diabetes.data, (diabetes.target > np.median(diabetes.target)).astype(int)


def losses(y, probabilities):
    """Return every metric as a loss: 0 is perfect."""
    guess, truth = probabilities.argmax(axis=1), np.eye(probabilities.shape[1])[y]
    scores = probabilities[:, 1] if probabilities.shape[1] == 2 else probabilities
    return {
        "accuracy": 1 - accuracy_score(y, guess),
        "F1": 1 - f1_score(y, guess, average="macro"),
        "Matthews": 1 - matthews_corrcoef(y, guess),
        "ROC AUC": 1 - roc_auc_score(y, scores, multi_class="ovr"),
        "Brier": float(np.mean(np.sum((probabilities - truth) ** 2, axis=1))),
        "log loss": log_loss(y, probabilities),
    }


def rank_methods(X, y, seed):
    """Return the loss of every method by each metric: metric to method to loss."""
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    table = {}
    for name, method in METHODS.items():
        model = make_pipeline(StandardScaler(), method)
        probabilities = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        for metric, loss in losses(y, probabilities).items():
            table.setdefault(metric, {})[name] = loss
    return table


def similarity(shuffles):
    """Return the similarity of all pairs of metrics: the mean over pairs of different shuffles, corrected."""
    tables = {f"{metric} {i}": losses for i, table in enumerate(shuffles) for metric, losses in table.items()}
    matrix = fj.pairwise(tables, transform="reciprocal", corrected=True)
    blocks = matrix.values.reshape(SHUFFLES, len(shuffles[0]), SHUFFLES, -1).transpose(0, 2, 1, 3)
    return blocks[~np.eye(SHUFFLES, dtype=bool)].mean(axis=0)


def report(name, shuffles, values):
    """Print the matrix of one data set, the methods that win, and what the matrix comes to."""
    metrics = list(shuffles[0])
    print(f"{name}\n{'':9s}" + "".join(f"{metric:>10s}" for metric in metrics) + "  best method, by shuffle")
    for metric, row in zip(metrics, values, strict=True):
        winners = [min(table[metric], key=table[metric].get) for table in shuffles]
        print(f"{metric:9s}" + "".join(f"{value:10.2f}" for value in row) + f"  {', '.join(winners)}")
    labels, chances = slice(0, 3), slice(3, None)
    within = values[labels, labels].mean(), values[labels, chances].mean(), np.diag(values)[chances].mean()
    print("accuracy, F1 and Matthews among each other {:.2f}, with the others {:.2f}; ".format(*within), end="")
    print(f"the others with themselves {within[2]:.2f}\n")


def draw(matrices, metrics, path):
    """Draw one heat map per data set."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(matrices), figsize=(10, 3.5), layout="constrained", sharey=True)
    for ax, (name, values) in zip(axes, matrices.items(), strict=True):
        image = ax.imshow(values, cmap="cividis", vmin=0, vmax=1)
        for (i, j), value in np.ndenumerate(values):
            ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color="wk"[int(value > 0.55)])
        ax.set_xticks(range(len(metrics)), metrics, rotation=45, ha="right", rotation_mode="anchor")
        ax.set_yticks(range(len(metrics)), metrics)
        ax.set_title(name, fontsize="medium")
    figure.colorbar(image, ax=axes, shrink=0.75, label="FUJI of two shuffles,\ncorrected for chance")
    figure.savefig(path, dpi=100)


def main():
    """Rank the methods by every metric, compare the metrics."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE", help="write the figure to this file")
    path = parser.parse_args().plot
    matrices = {}
    for name, X, y in data_sets():
        shuffles = [rank_methods(X, y, seed) for seed in range(SHUFFLES)]
        matrices[name] = similarity(shuffles)
        report(name, shuffles, matrices[name])
    if path:
        draw(matrices, list(shuffles[0]), path)


if __name__ == "__main__":
    main()
