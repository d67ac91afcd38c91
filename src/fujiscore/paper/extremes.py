"""How low Jaccard and FUJI can be: exhaustive minima, closed form, the limit theorem, and a counterexample."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore as fj
from fujiscore.paper import pictures
from fujiscore.paper.record import Claim, Picture, Section, Table, columns_table, judge, listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Scores = NDArray[Any]

EXHAUSTIVE = range(2, 8)
DRAWS = {3: 400, 4: 400, 5: 200}
ROUNDING = 1e-12
ALPHAS = (0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-6)
# Scores for which the reversed order is not the least similar one (found by random search).
COUNTER_R = np.array([18.8244786, 0.37929291, 0.37373685, 0.020066])
COUNTER_S = np.array([3.28700474, 0.27614207, 0.25223704, 0.13117959])


def least_jaccard_auc(n: int) -> float:
    """Return the paper's closed form of the least area under a Jaccard curve."""
    return (n + (1 / n if n % 2 else 0)) / (4 * (n - 1))


def dealt(scores: Scores) -> Scores:
    """Return all orders of the scores, a row each."""
    return np.array([scores[list(order)] for order in permutations(range(scores.size))])


def areas(r: Scores, others: Scores, measure: str = "fuji", ks: Any = "all") -> Scores:
    """Return the area under the curve of r against each row."""
    found: Scores = fj.pairwise(r[None], others, measure=measure, ks=ks, n_jobs=1, progress=False).values[0]
    return found


def section() -> Section:
    """Search for minima, and judge what the paper says about bounds."""
    minima = _jaccard_minima()
    violations = _violations()
    limit = _limit_theorem()
    tables = (minima, _three_items(), _counterexample(), violations, limit)
    drawn = _sample()
    claims = [
        *_definition_claims(drawn),
        *_maximum_claims(drawn),
        *_jaccard_claims(minima),
        *_fuji_claims(violations),
        *_limit_claims(limit),
    ]
    text = (
        "Jaccard's minimum by exhaustive search over all orders, against the paper's closed form; FUJI's behaviour "
        "near its lower bound; and the paper's proposition on the ranking least similar by FUJI, which is false as "
        "stated: two items that are only near misses of each other can earn more than one shared item and two far "
        "misses."
    )
    return Section("Bounds", (text,), tables, (_counter_picture(), _limit_picture(limit)), claims)


def _jaccard_minima() -> Table:
    """Return the least Jaccard area over all orders, and how the reversed order does."""
    rows = []
    for n in EXHAUSTIVE:
        r = np.arange(n, 0.0, -1.0)
        others = dealt(r)
        found = areas(r, others, "jaccard")
        least = found.min()
        backwards = fj.auc(r, r[::-1], "jaccard")
        reaching = int((found < least + ROUNDING).sum())
        at_k = [areas(r, others, "jaccard", [k]).min() for k in range(1, n + 1)]
        below = float((fj.curve(r, r[::-1], "jaccard").values - at_k).max())
        rows.append((n, len(others), least, backwards, least_jaccard_auc(n), reaching, below))
    columns = ("n", "orders", "least AUC", "AUC of the reverse", "closed form", "orders that reach it", "below reverse")
    return Table("jaccard_minima", "Least area under the Jaccard curve, by exhaustive search", columns, rows)


def _three_items() -> Table:
    """Return the three-item example close to its limits."""
    r = np.array([1, 1 / 2, 1 / 3])
    rows: list[tuple[Any, ...]] = []
    for small in (0.1, 1e-3, 1e-6, 1e-9):
        s, t = np.array([1 - 2 * small, 1 - small, 1]), np.array([1 / small, 1, 1 / small**2])
        rows.append((small, *(fj.fuji(r, other, k) for other in (s, t) for k in (1, 2)), fj.auc(r, s), fj.auc(r, t)))
    rows.append(("limit", 2 / 3, 8 / 9, 1 / 6, 5 / 9, (1 / 3 + 8 / 9 + 1 / 2) / 2, (1 / 12 + 5 / 9 + 1 / 2) / 2))
    columns = ("ε = 1/alpha", "FUJI(r,s,1)", "FUJI(r,s,2)", "FUJI(r,t,1)", "FUJI(r,t,2)", "AUC r,s", "AUC r,t")
    return Table("three_items", "The three-item example near its limits", columns, rows)


