"""Compute all sections, draw the figures, and write the folder, complete or not at all."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fujiscore._version import __version__
from fujiscore.errors import InputError, MissingExtraError, spelled
from fujiscore.paper import figures, forest, genes, page, properties, scenarios, sources, study, theory
from fujiscore.paper.record import VERDICTS, Claim, Figure, Section
from fujiscore.text.data import to_json
from fujiscore.work.files import Results, results_folder
from fujiscore.work.tiles import run

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


COMMAND = "fuji paper"
DPI = 140


@dataclass(frozen=True)
class Reproduction:
    """All sections, computed.

    Attributes
    ----------
    sections : sequence of Section
        In the page's order.
    altered : sequence of str
        Ranking files whose content differs from the published one.
    seconds : float
        Computing time.
    """

    sections: Sequence[Section]
    altered: Sequence[str]
    seconds: float

    @property
    def claims(self) -> list[Claim]:
        """All statements, in the order of their numbers."""
        return sorted((claim for section in self.sections for claim in section.claims), key=lambda claim: claim.number)

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of statements with each verdict."""
        return {verdict: sum(claim.judged.verdict == verdict for claim in self.claims) for verdict in VERDICTS}

    def statements(self) -> dict[str, Any]:
        """Return all statements and verdicts as plain data."""
        claims = [asdict(claim) for claim in self.claims]
        return {"verdicts": self.verdicts, "altered": list(self.altered), "claims": claims}


def compute(rankings: Path | None = None, data: Path | None = None) -> Reproduction:
    """Compute the paper's scenarios, properties, bounds and study, and judge its statements.

    Parameters
    ----------
    rankings : Path, optional
        The folder of the published .fimp files; without it the study is left out, and its statements stay unchecked.
    data : Path, optional
        The folder of raw data as Parquet files, to compute RF correctly and count the examples; needs `rankings`.
    """
    if data is not None and rankings is None:
        raise InputError(f"{spelled('data')} needs the published rankings too: pass {spelled('rankings')}.")
    start = time.perf_counter()
    sets = None if rankings is None else sources.load(rankings)
    altered = [] if rankings is None else sources.unpublished(rankings)
    corrected, examples = (None, None) if data is None or sets is None else forest.recompute(data, sets)
    sections = [
        scenarios.section(),
        properties.section(),
        theory.bounds_section(),
        theory.chance_section(),
        study.section(sets, corrected, examples),
        forest.section(sets, corrected),
        genes.section(sets),
    ]
    return Reproduction(sections, altered, time.perf_counter() - start)


def write(result: Reproduction, out: Path, *, force: bool = False, progress: bool | None = None) -> float:
    """Write the page, figures, tables and statements to a folder; return the seconds that drawing took.

    Parameters
    ----------
    result : Reproduction
        What `compute` returned.
    out : Path
        The folder. One that this function wrote earlier is replaced; in any other folder that is not empty, files are
        replaced only with `force`, and other files stay.
    force : bool
        Write into a folder that holds other files.
    progress : bool, optional
        Show a progress bar; by default on a terminal.
    """
    with claim(out, force=force) as results:
        seconds = fill(result, results.new, progress=progress)
        results.publish()
    return seconds


def claim(out: Path, *, force: bool) -> AbstractContextManager[Results]:
    """Return the folder to be filled; raises, before any work, if it cannot be written or figures cannot be drawn."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("the paper's figures need matplotlib: pip install 'fujiscore[plot]'") from error
    return results_folder(out, COMMAND, argument="out", force=force)


def fill(result: Reproduction, folder: Path, *, progress: bool | None = None) -> float:
    """Write all files into a folder; return the seconds that drawing took."""
    start = time.perf_counter()
    (folder / "figures").mkdir()
    drawn = [(figure, folder / "figures" / figure.name) for section in result.sections for figure in section.figures]
    run(_draw, drawn, n_jobs=1, progress=progress, label="figures")
    drawing = time.perf_counter() - start
    (folder / "tables").mkdir()
    texts = {f"tables/{table.name}.csv": table.to_csv() for section in result.sections for table in section.tables}
    texts["claims.json"] = to_json({"command": COMMAND, "version": __version__, **result.statements()})
    texts["claims.md"] = page.markdown(result.claims, result.verdicts)
    texts["index.html"] = page.html(result, folder / "figures")
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return drawing


def _draw(figure: Figure, path: Path) -> None:
    """Draw a figure as PNG and SVG, and write its numbers beside it."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    with mpl.rc_context(figures.STYLE):
        canvas = Canvas(figsize=figure.size, layout="constrained")
        figure.draw(canvas)
        canvas.savefig(f"{path}.png", dpi=DPI)
        # The layout is final: solving it again for the second format would cost as much as the drawing.
        canvas.set_layout_engine("none")
        canvas.savefig(f"{path}.svg", metadata={"Date": None})
    Path(f"{path}.csv").write_text(figure.to_csv(), encoding="utf-8")


def peak_memory() -> float | None:
    """Return the largest memory that the process has used, in MB."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(used / (1e6 if sys.platform == "darwin" else 1e3), 1)
