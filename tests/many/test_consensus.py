"""Consensus of many rankings: each method against its definition, RRA against values from R and by enumeration."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from fractions import Fraction
from importlib import import_module
from itertools import pairwise, permutations, product
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

import fujiscore as fj
from fujiscore._kernels import _jit
from fujiscore.cli import fuji
from fujiscore.inference.multiplicity import adjusted
from fujiscore.many.aggregation import exact_rho

METHODS = ("borda", "median", "rrf", "rra")
LISTS = {"x": list("dabc"), "y": list("adxkbcmnop"), "z": list("aqdrbstuvwxy")}
# Written by data/rra.R, which says how.
FROM_R = json.loads((Path(__file__).parents[1] / "data" / "rra.json").read_text(encoding="utf-8"))["cases"]


# --- The definitions, item by item


def ranks(scores, item, population):
    """Return the first and the last rank that an item may have in a list (a dict of item to score)."""
    if item not in scores:
        return len(scores) + 1, population
    above = sum(scores[other] > scores[item] for other in scores)
    tied = sum(scores[other] == scores[item] for other in scores)
    return above + 1, above + tied


def rho(values):
    """Return the smallest tail probability of the order statistics, exactly."""
    m = len(values)
    tails = []
    for k, x in enumerate(sorted(values), 1):
        tails.append(sum(math.comb(m, i) * x**i * (1 - x) ** (m - i) for i in range(k, m + 1)))
    return min(tails)


def score(lists, item, population, method):
    """Return an item's score from the lists' definition of a rank."""
    spans = [ranks(scores, item, population) for scores in lists]
    means = [Fraction(first + last, 2) for first, last in spans]
    if method == "borda":
        return population - sum(means) / len(means)
    if method == "median":
        return population - median(means)
    if method == "rrf":
        return sum(Fraction(1) / (60 + mean) for mean, scores in zip(means, lists, strict=True) if item in scores)
    return -math.log10(rho([Fraction(last, population) for _, last in spans]))


# Up to 6 lists over up to 7 items, with ties, zeros and missing items; each list has at least one.
tables = st.lists(st.dictionaries(st.sampled_from("abcdefg"), st.integers(0, 3), min_size=1), min_size=2, max_size=6)


@pytest.mark.parametrize("method", METHODS)
@given(lists=tables, extra=st.none() | st.integers(0, 9))
def test_scores_and_what_is_left_without_a_list(method, lists, extra):
    items = sorted(set().union(*lists))
    population = len(items) + (extra or 0)
    universe = None if extra is None else population
    result = fj.consensus(lists, method, missing="zero", universe=universe, n_jobs=1)
    assert set(result.ranking.items) == set(items)
    for item, value, count in zip(result.ranking.items, result.ranking.scores, result.listed, strict=True):
        assert value == pytest.approx(float(score(lists, item, population, method)), abs=1e-9)
        assert count == sum(item in scores for scores in lists)
    assert result.population == population
    for number in range(len(lists)):
        others = lists[:number] + lists[number + 1 :]
        by_definition = [float(score(others, item, population, method)) for item in result.ranking.items]
        rounded = np.round(np.array(by_definition) - min(by_definition), 9)
        expected = np.nan
        if np.ptp(rounded) > 0 or len(items) == 1:
            expected = jaccard_area(lists[number], dict(zip(result.ranking.items, rounded, strict=True)), lists)
        assert result.left_out[number] == pytest.approx(expected, nan_ok=True)


def jaccard_area(first, second, lists):
    """Return the area under the Jaccard curve over k = 1, 2, 4, ... of a list and a consensus, ties closed."""
    depth = min(map(len, lists))
    ks = sorted({*(2**i for i in range(10) if 2**i < depth), depth})

    def top(scores, k):
        kth = sorted(scores.values(), reverse=True)[k - 1]
        return {item for item, value in scores.items() if value >= kth}

    values = []
    for k in ks:
        both = top(first, k), top(second, k)
        values.append(len(both[0] & both[1]) / len(both[0] | both[1]))
    if len(values) == 1:
        return values[0]
    return sum((a + b) / 2 for a, b in pairwise(values)) / (len(values) - 1)


@pytest.mark.parametrize("method", METHODS)
@given(lists=tables, data=st.data())
def test_the_order_of_the_lists_does_not_matter(method, lists, data):
    named = {f"list {i}": scores for i, scores in enumerate(lists)}
    shuffled = dict(data.draw(st.permutations(list(named.items()))))
    first, second = (fj.consensus(part, method, missing="zero", n_jobs=1) for part in (named, shuffled))
    one, two = first.columns(), second.columns()
    for name, column in one.items():
        assert list(column) == list(two[name])
    for name in named:
        i, j = first.names.index(name), second.names.index(name)
        np.testing.assert_array_equal(first.left_out[i], second.left_out[j])
        np.testing.assert_array_equal(first.agreement[i], second.agreement[j])


# --- Robust rank aggregation


@pytest.mark.parametrize("case", FROM_R)
def test_p_values_are_those_of_the_r_package(case):
    result = fj.consensus(case["lists"], "rra", exact=case["exact"], universe=case["universe"], missing="zero")
    assert set(result.ranking.items) == set(case["p_values"])
    computed = dict(zip(result.ranking.items, result.p_values.tolist(), strict=True))
    # The package's exact p-values are 1 less a sum, so that small ones have few digits.
    assert computed == pytest.approx(case["p_values"], rel=1e-9, abs=1e-12 if case["exact"] else 0)


@pytest.mark.parametrize("m", [2, 3, 7, 40, 300])
def test_rho_by_scipy(m):
    rng = np.random.default_rng(m)
    scores = rng.permuted(np.tile(np.arange(60.0), (m, 1)), axis=1)
    scores[:, 0] = 100.0  # first everywhere
    scores[: m // 2, 1] = 90.0  # high in half of the lists
    result = fj.consensus(scores, "rra")
    places = np.sort(np.argsort(np.argsort(-scores, axis=1), axis=1) + 1, axis=0) / 60
    k = np.arange(1, m + 1)[:, None]
    with np.errstate(divide="ignore"):
        logs = beta.logcdf(places, k, m - k + 1).min(axis=0)
    logs[0] = -m * np.log(60)  # which SciPy has as -inf for many lists
    np.testing.assert_allclose(result.ranking.scores, -logs / np.log(10), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(
        result.p_values, np.maximum(np.minimum(m * np.exp(logs), 1), np.finfo(float).tiny), rtol=1e-8
    )


def test_plain_and_compiled_kernels_give_the_same_bits():
    kernel = import_module("fujiscore._kernels.beta").smallest_tails
    values = np.sort(np.random.default_rng(0).random((40, 30)) ** np.linspace(0.5, 20, 40)[:, None], axis=1)
    values[:5, 20:] = 1.0
    for m, offset, downward in ((30, 0, False), (29, 0, False), (29, 1, True)):
        log_choose = np.array([math.log(math.comb(m, k)) for k in range(m + 1)])
        plain, compiled = np.empty((2, 40, m))
        kernel(values, offset, downward, log_choose, plain)
        with _jit.lock:
            _jit.compiled(kernel)(values, offset, downward, log_choose, compiled)
        np.testing.assert_array_equal(plain, compiled)


def test_p_values_do_not_vanish():
    result = fj.consensus(np.tile(np.arange(500.0), (300, 1)) + np.arange(300)[:, None], "rra")
    assert result.ranking.scores.max() == pytest.approx(300 * np.log10(500))
    assert (result.p_values > 0).all()
    assert any("p-values below 2.2e-308" in note for note in result.notes)


@pytest.mark.parametrize("m", [2, 3, 8])
def test_exact_p_values_by_simulation(m):
    draws = 40_000
    k = np.arange(1, m + 1)
    drawn = beta.cdf(np.sort(np.random.default_rng(m).random((draws, m)), axis=1), k, m - k + 1).min(axis=1)
    levels = np.array([0.5, 0.1, 0.03, 0.01, 0.003])
    p_values = exact_rho(-np.log10(levels), m, {})
    for level, p_value in zip(levels, p_values, strict=True):
        assert level <= p_value <= min(1, m * level)
        assert (drawn <= level).mean() == pytest.approx(p_value, abs=4 * np.sqrt(p_value / draws))


def test_exact_p_values_of_two_lists():
    """For two values, P(rho <= t) by geometry: min below 1 - sqrt(1 - t), or both below sqrt(t)."""
    t = np.array([1e-250, 1e-30, 1e-6, 0.01, 0.3, 0.9])
    low, high = t / (1 + np.sqrt(1 - t)), np.sqrt(t)
    np.testing.assert_allclose(exact_rho(-np.log10(t), 2, {}), low * (2 - low) + (high - low) ** 2, rtol=1e-9)


def test_p_values_hold_under_the_null_with_ties_and_missing_items():
    """All triples of orders of 4 items: P(p <= level) never exceeds the level, also with ties and short lists."""
    shapes = ([4, 3, 2, 1], [4, 4, 2, 2], [3, None, None, None])
    drawn = {shape: sorted(set(permutations(values)), key=str) for shape, values in enumerate(shapes)}
    for kinds in ((0, 0), (0, 1), (1, 1), (2, 2), (0, 1, 2)):
        p_values = []
        for orders in product(*(drawn[kind] for kind in kinds)):
            lists = [{i: s for i, s in enumerate(order) if s is not None} for order in orders]
            result = fj.consensus([*lists], "rra", universe=4, n_jobs=1)
            own = dict(zip(result.ranking.items, result.p_values, strict=True))
            p_values.append(own.get(0, 1.0))
        for level in sorted(set(p_values)):
            assert np.mean(np.array(p_values) <= level) <= level + 1e-12


def test_constant_lists_are_no_evidence():
    result = fj.consensus(np.ones((10, 5)), "rra")
    assert (result.p_values == 1).all()
    assert np.isnan(result.agreement).all()
    assert any("same score" in note for note in result.notes)
    assert "nan" in str(result)


def test_without_a_list_the_others_may_cancel_out():
    result = fj.consensus({"a": [3, 2, 1], "b": [1, 2, 3], "c": [3, 1, 2]})
    assert np.isnan(result.left_out).tolist() == [False, False, True]
    assert "without c, the consensus gives every item the same score" in result.notes


@pytest.mark.parametrize("method", METHODS)
def test_identical_lists(method):
    result = fj.consensus([[5.0, 3.0, 3.0, 1.0, 0.0]] * 4, method)
    assert result.ranking.ranks.tolist() == [1, 2, 2, 4, 5]
    assert result.agreement.tolist() == result.left_out.tolist() == [1.0] * 4


@pytest.mark.parametrize("method", METHODS)
def test_lists_without_a_common_item(method):
    result = fj.consensus({"a": list("uv"), "b": list("xy")}, method, universe=100)
    assert result.columns()["item"] == ["u", "x", "v", "y"]
    assert result.listed.tolist() == [1, 1, 1, 1]
    assert result.left_out.tolist() == [0.0, 0.0]


def test_adjusted_p_values_by_definition():
    p_values = np.array([0.01, 0.04, 0.03, 0.2, 0.01])
    m, order = 8, np.argsort(p_values, kind="stable")
    ranked = np.append(np.sort(p_values), [1, 1, 1])  # three items that no list has
    bh = [min(ranked[j] * m / (j + 1) for j in range(i, m)) for i in range(5)]  # at most the last, 1
    holm = [min(1, max(ranked[j] * (m - j) for j in range(i + 1))) for i in range(5)]
    np.testing.assert_allclose(adjusted(p_values, "bh", m)[order], bh)
    np.testing.assert_allclose(adjusted(p_values, "holm", m)[order], holm)


# --- Results, notes, errors


def test_only_rra_has_p_values():
    lists = [[3, 2, 1], [2, 3, 1], [3, 1, 2]]
    for method in METHODS[:3]:
        result = fj.consensus(lists, method)
        assert result.p_values is result.adjusted_p_values is None
        assert list(result.to_frame().columns) == ["item", "rank", "score", "lists"]
        assert result.notes == ()
    result = fj.consensus(lists, "rra")
    assert list(result.to_frame().columns)[-2:] == ["p_value", "adjusted_p_value"]
    assert result.to_frame().attrs["notes"] == list(result.notes)
    assert result.agreement_to_frame("polars").shape == (3, 3)
    assert any("independent" in note for note in result.notes)
    assert str(result).splitlines()[2].startswith("0 items with p <= 0.05, adjusted by Benjamini-Hochberg")


def test_notes():
    result = fj.consensus(LISTS, "rra", missing="zero")
    text = "\n".join(result.notes)
    assert "x lacks 14 of 18 items, ranked below the listed ones" in text
    assert "the number of items is taken to be 18" in text
    assert "pass universe=N" in text
    assert "k ends at 4" in text
    assert "taken to be" not in "\n".join(fj.consensus(LISTS, "rra", universe=26).notes)
    assert "at the mean of the ranks left" in "\n".join(fj.consensus(LISTS, missing="zero").notes)
    tied = fj.consensus([[2, 2, 1], [3, 2, 1]], "rra")
    assert any("last of their ranks" in note for note in tied.notes)
    copies = fj.consensus({"a": [3, 2, 1], "b": [1, 2, 3], "c": [3, 2, 1]}, "rra")
    assert "a and c have the same scores: copies of a list are no independent evidence" in copies.notes
    assert any("made from ranks" in note for note in fj.consensus([[3, 2, 1], [2, 3, 1]], measure="fuji").notes)


def test_labels_and_positions_are_kept():
    result = fj.consensus({"a": {(1, 2): 3.0, "x": 1.0}, "b": {"x": 2.0, (1, 2): 5.0}})
    assert list(result.ranking.items) == [(1, 2), "x"]
    assert fj.consensus([[1, 2], [1, 3]]).ranking.items is None
    assert fj.consensus([[1, 2], [1, 3]]).columns()["item"] == [1, 0]


def test_two_lists_and_one_item():
    lists = [[3, 1, 2], [1, 2, 3]]
    result = fj.consensus(lists)
    assert result.left_out[0] == result.left_out[1] == pytest.approx(fj.pairwise(lists, measure="jaccard").values[0, 1])
    one = fj.consensus([[1.0], [2.0]])
    assert one.agreement.tolist() == [1.0, 1.0]


def test_a_list_that_disagrees_stands_out_without_itself_only():
    lists = np.tile(np.arange(20.0), (5, 1))
    lists[4] = lists[4][::-1]
    result = fj.consensus(lists, corrected=True)
    assert result.left_out[4] < 0 < result.left_out[0] < 1.0 + 1e-12
    assert (result.agreement >= result.left_out).all()


def test_the_result_does_not_depend_on_threads():
    scores = np.random.default_rng(0).random((30, 400))
    for method in METHODS:
        one, two = (fj.consensus(scores, method, n_jobs=jobs) for jobs in (1, 2))
        np.testing.assert_array_equal(one.ranking.scores, two.ranking.scores)
        np.testing.assert_array_equal(one.left_out, two.left_out)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"rankings": [[1, 2]]}, "at least 2 rankings; got 1"),
        ({"method": "kemeny"}, "method must be one of 'borda', 'median', 'rrf', 'rra'; got 'kemeny'"),
        ({"adjust": "none"}, "adjust must be one of"),
        ({"exact": True}, "exact needs method='rra'"),
        ({"rankings": np.eye(60), "method": "rra", "exact": True}, "at most 50 rankings; got 60"),
        ({"rankings": LISTS}, "missing='zero'"),
        ({"rankings": LISTS, "missing": "zero", "corrected": True}, "universe=N"),
    ],
)
def test_errors(arguments, said):
    with pytest.raises(fj.InputError, match=re.escape(said)):
        fj.consensus(**{"rankings": [[1, 2], [2, 1]], **arguments})


def test_the_figure():
    result = fj.consensus({"a$b$": [4, 3, 2, 1], "b": [1, 2, 4, 3], "c": [4, 2, 3, 1]})
    ax = result.plot()
    by_agreement = [result.names[i] for i in np.argsort(result.left_out)]
    assert [text.get_text() for text in ax.get_yticklabels()] == by_agreement
    drawn = sorted(ax.lines[0].get_xdata().tolist())
    assert drawn == sorted(result.left_out.tolist())
    assert result.plot(ax=ax) is ax
    assert not fj.consensus(np.random.default_rng(0).random((60, 5))).plot().get_yticks().size


# --- The command


def call(*arguments):
    return CliRunner().invoke(fuji, ["consensus", *map(str, arguments)])


@pytest.fixture
def files(tmp_path):
    paths = []
    for name, items in LISTS.items():
        path = tmp_path / f"{name}.csv"
        path.write_text(
            "item,score\n" + "".join(f"{item},{20 - i}\n" for i, item in enumerate(items)), encoding="utf-8"
        )
        paths.append(path)
    return paths


def test_the_command(files, tmp_path):
    result = fj.consensus(fj.read(files, missing="zero"), "rra")
    options = (*files, "--missing", "zero", "--method", "rra")
    data = json.loads(call(*options, "--json").stdout)
    assert data["consensus"]["item"] == result.columns()["item"]
    assert data["consensus"]["p_value"] == result.columns()["p_value"].tolist()
    assert [part["left_out"] for part in data["lists"]] == result.left_out.tolist()
    assert [note.replace("--universe N", "universe=N") for note in data["notes"]] == list(result.notes)
    rows = list(csv.reader(io.StringIO(call(*options, "--csv").stdout)))
    assert rows[0] == ["item", "rank", "score", "lists", "p_value", "adjusted_p_value"]
    assert [row[0] for row in rows[1:]] == result.columns()["item"]
    text = call(*options, "--show", "3").stdout
    assert "(3 of 18 items shown)" in text
    assert "p-values assume lists independent" in " ".join(text.split())
    backward = call(*reversed(files), "--missing", "zero", "--method", "rra", "--csv").stdout
    assert backward == call(*options, "--csv").stdout
    done = call(*options, "--out", tmp_path / "out.json", "--plot", tmp_path / "figure.png", "--exact")
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["method"] == "rra"
    assert (tmp_path / "figure.png").stat().st_size > 5000


def test_bad_usage_of_the_command(files):
    for arguments, said in (
        (files[:1], "at least 2 rankings"),
        ((*files, "--method", "best"), "'best' is not one of"),
        (files, "--missing zero"),
        ((*files, "--missing", "zero", "--exact"), "--exact needs --method rra"),
        ((*files, "--permutations", "50"), "--permutations needs --sequential"),
    ):
        done = call(*arguments)
        assert done.exit_code == 2
        assert said in done.stderr
        assert "Traceback" not in done.stderr
