"""Errors in the words of the command line: one or two lines, with the remedy. Imports click and errors only."""

from __future__ import annotations

import re

import click

from fujiscore.errors import InputError, MissingExtraError

# Arguments of the library whose option has another name.
OPTIONS = {"n_jobs": "jobs", "random_state": "seed"}


class Failure(click.ClickException):
    """Input that cannot be used, or anything else that stopped a command."""

    exit_code = 2

    def __init__(self, command: str | None, error: Exception) -> None:
        super().__init__(f"fuji {command}: {describe(error)}")


class Interrupted(click.ClickException):
    """Ctrl-C."""

    exit_code = 130

    def __init__(self, command: str | None) -> None:
        super().__init__(f"fuji {command}: interrupted")


def message(error: click.ClickException) -> str:
    """Return what to print of an error: for wrong usage also where the help is."""
    if not isinstance(error, click.UsageError):
        return error.format_message()
    where = error.ctx.command_path if error.ctx else "fuji"
    return f"{where}: {error.format_message()}\nTry '{where} --help'."


def describe(error: Exception) -> str:
    """Return what went wrong and what to do about it."""
    if isinstance(error, (InputError, MissingExtraError)):
        return in_options(str(error))
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}. Check the path, its permissions and the space left."
    if isinstance(error, MemoryError):
        return "not enough memory. Pass --top N or --ks exp for fewer points, or compare fewer rankings at once."
    return f"unexpected {type(error).__name__}: {error}\nRun it again with --debug to see where, and report it."


def in_options(text: str) -> str:
    """Say argument='value' as --argument value, and the names of arguments as options."""
    text = re.sub(r"\b([a-z_]+)=(?:'([a-z]+)'|True)", _option, text)
    return re.sub(r"(^|: |\bwith )(item|score|ranking|format|ks|confidence)(?= must|\.$)", r"\1--\2", text)


def _option(match: re.Match[str]) -> str:
    """Return one argument as an option."""
    name, value = match.groups()
    option = "--" + OPTIONS.get(name, name).replace("_", "-")
    return f"{option} {value}" if value else option
