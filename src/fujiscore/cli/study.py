"""`fuji study`: rank, compare, judge stability: everything about a data set's features in one go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from fujiscore.cli import data as data_sets
from fujiscore.cli import options
from fujiscore.cli.output import Report, check_destinations, deliver, note, write_page
from fujiscore.cli.terminal import Screen, fitted, label
from fujiscore.errors import counted
from fujiscore.features import files as study_files
from fujiscore.features import report as study_report
from fujiscore.features.resampling import SCHEMES
from fujiscore.features.study import Study, study
from fujiscore.work.files import Results, results_folder

if TYPE_CHECKING:
    from fujiscore.features.datasets import Data

SHOWN = 10


@click.command(
    cls=options.Command,
    short_help="Rank features, compare methods, judge stability.",
    examples=(
        "fuji study iris --resamples 5 --trees 50 --permutations 200",
        "fuji study wine --resamples 5 --method relief --method genie3 --json",
        "fuji study diabetes --resamples 5 --trees 50 --permutations 200",
    ),
)
@data_sets.request
@options.option("--measure -m", "Measure, as listed by 'fuji measures'.", type=options.MeasureName(), default="fuji")
@options.option("--ks", "Where to evaluate curves.", type=options.GridType(), default="exp")
@options.option("--resamples", "Number of resamples.", type=options.Count(3), default=20)
@options.option(
    "--scheme",
    "How to resample: a fraction of the rows, rows with replacement, all but one fold, or growing parts in time order.",
    type=click.Choice(SCHEMES),
    default="subsample",
)
@options.option("--fraction", "Fraction of the rows in a subsample.", type=float, default=0.8)
@options.option(
    "--permutations", "Number of permutations for p-values; 0 for none.", type=options.Count(0), default=1000
)
@options.confidence
@options.html
@options.writing_folder
@options.option(
    "--figures kind",
    "Format of the figures in the folder. The default is png.",
    section="Write",
    type=click.Choice(study_files.FORMATS),
)
@options.work_anywhere
def command(
    *,
    request: data_sets.Request,
    html: str | None,
    writing: options.Writing,
    kind: str | None,
    work: options.Work,
    **chosen: Any,
) -> None:
    """Rank features by several methods, compare the methods beyond chance, and judge how stable each one is.

    DATA is as in fuji rank. Every method ranks the features on all rows and on resamples of them. Prints a summary;
    --out writes everything as files. Interrupted runs resume when started again with the same --out.
    """
    check_destinations(replace(writing, out=None), [request.data], html=html)
    if kind is not None and writing.out is None:
        raise click.UsageError("--figures is the format of the figures in a folder: pass --out DIR too.")
    with _claim(writing) as results:
        data = data_sets.read(request)
        table = data_sets.prepared(data, request)
        data_sets.announce(table, request, writing, work, 1 + chosen["resamples"])
        result = study(
            table,
            methods=tuple(dict.fromkeys(request.method)),
            trees=request.trees,
            random_state=request.seed,
            checkpoint=None if results is None else results.resume,
            top=writing.show or SHOWN,
            **chosen,
            **work.arguments(writing),
        )
        if results is not None:
            _save(result, results, writing, kind or "png")
    if html is not None:
        from fujiscore.features.page import study as page_of

        write_page(html, writing, page_of(replace(result, notes=tuple(data_sets.notes(data, result.notes))), data.name))
    report = Report(
        "study",
        lambda screen: _text(screen, result, data),
        lambda: {"data": data.name, "target": data.target, **result.to_dict()},
        notes=data_sets.notes(data, result.notes),
    )
    deliver(report, replace(writing, out=None))


@contextmanager
def _claim(writing: options.Writing) -> Iterator[Results | None]:
    """Yield the folder to be filled, None if there is none; raises, before any work, if it cannot be written."""
    if writing.out is None:
        yield None
        return
    with results_folder(writing.out, study_files.MADE_BY, argument="out", force=writing.force) as results:
        try:
            yield results
        except KeyboardInterrupt:
            finished = len(list(results.resume.glob("resample-*")))
            if finished:
                note(writing, f"{counted(finished, 'finished resample')} kept: the same command resumes")
            raise


def _save(result: Study, results: Results, writing: options.Writing, kind: str) -> None:
    """Write all files, and say what was written."""
    if result.resumed:
        note(writing, f"resumed with {result.resumed} finished resamples of an interrupted run")
    study_files.write(result, results.new, picture_format=kind)
    written = results.publish()
    note(writing, f"{len(written)} files: {writing.out}")
    if not any(path.suffix == f".{kind}" for path in written):
        note(writing, "no figures: they need matplotlib, pip install 'fujiscore[plot]'")


def _text(screen: Screen, result: Study, data: Data) -> list[str]:
    """Return the summary in lines that fit."""
    lines = [
        f"fuji study: {label(data.name)}, {study_report.sizes(result)}",
        *screen.wrap(study_report.described(result)),
    ]
    if result.curves:
        title = f"Do the methods agree? {study_report.area(result)}"
        lines += ["", *fitted(screen, study_report.agreement(result), title)]
    lines += ["", *fitted(screen, study_report.steadiness(result), "How stable is each method?")]
    for line in study_report.verdicts(result) if result.comparisons else ():
        lines += screen.wrap(line)
    lines += ["", *fitted(screen, study_report.ranked(result), "Which features matter?")]
    if result.ranks:
        lines += ["", *screen.wrap(f"{study_report.TIERS}:")]
    for line in study_report.tiers(result):
        lines += screen.wrap(line)
    return lines
