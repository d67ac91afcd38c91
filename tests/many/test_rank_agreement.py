"""Sequential rank agreement against its definition, SuperRanker's published values, and all permutations."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations, product
from statistics import mean, variance

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore.cli import fuji

# The example of SuperRanker's documentation; its tests state 0, 4/3 and 4/3 at depths 1, 2 and 5.
EXAMPLE = [list("abcdefgh"), list("abcefgdh"), list("aecdbhgf")]


def agreement(orders, depth):
    """Return the squared agreement at a depth of complete lists without ties, from the definition."""
    items = {item for order in orders for item in order[:depth]}
    return mean(variance(Fraction(order.index(item) + 1) for order in orders) for item in items)


def agreement_with_ties(scores, depth):
    """Return the squared agreement at a depth of scores of the same items, from the definition."""
    ranks = [[1 + sum(y > x for y in own) + Fraction(own.count(x) - 1, 2) for x in own] for own in scores]
    inside = [i for i in range(len(scores[0])) if any(sum(y > own[i] for y in own) < depth for own in scores)]
    return mean(variance([own[i] for own in ranks]) for i in inside)


def test_the_example_of_superranker():
    result = fj.stats.sequential_rank_agreement(EXAMPLE, permutations=0)
    assert result.values[[0, 1, 4]] == pytest.approx([0, 4 / 3, 4 / 3])
    assert result.items[:3].tolist() == [1, 3, 4]
    assert result.ks.tolist() == list(range(1, 9))
    assert result.low is result.p_value is None


@given(st.lists(st.permutations("abcdef"), min_size=2, max_size=5))
def test_complete_lists(orders):
    result = fj.stats.sequential_rank_agreement(orders, permutations=0)
    for depth, value in zip(result.ks, result.values, strict=True):
        assert value**2 == pytest.approx(float(agreement(orders, depth)), abs=1e-9)
    backward = fj.stats.sequential_rank_agreement(orders[::-1], permutations=0)
    np.testing.assert_allclose(result.values, backward.values, atol=1e-9)


@given(st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=2, max_size=4))
def test_ties_share_the_mean_rank_and_enter_together(scores):
    result = fj.stats.sequential_rank_agreement(scores, permutations=0)
    for depth, value in zip(result.ks, result.values, strict=True):
        assert value**2 == pytest.approx(float(agreement_with_ties(scores, depth)), abs=1e-9)


@pytest.mark.parametrize("universe", [None, 6])
def test_items_that_lists_lack_have_their_expected_variance(universe):
    """All fills of the unknown ranks, as SuperRanker draws them at random, up to the shortest list's end."""
    lists = [list("abcde"), list("dab"), list("be")]
    population = universe or 5
    items = list("abcdef")[:population]
    fills = [[[*own, *rest] for rest in permutations([i for i in items if i not in own])] for own in lists]
    result = fj.stats.sequential_rank_agreement(lists, permutations=0, universe=universe, missing="zero")
    for depth in (1, 2):
        squared = mean(agreement(orders, depth) for orders in product(*fills))
        assert result.values[depth - 1] ** 2 == pytest.approx(float(squared))
    assert result.ks[-1] == 5
    notes = "\n".join(result.notes)
    assert "beyond d = 2, the length of the shortest" in notes
    assert ("taken to be 5" in notes) == (universe is None)


def test_the_band_is_that_of_random_orders():
    """The mean and the quantiles of the band against all pairs of orders of 4 items."""
    result = fj.stats.sequential_rank_agreement([[4, 3, 2, 1], [4, 3, 1, 2]], permutations=4000)
    orders = list(permutations("abcd"))
    curves = np.sqrt([[float(agreement(pair, d)) for d in range(1, 5)] for pair in product(orders[:1], orders)])
    assert result.expected == pytest.approx(curves.mean(axis=0), abs=0.05)
    low, high = np.quantile(curves, [0.025, 0.975], axis=0)
    assert (result.low <= low + 0.3).all()
    assert (result.high >= high - 0.3).all()


def test_both_signs_of_an_item_move_together():
    """Values and the mean of random orders of items split by sign, against all assignments of signed scores."""
    lists = [3.0, -2.0, 1.0, 0.5], [-3.0, 1.0, 0.0, -2.0]

    def halves(scores):
        return [max(x, 0.0) for x in scores] + [max(-x, 0.0) for x in scores]

    result = fj.stats.sequential_rank_agreement(lists, negative="split", permutations=4000)
    assert result.ks.tolist() == [1, 2, 3, 4]
    observed = [float(agreement_with_ties([halves(own) for own in lists], d)) for d in result.ks]
    assert result.values**2 == pytest.approx(observed)
    curves = [
        [float(agreement_with_ties([halves(lists[0]), halves(dealt)], d)) ** 0.5 for d in result.ks]
        for dealt in permutations(lists[1])
    ]
    assert result.expected == pytest.approx(np.mean(curves, axis=0), abs=0.06)


