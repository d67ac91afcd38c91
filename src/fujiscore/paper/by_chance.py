"""Correction for chance: the expected Jaccard index and its approximation, the expected FUJI, work for the curve."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import fujiscore as fj
from fujiscore.paper import figures
from fujiscore.paper.conventions import chance, curve
from fujiscore.paper.record import Figure, Judged, Section, Table, claims, judge

if TYPE_CHECKING:
    from fujiscore.paper.conventions import Scores

SIZES = (10, 100, 1000, 20_531)
PERMUTATIONS = 4000
# The exact expectation of Jaccard counts as quick if the largest size takes less than this many seconds.
QUICK = 5.0


def section() -> Section:
    """Compute chance levels, and judge what the paper says about them."""
    text = (
        "The values expected for two unrelated rankings: Jaccard's from the hypergeometric distribution, against the "
        "paper's approximation k/(2n - k); and FUJI's expectation and variance in closed form, given the scores of "
        "both rankings, against random permutations."
    )
    r, s = (np.random.default_rng(seed).pareto(1.5, 60) for seed in (1, 2))
    null = chance(r, s, permutations=PERMUTATIONS)
    assert null.permutations is not None  # noqa: S101
    moments = {
        "k": null.ks,
        "expected": null.expected,
        "variance": null.variance,
        "permutation_mean": null.permutations.mean,
        "permutation_variance": null.permutations.variance,
    }
    errors = _approximation()
    judged = _judge_jaccard(errors) | _judge_fuji(moments) | _judge_work()
    drawn = (_approximation_figure(), _fuji_figure(moments))
    return Section("Correction for chance", (text,), (errors,), drawn, claims("chance", judged))


def _approximation() -> Table:
    """Return the errors of the approximation."""
    rows = []
    for n in SIZES:
        exact, rough = fj.expected_jaccard(n), fj.expected_jaccard(n, method="paper")
        error = np.abs(exact - rough)
        relative = error / exact
        rows.append((n, error.max(), int(error.argmax()) + 1, relative.max(), int(relative.argmax()) + 1, exact[0]))
    columns = ("n", "largest error", "at k", "largest relative error", "at k ", "exact at k = 1")
    return Table("expected_jaccard", "Error of k/(2n - k) as the expected Jaccard index", columns, rows)


def _approximation_figure() -> Figure:
    """Return the relative error of the approximation over k/n."""
    sizes = SIZES[:3]
    exact = {n: fj.expected_jaccard(n) for n in sizes}
    rough = {n: fj.expected_jaccard(n, method="paper") for n in sizes}
    columns = {
        "n": np.repeat(sizes, sizes),
        "k": np.concatenate([np.arange(1, n + 1) for n in sizes]),
        "exact": np.concatenate(list(exact.values())),
        "approximation": np.concatenate(list(rough.values())),
    }
    caption = "The approximation k/(2n - k) divided by the exact expectation of Jaccard: one half at k = 1."
    draw = partial(figures.ratios, lines={n: rough[n] / exact[n] for n in sizes})
    return Figure("approximation", caption, (5.2, 3.2), draw, columns)


def _fuji_figure(moments: dict[str, Scores]) -> Figure:
    """Return the exact expectation of FUJI with its standard deviation, and the means of permutations."""
    caption = f"FUJI by chance, 60 items, power-law scores: closed form, and {PERMUTATIONS} permutations."
    return Figure("expected_fuji", caption, (5.2, 3.4), partial(figures.null, columns=moments), moments)


def _judge_jaccard(errors: Table) -> dict[str, Judged]:
    """Judge the statements on Jaccard's expectation."""
    start = time.perf_counter()
    fj.expected_jaccard(SIZES[-1])
    quick = time.perf_counter() - start < QUICK
    rows = errors.rows
    return {
        "depends_on_k": judge(
            f"from {rows[1][5]:.4f} at k = 1 to 1 at k = n for n = {rows[1][0]}",
            holds=bool(np.all(np.diff(fj.expected_jaccard(100)) > 0)),
        ),
        "approximation": judge(
            f"largest error {', '.join(f'{row[1]:.2g} (n = {row[0]})' for row in rows)}; but at k = 1 it is "
            f"{rows[-1][3]:.0%} too low for n = {rows[-1][0]}: 1/(2n - 1) instead of 1/n",
            holds=rows[1][1] < 0.01,
            caveat=rows[-1][3] > 0.1,
        ),
        "exact_is_slow": judge(
            f"all {SIZES[-1]} values in {'less' if quick else 'more'} than {QUICK:g} s, because only the part of the "
            "distribution that carries mass is summed",
            holds=not quick,
        ),
    }


def _judge_fuji(moments: dict[str, Scores]) -> dict[str, Judged]:
    """Judge the statement on FUJI's expectation."""
    _, expected, variance, mean, spread = (column[:-1] for column in moments.values())
    errors = np.abs(mean - expected) / np.sqrt(variance / PERMUTATIONS)
    ratio = np.abs(spread / np.maximum(variance, 1e-300) - 1)
    measured = (
        f"given the observed scores of both rankings, expectation and variance are exact: {PERMUTATIONS} permutations "
        f"are within {errors.max():.1f} standard errors of the mean at every k, and their variance within "
        f"{ratio.max():.0%}"
    )
    return {"fuji_chance": judge(measured, holds=errors.max() < 5 and ratio.max() < 0.25, caveat=True)}


def _judge_work() -> dict[str, Judged]:
    """Judge the statement on the algorithm's cost by counting the memberships that it evaluates."""
    counts = {n: _memberships(n) for n in (1000, 2000, 4000)}
    growth = counts[4000] / counts[2000]
    measured = (
        f"the paper's algorithm evaluates {', '.join(f'{count:,} (n = {n})' for n, count in counts.items())} "
        f"memberships for reversed rankings (doubling n: {growth:.2f} times as many); running sums give the same curve "
        "in one pass over the items after sorting, so the order n² belongs to the algorithm, not to the problem"
    )
    return {"quadratic": judge(measured, holds=abs(growth - 4) < 0.1, caveat=True)}


def _memberships(n: int) -> int:
    """Return the memberships evaluated for n reversed items: two per item of the symmetric difference at each k."""
    ks = np.arange(1, n + 1)
    jaccard = curve(ks, ks[::-1], "jaccard")
    shared = np.rint(2 * ks * jaccard / (1 + jaccard))
    return int((2 * 2 * (ks - shared)).sum())
