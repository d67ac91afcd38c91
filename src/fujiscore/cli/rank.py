"""`fuji rank`: rank the features of a data set by several methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fujiscore.cli import data as data_sets
from fujiscore.cli import options
from fujiscore.cli.output import Report, check_destinations, deliver
from fujiscore.cli.terminal import label, table
from fujiscore.rankers import rank

if TYPE_CHECKING:
    from fujiscore.cli.terminal import Screen
    from fujiscore.features.datasets import Data
    from fujiscore.inputs.ranking import Rankings
    from fujiscore.rankers import Features

SHOWN = 10
LEAST_COLUMN = 20


@click.command(
    cls=options.Command,
    short_help="Rank the features of a data set.",
    examples=(
        "fuji rank iris",
        "fuji rank wine --method relief --method mutual_information --csv",
        "fuji rank breast_cancer --trees 50 --show 5",
    ),
)
@data_sets.request
@options.writing
@options.work
def command(*, request: data_sets.Request, writing: options.Writing, work: options.Work) -> None:
    """Rank the features of a data set by several methods.

    DATA is a CSV, TSV, Parquet, Feather, ARFF or libsvm file with a column of classes or a numeric target (--target),
    one of breast_cancer, diabetes, digits, iris and wine, or openml:NAME. With --out rankings.csv all scores are
    written as a table that the other commands read.
    """
    check_destinations(writing, [request.data])
    data = data_sets.read(request)
    table = data_sets.prepared(data, request)
    data_sets.announce(table, request, writing, work, 1)
    rankings = rank(
        table,
        methods=tuple(dict.fromkeys(request.method)),
        trees=request.trees,
        random_state=request.seed,
        **work.arguments(writing),
    )
    deliver(_report(rankings, data, table, writing.show or SHOWN), writing)


def _report(rankings: Rankings, data: Data, table: Features, show: int) -> Report:
    """Return the report in its three forms."""
    rows = [[rankings.label(i), *(float(scores[i]) for scores in rankings.scores)] for i in range(rankings.n)]
    facts: dict[str, Any] = {"data": data.name, "target": data.target, "task": table.target.task}
    facts |= {"rows": table.rows, "features": data.features}
    facts["scores"] = dict(zip(rankings.names, rankings.scores, strict=True))
    head = f"fuji rank: {label(data.name)}, {table.rows} rows, {rankings.n} features, {table.target.described}"
    return Report(
        "rank",
        lambda screen: [head, *_text(screen, rankings, min(show, rankings.n))],
        lambda: facts,
        ("feature", *rankings.names),
        lambda: rows,
        data_sets.notes(data, rankings.notes),
    )


def _text(screen: Screen, rankings: Rankings, show: int) -> list[str]:
    """Return the best features of each method, side by side or one method below the other."""
    lines = [f"the best {show} features of each method, with their scores"]
    columns = [
        [[label(ranking.label(i)), f"{ranking.scores[i]:.4g}"] for i in ranking.order[:show].tolist()]
        for ranking in rankings
    ]
    width = (screen.width - 4) // len(columns) - 2
    if width >= LEAST_COLUMN:
        header = ["", *(cell for name in rankings.names for cell in (screen.fit(name, width - 9), ""))]
        rows = [
            [str(i + 1), *(cell for best in columns for cell in (screen.fit(best[i][0], width - 9), best[i][1]))]
            for i in range(show)
        ]
        return [*lines, "", *table(screen, header, rows, left=range(1, len(header), 2))]
    for name, best in zip(rankings.names, columns, strict=True):
        rows = [[str(i + 1), *cells] for i, cells in enumerate(best)]
        lines += ["", *table(screen, ["", name, ""], rows, left=(1,), flexible=1)]
    return lines
