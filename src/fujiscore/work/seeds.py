"""Random numbers from whatever users pass as `random_state`."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from fujiscore.errors import InputError, spelled

# The largest seed of NumPy's RandomState, which scikit-learn uses.
LARGEST_SEED = 2**32 - 1


def as_seed(random_state: Any) -> int:
    """Return a seed: the integer itself, or one drawn from a RandomState or Generator; None draws a fresh one."""
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(LARGEST_SEED, endpoint=True))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(LARGEST_SEED, dtype=np.uint32))
    try:
        seed = -1 if isinstance(random_state, bool) else index(random_state)
    except TypeError:
        seed = -1
    if not 0 <= seed <= LARGEST_SEED:
        raise InputError(
            f"{spelled('random_state')} must be an integer from 0 to {LARGEST_SEED}, a NumPy Generator or RandomState, "
            f"or None; got {random_state!r}."
        )
    return seed


def as_random_state(random_state: Any) -> np.random.RandomState:
    """Return the RandomState itself, or one with the given seed."""
    if isinstance(random_state, np.random.RandomState):
        return random_state
    return np.random.RandomState(as_seed(random_state))
