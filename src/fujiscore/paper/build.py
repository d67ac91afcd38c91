"""Rebuild the paper: compute all sections, draw the pictures, write the folder whole or not at all."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fujiscore import __version__
from fujiscore.errors import InputError, MissingExtraError
from fujiscore.paper import (
    by_chance,
    extremes,
    forest,
    genes,
    page,
    pictures,
    properties,
    scenarios,
    sources,
    study,
    study_claims,
)
from fujiscore.paper.record import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fujiscore.paper.record import Claim, Picture, Section

# What marks a folder as written by this program; it lists the files, so that a later run can replace them.
RECORD = "run.json"
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
        Ranking files whose content is not the published one.
    seconds : float
        How long it took.
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
        """How many statements have each verdict."""
        return {verdict: sum(claim.judged.verdict == verdict for claim in self.claims) for verdict in VERDICTS}


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
        raise InputError("--data needs the published rankings too. Leave out --no-rankings.")
    start = time.perf_counter()
    published = None if rankings is None else sources.load(rankings)
    sets = None if published is None else published.sets
    corrected = None if data is None or sets is None else forest.corrected_sets(data, sets)
    sections = [
        scenarios.section(),
        properties.section(),
        extremes.section(),
        by_chance.section(),
        replace(study.section(sets), claims=study_claims.claims(sets, corrected)),
        forest.section(sets, corrected),
        genes.section(sets),
    ]
    return Reproduction(sections, published.altered if published else (), time.perf_counter() - start)


def write(found: Reproduction, out: Path, *, force: bool = False, progress: bool | None = None) -> float:
    """Write the page, the pictures, tables and statements to a folder; return the seconds that drawing took.

    Parameters
    ----------
    found : Reproduction
        What `compute` returned.
    out : Path
        The folder. One that this function wrote earlier is replaced; in another one that is not empty files are
        replaced only with `force`, and other files stay.
    force : bool
        Write into a folder that holds other files.
    progress : bool, optional
        Show a progress bar; by default on a terminal.
    """
    check_folder(out, force=force)
    folder = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        start = time.perf_counter()
        _write_pictures(folder, [own for section in found.sections for own in section.pictures], progress=progress)
        drawing = time.perf_counter() - start
        _write_texts(folder, found)
        _write_record(folder, found, drawing)
        _move(folder, out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return drawing


def check_folder(out: Path, *, force: bool) -> None:
    """Raise, before any work, if the folder cannot be written, holds files of others, or pictures cannot be drawn."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("the paper's pictures need matplotlib: pip install 'fujiscore[plot]'") from error
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out}: this is a file. Name a folder.")
    if not out.parent.is_dir():
        raise InputError(f"--out {out}: the folder {out.parent} does not exist. Create it first.")
    if out.is_dir() and any(out.iterdir()) and not force and not _record(out):
        raise InputError(
            f"--out {out}: the folder holds files that this command did not write. Pass --force to write into it "
            "(files of the same names are replaced), or name another one."
        )


def _record(out: Path) -> dict[str, Any] | None:
    """Return the record of an earlier run, if the folder has one."""
    try:
        found = json.loads((out / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("command") == COMMAND else None


def _write_pictures(folder: Path, drawn: Sequence[Picture], *, progress: bool | None) -> None:
    """Draw every picture once, as PNG and SVG, with its numbers beside it."""
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from tqdm import tqdm

    figures = folder / "figures"
    figures.mkdir()
    hidden = not (sys.stderr.isatty() if progress is None else progress)
    with mpl.rc_context(pictures.STYLE):
        for own in tqdm(drawn, desc="pictures", leave=False, disable=hidden):
            figure = Figure(figsize=own.size, layout="constrained")
            own.draw(figure)
            figure.savefig(figures / f"{own.name}.png", dpi=DPI)
            # The layout is settled: solving it again for the second format would cost as much as the drawing.
            figure.set_layout_engine("none")
            figure.savefig(figures / f"{own.name}.svg", metadata={"Date": None})
            (figures / f"{own.name}.csv").write_text(own.numbers.to_csv(), encoding="utf-8")


def _write_texts(folder: Path, found: Reproduction) -> None:
    """Write the tables, the statements and the page."""
    tables = folder / "tables"
    tables.mkdir()
    for section in found.sections:
        for table in section.tables:
            (tables / f"{table.name}.csv").write_text(table.to_csv(), encoding="utf-8")
    content = {"command": COMMAND, "version": __version__, **statements(found)}
    (folder / "claims.json").write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "claims.md").write_text(page.markdown(found.claims), encoding="utf-8")
    (folder / "index.html").write_text(page.html(found.sections, folder / "figures", found.altered), encoding="utf-8")


def statements(found: Reproduction) -> dict[str, Any]:
    """Return all statements and verdicts as plain data."""
    claims = [{"number": number, **asdict(claim)} for number, claim in enumerate(found.claims, 1)]
    return {"verdicts": found.verdicts, "altered": list(found.altered), "claims": claims}


def _write_record(folder: Path, found: Reproduction, drawing: float) -> None:
    """Write what this run took and which files it made."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    content = {
        "command": COMMAND,
        "version": __version__,
        "seconds": {"computing": round(found.seconds, 2), "drawing": round(drawing, 2)},
        "peak_memory_mb": peak_memory(),
        "files": [*names, RECORD],
    }
    (folder / RECORD).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _move(folder: Path, out: Path) -> None:
    """Move finished files into place; those of an earlier run that are no longer made go, other files stay."""
    if not out.exists():
        folder.chmod(0o755)
        folder.rename(out)
        return
    earlier = (_record(out) or {}).get("files", [])
    made = [path for path in folder.rglob("*") if path.is_file()]
    kept = {path.relative_to(folder).as_posix() for path in made}
    for path in made:
        target = out / path.relative_to(folder)
        target.parent.mkdir(exist_ok=True)
        path.replace(target)
    for name in earlier:
        stale = out / str(name)
        if name not in kept and stale.is_file() and stale.resolve().is_relative_to(out.resolve()):
            stale.unlink()


def peak_memory() -> float | None:
    """Return the largest memory that the process has used, in MB."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(used / (1e6 if sys.platform == "darwin" else 1e3), 1)
