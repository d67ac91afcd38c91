"""Files as bytes and lines: opening, decompression, encodings, and their errors. Imports columnar (zstd), limits."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import sys
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import dropwhile, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fujiscore.errors import InputError
from fujiscore.io import columnar, limits
from fujiscore.io.table import damaged, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

# Files up to this size are read into memory once and need no pyarrow, whose import takes 0.2 s.
SMALL = 1 << 20
HEAD = 1 << 16
MAGIC = 4  # first bytes, which tell the compression
LINE_LIMIT = 16 * 2**20
BLANK_LIMIT = 100_000  # blank lines one after the other
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
# Byte order marks; UTF-32's begins with UTF-16's.
MARKS = {
    "utf-8-sig": (codecs.BOM_UTF8,),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}


@dataclass(frozen=True)
class Document:
    """A file that can be read more than once, decompressed."""

    name: str
    path: Path | None  # None for standard input
    content: bytes | limits.Spool | None  # as stored, None if the file is large; that of a large pipe as it comes
    magic: bytes

    @property
    def unpacked(self) -> Path:
        """The path without the extension of a compression; "stdin" for standard input."""
        path = Path("stdin") if self.path is None else self.path
        return path.with_suffix("") if path.suffix.lower() in {".gz", ".zst"} else path

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
        return not (self.magic.startswith((GZIP, ZSTD)) or isinstance(self.content, limits.Spool))

    def open(self, cost: limits.Cost | None = None) -> Any:
        """Open the content, decompressed, with an error if reading it takes too much memory."""
        stored = self._stored()
        if self.magic.startswith(GZIP):
            stream: Any = gzip.GzipFile(stored) if isinstance(stored, Path) else gzip.GzipFile(fileobj=stored)
        elif self.magic == ZSTD:
            stream = columnar.decompressed(stored)
        else:
            stream = stored.open("rb") if isinstance(stored, Path) else stored
        if cost is None and self._plain:
            return stream
        return io.BufferedReader(limits.Metered(stream, self.name, cost or limits.TEXT), limits.BLOCK)

    def _stored(self) -> Any:
        """Return the content as it is stored: a path, or a stream from its start."""
        if isinstance(self.content, limits.Spool):
            return io.BufferedReader(limits.Replay(self.content), limits.BLOCK)
        return self.path if self.content is None else io.BytesIO(self.content)

    def whole(self) -> str | BinaryIO:
        """Return what a columnar reader can seek in: the path, or the content in memory."""
        if self.content is None and self._plain:
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
        except (EOFError, zlib.error, OSError) as error:
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


def document(path: str | os.PathLike[str]) -> Document:
    """Return the file at a path, or standard input for '-'."""
    name = os.fspath(path)
    label, stored = ("standard input", None) if name == "-" else (name, Path(name))
    content = _kept(sys.stdin.buffer, label) if stored is None else _stored(name, stored)
    first = content.content if isinstance(content, limits.Spool) else content
    cut = isinstance(content, bytes) and len(content) >= SMALL + MAGIC
    file = Document(label, stored, None if cut else content, bytes(first[:MAGIC]))
    if not file.head.strip():
        raise file.empty()
    return file


def _stored(name: str, file: Path) -> bytes | limits.Spool:
    """Return the first bytes of a file; a pipe or a device, which gives its content only once, with the rest."""
    try:
        if file.is_dir():
            raise InputError(f"{name} must be a file; it is a folder. Name the files in it: {name.rstrip('/')}/*.")
        if not file.is_file() and file.exists():
            return _kept(file.open("rb"), name)
        with file.open("rb") as raw:
            return raw.read(SMALL + MAGIC)
    except (FileNotFoundError, NotADirectoryError):
        raise _absent(file) from None
    except (OSError, ValueError) as error:
        raise error if isinstance(error, InputError) else _unreadable(name, error) from None


def _kept(stream: Any, name: str) -> bytes | limits.Spool:
    """Return the content of a stream, which is read as far as it is needed if it is large."""
    spool = limits.Spool(stream, name)
    return spool if len(spool.fill(SMALL + MAGIC)) >= SMALL + MAGIC else bytes(spool.content)


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
