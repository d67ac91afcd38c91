"""The command `fuji`: one small module a command, which parses, calls the library and prints.

A command's module loads when the command is called, and heavy libraries when it needs them.
"""

from __future__ import annotations

import os
import sys
import traceback
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import click

from fujiscore.cli.failures import Failure, Interrupted, message

if TYPE_CHECKING:
    from collections.abc import Sequence

# In the order of the help. Each is a module of this package that holds a click command called `command`.
COMMANDS = ("compare", "explain", "matrix", "stability", "rank", "study", "paper", "measures")

EPILOG = """\b
Start here:
  fuji compare examples/model_a.csv examples/model_b.csv

\b
Tab completion, in the shell's start-up file:
  bash   eval "$(_FUJI_COMPLETE=bash_source fuji)"
  zsh    eval "$(_FUJI_COMPLETE=zsh_source fuji)"
  fish   _FUJI_COMPLETE=fish_source fuji | source

\b
Exit codes: 0 fine, 1 below --fail-under, 2 bad input or usage, 130 interrupted.
"""


class Fuji(click.Group):
    """The group of all commands: loads one by its name, and turns errors into one or two lines."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the commands' names."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command's module."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"fujiscore.cli.{cmd_name}").command
        return command

    def main(  # type: ignore[override]  # always leaves, whatever the mode
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run a command and leave with its exit code."""
        arguments = sys.argv[1:] if args is None else list(args)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a label that the terminal cannot show is no reason to fail
                stream.reconfigure(errors="replace")
        try:
            code = super().main(arguments, prog_name or "fuji", **{**extra, "standalone_mode": False})
        except click.ClickException as error:
            if "--debug" in arguments:
                traceback.print_exception(error.__cause__ or error)
            click.echo(message(error), err=True)
            code = error.exit_code
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command asked for; whatever goes wrong becomes a message that names it."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except KeyboardInterrupt as error:
            raise Interrupted(ctx.invoked_subcommand) from error
        except Exception as error:
            raise Failure(ctx.invoked_subcommand, error) from error


@click.group(
    cls=Fuji, epilog=EPILOG, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="fujiscore", message="fuji %(version)s")
@click.pass_context
def fuji(ctx: click.Context) -> None:
    """Compare scored rankings: how similar, where they differ, more than chance, how stable.

    A ranking is a file of items and scores, higher is better: CSV, TSV, Parquet, Feather, JSON, .fimp or TREC runs.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> NoReturn:
    """Run the command line."""
    try:
        fuji.main()
    except SystemExit as leaving:
        if leaving.code == Interrupted.exit_code:
            # Python itself would first wait for threads that still compute, and then perhaps die of the signal.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(Interrupted.exit_code)
        raise
