"""Stability of sets: against its formulas, and its interval against simulation."""

from __future__ import annotations

import math
import random
from statistics import fmean, variance

import numpy as np
import pytest
import sets_oracle as oracle
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import special, stats

import fujiscore as fj
from fujiscore.many.sets import SetStability, compare_set_stability, set_stability


def interval(value, error, m, level=0.95):
    """Return Student's interval on the logit scale between -1 / (m - 1) and 1."""
    least, alike = -1 / (m - 1), (1 - level) ** (2 / m)
    if error < 1e-12:
        return least + alike * (value - least), 1 - alike * (1 - value)
    share = (value - least) / (1 - least)
    reach = stats.t.ppf((1 + level) / 2, m - 1) * error / (1 - least) / (share * (1 - share))
    return [least + (1 - least) * special.expit(special.logit(share) + side * reach) for side in (-1, 1)]


@st.composite
def matrices(draw):
    """Return at least two rows of 0 and 1, neither all 0 nor all 1."""
    m, n = draw(st.integers(2, 8)), draw(st.integers(2, 8))
    rows = draw(st.lists(st.lists(st.integers(0, 1), min_size=n, max_size=n), min_size=m, max_size=m))
    assume(0 < sum(map(sum, rows)) < m * n)
    return rows


def error_of(variance, m):
    return math.sqrt(variance * (m / (m - 1)) ** 3)


class TestValue:
    @given(rows=matrices())
    def test_formulas(self, rows):
        found = set_stability(rows)
        assert found.value == pytest.approx(oracle.stability(rows), abs=1e-12)
        assert found.variance == pytest.approx(oracle.variance(rows), abs=1e-12)
        ends = interval(found.value, error_of(found.variance, found.m), found.m)
        assert (found.low, found.high) == pytest.approx(ends, abs=1e-9)
        assert found.low < found.high
        assert (found.m, found.n) == (len(rows), len(rows[0]))
        assert -1 / (found.m - 1) - 1e-12 <= found.value <= 1

    @given(m=st.integers(2, 7), n=st.integers(2, 12), seed=st.integers(0, 10**6), data=st.data())
    def test_sets_of_one_size_have_the_mean_kuncheva_index(self, m, n, seed, data):
        k = data.draw(st.integers(1, n - 1))
        source = random.Random(seed)
        chosen = [set(source.sample(range(n), k)) for _ in range(m)]
        rows = [[int(x in own) for x in range(n)] for own in chosen]
        assert set_stability(rows).value == pytest.approx(oracle.mean_kuncheva(rows), abs=1e-12)

    @given(rows=matrices())
    def test_all_kinds_of_input(self, rows):
        expected = set_stability(rows)
        items = [[f"x{i}" for i, z in enumerate(row) if z] for row in rows]
        alike = [
            set_stability(np.array(rows, bool)),
            set_stability(np.array(rows, float), n=len(rows[0])),
            set_stability([set(own) for own in items], n=len(rows[0])),
            set_stability(items, n=len(rows[0])),
        ]
        for found in alike:
            assert (found.value, found.variance) == pytest.approx((expected.value, expected.variance), abs=1e-12)

    def test_frames(self):
        pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
        columns = {"a": [1, 1, 0], "b": [0, 1, 0], "c": [1, 0, 1]}
        expected = set_stability([[1, 0, 1], [1, 1, 0], [0, 0, 1]])
        assert set_stability(pandas.DataFrame(columns)) == expected
        assert set_stability(polars.DataFrame(columns)) == expected

    def test_few_sets_carry_a_note(self):
        few, many = set_stability([[1, 0], [1, 0]]), set_stability([[1, 0], [0, 1]] * 15)
        assert few.notes == ("the interval may be too narrow: there are only 2 sets",)
        assert str(few).endswith("\nnote: " + few.notes[0])
        assert (many.notes, str(many).count("note")) == ((), 0)
        assert compare_set_stability(few, many).notes == few.test(0).notes == few.notes

    def test_identical_sets(self):
        found = set_stability([{"a", "b"}] * 5, n=10)
        assert found.value == 1
        assert found.variance == pytest.approx(0, abs=1e-30)
        assert found.test(1).p_value == 1
        assert found.low == pytest.approx(-0.25 + 1.25 * 0.05 ** (2 / 5))
        assert found.high == 1
        assert 0.05 < found.test(0.5).p_value < 1
        many = set_stability([{"a", "b"}] * 100, n=10)
        assert 0 < many.test(0.5).p_value < 0.01


