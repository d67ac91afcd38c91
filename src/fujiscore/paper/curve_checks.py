"""What the paper says about the data sets genes and p53, judged. Keys are those of statements.csv."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.paper.conventions import ROUNDING, auc, ordered
from fujiscore.paper.record import judge
from fujiscore.paper.study import ENSEMBLES, FILTERS, compared

if TYPE_CHECKING:
    import fujiscore as fj
    from fujiscore.paper.conventions import Sets
    from fujiscore.paper.record import Judged


def _rank(ranking: Any, position: int) -> int:
    """Return an item's rank, from 1."""
    return int(np.flatnonzero(ordered(ranking) == position)[0]) + 1


def genes_ensembles(genes: fj.Rankings) -> dict[str, Judged]:
    """Judge the statements on Genie3 and RF on genes."""
    curves = {measure: curve.values for measure, curve in compared(genes, ENSEMBLES).curves.items()}
    fuji, jaccard, correlation, hamming = (curves[m] for m in ("fuji", "jaccard", "correlation", "hamming"))
    halves = np.flatnonzero(jaccard >= 0.5 - ROUNDING)
    half = f"first reaches 0.5 at k = {halves[0] + 1}" if halves.size else "never reaches 0.5"
    rank = _rank(genes["RForest"], int(ordered(genes["Genie3"])[0]))
    below = float((correlation < fuji).mean())
    apart = np.flatnonzero(np.ptp([fuji, jaccard, hamming], axis=0) > ROUNDING)
    start = int(apart[-1]) + 2 if apart.size else 1
    zeros = [np.asarray(genes[name]) <= 0 for name in ENSEMBLES]
    both = int((zeros[0] & zeros[1]).sum())
    same = "the same" if np.array_equal(zeros[0], zeros[1]) else "not the same"
    return {
        "first_features": judge(f"Jaccard {jaccard[0]:.3f}, FUJI {fuji[0]:.3f} at k = 1", holds=jaccard[0] == 0),
        "half_at_four": judge(
            f"Jaccard is {jaccard[3]:.3f} at k = 4; it {half}", holds=abs(float(jaccard[3]) - 0.5) < 0.005
        ),
        "drop_at_fifteen": judge(f"Jaccard {jaccard[14]:.3f} at k = 15", holds=abs(float(jaccard[14]) - 0.15) < 0.005),
        "top_gene": judge(f"its rank in RF is {rank}", holds=rank == 5),
        "strict_correlation": judge(
            f"correlation is below FUJI at {below:.0%} of all k, {correlation[99]:.2f} against {fuji[99]:.2f} at "
            "k = 100",
            holds=below > 0.95,
        ),
        "optimistic_hamming": judge(
            f"at k up to 100 Hamming is at least {hamming[:100].min():.3f}, while Jaccard falls to "
            f"{jaccard[:100].min():.3f}",
            holds=hamming[:100].min() > 0.99 and jaccard[:100].min() < 0.5,
        ),
        "curves_meet": judge(f"the three curves are equal from k = {start} on", holds=start <= 2117),
        "irrelevant": judge(
            f"{both:,} without a positive score in both, {genes.n - both:,} with one; the sets are {same}",
            holds=abs(both - 18000) < 1000,
        ),
    }


def genes_filters(genes: fj.Rankings) -> dict[str, Judged]:
    """Judge the statements on MI and Relief on genes."""
    comparison = compared(genes, FILTERS)
    fuji, jaccard = comparison["fuji"].values, comparison["jaccard"].values
    rises = int(np.flatnonzero(np.diff(jaccard) > 0)[0]) + 2
    information = np.asarray(genes["mutual_info"])
    by_information, by_relief = (ordered(genes[name])[:12].tolist() for name in FILTERS)
    joining = [position for position in by_relief if position in by_information][1]
    rank = _rank(genes["relief"], joining)
    value, fourth = float(information[joining]), float(np.sort(information)[-4])
    return {
        "same_first": judge(f"Jaccard {jaccard[0]:.3f} at k = 1", holds=jaccard[0] == 1),
        "falls_until_twelve": judge(
            f"Jaccard falls to {jaccard[rises - 2]:.3f} and first rises at k = {rises}", holds=rises == 12
        ),
        "seen_at_four": judge(
            f"{genes.label(joining)} is number {rank} in Relief; its MI score is {value:.3f}, the fourth best is "
            f"{fourth:.3f}; FUJI goes from {fuji[2]:.3f} at k = 3 to {fuji[3]:.3f}",
            holds=rank == 4 and abs(value - 0.78) < 0.006 and abs(fourth - 0.83) < 0.006 and fuji[3] > fuji[2],
        ),
    }


def p53_top(p53: fj.Rankings) -> dict[str, Judged]:
    """Judge how much less RF's top feature scores in Genie3 than Genie3's top feature."""
    genie3 = np.asarray(p53["Genie3"])
    ratio = float(genie3.max() / genie3[ordered(p53["RForest"])[0]])
    return {"ten_times": judge(f"{ratio:.1f} times less", holds=abs(ratio - 10) < 1)}


def p53_less(sets: Sets, pair: tuple[str, str]) -> Judged:
    """Judge whether two rankings are less similar on p53 than on genes, by both measures and on both grids."""
    less, measured = True, []
    for measure in ("fuji", "jaccard"):
        for ks in ("exp", "all"):
            genes, p53 = (auc(sets[name][pair[0]], sets[name][pair[1]], measure, ks=ks) for name in ("genes", "p53"))
            less = less and p53 < genes
        measured.append(f"{measure} {genes:.3f} (genes) and {p53:.3f} (p53)")
    return judge(f"areas at all k: {'; '.join(measured)}", holds=less)
