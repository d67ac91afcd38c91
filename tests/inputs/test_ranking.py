"""Every input that users have, every policy, and rankings that pass unchanged through every function."""

from __future__ import annotations

import inspect
from collections import Counter, deque
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fujiscore as fj

A = {"x": 3.0, "y": 2.0, "z": 1.0}
B = {"z": 4.0, "x": 1.0, "y": 2.0}
SHUFFLED = dict(sorted(B.items(), reverse=True))
PAIR_FUNCTIONS = {
    "fuji": lambda r, s, **p: fj.fuji(r, s, 2, **p),
    "score": lambda r, s, **p: fj.score(r, s, 2, "jaccard", **p),
    "curve": lambda r, s, **p: fj.curve(r, s, **p).values.tolist(),
    "auc": fj.auc,
    "compare": lambda r, s, **p: fj.compare(r, s, **p).auc,
    "explain": lambda r, s, **p: fj.explain(r, s, 1, **p).items,
    "chance": lambda r, s, **p: fj.chance(r, s, **p).corrected_auc,
    "bounds": lambda r, s, **p: fj.bounds(r, s, **p).auc,
    "rbo": lambda r, s: float(fj.rbo(r, s)),
    "average_overlap": fj.average_overlap,
}
DOOR = [name for name in PAIR_FUNCTIONS if name not in {"rbo", "average_overlap"}]


class Tensor:
    """What a tensor of another library looks like from here."""

    def __init__(self, values, error=None):
        self.values, self.error = values, error

    def __array__(self, dtype=None, copy=None):
        if self.error:
            raise self.error
        return np.array(self.values, dtype)


class TestOneCurrency:
    @pytest.mark.parametrize("name", PAIR_FUNCTIONS)
    def test_rankings_of_any_wrapping_give_the_same(self, name):
        function = PAIR_FUNCTIONS[name]
        expected = function(A, B)
        both = fj.rankings({"a": A, "b": B})
        assert function(both["a"], both["b"]) == expected
        assert function(both[0], B) == function(A, both[1]) == expected
        alone = fj.rankings({"a": A}), fj.rankings({"b": SHUFFLED})
        assert function(*alone) == function(alone[0][0], alone[1][0]) == expected
        assert function(fj.Ranking(A), fj.Ranking(SHUFFLED)) == expected

    @pytest.mark.parametrize("name", PAIR_FUNCTIONS)
    def test_several_rankings_are_not_one(self, name):
        both = fj.rankings({"a": A, "b": B})
        with pytest.raises(fj.InputError, match=r"s must be one ranking; got 2: a, b\. Name one of them\."):
            PAIR_FUNCTIONS[name](A, both)

    @pytest.mark.parametrize("name", DOOR)
    def test_negative_scores_are_accepted_once(self, name):
        raw = {"a": {"x": 3, "y": -2, "z": 1}, "b": {"z": 4, "x": -1, "y": 2}}
        both = fj.rankings(raw, negative="clip")
        expected = PAIR_FUNCTIONS[name](raw["a"], raw["b"], negative="clip")
        assert PAIR_FUNCTIONS[name](both["a"], both["b"]) == expected
        assert PAIR_FUNCTIONS[name](fj.rankings({"a": raw["a"]}, negative="clip"), both["b"]) == expected
        with pytest.raises(fj.InputError, match="r must hold non-negative scores"):
            PAIR_FUNCTIONS[name](raw["a"], raw["b"])

    def test_collections_take_rankings(self):
        rng = np.random.default_rng(0)
        raw = {name: dict(zip("vwxyz", rng.normal(size=5), strict=True)) for name in "abcd"}
        four = fj.rankings(raw, negative="clip")
        expected = fj.pairwise(raw, negative="clip").values
        for collection in (four, dict(four.items()), list(four), [fj.rankings({"q": own}) for own in four]):
            assert fj.pairwise(collection).values.tobytes() == expected.tobytes()
            assert fj.stability(collection).value == fj.stability(raw, negative="clip").value
            assert fj.stability_curve(collection).values.tolist() == fj.stability_curve(four).values.tolist()
            assert fj.stats.compare_stability(collection, four).difference == 0
        assert fj.pairwise(four[:2], four[2:]).values.tobytes() == expected[:2, 2:].tobytes()
        assert fj.pairwise(four["a"], four).values[0].tolist() == expected[0].tolist()

    def test_passing_through_changes_nothing(self):
        both = fj.rankings([[1, -2], [2, 1]], negative="clip")
        again = fj.rankings(both)
        assert [one is other for one, other in zip(both, again, strict=True)] == [True, True]
        assert again.notes == both.notes == ("0: 1 of 2 scores are negative and count as 0",)
        assert fj.rankings(both["0"])[0].notes == both.notes

    def test_the_names_are_those_of_the_rankings(self):
        first, second = fj.rankings({"old": [1, -1]}, negative="clip"), fj.rankings({"new": [1, 2]})
        assert fj.compare(first, second).rankings.names == ("old", "new")
        assert fj.compare(first["old"], second).notes[0] == "old: 1 of 2 scores are negative and count as 0"
        assert fj.compare(first, first).rankings.names == ("r", "s")

    def test_labels_come_back(self):
        both = fj.rankings({"a": A, "b": B})
        assert set(fj.explain(both["a"], both["b"], 1).items) == {"x", "z"}
        assert set(fj.compare(both["a"], both["b"]).explain(1).items) == {"x", "z"}

    def test_the_universe_travels(self):
        lists = {"a": {"x": 2, "y": 1}, "b": {"x": 2, "z": 1}}
        expected = fj.chance(lists["a"], lists["b"], universe=100).corrected_auc
        both = fj.rankings(lists, universe=100)
        assert fj.chance(both["a"], both["b"]).corrected_auc == expected
        one = fj.rankings({"a": lists["a"]}, universe=100)
        other = fj.rankings({"b": lists["b"]}, universe=100)
        assert fj.chance(one, other).corrected_auc == fj.chance(one, lists["b"]).corrected_auc == expected
        assert fj.chance(one, other, universe=50).corrected_auc != expected
        with pytest.raises(fj.InputError, match="rankings must come from one universe; these say 50, 100"):
            fj.chance(one, fj.rankings({"b": lists["b"]}, universe=50))
        with pytest.raises(fj.InputError, match=r"universe must be at least the number of items.* 3; got 2"):
            fj.chance(fj.rankings({"a": lists["a"]}, universe=2), lists["b"])


