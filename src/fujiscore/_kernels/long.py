"""Two columns read batch by batch: counts of scores by their leading bits, and the table of both rankings' classes.

A key is an unsigned integer that sorts downward as its score does: the best score has the smallest key.
"""

from __future__ import annotations

import numpy as np

from fujiscore._kernels._jit import kernel
from fujiscore._kernels.order import ZERO, descending_key

# In a table of classes: the item is kept; its class takes a search.
KEPT = 254
SEARCH = 255
# A cell of two classes: how many items; sums of both scores, of the squares and of the cubes of their distances to the
# centres of their classes; one more number, so that a cell fills a cache line.
CELL = 8
MIXED = np.uint64(1 << 63)
ONE = np.uint64(1)
# The keys of infinity and of 0: those of scores that are neither NaN nor infinite nor negative lie between.
INFINITE = 0x000FFFFFFFFFFFFF
NOTHING = 0x7FFFFFFFFFFFFFFF


@kernel
def spans_begun(key, low):
    """Return how many spans of keys, in rising order, begin at a key or before it."""
    first, last = 0, low.size
    while first < last:
        middle = (first + last) // 2
        if low[middle] <= key:
            first = middle + 1
        else:
            last = middle
    return first


@kernel
def tally(out, bucket, key):
    """Count a key in its bucket."""
    place = np.uint64(2) * bucket
    number = out[place]
    if number == np.uint64(0):
        out[place + ONE] = key
    elif out[place + ONE] != key:
        number |= MIXED
    out[place] = number + ONE


@kernel(cost=3)
def count(scores, shift, out):
    """Count scores in buckets, by the bits of their keys from `shift` up; return the least and the greatest key."""
    # A bucket has two numbers in `out`: how many scores, with the highest bit set if they differ, and the first key.
    bits = scores.view(np.uint64)
    shift = np.uint64(shift)
    least, most = ~ZERO, ZERO
    for i in range(bits.size):
        key = descending_key(bits[i])
        tally(out, key >> shift, key)
        least = min(least, key)
        most = max(most, key)
    return least, most


@kernel(cost=5)
def count_in_spans(scores, low, high, shift, buckets, out):
    """Count the scores in some spans of keys, by further bits, `buckets` to a span."""
    bits = scores.view(np.uint64)
    shift = np.uint64(shift)
    for i in range(bits.size):
        key = descending_key(bits[i])
        span = spans_begun(key, low) - 1
        if span >= 0 and key <= high[span]:
            tally(out, np.uint64(span * buckets) + ((key - low[span]) >> shift), key)


@kernel
def class_by_search(key, low, high, classes):
    """Return the class of a key: classes[2i + 1] in span i, classes[2i] between it and the span before."""
    first = spans_begun(key, low)
    inside = first > 0 and key <= high[first - 1]
    return classes[2 * first - 1] if inside else classes[2 * first]


@kernel(cost=2)
def classify(scores, table, shift, low, high, classes, out):
    """Write each score's class, by a table of the keys' leading bits or, where that does not tell, by a search."""
    bits = scores.view(np.uint64)
    shift = np.uint64(shift)
    for i in range(bits.size):
        key = descending_key(bits[i])
        number = table[key >> shift]
        if number == SEARCH:
            number = class_by_search(key, low, high, classes)
        out[i] = number


@kernel(cost=6)
def fill(r, s, class_r, class_s, scales_r, scales_s, centres_r, centres_s, cells, kept):
    """Add items to the cells of their two classes; write those to be kept to `kept`, and return how many they are."""
    # Scores are carried times the scale of their class, negative ones as 0.
    width = np.uint64(scales_s.size)
    count = 0
    for i in range(r.size):
        a = class_r[i]
        b = class_s[i]
        if a == KEPT or b == KEPT:  # noqa: PLR1714 - a set does not compile
            kept[0, count] = r[i]
            kept[1, count] = s[i]
            count += 1
            continue
        x = max(r[i], 0.0) * scales_r[a]
        y = max(s[i], 0.0) * scales_s[b]
        u = x - centres_r[a]
        v = y - centres_s[b]
        cell = np.uint64(CELL) * (np.uint64(a) * width + np.uint64(b))
        cells[cell] += 1.0
        cells[cell + ONE] += x
        cells[cell + np.uint64(2)] += y
        cells[cell + np.uint64(3)] += u * u
        cells[cell + np.uint64(4)] += v * v
        cells[cell + np.uint64(5)] += u * u * u
        cells[cell + np.uint64(6)] += v * v * v
    return count
