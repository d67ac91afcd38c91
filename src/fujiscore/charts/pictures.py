"""Computed results as small SVG pictures for notebooks, in the colours of the figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fujiscore.charts import svg, svg_maps
from fujiscore.charts.plots import PALETTE, colour
from fujiscore.measures.registry import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fujiscore.features.study import Study
    from fujiscore.many.consensus import Consensus
    from fujiscore.many.matrix import Dendrogram, Embedding, Matrix
    from fujiscore.many.pair_tests import PairComparison, ResampledSimilarity
    from fujiscore.many.rank_agreement import RankAgreement
    from fujiscore.many.ranks import ItemRanks
    from fujiscore.many.sets import SetStability, SetStabilityTest
    from fujiscore.many.stability import Stability, StabilityCurve
    from fujiscore.many.stability_tests import StabilityComparison
    from fujiscore.null.chance import Chance
    from fujiscore.pair.compare import Comparison, Curve
    from fujiscore.pair.explain import Explanation
    from fujiscore.pair.recall import Recall
    from fujiscore.pair.truncated import RBO, Bounds
    from fujiscore.runs.results import RunComparison
    from fujiscore.versions.noise import VersionTest
    from fujiscore.versions.results import Drift

# The most curves in one picture, rankings whose absence moves a stability most, and rankings in a tree or a map.
CURVES, INFLUENTIAL, LEAVES = 8, 6, 40
# As in the picture of a comparison: shared items are grey, near misses orange, far misses in the colour of text.
KINDS = {"shared": svg.GREY, "near miss": PALETTE[0], "far miss": "currentColor", "opposite sign": "currentColor"}
OVER_K = "k, number of top items"


def ink(measure: str) -> str:
    """Return a measure's colour; black is the colour of the page's text, which may be white."""
    found = colour(measure)
    return "currentColor" if found == "#000000" else found


def _span(*values: NDArray[np.float64]) -> tuple[float, float]:
    """Return from 0, or a round number beneath the least value, to 1."""
    least = min((float(np.nanmin(part, initial=0.0)) for part in values), default=0.0)
    return (max(np.floor(least * 5) / 5, -1.0), 1.0)


def _level(chance: Chance) -> tuple[svg.Line, tuple[NDArray[np.float64], NDArray[np.float64], str]]:
    """Return the line and the band of what chance gives."""
    if chance.has_band:
        (low, high), what = chance.band(), "95% band"
    else:
        reach = 2 * np.sqrt(chance.variance)
        low, high, what = chance.expected - reach, chance.expected + reach, "± 2 sd"
    name = f"{find(chance.measure).title} by chance, {what}"
    return svg.Line(chance.expected, name, svg.GREY, 1.2, dashed=True), (low, high, svg.GREY)


def curve(result: Curve) -> str:
    """Return one curve over k."""
    title = f"{find(result.measure).title} over k"
    line = svg.Line(result.values, find(result.measure).title, ink(result.measure), 2)
    return svg.line_chart(
        result.ks, [line], title=title, x_label=OVER_K, y_label="similarity", span=_span(result.values), log=True
    )


def comparison(result: Comparison) -> str:
    """Return the curves of the first measures over k, and what chance gives for the first of them."""
    shown = list(result.curves.values())[:CURVES]
    lines = [
        svg.Line(each.values, find(each.measure).title, ink(each.measure), 1.2 if place else 2.2)
        for place, each in enumerate(shown)
    ]
    bands = []
    if shown[0].measure in result.chance:
        line, band = _level(result.chance[shown[0].measure])
        lines, bands = [*lines, line], [band]
    more = f"; first {CURVES} of {len(result.curves)} measures" if len(result.curves) > CURVES else ""
    return svg.line_chart(
        result.ks,
        lines,
        title=f"{', '.join(line.name for line in lines)} over k",
        x_label=OVER_K + more,
        y_label="similarity",
        span=_span(*(each.values for each in shown)),
        bands=bands,
        log=True,
    )


def chance(result: Chance) -> str:
    """Return a curve, its chance level and the band around it."""
    title = find(result.measure).title
    line, band = _level(result)
    lines = [svg.Line(result.observed, title, ink(result.measure), 2.2), line]
    return svg.line_chart(
        result.ks,
        lines,
        title=f"{title} over k against chance",
        x_label=OVER_K,
        y_label="similarity",
        span=_span(result.observed, result.expected),
        bands=[band],
        log=True,
    )


def bounds(result: Bounds) -> str:
    """Return the band between the lower and the upper FUJI curve."""
    lines = [svg.Line(values, name, ink("fuji"), 1.5) for values, name in ((result.low, "FUJI, bounds"),)]
    return svg.line_chart(
        result.ks,
        [*lines, svg.Line(result.high, "", ink("fuji"), 1.5)],
        title="bounds of FUJI over k",
        x_label=OVER_K,
        y_label="similarity",
        span=(0.0, 1.0),
        bands=[(result.low, result.high, ink("fuji"))],
        log=True,
    )


def stability_curve(result: StabilityCurve) -> str:
    """Return the stability over k with its intervals."""
    title = find(result.measure).title
    return svg.line_chart(
        result.ks,
        [svg.Line(result.values, f"{title}, {result.confidence:.0%} intervals", ink(result.measure), 2)],
        title=f"stability ({title}) over k",
        x_label=OVER_K,
        y_label="stability",
        span=_span(result.values, result.low),
        bands=[(result.low, result.high, ink(result.measure))],
        log=True,
    )


def rank_agreement(result: RankAgreement) -> str:
    """Return sequential rank agreement over depth, and the band of lists in random order."""
    lines = [svg.Line(result.values, f"{len(result.names)} lists", PALETTE[1], 2)]
    bands, most = [], float(np.nanmax(result.values, initial=0.0))
    if result.expected is not None and result.low is not None and result.high is not None:
        name = f"random orders, {result.confidence:.0%} band"
        lines.append(svg.Line(result.expected, name, svg.GREY, 1.2, dashed=True))
        bands, most = [(result.low, result.high, svg.GREY)], max(most, float(result.high.max()))
    return svg.line_chart(
        result.ks,
        lines,
        title="standard deviation of ranks over depth",
        x_label="depth d, number of top ranks",
        y_label="sd of ranks",
        span=(0.0, most or 1.0),
        bands=bands,
        log=True,
    )


def matrix(result: Matrix) -> str:
    """Return all pairs as a heat map; cells that could well be chance are pale."""
    label = f"{find(result.measure).title}, {result.area}"
    pale = result.insignificant
    return svg.heat_map(
        result.values,
        result.names,
        result.columns,
        title=f"{label} of {len(result.names)} by {len(result.columns)} rankings",
        label=label if pale is None else f"{label}; pale cells {result.marked}",
        span=(-1.0 if np.nanmin(result.values, initial=1.0) < -0.25 else 0.0, 1.0),
        faint=pale,
    )


def dendrogram(result: Dendrogram) -> str:
    """Return the tree, unless it has too many leaves to be read."""
    if len(result.names) > LEAVES:
        return ""
    label = f"1 - {find(result.measure).title}, {result.area} ({result.linkage} linkage)"
    return svg_maps.tree(result.merges, result.names, title=f"tree of {len(result.names)} rankings", label=label)


def embedding(result: Embedding) -> str:
    """Return the map, unless it has too many points to be read."""
    if len(result.names) > LEAVES:
        return ""
    first, second = (f"axis {axis} ({share:.0%} of the variation)" for axis, share in enumerate(result.shares[:2], 1))
    title = f"map of {len(result.names)} rankings by 1 - {find(result.measure).title}"
    x, y = result.coordinates[:, 0], result.coordinates[:, 1]
    return svg_maps.scatter(x, y, result.names, title=title, x_label=first, y_label=second)


def _rows(
    names: Sequence[object],
    values: Sequence[tuple[float, float, float]],
    title: str,
    label: str,
    colours: Sequence[str],
) -> str:
    """Return values with their intervals, on an axis from 0 to 1 that reaches as far below 0 as they do."""
    table = np.array(values)
    return svg.intervals(names, *table.T, title=title, label=label, colours=colours, span=_span(table))


def stability(result: Stability) -> str:
    """Return the stability with its interval, and without the rankings that change it most."""
    moved = np.argsort(-np.abs(np.nan_to_num(result.left_out - result.value)), kind="stable")[:INFLUENTIAL]
    names = ["all rankings", *(f"without {result.pairs.names[i]}" for i in moved)]
    values = [(result.value, result.low, result.high)]
    values += [(float(result.left_out[i]), np.nan, np.nan) for i in moved]
    own = ink(result.pairs.measure)
    label = f"{find(result.pairs.measure).title}, {result.pairs.area}, {result.confidence:.0%} interval"
    return _rows(names, values, "stability", label, [own, *[svg.GREY] * len(moved)])


def similarity(result: ResampledSimilarity) -> str:
    """Return the similarity of two methods with its interval."""
    label = f"{find(result.pairs.measure).title}, {result.pairs.area}, {result.confidence:.0%} interval"
    own = ink(result.pairs.measure)
    return _rows(["similarity"], [(result.value, result.low, result.high)], "similarity", label, [own])


def stability_comparison(result: StabilityComparison | PairComparison) -> str:
    """Return both values with their intervals, and their difference."""
    both, own = (result.first, result.second), ink(result.first.pairs.measure)
    label = (
        f"{find(result.first.pairs.measure).title}, {result.first.pairs.area}, {result.first.confidence:.0%} intervals"
    )
    values = [(each.value, each.low, each.high) for each in both]
    values.append((result.difference, result.low, result.high))
    return _rows(["first", "second", "difference"], values, "difference", label, [own, own, svg.GREY])


def set_stability(result: SetStability) -> str:
    """Return the stability of sets with its interval."""
    label = f"stability of {result.m} sets, {result.confidence:.0%} interval"
    return _rows(["stability"], [(result.value, result.low, result.high)], label, label, [PALETTE[1]])


def set_stability_test(result: SetStabilityTest) -> str:
    """Return a difference with its interval."""
    values = [(result.difference, result.low, result.high)]
    return _rows(["difference"], values, "difference", "difference of stabilities, with its interval", [PALETTE[1]])


def rbo(result: RBO) -> str:
    """Return rank-biased overlap between its bounds."""
    label = f"RBO, p = {result.p:g}: extrapolated, between its bounds"
    return _rows(["RBO"], [(result.ext, result.min, result.max)], label, label, [ink("rbo")])


def consensus(result: Consensus) -> str:
    """Return the similarity of each list with the consensus of the others, the least similar first."""
    order = np.argsort(np.nan_to_num(result.left_out, nan=-np.inf), kind="stable")
    ends = np.sort(np.stack((result.left_out, result.agreement)), axis=0)[:, order]
    label = f"{find(result.measure).title} with the consensus of the others; line: to that of all lists"
    return svg.intervals(
        [result.names[i] for i in order],
        result.left_out[order],
        *ends,
        title="agreement with the consensus, lowest first",
        label=label,
        colours=[ink(result.measure)] * order.size,
        span=_span(ends),
    )


def explanation(result: Explanation) -> str:
    """Return what each item contributes to FUJI."""
    return svg.bars(
        result.items,
        result.contribution,
        title=f"contributions to FUJI at {result.sizes}",
        label="contribution (orange: near miss, grey: shared, black or white: far miss)",
        colours=[KINDS[kind] for kind in result.kind],
        form=".3f",
        most=1.0,
    )


def item_ranks(result: ItemRanks) -> str:
    """Return the mean ranks of the first items with their intervals; colours alternate between tiers."""
    return svg.intervals(
        result.items,
        result.mean,
        result.low,
        result.high,
        title="mean ranks of items",
        label=f"mean rank, {result.confidence:.0%} interval; colours change with the tier",
        colours=[PALETTE[1 - number % 2] for number in result.tier.tolist()],
        span=(1.0, max(float(result.high[: svg.ROWS].max()), 2.0)),
        form=".1f",
    )


def drift(result: Drift) -> str:
    """Return the shares of the features that changed most: a dot at the current one, a line to the reference's."""
    moved = [change for change in result.changes if change.kind != "same"]
    if not moved:
        return ""
    shares = np.array([(change.share_current, change.share_reference) for change in moved])
    return svg.intervals(
        [change.item for change in moved],
        shares[:, 0],
        shares.min(axis=1),
        shares.max(axis=1),
        title="shares of the features that changed most",
        label="share: dot current, line to reference (blue: up, orange: down)",
        colours=[PALETTE[1 if change.share_change >= 0 else 0] for change in moved],
        span=(min(float(shares.min()), 0.0), max(float(shares.max()), 1e-9)),
    )


