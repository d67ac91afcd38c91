"""The study on 24 data sets: mean similarities of four feature rankers, one figure per data set, and the statements.

Statements about RF are judged twice, with published and with correct scores.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.paper import figures
from fujiscore.paper.conventions import ROUNDING, areas, auc, compare, roughness
from fujiscore.paper.record import DATA_SETS, NO_DATA, STATEMENTS, UNCHECKED, Figure, Judged, Table, check, make_section
from fujiscore.paper.sources import METHODS

if TYPE_CHECKING:
    import fujiscore as fj
    from fujiscore.paper.conventions import Scores, Sets
    from fujiscore.paper.record import Checks, Section

    Pair = tuple[str, str]
    Means = dict[Pair, float]

TITLES = {"Genie3": "Genie3", "RForest": "RF", "relief": "Relief", "mutual_info": "MI"}
PAIRS = tuple(combinations(METHODS, 2))
MEASURES = ("fuji", "jaccard", "correlation", "hamming")
ENSEMBLES, FILTERS, EXTREMES = ("Genie3", "RForest"), ("mutual_info", "relief"), ("RForest", "relief")
# Above this many features a data set counts as high-dimensional.
LARGE = 1000


def by_set(sets: Sets, measure: str = "fuji", *, ks: str = "exp", corrected: bool = False) -> Scores:
    """Return the areas of all pairs, one row per data set; ties are closed if they are corrected for chance."""
    upper = np.triu_indices(len(METHODS), 1)
    return np.array([areas(one, measure=measure, ks=ks, corrected=corrected)[upper] for one in sets.values()])


def means(sets: Sets, measure: str = "fuji", *, ks: str = "exp", corrected: bool = False) -> Means:
    """Return each pair's mean area over the data sets."""
    values = by_set(sets, measure, ks=ks, corrected=corrected).mean(axis=0)
    return dict(zip(PAIRS, values.tolist(), strict=True))


def pair_title(pair: Pair) -> str:
    """Return a pair's name in the paper's words."""
    return f"{TITLES[pair[0]]}-{TITLES[pair[1]]}"


def section(sets: Sets | None, corrected: Sets | None) -> Section:
    """Compute the study's tables and figures, and judge what the paper says about it."""
    again = judge_again(sets, corrected)
    if sets is None:
        return make_section("study", None, correct_rf=again)
    forms = {
        "FUJI": means(sets),
        "Jaccard": means(sets, "jaccard"),
        "FUJI corrected, ties closed": means(sets, corrected=True),
        "Jaccard corrected, ties closed": means(sets, "jaccard", corrected=True),
        "FUJI, all k": means(sets, ks="all"),
        "Jaccard, all k": means(sets, "jaccard", ks="all"),
    }
    rows = [(pair_title(pair), *(form[pair] for form in forms.values())) for pair in PAIRS]
    table = Table("mean_areas", f"Mean areas over {len(sets)} data sets", ("pair", *forms), rows)
    raw, raw_jaccard, exact, exact_jaccard, *_ = forms.values()
    drawn = [
        _heat_map("heat_map", len(sets), raw, raw_jaccard),
        _heat_map("heat_map_corrected", len(sets), exact, exact_jaccard, " corrected for chance, ties closed"),
        _histogram(sets),
        *(_curves(DATA_SETS[name]["title"], name, rankings) for name, rankings in sets.items()),
    ]
    checks = [*check_means(sets), *_check_data(sets), *_check_scores(sets), *_check_curves(sets)]
    return make_section("study", checks, (table, _data_sets(sets)), drawn, correct_rf=again)


def _data_sets(sets: Sets) -> Table:
    """Return the data sets with the number of features in the paper's table and in the rankings."""
    rows = [
        (row["title"], int(row["columns"]), sets[row["name"]].n, int(row["examples"]), row["about"])
        for row in sorted(DATA_SETS.values(), key=lambda row: row["title"].lower())
    ]
    columns = ("data set", "features in the paper", "features ranked", "examples", "about")
    return Table("data_sets", "The data sets", columns, rows)


