"""The command `fuji`: one small module per command, which parses, calls the library and prints.

Takes: files and options. Gives: text, Markdown, CSV, JSON, figures, pages and an exit code. A command's module loads
when the command is called, and heavy libraries when it needs them.
"""

from __future__ import annotations

import atexit
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from fujiscore._signals import handler
from fujiscore._version import __version__
from fujiscore.cli import streams
from fujiscore.errors import InputError, MissingExtraError, one_line, spelling

# In the order of the help. Each is a module of this package that holds a click command called `command`.
COMMANDS = (
    "compare",
    "runs",
    "drift",
    "explain",
    "matrix",
    "stability",
    "consensus",
    "rank",
    "study",
    "paper",
    "measures",
    "example",
    "cite",
)
# The library's arguments whose option has another name.
OPTIONS = {
    "k": "-k",
    "executor": "--dask",
    "n_jobs": "--jobs",
    "keep": "--explain",
    "random_state": "--seed",
    "measures": "--measure",
    "items": "--item",
    "features": "the header",
    "X": "the table",
    "y": "the target column",
}

EPILOG = """\b
Start here:
  fuji example            # writes example files, and prints commands to try
  fuji compare examples/model_a.csv examples/model_b.csv

\b
Tab completion, in the shell's start-up file:
  bash   eval "$(_FUJI_COMPLETE=bash_source fuji)"
  zsh    eval "$(_FUJI_COMPLETE=zsh_source fuji)"
  fish   _FUJI_COMPLETE=fish_source fuji | source

\b
Exit codes: 0 success, 1 a gate failed (--fail-under), 2 bad input or usage
or output that cannot be written, 129, 130, 143 stopped by a signal.
"""


def as_option(argument: str, value: object) -> str:
    """Spell an argument of the library as an option of the command line."""
    option = OPTIONS.get(argument) or f"--{argument.replace('_', '-')}"
    if isinstance(value, tuple):
        value = ",".join("none" if one is None else str(one) for one in value)
    return option if value is None else f"{option} {value}"


class Failure(click.ClickException):
    """Anything that stops a command: one line, with the remedy where there is one."""

    exit_code = 2

    def __init__(self, command: str | None, text: str) -> None:
        super().__init__(one_line(f"fuji {command}: {text}" if command else f"fuji: {text}"))


class Interrupted(Failure):
    """Ctrl-C, or another signal that ends the command."""

    exit_code = 130


def describe(error: Exception) -> str:
    """Return what went wrong and what to do about it."""
    if isinstance(error, (InputError, MissingExtraError)):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}. Check the path, its permissions and the free space."
    if isinstance(error, MemoryError):
        return "not enough memory. Pass --top N or --ks exp for fewer points, or compare fewer rankings at once."
    return f"unexpected {type(error).__name__}: {error}. Run it again with --debug to see where, and report it."


class Fuji(click.Group):
    """The group of all commands: loads one by its name, and turns errors into one line."""

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
                stream.reconfigure(errors="backslashreplace")
        try:
            code = super().main(arguments, prog_name or "fuji", **{**extra, "standalone_mode": False})
        except click.ClickException as error:
            if "--debug" in arguments:
                traceback.print_exception(error.__cause__ or error)
            click.echo(_message(error), err=True)
            code = error.exit_code
        except SystemExit as leaving:  # click's completion, which has 1 for a shell that it does not know
            code = 2 if leaving.code else 0
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command asked for; messages name options while it runs, and errors become one line."""
        token = spelling.set(as_option)
        try:
            handler.working = True
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except KeyboardInterrupt as error:
            raise Interrupted(ctx.invoked_subcommand, handler.said) from error
        except Exception as error:
            if handler.stopped:  # a library has made something else of it
                raise Interrupted(ctx.invoked_subcommand, handler.said) from error
            raise Failure(ctx.invoked_subcommand, describe(error)) from error
        finally:
            handler.working = False
            spelling.reset(token)


def _message(error: click.ClickException) -> str:
    """Return what to print of an error: for wrong usage also where the help is."""
    text = one_line(error.format_message())
    if not isinstance(error, click.UsageError):
        return text
    where = error.ctx.command_path if error.ctx else "fuji"
    return f"{where}: {text} Try '{where} --help'."


@click.group(
    cls=Fuji,
    epilog=EPILOG,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@click.version_option(__version__, message="fuji %(version)s")
@click.pass_context
def fuji(ctx: click.Context) -> None:
    """Compare scored rankings: how similar, where they differ, more than chance, how stable.

    A ranking is a file of items and scores, higher is better: CSV, TSV, Parquet, Feather, JSON, .fimp, TREC runs, or
    a list of items.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> NoReturn:
    """Run the command line: with streams that cannot fail it, and signals that end it tidily."""
    handler.install()
    streams.guard()
    try:
        fuji.main()
    except (SystemExit, KeyboardInterrupt) as leaving:
        code = leaving.code if isinstance(leaving, SystemExit) else handler.code
    why = streams.undelivered()
    if why:
        click.echo(f"fuji: standard output cannot be written: {why}.", err=True)
        code = code or 2
    if not handler.stopped:
        atexit._run_exitfuncs()  # noqa: SLF001 - what libraries want done, matplotlib's temporary folder removed
    sys.stderr.flush()
    # Not sys.exit: Python would wait for threads that still compute, and those of pyarrow, if a damaged file kept them
    # busy, now and then abort a process that shuts down.
    os._exit(handler.code if handler.stopped else code if isinstance(code, int) else 0)
