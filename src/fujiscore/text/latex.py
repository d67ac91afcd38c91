"""Tables as LaTeX with the rules of booktabs, and text as LaTeX shows it unchanged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fujiscore.errors import InputError, one_line, printable, shown, spelled

if TYPE_CHECKING:
    from fujiscore.text.tables import Table

# Brackets and stars are in braces: after the end of a row they would be its optional argument.
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    **{character: f"\\{character}" for character in "{}$&%#_"},
    **{character: f"{{{character}}}" for character in "[]*"},
}
CHARACTER = re.compile("|".join(map(re.escape, SPECIAL)))
# Two of these in a row would become one other character, and several blanks one.
LIGATURE = re.compile(r"(?<=[-',!?])(?=[-',!?])")
BLANK = re.compile(r"^ | {2,}| $")
NUMBER = re.compile(
    r"(?P<bound>(?:<= )?)(?P<sign>[-+]?)(?P<whole>\d+)(?P<point>\.?)(?P<digits>\d*)(?:e(?P<power>[-+]?\d+))?"
)
LABEL = re.compile(r"[\w:.+/-]+", re.ASCII)
OTHER = "% It has characters beyond ASCII: compile it with LuaLaTeX or XeLaTeX and a font that has them."


def text(name: object) -> str:
    """Return a text as one line that LaTeX shows as it is."""
    line = BLANK.sub(
        lambda found: "\0" * len(found[0]), LIGATURE.sub("\1", printable(name))
    )  # printable text has neither of both
    return CHARACTER.sub(lambda found: SPECIAL[found[0]], line).replace("\0", "\\ ").replace("\1", "{}")


def table(table: Table, label: str, notes: Sequence[str]) -> str:
    """Return a table with its caption, its label and, beneath it, the notes."""
    if not LABEL.fullmatch(label):
        raise InputError(
            f"{spelled('label')} must be ASCII letters, digits and any of : . + / - _ as in 'tab:fuji'; "
            f"got {shown(label)}."
        )
    cells = table.cells()
    columns = [
        [text(row[i]) for row in cells] if i in table.text else _aligned([row[i] for row in cells])
        for i in range(len(table.header))
    ]
    rows = zip(*columns, strict=True)
    beneath = [text(one_line(note)) for note in (*table.notes, *notes)]
    lines = [
        r"\begin{table}",
        r"  \centering",
        f"  \\caption{{{text(table.caption)}}}",
        f"  \\label{{{label}}}",
        f"  \\begin{{tabular}}{{{''.join('l' if i in table.text else 'r' for i in range(len(columns)))}}}",
        r"    \toprule",
        f"    {' & '.join(map(text, table.header))} \\\\",
        r"    \midrule",
        *(f"    {' & '.join(row)} \\\\" for row in rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        *_footer(beneath),
        r"\end{table}",
    ]
    if not all(line.isascii() for line in lines):
        lines.insert(0, OTHER)
    return "\n".join(lines) + "\n"


def _footer(notes: Sequence[str]) -> list[str]:
    """Return the notes beneath a table, each in a paragraph."""
    if not notes:
        return []
    first, *others = notes
    parts = [f"    \\emph{{Notes.}} {first}", *(f"    \\par {note}" for note in others)]
    return [r"", r"  \smallskip", r"  \begin{minipage}{\linewidth}\footnotesize", *parts, r"  \end{minipage}"]


def _aligned(cells: Sequence[str]) -> list[str]:
    """Return a column of numbers with aligned decimal points: blank digits fill up the shorter ones."""
    found = [NUMBER.fullmatch(cell) for cell in cells]
    most = max((len(number["digits"]) for number in found if number and not number["power"]), default=0)
    return [_number(number, most) if number else text(cell) for cell, number in zip(cells, found, strict=True)]


def _number(number: re.Match[str], most: int) -> str:
    """Return a number with a minus sign, or in powers of ten."""
    sign = ("$\\leq$ " if number["bound"] else "") + ("$-$" if number["sign"] == "-" else number["sign"])
    digits = f"{number['whole']}{number['point']}{number['digits']}"
    if number["power"]:
        return f"{sign}${digits} \\times 10^{{{int(number['power'])}}}$"
    missing = most - len(number["digits"])
    point = "" if number["point"] else "."
    return f"{sign}{digits}" + (f"\\phantom{{{point}{'0' * missing}}}" if missing else "")
