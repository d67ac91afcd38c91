"""The paper's three synthetic scenarios: reversed rankings, correlated items, the two-part ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore as fj
from fujiscore.paper.conventions import ROUNDING, Scores, auc, compare, curve, roughness
from fujiscore.paper.figures import line_figure, style
from fujiscore.paper.record import Checks, Figure, Judged, PageTable, Section, check, listed, make_section

if TYPE_CHECKING:
    Pair = tuple[Scores, Scores]
    Family = Callable[[float], Pair]

ITEMS = 10
DELTAS = (0.1, 1.0, 5.0, 10.0)
# For sets of equal size these four are the same number; the paper draws one of them, too.
COINCIDING = ("npog", "kuncheva", "wald", "pearson")
DRAWS = 400
# Scores that hardly fall, fall by a factor of 1000 per item, and fall from one level to another in the middle.
FLAT = 1.0 + 1e-6 * np.arange(ITEMS, 0.0, -1.0)
STEEP = 1000.0 ** -np.arange(float(ITEMS))
LEVELS = FLAT - np.repeat([0.0, 1.0], ITEMS // 2)
# Scores of r, s and t with which the area against the two-part ranking s is far smaller than against the reversed t; an
# optimiser finds nothing beyond their limits.
REVERSALS = {"fuji": (FLAT, STEEP, FLAT), "correlation": (LEVELS, LEVELS, STEEP)}
# Correlation's area is smaller even if r, s and t share these scores.
NEARLY_EQUAL = np.append(np.linspace(1.01, 1.0, 9), 0.0)


def reversed_pair(delta: float) -> Pair:
    """Return the scores 100, 100 - delta, ... and the same in reverse."""
    r = 100.0 - delta * np.arange(ITEMS)
    return r, r[::-1].copy()


def correlated_pair(delta: float) -> Pair:
    """Return items in pairs (100, 100 - delta, 80, 80 - delta, ...), and the same with each pair swapped."""
    r = np.repeat(100.0 - 20.0 * np.arange(ITEMS // 2), 2) - np.tile([0.0, delta], ITEMS // 2)
    return r, r.reshape(-1, 2)[:, ::-1].ravel().copy()


def two_part(scores: Scores) -> tuple[Scores, Scores, Scores]:
    """Return r in item order, s with the two halves swapped, t reversed; all with the same falling scores."""
    half = scores.size // 2
    return scores.copy(), np.concatenate([scores[half:], scores[:half]]), scores[::-1].copy()


SCORES: dict[str, Callable[[int], Scores]] = {
    "n, n-1, ..., 1": lambda n: np.arange(n, 0.0, -1.0),
    "100, 99, 98, ...": lambda n: 100.0 - np.arange(n),
    "1, 1/2, 1/3, ...": lambda n: 1.0 / np.arange(1, n + 1),
    "1, 1/2, 1/4, ...": lambda n: 2.0 ** -np.arange(n),
    "1, 1/10, 1/100, ...": lambda n: 10.0 ** -np.arange(n),
}


def section() -> Section:
    """Compute the scenarios and judge what the paper says about them."""
    families = {"reversed": reversed_pair, "correlated": correlated_pair}
    drawn = [draw(name, pair) for draw in (_by_delta, _all_measures) for name, pair in families.items()]
    checks = [*_check_reversed(), *_check_correlated(), *_check_all_measures(), *_check_two_part()]
    return make_section("scenarios", checks, [_two_part_table()], drawn)


def _curves(pair: Pair, measures: Sequence[str] = fj.PAPER_MEASURES) -> dict[str, Scores]:
    """Return the curves of several measures."""
    return {measure: result.values for measure, result in compare(*pair, measures).curves.items()}


def _changes(family: Family) -> dict[str, float]:
    """Return the largest change over Δ of a point of each measure's curve."""
    curves = [_curves(family(delta)) for delta in DELTAS]
    return {measure: float(np.ptp([one[measure] for one in curves], axis=0).max()) for measure in curves[0]}


def _by_delta(name: str, pair: Family) -> Figure:
    """Return FUJI for several differences, and Jaccard, which does not depend on them."""
    ks = np.arange(1, ITEMS + 1)
    rows = [(f"FUJI, Δ = {delta:g}", ks, curve(*pair(delta)), style(i)) for i, delta in enumerate(DELTAS)]
    rows.append(("Jaccard, every Δ", ks, curve(*pair(1.0), "jaccard"), style(0, "jaccard", marker="x", lw=1.8)))
    caption = f"{name.capitalize()} rankings: FUJI for several Δ; Jaccard is the same for every Δ."
    return line_figure(f"{name}_by_delta", caption, rows, xticks=ks)


