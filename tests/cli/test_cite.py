"""`fuji cite`: what it prints is in CITATION.cff, and is BibTeX."""

from __future__ import annotations

import re
from pathlib import Path
from unicodedata import normalize

import pytest
from click.testing import CliRunner

import fujiscore as fj
from fujiscore.cli import fuji

CITATION = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")


def call(*arguments):
    result = CliRunner().invoke(fuji, ["cite", *arguments])
    assert result.exit_code == 0
    return result.output


def plain(text):
    """Return BibTeX without braces and accent commands."""
    for command, mark in ((r"\'", "\u0301"), (r"\v ", "\u030c")):
        text = re.sub(rf"\{{{re.escape(command)}(\w)\}}", rf"\g<1>{mark}", text)
    return normalize("NFC", text.replace("{", "").replace("}", ""))


def fields(entry):
    return dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry, re.MULTILINE))


def test_bibtex_has_the_facts_of_the_citation_file():
    paper, tool = call().split("\n\n")
    assert call().isascii()
    assert paper.startswith("@article{petkovic2021fuji,\n")
    assert tool.startswith("@misc{fujiscore,\n")
    found = {name: plain(value) for name, value in fields(paper).items()}
    people = re.findall(r"given-names: (.*)\n\s+family-names: (.*)", CITATION)
    assert found.pop("author") == " and ".join(f"{family}, {given}" for given, family in people)
    assert len(people) == 4
    for name, value in found.items():
        assert re.search(rf'^  {name}: "?{re.escape(value)}"?$', CITATION, re.MULTILINE), name
    assert set(found) == {"title", "journal", "year", "url"}
    assert plain(fields(tool)["note"]) == f"Version {fj.__version__}"
    assert f"version: {fj.__version__}\n" in CITATION
    assert f"repository-code: {fields(tool)['url']}\n" in CITATION


@pytest.mark.parametrize("entry", call().split("\n\n"))
def test_braces_are_balanced(entry):
    depth = 0
    for character in entry.strip():
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0


def test_text():
    paper, tool = call("--format", "text").strip().split("\n")
    assert paper.startswith("Matej Petković, Blaž Škrlj, Dragi Kocev, Nikola Simidjievski. Fuzzy Jaccard Index")
    assert fj.__version__ in tool
