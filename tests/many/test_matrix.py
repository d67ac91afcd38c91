"""P-values of all pairs: those of each pair alone, adjusted for their number, and marked wherever cells are shown."""

from __future__ import annotations

import csv
import json
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import combinations

import numpy as np
import pytest
from click.testing import CliRunner

import fujiscore as fj
from fujiscore.cli import fuji
from fujiscore.inference.multiplicity import ADJUSTMENTS, adjusted


def some_rankings(m=5, n=60, seed=0):
    """Two alike, the others random; one rounded, one mostly zero."""
    rng = np.random.default_rng(seed)
    scores = rng.pareto(1.2, (m, n))
    scores[1] = scores[0] * np.exp(rng.normal(size=n) / 3)
    scores[2] = np.round(scores[2], 1)
    scores[3] = np.where(scores[3] > 1, scores[3], 0)
    return scores


@pytest.mark.parametrize("zero_tail", ["include", "exclude"])
@pytest.mark.parametrize("ks", ["exp", "all", [3, 20], 7])
@pytest.mark.parametrize("measure", ["fuji", "jaccard", "hamming", "average_overlap", "rbo"])
def test_every_pair_alone(measure, ks, zero_tail):
    scores = some_rankings(n=130)
    for alternative in ("greater", "less", "two-sided"):
        options = {"measure": measure, "ks": ks, "zero_tail": zero_tail, "alternative": alternative}
        result = fj.pairwise(scores, **options, p_values=True)
        assert result.alternative == alternative
        assert np.isnan(np.diag(result.p_values)).all()
        for i, j in combinations(range(len(scores)), 2):
            alone = fj.chance(scores[i], scores[j], **options)
            assert result.raw[i, j] == pytest.approx(alone.auc, abs=1e-12)
            assert result.p_values[i, j] == pytest.approx(alone.p_value, abs=1e-12, rel=1e-9)
            assert result.p_values[j, i] == result.p_values[i, j]


@pytest.mark.parametrize("options", [{"ks": "exp"}, {"ks": "all"}, {"measure": "rbo"}])
def test_every_pair_alone_without_ties_by_input_order(options):
    scores = np.random.default_rng(2).random((3, 50))
    result = fj.pairwise(scores, ties="stable", p_values=True, **options)
    alone = fj.chance(scores[0], scores[2], ties="stable", **{"ks": "exp", **options})
    assert result.p_values[0, 2] == pytest.approx(alone.p_value, rel=1e-9)


def test_close_to_permutations():
    scores = some_rankings(n=80)
    result = fj.pairwise(scores, p_values=True)
    for i, j in [(0, 3), (2, 4), (0, 1)]:
        drawn = fj.chance(scores[i], scores[j], ks="exp", permutations=1000).permutations
        value = result.as_raw().values[i, j]
        assert result.p_values[i, j] == pytest.approx((drawn.aucs >= value - 1e-12).mean(), abs=0.06)


@pytest.mark.parametrize("adjust", ["bh", "holm"])
def test_each_pair_counts_once(adjust):
    result = fj.pairwise(some_rankings(), p_values=True, adjust=adjust)
    upper = np.triu_indices(5, 1)
    expected = adjusted(result.p_values[upper], adjust)
    np.testing.assert_array_equal(result.adjusted_p_values[upper], expected)
    np.testing.assert_array_equal(result.adjusted_p_values.T[upper], expected)
    np.testing.assert_array_equal(result.insignificant[upper], expected > 0.05)
    assert not np.diag(result.insignificant).any()
    assert f"adjusted for 10 pairs by {ADJUSTMENTS[adjust]}" in str(result)


def test_values_are_those_without_p_values():
    scores = some_rankings()
    for options in ({}, {"corrected": True}, {"ks": "all"}):
        plain, tested = fj.pairwise(scores, **options), fj.pairwise(scores, **options, p_values=True)
        assert plain.values.tobytes() == tested.values.tobytes()
        assert plain.p_values is None
        assert plain.insignificant is None
        assert tested.as_corrected().p_values is tested.p_values


