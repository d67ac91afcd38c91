"""The registry of measures: name, formula, range, properties, reference. Imports the overlap and errors."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, choice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fujiscore.overlap import Overlap, Sizes
    from fujiscore.rankings import Scores


@dataclass(frozen=True)
class Properties:
    """The five properties of the paper's Table 1."""

    fully_defined: bool
    bounded: bool
    maximum: bool
    chance_corrected: bool
    uses_scores: bool


@dataclass(frozen=True)
class Measure:
    """A similarity of two top sets: a formula on their overlap.

    Attributes
    ----------
    name, title : str
        The word used in calls, and the name used in text and pictures.
    formula : str
        With h shared items, set sizes k1 and k2, n items and E = k1 k2 / n.
    low, high : float
        The range of the value.
    properties : Properties or None
        The row of the paper's Table 1; None for a measure that the paper does not treat.
    reference : str
        Where the measure comes from.
    unequal : bool
        Whether the two sets may differ in size.
    linear : bool
        Whether the value is linear in h, so that its expectation is its value at the expected h.
    symmetric : bool
        Whether exchanging the rankings leaves the value as it is, for sets of any sizes.
    by_rank : bool
        Whether the value needs the single ranks, and not only how the two sets overlap.
    values : callable
        The formula, on an Overlap.
    """

    name: str
    title: str
    formula: str
    low: float
    high: float
    properties: Properties | None
    reference: str
    unequal: bool
    linear: bool
    values: Callable[[Overlap], Scores]
    symmetric: bool = True
    by_rank: bool = False

    def __reduce__(self) -> tuple[Callable[[str], Measure], tuple[str]]:
        """Travel to other processes by name: formulas cannot be pickled."""
        return find, (self.name,)


def evaluate(measure: Measure, overlap: Overlap) -> Scores:
    """Return a measure's values along the path, or say that it needs sets of equal size."""
    if not measure.unequal and overlap.k1 is not overlap.k2:
        unequal = np.flatnonzero(overlap.k1 != overlap.k2)
        if unequal.size:
            k1, k2 = overlap.k1[unequal[0]], overlap.k2[unequal[0]]
            raise InputError(
                f"{measure.name} is defined for sets of equal size only; got sizes {k1} and {k2}. "
                "Use one k and ties='stable', or a measure that allows unequal sizes, such as 'wald' or 'jaccard'."
            )
    return measure.values(overlap)


def area(values: Scores) -> Any:
    """Return the area under evenly spaced points (the last axis), scaled to their range (one point: its value)."""
    if values.shape[-1] == 1:
        return values[..., 0]
    return (values.sum(axis=-1) - (values[..., 0] + values[..., -1]) / 2) / (values.shape[-1] - 1)


def find(name: Any) -> Measure:
    """Return the measure of that name."""
    choice("measure", name, MEASURES)
    return MEASURES[name]


def _expected(o: Overlap) -> Scores:
    """Return the expected number of shared items of two random sets."""
    return o.k1 * (o.k2 / o.n)


def _ratio(o: Overlap, above: Scores | Sizes, below: Scores | Sizes) -> Scores:
    """Divide; where the sizes alone decide the overlap (0/0), 1 for equal sets and 0 for others."""
    forced = np.maximum(o.k1, o.k2) == o.n
    values: Scores = np.where(forced, _krizek(o), above / np.where(forced, 1, below))
    return values


def _jaccard(o: Overlap) -> Scores:
    return o.shared / (o.k1 + o.k2 - o.shared)


def _hamming(o: Overlap) -> Scores:
    return 1 - (o.k1 + o.k2 - 2 * o.shared) / o.n


def _pog(o: Overlap) -> Scores:
    return o.shared / o.k1


def _npog(o: Overlap) -> Scores:
    expected = _expected(o)
    return _ratio(o, o.shared - expected, o.k1 - expected)


def _lustgarten(o: Overlap) -> Scores:
    return _ratio(o, o.shared - _expected(o), np.minimum(o.k1, o.k2) - np.maximum(0, o.k1 + o.k2 - o.n))


def _wald(o: Overlap) -> Scores:
    expected = _expected(o)
    return _ratio(o, o.shared - expected, np.minimum(o.k1, o.k2) - expected)


def _krizek(o: Overlap) -> Scores:
    equal: Scores = np.where((o.shared == o.k1) & (o.shared == o.k2), 1.0, 0.0)
    return equal


