"""Write pictures/report.png, a report as a browser shows it; needs what `make browser` installs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import fujiscore as fj

HERE = Path(__file__).parent


def main() -> None:
    """Write a report, open it and photograph it."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    os.chdir(HERE.parent)  # so that the notes name the files as readers would
    first, second = (fj.read(f"examples/model_{name}.csv") for name in "ab")
    result = fj.compare(first, second)
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = result.report(Path(folder) / "report.html")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 760, "height": 1330})
        page.goto(page_file.as_uri())
        page.wait_for_selector("html[data-ready]")
        picture = HERE / "pictures" / "report.png"
        page.screenshot(path=picture)
        browser.close()
    Image.open(picture).quantize(128).save(picture, optimize=True)  # a quarter of the size


if __name__ == "__main__":
    main()
