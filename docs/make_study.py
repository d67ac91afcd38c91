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
from fujiscore.features.datasets import load
from fujiscore.paper import load as load_published
from fujiscore.paper.conventions import top_weighted
from fujiscore.paper.record import HOLDS, verdict
from fujiscore.work.files import write_atomically

PAGE = Path(__file__).resolve().parent / "study.md"
DATA = PAGE.parents[2] / "shared" / "data"
# Number of resamples of each data set: fewer where one takes seconds.
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


def areas(rankings, source):
    """Return the top-weighted area of each pair, by kind: FUJI and Jaccard, raw and corrected for chance."""
    kinds, names = {}, PUBLISHED if source == "published" else dict(zip(PUBLISHED, PUBLISHED, strict=True))
    for measure, suffix in (("fuji", ""), ("jaccard", " jaccard")):
        matrix = top_weighted(rankings, measure)
        kinds[f"{source}{suffix}"] = {(a, b): matrix.as_raw()[names[a], names[b]] for a, b in PAIRS}
        kinds[f"{source}{suffix} corrected"] = {(a, b): matrix[names[a], names[b]] for a, b in PAIRS}
    return kinds


def measured(name, resamples, published):
    """Return all numbers of one data set: those of our rankings, beside those of the published ones."""
    data = load("digits") if name == "digits" else load(DATA / "datasets" / f"{name}.parquet", "target")
    began = time.perf_counter()
    study = fj.study(data.X, data.y, features=data.features, resamples=resamples, progress=False)
    rows, features = study.settings["rows"], study.settings["features"]
    print(f"{name}: {rows} x {features}, {time.perf_counter() - began:.0f} s", flush=True)
    return {"study": study, **areas(study.rankings, "ours"), **published}


def all_published():
    """Return the numbers of all data sets with published rankings, the paper's own 24."""
    sets = load_published(DATA / "published_rankings")
    return {name: areas(rankings, "published") for name, rankings in sets.items()}


def means(results, kind):
    """Return each pair's mean over the data sets."""
    return {pair: float(np.mean([areas[kind][pair] for areas in results.values()])) for pair in PAIRS}


def table(header, rows):
    """Return the lines of a Markdown table."""
    marks = ["---"] + ["---:"] * (len(header) - 1)
    return [f"| {' | '.join(map(str, row))} |" for row in (header, marks, *rows)]


def extreme(values, *, most):
    """Return the most or the least similar pair."""
    return (max if most else min)(values, key=values.get)


def wins(results, kind, pair, *, most):
    """Return on how many data sets a pair is the most or the least similar."""
    return sum(extreme(areas[kind], most=most) == pair for areas in results.values())


def spread(values):
    """Return the range over the pairs."""
    return max(values.values()) - min(values.values())


def mean_table(at_hand, whole):
    """Return the table of means over the data sets: of all published ones, and of those at hand."""
    columns = [means(whole, kind) for kind in ("published", "published corrected", "published jaccard")]
    kinds = ("published", "published corrected", "ours", "ours corrected", "published jaccard", "ours jaccard")
    columns += [means(at_hand, kind) for kind in kinds]
    rows = [[title(pair), *(f"{column[pair]:.3f}" for column in columns)] for pair in PAIRS]
    rows.append(["range over the pairs", *(f"{spread(column):.3f}" for column in columns)])
    header = ["pair", f"FUJI, published, {len(whole)} sets", "corrected", "Jaccard"]
    header += [f"FUJI, published, {len(at_hand)} sets", "corrected", "FUJI, ours", "corrected"]
    return table([*header, "Jaccard, published", "Jaccard, ours"], rows)


def set_table(results, raw, corrected):
    """Return the table of single data sets, raw / corrected."""
    rows = [
        [name, *(f"{areas[raw][pair]:.3f} / {areas[corrected][pair]:.3f}" for pair in PAIRS)]
        for name, areas in results.items()
    ]
    return table(["data set", *map(title, PAIRS)], rows)


def stability_table(results):
    """Return the table of stabilities, corrected for chance, with their intervals."""
    rows = []
    for name, result in results.items():
        by_method = [result["study"].stability_corrected[method] for method in PUBLISHED]
        cells = [f"{s.value:.3f} ({s.low:.3f} to {s.high:.3f})" for s in by_method]
        rows.append([name, result["study"].settings["resamples"], *cells])
    return table(["data set", "resamples", *SHORT.values()], rows)


def word(holds):
    """Return a word for whether a statement holds."""
    return "holds" if holds else "does not hold"


def sources(at_hand, whole):
    """Return the collections of numbers that a statement is judged by, each with its name and kind of value."""
    return (
        (f"published rankings, all {len(whole)} sets", whole, "published"),
        (f"published rankings, all {len(whole)} sets, corrected", whole, "published corrected"),
        (f"published rankings, the {len(at_hand)} sets with data", at_hand, "published"),
        ("ours, the same sets", at_hand, "ours"),
        ("ours, the same sets, corrected", at_hand, "ours corrected"),
    )


def about_pair(at_hand, whole, pair, *, most):
    """Return whether a pair is the extreme one by each kind of value, in words."""
    lines = []
    for words, results, kind in sources(at_hand, whole):
        values = means(results, kind)
        actual = extreme(values, most=most)
        other = "" if actual == pair else f"; it is {title(actual)}, {values[actual]:.3f}"
        count = wins(results, kind, pair, most=most)
        mean = f"{title(pair)} {values[pair]:.3f}{other}"
        lines.append(
            f"    - {words}: {word(actual == pair)} on average ({mean}), and on {count} of {len(results)} sets"
        )
    return lines


