"""The formulas of all measures, on the overlap of two rankings: o.shared, o.k1, o.k2, o.n and what `Overlap` adds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, spelled

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.measures.grids import Sizes
    from fujiscore.measures.overlap import Counts, Overlap, TopSets

# Seconds that SciPy takes for a coefficient, and for each of its n items times log2(n).
SECONDS = {"weightedtau": (5e-4, 3e-7), "spearman": (8e-4, 2e-8)}
# A curve of more points than these that would take longer is refused.
LONGEST, FEW_POINTS = 60.0, 64


def _expected(o: Counts | TopSets) -> Scores:
    """Return the expected number of shared items of two random sets."""
    return o.k1 * (o.k2 / o.n)


def _least(o: Counts | TopSets) -> Sizes:
    """Return the least number of items that sets of these sizes can share."""
    least: Sizes = np.maximum(0, o.k1 + o.k2 - o.n)
    return least


def _equal_sets(o: Counts | TopSets) -> Scores:
    """Return 1 for equal sets, 0 for others."""
    equal: Scores = np.where((o.shared == o.k1) & (o.shared == o.k2), 1.0, 0.0)
    return equal


def _ratio(o: Counts | TopSets, above: Scores | Sizes, below: Scores | Sizes) -> Scores:
    """Divide; where the sizes alone decide the overlap (0/0), 1 for equal sets and 0 for others."""
    forced = np.maximum(o.k1, o.k2) == o.n
    values: Scores = np.where(forced, _equal_sets(o), above / np.where(forced, 1, below))
    return values


def _above_chance(o: Counts | TopSets, most: Scores | Sizes) -> Scores:
    """Return (h - E) / (most - E)."""
    expected = _expected(o)
    return _ratio(o, o.shared - expected, most - expected)


def _divided(above: Scores, below: Scores) -> Scores:
    """Divide; NaN where the divisor is 0."""
    values: Scores = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    return values


def _at_k(o: Overlap, by_depth: Scores) -> Scores:
    """Return a value by depth at the path's points."""
    values: Scores = by_depth[o.requested[0] - 1]
    return values


def _agreement(o: Overlap) -> Scores:
    """Return the share of items in common at every depth down to the last point; for tied items as RBO's variant w."""
    depths = o.at_depths
    agreement: Scores = 2 * depths.shared / (depths.k1 + depths.k2)
    return agreement


def _rbo(o: Overlap, p: float) -> Scores:
    agreement = _agreement(o)
    weights = p ** np.arange(agreement.size)
    return _at_k(o, (1 - p) * np.cumsum(agreement * weights) + agreement * weights * p)


def _average_overlap(o: Overlap) -> Scores:
    agreement = _agreement(o)
    return _at_k(o, np.cumsum(agreement) / np.arange(1, agreement.size + 1))


def _ndcg(o: Overlap) -> Scores:
    """Return the discounted gains, r's scores, of the items in s's order, relative to the best order at each depth."""
    best, depth = o.r.ranked[0], int(o.requested[0][-1])
    if not best > 0:
        return np.full(o.k1.size, np.nan)
    gains = o.r.clipped[o.s.order] / best
    if o.ties == "closed" and not o.s.untied:  # tied items share the mean of their gains
        starts = np.flatnonzero(o.s.tie_groups[0] == np.arange(o.s.n))
        sizes = np.diff(starts, append=o.s.n)
        gains = np.repeat(np.add.reduceat(gains, starts) / sizes, sizes)
    discounts = 1 / np.log2(np.arange(2, depth + 2))
    total, ideal = np.cumsum(gains[:depth] * discounts), np.cumsum(o.r.ranked[:depth] / best * discounts)
    return _at_k(o, np.minimum(total / ideal, 1.0))


def _same_rank(o: Overlap) -> Any:
    """Return which items, from r's best to its worst, have the same rank in s; tied items share their best rank."""
    s_rank = o.ranks[0]
    if o.ties == "stable":
        return s_rank == np.arange(s_rank.size)
    return o.r.tie_groups[0] == o.s.tie_groups[0][s_rank]


def _same_sign(o: Overlap) -> Any:
    """Return which items, from r's best to its worst, have the same sign in s: 1, -1 or 0."""
    return (o.r.signs == o.s.signs)[o.r.order]


def _share(o: Overlap, agree: Any) -> Scores:
    """Return how many of the items that agree are in both sets, over the size of the larger set."""
    places = np.flatnonzero(agree)
    first = np.searchsorted(o.k1, places, "right"), np.searchsorted(o.k2, o.ranks[0][places], "right")
    entering = np.bincount(np.maximum(*first), minlength=o.k1.size + 1)[: o.k1.size]
    values: Scores = np.cumsum(entering) / np.maximum(o.k1, o.k2)
    return values


