"""`fuji stability`: how stable a ranking method is, and whether another one is more stable."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import fujiscore as fj
from fujiscore.charts.figure import LONGEST
from fujiscore.charts.result import charts_of
from fujiscore.charts.terminal import side_by_side
from fujiscore.cli import inputs, options
from fujiscore.cli.between import report as report_between
from fujiscore.cli.output import Report, check_destinations, deliver, draw, write_page
from fujiscore.cli.terminal import BLUE, ORANGE, fitted, label
from fujiscore.errors import InputError, printable, short_names
from fujiscore.inference.intervals import ALTERNATIVES
from fujiscore.many.estimates import are_paired
from fujiscore.many.ranks import item_ranks
from fujiscore.many.stability_tests import compare_stabilities
from fujiscore.measures.registry import find
from fujiscore.text.numbers import p_words
from fujiscore.text.tabular import data_of, schema, tables_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fujiscore.cli.terminal import Screen
    from fujiscore.inference.intervals import Alternative

LEAST = 3
# Items in the table and the figure of ranks, and the most that a figure has room for.
DRAWN, MOST_DRAWN = 30, 200
COLUMNS = ("group", "measure", "area", "stability", "low", "high", "standard_error", "rankings", "confidence")


class Versus(options.Command):
    """A command where all file names after --versus belong to it, so that the shell's a*.csv can stand there."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat --versus before each of its files."""
        expanded, versus = [], False
        for argument in args:
            if argument == "--versus":
                versus = True
            elif versus and (not argument.startswith("-") or argument == inputs.STANDARD_INPUT):
                expanded += ["--versus", argument]
            else:
                versus = False
                expanded.append(argument)
        if args and args[-1] == "--versus":
            expanded.append("--versus")
        return super().parse_args(ctx, expanded)


@click.command(
    cls=Versus,
    short_help="Measure how stable a ranking method is.",
    examples=(
        "fuji stability examples/resamples_forest.csv",
        "fuji stability examples/resamples_forest.csv examples/resamples_tree.csv",
        "fuji stability examples/resamples_forest.csv --corrected --confidence 0.9",
        "fuji stability examples/resamples_forest.csv --ranks -k 5",
    ),
)
@click.argument("files", nargs=-1, required=True)
@options.option(
    "--versus",
    "Files of another method, to compare the two; all names up to the next option.",
    multiple=True,
    metavar="FILES...",
)
@options.option(
    "--paired/--unpaired",
    "Whether the i-th rankings of both methods come from the same resample. [default: if their names agree]",
    default=None,
)
@options.option(
    "--alternative",
    "Test for any difference, or for a second method that is more (greater) or less stable.",
    type=click.Choice(ALTERNATIVES),
    default="two-sided",
    show_default=True,
)
@options.option("--ranks", "Rank the items instead: mean ranks with intervals, and tiers.", is_flag=True)
@options.option("-k k", "With --ranks: depth of the top. [default: 10]", type=options.Count(1), metavar="K")
@options.option("--between", "Compare the methods with each other instead; two or three files.", is_flag=True)
@options.confidence
@options.measures(("fuji",))
@options.corrected("Correct for chance: 0 is chance level, 1 the maximum.")
@options.points
@options.reading
@options.plot("Draw stability over k")
@options.html
@options.writing
@options.work_anywhere
def command(
    *,
    files: tuple[str, ...],
    versus: tuple[str, ...],
    paired: bool | None,
    alternative: Alternative,
    ranks: bool,
    k: int | None,
    between: bool,
    confidence: float,
    measures: tuple[fj.results.Measure, ...],
    corrected: bool,
    points: options.Points,
    reading: options.Reading,
    plot: str | None,
    html: str | None,
    writing: options.Writing,
    work: options.Work,
) -> None:
    """Measure how stable a ranking method is: the mean similarity of its rankings over resamples, folds or seeds.

    Name at least three files with one ranking each, or a file with one column per ranking. Two such files, or
    --versus, are two methods: each gets its stability, and the difference an interval and a p-value.

    With --ranks, the items of one method: the mean rank of each with its interval, how often it is in the top k, and
    tiers: items of different tiers differ significantly in mean rank.

    With --between, each of two files holds the rankings of a method: how similar the methods are to each other. With a
    third file: is the first method more similar to the second (--alternative greater) or to the third (less).
    """
    check_destinations(writing, [*files, *versus], plot, html)
    if between and (versus or ranks or plot or k or html):
        raise click.UsageError("--between takes no --versus, --ranks, -k, --plot or --html.")
    groups = _methods(files, reading) if between else _groups(files, versus, reading)
    for name, rankings in groups.items():
        if len(rankings) < LEAST:
            raise InputError(f"{name}: stability needs at least {LEAST} rankings of a method; got {len(rankings)}.")
    chosen: Any = {"corrected": corrected, "confidence": confidence, **reading.sets, **work.arguments(writing)}
    if between:
        ks = points.sizes(min(rankings.depth for rankings in groups.values()), "exp")
        chosen |= {"paired": paired, "missing": reading.missing, "ks": ks}
        deliver(report_between(groups, measures, alternative, **chosen), writing)
        return
    if (paired is not None or alternative != "two-sided") and len(groups) != 2:
        option = "--alternative needs" if paired is None else "--paired and --unpaired need"
        raise click.UsageError(f"{option} two methods: name the second with --versus.")
    if ranks:
        plain = not corrected and points == options.Points(None, None) and [own.name for own in measures] == ["fuji"]
        name, rankings = _only(groups, plain=plain, html=html)
        _deliver_ranks(item_ranks(rankings, 10 if k is None else k, confidence), name, plot, writing)
        return
    if k is not None:
        raise click.UsageError(f"-k needs --ranks; for the stability at one k, pass --ks {k}.")
    results, curves = [], []
    for measure in {own.name: own for own in measures}.values():
        grids = [points.sizes(rankings.depth, "exp") for rankings in groups.values()]
        both = list(zip(groups.values(), grids, strict=True))
        curves.append([fj.stability_curve(rankings, measure, ks=ks, **chosen) for rankings, ks in both])
        stable = [fj.stability(rankings, measure, ks=ks, **chosen) for rankings, ks in both]
        results.append((stable, _compared(stable, paired, alternative)))
    names = tuple(groups)
    if plot is not None:
        _draw(plot, writing, names, curves)
    _write_page(html, writing, names, results, curves)
    deliver(_report(names, results, curves, list(groups.values())), writing)


