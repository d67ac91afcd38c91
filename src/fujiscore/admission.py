"""One ranking's own items and scores, by the policies that concern it alone: signs, NaN, duplicates, transforms.

Imports ranking, transforms and below.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore import _kernels
from fujiscore.coercion import Labelled, Labels, Scores, labelled, require_labels, unique_labels
from fujiscore.direction import judged
from fujiscore.errors import InputError, counted, first_few, spelled
from fujiscore.ranking import Ranking
from fujiscore.transforms import transformed

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIGNED = ("abs", "split")  # policies by which the magnitudes rank
MAGNITUDES = "replaced by magnitudes"
COUNT_AS_ZERO = "scores are negative and count as 0"


def admitted(
    obj: Any, name: str, negative: str, nan: str, duplicates: str, transform: Any, notes: list[str]
) -> Labelled:
    """Return one ranking's own items and scores after the policies that concern it alone.

    Scores that are read as magnitudes still have their signs.
    """
    if isinstance(obj, Ranking):
        part = _own_part(obj, negative)
    else:
        part = labelled(obj, name)
        notes += part.notes
        notes += judged(part.evidence, name) if transform is None else ()
    items, scores = part.items, part.scores
    if transform is not None:
        before = scores
        scores, said = transformed(scores, transform, name)
        scores = np.copysign(scores, before) if transform == "abs" and negative == "abs" else scores
        notes += said
    told: list[str] = []
    scores = _checked_scores(scores, items, name, negative, nan, told)
    known = transform == "abs" or (isinstance(obj, Ranking) and obj.negatives is not None)
    notes += [note for note in told if not (known and note.endswith(MAGNITUDES))]
    if isinstance(obj, Mapping) and items is not None:
        require_labels(items, name)
    elif items is not None and not isinstance(items, range) and not isinstance(obj, Ranking):
        items, scores = _merged_duplicates(items, scores, name, duplicates, notes, negative)
    return Labelled(items, scores)


def _own_part(ranking: Ranking, negative: str) -> Labelled:
    """Return the items that a ranking itself lists, with the signs that magnitudes had."""
    items, scores, absent = ranking.items, ranking.scores, ranking.absent
    if ranking.split is not None:
        items, scores, absent = ranking.split, ranking.signed, None if absent is None else absent[: len(ranking.split)]
    elif negative in SIGNED and ranking.negatives is not None:
        scores = np.where(ranking.negatives, -scores, scores)
    if absent is None:
        return Labelled(items, scores)
    listed = np.flatnonzero(~absent)
    items = None if items is None else [items[i] for i in listed.tolist()]
    return Labelled(items, scores[listed])


def _checked_scores(
    scores: Scores, items: Labels | None, name: str, negative: str, nan: str, notes: list[str]
) -> Scores:
    """Apply the policies for NaN (except dropping), infinite and negative scores."""
    has_nan, positive_infinite, below = _kernels.order.flaws(scores)
    if not (has_nan or positive_infinite or below):
        return scores
    if has_nan and nan == "raise":
        raise _bad_score(scores, items, name, np.isnan(scores), "NaN")
    if has_nan and nan == "zero":
        notes.append(f"{name}: {counted(int(np.isnan(scores).sum()), 'NaN score')} replaced with 0")
        scores = np.where(np.isnan(scores), 0.0, scores)
    if below and negative == "abs":
        notes.append(f"{name}: {counted(int((scores < 0).sum()), 'negative score')} {MAGNITUDES}")
    infinite = np.isinf(scores) if negative in SIGNED else scores == np.inf
    if infinite.any():
        raise _bad_score(scores, items, name, infinite, "infinite")
    if below and negative == "raise":
        raise _bad_score(scores, items, name, scores < 0, "negative")
    if below and negative == "clip":
        notes.append(f"{name}: {int((scores < 0).sum())} of {scores.size} {COUNT_AS_ZERO}")
    return scores


def _bad_score(scores: Scores, items: Labels | None, name: str, bad: NDArray[np.bool_], what: str) -> InputError:
    """Return the error that names the ranking, the first bad item and its score."""
    position = int(np.argmax(bad))
    count = int(bad.sum())
    label = position if items is None else items[position]
    came = f"{count} of {bad.size} {'is' if count == 1 else 'are'} {what}"
    return bad_score(what, name, f"{came} (first: {scores[position]:g} at item {label!r})")


def bad_score(what: str, name: str, came: str) -> InputError:
    """Return the error for scores that are NaN, infinite or negative: what is required, what came, and the remedy."""
    if what == "NaN":
        remedy = f"Pass {spelled('nan', 'zero')} to score them 0, or {spelled('nan', 'drop')} to leave those items out."
        return InputError(f"{name} must hold scores that are numbers; {came}. {remedy}")
    if what == "infinite":
        return InputError(f"{name} must hold finite scores; {came}. Replace them by a large finite score.")
    remedy = (
        f"Pass {spelled('negative', 'clip')} to count them as 0 (right where negative means no better than noise), "
        f"{spelled('negative', 'abs')} to rank by magnitude, {spelled('negative', 'split')} to separate signs, or "
        f"{spelled('transform', 'exp')} if they are logs."
    )
    return InputError(f"{name} must hold non-negative scores; {came}. {remedy}")


def _merged_duplicates(
    items: Labels, scores: Scores, name: str, duplicates: str, notes: list[str], negative: str
) -> tuple[Labels, Scores]:
    """Return each item once, by the policy for duplicates; where magnitudes rank, the best is the greatest."""
    unique = unique_labels(items, name)
    if len(unique) == len(items):
        return items, scores
    place = {item: i for i, item in enumerate(unique)}
    group = np.array([place[item] for item in items])
    counts = np.bincount(group)
    repeated = [item for item, count in zip(unique, counts.tolist(), strict=True) if count > 1]
    extra = len(items) - len(unique)
    if duplicates == "raise":
        raise InputError(
            f"{name} must list each item once; it repeats {counted(len(repeated), 'item')} ({first_few(repeated)}). "
            f"Pass {spelled('duplicates', 'max')}, {spelled('duplicates', 'mean')} or {spelled('duplicates', 'first')}."
        )
    sizes = np.abs(scores) if negative in SIGNED else scores
    if duplicates == "mean":
        merged = _means(scores, group, counts)
        merged = np.copysign(_means(sizes, group, counts), merged) if negative == "abs" else merged
    else:
        winner = np.empty(len(unique), np.intp)  # an item with a NaN stays NaN: they are sorted last
        best_last = np.argsort(sizes, kind="stable") if duplicates == "max" else np.arange(len(items))[::-1]
        winner[group[best_last]] = best_last
        merged = scores[winner]
    how = {"max": "the best score kept", "mean": "scores averaged", "first": "the first score kept"}[duplicates]
    notes.append(f"{name}: {counted(extra, 'duplicate')} merged, {how} ({first_few(repeated)})")
    return list(unique), merged


def _means(scores: Scores, group: NDArray[np.intp], counts: NDArray[np.intp]) -> Scores:
    """Return the mean score of each group."""
    means: Scores = np.bincount(group, weights=scores) / counts
    if np.isinf(means).any():  # the sum overflows, the mean does not
        return np.bincount(group, weights=scores / counts[group]).astype(np.float64)
    return means
