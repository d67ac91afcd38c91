"""From a table to an answer: which features matter, do methods agree beyond chance, how stable is each.

Imports rankers, comparisons and statistics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from fujiscore.compare import Comparison, compare
from fujiscore.errors import InputError, first_few, integer, proportion, spelled
from fujiscore.measures import find
from fujiscore.null import has_closed_form
from fujiscore.overlap import grid
from fujiscore.pairwise import Matrix, pairwise
from fujiscore.rankers.ranking import METHODS, as_rankings, kept_warning_filters, ready, scores_of, shared_forest
from fujiscore.ranking import Ranking, Rankings
from fujiscore.resampling import plan, resampled_scores
from fujiscore.seeds import as_seed
from fujiscore.stability import Stability, StabilityComparison, compare_stabilities, of_pairs

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable, Mapping, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from fujiscore.coercion import Scores
    from fujiscore.rankers.features import Features
    from fujiscore.rankers.ranking import Rankers

    Pair: TypeAlias = tuple[str, str]

Scheme: TypeAlias = Literal["subsample", "bootstrap", "folds"]


@dataclass(frozen=True)
class TopFeature:
    """A feature near the top; flat methods and resamples (see `Study`) are left out.

    Attributes
    ----------
    feature : hashable
        Its name.
    mean_rank : float
        Mean of its ranks over the methods; 1 is best, equal scores share the mean of their ranks.
    ranks : mapping of str to float
        Its rank by each method.
    in_top : int
        Number of methods that have it in their top: at most that many features score as high.
    agreement : float
        1 if all methods give it the same rank, 0 if one ranks it first and another last.
    frequency : float
        Fraction of the resampled rankings that have it in their top.
    """

    feature: Hashable
    mean_rank: float
    ranks: Mapping[str, float]
    in_top: int
    agreement: float
    frequency: float


@dataclass(frozen=True, eq=False)
class Study:
    """Rankings of the features of one data set by several methods, compared and judged.

    A ranking is flat if it does not tell features apart: all scores are equal, or, for FUJI, none is above 0. Two
    flat rankings would agree perfectly, so what involves a flat ranking is NaN or left out.

    Attributes
    ----------
    rankings : Rankings
        One ranking per method, of all rows; signed scores.
    matrix, corrected : Matrix, Matrix or None
        The area of every pair, raw and corrected for chance (None if the chance level of the measure has no closed
        form); NaN for flat methods.
    curves : mapping of pair to Comparison
        The measure's curve of each pair, with chance level and p-value; without flat methods.
    p_values : ndarray or None
        In the order of `matrix.names`: how often random rankings with the same scores are at least as similar; NaN
        on the diagonal and for flat methods. None without permutations.
    resampled : mapping of str to Rankings
        The rankings of the resamples by each method.
    stability, stability_corrected : mapping of str to Stability
        Of each method over the resamples, raw and corrected (None without a closed form); NaN if at least half of
        the resamples are flat.
    comparisons : mapping of pair to StabilityComparison
        Stability of the second method minus that of the first, paired by resample, corrected values if there are any.
    adjusted_p_values : mapping of pair to float
        The p-values of the comparisons, adjusted for their number by Holm's method.
    top : tuple of TopFeature
        The features with the best mean rank.
    flat : tuple of str
        The methods with a flat ranking of all rows.
    flat_resamples : mapping of str to int
        Number of flat resampled rankings of each method.
    notes : tuple of str
        What to know about the data and the results.
    settings : mapping of str to value
        The options of the study, the size of the data, and `area`, the name of the area.
    """

    rankings: Rankings
    matrix: Matrix
    corrected: Matrix | None
    curves: Mapping[Pair, Comparison]
    p_values: Scores | None
    resampled: Mapping[str, Rankings]
    stability: Mapping[str, Stability]
    stability_corrected: Mapping[str, Stability] | None
    comparisons: Mapping[Pair, StabilityComparison]
    adjusted_p_values: Mapping[Pair, float]
    top: tuple[TopFeature, ...]
    flat: tuple[str, ...]
    flat_resamples: Mapping[str, int]
    notes: tuple[str, ...]
    settings: Mapping[str, Any]

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods."""
        return self.rankings.names

    def p_value(self, first: str, second: str) -> float | None:
        """Return the p-value of one pair, None without permutations."""
        if self.p_values is None:
            return None
        return float(self.p_values[self.methods.index(first), self.methods.index(second)])

    def __str__(self) -> str:
        """Return the summary."""
        return self.to_markdown()

    def to_markdown(self) -> str:
        """Return a summary: the agreement of the methods, their stability, the top features, and notes."""
        from fujiscore import study_report

        return study_report.markdown(self)

    def save(self, folder: str | os.PathLike[str], *, pictures: bool | None = None) -> list[Path]:
        """Write tables, figures and a summary to a folder, which is created if necessary; return the files' paths.

        Files of the same names are replaced atomically. By default figures are drawn if matplotlib is installed.
        """
        from fujiscore import study_report

        return study_report.save(self, folder, pictures=pictures)


