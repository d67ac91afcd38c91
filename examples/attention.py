"""Does fine-tuning on another task move a model's attention, and can the fine-tunings be told apart by it?

python attention.py [--plot figure.png]

A small attention classifier in NumPy learns made-up sentences of eight words: one word tells the topic, one the
sentiment, in some sentences one word tells both. The base model learns both tasks; six copies of it are fine-tuned,
half of them on the sentiment and half on the topic, each on its own random half of the sentences. A sentence's
attention weights are a ranking of its words.
"""

from argparse import ArgumentParser
from itertools import combinations

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

import fujiscore as fj
from fujiscore.charts.palette import PALETTE

FILLERS = ["the", "a", "this", "that", "was", "is", "very", "then", "there", "today", "again", "we", "they", "it"]
# Words by (topic, sentiment); None where the word does not tell.
WORDS = {
    (0, None): ["match", "team", "goal", "coach"],
    (1, None): ["vote", "senate", "law", "minister"],
    (None, 0): ["dull", "awful", "weak", "sad"],
    (None, 1): ["great", "bright", "fine", "superb"],
    (0, 0): ["relegated", "offside"],
    (0, 1): ["unbeaten", "champion"],
    (1, 0): ["corrupt", "scandal"],
    (1, 1): ["landslide", "acclaimed"],
}
VOCABULARY = [*FILLERS, *(word for words in WORDS.values() for word in words)]
TASKS = {"topic": (1, 0), "sentiment": (0, 1)}
LENGTH, SIZE, STEPS, DECAY, COPIES = 8, 12, 500, 0.003, 3


def sentences(count, generator):
    """Return word numbers, both labels of each sentence, and whether one word tells both."""
    texts, labels, double = [], generator.integers(2, size=(count, 2)), generator.random(count) < 0.4
    for (topic, sentiment), both in zip(labels.tolist(), double, strict=True):
        kinds = [(topic, sentiment)] if both else [(topic, None), (None, sentiment)]
        telling = [generator.choice(WORDS[kind]) for kind in kinds]
        words = [*telling, *generator.choice(FILLERS, LENGTH - len(telling), replace=False)]
        texts.append([VOCABULARY.index(word) for word in generator.permutation(words)])
    return np.array(texts), labels, double


def forward(model, texts):
    """Return keys, values, attention weights, pooled values and the probability of each label."""
    keys, values = model["keys"][texts], model["values"][texts]
    weights = np.exp(keys @ model["query"])
    weights /= weights.sum(axis=1, keepdims=True)
    pooled = np.einsum("nt,ntd->nd", weights, values)
    return keys, values, weights, pooled, 1 / (1 + np.exp(-pooled @ model["heads"]))


def train(model, texts, labels, tasks):
    """Return the model after gradient descent on the log loss of some tasks (1 for each that counts), with decay."""
    model = {name: part.copy() for name, part in model.items()}
    for _ in range(STEPS):
        keys, values, weights, pooled, probabilities = forward(model, texts)
        error = (probabilities - labels) * tasks / len(texts)
        above = error @ model["heads"].T
        inner = np.einsum("ntd,nd->nt", values, above)
        logits = weights * (inner - np.sum(weights * inner, axis=1, keepdims=True))
        gradient = {name: DECAY * part for name, part in model.items()}
        gradient["heads"] += pooled.T @ error
        gradient["query"] += np.einsum("nt,ntd->d", logits, keys)
        np.add.at(gradient["keys"], texts, logits[:, :, None] * model["query"])
        np.add.at(gradient["values"], texts, weights[:, :, None] * above[:, None, :])
        model = {name: part - gradient[name] for name, part in model.items()}
    return model


