"""Cut work into tiles and run them on threads or any executor, with a progress bar.

A tile is a picklable function of arrays; results come back in the order of the tiles, so that they do not depend
on the number of workers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from contextvars import copy_context
from operator import index
from threading import Lock
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from fujiscore.errors import InputError

if TYPE_CHECKING:
    from fujiscore.work.checkpoint import Finished

T = TypeVar("T")

# A progress bar appears only for work that takes longer than this many seconds: it would flicker.
PATIENCE = 1.5


class Execution(TypedDict, total=False):
    """Where work is done, and whether its progress is shown."""

    n_jobs: int | None
    executor: Any
    progress: bool | None


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
    shared: tuple[Any, ...] = (),
    kept: Finished | None = None,
    n_jobs: int | None = None,
    executor: Any = None,
    progress: bool | None = None,
    label: str = "",
) -> list[T]:
    """Return function(*shared, *tile) for every tile, in order.

    What tiles share reaches each worker once, not once per tile. Results that `kept` holds from an earlier run are
    not computed again, and new ones are kept by this process as they arrive. Without an executor, threads are used
    (and none where one is enough). On an error or Ctrl-C the tiles not yet started are cancelled.
    """
    results: list[Any] = [None if kept is None else kept.load(number) for number in range(len(tiles))]
    missing = [number for number, result in enumerate(results) if result is None]
    earlier = len(tiles) - len(missing)
    with progress_bar(len(tiles), label, progress=progress, initial=earlier) as count:

        def keep(task: int, result: T) -> None:
            number = missing[task]
            if kept is not None:
                kept.save(number, result)
            results[number] = result
            count(1)

        if executor is None:
            spread(len(missing), lambda _, task: keep(task, function(*shared, *tiles[missing[task]])), workers(n_jobs))
        elif missing:
            from fujiscore.work.executors import completed

            with closing(completed(executor, function, shared, [tiles[number] for number in missing])) as arriving:
                for task, result in arriving:
                    keep(task, result)
    return results


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
    from concurrent.futures import ThreadPoolExecutor

    pool, interrupted = ThreadPoolExecutor(number), False
    try:
        # With the caller's context: messages are spelled as the caller has them.
        for future in [pool.submit(copy_context().run, take_tasks, worker) for worker in range(number)]:
            future.result()
    except KeyboardInterrupt:  # does not wait for what the threads still compute
        interrupted = True
        raise
    finally:
        stopped = True
        pool.shutdown(wait=not interrupted, cancel_futures=interrupted)


def shows_progress(*, progress: bool | None) -> bool:
    """Return whether a bar may appear: as asked, or, where None, if there is a terminal or a notebook to draw it in."""
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
