"""The smallest, the flattest and the most extreme rankings; and what every refusal says."""

from __future__ import annotations

import numpy as np
import oracle
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from strategies import LARGEST, SMALLEST

import fujiscore as fj

NAMES = tuple(fj.MEASURES)
ONE, TWO, THREE = [1.0], [1.0, 2.0], [3.0, 1.0, 2.0]
CHANCE = ("npog", "kuncheva", "lustgarten", "wald", "pearson", "cwrel", "kappa")
# SciPy computes these point by point: too slow for many items at every k.
POINTWISE = ("weightedtau", "spearman")
# Of one item, or of items with equal scores, these say nothing.
UNDEFINED = ("kendall", "weightedtau", "spearman", "pairwise_rank_agreement")


@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize("score", [0.0, -0.0, 1.0, SMALLEST, LARGEST])
def test_one_item(measure, score):
    curve = fj.curve([score], [5], measure)
    assert curve.ks.tolist() == [1]
    expected = np.nan if measure in UNDEFINED or (measure == "ndcg" and score == 0) else 1.0
    if "sign" in measure and score == 0:
        expected = 0.0  # 0 has another sign than 5
    np.testing.assert_array_equal(curve.values, [expected])
    np.testing.assert_equal(curve.auc, expected)
    assert fj.curve([score], [5], measure, ks="exp").ks.tolist() == [1]


@pytest.mark.parametrize("measure", NAMES)
def test_all_items_are_the_same_set(measure):
    """At k = n all measures of sets are 1; those of the order compare the whole orders."""
    r, s = [5, 4, 3, 2, 1], [1, 3, 2, 5, 4]
    expected = 1.0
    if fj.MEASURES[measure].by_rank and measure != "sign_agreement":
        expected = float(oracle.value(measure, r, s, 5))
        assert expected < 0.85
    assert fj.score(r, s, 5, measure) == pytest.approx(expected)


@pytest.mark.parametrize("measure", CHANCE)
def test_one_set_of_all_items_decides_the_overlap(measure):
    if fj.MEASURES[measure].unequal:
        assert fj.score([3, 2, 1], [3, 2, 1], (3, 2), measure) == 0
        assert fj.score([3, 2, 1], [3, 2, 1], (1, 3), measure) == 0
    assert fj.score([3, 2, 1], [1, 2, 3], (3, 3), measure) == 1


@pytest.mark.parametrize("level", [0.0, SMALLEST, 1.0, LARGEST])
@pytest.mark.parametrize("measure", NAMES)
def test_all_scores_equal(measure, level):
    values = fj.curve([level] * 5, [level] * 5, measure).values
    expected = [float(x) for x in oracle.curve(measure, [level] * 5, [level] * 5, range(1, 6))]
    np.testing.assert_allclose(values, expected, rtol=1e-14)


@pytest.mark.parametrize("zero_tail", ["include", "exclude"])
def test_all_scores_zero_in_one(zero_tail):
    r, s = [0, 0, 0, 0], [1, 2, 3, 4]
    expected = [float(x) for x in oracle.curve("fuji", r, s, range(1, 5), zero_tail=zero_tail)]
    np.testing.assert_allclose(fj.curve(r, s, zero_tail=zero_tail).values, expected, rtol=1e-14)


@pytest.mark.parametrize("zero_tail", ["include", "exclude"])
def test_a_single_positive_score(zero_tail):
    r, s = [0, 0, 1, 0], [0, 1, 0, 0]
    expected = [float(x) for x in oracle.curve("fuji", r, s, range(1, 5), zero_tail=zero_tail)]
    assert expected[0] == 0
    np.testing.assert_allclose(fj.curve(r, s, zero_tail=zero_tail).values, expected, rtol=1e-14)


