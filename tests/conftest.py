"""What all tests share: the way to the oracle, the hypothesis profiles, and the data outside the project."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import settings

from fujiscore.io import documents

HERE = Path(__file__).parent
# The tests are imported as single files (importlib mode): the oracle and the strategies lie beside them.
sys.path.insert(0, str(HERE))

# Kernels compile at first use, which no deadline allows for. `--hypothesis-profile=explore` looks further, and
# elsewhere on every run.
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=30)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the directory of published rankings, golden values and the paper, or skip where it is absent."""
    path = HERE.parents[1] / "shared"
    if not path.is_dir():
        pytest.skip("the shared data are not here")
    return path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that read the published rankings, so that `-m "not published"` leaves them out."""
    for item in items:
        if "shared" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.published)


def pytest_terminal_summary(terminalreporter) -> None:
    """Say at the end how many tests had no browser to run in."""
    skipped = [report for report in terminalreporter.stats.get("skipped", ()) if "browser" in report.keywords]
    if skipped:
        how = "`make browser-test` installs Chromium and Playwright, and runs them"
        terminalreporter.write_line(f"BROWSER TESTS SKIPPED: {len(skipped)}; {how}.", yellow=True, bold=True)


@pytest.fixture(params=["pyarrow", "csv"])
def engine(request, monkeypatch):
    """Read delimited files through pyarrow, and row by row."""
    monkeypatch.setattr(documents, "SMALL", 0 if request.param == "pyarrow" else 1 << 30)


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file and returns its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
