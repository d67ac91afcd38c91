"""`fuji drift`: what changed between two versions of a model, and is it more than between seeds."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import click

import fujiscore as fj
from fujiscore.charts.result import charts_of
from fujiscore.cli import inputs, options
from fujiscore.cli.output import Report, check_destinations, deliver, draw, heading, write_page
from fujiscore.cli.terminal import GREEN, ORANGE, Screen, fitted
from fujiscore.errors import NAME, printable
from fujiscore.inputs.transforms import one_per_ranking
from fujiscore.pair.gates import require_bounds
from fujiscore.versions.drift import NOISES, ROLES
from fujiscore.versions.results import SHOWN


@dataclass(frozen=True)
class Limits:
    """What makes the command fail; the fields are the arguments of `Drift.judge`."""

    fail_under: float | None
    corrected: bool
    fail_beyond: bool
    allow_missing_features: bool


gated = options.packed(
    Limits,
    options.option("--fail-under", "Exit with 1 if the similarity is below X.", type=float, metavar="X"),
    options.corrected("Let --fail-under judge the value corrected for chance."),
    options.option(
        "--fail-beyond",
        "Exit with 1 if the change is beyond the noise, or cannot be judged.",
        is_flag=True,
    ),
    options.option(
        "--allow-missing-features",
        "Let gates pass if NEW lacks features of OLD; by default they fail.",
        is_flag=True,
    ),
)


@click.command(
    cls=options.Command,
    short_help="Judge the change between two versions of a model.",
    examples=(
        "fuji drift examples/v1.csv examples/v2.csv",
        "fuji drift examples/v1_seeds.csv examples/v2_seeds.csv --seeds",
        "fuji drift examples/v1.csv examples/v2.csv -k 5 --fail-under 0.7",
        "fuji drift examples/v1.csv examples/v2.csv --fail-under 0.5 --corrected --json",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="OLD NEW")
@options.option(
    "--reference-resamples -r reference_resamples",
    "Rankings of OLD from other seeds or resamples, one per column or file; repeat for several files.",
    multiple=True,
    metavar="FILE",
)
@options.option(
    "--current-resamples -c current_resamples",
    "Rankings of NEW from other seeds or resamples, likewise.",
    multiple=True,
    metavar="FILE",
)
@options.option(
    "--seeds",
    "OLD and NEW have one ranking per seed: compare the first of each; all of them measure the noise.",
    is_flag=True,
)
@options.option(
    "--noise",
    "What the resamples differ in; used in the wording of the verdict.",
    type=click.Choice(tuple(NOISES)),
    default="seeds",
)
@options.option(
    "--measure -m measure", "Measure, as listed by 'fuji measures'.", type=options.MeasureName(), default="fuji"
)
@options.option("-k k", "Compare only the top K, instead of the area over all k.", type=options.Count(1), metavar="K")
@options.option("--ks", "Where to evaluate curves.", type=options.GridType())
@options.option(
    "--confidence",
    "Confidence level: a change is beyond the noise if p is at most 1 - P.",
    type=float,
    default=0.95,
    metavar="P",
)
@options.option(
    "--permutations",
    "Number of permutations for the p-value against chance. The default is 1000 if there is no closed form.",
    type=options.Count(0),
    metavar="N",
)
@options.seed("Seed of permutations and random splits.")
@gated
@options.reading_versions
@options.plot("Draw the shares of the features that changed most")
@options.html
@options.writing_markdown
@options.work_anywhere
def command(
    *,
    files: tuple[str, ...],
    reference_resamples: tuple[str, ...],
    current_resamples: tuple[str, ...],
    seeds: bool,
    measure: fj.results.Measure,
    k: int | None,
    ks: Any,
    reading: options.Reading,
    limits: Limits,
    plot: str | None,
    html: str | None,
    writing: options.Writing,
    work: options.Work,
    **chosen: Any,
) -> int:
    """Judge the change between two versions of a model: OLD and NEW, files of features and importances.

    Prints the verdict, how similar the versions are and how much of it is chance, the features that changed most in
    share (the score over the sum of its version's scores) and in rank, and those that are new, vanished or of opposite
    sign. With rankings by several seeds of the versions (-r and -c, or --seeds), the verdict says whether the change is
    more than between seeds, by a permutation test; four of each are enough for p below 0.05.

    Gates (--fail-...) set the exit code. Features of OLD that NEW lacks fail them.
    """
    read = [*files, *reference_resamples, *current_resamples]
    check_destinations(writing, read, plot, html)
    require_bounds(measure, fail_under=limits.fail_under, corrected=limits.corrected)
    if k is not None and ks is not None:
        raise click.UsageError("-k and --ks both say where to evaluate: pass one of them.")
    if seeds and (reference_resamples or current_resamples):
        raise click.UsageError("--seeds takes the resamples from OLD and NEW: leave out -r and -c.")
    if len(files) != 2:
        raise click.UsageError(f"two versions can be compared; got {len(files)}. Name OLD and NEW.")
    source = inputs.Inputs(reading, read)
    transforms = one_per_ranking(reading.transform, ROLES)
    own: Any = {"missing": "zero", "universe": None}
    old, new = (source.read([file], **own, transform=one) for file, one in zip(files, transforms, strict=True))
    resamples = zip((reference_resamples, current_resamples), transforms, strict=True)
    noise = [source.read(paths, universe=None, transform=one) if paths else None for paths, one in resamples]
    result = fj.drift(
        old[0] if seeds else old,
        new[0] if seeds else new,
        measure,
        reference_resamples=old if seeds else noise[0],
        current_resamples=new if seeds else noise[1],
        k=k,
        ks=ks or "exp",
        random_state=chosen.pop("seed"),
        missing=reading.missing,  # type: ignore[arg-type]
        universe=source.universe,
        **chosen,
        **reading.sets,
        **work.arguments(writing),
    )
    if seeds:
        first = f"comparing the first rankings, {printable(old.names[0], NAME)} and {printable(new.names[0], NAME)}"
        result = replace(result, notes=(first, *result.notes))
    verdict = result.judge(**asdict(limits))
    if plot is not None:
        draw(plot, writing, charts_of(result))
    if html is not None:
        from fujiscore.versions.page import drift as page_of

        write_page(html, writing, page_of(result, verdict.lines()))
    report = Report(
        "drift",
        lambda screen: _text(screen, result, writing.show or SHOWN),
        lambda: {"files": list(files), **result.to_dict()},
        result.columns,
        result.notes,
        verdict,
        lambda: result.to_markdown(rows=writing.show or SHOWN, verdict=verdict.lines()),
    )
    return deliver(report, writing)


def _text(screen: Screen, result: fj.results.Drift, show: int) -> list[str]:
    """Return the report as lines."""
    colour = {True: ORANGE, False: GREEN, None: None}[result.beyond]
    lines = [heading(screen, "drift", result.names, ("OLD", "NEW"))]
    lines += [screen.style(line, colour, bold=True) for line in screen.wrap(f"Verdict: {result.verdict}")]
    words = [*(() if result.noise is None else result.noise.in_words()), *result.counts()]
    lines += [text for line in words for text in screen.wrap(line)]
    lines += ["", *fitted(screen, result.level_table(), "")]
    for table in result.mover_tables(show):
        lines += ["", *fitted(screen, table)]
    return lines
