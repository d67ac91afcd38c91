"""Seeds and random states from what users pass as `random_state`. Imports errors only."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from fujiscore.errors import InputError

# The largest seed of NumPy's RandomState, which scikit-learn uses.
LARGEST_SEED = 2**32 - 1


def as_seed(random_state: Any) -> int:
    """Return a seed: the number itself, one drawn from a random state or generator, or for None a fresh one."""
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(LARGEST_SEED, endpoint=True))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(LARGEST_SEED, dtype=np.uint32))
    try:
        seed = index(random_state)
    except TypeError:
        seed = -1
    if not 0 <= seed <= LARGEST_SEED:
        raise InputError(
            f"random_state must be a whole number from 0 to {LARGEST_SEED}, a NumPy RandomState or Generator, or None; "
            f"got {random_state!r}."
        )
    return seed


def as_random_state(random_state: Any) -> np.random.RandomState:
    """Return a RandomState: the one given, or one of the seed that is given."""
    if isinstance(random_state, np.random.RandomState):
        return random_state
    return np.random.RandomState(as_seed(random_state))
