"""The page of two runs: spread over the queries, groups, and the items of the least similar ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, counted
from fujiscore.measures.registry import find
from fujiscore.pages.encode import packed, table_part, text, texts
from fujiscore.pages.page import Page
from fujiscore.pair.compare import compare
from fujiscore.pair.page import embedded, pair_part
from fujiscore.runs.results import SETS, RunComparison, number

if TYPE_CHECKING:
    from fujiscore.pair.gates import Verdict

# The least similar queries that a page lists, those whose items it shows, and items times lists of each of these.
QUERIES, SHOWN, CELLS = 2000, 50, 2000


def run_comparison(result: RunComparison, gates: Verdict | None = None) -> Page:
    """Return the page of two runs, with what the gates say if there are any."""
    places = result.changed_most(QUERIES)
    held, pairs = _lists(result, places)
    parts: list[dict[str, Any]] = [_histogram(result), table_part(result.spread_table(), "Measures")]
    if gates is not None and gates.checks:
        parts.insert(0, {"kind": "said", "title": "Gates", "said": gates.lines()})
    parts.append(_queries(result, places, pairs))
    if result.groups is not None:
        parts.append(table_part(result.group_table(), "Groups, the lowest means first"))
    return Page(
        kind="Comparison of two runs",
        names=[str(result.settings[side]) for side in ("a", "b")],
        verdict=_verdict(result, gates),
        facts=_facts(result),
        parts=parts,
        settings={
            "queries in both runs": len(result),
            "compared": result.place,
            "measures": ", ".join(measure.name for measure in result.measures),
            "universe": result.settings["universe"] or "not given",
            "missing": result.settings["missing"],
            "ties": result.settings["ties"],
            "zero tail": result.settings["zero_tail"],
            "confidence": f"{result.confidence:.0%}",
        },
        notes=result.notes,
        tops=held,
    )


def _verdict(result: RunComparison, gates: Verdict | None) -> str:
    """Return the answer in a sentence or two."""
    spread, title = result.spread(), find(result.measures[0].name).title
    judged = ""
    if gates is not None and gates.checks:
        judged = f"{len(gates.failed())} of {counted(len(gates.checks), 'gate')} failed. "
    least = ", at least," if "fuji_high" in result.columns and result.measures[0].name == "fuji" else ""
    interval = (
        "" if np.isnan(spread.low) else f" ({result.confidence:.0%} interval {spread.low:.2f} to {spread.high:.2f})"
    )
    head = f"{judged}{title}{least} {number(spread.mean)[:6]} on average{interval} over {'; '.join(result.in_words())}"
    return f"{head}."


def _facts(result: RunComparison) -> list[tuple[str, str, str]]:
    """Return the mean of each measure."""
    table = result.spread_table()
    return [(f"mean {row[0]}", row[1], f"{table.header[2]} {row[2]}, median {row[3]}") for row in table.rows[:6]]


def _histogram(result: RunComparison) -> dict[str, Any]:
    """Return the number of queries by value."""
    measure = result.measures[0]
    kinds = {"raw": result.histogram()}
    name = f"{measure.name}_corrected"
    if name in result.columns:
        kinds["corrected"] = result.histogram(name)
    bars = {kind: [[label, count] for label, count in counts.items()] for kind, counts in kinds.items()}
    title = f"Queries by {measure.title}"
    return {"kind": "histogram", "title": title, "bars": bars, "colour": measure.colour, "unit": "queries"}


def _queries(result: RunComparison, places: list[int], pairs: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """Return the least similar queries as columns, and the parts of those whose lists were kept."""
    names = [name for name in result.shown_columns() if name in result.columns]
    columns = [result.columns[name][places] for name in (*names, "shared", "n_a", "n_b", "k")]
    titles = [result.column_title(name) for name in names]
    groups = None if result.groups is None else texts([result.groups[place] for place in places])
    shown = "" if len(places) == len(result) else f"The {len(places)} least similar of {len(result)} queries."
    kept = f"Lists of {counted(len(pairs), 'query', 'queries')} are on this page."
    return {
        "kind": "queries",
        "title": "Least similar queries",
        "queries": texts([result.queries[place] for place in places]),
        "groups": groups,
        "columns": [*titles, "items in both", "items in a", "items in b", "k"],
        "values": packed(np.array(columns, np.float64)),
        "pairs": {str(row): part for row, part in pairs.items()},
        "said": f"{shown} {kept}".strip(),
    }


def _lists(result: RunComparison, places: list[int]) -> tuple[list[dict[str, Any]], dict[int, dict[str, Any]]]:
    """Return the kept lists as a page holds them, and by row the part that shows a query."""
    held: list[dict[str, Any]] = []
    pairs: dict[int, dict[str, Any]] = {}
    options: Any = {name: result.settings.get(name, usual) for name, usual in SETS.items()}
    missing: Any = "drop" if result.settings.get("missing") == "drop" else "zero"
    for row, place in enumerate(places[: len(result.lists)]):
        query = result.queries[place]
        if len(pairs) == SHOWN or query not in result.lists:
            continue
        try:
            one = compare(*result.lists[query], ("fuji", "jaccard"), ks="all", missing=missing, **options)
        except InputError:  # lists without an item, or without a score for FUJI
            continue
        title = f"Query {text(query)}"
        part = pair_part(one, len(held), title=title, start=max(1, int(result.columns["k"][place])))
        if "fuji_high" in result.columns:  # unlisted items count as 0
            part["lines"][0]["title"] = "FUJI, at least"
            part["least"] = True
        pairs[row] = part
        held.append(embedded(one, cells=CELLS))
    return held, pairs
