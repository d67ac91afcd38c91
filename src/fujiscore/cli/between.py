"""`fuji stability --between`: how similar two methods are over resamples, and whether a third one is less so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import fujiscore as fj
from fujiscore.cli.output import Report
from fujiscore.cli.terminal import label, table
from fujiscore.errors import NAME, shortened
from fujiscore.many.pair_tests import COVERS
from fujiscore.measures.registry import find

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fujiscore.cli.terminal import Screen
    from fujiscore.inference.intervals import Alternative

HEADER = ("first", "second", "measure", "area", "similarity", "low", "high", "standard_error", "confidence", "paired")
TESTED = ("difference", "low", "high", "p_value", "statistic", "alternative")


def report(
    methods: Mapping[str, fj.Rankings], measures: Sequence[fj.results.Measure], alternative: Alternative, **options: Any
) -> Report:
    """Return the similarity of the first method and each other one, and with three methods the difference."""
    if len(methods) == 2 and alternative != "two-sided":
        raise click.UsageError("--alternative needs three methods with --between: is A more similar to B than to C.")
    results: list[fj.results.ResampledSimilarity] = []
    tests: list[fj.results.PairComparison] = []
    a, *others = methods.values()
    for measure in {own.name: own for own in measures}.values():
        if len(others) == 1:
            results.append(fj.stats.resampled_similarity(a, others[0], measure, **options))
        else:
            tests.append(fj.stats.compare_pairs(a, others[0], others[1], measure, alternative=alternative, **options))
            results += [tests[-1].first, tests[-1].second]
    names, count = list(methods), len(methods) - 1
    rows = [_row(names[0], names[1 + i % count], result) for i, result in enumerate(results)]
    data: dict[str, Any] = {
        "corrected": results[0].pairs.corrected,
        "similarities": [dict(zip(HEADER, row, strict=True)) for row in rows],
        "differences": [
            {"measure": test.first.pairs.measure, **{field: getattr(test, field) for field in TESTED}} for test in tests
        ],
    }
    notes = tuple(dict.fromkeys(note for one in (*results, *tests) for note in one.notes))
    return Report(
        "stability --between",
        lambda screen: _text(screen, list(map(label, names)), results, tests),
        lambda: data,
        HEADER,
        lambda: rows,
        notes,
    )


def _row(first: str, second: str, one: fj.results.ResampledSimilarity) -> list[Any]:
    """Return a similarity as a row of the table."""
    numbers = [one.value, one.low, one.high, one.standard_error, one.confidence, one.paired]
    return [first, second, one.pairs.measure, one.pairs.area, *numbers]


def _text(
    screen: Screen,
    names: Sequence[str],
    results: Sequence[fj.results.ResampledSimilarity],
    tests: Sequence[fj.results.PairComparison],
) -> list[str]:
    """Return the similarities and their difference as lines."""
    first, count = results[0], len(names) - 1
    short = [shortened(name, NAME) for name in names]
    rows = []
    for i, one in enumerate(results):
        measure, pair = find(one.pairs.measure).title, f"{short[0]} and {short[1 + i % count]}"
        rows.append([pair, measure, f"{one.value:.4f}", f"{one.low:.4f} to {one.high:.4f}"])
        if tests and i % count:
            test = tests[i // count]
            rows.append(["difference", measure, f"{test.difference:+.4f}", f"{test.low:+.4f} to {test.high:+.4f}"])
    kind = "rankings of the same resample" if first.paired else "all pairs of a ranking of each"
    return [
        *screen.wrap(f"fuji stability: mean similarity of methods, {kind}"),
        *screen.wrap(f"{first.pairs.area}, {first.pairs.grid.described()}"),
        "",
        *table(screen, ["methods", "measure", "similarity", f"{first.confidence:.0%} interval"], rows, left=(0, 1)),
        *screen.wrap(COVERS),
        *([""] if tests else []),
        *(line for test in tests for line in screen.wrap(_verdict(short, test))),
    ]


def _verdict(names: Sequence[str], test: fj.results.PairComparison) -> str:
    """Return what the comparison says, in words."""
    closer = names[1] if test.difference > 0 else names[2]
    clear = test.low > 0 or test.high < 0
    words = f"{names[0]} is more similar to {closer}" if clear else f"{names[0]} is not clearly more similar to either"
    sides = "" if test.alternative == "two-sided" else f", one-sided: {test.alternative}"
    return f"{find(test.first.pairs.measure).title}: {words} (p = {test.p_value:.4g}{sides})"