def _write_page(html: str | None, writing: options.Writing, *results: Any) -> None:
    """Write the page, if one was asked for."""
    if html is not None:
        from fujiscore.many.page import stabilities

        write_page(html, writing, stabilities(*results))


def _deliver_ranks(result: fj.results.ItemRanks, name: str, plot: str | None, writing: options.Writing) -> None:
    """Write the items' ranks as a report, and as a figure."""
    show = writing.show or DRAWN
    if plot is not None:
        shown = min(len(result.items), show, MOST_DRAWN)
        draw(plot, writing, [replace(chart, most=shown) for chart in charts_of(result)])
    report = Report(
        "stability --ranks",
        lambda screen: [
            f"fuji stability: ranks of the items of {label(name)}",
            "",
            *fitted(screen, tables_of(result, show)[0]),
        ],
        lambda: {**result.to_dict(), "group": name},
        result.columns,
        result.notes,
    )
    deliver(report, writing)


def _compared(
    stable: list[fj.results.Stability], paired: bool | None, alternative: Alternative
) -> fj.results.StabilityComparison | None:
    """Return the comparison of two methods; None of one."""
    if len(stable) != 2:
        return None
    paired = are_paired([one.pairs.names for one in stable]) if paired is None else paired
    return compare_stabilities(*stable, paired=paired, alternative=alternative)


def _only(groups: dict[str, fj.Rankings], *, plain: bool, html: str | None) -> tuple[str, fj.Rankings]:
    """Return the only method, whose items are to be ranked."""
    if html is not None:
        raise click.UsageError("--html takes no --ranks; the page has the ranks of the items.")
    if len(groups) != 1:
        raise click.UsageError("--ranks takes one method: leave out the second.")
    if not plain:
        raise click.UsageError("--ranks takes no --measure, --corrected, --ks or --top: ranks need none of them.")
    return next(iter(groups.items()))


def _methods(files: Sequence[str], reading: options.Reading) -> dict[str, fj.Rankings]:
    """Return the rankings of two or three methods, one file each."""
    if len(files) not in {2, 3}:
        raise click.UsageError(f"--between takes two or three files, one per method; got {len(files)}.")
    titles = [_title([file], "rankings") for file in files]
    if len(set(titles)) < len(titles):
        titles = ["first", "second", "third"][: len(files)]
    source = inputs.Inputs(reading, files)
    return {name: source.read([file]) for name, file in zip(titles, files, strict=True)}