@pytest.mark.parametrize("ks", ["exp", "all"])
def test_the_same_whatever_tiles_threads_and_executors(monkeypatch, ks):
    scores = some_rankings(9, 50)
    expected = fj.pairwise(scores, ks=ks, p_values=True, n_jobs=1)
    with ThreadPoolExecutor(2) as pool:
        for options in ({"n_jobs": 3}, {"executor": pool}):
            result = fj.pairwise(scores, ks=ks, p_values=True, **options)
            assert result.p_values.tobytes() == expected.p_values.tobytes()
    monkeypatch.setattr(import_module("fujiscore.many.pairwise"), "TILE", 2)
    assert fj.pairwise(scores, ks=ks, p_values=True).p_values.tobytes() == expected.p_values.tobytes()


def test_two_collections_are_one_family():
    scores = some_rankings(6)
    square = fj.pairwise(scores, p_values=True)
    result = fj.pairwise(scores[:2], scores[2:], p_values=True)
    np.testing.assert_allclose(result.p_values, square.p_values[:2, 2:], rtol=1e-10)
    np.testing.assert_array_equal(result.adjusted_p_values, adjusted(result.p_values, "bh"))
    assert "adjusted for 8 pairs" in str(result)


def test_a_measure_that_is_not_symmetric_is_tested_both_ways():
    result = fj.pairwise(some_rankings(), measure="pog", p_values=True)
    assert (result.values != result.values.T).any()
    assert "adjusted for 20 pairs" in str(result)


def test_reordered_cells_keep_their_p_values():
    result = fj.pairwise(some_rankings(), p_values=True)
    order = [3, 1, 4, 0, 2]
    moved = result.reordered(order)
    np.testing.assert_array_equal(moved.adjusted_p_values, result.adjusted_p_values[np.ix_(order, order)])
    np.testing.assert_array_equal(moved.insignificant, result.insignificant[np.ix_(order, order)])


def test_where_chance_leaves_no_choice_nothing_is_significant():
    scores = {"a": [3, 2, 1, 0] * 6, "flat": [1] * 24, "b": [3, 2, 0, 1] * 6}
    result = fj.pairwise(scores, p_values=True)
    assert np.isnan(result.p_values[1]).all()
    assert result.insignificant[1].tolist() == [True, False, True]
    assert "adjusted for 1 pair by" in str(result)


def test_few_items_are_refused():
    with pytest.raises(fj.InputError, match=r"p_values needs at least 20 items; got 19\. .*permutations=1000"):
        fj.pairwise(some_rankings(n=19), p_values=True)
    assert fj.pairwise(some_rankings(n=20), p_values=True).p_values is not None


def test_signs_are_refused():
    with pytest.raises(fj.InputError, match="p_values cannot be combined with negative='split'"):
        fj.pairwise(some_rankings() - 1, negative="split", p_values=True)


def test_truncated_lists_need_a_universe():
    lists = {"a": {"x": 3, "y": 2, "z": 1}, "b": {"y": 3, "x": 2, "w": 1}}
    options = {"missing": "zero", "p_values": True}
    small, large = (fj.pairwise(lists, universe=n, **options).p_values[0, 1] for n in (50, 5000))
    assert 0 < large < small < 0.05
    for n, found in ((50, small), (5000, large)):
        assert found == pytest.approx(fj.chance(lists["a"], lists["b"], missing="zero", universe=n, ks="exp").p_value)


@pytest.mark.parametrize("measure", ["kendall", "correlation", "krizek"])
def test_measures_without_a_null_are_refused(measure):
    with pytest.raises(fj.InputError, match=f"p_values needs a measure .* {measure} has none. .*permutations=1000"):
        fj.pairwise(some_rankings(), measure=measure, p_values=True)


def test_cut_ties_and_unknown_adjustments_are_refused():
    with pytest.raises(fj.InputError, match="p_values needs ties='closed': 2 has ties that top sets cut"):
        fj.pairwise(some_rankings(), ties="stable", p_values=True)
    with pytest.raises(fj.InputError, match="adjust must be one of"):
        fj.pairwise(some_rankings(), p_values=True, adjust="bonferroni")


