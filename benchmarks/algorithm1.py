"""The paper's Algorithm 1 (SimilarityCurve) in plain Python: the quadratic baseline. Imports nothing of fujiscore."""

from __future__ import annotations


def credit(difference, r, s, kth_r, kth_s):
    """Return the summed smaller memberships of the items in one top set only, as the algorithm's inner loop says.

    An item scores at least the k-th exactly if it is inside or tied with it: membership 1.
    """
    total = 0.0
    for x in difference:
        in_r = 1.0 if r[x] >= kth_r else r[x] / kth_r
        in_s = 1.0 if s[x] >= kth_s else s[x] / kth_s
        total += min(in_r, in_s)
    return total


def credit_tuned(difference, r, s, kth_r, kth_s):
    """Return the same with the minimum written out: a call of `min` is half of the loop's time."""
    total = 0.0
    for x in difference:
        in_r = 1.0 if r[x] >= kth_r else r[x] / kth_r
        in_s = 1.0 if s[x] >= kth_s else s[x] / kth_s
        total += in_r if in_r < in_s else in_s  # noqa: FURB136
    return total


def similarity_curve(r, s, credit=credit):
    """Return FUJI at k = 1..n for two lists of non-negative scores."""
    n = len(r)
    order_r = sorted(range(n), key=r.__getitem__, reverse=True)
    order_s = sorted(range(n), key=s.__getitem__, reverse=True)
    difference, intersection = set(), set()
    curve = [1.0] * n
    for k in range(n - 1):
        kth_r, kth_s = r[order_r[k]], s[order_s[k]]
        if kth_r == kth_s == 0:
            break
        for x in (order_r[k], order_s[k]):
            if x in difference:
                difference.remove(x)
                intersection.add(x)
            else:
                difference.add(x)
        size = len(intersection) + credit(difference, r, s, kth_r, kth_s)
        curve[k] = size / (len(intersection) + len(difference))
    return curve
