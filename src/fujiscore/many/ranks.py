"""Items with intervals: the mean rank of each over a method's rankings, and tiers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fujiscore.charts import figure
from fujiscore.charts.kinds import Dots, Mark, Ranges, Rows
from fujiscore.charts.palette import INK, SLATE
from fujiscore.charts.result import Result
from fujiscore.errors import counted, first_few, integer, proportion, short_names
from fujiscore.inference.intervals import quantile
from fujiscore.text.tables import Table, columns_table, first_places, frame, short_start

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.inputs.ranking import Ranking, Rankings

# Ranks are whole numbers: no spread is known to be less than that of rounding (the variance of a uniform variable).
ROUNDED = 1 / 12
# The variance of a rank that is one of two neighbouring ones equally often, the least that tests between items assume.
NEIGHBOURS = 1 / 4
SHOWN = 10
# What intervals and tiers say, printed with them.
COVERS = "about rankings drawn as these were: resamples of one data set tell about that data set"
# Items whose tests against all others before them are held in memory at a time.
BLOCK = 64


@dataclass(frozen=True, eq=False, repr=False)
class ItemRanks(Result):
    """The ranks of items over a method's rankings, the best mean rank first.

    Attributes
    ----------
    items : tuple of hashable
        The items' labels, or positions where they have none.
    mean, low, high : ndarray
        The mean rank of each item, and its confidence interval; 1 is best, equal scores share the mean of their ranks.
    best, worst : ndarray
        The best and the worst of its ranks.
    in_top : ndarray
        The share of the rankings that have it in their top k (at most k items score as high), which estimates the
        probability of being there.
    tier : ndarray
        The number of its tier. Items of different tiers have mean ranks that differ significantly; those of one tier
        do not, or are linked by items between them that do not.
    k, m : int
        The depth of the top, and the number of rankings.
    confidence : float
        The confidence of each interval, and of all tiers together.
    notes : tuple of str
        What was done to the input, and what the ranks rest on.
    """

    items: tuple[Hashable, ...]
    mean: Scores
    low: Scores
    high: Scores
    best: Scores
    worst: Scores
    in_top: Scores
    tier: NDArray[np.int64]
    k: int
    m: int
    confidence: float
    notes: tuple[str, ...] = ()

    def columns(self) -> dict[str, Any]:
        """Return the columns of the table, by name."""
        numbers = {"tier": self.tier, "mean_rank": self.mean, "low": self.low, "high": self.high}
        return {"item": list(self.items), **numbers, "best": self.best, "worst": self.worst, "in_top": self.in_top}

    def _data(self) -> dict[str, Any]:
        items = [dict(zip(self.columns(), row, strict=True)) for row in zip(*self.columns().values(), strict=True)]
        return {"rankings": self.m, "confidence": self.confidence, "k": self.k, "items": items}

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row per item as a pandas or polars DataFrame, the notes in `.attrs`."""
        return frame(self.columns(), library, self.notes)

    def plot(self, ax: Any = None, *, items: int = 30) -> Any:
        """Draw the rank intervals of the first items on a matplotlib Axes, shaded by tier, and return the Axes."""
        return figure.draw(self._charts(integer("items", items, 1))[0], ax)

    def _summary(self) -> list[str]:
        tiers = counted(int(self.tier[-1]), "tier")
        lines = [f"{counted(len(self.items), 'item')} in {tiers}, {self.m} rankings, {self.confidence:.0%} intervals"]
        names = short_names(self.items[:SHOWN])
        for i, name in enumerate(names):
            interval = f"rank {self.mean[i]:.1f} ({self.low[i]:.1f} to {self.high[i]:.1f})"
            lines.append(f"tier {self.tier[i]}: {name}, {interval}, in top {self.k}: {self.in_top[i]:.0%}")
        more = len(self.items) - len(names)
        return [*lines, *([f"... and {more} more"] if more else []), f"intervals and tiers are {COVERS}"]

    def _charts(self, items: int = 30) -> Sequence[Rows]:
        marks: list[Mark] = [
            Ranges(self.best, self.worst, "best to worst", SLATE, 1.0),
            Ranges(self.low, self.high, f"{self.confidence:.0%} interval of the mean", SLATE),
            Dots(self.mean, f"mean rank of {self.m}", INK, hollow=True),
        ]
        tiers = [f"tier {tier}" for tier in self.tier.tolist()]
        return [Rows(self.items, marks, "rank", None, ".1f", tiers, items, title="mean ranks of items")]

    def _tables(self, rows: int | None) -> list[Table]:
        formats = {"item": "", "tier": "d", "mean_rank": ".1f", "low": ".1f", "high": ".1f", "in_top": ".2f"}
        columns = {name: (formats.get(name, "g"), values) for name, values in self.columns().items()}
        columns["item"] = ("", short_start(self.items, rows))
        columns[f"in top {self.k}"] = columns.pop("in_top")
        spelled = {name.replace("_", " "): column for name, column in columns.items()}
        head = self._summary()[0]
        places, total = first_places(len(self.items), rows), counted(len(self.items), "item")
        return [columns_table(head, spelled, total, places, [f"intervals and tiers are {COVERS}"])]


