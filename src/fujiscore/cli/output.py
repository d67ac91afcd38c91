"""What commands write: text, JSON, CSV or Markdown, to the terminal or a file, and figures."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fujiscore._version import __version__
from fujiscore.charts import figure
from fujiscore.cli.terminal import FILE, GREEN, ORANGE, Screen, label, terminal
from fujiscore.errors import InputError, MissingExtraError, one_line
from fujiscore.text.data import ascii_json, to_json
from fujiscore.text.tables import to_csv
from fujiscore.text.tabular import data_of
from fujiscore.work.files import write_atomically

if TYPE_CHECKING:
    from fujiscore.charts.kinds import Chart
    from fujiscore.cli.options import Writing
    from fujiscore.pages.page import Page
    from fujiscore.pair.gates import Verdict

FIGURES = (".png", ".svg", ".pdf")
PAGES = (".html", ".htm")


@dataclass(frozen=True)
class Report:
    """One result in its forms, each made only if asked for, the notes that go with it, and what gates say of it.

    `data` is what the library's `to_dict` gives and what only the command knows; `columns` are those of CSV. Markdown,
    as text, and Parquet, which is written to an open file, are forms that few commands have.
    """

    command: str
    text: Callable[[Screen], Sequence[str]]
    data: Callable[[], Mapping[str, Any]]
    columns: Callable[[], Mapping[str, Any]] = dict
    notes: Sequence[str] = ()
    verdict: Verdict | None = None
    markdown: Callable[[], str] | None = None
    parquet: Callable[[Any], None] | None = None


def heading(screen: Screen, command: str, names: Sequence[str], roles: Sequence[str] = ("A", "B")) -> str:
    """Return the first line of a report: which of the two is which."""
    room = max(8, (screen.width - len(command) - 15 - len("".join(roles))) // 2)
    sides = [f"{role} = {screen.fit(label(name), room)}" for role, name in zip(roles, names, strict=True)]
    return f"fuji {command}: {', '.join(sides)}"


def note(writing: Writing, text: str) -> None:
    """Print a line on standard error, unless asked to be quiet; on a terminal wrapped."""
    if not writing.quiet:
        lines = terminal().wrap(one_line(text)) if sys.stderr.isatty() else [one_line(text)]
        click.echo("\n  ".join(lines), err=True)


def check_destinations(
    writing: Writing, inputs: Sequence[str], plot: str | None = None, html: str | None = None
) -> None:
    """Raise, before any work, if a file cannot be written or exists already."""
    asked = [f"--{form}" for form in ("json", "csv", "markdown") if getattr(writing, form)]
    if len(asked) > 1:
        raise click.UsageError(f"{' and '.join(asked)} exclude each other: pass one of them.")
    if plot is not None and Path(plot).suffix.lower() not in FIGURES:
        raise click.UsageError(f"--plot must end in {', '.join(FIGURES)}; got {plot!r}.")
    if html is not None and Path(html).suffix.lower() not in PAGES:
        raise click.UsageError(f"--html must end in {' or '.join(PAGES)}; got {html!r}.")
    if plot is not None and plot == writing.out:
        raise click.UsageError("--out and --plot must name two files.")
    if html is not None and html == writing.out:
        raise click.UsageError("--out and --html must name two files.")
    for option, name in (("--out", writing.out), ("--plot", plot), ("--html", html)):
        if name is not None and name != "-":
            _check_destination(option, Path(name), inputs, force=writing.force)


def _check_destination(option: str, path: Path, inputs: Sequence[str], *, force: bool) -> None:
    """Raise if one file cannot be written, is an input, or exists."""
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: the folder {path.parent} does not exist. Create it first.")
    if not path.exists():
        return
    if not path.is_file():
        raise InputError(f"{option} {path}: this is not an ordinary file. Name another one.")
    read = (Path(name) for name in (whole for given in inputs for whole in (given, given.rpartition(":")[0])))
    if any(os.path.isfile(file) and file.samefile(path) for file in read):  # noqa: PTH113 - False where it cannot be one
        raise InputError(f"{option} {path}: this file is read as input. Name another one.")
    if not force:
        raise InputError(f"{option} {path}: the file exists already. Pass --force to replace it, or name another one.")


def deliver(report: Report, writing: Writing) -> int:
    """Write a report where it was asked for, and return the exit code: 1 if a gate failed.

    A file's ending decides its format if no option does. Where the text does not show failed gates, a line each does.
    """
    path = None if writing.out in {None, "-"} else Path(str(writing.out))
    form = writing.form
    if path is not None and form == "parquet" and report.parquet is not None:
        write_atomically(path, report.parquet, replace=writing.force)
    else:
        screen = terminal() if path is None else FILE
        text = _written(report, form, screen)
        if path is None:
            _print(ascii_json(text) if form == "json" and not _can_print(text) else text)
        else:
            content = text.encode("utf-8", "backslashreplace")
            write_atomically(path, lambda file: file.write(content), replace=writing.force)
    if form == "csv":
        for said in report.notes:
            note(writing, f"Note: {said}")
    if path is not None:
        note(writing, f"report: {path}")
    if report.verdict is None or report.verdict.passed:
        return 0
    if form != "text" or path is not None:
        for line in report.verdict.failed():
            click.echo(f"fuji {report.command}: {line}", err=True)
    return 1


def _written(report: Report, form: str, screen: Screen) -> str:
    """Return a report in one of its forms."""
    if form == "json":
        gates = {} if report.verdict is None else data_of(report.verdict)
        head = {"command": f"fuji {report.command}", "version": __version__}
        return to_json({**head, **report.data(), **gates, "notes": list(report.notes)})
    if form == "csv":
        columns = report.columns()
        rows = (column if isinstance(column, list) else column.tolist() for column in columns.values())
        return to_csv(list(columns), zip(*rows, strict=True))
    if form == "markdown" and report.markdown is not None:
        return report.markdown()
    lines = [*report.text(screen), *(_gates(screen, report.verdict) if report.verdict else ())]
    return "\n".join([*lines, *screen.notes(report.notes)]) + "\n"


def _gates(screen: Screen, verdict: Verdict) -> list[str]:
    """Return one line per gate, coloured, beneath a blank one."""
    shades = [GREEN if check.passed else ORANGE for check in verdict.checks]
    pairs = zip(verdict.lines(), shades, strict=True)
    lines = [screen.style(text, shade) for line, shade in pairs for text in screen.wrap(line)]
    return ["", *lines] if lines else []


def _can_print(text: str) -> bool:
    """Return whether standard output has every character."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _print(text: str) -> None:
    """Print; escape codes stay as they are, whatever click thinks of the terminal."""
    click.echo(text, nl=False, color=True)


