"""Baselines: accepted runs kept in files, as they were before any policy."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, shown, spelled
from fujiscore.io.columnar import need
from fujiscore.runs.tables import RunColumns, load_run
from fujiscore.work.files import write_atomically

if TYPE_CHECKING:
    from fujiscore.runs.queries import RunRows

# The endings of baselines: Parquet, or text where there is no pyarrow.
ENDINGS = (".parquet", ".tsv.gz")
COLUMNS = ("query", "item", "score")
SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which no file can hold


def bless(run: Any, path: str | Path, **columns: Any) -> int:
    """Store a run as a baseline, atomically; return its number of queries.

    Parquet (.parquet: zstd, dictionaries, sorted by query) or text (.tsv.gz). Scores are kept to the last bit and as
    they are, before any policy. Labels must be text or integers; they keep their type in Parquet. Equal runs give equal
    files.

    Parameters
    ----------
    run : path, DataFrame, Arrow stream, mapping or 2-D array
        As in `compare_runs`.
    path : path
        The file, which is replaced.
    **columns
        `by`, `item`, `score` and `format`, as in `compare_runs`.
    """
    require_storable(run, path)
    in_parquet = str(path).endswith(ENDINGS[0])
    if in_parquet:
        need("a baseline in Parquet")
    rows = load_run(run, "the run", RunColumns(**columns)).columns
    _require_labels("queries", rows.queries)
    _require_labels("items", rows.items)
    content = _parquet(rows) if in_parquet else _text(rows)
    write_atomically(path, lambda file: file.write(content))
    return len(set(rows.queries))


def require_storable(run: Any, path: str | Path) -> None:
    """Raise, before any work, if a run cannot be stored as the baseline of a path."""
    if not str(path).endswith(ENDINGS):
        must = f"{spelled('baseline')} must end in {' or '.join(ENDINGS)} to be stored"
        raise InputError(f"{must}; got {shown(str(path))}.")
    named, file = spelled("baseline", str(path)), Path(path)
    if file.is_dir():
        raise InputError(f"{named} must name a file to be stored; it is a folder.")
    if not file.parent.is_dir():
        raise InputError(f"{named}: the folder {file.parent} does not exist. Create it first.")
    if not isinstance(run, (str, os.PathLike)):
        return
    if Path(run).is_dir():
        raise InputError(f"{run} must be a file to become a baseline; it is a folder. Write the run to one file.")
    if Path(run).exists() and file.exists() and file.samefile(run):
        raise InputError(f"{named}: this file is the run itself, which would be rewritten. Name another one.")


def _require_labels(what: str, labels: Any) -> None:
    """Raise unless labels come back from a file as they are: all of them text, or all integers of 64 bits."""
    if not isinstance(labels, list) and getattr(labels, "dtype", None) != np.dtype(object):
        return  # text in Arrow, or int64
    kinds = set()
    for label in labels:
        text = isinstance(label, str)
        integer = isinstance(label, (int, np.integer)) and not isinstance(label, bool) and -(2**63) <= label < 2**63
        if (not text and not integer) or (text and (not label or SURROGATE.search(label))):
            must = f"{what} of a baseline must be text or integers of 64 bits, as files hold them"
            raise InputError(f"{must}; got {shown(label)}. Rename it.")
        kinds.add(text)
    if len(kinds) > 1:
        raise InputError(f"{what} of a baseline must be of one type; got text and integers. Make all of them text.")


def _parquet(rows: RunRows) -> Any:
    """Return a run as the content of a Parquet file, sorted by query."""
    import pyarrow as pa
    from pyarrow import compute, parquet

    try:
        queries, items = pa.array(rows.queries), pa.array(rows.items)
    except pa.ArrowException as error:
        raise InputError(f"queries and items of a baseline must be of one type each, such as text: {error}") from error
    blocks = pa.array(np.repeat(np.arange(len(rows.queries)), rows.sizes))
    table = pa.table({"query": queries.take(blocks), "item": items, "score": pa.array(rows.scores)})
    table = table.take(compute.sort_indices(table, [("query", "ascending")]))  # stable: ties keep their order
    about = json.dumps({"columns": COLUMNS, "queries": len(set(rows.queries)), "rows": len(table)})
    sink = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({"fujiscore": about}), sink, compression="zstd")
    return sink.getbuffer()


def _text(rows: RunRows) -> bytes:
    """Return a run as compressed text, sorted by query."""
    queries = np.repeat(np.arange(len(rows.queries)), rows.sizes).tolist()
    items = rows.items.tolist() if isinstance(rows.items, np.ndarray) else rows.items.to_pylist()
    cells = [
        (rows.queries[q], item, repr(value))
        for q, item, value in zip(queries, items, rows.scores.tolist(), strict=True)
    ]
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t", lineterminator="\r\n")  # a label with either of these is quoted
    writer.writerows([COLUMNS, *sorted(cells, key=lambda row: str(row[0]))])
    return gzip.compress(text.getvalue().encode(), mtime=0)


def usual_ending() -> str:
    """Return the ending of a new baseline."""
    return ENDINGS[0] if find_spec("pyarrow") else ENDINGS[1]
