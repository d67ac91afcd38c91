"""`scan`: columns of Parquet files that `compare` reads in passes if they do not fit in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, first_few, shown
from fujiscore.inputs.coercion import EXACT, Labelled, Scores
from fujiscore.io import columnar, load, locate
from fujiscore.io.columns import choose, column_evidence
from fujiscore.io.documents import Files
from fujiscore.io.formats import is_stored_parquet
from fujiscore.io.limits import memory_limit
from fujiscore.pair.passes.stream import Column

if TYPE_CHECKING:
    from fujiscore.io import File
    from fujiscore.io.table import Roles

# Bytes that a comparison in memory takes for each item, beyond what is read (measured).
PER_ITEM = 160


def scan(path: File, *, item: str | None = None, score: str | None = None) -> Column:
    """Return a column of a Parquet file for `compare`, which reads it in passes if it does not fit in memory.

    Parameters
    ----------
    path : str or path-like
        A Parquet file, or "file:name" for one of its score columns.
    item, score : str, optional
        The columns of items and of scores; guessed as in `read` if not given.

    Returns
    -------
    Column
        Nothing but the file's schema and first rows is read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fujiscore as fj
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "scores.parquet")
    >>> pq.write_table(pa.table({"item": ["x", "y", "z"], "a": [3.0, 2.0, 1.0], "b": [3.0, 1.0, 2.0]}), file)
    >>> result = fj.compare(fj.scan(f"{file}:a"), fj.scan(f"{file}:b"), ks="exp")
    >>> result["jaccard"].values
    array([1.        , 0.33333333, 1.        ])
    >>> folder.cleanup()
    """
    found = columns(path, item=item, score=score)
    if found is None:
        raise InputError(
            f"path must name a column of numbers in a Parquet file, as in scores.parquet:a; got {shown(str(path))}. "
            "Read other files with fujiscore.read."
        )
    if len(found) > 1:
        names = [column.name for column in found]
        raise InputError(f"{path} holds {len(names)} rankings: {first_few(names)}. Name one: {path}:{names[0]}")
    return found[0]


def columns(
    path: File, *, item: str | None = None, score: str | Sequence[str] | None = None, files: Files | None = None
) -> list[Column] | None:
    """Return the score columns of a Parquet file, to be read by `load` too; None if the path names no such columns."""
    location, part = locate(path)
    file = os.fspath(location)
    # A pipe is no such file, and a file that cannot be opened has its error when it is read.
    if not os.path.isfile(file) or not os.access(file, os.R_OK) or not os.path.getsize(file):  # noqa: PTH113, PTH202
        return None
    if not is_stored_parquet((files or Files()).open(file, again=True)):
        return None
    table = _Parquet(file)
    if part is not None and (part not in table.table.numeric or score is not None):
        return None
    roles, guess = choose(table.table, item, score if part is None else [part], None)
    if roles.ranking is not None or not roles.scores or not all(table.table.numeric[name] for name in roles.scores):
        return None
    notes = () if guess is None else (f"{os.fspath(path)}: {guess}",)
    several = part is not None or len(roles.scores) > 1 or not (score is None or isinstance(score, str))
    return [table.column(roles, name, name if several else Path(file).stem, notes) for name in roles.scores]


class _Parquet:
    """A Parquet file: its metadata, and its columns as streams."""

    def __init__(self, file: str) -> None:
        self.file, self.table = file, columnar.table(file, "parquet", file)
        from pyarrow import parquet

        with columnar.complete(file, "parquet"), parquet.ParquetFile(file) as opened:
            self.metadata = opened.metadata
            self.parts = tuple(self.metadata.row_group(i).num_rows for i in range(self.metadata.num_row_groups))

    def read(self, names: Sequence[str], first: int, last: int, rows: int) -> Iterator[list[Any]]:
        """Yield columns' values in some row groups, as Arrow arrays of at most so many rows."""
        from pyarrow import parquet

        options: Any = {"metadata": self.metadata, "pre_buffer": False, "buffer_size": 1 << 20}
        groups, wanted = range(first, last + 1), list(dict.fromkeys(names))
        with columnar.complete(self.file, "parquet"), parquet.ParquetFile(self.file, **options) as opened:
            for batch in opened.iter_batches(rows, row_groups=groups, columns=wanted, use_threads=False):
                # Offsets of text may point beyond the buffer.
                batch.validate(full=not all(self.table.numeric[name] for name in names))
                yield [batch.column(name) for name in names]

    def batches(self, names: Sequence[str], first: int, last: int, rows: int) -> Iterator[list[Scores]]:
        """Yield columns' scores."""
        for columns in self.read(names, first, last, rows):
            yield [_scores(column, self.origin(name)) for name, column in zip(names, columns, strict=True)]

    def origin(self, name: str) -> str:
        """Return where a column is, for messages."""
        return f"{self.file}, column {name!r}"

    def column(self, roles: Roles, name: str, title: str, notes: tuple[str, ...]) -> Column:
        """Return a score column."""
        need = PER_ITEM * self.metadata.num_rows + columnar.decoded_size(self.metadata, 3)

        def labels(first: int, last: int, rows: int) -> Iterator[Any]:
            return (columnar.as_text(column) for (column,) in self.read([roles.item], first, last, rows))

        def in_memory(duplicates: str) -> Labelled:
            [source] = load(self.file, item=roles.item, score=name, duplicates=duplicates).sources
            return Labelled(source.items, source.scores, (*notes, *source.notes), evidence=source.evidence)

        [first_rows] = next(self.batches([name], 0, len(self.parts) - 1, columnar.SAMPLE), [np.empty(0)])
        return Column(
            title,
            self.origin(name),
            os.path.realpath(self.file),
            self.parts,
            fits=need <= memory_limit(),
            key=name,
            batches=self.batches,
            labels=labels,
            load=in_memory,
            notes=notes,
            evidence=column_evidence(self.table, roles, name, first_rows),
        )


def _scores(column: Any, origin: str) -> Scores:
    """Return Arrow numbers as float64, NaN where they are null; raise if integers lose digits."""
    import pyarrow as pa

    [scores] = columnar.float_arrays(column)
    if pa.types.is_floating(column.type):
        return scores
    for i in np.flatnonzero(np.abs(scores) >= EXACT).tolist():
        if column[i].as_py() != int(scores[i]):
            raise InputError(
                f"{origin} must hold numbers that float64 holds exactly; {column[i].as_py()} becomes "
                f"{int(scores[i])}. Replace them by smaller numbers in the same order."
            )
    return scores
