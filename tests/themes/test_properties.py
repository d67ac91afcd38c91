"""What must hold for any two rankings, measure by measure, by name."""

from __future__ import annotations

import random
import re
from dataclasses import astuple
from fractions import Fraction
from itertools import permutations

import numpy as np
import oracle
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import FULL_RANGE, SMALL, distinct_pairs, heavy, pairs, spread

import fujiscore as fj
from fujiscore.paper.properties import TITLES as TRAITS
from fujiscore.paper.properties import paper_mark

# With sets of unequal size these treat the two rankings differently; all others are symmetric.
NOT_SYMMETRIC = {"pog", "npog", "ndcg"}
# With sets of one size, too.
ONE_SIDED = {"ndcg"}
SYMMETRIC = {
    "fuji",
    "jaccard",
    "hamming",
    "kuncheva",
    "lustgarten",
    "wald",
    "krizek",
    "cwrel",
    "correlation",
    "pearson",
    "gamma",
    "dice",
    "ochiai",
    "kappa",
    "average_overlap",
    "rbo",
    "kendall",
    "weightedtau",
    "spearman",
    "rank_agreement",
    "sign_agreement",
    "signed_rank_agreement",
    "pairwise_rank_agreement",
}
EQUAL_SIZES = {"kuncheva", "krizek", "average_overlap", "rbo", "ndcg"}
COINCIDE = ("npog", "kuncheva", "wald", "pearson", "kappa")
SET_BASED = {"jaccard", "hamming", "pog", "krizek", "cwrel", "lustgarten", "dice", "ochiai", "kappa", *COINCIDE}
AGREEMENTS = {"rank_agreement", "sign_agreement", "signed_rank_agreement", "pairwise_rank_agreement"}
ORDER_BASED = {"gamma", "average_overlap", "rbo", "kendall", "weightedtau", "spearman", *AGREEMENTS}
SCORE_BASED = {"fuji", "correlation", "ndcg"}
# SciPy computes these point by point: too slow for many items at every k.
POINTWISE = {"weightedtau", "spearman"}
# NaN where the union is constant in a ranking, where closed ties make the sets differ in size, where the union is one
# item, and where there is nothing to gain.
MAY_BE_UNDEFINED = {"kendall", "weightedtau", "spearman", "kuncheva", "krizek", "pairwise_rank_agreement", "ndcg"}
WHOLE = {"average_overlap", "rbo", "kendall", "weightedtau", "spearman", "pairwise_rank_agreement", "ndcg"}
NAMES = tuple(fj.MEASURES)
UNEQUAL = tuple(name for name in NAMES if name not in EQUAL_SIZES)
ATOL = {"correlation": 1e-9}


def sizes(n):
    return st.tuples(st.integers(1, n), st.integers(1, n))


def test_the_lists_are_complete():
    assert set(fj.MEASURES) == SYMMETRIC | NOT_SYMMETRIC
    assert not SYMMETRIC & NOT_SYMMETRIC
    assert set(fj.MEASURES) == SET_BASED | ORDER_BASED | SCORE_BASED
    assert {name for name, measure in fj.MEASURES.items() if measure.by_rank} == ORDER_BASED | {"correlation", "ndcg"}
    assert {name for name, m in fj.MEASURES.items() if not m.unequal or m.one_k} == EQUAL_SIZES
    assert {name for name, measure in fj.MEASURES.items() if not measure.symmetric} == NOT_SYMMETRIC
    assert {name for name, measure in fj.MEASURES.items() if measure.whole} == WHOLE
    assert {name for name, measure in fj.MEASURES.items() if measure.undefined == 1} == {"gamma", "correlation"}
    assert len(fj.PAPER_MEASURES) == 13
    assert all(name == measure.name for name, measure in fj.MEASURES.items())


def test_the_registry_cannot_be_changed():
    with pytest.raises(TypeError):
        fj.MEASURES["mine"] = fj.MEASURES["fuji"]


