"""Process pools and a real Dask cluster of two worker processes: the same bits as threads, whoever dies meanwhile."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest

import fujiscore as fj
from fujiscore.features.study import study
from fujiscore.work.tiles import run

distributed = pytest.importorskip("distributed")

EXAMPLES = Path(__file__).parents[2] / "examples"
SCORES = np.random.default_rng(7).random((40, 300)).round(2)


@contextmanager
def two_workers():
    """Yield a client of two worker processes."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    """Return a client whose workers live on."""
    with two_workers() as client:
        yield client


@pytest.fixture
def mortal():
    """Return a client whose workers may be killed."""
    with two_workers() as client:
        yield client


def executors(client):
    """Return what users pass as executor."""
    return client, client.get_executor()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"corrected": True},
        {"p_values": True},
        {"ks": "all", "corrected": True},
        {"measure": "kendall"},
        {"measure": "pog"},
    ],
    ids=str,
)
def test_all_pairs(client, options):
    alone = fj.pairwise(SCORES, **options)
    for executor in executors(client):
        spread = fj.pairwise(SCORES, executor=executor, **options)
        for part in ("values", "raw", "p_values", "adjusted_p_values"):
            expected, got = getattr(alone, part), getattr(spread, part)
            assert (expected is None and got is None) or expected.tobytes() == got.tobytes()
        assert spread.notes == alone.notes


def test_permutations(client):
    r, s = SCORES[:2]
    options = {"permutations": 400, "random_state": 3}
    for executor in executors(client):
        alone, spread = (fj.chance(r, s, **options, **where) for where in ({}, {"executor": executor}))
        assert alone.p_value == spread.p_value
        assert alone.p_values.tobytes() == spread.p_values.tobytes()
        one, other = (fj.compare(r, s, **options, **where) for where in ({}, {"executor": executor}))
        assert str(one) == str(other)


def test_stability(client):
    for function in (fj.stability, fj.stability_curve):
        assert str(function(SCORES[:6])) == str(function(SCORES[:6], executor=client))


def table():
    """Return a small data table."""
    random = np.random.default_rng(0)
    x = random.normal(size=(80, 6))
    return x, (x[:, 0] + 0.3 * random.normal(size=80) > 0).astype(int)


QUICK = {"methods": ["relief", "mutual_information"], "resamples": 6, "permutations": 60}


def test_a_study(client, tmp_path):
    alone = study(*table(), **QUICK)
    spread = study(*table(), **QUICK, executor=client, checkpoint=tmp_path)
    assert str(alone) == str(spread)
    for name, sample in alone.resampled.items():
        assert np.array_equal(sample.scores, spread.resampled[name].scores)
    # The client keeps finished resamples, not the workers: they may be anywhere.
    assert study(*table(), **QUICK, checkpoint=tmp_path).resumed == 6


def write_runs(folder, queries, depth=40):
    """Write two runs sorted by query, in several spans."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for seed, name in enumerate("ab"):
        rng = np.random.default_rng(seed)
        columns = {
            "query": np.repeat(np.arange(queries), depth),
            "item": np.argsort(rng.random((queries, 2 * depth)), axis=1)[:, :depth].ravel(),
            "score": rng.random(queries * depth),
        }
        parquet.write_table(pa.table(columns), folder / f"{name}.parquet", row_group_size=10_000)
    return folder / "a.parquet", folder / "b.parquet"


def same_runs(one, other):
    """Return whether two comparisons of runs are the same to the bit."""
    frames = [result.to_frame("pandas") for result in (one, other)]
    return all(frames[0][name].to_numpy().tobytes() == frames[1][name].to_numpy().tobytes() for name in frames[0])


def test_runs(client, tmp_path, monkeypatch):
    monkeypatch.setattr("fujiscore.runs.spans.SPAN", 10_000)
    paths = write_runs(tmp_path, 2_000)
    on_threads = fj.compare_runs(*paths, universe=1000)
    for executor in executors(client):
        on_cluster = fj.compare_runs(*paths, universe=1000, executor=executor)
        assert same_runs(on_cluster, on_threads)
        assert on_cluster.lists.keys() == on_threads.lists.keys()
        assert set(on_cluster.notes) == set(on_threads.notes)


def test_unsorted_runs(client, tmp_path):
    paths = write_runs(tmp_path, 300)
    on_threads = fj.compare_runs(*paths)
    parquet = pytest.importorskip("pyarrow.parquet")
    for path in paths:
        table = parquet.read_table(path)
        parquet.write_table(table.take(np.random.default_rng(0).permutation(len(table))), path, row_group_size=999)
    found = fj.compare_runs(*paths, executor=client).to_frame("pandas").sort_values("query", ignore_index=True)
    assert found.equals(on_threads.to_frame("pandas"))


