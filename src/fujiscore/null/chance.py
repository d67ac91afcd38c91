"""A curve against chance: expected and corrected values, bands and p-values (`chance` and its result).

The null hypothesis: both rankings keep their scores, and those of s are assigned to the items at random.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from fujiscore.charts.kinds import Band, Chart, Line
from fujiscore.charts.palette import CHANCE
from fujiscore.charts.result import record
from fujiscore.errors import InputError, choice, proportion, spelled
from fujiscore.inference.intervals import ALTERNATIVES
from fujiscore.inputs.options import Options, parted, takes
from fujiscore.inputs.orders import read_only
from fujiscore.measures.grids import ONE_PAIR, Grid, Sizes, grid, named_grid, set_sizes
from fujiscore.measures.over_k import ResultOverK
from fujiscore.measures.overlap import Overlap, Ties, TopSets, ZeroTail, overlap_of, pair
from fujiscore.measures.registry import Measure, evaluate, find, headline
from fujiscore.null.area import FEWEST, AreaNull, area_null, has_area_null, p_value
from fujiscore.null.closed_forms import closed_form, correct, has_closed_form
from fujiscore.null.permutations import ROUNDING, Permutations, permute
from fujiscore.text.notes import Fact, Note, kind
from fujiscore.text.numbers import p_text, p_words

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.text.tables import Table

# Without a closed form, and without a number of permutations asked for, this many are drawn.
DEFAULT_PERMUTATIONS = 1000
# A sentence names so many stretches of k.
MOST_RUNS = 3


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

    @cached_property
    def corrected(self) -> Scores:
        """(observed - expected) / (1 - expected) at each k: 0 is chance level, 1 the maximum."""
        return read_only(correct(self.observed, self.expected))

    @cached_property
    def z(self) -> Scores:
        """Standard deviations above the expectation, at each k (0 where chance leaves no choice)."""
        spread = np.sqrt(self.variance)
        above = self.observed - self.expected
        return read_only(np.divide(above, spread, out=np.zeros_like(spread), where=spread > ROUNDING))

    @property
    def k2(self) -> Sizes | None:
        """The sizes of s's sets, where they are not those of r's."""
        return self.grid.other

    @cached_property
    def auc(self) -> float:
        """The observed area under the curve."""
        return float(headline(find(self.measure), self.observed))

    @cached_property
    def expected_auc(self) -> float:
        """The expectation of the area under the curve."""
        return float(headline(find(self.measure), self.expected))

    @cached_property
    def corrected_auc(self) -> float:
        """The area under the curve, corrected for chance: 0 is chance level, 1 the maximum."""
        return float(correct(np.array([self.auc]), np.array([self.expected_auc]))[0])

    @property
    def method(self) -> str | None:
        """Where the area's variance, z and p-value come from: "analytic", "permutations", or None without them."""
        if self.permutations is not None:
            return "permutations"
        return None if self.analytic is None else "analytic"

    @cached_property
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
        return float(p_value(self.auc_z, self.analytic.law, self.analytic.floor(self.alternative), self.alternative))

    @cached_property
    def p_values(self) -> Scores | None:
        """The same at each k, over permutations; None without them."""
        if self.permutations is None:
            return None
        drawn = self.permutations
        return read_only(drawn.p_value(drawn.at_least, drawn.at_most, self.alternative))

    @cached_property
    def auc_variance(self) -> float | None:
        """The area's variance by chance; see `method`."""
        if self.permutations is not None:
            return float(self.permutations.aucs.var())
        return None if self.analytic is None else self.analytic.variance

    @cached_property
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

        Parameters
        ----------
        simultaneous : bool
            Whether the band holds for the whole curve at once rather than for each k.
        """
        return tuple(self._end(side, confidence, simultaneous=simultaneous) for side in (-1, 1))  # type: ignore[return-value]

    def _end(self, side: int, confidence: float, *, simultaneous: bool) -> Scores:
        """Return the lower (side -1) or the upper end (1) of a band."""
        if self.analytic is None or not self.has_band:
            raise InputError(f"a band needs a measure of top sets whose null is known; {self.measure} has none here.")
        level = proportion("confidence", confidence)
        reach = self.analytic.reach(side, self.ks.size, level, simultaneous=simultaneous)
        measure = find(self.measure)
        return np.clip(self.expected + reach * np.sqrt(self.variance), measure.low, measure.high)

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
        known = [] if p is None or isnan(p) else [f"{p_words(p, self.method)} ({self.how})"]
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

    _keys = (
        *("measure", "method", "alternative", "exact", "auc", "expected_auc", "corrected_auc", "auc_variance", "auc_z"),
        *("p_value", "ks", "k2", "observed", "expected", "variance", "corrected", "z", "p_values"),
        *("permutations", "top_weighted"),
    )

    def _charts(self) -> Sequence[Chart]:
        measure = find(self.measure)
        name = self.grid.whole if measure.whole else self.grid.area
        line = Line(self.observed, f"{measure.title} ({name} {self.auc:.3f})", measure.colour)
        level, bands = chance_level(self, f"by chance ({name} {self.expected_auc:.3f}), ", simultaneous=False)
        return self._over_k(f"{measure.title} over k against chance", [line, level], bands, measure.low)

    def _tables(self, rows: int | None) -> list[Table]:
        known = {
            "value": (".4f", self.auc),
            "by chance": (".4f", self.expected_auc),
            "corrected": (".4f", self.corrected_auc),
            "z": (".2f", self.auc_z),
            "p": ("s", p_text(self.p_value, self.method)),
            "method": ("", self.how if self.method else None),
        }
        name = self.grid.whole if find(self.measure).whole else self.grid.area
        return [record(f"{find(self.measure).title}, {name}, against chance", known), *super()._tables(rows)]

    def _caption(self) -> str:
        return "against chance over k"


def chance_level(result: Chance, name: str = "by chance, ", *, simultaneous: bool = True) -> tuple[Line, list[Band]]:
    """Return the line of the chance level, and its 95% bands: over all k at once, or at each k as well."""
    if result.has_band:
        bands = [result.band()] if simultaneous else [result.band(simultaneous=False), result.band()]
        what = "95% band over all k" if simultaneous else "95% bands: each k, all k"
    else:
        reach = 2 * np.sqrt(result.variance)
        bands, what = [(result.expected - reach, result.expected + reach)], "± 2 sd"
    level = Line(result.expected, name + what, CHANCE, 1.2, dashed=True)
    return level, [Band(low, high, CHANCE) for low, high in bands]


@takes(Options)
def chance(
    r: Any,
    s: Any,
    measure: Any = "fuji",
    *,
    ks: Any = ONE_PAIR,
    k: int | tuple[int, int] | None = None,
    permutations: int = 0,
    method: str | None = None,
    alternative: str = "greater",
    random_state: Any = 0,
    ties: Ties = "closed",
    zero_tail: ZeroTail = "include",
    **options: Unpack[Options],
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
    p = 0.021 (analytic), z = 3.14
    """
    chosen = find(measure)
    choice("alternative", alternative, ALTERNATIVES)
    policies, work, _ = parted(options)
    both = pair(r, s, policies)
    if k is None:
        points = grid(ks, both.depth, both.universe)
    elif isinstance(ks, str) and ks == "all":
        first, other = set_sizes(k, both.universe or both.depth)
        points = Grid(first, "custom", both.depth, None if first[0] == other[0] else other)
    else:
        raise InputError(f"{spelled('k')} and {spelled('ks')} exclude each other: pass one of them.")
    second = points.ks if points.other is None else points.other
    overlap = overlap_of(both, points.ks, second, ties=ties, zero_tail=zero_tail)
    if overlap.population is None:
        raise InputError(f"{no_universe()}.")
    grids = [points, *([exp] if (exp := exp_grid(points)) else [])]
    count = _count(chosen, overlap, method, permutations)
    work |= {"permutations": count, "alternative": alternative, "random_state": random_state}
    level, *top = chances(overlap, [chosen], grids, **work)[chosen.name]
    return replace(level, notes=(*both.notes, *level.notes), top_weighted=top[0] if top else None)


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
    if not has_area_null(measure):
        why = f"{measure.name} has no null distribution in closed form"
    elif overlap.r.split is not None:
        why = "both signs of an item move together"
    elif closed_form(measure, overlap) is None:
        why = "top sets cut ties"
    elif overlap.n < FEWEST:
        why = f"{overlap.n} items, fewer than {FEWEST}, are too few"
    else:
        return 0
    raise InputError(
        f"{spelled('method', 'analytic')} is not known here: {why}. Pass {spelled('method', 'permutations')}."
    )


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
    overlap: TopSets,
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
    places = [np.searchsorted(overlap.requested[0], points.ks) for points in grids]
    drawn: dict[str, Permutations] = {}
    if isinstance(overlap, Overlap):
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
            over_grid = None if null is None else null.over(at, number)
            analytic = area_null(overlap, measure, at, moments[1]) if exact else None
            without = () if over_grid is not None else _no_p_value(analytic, headline(measure, observed[at]))
            known = (*moments, exact, over_grid, analytic, alternative, notes + without)
            result[measure.name].append(Chance(measure.name, points, observed[at], *known))
    return result


def chance_words(levels: Collection[Chance]) -> list[str]:
    """Return where p-values of areas come from, or why there are none, and where the curves lie above chance."""
    known = [f"p of an area: {level.how}" for level in levels if level.p_value is not None]
    without = [note for level in levels for note in level.notes if kind(note) == "no p-value"]
    above = [level.in_words() for level in levels if level.has_band and level.ks.size > 1]
    return [*dict.fromkeys([*known, *without]), *above]


def _no_p_value(analytic: AreaNull | None, value: float) -> tuple[str, ...]:
    """Return why an area whose null is known has no p-value, if so."""
    if analytic is None or isnan(value):
        return ()
    if analytic.variance <= ROUNDING**2:
        return (Note(Fact("no p-value", detail="every random ranking with these scores has this value")),)
    few = f"with {analytic.n} items, fewer than {FEWEST}, it takes {spelled('permutations', 1000)}"
    return (Note(Fact("no p-value", detail=few)),) if analytic.n < FEWEST else ()
