"""Parquet, Feather and large delimited files through pyarrow, imported at first use."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, MissingExtraError
from fujiscore.inputs.coercion import EXACT, is_null, merged, require_apart
from fujiscore.io.limits import require_memory
from fujiscore.io.table import MISSING, FileTable, Group, Layout, Roles, Row, damaged, require_distinct, texts

if TYPE_CHECKING:
    from fujiscore.io.documents import Document

SAMPLE = 500  # first values of a column that tell whether it repeats
SLICE = 1 << 15  # labels handled at once
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
STREAM, END_OF_STREAM = "arrow stream", b"\xff\xff\xff\xff\0\0\0\0"
BLOCK = 1 << 20  # bytes of a file looked at at once
LONGEST = 4096  # bytes of a label; rows with longer ones are read one by one
LOW_BYTES = np.array([(1 << 8 * count) - 1 for count in range(9)], dtype=np.uint64)


class Labels(Sequence[str]):
    """The labels in an Arrow column, made text on demand: ten million strings take seconds to make."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def __len__(self) -> int:
        """Return the number of labels."""
        return len(self._column)

    def __getitem__(self, position: Any) -> Any:
        """Return a label, or a list of them for a slice."""
        if isinstance(position, slice):
            return [self[index] for index in range(*position.indices(len(self)))]
        return self._column[int(position)].as_py()

    def __iter__(self) -> Iterator[str]:
        """Yield the labels in order."""
        for start in range(0, len(self), SLICE):
            yield from self._column.slice(start, SLICE).to_pylist()

    def __eq__(self, other: object) -> bool:
        """Return whether another sequence holds the same labels in the same order."""
        if isinstance(other, Labels):
            return bool(self._column.equals(other._column))
        return isinstance(other, list) and len(other) == len(self) and list(self) == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the labels as a list shows them."""
        return repr(list(self))


def need(what: str) -> None:
    """Raise unless pyarrow is installed."""
    if find_spec("pyarrow") is None:
        raise MissingExtraError(f"{what} needs pyarrow: pip install 'fujiscore[parquet]'")


def decompressed(stored: Any) -> Any:
    """Return the content of a zstd file, given a stream of it."""
    need("reading zstd")
    import pyarrow as pa

    return io.BufferedReader(pa.CompressedInputStream(stored, "zstd"))


def delimited(
    document: Document, layout: Layout, roles: Roles, finish: Callable[[list[Any]], list[Any] | None] = list
) -> list[Any] | None:
    """Return what `finish` makes of labels and scores in a delimited file of UTF-8, None if anything may be wrong."""
    import pyarrow as pa
    from pyarrow import compute, csv

    text = roles.labels
    types = {name: pa.large_string() for name in text} | {name: pa.float64() for name in roles.scores}

    def read(stream: Any, again: Callable[[], Any]) -> list[Any] | None:
        watched = _Watched(stream)
        table = csv.read_csv(
            watched,
            csv.ReadOptions(column_names=layout.names, skip_rows=layout.skip),
            csv.ParseOptions(delimiter=layout.delimiter, quote_char=False if layout.blanks else '"'),
            csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=sorted(MISSING)),
        )
        # A label with a line break comes from an unclosed quote.
        spans = any(compute.any(compute.match_substring(table[name], end)).as_py() for name in text for end in "\n\r")
        # In a table of one column, a line of blanks is no row.
        alone = len(layout.names) == 1
        blank = alone and compute.any(compute.equal(compute.utf8_trim_whitespace(table[0]), "")).as_py()
        doubtful = spans or blank or any(_is_doubtful(table[name]) for name in roles.scores)
        if doubtful or (watched.quotes and not has_lines(layout.skip + table.num_rows, again)):
            return None
        return finish(list(table.select([*text, *roles.scores]).columns))

    def has_lines(rows: int, again: Callable[[], Any]) -> bool:  # fewer rows than lines: a field may hold some
        for empty in (True, False):
            with again() as stream:
                if _count_lines(stream, empty=empty) == rows:
                    return True
        return False

    head = document.head[: document.head.rfind(b"\n") + 1]
    try:
        if layout.blanks and not _separated(document, layout.delimiter):
            return None
        # What is wrong in the first lines needs no reading of millions.
        if head.count(b"\n") > layout.skip + 1 and read(io.BytesIO(head), lambda: io.BytesIO(head)) is None:
            return None
        with document.open() as stream:
            return read(stream, document.open)
    except (pa.ArrowException, OSError, EOFError, zlib.error):
        return None


class _Watched(io.RawIOBase):
    """A stream that notes whether quotes pass through it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.quotes = False

    def readable(self) -> bool:
        """Return True: this is a stream to read from."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        content = bytes(self._stream.read(size))
        self.quotes = self.quotes or b'"' in content
        return content


def _count_lines(stream: Any, *, empty: bool) -> int:
    """Return how many lines a stream has, with or without empty ones."""
    count, last = 0, b"\n"
    while content := stream.read(BLOCK):
        count += content.count(b"\n")
        both = last + content
        count -= 0 if empty else both.count(b"\n\n") + both.count(b"\n\r\n")
        last = both[-2:] if both.endswith(b"\r") else both[-1:]
    return count + (not last.endswith(b"\n"))


def _separated(document: Document, delimiter: str) -> bool:
    """Return whether one delimiter, and no other whitespace, stands between any two fields of a line."""
    kinds = np.zeros(256, np.uint8)  # 1: delimiter, 2: end of a line, 3: other whitespace
    kinds[list(b" \t\v\f")] = 3
    kinds[list(b"\r\n")] = 2
    kinds[ord(delimiter)] = 1
    last = b"\n"
    with document.open() as stream:
        while last:
            chunk = stream.read(BLOCK)
            kind = kinds[np.frombuffer(last + (chunk or b"\n"), np.uint8)]
            before, after = kind[:-1], kind[1:]
            if (kind == 3).any() or ((after == 1) & (before > 0) | (after == 2) & (before == 1)).any():
                return False
            last = chunk[-1:]
    return True


def _is_doubtful(scores: Any) -> bool:
    """Return whether numbers made of text need a second look: nan(ind) is none, and large integers may merge."""
    from pyarrow import compute

    flaws = compute.or_(compute.is_nan(scores), compute.greater_equal(compute.abs(scores), EXACT))
    return bool(compute.any(flaws).as_py())


def _open(file: str, kind: str, source: Any) -> tuple[Any, Callable[[Sequence[str]], list[Any]], Callable[[str], Any]]:
    """Return the schema of a Parquet or Feather file, and readers of some columns and of the first rows of one."""
    need(f"reading {kind.capitalize()}")
    from pyarrow import feather, parquet

    readers = {"parquet": parquet.ParquetFile, "feather": feather.read_table, STREAM: _read_stream}
    with complete(file, kind):
        opened: Any = readers[kind](source)
        schema = opened.schema_arrow if kind == "parquet" else opened.schema
        names = list(schema.names)
    if not names:
        raise InputError(f"{file} must have columns; it has none.")
    require_distinct(file, names)

    def read(names: Sequence[str]) -> list[Any]:
        wanted = list(dict.fromkeys(names))
        with complete(file, kind):
            if kind == "parquet":
                require_memory(file, decoded_size(opened.metadata, len(wanted)))
            table = opened.read(columns=wanted) if kind == "parquet" else opened.select(wanted)
            table.validate(full=True)  # pyarrow and NumPy read wherever an offset points, be it beyond the buffer
            return list(table.select(names).columns)

    def first(name: str) -> Any:
        if kind == "feather":
            return read([name])[0].slice(0, SAMPLE)
        batches = opened.iter_batches(SAMPLE, columns=[name], use_threads=False)
        batch = next((batch for batch in batches if len(batch)), None)
        if batch is None:
            return read([name])[0]
        batch.validate(full=True)
        return batch.column(0)

    return schema, read, first


def _read_stream(source: Any) -> Any:
    """Return the table in an Arrow stream, which must have its end: pyarrow takes what is left of one for the whole."""
    import pyarrow as pa

    with pa.memory_map(source) if isinstance(source, str) else pa.BufferReader(source.getvalue()) as stream:
        table = pa.ipc.open_stream(stream).read_all()
        stream.seek(max(stream.tell() - len(END_OF_STREAM), 0))
        if stream.read() != END_OF_STREAM:
            raise ValueError("it ends too early, or goes on after its end")
    return table


def decoded_size(metadata: Any, columns: int) -> int:
    """Return about how many bytes some columns of a Parquet file take: a run of a billion zeros is stored in a few."""
    # Not the sizes of the columns themselves: pyarrow ends the process where their statistics are damaged.
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
    stored = sum(group.total_byte_size for group in groups)
    return int(columns * (16 * rows + stored // max(metadata.num_columns, 1)))


@contextmanager
def complete(file: str, kind: str) -> Iterator[None]:
    """Turn the errors of pyarrow, and of values that Python does not have (a year 10,000), into ours."""
    import pyarrow as pa

    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        raise damaged(file, kind.capitalize(), error) from None


def table(file: str, kind: str, source: Any) -> FileTable:
    """Return the table in a Parquet or Feather file; of Parquet only the columns needed are read."""
    schema, read, first = _open(file, kind, source)

    def arrow(roles: Roles) -> list[Any]:
        return read([*roles.labels, *roles.scores])

    def fast(roles: Roles, unique: bool) -> list[Group] | None:
        columns = arrow(roles)
        with complete(file, kind):
            return rankings_in(columns, roles, unique)

    def rows(names: Sequence[str]) -> Iterator[Row]:
        item, ranking, *scores = read(names)
        with complete(file, kind):
            columns = [as_text(item), as_text(ranking), *scores]
            return enumerate(zip(*(column.to_pylist() for column in columns), strict=True), 1)

    def sample(name: str) -> list[Any]:
        with complete(file, kind):
            return list(first(name).to_pylist())

    numeric = {name: float(is_number(type_)) for name, type_ in zip(schema.names, schema.types, strict=True)}
    return FileTable(file, numeric, rows, sample, fast, arrow, unit="row")


def arrays(file: str, kind: str, source: Any, as_text: Collection[str]) -> dict[str, NDArray[Any]]:
    """Return all columns of a Parquet or Feather file: numbers as float64, the rest as objects (None: missing).

    Columns named in `as_text`, bools and categories become text, dates stay as they are.
    """
    schema, read, _ = _open(file, kind, source)
    columns = read(schema.names)
    with complete(file, kind):
        return {
            name: _array(column, name in as_text, f"{file}, column {name!r} must hold")
            for name, column in zip(schema.names, columns, strict=True)
        }


def _array(column: Any, as_text: bool, must: str) -> NDArray[Any]:
    """Return a column as float64 if it holds numbers, as dates, or as text; `must` begins the message of an error."""
    from pyarrow import types

    if is_number(column.type) and not as_text:
        numbers = _floats(column)
        require_apart(_large(column, numbers), must)
        return numbers
    if types.is_temporal(column.type) and not as_text:
        return np.array(column.to_pylist(), np.object_)
    return texts(column.to_pylist())


def is_number(kind: Any) -> bool:
    """Return whether an Arrow type is one of numbers."""
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def as_text(column: Any) -> Any:
    """Return a column as text, whatever holds its labels; null where a label is missing."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        if pa.types.is_floating(column.type):  # NaN is not a label
            column = compute.if_else(compute.is_nan(column), pa.scalar(None, column.type), column)
        return column.cast(pa.large_string())
    except pa.ArrowException:
        texts = [None if is_null(value) else str(value) for value in column.to_pylist()]
        return pa.chunked_array([texts], type=pa.large_string())


