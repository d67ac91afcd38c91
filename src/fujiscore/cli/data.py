"""What the commands on data sets share: their options, the data, and an estimate of the time. Imports click."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from math import log2, sqrt
from typing import TYPE_CHECKING, Any

import click

from fujiscore.cli import options
from fujiscore.cli.output import note
from fujiscore.errors import InputError, first_few
from fujiscore.io.datasets import FORMATS, NAN, Data, load
from fujiscore.rankers.ranking import METHODS
from fujiscore.tiles import workers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fujiscore.cli.options import Work, Writing

# Nanoseconds on one core: a difference of two rows, a value sorted, a value in a tree.
RELIEF_COST, INFORMATION_COST, FOREST_COST = 0.8, 16.0, 110.0
# Work that takes longer than this many seconds is announced.
LONG = 120.0


@dataclass(frozen=True)
class Asked:
    """The data set asked for, and how to rank its features."""

    data: str
    target: str | None
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    nan: str
    rows: int | None
    format: str | None
    method: tuple[str, ...]
    trees: int
    seed: int


OPTIONS = (
    click.argument("data"),
    options.option("--target", "Column of classes.", section="Read", metavar="COLUMN"),
    options.option("--drop", "Column to leave out; repeat.", section="Read", metavar="COLUMN", multiple=True),
    options.option(
        "--categorical",
        "Column of numbers that stand for categories; repeat. Text is always categorical.",
        section="Read",
        metavar="COLUMN",
        multiple=True,
    ),
    options.option(
        "--nan",
        "How to treat missing values: keep (relief only), drop the rows, or fill in medians.",
        section="Read",
        type=click.Choice(NAN),
        default="keep",
    ),
    options.option("--rows", "Use a stratified sample of N rows.", section="Read", type=options.Count(1), metavar="N"),
    options.option("--format", "File format; guessed if not given.", section="Read", type=click.Choice(FORMATS)),
    options.option(
        "--method",
        f"Ranking method: {', '.join(METHODS)}; repeat for several. [default: all]",
        type=click.Choice(METHODS),
        multiple=True,
        default=METHODS,
        show_default=False,
        metavar="NAME",
    ),
    options.option("--trees", "Number of trees.", type=options.Count(1), default=200),
    options.seed(),
)


def asked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of data sets to a command, which gets them as one object, `asked`."""

    @wraps(function)
    def call(**values: Any) -> Any:
        packed = Asked(**{name: values.pop(name) for name in Asked.__dataclass_fields__})
        return function(**values, asked=packed)

    decorated: Callable[..., Any] = call
    for add in reversed(OPTIONS):
        decorated = add(decorated)
    return decorated


def read(wanted: Asked) -> Data:
    """Return the data set; missing values need methods that can use them."""
    data = load(
        wanted.data,
        wanted.target,
        drop=wanted.drop,
        categorical=wanted.categorical,
        nan=wanted.nan,
        rows=wanted.rows,
        random_state=wanted.seed,
        format=wanted.format,
    )
    strict = [method for method in wanted.method if method != "relief"]
    if data.lacking and strict:
        raise InputError(
            f"{data.name} has missing values ({first_few(data.lacking)}), which {strict[0]} cannot use. Pass --nan "
            "fill or --nan drop, leave columns out with --drop, or pass --method relief alone."
        )
    return data


def notes(data: Data, others: Sequence[str]) -> list[str]:
    """Return what was decided about the data set, and other notes."""
    return [*(f"{data.name}: {text}" for text in data.notes), *others]


def announce(data: Data, wanted: Asked, writing: Writing, work: Work, runs: float) -> None:
    """Print about how long it will take, if it is long, and how to make it shorter."""
    seconds = estimate(data.X.shape, wanted, runs) / workers(work.jobs)
    if seconds > LONG:
        rows = max(1000, int(data.X.shape[0] * sqrt(60 / seconds)) // 1000 * 1000)
        shorter = f"; --rows {rows} takes a sample" if rows < data.X.shape[0] else ""
        note(writing, f"{data.X.shape[0]} rows: about {_duration(seconds)}{shorter}")


def estimate(shape: tuple[int, ...], wanted: Asked, runs: float) -> float:
    """Return about how many seconds one core needs for so many runs of all methods."""
    n, m = shape
    depth = log2(max(n, 2))
    cost = 0.0
    if "relief" in wanted.method:
        cost += RELIEF_COST * n * n / 2 * m
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
