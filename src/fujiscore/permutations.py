"""The permutation distribution of measures: s's scores dealt to the items at random. Imports measures and tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError
from fujiscore.measures import area, evaluate
from fujiscore.tiles import run, spans

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from fujiscore.measures import Measure
    from fujiscore.overlap import Overlap, Sizes
    from fujiscore.rankings import Scores

# Permutations a tile: fixed, so that sums over them do not depend on the number of workers.
TILE = 50
# A permuted value this close to the observed one counts as equal to it.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Permutations:
    """What permuted rankings gave.

    Attributes
    ----------
    count : int
        How many permutations were drawn.
    aucs : ndarray
        The area under the curve for each.
    mean, variance : ndarray
        At each k.
    at_least : ndarray of int64
        At each k, how many came out at least as large as the observed value.
    """

    count: int
    aucs: Scores
    mean: Scores
    variance: Scores
    at_least: Sizes


def permute(
    overlap: Overlap,
    measures: Sequence[Measure],
    permutations: int,
    *,
    random_state: int = 0,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
) -> dict[str, Permutations]:
    """Deal s's scores to the items at random, time and again, and collect what each measure gives."""
    count = _natural("permutations", permutations)
    if count == 0:
        return {}
    seeds = np.random.SeedSequence(_natural("random_state", random_state)).generate_state(count, np.uint64)
    observed = [evaluate(measure, overlap) for measure in measures]
    overlap.s.tie_groups  # noqa: B018 - once, before the threads share it
    tiles = [(overlap, measures, observed, seeds[start:stop]) for start, stop in spans(count, TILE)]
    parts = run(_permuted, tiles, n_jobs=n_jobs, executor=executor, progress=progress, label="permutations")
    drawn = {}
    for i, measure in enumerate(measures):
        aucs = np.concatenate([part[i].aucs for part in parts])
        mean = np.sum([part[i].mean for part in parts], axis=0) / count
        variance = np.sum([part[i].variance for part in parts], axis=0) / count - (mean - observed[i]) ** 2
        at_least = np.sum([part[i].at_least for part in parts], axis=0)
        drawn[measure.name] = Permutations(count, aucs, mean, np.maximum(variance, 0.0), at_least)
    return drawn


def _permuted(
    overlap: Overlap, measures: Sequence[Measure], observed: Sequence[Scores], seeds: Sequence[np.uint64]
) -> list[Permutations]:
    """One tile of permutations: sums of values, and of squares about the observed, in place of mean and variance."""
    points = overlap.k1.size
    aucs = np.empty((len(measures), len(seeds)))
    sums, squares = np.zeros((2, len(measures), points))
    at_least = np.zeros((len(measures), points), np.int64)
    for t, seed in enumerate(seeds):
        dealt = overlap.shuffled(seed)
        for i, measure in enumerate(measures):
            values = evaluate(measure, dealt)
            aucs[i, t] = area(values)
            sums[i] += values
            squares[i] += (values - observed[i]) ** 2
            at_least[i] += values >= observed[i] - ROUNDING
    return [Permutations(len(seeds), aucs[i], sums[i], squares[i], at_least[i]) for i in range(len(measures))]


def _natural(argument: str, value: Any) -> int:
    """Return a non-negative integer argument."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise InputError(f"{argument} must be a non-negative integer; got {value!r}.")
    return int(value)
