"""`fuji explain`: why FUJI has its value at k, item by item."""

from __future__ import annotations

import click

import fujiscore as fj
from fujiscore.cli import inputs, options
from fujiscore.cli.output import Report, check_destinations, deliver, heading
from fujiscore.cli.terminal import BLUE, GREEN, ORANGE, Screen, fitted
from fujiscore.text.tabular import tables_of

COLOURS = {"shared": GREEN, "near miss": ORANGE, "far miss": BLUE, "opposite sign": BLUE}


@click.command(
    cls=options.Command,
    short_help="Explain FUJI at k, item by item.",
    examples=(
        "fuji explain examples/model_a.csv examples/model_b.csv -k 10",
        "fuji explain examples/model_a.csv examples/model_b.csv -k 5 --csv",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="A B")
@options.option("-k k", "Number of top items.", type=options.Count(1), default=10, metavar="K")
@options.reading
@options.writing
def command(*, files: tuple[str, ...], k: int, reading: options.Reading, writing: options.Writing) -> None:
    """Explain FUJI at k: which items are shared, which are near misses, and how near.

    One row per item of the two top sets together, the near misses that matter most first. The contributions sum to
    FUJI's numerator; the number of rows is its denominator.
    """
    check_destinations(writing, files)
    both = inputs.pair(files, reading)
    why = fj.explain(both[0], both[1], k, **reading.sets)
    report = Report(
        "explain",
        lambda screen: [heading(screen, "explain", both.names), *explained(screen, why, writing.show)],
        lambda: {**why.to_dict(), "a": both.names[0], "b": both.names[1], "files": list(files), "items": both.n_whole},
        why.named_columns,
        why.notes,
    )
    deliver(report, writing)


def explained(screen: Screen, why: fj.results.Explanation, rows: int | None) -> list[str]:
    """Return what FUJI is made of and the table as lines, each kind of row in its colour."""
    (table,) = tables_of(why, rows)
    return fitted(screen, table, colours=[COLOURS[kind] for kind in why.kind[: len(table.rows)]])
