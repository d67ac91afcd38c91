"""What the paper says about its study, judged; statements about RF twice, on published and on correct scores."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore as fj
from fujiscore.paper import curve_checks
from fujiscore.paper.catalogue import DATA_SETS
from fujiscore.paper.record import NO_DATA, NO_RANKINGS, Claim, Judged, judge, unchecked
from fujiscore.paper.sources import METHODS
from fujiscore.paper.study import ENSEMBLES, EXTREMES, FILTERS, PAIRS, means, pair_title

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Scores = NDArray[Any]
    Sets = Mapping[str, fj.Rankings]
    Check = Callable[[Sets], Judged]

ROUNDING = 1e-12
# Above this many features a data set counts as high-dimensional.
LARGE = 1000


def claims(sets: Sets | None, corrected: Sets | None) -> list[Claim]:
    """Judge all statements on the study; without the rankings they stay unchecked."""
    found = []
    for source, statement, how, check, needs in STATEMENTS:
        first = unchecked(NO_RANKINGS) if sets is None else check(sets)
        found.append(Claim(source, statement, first, how, _again(check, needs, sets, corrected)))
    return found


def _again(check: Check, needs: str | None, sets: Sets | None, corrected: Sets | None) -> Judged | None:
    """Judge a statement about RF on correct scores: `needs` is None, "" for all data sets, or data sets' names."""
    if needs is None:
        return None
    if corrected is None or sets is None:
        return unchecked(NO_DATA)
    lacking = [name for name in needs.split() if name not in corrected]
    if lacking:
        return unchecked(f"no raw data of {', '.join(lacking)}")
    judged = check(corrected)
    if needs:
        return judged
    before = check({name: sets[name] for name in corrected})
    return Judged(
        judged.verdict,
        f"on the {len(corrected)} data sets with raw data: {judged.measured}. On the same ones with the published "
        f"RF: {before.measured} ({before.verdict})",
    )


def _complete(sets: Sets) -> Judged:
    """Judge whether there are 24 data sets with four rankings."""
    sizes = sorted(own.n for own in sets.values())
    rankings = sum(len(own) for own in sets.values())
    measured = f"{len(sets)} data sets, {rankings} rankings, {sizes[0]} to {sizes[-1]} features, the same in all four"
    return judge(measured, holds=len(sets) == 24 and rankings == 96)


def _feature_counts(sets: Sets) -> Judged:
    """Judge whether the table of data sets counts the features that were ranked."""
    off = Counter(DATA_SETS[name].columns - own.n for name, own in sets.items())
    measured = ", ".join(f"{many} of {len(sets)} data sets {by} more than ranked" for by, many in sorted(off.items()))
    return judge(f"{measured}: the table counts the target too", holds=set(off) == {1}, caveat=True)


def _two_sizes(sets: Sets) -> Judged:
    """Judge whether genes and p53 have the stated numbers of features."""
    counts = sets["genes"].n, sets["p53"].n
    return judge(f"{counts[0]} and {counts[1]}", holds=counts == (20531, 5408))


def _most_similar(sets: Sets) -> Judged:
    """Judge whether Genie3-RF is the most similar pair on average."""
    found, whole = means(sets), means(sets, ks="all")
    second = float(np.sort(found.values)[-2])
    measured = (
        f"{pair_title(found.most)} {found.values.max():.3f}, next {second:.3f}; at all k {pair_title(whole.most)}"
    )
    return judge(measured, holds=found.most == ENSEMBLES, caveat=whole.most != ENSEMBLES)


def _least_similar(sets: Sets) -> Judged:
    """Judge whether RF-Relief is the least similar pair on average."""
    found, whole = means(sets), means(sets, ks="all")
    measured = (
        f"least similar: {pair_title(found.least)} {found.values.min():.3f} (RF-Relief {found[EXTREMES]:.3f}); "
        f"at all k: {pair_title(whole.least)} {whole.values.min():.3f} (RF-Relief {whole[EXTREMES]:.3f})"
    )
    return judge(measured, holds=found.least == EXTREMES, caveat=whole.least != EXTREMES)


def _middle_pairs(sets: Sets) -> Judged:
    """Judge whether the other pairs are about equally similar."""
    found = means(sets)
    middle = [found[pair] for pair in PAIRS if pair not in {ENSEMBLES, EXTREMES}]
    spread = max(middle) - min(middle)
    measured = (
        f"{len(middle)} pairs remain (the text says five), from {min(middle):.3f} to {max(middle):.3f}: "
        f"{spread / found.reach:.0%} of the whole range"
    )
    return judge(measured, holds=spread < 0.5 * found.reach, caveat=True)