def _all_measures(name: str, pair: Family) -> Figure:
    """Return all thirteen measures at Δ = 1."""
    ks, values = np.arange(1, ITEMS + 1), _curves(pair(1.0))
    rows = []
    for index, measure in enumerate(measure for measure in values if measure not in COINCIDING[1:]):
        title = "nPOG, Kuncheva, Wald, Pearson" if measure == "npog" else fj.MEASURES[measure].title
        # Curves that coincide stay visible: hollow markers around filled ones.
        hollow = {"ms": 7.5, "mfc": "none"} if index % 2 else {}
        look = style(index, measure, lw=2.4 if measure == "fuji" else 1.2, **hollow)
        rows.append((title, ks, values[measure], look))
    caption = f"{name.capitalize()} rankings, Δ = 1: the thirteen measures (nPOG, Kuncheva, Wald and Pearson coincide)."
    return line_figure(f"{name}_all_measures", caption, rows, {"k": ks, **values}, xticks=ks)


def _check_reversed() -> Checks:
    """Check the statements on reversed rankings."""
    deltas = (0.001, 0.01, *DELTAS)
    curves = [_curves(reversed_pair(delta)) for delta in deltas]
    least = [float(one["fuji"].min()) for one in curves]
    areas = [auc(*reversed_pair(delta)) for delta in deltas]
    falls, top = np.all(np.diff(areas) < 0), curves[-1]["fuji"][0]
    changes = _changes(reversed_pair)
    fuji, others = changes.pop("fuji"), max(changes.values())
    off = max(np.abs(one[measure] + 1).max() for one in curves for measure in ("gamma", "correlation"))
    shown: Any = {"least": listed(least, 5), "deltas": listed(deltas)}
    return [
        check("reversed_to_one", far=1 - least[0], area_falls=falls, **shown),
        check("reversed_low", top=top, area_falls=falls, areas=listed(areas, 4)),
        check("reversed_only_fuji", others=others, fuji=fuji, area_falls=falls, deltas=listed(DELTAS)),
        check("reversed_minus_one", distance=off),
    ]


def _check_correlated() -> Checks:
    """Check the statements on items that come in correlated pairs."""
    curves = _curves(correlated_pair(1.0))
    fuji, jaccard, gamma, correlation = (curves[m] for m in ("fuji", "jaccard", "gamma", "correlation"))
    change = _changes(correlated_pair)["jaccard"]
    off = np.abs(jaccard[:3] - [0, 1, 0.5]).max()
    least = [curve(*correlated_pair(delta)).min() for delta in DELTAS]
    falls, shown = np.all(np.diff(least) < 0), listed(least, 4)
    steps: Any = {"fuji": roughness(fuji), "jaccard": roughness(jaccard), "deltas": listed(DELTAS)}
    rises, end = np.all(np.diff(gamma) >= -ROUNDING), abs(gamma[-1] - 0.77)
    late: Any = {"before": correlation[:2].max(), "after": correlation[2:].min()}
    return [
        check("correlated_jaccard", off=off, first=listed(jaccard[:3]), change=change),
        check("correlated_fuji", least_fuji=fuji.min(), least_falls=falls, least=shown, **steps),
        check("correlated_gamma", start=gamma[0], end_off=end, rises=rises, gamma=listed(gamma)),
        check("correlated_correlation", first=listed(correlation[:3]), **late),
        _check_detection(curves),
    ]


def _check_detection(curves: dict[str, Scores]) -> tuple[str, Judged]:
    """Check whether a score other than FUJI sees the similarity of correlated items."""
    others = {fj.MEASURES[measure].title: values for measure, values in curves.items() if measure != "fuji"}
    least = {title: float(values.min()) for title, values in others.items()}
    seen = {title: float((values > 0.9).mean()) for title, values in others.items()}
    best, most = max(least, key=least.__getitem__), max(seen, key=seen.__getitem__)
    even = sum(bool(np.all(values[1::2] > 0.9)) for values in others.values())
    shown: Any = {"best": best, "title": most, "even": even, "fuji": curves["fuji"].min()}
    return check("none_other", best_least=least[best], seen=seen[most], **shown)


