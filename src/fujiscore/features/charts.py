"""The charts of a study: curves of pairs of methods, and the stability of each method."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fujiscore.charts.kinds import Chart, Dots, Lines, Mark, Ranges, Rows
from fujiscore.charts.result import charts_of
from fujiscore.features.report import by_stability, most_similar, short_methods, stability_kinds
from fujiscore.measures.registry import find
from fujiscore.pair.charts import curves

if TYPE_CHECKING:
    from fujiscore.features.study import Study

# The most pairs in a figure of curves, columns of a method's name there and elsewhere, and features of a figure.
MOST_PAIRS, NAME, LONGEST, MOST_ITEMS = 60, 26, 32, 30


def stability_chart(study: Study) -> Rows:
    """Return the stability of each method with its interval: filled the raw values, hollow those corrected."""
    names, shown, measure = by_stability(study), short_methods(study, LONGEST), find(study.matrix.measure)
    marks: list[Mark] = []
    kinds = stability_kinds(study)
    for place, (label, kind) in enumerate(kinds.items()):
        values, low, high = np.array([(kind[name].value, kind[name].low, kind[name].high) for name in names]).T
        shift = 0.0 if len(kinds) == 1 else 0.36 * place - 0.18
        marks += [Ranges(low, high, "", measure.colour, 2.0, shift=shift)]
        marks += [Dots(values, label, measure.colour, hollow=place > 0, shift=shift)]
    rows = [f"{shown[name]} (flat)" if study.flat_resamples[name] else shown[name] for name in names]
    label = f"stability: mean {measure.title} ({study.settings['area']}) over resamples"
    label += f", {study.settings['confidence']:.0%} interval"
    return Rows(rows, marks, label, title="stability of each method")


def curve_charts(study: Study) -> tuple[str, list[Lines]]:
    """Return the curve of each pair against chance, the most similar first, and what they show."""
    pairs, measure = most_similar(study), find(study.matrix.measure)
    title, names = f"{measure.title} over k ({study.settings['area']})", short_methods(study, NAME)
    if len(pairs) > MOST_PAIRS:
        half = MOST_PAIRS // 2
        title += f", the {half} most and the {half} least similar of {len(pairs)} pairs"
        pairs = pairs[:half] + pairs[-half:]
    charts = []
    for pair in pairs:
        comparison = study.curves[pair]
        heading = "\n".join([*(names[name] for name in pair), f"{comparison[measure.name].value:.3f}"])
        log = study.settings["ks"] == "exp"  # so that the area seen is the area computed
        label = "k, number of top features"
        charts.append(replace(curves(comparison), heading=heading, log=log, x_label=label))
    return title, charts


def rank_charts(study: Study) -> list[Chart]:
    """Return the rank intervals of the first features of each method."""
    names, most = short_methods(study, LONGEST), min(study.settings["top"], MOST_ITEMS)
    charts = {name: charts_of(ranks)[0] for name, ranks in study.ranks.items()}
    return [replace(chart, heading=names[name], most=most) for name, chart in charts.items()]
