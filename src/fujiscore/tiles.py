"""Cut work into tiles and run them on any concurrent.futures Executor. Imports errors only.

A tile is a picklable function of arrays; results come back in the order of the tiles, so that they do not depend
on the number of workers.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, TypeVar

from fujiscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

T = TypeVar("T")

# A progress bar appears only for work that takes longer than this many seconds.
PATIENCE = 1.5


def workers(n_jobs: int | None) -> int:
    """Return the number of threads for n_jobs: all cores for None or -1."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None or n_jobs == -1:
        return cores
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or n_jobs < 1:
        raise InputError(f"n_jobs must be a positive number of threads, or None for all cores; got {n_jobs!r}.")
    return n_jobs


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
) -> list[T]:
    """Return function(*tile) for every tile, in order.

    Without an executor, threads are used (and none where one is enough). On an error or Ctrl-C the tiles not yet
    started are cancelled.
    """
    with _Bar(len(tiles), label, progress=progress) as tick:
        if executor is not None:
            return _submit(executor, function, tiles, tick)
        threads = min(workers(n_jobs), len(tiles))
        if threads <= 1:
            return [tick(function(*tile)) for tile in tiles]
        with ThreadPoolExecutor(threads) as pool:
            return _submit(pool, function, tiles, tick)


def _submit(
    executor: Executor, function: Callable[..., T], tiles: Iterable[tuple[Any, ...]], tick: Callable[[Any], Any]
) -> list[T]:
    """Submit every tile and collect the results in order."""
    futures: list[Future[T]] = [executor.submit(function, *tile) for tile in tiles]
    waiting = set(futures)
    try:
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                tick(future.result())
    except BaseException:
        for future in futures:
            future.cancel()
        raise
    return [future.result() for future in futures]


class _Bar:
    """A progress bar over tiles: None shows it on a terminal, if the work takes a while; True always, False never."""

    def __init__(self, total: int, label: str, *, progress: bool | None) -> None:
        shown = sys.stderr.isatty() or "ipykernel" in sys.modules if progress is None else progress
        self.bar: Any = None
        if shown:
            from tqdm import tqdm

            self.bar = tqdm(total=total, desc=label, delay=0.0 if progress else PATIENCE, leave=False)

    def __enter__(self) -> Callable[[T], T]:
        return self.tick

    def tick(self, result: T) -> T:
        """Count one tile and pass its result on."""
        if self.bar is not None:
            self.bar.update()
        return result

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()