class TestCommand:
    @pytest.fixture
    def file(self, tmp_path):
        path = tmp_path / "scores.csv"
        rows = [f"i{i}," + ",".join(map(str, own)) for i, own in enumerate(some_rankings(4).T)]
        path.write_text("\n".join(["item,a,b,c,d", *rows]))
        return str(path)

    def run(self, *arguments):
        return CliRunner().invoke(fuji, ["matrix", *arguments])

    def test_marks_in_the_heat_map(self, file):
        matrix = fj.pairwise(fj.read(file), p_values=True)
        assert matrix.insignificant.any()
        text = self.run(file, "--p-values", "--no-cluster").stdout
        for row, name in enumerate(matrix.names):
            cells = next(line for line in text.splitlines() if line.startswith(f"{name} ")).split()[1:]
            assert [cell.endswith("~") for cell in cells] == matrix.insignificant[row].tolist()
        assert "~ not significant: p > 0.05, adjusted by Benjamini-Hochberg" in text
        assert "~" not in self.run(file).stdout

    def test_one_against_all(self, file):
        text = self.run(file, "--p-values", "--adjust", "holm", "--reference", "a").stdout
        expected = fj.pairwise(fj.read(file)[["a"]], fj.read(file)[["b", "c", "d"]], p_values=True, adjust="holm")
        line = next(line for line in text.splitlines() if line.split()[:2] == ["a", "b"])
        assert line.split()[-1] == f"{expected.adjusted_p_values[0, 0]:.2g}"
        assert "adjusted by Holm" in text

    def test_csv_and_json(self, file):
        matrix = fj.pairwise(fj.read(file), p_values=True)
        data = json.loads(self.run(file, "--p-values", "--no-cluster", "--json").stdout)
        assert data["p_values"]["fuji"][0][1] == matrix.p_values[0, 1]
        assert data["adjusted_p_values"]["fuji"][0][0] is None
        assert (data["adjustment"], data["alternative"]) == ("bh", "greater")
        rows = list(csv.DictReader(self.run(file, "--p-values", "--no-cluster", "--csv").stdout.splitlines()))
        found = {(row["value"], row["ranking"]): row for row in rows}
        assert float(found["adjusted_p_value", "a"]["c"]) == matrix.adjusted_p_values[0, 2]
        assert float(found["top-weighted AUC", "a"]["c"]) == matrix.values[0, 2]

    def test_alternatives_are_named(self, file):
        matrix = fj.pairwise(fj.read(file), p_values=True, alternative="two-sided")
        options = (file, "--p-values", "--alternative", "two-sided", "--no-cluster")
        data = json.loads(self.run(*options, "--json").stdout)
        assert data["alternative"] == "two-sided"
        assert data["p_values"]["fuji"][0][2] == matrix.p_values[0, 2]
        text = " ".join(self.run(*options).stdout.split())
        assert "~ not significant: p (two-sided) > 0.05" in text
        assert "p-values (two-sided): without permutations" in str(matrix)

    def test_too_wide_for_a_heat_map(self, tmp_path):
        scores = np.random.default_rng(0).uniform(size=(30, 40))
        names = [f"ranking{i}" for i in range(30)]
        path = tmp_path / "wide.csv"
        rows = [",".join([f"i{i}", *map(str, own)]) for i, own in enumerate(scores.T)]
        path.write_text("\n".join([",".join(["item", *names]), *rows]))
        text = self.run(str(path), "--p-values").stdout
        assert "adjusted p" in text
        assert max(map(len, text.splitlines())) <= 80

    def test_refused_in_the_words_of_the_command(self, file):
        result = self.run(file, "--p-values", "--measure", "kendall")
        assert result.exit_code == 2
        assert "--p-values needs a measure" in result.stderr
        assert "--permutations 1000" in result.stderr


def test_picture_shows_what_is_not_significant():
    import matplotlib.pyplot as plt

    matrix = fj.pairwise(some_rankings(), p_values=True)
    ax = matrix.plot()
    np.testing.assert_array_equal(ax.images[0].get_alpha() < 1, matrix.insignificant)
    marked = np.array([text.get_text().endswith("~") for text in ax.texts]).reshape(5, 5)
    np.testing.assert_array_equal(marked, matrix.insignificant)
    assert "not significant" in ax.get_xlabel()
    plt.close(ax.figure)
