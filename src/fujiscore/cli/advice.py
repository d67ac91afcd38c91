"""What to type where files do not hold exactly two rankings: arguments and commands that work. Imports io."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import numpy as np

from fujiscore.errors import NAME, InputError, first_few
from fujiscore.io.columns import P_VALUES, QUERY_NAMES, SCORE_NAMES, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fujiscore.cli.options import Reading
    from fujiscore.io import Source

STANDARD_INPUT = "-"
# Columns that rank, the most telling first; those of one kind go together (DESeq2's stat and limma's t).
KINDS = (
    SCORE_NAMES,
    ("stat", "t", "z", "zscore", "f", "wald", "waldstat"),
    ("log2foldchange", "logfc", "log2fc", "avglog2fc", "avglogfc", "logfoldchange", "logfoldchanges", "lfc"),
    P_VALUES,
)


def not_two(paths: Sequence[str], sources: Sequence[Source], reading: Reading) -> InputError:
    """Return the error for files that do not hold two rankings, with arguments that name two."""
    files = {path: [source for source in sources if source.path == path] for path in paths}
    files = {path: held[: len(held) // list(paths).count(path)] for path, held in files.items()}
    if len(files) == 1 == len(files[paths[0]]):
        return InputError(f"{paths[0]} holds one ranking. Name a second file to compare it with.")
    several = {path: held for path, held in files.items() if len(held) > 1}
    if len(several) == 2:
        counts = " and ".join(f"{path} holds {len(held)} rankings" for path, held in several.items())
        first, second = several.values()
        every = _every_query(files, reading)
        name = "Or name" if every else "Name"
        return InputError(f"{counts}. {every}{name} one of each: {_arguments(_alike(first, second), reading)}")
    [(path, held)] = several.items()
    counts = f"{path} holds {len(held)} rankings: {first_few([source.part for source in held], 8, NAME)}"
    if len(files) == 1:
        return InputError(f"{counts}. Name two: {_arguments(_telling(held)[:2], reading)}")
    return InputError(f"{counts}. Name one: {_arguments(_telling(held)[:1], reading)}")


def _every_query(files: Mapping[str, Sequence[Source]], reading: Reading) -> str:
    """Return how to compare all rankings of two long tables, nothing where that cannot be done."""
    columns = {source.by for held in files.values() for source in held}
    first, second = ({source.part for source in held} for held in files.values())
    [by, *others] = columns
    if by is None or others or not first & second or len(reading.score or ()) > 1 or STANDARD_INPUT in files:
        return ""
    named = {"--by": None if plain(by) in QUERY_NAMES else by, "--item": reading.item}
    named |= {"--score": next(iter(reading.score or ()), None), "--format": reading.format}
    options = [word for option, value in named.items() if value is not None for word in (option, value)]
    return f"Compare all: {shlex.join(['fuji', 'runs', *files, *options])}. "


def _alike(first: Sequence[Source], second: Sequence[Source]) -> list[Source]:
    """Return a ranking of each file, of the same kind or name where there are such."""
    for one, other in zip(_by_kind(first), _by_kind(second), strict=True):
        pairs = [[r, s] for r in one for s in other]
        if pairs:
            return next((pair for pair in pairs if pair[0].part == pair[1].part), pairs[0])
    by_name = {source.part: source for source in second}
    return next(([r, by_name[r.part]] for r in first if r.part in by_name), [first[0], second[0]])


def _telling(held: Sequence[Source]) -> list[Source]:
    """Return the rankings of a file, those first whose columns are known to rank."""
    known = [source for kind in _by_kind(held) for source in kind]
    return [*known, *(source for source in held if source not in known)]


def _by_kind(held: Sequence[Source]) -> list[list[Source]]:
    """Return the rankings of a file whose columns are of each kind; letters alone may stand for anything."""
    kinds = [[source for source in held if source.by is None and plain(source.part) in kind] for kind in KINDS]
    return kinds if any(len(source.part) > 1 for kind in kinds for source in kind) else [[] for _ in KINDS]


def _arguments(chosen: Sequence[Source], reading: Reading) -> str:
    """Return what names the rankings on the command line, with options that their scores need."""
    if any(source.path == STANDARD_INPUT for source in chosen):
        return f"write standard input to a file, and add :{chosen[0].part} to its name"
    words = [f"{source.path}:{source.part}" for source in chosen]
    scores = [source.scores for source in chosen if not source.signed]
    if reading.transform is None and all(plain(source.part) in P_VALUES for source in chosen):
        words += ["--transform", "neglog10"]
    elif reading.negative is None and any(bool((values < 0).any()) for values in scores):
        words += ["--negative", "abs"]
    if reading.nan == "raise" and any(bool(np.isnan(source.scores).any()) for source in chosen):
        words += ["--nan", "drop"]
    return shlex.join(words)
