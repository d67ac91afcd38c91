"""Write the table of docs/chance.md from the published rankings: `python docs/make_chance.py FOLDER_OF_FIMP_FILES`.

For each data set and pair of methods: the area under the FUJI curve on the exp grid, its chance level, and the area
corrected for chance. Scores are clipped at 0 and ties closed, so that the chance levels are exact.
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import numpy as np

import fujiscore as fj
from fujiscore.tables import write_atomically

PAGE = Path(__file__).parent / "chance.md"
METHODS = {"Genie3": "Genie3", "RForest": "RF", "relief": "Relief", "mutual_info": "MI"}
BEGIN, END = "<!-- table:begin -->", "<!-- table:end -->"
# A pair looks similar from this area on, and is similar only by chance if its corrected area is below this.
SIMILAR, LEFT = 0.6, 0.25


def compute(folder):
    """Return {(data set, first, second): Chance} of all pairs."""
    stems = sorted(path.name.removesuffix("_Genie3.fimp") for path in folder.glob("*_Genie3.fimp"))
    results = {}
    for stem in stems:
        rankings = fj.read([folder / f"{stem}_{method}.fimp" for method in METHODS], negative="clip")
        scores = {title: np.maximum(one, 0.0) for title, one in zip(METHODS.values(), rankings.scores, strict=True)}
        for a, b in combinations(scores, 2):
            results[stem, a, b] = fj.chance(scores[a], scores[b], ks="exp", ties="closed")
    return results


def cell(one):
    """Return raw area, chance level and corrected area."""
    return f"{one.auc:.2f} / {one.expected_auc:.2f} / **{one.corrected_auc:.2f}**"


def table(results):
    """Return the table: one row per data set, one column per pair."""
    pairs = list(combinations(METHODS.values(), 2))
    stems = list(dict.fromkeys(stem for stem, _, _ in results))
    lines = ["| data set | " + " | ".join(f"{a}, {b}" for a, b in pairs) + " |", "|---" * (len(pairs) + 1) + "|"]
    lines += [f"| {stem} | " + " | ".join(cell(results[stem, a, b]) for a, b in pairs) + " |" for stem in stems]
    means = []
    for pair in pairs:
        of_pair = [one for (_, a, b), one in results.items() if (a, b) == pair]
        figures = [[one.auc, one.expected_auc, one.corrected_auc] for one in of_pair]
        means.append("{:.2f} / {:.2f} / **{:.2f}**".format(*np.mean(figures, axis=0)))
    return [*lines, "| **mean** | " + " | ".join(means) + " |"]


def listed(results, keep, show):
    """Return how many pairs there are to keep, and which, with the figures that `show` picks."""
    kept = {key: one for key, one in results.items() if keep(one)}
    names = [f"{stem} {a}, {b} ({show(one)})" for (stem, a, b), one in kept.items()]
    return f"{len(kept)} of {len(results)} pairs" + (": " + "; ".join(names) if names else "")


def findings(results):
    """Return what changes: pairs that looked similar only by chance, and pairs below chance."""
    levels = [one.expected_auc for one in results.values()]
    high = listed(results, lambda one: one.expected_auc >= sorted(levels)[-5], lambda one: f"{one.expected_auc:.2f}")
    before = sum(one.auc >= SIMILAR for one in results.values())
    after = sum(one.corrected_auc >= SIMILAR for one in results.values())
    only_chance = listed(
        results,
        lambda one: one.auc >= SIMILAR and one.corrected_auc < LEFT,
        lambda one: f"{one.auc:.2f}, corrected {one.corrected_auc:.2f}",
    )
    below = listed(results, lambda one: one.corrected_auc < 0, lambda one: f"corrected {one.corrected_auc:.2f}")
    return [
        f"- Chance alone gives areas from {min(levels):.2f} to {max(levels):.2f}. Highest: {high}.",
        f"- {before} of {len(results)} pairs have an area of at least {SIMILAR}; after the correction {after} do.",
        f"- Similar only by chance (area at least {SIMILAR}, corrected below {LEFT}): {only_chance}.",
        f"- Less alike than random rankings with the same scores: {below}.",
    ]


def main():
    """Rewrite the page's table."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("usage: python docs/make_chance.py FOLDER, the folder that holds the published .fimp files")
    results = compute(Path(sys.argv[1]))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    text = "\n".join([*findings(results), "", *table(results)])
    content = f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}"
    write_atomically(PAGE, lambda file: file.write(content.encode()))


if __name__ == "__main__":
    main()
