"""Two Parquet columns too long for memory: time against reading both columns twice, peak memory, and the same result.

Takes 2 GB of disk; FUJISCORE_LONG_ITEMS sets another number of items. Linux only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from measured import Row, as_installed

ITEMS = int(float(os.environ.get("FUJISCORE_LONG_ITEMS", "1e8")))
IN_MEMORY = 10**7
ROUNDS = 5
# In a process of its own: peak memory counts all that it ever did. Loading the kernels is left out of the time.
PROGRAM = """
import json, sys, time
from pathlib import Path
import pyarrow.parquet as pq
import fujiscore as fj
from fujiscore.pair.passes.stream import ROWS

file, rounds = sys.argv[1], int(sys.argv[2])

def read():
    for _ in range(2):
        with pq.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20) as opened:
            for _ in opened.iter_batches(ROWS, columns=["a", "b"]):
                pass

def compare(file):
    return fj.compare(fj.scan(f"{file}:a"), fj.scan(f"{file}:b"), ks="exp")

def seconds(call, *arguments):
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start

compare(sys.argv[3]).levels()
read()
times = [(seconds(read), seconds(compare, file)) for _ in range(rounds)]
result = compare(file)
levels = [[level.value, level.expected, level.z, level.p_value] for level in result.levels()]
status = Path("/proc/self/status").read_text()  # not getrusage, which counts what the parent took before exec
peak = 1024 * int(status.partition("VmHWM:")[2].split()[0])
print(json.dumps({"times": times, "peak": peak, "levels": levels, "notes": result.notes}))
"""


def write(path, n):
    """Write a file of n items and two columns of scores, in row groups of pyarrow's default size."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    schema = pa.schema([("item", pa.int64()), ("a", pa.float64()), ("b", pa.float64())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n, 1 << 20):
            a = rng.pareto(1.5, min(1 << 20, n - start))
            b = a * np.exp(rng.normal(0, 0.5, a.size))
            writer.write_table(pa.table({"item": np.arange(start, start + a.size), "a": a, "b": b}, schema=schema))


def in_passes(file, small, rounds):
    """Return the times of reading twice and of comparing, the peak memory, and the result, of a process of its own."""
    command = [sys.executable, "-c", PROGRAM, str(file), str(rounds), str(small)]
    environment = as_installed(FUJISCORE_MEMORY_LIMIT="1MB", FUJISCORE_COMPILE="always")
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)


def in_memory(file):
    """Return the same result from arrays."""
    import pyarrow.parquet as pq

    import fujiscore as fj

    table = pq.read_table(file, columns=["a", "b"])
    result = fj.compare(table["a"].to_numpy(), table["b"].to_numpy(), ks="exp")
    return [[level.value, level.expected, level.z, level.p_value] for level in result.levels()]


def rows():
    """Return time, memory and deviation."""
    with tempfile.TemporaryDirectory() as folder:
        small, medium, large = (Path(folder, f"{name}.parquet") for name in ("small", "medium", "large"))
        write(small, 10**5)
        write(medium, IN_MEMORY)
        known = in_memory(medium)
        ours = in_passes(medium, small, 1)["levels"]
        apart = max(abs(x / y - 1) for a, b in zip(ours, known, strict=True) for x, y in zip(a[:2], b[:2], strict=True))
        medium.unlink()
        write(large, ITEMS)
        measured = in_passes(large, small, ROUNDS)
    ratio, read, compared = min((compared / read, read, compared) for read, compared in measured["times"])
    what = f"one pair of {ITEMS:.0e} items from Parquet"
    return [
        Row(
            f"{what}: time over that of reading both columns twice",
            ratio,
            f"{ratio:.2f} ({compared:.1f} s, {read:.1f} s)",
            ("at most", 2.0, "2"),
        ),
        Row(f"{what}: peak memory", measured["peak"], f"{measured['peak'] / 1e6:.0f} MB", ("below", 1e9, "1 GB")),
        Row(
            f"{IN_MEMORY:.0e} items: values and chance levels, largest relative deviation from those in memory",
            apart,
            f"{apart:.1e}",
            ("at most", 1e-12, "1e-12"),
        ),
    ]
