"""Random assignments of one ranking's scores to the items, and what measures give for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import counted, integer
from fujiscore.inputs.orders import LOWEST, Order, SortedScores
from fujiscore.inputs.ranking import Ranking
from fujiscore.measures.registry import Measure, evaluate, headline
from fujiscore.text.tables import Table
from fujiscore.text.tabular import Tabular
from fujiscore.work.seeds import as_seed
from fujiscore.work.tiles import run, spans

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.measures.grids import Sizes
    from fujiscore.measures.overlap import Overlap

# Permutations per tile: fixed, so that sums over them do not depend on the number of workers.
TILE = 50
# A permuted value this close to the observed one counts as equal to it.
ROUNDING = 1e-12
SIDES = ("at_least", "at_most")


@dataclass(frozen=True, eq=False, repr=False)
class Permutations(Tabular):
    """What permuted rankings gave.

    Attributes
    ----------
    count : int
        Number of permutations.
    aucs : ndarray
        The headline value of each: the area, or the value over the whole list.
    mean, variance : ndarray
        At each k.
    at_least, at_most : ndarray of int64
        At each k, how many are at least and at most as large as the observed value.
    """

    count: int
    aucs: Scores
    mean: Scores
    variance: Scores
    at_least: Sizes
    at_most: Sizes

    def _summary(self) -> list[str]:
        numbers = f"headline {self.aucs.mean():.4f}, standard deviation {self.aucs.std():.4f}"
        return [f"{counted(self.count, 'permutation')}: {numbers}"]

    def _tables(self, rows: int | None) -> list[Table]:  # noqa: ARG002 - there is one row
        ends = [float(end) for end in np.quantile(self.aucs, [0.025, 0.5, 0.975])]
        values = [self.count, float(self.aucs.mean()), float(self.aucs.std()), *ends]
        header = ["permutations", "mean", "sd", "2.5 %", "median", "97.5 %"]
        return [Table("headline values of permuted rankings", header, [values], ["d", *[".4f"] * 5])]

    def over(self, places: Sizes, number: int) -> Permutations:
        """Return what belongs to one of several grids: its points, and the headline values over it."""
        at = (self.mean[places], self.variance[places], self.at_least[places], self.at_most[places])
        return Permutations(self.count, self.aucs[number], *at)

    def p_value(self, at_least: Any, at_most: Any, alternative: str) -> Any:
        """Return (b + 1) / (m + 1), b of the m permutations as extreme; two-sided: twice the smaller of both sides.

        Parameters
        ----------
        at_least, at_most : int or ndarray of int
            How many permutations gave at least, and at most, the observed value.
        """
        greater, less = (np.asarray(b) + 1.0 for b in (at_least, at_most))
        two_sided = np.minimum(2 * np.minimum(greater, less), self.count + 1.0)
        extreme = {"greater": greater, "less": less, "two-sided": two_sided}[alternative]
        return extreme / (self.count + 1)


def permute(
    overlap: Overlap,
    measures: Sequence[Measure],
    places: Sequence[Sizes],
    permutations: Any,
    *,
    random_state: Any = 0,
    n_jobs: int | None = None,
    executor: Any = None,
    progress: bool | None = None,
) -> dict[str, Permutations]:
    """Permute s's scores across the items, and collect what each measure gives."""
    # `places` are the points of each grid along the path; the headline values have one row per grid.
    count = integer("permutations", permutations)
    if count == 0:
        return {}
    seeds = np.random.SeedSequence(as_seed(random_state)).generate_state(count, np.uint64)
    observed = [evaluate(measure, overlap) for measure in measures]
    shared = (_Draw(overlap), measures, observed, places)
    tiles = [(seeds[start:stop],) for start, stop in spans(count, TILE)]
    work: Any = {"n_jobs": n_jobs, "executor": executor, "progress": progress}
    parts = run(_permuted, tiles, shared=shared, label="permutations", **work)
    result = {}
    for i, measure in enumerate(measures):
        aucs = np.concatenate([part[i].aucs for part in parts], axis=1)
        mean = np.sum([part[i].mean for part in parts], axis=0) / count
        variance = np.sum([part[i].variance for part in parts], axis=0) / count - (mean - observed[i]) ** 2
        at_least, at_most = (np.sum([getattr(part[i], side) for part in parts], axis=0) for side in SIDES)
        result[measure.name] = Permutations(count, aucs, mean, np.maximum(variance, 0.0), at_least, at_most)
    return result


