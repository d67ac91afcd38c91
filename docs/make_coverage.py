"""Write the tables of docs/stability.md by simulation: `python docs/make_coverage.py`; takes minutes.

For each generator of rankings: how often 95 % intervals of stability hold the true value, and how often tests at 5 %
tell two methods apart that are the same. A pool of rankings stands for all that could be drawn, its mean over all
pairs for the true value; each trial draws some of them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import fujiscore as fj
from fujiscore.many.stability import of_pairs
from fujiscore.many.stability_tests import compare_stabilities
from fujiscore.work.files import write_atomically

PAGE = Path(__file__).resolve().parent / "stability.md"
N, POOL, TRIALS = 60, 1000, 4000
BASE = np.linspace(3, 0, N) ** 3
NUMBERS = (3, 5, 10, 30)
SIZES = ((5, 5), (10, 10), (30, 30), (5, 30))


def noise(spread):
    """Return a generator of rankings with log-normal noise."""
    return lambda m, rng: BASE * np.exp(spread * rng.normal(size=(m, N)))


def skewed(m, rng):
    """Return rankings with noise of different strength: few are much noisier than the others."""
    return BASE * np.exp(0.4 * rng.lognormal(0, 0.7, size=(m, 1)) * rng.normal(size=(m, N)))


def heavy(m, rng):
    """Return rankings where single items are far off."""
    return BASE * np.exp(0.3 * rng.standard_t(2, size=(m, N)).clip(-30, 30))


def sparse(m, rng):
    """Return rankings where most of the lower items have score 0."""
    return np.where(rng.random((m, N)) < np.linspace(0.9, 0.02, N), noise(0.3)(m, rng), 0.0)


def failed(m, rng):
    """Return rankings of which 10 % are random."""
    scores, bad = noise(0.2)(m, rng), rng.random(m) < 0.1
    scores[bad] = rng.permuted(scores[bad], axis=1)
    return scores


def nearly_perfect(m, rng):
    """Return rankings of which 10 % swap two neighbours."""
    scores = np.tile(BASE, (m, 1))
    for i in np.flatnonzero(rng.random(m) < 0.1):
        j = rng.integers(0, N - 1)
        scores[i, [j, j + 1]] = scores[i, [j + 1, j]]
    return scores


def two_kinds(m, rng):
    """Return rankings of which half are upside down."""
    scores, reverse = noise(0.3)(m, rng), rng.random(m) < 0.5
    scores[reverse] = scores[reverse, ::-1]
    return scores


GENERATORS = {
    "little noise": noise(0.2),
    "noise": noise(0.6),
    "much noise": noise(1.5),
    "skewed: some rankings much noisier": skewed,
    "skewed: some items far off": heavy,
    "many zeros": sparse,
    "10 % failed runs": failed,
    "nearly perfect": nearly_perfect,
    "two opposite kinds": two_kinds,
}
# The generators for which tests keep their level: those with a spread that a few rankings show.
ORDINARY = tuple(GENERATORS)[:7]


def pool(name, size=POOL):
    """Return the matrix of all pairs of many rankings, and its mean."""
    matrix = fj.pairwise(GENERATORS[name](size, np.random.default_rng(list(GENERATORS).index(name))))
    return matrix, (matrix.raw.sum() - size) / (size * (size - 1))


def drawn(matrix, positions):
    """Return the stability of some rankings of a pool."""
    names = tuple(f"r{i}" for i in positions)
    return of_pairs(replace(matrix, raw=matrix.raw[np.ix_(positions, positions)], names=names, columns=names))


def coverage(matrix, truth, m, trials, rng):
    """Return how often the interval holds the true value."""
    found = [drawn(matrix, rng.choice(len(matrix.names), m, replace=False)) for _ in range(trials)]
    return np.mean([one.low <= truth <= one.high for one in found])


def rejections(matrix, sizes, trials, rng, alternative="two-sided"):
    """Return how often two methods differ at 5 % although their rankings are drawn alike."""
    count = 0
    for _ in range(trials):
        both = np.split(rng.choice(len(matrix.names), sum(sizes), replace=False), [sizes[0]])
        methods = [drawn(matrix, part) for part in both]
        count += compare_stabilities(*methods, paired=False, alternative=alternative).p_value < 0.05
    return count / trials


def rates(names=tuple(GENERATORS), trials=TRIALS, size=POOL, seed=1):
    """Return {generator: (true value, coverage for each number, rejections for each pair of numbers)}."""
    rows = {}
    for name in names:
        rng = np.random.default_rng(seed)
        matrix, truth = pool(name, size)
        covered = [coverage(matrix, truth, m, trials, rng) for m in NUMBERS]
        rows[name] = truth, covered, [rejections(matrix, sizes, trials, rng) for sizes in SIZES]
    return rows


def tables(rows):
    """Return both tables as Markdown, by name."""
    parts = {
        "coverage": (1, [f"{m} rankings" for m in NUMBERS], ".2f"),
        "errors": (2, [f"{a} and {b}" for a, b in SIZES], ".3f"),
    }
    texts = {}
    for name, (part, header, form) in parts.items():
        lines = [["rankings", "true value", *header], ["---"] * (2 + len(header))]
        lines += [
            [generator, f"{row[0]:.4f}", *(f"{value:{form}}".lstrip("0") if value < 1 else "1" for value in row[part])]
            for generator, row in rows.items()
        ]
        texts[name] = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return texts


def read_tables(page):
    """Return {table: {generator: values}} as the page shows them."""
    found = {}
    for name in ("coverage", "errors"):
        text = page.split(f"<!-- {name}:begin -->")[1].split(f"<!-- {name}:end -->")[0]
        cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.strip().splitlines()[2:]]
        found[name] = {row[0]: [float(cell) for cell in row[2:]] for row in cells}
    return found


def write(page, texts):
    """Return the page with both tables replaced."""
    for name, text in texts.items():
        begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
        before, rest = page.split(begin)
        page = f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}"
    return page


if __name__ == "__main__":
    texts = tables(rates())
    changed = write(PAGE.read_text(encoding="utf-8"), texts)
    write_atomically(PAGE, lambda file: file.write(changed.encode()), replace=True)
