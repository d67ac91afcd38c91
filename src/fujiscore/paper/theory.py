"""What the paper says about FUJI and Jaccard in general: their bounds, limits and values expected by chance."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, permutations
from typing import Any

import numpy as np

import fujiscore as fj
from fujiscore.paper.conventions import ROUNDING, Scores, areas, auc, chance, curve, score
from fujiscore.paper.figures import line_figure, style
from fujiscore.paper.record import Checks, Figure, Judged, PageTable, Section, check, listed, make_section

DRAWS = {3: 400, 4: 400, 5: 400, 6: 200, 7: 100}
DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, int], Scores]] = {
    "uniform": lambda rng, n: rng.random(n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "lognormal(2)": lambda rng, n: rng.lognormal(sigma=2.0, size=n),
    "Pareto(1)": lambda rng, n: rng.pareto(1.0, n),
    "Pareto(0.3)": lambda rng, n: rng.pareto(0.3, n),
}
ALPHAS = (0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-6)
PAIRS = 300
# Scores for which the reversed order is not the least similar one (from a random search).
COUNTER_R = np.array([18.8244786, 0.37929291, 0.37373685, 0.020066])
COUNTER_S = np.array([3.28700474, 0.27614207, 0.25223704, 0.13117959])
SIZES = (10, 100, 1000, 20_531)
PERMUTATIONS = 4000


def least_jaccard_auc(n: int) -> float:
    """Return the paper's closed form of the least area under a Jaccard curve."""
    return (n + (1 / n if n % 2 else 0)) / (4 * (n - 1))


def permuted(scores: Scores) -> Scores:
    """Return all orders of the scores, one row each."""
    return np.array([scores[list(order)] for order in permutations(range(scores.size))])


def bounds_section() -> Section:
    """Search for minima, and judge what the paper says about bounds."""
    minima, three, counter, violations = _jaccard_minima(), _three_items(), _counterexample(), _violations()
    ks, curves = np.arange(1, 5), {"reversed order": counter.rows[-1], "least similar order": counter.rows[0]}
    lines = [(label, ks, row[1:5], style(i)) for i, (label, row) in enumerate(curves.items())]
    caption = "FUJI against the reversed order, and against an order that is less similar: the proposition fails."
    figure = line_figure("counterexample_curves", caption, lines, xticks=ks, ylabel="FUJI")
    limit, limit_checks, limit_figure = _limit_theorem()
    checks = [*_check_definition(), *_check_jaccard(minima), *_check_fuji(three, counter, violations), *limit_checks]
    return make_section("bounds", checks, (minima, three, counter, violations, limit), (figure, limit_figure))


def _jaccard_minima() -> PageTable:
    """Return the least Jaccard area over all orders, and that of the reversed order."""
    rows = []
    for n in range(2, 8):
        r = np.arange(n, 0.0, -1.0)
        others = permuted(r)
        values = areas(r[None], others, "jaccard", ks="all")[0]
        least = values.min()
        least_at_k = [areas(r[None], others, "jaccard", ks=[k]).min() for k in range(1, n + 1)]
        below = float((curve(r, r[::-1], "jaccard") - least_at_k).max())
        reaching = int((values < least + ROUNDING).sum())
        rows.append((n, len(others), least, auc(r, r[::-1], "jaccard"), least_jaccard_auc(n), reaching, below))
    columns = ("n", "orders", "least AUC", "AUC of the reverse", "closed form", "orders that reach it", "below reverse")
    return PageTable("jaccard_minima", "Least area under the Jaccard curve, by exhaustive search", columns, rows)


def _three_items() -> PageTable:
    """Return the three-item example close to its limits."""
    r = np.array([1, 1 / 2, 1 / 3])
    rows: list[tuple[Any, ...]] = []
    for small in (0.1, 1e-3, 1e-6, 1e-9):
        s, t = np.array([1 - 2 * small, 1 - small, 1]), np.array([1 / small, 1, 1 / small**2])
        rows.append((small, *(score(r, other, k) for other in (s, t) for k in (1, 2)), auc(r, s), auc(r, t)))
    rows.append(("limit", 2 / 3, 8 / 9, 1 / 6, 5 / 9, (1 / 3 + 8 / 9 + 1 / 2) / 2, (1 / 12 + 5 / 9 + 1 / 2) / 2))
    columns = ("ε = 1/alpha", "FUJI(r,s,1)", "FUJI(r,s,2)", "FUJI(r,t,1)", "FUJI(r,t,2)", "AUC r,s", "AUC r,t")
    return PageTable("three_items", "The three-item example near its limits", columns, rows)