KINDS = {
    "list": [3, 2, 1],
    "tuple": (3, 2, 1),
    "range": range(3, 0, -1),
    "array": np.array([3, 2, 1]),
    "object array": np.array([3, 2, 1], object),
    "masked array": np.ma.array([3, 2, 1]),
    "deque": deque([3, 2, 1]),
    "pandas": pd.Series([3, 2, 1]),
    "pandas categories": pd.Series(pd.Categorical([3, 2, 1])),
    "pandas sparse": pd.Series(pd.arrays.SparseArray([3, 2, 1])),
    "polars": pl.Series([3, 2, 1]),
    "arrow": pa.array([3, 2, 1]),
    "arrow chunks": pa.chunked_array([[3], [2, 1]]),
    "pandas table": pd.DataFrame({"a": [3, 2, 1]}),
    "polars table": pl.DataFrame({"a": [3, 2, 1]}),
    "arrow table": pa.table({"a": [3, 2, 1]}),
    "tensor": Tensor([3, 2, 1]),
}
LABELLED = {
    "dict": A,
    "counter": Counter({"x": 3, "y": 2, "z": 1}),
    "pairs": [("x", 3), ("z", 1), ("y", 2)],
    "tuple of pairs": (("x", 3), ("z", 1), ("y", 2)),
    "dict_items": A.items(),
    "pandas": pd.Series(A),
    "pandas table": pd.DataFrame({"gene": list(A), "score": list(A.values())}),
    "polars table": pl.DataFrame({"gene": list(A), "score": list(A.values())}),
    "arrow table": pa.table({"gene": list(A), "score": list(A.values())}),
    "pandas index": pd.DataFrame({"score": A}),
}