@pytest.mark.parametrize("n", [4, 60])
@pytest.mark.parametrize("measure", NAMES)
def test_negative_zero_ties_with_zero(measure, n):
    r = [0.0, -0.0, 1.0, -0.0] * (n // 4)
    s = [-0.0, 0.0, 2.0, 1.0] * (n // 4)
    plain = fj.curve([abs(x) for x in r], [abs(x) for x in s], measure).values
    np.testing.assert_array_equal(fj.curve(r, s, measure).values, plain)


@pytest.mark.parametrize("n", [3, 50, 1100])
@pytest.mark.parametrize("unit", [SMALLEST, 2.0**-1022, 2.0**1010])
def test_scores_at_the_ends_of_the_range(unit, n):
    r = [float(i * 7 % n) for i in range(n)]
    s = [float(i * i % n) for i in range(n)]
    scaled = [x * unit for x in r], [x * unit for x in s]
    for measure in NAMES:
        for ks in ("exp",) if measure in POINTWISE else ("all", "exp"):
            values = fj.curve(*scaled, measure, ks=ks).values
            np.testing.assert_allclose(values, fj.curve(r, s, measure, ks=ks).values, rtol=1e-12, atol=1e-12)


def test_the_whole_range_at_once():
    r, s = [LARGEST, 1.0, SMALLEST, 0.0], [0.0, SMALLEST, 1.0, LARGEST]
    assert fj.curve(r, s).values == pytest.approx([0, 0, 1 / 2, 1], abs=1e-300)
    assert fj.explain(r, s, 2).value == pytest.approx(0, abs=1e-300)


def test_explaining_scores_far_apart_raises_no_warning():
    """A member's score over the last one may overflow, though a member's membership is 1."""
    why = fj.explain([LARGEST, 0.5, 0.0], [1.0, 2.0, 3.0], 2)
    assert why.membership_r.max() == 1
    assert why.value == pytest.approx(float(oracle.value("fuji", [LARGEST, 0.5, 0.0], [1.0, 2.0, 3.0], 2)))


@pytest.mark.parametrize("measure", NAMES)
def test_minus_infinity_counts_as_the_lowest(measure):
    r, s = [3.0, -np.inf, 1.0, -2.0], [1.0, 3.0, -np.inf, 2.0]
    expected = [float(x) for x in oracle.curve(measure, r, s, range(1, 5))]
    np.testing.assert_allclose(fj.curve(r, s, measure, negative="clip").values, expected, atol=1e-12)


@pytest.mark.parametrize("measure", [name for name in NAMES if name != "fuji"])
def test_all_scores_minus_infinite(measure):
    r, s = [-np.inf] * 3, [1.0, 2.0, 3.0]
    expected = [float(x) for x in oracle.curve(measure, r, s, range(1, 4))]
    np.testing.assert_allclose(fj.curve(r, s, measure, negative="clip").values, expected, atol=1e-12)


# Each row: a call, and what its one-line message must say: the argument, the requirement, what came, the remedy.
REFUSED = {
    "empty list": (lambda: fj.auc([], []), ["r must hold at least one score", "empty"]),
    "empty second": (lambda: fj.auc([1], []), ["s must hold at least one score", "empty"]),
    "empty dict": (lambda: fj.auc({}, {}), ["r must hold at least one score", "empty"]),
    "nan": (
        lambda: fj.auc([1, np.nan, 2], THREE),
        ["r must hold scores that are numbers", "1 of 3 is NaN", "nan at item 1", "nan='zero'", "nan='drop'"],
    ),
    "nan of a label": (lambda: fj.auc({"a": 1, "b": np.nan}, {"a": 1, "b": 2}), ["r must", "nan at item 'b'"]),
    "nan everywhere": (lambda: fj.auc([np.nan, 1], [1, np.nan], nan="drop"), ["r and s", "no item left", "nan='drop'"]),
    "infinite": (
        lambda: fj.auc(THREE, [1, 2, np.inf]),
        ["s must hold finite scores", "1 of 3 is infinite", "inf at item 2", "large finite score"],
    ),
    "infinite and clip": (lambda: fj.auc([np.inf, 1], TWO, negative="clip"), ["r must hold finite scores", "inf"]),
    "minus infinite and abs": (
        lambda: fj.auc([-np.inf, 1], TWO, negative="abs"),
        ["r must hold finite scores", "inf at item 0"],
    ),
    "negative": (
        lambda: fj.auc([1, -2.5, -3], THREE),
        [
            "r must hold non-negative scores",
            "2 of 3 are negative",
            "-2.5 at item 1",
            "negative='clip'",
            "negative='abs'",
        ],
    ),
    "k of 0": (lambda: fj.fuji(THREE, THREE, 0), ["k must lie between 1 and 3, the number of items", "got 0"]),
    "k too large": (lambda: fj.fuji(THREE, THREE, 4), ["k must lie between 1 and 3, the number of items", "got 4"]),
    "k negative": (lambda: fj.explain(THREE, THREE, -1), ["k must lie between 1 and", "got -1"]),
    "second size": (
        lambda: fj.fuji(THREE, THREE, (1, 9)),
        ["k must lie between 1 and 3, the number of items", "got 9"],
    ),
    "float k": (lambda: fj.fuji(THREE, THREE, 2.0), ["k must be an integer or a pair of integers", "got 2.0"]),
    "float in k": (lambda: fj.fuji(THREE, THREE, (1, 2.5)), ["k must be an integer or a pair", "got (1, 2.5)"]),
    "bool k": (lambda: fj.fuji(THREE, THREE, True), ["k must be an integer", "got True"]),  # noqa: FBT003
    "text k": (lambda: fj.fuji(THREE, THREE, "2"), ["k must be an integer", "got '2'"]),
    "no k": (lambda: fj.fuji(THREE, THREE, None), ["k must be an integer", "got None"]),
    "triple k": (
        lambda: fj.fuji(THREE, THREE, (1, 2, 3)),
        ["k must be an integer or a pair of integers (k1, k2)", "got (1, 2, 3)"],
    ),
    "k an array of none": (lambda: fj.fuji(THREE, THREE, np.array(2.0)), ["k must be an integer", "2.0"]),
    "falling ks": (lambda: fj.curve(THREE, THREE, ks=[2, 1]), ["ks must increase", "2 is followed by 1", "Sort them"]),
    "repeated ks": (
        lambda: fj.curve(THREE, THREE, ks=[1, 1]),
        ["ks must increase", "1 is followed by 1", "each once"],
    ),
    "empty ks": (lambda: fj.curve(THREE, THREE, ks=[]), ["ks must be", "increasing integers from 1 to 3", "got []"]),
    "float ks": (lambda: fj.auc(THREE, THREE, ks=[1.0, 2.0]), ["ks must be", "increasing integers", "got [1.0, 2.0]"]),
    "bool ks": (lambda: fj.auc(THREE, THREE, ks=[True]), ["ks must be", "increasing integers", "got [True]"]),
    "no ks": (lambda: fj.auc(THREE, THREE, ks=None), ["ks must be", "'all', 'exp', 'squared'", "got None"]),
    "ks of tables": (lambda: fj.auc(THREE, THREE, ks=[[1, 2]]), ["ks must be", "increasing integers", "[[1, 2]]"]),
    "ragged ks": (
        lambda: fj.auc(THREE, THREE, ks=[[1], [1, 2]]),
        ["ks must be", "increasing integers", "[[1], [1, 2]]"],
    ),
    "unknown ks": (lambda: fj.compare(THREE, THREE, ks="log"), ["ks must be", "'all', 'exp', 'squared'", "got 'log'"]),
    "ks of 0": (lambda: fj.curve(THREE, THREE, ks=[0, 1]), ["ks must lie between 1 and", "3", "got 0"]),
    "ks too large": (lambda: fj.curve(THREE, THREE, ks=[1, 7]), ["ks must lie between 1 and", "3", "got 7"]),
    "duplicate labels": (
        lambda: fj.auc(pd.Series([1, 2], index=["x", "x"]), {"x": 1}),
        ["r must list each item once", "(x)", "duplicates='max'"],
    ),
    "different lengths": (
        lambda: fj.auc([1, 2, 3], [1, 2]),
        ["r and s must score the same items", "3 and 2 scores", "align them by label"],
    ),
    "default index and fewer": (lambda: fj.auc(pd.Series([1, 2, 3]), [1, 2]), ["r and s must score", "3 and 2 scores"]),
    "missing items": (
        lambda: fj.auc({"a": 1, "b": 2, "c": 3}, {"a": 1}),
        ["s must score every item", "lacks 2 of 3", "first: 'b'", "missing='zero'", "missing='drop'"],
    ),
    "missing in the first": (lambda: fj.auc({"a": 1}, {"a": 1, "z": 2}), ["r must score every item", "first: 'z'"]),
    "nothing shared": (
        lambda: fj.auc({"a": 1}, {"b": 1}, missing="drop"),
        ["r and s must share items", "none in common"],
    ),
    "labelled and not": (
        lambda: fj.auc({"a": 1, "b": 2}, [1, 2]),
        ["r has item labels and s has none", "Label both", "plain arrays"],
    ),
    "not labelled and labelled": (
        lambda: fj.auc(np.array([1, 2]), pd.Series([1, 2], index=["a", "b"])),
        ["s has item labels and r has none", "Label both"],
    ),
    "two dimensions": (
        lambda: fj.auc(np.ones((2, 3)), [1, 2]),
        ["r must be one-dimensional", "shape (2, 3)", "one row or one column"],
    ),
    "no dimension": (lambda: fj.auc(np.float64(1), [1]), ["r must be one-dimensional", "shape ()"]),
    "list of lists": (lambda: fj.auc([[1, 2], [3, 4]], [1, 2]), ["r must be one-dimensional", "shape (2, 2)"]),
    "ragged": (lambda: fj.auc([[1], [1, 2]], [1, 2]), ["r must be a flat list of scores", "unequal lengths"]),
    "text": (
        lambda: fj.auc(["high", 1.0], [1, 2]),
        ["r must hold numbers", "'high' (str)", "position 0", "Convert the scores to float"],
    ),
    "text in an array": (lambda: fj.auc(TWO, np.array(["1", "2"])), ["s must hold numbers", "'1' (str)"]),
    "text in a Series": (
        lambda: fj.auc(pd.Series(["u", 1.0]), TWO),
        ["r must hold numbers", "'u' (str)", "position 0"],
    ),
    "text in polars": (lambda: fj.auc(pl.Series(["1", "2"]), TWO), ["r must hold numbers", "'1' (str)"]),
    "text in a mask": (lambda: fj.auc(np.ma.array(["1", "2"]), TWO), ["r must hold numbers", "'1' (str)"]),
    "lists in polars": (lambda: fj.auc(pl.Series([[1], [2]]), TWO), ["r must"]),
    "complex": (lambda: fj.auc(np.array([1j, 2]), TWO), ["r must hold numbers", "1j (complex)", "Convert the scores"]),
    "complex in a mask": (lambda: fj.auc(np.ma.array([1j, 2]), TWO), ["r must hold numbers", "1j (complex)"]),
    "days": (lambda: fj.auc(np.array([1, 2], "datetime64[D]"), TWO), ["r must hold numbers", "Convert the scores"]),
    "nanoseconds": (
        lambda: fj.auc(np.array([1, 2], "datetime64[ns]"), TWO),
        ["r must hold numbers", "Convert the scores"],
    ),
    "durations": (
        lambda: fj.auc(np.array([1, 2], "timedelta64[ns]"), TWO),
        ["r must hold numbers", "Convert the scores"],
    ),
    "beyond the floats": (lambda: fj.auc([10**400, 1], TWO), ["r must hold finite scores"]),
    "pandas table": (
        lambda: fj.auc(pd.DataFrame({"a": TWO, "b": TWO}), TWO),
        ["r must be one ranking", "2 score columns", "Pass one"],
    ),
    "polars table": (
        lambda: fj.auc(TWO, pl.DataFrame({"a": TWO, "b": TWO})),
        ["s must be one ranking", "2 score columns"],
    ),
    "arrow table": (lambda: fj.auc(pa.table({"a": TWO, "b": TWO}), TWO), ["r must be one ranking", "2 score columns"]),
    "a number": (lambda: fj.auc(3, [1]), ["r must be scores", "a list, an array", "Got int"]),
    "a set": (lambda: fj.auc({1, 2}, TWO), ["r must be scores", "Got set"]),
    "a word": (lambda: fj.auc("ab", TWO), ["r must be scores", "Got str"]),
    "nothing": (lambda: fj.auc(None, TWO), ["r must be scores", "Got NoneType"]),
    "unknown measure": (
        lambda: fj.auc(TWO, TWO, "dise"),
        ["measure must be one of fuji, jaccard", "got 'dise'", "Did you mean 'dice'?"],
    ),
    "measure of no name": (lambda: fj.score(TWO, TWO, 1, ["fuji"]), ["measure must be one of", "got ['fuji']"]),
    "no measures": (lambda: fj.compare(TWO, TWO, []), ["measures must name at least one measure", "got []"]),
    "unknown in measures": (lambda: fj.compare(TWO, TWO, ["fuji", "x"]), ["measure must be one of", "got 'x'"]),
    "measures not a list": (lambda: fj.compare(TWO, TWO, None), ["measures must", "None"]),
    "negative word": (
        lambda: fj.auc(TWO, TWO, negative="zero"),
        ["negative must be one of 'raise', 'clip', 'abs'", "'zero'"],
    ),
    "nan word": (lambda: fj.auc(TWO, TWO, nan="clip"), ["nan must be one of 'raise', 'zero', 'drop'", "got 'clip'"]),
    "missing word": (lambda: fj.auc(TWO, TWO, missing=0), ["missing must be one of 'raise', 'zero', 'drop'", "got 0"]),
    "ties word": (lambda: fj.auc(TWO, TWO, ties="random"), ["ties must be one of 'closed', 'stable'", "got 'random'"]),
    "zero_tail word": (
        lambda: fj.auc(TWO, TWO, zero_tail=True),
        ["zero_tail must be one of 'include', 'exclude'", "got True"],
    ),
    "kuncheva of two sizes": (
        lambda: fj.score(THREE, THREE, (1, 2), "kuncheva"),
        ["kuncheva is defined for sets of equal size only", "sizes 1 and 2", "Use one k", "'wald'"],
    ),
    "krizek of two sizes": (
        lambda: fj.score(THREE, THREE, (3, 2), "krizek"),
        ["krizek is defined for sets of equal size only", "sizes 3 and 2", "'jaccard'"],
    ),
    "all negative": (
        lambda: fj.auc([-1, -2, -3], THREE, negative="clip"),
        ["r must have a positive or zero score for FUJI", "negative='clip'", "transform='exp'", "negative='abs'"],
    ),
    "a list and scores": (lambda: fj.auc(["high", "low"], [1, 2]), ["r has item labels and s has none", "Label both"]),
    "a number of measures": (lambda: fj.compare(TWO, TWO, 3), ["measure must be one of fuji", "got 3"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_say_what_to_do(case):
    call, fragments = REFUSED[case]
    with pytest.raises(fj.InputError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith((".", "?"))
    for fragment in fragments:
        assert fragment in message
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("measure", ["kuncheva", "krizek"])
def test_closed_ties_of_equal_sizes_are_no_error(measure):
    assert fj.score([2, 2, 1], [3, 3, 1], 1, measure) == 1
    assert np.isnan(fj.score([2, 2, 1], [3, 2, 1], 1, measure))


def test_measures_may_come_alone_or_in_an_array():
    for measures in ("fuji", fj.MEASURES["fuji"], np.array(["fuji"]), pd.Index(["fuji"]), iter(["fuji"])):
        assert list(fj.compare(TWO, TWO, measures).curves) == ["fuji"]


def test_a_table_of_one_column_is_a_ranking():
    for table in (pd.DataFrame({"a": THREE}), pl.DataFrame({"a": THREE}), pa.table({"a": THREE})):
        assert fj.auc(table, THREE) == 1


def test_unknown_words_are_refused_before_the_scores_are_read():
    for option in ("negative", "nan", "missing"):
        with pytest.raises(fj.InputError, match=f"^{option} must be one of"):
            fj.auc([np.nan], [1], **{option: "no such word"})


def test_options_are_given_by_name():
    with pytest.raises(TypeError):
        fj.fuji(TWO, TWO, 1, "closed")
    with pytest.raises(TypeError):
        fj.curve(TWO, TWO, "fuji", "exp")
