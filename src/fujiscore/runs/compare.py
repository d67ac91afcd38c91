"""Two runs, tables of (query, item, score): one comparison per query."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, choice, counted, first_few, integer, proportion, shown, spelled
from fujiscore.inputs import models
from fujiscore.inputs.coercion import Labelled, no_signs, require_size
from fujiscore.inputs.direction import Evidence, judged
from fujiscore.inputs.labels import advice, near_matches
from fujiscore.inputs.options import DUPLICATES, NAN, NEGATIVE, takes
from fujiscore.inputs.ranking import Ranking, Rankings
from fujiscore.inputs.rankings import align
from fujiscore.inputs.transforms import named, one_per_ranking, scales, without_signs
from fujiscore.measures.grids import GRIDS
from fujiscore.measures.overlap import TIES, ZERO_TAIL
from fujiscore.measures.registry import find, require_signs, require_whole
from fujiscore.pair.explain import zeros_say_nothing
from fujiscore.runs.batches import Depths, ListTask, RepeatedItem, UniverseTooSmall, compared
from fujiscore.runs.queries import Chunk, Rules, repeated, together
from fujiscore.runs.results import RunComparison
from fujiscore.runs.rows import label_array, require_best_first
from fujiscore.runs.spans import Stored, UnsortedError, chunks, ranges, ways
from fujiscore.runs.tables import Run, RunColumns, alike, label_types, load_run, open_runs, require_groups
from fujiscore.text.notes import Fact, Note, Tally, final
from fujiscore.text.tabular import fields_only
from fujiscore.work.tiles import Execution, run

MISSING = ("bounds", "zero", "drop", "raise")
# Rows of both runs per tile: some hundredths of a second.
TILE = 1 << 18


@dataclass(frozen=True)
class Job:
    """What to do with every query; the same for all tiles."""

    task: ListTask
    rules: Rules
    keep: int


@dataclass
class Part:
    """The comparison of some queries."""

    queries: list[Any] = field(default_factory=list)
    columns: list[dict[str, NDArray[Any]]] = field(default_factory=list)
    only: tuple[list[Any], list[Any]] = field(default_factory=lambda: ([], []))
    groups: list[Any] = field(default_factory=list)
    kept: list[tuple[float, Any, Any]] = field(default_factory=list)  # value, query, its two lists
    tally: Tally = field(default_factory=Tally)

    def add(self, other: Part, keep: int) -> None:
        """Append another part; of the lists, those of the queries that changed most stay."""
        self.queries += other.queries
        self.columns += other.columns
        self.groups += other.groups
        for mine, others in zip(self.only, other.only, strict=True):
            mine.extend(others)
        self.kept = sorted([*self.kept, *other.kept], key=lambda entry: entry[0])[:keep]
        self.tally.merge(other.tally)

    def shares_items(self) -> bool:
        """Return whether a query has an item of both runs, or there is no query."""
        return not self.queries or any(part["shared"].any() for part in self.columns)


@takes(Execution)
def compare_runs(
    a: Any,
    b: Any,
    *,
    by: str | None = None,
    item: str | None = None,
    score: str | None = None,
    group_by: str | None = None,
    format: str | None = None,
    measures: Sequence[Any] = ("fuji", "rbo", "jaccard"),
    k: int | None = None,
    ks: Any = None,
    universe: int | None = None,
    missing: str = "bounds",
    negative: str = "raise",
    nan: str = "raise",
    duplicates: str = "raise",
    transform: Any = None,
    ties: str = "closed",
    zero_tail: str = "include",
    confidence: float = 0.95,
    keep: int = 20,
    **work: Unpack[Execution],
) -> RunComparison:
    """Compare two runs query by query.

    Parameters
    ----------
    a, b : path, DataFrame, Arrow stream, mapping, list, 2-D array or pair of arrays
        Tables with one row per query and item: Parquet (also a folder of files), CSV, TSV, Feather, JSON or TREC files,
        DataFrames of any library (such as those of PyTerrier), Arrow tables and streams. Mappings of query to ranking,
        `Rankings`, lists of rankings (dicts), and `ranx.Run`s. Scores with one row per query (instance) and one column
        per item (feature): DataFrames, whose columns are matched by name and whose rows by the pandas index, arrays and
        tensors of floats, tuples of tensors (one per input, from captum), and `shap.Explanation`s. What a vector index
        returns: pairs (ids, scores) of 2-D arrays, one row per query from best to worst, the id -1 for no item;
        distances need a `transform`. Parquet sorted by query is read as a stream, in bounded memory; other large files
        are sorted by DuckDB first (extra `duckdb`).
    by, item, score : str, optional
        The columns of queries, items and scores; guessed from their names if not given.
    group_by : str, optional
        A column with one value per query, by which results are also summarised.
    format : str, optional
        The files' format, as in `read`.
    measures : sequence of str or Measure
        Names in `MEASURES`; the first one is the headline.
    k : int, optional
        Compare the first k items of each query, 10 by default; a shorter list is compared at its own length.
    ks : {"exp", "all", "squared"} or increasing integers, optional
        Give the area under the curve over this grid instead, up to the length of the shorter list.
    universe : int, optional
        The number of items that lists were drawn from, for values corrected for chance and p-values.
    missing : {"bounds", "zero", "drop", "raise"}
        Items that one list lacks: their score is unknown, so that FUJI is at least `fuji` (they count as 0) and at
        most `fuji_high`; they score 0; they are left out; or they are an error.
    negative : {"raise", "clip", "abs", "split"}
        How to treat negative scores, as in `rankings`; for two `shap.Explanation`s, "raise" means "abs". With "split"
        both lists of a query must have the same items, unless `missing` is "zero" or "drop", and scores must have
        signs: pick one output of several.
    transform : str or callable, optional
        How scores become "higher is better, with a meaningful zero", as in `rankings`; a transform that depends on the
        whole list ("exp", "minmax", "flip", "rank") does on each query's. A pair such as ("exp", None) is one for each
        run.
    confidence : float
        Level of the intervals of means.
    keep : int
        The number of queries that changed most whose lists are kept, for `explain`.
    executor : concurrent.futures.Executor or distributed.Client, optional
        Where to run instead: a pool of processes, or a Dask cluster. Each worker reads its own range of queries of
        Parquet files.

    Returns
    -------
    RunComparison
        With `.to_frame()`, one row per query, `.interval()`, `.quantile()`, `.worst()`, `.explain()` and `.notes`.

    Examples
    --------
    >>> import fujiscore as fj
    >>> old = {"q1": {"x": 3.0, "y": 2.0, "z": 1.0}, "q2": {"x": 2.0, "y": 1.0}}
    >>> new = {"q1": {"x": 3.0, "y": 2.0, "w": 1.0}, "q2": {"x": 2.0, "y": 1.0}}
    >>> fj.compare_runs(old, new, k=3).columns["jaccard"]
    array([0.5, 1. ])
    """
    a, b = (
        dict(obj.items()) if isinstance(obj, Rankings) else models.read(obj, name) or models.without_gradient(obj)
        for obj, name in ((a, "a"), (b, "b"))
    )
    suited = {_suited_policy(obj) for obj in (a, b)}
    negative = suited.pop() if negative == "raise" and len(suited) == 1 else negative
    rules = _rules(negative, nan, missing, duplicates, transform)
    task = _task(measures, k, ks, universe, rules, ties, zero_tail)
    for obj, name, one in zip((a, b), ("a", "b"), rules.transforms, strict=True):
        _require_signs(obj, name, task, without_signs(one, rules.negative))
    proportion("confidence", confidence)
    given = RunColumns(by, item, score, group_by, format)
    job = Job(task, rules, integer("keep", keep, 0))
    notes: list[str] = []
    a, b = open_runs((a, b), given)
    with ExitStack() as stack:

        def folder() -> Path:
            return Path(stack.enter_context(TemporaryDirectory(prefix="fujiscore-")))

        for stores in ways(a, b, given, folder, notes, distributed=work.get("executor") is not None):
            try:
                if stores is None:
                    part, names = _in_memory(a, b, given, job, notes, work)
                else:
                    part, names = _from_stores(*stores, job, notes, work)
                break
            except UnsortedError:
                continue
    return _result(part, names, job, {"k": task.depths.ks}, confidence, notes)


def _suited_policy(obj: Any) -> str:
    """Return the policy for negative scores that suits a run; of rankings of magnitudes, the one that made them."""
    if isinstance(obj, models.ModelScores):
        return obj.negative
    return "abs" if any(ranking.negatives is not None for ranking in _checked(obj)) else "raise"


def _checked(obj: Any) -> list[Ranking]:
    """Return the checked rankings in a mapping or a list of them."""
    members = obj.values() if isinstance(obj, Mapping) else obj if isinstance(obj, (list, tuple)) else ()
    return [ranking for ranking in members if isinstance(ranking, Ranking)]


def _require_signs(obj: Any, name: str, task: ListTask, transformed: str | None) -> None:
    """Raise if signs are asked for that scores have lost, before or by a transform."""
    parts = [obj] if isinstance(obj, models.ModelScores) else _checked(obj)
    for unsigned in (transformed, *(part.unsigned for part in parts)):
        if unsigned is not None and task.negative == "split":
            raise no_signs(name, spelled("negative", "split"), unsigned)
        for measure in task.measures:
            require_signs(measure, name, unsigned)


def _rules(negative: str, nan: str, missing: str, duplicates: str, transform: Any) -> Rules:
    """Return the checked policies."""
    choice("negative", negative, NEGATIVE)
    choice("nan", nan, NAN)
    choice("missing", missing, MISSING)
    choice("duplicates", duplicates, DUPLICATES)
    first, second = one_per_ranking(transform, ("a", "b"))
    if negative != "split" and first == second == "abs":
        negative = "abs"  # the signs stay beside the magnitudes
    return Rules(negative, nan, missing, duplicates, (first, second))


def _task(
    measures: Sequence[Any],
    k: int | None,
    ks: Any,
    universe: int | None,
    rules: Rules,
    ties: str,
    zero_tail: str,
) -> ListTask:
    """Return the checked task."""
    names = (measures,) if isinstance(measures, str) else measures
    chosen = tuple({measure.name: measure for measure in map(find, names)}.values())
    if not chosen:
        raise InputError(f"{spelled('measures')} must name at least one measure; got none.")
    if k is not None and ks is not None:
        raise InputError(f"{spelled('k')} and {spelled('ks')} both say where to evaluate: pass one of them.")
    choice("ties", ties, TIES)
    choice("zero_tail", zero_tail, ZERO_TAIL)
    if universe is not None:
        require_size(integer("universe", universe, 1), "universe")
    if rules.negative == "split":
        for measure in chosen:
            require_whole(measure, split=True)
        if universe is not None:
            raise InputError(f"{spelled('universe')} cannot be combined with {spelled('negative', 'split')}.")
    bounded = "bounds" if rules.missing == "bounds" else "zero"
    return ListTask(chosen, Depths(_depths(k, ks)), universe, ties, zero_tail, bounded, rules.negative)


def _depths(k: int | None, ks: Any) -> Any:
    """Return where to evaluate: one k, a grid's name, or increasing integers."""
    if ks is None:
        return integer("k", 10 if k is None else k, 1)
    if isinstance(ks, str):
        choice("ks", ks, GRIDS)
        return ks
    points = np.atleast_1d(np.asarray(ks))
    integers = points.ndim == 1 and points.size and points.dtype.kind in "iu"
    if not integers or points[0] < 1 or (np.diff(points) < 1).any():
        raise InputError(
            f"{spelled('ks')} must be {', '.join(GRIDS)} or increasing positive integers; got {shown(ks)}."
        )
    return points.astype(np.int64)


