"""Values computed with the authors' code, on synthetic rankings (in tests/data) and on the published ones.

That code breaks ties by input order, so every call here says ties="stable". The published rankings lie outside the
project; their tests skip where the folder is absent.
"""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import oracle
import pytest

import fujiscore as fj

SYNTHETIC = json.loads((Path(__file__).parents[1] / "data" / "synthetic.json").read_text(encoding="utf-8"))
KINDS = ("cont", "signed", "zeros", "ties", "tieszero", "signedties", "allzero", "huge")
AUTHORS_RULES = {"ties": "stable", "negative": "clip"}
ALGORITHMS = ("Genie3", "RForest", "relief", "mutual_info")
RENAMED = {"fuzzy_jaccard": "fuji", "fuzzy_gamma": "gamma"}
# The authors' code takes scores closer than 1e-12 for equal: in this file some are, so single points differ.
NEAR_TIES = ("colon", "RForest")
# Mean area on the grid 1, 2, 4, ..., n over the 24 data sets: FUJI, Jaccard.
MEAN_AREAS = {
    ("Genie3", "RForest"): (0.806, 0.450),
    ("Genie3", "relief"): (0.661, 0.330),
    ("Genie3", "mutual_info"): (0.749, 0.395),
    ("RForest", "relief"): (0.647, 0.252),
    ("RForest", "mutual_info"): (0.688, 0.268),
    ("relief", "mutual_info"): (0.701, 0.340),
}


def tolerance_of(measure):
    """Return how far a value may lie from the authors', whose correlation is a quotient of plain sums."""
    return 1e-9 if measure == "correlation" else 1e-12


def area(values):
    """Return the area under values at evenly spaced points, from the definition."""
    return float(oracle.auc([Fraction(value) for value in values]))


def test_the_synthetic_cases_are_complete():
    assert Counter(case["kind"] for case in SYNTHETIC) == dict.fromkeys(KINDS, 2)
    for case in SYNTHETIC:
        assert set(case["curves"]) == set(fj.PAPER_MEASURES)
        assert {len(values) for values in case["curves"].values()} == {len(case["r"])}


@pytest.mark.parametrize("measure", fj.PAPER_MEASURES)
@pytest.mark.parametrize("number", range(16), ids=lambda number: f"{SYNTHETIC[number]['kind']}{number % 2 + 1}")
class TestSynthetic:
    def test_whole_curve_and_its_area(self, number, measure):
        case = SYNTHETIC[number]
        expected = case["curves"][measure]
        curve = fj.curve(case["r"], case["s"], measure, **AUTHORS_RULES)
        np.testing.assert_allclose(curve.values, expected, rtol=0, atol=tolerance_of(measure))
        assert curve.auc == pytest.approx(area(expected), abs=tolerance_of(measure))

    def test_single_values(self, number, measure):
        """A value at one k takes another way than the curve."""
        case = SYNTHETIC[number]
        expected = case["curves"][measure]
        values = [fj.score(case["r"], case["s"], k, measure, **AUTHORS_RULES) for k in range(1, len(expected) + 1)]
        np.testing.assert_allclose(values, expected, rtol=0, atol=tolerance_of(measure))

    def test_labels_in_another_order(self, number, measure):
        """Labelled rankings are aligned to the first one's order, which decides ties."""
        case = SYNTHETIC[number]
        r, s = ({f"item {i}": score for i, score in enumerate(case[side])} for side in "rs")
        turned = dict(reversed(s.items()))
        curve = fj.curve(r, turned, measure, **AUTHORS_RULES)
        np.testing.assert_allclose(curve.values, case["curves"][measure], rtol=0, atol=tolerance_of(measure))


