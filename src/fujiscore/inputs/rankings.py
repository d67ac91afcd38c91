"""`rankings` and `align`: the one place where input is aligned and checked, whatever users have."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, choice, first_few, spelled
from fujiscore.inputs import models, policies
from fujiscore.inputs.coercion import (
    Labelled,
    Labels,
    Scores,
    from_table,
    is_table,
    labelled,
    no_signs,
    require_labels,
    require_size,
    unique_labels,
)
from fujiscore.inputs.direction import judged
from fujiscore.inputs.labels import advice
from fujiscore.inputs.options import DUPLICATES, MISSING, NAN, NEGATIVE, Policies, takes
from fujiscore.inputs.policies import SIGNED, RawLists
from fujiscore.inputs.ranking import Ranking, Rankings, frozen, require_names, universe_size
from fujiscore.inputs.transforms import AS_IS, Transform, one_per_ranking, scales, without_signs
from fujiscore.text.notes import Fact, Note, about, final, gathered


@takes(Policies)
def rankings(obj: Any, *, items: Any = None, **options: Unpack[Policies]) -> Rankings:
    """Return several rankings of the same items, aligned by label and checked.

    Parameters
    ----------
    obj : mapping, DataFrame, 2-D array, sequence, Ranking or Rankings
        A mapping of name to ranking; a DataFrame with one column per ranking (a single text column, or the pandas
        index, labels the items), or another object with an Arrow stream; a 2-D array with one row per ranking; or a
        sequence of rankings. A ranking is an array, a list, a Series, a dict of item to score, a list of
        (item, score) pairs, a list of items from best to worst (read as 1/rank), a `Ranking`, or a fitted model
        (`importances`). What scikit-learn's `permutation_importance` and `cross_validate` return, and a
        `shap.Explanation`, are several: one per repeat, fold or row. All of it is copied: the rankings do not change
        when the data does.
    items : str, optional
        The DataFrame's column that labels the items.

    Returns
    -------
    Rankings
        With `.names`, `.scores`, `.labels`, `.notes` and `.to_frame()`.

    Examples
    --------
    >>> import fujiscore as fj
    >>> both = fj.rankings({"first": {"a": 3, "b": 1}, "second": {"b": 2, "a": 0}})
    >>> both.scores
    (array([3., 1.]), array([0., 2.]))
    >>> both["second"]
    Ranking('second', 2 items: b: 2, a: 0)
    """
    if isinstance(obj, Ranking):
        return align([obj], [obj.name], **options)
    if isinstance(obj, Rankings):
        return align(list(obj), obj.names, notes=obj.notes, **options)
    source = models.read(obj, "rankings")
    if source is not None and source.word == "model":
        title = models.title(obj) or "model"
        return align([source.single(title)], [title], **options)
    if source is not None:
        parts = source.each()
        return align(list(parts.values()), list(parts), notes=source.notes, **options)
    obj = models.without_gradient(obj)
    names, objects = _split(obj, items)
    if not names:
        raise InputError("rankings must hold at least one ranking; got none.")
    require_names(names)
    return align(objects, names, **options)


def _split(obj: Any, items: Any) -> tuple[list[str], list[Any]]:
    """Return the names and the rankings in a container of any kind."""
    if isinstance(obj, Mapping):
        return [str(name) for name in obj], list(obj.values())
    if isinstance(obj, np.ndarray):
        if obj.ndim != 2:
            raise InputError(f"rankings must be a 2-D array, one row per ranking; got shape {obj.shape}.")
        require_size(obj.shape[1], "rankings")
        plain = type(obj) is np.ndarray and obj.dtype == np.float64 and obj.size
        # Copied as one: `Rankings.block` needs no second copy.
        rows = [Labelled(None, row) for row in obj.copy(order="C")] if plain else list(obj)
        return [str(i) for i in range(len(obj))], rows
    if isinstance(obj, (list, tuple)):
        names = [str(models.title(ranking) or getattr(ranking, "name", None) or i) for i, ranking in enumerate(obj)]
        return names if len(set(names)) == len(names) else [str(i) for i in range(len(obj))], list(obj)
    if not is_table(obj):
        raise InputError(
            "rankings must be a mapping of name to ranking, a DataFrame, a 2-D array or a sequence of rankings; "
            f"got {type(obj).__name__}. Read files with fujiscore.read, and put a single ranking in a list."
        )
    names, columns = from_table(obj, items)
    return names, list(columns)


def combine(first: Rankings, second: Rankings, missing: str) -> Rankings:
    """Bring two collections of rankings over one set of items together, the first's before the second's."""
    names = [*first.names, *second.names]
    notes = (*first.notes, *second.notes)
    universe = _agreed_universe([*first, *second])
    return align([*first, *second], names, missing=missing, universe=universe, notes=notes)


def align(
    objects: Sequence[Any],
    names: Sequence[str],
    *,
    negative: str | Sequence[str] = "raise",
    nan: str = "raise",
    missing: str = "raise",
    duplicates: str = "raise",
    transform: Any = None,
    universe: Any = None,
    notes: Sequence[str] = (),
) -> Rankings:
    """Return checked rankings of the same items; `negative` and `transform` are one for all of them or one for each."""
    transforms = one_per_ranking(transform, names)
    signs = [negative] * len(objects) if isinstance(negative, str) or negative is None else list(negative)
    _check_policies(signs, nan, missing, duplicates)
    objects = models.with_blanks([_single(obj, name) for obj, name in zip(objects, names, strict=True)])
    signs, objects = _suited(signs, objects, transforms)
    all_notes = [*notes, *scales(transforms, names)]
    universe = _agreed_universe(objects) if universe is None else universe
    if universe is not None:
        if missing == "drop":
            raise InputError(f"{spelled('universe')} cannot be combined with {spelled('missing', 'drop')}.")
        missing = "zero"
    lost = [
        getattr(obj, "unsigned", None) or without_signs(one, sign)
        for obj, sign, one in zip(objects, signs, transforms, strict=True)
    ]
    split = _by_sign(objects, names, signs, lost, universe)
    untouched = all(one in (None, AS_IS) for one in transforms)
    if untouched and not {"abs", "split"} & set(signs) and _already_aligned(objects, missing):
        members = objects
        labels = objects[0].items
    else:
        signs = [_policy(obj, sign, one) for obj, sign, one in zip(objects, signs, transforms, strict=True)]
        of_each: list[str] = []
        general: list[str] = []
        parts = _parts(objects, names, signs, nan, duplicates, transforms, general, of_each)
        aligned, absent, labels = _aligned(parts, names, missing, general, of_each)
        all_notes += [*gathered(of_each), *general]
        labels = frozen(labels)
        members = [
            _member(name, scores, labels, gone, sign, unsigned)
            for name, scores, gone, sign, unsigned in zip(names, aligned, absent, signs, lost, strict=True)
        ]
        if split:
            labels, members = _named_by_sign(members, all_notes)
    size = _universe_size(universe, members, labels)
    for obj in objects:
        all_notes += obj.notes if isinstance(obj, Ranking) else ()
    final_notes = final(all_notes)
    members = [member.renamed(name, size, final_notes) for member, name in zip(members, names, strict=True)]
    return Rankings.of(members, labels, size, final_notes)


def _check_policies(signs: Sequence[str], nan: str, missing: str, duplicates: str) -> None:
    """Raise if a policy is not one of its words."""
    for sign in signs:
        choice("negative", sign, NEGATIVE)
    choice("nan", nan, NAN)
    choice("duplicates", duplicates, DUPLICATES)
    if missing == "bounds":
        raise InputError(
            f"{spelled('missing', 'bounds')} gives an interval, not a value: use fujiscore.bounds(r, s), "
            f"or fujiscore.curve(r, s, {spelled('missing', 'bounds')})."
        )
    choice("missing", missing, MISSING)


def _parts(
    objects: Sequence[Any],
    names: Sequence[str],
    signs: Sequence[str],
    nan: str,
    duplicates: str,
    transforms: Sequence[Transform | None],
    notes: list[str],
    of_each: list[str],
) -> list[Labelled]:
    """Return each ranking's items and scores, signs included, after the policies for scores, duplicates and NaN."""
    parts: list[Labelled] = []
    sides: list[RawLists] = []
    repeating: list[RawLists] = []
    for obj, name, sign, transform in zip(objects, names, signs, transforms, strict=True):
        part = _listed_part(obj, sign) if isinstance(obj, Ranking) else labelled(obj, name)
        known = isinstance(obj, Ranking) and obj.negatives is not None
        start, labels_at = np.array([0, part.scores.size]), partial(_labels_at, part.items)
        flags: Any = {"signed": part.negative == "abs", "quiet": known or sign == "split"}
        side = RawLists(name, part.scores, start, labels_at, negative=sign, transform=transform, **flags)
        if _repeats(obj, part.items, name):
            repeating.append(side)
        of_each += part.notes
        of_each += judged(part.evidence, name) if transform is None else ()
        parts.append(part)
        sides.append(side)

    def report(fact: Fact) -> None:
        of_each.extend([Note(fact)] if fact.count else [])

    policies.transform_and_check(sides, nan, report)
    dropping = nan == "drop" and any(side.has_nan for side in sides)
    bare = next((name for part, name in zip(parts, names, strict=True) if part.items is None), None)
    if repeating or dropping:  # items as integers, the same for equal labels, counted as they come
        numbers: dict[Hashable, int] = {}
        for side, part in zip(sides, parts, strict=True):
            codes = (numbers.setdefault(item, len(numbers)) for item in part.items or ())
            side.items = np.arange(part.scores.size) if bare is not None else np.fromiter(codes, np.int64)
    for side in repeating:
        policies.merge(side, duplicates, report)
    if nan == "zero":
        policies.zero_nan(sides, report)
    if bare is not None:
        _positional(parts, names, bare)
    if dropping:
        _drop_nan(sides, notes)
    # Positions stay what they were, so that the items that are left cannot be taken for others.
    return [
        Labelled(part.items if side.rows is None else side.labels(np.arange(side.scores.size)), side.scores)
        for part, side in zip(parts, sides, strict=True)
    ]


