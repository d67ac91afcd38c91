"""The paper's three synthetic scenarios: reversed rankings, correlated items, the two-part ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore as fj
from fujiscore.paper import pictures
from fujiscore.paper.record import Claim, Picture, Section, Table, columns_table, judge, listed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Scores = NDArray[Any]
    Pair = tuple[Scores, Scores]

ITEMS = 10
DELTAS = (0.1, 1.0, 5.0, 10.0)
# For sets of one size these are the same number (the paper draws one of them, too).
COINCIDING = ("npog", "kuncheva", "wald", "pearson")
ORDER_ONLY = tuple(
    name
    for name in fj.PAPER_MEASURES
    if not fj.MEASURES[name].properties.uses_scores  # type: ignore[union-attr]
)
DRAWS = 400
ROUNDING = 1e-12


def reversed_pair(delta: float, n: int = ITEMS) -> Pair:
    """Return the scores 100, 100 - delta, ... and the same in reverse."""
    r = 100.0 - delta * np.arange(n)
    return r, r[::-1].copy()


def correlated_pair(delta: float, n: int = ITEMS) -> Pair:
    """Return items in pairs (100, 100 - delta, 80, 80 - delta, ...), and the same with each pair exchanged."""
    r = np.repeat(100.0 - 20.0 * np.arange(n // 2), 2) - np.tile([0.0, delta], n // 2)
    return r, r.reshape(-1, 2)[:, ::-1].ravel().copy()


def two_part(scores: Scores) -> tuple[Scores, Scores, Scores]:
    """Return r in the items' order, s with the two halves exchanged, t reversed; all with the same falling scores."""
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
    shown = [draw(name, pair) for draw in (_by_delta, _all_measures) for name, pair in families.items()]
    claims = [*_reversed_claims(), *_correlated_claims(), *_steadiness_claims()]
    claims += [*_two_part_order_claims(), *_two_part_score_claims()]
    text = (
        f"Two rankings of {ITEMS} items in opposite order, and two rankings of items in pairs whose order is "
        "exchanged, for several differences Δ between neighbouring scores; and a ranking against its two halves "
        "exchanged (s) and against its reverse (t)."
    )
    return Section("Synthetic scenarios", (text,), [_two_part_table()], shown, claims)


def _by_delta(name: str, pair: Callable[[float], Pair]) -> Picture:
    """Return FUJI for several differences, and Jaccard, which does not depend on them."""
    curves = {delta: fj.curve(*pair(delta)).values for delta in DELTAS}
    jaccard = fj.curve(*pair(1.0), "jaccard").values
    ks = np.arange(1, ITEMS + 1)
    columns: dict[str, Any] = {"k": ks}
    columns |= {f"fuji_delta_{delta:g}": values for delta, values in curves.items()} | {"jaccard": jaccard}
    caption = f"{name.capitalize()} rankings: FUJI for several Δ; Jaccard is the same for every Δ."
    return Picture(
        f"{name}_by_delta",
        caption,
        (5.2, 3.6),
        lambda figure: pictures.by_delta(figure, ks, curves, jaccard),
        columns_table(f"{name}_by_delta", caption, columns),
    )


def _all_measures(name: str, pair: Callable[[float], Pair]) -> Picture:
    """Return all thirteen measures at Δ = 1."""
    found = fj.compare(*pair(1.0), fj.PAPER_MEASURES)
    values = {measure: curve.values for measure, curve in found.curves.items()}
    caption = f"{name.capitalize()} rankings, Δ = 1: the thirteen measures (nPOG, Kuncheva, Wald and Pearson coincide)."
    drawn = {measure: own for measure, own in values.items() if measure not in COINCIDING[1:]}
    return Picture(
        f"{name}_all_measures",
        caption,
        (5.2, 4.8),
        lambda figure: pictures.many_measures(figure, found.ks, drawn),
        columns_table(f"{name}_all_measures", caption, {"k": found.ks, **values}),
    )


def _curves(pair: Pair, measure: str) -> Scores:
    return fj.curve(*pair, measure).values


