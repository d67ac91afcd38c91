"""The paper's table of properties, computed: each cell from a search, with a witness or the number of cases tried."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

import fujiscore as fj
from fujiscore.paper.conventions import ROUNDING, areas, curve, score
from fujiscore.paper.extremes import permuted
from fujiscore.paper.record import CAVEAT, FAILS, HOLDS, Judged, Section, Table, claims

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fujiscore.paper.conventions import Scores

    # The mark, what it rests on, and the paper's mark under another reading of the property ("" if there is none).
    Outcome = tuple[bool, str, str]

TITLES = {
    "fully_defined": "fully defined",
    "bounded": "bounded",
    "maximum": "maximum",
    "chance_corrected": "corrected for chance",
    "uses_scores": "uses rank scores",
}
MARKS = {True: "✓", False: "✗"}
MOST_ITEMS = 6
PROBED = (16, 64, 256, 1024)
# The denominators of the formulas; where one is 0 the formula is 0/0, and a convention defines the value.
DENOMINATORS: dict[str, Callable[[int, int, int], int]] = {
    "npog": lambda n, k1, k2: k1 * (n - k2),
    "kuncheva": lambda n, k1, k2: k1 * (n - k2),
    "lustgarten": lambda n, k1, k2: min(k1, k2) - max(0, k1 + k2 - n),
    "wald": lambda n, k1, k2: n * min(k1, k2) - k1 * k2,
    "cwrel": lambda n, k1, k2: (k1 + k2) // 2 - max(0, k1 + k2 - n),
    "pearson": lambda n, k1, k2: k1 * (n - k1) * k2 * (n - k2),
}
# The paper defines these for lists of equal length.
EQUAL_LENGTH = ("correlation", "gamma")


@dataclass(frozen=True)
class Case:
    """Two rankings of n items whose top k1 and top k2 share h items."""

    n: int
    k1: int
    k2: int
    h: int
    r: Scores
    s: Scores

    def __str__(self) -> str:
        """Return sizes and overlap."""
        return f"n = {self.n}, k1 = {self.k1}, k2 = {self.k2}, {self.h} shared"

    def value(self, measure: str) -> float | None:
        """Return a measure's value, or None where it does not accept the sizes."""
        try:
            return score(self.r, self.s, (self.k1, self.k2), measure)
        except fj.InputError:
            return None


@dataclass(frozen=True)
class Cell:
    """One cell of the table: the paper's mark, ours, what ours rests on, and another reading of the property."""

    measure: str
    trait: str
    paper: bool
    computed: bool
    evidence: str
    reading: str = ""

    @property
    def title(self) -> str:
        """The measure's title."""
        return fj.MEASURES[self.measure].title

    @property
    def agreement(self) -> str:
        """Agrees, agrees with a caveat, or differs."""
        if self.reading:
            return "agrees with a caveat"
        return "agrees" if self.paper == self.computed else "differs"


def cases(n: int, rng: np.random.Generator) -> Iterator[Case]:
    """Yield every possible pair of sizes and overlap, with random distinct scores."""
    for k1 in range(1, n + 1):
        for k2 in range(1, n + 1):
            for h in range(max(0, k1 + k2 - n), min(k1, k2) + 1):
                yield make_case(n, k1, k2, h, rng)


def make_case(n: int, k1: int, k2: int, h: int, rng: np.random.Generator) -> Case:
    """Return two rankings: r's top set is the first k1 items, s's begins h items before the end of it."""
    inside = np.zeros((2, n), np.bool_)
    inside[0, :k1] = inside[1, k1 - h : k1 - h + k2] = True
    r, s = np.where(inside, 1.0 + rng.random((2, n)), rng.random((2, n)))
    return Case(n, k1, k2, h, r, s)


def table() -> list[Cell]:
    """Compute all cells."""
    rng = np.random.default_rng(3)
    small = [case for n in range(2, MOST_ITEMS + 1) for case in cases(n, rng)]
    probes = [make_case(n, *sizes, rng) for n in PROBED for sizes in _probed_sizes(n)]
    cells = []
    for measure in fj.PAPER_MEASURES:
        outcomes = {
            "fully_defined": _fully_defined(measure, small),
            "bounded": _bounded(measure, small + probes),
            "maximum": _maximum(measure, small),
            "chance_corrected": _corrected(measure),
            "uses_scores": _uses_scores(measure),
        }
        declared = fj.MEASURES[measure].properties
        cells += [Cell(measure, trait, getattr(declared, trait), *outcome) for trait, outcome in outcomes.items()]
    return cells