def _heat_map(name: str, count: int, fuji: Means, jaccard: Means, form: str = "") -> Figure:
    """Return the heat map: FUJI below the diagonal, Jaccard above."""
    grid = np.full((len(METHODS), len(METHODS)), np.nan)
    upper = np.triu_indices(len(METHODS), 1)
    grid[upper], grid.T[upper] = list(jaccard.values()), list(fuji.values())
    caption = f"Mean area{form} over {count} data sets: FUJI below the diagonal, Jaccard above."
    numbers = {"pair": map(pair_title, PAIRS), "fuji": fuji.values(), "jaccard": jaccard.values()}
    label = "mean AUC, corrected" if form else "mean AUC"
    draw = partial(figures.heat_map, grid=grid, titles=list(TITLES.values()), label=label)
    return Figure(name, caption, (4.6, 3.8), draw, {name: list(column) for name, column in numbers.items()})


def _histogram(sets: Sets) -> Figure:
    """Return the histogram of feature counts."""
    counts = [rankings.n for rankings in sets.values()]
    caption = f"Number of features of the {len(sets)} data sets."
    numbers = {"data_set": [DATA_SETS[name]["title"] for name in sets], "features": counts}
    return Figure("feature_counts", caption, (5.2, 2.8), partial(figures.counts, features=counts), numbers)


def _curves(title: str, name: str, rankings: fj.Rankings) -> Figure:
    """Return the two panels of a data set: Genie3 and RF, MI and Relief."""
    comparisons = {pair_title((a, b)): compare(rankings[a], rankings[b], MEASURES) for a, b in (ENSEMBLES, FILTERS)}
    numbers: dict[str, Scores] = {"k": np.arange(1, rankings.n + 1)}
    for pair, comparison in comparisons.items():
        numbers |= {f"{pair}_{measure}": curve.values for measure, curve in comparison.curves.items()}
    caption = f"{title} ({rankings.n} features): Genie3 and RF above, MI and Relief below."
    draw = partial(figures.panels, name=title, comparisons=comparisons)
    return Figure(f"curves_{name}", caption, (4.6, 5.2), draw, numbers, small=True)


def _check_curves(sets: Sets) -> Checks:
    """Check the statements on genes and p53, as far as these are among the data sets."""
    checks: Checks = []
    if "genes" in sets:
        checks += [*genes_ensembles(sets["genes"]), *_genes_filters(sets["genes"])]
    if "p53" in sets:
        genie3, forest = sets["p53"][ENSEMBLES]
        ratio = genie3.ranked[0] / genie3.scores[forest.order[0]]
        checks.append(check("ten_times", holds=abs(ratio - 10) < 1, ratio=ratio))
    if {"genes", "p53"} <= set(sets):
        checks += [_p53_less("p53_ensembles", sets, ENSEMBLES), _p53_less("p53_filters", sets, FILTERS)]
    return checks


def judge_again(sets: Sets | None, corrected: Sets | None) -> dict[str, Judged]:
    """Judge the statements about RF with correct scores, where the raw data they need are available."""
    needed = {key: row["rf"] for key, row in STATEMENTS.items() if row["rf"]}
    if sets is None or corrected is None:
        return dict.fromkeys(needed, Judged(UNCHECKED, NO_DATA))
    after = dict([*check_means(corrected), *_check_curves(corrected)])
    before = dict(check_means({name: sets[name] for name in corrected}))
    judged = {}
    for key, names in needed.items():
        missing = [name for name in names.split() if name not in corrected]
        if names == "all":
            measured = (
                f"on the {len(corrected)} data sets with raw data: {after[key].measured}. On the same ones with the "
                f"published RF: {before[key].measured} ({before[key].verdict})"
            )
            judged[key] = Judged(after[key].verdict, measured)
        else:
            judged[key] = Judged(UNCHECKED, f"no raw data of {', '.join(missing)}") if missing else after[key]
    return judged


def _sorted(values: Means) -> list[Pair]:
    """Return the pairs from the most to the least similar."""
    return sorted(values, key=values.__getitem__, reverse=True)


