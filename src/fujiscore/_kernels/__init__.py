"""Numeric kernels: plain Python while there is little to do, compiled by Numba (serial, nogil) beyond that.

Takes: contiguous arrays. Gives: arrays, the same bits plain or compiled. Attributes are the kernel modules with a gate
before each kernel (see `_jit`); `from fujiscore._kernels.sweep import overlap` gives the plain function.
"""

from __future__ import annotations

from importlib import import_module

from fujiscore._kernels._jit import KernelGates

# fmt: off
__all__ = [
    "area", "batch", "beta", "chance", "coefficients", "forest", "gamma", "grid", "labels", "long", "neighbours",
    "order", "pearson", "random", "relief", "surf", "sweep",
]
# fmt: on
# These only pay when compiled, whatever the size.
ALWAYS_COMPILED = ("forest", "neighbours", "relief", "surf")

# All modules first: importing one binds the module itself to its name here.
_modules = {name: import_module(f"{__name__}.{name}") for name in __all__}
globals().update({name: KernelGates(module, tiered=name not in ALWAYS_COMPILED) for name, module in _modules.items()})
