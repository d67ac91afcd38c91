"""All pairs: every value is that of the pair alone, whatever the tiles, the threads and the executor."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import ClassVar

import numpy as np
import oracle
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import fujiscore as fj
from fujiscore.work import tiles

# The module, not the class of a like name.
ranking_module = import_module("fujiscore.inputs.ranking")


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
    scores = some_rankings(5, 60)
    result = fj.pairwise(scores, measure=measure, ks=ks, ties=ties)
    for i in range(5):
        for j in range(5):
            alone = fj.compare(scores[i], scores[j], measure, ks=ks, ties=ties).auc[measure]
            assert result.values[i, j] == pytest.approx(alone, abs=1e-12, nan_ok=True)
    undefined = np.isnan(result.values)
    assert undefined.any() == (ties == "closed" and not fj.MEASURES[measure].unequal)
    assert not undefined.all()
    if ks == "all" and not fj.MEASURES[measure].whole:
        curve = oracle.curve(measure, scores[0].tolist(), scores[3].tolist(), range(1, 61), ties=ties)
        assert result.values[0, 3] == pytest.approx(float(oracle.auc(curve)), abs=1e-10)


@pytest.mark.parametrize("measure", ["fuji", "jaccard", "hamming", "wald"])
@pytest.mark.parametrize("ks", ["exp", "all"])
def test_corrected_as_the_pair_alone(measure, ks):
    scores = some_rankings(4, 90)
    result = fj.pairwise(scores, measure=measure, ks=ks, corrected=True)
    raw = fj.pairwise(scores, measure=measure, ks=ks)
    assert result.corrected
    assert result.as_raw().values.tobytes() == raw.values.tobytes()
    assert result.as_raw().as_corrected().values.tobytes() == result.values.tobytes()
    for i in range(4):
        for j in range(i):
            alone = fj.chance(scores[i], scores[j], measure, ks=ks).corrected_auc
            assert result.values[i, j] == pytest.approx(alone, abs=1e-12)


def test_corrected_needs_a_pass_that_computed_it():
    with pytest.raises(fj.InputError, match="as_corrected needs a matrix computed with corrected"):
        fj.pairwise([[1, 2, 3], [3, 1, 2]]).as_corrected()


def test_corrected_with_cut_ties_is_refused():
    scores = some_rankings(3, 90)
    with pytest.raises(fj.InputError, match="corrected needs ties='closed': 1 has ties that top sets cut"):
        fj.pairwise(scores, ties="stable", corrected=True)
    untied = scores[[0, 0]] + np.arange(90) * 1e-9
    fj.pairwise(untied, ties="stable", corrected=True)


@pytest.mark.parametrize("measure", [name for name in fj.MEASURES if not fj.MEASURES[name].whole])
def test_the_same_pair_shows_the_same_number_as_compare(measure):
    r, s = some_rankings(3, 200)[[0, 2]]
    top = fj.compare(r, s, measure).top_weighted_auc[measure]
    result = fj.pairwise({"r": r, "s": s}, measure=measure)
    assert result.area == "top-weighted AUC"
    assert result["r", "s"] == pytest.approx(top, abs=1e-12, nan_ok=True)
    chance = fj.compare(r, s, measure).chance
    if measure in chance:
        level = next(own for own in fj.compare(r, s, measure).levels() if own.place == "top-weighted AUC")
        corrected = fj.pairwise({"r": r, "s": s}, measure=measure, corrected=True)["r", "s"]
        assert corrected == pytest.approx(level.corrected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("measure", ["rbo", "rbo:0.5", "average_overlap", "kendall", "spearman", "weightedtau"])
@pytest.mark.parametrize("ks", ["exp", "all", "squared"])
def test_measures_of_whole_lists_do_not_depend_on_the_grid(measure, ks):
    r, s = some_rankings(3, 70)[[0, 2]]
    result = fj.pairwise({"r": r, "s": s}, measure=measure, ks=ks)
    assert result.area == "value over the whole list"
    whole = fj.compare(r, s, [measure]).auc[result.measure]
    assert result["r", "s"] == pytest.approx(whole, abs=1e-12)
    assert fj.pairwise({"r": r, "s": s}, measure=measure, ks=20).area == "value at k = 20"
    if measure == "kendall":
        assert whole == pytest.approx(stats.kendalltau(r, s).statistic)


def test_each_ranking_is_sorted_once(monkeypatch):
    sorts = []
    descending = ranking_module._kernels.order.descending
    monkeypatch.setattr(ranking_module._kernels.order, "descending", lambda *args: sorts.append(1) or descending(*args))
    scores = some_rankings(5, 40)
    for options in ({}, {"ks": "all"}, {"corrected": True}, {"measure": "kendall"}, {"ks": "all", "corrected": True}):
        fj.pairwise(scores, n_jobs=1, **options)
        assert len(sorts) == 5, options
        sorts.clear()
    result = fj.compare(scores[0], scores[1], k=[3], permutations=20)
    assert str(result)
    assert result.levels()
    assert result.explain(5).items
    assert len(sorts) == 2
    sorts.clear()
    both = fj.rankings({"a": scores[0], "b": -scores[1]}, negative="clip")
    fj.compare(both["a"], both["b"])
    fj.explain(both["a"], both["b"], 3)
    fj.compare(fj.rankings({"x": both["a"]}), both["b"])
    assert len(sorts) == 2


def test_pairwise_forgets_the_orders_it_need_not_keep():
    both = fj.rankings(some_rankings(4, 2000))
    fj.pairwise(both)
    assert not any(ranking.is_sorted for ranking in both)


def test_the_arrays_of_users_are_copied_once():
    rankings = fj.rankings(some_rankings(4, 30))
    assert rankings.block() is rankings.block()


class TestNames:
    def test_rows_and_pairs(self):
        result = fj.pairwise({f"r{i}": own for i, own in enumerate(some_rankings(3, 40))})
        assert result["r0"] == dict(zip(result.columns, result.values[0], strict=True))
        assert result["r0", "r2"] == result.values[0, 2]
        for key in ("r3", ("r0", "r3"), ("r3", "r0"), 0, ("r0", "r1", "r2")):
            with pytest.raises(fj.InputError, match="the matrix must"):
                result[key]

    def test_two_collections_by_position_are_no_square(self):
        a, b = some_rankings(4, 30)[:2], some_rankings(4, 30)[2:]
        result = fj.pairwise(a, b)
        assert result.names == result.columns == ("0", "1")
        assert not result.square
        least = f"{result.values.min():.4f} to {result.values.max():.4f}"
        assert least in str(result)
        with pytest.raises(fj.InputError, match="clustered needs one collection"):
            result.clustered()
        with pytest.raises(fj.InputError, match="clustered needs one collection"):
            result.reordered([1, 0]).clustered()

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_a_ranking_called_ranking(self, library):
        result = fj.pairwise({"ranking": [3, 2, 1], "b": [1, 3, 2]})
        table = result.to_frame(library)
        labels = table.index.tolist() if library == "pandas" else table["ranking_"].to_list()
        assert labels == ["ranking", "b"]
        assert list(table["ranking"]) == result.values[:, 0].tolist()

    def test_reordered(self):
        result = fj.pairwise(some_rankings(4, 30), corrected=True)
        moved = result.reordered([2, 0, 1])
        assert moved.names == ("2", "0", "1")
        for view in (lambda own: own, fj.results.Matrix.as_raw):
            assert view(moved)["2", "1"] == view(result)["2", "1"]


def test_clustered_with_undefined_cells():
    up = np.arange(1.0, 20.0)
    result = fj.pairwise({"u1": up, "dead": np.ones(19), "u2": up + 0.5, "d": up[::-1]}, measure="kendall")
    assert np.isnan(result["u1", "dead"])
    names = result.clustered().names
    assert sorted(names) == ["d", "dead", "u1", "u2"]
    assert abs(names.index("u1") - names.index("u2")) == 1


def test_dead_rankings_are_named_and_never_agree_beyond_chance():
    result = fj.pairwise({"x": np.ones(9), "y": np.zeros(9), "live": np.arange(9.0)}, corrected=True)
    assert any(note.startswith("x, y give every item the same score") for note in result.notes)
    assert np.isnan(result["x", "y"])
    assert np.isnan(result["x", "x"])
    assert "corrected values are undefined in 4 of 9 cells: chance alone gives 1 there" in result.notes
    assert result["x", "live"] == pytest.approx(0, abs=1e-12)
    single = fj.compare(np.ones(9), np.zeros(9))
    assert np.isnan(single.chance["fuji"].corrected_auc)
    assert sum("gives every item the same score" in note for note in single.notes) == 2


def test_the_convention_for_undefined_values_is_noted():
    for measure in ("gamma", "correlation"):
        notes = fj.pairwise([[1, 1, 1], [3, 2, 1]], measure=measure).notes
        assert any(note.startswith(f"{measure} counts 1 by the paper's convention") for note in notes)


def test_all_negative_scores_are_refused_for_fuji_only():
    logs = {"a": [-1.0, -2.0, -3.0], "b": [-3.0, -1.0, -2.0]}
    for call in (fj.pairwise, lambda own, **policies: fj.compare(*own.values(), **policies)):
        with pytest.raises(fj.InputError, match=r"all of its scores are negative.*transform='exp'"):
            call(logs, negative="clip")
    assert fj.pairwise(logs, negative="clip", measure="jaccard")["a", "b"] < 1
    assert fj.pairwise(logs, transform="exp")["a", "b"] < 1


class TestTruncated:
    LISTS: ClassVar = {"a": {"x": 3, "y": 2, "z": 1}, "b": {"x": 3, "w": 2}, "c": {"v": 4, "x": 2, "w": 1}}

    def test_without_a_universe(self):
        result = fj.pairwise(self.LISTS, missing="zero")
        assert result.ks.tolist() == [1, 2]
        assert "truncated lists: k ends at 2, the length of the shortest" in result.notes
        with pytest.raises(fj.InputError, match="pass universe=N"):
            fj.pairwise(self.LISTS, missing="zero", corrected=True)
        with pytest.raises(fj.InputError, match="a must score every item; it lacks 2 of 5"):
            fj.pairwise(self.LISTS)

    @pytest.mark.parametrize("ks", ["exp", "all", [1, 3]])
    def test_with_a_universe(self, ks):
        result = fj.pairwise(self.LISTS, universe=1000, corrected=True, ks=ks)
        three = fj.rankings(self.LISTS, universe=1000)
        for a, b in combinations("abc", 2):
            alone = fj.chance(three[a], three[b], ks=ks if ks == [1, 3] else result.ks)
            assert result[a, b] == pytest.approx(alone.corrected_auc, abs=1e-12)
        assert fj.pairwise(three, corrected=True, ks=ks).values.tobytes() == result.values.tobytes()

    def test_two_collections(self):
        result = fj.pairwise({"a": self.LISTS["a"]}, {"c": self.LISTS["c"]}, universe=40)
        square = fj.pairwise({name: self.LISTS[name] for name in "ac"}, universe=40)
        assert result["a", "c"] == square["a", "c"]


@pytest.mark.parametrize(("measure", "ks"), [("fuji", "exp"), ("fuji", "all"), ("gamma", "exp"), ("pog", "exp")])
def test_bit_identical_whatever_tiles_and_threads(monkeypatch, measure, ks):
    scores = some_rankings(11, 1200)
    reference = fj.pairwise(scores, measure=measure, ks=ks, n_jobs=1).values.tobytes()
    assert fj.pairwise(scores, measure=measure, ks=ks, n_jobs=3).values.tobytes() == reference
    for size in (1, 3, 100):
        monkeypatch.setattr(import_module("fujiscore.many.pairwise"), "TILE", size)
        assert fj.pairwise(scores, measure=measure, ks=ks).values.tobytes() == reference


def test_any_executor():
    scores = some_rankings(4, 50)
    reference = fj.pairwise(scores).values.tobytes()
    with ThreadPoolExecutor(2) as pool:
        assert fj.pairwise(scores, executor=pool).values.tobytes() == reference


def test_a_process_pool():
    scores = some_rankings(4, 50)
    with ProcessPoolExecutor(1) as pool:
        for options in ({}, {"corrected": True}, {"measure": "rbo:0.8"}, {"ks": "all", "corrected": True}):
            alone = fj.pairwise(scores, **options).values.tobytes()
            assert fj.pairwise(scores, executor=pool, **options).values.tobytes() == alone
        lists = fj.rankings({"a": {"x": 3, "y": 2}, "b": {"x": 1, "z": 2}, "c": {"x": 2, "y": 1}}, universe=9)
        alone = fj.stability_curve(lists, ks="all", corrected=True).values
        np.testing.assert_array_equal(fj.stability_curve(lists, ks="all", corrected=True, executor=pool).values, alone)


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
        ((np.zeros(3),), {}, "rankings must be a 2-D array, one row per ranking"),
        (("file.csv",), {}, "Read files with fujiscore.read"),
        (([[1, 2], [1, 2, 3]],), {}, "must score the same items"),
        (([[1, 2], [1, -2]],), {}, "1 must hold non-negative scores"),
        (([[1, 2], [1, 2]],), {"ties": "random"}, "ties must be one of 'closed', 'stable'; got 'random'"),
    ],
)
def test_errors(arguments, options, message):
    with pytest.raises(fj.InputError, match=message):
        fj.pairwise(*arguments, **options)


def merges_by_hand(distances, linkage):
    """Heights of an agglomerative clustering from its definition: merge the two closest clusters until one is left."""
    combine = {"average": np.mean, "complete": np.max, "single": np.min}[linkage]
    clusters = [[i] for i in range(len(distances))]
    steps = []
    while len(clusters) > 1:
        pairs = {
            (a, b): combine([distances[i][j] for i in clusters[a] for j in clusters[b]])
            for a, b in combinations(range(len(clusters)), 2)
        }
        a, b = min(pairs, key=pairs.get)
        steps.append((pairs[a, b], frozenset(clusters[a] + clusters[b])))
        clusters = [own for c, own in enumerate(clusters) if c not in {a, b}] + [clusters[a] + clusters[b]]
    return steps


class TestDendrogram:
    @pytest.mark.parametrize("linkage", ["average", "complete", "single"])
    def test_by_hand(self, linkage):
        matrix = fj.pairwise(some_rankings(7, 50))
        tree = matrix.dendrogram(linkage)
        members = [frozenset([i]) for i in range(7)]
        for (first, second, height, size), (at, cluster) in zip(
            tree.merges, merges_by_hand(1 - matrix.values, linkage), strict=True
        ):
            assert height == pytest.approx(at, abs=1e-12)
            assert members[int(first)] | members[int(second)] == cluster
            assert size == len(cluster)
            members.append(cluster)
        assert sorted(tree.leaves) == sorted(matrix.names)

    def test_leaves_are_the_order_of_the_clustered_matrix(self):
        matrix = fj.pairwise(some_rankings(9, 40))
        assert matrix.dendrogram().leaves == matrix.clustered().names

    def test_a_measure_that_is_not_symmetric_takes_the_mean_of_both_directions(self):
        matrix = fj.pairwise(np.round(some_rankings(3, 40)), measure="pog")
        mean = (matrix.values + matrix.values.T) / 2
        assert (matrix.values != matrix.values.T).any()
        assert matrix.dendrogram().merges[0, 2] == pytest.approx(1 - mean[np.triu_indices(3, 1)].max())

    def test_two_rankings_and_equal_ones(self):
        tree = fj.pairwise({"a": [3, 2, 1], "b": [3, 2, 1]}).dendrogram()
        assert tree.merges.tolist() == [[0, 1, 0, 2]]
        assert list(tree.to_frame().columns) == ["first", "second", "distance", "size"]
        assert str(tree) == "2 rankings, average linkage of 1 - FUJI, top-weighted AUC: a, b"


class TestEmbedding:
    def test_distances_that_a_plane_holds_come_back(self):
        points = np.random.default_rng(3).uniform(0, 0.4, (8, 2))
        distances = np.linalg.norm(points[:, None] - points, axis=2)
        matrix = replace(fj.pairwise(some_rankings(8, 30)), raw=1 - distances)
        result = matrix.embed()
        again = np.linalg.norm(result.coordinates[:, None] - result.coordinates, axis=2)
        np.testing.assert_allclose(again, distances, atol=1e-12)
        assert result.share == pytest.approx(1)
        assert result.negative_share == 0
        assert not result.notes

    def test_eigenvalues_from_the_definition(self):
        matrix = fj.pairwise(some_rankings(8, 30))
        centring = np.eye(8) - 1 / 8
        products = -0.5 * centring @ (1 - matrix.values) ** 2 @ centring
        expected = np.sort(np.linalg.eigvals(products).real)[::-1]
        result = matrix.embed(3)
        np.testing.assert_allclose(result.eigenvalues, expected, atol=1e-12)
        for axis in range(3):
            own = result.coordinates[:, axis]
            np.testing.assert_allclose(products @ own, expected[axis] * own, atol=1e-12)
            assert own @ own == pytest.approx(expected[axis])
            assert own[np.abs(own).argmax()] > 0
        assert result.shares == pytest.approx(expected[:3] / np.abs(expected).sum())
        assert result.negative_share == pytest.approx(-expected[expected < 0].sum() / np.abs(expected).sum())

    def test_variation_that_no_map_shows_is_said(self):
        a, b, c = (0.379, 0.440), (0.404, 0.398), (5.032, 0.021)
        result = fj.pairwise({"a": a, "b": b, "c": c}, ks=1).embed()
        assert result.eigenvalues[-1] < 0
        assert "of the variation has negative eigenvalues, which no map shows" in str(result)

    @pytest.mark.parametrize("scores", [[[3, 2, 1], [3, 2, 1]], [[1, 2, 3]] * 4])
    def test_rankings_in_one_place(self, scores):
        result = fj.pairwise(scores).embed()
        assert not result.coordinates.any()
        assert np.isnan(result.share)
        assert "no variation" in str(result)

    def test_two_rankings_have_one_axis(self):
        matrix = fj.pairwise({"a": [3, 2, 1], "b": [1, 2, 3]})
        result = matrix.embed()
        assert result.coordinates[:, 1].tolist() == [0, 0]
        assert np.ptp(result.coordinates[:, 0]) == pytest.approx(1 - matrix["a", "b"])
        assert result.to_frame().columns.tolist() == ["ranking", "axis_1", "axis_2"]

    def test_dimensions_are_checked(self):
        with pytest.raises(fj.InputError, match="dimensions must be"):
            fj.pairwise([[3, 2, 1], [1, 2, 3]]).embed(1)


@pytest.mark.parametrize("method", ["dendrogram", "embed"])
def test_trees_and_maps_refuse_what_has_no_distances(method):
    constant = fj.pairwise({"a": [3, 2, 1], "flat": [1, 1, 1], "c": [1, 2, 3]}, measure="kendall")
    message = "Kendall's tau is undefined for 2 of 3 pairs, most often with flat. Leave that ranking out"
    with pytest.raises(fj.InputError, match=f"{method} needs a value for every pair; {message}"):
        getattr(constant, method)()
    with pytest.raises(fj.InputError, match=f"{method} needs at least 2 rankings; got 1"):
        getattr(fj.pairwise([[3, 2, 1]]), method)()
    with pytest.raises(fj.InputError, match=f"{method} needs one collection of rankings"):
        getattr(fj.pairwise([[3, 2, 1]], [[1, 2, 3]]), method)()
    with pytest.raises(fj.InputError, match="linkage must be"):
        constant.dendrogram("ward")


def test_one_minus_fuji_is_not_a_metric():
    """The counterexample in docs/measures.md."""
    a, b, c = (0.379, 0.440), (0.404, 0.398), (5.032, 0.021)
    ab, bc, ac = (1 - fj.score(*pair, k=1) for pair in ((a, b), (b, c), (a, c)))
    # Of a and c the top items differ, and each has a membership in the other's top set.
    assert ac == pytest.approx(1 - (0.379 / 0.440 + 0.021 / 5.032) / 2)
    assert ac > 7 * (ab + bc)
    text = (Path(__file__).parents[2] / "docs" / "measures.md").read_text()
    assert f"of a and c is {ac:.3f}, although that of a and b is {ab:.3f} and that of b and c is {bc:.3f}" in text
