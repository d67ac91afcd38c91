"""Files as bytes and lines: opening, decompression, encodings, and their errors. Imports columnar (zstd) and table."""

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
from fujiscore.io import columnar
from fujiscore.io.table import damaged, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

# Files up to this size are read into memory once and need no pyarrow, whose import takes 0.2 s.
SMALL = 1 << 20
HEAD = 1 << 16
MAGIC = 4  # first bytes, which tell the compression
LINE_LIMIT = 16 * 2**20
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
    content: bytes | None  # as stored, None if the file is large
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
        return self.content is None or len(self.content) > SMALL

    def open(self) -> Any:
        """Open the content, decompressed."""
        stored = self.path if self.content is None else io.BytesIO(self.content)
        if self.magic.startswith(GZIP):
            return gzip.open(stored, "rb")  # type: ignore[arg-type]
        if self.magic == ZSTD:
            return columnar.decompressed(stored)
        return stored if isinstance(stored, io.BytesIO) else Path(str(stored)).open("rb")

    def whole(self) -> str | BinaryIO:
        """Return what a columnar reader can seek in: the path, or the content in memory."""
        if self.content is None and not self.magic.startswith((GZIP, ZSTD)):
            return str(self.path)
        with self.reading() as stream:
            return io.BytesIO(stream.read())

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """Open the content; errors while it is read become an InputError."""
        try:
            with self.open() as stream:
                yield stream
        except UnicodeDecodeError:
            raise self._undecodable() from None
        except (EOFError, zlib.error, OSError) as error:
            if getattr(error, "errno", None) is not None:
                raise _unreadable(self.name, error) from None
            early = isinstance(error, EOFError) or "Truncated" in str(error)
            raise damaged(self.name, "compressed", "it ends too early" if early else error) from None

    def text(self) -> str:
        """Return the whole content as text."""
        with self.reading() as stream:
            return bytes(stream.read()).decode(self.encoding)

    def lines(self) -> Iterator[str]:
        """Yield the lines with their line ends; none may be longer than the limit."""
        with self.reading() as stream:
            text = io.TextIOWrapper(stream, encoding=self.encoding, newline="")
            for number, line in enumerate(iter(lambda: text.readline(LINE_LIMIT + 1), ""), 1):
                if len(line) > LINE_LIMIT:
                    most = f"at most {LINE_LIMIT >> 20} MB long; it is longer"
                    raise InputError(f"{self.name}, line {number} must be {most}. Check that this is a text file.")
                yield line

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
    content, complete = (sys.stdin.buffer.read(), True) if stored is None else _stored(name, stored)
    file = Document(label, stored, content if complete else None, content[:MAGIC])
    if not file.head.strip():
        raise file.empty()
    return file


def _stored(name: str, file: Path) -> tuple[bytes, bool]:
    """Return the first bytes of a file, and whether they are all; a pipe gives its content only once."""
    try:
        if file.is_dir():
            raise InputError(f"{name} must be a file; it is a folder. Name the files in it: {name.rstrip('/')}/*.")
        with file.open("rb") as raw:
            content = raw.read(SMALL + MAGIC)
            complete = len(content) < SMALL + MAGIC or not file.is_file()
            return (content + raw.read() if complete else content), complete
    except (FileNotFoundError, NotADirectoryError):
        raise _absent(file) from None
    except (OSError, ValueError) as error:
        raise error if isinstance(error, InputError) else _unreadable(name, error) from None


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
