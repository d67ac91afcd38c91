"""What every result does: show itself with its notes, become a DataFrame, draw itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from fujiscore.inputs.orders import fields_only
from fujiscore.measures.registry import MEASURES, find
from fujiscore.text.tables import Table, columns_table, frame, spread_places
from fujiscore.text.tabular import Tabular

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fujiscore.measures.grids import Grid, Sizes

# How numbers that can be very small are written; others have four decimals.
FORMATS = {"variance": ".3g", "p_value": ".3g", "z": ".2f"}


class Result(Tabular):
    """A result that prints a summary and its notes.

    Attributes
    ----------
    notes : tuple of str
        What was done to the input, and what the result rests on.
    """

    _svg: ClassVar[str] = ""  # the function of report.pictures that draws it in notebooks

    __getstate__ = fields_only

    def _picture(self) -> str:
        if not self._svg:
            return ""
        from fujiscore.charts import pictures

        drawn: str = getattr(pictures, self._svg)(self)
        return drawn


class ResultOverK(Result):
    """A result over a grid of k, with a table and a figure."""

    grid: Grid
    _plot: ClassVar[str]  # the function of plots that draws it

    def _columns(self) -> Mapping[str, Any]:
        raise NotImplementedError

    def _tables(self, rows: int | None) -> Sequence[Table]:
        columns = {"k": self.ks, **self._columns()}
        shown = {
            _title(name): (FORMATS.get(name, "d" if values.dtype.kind in "iu" else ".4f"), values)
            for name, values in columns.items()
        }
        return [columns_table(self._caption(), shown, f"{self.ks.size} k", spread_places(self.ks.size, rows))]

    def _data(self) -> Mapping[str, Any]:
        data = dict(super()._data())
        return {"ks": self.ks, **{name: part for name, part in data.items() if name not in {"grid", "ks"}}}

    def _caption(self) -> str:
        """Return the title of the table over k."""
        return self._summary()[0]

    @property
    def ks(self) -> Sizes:
        """The evaluated k."""
        return self.grid.ks

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row per k as a pandas or polars DataFrame, the notes in `.attrs`."""
        return frame({"k": self.ks, **self._columns()}, library, self.notes)

    def plot(self, ax: Any = None) -> Any:
        """Draw the result on a matplotlib Axes (a new one if None) and return the Axes."""
        from fujiscore.charts import plots

        return getattr(plots, self._plot)(self, ax=ax)


def _title(name: str) -> str:
    """Return a column as tables call it: a measure by its title."""
    return find(name).title if name.partition("(")[0] in MEASURES else name.replace("_", " ")


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


def estimate_data(name: str, result: Any) -> dict[str, Any]:
    """Return a value of pairs with its interval and standard error, for `to_dict`."""
    ends = {key: getattr(result, key) for key in ("low", "high", "standard_error", "confidence")}
    pairs = {"corrected": result.pairs.corrected, "pairs": result.pairs.values}
    return {"measure": result.pairs.measure, "area": result.pairs.area, name: result.value, **ends, **pairs}


def difference_table(
    caption: str, names: Sequence[str], first: Any, second: Any, difference: Any, notes: Sequence[str]
) -> Table:
    """Return two values and their difference, each with its interval, and the p-value of the difference."""
    rows = [[name, each.value, each.low, each.high, None] for name, each in zip(names, (first, second), strict=False)]
    rows.append([names[2], difference.difference, difference.low, difference.high, difference.p_value])
    sides = "" if difference.alternative == "two-sided" else f" (one-sided: {difference.alternative})"
    header = ["", "value", f"{first.confidence:.0%} interval, low", "high", f"p{sides}"]
    return Table(caption, header, rows, ["", ".4f", ".4f", ".4f", ".3g"], notes)
