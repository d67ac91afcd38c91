"""How stable a ranking method is: many rankings to one number with an interval, and tests between methods.

The rankings come from resamples, folds or seeds of one method. Each takes part in m - 1 of the pairs, so the pairs
are not independent: intervals are jackknife intervals over the rankings. Imports pairwise and below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from fujiscore.errors import InputError, proportion, spelled
from fujiscore.measures import find
from fujiscore.null import correct
from fujiscore.pairwise import Task, caveats, pairwise, sort_all, task_for
from fujiscore.rankings import rankings as as_rankings
from fujiscore.rankings import takes_policies
from fujiscore.results import Result, ResultOverK
from fujiscore.tiles import run

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from fujiscore.coercion import Scores
    from fujiscore.matrix import Matrix
    from fujiscore.overlap import Grid, Ties, ZeroTail
    from fujiscore.ranking import Ranking
    from fujiscore.rankings import Policies


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Result):
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
    """

    value: float
    low: float
    high: float
    standard_error: float
    confidence: float
    m: int
    pairs: Matrix
    left_out: Scores
    notes: tuple[str, ...] = ()

    def _summary(self) -> list[str]:
        head = (
            f"stability ({find(self.pairs.measure).title}, {self.pairs.area}) {self.value:.4f}, "
            f"{self.confidence:.0%} interval {self.low:.4f} to {self.high:.4f}, {self.m} rankings"
        )
        return [head]


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

    _plot = "stability"


@dataclass(frozen=True, eq=False, repr=False)
class StabilityComparison(Result):
    """The difference between two methods' stability.

    Attributes
    ----------
    difference : float
        The second's value less the first's.
    low, high : float
        The confidence interval of the difference.
    p_value : float
        Two-sided, of the hypothesis that both are equally stable.
    statistic : float
        The difference over its standard error.
    paired : bool
        Whether the i-th rankings of both methods came from the same resample.
    first, second : Stability
        The two methods.
    """

    difference: float
    low: float
    high: float
    p_value: float
    statistic: float
    paired: bool
    first: Stability
    second: Stability
    notes: tuple[str, ...] = ()

    def _summary(self) -> list[str]:
        kind = "paired" if self.paired else "unpaired"
        head = (
            f"difference {self.difference:+.4f} ({self.second.value:.4f} - {self.first.value:.4f}), "
            f"{self.first.confidence:.0%} interval {self.low:+.4f} to {self.high:+.4f}, p = {self.p_value:.4g} ({kind})"
        )
        return [head]


@takes_policies
def stability(
    rankings: Any,
    measure: Any = "fuji",
    *,
    ks: Any = "exp",
    corrected: bool = False,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
    ties: Ties = "closed",
    zero_tail: ZeroTail = "include",
    **policies: Unpack[Policies],
) -> Stability:
    """Return how stable a ranking method is: the mean similarity of its rankings, with a confidence interval.

    Parameters
    ----------
    rankings : mapping, DataFrame, 2-D array, sequence or Rankings
        At least three rankings by one method (resamples, folds, seeds), as in `fujiscore.rankings`.
    confidence : float
        Of the interval, between 0 and 1.
    measure, ks, corrected, n_jobs, executor, progress, ties, zero_tail, **policies
        As in `pairwise`.

    Returns
    -------
    Stability
        With `.value`, `.low`, `.high`, `.pairs` and `.notes`. The interval is a jackknife interval over the rankings.

    Examples
    --------
    >>> import fujiscore as fj
    >>> print(fj.stability([[9, 5, 2, 1], [8, 6, 0, 2], [5, 9, 3, 1], [7, 6, 1, 0]], ks="all"))
    stability (FUJI, AUC) 0.8981, 95% interval 0.6864 to 1.0000, 4 rankings
    """
    aligned = as_rankings(rankings, **policies)
    _enough(len(aligned), "rankings")
    pairs = pairwise(
        aligned,
        measure=measure,
        ks=ks,
        corrected=corrected,
        n_jobs=n_jobs,
        executor=executor,
        progress=progress,
        ties=ties,
        zero_tail=zero_tail,
    )
    return of_pairs(pairs, confidence)


def of_pairs(pairs: Matrix, confidence: float = 0.95) -> Stability:
    """Return the stability of the rankings in a square matrix of all pairs."""
    level = proportion("confidence", confidence)
    m = len(pairs.names)
    value, left_out = _left_out(_symmetric(pairs))
    error = _jackknife_error(left_out)
    reach = _quantile(level, m - 1) * error
    least, most = _range(pairs)
    low, high = max(value - reach, least), min(value + reach, most)
    return Stability(value, low, high, error, level, m, pairs, left_out, pairs.notes)


