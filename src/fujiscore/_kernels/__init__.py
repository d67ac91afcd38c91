"""Compiled kernels (Numba, serial, nogil). Importing this package is cheap: a kernel module loads when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from fujiscore._kernels import chance, forest, gamma, grid, neighbours, order, relief, sweep

# Scores from HUGE up are carried shrunk, so that no sum of 2**31 of them overflows.
HUGE = 2.0**960

__all__ = ["chance", "forest", "gamma", "grid", "neighbours", "order", "relief", "sweep"]


def __getattr__(name: str) -> ModuleType:
    """Load a kernel module, and Numba with it, at first use; Python then keeps it as an attribute."""
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
