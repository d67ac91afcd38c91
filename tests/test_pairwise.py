"""All pairs: every value is that of the pair alone, whatever the tiles, the threads and the executor."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fujiscore as fj
from fujiscore import tiles


def some_rankings(m, n, seed=0):
    """Noisy copies of heavy-tailed scores; one rounded, one mostly zero."""
    rng = np.random.default_rng(seed)
    scores = rng.pareto(1.2, n) * np.exp(rng.normal(size=(m, n)))
    scores[1] = np.round(scores[1])
    scores[2] = np.where(scores[2] > 2, scores[2], 0)
    return scores


@pytest.mark.parametrize("ties", ["stable", "closed"])
@pytest.mark.parametrize("ks", ["exp", "all", [3, 40]])
@pytest.mark.parametrize("measure", list(fj.MEASURES))
def test_every_pair_alone(measure, ks, ties):
    if ties == "closed" and not fj.MEASURES[measure].unequal:
        pytest.skip("closed ties make sets of unequal sizes")
    scores = some_rankings(5, 60)
    found = fj.pairwise(scores, measure=measure, ks=ks, ties=ties)
    for i in range(5):
        for j in range(5):
            alone = fj.auc(scores[i], scores[j], measure, ks=ks, ties=ties)
            assert found.values[i, j] == pytest.approx(alone, abs=1e-12)


@pytest.mark.parametrize("measure", ["fuji", "jaccard", "hamming", "wald"])
@pytest.mark.parametrize("ties", ["stable", "closed"])
@pytest.mark.parametrize("ks", ["exp", "all"])
def test_corrected_as_the_pair_alone(measure, ties, ks):
    scores = some_rankings(4, 90)
    found = fj.pairwise(scores, measure=measure, ks=ks, ties=ties, corrected=True)
    for i in range(4):
        for j in range(i):
            alone = fj.chance(scores[i], scores[j], measure, ks=ks, ties=ties).corrected_auc
            assert found.values[i, j] == pytest.approx(alone, abs=1e-12)


@pytest.mark.parametrize(("measure", "ks"), [("fuji", "exp"), ("fuji", "all"), ("gamma", "exp"), ("pog", "exp")])
def test_bit_identical_whatever_tiles_and_threads(monkeypatch, measure, ks):
    scores = some_rankings(11, 1200)
    reference = fj.pairwise(scores, measure=measure, ks=ks, n_jobs=1).values.tobytes()
    assert fj.pairwise(scores, measure=measure, ks=ks, n_jobs=3).values.tobytes() == reference
    for size in (1, 3, 100):
        monkeypatch.setattr(sys.modules["fujiscore.pairwise"], "TILE", size)
        assert fj.pairwise(scores, measure=measure, ks=ks).values.tobytes() == reference


def test_any_executor():
    scores = some_rankings(4, 50)
    reference = fj.pairwise(scores).values.tobytes()
    with ThreadPoolExecutor(2) as pool:
        assert fj.pairwise(scores, executor=pool).values.tobytes() == reference


def test_a_process_pool():
    scores = some_rankings(4, 50)
    with ProcessPoolExecutor(1) as pool:
        assert fj.pairwise(scores, executor=pool).values.tobytes() == fj.pairwise(scores).values.tobytes()


def test_symmetric_with_a_diagonal_of_ones():
    found = fj.pairwise(some_rankings(6, 40))
    assert (found.values == found.values.T).all()
    assert (np.diagonal(found.values) == 1).all()


def test_asymmetric_measures_are_computed_both_ways():
    scores = np.array([[3.0, 3.0, 1.0, 0.0], [4.0, 3.0, 2.0, 1.0], [1.0, 1.0, 1.0, 2.0]])
    found = fj.pairwise(scores, measure="pog", ks=[1, 2], ties="closed").values
    assert found[0, 1] == pytest.approx(fj.auc(scores[0], scores[1], "pog", ks=[1, 2], ties="closed"))
    assert found[0, 1] != found[1, 0]


def test_rectangle_and_one_reference():
    scores = some_rankings(7, 80)
    square = fj.pairwise(scores).values
    assert (fj.pairwise(scores[:2], scores[2:]).values == square[:2, 2:]).all()
    reference = fj.pairwise({"mine": scores[0]}, {f"r{i}": own for i, own in enumerate(scores[1:])})
    assert reference.names == ("mine",)
    assert reference.columns[0] == "r0"
    assert reference["mine", "r2"] == square[0, 3]


def test_labels_are_aligned():
    a = pd.Series({"x": 3.0, "y": 2.0, "z": 1.0})
    found = fj.pairwise({"a": a, "b": a[::-1]}, {"c": {"z": 1, "x": 3, "y": 2}})
    assert (found.values == 1).all()
    with pytest.raises(fj.InputError, match="c must score every item; it lacks 1 of 3"):
        fj.pairwise({"a": a}, {"c": {"z": 1, "x": 3}})


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_from_and_to_frames(make):
    table = make({"first": [3.0, 2.0, 1.0], "second": [1.0, 2.0, 3.0]})
    found = fj.pairwise(table)
    assert found.names == ("first", "second")
    assert found.to_frame("pandas").loc["first", "second"] == found.values[0, 1]
    assert found.to_frame("polars")["ranking"].to_list() == ["first", "second"]


def test_clustered_puts_similar_rankings_side_by_side():
    up, down = np.arange(1.0, 40.0), np.arange(40.0, 1.0, -1.0)
    found = fj.pairwise({"u1": up, "d1": down, "u2": up + 0.1, "d2": down + 0.1}).clustered()
    assert {found.names[:2], found.names[2:]} in (
        {("u1", "u2"), ("d1", "d2")},
        {("u2", "u1"), ("d1", "d2")},
        {("u1", "u2"), ("d2", "d1")},
        {("u2", "u1"), ("d2", "d1")},
    )
    assert found["u1", "d1"] == pytest.approx(fj.auc(up, down, ks="exp"))


def test_scores_near_overflow_take_the_safe_way():
    scores = some_rankings(3, 1100) / 10
    huge = scores / scores.max() * 1.7e308
    np.testing.assert_allclose(fj.pairwise(huge).values, fj.pairwise(scores).values, rtol=1e-12)


def test_an_error_in_a_tile_stops_the_rest():
    ran = []

    def tile(i):
        ran.append(i)
        if i == 0:
            raise ZeroDivisionError
        return i

    with pytest.raises(ZeroDivisionError):
        tiles.run(tile, [(i,) for i in range(500)], n_jobs=1)
    assert ran == [0]


def test_ctrl_c_stops_cleanly():
    code = (
        "import numpy as np, fujiscore as fj\n"
        "x = np.random.default_rng(0).random((400, 20000))\n"
        "fj.pairwise(x[:3])\n"
        "print('go', flush=True)\n"
        "try:\n    fj.pairwise(x, ks='all')\n"
        "except KeyboardInterrupt:\n    print('stopped', flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "go\n"
        try:
            process.wait(0.5)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert out == "stopped\n"
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([],), {}, "rankings must hold at least one ranking"),
        (({"a": [1, 2]},), {"measure": "gamma", "corrected": True}, "gamma has none"),
        ((np.zeros(3),), {}, "rankings must be a 2-D array, one row a ranking"),
        (("file.csv",), {}, "Read files with fujiscore.read"),
        (([[1, 2], [1, 2, 3]],), {}, "must score the same items"),
        (([[1, 2], [1, -2]],), {}, "1 must hold non-negative scores"),
        (([[1, 2], [1, 2]],), {"ties": "random"}, "ties must be one of 'stable', 'closed'; got 'random'"),
    ],
)
def test_errors(arguments, options, message):
    with pytest.raises(fj.InputError, match=message):
        fj.pairwise(*arguments, **options)
