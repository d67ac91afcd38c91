"""Write docs/study.md: the paper's application with our four rankers, and what holds. `python docs/make_study.py`.

Needs the published rankings and data sets in ../shared/data beside the project; without them it says so and stops.
"""

from __future__ import annotations

import sys
import time
from itertools import combinations
from pathlib import Path

import numpy as np

import fujiscore as fj
from fujiscore.io import load as load_rankings
from fujiscore.io.datasets import load
from fujiscore.study import study

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data"
# Data set, number of resamples: fewer where a resample takes seconds.
SETS = {
    "digits": 20,
    "sonar": 20,
    "QSAR-biodegradation": 20,
    "madelon": 10,
    "colon": 10,
    "levkemija": 10,
    "srbct": 10,
    "bladderCancer": 10,
}
PUBLISHED = {"relief": "relief", "mutual_information": "mutual_info", "genie3": "Genie3", "random_forest": "RForest"}
SHORT = {"relief": "Relief", "mutual_information": "MI", "genie3": "Genie3", "random_forest": "RF"}
PAIRS = list(combinations(PUBLISHED, 2))
ENSEMBLES, DISTANT = ("genie3", "random_forest"), ("relief", "random_forest")


def title(pair):
    """Return a pair's name in tables."""
    return " and ".join(SHORT[name] for name in pair)


def published(name):
    """Return the four published rankings of a data set, in one item order."""
    found = {}
    for method, suffix in PUBLISHED.items():
        source = load_rankings(DATA / "published_rankings" / f"{name}_{suffix}.fimp").sources[0]
        found[method] = dict(zip(source.items, source.scores.tolist(), strict=True))
    return fj.rankings(found, negative="clip")


def areas(rankings, **options):
    """Return each pair's area under the curve on the exp grid."""
    found = fj.pairwise(rankings, ks="exp", negative="clip", **options)
    return {pair: found[pair] for pair in PAIRS}


def measured(name, resamples):
    """Return all numbers of one data set: ours, and those of the published rankings."""
    file = DATA / "datasets" / f"{name}.parquet"
    data = load("digits") if name == "digits" else load(file, "target")
    began = time.perf_counter()
    own = study(data.X, data.y, features=data.features, resamples=resamples, progress=False)
    print(
        f"{name}: {own.settings['rows']} x {own.settings['features']}, {time.perf_counter() - began:.0f} s", flush=True
    )
    theirs = published(name)
    return {
        "study": own,
        "ours": areas(own.rankings),
        "ours corrected": areas(own.rankings, corrected=True),
        "published": areas(theirs),
        "published corrected": areas(theirs, corrected=True),
        "ours jaccard": areas(own.rankings, measure="jaccard"),
        "published jaccard": areas(theirs, measure="jaccard"),
        "ours jaccard corrected": areas(own.rankings, measure="jaccard", corrected=True),
    }


def all_published():
    """Return the numbers of all data sets with published rankings, the paper's own 24."""
    names = sorted(
        path.name.removesuffix("_relief.fimp") for path in (DATA / "published_rankings").glob("*_relief.fimp")
    )
    found = {}
    for name in names:
        held = published(name)
        found[name] = {
            "published": areas(held),
            "published corrected": areas(held, corrected=True),
            "published jaccard": areas(held, measure="jaccard"),
        }
    return found


def means(found, kind):
    """Return each pair's mean over the data sets."""
    return {pair: float(np.mean([own[kind][pair] for own in found.values()])) for pair in PAIRS}


def table(header, rows):
    """Return the lines of a Markdown table."""
    marks = ["---"] + ["---:"] * (len(header) - 1)
    return [f"| {' | '.join(map(str, row))} |" for row in (header, marks, *rows)]


def extreme(values, *, most):
    """Return the most or the least similar pair."""
    return (max if most else min)(values, key=values.get)


def wins(found, kind, pair, *, most):
    """Return on how many data sets a pair is the most or the least similar."""
    return sum(extreme(own[kind], most=most) == pair for own in found.values())


def spread(values):
    """Return the range over the pairs."""
    return max(values.values()) - min(values.values())


def mean_table(found, whole):
    """Return the table of means over the data sets: of all published ones, and of those at hand."""
    columns = [means(whole, kind) for kind in ("published", "published corrected", "published jaccard")]
    kinds = ("published", "published corrected", "ours", "ours corrected", "published jaccard", "ours jaccard")
    columns += [means(found, kind) for kind in kinds]
    rows = [[title(pair), *(f"{column[pair]:.3f}" for column in columns)] for pair in PAIRS]
    rows.append(["range over the pairs", *(f"{spread(column):.3f}" for column in columns)])
    header = ["pair", f"FUJI, published, {len(whole)} sets", "corrected", "Jaccard"]
    header += [f"FUJI, published, {len(found)} sets", "corrected", "FUJI, ours", "corrected"]
    return table([*header, "Jaccard, published", "Jaccard, ours"], rows)


def set_table(found, raw, corrected):
    """Return the table of single data sets, raw / corrected."""
    rows = [
        [name, *(f"{own[raw][pair]:.3f} / {own[corrected][pair]:.3f}" for pair in PAIRS)] for name, own in found.items()
    ]
    return table(["data set", *map(title, PAIRS)], rows)


def stability_table(found):
    """Return the table of stabilities, corrected for chance, with their intervals."""
    rows = []
    for name, own in found.items():
        held = own["study"].stability_corrected
        cells = [
            f"{held[method].value:.3f} ({held[method].low:.3f} to {held[method].high:.3f})" for method in PUBLISHED
        ]
        rows.append([name, own["study"].settings["resamples"], *cells])
    return table(["data set", "resamples", *SHORT.values()], rows)


