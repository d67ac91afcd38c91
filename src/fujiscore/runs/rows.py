"""Runs with one row per query: arrays, tables of rows by features, ids with their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, counted, shown, spelled
from fujiscore.inputs import models
from fujiscore.inputs.coercion import (
    NO_ITEM,
    Scores,
    as_ids,
    first_repeated,
    labelled,
    objects,
    require_labels,
    unmasked,
)
from fujiscore.inputs.direction import by_rows, remedy
from fujiscore.inputs.ranking import Ranking
from fujiscore.runs.queries import RunRows

FORMS = (
    "a file, a table with columns for query, item and score, a table or 2-D array of scores with one row per query, a "
    "pair (ids, scores) of such arrays, a mapping of query to ranking, or a list of rankings"
)


def label_array(labels: list[Any]) -> NDArray[Any]:
    """Return labels as integers, or as objects."""
    integers = labels and all(type(label) is int and abs(label) < 1 << 63 for label in labels)
    return np.array(labels, np.int64) if integers else objects(labels)


def is_ids(values: NDArray[Any]) -> bool:
    """Return whether an array can hold ids alone: integers or text."""
    if values.ndim != 2 or values.dtype.kind in "iuUT":
        return values.ndim == 2
    return values.dtype == object and all(isinstance(value, str) for value in values.ravel().tolist())


def two_matrices(obj: Any) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return the arrays of a pair such as (ids, scores), None if an object is none, or all its numbers are floats."""
    if not isinstance(obj, tuple) or len(obj) != 2 or any(isinstance(part, (Mapping, Ranking, str)) for part in obj):
        return None
    try:
        first, second = (np.asarray(models.without_gradient(part)) for part in obj)
    except ValueError:  # rows of unequal lengths
        return None
    return (first, second) if first.ndim == second.ndim == 2 and (is_ids(first) or is_ids(second)) else None


def of_search(ids: NDArray[Any], scores: NDArray[Any], name: str) -> tuple[RunRows, tuple[str, ...]]:
    """Return the lists that a search returned, one row per query, and a note on places where it returned nothing."""
    if scores.dtype.kind not in "fiu":
        swapped = " They are in the other order." if ids.dtype.kind == "f" else ""
        raise InputError(f"{name} must be a pair (ids, scores); the scores are {scores.dtype}.{swapped}")
    if not is_ids(ids):
        raise InputError(
            f"{name} must be a pair (ids, scores), in this order; got {ids.dtype} and {scores.dtype}. Exchange them "
            "(a search of faiss returns distances, then ids)."
        )
    ids = as_ids(ids, name, "Pass (ids, scores), in this order.")
    if scores.shape != ids.shape:
        raise InputError(f"{name} must have one score for each id, shape {ids.shape}; got shape {scores.shape}.")
    found = np.ones(ids.shape, np.bool_) if ids.dtype.kind != "i" else ids != NO_ITEM
    sizes = found.sum(axis=1)
    items = ids[found]
    labels = np.ascontiguousarray(items, np.int64) if items.dtype.kind == "i" else objects(items.tolist())
    values = labelled(scores[found], name).scores
    columns = RunRows(list(range(len(ids))), np.cumsum(sizes) - sizes, labels, values)
    empty = ids.size - items.size
    note = f"{empty} of {ids.size} ids are {NO_ITEM}, which stands for no item: left out"
    return columns, (note,) if empty else ()


def of_array(obj: Any, name: str) -> RunRows:
    """Return the run of a 2-D array of scores: one query per row, one item per column."""
    try:
        values = unmasked(obj) if isinstance(obj, np.ndarray) else np.asarray(obj)
    except ValueError:
        values = np.empty(0)
    if values.ndim != 2 or not values.size or values.dtype.kind in "UST":
        raise InputError(f"{name} must be {FORMS}; got {shown(obj)}.")
    kind = obj.dtype if isinstance(obj, np.ndarray) else values.dtype  # what a mask hides makes objects of integers
    if kind.kind in "iu":
        raise whole_numbers(name, f"an array of {kind}")
    if isinstance(obj, (tuple, list)) and any(isinstance(row, np.ndarray) and is_whole(row) for row in obj):
        raise whole_numbers(name, "a row of integers")  # such as (ids, distances) of a single query
    return of_matrix(values, name, list(range(len(values))), range(values.shape[1]))


def is_whole(values: Any) -> bool:
    """Return whether a ranking is a bare list of integers, as lists of ids are; pairs of item and score are none."""
    if isinstance(values, np.ndarray):
        return values.size > 0 and values.ndim == 1 and values.dtype.kind in "iu"
    if type(values) not in {list, tuple} or not values:
        return False
    return all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in values)


def whole_numbers(name: str, came: str, how: str = "as a pair of 2-D arrays, (ids, scores)") -> InputError:
    """Return the error for integers alone, which are ids as often as scores."""
    return InputError(
        f"{name} must hold scores, and whole numbers may be ids; got {came}. Pass ids with their scores or distances "
        f"{how}; convert whole numbers that are scores to floats."
    )


def of_matrix(values: NDArray[Any], name: str, queries: list[Any], items: Sequence[Any]) -> RunRows:
    """Return the run of a matrix of scores, with labels of its rows and columns."""
    scores: Scores = labelled(values.ravel(), name).scores
    rows, width = values.shape
    return RunRows(queries, np.arange(rows) * width, _tiled(items, rows), scores)


def _tiled(items: Sequence[Any], rows: int) -> Any:
    """Return the labels of the columns once per row: as integers, as Arrow has text if it is installed, or objects."""
    if all(type(item) is int for item in items):
        return np.tile(np.array(items, np.int64), rows)
    try:
        import pyarrow as pa
    except ImportError:
        pa = None
    if pa is None or not all(isinstance(item, str) for item in items):
        return np.tile(objects(items), rows)
    return pa.array(items, pa.large_string()).take(pa.array(np.tile(np.arange(len(items)), rows)))


def of_table(obj: Any, frame: Any, name: str) -> RunRows:
    """Return the run of a table of rows by features: the pandas index labels the queries, the columns the items."""
    if sum(kind.is_float() for kind in frame.schema.values()) < min(2, len(frame.columns)):
        raise whole_numbers(name, f"the columns {', '.join(map(str, frame.columns[:8]))}")
    import narwhals as nw

    queries, names = list(range(len(frame))), list(frame.columns)
    if nw.dependencies.is_pandas_dataframe(obj):
        queries, names = obj.index.tolist(), obj.columns.tolist()
    require_labels(queries, f"the index of {name}")
    again = first_repeated(queries)
    if again is not None:
        raise InputError(
            f"{name} must label each row once, as a query; its index repeats {shown(again)}. Pass "
            f"{name}.reset_index(drop=True) to compare row by row."
        )
    columns = [series.to_list() if series.is_null().any() else series.to_numpy() for series in frame.iter_columns()]
    return of_matrix(np.column_stack([np.asarray(column, np.float64) for column in columns]), name, queries, names)


def require_best_first(columns: RunRows, name: str) -> None:
    """Raise if the scores of most lists rise from the first item to the last, as distances do."""
    order = by_rows(columns.start, columns.scores, fewest=1)
    if 2 * order.rising > order.lists:
        raise InputError(
            f"{name} must hold scores where higher is better; those of {order.rising} of "
            f"{counted(order.lists, 'list')} rise "
            f"from the first item to the last, as distances do. Pass {remedy()} if they are, or "
            f"{spelled('transform', 'as_is')}."
        )
