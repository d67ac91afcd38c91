"""The value expected by chance: exact expectation and variance, correction, permutation p-values.

The null hypothesis: both rankings keep their scores, and those of s are assigned to the items at random. Imports
measures, the overlap and tiles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import numpy as np

from fujiscore import _kernels
from fujiscore.area import (
    FEWEST,
    AreaNull,
    area_null,
    has_area_null,
    p_value,
    running_moments,
)
from fujiscore.errors import InputError, choice, integer, proportion, spelled
from fujiscore.intervals import ALTERNATIVES
from fujiscore.measures import MEASURES, evaluate, find, headline
from fujiscore.overlap import Counts, Grid, Overlap, grid, limit, named_grid, overlap_of, pair, set_sizes
from fujiscore.ranking import LOWEST, Ranking
from fujiscore.rankings import takes_policies
from fujiscore.results import ResultOverK
from fujiscore.seeds import as_seed
from fujiscore.tiles import run, spans

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor

    from fujiscore.coercion import Scores
    from fujiscore.measures import Measure
    from fujiscore.overlap import Sizes, Ties, ZeroTail
    from fujiscore.ranking import Rankings
    from fujiscore.rankings import Policies

    Moments: TypeAlias = tuple[Scores, Scores]

# Without a closed form, and without a number of permutations asked for, this many are drawn.
DEFAULT_PERMUTATIONS = 1000
# Permutations per tile: fixed, so that sums over them do not depend on the number of workers.
TILE = 50
# A permuted value this close to the observed one counts as equal to it.
ROUNDING = 1e-12
SIDES = ("at_least", "at_most")
# A sentence names so many stretches of k.
MOST_RUNS = 3


@dataclass(frozen=True, eq=False)
class Permutations:
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

    def over(self, places: Sizes, number: int) -> Permutations:
        """Return what belongs to one of several grids: its points, and the headline values over it."""
        at = (self.mean[places], self.variance[places], self.at_least[places], self.at_most[places])
        return Permutations(self.count, self.aucs[number], *at)

    def p_value(self, at_least: Any, at_most: Any, alternative: str) -> Any:
        """Return (b + 1) / (m + 1), b of the m permutations as extreme; two-sided: twice the smaller of both sides."""
        greater, less = (np.asarray(b) + 1.0 for b in (at_least, at_most))
        two_sided = np.minimum(2 * np.minimum(greater, less), self.count + 1.0)
        extreme = {"greater": greater, "less": less, "two-sided": two_sided}[alternative]
        return extreme / (self.count + 1)


@dataclass(frozen=True, eq=False, repr=False)
class Chance(ResultOverK):
    """A measure's curve against what chance alone would give.

    For measures of whole lists (rbo, kendall, ...), `auc` and its relatives are the value over the whole list.

    Attributes
    ----------
    measure : str
        The measure's name.
    grid : Grid
        The evaluated k.
    observed, expected, variance : ndarray
        The value at each k; its expectation and variance over random rankings with the same scores.
    exact : bool
        Whether expectation and variance are exact (in closed form) rather than estimated from permutations.
    permutations : Permutations or None
        What permutations gave, if any were drawn.
    analytic : AreaNull or None
        Variance and law of the area without permutations, where they are known.
    alternative : {"greater", "less", "two-sided"}
        Which areas count as extreme in p-values.
    notes : tuple of str
        What a reader must know.
    top_weighted : Chance or None
        The same over k = 1, 2, 4, ..., where the top weighs more; None unless every k is evaluated.
    """

    measure: str
    grid: Grid
    observed: Scores
    expected: Scores
    variance: Scores
    exact: bool
    permutations: Permutations | None = None
    analytic: AreaNull | None = None
    alternative: str = "greater"
    notes: tuple[str, ...] = ()
    top_weighted: Chance | None = None

    @property
    def corrected(self) -> Scores:
        """(observed - expected) / (1 - expected) at each k: 0 is chance level, 1 the maximum."""
        return correct(self.observed, self.expected)

    @property
    def z(self) -> Scores:
        """Standard deviations above the expectation, at each k (0 where chance leaves no choice)."""
        spread = np.sqrt(self.variance)
        return np.divide(self.observed - self.expected, spread, out=np.zeros_like(spread), where=spread > ROUNDING)

    @property
    def auc(self) -> float:
        """The observed area under the curve."""
        return self._headline(self.observed)

    @property
    def expected_auc(self) -> float:
        """The expectation of the area under the curve."""
        return self._headline(self.expected)

    @property
    def corrected_auc(self) -> float:
        """The area under the curve, corrected for chance: 0 is chance level, 1 the maximum."""
        return float(correct(np.array([self.auc]), np.array([self.expected_auc]))[0])

    def _headline(self, values: Scores) -> float:
        return float(headline(find(self.measure), values))

    @property
    def method(self) -> str | None:
        """Where the area's variance, z and p-value come from: "analytic", "permutations", or None without them."""
        if self.permutations is not None:
            return "permutations"
        return None if self.analytic is None else "analytic"

    @property
    def p_value(self) -> float | None:
        """How often chance gives an area as extreme as this one, at least as large by default; see `method`.

        Analytic: a tail of Pearson's third type with the area's mean, variance and skewness by chance, rare large jumps
        apart (docs/chance.md); not below 1e-9 nor below one in the number of ways to assign the scores. From m
        permutations: (b + 1) / (m + 1).
        """
        if self.permutations is not None:
            aucs = self.permutations.aucs
            counts = (aucs >= self.auc - ROUNDING).sum(), (aucs <= self.auc + ROUNDING).sum()
            return float(self.permutations.p_value(*counts, self.alternative))
        if self.analytic is None or self.auc_z is None or self.analytic.n < FEWEST:
            return None
        return float(p_value(self.auc_z, self.analytic.law, self.analytic.least, self.alternative))

    @property
    def p_values(self) -> Scores | None:
        """The same at each k, over permutations; None without them."""
        if self.permutations is None:
            return None
        drawn = self.permutations
        values: Scores = drawn.p_value(drawn.at_least, drawn.at_most, self.alternative)
        return values

    @property
    def auc_variance(self) -> float | None:
        """The area's variance by chance; see `method`."""
        if self.permutations is not None:
            return float(self.permutations.aucs.var())
        return None if self.analytic is None else self.analytic.variance

    @property
    def auc_z(self) -> float | None:
        """The area's standard deviations above its expectation (NaN where chance leaves no choice); see `method`."""
        if self.auc_variance is None:
            return None
        spread = sqrt(self.auc_variance)
        return (self.auc - self.expected_auc) / spread if spread > ROUNDING else nan

    @property
    def how(self) -> str:
        """The method of the p-value in words, with the alternative unless it is "greater"."""
        drawn = self.permutations
        words = f"{drawn.count} permutations" if self.method == "permutations" and drawn is not None else "analytic"
        return words if self.alternative == "greater" else f"{words}, {self.alternative}"

    @property
    def has_band(self) -> bool:
        """Whether `band` is known: for measures of top sets whose null is."""
        return self.analytic is not None and not find(self.measure).by_depth

    def band(self, confidence: float = 0.95, *, simultaneous: bool = True) -> tuple[Scores, Scores]:
        """Return the lower and the upper end, at each k, of where chance keeps the curve.

        Simultaneous: with this probability the whole curve of a random ranking stays inside, so that one may read off
        where the observed curve leaves it. Pointwise: its value at each single k does. Approximate: exact mean and
        variance at each k; skewness, jumps and correlations to first order, correlated as a normal distribution.
        """
        return tuple(self._end(side, confidence, simultaneous=simultaneous) for side in (-1, 1))  # type: ignore[return-value]

    def _end(self, side: int, confidence: float, *, simultaneous: bool) -> Scores:
        """Return the lower (side -1) or the upper end (1) of a band."""
        if self.analytic is None or not self.has_band:
            raise InputError(f"a band needs a measure of top sets whose null is known; {self.measure} has none here.")
        level = proportion("confidence", confidence)
        reach = self.analytic.reach(side, self.ks.size, level, simultaneous=simultaneous)
        return self.expected + reach * np.sqrt(self.variance)

    def above(self, confidence: float = 0.95) -> list[tuple[int, int]]:
        """Return the stretches of evaluated k, first and last, where the curve lies above the simultaneous band."""
        high = self._end(1, confidence, simultaneous=True)
        outside = np.concatenate([[False], self.observed > high + ROUNDING, [False]])
        starts, stops = np.flatnonzero(np.diff(outside.astype(np.int8))).reshape(-1, 2).T
        return [(int(self.ks[a]), int(self.ks[b - 1])) for a, b in zip(starts, stops, strict=True)]

    def in_words(self, confidence: float = 0.95) -> str:
        """Return where the curve lies above chance, as a sentence."""
        runs = [f"at k = {a}" if a == b else f"from k = {a} to {b}" for a, b in self.above(confidence)]
        more = f" and in {len(runs) - MOST_RUNS} more stretches" if len(runs) > MOST_RUNS else ""
        where = ", ".join(runs[:MOST_RUNS]) + more if runs else "at no k"
        return f"{find(self.measure).title} is above chance {where} (simultaneous {confidence:.0%} band)"

    def _summary(self) -> list[str]:
        name = self.grid.whole if find(self.measure).whole else self.grid.area
        level = f"by chance {self.expected_auc:.4f}, corrected {self.corrected_auc:.4f}"
        lines = [f"{name} of {find(self.measure).title} {self.auc:.4f}, {level}"]
        p, z = self.p_value, self.auc_z
        known = [] if p is None or isnan(p) else [f"p = {p:.4g} ({self.how})"]
        known += [] if z is None or isnan(z) else [f"z = {z:.2f}"]
        return [*lines, *([", ".join(known)] if known else [])]

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {} if self.grid.other is None else {"k2": self.grid.other}
        columns |= {
            self.measure: self.observed,
            "expected": self.expected,
            "variance": self.variance,
            "corrected": self.corrected,
            "z": self.z,
        }
        if self.p_values is not None:
            columns["p_value"] = self.p_values
        return columns

    _plot = "chance"


