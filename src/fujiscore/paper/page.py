"""The reproduction as one self-contained page, and the statements as Markdown."""

from __future__ import annotations

import base64
import html as markup
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore._version import __version__
from fujiscore.errors import printable
from fujiscore.paper.record import CAVEAT, DIFFERS, FAILS, HOLDS, UNCHECKED, Claim, Figure, PageTable, Section, shipped

if TYPE_CHECKING:
    from pathlib import Path

    from fujiscore.paper.build import Reproduction

TITLE = "Fuzzy Jaccard Index: the paper, recomputed and checked"
INTRODUCTION = (
    "Every figure, table and checkable statement of “Fuzzy Jaccard Index: A robust comparison of ordered lists” "
    "(Petković, Škrlj, Kocev, Simidjievski), recomputed. Statements are in our words; each has a verdict, what was "
    "measured and how, and the rule for the verdict. In all rules, values are equal up to 1e-12; a number in the text "
    "agrees if it is off by less than one unit of its last digit; words such as “most” and “low” mean one half; words "
    "such as “nearly” and “clearly” mean one tenth. Ties are broken by input order, as in the published results, "
    "unless stated otherwise."
)
CLASSES = {HOLDS: "holds", CAVEAT: "caveat", DIFFERS: "differs", FAILS: "fails", UNCHECKED: "unchecked"}
MARKS = {HOLDS: "✓", CAVEAT: "≈", DIFFERS: "≠", FAILS: "✗", UNCHECKED: "-"}


def escape(text: str) -> str:
    """Return a text as HTML shows it, on one line."""
    return markup.escape(printable(text))


def html(result: Reproduction, folder: Path) -> str:
    """Return the page, with the figures of the folder embedded."""
    body = [f"<h1>{escape(TITLE)}</h1>", f"<p>{escape(INTRODUCTION)}</p>", _summary(result)]
    if result.altered:
        body.append(
            f"<p><strong>{len(result.altered)} of the ranking files are not the published ones</strong> (their SHA-256 "
            f"sums differ): {escape(', '.join(result.altered))}.</p>"
        )
    numbered = list(enumerate(result.sections, 1))
    links = "".join(f'<li><a href="#s{number}">{escape(section.title)}</a></li>' for number, section in numbered)
    body.append(f"<nav><ol>{links}</ol></nav>")
    body += [_section(number, section, folder) for number, section in numbered]
    body.append(
        f"<footer><p>fujiscore {__version__}. The numbers of each figure and table are in figures/ and tables/, as "
        "CSV.</p></footer>"
    )
    head = (
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(TITLE)}</title><style>\n{shipped('page.css')}</style>"
    )
    return "\n".join(['<!DOCTYPE html>\n<html lang="en">', f"<head>{head}</head>", "<body>", *body, "</body></html>\n"])


def _summary(result: Reproduction) -> str:
    """Return the number of statements with each verdict, and links to those that differ or fail."""
    counts = ", ".join(f"{_verdict(verdict)} {count}" for verdict, count in result.verdicts.items() if count)
    failing = "".join(
        f'<li><a href="#c{claim.number}">{claim.number}</a> {escape(claim.statement)}</li>'
        for claim in result.claims
        if claim.judged.verdict in {DIFFERS, FAILS}
    )
    listed = f"\n<p>Those that differ or fail:</p><ul>{failing}</ul>" if failing else ""
    return f"<p>{len(result.claims)} statements: {counts}.</p>{listed}"


def _section(number: int, section: Section, folder: Path) -> str:
    """Return one section: text, figures, tables, statements."""
    parts = [f'<section><h2 id="s{number}">{number}. {escape(section.title)}</h2>']
    parts += [f"<p>{escape(text)}</p>" for text in section.text]
    for size in ("", " small"):
        shown = "".join(_figure(figure, folder) for figure in section.figures if figure.small == bool(size))
        if shown:
            parts.append(f'<div class="figures{size}">{shown}</div>')
    parts += [_table(table) for table in section.tables]
    if section.claims:
        parts += ["<h3>Statements</h3>", *(_claim(claim) for claim in section.claims)]
    return "\n".join([*parts, "</section>"])


def _figure(figure: Figure, folder: Path) -> str:
    """Return a figure with its caption."""
    content = base64.b64encode((folder / f"{figure.name}.png").read_bytes()).decode("ascii")
    caption = escape(figure.caption)
    image = f'<img alt="{caption}" src="data:image/png;base64,{content}" loading="lazy">'
    return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"


def _table(table: PageTable) -> str:
    """Return a table that scrolls horizontally if it is too wide."""
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in table.rows)
    content = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<h3>{escape(table.title)}</h3><div class="wide">{content}</div>'


def _cell(value: Any) -> str:
    """Return a cell; numbers right-aligned with four digits, long text in a wide column."""
    if isinstance(value, (int, float, np.number)):
        return f'<td class="number">{value if isinstance(value, (int, np.integer)) else format(value, ".4g")}</td>'
    text = str(value)
    kind = "long" if len(text) > 40 else "short" if len(text) < 20 else "text"
    return f'<td class="{kind}">{escape(text)}</td>'


def _verdict(verdict: str) -> str:
    """Return a verdict with its mark, so that it does not rely on colour."""
    return f'<span class="verdict {CLASSES[verdict]}">{MARKS[verdict]} {escape(verdict)}</span>'


def _claim(claim: Claim) -> str:
    """Return one statement with its verdicts."""
    verdicts = [
        f"<p>{label}{_verdict(judged.verdict)}: {escape(judged.measured)}.</p>"
        for label, judged in (("", claim.judged), ("With correct RF: ", claim.correct_rf))
        if judged is not None
    ]
    return "\n".join(
        [
            f'<div class="claim {CLASSES[claim.judged.verdict]}" id="c{claim.number}">',
            f"<p><strong>{claim.number}. {escape(claim.statement)}</strong></p>",
            *verdicts,
            f'<p class="how">{escape(claim.how)} Rule: {escape(claim.rule)}.</p>',
            f'<p class="source">{escape(claim.source)}</p></div>',
        ]
    )


def markdown(claims: Sequence[Claim], verdicts: Mapping[str, int]) -> str:
    """Return all statements as Markdown."""
    counts = ", ".join(f"{verdict}: {count}" for verdict, count in verdicts.items())
    lines = [f"# {TITLE}", "", INTRODUCTION, "", f"{len(claims)} statements; {counts}.", ""]
    for claim in claims:
        lines += [f"## {claim.number}. {claim.statement}", ""]
        for label, judged in (("Verdict", claim.judged), ("With correct RF", claim.correct_rf)):
            if judged is not None:
                lines.append(f"- {label}: **{judged.verdict}**. {judged.measured}.")
        lines += [f"- How: {claim.how}", f"- Rule: {claim.rule}.", f"- In the paper: {claim.source}.", ""]
    return "\n".join(lines)
