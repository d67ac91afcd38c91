"""Pages of many rankings: the matrix of all pairs, and stability."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.charts.palette import BLUE, CHANCE
from fujiscore.errors import InputError, counted
from fujiscore.inference.multiplicity import ADJUSTMENTS
from fujiscore.many.pairwise import PairTask, task_for
from fujiscore.many.ranks import COVERS as RANKS_COVER
from fujiscore.many.ranks import ItemRanks, item_ranks
from fujiscore.many.stability import COVERS, Stability, StabilityCurve, stability_curve
from fujiscore.measures.registry import find
from fujiscore.pages.encode import log_grid, number, numbers, packed, text, texts
from fujiscore.pages.page import Page
from fujiscore.pages.tops import CELLS, described, tops
from fujiscore.pair.page import joined
from fujiscore.text.numbers import p_words
from fujiscore.work.tiles import run

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.inputs.ranking import Ranking, Rankings
    from fujiscore.many.matrix import Matrix
    from fujiscore.many.stability_tests import StabilityComparison

# Numbers of all pairs' curves together, and the most and the fewest points of each.
NUMBERS, MOST_POINTS, FEWEST_POINTS = 180_000, 48, 8
# Pairs computed as one tile.
TILE = 32
# Items whose rank intervals are drawn.
ITEMS = 30


def matrix(result: Matrix) -> Page:
    """Return the page of one matrix."""
    return matrices([result])


def matrices(results: Sequence[Matrix]) -> Page:
    """Return the page of matrices of the same rankings, one per measure."""
    first = results[0]
    items = []  # none if the matrix does not know the rankings
    if first.rankings is not None:
        items = [tops(first.rankings, ties=first.ties, zero_tail=first.zero_tail)]
    parts = [matrix_part(one, 0 if items else None) for one in results]
    parts += [follow_part(one, 0) for one in items]
    where = np.triu_indices(len(first.names), 1) if first.square else np.indices(first.values.shape).reshape(2, -1)
    values = first.values[tuple(where)]
    most, least = (_extreme(first, pick) for pick in (np.nanargmax, np.nanargmin))
    facts = [
        ("pairs", str(values.size), counted(len(set(first.names) | set(first.columns)), "ranking")),
        ("mean", _text(np.nanmean(values) if not np.isnan(values).all() else np.nan), first.area),
        ("most similar", *most),
        ("least similar", *least),
    ]
    marked = first.insignificant
    if marked is not None:
        facts.append(("not significant", str(int(marked.sum()) // (2 if first.square else 1)), first.legend[2:]))
    return Page(
        kind="Comparison of all pairs of rankings",
        names=[f"{len(first.names)} x {len(first.columns)} rankings"],
        verdict=_matrix_verdict(first, values, most, least),
        facts=facts,
        parts=parts,
        settings=matrix_settings(first),
        notes=joined([one.notes for one in results]),
        tops=items,
        corrected=first.corrected,
    )


def _extreme(result: Matrix, pick: Any) -> tuple[str, str]:
    """Return an extreme value, and the pair that has it."""
    values = result.values.copy()
    if result.square:
        np.fill_diagonal(values, np.nan)
    if np.isnan(values).all():
        return "undefined", ""
    i, j = np.unravel_index(pick(values), values.shape)
    return _text(float(values[i, j])), f"{text(result.names[i], 60)} and {text(result.columns[j], 60)}"


def _text(value: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:.4f}"


def _matrix_verdict(result: Matrix, values: Scores, most: tuple[str, str], least: tuple[str, str]) -> str:
    """Return the answer in one sentence."""
    title = f"{find(result.measure).title}, {result.area}"
    if not values.size or np.isnan(values).all():
        return f"{title}: no pair has a value."
    head = f"{title}: {np.nanmean(values):.2f} on average over {counted(values.size, 'pair')}"
    if values.size == 1:
        return f"{title}: {values[0]:.2f} ({most[1]})."
    return f"{head}, most for {most[1]} ({most[0]}), least for {least[1]} ({least[0]})."


def matrix_settings(result: Matrix) -> dict[str, Any]:
    """Return how a matrix was computed."""
    settings: dict[str, Any] = {"measure": result.measure, "value": result.area}
    if result.rankings is not None:
        settings |= {"items": result.rankings.n_whole, "universe": result.rankings.universe or "not given"}
    settings |= {"evaluated k": result.grid.described(), "ties": result.ties, "zero tail": result.zero_tail}
    if result.p_values is not None:
        settings |= {"p-values adjusted by": ADJUSTMENTS[result.adjustment], "alternative": result.alternative}
    return settings


def matrix_part(result: Matrix, place: int | None, title: str = "") -> dict[str, Any]:
    """Return a matrix as a heat map, with the curves of its pairs."""
    part: dict[str, Any] = {
        "kind": "matrix",
        "title": title or f"All pairs: {find(result.measure).title}, {result.as_raw().area}",
        "measure": find(result.measure).title,
        "names": [text(name) for name in result.names],
        "columns": None if result.square else [text(name) for name in result.columns],
        "raw": packed(result.raw),
        "expected": None if result.expected is None else packed(result.expected),
        "order": _leaves(result),
        "tops": place,
    }
    if result.p_values is not None and result.adjusted_p_values is not None and result.insignificant is not None:
        part |= {"p": packed(result.p_values), "adjusted": packed(result.adjusted_p_values), "legend": result.legend}
        part["marked"] = packed(result.insignificant, "u1")
    return part | ({} if result.rankings is None else {"curves": pair_curves(result)})


def _leaves(result: Matrix) -> list[int] | None:
    """Return the order in which similar rankings are neighbours."""
    if not result.square or len(result.names) < 3:
        return None
    places = {name: place for place, name in enumerate(result.names)}
    return [places[name] for name in result.clustered().names]


def pair_curves(result: Matrix) -> dict[str, Any] | None:
    """Return the curves of all pairs on a log grid, as many points as a page has room for; None without room."""
    rankings, m = result.rankings, len(result.names)
    assert rankings is not None  # noqa: S101 - for the type checker
    square = result.square
    pairs = list(combinations(range(m), 2) if square else product(range(m), range(m, len(rankings))))
    tasks = _tasks(result, rankings, 2)
    if not pairs or not tasks:
        return None
    columns = sum(2 if task.corrected else 1 for task in tasks)
    points = min(MOST_POINTS, NUMBERS // (len(pairs) * columns))
    if points < FEWEST_POINTS:
        return None
    tasks = _tasks(result, rankings, points)
    tiles = [(pairs[start : start + TILE],) for start in range(0, len(pairs), TILE)]
    numbers_ = np.concatenate(run(_curves_of, tiles, shared=(tasks, list(rankings)), label="curves"), axis=1)
    lines, row = [], 0
    for task in tasks:
        measure = task.measure
        line = {"title": measure.title, "colour": measure.colour, "low_end": measure.low}
        line["values"] = packed(numbers_[row])
        if task.corrected:
            line["expected"] = packed(numbers_[row + 1])
        row += 2 if task.corrected else 1
        lines.append(line)
    return {"ks": tasks[0].grid.ks.tolist(), "lines": lines}


def _tasks(result: Matrix, rankings: Rankings, points: int) -> list[PairTask]:
    """Return what to compute of each pair: the measure if it is one of top sets, FUJI and Jaccard."""
    ks = log_grid(rankings.depth, points)
    measure = find(result.measure)
    first = [] if measure.by_rank or not measure.symmetric else [measure.name]
    options: Any = {"ties": result.ties, "zero_tail": result.zero_tail}
    tasks = []
    for name in dict.fromkeys([*first, "fuji", "jaccard"]):
        for corrected in (True, False) if name in {result.measure, "fuji"} else (False,):
            try:
                tasks.append(task_for(rankings, name, ks=ks, corrected=corrected, **options))
            except InputError:  # no chance level in closed form, or no scores for FUJI
                continue
            break
    return tasks


def _curves_of(tasks: list[PairTask], members: list[Ranking], pairs: list[tuple[int, int]]) -> Scores:
    """Return the curves of some pairs, and the chance levels of those that have one."""
    rows = [
        [curve for task in tasks for curve in task.curves(members[i], members[j]) if curve is not None]
        for i, j in pairs
    ]
    return np.array(rows).transpose(1, 0, 2)


def follow_part(
    entry: dict[str, Any], place: int, title: str = "Follow an item", noun: str = "ranking"
) -> dict[str, Any]:
    """Return the search for an item through all rankings."""
    return {"kind": "follow", "title": title, "tops": place, "said": described(entry, noun)}


def stability(result: Stability) -> Page:
    """Return the page of one method's stability."""
    curves = [] if result.rankings is None else [_curve(result)]
    return stabilities(["rankings"], [([result], None)], [curves])


