"""The documentation is true: every example runs, every public name, measure and word of policy is documented."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import runpy
from pathlib import Path

import pytest

import fujiscore as fj

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
MODULES = [found.name for found in pkgutil.walk_packages(fj.__path__, "fujiscore.") if "__main__" not in found.name]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_in_pages(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    found = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("name", ["measures.md", "api.md"])
def test_generated_pages_are_up_to_date(name):
    script = runpy.run_path(str(ROOT / "docs" / "make_reference.py"))
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == script["PAGES"][name]()


def test_every_public_name_says_what_it_is():
    for name in fj.__all__:
        thing = getattr(fj, name)
        assert not callable(thing) or (thing.__doc__ or "").strip(), name