def study(
    X: Any,
    y: Any = None,
    methods: Any = METHODS,
    *,
    measure: Any = "fuji",
    ks: Any = "exp",
    resamples: int = 20,
    scheme: Scheme = "subsample",
    fraction: float = 0.8,
    permutations: int = 1000,
    confidence: float = 0.95,
    top: int = 10,
    features: Sequence[Hashable] | None = None,
    categorical: Any = None,
    trees: int = 200,
    random_state: Any = 0,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> Study:
    """Rank the features of a data set by several methods, compare the rankings and judge their stability.

    Parameters
    ----------
    X, y, methods, features, categorical, trees
        As in `rank`.
    measure, ks
        As in `pairwise`.
    resamples : int
        Number of resamples on which the methods are repeated, at least 3. Every class is in each of them.
    scheme : {"subsample", "bootstrap", "folds"}
        A `fraction` of the rows of each class; as many rows with replacement; all but one of `resamples` folds.
    fraction : float
        The fraction of a subsample.
    permutations : int
        Number of random rankings per pair for the p-values; 0 for none.
    confidence : float
        Confidence level of the intervals.
    top : int
        Number of features to list, and depth of the top of a ranking.
    random_state : int, RandomState, Generator or None
        The seed; None for a fresh one. The result depends on it alone, not on threads or their order.
    n_jobs, executor, progress
        Threads (None: all cores), or any concurrent.futures Executor, for resamples and permutations; progress bars.
    resume : path, optional
        A folder that keeps finished resamples, so that an interrupted run resumes. They are reused only for the same
        data, methods and options.

    Returns
    -------
    Study
        Printing it gives a summary; `.save(folder)` writes all tables and figures.

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
    table, rankers = ready(X, y, methods, features, categorical)
    m = table.categorical.size
    if m < 2:
        raise InputError("X must have at least 2 features for their rankings to be compared; it has 1. Use rank.")
    number, deepest, seed = integer("trees", trees, 1), integer("top", top, 1), as_seed(random_state)
    draws, level, points = integer("permutations", permutations), proportion("confidence", confidence), grid(ks, m)
    chosen = find(measure)
    schedule = plan(table.codes, resamples, scheme, fraction, seed)
    work: Any = {"n_jobs": n_jobs, "executor": executor, "progress": progress}
    with kept_warning_filters():
        scores = scores_of(table, rankers, number, seed, n_jobs=n_jobs, progress=progress)
        drawn = resampled_scores(table, rankers, number, schedule, resume=resume, **work)
    settings = {
        "rows": int(table.codes.size),
        "features": m,
        "classes": int(table.counts.size),
        "resamples": schedule.count,
        "scheme": schedule.scheme,
        "fraction": schedule.fraction,
        "permutations": draws,
        "confidence": level,
        "trees": number,
        "top": deepest,
        "random_state": seed,
        "ks": ks if isinstance(ks, str) else points.ks.tolist(),
        "area": "value over the whole list" if chosen.whole else points.area,
    }
    rankings = as_rankings(rankers, scores, table)
    names = [f"resample {i + 1}" for i in range(schedule.count)]
    resampled = {name: as_rankings(names, drawn[:, i], table) for i, name in enumerate(rankers)}
    result = _compared(rankings, resampled, chosen.name, settings, work)
    return replace(result, notes=(*table.notes, *_caveats(result, table, rankers)))


def _compared(
    rankings: Rankings, resampled: Mapping[str, Rankings], measure: str, settings: Mapping[str, Any], work: Any
) -> Study:
    """Return all comparisons of the rankings and of their resamples, without notes."""
    names, ks, draws = rankings.names, settings["ks"], settings["permutations"]
    flat = tuple(name for name, scores in zip(names, rankings.scores, strict=True) if is_flat(scores, measure))
    flat_resamples = {name: sum(is_flat(scores, measure) for scores in resampled[name].scores) for name in names}
    drawing: Any = {"permutations": draws, "random_state": settings["random_state"], **work}
    curves = {
        (a, b): compare(rankings[a], rankings[b], (measure,), ks=ks, **drawing)
        for a, b in combinations([name for name in names if name not in flat], 2)
    }
    options: Any = {"measure": measure, "ks": ks, **work}
    pairs = {name: _matrices(resampled[name], options) for name in names}
    stable = [
        {name: _stability(pairs[name][kind], settings["confidence"], flat_resamples[name]) for name in names}
        for kind in range(len(pairs[names[0]]))
    ]
    defined = [name for name in names if not np.isnan(stable[-1][name].value)]
    comparisons = {
        (a, b): compare_stabilities(stable[-1][a], stable[-1][b], paired=True) for a, b in combinations(defined, 2)
    }
    adjusted = holm([comparison.p_value for comparison in comparisons.values()])
    matrices = [_blanked(matrix, flat) for matrix in _matrices(rankings, options)]
    return Study(
        rankings,
        matrices[0],
        matrices[1] if len(matrices) > 1 else None,
        curves,
        _p_values(names, curves, measure) if draws else None,
        resampled,
        stable[0],
        stable[1] if len(stable) > 1 else None,
        comparisons,
        dict(zip(comparisons, adjusted, strict=True)),
        top_features(rankings, resampled, settings["top"], measure),
        flat,
        flat_resamples,
        (),
        settings,
    )


def is_flat(scores: Scores, measure: str) -> bool:
    """Return whether a ranking does not tell items apart: equal scores, which for FUJI negative ones are, too."""
    counted = np.maximum(scores, 0.0) if measure == "fuji" else scores
    return bool(counted.min() == counted.max())


def _matrices(rankings: Rankings, options: Any) -> list[Matrix]:
    """Return the areas of all pairs, and, if the chance level has a closed form, those corrected for chance."""
    closed = has_closed_form(find(options["measure"]))
    counted = _counted(rankings) if options["measure"] == "fuji" else rankings
    matrix = pairwise(counted, corrected=closed, **options)
    return [matrix.as_raw(), matrix] if closed else [matrix]


def _counted(rankings: Rankings) -> Rankings:
    """Return the rankings with zeros for those without a score of at least 0, which FUJI takes as all 0."""
    members = [
        ranking if ranking.scores.max() >= 0 else Ranking.checked(ranking.name, np.zeros(ranking.n), ranking.items)
        for ranking in rankings
    ]
    return Rankings.of(members, rankings.labels, rankings.universe, rankings.notes)


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


def _p_values(names: Sequence[str], curves: Mapping[Pair, Comparison], measure: str) -> Scores:
    """Return the permutation p-values of all pairs."""
    values = np.full((len(names), len(names)), np.nan)
    for (a, b), comparison in curves.items():
        i, j = names.index(a), names.index(b)
        values[i, j] = values[j, i] = comparison.p_value[measure]
    return values


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm's step-down method."""
    order = np.argsort(p_values)
    steps = np.asarray(p_values, np.float64)[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(value) for value in adjusted]


def top_features(
    rankings: Rankings, resampled: Mapping[str, Rankings], top: int, measure: str
) -> tuple[TopFeature, ...]:
    """Return the features with the best mean rank over the methods that are not flat."""
    from scipy.stats import rankdata

    named = zip(rankings.names, rankings.scores, strict=True)
    scores = {name: ranking for name, ranking in named if not is_flat(ranking, measure)}
    if not scores:
        return ()
    ranks = np.array([rankdata(-ranking) for ranking in scores.values()])
    drawn = [ranking for name in resampled for ranking in resampled[name].scores if not is_flat(ranking, measure)]
    within = np.array([rankdata(-ranking, "max") <= top for ranking in (*scores.values(), *drawn)])
    in_top, frequency = within[: len(scores)].sum(axis=0), np.full(rankings.n, np.nan)
    if drawn:
        frequency = within[len(scores) :].mean(axis=0)
    span = max(rankings.n - 1, 1)
    mean = ranks.mean(axis=0)
    return tuple(
        TopFeature(
            rankings.label(position),
            float(mean[position]),
            dict(zip(scores, ranks[:, position].tolist(), strict=True)),
            int(in_top[position]),
            float(1 - np.ptp(ranks[:, position]) / span),
            float(frequency[position]),
        )
        for position in np.argsort(mean, kind="stable")[:top].tolist()
    )


def _caveats(result: Study, table: Features, rankers: Rankers) -> list[str]:
    """Return what could mislead a reader of the results."""
    settings, notes = result.settings, []
    for name in result.flat:
        scores = result.rankings.scores[result.methods.index(name)]
        constant = scores.min() == scores.max()
        what = "gives every feature the same score" if constant else "scores no feature above 0"
        notes.append(f"{name} {what}: it ranks nothing, so its agreement and its ranks are undefined")
    for name, count in result.flat_resamples.items():
        if count:
            undefined = np.isnan(result.stability[name].value)
            effect = "its stability is undefined" if undefined else "pairs of these raise its stability"
            notes.append(f"{name} ranks nothing in {count} of {settings['resamples']} resamples: {effect}")
    if len(shared_forest(rankers)) > 1:
        notes.append("genie3 and random_forest come from the same forest, which raises their agreement")
    foreign = [name for name, ranker in rankers.items() if not ranker.built_in]
    if foreign and table.categorical.any():
        notes.append(f"categories are passed as codes 0, 1, ..., in sorted order, to {first_few(foreign)}")
    if settings["scheme"] == "bootstrap":
        notes.append(
            "copies of rows in a bootstrap sample are neighbours and out-of-bag rows of each other, which raises the "
            f"scores of useless features several times; {spelled('scheme', 'subsample')} avoids it"
        )
    if settings["top"] >= settings["features"]:
        notes.append(f"all {settings['features']} features are in the top {settings['top']}, whatever their ranks")
    least = 1 / (settings["permutations"] + 1)
    if settings["permutations"] and least > 0.999 * (1 - settings["confidence"]):  # 1 - 0.95 is not quite 0.05
        notes.append(f"with {settings['permutations']} permutations no p-value is below {least:.2g}")
    return list(dict.fromkeys([*notes, *getattr(result.matrix, "notes", ())]))