def _cwrel(o: Overlap) -> Scores:
    total = o.k1 + o.k2
    least = np.maximum(0, total - o.n)
    return _ratio(o, o.shared - least, total // 2 - least)


def _pearson(o: Overlap) -> Scores:
    """Return the formula times n above and below: whole numbers, so that equal sets give exactly 1."""
    spread = np.sqrt(1.0 * o.k1 * (o.n - o.k1) * (o.k2 * (o.n - o.k2)))
    return _ratio(o, o.shared * o.n - o.k1 * o.k2, spread)


def _dice(o: Overlap) -> Scores:
    return 2 * o.shared / (o.k1 + o.k2)


def _ochiai(o: Overlap) -> Scores:
    values: Scores = o.shared / np.sqrt(1.0 * o.k1 * o.k2)
    return values


def _kappa(o: Overlap) -> Scores:
    expected = _expected(o)
    return _ratio(o, o.shared - expected, (o.k1 + o.k2) / 2 - expected)


def _average_overlap(o: Overlap) -> Scores:
    depths = np.arange(1, o.n + 1)
    means: Scores = np.cumsum(o.shared_at_depth / depths) / depths
    return means[o.k1 - 1]


def _rbo(o: Overlap) -> Scores:
    """Return extrapolated rank-biased overlap of the lists cut at k."""
    depths = np.arange(1, o.n + 1)
    agreement = o.shared_at_depth / depths
    weights = RBO_PERSISTENCE ** (depths - 1.0)
    values: Scores = (1 - RBO_PERSISTENCE) * np.cumsum(agreement * weights) + agreement * weights * RBO_PERSISTENCE
    return values[o.k1 - 1]


def _by_scipy(name: str) -> Callable[[Overlap], Scores]:
    """Return the coefficient of that name in scipy.stats over the union, point by point; 1 where it is undefined."""

    def values(o: Overlap) -> Scores:
        from scipy import stats

        coefficient = getattr(stats, name)
        out = np.ones(o.k1.size)
        for j in range(o.k1.size):
            r, s = o.union_levels(j)
            if r.min() < r.max() and s.min() < s.max():
                out[j] = coefficient(r, s).statistic
        return out

    return values


def _table(*measures: Measure) -> Mapping[str, Measure]:
    return MappingProxyType({measure.name: measure for measure in measures})


def _properties(row: str) -> Properties:
    """Read a row of five marks, + or -, in the order of the fields."""
    return Properties(*(mark == "+" for mark in row))


_INF = float("inf")
RBO_PERSISTENCE = 0.9

MEASURES: Mapping[str, Measure] = _table(
    Measure(
        "fuji",
        "FUJI",
        "(h + A/s_(k2) + B/r_(k1)) / (k1 + k2 - h); A: scores in s of the items only in r's set; B: the reverse",
        0.0,
        1.0,
        _properties("+++++"),
        "Petković, Škrlj, Kocev, Simidjievski (2021), Fuzzy Jaccard Index: A robust comparison of ordered lists",
        unequal=True,
        linear=False,
        values=lambda o: o.fuji,
    ),
    Measure(
        "jaccard",
        "Jaccard",
        "h / (k1 + k2 - h)",
        0.0,
        1.0,
        _properties("+++--"),
        "Jaccard (1901), Étude comparative de la distribution florale",
        unequal=True,
        linear=False,
        values=_jaccard,
    ),
    Measure(
        "hamming",
        "Hamming",
        "1 - (k1 + k2 - 2h) / n",
        0.0,
        1.0,
        _properties("+++--"),
        "Dunne, Cunningham, Azuaje (2002), Solutions to instability problems with wrapper-based feature selection",
        unequal=True,
        linear=True,
        values=_hamming,
    ),
    Measure(
        "pog",
        "POG",
        "h / k1",
        0.0,
        1.0,
        _properties("+++--"),
        "Shi et al. (2006), The MicroArray Quality Control project",
        unequal=True,
        linear=True,
        values=_pog,
        symmetric=False,
    ),
    Measure(
        "npog",
        "nPOG",
        "(h - E) / (k1 - E)",
        -_INF,
        1.0,
        _properties("+-++-"),
        "Zhang et al. (2009), Evaluating reproducibility of differential expression discoveries in microarray studies",
        unequal=True,
        linear=True,
        values=_npog,
        symmetric=False,
    ),
    Measure(
        "kuncheva",
        "Kuncheva",
        "(h - k²/n) / (k - k²/n)",
        -1.0,
        1.0,
        _properties("-+++-"),
        "Kuncheva (2007), A stability index for feature selection",
        unequal=False,
        linear=True,
        values=_npog,
    ),
    Measure(
        "lustgarten",
        "Lustgarten",
        "(h - E) / (min(k1, k2) - max(0, k1 + k2 - n))",
        -1.0,
        1.0,
        _properties("++-+-"),
        "Lustgarten et al. (2009), Measuring stability of feature selection in biomedical datasets",
        unequal=True,
        linear=True,
        values=_lustgarten,
    ),
    Measure(
        "wald",
        "Wald",
        "(h - E) / (min(k1, k2) - E)",
        -_INF,
        1.0,
        _properties("+--+-"),
        "Wald, Khoshgoftaar, Napolitano (2013), Stability of filter- and wrapper-based feature subset selection",
        unequal=True,
        linear=True,
        values=_wald,
    ),
    Measure(
        "krizek",
        "Křížek",
        "1 if the sets are equal, else 0 (what the entropy of subset frequencies comes to for two sets)",
        0.0,
        1.0,
        _properties("--+--"),
        "Křížek, Kittler, Hlaváč (2007), Improving stability of feature selection methods",
        unequal=False,
        linear=False,
        values=_krizek,
    ),
    Measure(
        "cwrel",
        "CWrel",
        "(h - m) / (floor((k1 + k2) / 2) - m), m = max(0, k1 + k2 - n)",
        0.0,
        1.0,
        _properties("++---"),
        "Somol, Novovičová (2010), Evaluating stability and comparing output of feature selectors",
        unequal=True,
        linear=True,
        values=_cwrel,
    ),
    Measure(
        "correlation",
        "correlation",
        "Pearson's correlation of the raw scores over the union; 1 where undefined; -inf as the least finite score",
        -1.0,
        1.0,
        _properties("-+-++"),
        "Pearson (1895), Notes on regression and inheritance in the case of two parents",
        unequal=True,
        linear=False,
        values=lambda o: o.correlation,
        by_rank=True,
    ),
    Measure(
        "pearson",
        "Pearson",
        "(h - E) / (n sqrt(k1/n (1 - k1/n) k2/n (1 - k2/n)))",
        -1.0,
        1.0,
        _properties("++++-"),
        "Nogueira, Brown (2016), Measuring the stability of feature selection",
        unequal=True,
        linear=True,
        values=_pearson,
    ),
    Measure(
        "gamma",
        "gamma",
        "(C - D) / (C + D): concordant and discordant pairs of the union, ties in neither; 1 where there are none",
        -1.0,
        1.0,
        _properties("-++--"),
        "Goodman, Kruskal (1954), Measures of association for cross classifications",
        unequal=True,
        linear=False,
        values=lambda o: o.gamma,
        by_rank=True,
    ),
    Measure(
        "dice",
        "Dice",
        "2h / (k1 + k2)",
        0.0,
        1.0,
        None,
        "Dice (1945), Measures of the amount of ecologic association between species",
        unequal=True,
        linear=True,
        values=_dice,
    ),
    Measure(
        "ochiai",
        "Ochiai",
        "h / sqrt(k1 k2)",
        0.0,
        1.0,
        None,
        "Ochiai (1957), Zoogeographical studies on the soleoid fishes",
        unequal=True,
        linear=True,
        values=_ochiai,
    ),
    Measure(
        "kappa",
        "kappa",
        "(h - E) / ((k1 + k2)/2 - E)",
        -1.0,
        1.0,
        None,
        "Cohen (1960), A coefficient of agreement for nominal scales",
        unequal=True,
        linear=True,
        values=_kappa,
    ),
    Measure(
        "average_overlap",
        "average overlap",
        "mean over the depths d = 1..k of h_d / d",
        0.0,
        1.0,
        None,
        "Fagin, Kumar, Sivakumar (2003), Comparing top k lists",
        unequal=False,
        linear=False,
        values=_average_overlap,
        by_rank=True,
    ),
    Measure(
        "rbo",
        "RBO",
        f"extrapolated rank-biased overlap of the lists cut at k, p = {RBO_PERSISTENCE} (fujiscore.rbo for other p)",
        0.0,
        1.0,
        None,
        "Webber, Moffat, Zobel (2010), A similarity measure for indefinite rankings",
        unequal=False,
        linear=False,
        values=_rbo,
        by_rank=True,
    ),
    Measure(
        "kendall",
        "Kendall's tau",
        "tau-b of the scores over the union (SciPy, point by point: prefer a sparse grid); 1 where undefined",
        -1.0,
        1.0,
        None,
        "Kendall (1945), The treatment of ties in ranking problems",
        unequal=True,
        linear=False,
        values=_by_scipy("kendalltau"),
        by_rank=True,
    ),
    Measure(
        "weightedtau",
        "weighted tau",
        "hyperbolic weighted tau of the scores over the union (SciPy, point by point); 1 where undefined",
        -1.0,
        1.0,
        None,
        "Vigna (2015), A weighted correlation index for rankings with ties",
        unequal=True,
        linear=False,
        values=_by_scipy("weightedtau"),
        by_rank=True,
    ),
    Measure(
        "spearman",
        "Spearman's rho",
        "correlation of the ranks over the union (SciPy, point by point); 1 where undefined",
        -1.0,
        1.0,
        None,
        "Spearman (1904), The proof and measurement of association between two things",
        unequal=True,
        linear=False,
        values=_by_scipy("spearmanr"),
        by_rank=True,
    ),
)

PAPER_MEASURES = tuple(name for name, measure in MEASURES.items() if measure.properties is not None)
