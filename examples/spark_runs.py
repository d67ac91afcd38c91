"""Compare two runs, tables of (query, item, score), with Spark: one row per query, in any order.

spark-submit spark_runs.py A.parquet B.parquet OUT.parquet

Queries are dealt to buckets by a hash. Each bucket of both tables is one task, on one core, which holds it in memory:
have so many buckets that a bucket is some 100,000 rows. Workers need fujiscore.
"""

import sys

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession, functions

BUCKETS = 200
VALUES = ("fuji", "fuji_high", "rbo", "jaccard")
COLUMNS = {"query": "string", "n_a": "long", "n_b": "long", "shared": "long"} | dict.fromkeys(VALUES, "double")
SCHEMA = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())


def compare_bucket(a: pa.Table, b: pa.Table) -> pa.Table:
    """Return one row for each query of a bucket; the values of queries in one table only are null."""
    import fujiscore as fj

    parts = []
    for table, other, there, lacking in ((a, b, "n_a", "n_b"), (b, a, "n_b", "n_a")):
        alone = table.filter(pc.invert(pc.is_in(table["query"], value_set=other["query"])))
        counts = alone.group_by("query").aggregate([("query", "count")]).rename_columns(["query", there])
        parts.append(counts.append_column(lacking, pa.array([0] * len(counts), pa.int64())))
    if pc.any(pc.is_in(a["query"], value_set=b["query"])).as_py():
        result = fj.compare_runs(a, b, by="query", item="item", score="score", n_jobs=1, progress=False)
        parts.append(
            pa.table(
                {
                    "query": pa.array(result.queries),
                    **{name: result.columns[name] for name in COLUMNS if name != "query"},
                }
            )
        )
    types = {"string": pa.string(), "long": pa.int64(), "double": pa.float64()}
    schema = pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    whole = pa.concat_tables([schema.empty_table(), *parts], promote_options="permissive")
    return whole.select(schema.names).cast(schema)


def bucketed(spark: SparkSession, path: str):
    """Return a table in buckets of queries."""
    table = spark.read.parquet(path).select("query", "item", "score")
    table = table.withColumn("query", functions.col("query").cast("string"))
    return table.groupBy(functions.expr(f"pmod(xxhash64(query), {BUCKETS})"))


def main() -> None:
    """Compare two Parquet files or folders."""
    first, second, out = sys.argv[1:4]
    spark = SparkSession.builder.appName("compare runs").getOrCreate()
    rows = bucketed(spark, first).cogroup(bucketed(spark, second)).applyInArrow(compare_bucket, SCHEMA)
    rows.write.mode("overwrite").parquet(out)
    spark.stop()


if __name__ == "__main__":
    main()
