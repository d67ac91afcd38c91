"""`fuji matrix`: all pairs of many rankings, or one against all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

import fujiscore as fj
from fujiscore.charts.result import charts_of
from fujiscore.charts.terminal import heat_map
from fujiscore.cli import inputs, options
from fujiscore.cli.output import Report, check_destinations, deliver, draw, write_page
from fujiscore.cli.terminal import Screen, fitted
from fujiscore.errors import NAME, InputError, first_few, shown
from fujiscore.io.documents import exists
from fujiscore.measures.registry import find
from fujiscore.text.tables import free_name

EXTREMES = 10


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
    notes = tuple(dict.fromkeys(note for matrix in matrices for note in matrix.notes))
    return Report(
        "matrix",
        lambda screen: _text(screen, matrices, n, show),
        lambda: _data(matrices),
        lambda: _columns(matrices),
        notes,
    )


def _data(matrices: list[fj.results.Matrix]) -> dict[str, Any]:
    """Return the matrices as one, what belongs to a measure under its name."""
    data, *others = (matrix.to_dict() for matrix in matrices)
    for other in others:
        for key, part in other.items():
            if isinstance(part, dict):
                data[key] |= part
    return data


def _columns(matrices: list[fj.results.Matrix]) -> dict[str, Any]:
    """Return the matrices one below the other, and p-values where pairs were tested."""
    first = matrices[0]
    parts = [
        (matrix, kind, values)
        for matrix in matrices
        for kind, values in (
            (matrix.area, matrix.values),
            ("p_value", matrix.p_values),
            ("adjusted_p_value", matrix.adjusted_p_values),
        )
        if values is not None
    ]
    names = [name for matrix, *_ in parts for name in matrix.names]
    if len(parts) > 1:
        repeated = [[matrix.measure, kind] for matrix, kind, _ in parts for _ in matrix.names]
        head = {"measure": [row[0] for row in repeated], "value": [row[1] for row in repeated], "ranking": names}
    else:
        title = first.area.replace(",", "").replace("-", "_").replace(" ", "_").lower()
        head = {f"{title}_{first.measure}": names}
    cells = np.concatenate([values for *_, values in parts])
    for j, name in enumerate(first.columns):
        head[free_name(name, head)] = cells[:, j].tolist()
    return head


def _text(screen: Screen, matrices: list[fj.results.Matrix], n: int, show: int | None) -> list[str]:
    """Return one heat map per measure, or a list where there is one row or no room."""
    first = matrices[0]
    count = len(set(first.names) | set(first.columns))
    areas = " and ".join(dict.fromkeys(matrix.area for matrix in matrices))
    lines = [*screen.wrap(f"fuji matrix: {areas}"), f"{count} rankings of {n} items, {first.grid.described()}"]
    for matrix in matrices:
        title = f"{find(matrix.measure).title}: {matrix.area}"
        if not first.square:
            shown = [(0, j) for j in range(len(matrix.columns))][:show]
            more = [f"... {len(matrix.columns) - len(shown)} more rows"] if len(shown) < len(matrix.columns) else []
            lines += ["", *fitted(screen, matrix.pairs_table(title, shown)), *more]
            continue
        drawn = heat_map(screen, charts_of(matrix)[0])
        lines += ["", screen.style(title, bold=True), *(drawn or _extremes(screen, matrix, show or EXTREMES))]
    return lines if first.p_values is None else [*lines, "", *screen.wrap(first.legend)]


def _extremes(screen: Screen, matrix: fj.results.Matrix, most: int) -> list[str]:
    """Return the most and the least similar pairs, where the whole is too wide."""
    i, j = np.triu_indices(len(matrix.names), 1)
    values = matrix.values[i, j]
    order = np.argsort(-values, kind="stable")
    pairs = [(int(i[t]), int(j[t])) for t in order[~np.isnan(values[order])]]
    lines = fitted(screen, matrix.pairs_table("most similar", pairs[:most]))
    lines += ["", *fitted(screen, matrix.pairs_table("least similar", pairs[-min(most, len(pairs)) :]))]
    return [*lines, "", *screen.wrap("Too many rankings for this width: --csv, --json or --plot FILE give them all.")]
