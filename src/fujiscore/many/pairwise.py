"""All pairs of many rankings: each is sorted once, and the pairs run in tiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

import fujiscore._kernels as _kernels
from fujiscore.errors import InputError, choice, counted, first_few, spelled
from fujiscore.inference.intervals import ALTERNATIVES
from fujiscore.inference.multiplicity import ADJUSTMENTS, adjusted
from fujiscore.inputs.options import Options, parted, takes
from fujiscore.inputs.rankings import combine
from fujiscore.inputs.rankings import rankings as as_rankings
from fujiscore.many.matrix import Matrix
from fujiscore.measures.grids import MANY_PAIRS, Grid, Sizes, grid
from fujiscore.measures.overlap import (
    MOST_LEVELS,
    TIES,
    ZERO_TAIL,
    Counts,
    Overlap,
    Ties,
    ZeroTail,
    at_zero,
    capped,
    require_scores_for_fuji,
    tail_moments,
)
from fujiscore.measures.registry import Measure, area, evaluate, find, headline
from fujiscore.null import area as area_null
from fujiscore.null.chance import no_universe
from fujiscore.null.closed_forms import Null, closed_form, has_closed_form, moments
from fujiscore.null.permutations import ROUNDING
from fujiscore.pair.explain import zeros_say_nothing
from fujiscore.work.checkpoint import Finished, resumable, sum_of
from fujiscore.work.tiles import run, spans

if TYPE_CHECKING:
    import os

    from fujiscore.inputs.coercion import Scores
    from fujiscore.inputs.ranking import Ranking, Rankings

    Indices: TypeAlias = NDArray[np.int64]
    Block: TypeAlias = tuple[Indices, Indices]
    Areas: TypeAlias = Scores  # a row each for values, values expected by chance, p-values

# Of `PairOptions`.
DEFAULTS: dict[str, Any] = {"ks": MANY_PAIRS, "corrected": False, "ties": "closed", "zero_tail": "include"}
# Rankings per side of a tile: some milliseconds of work at 20,000 items, so that Ctrl-C is heard at once.
TILE = 16
# With a checkpoint the most tiles, each a file: a matrix of many rankings has larger ones.
MOST_FILES = 1000
# Pairs times items in a tile that is sent to an executor: some hundredths of a second, against Dask's 5 ms per task.
WORTH_SENDING = 1 << 24


class PairOptions(Options, total=False):
    """What to compute of each pair, how input is read, and where the work is done."""

    ks: Any
    corrected: bool
    ties: Ties
    zero_tail: ZeroTail


@dataclass(frozen=True, eq=False)
class PairTask:
    """What to compute of each pair."""

    measure: Measure
    grid: Grid
    ties: str
    zero_tail: str
    corrected: bool
    population: int | None
    alternative: str | None = None

    @property
    def tested(self) -> bool:
        """Whether every pair gets a p-value."""
        return self.alternative is not None

    @property
    def by_chance(self) -> bool:
        """Whether the values expected by chance are needed."""
        return self.corrected or self.tested

    @property
    def tail(self) -> float:
        """The membership of items outside a set whose last score is 0."""
        return float(self.zero_tail == "include")

    @property
    def single(self) -> bool:
        """Whether values are reported at one k, where they may be undefined, rather than areas."""
        return self.grid.ks.size == 1 and self.grid.kind == "custom"

    def overlap(self, r: Ranking, s: Ranking) -> Overlap:
        """Return the overlap of a pair along the task's path."""
        ks = self.grid.ks
        return Overlap(r, s, ks, ks, ties=self.ties, zero_tail=self.zero_tail, population=self.population)

    def curves(self, r: Ranking, s: Ranking) -> tuple[Scores, Scores | None]:
        """Return a pair's curve, and its expectation by chance if values are to be corrected."""
        overlap = self.overlap(r, s)
        values = evaluate(self.measure, overlap)
        form = self.null(overlap) if self.corrected else None
        return values, None if form is None else form[0]

    def null(self, overlap: Overlap) -> tuple[Scores, Scores] | None:
        """Return expectation and variance of a pair's curve by chance, None if they have no closed form."""
        return closed_form(self.measure, overlap)