def _in_memory(
    a: Any, b: Any, given: RunColumns, job: Job, notes: list[str], work: Execution
) -> tuple[Part, tuple[str, str]]:
    """Compare two runs that are read whole."""
    shapes = [np.shape(obj) if isinstance(obj, np.ndarray) else None for obj in (a, b)]
    if None not in shapes and shapes[0] != shapes[1]:
        raise InputError(
            f"a and b must be arrays of one shape, to be compared row by row; got {shapes[0]} and {shapes[1]}."
        )
    first, second = load_run(a, "a", given), load_run(b, "b", given)
    _require_comparable(first, second, job.rules)
    names = (first.name, second.name) if first.name != second.name else ("a", "b")
    require_groups(given, names, found=any(side.columns.groups is not None for side in (first, second)))
    for name, loaded in zip(names, (first, second), strict=True):
        notes += [note if isinstance(note, Note) else f"{name}: {note}" for note in loaded.notes]
    notes += _on_direction(names, (first.evidence, second.evidence), job)
    r, s, as_text = alike(first.columns, second.columns)
    notes += as_text
    part = Part()
    chunk = together(r, s, names, job.rules, part.tally)
    rows = chunk.r.start + chunk.s.start
    cuts = np.searchsorted(rows, np.arange(TILE, int(rows[-1]), TILE), side="left")
    cuts = np.unique(np.concatenate([[0], cuts, [len(chunk.queries)]]))
    tiles = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
    for piece in run(_compared, tiles, shared=(chunk, job, names), label="queries", **work):
        part.add(piece, job.keep)
    part.add(Part(only=chunk.only), job.keep)
    if not part.shares_items():
        notes += _near_items([dict.fromkeys(side.items.tolist()) for side in (r, s)], names)
    return part, names


