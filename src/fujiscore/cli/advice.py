"""What to type where files do not hold exactly two rankings: arguments and commands that work."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fujiscore.errors import NAME, InputError, first_few
from fujiscore.inputs.direction import P_VALUES, kind_of
from fujiscore.inputs.roles import QUERY_NAMES, plain
from fujiscore.io import FileRanking, locate
from fujiscore.io.columns import SCORE_NAMES

if TYPE_CHECKING:
    from fujiscore.cli.options import Reading

    Files: TypeAlias = Mapping[str, Sequence[FileRanking]]  # the rankings that each path of the command line holds

# Columns that rank, the most telling first, p-values last; those of a kind go together (DESeq2's stat and limma's t).
KINDS = (
    SCORE_NAMES,
    ("stat", "t", "z", "zscore", "f", "wald", "waldstat"),
    ("log2foldchange", "logfc", "log2fc", "avglog2fc", "avglogfc", "logfoldchange", "logfoldchanges", "lfc"),
)


def not_two(files: Files, reading: Reading) -> InputError:
    """Return the error for files that do not hold two rankings, with arguments that name two."""
    several = {path: held for path, held in files.items() if len(held) > 1}
    if not several:
        return InputError(f"{next(iter(files))} holds one ranking. Name a second file to compare it with.")
    if other := [path for path in several if not _can_be_read_again(path)]:
        names = [source.name for source in several[other[0]]]
        counts = f"{other[0]} holds {len(names)} rankings: {first_few(names, 8, NAME)}"
        if locate(other[0])[1] is not None:
            return InputError(f"{counts}. {_by_column(files)}")
        return InputError(
            f"{counts}. Write it to a file, and name one of them after a colon, as in file.csv:{names[0]}"
        )
    if len(several) == 2:
        counts = " and ".join(f"{path} holds {len(held)} rankings" for path, held in several.items())
        every = _every_query(files, reading)
        chosen = zip(several, _alike(*several.values()), strict=True)
        return InputError(
            f"{counts}. {every}{'Or name' if every else 'Name'} one of each: {_arguments(chosen, reading)}"
        )
    [(path, held)] = several.items()
    counts = f"{path} holds {len(held)} rankings: {first_few([source.name for source in held], 8, NAME)}"
    number = 2 if len(files) == 1 else 1
    chosen = zip([path] * number, _telling(held)[:number], strict=True)
    return InputError(f"{counts}. Name {'one' if number == 1 else 'two'}: {_arguments(chosen, reading)}")


def _by_column(files: Files) -> str:
    """Return how to name a ranking and a score column where file:column names the column of a long table only."""
    located = [locate(path) for path in files]
    columns = {column for _, column in located}
    if None in columns or (len(columns) > 1 and any(len(held) == 1 for held in files.values())):
        return "Write one of them to a file that holds nothing else"
    words = []
    for (file, column), held in zip(located, files.values(), strict=True):
        endings = [f":{column}" if len(columns) > 1 else ""] * (2 if len(files) == 1 else 1)
        names = [f":{source.name}{ending}" for source, ending in zip(held, endings, strict=False) if len(held) > 1]
        words += [f"{file}{name}" for name in names or [""]]
    options = [word for _, column in located for word in ("--score", str(column))][: 2 * len(columns)]
    return f"Name rankings after the colon, and the column with --score: {shlex.join([*words, *options])}"


def _every_query(files: Files, reading: Reading) -> str:
    """Return how to compare all rankings of two long tables, nothing where that cannot be done."""
    [by, *others] = {source.by for held in files.values() for source in held}
    first, second = ({source.name for source in held} for held in files.values())
    if by is None or others or not first & second or len(reading.score) > 1 or not all(map(_can_be_read_again, files)):
        return ""
    named = {"--by": None if plain(by) in QUERY_NAMES else by, "--item": reading.item}
    named |= {"--score": next(iter(reading.score), None), "--format": reading.format}
    options = [word for option, value in named.items() if value is not None for word in (option, value)]
    return f"Compare all: {shlex.join(['fuji', 'runs', *files, *options])}. "


def _can_be_read_again(path: str) -> bool:
    """Return whether a path names a file, not standard input or another pipe."""
    return os.path.isfile(path)  # noqa: PTH113


def _alike(first: Sequence[FileRanking], second: Sequence[FileRanking]) -> tuple[FileRanking, FileRanking]:
    """Return a ranking of each file, of the same kind or name where there are such."""
    for one, other in zip(_by_kind(first), _by_kind(second), strict=True):
        pairs = [(r, s) for r in one for s in other]
        if pairs:
            return next((pair for pair in pairs if pair[0].name == pair[1].name), pairs[0])
    by_name = {source.name: source for source in second}
    return next(((r, by_name[r.name]) for r in first if r.name in by_name), (first[0], second[0]))


def _telling(held: Sequence[FileRanking]) -> list[FileRanking]:
    """Return the rankings of a file, those first whose columns are known to rank."""
    known = [source for kind in _by_kind(held) for source in kind]
    return [*known, *(source for source in held if source not in known)]


def _by_kind(held: Sequence[FileRanking]) -> list[list[FileRanking]]:
    """Return the rankings of a file whose columns are of each kind; letters alone may stand for anything."""
    columns = [source for source in held if source.by is None]
    kinds = [[source for source in columns if plain(source.name) in kind] for kind in KINDS]
    kinds.append([source for source in columns if kind_of(source.name) == P_VALUES])
    return kinds if any(len(source.name) > 1 for kind in kinds for source in kind) else [[] for _ in kinds]


def _arguments(chosen: Iterable[tuple[str, FileRanking]], reading: Reading) -> str:
    """Return what names the rankings on the command line, with options that their scores need."""
    paths, sources = zip(*chosen, strict=True)
    words = [f"{path}:{source.name}" for path, source in zip(paths, sources, strict=True)]
    if reading.transform is None and all(kind_of(source.name) == P_VALUES for source in sources):
        words += ["--transform", "neglog10"]
    elif reading.negative is None and any(bool((s.scores < 0).any()) for s in sources if not s.signed):
        words += ["--negative", "abs"]
    if reading.nan == "raise" and any(bool(np.isnan(source.scores).any()) for source in sources):
        words += ["--nan", "drop"]
    return shlex.join(words)
