"""Two versions of a model: what changed, and is it more than noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, choice, counted, first_few, integer, proportion, spelled
from fujiscore.inputs import models
from fujiscore.inputs.coercion import Scores, labelled
from fujiscore.inputs.labels import advice
from fujiscore.inputs.options import Options, parted, takes
from fujiscore.inputs.ranking import Ranking, Rankings
from fujiscore.inputs.rankings import align
from fujiscore.inputs.rankings import rankings as as_rankings
from fujiscore.inputs.transforms import one_per_ranking, scales
from fujiscore.many.pairwise import pairwise
from fujiscore.measures.grids import MANY_PAIRS
from fujiscore.pair.compare import Comparison, compare
from fujiscore.text.notes import kind
from fujiscore.text.numbers import p_words
from fujiscore.versions.noise import ROUNDING, VersionTest, enough, version_test
from fujiscore.versions.results import UNJUDGED, Drift, FeatureChange, beyond_noise, judges
from fujiscore.work.seeds import as_seed

if TYPE_CHECKING:
    from fujiscore.many.matrix import Matrix
    from fujiscore.measures.overlap import Ties, ZeroTail

# What resamples may differ in, as the verdict calls it, and what these leave out.
NOISES = {
    "seeds": "seeds on the same data leave out the noise of the data: other data change importances more",
    "resamples": "resamples of one data set tell about that data set: other data change importances more",
    "folds": "folds of one data set share most rows: other data change importances more",
}
ROLES = ("reference", "current")
# The k whose values are reported beside the area.
SIZES = (1, 5, 10, 50, 100, 1000)
# For p-values that have no closed form.
PERMUTATIONS = 1000
# From so many resamples on, it is noted if the version's own ranking is much less similar to them than they are.
TYPICAL = 5


@takes(Options, missing="zero")
def drift(
    reference: Any,
    current: Any,
    measure: Any = "fuji",
    *,
    reference_resamples: Any = None,
    current_resamples: Any = None,
    noise: str = "seeds",
    k: int | None = None,
    ks: Any = MANY_PAIRS,
    confidence: float = 0.95,
    permutations: int | None = None,
    random_state: Any = 0,
    ties: Ties = "closed",
    zero_tail: ZeroTail = "include",
    **options: Unpack[Options],
) -> Drift:
    """Compare two versions of a model by the importances of their features: what changed, and is it more than noise.

    The verdict needs rankings of several seeds (or resamples) of the reference, of the current version or, best, of
    both. It is that of a permutation test: if version does not matter, any split of all these rankings into two
    versions is as likely as the given one. With equal numbers, four of each version are the fewest that can give
    p < 0.05; if one version has a single ranking, the other needs 19.

    Parameters
    ----------
    reference, current : array-like, Series, dict of item to score, Ranking or fitted model
        The importances of the old and the new version, as in `compare`.
    reference_resamples, current_resamples : mapping, DataFrame, 2-D array, sequence or Rankings, optional
        At least two rankings of a version by other seeds, resamples or folds, as in `rankings`. A version without any
        is judged by its single ranking.
    noise : {"seeds", "resamples", "folds"}
        What these differ in, for the words of the verdict.
    k : int, optional
        Compare the top k alone instead of the area under the curve.
    ks : {"exp", "all", "squared"} or increasing integers
        Where to evaluate the curve: by default over k = 1, 2, 4, ..., where the top weighs more.
    confidence : float
        A change is beyond the noise if its p-value is at most 1 - confidence.
    permutations : int, optional
        Number of permutations for the p-value against chance; by default 1000 where it has no closed form.
    random_state : int, Generator, RandomState or None
        Seed of the permutations, and of random splits where there are too many to try all.
    missing : {"zero", "raise", "drop"}
        How to treat features that one version lacks: score them 0, raise, or drop them. With "zero" they are listed as
        new or vanished, and chance is relative to the features of both versions together.

    Returns
    -------
    Drift
        With `.verdict`, `.movers`, `.rank_movers`, `.appeared`, `.vanished`, `.flipped`, `.comparison`, `.chance`,
        `.within`, `.between`, `.judge()`, `.to_frame()`, `.to_markdown()` and `.plot()`.

    Examples
    --------
    >>> import numpy as np, fujiscore as fj
    >>> rng = np.random.default_rng(0)
    >>> truth = np.linspace(1, 0, 20) ** 3
    >>> old = truth * np.exp(0.1 * rng.normal(size=(6, 20)))
    >>> new = truth * np.exp(0.1 * rng.normal(size=(6, 20)))
    >>> fj.drift(old[0], new[0], reference_resamples=old, current_resamples=new).verdict
    'no more than between seeds'
    >>> new[:, 0] = 0    # the best feature is not used any more
    >>> result = fj.drift(old[0], new[0], reference_resamples=old, current_resamples=new)
    >>> result.verdict, result.movers[0].item, result.movers[0].rank_current
    ('beyond the noise between seeds', 0, 19)
    """
    level = proportion("confidence", confidence)
    choice("noise", noise, NOISES)
    policies, work, _ = parted(options)
    rules: Any = {"missing": "zero", **policies}
    alone = {name: value for name, value in rules.items() if name not in {"missing", "universe"}}
    names = _names(reference, current)
    transforms = one_per_ranking(alone.pop("transform", None), ROLES)
    versions = [
        _version(obj, role, name, alone | {"transform": transform})
        for obj, role, name, transform in zip((reference, current), ROLES, names, transforms, strict=True)
    ]
    both = align(versions, names, missing=rules["missing"], universe=_universe(versions, rules))
    points = ks if k is None else [_size(k, both.depth)]
    work |= {"ties": ties, "zero_tail": zero_tail}
    comparison = _compared(both, measure, points, permutations, random_state=random_state, **work)
    changes = _changes(versions)
    given = dict(zip(ROLES, (reference_resamples, current_resamples), strict=True))
    tested = None
    if any(one is not None for one in given.values()):
        draws = [
            _draws(one, role, own, alone | {"missing": rules["missing"], "transform": transform})
            for (role, one), own, transform in zip(given.items(), versions, transforms, strict=True)
        ]
        tested = _tested(
            versions,
            draws,
            rules["missing"],
            partial(pairwise, measure=measure, ks=points, **work),
            as_seed(random_state),
        )
    said = [*comparison.notes, *_on_signs(versions, changes)]
    said += _remedy(noise, 1 - level) if tested is None else [*tested.notes, NOISES[noise]]
    if transforms[0] != transforms[1]:  # each version is read by itself, and its note does not name it
        said = [*scales(transforms, names), *(note for note in said if kind(note) != "transform")]
    verdict = _verdict(changes, tested, noise, 1 - level)
    return Drift(verdict, comparison, changes, tested, noise, level, tuple(dict.fromkeys(said)))


# Input


def _names(reference: Any, current: Any) -> tuple[str, str]:
    """Return the versions' own names where they have two different ones."""
    single = [obj[0] if isinstance(obj, Rankings) and len(obj) == 1 else obj for obj in (reference, current)]
    first, second = (obj.name if isinstance(obj, Ranking) else "" for obj in single)
    return (first, second) if first and second and first != second else ROLES