def _permuted(
    draw: _Draw,
    measures: Sequence[Measure],
    observed: Sequence[Scores],
    places: Sequence[Sizes],
    seeds: Sequence[np.uint64],
) -> list[Permutations]:
    """One tile of permutations: sums of values, and of squares about the observed, in place of mean and variance."""
    size = observed[0].size
    aucs = np.empty((len(measures), len(places), len(seeds)))
    sums, squares = np.zeros((2, len(measures), size))
    at_least, at_most = np.zeros((2, len(measures), size), np.int64)
    for t, seed in enumerate(seeds):
        permuted = draw.permuted(seed)
        for i, measure in enumerate(measures):
            values = evaluate(measure, permuted)
            aucs[i, :, t] = [headline(measure, values[points]) for points in places]
            sums[i] += values
            squares[i] += (values - observed[i]) ** 2
            at_least[i] += values >= observed[i] - ROUNDING
            at_most[i] += values <= observed[i] + ROUNDING
    return [Permutations(len(seeds), *parts) for parts in zip(aucs, sums, squares, at_least, at_most, strict=True)]


def _from_best_to_worst(ranking: Ranking) -> Ranking:
    """Return the ranking of the same scores with its items numbered from best to worst."""
    if ranking.split is not None:
        return ranking.rearranged(ranking.whole_items)
    ordered, order = ranking.ordered, ranking.order
    absent = None if ordered.absent is None else ordered.absent[order]
    numbers = np.arange(ranking.n, dtype=np.int32)
    renumbered = Order.known(ordered.scores[order], absent, numbers, ordered.by_rank)
    negatives = None if ranking.negatives is None else ranking.negatives[order]
    return Ranking.checked(ranking.name, renumbered, negatives=negatives)


class _Draw:
    """Random assignments of s's scores to the items of the universe.

    Without unlisted items s's scores are permuted. With a larger universe each listed item of s becomes a random
    item of it: one that r lists, or one of as many other items as s can hit; the rest of the universe costs nothing.
    Items are numbered from r's best to its worst, so that the order of the input's rows changes no p-value; with
    ties="stable" it decides ties, and is kept.
    """

    def __init__(self, overlap: Overlap) -> None:
        self.overlap = overlap if overlap.ties == "stable" else overlap.with_first(_from_best_to_worst(overlap.r))
        overlap.s.ordered.by_rank.tie_groups  # noqa: B018 - once, before threads share it
        self.unlisted = overlap.n > overlap.r.n
        if self.unlisted:
            self._extend(self.overlap)

    def _extend(self, overlap: Overlap) -> None:
        """Prepare r, and s's sorted scores, over r's listed items and as many others as s can hit."""
        r, s, n = overlap.r, overlap.s, overlap.n
        scores = r.scores if r.absent is None else r.scores[~r.absent]
        self.listed, self.others = scores.size, min(s.listed, n - scores.size)
        size = self.listed + self.others
        absent = np.arange(size) >= self.listed
        negatives = None
        if r.negatives is not None:
            listed = r.negatives if r.absent is None else r.negatives[~r.absent]
            negatives = np.concatenate([listed, np.zeros(self.others, np.bool_)])
        ranked = np.full(size, -np.inf)
        ranked[: s.listed] = np.maximum(s.ranked_raw[: s.listed], LOWEST)
        self.by_rank = SortedScores(ranked, s.listed)
        self.groups = s.tie_groups[0][: s.listed]
        scores = np.concatenate([scores, np.zeros(self.others)])
        self.overlap = overlap.with_first(Ranking.checked(r.name, scores, absent=absent, negatives=negatives))

    def permuted(self, seed: np.uint64) -> Overlap:
        """Return the overlap with one random assignment."""
        overlap = self.overlap
        if not self.unlisted:
            return overlap.with_second(overlap.s.shuffled(seed))
        drawn = np.random.default_rng(seed).choice(overlap.n, self.groups.size, replace=False)
        elsewhere = drawn >= self.listed
        drawn[elsewhere] = self.listed + np.arange(int(elsewhere.sum()))
        if overlap.ties == "stable":
            drawn = drawn[np.lexsort((drawn, self.groups))]
        size = self.listed + self.others
        order = np.empty(size, np.int32)
        order[: drawn.size] = drawn
        absent = np.ones(size, np.bool_)
        absent[drawn] = False
        order[drawn.size :] = np.flatnonzero(absent)
        scores = np.zeros(size)
        scores[drawn] = self.by_rank.raw[: drawn.size]
        negatives = None
        if overlap.s.negatives is not None:
            negatives = np.zeros(size, np.bool_)
            negatives[drawn] = overlap.s.negatives[overlap.s.order[: drawn.size]]
        assigned = Order.known(scores, absent, order, self.by_rank)
        return overlap.with_second(Ranking.checked(overlap.s.name, assigned, negatives=negatives))