def _check_all_measures() -> Checks:
    """Check the statements that compare all measures in the scenarios."""
    both = [_curves(pair(1.0)) for pair in (correlated_pair, reversed_pair)]
    whole = {measure: roughness(values) for measure, values in both[0].items()}
    later = {measure: roughness(values[2:]) for measure, values in both[0].items()}
    others = set(whole) - {"fuji", "correlation"}
    steps: Any = {
        "both": max(later["fuji"], later["correlation"]),
        "next_best": min(later[measure] for measure in others),
        "correlation_whole": whole["correlation"],
        "next_whole": min(whole[measure] for measure in others),
    }
    hamming = max(np.abs(curves["hamming"] - curves["fuji"]).max() for curves in both)
    rng = np.random.default_rng(1)
    pairs = (rng.random((2, int(rng.integers(2, 13)))) for _ in range(DRAWS))
    apart = max(np.ptp(list(_curves(tuple(pair), COINCIDING).values()), axis=0).max() for pair in pairs)
    return [
        check("steadiest", later=later, whole=whole, **steps),
        check("hamming_like_fuji", apart=hamming),
        check("one_curve", draws=DRAWS, apart=apart),
    ]


def _two_part_table() -> PageTable:
    """Return the areas for stated scores."""
    measures = {"FUJI": "fuji", "correlation": "correlation", "Jaccard": "jaccard", "gamma": "gamma"}
    rows = []
    for label, scores in SCORES.items():
        for n in (4, 10, 50):
            r, s, t = two_part(scores(n))
            rows.append((label, n, *(auc(r, other, measure) for measure in measures.values() for other in (s, t))))
    columns = ("scores", "n", *(f"{title} r,{other}" for title in measures for other in "st"))
    return PageTable("two_part", "Two-part ranking: AUC against s (halves swapped) and t (reversed)", columns, rows)


def _check_two_part() -> Checks:
    """Check the statements on the two-part ranking."""
    apart = _two_part_differences()
    differing = [fj.MEASURES[measure].title for measure, value in apart.items() if value > ROUNDING]
    order: Any = {"equal": len(apart) - len(differing), "names": ", ".join(differing), "apart": max(apart.values())}
    same, free = _two_part_leads(shared=True), _two_part_leads(shared=False)
    fuji, correlation = (-two_part_lead(measure, *scores) for measure, scores in REVERSALS.items())
    shared = -two_part_lead("correlation", NEARLY_EQUAL, NEARLY_EQUAL, NEARLY_EQUAL)
    return [
        check("two_part_jaccard", apart=apart["jaccard"]),
        check("two_part_order", differing=len(differing), count=len(apart), **order),
        check_lead("two_part_fuji", same[:, 0], free[:, 0], reversal=fuji),
        check_lead("two_part_correlation", same[:, 1], free[:, 1], reversal=correlation, shared=shared),
    ]


def check_lead(key: str, same: Scores, free: Scores, **more: Any) -> tuple[str, Judged]:
    """Check that the area against s is larger: with the same scores for s and t, and with scores of their own."""
    losses, free_losses = (int((leads <= ROUNDING).sum()) for leads in (same, free))
    shown: Any = {"wins": same.size - losses, "draws": same.size, "least": same.min()}
    return check(key, losses=losses, free_losses=free_losses, **shown, **more)


def _two_part_differences() -> dict[str, float]:
    """Return the largest difference between the curves against s and against t, for measures that use orders only."""
    properties = {name: fj.MEASURES[name].properties for name in fj.PAPER_MEASURES}
    order_only = [name for name, declared in properties.items() if declared and not declared.uses_scores]
    apart = dict.fromkeys(order_only, 0.0)
    for n in range(2, 51, 2):
        r, s, t = two_part(np.arange(n, 0.0, -1.0))
        against_s, against_t = _curves((r, s), order_only), _curves((r, t), order_only)
        apart = {name: max(apart[name], np.abs(against_s[name] - against_t[name]).max()) for name in order_only}
    return apart


def two_part_lead(measure: str, r: Scores, s: Scores, t: Scores) -> float:
    """Return by how much the area against s exceeds that against t; r, s and t have the given falling scores."""
    return auc(r, two_part(s)[1], measure) - auc(r, two_part(t)[2], measure)


def _two_part_leads(*, shared: bool) -> Scores:
    """Return by how much the area against s exceeds that against t for random scores: FUJI, correlation per draw."""
    # The scores of s and t are the same if shared, else drawn independently.
    rng = np.random.default_rng(2)
    draw = (rng.random, rng.exponential, lambda size: rng.pareto(1.0, size))
    rows = []
    for index in range(DRAWS):
        n = int(rng.choice([4, 6, 8, 10]))
        r, first, second = (np.sort(draw[index % 3](size=n))[::-1].copy() for _ in range(3))
        rows.append([two_part_lead(measure, r, first, first if shared else second) for measure in REVERSALS])
    return np.array(rows)
