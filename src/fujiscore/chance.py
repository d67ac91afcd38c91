"""What chance alone would give: expectation and variance in closed form, correction, permutation p-values.

The null hypothesis: both rankings keep their scores, and those of s are dealt to the items at random. Imports
measures and tiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fujiscore import _kernels
from fujiscore.errors import InputError, choice
from fujiscore.tables import frame
from fujiscore.measures import area, evaluate, find
from fujiscore.overlap import Overlap, grid, ordered_pair
from fujiscore.permutations import ROUNDING, Permutations, permute

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor

    from fujiscore.measures import Measure
    from fujiscore.overlap import Ordered, Sizes, Ties, ZeroTail
    from fujiscore.rankings import Missing, Nan, Negative, Scores

    Tails: TypeAlias = tuple[Scores, Scores]

# Without a closed form, and without a number of permutations asked for, this many are drawn.
DEFAULT_PERMUTATIONS = 1000


@dataclass(frozen=True, eq=False)
class Chance:
    """A measure's curve against what chance alone would give.

    Attributes
    ----------
    measure : str
        The measure's name.
    ks : ndarray of int64
        The evaluated k.
    observed, expected, variance : ndarray
        The value at each k; its expectation and variance over random rankings with the same scores.
    exact : bool
        Whether expectation and variance are exact for the observed statistic: in closed form, and no top set cuts
        through equal scores. With ties="stable" and cut ties they describe ties broken at random, and with
        ties="closed" they are always exact. False as well where they are means over permutations.
    permutations : Permutations or None
        What permutations gave, if any were drawn.
    """

    measure: str
    ks: Sizes
    observed: Scores
    expected: Scores
    variance: Scores
    exact: bool
    permutations: Permutations | None = None

    @property
    def corrected(self) -> Scores:
        """(observed - expected) / (1 - expected) at each k: 0 is chance level, 1 the maximum."""
        return correct(self.observed, self.expected)

    @property
    def z(self) -> Scores:
        """Standard deviations above the expectation, at each k (0 where chance leaves no choice)."""
        spread = np.sqrt(self.variance)
        return np.divide(self.observed - self.expected, spread, out=np.zeros_like(spread), where=spread > ROUNDING)

    @property
    def auc(self) -> float:
        """The observed area under the curve."""
        return float(area(self.observed))

    @property
    def expected_auc(self) -> float:
        """The expectation of the area under the curve."""
        return float(area(self.expected))

    @property
    def corrected_auc(self) -> float:
        """The area under the curve, corrected for chance: 0 is chance level, 1 the maximum."""
        return float(correct(np.array([self.auc]), np.array([self.expected_auc]))[0])

    @property
    def p_value(self) -> float | None:
        """How often chance gives at least this area: (b + 1) / (m + 1) over m permutations; None without them."""
        if self.permutations is None:
            return None
        at_least = int((self.permutations.aucs >= self.auc - ROUNDING).sum())
        return (at_least + 1) / (self.permutations.count + 1)

    @property
    def p_values(self) -> Scores | None:
        """The same at each k."""
        if self.permutations is None:
            return None
        return (self.permutations.at_least + 1) / (self.permutations.count + 1)

    @property
    def auc_z(self) -> float | None:
        """The area's standard deviations above its expectation, over the permutations; None without them."""
        if self.permutations is None:
            return None
        spread = float(self.permutations.aucs.std())
        return (self.auc - self.expected_auc) / spread if spread > ROUNDING else 0.0

    def __str__(self) -> str:
        """Return the area, its chance level, and the corrected area."""
        lines = [
            f"AUC {self.measure} {self.auc:.4f}, by chance {self.expected_auc:.4f}, corrected {self.corrected_auc:.4f}"
        ]
        if self.p_value is not None and self.permutations is not None:
            lines.append(f"p = {self.p_value:.4g} ({self.permutations.count} permutations), z = {self.auc_z:.2f}")
        if not self.exact:
            known = "ties are taken as broken at random" if self.permutations is None else "estimated or ties cut"
            lines.append(f"the chance level is not exact here: {known}")
        return "\n".join(lines)

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row a k as a pandas or polars DataFrame."""
        columns = {
            "k": self.ks,
            self.measure: self.observed,
            "expected": self.expected,
            "variance": self.variance,
            "corrected": self.corrected,
            "z": self.z,
        }
        if self.p_values is not None:
            columns["p_value"] = self.p_values
        return frame(columns, library)

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve, its chance level and a band of two standard deviations on a matplotlib Axes."""
        from fujiscore import plots

        return plots.chance(self, ax=ax)