def _jaccard_is_blind(sets: Sets) -> Judged:
    """Judge whether Jaccard's means lie closer together than FUJI's."""
    fuji, jaccard = means(sets), means(sets, "jaccard")
    corrected = [means(sets, measure, corrected=True).reach for measure in ("fuji", "jaccard")]
    same = np.sign(np.subtract.outer(fuji.values, fuji.values)) == np.sign(
        np.subtract.outer(jaccard.values, jaccard.values)
    )
    agree = int(same[np.triu_indices(len(PAIRS), 1)].sum())
    measured = (
        f"the six means span {fuji.reach:.3f} by FUJI and {jaccard.reach:.3f} by Jaccard (corrected for chance "
        f"{corrected[0]:.3f} and {corrected[1]:.3f}); both order {agree} of 15 couples of pairs alike; most and least "
        f"similar by Jaccard: {pair_title(jaccard.most)}, {pair_title(jaccard.least)}"
    )
    return judge(measured, holds=jaccard.reach < 0.5 * fuji.reach)


def _in_line(sets: Sets) -> Judged:
    """Judge on how many data sets the extreme pairs come out the same."""
    found = means(sets)
    most = Counter(PAIRS[at] for at in found.by_set.argmax(axis=1))
    least = Counter(PAIRS[at] for at in found.by_set.argmin(axis=1))
    measured = (
        f"Genie3-RF is the most similar pair on {most[ENSEMBLES]} of {len(sets)} data sets, RF-Relief the least "
        f"similar on {least[EXTREMES]}"
    )
    return judge(measured, holds=most[ENSEMBLES] > len(sets) / 2, caveat=least[EXTREMES] < len(sets) / 2)


def _steadier(sets: Sets) -> Judged:
    """Judge whether FUJI's curves have smaller steps than Jaccard's, and lie above them."""
    wins, total, below = 0, 0, 0.0
    for own in sets.values():
        for pair in PAIRS:
            found = fj.compare(own[pair[0]], own[pair[1]], negative="clip")
            fuji, jaccard = found["fuji"].values, found["jaccard"].values
            wins += float(np.abs(np.diff(fuji)).sum()) < float(np.abs(np.diff(jaccard)).sum())
            below = min(below, float((fuji - jaccard).min()))
            total += 1
    measured = f"FUJI's curve has the smaller sum of steps in {wins} of {total} pairs; it is never below Jaccard's "
    return judge(measured + f"(least difference {below:.0e})", holds=wins > 0.9 * total and below >= -ROUNDING)


def _sparse_grid(sets: Sets) -> Judged:
    """Judge what the sparse grid changes."""
    sparse, whole = means(sets), means(sets, ks="all")
    correlation = float(np.corrcoef(sparse.by_set.ravel(), whole.by_set.ravel())[0, 1])
    measured = (
        f"areas on the sparse grid are {np.mean(whole.by_set - sparse.by_set):.3f} lower on average, correlate "
        f"{correlation:.2f} with those at all k, and name {pair_title(sparse.least)} the least similar pair where all "
        f"k name {pair_title(whole.least)}"
    )
    return judge(measured, holds=bool(np.all(sparse.values < whole.values)), caveat=sparse.least != whole.least)


def _early_stop(sets: Sets) -> Judged:
    """Judge at how many k both rankings have only zeros left."""
    shares = []
    for own in sets.values():
        for first, second in PAIRS:
            positive = max(int((own[first] > 0).sum()), int((own[second] > 0).sum()))
            shares.append(1 - positive / own.n)
    own = sets["genes"]
    genes = 1 - max(int((own[name] > 0).sum()) for name in ENSEMBLES) / own.n
    measured = f"{np.mean(shares):.0%} of the points are skipped on average over {len(shares)} pairs, {genes:.0%} for "
    return judge(measured + "Genie3 and RF on genes, none where a ranking has no zeros", holds=genes > 0.5, caveat=True)


def _long_tails(sets: Sets) -> Judged:
    """Judge how few features hold half of the scores."""
    large = [own for own in sets.values() if own.n > LARGE]
    halves = {name: np.median([_half(own[name]) for own in large]) for name in METHODS}
    measured = ", ".join(f"{name} {share:.1%}" for name, share in halves.items())
    return judge(
        f"features that hold half of the total score, median of {len(large)} data sets with more than {LARGE}: "
        f"{measured}",
        holds=max(halves.values()) < 0.25,
        caveat=max(halves.values()) > 0.1,
    )


def _half(scores: Scores) -> float:
    """Return the share of items that hold half of the sum of scores."""
    ranked = np.sort(np.maximum(scores, 0.0))[::-1]
    return float(np.searchsorted(np.cumsum(ranked), ranked.sum() / 2) + 1) / scores.size


