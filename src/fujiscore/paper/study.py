"""The study on 24 data sets: mean similarities of four feature rankers, and two pictures a data set."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore as fj
from fujiscore.paper import pictures
from fujiscore.paper.catalogue import DATA_SETS
from fujiscore.paper.record import Picture, Section, Table, columns_table
from fujiscore.paper.sources import METHODS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Scores = NDArray[Any]
    Sets = Mapping[str, fj.Rankings]

TITLES = {"Genie3": "Genie3", "RForest": "RF", "relief": "Relief", "mutual_info": "MI"}
PAIRS = tuple(combinations(METHODS, 2))
MEASURES = ("fuji", "jaccard", "correlation", "hamming")
ENSEMBLES, FILTERS, EXTREMES = ("Genie3", "RForest"), ("mutual_info", "relief"), ("RForest", "relief")


@dataclass(frozen=True, eq=False)
class Means:
    """Mean areas of the six pairs over data sets, and those of each data set (a row each)."""

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
    def reach(self) -> float:
        """How far the six means lie apart."""
        return float(np.ptp(self.values))


def means(sets: Sets, measure: str = "fuji", *, ks: str = "exp", corrected: bool = False) -> Means:
    """Return the areas of all six pairs on every data set."""
    rows, columns = np.triu_indices(len(METHODS), 1)
    areas = [
        fj.pairwise(own, measure=measure, ks=ks, corrected=corrected, negative="clip", n_jobs=1, progress=False).values[
            rows, columns
        ]
        for own in sets.values()
    ]
    return Means(np.array(areas))


def pair_title(pair: tuple[str, str]) -> str:
    """Return a pair's name in the paper's words."""
    return f"{TITLES[pair[0]]}-{TITLES[pair[1]]}"


def compared(rankings: fj.Rankings, pair: tuple[str, str]) -> fj.Comparison:
    """Return the four measures of one pair at every k."""
    return fj.compare(rankings[pair[0]], rankings[pair[1]], MEASURES, negative="clip")


def section(sets: Sets | None) -> Section:
    """Compute the study's tables and pictures."""
    title = "The study on 24 data sets"
    text = (
        "Four feature rankers (Genie3, RF, Relief, mutual information) on 24 data sets, from the scores that the "
        "authors published. Negative scores order the features and count as 0. Mean areas are on the grid "
        "1, 2, 4, ..., n, which weighs the top more. RF stands for the published RF scores."
    )
    if sets is None:
        return Section(title, (text, "Not computed: it needs the published rankings (--rankings DIR)."))
    heat = [_heat_map(sets, corrected=False), _heat_map(sets, corrected=True)]
    drawn = [*heat, _histogram(sets), *(_curves_of(name, own) for name, own in sets.items())]
    return Section(title, (text,), (_areas(sets), _table(sets)), drawn)


def _table(sets: Sets) -> Table:
    """Return the data sets with the number of features in the paper's table and in the rankings."""
    rows = []
    for name, own in sorted(DATA_SETS.items(), key=lambda item: item[1].title.lower()):
        rows.append((own.title, own.columns, sets[name].n, own.examples, own.about))
    columns = ("data set", "features in the paper", "features ranked", "examples", "about")
    return Table("data_sets", "The data sets", columns, rows)


def _areas(sets: Sets) -> Table:
    """Return the mean areas of the six pairs in all forms."""
    forms = {
        "FUJI": means(sets),
        "Jaccard": means(sets, "jaccard"),
        "FUJI corrected": means(sets, corrected=True),
        "Jaccard corrected": means(sets, "jaccard", corrected=True),
        "FUJI, all k": means(sets, ks="all"),
        "Jaccard, all k": means(sets, "jaccard", ks="all"),
    }
    rows = [(pair_title(pair), *(form[pair] for form in forms.values())) for pair in PAIRS]
    return Table("mean_areas", f"Mean areas over {len(sets)} data sets", ("pair", *forms), rows)


def _heat_map(sets: Sets, *, corrected: bool) -> Picture:
    """Return the heat map: FUJI below the diagonal, Jaccard above."""
    below, above = means(sets, corrected=corrected), means(sets, "jaccard", corrected=corrected)
    grid = np.full((len(METHODS), len(METHODS)), np.nan)
    for first, second in PAIRS:
        i, j = METHODS.index(first), METHODS.index(second)
        grid[j, i], grid[i, j] = below[first, second], above[first, second]
    how = ", corrected for chance" if corrected else ""
    caption = f"Mean area over {len(sets)} data sets{how}: FUJI below the diagonal, Jaccard above."
    name = "heat_map_corrected" if corrected else "heat_map"
    rows = [(pair_title(pair), below[pair], above[pair]) for pair in PAIRS]
    titles = [TITLES[method] for method in METHODS]
    return Picture(
        name,
        caption,
        (4.6, 3.8),
        lambda figure: pictures.heat_map(figure, grid, titles, corrected=corrected),
        Table(name, caption, ("pair", "fuji", "jaccard"), rows, shown=False),
    )


def _histogram(sets: Sets) -> Picture:
    """Return the histogram of feature counts."""
    counts = [own.n for own in sets.values()]
    caption = f"Number of features of the {len(sets)} data sets."
    columns = {"data_set": [DATA_SETS[name].title for name in sets], "features": counts}
    numbers = columns_table("feature_counts", caption, columns)
    return Picture("feature_counts", caption, (5.2, 2.8), lambda figure: pictures.counts(figure, counts), numbers)


def _curves_of(name: str, rankings: fj.Rankings) -> Picture:
    """Return the two panels of a data set: Genie3 and RF, MI and Relief."""
    title = DATA_SETS[name].title
    found = {pair_title(pair): compared(rankings, pair) for pair in (ENSEMBLES, FILTERS)}
    columns: dict[str, Scores] = {"k": np.arange(1, rankings.n + 1)}
    for pair, own in found.items():
        columns |= {f"{pair}_{measure}": curve.values for measure, curve in own.curves.items()}
    caption = f"{title} ({rankings.n} features): Genie3 and RF above, MI and Relief below."
    stem = f"curves_{name}"
    return Picture(
        stem,
        caption,
        (4.6, 5.2),
        lambda figure: pictures.panels(figure, title, found),
        columns_table(stem, caption, columns),
        small=True,
    )
