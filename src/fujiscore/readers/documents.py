"""Files as bytes and lines: opening, decompression, encodings, and what goes wrong with them. Imports errors."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import sys
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fujiscore.errors import InputError
from fujiscore.readers import columnar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

HEAD = 1 << 16
LINE_LIMIT = 16 * 2**20
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
PACKED = (".gz", ".zst")
# The longer marks come first: UTF-32's begins with UTF-16's.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Document:
    """A file that can be read more than once, decompressed; pipes and standard input are kept in memory."""

    name: str
    path: Path | None
    content: bytes | None = None
    head: bytes = b""

    @property
    def stem(self) -> str:
        """The file's name without folder and extensions, which names its ranking."""
        return "stdin" if self.path is None else self._bare.stem

    @property
    def suffix(self) -> str:
        """The extension, in lower case, without that of a compression."""
        return self._bare.suffix.lower()

    @property
    def _bare(self) -> Path:
        """The path without the extension of a compression."""
        path = Path() if self.path is None else self.path
        return path.with_suffix("") if path.suffix.lower() in PACKED else path

    @property
    def encoding(self) -> str:
        """The encoding that a byte order mark tells, or else UTF-8."""
        return next((name for mark, name in MARKS if self.head.startswith(mark)), "utf-8")

    def _magic(self) -> bytes:
        """Return the first bytes of the file as it is stored."""
        if self.content is not None or self.path is None:
            return (self.content or b"")[:4]
        with self.path.open("rb") as raw:
            return raw.read(4)

    def open(self) -> Any:
        """Open the content, decompressed."""
        magic = self._magic()
        stored = io.BytesIO(self.content) if self.content is not None else self.path
        if magic.startswith(GZIP):
            return gzip.open(stored, "rb")  # type: ignore[arg-type]
        if magic == ZSTD:
            return columnar.decompressed(stored)
        return stored if isinstance(stored, io.BytesIO) else Path(str(stored)).open("rb")

    def whole(self) -> str | BinaryIO:
        """Return what a reader of columns can move about in: the path, or the content in memory."""
        if self.content is None and self.path is not None and not self._magic().startswith((GZIP, ZSTD)):
            return str(self.path)
        with self.reading() as stream:
            return io.BytesIO(stream.read())

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """Open the content; whatever goes wrong while it is read becomes an error that says so."""
        try:
            with self.open() as stream:
                yield stream
        except PermissionError:
            raise InputError(f"{self.name} must be readable; permission is denied. Check its access rights.") from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self._damaged(error) from None
        except OSError as error:
            raise self._damaged(error) if error.errno is None else unreadable(self.name, error) from None

    def _damaged(self, error: Exception) -> InputError:
        """Return the error for a compressed file that ends early or is corrupt."""
        reason = "it ends too early" if isinstance(error, EOFError) or "Truncated" in str(error) else str(error)
        return InputError(f"{self.name} must be a whole compressed file; {reason}. Copy or compress it again.")

    def text(self) -> str:
        """Return the whole content as text."""
        with self.reading() as stream:
            content: bytes = stream.read()
        try:
            return content.decode(self.encoding)
        except UnicodeDecodeError as error:
            raise self._undecodable(content[: error.start].count(b"\n") + 1) from None

    def lines(self) -> Iterator[str]:
        """Yield the lines with their ends, whichever these are; none may be longer than the limit."""
        with self.reading() as stream:
            text = io.TextIOWrapper(stream, encoding=self.encoding, newline="")
            number = 0
            try:
                while line := text.readline(LINE_LIMIT + 1):
                    number += 1
                    if len(line) > LINE_LIMIT:
                        raise InputError(
                            f"{self.name}, line {number} must be at most {LINE_LIMIT >> 20} MB long; it is longer. "
                            "Check that it is a text file with a line an item."
                        )
                    yield line
            except UnicodeDecodeError:
                raise self._undecodable(self._undecodable_line()) from None

    def _undecodable_line(self) -> int | None:
        """Return the number of the first line that is not UTF-8."""
        with self.reading() as stream:
            number = 0
            while line := stream.readline(LINE_LIMIT):
                number += 1
                try:
                    line.decode()
                except UnicodeDecodeError:
                    return number
        return None

    def _undecodable(self, line: int | None) -> InputError:
        """Return the error for bytes that are not the encoding's."""
        name = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8"}.get(self.encoding, self.encoding.upper())
        where = self.name if line is None or name != "UTF-8" else f"{self.name}, line {line}"
        return InputError(
            f"{where} must be {name}; it holds other bytes (Latin-1, perhaps). Save it as UTF-8: "
            "iconv -f LATIN1 -t UTF-8."
        )


def unreadable(name: str, error: Exception) -> InputError:
    """Return the error for a file that the system does not let us read."""
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(f"{name} must be a readable file; the system says: {reason}.")


def document(path: str | os.PathLike[str]) -> Document:
    """Return the file of a path, or of standard input for '-'."""
    name = os.fspath(path)
    if name == "-":
        found = Document("standard input", None, sys.stdin.buffer.read())
    else:
        own = Path(name)
        content = None
        try:
            if not own.exists():
                raise _absent(own)
            if own.is_dir():
                raise InputError(f"{name} must be a file; it is a folder. Name the files in it: {name.rstrip('/')}/*.")
            if not own.is_file():  # a pipe gives its content only once
                content = own.read_bytes()
        except (OSError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise unreadable(name, error) from None
        found = Document(name, own, content)
    with found.reading() as stream:
        head = stream.read(HEAD)
    if not head.strip():
        raise InputError(f"{found.name} must hold a ranking; it is empty.")
    return Document(found.name, found.path, found.content, head)


def _absent(path: Path) -> InputError:
    """Return the error for a file that is not there, with names near it."""
    if not path.parent.is_dir():
        return InputError(f"{path} must be a file; there is no folder {path.parent}. Check the path.")
    names = [other.name for other in path.parent.iterdir()]
    close = get_close_matches(path.name, names, 3, 0.6)
    hint = f"Did you mean {' or '.join(str(path.parent / name) for name in close)}?" if close else "Check the path."
    return InputError(f"{path} must be a file; there is none. {hint}")
