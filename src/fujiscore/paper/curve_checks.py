"""What the paper says about single data sets, checked: the curves on genes and p53."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore as fj
from fujiscore.paper.record import judge
from fujiscore.paper.study import ENSEMBLES, FILTERS, compared

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fujiscore.paper.record import Judged

    Scores = NDArray[Any]
    Sets = Mapping[str, fj.Rankings]

ROUNDING = 1e-12


def _ordered(scores: Scores) -> NDArray[np.int64]:
    """Return the items from best to worst, ties in their order."""
    return np.argsort(-scores, kind="stable")


def _rank(scores: Scores, item: int) -> int:
    """Return an item's rank, from 1."""
    return int(np.flatnonzero(_ordered(scores) == item)[0]) + 1


def first_features(sets: Sets) -> Judged:
    """Judge whether Genie3 and RF have different first features on genes."""
    found = compared(sets["genes"], ENSEMBLES)
    value = found["jaccard"].values[0]
    return judge(f"Jaccard {value:.3f}, FUJI {found['fuji'].values[0]:.3f} at k = 1", holds=value == 0)


def half_at_four(sets: Sets) -> Judged:
    """Judge whether their Jaccard curve reaches 0.5 at k = 4."""
    values = compared(sets["genes"], ENSEMBLES)["jaccard"].values
    first = np.flatnonzero(values >= 0.5 - ROUNDING)
    at = f"first reaches 0.5 at k = {first[0] + 1}" if first.size else "never reaches 0.5"
    return judge(f"Jaccard is {values[3]:.3f} at k = 4; it {at}", holds=abs(values[3] - 0.5) < 0.005)


def drop_at_fifteen(sets: Sets) -> Judged:
    """Judge whether it is 0.15 at k = 15."""
    value = compared(sets["genes"], ENSEMBLES)["jaccard"].values[14]
    return judge(f"Jaccard {value:.3f} at k = 15", holds=abs(value - 0.15) < 0.005)


def top_gene(sets: Sets) -> Judged:
    """Judge whether Genie3's top gene has rank 5 in RF."""
    own = sets["genes"]
    rank = _rank(own["RForest"], int(_ordered(own["Genie3"])[0]))
    return judge(f"its rank in RF is {rank}", holds=rank == 5)


def strict_correlation(sets: Sets) -> Judged:
    """Judge whether correlation is lower than FUJI."""
    found = compared(sets["genes"], ENSEMBLES)
    fuji, correlation = found["fuji"].values, found["correlation"].values
    below = float((correlation < fuji).mean())
    measured = (
        f"correlation is below FUJI at {below:.0%} of all k, {correlation[99]:.2f} against {fuji[99]:.2f} at k = 100"
    )
    return judge(measured, holds=below > 0.95)


def optimistic_hamming(sets: Sets) -> Judged:
    """Judge whether Hamming is near 1 at the top while Jaccard is low."""
    found = compared(sets["genes"], ENSEMBLES)
    hamming, jaccard = (found[measure].values[:100] for measure in ("hamming", "jaccard"))
    measured = f"at k up to 100 Hamming is at least {hamming.min():.3f}, while Jaccard falls to {jaccard.min():.3f}"
    return judge(measured, holds=hamming.min() > 0.99 and jaccard.min() < 0.5)


def curves_meet(sets: Sets) -> Judged:
    """Judge from which k on the three curves are equal."""
    found = compared(sets["genes"], ENSEMBLES)
    values = np.array([found[measure].values for measure in ("fuji", "jaccard", "hamming")])
    apart = np.flatnonzero(np.ptp(values, axis=0) > ROUNDING)
    start = int(apart[-1]) + 2 if apart.size else 1
    return judge(f"the three curves are equal from k = {start} on", holds=start <= 2117)


def irrelevant(sets: Sets) -> Judged:
    """Judge how many features have no positive score in both."""
    own = sets["genes"]
    genie3, forest = own["Genie3"] <= 0, own["RForest"] <= 0
    both = int((genie3 & forest).sum())
    measured = f"{both:,} without a positive score in both, {own.n - both:,} with one; the sets are "
    measured += "the same" if bool(np.array_equal(genie3, forest)) else "not the same"
    return judge(measured, holds=abs(both - 18000) < 1000)


def ten_times(sets: Sets) -> Judged:
    """Judge how much less RF's top feature scores in Genie3 than Genie3's own."""
    own = sets["p53"]
    ratio = own["Genie3"].max() / own["Genie3"][int(_ordered(own["RForest"])[0])]
    return judge(f"{ratio:.1f} times less", holds=abs(ratio - 10) < 1)


def p53_less(sets: Sets, pair: tuple[str, str]) -> Judged:
    """Judge whether two rankings are less similar on p53 than on genes, by both measures and on both grids."""
    areas = {
        (name, measure, ks): fj.auc(sets[name][pair[0]], sets[name][pair[1]], measure, ks=ks, negative="clip")
        for name in ("genes", "p53")
        for measure in ("fuji", "jaccard")
        for ks in ("all", "exp")
    }
    less = all(areas["p53", m, ks] < areas["genes", m, ks] for m in ("fuji", "jaccard") for ks in ("all", "exp"))
    measured = "; ".join(
        f"{measure} {areas['genes', measure, 'all']:.3f} (genes) and {areas['p53', measure, 'all']:.3f} (p53)"
        for measure in ("fuji", "jaccard")
    )
    measured = f"areas at all k: {measured}"
    return judge(measured, holds=less)


def same_first(sets: Sets) -> Judged:
    """Judge whether MI and Relief have the same first feature."""
    value = compared(sets["genes"], FILTERS)["jaccard"].values[0]
    return judge(f"Jaccard {value:.3f} at k = 1", holds=value == 1)


def falls_until_twelve(sets: Sets) -> Judged:
    """Judge where their Jaccard curve first rises."""
    values = compared(sets["genes"], FILTERS)["jaccard"].values
    rises = int(np.flatnonzero(np.diff(values) > 0)[0]) + 2
    return judge(f"Jaccard falls to {values[rises - 2]:.3f} and first rises at k = {rises}", holds=rises == 12)


def seen_at_four(sets: Sets) -> Judged:
    """Judge which feature they share next, and when FUJI sees it."""
    own = sets["genes"]
    first, second = (_ordered(own[name])[:12] for name in FILTERS)
    joining = [item for item in second if item in set(first.tolist())][1]
    rank, score = _rank(own["relief"], int(joining)), float(own["mutual_info"][joining])
    fourth = float(np.sort(own["mutual_info"])[-4])
    fuji = compared(own, FILTERS)["fuji"].values
    measured = (
        f"{own.label(int(joining))} is number {rank} in Relief; its MI score is {score:.3f}, the fourth best is "
        f"{fourth:.3f}; FUJI goes from {fuji[2]:.3f} at k = 3 to {fuji[3]:.3f}"
    )
    holds = rank == 4 and abs(score - 0.78) < 0.006 and abs(fourth - 0.83) < 0.006 and fuji[3] > fuji[2]
    return judge(measured, holds=holds)
