"""Slow: rank-biased overlap and average overlap of lists, depth by depth from the definition.

Pure Python; nothing of the package. A list is one of groups of tied items, from best to worst.
"""

from __future__ import annotations

from math import sqrt


def flat(groups):
    """Return the items in order."""
    return [x for group in groups for x in group]


def contributions(groups, d, ties):
    """Return how much each item counts at depth d: 1 once its group is in; as it comes in, 1 (w) or its share."""
    found = {}
    top = 1
    for group in groups:
        bottom = top + len(group) - 1
        if d >= bottom:
            share = 1.0
        elif d >= top:
            share = 1.0 if ties == "w" else (d - top + 1) / len(group)
        else:
            share = 0.0
        for x in group:
            found[x] = share
        top = bottom + 1
    return found


def agreement(first, second, d, ties):
    """Return the agreement at depth d of two lists that reach so far."""
    a, b = contributions(first, d, ties), contributions(second, d, ties)
    both = sum(share * b.get(x, 0.0) for x, share in a.items())
    if ties == "w":
        return 2 * both / (sum(a.values()) + sum(b.values()))
    if ties == "b":
        return both / (sqrt(sum(x * x for x in a.values())) * sqrt(sum(x * x for x in b.values())))
    return both / d


def rbo_to_depth(first, second, p, ties, depth):
    """Return the sum that defines RBO, up to a depth that both lists reach."""
    return sum((1 - p) * p ** (d - 1) * agreement(first, second, d, ties) for d in range(1, depth + 1))


def disjoint(first, second, depth):
    """Return both lists continued to a depth by items that have nothing in common."""
    return [
        own + [[(name, i)] for i in range(depth - len(flat(own)))] for name, own in (("1st", first), ("2nd", second))
    ]


def agreeing(first, second, depth):
    """Return both lists continued by the items that only the other one lists, and then by the same new items."""
    lists = []
    for own, other in ((first, second), (second, first)):
        known = set(flat(own))
        longer = own + [[x] for x in flat(other) if x not in known]
        lists.append(longer + [[("new", i)] for i in range(depth - len(flat(longer)))])
    return lists


def extrapolated(first, second, p, ties, depth):
    """Return the sum to a depth, where the lists go on to agree as the first d items of both do.

    Beyond the end of the short list, each of its unseen items counts as much as the items of the long one that
    are in and that the short one does not list do on average, times the agreement at its end. Beyond both ends
    the agreement stays.
    """
    short, long = sorted((first, second), key=lambda own: len(flat(own)))
    s, l = len(flat(short)), len(flat(long))  # noqa: E741
    total = 0.0
    for d in range(1, depth + 1):
        if d <= s:
            value = at_end = agreement(short, long, d, ties)
        elif d <= l:
            padded = short + [[("unseen", i)] for i in range(d - s)]
            value = agreement(padded, long, d, ties) + at_end * credit(short, long, d, ties) / scale(
                padded, long, d, ties
            )
        total += (1 - p) * p ** (d - 1) * value
    return total


def credit(short, long, d, ties):
    """Return what the short list's unseen items would count at depth d if all of them were in the long one."""
    known = set(flat(short))
    shares = [share for x, share in contributions(long, d, ties).items() if x not in known and share > 0]
    return (d - len(known)) * sum(shares) / len(shares)


def scale(first, second, d, ties):
    """Return what the summed products are divided by at depth d."""
    a, b = contributions(first, d, ties).values(), contributions(second, d, ties).values()
    if ties == "w":
        return (sum(a) + sum(b)) / 2
    return sqrt(sum(x * x for x in a)) * sqrt(sum(x * x for x in b)) if ties == "b" else d


def webber(first, second, p):
    """Return min, res and ext of two lists without ties by the closed formulas of Webber, Moffat and Zobel."""
    from math import log

    short, long = sorted((first, second), key=len)
    s, l = len(short), len(long)  # noqa: E741
    x = [len(set(short[:d]) & set(long[:d])) for d in range(l + 1)]
    c = (1 - p) / p
    least = c * (sum((x[d] - x[l]) * p**d / d for d in range(1, l + 1)) - x[l] * log(1 - p))
    f = l + s - x[l]
    logs = log(1 / (1 - p)) - sum(p**d / d for d in range(1, f + 1))
    rest = s * sum(p**d / d for d in range(s + 1, f + 1)) + l * sum(p**d / d for d in range(l + 1, f + 1)) + x[l] * logs
    ext = c * sum(x[d] * p**d / d for d in range(1, l + 1))
    ext += c * sum(x[s] * (d - s) * p**d / (s * d) for d in range(s + 1, l + 1))
    ext += ((x[l] - x[s]) / l + x[s] / s) * p**l
    return least, p**s + p**l - p**f - c * rest, ext


def average_overlap(first, second, k):
    """Return the mean over the depths 1 to k of the shared items over the depth."""
    return sum(len(set(first[:d]) & set(second[:d])) / d for d in range(1, k + 1)) / k
