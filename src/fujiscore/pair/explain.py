"""Why FUJI has its value at k, item by item."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from fujiscore._kernels.batch import near
from fujiscore.charts.kinds import Bars, Chart, Style
from fujiscore.charts.palette import CHANCE, INK, ORANGE
from fujiscore.charts.result import Result
from fujiscore.errors import counted, spelled
from fujiscore.inputs.options import Policies, takes
from fujiscore.measures.grids import Sizes, set_sizes
from fujiscore.measures.overlap import Overlap, Ties, ZeroTail, at_zero, overlap_of, pair, tail_moments
from fujiscore.measures.registry import evaluate, find
from fujiscore.text.tables import Table, columns_table, first_places, frame, short_start

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.inputs.ranking import Ranking, Rankings

SHOWN = 20

# How charts show the kinds of items: shared ones are grey, near misses orange, far misses nearly black.
STYLES = {
    "shared": Style("#B3B3B3", "#6B6B6B"),
    "near miss": Style(ORANGE, "#A34700", opacity=0.55),
    "far miss": Style(INK, INK, 1.9, bold=True),
    "opposite sign": Style(INK, INK, 1.9, bold=True, dashed=True),
}


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """Why FUJI has its value: one row per item of the union of the two top sets.

    The rows are sorted: near misses by falling contribution, far misses likewise, then the shared items.

    Attributes
    ----------
    value : float
        FUJI, the sum of the contributions over the number of rows; NaN where the last scores of both top sets are 0.
    jaccard : float
        The part that the shared items alone make up; NaN likewise.
    k1, k2 : int
        The sizes of the two top sets.
    items : list
        The items' labels (positions where they have none).
    rank_r, rank_s : ndarray of int64
        Ranks from 1; equal scores share the best of their ranks.
    score_r, score_s : ndarray of float64
        The scores; NaN for an item that the ranking does not list.
    membership_r, membership_s : ndarray of float64
        1 inside the top set; outside, the score relative to the last score inside.
    contribution : ndarray of float64
        The smaller membership; 1 for a shared item.
    kind : list of str
        "shared", "near miss" or "far miss"; with negative="split" also "opposite sign". A miss is near if its
        membership exceeds the midpoint between 1 and the mean membership of the list's items outside the top set: 1/2
        where scores fall to 0.
    notes : tuple of str
        What was done to the input.
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
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.items)

    def columns(self) -> dict[str, Any]:
        """Return the table as columns."""
        names = ("rank_r", "rank_s", "score_r", "score_s", "membership_r", "membership_s", "contribution", "kind")
        return {"item": self.items, **{name: getattr(self, name) for name in names}}

    def named_columns(self) -> dict[str, Any]:
        """Return the table as columns of plain values, where the rankings are called a and b."""
        others = {"_r": "_a", "_s": "_b"}
        columns: dict[str, Any] = {}
        for name, column in self.columns().items():
            columns[name[:-2] + others.get(name[-2:], name[-2:])] = (
                column if isinstance(column, list) else column.tolist()
            )
        return columns

    def _data(self) -> dict[str, Any]:
        columns = self.named_columns()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return {"k": [self.k1, self.k2], "fuji": self.value, "jaccard": self.jaccard, "rows": rows}

    def to_frame(self, library: str | None = None) -> Any:
        """Return the table as a pandas or polars DataFrame."""
        return frame(self.columns(), library, self.notes)

    @property
    def sizes(self) -> str:
        """The set sizes in words."""
        return f"k = {self.k1}" if self.k1 == self.k2 else f"k = ({self.k1}, {self.k2})"

    def made_of(self) -> str:
        """Return what FUJI's value is made of, in words."""
        shared = self.kind.count("shared")
        misses = []
        for kind in ("near miss", "far miss"):
            credit = [float(one) for one, its in zip(self.contribution, self.kind, strict=True) if its == kind]
            if credit:
                misses.append(f" + {sum(credit):.4f} for {counted(len(credit), kind, f'{kind}es')}")
        opposite = self.kind.count("opposite sign")
        signs = f", {opposite} of opposite sign" if opposite else ""
        return f"({shared} shared{''.join(misses)}{signs}) / {len(self)} items"

    def in_words(self) -> str:
        """Return FUJI, what it is made of, and Jaccard in one line."""
        if np.isnan(self.value):
            return f"FUJI is undefined at {self.sizes}: the k-th score is 0 on both sides"
        return f"FUJI {self.value:.4f} at {self.sizes}: {self.made_of()}; Jaccard {self.jaccard:.4f}"

    def _summary(self) -> list[str]:
        (table,) = self._tables(SHOWN)
        more = [f"... {len(self) - SHOWN} more rows"] if len(self) > SHOWN else []
        return [self.in_words(), *table.without(("in A", "in B")).lines(), *more]

    def _charts(self) -> Sequence[Chart]:
        label = "contribution (orange: near miss, grey: shared, black or white: far miss)"
        colours = [CHANCE if kind == "shared" else STYLES[kind].colour for kind in self.kind]
        title = f"contributions to FUJI at {self.sizes}"
        return [Bars(self.items, self.contribution, label, colours, ".3f", 1.0, title=title)]

    def _tables(self, rows: int | None) -> list[Table]:
        scores = [[None if np.isnan(score) else score for score in column] for column in (self.score_r, self.score_s)]
        columns: dict[str, Any] = {
            "item": ("", short_start(self.items, rows)),
            "rank A": ("d", self.rank_r),
            "rank B": ("d", self.rank_s),
            "score A": (".5g", scores[0]),
            "score B": (".5g", scores[1]),
            "in A": (".4f", self.membership_r),
            "in B": (".4f", self.membership_s),
            "credit": (".4f", self.contribution),
            "kind": ("", self.kind),
        }
        places, optional = first_places(len(self), rows), (("in A", "in B"), ("score A", "score B"))
        return [columns_table(self.in_words(), columns, f"{len(self)} items", places, optional=optional)]