def task_for(
    rankings: Rankings,
    measure: Any,
    *,
    ks: Any = MANY_PAIRS,
    corrected: bool = False,
    ties: str = "closed",
    zero_tail: str = "include",
    alternative: str | None = None,
) -> PairTask:
    """Return the checked task; corrected values and p-values need a null that fits the statistic."""
    choice("ties", ties, TIES)
    choice("zero_tail", zero_tail, ZERO_TAIL)
    chosen = find(measure)
    points = grid(ks, rankings.depth, rankings.universe)
    if chosen.name == "fuji":
        require_scores_for_fuji(rankings)
    if corrected and not has_closed_form(chosen):
        raise InputError(
            f"{spelled('corrected')} needs a measure whose chance level has a closed form; {chosen.name} has "
            "none. Compare single pairs with permutations."
        )
    if alternative is not None and not area_null.has_area_null(chosen):
        raise InputError(
            f"{spelled('p_values')} needs a measure whose area has a null distribution in closed form, such as fuji "
            f"or jaccard; {chosen.name} has none. Compare single pairs with {spelled('permutations', 1000)}."
        )
    if corrected or alternative is not None:
        _require_null("corrected" if corrected else "p_values", rankings, points.ks, ties)
    items = rankings.population or 0
    if alternative is not None and items < area_null.FEWEST:
        raise InputError(
            f"{spelled('p_values')} needs at least {area_null.FEWEST} items; got {items}. Compare single pairs with "
            f"{spelled('permutations', 1000)}."
        )
    return PairTask(chosen, points, ties, zero_tail, corrected, rankings.population, alternative)


def _require_null(argument: str, rankings: Rankings, ks: Sizes, ties: str) -> None:
    """Raise unless the null fits the statistic: a known population, and no ties that top sets cut."""
    if rankings.population is None:
        raise InputError(f"{no_universe()}.")
    if rankings.split is not None:
        raise InputError(
            f"{spelled(argument)} cannot be combined with {spelled('negative', 'split')}: both signs of an item "
            "move together, which the closed form of the chance level does not describe. Compare single pairs with "
            f"{spelled('permutations', 1000)}."
        )
    if ties != "stable":
        return
    inside = ks[ks < rankings.n]
    for ranking in rankings:
        if (ranking.ranked_raw[inside - 1] == ranking.ranked_raw[inside]).any():
            raise InputError(
                f"{spelled(argument)} needs {spelled('ties', 'closed')}: {ranking.name} has ties that top "
                "sets cut, and the closed form of the chance level does not describe ties broken by input order."
            )