def test_p_values_are_valid_and_small_where_lists_agree():
    rng = np.random.default_rng(5)
    p_values = [
        fj.stats.sequential_rank_agreement(rng.random((3, 12)), permutations=19, random_state=seed).p_value
        for seed in range(200)
    ]
    assert 0.01 <= np.mean(np.array(p_values) <= 0.05) <= 0.1
    same = np.tile(np.arange(30.0), (4, 1))
    result = fj.stats.sequential_rank_agreement(same, permutations=99)
    assert result.values == pytest.approx(np.zeros(30))
    assert result.p_value == 0.01
    assert result.below_chance[:-1].all()
    assert "more agreement than random orders" in str(result)


def test_random_truncated_lists_lie_in_the_band():
    rng = np.random.default_rng(2)
    lists = [[f"g{i}" for i in rng.choice(500, 20, replace=False)] for _ in range(4)]
    result = fj.stats.sequential_rank_agreement(lists, universe=500, permutations=100)
    assert result.below_chance.mean() < 0.3
    assert result.p_value > 0.02
    huge = fj.stats.sequential_rank_agreement(lists, universe=2**31 - 1, permutations=3)
    assert np.isfinite(huge.high).all()
    assert result.population == 500


def test_constant_lists_say_nothing():
    result = fj.stats.sequential_rank_agreement(np.ones((3, 4)), permutations=20)
    assert result.values.tolist() == [0.0] * 4
    assert result.p_value == 1.0
    assert not result.below_chance.any()
    assert any("same score" in note for note in result.notes)


def test_threads_seeds_and_grids():
    scores = np.random.default_rng(0).random((5, 300))
    one, two = (
        fj.stats.sequential_rank_agreement(scores, permutations=30, n_jobs=jobs, random_state=3) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.low, two.low)
    assert one.p_value == two.p_value
    assert (fj.stats.sequential_rank_agreement(scores, permutations=30, random_state=4).low != one.low).any()
    sparse = fj.stats.sequential_rank_agreement(scores, ks="exp", permutations=0)
    np.testing.assert_array_equal(sparse.values, one.values[sparse.ks - 1])


def test_frame_and_figure():
    result = fj.stats.sequential_rank_agreement(EXAMPLE, permutations=20)
    frame = result.to_frame("pandas")
    assert list(frame.columns) == ["k", "agreement", "items", "expected", "low", "high"]
    assert frame.attrs["notes"] == list(result.notes)
    ax = result.plot()
    assert ax.lines[0].get_ydata().tolist() == result.values.tolist()
    assert fj.stats.sequential_rank_agreement(EXAMPLE, permutations=0, ks="exp").plot().get_xscale() == "log"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"rankings": [[1, 2]]}, "at least 2 rankings; got 1"),
        ({"permutations": -1}, "permutations must be an integer of at least 0"),
        ({"confidence": 1}, "confidence must be a number between 0 and 1"),
        ({"ks": [3]}, "ks must"),
        ({"random_state": "x"}, "random_state must"),
    ],
)
def test_errors(arguments, said):
    with pytest.raises(fj.InputError, match=said):
        fj.stats.sequential_rank_agreement(**{"rankings": [[1, 2], [2, 1]], **arguments})


def test_the_command(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("item,a,b,c\nu,4,4,2\nv,3,2,4\nw,2,3,3\nx,1,1,1\n", encoding="utf-8")
    options = ["consensus", str(path), "--sequential", "--permutations", "20", "--seed", "3"]
    data = json.loads(CliRunner().invoke(fuji, [*options, "--json"]).stdout)["sequential_rank_agreement"]
    result = fj.stats.sequential_rank_agreement(fj.read([path]), permutations=20, random_state=3)
    assert data["values"] == result.values.tolist()
    assert data["low"] == result.low.tolist()
    assert data["p_value"] == result.p_value
    figure = tmp_path / "both.png"
    done = CliRunner().invoke(fuji, [*options, "--plot", str(figure)])
    assert done.exit_code == 0, done.output
    assert "than random orders" in " ".join(done.stdout.split())
    assert figure.exists()
