"""Which features matter, do methods agree beyond chance, how stable is each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack

import numpy as np

from fujiscore.charts.result import Result, charts_of
from fujiscore.errors import NAME, InputError, integer, printable, proportion, spelled
from fujiscore.inference.multiplicity import adjusted
from fujiscore.inputs.options import takes
from fujiscore.inputs.orders import read_only
from fujiscore.inputs.ranking import Ranking, Rankings
from fujiscore.many.pairwise import pairwise
from fujiscore.many.ranks import ItemRanks, item_ranks
from fujiscore.many.stability import Stability, of_pairs
from fujiscore.many.stability_tests import StabilityComparison, compare_stabilities
from fujiscore.measures.grids import MANY_PAIRS, grid
from fujiscore.measures.registry import find
from fujiscore.null.closed_forms import has_closed_form
from fujiscore.pages.page import Page, Reported
from fujiscore.pair.compare import Comparison, compare
from fujiscore.rankers.features import DESCRIPTIONS
from fujiscore.text.tables import Table, columns_table, first_places, short_start
from fujiscore.text.tabular import Tabular
from fujiscore.work.seeds import as_seed
from fujiscore.work.tiles import Execution

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from fujiscore.inputs.coercion import Scores
    from fujiscore.many.matrix import Matrix
    from fujiscore.rankers.features import Nan
    from fujiscore.rankers.ranking import Rankers
    from fujiscore.rankers.targets import Task

    Pair: TypeAlias = tuple[str, str]
    from fujiscore.charts.kinds import Chart

Scheme: TypeAlias = Literal["subsample", "bootstrap", "folds", "time"]


@dataclass(frozen=True, repr=False)
class TopFeature(Tabular):
    """A feature near the top; flat methods and resamples (see `Study`) are left out.

    Attributes
    ----------
    feature : hashable
        Its name.
    mean_rank, ranks : float, mapping of str to float
        Its rank by each method, and their mean; 1 is best, equal scores share the mean of their ranks.
    in_top, frequency : int, float
        Number of methods, and fraction of the resampled rankings, that have it in their top: at most that many
        features score as high.
    agreement : float
        1 if all methods give it the same rank, 0 if one ranks it first and another last.
    """

    feature: Hashable
    mean_rank: float
    ranks: Mapping[str, float]
    in_top: int
    agreement: float
    frequency: float

    def _summary(self) -> list[str]:
        name, methods = printable(self.feature, NAME), len(self.ranks)
        rank = f"mean rank {self.mean_rank:.1f}, in the top of {self.in_top} of {methods} methods"
        return [f"{name}: {rank}, agreement {self.agreement:.2f}, frequency {self.frequency:.2f}"]

    def _tables(self, rows: int | None) -> list[Table]:
        places = first_places(len(self.ranks), rows)
        ranks: Any = ("g", list(self.ranks.values()))
        columns = {"method": ("", short_start(list(self.ranks), rows)), "rank": ranks}
        return [columns_table(self._summary()[0], columns, f"{len(self.ranks)} methods", places)]


@dataclass(frozen=True, eq=False, repr=False)
class Study(Result, Reported):
    """Rankings of the features of one data set by several methods, compared and judged.

    A ranking is flat if it does not tell features apart: all scores are equal, or, for FUJI, none is above 0. Two
    flat rankings would agree perfectly, so what involves a flat ranking is NaN or left out.

    Attributes
    ----------
    rankings : Rankings
        One ranking per method, of all rows; signed scores.
    matrix : Matrix
        The area of every pair; NaN for flat methods.
    curves : mapping of pair to Comparison
        The measure's curve of each pair, with chance level and p-value; without flat methods.
    resampled : mapping of str to Rankings
        The rankings of the resamples by each method.
    stability, stability_corrected : mapping of str to Stability
        Of each method over the resamples, raw and corrected for chance (None if the chance level of the measure has
        no closed form); NaN if at least half of the resamples are flat.
    comparisons : mapping of pair to StabilityComparison
        Stability of the second method minus that of the first, paired by resample, corrected values if there are any.
    top : tuple of TopFeature
        The features with the best mean rank.
    ranks : mapping of str to ItemRanks
        The ranks of the features over the resamples of each method, with intervals and tiers; without flat resamples,
        and without methods whose stability is undefined.
    flat, flat_resamples : tuple of str, mapping of str to int
        The methods with a flat ranking of all rows, and the number of flat resampled rankings of each method.
    settings : mapping of str to value
        The options of the study, the size of the data, and `area`, the name of the area.
    notes : tuple of str
        What to know about the data and the results.
    resumed : int
        The number of resamples that an earlier, interrupted run had finished.
    """

    rankings: Rankings
    matrix: Matrix
    curves: Mapping[Pair, Comparison]
    resampled: Mapping[str, Rankings]
    stability: Mapping[str, Stability]
    stability_corrected: Mapping[str, Stability] | None
    comparisons: Mapping[Pair, StabilityComparison]
    top: tuple[TopFeature, ...]
    ranks: Mapping[str, ItemRanks]
    flat: tuple[str, ...]
    flat_resamples: Mapping[str, int]
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    resumed: int = 0

    def _page(self) -> Page:
        from fujiscore.features import page

        return page.study(self)

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods."""
        return self.rankings.names

    @cached_property
    def corrected(self) -> Matrix | None:
        """The matrix corrected for chance, None if the chance level of the measure has no closed form."""
        return None if self.matrix.expected is None else self.matrix.as_corrected()

    @cached_property
    def p_values(self) -> Scores | None:
        """How often random rankings with the same scores are at least as similar; None without permutations.

        In the order of `methods`; NaN on the diagonal and for flat methods.
        """
        if not self.settings["permutations"]:
            return None
        values = np.full(self.matrix.raw.shape, np.nan)
        for (a, b), comparison in self.curves.items():
            i, j = self.methods.index(a), self.methods.index(b)
            values[i, j] = values[j, i] = comparison.p_value[self.matrix.measure]
        return read_only(values)

    def p_value(self, first: str, second: str) -> float | None:
        """Return the p-value of one pair, None without permutations."""
        values = self.p_values
        return None if values is None else float(values[self.methods.index(first), self.methods.index(second)])

    @cached_property
    def adjusted_p_values(self) -> Mapping[Pair, float]:
        """The p-values of the comparisons, adjusted for their number by Holm's method."""
        holm = adjusted([comparison.p_value for comparison in self.comparisons.values()], "holm")
        return dict(zip(self.comparisons, holm.tolist(), strict=True))

    def to_markdown(self) -> str:  # type: ignore[override]
        """Return a summary: the agreement of the methods, their stability, the top features, their tiers, and notes."""
        from fujiscore.features import report as study_report

        return study_report.markdown(self)

    def _data(self) -> dict[str, Any]:
        from fujiscore.features import report as study_report

        tables = {
            name.removesuffix(".csv"): [dict(zip(header, row, strict=True)) for row in rows]
            for name, (header, rows) in study_report.tables(self).items()
        }
        return {"measure": self.matrix.measure, **self.settings, **tables}

    def _metrics(self) -> dict[str, Any]:
        kinds = {"stability": self.stability, "stability_corrected": self.stability_corrected or {}}
        steady = {name: {method: one.value for method, one in kind.items()} for name, kind in kinds.items()}
        return {**steady, "similarity": {f"{a}-{b}": self.matrix[a, b] for a, b in self.curves}}

    __str__ = to_markdown

    def _charts(self) -> Sequence[Chart]:
        from fujiscore.features.charts import stability_chart

        agreement = charts_of(self.corrected or self.matrix) if len(self.methods) > 1 else []
        return [*agreement, stability_chart(self)]

    def _summary(self) -> list[str]:
        from fujiscore.features import report as study_report

        return study_report.summary(self)

    def _tables(self, rows: int | None) -> list[Table]:
        from fujiscore.features import report as study_report

        return study_report.shown(self, rows)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        pictures: bool | None = None,
        picture_format: str = "png",
        force: bool = False,
    ) -> list[Path]:
        """Write tables, figures and a summary to a folder, complete or not at all; return the files' paths.

        The folder is created if necessary. One that holds an earlier study, unchanged, is replaced; files that were
        not written by a study, or were changed since, are replaced only with force=True, and all others are kept.

        Parameters
        ----------
        folder : str or path-like
            The folder to write.
        pictures : bool, optional
            Whether to draw figures; by default if matplotlib is installed.
        picture_format : {"png", "svg", "pdf"}
            Format of the figures; text in the latter two can be edited.
        """
        from fujiscore.features import files as study_files

        return study_files.save(self, folder, pictures=pictures, picture_format=picture_format, force=force)


