"""Standard streams that cannot fail a command: closed, full, or with no reader left."""

from __future__ import annotations

import io
import os
import sys
from errno import EBADF
from select import select
from typing import Any


class StandardStream(io.FileIO):
    """Standard output or error that goes on after an error, and keeps the first one."""

    error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write what can be written."""
        try:
            while (written := super().write(data)) is None:  # someone has made it non-blocking
                select([], [self], [])
        except OSError as error:
            self.error = self.error or error
            return len(data)
        return written


def guard() -> None:
    """Put such streams in place; those that were closed when Python started are empty, and fail to be written."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # Whatever is opened next would get the number, and what libraries write there.
            opened = os.open(os.devnull, os.O_RDONLY)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, "rw"[number > 0], encoding="utf-8", closefd=False))  # noqa: SIM115
    for number, name in ((1, "stdout"), (2, "stderr")):
        stream = getattr(sys, name)
        raw = _raw(stream)
        if type(raw) is io.FileIO and raw.fileno() == number:  # not a console of Windows, or what a program put there
            options = {
                "encoding": stream.encoding,
                "errors": "backslashreplace",
                "line_buffering": stream.line_buffering,
            }
            stream.flush()
            setattr(
                sys, name, io.TextIOWrapper(io.BufferedWriter(StandardStream(number, "w", closefd=False)), **options)
            )


def _raw(stream: Any) -> Any:
    """Return what lies beneath a stream's buffers."""
    buffer = getattr(stream, "buffer", None)
    return getattr(buffer, "raw", buffer)


def undelivered() -> str:
    """Return why standard output was not written in full; nothing if its reader did not want more."""
    sys.stdout.flush()
    error = getattr(_raw(sys.stdout), "error", None)
    if error is None or isinstance(error, BrokenPipeError):
        return ""
    return "it is closed" if error.errno == EBADF else str(error.strerror)