def _counterexample() -> PageTable:
    """Return the orders of the counterexample's scores, from the least similar to the reversed one."""
    rows = []
    for s in permuted(COUNTER_S):
        ranks = " ".join(str(rank) for rank in (-s).argsort().argsort() + 1)
        rows.append((ranks, *curve(COUNTER_R, s), auc(COUNTER_R, s)))
    rows.sort(key=lambda row: float(row[-1]))
    reverse = next(position for position, row in enumerate(rows) if row[0] == "4 3 2 1")
    columns = ("ranks of x1..x4 in s", "k = 1", "k = 2", "k = 3", "k = 4", "AUC")
    title = "Orders less similar than the reverse (last row), by FUJI"
    return PageTable("counterexample", title, columns, rows[: reverse + 1])


def _violations() -> PageTable:
    """Return how often random scores have an order less similar than the reverse, by distribution."""
    rng = np.random.default_rng(6)
    rows = []
    for name, draw in DISTRIBUTIONS.items():
        for n, draws in DRAWS.items():
            orders = permuted(np.arange(n))
            pairs = ([np.sort(draw(rng, n))[::-1] for _ in range(2)] for _ in range(draws))
            leads = np.array([reverse_lead(r, s, orders) for r, s in pairs])
            count = int((leads > ROUNDING).sum())
            rows.append((name, n, draws, count, count / draws, leads.max()))
    columns = ("scores", "n", "draws", "violations", "share", "largest AUC difference")
    return PageTable("violations", "Random scores for which the reverse is not least similar", columns, rows)


def reverse_lead(r: Scores, s: Scores, places: Scores) -> float:
    """Return by how much the reversed order's FUJI area exceeds the least one, over all orders of s's scores."""
    # Both score vectors are positive and fall. The rows of `places` are all orders, as places in s; last the reverse.
    n = r.size
    values = np.empty((n, len(places)))
    for k in range(1, n + 1):
        member_r, member_s = np.minimum(1.0, r / r[k - 1]), np.minimum(1.0, s / s[k - 1])[places]
        union = (places < k) | (np.arange(n) < k)
        # In the union one of the two memberships is 1.
        values[k - 1] = (member_r * member_s * union).sum(axis=1) / union.sum(axis=1)
    areas_of_orders = (values.sum(axis=0) - (values[0] + values[-1]) / 2) / (n - 1)
    return float(areas_of_orders[-1] - areas_of_orders.min())


def _lead(r: Scores, s: Scores) -> Scores:
    """Return FUJI minus Jaccard at every k."""
    return curve(r, s) - curve(r, s, "jaccard")


def _limit_theorem() -> tuple[PageTable, Checks, Figure]:
    """Check the theorem that Jaccard is a limit of FUJI, with scores that fall by a factor alpha per item."""
    rng = np.random.default_rng(7)
    rows = []
    for alpha in ALPHAS:
        sizes = np.repeat([3, 4, 8, 20], 20)
        pairs = ([alpha ** rng.permutation(n).astype(np.float64) for _ in range(2)] for n in sizes)
        leads = np.concatenate([_lead(r, s) for r, s in pairs])
        rows.append((alpha, sizes.size, leads.max(), min(leads.min(), 0.0)))
    columns = ("alpha", "pairs", "largest FUJI - Jaccard", "least FUJI - Jaccard")
    table = PageTable("limit_theorem", "Scores falling by a factor alpha per item: FUJI against Jaccard", columns, rows)
    alphas, _, distances, least = zip(*rows, strict=True)
    rng = np.random.default_rng(10)
    lead = min(float(_lead(*rng.random((2, int(rng.integers(2, 30))))).min()) for _ in range(PAIRS))
    falls, shown = all(after < before for before, after in pairwise(distances)), listed(distances, 2)
    checks = [
        check("limit_theorem", falls=falls, nearest=distances[-1], distances=shown, alphas=listed(alphas)),
        check("above_jaccard", least=min(lead, 0.0, *least)),
    ]
    numbers = {"alpha": alphas, "largest_distance": distances}
    caption = "The steeper the scores fall, the closer FUJI is to Jaccard: largest distance over 80 pairs."
    lines = [("largest FUJI - Jaccard", alphas, distances, style(0))]
    axes = {"xscale": "log", "yscale": "log", "xlabel": "alpha, ratio of neighbouring scores", "ylabel": "distance"}
    return table, checks, line_figure("limit_distance", caption, lines, numbers, **axes)


