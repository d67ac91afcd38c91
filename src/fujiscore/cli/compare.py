"""`fuji compare`: how similar two rankings are, overall and at chosen k, and how much of it is chance."""

from __future__ import annotations

from dataclasses import asdict, replace
from math import isnan
from typing import TYPE_CHECKING, Any

import click
import numpy as np

import fujiscore as fj
from fujiscore.charts import figure
from fujiscore.charts.kinds import Line, Lines
from fujiscore.charts.result import charts_of
from fujiscore.charts.terminal import side_by_side
from fujiscore.cli import inputs, options
from fujiscore.cli.output import Report, check_destinations, deliver, draw, draw_figure, write_page
from fujiscore.cli.terminal import label, table
from fujiscore.errors import InputError, short_names
from fujiscore.measures.overlap import at_zero, overlap_of
from fujiscore.measures.registry import find
from fujiscore.null.chance import chance_words, is_least
from fujiscore.pair.charts import comparison_charts
from fujiscore.pair.compare import zero_caveats

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fujiscore.cli.terminal import Screen
    from fujiscore.inputs.ranking import Rankings

DEFAULT_MEASURES = ("fuji", "jaccard")
# Without -k, the values at these k; of a few chosen k, at these many of them.
USUAL_SIZES = (1, 5, 10, 50, 100, 1000)
FEW = 8
NEAR_MISSES = 5


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
    "Report the values at this k too, and the near misses at the first one; repeat for several.",
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
    (p); the same at chosen k; where the curves lie above chance; the curves; and the near misses that matter most.
    """
    check_destinations(writing, files, plot, html)
    _check_threshold(fail_under, measures[0], corrected=corrected)
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
    judged = _judged(result, corrected=corrected) if fail_under is not None else 0.0
    first = sizes[0] if sizes else None
    _show(result, first, plot, html, writing)
    why = result.explain(first) if measures[0].name == "fuji" and columns is None else None
    deliver(_report(result, why, files, writing.show or NEAR_MISSES), writing)
    return _verdict(f"{'corrected ' if corrected else ''}{_headline_name(result)}", judged, fail_under)


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


def _check_threshold(fail_under: float | None, measure: fj.results.Measure, *, corrected: bool) -> None:
    """Raise if the threshold lies outside the measure's range, where it would always or never fail."""
    high, low = (1.0, -float("inf")) if corrected else (measure.high, measure.low)
    if fail_under is not None and not low <= fail_under <= high:
        raise click.UsageError(
            f"--fail-under must lie between {low:g} and {high:g} for {measure.name}; got {fail_under:g}."
        )


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


def _headline_name(result: fj.results.Comparison) -> str:
    """Return the name of the number that --fail-under judges."""
    level = result.levels()[0]
    return f"{level.measure} at {level.place}" if level.k is not None else f"{level.place} of {level.measure}"


def _judged(result: fj.results.Comparison, *, corrected: bool) -> float:
    """Return the value that --fail-under judges; an undefined one cannot be judged."""
    level = result.levels()[0]
    value = level.corrected if corrected else level.value
    if value is None or isnan(value):
        kind = "corrected value" if corrected else "value"
        raise InputError(
            f"--fail-under needs the {kind} of {level.measure}, which is not known: {'; '.join(result.notes)}."
        )
    return value


def _verdict(what: str, judged: float, fail_under: float | None) -> int:
    """Return the exit code: 1 if the value is below the threshold."""
    if fail_under is None or judged >= fail_under:
        return 0
    value = "undefined" if isnan(judged) else f"{judged:.4f}, below --fail-under {fail_under:g}"
    click.echo(f"fuji compare: {what} is {value}", err=True)
    return 1


def _report(
    result: fj.results.Comparison, why: fj.results.Explanation | None, files: Sequence[str], show: int
) -> Report:
    """Return the report in its three forms."""
    header = ["k"]
    for name in result.curves:
        header += [name, f"{name}_expected", f"{name}_corrected", f"{name}_z"]
    return Report(
        "compare",
        lambda screen: _text(result, why, screen, show),
        lambda: _data(result, why, files),
        header,
        lambda: _rows(result),
        result.notes,
    )