def correct(observed: Scores, expected: Scores) -> Scores:
    """Rescale so that chance level is 0 and the maximum stays 1; NaN where chance alone gives 1."""
    room = 1.0 - expected
    return np.divide(observed - expected, room, out=np.full_like(room, np.nan), where=room > ROUNDING)


@takes_policies
def chance(
    r: Any,
    s: Any,
    measure: Any = "fuji",
    *,
    ks: Any = "all",
    k: int | tuple[int, int] | None = None,
    permutations: int = 0,
    method: str | None = None,
    alternative: str = "greater",
    random_state: Any = 0,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
    ties: Ties = "closed",
    zero_tail: ZeroTail = "include",
    **policies: Unpack[Policies],
) -> Chance:
    """Return the value expected by chance, the value corrected for it, and how often chance does as well.

    Expectation and variance are exact, conditional on the observed scores of both rankings: s's scores are assigned
    to the items at random. They are estimated from permutations for measures without a closed form, and with
    ties="stable" where top sets cut ties. Truncated lists need a universe.

    Parameters
    ----------
    k : int or pair of int, optional
        Instead of `ks` one number of top items, or a pair (k1, k2) for top sets of different sizes.
    permutations : int
        Number of permutations for p-values; 0 for none.
    method : {"analytic", "permutations"}, optional
        Where variance, z and p-value of the area come from: its moments by chance, or drawn permutations (1000 unless
        `permutations` says another number). By default permutations if a number of them is given, or if there is no
        other null. With fewer than 20 items there is no analytic p-value.
    alternative : {"greater", "less", "two-sided"}
        Which areas count as extreme in p-values: at least as large, at most as large, or both.
    random_state : int, Generator, RandomState or None
        Seed of the permutations.
    n_jobs : int, optional
        Number of threads for the permutations; all cores by default. The result does not depend on it.
    executor : concurrent.futures.Executor, optional
        Where to run the permutations instead.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, if it takes a while.
    r, s, measure, ks, ties, zero_tail
        As in `curve`.
    **policies
        As in `rankings`.

    Returns
    -------
    Chance
        With `.expected`, `.variance`, `.corrected`, `.z` at each k; of the area `.expected_auc`, `.corrected_auc`,
        `.auc_variance`, `.auc_z`, `.p_value` and `.method`; `.exact`, `.notes`; with permutations `.p_values`.

    Examples
    --------
    >>> import fujiscore as fj
    >>> print(fj.chance([8, 7, 6] + [0] * 17, [6, 0, 8] + [0] * 17))
    AUC of FUJI 0.9286, by chance 0.8840, corrected 0.3850
    p = 0.02052 (analytic), z = 3.14
    """
    chosen = find(measure)
    choice("alternative", alternative, ALTERNATIVES)
    both = pair(r, s, policies)
    points = grid(ks, both.depth, limit(both)) if k is None else _one_point(k, ks, both)
    second = points.ks if points.other is None else points.other
    overlap = overlap_of(both, points.ks, second, ties=ties, zero_tail=zero_tail)
    if overlap.population is None:
        raise InputError(f"{no_universe()}.")
    work: Any = {"n_jobs": n_jobs, "executor": executor, "progress": progress}
    grids = [points, *([exp] if (exp := exp_grid(points)) else [])]
    count = _count(chosen, overlap, method, permutations)
    work |= {"permutations": count, "alternative": alternative, "random_state": random_state}
    level, *top = chances(overlap, [chosen], grids, **work)[chosen.name]
    return replace(level, notes=(*both.notes, *level.notes), top_weighted=top[0] if top else None)


