"""`fuji compare`: how similar two rankings are, overall and at chosen k, and how much of it is chance."""

from __future__ import annotations

from typing import Any

import click

from fujiscore.cli import comparison, comparison_report, inputs, interval, options
from fujiscore.cli.outputs import check_destinations, deliver, draw

DEFAULT_MEASURES = ("fuji", "jaccard")


@click.command(
    cls=options.Command,
    short_help="Compare two rankings.",
    examples=(
        "fuji compare examples/model_a.csv examples/model_b.csv",
        "fuji compare examples/scores.csv:anova examples/scores.csv:chi2 -k 10",
        "fuji compare examples/model_a.csv examples/model_b.csv --permutations 1000",
        "fuji compare examples/model_a.csv examples/model_b.csv --fail-under 0.7 --quiet",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="A B")
@options.measures(DEFAULT_MEASURES)
@options.option(
    "-k",
    "sizes",
    section="Compute",
    type=options.Count(1),
    multiple=True,
    metavar="K",
    help="The values at this k too, and the near misses at the first one; repeat for several.",
)
@options.option(
    "--permutations",
    section="Compute",
    type=options.Count(0),
    default=0,
    metavar="N",
    help="Random rankings to draw, for p-values, and z of the area.",
)
@options.option(
    "--seed", section="Compute", type=options.Count(0), default=0, metavar="N", help="The seed of the permutations."
)
@options.option(
    "--fail-under",
    section="Compute",
    type=float,
    metavar="X",
    help="Exit with 1 if the area of the first measure (FUJI, if none is chosen) is below this; "
    "with --missing bounds, if its lower bound is.",
)
@options.corrected("Let --fail-under judge the value corrected for chance.")
@options.points
@options.reading_cut_off
@options.plot("Draw the curves")
@options.writing
@options.work
def command(
    *,
    files: tuple[str, ...],
    measures: tuple[str, ...],
    sizes: tuple[int, ...],
    fail_under: float | None,
    corrected: bool,
    reading: options.Reading,
    plot: str | None,
    writing: options.Writing,
    **computing: Any,
) -> int:
    """Compare two rankings: A and B, two files or two columns of one (scores.csv:anova scores.csv:chi2).

    Prints the area under the curve of each measure over k, what chance alone would give, the value corrected for
    that (0 is chance, 1 the maximum), the same at chosen k, the curves, and the near misses that matter most.
    """
    check_destinations(writing, files, plot)
    measures = tuple(dict.fromkeys(measures))
    if reading.missing == "bounds":
        interval.refuse(measures, DEFAULT_MEASURES, reading, corrected=corrected, **computing)
    found = inputs.pair(files, reading, writing)
    if reading.missing == "bounds":
        judged = interval.report(found, sizes, computing["points"], reading, writing, plot)
        return _judge("the lower bound of AUC fuji", judged, fail_under)
    held = inputs.aligned(found, reading, writing)
    compared = _compare(held, measures, sizes, reading, writing, **computing)
    judged = _judged(compared, measures[0], corrected=corrected)
    if plot is not None:
        draw(plot, writing, [lambda ax: comparison_report.plot(compared, ax)], (6.4, 4.0))
    deliver(comparison_report.report(compared, [own.source.origin for own in found]), writing)
    return _judge(f"{'corrected ' if corrected else ''}AUC {measures[0]}", judged, fail_under)


def _compare(
    held: Any,
    measures: tuple[str, ...],
    sizes: tuple[int, ...],
    reading: options.Reading,
    writing: options.Writing,
    *,
    permutations: int,
    seed: int,
    points: options.Points,
    work: options.Work,
) -> comparison.Compared:
    """Pass the options on in the library's words; the scores are checked, and what is still negative is clipped."""
    policies = {"ties": reading.ties, "zero_tail": reading.zero_tail, "negative": "clip"}
    drawing = {"permutations": permutations, "random_state": seed, **work.arguments(writing)}
    return comparison.compare(held, measures, sizes, points, policies, drawing)


def _judged(compared: comparison.Compared, measure: str, *, corrected: bool) -> float:
    """Return the area that --fail-under judges."""
    if not corrected:
        return compared.comparison[measure].auc
    if measure not in compared.chance:
        raise click.UsageError(f"--corrected needs --permutations N for {measure}: its chance level has no formula.")
    return compared.chance[measure].corrected_auc


def _judge(what: str, judged: float, fail_under: float | None) -> int:
    """Return the exit code: 1 if the value is below the threshold."""
    if fail_under is None or judged >= fail_under:
        return 0
    click.echo(f"fuji compare: {what} is {judged:.4f}, below --fail-under {fail_under:g}", err=True)
    return 1
