"""Do two versions of a model differ by more than their resamples do: a permutation test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fujiscore.charts.kinds import Chart, intervals
from fujiscore.charts.palette import CHANCE
from fujiscore.charts.result import Result
from fujiscore.errors import counted
from fujiscore.many.stability import symmetric
from fujiscore.measures.registry import find
from fujiscore.text.numbers import p_words
from fujiscore.text.tables import Table

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.many.matrix import Matrix

# Up to this number of splits all of them are tried, otherwise so many are drawn.
ENUMERATED, DRAWN = 20_000, 9_999
# Statistics that differ by less than this are equal but for rounding; so are levels.
ROUNDING = 1e-12
# Fewer resamples of a version than these tell large changes only.
FEW = 5


@dataclass(frozen=True, eq=False, repr=False)
class VersionTest(Result):
    """Whether two versions of a model differ by more than resamples of one version do.

    Attributes
    ----------
    within : tuple of float
        The mean similarity of two resamples of the reference, and of two of the current version; NaN where there is
        one only.
    between : float
        The mean similarity of a resample of the reference and one of the current version.
    difference : float
        The lower of `within` less `between`: how much less similar two versions are than resamples of the noisier one.
    p_value : float
        How often a random split of all resamples into two versions of these sizes gives a difference at least as
        large; never 0.
    least_p : float
        The least p-value that so many resamples can give.
    m : tuple of int
        The number of resamples of each version.
    splits : int
        The number of splits that were tried, the given one among them.
    exact : bool
        Whether these are all splits there are; otherwise they were drawn at random.
    pairs : Matrix
        The similarity of every pair, the resamples of the reference first.
    notes : tuple of str
        What was done to the input, and what the test rests on.
    """

    within: tuple[float, float]
    between: float
    difference: float
    p_value: float
    least_p: float
    m: tuple[int, int]
    splits: int
    exact: bool
    pairs: Matrix
    notes: tuple[str, ...] = ()

    _keys = ("within", "between", "difference", "p_value", "least_p", "m", "splits", "exact")

    def in_words(self) -> list[str]:
        """Return the similarities within and between versions, and the test, in words."""
        sides = zip(("reference", "current"), self.within, self.m, strict=True)
        known = [f"{name} {value:.4f} ({m} rankings)" for name, value, m in sides if not np.isnan(value)]
        how = "all" if self.exact else "random"
        measure = f"{find(self.pairs.measure).title}, {self.pairs.area}"
        return [
            f"mean {measure}: within {', within '.join(known)}, between versions {self.between:.4f}",
            f"difference {self.difference:+.4f}, {p_words(self.p_value)} ({how} {self.splits} splits into versions)",
        ]

    def _summary(self) -> list[str]:
        return self.in_words()

    def _charts(self) -> Sequence[Chart]:
        measure, names = find(self.pairs.measure), ["within reference", "within current", "between"]
        values = [(value, np.nan, np.nan) for value in (*self.within, self.between)]
        label = f"mean {measure.title}, {self.pairs.area}"
        return [intervals(names, values, label, [measure.colour, measure.colour, CHANCE])]

    def _tables(self, rows: int | None) -> list[Table]:  # noqa: ARG002 - one row
        header = ("within reference", "within current", "between", "difference", "p", "rankings")
        row = (*self.within, self.between, self.difference, self.p_value, " and ".join(map(str, self.m)))
        formats = (*[".4f"] * 4, "p", "")
        return [Table("similarity within and between versions", header, [row], formats)]


def version_test(pairs: Matrix, first: int, seed: int) -> VersionTest:
    """Test whether the first so many rankings of a matrix of all pairs are less similar to the others than expected.

    If version does not matter, every split of all rankings into groups of these sizes is as likely as the given one.
    The p-value is the share of splits whose difference is at least as large, so the test needs no distribution, and
    pairs that share a ranking do no harm.
    """
    values = symmetric(pairs)
    sizes = (first, len(values) - first)
    groups, exact = _splits(sizes, seed)
    given = np.zeros(len(values), np.bool_)
    given[first:] = True
    differences = _differences(values, groups if exact else np.vstack([given, groups]))
    within, between = _means(values, given[None, :])
    observed = float(_differences(values, given[None, :])[0])
    unknown = bool(np.isnan(values).any())
    p_value = float("nan") if unknown else float((differences >= observed - ROUNDING).mean())
    return VersionTest(
        within=(float(within[0, 0]), float(within[1, 0])),
        between=float(between[0]),
        difference=observed,
        p_value=p_value,
        least_p=least_p(*sizes),
        m=sizes,
        splits=len(differences),
        exact=exact,
        pairs=pairs,
        notes=_caveats(sizes, values, unknown=unknown),
    )


def least_p(first: int, second: int) -> float:
    """Return the least p-value of groups of these sizes; of two equal sizes, each split counts twice."""
    splits = comb(first + second, first)
    if splits > ENUMERATED:
        return 1 / (DRAWN + 1)
    return (2 if first == second else 1) / splits


def enough(alpha: float) -> int:
    """Return how many resamples of each version are the fewest that can give such a p-value."""
    return next(m for m in range(2, 1000) if least_p(m, m) <= alpha + ROUNDING or comb(2 * m, m) > ENUMERATED)


@lru_cache(maxsize=4)
def _splits(sizes: tuple[int, int], seed: int) -> tuple[NDArray[np.bool_], bool]:
    """Return which rankings are in the second group, one row per split, and whether these are all splits."""
    count, second = sum(sizes), sizes[1]
    exact = comb(count, second) <= ENUMERATED
    if exact:
        members = np.array(list(combinations(range(count), second)))
    else:
        members = np.random.default_rng(seed).random((DRAWN, count)).argsort(axis=1)[:, :second]
    groups = np.zeros((len(members), count), np.bool_)
    np.put_along_axis(groups, members, values=True, axis=1)
    return groups, exact


def _means(values: Scores, groups: NDArray[np.bool_]) -> tuple[Scores, Scores]:
    """Return the mean similarity within each group (NaN of one ranking), and between them, of each split."""
    apart = values - np.diag(np.diagonal(values))
    inside = groups.astype(np.float64)
    n2 = inside[0].sum()
    n1 = inside.shape[1] - n2
    to_second = inside @ apart
    second = (to_second * inside).sum(axis=1)
    across = (to_second * (1 - inside)).sum(axis=1)
    first = apart.sum() - second - 2 * across
    within = [
        total / (n * (n - 1)) if n > 1 else np.full_like(total, np.nan) for total, n in ((first, n1), (second, n2))
    ]
    return np.array(within), across / (n1 * n2)


def _differences(values: Scores, groups: NDArray[np.bool_]) -> Scores:
    """Return the lower of the known similarities within groups, less that between them, of each split.

    With the mean in place of the lower one, versions that differ in noise alone would be told apart: at 5 %, one that
    is twice as noisy in 28 % of cases (10 and 10 rankings) instead of less than 1 %. The power is about the same.
    """
    within, between = _means(values, groups)
    known = within[~np.isnan(within[:, 0])]
    return known.min(axis=0) - between if len(known) else np.full(len(groups), np.nan)


def _caveats(sizes: tuple[int, int], values: Scores, *, unknown: bool) -> tuple[str, ...]:
    """Return what the test rests on."""
    notes = []
    if unknown:
        notes.append("some resamples have no similarity (constant scores): there is no test")
    few = [f"{m} of the {name}" for name, m in zip(("reference", "current version"), sizes, strict=True) if 1 < m < FEW]
    if few:
        notes.append(f"few resamples ({' and '.join(few)}): only large changes can be told from noise")
    single = [name for name, m in zip(("reference", "current version"), sizes, strict=True) if m == 1]
    if single:
        notes.append(f"one ranking of the {single[0]}: a version that is only noisier counts as changed, too")
    first = sizes[0]
    for name, part in (("reference", values[:first, :first]), ("current version", values[first:, first:])):
        if len(part) > 1 and np.ptp(part) <= ROUNDING:
            notes.append(f"the {counted(len(part), 'resample')} of the {name} are all alike: no noise, or copies")
    return tuple(notes)
