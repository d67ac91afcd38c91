"""Slow, exact, item by item: every measure of two top sets from its definition, in rational numbers.

Pure Python; nothing of the package, and no NumPy. Scores are lists of floats, results are fractions, or NaN where a
measure is undefined. Only square roots and logarithms are rounded, at some 200 bits.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from math import inf, isnan, isqrt, nan

ZERO, ONE = Fraction(0), Fraction(1)


def order(scores):
    """Return the items from best to worst; equal scores keep the items' order."""
    return sorted(range(len(scores)), key=lambda x: scores[x], reverse=True)


def top(scores, k, ties="closed"):
    """Return the set of the k best items; closed: of all items that score at least the k-th best score."""
    best = order(scores)
    if ties == "closed":
        kth = scores[best[k - 1]]
        return {x for x in best if scores[x] >= kth}
    return set(best[:k])


def positive_part(score):
    """Return the score as a fraction, negative ones as 0."""
    return Fraction(score) if score > 0 else ZERO


def memberships(scores, inside, items, zero_tail="include"):
    """Return each item's membership in a top set: 1 inside; outside, its score over the set's last score."""
    kth = min(positive_part(scores[x]) for x in inside)
    result = {}
    for x in items:
        if x in inside:
            result[x] = ONE
        elif kth > 0:
            result[x] = positive_part(scores[x]) / kth
        else:
            result[x] = ONE if zero_tail == "include" else ZERO
    return result


class Pair:
    """Two rankings, and a top set of each; `asked` are the sizes before tied items enter."""

    def __init__(self, r, s, k, *, ties="closed", zero_tail="include"):
        self.asked = k1, k2 = k if isinstance(k, tuple) else (k, k)
        self.r, self.s, self.n, self.ties = r, s, len(r), ties
        self.zero_tail = zero_tail
        self.top_r, self.top_s = self.tops(k1, k2)
        self.union = self.top_r | self.top_s
        self.k1, self.k2 = len(self.top_r), len(self.top_s)
        self.h = len(self.top_r & self.top_s)
        self.expected = Fraction(self.k1 * self.k2, self.n)
        self.same = self.top_r == self.top_s

    def tops(self, k1, k2):
        """Return the top sets of both; capped ones hold positive scores only."""
        both = top(self.r, k1, self.ties), top(self.s, k2, self.ties)
        if self.zero_tail == "cap":
            both = tuple({x for x in own if scores[x] > 0} for own, scores in zip(both, (self.r, self.s), strict=True))
        return both


def fuji(p):
    in_r = memberships(p.r, p.top_r, p.union, p.zero_tail)
    in_s = memberships(p.s, p.top_s, p.union, p.zero_tail)
    return sum(min(in_r[x], in_s[x]) for x in p.union) / sum(max(in_r[x], in_s[x]) for x in p.union)


def jaccard(p):
    return Fraction(p.h, len(p.union))


def hamming(p):
    return 1 - Fraction(len(p.top_r ^ p.top_s), p.n)


def pog(p):
    return Fraction(p.h, p.k1)


def unless_forced(formula):
    """Make a measure 1 for equal sets and 0 for others where one set holds all items: the formula is 0/0 there."""

    def value(p):
        if max(p.k1, p.k2) == p.n:
            return ONE if p.same else ZERO
        return formula(p)

    return value


@unless_forced
def npog(p):
    return (p.h - p.expected) / (p.k1 - p.expected)


def only_for_equal_sizes(formula):
    """Make a measure NaN where tied items make the sets differ in size; sizes that were asked for must be equal."""

    def value(p):
        if p.asked[0] != p.asked[1]:
            raise ValueError("this measure needs sets of equal size")
        return formula(p) if p.k1 == p.k2 else nan

    return value


@only_for_equal_sizes
@unless_forced
def kuncheva(p):
    chance = Fraction(p.k1**2, p.n)
    return (p.h - chance) / (p.k1 - chance)


@unless_forced
def lustgarten(p):
    return (p.h - p.expected) / (min(p.k1, p.k2) - max(0, p.k1 + p.k2 - p.n))


@unless_forced
def wald(p):
    return (p.h - p.expected) / (min(p.k1, p.k2) - p.expected)


