"""Many pairs of lists at once: every column against the comparison of that pair alone, and against the definitions."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from importlib import import_module
from math import isnan, nan

import bounds_oracle
import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore import _kernels
from fujiscore._kernels import _jit
from fujiscore.measures.registry import find
from fujiscore.runs.batches import Depths, Lists, ListTask, RepeatedItem, UniverseTooSmall, compared

MEASURES = (*fj.MEASURES, "rbo(p=0.5)", "weightedtau(additive=False)")
BY_RANK = [name for name in MEASURES if find(name).by_rank and not find(name).by_depth]
FAST = [name for name in MEASURES if name not in BY_RANK]
CLOSED = [name for name in FAST if name not in {"correlation", "gamma"}]
TESTED = [name for name in CLOSED if name != "krizek"]
SCORES = st.one_of(
    st.integers(-2, 4).map(float),
    st.floats(-10, 10),
    st.floats(0, 1),
    st.sampled_from([0.0, -0.0, 1e-300, 5e-324, 1e300, 1.7e308, 0.1, 0.2, 0.30000000000000004, float("-inf")]),
)
ZERO_TAIL = ["include", "exclude", "cap"]
DEPTHS = [1, 3, 10, "all", "exp", "squared", (2, 3, 7), (4,)]


def lists(sides, dtype=np.int64):
    """Return dicts of item to score as flat arrays."""
    start = np.concatenate([[0], np.cumsum([len(side) for side in sides])]).astype(np.int64)
    items = np.array([item for side in sides for item in side], dtype)
    return Lists(start, items, np.array([score for side in sides for score in side.values()], np.float64))


def batch(pairs, measures=("fuji", "rbo", "jaccard"), ks=10, *, dtype=np.int64, **options):
    """Return the columns of pairs of dicts of item (an integer) to score."""
    task = ListTask(tuple(map(find, measures)), depths(ks), **options)
    return compared(lists([r for r, _ in pairs], dtype), lists([s for _, s in pairs], dtype), task)


def depths(ks):
    return Depths(np.array(ks, np.int64) if isinstance(ks, tuple) else ks)


def path(r, s, ks):
    """Return where a pair is evaluated, from the definition: up to the end of its shorter list."""
    depth = min(len(r), len(s))
    if isinstance(ks, str):
        return oracle.grid(ks, depth)
    chosen = [ks] if isinstance(ks, int) else list(ks)
    return chosen if chosen[-1] <= depth else sorted({k for k in chosen if k < depth} | {depth})


def alone(r, s, measure, ks, **options):
    """Return the comparison of one pair."""
    return fj.compare(r, s, [measure], ks=path(r, s, ks), missing="zero", negative="clip", **options)


def all_negative(side):
    return max(side.values()) < 0


def says_nothing(r, s, ks, name, zero_tail="include"):
    """Return whether a value is undefined: an empty list, nothing for FUJI, or zeros that are no members."""
    if not r or not s:
        return True
    if name == "fuji" and (all_negative(r) or all_negative(s)):
        return True
    if zero_tail == "cap":
        return min(max(r.values()), max(s.values())) <= 0
    points = path(r, s, ks)
    if not (isinstance(ks, int) or (isinstance(ks, tuple) and len(ks) == 1)):
        return False
    last = [sorted(side.values(), reverse=True)[points[0] - 1] for side in (r, s)]
    return max(last) <= 0 if name == "fuji" else last == [0, 0]


@st.composite
def side(draw, scores=SCORES, most=12):
    """Return items, of 14, with scores."""
    chosen = draw(st.lists(st.integers(0, 13), unique=True, max_size=most))
    return {item: draw(scores) for item in chosen}


def ragged(scores=SCORES, most=12):
    """Return some pairs of lists, any of them empty."""
    return st.lists(st.tuples(side(scores, most), side(scores, most)), min_size=1, max_size=5)


def check(actual, expected, where, tolerance=0.0):
    """Compare two numbers; NaN only with NaN."""
    if isnan(expected):
        assert isnan(actual), where
    elif tolerance:
        assert actual == pytest.approx(expected, rel=tolerance, abs=tolerance), where
    else:
        assert actual == expected, where


def check_values(pairs, ks, measures, **options):
    columns = batch(pairs, measures, ks, **options)
    for q, (r, s) in enumerate(pairs):
        assert columns["n_a"][q] == len(r)
        assert columns["n_b"][q] == len(s)
        assert columns["shared"][q] == len(set(r) & set(s))
        assert columns["k"][q] == (path(r, s, ks)[-1] if r and s else 0)
        for name in measures:
            expected = nan
            if not says_nothing(r, s, ks, name, options.get("zero_tail", "include")):
                expected = alone(r, s, name, ks, **options).auc[name]
            # RBO, weighted tau and rho sum in another order, and so do areas.
            exact = isinstance(ks, int) and find(name).base not in {"rbo", "average_overlap", "weightedtau", "spearman"}
            check(columns[name][q], expected, (q, name), 0.0 if exact else 1e-12)


class TestAlone:
    """Values equal those of the pair alone."""

    @given(ragged(), st.sampled_from(DEPTHS), st.sampled_from([None, 14, 1000]), st.sampled_from(ZERO_TAIL))
    def test_values(self, pairs, ks, universe, zero_tail):
        check_values(pairs, ks, FAST, universe=universe, zero_tail=zero_tail)

    @given(ragged(st.integers(-1, 2).map(float)), st.sampled_from(DEPTHS), st.sampled_from(ZERO_TAIL))
    def test_stable_ties(self, pairs, ks, zero_tail):
        check_values(pairs, ks, FAST, ties="stable", zero_tail=zero_tail)

    def test_stable_ties_are_in_the_order_of_the_first_list(self):
        pairs = [({0: 3.0, 1: 2.0, 2: 1.0}, {2: 1.0, 5: 1.0, 1: 1.0, 0: 1.0}), ({0: 1.0, 1: 1.0}, {1: 1.0, 0: 1.0})]
        check_values(pairs, 1, [*FAST, *BY_RANK], ties="stable")
        assert batch(pairs, ["jaccard", "rank_agreement"], 1, ties="stable")["jaccard"].tolist() == [1, 1]

    @given(ragged(), st.sampled_from(DEPTHS), st.sampled_from(["closed", "stable"]), st.sampled_from(ZERO_TAIL))
    def test_by_rank(self, pairs, ks, ties, zero_tail):
        check_values(pairs, ks, BY_RANK, ties=ties, zero_tail=zero_tail)

    @pytest.mark.parametrize("ties", ["closed", "stable"])
    @pytest.mark.parametrize("ks", [1, 10, 50, 400, "exp", "all", (5, 40, 300)])
    @pytest.mark.parametrize("kind", ["distinct", "tied", "sorted", "signed", "sorted ties"])
    def test_long_lists(self, kind, ks, ties):
        generator = np.random.default_rng(len(kind))
        pairs = []
        for length in (1, 9, 41, 60, 200, 700):
            pair = []
            for _ in range(2):
                size = int(generator.integers(1, length + 1))
                scores = generator.pareto(1.5, size) - (kind == "signed")
                scores = np.floor(4 * scores) if kind in {"tied", "sorted ties"} else scores
                scores = -np.sort(-scores) if kind.startswith("sorted") else scores
                items = generator.choice(2 * length, size, replace=False)
                pair.append(dict(zip(items.tolist(), scores.tolist(), strict=True)))
            pairs.append(tuple(pair))
        check_values(pairs, ks, ["fuji", "rbo", "average_overlap", "jaccard", "kappa"], ties=ties)

    def test_large_unions(self):
        generator = np.random.default_rng(0)
        sizes = (200, 300, 3, 140)
        pairs = [
            tuple(
                dict(zip(generator.permutation(400)[:size].tolist(), np.round(scores, 1).tolist(), strict=True))
                for scores in generator.pareto(1, (2, size))
            )
            for size in sizes
        ]
        for ks in (150, 220, (2, 140)):
            check_values(pairs, ks, ["gamma", "kendall", "weightedtau", "spearman", "ndcg"])

    def test_one_table_of_all_lengths(self):
        pair = {i: 1.0 / (i + 1) for i in range(3000)}, {i: 1.0 + i % 7 for i in range(0, 9000, 3)}
        columns = batch([pair, ({0: 1.0}, pair[1]), (pair[0], {9000: 2.0}), ({}, {}), pair], ks="exp")
        for q in (0, 4):  # the pair alone has a table of levels instead of the sweep
            check(columns["fuji"][q], alone(*pair, "fuji", "exp").auc["fuji"], q, 1e-12)
        assert columns["n_b"].tolist() == [3000, 3000, 1, 0, 3000]

    def test_no_pairs(self):
        columns = batch([])
        assert {name: column.size for name, column in columns.items()} == dict.fromkeys(columns, 0)
        beside = {"fuji_high", "fuji_floor", "fuji_above_floor", "fuji_near"}
        assert set(columns) == {"n_a", "n_b", "shared", "k", "zero", "fuji", "rbo", "jaccard"} | beside


class TestDefinition:
    """Values equal those of the definition, item by item."""

    @given(
        ragged(st.integers(-2, 5).map(float), 7),
        st.sampled_from([1, 3, "all", "exp", (2, 4)]),
        st.sampled_from(["closed", "stable"]),
        st.sampled_from(ZERO_TAIL),
    )
    def test_values(self, pairs, ks, ties, zero_tail):
        measures = [name for name in FAST if name in oracle.MEASURES]
        columns = batch(pairs, measures, ks, ties=ties, zero_tail=zero_tail)
        for q, (r, s) in enumerate(pairs):
            for name in measures:
                expected = nan
                if not says_nothing(r, s, ks, name, zero_tail):
                    items = list({**r, **s})
                    padded = oracle.padded(r, items), oracle.padded(s, items)
                    values = oracle.curve(name, *padded, path(r, s, ks), ties=ties, zero_tail=zero_tail)
                    expected = float(values[-1] if find(name).whole else oracle.auc(values))
                check(columns[name][q], expected, (q, name), 1e-12)

    @given(ragged(st.integers(-2, 5).map(float), 4), st.integers(1, 4), st.sampled_from(["include", "exclude"]))
    def test_bounds(self, pairs, k, zero_tail):
        columns = batch(pairs, ["fuji"], k, zero_tail=zero_tail)
        for q, (r, s) in enumerate(pairs):
            if not says_nothing(r, s, k, "fuji", zero_tail):
                depth = min(k, len(r), len(s))
                low, high = bounds_oracle.bounds(r, s, depth, zero_tail, fills=(0, 1))
                check(columns["fuji"][q], float(low), q, 1e-12)
                check(columns["fuji_high"][q], float(high), q, 1e-12)


class TestFloor:
    """The floor is the mean FUJI of lists with themselves over all reorderings of their items."""

    @given(
        ragged(st.integers(-2, 5).map(float), 5), st.sampled_from([1, 2, 10, "all", "exp"]), st.sampled_from(ZERO_TAIL)
    )
    def test_all_reorderings(self, pairs, ks, zero_tail):
        columns = batch(pairs, ["fuji"], ks, zero_tail=zero_tail)
        for q, (r, s) in enumerate(pairs):
            if says_nothing(r, s, ks, "fuji", zero_tail):
                assert isnan(columns["fuji_floor"][q])
                assert isnan(columns["fuji_above_floor"][q])
                continue
            points = path(r, s, ks)
            sides = [list(side.values()) for side in (r, s)]
            values = [sum(oracle.floor(side, k, zero_tail=zero_tail) for side in sides) / 2 for k in points]
            floor = oracle.auc(values)
            check(columns["fuji_floor"][q], float(floor), q, 1e-12)
            fuji = columns["fuji"][q]
            whole = all(
                len(oracle.Pair(side, side, k, zero_tail=zero_tail).top_r) == len(side)
                for side in sides
                for k in points
            )
            above = fuji if whole else nan if floor == 1 else (fuji - float(floor)) / (1 - float(floor))
            check(columns["fuji_above_floor"][q], above, q, 1e-9)

    def test_many_random_reorderings(self):
        generator = np.random.default_rng(0)
        scores = {i: 1004 + 12 * float(x) ** 3 for i, x in enumerate(generator.random(1000))}
        shuffled = [
            dict(zip(scores, generator.permutation(list(scores.values())).tolist(), strict=True)) for _ in range(400)
        ]
        columns = batch([(scores, other) for other in shuffled], ["fuji"], 10)
        assert columns["fuji_floor"].min() > 0.99
        assert columns["fuji_above_floor"].mean() == pytest.approx(0, abs=4 * columns["fuji_above_floor"].std() / 20)

    @pytest.mark.parametrize("factor", [1e-300, 1e-3, 1e305])
    def test_scale_does_not_matter(self, factor):
        pair = (
            {i: float(x) for i, x in enumerate((9, 7, 4, 4, 1))},
            {i: float(x) for i, x in enumerate((7, 9, 1, 4, 4))},
        )
        scaled = tuple({item: score * factor for item, score in side.items()} for side in pair)
        plain, other = (batch([one], ["fuji"], 2) for one in (pair, scaled))
        for name in ("fuji", "fuji_floor", "fuji_above_floor", "fuji_near"):
            check(other[name][0], plain[name][0], name, 1e-12)

    def test_ties_broken_by_order(self):
        # As if ties were broken at random: 1 of 3 items, each of the two best equally likely to be the first.
        columns = batch([({0: 2.0, 1: 2.0, 2: 1.0}, {0: 2.0, 1: 2.0, 2: 1.0})], ["fuji"], 1, ties="stable")
        assert columns["fuji_floor"][0] == pytest.approx(1 / 3 + 2 / 3 * (1 + 1 / 2) / 2)

    def test_not_for_items_split_by_sign(self):
        columns = batch([({0: 2.0, 1: -2.0}, {0: 2.0, 1: -1.0})], ["fuji"], 1, negative="split")
        assert "fuji_floor" not in columns


class TestNear:
    @given(ragged(st.integers(-2, 9).map(float), 7), st.sampled_from([1, 3, 10]), st.sampled_from(ZERO_TAIL))
    def test_definition(self, pairs, k, zero_tail):
        columns = batch(pairs, ["fuji"], k, zero_tail=zero_tail)
        for q, (r, s) in enumerate(pairs):
            if says_nothing(r, s, k, "fuji", zero_tail):
                assert isnan(columns["fuji_near"][q])
                continue
            items = list({**r, **s})
            rows = oracle.explain(
                *(oracle.padded(side, items) for side in (r, s)), path(r, s, k)[0], zero_tail=zero_tail
            )
            near = sum(row["contribution"] for row in rows.values() if row["kind"] == "near miss")
            check(columns["fuji_near"][q], float(near / len(rows)), q, 1e-12)

    def test_only_at_one_k(self):
        assert "fuji_near" not in batch([({0: 2.0}, {0: 1.0})], ["fuji"], "all")


class TestBounds:
    @given(ragged(), st.sampled_from(DEPTHS), st.sampled_from(["include", "exclude"]))
    def test_alone(self, pairs, ks, zero_tail):
        columns = batch(pairs, ["fuji"], ks, zero_tail=zero_tail)
        for q, (r, s) in enumerate(pairs):
            if says_nothing(r, s, ks, "fuji", zero_tail):
                assert isnan(columns["fuji_high"][q])
                continue
            bounds = fj.bounds(r, s, ks=path(r, s, ks), negative="clip", zero_tail=zero_tail)
            for name, expected in zip(("fuji", "fuji_high"), bounds.auc, strict=True):
                check(columns[name][q], expected, (q, name), 0.0 if isinstance(ks, int) else 1e-12)

    def test_zero_has_none(self):
        pair = {0: 3.0, 1: 2.0}, {0: 3.0, 2: 2.0}
        assert "fuji_high" not in batch([pair], missing="zero")
        assert "fuji_high" not in batch([pair], ["jaccard"])
        assert batch([pair], missing="zero")["fuji"] == batch([pair])["fuji"]


class TestChance:
    """Expected and corrected values and p-values equal those of the pair alone."""

    def check(self, pairs, ks, universe, measures, tolerance=1e-11, **options):
        columns = batch(pairs, measures, ks, universe=universe, **options)
        for q, (r, s) in enumerate(pairs):
            for name in measures:
                expected = self.alone(r, s, name, ks, universe, **options)
                for suffix, value in expected.items():
                    check(columns[f"{name}_{suffix}"][q], value, (q, name, suffix), tolerance)

    def alone(self, r, s, name, ks, universe, **options):
        known = ("expected", "corrected", "p")[: 2 if name == "krizek" else 3]
        if says_nothing(r, s, ks, name, options.get("zero_tail", "include")):
            return dict.fromkeys(known, nan)
        level = alone(r, s, name, ks, universe=universe, **options).chance.get(name)
        if level is None or not level.exact:
            return dict.fromkeys(known, nan)
        values = level.expected_auc, level.corrected_auc, nan if level.p_value is None else level.p_value
        return dict(zip(known, values, strict=False))

    @given(ragged(), st.sampled_from([1, 3, 10]), st.sampled_from([14, 19, 20, 300, 10**6]), st.sampled_from(ZERO_TAIL))
    def test_one_k(self, pairs, ks, universe, zero_tail):
        self.check(pairs, ks, universe, CLOSED, zero_tail=zero_tail)

    @given(ragged(st.integers(0, 2).map(float)), st.sampled_from([1, 3, 10]), st.sampled_from([20, 300]))
    def test_few_scores(self, pairs, ks, universe):
        self.check(pairs, ks, universe, CLOSED)

    @given(
        ragged(),
        st.sampled_from(["all", "exp", (2, 3, 7)]),
        st.sampled_from([14, 30, 10**6]),
        st.sampled_from(ZERO_TAIL),
    )
    def test_grids(self, pairs, ks, universe, zero_tail):
        self.check(pairs, ks, universe, ["fuji", "rbo", "jaccard", "krizek", "kappa"], zero_tail=zero_tail)

    @given(ragged(), st.sampled_from([1, 3, "exp"]), st.sampled_from([14, 30, 10**6]))
    def test_stable_ties(self, pairs, ks, universe):
        self.check(pairs, ks, universe, ["fuji", "rbo", "jaccard", "average_overlap", "pog"], ties="stable")

    @pytest.mark.parametrize("ks", [1, 10, 60, 150])
    def test_long_lists(self, ks):
        generator = np.random.default_rng(ks)
        pairs = [
            tuple(
                dict(zip(generator.permutation(200)[:size].tolist(), make(generator.pareto(1.5, size)), strict=True))
                for size in sizes
            )
            for sizes in ((150, 150), (200, 200), (40, 160), (155, 157))
            for make in (np.ndarray.tolist, lambda scores: np.floor(4 * scores).tolist())
        ]
        self.check(pairs, ks, 200, ["fuji", "rbo", "jaccard", "average_overlap", "dice"], 1e-9)

    def test_complete_rankings_of_two_scores(self):
        # No p-value is below that of their overlap.
        pairs = [
            ({i: float(i < 3) for i in range(25)}, {i: float(i % 8 == 0) for i in range(25)}),
            ({i: float(i < 3) for i in range(25)}, {i: float(i < 3) for i in range(25)}),
            ({i: float(i < 3) for i in range(25)}, {i: float(i < 4) for i in range(25)}),
            ({i: float(i < 2) for i in range(25)}, {1: 1.0, 0: 1.0}),
            ({i: float(i < 3) for i in range(25)}, {0: 1.0, 1: 1.0, 7: 1.0}),
            ({0: 2.0, 1: 2.0}, {0: 1.0, 1: 1.0, 7: 1.0}),
            ({0: 2.0}, {0: 1.0}),
        ]
        for k in (1, 2, 4):
            self.check(pairs, k, 25, TESTED)

    def test_enumeration(self):
        pairs = [({0: 5.0, 1: 3.0, 2: 2.0}, {1: 4.0, 3: 1.0}), ({0: 2.0, 1: 2.0, 2: 1.0}, {1: 4.0, 4: 4.0, 2: 4.0})]
        columns = batch(pairs, ["fuji", "jaccard", "rbo", "average_overlap"], 2, universe=6)
        for q, pair in enumerate(pairs):
            padded = [oracle.padded(side, range(6)) for side in pair]
            for name in ("fuji", "jaccard", "rbo", "average_overlap"):
                mean, _ = oracle.moments(name, *padded, 2)
                check(columns[f"{name}_expected"][q], float(mean), (q, name), 1e-12)

    def test_columns(self):
        columns = batch([({0: 2.0}, {0: 1.0})], ["fuji", "krizek", "kendall"], universe=30)
        assert [name for name in columns if name.startswith("krizek")] == [
            "krizek",
            "krizek_expected",
            "krizek_corrected",
        ]
        assert [name for name in columns if name.startswith("kendall")] == ["kendall"]
        assert [name for name in columns if name.startswith("fuji")] == [
            "fuji",
            "fuji_high",
            "fuji_floor",
            "fuji_above_floor",
            "fuji_near",
            "fuji_expected",
            "fuji_corrected",
            "fuji_p",
        ]

    def test_universe_that_is_too_small(self):
        pairs = [({0: 2.0}, {1: 1.0}), ({0: 2.0, 1: 1.0}, {2: 1.0}), ({0: 1.0, 3: 2.0}, {1: 1.0, 2: 1.0})]
        with pytest.raises(UniverseTooSmall) as small:
            batch(pairs, universe=2)
        assert small.value.args == (1, 3)
        with pytest.raises(UniverseTooSmall) as empty:
            batch([({0: 2.0, 1: 2.0, 2: 1.0}, {})], universe=2)
        assert empty.value.args == (0, 3)


class TestItems:
    @pytest.mark.parametrize("dtype", [np.int32, np.int64])
    def test_repeated(self, dtype):
        def twice(item):
            return Lists(np.array([0, 1, 3]), np.array([0, item, 1], dtype), np.array([1.0, 2.0, 1.0]))

        task = ListTask((find("fuji"),), Depths(1))
        for pair in ((twice(1), twice(0)), (twice(0), twice(1))):
            with pytest.raises(RepeatedItem) as repeated:
                compared(*pair, task)
            assert repeated.value.args == (1,)

    def test_any_integers(self):
        codes = [-(2**63), -1, 0, 2**63 - 1, 7]
        pair = {0: 3.0, 1: 2.0, 2: 1.0}, {2: 2.0, 4: 1.0, 3: 0.5}
        coded = [{codes[item]: score for item, score in side.items()} for side in pair]
        columns = compared(lists(coded[:1]), lists(coded[1:]), ListTask((find("fuji"),), Depths(2)))
        assert columns["fuji"] == batch([pair], ["fuji"], 2)["fuji"]
        assert columns["shared"] == 1

    def test_arrays_that_cannot_be_written(self):
        # As Arrow gives them: kernels are not compiled anew.
        frozen = lists([{0: 3.0, 1: 2.0}], np.int32)
        for array in (frozen.start, frozen.items, frozen.scores):
            array.flags.writeable = False
        task = ListTask((find("fuji"),), Depths(1))
        before = len(getattr(_kernels.batch.overlaps, "signatures", ()))
        assert compared(frozen, frozen, task)["fuji"] == 1
        assert len(getattr(_kernels.batch.overlaps, "signatures", ())) in {before, 1}

    def test_repeated_beside_an_empty_list(self):
        twice = Lists(np.array([0, 2]), np.array([1, 1]), np.array([1.0, 2.0]))
        empty = Lists(np.array([0, 0]), np.empty(0, np.int64), np.empty(0))
        for pair in ((twice, empty), (empty, twice)):
            with pytest.raises(RepeatedItem):
                compared(*pair, ListTask((find("fuji"),), Depths(1)))

    def test_parts_give_the_same(self):
        generator = np.random.default_rng(0)
        pairs = [
            tuple({int(i): float(generator.integers(0, 5)) for i in generator.permutation(9)[:size]} for size in sizes)
            for sizes in generator.integers(0, 9, (40, 2)).tolist()
        ]
        r, s = lists([r for r, _ in pairs]), lists([s for _, s in pairs])
        task = ListTask(tuple(map(find, ("fuji", "rbo", "jaccard", "kendall"))), Depths(4), universe=50)
        whole = compared(r, s, task)
        parts = [compared(r.part(a, b), s.part(a, b), task) for a, b in ((0, 11), (11, 12), (12, 40))]
        for name, column in whole.items():
            assert np.array_equal(np.concatenate([part[name] for part in parts]), column, equal_nan=True), name


def test_all_negative_scores_have_no_fuji():
    # Counted as 0 they would all tie at 0 with the last, and be members.
    pair = {0: -1.0, 1: -2.0}, {2: -1.0, 3: -2.0}
    columns = batch([pair], universe=30)
    assert isnan(columns["fuji"][0])
    assert isnan(columns["fuji_high"][0])
    assert isnan(columns["fuji_p"][0])
    assert columns["jaccard"][0] == 0


def test_small_batches_do_not_import_numba():
    text = """
