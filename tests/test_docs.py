"""The documentation is true: every example runs, every public name, measure and word of policy is documented."""

from __future__ import annotations

import doctest
import importlib
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def shows_examples(path):
    return ">>> " in path.read_text(encoding="utf-8")


def modules_with_examples():
    """Return the names of the modules whose docstrings have examples: a module without any cannot fail."""
    source = ROOT / "src"
    paths = sorted(path for path in source.rglob("*.py") if shows_examples(path))
    return [".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__") for path in paths]


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("page", list(filter(shows_examples, PAGES)), ids=lambda page: page.name)
def test_examples_in_pages(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("name", ["measures.md", "api.md"])
def test_generated_pages_are_up_to_date(name):
    script = runpy.run_path(str(ROOT / "docs" / "make_reference.py"))
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == script["PAGES"][name]()


def modules_in_the_table():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.split("## Modules")[1].split("\n## ")[0]
    return {name.rstrip("/") for row in table.splitlines() for name in re.findall(r"`([\w/]+?(?:\.py|/))`", row)}


def test_every_module_is_in_the_architecture():
    """Every module and package of the top level has a row, and every row a module."""
    folder = ROOT / "src" / "fujiscore"
    files = {path.name for path in folder.glob("*.py")} - {"__init__.py", "__main__.py"}
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    assert modules_in_the_table() == files | packages
