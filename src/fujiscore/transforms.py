"""Scores that are not yet "higher is better, with a meaningful zero": p-values, distances, log-probabilities, ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from fujiscore.errors import InputError, choice, counted, spelled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Scores: TypeAlias = NDArray[np.float64]

Transform: TypeAlias = Literal["neglog10", "exp", "reciprocal", "rank", "abs"] | Callable[[Any], Any]
TRANSFORMS = ("neglog10", "exp", "reciprocal", "rank", "abs")
SMALLEST = float(np.nextafter(0.0, 1.0))
# What a note calls the transformed scores.
TITLES = {
    "neglog10": "-log10",
    "exp": "exp(score - best score)",
    "reciprocal": "1/score",
    "rank": "1/rank",
    "abs": "magnitudes",
}


def scale(transform: Transform | None) -> list[str]:
    """Return a note on how scores are read."""
    if transform is None:
        return []
    if callable(transform):
        return [f"scores read as {_title(transform)}"]
    choice("transform", transform, TRANSFORMS)
    return [f"scores read as {TITLES[transform]}"]


def transformed(scores: Scores, transform: Transform, name: str) -> tuple[Scores, tuple[str, ...]]:
    """Return the transformed scores of one ranking (NaN stays NaN), and notes on what a reader must know."""
    if callable(transform):
        return _by_callable(scores, transform, name), (f"scores read as {_title(transform)}",)
    choice("transform", transform, TRANSFORMS)
    known = scores[~np.isnan(scores)]
    notes = [f"scores read as {TITLES[transform]}"]
    if transform == "neglog10":
        _require(known, (known >= 0) & (known <= 1), name, "p-values between 0 and 1", transform)
        zeros = int((known == 0).sum())
        if zeros:
            notes.append(f"{name}: {counted(zeros, 'p-value')} of 0 read as {SMALLEST:.1g}, the smallest number")
        return -np.log10(np.maximum(scores, SMALLEST)) + 0.0, tuple(notes)
    if transform == "exp":
        _require(known, known < np.inf, name, "scores below infinity", transform)
        best = known.max() if known.size else 0.0
        return np.exp(scores - best) if best > -np.inf else np.zeros_like(scores), tuple(notes)
    if transform == "reciprocal":
        _require(known, (known > 0) & (known < np.inf), name, "positive scores", transform)
        with np.errstate(over="ignore"):  # infinite scores are refused later
            return 1.0 / scores, tuple(notes)
    if transform == "rank":
        return _reciprocal_ranks(scores), tuple(notes)
    return np.abs(scores), tuple(notes)


def transformed_lists(start: NDArray[np.int64], scores: Scores, transform: Transform, name: str) -> Scores:
    """Return the transformed scores of many lists, each as it would be alone; list q is start[q] to start[q + 1]."""
    if not scores.size:
        return scores
    sizes = np.diff(start)
    if transform == "exp":
        known = scores[~np.isnan(scores)]
        _require(known, known < np.inf, name, "scores below infinity", transform)
        best = np.fmax.reduceat(scores, start[:-1][sizes > 0])
        with np.errstate(invalid="ignore"):
            values = np.exp(scores - np.repeat(best, sizes[sizes > 0]))
        return np.where(np.isnan(values) & ~np.isnan(scores), 0.0, values)  # -inf is the best
    if transform == "rank" or callable(transform):
        bounds = zip(start[:-1].tolist(), start[1:].tolist(), strict=True)
        parts = [transformed(scores[a:b], transform, name)[0] for a, b in bounds if a < b]
        return np.concatenate(parts)
    return transformed(scores, transform, name)[0]


def _title(function: Any) -> str:
    """Return what a callable is called in a note."""
    return f"{getattr(function, '__name__', type(function).__name__)}(score)"


def _by_callable(scores: Scores, function: Callable[[Any], Any], name: str) -> Scores:
    """Apply the user's function to all scores at once."""
    try:
        result = np.asarray(function(scores.copy()), np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{spelled('transform')} must turn an array of scores into another; for {name} it fails: {error}"
        ) from error
    if result.shape != scores.shape:
        raise InputError(
            f"{spelled('transform')} must return one score per item; for {name} it returned shape {result.shape} "
            f"instead of {scores.shape}."
        )
    return np.array(result, order="C")


def _reciprocal_ranks(scores: Scores) -> Scores:
    """Return 1/rank, where equal scores share their best rank."""
    ordered = np.sort(-scores)  # NaN comes last
    ranks = np.searchsorted(ordered, -scores) + 1
    reciprocal: Scores = np.where(np.isnan(scores), np.nan, 1.0 / ranks)
    return reciprocal


def _require(known: Scores, good: NDArray[np.bool_], name: str, required: str, transform: str) -> None:
    """Raise unless all scores suit the transform."""
    if not good.all():
        raise InputError(
            f"{spelled('transform', transform)} requires {required}; {name} has {int((~good).sum())} others "
            f"(first: {known[int(np.argmin(good))]:g}). Check the column, or transform the scores first.",
            "transform",
        )
