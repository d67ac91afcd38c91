"""Files as bytes and lines: each opened once, decompression, encodings, errors."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import dropwhile, islice
from pathlib import Path
from typing import Any, BinaryIO

from fujiscore.errors import InputError
from fujiscore.io import columnar, limits
from fujiscore.io.table import damaged, did_you_mean

# Files up to this size are read into memory once and need no pyarrow, whose import takes 0.2 s.
SMALL = 1 << 20
HEAD = 1 << 16
MAGIC = 10  # first bytes, which tell the compression
LINE_LIMIT = 16 * 2**20
BLANK_LIMIT = 100_000  # blank lines one after the other
# Compressions by their extension, with what a file begins with; BZh9 alone may be the name of an item.
COMPRESSED: dict[str, tuple[bytes, ...]] = {
    ".gz": (b"\x1f\x8b",),
    ".zst": (b"\x28\xb5\x2f\xfd",),
    ".bz2": tuple(b"BZh%d" % size + block for size in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90")),
    ".xz": (b"\xfd7zXZ\0",),
}
# Byte order marks; UTF-32's begins with UTF-16's.
MARKS = {
    "utf-8-sig": (codecs.BOM_UTF8,),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}


@dataclass(frozen=True)
class Document:
    """A file that can be read more than once, decompressed, though it is opened once."""

    name: str
    path: Path | None  # None for standard input
    content: bytes | limits.Spool | limits.OpenFile  # as stored: of a large file on demand, of a large pipe as it comes
    magic: bytes
    regular: bool = False  # a file on disk, which other programs can open as well

    @property
    def compression(self) -> str | None:
        """The extension of the compression that the first bytes tell, None if they tell none."""
        return next((name for name, marks in COMPRESSED.items() if self.magic.startswith(marks)), None)

    @property
    def unpacked(self) -> Path:
        """The path without the extension of a compression; "stdin" for standard input."""
        path = Path("stdin") if self.path is None else self.path
        return path.with_suffix("") if path.suffix.lower() in COMPRESSED else path

    @property
    def size(self) -> int:
        """The bytes that are stored, of a large pipe as many as have come."""
        return len(self.content)

    @cached_property
    def head(self) -> bytes:
        """The first bytes, decompressed."""
        with self.reading() as stream:
            return bytes(stream.read(HEAD))

    @property
    def encoding(self) -> str:
        """The encoding that a byte order mark tells, or else UTF-8."""
        return next((name for name, marks in MARKS.items() if self.head.startswith(marks)), "utf-8")

    @property
    def large(self) -> bool:
        """Whether the file is large enough that importing pyarrow pays off."""
        return not isinstance(self.content, bytes) or len(self.content) > SMALL

    @property
    def _plain(self) -> bool:
        """Whether the file's own size bounds what comes out of it."""
        return self.compression is None and not isinstance(self.content, limits.Spool)

    def open(self, cost: limits.Cost | None = None) -> Any:
        """Return a stream of the content from its start, decompressed, with an error if it takes too much memory."""
        stored: Any
        if isinstance(self.content, bytes):
            stored = io.BytesIO(self.content)
        else:
            stored = io.BufferedReader(limits.Replay(self.content), limits.BLOCK)
        stream = UNPACK[self.compression](stored) if self.compression else stored
        if cost is None and self._plain:
            return stream
        return io.BufferedReader(limits.Metered(stream, self.name, cost or limits.TEXT), limits.BLOCK)

    def whole(self) -> str | BinaryIO:
        """Return what a columnar reader can seek in: the path of a large file, or the content in memory."""
        if isinstance(self.content, limits.OpenFile) and self._plain:
            return str(self.path)
        with self.reading(limits.COLUMNAR) as stream:
            return io.BytesIO(stream.read())

    @contextmanager
    def reading(self, cost: limits.Cost | None = None) -> Iterator[Any]:
        """Open the content; errors while it is read become an InputError."""
        try:
            with self.open(cost) as stream:
                yield stream
        except UnicodeDecodeError:
            raise self._undecodable() from None
        except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
            if getattr(error, "errno", None) is not None:
                raise _unreadable(self.name, error) from None
            early = isinstance(error, EOFError) or "Truncated" in str(error)
            raise damaged(self.name, "compressed", "it ends too early" if early else error) from None

    def text(self, cost: limits.Cost) -> str:
        """Return the whole content as text; content that costs too much is not even kept."""
        with self.reading(cost) as stream:
            while stream.read(limits.BLOCK):
                pass
        with self.reading(cost) as stream:
            return bytes(stream.read()).decode(self.encoding)

    def lines(self) -> Iterator[str]:
        """Yield the lines with their line ends; none may be longer than the limit."""
        with self.reading() as stream:
            text = io.TextIOWrapper(stream, encoding=self.encoding, newline="")
            blank = 0
            for number, line in enumerate(iter(lambda: text.readline(LINE_LIMIT + 1), ""), 1):
                if len(line) > LINE_LIMIT:
                    most = f"at most {LINE_LIMIT >> 20} MB long; it is longer"
                    raise InputError(f"{self.name}, line {number} must be {most}. Check that this is a text file.")
                blank = self.blank_so_far(blank, number) if line.isspace() else 0
                yield line

    def blank_so_far(self, count: int, line: int) -> int:
        """Return how many blank lines or rows follow each other after one more, or raise if they are too many."""
        if count >= BLANK_LIMIT:
            most = f"at most {BLANK_LIMIT:,} blank lines in a row; it has more"
            raise InputError(f"{self.name} must have {most}, up to line {line}. Remove them.")
        return count + 1

    def first_lines(self, most: int) -> list[str]:
        """Return the first lines, from the first that is not blank."""
        lines = list(islice(dropwhile(lambda line: not line.strip(), self.lines()), most))
        if not lines:
            raise self.empty()
        return lines

    def empty(self) -> InputError:
        """Return the error for a file without content."""
        return InputError(f"{self.name} must hold rankings or data; it is empty.")

    def _undecodable(self) -> InputError:
        """Return the error for bytes that the encoding does not have, with the first line that is not UTF-8."""
        where, name = self.name, self.encoding.removesuffix("-sig").upper()
        with self.reading() as stream:
            lines = enumerate(iter(lambda: stream.readline(LINE_LIMIT), b""), 1)
            wrong = (number for number, line in lines if line.decode(errors="ignore").encode() != line)
            where += f", line {next(wrong)}" if name == "UTF-8" else ""
        remedy = "Save it as UTF-8: iconv -f LATIN1 -t UTF-8."
        return InputError(f"{where} must be {name}; it holds other bytes (Latin-1, perhaps). {remedy}")


