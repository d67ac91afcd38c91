"""Labels of many pairs of lists as small integers: within each pair, equal labels get the same one.

A label is a 64-bit mark (an integer label itself, or a hash of text) and, for text, its bytes.
"""

from __future__ import annotations

import numpy as np

from fujiscore._kernels._jit import kernel

OFFSET, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # of FNV-1a
SPREAD = np.uint64(0x9E3779B97F4A7C15)


@kernel(cost=8)
def hashes(ends, content, out):
    """Write the FNV-1a hash of each label; label i is ends[i] to ends[i + 1] of the content."""
    for i in range(out.size):
        mark = OFFSET
        for j in range(ends[i], ends[i + 1]):
            mark = (mark ^ np.uint64(content[j])) * PRIME
        out[i] = mark


@kernel
def same(ends_r, content_r, i, ends_s, content_s, j):
    """Return whether label i of one column and label j of another are equal bytes; always, where there are none."""
    if ends_r.size == 0:
        return True
    a, b = ends_r[i], ends_s[j]
    size = ends_r[i + 1] - a
    if ends_s[j + 1] - b != size:
        return False
    equal = True
    for t in range(size):
        equal &= content_r[a + t] == content_s[b + t]
    return equal


@kernel
def enter(begin, end, marks, ends, content, own, marks_r, ends_r, content_r, table, first, shift, known, out):
    """Write the codes of a list's labels, new ones entered in the table, and return the number of codes."""
    # A code's first label is in the other list, r, if the code is below `own`, and in this one otherwise.
    for i in range(begin, end):
        slot = np.int64((marks[i] * SPREAD) >> shift)
        while table[slot] >= 0:
            code = table[slot]
            j = first[code]
            if code < own:
                if marks_r[j] == marks[i] and same(ends_r, content_r, j, ends, content, i):
                    break
            elif marks[j] == marks[i] and same(ends, content, j, ends, content, i):
                break
            slot = (slot + 1) & (table.size - 1)
        if table[slot] < 0:
            table[slot] = known
            first[known] = i
            known += 1
        out[i] = table[slot]
    return known


@kernel(cost=6)
def codes(start_r, marks_r, ends_r, content_r, start_s, marks_s, ends_s, content_s, out_r, out_s):
    """Write each label's code, from 0 within its pair of lists, and return the greatest number of codes of a pair."""
    longest = 1
    for q in range(start_r.size - 1):
        longest = max(longest, start_r[q + 1] - start_r[q] + start_s[q + 1] - start_s[q])
    tables, first = np.empty(4 * longest, np.int32), np.empty(longest, np.int64)
    most = 0
    for q in range(start_r.size - 1):
        a, b, c, d = start_r[q], start_r[q + 1], start_s[q], start_s[q + 1]
        bits = 1
        while (1 << bits) < 2 * (b - a + d - c):
            bits += 1
        table, shift = tables[: 1 << bits], np.uint64(64 - bits)
        table[:] = -1
        known = enter(a, b, marks_r, ends_r, content_r, 0, marks_r, ends_r, content_r, table, first, shift, 0, out_r)
        known = enter(
            c, d, marks_s, ends_s, content_s, known, marks_r, ends_r, content_r, table, first, shift, known, out_s
        )
        most = max(most, known)
    return most
