"""What all tests share: the oracle's path, the hypothesis profiles, the data outside the project, missing extras."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from fujiscore import MissingExtraError
from fujiscore.io import documents

# Optional libraries, and the extra that installs each.
EXTRAS = {
    "distributed": "dask",
    "duckdb": "duckdb",
    "matplotlib": "plot",
    "networkx": "examples",
    "pandas": "frames",
    "polars": "dev",
    "pyarrow": "parquet",
    "sklearn": "ml",
}
MISSING = {name: extra for name, extra in EXTRAS.items() if find_spec(name) is None}
# What the package has said of missing libraries since the test began.
SAID: list[str] = []

HERE = Path(__file__).parent
# The tests are imported as single files (importlib mode): the oracle and the strategies lie beside them.
sys.path.insert(0, str(HERE))

# Kernels compile at first use, which no deadline allows for. `--hypothesis-profile=explore` looks further, and
# elsewhere on every run.
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=30)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile("repeatable")


# No test opens a window.
os.environ.setdefault("MPLBACKEND", "Agg")


def say(error: MissingExtraError, *arguments: object) -> None:
    """Remember that a library was missing, also where the command makes an exit code of it."""
    SAID.append(str(arguments[0]))
    ImportError.__init__(error, *arguments)


if MISSING:
    MissingExtraError.__init__ = say


def skip_without_extra(error: BaseException | None) -> None:
    """Skip what failed because an optional library is not installed, naming its extra."""
    if SAID:
        pytest.skip(SAID.pop(), allow_module_level=True)
    name = (getattr(error, "name", None) or "").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and name in MISSING:
        pytest.skip(f"needs {name}: pip install 'fujiscore[{MISSING[name]}]'", allow_module_level=True)


class Module(pytest.Module):
    """A file of tests, skipped where it imports an optional library that is not installed."""

    def collect(self):
        try:
            return super().collect()
        except self.CollectError as error:
            skip_without_extra(error.__cause__)
            raise


def pytest_pycollect_makemodule(module_path, parent):
    return Module.from_parent(parent, path=module_path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup():
    SAID.clear()
    try:
        return (yield)
    except Exception as error:
        skip_without_extra(error)
        raise


pytest_runtest_call = pytest_runtest_setup


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
    skipped = [
        report for report in terminalreporter.stats.get("skipped", ()) if "browser" in getattr(report, "keywords", ())
    ]
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
