"""What every result does: print itself with its notes, become a DataFrame, draw itself. Imports tables, and plots."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from fujiscore.errors import one_line
from fujiscore.tables import frame

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fujiscore.overlap import Grid, Sizes


class Result:
    """A result that prints a summary and its notes.

    Attributes
    ----------
    notes : tuple of str
        What was done to the input, and what the result rests on.
    """

    notes: tuple[str, ...]

    def _summary(self) -> Sequence[str]:
        raise NotImplementedError

    def __str__(self) -> str:
        """Return the summary and the notes."""
        return "\n".join([*self._summary(), *(f"note: {one_line(note)}" for note in self.notes)])

    def __repr__(self) -> str:
        """Return what print shows."""
        return str(self)


class Reported:
    """A result with an HTML page of its own."""

    _page: ClassVar[str]  # module and function of the package `report` that say what is on the page

    def report(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the result as one self-contained HTML page, and return its path.

        The page has charts that react to mouse, keyboard and touch, the items behind the numbers, and the notes. It
        loads nothing from the network. A file that exists is replaced with force=True only.
        """
        module, function = self._page.split(".")
        # By name: pages are made of results, and know them all.
        content = getattr(import_module(f"fujiscore.report.{module}"), function)(self)
        written: Path = import_module("fujiscore.report.page").write(content, path, force=force)
        return written


class ResultOverK(Result):
    """A result over a grid of k, with a table and a figure."""

    grid: Grid
    _plot: ClassVar[str]  # the function of plots that draws it

    def _columns(self) -> Mapping[str, Any]:
        raise NotImplementedError

    @property
    def ks(self) -> Sizes:
        """The evaluated k."""
        return self.grid.ks

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row per k as a pandas or polars DataFrame, the notes in `.attrs`."""
        return frame({"k": self.ks, **self._columns()}, library, self.notes)

    def plot(self, ax: Any = None) -> Any:
        """Draw the result on a matplotlib Axes (a new one if None) and return the Axes."""
        from fujiscore import plots

        return getattr(plots, self._plot)(self, ax=ax)
