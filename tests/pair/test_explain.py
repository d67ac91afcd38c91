"""Explanations item by item, and results as text and tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import SMALL, distinct_pairs, pairs

import fujiscore as fj


def sizes(n):
    return st.tuples(st.integers(1, n), st.integers(1, n))


def ends_with_zeros(pair, k):
    return [sorted(scores, reverse=True)[size - 1] for scores, size in zip(pair, k, strict=True)] == [0, 0]


@given(pair=st.one_of(pairs(SMALL), distinct_pairs()), data=st.data(), options=st.sampled_from(["stable", "closed"]))
def test_contributions_sum_to_the_numerator(pair, data, options):
    k = data.draw(sizes(len(pair[0])))
    why = fj.explain(*pair, k, ties=options)
    assert why.contribution.sum() == pytest.approx(fj.fuji(*pair, k, ties=options) * len(why), rel=1e-13)
    if ends_with_zeros(pair, k):
        assert np.isnan([why.value, why.jaccard]).all()
    else:
        assert why.value == fj.fuji(*pair, k, ties=options)
        assert why.kind.count("shared") == pytest.approx(why.jaccard * len(why))


@given(pair=distinct_pairs(), data=st.data())
def test_decomposition(pair, data):
    k = data.draw(st.integers(1, len(pair[0])))
    assume(not ends_with_zeros(pair, (k, k)))
    why = fj.explain(*pair, k)
    misses = [c for c, kind in zip(why.contribution, why.kind, strict=True) if kind != "shared"]
    credit = np.mean(misses) if misses else 0.0
    assert why.value == pytest.approx(why.jaccard + (1 - why.jaccard) * credit, rel=1e-13)


def order_of_rows(why):
    """Near misses, far misses, shared items, by falling contribution, by the sum of their ranks, then by label."""
    place = [("near miss", "far miss", "shared").index(kind) for kind in why.kind]
    columns = (place, (-why.contribution).tolist(), (why.rank_r + why.rank_s).tolist(), map(str, why.items))
    return list(zip(*columns, strict=True))


@given(pair=st.one_of(pairs(SMALL), distinct_pairs()), data=st.data())
def test_kinds_and_order_of_the_rows(pair, data):
    why = fj.explain(*pair, data.draw(sizes(len(pair[0]))))
    assert why.items == [item for _, item in sorted(zip(order_of_rows(why), why.items, strict=True))]
    rows = list(zip(why.kind, why.contribution, why.rank_r, why.rank_s, strict=True))
    place = {"near miss": 0, "far miss": 1, "shared": 2}
    keys = [(place[kind], -contribution) for kind, contribution, _, _ in rows]
    assert keys == sorted(keys)
    for kind, contribution, rank_r, rank_s in rows:
        assert (kind == "shared") == (rank_r <= why.k1 and rank_s <= why.k2)
        assert kind != "near miss" or contribution >= 0.5
        assert kind != "shared" or contribution == 1


def test_a_table_by_hand():
    # The items outside: c and d of r, with memberships 0.7 and 0, and b and d of s, with 1/4 and 0.
    why = fj.explain({"a": 4, "b": 3, "c": 2.1, "d": 0}, {"d": 0, "c": 4, "b": 1, "a": 5}, 2)
    assert why.items == ["c", "b", "a"]
    assert why.kind == ["near miss", "far miss", "shared"]
    assert (why.rank_r.tolist(), why.rank_s.tolist()) == ([3, 2, 1], [2, 3, 1])
    assert (why.score_r.tolist(), why.score_s.tolist()) == ([2.1, 3, 4], [4, 1, 5])
    assert why.membership_r.tolist() == [2.1 / 3, 1, 1]
    assert why.membership_s.tolist() == [1, 1 / 4, 1]
    assert why.contribution.tolist() == [2.1 / 3, 1 / 4, 1]
    assert (why.k1, why.k2, why.jaccard) == (2, 2, 1 / 3)
    assert why.value == pytest.approx((1 + 2.1 / 3 + 1 / 4) / 3)


def test_text_and_frames():
    why = fj.explain({"a": 4, "b": 3, "c": 2}, {"a": 4, "c": 3, "b": 1}, 2)
    text = str(why)
    words = "FUJI 0.6667 at k = 2: (1 shared + 1.0000 for 2 far misses) / 3 items"
    assert text.startswith(words)
    assert [line.split()[0] for line in text.splitlines()[1:]] == ["item", "c", "b", "a"]
    assert "k = (1, 3)" in str(fj.explain([3, 2, 1], [1, 2, 3], (1, 3)))
    assert "... 5 more rows" in str(fj.explain(range(25), range(25), 25))
    for library in ("pandas", "polars"):
        table = why.to_frame(library)
        assert type(table).__module__.startswith(library)
        assert list(table["item"]) == ["c", "b", "a"]
        assert list(table["contribution"]) == why.contribution.tolist()


def test_curves_and_comparisons_as_frames():
    comparison = fj.compare([3, 2, 1], [2, 3, 1], ("fuji", "gamma"))
    for library in ("pandas", "polars"):
        table = comparison.to_frame(library)
        assert list(table.columns) == ["k", "fuji", "gamma"]
        assert list(table["k"]) == [1, 2, 3]
        assert list(table["gamma"]) == comparison["gamma"].values.tolist()
        assert list(comparison["fuji"].to_frame(library).columns) == ["k", "fuji"]
    with pytest.raises(fj.InputError, match="library must be one of 'pandas', 'polars'; got 'excel'"):
        comparison.to_frame("excel")


def test_tied_items_share_their_best_rank_and_absent_ones_have_no_score():
    r, s = {"a": 5, "b": 3, "c": 3, "d": 1}, {"a": 4, "c": 2}
    why = fj.explain(r, s, 2, universe=10)
    table = dict(zip(why.items, zip(why.rank_r, why.rank_s, why.score_s, strict=True), strict=True))
    assert (why.k1, why.k2) == (3, 2)
    assert table.keys() == {"a", "b", "c"}
    assert table["a"] == (1, 1, 4)
    assert table["c"] == (2, 2, 2)
    assert table["b"][:2] == (2, 3)
    assert np.isnan(table["b"][2])
    assert "s lacks 2 of 4 items, scored 0: b, d" in why.notes
    line = next(line for line in str(why).splitlines() if line.startswith("b "))
    assert line.split() == ["b", "2", "3", "3", "-", "0.0000", "far", "miss"]


def test_a_comparison_explains_itself():
    r, s = {"a": 4, "b": 3, "c": 2}, {"a": 4, "c": 3, "b": 1}
    assert fj.compare(r, s).explain(2).items == fj.explain(r, s, 2).items
    assert fj.compare(r, s).explain().k1 == 1
    assert fj.compare(r, s, zero_tail="exclude", ties="stable").explain(2).value == fj.fuji(r, s, 2)
    assert fj.explain(r, s, 2).to_frame("pandas").attrs["notes"] == []