def version_test(result: VersionTest) -> str:
    """Return the similarity of resamples within and between versions."""
    label = f"mean {find(result.pairs.measure).title}, {result.pairs.area}"
    values = [(value, np.nan, np.nan) for value in (*result.within, result.between)]
    own = ink(result.pairs.measure)
    return _rows(["within reference", "within current", "between"], values, label, label, [own, own, svg.GREY])


def recall(result: Recall) -> str:
    """Return the mean of each kind of recall, with what it can be at most."""
    names = ["recall", f"within {result.epsilon:g}", "plain recall"]
    low = [float(part.mean()) for part in (result.values, result.within, result.plain)]
    high = [float(part.mean()) for part in (result.upper, result.within_upper, result.plain)]
    label = "of one query" if len(result) == 1 else f"mean over {len(result)} queries"
    label += "" if result.known else "; line: up to the upper bound"
    return _rows(names, list(zip(low, low, high, strict=True)), f"recall at k = {result.k}", label, [PALETTE[1]] * 3)


def runs(result: RunComparison) -> str:
    """Return the number of queries in each tenth of the first measure."""
    counts, name = result.histogram(), result.measures[0].name
    return svg.bars(
        list(counts),
        list(counts.values()),
        title=f"queries by {find(name).title}",
        label=f"number of queries by {find(name).title}",
        colours=[ink(name)] * len(counts),
        form=".0f",
    )


def study(result: Study) -> str:
    """Return the agreement of the methods as a heat map, and their stability with intervals."""
    kind = result.stability_corrected or result.stability
    values = [(each.value, each.low, each.high) for each in kind.values()]
    corrected = ", corrected for chance" if result.stability_corrected else ""
    label = f"stability ({find(result.matrix.measure).title}{corrected}), {result.settings['confidence']:.0%} intervals"
    own = ink(result.matrix.measure)
    steady = _rows(list(kind), values, "stability of each method", label, [own] * len(kind))
    return steady if len(kind) < 2 else f"{matrix(result.corrected or result.matrix)}<br/>{steady}"
