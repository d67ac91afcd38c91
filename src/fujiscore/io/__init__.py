"""Files to rankings: `load` returns what a file holds, `read` aligned and checked rankings.

Takes: paths and names of columns. Gives: `Rankings`, and tables for runs and data sets.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, choice, first_few, shown, spelled
from fujiscore.inputs.coercion import Labelled
from fujiscore.inputs.options import DUPLICATES, Negative, Policies, takes
from fujiscore.inputs.rankings import align
from fujiscore.inputs.transforms import AS_IS, Transforms, one_per_ranking
from fujiscore.io import formats
from fujiscore.io.columns import group_evidence, is_item_name, rankings_in, says_score
from fujiscore.io.documents import Document, Files, exists
from fujiscore.io.table import FileTable, Group, Roles, unknown
from fujiscore.text.notes import Fact, Note, prefixed

if TYPE_CHECKING:
    from fujiscore.inputs.direction import Evidence
    from fujiscore.inputs.ranking import Rankings

    File: TypeAlias = str | os.PathLike[str]

AS_LIST = Note(Fact("no scores"))


@dataclass(frozen=True, eq=False)
class FileRanking:
    """One ranking as a file holds it: labels and unchecked scores in the file's order."""

    name: str  # the score column's or the ranking's, or the file's stem if the file holds one ranking
    items: Sequence[str]  # repeated only if `load` accepts duplicates
    scores: NDArray[np.float64]  # NaN where the file has none
    origin: str  # where it came from, for messages
    signed: bool = False  # negative scores are part of the format (.fimp): no better than noise
    transform: str | None = None  # "rank" if the file has no scores and these are 1/rank
    notes: tuple[str, ...] = ()  # warnings about the scores
    evidence: Evidence | None = None  # what is known about their direction
    by: str | None = None  # the column that names it, in a long table


@dataclass(frozen=True, eq=False)
class Loaded:
    """The rankings in a file, and notes: what was guessed about columns and header, and the sources' warnings."""

    sources: tuple[FileRanking, ...]
    notes: tuple[str, ...] = ()


def load(
    path: File,
    *,
    item: str | None = None,
    score: str | Sequence[str] | None = None,
    ranking: str | None = None,
    format: str | None = None,
    duplicates: str = "raise",
    files: Files | None = None,
) -> Loaded:
    """Return the rankings that a file holds, as it holds them: one `Source` per ranking, and notes.

    Arguments are as in `read`, for one file; `files` are those that the same call reads. With duplicates="raise" a
    repeated item is an error; otherwise all its rows are returned, for `duplicates` to be applied later. Labels are
    always text: 1 in a Parquet file is "1" in a CSV file. Scores that are empty, NA, N/A, NaN, null, None or ? are NaN.
    """
    if format is not None:
        choice("format", format, formats.FORMATS)
    choice("duplicates", duplicates, DUPLICATES)
    location, part = locate(path)
    file = (files or Files(location)).open(location)
    kind = formats.detect(file, format, formats.FORMATS)
    table = formats.table(file, kind)
    of_objects = kind == "json" and table.known is not None and table.known.ranking is not None
    by_name = part is not None and (score is not None or of_objects or part not in table.numeric)
    wanted = score if part is None or by_name else [part]
    chosen = None if of_objects else wanted
    roles, split, guesses = rankings_in(table, item, chosen, ranking, unique=duplicates == "raise")
    if part is not None and score is not None and roles.ranking is None:
        raise InputError(f"{spelled('score')} must not be given with {location}:{part}; got {first_few(roles.scores)}.")
    several = len(roles.scores) > 1 or part is not None or not (wanted is None or isinstance(wanted, (str, int)))
    name = None if several else file.unpacked.stem
    known = group_evidence(table, roles, split)
    sources = [source for group in split for source in _sources(file, table, roles, group, name, known)]
    if of_objects:
        _require_rankings(file, sources)
    if of_objects and score is not None:
        sources = _pick(table, roles, sources, [score] if isinstance(score, str) else list(score), spelled("score"))
    if by_name:
        sources = _pick(table, roles, sources, [str(part)], "what follows the colon")
    notes = [*guesses, *(warning for source in sources for warning in source.notes)]
    return Loaded(tuple(sources), tuple(dict.fromkeys(notes)))