def _check_definition() -> Checks:
    """Check the statements on the definition, the range and the maximum."""
    rng = np.random.default_rng(8)
    curves, wrong, rescaled = [], 0, 0.0
    for _ in range(PAIRS):
        n = int(rng.integers(2, 7))
        r = rng.random(n)
        s = rng.random(n) if rng.random() < 0.7 else r**2
        curves.append(curve(r, s))
        wrong += np.array_equal(np.argsort(r), np.argsort(s)) != (auc(r, s) > 1 - ROUNDING)
        rescaled = max(rescaled, float(np.abs(curve(r * 3e-200, s * 7e150) - curves[-1]).max()))
    last = max(abs(float(values[-1]) - 1) for values in curves)
    # Both k-th scores are 0 and the sets differ.
    zeros = [1, 0, 0, 0], [0, 0, 0, 1]
    algorithm, definition = score(*zeros, 2), score(*zeros, 2, zero_tail="exclude")
    # With membership 0 for the two items outside, one shared item of three is left.
    off: Any = {"definition_off": abs(definition - 1 / 3), "algorithm_off": abs(algorithm - 1 / 3)}
    return [
        check("scale", change=rescaled, pairs=PAIRS),
        check("zero_tail", definition=definition, algorithm=algorithm, **off),
        _in_range("range", np.concatenate(curves), pairs=PAIRS),
        check("area_one", wrong=wrong, tied_off=abs(algorithm - 1), pairs=PAIRS, tied=algorithm),
        check("last_point", distance=last),
        _in_range("two_sizes", _two_sizes()),
    ]


def _in_range(key: str, values: Scores, **more: Any) -> tuple[str, Judged]:
    """Check that all values lie between 0 and 1."""
    low, high = values.min(), values.max()
    return check(key, outside=max(-low, high - 1), low=low, high=high, count=values.size, **more)


def _two_sizes() -> Scores:
    """Return FUJI at all pairs of sizes of random pairs."""
    rng = np.random.default_rng(9)
    values: list[float] = []
    for _ in range(50):
        n = int(rng.integers(2, 7))
        r, s = rng.random((2, n))
        values += [score(r, s, (k1, k2)) for k1 in range(1, n + 1) for k2 in range(1, n + 1)]
    return np.array(values)


def _check_jaccard(minima: PageTable) -> Checks:
    """Check the statements on Jaccard's minimum."""
    ns, _, least, reverse, _, reaching, below = (np.array(column) for column in zip(*minima.rows, strict=True))
    apart, orders = np.abs(least - reverse).max(), ", ".join(map(str, reaching))
    sizes = range(2, 400)
    formula = max(abs(auc(np.arange(n), np.arange(n, 0, -1), "jaccard") - least_jaccard_auc(n)) for n in sizes)
    large = auc(np.arange(100_001.0), np.arange(100_001.0)[::-1], "jaccard")
    return [
        check("jaccard_minimum", apart=apart, most_orders=reaching.max(), n=ns[-1], orders=orders),
        check("jaccard_points", below=below.max()),
        check("jaccard_formula", n=sizes[-1], apart=formula),
        check("jaccard_quarter", off=abs(large - 0.25), area=large),
    ]


