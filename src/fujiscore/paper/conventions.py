"""How the paper compares rankings: ties broken by input order. Public functions only.

Ties broken by input order have no closed-form chance level. Whatever is corrected for chance therefore uses the
library's default, ties="closed", and the page says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import fujiscore as fj

Scores: TypeAlias = "NDArray[Any]"
Sets: TypeAlias = "Mapping[str, fj.Rankings]"

# Differences up to this size are rounding.
ROUNDING = 1e-12

auc = partial(fj.auc, ties="stable")
compare = partial(fj.compare, ties="stable")
explain = partial(fj.explain, ties="stable")
score = partial(fj.score, ties="stable")
chance = partial(fj.chance, ties="closed", progress=False)


def curve(r: Any, s: Any, measure: str = "fuji") -> Scores:
    """Return a measure's value at every k."""
    values: Scores = fj.curve(r, s, measure, ties="stable").values
    return values


def areas(rankings: Any, others: Any = None, measure: str = "fuji", *, ks: Any, corrected: bool = False) -> Scores:
    """Return the matrix of areas; those corrected for chance include every tied item."""
    options: Any = {"measure": measure, "ks": ks, "corrected": corrected, "n_jobs": 1, "progress": False}
    return fj.pairwise(rankings, others, ties="closed" if corrected else "stable", **options).values


def top_weighted(rankings: Any, measure: str = "fuji") -> fj.results.Matrix:
    """Return the areas on 1, 2, 4, ..., n, raw and corrected for chance, by the library's default for ties."""
    return fj.pairwise(rankings, measure=measure, ks="exp", corrected=True, ties="closed", progress=False)


def roughness(values: Scores) -> float:
    """Return the sum of |f(k+1) - f(k)| over a curve."""
    return float(np.abs(np.diff(values)).sum())
