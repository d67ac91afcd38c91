"""One result of every public kind, with names of one's choice: what tests of how results show themselves go through."""

from __future__ import annotations

import inspect

import numpy as np

import fujiscore as fj
from fujiscore.pair.gates import Verdict
from fujiscore.runs.gates import judge

# Names that are no ordinary text.
HOSTILE = [
    "<script>alert(1)</script>",
    "\" onload='x' <img src=x onerror=alert(1)>",
    "]]> <!-- &amp; &lt;",
    "x" * 500,
    "😀" * 100,
    "שלום עולם",
    "right\u202eleft",
    "\x1b[31mred\x00\x07",
    "two\nlines\r\t",
    "$x_1$ & \\frac{1}{2} % # ^ ~",
    "[a]*",
    "a|b `code` **bold**",
    "名前",
    "Z" + "\u0301" * 300,
    "lone\udcff",
    "",
]
# Public classes that are not results.
NO_RESULTS = {"Column", "Properties"}


def public_classes():
    """Return the public classes of results by name, and those of the gates."""
    public = {name: getattr(fj.results, name) for name in fj.results.__all__ if name not in NO_RESULTS}
    return {**public, "Ranking": fj.Ranking, "Rankings": fj.Rankings, "Verdict": Verdict}


def public_functions():
    """Return the public functions by name."""
    public = {name: getattr(module, name) for module in (fj, fj.stats) for name in module.__all__}
    return {name: value for name, value in public.items() if inspect.isfunction(value)}


def gallery(items, names, seed=0):
    """Return one result of every public class, of rankings of the items; `names` name three rankings or more."""
    rng = np.random.default_rng(seed)
    truth = np.sort(rng.lognormal(size=len(items)))[::-1]
    scores = {name: dict(zip(items, truth * rng.lognormal(size=truth.size), strict=True)) for name in names}
    rankings = fj.rankings(scores)
    first, second, *_ = rankings
    matrix = fj.pairwise(rankings, corrected=True)
    steady = fj.stability(rankings)
    ks = "all" if len(items) < 100 else "exp"
    permuted = fj.chance(first, second, "krizek", ks=ks, permutations=20)
    comparison = fj.compare(first, second, k=[min(2, len(items))])
    some = {name: dict(list(scores[name].items())[:50]) for name in names[:2]}
    runs = fj.compare_runs(
        {"q1": some[names[0]], names[2]: some[names[1]]}, {"q1": some[names[1]], names[2]: some[names[1]]}, k=2
    )
    X = np.random.default_rng(seed).normal(size=(40, 4))
    features = [*items[:3], "noise"]
    study = fj.study(
        X, X[:, 0] > 0, ["relief", "mutual_information"], features=features, resamples=4, permutations=9, trees=5
    )
    drift = fj.drift(first, second, reference_resamples=rankings, current_resamples=rankings)
    chosen = [set(items[: 2 + i]) for i in range(4)]
    sets = fj.stats.set_stability(chosen, n=len(items) + 5)
    return [
        comparison,
        comparison["fuji"],
        comparison.levels()[0],
        fj.chance(first, second, ks=ks),
        permuted,
        permuted.permutations,
        fj.bounds(dict(list(scores[names[0]].items())[:-1]), scores[names[1]]),
        fj.rbo(scores[names[0]], scores[names[1]]),
        fj.explain(first, second, min(3, len(items))),
        matrix,
        fj.pairwise(rankings, p_values=True),
        matrix.dendrogram(),
        matrix.embed(),
        steady,
        steady.ranks(2),
        fj.stability_curve(rankings),
        fj.stats.compare_stability(rankings, rankings, paired=True),
        fj.stats.resampled_similarity(rankings, rankings, paired=True),
        fj.stats.compare_pairs(rankings, rankings, rankings, paired=True),
        fj.consensus(rankings),
        fj.stats.sequential_rank_agreement(rankings, permutations=9, ks=ks),
        fj.recall(scores[names[0]], scores[names[1]], 2),
        runs,
        study,
        study.top[0],
        sets,
        sets.test(0.2),
        first,
        rankings,
        fj.MEASURES["rbo"],
        judge(runs, fail_under=0.5),
        drift,
        drift.noise,
        drift.changes[0],
    ]
