"""`fuji matrix`: all pairs of many rankings, or one against all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

import fujiscore as fj
from fujiscore.cli import inputs, options
from fujiscore.cli.heat import heat_map
from fujiscore.cli.outputs import Report, check_destinations, deliver, draw
from fujiscore.cli.screen import table
from fujiscore.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fujiscore.cli.screen import Screen

EXTREMES = 10


@click.command(
    cls=options.Command,
    short_help="Compare all pairs of many rankings.",
    examples=(
        "fuji matrix examples/scores.csv",
        "fuji matrix examples/scores.csv --corrected --measure fuji --measure jaccard",
        "fuji matrix examples/model_a.csv examples/model_b.csv --csv",
    ),
)
@click.argument("files", nargs=-1, required=True)
@options.measures(("fuji",))
@options.corrected("Correct for chance: 0 is chance level, 1 the maximum.")
@options.option(
    "--reference", section="Compute", metavar="NAME", help="Compare this ranking (or file) with all others."
)
@options.option(
    "--cluster/--no-cluster",
    section="Write",
    default=True,
    show_default=True,
    help="Similar rankings side by side, or in the order of the files.",
)
@options.points
@options.reading
@options.plot("Draw the heat map")
@options.writing
@options.work
def command(
    *,
    files: tuple[str, ...],
    measures: tuple[str, ...],
    corrected: bool,
    reference: str | None,
    cluster: bool,
    points: options.Points,
    reading: options.Reading,
    plot: str | None,
    writing: options.Writing,
    work: options.Work,
) -> None:
    """Compare all pairs of many rankings: every ranking of every file with every other.

    Prints the area under the curve of each pair as a heat map, similar rankings side by side. With --reference, one
    ranking against all others, the most similar first.
    """
    check_destinations(writing, files, plot)
    options.require_formula(measures, corrected=corrected)
    found = inputs.read(files, reading, writing)
    if reference is not None and reference not in inputs.names(found) and Path(reference).exists():
        found = [*inputs.read([reference], reading, writing), *found]
        reference = inputs.names(found)[0]
    held = inputs.aligned(found, reading, writing)
    if len(held) < 2:
        raise click.UsageError(f"a matrix needs at least 2 rankings; got {len(held)}. Name more files.")
    first, others = _against(held, reference) if reference is not None else (held, None)
    chosen: Any = {"ks": points.sizes(held.n, "exp"), "corrected": corrected, "negative": "clip"}
    chosen |= {"ties": reading.ties, "zero_tail": reading.zero_tail, **work.arguments(writing)}
    matrices = [fj.pairwise(first, others, measure=name, **chosen) for name in dict.fromkeys(measures)]
    matrices = _ordered(matrices, by_value=reference is not None, cluster=cluster)
    if plot is not None:
        rows, columns = matrices[0].values.shape
        size = (2.6 + 0.55 * min(columns, 24), 1.6 + 0.5 * min(rows, 24))
        draw(plot, writing, [lambda ax, own=own: own.plot(ax=ax) for own in matrices], size)  # type: ignore[misc]
    deliver(_report(matrices, held.n), writing)


def _against(held: fj.Rankings, reference: str) -> tuple[fj.Rankings, fj.Rankings]:
    """Return the reference alone, and all other rankings."""
    if reference not in held.names:
        raise click.UsageError(
            f"--reference must name a ranking or a file; got {reference!r}. The rankings are "
            f"{', '.join(held.names[:12])}{', ...' if len(held) > 12 else ''}."
        )
    at = held.names.index(reference)
    rest = [i for i in range(len(held)) if i != at]
    return (
        fj.Rankings((reference,), (held.scores[at],), held.items),
        fj.Rankings(tuple(held.names[i] for i in rest), tuple(held.scores[i] for i in rest), held.items),
    )


def _ordered(matrices: Sequence[fj.Matrix], *, by_value: bool, cluster: bool) -> list[fj.Matrix]:
    """Return the matrices all in the order that suits the first."""
    first = matrices[0]
    if by_value:
        order = np.argsort(-first.values[0], kind="stable")
        columns = tuple(first.columns[i] for i in order)
        return [replace(own, columns=columns, values=own.values[:, order]) for own in matrices]
    if not cluster:
        return list(matrices)
    names = first.clustered().names
    order = np.array([first.names.index(name) for name in names])
    return [replace(own, names=names, columns=names, values=own.values[np.ix_(order, order)]) for own in matrices]


def _report(matrices: list[fj.Matrix], n: int) -> Report:
    """Return the report in its three forms."""
    first = matrices[0]
    prefix = "corrected_auc" if first.corrected else "auc"
    several = len(matrices) > 1
    header = [prefix, "ranking", *first.columns] if several else [f"{prefix}_{first.measure}", *first.columns]
    rows = [
        [*([own.measure] if several else []), name, *values.tolist()]
        for own in matrices
        for name, values in zip(own.names, own.values, strict=True)
    ]
    data = {
        "items": n,
        "corrected": first.corrected,
        "rows": first.names,
        "columns": first.columns,
        "ks": first.ks,
        "measures": {own.measure: own.values for own in matrices},
    }
    return Report("matrix", lambda screen: _text(screen, matrices, n), lambda: data, header, lambda: rows)


def _text(screen: Screen, matrices: list[fj.Matrix], n: int) -> list[str]:
    """Return one heat map a measure, or a list where there is one row or no room."""
    first = matrices[0]
    what = "area under the curve" + (", corrected for chance" if first.corrected else "")
    held = len(set(first.names) | set(first.columns))
    lines = [
        f"fuji matrix: {what}",
        f"{held} rankings of {n} items, k = {first.ks[0]} to {first.ks[-1]} ({first.ks.size} points)",
    ]
    if not first.square:
        header = [f"{first.names[0]} and", *(MEASURES[own.measure].title for own in matrices)]
        rows = [[name, *(f"{own.values[0, j]:.4f}" for own in matrices)] for j, name in enumerate(first.columns)]
        return [*lines, "", *table(screen, header, rows)]
    for own in matrices:
        lines += ["", screen.style(MEASURES[own.measure].title, bold=True)]
        lines += heat_map(screen, own.names, own.columns, own.values) or _extremes(screen, own)
    return lines


def _extremes(screen: Screen, matrix: fj.Matrix) -> list[str]:
    """Return the most and the least similar pairs, where the whole is too wide."""
    i, j = np.triu_indices(len(matrix.names), 1)
    order = np.argsort(-matrix.values[i, j], kind="stable")
    shown = [*order[:EXTREMES], *order[-EXTREMES:]]
    rows = [[matrix.names[i[t]], matrix.names[j[t]], f"{matrix.values[i[t], j[t]]:.4f}"] for t in shown]
    lines = table(screen, ["most similar", "", "AUC"], rows[:EXTREMES], left=(0, 1))
    lines += ["", *table(screen, ["least similar", "", "AUC"], rows[EXTREMES:], left=(0, 1))]
    return [*lines, "", *screen.wrap("Too many rankings for this width: --csv, --json or --plot FILE give them all.")]