@pytest.mark.parametrize("measure", [name for name in NAMES if name not in ONE_SIDED])
@given(pair=pairs(SMALL))
def test_symmetry_at_one_k(measure, pair):
    """Closed ties may make the sets differ in size, which two measures do not treat alike."""
    r, s = pair
    for ties in ("stable",) if measure in NOT_SYMMETRIC else ("closed", "stable"):
        first, second = fj.curve(r, s, measure, ties=ties).values, fj.curve(s, r, measure, ties=ties).values
        np.testing.assert_allclose(first, second, atol=1e-12)


@pytest.mark.parametrize("measure", sorted(SYMMETRIC - EQUAL_SIZES))
@given(pair=pairs(SMALL), data=st.data())
def test_symmetry_at_two_sizes(measure, pair, data):
    r, s = pair
    k1, k2 = data.draw(sizes(len(r)))
    mirrored = fj.score(s, r, (k2, k1), measure)
    assert fj.score(r, s, (k1, k2), measure) == pytest.approx(mirrored, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("measure", sorted(ONE_SIDED))
def test_no_symmetry_at_one_size(measure):
    r, s = [9, 4, 3, 2, 1], [4, 5, 3, 2, 1]
    assert fj.score(r, s, 1, measure) != pytest.approx(fj.score(s, r, 1, measure))


@pytest.mark.parametrize("measure", sorted(NOT_SYMMETRIC - ONE_SIDED))
def test_no_symmetry_at_two_sizes(measure):
    r, s = [5, 4, 3, 2, 1], [5, 3, 4, 2, 1]
    assert fj.score(r, s, (1, 2), measure) != pytest.approx(fj.score(s, r, (2, 1), measure))


@pytest.mark.parametrize("measure", NAMES)
@given(pair=st.one_of(pairs(SMALL), pairs(FULL_RANGE)))
def test_range_of_curve_and_area(measure, pair):
    curve = fj.curve(*pair, measure)
    low, high = fj.MEASURES[measure].low, fj.MEASURES[measure].high
    undefined = np.isnan(curve.values)
    assert measure in MAY_BE_UNDEFINED or not undefined.any()
    assert np.all((low <= curve.values) & (curve.values <= high) | undefined)
    assert undefined.any() or low - 1e-12 <= curve.auc <= high + 1e-12


@pytest.mark.parametrize("measure", UNEQUAL)
@given(pair=pairs(SMALL), data=st.data(), ties=st.sampled_from(["stable", "closed"]))
def test_range_at_two_sizes(measure, pair, data, ties):
    value = fj.score(*pair, data.draw(sizes(len(pair[0]))), measure, ties=ties)
    if np.isnan(value):
        assert measure in MAY_BE_UNDEFINED
    else:
        assert fj.MEASURES[measure].low <= value <= fj.MEASURES[measure].high


@pytest.mark.parametrize("measure", NAMES)
@given(pair=pairs(SMALL))
def test_equal_rankings_have_the_greatest_value(measure, pair):
    r, _ = pair
    values = fj.curve(r, r, measure).values
    if measure == "lustgarten":
        # Not 1 below n (Table 1: no maximum), but no other ranking's value at equal sizes is greater.
        values = fj.curve(r, r, measure, ties="stable").values
        assert np.all(values >= fj.curve(*pair, measure, ties="stable").values)
    elif measure in {"kendall", "weightedtau", "spearman"}:
        constant = [len({r[x] for x in oracle.top(r, k)}) == 1 for k in range(1, len(r) + 1)]
        assert np.isnan(values).tolist() == constant
        np.testing.assert_allclose(values[~np.isnan(values)], 1.0, rtol=0, atol=1e-12)
    elif measure in {"pairwise_rank_agreement", "ndcg"}:
        nothing = [max(r) == 0 if measure == "ndcg" else len(oracle.top(r, k)) == 1 for k in range(1, len(r) + 1)]
        assert np.isnan(values).tolist() == nothing
        np.testing.assert_allclose(values[~np.isnan(values)], 1.0, rtol=0, atol=1e-12)
    else:
        np.testing.assert_allclose(values, 1.0, rtol=0, atol=1e-12)


@given(distinct_pairs())
def test_fuji_is_1_along_the_curve_only_for_the_same_order(pair):
    r, s = pair
    values = fj.curve(r, s).values
    if oracle.order(r) == oracle.order(s):
        assert np.all(values == 1)
        assert fj.auc(r, s) == 1
    else:
        assert np.any(values < 1)
        assert fj.auc(r, s) < 1


@given(distinct_pairs(), st.data())
def test_fuji_is_1_only_for_equal_sets(pair, data):
    r, s = pair
    k = data.draw(st.integers(1, len(r)))
    assert (fj.fuji(r, s, k) == 1) == (oracle.top(r, k) == oracle.top(s, k))


@given(st.one_of(pairs(SMALL), pairs(FULL_RANGE)), st.sampled_from(["stable", "closed"]))
def test_fuji_is_at_least_jaccard(pair, ties):
    options = {"ties": ties, "zero_tail": "exclude"}
    assert np.all(fj.curve(*pair, **options).values >= fj.curve(*pair, "jaccard", ties=ties).values)


@given(st.one_of(pairs(SMALL), distinct_pairs()))
def test_fuji_is_jaccard_and_credit_for_near_misses(pair):
    r, s = pair
    for k in range(1, len(r) + 1):
        in_r, in_s = oracle.top(r, k, "stable"), oracle.top(s, k, "stable")
        only_r = oracle.memberships(s, in_s, in_r - in_s).values()
        only_s = oracle.memberships(r, in_r, in_s - in_r).values()
        jaccard = fj.score(r, s, k, "jaccard", ties="stable")
        credit = (sum(only_r) / len(only_r) + sum(only_s) / len(only_s)) / 2 if only_r else 0
        expected = jaccard + (1 - jaccard) * float(credit)
        assert fj.fuji(r, s, k, ties="stable") == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("measure", NAMES)
@given(pair=pairs(st.floats(2.0**-20, 2.0**20)), powers=st.tuples(*[st.integers(-1000, 939)] * 2))
def test_powers_of_two_change_nothing(measure, pair, powers):
    r, s = pair
    scaled = [[x * 2.0**power for x in scores] for scores, power in zip(pair, powers, strict=True)]
    np.testing.assert_array_equal(fj.curve(*scaled, measure).values, fj.curve(r, s, measure).values)


@pytest.mark.parametrize("measure", NAMES)
@given(pair=distinct_pairs(), factor=st.sampled_from([1e-300, 1e-7, 3.0, 1e300, 1e305]))
def test_scaling_changes_rounding_only(measure, factor, pair):
    r, s = pair
    values = fj.curve([factor * x for x in r], s, measure).values
    np.testing.assert_allclose(values, fj.curve(r, s, measure).values, rtol=1e-13, atol=ATOL.get(measure, 0))


@pytest.mark.parametrize("seed", range(3))
def test_scaling_many_items_changes_rounding_only(seed):
    r, s = np.array(heavy(1200, seed)), np.array(heavy(1200, seed + 9))
    for factor in (1e-290, 2.0**970):
        np.testing.assert_allclose(
            fj.curve(r * factor, s, ks="exp").values, fj.curve(r, s, ks="exp").values, rtol=1e-13
        )


@pytest.mark.parametrize("measure", NAMES)
@given(pair=pairs(SMALL), data=st.data(), ties=st.sampled_from(["stable", "closed"]))
def test_labels_decide_and_their_order_does_not(measure, pair, data, ties):
    """The second ranking may come in any order: the first one's order of the items stands, ties and all."""
    names = [f"item {i}" for i in range(len(pair[0]))]
    r, s = (dict(zip(names, scores, strict=True)) for scores in pair)
    mixed = data.draw(st.permutations(names))
    expected = fj.curve(*pair, measure, ties=ties).values
    shuffled = {name: s[name] for name in mixed}
    np.testing.assert_array_equal(fj.curve(r, shuffled, measure, ties=ties).values, expected)
    np.testing.assert_array_equal(fj.curve(pd.Series(r), pd.Series(shuffled), measure, ties=ties).values, expected)


@pytest.mark.parametrize("measure", NAMES)
@given(pair=distinct_pairs(), data=st.data())
def test_without_ties_the_order_of_the_items_does_not_matter(measure, pair, data):
    r, s = pair
    mixed = data.draw(st.permutations(range(len(r))))
    values = fj.curve([r[i] for i in mixed], [s[i] for i in mixed], measure).values
    np.testing.assert_allclose(values, fj.curve(r, s, measure).values, rtol=1e-13, atol=ATOL.get(measure, 0))


@pytest.mark.parametrize("measure", NAMES)
@given(pair=pairs(SMALL), data=st.data())
def test_the_order_of_the_items_is_irrelevant(measure, pair, data):
    r, s = pair
    mixed = data.draw(st.permutations(range(len(r))))
    values = fj.curve([r[i] for i in mixed], [s[i] for i in mixed], measure).values
    expected = fj.curve(r, s, measure).values
    np.testing.assert_allclose(values, expected, rtol=1e-13, atol=ATOL.get(measure, 1e-15))


def test_stable_ties_keep_the_order_of_the_items():
    assert fj.score([1, 1, 0], [0, 1, 0], 1, "jaccard", ties="stable") == 0
    assert fj.score([0, 1, 1], [0, 1, 0], 1, "jaccard", ties="stable") == 1
    assert fj.score([1, 1, 0], [0, 1, 0], 1, "jaccard") == fj.score([0, 1, 1], [0, 1, 0], 1, "jaccard") == 1 / 2


@pytest.mark.parametrize("measure", NAMES)
@given(pair=distinct_pairs())
def test_closed_equals_stable_where_nothing_ties(measure, pair):
    stable, closed = (fj.curve(*pair, measure, ties=ties).values for ties in ("stable", "closed"))
    np.testing.assert_array_equal(stable, closed)


@pytest.mark.parametrize("measure", NAMES)
@given(pair=pairs(SMALL, least=2), data=st.data(), ties=st.sampled_from(["stable", "closed"]))
def test_a_sparse_grid_is_the_full_curve_at_its_points(measure, ties, pair, data):
    n = len(pair[0])
    ks = sorted(data.draw(st.sets(st.integers(1, n), min_size=1)))
    whole = fj.curve(*pair, measure, ties=ties).values
    sparse = fj.curve(*pair, measure, ks=ks, ties=ties)
    assert sparse.ks.tolist() == ks
    np.testing.assert_allclose(sparse.values, whole[np.array(ks) - 1], rtol=1e-13, atol=ATOL.get(measure, 0))


@pytest.mark.parametrize("measure", [name for name in NAMES if name not in POINTWISE])
@pytest.mark.parametrize("grid", ["exp", "squared"])
def test_named_grids_of_many_items_are_the_full_curve_at_their_points(measure, grid):
    r, s = heavy(1300, 1), heavy(1300, 2)
    sparse = fj.curve(r, s, measure, ks=grid)
    assert sparse.ks.tolist() == oracle.grid(grid, 1300)
    whole = fj.curve(r, s, measure).values
    np.testing.assert_allclose(sparse.values, whole[sparse.ks - 1], rtol=1e-12, atol=ATOL.get(measure, 1e-15))


@pytest.mark.parametrize("measure", NAMES)
@given(pair=pairs(SMALL), data=st.data())
def test_one_value_is_a_point_of_the_curve(measure, pair, data):
    k = data.draw(st.integers(1, len(pair[0])))
    at_k = fj.curve(*pair, measure).values[k - 1]
    value = fj.score(*pair, k, measure)
    assert value == pytest.approx(at_k, rel=1e-13, abs=ATOL.get(measure, 0), nan_ok=True)
    np.testing.assert_equal(fj.curve(*pair, measure, ks=[k]).auc, value)


@given(pairs(SMALL))
def test_compare_gives_the_curves_and_areas_of_all_measures(pair):
    comparison = fj.compare(*pair, NAMES)
    assert tuple(comparison.curves) == NAMES
    for name in NAMES:
        values = fj.curve(*pair, name).values
        np.testing.assert_array_equal(comparison[name].values, values)
        np.testing.assert_equal(comparison.auc[name], values[-1] if name in WHOLE else fj.auc(*pair, name))
        top = [k - 1 for k in oracle.grid("exp", len(pair[0]))]
        np.testing.assert_allclose(comparison.top_weighted_auc[name], oracle.auc(values[top].tolist()), rtol=1e-13)


@given(pairs(SMALL))
def test_measures_that_coincide_for_equal_sizes(pair):
    first = fj.curve(*pair, COINCIDE[0], ties="stable").values
    for name in COINCIDE[1:]:
        np.testing.assert_allclose(fj.curve(*pair, name, ties="stable").values, first, atol=1e-12)


@pytest.mark.parametrize("measure", sorted(SET_BASED | ORDER_BASED))
@given(pair=distinct_pairs())
def test_all_but_the_score_based_ignore_the_scores(measure, pair):
    squared = [[x * x for x in scores] for scores in pair]
    np.testing.assert_array_equal(fj.curve(*squared, measure).values, fj.curve(*pair, measure).values)


@pytest.mark.parametrize("call", [fj.curve, fj.auc, fj.compare, lambda r, s, **o: fj.explain(r, s, 2, **o)])
def test_inputs_are_never_modified(call):
    r, s = np.array([3.0, -1.0, np.nan, 2.0]), np.array([1.0, 2.0, -0.0, -np.inf])
    before = r.copy(), s.copy()
    for negative, nan in [("clip", "zero"), ("clip", "drop")]:
        call(r, s, negative=negative, nan=nan)
    call(np.abs(r), s, negative="clip", nan="zero")
    call(r, s[::-1].copy(), negative="clip", nan="zero", ties="stable")
    for array, original in zip((r, s), before, strict=True):
        np.testing.assert_array_equal(array, original)
        np.testing.assert_array_equal(np.signbit(array), np.signbit(original))
        array.flags.writeable = False
    call(r, s, negative="clip", nan="zero")


def test_labelled_inputs_are_never_modified():
    r, s = {"a": -1.0, "b": 2.0}, pd.Series({"b": 1.0, "c": 3.0})
    fj.auc(r, s, negative="abs", missing="zero")
    assert r == {"a": -1.0, "b": 2.0}
    pd.testing.assert_series_equal(s, pd.Series({"b": 1.0, "c": 3.0}))


@pytest.mark.parametrize("n", range(2, 7))
def test_the_least_jaccard_area_is_the_reversed_orders(n):
    r = list(range(n))
    least = Fraction(n * n + 1, 4 * n * (n - 1)) if n % 2 else Fraction(n, 4 * (n - 1))
    areas = [fj.auc(r, s, "jaccard") for s in permutations(range(n))]
    assert min(areas) == pytest.approx(float(least), rel=1e-14)
    assert fj.auc(r, r[::-1], "jaccard") == pytest.approx(float(least), rel=1e-14)


@pytest.mark.parametrize("n", range(2, 6))
def test_no_jaccard_curve_lies_below_the_reversed_orders(n):
    r = list(range(n))
    least = fj.curve(r, r[::-1], "jaccard").values
    for s in permutations(range(n)):
        assert np.all(fj.curve(r, s, "jaccard").values >= least)


def test_the_reversed_order_is_not_always_the_least_similar_by_fuji():
    """The paper's proposition says it is; this is a counterexample."""
    r = [18.8244786, 0.37929291, 0.37373685, 0.020066]
    reverse = [0.13117959, 0.25223704, 0.27614207, 3.28700474]
    other = [0.27614207, 0.13117959, 0.25223704, 3.28700474]
    assert sorted(reverse) == sorted(other)
    assert fj.fuji(r, reverse, 2) == pytest.approx(0.607, abs=5e-4)
    assert fj.fuji(r, other, 2) == pytest.approx(0.509, abs=5e-4)
    assert fj.auc(r, reverse) - fj.auc(r, other) == pytest.approx(0.0288, abs=5e-5)


def test_the_three_item_example_and_its_limits():
    r, tiny, huge = [1, 1 / 2, 1 / 3], 1e-13, 1e13
    s, t = [1 - 2 * tiny, 1 - tiny, 1], [huge, 1, huge**2]
    np.testing.assert_allclose(fj.curve(r, s, ks=[1, 2]).values, [2 / 3, 8 / 9], rtol=1e-12)
    np.testing.assert_allclose(fj.curve(r, t, ks=[1, 2]).values, [1 / 6, 5 / 9], rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_fuji_tends_to_jaccard_as_scores_fall_ever_faster(seed):
    r, s = (random.Random(seed + i).sample([10.0 ** (-15 * j) for j in range(20)], 20) for i in range(2))
    np.testing.assert_allclose(fj.curve(r, s).values, fj.curve(r, s, "jaccard").values, atol=1e-14)


TITLES = {
    r"\fuji": "fuji",
    r"\jaccard": "jaccard",
    "Hamming": "hamming",
    "POG": "pog",
    "nPOG": "npog",
    "Kuncheva": "kuncheva",
    "Lustgarten": "lustgarten",
    "Wald": "wald",
    "Kr": "krizek",
    r"$\text": "cwrel",
    "correlation": "correlation",
    "Pearson": "pearson",
    "Gamma": "gamma",
}


def test_the_properties_are_the_papers_table(shared):
    paper = (shared / "paper" / "fuji.tex").read_text(encoding="utf-8")
    table = paper.split(r"\label{tab:properties}")[1].split(r"\end{tabular}")[0].split("Rank scores")[1]
    found = {}
    for line in table.split(r"\\"):
        cells = line.replace(r"\hline", "").replace(r"\textbf{", "").split("&")
        if len(cells) > 1:
            title = re.match(r"\\?[A-Za-z]+|\$\\text", cells[0].strip()).group()
            marks = [r"\checkmark" in cell for cell in cells[1:]]
            found[TITLES[title]] = tuple(marks + [False] * (5 - len(marks)))
    marks = {name: tuple(paper_mark(name, trait) for trait in TRAITS) for name in fj.PAPER_MEASURES}
    assert found == marks
    declared = {name: astuple(fj.MEASURES[name].properties) for name in fj.PAPER_MEASURES}
    differing = {name for name, row in marks.items() if row != declared[name]}
    assert differing == {"fuji", "correlation"}


def test_every_measure_is_described():
    for measure in fj.MEASURES.values():
        assert measure.title
        assert measure.formula
        assert re.search(r"\(\d{4}\)", measure.reference)
        assert measure.low < measure.high


@pytest.mark.parametrize("seed", range(4))
def test_spread_scores_leave_the_range_nowhere(seed):
    r, s = spread(500, seed), spread(500, seed + 50)
    for name, measure in fj.MEASURES.items():
        values = fj.curve(r, s, name, ks="squared" if name in POINTWISE else "all").values
        assert np.all(np.isfinite(values))  # nothing ties, and the first items differ
        assert np.all((measure.low <= values) & (values <= measure.high)), name


@given(pairs(SMALL))
def test_zero_tail_matters_only_where_the_kth_score_is_zero(pair):
    r, s = pair
    positive = [k for k in range(1, len(r) + 1) if sorted(r)[-k] > 0 and sorted(s)[-k] > 0]
    assume(positive)
    for k in positive:
        assert fj.fuji(r, s, k, zero_tail="exclude") == fj.fuji(r, s, k)
