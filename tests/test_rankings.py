"""Collections of rankings: every container gives the same rankings, and errors name the place."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fujiscore as fj

ROWS = np.array([[3.0, 1.0, 2.0], [1.0, 2.0, 0.0]])


@pytest.mark.parametrize(
    "container",
    [
        {"a": ROWS[0], "b": list(ROWS[1])},
        pd.DataFrame({"a": ROWS[0], "b": ROWS[1]}),
        pl.DataFrame({"a": ROWS[0], "b": ROWS[1]}),
        pl.DataFrame({"a": ROWS[0], "b": ROWS[1]}).to_arrow(),
        [pd.Series(ROWS[0], name="a"), pd.Series(ROWS[1], name="b")],
    ],
    ids=["dict", "pandas", "polars", "arrow", "series"],
)
def test_containers(container):
    found = fj.rankings(container)
    assert found.names == ("a", "b")
    np.testing.assert_array_equal(found.scores, ROWS)
    np.testing.assert_array_equal(found["b"], ROWS[1])
    assert (len(found), found.n) == (2, 3)


def test_arrays_and_lists_are_named_by_position():
    assert fj.rankings(ROWS).names == fj.rankings(ROWS.tolist()).names == ("0", "1")


def test_an_array_is_used_in_place():
    assert np.shares_memory(fj.rankings(ROWS).matrix(), ROWS)
    np.testing.assert_array_equal(fj.rankings(ROWS).matrix(), ROWS)
    assert not np.shares_memory(fj.rankings(ROWS[::-1]).matrix(), ROWS)
    assert not np.shares_memory(fj.rankings([ROWS[0], ROWS[0]]).matrix(), ROWS)
    np.testing.assert_array_equal(fj.rankings(ROWS[::-1]).matrix(), ROWS[::-1])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_column_of_items(make):
    table = make({"gene": ["x", "y", "z"], "a": [3, 1, 2], "b": [1, 2, 0]})
    found = fj.rankings(table, items="gene")
    assert (list(found.items), found.names) == (["x", "y", "z"], ("a", "b"))
    with pytest.raises(fj.InputError, match=r"'gene' is String.*items='gene'"):
        fj.rankings(table)
    with pytest.raises(fj.InputError, match=r"items must name a column; got 'name'\. The columns are gene, a, b"):
        fj.rankings(table, items="name")


def test_labels_are_aligned_and_written_out():
    found = fj.rankings({"a": {"x": 3, "y": 1}, "b": {"y": 2, "z": 4}}, missing="zero")
    table = found.to_frame("pandas")
    assert table["item"].tolist() == ["x", "y", "z"]
    assert table["b"].tolist() == [0, 2, 4]
    assert list(fj.rankings({"a": {"x": 3, "y": 1}, "b": {"y": 2, "z": 4}}, missing="drop").items) == ["y"]


def test_rankings_pass_through():
    found = fj.rankings([[1, -2], [2, 1]], negative="clip")
    assert fj.rankings(found) is found
    assert fj.pairwise(found).values[0, 1] == fj.auc([1, -2], [2, 1], negative="clip", ks="exp")


@pytest.mark.parametrize(
    ("container", "options", "message"),
    [
        ({}, {}, "rankings must hold at least one ranking"),
        (3, {}, "got int"),
        (np.ones(3), {}, r"one row a ranking; got shape \(3,\)"),
        ({"a": [1, 2], "b": [1, float("nan")]}, {}, "b must hold scores that are numbers; 1 of 2 is NaN"),
        (
            pd.DataFrame({"gene": ["x", "x"], "a": [1, 2]}),
            {"items": "gene"},
            "column 'gene' must name each item once; 'x'",
        ),
    ],
)
def test_errors(container, options, message):
    with pytest.raises(fj.InputError, match=message):
        fj.rankings(container, **options)


def test_an_unknown_name():
    with pytest.raises(fj.InputError, match="'c' is not among 0, 1"):
        fj.rankings(ROWS)["c"]
