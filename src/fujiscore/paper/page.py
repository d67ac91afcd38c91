"""The reproduction as one self-contained page, and the statements as Markdown. Imports records only."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore import __version__
from fujiscore.paper.record import CAVEAT, FAILS, HOLDS, UNCHECKED, cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from fujiscore.paper.build import Reproduction
    from fujiscore.paper.record import Claim, Figure, Judged, Section, Table

TITLE = "Fuzzy Jaccard Index: the paper, recomputed and checked"
INTRODUCTION = (
    "Every figure, table and checkable statement of “Fuzzy Jaccard Index: A robust comparison of ordered lists” "
    "(Petković, Škrlj, Kocev, Simidjievski), recomputed. Statements are in our words; each has a verdict, what was "
    "measured, and how. Ties are broken by input order, as in the published results, unless stated otherwise."
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


def html(result: Reproduction, folder: Path) -> str:
    """Return the page, with the figures of the folder embedded."""
    parts = [f"<h1>{escape(TITLE)}</h1>", f"<p>{escape(INTRODUCTION)}</p>", _summary(result)]
    if result.altered:
        parts.append(
            f"<p><strong>{len(result.altered)} of the ranking files are not the published ones</strong> (their SHA-256 "
            f"sums differ): {escape(', '.join(result.altered))}.</p>"
        )
    titles = enumerate((escape(section.title) for section in result.sections), 1)
    links = "".join(f'<li><a href="#s{number}">{title}</a></li>' for number, title in titles)
    parts.append(f"<nav><ol>{links}</ol></nav>")
    first = 1
    for number, section in enumerate(result.sections, 1):
        parts.append(_section(number, section, folder, first))
        first += len(section.claims)
    body = "\n".join(parts)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><title>{escape(TITLE)}</title>'
        f"<style>{STYLE}</style></head>\n<body>\n{body}\n<footer><p>fujiscore {__version__}. The numbers of each "
        "figure and table are in figures/ and tables/, as CSV.</p></footer>\n</body></html>\n"
    )


def _summary(result: Reproduction) -> str:
    """Return the number of statements with each verdict, and links to those that fail."""
    counts = ", ".join(f"{_verdict(verdict)} {count}" for verdict, count in result.verdicts.items() if count)
    claims = list(enumerate(result.claims, 1))
    failing = "".join(
        f'<li><a href="#c{number}">{number}</a> {escape(claim.statement)}</li>'
        for number, claim in claims
        if claim.judged.verdict == FAILS
    )
    listed = f"\n<p>Those that fail:</p><ul>{failing}</ul>" if failing else ""
    return f"<p>{len(claims)} statements: {counts}.</p>{listed}"


def _section(number: int, section: Section, folder: Path, first: int) -> str:
    """Return one section: text, figures, tables, statements numbered from `first`."""
    parts = [f'<section><h2 id="s{number}">{number}. {escape(section.title)}</h2>']
    parts += [f"<p>{escape(text)}</p>" for text in section.text]
    for size in ("", " small"):
        shown = "".join(_figure(figure, folder) for figure in section.figures if figure.small == bool(size))
        if shown:
            parts.append(f'<div class="figures{size}">{shown}</div>')
    parts += [_table(table) for table in section.tables]
    if section.claims:
        parts.append("<h3>Statements</h3>")
        parts += [_claim(claim_number, claim) for claim_number, claim in enumerate(section.claims, first)]
    return "\n".join([*parts, "</section>"])


def _figure(figure: Figure, folder: Path) -> str:
    """Return a figure with its caption."""
    content = base64.b64encode((folder / f"{figure.name}.png").read_bytes()).decode("ascii")
    caption = escape(figure.caption)
    return (
        f'<figure><img alt="{caption}" src="data:image/png;base64,{content}" loading="lazy">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _table(table: Table) -> str:
    """Return a table that scrolls horizontally if it is too wide."""
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in table.rows)
    return (
        f'<h3>{escape(table.title)}</h3><div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cell(value: Any) -> str:
    """Return a cell; numbers right-aligned with four digits, long text in a wide column."""
    if isinstance(value, (float, np.floating)):
        return f'<td class="number">{value:.4g}</td>'
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return f'<td class="number">{value}</td>'
    text = cell(value)
    kind = "long" if len(text) > 40 else "short" if len(text) < 20 else "text"
    return f'<td class="{kind}">{escape(text)}</td>'


def _verdict(verdict: str) -> str:
    """Return a verdict with its mark, so that it does not rely on colour."""
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
    lines.append(f'<p class="how">{escape(claim.how)}</p><p class="source">{escape(claim.source)}</p></div>')
    return "\n".join(lines)


def markdown(claims: Sequence[Claim], verdicts: Mapping[str, int]) -> str:
    """Return all statements as Markdown."""
    counts = ", ".join(f"{verdict}: {count}" for verdict, count in verdicts.items())
    lines = [f"# {TITLE}", "", INTRODUCTION, "", f"{len(claims)} statements; {counts}.", ""]
    for number, claim in enumerate(claims, 1):
        lines += [f"## {number}. {claim.statement}", "", *_bullets(claim), ""]
    return "\n".join(lines)


def _bullets(claim: Claim) -> Iterable[str]:
    """Yield the lines under a statement."""

    def line(label: str, judged: Judged) -> str:
        return f"- {label}: **{judged.verdict}**. {judged.measured}."

    yield line("Verdict", claim.judged)
    if claim.correct_rf is not None:
        yield line("With correct RF", claim.correct_rf)
    yield f"- How: {claim.how}"
    yield f"- In the paper: {claim.source}."
