"""The page of two versions of a model: the verdict, what changed in share and rank, and the items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fujiscore.pages.encode import number, table_part, text
from fujiscore.pages.page import Page
from fujiscore.pair.page import comparison
from fujiscore.versions.results import SHARES, Drift, FeatureChange

# Features that the chart of shares and the tables of movers have.
CHARTED, LISTED = 20, 200
# What joins a feature's shares is grey as in the figure: the colours belong to measures.
SPAN = "#8A8A8A"


def drift(result: Drift, gates: Sequence[str] = ()) -> Page:
    """Return the page of two versions, with the gates' lines if there are any."""
    pair = comparison(result.comparison)
    said = [*gates, *([] if result.noise is None else result.noise.in_words()), *result.counts()]
    parts: list[dict[str, Any]] = [{"kind": "said", "title": "What changed", "said": said}]
    changed = [change for change in result.changes if change.kind != "same"]
    if changed:
        parts.append(_shares_part(changed, len(result.changes)))
    parts += map(table_part, result.mover_tables(LISTED))
    kind = {} if result.noise is None else {"noise": result.noise_kind, "confidence": f"{result.confidence:.0%}"}
    return Page(
        kind="Drift between two versions",
        names=result.names,
        verdict=f"{result.verdict[0].upper()}{result.verdict[1:]}. {result.comparison.verdict()}.",
        facts=pair.facts,
        parts=[*parts, *pair.parts],
        settings={**pair.settings, **kind},
        notes=result.notes,
        tops=pair.tops,
    )


def _shares_part(changed: Sequence[FeatureChange], count: int) -> dict[str, Any]:
    """Return the shares of the features that changed most, in the old version and in the new one."""
    shown = changed[:CHARTED]
    rows = []
    for change in shown:
        shares = (change.share_reference, change.share_current)
        values = dict(zip(("from", "value", "low", "high"), map(number, (*shares, *sorted(shares))), strict=True))
        rows.append({"label": text(change.item), **values, "colour": SPAN})
    some = f" (the {len(shown)} that changed most of {count})" if len(shown) < count else ""
    table = [[row["label"], row["from"], row["value"]] for row in rows]
    return {
        "kind": "intervals",
        "title": f"Shares of the features{some}",
        "axis": "share, from the old version (circle) to the new one (dot)",
        "said": [f"{SHARES[0].upper()}{SHARES[1:]}."],
        "rows": rows,
        "table": [["feature", "old share", "new share"], table],
    }