@takes(Execution, DESCRIPTIONS)
def study(
    X: Any,
    y: Any = None,
    methods: Any = None,
    *,
    measure: Any = "fuji",
    ks: Any = MANY_PAIRS,
    resamples: int = 20,
    scheme: Scheme | Any = "subsample",
    fraction: float = 0.8,
    permutations: int = 1000,
    confidence: float = 0.95,
    top: int = 10,
    features: Sequence[Hashable] | None = None,
    categorical: Any = None,
    task: Task = "auto",
    nan: Nan = "keep",
    groups: Any = None,
    trees: int = 200,
    random_state: Any = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    **work: Unpack[Execution],
) -> Study:
    """Rank the features of a data set by several methods, compare the rankings and judge their stability.

    Printing the result gives a summary; `.save(folder)` writes all tables and figures.

    Parameters
    ----------
    methods : sequence or mapping, optional
        Whatever `as_ranker` takes, or a mapping of names to it, as in `rank`; by default its four methods.
    resamples, scheme, fraction : int, {"subsample", "bootstrap", "folds", "time"} or splitter, float
        How often the methods are repeated, at least 3 times, and on what: a `fraction` of the rows of each class; as
        many rows with replacement; all but one of `resamples` folds; the first rows, in order of time, each resample
        longer than the one before. Except for "time", every class is in each resample. A splitter of scikit-learn,
        such as `GroupKFold(5)` or `TimeSeriesSplit(5)`, gives its own number of resamples: the training rows of its
        splits.
    groups : array-like, optional
        The group of each row, such as a patient or a site: groups are drawn as a whole, and classes are not balanced.
    permutations : int
        Number of random rankings per pair for the p-values; 0 for none.
    confidence : float
        Confidence level of the intervals.
    top : int
        Number of features to list, and depth of the top of a ranking.
    random_state : int, RandomState, Generator or None
        The seed; None for a fresh one. The result depends on it alone, not on threads or their order.
    checkpoint : path, optional
        A folder that keeps finished resamples, so that an interrupted run resumes. They are reused only for the same
        data, methods and options. One run at a time may use it.

    Returns
    -------
    Study
        With `.rankings`, `.matrix`, `.curves`, `.stability`, `.top`, `.notes` and `.save()`.

    Examples
    --------
    >>> import numpy as np
    >>> import fujiscore as fj
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> y = X[:, 0] > 0
    >>> result = fj.study(X, y, ["relief", "mutual_information"], resamples=5, permutations=99)
    >>> result.top[0].feature, bool(result.stability["relief"].value > 0.8)
    ('0', True)
    """
    # Imported here: the package imports this module, and few programs rank features.
    from fujiscore.features.resampling import overlap, plan, resampled_scores
    from fujiscore.rankers.ranking import METHODS, as_rankings, kept_warning_filters, ready, scores_of

    preparing: Any = {"categorical": categorical, "task": task, "nan": nan, "groups": groups, "names": features}
    table, rankers = ready(X, y, METHODS if methods is None else methods, **preparing)
    m = table.categorical.size
    if m < 2:
        raise InputError(
            f"{spelled('X')} must have at least 2 features to compare rankings of them; it has 1. Use rank."
        )
    seed, points, chosen = as_seed(random_state), grid(ks, m), find(measure)
    schedule = plan(table, resamples, scheme, fraction, seed)
    settings: dict[str, Any] = {
        "rows": table.rows,
        "features": m,
        "task": table.target.task,
        "classes": None if table.target.is_quantity else table.target.counts.size,
        "groups": None if table.groups is None else int(table.groups.max()) + 1,
        "resamples": schedule.count,
        "scheme": schedule.scheme,
        "fraction": schedule.fraction,
        "overlap": overlap(table, schedule),
        "permutations": integer("permutations", permutations),
        "confidence": proportion("confidence", confidence),
        "trees": integer("trees", trees, 1),
        "top": integer("top", top, 1),
        "random_state": seed,
        "ks": ks if isinstance(ks, str) else points.ks.tolist(),
        "area": "value over the whole list" if chosen.whole else points.area,
    }
    threads: Any = {"n_jobs": work.get("n_jobs"), "progress": work.get("progress")}
    with kept_warning_filters():
        scores = scores_of(table, rankers, settings["trees"], seed, **threads)
        drawn, resumed = resampled_scores(table, rankers, settings["trees"], schedule, checkpoint=checkpoint, **work)
    rankings = as_rankings(rankers, scores, table)
    names = [f"resample {i + 1}" for i in range(schedule.count)]
    resampled = {name: as_rankings(names, drawn[:, i], table) for i, name in enumerate(rankers)}
    result = _compared(rankings, resampled, chosen.name, settings, work)
    notes = dict.fromkeys((*table.notes, *schedule.notes, *_caveats(result, rankers)))
    return replace(result, notes=tuple(notes), resumed=resumed)


