"""`fuji paper`: recompute the paper that introduced FUJI, and judge its statements."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import click

from fujiscore.cli import options
from fujiscore.cli.output import Report, deliver, note
from fujiscore.cli.terminal import BLUE, GREEN, GREY, ORANGE, Screen
from fujiscore.paper import Reproduction, compute, fetch
from fujiscore.paper.build import claim, fill, peak_memory
from fujiscore.paper.record import CAVEAT, DIFFERS, FAILS, HOLDS, UNCHECKED
from fujiscore.paper.sources import BASE_URL

COLOURS = {HOLDS: GREEN, CAVEAT: BLUE, DIFFERS: ORANGE, FAILS: ORANGE, UNCHECKED: GREY}
# An environment variable: the address of a copy of the authors' files.
ADDRESS = "FUJI_PAPER_URL"


@click.command(
    cls=options.Command,
    short_help="Recompute the paper and check its statements.",
    examples=("fuji paper --no-rankings",),
)
@options.option(
    "--rankings",
    "Folder of the 96 published .fimp files; downloaded once from the authors' repository by default.",
    section="Read",
    metavar="DIR",
)
@options.option("--no-rankings", "Compute only what needs no data; download nothing.", section="Read", is_flag=True)
@options.option(
    "--data",
    "Folder of raw data (NAME.parquet with a column target), to check statements about RF with correct RF too.",
    section="Read",
    metavar="DIR",
)
@options.writing_folder
@options.option("--no-progress", "Show no progress bar.", section="Other", is_flag=True)
def command(
    *, rankings: str | None, no_rankings: bool, data: str | None, writing: options.Writing, no_progress: bool
) -> None:
    """Recompute the paper that introduced FUJI, and check its statements.

    Computes its scenarios, table of properties, bounds, correction for chance, study on 24 data sets and case study,
    and prints a verdict on each statement. --out DIR also writes index.html with all results, the figures as PNG and
    SVG, the numbers as CSV, and claims.md and claims.json.
    """
    if rankings is not None and no_rankings:
        raise click.UsageError("--rankings and --no-rankings exclude each other: pass one of them.")
    progress = False if no_progress or writing.quiet else None
    out = None if writing.out is None else Path(writing.out)
    with nullcontext() if out is None else claim(out, force=writing.force) as results:
        folder = None if rankings is None else Path(rankings)
        if folder is None and not no_rankings:
            folder = fetch(os.environ.get(ADDRESS) or BASE_URL, progress=progress)
            note(writing, f"rankings: {folder}")
        result = compute(folder, None if data is None else Path(data))
        if result.altered:
            note(writing, f"{len(result.altered)} ranking files are not the published ones ({result.altered[0]}, ...)")
        note(writing, f"computing took {result.seconds:.1f} s")
        if results is not None:
            seconds = fill(result, results.new, progress=progress)
            results.publish()
            note(writing, f"figures took {seconds:.1f} s; peak memory: {peak_memory() or 0:.0f} MB")
            note(writing, f"page: {Path(str(out)) / 'index.html'}")
    report = Report("paper", lambda screen: _text(screen, result), result.statements)
    deliver(report, replace(writing, out=None))


def _text(screen: Screen, result: Reproduction) -> list[str]:
    """Return the statements, wrapped, with their verdicts; with correct RF too where that was judged."""
    counts = ", ".join(f"{verdict} {count}" for verdict, count in result.verdicts.items() if count)
    lines = [f"fuji paper: {len(result.claims)} statements: {counts}"]
    for section in result.sections:
        if section.claims:
            lines += ["", screen.style(section.title, bold=True)]
        for statement in section.claims:
            first, *rest = screen.wrap(f"{statement.number:>2}  {statement.statement}")
            lines += [first, *(f"    {line}" for line in rest), f"    {_verdict(screen, statement.judged.verdict)}"]
            if statement.judged.verdict in {CAVEAT, DIFFERS, FAILS}:
                lines += [
                    f"    {line}" for line in replace(screen, width=screen.width - 4).wrap(statement.judged.measured)
                ]
            if statement.correct_rf is not None and statement.correct_rf.verdict != UNCHECKED:
                lines.append(f"    with correct RF: {_verdict(screen, statement.correct_rf.verdict)}")
    return lines


def _verdict(screen: Screen, verdict: str) -> str:
    """Return a verdict in its colour."""
    return screen.style(verdict, COLOURS[verdict], bold=True)
