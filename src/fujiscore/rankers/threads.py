"""Work spread over threads that run nogil kernels, with an optional progress bar. Imports errors only."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from operator import index
from threading import Lock
from typing import TYPE_CHECKING

from fujiscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# A bar for work that is over at once would only flicker.
SECONDS_BEFORE_BAR = 1.5


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for: None or -1 for all cores, else the number itself."""
    try:
        jobs = -1 if n_jobs is None else index(n_jobs)
    except TypeError:
        jobs = 0
    if jobs == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if jobs < 1:
        raise InputError(f"n_jobs must be a number of threads from 1, or None for all cores; got {n_jobs!r}.")
    return jobs


def shows_progress(progress: bool | None) -> bool:  # noqa: FBT001
    """Return whether a bar may appear: as told, or, where None, if there is a terminal to draw it on."""
    return bool(sys.stderr and sys.stderr.isatty()) if progress is None else bool(progress)


@contextmanager
def progress_bar(total: int, label: str, progress: bool | None) -> Iterator[Callable[[int], object]]:  # noqa: FBT001
    """Yield a function that counts finished units; the bar appears once the work has taken a while."""
    if not shows_progress(progress):
        yield lambda _: None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc=label, delay=SECONDS_BEFORE_BAR, leave=False) as bar:
        lock = Lock()

        def finished(units: int) -> None:
            with lock:
                bar.update(units)

        yield finished


def spread(count: int, work: Callable[[int, int], object], threads: int) -> None:
    """Call work(worker, task) for every task below `count`, each on one of the workers below `threads`.

    A worker runs one task at a time, so that it may have buffers of its own. An error, or an interrupt, stops the
    workers after their present task.
    """
    lock = Lock()
    tasks = iter(range(count))
    stopped = False

    def run(worker: int) -> None:
        while not stopped:
            with lock:
                task = next(tasks, None)
            if task is None:
                return
            work(worker, task)

    workers = max(1, min(threads, count))
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(run, worker) for worker in range(workers)]
        try:
            for future in futures:
                future.result()
        finally:
            stopped = True