def _compared(
    rankings: Rankings, resampled: Mapping[str, Rankings], measure: str, settings: Mapping[str, Any], work: Any
) -> Study:
    """Return all comparisons of the rankings and of their resamples, without notes."""
    names, ks = rankings.names, settings["ks"]
    flat = tuple(ranking.name for ranking in rankings if is_flat(ranking, measure))
    flat_resamples = {name: sum(is_flat(ranking, measure) for ranking in resampled[name]) for name in names}
    drawing: Any = {"permutations": settings["permutations"], "random_state": settings["random_state"], **work}
    curves = {
        (a, b): compare(rankings[a], rankings[b], (measure,), ks=ks, **drawing)
        for a, b in combinations([name for name in names if name not in flat], 2)
    }
    closed = has_closed_form(find(measure))
    options: Any = {"measure": measure, "ks": ks, "corrected": closed, **work}
    pairs = {name: _all_pairs(resampled[name], options) for name in names}

    def stabilities(*, corrected: bool) -> dict[str, Stability]:
        kind = {name: matrix if corrected else matrix.as_raw() for name, matrix in pairs.items()}
        return {name: _stability(kind[name], settings["confidence"], flat_resamples[name]) for name in names}

    raw, corrected = stabilities(corrected=False), stabilities(corrected=True) if closed else None
    best = corrected or raw
    defined = [name for name in names if not np.isnan(best[name].value)]
    return Study(
        rankings=rankings,
        matrix=_blanked(_all_pairs(rankings, options).as_raw(), flat),
        curves=curves,
        resampled=resampled,
        stability=raw,
        stability_corrected=corrected,
        comparisons={(a, b): compare_stabilities(best[a], best[b], paired=True) for a, b in combinations(defined, 2)},
        top=top_features(rankings, resampled, settings["top"], measure),
        ranks=_ranks(resampled, measure, settings),
        flat=flat,
        flat_resamples=flat_resamples,
        settings=settings,
    )


