"""Process pools and a real Dask cluster of two worker processes: the same bits as threads, whoever dies meanwhile."""

import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
import pytest

import fujiscore as fj
from fujiscore.study import study
from fujiscore.tiles import run

distributed = pytest.importorskip("distributed")

SCORES = np.random.default_rng(7).random((40, 300)).round(2)


@pytest.fixture(scope="module")
def client():
    """Return a client of two worker processes, which are started again when they die."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
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
    spread = study(*table(), **QUICK, executor=client, resume=tmp_path)
    assert str(alone) == str(spread)
    for name, sample in alone.resampled.items():
        assert np.array_equal(sample.scores, spread.resampled[name].scores)
    # The client keeps finished resamples, not the workers: they may be anywhere.
    assert study(*table(), **QUICK, resume=tmp_path).resumed == 6


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


def seen(shared, number):
    """Return the process and the copy of what is shared."""
    time.sleep(0.005)
    return os.getpid(), shared.copy


def slow_sum(shared, delay, number):
    """Return something that takes a moment."""
    time.sleep(delay)
    return shared[number:].sum()


def kill_workers(client, most, after):
    """Kill some of the workers, by their process ids, after a while; return the thread that does."""
    pids = list(client.run(os.getpid).values())[:most]

    def kill():
        time.sleep(after)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


@pytest.mark.parametrize("deaths", [1, 2], ids=["one worker", "all workers, and with them what was shared"])
def test_killed_workers(client, deaths):
    shared = np.arange(5000.0)
    killer = kill_workers(client, deaths, 0.6)
    results = run(slow_sum, [(0.05, i) for i in range(60)], shared=(shared,), executor=client)
    assert not killer.is_alive()  # it was in the middle
    killer.join()
    assert results == [shared[i:].sum() for i in range(60)]
    client.wait_for_workers(2)


def test_a_killed_worker_in_the_middle_of_a_matrix_and_a_study(client):
    scores = np.random.default_rng(1).random((60, 400))
    alone = fj.pairwise(scores, ks="all", corrected=True)
    for after in (0.1, 0.4):
        killer = kill_workers(client, 1, after)
        assert fj.pairwise(scores, ks="all", corrected=True, executor=client).values.tobytes() == alone.values.tobytes()
        killer.join()
        client.wait_for_workers(2)
    slow = {"methods": ["relief", slow_method], "resamples": 8, "permutations": 20}
    whole = study(*table(), **slow)
    killer = kill_workers(client, 1, 0.5)
    assert str(study(*table(), **slow, executor=client)) == str(whole)
    killer.join()
    client.wait_for_workers(2)


def slow_method(x, y):
    """Score features, slowly."""
    time.sleep(0.2)
    return np.abs(x[y == 1].mean(axis=0))


def die(number):
    """Take the process along."""
    os.kill(os.getpid(), signal.SIGKILL)


def fail(number):
    """Raise."""
    raise ZeroDivisionError(f"tile {number}")


def test_tiles_that_always_kill_their_worker_are_given_up(client, monkeypatch):
    monkeypatch.setattr("fujiscore.executors.ATTEMPTS", 1)
    client.run_on_scheduler(partial(setattr_of, "allowed_failures", 1))
    with pytest.raises(fj.InputError, match=r"executor lost its workers time and again: 1 tile of 1 did not finish"):
        run(die, [(0,)], executor=client)
    client.run_on_scheduler(partial(setattr_of, "allowed_failures", 3))
    client.wait_for_workers(2)


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
