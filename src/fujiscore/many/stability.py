"""How stable a ranking method is: many rankings to one number with an interval.

The rankings come from resamples, folds or seeds of one method. Each takes part in m - 1 of the pairs, so the pairs
are not independent: intervals are jackknife intervals over the rankings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from fujiscore.charts.kinds import Band, Chart, Line
from fujiscore.errors import InputError, proportion
from fujiscore.inference.intervals import ZERO, bounded
from fujiscore.inputs.options import parted, takes
from fujiscore.inputs.rankings import rankings as as_rankings
from fujiscore.many.estimates import Estimate, covers, mean_range
from fujiscore.many.pairwise import DEFAULTS, PairOptions, PairTask, caveats, pairwise, sort_all, task_for
from fujiscore.many.ranks import ItemRanks, item_ranks
from fujiscore.measures.over_k import ResultOverK
from fujiscore.measures.registry import find
from fujiscore.null.closed_forms import correct
from fujiscore.pages.page import Page, Reported
from fujiscore.work.tiles import run

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.inputs.ranking import Ranking, Rankings
    from fujiscore.many.matrix import Matrix
    from fujiscore.measures.grids import Grid

COVERS = covers("rankings")
# The share of the greatest possible part of the spread from which on it rests on one ranking.
ONE_RANKING = 0.95

# How many of the rankings whose absence changes the stability most a chart shows.
INFLUENTIAL = 6


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Estimate, Reported):
    """The mean similarity of a method's rankings.

    Attributes
    ----------
    value : float
        The mean over all pairs of the area under the measure's curve.
    low, high : float
        The confidence interval.
    standard_error : float
        The jackknife standard error.
    confidence : float
        The interval's confidence.
    m : int
        The number of rankings.
    pairs : Matrix
        The similarity of every pair.
    left_out : ndarray
        The value without each of the rankings in turn.
    notes : tuple of str
        What was done to the input, and what the value rests on.
    rankings : Rankings or None
        The rankings themselves.
    """

    m: int
    left_out: Scores
    notes: tuple[str, ...] = ()
    rankings: Rankings | None = None

    _noun = _caption = "stability"
    _covers = COVERS

    def _page(self) -> Page:
        from fujiscore.many import page

        return page.stability(self)

    def ranks(self, k: int = 10) -> ItemRanks:
        """Return the items' mean ranks with intervals, how often each is in the top k, and tiers.

        Examples
        --------
        >>> import fujiscore as fj
        >>> runs = [[9, 5, 2, 1], [8, 6, 0, 2], [9, 7, 3, 1], [7, 6, 1, 0]]
        >>> runs += [[9, 4, 2, 1], [8, 5, 1, 2], [7, 6, 2, 1], [9, 5, 0, 1]]
        >>> print(fj.stability(runs).ranks(k=1))
        4 items in 3 tiers, 8 rankings, 95% intervals
        tier 1: 0, rank 1.0 (1.0 to 1.2), in top 1: 100%
        tier 2: 1, rank 2.0 (1.8 to 2.2), in top 1: 0%
        tier 3: 2, rank 3.4 (2.9 to 3.8), in top 1: 0%
        tier 3: 3, rank 3.6 (3.2 to 4.0), in top 1: 0%
        intervals and tiers are about rankings drawn as these were: resamples of one data set tell about that data set
        """
        if self.rankings is None:
            raise InputError("ranks needs the rankings themselves: use the result of stability.")
        return item_ranks(self.rankings, k, self.confidence)

    def _basis(self) -> str:
        return f"{self.m} rankings"

    def _cells(self) -> dict[str, tuple[str, Any]]:
        return {"rankings": ("d", self.m)}

    def _data(self) -> dict[str, Any]:
        return {**super()._data(), "names": self.pairs.names, "left_out": self.left_out}

    def _left_out(self) -> list[tuple[str, float]]:
        moved = np.argsort(-np.abs(np.nan_to_num(self.left_out - self.value)), kind="stable")[:INFLUENTIAL]
        return [(f"without {self.pairs.names[i]}", float(self.left_out[i])) for i in moved]


@dataclass(frozen=True, eq=False, repr=False)
class StabilityCurve(ResultOverK):
    """Stability over k.

    Attributes
    ----------
    measure : str
        The measure's name.
    grid : Grid
        The evaluated k.
    values, low, high : ndarray
        The mean pairwise value at each k, and its confidence interval.
    confidence : float
        The intervals' confidence.
    corrected : bool
        Whether the values are corrected for chance.
    notes : tuple of str
        What was done to the input, and what the values rest on.
    """

    measure: str
    grid: Grid
    values: Scores
    low: Scores
    high: Scores
    confidence: float
    corrected: bool = False
    notes: tuple[str, ...] = ()

    def _summary(self) -> list[str]:
        known = self.values[~np.isnan(self.values)]
        span = f", {known.min():.4f} to {known.max():.4f}" if known.size else ""
        kind = ", corrected for chance" if self.corrected else ""
        head = f"stability ({find(self.measure).title}{kind}) over {self.grid.described()}{span}"
        return [head]

    def _columns(self) -> dict[str, Any]:
        return {self.measure: self.values, "low": self.low, "high": self.high}

    def _charts(self) -> Sequence[Chart]:
        measure, kind = find(self.measure), ", corrected for chance" if self.corrected else ""
        line = Line(self.values, f"{measure.title}{kind}, {self.confidence:.0%} interval", measure.colour)
        low = min(measure.low, float(np.nanmin(self.low, initial=0.0)))  # corrected values fall below the range
        band = Band(self.low, self.high, measure.colour)
        return self._over_k(f"stability ({measure.title}) over k", [line], [band], low, y_label="stability")


@takes(PairOptions, **DEFAULTS)
def stability(
    rankings: Any,
    measure: Any = "fuji",
    *,
    confidence: float = 0.95,
    **options: Unpack[PairOptions],
) -> Stability:
    """Return how stable a ranking method is: the mean similarity of its rankings, with a confidence interval.

    Parameters
    ----------
    rankings : mapping, DataFrame, 2-D array, sequence or Rankings
        At least three rankings by one method (resamples, folds, seeds), as in `fujiscore.rankings`.

    Returns
    -------
    Stability
        With `.value`, `.low`, `.high`, `.pairs` and `.notes`. The interval is a jackknife interval over the rankings,
        on the logit scale between the ends of the measure's range. It covers the mean similarity of rankings drawn
        as these were; rankings of new data may be less similar.

    Examples
    --------
    >>> import fujiscore as fj
    >>> print(fj.stability([[9, 5, 2, 1], [8, 6, 0, 2], [5, 9, 3, 1], [7, 6, 1, 0]], ks="all"))
    stability (FUJI, AUC) 0.8981, 95% interval 0.4660 to 0.9889, 4 rankings
    the interval covers rankings drawn as these were: resamples of one data set tell about that data set
    """
    policies, work, similarity = parted(options)
    aligned = as_rankings(rankings, **policies)
    require_enough(len(aligned), "rankings")
    return of_pairs(pairwise(aligned, measure=measure, **similarity, **work), confidence, aligned)


def of_pairs(pairs: Matrix, confidence: float = 0.95, rankings: Rankings | None = None) -> Stability:
    """Return the stability of the rankings in a square matrix of all pairs."""
    level = proportion("confidence", confidence)
    m = len(pairs.names)
    value, left_out = leave_one_out(symmetric(pairs))
    error = jackknife_error(left_out)
    low, high = map(float, bounded(value, error, m, level, *value_range(pairs)))
    notes = (*pairs.notes, *_doubts(left_out, pairs.names))
    return Stability(value, low, high, error, level, m, pairs, left_out, notes, rankings)


def _doubts(left_out: Scores, names: Sequence[str]) -> tuple[str, ...]:
    """Return a note where the spread is zero or comes from one ranking."""
    gaps = (left_out - left_out.mean()) ** 2
    if jackknife_error(left_out) <= ZERO:
        alike = f"the spread over the {len(names)} rankings is zero"
        return (f"{alike}: the interval holds what as many rankings without a difference leave possible",)
    if len(names) > 3 and gaps.max() > ONE_RANKING * gaps.sum() * (1 - 1 / len(names)):
        return (f"the interval rests on one ranking, {names[int(gaps.argmax())]}: the others differ much less",)
    return ()


def value_range(pairs: Matrix) -> tuple[float, float]:
    """Return the least and the greatest value that the mean over all pairs can have."""
    return mean_range(pairs, ~np.eye(len(pairs.names), dtype=np.bool_))


@takes(PairOptions, **DEFAULTS)
def stability_curve(
    rankings: Any,
    measure: Any = "fuji",
    *,
    confidence: float = 0.95,
    **options: Unpack[PairOptions],
) -> StabilityCurve:
    """Return stability over k, to see at which depth the rankings agree.

    With corrected=True each k is corrected for its own chance level.

    Parameters
    ----------
    rankings : mapping, DataFrame, 2-D array, sequence or Rankings
        At least three rankings by one method (resamples, folds, seeds), as in `fujiscore.rankings`.

    Returns
    -------
    StabilityCurve
        With `.ks`, `.values`, `.low`, `.high`, `.notes`, `.plot()` and `.to_frame()`.

    Examples
    --------
    >>> import fujiscore as fj
    >>> result = fj.stability_curve([[9, 5, 2, 1], [8, 6, 0, 2], [5, 9, 3, 1]], ks="all")
    >>> result.values.round(3)
    array([0.736, 1.   , 0.736, 1.   ])
    """
    level = proportion("confidence", confidence)
    policies, work, similarity = parted(options)
    aligned = as_rankings(rankings, **policies)
    m = len(aligned)
    require_enough(m, "rankings")
    task = task_for(aligned, measure, **similarity)
    members = sort_all(aligned, task, {"n_jobs": work["n_jobs"]})
    rows = run(_row_of_curves, [(i,) for i in range(m - 1)], shared=(task, members), label="pairs", **work)
    values, least = np.ones((2, task.grid.ks.size, m, m))
    for i, row in enumerate(rows):
        for pairs, of_row in zip((values, least), row, strict=True):
            pairs[:, i, i + 1 :] = of_row.T
            pairs[:, i + 1 :, i] = of_row.T
    means, left_out = zip(*(leave_one_out(pairs) for pairs in values), strict=True)
    mean, errors = np.array(means), np.array([jackknife_error(values) for values in left_out])
    most = 1.0 if task.corrected else task.measure.high
    low, high = bounded(mean, errors, m, level, least[:, *np.triu_indices(m, 1)].mean(axis=1), most)
    notes = (*aligned.notes, *caveats(aligned, task, mean, "k"))
    return StabilityCurve(task.measure.name, task.grid, mean, low, high, level, task.corrected, notes)


def _row_of_curves(task: PairTask, members: list[Ranking], row: int) -> tuple[Scores, Scores]:
    """Return one ranking's curves with those after it (the mean of both ways), and the least values they can have."""
    ranking, others = members[row], members[row + 1 :]
    rows, least = np.empty((2, len(others), task.grid.ks.size))
    for t, other in enumerate(others):
        ways = [(ranking, other)] if task.measure.symmetric else [(ranking, other), (other, ranking)]
        curves = [_with_least(task, *way) for way in ways]
        rows[t], least[t] = (np.mean(side, axis=0) for side in zip(*curves, strict=True))
    return rows, least


