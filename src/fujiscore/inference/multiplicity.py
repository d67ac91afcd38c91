"""P-values adjusted for the number of tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import choice

# What each method is called in full.
ADJUSTMENTS = {"bh": "Benjamini-Hochberg", "holm": "Holm"}


def adjusted(p_values: Any, method: str, tests: int | None = None) -> NDArray[np.float64]:
    """Return p-values adjusted for their number, in the shape they came in; NaN is no test and stays NaN.

    With more `tests` than p-values, those of the others are 1.

    "bh" controls the share of false discoveries (Benjamini and Hochberg, step-up), "holm" the probability of any
    (Holm, step-down).
    """
    choice("adjust", method, ADJUSTMENTS)
    raw = np.asarray(p_values, np.float64)
    result = np.full(raw.shape, np.nan)
    known = ~np.isnan(raw)
    p = raw[known]
    count = p.size if tests is None else tests
    order = np.argsort(p, kind="stable")
    ranks = np.arange(p.size)
    if method == "bh":
        steps = np.minimum.accumulate((p[order] * (count / (ranks + 1)))[::-1])[::-1]
    else:
        steps = np.maximum.accumulate(p[order] * (count - ranks))
    p[order] = np.minimum(steps, 1.0)
    result[known] = p
    return result