@pytest.mark.parametrize("grid", ["exp", "squared"])
@pytest.mark.parametrize("number", range(16), ids=lambda number: f"{SYNTHETIC[number]['kind']}{number % 2 + 1}")
def test_fuji_on_synthetic_grids(number, grid):
    case = SYNTHETIC[number]
    expected = case[f"fuji_{grid}"]
    curve = fj.curve(case["r"], case["s"], ks=grid, **AUTHORS_RULES)
    np.testing.assert_allclose(curve.values, expected, rtol=0, atol=1e-12)
    assert fj.auc(case["r"], case["s"], ks=grid, **AUTHORS_RULES) == pytest.approx(area(expected), abs=1e-12)


@cache
def read_fimp(path):
    """Return item to score of a .fimp file: two header lines, then index, name, [rank], [score]."""
    lines = path.read_text(encoding="utf-8").splitlines()[2:]
    rows = [line.split("\t") for line in lines if line]
    scores = {row[1]: float(row[3].strip("[]")) for row in rows}
    assert len(scores) == len(rows)
    return scores


@pytest.fixture(scope="module")
def published(shared):
    """Return a reader of a data set's ranking by an algorithm."""
    return lambda dataset, algorithm: read_fimp(shared / "data" / "published_rankings" / f"{dataset}_{algorithm}.fimp")


def test_curves_of_all_measures(shared, published):
    seen = {}
    with np.load(shared / "golden" / "curves.npz") as golden:
        for key in golden:
            dataset, first, second, name = key.split("/")
            measure = RENAMED.get(name, name)
            r, s = published(dataset, first), published(dataset, second)
            curve = fj.curve(r, s, measure, **AUTHORS_RULES)
            np.testing.assert_allclose(curve.values, golden[key], rtol=0, atol=tolerance_of(measure), err_msg=key)
            seen.setdefault(measure, set()).add((dataset, first, second))
    assert set(seen) == set(fj.PAPER_MEASURES)
    assert {len(pairs) for pairs in seen.values()} == {30}


def test_exp_grid(shared, published):
    golden = json.loads((shared / "golden" / "exp_grid.json").read_text(encoding="utf-8"))
    assert len(golden) == 60
    for key, expected in golden.items():
        dataset, first, second = key.split("/")
        near_ties = any((dataset, algorithm) == NEAR_TIES for algorithm in (first, second))
        tolerance = 6e-3 if near_ties else 1e-12
        comparison = fj.compare(published(dataset, first), published(dataset, second), ks="exp", **AUTHORS_RULES)
        for name in ("fuji", "jaccard"):
            assert comparison[name].ks.tolist() == expected["ks"]
            np.testing.assert_allclose(comparison[name].values, expected[name], rtol=0, atol=tolerance, err_msg=key)
            assert comparison.auc[name] == pytest.approx(expected[f"auc_{name}"], abs=tolerance)


def test_mean_areas_over_all_data_sets(shared, published):
    files = (shared / "data" / "published_rankings").glob("*_relief.fimp")
    datasets = sorted(path.name.removesuffix("_relief.fimp") for path in files)
    assert len(datasets) == 24
    for first, second in combinations(ALGORITHMS, 2):
        areas = []
        for dataset in datasets:
            comparison = fj.compare(published(dataset, first), published(dataset, second), ks="exp", **AUTHORS_RULES)
            areas.append(list(comparison.auc.values()))
        assert np.mean(areas, axis=0) == pytest.approx(MEAN_AREAS[first, second], abs=1e-3)


def test_what_the_paper_says_of_the_genes(published):
    r, s = published("genes", "Genie3"), published("genes", "RForest")
    curve = fj.curve(r, s, "jaccard", ks=[3, 15], **AUTHORS_RULES)
    assert curve.values == pytest.approx([0.5, 0.154], abs=5e-4)
    assert sum(r[name] > 0 and s[name] > 0 for name in r) == 2116


def test_ties_in_published_rankings_are_reported(published):
    """18,415 of Genie3's 20,531 scores are 0: the last points of the grid cut through them."""
    r = published("genes", "Genie3")
    assert sum(score == 0 for score in r.values()) == 18415
    comparison = fj.compare(r, published("genes", "relief"), ks="exp", **AUTHORS_RULES)
    assert comparison.ties_cut > 0
    assert "ties='closed'" in str(comparison)
