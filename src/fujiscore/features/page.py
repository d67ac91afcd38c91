"""The page of a study: agreement of the methods, stability of each, the features that matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.charts.palette import ORANGE
from fujiscore.features import report as study_report
from fujiscore.many.page import ITEMS, follow_part, interval_row, matrix_part, ranks_part
from fujiscore.measures.registry import find
from fujiscore.pages.encode import number, packed, table_part, text
from fujiscore.pages.page import Page
from fujiscore.pages.tops import tops

if TYPE_CHECKING:
    from fujiscore.features.study import Study

SHOWN = ("rows", "features", "task", "resamples", "scheme", "fraction", "permutations", "trees", "top", "random_state")


def study(result: Study, name: str = "") -> Page:
    """Return the page of a study."""
    top_items = tops(result.rankings)
    parts: list[dict[str, Any]] = []
    if len(result.methods) > 1:
        title = f"Do the methods agree? {find(result.matrix.measure).title}, {result.settings['area']}"
        agreement = matrix_part(result.matrix, 0, title)
        if result.p_values is not None:
            agreement["p"] = packed(result.p_values)
        parts += [agreement, table_part(study_report.agreement(result), "Agreement, the most similar methods first")]
    parts.append(_stability_part(result))
    parts.append(table_part(study_report.ranked(result), "Which features matter?"))
    top = min(result.settings["top"], ITEMS)
    parts += [ranks_part(ranks, f"{text(method, 40)}: ", top) for method, ranks in result.ranks.items()]
    if len(result.methods) > 1:
        parts.append(follow_part(top_items, 0, "Follow a feature through all methods", "method"))
    return Page(
        kind="Feature ranking study",
        names=[name] if name else result.methods,
        verdict=_verdict(result),
        facts=_facts(result),
        parts=parts,
        settings=_settings(result),
        notes=[*result.notes, study_report.COVERS],
        tops=[top_items],
        corrected=result.stability_corrected is not None,
    )


def _verdict(result: Study) -> str:
    """Return the answer in a sentence or two: the best features, agreement, and stability."""
    sentences = []
    if result.top:
        best = ", ".join(text(f.feature, 40) for f in result.top[:3])
        sentences.append(f"Best mean rank: {best}")
    pairs = result.matrix.values[np.triu_indices(len(result.methods), 1)]
    if pairs.size and not np.isnan(pairs).all():
        title = find(result.matrix.measure).title
        span = f"{np.nanmin(pairs):.2f}" if pairs.size == 1 else f"{np.nanmin(pairs):.2f} to {np.nanmax(pairs):.2f}"
        sentences.append(f"the methods agree to {span} ({title}, {result.settings['area']})")
    verdicts = study_report.verdicts(result) if result.comparisons else []
    return "; ".join([*sentences, *verdicts[:1]]) + "."


def _facts(result: Study) -> list[tuple[str, str, str]]:
    """Return the stability of each method."""
    stable = result.stability_corrected or result.stability
    kind = "corrected for chance" if result.stability_corrected is not None else result.settings["area"]
    return [
        (f"stability of {text(name, 40)}", "undefined", "")
        if np.isnan(one.value)
        else (f"stability of {text(name, 40)}", f"{one.value:.3f}", f"{one.low:.3f} to {one.high:.3f}, {kind}")
        for name, one in stable.items()
    ]


def _stability_part(result: Study) -> dict[str, Any]:
    """Return the stability of each method with its interval, raw and corrected."""
    rows = []
    for name in result.methods:
        flat = result.flat_resamples[name]
        label = f"{name} (flat in {flat} of {result.settings['resamples']})" if flat else name
        row = interval_row(label, result.stability[name]) | {"colour": ORANGE}
        if result.stability_corrected is not None:
            one = result.stability_corrected[name]
            row["corrected"] = {"value": number(one.value), "low": number(one.low), "high": number(one.high)}
        rows.append(row)
    measured = f"mean {find(result.matrix.measure).title}, {result.settings['area']}, over resamples"
    axis = f"{measured}; {result.settings['confidence']:.0%} interval"
    said = study_report.verdicts(result) if result.comparisons else []
    return {"kind": "intervals", "title": "How stable is each method?", "axis": axis, "rows": rows, "said": said}


def _settings(result: Study) -> dict[str, Any]:
    """Return how the study was done."""
    known = {name: result.settings[name] for name in SHOWN if result.settings.get(name) is not None}
    return {
        "data": study_report.sizes(result),
        "resampling": study_report.described(result),
        "measure": result.matrix.measure,
        "evaluated k": result.matrix.grid.described(),
        **{name.replace("_", " "): value for name, value in known.items()},
    }
