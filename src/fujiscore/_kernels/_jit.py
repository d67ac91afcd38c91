"""Kernels are plain Python functions; Numba compiles each one once there is enough work for it.

`kernel` only marks a function, and kernels that call each other are ordinary functions. Callers outside reach a kernel
through a `Gate`: the plain function while the process has done little, then its compiled twin, which takes the gate's
place. Both give the same bits. FUJISCORE_COMPILE=always or =never (default: auto) forces one of them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from math import inf
from threading import RLock, Timer
from time import perf_counter
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError

if TYPE_CHECKING:
    from types import ModuleType

MODES = ("auto", "always", "never")
# A call with more items than this has everything compiled from then on.
LARGE = 8_000
# So have small calls that would take longer than this in sum. Their µs are estimated from the number of items: unlike
# measured times, that makes the same program compile on every machine. Importing Numba and loading compiled kernels
# takes 0.5 s; compiling them takes 8 s.
PATIENCE = 500_000
OVERHEAD = 5  # of a call, whatever its size
# Seconds of compiling after which the user is told.
SILENCE = 1.0

lock = RLock()
spent = {"uncompiled": 0.0, "compiling": 0.0}  # µs, s


def largest_array(*args: Any) -> int:
    """Return the number of items that most kernels visit."""
    return max([arg.size for arg in args if isinstance(arg, np.ndarray)], default=0)


def kernel(function: Any = None, *, cost: float = 1.0, items: Callable[..., int] = largest_array) -> Any:
    """Mark a function as a kernel that takes, uncompiled, `cost` µs for each of items(*args) items."""
    if function is None:
        return lambda decorated: kernel(decorated, cost=cost, items=items)
    function.cost, function.items = cost, items
    return function


@cache
def mode() -> str:
    """Return when kernels are compiled."""
    value = os.environ.get("FUJISCORE_COMPILE", "auto")
    if value not in MODES:
        raise InputError(
            f"The environment variable FUJISCORE_COMPILE must be auto, always or never; got {value!r}. "
            "Unset it for the default, auto."
        )
    return "never" if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0" else value


@cache
def compiled(function: FunctionType) -> Any:
    """Return the compiled twin of a kernel: serial, releasing the GIL, calling the twins of the kernels it calls."""
    # No fast-math: the compensated sums would break. Call it while holding the lock.
    from numba import njit

    from fujiscore._kernels._cache import Cache

    namespace = function.__globals__
    called = {name: namespace.get(name) for name in function.__code__.co_names}
    twins = {name: compiled(value) for name, value in called.items() if hasattr(value, "cost")}
    twin = FunctionType(function.__code__, namespace | twins, function.__name__, function.__defaults__)
    twin.__doc__ = function.__doc__
    dispatcher = njit(twin, nogil=True, error_model="numpy")
    with suppress(RuntimeError, OSError):  # no folder to write to (a read-only install without a home): never kept
        dispatcher._cache = Cache(twin)  # noqa: SLF001 - Numba has no other way to pass one
    return dispatcher


class Gate:
    """A kernel as callers see it: runs the plain function or the compiled one, whichever pays."""

    def __init__(self, namespace: KernelGates, function: FunctionType, *, tiered: bool) -> None:
        self.namespace, self.plain, self.tiered = namespace, function, tiered

    def __call__(self, *args: Any) -> Any:
        """Run the kernel."""
        if self.stays_plain(args):
            with np.errstate(all="ignore"):  # as compiled code does
                return self.plain(*args)
        return self.compile(args)(*args)

    def stays_plain(self, args: Sequence[Any]) -> bool:
        """Return whether to run these arguments uncompiled, and count the time that takes."""
        if mode() != "auto" or not self.tiered:
            return mode() == "never"
        items = self.plain.items(*args)
        spent["uncompiled"] += inf if items > LARGE else self.plain.cost * items + OVERHEAD
        return spent["uncompiled"] <= PATIENCE

    def compile(self, args: Sequence[Any]) -> Any:
        """Return the compiled kernel, ready for arguments of these types, and put it in the gate's place."""
        with lock:
            dispatcher = compiled(self.plain)
            with announced(dispatcher):
                dispatcher.compile(tuple(dispatcher.typeof_pyval(arg) for arg in args))
            setattr(self.namespace, self.plain.__name__, dispatcher)
        return dispatcher


class KernelGates:
    """The names of a kernel module, with a gate in front of every kernel; those not tiered are compiled at once."""

    def __init__(self, module: ModuleType, *, tiered: bool) -> None:
        for name, value in vars(module).items():
            if not name.startswith("__"):
                setattr(self, name, Gate(self, value, tiered=tiered) if hasattr(value, "cost") else value)


@contextmanager
def announced(dispatcher: Any) -> Iterator[None]:
    """Tell the user at a terminal, once, if compiling takes long; loading a compiled kernel does not count."""
    timer = Timer(max(0.0, SILENCE - spent["compiling"]), announce)
    timer.daemon = True
    start = perf_counter()
    if spent["compiling"] < SILENCE and at_terminal():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if not dispatcher.stats.cache_hits:
            spent["compiling"] += perf_counter() - start


def at_terminal() -> bool:
    """Return whether somebody may read what goes to standard error."""
    return sys.stderr is not None and not getattr(sys.stderr, "closed", False) and sys.stderr.isatty()


def announce() -> None:
    """Say why the user waits."""
    print("fujiscore: compiling, once per installation ...", file=sys.stderr, flush=True)  # noqa: T201
