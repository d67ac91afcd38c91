"""What comparing runs shows: spreads against statistics from the definition, undefined values, groups, all forms."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from intervals_oracle import spread

import fujiscore as fj
from fujiscore.errors import InputError
from fujiscore.inference.intervals import Spread
from fujiscore.measures.registry import find
from fujiscore.runs.compare import compare_runs
from fujiscore.runs.results import RunComparison
from fujiscore.text.data import to_json
from fujiscore.text.tables import bars, display_width

A = {"x": {"a": 4, "b": 3, "c": 2}, "y": {"a": 4, "b": 3, "c": 2}, "z": {"a": 2, "b": 1}, "old": {"a": 1}}
B = {"x": {"a": 9, "b": 8, "c": 1}, "y": {"a": 4, "c": 3, "b": 1}, "z": {"c": 2, "d": 1}, "new": {"a": 1}}


@pytest.fixture
def result():
    return compare_runs(A, B, k=2)


def made(values, measure="fuji", **fields):
    """Return a result that holds the given values of one measure, of lists of 10."""
    values = np.array(values, float)
    n, none = values.size, np.array([], object)
    columns = {name: np.full(n, 10) for name in ("n_a", "n_b", "shared", "k")} | {measure: values}
    settings = {"k": 10, "universe": None, "missing": "zero", "a": "old", "b": "new"}
    queries = np.array([f"q{i}" for i in range(n)], object)
    return RunComparison(queries, columns, (find(measure),), settings, none, none, **fields)


def flat(text):
    return " ".join(str(text).split())


# Numbers


def test_the_mean_of_equal_values_is_that_value():
    value = 0.8181818181818182
    found = Spread.of(np.full(10_007, value), 0.95, (0.0, 1.0))
    assert found[2:9] == (value, 0.0, value, value, value, value, value)
    assert made(np.full(20, value)).spread_table().rows[0][1:3] == ["0.8182", "no spread"]


def test_an_interval_needs_two_queries():
    one, none = (Spread.of(np.array(values), 0.95, (0.0, 1.0)) for values in ([0.5], [np.nan]))
    assert one.mean == 0.5
    assert math.isnan(one.low)
    assert made([0.5]).spread_table().rows == [["FUJI", "0.5000", "-", "0.5000", "0.5000", "0.5000", "0"]]
    assert none.queries == 0
    assert none.undefined == 1
    assert made([np.nan]).spread_table().rows == [["FUJI", "-", "-", "-", "-", "-", "0"]]
    two = Spread.of(np.array([0.2, 0.9]), 0.95, (0.0, 1.0))
    assert (two.low, two.high) == (0, 1)


@given(st.lists(st.floats(0, 1) | st.just(math.nan), min_size=1, max_size=30), st.floats(0, 1), st.floats(0, 1))
def test_quantiles_and_shares_are_over_the_defined_queries(values, q, bound):
    result, defined = made(values), sorted(value for value in values if not math.isnan(value))
    if not defined:
        assert math.isnan(result.quantile(q))
        assert math.isnan(result.share_below(bound))
        return
    assert result.share_below(bound) == sum(value < bound for value in defined) / len(defined)
    assert defined[math.floor(q * (len(defined) - 1))] <= result.quantile(q) + 1e-12
    assert result.quantile(q) <= defined[math.ceil(q * (len(defined) - 1))] + 1e-12


@given(st.lists(st.floats(-1, 1) | st.sampled_from([0.3, 0.6, 0.7, 1.0, math.nan]), min_size=1, max_size=30))
def test_the_histogram_counts_every_query_once(values):
    for measure in ("fuji", "kendall", "npog"):
        given_values = [abs(value) for value in values] if measure == "fuji" else values
        counts = made(given_values, measure).histogram()
        assert sum(counts.values()) == len(values)
        for name, count in counts.items():
            if " to " in name:
                low, high = map(float, name.split(" to "))
                assert count == sum(low <= value < high for value in given_values)
        assert counts.get("1", 0) == given_values.count(1.0)


def test_the_histogram_begins_at_the_least_class():
    assert made([1, 0.95, 0.3, 0.31]).histogram() == {
        "1": 1,
        "0.9 to 1.0": 1,
        **{f"0.{i} to 0.{i + 1}": 0 for i in range(8, 3, -1)},
        "0.3 to 0.4": 2,
    }
    assert made([-3.0, 1.0], "npog").histogram()["below 0"] == 1


def test_bars_have_a_mark_for_every_count():
    lines = bars(("value", "queries"), {"1": 10_000, "0.9 to 1.0": 1, "0.8 to 0.9": 0}, 40)
    assert lines[1].count("#") == 40 - len("0.8 to 0.9") - len("queries") - 4
    assert lines[2].endswith(" 1  #")
    assert not lines[3].endswith("#")
    assert max(map(display_width, lines)) == 40
    assert bars(("value", "queries"), {"1": 0}, 40)[1].split() == ["1", "0"]


def test_measures_are_found_by_name_alias_and_column(result):
    assert result.values().tolist() == result.values("fuji").tolist() == result.values(find("fuji")).tolist()
    assert result.values("fuji_high")[0] >= result.values("fuji")[0]
    with pytest.raises(InputError, match=r"measure must be one of 'fuji', .* got 'dice'"):
        result.values("dice")
    with pytest.raises(InputError, match="q must be a number from 0 to 1; got 5"):
        result.quantile(5)
    with pytest.raises(InputError):
        result.values("n_a")


# Notes


def test_undefined_values_are_counted_and_said():
    result = made([np.nan, 0.5, 1.0])
    assert result.spread().mean == 0.75
    assert "fuji undefined for 1 of 3 queries (q0): means leave them out" in result.notes
    assert "undefined" in str(result)
    assert result.histogram()["undefined"] == 1
    dropped = compare_runs(A, B, missing="drop")
    assert "fuji, rbo, jaccard undefined for 1 of 3 queries (z): means leave them out" in dropped.notes
    empty = made([np.nan, np.nan])
    assert math.isnan(empty.interval()[0])
    assert "fuji undefined for 2 of 2 queries (q0, q1): there is no mean" in empty.notes
    assert empty.changed_most() == []
    assert "undefined" in str(empty)


def test_many_queries_in_one_run_only_are_said_first(result):
    assert result.notes[0] == "the means cover 3 of 5 queries: 2 are in one run only"
    assert "not compared, and in no mean: 1 only in a, 1 only in b" in str(result)
    few = made([0.5] * 30)
    assert not few.notes
    assert replace(few, only_a=np.array(["q"], object)).notes == ()


def test_wide_bounds_are_said(result):
    assert any("known within" in note and "smaller k" in note for note in result.notes)
    assert not any("known within" in note for note in compare_runs(A, A).notes)


def test_shorter_lists_are_said():
    old, new = {"q": {"a": 3, "b": 2, "c": 1}, "r": {"a": 1}}, {"q": {"a": 3}, "r": {"a": 2, "b": 1}}
    result = compare_runs(old, new, k=2)
    assert result.shorter("b").tolist() == [True, False]
    assert result.shorter("a").tolist() == [False, True]
    for run in "ab":
        said = f"for 1 query {run} lists fewer items: compared up to its end, where what it lacks does not show"
        assert said in result.notes
    assert not compare_runs(old, new, k=1).shorter().any()
    assert compare_runs(old, new, ks="all").shorter().tolist() == [True, False]


def test_few_queries_are_said():
    assert any("3 queries are few" in note for note in made([0.5, 0.6, 0.7]).notes)
    assert made([0.5]).notes == ("one query only: no interval",)
    assert made([0.5] * 10).notes == ()


def test_notes_are_not_repeated(result):
    assert replace(result, confidence=0.9).notes == result.notes


# Queries and groups


def test_the_least_alike_queries_come_first(result):
    values = result.values()
    places = result.changed_most()
    assert values[places].tolist() == sorted(values.tolist())
    assert made([0.5, np.nan, 0.1]).changed_most() == [2, 0]
    assert result.worst(1)["query"].tolist() == ["z"]
    assert result.worst(2, "polars")["query"].to_list() == ["z", "y"]
    assert list(result.worst(1).columns) == list(result.to_frame().columns)


@pytest.mark.parametrize("options", [{"missing": "drop"}, {"ties": "stable"}, {"zero_tail": "exclude"}])
def test_explanations_follow_the_settings(options):
    runs = [{q: {i: float(v // 2) for i, v in items.items()} for q, items in run.items()} for run in (A, B)]
    result = compare_runs(*runs, k=2, **options)
    assert len(result.lists) > 1
    for query in result.lists:
        place = result.queries.tolist().index(query)
        assert result.explain(query).value == pytest.approx(result.values()[place], abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_explanations_are_those_of_the_two_lists(k):
    result = compare_runs(A, B, k=k)
    for place, query in enumerate(result.queries.tolist()):
        why = result.explain(query)
        assert why.value == pytest.approx(result.values()[place], abs=1e-12)
        assert why.jaccard == pytest.approx(result.values("jaccard")[place], abs=1e-12)
        alone = fj.explain(A[query], B[query], int(result.columns["k"][place]), missing="zero")
        assert (why.items, why.kind) == (alone.items, alone.kind)


def test_a_query_that_cannot_be_explained_says_why(result):
    few = replace(result, lists={"z": result.lists["z"]})
    with pytest.raises(
        InputError, match=r"query 'x' cannot be explained: the lists of 1 query were kept\. Pass keep=N"
    ):
        few.explain("x")
    with pytest.raises(InputError, match="query 'old' is in a alone"):
        result.explain("old")
    with pytest.raises(InputError, match="query 'nothing' is in neither run"):
        result.explain("nothing")


def test_groups_have_their_own_spreads():
    values = [0.1, 0.2, 0.9, 1.0, np.nan]
    grouped = made(values, groups=np.array(["de", "fr", "de", "fr", None], object))
    table = grouped.by_group()
    assert table["group"].tolist()[:2] == ["de", "fr"]
    assert table["queries"].tolist() == [2, 2, 0]
    assert table["undefined"].tolist() == [0, 0, 1]
    assert table["mean"].tolist()[:2] == [0.5, 0.6]
    for i, part in enumerate(([0.1, 0.9], [0.2, 1.0])):
        assert table.iloc[i]["low"] == pytest.approx(spread(part, 0.95, (0, 1))[2])
    assert "de     2" in str(grouped)
    assert [row[0] for row in grouped.group_table().rows][:2] == ["de", "fr"]
    assert grouped.to_frame()["group"].tolist()[:2] == ["de", "fr"]
    assert list(made(values, groups=np.array([1.0, np.nan, np.nan, 1.0, 1.0])).group_spreads()) == [1.0, None]
    with pytest.raises(InputError, match=r"no groups\. Pass group_by='COLUMN'"):
        made(values).by_group()


# Forms


def test_one_row_per_query(result):
    table = result.to_frame()
    assert list(table.columns) == [
        *("query", "n_a", "n_b", "shared", "k", "fuji", "fuji_high", "fuji_floor", "fuji_above_floor", "fuji_near"),
        *("rbo", "jaccard"),
    ]
    assert table["query"].tolist() == ["x", "y", "z"]
    assert table.attrs["notes"] == list(result.notes)
    assert result.to_frame("polars")["query"].to_list() == ["x", "y", "z"]


def test_the_summary_fits_80_columns(result):
    lines = str(result).splitlines()
    assert max(map(display_width, lines[: lines.index(f"note: {result.notes[0]}")])) <= 80
    assert lines[0] == "3 queries in both runs, compared at k = 2"
    assert "1 with the same top sets, 1 without a shared item" in lines
    assert any(line.startswith("FUJI, at least") for line in lines)


def test_near_misses_explain_part_of_the_difference(result):
    near = 0
    for query in result.queries.tolist():
        why = result.explain(query)
        near += sum(c for c, kind in zip(why.contribution, why.kind, strict=True) if kind == "near miss") / len(why)
    share = near / (1 - result.values("jaccard")).sum()
    assert f"near misses make up at least {share:.0%} of the difference that Jaccard sees" in str(result)
    assert "near misses" not in str(compare_runs(A, A))
    area = compare_runs(A, B, ks="all", missing="zero")
    credit = (area.values() - area.values("jaccard")).sum() / (1 - area.values("jaccard")).sum()
    assert f"credit for near and far misses makes up {credit:.0%} of the difference" in str(area)


def test_bounds_are_shown_only_where_they_differ():
    assert "at most" not in str(compare_runs(A, A, k=1))
    assert "no spread" in str(compare_runs(A, A, k=1))


def test_corrected_values_have_rows():
    result = compare_runs(A, B, k=2, universe=100)
    names = [row[0] for row in result.spread_table().rows]
    assert {"FUJI, at least", "FUJI, at most", "FUJI corrected", "Jaccard", "Jaccard corrected"} <= set(names)
    assert result.spread("jaccard_corrected").mean == pytest.approx(result.values("jaccard_corrected").mean())
    assert result.spread("jaccard_corrected").low <= result.spread("jaccard_corrected").mean


def test_of_many_groups_the_lowest_are_shown():
    values = np.linspace(0, 1, 50)
    table = made(values, groups=np.arange(50)[::-1]).group_table()
    assert table.header[0] == "lowest 20 of 50 groups"
    assert [row[0] for row in table.rows] == [str(group) for group in range(49, 29, -1)]


def test_json_holds_everything(result):
    data = json.loads(to_json(result.to_dict()))
    assert data["columns"]["fuji"] == result.values().tolist()
    assert data["only_a"] == {"count": 1, "first": ["old"]}
    assert data["only_b"] == {"count": 1, "first": ["new"]}
    assert data["notes"] == list(result.notes)
    assert data["settings"]["k"] == 2
    assert data["measures"]["fuji"]["mean"] == pytest.approx(result.values().mean())
    assert data["no_shared_item"] == 1
    assert data["changed_most"][0] == "z"
    grouped = replace(result, groups=np.array(["a", "a", "b"], object)).to_dict()
    assert [group["group"] for group in grouped["groups"]] == ["a", "b"]


def test_markdown_is_safe_and_short(result):
    text = result.to_markdown(rows=1, verdict=["FAILED: lost <b>"])
    assert "- FAILED: lost &lt;b&gt;" in text
    assert text.count("| z |") == 1
    assert "| y |" not in text
    assert "<details>" in text
    assert "</details>" in text
    odd = compare_runs({"<b>|`": {"a": 1}, "p": {"a": 1}}, {"<b>|`": {"b": 1}, "p": {"a": 1}}).to_markdown()
    assert "&lt;b&gt;\\|\\`" in odd
    assert "<details>" not in compare_runs(A, A).to_markdown()
    grouped = replace(result, groups=np.array(["a", "a", "b"], object)).to_markdown()
    assert "| group | queries |" in grouped


def test_the_figure_has_one_line_per_measure(result):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    ax = result.plot(ax=Figure().add_subplot())
    assert len(ax.lines) == 3
    x, y = ax.lines[0].get_data()
    assert (x[0], y[0], y[-1]) == (0, 0, 1)
    values = result.values()
    for value, share in zip(x[1:], y[1:], strict=True):
        assert share == pytest.approx((values <= value).mean())
    many = made(np.linspace(0, 1, 5000)).plot(ax=Figure().add_subplot())
    assert len(many.lines[0].get_xdata()) <= 1002
    made([np.nan]).plot(ax=Figure().add_subplot())
