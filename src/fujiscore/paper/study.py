"""The study on 24 data sets: mean similarities of four feature rankers, one figure per data set, and the statements.

Statements about RF are judged twice, with published and with correct scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fujiscore.paper import figures
from fujiscore.paper.conventions import ROUNDING, Scores, Sets, areas, auc, compare, curve, roughness
from fujiscore.paper.record import (
    DATA_SETS,
    NO_DATA,
    STATEMENTS,
    UNCHECKED,
    Checks,
    Figure,
    Judged,
    PageTable,
    Section,
    check,
    listed,
    make_section,
)
from fujiscore.paper.sources import ENSEMBLES, FILTERS, METHODS

if TYPE_CHECKING:
    import fujiscore as fj

    Pair = tuple[str, str]
    Means = dict[Pair, float]

TITLES = {"Genie3": "Genie3", "RForest": "RF", "relief": "Relief", "mutual_info": "MI"}
PAIRS = tuple(combinations(METHODS, 2))
EXTREMES = ("RForest", "relief")
MEASURES = ("fuji", "jaccard", "correlation", "hamming")
# Random orders of the zeros, and where Jaccard is looked at.
SHUFFLES, SHUFFLED_AT = 20, 3000
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


def _every_pair(sets: Sets) -> Iterator[tuple[str, str, fj.Rankings]]:
    """Yield the data set, the title and the two rankings of every pair."""
    return ((name, pair_title(pair), rankings[pair]) for name, rankings in sets.items() for pair in PAIRS)


def section(sets: Sets | None, corrected: Sets | None, examples: Mapping[str, int] | None = None) -> Section:
    """Compute the study's tables and figures, and judge what the paper says about it.

    `examples` is the number of rows of each data set with raw data.
    """
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
    table = PageTable("mean_areas", f"Mean areas over {len(sets)} data sets", ("pair", *forms), rows)
    described = [
        (row["title"], int(row["columns"]), sets[row["name"]].n, int(row["examples"]), row["about"])
        for row in sorted(DATA_SETS.values(), key=lambda row: row["title"].lower())
    ]
    columns = ("data set", "features in the paper", "features ranked", "examples", "about")
    raw, raw_jaccard, exact, exact_jaccard, *_ = forms.values()
    drawn = [
        _heat_map("heat_map", len(sets), raw, raw_jaccard),
        _heat_map("heat_map_corrected", len(sets), exact, exact_jaccard, " corrected for chance, ties closed"),
        _histogram(sets),
        *(_curves(DATA_SETS[name]["title"], name, rankings) for name, rankings in sets.items()),
    ]
    checks = [*check_means(sets), *_check_data(sets), *_check_scores(sets), *check_curves(sets)]
    checks += [_check_large_k(sets), check_examples(examples), _check_parameters()]
    tables = (table, PageTable("data_sets", "The data sets", columns, described))
    return make_section("study", checks, tables, drawn, correct_rf=again)


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


def judge_again(sets: Sets | None, corrected: Sets | None) -> dict[str, Judged]:
    """Judge the statements about RF with correct scores, where the raw data they need are available."""
    needed = {key: row["rf"] for key, row in STATEMENTS.items() if row["rf"]}
    if sets is None or corrected is None:
        return dict.fromkeys(needed, Judged(UNCHECKED, NO_DATA))
    after = dict([*check_means(corrected), *check_curves(corrected)])
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
        check("most_similar", **values),
        check("least_similar", **values),
        check("middle_pairs", share=share, count=len(middle), low=low, high=high),
        _jaccard_blind(sets, fuji),
        check_in_line(singly),
        _steadier(sets),
    ]


def check_in_line(areas_by_set: Scores) -> tuple[str, Judged]:
    """Check on how many data sets the pairs named as extremes are those: one row of areas per data set."""
    most = int((areas_by_set.argmax(axis=1) == PAIRS.index(ENSEMBLES)).sum())
    least = int((areas_by_set.argmin(axis=1) == PAIRS.index(EXTREMES)).sum())
    sets = len(areas_by_set)
    return check("in_line", most_share=most / sets, least_share=least / sets, most=most, least=least, sets=sets)


def _jaccard_blind(sets: Sets, fuji: Means) -> tuple[str, Judged]:
    """Check whether Jaccard's means lie closer together than FUJI's."""
    jaccard = means(sets, "jaccard")
    most, *_, least = map(pair_title, _sorted(jaccard))
    corrected = (means(sets, measure, corrected=True) for measure in ("fuji", "jaccard"))
    spans = [max(form.values()) - min(form.values()) for form in (fuji, jaccard, *corrected)]
    agree = sum((fuji[a] < fuji[b]) == (jaccard[a] < jaccard[b]) for a, b in combinations(PAIRS, 2))
    return check("jaccard_blind", ratio=spans[1] / spans[0], spans=spans, agree=agree, most=most, least=least)


def _steadier(sets: Sets) -> tuple[str, Judged]:
    """Check whether FUJI's curves have smaller steps than Jaccard's, and lie above them."""
    wins, below = [], 0.0
    for _, _, (r, s) in _every_pair(sets):
        comparison = compare(r, s, ("fuji", "jaccard"))
        fuji, jaccard = comparison["fuji"].values, comparison["jaccard"].values
        wins.append(roughness(fuji) < roughness(jaccard))
        below = min(below, float((fuji - jaccard).min()))
    return check("steadier", share=np.mean(wins), below=below, wins=sum(wins), pairs=len(wins))


def _check_data(sets: Sets) -> Checks:
    """Check the statements on the data sets and their numbers of features."""
    sizes = [rankings.n for rankings in sets.values()]
    count = sum(len(rankings) for rankings in sets.values())
    off = Counter(int(DATA_SETS[name]["columns"]) - rankings.n for name, rankings in sets.items())
    more = ", ".join(f"{many} of {len(sets)} data sets {by} more than ranked" for by, many in sorted(off.items()))
    genes, p53 = sets["genes"].n, sets["p53"].n
    return [
        check("complete", sets=len(sets), rankings=count, low=min(sizes), high=max(sizes)),
        check("feature_counts", fewest=min(off), most=max(off), more=more),
        check("two_counts", genes=genes, p53=p53),
        check_top_weight(min(sizes), max(sizes)),
    ]


def _check_scores(sets: Sets) -> Checks:
    """Check the statements on the sparse grid, the zeros and the long tails."""
    sparse, whole = by_set(sets), by_set(sets, ks="all")
    least, least_whole = (pair_title(PAIRS[form.mean(axis=0).argmin()]) for form in (sparse, whole))
    skipped = [_skipped(pair) for _, _, pair in _every_pair(sets)]
    genes = _skipped(sets["genes"][ENSEMBLES])
    large = [rankings for rankings in sets.values() if rankings.n > LARGE]
    halves = {name: float(np.median([_half(rankings[name]) for rankings in large])) for name in METHODS}
    most, shares = max(halves.values()), ", ".join(f"{name} {share:.1%}" for name, share in halves.items())
    correlation = np.corrcoef(sparse.ravel(), whole.ravel())[0, 1]
    stopping = float(np.mean(np.array(skipped) > 0))
    return [
        check("sparse_grid", correlation=correlation, least=least, least_whole=least_whole),
        check("early_stop", stopping=stopping, skipped=np.mean(skipped), pairs=len(skipped), genes=genes),
        check("long_tails", most=most, count=len(large), large=LARGE, shares=shares),
    ]


def check_top_weight(*sizes: int) -> tuple[str, Judged]:
    """Check the weight of the top in an area on the sparse grid, for several numbers of features."""
    gains, shown = [], []
    for n in sizes:
        doubling = {1 << power for power in range(n.bit_length())} | {n}
        sparse, whole = (_top_share(np.array(sorted(ks))) for ks in (doubling, range(1, n + 1)))
        gains.append(sparse - whole)
        shown.append(f"{sparse:.0%} instead of {whole:.1%} for n = {n}")
    return check("top_weight", gain=min(gains), shares="; ".join(shown))


def _top_share(ks: NDArray[np.int64]) -> float:
    """Return the weight of the points up to the square root of the last one in an area by trapezoids."""
    weights = np.ones(ks.size)
    weights[[0, -1]] = 0.5
    return float(weights[ks <= np.sqrt(ks[-1])].sum() / (ks.size - 1))


def _check_large_k(sets: Sets) -> tuple[str, Judged]:
    """Check how little FUJI changes from k to k + 1 where k is large."""
    early, late, largest = {}, {}, 0.0
    for name, title, (r, s) in _every_pair(sets):
        steps = np.abs(np.diff(curve(r, s)))
        where, half = f"{title} on {DATA_SETS[name]['title']}", steps.size // 2
        early[where], late[where] = (float((part <= 0.01).mean()) for part in (steps[:half], steps[half:]))
        largest = max(largest, steps[half:].max())
    lowest = min(late, key=late.__getitem__)
    typical, before = np.mean(list(late.values())), np.mean(list(early.values()))
    shown: Any = {"before": before, "largest": largest, "where": lowest, "pairs": len(late)}
    return check("large_k", typical=typical, least=late[lowest], **shown)


def check_examples(examples: Mapping[str, int] | None) -> tuple[str, Judged]:
    """Check the numbers of examples of the data sets with raw data."""
    if examples is None:
        return "examples", Judged(UNCHECKED, NO_DATA)
    wrong = [f"{name} {rows}" for name, rows in examples.items() if rows != int(DATA_SETS[name]["examples"])]
    counts = {"differing": len(wrong), "count": len(examples), "equal": len(examples) - len(wrong)}
    others = f" (not: {', '.join(wrong)})" if wrong else ""
    return check("examples", unavailable=len(DATA_SETS) - len(examples), others=others, **counts)


def _check_parameters() -> tuple[str, Judged]:
    """Check whether mutual information depends on the number of neighbours that its estimate takes."""
    from fujiscore.rankers import mutual_information

    rng = np.random.default_rng(12)
    X = rng.normal(size=(200, 20))
    y = X @ 2.0 ** -np.arange(20.0) + rng.normal(size=200) > 0
    default, *others = (mutual_information(X, y, neighbours=count, progress=False) for count in (3, 1, 10, 30))
    change = max(float(np.abs(scores - default).max()) for scores in others)
    shown = listed(auc(default, scores) for scores in others)
    return check("parameterless", change=change, others="1, 10 and 30", areas=shown)


def _skipped(pair: fj.Rankings) -> float:
    """Return the share of k at which both rankings have only zeros left."""
    return 1 - max(int((ranking.scores > 0).sum()) for ranking in pair) / pair.n


def _half(ranking: fj.Ranking) -> float:
    """Return the share of items that hold half of the sum of scores."""
    return float(np.searchsorted(np.cumsum(ranking.ranked), ranking.ranked.sum() / 2) + 1) / ranking.n


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
