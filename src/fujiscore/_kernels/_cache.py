"""Compiled kernels on disk, where Numba keeps its own: nothing that is wrong with the disk stops or changes a result.

Every entry is a file of its own that is replaced atomically, and starts with a checksum over the versions, the sources
of all kernels and the content. What is damaged, stale or of another signature is compiled again and overwritten.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
import time
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from uuid import uuid4

import numba
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

from fujiscore._kernels._jit import at_terminal

# Seconds after which an unfinished file belongs to no process that still runs.
ABANDONED = 3600

announced = []  # folders that cannot be written to


class Cache(FunctionCache):
    """Numba's cache of a function with entries of our own; errors are noted, and the kernel is compiled."""

    def __init__(self, function):
        super().__init__(function)
        self._cache_file = Entries(Path(self.cache_path), self._impl.filename_base)

    def load_overload(self, sig, target_context):
        """Return the compiled kernel for a signature, or None."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # noqa: BLE001 - unpickling and linking may raise anything
            tell_once(self.cache_path, str(error))
            return None

    def save_overload(self, sig, data):
        """Keep a compiled kernel, if that is possible."""
        try:
            super().save_overload(sig, data)
        except Exception as error:  # noqa: BLE001 - as above
            tell_once(self.cache_path, getattr(error, "strerror", None) or str(error))


class Entries:
    """The compiled variants of one kernel: a file per signature and processor."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name

    def flush(self):
        """Remove all of them."""
        for path in self.folder.glob(f"{self.name}.*"):
            path.unlink(missing_ok=True)

    def path(self, key):
        """Return the file of an entry."""
        return self.folder / f"{self.name}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.fuji"

    def load(self, key):
        """Return an entry, or None if there is none that is whole and up to date."""
        try:
            stored = self.path(key).read_bytes()
        except OSError:
            return None
        content = stored[32:]
        return pickle.loads(content) if stored[:32] == checksum(key, content) else None  # noqa: S301 - as Numba does

    def save(self, key, data):
        """Write an entry atomically."""
        path, content = self.path(key), dumps(data)
        for other in self.folder.glob(f"{path.name}.*"):
            with suppress(FileNotFoundError):  # another process may remove it as well
                if other.stat().st_mtime < time.time() - ABANDONED:
                    other.unlink()
        part = path.with_name(f"{path.name}.{uuid4().hex[:16]}")
        try:
            part.write_bytes(checksum(key, content) + content)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def checksum(key, content):
    """Return the bytes that an entry starts with."""
    return hashlib.sha256(stamp() + repr(key).encode() + content).digest()


@cache
def stamp():
    """Return what compiled code depends on beside its own source: a kernel may call those of other modules."""
    sources = sorted(
        (file.name, file.read_bytes()) for file in files(__package__).iterdir() if file.name.endswith(".py")
    )
    return repr((sys.version, numba.__version__, version("llvmlite"), sources)).encode()


def tell_once(folder, reason):
    """Tell the user at a terminal why every process compiles anew."""
    if not announced and at_terminal():
        announced.append(folder)
        print(f"fujiscore: compiled code cannot be kept in {folder} ({reason}); set NUMBA_CACHE_DIR", file=sys.stderr)  # noqa: T201
