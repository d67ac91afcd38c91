"""The study on 24 data sets: mean similarities of four feature rankers, and one figure per data set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from fujiscore.paper import figures
from fujiscore.paper.catalogue import DATA_SETS
from fujiscore.paper.conventions import areas, compare
from fujiscore.paper.record import NO_RANKINGS, Figure, Section, Table
from fujiscore.paper.sources import METHODS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import fujiscore as fj
    from fujiscore.paper.conventions import Scores, Sets
    from fujiscore.paper.record import Claim

TITLES = {"Genie3": "Genie3", "RForest": "RF", "relief": "Relief", "mutual_info": "MI"}
PAIRS = tuple(combinations(METHODS, 2))
MEASURES = ("fuji", "jaccard", "correlation", "hamming")
ENSEMBLES, FILTERS, EXTREMES = ("Genie3", "RForest"), ("mutual_info", "relief"), ("RForest", "relief")


@dataclass(frozen=True, eq=False)
class Means:
    """Mean areas of the six pairs over data sets; `by_set` has one row per data set."""

    by_set: Scores

    @property
    def values(self) -> Scores:
        """The mean of each pair."""
        means: Scores = self.by_set.mean(axis=0)
        return means

    def __getitem__(self, pair: tuple[str, str]) -> float:
        """Return one pair's mean."""
        return float(self.values[PAIRS.index(pair)])

    @property
    def most(self) -> tuple[str, str]:
        """The most similar pair."""
        return PAIRS[int(self.values.argmax())]

    @property
    def least(self) -> tuple[str, str]:
        """The least similar pair."""
        return PAIRS[int(self.values.argmin())]

    @property
    def span(self) -> float:
        """The range of the six means."""
        return float(np.ptp(self.values))


def means(sets: Sets, measure: str = "fuji", *, ks: str = "exp", corrected: bool = False) -> Means:
    """Return the areas of all six pairs on every data set; ties are closed if they are corrected for chance."""
    upper = np.triu_indices(len(METHODS), 1)
    return Means(np.array([areas(one, measure=measure, ks=ks, corrected=corrected)[upper] for one in sets.values()]))


def pair_title(pair: tuple[str, str]) -> str:
    """Return a pair's name in the paper's words."""
    return f"{TITLES[pair[0]]}-{TITLES[pair[1]]}"


def compared(rankings: fj.Rankings, pair: tuple[str, str]) -> fj.Comparison:
    """Return the four measures of one pair at every k."""
    return compare(rankings[pair[0]], rankings[pair[1]], MEASURES)


def section(sets: Sets | None, claims: Sequence[Claim]) -> Section:
    """Compute the study's tables and figures."""
    title = "The study on 24 data sets"
    text = (
        "Four feature rankers (Genie3, RF, Relief, mutual information) on 24 data sets, from the scores that the "
        "authors published. Negative scores order the features and count as 0. Mean areas are on the grid "
        "1, 2, 4, ..., n, which gives the top more weight. RF means the published RF scores."
    )
    ties = (
        "Ties are broken by input order, as in the published results. This order has no closed-form chance level, so "
        "the values corrected for chance are those of another form: every item tied with the k-th counts as a member "
        "of the top set (ties closed)."
    )
    if sets is None:
        return Section(title, (text, f"Not computed: {NO_RANKINGS}."), claims=claims)
    forms = {
        "FUJI": means(sets),
        "Jaccard": means(sets, "jaccard"),
        "FUJI corrected, ties closed": means(sets, corrected=True),
        "Jaccard corrected, ties closed": means(sets, "jaccard", corrected=True),
        "FUJI, all k": means(sets, ks="all"),
        "Jaccard, all k": means(sets, "jaccard", ks="all"),
    }
    rows = [(pair_title(pair), *(form[pair] for form in forms.values())) for pair in PAIRS]
    table = Table("mean_areas", f"Mean areas over {len(sets)} data sets", ("pair", *forms), rows)
    raw, raw_jaccard, exact, exact_jaccard, *_ = forms.values()
    drawn = [
        _heat_map("heat_map", len(sets), raw, raw_jaccard),
        _heat_map("heat_map_corrected", len(sets), exact, exact_jaccard, " corrected for chance, ties closed"),
        _histogram(sets),
        *(_curves(name, rankings) for name, rankings in sets.items()),
    ]
    return Section(title, (text, ties), (table, _data_sets(sets)), drawn, claims)


def _data_sets(sets: Sets) -> Table:
    """Return the data sets with the number of features in the paper's table and in the rankings."""
    rows = [
        (facts.title, facts.columns, sets[name].n, facts.examples, facts.about)
        for name, facts in sorted(DATA_SETS.items(), key=lambda item: item[1].title.lower())
    ]
    columns = ("data set", "features in the paper", "features ranked", "examples", "about")
    return Table("data_sets", "The data sets", columns, rows)


def _heat_map(name: str, count: int, fuji: Means, jaccard: Means, form: str = "") -> Figure:
    """Return the heat map: FUJI below the diagonal, Jaccard above."""
    grid = np.full((len(METHODS), len(METHODS)), np.nan)
    for first, second in PAIRS:
        i, j = METHODS.index(first), METHODS.index(second)
        grid[j, i], grid[i, j] = fuji[first, second], jaccard[first, second]
    caption = f"Mean area{form} over {count} data sets: FUJI below the diagonal, Jaccard above."
    columns = {"pair": [pair_title(pair) for pair in PAIRS], "fuji": fuji.values, "jaccard": jaccard.values}
    label = "mean AUC, corrected" if form else "mean AUC"
    draw = partial(figures.heat_map, grid=grid, titles=[TITLES[method] for method in METHODS], label=label)
    return Figure(name, caption, (4.6, 3.8), draw, columns)


def _histogram(sets: Sets) -> Figure:
    """Return the histogram of feature counts."""
    counts = [rankings.n for rankings in sets.values()]
    caption = f"Number of features of the {len(sets)} data sets."
    columns = {"data_set": [DATA_SETS[name].title for name in sets], "features": counts}
    return Figure("feature_counts", caption, (5.2, 2.8), partial(figures.counts, features=counts), columns)


def _curves(name: str, rankings: fj.Rankings) -> Figure:
    """Return the two panels of a data set: Genie3 and RF, MI and Relief."""
    title = DATA_SETS[name].title
    comparisons = {pair_title(pair): compared(rankings, pair) for pair in (ENSEMBLES, FILTERS)}
    columns: dict[str, Scores] = {"k": np.arange(1, rankings.n + 1)}
    for pair, comparison in comparisons.items():
        columns |= {f"{pair}_{measure}": curve.values for measure, curve in comparison.curves.items()}
    caption = f"{title} ({rankings.n} features): Genie3 and RF above, MI and Relief below."
    draw = partial(figures.panels, name=title, comparisons=comparisons)
    return Figure(f"curves_{name}", caption, (4.6, 5.2), draw, columns, small=True)