def _one_point(k: Any, ks: Any, both: Rankings) -> Grid:
    """Return the grid of one k, or of one pair of sizes."""
    if not (isinstance(ks, str) and ks == "all"):
        raise InputError(f"{spelled('k')} and {spelled('ks')} exclude each other: pass one of them.")
    first, second = set_sizes(k, limit(both))
    return Grid(first, "custom", both.depth, None if first[0] == second[0] else second)


def _count(measure: Measure, overlap: Overlap, method: str | None, permutations: int) -> int:
    """Return how many permutations a method takes; refuse the analytic one where there is none."""
    if method is None:
        return permutations
    choice("method", method, ("analytic", "permutations"))
    if method == "permutations":
        return permutations or DEFAULT_PERMUTATIONS
    if permutations:
        raise InputError(
            f"{spelled('method', 'analytic')} takes no permutations; got {permutations}. "
            f"Leave out one of them, or pass {spelled('method', 'permutations')}."
        )
    why = _no_analytic(measure, overlap)
    if why is not None:
        raise InputError(
            f"{spelled('method', 'analytic')} is not known here: {why}. Pass {spelled('method', 'permutations')}."
        )
    return 0


def _no_analytic(measure: Measure, overlap: Overlap) -> str | None:
    """Return why an area has no p-value without permutations; None if it has one."""
    if not has_area_null(measure):
        return f"{measure.name} has no null distribution in closed form"
    if overlap.r.split is not None:
        return "both signs of an item move together"
    if closed_form(measure, overlap) is None:
        return "top sets cut ties"
    return f"{overlap.n} items, fewer than {FEWEST}, are too few" if overlap.n < FEWEST else None


