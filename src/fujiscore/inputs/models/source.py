"""What was read from an object: scores of features, once or several times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, counted, first_few, shown, spelled
from fujiscore.inputs.coercion import Labelled, Labels, Scores, first_repeated
from fujiscore.text.notes import Fact, Note


class Origin(str):
    """What scores are and what they were read from, such as "coef_ of LogisticRegression"."""

    __slots__ = ("pieces",)
    pieces: tuple[tuple[str, str | None], ...]

    def __new__(cls, *pieces: tuple[str, str | None]) -> Self:
        """Return the texts, each followed by the name of the object that it is of, if there is one."""
        origin = super().__new__(cls, "".join(text if of is None else f"{text} of {of}" for text, of in pieces))
        origin.pieces = pieces
        return origin

    def __reduce__(self) -> Any:
        """Return it from its pieces."""
        return Origin, self.pieces

    def plus(self, text: str, of: str | None = None) -> Origin:
        """Return the same with more to say."""
        return Origin(*self.pieces, (text, of))

    def beside(self, name: str) -> Origin:
        """Return the same without objects that are called by a name which stands beside it."""
        return Origin(*((text, None if of == name else of) for text, of in self.pieces))


@dataclass(frozen=True)
class Options:
    """What users may say about an object, as `importances` describes it."""

    feature_names: Any = None
    group: bool | Mapping[Any, Any] = False
    importance_type: str | None = None


@dataclass(frozen=True, eq=False)
class ModelScores:
    """The scores in an object: one ranking, or several whose mean stands for the object."""

    parts: Sequence[Labelled]  # one ranking, or one per row, repeat or fold
    word: str  # what the parts are: "row", "repeat", "fold" or "model"
    notes: tuple[str, ...]  # what was read, and what a reader must know about it
    negative: str = "raise"  # the policy for negative scores that suits them
    magnitudes: bool = False  # several parts are summarised by their mean magnitude rather than by their mean
    additive: bool = True  # scores of columns add up with their signs, as attributions do and coefficients do not
    unsigned: str | None = None  # of parts that lost their signs: what they are, and how to keep the signs

    def single(self, name: str) -> Labelled:
        """Return one ranking, the mean over the parts if there are several, its notes beginning with a name."""
        notes, unsigned = self.notes, self.unsigned
        part = self.parts[0]
        if len(self.parts) > 1:
            if any(other.items != part.items for other in self.parts):
                raise InputError(
                    f"{name} must score the same features in each {self.word}, to be averaged; they differ. Take one "
                    "ranking per part: fujiscore.importances(..., each=True)."
                )
            scores = np.array([other.scores for other in self.parts])
            mean = np.mean(np.abs(scores) if self.magnitudes else scores, axis=0)
            over = f"over {counted(len(self.parts), self.word)}"
            notes = (*notes, f"mean {'magnitude ' * self.magnitudes}{over}")
            part = part._replace(scores=mean)
            if self.magnitudes and unsigned is None:
                each = "importances(..., each=True)"
                alone = "compare_runs, or pass one of them" if self.word == "row" else f"pairwise and {each}"
                unsigned = f"mean magnitudes {over}. Compare the {self.word}s by {alone}."
        # The class of a ranking that has its name is not named again.
        detail = "; ".join(note.beside(name) if isinstance(note, Origin) else note for note in notes)
        note = Note(Fact("model", name, detail=detail))
        return Labelled(part.items, part.scores, (note,), self.negative, part.underscored, unsigned)

    def each(self) -> dict[str, Labelled]:
        """Return the parts by name: row 0, row 1, ...; repeats and folds are counted from 1."""
        first = 0 if self.word == "row" else 1
        names = [f"{self.word} {number}" for number in range(first, first + len(self.parts))]
        parts = [part._replace(notes=(), negative=self.negative, unsigned=self.unsigned) for part in self.parts]
        return dict(zip(names, parts, strict=True))

    def prepared(self, name: str, options: Options) -> ModelScores:
        """Return the same with the names and groups of features that the user gave."""
        source = self if options.feature_names is None else self._named(name, options.feature_names)
        if isinstance(options.group, bool):
            return source
        return source._grouped(name, dict(options.group))  # noqa: SLF001 - its own class

    def _named(self, name: str, given: Any) -> ModelScores:
        """Return the same with given names of features."""
        names = list(given)
        for part in self.parts:
            size = part.scores.size
            if len(names) != size:
                raise InputError(
                    f"{spelled('feature_names')} must have one name per feature; got {len(names)} for the {size} "
                    f"features of {name}."
                )
            known = part.items
            if known is not None and set(known) == set(names) and list(known) != names:
                raise InputError(
                    f"{spelled('feature_names')} must be in the order of {name}'s own names, {first_few(known)}; they "
                    "are in another order. Leave them out."
                )
        repeated = first_repeated(names)
        if repeated is not None:
            raise InputError(f"{spelled('feature_names')} must differ; {shown(repeated)} names more than one feature.")
        return replace(self, parts=[part._replace(items=names, underscored=False) for part in self.parts])

    def _grouped(self, name: str, sources: dict[Any, Any]) -> ModelScores:
        """Return the same with features replaced by those that a mapping has for them, their scores summed."""
        known = set(self.parts[0].items or ())
        strange = [feature for feature in sources if feature not in known]
        if strange:
            few = first_few([shown(feature) for feature in strange])
            raise InputError(f"{spelled('group')} must map names of features; {name} has no {few}.")

        def summed(part: Labelled) -> Labelled:
            groups = [sources.get(feature, feature) for feature in part.items or ()]
            place = {group: i for i, group in enumerate(dict.fromkeys(groups))}
            owners = np.array([place[group] for group in groups])
            return Labelled(list(place), sums(part.scores, owners, len(place), additive=self.additive))

        what = "scores" if self.additive else "magnitudes"
        notes = (*self.notes, f"{what} summed over the features of each group")
        unsigned = self.unsigned or (None if self.additive else f"sums of magnitudes. Leave out {spelled('group')}.")
        return replace(self, parts=list(map(summed, self.parts)), notes=notes, unsigned=unsigned)


def is_of(kind: type, library: str, name: str) -> bool:
    """Return whether a type is the class of a library with that name, or derived from it."""
    return any(base.__name__ == name and base.__module__.partition(".")[0] == library for base in kind.__mro__)


def sums(scores: Scores, owners: NDArray[np.intp], size: int, *, additive: bool) -> Scores:
    """Return the sum of the scores, or of their magnitudes, by owner."""
    values = scores if additive else np.abs(scores)
    return np.bincount(owners, values, size).astype(np.float64)


def positions(names: Labels | None, pattern: str) -> Labels | None:
    """Return names of features, None where a library made them up from the positions."""
    if names is None or all(name == pattern.format(i) for i, name in enumerate(names)):
        return None
    return list(names)