def correct(observed: Scores, expected: Scores) -> Scores:
    """Rescale so that chance level is 0 and the maximum stays 1 (where chance gives 1 already: 1)."""
    room = 1.0 - expected
    return np.divide(observed - expected, room, out=np.ones_like(observed), where=room > ROUNDING)


def chance(
    r: Any,
    s: Any,
    measure: str = "fuji",
    *,
    ks: Any = "all",
    permutations: int = 0,
    random_state: int = 0,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
    ties: Ties = "stable",
    zero_tail: ZeroTail = "include",
    negative: Negative = "raise",
    nan: Nan = "raise",
    missing: Missing = "raise",
) -> Chance:
    """Say how much of a similarity chance alone would give, and correct for it.

    Expectation and variance are exact, conditional on the observed scores of both rankings: s's scores are dealt
    to the items at random. Measures without a closed form (correlation and those that compare ranks within the
    union) use permutations.

    Parameters
    ----------
    r, s, measure, ks, ties, zero_tail, negative, nan, missing
        As in `curve`.
    permutations : int
        How many random rankings to draw for p-values; 0 for none.
    random_state : int
        The seed of the permutations.
    n_jobs : int, optional
        Threads for the permutations; all cores by default. The result does not depend on it.
    executor : concurrent.futures.Executor, optional
        Where to run the permutations instead.
    progress : bool, optional
        Show a progress bar; by default on a terminal, if it takes a while.

    Returns
    -------
    Chance
        With `.expected`, `.variance`, `.corrected`, `.z` at each k, `.expected_auc`, `.corrected_auc`, `.exact`,
        and with permutations `.p_value` (of the area) and `.p_values` (at each k).

    Examples
    --------
    >>> import fujiscore as fj
    >>> r, s = [8, 7, 6, 0, 0, 0, 0, 0], [6, 8, 7, 0, 0, 0, 0, 0]
    >>> found = fj.chance(r, s, ties="closed")
    >>> print(found)
    AUC fuji 0.9730, by chance 0.7456, corrected 0.8939
    """
    found = find(measure)
    first, second, _ = ordered_pair(r, s, negative=negative, nan=nan, missing=missing)
    points = grid(ks, first.n)
    overlap = Overlap(first, second, points, points, ties=ties, zero_tail=zero_tail)
    return chances(
        overlap,
        [found],
        points,
        permutations=permutations,
        random_state=random_state,
        n_jobs=n_jobs,
        executor=executor,
        progress=progress,
    )[found.name]


def chances(
    overlap: Overlap,
    measures: Sequence[Measure],
    ks: Sizes,
    *,
    permutations: int = 0,
    random_state: int = 0,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
) -> dict[str, Chance]:
    """Return the chance of several measures along one overlap; they share the permutations."""
    closed = {measure.name: closed_form(measure, overlap) for measure in measures}
    if permutations == 0 and None in closed.values():
        permutations = DEFAULT_PERMUTATIONS
    drawn = permute(
        overlap,
        measures,
        permutations,
        random_state=random_state,
        n_jobs=n_jobs,
        executor=executor,
        progress=progress,
    )
    found = {}
    for measure in measures:
        name = measure.name
        form, null = closed[name], drawn.get(name)
        if form is not None:
            mean, variance = form
        elif null is not None:
            mean, variance = null.mean, null.variance
        exact = form is not None and overlap.ties_cut == 0
        found[name] = Chance(name, ks, evaluate(measure, overlap), mean, variance, exact, null)
    return found


def closed_form(measure: Measure, overlap: Overlap) -> tuple[Scores, Scores] | None:
    """Return a measure's exact expectation and variance at each point, or None where no closed form is known."""
    return _form(measure)(measure, null_of(overlap)) if has_closed_form(measure) else None


def has_closed_form(measure: Measure) -> bool:
    """Return whether a measure's expectation is known in closed form."""
    return measure.linear or measure.name in CLOSED_FORMS


def expectation(measure: Measure, null: Null) -> Scores:
    """Return the expectation of a measure that has a closed form."""
    return _form(measure)(measure, null)[0]


def _form(measure: Measure) -> Callable[[Measure, Null], tuple[Scores, Scores]]:
    return _linear if measure.linear else CLOSED_FORMS[measure.name]


def null_of(overlap: Overlap) -> Null:
    """Return what chance depends on along an overlap."""
    tails_r = tail_moments(overlap.r, overlap.k1, overlap.zero_tail)
    tails_s = tail_moments(overlap.s, overlap.k2, overlap.zero_tail)
    return Null(overlap.n, overlap.k1, overlap.k2, tails_r, tails_s)


