"""RF as Breiman defined it, on the raw data that are at hand, beside the published RF scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore as fj
from fujiscore.errors import InputError, MissingExtraError
from fujiscore.paper import pictures
from fujiscore.paper.catalogue import DATA_SETS
from fujiscore.paper.record import NO_DATA, Picture, Section, Table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    Sets = Mapping[str, fj.Rankings]

TARGET = "target"


def corrected_sets(folder: Path, published: Sets) -> dict[str, fj.Rankings]:
    """Return the four rankings of each data set with raw data, Genie3 and RF computed anew from one forest.

    Raw data are `NAME.parquet` with one column a feature, named as in the published rankings, and a column `target`;
    digits come from scikit-learn.
    """
    if not folder.is_dir():
        raise InputError(f"--data {folder}: there is no such folder. Name the folder with the Parquet files.")
    found = {}
    for name, rankings in published.items():
        path = folder / f"{name}.parquet"
        if path.is_file():
            found[name] = _replaced(rankings, *_parquet(path, rankings))
        elif name == "digits":
            found[name] = _replaced(rankings, *_digits(rankings))
    if len(found) == ("digits" in found):
        raise InputError(f"--data {folder}: none of the data sets is there as NAME.parquet, such as sonar.parquet.")
    return found


def _parquet(path: Path, rankings: fj.Rankings) -> tuple[Any, Any]:
    """Return features in the rankings' order, and classes."""
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError("--data needs pyarrow: pip install 'fujiscore[parquet]'") from error
    table = pq.read_table(path)
    features = [str(item) for item in rankings.items or ()]
    present = set(table.column_names)
    lacking = [name for name in (*features, TARGET) if name not in present]
    if lacking:
        raise InputError(
            f"{path} must have a column for every feature of the published rankings and a column {TARGET!r}; "
            f"{len(lacking)} are missing (first: {lacking[0]!r})."
        )
    x = np.column_stack([column.to_numpy() for column in table.select(features).columns])
    return x, np.array(table.column(TARGET).to_pylist())


def _digits(rankings: fj.Rankings) -> tuple[Any, Any]:
    """Return scikit-learn's digits in the rankings' order; the published names a1, a2, ... number its columns."""
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise MissingExtraError("--data needs scikit-learn: pip install 'fujiscore[ml]'") from error
    x, y = load_digits(return_X_y=True)
    return x[:, [int(str(item)[1:]) - 1 for item in rankings.items or ()]], y


def _replaced(rankings: fj.Rankings, x: Any, y: Any) -> fj.Rankings:
    """Return the rankings with both forest scores computed anew."""
    from fujiscore.rankers import forest_scores

    scores = forest_scores(x, y, random_state=0, progress=False)
    _, _, relief, information = rankings.scores
    both = (scores["genie3"], scores["random_forest"])
    return fj.Rankings(rankings.names, (*both, relief, information), rankings.items)


def section(published: Sets | None, corrected: Sets | None) -> Section:
    """Compare the published RF scores with correct ones."""
    title = "RF, published and correct"
    text = (
        "The published RF scores are not Breiman's permutation importance: the program that made them does not put a "
        "feature's values back before it permutes the next one in the same tree, so that the damage accumulates. "
        "Here RF is computed correctly, from the same forest as Genie3 (200 trees), where raw data are at hand; "
        "Relief and mutual information stay as published."
    )
    if published is None or corrected is None:
        return Section(title, (text, f"Not computed: it {NO_DATA}."))
    table = _table(published, corrected)
    before, after = ([row[at] for row in table.rows] for at in (2, 3))
    names = [str(row[0]) for row in table.rows]
    caption = "AUC of FUJI between Genie3 and RF (grid 1, 2, 4, ..., n): RF as published, and correct."
    rows = list(zip(names, before, after, strict=True))
    numbers = Table("forest_pairs", caption, ("data set", "published", "correct"), rows, shown=False)
    shown = Picture(
        "forest_pairs", caption, (5.2, 3.4), lambda figure: pictures.dumbbells(figure, names, before, after), numbers
    )
    return Section(title, (text,), (table,), (shown,))


def _table(published: Sets, corrected: Sets) -> Table:
    """Return what changes, data set by data set."""
    rows = []
    for name, new in corrected.items():
        old = published[name]
        n = old.n
        pairs = [_area(own, "fuji") for own in (old, new)] + [_area(own, "jaccard") for own in (old, new)]
        ranks = [
            fj.score(a, b, n, "spearman", negative="clip")
            for a, b in ((old["RForest"], new["RForest"]), (old["Genie3"], new["Genie3"]))
        ]
        rows.append((DATA_SETS[name].title, n, *pairs, *ranks))
    columns = (
        "data set",
        "features",
        "FUJI Genie3-RF published",
        "FUJI correct",
        "Jaccard published",
        "Jaccard correct",
        "Spearman RF published-correct",
        "Spearman Genie3 published-ours",
    )
    return Table("correct_rf", "Genie3 and RF with the published RF scores and with correct ones", columns, rows)


def _area(rankings: fj.Rankings, measure: str) -> float:
    """Return the area of Genie3 and RF on the grid 1, 2, 4, ..., n."""
    return fj.auc(rankings["Genie3"], rankings["RForest"], measure, ks="exp", negative="clip")