def _on_direction(names: tuple[str, str], known: Sequence[Evidence | None], job: Job) -> list[str]:
    """Return notes on runs whose scores are read as they stand though less seems better; raise if it surely is."""
    sides = zip(names, known, job.rules.transforms, strict=True)
    return [note for name, evidence, transform in sides if transform is None for note in judged(evidence, name)]


def _require_comparable(first: Run, second: Run, rules: Rules) -> None:
    """Raise if what has no labels cannot be matched with the other run, or the lists of a search are of distances."""
    sizes = [len(side.columns.queries) for side in (first, second)]
    if first.by_position and second.by_position and sizes[0] != sizes[1]:
        raise InputError(f"a and b must have the same queries, matched by position; got {sizes[0]} and {sizes[1]}.")
    if first.unnamed != second.unnamed:
        bare, named = (first, second) if first.unnamed else (second, first)
        if str in label_types(named.columns.items):
            raise InputError(
                f"{bare.name} must label its items as {named.name} does; its items are positions. Pass a DataFrame "
                "with the items as columns, or both runs as arrays with the items in one order."
            )
    for side, transform in zip((first, second), rules.transforms, strict=True):
        if side.best_first and transform is None:
            require_best_first(side.columns, side.name)


def _compared(chunk: Chunk, job: Job, names: tuple[str, str], first: int, last: int) -> Part:
    """Compare some queries of a chunk."""
    part = Part(chunk.queries[first:last], groups=chunk.groups[first:last])
    try:
        columns = compared(chunk.r.part(first, last), chunk.s.part(first, last), job.task)
    except RepeatedItem as again:
        raise repeated(chunk, first + again.args[0], names) from None
    except UniverseTooSmall as small:
        place, items = small.args
        raise InputError(
            f"{spelled('universe')} must be at least the number of items that the lists of a query have together; got "
            f"{job.task.universe}, and for query {shown(chunk.queries[first + place])} these have {items}."
        ) from None
    refused = _refused(job)
    if refused is not None:
        _require_same_items(chunk, columns, first, names, *refused)
    part.columns.append(columns)
    values = columns[job.task.measures[0].name]
    order = np.argsort(values, kind="stable")[: job.keep]
    for q in order[~np.isnan(values[order])].tolist():
        part.kept.append((float(values[q]), part.queries[q], chunk.listed(first + q)))
    return part