@only_for_equal_sizes
def krizek(p):
    return ONE if p.same else ZERO


@unless_forced
def cwrel(p):
    """Somol and Novovičová's long formula for two sets."""
    n, total = p.n, p.k1 + p.k2
    d, parity = total % n, total % 2
    above = n * (total - d + 2 * p.h) - total**2 + d**2
    below = n * (parity**2 + 2 * (total - parity) - d) - total**2 + d**2
    return Fraction(above, below)


@unless_forced
def pearson(p):
    share_r, share_s = Fraction(p.k1, p.n), Fraction(p.k2, p.n)
    return (p.h - p.expected) / (p.n * root(share_r * (1 - share_r) * share_s * (1 - share_s)))


def correlation(p):
    """Pearson's correlation of the raw scores over the union; -inf as the least finite score; 1 if undefined."""
    r, s = finite(p.r), finite(p.s)
    size = len(p.union)
    mean_r, mean_s = sum(r[x] for x in p.union) / size, sum(s[x] for x in p.union) / size
    var_r = sum((r[x] - mean_r) ** 2 for x in p.union)
    var_s = sum((s[x] - mean_s) ** 2 for x in p.union)
    if var_r == 0 or var_s == 0:
        return ONE
    return sum((r[x] - mean_r) * (s[x] - mean_s) for x in p.union) / root(var_r * var_s)


def gamma(p):
    """Goodman and Kruskal's gamma of the ranks over the union, pair by pair; 1 if no pair counts."""
    concordant = discordant = 0
    for x, y in combinations(p.union, 2):
        in_r, in_s = compared(p.r[x], p.r[y]), compared(p.s[x], p.s[y])
        concordant += in_r * in_s > 0
        discordant += in_r * in_s < 0
    if concordant + discordant == 0:
        return ONE
    return Fraction(concordant - discordant, concordant + discordant)


def compared(a, b):
    """Return 1, 0 or -1 as a is greater, equal or less."""
    return (a > b) - (a < b)


def finite(scores):
    """Return the scores as fractions, -inf replaced by the least finite score."""
    least = min((x for x in scores if x > -inf), default=0)
    return [Fraction(max(x, least)) for x in scores]