def fine_tunings(generator):
    """Return the base model, and its copies fine-tuned on one task each."""
    shapes = {"keys": (len(VOCABULARY), SIZE), "values": (len(VOCABULARY), SIZE), "query": SIZE, "heads": (SIZE, 2)}
    texts, labels, _ = sentences(400, generator)
    start = {name: generator.normal(scale=0.3, size=shape) for name, shape in shapes.items()}
    models = {"base": train(start, texts, labels, np.array([1, 1]))}
    for task, weights in TASKS.items():
        for number in range(1, COPIES + 1):
            half = generator.permutation(len(texts))[: len(texts) // 2]
            models[f"{task} {number}"] = train(models["base"], texts[half], labels[half], np.array(weights))
    return models


def similarities(attention):
    """Return FUJI of all pairs of models, corrected for chance: one value per sentence."""
    pairs = combinations(attention, 2)
    runs = {
        (a, b): fj.compare_runs(attention[a], attention[b], measures=["fuji"], ks="exp", universe=LENGTH)
        for a, b in pairs
    }
    return {pair: run.values("fuji_corrected") for pair, run in runs.items()}


def report(names, means, moved, double):
    """Print the groups of models, and which sentences have moved."""
    tuned = [name for name in names if name != "base"]
    groups = fcluster(linkage([1 - means[pair] for pair in combinations(tuned, 2)], "average"), 2, "maxclust")
    for group in np.unique(groups):
        print(f"group {group}: {', '.join(name for name, own in zip(tuned, groups, strict=True) if own == group)}")
    tasks = {pair: {name.split()[0] for name in pair} for pair in means}
    same = np.mean([means[pair] for pair in means if len(tasks[pair]) == 1])
    other = np.mean([means[pair] for pair in means if tasks[pair] == set(TASKS)])
    print(f"mean FUJI, corrected: {same:.2f} for the same task, {other:.2f} for different tasks\n")
    print("FUJI between the tasks, by what the sentence has:")
    print(f"one word that tells both  {moved[double].mean():.2f}  ({double.sum()} sentences)")
    print(f"a word for each           {moved[~double].mean():.2f}  ({(~double).sum()} sentences)")
    most = np.argsort(moved, kind="stable")[:40]
    print(f"of the 40 sentences that moved most, {int((~double[most]).sum())} have a word for each\n")
    return most[0]


def draw(names, means, moved, double, path):
    """Draw all pairs of models, and the sentences by how far their attention moved."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4), layout="constrained")
    values = squareform(list(means.values())) + np.eye(len(names))
    image = left.imshow(values, cmap="cividis", vmin=0, vmax=1)
    for (i, j), value in np.ndenumerate(values):
        left.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color="wk"[int(value > 0.55)])
    left.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
    left.set_yticks(range(len(names)), names)
    figure.colorbar(image, ax=left, label="FUJI, mean of the sentences,\ncorrected for chance")
    bins = np.linspace(moved.min(), 1, 25)
    for kind, colour, label in (
        (~double, PALETTE[0], "a word for each task"),
        (double, PALETTE[1], "one word for both"),
    ):
        right.hist(moved[kind], bins, color=colour, alpha=0.75, label=label)
    right.set(xlabel="FUJI between the tasks, corrected for chance", ylabel="sentences")
    right.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    figure.savefig(path, dpi=100)


def main():
    """Train, fine-tune, compare."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE", help="write the figure to this file")
    path = parser.parse_args().plot
    generator = np.random.default_rng(1)
    models = fine_tunings(generator)
    texts, labels, double = sentences(150, generator)
    attention = {name: forward(model, texts)[2] for name, model in models.items()}
    accuracy = np.mean((forward(models["base"], texts)[-1] > 0.5) == labels)
    print(f"base model, accuracy on {len(texts)} new sentences: {accuracy:.2f}")
    values = similarities(attention)
    means = {pair: float(value.mean()) for pair, value in values.items()}
    between = [value for pair, value in values.items() if {name.split()[0] for name in pair} == set(TASKS)]
    moved = np.mean(between, axis=0)
    shown = report(list(models), means, moved, double)
    print(f"{'the one that moved most':23s}" + "".join(f"{VOCABULARY[word]:>10s}" for word in texts[shown]))
    for name in ("base", "topic 1", "sentiment 1"):
        print(f"{name:23s}" + "".join(f"{weight:10.2f}" for weight in attention[name][shown]))
    if path:
        draw(list(models), means, moved, double, path)


if __name__ == "__main__":
    main()