@takes(Options)
def pairwise(
    rankings: Any,
    others: Any = None,
    *,
    measure: Any = "fuji",
    ks: Any = MANY_PAIRS,
    corrected: bool = False,
    p_values: bool = False,
    alternative: str = "greater",
    adjust: str = "bh",
    checkpoint: str | os.PathLike[str] | None = None,
    ties: Ties = "closed",
    zero_tail: ZeroTail = "include",
    **options: Unpack[Options],
) -> Matrix:
    """Compare every ranking with every other by the area under a measure's curve.

    Measures of whole lists (rbo, kendall, ...) are compared by their value over the whole list instead.

    Parameters
    ----------
    others : mapping, DataFrame, 2-D array, sequence or Rankings, optional
        Compare every one of `rankings` with every one of these instead of with each other.
    ks : {"exp", "all", "squared"}, an integer or increasing integers
        Where to evaluate. "exp" gives the top-weighted area in one pass over the items per pair; "all" the whole
        curve's; one integer gives the value at that k.
    p_values : bool
        Whether to test every pair: how often random rankings with the same scores would give at least this value,
        without permutations, as `chance` does.
    checkpoint : path, optional
        A folder that keeps finished tiles, so that the same call resumes after an interruption and gives the identical
        matrix. With other rankings, options or another version of the package it is refused. One process at a time
        may use it; remove it when the matrix is safe.

    Returns
    -------
    Matrix
        With `.values`, `.names`, `.as_raw()`, `.p_values`, `.adjusted_p_values`, `.notes`, `.to_frame()`,
        `.clustered()`, `.dendrogram()`, `.embed()` and `.plot()`.

    Examples
    --------
    >>> import fujiscore as fj
    >>> fj.pairwise({"a": [3, 2, 1], "b": [3, 1, 2], "c": [1, 2, 3]}).values.round(3)
    array([[1.   , 0.833, 0.667],
           [0.833, 1.   , 0.708],
           [0.667, 0.708, 1.   ]])
    """
    policies, work, _ = parted(options)
    both = first = as_rankings(rankings, **policies)
    if others is not None:
        both = combine(first, as_rankings(others, **policies), policies.get("missing", "raise"))
    choice("adjust", adjust, ADJUSTMENTS)
    choice("alternative", alternative, ALTERNATIVES)
    tested = alternative if p_values else None
    task = task_for(both, measure, ks=ks, corrected=corrected, ties=ties, zero_tail=zero_tail, alternative=tested)
    mirrored = others is None and task.measure.symmetric
    blocks = _blocks(len(first), len(both), square=others is None, both_ways=not mirrored)
    compute = _sparse if _is_sparse(task, both) else _full
    with _kept(checkpoint, both, len(first), task) as kept:
        parts = np.concatenate(compute(task, both, blocks, work | {"kept": kept}), axis=1)
    offset = 0 if others is None else len(first)
    cells = np.concatenate([block[0] for block in blocks]), np.concatenate([block[1] for block in blocks]) - offset

    def spread(values: Scores) -> Scores:
        matrix = np.empty((len(first), len(both) - offset))
        matrix[cells] = values
        if mirrored:
            matrix[cells[::-1]] = values
        return matrix

    raw, expected = spread(parts[0]), spread(parts[1]) if task.by_chance else None
    names = both.names[: len(first)]
    result = Matrix(
        names,
        names if others is None else both.names[offset:],
        raw,
        expected,
        task.measure.name,
        task.grid,
        corrected,
        (*both.notes, *caveats(both, task, raw)),
        others is not None,
        rankings=both,
        ties=ties,
        zero_tail=zero_tail,
    )
    if corrected and expected is not None:
        forced = int((np.isnan(result.values) & ~np.isnan(raw)).sum())
        reason = f"corrected values are undefined in {forced} of {raw.size} cells: chance alone gives 1 there"
        result = replace(result, notes=(*result.notes, *([reason] if forced else [])))
    if not p_values:
        return result
    tests = np.ones(cells[0].size, np.bool_) if others is not None else cells[0] != cells[1]
    p = np.where(tests, parts[2], np.nan)
    pairs = counted(int((~np.isnan(p)).sum()), "pair")
    side = "" if alternative == "greater" else f" ({alternative})"
    note = f"p-values{side}: without permutations, adjusted for {pairs} by {ADJUSTMENTS[adjust]}"
    return replace(
        result,
        p_values=spread(p),
        adjusted_p_values=spread(adjusted(p, adjust)),
        adjustment=adjust,
        alternative=alternative,
        notes=(*result.notes, note),
    )


