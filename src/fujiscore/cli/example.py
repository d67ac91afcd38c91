"""`fuji example`: example files in a folder, and commands to try on them."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import Any

import click

from fujiscore.cli import options
from fujiscore.errors import InputError
from fujiscore.work.files import write_atomically

COMMANDS = (
    "fuji compare examples/model_a.csv examples/model_b.csv",
    "fuji explain examples/model_a.csv examples/model_b.csv -k 10",
    "fuji compare examples/genes_a.csv examples/genes_b.csv --universe 17611",
    "fuji runs examples/run_a.trec examples/run_b.trec -k 5",
    "fuji drift examples/v1_seeds.csv examples/v2_seeds.csv --seeds",
    "fuji matrix examples/scores.csv --corrected",
    "fuji stability examples/resamples_forest.csv examples/resamples_tree.csv",
    "fuji study examples/houses.csv --target price --resamples 5 --trees 50",
)
ENDINGS = (".csv", ".trec")


@click.command(
    cls=options.Command,
    short_help="Write example files, and commands to try.",
    examples=("fuji example", "fuji example my_folder"),
)
@click.argument("folder", default="examples")
@options.option("--force", "Replace existing files.", section="Write", is_flag=True)
@options.option("--debug", "Show a traceback on errors.", section="Other", is_flag=True, expose_value=False)
def command(*, folder: str, force: bool) -> None:
    """Write example files into a folder (by default ./examples), and print commands to try on them."""
    source, target = _source(), Path(folder)
    files = sorted(path for path in source.iterdir() if path.suffix in ENDINGS)
    if target.is_dir() and target.samefile(source):
        files = []
    taken = [path.name for path in files if (target / path.name).exists()]
    if taken and not force:
        raise InputError(f"{target / taken[0]} exists already. Name another folder, or pass --force to replace it.")
    target.mkdir(parents=True, exist_ok=True)
    for path in files:
        write_atomically(target / path.name, partial(_copy, path), replace=force)
    click.echo(f"Example files are in {target}. Try:")
    for line in COMMANDS:
        parts = [part.replace("examples/", f"{target.as_posix()}/") for part in line.split()]
        click.echo(f"  {shlex.join(parts)}")


def _copy(path: Path, file: Any) -> None:
    """Write the content of one file into another."""
    file.write(path.read_bytes())


def _source() -> Path:
    """Return the folder of example files: in the installed package, or of a source checkout."""
    package = Path(__file__).parents[1]
    for folder in (package / "examples", package.parents[1] / "examples"):
        if (folder / "model_a.csv").is_file():
            return folder
    raise InputError("the example files must be installed with the package; they are missing. Install it again.")