def _require_same_items(
    chunk: Chunk,
    columns: dict[str, NDArray[Any]],
    first: int,
    names: tuple[str, str],
    why: str,
    remedies: Sequence[str],
) -> None:
    """Raise if the lists of a query do not hold the same items."""
    same = (columns["shared"] == columns["n_a"]) & (columns["shared"] == columns["n_b"])
    if same.all():
        return
    q = int(np.argmin(same))
    (one, _), (other, _) = chunk.listed(first + q)
    hint = _sentence(advice((one, other), names))
    lacking = [shown(item) for item in one if item not in set(other)] or [shown(i) for i in other if i not in set(one)]
    raise InputError(
        f"{names[0]} and {names[1]} must list the same items for each query; for query "
        f"{shown(chunk.queries[first + q])} one of them lacks {first_few(lacking)}.{why} Pass "
        f"{' or '.join(remedies)}. {hint}".rstrip(),
        "missing",
    )


def _near_items(labels: Sequence[Collection[Any]], names: tuple[str, str], where: str = "") -> list[str]:
    """Return a note if runs that share no item in any query would share some if these were spelled alike."""
    if not labels or near_matches(*labels) is None:
        return []
    return [f"no query has an item of both runs, although{where} {advice(labels, names)}"]


def _sentence(hint: str | None) -> str:
    """Return a hint as a sentence, nothing if there is none."""
    return f"{hint[0].upper()}{hint[1:]}." if hint else ""


