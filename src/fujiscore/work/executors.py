"""Run tiles on executors and clusters; what all tiles share reaches each worker once.

Threads share the memory. Other processes read what is shared from a temporary file, once each. Dask's workers get it
from the client or from each other, and what is lost with a worker is sent again.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from tempfile import mkstemp
from typing import TYPE_CHECKING, Any

from fujiscore._version import __version__
from fujiscore.errors import InputError, MissingExtraError, counted, first_few, shown, spelled

if TYPE_CHECKING:
    Tiles = Sequence[tuple[Any, ...]]
    Results = Generator[tuple[int, Any]]

# How often in a row tiles are sent again without one of them finishing. Dask itself has tried each on four workers.
ATTEMPTS = 3
# Seconds to wait for a scheduler, and for its first worker.
PATIENCE = 5


def completed(executor: Any, function: Callable[..., Any], shared: tuple[Any, ...], tiles: Tiles) -> Results:
    """Yield the number and function(*shared, *tile) of every tile as it finishes; closing cancels those not started."""
    client, options = _dask_client(executor)
    if client is not None:
        yield from _on_dask(client, options, function, shared, tiles)
    elif isinstance(executor, ThreadPoolExecutor) or (not shared and isinstance(executor, Executor)):
        yield from _on_pool(executor, partial(function, *shared), tiles)
    elif isinstance(executor, Executor):
        with _stored(shared) as path:
            yield from _on_pool(executor, partial(_with_stored, path, function), tiles)
    else:
        raise InputError(
            f"{spelled('executor')} must be a concurrent.futures Executor or a Dask client; got {shown(executor)}. "
            "A Dask cluster gives a client by get_client()."
        )


def _on_pool(executor: Executor, call: Callable[..., Any], tiles: Tiles) -> Results:
    """Yield the results of a pool of threads or processes."""
    numbers: dict[Any, int] = {}
    try:
        for number, tile in enumerate(tiles):
            numbers[executor.submit(call, *tile)] = number
        for future in as_completed(numbers):
            yield numbers[future], future.result()
    except BrokenExecutor as error:
        raise InputError(
            f"{spelled('executor')} broke: one of its workers died ({error}). A new executor can start again"
            f"{_or_resume()}; if it happens again, the workers may need more memory."
        ) from error
    finally:
        for future in numbers:
            future.cancel()


def _or_resume() -> str:
    """Return how not to lose what is finished."""
    return f" ({spelled('checkpoint', 'DIR')}, where there is one, keeps what is finished)"


@contextmanager
def _stored(shared: tuple[Any, ...]) -> Iterator[str]:
    """Yield the path of a temporary file that holds what tiles share."""
    descriptor, path = mkstemp(prefix="fujiscore-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            pickle.dump(shared, file, pickle.HIGHEST_PROTOCOL)
        yield path
    finally:
        Path(path).unlink()


def _with_stored(path: str, function: Callable[..., Any], *tile: Any) -> Any:
    """Run one tile in a process that does not share our memory."""
    return function(*_load(path), *tile)


@lru_cache(maxsize=1)
def _load(path: str) -> tuple[Any, ...]:
    """Return what tiles share: read once per process and kept until another computation begins."""
    try:
        with Path(path).open("rb") as file:
            shared: tuple[Any, ...] = pickle.load(file)  # noqa: S301 - written by `_stored`, for us alone to read
    except FileNotFoundError:
        raise InputError(
            f"{spelled('executor')} must have workers that can read {path}; one of them cannot. If they are on other "
            "machines, set TMPDIR to a folder that all of them share, or pass a Dask client."
        ) from None
    return shared


# Dask


def _dask_client(executor: Any) -> tuple[Any, dict[str, Any]]:
    """Return the Dask client behind an executor and its options for tasks; (None, {}) if it is none of Dask's."""
    distributed = sys.modules.get("distributed")
    if distributed is None or executor is None:
        return None, {}
    if isinstance(executor, distributed.Client):
        return executor, {}
    if isinstance(executor, import_module("distributed.cfexecutor").ClientExecutor):
        return executor._client, {**executor._kwargs, "pure": False}  # noqa: SLF001 - it has no public way to them
    return None, {}


def _on_dask(
    client: Any, options: dict[str, Any], function: Callable[..., Any], shared: tuple[Any, ...], tiles: Tiles
) -> Results:
    """Yield the results of a Dask cluster; tiles lost with workers, or with what they share, are sent again."""
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    if client.asynchronous:
        raise InputError(f"{spelled('executor')} must be a Dask client that blocks; got one with asynchronous=True.")
    if client.status != "running":
        raise InputError(f"{spelled('executor')} must be a Dask client with a scheduler; it is {client.status}.")
    waiting = dict(enumerate(tiles))
    attempts = 0
    while waiting:
        try:
            for number, result in _attempt(client, options, function, shared, waiting):
                del waiting[number]
                attempts = 0
                yield number, result
        except (CancelledError, KilledWorker, CommClosedError) as error:
            attempts += 1
            if client.status != "running":
                raise InputError(
                    f"{spelled('executor')} lost its Dask scheduler. Start again{_or_resume()}."
                ) from error
            if attempts == ATTEMPTS:
                raise InputError(
                    f"{spelled('executor')} lost its workers time and again: {counted(len(waiting), 'tile')} of "
                    f"{len(tiles)} did not finish. "
                    f"The workers may need more memory; their logs say more. Start again{_or_resume()}."
                ) from error