def rankings_in(columns: Sequence[Any], roles: Roles, unique: bool) -> list[Group] | None:
    """Return the rankings in Arrow columns; None if a label is missing or repeated, or a score is not a number."""
    from pyarrow import compute

    labels, *rankings = map(as_text, columns[: len(roles.labels)])
    scores = columns[len(roles.labels) :]
    lengths = compute.min_max(compute.binary_length(labels)).as_py()
    if not len(labels) or labels.null_count or lengths["min"] == 0 or lengths["max"] > LONGEST:
        return None
    values = [floats for floats in map(score_column, scores) if floats is not None]
    if len(values) < len(scores):
        return None
    marks = None
    if unique:  # in slices, whose temporaries stay in the cache
        slices = (chunk.slice(start, SLICE) for chunk in labels.chunks for start in range(0, len(chunk), SLICE))
        marks = np.concatenate([_fingerprints(labels_) for labels_ in slices])
    if rankings:
        return _split(labels, values, rankings[0], marks)
    return None if marks is not None and _repeats(marks) else [Group(None, Labels(labels), tuple(values))]


def _split(
    labels: Any, values: list[NDArray[np.float64]], rankings: Any, marks: NDArray[np.uint64] | None
) -> list[Group] | None:
    """Split a long table into its rankings, in the order in which they first appear."""
    import pyarrow as pa
    from pyarrow import compute

    if rankings.null_count or compute.any(compute.equal(rankings, "")).as_py():
        return None
    coded = rankings.combine_chunks().dictionary_encode()
    codes = coded.indices.to_numpy()
    if marks is not None and _repeats(marks ^ (codes.astype(np.uint64) + np.uint64(1)) * MULTIPLIER):
        return None
    if (np.diff(codes) < 0).any():
        order = np.argsort(codes, kind="stable")
        labels, values, codes = labels.take(pa.array(order)), [scores[order] for scores in values], codes[order]
    labels = labels.combine_chunks()
    ends = np.searchsorted(codes, np.arange(len(coded.dictionary)), side="right").tolist()
    return [
        Group(name, Labels(labels.slice(start, end - start)), tuple(scores[start:end] for scores in values))
        for name, start, end in zip(coded.dictionary.to_pylist(), [0, *ends[:-1]], ends, strict=True)
    ]