def _refused(job: Job) -> tuple[str, list[str]] | None:
    """Return why lists of different items are refused, and the remedies; None if they are not."""
    missing, split = job.rules.missing, job.rules.negative == "split"
    zero, drop = spelled("missing", "zero"), spelled("missing", "drop")
    if missing == "raise":
        return "", [zero, drop] if split else [spelled("missing", "bounds"), zero, drop]
    if split and missing == "bounds":
        return f" {spelled('negative', 'split')} has no bounds: the signs of missing items are unknown.", [zero, drop]
    if split and missing == "zero" and job.task.ties == "stable":
        stable = f"{spelled('ties', 'stable')} and {spelled('negative', 'split')}"
        return f" {stable} need one order of all items.", [spelled("ties", "closed"), drop]
    return None


def _from_stores(a: Stored, b: Stored, job: Job, notes: list[str], work: Execution) -> tuple[Part, tuple[str, str]]:
    """Compare two runs in Parquet files, a range of queries at a time, which each worker reads itself."""
    names = (a.name, b.name) if a.name != b.name else ("a", "b")
    notes += _on_direction(names, (a.evidence, b.evidence), job)
    part = Part()
    for piece in run(_compared_range, ranges(a, b), shared=(a, b, job, names), label="queries", **work):
        part.add(piece, job.keep)
    if not part.shares_items():
        sides = zip(*(lists for _, _, lists in part.kept), strict=True)
        some = [dict.fromkeys(item for items, _ in side for item in items) for side in sides]
        notes += _near_items(some, names, f" in {len(part.kept)} of the queries")
    return part, names


def _compared_range(a: Stored, b: Stored, job: Job, names: tuple[str, str], low: Any, high: Any) -> Part:
    """Compare the queries in a range, reading their rows."""
    part = Part()
    for first, second in chunks(a, b, low, high):
        r, s, notes = alike(first, second) if len(first) and len(second) else (first, second, ())
        for note in notes:
            part.tally.add(Fact("said", count=1, detail=note))
        chunk = together(r, s, names, job.rules, part.tally)
        if chunk.queries:
            part.add(_compared(chunk, job, names, 0, len(chunk.queries)), job.keep)
        part.add(Part(only=chunk.only), job.keep)
    return part


