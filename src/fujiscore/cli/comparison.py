"""What `fuji compare` computes of one pair: measures, chance levels, values at chosen k, near misses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import numpy as np

import fujiscore as fj
from fujiscore.chance import chances, has_closed_form
from fujiscore.measures import find

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from fujiscore.cli.options import Points

# Without -k, the values at these, and the near misses at this one.
USUAL_SIZES = (1, 5, 10, 50, 100, 1000)
USUAL_TOP = 10


@dataclass(frozen=True)
class Level:
    """A measure's value in one place (None: the area; or a k) against chance; None where it is not known."""

    k: int | None
    value: float
    expected: float | None = None
    corrected: float | None = None
    z: float | None = None
    p_value: float | None = None


@dataclass(frozen=True)
class NearMiss:
    """An item that one top set holds and the other nearly does."""

    item: Hashable
    rank_a: int
    rank_b: int
    contribution: float


@dataclass(frozen=True)
class Compared:
    """All that the report says of one pair."""

    names: tuple[str, ...]
    comparison: fj.Comparison
    chance: Mapping[str, fj.Chance]
    levels: Mapping[str, list[Level]]
    explanation: fj.Explanation
    near_misses: list[NearMiss]
    ties: str

    @property
    def permuted(self) -> bool:
        """Whether p-values are known."""
        return self.comparison.drawn is not None


def compare(
    held: fj.Rankings,
    measures: Sequence[str],
    sizes: Sequence[int],
    points: Points,
    policies: dict[str, Any],
    drawing: dict[str, Any],
) -> Compared:
    """Compare a pair by several measures, over k and at the k asked for."""
    r, s = held.scores
    shown = sizes_to_show(sizes, held.n)
    along = fj.compare(r, s, measures, ks=points.sizes(held.n, "all"), **policies, **drawing)
    chance = _chance(along)
    at, chance_at = along, chance
    if not set(shown) <= set(along.ks.tolist()):
        at = fj.compare(r, s, measures, ks=shown, **policies, **drawing)
        chance_at = _chance(at)
    levels = {}
    for name in measures:
        places = [(k, int(np.searchsorted(at.ks, k))) for k in shown]
        levels[name] = [_area(along[name].auc, chance.get(name))]
        levels[name] += [_value(k, float(at[name].values[i]), chance_at.get(name), i) for k, i in places]
    why = fj.explain(r, s, sizes[0] if sizes else min(USUAL_TOP, max(1, held.n // 2)), **policies)
    near = [
        NearMiss(held.label(int(str(item))), int(why.rank_r[i]), int(why.rank_s[i]), float(why.contribution[i]))
        for i, (item, kind) in enumerate(zip(why.items, why.kind, strict=True))
        if kind == "near miss"
    ]
    return Compared(held.names, along, chance, levels, why, near, policies["ties"])


def sizes_to_show(sizes: Sequence[int], n: int) -> list[int]:
    """Return the k to report: as asked, or the usual ones below n."""
    for k in sizes:
        if k > n:
            raise click.UsageError(f"-k must lie between 1 and the number of items, {n}; got {k}.")
    return sorted(set(sizes)) or [k for k in USUAL_SIZES if k < n] or [n]


def _chance(comparison: fj.Comparison) -> Mapping[str, fj.Chance]:
    """Return the chance levels that permutations gave, or those with a formula: drawing unasked could take hours."""
    if comparison.drawn is not None:
        return comparison.drawn
    known = [find(name) for name in comparison.curves if has_closed_form(find(name))]
    return chances(comparison.overlap, known, comparison.ks) if known else {}


def _area(auc: float, chance: fj.Chance | None) -> Level:
    """Return the area against chance."""
    if chance is None:
        return Level(None, auc)
    return Level(None, auc, chance.expected_auc, chance.corrected_auc, chance.auc_z, chance.p_value)


def _value(k: int, value: float, chance: fj.Chance | None, i: int) -> Level:
    """Return the value at a k against chance."""
    if chance is None:
        return Level(k, value)
    p_value = None if chance.p_values is None else float(chance.p_values[i])
    return Level(k, value, float(chance.expected[i]), float(chance.corrected[i]), float(chance.z[i]), p_value)