def check_means(sets: Sets) -> Checks:
    """Check the statements on means and curves over all data sets."""
    fuji, whole, singly = means(sets), means(sets, ks="all"), by_set(sets)
    first, second, *_, last = _sorted(fuji)
    first_whole, *_, last_whole = _sorted(whole)
    middle = [fuji[pair] for pair in PAIRS if pair not in {ENSEMBLES, EXTREMES}]
    low, high = min(middle), max(middle)
    share = (high - low) / (fuji[first] - fuji[last])
    most = int((singly.argmax(axis=1) == PAIRS.index(ENSEMBLES)).sum())
    least = int((singly.argmin(axis=1) == PAIRS.index(EXTREMES)).sum())
    half = len(sets) / 2
    values: Any = {
        "most": pair_title(first),
        "high": fuji[first],
        "second": fuji[second],
        "least": pair_title(last),
        "low": fuji[last],
        "extremes": fuji[EXTREMES],
        "most_whole": pair_title(first_whole),
        "least_whole": pair_title(last_whole),
        "low_whole": whole[last_whole],
        "extremes_whole": whole[EXTREMES],
    }
    return [
        check("most_similar", holds=first == ENSEMBLES, caveat=first_whole != ENSEMBLES, **values),
        check("least_similar", holds=last == EXTREMES, caveat=last_whole != EXTREMES, **values),
        check("middle_pairs", holds=share < 0.5, caveat=True, count=len(middle), low=low, high=high, share=share),
        _jaccard_blind(sets, fuji),
        check("in_line", holds=most > half, caveat=least < half, most=most, sets=len(sets), least=least),
        _steadier(sets),
    ]


def _jaccard_blind(sets: Sets, fuji: Means) -> tuple[str, Judged]:
    """Check whether Jaccard's means lie closer together than FUJI's."""
    jaccard = means(sets, "jaccard")
    most, *_, least = map(pair_title, _sorted(jaccard))
    corrected = (means(sets, measure, corrected=True) for measure in ("fuji", "jaccard"))
    spans = [max(form.values()) - min(form.values()) for form in (fuji, jaccard, *corrected)]
    agree = sum((fuji[a] < fuji[b]) == (jaccard[a] < jaccard[b]) for a, b in combinations(PAIRS, 2))
    return check("jaccard_blind", holds=spans[1] < 0.5 * spans[0], spans=spans, agree=agree, most=most, least=least)


def _steadier(sets: Sets) -> tuple[str, Judged]:
    """Check whether FUJI's curves have smaller steps than Jaccard's, and lie above them."""
    wins, total, below = 0, 0, 0.0
    for rankings in sets.values():
        for first, second in PAIRS:
            comparison = compare(rankings[first], rankings[second], ("fuji", "jaccard"))
            fuji, jaccard = comparison["fuji"].values, comparison["jaccard"].values
            wins += roughness(fuji) < roughness(jaccard)
            below = min(below, float((fuji - jaccard).min()))
            total += 1
    holds = wins > 0.9 * total and below >= -ROUNDING
    return check("steadier", holds=holds, wins=wins, pairs=total, below=below)


def _check_data(sets: Sets) -> Checks:
    """Check the statements on the data sets and their numbers of features."""
    sizes = [rankings.n for rankings in sets.values()]
    count = sum(len(rankings) for rankings in sets.values())
    off = Counter(int(DATA_SETS[name]["columns"]) - rankings.n for name, rankings in sets.items())
    more = ", ".join(f"{many} of {len(sets)} data sets {by} more than ranked" for by, many in sorted(off.items()))
    genes, p53 = sets["genes"].n, sets["p53"].n
    complete = len(sets) == 24 and count == 96
    return [
        check("complete", holds=complete, sets=len(sets), rankings=count, low=min(sizes), high=max(sizes)),
        check("feature_counts", holds=set(off) == {1}, caveat=True, more=more),
        check("two_counts", holds=(genes, p53) == (20531, 5408), genes=genes, p53=p53),
    ]