def _require_rankings(file: Document, sources: Sequence[FileRanking]) -> None:
    """Raise if the objects of a JSON file are the columns of a table, or items that hold a score and nothing else."""
    labels, scored = ([one.name for one in sources if says(one.name)] for says in (is_item_name, says_score))
    if labels and scored:
        raise InputError(
            f"{file.name} must be an object of name to ranking; its objects {shown(labels[0])} and {shown(scored[0])} "
            'look like the columns of a table. Write it as a list of records (orient="records" in pandas).'
        )
    names = {tuple(source.items) for source in sources}
    [name, *others] = next(iter(names))
    if len(sources) > 1 and len(names) == 1 and not others and says_score(name):
        first, score = sources[0].name, sources[0].scores[0]
        raise InputError(
            f"{file.name} must rank several items; each of its {len(sources)} objects holds {shown(name)} alone. If "
            f'{shown(first)} is an item, write {{"{first}": {score:g}, ...}}.'
        )


def locate(path: File) -> tuple[File, str | None]:
    """Return the file, and the score column or ranking that "file:name" names if no file has the whole name."""
    name = os.fspath(path)
    if not isinstance(name, str):
        raise InputError(f"path must be text or a path; got {shown(name)}.")
    end = len(name)
    while not os.path.lexists(name) and (end := name.rfind(":", 0, end)) > 0:
        if exists(name[:end]):
            return name[:end], name[end + 1 :]
    return path, None


def _sources(
    file: Document, table: FileTable, roles: Roles, group: Group, name: str | None, known: Sequence[Evidence | None]
) -> Iterator[FileRanking]:
    """Yield the rankings in a group of rows: one per score column (its name, if None is given), or that of a list."""
    if not roles.scores:
        reciprocal = 1 / np.arange(1, len(group.items) + 1)
        yield FileRanking(file.unpacked.stem, group.items, reciprocal, file.name, transform="rank", notes=(AS_LIST,))
    by = None if roles.by_row else roles.ranking
    for column, scores, evidence in zip(roles.scores, group.scores, known, strict=True):
        label, origin = column if name is None else name, f"{file.name}, column {column!r}"
        if group.name is not None:
            label = f"{group.name}:{column}" if len(roles.scores) > 1 else group.name
            origin = f"{file.name}, {'query' if roles.ranking == 'qid' else 'ranking'} {group.name!r}"
        yield FileRanking(label, group.items, scores, origin, table.signed, evidence=evidence, by=by)


def _pick(
    table: FileTable, roles: Roles, sources: Sequence[FileRanking], names: Sequence[str], argument: str
) -> list[FileRanking]:
    """Return the rankings of some names."""
    by_name = {source.name: source for source in sources}
    what, known = ("column", list(table.numeric)) if roles.ranking is None else ("ranking", list(by_name))
    for name in names:
        if name not in by_name:
            raise unknown(table.file, argument, name, known, what)
    return [by_name[name] for name in names]


def opened(*paths: File) -> Files:
    """Return the files that a call reads, none of them opened yet; "file:name" names the file."""
    return Files(*(locate(path)[0] for path in paths))


def load_each(paths: Sequence[File], *, files: Files | None = None, **options: Any) -> list[Loaded]:
    """Return the rankings of each of several files."""
    chosen = files or opened(*paths)
    return [load(path, files=chosen, **options) for path in paths]


def merged(paths: Sequence[File], parts: Sequence[Loaded]) -> Loaded:
    """Return the rankings of several files under different names, with notes that name the files."""
    files_of: dict[str, list[str]] = {}
    for path, part in zip(paths, parts, strict=True):
        for note in part.notes:
            files_of.setdefault(note, []).append(os.fspath(path))
    sources = [source for part in parts for source in part.sources]
    files = [os.fspath(path) for path, part in zip(paths, parts, strict=True) for _ in part.sources]
    notes = [prefixed(first_few(of), note) for note, of in files_of.items()]
    names = distinct_names([source.name for source in sources], files)
    return Loaded(tuple(replace(source, name=name) for source, name in zip(sources, names, strict=True)), tuple(notes))