def _curve(result: Stability) -> StabilityCurve:
    """Return a method's stability over k."""
    pairs = result.pairs
    options: Any = {"ties": pairs.ties, "zero_tail": pairs.zero_tail, "corrected": pairs.corrected}
    return stability_curve(result.rankings, pairs.measure, ks=pairs.grid, confidence=result.confidence, **options)


def stability_comparison(result: StabilityComparison) -> Page:
    """Return the page of two methods' stability."""
    both = [result.first, result.second]
    curves = [_curve(one) for one in both if one.rankings is not None]
    return stabilities(["first", "second"], [(both, result)], [curves])


def stabilities(
    names: Sequence[str],
    results: Sequence[tuple[Sequence[Stability], StabilityComparison | None]],
    curves: Sequence[Sequence[StabilityCurve]],
) -> Page:
    """Return the page of one or two methods, by one or several measures."""
    methods = list(results[0][0])
    room = CELLS // len(methods)
    items = [
        tops(one.rankings, ties=one.pairs.ties, zero_tail=one.pairs.zero_tail, cells=room)
        for one in methods
        if one.rankings is not None
    ]
    parts = [interval_part(names, results)]
    parts += [curve_part(names, lines) for lines in curves if lines and lines[0].ks.size > 1]
    parts += [
        matrix_part(
            one.pairs, place if items else None, f"{_of(names, place)}{find(one.pairs.measure).title} of all pairs"
        )
        for stable, _ in results
        for place, one in enumerate(stable)
    ]
    for place, one in enumerate(methods):
        parts.append(_left_out_part(one, _of(names, place)))
        if one.rankings is not None:
            parts.append(ranks_part(item_ranks(one.rankings, 10, one.confidence), _of(names, place)))
            parts.append(follow_part(items[place], place, f"{_of(names, place)}Follow an item".strip()))
    every = [one for stable, test in results for one in (*stable, *([test] if test else []))]
    return Page(
        kind="Stability",
        names=names,
        verdict=_stability_verdict(names, *results[0]),
        facts=[fact for stable, test in results for fact in _facts(names, stable, test)],
        parts=parts,
        settings=matrix_settings(methods[0].pairs) | {"confidence": f"{methods[0].confidence:.0%}"},
        notes=[*joined([one.notes for one in every]), COVERS],
        tops=items,
        corrected=methods[0].pairs.corrected,
    )


