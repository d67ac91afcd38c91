"""From a table to an answer: which features matter, do methods agree beyond chance, how stable is each.

Imports rankers, comparisons and statistics.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from fujiscore.chance import has_closed_form
from fujiscore.compare import Comparison, compare
from fujiscore.errors import InputError
from fujiscore.measures import find
from fujiscore.pairwise import Matrix, pairwise
from fujiscore.rankers.data import at_least_one
from fujiscore.seeds import as_seed
from fujiscore.rankings import Rankings
from fujiscore.stability import Stability, StabilityComparison, compare_stabilities, stability
from fujiscore.studies.ranking import METHODS, as_rankings, kept_warning_filters, ready, scores_of
from fujiscore.studies.resampling import plan, resampled_scores

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable, Mapping, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from fujiscore.rankings import Scores
    from fujiscore.studies.resampling import Plan

    Pair: TypeAlias = tuple[str, str]

Scheme: TypeAlias = Literal["subsample", "bootstrap", "folds"]


@dataclass(frozen=True)
class TopFeature:
    """A feature near the top.

    Attributes
    ----------
    feature : hashable
        Its name.
    mean_rank : float
        The mean of its ranks by all methods; 1 is best, equal scores share the mean of their ranks.
    ranks : mapping of str to float
        Its rank by each method.
    in_top : int
        How many methods have it in their top: at most that many features score as high.
    agreement : float
        1 if all methods give it the same rank, 0 if it is first with one and last with another.
    frequency : float
        The share of all resampled rankings that have it in their top.
    """

    feature: Hashable
    mean_rank: float
    ranks: Mapping[str, float]
    in_top: int
    agreement: float
    frequency: float


@dataclass(frozen=True, eq=False)
class Study:
    """Rankings of one data set's features by several methods, compared and judged.

    Attributes
    ----------
    rankings : Rankings
        Of all rows, one a method; signed scores.
    matrix, corrected : Matrix, Matrix or None
        Every pair's area under the curve, raw and corrected for chance (None: the measure has no closed form of its
        chance level). Equal scores at a cut are ordered by column (ties="stable"); a note says where that matters.
    curves : mapping of pair to Comparison
        The measure's curve of each pair, with its chance level and p-value.
    p_values : ndarray or None
        In the order of `matrix.names`: how often random rankings with the same scores are at least as similar; NaN
        on the diagonal. None without permutations.
    resampled : mapping of str to Rankings
        Each method's rankings of the resamples.
    stability, stability_corrected : mapping of str to Stability
        Of each method over the resamples, raw and corrected (the latter None where there is no closed form).
    comparisons : mapping of pair to StabilityComparison
        The second's stability less the first's, paired on the same resamples: of the corrected values where there
        are any.
    adjusted_p_values : mapping of pair to float
        The comparisons' p-values, adjusted for their number by Holm's method.
    top : tuple of TopFeature
        The features with the best mean rank.
    notes : tuple of str
        What to know about the data and the results.
    settings : mapping of str to value
        What was asked for.
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
    notes: tuple[str, ...]
    settings: Mapping[str, Any]

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods' names."""
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
        from fujiscore.studies import files as study_files

        return study_files.markdown(self)

    def save(self, folder: str | os.PathLike[str], *, pictures: bool | None = None) -> list[Path]:
        """Write tables, pictures and a summary to a folder, each file whole or not at all; return their paths.

        Parameters
        ----------
        folder : str or path-like
            Made if it is not there; files of the same names are replaced.
        pictures : bool, optional
            Whether to draw; None for if matplotlib is installed.
        """
        from fujiscore.studies import files as study_files

        return study_files.save(self, folder, pictures=pictures)


