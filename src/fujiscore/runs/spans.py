"""Runs in Parquet files sorted by query, read a range of queries at a time; DuckDB sorts what is not.

Order is checked while reading, not assumed: whoever reads a range sees every row between its ends.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import pairwise
from operator import lt
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, MissingExtraError, first_few, one_line
from fujiscore.inputs.coercion import EXACT
from fujiscore.io import columnar
from fujiscore.io.limits import VARIABLE, memory_limit
from fujiscore.io.table import MISSING, Roles, no_rows
from fujiscore.runs.queries import RunRows, joined, labels_at
from fujiscore.runs.tables import AS_TEXT, RunColumns, RunFile, from_arrow, label_column, require_groups, run_evidence

if TYPE_CHECKING:
    from pathlib import Path

    from fujiscore.inputs.direction import Evidence

# Rows whose first query is known without reading others, rows of a tile, and rows read at a time.
SPAN, TILE, BATCH = 1 << 20, 1 << 22, 1 << 17
NUMBER = r"[-+]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?|inf(inity)?)"
# Compressions by their extension, as DuckDB calls them.
DUCKDB = {None: "none", ".gz": "gzip", ".zst": "zstd"}
# Rows of both runs that are read into memory at once.
STREAM = 1 << 21


class UnsortedError(Exception):
    """A table that is read as a stream is not sorted by query."""


@dataclass(frozen=True)
class Span:
    """Some row groups of a file, and their first query."""

    file: str
    groups: tuple[int, ...]
    first: Any
    rows: int


@dataclass(frozen=True)
class Stored:
    """A run in Parquet files, sorted by query as far as their spans tell."""

    name: str
    spans: tuple[Span, ...]
    roles: Roles
    evidence: Evidence | None = None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(span.rows for span in self.spans)

    def between(self, low: Any, high: Any, batch: int) -> Iterator[RunRows]:
        """Yield the rows of the queries above the low one, up to the high one; None is no limit."""
        firsts = [span.first for span in self.spans]
        start = 0 if low is None else max(bisect_right(firsts, low) - 1, 0)
        end = len(firsts) if high is None else bisect_right(firsts, high)
        last = None
        for span in self.spans[start:end]:
            for part in _read(span, self.roles, batch, self.name):
                queries = part.queries
                if not all(map(lt, queries, queries[1:])) or (last is not None and queries[0] < last):
                    raise UnsortedError(self.name)
                last = queries[-1]
                above = 0 if low is None else bisect_right(queries, low)
                stop = len(queries) if high is None else bisect_right(queries, high)
                if above < stop:
                    yield part.blocks(above, stop)
                if stop < len(queries):
                    if span is not self.spans[end - 1]:
                        raise UnsortedError(self.name)
                    return


def _read(span: Span, roles: Roles, batch: int, name: str) -> Iterator[RunRows]:
    """Yield the rows of a span, some at a time."""
    from pyarrow import parquet

    names = [*roles.labels, *roles.scores]
    with (
        columnar.complete(span.file, "parquet"),
        parquet.ParquetFile(
            span.file, pre_buffer=False, buffer_size=1 << 20, read_dictionary=[str(roles.ranking)]
        ) as file,
    ):
        for part in file.iter_batches(batch, row_groups=list(span.groups), columns=names, use_threads=False):
            if not len(part):
                continue
            columns = from_arrow([part.column(name) for name in names], roles)
            if columns is None:
                raise _wrong(name, part, roles)
            yield columns


def _wrong(file: str, part: Any, roles: Roles) -> InputError:
    """Return the error that names a label that is missing, or a score that is no number."""
    for name in roles.labels:
        column = part.column(name)
        if column.null_count or "" in column.to_pylist():
            return InputError(f"{file}, column {name!r} must not be empty: every row needs a label there.")
    return InputError(
        f"{file}, column {roles.scores[0]!r} must hold numbers that float64 tells apart; it is "
        f"{part.column(-1).type}. Store smaller numbers in the same order, as float64."
    )


def stored(name: str, files: Sequence[str], roles: Roles) -> Stored:
    """Return a run in Parquet files, with the first query of each span; raise UnsortedError if these do not rise."""
    from pyarrow import parquet

    spans: list[Span] = []
    for path in files:
        with columnar.complete(path, "parquet"), parquet.ParquetFile(path, pre_buffer=False) as file:
            rows, groups = 0, []
            for group in range(file.metadata.num_row_groups):
                size = file.metadata.row_group(group).num_rows
                groups += [group] if size else []
                rows += size
                if groups and (rows >= SPAN or group == file.metadata.num_row_groups - 1):
                    spans.append(Span(path, tuple(groups), _first(file, groups[0], roles), rows))
                    rows, groups = 0, []
    if not spans:
        raise no_rows(name)
    firsts = [span.first for span in spans]
    if not all(a <= b for a, b in pairwise(firsts)):
        raise UnsortedError(name)
    return Stored(name, tuple(spans), roles)


def _first(file: Any, group: int, roles: Roles) -> Any:
    """Return the first query of a row group."""
    query = str(roles.ranking)
    batch = next(file.iter_batches(1, row_groups=[group], columns=[query], use_threads=False))
    label = label_column(batch.column(0), query)
    if label is None:
        raise InputError(f"column {query!r} must not be empty: every row needs a query.")
    return labels_at(label, np.array([0]))[0]


def ways(
    a: Any, b: Any, given: RunColumns, folder: Callable[[], Path], notes: list[str], *, distributed: bool
) -> Iterator[tuple[Stored, Stored] | None]:
    """Yield the ways to read two runs, the best one first; the next is for rows that turn out not to be sorted.

    None is to read all into memory. `folder` makes a folder for sorted copies; what was done goes to the notes.
    """
    runs = [run for run in (a, b) if isinstance(run, RunFile)]
    if len(runs) < 2:
        yield None
        return
    names = [run.name for run in runs]
    require_groups(given, names, found=any(run.roles.group for run in runs))
    rows, size = (sum(both) for both in zip(*map(_extent, runs), strict=True))
    if rows <= STREAM and not distributed:
        yield None
        return
    guesses = [f"{run.name}: {note}" for run in runs for note in run.guessed]
    with suppress(UnsortedError):
        stores = [_as_stored(run) for run in runs]
        if type(stores[0].spans[0].first) is type(stores[1].spans[0].first):
            notes += guesses
            yield _with_evidence(runs[0], stores[0]), _with_evidence(runs[1], stores[1])
    if 2 * size <= memory_limit():
        yield None
        return
    if find_spec("duckdb") is None:
        raise MissingExtraError(
            f"{first_few(names)} must be sorted by query, which does not fit in memory; that needs DuckDB: "
            "pip install 'fujiscore[duckdb]'"
        )
    notes.append(f"sorted by query first: {first_few(names)}")
    target = folder()
    integers = list(zip(*map(_are_integers, runs), strict=True))
    notes += [
        f"{what} {AS_TEXT}" for what, (one, other) in zip(("queries", "items"), integers, strict=True) if one != other
    ]
    kinds = ["BIGINT" if all(both) else "VARCHAR" for both in integers]
    copies = [_sorted_copy(run, target / f"{i}.parquet", *kinds) for i, run in enumerate(runs)]
    notes += guesses
    yield _with_evidence(runs[0], copies[0]), _with_evidence(runs[1], copies[1])
    raise AssertionError("DuckDB does not sort")


def _extent(run: RunFile) -> tuple[int, int]:
    """Return about how many rows a run has, and how many bytes they take in memory."""
    if not run.is_parquet:
        text = run.document.size * (6 if run.document.compression else 1)
        return text // 20, 6 * text
    from pyarrow import parquet

    rows = size = 0
    for file in run.files:
        with columnar.complete(file, "parquet"):
            metadata = parquet.read_metadata(file)
        rows, size = rows + metadata.num_rows, size + columnar.decoded_size(metadata, 3)
    return rows, size


def _with_evidence(run: RunFile, store: Stored) -> Stored:
    """Return a stored run with what its first rows tell about the direction of the scores."""
    first = next(_read(store.spans[0], store.roles, BATCH, run.name))
    return replace(store, evidence=run_evidence(run.table, run.roles, first))


def _as_stored(run: RunFile) -> Stored:
    """Return a run sorted by query, which only Parquet can be."""
    if not run.is_parquet:
        raise UnsortedError(run.name)
    return stored(run.name, run.files, run.roles)


def _are_integers(run: RunFile) -> list[bool]:
    """Return whether queries and items are stored as integers; they may be text, and nothing else."""
    if not run.is_parquet:
        return [False, False]
    import pyarrow as pa
    from pyarrow import parquet

    kinds = [parquet.read_schema(run.files[0]).field(name).type for name in (str(run.roles.ranking), run.roles.item)]
    for name, kind in zip((run.roles.ranking, run.roles.item), kinds, strict=True):
        if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            raise InputError(f"{run.name}, column {name!r} must hold text or integers to be sorted; it is {kind}.")
    return [pa.types.is_integer(kind) and kind != pa.uint64() for kind in kinds]


def _sorted_copy(run: RunFile, target: Path, query: str, item: str) -> Stored:
    """Write a copy of a run sorted by query, in the order of the rows within a query, and return it."""
    import duckdb

    roles = run.roles
    columns = [_quoted(str(name)) for name in (roles.ranking, roles.item, *roles.scores)]
    score = columns[2] if run.is_parquet else _number(columns[2])
    parts = [f"CAST({columns[0]} AS {query}) AS query", f"CAST({columns[1]} AS {item}) AS item", f"{score} AS score"]
    if roles.group is not None:
        parts.append(f"CAST({_quoted(roles.group)} AS VARCHAR) AS grp")
    files = f"read_parquet([{', '.join(map(_path, run.files))}], hive_partitioning = false)"
    source = files if run.is_parquet else _text_relation(run)
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = true")
        connection.execute(f"SET temp_directory = {_text(str(target.parent / 'spill'))}")
        connection.execute(f"SET memory_limit = '{max(memory_limit() // 2, 1 << 28)}B'")
        copied = f"SELECT {', '.join(parts)} FROM (SELECT *, row_number() OVER () AS fuji_row FROM {source})"  # noqa: S608
        try:
            connection.execute(
                f"COPY ({copied} ORDER BY query, fuji_row) TO {_text(str(target))} "
                "(FORMAT parquet, ROW_GROUP_SIZE 262144)"
            )
        except duckdb.Error as error:
            raise InputError(
                f"{run.name} must be a regular table to be sorted by DuckDB, as it does not fit in memory: "
                f"{one_line(str(error).splitlines()[0])} Write it as Parquet, or let it take more memory: set "
                f"{VARIABLE}."
            ) from None
    return stored(run.name, [str(target)], Roles("item", ["score"], "query", roles.group and "grp"))


def _text_relation(run: RunFile) -> str:
    """Return a delimited file as DuckDB reads it: all columns as text."""
    layout, compression = run.table.layout, run.document.compression
    if layout is None:
        raise InputError(f"{run.name} must be Parquet, CSV, TSV or a TREC run to be read in parts; convert it first.")
    if compression not in DUCKDB:
        raise InputError(
            f"{run.name} does not fit in memory, and DuckDB reads no {compression} to sort it. Decompress it first, or "
            "compress it with gzip or zstd."
        )
    if any("\n" in name or "\r" in name for name in layout.names):
        raise InputError(f"{run.name} must have a header of one line to be read in parts. Rename its columns.")
    names = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in layout.names)
    quote = "''" if layout.blanks else "'\"'"
    return (
        f"read_csv({_path(run.name)}, delim = {_text(layout.delimiter)}, header = false, skip = {layout.skip}, "
        f"columns = {{{names}}}, quote = {quote}, escape = {quote}, auto_detect = false, "
        f"hive_partitioning = false, compression = {_text(DUCKDB[compression])})"
    )


def _quoted(name: str) -> str:
    """Return a column's name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    """Return text in SQL."""
    return "'" + value.replace("'", "''") + "'"


