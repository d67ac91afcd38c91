"""Results over a grid of k: one row per k, and lines over k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fujiscore.charts.kinds import Band, Line, Lines
from fujiscore.charts.result import Result
from fujiscore.measures.registry import MEASURES, find
from fujiscore.text.tables import Table, columns_table, frame, spread_places

if TYPE_CHECKING:
    from fujiscore.measures.grids import Grid, Sizes

# How numbers that can be very small are written; others have four decimals.
FORMATS = {"variance": ".3g", "p_value": "p", "z": ".2f"}


class ResultOverK(Result):
    """A result over a grid of k, with a table and a figure."""

    grid: Grid

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

    def _over_k(
        self, title: str, lines: Sequence[Line], bands: Sequence[Band] = (), low: float = 0.0, **more: Any
    ) -> list[Lines]:
        """Return a chart over k, from a lowest value to 1; the area seen is the area computed."""
        chart = {"span": (max(-1.0, low), 1.0), "log": self.grid.kind == "exp", **more}
        return [Lines(self.ks, lines, bands, title=title, **chart)]

    @property
    def ks(self) -> Sizes:
        """The evaluated k."""
        return self.grid.ks

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row per k as a pandas or polars DataFrame, the notes in `.attrs`."""
        return frame({"k": self.ks, **self._columns()}, library, self.notes)


def _title(name: str) -> str:
    """Return a column as tables call it: a measure by its title."""
    return find(name).title if name.partition("(")[0] in MEASURES else name.replace("_", " ")
