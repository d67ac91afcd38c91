"""The built documentation in a browser, opened from disk: no network, no complaints, no overflow, a working search."""

from __future__ import annotations

from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "out" / "site"

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(chromium):
    """Return a function that opens a page of the site; at the end, none may have complained or used the network."""
    if not (SITE / "index.html").exists():
        pytest.skip("the documentation is not built: make site")
    contexts, told, requests = [], [], []

    def opened(name, width=1360):
        context = chromium.new_context(viewport={"width": width, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: told.append(f"{name}: {message.text}"))
        page.on("pageerror", lambda error: told.append(f"{name}: {error}"))
        page.on("request", lambda request: requests.append(request.url))
        page.goto((SITE / name).as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert told == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []


def test_no_page_is_wider_than_a_phone(opened):
    page = opened("index.html", width=390)
    for path in sorted(set(SITE.rglob("*.html")) - {SITE / "404.html"}):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 1, path.name


def test_the_search_finds_pages_opened_from_disk(opened):
    page = opened("start.html")
    page.keyboard.press("/")
    page.keyboard.type("kuncheva", delay=20)
    page.wait_for_selector("a[href*='measures.html']:has(mark)", timeout=20_000)


def test_every_picture_is_shown(opened):
    page = opened("measures.html")
    shown = "Promise.all([...document.images].map((image) => image.decode().then(() => image.naturalWidth)))"
    widths = page.evaluate(shown)
    assert len(widths) > 20
    assert min(widths) > 0