def _version(obj: Any, role: str, name: str, policies: Any) -> Ranking:
    """Return one version's ranking, checked by itself."""
    if isinstance(obj, Rankings) and len(obj) > 1:
        raise InputError(
            f"{role} must be one ranking; got {len(obj)}: {first_few(obj.names)}. Name one of them, and pass all as "
            f"{spelled(f'{role}_resamples')}."
        )
    if policies.get("nan") == "drop" and not isinstance(obj, (Ranking, Rankings)):
        source = models.read(obj, name)
        part = labelled(obj, name) if source is None else source.single(name)
        # Positions become labels: what is dropped must not move the others.
        obj = part if part.items is not None else part._replace(items=range(part.scores.size))
    ranking: Ranking = align([obj], [name], **policies)[0]
    return ranking


def _universe(versions: Sequence[Ranking], rules: Any) -> Any:
    """Return what chance is relative to: as given, otherwise the features of both versions together."""
    first, second = (set(_labels(version)) for version in versions)
    if not first & second:
        listed = " and ".join(f"{version.name} has {first_few(list(_labels(version)))}" for version in versions)
        hint = advice([first, second], [version.name for version in versions])
        why = "" if hint is None else f" {hint}."
        raise InputError(f"{ROLES[0]} and {ROLES[1]} must share features; they have none in common: {listed}.{why}")
    known = any(version.universe is not None or version.split is not None for version in versions)
    if rules.get("universe") is not None or rules["missing"] != "zero" or known or first == second:
        return rules.get("universe")
    return len(first | second)