def _check_scores(sets: Sets) -> Checks:
    """Check the statements on the sparse grid, the zeros and the long tails."""
    sparse, whole = by_set(sets), by_set(sets, ks="all")
    least, least_whole = (pair_title(PAIRS[form.mean(axis=0).argmin()]) for form in (sparse, whole))
    skipped = [_skipped(rankings[pair]) for rankings in sets.values() for pair in PAIRS]
    genes = _skipped(sets["genes"][ENSEMBLES])
    large = [rankings for rankings in sets.values() if rankings.n > LARGE]
    halves = {name: float(np.median([_half(rankings[name]) for rankings in large])) for name in METHODS}
    most, shares = max(halves.values()), ", ".join(f"{name} {share:.1%}" for name, share in halves.items())
    return [
        check(
            "sparse_grid",
            holds=np.all(sparse.mean(axis=0) < whole.mean(axis=0)),
            caveat=least != least_whole,
            lower=np.mean(whole - sparse),
            correlation=np.corrcoef(sparse.ravel(), whole.ravel())[0, 1],
            least=least,
            least_whole=least_whole,
        ),
        check("early_stop", holds=genes > 0.5, caveat=True, skipped=np.mean(skipped), pairs=len(skipped), genes=genes),
        check("long_tails", holds=most < 0.25, caveat=most > 0.1, count=len(large), large=LARGE, shares=shares),
    ]


def _skipped(pair: fj.Rankings) -> float:
    """Return the share of k at which both rankings have only zeros left."""
    return 1 - max(int((ranking.scores > 0).sum()) for ranking in pair) / pair.n


def _half(ranking: fj.Ranking) -> float:
    """Return the share of items that hold half of the sum of scores."""
    return float(np.searchsorted(np.cumsum(ranking.ranked), ranking.ranked.sum() / 2) + 1) / ranking.n


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
    both = int((zeros[0] & zeros[1]).sum())
    same = "the same" if np.array_equal(zeros[0], zeros[1]) else "not the same"
    return [
        check("first_features", holds=jaccard[0] == 0, jaccard=jaccard[0], fuji=fuji[0]),
        check("half_at_four", holds=abs(jaccard[3] - 0.5) < 0.005, jaccard=jaccard[3], half=half),
        check("drop_at_fifteen", holds=abs(jaccard[14] - 0.15) < 0.005, jaccard=jaccard[14]),
        check("top_gene", holds=rank == 5, rank=rank),
        check("strict_correlation", holds=below > 0.95, below=below, correlation=correlation[99], fuji=fuji[99]),
        check("optimistic_hamming", holds=lowest["hamming"] > 0.99 and lowest["jaccard"] < 0.5, **lowest),
        check("curves_meet", holds=start <= 2117, start=start),
        check("irrelevant", holds=abs(both - 18000) < 1000, both=both, others=genes.n - both, same=same),
    ]


def _genes_filters(genes: fj.Rankings) -> Checks:
    """Check the statements on MI and Relief on genes."""
    information, relief = genes[FILTERS]
    comparison = compare(information, relief, ("fuji", "jaccard"))
    fuji, jaccard = comparison["fuji"].values, comparison["jaccard"].values
    rises = int(np.flatnonzero(np.diff(jaccard) > 0)[0]) + 2
    joining = [int(position) for position in relief.order[:12] if position in information.order[:12]][1]
    rank = list(relief.order).index(joining) + 1
    gene, value, fourth = genes.label(joining), information.scores[joining], information.ranked[3]
    seen = rank == 4 and abs(value - 0.78) < 0.006 and abs(fourth - 0.83) < 0.006 and fuji[3] > fuji[2]
    return [
        check("same_first", holds=jaccard[0] == 1, jaccard=jaccard[0]),
        check("falls_until_twelve", holds=rises == 12, lowest=jaccard[rises - 2], rises=rises),
        check("seen_at_four", holds=seen, gene=gene, rank=rank, score=value, fourth=fourth, fuji=fuji),
    ]


def _p53_less(key: str, sets: Sets, pair: Pair) -> tuple[str, Judged]:
    """Check whether two rankings are less similar on p53 than on genes, by both measures and on both grids."""
    less, shown = True, []
    for measure in ("fuji", "jaccard"):
        for ks in ("exp", "all"):
            genes, p53 = (auc(sets[name][pair[0]], sets[name][pair[1]], measure, ks=ks) for name in ("genes", "p53"))
            less = less and p53 < genes
        shown.append(f"{measure} {genes:.3f} (genes) and {p53:.3f} (p53)")
    return check(key, holds=less, areas="; ".join(shown))