STATEMENTS: tuple[tuple[str, str, str, Check, str | None], ...] = (
    (
        "Applications",
        "There are 24 data sets with four rankings each.",
        "Count of the published files; the features of a data set are the same in all four.",
        _complete,
        None,
    ),
    (
        "Appendix, table of data sets",
        "The numbers of features in the table.",
        "Compared with the rankings.",
        _feature_counts,
        None,
    ),
    ("Applications", "genes has 20,531 features and p53 has 5,408.", "Size of the rankings.", _two_sizes, None),
    (
        "Applications, heat map",
        "On average Genie3 and RF are the most similar pair.",
        "Mean area under the FUJI curve on 1, 2, 4, ..., n.",
        _most_similar,
        "",
    ),
    (
        "Applications, heat map",
        "On average RF and Relief are the least similar pair.",
        "Mean area under the FUJI curve on 1, 2, 4, ..., n.",
        _least_similar,
        "",
    ),
    (
        "Applications, heat map",
        "Apart from Genie3-RF and RF-Relief, the pairs of rankings are about equally similar.",
        "Range of their means; about equally: less than half of the range of all six.",
        _middle_pairs,
        "",
    ),
    (
        "Applications, heat map",
        "FUJI tells levels of similarity of the pairs apart, Jaccard hardly.",
        "Range of the six means, and their order; hardly: less than half of FUJI's range.",
        _jaccard_is_blind,
        "",
    ),
    (
        "Applications",
        "The single data sets are in line with the means: Genie3 and RF most similar, RF and Relief least.",
        "The most and the least similar pair on each data set; in line: on more than half of them.",
        _in_line,
        "",
    ),
    (
        "Applications, genes",
        "Genie3 and RF have different first features, so Jaccard starts at 0.",
        "First point of the curve.",
        curve_checks.first_features,
        "genes",
    ),
    (
        "Applications, genes",
        "The Jaccard curve of Genie3 and RF rises to 0.5 at k = 4.",
        "Points of the curve.",
        curve_checks.half_at_four,
        "genes",
    ),
    (
        "Applications, genes",
        "The Jaccard curve of Genie3 and RF falls again to 0.15 at k = 15.",
        "Point of the curve.",
        curve_checks.drop_at_fifteen,
        "genes",
    ),
    (
        "Applications, genes",
        "The top Genie3 gene has rank 5 in RF.",
        "Order by the published scores, ties in the files' order.",
        curve_checks.top_gene,
        "genes",
    ),
    (
        "Applications, genes",
        "Correlation is too strict on Genie3 and RF: lower than FUJI.",
        "Both curves of Genie3 and RF at every k.",
        curve_checks.strict_correlation,
        "genes",
    ),
    (
        "Applications, genes",
        "Hamming is too optimistic at the top when there are many features.",
        "Curves of Genie3 and RF up to k = 100.",
        curve_checks.optimistic_hamming,
        "genes",
    ),
    (
        "Applications, genes",
        "After k = 2117 the curves of FUJI, Jaccard and Hamming are the same.",
        "First k from which the three are equal.",
        curve_checks.curves_meet,
        "genes",
    ),
    (
        "Applications, genes",
        "Both rankings hold the same 18,000 or so features irrelevant, with score 0.",
        "Count of scores that are not positive.",
        curve_checks.irrelevant,
        "genes",
    ),
    (
        "Applications, genes",
        "MI and Relief have the same first feature, so Jaccard starts at 1.",
        "First point of the curve.",
        curve_checks.same_first,
        None,
    ),
    (
        "Applications, genes",
        "The Jaccard curve of MI and Relief falls until a second feature is shared at k = 12.",
        "First k at which the curve rises.",
        curve_checks.falls_until_twelve,
        None,
    ),
    (
        "Applications, genes",
        "FUJI sees the next feature that MI and Relief share at k = 4: its MI score is 0.78, the fourth best 0.83.",
        "The feature, its ranks and scores, and FUJI's step from k = 3 to 4.",
        curve_checks.seen_at_four,
        None,
    ),
    (
        "Applications, p53",
        "The top RF feature scores ten times less in Genie3 than Genie3's top feature.",
        "Ratio of the two Genie3 scores.",
        curve_checks.ten_times,
        "p53",
    ),
    (
        "Applications, p53",
        "Genie3 and RF are much less similar on p53 than on genes, by FUJI and by Jaccard.",
        "Areas at all k and on the sparse grid.",
        lambda sets: curve_checks.p53_less(sets, ENSEMBLES),
        "genes p53",
    ),
    (
        "Applications, p53",
        "Relief and MI are less similar on p53 than on genes, by FUJI and by Jaccard.",
        "Areas at all k and on the sparse grid.",
        lambda sets: curve_checks.p53_less(sets, FILTERS),
        None,
    ),
    (
        "Applications",
        "FUJI's curves are steadier and less pessimistic than Jaccard's.",
        "Sum of |f(k+1) - f(k)|, and FUJI - Jaccard at every k, for all six pairs of every data set.",
        _steadier,
        "",
    ),
    (
        "Appendix, the algorithm",
        "Fewer points, denser at the top, give more weight to the top at no particular loss.",
        "Areas of all pairs on 1, 2, 4, ..., n and at all k.",
        _sparse_grid,
        None,
    ),
    (
        "Appendix, the algorithm",
        "Stopping where both rankings have only zeros left often saves the worst case.",
        "Share of k at which both k-th scores are 0.",
        _early_stop,
        None,
    ),
    (
        "Correction for chance",
        "With many items the scores are long-tailed: only few items are relevant.",
        "Share of the features that hold half of the summed (clipped) scores; few: less than a quarter.",
        _long_tails,
        None,
    ),
)
