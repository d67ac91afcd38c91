"""Genie3 and random forest importance, from one forest of scikit-learn. Imports kernels and features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore._kernels as _kernels
from fujiscore.errors import InputError, MissingExtraError, choice, integer
from fujiscore.rankers.columns import renumbered
from fujiscore.rankers.features import described_columns, prepare
from fujiscore.seeds import as_seed
from fujiscore.tiles import progress_bar, shows_progress, spread, workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fujiscore.rankers.features import Features, Scores

METHODS = ("genie3", "random_forest")


def genie3(
    X: Any,
    y: Any = None,
    *,
    trees: int = 200,
    categorical: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Scores:
    """Score features by Genie3: the impurity decrease of their splits in a random forest, from 0 to 1.

    The forest is scikit-learn's `RandomForestClassifier`: fully grown trees, the square root of the number of features
    tried at each split. Scores sum to 1 unless no tree has a split; a feature that no tree uses has 0.
    `forest_scores` gives the scores of both methods from the same forest.

    Parameters
    ----------
    X, y, categorical, n_jobs, progress
        As in `relief`, but without missing values; categories are split by the order of their codes.
    trees : int
        Number of trees.
    random_state : int, RandomState, Generator or None
        Seed of the forest; None for a fresh one.

    Examples
    --------
    >>> import numpy as np
    >>> from fujiscore.rankers import genie3
    >>> X = np.array([[1.0, 1], [2, 5], [3, 3], [7, 2], [8, 4], [9, 6]])
    >>> bool(genie3(X, [0, 0, 0, 1, 1, 1]).argmax() == 0)
    True
    """
    options = {"trees": trees, "categorical": categorical, "random_state": random_state, "n_jobs": n_jobs}
    return forest_scores(X, y, ("genie3",), progress=progress, **options)["genie3"]


def random_forest(
    X: Any,
    y: Any = None,
    *,
    trees: int = 200,
    restore: bool = True,
    categorical: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Scores:
    """Score features by Breiman's permutation importance: the out-of-bag accuracy lost when they are permuted.

    Mean over the trees of a random forest (as in `genie3`) of the accuracy on the tree's out-of-bag rows less the
    accuracy on the same rows with the feature's values permuted: from -1 to 1, 0 or below is no better than noise.

    Parameters
    ----------
    restore : bool
        Whether a feature's values are put back before the next one is permuted. False lets the damage accumulate along
        the features of a tree (depth first), as in the rankings published with FUJI; it is slow.
    X, y, trees, categorical, random_state, n_jobs, progress
        As in `genie3`.
    """
    options = {"trees": trees, "categorical": categorical, "random_state": random_state, "n_jobs": n_jobs}
    return forest_scores(X, y, ("random_forest",), restore=restore, progress=progress, **options)["random_forest"]


def forest_scores(
    X: Any,
    y: Any = None,
    methods: Sequence[str] = METHODS,
    *,
    trees: int = 200,
    restore: bool = True,
    categorical: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> dict[str, Scores]:
    """Return the scores of "genie3", "random_forest" or both by name, from one forest.

    Each method's scores are those of its own function; other arguments are those of `random_forest`.
    """
    for method in methods:
        choice("methods", method, METHODS)
    number, seed, threads = integer("trees", trees, 1), as_seed(random_state), workers(n_jobs)
    label = " and ".join(methods)
    features = prepare(X, y, categorical)
    features.require_complete(label)
    x = _as_float32(features)
    with progress_bar(number, label, progress=progress) as finished:
        batch = max(threads, number // 20) if shows_progress(progress=progress) else number
        forest = _fit(x, features.target.values, number, seed, threads, batch, finished)
    compute = {
        "genie3": lambda: np.asarray(forest.feature_importances_, np.float64),
        "random_forest": lambda: _permutation(forest, x, features.target.values, seed, threads, restore=restore),
    }
    return {method: compute[method]() for method in methods}


def _as_float32(features: Features) -> NDArray[np.float32]:
    """Return the values in the precision of scikit-learn's trees, row by row, with category codes without gaps."""
    too_large = (np.abs(features.values) > np.finfo(np.float32).max).any(axis=0)
    if too_large.any():
        columns = described_columns(too_large, features.names, "exceed", "exceed")
        raise InputError(f"X must be within float32's range (3.4e38) for a forest; {columns} it. Rescale them.")
    x = np.ascontiguousarray(features.values, np.float32)
    for column in np.flatnonzero(features.categorical):
        x[:, column] = renumbered(features.values[:, column].astype(np.int64))
    return x


def _fit(
    x: NDArray[np.float32], codes: NDArray[np.int32], trees: int, seed: int, threads: int, batch: int, finished: Any
) -> Any:
    """Grow the forest, in batches for the progress bar; the batches do not change it."""
    try:
        from sklearn.ensemble import RandomForestClassifier
    except ImportError:
        raise MissingExtraError("genie3 and random_forest need scikit-learn: pip install 'fujiscore[ml]'") from None
    options = {"max_features": "sqrt", "random_state": seed, "n_jobs": threads, "warm_start": batch < trees}
    forest = RandomForestClassifier(0, **options)
    while forest.n_estimators < trees:
        before = forest.n_estimators
        forest.n_estimators = min(before + batch, trees)
        forest.fit(x, codes)
        finished(forest.n_estimators - before)
    return forest


def _permutation(
    forest: Any, x: NDArray[np.float32], codes: NDArray[np.int32], seed: int, threads: int, *, restore: bool
) -> Scores:
    """Return the mean loss of out-of-bag accuracy over the trees that have out-of-bag rows."""
    bags = forest.estimators_samples_
    losses: list[Any] = [None] * len(bags)
    count = _kernels.forest.losses if restore else _kernels.forest.accumulated_losses
    columns = np.ascontiguousarray(x.T)

    def work(_: int, number: int) -> None:
        rows = np.delete(np.arange(codes.size), bags[number])
        tree, used = _arrays(forest.estimators_[number].tree_)
        lost = np.zeros(used.size, np.int64)
        count(x, columns, codes, rows, tree, used, seed, number, lost)
        if rows.size:
            losses[number] = (used, lost / rows.size)

    spread(len(bags), work, threads)
    known = [loss for loss in losses if loss is not None]
    scores = np.zeros(x.shape[1])
    for used, loss in known:
        scores[used] += loss
    return scores / max(1, len(known))


def _arrays(tree: Any) -> tuple[Any, NDArray[np.int64]]:
    """Return a tree for the kernels, and the features it uses as they first appear, depth first."""
    feature = tree.feature
    inner = feature >= 0
    used, first, inverse = np.unique(feature[inner], return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    slots = np.zeros(feature.size, np.int64)
    slots[inner] = np.argsort(appearance)[inverse]
    label = np.argmax(tree.value[:, 0, :], axis=1)
    arrays = (tree.children_left, tree.children_right, feature, tree.threshold, slots, label)
    return _kernels.forest.Tree(*(np.ascontiguousarray(array) for array in arrays)), used[appearance].astype(np.int64)
