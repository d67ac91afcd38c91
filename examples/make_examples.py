"""Write the example files beside this script, from the data that scikit-learn brings: `make_examples.py [folder]`.

model_a.csv, model_b.csv      two models' feature importances on the breast cancer data: item, score
scores.csv                    four methods' scores of the pixels of the digits data: one column per method
resamples_forest.csv,         twelve bootstrap resamples of the breast cancer data, one column each:
resamples_tree.csv            importances by a forest and by a single tree
run_a.trec, run_b.trec        two synthetic search engines' runs of three queries
genes_a.csv, genes_b.csv      two synthetic top-100 lists out of 17,611 genes that share 13: gene, score
v1.csv, v2.csv                importances of a forest on the wine data, and of one whose data pipeline broke: the
                              column flavanoids is shuffled. v1_seeds.csv, v2_seeds.csv: the same by five other seeds
houses.csv                    160 synthetic houses: numbers, text, gaps, and a price that depends on most of them
"""

from __future__ import annotations

import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import chi2, f_classif, mutual_info_classif
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import resample

RESAMPLES = 12
QUERIES, DOCUMENTS, DEPTH = 3, 14, 10
GENES, LISTED, SHARED = 17_611, 100, 13
HOUSES = 160
SEEDS = 5


def write_table(path, items, columns):
    """Write a column of items and columns of scores, with six digits."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        rows = zip(items, *list(columns.values())[1:], strict=True)
        writer.writerows([item, *(f"{score:.6g}" for score in scores)] for item, *scores in rows)


def write_models(folder):
    """Write the importances of a random forest and of gradient boosting."""
    data = load_breast_cancer()
    models = {
        "model_a": RandomForestClassifier(200, random_state=0),
        "model_b": GradientBoostingClassifier(random_state=0),
    }
    for name, model in models.items():
        scores = model.fit(data.data, data.target).feature_importances_
        write_table(folder / f"{name}.csv", data.feature_names, {"item": None, "score": scores})


def write_scores(folder):
    """Write four methods' scores; pixels that are always blank get 0 where a method has no value for them."""
    data = load_digits()
    x, y = data.data, data.target
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the blank pixels
        columns = {
            "feature": None,
            "mutual_information": mutual_info_classif(x, y, random_state=0),
            "anova": np.nan_to_num(f_classif(x, y)[0]),
            "chi2": np.nan_to_num(chi2(x, y)[0]),
            "random_forest": RandomForestClassifier(200, random_state=0).fit(x, y).feature_importances_,
        }
    write_table(folder / "scores.csv", data.feature_names, columns)


def write_resamples(folder):
    """Write the importances by two methods on the same bootstrap resamples."""
    data = load_breast_cancer()
    methods = {
        "forest": lambda: RandomForestClassifier(100, random_state=0),
        "tree": lambda: DecisionTreeClassifier(random_state=0),
    }
    for name, method in methods.items():
        columns = {"feature": None}
        for seed in range(RESAMPLES):
            x, y = resample(data.data, data.target, random_state=seed, stratify=data.target)
            columns[f"resample_{seed + 1}"] = method().fit(x, y).feature_importances_
        write_table(folder / f"resamples_{name}.csv", data.feature_names, columns)


def write_runs(folder):
    """Write two runs that agree more on the first query than on the last; each lists its ten best documents."""
    generator = np.random.default_rng(0)
    lines = {"run_a": [], "run_b": []}
    for query in range(1, QUERIES + 1):
        relevance = generator.exponential(4, DOCUMENTS)
        for name, run in lines.items():
            scores = relevance * np.exp(0.25 * query * generator.normal(size=DOCUMENTS))
            for rank, document in enumerate(np.argsort(-scores)[:DEPTH], 1):
                run.append(f"q{query} Q0 doc{document + 1:02} {rank} {scores[document]:.4f} {name}\n")
    for name, run in lines.items():
        (folder / f"{name}.trec").write_text("".join(run), encoding="utf-8")


def write_genes(folder):
    """Write two lists of a study's best genes, as supplements of papers print them: cut off, best first."""
    generator = np.random.default_rng(0)
    drawn = generator.choice(GENES, 2 * LISTED - SHARED, replace=False)
    shared, rest = drawn[:SHARED], drawn[SHARED:]
    for name, others in (("genes_a", rest[: LISTED - SHARED]), ("genes_b", rest[LISTED - SHARED :])):
        genes = generator.permutation(np.concatenate((shared, others)))
        scores = np.sort(generator.exponential(2, LISTED))[::-1] + 3
        items = [f"GENE{gene + 1:05}" for gene in genes]
        write_table(folder / f"{name}.csv", items, {"gene": None, "score": scores})


def write_versions(folder):
    """Write the importances of two versions of a forest, the second on data with a shuffled column."""
    data = load_wine()
    broken = data.data.copy()
    column = data.feature_names.index("flavanoids")
    broken[:, column] = np.random.default_rng(0).permutation(broken[:, column])
    for name, x in (("v1", data.data), ("v2", broken)):
        scores = [
            RandomForestClassifier(100, random_state=seed).fit(x, data.target).feature_importances_
            for seed in range(SEEDS + 1)
        ]
        write_table(folder / f"{name}.csv", data.feature_names, {"feature": None, "importance": scores[0]})
        seeds = {f"seed_{seed}": scores[seed] for seed in range(1, SEEDS + 1)}
        write_table(folder / f"{name}_seeds.csv", data.feature_names, {"feature": None, **seeds})


def write_houses(folder):
    """Write a table of mixed types with missing values; `lucky` has nothing to do with the price."""
    generator = np.random.default_rng(5)
    towns = {"north": 0, "south": 15, "harbour": 70, "hills": 35}
    area = generator.gamma(9, 12, HOUSES).round()
    columns = {
        "area": area,
        "rooms": np.clip(area / 28 + generator.normal(0, 0.8, HOUSES), 1, 8).round(),
        "town": generator.choice(list(towns), HOUSES, p=[0.35, 0.35, 0.2, 0.1]),
        "year": generator.integers(1920, 2021, HOUSES),
        "garden": generator.choice(["yes", "no"], HOUSES, p=[0.4, 0.6]),
        "distance": generator.gamma(2, 3, HOUSES).round(1),
        "lucky": generator.integers(1, 100, HOUSES),
    }
    worth = [
        towns[town] + 22 * (garden == "yes") for town, garden in zip(columns["town"], columns["garden"], strict=True)
    ]
    price = 2.1 * area + worth - 4 * columns["distance"] + (columns["year"] - 1920) / 4
    columns["price"] = (price + generator.normal(0, 18, HOUSES)).round(1)
    gaps = {
        name: generator.random(HOUSES) < share for name, share in (("year", 0.08), ("distance", 0.05), ("town", 0.02))
    }
    with (folder / "houses.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for i in range(HOUSES):
            cells = {
                name: values[i] if isinstance(values[i], str) else f"{values[i]:g}" for name, values in columns.items()
            }
            writer.writerow("" if name in gaps and gaps[name][i] else cell for name, cell in cells.items())


def main():
    """Write all files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    write_models(folder)
    write_scores(folder)
    write_resamples(folder)
    write_runs(folder)
    write_genes(folder)
    write_houses(folder)
    write_versions(folder)


if __name__ == "__main__":
    main()
