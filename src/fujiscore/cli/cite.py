"""`fuji cite`: how to cite the paper and the tool, as BibTeX or text."""

from __future__ import annotations

from typing import TypeAlias
from unicodedata import combining, normalize

import click

from fujiscore._version import __version__
from fujiscore.cli import options

Entry: TypeAlias = dict[str, str | tuple[str, ...]]
# The same as in CITATION.cff, which an installed package lacks.
PAPER: Entry = {
    "author": ("Matej Petković", "Blaž Škrlj", "Dragi Kocev", "Nikola Simidjievski"),
    "title": "Fuzzy Jaccard Index: A robust comparison of ordered lists",
    "journal": "Applied Soft Computing",
    "year": "2021",
    "url": "https://arxiv.org/abs/2008.02216",
}
TOOL: Entry = {
    "author": ("The fujiscore developers",),
    "title": "fujiscore",
    "note": f"Version {__version__}",
    "url": "https://github.com/fujiscore/fujiscore",
}
ACCENTS = {"\N{COMBINING ACUTE ACCENT}": "'", "\N{COMBINING CARON}": "v "}


@click.command(
    cls=options.Command,
    short_help="Print how to cite the paper and the tool.",
    examples=("fuji cite", "fuji cite --format text"),
)
@options.option(
    "--format",
    "BibTeX entries, or text to copy.",
    section="Write",
    type=click.Choice(["bibtex", "text"]),
    default="bibtex",
    show_default=True,
)
@options.option("--debug", "Show a traceback on errors.", section="Other", is_flag=True, expose_value=False)
def command(*, format: str) -> None:
    """Print references to the paper that introduces FUJI, and to this version of fujiscore."""
    if format == "text":
        click.echo("\n".join(_sentence(entry) for entry in (PAPER, TOOL)))
    else:
        click.echo(f"{_entry('article', 'petkovic2021fuji', PAPER)}\n\n{_entry('misc', 'fujiscore', TOOL)}")


def _sentence(entry: Entry) -> str:
    """Return a reference as one line."""
    authors, *rest = entry.values()
    return ". ".join([", ".join(authors), *map(str, rest)])


def _entry(kind: str, key: str, entry: Entry) -> str:
    """Return a BibTeX entry, in ASCII; the capitals of proper names in titles are kept."""
    lines = []
    for name, value in entry.items():
        text = value if isinstance(value, str) else _authors(value)
        text = text.replace("Jaccard Index", "{Jaccard} {Index}") if name == "title" else text
        lines.append(f"  {name} = {{{_accented(text)}}},")
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def _authors(names: tuple[str, ...]) -> str:
    """Return people with their family names first, and a group in braces."""
    if len(names) == 1:
        return f"{{{names[0]}}}"
    return " and ".join(f"{family}, {given}" for given, family in (name.rsplit(" ", 1) for name in names))


def _accented(text: str) -> str:
    """Return letters with accents as LaTeX commands."""
    result: list[str] = []
    for character in normalize("NFD", text):
        if combining(character):
            result[-1] = f"{{\\{ACCENTS[character]}{result[-1]}}}"
        else:
            result.append(character)
    return "".join(result)