@pytest.mark.slow
def test_a_killed_worker_in_the_middle_of_runs(mortal, tmp_path, monkeypatch):
    monkeypatch.setattr("fujiscore.runs.spans.SPAN", 10_000)
    paths = write_runs(tmp_path, 40_000)
    whole = fj.compare_runs(*paths, ks="all")
    fj.compare_runs(*paths, ks="all", executor=mortal)  # workers have compiled
    killer = kill_workers(mortal, 1, 0.5)
    found = fj.compare_runs(*paths, ks="all", executor=mortal)
    assert not killer.is_alive()  # it was in the middle
    killer.join()
    assert same_runs(found, whole)


def test_what_tiles_share_is_sent_once_per_worker(client):
    shared = Counted()
    rows = run(seen, [(i,) for i in range(40)], shared=(shared,), executor=client)
    assert len({process for process, _ in rows}) == 2
    assert len(set(rows)) == 2  # each process has one copy of it
    with ProcessPoolExecutor(2) as pool:
        rows = run(seen, [(i,) for i in range(40)], shared=(shared,), executor=pool)
    assert len(set(rows)) == len({process for process, _ in rows}) <= 2
    assert {process for process, _ in rows} != {os.getpid()}


class Counted:
    """What knows which copy of itself it is."""

    def __setstate__(self, state):
        self.copy = os.urandom(8)

    def __getstate__(self):
        return {"large": b"x" * 1000}


def seen(shared, _number):
    """Return the process and the copy of what is shared."""
    time.sleep(0.005)
    return os.getpid(), shared.copy


def slow_sum(shared, delay, number):
    """Return something that takes a moment."""
    time.sleep(delay)
    return shared[number:].sum()


def kill_workers(client, most, after):
    """Kill some of the workers, by their process ids, after a while, and start others; return the thread that does."""
    pids = list(client.run(os.getpid).values())[:most]

    def kill():
        time.sleep(after)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        client.cluster.scale(4)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


@pytest.mark.parametrize("deaths", [1, 2], ids=["one worker", "all workers, and with them what was shared"])
def test_killed_workers(mortal, deaths):
    shared = np.random.default_rng(0).random(50_000)  # a sum tells at which addresses it was
    killer = kill_workers(mortal, deaths, 0.6)
    results = run(slow_sum, [(0.05, i) for i in range(60)], shared=(shared,), executor=mortal)
    assert not killer.is_alive()  # it was in the middle
    killer.join()
    assert results == [shared[i:].sum() for i in range(60)]


@pytest.mark.slow
def test_a_killed_worker_in_the_middle_of_a_matrix(mortal):
    scores = np.random.default_rng(1).random((60, 1500))
    options = {"ks": "all", "corrected": True}
    whole = fj.pairwise(scores, **options)
    killer = kill_workers(mortal, 1, 0.4)
    assert fj.pairwise(scores, executor=mortal, **options).values.tobytes() == whole.values.tobytes()
    killer.join()


@pytest.mark.slow
def test_a_killed_worker_in_the_middle_of_a_study(mortal):
    slow = {"methods": ["relief", slow_method], "resamples": 8, "permutations": 20}
    whole = study(*table(), **slow)
    killer = kill_workers(mortal, 1, 0.5)
    assert str(study(*table(), **slow, executor=mortal)) == str(whole)
    killer.join()


def slow_method(x, y):
    """Score features, slowly."""
    time.sleep(0.2)
    return np.abs(x[y == 1].mean(axis=0))


def die(_number):
    """Take the process along."""
    os.kill(os.getpid(), signal.SIGKILL)


def fail(number):
    """Raise."""
    raise ZeroDivisionError(f"tile {number}")


def test_tiles_that_always_kill_their_worker_are_given_up(mortal, monkeypatch):
    monkeypatch.setattr("fujiscore.work.executors.ATTEMPTS", 1)
    mortal.run_on_scheduler(partial(setattr_of, "allowed_failures", 0))
    with pytest.raises(fj.InputError, match=r"executor lost its workers time and again: 1 tile of 1 did not finish"):
        run(die, [(0,)], executor=mortal)


def setattr_of(name, value, dask_scheduler):
    """Set an attribute of the scheduler."""
    setattr(dask_scheduler, name, value)


def test_an_error_in_a_tile_is_raised_as_it_is(client):
    with pytest.raises(ZeroDivisionError, match="tile 0"):
        run(fail, [(0,)], executor=client)
    with ProcessPoolExecutor(1) as pool, pytest.raises(ZeroDivisionError, match="tile 0"):
        run(fail, [(0,)], executor=pool)


def test_a_broken_process_pool_is_told():
    with (
        ProcessPoolExecutor(1) as pool,
        pytest.raises(fj.InputError, match=r"executor broke: one of its workers died.*checkpoint='DIR'.* keeps"),
    ):
        run(die, [(0,), (1,)], executor=pool)


