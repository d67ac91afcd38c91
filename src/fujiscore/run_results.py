"""What comparing two runs gives: one row per query, its summary, and the queries that changed most. Imports io below."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import counted, integer
from fujiscore.intervals import quantile
from fujiscore.measures import find
from fujiscore.results import Result
from fujiscore.tables import frame, text_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fujiscore.measures import Measure
    from fujiscore.ranking import Ranking

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class RunComparison(Result):
    """One comparison per query.

    Attributes
    ----------
    queries : ndarray
        The queries that both runs have: integers, or objects such as text.
    columns : mapping of str to ndarray
        One array per column, one entry per query: `n_a`, `n_b`, `shared` (the lists' sizes, and how many items they
        share), `k` (where it was evaluated: the end of a shorter list), each measure under its name, and for FUJI of
        cut-off lists `fuji_high`, the most that it can be, the scores of the items that a list lacks being unknown.
        With a universe, for each measure with a closed form, `*_expected`, `*_corrected` and, where there is a null
        distribution, `*_p`. NaN where a value is undefined.
    measures : tuple of Measure
        The measures, the headline first.
    settings : mapping of str to value
        `k` or `ks`, `universe`, `missing`, `ties`, `zero_tail`, and the names of both runs, `a` and `b`.
    only_a, only_b : ndarray
        The queries that one run alone has; they count in no mean.
    lists : mapping of query to pair of Ranking
        Both rankings of the queries that changed most, for `explain`.
    groups : ndarray, optional
        The group of each query.
    confidence : float
        Level of intervals.
    """

    queries: NDArray[Any]
    columns: Mapping[str, NDArray[Any]]
    measures: tuple[Measure, ...]
    settings: Mapping[str, Any]
    only_a: NDArray[Any]
    only_b: NDArray[Any]
    lists: Mapping[Any, tuple[Ranking, Ranking]] = field(default_factory=dict)
    groups: NDArray[Any] | None = None
    confidence: float = 0.95
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of queries that both runs have."""
        return len(self.queries)

    def interval(self, measure: str) -> tuple[float, float, float]:
        """Return a measure's mean over the queries, with Student's interval."""
        values = self.columns[find(measure).name]
        values = values[~np.isnan(values)]
        mean = float(values.mean()) if values.size else float("nan")
        if values.size < 2:
            return mean, float("nan"), float("nan")
        reach = quantile(self.confidence, values.size - 1) * float(values.std(ddof=1)) / np.sqrt(values.size)
        least, most = find(measure).low, find(measure).high
        return mean, max(mean - reach, least), min(mean + reach, most)

    @cached_property
    def quantiles(self) -> dict[str, list[float]]:
        """For each measure the least value, the 5, 25, 50, 75 and 95 % quantiles, and the greatest."""
        return {m.name: np.nanquantile(self.columns[m.name], QUANTILES).tolist() for m in self.measures}

    def worst(self, number: int = 10) -> list[int]:
        """Return the places of the queries that changed most by the first measure, the least similar first."""
        values = self.columns[self.measures[0].name]
        order = np.argsort(values, kind="stable")
        return order[: min(integer("number", number, 1), int((~np.isnan(values)).sum()))].tolist()  # type: ignore[no-any-return]

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row per query as a pandas or polars DataFrame, the notes in `.attrs`."""
        return frame({"query": self.queries, **self.columns}, library, self.notes)

    def _summary(self) -> list[str]:
        rows = []
        for measure in self.measures:
            mean, low, high = self.interval(measure.name)
            least, five, _, median, *_ = self.quantiles[measure.name]
            numbers = (f"{mean:.4f}", f"{low:.4f} to {high:.4f}", f"{median:.4f}", f"{five:.4f}", f"{least:.4f}")
            rows.append((measure.title, *numbers))
        header = ("measure", "mean", f"{self.confidence:.0%} interval", "median", "5 %", "least")
        return [counted(len(self), "query", "queries"), *text_table(header, rows)]
