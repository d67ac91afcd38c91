"""Scores that are not yet "higher is better, with a meaningful zero": p-values, distances, log-probabilities, ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, choice, counted, first_few, shown, spelled
from fujiscore.text.notes import Fact, Note

if TYPE_CHECKING:
    Scores: TypeAlias = NDArray[np.float64]

Word: TypeAlias = Literal["neglog10", "exp", "reciprocal", "flip", "minmax", "rank", "abs", "as_is"]
Transform: TypeAlias = Word | Callable[[Any], Any]
# One for all rankings, or one for each: in their order, or by name.
Transforms: TypeAlias = Transform | Sequence[Transform | None] | Mapping[str, Transform | None]
TRANSFORMS: tuple[str, ...] = get_args(Word)
AS_IS = "as_is"  # as None, but whoever says it knows that higher is better
SMALLEST = float(np.nextafter(0.0, 1.0))
# What a note calls the transformed scores.
TITLES = {
    "neglog10": "-log10",
    "exp": "exp(score - best score)",
    "reciprocal": "1/score",
    "flip": "(greatest - score) / (greatest - least)",
    "minmax": "(score - least) / (greatest - least)",
    "rank": "1/rank",
    "abs": "magnitudes",
}


def without_signs(transform: Transform | None, negative: str) -> str | None:
    """Return what transformed scores are that have no signs any more, and the remedy; None if they have signs.

    "abs" keeps the signs beside the magnitudes, but not for items split by sign.
    """
    lost = isinstance(transform, str) and transform in TITLES and (transform != "abs" or negative == "split")
    return f"scores read as {_title(transform)}. Leave out {spelled('transform')}." if lost else None


def one_per_ranking(transform: Any, names: Sequence[str]) -> list[Transform | None]:
    """Return each ranking's transform, of one for all, one per ranking in their order, or a mapping by name."""
    chosen: Sequence[Any] = [transform] * len(names)
    if isinstance(transform, Mapping):
        unknown = [name for name in transform if name not in names]
        if unknown:
            raise InputError(
                f"{spelled('transform')} must name rankings; {shown(unknown[0])} is not among {first_few(names)}."
            )
        chosen = [transform.get(name) for name in names]
    elif isinstance(transform, (tuple, list)):
        if len(transform) != len(names):
            raise InputError(
                f"{spelled('transform')} must be one transform, or one per ranking; got {len(transform)} for "
                f"{counted(len(names), 'ranking')}."
            )
        chosen = transform
    for one in chosen:
        if one is not None and not callable(one):
            choice("transform", one, TRANSFORMS)
    return list(chosen)


def named(transform: Transform | None) -> str | None:
    """Return a transform's word, or the name of a function."""
    return getattr(transform, "__name__", type(transform).__name__) if callable(transform) else transform


def scales(transforms: Sequence[Transform | None], names: Sequence[str]) -> list[str]:
    """Return notes on how scores are read: one for all rankings, or one for those that have a transform in common."""
    titles = [_title(transform) for transform in transforms]
    if len(set(titles)) == 1:
        return [Note(Fact("transform", detail=title)) for title in titles[:1] if title]
    groups = {title: [name for name, other in zip(names, titles, strict=True) if other == title] for title in titles}
    return [Note(Fact("transform", first_few(group), detail=title)) for title, group in groups.items() if title]


def transformed_lists(start: NDArray[np.int64], scores: Scores, transform: Transform, name: str) -> Scores:
    """Return the transformed scores of many lists, each as it would be alone; list q is start[q] to start[q + 1]."""
    if not scores.size or transform == AS_IS:
        return scores
    if transform == "rank" or callable(transform):
        each = _reciprocal_ranks if transform == "rank" else lambda part: _by_callable(part, transform, name)
        bounds = zip(start[:-1].tolist(), start[1:].tolist(), strict=True)
        return np.concatenate([each(scores[a:b]) for a, b in bounds if a < b])
    good, required = _DOMAINS[transform]
    _require(scores, good(scores), name, required, transform)
    if transform == "abs":
        return np.abs(scores)
    if transform == "neglog10":
        return -np.log10(np.maximum(scores, SMALLEST)) + 0.0
    if transform == "reciprocal":
        with np.errstate(over="ignore"):  # infinite scores are refused later
            return 1.0 / scores
    return _relative(start, scores, transform)


def _relative(start: NDArray[np.int64], scores: Scores, transform: str) -> Scores:
    """Return scores relative to the greatest or the least of their list."""
    sizes = np.diff(start)
    begins, lengths = start[:-1][sizes > 0], sizes[sizes > 0]
    greatest = np.repeat(np.fmax.reduceat(scores, begins), lengths)
    if transform == "exp":
        with np.errstate(invalid="ignore"):
            values = np.exp(scores - greatest)
        return np.where(np.isnan(values) & ~np.isnan(scores), 0.0, values)  # -inf is the best
    least = np.repeat(np.fmin.reduceat(scores, begins), lengths)
    return _fraction(scores, greatest, least) if transform == "flip" else _fraction(scores, least, greatest)


# What scores must be for a transform; NaN is left to the policy for NaN.
_DOMAINS: dict[str, tuple[Callable[[Scores], NDArray[np.bool_]], str]] = {
    "neglog10": (lambda x: (x >= 0) & (x <= 1), "p-values between 0 and 1"),
    "exp": (lambda x: x < np.inf, "scores below infinity"),
    "reciprocal": (lambda x: (x > 0) & (x < np.inf), "positive scores"),
    "flip": (np.isfinite, "finite scores"),
    "minmax": (np.isfinite, "finite scores"),
    "abs": (np.isreal, "real scores"),
}


def _fraction(scores: Scores, zero: Scores, one: Scores) -> Scores:
    """Return where scores lie between what becomes 0 and what becomes 1; all are 1 where these are equal."""
    with np.errstate(over="ignore"):
        half = np.where(np.isinf(one - zero), 0.5, 1.0)  # the range of scores may exceed that of numbers
    above, span = half * scores - half * zero, half * one - half * zero
    fraction: Scores = np.where(span == 0, np.where(np.isnan(scores), np.nan, 1.0), 0.0)
    return np.divide(above, span, out=fraction, where=span != 0) + 0.0


def _title(transform: Transform | None) -> str | None:
    """Return what a note calls the transformed scores; None if they are as they were."""
    if callable(transform):
        return f"{named(transform)}(score)"
    return None if transform is None else TITLES.get(transform)


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


def _require(scores: Scores, good: NDArray[np.bool_], name: str, required: str, transform: str) -> None:
    """Raise unless all scores suit the transform."""
    bad = ~(good | np.isnan(scores))
    if not bad.any():
        return
    exact = transform == "reciprocal" and bool((scores[bad] == 0).all())
    remedy = (
        f"1/0 has no value: pass {spelled('transform', 'flip')}, which gives an exact match (distance 0) the score 1."
        if exact
        else "Check the column, or transform the scores first."
    )
    raise InputError(
        f"{spelled('transform', transform)} requires {required}; {name} has {counted(int(bad.sum()), 'other')} "
        f"(first: {scores[int(np.argmax(bad))]:g}). {remedy}",
        "transform",
    )