@contextmanager
def _kept(
    folder: str | os.PathLike[str] | None, rankings: Rankings, rows: int, task: PairTask
) -> Iterator[Finished | None]:
    """Yield the finished tiles in a folder, if there is one, by all that a pair's numbers depend on."""
    if folder is None:
        yield None
        return
    ks = task.grid.ks
    arrays = ((ranking.scores, ranking.absent, ranking.negatives) for ranking in rankings)
    data = {
        "number of rankings": [rows, len(rankings) - rows] if rows < len(rankings) else rows,
        "number of items": rankings.n,
        "scores": sum_of(chain.from_iterable(arrays)),
        "names": sum_of(rankings.names),
    }
    options = {
        "measure": task.measure.name,
        "ks": ks.tolist() if task.grid.kind == "custom" else f"{task.grid.kind} up to {ks[-1]}",
        "corrected": task.corrected,
        "p_values": task.tested,
        "alternative": task.alternative,
        "universe": rankings.universe,
        "negative": "split" if rankings.split is not None else None,
        "ties": task.ties,
        "zero_tail": task.zero_tail,
    }
    with resumable(folder, "pairs", data, options) as finished:
        yield finished


def caveats(rankings: Rankings, task: PairTask, values: Scores, unit: str = "cells") -> list[str]:
    """Return what the values rest on: truncated lists, constant rankings, undefined values."""
    notes = []
    if rankings.truncated and task.grid.kind != "custom":
        notes.append(f"truncated lists: k ends at {rankings.depth}, the length of the shortest")
    notes += dead_rankings(rankings)
    undefined = int(np.isnan(values).sum())
    if undefined:
        notes.append(f"{task.measure.name} is undefined in {undefined} of {values.size} {unit}: NaN there")
        notes += _zero_caveats(rankings, task)
    if not np.isnan(task.measure.undefined):
        convention = f"{task.measure.undefined:g} by the paper's convention"
        notes.append(f"{task.measure.name} counts {convention} where it is undefined (constant scores in the union)")
    return notes


def _zero_caveats(rankings: Rankings, task: PairTask) -> list[str]:
    """Return a note on rankings with fewer positive scores than the only k, with the remedies."""
    if not task.single or task.zero_tail == "cap":
        return []
    few = sum(int((ranking.scores > 0).sum()) < task.grid.ks[0] for ranking in rankings)
    return [f"{counted(few, 'ranking')} with fewer than k positive scores: {zeros_say_nothing()}"] if few else []


def dead_rankings(rankings: Rankings) -> list[str]:
    """Return a note that names the rankings that give every item the same score."""
    names = [ranking.name for ranking in rankings if ranking.constant]
    if not names:
        return []
    some = "gives" if len(names) == 1 else "give"
    return [f"{first_few(names)} {some} every item the same score: similarity to a constant ranking says nothing"]


def _blocks(first: int, total: int, *, square: bool, both_ways: bool) -> list[Block]:
    """Return the pairs to compare in blocks of neighbouring rankings, which stay in the cache: rows and columns."""
    start = 0 if square else first
    blocks = []
    for top, bottom in spans(first, TILE):
        for left, right in spans(total - start, TILE):
            i, j = np.meshgrid(np.arange(top, bottom), np.arange(start + left, start + right), indexing="ij")
            keep = (i <= j) | (not square) | both_ways
            if keep.any():
                blocks.append((i[keep], j[keep]))
    return blocks


def _is_sparse(task: PairTask, rankings: Rankings) -> bool:
    """Return whether the grid kernel serves: few points, a measure of overlaps, no sum of scores that overflows."""
    points = task.grid.ks
    few = points.size <= (area_null.MOST_POINTS if task.tested else MOST_LEVELS)
    if not few or (points.size + 1) ** 2 > max(8 * rankings.n, 1024):
        return False
    if task.measure.by_rank or points[-1] > rankings.depth:
        return False
    return bool(max(ranking.scores.max() for ranking in rankings) < _kernels.sweep.HUGE)