def _counterexample() -> Table:
    """Return the orders of the counterexample's scores, from the least similar to the reversed one."""
    others = dealt(COUNTER_S)
    found = areas(COUNTER_R, others)
    order = np.argsort(found, kind="stable")
    ranks = [" ".join(str(rank) for rank in (-others[i]).argsort().argsort() + 1) for i in order]
    rows = []
    for i, rank in zip(order, ranks, strict=True):
        values = fj.curve(COUNTER_R, others[i]).values
        rows.append((rank, *values, found[i]))
        if rank == "4 3 2 1":
            break
    columns = ("ranks of x1..x4 in s", "k = 1", "k = 2", "k = 3", "k = 4", "AUC")
    return Table("counterexample", "Orders less similar than the reverse (last row), by FUJI", columns, rows)


def _violations() -> Table:
    """Return how often random scores have an order less similar than the reverse."""
    rng = np.random.default_rng(6)
    rows = []
    for n, draws in DRAWS.items():
        count, worst = 0, 0.0
        for _ in range(draws):
            r = np.sort(rng.pareto(1.0, n))[::-1].copy()
            s = np.sort(rng.pareto(1.0, n))
            lead = float(fj.auc(r, s) - areas(r, dealt(s)).min())
            count += lead > ROUNDING
            worst = max(worst, lead)
        rows.append((n, draws, count, count / draws, worst))
    columns = ("n", "draws", "violations", "share", "largest AUC difference")
    return Table("violations", "Random Pareto scores for which the reverse is not least similar", columns, rows)


def _limit_theorem() -> Table:
    """Return the largest distance of FUJI from Jaccard when scores fall by a factor alpha an item."""
    rng = np.random.default_rng(7)
    rows = []
    for alpha in ALPHAS:
        apart, below, pairs = 0.0, 0.0, 0
        for n in (3, 4, 8, 20):
            for _ in range(20):
                r, s = (alpha ** rng.permutation(n).astype(np.float64) for _ in range(2))
                lead = fj.curve(r, s).values - fj.curve(r, s, "jaccard").values
                apart, below, pairs = max(apart, float(lead.max())), min(below, float(lead.min())), pairs + 1
        rows.append((alpha, pairs, apart, below))
    columns = ("alpha", "pairs", "largest FUJI - Jaccard", "least FUJI - Jaccard")
    return Table("limit_theorem", "Scores falling by a factor alpha an item: FUJI against Jaccard", columns, rows)


def _counter_picture() -> Picture:
    """Return the two curves of the counterexample."""
    others = dealt(COUNTER_S)
    least = others[int(areas(COUNTER_R, others).argmin())]
    ks = np.arange(1, 5)
    lines = {"reversed order": fj.curve(COUNTER_R, COUNTER_S[::-1]).values}
    lines["least similar order"] = fj.curve(COUNTER_R, least).values
    caption = "FUJI against the reversed order, and against an order that is less similar: the proposition fails."
    return Picture(
        "counterexample_curves",
        caption,
        (5.2, 3.2),
        lambda figure: pictures.two_lines(figure, ks, lines),
        columns_table("counterexample_curves", caption, {"k": ks, **lines}),
    )


def _limit_picture(limit: Table) -> Picture:
    """Return the distance of FUJI from Jaccard over alpha."""
    alphas, apart = ([row[at] for row in limit.rows] for at in (0, 2))
    caption = "The steeper the scores fall, the nearer FUJI comes to Jaccard: largest distance over 80 pairs."
    numbers = columns_table("limit_distance", caption, {"alpha": alphas, "largest_distance": apart})
    return Picture("limit_distance", caption, (5.2, 3.2), lambda figure: pictures.limit(figure, alphas, apart), numbers)


@dataclass(frozen=True)
class _Sample:
    """What random pairs of rankings with distinct positive scores show."""

    tried: int
    exceptions: int
    last: float
    least: float
    most: float
    rescaled: float


def _sample() -> _Sample:
    """Draw pairs of 2 to 6 items, a third of them in the same order."""
    rng = np.random.default_rng(8)
    tried, wrong, last, least, most, scaled = 300, 0, 0.0, 1.0, 0.0, 0.0
    for _ in range(tried):
        n = int(rng.integers(2, 7))
        r = rng.random(n)
        s = rng.random(n) if rng.random() < 0.7 else r**2
        values = fj.curve(r, s).values
        same = bool(np.array_equal(np.argsort(r), np.argsort(s)))
        wrong += same != (fj.auc(r, s) > 1 - ROUNDING)
        last = max(last, abs(float(values[-1]) - 1))
        least, most = min(least, float(values.min())), max(most, float(values.max()))
        scaled = max(scaled, float(np.abs(fj.curve(r * 3e-200, s * 7e150).values - values).max()))
    return _Sample(tried, wrong, last, least, most, scaled)


def _tied() -> tuple[float, float]:
    """Return FUJI where both k-th scores are 0 and the sets differ: by the algorithm, and by the definition."""
    r, s = [1, 0, 0, 0], [0, 0, 0, 1]
    return fj.fuji(r, s, 2), fj.fuji(r, s, 2, zero_tail="exclude")


