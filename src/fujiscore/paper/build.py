"""Compute all sections, draw the figures, and write the folder, complete or not at all."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fujiscore import __version__
from fujiscore.errors import InputError, MissingExtraError, spelled
from fujiscore.paper import figures, forest, genes, page, properties, scenarios, sources, study, theory
from fujiscore.paper.record import VERDICTS
from fujiscore.tables import to_json
from fujiscore.tiles import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fujiscore.paper.record import Claim, Figure, Section

# Marks a folder as written by this program; it lists the files, so that a later run can replace them.
RECORD = "run.json"
MADE_BY = {"command": "fuji paper", "version": __version__}
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
        return [claim for section in self.sections for claim in section.claims]

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
        The folder of raw data as Parquet files, to compute RF correctly; needs `rankings`.
    """
    if data is not None and rankings is None:
        raise InputError(f"{spelled('data')} needs the published rankings too: pass {spelled('rankings')}.")
    start = time.perf_counter()
    sets = None if rankings is None else sources.load(rankings)
    altered = [] if rankings is None else sources.unpublished(rankings)
    corrected = None if data is None or sets is None else forest.corrected_sets(data, sets)
    sections = [
        scenarios.section(),
        properties.section(),
        theory.bounds_section(),
        theory.chance_section(),
        study.section(sets, corrected),
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
        The folder. A folder that this function wrote earlier is replaced; in any other folder that is not empty, files
        are replaced only with `force`, and other files stay.
    force : bool
        Write into a folder that holds other files.
    progress : bool, optional
        Show a progress bar; by default on a terminal.
    """
    check_folder(out, force=force)
    folder = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        start = time.perf_counter()
        (folder / "figures").mkdir()
        drawn = [
            (figure, folder / "figures" / figure.name) for section in result.sections for figure in section.figures
        ]
        run(_draw, drawn, n_jobs=1, progress=progress, label="figures")
        drawing = time.perf_counter() - start
        _write_texts(folder, result, drawing)
        _move(folder, out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return drawing


def check_folder(out: Path, *, force: bool) -> None:
    """Raise, before any work, if the folder cannot be written or holds other files, or figures cannot be drawn."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("the paper's figures need matplotlib: pip install 'fujiscore[plot]'") from error
    named = spelled("out", str(out))
    if out.exists() and not out.is_dir():
        raise InputError(f"{named} must be a folder; it is a file.")
    if not out.parent.is_dir():
        raise InputError(f"{named}: the folder {out.parent} does not exist. Create it first.")
    if out.is_dir() and any(out.iterdir()) and not force and not _record(out):
        raise InputError(
            f"{named}: the folder holds files that this command did not write. Use {spelled('force')} to write into it "
            "(files with the same names are replaced), or choose another folder."
        )


def _record(out: Path) -> dict[str, Any]:
    """Return the record of an earlier run; empty if the folder has none."""
    try:
        record = json.loads((out / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) and record.get("command") == MADE_BY["command"] else {}


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


def _write_texts(folder: Path, result: Reproduction, drawing: float) -> None:
    """Write the tables, the statements and the page, and at last what the run took and which files it made."""
    (folder / "tables").mkdir()
    texts = {f"tables/{table.name}.csv": table.to_csv() for section in result.sections for table in section.tables}
    texts["claims.json"] = to_json({**MADE_BY, **result.statements()})
    texts["claims.md"] = page.markdown(result.claims, result.verdicts)
    texts["index.html"] = page.html(result, folder / "figures")
    seconds = {"computing": round(result.seconds, 2), "drawing": round(drawing, 2)}
    names = sorted([*texts, *(f"figures/{path.name}" for path in (folder / "figures").iterdir())])
    record = {**MADE_BY, "seconds": seconds, "peak_memory_mb": peak_memory(), "files": [*names, RECORD]}
    texts[RECORD] = to_json(record)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def _move(folder: Path, out: Path) -> None:
    """Move finished files into place; delete files of an earlier run that are no longer made, and keep all others."""
    if not out.exists():
        folder.chmod(0o755)
        folder.rename(out)
        return
    earlier, made = _record(out).get("files", []), _record(folder)["files"]
    for name in made:
        (out / name).parent.mkdir(exist_ok=True)
        (folder / name).replace(out / name)
    for name in set(map(str, earlier)) - set(made):
        if (out / name).is_file() and (out / name).resolve().is_relative_to(out.resolve()):
            (out / name).unlink()


def peak_memory() -> float | None:
    """Return the largest memory that the process has used, in MB."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(used / (1e6 if sys.platform == "darwin" else 1e3), 1)
