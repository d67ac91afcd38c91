"""The charts of a comparison: curves against chance, and the slopes of the top items."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.charts.kinds import Band, Chart, Line, Lines, Slopes, values_span
from fujiscore.errors import short_names
from fujiscore.measures.registry import find
from fujiscore.null.chance import chance_level
from fujiscore.pair.explain import STYLES, Explanation
from fujiscore.pair.verdicts import two_digits

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.inputs.ranking import Rankings
    from fujiscore.pair.compare import Comparison

# Names of rankings are shortened to so many columns.
NAME = 24
# More items than this are lines that nobody can follow; the misses come first.
MOST_ITEMS = 200
# By default slopes are at this k, or at half of the items if they are few, as in `Comparison.explain`.
USUAL_K = 10


def comparison_charts(result: Comparison, k: Any = None) -> list[Chart]:
    """Return the curves and, where FUJI is and both rankings are in memory, or where k is given, the slopes."""
    charts: list[Chart] = [curves(result)]
    if k is not None or ("fuji" in result.curves and result.in_memory):
        rankings = result.loaded("a slope chart")
        chosen = min(default_k(rankings), int(result.ks[-1])) if k is None else k
        charts.append(slopes(rankings, result.explain(chosen), chosen))
    return charts


def curves(result: Comparison) -> Lines:
    """Return the first measure's curve against chance, the credit for misses, and all other curves as thin lines."""
    lead, *_ = result.curves.values()
    lines, bands = [], []
    for curve in result.curves.values():
        measure = find(curve.measure)
        lines.append(Line(curve.values, measure.title, measure.colour, 2.2 if curve is lead else 0.9, measure.dashed))
    if lead.measure == "fuji" and "jaccard" in result.curves:
        shared = result.curves["jaccard"].values
        bands.append(Band(shared, lead.values, find("fuji").colour, "credit for misses", 0.13))
    if lead.measure in result.chance:
        level, around = chance_level(result.chance[lead.measure])
        lines, bands = [*lines, level], [*bands, *around]
    names = " and ".join(short_names(result.rankings.names, NAME))
    a, b = short_names(result.rankings.names, NAME)
    universe = f" of {result.rankings.universe}" if result.rankings.universe else ""
    place = f"{result.headline.place}, {result.n}{universe} {'item' if result.n == 1 else 'items'}"
    return Lines(
        result.ks,
        lines,
        bands,
        span=values_span(*(curve.values for curve in result.curves.values())),
        log=True,
        title=f"similarity of {names} over k",
        heading=result.verdict(),
        caption=f"A: {a}, B: {b}\n{place}",
    )


def default_k(rankings: Rankings) -> int:
    """Return 10 or half of the items, but not so many that the k-th score is 0: nothing is relative to 0."""
    positive = min(int(np.count_nonzero(ranking.ranked > 0)) for ranking in rankings)
    return max(1, min(USUAL_K, rankings.depth // 2, positive))


def slopes(rankings: Rankings, explanation: Explanation, k: Any = None) -> Slopes:
    """Return the union of two top sets, each item placed on either side by its score relative to the k-th score."""
    # Misses have precedence over shared items, the worst first: they are what the rankings disagree about.
    misses = [i for i, kind in enumerate(explanation.kind) if kind != "shared"]
    shared = [i for i, kind in enumerate(explanation.kind) if kind == "shared"]
    rows = [*reversed(misses), *shared][:MOST_ITEMS]
    scores = np.array([explanation.score_r, explanation.score_s])[:, rows]
    sizes = (explanation.k1, explanation.k2)
    last = [float(ranking.ranked[size - 1]) for ranking, size in zip(rankings, sizes, strict=True)]
    units = [unit(ranking.ranked, score) for ranking, score in zip(rankings, last, strict=True)]
    zero = " and ".join(side for side, score in zip("AB", last, strict=True) if score <= 0)
    names = zip("AB", short_names(rankings.names, NAME), strict=True)
    heading = _slopes_heading(explanation, k)
    return Slopes(
        [explanation.items[row] for row in rows],
        [explanation.kind[row] for row in rows],
        np.array([_relative(row, by) for row, by in zip(scores, units, strict=True)]),
        np.array([_logs(row, by) for row, by in zip(scores, units, strict=True)]),
        [f"{side}: {name}" for side, name in names],
        {kind: explanation.kind.count(kind) for kind in STYLES if kind in explanation.kind},
        STYLES,
        "score / k-th score (log above 1)" + (f"\nk-th score of {zero} is 0: / least positive score" if zero else ""),
        title=f"scores of the top items: {heading}",
        heading=heading,
    )


def unit(ranked: Scores, last: float) -> float:
    """Return the k-th score; if it is 0 the least positive one of the ranking, and 0 if there is none."""
    positive = ranked[ranked > 0]
    return last if last > 0 else float(positive[-1]) if positive.size else 0.0


def _relative(scores: Scores, by: float) -> Scores:
    """Return scores over the unit, negative ones as 0; NaN stays."""
    if by == 0:
        return np.where(np.isnan(scores), np.nan, 0.0)
    with np.errstate(over="ignore"):
        return np.maximum(scores, 0.0) / by


def _logs(scores: Scores, by: float) -> Scores:
    """Return the logarithm of scores over the unit, which is finite where the quotient is not; at most 1 as 0."""
    above = np.nan_to_num(scores) > (by or np.inf)
    return np.log(np.where(above, scores, 1.0)) - np.where(above, np.log(by or 1.0), 0.0)


def _slopes_heading(why: Explanation, k: Any) -> str:
    """Return which top sets the slopes show, and their similarity; ties may make the sets larger than k."""
    sizes = (why.k1, why.k2)
    given = sizes if k is None else k if isinstance(k, tuple) else (k, k)
    text = f"Top k = {given[0] if given[0] == given[1] else given}"
    ties = "" if sizes == tuple(given) else f" (sets of {sizes[0]} and {sizes[1]})"
    if isnan(why.value):
        return f"{text}{ties}: undefined, the k-th scores are 0"
    return f"{text}{ties}: FUJI {two_digits(why.value)}, Jaccard {two_digits(why.jaccard)}"
