"""A table of features and a target to one ranking a method: `rank`. Imports rankers, rankings and tiles."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fujiscore.errors import InputError
from fujiscore.rankers import as_ranker, forest_scores
from fujiscore.rankers.adapt import RANKERS
from fujiscore.rankers.data import at_least_one, listed_columns, prepare
from fujiscore.rankers.forest import METHODS as FOREST
from fujiscore.seeds import as_seed
from fujiscore.rankings import Rankings, align

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    from fujiscore.rankings import Scores

    Methods: TypeAlias = dict[str, Any]

METHODS = tuple(RANKERS)
# Text with more distinct numbers in it than this is numbers written as text; with fewer it may be codes of categories.
MOST_NUMERIC_CATEGORIES = 10
# How scikit-learn begins to complain when forests that grow on several threads have emptied each other's filters.
SPURIOUS = r"`sklearn\.utils\.parallel\.delayed` should be used with"


@dataclass(frozen=True, eq=False)
class Features:
    """A table and its classes, checked: what every method is given.

    Attributes
    ----------
    values : ndarray of float64, shape (n, m)
        The features; categories as codes, missing values as NaN.
    categorical : ndarray of bool, shape (m,)
        Which features are categorical.
    names : sequence
        The features' names.
    codes : ndarray of int32, shape (n,)
        The class of each row.
    notes : tuple of str
        What a reader of the results should know about the data.
    """

    values: Scores
    categorical: NDArray[np.bool_]
    names: Sequence[Hashable]
    codes: NDArray[np.int32]
    notes: tuple[str, ...]

    def at(self, rows: NDArray[np.int64]) -> Features:
        """Return some of the rows."""
        return Features(self.values[rows], self.categorical, self.names, self.codes[rows], self.notes)


def rank(
    X: Any,
    y: Any,
    methods: Any = METHODS,
    *,
    features: Sequence[Hashable] | None = None,
    categorical: Any = None,
    trees: int = 200,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Rankings:
    """Rank the features of a data set by several methods.

    Parameters
    ----------
    X : array or dataframe, shape (n, m)
        The features. Columns of text, categories and bools are categorical; missing values only where a method can
        use them (of the four named ones: relief).
    y : array-like, shape (n,)
        The class of each row.
    methods : sequence or mapping
        Names ("relief", "mutual_information", "genie3", "random_forest"), functions of (X, y), and scikit-learn
        estimators with `feature_importances_` or `coef_`; or a mapping of the rankings' names to these. Functions and
        estimators are given X as float64 (categories as codes 0, 1, ...) and y as codes. "genie3" and
        "random_forest" share one forest.
    features : sequence, optional
        The features' names, if X does not carry them.
    categorical : mask, positions or names, optional
        Further columns to treat as categorical.
    trees : int
        The size of the forest of "genie3" and "random_forest".
    random_state : int
        The seed.
    n_jobs : int, optional
        Threads; None for all cores. The scores do not depend on it.
    progress : bool, optional
        Whether to show progress bars; None for on a terminal, once the work takes a while.

    Returns
    -------
    Rankings
        One ranking a method, the features as items, signed scores as the methods give them: pass negative="clip"
        where they are compared.

    Examples
    --------
    >>> import numpy as np
    >>> from fujiscore.studies.ranking import rank
    >>> X = np.array([[0.0, 5], [1, 9], [10, 5], [9, 8]])
    >>> found = rank(X, ["a", "a", "b", "b"], ["relief"], features=["size", "noise"])
    >>> found.names, found.items, found["relief"].round(4)
    (('relief',), ['size', 'noise'], array([ 0.8  , -0.375]))
    """
    held, chosen = ready(X, y, methods, features, categorical)
    number = at_least_one("trees", trees)
    with kept_warning_filters():
        scores = scores_of(held, chosen, number, as_seed(random_state), n_jobs=n_jobs, progress=progress)
    return as_rankings(held, chosen, scores)


@contextmanager
def kept_warning_filters() -> Iterator[None]:
    """Restore the caller's warning filters after work on threads, and drop the warning that their loss causes.

    Each thread of a scikit-learn forest sets and restores the process's one list of filters, so that threads empty
    each other's. The filter below is the first that scikit-learn puts back, and the hook serves while there is none.
    """
    with warnings.catch_warnings():
        show = warnings.showwarning

        def shown(message: Any, *details: Any, **options: Any) -> None:
            if not str(message).startswith(SPURIOUS.replace("\\", "")):
                show(message, *details, **options)

        warnings.filterwarnings("ignore", SPURIOUS, UserWarning)
        warnings.showwarning = shown
        yield


def as_rankings(features: Features, methods: Methods, scores: Scores) -> Rankings:
    """Return one method's scores a row as rankings of the features."""
    held = align(list(scores), list(methods), negative="clip")
    return Rankings(held.names, held.scores, list(features.names))


