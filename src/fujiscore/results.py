"""What every result does: print itself with its notes, become a DataFrame, draw itself. Imports tables, and plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from fujiscore.errors import one_line
from fujiscore.tables import frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