class TestInputs:
    @pytest.mark.parametrize("kind", KINDS)
    def test_unlabelled(self, kind):
        assert fj.curve(KINDS[kind], [1, 2, 4]).values.tolist() == fj.curve([3, 2, 1], [1, 2, 4]).values.tolist()

    @pytest.mark.parametrize("kind", LABELLED)
    def test_labelled(self, kind):
        why = fj.explain(LABELLED[kind], SHUFFLED, 1)
        assert (set(why.items), why.value) == ({"x", "z"}, fj.fuji(A, B, 1))

    def test_generators(self):
        assert fj.fuji((x for x in [3, 2, 1]), map(float, [1, 2, 4]), 1) == fj.fuji([3, 2, 1], [1, 2, 4], 1)
        pairs = zip("xyz", [3, 2, 1], strict=True)
        assert fj.fuji(pairs, (pair for pair in B.items()), 1) == fj.fuji(A, B, 1)

    @pytest.mark.parametrize("make", [list, tuple, np.array, pd.Series, pl.Series, pa.array, iter])
    def test_items_without_scores(self, make):
        both = fj.rankings({"a": make(["x", "y", "z"])})
        assert list(both.labels) == ["x", "y", "z"]
        assert both.scores[0].tolist() == [1, 1 / 2, 1 / 3]
        assert both.notes == ("a has no scores: read as a list from best to worst, scores 1/rank",)

    def test_numbers_written_as_text_are_no_items(self):
        for numbers in (["3", "2.5", "1e-3"], np.array(["3", "2"]), pl.Series(["3", "2"]), {"x": "3", "y": "2"}):
            with pytest.raises(fj.InputError, match=r"r must hold numbers; got '3' \(str\) at position 0"):
                fj.fuji(numbers, [1, 2], 1)

    def test_masked_labels_and_objects(self):
        masked = np.ma.array(np.array([3, 9, 1], object), mask=[False, True, False])
        assert fj.rankings({"a": masked}, nan="zero").scores[0].tolist() == [3, 0, 1]
        with pytest.raises(fj.InputError, match="r must hold numbers; got 'a'"):
            fj.rankings({"r": np.ma.array(["a", "b"], mask=[False, True])})

    def test_missing_values_of_every_library(self):
        for scores in ([3, None], [3, float("nan")], [3, pd.NA], pl.Series([3, None]), pa.array([3, None])):
            assert fj.rankings({"a": scores}, nan="zero").scores[0].tolist() == [3, 0]

    def test_labels_of_several_kinds(self):
        odd = {1: 3.0, "1": 2.0, (1, 2): 1.0, date(2024, 1, 1): 0.5, 2.5: 0.25, True + 1: 0.1}
        why = fj.explain(odd, dict(reversed(odd.items())), 6)
        assert (set(why.items), why.value) == (set(odd), 1)

    @pytest.mark.parametrize(
        ("scores", "message"),
        [
            (None, "Got NoneType"),
            ({1, 2}, "Got set"),
            (frozenset({1}), "Got frozenset"),
            ("x.csv", r"Got str\. Read files with fujiscore\.read\."),
            (3, "Got int"),
            (len, "Got builtin"),
            (Tensor, "Got type"),
            ([], "r must hold at least one score; it is empty"),
            ({}, "r must hold at least one score; it is empty"),
            ([[1, 2], [3, 4]], r"r must be one-dimensional.*shape \(2, 2\)"),
            ([[1], [2, 3]], "r must be a flat list of scores; its entries are sequences of unequal lengths"),
            (np.ones((2, 3)), r"shape \(2, 3\); pass one row or one column"),
            (np.array(3), r"shape \(\)"),
            ([1j, 2], r"r must hold numbers; got 1j \(complex\) at position 0"),
            ([1, "x", 2], r"r must hold numbers; got 'x' \(str\) at position 1"),
            ({"a": 1, "b": "x"}, r"got 'x' \(str\) at position 1"),
            ([b"a", b"b"], r"got b'a' \(bytes\)"),
            ({"a": {"x": 1}}, "must be one ranking; got several, each a mapping"),
            (np.array(["2024-01-01"], "M8[D]"), r"r must hold numbers; got datetime64\[D\]"),
            (np.array([1], "m8[s]"), r"got timedelta64\[s\]"),
            (pd.Series(pd.date_range("2024", periods=2)), "Timestamp"),
            (pl.Series([date(2024, 1, 1)]), "got datetime64"),
            ([10**400, 1], "some do not fit a float"),
            (np.array(["1e400", "1"], np.longdouble), "r must hold finite scores; 1 of 2 is infinite"),
            ([1, float("inf")], r"r must hold finite scores; 1 of 2 is infinite \(first: inf at item 1\)"),
            (Tensor([1], RuntimeError("detach first")), "its Tensor gives no array: detach first"),
            (pd.DataFrame({"a": [1], "b": [2]}), r"r must be one ranking; got a table of 2 score columns \(a, b\)"),
            ([(["x"], 1), (["y"], 2)], "r must have hashable labels such as strings; got an unhashable type: 'list'"),
            ([((1, ["x"]), 1), ((2, ["y"]), 2)], "r must have hashable labels"),
            ({"a": 1, None: 2}, "r must label every item; the label at position 1 is missing"),
            ({float("nan"): 1, "a": 2}, "r must label every item; the label at position 0 is missing"),
            (pd.Series([1, 2], index=["a", np.nan]), "the label at position 1 is missing"),
            (pd.Series([1, 2], index=pd.to_datetime(["2024-01-01", None])), "the label at position 1 is missing"),
            ([("a", 1), ("a", 2)], r"r must list each item once; it repeats 1 item \(a\)"),
        ],
    )
    def test_errors(self, scores, message):
        with pytest.raises(fj.InputError, match=message) as error:
            fj.rankings({"r": scores})
        assert str(error.value).startswith("r ")
        assert "\n" not in str(error.value)


