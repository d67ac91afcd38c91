"""A comparison in one line: its headline against chance, and where the rankings differ most."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from fujiscore.null.permutations import ROUNDING
from fujiscore.text.numbers import p_words

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Scores
    from fujiscore.measures.grids import Sizes
    from fujiscore.pair.compare import Comparison, Level

# A number between 0 and 1 has two digits, and up to so many if it would read as 0 or 1.
MOST_DIGITS = 6


def lowest_stretch(ks: Sizes, values: Scores, level: float) -> tuple[int, int] | None:
    """Return the first and last k of a curve's lowest stretch; None where it nowhere falls below the level."""
    # The stretch holds the lowest value (the first of them if there are several) and the evaluated k around it, without
    # a break, at which the curve is at least half as far below the level as there.
    known = ~np.isnan(values)
    ks, values = ks[known], values[known]
    if values.size < 2 or isnan(level) or level - values.min() <= ROUNDING:
        return None
    lowest = int(np.flatnonzero(values <= values.min() + ROUNDING)[0])
    outside = np.flatnonzero(values > (values[lowest] + level) / 2 + ROUNDING)
    place = int(np.searchsorted(outside, lowest))
    first = outside[place - 1] + 1 if place else 0
    last = outside[place] - 1 if place < outside.size else values.size - 1
    return int(ks[first]), int(ks[last])


def verdict(result: Comparison) -> str:
    """Return the headline of the first measure, what is known of chance, and where the rankings differ most."""
    level, measure = result.headline, result.measures[0]
    if isnan(level.value):
        return f"{measure.title} is undefined"
    text = f"{measure.title} {two_digits(level.value)}"
    known = [("chance", level.expected), ("corrected", level.corrected)]
    parts = [f"{name} {two_digits(value)}" for name, value in known if value is not None and not isnan(value)]
    parts += filter(None, [level_p_words(level)])
    text += f" ({', '.join(parts)})" if parts else ""
    stretch = result.differs_most
    if stretch is not None:
        text += f": differs most at k = {'-'.join(map(str, dict.fromkeys(stretch)))}"
    elif not measure.whole and result.curves[measure.name].values.min() >= 1 - ROUNDING:
        text += ": no difference at any evaluated k"
    return text


def two_digits(value: float) -> str:
    """Return a value with two digits, with more where it would wrongly read as 0 or 1."""
    for digits in range(2, MOST_DIGITS + 1):
        text = f"{round(value, digits) + 0.0:.{digits}f}"
        if float(text) % 1 or abs(value - round(value)) <= ROUNDING:
            break
    return text


def level_p_words(level: Level) -> str:
    """Return a p-value for a sentence, with the alternative unless it is "greater"; empty where there is none."""
    if level.p_value is None or isnan(level.p_value):
        return ""
    kind = "" if level.alternative in {None, "greater"} else f", {level.alternative}"
    return f"{p_words(level.p_value, level.method)}{kind}"
