"""Slow and exact: FUJI of truncated rankings for every completion worth trying, in rational numbers.

Pure Python; nothing of the package. A truncated ranking is a dict of item to score; a completion adds a score from 0
to the least listed one for each missing item. Missing items rank below all listed ones, so no top set holds them as
long as k does not exceed the lists; all listed items that tie with the k-th are in.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product


def positive_part(score):
    """Return the score as a fraction, negative ones as 0."""
    return Fraction(score) if score > 0 else Fraction(0)


def top(ranking, k):
    """Return all listed items that score at least the k-th best listed score."""
    kth = sorted(ranking.values(), reverse=True)[k - 1]
    return {x for x, score in ranking.items() if score >= kth}


def fuji(r, s, scores_r, scores_s, k, zero_tail="include"):
    """Return FUJI of the top k of two completed rankings, membership by membership."""
    top_r, top_s = top(r, k), top(s, k)
    union = top_r | top_s
    total = Fraction(0)
    for x in union:
        total += min(membership(x, top_r, scores_r, zero_tail), membership(x, top_s, scores_s, zero_tail))
    return total / len(union)


def membership(x, inside, scores, zero_tail):
    """Return 1 inside the top set; outside, the score over the last score inside."""
    if x in inside:
        return Fraction(1)
    last = min(scores[y] for y in inside)
    return scores[x] / last if last > 0 else Fraction(zero_tail == "include")


def all_items(r, s):
    """Return the items of r, then the other items of s."""
    return list(r) + [x for x in s if x not in r]


def completions(ranking, items, fills):
    """Return the scores of all items for every choice of a fill, times the least listed score, per missing item."""
    missing = [x for x in items if x not in ranking]
    least = positive_part(min(ranking.values()))
    known = {x: positive_part(score) for x, score in ranking.items()}
    return [
        {**known, **{x: least * fill for x, fill in zip(missing, chosen, strict=True)}}
        for chosen in product(fills, repeat=len(missing))
    ]


def bounds(r, s, k, zero_tail="include", fills=(Fraction(0), Fraction(1, 2), Fraction(1))):
    """Return the least and the greatest FUJI over all completions with missing items at the given fills."""
    items = all_items(r, s)
    pairs = product(completions(r, items, fills), completions(s, items, fills))
    values = [fuji(r, s, first, second, k, zero_tail) for first, second in pairs]
    return min(values), max(values)


def random_completion(ranking, items, source):
    """Return scores of all items, the missing ones anything from 0 to the least listed score."""
    least = positive_part(min(ranking.values()))
    scores = {x: positive_part(score) for x, score in ranking.items()}
    for x in items:
        if x not in ranking:
            scores[x] = least * Fraction(source.choice([0.0, 1.0, 1e-9, source.random()]))
    return scores
