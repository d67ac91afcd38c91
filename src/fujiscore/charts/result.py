"""What every result does: show itself with its notes, and draw itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fujiscore.charts import figure, svg
from fujiscore.text.tables import Table
from fujiscore.text.tabular import Tabular, fields_only

if TYPE_CHECKING:
    from fujiscore.charts.kinds import Chart


class Result(Tabular):
    """A result that prints a summary and its notes, and draws itself.

    Attributes
    ----------
    notes : tuple of str
        What was done to the input, and what the result rests on.
    """

    __getstate__ = fields_only

    def _charts(self) -> Sequence[Chart]:
        """Return the charts, the most important one first: `plot` draws it, notebooks show all."""
        raise NotImplementedError

    def _picture(self) -> str:
        return svg.draw(self._charts())

    def plot(self, ax: Any = None) -> Any:
        """Draw the result on a matplotlib Axes (a new one if None) and return the Axes."""
        return figure.draw(self._charts()[0], ax)


def charts_of(result: Result) -> Sequence[Any]:
    """Return the charts of a result, the most important one first; of which kind they are, the caller knows."""
    return result._charts()  # noqa: SLF001 - the one way to them from outside


def record(caption: str, columns: Mapping[str, tuple[str, Any]], notes: Sequence[str] = ()) -> Table:
    """Return a table of one row, each column a format and its value."""
    return Table(
        caption, list(columns), [[value for _, value in columns.values()]], [f for f, _ in columns.values()], notes
    )


def estimate_cells(name: str, result: Any) -> dict[str, tuple[str, Any]]:
    """Return the cells of a value with its interval and standard error, for `record`."""
    return {
        name: (".4f", result.value),
        f"{result.confidence:.0%} interval, low": (".4f", result.low),
        "high": (".4f", result.high),
        "standard error": (".4f", result.standard_error),
    }