def _all_pairs(o: Overlap) -> Scores:
    """Return the number of pairs of items of the union."""
    size = (o.k1 + o.k2 - o.shared).astype(np.float64)
    return size * (size - 1) / 2


def _kendall(o: Overlap) -> Scores:
    concordant, discordant, tied_r, tied_s = o.pairs.T
    total = _all_pairs(o)
    return np.clip(_divided(concordant - discordant, np.sqrt(total - tied_r) * np.sqrt(total - tied_s)), -1.0, 1.0)


def _pairwise_rank_agreement(o: Overlap) -> Scores:
    concordant, discordant, tied_r, tied_s = o.pairs.T
    total = _all_pairs(o)
    tied_in_both = concordant + discordant + tied_r + tied_s - total
    return _divided(concordant + tied_in_both, total)


def _by_scipy(o: Overlap, name: str, function: str, **options: Any) -> Scores:
    """Return a coefficient of scipy.stats over the union, point by point; NaN where it is undefined."""
    key = (name, *options.values())
    if key not in o.coefficients:
        _refuse_endless(o, name)
        from scipy import stats

        coefficient = getattr(stats, function)
        out = np.full(o.k1.size, np.nan)
        for point in range(o.k1.size):
            r, s = o.union_levels(point)
            if r.min() < r.max() and s.min() < s.max():
                out[point] = coefficient(r, s, **options).statistic
        o.coefficients[key] = out
    return o.coefficients[key]


def _refuse_endless(o: Overlap, name: str) -> None:
    """Raise if a coefficient would take too long at so many points."""
    union = (o.k1 + o.k2 - o.shared).astype(np.float64)
    at_point, by_item = SECONDS[name]
    seconds = float(np.sum(at_point + by_item * union * np.log2(union)))
    if seconds > LONGEST and union.size > FEW_POINTS:
        takes = f"{seconds / 60:.0f} minutes" if seconds < 2 * 3600 else f"{seconds / 3600:.0f} hours"
        raise InputError(
            f"{name} is computed anew at every k: {union.size} k of {o.r.n} items would take about {takes}. "
            f"Pass {spelled('ks', 'exp')} for k = 1, 2, 4, ..., or a measure that is fast over all k, such as kendall."
        )


FORMULAS: dict[str, Callable[..., Scores]] = {
    "fuji": lambda o: o.fuji,
    "jaccard": lambda o: o.shared / (o.k1 + o.k2 - o.shared),
    "hamming": lambda o: 1 - (o.k1 + o.k2 - 2 * o.shared) / o.n,
    "pog": lambda o: o.shared / o.k1,
    "npog": lambda o: _above_chance(o, o.k1),
    "kuncheva": lambda o: _above_chance(o, o.k1),
    "lustgarten": lambda o: _ratio(o, o.shared - _expected(o), np.minimum(o.k1, o.k2) - _least(o)),
    "wald": lambda o: _above_chance(o, np.minimum(o.k1, o.k2)),
    "krizek": _equal_sets,
    "cwrel": lambda o: _ratio(o, o.shared - _least(o), (o.k1 + o.k2) // 2 - _least(o)),
    "correlation": lambda o: o.correlation,
    # Times n above and below: whole numbers, so that equal sets give exactly 1.
    "pearson": lambda o: _ratio(
        o, o.shared * o.n - o.k1 * o.k2, np.sqrt(1.0 * o.k1 * (o.n - o.k1) * (o.k2 * (o.n - o.k2)))
    ),
    "gamma": lambda o: _divided(o.pairs[:, 0] - o.pairs[:, 1], o.pairs[:, 0] + o.pairs[:, 1]),
    "dice": lambda o: 2 * o.shared / (o.k1 + o.k2),
    "ochiai": lambda o: o.shared / np.sqrt(1.0 * o.k1 * o.k2),
    "kappa": lambda o: _above_chance(o, (o.k1 + o.k2) / 2),
    "average_overlap": _average_overlap,
    "rbo": _rbo,
    "kendall": _kendall,
    "weightedtau": lambda o, additive: _by_scipy(o, "weightedtau", "weightedtau", additive=additive),
    "spearman": lambda o: _by_scipy(o, "spearman", "spearmanr"),
    "rank_agreement": lambda o: _share(o, _same_rank(o)),
    "sign_agreement": lambda o: _share(o, _same_sign(o)),
    "signed_rank_agreement": lambda o: _share(o, _same_rank(o) & _same_sign(o)),
    "pairwise_rank_agreement": _pairwise_rank_agreement,
    "ndcg": _ndcg,
}
