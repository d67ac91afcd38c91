"""The one decorator of all kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba import njit

if TYPE_CHECKING:
    from collections.abc import Callable


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a serial kernel that releases the GIL; no fast-math, as the compensated sums would break."""
    options = {"nogil": True, "error_model": "numpy"}
    try:
        return njit(function, cache=True, **options)
    except RuntimeError:  # nowhere to write the cache (a read-only install without a home): compile every time
        return njit(function, **options)