def _range(pairs: Matrix) -> tuple[float, float]:
    """Return the least and the greatest value that the mean over all pairs can have."""
    measure = find(pairs.measure)
    if not pairs.corrected or pairs.expected is None:
        return measure.low, measure.high
    apart = ~np.eye(len(pairs.names), dtype=bool)
    return float(correct(np.full_like(pairs.expected, measure.low), pairs.expected)[apart].mean()), 1.0


@takes_policies
def compare_stability(
    first: Any,
    second: Any,
    measure: Any = "fuji",
    *,
    paired: bool | None = None,
    ks: Any = "exp",
    corrected: bool = False,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
    ties: Ties = "closed",
    zero_tail: ZeroTail = "include",
    **policies: Unpack[Policies],
) -> StabilityComparison:
    """Test whether one ranking method is more stable than another.

    Parameters
    ----------
    first, second : mapping, DataFrame, 2-D array, sequence or Rankings
        The rankings of each method, as in `fujiscore.rankings`.
    paired : bool, optional
        Whether the i-th rankings of both methods came from the same resample; the test is then sharper. By default
        they are taken as paired if the two collections carry the same names, more than positions, in the same order.
    measure, ks, corrected, confidence, n_jobs, executor, progress, ties, zero_tail, **policies
        As in `stability`.

    Returns
    -------
    StabilityComparison
        With `.difference` (second less first), `.low`, `.high` and `.p_value`.

    Examples
    --------
    >>> import fujiscore as fj
    >>> shaky = [[9, 5, 2, 1], [1, 6, 9, 2], [5, 9, 3, 1], [2, 6, 1, 8]]
    >>> steady = [[9, 5, 2, 1], [9, 6, 2, 1], [9, 5, 3, 1], [8, 6, 2, 1]]
    >>> result = fj.compare_stability(shaky, steady, ks="all")
    >>> result.difference > 0, result.p_value < 0.05
    (True, True)
    """
    work: Any = {"n_jobs": n_jobs, "executor": executor, "progress": progress}
    options: Any = {"measure": measure, "ks": ks, "corrected": corrected, "ties": ties, "zero_tail": zero_tail}
    methods = [as_rankings(method, **policies) for method in (first, second)]
    for method, name in zip(methods, ("first", "second"), strict=True):
        _enough(len(method), name)
    a, b = (of_pairs(pairwise(method, **options, **work), confidence) for method in methods)
    return compare_stabilities(a, b, paired=are_paired(a, b) if paired is None else paired)


def compare_stabilities(first: Stability, second: Stability, *, paired: bool) -> StabilityComparison:
    """Compare two stabilities that are already computed."""
    from scipy.stats import t

    if paired and first.m != second.m:
        raise InputError(
            f"{spelled('paired')} needs as many rankings of one method as of the other; got {first.m} and {second.m}."
        )
    difference = second.value - first.value
    if paired:
        gaps = _symmetric(second.pairs) - _symmetric(first.pairs)
        error, freedom = float(np.sqrt(_tempered_variance(gaps))), first.m - 1.0
    else:
        parts = np.array([_tempered_variance(_symmetric(method.pairs)) for method in (first, second)])
        error = float(np.sqrt(parts.sum()))
        rest = (parts**2 / (np.array([first.m, second.m]) - 1)).sum()
        freedom = float(parts.sum() ** 2 / rest) if rest > 0 else min(first.m, second.m) - 1.0
    reach = _quantile(first.confidence, freedom) * error
    statistic = difference / error if error > 0 else float(np.sign(difference)) * np.inf if difference else 0.0
    p_value = float(2 * t.sf(abs(statistic), freedom))
    (least_a, most_a), (least_b, most_b) = _range(first.pairs), _range(second.pairs)
    low, high = max(difference - reach, least_b - most_a), min(difference + reach, most_b - least_a)
    notes = tuple(dict.fromkeys((*first.notes, *second.notes)))
    return StabilityComparison(difference, low, high, p_value, statistic, paired, first, second, notes)