def _labels(version: Ranking) -> Sequence[Any]:
    """Return a version's features; positions where they have no names."""
    if version.split is not None:
        return version.split
    return range(version.n) if version.items is None else version.items


def _size(k: Any, depth: int) -> int:
    """Return the k to compare at, or raise."""
    size = integer("k", k, 1)
    if size > depth:
        raise InputError(f"{spelled('k')} must be at most {depth}, the number of features; got {size}.")
    return size


def _compared(both: Rankings, measure: Any, points: Any, permutations: int | None, **options: Any) -> Comparison:
    """Compare the versions; without a p-value in closed form, against permutations unless their number was given."""
    sizes = [] if isinstance(points, list) else [k for k in SIZES if k < both.depth]
    result = compare(both[0], both[1], (measure,), ks=points, k=sizes, permutations=permutations or 0, **options)
    if permutations is None and both.n and result.overlap.population is not None and result.levels()[0].p_value is None:
        return compare(both[0], both[1], (measure,), ks=points, k=sizes, permutations=PERMUTATIONS, **options)
    return result


# Features


def _changes(versions: Sequence[Ranking]) -> tuple[FeatureChange, ...]:
    """Return what became of each feature, the largest change of share first, then of rank."""
    both = list(align(versions, ROLES, missing="zero"))
    labels = _labels(both[0])
    absent = [_absent(version) for version in both]
    ranks = [np.where(gone, 0, _ranks(version)) for version, gone in zip(both, absent, strict=True)]
    scores, shares = [_signed(version) for version in both], [_shares(version) for version in both]
    moved, turned = ranks[1] - ranks[0], shares[1] - shares[0]
    turned[np.abs(turned) <= ROUNDING] = 0.0
    signs = all(version.unsigned is None for version in both)
    opposite = (np.sign(scores[0]) * np.sign(scores[1]) < 0) & signs
    cases = [absent[0], absent[1], opposite, (moved != 0) | (turned != 0)]
    kinds = np.select(cases, ["appeared", "vanished", "opposite sign", "moved"], "same")
    order = np.lexsort((-np.abs(moved), -np.abs(turned)))
    return tuple(
        FeatureChange(
            item=labels[i],
            kind=str(kinds[i]),
            rank_reference=None if absent[0][i] else int(ranks[0][i]),
            rank_current=None if absent[1][i] else int(ranks[1][i]),
            rank_change=None if absent[0][i] or absent[1][i] else int(moved[i]),
            score_reference=None if absent[0][i] else float(scores[0][i]),
            score_current=None if absent[1][i] else float(scores[1][i]),
            share_reference=float(shares[0][i]),
            share_current=float(shares[1][i]),
            share_change=float(turned[i]),
        )
        for i in order.tolist()
    )


def _on_signs(versions: Sequence[Ranking], changes: Sequence[FeatureChange]) -> list[str]:
    """Return a note on features of opposite signs where magnitudes rank: these are as similar as any others."""
    flipped = sum(change.kind == "opposite sign" for change in changes)
    if not flipped or versions[0].split is not None:
        return []
    remedy = f"pass {spelled('negative', 'split')} to count them"
    notes = [f"opposite signs ({counted(flipped, 'feature')}) do not lower the similarity of magnitudes: {remedy}"]
    unsigned = [version.name for version in versions if not (_signed(version) < 0).any()]
    if unsigned:
        notes.append(f"no score of {unsigned[0]} is negative: if its scores have no signs, opposite signs mean nothing")
    return notes


def _absent(version: Ranking) -> NDArray[np.bool_]:
    """Return which features a version lacks."""
    size = len(_labels(version))
    return np.zeros(size, np.bool_) if version.absent is None else version.absent[:size]


def _signed(version: Ranking) -> Scores:
    """Return the scores with their signs."""
    if version.split is not None:
        return version.signed
    return version.scores if version.negatives is None else np.where(version.negatives, -version.scores, version.scores)


