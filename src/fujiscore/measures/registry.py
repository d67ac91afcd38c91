"""The registry of measures: name, parameters, formula, range, properties, reference."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, fields, replace
from math import isnan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fujiscore.errors import InputError, choice, first_few, proportion, spelled
from fujiscore.inputs.coercion import no_signs
from fujiscore.measures.overlap import Counts, Overlap, TopSets
from fujiscore.text.tables import Table
from fujiscore.text.tabular import Tabular

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fujiscore.inputs.coercion import Scores
    from fujiscore.measures.overlap import Sizes

Sets: TypeAlias = Counts | TopSets

# Seconds that SciPy takes for a coefficient, and for each of its n items times log2(n).
SECONDS = {"weightedtau": (5e-4, 3e-7), "spearman": (8e-4, 2e-8)}
# A curve of more points than these that would take longer is refused.
LONGEST, FEW_POINTS = 60.0, 64
SIGN_MEASURES = ("sign_agreement", "signed_rank_agreement")


@dataclass(frozen=True)
class Properties:
    """The five properties of the paper's Table 1, of the value as defined.

    The marks are the paper's, except that FUJI and correlation are not corrected for chance: by the standard that the
    other measures meet, the same expectation for random rankings at all sizes, they are not.
    """

    fully_defined: bool
    bounded: bool
    maximum: bool
    chance_corrected: bool
    uses_scores: bool


@dataclass(frozen=True, repr=False)
class Measure(Tabular):
    """A similarity of two top sets, or of two whole lists: a formula on their overlap.

    Calling a measure with parameters gives the measure with these parameters: `MEASURES["rbo"](p=0.98)`.

    Attributes
    ----------
    name, title : str
        The word used in calls, and the name used in text and figures.
    formula : str
        With h shared items, set sizes k1 and k2, n items and E = k1 k2 / n.
    low, high : float
        The range of the value.
    properties : Properties or None
        The row of the paper's Table 1 (see Properties); None for a measure that the paper does not treat.
    reference : str
        Where the measure comes from.
    values : callable
        The formula, on an Overlap (or its Counts, unless by_rank).
    unequal : bool
        Whether the two sets may differ in size.
    linear : bool
        Whether the value is linear in h, so that its expectation is its value at the expected h.
    symmetric : bool
        Whether exchanging the rankings leaves the value as it is, for sets of any sizes.
    by_rank : bool
        Whether the value needs the single ranks, and not only how the two sets overlap.
    whole : bool
        Whether the headline is the value over the whole list; otherwise it is the area under the curve over k.
    undefined : float
        The value where the formula is undefined: NaN, or 1 by the paper's convention.
    aliases : tuple of str
        Other names.
    parameters : mapping of str to value
        The formula's parameters.
    """

    name: str
    title: str
    formula: str
    low: float
    high: float
    properties: Properties | None
    reference: str
    values: Callable[..., Scores]
    unequal: bool = True
    linear: bool = False
    symmetric: bool = True
    by_rank: bool = False
    whole: bool = False
    undefined: float = float("nan")
    aliases: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def _data(self) -> dict[str, Any]:
        marks = {one.name: self.properties and getattr(self.properties, one.name) for one in fields(Properties)}
        return {
            "name": self.name,
            "title": self.title,
            "formula": self.formula,
            "low": self.low,
            "high": self.high,
            **marks,
            "unequal_sizes": self.unequal,
            "symmetric": self.symmetric,
            "headline": "whole list" if self.whole else "area",
            "parameters": ", ".join(f"{name}={value}" for name, value in self.parameters.items()),
            "aliases": ", ".join(self.aliases),
            "reference": self.reference,
        }

    def _facts(self) -> dict[str, str]:
        """Return the formula, the range, what the headline is, and the reference, in words."""
        low = "-inf" if self.low == -float("inf") else f"{self.low:g}"
        return {
            "formula": self.formula,
            "range": f"{low} to {self.high:g}",
            "headline": "value over the whole list" if self.whole else "area under the curve over k",
            "reference": self.reference,
        }

    def _summary(self) -> list[str]:
        return [f"{self.title} ({self.name})", *(f"{name}: {fact}" for name, fact in self._facts().items())]

    def _tables(self, rows: int | None) -> list[Table]:  # noqa: ARG002 - there are few rows
        return [Table(f"{self.title} ({self.name})", ["", "measure"], list(self._facts().items()), ["", ""])]

    def __call__(self, **parameters: Any) -> Measure:
        """Return the measure with other parameters."""
        if parameters and not self.parameters:
            raise InputError(f"{spelled('measure')} {self.name} takes no parameter; got {first_few(list(parameters))}.")
        for name, value in parameters.items():
            choice("parameter", name, self.parameters)
            if not isinstance(self.parameters[name], bool):
                parameters[name] = proportion(name, value)
            elif not isinstance(value, bool):
                raise InputError(f"{self.name}: {name} must be True or False; got {value!r}.")
        changed = {name: value for name, value in parameters.items() if value != MEASURES[self.base].parameters[name]}
        if not changed:
            return MEASURES[self.base]
        listed = ", ".join(f"{name}={value}" for name, value in changed.items())
        return replace(
            self,
            name=f"{self.base}({listed})",
            title=f"{MEASURES[self.base].title} ({listed})",
            parameters={**MEASURES[self.base].parameters, **parameters},
        )

    @property
    def by_depth(self) -> bool:
        """Whether the value is a weighted mean of overlaps at all depths down to k."""
        return self.base in {"rbo", "average_overlap"}

    @property
    def one_k(self) -> bool:
        """Whether the value is of one depth k, so that the two sets cannot be asked for at different ones."""
        return self.by_depth or self.base == "ndcg"

    @property
    def base(self) -> str:
        """The name without parameters."""
        return self.name.partition("(")[0]

    def __reduce__(self) -> tuple[Callable[[str], Measure], tuple[str]]:
        """Travel to other processes by name: formulas cannot be pickled."""
        return find, (self.name,)


def evaluate(measure: Measure, sets: Sets) -> Scores:
    """Return a measure's values along the path; NaN (or the measure's convention) where it is undefined."""
    values = _raw(measure, sets)
    return values if isnan(measure.undefined) else np.where(np.isnan(values), measure.undefined, values)


def require_whole(measure: Measure, *, split: bool) -> None:
    """Raise if a measure compares whole lists, and items are split by sign."""
    if split and measure.by_rank and measure.whole and not measure.one_k:
        raise InputError(
            f"{measure.name} compares whole lists, which items split by sign are not (one sign of each is at the "
            f"end). Pass {spelled('negative', 'abs')}, or another measure."
        )


def require_signs(measure: Measure, name: str, unsigned: str | None) -> None:
    """Raise if a measure compares signs, and scores lost theirs."""
    if unsigned is not None and measure.base in SIGN_MEASURES:
        raise no_signs(name, measure.name, unsigned)


def _raw(measure: Measure, sets: Sets) -> Scores:
    """Return a measure's values, NaN wherever it is undefined."""
    if measure.by_rank and isinstance(sets, Overlap):
        if sets.inner < sets.k1.size:
            raise InputError(
                f"{measure.name} needs the items' ranks, which end with the truncated lists; lower {spelled('k')}."
            )
        require_whole(measure, split=sets.r.split is not None)
        for ranking in (sets.r, sets.s):
            require_signs(measure, ranking.name, ranking.unsigned)
        if measure.one_k and (sets.asked[0] != sets.asked[1]).any():
            raise _needs_equal_sizes(measure, sets)
        return measure.values(sets, **measure.parameters)
    values = measure.values(sets)
    if measure.unequal or sets.k1 is sets.k2:
        return values
    if isinstance(sets, Overlap) and (sets.asked[0] != sets.asked[1]).any():
        raise _needs_equal_sizes(measure, sets)
    return np.where(sets.k1 == sets.k2, values, np.nan)


