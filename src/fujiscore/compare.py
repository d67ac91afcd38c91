"""Two rankings: value at k, curve over k, area under it, comparison. Imports chance and below."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from fujiscore.bounds import bounds
from fujiscore.chance import Chance, chances
from fujiscore.errors import InputError
from fujiscore.tables import frame
from fujiscore.measures import area, evaluate, find
from fujiscore.overlap import Overlap, grid, ordered_pair, set_sizes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Executor

    from fujiscore.bounds import Bounds
    from fujiscore.overlap import Sizes, Ties, ZeroTail
    from fujiscore.rankings import Bounded, Missing, Nan, Negative, Scores


@dataclass(frozen=True, eq=False)
class Curve:
    """A measure's values over k.

    Attributes
    ----------
    measure : str
        The measure's name.
    ks : ndarray of int64
        The evaluated k.
    values : ndarray of float64
        The value at each k.
    """

    measure: str
    ks: Sizes
    values: Scores

    @property
    def auc(self) -> float:
        """The area under the curve: trapezoids of unit width between points, over their number less 1."""
        return float(area(self.values))

    def to_frame(self, library: str | None = None) -> Any:
        """Return columns k and the measure's name as a pandas or polars DataFrame."""
        return frame({"k": self.ks, self.measure: self.values}, library)

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve on a matplotlib Axes (a new one if None) and return the Axes."""
        from fujiscore import plots

        return plots.curves([self], ax=ax)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several measures of one pair of rankings.

    Attributes
    ----------
    curves : mapping of str to Curve
        A curve a measure.
    overlap : Overlap
        The two rankings in order, and all that was computed on them.
    drawn : mapping of str to Chance, or None
        The chance levels with permutations, if any were asked for.
    """

    curves: Mapping[str, Curve]
    overlap: Overlap
    drawn: Mapping[str, Chance] | None = None

    @property
    def n(self) -> int:
        """The number of items."""
        return self.overlap.n

    @property
    def ks(self) -> Sizes:
        """The evaluated k."""
        return next(iter(self.curves.values())).ks

    @property
    def auc(self) -> dict[str, float]:
        """The area under each measure's curve."""
        return {name: curve.auc for name, curve in self.curves.items()}

    @property
    def ties_cut(self) -> int:
        """At how many of the evaluated k a top set cuts through equal scores.

        There, `ties="stable"` decides by the input order which of them are in it; 0 means that the order of the
        input plays no part.
        """
        return self.overlap.ties_cut

    @cached_property
    def chance(self) -> Mapping[str, Chance]:
        """For each measure, what chance alone would give, and the corrected values."""
        if self.drawn is not None:
            return self.drawn
        return chances(self.overlap, [find(name) for name in self.curves], self.ks)

    @property
    def p_value(self) -> dict[str, float | None]:
        """For each measure, how often chance gives at least this area; None without permutations."""
        return {name: found.p_value for name, found in (self.drawn or {}).items()}

    def __getitem__(self, measure: str) -> Curve:
        """Return one measure's curve."""
        return self.curves[measure]

    def __str__(self) -> str:
        """Return a line a measure, and a word on ties where they matter."""
        width = max(len(name) for name in self.curves)
        points = self.ks.size
        lines = [f"{self.n} items, k = {self.ks[0]} to {self.ks[-1]} ({points} points)"]
        for name, auc in self.auc.items():
            line = f"AUC {name:<{width}}  {auc:.4f}"
            if self.drawn is not None:
                found = self.drawn[name]
                line += f"  by chance {found.expected_auc:.4f}  corrected {found.corrected_auc:.4f}"
                line += f"  p = {found.p_value:.4g}"
            lines.append(line)
        if self.ties_cut:
            lines.append(
                f"ties: at {self.ties_cut} of {points} points equal scores straddle the top k, and the input order "
                "decides; ties='closed' does not depend on it"
            )
        return "\n".join(lines)

    def to_frame(self, library: str | None = None) -> Any:
        """Return the column k and one column a measure as a pandas or polars DataFrame."""
        return frame({"k": self.ks, **{name: curve.values for name, curve in self.curves.items()}}, library)

    def plot(self, ax: Any = None) -> Any:
        """Draw all curves on a matplotlib Axes (a new one if None) and return the Axes."""
        from fujiscore import plots

        return plots.curves(list(self.curves.values()), ax=ax)