class TestPolicies:
    @pytest.mark.parametrize("name", ["negative", "nan", "missing", "duplicates", "transform"])
    def test_words(self, name):
        words = inspect.signature(fj.rankings).parameters
        assert name in words
        with pytest.raises(fj.InputError, match=f"{name} must be one of .*; got 'ignore'"):
            fj.rankings([[1, 2]], **{name: "ignore"})

    @pytest.mark.parametrize("function", [*(fj.rankings, fj.pairwise, fj.stability, fj.stability_curve)])
    def test_unknown_policies(self, function):
        with pytest.raises(TypeError):
            function([[1, 2]] * 3, absent="zero")

    @pytest.mark.parametrize("name", DOOR)
    def test_unknown_policies_of_pairs(self, name):
        with pytest.raises(TypeError):
            PAIR_FUNCTIONS[name](A, B, absent="zero")
        with pytest.raises(TypeError):
            PAIR_FUNCTIONS[name](A, B, notes=["smuggled in"])

    def test_duplicates(self):
        pairs = [("x", 1.0), ("y", 5.0), ("x", 4.0), ("x", 1.0)]
        for word, score in (("max", 4), ("mean", 2), ("first", 1)):
            result = fj.rankings({"a": pairs}, duplicates=word)
            assert dict(zip(result.labels, result.scores[0], strict=True)) == {"x": score, "y": 5}
            assert result.notes[0].startswith("a: 2 duplicates merged, ")
            assert result.notes[0].endswith(" (x)")
        assert fj.rankings({"a": [("x", 1.7e308), ("x", 1.7e308)]}, duplicates="mean").scores[0] == 1.7e308
        frame = pl.DataFrame({"g": ["x", "y", "x"], "a": [1, 2, 3], "b": [6, 5, 4]})
        assert [own.tolist() for own in fj.rankings(frame, duplicates="max").scores] == [[3, 2], [6, 5]]

    def test_duplicates_and_nan(self):
        pairs = [("x", 1.0), ("y", 5.0), ("x", float("nan"))]
        for word in ("max", "mean"):
            for nan in ("drop", "zero"):  # rows without a score take no part
                merged = fj.rankings({"a": pairs}, duplicates=word, nan=nan)
                assert (list(merged.labels), merged.scores[0].tolist()) == (["x", "y"], [1, 5])
        nothing = [("x", float("nan")), ("y", 5.0), ("x", float("nan"))]
        dropped = fj.rankings({"a": nothing}, duplicates="max", nan="drop")
        assert (list(dropped.labels), dropped.notes[-1]) == (
            ["y"],
            "1 of 2 items left; 1 dropped, NaN in some ranking: x",
        )
        zero = fj.rankings({"a": nothing}, duplicates="mean", nan="zero")
        assert zero.scores[0].tolist() == [0, 5]
        with pytest.raises(fj.InputError, match="a must hold scores that are numbers; 1 of 3 is NaN"):
            fj.rankings({"a": pairs}, duplicates="max")

    def test_transform_comes_before_the_checks(self):
        logs = {"a": [("x", -1.0), ("x", -2.0), ("y", -3.0)]}
        result = fj.rankings(logs, transform="exp", duplicates="mean")
        assert result.scores[0] == pytest.approx([(1 + np.exp(-1)) / 2, np.exp(-2)])
        assert fj.rankings([[-1, -4]], transform=np.square).scores[0].tolist() == [1, 16]
        with pytest.raises(fj.InputError, match="0 must hold non-negative scores; 2 of 2 are negative"):
            fj.rankings([[1, 4]], transform=np.negative)
        with pytest.raises(fj.InputError, match="0 must hold finite scores; 1 of 2 is infinite"):
            fj.rankings([[5e-324, 1]], transform="reciprocal")
        missing = fj.rankings({"a": {"x": 0.1}, "b": {"x": 0.01, "y": 1e-9}}, transform="neglog10", missing="zero")
        assert missing["a"].scores == pytest.approx([1, 0])

    def test_abs_before_infinity(self):
        with pytest.raises(fj.InputError, match="infinite"):
            fj.rankings([[float("-inf"), 1]], negative="abs")
        assert fj.rankings([[-3, 1]], negative="abs").scores[0].tolist() == [3, 1]

    def test_dropping_says_what_is_left(self):
        lists = {"a": {"u": 1, "v": 2, "w": float("nan"), "x": 4}, "b": {"v": 1, "w": 2, "x": 3, "y": 4, "z": 5}}
        result = fj.rankings(lists, missing="drop", nan="drop")
        assert result.notes == (
            "5 of 6 items left; 1 dropped, NaN in some ranking: w",
            "2 of 5 items left; 3 dropped, not in every ranking: u, y, z",
        )
        assert list(result.labels) == ["v", "x"]
        many = fj.rankings({"a": dict.fromkeys(range(20), 1.0), "b": {0: 1.0}}, missing="drop")
        assert many.notes == ("1 of 20 items left; 19 dropped, not in every ranking: 1, 2, 3, 4, 5 and 14 more",)

    def test_positions_that_are_left_stay_what_they_were(self):
        nan = float("nan")
        both = fj.rankings([[9.0, nan, 3.0, 1.0], [8.0, 7.0, 2.0, 1.0]], nan="drop")
        assert both.labels == (0, 2, 3)
        assert fj.explain(both[0], both[1], 2).items == [0, 2]
        alone = [fj.rankings([scores], nan="drop")[0] for scores in ([nan, 3.0, 2.0, 1.0], [3.0, 2.0, 1.0, nan])]
        with pytest.raises(fj.InputError, match="lacks 1 of 4"):
            fj.compare(*alone)

    def test_nothing_left(self):
        with pytest.raises(fj.InputError, match="r and s must share items to be compared"):
            fj.auc({"a": 1}, {"b": 1}, missing="drop")
        with pytest.raises(fj.InputError, match="r and s have no item left after nan='drop'"):
            fj.auc([None, 1], [1, None], nan="drop")
        with pytest.raises(fj.InputError, match="s must list an item that is left after nan='drop'"):
            fj.auc({"x": None, "y": 1}, {"x": 1}, nan="drop", missing="zero")

    def test_absent_items_rank_below_listed_ones(self):
        both = fj.rankings(
            {"r": {"a": -1, "b": -2, "c": -3}, "s": {"a": -1, "b": -2, "d": -3}}, missing="zero", negative="clip"
        )
        for ranking in both:
            assert [ranking.label(int(i)) for i in ranking.order][:2] == ["a", "b"]
            assert bool(ranking.absent[ranking.order[-1]])
        floor = fj.rankings({"r": {"a": float("-inf"), "b": 1}, "s": {"b": 1, "c": 2}}, missing="zero", negative="clip")
        assert [floor["r"].label(int(i)) for i in floor["r"].order] == ["b", "a", "c"]
        assert floor["r"].ranks.tolist() == [2, 1, 3]

    def test_missing_drop_applies_to_rankings_filled_before(self):
        both = fj.rankings({"a": {"x": 1, "y": 2}, "b": {"y": 1, "z": 2}}, missing="zero")
        assert list(fj.rankings(both, missing="drop").labels) == ["y"]

    def test_universe(self):
        lists = {"a": {"x": 2, "y": 1}, "b": {"x": 2, "z": 1}}
        for universe in (9, np.int64(9), set("abcdefxyz"), list("abcdefxyz"), np.array(list("abcdefxyz"))):
            result = fj.rankings(lists, universe=universe)
            assert (result.universe, result["a"].universe, result.population) == (9, 9, 9)
        for universe, message in (
            ("abc", "universe must be an integer of at least 1; got 'abc'"),
            (9.0, "universe must be an integer of at least 1"),
            (0, "universe must be an integer of at least 1"),
            (2, "universe must be at least the number of items that the rankings list, 3; got 2"),
            (list("xyw"), "universe must hold every item; 1 of 3 are not: z"),
            ([["x"], ["y"]], "universe must have hashable labels"),
        ):
            with pytest.raises(fj.InputError, match=message):
                fj.rankings(lists, universe=universe)
        with pytest.raises(fj.InputError, match="universe cannot be combined with missing='drop'"):
            fj.rankings(lists, universe=9, missing="drop")
        with pytest.raises(fj.InputError, match="universe cannot be combined with missing='drop'"):
            fj.rankings(fj.rankings(lists, universe=9), missing="drop")

    def test_bounds_are_no_values(self):
        with pytest.raises(fj.InputError, match=r"missing='bounds' gives an interval.*fujiscore\.bounds"):
            fj.pairwise([[1, 2]], missing="bounds")

    def test_labels_beside_none(self):
        with pytest.raises(fj.InputError, match="s has item labels and r has none, so they cannot be aligned"):
            fj.auc([1, 2], {"a": 1, "b": 2})
        with pytest.raises(fj.InputError, match="r and s must score the same items; they have 2 and 3 scores"):
            fj.auc([1, 2], [1, 2, 3])
