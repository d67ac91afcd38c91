"""Ranks of many lists to one score per item: Borda, median, reciprocal rank fusion and robust rank aggregation.

Every method gives the scores from all lists, and from all but one of them, without starting again: sums and order
statistics lose one list at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb, log
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import fujiscore._kernels as _kernels
from fujiscore.errors import spelled
from fujiscore.text.notes import reworded
from fujiscore.work.tiles import run, spans

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.inputs.ranking import Ranking, Rankings

    # The scores, and a function of a list's number that gives them without it.
    Aggregate: TypeAlias = tuple[Scores, Callable[[int], Scores]]
    # n_jobs and progress, as `tiles.run` takes them.
    Options: TypeAlias = dict[str, Any]

MISSING_RANKS = "the ranks of missing items depend"
# Reciprocal rank fusion adds 1 / (60 + rank), as its authors do.
RRF_CONSTANT = 60
# Its terms are added as integers, in units of this: sums that do not depend on the order of the lists.
RRF_UNIT = 2.0**-48
# Values per tile of robust rank aggregation.
TILE = 1_000_000
# Items per tile of its exact p-values.
EXACT_TILE = 2000
# Digits of -log10 rho that sums of a thousand terms leave exact.
DECIMALS = 11
# The least tail probability whose quantiles are computed.
LEAST = 1e-290


def mean_ranks(ranking: Ranking, population: int) -> Scores:
    """Return each item's rank: tied items have the mean of their ranks, absent ones the mean of all ranks left."""
    above, up_to = ranking.tie_groups
    return _in_item_order(ranking, (above + 1.0 + up_to) / 2, (ranking.listed + 1 + population) / 2)


def last_ranks(ranking: Ranking, population: int) -> Scores:
    """Return each item's rank: tied items have the last of their ranks, absent ones the last of all."""
    return _in_item_order(ranking, np.minimum(ranking.tie_groups[1], population).astype(np.float64), population)


def _in_item_order(ranking: Ranking, ranked: Scores, absent: float) -> Scores:
    """Return ranks in item order, with one rank for all absent items."""
    ranks = np.empty(ranking.n)
    ranks[ranking.order] = ranked
    if ranking.absent is not None:
        ranks[ranking.absent] = absent
    return ranks


def rank_rows(
    rankings: Rankings, ranks_of: Callable[[Ranking, int], Scores], population: int, options: Options
) -> Scores:
    """Return one row of ranks per ranking."""
    rows = np.empty((len(rankings), rankings.n))

    def work(number: int) -> None:
        rows[number] = ranks_of(rankings[number].detached(), population)  # hundreds of orders would fill the memory

    run(work, [(number,) for number in range(len(rankings))], **options, label="ranks")
    return rows


def input_notes(rankings: Rankings, what: str, lacking: str = "") -> list[str]:
    """Return the notes of lists of which only ranks count, and what depends on the number of items, if it is assumed.

    `lacking` says where the items that a list lacks are, other than below its listed ones.
    """
    notes = list(reworded(rankings.notes, "missing", f"ranked below the listed ones{lacking}"))
    if rankings.truncated and rankings.universe is None and what:
        assumed = f"the number of items is taken to be {rankings.n_whole}, those that any list has; {what} on it"
        remedy = f": pass {spelled('universe', 'N')} if the lists were drawn from more"
        notes.append(assumed + (remedy if rankings.split is None else ""))
    return notes


def borda(rankings: Rankings, population: int, options: Options) -> Aggregate:
    """Return the mean number of items that the lists rank below an item."""
    rows = rank_rows(rankings, mean_ranks, population, options)
    total, m = rows.sum(axis=0), len(rows)  # exact: ranks are halves
    return population - total / m, lambda left_out: population - (total - rows[left_out]) / (m - 1)