def heading(screen: Screen, names: Sequence[str]) -> str:
    """Return which ranking is A and which B."""
    a, b = (screen.fit(label(name), max(8, (screen.width - 27) // 2)) for name in names)
    return f"A = {a}, B = {b}"


def _rows(result: fj.results.Comparison) -> Iterator[Sequence[Any]]:
    """Return one row per k; empty cells where the chance level is not known."""
    columns: list[Any] = [result.ks.tolist()]
    empty = [None] * len(columns[0])
    for name, curve in result.curves.items():
        level = result.chance.get(name)
        columns.append(curve.values.tolist())
        known = () if level is None else (level.expected, level.corrected, level.z)
        columns += [empty] * 3 if level is None else [values.tolist() for values in known]
    return zip(*columns, strict=True)


def _data(result: fj.results.Comparison, why: fj.results.Explanation | None, files: Sequence[str]) -> dict[str, Any]:
    """Return everything, for JSON."""
    measures: dict[str, Any] = {}
    for level in result.levels():
        entry = measures.setdefault(level.measure, {"at": {}, "curve": result[level.measure].values})
        values = {name: value for name, value in asdict(level).items() if name not in {"measure", "k"}}
        if level.k is not None:
            entry["at"][level.k] = values
        if level.k is None or "auc" not in entry:  # of one k only, the area is the value there
            entry["auc" if "auc" not in entry else "auc_top_weighted"] = values
    for name, chance in result.chance.items():
        measures[name]["above_chance"] = chance.above() if chance.has_band else None
    near = [] if why is None else [i for i, kind in enumerate(why.kind) if kind == "near miss"]
    explained = (
        None
        if why is None
        else {
            "k": [why.k1, why.k2],
            "fuji": why.value,
            "jaccard": why.jaccard,
            "near_misses": [
                {
                    "item": why.items[i],
                    "rank_a": why.rank_r[i],
                    "rank_b": why.rank_s[i],
                    "contribution": why.contribution[i],
                }
                for i in near
            ],
        }
    )
    return {
        "a": result.rankings.names[0],
        "b": result.rankings.names[1],
        "files": list(files),
        "items": result.n,
        "universe": result.rankings.universe,
        "ties_cut": result.ties_cut,
        "measures": measures,
        "explained": explained,
        "ks": result.ks,
    }


def _text(result: fj.results.Comparison, why: fj.results.Explanation | None, screen: Screen, show: int) -> list[str]:
    """Return the report as lines."""
    universe = f" of {result.rankings.universe}" if result.rankings.universe else ""
    lines = [
        f"fuji compare: {heading(screen, result.rankings.names)}",
        f"{result.n}{universe} items, {result.grid.described()}",
        "",
        *_table(result, screen),
        *_in_words(result, screen),
    ]
    if result.ks.size > 1:
        lines += ["", *side_by_side(screen, _charts(result))]
    return lines + ([] if why is None else ["", *_near_misses(why, screen, show)])


def _table(result: fj.results.Comparison, screen: Screen) -> list[str]:
    """Return values, chance levels and corrected values, the areas first."""
    header = ["measure", "at", "value", "by chance", "corrected", "z", "p"]
    forms = (".4f", ".4f", ".4f", ".2f", ".2g")
    rows, last = [], ""
    for level in result.levels():
        numbers = (level.value, level.expected, level.corrected, level.z, level.p_value)
        cells = [
            "-" if value is None or isnan(value) else format(round(value, 10) + 0.0, form)
            for value, form in zip(numbers, forms, strict=True)
        ]
        cells[-1] = f"<= {cells[-1]}" if is_least(level.p_value, level.method) else cells[-1]
        title = "" if level.measure == last else find(level.measure).title
        rows.append([title, level.place, *cells])
        last = level.measure
    known = [column for column in range(len(header)) if column < 3 or any(row[column] != "-" for row in rows)]
    for column in (3, 5):  # on a narrow screen, what the other columns tell as well
        width = sum(2 + max(len(row[c]) for row in (header, *rows)) for c in known) - 2
        known = [c for c in known if c != column or width <= screen.width]
    return table(screen, [header[c] for c in known], [[row[c] for c in known] for row in rows], left=(0, 1))


def _in_words(result: fj.results.Comparison, screen: Screen) -> list[str]:
    """Return where p-values of areas come from, and where the curves lie above chance."""
    return [text for line in chance_words(result.chance.values()) for text in screen.wrap(line)]


def _charts(result: fj.results.Comparison) -> list[Lines]:
    """Return the curves to draw, each with its chance level."""
    charts = []
    for name, curve in result.curves.items():
        title, lines = find(name).title, [Line(curve.values)]
        if name in result.chance:
            title, lines = f"{title} (dotted: by chance)", [*lines, Line(result.chance[name].expected, dashed=True)]
        charts.append(Lines(curve.ks, lines, title=title))
    return charts


def _near_misses(why: fj.results.Explanation, screen: Screen, show: int) -> list[str]:
    """Return the decomposition of FUJI at one k, and the near misses that give it most."""
    if isnan(why.value):
        return screen.wrap(why.in_words())
    credit = why.value - why.jaccard
    lines = screen.wrap(
        f"At {why.sizes}: FUJI {why.value:.4f} = Jaccard {why.jaccard:.4f} + {credit:.4f} credit for misses"
    )
    near = [i for i, kind in enumerate(why.kind) if kind == "near miss"]
    if not near:
        same = why.kind.count("shared") == len(why)
        return [*lines, "No near misses: " + ("the top sets are equal." if same else "no other item comes near.")]
    rows = [
        [label(why.items[i]), str(why.rank_r[i]), str(why.rank_s[i]), f"{why.contribution[i]:.4f}"] for i in near[:show]
    ]
    lines += table(screen, ["near miss", "rank A", "rank B", "credit"], rows)
    if len(near) > show:
        lines.append(f"... {len(near) - show} more: fuji explain A B -k {why.k1}")
    return lines


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
        heading = " and ".join(short_names(both.names, figure.LONGEST))
        draw(plot, writing, [replace(chart, heading=heading) for chart in charts_of(along)])
    sets = overlap_of(both, at.ks, at.ks, zero_tail=reading.zero_tail)
    low, high = (np.where(at_zero(sets, fuzzy=True), np.nan, side) for side in (at.low, at.high))
    alone = along.ks.size == 1 and along.ks[0] == at.ks[0]  # the area is the value at the only k
    area = (float(low[0]), float(high[0])) if alone else along.auc
    levels = [(None, *area), *zip(at.ks.tolist(), low.tolist(), high.tolist(), strict=True)]
    lacking = [both.n - ranking.listed for ranking in both]
    data = {
        "a": {"name": both.names[0], "lacks": lacking[0]},
        "b": {"name": both.names[1], "lacks": lacking[1]},
        "files": list(files),
        "items": along.n,
        "bounds": {
            "auc": {"low": area[0], "high": area[1]},
            "at": {k: {"low": low, "high": high} for k, low, high in levels[1:]},
            "curve": {"low": along.low, "high": along.high},
        },
        "ks": along.ks,
    }
    report = Report(
        "compare",
        lambda screen: _bounds_text(screen, both, along, levels),
        lambda: data,
        ["k", "fuji_low", "fuji_high"],
        lambda: zip(along.ks.tolist(), along.low.tolist(), along.high.tolist(), strict=True),
        (*along.notes, *zero_caveats(sets, at.ks)),
    )
    deliver(report, writing)
    return _verdict(f"the lower bound of {along.grid.area} of fuji", area[0], fail_under)


def _bounds_text(
    screen: Screen, both: Rankings, along: fj.results.Bounds, levels: Sequence[tuple[int | None, float, float]]
) -> list[str]:
    """Return the bounds as lines."""
    rows = [
        [
            "FUJI" if k is None else "",
            along.grid.area if k is None else f"k = {k}",
            *("-" if isnan(end) else f"{end:.4f}" for end in ends),
        ]
        for k, *ends in levels
    ]
    lines = [
        f"fuji compare: {heading(screen, both.names)}",
        f"{along.n} items, {along.grid.described()}",
        "",
        *table(screen, ["measure", "at", "at least", "at most"], rows, left=(0, 1)),
    ]
    if along.ks.size > 1:
        title = "FUJI lies between the lines, whatever the missing scores"
        lines += ["", *side_by_side(screen, [replace(chart, title=title) for chart in charts_of(along)])]
    return lines