def study(
    X: Any,
    y: Any,
    methods: Any = METHODS,
    *,
    measure: str = "fuji",
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
        On how many resamples the methods are repeated, at least 3. Every class is in each of them.
    scheme : {"subsample", "bootstrap", "folds"}
        A `fraction` of the rows of each class; as many rows with replacement; all but one of `resamples` folds. The
        copies of rows in a bootstrap count as neighbours and out-of-bag rows of each other: with the methods named
        here they raise the scores of useless features several times over.
    fraction : float
        The share of a subsample.
    permutations : int
        Random rankings a pair for the p-values; 0 for none.
    confidence : float
        Of the intervals.
    top : int
        How many features to list, and how far down the top of a ranking reaches.
    random_state : int
        The seed. The result depends on it alone, not on threads or their order.
    n_jobs, executor, progress
        Threads (None: all cores), or any concurrent.futures Executor, for resamples and permutations; progress bars.
    resume : path, optional
        A folder that keeps finished resamples, so that a run that was stopped goes on where it was. They are used
        again only for the same data, methods and options.

    Returns
    -------
    Study
        With `.rankings`, `.matrix`, `.corrected`, `.p_values`, `.curves`, `.stability`, `.comparisons`, `.top`,
        `.to_markdown()` and `.save(folder)`.

    Examples
    --------
    >>> import numpy as np
    >>> from fujiscore.studies.study import study
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> y = X[:, 0] > 0
    >>> found = study(X, y, ["relief", "mutual_information"], resamples=5, permutations=99)
    >>> found.top[0].feature, bool(found.stability["relief"].value > 0.8)
    ('0', True)
    """
    held, chosen = ready(X, y, methods, features, categorical)
    seed = as_seed(random_state)
    number, deepest = at_least_one("trees", trees), at_least_one("top", top)
    kinds = (False, True) if has_closed_form(find(measure)) else (False,)
    if held.values.shape[1] < 2:
        raise InputError("X must have at least 2 features for their rankings to be compared; it has 1. Use rank.")
    scheduled = plan(held.codes, resamples, scheme, fraction, seed)
    work: Any = {"n_jobs": n_jobs, "executor": executor, "progress": progress}
    compared: Any = {"measure": measure, "ks": ks, **work}
    with kept_warning_filters():
        whole = scores_of(held, chosen, number, seed, n_jobs=n_jobs, progress=progress)
        scores = resampled_scores(held, chosen, number, scheduled, resume=resume, **work)
    rankings = as_rankings(held, chosen, whole)
    curves = _curves(rankings, measure, {"ks": ks, "permutations": permutations, "random_state": seed, **work})
    matrices = [pairwise(rankings, corrected=kind, **compared) for kind in kinds]
    resampled = _resampled(rankings, scores)
    stable = [
        {own: stability(resampled[own], corrected=kind, confidence=confidence, **compared) for own in rankings.names}
        for kind in kinds
    ]
    comparisons = {
        (a, b): compare_stabilities(stable[-1][a], stable[-1][b], paired=True)
        for a, b in combinations(rankings.names, 2)
    }
    return Study(
        rankings,
        matrices[0],
        matrices[1] if len(kinds) > 1 else None,
        curves,
        _p_values(rankings.names, curves, measure) if permutations else None,
        resampled,
        stable[0],
        stable[1] if len(kinds) > 1 else None,
        comparisons,
        dict(zip(comparisons, holm([own.p_value for own in comparisons.values()]), strict=True)),
        top_features(rankings, resampled, deepest),
        (*held.notes, *_tie_notes(curves)),
        _settings(held.codes, rankings.n, scheduled, number, permutations, confidence, deepest),
    )


def _curves(rankings: Rankings, measure: str, options: dict[str, Any]) -> dict[Pair, Comparison]:
    """Compare every pair of rankings."""
    return {
        (a, b): compare(rankings[a], rankings[b], (measure,), negative="clip", **options)
        for a, b in combinations(rankings.names, 2)
    }


def _settings(
    codes: Any, m: int, scheduled: Plan, trees: int, permutations: int, confidence: float, top: int
) -> dict[str, Any]:
    """Return what was asked for, and of how much data."""
    return {
        "rows": int(codes.size),
        "features": m,
        "classes": int(codes.max()) + 1,
        "resamples": scheduled.count,
        "scheme": scheduled.scheme,
        "fraction": scheduled.fraction,
        "permutations": int(permutations),
        "confidence": confidence,
        "trees": trees,
        "top": top,
        "random_state": scheduled.seed,
    }


def _resampled(rankings: Rankings, scores: Scores) -> dict[str, Rankings]:
    """Return the resampled rankings of each method."""
    names = tuple(f"resample {i + 1}" for i in range(len(scores)))
    return {
        method: Rankings(names, tuple(np.ascontiguousarray(own) for own in scores[:, at]), rankings.items)
        for at, method in enumerate(rankings.names)
    }


def _p_values(names: Sequence[str], curves: Mapping[Pair, Comparison], measure: str) -> Scores:
    """Return the permutation p-values of all pairs."""
    values = np.full((len(names), len(names)), np.nan)
    for (a, b), found in curves.items():
        at = names.index(a), names.index(b)
        values[at] = values[at[::-1]] = found.p_value[measure]
    return values


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm's step-down method."""
    order = np.argsort(p_values)
    steps = np.asarray(p_values, np.float64)[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(value) for value in adjusted]


def top_features(rankings: Rankings, resampled: Mapping[str, Rankings], top: int) -> tuple[TopFeature, ...]:
    """Return the features with the best mean rank."""
    from scipy.stats import rankdata

    ranks = np.array([rankdata(-own) for own in rankings.scores])
    within = np.array([rankdata(-own, "max") <= top for own in rankings.scores])
    drawn = [rankdata(-own, "max") <= top for held in resampled.values() for own in held.scores]
    frequency = np.mean(drawn, axis=0)
    span = max(rankings.n - 1, 1)
    mean = ranks.mean(axis=0)
    return tuple(
        TopFeature(
            rankings.label(at),
            float(mean[at]),
            dict(zip(rankings.names, ranks[:, at].tolist(), strict=True)),
            int(within[:, at].sum()),
            float(1 - np.ptp(ranks[:, at]) / span),
            float(frequency[at]),
        )
        for at in np.argsort(mean, kind="stable")[:top].tolist()
    )


def _tie_notes(curves: Mapping[Pair, Comparison]) -> list[str]:
    """Say where equal scores made the order of the columns matter."""
    cut = [f"{a} and {b}" for (a, b), found in curves.items() if found.ties_cut]
    if not cut:
        return []
    where = f"equal scores straddle the top k for some k ({', '.join(cut)})"
    return [f"{where}: the columns' order decides there, and the chance level takes ties as broken at random"]