def _run_pairs(
    function: Callable[..., Areas], tiles: Sequence[Block], shared: tuple[Any, ...], items: int, work: dict[str, Any]
) -> list[Areas]:
    """Run tiles of pairs, several as one where each is kept in a file or sent to a worker."""
    together = 1
    if work["kept"] is not None:  # whatever the executor: another one may resume
        together = ceil(len(tiles) / MOST_FILES)
    elif work["executor"] is not None:
        together = WORTH_SENDING // (tiles[0][0].size * items)
    if together > 1:
        groups = [tiles[start:stop] for start, stop in spans(len(tiles), together)]
        tiles = [(np.concatenate([i for i, _ in group]), np.concatenate([j for _, j in group])) for group in groups]
    return run(function, tiles, shared=shared, label="pairs", **work)


def _sparse(task: PairTask, rankings: Rankings, blocks: list[Block], work: dict[str, Any]) -> list[Areas]:
    """All pairs by the grid kernel: of each ranking only scores, levels and what depends on the grid are kept."""
    scores = rankings.block()
    item_levels = np.empty(scores.shape, np.uint8)
    tiles = list(zip(rankings, item_levels, strict=True))
    prepared = run(_prepare, tiles, shared=(task,), n_jobs=work["n_jobs"], progress=False)
    if scores.min() < 0:
        scores = np.maximum(scores, 0.0)
    arrays: tuple[NDArray[Any], ...] = (
        item_levels,
        scores,
        *(np.array([one[part] for one in prepared]) for part in range(4)),
    )
    nulls = area_null.stacked([one[4] for one in prepared]) if task.tested else None
    return _run_pairs(_sparse_tile, blocks, (task, *arrays, nulls), rankings.n, work)


def _prepare(task: PairTask, ranking: Ranking, item_levels: NDArray[np.uint8]) -> tuple[Any, ...]:
    """Sort one ranking and keep what a grid needs: levels (written out), set sizes, last scores, zeros, tails, null."""
    ranking = ranking.detached()  # hundreds of orders would fill the memory
    sizes = task.grid.ks
    if task.ties == "closed":
        sizes = ranking.tie_groups[1][sizes - 1].astype(np.int64)
    if task.zero_tail == "cap":
        sizes = capped(ranking, sizes)
    _kernels.grid.levels(ranking.ordered.positions, sizes, item_levels)
    kth = ranking.ranked[sizes - 1]
    zero = task.single and bool(ranking.ends_at_zero(sizes, fuzzy=task.measure.name == "fuji")[0])
    if not task.by_chance:
        return sizes, kth, zero, 0.0, None
    n = ranking.n if task.population is None else task.population
    tails = np.stack(tail_moments(ranking, sizes, n, task.tail))
    return sizes, kth, zero, tails, area_null.prepared(ranking, sizes, n, task.tail) if task.tested else None


def _sparse_tile(
    task: PairTask,
    item_levels: NDArray[np.uint8],
    scores: Scores,
    sizes: Sizes,
    kth: Scores,
    zero: NDArray[np.bool_],
    tails: Scores,
    nulls: Any,
    i: Indices,
    j: Indices,
) -> Areas:
    """Return what each pair of one tile gives: rankings i against rankings j.

    That is the area, the area expected by chance, and, where pairs are tested, the p-value.
    """
    n = scores.shape[1] if task.population is None else task.population
    k1, k2 = sizes[i], sizes[j]
    shared, fuji = np.empty(k1.shape, np.int64), np.empty(k1.shape)
    _kernels.grid.pairs(i, j, item_levels, item_levels, scores, scores, kth, kth, task.tail, shared, fuji)
    areas: Scores = area(evaluate(task.measure, Counts(n, k1, k2, shared, fuji)))
    areas = np.where(zero[i] & zero[j], np.nan, areas)
    if not task.by_chance:
        return np.stack([areas, areas])
    null = Null(n, k1, k2, (tails[i, 0], tails[i, 1]), (tails[j, 0], tails[j, 1]))
    expected, variance = moments(task.measure, null)
    if not task.tested:
        return np.stack([areas, area(expected)])
    weights = area_null.area_weights(task.grid.ks.size)
    spread, laws = area_null.pair_moments(i, j, nulls, nulls, task.measure, weights, variance)
    least = np.maximum(nulls.least[i], nulls.least[j])
    _raise_two_valued(task, n, nulls.upper[i], nulls.upper[j], k1, k2, shared, least)
    return np.stack([areas, area(expected), _p_values(task, areas - area(expected), spread, laws, least)])


