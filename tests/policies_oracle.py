"""The order of operations of docs/inputs.md, row by row in dicts: nothing of the package, and no NumPy.

A ranking is a list of (item, score); the result is one dict of item to score per ranking, in the order of items, with
-inf for items that a ranking lacks, or the kind of error.
"""

from __future__ import annotations

from math import copysign, exp, inf, isinf, isnan, log10, nan

LEAST = 5e-324
LOWEST = -1.7976931348623157e308


class Refused(Exception):  # noqa: N818 - an outcome
    """The policies refuse the data: the kind of error, and the ranking's name."""


def outcome(rankings, *, negative, nan, missing, duplicates, transform):
    """Return the rankings after the policies, by name."""
    if negative == "split" and transform is not None:
        raise Refused("signs", "a")
    if transform == "abs":
        negative = "abs"
    rows = {name: transformed(name, own, transform, negative) for name, own in rankings.items()}  # 1
    for name, own in rows.items():  # 2
        check(name, [score for _, score in own], negative, nan)
    lists = {name: merged(name, own, duplicates, negative) for name, own in rows.items()}  # 3
    lists = without_nan(lists, nan)  # 4
    lists = together(lists, missing)  # 5
    return {name: signed(own, negative) for name, own in lists.items()}  # 6


def transformed(name, rows, word, negative):
    known = [score for _, score in rows if not isnan(score)]
    good = {
        "neglog10": lambda p: 0 <= p <= 1,
        "exp": lambda x: x < inf,
        "reciprocal": lambda x: 0 < x < inf,
        "minmax": lambda x: not isinf(x),
        "flip": lambda x: not isinf(x),
    }.get(word, lambda _: True)
    if not all(map(good, known)):
        raise Refused("transform", name)

    ends = (min(known), max(known)) if known else (0.0, 0.0)
    formulas = {
        None: lambda x: x,
        "neglog10": lambda p: -log10(max(p, LEAST)) + 0.0,
        "exp": lambda x: exp(x - ends[1]) if ends[1] > -inf else 0.0,
        "reciprocal": lambda x: 1 / x if x > 1e-300 else inf,
        "minmax": lambda x: fraction(x, *ends),
        "flip": lambda x: fraction(x, *reversed(ends)),
        "rank": lambda x: 1 / (1 + sum(other > x for other in known)),
        "abs": lambda x: x if negative == "abs" else abs(x),
    }

    def one(score):
        return score if isnan(score) else formulas[word](score)

    return [(item, one(score)) for item, score in rows]


def fraction(score, zero, one):
    return (score - zero) / (one - zero) if one != zero else 1.0


def check(name, scores, negative, nan):
    if nan == "raise" and any(map(isnan, scores)):
        raise Refused("NaN", name)
    if any(score == inf or (isinf(score) and negative in {"abs", "split"}) for score in scores):
        raise Refused("infinite", name)
    if negative == "raise" and any(score < 0 for score in scores):
        raise Refused("negative", name)


def merged(name, rows, duplicates, negative):
    groups = {}
    for item, score in rows:
        groups.setdefault(item, []).append(score)
    if duplicates == "raise" and any(len(group) > 1 for group in groups.values()):
        raise Refused("duplicates", name)
    return {item: one_score(group, duplicates, negative) for item, group in groups.items()}


def one_score(group, duplicates, negative):
    known = [score for score in group if not isnan(score)]
    if not known:
        return nan
    if duplicates == "max":
        return max(known, key=abs if negative in {"abs", "split"} else None)
    if duplicates == "mean":
        mean = sum(known) / len(known)
        return copysign(sum(map(abs, known)) / len(known), mean) if negative == "abs" else mean
    return known[0]


def without_nan(lists, policy):
    if policy == "zero":
        return {name: {x: 0.0 if isnan(v) else v for x, v in own.items()} for name, own in lists.items()}
    gone = {item for own in lists.values() for item, score in own.items() if isnan(score)}
    lists = {name: {x: v for x, v in own.items() if x not in gone} for name, own in lists.items()}
    if not any(lists.values()):
        raise Refused("empty", "")
    return lists


def together(lists, missing):
    union = dict.fromkeys(item for own in lists.values() for item in own)
    shared = [item for item in union if all(item in own for own in lists.values())]
    for name, own in lists.items():
        if missing == "raise" and len(own) < len(union):
            raise Refused("missing", name)
    items = shared if missing == "drop" else union
    if not all(lists.values()) or not items:
        raise Refused("empty", "")
    return {name: {x: max(own[x], LOWEST) if x in own else -inf for x in items} for name, own in lists.items()}


def signed(scores, negative):
    if negative == "split":
        halves = {(x, "+"): v if v == -inf else max(v, 0.0) for x, v in scores.items()}
        return halves | {(x, "-"): v if v == -inf else max(-v, 0.0) for x, v in scores.items()}
    return {x: abs(v) if negative == "abs" and v > -inf else v for x, v in scores.items()}
