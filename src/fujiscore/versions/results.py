"""What a comparison of two versions of a model gives: verdict, changes of features, gates, Markdown."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.charts.kinds import Chart, Dots, Mark, Ranges, Rows
from fujiscore.charts.palette import INK, SLATE
from fujiscore.charts.result import Result
from fujiscore.errors import counted, first_few, short_names
from fujiscore.measures.registry import find
from fujiscore.pages.page import Page, Reported
from fujiscore.pair.compare import Comparison, Level, levels_table
from fujiscore.pair.gates import Check, Verdict, judge_level, nothing_lost, require_bounds
from fujiscore.text.tables import Table, frame, markdown_text, text_columns
from fujiscore.text.tabular import Tabular, data_of
from fujiscore.versions.noise import ROUNDING, VersionTest

if TYPE_CHECKING:
    from fujiscore.null.chance import Chance

UNJUDGED = "cannot be judged"
# How many movers are printed, how many names of features, and columns of a name in a table.
SHOWN, NAMED, WIDEST = 8, 10, 32
HEADER = ("feature", "old share", "new share", "points", "old rank", "new rank", "kind")
BY_SHARE, BY_RANK = "Largest changes of share", "Largest changes of rank"
SHARES = "share: the score over the sum of its version's scores"

# The most features of a chart, and columns of a version's name.
DRAWN, LONGEST = 15, 32


@dataclass(frozen=True, repr=False)
class FeatureChange(Tabular):
    """One feature in both versions; None where a version lacks it.

    Attributes
    ----------
    item : label
        The feature.
    kind : {"same", "moved", "opposite sign", "appeared", "vanished"}
        What became of it.
    rank_reference, rank_current : int or None
        Ranks from 1; equal scores share the best of their ranks.
    rank_change : int or None
        The current rank less the reference's: negative is up.
    score_reference, score_current : float or None
        The scores as they were given.
    share_reference, share_current : float
        The scores on a common scale: over the sum of the version's scores (magnitudes). 0 where a version lacks the
        feature, and for negative scores that count as 0; signed where items are split by sign.
    share_change : float
        The current share less the reference's.
    """

    item: Hashable
    kind: str
    rank_reference: int | None
    rank_current: int | None
    rank_change: int | None
    score_reference: float | None
    score_current: float | None
    share_reference: float
    share_current: float
    share_change: float

    def _summary(self) -> list[str]:
        name, old, new, points, *ranks, kind = _cells([self])[0]
        return [f"{name}: {kind}, share {old} to {new} ({points} points), rank {' to '.join(ranks)}"]

    def _tables(self, rows: int | None) -> list[Table]:  # noqa: ARG002 - there is one row
        return [_movers("change of a feature", [self])]


COLUMNS = tuple(field.name for field in fields(FeatureChange))


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Result, Reported):
    """What changed between two versions of a model.

    Attributes
    ----------
    verdict : str
        "no more than between seeds", "beyond the noise between seeds", "no change" (equal scores), or "cannot be
        judged: ..." with the reason.
    comparison : Comparison
        The two rankings, with the measure's value, its chance level and p-value.
    changes : tuple of FeatureChange
        One entry per feature, the largest change of share first.
    noise : VersionTest or None
        The test of the change against resamples, if any were given.
    noise_kind : str
        What the resamples differ in: "seeds", "resamples" or "folds".
    confidence : float
        One less the level of the test.
    notes : tuple of str
        What was done to the input, and what the verdict rests on.
    """

    verdict: str
    comparison: Comparison
    changes: tuple[FeatureChange, ...]
    noise: VersionTest | None
    noise_kind: str = "seeds"
    confidence: float = 0.95
    notes: tuple[str, ...] = ()

    def _page(self) -> Page:
        from fujiscore.versions import page

        return page.drift(self)

    # What changed

    @property
    def movers(self) -> tuple[FeatureChange, ...]:
        """The features of both versions that changed in share or rank, the largest change of share first."""
        return tuple(change for change in self.changes if change.kind in {"moved", "opposite sign"})

    @property
    def rank_movers(self) -> tuple[FeatureChange, ...]:
        """The features of both versions that changed in rank and are not 0 in both, the largest change first."""
        moved = (
            change for change in self.movers if change.rank_change and (change.score_reference or change.score_current)
        )
        return tuple(sorted(moved, key=lambda change: -abs(change.rank_change or 0)))

    @property
    def appeared(self) -> tuple[FeatureChange, ...]:
        """The features that the reference lacks, the largest share first."""
        return self._of("appeared")

    @property
    def vanished(self) -> tuple[FeatureChange, ...]:
        """The features that the current version lacks, the largest share first."""
        return self._of("vanished")

    @property
    def flipped(self) -> tuple[FeatureChange, ...]:
        """The features whose scores have opposite signs in the two versions."""
        return self._of("opposite sign")

    def _of(self, kind: str) -> tuple[FeatureChange, ...]:
        return tuple(change for change in self.changes if change.kind == kind)

    # How much

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the two versions."""
        return self.comparison.rankings.names

    @property
    def level(self) -> Level:
        """The similarity of the two versions against chance: the area, or the value at k."""
        return self.comparison.levels()[0]

    @property
    def chance(self) -> Chance | None:
        """The chance level of the similarity, if it is known."""
        return self.comparison.chance.get(self.level.measure)

    @property
    def within(self) -> tuple[float, float] | None:
        """The mean similarity of two resamples of the reference, and of the current version; None without any."""
        return None if self.noise is None else self.noise.within

    @property
    def between(self) -> float | None:
        """The mean similarity of a resample of the reference and one of the current version; None without any."""
        return None if self.noise is None else self.noise.between

    @property
    def headline(self) -> str:
        """The verdict without reasons."""
        return UNJUDGED if self.beyond is None else self.verdict

    @property
    def beyond(self) -> bool | None:
        """Whether the change is beyond the noise; None if that cannot be judged."""
        return beyond_noise(self.changes, self.noise, 1 - self.confidence)

    def judge(
        self,
        *,
        fail_under: float | None = None,
        corrected: bool = False,
        fail_beyond: bool = False,
        allow_missing_features: bool = False,
    ) -> Verdict:
        """Return whether the current version passes the gates.

        A feature of the reference that the current version lacks fails whatever the similarity is.

        Parameters
        ----------
        fail_under : float, optional
            The least similarity that passes: of the area, or at k.
        corrected : bool
            Judge the similarity corrected for chance.
        fail_beyond : bool
            Fail if the change is beyond the noise of the resamples, or if that cannot be judged.
        allow_missing_features : bool
            Accept features that the current version lacks.
        """
        require_bounds(find(self.level.measure), fail_under=fail_under, corrected=corrected)
        checks = []
        if self.vanished and (fail_under is not None or fail_beyond):
            names = first_few([one.item for one in self.vanished])
            gone = f"{counted(len(self.vanished), 'feature')} missing ({names})"
            remedy = "allow_missing_features"
            checks.append(
                nothing_lost("features missing", gone, len(self.vanished), remedy, allowed=allow_missing_features)
            )
        if fail_under is not None:
            checks.append(judge_level(self.level, fail_under, self.notes, corrected=corrected))
        if fail_beyond:
            p_value, alpha = float("nan") if self.noise is None else self.noise.p_value, 1 - self.confidence
            checks.append(Check("change beyond noise", p_value, alpha, self.beyond is False, f"change: {self.verdict}"))
        return Verdict(tuple(checks))

    # Forms

    def columns(self) -> dict[str, Any]:
        """Return the columns of the table of features, by name."""
        return {name: [getattr(one, name) for one in self.changes] for name in COLUMNS}

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row per feature as a pandas or polars DataFrame, the notes in `.attrs`."""
        return frame(self.columns(), library, self.notes)

    def _data(self) -> dict[str, Any]:
        kinds = {"appeared": self.appeared, "vanished": self.vanished, "flipped": self.flipped}
        return {
            "reference": self.names[0],
            "current": self.names[1],
            "features": self.comparison.n,
            "verdict": self.verdict,
            "beyond": self.beyond,
            "confidence": self.confidence,
            "similarity": [asdict(level) for level in self.comparison.levels()],
            "noise": None if self.noise is None else {"kind": self.noise_kind, **data_of(self.noise)},
            **{kind: [change.item for change in changes] for kind, changes in kinds.items()},
            "changes": [asdict(change) for change in self.changes],
        }

    def _metrics(self) -> dict[str, Any]:
        level, noise = self.level, {} if self.noise is None else {"noise": data_of(self.noise)}
        known = {name: getattr(level, name) for name in ("value", "expected", "corrected", "z", "p_value")}
        kinds = {"appeared": self.appeared, "vanished": self.vanished, "flipped": self.flipped, "moved": self.movers}
        return {level.measure: known, **{kind: len(found) for kind, found in kinds.items()}, **noise}

    def to_markdown(self, *, rows: int | None = SHOWN, verdict: Sequence[str] = ()) -> str:
        """Return a report for a pull request: the verdict, lines of gates if given, similarity, movers, notes.

        Tables of movers have at most so many rows (None for all).
        """
        bullets = [*verdict, *self.counts(), *(self.noise.in_words() if self.noise is not None else ())]
        lines = [
            f"**Importance drift: {markdown_text(self.verdict)}** ({' → '.join(map(markdown_text, self.names))})",
            "",
            *(f"- {markdown_text(line)}" for line in bullets),
            "",
            *self.level_table().markdown(),
        ]
        for table in self.mover_tables(rows):
            lines += ["", f"<details><summary>{table.caption}</summary>", "", *table.markdown(), "", "</details>"]
        notes = [f"- {markdown_text(note)}" for note in self.notes]
        return "\n".join([*lines, *(["", *notes] if notes else [])]) + "\n"

    # Text

    def counts(self) -> list[str]:
        """Return the number of features, and those that are new, gone or of opposite sign."""
        lines = [counted(len(self.changes), "feature")]
        for name, changes in (("new", self.appeared), ("vanished", self.vanished), ("opposite sign", self.flipped)):
            if changes:
                lines.append(f"{name}: {len(changes)} ({first_few([change.item for change in changes], NAMED)})")
        return lines

    def level_table(self) -> Table:
        """Return the similarity against chance: one row for the area and for each k."""
        return levels_table(f"drift: {self.verdict}", self.comparison.levels())

    def mover_tables(self, number: int | None = SHOWN) -> list[Table]:
        """Return the largest changes of share, and of rank; none if nothing changed."""
        moved = [change for change in self.changes if change.kind != "same"]
        tables = {BY_SHARE: moved, BY_RANK: self.rank_movers}
        return [_movers(title, changes[:number]) for title, changes in tables.items() if changes]

    def _charts(self) -> Sequence[Chart]:
        changes = [change for change in self.changes if change.kind != "same"] or self.changes
        old, new = 100 * np.array([(one.share_reference, one.share_current) for one in changes]).T
        names = short_names(self.names, LONGEST)
        marks: list[Mark] = [
            Ranges(old, new, width=2.0),
            Dots(old, names[0], SLATE, 7.0, hollow=True),
            Dots(new, names[1], INK),
        ]
        kinds = ["" if change.kind in {"moved", "same"} else f" ({change.kind})" for change in changes]
        rows = [f"{change.item}{kind}" for change, kind in zip(changes, kinds, strict=True)]
        span = (min(0.0, float(min(old.min(), new.min()))), float(max(1e-9, old.max(), new.max())))
        title = "shares of the features that changed most"
        label = "share of the version's total score, in %"
        return [Rows(rows, marks, label, span, ".1f", most=DRAWN, title=title, heading=self.headline)]

    def _tables(self, rows: int | None) -> list[Table]:
        noise = [] if self.noise is None else self.noise._tables(rows)  # noqa: SLF001 - a result's own
        return [self.level_table(), *self.mover_tables(rows), *noise]

    def _summary(self) -> list[str]:
        lines = [f"drift: {self.verdict}", *self.counts(), *self.level_table().lines()]
        lines += self.noise.in_words() if self.noise is not None else []
        for table in self.mover_tables():
            lines += [table.caption + "".join(f" ({note})" for note in table.notes), *table.lines()]
        return lines


def judges(test: VersionTest, alpha: float) -> bool:
    """Return whether a test can find a change at its level, and has a p-value."""
    return test.least_p <= alpha + ROUNDING and not np.isnan(test.p_value)


def beyond_noise(changes: Sequence[FeatureChange], test: VersionTest | None, alpha: float) -> bool | None:
    """Return whether changes are beyond the noise between resamples; None if that cannot be judged."""
    if test is not None and judges(test, alpha):
        return bool(test.p_value <= alpha + ROUNDING)
    return False if all(change.kind == "same" for change in changes) else None


def _movers(title: str, changes: Sequence[FeatureChange]) -> Table:
    """Return changes of features, one row each."""
    notes = (SHARES,) if title == BY_SHARE else ()
    return text_columns(title, HEADER, _cells(changes), (0, len(HEADER) - 1), notes)


def _cells(changes: Sequence[FeatureChange]) -> list[list[str]]:
    """Return changes as text, one row each."""
    rows = []
    for name, change in zip(short_names([change.item for change in changes], WIDEST), changes, strict=True):
        ranks = ["-" if rank is None else str(rank) for rank in (change.rank_reference, change.rank_current)]
        shares = [f"{share:.1%}" for share in (change.share_reference, change.share_current)]
        rows.append([name, *shares, f"{100 * change.share_change:+.1f}", *ranks, change.kind])
    return rows
