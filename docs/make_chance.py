"""Write the table of docs/chance.md from the published rankings: `python docs/make_chance.py [FOLDER]`.

For each data set and pair of methods: the top-weighted AUC of FUJI, the value expected by chance, and the corrected
value. FOLDER holds the published .fimp files; by default ../shared/data/published_rankings beside the project.
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fujiscore.paper import load
from fujiscore.paper.conventions import top_weighted
from fujiscore.work.files import write_atomically

PAGE = Path(__file__).resolve().parent / "chance.md"
FOLDER = PAGE.parents[2] / "shared" / "data" / "published_rankings"
METHODS = {"Genie3": "Genie3", "RForest": "RF", "relief": "Relief", "mutual_info": "MI"}
PAIRS = list(combinations(METHODS.values(), 2))
BEGIN, END = "<!-- table:begin -->", "<!-- table:end -->"
# A pair looks similar from this area on, and is similar only by chance if its corrected area is below this.
SIMILAR, LEFT = 0.6, 0.25


def compute(folder):
    """Return {(data set, first method, second method): Figures} of all pairs."""
    results = {}
    for stem, rankings in load(folder).items():
        matrix = top_weighted(rankings)
        places = {title: matrix.names.index(method) for method, title in METHODS.items()}
        for a, b in PAIRS:
            place = places[a], places[b]
            values = (values[place] for values in (matrix.as_raw().values, matrix.expected, matrix.values))
            results[stem, a, b] = Figures(*map(float, values))
    return results


class Figures(NamedTuple):
    """Raw area, value expected by chance, and corrected area of a pair."""

    auc: float
    expected_auc: float
    corrected_auc: float


def table(results):
    """Return the table: one row per data set, one column per pair, and the means."""
    form = "{:.2f} / {:.2f} / **{:.2f}**".format
    rows = {stem: [form(*results[stem, *pair]) for pair in PAIRS] for stem in dict.fromkeys(key[0] for key in results)}
    stems = list(rows)
    means = [np.mean([results[stem, *pair] for stem in stems], axis=0) for pair in PAIRS]
    rows["**mean**"] = [form(*mean) for mean in means]
    header = ["| data set | " + " | ".join(f"{a}, {b}" for a, b in PAIRS) + " |", "|---" * (len(PAIRS) + 1) + "|"]
    return [*header, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items())]


def listed(results, keep, show):
    """Return how many pairs there are to keep, and which, with the figures that `show` picks."""
    kept = {key: chance for key, chance in results.items() if keep(chance)}
    names = [f"{stem} {a}, {b} ({show(chance)})" for (stem, a, b), chance in kept.items()]
    return f"{len(kept)} of {len(results)} pairs" + (": " + "; ".join(names) if names else "")


def findings(results):
    """Return what changes: pairs that look similar only by chance, and pairs below chance."""
    levels = sorted(chance.expected_auc for chance in results.values())
    high = listed(
        results, lambda chance: chance.expected_auc >= levels[-5], lambda chance: f"{chance.expected_auc:.2f}"
    )
    before = sum(chance.auc >= SIMILAR for chance in results.values())
    after = sum(chance.corrected_auc >= SIMILAR for chance in results.values())
    only_chance = listed(
        results,
        lambda chance: chance.auc >= SIMILAR and chance.corrected_auc < LEFT,
        lambda chance: f"{chance.auc:.2f}, corrected {chance.corrected_auc:.2f}",
    )
    below = listed(results, lambda chance: chance.corrected_auc < 0, lambda chance: f"{chance.corrected_auc:.2f}")
    return [
        f"- Chance alone gives areas from {levels[0]:.2f} to {levels[-1]:.2f}. Highest: {high}.",
        f"- {before} of {len(results)} pairs have an area of at least {SIMILAR}; after the correction {after} do.",
        f"- Similar only by chance (area at least {SIMILAR}, corrected below {LEFT}): {only_chance}.",
        f"- Less similar than random rankings with the same scores: {below}.",
    ]


def page(folder):
    """Return the page with the table computed anew."""
    results = compute(folder)
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    text = "\n".join([*findings(results), "", *table(results)])
    return f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}"


def main():
    """Rewrite the page's table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    if not folder.is_dir():
        sys.exit(f"usage: python docs/make_chance.py FOLDER, with the published .fimp files; {folder} is not a folder")
    content = page(folder)
    write_atomically(PAGE, lambda file: file.write(content.encode()))


if __name__ == "__main__":
    main()