def _result(
    part: Part, names: tuple[str, str], job: Job, where: dict[str, Any], confidence: float, notes: list[str]
) -> RunComparison:
    """Return the comparison from its parts."""
    if not part.queries:
        alone = [
            f"{first_few([shown(q) for q in only])} in {name}" for name, only in zip(names, part.only, strict=True)
        ]
        raise InputError(
            f"{names[0]} and {names[1]} must have a query in common; there are only {' and '.join(alone)}. "
            f"{_sentence(advice(part.only, names, ('query', 'queries')))}".rstrip()
        )
    columns = {name: np.concatenate([piece[name] for piece in part.columns]) for name in part.columns[0]}
    zero = int(columns.pop("zero").sum())
    task, rules = job.task, job.rules
    settings = {
        "a": names[0],
        "b": names[1],
        **where,
        "universe": task.universe,
        "missing": rules.missing,
        "transform": [named(transform) for transform in rules.transforms],
        "ties": task.ties,
        "zero_tail": task.zero_tail,
    }
    all_notes = [*notes, *part.tally.notes(), *_notes(columns, part, names, task, zero)]
    all_notes += scales(rules.transforms, names)
    return RunComparison(
        label_array(part.queries),
        columns,
        task.measures,
        settings,
        label_array(part.only[0]),
        label_array(part.only[1]),
        lists=KeptLists({query: lists for _, query, lists in part.kept}, names, rules.negative),
        groups=label_array(part.groups) if part.groups else None,
        confidence=confidence,
        notes=final(all_notes),
    )


@dataclass(frozen=True, eq=False)
class KeptLists(Mapping[Any, tuple[Ranking, Ranking]]):
    """The lists of some queries as rankings over the items of both, aligned when a query is looked up."""

    lists: dict[Any, Any]
    names: tuple[str, str]
    negative: str

    __getstate__ = fields_only

    @cached_property
    def _aligned(self) -> dict[Any, tuple[Ranking, Ranking]]:
        """The rankings that were looked up."""
        return {}

    def __getitem__(self, query: Any) -> tuple[Ranking, Ranking]:
        """Return the two rankings of a query."""
        if query not in self._aligned:
            parts = [Labelled(items, scores) for items, scores in self.lists[query]]
            first, second = align(
                parts, list(self.names), negative=self.negative, nan="raise", missing="zero", duplicates="raise",
                transform=None, universe=None, notes=(),
            )  # fmt: skip
            self._aligned[query] = first, second
        return self._aligned[query]

    def __iter__(self) -> Iterator[Any]:
        """Return the queries."""
        return iter(self.lists)

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.lists)


def _notes(
    columns: dict[str, NDArray[Any]], part: Part, names: tuple[str, str], task: ListTask, zero: int
) -> list[str]:
    """Return what a reader must know; for some queries values are undefined because zeros are no members."""
    why = "a list has no positive score" if task.capped else zeros_say_nothing()
    notes = [f"undefined for {counted(zero, 'query', 'queries')}: {why}"] if zero else []
    notes += [
        f"{counted(len(queries), 'query', 'queries')} in {name} alone, in no mean: {first_few(queries)}"
        for name, queries in zip(names, part.only, strict=True)
        if queries
    ]
    if "fuji" in columns and part.tally.counted("negative as 0") and np.isnan(columns["fuji"][columns["k"] > 0]).any():
        notes.append(
            "FUJI is undefined where all scores of a list are negative: pass "
            f"{spelled('transform', 'exp')} if they are logs"
        )
    if task.negative == "split":
        notes.append(f"{spelled('negative', 'split')}: each item read as two, one for each sign")
        positive = [name for name in names if not part.tally.counted("signs split", name)]
        if len(positive) == 1:
            notes.append(f"{positive[0]} has no negative score, the other run has: are its scores magnitudes?")
    ks = task.depths.ks
    deepest = ks if isinstance(ks, int) else 0 if isinstance(ks, str) else int(ks[-1])
    short = int((columns["k"] < deepest).sum())
    if short:
        argument = spelled("k", deepest) if isinstance(ks, int) else f"k = {deepest}"
        notes.append(
            f"{counted(short, 'query', 'queries')} with a list shorter than {argument}, compared at its length"
        )
    return notes
