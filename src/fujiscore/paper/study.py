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
from fujiscore.paper.conventions import areas, auc, compare, curve, roughness
from fujiscore.paper.curves import MEASURES, check_curves
from fujiscore.paper.record import (
    DATA_SETS,
    NO_DATA,
    STATEMENTS,
    UNCHECKED,
    Figure,
    Judged,
    PageTable,
    check,
    listed,
    make_section,
)
from fujiscore.paper.sources import ENSEMBLES, FILTERS, METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    import fujiscore as fj
    from fujiscore.paper.conventions import Scores, Sets
    from fujiscore.paper.record import Checks, Section

    Pair = tuple[str, str]
    Means = dict[Pair, float]

TITLES = {"Genie3": "Genie3", "RForest": "RF", "relief": "Relief", "mutual_info": "MI"}
PAIRS = tuple(combinations(METHODS, 2))
EXTREMES = ("RForest", "relief")
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
    raw, raw_jaccard, exact, exact_jaccard, *_ = forms.values()
    drawn = [
        _heat_map("heat_map", len(sets), raw, raw_jaccard),
        _heat_map("heat_map_corrected", len(sets), exact, exact_jaccard, " corrected for chance, ties closed"),
        _histogram(sets),
        *(_curves(DATA_SETS[name]["title"], name, rankings) for name, rankings in sets.items()),
    ]
    checks = [*check_means(sets), *_check_data(sets), *_check_scores(sets), *check_curves(sets)]
    checks += [_check_large_k(sets), check_examples(examples), _check_parameters()]
    return make_section("study", checks, (table, _data_sets(sets)), drawn, correct_rf=again)


def _data_sets(sets: Sets) -> PageTable:
    """Return the data sets with the number of features in the paper's table and in the rankings."""
    rows = [
        (row["title"], int(row["columns"]), sets[row["name"]].n, int(row["examples"]), row["about"])
        for row in sorted(DATA_SETS.values(), key=lambda row: row["title"].lower())
    ]
    columns = ("data set", "features in the paper", "features ranked", "examples", "about")
    return PageTable("data_sets", "The data sets", columns, rows)


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
