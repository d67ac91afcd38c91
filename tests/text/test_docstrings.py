"""Docstrings are completed with the shared descriptions of parameters."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fujiscore.text.docstrings import complete_methods, documented


def described(function):
    """Return the names and texts of a docstring's parameters."""
    section = function.__doc__.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    return [line for line in section.splitlines() if not line.startswith(" ")]


def test_parameters_are_in_the_order_of_the_signature():
    @documented
    def function(r, s, own, *, n_jobs=None, unknown=None):
        """Return something.

        Parameters
        ----------
        own : int
            Described here.

        Returns
        -------
        int
            A number.
        """

    names = [line.partition(" : ")[0] for line in described(function)]
    assert names == ["r, s", "own", "n_jobs"]
    assert function.__doc__.startswith("Return something.\n\nParameters\n")
    assert function.__doc__.endswith("\n\nReturns\n-------\nint\n    A number.")


def test_a_description_in_the_docstring_goes_before_the_shared_one():
    def function(ties, task):
        """Return something.

        Parameters
        ----------
        ties : bool
            Another thing.
        """

    completed = documented(function, "ties : str\n    Shared.\ntask : str\n    Shared, too.\n")
    assert described(completed) == ["ties : bool", "task : str"]
    assert "    Another thing.\ntask : str\n    Shared, too." in completed.__doc__


def test_methods_without_parameters_stay_as_they_are():
    @complete_methods
    class Kind:
        def plain(self):
            """Return something."""

        def plot(self, ax=None):
            """Draw something."""

        def _private(self, ax=None):
            """Draw something else."""

    assert Kind.plain.__doc__ == "Return something."
    assert described(Kind.plot) == ["ax : matplotlib Axes, optional"]
    assert Kind._private.__doc__ == "Draw something else."


@pytest.mark.slow  # every library is compiled anew, without docstrings
def test_without_docstrings():
    script = "import fujiscore as fj; print(fj.auc([2, 1], [2, 1]), fj.auc.__doc__, fj.results.Curve.plot.__doc__)"
    done = subprocess.run([sys.executable, "-OO", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "1.0 None None\n"