def _of(names: Sequence[str], place: int) -> str:
    """Return the start of a title, where there is more than one method."""
    return f"{text(names[place], 40)}: " if len(names) > 1 else ""


def _span(one: Stability, digits: int) -> str:
    """Return the interval of a stability in words."""
    if np.isnan(one.low):
        return "no interval"
    return f"{one.confidence:.0%} interval {one.low:.{digits}f} to {one.high:.{digits}f}"


def _facts(
    names: Sequence[str], stable: Sequence[Stability], test: StabilityComparison | None
) -> list[tuple[str, str, str]]:
    """Return each method's stability, and their difference."""
    title = find(stable[0].pairs.measure).title
    rows = [(f"{_of(names, place)}{title}", _text(one.value), _span(one, 4)) for place, one in enumerate(stable)]
    if test is not None:
        reading = f"{test.low:+.4f} to {test.high:+.4f}, {p_words(test.p_value)} ({test.kind})"
        if np.isnan(test.difference):
            reading = "no interval"
        shown = "undefined" if np.isnan(test.difference) else f"{test.difference:+.4f}"
        rows.append((f"difference, {title}", shown, reading))
    return rows


def _stability_verdict(names: Sequence[str], stable: Sequence[Stability], test: StabilityComparison | None) -> str:
    """Return the answer in one sentence."""
    title = f"{find(stable[0].pairs.measure).title}, {stable[0].pairs.area}"
    if test is None:
        one = stable[0]
        value = "undefined" if np.isnan(one.value) else f"{one.value:.2f} ({_span(one, 2)})"
        return f"Stability {value} over {one.m} rankings: mean {title} of all pairs."
    if np.isnan(test.difference):
        return f"Which method is more stable is undefined: {title}."
    more = text(names[1] if test.difference > 0 else names[0], 60)
    clear = test.low > 0 or test.high < 0
    says = f"{more} is more stable" if clear else "Neither method is clearly more stable"
    return f"{says} (difference {test.difference:+.2f}, {p_words(test.p_value)}, {test.kind}): {title}."


