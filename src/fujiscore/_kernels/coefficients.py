"""Rank correlations over the union of the top sets of many pairs of lists, two items at a time.

Lists and paths are as in `batch`. For the few items of most unions this is faster than to sort them.
"""

from __future__ import annotations

import numpy as np

from fujiscore._kernels._jit import kernel
from fujiscore._kernels.batch import align, match, scratch, sort
from fujiscore._kernels.order import tie_bounds

# Larger unions are left out: there, sorting is faster.
MOST = 256
# Columns of a point's row: pairs of items that are concordant, discordant, tied in r and tied in s; Spearman's rho;
# weighted tau, additive and multiplicative.
CONCORDANT, DISCORDANT, TIED_R, TIED_S, SPEARMAN, ADDITIVE, MULTIPLICATIVE, COLUMNS = range(8)


@kernel
def count_pairs(x, y, out):
    """Write how many pairs of items are concordant, discordant, tied in x and tied in y."""
    concordant = discordant = tied_x = tied_y = 0
    for i in range(x.size):
        for j in range(i):
            tied_x += x[i] == x[j]
            tied_y += y[i] == y[j]
            concordant += (x[i] < x[j]) & (y[i] < y[j]) | (x[i] > x[j]) & (y[i] > y[j])
            discordant += (x[i] < x[j]) & (y[i] > y[j]) | (x[i] > x[j]) & (y[i] < y[j])
    out[CONCORDANT], out[DISCORDANT], out[TIED_R], out[TIED_S] = concordant, discordant, tied_x, tied_y


@kernel
def spearman(x, y):
    """Return the correlation of the ranks, tied items at their mean."""
    n = x.size
    both = spread_x = spread_y = 0.0
    for i in range(n):
        apart_x = apart_y = 0  # twice the distance of the rank from the mean of all
        for j in range(n):
            apart_x += int(x[j] < x[i]) - int(x[j] > x[i])
            apart_y += int(y[j] < y[i]) - int(y[j] > y[i])
        both += apart_x * apart_y
        spread_x += apart_x * apart_x
        spread_y += apart_y * apart_y
    return max(-1.0, min(1.0, both / np.sqrt(spread_x * spread_y)))


@kernel
def weighted_tau(x, y, weights, out):
    """Add half of weighted tau to both of its columns; weights are by x's order, tied items by y's."""
    for i in range(x.size):
        rank = 0
        for j in range(x.size):
            rank += (x[j] < x[i]) | (x[j] == x[i]) & ((y[j] < y[i]) | (y[j] == y[i]) & (j < i))
        weights[i] = 1.0 / (1 + rank)
    for column in range(ADDITIVE, COLUMNS):
        total = untied_x = untied_y = 0.0
        for i in range(x.size):
            for j in range(i):
                weight = weights[i] + weights[j] if column == ADDITIVE else weights[i] * weights[j]
                sign_x, sign_y = int(x[i] > x[j]) - int(x[i] < x[j]), int(y[i] > y[j]) - int(y[i] < y[j])
                total += weight * (sign_x * sign_y)
                untied_x += weight * abs(sign_x)
                untied_y += weight * abs(sign_y)
        out[column] += max(-1.0, min(1.0, total / np.sqrt(untied_x * untied_y))) / 2.0


@kernel
def write(x, y, correlations, weights, out):
    """Write one row, from how many items are higher than each; NaN for coefficients of constant scores."""
    count_pairs(x, y, out)
    out[SPEARMAN:] = np.nan
    all_pairs = x.size * (x.size - 1) // 2
    if correlations and out[TIED_R] < all_pairs and out[TIED_S] < all_pairs:
        out[SPEARMAN] = spearman(x, y)
        out[ADDITIVE:] = 0.0
        for turn in range(2):
            weighted_tau((x, y)[turn], (y, x)[turn], weights, out)


@kernel
def gather(level_r, level_s, inside_r, inside_s, partner_r, partner_s, k, x, y):
    """Write the levels of the items of the union at k in both lists; return their number, or -1 if they are many."""
    size = 0
    for i in range(partner_r.size):
        if inside_r[i] < k:
            if size == MOST:
                return -1
            x[size] = level_r[i]
            y[size] = level_s[partner_r[i]] if partner_r[i] >= 0 else partner_s.size
            size += 1
    for j in range(partner_s.size):
        i = partner_s[j]
        if inside_s[j] < k and (i < 0 or inside_r[i] >= k):
            if size == MOST:
                return -1
            x[size] = level_r[i] if i >= 0 else partner_r.size
            y[size] = level_s[j]
            size += 1
    return size


@kernel(cost=120)
def unions(
    start_r, items_r, scores_r, start_s, items_s, scores_s, first, paths, closed, capped, correlations, out
):  # fmt: skip
    """Write a row for each point of each path (see above), NaN where the union is too large."""
    # Without `correlations` only pairs of items are counted.
    (whole, real, keys_of_sort), keys, place = scratch(start_r, start_s)
    x, y, weights = np.empty(MOST, np.int32), np.empty(MOST, np.int32), np.empty(MOST)
    for q in range(first.size - 1):
        if first[q] == first[q + 1]:
            continue
        own_r, own_s = scores_r[start_r[q] : start_r[q + 1]], scores_s[start_s[q] : start_s[q + 1]]
        partner_r, partner_s = whole[0, : own_r.size], whole[1, : own_s.size]
        match(
            items_r[start_r[q] : start_r[q + 1]],
            items_s[start_s[q] : start_s[q + 1]],
            keys,
            place,
            partner_r,
            partner_s,
        )
        if not closed:
            align(partner_r, partner_s, own_s, real[2])
            own_s = real[2, : own_s.size]
        for side in range(2):
            scores = (own_r, own_s)[side]
            n = scores.size
            order, above, ranked = whole[2, :n], whole[3, :n], real[0, :n]
            sort(scores, n, order, ranked, keys_of_sort[0, :n], keys_of_sort[1, :n])
            tie_bounds(ranked, above, whole[4, :n])
            for p in range(n):
                whole[5 + side, order[p]] = above[p]
                whole[7 + side, order[p]] = above[p] if closed else p
                if capped and ranked[p] <= 0.0:
                    whole[7 + side, order[p]] = n  # in no set
        for j in range(first[q], first[q + 1]):
            size = gather(whole[5], whole[6], whole[7], whole[8], partner_r, partner_s, paths[j], x, y)
            if size < 0:
                out[j] = np.nan
            else:
                write(x[:size], y[:size], correlations, weights, out[j])
