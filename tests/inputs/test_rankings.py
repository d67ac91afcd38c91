"""Collections of rankings: every container gives the same rankings, and errors name the place."""

from __future__ import annotations

import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fujiscore as fj

ROWS = np.array([[3.0, 1.0, 2.0], [1.0, 2.0, 0.0]])


class ArrowStream:
    """An object with nothing but an Arrow stream, as a DuckDB relation has."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "container",
    [
        {"a": ROWS[0], "b": list(ROWS[1])},
        pd.DataFrame({"a": ROWS[0], "b": ROWS[1]}),
        pl.DataFrame({"a": ROWS[0], "b": ROWS[1]}),
        pa.table({"a": ROWS[0], "b": ROWS[1]}),
        pa.record_batch({"a": ROWS[0], "b": ROWS[1]}),
        ArrowStream(pa.table({"a": ROWS[0], "b": ROWS[1]})),
        [pd.Series(ROWS[0], name="a"), pd.Series(ROWS[1], name="b")],
        (fj.Ranking(ROWS[0], name="a"), fj.Ranking(ROWS[1], name="b")),
    ],
    ids=["dict", "pandas", "polars", "arrow", "batch", "stream", "series", "rankings"],
)
def test_containers(container):
    both = fj.rankings(container)
    assert both.names == ("a", "b")
    np.testing.assert_array_equal(both.scores, ROWS)
    np.testing.assert_array_equal(both["b"], ROWS[1])
    assert (len(both), both.n) == (2, 3)


def test_arrays_and_lists_are_named_by_position():
    assert fj.rankings(ROWS).names == fj.rankings(ROWS.tolist()).names == ("0", "1")
    alike = [pd.Series(ROWS[0], name="a"), pd.Series(ROWS[1], name="a")]
    assert fj.rankings(alike).names == ("0", "1")


def test_an_array_is_copied_once():
    frame = pd.DataFrame(ROWS.T)
    for given in (ROWS, ROWS.ravel().reshape(ROWS.shape), np.asfortranarray(ROWS), frame, pl.from_pandas(frame)):
        known = fj.rankings(given)
        assert not np.shares_memory(known.matrix(), ROWS)
        assert all(map(np.shares_memory, known.matrix(), known.scores))
        np.testing.assert_array_equal(known.matrix(), ROWS)
    assert not fj.rankings(ROWS).matrix().flags.writeable
    np.testing.assert_array_equal(fj.rankings(ROWS[::-1]).matrix(), ROWS[::-1])
    np.testing.assert_array_equal(fj.rankings(ROWS)[::-1].matrix(), ROWS[::-1])
    np.testing.assert_array_equal(fj.rankings(ROWS.astype(np.float32)).matrix(), ROWS)
    np.testing.assert_array_equal(fj.rankings(np.asfortranarray(ROWS)).matrix(), ROWS)


class TestAccess:
    @pytest.fixture
    def three(self):
        return fj.rankings({"a": {"x": 3, "y": 1}, "b": {"x": 1, "y": 2}, "c": {"x": 0, "y": 0}})

    def test_every_way_gives_rankings(self, three):
        assert [ranking.name for ranking in three] == ["a", "b", "c"]
        assert [name for name, _ in three.items()] == ["a", "b", "c"]
        for ranking in (three["b"], three[1], three[np.int64(1)], three[-2], dict(three.items())["b"], list(three)[1]):
            assert isinstance(ranking, fj.Ranking)
            assert ranking is three["b"]
            assert (ranking.items, ranking.scores.tolist(), len(ranking)) == (("x", "y"), [1, 2], 2)

    def test_several(self, three):
        assert three[["c", "a"]].names == three["c", "a"].names == ("c", "a")
        assert three[1:].names == ("b", "c")
        assert three[1:]["c"] is three["c"]
        with pytest.raises(fj.InputError, match="rankings must keep at least one ranking"):
            three[3:]

    def test_unknown(self, three):
        with pytest.raises(fj.InputError, match="'d' is not among a, b, c"):
            three["d"]
        with pytest.raises(IndexError):
            three[3]
        assert "a" in three
        assert "d" not in three
        assert three["a"] in three

    def test_text(self, three):
        assert repr(three) == "Rankings(3 rankings of 2 items: a, b, c)"
        assert repr(three["b"]) == "Ranking('b', 2 items: y: 2, x: 1)"

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_frames(self, three, library):
        table = three.to_frame(library)
        assert list(table["item"]) == ["x", "y"]
        assert list(table["b"]) == [1, 2]
        assert list(three["b"].to_frame(library)["rank"]) == [1, 2]
        named = fj.rankings({"item": {"x": 3, 7: 1}}).to_frame(library)
        assert [str(label) for label in named["item_"]] == ["x", "7"]
        assert list(named["item"]) == [3, 1]

    def test_copies_travel(self, three):
        for other in (pickle.loads(pickle.dumps(three)), deepcopy(three)):
            assert other.names == three.names
            assert other["a"].order.tolist() == three["a"].order.tolist()
            assert fj.pairwise(other).values.tobytes() == fj.pairwise(three).values.tobytes()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, lambda own: ArrowStream(pa.table(own))])
def test_a_column_of_items_is_understood(make):
    columns = {"gene": ["x", "y", "z"], "a": [3, 1, 2], "b": [1, 2, 0]}
    for both in (fj.rankings(make(columns)), fj.rankings(make(columns), items="gene")):
        assert (list(both.labels), both.names, both.notes) == (["x", "y", "z"], ("a", "b"), ())
        assert both["b"].items is both["a"].items
    with pytest.raises(fj.InputError, match=r"items must name a column; got 'name'\. The columns are gene, a, b"):
        fj.rankings(make(columns), items="name")
    with pytest.raises(fj.InputError, match=r"'gene', 'GO' are not numeric.*items='gene'"):
        fj.rankings(make({**columns, "GO": ["p", "q", "r"]}))
    with pytest.raises(fj.InputError, match="GO must hold numbers; got 'p'"):
        fj.rankings(make({**columns, "GO": ["p", "q", "r"]}), items="gene")


def test_columns_in_capitals_are_quoted():
    with pytest.raises(fj.InputError, match="items='GENE'"):
        fj.rankings(pd.DataFrame({"GENE": ["x"], "NAME": ["y"], "a": [1]}))


class TestPandas:
    def test_integer_columns(self):
        both = fj.rankings(pd.DataFrame(ROWS.T))
        assert both.names == ("0", "1")
        np.testing.assert_array_equal(both.matrix(), ROWS)
        labelled = fj.rankings(pd.DataFrame({0: ["x", "y"], 1: [1, 2]}), items=0)
        assert (labelled.names, labelled.labels) == (("1",), ("x", "y"))
        assert fj.pairwise(pd.DataFrame(ROWS.T))["0", "1"] == fj.auc(*ROWS, ks="exp")

    def test_columns_that_cannot_be_named(self):
        twice = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
        with pytest.raises(fj.InputError, match="'a' names more than one"):
            fj.rankings(twice)
        with pytest.raises(fj.InputError, match="'1' names more than one"):
            fj.rankings(pd.DataFrame([[1, 2]], columns=[1, "1"]))
        levels = pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
        with pytest.raises(fj.InputError, match=r"got a MultiIndex\. Flatten the columns first"):
            fj.rankings(pd.DataFrame([[1, 2]], columns=levels))
        repeated = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
        with pytest.raises(fj.InputError, match="'a' names more than one"):
            fj.rankings(repeated)

    def test_numbers_kept_as_objects_are_scores(self):
        table = pd.DataFrame({"a": pd.Series([3, None, 2], dtype=object), "b": [1, 2, 3]})
        assert fj.rankings(table, nan="zero").scores[0].tolist() == [3, 0, 2]
        nothing = pl.DataFrame({"a": [1, 2], "b": [None, None]})
        assert fj.rankings(nothing, nan="zero").names == ("a", "b")

    def test_an_index_beside_a_text_column_is_noted(self):
        table = pd.DataFrame({"name": ["x", "y"], "a": [1, 2]}, index=["g1", "g2"])
        both = fj.rankings(table)
        assert (both.labels, both.notes) == (("x", "y"), ("the column 'name' labels the items, not the index",))
        assert fj.rankings(table, items="name").notes == ()
        assert fj.rankings(table[["a"]]).labels == ("g1", "g2")

    def test_flags_and_dates(self):
        table = pd.DataFrame({"day": pd.date_range("2024", periods=2), "a": [True, False]})
        assert fj.rankings(table).scores[0].tolist() == [1, 0]
        assert fj.rankings(table).labels == tuple(table["day"])


def test_labels_are_aligned_and_written_out():
    lists = {"a": {"x": 3, "y": 1}, "b": {"y": 2, "z": 4}}
    both = fj.rankings(lists, missing="zero")
    table = both.to_frame("pandas")
    assert table["item"].tolist() == ["x", "y", "z"]
    assert table["b"].tolist() == [0, 2, 4]
    assert table.attrs["notes"] == list(both.notes)
    assert list(fj.rankings(lists, missing="drop").labels) == ["y"]
    assert both["a"].absent.tolist() == [False, False, True]
    assert (both.depth, both.truncated, both.population) == (2, True, None)


def test_shuffled_rankings_have_ranks_of_their_own():
    ranking = fj.Ranking(np.arange(9.0))
    assert ranking.ranks.tolist() == list(range(9, 0, -1))
    shuffled = ranking.shuffled(np.uint64(3))
    assert shuffled.scores.tolist() != ranking.scores.tolist()
    assert shuffled.ranks.tolist() == (9 - shuffled.scores).tolist()


class TestConstructors:
    def test_labels_are_kept(self):
        assert fj.Ranking({"a": 1, "b": 2}).items == ("a", "b")
        assert fj.Ranking(["a", "b"]).notes == (
            "ranking has no scores: read as a list from best to worst, scores 1/rank",
        )
        named = fj.Ranking([1, 2], np.array(["a", "b"]), name="r", universe=9, notes=["measured twice"])
        assert fj.fuji(named, {"b": 2, "a": 1}, 1) == 1
        assert (named.universe, named.notes) == (9, ("measured twice",))

    @pytest.mark.parametrize(
        ("arguments", "options", "message"),
        [
            (([1, 2], ["a"]), {}, "ranking must have one label per score; got 1 labels and 2 scores"),
            (([1, 2], ["a", "a"]), {}, "ranking must list each item once"),
            (([1, 2], [["a"], ["b"]]), {}, "ranking must have hashable labels"),
            (([1, 2], ["a", None]), {}, "ranking must label every item; the label at position 1 is missing"),
            (([1, float("nan")],), {}, "ranking must hold finite scores"),
            (([1, float("inf")],), {"name": "x"}, "x must hold finite scores"),
            (
                ([1, 2],),
                {"universe": 1},
                "universe must be at least the number of items that the rankings list, 2; got 1",
            ),
        ],
    )
    def test_what_a_ranking_refuses(self, arguments, options, message):
        with pytest.raises(fj.InputError, match=message):
            fj.Ranking(*arguments, **options)

    def test_rankings(self):
        both = fj.Rankings(["a", "b"], ROWS, ["x", "y", "z"])
        assert both["b"].items == both.labels == ("x", "y", "z")
        for names, scores, message in (
            (["a"], ROWS, "names must name each of the 2 rankings; got 1"),
            ([], [], "names must name each of the 0 rankings"),
            (["a", "a"], ROWS, "'a' names more than one"),
            (["a", "b"], [[1, 2], [1, 2, 3]], "b must be scores in the order of the labels"),
            (["a", "b"], [{"x": 1, "y": 2}, {"y": 1, "x": 2}], "align labelled scores"),
        ):
            with pytest.raises(fj.InputError, match=message):
                fj.Rankings(names, scores)


@pytest.mark.parametrize(
    ("container", "options", "message"),
    [
        ({}, {}, "rankings must hold at least one ranking"),
        (np.empty((0, 3)), {}, "rankings must hold at least one ranking"),
        (pd.DataFrame(), {}, "rankings must hold at least one ranking"),
        (3, {}, "got int"),
        (None, {}, "got NoneType"),
        ("scores.csv", {}, r"got str\. Read files with fujiscore\.read"),
        (pd.Series([1, 2]), {}, "got Series.*put a single ranking in a list"),
        (pl.Series([1, 2]), {}, "got Series"),
        (pa.chunked_array([[1, 2]]), {}, "got ChunkedArray"),
        (ArrowStream(pa.chunked_array([[1, 2]])), {}, "the ArrowStream is not one"),
        (np.ones(3), {}, r"one row per ranking; got shape \(3,\)"),
        (np.ones((2, 2, 2)), {}, "one row per ranking"),
        ([1, 2, 3], {}, "0 must be scores.*Got int"),
        ({"a": 3, "b": 1}, {}, "a must be scores.*Got int"),
        ({1: [1, 2], "1": [2, 1]}, {}, "rankings must have different names; '1' names more than one"),
        ({"a": [1, 2], "b": [1, float("nan")]}, {}, "b must hold scores that are numbers; 1 of 2 is NaN"),
        (pd.DataFrame({"gene": ["x", "x"], "a": [1, 2]}), {}, r"a must list each item once; it repeats 1 item \(x\)"),
        (pl.DataFrame({"gene": ["x", None], "a": [1, 2]}), {}, "a must label every item; the label at position 1"),
        (pd.DataFrame({"a": ["x", "y"]}), {}, "rankings must have a column of scores; 'a' is the only column"),
        (pd.DataFrame({"a": []}), {}, "a must hold at least one score"),
    ],
)
def test_errors(container, options, message):
    with pytest.raises(fj.InputError, match=message):
        fj.rankings(container, **options)


def test_notes_on_many_rankings_are_gathered():
    """More than five notes that differ in name, numbers and items only become one; fewer stay as they are."""
    lists = {f"run {i}": [f"g{i}", f"g{i + 1}", "g0"][: 3 - i % 2] for i in range(1, 9)}
    notes = fj.rankings(lists, missing="zero").notes
    assert notes == (
        "run 1 has no scores: read as a list from best to worst, scores 1/rank; likewise 7 other rankings",
        "run 1 lacks 8 of 10 items, scored 0: g3, g0, g4, g5, g6 and 3 more; likewise 7 other rankings",
    )
    few = fj.rankings({name: lists[name] for name in list(lists)[:3]}, missing="zero").notes
    assert len(few) == 6
    signed = fj.rankings(np.tile([1.0, -1.0], (6, 1)), negative="clip").notes
    assert signed == ("0: 1 of 2 scores are negative and count as 0; likewise 5 other rankings",)
