"""The reproduction as one self-contained page, and the statements as Markdown. Imports the records only."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore import __version__
from fujiscore.paper.record import CAVEAT, FAILS, HOLDS, UNCHECKED, VERDICTS, cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from fujiscore.paper.record import Claim, Judged, Picture, Section, Table

TITLE = "Fuzzy Jaccard Index: the paper, rebuilt and checked"
INTRODUCTION = (
    "Every figure, table and checkable statement of “Fuzzy Jaccard Index: A robust comparison of ordered lists” "
    "(Petković, Škrlj, Kocev, Simidjievski), computed anew. Statements are in our words; each has a verdict, what "
    "was measured, and how."
)
CLASSES = {HOLDS: "holds", CAVEAT: "caveat", FAILS: "fails", UNCHECKED: "unchecked"}
MARKS = {HOLDS: "✓", CAVEAT: "≈", FAILS: "✗", UNCHECKED: "-"}
STYLE = """
:root{color-scheme:light;--ink:#1c1c1c;--soft:#5f5f5f;--rule:#d9d9d9;--accent:#0072B2}
*{box-sizing:border-box}
body{margin:0 auto;max-width:70rem;padding:1rem;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:#fff}
h1{font-size:1.7rem;line-height:1.2}h2{margin-top:2.5rem;border-bottom:2px solid var(--rule);padding-bottom:.2rem}
h3{margin:1.6rem 0 .4rem;font-size:1.05rem}a{color:var(--accent)}
p,li{max-width:46rem}nav ol{padding-left:1.4rem}
.wide{overflow-x:auto;margin:.5rem 0 1rem}
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .6rem;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top}
th{background:#f4f4f4}td.number{text-align:right;white-space:nowrap}td.short{white-space:nowrap}td.long{min-width:16rem}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,24rem),1fr));gap:1rem;align-items:start}
.figures.small{grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr))}
figure{margin:0}figure img{width:100%;height:auto;display:block}
figcaption{font-size:.85rem;color:var(--soft)}
.claim{border-left:.35rem solid var(--rule);padding:.3rem .8rem;margin:.7rem 0;max-width:50rem}
.claim p{margin:.15rem 0}.claim .how,.claim .source{font-size:.85rem;color:var(--soft)}
.verdict{font-weight:600}
.holds{border-color:#009E73}.caveat{border-color:#E69F00}.fails{border-color:#D55E00}
.verdict.holds{color:#00704f}.verdict.caveat{color:#8a5a00}.verdict.fails{color:#a84300}.verdict.unchecked{color:#5f5f5f}
@media print{body{max-width:none;font-size:10pt;padding:0}.wide{overflow:visible}table{font-size:7pt}
th,td{padding:.15rem .3rem}td.long{min-width:0}figure,.claim{break-inside:avoid}h2,h3{break-after:avoid}
.figures{grid-template-columns:repeat(2,1fr)}.figures.small{grid-template-columns:repeat(3,1fr)}nav{display:none}}
"""


def html(sections: Sequence[Section], figures: Path, altered: Sequence[str]) -> str:
    """Return the page, with the pictures of the folder embedded."""
    claims = [claim for section in sections for claim in section.claims]
    parts = [f"<h1>{escape(TITLE)}</h1>", f"<p>{escape(INTRODUCTION)}</p>", _summary(claims)]
    if altered:
        parts.append(
            f"<p><strong>{len(altered)} of the ranking files are not the published ones</strong> (their SHA-256 sums "
            f"differ): {escape(', '.join(altered))}.</p>"
        )
    links = "".join(f'<li><a href="#s{at}">{escape(own.title)}</a></li>' for at, own in enumerate(sections, 1))
    parts.append(f"<nav><ol>{links}</ol></nav>")
    number = 1
    for at, section in enumerate(sections, 1):
        parts.append(_section(at, section, figures, number))
        number += len(section.claims)
    body = "\n".join(parts)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><title>{escape(TITLE)}</title>'
        f"<style>{STYLE}</style></head>\n<body>\n{body}\n<footer><p>fujiscore {__version__}. The numbers behind each "
        "figure lie beside it as CSV, in figures/ and tables/.</p></footer>\n</body></html>\n"
    )


def _summary(claims: Sequence[Claim]) -> str:
    """Return how many statements have each verdict, and links to those that do not simply hold."""
    counts = {verdict: sum(claim.judged.verdict == verdict for claim in claims) for verdict in VERDICTS}
    listed = ", ".join(f"{_verdict(verdict)} {count}" for verdict, count in counts.items() if count)
    lines = [f"<p>{len(claims)} statements: {listed}.</p>"]
    failing = [(at, claim) for at, claim in enumerate(claims, 1) if claim.judged.verdict == FAILS]
    if failing:
        items = "".join(f'<li><a href="#c{at}">{at}</a> {escape(claim.statement)}</li>' for at, claim in failing)
        lines.append(f"<p>Those that fail:</p><ul>{items}</ul>")
    return "\n".join(lines)


def _section(at: int, section: Section, figures: Path, number: int) -> str:
    """Return one section: text, pictures, tables, statements."""
    parts = [f'<section><h2 id="s{at}">{at}. {escape(section.title)}</h2>']
    parts += [f"<p>{escape(text)}</p>" for text in section.text]
    for small in (False, True):
        own = [picture for picture in section.pictures if picture.small == small]
        if own:
            shown = "".join(_figure(picture, figures) for picture in own)
            parts.append(f'<div class="figures{" small" if small else ""}">{shown}</div>')
    parts += [_table(table) for table in section.tables if table.shown]
    if section.claims:
        parts.append("<h3>Statements</h3>")
        parts += [_claim(number + i, claim) for i, claim in enumerate(section.claims)]
    return "\n".join([*parts, "</section>"])


def _figure(picture: Picture, figures: Path) -> str:
    """Return a picture with its caption."""
    content = base64.b64encode((figures / f"{picture.name}.png").read_bytes()).decode("ascii")
    caption = escape(picture.caption)
    return (
        f'<figure><img alt="{caption}" src="data:image/png;base64,{content}" loading="lazy">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _table(table: Table) -> str:
    """Return a table that scrolls sideways where it is too wide."""
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in table.rows)
    return (
        f'<h3>{escape(table.title)}</h3><div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cell(value: Any) -> str:
    """Return a cell; numbers flush right with four digits, long text with room."""
    if isinstance(value, (float, np.floating)):
        return f'<td class="number">{value:.4g}</td>'
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return f'<td class="number">{value}</td>'
    text = cell(value)
    kind = "long" if len(text) > 40 else "short" if len(text) < 20 else "text"
    return f'<td class="{kind}">{escape(text)}</td>'


def _verdict(verdict: str) -> str:
    """Return a verdict with its mark, so that it does not rest on colour."""
    return f'<span class="verdict {CLASSES[verdict]}">{MARKS[verdict]} {escape(verdict)}</span>'


def _claim(number: int, claim: Claim) -> str:
    """Return one statement with its verdicts."""
    lines = [
        f'<div class="claim {CLASSES[claim.judged.verdict]}" id="c{number}">',
        f"<p><strong>{number}. {escape(claim.statement)}</strong></p>",
        f"<p>{_verdict(claim.judged.verdict)}: {escape(claim.judged.measured)}.</p>",
    ]
    if claim.correct_rf is not None:
        again = claim.correct_rf
        lines.append(f"<p>With correct RF: {_verdict(again.verdict)}: {escape(again.measured)}.</p>")
    if claim.how:
        lines.append(f'<p class="how">{escape(claim.how)}</p>')
    lines.append(f'<p class="source">{escape(claim.source)}</p></div>')
    return "\n".join(lines)


def markdown(claims: Sequence[Claim]) -> str:
    """Return all statements as Markdown."""
    counts = ", ".join(f"{verdict}: {sum(claim.judged.verdict == verdict for claim in claims)}" for verdict in VERDICTS)
    lines = [f"# {TITLE}", "", INTRODUCTION, "", f"{len(claims)} statements; {counts}.", ""]
    for number, claim in enumerate(claims, 1):
        lines += [f"## {number}. {claim.statement}", "", *_bullets(claim), ""]
    return "\n".join(lines)


def _bullets(claim: Claim) -> Iterable[str]:
    """Yield the lines under a statement."""

    def judged(label: str, own: Judged) -> str:
        return f"- {label}: **{own.verdict}**. {own.measured}."

    yield judged("Verdict", claim.judged)
    if claim.correct_rf is not None:
        yield judged("With correct RF", claim.correct_rf)
    if claim.how:
        yield f"- How: {claim.how}"
    yield f"- In the paper: {claim.source}."
