"""Write the table of docs/drift.md by simulation: `python docs/make_drift.py`; takes minutes.

How often the verdict is "beyond the noise" at 5 %: of versions that are drawn alike (type I error rate), and of those
that differ (power). A pool of rankings of each version stands for all that could be drawn; each trial draws some.
Versions that are drawn alike share one pool: two pools, once drawn, are not alike, and the rates would be theirs.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import fujiscore as fj
from fujiscore.versions.noise import version_test
from fujiscore.work.files import write_atomically

PAGE = Path(__file__).resolve().parent / "drift.md"
N, POOL, FORESTS, TRIALS, ALPHA = 60, 400, 60, 1000, 0.05
BASE = np.linspace(3, 0, N) ** 3
SIZES = ((4, 4), (5, 5), (10, 10), (4, 16), (19, 1))


def noisy(rng, spread=0.3, base=BASE, size=POOL):
    """Return rankings with log-normal noise, of the given strength or one for each ranking."""
    return base * np.exp(spread * rng.normal(size=(size, N)))


def changed(factor, place=0):
    """Return the true scores with one of them changed."""
    base = BASE.copy()
    base[place] *= factor
    return base


def uneven(rng):
    """Return rankings with noise of different strength: few are much noisier than the others."""
    return noisy(rng, 0.3 * rng.lognormal(0, 0.7, size=(POOL, 1)))


def shared_noise(rng):
    """Return rankings of two versions by the same resamples, the i-th of both with half of their noise in common."""
    common, *own = (rng.normal(size=(POOL, N)) for _ in range(3))
    return [BASE * np.exp(0.3 * (common + part) / np.sqrt(2)) for part in own]


def forests(rng, shuffled=None, trees=100):
    """Return importances by forests on the wine data with other seeds; those of the second have a shuffled column."""
    from sklearn.datasets import load_wine
    from sklearn.ensemble import RandomForestClassifier

    data = load_wine()
    broken = data.data.copy()
    if shuffled is not None:
        column = data.feature_names.index(shuffled)
        broken[:, column] = rng.permutation(broken[:, column])
    seeds = rng.integers(0, 2**31, size=(2, FORESTS))
    return [
        np.array([RandomForestClassifier(trees, random_state=s).fit(x, data.target).feature_importances_ for s in part])
        for x, part in zip((data.data, broken), seeds.tolist(), strict=True)
    ]


# Versions that are drawn alike, that differ in noise alone, and that differ.
ALIKE = {
    "noise": lambda rng: [noisy(rng), noisy(rng)],
    "much noise": lambda rng: [noisy(rng, 1.0), noisy(rng, 1.0)],
    "some rankings much noisier": lambda rng: [uneven(rng), uneven(rng)],
    "forests on the wine data, other seeds": forests,
    "the same resamples in both versions": shared_noise,
}
NOISIER = {
    "new version twice as noisy": lambda rng: [noisy(rng), noisy(rng, 0.6)],
    "new version half as noisy": lambda rng: [noisy(rng), noisy(rng, 0.15)],
}
APART = {
    "first feature loses 10 %": lambda rng: [noisy(rng), noisy(rng, base=changed(0.9))],
    "first feature loses 50 %": lambda rng: [noisy(rng), noisy(rng, base=changed(0.5))],
    "first feature unused": lambda rng: [noisy(rng), noisy(rng, base=changed(0.0))],
    "tenth feature unused": lambda rng: [noisy(rng), noisy(rng, base=changed(0.0, 9))],
    "forests, flavanoids (2nd of 13) shuffled": lambda rng: forests(rng, "flavanoids"),
    "forests, magnesium (9th of 13) shuffled": lambda rng: forests(rng, "magnesium"),
}


def beyond(pools, sizes, trials, rng, *, alike=False, paired=False):
    """Return how often the change is beyond the noise."""
    first = len(pools[0])
    matrix = fj.pairwise(np.vstack(pools), progress=False)
    count = 0
    for _ in range(trials):
        places = [rng.choice(len(pool), m, replace=False) for pool, m in zip(pools, sizes, strict=True)]
        if paired:  # the same resamples as far as there are as many
            places[1][: min(sizes)] = places[0][: min(sizes)]
        chosen = np.concatenate([places[0], places[1] + first])
        if alike:
            chosen = rng.choice(len(matrix.names), sum(sizes), replace=False)
        names = tuple(map(str, chosen))
        part = replace(matrix, raw=matrix.raw[np.ix_(chosen, chosen)], names=names, columns=names)
        count += version_test(part, sizes[0], seed=0).p_value <= ALPHA
    return count / trials


def rates(rows=(*ALIKE, *NOISIER, *APART), trials=TRIALS, sizes=SIZES, seed=1):
    """Return {row: the rate for each pair of numbers}."""
    found = {}
    for name in rows:
        rng = np.random.default_rng(seed)
        pools = {**ALIKE, **NOISIER, **APART}[name](rng)
        paired = name.startswith("the same")
        kind = {"alike": name in ALIKE and not paired, "paired": paired}
        found[name] = [beyond(pools, both, trials, rng, **kind) for both in sizes]
    return found


def table(found):
    """Return the rates as a Markdown table."""
    lines = [["versions", *(f"{a} and {b}" for a, b in SIZES)], ["---", *["---:"] * len(SIZES)]]
    parts = {"drawn alike: type I error rate": ALIKE, "other noise": NOISIER, "changed: power": APART}
    for title, rows in parts.items():
        lines.append([f"**{title}**", *[""] * len(SIZES)])
        lines += [[name, *(f"{rate:.3f}" for rate in found[name])] for name in rows if name in found]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def read_table(page):
    """Return {row: rates} as the page shows them."""
    text = page.split("<!-- rates:begin -->")[1].split("<!-- rates:end -->")[0]
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.strip().splitlines()[2:]]
    return {row[0]: [float(cell) for cell in row[1:]] for row in cells if len(row) > 1 and row[1]}


def write(page, text):
    """Return the page with the table replaced."""
    begin, end = "<!-- rates:begin -->", "<!-- rates:end -->"
    before, rest = page.split(begin)
    return f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}"


if __name__ == "__main__":
    text = table(rates())
    changed_page = write(PAGE.read_text(encoding="utf-8"), text)
    write_atomically(PAGE, lambda file: file.write(changed_page.encode()), replace=True)
