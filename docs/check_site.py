"""Fail if a page of the built site loads anything from a network: `python docs/check_site.py FOLDER`."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}


class Page(HTMLParser):
    """Collects the addresses that a page loads; links that readers may follow are not among them."""

    def __init__(self):
        super().__init__()
        self.loaded = []

    def handle_starttag(self, tag, attrs):
        """Keep the address of an element that loads one."""
        attributes = dict(attrs)
        address = attributes.get(LOADED.get(tag, "")) or ""
        if attributes.get("rel") not in {"canonical", "next", "prev"}:
            self.loaded.append(address)


def main(folder):
    """Return what to exit with: the addresses of other hosts, page by page, or None."""
    pages = sorted(Path(folder).rglob("*.html"))
    if not pages:
        return f"{folder} has no pages"
    found = []
    for path in pages:
        page = Page()
        page.feed(path.read_text(encoding="utf-8"))
        found += [f"{path}: {address}" for address in page.loaded if "//" in address]
    return "\n".join(["the site must not load from a network:", *found]) if found else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
