"""Measure comparing two runs, tables of (query, item, score): against reading them, other tools, and by size.

As a child process, `runs.py FOLDER QUERIES THREADS`, it prints seconds and peak memory of one comparison.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pyarrow as pa
from measured import Row
from pyarrow import compute, parquet

QUERIES, DEPTH, ITEMS = 1_000_000, 100, 2_000_000
LOOPED = 1_000  # queries that other tools get
COLUMNS = ["query", "doc_id", "score"]


def write_run(path, queries, depth, seed):
    """Write a run sorted by query: of 150 % as many candidates, each run lists `depth`, in an order of its own."""
    common, own = np.random.default_rng(0), np.random.default_rng(seed)
    writer = None
    for start in range(0, queries, 10_000):
        size = min(10_000, queries - start)
        names = compute.binary_join_element_wise(
            "q", compute.utf8_lpad(pa.array(np.arange(start, start + size)).cast(pa.string()), 9, "0"), ""
        )
        base = common.integers(0, ITEMS, (size, 1))
        chosen = np.argsort(own.random((size, depth + depth // 2)), axis=1)[:, :depth]
        items = pa.array(((base + 13_331 * chosen) % ITEMS).ravel()).cast(pa.string())
        table = pa.table(
            {
                "query": names.take(pa.array(np.repeat(np.arange(size), depth))),
                "doc_id": compute.binary_join_element_wise("D", items, ""),
                "score": -np.sort(-own.gamma(2.0, 5.0, (size, depth)), axis=1).ravel(),
            }
        )
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def write_runs(folder, queries, depth):
    """Write both runs to a folder."""
    folder.mkdir()
    write_run(folder / "a.parquet", queries, depth, 1)
    write_run(folder / "b.parquet", queries, depth, 2)
    return folder


def read(folder):
    """Read the columns of both runs and forget them; return the seconds."""
    start = perf_counter()
    for name in ("a", "b"):
        file = parquet.ParquetFile(folder / f"{name}.parquet", pre_buffer=False, buffer_size=1 << 20)
        for _ in file.iter_batches(1 << 17, columns=COLUMNS, use_threads=False):
            pass
    return perf_counter() - start


def measured(folder, threads):
    """Return what one comparison in a process of its own takes."""
    command = [sys.executable, __file__, str(folder), str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def child(folder, threads):
    """Compare, after a first comparison that compiles everything, and print what it took."""
    import fujiscore as fj

    few = parquet.ParquetFile(folder / "a.parquet").read_row_group(0, COLUMNS).slice(0, 2_000)
    fj.compare_runs(few, few)
    reading = read(folder)
    start, cpu = perf_counter(), process_time()
    result = fj.compare_runs(folder / "a.parquet", folder / "b.parquet", n_jobs=threads, progress=False)
    seconds = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    taken = {"read": reading, "seconds": seconds, "cpu": process_time() - cpu, "peak": peak}
    print(json.dumps({**taken, "mean": float(result.columns["fuji"].mean()), "queries": len(result)}))


def grouped(folder):
    """Return the first queries' items and scores in both runs, as pandas groups them, and the seconds per query."""
    start = perf_counter()
    found = []
    for name in ("a", "b"):
        file = parquet.ParquetFile(folder / f"{name}.parquet")
        frame = next(file.iter_batches(LOOPED * DEPTH, columns=COLUMNS)).to_pandas()
        found.append({q: (rows.doc_id.tolist(), rows.score.to_numpy()) for q, rows in frame.groupby("query")})
    pairs = [(lists, found[1][query]) for query, lists in found[0].items()]
    return pairs, (perf_counter() - start) / len(pairs)


def loop_rbo(pairs):
    """Return seconds per query of the package rbo, None if it is not installed."""
    try:
        import rbo
    except ImportError:
        return None
    start = perf_counter()
    for (one, _), (other, _) in pairs:
        rbo.RankingSimilarity(one, other).rbo(p=0.9)
    return (perf_counter() - start) / len(pairs)