def item_ranks(rankings: Rankings, k: int = 10, confidence: float = 0.95) -> ItemRanks:
    """Return the ranks of the items of several rankings, with intervals and tiers."""
    from scipy.stats import rankdata

    depth = integer("k", k, 1)
    scores = [-_scores(ranking) for ranking in rankings]
    ranks = np.array([rankdata(row) for row in scores])
    within = np.array([rankdata(row, "max") <= depth for row in scores])
    labels = [rankings.label(i) for i in range(rankings.n)]
    notes = tuple(dict.fromkeys((*rankings.notes, *_doubts(rankings, depth))))
    return summarised(ranks, within, labels, depth, proportion("confidence", confidence), notes)


def _doubts(rankings: Rankings, k: int) -> list[str]:
    """Return what could mislead a reader of the ranks."""
    flat = [ranking.name for ranking in rankings if ranking.constant]
    notes = [f"every item has the same score, so the mean rank, in {first_few(flat)}"] if flat else []
    if k >= rankings.n:
        notes.append(f"all {counted(rankings.n, 'item')} are in the top {k}, whatever their ranks")
    if rankings.truncated:
        notes.append("items that a ranking does not list share the mean of the ranks after its last item")
    return notes


def summarised(
    ranks: Scores, within: NDArray[np.bool_], labels: Sequence[Any], k: int, confidence: float, notes: tuple[str, ...]
) -> ItemRanks:
    """Return intervals and tiers of a table of ranks, one row per ranking and one column per item."""
    m, n = ranks.shape
    order = np.argsort(ranks.mean(axis=0), kind="stable")
    ranks, within = ranks[:, order], within[:, order]
    mean = ranks.mean(axis=0)
    last = last_alike(ranks, confidence)
    tier = tiers(last)
    reach = quantile(confidence, m - 1) * np.sqrt(np.maximum(ranks.var(axis=0, ddof=1), ROUNDED) / m)
    return ItemRanks(
        items=tuple([labels[i] for i in order.tolist()]),
        mean=mean,
        low=np.maximum(mean - reach, 1.0),
        high=np.minimum(mean + reach, float(n)),
        best=ranks.min(axis=0),
        worst=ranks.max(axis=0),
        in_top=within.mean(axis=0),
        tier=tier,
        k=k,
        m=m,
        confidence=confidence,
        notes=(*notes, *_chains(tier, last)),
    )


def tiers(last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the tiers: one ends where every item so far differs from every item that follows."""
    ends = np.maximum.accumulate(last)[:-1] < np.arange(1, last.size)
    return 1 + np.concatenate(([0], np.cumsum(ends)))


def _chains(tier: NDArray[np.int64], last: NDArray[np.int64]) -> list[str]:
    """Return a note on tiers whose first item differs from their last."""
    first, end = (np.searchsorted(tier, np.unique(tier), side) for side in ("left", "right"))
    chained = [str(number) for number in tier[first[last[first] < end - 1]].tolist()]
    if not chained:
        return []
    which = f"tier{'s' if len(chained) > 1 else ''} {first_few(chained)}"
    return [f"in {which}, first and last item differ significantly, but no place divides the items between them"]


def last_alike(ranks: Scores, confidence: float) -> NDArray[np.int64]:
    """Return, for each item in the order of their mean ranks, the last one that does not differ from it.

    Student's test of the differences over the rankings, at a level divided by the number of places where a tier can
    end. Few rankings can show too little spread by chance (a plain paired test split two equal items in up to 13 % of
    cases), so a difference has at least the variance that it would have if the items were independent, and 1 / m is
    taken off as a continuity correction.
    """
    m, n = ranks.shape
    last = np.arange(n)
    if n < 2:
        return last
    limit = quantile(1 - (1 - confidence) / (n - 1), m - 1) ** 2 / m
    mean = ranks.mean(axis=0)
    scaled = (ranks - mean) / np.sqrt(m - 1)
    variance = np.maximum((scaled**2).sum(axis=0), NEIGHBOURS)
    for start in range(0, n, BLOCK):
        rows = slice(start, start + BLOCK)
        gaps = np.maximum(mean[start:] - mean[rows, None] - 1 / m, 0)
        covariance = scaled[:, rows].T @ scaled[:, start:]
        alike = gaps**2 <= limit * (variance[rows, None] + variance[start:] - 2 * np.minimum(covariance, 0))
        last[rows] = n - 1 - np.argmax(alike[:, ::-1], axis=1)
    return last


def _scores(ranking: Ranking) -> Scores:
    """Return a ranking's scores, those of items that it does not list below all others."""
    return ranking.scores if ranking.absent is None else np.where(ranking.absent, -np.inf, ranking.scores)
