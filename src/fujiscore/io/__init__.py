"""Files to rankings: `load` returns what a file holds, `read` aligned and checked rankings. Imports rankings."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, choice, first_few, spelled
from fujiscore.io import formats
from fujiscore.io.columns import choose, direction
from fujiscore.io.documents import Document, document
from fujiscore.io.groups import groups, groups_of_unique_items
from fujiscore.io.table import Table, number, shown, unknown
from fujiscore.rankings import Labelled, Rankings, align

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from fujiscore.io.table import Group, Roles
    from fujiscore.rankings import Missing, Nan, Negative

    File: TypeAlias = str | os.PathLike[str]

DUPLICATES = ("raise", "max", "mean", "first")
AS_LIST = "no scores: read as a list from best to worst, scores 1/rank"


@dataclass(frozen=True, eq=False)
class Source:
    """One ranking as a file holds it, the scores unchecked.

    Attributes
    ----------
    name : str
        The score column's or the ranking's name, or the file's stem if the file holds one ranking.
    items : sequence of str
        The labels as the file writes them, in its order; repeated only if `load` was told to accept duplicates.
    scores : ndarray of float64
        One score per item, with its sign; NaN where the file has none.
    origin : str
        Where it came from, for messages.
    signed : bool
        Whether negative scores are part of the format and mean "no better than noise" (.fimp).
    transform : str or None
        "rank" if the file has no scores and these are 1/rank.
    notes : tuple of str
        Warnings about the scores.
    """

    name: str
    items: Sequence[str]
    scores: NDArray[np.float64]
    origin: str
    signed: bool = False
    transform: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Loaded:
    """The rankings in a file.

    Attributes
    ----------
    sources : tuple of Source
        One per ranking.
    notes : tuple of str
        What was guessed about columns and header, for example "item column 'gene', score column 'weight'", and the
        sources' warnings.
    """

    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()


def load(
    path: File,
    *,
    item: str | None = None,
    score: str | Sequence[str] | None = None,
    ranking: str | None = None,
    format: str | None = None,
    duplicates: str = "raise",
    transform: object = None,
) -> Loaded:
    """Return the rankings that a file holds, as it holds them.

    Parameters
    ----------
    path : str or path-like
        A file, "-" for standard input, or "file:name" for one score column or ranking of a file. CSV, TSV, Parquet,
        Feather, JSON, .fimp, TREC runs and lists (one item per line) are read, also compressed with gzip or zstd.
    item, ranking : str, optional
        The columns that name the items and, in a table with one row per item and ranking, the rankings. Guessed from
        the columns' names and content if not given.
    score : str or sequence of str, optional
        The score column, or several: one ranking each. All numeric columns that are not ranks or indices if not
        given. In a JSON object of rankings, the rankings' names.
    format : {"csv", "tsv", "parquet", "feather", "json", "fimp", "trec"}, optional
        The format; by content and extension if not given.
    duplicates : {"raise", "max", "mean", "first"}
        With "raise" a repeated item is an error; otherwise all its rows are returned.
    transform : optional
        The transform that the scores will get: if None, columns that look like p-values, distances or ranks get a
        warning.

    Returns
    -------
    Loaded
        With `.sources`, one per ranking, and `.notes`, what was guessed.

    Notes
    -----
    Labels are always text: 1 in a Parquet file is "1" in a CSV file. Scores that are empty, NA, N/A, NaN, null, None
    or ? are NaN.
    """
    if format is not None:
        choice("format", format, formats.FORMATS)
    choice("duplicates", duplicates, DUPLICATES)
    unique = duplicates == "raise"
    location, column = _locate(path)
    if column is not None and score is not None:
        raise InputError(
            f"{spelled('score')} must not be given with {os.fspath(path)!r}, which names one; got {score!r}."
        )
    file = document(location)
    name = formats.detect(file, format, formats.FORMATS)
    content = formats.json_content(file, unique=unique) if name == "json" else None
    if name != "json" or isinstance(content, list):
        table = formats.table(file, name) if content is None else formats.records(file, content)
        by_name = column is not None and column not in table.columns
        wanted = score if column is None else None if by_name else [column]
        loaded = _from_table(file, table, item, wanted, ranking, unique=unique)
        loaded = _pick(file, loaded, table, str(column)) if by_name else loaded
    else:
        for argument, value in (("item", item), ("ranking", ranking)):
            if value is not None:
                raise _no_columns(file, argument)
        loaded = _from_objects(file, content, score if column is None else [column])
    loaded = loaded if transform is None else _without_warnings(loaded)
    sources = tuple(replace(source, signed=name == "fimp") for source in loaded.sources)
    warnings = [note for source in sources for note in source.notes]
    return Loaded(sources, tuple(dict.fromkeys([*loaded.notes, *warnings])))


def _locate(path: File) -> tuple[File, str | None]:
    """Return the file, and the score column that "file:column" names if no file has the whole name."""
    name = os.fspath(path)
    if not isinstance(name, str):
        raise InputError(f"path must be text or a path; got {shown(name)}.")
    end = len(name)
    while not os.path.lexists(name) and (end := name.rfind(":", 0, end)) > 0:
        if os.path.isfile(name[:end]):  # noqa: PTH113
            return name[:end], name[end + 1 :]
    return path, None


def _no_columns(file: Document, argument: str) -> InputError:
    """Return the error for an argument that names a column of a JSON object."""
    return InputError(
        f"{file.name} must have columns for {spelled(argument)} to name one; it is a JSON object. Leave it out."
    )


def _from_table(
    file: Document,
    table: Table,
    item: str | None,
    score: str | Sequence[str] | None,
    ranking: str | None,
    *,
    unique: bool,
) -> Loaded:
    """Return the rankings in a table: one per score column, or one per name in the ranking column."""
    roles, guess = choose(table, item, score, ranking)
    if unique:
        split, note = groups_of_unique_items(table, roles, named=item is not None)
    else:
        split, note = groups(table, roles, unique=False), None
    by_column = len(roles.scores) > 1 or not (score is None or isinstance(score, (str, int)))
    sources = [source for group in split for source in _from_group(file, table, roles, group, by_column=by_column)]
    return Loaded(tuple(sources), tuple(text for text in (guess, note) if text))


def _from_group(file: Document, table: Table, roles: Roles, group: Group, *, by_column: bool) -> list[Source]:
    """Return the rankings in a group of rows: one per score column, or the one of a list without scores."""
    if not roles.scores:
        return [_list(file.stem, group.items, file.name)]
    sources = []
    for position, scores in zip(roles.scores, group.scores, strict=True):
        column = table.columns[position]
        name, origin = column if by_column else file.stem, f"{file.name}, column {column!r}"
        if group.name is not None:
            name = f"{group.name}:{column}" if len(roles.scores) > 1 else group.name
            kind = "query" if table.columns[roles.ranking or 0] == "qid" else "ranking"
            origin = f"{file.name}, {kind} {group.name!r}"
        warning = direction(column, scores)
        sources.append(Source(name, group.items, scores, origin, notes=(warning,) if warning else ()))
    return sources


def _list(name: str, items: Sequence[str], origin: str) -> Source:
    """Return the ranking in a list of items from best to worst."""
    return Source(name, items, 1 / np.arange(1, len(items) + 1), origin, transform="rank", notes=(AS_LIST,))


def _without_warnings(loaded: Loaded) -> Loaded:
    """Return what was loaded without the warnings about small scores that may be good."""
    plain = [source if source.transform else replace(source, notes=()) for source in loaded.sources]
    return replace(loaded, sources=tuple(plain))


def _pick(file: Document, loaded: Loaded, table: Table, name: str) -> Loaded:
    """Return one ranking of a table with one row per item and ranking."""
    picked = tuple(source for source in loaded.sources if source.name == name)
    if picked:
        return replace(loaded, sources=picked)
    if len(loaded.sources) > 1 and loaded.sources[0].name not in table.columns:
        names = [source.name for source in loaded.sources]
        raise unknown(file.name, "what follows the colon", name, names, "ranking")
    raise unknown(file.name, "what follows the colon", name, table.columns)


def _from_objects(file: Document, content: Any, score: str | Sequence[str] | None) -> Loaded:
    """Return the rankings in a JSON object: of items to scores, or of names to such objects."""
    if not isinstance(content, Mapping):
        raise formats.other_shape(file, f"only {shown(content)}")
    if not content:
        raise InputError(f"{file.name} must hold at least one item; it is an empty object.")
    nested = [name for name, value in content.items() if isinstance(value, Mapping)]
    if not nested:
        if score is not None:
            raise _no_columns(file, "score")
        return Loaded((_from_object(file, file.stem, content, file.name),))
    if len(nested) < len(content):
        other = next(name for name in content if name not in set(nested))
        raise formats.other_shape(file, f"an object where {nested[0]!r} holds an object and {other!r} does not")
    names = list(content) if score is None else [score] if isinstance(score, str) else list(score)
    for name in names:
        if name not in content:
            raise unknown(file.name, spelled("score"), name, list(content), "ranking")
    sources = [_from_object(file, name, content[name], f"{file.name}, ranking {name!r}") for name in names]
    return Loaded(tuple(sources))


def _from_object(file: Document, name: str, content: Mapping[str, Any], origin: str) -> Source:
    """Return the ranking in a JSON object of item to score."""
    if not content:
        raise InputError(f"{origin} must hold at least one item; it is an empty object.")
    pairs = content.pairs if isinstance(content, formats.Pairs) else list(content.items())
    scores = np.empty(len(pairs))
    for position, (label, value) in enumerate(pairs):
        score = number(value)
        if isinstance(value, (list, Mapping)):
            raise formats.other_shape(file, f"an object where {shown(label)} holds {shown(value)}")
        if score is None:
            raise InputError(f"{origin}, item {shown(label)} must have a number for its score; got {shown(value)}.")
        if not label:
            raise InputError(f"{origin} must name every item; one has an empty name.")
        scores[position] = score
    return Source(name, [label for label, _ in pairs], scores, origin)


def gather(paths: Iterable[File], *, negative: str | None = None, **options: Any) -> Loaded:
    """Return the rankings of several files under different names, with notes that name the files.

    Without a policy for negative scores, those of .fimp files are set to 0, with a note.
    """
    sources: list[Source] = []
    files: list[str] = []
    said: dict[str, list[str]] = {}
    for path in paths:
        loaded = load(path, **options)
        sources += loaded.sources
        files += [os.fspath(path)] * len(loaded.sources)
        for note in loaded.notes:
            said.setdefault(note, []).append(os.fspath(path))
    notes = [f"{first_few(of)}: {note}" for note, of in said.items()]
    if negative is None and options.get("transform") is None:
        clipped = [_clipped(source) for source in sources]
        notes += [note for _, note in clipped if note]
        sources = [source for source, _ in clipped]
    names = _distinct_names([source.name for source in sources], files)
    return Loaded(tuple(replace(source, name=name) for source, name in zip(sources, names, strict=True)), tuple(notes))


def _clipped(source: Source) -> tuple[Source, str | None]:
    """Return a source of a signed format with negative scores set to 0, and a note if there are any."""
    below = source.scores < 0
    if not source.signed or not below.any() or below.all():
        return source, None
    note = (
        f"{source.origin}: {int(below.sum())} of {below.size} scores are negative, no better than noise in .fimp "
        f"files, and count as 0 ({spelled('negative', 'clip')})"
    )
    return replace(source, scores=np.where(below, 0.0, source.scores)), note


def read(
    path: File | Iterable[File],
    *,
    item: str | None = None,
    score: str | Sequence[str] | None = None,
    ranking: str | None = None,
    format: str | None = None,
    negative: Negative | None = None,
    nan: Nan = "raise",
    missing: Missing = "raise",
) -> Rankings:
    r"""Return the rankings in one or more files, aligned by label and checked.

    Parameters
    ----------
    path : str, path-like or several
        Files, "-" for standard input, or "file:name" for one score column or ranking of a file: CSV, TSV, Parquet,
        Feather, JSON (an object of item to score, an object of name to such objects, or a list of records), .fimp,
        TREC runs (one ranking per query) and lists of items, best first; also compressed with gzip or zstd.
    item, ranking : str, optional
        The columns that name the items and, in a table with one row per item and ranking, the rankings. Guessed from
        the columns' names and content if not given.
    score : str or sequence of str, optional
        The score column, or several: one ranking each. All numeric columns that are not ranks or indices if not
        given.
    format : {"csv", "tsv", "parquet", "feather", "json", "fimp", "trec"}, optional
        The format; by content and extension if not given.
    negative : {"raise", "clip", "abs"}, optional
        As in `fuji`. If not given, negative scores are an error, but count as 0 in .fimp files, with a note.
    nan, missing
        As in `fuji`; with nan="drop" and missing="drop" an item is left out of all rankings.

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
    loaded = gather(paths, negative=negative, item=item, score=score, ranking=ranking, format=format)
    objects = [Labelled(source.items, source.scores) for source in loaded.sources]
    names = [source.name for source in loaded.sources]
    return align(objects, names, negative=negative or "raise", nan=nan, missing=missing)


def _distinct_names(names: Sequence[str], files: Sequence[str]) -> list[str]:
    """Return the names, with the file in front of those that several rankings share."""
    count = Counter(names)
    full = [f"{file}:{name}" if count[name] > 1 else name for name, file in zip(names, files, strict=True)]
    count = Counter(full)
    return [f"{name} ({position})" if count[name] > 1 else name for position, name in enumerate(full, 1)]
