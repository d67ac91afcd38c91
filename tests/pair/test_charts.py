"""The slope chart as numbers, and the verdict: against slow versions that follow their definitions."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore.charts.figure import SLOPE_NAMES
from fujiscore.charts.slopes import ROOM, UNLISTED, placed, spread
from fujiscore.pair.charts import MOST_ITEMS, default_k, slopes
from fujiscore.pair.verdicts import lowest_stretch, two_digits

PARETO = np.random.default_rng(3).pareto(1.0, 60)
NOISY = PARETO * np.random.default_rng(8).lognormal(0, 0.8, 60)


LONGEST = SLOPE_NAMES[0]


def chart(r, s, k=None, lines=20, **options):
    result = fj.compare(r, s, **options)
    why = result.explain(default_k(result.rankings) if k is None else k)
    return placed(slopes(result.rankings, why), lines=lines, columns=LONGEST)


# Heights


def naive_chart(r, s, k):
    """Return relative scores of the union of the top k of two untied dicts, and their kinds, from the definition."""
    tops = [sorted(scores, key=lambda item: -scores[item])[:k] for scores in (r, s)]
    last = [scores[top[-1]] for scores, top in zip((r, s), tops, strict=True)]
    outside = [
        [max(score, 0) / own for item, score in scores.items() if item not in top]
        for scores, own, top in zip((r, s), last, tops, strict=True)
    ]
    least = [(1 + sum(own) / max(len(own), 1)) / 2 for own in outside]
    found = {}
    for item in {*tops[0], *tops[1]}:
        relative = [max(scores[item], 0) / own for scores, own in zip((r, s), last, strict=True)]
        near = all(own >= 1 or own > bound for own, bound in zip(relative, least, strict=True))
        shared = item in tops[0] and item in tops[1]
        found[item] = (*relative, "shared" if shared else "near miss" if near else "far miss")
    return found


@pytest.mark.parametrize("k", [1, 2, 7, 20, 59, 60])
def test_items_are_placed_by_score_over_the_kth_score(k):
    r, s = ({f"i{j}": float(x) for j, x in enumerate(scores)} for scores in (PARETO, NOISY))
    expected, result = naive_chart(r, s, k), chart(r, s, k)
    assert sorted(result.items) == sorted(expected)
    for i, item in enumerate(result.items):
        a, b, kind = expected[item]
        assert result.chart.kinds[i] == kind
        assert tuple(result.chart.relative[:, i]) == pytest.approx((a, b))
        for height, relative in zip(result.heights[:, i], (a, b), strict=True):
            assert height == pytest.approx(relative if relative <= 1 else 1 + result.stretch * math.log(relative))


def test_below_the_kth_score_the_height_is_the_membership():
    result = fj.compare(PARETO, NOISY)
    why, drawn = result.explain(10), chart(PARETO, NOISY, 10)
    rows = [why.items.index(int(name)) for name in drawn.items]
    np.testing.assert_allclose(np.minimum(drawn.heights, 1), [why.membership_r[rows], why.membership_s[rows]])


@pytest.mark.parametrize("scores", [10.0 ** np.arange(-300, 300, 30), np.exp(np.arange(20.0)), [5e-324, 1e308, 1.0]])
def test_great_ratios_keep_the_room_below_the_kth_score(scores):
    drawn = chart(scores, np.roll(scores, 1), len(scores))
    assert np.isfinite(drawn.heights).all()
    assert drawn.span[1] == pytest.approx(1 + ROOM)
    places, texts = drawn.ticks()
    assert texts[:3] == ["0", "0.5", "1"]
    assert np.diff(places).min() >= 0.2 - 1e-9
    assert places[-1] <= drawn.span[1]


def test_the_zero_tail_has_no_kth_score_to_be_relative_to():
    r, s = [5.0, 4.0, 3.0, *[0.0] * 9], [4.0, 0.0, 3.0, 5.0, *[0.0] * 8]
    assert default_k(fj.compare(r, s).rankings) == 3
    drawn = chart(r, s, 8)
    assert "k-th score of A and B is 0" in drawn.chart.label
    assert sorted(drawn.chart.relative[0])[-3:] == [1.0, 4 / 3, 5 / 3]
    assert drawn.heights.min() == 0.0
    nothing = chart([0.0] * 5, [0.0] * 5)
    assert not nothing.heights.any()


def test_unlisted_items_lie_below_zero():
    drawn = chart({"a": 3, "b": 2, "c": 1, "d": 0.5}, {"a": 3, "x": 2, "c": 1, "d": 0.5}, 2, missing="zero")
    places = dict(zip(drawn.items, drawn.heights.T, strict=True))
    assert places["b"][1] == places["x"][0] == UNLISTED
    assert drawn.ticks()[1][0] == "not listed"


def test_negative_scores_are_at_zero_or_split():
    r, s = {"a": 3.0, "b": -2.0, "c": 1.0, "d": 0.5}, {"a": -3.0, "b": 2.0, "c": 1.5, "d": 0.5}
    clipped = chart(r, s, 2, negative="clip")
    places = dict(zip(clipped.items, clipped.heights.T, strict=True))
    assert places["b"][0] == places["a"][1] == 0.0
    split = chart(r, s, 2, negative="split")
    assert set(split.chart.kinds) == {"opposite sign"}
    assert set(split.items) == {"a (+)", "a (-)", "b (+)", "b (-)"}


# Names


def test_names_are_short_and_tell_items_apart():
    names = ["x" * 500, "x" * 499 + "y" + "x" * 499, "🍣" * 40, "$a_1$", "line\nbreak", "<b>"]
    drawn = chart(dict(zip(names, range(6, 0, -1), strict=True)), dict(zip(names, range(1, 7), strict=True)), 6)
    assert len(set(drawn.items)) == 6
    assert max(map(len, drawn.items)) <= LONGEST
    assert not any("\n" in name for name in drawn.items)


def test_misses_are_drawn_and_named_first():
    rng = np.random.default_rng(0)
    drawn = chart(rng.random(1000), rng.random(1000), 300, lines=12)
    assert len(drawn.items) == MOST_ITEMS
    count = sum(drawn.chart.counts.values())
    assert count > MOST_ITEMS
    assert drawn.left_out == f"of {count} items, {count - MOST_ITEMS} not drawn, {count - 12} not named"
    named = ~np.isnan(drawn.labels[0])
    assert named.sum() == 12
    assert drawn.unnamed == MOST_ITEMS - 12
    assert {kind for kind, own in zip(drawn.chart.kinds, named, strict=True) if own} == {"far miss"}


@pytest.mark.parametrize("k", [1, 5, 10, 40])
@pytest.mark.parametrize("scores", [PARETO, np.ones(60), np.round(PARETO), np.arange(60.0)])
def test_names_keep_their_distance(scores, k):
    drawn = chart(scores, NOISY, k, lines=20)
    for side in drawn.labels:
        named = np.sort(side[~np.isnan(side)])
        assert named.size == min(20, len(drawn.items))
        assert np.diff(named).min(initial=drawn.gap) >= drawn.gap * (1 - 1e-9)
        assert drawn.span[0] - 1e-9 <= named[0]
        assert named[-1] <= drawn.span[1] + 1e-9


heights = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@given(heights, st.floats(0.001, 0.14))
def test_names_move_as_little_as_possible(places, gap):
    from scipy.optimize import minimize

    found = spread(places, gap, 0.0, 1.0)
    order = sorted(range(len(places)), key=lambda i: (places[i], -i))
    wished = np.array(places)[order]
    rules = [{"type": "ineq", "fun": lambda x: np.concatenate([np.diff(x) - gap, [x[0]], [1 - x[-1]]])}]
    start = np.linspace(0, 1, len(places))
    best = minimize(lambda x: ((x - wished) ** 2).sum(), start, constraints=rules, options={"ftol": 1e-12})
    moved = ((found[order] - wished) ** 2).sum()
    assert moved <= best.fun + 1e-6
    assert np.diff(found[order]).min(initial=gap) >= gap - 1e-12
    assert found.min() >= -1e-12
    assert found.max() <= 1 + 1e-12


# Where rankings differ most


def naive_stretch(ks, values, level):
    """Walk from the first lowest point to both sides while the curve stays in the lower half of its depth."""
    known = [(k, v) for k, v in zip(ks, values, strict=True) if not math.isnan(v)]
    if len(known) < 2 or math.isnan(level):
        return None
    lowest = min(v for _, v in known)
    if level - lowest <= 1e-12:
        return None
    place = next(i for i, (_, v) in enumerate(known) if v <= lowest + 1e-12)
    bound = lowest + (level - lowest) / 2 + 1e-9
    first = last = place
    while first > 0 and known[first - 1][1] <= bound:
        first -= 1
    while last < len(known) - 1 and known[last + 1][1] <= bound:
        last += 1
    return known[first][0], known[last][0]


values = st.lists(st.one_of(st.integers(0, 8).map(lambda x: x / 8), st.just(math.nan)), min_size=1, max_size=12)


@given(values, st.integers(1, 5), st.integers(0, 64).map(lambda x: x / 64))
def test_the_lowest_stretch(curve, step, level):
    ks = list(range(1, step * len(curve) + 1, step))[: len(curve)]
    assert lowest_stretch(np.array(ks), np.array(curve), level) == naive_stretch(ks, curve, level)


def test_the_lowest_stretch_of_a_comparison():
    result = fj.compare(PARETO, NOISY)
    exp = [1, 2, 4, 8, 16, 32, 60]
    curve = [fj.fuji(PARETO, NOISY, k) for k in range(1, 61)]
    at = [curve[k - 1] for k in exp]
    top_weighted = sum((a + b) / 2 for a, b in pairwise(at)) / (len(at) - 1)
    assert result.differs_most == naive_stretch(range(1, 61), curve, top_weighted)
    assert result.verdict().endswith(f"differs most at k = {result.differs_most[0]}-{result.differs_most[1]}")


# The verdict


def test_a_verdict_has_the_headline_and_its_chance_level():
    result = fj.compare(PARETO, NOISY)
    level = fj.chance(PARETO, NOISY).top_weighted
    parts = f"chance {level.expected_auc:.2f}, corrected {level.corrected_auc:.2f}, p = {level.p_value:.2g}"
    first, last = result.differs_most
    assert result.verdict() == f"FUJI {level.auc:.2f} ({parts}): differs most at k = {first}-{last}"
    assert result.headline.place == "top-weighted AUC"


def test_a_verdict_says_only_what_is_known():
    lists = {"a": 3.0, "b": 2.0, "c": 1.0}, {"b": 3.0, "d": 2.0, "a": 1.5}
    truncated = fj.compare(*lists, missing="zero")
    assert truncated.verdict() == f"FUJI {truncated.headline.value:.2f}: differs most at k = 3"
    few = fj.compare([3.0, 2.0, 1.0], [1.0, 3.0, 2.0]).verdict()
    assert "p =" not in few
    assert "chance" in few
    assert (
        fj.compare(PARETO, NOISY, "kendall").verdict() == f"Kendall's tau {fj.score(PARETO, NOISY, 60, 'kendall'):.2f}"
    )
    assert fj.compare([1.0] * 5, range(5), "kendall").verdict() == "Kendall's tau is undefined"
    jaccard = fj.compare(PARETO, NOISY, "jaccard").verdict()
    assert jaccard.startswith("Jaccard 0.")
    assert "differs most" in jaccard
    assert ": differs" not in fj.compare(PARETO, NOISY, ks=[5]).verdict()


def test_a_verdict_of_equal_and_of_flat_curves():
    assert fj.compare(PARETO, 2 * PARETO).verdict().endswith(": no difference at any evaluated k")
    assert fj.compare([1.0, 1.0], [1.0, 1.0]).verdict() == "FUJI 1.00 (chance 1.00): no difference at any evaluated k"
    disjoint = fj.compare({"a": 2, "b": 1}, {"c": 2, "d": 1}, missing="zero")
    assert disjoint.verdict() == "FUJI 0.00"


def test_a_verdict_names_the_alternative_and_the_least_p():
    drawn = fj.compare(PARETO, NOISY, permutations=99, alternative="two-sided").verdict()
    assert "p = 0.02, two-sided)" in drawn
    many = np.random.default_rng(0).random(500)
    assert "p <= 1e-09)" in fj.compare(many, many).verdict()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.784, "0.78"),
        (1.0, "1.00"),
        (0.996, "0.996"),
        (0.99999, "0.99999"),
        (1 - 1e-9, "1.000000"),
        (1 - 1e-13, "1.00"),
        (0.0, "0.00"),
        (0.0034, "0.003"),
        (-1e-20, "0.00"),
        (-0.001, "-0.001"),
        (-0.5, "-0.50"),
    ],
)
def test_digits(value, text):
    assert two_digits(value) == text