import sys
import numpy as np
from fujiscore.runs.batches import Depths, Lists, ListTask, compared
from fujiscore.measures.registry import find
lists = Lists(np.arange(0, 40, 10), np.tile(np.arange(10), 3), np.tile(np.arange(10.0), 3))
compared(lists, lists, ListTask(tuple(map(find, ("fuji", "rbo", "jaccard"))), Depths(10), 1000))
print("numba" in sys.modules)
"""
    environment = {name: value for name, value in os.environ.items() if name != "FUJISCORE_COMPILE"}
    command = [sys.executable, "-W", "error", "-c", text]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


class TestKernels:
    """Plain and compiled kernels give the same bits."""

    @pytest.fixture(autouse=True)
    def both_ways(self, monkeypatch):
        module = import_module("fujiscore._kernels.batch")
        for name in ("overlaps", "sides"):
            monkeypatch.setattr(_kernels.batch, name, partial(self.run, getattr(module, name)))
        unions = import_module("fujiscore._kernels.coefficients").unions
        monkeypatch.setattr(_kernels.coefficients, "unions", partial(self.run, unions))

    def run(self, function, *arguments):
        copies = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
        with np.errstate(all="ignore"):
            result = function(*copies)
        assert _jit.compiled(function)(*arguments) == result
        for position, (value, copy) in enumerate(zip(arguments, copies, strict=True)):
            if isinstance(value, np.ndarray):
                assert value.tobytes() == copy.tobytes(), (function.__name__, position)
        return result

    @given(ragged(most=9), st.sampled_from(DEPTHS), st.sampled_from(["closed", "stable"]))
    def test_small(self, pairs, ks, ties):
        batch(pairs, ["fuji", "rbo", "average_overlap", "spearman"], ks, ties=ties, universe=50)

    @pytest.mark.parametrize("ties", ["closed", "stable"])
    @pytest.mark.parametrize("k", [1, 20, 60])
    def test_long(self, k, ties):
        generator = np.random.default_rng(k)
        pairs = [
            tuple(
                dict(zip(generator.permutation(900)[:150].tolist(), np.round(scores, 1).tolist(), strict=True))
                for scores in generator.normal(1, 1, (2, 150))
            )
            for _ in range(3)
        ]
        batch(pairs, ["fuji", "rbo", "average_overlap", "weightedtau"], k, ties=ties, universe=900)


def test_compare_notes_the_floor_of_truncated_lists_that_runs_report():
    rng = np.random.default_rng(3)
    lists = [{f"d{i}": 100 + rng.random() for i in rng.permutation(14)[:12]} for _ in range(2)]
    for options in ({"ks": "exp"}, {"ks": [4]}, {"ks": [2, 5, 9]}):
        floor = fj.compare_runs(*({"q": one} for one in lists), **options).values("fuji_floor")[0]
        notes = [note for note in fj.compare(*lists, missing="zero", **options).notes if "the floor of FUJI" in note]
        assert len(notes) == 1
        assert f"is {floor:.4f}: " in notes[0]
        assert "transform='minmax'" in notes[0]
        silent = [
            fj.compare(*lists, universe=100, **options),  # has a chance level
            fj.compare(*lists, ["jaccard"], missing="zero", **options),
            fj.compare(*({x: 0.1**i for i, x in enumerate(one)} for one in lists), missing="zero", **options),
        ]
        assert not any("floor" in note for result in silent for note in result.notes)
    flat = fj.compare(*lists, missing="zero", ks="exp", transform=np.sqrt).notes
    assert "Pass a measure of order" in next(note for note in flat if "the floor of FUJI" in note)