class TestTests:
    def test_one_sample(self):
        found = SetStability(0.6, 0.01, 0.4, 0.8, 10, 20, 0.95)
        test, error = found.test(0.4), error_of(0.01, 10)
        assert test.difference == pytest.approx(0.2)
        assert test.statistic == pytest.approx(0.2 / error)
        assert test.p_value == pytest.approx(2 * stats.t.sf(0.2 / error, 9))
        reach = stats.t.ppf(0.975, 9) * error
        assert (test.low, test.high) == pytest.approx((0.2 - reach, 0.2 + reach))
        above, below = found.test(0.4, alternative="greater"), found.test(0.4, alternative="less")
        assert above.p_value == pytest.approx(test.p_value / 2)
        assert above.p_value + below.p_value == pytest.approx(1)
        assert (above.low, above.high) == pytest.approx((0.2 - stats.t.ppf(0.95, 9) * error, 0.6))
        assert "one-sided: greater" in str(above)

    @pytest.mark.parametrize(("m", "freedom"), [(10, 18), (12, 9)])
    def test_two_samples(self, m, freedom):
        a = SetStability(0.6, 0.0009, 0.5, 0.7, 10, 20, 0.95)
        b = SetStability(0.5, 0.0009, 0.4, 0.6, m, 20, 0.95)
        test = compare_set_stability(a, b, confidence=0.9)
        error = math.hypot(error_of(0.0009, 10), error_of(0.0009, m))
        assert test.difference == pytest.approx(-0.1)
        assert test.statistic == pytest.approx(-0.1 / error)
        assert test.p_value == pytest.approx(2 * stats.t.sf(0.1 / error, freedom))
        reach = stats.t.ppf(0.95, freedom) * error
        assert (test.low, test.high) == pytest.approx((-0.1 - reach, -0.1 + reach))
        assert compare_set_stability(b, a).statistic == -test.statistic
        with pytest.raises(fj.InputError, match="alternative must be one of"):
            compare_set_stability(a, b, alternative="more")

    def test_without_variance(self):
        same, opposite = set_stability([[1, 0], [1, 0]]), set_stability([[1, 0], [0, 1]])
        assert same.low < same.high
        assert opposite.low < opposite.high
        assert compare_set_stability(same, same).p_value == 1
        assert 0.05 < compare_set_stability(same, opposite).p_value < 1


# Independent sets, each item chosen with a probability of its own, times a strictness that varies from set to set, so
# that the sizes vary. The true stability follows from the probabilities on average.
CHANCES = np.concatenate((np.linspace(0.85, 0.95, 6), np.linspace(0.05, 0.2, 19)))
STRICTEST = 0.3
ON_AVERAGE = CHANCES * (STRICTEST + 1) / 2
TRUTH = 1 - np.mean(ON_AVERAGE * (1 - ON_AVERAGE)) / (ON_AVERAGE.mean() * (1 - ON_AVERAGE.mean()))
M, RUNS = 100, 2000


@pytest.fixture(scope="module")
def drawn():
    """Return as many matrices of sets as there are runs."""
    source = np.random.default_rng(7)
    strict = source.uniform(STRICTEST, 1, (RUNS, M, 1))
    return [source.random((M, CHANCES.size)) < CHANCES * own for own in strict]


@pytest.fixture(scope="module")
def found(drawn):
    """Return the stability of each."""
    return [set_stability(own) for own in drawn]


class TestSimulation:
    def test_variance(self, drawn, found):
        actual = variance(own.value for own in found)
        # 2,000 runs know the variance to some 3 %.
        assert fmean(own.variance for own in found) == pytest.approx(actual, rel=0.1)
        opposite = [oracle.variance(own.astype(int).tolist(), sign=-1) for own in drawn[:100]]
        assert fmean(opposite) > 2 * actual

    def test_coverage(self, found):
        assert 0.93 <= fmean(own.low <= TRUTH <= own.high for own in found) <= 0.97

    def test_p_values_reject_at_their_level(self, found):
        assert 0.03 <= fmean(own.test(TRUTH).p_value < 0.05 for own in found) <= 0.07
        halves = zip(found[::2], found[1::2], strict=True)
        assert 0.03 <= fmean(compare_set_stability(a, b).p_value < 0.05 for a, b in halves) <= 0.075


