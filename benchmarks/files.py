"""Measure how fast files of ten million rows are read, against the required bounds."""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
from measured import Row
from pyarrow import csv, feather, parquet

from fujiscore.io import load

ROWS = 10_000_000
QUERIES = 10_000
ROUNDS = 3
BOUNDS = {"item,score as CSV": 10.0, "item,score as Parquet": 2.0}


def write_files(folder, n):
    """Write the same scores in several formats, and return what each file is."""
    labels = pa.array([f"item{i}" for i in range(n)])
    scores = np.random.default_rng(0).random(n)
    table = pa.table({"item": labels, "score": scores})
    csv.write_csv(table, folder / "x.csv")
    parquet.write_table(table, folder / "x.parquet")
    feather.write_feather(table, folder / "x.feather")
    query = np.sort(np.arange(n) % QUERIES)
    parquet.write_table(table.add_column(0, "query", pa.array(query)), folder / "long.parquet")
    return {
        "item,score as CSV": folder / "x.csv",
        "item,score as Parquet": folder / "x.parquet",
        "item,score as Feather": folder / "x.feather",
        f"query,item,score as Parquet, {QUERIES:,} queries": folder / "long.parquet",
    }


def fastest(path, n):
    """Return the least time of loading a file, and check that all of it came."""
    times = []
    for _ in range(ROUNDS):
        start = perf_counter()
        loaded = load(path)
        times.append(perf_counter() - start)
        if sum(source.scores.size for source in loaded.sources) != n:
            raise SystemExit(f"{path}: not all rows were read")
        del loaded
    return min(times)


def rows(n=ROWS):
    """Return one row per format."""
    measured = []
    with tempfile.TemporaryDirectory() as name:
        for what, path in write_files(Path(name), n).items():
            seconds = fastest(path, n)
            bound = BOUNDS.get(what)
            required = None if bound is None else ("below", bound, f"{bound:g} s")
            measured.append(Row(f"load {n:,} rows, {what}", seconds, f"{seconds:.2f} s", required))
    return measured
