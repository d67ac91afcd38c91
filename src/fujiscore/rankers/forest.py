"""Genie3 and random forest importance, from one forest of scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import fujiscore._kernels as _kernels
from fujiscore.errors import InputError, MissingExtraError, choice, integer, spelled
from fujiscore.rankers.columns import renumbered
from fujiscore.rankers.features import DESCRIPTIONS, Features, Scores, described_columns, prepare
from fujiscore.text.docstrings import documented
from fujiscore.work.seeds import as_seed
from fujiscore.work.tiles import progress_bar, shows_progress, spread, workers

if TYPE_CHECKING:
    from fujiscore.rankers.targets import Target, Task

METHODS = ("genie3", "random_forest")
# Squares of larger numbers, and their sums, may overflow.
LARGEST = 1e150
# Smaller numbers than 2 to this have variances that scikit-learn treats as 0.
TINY_EXPONENT = -10
# float32 has fewer than 1000 steps in a range below this share of the numbers in it.
NARROW = 2.0**-14
OF_FORESTS = f"""{DESCRIPTIONS}
X : array, dataframe, sparse matrix or Features, shape (n, m)
    Numbers without missing values; categories are split by the order of their codes.
"""


@partial(documented, descriptions=OF_FORESTS)
def genie3(
    X: Any,
    y: Any = None,
    *,
    trees: int = 200,
    categorical: Any = None,
    task: Task = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Scores:
    """Score features by Genie3: the impurity decrease of their splits in a random forest, from 0 to 1.

    The impurity is Gini's for classes and the variance for a quantity. The forest is scikit-learn's
    `RandomForestClassifier` or `RandomForestRegressor`: fully grown trees, the square root of the number of features
    tried at each split. A quantity is centred first, as scikit-learn's variances lose digits where the mean is large.
    As its trees use float32, a feature whose range is much smaller than its values is shifted to start at 0.
    Scores sum to 1 unless no tree has a split; a feature that no tree uses has 0. `forest_scores` gives the scores of
    both methods from the same forest.

    Returns
    -------
    ndarray of float64, shape (m,)
        Between 0 and 1, higher is better.

    Examples
    --------
    >>> import numpy as np
    >>> from fujiscore.rankers import genie3
    >>> X = np.array([[1.0, 1], [2, 5], [3, 3], [7, 2], [8, 4], [9, 6]])
    >>> bool(genie3(X, [0, 0, 0, 1, 1, 1]).argmax() == 0)
    True
    """
    options: Any = {"trees": trees, "categorical": categorical, "task": task}
    options |= {"random_state": random_state, "n_jobs": n_jobs, "progress": progress}
    return forest_scores(X, y, ("genie3",), **options)["genie3"]


@partial(documented, descriptions=OF_FORESTS)
def random_forest(
    X: Any,
    y: Any = None,
    *,
    trees: int = 200,
    restore: bool = True,
    categorical: Any = None,
    task: Task = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Scores:
    """Score features by Breiman's permutation importance: by how much the out-of-bag error grows if they are permuted.

    Mean over the trees of a random forest (as in `genie3`) of the error on the tree's out-of-bag rows with the
    feature's values permuted, less the error on the same rows as they are. For classes the error is the share of wrong
    ones: scores are from -1 to 1. For a quantity it is the mean squared error, in squared units of y. A score of 0 or
    below is no better than noise.

    Returns
    -------
    ndarray of float64, shape (m,)
        Higher is better.
    """
    options: Any = {"trees": trees, "categorical": categorical, "task": task}
    options |= {"random_state": random_state, "n_jobs": n_jobs, "progress": progress}
    return forest_scores(X, y, ("random_forest",), restore=restore, **options)["random_forest"]


@partial(documented, descriptions=OF_FORESTS)
def forest_scores(
    X: Any,
    y: Any = None,
    methods: Sequence[str] = METHODS,
    *,
    trees: int = 200,
    restore: bool = True,
    categorical: Any = None,
    task: Task = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> dict[str, Scores]:
    """Return the scores of "genie3", "random_forest" or both by name, from one forest.

    Each method's scores are those of its own function.

    Parameters
    ----------
    methods : sequence of {"genie3", "random_forest"}
        The methods.

    Returns
    -------
    dict of str to ndarray of float64, shape (m,)
        The scores by method, higher is better.
    """
    for method in methods:
        choice("methods", method, METHODS)
    number, seed, threads = integer("trees", trees, 1), as_seed(random_state), workers(n_jobs)
    label = " and ".join(methods)
    features = prepare(X, y, categorical, task=task)
    features.require_complete(label)
    x, response = _as_float32(features), _response(features.target)
    with progress_bar(number, label, progress=progress) as finished:
        batch = max(threads, number // 20) if shows_progress(progress=progress) else number
        forest = _fit(x, response, number, seed, threads, batch, finished)
    compute = {
        "genie3": lambda: np.asarray(forest.feature_importances_, np.float64),
        "random_forest": lambda: _permutation(forest, x, response, seed, threads, restore=restore),
    }
    return {method: compute[method]() for method in methods}


@dataclass(frozen=True, eq=False)
class Response:
    """What a forest predicts: the numbers of classes, or a quantity, centred and scaled by 2^-exponent."""

    values: NDArray[Any]
    squared: bool
    exponent: int = 0


def _response(target: Target) -> Response:
    """Return the target for a forest."""
    if not target.is_quantity:
        return Response(target.values, squared=False)
    values = target.values
    if np.abs(values).max() > LARGEST:
        raise InputError(
            f"{spelled('y')} must be at most {LARGEST:g} in magnitude for a forest's squared errors. Rescale it."
        )
    values = values - values.mean()
    # To scikit-learn a node is pure if its variance is below 2e-16, whatever the unit; powers of 2 change no digit.
    exponent = int(np.frexp(np.abs(values).max())[1])
    exponent = exponent if exponent < TINY_EXPONENT else 0
    return Response(np.ldexp(values, -exponent), squared=True, exponent=exponent)


def _as_float32(features: Features) -> NDArray[np.float32]:
    """Return the values in the precision of scikit-learn's trees, row by row, with category codes without gaps."""
    low, high = features.values.min(axis=0), features.values.max(axis=0)
    largest = np.maximum(np.abs(low), np.abs(high))
    too_large = largest > np.finfo(np.float32).max
    if too_large.any():
        some = described_columns(too_large, features.names, "exceeds it", "exceed it")
        raise InputError(f"{spelled('X')} must be within float32's range (3.4e38) for a forest; {some}. Rescale.")
    x = np.ascontiguousarray(features.values, np.float32)
    narrow = high - low < NARROW * largest
    x[:, narrow] = features.values[:, narrow] - low[narrow]
    for column in np.flatnonzero(features.categorical):
        x[:, column] = renumbered(features.values[:, column].astype(np.int64))
    return x


