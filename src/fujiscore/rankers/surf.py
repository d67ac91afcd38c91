"""SURF and MultiSURF: Relief with all instances within a radius as neighbours."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore._kernels as _kernels
from fujiscore.rankers.features import Features, Scores, prepare
from fujiscore.rankers.relief import OF_DISTANCES, Varying, scaled_to_range
from fujiscore.text.docstrings import documented
from fujiscore.work.tiles import progress_bar, spread, workers

if TYPE_CHECKING:
    from fujiscore.rankers.targets import Task


@partial(documented, descriptions=OF_DISTANCES)
def surf(
    X: Any,
    y: Any = None,
    *,
    categorical: Any = None,
    task: Task = "auto",
    random_state: Any = None,  # noqa: ARG001
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Scores:
    """Score features by SURF: Relief with every instance nearer than the mean distance as a neighbour.

    Score = mean over instances of (mean difference to near misses - mean difference to near hits), with the
    differences and distances of `relief`; the misses of all other classes count together. If the target is a quantity,
    a hit is an instance whose target is less than one standard deviation away (Urbanowicz and others, 2018). It takes
    about five times as long as `relief`.

    Returns
    -------
    ndarray of float64, shape (m,)
        Between -1 and 1, higher is better; about 0 or below is no better than noise. 0 for a constant feature.

    Examples
    --------
    >>> import numpy as np
    >>> from fujiscore.rankers import surf
    >>> X = np.array([[0.0, 5], [1, 9], [10, 5], [9, 8]])
    >>> surf(X, ["a", "a", "b", "b"]).round(4)
    array([ 0.8 , -0.75])
    """
    return _scores(prepare(X, y, categorical, task=task), workers(n_jobs), progress, "surf")


@partial(documented, descriptions=OF_DISTANCES)
def multisurf(
    X: Any,
    y: Any = None,
    *,
    categorical: Any = None,
    task: Task = "auto",
    random_state: Any = None,  # noqa: ARG001
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Scores:
    """Score features by MultiSURF: SURF with a radius of each instance's own.

    The radius is the mean of an instance's distances less half of their standard deviation. Otherwise as `surf`; it
    takes about four times as long as `relief`.

    Returns
    -------
    ndarray of float64, shape (m,)
        Between -1 and 1, higher is better; about 0 or below is no better than noise. 0 for a constant feature.
    """
    return _scores(prepare(X, y, categorical, task=task), workers(n_jobs), progress, "multisurf")


def _scores(features: Features, threads: int, progress: bool | None, name: str) -> Scores:
    """Return the scores, strip by strip of rows; the strips are added in their order."""
    n, tile = features.rows, _kernels.relief.TILE
    varying = scaled_to_range(features, np.arange(n))
    strips = [(start, min(start + tile, n)) for start in range(0, n, tile)]
    numeric = np.zeros((len(strips), varying.numeric.size))
    nominal = np.zeros((len(strips), varying.nominal.size))
    target, bound = features.target.values.astype(np.float64), 0.5  # hits are less than the bound apart
    if features.target.is_quantity:
        target = np.ldexp(target, -int(np.frexp(np.abs(target).max())[1]))  # squares do not overflow
        bound = float(target.std(ddof=1))

    def work(_: int, number: int) -> None:
        start, end = strips[number]
        lines = _distances(varying, start, end)
        _kernels.surf.near_weights(lines, start, target, bound, limit)
        _kernels.surf.numeric_sums(varying.scaled, start, end, lines, numeric[number])
        _kernels.surf.nominal_sums(varying.codes, varying.unknown, start, end, lines, nominal[number])
        finished(2)

    with progress_bar((3 if name == "surf" else 2) * len(strips), name, progress=progress) as finished:
        limit = _mean_distance(varying, strips, threads, finished) if name == "surf" else np.nan
        spread(len(strips), work, threads)
    return varying.scattered(numeric.sum(axis=0), nominal.sum(axis=0))


def _distances(varying: Varying, start: int, end: int) -> Scores:
    """Return the distances between some rows and all rows."""
    lines = np.empty((end - start, varying.halves.size))
    table = (varying.scaled, varying.codes, varying.unknown, varying.halves)
    _kernels.surf.strip_distances(*table, start, end, lines)
    return lines


def _mean_distance(varying: Varying, strips: list[tuple[int, int]], threads: int, finished: Any) -> float:
    """Return the mean distance of two instances."""
    n = varying.halves.size
    sums = np.empty(n)

    def work(_: int, number: int) -> None:
        start, end = strips[number]
        _kernels.surf.sum_lines(_distances(varying, start, end), start, sums[start:end])
        finished(1)

    spread(len(strips), work, threads)
    return float(sums.sum() / (n * (n - 1)))