def _probed_sizes(n: int) -> list[tuple[int, int, int]]:
    """Return sizes and overlaps at the edges of what n items allow."""
    return [(1, n - 1, 0), (n - 1, 1, 0), (1, 1, 0), (n // 2, n // 2, 0), (n // 2, n // 2, n // 2), (1, n - 1, 1)]


def _fully_defined(measure: str, searched: Sequence[Case]) -> Outcome:
    """Search for two non-empty sets without a value; where one of them holds all items, a convention may define it."""
    by_convention = None
    for case in searched:
        if case.value(measure) is None:
            return False, f"no value for sets of different sizes: {case}", ""
        if _zero_by_zero(measure, case):
            if max(case.k1, case.k2) < case.n:
                return False, f"0/0 at {case}: the union leaves nothing to compare", ""
            by_convention = by_convention or case
    evidence = f"{len(searched)} cases tried, a value in each"
    if by_convention is None:
        return True, evidence, ""
    return (
        True,
        evidence,
        f"where a set holds all items the formula is 0/0 ({by_convention}) and a convention defines it",
    )


def _zero_by_zero(measure: str, case: Case) -> bool:
    """Return whether the formula itself, without any convention, gives 0/0."""
    if measure in DENOMINATORS:
        return DENOMINATORS[measure](case.n, case.k1, case.k2) == 0
    # The scores are distinct, so only a union of one item leaves correlation and gamma nothing to compare.
    return measure in EQUAL_LENGTH and case.k1 + case.k2 - case.h == 1


def _bounded(measure: str, searched: Sequence[Case]) -> Outcome:
    """Search for values outside [-1, 1] that grow with n."""
    values = [(value, case) for case in searched if (value := case.value(measure)) is not None]
    outside = [(value, case) for value, case in values if abs(value) > 1 + 1e-9]
    if outside:
        last = [next((v, c) for v, c in outside if c.n == n) for n in PROBED[-2:]]
        grows = abs(last[1][0]) > 2 * abs(last[0][0])
        evidence = "; ".join(f"{value:.6g} at {case}" for value, case in last)
        return not grows, evidence, ""
    low, high = min(value for value, _ in values), max(value for value, _ in values)
    evidence = f"{len(values)} cases tried, n up to {PROBED[-1]}: all between {low:.3g} and {high:.3g}"
    many = "for two sets it is 1 or 0; over many sets, as first defined, it grows with their number"
    return True, evidence, many if measure == "krizek" else ""


def _maximum(measure: str, searched: Sequence[Case]) -> Outcome:
    """Search for equal lists below the maximum, or different ones at it."""
    if measure in EQUAL_LENGTH:
        return _maximum_of_orders(measure)
    witness = _maximum_witness(measure, searched, both_ways=False)
    if witness is None:
        tried = sum(case.value(measure) is not None for case in searched)
        return True, f"{tried} cases tried: 1 for equal sets, less for others", ""
    reading = ""
    if not fj.MEASURES[measure].symmetric and _maximum_witness(measure, searched, both_ways=True) is None:
        reading = f"the mean of both directions reaches 1 for equal sets only ({len(searched)} cases)"
    return False, witness, reading


def _maximum_witness(measure: str, searched: Sequence[Case], *, both_ways: bool) -> str | None:
    """Return a case that breaks the maximum property."""
    for case in searched:
        value = case.value(measure)
        if value is None:
            continue
        if both_ways:
            value = (value + score(case.s, case.r, (case.k2, case.k1), measure)) / 2
        equal = case.h == case.k1 == case.k2
        if equal != (value > 1 - ROUNDING):
            return f"{value:.4g} for {'equal' if equal else 'different'} sets: {case}"
    return None


def _maximum_of_orders(measure: str) -> Outcome:
    """Search the orders of up to five items for equal top lists below the maximum, or different ones at it."""
    rng = np.random.default_rng(4)
    tried = 0
    for n in range(2, 6):
        for order in permutations(range(n)):
            r = np.arange(n, 0.0, -1.0)
            s = np.sort(rng.random(n))[::-1][np.argsort(order)]
            values = curve(r, s, measure)
            for k, value in enumerate(values, 1):
                equal = order[:k] == tuple(range(k))
                tried += 1
                if equal != (value > 1 - ROUNDING):
                    which = "equal" if equal else "different"
                    return False, f"{value:.4g} for {which} lists: r = {_short(r)}, s = {_short(s)}, k = {k}", ""
    return True, f"{tried} pairs of lists of equal length tried: 1 for equal ones, less for others", ""


def _corrected(measure: str) -> Outcome:
    """Average over all permutations: corrected means the same expectation for all sizes."""
    expected = _expectations(measure)
    values = np.array([value for _, value in expected])
    tried = f"{len(expected)} sizes tried, all permutations of up to 5 items"
    if np.ptp(values) < 1e-9:
        return True, f"{tried}: expectation {abs(values.mean()):.1g}", ""
    low, high = expected[int(values.argmin())], expected[int(values.argmax())]
    evidence = f"expectation {low[1]:.4g} at {low[0]}, {high[1]:.4g} at {high[0]}"
    if measure == "fuji":
        left = max(abs(value) for _, value in _expectations(measure, corrected=True))
        return False, evidence, f"after fj.chance's correction the expectation is 0 (largest {left:.0e})"
    if measure == "correlation":
        whole = _mean_over_permutations(measure, 5, 5)
        return False, evidence, f"over complete lists (k = n), as in the paper's proof, it is {abs(whole):.0e}"
    return False, evidence, ""


def _expectations(measure: str, *, corrected: bool = False) -> list[tuple[str, float]]:
    """Return the expectation over random permutations at every size below n."""
    sizes = [(n, k) for n in (4, 5) for k in range(1, n)]
    means = [(f"n = {n}, k = {k}", _mean_over_permutations(measure, n, k, corrected=corrected)) for n, k in sizes]
    if corrected or not fj.MEASURES[measure].unequal or measure in EQUAL_LENGTH:
        return means
    r, s = _scores(4)
    for k1, k2 in ((1, 2), (1, 3), (2, 3), (3, 1)):
        mean = float(np.mean([score(r, other, (k1, k2), measure) for other in permuted(s)]))
        means.append((f"n = 4, k1 = {k1}, k2 = {k2}", mean))
    return means


def _mean_over_permutations(measure: str, n: int, k: int, *, corrected: bool = False) -> float:
    """Return a measure's mean over all orders of s's scores."""
    r, s = _scores(n)
    return float(areas(r[None], permuted(s), measure=measure, ks=[k], corrected=corrected).mean())


def _scores(n: int) -> tuple[Scores, Scores]:
    """Return two different sets of distinct scores."""
    return np.arange(n, 0.0, -1.0), 0.6 ** np.arange(n)


def _uses_scores(measure: str) -> Outcome:
    """Search for two pairs with the same orders and different values."""
    rng = np.random.default_rng(5)
    tried = 0
    for _ in range(100):
        n = int(rng.integers(2, 9))
        r, s = rng.random((2, n))
        curved = r**3
        before, after = curve(r, s, measure), curve(curved, s, measure)
        tried += n
        apart = np.abs(before - after)
        if apart.max() > 1e-9:
            k = int(apart.argmax())
            evidence = f"{before[k]:.4g} becomes {after[k]:.4g} at k = {k + 1} when r = {_short(r)} is cubed"
            return True, f"{evidence}; s = {_short(s)}", ""
    return False, f"{tried} values tried: none moves when the scores change and the order stays", ""


def _short(scores: Scores) -> str:
    """Return scores as a short tuple."""
    return "(" + ", ".join(f"{value:.3g}" for value in scores) + ")"


def section() -> Section:
    """Compute the table of properties and judge it column by column."""
    cells = table()
    flag = {"agrees": "", "agrees with a caveat": " *", "differs": " ≠ paper"}
    grid = [
        (fj.MEASURES[measure].title, *(MARKS[c.computed] + flag[c.agreement] for c in cells if c.measure == measure))
        for measure in fj.PAPER_MEASURES
    ]
    detail = [
        (c.title, TITLES[c.trait], MARKS[c.paper], MARKS[c.computed], c.agreement, c.evidence, c.reading) for c in cells
    ]
    columns = ("measure", "property", "paper", "computed", "agreement", "evidence", "another reading")
    header = ("measure", *TITLES.values())
    tables = (
        Table("properties", "The five properties, computed (* see the reading below)", header, grid),
        Table("properties_cells", "Each cell: counterexample or number of cases tried", columns, detail),
    )
    text = (
        f"Each mark is the result of a search over all sizes and overlaps of up to {MOST_ITEMS} items, over larger "
        "sizes at the limits, or over all permutations: a counterexample for ✗, the number of cases without one for ✓ "
        "(for the last property, the reverse)."
    )
    judged = {trait: judge_column([cell for cell in cells if cell.trait == trait]) for trait in TITLES}
    return Section("Properties of the thirteen scores", (text,), tables, (), claims("properties", judged))


def judge_column(cells: Sequence[Cell]) -> Judged:
    """Return the verdict on several cells."""
    differing = [cell for cell in cells if cell.agreement == "differs"]
    caveats = [cell for cell in cells if cell.agreement == "agrees with a caveat"]
    measured = f"{len(cells) - len(differing) - len(caveats)} of {len(cells)} cells agree"
    for label, group in (("with a caveat", caveats), ("differ", differing)):
        reasons: dict[str, list[str]] = {}
        for cell in group:
            reasons.setdefault(cell.reading or cell.evidence, []).append(cell.title)
        if group:
            listed = "; ".join(f"{', '.join(titles)} ({reason})" for reason, titles in reasons.items())
            measured += f"; {len(group)} {label}: {listed}"
    return Judged(FAILS if differing else CAVEAT if caveats else HOLDS, measured)
