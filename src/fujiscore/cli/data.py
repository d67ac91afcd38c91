"""What the commands on data sets share: their options, the data, and an estimate of the time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2, sqrt
from typing import TYPE_CHECKING, Any

import click

from fujiscore.cli import options
from fujiscore.cli.output import note
from fujiscore.features.datasets import FORMATS, Data, load
from fujiscore.rankers.adapt import RANKERS
from fujiscore.rankers.features import NAN, prepare
from fujiscore.rankers.ranking import METHODS
from fujiscore.rankers.targets import TASKS
from fujiscore.work.tiles import workers

if TYPE_CHECKING:
    from fujiscore.cli.options import Work, Writing
    from fujiscore.rankers import Features

# Nanoseconds on one core: a difference of two rows, a value sorted, a value in a tree.
RELIEF_COST, INFORMATION_COST, FOREST_COST = 0.8, 16.0, 110.0
# How often all differences are computed, in terms of relief.
PASSES = {"relief": 1, "surf": 5, "multisurf": 4}
# Work that takes longer than this many seconds is announced.
LONG = 120.0


@dataclass(frozen=True)
class Request:
    """The data set asked for, and how to rank its features."""

    data: str
    target: str | None
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    task: Any
    groups: str | None
    nan: Any
    rows: int | None
    format: str | None
    method: tuple[str, ...]
    trees: int
    seed: int


OPTIONS = (
    click.argument("data"),
    options.option("--target", "Target column: classes, or a numeric target.", section="Read", metavar="COLUMN"),
    options.option(
        "--task",
        "Whether the target is categorical (classification) or numeric (regression); auto detects it.",
        section="Read",
        type=click.Choice(TASKS),
        default="auto",
    ),
    options.option(
        "--groups",
        "Column of groups of rows that resamples keep together; not used as a feature.",
        section="Read",
        metavar="COLUMN",
    ),
    options.option(
        "--drop", "Column to leave out; repeat for several.", section="Read", metavar="COLUMN", multiple=True
    ),
    options.option(
        "--categorical",
        "Numeric column to treat as categorical; repeat for several. Text is always categorical.",
        section="Read",
        metavar="COLUMN",
        multiple=True,
    ),
    options.option(
        "--nan",
        "How to treat missing values: keep (relief uses them; other methods get the median or the most frequent "
        "category), drop the rows, or fill them in for all methods.",
        section="Read",
        type=click.Choice(NAN),
        default="keep",
    ),
    options.option(
        "--rows",
        "Use a random sample of N rows, stratified by class.",
        section="Read",
        type=options.Count(1),
        metavar="N",
    ),
    options.option("--format", "File format; guessed if not given.", section="Read", type=click.Choice(FORMATS)),
    options.option(
        "--method",
        f"Ranking method: {', '.join(RANKERS)}; repeat for several. [default: the first four]",
        type=click.Choice(tuple(RANKERS)),
        multiple=True,
        default=METHODS,
        show_default=False,
        metavar="NAME",
    ),
    options.option("--trees", "Number of trees.", type=options.Count(1), default=200),
    options.seed(),
)


request = options.packed(Request, *OPTIONS)


def read(wanted: Request) -> Data:
    """Return the data set."""
    return load(
        wanted.data,
        wanted.target,
        drop=wanted.drop,
        categorical=wanted.categorical,
        groups=wanted.groups,
        format=wanted.format,
    )


def prepared(data: Data, wanted: Request) -> Features:
    """Return the data set as the rankers take it, or a sample of its rows."""
    options: Any = {"task": wanted.task, "nan": wanted.nan, "groups": data.groups, "names": data.features}
    table = prepare(data.X, data.y, data.categorical, inspect=True, **options)
    return table if wanted.rows is None else table.sampled(wanted.rows, wanted.seed)


def notes(data: Data, others: Sequence[str]) -> list[str]:
    """Return what was decided about the data set, and other notes."""
    return [*(f"{data.name}: {text}" for text in data.notes), *others]


def announce(table: Features, wanted: Request, writing: Writing, work: Work, runs: float) -> None:
    """Print about how long it will take, if it is long, and how to make it shorter."""
    seconds = estimate((table.rows, table.categorical.size), wanted, runs) / workers(work.jobs)
    if seconds > LONG:
        rows = max(1000, int(table.rows * sqrt(60 / seconds)) // 1000 * 1000)
        shorter = f"; --rows {rows} takes a sample" if rows < table.rows else ""
        note(writing, f"{table.rows} rows: about {_duration(seconds)}{shorter}")


def estimate(shape: tuple[int, ...], wanted: Request, runs: float) -> float:
    """Return about how many seconds one core needs for so many runs of all methods."""
    n, m = shape
    depth = log2(max(n, 2))
    cost = 0.0
    passes = sum(PASSES[method] for method in dict.fromkeys(wanted.method) if method in PASSES)
    cost += passes * RELIEF_COST * n * n / 2 * m
    if "mutual_information" in wanted.method:
        cost += INFORMATION_COST * n * m * depth
    if {"genie3", "random_forest"} & set(wanted.method):
        cost += FOREST_COST * wanted.trees * n * depth * sqrt(m)
    return runs * cost * 1e-9


def _duration(seconds: float) -> str:
    """Return a rounded duration."""
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.0f} hours" if seconds < 172800 else f"{seconds / 86400:.0f} days"
