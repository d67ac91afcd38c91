"""What a signal does to the command `fuji`: it ends without a traceback, with the exit code that shells expect.

At once while the command starts and after it has finished; by an exception while it works, so that it cleans up what
it has begun. The package takes the signals of its own command only.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

# Windows has no SIGHUP.
NAMES = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "terminated: the terminal was closed"}
# Seconds for cleaning up, in which further signals are ignored.
GRACE = 5.0


class Stopped(KeyboardInterrupt):
    """A signal to the command while it works."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Handler:
    """The handler of the signals that end the command."""

    def __init__(self) -> None:
        self.working = False
        self.stopped = 0  # the signal that came while working
        self.since = 0.0

    def install(self) -> None:
        """Take the signals, except those that whoever started the command wants ignored (nohup)."""
        for name in NAMES:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
                signal.signal(number, self)
        sys.unraisablehook = self.unraisable

    def __call__(self, number: int, _frame: Any) -> None:
        """Stop the work, or leave."""
        if self.working and not self.stopped:
            self.stopped, self.since = number, time.monotonic()
            raise Stopped(number)
        if not self.stopped or time.monotonic() - self.since > GRACE:
            os._exit(128 + number)

    def unraisable(self, ignored: Any) -> None:
        """Send a signal again that came where Python only prints exceptions: in a finalizer or a callback."""
        if not isinstance(ignored.exc_value, Stopped):
            sys.__unraisablehook__(ignored)
        elif self.working:
            self.stopped = 0
            from threading import Timer

            again = Timer(0.01, os.kill, (os.getpid(), ignored.exc_value.number))
            again.daemon = True
            again.start()

    @property
    def code(self) -> int:
        """The exit code after a signal."""
        return 128 + (self.stopped or signal.SIGINT)

    @property
    def said(self) -> str:
        """What happened, for the user."""
        return NAMES[signal.Signals(self.stopped or signal.SIGINT).name]


def is_command() -> bool:
    """Return whether this process is the command: `fuji`, or `python -m fujiscore`."""
    program, words = (getattr(sys, "argv", None) or [""])[0], sys.orig_argv
    if program == "-m":  # the package that holds the module to run is still being imported
        return words[words.index("-m") + 1] == "fujiscore" if "-m" in words else False
    if os.path.basename(program) != "fuji":  # noqa: PTH119 - pathlib is not loaded yet
        return False
    try:
        with open(program, "rb") as script:  # noqa: PTH123
            return b"fujiscore.cli" in script.read()
    except OSError:
        return False


handler = Handler()
if is_command():
    handler.install()
