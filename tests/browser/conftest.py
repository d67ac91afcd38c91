"""A real browser for the tests of pages: Chromium, driven by Playwright. Without either these tests are skipped."""

from __future__ import annotations

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


def why_not():
    """Return why there is no browser, None if there is one."""
    if not any(map(shutil.which, NAMES)):
        return "there is no Chromium"
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "Playwright is not installed"
    return None


@pytest.fixture(scope="session")
def chromium():
    reason = why_not()
    if reason is not None:
        pytest.skip(f"{reason}: make browser-test installs what it needs")
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, NAMES)))
    root = os.name == "posix" and os.geteuid() == 0  # whom Chromium refuses a sandbox
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"] if root else [])
        yield browser
        browser.close()


class Opened:
    """A page in the browser, with what it told the console and what it asked the network for."""

    def __init__(self, browser, path, width, scheme):
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.told, self.requests = [], []
        self.page.on("console", lambda message: self.told.append(message.text))
        self.page.on("pageerror", lambda error: self.told.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.told.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready]", timeout=20_000)

    def check(self):
        """Check that nothing went wrong, and that the page loaded itself alone."""
        assert self.told == []
        assert [url for url in self.requests if not url.startswith("file:")] == []
        assert len(self.requests) == 1


@pytest.fixture
def visit(chromium):
    """Return a function that opens a page; at the end, none may have complained or used the network."""
    visited = []

    def visit(path, width=1000, scheme="light"):
        visited.append(Opened(chromium, path, width, scheme))
        return visited[-1].page

    yield visit
    for one in visited:
        one.check()
        one.context.close()
