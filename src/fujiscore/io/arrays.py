"""NumPy files (.npy): one ranking, or one per row, of items named by their position."""

from __future__ import annotations

import io
from collections.abc import Iterator
from math import prod
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError
from fujiscore.io.limits import ARRAY
from fujiscore.io.table import FileTable, Roles, Row, damaged, no_rows, picked

if TYPE_CHECKING:
    from fujiscore.io.documents import Document

HEADERS: dict[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}

# What NumPy raises for a header that is none: the header is the text of a Python dictionary.
UNREADABLE = (ValueError, KeyError, TypeError, SyntaxError, TokenError, RecursionError, MemoryError)


def table(document: Document) -> FileTable:
    """Return an array of scores as a table: of one ranking if it has one dimension, of one per row if it has two."""
    values = _values(document)
    if not values.size:
        raise no_rows(document.name)
    known = Roles("item", ["score"], "ranking" if values.ndim == 2 else None)
    names = [*(["ranking"] if values.ndim == 2 else []), "item", "score"]

    def rows() -> Iterator[Row]:
        labels = list(map(str, range(values.shape[-1])))
        for place, scores in enumerate(np.atleast_2d(values)):
            front = [str(place)] if values.ndim == 2 else []
            for item, score in zip(labels, scores.tolist(), strict=True):
                yield place * len(labels) + int(item) + 1, [*front, item, score]

    return FileTable(
        document.name, {name: float(name == "score") for name in names}, picked(names, rows), unit="value", known=known
    )


def _values(document: Document) -> NDArray[Any]:
    """Return the numbers in a NumPy file; nothing is unpickled, and no more is read than there is."""
    with document.reading(ARRAY) as stream:
        content = stream.read()
    start = io.BytesIO(content)
    try:
        shape, by_column, kind = HEADERS[np.lib.format.read_magic(start)](start)
    except UNREADABLE as error:
        raise damaged(document.name, "NumPy", error) from None
    # Integers in rows are the ids that a search index returns rather than scores.
    if len(shape) not in {1, 2} or kind.kind not in ("iuf" if len(shape) == 1 else "f") or kind.itemsize > 8:
        raise InputError(
            f"{document.name} must be a vector of scores, or an array of floats with one row per ranking; it has shape "
            f"{shape} and type {kind}. Write a table of items and scores, such as CSV or Parquet."
        )
    if len(content) - start.tell() != prod(shape) * kind.itemsize:
        raise damaged(document.name, "NumPy", "its size is not that of its array")
    values = np.frombuffer(content, kind, offset=start.tell())
    return values.reshape(shape, order="F" if by_column else "C")