def _fit(
    x: NDArray[np.float32], response: Response, trees: int, seed: int, threads: int, batch: int, finished: Any
) -> Any:
    """Grow the forest, in batches for the progress bar; the batches do not change it."""
    try:
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    except ImportError:
        raise MissingExtraError("genie3 and random_forest need scikit-learn: pip install 'fujiscore[ml]'") from None
    options: Any = {"max_features": "sqrt", "random_state": seed, "n_jobs": threads, "warm_start": batch < trees}
    forest = (RandomForestRegressor if response.squared else RandomForestClassifier)(0, **options)
    while forest.n_estimators < trees:
        before = forest.n_estimators
        forest.n_estimators = min(before + batch, trees)
        forest.fit(x, response.values)
        finished(forest.n_estimators - before)
    return forest


def _permutation(
    forest: Any, x: NDArray[np.float32], response: Response, seed: int, threads: int, *, restore: bool
) -> Scores:
    """Return the mean increase of the out-of-bag error over the trees that have out-of-bag rows."""
    bags = forest.estimators_samples_
    losses: list[Any] = [None] * len(bags)
    count = _kernels.forest.losses if restore else _kernels.forest.accumulated_losses
    columns, y = np.ascontiguousarray(x.T), response.values.astype(np.float64)

    def work(_: int, number: int) -> None:
        rows = np.delete(np.arange(y.size), bags[number])
        tree, used = _arrays(forest.estimators_[number].tree_, squared=response.squared)
        lost = np.zeros(used.size)
        count(x, columns, y, response.squared, rows, tree, used, seed, number, lost)
        if rows.size:
            losses[number] = (used, lost / rows.size)

    spread(len(bags), work, threads)
    known = [loss for loss in losses if loss is not None]
    scores = np.zeros(x.shape[1])
    for used, loss in known:
        scores[used] += loss
    return np.ldexp(scores / max(1, len(known)), 2 * response.exponent)


def _arrays(tree: Any, *, squared: bool) -> tuple[Any, NDArray[np.int64]]:
    """Return a tree for the kernels, and the features it uses as they first appear, depth first."""
    feature = tree.feature
    inner = feature >= 0
    used, first, inverse = np.unique(feature[inner], return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    slots = np.zeros(feature.size, np.int64)
    slots[inner] = np.argsort(appearance)[inverse]
    prediction = tree.value[:, 0, 0] if squared else np.argmax(tree.value[:, 0, :], axis=1).astype(np.float64)
    arrays = (tree.children_left, tree.children_right, feature, tree.threshold, slots, prediction)
    return _kernels.forest.Tree(*(np.ascontiguousarray(array) for array in arrays)), used[appearance].astype(np.int64)
