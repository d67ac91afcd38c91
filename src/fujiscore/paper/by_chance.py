"""Correction for chance: the expected Jaccard index and its approximation, the expected FUJI, work for the curve."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore as fj
from fujiscore.paper import pictures
from fujiscore.paper.record import Claim, Picture, Section, Table, columns_table, judge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Scores = NDArray[Any]

SIZES = (10, 100, 1000, 20_531)
PERMUTATIONS = 4000
# Seconds within which the exact expectation of Jaccard counts as quick, at the largest size.
QUICK = 5.0


def long_tailed(n: int, seed: int) -> Scores:
    """Return random scores of a power law, in random order."""
    return np.random.default_rng(seed).pareto(1.5, n)


def section() -> Section:
    """Compute chance levels, and judge what the paper says about them."""
    errors = _approximation()
    text = (
        "What two unrelated rankings would score: Jaccard's expectation from the hypergeometric distribution, against "
        "the paper's approximation k/(2n - k); and FUJI's expectation and variance in closed form, given the scores "
        "of both rankings, against random permutations."
    )
    null = fj.chance(long_tailed(60, 1), long_tailed(60, 2), permutations=PERMUTATIONS, progress=False)
    shown = (_approximation_picture(), _fuji_picture(null))
    claims = [*_jaccard_claims(errors), *_fuji_claims(null), *_work_claims()]
    return Section("Correction for chance", (text,), (errors,), shown, claims)


def _approximation() -> Table:
    """Return the errors of the approximation."""
    rows = []
    for n in SIZES:
        exact, rough = fj.expected_jaccard(n), fj.expected_jaccard(n, method="paper")
        apart = np.abs(exact - rough)
        relative = apart / exact
        rows.append((n, apart.max(), int(apart.argmax()) + 1, relative.max(), int(relative.argmax()) + 1, exact[0]))
    columns = ("n", "largest error", "at k", "largest relative error", "at k ", "exact at k = 1")
    return Table("expected_jaccard", "Error of k/(2n - k) as the expected Jaccard index", columns, rows)


def _approximation_picture() -> Picture:
    """Return the relative error of the approximation over k/n."""
    lines = {}
    rows = []
    for n in SIZES[:3]:
        exact, rough = fj.expected_jaccard(n), fj.expected_jaccard(n, method="paper")
        ks = np.arange(1, n + 1)
        lines[n] = (ks / n, rough / exact)
        rows += list(zip([n] * n, ks, exact, rough, strict=True))
    caption = "The approximation k/(2n - k) over the exact expectation of Jaccard: half of it at k = 1."
    numbers = Table("approximation", caption, ("n", "k", "exact", "approximation"), rows, shown=False)
    return Picture("approximation", caption, (5.2, 3.2), lambda figure: pictures.ratios(figure, lines), numbers)


def _fuji_picture(found: fj.Chance) -> Picture:
    """Return the exact expectation of FUJI with its spread, and the means of permutations."""
    drawn = found.permutations
    assert drawn is not None  # noqa: S101
    caption = f"FUJI by chance, 60 items, power-law scores: closed form, and {PERMUTATIONS} permutations."
    columns = {
        "k": found.ks,
        "expected": found.expected,
        "variance": found.variance,
        "permutation_mean": drawn.mean,
        "permutation_variance": drawn.variance,
    }
    numbers = columns_table("expected_fuji", caption, columns)
    return Picture("expected_fuji", caption, (5.2, 3.4), lambda figure: pictures.null(figure, columns), numbers)


def _jaccard_claims(errors: Table) -> list[Claim]:
    """Judge the statements on Jaccard's expectation."""
    source = "Correction for chance"
    start = time.perf_counter()
    fj.expected_jaccard(SIZES[-1])
    quick = time.perf_counter() - start < QUICK
    rows = errors.rows
    return [
        Claim(
            source,
            "Jaccard's expectation for random rankings depends on k, so it needs correcting.",
            judge(
                f"from {rows[1][5]:.4f} at k = 1 to 1 at k = n for n = {rows[1][0]}",
                holds=bool(np.all(np.diff(fj.expected_jaccard(100)) > 0)),
            ),
            "fj.expected_jaccard, exact.",
        ),
        Claim(
            source,
            "k/(2n - k) approximates Jaccard's expectation accurately.",
            judge(
                f"largest error {', '.join(f'{row[1]:.2g} (n = {row[0]})' for row in rows)}; but at k = 1 it is "
                f"{rows[-1][3]:.0%} too low for n = {rows[-1][0]}: 1/(2n - 1) for 1/n",
                holds=rows[1][1] < 0.01,
                caveat=rows[-1][3] > 0.1,
            ),
            "Exact expectation against the approximation at every k.",
        ),
        Claim(
            source,
            "Computing Jaccard's expectation exactly takes a while for large n.",
            judge(
                f"all {SIZES[-1]} values in {'less' if quick else 'more'} than {QUICK:g} s, because only the part of "
                "the distribution that carries mass is summed",
                holds=not quick,
            ),
            "fj.expected_jaccard, timed.",
        ),
    ]


def _fuji_claims(found: fj.Chance) -> list[Claim]:
    """Judge the statement on FUJI's expectation."""
    drawn = found.permutations
    assert drawn is not None  # noqa: S101
    inner = slice(0, -1)
    errors_of_mean = np.abs(drawn.mean - found.expected)[inner] / np.sqrt(found.variance[inner] / PERMUTATIONS)
    spread = np.abs(drawn.variance / np.maximum(found.variance, 1e-300) - 1)[inner]
    return [
        Claim(
            "Correction for chance",
            "Correcting FUJI requires the distribution of the scores to be known.",
            judge(
                f"given both rankings' scores, as observed, expectation and variance are exact: {PERMUTATIONS} "
                f"permutations are within {errors_of_mean.max():.1f} standard errors of the mean at every k, and their "
                f"variance within {spread.max():.0%}",
                holds=errors_of_mean.max() < 5 and spread.max() < 0.25,
                caveat=True,
            ),
            "fj.chance for two power-law rankings of 60 items: closed form against permutations.",
        ),
    ]


def _work_claims() -> list[Claim]:
    """Judge the statements on the algorithm's cost by counting the memberships that it evaluates."""
    counts = {n: _memberships(np.arange(n, 0.0, -1.0), np.arange(1.0, n + 1)) for n in (1000, 2000, 4000)}
    growth = counts[4000] / counts[2000]
    listed = ", ".join(f"{count:,} (n = {n})" for n, count in counts.items())
    return [
        Claim(
            "Appendix, the algorithm",
            "The whole FUJI curve takes time of order n² in the worst case.",
            judge(
                f"the paper's algorithm evaluates {listed} memberships for reversed rankings (doubling n: {growth:.2f} "
                "times as many); running sums give the same curve in one pass over the items after sorting, so the "
                "order n² is the algorithm's, not the problem's",
                holds=abs(growth - 4) < 0.1,
                caveat=True,
            ),
            "Twice the sum over k of the symmetric difference of the top sets, which the algorithm goes through.",
        ),
    ]


def _memberships(r: Scores, s: Scores) -> int:
    """Return how many memberships the paper's algorithm evaluates: two an item of the symmetric difference, each k."""
    jaccard = fj.curve(r, s, "jaccard").values
    ks = np.arange(1, r.size + 1)
    shared = np.rint(2 * ks * jaccard / (1 + jaccard))
    return int((2 * 2 * (ks - shared)).sum())
