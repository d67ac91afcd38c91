"""P-values adjusted for the number of tests. Imports errors only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import choice

if TYPE_CHECKING:
    from fujiscore.coercion import Scores

# What each method is called in full.
ADJUSTMENTS = {"bh": "Benjamini-Hochberg", "holm": "Holm"}


def adjusted(p_values: Any, method: str) -> Scores:
    """Return p-values adjusted for their number, in the shape they came in; NaN is no test and stays NaN.

    "bh" controls the share of false discoveries (Benjamini and Hochberg, step-up), "holm" the probability of any
    (Holm, step-down).
    """
    choice("adjust", method, ADJUSTMENTS)
    raw = np.asarray(p_values, np.float64)
    result = np.full(raw.shape, np.nan)
    tests = ~np.isnan(raw)
    p = raw[tests]
    order = np.argsort(p, kind="stable")
    ranks = np.arange(p.size)
    if method == "bh":
        steps = np.minimum.accumulate((p[order] * (p.size / (ranks + 1)))[::-1])[::-1]
    else:
        steps = np.maximum.accumulate(p[order] * (p.size - ranks))
    p[order] = np.minimum(steps, 1.0)
    result[tests] = p
    return result
