"""`fuji compare`: how similar two rankings are, overall and at chosen k, and how much of it is chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click
import numpy as np

import fujiscore as fj
from fujiscore.charts import figure
from fujiscore.charts.kinds import Line, Lines
from fujiscore.charts.result import charts_of
from fujiscore.charts.terminal import side_by_side
from fujiscore.cli import inputs, options
from fujiscore.cli.output import Report, check_destinations, deliver, draw, draw_figure, heading, write_page
from fujiscore.cli.terminal import Screen, fitted
from fujiscore.errors import InputError, short_names
from fujiscore.measures.overlap import at_zero, overlap_of
from fujiscore.measures.registry import find
from fujiscore.null.chance import chance_words
from fujiscore.pair.charts import comparison_charts
from fujiscore.pair.compare import levels_table, zero_caveats
from fujiscore.pair.gates import Verdict, at_least, require_bounds
from fujiscore.text.tables import columns_table
from fujiscore.text.tabular import data_of, tables_of

DEFAULT_MEASURES = ("fuji", "jaccard")
# Without -k, the values at these k; of a few chosen k, at these many of them.
USUAL_SIZES = (1, 5, 10, 50, 100, 1000)
FEW = 8
ITEMS = 5


@click.command(
    cls=options.Command,
    short_help="Compare two rankings.",
    examples=(
        "fuji compare examples/model_a.csv examples/model_b.csv",
        "fuji compare examples/scores.csv:anova examples/scores.csv:chi2 -k 10",
        "fuji compare examples/model_a.csv examples/model_b.csv --permutations 1000",
        "fuji compare examples/genes_a.csv examples/genes_b.csv --universe 17611",
        "fuji compare examples/model_a.csv examples/model_b.csv --fail-under 0.7 -q",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="A B")
@options.measures(DEFAULT_MEASURES)
@options.option(
    "-k sizes",
    "Report the values at this k too, and the items behind the first one; repeat for several.",
    type=options.Count(1),
    multiple=True,
    metavar="K",
)
@options.option("--permutations", "Number of permutations for p-values.", type=options.Count(0), default=0, metavar="N")
@options.alternative
@options.seed("Seed of the permutations.")
@options.option(
    "--fail-under",
    "Exit with 1 if the AUC of the first measure (with --missing bounds, its lower bound) is below X.",
    type=float,
    metavar="X",
)
@options.corrected("Let --fail-under judge the value corrected for chance.")
@options.points
@options.reading_truncated
@options.plot("Draw the curves against chance and, at the first k, a slope chart of the top items")
@options.html
@options.writing
@options.work_anywhere
def command(
    *,
    files: tuple[str, ...],
    measures: tuple[fj.results.Measure, ...],
    sizes: tuple[int, ...],
    permutations: int,
    alternative: str,
    seed: int,
    fail_under: float | None,
    corrected: bool,
    points: options.Points,
    reading: options.Reading,
    plot: str | None,
    html: str | None,
    writing: options.Writing,
    work: options.Work,
) -> int:
    """Compare two rankings: A and B, two files or two columns of one (scores.csv:anova scores.csv:chi2).

    Prints the area under each measure's curve over all k, and over k = 1, 2, 4, ... where the top weighs more; the
    value expected by chance, the value corrected for it (0 is chance, 1 the maximum), and how often chance does as well
    (p); the same at chosen k; where the curves lie above chance; the curves; and the items that decide FUJI at one k.
    """
    check_destinations(writing, files, plot, html)
    require_bounds(measures[0], fail_under=fail_under, corrected=corrected)
    if reading.missing == "bounds":
        if html is not None:
            raise click.UsageError("--html shows values, not bounds: choose another --missing.")
        _refuse_with_bounds(measures, reading, corrected=corrected, permutations=permutations)
        return _bounds(files, sizes, points, reading, writing, plot, fail_under)
    source = inputs.Inputs(reading, files)
    columns = source.long_pair(files)
    both: Any = columns or source.pair(files)
    depth = both.depth if columns is None else columns[0].depth
    grid = "all" if columns is None else _long_grid(points, fail_under)
    result = fj.compare(
        both[0],
        both[1],
        measures,
        ks=points.sizes(depth, grid),
        k=sizes_to_show(sizes, points, depth),
        permutations=permutations,
        alternative=alternative,
        random_state=seed,
        **({} if columns is None else source.policies),
        **reading.sets,
        **work.arguments(writing),
    )
    verdict = result.judge(fail_under=fail_under, corrected=corrected)
    first = sizes[0] if sizes else None
    _show(result, first, plot, html, writing)
    why = result.explain(first) if measures[0].name == "fuji" and columns is None else None
    report = Report(
        "compare",
        lambda screen: _text(screen, result, why, writing.show or ITEMS),
        lambda: {**result.to_dict(), "files": list(files), "explained": None if why is None else data_of(why)},
        lambda: _columns(result),
        result.notes,
        verdict,
    )
    return deliver(report, writing)


def _show(
    result: fj.results.Comparison, k: int | None, plot: str | None, html: str | None, writing: options.Writing
) -> None:
    """Draw the figure and write the page that were asked for; both show the items at k, where that is possible."""
    if plot is not None:
        at = k if result.in_memory and "fuji" in result.curves else None
        charts = comparison_charts(result, at)
        draw_figure(plot, writing, lambda new: figure.compose(charts, new), figure.composed_size(charts))
    if html is not None:
        from fujiscore.pair.page import comparison

        write_page(html, writing, comparison(result, k))


def _long_grid(points: options.Points, fail_under: float | None) -> str:
    """Return the grid for rankings too long for memory; what --fail-under judges does not change with the length."""
    if fail_under is not None and points.ks is None and points.top is None:
        raise InputError(
            "--fail-under judges the area over all k, which these files are too long for: they do not fit in memory. "
            "Pass --ks exp to judge the top-weighted area."
        )
    return "exp"


def sizes_to_show(sizes: Sequence[int], points: options.Points, depth: int) -> list[int]:
    """Return the k to report: as asked for, the few chosen k, or the usual ones that are evaluated."""
    if sizes:
        return sorted(set(sizes))
    if isinstance(points.ks, list):
        return points.ks[:FEW]
    last = points.top or depth
    return [k for k in USUAL_SIZES if k < depth and k <= last] or [last]


def _columns(result: fj.results.Comparison) -> dict[str, Any]:
    """Return one row per k; empty cells where the chance level is not known."""
    columns: dict[str, Any] = {"k": result.ks}
    for name, curve in result.curves.items():
        chance = result.chance.get(name)
        columns[name] = curve.values
        for part in ("expected", "corrected", "z"):
            columns[f"{name}_{part}"] = [None] * curve.ks.size if chance is None else getattr(chance, part)
    return columns


def _text(screen: Screen, result: fj.results.Comparison, why: fj.results.Explanation | None, show: int) -> list[str]:
    """Return the report as lines."""
    universe = f" of {result.rankings.universe}" if result.rankings.universe else ""
    lines = [
        heading(screen, "compare", result.rankings.names),
        f"{result.n}{universe} items, {result.grid.described()}",
        "",
        *fitted(screen, levels_table("", result.levels())),
        *(text for line in chance_words(result.chance.values()) for text in screen.wrap(line)),
    ]
    if result.ks.size > 1:
        lines += ["", *side_by_side(screen, _charts(result))]
    return lines if why is None else [*lines, "", *fitted(screen, tables_of(why, show)[0])]


def _charts(result: fj.results.Comparison) -> list[Lines]:
    """Return the curves to draw, each with its chance level."""
    charts = []
    for name, curve in result.curves.items():
        title, lines = find(name).title, [Line(curve.values)]
        if name in result.chance:
            title, lines = f"{title} (dotted: by chance)", [*lines, Line(result.chance[name].expected, dashed=True)]
        charts.append(Lines(curve.ks, lines, title=title))
    return charts


# --missing bounds: what FUJI can be where each ranking lacks items of the other


def _refuse_with_bounds(
    measures: tuple[fj.results.Measure, ...], reading: options.Reading, *, corrected: bool, permutations: int
) -> None:
    """Raise if something was asked for that has no bounds."""
    if tuple(measure.name for measure in measures) not in {DEFAULT_MEASURES, ("fuji",)}:
        raise click.UsageError("--missing bounds is for FUJI only: leave out other measures.")
    if reading.ties != "closed":
        raise click.UsageError("--missing bounds needs --ties closed.")
    if corrected or permutations:
        raise click.UsageError("--missing bounds has no chance level: leave out --corrected and --permutations.")


def _bounds(
    files: Sequence[str],
    sizes: Sequence[int],
    points: options.Points,
    reading: options.Reading,
    writing: options.Writing,
    plot: str | None,
    fail_under: float | None,
) -> int:
    """Report the interval of the area and at each k, and judge its lower end."""
    both = inputs.pair(files, reading, missing="zero")
    along = fj.bounds(both[0], both[1], ks=points.sizes(both.depth, "all"), zero_tail=reading.zero_tail)  # type: ignore[arg-type]
    shown = sizes_to_show(sizes, points, both.depth)
    at = fj.bounds(both[0], both[1], ks=shown, zero_tail=reading.zero_tail)  # type: ignore[arg-type]
    if plot is not None:
        title = " and ".join(short_names(both.names, figure.LONGEST))
        draw(plot, writing, [replace(chart, heading=title) for chart in charts_of(along)])
    sets = overlap_of(both, at.ks, at.ks, zero_tail=reading.zero_tail)
    low, high = (np.where(at_zero(sets, fuzzy=True), np.nan, side) for side in (at.low, at.high))
    alone = along.ks.size == 1 and along.ks[0] == at.ks[0]  # the area is the value at the only k
    area = (float(low[0]), float(high[0])) if alone else along.auc
    levels = {along.grid.area: area} | {f"k = {k}": ends for k, *ends in zip(at.ks.tolist(), low, high, strict=True)}
    notes = (*along.notes, *zero_caveats(sets, at.ks))

    def data() -> dict[str, Any]:
        found = along.to_dict()
        ends = [dict(zip(("low", "high"), each, strict=True)) for each in levels.values()]
        found["bounds"] |= {"auc": ends[0], "at": dict(zip(at.ks.tolist(), ends[1:], strict=True))}
        lacking = [{"name": ranking.name, "lacks": both.n - ranking.listed} for ranking in both]
        return {**found, "a": lacking[0], "b": lacking[1], "files": list(files)}

    def text(screen: Screen) -> list[str]:
        columns: Any = {"measure": ("", ["FUJI"] * len(levels)), "place": ("", list(levels))}
        low, high = zip(*levels.values(), strict=True)
        columns |= {"at least": (".4f", low), "at most": (".4f", high)}
        lines = [heading(screen, "compare", both.names), f"{along.n} items, {along.grid.described()}", ""]
        lines += fitted(screen, columns_table("", columns))
        title = "FUJI lies between the lines, whatever the missing scores"
        chart = side_by_side(screen, [replace(chart, title=title) for chart in charts_of(along)])
        return [*lines, "", *chart] if along.ks.size > 1 else lines

    columns = {"k": along.ks, "fuji_low": along.low, "fuji_high": along.high}
    checks = () if fail_under is None else (at_least(f"FUJI, at least ({along.grid.area})", area[0], fail_under),)
    return deliver(Report("compare", text, data, lambda: columns, notes, Verdict(checks)), writing)
