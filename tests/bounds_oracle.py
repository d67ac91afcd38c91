"""Slow and exact: FUJI of cut-off rankings for every completion worth trying, in rational numbers.

Pure Python; nothing of the package. A cut-off ranking is a dict of item to score; a completion of it is all items
from best to worst, with their scores.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product


def listed(ranking, items):
    """Return the listed items from best to worst; equal scores keep the order of all items."""
    return sorted((x for x in items if x in ranking), key=lambda x: ranking[x], reverse=True)


def completion(ranking, items, missing, fills):
    """Return the order and the scores where the missing items, in that order, score those falling fills."""
    order = listed(ranking, items) + list(missing)
    scores = {x: max(Fraction(0), Fraction(score)) for x, score in ranking.items()}
    scores.update({x: Fraction(score) for x, score in zip(missing, fills, strict=True)})
    return order, scores


def fuji(first, second, k, zero_tail="include"):
    """Return FUJI of the first k items of two completions, membership by membership."""
    (order_r, scores_r), (order_s, scores_s) = first, second
    union = set(order_r[:k]) | set(order_s[:k])
    total = Fraction(0)
    for x in union:
        in_r = membership(x, order_r, scores_r, k, zero_tail)
        in_s = membership(x, order_s, scores_s, k, zero_tail)
        total += min(in_r, in_s)
    return total / len(union)


def membership(x, order, scores, k, zero_tail):
    """Return 1 inside the first k; outside, the score over the last score inside."""
    if x in order[:k]:
        return Fraction(1)
    last = scores[order[k - 1]]
    if last > 0:
        return scores[x] / last
    return Fraction(zero_tail == "include")


def all_items(r, s):
    """Return the items of r, then the other items of s."""
    return list(r) + [x for x in s if x not in r]


def extreme_completions(ranking, items):
    """Return the completions in every order of the missing items that score each 0 or the last listed score."""
    missing = [x for x in items if x not in ranking]
    last = max(Fraction(0), Fraction(min(ranking.values())))
    scores = sorted({last, Fraction(0)}, reverse=True)
    patterns = list(combinations_with_replacement(scores, len(missing)))
    return [completion(ranking, items, order, fills) for order in permutations(missing) for fills in patterns]


def bounds(r, s, k, zero_tail="include"):
    """Return the least and the greatest FUJI over all extreme completions."""
    items = all_items(r, s)
    pairs = product(extreme_completions(r, items), extreme_completions(s, items))
    values = [fuji(first, second, k, zero_tail) for first, second in pairs]
    return min(values), max(values)


def random_completion(ranking, items, source):
    """Return a completion whose missing items score anything from 0 to the last listed score, in random order."""
    missing = [x for x in items if x not in ranking]
    source.shuffle(missing)
    last = max(0.0, min(ranking.values()))
    fills = sorted((last * source.choice([0.0, 1.0, 1e-9, source.random()]) for _ in missing), reverse=True)
    return completion(ranking, items, missing, fills)
