"""Whatever users have: lists, arrays of any type and layout, Series of any library, dicts, and the policies."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import oracle
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fujiscore as fj

R = [7, 3, 5, 0, 2, 1]
S = [1, 6, 5, 3, 0, 2]
NAMES = ["a", "b", "c", "d", "e", "f"]
EXPECTED = [float(x) for x in oracle.curve("fuji", R, S, range(1, 7))]

NUMERIC = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
NUMERIC += ["float16", "float32", "float64", "longdouble"]


def assert_expected(r, s=S, **options):
    np.testing.assert_allclose(fj.curve(r, s, **options).values, EXPECTED, rtol=1e-14)


def assert_same(left, right):
    np.testing.assert_allclose(left.values, right.values, rtol=1e-14)


@pytest.mark.parametrize("make", [list, tuple, np.array, pd.Series, pl.Series, pd.Index, pd.array, pa.array])
@pytest.mark.parametrize("other", [list, tuple, np.array, pd.Series, pl.Series])
def test_unlabelled_inputs_of_any_kind_mix(make, other):
    assert_expected(make(R), other(S))


@pytest.mark.parametrize("dtype", NUMERIC)
def test_arrays_of_every_number_type(dtype):
    assert_expected(np.array(R, dtype), np.array(S, dtype))


def test_booleans_are_zero_and_one():
    flags = [True, False, True]
    for r in (flags, np.array(flags), pd.Series(flags), pl.Series(flags)):
        assert_same(fj.curve(r, [3, 2, 1]), fj.curve([1, 0, 1], [3, 2, 1]))


def test_ranges_and_scalars_of_numpy():
    assert_same(fj.curve(range(6), S), fj.curve([0, 1, 2, 3, 4, 5], S))
    assert_expected([np.float32(x) for x in R], [np.int8(x) for x in S])


def test_exact_numbers_of_python():
    assert_expected([Fraction(x, 3) for x in R], [Decimal(x) / 4 for x in S])
    assert_expected(np.array(R, object))


def test_reduced_precision_is_taken_as_it_is():
    r = np.array([0.1, 0.2, 0.3], np.float16)
    assert_same(fj.curve(r, [1, 3, 2]), fj.curve([float(x) for x in r], [1, 3, 2]))


@pytest.mark.parametrize("dtype", ["int16", "int64", "float32", "float64"])
def test_layouts(dtype):
    table = np.array([R, S], dtype).T.copy()
    assert_expected(table[:, 0], table[:, 1])
    assert_expected(np.array(R[::-1], dtype)[::-1], np.repeat(np.array(S, dtype), 3)[::3])
    assert_expected(np.array(R, dtype).astype(np.dtype(dtype).newbyteorder()))
    frozen = np.array(R, dtype)
    frozen.flags.writeable = False
    assert_expected(frozen)
    unaligned = np.frombuffer(b"x" + np.array(R, dtype).tobytes(), dtype=dtype, offset=1)
    assert_expected(unaligned)


def test_masked_scores_count_as_nan():
    masked = np.ma.array([*R, 9], mask=[False] * 6 + [True])
    assert_expected(masked, [*S, 9], nan="drop")
    assert_same(fj.curve(masked, [*S, 9], nan="zero"), fj.curve([*R, 0], [*S, 9]))
    with pytest.raises(fj.InputError, match=r"^r must hold scores that are numbers; 1 of 7 is NaN"):
        fj.curve(masked, [*S, 9])
    assert_expected(np.ma.array(R))


class TestLabels:
    def test_dicts_align_by_key(self):
        r, s = dict(zip(NAMES, R, strict=True)), dict(zip(NAMES, S, strict=True))
        assert_expected(r, s)
        assert_expected(r, dict(reversed(s.items())))

    @pytest.mark.parametrize("labels", [NAMES, [10, 20, 30, 40, 50, 60], [("x", i) for i in range(6)]])
    def test_series_align_by_index(self, labels):
        r, s = pd.Series(R, index=labels), pd.Series(S, index=labels)
        assert_expected(r, s)
        assert_expected(r, s.sort_values())
        assert_expected(r, s.iloc[::-1].to_dict())
        assert_expected(r.to_dict(), s.sort_values())

    def test_a_permuted_default_index_still_labels(self):
        s = pd.Series(S)
        assert_expected(pd.Series(R), s.sort_values())
        assert_expected(dict(enumerate(R)), s)

    def test_dates_and_categories_label(self):
        days = pd.date_range("2024-01-01", periods=6)
        assert_expected(pd.Series(R, index=days), pd.Series(S, index=days).iloc[::-1])
        kinds = pd.CategoricalIndex(NAMES)
        assert_expected(pd.Series(R, index=kinds), pd.Series(S, index=NAMES).iloc[::-1])

    def test_labels_come_back_in_explanations(self):
        assert set(fj.explain(pd.Series(R, index=NAMES), pd.Series(S, index=NAMES), 1).items) == {"a", "b"}
        assert set(fj.explain(R, S, 1).items) == {0, 1}
        assert set(fj.explain(pd.Series(R), S, 1).items) == {0, 1}

    def test_labels_survive_dropped_items(self):
        r = {"x": float("nan"), **dict(zip(NAMES, R, strict=True))}
        s = {"x": 99, **dict(zip(NAMES, S, strict=True))}
        assert set(fj.explain(r, s, 1, nan="drop").items) == {"a", "b"}

    def test_ties_follow_the_first_rankings_order(self):
        r, s = {"b": 1, "a": 1}, {"a": 2, "b": 1}
        assert fj.score(r, s, 1, "jaccard", ties="stable") == 0
        assert fj.score(dict(sorted(r.items())), s, 1, "jaccard", ties="stable") == 1
        assert fj.score(r, s, 1, "jaccard") == fj.score(dict(sorted(r.items())), s, 1, "jaccard") == 0.5


class TestLibraries:
    @pytest.mark.parametrize(
        "dtype", ["Int8", "Int64", "UInt16", "Float32", "Float64", "int64[pyarrow]", "double[pyarrow]"]
    )
    def test_nullable_pandas(self, dtype):
        assert_expected(pd.Series(R, dtype=dtype), pd.Series(S, dtype=dtype))
        with_null = pd.Series([*R, None], dtype=dtype)
        assert_expected(with_null, [*S, 9], nan="drop")
        with pytest.raises(fj.InputError, match="1 of 7 is NaN"):
            fj.curve(with_null, [*S, 9])

    def test_nullable_booleans(self):
        flags = pd.Series([True, None, False], dtype="boolean")
        assert_same(fj.curve(flags, [3, 2, 1], nan="zero"), fj.curve([1, 0, 0], [3, 2, 1]))

    @pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt32, pl.Int64, pl.Float32, pl.Float64])
    def test_polars(self, dtype):
        assert_expected(pl.Series(R).cast(dtype), pl.Series(S).cast(dtype))
        assert_expected(pl.Series([*R, None]).cast(dtype), [*S, 9], nan="drop")

    def test_a_column_of_a_polars_table(self):
        table = pl.DataFrame({"r": R, "s": S})
        assert_expected(table["r"], table["s"])

    @pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.float32()])
    def test_pyarrow(self, kind):
        chunked = pa.chunked_array([R[:2], R[2:]], type=kind)
        assert_expected(chunked, pa.chunked_array([S], type=kind))
        assert_expected(pa.chunked_array([[*R, None]], type=kind), [*S, 9], nan="drop")

    def test_anything_with_an_array_interface(self):
        class Column:
            def __array__(self, dtype=None, copy=None):
                return np.array(R, dtype)

        assert_expected(Column())


class TestPolicies:
    def test_negative_clip_orders_raw_and_counts_zero(self):
        r, s = [3.0, -1.0, -2.0, 1.0], [-1.0, 2.0, 3.0, -5.0]
        for k in range(1, 5):
            assert fj.fuji(r, s, k, negative="clip") == float(oracle.value("fuji", r, s, k))
        # By raw order the second best of the last two is the first; with both at 0 it would be a tie.
        assert fj.score([2, -2, -1], [2, 0, 1], 2, "jaccard", negative="clip") == 1

    def test_negative_abs_ranks_by_magnitude(self):
        assert_same(fj.curve([3, -4, 1], [-1, -2, 3], negative="abs"), fj.curve([3, 4, 1], [1, 2, 3]))

    @pytest.mark.parametrize("word", ["clip", "abs"])
    def test_negative_policies_leave_other_scores_alone(self, word):
        assert_expected(R, negative=word)

    def test_minus_infinity_is_negative(self):
        r, s = [3.0, -np.inf, 1.0], [1.0, 3.0, -np.inf]
        assert_same(fj.curve(r, s, negative="clip"), fj.curve([3, 0, 1], [1, 3, 0]))
        with pytest.raises(fj.InputError, match=r"^r must hold non-negative scores"):
            fj.curve(r, s)

    def test_nan_zero_and_drop(self):
        r, s = [3, np.nan, 1, 2], [1, 4, 2, np.nan]
        assert_same(fj.curve(r, s, nan="zero"), fj.curve([3, 0, 1, 2], [1, 4, 2, 0]))
        assert_same(fj.curve(r, s, nan="drop"), fj.curve([3, 1], [1, 2]))

    def test_none_is_nan(self):
        assert_same(fj.curve([3, None, 1], [1, 2, 3], nan="zero"), fj.curve([3, 0, 1], [1, 2, 3]))
        assert_same(fj.curve({"a": 3, "b": None}, {"b": 2, "a": 1}, nan="zero"), fj.curve([3, 0], [1, 2]))

    def test_nan_zero_among_negative_scores(self):
        r, s = [-1.0, np.nan, 2.0], [1.0, 2.0, 3.0]
        assert_same(fj.curve(r, s, nan="zero", negative="clip"), fj.curve([-1, 0, 2], s, negative="clip"))

    def test_missing_zero_and_drop(self):
        r, s = {"a": 3, "b": 2, "c": 1}, {"d": 4, "c": 3, "a": 1}
        listed = fj.curve([3, 2, 1, 0], [1, 0, 3, 4], ks=[1, 2, 3])  # each list ends at its third item
        assert_same(fj.curve(r, s, missing="zero"), listed)
        assert_same(fj.curve(r, s, missing="drop"), fj.curve([3, 1], [1, 3]))
        assert_same(fj.curve(pd.Series(r), s, missing="zero"), listed)

    @pytest.mark.parametrize("missing", ["raise", "zero", "drop"])
    def test_missing_policies_change_nothing_where_all_are_there(self, missing):
        r, s = dict(zip(NAMES, R, strict=True)), dict(zip(NAMES[::-1], S[::-1], strict=True))
        assert_expected(r, s, missing=missing)

    def test_every_function_takes_the_policies(self):
        r, s = {"a": 3, "b": -2, "c": None}, {"a": 1, "b": 2, "d": 3}
        policies = {"negative": "clip", "nan": "zero", "missing": "zero", "ties": "closed", "zero_tail": "exclude"}
        options = {"ties": "closed", "zero_tail": "exclude"}
        absent = float("-inf")
        first, second = [3, -2, 0, absent], [1, 2, absent, 3]
        exact = oracle.value("fuji", first, second, 3, **options)
        curve = oracle.curve("fuji", first, second, range(1, 4), **options)
        assert fj.fuji(r, s, 3, **policies) == pytest.approx(float(exact))
        assert fj.score(r, s, 3, **policies) == pytest.approx(float(exact))
        assert fj.explain(r, s, 3, **policies).value == pytest.approx(float(exact))
        assert fj.curve(r, s, **policies).values == pytest.approx([float(x) for x in curve])
        assert fj.auc(r, s, **policies) == pytest.approx(float(oracle.auc(curve)))
        assert fj.compare(r, s, **policies).auc["fuji"] == pytest.approx(float(oracle.auc(curve)))


class TestSizes:
    @pytest.mark.parametrize(
        ("name", "n"), [(g, n) for g in ("all", "exp", "squared") for n in (1, 2, 3, 8, 9, 16, 17)]
    )
    def test_named_grids(self, name, n):
        ks = fj.curve(range(n), range(n), ks=name).ks
        assert ks.tolist() == oracle.grid(name, n)
        assert ks.dtype == np.int64

    @pytest.mark.parametrize(
        "ks", [[1, 3, 6], (1, 3, 6), np.array([1, 3, 6], np.uint8), range(1, 7, 2), pd.Series([2, 5])]
    )
    def test_given_points(self, ks):
        curve = fj.curve(R, S, ks=ks)
        assert curve.ks.tolist() == list(ks)
        np.testing.assert_allclose(curve.values, [EXPECTED[k - 1] for k in ks])

    @pytest.mark.parametrize("k", [3, np.int64(3), np.uint8(3)])
    def test_one_integer_is_one_point(self, k):
        assert fj.curve(R, S, ks=k).ks.tolist() == [3]
        assert fj.curve(R, S, ks=k).auc == pytest.approx(EXPECTED[2])
        assert fj.fuji(R, S, k) == pytest.approx(EXPECTED[2])

    @pytest.mark.parametrize("k", [(2, 4), [2, 4], np.array([2, 4])])
    def test_pairs_of_sizes(self, k):
        assert fj.fuji(R, S, k) == pytest.approx(float(oracle.value("fuji", R, S, (2, 4))))

    def test_the_area_is_over_points_of_unit_distance(self):
        assert fj.auc(R, S, ks=[1, 2, 6]) == pytest.approx((EXPECTED[0] / 2 + EXPECTED[1] + EXPECTED[5] / 2) / 2)
        assert fj.auc(R, S, "jaccard") == fj.curve(R, S, "jaccard").auc

    def test_compare_takes_one_name_or_many(self):
        assert list(fj.compare(R, S, "gamma").curves) == ["gamma"]
        assert list(fj.compare(R, S, ["gamma", "pog"], ks="exp").curves) == ["gamma", "pog"]
        assert list(fj.compare(R, S).curves) == ["fuji", "jaccard"]
        assert list(fj.compare(R, S, np.array(["pog", "POG"])).curves) == ["pog"]
        assert list(fj.compare(R, S, fj.MEASURES["rbo"](p=0.5)).curves) == ["rbo(p=0.5)"]
        assert list(fj.compare(R, S, (name for name in ["dice"])).curves) == ["dice"]
        for nothing in (None, (), [], np.array([])):
            with pytest.raises(fj.InputError, match="measures must name at least one measure"):
                fj.compare(R, S, nothing)
        for odd in (3, ["fuji", 3]):
            with pytest.raises(fj.InputError, match="measure must be one of fuji, jaccard"):
                fj.compare(R, S, odd)
        with pytest.raises(fj.InputError, match="the comparison must hold the measure asked for; dice is not among"):
            fj.compare(R, S)["dice"]

    @pytest.mark.parametrize("name", ["rbo(0.98)", "rbo(p=0.98", "rbo:", "rbo(p=0.98, 3)"])
    def test_parameters_that_cannot_be_read_are_not_ignored(self, name):
        with pytest.raises(fj.InputError, match=r"measure must be a name with parameters such as 'rbo:0\.98'"):
            fj.compare(R, S, name)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"k": [7]}, "k must lie between 1 and 6"),
            ({"k": [3, 2]}, "k must increase; 3 is followed by 2"),
            ({"ks": [0, 2]}, "ks must lie between 1 and 6.*got 0"),
            ({"ks": []}, "ks must be 'all', 'exp', 'squared' or increasing integers from 1 to 6"),
            ({"ks": [1.5]}, "ks must be 'all'"),
            ({"ks": None}, "ks must be 'all'"),
            ({"ks": "log"}, "ks must be one of 'all', 'exp', 'squared'; got 'log'"),
        ],
    )
    def test_sizes_that_cannot_be(self, options, message):
        with pytest.raises(fj.InputError, match=message):
            fj.compare(R, S, **options)