class _Unpacked(limits.Stream):
    """The content of a bz2 or xz file; unlike the standard library's, it skips no damaged part at the end."""

    def __init__(self, stored: Any, decompressor: Callable[[], Any]) -> None:
        self._stored, self._decompressor = stored, decompressor
        self._part, self._waiting = decompressor(), b""

    def block(self, size: int) -> bytes:
        """Return the next bytes; a file may consist of several compressed parts, of xz with zeros after each."""
        while True:
            if self._part.eof:
                self._waiting = self._part.unused_data.lstrip(b"\0")
                while not self._waiting and (stored := self._stored.read(limits.BLOCK)):
                    self._waiting = stored.lstrip(b"\0")
                if not self._waiting:
                    return b""
                self._part = self._decompressor()
            elif self._part.needs_input and not self._waiting:
                self._waiting = self._stored.read(limits.BLOCK)
                if not self._waiting:
                    raise EOFError
            content: bytes = self._part.decompress(self._waiting, size)
            self._waiting = b""
            if content:
                return content


# A stream of the content, given one of what is stored.
UNPACK: dict[str, Callable[[Any], Any]] = {
    ".gz": lambda stored: gzip.GzipFile(fileobj=stored),
    ".zst": columnar.decompressed,
    ".bz2": lambda stored: io.BufferedReader(_Unpacked(stored, bz2.BZ2Decompressor)),
    ".xz": lambda stored: io.BufferedReader(_Unpacked(stored, lzma.LZMADecompressor)),
}


class Files:
    """The input files of one command or call: a file that is named several times is opened once."""

    def __init__(self, *paths: str | os.PathLike[str]) -> None:
        self._uses = Counter(map(_identity, paths))
        self._open: dict[Any, Document] = {}

    def open(self, path: str | os.PathLike[str], *, again: bool = False) -> Document:
        """Return a file, which is kept as long as it is needed again."""
        key = _identity(path)
        file = self._open.pop(key, None) or document(path)
        self._uses[key] -= not again
        if self._uses[key] > 0:
            self._open[key] = file
        return file


def _identity(path: str | os.PathLike[str]) -> Any:
    """Return what tells files apart: the name; of a pipe, which may have several, what the system calls it."""
    name = os.fspath(path)
    try:
        status = os.fstat(sys.stdin.fileno()) if name == "-" else os.stat(name)  # noqa: PTH116
    except (OSError, ValueError):
        return name
    return name if stat.S_ISREG(status.st_mode) or not status.st_ino else (status.st_dev, status.st_ino)


def exists(path: str) -> bool:
    """Return whether a path leads to something to read: a file, a pipe or standard input."""
    return path == "-" or (os.path.exists(path) and not os.path.isdir(path))  # noqa: PTH110, PTH112 - no error for any name


def document(path: str | os.PathLike[str]) -> Document:
    """Open the file at a path, or standard input for '-'."""
    name = os.fspath(path)
    if name == "-":
        file = _document("standard input", None, limits.Spool(sys.stdin.buffer, "standard input"))
    else:
        file = _opened(name, Path(name))
    if not file.head.strip():
        raise file.empty()
    return file


def _opened(name: str, path: Path) -> Document:
    """Return a file: a small one in memory, a large one open; a pipe or a device, which gives its content only once."""
    try:
        if path.is_dir():
            raise InputError(f"{name} must be a file; it is a folder. Name the files in it: {name.rstrip('/')}/*.")
        if not path.is_file() and path.exists():
            return _document(name, path, limits.Spool(path.open("rb"), name))
        return _document(name, path, limits.OpenFile(path), regular=True)
    except (FileNotFoundError, NotADirectoryError):
        raise _absent(path) from None
    except (OSError, ValueError) as error:
        raise error if isinstance(error, InputError) else _unreadable(name, error) from None


def _document(
    name: str, path: Path | None, source: limits.Spool | limits.OpenFile, *, regular: bool = False
) -> Document:
    """Return a document: a small one in memory, of a large one what is read when it is needed."""
    content = source.part(0, SMALL + MAGIC)
    small = len(content) < SMALL + MAGIC
    return Document(name, path, content if small else source, content[:MAGIC], regular)


def _unreadable(name: str, error: Exception) -> InputError:
    """Return the error for a file that the operating system does not let us read."""
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(f"{name} must be a readable file; the system reports: {reason}.")


def _absent(path: Path) -> InputError:
    """Return the error for a file that does not exist, with similar names."""
    if not path.parent.is_dir():
        return InputError(f"{path} must be a file; there is no folder {path.parent}. Check the path.")
    names = [other.name for other in path.parent.iterdir()]
    hint = did_you_mean(path.name, names, lambda name: str(path.parent / name))
    return InputError(f"{path} must be a file; there is none.{hint or ' Check the path.'}")
