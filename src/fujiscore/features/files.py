"""A study as a folder of files: tables, a summary and figures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fujiscore.errors import MissingExtraError, choice
from fujiscore.features.report import by_stability, markdown, most_similar, short_methods, stability_kinds, tables
from fujiscore.measures.registry import find
from fujiscore.text.tables import to_csv
from fujiscore.work.files import results_folder

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from fujiscore.features.study import Study

    Drawing: TypeAlias = tuple[tuple[float, float], Callable[[Any], Any]]

MADE_BY = "fuji study"
SUMMARY = "summary.md"
FORMATS = ("png", "svg", "pdf")
# A figure of curves shows at most so many pairs, in so many columns; names of methods are shortened.
MOST_PAIRS, COLUMNS, NAME = 60, 4, 26
# The most features that a figure of ranks shows.
MOST_ITEMS = 30


def save(
    study: Study, folder: str | os.PathLike[str], *, pictures: bool | None, picture_format: str, force: bool
) -> list[Path]:
    """Write all files of a study to a folder, complete or not at all."""
    choice("picture_format", picture_format, FORMATS)
    with results_folder(folder, MADE_BY, argument="folder", force=force) as results:
        write(study, results.new, pictures=pictures, picture_format=picture_format)
        return results.publish()


def write(study: Study, folder: Path, *, pictures: bool | None = None, picture_format: str = "png") -> None:
    """Write all files of a study into a folder."""
    installed = find_spec("matplotlib") is not None
    if pictures and not installed:
        raise MissingExtraError("figures need matplotlib: pip install 'fujiscore[plot]'")
    for name, table in tables(study).items():
        (folder / name).write_bytes(to_csv(*table).encode())
    if installed and pictures is not False:
        from matplotlib.figure import Figure

        from fujiscore.charts.plots import write_figure

        for name, (size, draw) in figures(study).items():
            figure = Figure(figsize=size, layout="constrained")
            draw(figure)
            with (folder / f"{name}.{picture_format}").open("wb") as file:
                write_figure(figure, file, picture_format)
    (folder / SUMMARY).write_bytes(markdown(study).encode())


def figures(study: Study) -> dict[str, Drawing]:
    """Return the size of each figure and what draws it; both heat maps have the same order."""
    from fujiscore.charts.matrix_plots import matrix_size

    side, matrix = min(len(study.methods), 24), study.matrix.clustered()
    heat = matrix_size(matrix, 0.8, 0.6)
    drawings: dict[str, Drawing] = {"matrix": (heat, lambda figure: matrix.plot(figure.add_subplot()))}
    if matrix.expected is not None:
        corrected = matrix.as_corrected()
        drawings["matrix_corrected"] = (heat, lambda figure: corrected.plot(figure.add_subplot()))
    if study.curves:
        shown = min(len(study.curves), MOST_PAIRS)
        rows, columns = -(-shown // COLUMNS), min(shown, COLUMNS)
        drawings["curves"] = ((max(1.0 + 2.4 * columns, 5.2), 1.2 + 1.9 * rows), partial(draw_curves, study))
    if study.ranks:
        height = len(study.ranks) * (1.25 + 0.24 * min(study.settings["top"], study.rankings.n, MOST_ITEMS))
        drawings["ranks"] = ((6.4, height), partial(draw_ranks, study))
    return {**drawings, "stability": ((6.4, 1.8 + 0.5 * side), partial(draw_stability, study))}


def draw_curves(study: Study, figure: Any) -> None:
    """Draw the curve of each pair against chance on Axes of its own, the most similar first."""
    from fujiscore.charts.plots import SMALL, legend

    pairs, title = most_similar(study), f"{find(study.matrix.measure).title} over k ({study.settings['area']})"
    if len(pairs) > MOST_PAIRS:
        half = MOST_PAIRS // 2
        title += f", the {half} most and the {half} least similar of {len(pairs)} pairs"
        pairs = pairs[:half] + pairs[-half:]
    columns = min(len(pairs), COLUMNS)
    grid = figure.subplots(-(-len(pairs) // columns), columns, sharex=True, sharey=True, squeeze=False)
    panels = grid.ravel()
    for ax, pair in zip(panels, pairs, strict=False):
        _draw_pair(study, pair, ax)
    for ax in panels[len(pairs) :]:
        ax.remove()
    for ax in panels[max(0, len(pairs) - columns) : len(pairs)]:
        ax.tick_params(labelbottom=True)
        ax.set_xlabel("k, number of top features", **SMALL)
    figure.suptitle(title, fontsize="medium")
    legend(panels[0], figure, loc="outside lower center", ncols=3, **SMALL)


def _draw_pair(study: Study, pair: tuple[str, str], ax: Any) -> None:
    """Draw the curve of one pair, and its chance level if that is known."""
    from fujiscore.charts.plots import LITERAL, chance_level, style

    comparison, names = study.curves[pair], short_methods(study, NAME)
    curve = comparison[study.matrix.measure]
    ax.plot(curve.ks, curve.values, marker="o", markersize=2.5, **style(curve.measure))
    level = comparison.chance.get(curve.measure)
    if level is not None:
        chance_level(ax, level, simultaneous=True)
    a, b = (names[name] for name in pair)
    ax.set_title(f"{a}\n{b}\n{curve.value:.3f}", fontsize=7.5, **LITERAL)
    if study.settings["ks"] == "exp":  # so that the area seen is the area computed
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:g}")
    ax.tick_params(labelsize=7)
    ax.set_ylim(min(-0.03, max(-1.0, float(np.nanmin(curve.values, initial=0.0))) - 0.03), 1.03)
    ax.grid(alpha=0.25)


def draw_stability(study: Study, figure: Any) -> None:
    """Draw the stability of each method with its interval: filled the raw values, open those corrected for chance."""
    from fujiscore.charts.plots import LITERAL, LONGEST, SMALL, colour, legend

    ax, shown, names = figure.add_subplot(), short_methods(study, LONGEST), by_stability(study)[::-1]
    shade = colour(study.matrix.measure)
    for i, (label, kind) in enumerate(stability_kinds(study).items()):
        values, low, high = np.array([(kind[name].value, kind[name].low, kind[name].high) for name in names]).T
        places = np.arange(len(names)) + (0.12 if i == 0 else -0.12)
        look = {"fmt": "o", "color": shade, "markerfacecolor": "white" if i else shade, "capsize": 3, "label": label}
        ax.errorbar(values, places, xerr=(values - low, high - values), **look)
    labels = [f"{shown[name]} (flat)" if study.flat_resamples[name] else shown[name] for name in names]
    ax.set_yticks(range(len(names)), labels, **LITERAL)
    ax.set_ylim(-0.6, len(names) - 0.4)
    measured = f"mean {find(study.matrix.measure).title} ({study.settings['area']})\nover resamples"
    ax.set_xlabel(f"stability: {measured}, {study.settings['confidence']:.0%} interval")
    ax.grid(alpha=0.25, axis="x")
    legend(ax, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, **SMALL)


def draw_ranks(study: Study, figure: Any) -> None:
    """Draw the rank intervals of the first features of each method on Axes of its own."""
    from fujiscore.charts.plots import LITERAL, LONGEST, SMALL, legend

    names, panels = short_methods(study, LONGEST), figure.subplots(len(study.ranks), 1, squeeze=False).ravel()
    for ax, (name, ranks) in zip(panels, study.ranks.items(), strict=True):
        ranks.plot(ax, items=min(study.settings["top"], MOST_ITEMS))
        ax.get_legend().remove()
        ax.set_title(names[name], fontsize="medium", **LITERAL)
    legend(panels[0], figure, loc="outside upper center", ncols=3, **SMALL)
