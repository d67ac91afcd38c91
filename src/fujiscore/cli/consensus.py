"""`fuji consensus`: one ranking from many, and how well each list agrees with it."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

import fujiscore as fj
from fujiscore.charts.kinds import Line, Lines
from fujiscore.charts.result import charts_of
from fujiscore.charts.terminal import side_by_side
from fujiscore.cli import inputs, options
from fujiscore.cli.output import Report, check_destinations, deliver, draw
from fujiscore.cli.terminal import BLUE, Screen, fitted
from fujiscore.inference.multiplicity import ADJUSTMENTS
from fujiscore.many.aggregation import METHODS
from fujiscore.text.tabular import data_of, summary_of, tables_of

SHOWN = 20


@click.command(
    cls=options.Command,
    short_help="Combine many rankings into one.",
    examples=(
        "fuji consensus examples/scores.csv",
        "fuji consensus examples/scores.csv --method rra --show 5",
        "fuji consensus examples/scores.csv --method median --csv",
    ),
)
@click.argument("files", nargs=-1, required=True)
@options.option(
    "--method",
    "Mean rank, median rank, reciprocal rank fusion, or robust rank aggregation with p-values.",
    type=click.Choice(list(METHODS)),
    default="borda",
)
@options.option("--exact", "Exact p-values of rra, instead of Bonferroni's correction.", is_flag=True)
@options.option(
    "--adjust",
    "Adjust p-values by Benjamini-Hochberg or Holm.",
    type=click.Choice(list(ADJUSTMENTS)),
    default="bh",
)
@options.option("--measure -m", "Measure, as listed by 'fuji measures'.", type=options.MeasureName(), default="jaccard")
@options.corrected("Correct for chance: 0 is chance level, 1 the maximum.")
@options.option(
    "--sequential",
    "Also show sequential rank agreement: how much all lists agree at each depth (not in CSV).",
    is_flag=True,
)
@options.option(
    "--permutations",
    "Number of random orders for the band of --sequential.",
    type=options.Count(0),
    default=200,
    metavar="N",
)
@options.seed()
@options.points
@options.reading
@options.plot("Draw each list's agreement with the consensus, and with --sequential that of all lists by depth")
@options.writing
@options.work
def command(
    *,
    files: tuple[str, ...],
    method: Any,
    exact: bool,
    adjust: Any,
    measure: fj.results.Measure,
    corrected: bool,
    sequential: bool,
    permutations: int,
    seed: int,
    points: options.Points,
    reading: options.Reading,
    plot: str | None,
    writing: options.Writing,
    work: options.Work,
) -> None:
    """Combine many rankings into one, and show how well each of them agrees with it.

    Prints the best items of the consensus, and each list's similarity with it and with the consensus of the other
    lists, which the list itself cannot raise. --csv has all items.
    """
    context = click.get_current_context()
    if not sequential and context.get_parameter_source("permutations") is not click.core.ParameterSource.DEFAULT:
        raise click.UsageError("--permutations needs --sequential, whose band it is for.")
    check_destinations(writing, files, plot)
    rankings = inputs.read(files, reading)
    result = fj.consensus(
        rankings,
        method,
        exact=exact,
        adjust=adjust,
        measure=measure,
        ks=points.sizes(rankings.depth, "exp"),
        corrected=corrected,
        **reading.sets,
        **work.arguments(writing),
    )
    agreement = None
    if sequential:
        agreement = fj.stats.sequential_rank_agreement(
            rankings, permutations=permutations, random_state=seed, **work.arguments(writing)
        )
    if plot is not None:
        draw(plot, writing, [*charts_of(result), *(charts_of(agreement) if agreement else ())])
    deliver(_report(result, agreement, writing.show), writing)


def _report(result: fj.results.Consensus, agreement: fj.results.RankAgreement | None, show: int | None) -> Report:
    """Return the report in its three forms."""
    depths = {} if agreement is None else {"sequential_rank_agreement": data_of(agreement)}
    return Report(
        "consensus",
        lambda screen: [*_text(screen, result, show or SHOWN), *_depths(screen, agreement)],
        lambda: {**result.to_dict(), **depths},
        result.columns,
        tuple(dict.fromkeys((*result.notes, *(agreement.notes if agreement else ())))),
    )


def _text(screen: Screen, result: fj.results.Consensus, show: int) -> list[str]:
    """Return the best items, and the agreement of each list."""
    lines = [f"fuji consensus: {result.method} of {len(result.names)} rankings of {result.ranking.n} items"]
    for table in tables_of(result, show):
        lines += ["", *fitted(screen, table)]
    return lines


def _depths(screen: Screen, agreement: fj.results.RankAgreement | None) -> list[str]:
    """Return what sequential rank agreement says, and its curve as a share of the mean of random orders."""
    if agreement is None:
        return []
    lines = ["", *(text for line in summary_of(agreement) for text in screen.wrap(line))]
    if agreement.expected is None or agreement.ks.size == 1 or not agreement.expected.all():
        return lines
    share = np.minimum(agreement.values / agreement.expected, 1.0)
    title = "by depth: 0 perfect agreement, 1 random order or worse"
    return [*lines, "", *side_by_side(screen, [Lines(agreement.ks, [Line(share)], title=title)], (BLUE,))]