def ready(
    X: Any,
    y: Any,
    methods: Any,
    names: Sequence[Hashable] | None,
    categorical: Any,
) -> tuple[Features, Methods]:
    """Return the checked table and the methods by name; missing values need methods that can use them."""
    held, chosen = prepared(X, y, names, categorical), named_methods(methods)
    strict = [name for name, method in chosen.items() if isinstance(method, str) and method != "relief"]
    lacking = np.flatnonzero(np.isnan(held.values).any(axis=0)).tolist()
    if strict and lacking:
        raise InputError(
            f"{' and '.join(strict)} cannot use missing values; {listed_columns(lacking, held.names)} "
            f"{'has' if len(lacking) == 1 else 'have'} some. Fill them in, leave those rows or columns out, or rank "
            "with relief, which can."
        )
    return held, chosen


def named_methods(methods: Any) -> Methods:
    """Return the methods by name, each checked before any work is done."""
    if isinstance(methods, Mapping):
        chosen = {str(name): method for name, method in methods.items()}
    else:
        listed = list(methods) if isinstance(methods, (list, tuple)) else [methods]
        names = [_name(method) for method in listed]
        repeated = next((name for at, name in enumerate(names) if name in names[:at]), None)
        if repeated is not None:
            raise InputError(f"methods must have different names; {repeated!r} occurs twice. Pass a dict of names.")
        chosen = dict(zip(names, listed, strict=True))
    if not chosen:
        raise InputError("methods must hold at least one method; got none.")
    for method in chosen.values():
        as_ranker(method)
    return chosen


def _name(method: Any) -> str:
    """Return a method's own name."""
    if isinstance(method, str):
        return method
    return str(getattr(method, "__name__", type(method).__name__))


