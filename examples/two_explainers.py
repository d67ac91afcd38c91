"""Do two explainers of one model tell the same story, row by row, and for which rows do they not?

python two_explainers.py [--plot figure.png]

Gradient boosting on scikit-learn's breast cancer data, explained by occlusion (how the log-odds change when one feature
takes the value of another row) and by sampled Shapley values (the mean change over random orders of setting all
features).
"""

from argparse import ArgumentParser

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split

import fujiscore as fj
from fujiscore.charts.palette import CHANCE, PALETTE

K, ROUNDS, SHOWN = 5, 40, 8


def occlusion(predict, rows, background, seed):
    """Return the mean change of the prediction when one feature alone takes the value of a background row."""
    generator = np.random.default_rng(seed)
    scores = np.empty(rows.shape)
    for feature in range(rows.shape[1]):
        changed = np.repeat(rows[None], ROUNDS, axis=0)
        changed[:, :, feature] = generator.choice(background[:, feature], size=changed.shape[:2])
        values = predict(changed.reshape(-1, rows.shape[1])).reshape(ROUNDS, len(rows))
        scores[:, feature] = predict(rows) - values.mean(axis=0)
    return scores


def shapley(predict, rows, background, seed):
    """Return Shapley values: change a background row into the explained one, feature by feature in random order."""
    generator = np.random.default_rng(seed)
    count, features = rows.shape
    scores = np.zeros(rows.shape)
    for _ in range(ROUNDS):
        order = generator.permutation(features)
        steps = np.repeat(background[None, generator.integers(len(background), size=count)], features + 1, axis=0)
        for step, feature in enumerate(order, start=1):
            steps[step:, :, feature] = rows[:, feature]
        values = predict(steps.reshape(-1, features)).reshape(features + 1, count)
        scores[:, order] += np.diff(values, axis=0).T / ROUNDS
    return scores


def compare(first, second):
    """Compare row by row; a feature that pushes up and one that pushes down are different items."""
    return fj.compare_runs(first, second, k=K, negative="split")


def report(pairs, first, second, names):
    """Print the means, and the rows with the least agreement."""
    main = pairs["occlusion, Shapley"]
    print(f"{len(first)} rows, {len(names)} features, top {K} of each row")
    print(f"{'mean over the rows':34s} FUJI  Jaccard")
    for title, result in pairs.items():
        print(f"{title:33s} {result.interval()[0]:.3f}    {result.interval('jaccard')[0]:.3f}")
    low, high = main.interval()[1:]
    print(f"95% interval of FUJI, occlusion and Shapley: {low:.3f} to {high:.3f}")
    print(f"rows with FUJI below 0.8: {100 * main.share_below(0.8):.0f} %\n")
    row = int(main.changed_most(1)[0])
    shown = np.argsort(-np.maximum(*(np.abs(scores[row]) / np.abs(scores[row]).max() for scores in (first, second))))
    print(f"the row with the least agreement: {row}, FUJI {main.values()[row]:.3f}")
    print(f"{'feature':24s} occlusion  Shapley")
    for feature in shown[:SHOWN]:
        print(f"{names[feature]:24s} {first[row, feature]:9.2f}  {second[row, feature]:7.2f}")
    return row, shown[:SHOWN]


def draw(pairs, first, second, names, row, shown, path):
    """Draw the distribution over the rows, and both explanations of the worst one."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.6), layout="constrained")
    for (title, result), colour in zip(pairs.items(), (PALETTE[0], PALETTE[1], CHANCE), strict=True):
        left.step(np.sort(result.values()), np.arange(1, len(first) + 1) / len(first), color=colour, label=title)
    left.set(xlabel=f"FUJI of the top {K}", ylabel="share of rows up to the value", xlim=(0, 1.01), ylim=(0, 1.01))
    left.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1))
    places = np.arange(shown.size)
    for scores, colour, title, shift in ((first, PALETTE[3], "occlusion", -0.2), (second, PALETTE[1], "Shapley", 0.2)):
        right.barh(places + shift, scores[row, shown], height=0.36, color=colour, label=title)
    right.axvline(0, color="black", linewidth=0.8)
    right.set_yticks(places, [names[feature] for feature in shown], fontsize=8)
    right.invert_yaxis()
    right.set_xlabel(f"change of the log-odds, row {row} (the least agreement)")
    right.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1))
    figure.savefig(path, dpi=100)


def main():
    """Fit, explain, compare."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE", help="write the figure to this file")
    path = parser.parse_args().plot
    data = load_breast_cancer()
    train, rows, target, _ = train_test_split(data.data, data.target, random_state=0)
    predict = GradientBoostingClassifier(random_state=0).fit(train, target).decision_function
    first, second = occlusion(predict, rows, train, seed=0), shapley(predict, rows, train, seed=0)
    pairs = {
        "occlusion, Shapley": compare(first, second),
        "Shapley, another seed": compare(second, shapley(predict, rows, train, seed=1)),
        "occlusion, Shapley of another row": compare(first, np.roll(second, 1, axis=0)),
    }
    row, shown = report(pairs, first, second, data.feature_names)
    if path:
        draw(pairs, first, second, data.feature_names, row, shown, path)


if __name__ == "__main__":
    main()