def exp_grid(points: Grid) -> Grid | None:
    """Return k = 1, 2, 4, ... up to the last k of a grid of every k; None for other grids."""
    if points.kind != "all":
        return None
    return Grid(named_grid("exp", int(points.ks[-1])), "exp", points.depth)


def no_universe() -> str:
    """Return why truncated lists have no chance level, and the remedy."""
    return (
        f"no chance level: the lists are truncated, and it depends on how many items they were drawn from; "
        f"pass {spelled('universe', 'N')}"
    )


def chances(
    overlap: Overlap,
    measures: Sequence[Measure],
    grids: Sequence[Grid],
    *,
    permutations: int = 0,
    alternative: str = "greater",
    random_state: Any = 0,
    **work: Any,
) -> dict[str, list[Chance]]:
    """Return each measure's chance over several grids, all along the overlap's path; they share the permutations."""
    closed = {measure.name: closed_form(measure, overlap) for measure in measures}
    if permutations == 0 and None in closed.values():
        permutations = DEFAULT_PERMUTATIONS
    places = [np.searchsorted(overlap.asked[0], points.ks) for points in grids]
    drawn = permute(overlap, measures, places, permutations, random_state=random_state, **work)
    result: dict[str, list[Chance]] = {}
    for measure in measures:
        form, null = closed[measure.name], drawn.get(measure.name)
        notes: tuple[str, ...] = ()
        if form is None and null is not None:
            form = null.mean, null.variance
            why = "both signs of an item move together" if overlap.r.split is not None else "ties are cut"
            cut = f" ({why}, so the closed form does not apply)" if has_closed_form(measure) else ""
            notes = (f"{measure.name}: chance level estimated from {null.count} permutations{cut}",)
        assert form is not None  # noqa: S101 - for the type checker: permutations were drawn where there is no form
        exact = not notes
        observed = evaluate(measure, overlap)
        result[measure.name] = []
        for number, (points, at) in enumerate(zip(grids, places, strict=True)):
            moments = (form[0][at], form[1][at])
            own = None if null is None else null.over(at, number)
            analytic = area_null(overlap, measure, at, moments[1]) if exact else None
            without = () if own is not None else _no_p_value(analytic, headline(measure, observed[at]))
            known = (*moments, exact, own, analytic, alternative, notes + without)
            result[measure.name].append(Chance(measure.name, points, observed[at], *known))
    return result


