"""Concordant, discordant and tied pairs over the union of two growing sets, in O(n log n) with a Fenwick tree.

Let x join because r's set reaches it at position p, while s's set has c items (x is not among them). Members y
of the union then fall into three kinds that count (a tie in either ranking counts in none):
    r_y > r_x, s_y > s_x    concordant; all items above x in r are members
    r_y > r_x, s_y < s_x    discordant; likewise
    r_y < r_x, s_y > s_x    discordant; y is among the first min(c, items above x in s) of s
The fourth cannot occur: y would have to be in s's set, above x. The same holds with r and s exchanged.
"""

from __future__ import annotations

import numpy as np

from fujiscore._kernels._jit import kernel
from fujiscore._kernels.order import tie_bounds


@kernel
def tree_add(tree, position):
    """Count one item at a position."""
    node = position + 1
    while node < tree.size:
        tree[node] += 1
        node += node & -node


@kernel
def tree_before(tree, end):
    """Return how many items were counted at positions before `end`."""
    total = 0
    while end > 0:
        total += tree[end]
        end -= end & -end
    return total


@kernel
def count_joins(rank, reached, up_to, other_above, other_up_to, concordant, discordant):
    """Count the pairs that each item adds when its own ranking brings it in, tie group by tie group."""
    # `rank[p]` is the other rank of the p-th item and `reached[p]` the other set's size at that moment.
    n = rank.size
    tree = np.zeros(n + 1, np.int32)
    start = 0
    while start < n:
        end = up_to[start]
        for p in range(start, end):
            q = rank[p]
            if q >= reached[p]:
                concordant[p] = tree_before(tree, other_above[q])
                discordant[p] = start - tree_before(tree, other_up_to[q])
        for p in range(start, end):
            tree_add(tree, rank[p])
        for p in range(start, end):
            q = rank[p]
            if q >= reached[p]:
                first = min(reached[p], other_above[q])
                discordant[p] += first - tree_before(tree, first)
        start = end


@kernel
def join(members, group):
    """Add a member to a tie group, and return how many it had."""
    before = members[group]
    members[group] = before + 1
    return before


@kernel(cost=25, items=lambda s_rank, *_: s_rank.size)
def pairs(s_rank, r_rank, ranked_r, ranked_s, k1, k2, out):
    """Write how many pairs of the union are concordant, discordant, tied in r and tied in s: one row per point."""
    # A pair tied in both rankings counts in both.
    n = s_rank.size
    above_r, up_to_r = np.empty(n, np.int32), np.empty(n, np.int32)
    above_s, up_to_s = np.empty(n, np.int32), np.empty(n, np.int32)
    tie_bounds(ranked_r, above_r, up_to_r)
    tie_bounds(ranked_s, above_s, up_to_s)
    # At each point r's set grows first; positions past the path's end are never read.
    reached_r, reached_s = np.full(n, n, np.int32), np.full(n, n, np.int32)
    c1 = c2 = 0
    for j in range(k1.size):
        reached_r[c1 : k1[j]] = c2
        reached_s[c2 : k2[j]] = k1[j]
        c1, c2 = k1[j], k2[j]
    joins = np.zeros((4, n), np.int64)
    count_joins(s_rank, reached_r, up_to_r, above_s, up_to_s, joins[0], joins[1])
    count_joins(r_rank, reached_s, up_to_s, above_r, up_to_r, joins[2], joins[3])
    # Counting ties takes a quarter of the time: only where there are some.
    ties_r, ties_s = (above_r[1:] == above_r[:-1]).any(), (above_s[1:] == above_s[:-1]).any()
    # How many members of the union each tie group has, at the group's first rank.
    members_r, members_s = np.zeros(n, np.int64), np.zeros(n, np.int64)
    concordant = discordant = tied_r = tied_s = 0
    c1 = c2 = 0
    for j in range(k1.size):
        for p in range(c1, k1[j]):
            concordant += joins[0, p]
            discordant += joins[1, p]
            if ties_r and s_rank[p] >= c2:
                tied_r += join(members_r, above_r[p])
            if ties_s and s_rank[p] >= c2:
                tied_s += join(members_s, above_s[s_rank[p]])
        for q in range(c2, k2[j]):
            concordant += joins[2, q]
            discordant += joins[3, q]
            if ties_r and r_rank[q] >= k1[j]:
                tied_r += join(members_r, above_r[r_rank[q]])
            if ties_s and r_rank[q] >= k1[j]:
                tied_s += join(members_s, above_s[q])
        c1, c2 = k1[j], k2[j]
        out[j, 0], out[j, 1], out[j, 2], out[j, 3] = concordant, discordant, tied_r, tied_s
