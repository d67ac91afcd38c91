"""Why FUJI has its value at k, item by item. Imports measures and below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.tables import frame
from fujiscore.measures import evaluate, find
from fujiscore.overlap import Ordered, Overlap, ordered_pair, set_sizes

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from fujiscore.overlap import Ties, ZeroTail
    from fujiscore.rankings import Missing, Nan, Negative, Scores


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why FUJI has its value: one row an item of the union of the two top sets.

    The rows are sorted: near misses by falling contribution, far misses likewise, then the shared items.

    Attributes
    ----------
    value : float
        FUJI, the sum of the contributions over the number of rows.
    jaccard : float
        The part that the shared items alone make up.
    k1, k2 : int
        The sizes of the two top sets.
    items : list
        The items' labels (positions where they have none).
    rank_r, rank_s : ndarray of int64
        Ranks from 1.
    score_r, score_s : ndarray of float64
        The scores as given.
    membership_r, membership_s : ndarray of float64
        1 inside the top set; outside, the score relative to the last score inside.
    contribution : ndarray of float64
        The smaller membership; 1 for a shared item.
    kind : list of str
        "shared", "near miss" (contribution at least 1/2) or "far miss".
    """

    value: float
    jaccard: float
    k1: int
    k2: int
    items: list[Hashable]
    rank_r: NDArray[np.int64]
    rank_s: NDArray[np.int64]
    score_r: Scores
    score_s: Scores
    membership_r: Scores
    membership_s: Scores
    contribution: Scores
    kind: list[str]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.items)

    def columns(self) -> dict[str, Any]:
        """Return the table as columns."""
        names = ("rank_r", "rank_s", "score_r", "score_s", "membership_r", "membership_s", "contribution", "kind")
        return {"item": self.items, **{name: getattr(self, name) for name in names}}

    def to_frame(self, library: str | None = None) -> Any:
        """Return the table as a pandas or polars DataFrame."""
        return frame(self.columns(), library)

    def __str__(self) -> str:
        """Return the value's decomposition and the first rows as text."""
        sizes = f"k = {self.k1}" if self.k1 == self.k2 else f"k = ({self.k1}, {self.k2})"
        counts = {kind: self.kind.count(kind) for kind in ("shared", "near miss", "far miss")}
        credit = float(self.contribution.sum()) - counts["shared"]
        head = (
            f"FUJI {self.value:.4f} at {sizes}: ({counts['shared']} shared + {credit:.4f} credit for "
            f"{counts['near miss']} near and {counts['far miss']} far misses) / {len(self)} items; "
            f"Jaccard {self.jaccard:.4f}"
        )
        shown = min(len(self), 20)
        rows = [("item", "rank r", "rank s", "score r", "score s", "contribution", "kind")]
        rows += [
            (
                str(self.items[i]),
                str(self.rank_r[i]),
                str(self.rank_s[i]),
                f"{self.score_r[i]:.5g}",
                f"{self.score_s[i]:.5g}",
                f"{self.contribution[i]:.4f}",
                self.kind[i],
            )
            for i in range(shown)
        ]
        widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        more = [f"... {len(self) - shown} more rows"] if len(self) > shown else []
        return "\n".join([head, *lines, *more])


def explain(
    r: Any,
    s: Any,
    k: int | tuple[int, int],
    *,
    ties: Ties = "stable",
    zero_tail: ZeroTail = "include",
    negative: Negative = "raise",
    nan: Nan = "raise",
    missing: Missing = "raise",
) -> Explanation:
    """Explain FUJI at k item by item: which items are shared, which are near misses, and how near.

    The contributions sum to FUJI's numerator; without the misses' part it would be the Jaccard index.
    All arguments are those of `fuji`.

    Returns
    -------
    Explanation
        One row an item of the union, the near misses that matter most first; `.to_frame()` for a DataFrame.

    Examples
    --------
    >>> import fujiscore as fj
    >>> why = fj.explain({"a": 4, "b": 3, "c": 2}, {"a": 4, "c": 3, "b": 1}, 2)
    >>> why.items, why.kind
    (['c', 'b', 'a'], ['near miss', 'far miss', 'shared'])
    """
    first, second, rankings = ordered_pair(r, s, negative=negative, nan=nan, missing=missing)
    overlap = Overlap(first, second, *set_sizes(k, first.n), ties=ties, zero_tail=zero_tail)
    k1, k2 = int(overlap.k1[0]), int(overlap.k2[0])
    union = np.union1d(first.order[:k1], second.order[:k2])
    rank_r, rank_s = _ranks(first)[union], _ranks(second)[union]
    member_r = _membership(first, k1, rank_r, zero_tail)
    member_s = _membership(second, k2, rank_s, zero_tail)
    contribution = np.minimum(member_r, member_s)
    inside = (rank_r <= k1) & (rank_s <= k2)
    kinds = np.select([inside, contribution >= 0.5], ["shared", "near miss"], "far miss")
    rows = np.lexsort((rank_r + rank_s, -contribution, inside))
    return Explanation(
        value=float(evaluate(find("fuji"), overlap)[0]),
        jaccard=float(evaluate(find("jaccard"), overlap)[0]),
        k1=k1,
        k2=k2,
        items=[rankings.label(int(position)) for position in union[rows]],
        rank_r=rank_r[rows],
        rank_s=rank_s[rows],
        score_r=first.scores[union][rows],
        score_s=second.scores[union][rows],
        membership_r=member_r[rows],
        membership_s=member_s[rows],
        contribution=contribution[rows],
        kind=kinds[rows].tolist(),
    )


def _ranks(ranking: Ordered) -> NDArray[np.int64]:
    """Return each item's rank, from 1."""
    ranks = np.empty(ranking.n, np.int64)
    ranks[ranking.order] = np.arange(1, ranking.n + 1)
    return ranks


def _membership(ranking: Ordered, k: int, ranks: NDArray[np.int64], zero_tail: str) -> Scores:
    """Return the membership in the top k of the items at the given ranks."""
    last = ranking.ranked[k - 1]
    scores = np.minimum(ranking.ranked[ranks - 1], last)
    outside = scores / last if last > 0 else float(zero_tail == "include")
    return np.where(ranks <= k, 1.0, outside)