@pytest.mark.parametrize("given", [2, "tcp://nowhere", object()], ids=["number", "text", "object"])
def test_other_executors_are_refused(given):
    with pytest.raises(fj.InputError, match=r"executor must be a concurrent.futures Executor or a Dask client; got"):
        fj.pairwise(SCORES, executor=given)


def test_a_cluster_is_refused_with_the_remedy(client):
    with pytest.raises(fj.InputError, match=r"A Dask cluster gives a client by get_client\(\)"):
        fj.pairwise(SCORES, executor=client.cluster)


def test_a_closed_client_is_refused(client):
    with distributed.Client(client.scheduler.address) as other:
        pass
    with pytest.raises(fj.InputError, match="executor must be a Dask client with a scheduler; it is closed"):
        fj.pairwise(SCORES, executor=other)


class Other:
    """Another version of the package."""

    __version__ = "0.0.1"


def replace_package(other):
    """Put something in the place of the package, in the process where this runs; return what was there."""
    fj.original = getattr(fj, "original", fj)
    sys.modules["fujiscore"] = other if other != "original" else fj.original


@pytest.mark.parametrize(
    ("other", "told"), [(Other, r"tcp://\S+ has fujiscore 0\.0\.1"), (None, r"tcp://\S+ has no fujiscore")]
)
def test_workers_must_have_this_version_of_the_package(client, other, told):
    one = [next(iter(client.scheduler_info()["workers"]))]
    client.run(replace_package, other, workers=one)
    try:
        with pytest.raises(fj.InputError, match=told) as error:
            fj.pairwise(SCORES, executor=client)
        assert f"pip install 'fujiscore[dask]=={fj.__version__}'" in str(error.value)
    finally:
        client.run(replace_package, "original", workers=one)
    fj.pairwise(SCORES, executor=client)


# The command


def fuji(*arguments):
    """Run a command in a process of its own."""
    command = [sys.executable, "-m", "fujiscore", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def impatient(*arguments):
    """Run a command that waits for a scheduler or workers for a second."""
    program = "from fujiscore import cli\nfrom fujiscore.work import executors\nexecutors.PATIENCE = 1\ncli.main()"
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.slow
def test_commands_on_a_cluster(client, tmp_path):
    address = client.scheduler.address
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": address}))
    compare = ("compare", EXAMPLES / "model_a.csv", EXAMPLES / "model_b.csv", "--permutations", "120")
    for arguments, where in (
        (("matrix", EXAMPLES / "scores.csv", "--corrected", "--csv"), address),
        (("matrix", EXAMPLES / "scores.csv", "--p-values", "--json"), file),
        (compare, address),
        (("stability", EXAMPLES / "resamples_tree.csv"), address),
        (("study", "iris", "--resamples", "3", "--method", "relief", "--permutations", "60"), address),
    ):
        alone, spread = fuji(*arguments), fuji(*arguments, "--dask", where)
        assert (spread.returncode, spread.stdout, spread.stderr) == (0, alone.stdout, alone.stderr)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere", "file.json", "folder"])
def test_a_scheduler_that_cannot_be_reached(tmp_path, address):
    (tmp_path / "file.json").write_text('{"workers": {}}')
    (tmp_path / "folder").mkdir()
    given = address if ":" in address or address == "nowhere" else tmp_path / address
    result = impatient("matrix", EXAMPLES / "scores.csv", "--dask", given)
    assert result.returncode == 2
    assert f"fuji matrix: --dask {given} must be the address of a running Dask scheduler" in result.stderr
    assert "Start one: dask scheduler." in result.stderr
    assert len(result.stderr.splitlines()) == 1


class Page(BaseHTTPRequestHandler):
    """Answer anything as web servers do."""

    def handle(self):
        self.connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n" * 4)


def test_a_server_that_is_no_scheduler():
    with HTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        result = fuji("matrix", EXAMPLES / "scores.csv", "--dask", f"tcp://127.0.0.1:{server.server_port}")
        server.shutdown()
    assert result.returncode == 2
    assert "must be the address of a running Dask scheduler" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_scheduler_without_workers():
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as cluster:
        result = impatient("matrix", EXAMPLES / "scores.csv", "--dask", cluster.scheduler_address)
    assert result.returncode == 2
    assert f"must have workers; it has none. Start some: dask worker {cluster.scheduler_address}." in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.slow
def test_the_script_for_all_clusters(tmp_path):
    script = EXAMPLES / "all_pairs.py"
    written = {}
    for where in ("threads", "local"):
        target = tmp_path / f"{where}.csv"
        subprocess.run([sys.executable, script, EXAMPLES / "scores.csv", target, where], check=True, timeout=120)
        written[where] = target.read_text()
    assert written["local"] == written["threads"]
    assert written["local"].startswith("ranking,mutual_information,anova")