def score_column(column: Any) -> NDArray[np.float64] | None:
    """Return a column as scores, None if one of them is not a number, or float64 makes different integers equal."""
    import pyarrow as pa

    try:
        wide = column.cast(pa.float64(), safe=False)
    except pa.ArrowException:
        return None
    if pa.types.is_boolean(column.type) or (not is_number(column.type) and _is_doubtful(wide)):
        return None
    floats = _floats(wide)
    return None if merged(_large(column, floats)) else floats


def _large(column: Any, floats: NDArray[np.float64]) -> list[Any]:
    """Return the integers or decimals in a column that float64 need not hold exactly."""
    import pyarrow as pa

    rows = np.flatnonzero(np.abs(floats) >= EXACT) if not pa.types.is_floating(column.type) else np.empty(0, np.intp)
    return list(column.take(pa.array(rows)).to_pylist()) if rows.size else []


def buffer_values(array: Any, kind: type) -> NDArray[Any]:
    """Return the memory of an Arrow array of 64-bit numbers; to_numpy imports pandas where it is installed: 0.5 s."""
    return np.frombuffer(array.buffers()[1], kind, len(array), 8 * array.offset)


def float_arrays(column: Any) -> list[NDArray[np.float64]]:
    """Return a column as float64, one array per chunk, NaN where it is null."""
    import pyarrow as pa

    wide = column.cast(pa.float64(), safe=False)
    wide = wide.fill_null(float("nan")) if wide.null_count else wide
    return [
        buffer_values(chunk, np.float64) for chunk in (wide.chunks if isinstance(wide, pa.ChunkedArray) else [wide])
    ]