def root(x):
    """Return the square root of a positive fraction, to 200 bits."""
    product = x.numerator * x.denominator
    bits = max(0, 200 - product.bit_length() // 2)
    return Fraction(isqrt(product << 2 * bits), x.denominator << bits)


def dice(p):
    return Fraction(2 * p.h, p.k1 + p.k2)


def ochiai(p):
    return p.h / root(Fraction(p.k1 * p.k2))


@unless_forced
def kappa(p):
    return (p.h - p.expected) / (Fraction(p.k1 + p.k2, 2) - p.expected)


def agreements(p):
    """Return, for each depth up to k, how much the top sets have in common, over their mean size."""
    if p.asked[0] != p.asked[1]:
        raise ValueError("lists are cut at one depth")
    tops = [p.tops(d, d) for d in range(1, p.asked[0] + 1)]
    return [Fraction(2 * len(a & b), len(a) + len(b)) for a, b in tops]


def average_overlap(p):
    return sum(agreements(p)) / p.asked[0]


def rbo(p):
    """Rank-biased overlap with persistence 0.9, extrapolated as if the last agreement went on for ever."""
    persistence, agreement = Fraction(9, 10), agreements(p)
    seen = sum(persistence**d * agreed for d, agreed in enumerate(agreement))
    return (1 - persistence) * seen + persistence ** p.asked[0] * agreement[-1]


def kendall(p):
    """Kendall's tau-b of the scores over the union; NaN if undefined."""
    return signed_tau(p, lambda _x, _y: 1)


def weightedtau(p):
    """Vigna's additive hyperbolic tau: the mean of ranking by r, ties by s, and the other way round."""
    taus = []
    for first, second in ((p.r, p.s), (p.s, p.r)):
        best = sorted(p.union, key=lambda x: (first[x], second[x]), reverse=True)
        weight = {x: Fraction(1, 1 + place) for place, x in enumerate(best)}
        taus.append(signed_tau(p, lambda x, y, weight=weight: weight[x] + weight[y]))
    return sum(taus) / 2


def signed_tau(p, weight):
    """Return the weighted agreement of the signs of all differences, over its greatest size; NaN if undefined."""
    both = untied_r = untied_s = 0
    for x, y in combinations(sorted(p.union), 2):
        in_r, in_s = compared(p.r[x], p.r[y]), compared(p.s[x], p.s[y])
        both += in_r * in_s * weight(x, y)
        untied_r += in_r**2 * weight(x, y)
        untied_s += in_s**2 * weight(x, y)
    return both / root(Fraction(untied_r * untied_s)) if untied_r * untied_s else nan


def spearman(p):
    """Pearson's correlation of the ranks within the union, tied items sharing their mean rank; NaN if undefined."""
    shadow = Pair(p.r, p.s, p.asked, ties=p.ties, zero_tail=p.zero_tail)
    shadow.r, shadow.s = mean_ranks(p.r, p.union), mean_ranks(p.s, p.union)
    if any(len({ranks[x] for x in p.union}) == 1 for ranks in (shadow.r, shadow.s)):
        return nan
    return correlation(shadow)


def shared_ranks(scores, ties):
    """Return each item's rank: closed ties share the best of their ranks, stable ones keep the items' order."""
    if ties == "stable":
        return {x: place for place, x in enumerate(order(scores))}
    return {x: sum(other > score for other in scores) for x, score in enumerate(scores)}


def agreeing(p, agree):
    """Return the share of items in both top sets that agree, over the larger set."""
    return Fraction(sum(map(agree, p.top_r & p.top_s)), max(p.k1, p.k2))


def same_sign(p, x):
    """Return whether both scores of an item are positive, both negative, or both 0."""
    return (p.r[x] > 0) == (p.s[x] > 0) and (p.r[x] < 0) == (p.s[x] < 0)


def rank_agreement(p):
    in_r, in_s = shared_ranks(p.r, p.ties), shared_ranks(p.s, p.ties)
    return agreeing(p, lambda x: in_r[x] == in_s[x])


def sign_agreement(p):
    return agreeing(p, lambda x: same_sign(p, x))


def signed_rank_agreement(p):
    in_r, in_s = shared_ranks(p.r, p.ties), shared_ranks(p.s, p.ties)
    return agreeing(p, lambda x: in_r[x] == in_s[x] and same_sign(p, x))


def pairwise_rank_agreement(p):
    """The share of pairs of the union that compare alike in both rankings; NaN if there is no pair."""
    pairs = list(combinations(p.union, 2))
    alike = sum(compared(p.r[x], p.r[y]) == compared(p.s[x], p.s[y]) for x, y in pairs)
    return Fraction(alike, len(pairs)) if pairs else nan


def ndcg(p):
    """r's scores in s's order, discounted, over the same in r's order; NaN if there is nothing to gain."""
    k = p.asked[0]
    gains = [positive_part(score) for score in p.r]
    found = [gains[x] for x in order(p.s)]
    if p.ties == "closed":
        mean = {level: mean_of(gains[x] for x in range(p.n) if p.s[x] == level) for level in set(p.s)}
        found = [mean[p.s[x]] for x in order(p.s)]
    weights = [1 / log2(i + 2) for i in range(k)]
    ideal = sum(g * w for g, w in zip(sorted(gains, reverse=True), weights, strict=False))
    return sum(g * w for g, w in zip(found, weights, strict=False)) / ideal if ideal else nan


def mean_of(values):
    """Return the mean of fractions."""
    listed = list(values)
    return sum(listed) / len(listed)


def log2(x):
    """Return the binary logarithm of an integer, to some 200 bits."""
    with localcontext(prec=64):
        return Fraction(Decimal(x).ln() / Decimal(2).ln())


def mean_ranks(scores, items):
    """Return each item's mean rank among the items (0 for all others), counted from the lowest score."""
    ranks = [ZERO] * len(scores)
    for x in items:
        below = sum(scores[y] < scores[x] for y in items)
        tied = sum(scores[y] == scores[x] for y in items)
        ranks[x] = below + Fraction(tied + 1, 2)
    return ranks


MEASURES = {
    "fuji": fuji,
    "jaccard": jaccard,
    "hamming": hamming,
    "pog": pog,
    "npog": npog,
    "kuncheva": kuncheva,
    "lustgarten": lustgarten,
    "wald": wald,
    "krizek": krizek,
    "cwrel": cwrel,
    "correlation": correlation,
    "pearson": pearson,
    "gamma": gamma,
    "dice": dice,
    "ochiai": ochiai,
    "kappa": kappa,
    "average_overlap": average_overlap,
    "rbo": rbo,
    "kendall": kendall,
    "weightedtau": weightedtau,
    "spearman": spearman,
    "rank_agreement": rank_agreement,
    "sign_agreement": sign_agreement,
    "signed_rank_agreement": signed_rank_agreement,
    "pairwise_rank_agreement": pairwise_rank_agreement,
    "ndcg": ndcg,
}


def value(measure, r, s, k, **options):
    """Return a measure's value at k, an integer or a pair."""
    return MEASURES[measure](Pair(r, s, k, **options))


def curve(measure, r, s, ks, **options):
    """Return a measure's values at the given k."""
    return [value(measure, r, s, k, **options) for k in ks]


def auc(values):
    """Return the mean of the trapezoids of unit width under the values; one value is its own area."""
    if len(values) == 1:
        return values[0]
    trapezoids = [(a + b) / 2 for a, b in pairwise(values)]
    return sum(trapezoids) / len(trapezoids)


def grid(name, n):
    """Return the k that a grid's name stands for."""
    if name == "all":
        return list(range(1, n + 1))
    named = {"exp": lambda i: 2**i, "squared": lambda i: (i + 1) ** 2}[name]
    return sorted({named(i) for i in range(n) if named(i) <= n} | {n})


def moments(measure, r, s, k, **options):
    """Return mean and variance of a measure over all ways to assign the scores of s to the items."""
    values = [value(measure, r, list(assigned), k, **options) for assigned in set(permutations(s))]
    mean = sum(values) / Fraction(len(values))
    return mean, sum((x - mean) ** 2 for x in values) / Fraction(len(values))


def padded(listed, items):
    """Return the scores of all items of a universe, those that are not listed below everything."""
    return [listed.get(x, -inf) for x in items]


def near_from(p, scores, inside):
    """Return the membership above which a miss is near: halfway from the mean of the listed items outside to 1."""
    outside = [x for x in range(p.n) if x not in inside and scores[x] > -inf]
    return (1 + mean_of(memberships(scores, inside, outside, p.zero_tail).values())) / 2 if outside else ONE


def floor(scores, k, **options):
    """Return the mean FUJI at k of a list with itself, over all ways to reorder its items."""
    return moments("fuji", scores, scores, k, **options)[0]


def explain(r, s, k, **options):
    """Return, for each item of the union, what an explanation says of it."""
    p = Pair(r, s, k, **options)
    in_r = memberships(r, p.top_r, p.union, p.zero_tail)
    in_s = memberships(s, p.top_s, p.union, p.zero_tail)
    rows = {}
    for x in p.union:
        contribution = min(in_r[x], in_s[x])
        above = [(in_r[x], near_from(p, r, p.top_r)), (in_s[x], near_from(p, s, p.top_s))]
        near = "near miss" if all(member == 1 or member > least for member, least in above) else "far miss"
        rows[x] = {
            "rank_r": 1 + sum(score > r[x] for score in r),
            "rank_s": 1 + sum(score > s[x] for score in s),
            "score_r": Fraction(r[x]) if r[x] > -inf else r[x],
            "score_s": Fraction(s[x]) if s[x] > -inf else s[x],
            "membership_r": in_r[x],
            "membership_s": in_s[x],
            "contribution": contribution,
            "kind": "shared" if x in p.top_r and x in p.top_s else near,
            "from border": min(abs(member - least) for member, least in above),
        }
    return rows


def error(actual, exact, floor=1e-300):
    """Return a float's relative error against an exact value; values below the floor count as the floor."""
    if isnan(exact):
        return 0.0 if isnan(actual) else inf
    return float(abs(Fraction(float(actual)) - exact) / max(abs(exact), Fraction(floor)))