def top_ten(noise):
    """Return a generator of the ten best of 60 items by noisy scores."""
    return lambda m, rng: (
        stats.rankdata(rng.normal(size=(m, 60)) * noise - 3 * np.log(np.arange(60, 0, -1)), axis=1) <= 10
    )


def single_choices(m, rng):
    """Return sets to which each item belongs with a probability of its own."""
    return rng.random((m, 60)) < np.linspace(0.95, 0.02, 60) ** 2


@pytest.mark.slow
@pytest.mark.parametrize("draw", [top_ten(0.2), top_ten(0.6), top_ten(1.5), single_choices])
def test_few_sets(draw):
    """How often intervals hold the true value, and tests between sets drawn alike reject."""
    rng, trials = np.random.default_rng(1), 1500
    truth = set_stability(draw(20000, rng)).value
    results = {m: [set_stability(draw(m, rng)) for _ in range(trials)] for m in (3, 5, 10, 30)}
    for m, results_of_m in results.items():
        assert fmean(own.low <= truth <= own.high for own in results_of_m) >= 0.92, m
    for a, b in ((5, 5), (10, 10), (30, 30), (5, 30)):
        others = [set_stability(draw(b, rng)) for _ in range(trials)]
        tests = [compare_set_stability(*both) for both in zip(results[a], others, strict=True)]
        rate = fmean(test.p_value < 0.05 for test in tests)
        error = math.sqrt(rate * (1 - rate) / trials)
        assert 0.02 - error <= rate <= 0.07 + error, (a, b, rate)


class TestErrors:
    @pytest.mark.parametrize(
        ("sets", "n", "words"),
        [
            ([[0, 1]], None, "set_stability needs at least 2 sets; got 1"),
            ([{"a"}], 3, "set_stability needs at least 2 sets; got 1"),
            ([[0, 0], [0, 0]], None, "each of them holds no item"),
            ([set(), set()], 3, "each of them holds no item"),
            ([[1, 1], [1, 1]], None, "each of them holds every item"),
            ([[1, 2], [1, 0]], None, "only 0 and 1; got .*2.* in row 0, column 1"),
            ([[1.0, float("nan")], [1, 0]], None, "only 0 and 1; got .*nan"),
            ([["a", "b"], ["b", "c"]], None, "only 0 and 1; got .*a"),
            ([{"a"}, {"b"}], None, "n must be given with sets of items"),
            ([["a"], ["b", "c"]], None, "n must be given with sets of items"),
            ([{"a", "b"}, {"c"}], 2, "at least the number of different items in the sets, 3; got 2"),
            ([["a", "a"], ["b"]], 4, "the set at position 0 repeats one"),
            (["ab", "bc"], 4, "sets must hold sets or lists of items; got 'ab' at position 0"),
            ([[["a"]], ["b"]], 4, "hashable items such as strings; the set at position 0"),
            (np.array([[1, 0], [0, 1]]), 3, "n must be the number of columns of sets, 2, or left out; got 3"),
            (np.array([1, 0]), None, "got shape .2,."),
            ([{"a"}, {"b"}], 0, "n must be an integer of at least 1; got 0"),
            ([{"a"}, {"b"}], 2.0, "n must be an integer of at least 1; got 2.0"),
            ("abc", None, "got str"),
            ({"a", "b"}, None, "got set"),
        ],
    )
    def test_messages(self, sets, n, words):
        with pytest.raises(fj.InputError, match=words):
            set_stability(sets, n)

    @pytest.mark.parametrize("confidence", [0, 1, 95, "0.95", float("nan"), True])
    def test_confidence(self, confidence):
        with pytest.raises(fj.InputError, match="confidence must be a number between 0 and 1"):
            set_stability([[1, 0], [0, 1]], confidence=confidence)

    def test_only_results_are_compared(self):
        with pytest.raises(fj.InputError, match="b must be a result of set_stability; got list"):
            compare_set_stability(set_stability([[1, 0], [1, 0]]), [[1, 0], [0, 1]])
