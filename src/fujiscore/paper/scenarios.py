"""The paper's three synthetic scenarios: reversed rankings, correlated items, the two-part ranking."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import fujiscore as fj
from fujiscore.paper import figures
from fujiscore.paper.conventions import ROUNDING, auc, compare, curve, roughness
from fujiscore.paper.record import Figure, Judged, Section, Table, claims, judge, listed

if TYPE_CHECKING:
    from collections.abc import Callable

    from fujiscore.paper.conventions import Scores

    Pair = tuple[Scores, Scores]
    Family = Callable[[float], Pair]

ITEMS = 10
DELTAS = (0.1, 1.0, 5.0, 10.0)
# For sets of equal size these four are the same number; the paper draws one of them, too.
COINCIDING = ("npog", "kuncheva", "wald", "pearson")
ORDER_ONLY = tuple(
    name
    for name in fj.PAPER_MEASURES
    if not fj.MEASURES[name].properties.uses_scores  # type: ignore[union-attr]
)
DRAWS = 400


def reversed_pair(delta: float, n: int = ITEMS) -> Pair:
    """Return the scores 100, 100 - delta, ... and the same in reverse."""
    r = 100.0 - delta * np.arange(n)
    return r, r[::-1].copy()


def correlated_pair(delta: float, n: int = ITEMS) -> Pair:
    """Return items in pairs (100, 100 - delta, 80, 80 - delta, ...), and the same with each pair swapped."""
    r = np.repeat(100.0 - 20.0 * np.arange(n // 2), 2) - np.tile([0.0, delta], n // 2)
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
    judged = _judge_reversed() | _judge_correlated() | _judge_all_measures() | _judge_two_part()
    text = (
        f"Two rankings of {ITEMS} items in opposite order, and two rankings of items in pairs whose order is swapped, "
        "for several differences Δ between neighbouring scores; and a ranking against the same with its two halves "
        "swapped (s) and against its reverse (t)."
    )
    return Section("Synthetic scenarios", (text,), [_two_part_table()], drawn, claims("scenarios", judged))


def _by_delta(name: str, pair: Family) -> Figure:
    """Return FUJI for several differences, and Jaccard, which does not depend on them."""
    ks = np.arange(1, ITEMS + 1)
    jaccard = curve(*pair(1.0), "jaccard")
    fuji = {delta: curve(*pair(delta)) for delta in DELTAS}
    lines = {f"FUJI, Δ = {delta:g}": values for delta, values in fuji.items()} | {"Jaccard, every Δ": jaccard}
    columns = {"k": ks} | {f"fuji_delta_{delta:g}": values for delta, values in fuji.items()} | {"jaccard": jaccard}
    caption = f"{name.capitalize()} rankings: FUJI for several Δ; Jaccard is the same for every Δ."
    return Figure(f"{name}_by_delta", caption, (5.2, 3.6), partial(figures.lines, ks=ks, lines=lines), columns)


def _all_measures(name: str, pair: Family) -> Figure:
    """Return all thirteen measures at Δ = 1."""
    comparison = compare(*pair(1.0), fj.PAPER_MEASURES)
    values = {measure: result.values for measure, result in comparison.curves.items()}
    drawn = {measure: line for measure, line in values.items() if measure not in COINCIDING[1:]}
    draw = partial(figures.many_measures, ks=comparison.ks, curves=drawn)
    caption = f"{name.capitalize()} rankings, Δ = 1: the thirteen measures (nPOG, Kuncheva, Wald and Pearson coincide)."
    return Figure(f"{name}_all_measures", caption, (5.2, 4.8), draw, {"k": comparison.ks, **values})


def _judge_reversed() -> dict[str, Judged]:
    """Judge the statements on reversed rankings."""
    deltas = (0.001, 0.01, *DELTAS)
    pairs = [reversed_pair(delta) for delta in deltas]
    least = [float(curve(*pair).min()) for pair in pairs]
    areas = [auc(*pair) for pair in pairs]
    falls = bool(np.all(np.diff(areas) < 0))
    top = float(curve(*reversed_pair(10.0))[0])
    others = max(_change(reversed_pair, measure) for measure in fj.PAPER_MEASURES if measure != "fuji")
    off = max(float(np.abs(curve(*pair, measure) + 1).max()) for measure in ("gamma", "correlation") for pair in pairs)
    return {
        "reversed_to_one": judge(
            f"least FUJI over k: {listed(least, 5)} at Δ = {listed(deltas)}", holds=least[0] > 0.9999 and falls
        ),
        "reversed_low": judge(
            f"FUJI at k = 1 is {top:.2f} at Δ = 10; AUC falls with Δ: {listed(areas, 4)}", holds=falls and top < 0.2
        ),
        "reversed_only_fuji": judge(
            f"largest change of a value over Δ = {listed(DELTAS)}: {others:.1g} for the others, "
            f"{_change(reversed_pair, 'fuji'):.2f} for FUJI. The text says that similarity increases with Δ; FUJI's "
            "area falls",
            holds=others < ROUNDING,
            caveat=falls,
        ),
        "reversed_minus_one": judge(f"largest distance from -1: {off:.1g}", holds=off < 1e-9),
    }


def _change(pair: Family, measure: str) -> float:
    """Return the largest change of a point of the curve over Δ."""
    return float(np.ptp([curve(*pair(delta), measure) for delta in DELTAS], axis=0).max())


def _judge_correlated() -> dict[str, Judged]:
    """Judge the statements on items that come in correlated pairs."""
    pair = correlated_pair(1.0)
    fuji, jaccard, gamma, correlation = (curve(*pair, m) for m in ("fuji", "jaccard", "gamma", "correlation"))
    change = _change(correlated_pair, "jaccard")
    least = listed((curve(*correlated_pair(delta)).min() for delta in DELTAS), 4)
    return {
        "correlated_jaccard": judge(
            f"Jaccard at k = 1, 2, 3: {listed(jaccard[:3])}; largest change over Δ: {change:.1g}",
            holds=bool(np.allclose(jaccard[:3], [0, 1, 0.5])) and change < ROUNDING,
        ),
        "correlated_fuji": judge(
            f"sum of steps: FUJI {roughness(fuji):.3f}, Jaccard {roughness(jaccard):.3f}; least FUJI at "
            f"Δ = {listed(DELTAS)}: {least}",
            holds=roughness(fuji) < roughness(jaccard) and fuji.min() > 0.95,
        ),
        "correlated_gamma": judge(
            f"gamma: {listed(gamma)}",
            holds=gamma[0] == -1 and abs(gamma[-1] - 0.77) < 0.01 and bool(np.all(np.diff(gamma) >= -ROUNDING)),
        ),
        "correlated_correlation": judge(
            f"correlation at k = 1, 2, 3: {listed(correlation[:3])}",
            holds=bool(np.all(correlation[:2] < 0) and np.all(correlation[2:] > 0.9)),
        ),
    }


def _judge_all_measures() -> dict[str, Judged]:
    """Judge the statements that compare all measures in the scenarios."""
    pair = correlated_pair(1.0)
    curves = {measure: curve(*pair, measure) for measure in fj.PAPER_MEASURES}
    whole = {measure: roughness(values) for measure, values in curves.items()}
    later = {measure: roughness(values[2:]) for measure, values in curves.items()}
    others = [measure for measure in curves if measure not in {"fuji", "correlation"}]
    hamming = max(float(np.abs(curve(*p, "hamming") - curve(*p)).max()) for p in (pair, reversed_pair(1.0)))
    apart = _coincidence()
    return {
        "steadiest": judge(
            f"sum of steps from k = 3 on: correlation {later['correlation']:.3f}, FUJI {later['fuji']:.3f}, next "
            f"best {min(later[m] for m in others):.3f}; over the whole curve FUJI {whole['fuji']:.3f} is best, but "
            f"correlation has {whole['correlation']:.2f} against gamma's {whole['gamma']:.2f}",
            holds=max(later["fuji"], later["correlation"]) < min(later[m] for m in others),
            caveat=whole["correlation"] > min(whole[m] for m in others),
        ),
        "hamming_like_fuji": judge(
            f"the two differ by up to {hamming:.2f}; Hamming does not depend on Δ, FUJI does", holds=hamming < 0.25
        ),
        "one_curve": judge(f"largest difference over {DRAWS} pairs: {apart:.1g}", holds=apart < 1e-12),
    }


def _coincidence() -> float:
    """Return the largest difference between the four coinciding measures on random rankings."""
    rng = np.random.default_rng(1)
    apart = 0.0
    for _ in range(DRAWS):
        r, s = rng.random((2, int(rng.integers(2, 13))))
        curves = [result.values for result in compare(r, s, COINCIDING).curves.values()]
        apart = max(apart, float(np.ptp(curves, axis=0).max()))
    return apart


def _two_part_table() -> Table:
    """Return the areas for stated scores."""
    measures = {"FUJI": "fuji", "correlation": "correlation", "Jaccard": "jaccard", "gamma": "gamma"}
    rows = []
    for label, scores in SCORES.items():
        for n in (4, 10, 50):
            r, s, t = two_part(scores(n))
            rows.append((label, n, *(auc(r, other, measure) for measure in measures.values() for other in (s, t))))
    columns = ("scores", "n", *(f"{title} r,{other}" for title in measures for other in "st"))
    return Table("two_part", "Two-part ranking: AUC against s (halves swapped) and t (reversed)", columns, rows)


def _judge_two_part() -> dict[str, Judged]:
    """Judge the statements on the two-part ranking."""
    apart = {measure: _two_part_difference(measure) for measure in ORDER_ONLY}
    differing = [fj.MEASURES[measure].title for measure, value in apart.items() if value > ROUNDING]
    fuji, correlation = _two_part_leads().T
    wins, ties = int((correlation > ROUNDING).sum()), int((np.abs(correlation) <= ROUNDING).sum())
    steep, flat = 10.0 ** -np.arange(10.0), 100.0 - np.arange(10.0)
    r = np.arange(10.0, 0.0, -1.0)
    against_s, against_t = auc(r, two_part(steep)[1]), auc(r, two_part(flat)[2])
    return {
        "two_part_jaccard": judge(
            f"largest difference of the curves: {apart['jaccard']:.1g}", holds=apart["jaccard"] < ROUNDING
        ),
        "two_part_order": judge(
            f"equal for {len(apart) - len(differing)} of the {len(apart)} such scores; {', '.join(differing)} differs "
            f"by up to {max(apart.values()):.2f}: it compares the order within the union",
            holds=not differing,
        ),
        "two_part_fuji": judge(
            f"larger in {int((fuji > ROUNDING).sum())} of {DRAWS} draws where s and t have the same scores (least "
            f"difference {fuji.min():.1g}). With different scores the opposite can happen: {against_s:.3f} against "
            f"{against_t:.3f} for steep s and flat t",
            holds=bool(np.all(fuji > ROUNDING)),
            caveat=against_s < against_t,
        ),
        "two_part_correlation": judge(
            f"larger in {wins} of {DRAWS} draws, equal in {ties}, smaller in the rest",
            holds=wins + ties == DRAWS,
            caveat=ties > 0,
        ),
    }


def _two_part_difference(measure: str) -> float:
    """Return the largest difference between the curves against s and against t."""
    pairs = (two_part(np.arange(n, 0.0, -1.0)) for n in range(2, 51, 2))
    return max(float(np.abs(curve(r, s, measure) - curve(r, t, measure)).max()) for r, s, t in pairs)


def _two_part_leads() -> Scores:
    """Return by how much the area against s exceeds that against t for random scores: one row per draw.

    The columns are FUJI and correlation.
    """
    rng = np.random.default_rng(2)
    draw = (rng.random, rng.exponential, lambda size: rng.pareto(1.0, size))
    rows = []
    for index in range(DRAWS):
        n = int(rng.choice([4, 6, 8, 10]))
        r, shared = (np.sort(draw[index % 3](size=n))[::-1].copy() for _ in range(2))
        _, s, t = two_part(shared)
        rows.append([auc(r, s, measure) - auc(r, t, measure) for measure in ("fuji", "correlation")])
    return np.array(rows)