def _labels_at(items: Labels | None, rows: NDArray[Any]) -> list[Any]:
    """Return the labels of some rows, which are positions where items have none."""
    return rows.tolist() if items is None else [items[row] for row in rows.tolist()]


def _listed_part(ranking: Ranking, negative: str) -> Labelled:
    """Return the items that a ranking itself lists, with the signs that magnitudes had."""
    items, scores, absent = ranking.items, ranking.ordered.scores, ranking.absent
    if ranking.split is not None:
        items, scores = ranking.split, ranking.ordered.signed
        absent = None if absent is None else absent[: len(items)]
    elif negative in SIGNED and ranking.negatives is not None:
        scores = np.where(ranking.negatives, -scores, scores)
    if absent is None:
        return Labelled(items, scores)
    listed = np.flatnonzero(~absent)
    items = None if items is None else [items[i] for i in listed.tolist()]
    return Labelled(items, scores[listed])


def _repeats(obj: Any, items: Labels | None, name: str) -> bool:
    """Return whether a ranking lists an item more than once; missing labels are an error."""
    if items is None or isinstance(items, range) or isinstance(obj, Ranking):
        return False
    if isinstance(obj, Mapping):
        require_labels(items, name)
        return False
    return len(unique_labels(items, name)) < len(items)


def _drop_nan(sides: Sequence[RawLists], notes: list[str]) -> None:
    """Drop items without a score in some ranking from all rankings."""
    gone = policies.without_score(sides)
    if gone is None:
        return
    names: dict[int, Hashable] = {}  # of all items, by code
    for side in sides:
        names.update(zip(side.keys().tolist(), side.labels(np.arange(side.scores.size)), strict=True))
    without = sorted({code for side, mask in zip(sides, gone, strict=True) for code in side.keys()[mask].tolist()})
    if len(without) == len(names):
        both = " and ".join(side.name for side in sides)
        raise InputError(f"{both} have no item left after {spelled('nan', 'drop')}: each has a NaN.", "empty")
    policies.drop(sides, gone, "merged")
    notes.append(Note(about("NaN dropped", "", [names[code] for code in without], total=len(names))))


