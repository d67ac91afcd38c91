"""The paper's table of properties, computed: each cell from a search, with a witness or the number of cases tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import fujiscore as fj
from fujiscore.null.closed_forms import has_closed_form
from fujiscore.paper.conventions import ROUNDING, Scores, areas, curve, score
from fujiscore.paper.record import Judged, PageTable, Section, check, listed, make_section
from fujiscore.paper.scenarios import COINCIDING
from fujiscore.paper.theory import permuted

if TYPE_CHECKING:
    # The mark, what it rests on, and the paper's mark under another reading of the property ("" if there is none).
    Outcome = tuple[bool, str, str]
    Valued = tuple["Case", float | None]

TITLES = {
    "fully_defined": "fully defined",
    "bounded": "bounded",
    "maximum": "maximum",
    "chance_corrected": "corrected for chance",
    "uses_scores": "uses rank scores",
}
MARKS = "✗✓"
MOST_ITEMS = 6
PROBED = (16, 64, 256, 1024)
# The denominators of the formulas; where one is 0 the formula is 0/0, and a convention defines the value. The scores of
# the cases are distinct, so only a union of one item leaves correlation and gamma nothing to compare.
DENOMINATORS: dict[str, Callable[[Case], int]] = {
    "npog": lambda case: case.k1 * (case.n - case.k2),
    "kuncheva": lambda case: case.k1 * (case.n - case.k2),
    "lustgarten": lambda case: min(case.k1, case.k2) - max(0, case.k1 + case.k2 - case.n),
    "wald": lambda case: case.n * min(case.k1, case.k2) - case.k1 * case.k2,
    "cwrel": lambda case: (case.k1 + case.k2) // 2 - max(0, case.k1 + case.k2 - case.n),
    "correlation": lambda case: case.k1 + case.k2 - case.h - 1,
    "pearson": lambda case: case.k1 * (case.n - case.k1) * case.k2 * (case.n - case.k2),
    "gamma": lambda case: case.k1 + case.k2 - case.h - 1,
}
# Marked as corrected for chance in the paper; by one standard for all measures they are not, and the registry says so.
CLAIMED = {("fuji", "chance_corrected"), ("correlation", "chance_corrected")}
# The paper defines these for lists of equal length.
EQUAL_LENGTH = ("correlation", "gamma")


class Case(NamedTuple):
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


class Cell(NamedTuple):
    """One cell of the table: the paper's mark, ours, what ours rests on, and another reading of the property."""

    measure: str
    trait: str
    paper: bool
    computed: bool
    evidence: str
    reading: str = ""

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
    probes = []
    for n in PROBED:  # sizes and overlaps at the edges of what n items allow
        edges = [(1, n - 1, 0), (n - 1, 1, 0), (1, 1, 0), (n // 2, n // 2, 0), (n // 2, n // 2, n // 2), (1, n - 1, 1)]
        probes += [make_case(n, *sizes, rng) for sizes in edges]
    cells = []
    for measure in fj.PAPER_MEASURES:
        values = [(case, case.value(measure)) for case in small + probes]
        outcomes = (
            _fully_defined(measure, values[: len(small)]),
            _bounded(measure, values),
            _maximum(measure, values[: len(small)]),
            _corrected(measure),
            _uses_scores(measure),
        )
        for trait, outcome in zip(TITLES, outcomes, strict=True):
            cells.append(Cell(measure, trait, paper_mark(measure, trait), *outcome))
    return cells


def paper_mark(measure: str, trait: str) -> bool:
    """Return the mark in the paper's Table 1."""
    return (measure, trait) in CLAIMED or bool(getattr(fj.MEASURES[measure].properties, trait))


def _fully_defined(measure: str, searched: Sequence[Valued]) -> Outcome:
    """Search for two non-empty sets without a value; where one of them holds all items, a convention may define it."""
    reading = ""
    for case, value in searched:
        if value is None:
            return False, f"no value for sets of different sizes: {case}", ""
        if measure in DENOMINATORS and DENOMINATORS[measure](case) == 0:
            if max(case.k1, case.k2) < case.n:
                return False, f"0/0 at {case}: the union leaves nothing to compare", ""
            reading = reading or f"where a set holds all items the formula is 0/0 ({case}) and a convention defines it"
    return True, f"{len(searched)} cases tried, a value in each", reading


def _bounded(measure: str, searched: Sequence[Valued]) -> Outcome:
    """Search for values outside [-1, 1] that grow with n."""
    values = [(value, case) for case, value in searched if value is not None]
    last = [next(((v, c) for v, c in values if c.n == n and abs(v) > 1 + 1e-9), None) for n in PROBED[-2:]]
    outside = [pair for pair in last if pair is not None]
    if outside:
        grows = len(outside) == 1 or abs(outside[1][0]) > 2 * abs(outside[0][0])
        return not grows, "; ".join(f"{value:.6g} at {case}" for value, case in outside), ""
    low, high = min(value for value, _ in values), max(value for value, _ in values)
    evidence = f"{len(values)} cases tried, n up to {PROBED[-1]}: all between {low:.3g} and {high:.3g}"
    many = "for two sets it is 1 or 0; over many sets, as first defined, it grows with their number"
    return True, evidence, many if measure == "krizek" else ""


def _maximum(measure: str, searched: Sequence[Valued]) -> Outcome:
    """Search for equal lists below the maximum, or different ones at it."""
    if measure in EQUAL_LENGTH:
        return _maximum_of_orders(measure)
    values = [(case, value) for case, value in searched if value is not None]
    witness = _not_maximum(values)
    if not witness:
        return True, f"{len(values)} cases tried: 1 for equal sets, less for others", ""
    reading = ""
    if not fj.MEASURES[measure].symmetric:
        other_way = [score(case.s, case.r, (case.k2, case.k1), measure) for case, _ in values]
        means = [(case, (value + other) / 2) for (case, value), other in zip(values, other_way, strict=True)]
        if not _not_maximum(means):
            reading = f"the mean of both directions reaches 1 for equal sets only ({len(searched)} cases)"
    return False, witness, reading


def _not_maximum(values: Sequence[tuple[Case, float]]) -> str:
    """Return a case that breaks the maximum property; "" if there is none."""
    for case, value in values:
        equal = case.h == case.k1 == case.k2
        if equal != (value > 1 - ROUNDING):
            return f"{value:.4g} for {'equal' if equal else 'different'} sets: {case}"
    return ""


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
                    return False, f"{value:.4g} for {which} lists: r = ({listed(r)}), s = ({listed(s)}), k = {k}", ""
    return True, f"{tried} pairs of lists of equal length tried: 1 for equal ones, less for others", ""


def _corrected(measure: str) -> Outcome:
    """Average over all permutations: corrected means that the value as defined has one expectation for all sizes."""
    expected = _expectations(measure)
    values = np.array([value for _, value in expected])
    tried = f"{len(expected)} sizes tried, all permutations of up to 5 items"
    if np.ptp(values) < 1e-9:
        return True, f"{tried}: expectation {abs(values.mean()):.1g}", ""
    low, high = expected[int(values.argmin())], expected[int(values.argmax())]
    evidence = f"expectation {low[1]:.4g} at {low[0]}, {high[1]:.4g} at {high[0]}"
    if measure == "correlation":
        whole = _mean_over_permutations(measure, 5, 5, 5)
        evidence += f"; over complete lists (k = n), as in the paper's proof, {abs(whole):.0e}"
    if has_closed_form(fj.MEASURES[measure]):
        left = max(abs(value) for _, value in _expectations(measure, corrected=True))
        evidence += f"; after fj.chance's correction {left:.0e}"
    return False, evidence, ""


def _expectations(measure: str, *, corrected: bool = False) -> list[tuple[str, float]]:
    """Return the expectation over random permutations at every size below n."""
    sizes = [(n, k, k) for n in (4, 5) for k in range(1, n)]
    if fj.MEASURES[measure].unequal and measure not in EQUAL_LENGTH and not corrected:
        sizes += [(4, 1, 2), (4, 1, 3), (4, 2, 3), (4, 3, 1)]
    titles = (f"n = {n}, k = {k1}" if k1 == k2 else f"n = {n}, k1 = {k1}, k2 = {k2}" for n, k1, k2 in sizes)
    means = (_mean_over_permutations(measure, *size, corrected=corrected) for size in sizes)
    return list(zip(titles, means, strict=True))


def _mean_over_permutations(measure: str, n: int, k1: int, k2: int, *, corrected: bool = False) -> float:
    """Return a measure's mean over all orders of s's scores."""
    r, others = np.arange(n, 0.0, -1.0), permuted(0.6 ** np.arange(n))
    if k1 == k2:
        return float(areas(r[None], others, measure, ks=[k1], corrected=corrected).mean())
    return float(np.mean([score(r, s, (k1, k2), measure) for s in others]))


def _uses_scores(measure: str) -> Outcome:
    """Search for two pairs with the same orders and different values."""
    rng = np.random.default_rng(5)
    tried = 0
    for _ in range(100):
        n = int(rng.integers(2, 9))
        r, s = rng.random((2, n))
        before, after = curve(r, s, measure), curve(r**3, s, measure)
        tried += n
        changes = np.abs(before - after)
        if changes.max() > 1e-9:
            k = int(changes.argmax())
            evidence = f"{before[k]:.4g} becomes {after[k]:.4g} at k = {k + 1} when r = ({listed(r)}) is cubed"
            return True, f"{evidence}; s = ({listed(s)})", ""
    return False, f"{tried} values tried: none moves when the scores change and the order stays", ""


def section() -> Section:
    """Compute the table of properties and judge it column by column."""
    cells = table()
    flag = {"agrees": "", "agrees with a caveat": " *", "differs": " ≠ paper"}
    titles = {measure: fj.MEASURES[measure].title for measure in fj.PAPER_MEASURES}
    grid = [
        (title, *(MARKS[c.computed] + flag[c.agreement] for c in cells if c.measure == measure))
        for measure, title in titles.items()
    ]
    detail = [
        (titles[c.measure], TITLES[c.trait], MARKS[c.paper], MARKS[c.computed], c.agreement, c.evidence, c.reading)
        for c in cells
    ]
    columns = ("measure", "property", "paper", "computed", "agreement", "evidence", "another reading")
    tables = (
        PageTable(
            "properties", "The five properties, computed (* see the reading below)", ("measure", *TITLES.values()), grid
        ),
        PageTable("properties_cells", "Each cell: counterexample or number of cases tried", columns, detail),
    )
    checks = [check_column(trait, [cell for cell in cells if cell.trait == trait]) for trait in TITLES]
    others = len(fj.PAPER_MEASURES) - 1
    checks.append(check("ten_others", others=others - 1, scores=others, distinct=others - len(COINCIDING) + 1))
    return make_section("properties", checks, tables)


def check_column(trait: str, cells: Sequence[Cell]) -> tuple[str, Judged]:
    """Check one property of all measures."""
    caveats, differing = ([c for c in cells if c.agreement == kind] for kind in ("agrees with a caveat", "differs"))
    others = ""
    for label, group in (("with a caveat", caveats), ("differ", differing)):
        reasons: dict[str, list[str]] = {}
        for cell in group:
            reasons.setdefault(cell.reading or cell.evidence, []).append(fj.MEASURES[cell.measure].title)
        if group:
            named = "; ".join(f"{', '.join(titles)} ({reason})" for reason, titles in reasons.items())
            others += f"; {len(group)} {label}: {named}"
    agreeing = len(cells) - len(differing) - len(caveats)
    counts = {"agreeing": agreeing, "count": len(cells), "differing": len(differing), "with_caveat": len(caveats)}
    return check(trait, others=others, **counts)
