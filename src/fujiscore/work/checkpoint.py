"""Results of finished tiles on disk, so that a killed computation resumes.

Each tile has a file of its own, written atomically: a SHA-256 sum over the file's name and the content, and the
content, an array. The name holds a key of all that the result depends on. A file that is not as it was written is
computed again.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fujiscore._version import __version__
from fujiscore.errors import InputError, counted, shown, spelled
from fujiscore.work.files import claimed, remove_unfinished, write_atomically

SETTINGS = "checkpoint.json"
SUM = hashlib.sha256().digest_size
# How the sum of an array begins: messages say that it differs, not from what.
HASH = "sha256:"


class NoRoomError(Exception):
    """A tile could not be kept; becomes an InputError once all workers have stopped, and what is kept is final."""


class Finished:
    """The finished tiles of one computation in a folder."""

    def __init__(self, folder: Path, stem: str, key: str, named: str) -> None:
        self.folder, self.stem, self.key = folder, stem, key
        self.named = named  # the argument that names the folder, with its value, for messages
        self.found = 0  # tiles that were finished earlier

    def _path(self, number: int) -> Path:
        return self.folder / f"{self.stem}-{number:04d}-{self.key}.tile"

    def load(self, number: int) -> NDArray[Any] | None:
        """Return a tile's result, None if there is none or the file is not as it was written."""
        path = self._path(number)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        if content[:SUM] != _sum(path.name, content[SUM:]):
            return None
        self.found += 1
        result: NDArray[Any] = np.load(io.BytesIO(content[SUM:]), allow_pickle=False)
        return result

    def save(self, number: int, result: Any) -> None:
        """Keep a tile's result, an array; a disk that takes no more is a NoRoomError."""
        path, stored = self._path(number), io.BytesIO()
        np.save(stored, result, allow_pickle=False)
        content = stored.getvalue()
        try:
            write_atomically(path, lambda file: file.write(_sum(path.name, content) + content))
        except OSError as error:
            raise NoRoomError(error.strerror) from error


def _sum(name: str, content: bytes) -> bytes:
    """Return what a file starts with: a file under another's name is not taken for it."""
    return hashlib.sha256(name.encode() + content).digest()


@contextmanager
def finished_tiles(folder: str | os.PathLike[str], stem: str, key: str) -> Iterator[Finished]:
    """Hold a folder of finished tiles for this process alone; yield those that belong to a key."""
    if not os.fspath(folder):  # which would be the current folder
        raise InputError(f"{spelled('checkpoint')} must name a folder; got an empty name.")
    path, named = Path(folder), spelled("checkpoint", os.fspath(folder))
    with claimed(path, named):
        remove_unfinished(path)
        finished = Finished(path, stem, key, named)
        try:
            yield finished
        except NoRoomError as error:
            kept = counted(len(list(path.glob(f"{stem}-*-{key}.tile"))), "finished part")
            raise InputError(
                f"{named} must have room for what is finished; the system reports: {error}. "
                f"{kept} kept: free some space, and the same call resumes."
            ) from error


@contextmanager
def resumable(
    folder: str | os.PathLike[str], stem: str, data: dict[str, Any], options: dict[str, Any]
) -> Iterator[Finished]:
    """Hold the folder of the argument `checkpoint`; raise if it holds tiles of other data, options or versions."""
    settings = json.loads(json.dumps({"data": data | {"version of fujiscore": __version__}, "options": options}))
    with finished_tiles(folder, stem, key_of(settings)) as finished:
        file = finished.folder / SETTINGS
        _require_same(file, settings, finished.named)
        content = json.dumps(settings, indent=1).encode()
        try:
            write_atomically(file, lambda stream: stream.write(content))
        except OSError as error:
            raise InputError(f"{finished.named} must be writable; the system reports: {error.strerror}.") from error
        yield finished


def _require_same(file: Path, settings: dict[str, Any], named: str) -> None:
    """Raise if the settings on disk differ; a damaged file is ignored, as the names of tiles hold a key."""
    changes = []
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
        for part, values in settings.items():
            for name, new in values.items():
                old = known[part].get(name)
                if str(old).startswith(HASH) and str(new).startswith(HASH):
                    changes += [f"the {name} differ"] if old != new else []
                elif old != new:
                    what = spelled(name) if part == "options" else name
                    changes.append(f"{what} was {shown(old)} and is {shown(new)}")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
    if changes:
        raise InputError(
            f"{named} keeps the tiles of other input or options: {'; '.join(changes)}. "
            "Repeat the call as it was, or name another folder."
        )


def key_of(settings: Any) -> str:
    """Return a fingerprint for the names of files."""
    return hashlib.sha256(repr(settings).encode()).hexdigest()[:16]


def sum_of(parts: Iterable[Any]) -> str:
    """Return a sum of arrays, and of whatever has a constant repr."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).data)
        else:
            digest.update(repr(part).encode())
    return HASH + digest.hexdigest()
