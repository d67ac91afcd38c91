"""Mutual information between each feature and the class, by Ross's estimator. Imports kernels and features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore._kernels as _kernels
from fujiscore.errors import integer
from fujiscore.rankers.columns import renumbered
from fujiscore.rankers.features import prepare
from fujiscore.seeds import as_random_state
from fujiscore.tiles import progress_bar, spread, workers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fujiscore.rankers.features import Features, Scores

FEATURES_AT_ONCE = 64
# Relative to the standard deviation, or to the mean magnitude where that is larger: it separates equal values.
NOISE = 1e-10
TINY_EXPONENT = -33
HUGE_EXPONENT = 500


def mutual_information(
    X: Any,
    y: Any = None,
    *,
    neighbours: int = 3,
    categorical: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Scores:
    """Score features by their mutual information with the class, in nats: 0 or more, a negative estimate counts as 0.

    Numbers: Ross's nearest-neighbour estimate, after scaling to unit standard deviation and adding noise of 1e-10 to
    separate equal values, which gives what scikit-learn's `mutual_info_classif` gives with the same seed. Categories:
    the mutual information of the table of counts.

    Parameters
    ----------
    X, y, categorical, n_jobs, progress
        As in `relief`, but without missing values.
    neighbours : int
        Number of neighbours within the class that set the width; more give less variance and more bias.
    random_state : int, RandomState, Generator or None
        Seed of the noise; None for a fresh one.

    Examples
    --------
    >>> import numpy as np
    >>> from fujiscore.rankers import mutual_information
    >>> X = np.array([[1.0, 1], [2, 5], [3, 3], [7, 2], [8, 4], [9, 6]])
    >>> mutual_information(X, [0, 0, 0, 1, 1, 1], neighbours=1).round(4)
    array([0.7833, 0.    ])
    """
    k, threads = integer("neighbours", neighbours, 1), workers(n_jobs)
    features = prepare(X, y, categorical)
    features.require_complete("mutual_information")
    scores = np.zeros(features.categorical.size)
    _numeric(features, k, as_random_state(random_state), threads, progress, scores)
    for column in np.flatnonzero(features.categorical):
        scores[column] = _of_counts(renumbered(features.values[:, column].astype(np.int64)), features)
    return np.maximum(scores, 0.0, out=scores)


def _numeric(
    features: Features, k: int, random: np.random.RandomState, threads: int, progress: bool | None, scores: Scores
) -> None:
    """Write the estimates of the numeric features."""
    from scipy.special import digamma as digamma_of

    numeric = np.flatnonzero(~features.categorical)
    if not numeric.size:
        return
    n = features.rows
    noise = random.standard_normal((n, numeric.size))
    # A class of one member has no neighbours: its row is dropped.
    counts = np.where(features.target.counts > 1, features.target.counts, 0)
    kept = np.flatnonzero(counts[features.target.values])
    codes = features.target.values[kept]
    ends = np.cumsum(counts)
    digamma = np.concatenate([[0.0], digamma_of(np.arange(1.0, n + 1))])  # undefined at 0
    near = np.maximum(np.minimum(k, counts - 1), 0)
    of_near, of_counts = (float(digamma[numbers] @ counts / kept.size) for numbers in (near, counts))
    constant = digamma[kept.size] + of_near - of_counts

    def work(_: int, task: int) -> None:
        block = slice(task * FEATURES_AT_ONCE, (task + 1) * FEATURES_AT_ONCE)
        x = _spaced(features.values[:, numeric[block]], noise[:, block])[:, kept]
        means = np.empty(x.shape[0])
        order = np.argsort(x, axis=1)
        _kernels.neighbours.mean_digamma(x, order, codes, ends - counts, ends, k, digamma, means)
        scores[numeric[block]] = constant - means
        finished(x.shape[0])

    with progress_bar(numeric.size, "mutual information", progress=progress) as finished:
        spread(-(-numeric.size // FEATURES_AT_ONCE), work, threads)


def _spaced(values: Scores, noise: Scores) -> Scores:
    """Return (feature, row) values scaled and with noise, with scikit-learn's own operations, bit by bit."""
    x = np.array(values.T, order="C")
    # Powers of 2 change no digit: very small numbers would count as constant, and squares of very large ones overflow.
    exponent = np.frexp(np.abs(x).max(axis=1))[1]
    x = np.ldexp(x, np.where((exponent < TINY_EXPONENT) | (exponent > HUGE_EXPONENT), -exponent, 0)[:, None])
    deviation = np.nanstd(x.T, axis=0)
    x /= np.where(deviation < 10 * np.finfo(np.float64).eps, 1.0, deviation)[:, None]
    x += (NOISE * np.maximum(1, np.mean(np.abs(x.T), axis=0)))[:, None] * noise.T
    return x


def _of_counts(codes: NDArray[np.int64], features: Features) -> float:
    """Return the mutual information of the classes and one feature's categories."""
    levels = int(codes.max()) + 1
    classes = features.target.counts.size
    cells = np.bincount(codes * classes + features.target.values, minlength=levels * classes)
    shares = cells.reshape(levels, -1) / codes.size
    expected = shares.sum(axis=1)[:, None] * shares.sum(axis=0)
    some = shares > 0
    return float((shares[some] * np.log(shares[some] / expected[some])).sum())