def _no_p_value(analytic: AreaNull | None, value: float) -> tuple[str, ...]:
    """Return why an area whose null is known has no p-value, if so."""
    if analytic is None or isnan(value):
        return ()
    if analytic.variance <= ROUNDING**2:
        return ("no p-value: every random ranking with these scores has this value",)
    few = f"no p-value: with {analytic.n} items, fewer than {FEWEST}, it takes {spelled('permutations', 1000)}"
    return (few,) if analytic.n < FEWEST else ()


# Closed forms


def has_closed_form(measure: Measure) -> bool:
    """Return whether a measure's expectation is known in closed form."""
    return measure.linear or measure.by_depth or measure.name in CLOSED_FORMS


def closed_form(measure: Measure, overlap: Overlap) -> Moments | None:
    """Return a measure's exact expectation and variance at each point, or None where no closed form applies."""
    if not has_closed_form(measure) or overlap.r.split is not None or (overlap.ties == "stable" and overlap.ties_cut):
        return None
    if measure.by_depth:
        return _by_depth(measure, overlap)
    return moments(measure, Null(overlap.n, overlap.k1, overlap.k2, *overlap.tail_moments()))


def moments(measure: Measure, null: Null) -> Moments:
    """Return expectation and variance of a measure that has a closed form."""
    return _linear(measure, null) if measure.linear else CLOSED_FORMS[measure.name](measure, null)


@dataclass(frozen=True, eq=False)
class Null:
    """All that chance depends on: set sizes, and mean and variance of the memberships outside the sets."""

    n: int
    k1: Sizes
    k2: Sizes
    tails_r: Moments
    tails_s: Moments

    def overlap_moments(self) -> Scores:
        """Return the six moments over the hypergeometric overlap (see the kernel) in the last axis."""
        k1, k2 = self.k1.ravel(), self.k2.ravel()
        if self.k1.ndim == 1:  # sizes never fall along a path, so repeated pairs are neighbours
            new = np.concatenate([[True], (np.diff(k1) != 0) | (np.diff(k2) != 0)])
            unique, inverse = np.stack([k1[new], k2[new]]), np.cumsum(new) - 1
        else:
            base = int(k2.max()) + 1  # one number per pair of sizes: much faster to sort than pairs
            keys, inverse = np.unique(k1 * base + k2, return_inverse=True)
            unique = np.stack(np.divmod(keys, base))
        out = np.empty((unique.shape[1], 6))
        _kernels.chance.moments(self.n, unique[0], unique[1], out)
        moments: Scores = out[inverse.ravel()].reshape(*self.k1.shape, 6)
        return moments