def _check_fuji(three: PageTable, counter: PageTable, violations: PageTable) -> Checks:
    """Check the statements on FUJI's minimum."""
    least, reverse = counter.rows[0][-1], counter.rows[-1][-1]
    shares = "; ".join(
        f"{name} {', '.join(f'{row[4]:.1%}' for row in violations.rows if row[0] == name)}" for name in DISTRIBUTIONS
    )
    count, draws = (sum(row[column] for row in violations.rows) for column in (3, 2))
    seen: Any = {"violations": count, "draws": draws, "sizes": listed(DRAWS), "shares": shares}
    near, limits = three.rows[-2:]
    distance = np.abs(np.subtract(near[1:5], limits[1:5])).max()
    steep = 1000.0 ** -np.arange(6.0)
    lead = float(_lead(steep, steep[::-1])[:-1].min())
    steep[-1] = 0.0
    reached = (np.flatnonzero(_lead(steep, steep[::-1])[:-1] == 0) + 1).tolist()
    shown = " and ".join(map(str, reached))
    return [
        check("fuji_minimum", lead=reverse - least, least=least, reverse=reverse, **seen),
        check("limits", distance=distance),
        check("not_reversed", other=near[6], reverse=near[5]),
        check("no_minimum", lead=lead, touching=len(reached), reached=shown),
    ]


def chance_section() -> Section:
    """Compute chance levels, and judge what the paper says about them."""
    exact = {n: fj.stats.expected_jaccard(n) for n in SIZES}
    rough = {n: fj.stats.expected_jaccard(n, method="paper") for n in SIZES}
    errors: list[tuple[float, ...]] = []
    for n in SIZES:
        error = np.abs(exact[n] - rough[n])
        kinds = (error, error / exact[n])
        errors.append((n, *(part for kind in kinds for part in (kind.max(), int(kind.argmax()) + 1)), exact[n][0]))
    columns = ("n", "largest error", "at k", "largest relative error", "at k ", "exact at k = 1")
    table = PageTable("expected_jaccard", "Error of k/(2n - k) as the expected Jaccard index", columns, errors)
    moments = _moments()
    checks = [*_check_expected_jaccard(exact[100], errors), _check_moments(moments), *_check_work()]
    drawn = (_jaccard_figure(exact, rough), _fuji_figure(moments))
    return make_section("chance", checks, (table,), drawn)


def _moments() -> dict[str, Scores]:
    """Return FUJI's moments in closed form and from permutations, for 60 items with power-law scores."""
    r, s = (np.random.default_rng(seed).pareto(1.5, 60) for seed in (1, 2))
    null = chance(r, s, permutations=PERMUTATIONS)
    assert null.permutations is not None  # noqa: S101
    drawn = {"permutation_mean": null.permutations.mean, "permutation_variance": null.permutations.variance}
    return {"k": null.ks, "expected": null.expected, "variance": null.variance, **drawn}


def _jaccard_figure(exact: dict[int, Scores], rough: dict[int, Scores]) -> Figure:
    """Return the relative error of the approximation over k/n."""
    sizes = SIZES[:3]
    blocks = [(np.full(n, n), np.arange(1, n + 1), exact[n], rough[n]) for n in sizes]
    numbers = dict(zip(("n", "k", "exact", "approximation"), np.concatenate(blocks, axis=1), strict=True))
    rows = [
        (f"n = {n}", np.arange(1, n + 1) / n, rough[n] / exact[n], style(index, "jaccard", marker=""))
        for index, n in enumerate(sizes)
    ]
    caption = "The approximation k/(2n - k) divided by the exact expectation of Jaccard: one half at k = 1."
    axes = {"xscale": "log", "xlabel": "k / n", "ylabel": "approximation / exact"}
    return line_figure("approximation", caption, rows, numbers, **axes)


