"""The files that a command reads, each opened once, and their rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fujiscore.errors import InputError

if TYPE_CHECKING:
    from fujiscore.cli.options import Reading
    from fujiscore.inputs.ranking import Rankings
    from fujiscore.io import Loaded
    from fujiscore.pair.passes.stream import Column

STANDARD_INPUT = "-"
POLICIES = ("negative", "nan", "missing", "duplicates", "transform")


def read(paths: Sequence[str], reading: Reading, **changed: Any) -> Rankings:
    """Return all rankings of the files, aligned and checked."""
    return Inputs(reading, paths).read(paths, **changed)


def pair(paths: Sequence[str], reading: Reading, **changed: Any) -> Rankings:
    """Return the two rankings to compare: one of each file, or the two of one file."""
    return Inputs(reading, paths).pair(paths, **changed)


class Inputs:
    """The files that a command reads, and how."""

    def __init__(self, reading: Reading, paths: Sequence[str]) -> None:
        from fujiscore.io import opened

        listed = [] if reading.universe is None or _is_size(reading.universe) else [reading.universe]
        if [*paths, *listed].count(STANDARD_INPUT) > 1:
            raise InputError("standard input (-) can be read once only. Write one of the rankings to a file.")
        self._reading, self._files = reading, opened(*paths, *listed)

    @cached_property
    def universe(self) -> Any:
        """The size of the universe, or its items from a file; None if it is not given."""
        given = self._reading.universe
        if given is None:
            return None
        if _is_size(given):
            return int(given[:20])  # more digits are too many whatever they are, and int() refuses thousands of them
        from fujiscore.io import read_items

        return read_items(given, self._files)

    @property
    def policies(self) -> dict[str, Any]:
        """How a ranking that is not read yet is to be checked."""
        chosen = {name: getattr(self._reading, name) for name in POLICIES}
        return {**chosen, "negative": self._reading.negative or "raise", "universe": self.universe}

    def load(self, paths: Sequence[str]) -> list[Loaded]:
        """Return the rankings of each file as it holds them."""
        from fujiscore.io import load_each

        reading = self._reading
        columns = {"item": reading.item, "score": reading.score or None, "ranking": reading.ranking}
        rules = {"format": reading.format, "duplicates": reading.duplicates}
        return load_each(paths, files=self._files, **columns, **rules)

    def read(self, paths: Sequence[str], **changed: Any) -> Rankings:
        """Return all rankings of the files, aligned and checked."""
        return self.checked(paths, self.load(paths), **changed)

    def checked(self, paths: Sequence[str], parts: Sequence[Loaded], **changed: Any) -> Rankings:
        """Return the rankings that were loaded from files, aligned and checked."""
        from fujiscore.io import align_loaded, merged

        policies: Any = {name: getattr(self._reading, name) for name in POLICIES} | changed
        if "universe" not in changed:
            policies["universe"] = self.universe
        return align_loaded(merged(paths, parts), **policies)

    def long_pair(self, paths: Sequence[str]) -> list[Column] | None:
        """Return the two columns of Parquet files to compare if they do not fit in memory, otherwise None."""
        from fujiscore.io import distinct_names
        from fujiscore.io.scan import columns

        reading = self._reading
        if reading.ranking is not None or reading.format not in {None, "parquet"}:
            return None
        found: list[Column] = []
        files: list[str] = []
        for path in paths:
            own = columns(path, item=reading.item, score=reading.score or None, files=self._files) or []
            found += own
            files += [path] * len(own)
        if len(found) != 2 or all(column.fits for column in found):
            return None
        names = distinct_names([column.name for column in found], files)
        return [replace(column, name=name) for column, name in zip(found, names, strict=True)]

    def pair(self, paths: Sequence[str], **changed: Any) -> Rankings:
        """Return the two rankings to compare: one of each file, or the two of one file."""
        if len(paths) > 2:
            raise InputError(f"two rankings can be compared; got {len(paths)} files. For more, use fuji matrix.")
        parts = self.load(paths)
        if sum(len(part.sources) for part in parts) == 2:
            return self.checked(paths, parts, **changed)
        from fujiscore.cli.advice import not_two

        raise not_two({path: part.sources for path, part in zip(paths, parts, strict=True)}, self._reading)


def _is_size(universe: str) -> bool:
    """Return whether a universe is given as a number of items, not as a file."""
    return universe.isascii() and universe.isdecimal()
