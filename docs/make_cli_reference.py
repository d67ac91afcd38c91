"""Write docs/cli.md from the commands themselves; with --check, say whether it is up to date."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from fujiscore.cli import COMMANDS, fuji
from fujiscore.cli.options import Command

PAGE = Path(__file__).with_name("cli.md")

HEAD = """# The command `fuji`

<!-- Written by docs/make_cli_reference.py from the commands' own help: edit that, not this page. -->

A ranking is a file of items and scores, higher is better. `fuji compare A B` compares two of them; every command
explains itself with `--help`, and the examples below run in the project's folder.

**Files.** CSV, TSV, Parquet, Feather, JSON, .fimp and TREC runs, also compressed with gzip or zstd. `file.csv:column`
picks one column (or one ranking or query) of a file, `-` is standard input. What was guessed about the columns is said
on standard error; `--item`, `--score` and `--ranking` name them.

**Output.** Text, coloured and fitted to the width on a terminal, plain elsewhere (`NO_COLOR` is respected); `--json`
and `--csv` for programs. Files are written whole or not at all. `--out` replaces a report that `fuji` wrote itself; any
other file that exists already is replaced with `--force` only.

**Exit codes.** 0: fine. 1: below `--fail-under`. 2: bad input or usage, and nothing was written. 130: interrupted.

**Tab completion.** In the shell's start-up file:

| shell | line |
|---|---|
| bash | `eval "$(_FUJI_COMPLETE=bash_source fuji)"` |
| zsh | `eval "$(_FUJI_COMPLETE=zsh_source fuji)"` |
| fish | `_FUJI_COMPLETE=fish_source fuji \\| source` |
"""


def page() -> str:
    """Return the whole page."""
    context = click.Context(fuji, info_name="fuji")
    parts = [HEAD]
    for name in COMMANDS:
        command = fuji.get_command(context, name)
        if not isinstance(command, Command):
            raise TypeError(f"{name} must be a command with sections and examples; got {type(command).__name__}.")
        parts.append(_command(command, click.Context(command, info_name=name, parent=context)))
    return "\n".join(parts)


def _command(command: Command, context: click.Context) -> str:
    """Return one command's part: what it does, examples, and a table of its options."""
    lines = [
        f"## fuji {context.info_name}",
        "",
        " ".join(command.get_usage(context).split()).replace("Usage: ", "`", 1) + "`",
    ]
    for paragraph in (command.help or "").split("\n\n"):
        lines += ["", " ".join(paragraph.split())]
    lines += ["", "```sh", *command.examples, "```", ""]
    for section, options in command.sections(context).items():
        lines += [f"| {section} | |", "|---|---|"]
        lines += [
            f"| {_names(option, context)} | {(option.help or '').replace('|', chr(92) + '|')}{_default(option)} |"
            for option in options
        ]
        lines.append("")
    return "\n".join(lines)


def _names(option: click.Option, context: click.Context) -> str:
    """Return an option's spellings and the value that it takes."""
    names = ", ".join(f"`{name}`" for name in sorted(option.opts, key=len))
    if option.secondary_opts:
        names += " / " + ", ".join(f"`{name}`" for name in option.secondary_opts)
    if option.is_flag or option.count:
        return names
    kind = option.type
    value = " \\| ".join(kind.choices) if type(kind) is click.Choice else option.metavar or _metavar(option, context)
    return f"{names} {value}"


def _metavar(option: click.Option, context: click.Context) -> str:
    """Return what a type of ours calls its value."""
    kind = option.type
    return (kind.get_metavar(option, context) or kind.name.upper()).replace("|", " \\| ")


def _default(option: click.Option) -> str:
    """Return the default, where the help shows one."""
    if not option.show_default:
        return ""
    value = option.default
    if option.is_flag:
        value = (option.opts if value else option.secondary_opts)[0]
    return f" [default: {value}]"


def main() -> int:
    """Write the page, or check it."""
    if "--check" in sys.argv:
        current = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        if current == page():
            return 0
        print(f"{PAGE.name} is out of date: run python docs/{Path(__file__).name}", file=sys.stderr)
        return 1
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