def _fuji_figure(moments: dict[str, Scores]) -> Figure:
    """Return the exact expectation of FUJI with its standard deviation, and the means of permutations."""
    ks, expected, variance, mean, _ = moments.values()
    reach = 2 * np.sqrt(variance)
    band = ("± 2 sd, exact", ks, np.maximum(expected - reach, 0.0), np.minimum(expected + reach, 1.0))
    rows = [
        ("expectation, exact", ks, expected, style(0, marker="")),
        ("mean of permutations", ks, mean, style(0, color="black", ls="none", ms=3)),
    ]
    caption = f"FUJI by chance, 60 items, power-law scores: closed form, and {PERMUTATIONS} permutations."
    return line_figure("expected_fuji", caption, rows, moments, band=band, ylabel="FUJI by chance")


def _check_expected_jaccard(exact: Scores, errors: list[tuple[float, ...]]) -> Checks:
    """Check the statements on Jaccard's expectation."""
    n, _, _, relative, *_ = errors[-1]
    by_size = ", ".join(f"{row[1]:.2g} (n = {row[0]})" for row in errors)
    error = max(row[1] for row in errors if row[0] >= 100)
    return [
        check("depends_on_k", step=np.diff(exact).min(), first=exact[0], n=exact.size),
        check("approximation", error=error, relative=relative, errors=by_size, n=n),
        check("exact_is_slow", terms=overlap_terms(SIZES[-1]), curve=memberships(SIZES[-1]), n=n),
    ]


def overlap_terms(n: int) -> int:
    """Return the number of terms of the expected Jaccard index over all k: the overlaps that two top k can have."""
    ks = np.arange(1, n + 1)
    return int((ks - np.maximum(0, 2 * ks - n) + 1).sum())


def memberships(n: int) -> int:
    """Return how many memberships the paper's algorithm evaluates for the FUJI curve of reversed rankings."""
    # At each k two per item of the symmetric difference of the top sets.
    ks = np.arange(1, n + 1)
    jaccard = curve(ks, ks[::-1], "jaccard")
    shared = np.rint(2 * ks * jaccard / (1 + jaccard))
    return int((2 * 2 * (ks - shared)).sum())


def _check_moments(moments: dict[str, Scores]) -> tuple[str, Judged]:
    """Check the statement on FUJI's expectation."""
    _, expected, variance, mean, drawn_variance = (column[:-1] for column in moments.values())
    r, s = (np.random.default_rng(seed).random(expected.size + 1) for seed in (1, 2))
    apart = np.abs(chance(r, s).expected[:-1] - expected).max()
    errors = (np.abs(mean - expected) / np.sqrt(variance / PERMUTATIONS)).max()
    ratio = np.abs(drawn_variance / np.maximum(variance, 1e-300) - 1).max()
    return check("fuji_chance", apart=apart, errors=errors, ratio=ratio, permutations=PERMUTATIONS)


def _check_work() -> Checks:
    """Check the statements on the algorithm's cost by counting the memberships that it evaluates."""
    counts = {n: memberships(n) for n in (1000, 2000, 4000)}
    growth = counts[4000] / counts[2000]
    shown = ", ".join(f"{count:,} (n = {n})" for n, count in counts.items())
    r, s = np.random.default_rng(11).random((2, 4000))
    apart = np.abs(running_sums(r, s) - curve(r, s)).max()
    moved = 2 * 4000  # each item joins the symmetric difference once and leaves it once
    return [
        check("quadratic", growth=growth, apart=apart, counts=shown),
        check("more_efficient", fuji=counts[4000] + moved, jaccard=moved),
    ]


def running_sums(r: Scores, s: Scores) -> Scores:
    """Return the FUJI curve of distinct positive scores in one pass: each item enters and leaves the sums once."""
    n = r.size
    ranks_r, ranks_s = np.argsort(np.argsort(-r)), np.argsort(np.argsort(-s))
    first, last = np.minimum(ranks_r, ranks_s), np.maximum(ranks_r, ranks_s)
    shared = np.cumsum(np.bincount(last, minlength=n))
    near = np.zeros(n)
    for scores, early in ((s, ranks_r < ranks_s), (r, ranks_s < ranks_r)):
        steps = np.bincount(first[early], scores[early], n) - np.bincount(last[early], scores[early], n)
        near += np.cumsum(steps) / np.sort(scores)[::-1]
    curve_values: Scores = (shared + near) / (2 * np.arange(1, n + 1) - shared)
    return curve_values
