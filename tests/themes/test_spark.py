"""The recipe for Spark, in local mode: one row per query, as the library gives it."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import numpy as np
import pytest

import fujiscore as fj

SCRIPT = Path(__file__).parents[2] / "examples" / "spark_runs.py"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pyspark") is None or which("java") is None, reason="needs PySpark and Java")
def test_the_recipe_gives_what_the_library_gives(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    random = np.random.default_rng(0)
    for name, queries in (("a", range(300)), ("b", range(20, 320))):
        rows = [
            (f"q{query}", f"d{item}", float(score))
            for query in random.permutation(queries)
            for item, score in zip(random.permutation(15)[:12], random.random(12).round(2), strict=True)
        ]
        columns = dict(zip(("query", "item", "score"), map(list, zip(*rows, strict=True)), strict=True))
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    command = [sys.executable, SCRIPT, *(tmp_path / name for name in ("a.parquet", "b.parquet", "out.parquet"))]
    local = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    subprocess.run(command, env=local, check=True, capture_output=True, timeout=300)
    found = {row["query"]: row for row in pq.read_table(tmp_path / "out.parquet").to_pylist()}
    expected = fj.compare_runs(tmp_path / "a.parquet", tmp_path / "b.parquet", progress=False)
    assert len(found) == 320
    for place, query in enumerate(expected.queries):
        for name in ("n_a", "n_b", "shared", "fuji", "fuji_high", "rbo", "jaccard"):
            assert found[query][name] == expected.columns[name][place]
    assert {query for query, row in found.items() if row["fuji"] is None} == {*expected.only_a, *expected.only_b}
    assert (found["q0"]["n_a"], found["q0"]["n_b"], found["q319"]["n_b"]) == (12, 0, 12)