def _with_least(task: PairTask, r: Ranking, s: Ranking) -> tuple[Scores, Scores]:
    """Return a pair's curve, corrected if it is to be, and the least value at each k."""
    values, by_chance = task.curves(r, s)
    least = np.full_like(values, task.measure.low)
    return (values, least) if by_chance is None else (correct(values, by_chance), correct(least, by_chance))


def leave_one_out(values: Scores) -> tuple[float, Scores]:
    """Return the mean over the pairs of a symmetric matrix, and the same without each ranking in turn."""
    m = len(values)
    sums = values.sum(axis=1) - np.diagonal(values)
    total = sums.sum() / 2
    return float(total / (m * (m - 1) / 2)), (total - sums) / ((m - 1) * (m - 2) / 2)


def symmetric(pairs: Matrix) -> Scores:
    """Return the pairs' values, averaged over both ways where a measure tells them apart; 1 on the diagonal.

    A ranking and itself are no pair, and their corrected value is undefined if the ranking is constant.
    """
    values = (pairs.values + pairs.values.T) / 2
    np.fill_diagonal(values, 1.0)
    return values


def jackknife_error(left_out: Scores) -> float:
    """Return the jackknife standard error of a mean over pairs."""
    m = left_out.size
    return float(np.sqrt((m - 1) / m * ((left_out - left_out.mean()) ** 2).sum()))


def require_enough(m: int, argument: str) -> None:
    """Raise unless there are enough rankings for a jackknife."""
    if m < 3:
        raise InputError(f"{argument} must hold at least 3 rankings of one method to judge its stability; got {m}.")