def scores_of(
    features: Features,
    methods: Methods,
    trees: int,
    seed: int,
    *,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Scores:
    """Return one row of scores a method; the two forest methods share one forest."""
    work: Any = {"n_jobs": n_jobs, "progress": progress, "categorical": features.categorical}
    forest = tuple(dict.fromkeys(own for own in methods.values() if isinstance(own, str) and own in FOREST))
    found: dict[str, Scores] = {}
    if forest:
        found = forest_scores(features.values, features.codes, forest, trees=trees, random_state=seed, **work)
    rows = []
    for method in methods.values():
        if isinstance(method, str) and method in found:
            rows.append(found[method])
        else:
            options = work if isinstance(method, str) else {}
            rows.append(as_ranker(method, **options)(features.values, features.codes, seed))
    return np.array(rows)


def prepared(X: Any, y: Any, names: Sequence[Hashable] | None, categorical: Any) -> Features:
    """Return the checked table, with what should be known about it."""
    text = _text_columns(X)
    table, classes = prepare(X, y, _with(categorical, text, X))
    m = table.values.shape[1]
    own = list(names) if names is not None else list(table.names or map(str, range(m)))
    if len(own) != m or len(set(own)) < m:
        raise InputError(f"features must name each of the {m} columns of X once; got {len(own)} names.")
    notes = [f"text taken as categories: {_listed(text)}"] if text else []
    notes += _notes(table.values, table.categorical, own) + _class_notes(classes.counts)
    return Features(table.values, table.categorical, own, classes.codes, tuple(notes))


def _text_columns(X: Any) -> list[str]:
    """Return the text columns of a dataframe; numbers written as text are an error."""
    import narwhals as nw

    if not nw.dependencies.is_into_dataframe(X):
        return []
    names = X.column_names if hasattr(X, "column_names") else list(X.columns)
    if len(set(names)) < len(names):
        return []  # the check of the table says which
    frame = nw.from_native(X, eager_only=True)
    text = [name for name, kind in frame.schema.items() if kind == nw.String]
    for name in text:
        distinct = {value for value in frame[name].to_list() if isinstance(value, str)}
        if len(distinct) > MOST_NUMERIC_CATEGORIES and sum(map(_is_number, distinct)) * 2 >= len(distinct):
            odd = next((value for value in distinct if not _is_number(value)), None)
            found = "all of it numbers" if odd is None else f"most of it numbers, but also {odd!r}"
            raise InputError(
                f"X must hold numbers as numbers; column {name!r} holds text, {found}. Convert it, or give it a "
                "categorical type."
            )
    return text


def _is_number(text: str) -> bool:
    """Return whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _with(categorical: Any, text: list[str], X: Any) -> Any:
    """Return the columns that are categorical by request or because they hold text."""
    if not text or categorical is None:
        return text or categorical
    chosen = [categorical] if isinstance(categorical, (str, int)) else list(categorical)
    if chosen and all(isinstance(entry, (bool, np.bool_)) for entry in chosen):
        names = X.column_names if hasattr(X, "column_names") else list(X.columns)
        if len(chosen) != len(names):
            return chosen  # the check of the table says so
        return [bool(entry) or name in text for entry, name in zip(chosen, names, strict=True)]
    return [*chosen, *text]


def _notes(values: Scores, categorical: NDArray[np.bool_], names: Sequence[Hashable]) -> list[str]:
    """Return what is odd about the columns; a category of its own in every row is an error."""
    lowest, highest = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    present = values.shape[0] - np.isnan(values).sum(axis=0)
    levels = np.where(categorical, highest + 1, 0)
    labels = np.flatnonzero(categorical & (levels == present) & (present > 2))
    if labels.size:
        raise InputError(
            f"X must hold features; {listed_columns(labels.tolist(), names)} has a category of its own in every row, "
            "as an identifier has. Leave it out."
        )
    notes = []
    many = np.flatnonzero(levels * 2 > np.maximum(present, 4)).tolist()
    if many:
        notes.append(
            f"more than half as many categories as rows, which favours them with mutual information: "
            f"{_listed([names[at] for at in many])}"
        )
    empty = np.flatnonzero(present == 0).tolist()
    if empty:
        notes.append(f"no value at all: {_listed([names[at] for at in empty])}")
    constant = np.flatnonzero((lowest == highest) & (present > 0)).tolist()
    if constant:
        notes.append(f"constant, so no method can use them: {_listed([names[at] for at in constant])}")
    counted = np.flatnonzero(~categorical & (highest - lowest == values.shape[0] - 1)).tolist()
    counted = [at for at in counted if (np.abs(np.diff(values[:, at])) == 1).all() and values.shape[0] > 2]
    if counted:
        notes.append(f"counts the rows, and says nothing but their order: {_listed([names[at] for at in counted])}")
    return notes


def _class_notes(counts: NDArray[np.int64]) -> list[str]:
    """Return what is odd about the classes."""
    notes = []
    if counts.size > max(20, counts.sum() / 10):
        notes.append(f"the target has {counts.size} classes in {counts.sum()} rows: is it a quantity?")
    single = int((counts == 1).sum())
    if single:
        notes.append(f"{single} of {counts.size} classes {'has' if single == 1 else 'have'} one row only")
    return notes


def _listed(names: Sequence[Hashable]) -> str:
    """Return the first names of many."""
    shown = ", ".join(str(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
