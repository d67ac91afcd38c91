"""What the paper says about the curves of single data sets, genes and p53."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.paper.conventions import ROUNDING, auc, compare
from fujiscore.paper.record import check
from fujiscore.paper.sources import ENSEMBLES, FILTERS

if TYPE_CHECKING:
    import fujiscore as fj
    from fujiscore.paper.conventions import Sets
    from fujiscore.paper.record import Checks, Judged

MEASURES = ("fuji", "jaccard", "correlation", "hamming")
# Random orders of the zeros, and where Jaccard is looked at.
SHUFFLES, SHUFFLED_AT = 20, 3000


def check_curves(sets: Sets) -> Checks:
    """Check the statements on genes and p53, as far as these are among the data sets."""
    checks: Checks = []
    if "genes" in sets:
        checks += [*genes_ensembles(sets["genes"]), *_genes_filters(sets["genes"])]
    if "p53" in sets:
        genie3, forest = sets["p53"][ENSEMBLES]
        score = genie3.scores[forest.order[0]]
        ratio = genie3.ranked[0] / score if score > 0 else np.inf
        checks.append(check("ten_times", off=abs(ratio - 10), ratio=ratio))
    if {"genes", "p53"} <= set(sets):
        checks += [_p53_less("p53_ensembles", sets, ENSEMBLES), _p53_less("p53_filters", sets, FILTERS)]
    return checks


def genes_ensembles(genes: fj.Rankings) -> Checks:
    """Check the statements on Genie3 and RF on genes."""
    genie3, forest = genes[ENSEMBLES]
    curves = compare(genie3, forest, MEASURES).curves.values()
    fuji, jaccard, correlation, hamming = (curve.values for curve in curves)
    halves = np.flatnonzero(jaccard >= 0.5 - ROUNDING)
    half = f"first reaches 0.5 at k = {halves[0] + 1}" if halves.size else "never reaches 0.5"
    rank = list(forest.order).index(genie3.order[0]) + 1
    below = float((correlation < fuji).mean())
    lowest = {"hamming": hamming[:100].min(), "jaccard": jaccard[:100].min()}
    apart = np.flatnonzero(np.ptp([fuji, jaccard, hamming], axis=0) > ROUNDING)
    start = int(apart[-1]) + 2 if apart.size else 1
    zeros = [ranking.scores <= 0 for ranking in (genie3, forest)]
    both, same = int((zeros[0] & zeros[1]).sum()), np.array_equal(zeros[0], zeros[1])
    counts: Any = {"both": both, "others": genes.n - both, "same": "the same" if same else "not the same"}
    return [
        check("first_features", jaccard=jaccard[0], fuji=fuji[0]),
        check("half_at_four", off=abs(jaccard[3] - 0.5), jaccard=jaccard[3], half=half),
        check("drop_at_fifteen", off=abs(jaccard[14] - 0.15), jaccard=jaccard[14]),
        check("top_gene", rank=rank),
        check("strict_correlation", below=below, correlation=correlation[99], fuji=fuji[99]),
        check("optimistic_hamming", **lowest),
        check("curves_meet", start=start, shuffled=shuffled_jaccard(genie3, forest)),
        check("irrelevant", off=abs(both - 18000), same_sets=same, **counts),
    ]


def shuffled_jaccard(r: fj.Ranking, s: fj.Ranking) -> float:
    """Return the mean Jaccard index at a large k with the zeros of r in random order instead of the files'."""
    rng = np.random.default_rng(13)
    at = min(SHUFFLED_AT, r.n)
    positive = int((r.scores > 0).sum())
    top_s = set(s.order[:at].tolist())
    values = []
    for _ in range(SHUFFLES):
        top_r = {
            *r.order[:positive][:at].tolist(),
            *rng.permutation(np.array(r.order[positive:]))[: max(at - positive, 0)].tolist(),
        }
        values.append(len(top_r & top_s) / len(top_r | top_s))
    return float(np.mean(values))


def _genes_filters(genes: fj.Rankings) -> Checks:
    """Check the statements on MI and Relief on genes."""
    information, relief = genes[FILTERS]
    comparison = compare(information, relief, ("fuji", "jaccard"))
    fuji, jaccard = comparison["fuji"].values, comparison["jaccard"].values
    rising = np.flatnonzero(np.diff(jaccard) > 0) + 2
    rises, lowest = (int(rising[0]), jaccard[rising[0] - 2]) if rising.size else (0, jaccard.min())
    fourth = int(relief.order[3])
    rank = list(information.order).index(fourth) + 1
    value, best = information.scores[fourth], information.ranked[3]
    off: Any = {"score_off": abs(value - 0.78), "fourth_off": abs(best - 0.83), "step": fuji[3] - fuji[2]}
    return [
        check("same_first", jaccard=jaccard[0]),
        check(
            "falls_until_twelve",
            rises=rises,
            lowest=lowest,
            first=f"first rises at k = {rises}" if rises else "never rises",
        ),
        check(
            "seen_at_four", rank=rank, rises=rises, gene=genes.label(fourth), score=value, best=best, fuji=fuji, **off
        ),
    ]


def _p53_less(key: str, sets: Sets, pair: tuple[str, str]) -> tuple[str, Judged]:
    """Check whether two rankings are less similar on p53 than on genes, by both measures and on both grids."""
    drops, shown = [], []
    for measure in ("fuji", "jaccard"):
        for ks in ("exp", "all"):
            genes, p53 = (auc(sets[name][pair[0]], sets[name][pair[1]], measure, ks=ks) for name in ("genes", "p53"))
            drops.append(genes - p53)
        shown.append(f"{measure} {genes:.3f} (genes) and {p53:.3f} (p53)")
    return check(key, least_drop=min(drops), areas="; ".join(shown))