def _single(obj: Any, name: str) -> Any:
    """Return the one ranking of a collection that holds one, or that of a model; other objects as they are."""
    if isinstance(obj, Ranking):
        return obj
    if not isinstance(obj, Rankings):
        source = models.read(obj, name)
        return models.without_gradient(obj) if source is None else source.single(name)
    if len(obj) != 1:
        raise InputError(f"{name} must be one ranking; got {len(obj)}: {first_few(obj.names, 12)}. Name one of them.")
    return obj[0]


def _suited(
    signs: Sequence[str], objects: Sequence[Any], transforms: Sequence[Transform | None]
) -> tuple[list[str], list[Any]]:
    """Return the policies for negative scores, of models the one that suits them, and the objects to transform."""
    chosen, scored = list(signs), list(objects)
    for i, obj in enumerate(objects):
        if isinstance(obj, Labelled) and signs[i] == "raise":
            chosen[i] = obj.negative
            if obj.negative == "abs" and transforms[i] not in (None, "abs", AS_IS):
                scored[i] = obj._replace(scores=np.abs(obj.scores))
    return chosen, scored


def _already_aligned(objects: Sequence[Any], missing: str) -> bool:
    """Return whether all objects are checked rankings over the very same items, with none to be dropped."""
    if not all(isinstance(obj, Ranking) for obj in objects):
        return False
    if missing == "drop" and any(obj.absent is not None for obj in objects):
        return False
    first = objects[0]
    return all(obj.n == first.n and (obj.items is first.items or obj.items == first.items) for obj in objects)


