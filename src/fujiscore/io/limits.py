"""How much memory reading a file may take: a limit, an estimate while the content streams by."""

from __future__ import annotations

import io
import os
import re
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from fujiscore.errors import InputError

VARIABLE = "FUJISCORE_MEMORY_LIMIT"
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
SHARE = 0.5  # of the memory available
UNKNOWN_MEMORY = 4 * 10**9  # where the operating system does not tell
CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
BLOCK = 1 << 18


@dataclass(frozen=True)
class Cost:
    """Bytes of memory that content takes once it is read: per byte, and for certain bytes more (measured)."""

    byte: int
    marks: tuple[tuple[int, int], ...] = ()

    def of(self, content: bytes) -> int:
        """Return about how many bytes some content takes."""
        values = np.frombuffer(content, np.uint8)
        return self.byte * values.size + sum(each * int(np.count_nonzero(values == mark)) for mark, each in self.marks)


STORED = Cost(1)
COLUMNAR = Cost(3)
ARRAY = Cost(16)  # each number becomes a label and an object
TEXT = Cost(4, ((ord("\n"), 40),))
JSON = Cost(12, ((ord(","), 300), (ord("["), 150), (ord("{"), 150)))


def memory_limit() -> int:
    """Return how many bytes reading may take: what the environment variable says, or half of the memory available."""
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return int(SHARE * _available())
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?) *([KMGT]?B|)", given.upper())
    if match is None:
        raise InputError(f"{VARIABLE} must be a size such as 500MB or 8GB; got {given!r}.")
    return int(float(match[1]) * UNITS[match[2]])


def _available() -> int:
    """Return the bytes of memory that the operating system, and the container if there is one, can still give."""
    sizes = [int(text) for text in map(_content, CGROUPS) if text.isdecimal()]
    free = re.search(r"^MemAvailable: *(\d+) kB", _content("/proc/meminfo"), re.MULTILINE)
    if free:
        sizes.append(1024 * int(free[1]))
    elif "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(sizes, default=UNKNOWN_MEMORY)


def _content(path: str) -> str:
    """Return a small file of the operating system, empty where there is none."""
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def require_memory(name: str, size: int, limit: int | None = None) -> None:
    """Raise if content that takes so many bytes is over the limit."""
    most = memory_limit() if limit is None else limit
    if size > most:
        raise InputError(
            f"{name} must fit in memory: reading may take {_size(most)}, half of what is available or what "
            f"{VARIABLE} says, and this takes more. If the file is what it should be, set {VARIABLE}={_size(4 * most)}."
        )


def _size(count: int) -> str:
    """Return a number of bytes with its unit, as the environment variable takes it."""
    unit = next(unit for unit in ("TB", "GB", "MB", "KB", "B") if count >= UNITS[unit] or unit == "B")
    return f"{count / UNITS[unit]:.3g}{unit}"


class Stream(io.RawIOBase):
    """A stream to read from, which gives its content by `block`."""

    def block(self, size: int) -> bytes:
        """Return the next bytes, at most so many; none at the end."""
        raise NotImplementedError

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes."""
        content = self.block(len(buffer))
        buffer[: len(content)] = content
        return len(content)


class Metered(Stream):
    """A stream that adds up what its content takes once it is read, and ends with an error at the limit."""

    def __init__(self, stream: Any, name: str, cost: Cost) -> None:
        self._stream, self._name, self._cost = stream, name, cost
        self._limit, self._taken = memory_limit(), 0

    def block(self, size: int) -> bytes:
        """Return the next bytes."""
        content: bytes = self._stream.read(size)
        self._taken += self._cost.of(content)
        require_memory(self._name, self._taken, self._limit)
        return content

    def close(self) -> None:
        """Close the stream beneath."""
        self._stream.close()
        super().close()


class OpenFile:
    """A file that is opened once and read from several positions; closed when nobody reads it any more."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._lock = Lock()

    def __len__(self) -> int:
        """Return the number of bytes."""
        return os.fstat(self._file).st_size

    def part(self, start: int, size: int) -> bytes:
        """Return so many bytes from a position on, fewer at the end of the file only."""
        parts: list[bytes] = []
        with self._lock:
            os.lseek(self._file, start, os.SEEK_SET)
            while size > 0 and (block := os.read(self._file, min(size, BLOCK))):
                parts.append(block)
                size -= len(block)
        return b"".join(parts)

    def __del__(self) -> None:
        """Close the file, if it could be opened."""
        if hasattr(self, "_file"):
            os.close(self._file)


class Spool:
    """What a pipe or a device has given so far, kept in memory so that it can be read again."""

    def __init__(self, stream: Any, name: str) -> None:
        self._source = Metered(stream, name, STORED)
        self._content = bytearray()

    def __len__(self) -> int:
        """Return the number of bytes so far."""
        return len(self._content)

    def part(self, start: int, size: int) -> bytes:
        """Return so many bytes from a position on, fewer at the end of the stream only."""
        end = start + size
        while len(self._content) < end:
            block = self._source.read(max(BLOCK, end - len(self._content)))
            if not block:
                break
            self._content += block
        return bytes(self._content[start:end])


class Replay(Stream):
    """The content of an open file or a spool from its start."""

    def __init__(self, stored: OpenFile | Spool) -> None:
        self._stored, self._position = stored, 0

    def block(self, size: int) -> bytes:
        """Return the next bytes."""
        part = self._stored.part(self._position, size)
        self._position += len(part)
        return part