@takes(Policies)
def explain(
    r: Any,
    s: Any,
    k: int | tuple[int, int],
    *,
    ties: Ties = "closed",
    zero_tail: ZeroTail = "include",
    **policies: Unpack[Policies],
) -> Explanation:
    """Explain FUJI at k item by item: which items are shared, which are near misses, and how near.

    The contributions sum to FUJI's numerator; without the misses' part it would be the Jaccard index.

    Returns
    -------
    Explanation
        One row per item of the union, the near misses that matter most first; `.to_frame()` for a DataFrame.

    Examples
    --------
    >>> import fujiscore as fj
    >>> why = fj.explain({"a": 4, "b": 3, "c": 2.5, "d": 0}, {"a": 4, "c": 3, "b": 1, "d": 0}, 2)
    >>> why.items, why.kind
    (['c', 'b', 'a'], ['near miss', 'far miss', 'shared'])
    """
    both = pair(r, s, policies)
    return explanation(both, set_sizes(k, both.depth), ties=ties, zero_tail=zero_tail)


def explanation(both: Rankings, sizes: tuple[Sizes, Sizes], *, ties: str, zero_tail: str) -> Explanation:
    """Explain FUJI of two aligned rankings for top sets of the given sizes."""
    first, second = both
    overlap = overlap_of(both, *sizes, ties=ties, zero_tail=zero_tail)
    k1, k2 = int(overlap.k1[0]), int(overlap.k2[0])
    union = np.union1d(first.order[:k1], second.order[:k2])
    inside_r, member_r = _membership(first, k1, union, overlap.zero_tail)
    inside_s, member_s = _membership(second, k2, union, overlap.zero_tail)
    contribution = np.minimum(member_r, member_s)
    inside = inside_r & inside_s
    opposite = np.zeros(both.n, np.bool_)  # items split by sign that the rankings score with opposite signs
    if both.split is not None:
        opposite = np.tile(np.sign(first.signed) * np.sign(second.signed) < 0, 2)
    nearby = _near(first, k1, member_r, overlap) & _near(second, k2, member_s, overlap)
    kinds = np.select([inside, opposite[union], nearby], ["shared", "opposite sign", "near miss"], "far miss")
    undefined = {name: bool(at_zero(overlap, fuzzy=name == "fuji")[0]) for name in ("fuji", "jaccard")}
    values = {name: float(evaluate(find(name), overlap)[0]) for name in undefined}
    value, jaccard = (float("nan") if zero else values[name] for name, zero in undefined.items())
    rank_r, rank_s = first.ranks[union], second.ranks[union]
    labels = [both.label(int(position)) for position in union]
    texts = [str(label) for label in labels]
    by_label = np.argsort(sorted(range(len(texts)), key=texts.__getitem__))
    rows = np.lexsort((by_label, rank_r + rank_s, -contribution, kinds != "near miss", inside))
    return Explanation(
        value=value,
        jaccard=jaccard,
        k1=k1,
        k2=k2,
        items=[labels[row] for row in rows],
        rank_r=rank_r[rows],
        rank_s=rank_s[rows],
        score_r=_listed_scores(first, union)[rows],
        score_s=_listed_scores(second, union)[rows],
        membership_r=member_r[rows],
        membership_s=member_s[rows],
        contribution=contribution[rows],
        kind=kinds[rows].tolist(),
        notes=(*both.notes, *([f"FUJI is undefined: {zeros_say_nothing()}"] if undefined["fuji"] else [])),
    )


def zeros_say_nothing() -> str:
    """Return why a value is undefined where the last scores of both top sets are 0, and what to do."""
    remedies = f"pass a smaller {spelled('k')}, or {spelled('zero_tail', 'cap')} to count positive scores only"
    return f"the k-th score is 0 on both sides, and an item that scores 0 is no member of a top set; {remedies}"


def _near(ranking: Ranking, k: int, membership: Scores, overlap: Overlap) -> NDArray[np.bool_]:
    """Return which items are in a ranking's top set, or miss it nearly, as the items that it lists lie."""
    last = ranking.ranked[k - 1]
    mean = tail_moments(ranking, np.array([k]), ranking.n, overlap.zero_tail)[0][0]
    if last > 0:  # unlisted items are at 0
        mean *= (ranking.n - k) / max(ranking.listed - k, 1)
    return np.asarray(near(membership, mean if k < ranking.listed else 1.0))


def _listed_scores(ranking: Ranking, positions: NDArray[Any]) -> Scores:
    """Return scores, NaN where the ranking does not list the item."""
    scores = ranking.scores[positions]
    return scores if ranking.absent is None else np.where(ranking.absent[positions], np.nan, scores)


def _membership(
    ranking: Ranking, k: int, positions: NDArray[Any], zero_tail: float
) -> tuple[NDArray[np.bool_], Scores]:
    """Return which items are in the top k, and the membership of all."""
    place = np.empty(ranking.n, np.int64)
    place[ranking.order] = np.arange(ranking.n)
    inside = place[positions] < k
    last = ranking.ranked[min(k, ranking.n) - 1]
    scores = np.minimum(ranking.clipped[positions], last)
    outside = scores / last if last > 0 else zero_tail
    return inside, np.where(inside, 1.0, outside)
