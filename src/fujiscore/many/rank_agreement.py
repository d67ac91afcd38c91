"""Sequential rank agreement: how far apart many lists rank the items of their first d ranks, and what chance gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from fujiscore.charts.kinds import Band, Chart, Line
from fujiscore.charts.palette import CHANCE, SLATE
from fujiscore.errors import InputError, counted, first_few, integer, proportion
from fujiscore.inputs.options import Policies, takes
from fujiscore.inputs.rankings import rankings as as_rankings
from fujiscore.many.aggregation import MISSING_RANKS, input_notes, mean_ranks
from fujiscore.measures.grids import Grid, Sizes, grid
from fujiscore.measures.over_k import ResultOverK
from fujiscore.text.numbers import p_words
from fujiscore.work.seeds import as_seed
from fujiscore.work.tiles import run

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.inputs.ranking import Ranking, Rankings


@dataclass(frozen=True, eq=False, repr=False)
class RankAgreement(ResultOverK):
    """Sequential rank agreement of many lists.

    Attributes
    ----------
    grid : Grid
        The depths d.
    values : ndarray
        At each depth, the pooled standard deviation of the ranks of the items that any list has among its first d: 0
        if the lists agree on them.
    expected, low, high : ndarray or None
        The mean and the pointwise band of the same for lists in random order; None without permutations.
    p_value : float or None
        Of the hypothesis that the lists are in random order, against more agreement at any depth.
    items : ndarray of int
        At each depth, the number of items that any list has among its first d.
    names : tuple of str
        The lists.
    n, population : int
        Number of items that the lists have between them, and that they were drawn from.
    confidence : float
        Of the band.
    permutations : int
        How many random orders of the lists the band rests on.
    notes : tuple of str
        What was done to the input, and what the values rest on.
    """

    grid: Grid
    values: Scores
    expected: Scores | None
    low: Scores | None
    high: Scores | None
    p_value: float | None
    items: NDArray[np.int64]
    names: tuple[str, ...]
    n: int
    population: int
    confidence: float
    permutations: int
    notes: tuple[str, ...] = ()

    @property
    def below_chance(self) -> NDArray[np.bool_]:
        """At each depth, whether the lists agree more than random orders do: the value is below the band."""
        return np.zeros(self.values.size, np.bool_) if self.low is None else self.values < self.low

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"agreement": self.values, "items": self.items}
        if self.low is not None:
            columns |= {"expected": self.expected, "low": self.low, "high": self.high}
        return columns

    def _charts(self) -> Sequence[Chart]:
        lines, bands = [Line(self.values, f"{len(self.names)} lists", SLATE)], []
        if self.low is not None:
            lines.append(Line(self.expected, "", CHANCE, 1.2, dashed=True))
            bands.append(Band(self.low, self.high, CHANCE, f"random orders, {self.confidence:.0%} band"))
        most = max(float(np.nanmax(part, initial=0.0)) for part in (self.values, *(band.high for band in bands)))
        title, labels = "standard deviation of ranks over depth", ("depth d, number of top ranks", "sd of ranks")
        return self._over_k(title, lines, bands, x_label=labels[0], y_label=labels[1], span=(0.0, most or 1.0))

    def verdict(self) -> str:
        """Return where the lists agree more than random orders do, in words."""
        if self.low is None or self.p_value is None:
            return "no permutations, so no band"
        where = self.below_chance
        if not where.any():
            depths = "at no depth"
        elif where.all():
            depths = "at all depths"
        else:
            end = int(np.argmin(where)) if where[0] else 0
            count = counted(int(where.sum()), "depth")
            depths = (
                f"at d = 1 to {self.ks[end - 1]}" if end and not where[end:].any() else f"at {count} of {where.size}"
            )
        return f"more agreement than random orders {depths} ({p_words(self.p_value)}, {self.permutations} permutations)"

    def _summary(self) -> list[str]:
        size = f"{len(self.names)} rankings of {counted(self.n, 'item')}"
        span = f"standard deviation of ranks {self.values[0]:.4g} at d = {self.ks[0]}"
        span += f", {self.values[-1]:.4g} at d = {self.ks[-1]}" if self.ks.size > 1 else ""
        return [f"sequential rank agreement of {size}: {span}", self.verdict()]


@takes(Policies)
def sequential_rank_agreement(
    rankings: Any,
    *,
    ks: Any = "all",
    permutations: int = 200,
    confidence: float = 0.95,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **policies: Unpack[Policies],
) -> RankAgreement:
    """Return how much many lists agree at each depth d, and what lists in random order give.

    For each depth d: the items that any list has among its first d, the variance (with m - 1) of each one's m ranks,
    and the square root of its mean over these items; in ranks, 0 for perfect agreement.

    Parameters
    ----------
    rankings : mapping, DataFrame, 2-D array, sequence or Rankings
        At least two rankings, as in `fujiscore.rankings`. Tied items share the mean of their ranks, and all of them are
        among the first d if one is. Items that a list lacks have an unknown rank below its listed ones: their variance
        is the expected one over all orders of them.
    ks : {"all", "exp", "squared"}, an integer or increasing integers
        The depths, up to the length of the longest list. Where a list is shorter, it adds no more items.
    permutations : int
        How many times every list is put in random order, ties and lengths kept; 0 for no band.
    confidence : float
        Of the band at each depth.

    Returns
    -------
    RankAgreement
        With `.ks`, `.values`, `.low`, `.high`, `.p_value`, `.notes`, `.plot()` and `.to_frame()`.

    Notes
    -----
    The band is pointwise: of many depths, some fall outside it by chance. The p-value is of all depths at once: it
    compares the largest number of standard deviations that the curve falls below the mean with that of random orders.

    References
    ----------
    Ekstrøm, Gerds, Jensen (2019), Sequential rank agreement methods for comparison of ranked lists; R's SuperRanker.

    Examples
    --------
    >>> import fujiscore as fj
    >>> lists = [8, 7, 6, 5, 4, 3, 2, 1], [8, 7, 6, 2, 5, 4, 3, 1], [8, 4, 6, 5, 7, 1, 2, 3]
    >>> fj.stats.sequential_rank_agreement(lists, permutations=0).values.round(3)
    array([0.   , 1.333, 1.155, 1.291, 1.333, 1.242, 1.242, 1.242])
    """
    integer("permutations", permutations)
    proportion("confidence", confidence)
    seed = as_seed(random_state)
    lists = as_rankings(rankings, **policies)
    if len(lists) < 2:
        raise InputError(f"rank agreement needs at least 2 rankings; got {len(lists)}. Add rankings of the same items.")
    population = lists.universe or lists.n
    signs = 1 if lists.split is None else 2
    points = grid(ks, max(ranking.listed for ranking in lists) // signs)
    shapes = [_Shape.of(ranking.detached(), population) for ranking in lists]
    values, items = _curve(shapes, [shape.order for shape in shapes], population, lists.n, points.ks)
    tiles = [(shapes, population, signs, points.ks, seed, number) for number in range(permutations)]
    random = np.array(run(_random_curve, tiles, n_jobs=n_jobs, progress=progress, label="permutations"))
    expected, low, high, p_value = _compare(values, random, confidence)
    return RankAgreement(
        points,
        values,
        expected,
        low,
        high,
        p_value,
        items,
        lists.names,
        lists.n,
        population,
        confidence,
        permutations,
        _notes(lists),
    )


@dataclass(frozen=True, eq=False)
class _Shape:
    """What a list keeps when it is put in random order: from best to worst, the ranks of its listed items.

    `order` has their positions, `ranks` their mean ranks and `depths` the d from which on they are among the first d;
    `rank` and `variance` are those of each item that it lacks.
    """

    order: NDArray[np.int32]
    ranks: Scores
    depths: NDArray[np.int32]
    rank: float
    variance: float

    @classmethod
    def of(cls, ranking: Ranking, population: int) -> _Shape:
        order = ranking.order[: ranking.listed]
        lacking = population - ranking.listed
        return cls(
            order,
            mean_ranks(ranking, population)[order],
            ranking.tie_groups[0][: ranking.listed] + 1,
            (ranking.listed + 1 + population) / 2,
            max(lacking**2 - 1, 0) / 12,
        )


def _curve(
    shapes: list[_Shape], orders: Iterable[NDArray[Any]], population: int, n: int, ks: Sizes
) -> tuple[Scores, NDArray[np.int64]]:
    """Return the agreement at each depth of lists with these shapes, whose items are below n, and the items there."""
    mean, spread, unknown = np.zeros((3, n))
    first = np.full(n, population + 1)
    for count, (shape, order) in enumerate(zip(shapes, orders, strict=True), 1):
        ranks, variance = np.full(n, shape.rank), np.full(n, shape.variance)
        ranks[order], variance[order] = shape.ranks, 0.0
        step = ranks - mean  # updated list by list: sums of squares of large ranks would lose digits
        mean += step / count
        spread += step * (ranks - mean)
        unknown += variance
        first[order] = np.minimum(first[order], shape.depths)
    m = len(shapes)
    variances = spread / (m - 1) + unknown / m
    by_depth = np.argsort(first, kind="stable")
    items = np.searchsorted(first[by_depth], ks, side="right")
    return np.sqrt(np.cumsum(variances[by_depth])[items - 1] / items), items


def _random_curve(shapes: list[_Shape], population: int, signs: int, ks: Sizes, seed: int, number: int) -> Scores:
    """Return the agreement of lists of these shapes in random order, drawn from the whole population.

    With two signs, the positions of an item's signs are half the population apart, and both move together.
    """
    rng = np.random.default_rng([seed, number])
    if signs == 1:
        orders = [rng.choice(population, shape.order.size, replace=False) for shape in shapes]
    else:
        half = population // 2
        orders = [rng.permutation(half)[shape.order % half] + shape.order // half * half for shape in shapes]
    total = sum(order.size for order in orders)
    n = population
    if total < population:  # only items that some list has count
        union, places = np.unique(np.concatenate(orders), return_inverse=True)
        orders, n = np.split(places, np.cumsum([order.size for order in orders])[:-1]), union.size
    return _curve(shapes, orders, population, n, ks)[0]


def _compare(
    values: Scores, random: Scores, confidence: float
) -> tuple[Scores | None, Scores | None, Scores | None, float | None]:
    """Return the mean and the band of random curves, and the p-value of the lists' own."""
    if not len(random):
        return None, None, None, None
    low, high = np.quantile(random, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    every = np.vstack([values, random])  # exchangeable under the hypothesis, so that the p-value is valid
    spread = every.std(axis=0)
    shortfall = np.divide(every.mean(axis=0) - every, spread, out=np.zeros(every.shape), where=spread > 1e-12)
    extremes = shortfall.max(axis=1)
    return random.mean(axis=0), low, high, float((extremes >= extremes[0] - 1e-12).mean())


def _notes(lists: Rankings) -> tuple[str, ...]:
    """Return what was done to the lists, and what the agreement rests on."""
    notes = input_notes(lists, MISSING_RANKS)
    if lists.truncated:
        notes.append(
            f"truncated lists: beyond d = {lists.depth}, the length of the shortest, lists that end add no items"
        )
    constant = [ranking.name for ranking in lists if ranking.constant]
    if constant:
        notes.append(f"{first_few(constant)}: every listed item has the same score, so that all share one rank")
    return tuple(dict.fromkeys(notes))
