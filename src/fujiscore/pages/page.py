"""One self-contained page: words, numbers, data and a script, written as one file."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fujiscore._version import __version__
from fujiscore.errors import InputError, one_line, spelled
from fujiscore.measures.registry import find
from fujiscore.pages.encode import script_json, text
from fujiscore.text.docstrings import complete_methods
from fujiscore.text.tables import encodable
from fujiscore.work.files import write_atomically

if TYPE_CHECKING:
    import os

SCRIPTS = ("data.js", "charts.js", "curves.js", "pair.js", "matrix.js", "follow.js", "tables.js", "report.js")


@dataclass(frozen=True)
class Page:
    """What a page shows."""

    kind: str  # what was done, as a heading above the names
    names: Sequence[str]  # what it was done to
    verdict: str  # the answer in one sentence
    facts: Sequence[tuple[str, str, str]]  # headline numbers: what it is, its value, and how to read it
    parts: Sequence[Mapping[str, Any]]  # charts and tables for the script, each with its "kind", in order
    settings: Mapping[str, Any]  # how it was computed
    notes: Sequence[str]  # what a reader must know
    tops: Sequence[Mapping[str, Any]] = ()  # rankings that parts refer to by position
    corrected: bool = False  # whether values corrected for chance are shown first


def write(page: Page, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write a page to a file, complete or not at all; one that exists is replaced with force=True only."""
    target = Path(path)
    if target.is_file() and not force:
        raise InputError(
            f"{target} exists already. Pass {spelled('force', value=True)} to replace it, or name another file."
        )
    if not target.parent.is_dir():
        raise InputError(f"{target} must be in an existing folder; there is no {target.parent}. Create it first.")
    html = render(page).encode()
    write_atomically(target, lambda file: file.write(html), replace=force)
    return target


def render(page: Page) -> str:
    """Return the page as HTML."""
    style = _asset("report.css")
    script = '"use strict";\n(() => {\n' + "\n".join(map(_asset, SCRIPTS)) + "})();\n"
    policy = f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    title = encodable(" and ".join(text(name, 60) for name in page.names[:2]) or page.kind)
    colours = {name: find(name).colour for name in ("fuji", "jaccard")}
    data = {"colours": colours, "corrected": page.corrected, "parts": list(page.parts), "tops": list(page.tops)}
    head = [
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f'<meta name="generator" content="fujiscore {__version__}">',
        f"<title>{escape(title)}: {escape(page.kind)}</title>",
        f"<style>{style}</style>",
    ]
    body = [
        '<a class="skip" href="#main">Skip to the charts</a>',
        *_header(page),
        '<main id="main"></main>',
        "<noscript><p>The charts need JavaScript. Verdict, numbers, notes and settings do not.</p></noscript>",
        *_settings(page.settings),
        f"<footer><p>fujiscore {__version__}. This file is complete: it loads nothing from the network.</p></footer>",
        f'<script type="application/json" id="data">{script_json(data)}</script>',
        f"<script>{script}</script>",
    ]
    return "\n".join(
        ['<!DOCTYPE html>\n<html lang="en">', "<head>", *head, "</head>", "<body>", *body, "</body></html>\n"]
    )


def _asset(name: str) -> str:
    """Return a file that comes with the package."""
    return (files("fujiscore.pages") / "assets" / name).read_text("utf-8")


def _digest(code: str) -> str:
    """Return the hash by which a content security policy lets a style or a script pass."""
    return f"sha256-{b64encode(hashlib.sha256(code.encode()).digest()).decode()}"


def _safe(value: object) -> str:
    """Return a sentence or a name as HTML shows it."""
    return escape(encodable(one_line(value)))


def _isolated(name: object) -> str:
    """Return a name as HTML whose direction of writing leaves the words around it alone."""
    return f"<bdi>{escape(encodable(text(name)))}</bdi>"


def _header(page: Page) -> Iterable[str]:
    """Return heading, verdict, headline numbers, and notes."""
    yield f'<header><p class="kind">{_safe(page.kind)}</p>'
    yield f"<h1>{' and '.join(map(_isolated, page.names))}</h1>"
    yield f'<p class="verdict">{_safe(page.verdict)}</p>'
    if page.facts:
        yield '<dl class="facts">'
        for name, value, reading in page.facts:
            yield f"<div><dt>{_safe(name)}</dt><dd><b>{_safe(value)}</b> <span>{_safe(reading)}</span></dd></div>"
        yield "</dl>"
    if page.notes:
        items = "".join(f"<li>{_safe(note)}</li>" for note in page.notes)
        yield f'<section class="notes" aria-labelledby="notes"><h2 id="notes">Notes</h2><ul>{items}</ul></section>'
    yield '<div id="controls" role="group" aria-label="View"></div></header>'


def _settings(settings: Mapping[str, Any]) -> Iterable[str]:
    """Return how it was computed."""
    yield '<section class="settings" aria-labelledby="settings"><h2 id="settings">Settings</h2><dl>'
    for name, value in settings.items():
        yield f"<div><dt>{_safe(name)}</dt><dd>{_isolated(one_line(value))}</dd></div>"
    yield "</dl></section>"


@complete_methods
class Reported:
    """A result with an HTML page of its own."""

    def _page(self) -> Page:
        """Return what is on the page."""
        raise NotImplementedError

    def report(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the result as one self-contained HTML page, and return its path.

        The page has charts that react to mouse, keyboard and touch, the items behind the numbers, and the notes. It
        loads nothing from the network. A file that exists is replaced with force=True only.
        """
        return write(self._page(), path, force=force)
