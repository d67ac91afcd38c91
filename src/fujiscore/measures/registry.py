"""The registry of measures: a row of measures.csv and a formula each; finding and evaluating them."""

from __future__ import annotations

import ast
import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from math import isnan, nan
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from fujiscore.charts.palette import PALETTE
from fujiscore.errors import InputError, choice, first_few, proportion, spelled
from fujiscore.inputs.coercion import Scores, no_signs
from fujiscore.measures.formulas import FORMULAS
from fujiscore.measures.overlap import Counts, Overlap, TopSets
from fujiscore.text.tables import Table
from fujiscore.text.tabular import Tabular

Sets: TypeAlias = Counts | TopSets

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

    @property
    def colour(self) -> str:
        """The colour in all charts."""
        return PALETTE[list(MEASURES).index(self.base) % len(PALETTE)]

    @property
    def dashed(self) -> bool:
        """Whether lines are dashed, because a measure before has the same colour."""
        return list(MEASURES).index(self.base) >= len(PALETTE)

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
        if measure.one_k and (sets.requested[0] != sets.requested[1]).any():
            raise _needs_equal_sizes(measure, sets)
        return measure.values(sets, **measure.parameters)
    values = measure.values(sets)
    if measure.unequal or sets.k1 is sets.k2:
        return values
    if isinstance(sets, Overlap) and (sets.requested[0] != sets.requested[1]).any():
        raise _needs_equal_sizes(measure, sets)
    return np.where(sets.k1 == sets.k2, values, np.nan)


def _needs_equal_sizes(measure: Measure, sets: Overlap) -> InputError:
    """Return the error for a measure of equal sizes that is asked for others."""
    return InputError(
        f"{measure.name} is defined for sets of equal size only; got sizes {sets.requested[0][0]} and "
        f"{sets.requested[1][0]}. Use one k, or a measure that allows unequal sizes, such as 'wald' or 'jaccard'."
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


def _entry(row: Mapping[str, str]) -> Measure:
    """Return the measure of a row of measures.csv; the marks, + or -, are its properties."""
    properties = Properties(*(mark == "+" for mark in row["marks"])) if row["marks"] else None
    flags = row["flags"].split()
    given = (parameter.split("=") for parameter in row["parameters"].split())
    return Measure(
        name=row["name"],
        title=row["title"],
        formula=row["formula"],
        low=float(row["low"]),
        high=float(row["high"]),
        properties=properties,
        reference=row["reference"],
        values=FORMULAS[row["name"]],
        unequal="equal_sizes" not in flags,
        linear="linear" in flags,
        symmetric="asymmetric" not in flags,
        by_rank="by_rank" in flags,
        whole="whole" in flags,
        undefined=float(row["undefined"] or nan),
        aliases=tuple(row["aliases"].split()),
        parameters={name: ast.literal_eval(value) for name, value in given},
    )


with Path(__file__).with_name("measures.csv").open(encoding="utf-8", newline="") as table:
    MEASURES: Mapping[str, Measure] = MappingProxyType({row["name"]: _entry(row) for row in csv.DictReader(table)})
PAPER_MEASURES = tuple(name for name, measure in MEASURES.items() if measure.properties is not None)
_NAMES = {_plain(word): name for name, measure in MEASURES.items() for word in (name, measure.title, *measure.aliases)}