def _fuji(_: Measure, null: Null) -> Moments:
    n, k1, k2 = null.n, null.k1, null.k2
    both, only_r, only_s, inverse, draw_s, draw_r = np.moveaxis(null.overlap_moments(), -1, 0)
    mean_r, variance_r = null.tails_r
    mean_s, variance_s = null.tails_s
    expected = both + only_r * mean_s + only_s * mean_r
    variance = (k1 * (1 - mean_r) + k2 * (1 - mean_s)) ** 2 * inverse
    variance += draw_s * variance_s / np.maximum(n - k2 - 1, 1) + draw_r * variance_r / np.maximum(n - k1 - 1, 1)
    return expected, variance


def _jaccard(_: Measure, null: Null) -> Moments:
    overlaps = null.overlap_moments()
    return overlaps[..., 0], (null.k1 + null.k2) ** 2 * overlaps[..., 3]


def _krizek(_: Measure, null: Null) -> Moments:
    """Two random sets of one size are equal with a probability of one in all sets of that size."""
    from scipy.special import gammaln

    logs = gammaln(null.k1 + 1.0) + gammaln(null.n - null.k1 + 1.0) - gammaln(null.n + 1.0)
    equal = np.where(null.k1 == null.k2, np.exp(np.minimum(logs, 0.0)), np.nan)
    return equal, equal * (1 - equal)


def _linear(measure: Measure, null: Null) -> Moments:
    """Evaluate a formula that is linear in the overlap at the expected overlap."""
    n, k1, k2 = null.n, null.k1, null.k2
    mean = k1 * (k2 / n)
    spread = mean * ((n - k1) / n) * ((n - k2) / max(n - 1, 1))
    expected = evaluate(measure, Counts(n, k1, k2, mean))
    return expected, (evaluate(measure, Counts(n, k1, k2, mean + 1)) - expected) ** 2 * spread


def _by_depth(measure: Measure, overlap: Overlap) -> Moments | None:
    """Return the moments of average overlap and RBO, which are linear in the overlaps at all depths."""
    if overlap.inner < overlap.k1.size or (overlap.ties == "stable" and overlap.at_depths.ties_cut):
        return None
    n, k1, k2 = overlap.n, overlap.at_depths.k1, overlap.at_depths.k2
    slopes = 2 / (k1 + k2)
    last = np.zeros(k1.size)  # what the last depth counts more than by its weight
    if measure.base == "average_overlap":
        scale = 1.0 / np.arange(1, k1.size + 1)
        weighted = slopes
    else:
        p = measure.parameters["p"]
        powers = p ** np.arange(float(k1.size))
        scale, weighted, last = np.ones(k1.size), (1 - p) * powers * slopes, p * powers * slopes
    mean = k1 * (k2 / n)
    spread = mean * ((n - k1) / n) * ((n - k2) / max(n - 1, 1))
    variance, covariance = running_moments(n, k1, k2, weighted)
    expected = scale * (np.cumsum(weighted * mean) + last * mean)
    variance = scale**2 * (variance + 2 * last * covariance + last**2 * spread)
    at = overlap.asked[0] - 1
    return expected[at], np.maximum(variance[at], 0.0)


CLOSED_FORMS: dict[str, Callable[[Measure, Null], Moments]] = {
    "fuji": _fuji,
    "jaccard": _jaccard,
    "krizek": _krizek,
}


