"""Files to rankings, through the library's reader. Imports io."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fujiscore.errors import NAME, InputError, first_few

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fujiscore.cli.options import Reading
    from fujiscore.io import Loaded
    from fujiscore.ranking import Rankings
    from fujiscore.stream import Column

STANDARD_INPUT = "-"


def read(paths: Sequence[str], reading: Reading, **changed: Any) -> Rankings:
    """Return all rankings of the files, aligned and checked."""
    from fujiscore.io import admit

    return admit(_gathered(paths, reading), **_policies(reading, **changed))


def _gathered(paths: Sequence[str], reading: Reading) -> Loaded:
    """Return all rankings of the files as they hold them."""
    from fujiscore.io import gather

    if list(paths).count(STANDARD_INPUT) > 1:
        raise InputError("standard input (-) can be read once only. Write one of the rankings to a file.")
    columns = {"item": reading.item, "score": reading.score or None, "ranking": reading.ranking}
    return gather(paths, **columns, format=reading.format, duplicates=reading.duplicates)


def _policies(reading: Reading, **changed: Any) -> Any:
    """Return the library's arguments on how rankings are checked and aligned."""
    names = ("negative", "nan", "missing", "duplicates", "transform")
    return {**{name: getattr(reading, name) for name in names}, "universe": _universe(reading.universe), **changed}


def _universe(given: str | None) -> Any:
    """Return the size of the universe, or its items from a file."""
    if given is None:
        return None
    if given.isascii() and given.isdecimal():
        return int(given[:20])  # more digits are too many whatever they are, and int() refuses thousands of them
    from fujiscore.io import read_items

    return read_items(given)


def long_pair(paths: Sequence[str], reading: Reading) -> list[Column] | None:
    """Return the two columns of Parquet files to compare if they do not fit in memory, otherwise None."""
    from fujiscore.io import distinct_names
    from fujiscore.io.scan import columns

    if reading.ranking is not None or reading.format not in {None, "parquet"}:
        return None
    found: list[Column] = []
    files: list[str] = []
    for path in paths:
        own = columns(path, item=reading.item, score=reading.score or None) or []
        found += own
        files += [path] * len(own)
    if len(found) != 2 or all(column.fits for column in found):
        return None
    names = distinct_names([column.name for column in found], files)
    return [replace(column, name=name) for column, name in zip(found, names, strict=True)]


def policies(reading: Reading) -> dict[str, Any]:
    """Return how a ranking that is not read yet is to be checked."""
    names = ("nan", "missing", "duplicates", "transform")
    chosen = {name: getattr(reading, name) for name in names}
    return {**chosen, "negative": reading.negative or "raise", "universe": _universe(reading.universe)}


def pair(paths: Sequence[str], reading: Reading, **changed: Any) -> Rankings:
    """Return the two rankings to compare: one of each file, or the two of one file."""
    if len(paths) > 2:
        raise InputError(f"two rankings can be compared; got {len(paths)} files. For more, use fuji matrix.")
    loaded = _gathered(paths, reading)
    count = len(loaded.sources)
    if count == 2:
        from fujiscore.io import admit

        return admit(loaded, **_policies(reading, **changed))
    if count == 1:
        raise InputError(f"{paths[0]} holds one ranking. Name a second file to compare it with.")
    names = {path: [source.name for source in _gathered([path], reading).sources] for path in dict.fromkeys(paths)}
    several = [path for path in names if len(names[path]) > 1]
    if len(several) == 2:
        counts = " and ".join(f"{path} holds {len(names[path])} rankings" for path in several)
        one = " ".join(f"{path}:{names[path][0]}" for path in several)
        raise InputError(f"{counts}. Compare all: fuji runs {' '.join(several)}. Or name one of each: {one}")
    path = several[0] if several else paths[0]
    listed = first_few(names[path], 8, NAME)
    raise InputError(f"{path} holds {len(names[path])} rankings: {listed}. Name one: {path}:{names[path][0]}")
