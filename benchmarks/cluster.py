"""Measure all pairs on two worker processes of a real Dask cluster against threads."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

from chances import some_rankings
from measured import Row, fastest

import fujiscore as fj


def rows(m=200, n=20_000, rounds=7):
    """Return the rows on a LocalCluster and on a pool of processes, after start-up, as multiples of threads' time."""
    from distributed import Client, LocalCluster

    scores = some_rankings(m, n)
    whole = fj.pairwise(scores).values.tobytes()
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        ProcessPoolExecutor(2) as pool,
    ):
        executors = {"threads": None, "a LocalCluster of two worker processes": client, "two processes": pool}
        calls = {
            name: lambda executor=executor: fj.pairwise(scores, n_jobs=2, executor=executor)
            for name, executor in executors.items()
        }
        same = all(call().values.tobytes() == whole for call in calls.values())
        times = fastest(calls, rounds)
    what = f"all pairs of {m} rankings of {n:,} items, exp grid"
    table = [Row(f"{what}: two threads", times["threads"], f"{times['threads']:.2f} s")]
    for name in list(calls)[1:]:
        ratio = times[name] / times["threads"]
        required = ("at most", 1.6, "1.6") if name.startswith("a Local") else None
        table.append(Row(f"{what}: time on {name}, relative to two threads", ratio, f"{ratio:.2f}", required))
    return [
        *table,
        Row(f"{what}: the same bits on all three", float(same), str(same).lower(), ("at least", 1.0, "true")),
    ]


if __name__ == "__main__":
    for row in rows():
        print(*row.cells(), sep=" | ")
