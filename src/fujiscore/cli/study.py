"""`fuji study`: rank, compare, judge stability: everything about a data set's features in one go."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fujiscore import study_report as study_files
from fujiscore.cli import data as data_sets
from fujiscore.cli import options
from fujiscore.cli.outputs import Report, deliver, note
from fujiscore.cli.screen import printable, table
from fujiscore.errors import InputError
from fujiscore.resampling import SCHEMES
from fujiscore.study import study

if TYPE_CHECKING:
    from fujiscore.cli.screen import Screen
    from fujiscore.io.datasets import Data
    from fujiscore.study import Study

UNFINISHED = ".resamples"


@click.command(
    cls=options.Command,
    short_help="Rank features, compare methods, judge stability.",
    examples=(
        "fuji study iris --resamples 5 --trees 50 --permutations 200",
        "fuji study wine --resamples 5 --trees 50 --method genie3 --method random_forest --json",
    ),
)
@data_sets.asked
@options.option("--measure", "-m", section="Compute", type=options.MeasureName(), default="fuji", help="The measure.")
@options.option("--ks", section="Compute", type=options.Grid(), default="exp", help="Where to evaluate curves.")
@options.option(
    "--resamples", section="Compute", type=options.Count(3), default=20, show_default=True, help="How many resamples."
)
@options.option(
    "--scheme",
    section="Compute",
    type=click.Choice(SCHEMES),
    default="subsample",
    show_default=True,
    help="A share of the rows, rows drawn with replacement, or all but one fold.",
)
@options.option(
    "--fraction", section="Compute", type=float, default=0.8, show_default=True, help="The share of a subsample."
)
@options.option(
    "--permutations",
    section="Compute",
    type=options.Count(0),
    default=1000,
    show_default=True,
    help="For p-values; 0 for none.",
)
@options.option("--confidence", section="Compute", type=float, default=0.95, show_default=True, help="Of intervals.")
@options.option(
    "--show", "top", section="Write", type=options.Count(1), default=10, show_default=True, help="Features to list."
)
@options.option("--out", "-o", section="Write", metavar="FOLDER", help="Write tables, pictures and summary.md there.")
@options.option("--json", section="Write", is_flag=True, help="Print the summary as JSON.")
@options.option("--force", section="Write", is_flag=True, help="Replace files that are there already.")
@options.option("--quiet", "-q", section="Other", is_flag=True, help="No notes on standard error.")
@options.option("--debug", section="Other", is_flag=True, expose_value=False, help="Show a traceback on errors.")
@options.work
def command(
    *,
    asked: data_sets.Asked,
    out: str | None,
    json: bool,
    force: bool,
    quiet: bool,
    work: options.Work,
    **chosen: Any,
) -> None:
    """Say which features matter, whether methods agree beyond chance, and how stable each one is.

    DATA is as in fuji rank. Every method ranks the features on all rows and on resamples of them. Prints a summary;
    --out writes everything as files. A run that is stopped goes on where it was when it is started again with the
    same --out.
    """
    writing = options.Writing(None, json=json, csv=False, force=force, quiet=quiet)
    folder = None if out is None else _folder(Path(out), force=force)
    held = data_sets.read(asked, writing)
    data_sets.announce(held, asked, writing, work, 1 + chosen["resamples"])
    unfinished = None if folder is None else folder / UNFINISHED
    if unfinished is not None and any(unfinished.glob("resample-*.npz")):
        note(writing, f"going on with the finished resamples in {unfinished}")
    found = study(
        held.X,
        held.y,
        tuple(dict.fromkeys(asked.method)),
        features=held.features,
        categorical=held.categorical,
        trees=asked.trees,
        random_state=asked.seed,
        resume=unfinished,
        **chosen,
        **work.arguments(writing),
    )
    if folder is not None and unfinished is not None:
        written = found.save(folder)
        shutil.rmtree(unfinished)
        note(writing, f"{len(written)} files: {folder}")
        if not any(path.suffix == ".png" for path in written):
            note(writing, "no pictures: they need matplotlib, pip install 'fujiscore[plot]'")
    deliver(_report(found, held), writing)


def _folder(folder: Path, *, force: bool) -> Path:
    """Return the folder to write to, or raise, before any work, if files in it are not ours to replace."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out {folder}: this is a file. Name a folder.")
    summary = folder / study_files.SUMMARY
    ours = summary.is_file() and summary.read_text(encoding="utf-8", errors="replace").startswith(study_files.HEADING)
    taken = [name for name in ("rankings.csv", "matrix.csv", study_files.SUMMARY) if (folder / name).exists()]
    if taken and not (force or ours):
        raise InputError(f"--out {folder}: {taken[0]} is there already. Pass --force to replace it, or name another.")
    return folder


def _report(found: Study, held: Data) -> Report:
    """Return the report; as JSON with all tables."""

    def data() -> dict[str, Any]:
        tables = {
            name.removesuffix(".csv"): [dict(zip(header, row, strict=True)) for row in rows]
            for name, (header, rows) in study_files.tables(found).items()
        }
        own = {"data": held.name, "target": held.target, "measure": found.matrix.measure, **found.settings}
        return {**own, "notes": found.notes, **tables}

    return Report("study", lambda screen: _text(screen, found, held), data, (), list)


def _text(screen: Screen, found: Study, held: Data) -> list[str]:
    """Return the summary in lines that fit."""
    asked = found.settings
    size = f"{asked['rows']} rows, {asked['features']} features, {asked['classes']} classes"
    lines = [f"fuji study: {printable(held.name)}, {size}", study_files.described(found)]
    if found.curves:
        title = f"Do the methods agree? Area under the {found.matrix.measure} curve"
        lines += ["", screen.style(title, bold=True), *table(screen, *study_files.agreement(found))]
    lines += ["", screen.style("How stable is each method?", bold=True)]
    lines += table(screen, *study_files.steadiness(found))
    for line in study_files.verdicts(found) if found.comparisons else ():
        lines += screen.wrap(line)
    header, rows = study_files.ranked(found)
    shown = [[printable(cell) for cell in row] for row in rows]
    lines += ["", screen.style("Which features matter?", bold=True), *_features(screen, header, shown)]
    for text in found.notes:
        lines += ["", *screen.wrap(f"Note: {printable(text)}")]
    return lines


def _features(screen: Screen, header: list[str], rows: list[list[str]]) -> list[str]:
    """Return the top features, without the methods' own ranks where there is no room for them."""
    if sum(max(len(row[at]) for row in (header, *rows)) + 2 for at in range(len(header))) <= screen.width:
        return table(screen, header, rows)
    kept = [0, 1, *range(len(header) - 3, len(header))]
    return table(screen, [header[at] for at in kept], [[row[at] for at in kept] for row in rows])