def _by_sign(
    objects: Sequence[Any], names: Sequence[str], signs: Sequence[str], lost: Sequence[str | None], universe: Any
) -> bool:
    """Return whether items are split by sign: all rankings or none, and without a universe."""
    made = [isinstance(obj, Ranking) and obj.split is not None for obj in objects]
    if "split" not in signs and not any(made):
        return False
    for name, sign, unsigned, done in zip(names, signs, lost, made, strict=True):
        if unsigned is not None:
            raise no_signs(name, spelled("negative", "split"), unsigned)
        if sign != "split" and not done:
            raise InputError(f"{name} must be split by sign as the others are: pass {spelled('negative', 'split')}.")
    if universe is not None:
        raise InputError(f"{spelled('universe')} cannot be combined with {spelled('negative', 'split')}.")
    return True


def _policy(obj: Any, negative: str, transform: Transform | None) -> str:
    """Return how a ranking's negative scores are read, which may have been decided when it was made."""
    made = obj if isinstance(obj, Ranking) else None
    if negative == "split" or (made is not None and made.split is not None):
        return "split"
    magnitudes = made is not None and made.negatives is not None and transform in (None, AS_IS)
    if "abs" in (negative, transform) or magnitudes:
        return "abs"
    return "clip" if made is not None and negative == "raise" else negative


def _member(
    name: str,
    scores: Scores,
    labels: Labels | None,
    absent: NDArray[np.bool_] | None,
    negative: str,
    unsigned: str | None,
) -> Ranking:
    """Return an aligned ranking of the scores; of their magnitudes, the signs beside them; or of both signs' items."""
    if negative == "split":
        halves = np.concatenate([np.maximum(scores, 0.0), np.maximum(-scores, 0.0)]) + 0.0  # no -0.0
        gone = None if absent is None else np.tile(absent, 2)
        return Ranking.checked(name, halves, absent=gone, split=range(scores.size) if labels is None else labels)
    if negative != "abs":
        return Ranking.checked(name, scores, labels, absent=absent, unsigned=unsigned)
    negatives = scores < 0
    signs = negatives if negatives.any() else None
    return Ranking.checked(name, np.abs(scores), labels, absent=absent, negatives=signs, unsigned=unsigned)


def _named_by_sign(members: Sequence[Ranking], notes: list[str]) -> tuple[Labels, list[Ranking]]:
    """Name the items of rankings split by sign."""
    items = members[0].split or ()
    labels = [f"{item} ({sign})" for sign in "+-" for item in items]
    if len(set(labels)) < len(labels):
        raise InputError(f"{spelled('negative', 'split')} needs labels that differ as text; some do not. Rename them.")
    notes.append(Note(Fact("items split", count=len(items))))
    names = tuple(labels)
    return names, [Ranking.checked(one.name, one.ordered, names, split=one.split) for one in members]


