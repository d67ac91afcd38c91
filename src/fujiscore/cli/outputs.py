"""What commands deliver: text, JSON or CSV to the terminal or a file, and pictures; files whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from fujiscore import __version__
from fujiscore.cli.screen import FILE, Screen, terminal
from fujiscore.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fujiscore.cli.options import Writing

PICTURES = (".png", ".svg", ".pdf")
# How our own reports begin: text with the command's name, JSON with its key, CSV with one of its headings.
OURS = re.compile(
    r'fuji [a-z]+: |\{\s*"command": "fuji [a-z]+"'
    r"|k,(\w+),\1_expected|k,fuji_low,|item,rank_a,rank_b,|(corrected_)?auc(_\w+)?,"
    "|group,measure,stability,|name,title,formula,"
)


@dataclass(frozen=True)
class Report:
    """One result in its three forms, each made only if asked for.

    The text's first line begins with "fuji command: ".
    """

    command: str
    text: Callable[[Screen], Sequence[str]]
    data: Callable[[], dict[str, Any]]
    header: Sequence[str]
    rows: Callable[[], Iterable[Sequence[Any]]]


def note(writing: Writing, text: str) -> None:
    """Say something on standard error, unless asked to be quiet; on a terminal in lines that fit."""
    if not writing.quiet:
        lines = terminal().wrap(text) if sys.stderr.isatty() else [text]
        click.echo("\n  ".join(lines), err=True)


def check_destinations(writing: Writing, inputs: Sequence[str], plot: str | None = None) -> None:
    """Raise, before any work, if a file cannot be written or is not ours to replace."""
    if writing.json and writing.csv:
        raise click.UsageError("--json and --csv exclude each other: pass one of them.")
    if plot is not None and Path(plot).suffix.lower() not in PICTURES:
        raise click.UsageError(f"--plot must end in {', '.join(PICTURES)}; got {plot!r}.")
    if plot is not None and plot == writing.out:
        raise click.UsageError("--out and --plot must name two files.")
    for option, name in (("--out", writing.out), ("--plot", plot)):
        if name is not None and name != "-":
            _check_destination(option, Path(name), inputs, force=writing.force, ours=option == "--out")


def _check_destination(option: str, path: Path, inputs: Sequence[str], *, force: bool, ours: bool) -> None:
    """Raise if one file cannot be written, is an input, or is there and not ours."""
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: the folder {path.parent} does not exist. Create it first.")
    if not path.exists():
        return
    if not path.is_file():
        raise InputError(f"{option} {path}: this is not an ordinary file. Name another one.")
    read = (Path(name) for name in (whole for given in inputs for whole in (given, given.rpartition(":")[0])))
    if any(own.is_file() and own.samefile(path) for own in read):
        raise InputError(f"{option} {path}: this file is read as input. Name another one.")
    if force or (ours and _is_ours(path)):
        return
    raise InputError(f"{option} {path}: the file exists already. Pass --force to replace it, or name another one.")


def _is_ours(path: Path) -> bool:
    """Return whether a file is a report that this program wrote (or empty)."""
    with path.open("rb") as file:
        head = file.read(200)
    return not head or bool(OURS.match(head.decode("utf-8", "replace")))


def deliver(report: Report, writing: Writing) -> None:
    """Write a report where it was asked for."""
    to_file = writing.out not in {None, "-"}
    if writing.json:
        text = _as_json(report)
    elif writing.csv:
        text = _as_csv(report)
    else:
        text = "\n".join(report.text(FILE if to_file else terminal())) + "\n"
    if to_file:
        path = Path(str(writing.out))
        write_whole(path, lambda file: file.write(text.encode()))
        note(writing, f"report: {path}")
    else:
        _print(text)


def _as_json(report: Report) -> str:
    """Return the report as JSON; numbers that JSON cannot hold become null."""
    data = {"command": f"fuji {report.command}", "version": __version__, **report.data()}
    return _indented(_plain(data), "") + "\n"


def _indented(value: Any, margin: str) -> str:
    """Return JSON with a line an entry, but curves and other plain lists on one line."""
    inner = margin + "  "
    if isinstance(value, dict) and value:
        entries = [f"{json.dumps(key, ensure_ascii=False)}: {_indented(own, inner)}" for key, own in value.items()]
    elif isinstance(value, list) and any(isinstance(own, (dict, list)) for own in value):
        entries = [_indented(own, inner) for own in value]
    else:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    start, end = "{}" if isinstance(value, dict) else "[]"
    return f"{start}\n{inner}" + f",\n{inner}".join(entries) + f"\n{margin}{end}"


def _plain(value: Any) -> Any:
    """Return arrays as lists, and infinite and undefined numbers as None."""
    if isinstance(value, dict):
        return {str(key): _plain(own) for key, own in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(own) for own in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _as_csv(report: Report) -> str:
    """Return the report's table; undefined values are empty cells."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(report.header)
    table.writerows(report.rows())
    return text.getvalue()


def _print(text: str) -> None:
    """Print; a reader that has gone away (| head) ends the output, not the program."""
    try:
        click.echo(text, nl=False, color=True)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still buffered would fail again when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_whole(path: Path, write: Callable[[Any], Any]) -> None:
    """Write a file under another name beside it, and rename it when it is complete."""
    path = Path(os.path.realpath(path))
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with unfinished.open("xb") as file:
            write(file)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def draw(plot: str, writing: Writing, draw_on: Sequence[Callable[[Any], Any]], size: tuple[float, float]) -> None:
    """Draw on as many axes side by side as there are functions, and write the picture."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("--plot needs matplotlib: pip install 'fujiscore[plot]'") from error
    figure = Figure(figsize=(size[0] * len(draw_on), size[1]), layout="constrained")
    for i, own in enumerate(draw_on):
        own(figure.add_subplot(1, len(draw_on), i + 1))
    path = Path(plot)
    write_whole(path, lambda file: figure.savefig(file, format=path.suffix[1:].lower(), dpi=150))
    note(writing, f"picture: {path}")