def _definition_claims(drawn: _Sample) -> list[Claim]:
    """Judge the statements on the definition."""
    tied = _tied()
    return [
        Claim(
            "Method definition",
            "FUJI does not depend on the scale of either ranking's scores.",
            judge(f"largest change under factors 3e-200 and 7e150: {drawn.rescaled:.0e}", holds=drawn.rescaled < 1e-12),
            f"Curves of {drawn.tried} random pairs before and after.",
        ),
        Claim(
            "Method definition",
            "An item outside a top set whose last score is 0 has membership 0 (the definition).",
            judge(
                f"by the definition FUJI of r = (1, 0, 0, 0), s = (0, 0, 0, 1) at k = 2 is {tied[1]:.3g}; the paper's "
                f"algorithm and its argument for stopping early take membership 1 there and give {tied[0]:.3g}",
                holds=abs(tied[0] - tied[1]) < ROUNDING,
            ),
            "fj.fuji with zero_tail='exclude' (definition) and 'include' (algorithm and published results).",
        ),
    ]


def _maximum_claims(drawn: _Sample) -> list[Claim]:
    """Judge the statements on the range and the maximum."""
    source = "Boundedness and maximum"
    tied, (inside, sizes) = _tied(), _two_sizes()
    return [
        Claim(
            source,
            "FUJI lies between 0 and 1.",
            judge(
                f"values from {drawn.least:.3f} to {drawn.most:.3f}",
                holds=drawn.least >= 0 and drawn.most <= 1 + ROUNDING,
            ),
            f"All points of the curves of {drawn.tried} random pairs.",
        ),
        Claim(
            source,
            "The area under the FUJI curve is 1 exactly if both rankings order all items alike.",
            judge(
                f"{drawn.exceptions} exceptions in {drawn.tried} pairs with distinct positive scores; with ties at 0 "
                f"different orders reach 1 (FUJI {tied[0]:.3g} at k = 2 above)",
                holds=drawn.exceptions == 0,
                caveat=tied[0] > 1 - ROUNDING,
            ),
            "Random pairs of 2 to 6 items, a third of them in the same order.",
        ),
        Claim(
            source,
            "At k = n both FUJI and Jaccard are 1.",
            judge(f"largest distance from 1: {drawn.last:.0e}", holds=drawn.last < ROUNDING),
            "The last point of the same curves.",
        ),
        Claim(
            "Fully defined",
            "FUJI extends to top sets of different sizes.",
            judge(sizes, holds=inside),
            "fj.fuji at every (k1, k2) for 50 random pairs of 2 to 6 items.",
        ),
    ]


def _two_sizes() -> tuple[bool, str]:
    """Return whether FUJI has a value between 0 and 1 at all pairs of sizes."""
    rng = np.random.default_rng(9)
    values = []
    for _ in range(50):
        n = int(rng.integers(2, 7))
        r, s = rng.random((2, n))
        values += [fj.fuji(r, s, (k1, k2)) for k1 in range(1, n + 1) for k2 in range(1, n + 1)]
    inside = all(0 <= value <= 1 + ROUNDING for value in values)
    return inside, f"{len(values)} values, from {min(values):.3f} to {max(values):.3f}"


def _jaccard_claims(minima: Table) -> list[Claim]:
    """Judge the statements on Jaccard's minimum."""
    source = "Lower bounds"
    rows = minima.rows
    apart = max(abs(row[2] - row[3]) for row in rows)
    sizes = range(2, 400)
    formula = max(abs(fj.auc(np.arange(n), np.arange(n, 0, -1), "jaccard") - least_jaccard_auc(n)) for n in sizes)
    large = fj.auc(np.arange(100_001.0), np.arange(100_001.0)[::-1], "jaccard")
    return [
        Claim(
            source,
            "By Jaccard, the reversed order is least similar to a ranking.",
            judge(
                f"the reverse reaches the least area for n = 2 to {rows[-1][0]} (difference {apart:.0e}); it is not "
                f"alone: {', '.join(str(row[5]) for row in rows)} orders reach it",
                holds=apart < ROUNDING,
                caveat=rows[-1][5] > 1,
            ),
            f"All orders of up to {rows[-1][0]} items.",
        ),
        Claim(
            source,
            "No point of any Jaccard curve lies below the curve of the reversed order.",
            judge(f"deepest point below: {max(row[6] for row in rows):.0e}", holds=max(row[6] for row in rows) <= 0),
            f"The least value at each k over all orders of up to {rows[-1][0]} items.",
        ),
        Claim(
            source,
            "The least area under a Jaccard curve is (n² + 1)/(4n(n - 1)) for odd n and n/(4(n - 1)) for even n.",
            judge(f"largest difference from the formula: {formula:.0e}", holds=formula < ROUNDING),
            f"Exhaustive for n up to {rows[-1][0]}, the reversed order for n up to {sizes[-1]}.",
        ),
        Claim(
            source,
            "The least area under a Jaccard curve tends to 1/4 as n grows.",
            judge(f"{large:.6f} at n = 100,001", holds=abs(large - 0.25) < 1e-4),
            "The area of a reversed ranking.",
        ),
    ]


