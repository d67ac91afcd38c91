"""RF as Breiman defined it, computed from the available raw data, beside the published RF scores."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, MissingExtraError, first_few, spelled
from fujiscore.paper import figures
from fujiscore.paper.catalogue import DATA_SETS
from fujiscore.paper.conventions import auc, labels, named, score
from fujiscore.paper.record import NO_DATA, Figure, Section, Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import fujiscore as fj
    from fujiscore.paper.conventions import Sets

TARGET = "target"


def corrected_sets(folder: Path, published: Sets) -> dict[str, fj.Rankings]:
    """Return the four rankings of each data set with raw data, with Genie3 and RF computed from one forest.

    Raw data are `NAME.parquet` with one column per feature, named as in the published rankings, and a column `target`;
    digits come from scikit-learn.
    """
    if not folder.is_dir():
        raise InputError(f"{spelled('data', str(folder))}: no such folder. Name the folder with the Parquet files.")
    sets = {}
    for name, rankings in published.items():
        path = folder / f"{name}.parquet"
        if path.is_file():
            sets[name] = _recomputed(rankings, *_parquet(path, labels(rankings)))
        elif name == "digits":
            sets[name] = _recomputed(rankings, *_digits(labels(rankings)))
    if not set(sets) - {"digits"} and not (folder / "digits.parquet").is_file():
        raise InputError(
            f"{spelled('data', str(folder))}: the folder holds none of the data sets as NAME.parquet, such as "
            "sonar.parquet."
        )
    return sets


def _parquet(path: Path, features: Sequence[str]) -> tuple[Any, Any]:
    """Return features in the rankings' order, and classes."""
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError(f"{spelled('data')} needs pyarrow: pip install 'fujiscore[parquet]'") from error
    table = pq.read_table(path)
    present = set(table.column_names)
    missing = [name for name in (*features, TARGET) if name not in present]
    if missing:
        raise InputError(
            f"{path} must have a column for every feature of the published rankings and a column {TARGET!r}; "
            f"{len(missing)} are missing: {first_few(missing)}."
        )
    x = np.column_stack([column.to_numpy() for column in table.select(features).columns])
    return x, np.array(table.column(TARGET).to_pylist())


def _digits(features: Sequence[str]) -> tuple[Any, Any]:
    """Return scikit-learn's digits in the rankings' order; the published names a1, a2, ... number its columns."""
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise MissingExtraError(f"{spelled('data')} needs scikit-learn: pip install 'fujiscore[ml]'") from error
    x, y = load_digits(return_X_y=True)
    return x[:, [int(name[1:]) - 1 for name in features]], y


def _recomputed(rankings: fj.Rankings, x: Any, y: Any) -> fj.Rankings:
    """Return the rankings with both forest scores computed from the data."""
    from fujiscore.rankers import forest_scores

    scores = forest_scores(x, y, random_state=0, progress=False)
    both = (scores["genie3"], scores["random_forest"])
    return named(rankings.names, (*both, rankings["relief"], rankings["mutual_info"]), labels(rankings))


def section(published: Sets | None, corrected: Sets | None) -> Section:
    """Compare the published RF scores with correct ones."""
    title = "RF, published and correct"
    text = (
        "The published RF scores are not Breiman's permutation importance: the program that computed them does not "
        "restore a feature's values before it permutes the next one in the same tree, so the errors accumulate. Here "
        "RF is computed correctly, from the same forest as Genie3 (200 trees), where raw data are available; Relief "
        "and mutual information are those published."
    )
    if published is None or corrected is None:
        return Section(title, (text, f"Not computed: {NO_DATA}."))
    table = _table(published, corrected)
    names, _, before, after, *_ = zip(*table.rows, strict=True)
    caption = "AUC of FUJI between Genie3 and RF (grid 1, 2, 4, ..., n): RF as published, and correct."
    draw = partial(figures.dumbbells, names=names, before=before, after=after)
    columns = {"data set": names, "published": before, "correct": after}
    return Section(title, (text,), (table,), (Figure("forest_pairs", caption, (5.2, 3.4), draw, columns),))


def _table(published: Sets, corrected: Sets) -> Table:
    """Return what changes, by data set."""
    rows = []
    for name, new in corrected.items():
        old = published[name]
        areas = [
            auc(rankings["Genie3"], rankings["RForest"], measure, ks="exp")
            for measure in ("fuji", "jaccard")
            for rankings in (old, new)
        ]
        ranks = [score(old[method], new[method], old.n, "spearman") for method in ("RForest", "Genie3")]
        rows.append((DATA_SETS[name].title, old.n, *areas, *ranks))
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
