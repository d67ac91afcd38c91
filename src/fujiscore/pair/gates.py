"""Gates: the verdict on a result, one check per bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from fujiscore.errors import InputError, shown, spelled
from fujiscore.measures.registry import Measure, find
from fujiscore.text.tables import Table
from fujiscore.text.tabular import Tabular

if TYPE_CHECKING:
    from fujiscore.pair.compare import Level


@dataclass(frozen=True)
class Check:
    """One gate: what was judged, its value, the bound, and whether it passed.

    Attributes
    ----------
    what : str
        What was judged, in words.
    value : float
        Its value, NaN if unknown.
    bound : float
        The least value that passes, or the greatest for a share or a number of queries.
    passed : bool
        Whether it passed.
    text : str
        All of it in one line.
    """

    what: str
    value: float
    bound: float
    passed: bool
    text: str


@dataclass(frozen=True, repr=False)
class Verdict(Tabular):
    """What the gates say; without any gate everything passes."""

    checks: tuple[Check, ...]

    def _summary(self) -> list[str]:
        return self.lines() or ["passed: no gates were set"]

    def _tables(self, rows: int | None) -> list[Table]:  # noqa: ARG002 - there are few gates
        header, formats = ["gate", "value", "bound", "passed"], ["", ".4g", ".4g", ""]
        cells = [[check.what, check.value, check.bound, check.passed] for check in self.checks]
        return [Table("passed" if self.passed else "FAILED", header, cells, formats)]

    @property
    def passed(self) -> bool:
        """Whether every gate passed."""
        return all(check.passed for check in self.checks)

    def lines(self) -> list[str]:
        """Return one line per gate."""
        return [f"{'passed' if check.passed else 'FAILED'}: {check.text}" for check in self.checks]

    def failed(self) -> list[str]:
        """Return the lines of the gates that failed."""
        return [line for check, line in zip(self.checks, self.lines(), strict=True) if not check.passed]

    def _data(self) -> dict[str, Any]:
        gates = [asdict(check) for check in self.checks]
        return {"passed": self.passed if self.checks else None, "gates": gates}

    def _metrics(self) -> dict[str, Any]:
        return {"passed": float(self.passed), **{check.what: check.value for check in self.checks}}


def require_bounds(
    measure: Measure,
    *,
    fail_under: Any = None,
    fail_under_quantile: Any = None,
    fail_share_below: Any = None,
    corrected: bool = False,
    **_others: Any,
) -> None:
    """Raise if a gate's numbers lie outside their range, where it would always pass or always fail."""
    values = (-float("inf"), 1.0) if corrected else (measure.low, measure.high)
    wanted = (
        ("fail_under", None if fail_under is None else [fail_under], (values,)),
        ("fail_under_quantile", fail_under_quantile, ((0, 1), values)),
        ("fail_share_below", fail_share_below, (values, (0, 1))),
    )
    for argument, numbers, spans in wanted:
        if numbers is None:
            continue
        if not isinstance(numbers, (tuple, list)) or len(numbers) != len(spans):
            raise InputError(f"{spelled(argument)} must be two numbers; got {shown(numbers)}.")
        for number, (least, most) in zip(numbers, spans, strict=True):
            if isinstance(number, bool) or not isinstance(number, (int, float)) or not least <= number <= most:
                what = f"{spelled(argument)} must have numbers from {least:g} to {most:g}"
                raise InputError(f"{what} with {measure.name}; got {shown(number)}.")


def judge_level(level: Level, fail_under: float, notes: Sequence[str], *, corrected: bool = False) -> Check:
    """Return the check of a value, or of one corrected for chance, which must be known; an undefined one fails."""
    value = level.corrected if corrected else level.value
    if value is None:
        raise InputError(
            f"{spelled('corrected')} needs the chance level of {level.measure}, which is not known: "
            f"{'; '.join(notes) or 'chance leaves no choice'}."
        )
    kind = " corrected" if corrected else ""
    return at_least(f"{find(level.measure).title}{kind} ({level.place})", value, fail_under)


def nothing_lost(what: str, lost: str, count: int, remedy: str, *, allowed: bool) -> Check:
    """Return the check that nothing was lost, whatever the values are; an argument of the gates accepts it."""
    end = "allowed" if allowed else f"0 allowed; {spelled(remedy)} accepts them"
    return Check(what, count, 0, allowed, f"{lost}, {end}")


def at_least(what: str, value: float, bound: float) -> Check:
    """Return a check of a value against the least that passes; an undefined value fails."""
    passed = value >= bound
    return Check(what, value, bound, passed, f"{what} {distinct(value, bound)}, at least {bound:g} required")


def at_most(what: str, value: float, bound: float) -> Check:
    """Return a check of a value against the most that passes; an undefined value fails."""
    return Check(what, value, bound, value <= bound, f"{what}: {distinct(value, bound)}, at most {bound:g} allowed")


def distinct(value: float, bound: float) -> str:
    """Return a value in as many digits as tell it from the bound, four or more."""
    if isnan(value):
        return "undefined"
    texts = (f"{value:.{digits}f}" for digits in range(4, 18))
    return next((text for text in texts if value == bound or float(text) != bound), repr(value))