def _reversed_claims() -> list[Claim]:
    """Judge the statements on reversed rankings."""
    source = "Synthetic scenarios, reverse rankings"
    deltas = np.array([0.001, 0.01, *DELTAS])
    least = [float(_curves(reversed_pair(d), "fuji").min()) for d in deltas]
    aucs = [fj.auc(*reversed_pair(d)) for d in deltas]
    moved = {m: _moved(reversed_pair, m) for m in fj.PAPER_MEASURES if m != "fuji"}
    constant = [np.abs(_curves(reversed_pair(d), m) + 1).max() for m in ("gamma", "correlation") for d in deltas]
    falls = bool(np.all(np.diff(aucs) < 0))
    return [
        Claim(
            source,
            "For reversed rankings FUJI goes to 1 at every k as Δ goes to 0.",
            judge(f"least FUJI over k: {listed(least, 5)} at Δ = {listed(deltas)}", holds=least[0] > 0.9999 and falls),
            "FUJI curves of the reversed rankings at falling Δ.",
        ),
        Claim(
            source,
            "For reversed rankings FUJI is low where Δ is large.",
            judge(
                f"FUJI at k = 1 is {_curves(reversed_pair(10.0), 'fuji')[0]:.2f} at Δ = 10; AUC falls with Δ: "
                f"{listed(aucs, 4)}",
                holds=falls and _curves(reversed_pair(10.0), "fuji")[0] < 0.2,
            ),
            "The same curves, and the area under them.",
        ),
        Claim(
            source,
            "No score but FUJI sees how the similarity of reversed rankings depends on Δ.",
            judge(
                f"largest change of a value over Δ = {listed(DELTAS)}: {max(moved.values()):.1g} for the others, "
                f"{_moved(reversed_pair, 'fuji'):.2f} for FUJI. The text says that similarity increases with Δ; FUJI's "
                "area falls",
                holds=max(moved.values()) < ROUNDING,
                caveat=falls,
            ),
            "All thirteen curves at each Δ, compared point by point.",
        ),
        Claim(
            source,
            "For reversed rankings gamma and correlation are -1 throughout.",
            judge(f"largest distance from -1: {max(constant):.1g}", holds=max(constant) < 1e-9),
            "Both curves at every k and each Δ.",
        ),
    ]


def _moved(pair: Callable[[float], Pair], measure: str) -> float:
    """Return how much a measure's curve moves at most while Δ changes."""
    curves = np.array([_curves(pair(delta), measure) for delta in DELTAS])
    return float((curves.max(axis=0) - curves.min(axis=0)).max())


def _variation(pair: Pair, measure: str, start: int = 0) -> float:
    """Return the summed steps of a curve."""
    return float(np.abs(np.diff(_curves(pair, measure)[start:])).sum())


def _correlated_claims() -> list[Claim]:
    """Judge the statements on items that come in correlated pairs."""
    source = "Synthetic scenarios, correlated items"
    pair = correlated_pair(1.0)
    fuji, jaccard, gamma, correlation = (_curves(pair, m) for m in ("fuji", "jaccard", "gamma", "correlation"))
    steps = [_variation(pair, m) for m in ("fuji", "jaccard")]
    return [
        Claim(
            source,
            "For correlated items, whatever Δ, Jaccard jumps from 0 at k = 1 to 1 at k = 2 and back to 0.5 at k = 3.",
            judge(
                f"Jaccard at k = 1, 2, 3: {listed(jaccard[:3])}; moved by Δ: {_moved(correlated_pair, 'jaccard'):.1g}",
                holds=bool(np.allclose(jaccard[:3], [0, 1, 0.5])) and _moved(correlated_pair, "jaccard") < ROUNDING,
            ),
            "Jaccard's curve at each Δ.",
        ),
        Claim(
            source,
            "For correlated items FUJI is steadier and sees that the orders nearly agree, the more so the smaller Δ.",
            judge(
                f"summed steps: FUJI {steps[0]:.3f}, Jaccard {steps[1]:.3f}; least FUJI at "
                f"Δ = {listed(DELTAS)}: {listed((_curves(correlated_pair(d), 'fuji').min() for d in DELTAS), 4)}",
                holds=steps[0] < steps[1] and fuji.min() > 0.95,
            ),
            "Sum of |f(k+1) - f(k)| over the curve at Δ = 1, and the least value at each Δ.",
        ),
        Claim(
            source,
            "For correlated items gamma starts at -1 and climbs to 0.77 at the end.",
            judge(
                f"gamma: {listed(gamma)}",
                holds=gamma[0] == -1 and abs(gamma[-1] - 0.77) < 0.01 and bool(np.all(np.diff(gamma) >= -ROUNDING)),
            ),
            "Gamma's curve at Δ = 1.",
        ),
        Claim(
            source,
            "For correlated items correlation fails to see the similarity only before the third item comes in.",
            judge(
                f"correlation at k = 1, 2, 3: {listed(correlation[:3])}",
                holds=bool(np.all(correlation[:2] < 0) and np.all(correlation[2:] > 0.9)),
            ),
            "Correlation's curve at Δ = 1.",
        ),
    ]