def _needs_equal_sizes(measure: Measure, sets: Overlap) -> InputError:
    """Return the error for a measure of equal sizes that is asked for others."""
    return InputError(
        f"{measure.name} is defined for sets of equal size only; got sizes {sets.asked[0][0]} and {sets.asked[1][0]}. "
        "Use one k, or a measure that allows unequal sizes, such as 'wald' or 'jaccard'."
    )


def undefined_points(measure: Measure, overlap: TopSets) -> int:
    """Return at how many points of the path a measure is undefined."""
    if not (measure.by_rank or not measure.unequal):
        return 0
    return int(np.isnan(_raw(measure, overlap)).sum())


def area(values: Scores) -> Any:
    """Return the area under evenly spaced points (the last axis), scaled to their range (one point: its value)."""
    if values.shape[-1] == 1:
        return values[..., 0]
    return (values.sum(axis=-1) - (values[..., 0] + values[..., -1]) / 2) / (values.shape[-1] - 1)


def headline(measure: Measure, values: Scores) -> Any:
    """Return the one number that stands for a curve: the area, or the value over the whole list."""
    return values[..., -1] if measure.whole else area(values)


def find(name: Any) -> Measure:
    """Return the measure of a name, in any capitalisation, with parameters as in 'rbo:0.98' or 'rbo(p=0.98)'."""
    if type(name) is str and name in MEASURES:
        return MEASURES[name]
    if isinstance(name, Measure):
        return name
    word, parameters = _parsed(name) if isinstance(name, str) else ("", {})
    key = _NAMES.get(word)
    if key is None:
        from difflib import get_close_matches

        near = get_close_matches(word, _NAMES, n=1) if word else []
        hint = f" Did you mean {_NAMES[near[0]]!r}?" if near else ""
        raise InputError(f"{spelled('measure')} must be one of {', '.join(MEASURES)}; got {name!r}.{hint}")
    measure = MEASURES[key]
    if not isinstance(parameters, dict):
        first = next(iter(measure.parameters), None)
        if first is None:
            raise InputError(f"{spelled('measure')} {key} takes no parameter; got {name!r}.")
        parameters = {first: parameters}
    return measure(**parameters) if parameters else measure