def verdict(holds):
    """Return a word for whether a statement holds."""
    return "holds" if holds else "does not hold"


def sources(found, whole):
    """Return the collections of numbers that a statement is judged by, each with its name and kind of value."""
    return (
        (f"published rankings, all {len(whole)} sets", whole, "published"),
        (f"published rankings, all {len(whole)} sets, corrected", whole, "published corrected"),
        (f"published rankings, the {len(found)} sets at hand", found, "published"),
        ("ours, the same sets", found, "ours"),
        ("ours, the same sets, corrected", found, "ours corrected"),
    )


def about_pair(found, whole, pair, *, most):
    """Return whether a pair is the extreme one by each kind of value, in words."""
    lines = []
    for words, held, kind in sources(found, whole):
        values = means(held, kind)
        actual = extreme(values, most=most)
        other = "" if actual == pair else f"; it is {title(actual)}, {values[actual]:.3f}"
        count = wins(held, kind, pair, most=most)
        mean = f"{title(pair)} {values[pair]:.3f}{other}"
        lines.append(f"  - {words}: {verdict(actual == pair)} on average ({mean}), and on {count} of {len(held)} sets")
    return lines


def about_rest(found, whole):
    """Return how far apart the pairs other than the two named ones lie."""
    lines = []
    for words, held, kind in sources(found, whole):
        values = means(held, kind)
        rest = {pair: value for pair, value in values.items() if pair not in {ENSEMBLES, DISTANT}}
        low, high = min(rest.values()), max(rest.values())
        lines.append(f"  - {words}: {low:.3f} to {high:.3f}, while all six pairs span {spread(values):.3f}")
    return lines


def about_jaccard(found, whole):
    """Return whether Jaccard tells the pairs apart, against FUJI."""
    lines = []
    for words, held, fuji, jaccard in (
        (f"published rankings, all {len(whole)} sets", whole, "published", "published jaccard"),
        (f"published rankings, the {len(found)} sets at hand", found, "published", "published jaccard"),
        ("ours, the same sets", found, "ours", "ours jaccard"),
        ("ours, the same sets, both corrected", found, "ours corrected", "ours jaccard corrected"),
    ):
        a, b = means(held, fuji), means(held, jaccard)
        same = sum(extreme(own[fuji], most=True) == extreme(own[jaccard], most=True) for own in held.values())
        lines.append(
            f"  - {words}: {verdict(spread(b) < spread(a))}; the six means span {spread(b):.3f} (FUJI's "
            f"{spread(a):.3f}), and the most similar pair is FUJI's on {same} of {len(held)} sets"
        )
    return lines


def statements(found, whole):
    """Return the paper's statements, each with what the numbers say."""
    p_values = [own["study"].p_value(*pair) for own in found.values() for pair in PAIRS]
    low = sum(value <= 0.05 for value in p_values)
    beyond = f"{low} of our {len(p_values)} comparisons are more similar than chance at p ≤ 0.05"
    return [
        "- **The two ensemble rankings are the most similar.**",
        *about_pair(found, whole, ENSEMBLES, most=True),
        "- **RF and Relief are the least similar.**",
        *about_pair(found, whole, DISTANT, most=False),
        "- **The other pairs are about equally similar.** The range of those four:",
        *about_rest(found, whole),
        "- **Jaccard cannot tell levels of similarity apart.** Taken as: its means span less than FUJI's.",
        *about_jaccard(found, whole),
        f"- Not in the paper: {beyond} (permutations, not adjusted).",
    ]  # fmt: skip


HEAD = """# Do the paper's statements on four ranking algorithms hold?

<!-- Generated by docs/make_study.py: numbers come from it alone. -->

The paper ranks the features of {all} data sets with Relief, mutual information (MI), Genie3 and random forest (RF),
and compares the rankings by the area under the FUJI curve on the exp grid. Its RF scores were computed without undoing
a feature's permutation before the next one in the same tree, so that the damage accumulates; `random_forest` undoes
it. Here are the statements of its section on applications, judged by its published rankings and by our four rankers on
the {some} sets whose data are at hand.

Our rankings: 200 trees, seed 0. Equal scores keep the columns' order (`ties="stable"`), and negative scores count as
0. Relief averages over the members of small classes, where the published runs left such classes out.
"""

STABILITY = """Mean area under the FUJI curve over all pairs of resamples (stratified subsamples of 80 % of the rows),
with its 95 % interval, a jackknife over the resamples; fewer resamples on the larger sets."""


def page(found, whole):
    """Return the page."""
    sizes = [[name, own["study"].settings["rows"], own["study"].settings["features"]] for name, own in found.items()]
    parts = (
        ("The statements", statements(found, whole)),
        ("Means over the data sets", mean_table(found, whole)),
        ("Single data sets, our rankers: raw / corrected", set_table(found, "ours", "ours corrected")),
        ("Single data sets, published rankings: raw / corrected", set_table(found, "published", "published corrected")),
        ("Stability of our rankers, corrected for chance", [STABILITY, "", *stability_table(found)]),
        ("The data sets", table(["data set", "rows", "features"], sizes)),
    )
    lines = [HEAD.format(all=len(whole), some=len(found))]
    for heading, body in parts:
        lines += [f"## {heading}", "", *body, ""]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    if not (DATA / "published_rankings").is_dir():
        sys.exit(f"the published rankings are not here ({DATA.name}): nothing written")
    present = {}
    for own_name, number in SETS.items():
        if own_name != "digits" and not (DATA / "datasets" / f"{own_name}.parquet").is_file():
            print(f"{own_name}: its data are not here, left out")
            continue
        present[own_name] = measured(own_name, number)
    (HERE / "study.md").write_text(page(present, all_published()), encoding="utf-8")
