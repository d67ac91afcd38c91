"""Correction for chance: the expected Jaccard index and its approximation, the expected FUJI, work for the curve."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore as fj
from fujiscore.paper.conventions import chance, curve
from fujiscore.paper.figures import line_figure, style
from fujiscore.paper.record import Table, check, make_section

if TYPE_CHECKING:
    from fujiscore.paper.conventions import Scores
    from fujiscore.paper.record import Checks, Figure, Judged, Section

SIZES = (10, 100, 1000, 20_531)
PERMUTATIONS = 4000
# The exact expectation of Jaccard counts as quick if the largest size takes less than this many seconds.
QUICK = 5.0


def section() -> Section:
    """Compute chance levels, and judge what the paper says about them."""
    start = time.perf_counter()
    exact = {n: fj.expected_jaccard(n) for n in SIZES}
    quick = time.perf_counter() - start < QUICK
    rough = {n: fj.expected_jaccard(n, method="paper") for n in SIZES}
    errors = [_errors(exact[n], rough[n]) for n in SIZES]
    columns = ("n", "largest error", "at k", "largest relative error", "at k ", "exact at k = 1")
    table = Table("expected_jaccard", "Error of k/(2n - k) as the expected Jaccard index", columns, errors)
    moments = _moments()
    checks = [*_check_jaccard(exact[100], errors, quick=quick), _check_fuji(moments), _check_work()]
    drawn = (_jaccard_figure(exact, rough), _fuji_figure(moments))
    return make_section("chance", checks, (table,), drawn)


def _moments() -> dict[str, Scores]:
    """Return FUJI's moments in closed form and from permutations, for 60 items with power-law scores."""
    r, s = (np.random.default_rng(seed).pareto(1.5, 60) for seed in (1, 2))
    null = chance(r, s, permutations=PERMUTATIONS)
    assert null.permutations is not None  # noqa: S101
    drawn = {"permutation_mean": null.permutations.mean, "permutation_variance": null.permutations.variance}
    return {"k": null.ks, "expected": null.expected, "variance": null.variance, **drawn}


def _errors(exact: Scores, rough: Scores) -> tuple[float, ...]:
    """Return the largest errors of the approximation, and where they are."""
    error = np.abs(exact - rough)
    relative = error / exact
    largest = (error.max(), int(error.argmax()) + 1, relative.max(), int(relative.argmax()) + 1)
    return (exact.size, *largest, exact[0])


def _jaccard_figure(exact: dict[int, Scores], rough: dict[int, Scores]) -> Figure:
    """Return the relative error of the approximation over k/n."""
    sizes = SIZES[:3]
    blocks = [(np.full(n, n), np.arange(1, n + 1), exact[n], rough[n]) for n in sizes]
    numbers = dict(zip(("n", "k", "exact", "approximation"), np.concatenate(blocks, axis=1), strict=True))
    rows = [
        (f"n = {n}", np.arange(1, n + 1) / n, rough[n] / exact[n], style(index, "jaccard", marker=""))
        for index, n in enumerate(sizes)
    ]
    caption = "The approximation k/(2n - k) divided by the exact expectation of Jaccard: one half at k = 1."
    axes: Any = {"xscale": "log", "xlabel": "k / n", "ylabel": "approximation / exact"}
    return line_figure("approximation", caption, rows, numbers, **axes)


def _fuji_figure(moments: dict[str, Scores]) -> Figure:
    """Return the exact expectation of FUJI with its standard deviation, and the means of permutations."""
    ks, expected, variance, mean, _ = moments.values()
    reach = 2 * np.sqrt(variance)
    band = ("± 2 sd, exact", ks, np.maximum(expected - reach, 0.0), np.minimum(expected + reach, 1.0))
    rows = [
        ("expectation, exact", ks, expected, style(0, marker="")),
        ("mean of permutations", ks, mean, style(0, color="black", ls="none", ms=3)),
    ]
    caption = f"FUJI by chance, 60 items, power-law scores: closed form, and {PERMUTATIONS} permutations."
    return line_figure("expected_fuji", caption, rows, moments, band=band, ylabel="FUJI by chance")


def _check_jaccard(exact: Scores, errors: list[tuple[float, ...]], *, quick: bool) -> Checks:
    """Check the statements on Jaccard's expectation."""
    n, _, _, relative, *_ = errors[-1]
    by_size = ", ".join(f"{row[1]:.2g} (n = {row[0]})" for row in errors)
    return [
        check("depends_on_k", holds=np.all(np.diff(exact) > 0), first=exact[0], n=exact.size),
        check(
            "approximation", holds=errors[1][1] < 0.01, caveat=relative > 0.1, errors=by_size, relative=relative, n=n
        ),
        check("exact_is_slow", holds=not quick, n=n, quick="less" if quick else "more", limit=QUICK),
    ]


def _check_fuji(moments: dict[str, Scores]) -> tuple[str, Judged]:
    """Check the statement on FUJI's expectation."""
    _, expected, variance, mean, drawn_variance = (column[:-1] for column in moments.values())
    errors = (np.abs(mean - expected) / np.sqrt(variance / PERMUTATIONS)).max()
    ratio = np.abs(drawn_variance / np.maximum(variance, 1e-300) - 1).max()
    holds = errors < 5 and ratio < 0.25
    return check("fuji_chance", holds=holds, caveat=True, permutations=PERMUTATIONS, errors=errors, ratio=ratio)


def _check_work() -> tuple[str, Judged]:
    """Check the statement on the algorithm's cost by counting the memberships that it evaluates."""
    counts = {n: _memberships(n) for n in (1000, 2000, 4000)}
    growth = counts[4000] / counts[2000]
    shown = ", ".join(f"{count:,} (n = {n})" for n, count in counts.items())
    return check("quadratic", holds=abs(growth - 4) < 0.1, caveat=True, counts=shown, growth=growth)


def _memberships(n: int) -> int:
    """Return the memberships evaluated for n reversed items: two per item of the symmetric difference at each k."""
    ks = np.arange(1, n + 1)
    jaccard = curve(ks, ks[::-1], "jaccard")
    shared = np.rint(2 * ks * jaccard / (1 + jaccard))
    return int((2 * 2 * (ks - shared)).sum())
