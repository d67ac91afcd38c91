"""Mutual information between each feature and the target, by nearest neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import fujiscore._kernels as _kernels
from fujiscore.errors import integer
from fujiscore.rankers.columns import renumbered
from fujiscore.rankers.features import Features, Scores, described, prepare
from fujiscore.work.seeds import as_random_state
from fujiscore.work.tiles import progress_bar, spread, workers

if TYPE_CHECKING:
    from fujiscore.rankers.targets import Task

    Estimators: TypeAlias = tuple[Callable[[Scores], Scores], Callable[[NDArray[np.int64]], float]]

FEATURES_AT_ONCE = 64
# Relative to the standard deviation, or to the mean magnitude where that is larger: it separates equal values.
NOISE = 1e-10
TINY_EXPONENT = -33
HUGE_EXPONENT = 500


@described
def mutual_information(
    X: Any,
    y: Any = None,
    *,
    neighbours: int = 3,
    categorical: Any = None,
    task: Task = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Scores:
    """Score features by their mutual information with the target, in nats: 0 or more, a negative estimate counts as 0.

    Numbers and classes: Ross's nearest-neighbour estimate, after scaling numbers to unit standard deviation and adding
    noise of 1e-10 to separate equal values. Two numbers: Kraskov's, after the same. Categories and classes: the mutual
    information of the table of counts. The scores are those of scikit-learn's `mutual_info_classif` and
    `mutual_info_regression` with the same seed, except that small classes and categories (at most 2 * neighbours + 1
    rows) are exact here, where scikit-learn's distances may lose digits.

    Parameters
    ----------
    X : array, dataframe, sparse matrix or Features, shape (n, m)
        Numbers without missing values. Columns of a categorical, enum or boolean type, and those in `categorical`, are
        categorical.
    neighbours : int
        Number of neighbours that set the width, among rows of the same class or category if there are any; more give
        less variance and more bias. Where there are fewer, all are used.
    random_state : int, RandomState, Generator or None
        Seed of the noise; None for a fresh one.

    Returns
    -------
    ndarray of float64, shape (m,)
        At least 0, in nats; higher is better.

    Examples
    --------
    >>> import numpy as np
    >>> from fujiscore.rankers import mutual_information
    >>> X = np.array([[1.0, 1], [2, 5], [3, 3], [7, 2], [8, 4], [9, 6]])
    >>> mutual_information(X, [0, 0, 0, 1, 1, 1], neighbours=1).round(4)
    array([0.7833, 0.    ])
    >>> mutual_information(X, [1.5, 2.5, 3.5, 7.5, 8.5, 9.5], neighbours=1).round(4)
    array([1.1167, 0.    ])
    """
    k, threads = integer("neighbours", neighbours, 1), workers(n_jobs)
    features = prepare(X, y, categorical, task=task)
    features.require_complete("mutual_information")
    random = as_random_state(random_state)
    scores, numeric = np.zeros(features.categorical.size), np.flatnonzero(~features.categorical)
    noise = random.standard_normal((features.rows, numeric.size))
    estimators = _for_quantity if features.target.is_quantity else _for_classes
    of_numbers, of_categories = estimators(features, k, random)

    def work(_: int, number: int) -> None:
        block = slice(number * FEATURES_AT_ONCE, (number + 1) * FEATURES_AT_ONCE)
        scores[numeric[block]] = of_numbers(_spaced(features.values[:, numeric[block]], noise[:, block]))
        finished(numeric[block].size)

    with progress_bar(numeric.size, "mutual information", progress=progress) as finished:
        spread(-(-numeric.size // FEATURES_AT_ONCE), work, threads)
    for column in np.flatnonzero(features.categorical):
        scores[column] = of_categories(renumbered(features.values[:, column].astype(np.int64)))
    return np.maximum(scores, 0.0, out=scores)


def _for_classes(features: Features, k: int, _: np.random.RandomState) -> Estimators:
    """Return the estimates of the information on classes: of numbers (feature, row), and of the codes of categories."""

    def of_categories(codes: NDArray[np.int64]) -> float:
        levels, classes = int(codes.max()) + 1, features.target.counts.size
        cells = np.bincount(codes * classes + features.target.values, minlength=levels * classes)
        shares = cells.reshape(levels, -1) / codes.size
        expected = shares.sum(axis=1)[:, None] * shares.sum(axis=0)
        some = shares > 0
        return float((shares[some] * np.log(shares[some] / expected[some])).sum())

    return Ross(features.target.values, k), of_categories


def _for_quantity(features: Features, k: int, random: np.random.RandomState) -> Estimators:
    """Return the same for a quantity."""
    n = features.rows
    y = _spaced(features.target.values[:, None], random.standard_normal((n, 1)))[0]
    order, near, digamma = np.argsort(y), min(k, n - 1), _digamma(n)

    def of_numbers(x: Scores) -> Scores:
        means, x = np.empty(x.shape[0]), x[:, order]
        _kernels.neighbours.mean_digammas(x, np.argsort(x, axis=1), y[order], near, digamma, means)
        return np.asarray(digamma[n] + digamma[near] - means)

    return of_numbers, lambda codes: Ross(codes, k)(y[None])[0]


class Ross:
    """Ross's estimate of the mutual information of categories, given as codes, and numbers."""

    def __init__(self, codes: NDArray[Any], k: int) -> None:
        counts = np.bincount(codes)
        # A category of one member has no neighbours: its row is dropped.
        self.counts = np.where(counts > 1, counts, 0)
        self.rows = np.flatnonzero(self.counts[codes])
        self.codes, self.k = codes[self.rows], k
        self.digamma = _digamma(codes.size)
        near = np.maximum(np.minimum(k, self.counts - 1), 0)
        of_near, of_counts = (
            float(self.digamma[numbers] @ self.counts / max(1, self.rows.size)) for numbers in (near, self.counts)
        )
        self.constant = self.digamma[self.rows.size] + of_near - of_counts

    def __call__(self, x: Scores) -> Scores:
        """Return the estimates for numbers of shape (feature, row); 0 if no category has two members."""
        means = np.zeros(x.shape[0])
        if self.rows.size:
            x, ends = x[:, self.rows], np.cumsum(self.counts)
            starts, order = ends - self.counts, np.argsort(x, axis=1)
            _kernels.neighbours.mean_digamma(x, order, self.codes, starts, ends, self.k, self.digamma, means)
        return np.asarray(self.constant - means)


def _digamma(n: int) -> Scores:
    """Return the digamma function of 0 (undefined: 0), 1, ..., n."""
    from scipy.special import digamma

    return np.concatenate([[0.0], digamma(np.arange(1.0, n + 1))])


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