def is_flat(ranking: Ranking, measure: str) -> bool:
    """Return whether a ranking does not tell items apart: equal scores, which for FUJI negative ones are, too."""
    return ranking.constant or (measure == "fuji" and ranking.best <= 0)


def _all_pairs(rankings: Rankings, options: Any) -> Matrix:
    """Compare all pairs; rankings without a score of at least 0 are all 0 to FUJI."""
    if options["measure"] == "fuji":
        members = [r if r.best >= 0 else Ranking.checked(r.name, np.zeros(r.n), r.items) for r in rankings]
        rankings = Rankings.of(members, rankings.labels, rankings.universe, rankings.notes)
    return pairwise(rankings, **options)


def _blanked(matrix: Matrix, flat: Sequence[str]) -> Matrix:
    """Return a matrix with NaN for flat rankings."""
    raw = matrix.raw.copy()
    positions = [matrix.names.index(name) for name in flat]
    raw[positions] = raw[:, positions] = np.nan
    return replace(matrix, raw=raw)


def _stability(matrix: Matrix, confidence: float, flat: int) -> Stability:
    """Return the stability of one method's resamples, NaN if at least half of them are flat."""
    result = of_pairs(matrix, confidence)
    if 2 * flat < len(matrix.names):
        return result
    return replace(result, value=np.nan, low=np.nan, high=np.nan, standard_error=np.nan)