@takes(Policies, negative=None)
def read(
    path: File | Iterable[File],
    *,
    item: str | None = None,
    score: str | Sequence[str] | None = None,
    ranking: str | None = None,
    format: str | None = None,
    **policies: Unpack[Policies],
) -> Rankings:
    r"""Return the rankings in one or more files, aligned by label and checked.

    Parameters
    ----------
    path : str, path-like or several
        Files, "-" for standard input, or "file:name" for one score column or ranking of a file: CSV, TSV, Parquet,
        Feather, Arrow streams, JSON (an object of item to score, an object of name to such objects, or a list of
        records), .fimp, TREC runs (one ranking per query), lists of items, best first, and .npy (a vector of scores, or
        one row of floats per ranking; items are named by their position); also compressed with gzip, bz2, xz or zstd.
        Each is opened once, so pipes work too.
    item : str, optional
        The column that names the items; guessed from the columns' names and content if not given.
    score : str or sequence of str, optional
        The score column, or several: one ranking each. All numeric columns that are not ranks or indices if not
        given.
    ranking : str, optional
        The column that names the rankings, in a table with one row per item and ranking; guessed if not given. With
        `ranking` and no column of items, each row is a ranking of the score columns.
    format : {"csv", "tsv", "parquet", "feather", "npy", "json", "fimp", "trec"}, optional
        The format; by content and extension if not given.
    negative : {"raise", "clip", "abs", "split"}, optional
        How to treat negative scores: raise; order by them but count them as 0; use magnitudes; or split every item by
        its sign. By default "raise", but "clip" for .fimp files, where negative means no better than noise.

    Returns
    -------
    Rankings
        Named after their columns, or after the files where each holds one; labels are text.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from fujiscore.io import read
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "scores.csv")
    >>> _ = file.write_text("gene,relief,forest\nBRCA1,0.5,3\nTP53,0.25,4\n")
    >>> rankings = read(file)
    >>> rankings.names, rankings.scores
    (('relief', 'forest'), (array([0.5 , 0.25]), array([3., 4.])))
    >>> folder.cleanup()
    """
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    if not paths:
        raise InputError("path must name at least one file; got none.")
    columns: Any = {"item": item, "score": score, "ranking": ranking, "format": format}
    loaded = merged(paths, load_each(paths, **columns, duplicates=policies.get("duplicates", "raise")))
    return align_loaded(loaded, **policies)


def align_loaded(
    loaded: Loaded, *, negative: Negative | None = None, transform: Transforms | None = None, **policies: Any
) -> Rankings:
    """Return the rankings of files, aligned by label and checked; arguments are as in `read`."""
    transforms = one_per_ranking(transform, [source.name for source in loaded.sources])
    both = zip(loaded.sources, transforms, strict=True)
    lists = [source.origin for source, one in both if source.transform and one not in (None, AS_IS, "rank")]
    if lists:
        raise InputError(f"{spelled('transform')} needs scores; {first_few(lists)} has none and is read as 1/rank.")
    return align(
        [Labelled(source.items, source.scores, evidence=source.evidence) for source in loaded.sources],
        [source.name for source in loaded.sources],
        negative=[negative or ("clip" if source.signed else "raise") for source in loaded.sources],
        transform=transforms,
        notes=loaded.notes,
        **policies,
    )


def read_items(path: File, files: Files | None = None) -> list[str]:
    """Return the items that a file lists: a universe of one item per line, or the item column of a table."""
    loaded = load(path, duplicates="first", files=files)
    return list(dict.fromkeys(item for source in loaded.sources for item in source.items))


def distinct_names(names: Sequence[str], files: Sequence[str]) -> list[str]:
    """Return the names, with the file in front of those that several rankings share."""
    count = Counter(names)
    full = [f"{file}:{name}" if count[name] > 1 else name for name, file in zip(names, files, strict=True)]
    count = Counter(full)
    return [f"{name} ({position})" if count[name] > 1 else name for position, name in enumerate(full, 1)]
