"""`fuji stability`: how stable a ranking method is, and whether another one is more stable."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import fujiscore as fj
from fujiscore.cli import inputs, options
from fujiscore.cli.chart import side_by_side
from fujiscore.cli.outputs import Report, check_destinations, deliver, draw
from fujiscore.cli.screen import BLUE, ORANGE, printable, table
from fujiscore.measures import MEASURES
from fujiscore.stability import compare_stabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fujiscore.cli.screen import Screen

LEAST = 3
HEADER = ("group", "measure", "stability", "low", "high", "standard_error", "rankings", "confidence")


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
    short_help="Say how stable a ranking method is.",
    examples=(
        "fuji stability examples/resamples_forest.csv",
        "fuji stability examples/resamples_forest.csv examples/resamples_tree.csv",
        "fuji stability examples/resamples_forest.csv --versus examples/resamples_tree.csv --corrected",
    ),
)
@click.argument("files", nargs=-1, required=True)
@options.option(
    "--versus",
    section="Compute",
    multiple=True,
    metavar="FILES...",
    help="The files of another method, to compare the two; all names up to the next option.",
)
@options.option(
    "--paired/--unpaired",
    section="Compute",
    default=None,
    help="Whether the i-th rankings of both methods come from the same resample. [default: if their names agree]",
)
@options.option(
    "--confidence", section="Compute", type=float, default=0.95, show_default=True, metavar="P", help="Of the interval."
)
@options.measures(("fuji",))
@options.corrected("Correct for chance: 0 is chance level, 1 the maximum.")
@options.points
@options.reading
@options.plot("Draw stability over k")
@options.writing
@options.work
def command(
    *,
    files: tuple[str, ...],
    versus: tuple[str, ...],
    paired: bool | None,
    confidence: float,
    measures: tuple[str, ...],
    corrected: bool,
    points: options.Points,
    reading: options.Reading,
    plot: str | None,
    writing: options.Writing,
    work: options.Work,
) -> None:
    """Say how stable a ranking method is: the mean similarity of its rankings over resamples, folds or seeds.

    Name at least three files with one ranking each, or a file with a column a ranking. Two such files, or --versus,
    are two methods: each gets its stability, and the difference an interval and a p-value.
    """
    check_destinations(writing, [*files, *versus], plot)
    options.require_formula(measures, corrected=corrected)
    groups = _groups(files, versus, reading, writing)
    held = [inputs.aligned(found, reading, writing) for found in groups.values()]
    for own, name in zip(held, groups, strict=True):
        if len(own) < LEAST:
            raise click.UsageError(f"{name}: stability needs at least {LEAST} rankings of a method; got {len(own)}.")
    chosen: Any = {"corrected": corrected, "confidence": confidence, "negative": "clip"}
    chosen |= {"ties": reading.ties, "zero_tail": reading.zero_tail, **work.arguments(writing)}
    names = tuple(groups)
    together = _paired(held, paired=paired)
    results, curves = [], []
    for measure in dict.fromkeys(measures):
        found = [fj.stability(one, measure, ks=points.sizes(one.n, "exp"), **chosen) for one in held]
        results.append((found, compare_stabilities(*found, paired=together) if len(found) == 2 else None))
        curves.append([fj.stability_curve(one, measure, ks=points.sizes(one.n, "exp"), **chosen) for one in held])
    if plot is not None:
        _draw(plot, writing, names, curves)
    deliver(_report(names, results, curves, held), writing)


def _groups(
    files: Sequence[str], versus: Sequence[str], reading: options.Reading, writing: options.Writing
) -> dict[str, list[inputs.Read]]:
    """Return the rankings of one method, or of two: by --versus, or where each of two files holds enough."""
    if versus:
        parts = [files, versus]
    else:
        found = inputs.read(files, reading, writing)
        counts = [sum(own.path == path for own in found) for path in files]
        if len(files) != 2 or min(counts) < LEAST:
            return {_title(files, "rankings"): found}
        return dict(
            zip(_titles([files[:1], files[1:]]), ([r for r in found if r.path == p] for p in files), strict=True)
        )
    return dict(zip(_titles(parts), (inputs.read(part, reading, writing) for part in parts), strict=True))


def _titles(parts: Sequence[Sequence[str]]) -> list[str]:
    """Return two names for two groups of files."""
    found = [_title(part, fallback) for part, fallback in zip(parts, ("first", "second"), strict=True)]
    return found if len(set(found)) == 2 else ["first", "second"]


def _title(files: Sequence[str], fallback: str) -> str:
    """Return what the files' names have in common, without numbers at the end."""
    stems = [Path(file).name.split(".")[0] for file in files]
    common = stems[0] if len(stems) == 1 else _common_start(stems).rstrip("_- 0123456789")
    return printable(common) or fallback


