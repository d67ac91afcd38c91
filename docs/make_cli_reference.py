"""Write docs/cli.md from the commands themselves: `python docs/make_cli_reference.py`."""

from __future__ import annotations

from pathlib import Path

import click

from fujiscore.cli import COMMANDS, fuji
from fujiscore.cli.options import Command

PAGE = Path(__file__).with_name("cli.md")

HEAD = """# Command line reference

<!-- Generated from the commands' help by docs/make_cli_reference.py. -->

A ranking is a file of items and scores, higher is better. `fuji compare A B` compares two of them. Every command
explains itself with `--help`, and the examples below run in the project's folder. After `pip install`, start with
`fuji example`, which writes the same files into `./examples`.

**Files.** CSV, TSV, Parquet, Feather, Arrow streams, JSON, .fimp, TREC runs, .npy (a vector of scores, or one row of
floats per ranking), and lists of items from best to worst, also compressed with gzip, bz2, xz or zstd.
`file.csv:column` picks one column (or one ranking or query) of a file, and `-` is standard input. Each file is opened
once, so pipes work as well: `fuji runs <(zcat a.gz) <(zcat b.gz)`. Columns are guessed, and a note says how; `--item`,
`--score` and `--ranking` name them.

**Policies.** `--negative`, `--nan`, `--missing`, `--duplicates`, `--transform`, `--universe`, `--ties` and
`--zero-tail` are the library's arguments of the same names: see [inputs](inputs.md).

**Notes.** What was done to the input and what a result rests on is printed under the result, as `"notes"` in JSON, and
on standard error beside CSV.

**Output.** Text, coloured and fitted to the width on a terminal, plain elsewhere (`NO_COLOR` is respected); `--json`
and `--csv` for programs. `--out FILE` writes the report to a file, in the format of its ending. Files are written
atomically, and existing files are replaced only with `--force`.

**Exit codes.** 0: success. 1: a gate failed, such as `--fail-under` (see [runs](runs.md#gates)). 2: bad input or usage;
nothing was written. Also 2: the report cannot be written to standard output, which is full or closed. A reader that
has seen enough (`| head`) is no error.
129, 130, 143: stopped by SIGHUP, SIGINT (Ctrl-C) or SIGTERM; what the command had begun to write is removed.

**Tab completion.** In the shell's start-up file:

```text
eval "$(_FUJI_COMPLETE=bash_source fuji)"      # bash
eval "$(_FUJI_COMPLETE=zsh_source fuji)"       # zsh
_FUJI_COMPLETE=fish_source fuji | source       # fish
```
"""


def page() -> str:
    """Return the whole page."""
    context = click.Context(fuji, info_name="fuji", **fuji.context_settings)
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
    value = "|".join(kind.choices) if type(kind) is click.Choice else option.metavar or _metavar(option, context)
    return f"{names} {value}".replace("|", " \\| ")


def _metavar(option: click.Option, context: click.Context) -> str:
    """Return what a type of ours calls its value."""
    kind = option.type
    return kind.get_metavar(option, context) or kind.name.upper()


def _default(option: click.Option) -> str:
    """Return the default, where the help shows one."""
    if not option.show_default:
        return ""
    value = option.default
    if option.is_flag:
        value = (option.opts if value else option.secondary_opts)[0]
    return f" [default: {value}]"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
