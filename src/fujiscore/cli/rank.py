"""`fuji rank`: rank the features of a data set by several methods."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from fujiscore.cli import data as data_sets
from fujiscore.cli import options
from fujiscore.cli.outputs import Report, check_destinations, deliver, note
from fujiscore.cli.screen import printable, table
from fujiscore.rankers import prepare, rank

if TYPE_CHECKING:
    from fujiscore.cli.screen import Screen
    from fujiscore.io.datasets import Data
    from fujiscore.rankings import Rankings


@click.command(
    cls=options.Command,
    short_help="Rank the features of a data set.",
    examples=(
        "fuji rank iris",
        "fuji rank wine --method relief --method mutual_information --csv",
        "fuji rank breast_cancer --trees 50 --show 5",
    ),
)
@data_sets.asked
@options.option(
    "--show",
    "top",
    section="Write",
    type=options.Count(1),
    default=10,
    show_default=True,
    metavar="N",
    help="Features to show.",
)
@options.option("--out", "-o", section="Write", metavar="FILE", help="Write the report; .csv and .json as such.")
@options.option("--json", section="Write", is_flag=True, help="Report as JSON, in full.")
@options.option("--csv", section="Write", is_flag=True, help="Report as a CSV table of all scores.")
@options.option("--force", section="Write", is_flag=True, help="Replace files that are there already.")
@options.option("--quiet", "-q", section="Other", is_flag=True, help="No notes on standard error.")
@options.option("--debug", section="Other", is_flag=True, expose_value=False, help="Show a traceback on errors.")
@options.work
def command(*, asked: data_sets.Asked, top: int, work: options.Work, **written: Any) -> None:
    """Rank the features of a data set by several methods.

    DATA is a CSV, TSV, Parquet, Feather, ARFF or libsvm file with a column of classes (--target), one of
    breast_cancer, digits, iris and wine, or openml:NAME. With --out rankings.csv all scores are written as a table
    that the other commands read.
    """
    writing = by_suffix(options.Writing(**written))
    check_destinations(writing, [asked.data])
    held = data_sets.read(asked, writing)
    prepared = prepare(held.X, held.y, held.categorical, names=held.features, inspect=True)
    for text in prepared.notes:
        note(writing, printable(f"{held.name}: {text}"))
    data_sets.announce(held, asked, writing, work, 1)
    found = rank(
        prepared,
        methods=tuple(dict.fromkeys(asked.method)),
        trees=asked.trees,
        random_state=asked.seed,
        **work.arguments(writing),
    )
    deliver(_report(found, held, top), writing)


def by_suffix(writing: options.Writing) -> options.Writing:
    """Return CSV or JSON as the form of a file with that extension."""
    suffix = Path(writing.out).suffix.lower() if writing.out else ""
    if writing.csv or writing.json:
        return writing
    return replace(writing, csv=suffix == ".csv", json=suffix == ".json")


def _report(found: Rankings, held: Data, top: int) -> Report:
    """Return the report in its three forms."""
    rows = [[found.label(at), *(float(own[at]) for own in found.scores)] for at in range(found.n)]
    data = {"data": held.name, "target": held.target, "rows": held.y.size, "features": held.features}
    data["scores"] = dict(zip(found.names, found.scores, strict=True))
    return Report(
        "rank", lambda screen: _text(screen, found, held, top), lambda: data, ("feature", *found.names), lambda: rows
    )


def _text(screen: Screen, found: Rankings, held: Data, top: int) -> list[str]:
    """Return the best features of each method, side by side or one method beneath the other."""
    deepest = min(top, found.n)
    best = [np.argsort(-own, kind="stable")[:deepest] for own in found.scores]
    lines = [
        f"fuji rank: {held.name}, {held.y.size} rows, {found.n} features, {np.unique(held.y).size} classes",
        f"the best {deepest} features of each method, with their scores",
    ]
    columns = [
        [[printable(found.label(at)), f"{own[at]:.4g}"] for at in order.tolist()]
        for own, order in zip(found.scores, best, strict=True)
    ]
    width = (screen.width - 4) // len(columns) - 2
    if width >= 20:
        header = ["", *(name for own in found.names for name in (screen.fit(own, width - 9), ""))]
        rows = [
            [str(at + 1), *(cell for own in columns for cell in (screen.fit(own[at][0], width - 9), own[at][1]))]
            for at in range(deepest)
        ]
        return [*lines, "", *table(screen, header, rows, left=range(1, len(header), 2))]
    for name, own in zip(found.names, columns, strict=True):
        rows = [[str(at + 1), *cells] for at, cells in enumerate(own)]
        lines += ["", *table(screen, ["", name, ""], rows, left=(1,), flexible=1)]
    return lines