def about_rest(at_hand, whole):
    """Return how far apart the pairs other than the two named ones lie."""
    lines = []
    for words, results, kind in sources(at_hand, whole):
        values = means(results, kind)
        rest = {pair: value for pair, value in values.items() if pair not in {ENSEMBLES, DISTANT}}
        low, high = min(rest.values()), max(rest.values())
        lines.append(f"    - {words}: {low:.3f} to {high:.3f}, while all six pairs span {spread(values):.3f}")
    return lines


def about_jaccard(at_hand, whole):
    """Return whether Jaccard tells the pairs apart, against FUJI."""
    lines = []
    for words, results, fuji, jaccard in (
        (f"published rankings, all {len(whole)} sets", whole, "published", "published jaccard"),
        (f"published rankings, the {len(at_hand)} sets with data", at_hand, "published", "published jaccard"),
        ("ours, the same sets", at_hand, "ours", "ours jaccard"),
        ("ours, the same sets, both corrected", at_hand, "ours corrected", "ours jaccard corrected"),
    ):
        a, b = means(results, fuji), means(results, jaccard)
        same = sum(extreme(areas[fuji], most=True) == extreme(areas[jaccard], most=True) for areas in results.values())
        blind = verdict("jaccard_blind", {"ratio": spread(b) / spread(a)}) == HOLDS
        lines.append(
            f"    - {words}: {word(blind)}; the six means span {spread(b):.3f} (FUJI's "
            f"{spread(a):.3f}), and the most similar pair is FUJI's on {same} of {len(results)} sets"
        )
    return lines


def statements(at_hand, whole):
    """Return the paper's statements, each with what the numbers say."""
    p_values = [result["study"].p_value(*pair) for result in at_hand.values() for pair in PAIRS]
    low = sum(value <= 0.05 for value in p_values)
    beyond = f"{low} of our {len(p_values)} comparisons are more similar than chance at p ≤ 0.05"
    return [
        "- **The two ensemble rankings are the most similar.**",
        *about_pair(at_hand, whole, ENSEMBLES, most=True),
        "- **RF and Relief are the least similar.**",
        *about_pair(at_hand, whole, DISTANT, most=False),
        "- **The other pairs are about equally similar.** The range of those four:",
        *about_rest(at_hand, whole),
        "- **Jaccard cannot tell levels of similarity apart.** Taken as: its means span less than half of FUJI's.",
        *about_jaccard(at_hand, whole),
        f"- Not in the paper: {beyond} (permutations, not adjusted).",
    ]  # fmt: skip


HEAD = """# Do the paper's statements on four ranking algorithms hold?

<!-- Generated by docs/make_study.py: numbers come from it alone. -->

The paper ranks the features of {all} data sets with Relief, mutual information (MI), Genie3 and random forest (RF),
and compares the rankings by the area under the FUJI curve over k = 1, 2, 4, ..., n (the top-weighted AUC). Its RF
scores were computed without restoring a permuted feature before the next one is permuted in the same tree, so that the
damage accumulates; `random_forest` restores it. Here are the statements of its section on applications, judged by its
published rankings and by our four rankers on the {some} data sets that we have.

Our rankings: 200 trees, seed 0. All items tied with the k-th are in the top set (`ties="closed"`, the default), for
published rankings and ours alike, so that values and chance levels belong together: the published numbers, which break
ties by input order, differ ([paper](paper.md)). Negative scores count as 0. Our Relief averages over the
members of small classes, where the published runs left such classes out.
"""

STABILITY = """Mean top-weighted AUC of FUJI over all pairs of resamples (subsamples of 80 % of each class), with its
95 % jackknife interval; fewer resamples on the larger sets. The interval is about resamples of these data, not about
new data."""


def page(at_hand, whole):
    """Return the page."""
    settings = {name: result["study"].settings for name, result in at_hand.items()}
    sizes = [[name, chosen["rows"], chosen["features"]] for name, chosen in settings.items()]
    parts = (
        ("The statements", statements(at_hand, whole)),
        ("Means over the data sets", mean_table(at_hand, whole)),
        ("Single data sets, our rankers: raw / corrected", set_table(at_hand, "ours", "ours corrected")),
        (
            "Single data sets, published rankings: raw / corrected",
            set_table(at_hand, "published", "published corrected"),
        ),
        ("Stability of our rankers, corrected for chance", [STABILITY, "", *stability_table(at_hand)]),
        ("The data sets", table(["data set", "rows", "features"], sizes)),
    )
    lines = [HEAD.format(all=len(whole), some=len(at_hand))]
    for heading, body in parts:
        lines += [f"## {heading}", "", *body, ""]
    return "\n".join(lines).rstrip() + "\n"


def compute():
    """Return the page with all numbers computed anew."""
    at_hand, whole = {}, all_published()
    for name, resamples in SETS.items():
        if name == "digits" or (DATA / "datasets" / f"{name}.parquet").is_file():
            at_hand[name] = measured(name, resamples, whole[name])
        else:
            print(f"{name}: data not found, left out")
    return page(at_hand, whole)


def main():
    """Rewrite the page."""
    if not (DATA / "published_rankings").is_dir():
        sys.exit("published rankings not found in ../shared/data; nothing written")
    content = compute()
    write_atomically(PAGE, lambda file: file.write(content.encode()))


if __name__ == "__main__":
    main()