def _attempt(
    client: Any,
    options: dict[str, Any],
    function: Callable[..., Any],
    shared: tuple[Any, ...],
    waiting: dict[int, tuple[Any, ...]],
) -> Results:
    """Send what tiles share, and the tiles; yield the results until one of them is lost."""
    from distributed import as_completed as arriving
    from distributed.protocol.pickle import dumps, loads

    client.wait_for_workers(1)
    check_versions(client)
    try:
        # To one worker, from which the others fetch it: a broadcast hangs if a worker dies meanwhile.
        common = client.scatter([_Shared(shared)], hash=False)
    except (OSError, KeyError) as error:  # workers died, or none was there in time
        raise CancelledError(str(error)) from error
    sent = [dumps(tile) for tile in waiting.values()]
    futures = client.map(partial(_on_worker, function), common * len(waiting), sent, **{"pure": False, **options})
    numbers = dict(zip(futures, waiting, strict=True))
    try:
        for batch in arriving(futures, loop=client.loop).batches():
            done = list(batch)
            for future, result in zip(done, client.gather(done), strict=True):
                yield numbers[future], loads(result)
    except (ImportError, RuntimeError):
        check_versions(client)  # of workers that came later
        raise
    finally:
        client.cancel(futures)


class _Shared:
    """What tiles share, on its way to Dask's workers, which unpack it once.

    Dask puts arrays at odd addresses, at which NumPy sums in another order and kernels are compiled anew: they are
    copied to even ones. Tiles and results, which are small, travel as bytes.
    """

    def __init__(self, parts: tuple[Any, ...]) -> None:
        self.parts = parts

    def __reduce__(self) -> tuple[Callable[..., _Shared], tuple[Any, ...]]:
        """Return the content, with the memory of large arrays apart: it is not copied on the way."""
        from distributed.protocol.pickle import dumps

        buffers: list[pickle.PickleBuffer] = []
        content = dumps(self.parts, buffer_callback=buffers.append)
        return _unpacked, (content, *buffers)


def _unpacked(content: bytes, *buffers: Any) -> _Shared:
    """Return what tiles share, as it is on a worker."""
    from distributed.protocol.pickle import loads

    return _Shared(loads(content, buffers=[bytearray(buffer) for buffer in buffers]))


def _on_worker(function: Callable[..., Any], shared: _Shared, tile: bytes) -> bytes:
    """Run one tile on a Dask worker."""
    from distributed.protocol.pickle import dumps, loads

    result: bytes = dumps(function(*shared.parts, *loads(tile)))
    return result


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Yield, for a command, a client of the Dask scheduler at an address, or in a scheduler file, that has workers."""
    if find_spec("distributed") is None:
        raise MissingExtraError(f"{spelled('executor')} needs Dask: pip install 'fujiscore[dask]'")
    from distributed import Client

    for name in ("distributed", "distributed.client"):  # its tracebacks would surround the one line that we print
        logging.getLogger(name).setLevel(logging.CRITICAL)
    named, file = spelled("executor", address), Path(address)
    try:
        found = json.loads(file.read_text(encoding="utf-8"))["address"] if file.is_file() else address
        client = Client(found, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError, KeyError, ImportError, MemoryError) as error:  # a web server answers, too
        raise InputError(
            f"{named} must be the address of a running Dask scheduler, such as tcp://host:8786, or its scheduler file; "
            f"it cannot be reached ({type(error).__name__}: {error}). Start one: dask scheduler."
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            start = f"dask worker {client.scheduler.address}"
            raise InputError(f"{named} must have workers; it has none. Start some: {start}.") from None
        yield client


def check_versions(client: Any) -> None:
    """Raise unless all workers, and the scheduler, have this version of the package: others may compute otherwise."""
    # A function of Python itself: ours could not even be sent to a worker that lacks the package.
    ask = (resolve_name, "fujiscore:__version__")
    versions = client.run(*ask, on_error="return")
    try:
        versions["the scheduler"] = client.run_on_scheduler(*ask)
    except ImportError as error:
        versions["the scheduler"] = error
    # Other errors are those of workers that die at this moment.
    other = [
        f"{place} has {f'fujiscore {version}' if isinstance(version, str) else 'no fujiscore'}"
        for place, version in versions.items()
        if version != __version__ and isinstance(version, (str, ImportError))
    ]
    if other:
        raise InputError(
            f"{spelled('executor')} must have fujiscore {__version__} on the scheduler and on every worker; "
            f"{first_few(other)}. Install it there: pip install 'fujiscore[dask]=={__version__}'."
        )
