"""One column of a data set as an array: numbers as they are, categories as codes."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray


def objects(series: Any, *, in_order: bool = False) -> NDArray[Any]:
    """Return a dataframe's column as an array: numbers as they are, ordered categories as positions, or objects."""
    categories = getattr(series.dtype, "categories", None)
    if in_order and categories is not None:
        order = {category: position for position, category in enumerate(categories)}
        return np.array([order.get(value, np.nan) for value in series.to_list()])
    if series.dtype.is_numeric() and not series.is_null().any():
        return np.asarray(series.to_numpy())
    # NaN is not null in every library, and comes as it is.
    return np.array([*series.to_list(), None], np.object_)[:-1]


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas' NA: not equal to itself, or not saying whether it is."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except TypeError:
        return True


def codes_of(column: NDArray[Any]) -> NDArray[np.float64]:
    """Return categories as 0, 1, ... in sorted order (of appearance, where they do not sort); missing as NaN."""
    if column.dtype.kind in "fiub":
        codes = np.unique(column, return_inverse=True)[1].astype(np.float64)
        return np.where(np.isnan(column), np.nan, codes)  # NaN sorts last
    values = column.tolist()
    distinct = [value for value in dict.fromkeys(values) if not is_missing(value)]
    with suppress(TypeError):
        distinct.sort()
    order = {value: code for code, value in enumerate(distinct)}
    return np.array([order.get(value, np.nan) for value in values], np.float64)


def renumbered(codes: NDArray[Any]) -> NDArray[Any]:
    """Return codes from 0 up without gaps: those that do not occur are closed up."""
    occurs = np.bincount(codes) > 0
    return codes if occurs.all() else (np.cumsum(occurs) - 1).astype(codes.dtype)[codes]