def _common_start(words: Sequence[str]) -> str:
    """Return the letters that all words begin with."""
    least, most = min(words), max(words)
    return next((least[:i] for i, letter in enumerate(least) if most[i] != letter), least)


def _paired(held: Sequence[fj.Rankings], *, paired: bool | None) -> bool:
    """Return whether the rankings of two methods belong together one by one."""
    if len(held) != 2:
        if paired is not None:
            raise click.UsageError("--paired and --unpaired need two methods: name the second with --versus.")
        return False
    if paired and len(held[0]) != len(held[1]):
        raise click.UsageError(
            f"--paired needs as many rankings of each method; got {len(held[0])} and {len(held[1])}."
        )
    return held[0].names == held[1].names if paired is None else paired


def _draw(plot: str, writing: options.Writing, names: Sequence[str], curves: list[list[fj.StabilityCurve]]) -> None:
    """Draw each method's curve of each measure on axes of its own."""

    def on(curve: fj.StabilityCurve, name: str) -> Any:
        return lambda ax: curve.plot(ax=ax).set_title(name)

    draw(plot, writing, [on(curve, name) for own in curves for curve, name in zip(own, names, strict=True)], (5.2, 4.0))


def _report(
    names: Sequence[str],
    results: list[tuple[list[fj.Stability], fj.StabilityComparison | None]],
    curves: list[list[fj.StabilityCurve]],
    held: Sequence[fj.Rankings],
) -> Report:
    """Return the report in its three forms."""
    rows = [
        [name, own.pairs.measure, own.value, own.low, own.high, own.standard_error, own.m, own.confidence]
        for found, _ in results
        for name, own in zip(names, found, strict=True)
    ]
    data: dict[str, Any] = {"corrected": results[0][0][0].pairs.corrected, "items": [own.n for own in held]}
    data["groups"] = [dict(zip(HEADER, row, strict=True)) for row in rows]
    fields = ("difference", "low", "high", "p_value", "statistic", "paired")
    data["differences"] = [
        {"measure": found[0].pairs.measure, **{field: getattr(own, field) for field in fields}}
        for found, own in results
        if own is not None
    ]
    data["curves"] = [
        {"group": name, "measure": own.measure, "ks": own.ks, "values": own.values, "low": own.low, "high": own.high}
        for found in curves
        for name, own in zip(names, found, strict=True)
    ]
    return Report("stability", lambda screen: _text(screen, names, results, curves), lambda: data, HEADER, lambda: rows)


def _text(
    screen: Screen,
    names: Sequence[str],
    results: list[tuple[list[fj.Stability], fj.StabilityComparison | None]],
    curves: list[list[fj.StabilityCurve]],
) -> list[str]:
    """Return the values, their difference and the curves as lines."""
    pairs, confidence = results[0][0][0].pairs, results[0][0][0].confidence
    kind = ", corrected for chance" if pairs.corrected else ""
    lines = [
        "fuji stability: mean similarity over all pairs",
        *screen.wrap(f"Areas under the curve{kind}, k = {pairs.ks[0]} to {pairs.ks[-1]} ({pairs.ks.size} points)"),
        "",
    ]
    header = ["method", "measure", "rankings", "stability", f"{confidence:.0%} interval"]
    rows = []
    for found, difference in results:
        title = MEASURES[found[0].pairs.measure].title
        for name, own in zip(names, found, strict=True):
            rows.append([name, title, str(own.m), f"{own.value:.4f}", f"{own.low:.4f} to {own.high:.4f}"])
        if difference is not None:
            interval = f"{difference.low:+.4f} to {difference.high:+.4f}"
            rows.append(["difference", title, "", f"{difference.difference:+.4f}", interval])
    lines += table(screen, header, rows, left=(0, 1))
    lines.append("")
    for _, difference in results:
        lines += screen.wrap(_verdict(names, difference)) if difference is not None else []
    charts = [
        (f"{name}: {MEASURES[own.measure].title} over k", own.ks, [own.values], None, (ORANGE, BLUE)[i])
        for found in curves
        for i, (name, own) in enumerate(zip(names, found, strict=True))
        if own.ks.size > 1
    ]
    return [*lines, *([""] if results[0][1] and charts else []), *side_by_side(screen, charts)]


def _verdict(names: Sequence[str], own: fj.StabilityComparison) -> str:
    """Return what the comparison says, in words."""
    more = names[1] if own.difference > 0 else names[0]
    kind = "paired" if own.paired else "unpaired"
    said = "neither method is clearly more stable" if own.low <= 0 <= own.high else f"{more} is more stable"
    return f"{MEASURES[own.first.pairs.measure].title}: {said} (p = {own.p_value:.4g}, {kind})"
