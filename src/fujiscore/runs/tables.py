"""Runs: tables of (query, item, score), from whatever holds them, as columns.

Labels keep their type where both runs have the same one, and are compared as text otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from fujiscore.errors import InputError, choice, counted, first_few, shown, spelled
from fujiscore.inputs.coercion import (
    EXACT,
    Labelled,
    as_frame,
    is_table,
    labelled,
    objects,
    require_apart,
    require_labels,
)
from fujiscore.inputs.direction import Evidence, by_rows, evidence
from fujiscore.inputs.models import ModelScores, is_ranx_run
from fujiscore.inputs.models.attributions import is_several_tensors, joined_tensors
from fujiscore.inputs.ranking import Ranking
from fujiscore.inputs.roles import GROUP_NAMES, QUERY_NAMES, plain
from fujiscore.io import columnar, formats
from fujiscore.io.columns import choose, column_evidence, is_item_name, label_of
from fujiscore.io.documents import Document, Files, document
from fujiscore.io.table import FileTable, Roles, exact, listed, no_rows, not_a_number, number, unknown
from fujiscore.runs import rows
from fujiscore.runs.queries import RunRows, changes, joined, labels_at, two_groups
from fujiscore.text.notes import Note

AS_TEXT = "are text in one run and not in the other: compared as text"


@dataclass(frozen=True)
class RunColumns:
    """The columns that the user named; the others are guessed."""

    by: str | None = None
    item: str | None = None
    score: str | None = None
    group_by: str | None = None
    format: str | None = None


@dataclass(frozen=True, eq=False)
class Run:
    """One run in memory: its columns, notes on how they were found, and what is known of the scores' direction."""

    name: str
    columns: RunRows
    notes: tuple[str, ...] = ()
    evidence: Evidence | None = None
    by_position: bool = False  # queries are the first, the second, ...: as many as in the other run
    unnamed: bool = False  # items are positions
    best_first: bool = False  # the lists are in the order of a search


def run_roles(table: FileTable, given: RunColumns) -> tuple[Roles, tuple[str, ...]]:
    """Return which columns are what, and a note of what was guessed."""
    if given.by is not None and given.by not in table.numeric:
        raise unknown(table.file, spelled("by"), given.by, list(table.numeric))
    by = given.by
    if by is None and table.known is None:
        named = {plain(name): name for name in table.numeric if name not in {given.item, given.score}}
        groups = [name for name in named.values() if plain(name) in GROUP_NAMES and name != given.group_by]
        by = next((named[name] for name in QUERY_NAMES if name in named), groups[0] if len(groups) == 1 else None)
    if by is None and (table.known is None or table.known.ranking is None):
        raise InputError(
            f"{table.file} must have a column that names the queries, such as query, user or task; it has "
            f"{listed(table.numeric)}. Name it with {spelled('by')}."
        )
    if by is not None and by == given.group_by:
        raise InputError(f"{spelled('group_by')} must name another column than that of the queries, {by!r}.")
    free = replace(table, numeric={name: share for name, share in table.numeric.items() if name != given.group_by})
    roles, guess = choose(free, given.item, given.score, by)
    if len(roles.scores) != 1:
        raise InputError(
            f"{table.file} must have one column of scores; it has {listed(roles.scores)}. Name one with "
            f"{spelled('score')}."
        )
    note = None if guess is None else guess.replace("ranking column", "query column", 1)
    group = given.group_by if given.group_by in table.numeric else None
    return replace(roles, group=group), () if note is None else (note,)


def require_groups(given: RunColumns, names: Sequence[str], *, found: bool) -> None:
    """Raise if groups were asked for, and neither run has that column."""
    if given.group_by is not None and not found:
        raise InputError(
            f"{spelled('group_by')} must name a column of {names[0]} or {names[1]}; neither has "
            f"{shown(given.group_by)}."
        )


def load_run(obj: Any, name: str, given: RunColumns) -> Run:
    """Return a run in memory: of a file, a DataFrame or Arrow stream, a mapping, a list of rankings, or arrays."""
    if isinstance(obj, (str, os.PathLike)):
        obj = open_run(obj, given, Files(obj))
    if isinstance(obj, (Run, RunFile)):
        return obj if isinstance(obj, Run) else obj.load()
    if isinstance(obj, ModelScores):
        return _from_source(obj, name)
    if is_ranx_run(obj):
        obj = obj.to_dict()
    if isinstance(obj, Mapping):
        return _from_mapping(obj, name)
    if isinstance(obj, (list, tuple)) and obj and all(isinstance(part, (Mapping, Ranking)) for part in obj):
        return replace(_from_mapping(dict(enumerate(obj)), name), by_position=True)
    return _from_frame(obj, name, given) if is_table(obj) else _from_matrices(obj, name)


