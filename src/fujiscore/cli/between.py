"""`fuji stability --between`: how similar two methods are over resamples, and whether a third one is less so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

import fujiscore as fj
from fujiscore.cli.output import Report
from fujiscore.cli.terminal import Screen, fitted
from fujiscore.errors import short_names
from fujiscore.measures.registry import find
from fujiscore.text.tabular import data_of, schema, tables_of

if TYPE_CHECKING:
    from fujiscore.inference.intervals import Alternative

COLUMNS = ("first", "second", "measure", "area", "similarity", "low", "high", "standard_error", "confidence", "paired")


def report(
    methods: Mapping[str, fj.Rankings], measures: Sequence[fj.results.Measure], alternative: Alternative, **options: Any
) -> Report:
    """Return the similarity of the first method and each other one, and with three methods the difference."""
    if len(methods) == 2 and alternative != "two-sided":
        raise click.UsageError("--alternative needs three methods with --between: is A more similar to B than to C.")
    results: list[fj.results.ResampledSimilarity] = []
    tests: list[fj.results.PairComparison] = []
    a, *others = methods.values()
    for measure in {one.name: one for one in measures}.values():
        if len(others) == 1:
            results.append(fj.stats.resampled_similarity(a, others[0], measure, **options))
        else:
            tests.append(fj.stats.compare_pairs(a, others[0], others[1], measure, alternative=alternative, **options))
            results += [tests[-1].first, tests[-1].second]
    first, *seconds = methods
    named = [{"first": first, "second": seconds[i % len(seconds)], **data_of(one)} for i, one in enumerate(results)]
    differences = [{**data_of(test), "first": seconds[0], "second": seconds[1]} for test in tests]
    notes = tuple(dict.fromkeys(note for one in (*results, *tests) for note in one.notes))
    corrected = results[0].pairs.corrected
    return Report(
        "stability --between",
        lambda screen: _text(screen, short_names(methods), results, tests),
        lambda: {
            "schema": schema("similarities"),
            "corrected": corrected,
            "similarities": named,
            "differences": differences,
        },
        lambda: {name: [row[name] for row in named] for name in COLUMNS},
        notes,
    )


def _text(
    screen: Screen,
    names: Sequence[str],
    results: Sequence[fj.results.ResampledSimilarity],
    tests: Sequence[fj.results.PairComparison],
) -> list[str]:
    """Return the similarities and their difference as lines."""
    first = results[0]
    kind = "rankings of the same resample" if first.paired else "all pairs of a ranking of each"
    pairs = [f"{names[0]} and {other}" for other in names[1:]]
    lines = [
        *screen.wrap(f"fuji stability: mean similarity of methods, {kind}"),
        *screen.wrap(f"{first.pairs.area}, {first.pairs.grid.described()}"),
    ]
    for table in [test.table(pairs) for test in tests] or [tables_of(one)[0] for one in results]:
        lines += ["", *fitted(screen, table, table.caption if tests else f"{pairs[0]}: {table.caption}")]
    for test in tests:
        clear = test.low > 0 or test.high < 0
        words = (
            f"more similar to {names[1 if test.difference > 0 else 2]}"
            if clear
            else "not clearly more similar to either"
        )
        lines += ["", *screen.wrap(f"{find(test.first.pairs.measure).title}: {names[0]} is {words}")]
    return lines
