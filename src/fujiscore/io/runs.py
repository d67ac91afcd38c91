"""Runs: tables of (query, item, score), brought together query by query, whole or in a stream. Imports columnar.

A stream needs both tables sorted by query, which is checked while reading; then memory does not grow with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.batches import Lists
from fujiscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Rows of each table that are brought together at a time.
ROWS = 1 << 20


@dataclass(frozen=True, eq=False)
class Chunk:
    """The lists of some queries in both tables; empty where a table lacks a query.

    Attributes
    ----------
    queries : pyarrow.Array
        The queries' labels.
    r, s : Lists
        The lists of each table; items are codes.
    items : pyarrow.Array
        The items' labels by code.
    """

    queries: Any
    r: Lists
    s: Lists
    items: Any


class UnsortedError(Exception):
    """A table that is read as a stream is not sorted by query."""


def chunks(first: Iterable[Any], second: Iterable[Any]) -> Iterator[Chunk]:
    """Bring two streams of Arrow tables (query, item, score), sorted by query, together.

    What is below the last query of both is complete, since neither stream goes back.
    """
    sides = [_Side(first), _Side(second)]
    while any(side.rows for side in sides) or any(side.more() for side in sides):
        ends = [side.last for side in sides if not side.ended]
        bound = min(ends) if ends else None
        parts = [side.take(bound) for side in sides]
        if any(len(part) for part in parts):
            yield _chunk(*parts)
        for side in sides:
            if not side.ended and (bound is None or side.last == bound):
                side.more()


class _Side:
    """One stream, and the rows of it that wait for the other."""

    def __init__(self, stream: Iterable[Any]) -> None:
        self.stream, self.waiting, self.ended, self.last = iter(stream), None, False, None

    @property
    def rows(self) -> int:
        return 0 if self.waiting is None else len(self.waiting)

    def more(self) -> bool:
        """Read on; return whether there was anything."""
        import pyarrow as pa

        table = next(self.stream, None)
        while table is not None and not len(table):
            table = next(self.stream, None)
        if table is None:
            self.ended = True
            return False
        queries = table.column(0)
        _require_sorted(queries, self.last)
        self.last = queries[-1].as_py()
        self.waiting = table if not self.rows else pa.concat_tables([self.waiting, table])
        return True

    def take(self, bound: Any) -> Any:
        """Return the rows of queries before the bound, or all."""
        if self.waiting is None or not len(self.waiting):
            return self.waiting
        stop = len(self.waiting) if bound is None else _before(self.waiting.column(0), bound)
        taken, self.waiting = self.waiting.slice(0, stop), self.waiting.slice(stop)
        return taken


def _require_sorted(queries: Any, last: Any) -> None:
    """Raise unless queries rise, from the last one before."""
    from pyarrow import compute

    if last is not None and queries[0].as_py() < last:
        raise UnsortedError
    for chunk in queries.chunks:
        if not compute.all(compute.greater_equal(chunk[1:], chunk[:-1]), min_count=0).as_py():
            raise UnsortedError


def _before(queries: Any, bound: Any) -> int:
    """Return how many queries of a sorted column come before a bound."""
    low, high = 0, len(queries)
    while low < high:
        middle = (low + high) // 2
        if queries[middle].as_py() < bound:
            low = middle + 1
        else:
            high = middle
    return low


def _chunk(first: Any, second: Any) -> Chunk:
    """Return the lists of two tables that hold the same range of queries."""
    import pyarrow as pa

    tables = [table for table in (first, second) if table is not None]
    coded = [pa.chunked_array([c for table in tables for c in table.column(i).chunks]) for i in (0, 1)]
    queries, items = (column.combine_chunks().dictionary_encode() for column in coded)
    query_codes, item_codes = queries.indices.to_numpy(), items.indices.to_numpy()
    cut = 0 if first is None else len(first)
    order = np.argsort(np.argsort(_sort_keys(queries.dictionary)))
    lists = []
    for table, rows in ((first, slice(0, cut)), (second, slice(cut, None))):
        codes = order[query_codes[rows]]
        scores = np.empty(0) if table is None else table.column(2).to_numpy()
        start = np.searchsorted(codes, np.arange(len(queries.dictionary) + 1))
        lists.append(Lists(start, item_codes[rows], scores))
    return Chunk(queries.dictionary.take(pa.array(np.argsort(order))), lists[0], lists[1], items.dictionary)


def _sort_keys(labels: Any) -> Any:
    """Return labels as NumPy sorts them in the order of the stream."""
    return labels.to_numpy(zero_copy_only=False)


def parquet(path: Any, columns: tuple[str, str, str]) -> Iterator[Any]:
    """Yield a Parquet file's tables of query, item and score."""
    import pyarrow as pa
    from pyarrow import parquet as pq

    with pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
        for batch in file.iter_batches(ROWS, columns=list(columns)):
            yield pa.table({name: batch.column(name) for name in columns})
    if False:
        raise InputError
