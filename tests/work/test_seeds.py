"""Seeds: whatever users pass as random_state."""

from __future__ import annotations

import numpy as np
import pytest

import fujiscore as fj
from fujiscore.work.seeds import LARGEST_SEED, as_random_state, as_seed

R = np.arange(12.0)
S = np.random.default_rng(0).permutation(R)


def drawn(random_state):
    return fj.chance(R, S, permutations=20, random_state=random_state).permutations.aucs.tolist()


def drawn_by_compare(random_state):
    result = fj.compare(R, S, permutations=20, random_state=random_state)
    return result.chance["fuji"].permutations.aucs.tolist()


@pytest.mark.parametrize("draw", [drawn, drawn_by_compare])
class TestPermutations:
    def test_integers_repeat(self, draw):
        assert draw(3) == draw(3) == draw(np.int64(3)) != draw(4)

    def test_none_differs(self, draw):
        assert draw(None) != draw(None)

    @pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
    def test_generators_advance(self, draw, make):
        state = make(7)
        first, second = draw(state), draw(state)
        assert first != second
        again = make(7)
        assert [draw(again), draw(again)] == [first, second]


def test_the_same_seed_in_chance_and_compare():
    assert drawn(5) == drawn_by_compare(5)


def test_seeds():
    assert (as_seed(0), as_seed(LARGEST_SEED)) == (0, LARGEST_SEED)
    for state in (None, np.random.default_rng(1), np.random.RandomState(1)):
        assert 0 <= as_seed(state) <= LARGEST_SEED
    assert as_seed(np.random.default_rng(1)) == as_seed(np.random.default_rng(1))


@pytest.mark.parametrize("bad", [-1, LARGEST_SEED + 1, 1.0, "1", True, [1], np.random.SeedSequence(1)])
def test_errors(bad):
    with pytest.raises(fj.InputError, match="random_state must be an integer from 0 to 4294967295, a NumPy Generator"):
        as_seed(bad)
    with pytest.raises(fj.InputError, match="random_state must be"):
        fj.chance(R, S, permutations=2, random_state=bad)


def test_random_states():
    state = np.random.RandomState(3)
    assert as_random_state(state) is state
    assert as_random_state(3).randint(1000) == np.random.RandomState(3).randint(1000)
    assert as_random_state(None).randint(2**31) != as_random_state(None).randint(2**31)