def _ranks(resampled: Mapping[str, Rankings], measure: str, settings: Mapping[str, Any]) -> dict[str, ItemRanks]:
    """Return the ranks of the features over the resamples that are not flat, if they are more than half."""
    result = {}
    for name, sample in resampled.items():
        live = [ranking for ranking in sample if not is_flat(ranking, measure)]
        if 2 * len(live) > len(sample) and len(live) > 2:
            rankings = Rankings.of(live, sample.labels, sample.universe)
            result[name] = item_ranks(rankings, settings["top"], settings["confidence"])
    return result


def top_features(
    rankings: Rankings, resampled: Mapping[str, Rankings], top: int, measure: str
) -> tuple[TopFeature, ...]:
    """Return the features with the best mean rank over the methods that are not flat."""
    from scipy.stats import rankdata

    live = [ranking for ranking in rankings if not is_flat(ranking, measure)]
    if not live:
        return ()
    names = [ranking.name for ranking in live]
    ranks = np.array([rankdata(-ranking.scores) for ranking in live])
    drawn = [ranking for sample in resampled.values() for ranking in sample if not is_flat(ranking, measure)]
    within = np.array([rankdata(-ranking.scores, "max") <= top for ranking in (*live, *drawn)])
    in_top = within[: len(live)].sum(axis=0)
    frequency = within[len(live) :].mean(axis=0) if drawn else np.full(rankings.n, np.nan)
    mean = ranks.mean(axis=0)
    positions = np.argsort(mean, kind="stable")[:top].tolist()
    by_method = [dict(zip(names, ranks[:, position].tolist(), strict=True)) for position in positions]
    agreement = 1 - np.ptp(ranks, axis=0) / (rankings.n - 1)
    columns = (column[positions].tolist() for column in (in_top, agreement, frequency))
    labels = map(rankings.label, positions)
    return tuple(map(TopFeature, labels, mean[positions].tolist(), by_method, *columns))


def _caveats(result: Study, rankers: Rankers) -> list[str]:
    """Return what could mislead a reader of the results."""
    settings, notes = result.settings, []
    for name in result.flat:
        constant = result.rankings[name].constant
        what = "gives every feature the same score" if constant else "scores no feature above 0"
        notes.append(f"{name} {what}: it ranks nothing, so its agreement and its ranks are undefined")
    for name, count in result.flat_resamples.items():
        if count:
            undefined = np.isnan(result.stability[name].value)
            effect = "its stability is undefined" if undefined else "pairs of these raise its stability"
            notes.append(f"{name} ranks nothing in {count} of {settings['resamples']} resamples: {effect}")
    from fujiscore.rankers.ranking import shared_forest

    if len(shared_forest(rankers)) > 1:
        notes.append("genie3 and random_forest come from the same forest, which raises their agreement")
    if settings["scheme"] == "bootstrap":
        notes.append(
            "copies of rows in a bootstrap sample are neighbours and out-of-bag rows of each other, which raises the "
            f"scores of useless features several times; {spelled('scheme', 'subsample')} avoids it"
        )
    if settings["scheme"] in {"time", "TimeSeriesSplit"}:
        notes.append("the rows are assumed to be in order of time")
        notes.append("earlier resamples have fewer rows, which lowers the stability")
    if settings["top"] >= settings["features"]:
        notes.append(f"all {settings['features']} features are in the top {settings['top']}, whatever their ranks")
    least = 1 / (settings["permutations"] + 1)
    if settings["permutations"] and least > 0.999 * (1 - settings["confidence"]):  # 1 - 0.95 is not quite 0.05
        notes.append(f"with {settings['permutations']} permutations no p-value is below {least:.2g}")
    return list(dict.fromkeys([*notes, *result.matrix.notes]))
