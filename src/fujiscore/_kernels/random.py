"""SplitMix64: the one generator of random numbers in kernels. Its n-th output is scramble(seed + n * GOLDEN)."""

from __future__ import annotations

import numpy as np

from fujiscore._kernels._jit import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)


@kernel
def scramble(state):
    """Return the 64 random bits that follow a state; the next state is state + GOLDEN."""
    z = state + GOLDEN
    z = (z ^ (z >> np.uint64(30))) * MIX_1
    z = (z ^ (z >> np.uint64(27))) * MIX_2
    return z ^ (z >> np.uint64(31))
