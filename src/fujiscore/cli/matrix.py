"""`fuji matrix`: all pairs of many rankings, or one against all."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

import fujiscore as fj
from fujiscore.charts.result import charts_of
from fujiscore.charts.terminal import heat_map
from fujiscore.cli import inputs, options
from fujiscore.cli.output import Report, check_destinations, deliver, draw, write_page
from fujiscore.cli.terminal import label, table
from fujiscore.errors import NAME, InputError, first_few, shown
from fujiscore.io.documents import exists
from fujiscore.measures.registry import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fujiscore.cli.terminal import Screen

EXTREMES = 10
# The column of values beneath a list of pairs, and the gaps between columns.
ROOM_FOR_VALUE = 12
# The columns of p-values and their gaps.
ROOM_FOR_P = 22


@click.command(
    cls=options.Command,
    short_help="Compare all pairs of many rankings.",
    examples=(
        "fuji matrix examples/scores.csv",
        "fuji matrix examples/scores.csv --corrected --measure fuji --measure jaccard",
        "fuji matrix examples/scores.csv --p-values",
        "fuji matrix examples/model_a.csv examples/model_b.csv --csv",
    ),
)
@click.argument("files", nargs=-1, required=True)
@options.measures(("fuji",))
@options.corrected("Correct for chance: 0 is chance level, 1 the maximum.")
@options.option("--p-values", "Test every pair against chance, and mark those that are not significant.", is_flag=True)
@options.option(
    "--adjust",
    "Adjust p-values for the number of pairs: Benjamini-Hochberg (bh) or Holm.",
    type=click.Choice(["bh", "holm"]),
    default="bh",
)
@options.alternative
@options.option("--reference", "Compare this ranking (or file) with all others.", metavar="NAME")
@options.option(
    "--cluster/--no-cluster",
    "Put similar rankings side by side, or keep the order of the files.",
    section="Write",
    default=True,
)
@options.option(
    "--checkpoint", "Folder that keeps finished parts: interrupted runs resume.", section="Other", metavar="DIR"
)
@options.points
@options.reading
@options.plot("Draw the heat map")
@options.html
@options.writing
@options.work_anywhere
def command(
    *,
    files: tuple[str, ...],
    measures: tuple[fj.results.Measure, ...],
    corrected: bool,
    p_values: bool,
    adjust: str,
    alternative: str,
    reference: str | None,
    cluster: bool,
    checkpoint: str | None,
    points: options.Points,
    reading: options.Reading,
    plot: str | None,
    html: str | None,
    writing: options.Writing,
    work: options.Work,
) -> None:
    """Compare all pairs of many rankings: every ranking of every file with every other.

    Prints the top-weighted area under the curve (k = 1, 2, 4, ...) of each pair as a heat map, similar rankings side
    by side. With --reference, one ranking against all others, the most similar first. With --p-values, cells marked ~
    are not significant.
    """
    check_destinations(writing, files, plot, html)
    where = work.arguments(writing)
    rankings, reference = _read(files, reference, reading)
    if len(rankings) < 2:
        raise InputError(f"a matrix needs at least 2 rankings; got {len(rankings)}. Name more files.")
    first, others = _against(rankings, reference) if reference is not None else (rankings, None)
    chosen: Any = {"ks": points.sizes(rankings.depth, "exp"), "corrected": corrected, **reading.sets, **where}
    chosen |= {"p_values": p_values, "adjust": adjust, "alternative": alternative}
    unique = {measure.name: measure for measure in measures}.values()
    # Each measure has a folder of its own: the second's is within the first's, and so on.
    folders = [checkpoint and Path(checkpoint, *(["next"] * place)) for place in range(len(unique))]
    matrices = [
        fj.pairwise(first, others, measure=measure, checkpoint=folder, **chosen)
        for measure, folder in zip(unique, folders, strict=True)
    ]
    matrices = _ordered(matrices, by_value=reference is not None, cluster=cluster)
    if plot is not None:
        draw(plot, writing, [charts_of(matrix)[0] for matrix in matrices])
    if html is not None:
        from fujiscore.many.page import matrices as page_of

        write_page(html, writing, page_of(matrices))
    deliver(_report(matrices, rankings.n_whole, writing.show), writing)


def _read(files: Sequence[str], reference: str | None, reading: options.Reading) -> tuple[fj.Rankings, str | None]:
    """Return all rankings, those of the reference's file first if the reference is a file."""
    if reference is None or not (reference in files or exists(reference)):
        return inputs.read(files, reading), reference
    rankings = inputs.read([reference, *(file for file in files if file != reference)], reading)
    return rankings, rankings.names[0]


def _against(rankings: fj.Rankings, reference: str) -> tuple[fj.Rankings, fj.Rankings]:
    """Return the reference alone, and all other rankings."""
    if reference not in rankings.names:
        names = first_few(rankings.names, 12, NAME)
        raise InputError(
            f"--reference must name a ranking or a file; got {shown(reference)}. The rankings are {names}."
        )
    return rankings[[reference]], rankings[[name for name in rankings.names if name != reference]]


def _ordered(matrices: Sequence[fj.results.Matrix], *, by_value: bool, cluster: bool) -> list[fj.results.Matrix]:
    """Return the matrices all in the order that suits the first."""
    first = matrices[0]
    if by_value:
        order = np.argsort(-first.values[0], kind="stable").tolist()
        return [matrix.reordered([0], order) for matrix in matrices]
    if not cluster:
        return list(matrices)
    order = [first.names.index(name) for name in first.clustered().names]
    return [matrix.reordered(order) for matrix in matrices]


