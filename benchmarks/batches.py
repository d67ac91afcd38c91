"""Measure many pairs of short lists, such as the answers to queries, against loops over single pairs."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import numpy as np
from measured import Row, fastest
from peers import RBO_PYTHON, rbo_ready
from scipy.stats import weightedtau

import fujiscore as fj
from fujiscore.measures.registry import find
from fujiscore.runs.batches import Depths, Lists, ListTask, compared
from fujiscore.work.tiles import run

K = 10
MEASURES = ("fuji", "rbo", "jaccard")
# Pairs in each of eight tiles by the length of the lists, and pairs of a loop.
TILES, LOOP = {10: 10_000, 100: 1300, 1000: 130}, 50
# Whole lists, as it takes them; prints seconds per pair.
RBO_LOOP = """
import sys
from time import perf_counter
import numpy as np
from rbo import RankingSimilarity
pairs = [(a.tolist(), b.tolist()) for a, b in np.load(sys.argv[1])]
best = 1e9
for _ in range(3):
    start = perf_counter()
    for a, b in pairs:
        RankingSimilarity(a, b).rbo_ext(p=0.9)
    best = min(best, perf_counter() - start)
print(best / len(pairs))
"""


def some_lists(pairs, length, *, ordered=True):
    """Return the best items of noisy copies of the same scores of twice as many, from best to worst or shuffled."""
    generator = np.random.default_rng(length)
    scores = generator.lognormal(size=(pairs, 2 * length))
    sides = []
    for _ in range(2):
        noisy = scores * generator.lognormal(0, 0.3, scores.shape)
        items = np.argsort(-noisy, axis=1)[:, :length]
        items = items if ordered else generator.permuted(items, axis=1)
        codes = items + 2 * length * np.arange(pairs)[:, None]
        start = np.arange(0, pairs * length + 1, length)
        sides.append(Lists(start, codes.ravel(), np.take_along_axis(noisy, items, axis=1).ravel()))
    return sides


def batch(r, s, size, jobs=1, measures=MEASURES, universe=None, k=K):
    """Compare all pairs in tiles."""
    task = ListTask(tuple(map(find, measures)), Depths(k), universe)
    tiles = [(r.part(i, i + size), s.part(i, i + size), task) for i in range(0, len(r), size)]
    run(compared, tiles, n_jobs=jobs, progress=False)


def one_by_one(r, s):
    """Compare some pairs, one after the other."""
    for a, b in _dicts(r, s):
        fj.compare(a, b, MEASURES, ks=[K], missing="zero").auc  # noqa: B018


def _dicts(r, s):
    """Return some pairs of lists as dicts of item to score."""
    for q in range(LOOP):
        own = (slice(*side.start[q : q + 2].tolist()) for side in (r, s))
        yield [
            dict(zip(side.items[part].tolist(), side.scores[part].tolist(), strict=True))
            for side, part in zip((r, s), own, strict=True)
        ]


def weighted_taus(aligned):
    """Return SciPy's coefficient of scores that are aligned already."""
    for a, b in aligned:
        weightedtau(a, b)


def _aligned(r, s):
    """Return the scores of the items in either top K, 0 for those that a list lacks."""
    for a, b in _dicts(r, s):
        union = [*list(a)[:K], *(item for item in list(b)[:K] if item not in list(a)[:K])]
        yield np.array([[side.get(item, 0.0) for item in union] for side in (a, b)])


def rbo_seconds(r, s):
    """Return the seconds that the rbo package takes for whole lists; None if it is not installed."""
    if not rbo_ready(install=False):
        return None
    lists = np.stack([side.items.reshape(len(side), -1)[:LOOP] for side in (r, s)], axis=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lists.npy"
        np.save(path, lists)
        command = [str(RBO_PYTHON), "-c", RBO_LOOP, str(path)]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def length_rows(length, size):
    """Return the rows on lists of one length."""
    r, s = some_lists(8 * size, length)
    unordered = some_lists(8 * size, length, ordered=False)
    aligned = list(_aligned(r, s))
    calls = {
        "one": lambda: batch(r, s, size),
        "two": lambda: batch(r, s, size, 2),
        "unordered": lambda: batch(*unordered, size),
        "chance": lambda: batch(r, s, size, universe=10**6),
        "whole": lambda: batch(r, s, size, k=length),
        "weightedtau": lambda: batch(r, s, size, measures=["weightedtau"]),
        "loop": lambda: one_by_one(r, s),
        "scipy": lambda: weighted_taus(aligned),
    }
    number = {"loop": LOOP, "scipy": LOOP}
    times = {name: time / number.get(name, len(r)) for name, time in fastest(calls, 5).items()}
    lists = f"pairs of lists of {length:,} items at k = {K}"
    limit = ("at most", 8e-6, "8 µs") if length == 100 else None
    rows = [
        _time(f"{lists}, FUJI, RBO and Jaccard, per pair", times["one"], limit),
        _time("the same, lists not sorted", times["unordered"], limit),
        _time("the same, with expected values and p-values in a universe of 10⁶ items", times["chance"], None),
        _times("the same, two threads over one", times["one"] / times["two"], None),
        _times("a loop over `fj.compare` over it", times["loop"] / times["one"], 20),
        _times(
            "a loop over SciPy's `weightedtau` over it", times["scipy"] / times["one"], 20 if length < 1000 else None
        ),
        _time("weighted tau alone, per pair", times["weightedtau"], None),
        _time("FUJI, RBO and Jaccard of whole lists, per pair", times["whole"], None),
    ]
    seconds = rbo_seconds(r, s)
    if seconds is not None:
        rows.append(_times("a loop over the rbo package over it", seconds / times["whole"], None))
    return rows


def _time(what, seconds, required):
    return Row(what, seconds, f"{seconds * 1e6:.1f} µs", required)


def _times(what, ratio, least):
    return Row(what, ratio, f"{ratio:.1f} x", None if least is None else ("at least", least, f"{least:g} x"))


def rows():
    """Return all rows."""
    return [row for length, size in TILES.items() for row in length_rows(length, size)]
