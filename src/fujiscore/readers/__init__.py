"""Files to rankings: `load` gives what a file holds, `read` aligned and checked rankings. Imports formats, rankings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, choice
from fujiscore.rankings import Labelled, Rankings, align
from fujiscore.readers import formats
from fujiscore.readers.documents import Document, document
from fujiscore.readers.tables import Table, choose, number, shown, unknown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from fujiscore.rankings import Missing, Nan, Negative

    File: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Source:
    """One ranking as a file holds it: each item once, the scores unchecked.

    Attributes
    ----------
    name : str
        The score column's or the ranking's name, or the file's stem if the file holds one ranking.
    items : sequence of str
        The labels as the file writes them, in its order.
    scores : ndarray of float64
        One score an item, with its sign; NaN where the file has none.
    origin : str
        Where it came from, for messages.
    """

    name: str
    items: Sequence[str]
    scores: NDArray[np.float64]
    origin: str


@dataclass(frozen=True, eq=False)
class Loaded:
    """The rankings in a file, and in one line what was guessed about its columns (None: nothing was).

    Attributes
    ----------
    sources : tuple of Source
        One a ranking.
    guess : str or None
        For example "item column 'gene', score column 'weight'".
    """

    sources: tuple[Source, ...]
    guess: str | None


def load(
    path: File,
    *,
    item: str | None = None,
    score: str | Sequence[str] | None = None,
    ranking: str | None = None,
    format: str | None = None,
) -> Loaded:
    """Return the rankings that a file holds, as it holds them.

    Parameters
    ----------
    path : str or path-like
        A file, "-" for standard input, or "file:name" for one score column or ranking of a file. CSV, TSV, Parquet,
        Feather, JSON, .fimp and TREC runs are read, also compressed with gzip or zstd.
    item, ranking : str, optional
        The columns that name the items and, in a table with a row an item and ranking, the rankings. Guessed from
        the columns' names and content if not given.
    score : str or sequence of str, optional
        The column of scores, or several: one ranking each. All columns of numbers that are not ranks or indices if
        not given. In a JSON object of rankings, the rankings' names.
    format : {"csv", "tsv", "parquet", "feather", "json", "fimp", "trec"}, optional
        The format; by content and extension if not given.

    Returns
    -------
    Loaded
        With `.sources`, one a ranking, and `.guess`, what was guessed about the columns.

    Notes
    -----
    Labels are always text, so that 1 in a Parquet file is "1" in a CSV file. '', 'NA', 'NaN' and nulls are NaN.
    """
    if format is not None:
        choice("format", format, formats.FORMATS)
    file, column = _locate(path)
    if column is not None and score is not None:
        raise InputError(f"score must not be given with {os.fspath(path)!r}, which names one; got {score!r}.")
    found = document(file)
    name = formats.detect(found, format)
    content = formats.json_content(found) if name == "json" else None
    if name != "json" or isinstance(content, list):
        table = formats.table(found, name) if content is None else formats.records(found, content)
        if column is not None and column not in table.columns:
            return _pick(found, _from_table(found, table, item, None, ranking), table, column)
        return _from_table(found, table, item, score if column is None else [column], ranking)
    if item is not None or ranking is not None:
        given = "item" if item is not None else "ranking"
        raise InputError(f"{found.name} must have columns for {given} to name one; it is a JSON object. Leave it out.")
    return _from_objects(found, content, score if column is None else [column])


def _locate(path: File) -> tuple[File, str | None]:
    """Return the file, and the score column that "file:column" names if no file has the whole name."""
    name = os.fspath(path)
    if not isinstance(name, str):
        raise InputError(f"path must be text or a path; got {shown(name)}.")
    at = len(name)
    while not os.path.lexists(name) and (at := name.rfind(":", 0, at)) > 0:
        if os.path.isfile(name[:at]):  # noqa: PTH113
            return name[:at], name[at + 1 :]
    return path, None


def _from_table(
    found: Document, table: Table, item: str | None, score: str | Sequence[str] | None, ranking: str | None
) -> Loaded:
    """Return the rankings in a table: one a score column, or one a name in the ranking column."""
    roles = choose(table, item, score, ranking)
    by_column = len(roles.scores) > 1 or not (score is None or isinstance(score, str))
    sources = []
    for group in table.groups(roles):
        for at, scores in zip(roles.scores, group.scores, strict=True):
            column = table.columns[at]
            name, origin = column if by_column else found.stem, f"{found.name}, column {column!r}"
            if group.name is not None:
                name = f"{group.name}:{column}" if len(roles.scores) > 1 else group.name
                kind = "query" if table.columns[roles.ranking or 0] == "qid" else "ranking"
                origin = f"{found.name}, {kind} {group.name!r}"
            sources.append(Source(name, group.items, scores, origin))
    return Loaded(tuple(sources), roles.guess)


def _pick(found: Document, loaded: Loaded, table: Table, name: str) -> Loaded:
    """Return one ranking of a table with a row an item and ranking."""
    picked = tuple(own for own in loaded.sources if own.name == name)
    if picked:
        return Loaded(picked, loaded.guess)
    if len(loaded.sources) > 1 and loaded.sources[0].name not in table.columns:
        raise unknown(found.name, "what follows the colon", name, [own.name for own in loaded.sources], "ranking")
    raise unknown(found.name, "what follows the colon", name, table.columns)


def _from_objects(found: Document, content: Any, score: str | Sequence[str] | None) -> Loaded:
    """Return the rankings in a JSON object: of items, or of names to objects of items."""
    if not isinstance(content, Mapping):
        raise formats.other_shape(found, f"{shown(content)} alone")
    if not content:
        raise InputError(f"{found.name} must hold at least one item; it is an empty object.")
    nested = [name for name, value in content.items() if isinstance(value, Mapping)]
    if not nested:
        if score is not None:
            raise InputError(
                f"{found.name} must have columns for score to name one; it is a JSON object. Leave it out."
            )
        return Loaded((_from_object(found, found.stem, content, found.name),), None)
    if len(nested) < len(content):
        other = next(name for name in content if name not in set(nested))
        raise formats.other_shape(found, f"an object where {nested[0]!r} holds an object and {other!r} does not")
    names = list(content) if score is None else [score] if isinstance(score, str) else list(score)
    for name in names:
        if name not in content:
            raise unknown(found.name, "score", name, list(content), "ranking")
    sources = [_from_object(found, name, content[name], f"{found.name}, ranking {name!r}") for name in names]
    return Loaded(tuple(sources), None)


def _from_object(found: Document, name: str, content: Mapping[str, Any], origin: str) -> Source:
    """Return the ranking in a JSON object of item to score."""
    if not content:
        raise InputError(f"{origin} must hold at least one item; it is an empty object.")
    scores = np.empty(len(content))
    for at, (label, value) in enumerate(content.items()):
        own = number(value)
        if isinstance(value, (list, Mapping)):
            raise formats.other_shape(found, f"an object where {shown(label)} holds {shown(value)}")
        if own is None:
            raise InputError(f"{origin}, item {shown(label)} must have a number for its score; got {shown(value)}.")
        if not label:
            raise InputError(f"{origin} must name every item; one has an empty name.")
        scores[at] = own
    return Source(name, list(content), scores, origin)


def read(
    path: File | Iterable[File],
    *,
    item: str | None = None,
    score: str | Sequence[str] | None = None,
    ranking: str | None = None,
    format: str | None = None,
    negative: Negative = "raise",
    nan: Nan = "raise",
    missing: Missing = "raise",
) -> Rankings:
    r"""Return the rankings in one or more files, aligned by label and checked.

    Parameters
    ----------
    path : str, path-like or several
        Files, "-" for standard input, or "file:name" for one score column or ranking of a file: CSV, TSV, Parquet,
        Feather, JSON (an object of item to score, an object of name to such objects, or a list of records), .fimp and
        TREC runs (one ranking a query); also compressed with gzip or zstd.
    item, ranking : str, optional
        The columns that name the items and, in a table with a row an item and ranking, the rankings. Guessed from
        the columns' names and content if not given.
    score : str or sequence of str, optional
        The column of scores, or several: one ranking each. All columns of numbers that are not ranks or indices if
        not given.
    format : {"csv", "tsv", "parquet", "feather", "json", "fimp", "trec"}, optional
        The format; by content and extension if not given.
    negative, nan, missing
        As in `fuji`; with nan="drop" and missing="drop" an item is left out of all rankings.

    Returns
    -------
    Rankings
        Named after their columns, or after the files where each holds one; labels are text.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from fujiscore.readers import read
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "scores.csv")
    >>> _ = file.write_text("gene,relief,forest\nBRCA1,0.5,3\nTP53,0.25,4\n")
    >>> found = read(file)
    >>> found.names, found.scores
    (('relief', 'forest'), (array([0.5 , 0.25]), array([3., 4.])))
    >>> folder.cleanup()
    """
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    if not paths:
        raise InputError("path must name at least one file; got none.")
    sources: list[Source] = []
    files: list[str] = []
    for own in paths:
        loaded = load(own, item=item, score=score, ranking=ranking, format=format)
        sources += loaded.sources
        files += [os.fspath(own)] * len(loaded.sources)
    objects = [Labelled(own.items, own.scores) for own in sources]
    names = _distinct_names([own.name for own in sources], files)
    return align(objects, names, negative=negative, nan=nan, missing=missing)


def _distinct_names(names: Sequence[str], files: Sequence[str]) -> list[str]:
    """Return the names with the files' in front of those that several rankings share."""
    repeated = _repeated(names)
    full = [f"{file}:{name}" if name in repeated else name for name, file in zip(names, files, strict=True)]
    repeated = _repeated(full)
    return [f"{name} ({at})" if name in repeated else name for at, name in enumerate(full, 1)]


def _repeated(names: Sequence[str]) -> Collection[str]:
    """Return the names that occur more than once."""
    seen: set[str] = set()
    return {name for name in names if name in seen or seen.add(name)}  # type: ignore[func-returns-value]
