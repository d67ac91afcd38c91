"""The gates of a comparison of runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, counted, first_few, spelled
from fujiscore.pair.gates import Check, Verdict, at_least, at_most, distinct, nothing_lost, require_bounds

if TYPE_CHECKING:
    from fujiscore.runs.results import RunComparison


def judge(
    result: RunComparison,
    *,
    fail_under: float | None = None,
    fail_under_quantile: tuple[float, float] | None = None,
    fail_share_below: tuple[float, float] | None = None,
    corrected: bool = False,
    allow_missing_queries: bool = False,
    allow_shorter_lists: bool = False,
) -> Verdict:
    """Return the verdict of the gates: see `RunComparison.judge`."""
    gates: Any = {"fail_under": fail_under, "fail_under_quantile": fail_under_quantile}
    gates |= {"fail_share_below": fail_share_below}
    require_bounds(result.measures[0], corrected=corrected, **gates)
    if all(gate is None for gate in gates.values()):
        return Verdict(())
    column, title = _judged(result, corrected=corrected)
    checks = _presence(result, column, title, queries=allow_missing_queries, items=allow_shorter_lists)
    if fail_under is not None:
        mean = at_least(f"mean {title}", result.spread(column).mean, fail_under)
        checks.append(replace(mean, text=mean.text + _floor_words(result, column)))
    if fail_under_quantile is not None:
        q, bound = fail_under_quantile
        checks.append(at_least(f"{100 * q:g} % quantile of {title}", result.quantile(q, column), bound))
    if fail_share_below is not None:
        value, bound = fail_share_below
        share = result.share_below(value, column)
        checks.append(at_most(f"share of queries with {title} below {value:g}", share, bound))
    return Verdict(tuple(checks))


def _judged(result: RunComparison, *, corrected: bool) -> tuple[str, str]:
    """Return the column that gates judge, and what it is called."""
    measure = result.measures[0]
    if not corrected:
        column = f"{measure.name}_above_floor"
        return (
            (column, f"{measure.title} above its floor") if column in result.columns else (measure.name, measure.title)
        )
    column = f"{measure.name}_corrected"
    if column not in result.columns:
        raise InputError(
            f"{spelled('corrected')} needs a value of {measure.name} corrected for chance, which is not known. "
            f"Pass {spelled('universe', 'N')}, or a first measure with a chance level, such as fuji or jaccard."
        )
    return column, f"{measure.title} corrected"


def _floor_words(result: RunComparison, column: str) -> str:
    """Return FUJI and its floor in words, where the value above the floor is judged."""
    if not column.endswith("_above_floor"):
        return ""
    fuji, floor = result.spread("fuji").mean, result.spread("fuji_floor").mean
    return f" (FUJI {distinct(fuji, floor)}; reordered at random {distinct(floor, fuji)})"


def _presence(result: RunComparison, column: str, title: str, *, queries: bool, items: bool) -> list[Check]:
    """Return the checks that nothing was lost, each only where something was: queries, values and items."""
    labels = result.queries
    undefined, short = labels[np.isnan(result.values(column))], labels[result.shorter("b")]
    found = (
        ("of a missing in b", result.only_a, "allow_missing_queries", queries),
        (f"without a value of {title}", undefined, "allow_missing_queries", queries),
        ("with a shorter list in b than in a", short, "allow_shorter_lists", items),
    )
    checks = []
    for what, lost, remedy, allowed in found:
        if len(lost):
            text = f"{counted(len(lost), 'query', 'queries')} {what} ({first_few(lost.tolist())})"
            checks.append(nothing_lost(f"queries {what}", text, len(lost), remedy, allowed=allowed))
    if result.settings.get("missing") == "drop":
        checks.append(_unseen(allowed=items))
    return checks


def _unseen(*, allowed: bool) -> Check:
    """Return the check of a comparison that leaves out what one run lacks: how much was lost is not known."""
    what = f"items that one run lacks are left out ({spelled('missing', 'drop')})"
    end = "allowed" if allowed else f"where lost items do not show; {spelled('allow_shorter_lists')} accepts it"
    return Check("lost items", float("nan"), 0, allowed, f"{what}, {end}")
