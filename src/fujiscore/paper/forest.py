"""RF as Breiman defined it, computed from the available raw data, beside the published RF scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import fujiscore as fj
from fujiscore.errors import InputError, first_few, spelled
from fujiscore.paper.conventions import Sets, auc, score
from fujiscore.paper.figures import GREY, Line, line_figure
from fujiscore.paper.record import DATA_SETS, NO_DATA, Figure, PageTable, Section, make_section

if TYPE_CHECKING:
    from pathlib import Path

    from fujiscore.features.datasets import Data

AREAS = ("FUJI Genie3-RF published", "FUJI correct", "Jaccard published", "Jaccard correct")
RANKS = ("Spearman RF published-correct", "Spearman Genie3 published-ours")


def raw_data(folder: Path, published: Sets) -> Iterator[tuple[str, Data, Sequence[str]]]:
    """Yield name, data and feature names of each data set with raw data."""
    # Raw data are `NAME.parquet` with one column per feature, named as in the published rankings, and a column
    # `target`; digits come from scikit-learn.
    from fujiscore.features.datasets import load

    named = spelled("data", str(folder))
    if not folder.is_dir():
        raise InputError(f"{named}: no such folder. Name the folder with the Parquet files.")
    files = {name: folder / f"{name}.parquet" for name in published if (folder / f"{name}.parquet").is_file()}
    if not files:
        raise InputError(f"{named}: the folder holds none of the data sets as NAME.parquet, such as sonar.parquet.")
    for name in published:
        if name in files:
            data = load(files[name], "target")
            yield name, data, data.features
        elif name == "digits":
            data = load(name)
            # The published names a1, a2, ... number scikit-learn's columns.
            yield name, data, [f"a{number}" for number in range(1, len(data.features) + 1)]


def recompute(folder: Path, published: Sets) -> tuple[dict[str, fj.Rankings], dict[str, int]]:
    """Return the four rankings of each data set with raw data, Genie3 and RF from one forest, and the rows of each."""
    from fujiscore.rankers import forest_scores

    corrected, rows = {}, {}
    for name, data, features in raw_data(folder, published):
        rankings = published[name]
        labels = list(rankings.labels or ())
        missing = [label for label in labels if label not in features]
        if missing:
            raise InputError(
                f"{data.name} must have a column for every feature of the published rankings; {len(missing)} are "
                f"missing: {first_few(missing)}."
            )
        order = [features.index(label) for label in labels]
        scores = forest_scores(data.X[:, order], data.y, random_state=0, progress=False)
        forests = (scores["genie3"], scores["random_forest"])
        others = rankings[["relief", "mutual_info"]].scores
        corrected[name], rows[name] = fj.Rankings(rankings.names, (*forests, *others), labels), len(data.y)
    return corrected, rows


def section(published: Sets | None, corrected: Sets | None) -> Section:
    """Compare the published RF scores with correct ones."""
    if published is None or corrected is None:
        return make_section("forest", [], text=(f"Not computed: {NO_DATA}.",))
    rows = [_row(DATA_SETS[name]["title"], published[name], rankings) for name, rankings in corrected.items()]
    columns = ("data set", "features", *AREAS, *RANKS)
    table = PageTable("correct_rf", "Genie3 and RF with the published RF scores and with correct ones", columns, rows)
    return make_section("forest", [], (table,), (_figure(rows),))


def _figure(rows: Sequence[tuple[Any, ...]]) -> Figure:
    """Return one line per data set, from the area with the published RF to that with the correct one."""
    names, _, before, after, *_ = zip(*sorted(rows, key=lambda row: row[3]), strict=True)
    places = range(len(names))
    dots = {"ls": "none", "marker": "o", "ms": 7, "color": fj.MEASURES["fuji"].colour}
    lines: list[Line] = [("_", (before[i], after[i]), (i, i), {"color": GREY, "lw": 1.2, "zorder": 1}) for i in places]
    lines += [("RF as published", before, places, dots | {"mfc": "white"}), ("RF correct", after, places, dots)]
    caption = "AUC of FUJI between Genie3 and RF (grid 1, 2, 4, ..., n): RF as published, and correct."
    axes = {"xlabel": "AUC of FUJI, Genie3 and RF", "ylabel": "", "yticks": places, "yticklabels": names}
    numbers = {"data set": names, "published": before, "correct": after}
    return line_figure("forest_pairs", caption, lines, numbers, **axes)


def _row(title: str, old: fj.Rankings, new: fj.Rankings) -> tuple[Any, ...]:
    """Return what changes on one data set."""
    areas = [
        auc(rankings["Genie3"], rankings["RForest"], measure, ks="exp")
        for measure in ("fuji", "jaccard")
        for rankings in (old, new)
    ]
    ranks = [score(old[method], new[method], old.n, "spearman") for method in ("RForest", "Genie3")]
    return (title, old.n, *areas, *ranks)