def fuji(
    r: Any,
    s: Any,
    k: int | tuple[int, int],
    *,
    ties: Ties = "stable",
    zero_tail: ZeroTail = "include",
    negative: Negative = "raise",
    nan: Nan = "raise",
    missing: Missing = "raise",
) -> float:
    """Return the Fuzzy Jaccard Index of the top k of two rankings.

    An item outside a top set counts as a member to the degree that its score comes near the set's last score:
    FUJI = sum of the smaller memberships / size of the union of the two top sets.

    Parameters
    ----------
    r, s : array-like, Series or dict of item to score
        Two rankings of the same n items, higher is better. Labelled ones (dicts, pandas Series) are aligned by
        label; others must be in the same item order.
    k : int or pair of int
        How many items from the top, from 1 to n; a pair (k1, k2) for top sets of different sizes.
    ties : {"stable", "closed"}
        Equal scores around the k-th: "stable" keeps the input order, "closed" takes all of them in.
    zero_tail : {"include", "exclude"}
        Where the k-th score is 0: whether items outside, tied with it at 0, count as members (as in the paper's
        algorithm and results) or not (as its equation says).
    negative : {"raise", "clip", "abs"}
        Negative scores: refuse them, order by them but count them as 0, or take magnitudes.
    nan : {"raise", "zero", "drop"}
        NaN scores: refuse them, score them 0, or leave those items out of both rankings.
    missing : {"raise", "zero", "drop"}
        Items that only one ranking scores: refuse them, score them 0, or compare the shared items only.

    Returns
    -------
    float
        Between 0 and 1; 1 if the top sets are equal.

    Examples
    --------
    >>> import fujiscore as fj
    >>> fj.fuji([0.9, 0.8, 0.1], [0.8, 0.9, 0.1], 1)
    0.888888888888889
    >>> fj.fuji({"a": 3, "b": 2, "c": 1}, {"c": 3, "a": 2.9, "b": 0}, 1)
    0.65
    """
    return score(r, s, k, ties=ties, zero_tail=zero_tail, negative=negative, nan=nan, missing=missing)


def score(
    r: Any,
    s: Any,
    k: int | tuple[int, int],
    measure: str = "fuji",
    *,
    ties: Ties = "stable",
    zero_tail: ZeroTail = "include",
    negative: Negative = "raise",
    nan: Nan = "raise",
    missing: Missing = "raise",
) -> float:
    """Return a measure's value for the top k of two rankings.

    Parameters
    ----------
    measure : str
        A name in `MEASURES`.
    r, s, k, ties, zero_tail, negative, nan, missing
        As in `fuji`.

    Returns
    -------
    float
        In the measure's range.

    Examples
    --------
    >>> import fujiscore as fj
    >>> fj.score([4, 3, 2, 1], [4, 2, 3, 1], 2, measure="jaccard")
    0.3333333333333333
    """
    found = find(measure)
    first, second, _ = ordered_pair(r, s, negative=negative, nan=nan, missing=missing)
    overlap = Overlap(first, second, *set_sizes(k, first.n), ties=ties, zero_tail=zero_tail)
    return float(evaluate(found, overlap)[0])


@overload
def curve(
    r: Any,
    s: Any,
    measure: str = ...,
    *,
    ks: Any = ...,
    ties: Ties = ...,
    zero_tail: ZeroTail = ...,
    negative: Negative = ...,
    nan: Nan = ...,
    missing: Missing = ...,
) -> Curve: ...


@overload
def curve(
    r: Any,
    s: Any,
    measure: str = ...,
    *,
    ks: Any = ...,
    ties: Ties = ...,
    zero_tail: ZeroTail = ...,
    negative: Negative = ...,
    nan: Nan = ...,
    missing: Bounded,
) -> Bounds: ...