def expected_jaccard(n: int, ks: Any = "all", *, method: str = "exact") -> Scores:
    """Return the expected Jaccard index of the top k of two random rankings of n items.

    Parameters
    ----------
    n : int
        Number of items.
    ks : {"all", "exp", "squared"} or increasing integers
        Where to evaluate.
    method : {"exact", "paper"}
        The mean over the hypergeometric overlap, or the paper's approximation k / (2n - k).

    Examples
    --------
    >>> import fujiscore as fj
    >>> fj.expected_jaccard(4)
    array([0.25      , 0.38888889, 0.625     , 1.        ])
    >>> fj.expected_jaccard(4, method="paper")
    array([0.14285714, 0.33333333, 0.6       , 1.        ])
    """
    choice("method", method, ("exact", "paper"))
    size = integer("n", n, 1)
    points = grid(ks, size).ks
    if method == "paper":
        return points / (2 * size - points)
    nothing = (np.zeros(points.size), np.zeros(points.size))
    return _jaccard(MEASURES["jaccard"], Null(size, points, points, nothing, nothing))[0]


# Permutations


def permute(
    overlap: Overlap,
    measures: Sequence[Measure],
    places: Sequence[Sizes],
    permutations: Any,
    *,
    random_state: Any = 0,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
) -> dict[str, Permutations]:
    """Permute s's scores across the items, and collect what each measure gives.

    `places` are the points of each grid along the path; the headline values have one row per grid.
    """
    count = integer("permutations", permutations)
    if count == 0:
        return {}
    seeds = np.random.SeedSequence(as_seed(random_state)).generate_state(count, np.uint64)
    observed = [evaluate(measure, overlap) for measure in measures]
    draw = _Draw(overlap)
    tiles = [(draw, measures, observed, places, seeds[start:stop]) for start, stop in spans(count, TILE)]
    parts = run(_permuted, tiles, n_jobs=n_jobs, executor=executor, progress=progress, label="permutations")
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


def _in_own_order(ranking: Ranking) -> Ranking:
    """Return the ranking of the same scores with its items numbered from best to worst."""
    if ranking.split is not None:
        return ranking.rearranged(ranking.whole_items)
    order = ranking.order
    absent = None if ranking.absent is None else ranking.absent[order]
    renumbered = Ranking.checked(ranking.name, ranking.scores[order], absent=absent)
    renumbered.__dict__["_sorted"] = (np.arange(ranking.n, dtype=np.int32), ranking.ranked_raw)
    renumbered.negatives = None if ranking.negatives is None else ranking.negatives[order]
    return renumbered


class _Draw:
    """Random assignments of s's scores to the items of the universe.

    Without unlisted items s's scores are permuted. With a larger universe each listed item of s becomes a random
    item of it: one that r lists, or one of as many other items as s can hit; the rest of the universe costs nothing.
    Items are numbered from r's best to its worst, so that the order of the input's rows changes no p-value; with
    ties="stable" it decides ties, and is kept.
    """

    def __init__(self, overlap: Overlap) -> None:
        self.overlap = overlap if overlap.ties == "stable" else overlap.with_first(_in_own_order(overlap.r))
        overlap.s.tie_groups  # noqa: B018 - once, before threads share it
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
        extended = Ranking.checked(r.name, np.concatenate([scores, np.zeros(self.others)]), absent=absent)
        self.ranked = np.full(size, -np.inf)
        self.ranked[: s.listed] = np.maximum(s.ranked_raw[: s.listed], LOWEST)
        self.groups = s.tie_groups[0][: s.listed]
        if r.negatives is not None:
            negatives = r.negatives if r.absent is None else r.negatives[~r.absent]
            extended.negatives = np.concatenate([negatives, np.zeros(self.others, np.bool_)])
        self.overlap = overlap.with_first(extended)

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
        scores[drawn] = self.ranked[: drawn.size]
        permuted = Ranking.checked(overlap.s.name, scores, absent=absent)
        permuted.__dict__["_sorted"] = (order, self.ranked)
        if overlap.s.negatives is not None:
            permuted.negatives = np.zeros(size, np.bool_)
            permuted.negatives[drawn] = overlap.s.negatives[overlap.s.order[: drawn.size]]
        return overlap.with_second(permuted)