def _fuji_claims(violations: Table) -> list[Claim]:
    """Judge the statements on FUJI's minimum."""
    others = dealt(COUNTER_S)
    found = areas(COUNTER_R, others)
    backwards = fj.auc(COUNTER_R, COUNTER_S[::-1])
    shares = ", ".join(f"{row[3]:.1%} (n = {row[0]})" for row in violations.rows)
    rows = _three_items().rows
    near = max(abs(a - b) for a, b in zip(rows[-2][1:5], rows[-1][1:5], strict=True))
    zero = _attained()
    return [
        Claim(
            "Lower bounds, proposition on FUJI",
            "Among all orders of fixed scores, the reversed one is least similar by FUJI.",
            judge(
                f"AUC {found.min():.4f} against {backwards:.4f} for the reverse in the counterexample, and "
                f"violated by random scores in {shares}",
                holds=found.min() > backwards - ROUNDING,
            ),
            "All 24 orders of the counterexample's scores, and all orders for random Pareto scores.",
        ),
        Claim(
            "Lower bounds, three-item example",
            "With free scores FUJI has the limits 2/3, 8/9 (reversed) and 1/6, 5/9 (not reversed).",
            judge(f"at ε = 1e-9 all four are within {near:.0e}", holds=near < 1e-6),
            "r = (1, 1/2, 1/3), s = (1 - 2ε, 1 - ε, 1), t = (1/ε, 1, 1/ε²).",
        ),
        Claim(
            "Lower bounds, three-item example",
            "With free scores a ranking that is not reversed can be less similar than a reversed one.",
            judge(f"AUC {rows[-2][6]:.4f} against {rows[-2][5]:.4f}", holds=rows[-2][6] < rows[-2][5]),
            "The areas of the same example at ε = 1e-9.",
        ),
        Claim(
            "Lower bounds, proposition on minimising pairs",
            "For no k < n is there a pair of rankings that minimises FUJI.",
            judge(
                f"holds for positive scores: FUJI minus Jaccard of the reversed order is positive at every k < n "
                f"(least {zero[0]:.1e}). With a score of 0, which the definitions allow, Jaccard's least value is "
                f"reached at {zero[1]} when n = 6",
                holds=zero[0] > 0,
                caveat=bool(zero[1]),
            ),
            "Reversed rankings with scores falling by a factor of 1000 an item, with the last score kept or set to 0.",
        ),
    ]


def _attained() -> tuple[float, str]:
    """Return FUJI's least lead over Jaccard with positive scores, and where a last score of 0 leaves none."""
    r = 1000.0 ** -np.arange(6.0)
    lead = fj.curve(r, r[::-1]).values - fj.curve(r, r[::-1], "jaccard").values
    r[-1] = 0.0
    zero = fj.curve(r, r[::-1]).values - fj.curve(r, r[::-1], "jaccard").values
    reached = [str(k) for k in range(1, 6) if zero[k - 1] == 0]
    return float(lead[:-1].min()), f"k = {' and '.join(reached)}" if reached else ""


def _limit_claims(limit: Table) -> list[Claim]:
    """Judge the theorem that Jaccard is a limit of FUJI."""
    rows = limit.rows
    falls = all(after[2] < before[2] for before, after in pairwise(rows))
    rng = np.random.default_rng(10)
    lead = np.inf
    for _ in range(300):
        r, s = rng.random((2, int(rng.integers(2, 30))))
        lead = min(lead, float((fj.curve(r, s).values - fj.curve(r, s, "jaccard").values).min()))
    return [
        Claim(
            "Lower bounds, theorem",
            "For any two orders there are scores that bring FUJI as near to Jaccard as one likes.",
            judge(
                f"largest distance {listed((row[2] for row in rows), 2)} at alpha = {listed(row[0] for row in rows)}",
                holds=falls and rows[-1][2] < 1e-5,
            ),
            "Random orders of 3 to 20 items, scores falling by a factor alpha an item.",
        ),
        Claim(
            "Lower bounds, theorem",
            "FUJI is never below Jaccard.",
            judge(f"least lead: {min(lead, 0.0, *(row[3] for row in rows)):.1g}", holds=lead >= -ROUNDING),
            "All points of 300 random pairs, and of the pairs above.",
        ),
    ]