def _parsed(name: str) -> tuple[str, Any]:
    """Return a measure's plain name and its parameters: a dict, or one value after a colon."""
    word, colon, value = name.partition(":")
    try:
        if colon:
            return _plain(word), ast.literal_eval(value.strip().capitalize())
        word, bracket, rest = name.partition("(")
        if bracket:
            call: Any = ast.parse(f"measure({rest.strip()}", mode="eval").body
            if call.args:
                raise ValueError  # noqa: TRY301 - parameters have names
            return _plain(word), {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (ValueError, SyntaxError, AttributeError):
        raise InputError(
            f"{spelled('measure')} must be a name with parameters such as 'rbo:0.98' or 'rbo(p=0.98)'; got {name!r}."
        ) from None
    return _plain(name), {}


def _plain(word: str) -> str:
    """Return a name in lower case, with underscores for blanks and hyphens."""
    return word.strip().lower().replace("-", "_").replace(" ", "_")


def _expected(o: Sets) -> Scores:
    """Return the expected number of shared items of two random sets."""
    return o.k1 * (o.k2 / o.n)


def _ratio(o: Sets, above: Scores | Sizes, below: Scores | Sizes) -> Scores:
    """Divide; where the sizes alone decide the overlap (0/0), 1 for equal sets and 0 for others."""
    forced = np.maximum(o.k1, o.k2) == o.n
    values: Scores = np.where(forced, _krizek(o), above / np.where(forced, 1, below))
    return values


def _jaccard(o: Sets) -> Scores:
    return o.shared / (o.k1 + o.k2 - o.shared)


def _hamming(o: Sets) -> Scores:
    return 1 - (o.k1 + o.k2 - 2 * o.shared) / o.n


def _pog(o: Sets) -> Scores:
    return o.shared / o.k1


def _npog(o: Sets) -> Scores:
    expected = _expected(o)
    return _ratio(o, o.shared - expected, o.k1 - expected)


def _lustgarten(o: Sets) -> Scores:
    return _ratio(o, o.shared - _expected(o), np.minimum(o.k1, o.k2) - np.maximum(0, o.k1 + o.k2 - o.n))


def _wald(o: Sets) -> Scores:
    expected = _expected(o)
    return _ratio(o, o.shared - expected, np.minimum(o.k1, o.k2) - expected)


def _krizek(o: Sets) -> Scores:
    equal: Scores = np.where((o.shared == o.k1) & (o.shared == o.k2), 1.0, 0.0)
    return equal


def _cwrel(o: Sets) -> Scores:
    total = o.k1 + o.k2
    least = np.maximum(0, total - o.n)
    return _ratio(o, o.shared - least, total // 2 - least)


def _pearson(o: Sets) -> Scores:
    """Return the formula times n above and below: whole numbers, so that equal sets give exactly 1."""
    spread = np.sqrt(1.0 * o.k1 * (o.n - o.k1) * (o.k2 * (o.n - o.k2)))
    return _ratio(o, o.shared * o.n - o.k1 * o.k2, spread)


def _dice(o: Sets) -> Scores:
    return 2 * o.shared / (o.k1 + o.k2)


def _ochiai(o: Sets) -> Scores:
    values: Scores = o.shared / np.sqrt(1.0 * o.k1 * o.k2)
    return values


def _kappa(o: Sets) -> Scores:
    expected = _expected(o)
    return _ratio(o, o.shared - expected, (o.k1 + o.k2) / 2 - expected)


def _agreement(o: Overlap) -> Scores:
    """Return the share of items in common at every depth down to the last point; for tied items as RBO's variant w."""
    depths = o.at_depths
    agreement: Scores = 2 * depths.shared / (depths.k1 + depths.k2)
    return agreement


def _average_overlap(o: Overlap) -> Scores:
    agreement = _agreement(o)
    means: Scores = np.cumsum(agreement) / np.arange(1, agreement.size + 1)
    return _at_asked(o, means)


def _rbo(o: Overlap, p: float) -> Scores:
    """Return extrapolated rank-biased overlap of the lists cut at k."""
    agreement = _agreement(o)
    weights = p ** np.arange(agreement.size)
    return _at_asked(o, (1 - p) * np.cumsum(agreement * weights) + agreement * weights * p)


def _at_asked(o: Overlap, by_depth: Scores) -> Scores:
    """Return a value by depth at the path's points."""
    values: Scores = by_depth[o.asked[0] - 1]
    return values


def _ndcg(o: Overlap) -> Scores:
    """Return the discounted gains, r's scores, of the items in s's order, relative to the best order at each depth."""
    best, depth = o.r.ranked[0], int(o.asked[0][-1])
    if not best > 0:
        return np.full(o.k1.size, np.nan)
    gains = o.r.clipped[o.s.order] / best
    if o.ties == "closed" and not o.s.untied:  # tied items share the mean of their gains
        starts = np.flatnonzero(o.s.tie_groups[0] == np.arange(o.s.n))
        sizes = np.diff(starts, append=o.s.n)
        gains = np.repeat(np.add.reduceat(gains, starts) / sizes, sizes)
    discounts = 1 / np.log2(np.arange(2, depth + 2))
    found, ideal = np.cumsum(gains[:depth] * discounts), np.cumsum(o.r.ranked[:depth] / best * discounts)
    return _at_asked(o, np.minimum(found / ideal, 1.0))


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


def _pairwise_rank_agreement(o: Overlap) -> Scores:
    """Return the share of pairs of the union that both rankings order alike; tied in both is alike."""
    concordant, discordant, tied_r, tied_s = o.pairs.T
    size = (o.k1 + o.k2 - o.shared).astype(np.float64)
    total = size * (size - 1) / 2
    tied_in_both = concordant + discordant + tied_r + tied_s - total
    return _divided(concordant + tied_in_both, total)


def _divided(above: Scores, below: Scores) -> Scores:
    """Divide; NaN where the divisor is 0."""
    values: Scores = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    return values


def _gamma(o: Overlap) -> Scores:
    concordant, discordant = o.pairs[:, 0], o.pairs[:, 1]
    return _divided(concordant - discordant, concordant + discordant)


def _kendall(o: Overlap) -> Scores:
    size = (o.k1 + o.k2 - o.shared).astype(np.float64)
    total = size * (size - 1) / 2
    spread = np.sqrt(total - o.pairs[:, 2]) * np.sqrt(total - o.pairs[:, 3])
    return np.clip(_divided(o.pairs[:, 0] - o.pairs[:, 1], spread), -1.0, 1.0)


def _spearman(o: Overlap) -> Scores:
    return _by_scipy(o, "spearman", "spearmanr")


def _weighted_tau(o: Overlap, additive: bool) -> Scores:
    return _by_scipy(o, "weightedtau", "weightedtau", additive=additive)


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


INF = float("inf")
# With h shared items, set sizes k1 and k2, n items and E = k1 k2 / n.
FORMULAS = {
    "fuji": "(h + A/s_(k2) + B/r_(k1)) / (k1 + k2 - h); A: scores in s of the items only in r's set; B: the reverse",
    "jaccard": "h / (k1 + k2 - h)",
    "hamming": "1 - (k1 + k2 - 2h) / n",
    "pog": "h / k1",
    "npog": "(h - E) / (k1 - E)",
    "kuncheva": "(h - k²/n) / (k - k²/n)",
    "lustgarten": "(h - E) / (min(k1, k2) - max(0, k1 + k2 - n))",
    "wald": "(h - E) / (min(k1, k2) - E)",
    "krizek": "1 if the sets are equal, else 0 (what the entropy of subset frequencies comes to for two sets)",
    "cwrel": "(h - m) / (floor((k1 + k2) / 2) - m), m = max(0, k1 + k2 - n)",
    "correlation": "Pearson's correlation of the raw scores over the union; 1 where undefined; -inf as the least "
    "finite score",
    "pearson": "(h - E) / (n sqrt(k1/n (1 - k1/n) k2/n (1 - k2/n)))",
    "gamma": "(C - D) / (C + D): concordant and discordant pairs of the union, ties in neither; 1 where there are none",
    "dice": "2h / (k1 + k2)",
    "ochiai": "h / sqrt(k1 k2)",
    "kappa": "(h - E) / ((k1 + k2)/2 - E)",
    "average_overlap": "mean over the depths d = 1..k of 2 h_d / (k1_d + k2_d), which is h_d / d without ties",
    "rbo": "extrapolated rank-biased overlap of the lists cut at k, with persistence p; tied items as variant w",
    "kendall": "tau-b of the scores over the union: (C - D) / sqrt(pairs not tied in r x pairs not tied in s)",
    "weightedtau": "hyperbolic weighted tau of the scores over the union (SciPy, point by point: prefer a sparse grid)",
    "spearman": "correlation of the ranks over the union (SciPy, point by point: prefer a sparse grid)",
    "rank_agreement": "items in both sets at the same rank / max(k1, k2); tied items share their best rank",
    "sign_agreement": "items in both sets whose scores have the same sign (0 is the sign of 0) / max(k1, k2)",
    "signed_rank_agreement": "items in both sets at the same rank with the same sign / max(k1, k2)",
    "pairwise_rank_agreement": "pairs of the union that both rankings order alike (or both tie) / all pairs; "
    "(tau + 1)/2 without ties",
    "ndcg": "sum over the ranks i = 1..k in s of g_i / log2(i + 1), over the same sum in r's own order; gains g: r's "
    "scores, negative ones as 0; tied items share their mean gain; NaN if all gains are 0. Not symmetric: r is the "
    "truth, and of s only the order counts",
}
DISAGREEMENT = "Krishna et al. (2022), The disagreement problem in explainable machine learning"
REFERENCES = {
    "fuji": "Petković, Škrlj, Kocev, Simidjievski (2021), Fuzzy Jaccard Index: A robust comparison of ordered lists",
    "jaccard": "Jaccard (1901), Étude comparative de la distribution florale",
    "hamming": "Dunne, Cunningham, Azuaje (2002), Solutions to instability problems with wrapper-based feature "
    "selection",
    "pog": "Shi et al. (2006), The MicroArray Quality Control project",
    "npog": "Zhang et al. (2009), Evaluating reproducibility of differential expression discoveries in microarray "
    "studies",
    "kuncheva": "Kuncheva (2007), A stability index for feature selection",
    "lustgarten": "Lustgarten et al. (2009), Measuring stability of feature selection in biomedical datasets",
    "wald": "Wald, Khoshgoftaar, Napolitano (2013), Stability of filter- and wrapper-based feature subset selection",
    "krizek": "Křížek, Kittler, Hlaváč (2007), Improving stability of feature selection methods",
    "cwrel": "Somol, Novovičová (2010), Evaluating stability and comparing output of feature selectors",
    "correlation": "Pearson (1895), Notes on regression and inheritance in the case of two parents",
    "pearson": "Nogueira, Brown (2016), Measuring the stability of feature selection",
    "gamma": "Goodman, Kruskal (1954), Measures of association for cross classifications",
    "dice": "Dice (1945), Measures of the amount of ecologic association between species",
    "ochiai": "Ochiai (1957), Zoogeographical studies on the soleoid fishes",
    "kappa": "Cohen (1960), A coefficient of agreement for nominal scales",
    "average_overlap": "Fagin, Kumar, Sivakumar (2003), Comparing top k lists",
    "rbo": "Webber, Moffat, Zobel (2010), A similarity measure for indefinite rankings",
    "kendall": "Kendall (1945), The treatment of ties in ranking problems",
    "weightedtau": "Vigna (2015), A weighted correlation index for rankings with ties",
    "spearman": "Spearman (1904), The proof and measurement of association between two things",
    "rank_agreement": DISAGREEMENT,
    "sign_agreement": DISAGREEMENT,
    "signed_rank_agreement": DISAGREEMENT,
    "pairwise_rank_agreement": DISAGREEMENT,
    "ndcg": "Järvelin, Kekäläinen (2002), Cumulated gain-based evaluation of IR techniques",
}
ALIASES: dict[str, tuple[str, ...]] = {
    "pog": ("feature_agreement", "precision"),
    "gamma": ("goodman_kruskal_gamma",),
    "average_overlap": ("ao",),
    "rbo": ("rank_biased_overlap",),
    "kendall": ("kendalltau", "tau"),
    "weightedtau": ("weighted_tau",),
    "spearman": ("spearmanr", "rho", "rank_correlation"),
    "ndcg": ("normalized_discounted_cumulative_gain",),
}


def _measure(name: str, title: str, low: float, high: float, marks: str | None, values: Any, **flags: Any) -> Measure:
    """Return a registry entry; the marks, + or -, are its properties."""
    properties = None if marks is None else Properties(*(mark == "+" for mark in marks))
    flags["aliases"] = ALIASES.get(name, ())
    return Measure(name, title, FORMULAS[name], low, high, properties, REFERENCES[name], values, **flags)


_REGISTRY = (
    _measure("fuji", "FUJI", 0, 1, "+++-+", lambda o: o.fuji),
    _measure("jaccard", "Jaccard", 0, 1, "+++--", _jaccard),
    _measure("hamming", "Hamming", 0, 1, "+++--", _hamming, linear=True),
    _measure("pog", "POG", 0, 1, "+++--", _pog, linear=True, symmetric=False),
    _measure("npog", "nPOG", -INF, 1, "+-++-", _npog, linear=True, symmetric=False),
    _measure("kuncheva", "Kuncheva", -1, 1, "-+++-", _npog, unequal=False, linear=True),
    _measure("lustgarten", "Lustgarten", -1, 1, "++-+-", _lustgarten, linear=True),
    _measure("wald", "Wald", -INF, 1, "+--+-", _wald, linear=True),
    _measure("krizek", "Křížek", 0, 1, "--+--", _krizek, unequal=False),
    _measure("cwrel", "CWrel", 0, 1, "++---", _cwrel, linear=True),
    _measure("correlation", "correlation", -1, 1, "-+--+", lambda o: o.correlation, by_rank=True, undefined=1.0),
    _measure("pearson", "Pearson", -1, 1, "++++-", _pearson, linear=True),
    _measure("gamma", "gamma", -1, 1, "-++--", _gamma, by_rank=True, undefined=1.0),
    _measure("dice", "Dice", 0, 1, None, _dice, linear=True),
    _measure("ochiai", "Ochiai", 0, 1, None, _ochiai, linear=True),
    _measure("kappa", "kappa", -1, 1, None, _kappa, linear=True),
    _measure("average_overlap", "average overlap", 0, 1, None, _average_overlap, by_rank=True, whole=True),
    _measure("rbo", "RBO", 0, 1, None, _rbo, by_rank=True, whole=True, parameters={"p": 0.9}),
    _measure("kendall", "Kendall's tau", -1, 1, None, _kendall, by_rank=True, whole=True),
    _measure(
        "weightedtau",
        "weighted tau",
        -1,
        1,
        None,
        _weighted_tau,
        by_rank=True,
        whole=True,
        parameters={"additive": True},
    ),
    _measure("spearman", "Spearman's rho", -1, 1, None, _spearman, by_rank=True, whole=True),
    _measure("rank_agreement", "rank agreement", 0, 1, None, lambda o: _share(o, _same_rank(o)), by_rank=True),
    _measure("sign_agreement", "sign agreement", 0, 1, None, lambda o: _share(o, _same_sign(o)), by_rank=True),
    _measure(
        "signed_rank_agreement",
        "signed rank agreement",
        0,
        1,
        None,
        lambda o: _share(o, _same_rank(o) & _same_sign(o)),
        by_rank=True,
    ),
    _measure(
        "pairwise_rank_agreement",
        "pairwise rank agreement",
        0,
        1,
        None,
        _pairwise_rank_agreement,
        by_rank=True,
        whole=True,
    ),
    _measure("ndcg", "nDCG", 0, 1, None, _ndcg, by_rank=True, whole=True, symmetric=False),
)
MEASURES: Mapping[str, Measure] = MappingProxyType({measure.name: measure for measure in _REGISTRY})
PAPER_MEASURES = tuple(name for name, measure in MEASURES.items() if measure.properties is not None)
_NAMES = {_plain(word): name for name, measure in MEASURES.items() for word in (name, measure.title, *measure.aliases)}