def median(rankings: Rankings, population: int, options: Options) -> Aggregate:
    """Return the number of items below an item's median rank."""
    rows = rank_rows(rankings, mean_ranks, population, options)
    ordered = np.sort(rows, axis=0)
    m = len(rows)

    def without(left_out: int) -> Scores:
        gone = rows[left_out]
        middle = [np.where(gone >= ordered[i + 1], ordered[i], ordered[i + 1]) for i in {(m - 2) // 2, (m - 1) // 2}]
        return population - sum(middle) / len(middle)  # type: ignore[no-any-return]

    return population - (ordered[(m - 1) // 2] + ordered[m // 2]) / 2, without


def rrf(rankings: Rankings, population: int, options: Options) -> Aggregate:
    """Return the sum of 1 / (60 + rank) over the lists that have the item."""

    def points(ranking: Ranking, population: int) -> Scores:
        ranks = mean_ranks(ranking, population)
        return np.where(False if ranking.absent is None else ranking.absent, 0.0, 1.0 / (RRF_CONSTANT + ranks))

    units = np.rint(rank_rows(rankings, points, population, options) / RRF_UNIT).astype(np.int64)
    total = units.sum(axis=0)
    return total * RRF_UNIT, lambda left_out: (total - units[left_out]) * RRF_UNIT


def rra(rankings: Rankings, population: int, options: Options) -> Aggregate:
    """Return -log10 of each item's rho score: its smallest tail probability over the order statistics of its ranks."""
    if rankings.split is not None:  # in random order, an item with its own sign has any of this many ranks
        population = rankings.n_whole
    places = rank_rows(rankings, last_ranks, population, options)
    places /= population
    m, n = places.shape
    rho, without = np.empty(n), np.empty((m, n))
    choose = [np.array([log(comb(of, k)) for k in range(of + 1)]) for of in (m, m - 1)]
    tiles = [(places, slice(*span), choose, rho, without) for span in spans(n, max(1, TILE // m))]
    run(_rho_of_tile, tiles, **options, label="items")
    return _negative_log10(rho), lambda left_out: _negative_log10(without[left_out])


METHODS: dict[str, Callable[[Rankings, int, Options], Aggregate]] = {
    "borda": borda,
    "median": median,
    "rrf": rrf,
    "rra": rra,
}


def _negative_log10(logs: Scores) -> Scores:
    """Return -log10, rounded so that equal probabilities tie whichever sum they come from."""
    return np.round(logs / -log(10), DECIMALS) + 0.0


def _rho_of_tile(places: Scores, tile: slice, choose: list[Scores], rho: Scores, without: Scores) -> None:
    """Write the log rho scores of some items, and those without each list in turn."""
    columns = np.ascontiguousarray(places[:, tile].T)
    order = np.argsort(columns, axis=1, kind="stable")
    ordered = np.take_along_axis(columns, order, axis=1)
    count, m = ordered.shape
    smallest = np.empty((count, m))
    _kernels.beta.smallest_tails(ordered, 0, False, choose[0], smallest)  # noqa: FBT003 - kernels take positions
    rho[tile] = smallest[:, -1]
    # Without the list at place p of the order, the p values before it keep their places and the others move up.
    before, after = np.zeros((2, count, m))
    rest = np.empty((count, m - 1))
    _kernels.beta.smallest_tails(ordered, 0, False, choose[1], rest)  # noqa: FBT003 - as above
    before[:, 1:] = rest
    _kernels.beta.smallest_tails(ordered, 1, True, choose[1], rest)  # noqa: FBT003 - as above
    after[:, :-1] = rest
    np.put_along_axis(columns, order, np.minimum(before, after), axis=1)
    without[:, tile] = columns.T


def corrected_rho(scores: Scores, m: int) -> Scores:
    """Return p-values from -log10 rho by Bonferroni's correction for m order statistics."""
    return _at_least_tiny(np.power(10.0, np.minimum(log(m) / log(10) - scores, 0.0)))


def exact_rho(scores: Scores, m: int, options: Options) -> Scores:
    """Return p-values from -log10 rho by the exact distribution of rho for m independent uniform values."""
    tiles = [(scores[slice(*span)], m) for span in spans(scores.size, EXACT_TILE)]
    return np.concatenate(run(_exact_rho_of_tile, tiles, **options, label="p-values"))


def _exact_rho_of_tile(scores: Scores, m: int) -> Scores:
    """Return the exact p-values of some items.

    rho is at most t if some order statistic k lies at or below its quantile q_k of t. The p-value sums over k the
    probability that k is the first one that does: terms that are all positive, so that small ones keep their digits.
    """
    from scipy.special import betainc, betaincinv

    bonferroni = corrected_rho(scores, m)
    tail = np.power(10.0, -scores)
    alive = [np.ones(scores.size)]  # by the number of values at or below the present quantile
    crossed = np.zeros(scores.size)
    previous = np.zeros(scores.size)
    for k in range(1, m + 1):
        quantile = np.maximum(betaincinv(k, m - k + 1, np.maximum(tail, LEAST)), previous)
        share = np.divide(quantile - previous, 1.0 - previous, out=np.ones(scores.size), where=previous < 1.0)
        below, above = (x ** np.arange(m + 1)[:, None] for x in (share, 1.0 - share))
        grown = [np.zeros(scores.size) for _ in range(k)]
        for j, mass in enumerate(alive):
            crossed += mass * betainc(k - j, m - k + 1, share)
            for to in range(j, k):
                grown[to] += mass * below[to - j] * comb(m - j, to - j)
        alive, previous = [mass * above[m - to] for to, mass in enumerate(grown)], quantile
    return np.where(tail < LEAST, bonferroni, _at_least_tiny(np.minimum(crossed, bonferroni)))


def _at_least_tiny(p_values: Scores) -> Scores:
    """Return p-values that are not 0 where a double has no smaller number."""
    return np.maximum(p_values, np.finfo(np.float64).tiny)
