"""`fuji explain`: why FUJI has its value at k, item by item."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import click

import fujiscore as fj
from fujiscore.cli import inputs, options
from fujiscore.cli.compare import heading
from fujiscore.cli.output import Report, check_destinations, deliver
from fujiscore.cli.terminal import BLUE, GREEN, ORANGE, label, table
from fujiscore.pair.explain import score_text

if TYPE_CHECKING:
    from fujiscore.cli.terminal import Screen

COLOURS = {"shared": GREEN, "near miss": ORANGE, "far miss": BLUE, "opposite sign": BLUE}
ROOM_FOR_MEMBERSHIPS, ROOM_FOR_SCORES = 100, 70
HEADER = (
    "item",
    "rank_a",
    "rank_b",
    "score_a",
    "score_b",
    "membership_a",
    "membership_b",
    "contribution",
    "kind",
)


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
    cells = [list(row) for row in zip(*(_plain(column) for column in why.columns().values()), strict=True)]
    data: dict[str, Any] = {
        "a": both.names[0],
        "b": both.names[1],
        "files": list(files),
        "items": both.n_whole,
        "k": [why.k1, why.k2],
        "fuji": why.value,
        "jaccard": why.jaccard,
        "rows": [dict(zip(HEADER, row, strict=True)) for row in cells],
    }
    report = Report(
        "explain",
        lambda screen: [f"fuji explain: {heading(screen, both.names)}", *explained(screen, why, writing.show)],
        lambda: data,
        HEADER,
        lambda: cells,
        why.notes,
    )
    deliver(report, writing)


def _plain(column: Any) -> list[Any]:
    return column if isinstance(column, list) else column.tolist()


def explained(screen: Screen, why: fj.results.Explanation, rows: int | None) -> list[str]:
    """Return the decomposition and the table as lines."""
    shown = range(min(rows or len(why), len(why)))
    columns: dict[str, list[str]] = {
        "item": [label(why.items[i]) for i in shown],
        "rank A": [str(why.rank_r[i]) for i in shown],
        "rank B": [str(why.rank_s[i]) for i in shown],
        "score A": [score_text(why.score_r[i]) for i in shown],
        "score B": [score_text(why.score_s[i]) for i in shown],
        "in A": [f"{why.membership_r[i]:.4f}" for i in shown],
        "in B": [f"{why.membership_s[i]:.4f}" for i in shown],
        "credit": [f"{why.contribution[i]:.4f}" for i in shown],
        "kind": [why.kind[i] for i in shown],
    }
    if screen.width < ROOM_FOR_MEMBERSHIPS:  # of the two, one is 1 and the other the credit
        del columns["in A"], columns["in B"]
    if screen.width < ROOM_FOR_SCORES:
        del columns["score A"], columns["score B"]
    cells = [list(row) for row in zip(*columns.values(), strict=True)]
    colours = [COLOURS[kind] for kind in columns["kind"]]
    lines = [
        *([] if isnan(why.value) else [f"FUJI {why.value:.4f} at {why.sizes}; Jaccard {why.jaccard:.4f}"]),
        *screen.wrap(why.in_words() if isnan(why.value) else why.made_of()),
        "",
        *table(screen, list(columns), cells, left=(0, len(columns) - 1), colours=colours),
    ]
    more = len(why) - len(cells)
    return [*lines, f"... {more} more rows"] if more else lines