def _ranks(version: Ranking) -> NDArray[np.int64]:
    """Return the features' ranks; where they are split by sign, by magnitude."""
    if version.split is None:
        return version.ranks
    absent = _absent(version)
    whole = Ranking.checked(version.name, np.abs(version.signed), absent=absent if absent.any() else None)
    return whole.ranks


def _shares(version: Ranking) -> Scores:
    """Return the scores over their sum, or that of their magnitudes; scores that count as 0 have no share."""
    scores = version.signed if version.split is not None else version.clipped
    largest = float(np.abs(scores).max())
    if largest == 0:
        return np.zeros(scores.size)
    relative: Scores = scores / largest  # a sum of huge scores may overflow
    shares: Scores = relative / np.abs(relative).sum()
    return shares


# Noise


def _draws(resamples: Any, role: str, version: Ranking, policies: Any) -> list[Ranking]:
    """Return the rankings that stand for a version: its resamples, or if there are none its own."""
    if resamples is None:
        return [version]
    found = as_rankings(resamples, **policies)
    if len(found) < 2:
        raise InputError(
            f"{spelled(f'{role}_resamples')} must hold at least 2 rankings of one version; got {len(found)}."
        )
    return list(found)


def _tested(
    versions: Sequence[Ranking], draws: Sequence[Sequence[Ranking]], missing: str, similarities: Any, seed: int
) -> VersionTest:
    """Test the change of versions against their resamples; the versions' own rankings are checked to be typical."""
    first, second = map(len, draws)
    named = [f"{role}/{one.name}" for role, part in zip(ROLES, draws, strict=True) for one in part]
    everything = align([*draws[0], *draws[1], *versions], [*named, *ROLES], missing=missing)
    matrix: Matrix = similarities(everything)
    own = replace(matrix, raw=matrix.raw[:-2, :-2], names=matrix.names[:-2], columns=matrix.columns[:-2])
    test = version_test(own, first, seed)
    parts = {ROLES[0]: range(first), ROLES[1]: range(first, first + second)}
    strange = [
        note
        for place, (role, part) in enumerate(parts.items(), first + second)
        if (note := _atypical(matrix.raw, role, list(part), place))
    ]
    return replace(test, notes=(*matrix.notes, *test.notes, *strange, *_copies(everything, first, second)))


def _atypical(values: Scores, role: str, draws: list[int], place: int) -> str | None:
    """Return a note if a version's ranking is much less similar to its resamples than these are to each other."""
    if len(draws) < TYPICAL:
        return None
    inside = values[np.ix_(draws, draws)]
    means = (inside.sum(axis=1) - np.diagonal(inside)) / (len(draws) - 1)
    own = float(values[place, draws].mean())
    if not own < means.min() - np.ptp(means) - ROUNDING:
        return None
    return (
        f"{role} is less similar to its resamples ({own:.4f}) than these are to each other ({means.min():.4f} or "
        "more): are they of the same version?"
    )


def _copies(everything: Rankings, first: int, second: int) -> list[str]:
    """Return a note if both versions have the same rankings among their resamples."""
    keys = [ranking.scores.tobytes() for ranking in everything]
    shared = len(set(keys[:first]) & set(keys[first : first + second]))
    return (
        [f"both versions have {shared} equal ranking(s) among their resamples: were files mixed up?"] if shared else []
    )


def _remedy(noise: str, alpha: float) -> list[str]:
    """Return a note on how to get a verdict."""
    both = " and ".join(spelled(f"{role}_resamples") for role in ROLES)
    return [f"for a verdict on noise, pass rankings by {enough(alpha)} or more {noise} of each version: {both}"]


def _verdict(changes: Sequence[FeatureChange], test: VersionTest | None, noise: str, alpha: float) -> str:
    """Return the verdict in words."""
    beyond = beyond_noise(changes, test, alpha)
    if test is not None and judges(test, alpha):
        return f"beyond the noise between {noise}" if beyond else f"no more than between {noise}"
    if beyond is not None:
        return "no change"
    if test is None:
        return f"{UNJUDGED}: no {noise} given to compare with"
    if np.isnan(test.p_value):
        return f"{UNJUDGED}: some {noise} have no similarity"
    m = " and ".join(map(str, test.m))
    remedy = f"{enough(alpha)} {noise} of each version are enough"
    return f"{UNJUDGED}: {m} rankings give {p_words(test.least_p)} at least; {remedy}"
