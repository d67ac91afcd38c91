"""Cut work into tiles and run them on any concurrent.futures Executor, with a progress bar. Imports errors only.

A tile is a picklable function of arrays; results come back in the order of the tiles, so that they do not depend
on the number of workers.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from contextvars import copy_context
from operator import index
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from fujiscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor, Future

T = TypeVar("T")

# A progress bar appears only for work that takes longer than this many seconds: it would flicker.
PATIENCE = 1.5


def workers(n_jobs: Any) -> int:
    """Return the number of threads that n_jobs stands for: all cores for None or -1."""
    try:
        jobs = -1 if n_jobs is None else 0 if isinstance(n_jobs, bool) else index(n_jobs)
    except TypeError:
        jobs = 0
    if jobs == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if jobs < 1:
        raise InputError(f"n_jobs must be a positive number of threads, or None for all cores; got {n_jobs!r}.")
    return jobs


def spans(total: int, size: int) -> Iterator[tuple[int, int]]:
    """Cut 0..total into (start, stop) spans of at most `size`."""
    for start in range(0, total, size):
        yield start, min(start + size, total)


def run(
    function: Callable[..., T],
    tiles: Sequence[tuple[Any, ...]],
    *,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
    label: str = "",
    finished: int = 0,
) -> list[T]:
    """Return function(*tile) for every tile, in order; the progress bar counts those finished earlier too.

    Without an executor, threads are used (and none where one is enough). On an error or Ctrl-C the tiles not yet
    started are cancelled.
    """
    with progress_bar(finished + len(tiles), label, progress=progress, initial=finished) as count:
        if executor is not None:
            return _submit(executor, function, tiles, count)
        results: list[Any] = [None] * len(tiles)

        def work(_worker: int, task: int) -> None:
            results[task] = function(*tiles[task])
            count(1)

        spread(len(tiles), work, workers(n_jobs))
        return results


@contextmanager
def _threads(number: int) -> Iterator[Executor]:
    """Yield a pool of threads; Ctrl-C does not wait for what they still compute."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(number)
    interrupted = False
    try:
        yield pool
    except KeyboardInterrupt:
        interrupted = True
        raise
    finally:
        pool.shutdown(wait=not interrupted, cancel_futures=interrupted)


def _submit(
    executor: Executor, function: Callable[..., T], tiles: Iterable[tuple[Any, ...]], finished: Callable[[int], object]
) -> list[T]:
    """Submit every tile and collect the results in order."""
    from concurrent.futures import FIRST_COMPLETED, wait

    futures: list[Future[T]] = [executor.submit(function, *tile) for tile in tiles]
    waiting = set(futures)
    try:
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
            finished(len(done))
    except BaseException:
        for future in futures:
            future.cancel()
        raise
    return [future.result() for future in futures]


def spread(count: int, work: Callable[[int, int], object], threads: int) -> None:
    """Call work(worker, task) for every task below `count`, each on one of the workers below `threads`.

    A worker runs one task at a time, so that it may have buffers of its own; a single one is this thread. An error, or
    an interrupt, stops the workers after their present task.
    """
    lock = Lock()
    tasks = iter(range(count))
    stopped = False

    def take_tasks(worker: int) -> None:
        nonlocal stopped
        while not stopped:
            with lock:
                task = next(tasks, None)
            if task is None:
                return
            try:
                work(worker, task)
            except BaseException:
                stopped = True
                raise

    number = min(threads, count)
    if number <= 1:
        take_tasks(0)
        return
    with _threads(number) as pool:
        # With the caller's context: messages are spelled as the caller has them.
        futures = [pool.submit(copy_context().run, take_tasks, worker) for worker in range(number)]
        try:
            for future in futures:
                future.result()
        finally:
            stopped = True


def shows_progress(*, progress: bool | None) -> bool:
    """Return whether a bar may appear: as told, or, where None, if there is a terminal or a notebook to draw it in."""
    if sys.stderr is None or getattr(sys.stderr, "closed", False):
        return False
    return bool("ipykernel" in sys.modules or sys.stderr.isatty() if progress is None else progress)


@contextmanager
def progress_bar(
    total: int, label: str, *, progress: bool | None, initial: int = 0
) -> Iterator[Callable[[int], object]]:
    """Yield a function that counts finished units; unless forced, the bar appears once the work has taken a while."""
    if not shows_progress(progress=progress):
        yield lambda _: None
        return
    from tqdm import tqdm

    delay = 0.0 if progress else PATIENCE
    with tqdm(total=total, desc=label, delay=delay, leave=False, initial=initial) as bar:
        lock = Lock()

        def finished(units: int) -> None:
            with lock:
                bar.update(units)

        yield finished