def _steadiness_claims() -> list[Claim]:
    """Judge the statements that compare all measures in the scenarios."""
    pair = correlated_pair(1.0)
    others = [m for m in fj.PAPER_MEASURES if m not in {"fuji", "correlation"}]
    whole = {m: _variation(pair, m) for m in fj.PAPER_MEASURES}
    later = {m: _variation(pair, m, 2) for m in fj.PAPER_MEASURES}
    hamming = max(np.abs(_curves(p, "hamming") - _curves(p, "fuji")).max() for p in (pair, reversed_pair(1.0)))
    apart = _coincidence()
    return [
        Claim(
            "Synthetic scenarios, correlated items",
            "For correlated items FUJI and correlation are the steadiest of all scores.",
            judge(
                f"summed steps from k = 3 on: correlation {later['correlation']:.3f}, FUJI {later['fuji']:.3f}, next "
                f"best {min(later[m] for m in others):.3f}; over the whole curve FUJI {whole['fuji']:.3f} is best, but "
                f"correlation has {whole['correlation']:.2f} against gamma's {whole['gamma']:.2f}",
                holds=max(later["fuji"], later["correlation"]) < min(later[m] for m in others),
                caveat=whole["correlation"] > min(whole[m] for m in others),
            ),
            "Sum of the steps of each curve at Δ = 1.",
        ),
        Claim(
            "Applications",
            "In the synthetic scenarios Hamming behaves much like FUJI.",
            judge(
                f"the two differ by up to {hamming:.2f}; Hamming does not depend on Δ, FUJI does",
                holds=hamming < 0.25,
            ),
            "Largest difference of the two curves at Δ = 1 over both scenarios.",
        ),
        Claim(
            "Figure of all measures, caption",
            "For lists of equal length nPOG, Kuncheva, Wald and Pearson are one curve.",
            judge(f"largest difference: {apart:.1g}", holds=apart < 1e-12),
            f"The four curves of {DRAWS} random pairs of rankings of 2 to 12 items.",
        ),
    ]


def _coincidence() -> float:
    """Return how far apart the four coinciding measures come at most on random rankings."""
    rng = np.random.default_rng(1)
    apart = 0.0
    for _ in range(DRAWS):
        r, s = rng.random((2, int(rng.integers(2, 13))))
        curves = np.array([curve.values for curve in fj.compare(r, s, COINCIDING).curves.values()])
        apart = max(apart, float((curves.max(axis=0) - curves.min(axis=0)).max()))
    return apart


def _two_part_table() -> Table:
    """Return the areas for stated scores."""
    rows = []
    for label, scores in SCORES.items():
        for n in (4, 10, 50):
            r, s, t = two_part(scores(n))
            areas = [fj.auc(r, other, m) for m in ("fuji", "correlation", "jaccard", "gamma") for other in (s, t)]
            rows.append((label, n, *areas))
    measures = ("FUJI", "correlation", "Jaccard", "gamma")
    columns = ("scores", "n", *(f"{title} r,{other}" for title in measures for other in "st"))
    return Table("two_part", "Two-part ranking: AUC against s (halves exchanged) and t (reversed)", columns, rows)


