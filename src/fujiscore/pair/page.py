"""The page of two rankings: curves against chance, and the items behind them at each k."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from fujiscore.measures.overlap import zero_policy
from fujiscore.measures.registry import find
from fujiscore.null.chance import chance_words
from fujiscore.null.closed_forms import correct
from fujiscore.pages.encode import packed, table_part, thinned
from fujiscore.pages.page import Page
from fujiscore.pages.tops import described, tops
from fujiscore.pair.compare import Comparison, Level, levels_table
from fujiscore.pair.verdicts import level_p_words

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.measures.grids import Sizes

# Headline numbers at the head of the page.
FACTS = 6


def comparison(result: Comparison, k: int | None = None) -> Page:
    """Return the page of a comparison, which shows the items at k first."""
    names = result.rankings.names
    items = [embedded(result)] if result.in_memory else []
    parts: list[dict[str, Any]] = [pair_part(result, 0 if items else None, start=k or result.usual_k)]
    if said := chance_words(result.chance.values()):
        parts.append({"kind": "said", "title": "Against chance", "said": said})
    if items:
        parts.append({"kind": "follow", "title": "Find an item", "tops": 0, "said": described(items[0])})
    parts.append(table_part(levels_table("Values", result.levels())))
    levels = [level for level in result.levels() if level.k is None] or result.levels()
    return Page(
        kind="Comparison of two rankings",
        names=names,
        verdict=f"{result.verdict()}.",
        facts=[_fact(level) for level in levels[:FACTS]],
        parts=parts,
        settings=_settings(result),
        notes=result.notes,
        tops=items,
    )


def embedded(result: Comparison, **room: int) -> dict[str, Any]:
    """Return both rankings as the page holds them."""
    rankings = result.loaded("the page's items")
    return tops(rankings, ties=result.overlap.ties, zero_tail=zero_policy(result.overlap), **room)


def _is_known(value: float | None) -> bool:
    return value is not None and not isnan(value)


def _fact(level: Level) -> tuple[str, str, str]:
    """Return a headline number: what it is, its value, and chance."""
    known = [f"chance {level.expected:.4f}"] if _is_known(level.expected) else []
    known += [f"corrected {level.corrected:.4f}"] if _is_known(level.corrected) else []
    known += filter(None, [level_p_words(level)])
    value = "undefined" if isnan(level.value) else f"{level.value:.4f}"
    return f"{find(level.measure).title}, {level.place}", value, ", ".join(known) or "chance level not known"


def pair_part(result: Comparison, place: int | None, **more: Any) -> dict[str, Any]:
    """Return curves over k, with the chance level of the first measure, and the position of the rankings' items."""
    ks = result.ks
    kept = thinned(ks, keep=result.at.tolist())
    lines = []
    for order, (name, curve) in enumerate(result.curves.items()):
        chance = result.chance.get(name)
        line: dict[str, Any] = _line(name, curve.values[kept])
        if chance is not None:
            line["expected"] = packed(chance.expected[kept])
            line["corrected"] = packed(chance.corrected[kept])
            if order == 0 and chance.has_band:
                line |= _band(chance.band(), chance.expected, kept)
        lines.append(line)
    said = "" if kept.size == ks.size else f"Curves are thinned: {kept.size} of {ks.size} evaluated k, on a log grid."
    names = list(result.rankings.names)
    part = {"kind": "pair", "title": "Similarity over k", "ks": ks[kept].tolist(), "lines": lines, "said": said}
    return part | {"tops": place, "pair": [0, 1], "names": names} | more


def _band(band: tuple[Scores, Scores], expected: Scores, kept: Sizes) -> dict[str, str]:
    """Return where chance keeps the curve, raw and corrected."""
    ends = dict(zip(("low", "high"), band, strict=True))
    raw = {name: packed(values[kept]) for name, values in ends.items()}
    return raw | {f"{name}_corrected": packed(correct(values, expected)[kept]) for name, values in ends.items()}


def _line(name: str, values: Scores, **more: Any) -> dict[str, Any]:
    """Return a measure's curve with its name and colour."""
    measure = find(name)
    return {"title": measure.title, "colour": measure.colour, "values": packed(values), "low_end": measure.low, **more}


def _settings(result: Comparison) -> dict[str, Any]:
    """Return how the comparison was made."""
    rankings, levels = result.rankings, list(result.chance.values())
    return {
        "items": result.n,
        "universe": rankings.universe or "not given",
        "evaluated k": result.grid.described(),
        "measures": ", ".join(measure.name for measure in result.measures),
        "ties": result.overlap.ties,
        "zero tail": zero_policy(result.overlap),
        "p-values": levels[0].how if levels and levels[0].method is not None else "none",
        "alternative": result.alternative,
    }


def joined(notes: Sequence[Sequence[str]]) -> list[str]:
    """Return the notes of several results, each once."""
    return list(dict.fromkeys(note for part in notes for note in part))
