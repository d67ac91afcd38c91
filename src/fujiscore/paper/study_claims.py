"""What the paper says about its study, judged; statements about RF twice, with published and with correct scores."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.paper import curve_checks, record
from fujiscore.paper.catalogue import DATA_SETS, STATEMENTS
from fujiscore.paper.conventions import ROUNDING, compare, roughness
from fujiscore.paper.record import NO_DATA, UNCHECKED, Judged, judge
from fujiscore.paper.sources import METHODS
from fujiscore.paper.study import ENSEMBLES, EXTREMES, FILTERS, PAIRS, means, pair_title

if TYPE_CHECKING:
    from fujiscore.paper.conventions import Sets
    from fujiscore.paper.record import Claim

# Above this many features a data set counts as high-dimensional.
LARGE = 1000


def claims(sets: Sets | None, corrected: Sets | None) -> list[Claim]:
    """Judge all statements on the study."""
    judged = None if sets is None else judge_means(sets) | _judge_others(sets) | judge_curves(sets)
    return record.claims("study", judged, _judge_again(sets, corrected))


def judge_curves(sets: Sets) -> dict[str, Judged]:
    """Judge the statements on genes and p53, as far as these are among the data sets."""
    judged: dict[str, Judged] = {}
    if "genes" in sets:
        judged |= curve_checks.genes_ensembles(sets["genes"]) | curve_checks.genes_filters(sets["genes"])
    if "p53" in sets:
        judged |= curve_checks.p53_top(sets["p53"])
    if {"genes", "p53"} <= set(sets):
        judged["p53_ensembles"] = curve_checks.p53_less(sets, ENSEMBLES)
        judged["p53_filters"] = curve_checks.p53_less(sets, FILTERS)
    return judged


def _judge_again(sets: Sets | None, corrected: Sets | None) -> dict[str, Judged]:
    """Judge the statements about RF with correct scores, where the raw data they need are available."""
    about_rf = [statement for statement in STATEMENTS if statement.rf]
    if sets is None or corrected is None:
        return {statement.key: Judged(UNCHECKED, NO_DATA) for statement in about_rf}
    after, curves = judge_means(corrected), judge_curves(corrected)
    before = judge_means({name: sets[name] for name in corrected})
    judged = {}
    for statement in about_rf:
        key = statement.key
        missing = [name for name in statement.rf.split() if name not in corrected]
        if statement.rf == "all":
            measured = (
                f"on the {len(corrected)} data sets with raw data: {after[key].measured}. On the same ones with the "
                f"published RF: {before[key].measured} ({before[key].verdict})"
            )
            judged[key] = Judged(after[key].verdict, measured)
        else:
            judged[key] = Judged(UNCHECKED, f"no raw data of {', '.join(missing)}") if missing else curves[key]
    return judged


def judge_means(sets: Sets) -> dict[str, Judged]:
    """Judge the statements on means and curves over all data sets."""
    fuji, whole = means(sets), means(sets, ks="all")
    second = float(np.sort(fuji.values)[-2])
    middle = [fuji[pair] for pair in PAIRS if pair not in {ENSEMBLES, EXTREMES}]
    spread = max(middle) - min(middle)
    most, least = (Counter(PAIRS[i] for i in best) for best in (fuji.by_set.argmax(axis=1), fuji.by_set.argmin(axis=1)))
    return {
        "most_similar": judge(
            f"{pair_title(fuji.most)} {fuji.values.max():.3f}, next {second:.3f}; at all k {pair_title(whole.most)}",
            holds=fuji.most == ENSEMBLES,
            caveat=whole.most != ENSEMBLES,
        ),
        "least_similar": judge(
            f"least similar: {pair_title(fuji.least)} {fuji.values.min():.3f} (RF-Relief {fuji[EXTREMES]:.3f}); "
            f"at all k: {pair_title(whole.least)} {whole.values.min():.3f} (RF-Relief {whole[EXTREMES]:.3f})",
            holds=fuji.least == EXTREMES,
            caveat=whole.least != EXTREMES,
        ),
        "middle_pairs": judge(
            f"{len(middle)} pairs remain (the text says five), from {min(middle):.3f} to {max(middle):.3f}: "
            f"{spread / fuji.span:.0%} of the whole range",
            holds=spread < 0.5 * fuji.span,
            caveat=True,
        ),
        "jaccard_blind": _jaccard_blind(sets),
        "in_line": judge(
            f"Genie3-RF is the most similar pair on {most[ENSEMBLES]} of {len(sets)} data sets, RF-Relief the least "
            f"similar on {least[EXTREMES]}",
            holds=most[ENSEMBLES] > len(sets) / 2,
            caveat=least[EXTREMES] < len(sets) / 2,
        ),
        "steadier": _steadier(sets),
    }


def _jaccard_blind(sets: Sets) -> Judged:
    """Judge whether Jaccard's means lie closer together than FUJI's."""
    fuji, jaccard = means(sets), means(sets, "jaccard")
    spans = [means(sets, measure, corrected=True).span for measure in ("fuji", "jaccard")]
    signs = [np.sign(np.subtract.outer(form.values, form.values)) for form in (fuji, jaccard)]
    agree = int((signs[0] == signs[1])[np.triu_indices(len(PAIRS), 1)].sum())
    return judge(
        f"the six means span {fuji.span:.3f} by FUJI and {jaccard.span:.3f} by Jaccard (corrected for chance, ties "
        f"closed: {spans[0]:.3f} and {spans[1]:.3f}); both order {agree} of 15 couples of pairs alike; most and least "
        f"similar by Jaccard: {pair_title(jaccard.most)}, {pair_title(jaccard.least)}",
        holds=jaccard.span < 0.5 * fuji.span,
    )


def _steadier(sets: Sets) -> Judged:
    """Judge whether FUJI's curves have smaller steps than Jaccard's, and lie above them."""
    wins, total, below = 0, 0, 0.0
    for rankings in sets.values():
        for first, second in PAIRS:
            comparison = compare(rankings[first], rankings[second], ("fuji", "jaccard"))
            fuji, jaccard = comparison["fuji"].values, comparison["jaccard"].values
            wins += roughness(fuji) < roughness(jaccard)
            below = min(below, float((fuji - jaccard).min()))
            total += 1
    measured = f"FUJI's curve has the smaller sum of steps in {wins} of {total} pairs; it is never below Jaccard's "
    return judge(measured + f"(least difference {below:.0e})", holds=wins > 0.9 * total and below >= -ROUNDING)


def _judge_others(sets: Sets) -> dict[str, Judged]:
    """Judge the statements on the data, the grid and the scores."""
    sizes = sorted(rankings.n for rankings in sets.values())
    count = sum(len(rankings) for rankings in sets.values())
    off = Counter(DATA_SETS[name].columns - rankings.n for name, rankings in sets.items())
    more = ", ".join(f"{many} of {len(sets)} data sets {by} more than ranked" for by, many in sorted(off.items()))
    two = sets["genes"].n, sets["p53"].n
    sparse, whole = means(sets), means(sets, ks="all")
    correlation = float(np.corrcoef(sparse.by_set.ravel(), whole.by_set.ravel())[0, 1])
    skipped = [1 - max(_positive(one[name]) for name in pair) / one.n for one in sets.values() for pair in PAIRS]
    genes = 1 - max(_positive(sets["genes"][name]) for name in ENSEMBLES) / sets["genes"].n
    large = [rankings for rankings in sets.values() if rankings.n > LARGE]
    halves = {name: float(np.median([_half(rankings[name]) for rankings in large])) for name in METHODS}
    return {
        "complete": judge(
            f"{len(sets)} data sets, {count} rankings, {sizes[0]} to {sizes[-1]} features, the same in all four",
            holds=len(sets) == 24 and count == 96,
        ),
        "feature_counts": judge(f"{more}: the table counts the target too", holds=set(off) == {1}, caveat=True),
        "two_counts": judge(f"{two[0]} and {two[1]}", holds=two == (20531, 5408)),
        "sparse_grid": judge(
            f"areas on the sparse grid are {np.mean(whole.by_set - sparse.by_set):.3f} lower on average, have "
            f"correlation {correlation:.2f} with those at all k, and make {pair_title(sparse.least)} the least similar "
            f"pair; at all k it is {pair_title(whole.least)}",
            holds=bool(np.all(sparse.values < whole.values)),
            caveat=sparse.least != whole.least,
        ),
        "early_stop": judge(
            f"{np.mean(skipped):.0%} of the points are skipped on average over {len(skipped)} pairs, {genes:.0%} for "
            "Genie3 and RF on genes, none where a ranking has no zeros",
            holds=genes > 0.5,
            caveat=True,
        ),
        "long_tails": judge(
            f"features that hold half of the total score, median of {len(large)} data sets with more than {LARGE}: "
            + ", ".join(f"{name} {share:.1%}" for name, share in halves.items()),
            holds=max(halves.values()) < 0.25,
            caveat=max(halves.values()) > 0.1,
        ),
    }


def _positive(ranking: Any) -> int:
    """Return the number of positive scores."""
    return int((np.asarray(ranking) > 0).sum())


def _half(ranking: Any) -> float:
    """Return the share of items that hold half of the sum of scores."""
    scores = np.sort(np.maximum(np.asarray(ranking), 0.0))[::-1]
    return float(np.searchsorted(np.cumsum(scores), scores.sum() / 2) + 1) / scores.size