def tail_moments(ranking: Ordered, sizes: Sizes, zero_tail: float) -> Tails:
    """Return mean and variance of the memberships outside a ranking's top sets."""
    mean, variance = ranking.tails
    at = sizes - 1
    return np.where(ranking.ranked[at] > 0, mean[at], zero_tail), variance[at]


@dataclass(frozen=True, eq=False)
class Null:
    """All that chance depends on: set sizes, and mean and variance of the memberships outside the sets."""

    n: int
    k1: Sizes
    k2: Sizes
    tails_r: Tails
    tails_s: Tails

    def moments(self) -> Scores:
        """Return the six moments over the hypergeometric overlap (see the kernel) in the last axis."""
        pairs = np.stack([self.k1.ravel(), self.k2.ravel()])
        unique, inverse = np.unique(pairs, axis=1, return_inverse=True) if self.k1.ndim > 1 else (pairs, slice(None))
        out = np.empty((unique.shape[1], 6))
        _kernels.chance.moments(self.n, unique[0], unique[1], out)
        return out[inverse].reshape(*self.k1.shape, 6)


def _fuji(_: Measure, null: Null) -> tuple[Scores, Scores]:
    n, k1, k2 = null.n, null.k1, null.k2
    both, only_r, only_s, inverse, draw_s, draw_r = np.moveaxis(null.moments(), -1, 0)
    mean_r, variance_r = null.tails_r
    mean_s, variance_s = null.tails_s
    expected = both + only_r * mean_s + only_s * mean_r
    variance = (k1 * (1 - mean_r) + k2 * (1 - mean_s)) ** 2 * inverse
    variance += draw_s * variance_s / np.maximum(n - k2 - 1, 1) + draw_r * variance_r / np.maximum(n - k1 - 1, 1)
    return expected, variance


def _jaccard(_: Measure, null: Null) -> tuple[Scores, Scores]:
    found = null.moments()
    return found[..., 0], (null.k1 + null.k2) ** 2 * found[..., 3]


def _krizek(_: Measure, null: Null) -> tuple[Scores, Scores]:
    """Two random sets are equal with one chance in all sets of that size."""
    from scipy.special import gammaln

    logs = gammaln(null.k1 + 1.0) + gammaln(null.n - null.k1 + 1.0) - gammaln(null.n + 1.0)
    equal = np.where(null.k1 == null.k2, np.exp(np.minimum(logs, 0.0)), 0.0)
    return equal, equal * (1 - equal)


def _linear(measure: Measure, null: Null) -> tuple[Scores, Scores]:
    """Take a formula that is linear in the overlap at the expected overlap."""
    n, k1, k2 = null.n, null.k1, null.k2
    mean = k1 * (k2 / n)
    spread = mean * ((n - k1) / n) * ((n - k2) / max(n - 1, 1))
    at: Any = SimpleNamespace(n=n, k1=k1, k2=k2, shared=mean)
    above: Any = SimpleNamespace(n=n, k1=k1, k2=k2, shared=mean + 1)
    expected = measure.values(at)
    return expected, (measure.values(above) - expected) ** 2 * spread


CLOSED_FORMS: dict[str, Callable[[Measure, Null], tuple[Scores, Scores]]] = {
    "fuji": _fuji,
    "jaccard": _jaccard,
    "krizek": _krizek,
}


def expected_jaccard(n: int, ks: Any = "all", *, method: str = "exact") -> Scores:
    """Return the expected Jaccard index of the top k of two random rankings of n items.

    Parameters
    ----------
    n : int
        The number of items.
    ks : {"all", "exp", "squared"} or increasing integers
        Where to evaluate.
    method : {"exact", "paper"}
        The mean over the hypergeometric overlap, or the paper's approximation k / (2n - k).

    Examples
    --------
    >>> import fujiscore as fj
    >>> fj.expected_jaccard(4)
    array([0.25      , 0.38888889, 0.625     , 1.        ])
    >>> fj.expected_jaccard(4, method="paper")
    array([0.14285714, 0.33333333, 0.6       , 1.        ])
    """
    choice("method", method, ("exact", "paper"))
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
        raise InputError(f"n must be a positive number of items; got {n!r}.")
    points = grid(ks, int(n))
    if method == "paper":
        return points / (2 * n - points)
    out = np.empty((points.size, 6))
    _kernels.chance.moments(int(n), points, points, out)
    return out[:, 0]
