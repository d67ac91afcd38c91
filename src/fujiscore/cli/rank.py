"""`fuji rank`: rank the features of a data set by several methods."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from fujiscore.cli import data as data_sets
from fujiscore.cli import options
from fujiscore.cli.output import Report, check_destinations, deliver
from fujiscore.cli.terminal import Screen, fitted, label
from fujiscore.rankers import rank
from fujiscore.text.tables import display_width
from fujiscore.text.tabular import tables_of

if TYPE_CHECKING:
    from fujiscore.inputs.ranking import Rankings

SHOWN = 10
LEAST_COLUMN, GAP = 20, 3


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
    facts = {"data": data.name, "target": data.target, "task": table.target.task, "rows": table.rows}
    head = f"fuji rank: {label(data.name)}, {table.rows} rows, {rankings.n} features, {table.target.described}"
    report = Report(
        "rank",
        lambda screen: [head, *_text(screen, rankings, min(writing.show or SHOWN, rankings.n))],
        lambda: {**rankings.to_dict(), **facts, "features": data.features},
        lambda: {
            "feature": [rankings.label(i) for i in range(rankings.n)],
            **dict(zip(rankings.names, rankings.scores, strict=True)),
        },
        data_sets.notes(data, rankings.notes),
    )
    deliver(report, writing)


def _text(screen: Screen, rankings: Rankings, show: int) -> list[str]:
    """Return the best features of each method, side by side or one method below the other."""
    lines = [f"the best {show} features of each method, with their scores"]
    width = (screen.width + GAP) // len(rankings) - GAP
    beside = width >= LEAST_COLUMN
    tables = [tables_of(ranking, show)[0].without(["rank"]) for ranking in rankings]
    tables = [replace(table, header=[name, ""]) for name, table in zip(rankings.names, tables, strict=True)]
    parts = [fitted(replace(screen, width=width) if beside else screen, table, "") for table in tables]
    if not beside:
        return [*lines, *(line for part in parts for line in ("", *part))]
    widths = [max(map(display_width, map(click.unstyle, part))) for part in parts]
    rows = zip(
        *(
            [line + " " * (wide - display_width(click.unstyle(line))) for line in part]
            for part, wide in zip(parts, widths, strict=True)
        ),
        strict=True,
    )
    return [*lines, "", *((" " * GAP).join(row).rstrip() for row in rows)]