def _raise_two_valued(
    task: PairTask, n: int, upper_r: Sizes, upper_s: Sizes, k1: Sizes, k2: Sizes, shared: Sizes, least: Scores
) -> None:
    """Raise the smallest p-values of pairs that have two different scores each to that of their overlap."""
    for t in np.flatnonzero((upper_r > 0) & (upper_s > 0)).tolist():
        here = np.flatnonzero((k1[t] == upper_r[t]) & (k2[t] == upper_s[t]))
        if here.size:
            tails = area_null.overlap_tails(n, int(upper_r[t]), int(upper_s[t]), int(shared[t, here[0]]))
            least[t] = max(least[t], area_null.one_of(tails, task.alternative or "greater"))


def _p_values(task: PairTask, apart: Scores, variance: Scores, laws: Scores, least: Any) -> Scores:
    """Return p-values of areas that are so far from what chance gives; NaN where chance leaves no choice."""
    spread = np.sqrt(np.where(variance > ROUNDING**2, variance, np.nan))
    p: Scores = area_null.p_value(apart / spread, laws, least, task.alternative or "greater")
    return p


def _full(task: PairTask, rankings: Rankings, blocks: list[Block], work: dict[str, Any]) -> list[Areas]:
    """All pairs by the sweep along the whole path: each ranking is sorted once and kept in order."""
    members = sort_all(rankings, task, work)
    size = max(1, 2_000_000 // rankings.n)  # some tenths of a second per tile, so that Ctrl-C is heard
    tiles = [
        (rows[start:stop], columns[start:stop]) for rows, columns in blocks for start, stop in spans(rows.size, size)
    ]
    return _run_pairs(_full_tile, tiles, (task, members), rankings.n, work)


def sort_all(rankings: Rankings, task: PairTask, work: dict[str, Any]) -> list[Ranking]:
    """Sort every ranking once, and compute what threads will share before they start."""
    run(_warm, [(ranking, task) for ranking in rankings], n_jobs=work["n_jobs"], progress=False)
    return list(rankings)


def _warm(ranking: Ranking, task: PairTask) -> None:
    """Compute what all pairs need of one ranking."""
    ranking.ranked  # noqa: B018 - kept by the ranking
    if task.ties == "closed":
        ranking.tie_groups  # noqa: B018 - as above
    if task.by_chance:
        ranking.tails  # noqa: B018 - as above


def _full_tile(task: PairTask, members: Sequence[Ranking], rows: Indices, columns: Indices) -> Areas:
    """Return the same as `_sparse_tile` from the whole path of each pair, with headline values for areas."""
    results = np.full((3 if task.tested else 2, rows.size), np.nan)
    for t, (i, j) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        overlap = task.overlap(members[i], members[j])
        if not (task.single and at_zero(overlap, fuzzy=task.measure.name == "fuji")[0]):
            results[0, t] = headline(task.measure, evaluate(task.measure, overlap))
        form = task.null(overlap) if task.by_chance else None
        if form is None:
            continue
        results[1, t] = headline(task.measure, form[0])
        if task.tested:
            null = area_null.area_null(overlap, task.measure, np.arange(form[1].size), form[1])
            assert null is not None  # noqa: S101 - for the type checker: such measures were refused
            apart, variance = results[0, t] - results[1, t], np.asarray(null.variance)
            results[2, t] = _p_values(task, apart, variance, null.law, null.floor(task.alternative or "greater"))
    return results