def interval_part(
    names: Sequence[str], results: Sequence[tuple[Sequence[Stability], StabilityComparison | None]]
) -> dict[str, Any]:
    """Return each method's stability with its interval as a chart."""
    rows = [
        interval_row(f"{text(name)}, {find(one.pairs.measure).title}" if len(results) > 1 else name, one)
        for stable, _ in results
        for name, one in zip(names, stable, strict=True)
    ]
    first = results[0][0][0]
    return {
        "kind": "intervals",
        "title": "Stability",
        "axis": f"mean {find(first.pairs.measure).title if len(results) == 1 else 'similarity'} of all pairs, "
        f"{first.confidence:.0%} interval",
        "rows": rows,
    }


def interval_row(name: str, one: Stability) -> dict[str, Any]:
    """Return one method's stability as a row of a chart."""
    ends = {"value": number(one.value), "low": number(one.low), "high": number(one.high)}
    return {"label": text(name), "colour": find(one.pairs.measure).colour, **ends}


def curve_part(names: Sequence[str], curves: Sequence[StabilityCurve]) -> dict[str, Any]:
    """Return stability over k with its band, one line per method."""
    shades = [find(curves[0].measure).colour, BLUE]
    first = curves[0]
    lines = [
        {
            "title": text(name) if len(curves) > 1 else find(curve.measure).title,
            "colour": shades[place % 2],
            "values": packed(curve.values),
            "low": packed(curve.low),
            "high": packed(curve.high),
            "low_end": 0.0,
        }
        for place, (name, curve) in enumerate(zip(names, curves, strict=True))
    ]
    kind = ", corrected for chance" if first.corrected else ""
    title = f"Stability over k: {find(first.measure).title}{kind}, {first.confidence:.0%} interval"
    return {"kind": "curves", "title": title, "ks": first.ks.tolist(), "lines": lines, "said": ""}


def _left_out_part(one: Stability, start: str) -> dict[str, Any]:
    """Return the stability without each ranking in turn, those that change it most first."""
    order = np.argsort(-np.abs(one.left_out - one.value), kind="stable")[: 2 * ITEMS]
    names = texts(one.pairs.names)
    rows = [{"label": names[i], "value": number(one.left_out[i]), "colour": CHANCE} for i in order.tolist()]
    some = f" (the {len(rows)} that change it most)" if len(rows) < len(names) else ""
    title = f"{start}Stability without each ranking{some}"
    return {"kind": "intervals", "title": title, "axis": "stability", "rows": rows, "line": number(one.value)}


def ranks_part(ranks: ItemRanks, start: str = "", most: int = ITEMS) -> dict[str, Any]:
    """Return the rank intervals of the first items, with their tiers."""
    names = texts(ranks.items[:most])
    columns = [numbers(column[:most]) for column in (ranks.mean, ranks.low, ranks.high, ranks.best, ranks.worst)]
    rows = [
        {"label": label, "value": mean, "low": low, "high": high, "least": best, "most": worst, "tier": int(tier)}
        | {"colour": BLUE, "in top": number(share)}
        for label, mean, low, high, best, worst, tier, share in zip(
            names, *columns, ranks.tier[:most], ranks.in_top[:most], strict=True
        )
    ]
    some = f" (first {len(rows)} of {len(ranks.items)} items)" if len(rows) < len(ranks.items) else ""
    axis = f"mean rank over {ranks.m} rankings, {ranks.confidence:.0%} interval; thin line: best to worst"
    said = [f"Items of different tiers differ significantly in mean rank; this is {RANKS_COVER}.", *ranks.notes]
    return {"kind": "intervals", "title": f"{start}Ranks of items{some}", "axis": axis, "rows": rows, "said": said}
