"""Two rankings: value at k, curve over k, area under it, comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from fujiscore.charts import figure
from fujiscore.charts.kinds import Chart, Line
from fujiscore.errors import NAME, InputError, choice, first_few, printable, short_names, spelled
from fujiscore.inference.intervals import ALTERNATIVES
from fujiscore.inputs.options import Options, Policies, parted, takes
from fujiscore.measures.grids import ONE_PAIR, Grid, Sizes, grid, set_sizes
from fujiscore.measures.over_k import ResultOverK
from fujiscore.measures.overlap import (
    Ties,
    TopSets,
    ZeroTail,
    at_zero,
    overlap_of,
    pair,
    positive_scores,
    require_scores_for_fuji,
    zero_policy,
)
from fujiscore.measures.registry import Measure, area, evaluate, find, headline, undefined_points
from fujiscore.null.chance import Chance, chances, exp_grid, no_universe
from fujiscore.null.closed_forms import HIGH_FLOOR, floors, has_closed_form
from fujiscore.pages.page import Page, Reported
from fujiscore.pair.charts import comparison_charts
from fujiscore.pair.explain import Explanation, explanation, zeros_say_nothing
from fujiscore.pair.gates import Verdict, judge_level, require_bounds
from fujiscore.pair.passes.long import LongRankings, LongRequest, Passes, pair_of_columns
from fujiscore.pair.passes.stream import Column
from fujiscore.pair.truncated import Bounds, bounds
from fujiscore.pair.verdicts import level_p_words, lowest_stretch, verdict
from fujiscore.text.notes import kind
from fujiscore.text.numbers import p_text
from fujiscore.text.tables import Table, columns_table, text_table
from fujiscore.text.tabular import Tabular

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.inputs.ranking import Rankings


# Standard deviations below the number of shared items that is expected by chance, for a hint.
FAR_BELOW_CHANCE = -4.0


@dataclass(frozen=True, eq=False, repr=False)
class Curve(ResultOverK):
    """A measure's values over k.

    Attributes
    ----------
    measure : str
        The measure's name.
    grid : Grid
        The evaluated k.
    values : ndarray of float64
        The value at each k; NaN where the measure is undefined.
    notes : tuple of str
        What a reader must know.
    """

    measure: str
    grid: Grid
    values: Scores
    notes: tuple[str, ...] = ()

    _keys = ("measure", "value", "auc", "top_weighted_auc", "ks", "values")

    @cached_property
    def auc(self) -> float:
        """The area under the curve: trapezoids of unit width between points, over their number less 1."""
        return float(area(self.values))

    @cached_property
    def value(self) -> float:
        """The headline: the area, or for measures of whole lists (rbo, kendall, ...) the value at the last k."""
        return float(headline(find(self.measure), self.values))

    @cached_property
    def top_weighted_auc(self) -> float | None:
        """The area over k = 1, 2, 4, ..., where the top weighs more; None unless every k is evaluated."""
        exp = self.grid if self.grid.kind == "exp" else exp_grid(self.grid)
        return None if exp is None else float(area(self.values[np.searchsorted(self.ks, exp.ks)]))

    def _summary(self) -> list[str]:
        measure = find(self.measure)
        name = self.grid.whole if measure.whole else self.grid.area
        head = f"{measure.title}, {name} {self.value:.4f}, {self.grid.described()}"
        return [head]

    def _columns(self) -> dict[str, Any]:
        return {self.measure: self.values}

    def _charts(self) -> Sequence[Chart]:
        measure = find(self.measure)
        name = self.grid.whole if measure.whole else self.grid.area
        line = Line(self.values, f"{measure.title} ({name} {self.value:.3f})", measure.colour)
        return self._over_k(f"{measure.title} over k", [line], low=measure.low)


@dataclass(frozen=True, repr=False)
class Level(Tabular):
    """A measure's value in one place, against chance; None where it is not known.

    Attributes
    ----------
    measure : str
        The measure's name.
    place : str
        The name of an area, "whole list", or a k such as "k = 10".
    k : int or None
        The k; None for an area.
    value, expected, corrected, z, p_value : float or None
        The value, its expectation by chance, the corrected value, standard deviations above chance, and how often
        chance gives a value as extreme as this one.
    method : {"analytic", "permutations"} or None
        Where z and p-value of an area, and the p-value at a k, come from.
    alternative : {"greater", "less", "two-sided"} or None
        Which values count as extreme in the p-value: at least as large, at most as large, or both.
    """

    measure: str
    place: str
    k: int | None
    value: float
    expected: float | None = None
    corrected: float | None = None
    z: float | None = None
    p_value: float | None = None
    method: str | None = None
    alternative: str | None = None

    def _summary(self) -> list[str]:
        known = {"by chance": self.expected, "corrected": self.corrected, "z": self.z}
        parts = [f"{name} {value:.4g}" for name, value in known.items() if value is not None]
        parts += filter(None, [level_p_words(self)])
        return [", ".join([f"{find(self.measure).title}, {self.place}: {self.value:.4f}", *parts])]

    def _tables(self, rows: int | None) -> list[Table]:  # noqa: ARG002 - there is one row
        return [levels_table(find(self.measure).title, [self])]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ResultOverK, Reported):
    """Several measures of one pair of rankings.

    Attributes
    ----------
    rankings : Rankings
        The two rankings, aligned.
    measures : tuple of Measure
        The measures, in the order asked for.
    grid : Grid
        The evaluated k.
    at : ndarray of int64
        Further k to report.
    overlap : TopSets
        All that was computed of the two orders, along the grid and the further k.
    notes : tuple of str
        What was done to the input, and what the results rest on.
    permuted : mapping of str to list of Chance, or None
        The chance levels from permutations, if any were asked for.
    alternative : {"greater", "less", "two-sided"}
        Which areas count as extreme in p-values.
    """

    rankings: Rankings | LongRankings
    measures: tuple[Measure, ...]
    grid: Grid
    at: Sizes
    overlap: TopSets
    notes: tuple[str, ...]
    permuted: Mapping[str, list[Chance]] | None = None
    alternative: str = "greater"

    def _charts(self) -> Sequence[Chart]:
        return comparison_charts(self)

    def _page(self) -> Page:
        from fujiscore.pair import page

        return page.comparison(self)

    @property
    def n(self) -> int:
        """The number of items that the rankings list."""
        return self.rankings.n_whole

    @cached_property
    def curves(self) -> Mapping[str, Curve]:
        """One curve per measure."""
        places = np.searchsorted(self.overlap.requested[0], self.ks)
        return {
            measure.name: Curve(measure.name, self.grid, evaluate(measure, self.overlap)[places], self.notes)
            for measure in self.measures
        }

    @property
    def auc(self) -> dict[str, float]:
        """Each measure's headline: the area under its curve, or for measures of whole lists the value at the last k."""
        return {name: curve.value for name, curve in self.curves.items()}

    @property
    def top_weighted_auc(self) -> dict[str, float | None]:
        """The area under each curve over k = 1, 2, 4, ..., where the top weighs more."""
        return {name: curve.top_weighted_auc for name, curve in self.curves.items()}

    @property
    def in_memory(self) -> bool:
        """Whether both rankings are in memory, as `explain` needs them, rather than read in passes."""
        return not isinstance(self.rankings, LongRankings)

    def loaded(self, what: str) -> Rankings:
        """Return both rankings for what needs their items, or raise if they were read in passes."""
        if isinstance(self.rankings, LongRankings):
            raise self.rankings.refusal(what)
        return self.rankings

    @property
    def ties_cut(self) -> int:
        """At how many of the evaluated k a top set cuts through equal scores; 0 unless ties="stable"."""
        return self.overlap.ties_cut

    @cached_property
    def _levels(self) -> Mapping[str, list[Chance]]:
        """The chance levels over the grid, over k = 1, 2, 4, ... (if every k is evaluated), and at further k."""
        if self.permuted is not None:
            return self.permuted
        if self.overlap.population is None or (self.overlap.ties == "stable" and self.overlap.ties_cut):
            return {}
        if self.rankings.split is not None:
            return {}
        known = [measure for measure in self.measures if has_closed_form(measure)]
        return chances(self.overlap, known, self.grids, alternative=self.alternative)

    @cached_property
    def grids(self) -> tuple[Grid, ...]:
        """The grid; k = 1, 2, 4, ... if every k is evaluated; and further k, if any."""
        exp = exp_grid(self.grid)
        further = [Grid(self.at, "custom", self.grid.depth)] if self.at.size else []
        return (self.grid, *([exp] if exp else []), *further)

    @cached_property
    def chance(self) -> Mapping[str, Chance]:
        """For each measure whose chance level is known, the expected and corrected values."""
        return {name: levels[0] for name, levels in self._levels.items()}

    @property
    def p_value(self) -> dict[str, float | None]:
        """For each measure, how often chance gives an area as extreme; None where that takes permutations."""
        return {name: self.chance[name].p_value if name in self.chance else None for name in self.curves}

    @cached_property
    def headline(self) -> Level:
        """The first measure's top-weighted AUC against chance; where that is not known, its first level."""
        levels = [level for level in self.levels() if level.measure == self.measures[0].name]
        weighted = {points.area for points in self.grids if points.kind == "exp" and points.ks.size > 1}
        return next((level for level in levels if level.place in weighted), levels[0])

    @cached_property
    def differs_most(self) -> tuple[int, int] | None:
        """The first and last k of the stretch where the first measure's curve is lowest.

        It holds the lowest value and the evaluated k around it at which the curve is at least half as far below its
        headline (the top-weighted AUC, if every k is evaluated) as there. None for a flat curve, for a single k, and
        for measures of whole lists.
        """
        measure = self.measures[0]
        if measure.whole:
            return None
        return lowest_stretch(self.ks, self.curves[measure.name].values, self.headline.value)

    def verdict(self) -> str:
        """Return one line: the headline against chance, as far as that is known, and where the rankings differ most."""
        return verdict(self)

    def judge(self, *, fail_under: float | None = None, corrected: bool = False) -> Verdict:
        """Return whether the first measure's headline passes a gate.

        Parameters
        ----------
        fail_under : float, optional
            The least value that passes; an undefined one fails.
        corrected : bool
            Judge the value corrected for chance.
        """
        require_bounds(self.measures[0], fail_under=fail_under, corrected=corrected)
        if fail_under is None:
            return Verdict(())
        return Verdict((judge_level(self.levels()[0], fail_under, self.notes, corrected=corrected),))

    def plot(self, ax: Any = None, k: int | tuple[int, int] | None = None) -> Any:
        """Draw the curves against chance and, beside them, a slope chart of the top k items; return the left Axes.

        On a given matplotlib Axes the curves alone are drawn. The chart needs FUJI among the measures, or `k`; by
        default k is 10 or half of the items, or less where the k-th score would be 0. See docs/reading-curves.md.
        """
        if ax is None:
            return figure.compose(comparison_charts(self, k))
        if k is not None:
            raise InputError(
                f"{spelled('k')} chooses the slope chart, for which one Axes has no room: leave out {spelled('k')} or "
                f"{spelled('ax')}."
            )
        return super().plot(ax)

    def __getitem__(self, measure: str) -> Curve:
        """Return a measure's curve."""
        name = find(measure).name
        if name not in self.curves:
            raise InputError(
                f"the comparison must hold the measure asked for; {name} is not among {', '.join(self.curves)}."
            )
        return self.curves[name]

    def levels(self) -> list[Level]:
        """Return each measure's areas and its values at further k, against chance.

        A value at a k where the last scores of both top sets are 0 is undefined: NaN.
        """
        return list(self._known_levels)

    @cached_property
    def _known_levels(self) -> tuple[Level, ...]:
        """What `levels` returns, computed once."""
        rows: list[Level] = []
        for measure in self.measures:
            values = evaluate(measure, self.overlap)
            reported = np.where(at_zero(self.overlap, fuzzy=measure.name == "fuji"), np.nan, values)
            known = self._levels.get(measure.name)
            for number, points in enumerate(self.grids):
                places = np.searchsorted(self.overlap.requested[0], points.ks)
                here = values[places]
                level = None if known is None else known[number]
                if points.ks is self.at or points.ks.size == 1:
                    shown = {row.k for row in rows if row.measure == measure.name}
                    ks = [i for i in range(points.ks.size) if int(points.ks[i]) not in shown]
                    rows += [_point(measure, points, reported[places], level, i) for i in ks]
                elif not (measure.whole and number):
                    rows.append(_headline(measure, points, here, level))
        return tuple(rows)

    @property
    def usual_k(self) -> int:
        """The k whose items are shown by default: 10, or half of the items, or where the positive scores end."""
        k = min(10, max(1, self.grid.depth // 2))
        if isinstance(self.rankings, LongRankings):
            return k
        return min(k, max(1, *map(positive_scores, self.rankings)))

    def explain(self, k: int | tuple[int, int] | None = None) -> Explanation:
        """Explain FUJI at k, by default at `usual_k`; nothing is sorted again."""
        both = self.loaded("explain")
        sizes = set_sizes(self.usual_k if k is None else k, both.depth)
        return explanation(both, sizes, ties=self.overlap.ties, zero_tail=zero_policy(self.overlap))

    def _summary(self) -> list[str]:
        top = self.grid.kind == "all" and self.ks.size > 1
        header = ["measure", self.grid.area, *(["top-weighted AUC"] if top else [])]
        rows = []
        for measure in self.measures:
            curve = self.curves[measure.name]
            if measure.whole:
                rows.append([measure.title, f"{curve.value:.4f}", *(["(whole list)"] if top else [])])
            else:
                rows.append([measure.title, f"{curve.auc:.4f}", *([f"{curve.top_weighted_auc:.4f}"] if top else [])])
        head = f"{self.n} items, {self.grid.described()}"
        return [head, *text_table(header, rows)]

    def _columns(self) -> dict[str, Any]:
        return {name: curve.values for name, curve in self.curves.items()}

    def _data(self) -> dict[str, Any]:
        measures: dict[str, Any] = {name: {"at": {}, "curve": curve.values} for name, curve in self.curves.items()}
        for level in self.levels():
            entry = measures[level.measure]
            values = {name: value for name, value in asdict(level).items() if name not in {"measure", "k"}}
            if level.k is not None:
                entry["at"][level.k] = values
            if level.k is None or "auc" not in entry:  # of one k only, the area is the value there
                entry["auc" if "auc" not in entry else "auc_top_weighted"] = values
        for name, chance in self.chance.items():
            measures[name]["above_chance"] = chance.above() if chance.has_band else None
        names = dict(zip("ab", self.rankings.names, strict=True))
        sizes = {"items": self.n, "universe": self.rankings.universe, "ties_cut": self.ties_cut}
        return {**names, **sizes, "measures": measures, "ks": self.ks}

    def _metrics(self) -> Mapping[str, Any]:
        measures: Mapping[str, Any] = self._data()["measures"]
        return measures

    def _tables(self, rows: int | None) -> list[Table]:
        names = " and ".join(short_names(self.rankings.names))
        caption = f"{names}, {self._summary()[0]}; {self.verdict()}"
        return [levels_table(caption, self.levels()), *super()._tables(rows)]

    def _caption(self) -> str:
        return "values over k"


def levels_table(caption: str, levels: Sequence[Level]) -> Table:
    """Return measures in places against chance, the one table of levels; what is known of none is left out."""
    columns: dict[str, tuple[str, Any]] = {
        "measure": ("", [find(level.measure).title for level in levels]),
        "place": ("", [level.place for level in levels]),
        "value": (".4f", [level.value for level in levels]),
        "by chance": (".4f", [level.expected for level in levels]),
        "corrected": (".4f", [level.corrected for level in levels]),
        "z": (".2f", [level.z for level in levels]),
        "p": ("s", [None if level.p_value is None else p_text(level.p_value, level.method) for level in levels]),
    }
    known = {name: column for name, column in columns.items() if any(value is not None for value in column[1])}
    return columns_table(caption, known, optional=[["by chance"], ["z"]])


def _headline(measure: Measure, points: Grid, values: Scores, chance: Chance | None) -> Level:
    """Return the area (or the value over the whole list) against chance."""
    whole = "whole list" if points.ks[-1] == points.depth else f"top {points.ks[-1]}"
    place = whole if measure.whole else points.area
    value = float(headline(measure, values))
    if chance is None:
        return Level(measure.name, place, None, value)
    known = (chance.expected_auc, chance.corrected_auc, chance.auc_z, chance.p_value, chance.method)
    return Level(measure.name, place, None, value, *known, chance.alternative)


def _point(measure: Measure, points: Grid, values: Scores, chance: Chance | None, i: int) -> Level:
    """Return the value at one k against chance."""
    k, value = int(points.ks[i]), float(values[i])
    if chance is None or np.isnan(value):
        return Level(measure.name, f"k = {k}", k, value)
    p_value = None if chance.p_values is None else float(chance.p_values[i])
    method = None if p_value is None else "permutations"
    known = (float(chance.expected[i]), float(chance.corrected[i]), float(chance.z[i]), p_value, method)
    return Level(measure.name, f"k = {k}", k, value, *known, chance.alternative)


@takes(Policies)
def fuji(
    r: Any,
    s: Any,
    k: int | tuple[int, int],
    *,
    ties: Ties = "closed",
    zero_tail: ZeroTail = "include",
    **policies: Unpack[Policies],
) -> float:
    """Return the Fuzzy Jaccard Index of the top k of two rankings.

    An item outside a top set counts as a member in proportion to how close its score is to the set's last score:
    FUJI = sum of the smaller memberships / size of the union of the two top sets.

    Returns
    -------
    float
        Between 0 and 1; 1 if the top sets are equal.

    Examples
    --------
    >>> import fujiscore as fj
    >>> fj.fuji([0.9, 0.8, 0.1], [0.8, 0.9, 0.1], 1)
    0.888888888888889
    >>> fj.fuji({"a": 3, "b": 2, "c": 1}, {"c": 3, "a": 2.9, "b": 0}, 1)
    0.65
    """
    return score(r, s, k, ties=ties, zero_tail=zero_tail, **policies)


@takes(Policies)
def score(
    r: Any,
    s: Any,
    k: int | tuple[int, int],
    measure: Any = "fuji",
    *,
    ties: Ties = "closed",
    zero_tail: ZeroTail = "include",
    **policies: Unpack[Policies],
) -> float:
    """Return a measure's value for the top k of two rankings.

    Returns
    -------
    float
        In the measure's range; NaN where it is undefined (rank correlations of constant scores).

    Examples
    --------
    >>> import fujiscore as fj
    >>> fj.score([4, 3, 2, 1], [4, 2, 3, 1], 2, measure="jaccard")
    0.3333333333333333
    """
    chosen = find(measure)
    both = pair(r, s, policies, kept=False)
    sizes = set_sizes(k, both.universe or both.depth)
    overlap = overlap_of(both, *sizes, ties=ties, zero_tail=zero_tail)
    return float(evaluate(chosen, overlap)[0])


@takes(Policies)
def curve(
    r: Any,
    s: Any,
    measure: Any = "fuji",
    *,
    ks: Any = ONE_PAIR,
    ties: Ties = "closed",
    zero_tail: ZeroTail = "include",
    **policies: Unpack[Policies],
) -> Any:
    """Return a measure's values over k, exactly, in linear time after the sort.

    Parameters
    ----------
    missing : {"raise", "zero", "drop", "bounds"}
        How to treat items that a ranking lacks: raise; score them 0, below every listed item; drop them from all
        rankings; or return the lower and the upper FUJI curve of truncated lists (see `bounds`). With a universe,
        "raise" means "zero".

    Returns
    -------
    Curve, or Bounds with missing="bounds"
        With `.ks`, `.values`, `.auc`, `.notes`, `.plot()` and `.to_frame()`.

    Examples
    --------
    >>> import fujiscore as fj
    >>> fj.curve([4, 3, 2, 1], [4, 2, 3, 1]).values
    array([1.        , 0.77777778, 1.        , 1.        ])
    """
    chosen = find(measure)
    if str(policies.get("missing")) == "bounds":
        return _bounds(r, s, chosen, ks, ties, zero_tail, dict(policies))
    both = pair(r, s, policies, kept=False)
    points = grid(ks, both.depth, both.universe)
    overlap = overlap_of(both, points.ks, points.ks, ties=ties, zero_tail=zero_tail)
    notes = (*both.notes, *_caveats(overlap, [chosen]))
    return Curve(chosen.name, points, evaluate(chosen, overlap), notes)


def _bounds(r: Any, s: Any, measure: Measure, ks: Any, ties: str, zero_tail: Any, policies: dict[str, Any]) -> Bounds:
    """Return the bounds of FUJI, or say that other measures have none."""
    if measure.name != "fuji" or ties != "closed":
        raise InputError(
            f"{spelled('missing', 'bounds')} is for {spelled('measure', 'fuji')} and {spelled('ties', 'closed')} only."
        )
    return bounds(r, s, ks=ks, zero_tail=zero_tail, **{**policies, "missing": "zero"})


@takes(Policies)
def auc(
    r: Any,
    s: Any,
    measure: Any = "fuji",
    *,
    ks: Any = ONE_PAIR,
    ties: Ties = "closed",
    zero_tail: ZeroTail = "include",
    **policies: Unpack[Policies],
) -> float:
    """Return the area under a measure's curve over k.

    Trapezoids of unit width between the evaluated points, divided by their number less 1: the paper's area for
    ks="all"; with ks="exp" the top weighs more (the top-weighted AUC).

    Returns
    -------
    float
        In the measure's range.

    Examples
    --------
    >>> import fujiscore as fj
    >>> round(fj.auc([4, 3, 2, 1], [4, 2, 3, 1]), 4)
    0.9259
    """
    result = curve(r, s, measure, ks=ks, ties=ties, zero_tail=zero_tail, **policies)
    if isinstance(result, Bounds):
        raise InputError(
            f"{spelled('missing', 'bounds')} gives an interval, not a value: use fujiscore.bounds(r, s).auc."
        )
    return float(result.auc)


@takes(Options)
def compare(
    r: Any,
    s: Any,
    measures: Sequence[Any] = ("fuji", "jaccard"),
    *,
    ks: Any = ONE_PAIR,
    k: Any = (),
    permutations: int = 0,
    alternative: str = "greater",
    random_state: Any = 0,
    ties: Ties = "closed",
    zero_tail: ZeroTail = "include",
    **options: Unpack[Options],
) -> Comparison:
    """Compare two rankings by several measures at once; they share the sort and the sweep.

    Parameters
    ----------
    k : int or increasing integers
        Further k to report in `.levels()`; beyond the positive scores of both rankings values there are undefined.
    permutations : int
        Number of permutations for p-values; 0 for none.

    Returns
    -------
    Comparison
        With `.curves`, `.auc` and `.top_weighted_auc`, `.chance` (one `Chance` per measure), `.levels()`,
        `.explain(k)`, `.notes`, `.plot()` and `.to_frame()`; printing it gives a summary.

    Examples
    --------
    >>> import fujiscore as fj
    >>> print(fj.compare([4, 3, 2, 1], [4, 2, 3, 1]))
    4 items, k = 1 to 4
    measure  AUC     top-weighted AUC
    FUJI     0.9259  0.8889
    Jaccard  0.7778  0.6667
    """
    names = tuple(measures) if isinstance(measures, Iterable) and not isinstance(measures, str) else (measures,)
    if not names or measures is None:
        raise InputError(f"{spelled('measures')} must name at least one measure; got {measures!r}.")
    chosen = tuple({measure.name: measure for measure in map(find, names)}.values())
    choice("alternative", alternative, ALTERNATIVES)
    policies, work, _ = parted(options)
    if isinstance(r, Column) or isinstance(s, Column):
        asked = LongRequest(chosen, ks, permutations, ties)
        threads = {name: work[name] for name in ("n_jobs", "progress")}
        both: Rankings | Passes = pair_of_columns(r, s, policies, asked, **threads)
    else:
        both = pair(r, s, policies)
    most = None if isinstance(both, Passes) else both.universe
    points = grid(ks, both.depth, most)
    if any(measure.name == "fuji" for measure in chosen):
        require_scores_for_fuji(both.extents if isinstance(both, Passes) else both)
    at = grid(k, both.depth, most, "k").ks if np.size(k) else np.empty(0, np.int64)
    path = points.ks if not at.size or np.isin(at, points.ks).all() else np.union1d(points.ks, at)
    rankings: Rankings | LongRankings
    overlap: TopSets
    if isinstance(both, Passes):
        rankings, overlap = both.overlap(path, zero_tail)
    else:
        rankings, overlap = both, overlap_of(both, path, path, ties=ties, zero_tail=zero_tail)
    notes = (*rankings.notes, *_caveats(overlap, chosen), *_chance_caveats(overlap, chosen, permutations))
    notes += zero_caveats(overlap, np.union1d(points.ks, at) if points.ks.size == 1 else at)
    notes += _direction_hint(overlap, chosen)
    if not isinstance(rankings, LongRankings) and any(measure.name == "fuji" for measure in chosen):
        notes += _floor_caveat(overlap, rankings, exp_grid(points) or points)
    result = Comparison(rankings, chosen, points, at, overlap, notes, alternative=alternative)
    if permutations == 0 or overlap.population is None:
        return result
    work |= {"alternative": alternative, "random_state": random_state}
    drawn = chances(overlap, chosen, result.grids, permutations=permutations, **work)
    further = tuple(dict.fromkeys(note for levels in drawn.values() for note in levels[0].notes))
    return replace(result, notes=(*notes, *further), permuted=drawn)


def _caveats(overlap: TopSets, measures: Sequence[Measure]) -> list[str]:
    """Return what values rest on: cut ties, constant scores, points where a measure is undefined."""
    notes: list[str] = []
    untied = overlap.r.untied and overlap.s.untied and not overlap.capped
    if untied and not any(measure.by_rank for measure in measures):
        return notes
    points = overlap.k1.size
    if overlap.ties == "stable" and overlap.ties_cut:
        notes.append(
            f"ties cut at {overlap.ties_cut} of {points} k: equal scores straddle the top k, and their input order "
            f"decides ({spelled('ties', 'closed')} does not depend on it)"
        )
    dead = [ranking.name for ranking in (overlap.r, overlap.s) if ranking.constant]
    notes += [f"{printable(name, NAME)} gives every item the same score: it orders nothing" for name in dead]
    for measure in measures:
        undefined = undefined_points(measure, overlap)
        if undefined:
            unequal = "the sets differ in size" if overlap.capped else "ties make the sets differ in size"
            why = "constant scores in the union" if measure.by_rank else unequal
            shown = "NaN" if np.isnan(measure.undefined) else f"{measure.undefined:g} by the paper's convention"
            notes.append(f"{measure.name} is undefined at {undefined} of {points} k ({why}): {shown} there")
    return notes


def zero_caveats(overlap: TopSets, reported: Sizes) -> tuple[str, ...]:
    """Return a note on the reported k at which both top sets end with a score of 0, with the remedies."""
    if not reported.size:
        return ()
    places = np.searchsorted(overlap.requested[0], reported)
    zero = reported[at_zero(overlap, fuzzy=True)[places]]
    if not zero.size:
        return ()
    count = "" if reported.size == 1 else f"{zero.size} of {reported.size} "
    return (f"undefined at {count}k ({first_few(zero.tolist())}): {zeros_say_nothing()}",)


def _direction_hint(overlap: TopSets, measures: Sequence[Measure]) -> tuple[str, ...]:
    """Return a hint where top sets share far fewer items than by chance, as those of opposite directions do.

    The standard deviation is that of the hypergeometric distribution. Rank correlations tell by their sign. Sets that
    end with a score of 0 tell nothing: those of a sparse ranking lack only the items whose scores are negative.
    """
    n = overlap.population
    if n is None or n < 2 or overlap.r.split is not None or all(measure.by_rank for measure in measures):
        return ()
    first, second = overlap.k1 / n, overlap.k2 / n
    deviation = np.sqrt(n * first * (1 - first) * second * (1 - second) * n / (n - 1))
    excess = overlap.shared - n * first * second
    positive = ~(overlap.r.ends_at_zero(overlap.k1, fuzzy=True) | overlap.s.ends_at_zero(overlap.k2, fuzzy=True))
    z = np.divide(excess, deviation, out=np.zeros(excess.size), where=positive & (deviation > 0))
    place = int(np.argmin(z))
    if z[place] > FAR_BELOW_CHANCE:
        return ()
    sides = f"{spelled('transform', ('flip', None))} or {spelled('transform', (None, 'flip'))}"
    found = f"{overlap.shared[place]} items shared at k = {overlap.requested[0][place]}, z = {z[place]:.1f}"
    return (f"far less alike than by chance ({found}): if lower is better in one of the rankings, pass {sides}",)


def _floor_caveat(overlap: TopSets, rankings: Rankings, points: Grid) -> tuple[str, ...]:
    """Return a note on lists without a chance level, if their high FUJI may be that of the same items reordered."""
    if overlap.population is not None or rankings.split is not None:
        return ()
    places = np.searchsorted(overlap.requested[0], points.ks)
    listed = [ranking.listed for ranking in rankings]
    sizes = [np.minimum(k[places], n) for k, n in zip((overlap.k1, overlap.k2), listed, strict=True)]
    if all((k == n).all() for k, n in zip(sizes, listed, strict=True)):
        return ()
    both = np.zeros(places.size)
    for n, k, (mean, _) in zip(listed, sizes, overlap.tail_moments(), strict=True):
        outside = mean[places] * (overlap.n - k) / np.maximum(n - k, 1)  # of listed items; others count 0 in the mean
        both += floors(np.full(k.size, n), k, np.minimum(outside, 1.0)) / 2
    floor = float(area(both))
    if min(floor, float(area(overlap.fuji[places]))) <= HIGH_FLOOR:
        return ()
    transformed = any(kind(note) == "transform" for note in rankings.notes)
    remedy = "" if transformed else f"{spelled('transform', 'minmax')} or "
    seen = f"the floor of FUJI ({points.area}) is {floor:.4f}: it gives that much to the same lists reordered at random"
    return (f"{seen}. Pass {remedy}a measure of order such as {spelled('measures', 'rbo')}",)


def _chance_caveats(overlap: TopSets, measures: Sequence[Measure], permutations: int) -> list[str]:
    """Return why chance levels are missing, with the remedy."""
    if overlap.population is None:
        return [no_universe()]
    if permutations:
        return []
    if overlap.r.split is not None:
        return [f"no chance level: of items split by sign it needs {spelled('permutations', 1000)}"]
    if overlap.ties == "stable" and overlap.ties_cut:
        return [
            f"no chance level: with cut ties it needs {spelled('permutations', 1000)} or {spelled('ties', 'closed')}"
        ]
    without = [measure.name for measure in measures if not has_closed_form(measure)]
    if not without:
        return []
    return [f"no closed form for the chance level of {', '.join(without)}: pass {spelled('permutations', 1000)}"]