def draw(plot: str, writing: Writing, charts: Sequence[Chart]) -> None:
    """Draw charts on axes of one size, up to three side by side, and write the figure."""
    columns = len(charts) if len(charts) <= 3 else 2
    rows = -(-len(charts) // columns)
    widths, heights = zip(*map(figure.size, charts), strict=True)

    def on(new: Any) -> None:
        for i, chart in enumerate(charts):
            figure.draw(chart, new.add_subplot(rows, columns, i + 1))

    draw_figure(plot, writing, on, (max(widths) * columns, max(heights) * rows))


def draw_figure(plot: str, writing: Writing, draw_on: Callable[[Any], Any], size: tuple[float, float]) -> None:
    """Draw on a figure and write it."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("--plot needs matplotlib: pip install 'fujiscore[plot]'") from error
    new = Figure(figsize=size, layout="constrained")
    draw_on(new)
    path = Path(plot)
    kind = path.suffix[1:].lower()
    write_atomically(path, lambda file: figure.write_figure(new, file, kind), replace=writing.force)
    note(writing, f"figure: {path}")


def write_page(html: str, writing: Writing, page: Page) -> None:
    """Write a page of charts."""
    from fujiscore.pages.page import write

    write(page, html, force=writing.force)
    note(writing, f"page: {html}")
