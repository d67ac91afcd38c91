"""Worker processes that try one case after the other, and a parent that survives what they die of."""

from __future__ import annotations

import faulthandler
import json
import multiprocessing as mp
import os
import re
import resource
import shutil
import signal
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from time import monotonic
from typing import Any

LIMIT = 5  # seconds of a case, after which it hangs
START = 120.0  # seconds in which a worker must be ready
MEMORY = 4 << 30  # bytes of address space
OURS = {"case.json", "failure.txt", "stack.txt"}  # beside the files of a case
KEPT = 3  # cases kept of each kind of failure

# Makes the case of an index in a folder, and returns how it counts and what to try: that returns "read" or "refused".
Prepare = Callable[[int, Path], tuple[str, Callable[[], str]]]


@dataclass
class Tally:
    """Outcomes per format, and failures by what they have in common."""

    keep: Path
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: dict[str, list[str]] = field(default_factory=dict)

    def failed(self, name: str, format: str, slot: Path, kind: str, message: str) -> None:
        """Count a failure, and keep the first files of its kind with all that repeats it."""
        self.outcomes[format, "failed"] += 1
        names = self.failures.setdefault(kind, [])
        names.append(name)
        if len(names) <= KEPT:
            folder = self.keep / name
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(slot, folder, symlinks=True)
            (folder / "failure.txt").write_text(message, encoding="utf-8", errors="backslashreplace")
            files = [path.name for path in sorted(folder.iterdir()) if path.name not in OURS]
            print(f"\nFAILED {kind}\n  files   {folder}: {', '.join(files)}", flush=True)
            print(f"  repeat  python -m fuzz --repeat {folder}", flush=True)


def outcome(attempt: Callable[[], str], allowed: tuple[type[BaseException], ...]) -> tuple[str, str, str]:
    """Return how an attempt ended ("read", "refused" or "failed"), its kind of failure, and the traceback."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return attempt(), "", ""
    except allowed as error:
        one_line = str(error).isprintable()
        return ("refused", "", "") if one_line else ("failed", "a message must be one line", repr(str(error)))
    except BaseException as error:  # noqa: BLE001 - whatever it is, it must not leave the readers
        stack = traceback.extract_tb(error.__traceback__)
        inside = [f"{Path(frame.filename).name}:{frame.name}" for frame in stack if "fujiscore" in frame.filename]
        words = str(error).partition(";")[0][:100] if isinstance(error, AssertionError) else " > ".join(inside[-2:])
        kind = f"{type(error).__name__}: {words or re.sub('[0-9]+', 'N', str(error)[:80])}"
        return "failed", kind, "".join(traceback.format_exception(error))


def work(channel: Any, prepare_all: Callable[[], Prepare], indices: list[int], slot: Path, allowed: Any) -> None:
    """Try one case after the other, and tell the parent before and after each."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    prepare = prepare_all()
    channel.send(("ready",))
    for index in indices:
        shutil.rmtree(slot, ignore_errors=True)
        slot.mkdir(parents=True)
        counts_as, attempt = prepare(index, slot)
        with (slot / "stack.txt").open("w") as stack:
            faulthandler.enable(stack)
            faulthandler.dump_traceback_later(LIMIT * 0.8, file=stack)
            channel.send(("start", index, counts_as))
            ended = outcome(attempt, allowed)
            faulthandler.cancel_dump_traceback_later()
            faulthandler.disable()
        channel.send(("end", *ended))
        channel.recv()  # the parent may have to keep the files
    channel.send(("done",))


class Worker:
    """A worker process as the parent sees it."""

    def __init__(self, arguments: tuple[Any, ...], indices: list[int], slot: Path) -> None:
        self.arguments, self.indices, self.slot = arguments, indices, slot
        self.again = -1  # the case that was too slow once
        self.index, self.format = -1, ""
        self.start()

    def start(self) -> None:
        """Start the process, for the cases that are left."""
        prepare_all, allowed = self.arguments
        self.channel, theirs = mp.Pipe()
        arguments = (theirs, prepare_all, self.indices, self.slot, allowed)
        self.process = mp.get_context("fork").Process(target=work, args=arguments)
        self.process.start()
        theirs.close()
        self.deadline = monotonic() + START

    def leave(self, index: int) -> None:
        """Go on after a case."""
        self.indices = [other for other in self.indices if other > index]


def campaign(
    kind: str,
    prepare_all: Callable[[], Prepare],
    count: int,
    tally: Tally,
    scratch: Path,
    allowed: Any,
    *,
    limit: float,
) -> None:
    """Try `count` cases in two processes."""
    if not count:
        return
    workers = [
        Worker((prepare_all, allowed), list(range(first, count, 2)), scratch / f"{kind}-{first}")
        for first in range(min(2, count))
    ]
    while workers:
        ready = wait([worker.channel for worker in workers], timeout=0.5)
        for worker in list(workers):
            if worker.channel in ready:
                try:
                    message = worker.channel.recv()
                except EOFError:
                    _died(kind, worker, tally)
                else:
                    _hear(kind, worker, message, tally, limit)
            elif monotonic() > worker.deadline:
                _hung(kind, worker, tally)
            if not worker.indices:
                worker.process.join()
                workers.remove(worker)


def _hear(kind: str, worker: Worker, message: tuple[Any, ...], tally: Tally, limit: float) -> None:
    """Act on a worker's message."""
    match message:
        case ("start", index, counts_as):
            worker.index, worker.format = index, counts_as
            worker.deadline = monotonic() + limit
        case ("end", "failed", what, text):
            tally.failed(f"{kind}-{worker.index}", worker.format, worker.slot, what, text)
        case ("end", word, _, _):
            tally.outcomes[worker.format, word] += 1
    if message[0] == "end":
        worker.leave(worker.index)
        worker.deadline = monotonic() + START
        worker.channel.send("go on")


def _died(kind: str, worker: Worker, tally: Tally) -> None:
    """Keep the case that a worker died of, and go on behind it."""
    worker.process.join()
    code = worker.process.exitcode or 0
    word = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    if worker.index not in worker.indices:
        raise SystemExit(f"a worker of {kind} ended between two cases: {word}")
    tally.failed(f"{kind}-{worker.index}", worker.format, worker.slot, f"{word} while reading {worker.format}", word)
    worker.leave(worker.index)
    worker.start()


def _hung(kind: str, worker: Worker, tally: Tally) -> None:
    """Stop a worker that takes too long; a case that does so twice hangs, once may be a busy machine."""
    os.kill(worker.process.pid or 0, signal.SIGKILL)
    worker.process.join()
    if worker.again == worker.index:
        tally.failed(
            f"{kind}-{worker.index}", worker.format, worker.slot, f"hang while reading {worker.format}", "hang"
        )
        worker.leave(worker.index)
    worker.again = worker.index
    worker.start()


def described(case: dict[str, Any], slot: Path) -> None:
    """Write what repeats a case beside its files."""
    (slot / "case.json").write_text(json.dumps(case), encoding="utf-8")