def _two_part_order_claims() -> list[Claim]:
    """Judge what scores that ignore the ranking scores see of the two-part ranking."""
    source = "Synthetic scenarios, two-part ranking"
    apart = {m: _two_part_difference(m) for m in ORDER_ONLY}
    differing = [fj.MEASURES[m].title for m, value in apart.items() if value > ROUNDING]
    return [
        Claim(
            source,
            "Jaccard cannot tell the two-part ranking from the reversed one at any k.",
            judge(f"largest difference of the curves: {apart['jaccard']:.1g}", holds=apart["jaccard"] < ROUNDING),
            "Both Jaccard curves for n = 2, 4, ..., 50.",
        ),
        Claim(
            source,
            "Scores that ignore the ranking scores cannot tell the two-part ranking from the reversed one.",
            judge(
                f"equal for {len(ORDER_ONLY) - len(differing)} of the {len(ORDER_ONLY)} such scores; "
                f"{', '.join(differing)} differs by up to {max(apart.values()):.2f}: it compares the order within the "
                "union",
                holds=not differing,
            ),
            "Both curves of each such score for n = 2, 4, ..., 50.",
        ),
    ]


def _two_part_score_claims() -> list[Claim]:
    """Judge what FUJI and correlation see of the two-part ranking."""
    source = "Synthetic scenarios, two-part ranking"
    wins, draws, least, ties = _two_part_search()
    r, s, t = _unequal_scores()
    steep = (fj.auc(r, s), fj.auc(r, t))
    return [
        Claim(
            source,
            "FUJI's area is larger against the two-part ranking than against the reversed one.",
            judge(
                f"larger in {wins['fuji']} of {draws} draws where s and t have the same scores (least difference "
                f"{least:.1g}). With scores of their own it can be the other way round: {steep[0]:.3f} against "
                f"{steep[1]:.3f} for steep s and flat t",
                holds=wins["fuji"] == draws,
                caveat=steep[0] < steep[1],
            ),
            "Random scores (uniform, exponential, Pareto; r's own, s and t sharing theirs), n = 4 to 10; and one "
            "example with r = 10, 9, ..., 1, s falling by a factor of 10 an item and t by 1 in 100.",
        ),
        Claim(
            source,
            "Correlation's area is larger against the two-part ranking than against the reversed one.",
            judge(
                f"larger in {wins['correlation']} of {draws} draws, equal in {ties}, smaller in the rest",
                holds=wins["correlation"] + ties == draws,
                caveat=ties > 0,
            ),
            "The same draws.",
        ),
    ]


def _two_part_difference(measure: str) -> float:
    """Return how far the curves against s and against t come apart at most."""
    found = 0.0
    for n in range(2, 51, 2):
        r, s, t = two_part(np.arange(n, 0.0, -1.0))
        found = max(found, float(np.abs(_curves((r, s), measure) - _curves((r, t), measure)).max()))
    return found


def _unequal_scores() -> tuple[Scores, Scores, Scores]:
    """Return a two-part ranking with steep scores, and a reversed one with flat scores."""
    r = np.arange(10.0, 0.0, -1.0)
    return r, two_part(10.0 ** -np.arange(10.0))[1], two_part(100.0 - np.arange(10.0))[2]


def _two_part_search() -> tuple[dict[str, int], int, float, int]:
    """Return how often FUJI and correlation prefer s to t, of how many draws, FUJI's least lead, correlation's ties."""
    rng = np.random.default_rng(2)
    wins, least, ties = {"fuji": 0, "correlation": 0}, np.inf, 0
    draw = (rng.random, rng.exponential, lambda size: rng.pareto(1.0, size))
    for at in range(DRAWS):
        n = int(rng.choice([4, 6, 8, 10]))
        own, shared = (np.sort(draw[at % 3](size=n))[::-1].copy() for _ in range(2))
        _, s, t = two_part(shared)
        for measure in wins:
            lead = fj.auc(own, s, measure) - fj.auc(own, t, measure)
            wins[measure] += lead > ROUNDING
            if measure == "fuji":
                least = min(least, lead)
            else:
                ties += abs(lead) <= ROUNDING
    return wins, DRAWS, least, ties