@dataclass(frozen=True, eq=False)
class RunFile:
    """A run in a file or a folder of Parquet files that is open: columns are known, rows need not be read yet."""

    name: str
    files: tuple[str, ...]
    document: Document  # the only file, or the first
    table: FileTable
    roles: Roles
    guessed: tuple[str, ...]
    given: RunColumns

    @property
    def is_parquet(self) -> bool:
        """Whether it is Parquet that pyarrow and DuckDB can open themselves."""
        return self.table.layout is None and formats.is_stored_parquet(self.document)

    def load(self) -> Run:
        """Return the run in memory."""
        parts = [_run_rows(self.table, self.roles)]
        parts += [_run_rows(_table(document(file), self.given), self.roles) for file in self.files[1:]]
        columns = joined(parts) if len(parts) > 1 else parts[0]
        if not len(columns):
            raise no_rows(self.name)
        return Run(self.table.file, columns, self.guessed, run_evidence(self.table, self.roles, columns))


def open_runs(runs: Sequence[Any], given: RunColumns) -> list[Any]:
    """Open the runs that are paths, each file once; return the others as they are."""
    files = Files(*(run for run in runs if isinstance(run, (str, os.PathLike))))
    return [open_run(run, given, files) if isinstance(run, (str, os.PathLike)) else run for run in runs]


def open_run(path: str | os.PathLike[str], given: RunColumns, files: Files) -> RunFile | Run:
    """Open the run at a path; what cannot be opened again, such as a pipe, is read at once."""
    if given.format is not None:
        choice("format", given.format, formats.FORMATS)
    name = os.fspath(path)
    parts = [name]
    if folder := os.path.isdir(path):  # noqa: PTH112
        entries = sorted(entry for entry in Path(path).iterdir() if not entry.name.startswith(("_", ".")))
        others = [entry.name for entry in entries if entry.suffix.lower() not in {".parquet", ".pq"} or entry.is_dir()]
        if others or not entries:
            only = "must be a file, or a folder of .parquet files and nothing else"
            raise InputError(f"{name} {only}; it has {first_few(others) or 'none'}.")
        parts = list(map(str, entries))
    first = files.open(parts[0])
    table = _table(first, given)
    roles, notes = run_roles(table, given)
    if folder:
        _require_same_types(name, parts, roles)
    run = RunFile(name, tuple(parts), first, table, roles, notes, given)
    return run if first.regular else run.load()


def _table(file: Document, given: RunColumns) -> FileTable:
    """Return the table in a file, nothing of which need be read yet."""
    return formats.table(file, formats.detect(file, given.format, formats.FORMATS))


def _require_same_types(folder: str, files: Sequence[str], roles: Roles) -> None:
    """Raise if the columns of a folder's files differ in name or type: their labels would not be told apart alike."""
    from pyarrow import parquet

    names = [*roles.labels, *roles.scores]
    types: dict[str, Any] = {}
    for file in files:
        with columnar.complete(file, "parquet"):
            schema = parquet.read_schema(file)
        for name in names:
            if name not in schema.names:
                raise unknown(file, "every file of the folder", name, schema.names)
            kind = str(schema.field(name).type)
            if types.setdefault(name, kind) != kind:
                raise InputError(
                    f"{folder} must have columns of one type in all files; {name!r} is {types[name]} in "
                    f"{Path(files[0]).name} and {kind} in {Path(file).name}."
                )


def run_evidence(table: FileTable, roles: Roles, columns: RunRows) -> Evidence | None:
    """Return what is known about the direction of a run's scores."""
    rows = by_rows(columns.start, columns.scores)
    return column_evidence(table, roles, roles.scores[0], columns.scores, rows)


def _run_rows(table: FileTable, roles: Roles) -> RunRows:
    """Return the rows of a table."""
    arrow = table.arrow(roles) if table.arrow else None
    columns = None if arrow is None else from_arrow(arrow, roles)
    return _from_rows(table, roles) if columns is None else columns


def from_arrow(columns: Sequence[Any], roles: Roles) -> RunRows | None:
    """Return a run from Arrow columns of labels and scores; None if a label or a score is none."""
    import pyarrow as pa

    item, query, *group, score = columns
    items, scores = label_column(item, roles.item), columnar.score_column(score)
    codes = None
    if pa.types.is_dictionary(query.type) and not query.null_count:  # each label is made text once
        query = query.unify_dictionaries().combine_chunks() if isinstance(query, pa.ChunkedArray) else query
        codes, query = query.indices, query.dictionary
    queries = label_column(query, str(roles.ranking))
    groups = label_column(group[0], roles.group) if roles.group is not None else None
    if items is None or scores is None or queries is None or (roles.group is not None and groups is None):
        return None
    return _in_blocks(queries, items, scores, groups, codes)


