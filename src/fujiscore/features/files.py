"""A study as a folder of files: tables, a summary and figures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from fujiscore.charts import figure
from fujiscore.charts.result import charts_of
from fujiscore.errors import MissingExtraError, choice
from fujiscore.features.charts import curve_charts, rank_charts, stability_chart
from fujiscore.features.report import markdown, tables
from fujiscore.text.tables import to_csv
from fujiscore.work.files import results_folder

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from fujiscore.charts.kinds import Chart
    from fujiscore.features.study import Study

    Drawing: TypeAlias = tuple[tuple[float, float], Callable[[Any], Any]]

MADE_BY = "fuji study"
SUMMARY = "summary.md"
FORMATS = ("png", "svg", "pdf")
# Columns of a figure of curves.
COLUMNS = 4


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

        for name, (size, draw) in figures(study).items():
            new = Figure(figsize=size, layout="constrained")
            draw(new)
            with (folder / f"{name}.{picture_format}").open("wb") as file:
                figure.write_figure(new, file, picture_format)
    (folder / SUMMARY).write_bytes(markdown(study).encode())


def _draw(chart: Chart, on: Any) -> None:
    """Draw a chart alone."""
    figure.draw(chart, on.add_subplot())


def figures(study: Study) -> dict[str, Drawing]:
    """Return the size of each figure and what draws it; both heat maps have the same order."""
    matrix = study.matrix.clustered()
    charts = {"matrix": charts_of(matrix)[0]}
    if matrix.expected is not None:
        charts["matrix_corrected"] = charts_of(matrix.as_corrected())[0]
    charts["stability"] = stability_chart(study)
    drawings: dict[str, Drawing] = {
        name: (figure.size(chart, (0.8, 0.6)), partial(_draw, chart)) for name, chart in charts.items()
    }
    if study.curves:
        title, curves = curve_charts(study)
        rows, columns = -(-len(curves) // COLUMNS), min(len(curves), COLUMNS)
        draw = partial(figure.panels, charts=curves, columns=columns, legend_at="outside lower center", title=title)
        drawings["curves"] = ((max(1.0 + 2.4 * columns, 5.2), 1.2 + 1.9 * rows), draw)
    if study.ranks:
        ranks = rank_charts(study)
        draw = partial(figure.panels, charts=ranks, columns=1, legend_at="outside upper center")
        drawings["ranks"] = ((6.4, sum(figure.size(chart)[1] for chart in ranks)), draw)
    return drawings