def _path(path: str) -> str:
    """Return a path in SQL, in which nothing stands for other names."""
    return _text("".join(f"[{letter}]" if letter in "*?[" else letter for letter in path))


def _number(column: str) -> str:
    """Return text as a number in SQL, by the syntax and the missing words of other readers."""
    missing = ", ".join(map(_text, sorted(MISSING)))
    plain = f"trim({column})"
    return (
        f"CASE WHEN {column} IS NULL OR {plain} IN ({missing}) THEN NULL "
        f"WHEN NOT regexp_full_match({plain}, {_text(NUMBER)}, 'i') THEN error({plain} || ' is not a number.') "
        f"WHEN abs(CAST({plain} AS DOUBLE)) BETWEEN {EXACT:.0f} AND 1e308 THEN error({plain} || ' is too large.') "
        f"ELSE CAST({plain} AS DOUBLE) END"
    )


def ranges(a: Stored, b: Stored) -> list[tuple[Any, Any]]:
    """Return ranges of queries (above the first, up to the second) of about as many rows each."""
    cuts: list[Any] = []
    rows, larger = 0, a if a.rows >= b.rows else b
    size = min(TILE, larger.rows // 16)
    for span in larger.spans:
        if rows >= size and (not cuts or span.first > cuts[-1]):
            cuts.append(span.first)
            rows = 0
        rows += span.rows
    return list(zip([None, *cuts], [*cuts, None], strict=True))


def chunks(a: Stored, b: Stored, low: Any, high: Any, batch: int = BATCH) -> Iterator[tuple[RunRows, RunRows]]:
    """Yield the rows of both runs in a range of queries, some queries at a time, each query whole."""
    sides = [_Side(run.between(low, high, batch)) for run in (a, b)]
    while True:
        for side in sides:
            if not side.waiting.queries and not side.ended:
                side.more()
        if all(side.ended and not side.waiting.queries for side in sides):
            return
        # What comes before the last query read of either side is complete.
        ends = [side.waiting.queries[-1] for side in sides if not side.ended]
        bound = min(ends) if ends else None
        parts = [side.take(bound) for side in sides]
        if any(len(part) for part in parts):
            yield parts[0], parts[1]
        for side in sides:
            if not side.ended and side.waiting.queries[-1] == bound:
                side.more()


NOTHING = RunRows([], np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))


class _Side:
    """One stream, and the rows of it that wait for the other."""

    def __init__(self, stream: Iterator[RunRows]) -> None:
        self.stream, self.waiting, self.ended = stream, NOTHING, False

    def more(self) -> None:
        """Read on."""
        part = next(self.stream, None)
        if part is None:
            self.ended = True
        else:
            self.waiting = joined([self.waiting, part]) if self.waiting.queries else part

    def take(self, bound: Any) -> RunRows:
        """Return the rows of the queries before the bound, or all."""
        blocks = len(self.waiting.queries)
        stop = blocks if bound is None else bisect_left(self.waiting.queries, bound)
        taken, self.waiting = self.waiting.blocks(0, stop), self.waiting.blocks(stop, blocks)
        return taken
