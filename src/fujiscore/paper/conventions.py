"""How the paper compares rankings: ties broken by input order, negative scores counted as 0. Public functions only.

Ties broken by input order have no closed-form chance level. Whatever is corrected for chance therefore uses the
library's default, ties="closed", and the page says so.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

import fujiscore as fj

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

Scores: TypeAlias = "NDArray[Any]"
Sets: TypeAlias = "Mapping[str, fj.Rankings]"

# Differences up to this size are rounding.
ROUNDING = 1e-12

auc = partial(fj.auc, ties="stable", negative="clip")
compare = partial(fj.compare, ties="stable", negative="clip")
explain = partial(fj.explain, ties="stable", negative="clip")
score = partial(fj.score, ties="stable", negative="clip")
pairwise = partial(fj.pairwise, negative="clip", n_jobs=1, progress=False)
chance = partial(fj.chance, ties="closed", negative="clip", progress=False)


def curve(r: Any, s: Any, measure: str = "fuji") -> Scores:
    """Return a measure's value at every k."""
    values: Scores = fj.curve(r, s, measure, ties="stable", negative="clip").values
    return values


def areas(rankings: Any, others: Any = None, *, measure: str = "fuji", ks: Any, corrected: bool = False) -> Scores:
    """Return the matrix of areas; those corrected for chance include every tied item."""
    ties: Literal["closed", "stable"] = "closed" if corrected else "stable"
    return pairwise(rankings, others, measure=measure, ks=ks, corrected=corrected, ties=ties).values


def named(names: Sequence[str], scores: Sequence[Any], labels: Sequence[str]) -> fj.Rankings:
    """Return rankings of labelled items under the given names."""
    columns = (dict(zip(labels, np.asarray(column).tolist(), strict=True)) for column in scores)
    return fj.rankings(dict(zip(names, columns, strict=True)), negative="clip")


def labels(rankings: fj.Rankings) -> list[str]:
    """Return the labels of all items."""
    return [str(rankings.label(position)) for position in range(rankings.n)]


def ordered(ranking: Any) -> NDArray[np.int64]:
    """Return the positions of the items from best to worst, ties by input order."""
    return np.argsort(-np.asarray(ranking), kind="stable")


def roughness(values: Scores) -> float:
    """Return the sum of |f(k+1) - f(k)| over a curve."""
    return float(np.abs(np.diff(values)).sum())