@takes_policies
def stability_curve(
    rankings: Any,
    measure: Any = "fuji",
    *,
    ks: Any = "exp",
    corrected: bool = False,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
    ties: Ties = "closed",
    zero_tail: ZeroTail = "include",
    **policies: Unpack[Policies],
) -> StabilityCurve:
    """Return stability over k, to see at which depth the rankings agree.

    All arguments are those of `stability`; with corrected=True each k is corrected for its own chance level.

    Examples
    --------
    >>> import fujiscore as fj
    >>> result = fj.stability_curve([[9, 5, 2, 1], [8, 6, 0, 2], [5, 9, 3, 1]], ks="all")
    >>> result.values.round(3)
    array([0.736, 1.   , 0.736, 1.   ])
    """
    level = proportion("confidence", confidence)
    aligned = as_rankings(rankings, **policies)
    m = len(aligned)
    _enough(m, "rankings")
    task = task_for(aligned, measure, ks, corrected=corrected, ties=ties, zero_tail=zero_tail)
    members = sort_all(aligned, task, {"n_jobs": n_jobs})
    tiles = [(task, members[i], members[i + 1 :]) for i in range(m - 1)]
    rows = run(_row_of_curves, tiles, n_jobs=n_jobs, executor=executor, progress=progress, label="pairs")
    values, least = np.ones((2, task.grid.ks.size, m, m))
    for i, row in enumerate(rows):
        for pairs, of_row in zip((values, least), row, strict=True):
            pairs[:, i, i + 1 :] = of_row.T
            pairs[:, i + 1 :, i] = of_row.T
    means, left_out = zip(*(_left_out(pairs) for pairs in values), strict=True)
    reach = _quantile(level, m - 1) * np.array([_jackknife_error(values) for values in left_out])
    mean = np.array(means)
    low = least[:, *np.triu_indices(m, 1)].mean(axis=1)
    high = 1.0 if corrected else task.measure.high
    notes = (*aligned.notes, *caveats(aligned, task, mean, "k"))
    return StabilityCurve(
        task.measure.name,
        task.grid,
        mean,
        np.maximum(mean - reach, low),
        np.minimum(mean + reach, high),
        level,
        corrected,
        notes,
    )


def _row_of_curves(task: Task, ranking: Ranking, others: list[Ranking]) -> tuple[Scores, Scores]:
    """Return the curves of one ranking against others (the mean of both ways), and the least values they can have."""
    rows, least = np.empty((2, len(others), task.grid.ks.size))
    for t, other in enumerate(others):
        ways = [(ranking, other)] if task.measure.symmetric else [(ranking, other), (other, ranking)]
        curves = [_with_least(task, *way) for way in ways]
        rows[t], least[t] = (np.mean(side, axis=0) for side in zip(*curves, strict=True))
    return rows, least


def _with_least(task: Task, r: Ranking, s: Ranking) -> tuple[Scores, Scores]:
    """Return a pair's curve, corrected if it is to be, and the least value at each k."""
    values, by_chance = task.curves(r, s)
    least = np.full_like(values, task.measure.low)
    return (values, least) if by_chance is None else (correct(values, by_chance), correct(least, by_chance))


def _left_out(values: Scores) -> tuple[float, Scores]:
    """Return the mean over the pairs of a symmetric matrix, and the same without each ranking in turn."""
    m = len(values)
    sums = values.sum(axis=1) - np.diagonal(values)
    total = sums.sum() / 2
    return float(total / (m * (m - 1) / 2)), (total - sums) / ((m - 1) * (m - 2) / 2)


def _symmetric(pairs: Matrix) -> Scores:
    """Return the pairs' values, averaged over both ways where a measure tells them apart."""
    return (pairs.values + pairs.values.T) / 2


def _tempered_variance(values: Scores) -> float:
    """Return a variance of the mean over pairs for tests: halfway between the jackknife's and the unbiased one.

    The jackknife's is too large with few rankings (with 10, tests at 5 % reject in 2 to 3 % of cases), the unbiased
    one (the square less the mean product of disjoint pairs) so noisy that they reject in 6 to 9 %.
    """
    m = len(values)
    value, left_out = _left_out(values)
    jackknife = _jackknife_error(left_out) ** 2
    if m < 4:
        return jackknife
    apart = values - np.diag(np.diagonal(values))
    sums = apart.sum(axis=1)
    disjoint = sums.sum() ** 2 - 4 * (sums**2).sum() + 2 * (apart**2).sum()
    unbiased = value**2 - disjoint / (m * (m - 1) * (m - 2) * (m - 3))
    return float((jackknife + min(max(unbiased, 0.0), jackknife)) / 2)


def _jackknife_error(left_out: Scores) -> float:
    """Return the jackknife standard error of a mean over pairs."""
    m = left_out.size
    return float(np.sqrt((m - 1) / m * ((left_out - left_out.mean()) ** 2).sum()))


def _quantile(confidence: float, freedom: float) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + confidence) / 2, freedom))


def _enough(m: int, argument: str) -> None:
    """Raise unless there are enough rankings for a jackknife."""
    if m < 3:
        raise InputError(f"{argument} must hold at least 3 rankings of one method to judge its stability; got {m}.")


def are_paired(first: Stability, second: Stability) -> bool:
    """Return whether two methods name their rankings alike, and by more than positions 0, 1, 2, ..."""
    names = first.pairs.names
    return names == second.pairs.names and names != tuple(str(i) for i in range(len(names)))