def _aligned(
    parts: Sequence[Labelled], names: Sequence[str], missing: str, notes: list[str], of_each: list[str]
) -> tuple[list[Scores], list[NDArray[np.bool_] | None], Labels | None]:
    """Bring rankings into one item order: the first ranking's, then other items as they come."""
    scores = [part.scores for part in parts]
    complete: list[NDArray[np.bool_] | None] = [None] * len(parts)
    bare = next((name for part, name in zip(parts, names, strict=True) if part.items is None), None)
    if bare is not None:
        return scores, complete, _positional(parts, names, bare)
    labels = [part.items for part in parts if part.items is not None]
    first = labels[0]
    if all(items is first or items == first for items in labels):
        return scores, complete, first
    places = [dict(zip(items, range(len(items)), strict=True)) for items in labels]
    union: Labels = list(dict.fromkeys(chain.from_iterable(labels)))
    hint = advice(labels, names) if any(len(place) < len(union) for place in places) else None
    if missing == "drop":
        items: Labels = [label for label in first if all(label in place for place in places)]
        if not items:
            why = "" if hint is None else f" {hint}."
            both = " and ".join(names)
            raise InputError(f"{both} must share items to be compared; they have none in common.{why}", "empty")
        if len(items) < len(union):
            kept = set(items)
            gone = [label for label in union if label not in kept]
            notes.append(Note(about("missing dropped", "", gone, total=len(union))))
    else:
        items = union
    aligned, absent = [], []
    for values, place, name in zip(scores, places, names, strict=True):
        positions = np.fromiter(map(place.get, items, repeat(-1)), np.intp, len(items))
        lacks = positions < 0
        if lacks.any():
            lacking = [items[i] for i in np.flatnonzero(lacks).tolist()]
            if missing == "raise":
                nearly = "" if hint is None else f"{hint}. "
                raise InputError(
                    f"{name} must score every item; it lacks {len(lacking)} of {len(items)} (first: {lacking[0]!r}). "
                    f"{nearly}If the lists are truncated, pass {spelled('universe', 'N')} (how many items they were "
                    f"drawn from) or {spelled('missing', 'zero')}; or {spelled('missing', 'drop')} to compare the "
                    "shared items only.",
                    "missing",
                )
            of_each.append(Note(about("missing", name, lacking, total=len(items), detail="scored 0")))
        aligned.append(np.where(lacks, 0.0, _require_listed(values, name)[positions]))
        absent.append(lacks if lacks.any() else None)
    if hint is not None:  # the likely reason for what the other notes say, so it comes first
        of_each.insert(0, hint)
    return aligned, absent, items


def _require_listed(scores: Scores, name: str) -> Scores:
    """Return the scores of a ranking that lists at least one item that is left."""
    if not scores.size:
        nan = spelled("nan", "drop")
        raise InputError(f"{name} must list an item that is left after {nan}; it lists none.", "empty")
    return scores


def _positional(parts: Sequence[Labelled], names: Sequence[str], bare: str) -> Labels | None:
    """Return the labels of rankings aligned by position: None, or a default index."""
    labels: Labels | None = None
    for part, name in zip(parts, names, strict=True):
        if part.items is not None and not isinstance(part.items, range):
            raise InputError(
                f"{name} has item labels and {bare} has none, so they cannot be aligned. "
                "Label both (pandas Series or dicts; models by fujiscore.importances(..., feature_names=...)), or pass "
                "plain arrays in the same item order."
            )
        labels = labels if part.items is None else part.items
        if part.scores.size != parts[0].scores.size:
            raise InputError(
                f"{names[0]} and {name} must score the same items; they have {parts[0].scores.size} and "
                f"{part.scores.size} scores. Pass pandas Series or dicts to align them by label."
            )
    return labels


def _universe_size(universe: Any, members: Sequence[Ranking], labels: Labels | None) -> int | None:
    """Return the number of items that the rankings were drawn from."""
    if universe is None:
        return None
    n = members[0].n
    if isinstance(universe, (str, bytes)) or not isinstance(universe, Collection):
        return universe_size(universe, n)
    known = set(unique_labels(universe, spelled("universe")))
    strange = [label for label in labels or () if label not in known]
    if strange:
        hint = advice([strange, known.difference(labels or ())], ["the rankings", spelled("universe")])
        raise InputError(
            f"{spelled('universe')} must hold every item; {len(strange)} of {n} are not: {first_few(strange)}."
            f"{'' if hint is None else f' {hint}.'}"
        )
    return universe_size(len(known), n)


def _agreed_universe(objects: Sequence[Any]) -> int | None:
    """Return the universe that checked rankings carry."""
    sizes = {obj.universe for obj in objects if isinstance(obj, Ranking)} - {None}
    if len(sizes) > 1:
        raise InputError(f"rankings must come from one universe; these say {first_few(sorted(sizes))}.")
    return next(iter(sizes), None)
