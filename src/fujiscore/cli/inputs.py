"""Files to rankings with names to show: reads, aligns and applies the policies. Imports readers and rankings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fujiscore.cli.outputs import note
from fujiscore.cli.screen import printable
from fujiscore.errors import InputError
from fujiscore.rankings import Labelled, Rankings, align

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from fujiscore.cli.options import Reading, Writing
    from fujiscore.io import Source

STANDARD_INPUT = "-"
MOST_LISTED = 8


@dataclass(frozen=True)
class Read:
    """A ranking as a file holds it, and the file."""

    source: Source
    path: str
    signed: bool

    @property
    def scored(self) -> dict[Hashable, float]:
        """The ranking as item to score."""
        return dict(zip(self.source.items, self.source.scores.tolist(), strict=True))


def read(paths: Sequence[str], reading: Reading, writing: Writing) -> list[Read]:
    """Return all rankings of the files, saying on standard error what was guessed about their columns."""
    from fujiscore.io import load

    if paths.count(STANDARD_INPUT) > 1:
        raise InputError("standard input (-) can be read once only. Write one of the rankings to a file.")
    found: list[Read] = []
    said: dict[str, list[str]] = {}
    for path in paths:
        loaded = load(
            path, item=reading.item, score=reading.score or None, ranking=reading.ranking, format=reading.format
        )
        for text in loaded.notes:
            said.setdefault(text, []).append(printable(path))
        signed = reading.format == "fimp" or ".fimp" in [end.partition(":")[0] for end in Path(path).suffixes]
        found += [Read(source, path, signed) for source in loaded.sources]
    for guess, of in said.items():
        note(writing, f"{_listed(of)}: {printable(guess)}")
    return found


def pair(paths: Sequence[str], reading: Reading, writing: Writing) -> list[Read]:
    """Return the two rankings to compare: one of each file, or the two of one file."""
    found = read(paths, reading, writing)
    if len(found) == 2 and len(paths) <= 2:
        return found
    for path in dict.fromkeys(paths):
        held = [printable(own.source.name) for own in found if own.path == path]
        if len(held) > 1 and len(paths) <= 2:
            raise InputError(
                f"{printable(path)} holds {len(held)} rankings: {_listed(held)}. Name one: {printable(path)}:{held[0]}"
            )
    if len(paths) == 1:
        raise InputError(f"{printable(paths[0])} holds one ranking. Name a second file to compare it with.")
    raise InputError(f"two rankings can be compared; got {len(found)}. For more, use fuji matrix.")


def aligned(found: Sequence[Read], reading: Reading, writing: Writing) -> Rankings:
    """Return the rankings over the same items, checked, under names that tell them apart."""
    objects = [Labelled(own.source.items, own.source.scores) for own in found]
    origins = [own.source.origin for own in found]
    policy = negative_policy(found, objects, reading, writing)
    held = align(objects, origins, negative=policy, nan=reading.nan, missing=reading.missing)
    return Rankings(names(found), held.scores, held.items)


def negative_policy(found: Sequence[Read], objects: Sequence[Any], reading: Reading, writing: Writing) -> str:
    """Return the policy for negative scores: as asked; else clip in .fimp files, and refuse in others."""
    if reading.negative is not None:
        return reading.negative
    if not any(own.signed for own in found):
        return "raise"
    clipped = []
    for own, scored in zip(found, objects, strict=True):
        if not own.signed:
            align([scored], [own.source.origin], negative="raise", nan=reading.nan)
        elif negative := int((own.source.scores < 0).sum()):
            clipped.append(f"{negative} of {own.source.scores.size} in {printable(own.path)}")
    if clipped:
        what = "negative scores in .fimp files are no better than noise, and count as 0 (--negative clip)"
        note(writing, f"{what}: {_listed(clipped, 3)}")
    return "clip"


def names(found: Sequence[Read]) -> tuple[str, ...]:
    """Return one short name a ranking, all different: as in the file, with the file, with its path, or numbered."""
    stems = [Path(own.path.rpartition(":")[0] or own.path).name.split(".")[0] for own in found]
    short = [printable(own.source.name) for own in found]
    with_file = [name if name == stem else f"{stem}:{name}" for name, stem in zip(short, stems, strict=True)]
    with_path = [
        own.path if name == stem or own.path.endswith(f":{own.source.name}") else f"{own.path}:{name}"
        for own, name, stem in zip(found, short, stems, strict=True)
    ]
    for candidate in (short, with_file, with_path):
        if len(set(candidate)) == len(candidate):
            return tuple(candidate)
    return tuple(f"{name} ({i + 1})" for i, name in enumerate(with_path))


def _listed(words: Sequence[str], most: int = MOST_LISTED) -> str:
    """Return the first of many words."""
    shown = ", ".join(words[:most])
    return shown if len(words) <= most else f"{shown}, ... ({len(words)} in all)"