def _floats(column: Any) -> NDArray[np.float64]:
    """Return a column as one writable float64 array."""
    return np.concatenate([np.empty(0), *float_arrays(column)])


def _repeats(marks: NDArray[np.uint64]) -> bool:
    """Return whether any value occurs twice."""
    ordered = np.sort(marks)
    return bool((ordered[1:] == ordered[:-1]).any())


def _fingerprints(labels: Any) -> NDArray[np.uint64]:
    """Return 64 bits per label, eight bytes of every label at a time; unequal labels almost surely get unequal ones.

    A hash table of ten million labels takes 2 to 4 seconds; this and a sort take less than one.
    """
    _, offsets, content = labels.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[labels.offset : labels.offset + len(labels) + 1]
    lengths = np.diff(ends)
    padded = np.zeros(ends[-1] - ends[0] + 8, dtype=np.uint8)
    padded[:-8] = np.frombuffer(content, dtype=np.uint8)[ends[0] : ends[-1]]
    words: NDArray[np.uint64] = np.ndarray((padded.size - 7,), "<u8", padded, strides=(1,))
    starts = ends[:-1] - ends[0]
    marks = lengths.astype(np.uint64)
    shortest = int(lengths.min())
    for done in range(0, int(lengths.max()), 8):
        live = slice(None) if done < shortest else np.flatnonzero(lengths > done)
        word = words[starts[live] + done] & LOW_BYTES[np.minimum(lengths[live] - done, 8)]
        word = (word ^ marks[live]) * MULTIPLIER
        marks[live] = word ^ (word >> np.uint64(32))
    return marks