def _in_blocks(queries: Any, items: Any, scores: Any, groups: Any, codes: Any = None) -> RunRows:
    """Return rows in blocks of one query each; with codes, those of the queries."""
    numbers = None if codes is None else columnar.buffer_values(codes.cast("int64"), np.int64)
    start = changes(queries if numbers is None else numbers)
    labels = labels_at(queries, start if numbers is None else numbers[start])
    if groups is None:
        return RunRows(labels, start, items, scores)
    inside = np.setdiff1d(changes(groups), start)
    if inside.size:
        place = int(inside[0])
        both = labels_at(groups, np.array([place - 1, place]))
        raise two_groups(labels[int(np.searchsorted(start, place, side="right")) - 1], *both)
    return RunRows(labels, start, items, scores, labels_at(groups, start))


def label_column(column: Any, name: str) -> Any:
    """Return an Arrow column of labels as int64 or text, None if one of them is missing."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if column.null_count:
        return None
    if pa.types.is_floating(kind) or (pa.types.is_integer(kind) and kind != pa.uint64()):
        try:
            column = column.cast(pa.int64())
        except pa.ArrowException:
            must = f"column {name!r} must hold text or integers, as labels"
            raise InputError(f"{must}; it holds other numbers.") from None
    else:
        column = columnar.as_text(column)
        from pyarrow import compute

        if compute.any(compute.equal(compute.binary_length(column), 0), min_count=0).as_py():
            return None
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return column if column.type == pa.large_string() else columnar.buffer_values(column, np.int64)


def _from_rows(table: FileTable, roles: Roles) -> RunRows:
    """Return a run row by row: of a small file, or of one in which something may be wrong, to say where."""
    queries, items, scores, groups, large = [], [], [], [], []
    for place, (item, query, *group, value) in table.rows([*roles.labels, *roles.scores]):
        items.append(label_of(table, place, roles.item, item))
        queries.append(label_of(table, place, str(roles.ranking), query))
        groups += [label_of(table, place, str(roles.group), value) for value in group]
        score = number(value)
        if score is None:
            raise not_a_number(table.place(place, roles.scores[0]), value, items[-1])
        scores.append(score)
        if abs(score) >= EXACT:
            large.append(exact(value))
    if not scores:
        raise no_rows(table.file)
    require_apart(large, f"{table.file}, column {roles.scores[0]!r} must hold")
    return _in_blocks(objects(queries), objects(items), np.array(scores), objects(groups) if groups else None)


def _labelled(ranking: Any, name: str) -> Labelled:
    """Return a ranking as labels and scores; a checked one as the items that it lists, and none if there are none."""
    if isinstance(ranking, (Mapping, list, tuple)) and not ranking:
        return Labelled([], np.empty(0))
    if not isinstance(ranking, Ranking):
        return labelled(ranking, name)
    places = np.arange(ranking.n) if ranking.absent is None else np.flatnonzero(~ranking.absent)
    labels = range(ranking.n) if ranking.items is None else ranking.items
    scores = ranking.scores if ranking.negatives is None else np.where(ranking.negatives, -1, 1) * ranking.scores
    return Labelled([labels[place] for place in places.tolist()], scores[places])


def _from_mapping(runs: Mapping[Any, Any], name: str) -> Run:
    """Return the run of a mapping of query to ranking."""
    if not runs:
        raise InputError(f"{name} must have at least one query; got an empty mapping.")
    parts = [_labelled(ranking, f"{name}, query {shown(query)}") for query, ranking in runs.items()]
    if all(rows.is_whole(ranking) for ranking in runs.values()):
        raise rows.whole_numbers(name, "lists of integers", "as mappings {id: score}, one per query")
    for query, part in zip(runs, parts, strict=True):
        if part.items is not None:
            require_labels(part.items, f"{name}, query {shown(query)}")
    sizes = np.array([part.scores.size for part in parts], np.int64)
    labels = [range(part.scores.size) if part.items is None else part.items for part in parts]
    items = objects(chain.from_iterable(labels))
    scores = np.concatenate([part.scores for part in parts])
    notes = [note for part in parts for note in part.notes]
    likewise = f"; likewise {counted(len(notes) - 1, 'other query', 'other queries')}" if len(notes) > 1 else ""
    first = tuple(Note(note.fact, f"{note}{likewise}") if isinstance(note, Note) else note for note in notes[:1])
    start = np.cumsum(sizes) - sizes
    # Positions are in the order of the items, whatever their scores.
    named = [part.items is not None and not isinstance(part.items, range) for part in parts]
    known = evidence("score", scores, by_rows(start, scores) if all(named) else None)
    unnamed = all(part.items is None for part in parts)
    return Run(name, RunRows(list(runs), start, items, scores), first, known, unnamed=unnamed)


def _from_source(source: ModelScores, name: str) -> Run:
    """Return the run of what a library returned: a query per row, repeat or fold."""
    if source.word == "model":
        raise InputError(f"{name} must be several rankings; a model gives one. Compare two models with compare.")
    if source.word == "row":
        values, items = np.array([part.scores for part in source.parts]), source.parts[0].items
        labels = range(values.shape[1]) if items is None else items
        columns = rows.of_matrix(values, name, list(range(len(values))), labels)
        return Run(name, columns, source.notes, by_position=True, unnamed=items is None)
    run = _from_mapping(source.each(), name)
    return replace(run, notes=(*source.notes, *run.notes), evidence=None)


def _from_matrices(obj: Any, name: str) -> Run:
    """Return the run of what has one row per query: ids with their scores, attributions to inputs, or scores."""
    pair = rows.two_matrices(obj)
    if pair is not None:
        return Run(name, *rows.of_search(*pair, name), by_position=True, best_first=True)
    if is_several_tensors(obj):
        names, values = joined_tensors(obj, name)
        if values.dtype.kind in "iu":
            raise rows.whole_numbers(name, f"tensors of {values.dtype}")
        items = range(values.shape[1]) if names is None else names
        matrix = rows.of_matrix(values, name, list(range(len(values))), items)
        return Run(name, matrix, by_position=True, unnamed=names is None)
    return Run(name, rows.of_array(obj, name), by_position=True, unnamed=True)


def _from_frame(obj: Any, name: str, given: RunColumns) -> Run:
    """Return the run in a DataFrame or an Arrow stream."""
    _, frame = as_frame(obj, name)
    if not len(frame):
        raise InputError(f"{name} must have rows; it has none.")
    numeric = {column: float(kind.is_numeric()) for column, kind in frame.schema.items()}
    long = any(
        plain(column) in QUERY_NAMES or (is_item_name(column) and kind.is_integer())
        for column, kind in frame.schema.items()
    )
    if given.by is given.item is given.score is None and all(numeric.values()) and not long:
        return Run(name, rows.of_table(obj, frame, name))

    def cells(names: Sequence[str]) -> Any:
        return enumerate(zip(*(frame[column].to_list() for column in names), strict=True), 1)

    table = FileTable(name, numeric, cells, lambda column: frame[column].head(500).to_list(), unit="row")
    roles, notes = run_roles(table, given)
    columns = None
    if find_spec("pyarrow") is not None:
        import pyarrow as pa

        with suppress(pa.ArrowException, TypeError, ValueError):
            parts = [frame[column].to_arrow() for column in (*roles.labels, *roles.scores)]
            columns = [pa.chunked_array([part]) if isinstance(part, pa.Array) else part for part in parts]
    run = _run_rows(replace(table, arrow=lambda _: columns), roles)
    return Run(name, run, notes, run_evidence(table, roles, run))


def alike(first: RunRows, second: RunRows) -> tuple[RunRows, RunRows, tuple[str, ...]]:
    """Return both runs with labels of one kind, and notes of what is compared as text."""
    notes = []
    columns, queries = [first.items, second.items], [first.queries, second.queries]
    if _is_text_and_not(*map(label_types, columns)):
        notes.append(f"items {AS_TEXT}")
        columns = [objects(map(_text_of, c.tolist())) if isinstance(c, np.ndarray) else c for c in columns]
    if _is_text_and_not(*(set(map(type, labels)) for labels in queries)):
        notes.append(f"queries {AS_TEXT}")
        queries = [[_text_of(query) for query in labels] for labels in queries]
    columns = _same_storage(columns)
    one, other = (
        replace(side, items=items, queries=labels)
        for side, items, labels in zip((first, second), columns, queries, strict=True)
    )
    return one, other, tuple(notes)


def _is_text_and_not(first: set[type], second: set[type]) -> bool:
    """Return whether one run's labels are all text and none of the other's."""
    return any(one == {str} and other and str not in other for one, other in ((first, second), (second, first)))


def _text_of(label: Any) -> str:
    """Return a label as text, 1.0 as 1."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def label_types(column: Any) -> set[type]:
    """Return the types of labels in a column."""
    if isinstance(column, np.ndarray):
        return set(map(type, column.tolist())) if column.dtype == object else {int}
    return {str}


def _same_storage(columns: list[Any]) -> list[Any]:
    """Return two columns of labels held in the same way: Arrow, if one is and both are text, or Python objects."""
    arrow = [not isinstance(column, np.ndarray) for column in columns]
    if all(arrow) or (not any(arrow) and columns[0].dtype == columns[1].dtype):
        return columns
    if any(arrow) and all(label_types(column) == {str} for column in columns):
        import pyarrow as pa

        return [pa.array(c.tolist(), pa.large_string()) if isinstance(c, np.ndarray) else c for c in columns]
    return [objects(c.tolist() if isinstance(c, np.ndarray) else c.to_pylist()) for c in columns]
