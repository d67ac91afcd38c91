"""`fuji explain`: why FUJI has its value at k, item by item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import fujiscore as fj
from fujiscore.cli import inputs, options
from fujiscore.cli.comparison_report import heading
from fujiscore.cli.outputs import Report, check_destinations, deliver
from fujiscore.cli.screen import BLUE, GREEN, ORANGE, printable, table

if TYPE_CHECKING:
    from collections.abc import Hashable

    from fujiscore.cli.screen import Screen

COLOURS = {"shared": GREEN, "near miss": ORANGE, "far miss": BLUE}
ROOM_FOR_MEMBERSHIPS, ROOM_FOR_SCORES = 100, 70
NUMBERS = ("rank_a", "rank_b", "score_a", "score_b", "membership_a", "membership_b", "contribution")


@click.command(
    cls=options.Command,
    short_help="Explain FUJI at k, item by item.",
    examples=(
        "fuji explain examples/model_a.csv examples/model_b.csv -k 10",
        "fuji explain examples/model_a.csv examples/model_b.csv -k 5 --csv",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="A B")
@options.option(
    "-k", "k", section="Compute", type=options.Count(1), default=10, show_default=True, metavar="K", help="The top K."
)
@options.option(
    "--rows", section="Write", type=options.Count(1), metavar="N", help="Print only the first N rows of the table."
)
@options.reading
@options.writing
def command(
    *, files: tuple[str, ...], k: int, rows: int | None, reading: options.Reading, writing: options.Writing
) -> None:
    """Explain FUJI at k: which items are shared, which are near misses, and how near.

    One row an item of the two top sets together, the near misses that matter most first. The contributions sum to
    FUJI's numerator; the number of rows is its denominator.
    """
    check_destinations(writing, files)
    found = inputs.pair(files, reading, writing)
    held = inputs.aligned(found, reading, writing)
    if k > held.n:
        raise click.UsageError(f"-k must lie between 1 and the number of items, {held.n}; got {k}.")
    policies: Any = {"ties": reading.ties, "zero_tail": reading.zero_tail, "negative": "clip"}
    why = fj.explain(held.scores[0], held.scores[1], k, **policies)
    items = [held.label(int(str(position))) for position in why.items]
    columns = [items, why.rank_r, why.rank_s, why.score_r, why.score_s]
    columns += [why.membership_r, why.membership_s, why.contribution, why.kind]
    cells = [list(row) for row in zip(*(_plain(column) for column in columns), strict=True)]
    header = ["item", *NUMBERS, "kind"]
    data: dict[str, Any] = {
        "a": {"name": held.names[0], "origin": found[0].source.origin},
        "b": {"name": held.names[1], "origin": found[1].source.origin},
        "items": held.n,
        "k": [why.k1, why.k2],
        "fuji": why.value,
        "jaccard": why.jaccard,
        "rows": [dict(zip(header, row, strict=True)) for row in cells],
    }
    text = Report(
        "explain", lambda screen: _text(screen, held.names, why, items, rows), lambda: data, header, lambda: cells
    )
    deliver(text, writing)


def _plain(column: Any) -> list[Any]:
    return column if isinstance(column, list) else column.tolist()


def _text(
    screen: Screen, names: tuple[str, ...], why: fj.Explanation, items: list[Hashable], rows: int | None
) -> list[str]:
    """Return the decomposition and the table as lines."""
    sizes = f"k = {why.k1}" if why.k1 == why.k2 else f"k = ({why.k1}, {why.k2})"
    counts = {kind: why.kind.count(kind) for kind in COLOURS}
    credit = float(why.contribution.sum()) - counts["shared"]
    made = (
        f"({counts['shared']} shared + {credit:.4f} credit for {counts['near miss']} near and {counts['far miss']} far "
        f"misses) / {len(why)} items"
    )
    shown = range(min(rows or len(why), len(why)))
    columns: dict[str, list[str]] = {
        "item": [printable(items[i]) for i in shown],
        "rank A": [str(why.rank_r[i]) for i in shown],
        "rank B": [str(why.rank_s[i]) for i in shown],
        "score A": [f"{why.score_r[i]:.4g}" for i in shown],
        "score B": [f"{why.score_s[i]:.4g}" for i in shown],
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
        f"fuji explain: {heading(screen, names)}",
        f"FUJI {why.value:.4f} at {sizes}; Jaccard {why.jaccard:.4f}",
        *screen.wrap(made),
        "",
        *table(screen, list(columns), cells, left=(0, len(columns) - 1), colours=colours),
    ]
    more = len(why) - len(cells)
    return [*lines, f"... {more} more rows"] if more else lines