def curve(
    r: Any,
    s: Any,
    measure: str = "fuji",
    *,
    ks: Any = "all",
    ties: Ties = "stable",
    zero_tail: ZeroTail = "include",
    negative: Negative = "raise",
    nan: Nan = "raise",
    missing: Missing | Bounded = "raise",
) -> Curve | Bounds:
    """Return a measure's values over k, exactly, in linear time after the sort.

    Parameters
    ----------
    ks : {"all", "exp", "squared"} or increasing integers
        Where to evaluate: 1..n; 1, 2, 4, ..., n; 1, 4, 9, ..., n; or the given k.
    missing : {"raise", "zero", "drop", "bounds"}
        As in `score`; "bounds" returns the lower and the upper FUJI curve of lists that are cut off (see `bounds`).
    r, s, measure, ties, zero_tail, negative, nan
        As in `score`.

    Returns
    -------
    Curve, or Bounds with missing="bounds"
        With `.ks`, `.values`, `.auc`, `.plot()` and `.to_frame()`.

    Examples
    --------
    >>> import fujiscore as fj
    >>> fj.curve([4, 3, 2, 1], [4, 2, 3, 1]).values
    array([1.        , 0.77777778, 1.        , 1.        ])
    """
    if missing == "bounds":
        if measure != "fuji" or ties != "stable":
            raise InputError("missing='bounds' is known for measure='fuji' with ties='stable' only.")
        return bounds(r, s, ks=ks, zero_tail=zero_tail, negative=negative, nan=nan)
    policies: Any = {"negative": negative, "nan": nan, "missing": missing}
    return _curve(r, s, measure, ks, ties, zero_tail, policies)


def _curve(r: Any, s: Any, measure: str, ks: Any, ties: str, zero_tail: str, policies: dict[str, Any]) -> Curve:
    found = find(measure)
    first, second, _ = ordered_pair(r, s, **policies)
    points = grid(ks, first.n)
    overlap = Overlap(first, second, points, points, ties=ties, zero_tail=zero_tail)
    return Curve(found.name, points, evaluate(found, overlap))


def auc(
    r: Any,
    s: Any,
    measure: str = "fuji",
    *,
    ks: Any = "all",
    ties: Ties = "stable",
    zero_tail: ZeroTail = "include",
    negative: Negative = "raise",
    nan: Nan = "raise",
    missing: Missing = "raise",
) -> float:
    """Return the area under a measure's curve over k.

    Trapezoids of unit width between the evaluated points, divided by their number less 1: the paper's area for
    ks="all"; on a sparse grid the top weighs more. All arguments are those of `curve`.

    Examples
    --------
    >>> import fujiscore as fj
    >>> round(fj.auc([4, 3, 2, 1], [4, 2, 3, 1]), 4)
    0.9259
    """
    policies: Any = {"negative": negative, "nan": nan, "missing": missing}
    return _curve(r, s, measure, ks, ties, zero_tail, policies).auc


def compare(
    r: Any,
    s: Any,
    measures: Sequence[str] = ("fuji", "jaccard"),
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
) -> Comparison:
    """Compare two rankings by several measures at once; they share the sort and the sweep.

    Parameters
    ----------
    measures : sequence of str
        Names in `MEASURES`.
    permutations, random_state, n_jobs, executor, progress
        As in `chance`: random rankings to draw for p-values.
    r, s, ks, ties, zero_tail, negative, nan, missing
        As in `curve`.

    Returns
    -------
    Comparison
        With `.curves`, `.auc`, `.chance` (a `Chance` a measure), `.ties_cut`, `.plot()` and `.to_frame()`; printing
        it gives a summary.

    Examples
    --------
    >>> import fujiscore as fj
    >>> print(fj.compare([4, 3, 2, 1], [4, 2, 3, 1]))
    4 items, k = 1 to 4 (4 points)
    AUC fuji     0.9259
    AUC jaccard  0.7778
    """
    if not measures:
        raise InputError(f"measures must name at least one measure; got {'None' if measures is None else 'none'}.")
    names = (measures,) if isinstance(measures, str) else tuple(measures)
    found = [find(name) for name in names]
    first, second, _ = ordered_pair(r, s, negative=negative, nan=nan, missing=missing)
    points = grid(ks, first.n)
    overlap = Overlap(first, second, points, points, ties=ties, zero_tail=zero_tail)
    curves = {measure.name: Curve(measure.name, points, evaluate(measure, overlap)) for measure in found}
    if permutations == 0:
        return Comparison(curves, overlap)
    work: Any = {"n_jobs": n_jobs, "executor": executor, "progress": progress}
    drawn = chances(overlap, found, points, permutations=permutations, random_state=random_state, **work)
    return Comparison(curves, overlap, drawn)
