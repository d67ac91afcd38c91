"""Compare all pairs of many rankings on whatever there is: the same script from a laptop to a cluster.

python all_pairs.py scores.csv matrix.csv [threads|local|slurm|kubernetes|coiled]

Finished parts are kept in matrix.csv.checkpoint: start it again after an interruption, anywhere, and it resumes.
"""

import sys
from contextlib import contextmanager

import fujiscore as fj


@contextmanager
def workers(where):
    """Yield what pairwise takes as executor: None for threads, else a Dask client."""
    if where == "threads":
        yield None
        return
    with cluster_for(where) as cluster, cluster.get_client() as client:
        yield client


def cluster_for(where):
    """Return a Dask cluster; every site has its own names of queues and images, and its own sizes."""
    if where == "local":
        from distributed import LocalCluster

        return LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    if where == "slurm":
        from dask_jobqueue import SLURMCluster

        cluster = SLURMCluster(queue="regular", cores=32, processes=4, memory="64GB", walltime="02:00:00")
        cluster.scale(jobs=25)
        return cluster
    if where == "kubernetes":
        from dask_kubernetes.operator import KubeCluster

        return KubeCluster(name="all-pairs", image="registry.example.org/fujiscore:latest", n_workers=100)
    if where == "coiled":
        import coiled

        return coiled.Cluster(n_workers=100)
    raise SystemExit(f"threads, local, slurm, kubernetes or coiled; got {where}")


def main():
    """Write the matrix of all pairs."""
    source, target, where = [*sys.argv[1:], "threads"][:3]
    rankings = fj.read(source)
    with workers(where) as executor:
        matrix = fj.pairwise(rankings, corrected=True, executor=executor, checkpoint=f"{target}.checkpoint")
    matrix.to_frame("pandas").to_csv(target)


if __name__ == "__main__":
    main()
