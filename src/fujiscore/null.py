"""The value expected by chance: exact expectation and variance, correction, permutation p-values.

The null hypothesis: both rankings keep their scores, and those of s are assigned to the items at random. Imports
measures, the overlap and tiles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import numpy as np

from fujiscore import _kernels
from fujiscore.errors import InputError, choice, integer, spelled
from fujiscore.measures import MEASURES, evaluate, find, headline
from fujiscore.overlap import Counts, Grid, Overlap, grid, limit, named_grid, overlap_of, pair
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
    from fujiscore.rankings import Policies

    Moments: TypeAlias = tuple[Scores, Scores]

# Without a closed form, and without a number of permutations asked for, this many are drawn.
DEFAULT_PERMUTATIONS = 1000
# Permutations per tile: fixed, so that sums over them do not depend on the number of workers.
TILE = 50
# A permuted value this close to the observed one counts as equal to it.
ROUNDING = 1e-12


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
    at_least : ndarray of int64
        At each k, how many are at least as large as the observed value.
    """

    count: int
    aucs: Scores
    mean: Scores
    variance: Scores
    at_least: Sizes

    def over(self, places: Sizes, number: int) -> Permutations:
        """Return what belongs to one of several grids: its points, and the headline values over it."""
        mean, variance, at_least = self.mean[places], self.variance[places], self.at_least[places]
        return Permutations(self.count, self.aucs[number], mean, variance, at_least)


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
    def p_value(self) -> float | None:
        """How often chance gives at least this area: (b + 1) / (m + 1) over m permutations; None without them."""
        if self.permutations is None:
            return None
        at_least = int((self.permutations.aucs >= self.auc - ROUNDING).sum())
        return (at_least + 1) / (self.permutations.count + 1)

    @property
    def p_values(self) -> Scores | None:
        """The same at each k."""
        if self.permutations is None:
            return None
        return (self.permutations.at_least + 1) / (self.permutations.count + 1)

    @property
    def auc_z(self) -> float | None:
        """The area's standard deviations above its expectation, over the permutations; None without them."""
        if self.permutations is None:
            return None
        spread = float(self.permutations.aucs.std())
        return (self.auc - self.expected_auc) / spread if spread > ROUNDING else 0.0

    def _summary(self) -> list[str]:
        name = self.grid.whole if find(self.measure).whole else self.grid.area
        level = f"by chance {self.expected_auc:.4f}, corrected {self.corrected_auc:.4f}"
        lines = [f"{name} of {find(self.measure).title} {self.auc:.4f}, {level}"]
        if self.p_value is not None and self.permutations is not None:
            lines.append(f"p = {self.p_value:.4g} ({self.permutations.count} permutations), z = {self.auc_z:.2f}")
        return lines

    def _columns(self) -> dict[str, Any]:
        columns = {
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
    permutations: int = 0,
    random_state: Any = 0,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
    ties: Ties = "closed",
    zero_tail: ZeroTail = "include",
    **policies: Unpack[Policies],
) -> Chance:
    """Return the value expected by chance, and the value corrected for it.

    Expectation and variance are exact, conditional on the observed scores of both rankings: s's scores are assigned
    to the items at random. They are estimated from permutations for measures without a closed form, and with
    ties="stable" where top sets cut ties. Truncated lists need a universe.

    Parameters
    ----------
    permutations : int
        Number of permutations for p-values; 0 for none.
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
        With `.expected`, `.variance`, `.corrected`, `.z` at each k, `.expected_auc`, `.corrected_auc`, `.exact`,
        `.notes`, and with permutations `.p_value` (of the area) and `.p_values` (at each k).

    Examples
    --------
    >>> import fujiscore as fj
    >>> print(fj.chance([8, 7, 6, 0, 0, 0, 0, 0], [6, 8, 7, 0, 0, 0, 0, 0]))
    AUC of FUJI 0.9730, by chance 0.7456, corrected 0.8939
    """
    chosen = find(measure)
    both = pair(r, s, policies)
    points = grid(ks, both.depth, limit(both))
    overlap = overlap_of(both, points.ks, points.ks, ties=ties, zero_tail=zero_tail)
    if overlap.population is None:
        raise InputError(f"{no_universe()}.")
    work: Any = {"n_jobs": n_jobs, "executor": executor, "progress": progress}
    grids = [points, *([exp] if (exp := exp_grid(points)) else [])]
    levels = chances(overlap, [chosen], grids, permutations=permutations, random_state=random_state, **work)
    level, *top = levels[chosen.name]
    return replace(level, notes=(*both.notes, *level.notes), top_weighted=top[0] if top else None)


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
    random_state: Any = 0,
    **work: Any,
) -> dict[str, list[Chance]]:
    """Return each measure's chance over several grids, all along the overlap's path; they share the permutations."""
    closed = {measure.name: closed_form(measure, overlap) for measure in measures}
    if permutations == 0 and None in closed.values():
        permutations = DEFAULT_PERMUTATIONS
    places = [np.searchsorted(overlap.asked[0], points.ks) for points in grids]
    drawn = permute(overlap, measures, places, permutations, random_state=random_state, **work)
    result = {}
    for measure in measures:
        form, null = closed[measure.name], drawn.get(measure.name)
        notes: tuple[str, ...] = ()
        if form is None and null is not None:
            form = null.mean, null.variance
            cut = " (ties are cut, so the closed form does not apply)" if has_closed_form(measure) else ""
            notes = (f"{measure.name}: chance level estimated from {null.count} permutations{cut}",)
        assert form is not None  # noqa: S101 - for the type checker: permutations were drawn where there is no form
        exact = not notes
        observed = evaluate(measure, overlap)
        result[measure.name] = [
            Chance(
                measure.name,
                points,
                observed[at],
                form[0][at],
                form[1][at],
                exact,
                None if null is None else null.over(at, number),
                notes,
            )
            for number, (points, at) in enumerate(zip(grids, places, strict=True))
        ]
    return result


# Closed forms


def has_closed_form(measure: Measure) -> bool:
    """Return whether a measure's expectation is known in closed form."""
    return measure.linear or measure.name in CLOSED_FORMS


def closed_form(measure: Measure, overlap: Overlap) -> Moments | None:
    """Return a measure's exact expectation and variance at each point, or None where no closed form applies."""
    if not has_closed_form(measure) or (overlap.ties == "stable" and overlap.ties_cut):
        return None
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
        at_least = np.sum([part[i].at_least for part in parts], axis=0)
        result[measure.name] = Permutations(count, aucs, mean, np.maximum(variance, 0.0), at_least)
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
    at_least = np.zeros((len(measures), size), np.int64)
    for t, seed in enumerate(seeds):
        permuted = draw.permuted(seed)
        for i, measure in enumerate(measures):
            values = evaluate(measure, permuted)
            aucs[i, :, t] = [headline(measure, values[points]) for points in places]
            sums[i] += values
            squares[i] += (values - observed[i]) ** 2
            at_least[i] += values >= observed[i] - ROUNDING
    return [Permutations(len(seeds), aucs[i], sums[i], squares[i], at_least[i]) for i in range(len(measures))]


def _in_own_order(ranking: Ranking) -> Ranking:
    """Return the ranking of the same scores with its items numbered from best to worst."""
    order = ranking.order
    absent = None if ranking.absent is None else ranking.absent[order]
    renumbered = Ranking.checked(ranking.name, ranking.scores[order], absent=absent)
    renumbered.__dict__["_sorted"] = (np.arange(ranking.n, dtype=np.int32), ranking.ranked_raw)
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
        return overlap.with_second(permuted)
