"""The pytest plugin of fujiscore: the fixture `ranking_gate`, and the option `--ranking-bless`.

pytest imports this module in every session, hence it stands outside the package and imports it at first use only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fujiscore.runs.pytest_plugin import RankingGate

FOLDER = "ranking_baselines"
STORED = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that stores baselines."""
    group = parser.getgroup("fujiscore", "rankings and runs (fujiscore)")
    text = f"store what ranking_gate is given as baselines, in {FOLDER}/ beside the test, whatever the gates say"
    group.addoption("--ranking-bless", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    """Begin a list of the baselines that are stored."""
    config.stash[STORED] = []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say which baselines were stored."""
    for line in config.stash[STORED]:
        terminalreporter.write_line(f"ranking_gate: {line}")


@pytest.fixture
def ranking_gate(request: pytest.FixtureRequest) -> RankingGate:
    """Hold two rankings or runs against each other, or one against a stored baseline; see docs/runs.md of fujiscore."""
    from fujiscore.runs.pytest_plugin import RankingGate

    bless = bool(request.config.getoption("--ranking-bless"))
    return RankingGate(request.path.parent / FOLDER, bless=bless, stored=request.config.stash[STORED])