def _report(matrices: list[fj.results.Matrix], n: int, show: int | None) -> Report:
    """Return the report in its three forms."""
    first = matrices[0]
    several = len(matrices) > 1 or first.p_values is not None
    title = first.area.replace(",", "").replace("-", "_").replace(" ", "_").lower()
    header = [*(["measure", "value", "ranking"] if several else [f"{title}_{first.measure}"]), *first.columns]
    rows = [
        [*([matrix.measure, kind] if several else []), name, *row.tolist()]
        for matrix in matrices
        for kind, values in _parts(matrix)
        for name, row in zip(matrix.names, values, strict=True)
    ]
    data: dict[str, Any] = {
        "items": n,
        "value": {matrix.measure: matrix.area for matrix in matrices},
        "corrected": first.corrected,
        "rows": first.names,
        "columns": first.columns,
        "ks": first.ks,
        "measures": {matrix.measure: matrix.values for matrix in matrices},
    }
    if first.corrected:
        data["raw"] = {matrix.measure: matrix.raw for matrix in matrices}
    if first.p_values is not None:
        data["p_values"] = {matrix.measure: matrix.p_values for matrix in matrices}
        data["adjusted_p_values"] = {matrix.measure: matrix.adjusted_p_values for matrix in matrices}
        data |= {"adjustment": first.adjustment, "alternative": first.alternative}
    notes = tuple(dict.fromkeys(note for matrix in matrices for note in matrix.notes))
    return Report("matrix", lambda screen: _text(screen, matrices, n, show), lambda: data, header, lambda: rows, notes)


def _parts(matrix: fj.results.Matrix) -> list[tuple[str, Any]]:
    """Return the values and, where pairs were tested, the p-values, each with what it is called."""
    parts: list[tuple[str, Any]] = [(matrix.area, matrix.values)]
    if matrix.p_values is not None:
        parts += [("p_value", matrix.p_values), ("adjusted_p_value", matrix.adjusted_p_values)]
    return parts


def _text(screen: Screen, matrices: list[fj.results.Matrix], n: int, show: int | None) -> list[str]:
    """Return one heat map per measure, or a list where there is one row or no room."""
    first = matrices[0]
    count = len(set(first.names) | set(first.columns))
    areas = " and ".join(dict.fromkeys(matrix.area for matrix in matrices))
    lines = [*screen.wrap(f"fuji matrix: {areas}"), f"{count} rankings of {n} items, {first.grid.described()}"]
    names, columns = ([label(name) for name in side] for side in (first.names, first.columns))
    if not first.square:
        titles = [[find(matrix.measure).title, *_p_header(matrix)] for matrix in matrices]
        header = [f"{names[0]} and", *chain(*titles)]
        rows = [[name, *chain(*(_cell(matrix, 0, j) for matrix in matrices))] for j, name in enumerate(columns)]
        more = [] if show is None or show >= len(rows) else [f"... {len(rows) - show} more rows"]
        return [*lines, "", *table(screen, header, rows[:show]), *more, *_legend(screen, first)]
    for matrix in matrices:
        lines += ["", screen.style(f"{find(matrix.measure).title}: {matrix.area}", bold=True)]
        drawn = heat_map(screen, charts_of(matrix)[0])
        lines += drawn or _extremes(screen, matrix, show or EXTREMES)
    return [*lines, *_legend(screen, first)]


def _legend(screen: Screen, matrix: fj.results.Matrix) -> list[str]:
    """Return what the mark means, if pairs were tested."""
    return [] if matrix.p_values is None else ["", *screen.wrap(matrix.legend)]


def _p_header(matrix: fj.results.Matrix) -> list[str]:
    return [] if matrix.p_values is None else ["p", "adjusted p"]


def _cell(matrix: fj.results.Matrix, i: int, j: int) -> list[str]:
    """Return the value of a cell with its mark and, where pairs were tested, its p-values."""
    value = matrix.values[i, j]
    text = "-" if np.isnan(value) else f"{value:.4f}"
    if matrix.p_values is None or matrix.adjusted_p_values is None:
        return [text]
    p_values = (matrix.p_values[i, j], matrix.adjusted_p_values[i, j])
    return [text + matrix.marks[i][j], *("-" if np.isnan(p) else f"{p:.2g}" for p in p_values)]


def _extremes(screen: Screen, matrix: fj.results.Matrix, most: int) -> list[str]:
    """Return the most and the least similar pairs, where the whole is too wide."""
    i, j = np.triu_indices(len(matrix.names), 1)
    values = matrix.values[i, j]
    order = np.argsort(-values, kind="stable")
    order = order[~np.isnan(values[order])]
    most = min(most, order.size)
    shown = [*order[:most], *order[order.size - most :]]
    tested = _p_header(matrix)
    room = screen.width - ROOM_FOR_VALUE - ROOM_FOR_P * bool(tested)
    names = [screen.fit(label(name), room // 2) for name in matrix.names]
    rows = [[names[i[t]], names[j[t]], *_cell(matrix, i[t], j[t])] for t in shown]
    lines = table(screen, ["most similar", "", "value", *tested], rows[:most], left=(0, 1))
    lines += ["", *table(screen, ["least similar", "", "value", *tested], rows[most:], left=(0, 1))]
    return [*lines, "", *screen.wrap("Too many rankings for this width: --csv, --json or --plot FILE give them all.")]