def loop_weightedtau(pairs):
    """Return seconds per query of SciPy's weighted tau over the items of both lists."""
    from scipy.stats import weightedtau

    start = perf_counter()
    for one, other in pairs:
        x, y = (dict(zip(*side, strict=True)) for side in (one, other))
        items = list({**x, **y})
        weightedtau([x.get(item, 0.0) for item in items], [y.get(item, 0.0) for item in items])
    return (perf_counter() - start) / len(pairs)


def against_loops(folder, mine):
    """Return how many times as long loops over other tools take: with reading and grouping by pandas, and without."""
    pairs, reading = grouped(folder)
    table = []
    for what, loop in {"the package rbo": loop_rbo, "SciPy's weightedtau": loop_weightedtau}.items():
        seconds = loop(pairs)
        if seconds is None:
            table.append(Row(f"a loop over {what}", None, "not installed"))
            continue
        ratio, alone = (seconds + reading) / mine, seconds / mine
        table.append(
            Row(
                f"a loop over {what}, lists read and grouped by pandas, over all of that",
                ratio,
                f"{ratio:.0f} x ({1e6 * (seconds + reading):.0f} µs a query)",
                ("at least", 20.0, "20 x"),
            )
        )
        table.append(Row(f"the same without reading and grouping: {what} alone", alone, f"{alone:.1f} x"))
    return table


def rows(queries=QUERIES):
    """Return one row per figure."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        few = write_runs(folder / "few", queries // 10, DEPTH)
        many = write_runs(folder / "many", queries, DEPTH)
        small, one, two = measured(few, 2), measured(many, 1), measured(many, 2)
        mine = two["seconds"] / queries
        table = [*against_reading(one, two, queries), *memory(small, two, queries), *against_loops(few, mine)]
    return [*table, *by_size()]


def against_reading(one, two, queries):
    """Return the time, as reading twice and so much per query."""
    what = f"{queries:,} queries x {DEPTH} items x 2 runs from Parquet"
    beyond = 1e6 * (one["seconds"] - 2 * one["read"]) / queries
    return [
        Row(f"{what}: reading the columns with PyArrow", one["read"], f"{one['read']:.1f} s"),
        Row(f"{what}: compared, one thread", one["seconds"], f"{one['seconds']:.1f} s"),
        Row(f"{what}: compared, two threads", two["seconds"], f"{two['seconds']:.1f} s"),
        Row(
            f"{what}: one thread, beyond twice the reading, per query",
            beyond,
            f"{max(beyond, 0.0):.1f} µs",
            ("at most", 15.0, "15 µs"),
        ),
        Row(
            f"{what}: two threads over one",
            one["seconds"] / two["seconds"],
            f"{one['seconds'] / two['seconds']:.2f}",
            ("at least", 1.6, "1.6"),
        ),
    ]


def memory(small, large, queries):
    """Return the peak memory, and how it grows."""
    peak, growth = large["peak"] / 1e9, large["peak"] / small["peak"]
    return [
        Row(f"peak memory, {queries // 10:,} queries", small["peak"] / 1e9, f"{small['peak'] / 1e9:.2f} GB"),
        Row(f"peak memory, {queries:,} queries", peak, f"{peak:.2f} GB", ("below", 1.5, "1.5 GB")),
        Row("peak memory of ten times as many queries, over that", growth, f"{growth:.2f}"),
    ]


def by_size():
    """Return the cost per query and per item of runs of many shapes."""
    table = []
    for queries, depth in [(1_000, 10), (1_000, 100), (1_000, 1_000), (10_000, 100), (100_000, 10), (100_000, 100)]:
        with tempfile.TemporaryDirectory() as name:
            taken = measured(write_runs(Path(name) / "runs", queries, depth), 1)
        each = 1e6 * taken["seconds"] / queries
        shown = f"{each:.0f} µs a query, {1e3 * each / (2 * depth):.0f} ns an item"
        table.append(Row(f"{queries:,} queries x {depth:,} items, one thread, reading included", each, shown))
    return table


if __name__ == "__main__":
    child(Path(sys.argv[1]), int(sys.argv[2]))