def _groups(files: Sequence[str], versus: Sequence[str], reading: options.Reading) -> dict[str, fj.Rankings]:
    """Return the rankings of one method, or of two: by --versus, or where each of two files holds enough."""
    source = inputs.Inputs(reading, [*files, *versus])
    parts = source.load(files)
    if not versus and len(files) == 2 and min(len(part.sources) for part in parts) >= LEAST:
        both = (source.checked([file], [part]) for file, part in zip(files, parts, strict=True))
        return dict(zip(_titles([files[:1], files[1:]]), both, strict=True))
    rankings = source.checked(files, parts)
    if versus:
        return dict(zip(_titles([files, versus]), (rankings, source.read(versus)), strict=True))
    return {_title(files, "rankings"): rankings}


def _titles(parts: Sequence[Sequence[str]]) -> list[str]:
    """Return two names for two groups of files."""
    titles = [_title(part, fallback) for part, fallback in zip(parts, ("first", "second"), strict=True)]
    return titles if len(set(titles)) == 2 else ["first", "second"]


def _title(files: Sequence[str], fallback: str) -> str:
    """Return what the files' names have in common, without numbers at the end."""
    stems = [Path(file).name.split(".")[0] for file in files]
    common = stems[0] if len(stems) == 1 else _common_start(stems).rstrip("_- 0123456789")
    return common or fallback


def _common_start(words: Sequence[str]) -> str:
    """Return the letters that all words begin with."""
    least, most = min(words), max(words)
    return next((least[:i] for i, letter in enumerate(least) if most[i] != letter), least)


def _draw(
    plot: str, writing: options.Writing, names: Sequence[str], curves: list[list[fj.results.StabilityCurve]]
) -> None:
    """Draw each method's curve of each measure on axes of its own."""
    pairs = [(charts_of(curve)[0], name) for part in curves for curve, name in zip(part, names, strict=True)]
    draw(plot, writing, [replace(chart, heading=printable(name, LONGEST)) for chart, name in pairs])


def _report(
    names: Sequence[str],
    results: list[tuple[list[fj.results.Stability], fj.results.StabilityComparison | None]],
    curves: list[list[fj.results.StabilityCurve]],
    groups: Sequence[fj.Rankings],
) -> Report:
    """Return the report in its three forms."""
    tests = [test for _, test in results if test is not None]
    rows = [{"group": name, **data_of(one)} for stable, _ in results for name, one in zip(names, stable, strict=True)]

    def data() -> dict[str, Any]:
        both = [{"group": name, **data_of(one)} for part in curves for name, one in zip(names, part, strict=True)]
        return {
            "schema": schema("stabilities"),
            "corrected": results[0][0][0].pairs.corrected,
            "items": [rankings.n_whole for rankings in groups],
            "groups": rows,
            "differences": [{**data_of(test), "first": names[0], "second": names[1]} for test in tests],
            "curves": both,
        }

    found = [one for stable, test in results for one in (*stable, *([test] if test else []))]
    return Report(
        "stability",
        lambda screen: _text(screen, list(map(label, names)), results, curves),
        data,
        lambda: {name: [row[name] for row in rows] for name in COLUMNS},
        tuple(dict.fromkeys(note for one in found for note in one.notes)),
    )


def _text(
    screen: Screen,
    names: Sequence[str],
    results: list[tuple[list[fj.results.Stability], fj.results.StabilityComparison | None]],
    curves: list[list[fj.results.StabilityCurve]],
) -> list[str]:
    """Return the values, their difference and the curves as lines."""
    pairs, short = results[0][0][0].pairs, short_names(names)
    lines = [
        "fuji stability: mean similarity over all pairs",
        *screen.wrap(f"{pairs.area}, {pairs.grid.described()}"),
    ]
    for stable, test in results:
        if test is None:
            (table,) = tables_of(stable[0])
            lines += ["", *fitted(screen, table, f"{short[0]}: {table.caption}")]
        else:
            words = f"{find(stable[0].pairs.measure).title}: {test.in_words(short)}"
            lines += [
                "",
                *fitted(screen, test.table(short)),
                *screen.wrap(f"{words} ({p_words(test.p_value)}, {test.kind})"),
            ]
    charts = [
        replace(charts_of(one)[0], title=f"{name}: {find(one.measure).title} over k")
        for part in curves
        for name, one in zip(names, part, strict=True)
        if one.ks.size > 1
    ]
    return [*lines, "", *side_by_side(screen, charts, (ORANGE, BLUE)[: len(names)])] if charts else lines
