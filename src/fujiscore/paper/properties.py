"""The paper's table of properties, computed: each cell from a search, with a witness or the number of cases tried."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore as fj
from fujiscore.paper.record import CAVEAT, FAILS, HOLDS, Claim, Judged, Section, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Scores = NDArray[Any]

PROPERTIES = ("fully_defined", "bounded", "maximum", "chance_corrected", "uses_scores")
TITLES = ("fully defined", "bounded", "maximum", "corrected for chance", "uses rank scores")
MOST_ITEMS = 6
PROBED = (16, 64, 256, 1024)
ROUNDING = 1e-12
# The denominators of the formulas; where they vanish the formula says 0/0, and a convention takes over.
DENOMINATORS: dict[str, Callable[[int, int, int], int]] = {
    "npog": lambda n, k1, k2: k1 * (n - k2),
    "kuncheva": lambda n, k1, k2: k1 * (n - k2),
    "lustgarten": lambda n, k1, k2: min(k1, k2) - max(0, k1 + k2 - n),
    "wald": lambda n, k1, k2: n * min(k1, k2) - k1 * k2,
    "cwrel": lambda n, k1, k2: (k1 + k2) // 2 - max(0, k1 + k2 - n),
    "pearson": lambda n, k1, k2: k1 * (n - k1) * k2 * (n - k2),
}
# The paper treats these for lists of one length.
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
        """Return a measure's value, or None where the sizes are refused."""
        try:
            return fj.score(self.r, self.s, (self.k1, self.k2), measure)
        except fj.InputError:
            return None


@dataclass(frozen=True)
class Cell:
    """One cell of the table: the paper's mark, ours, and what ours rests on."""

    measure: str
    trait: str
    paper: bool
    computed: bool
    evidence: str
    # The paper's mark under another reading of the property, where ours differs from it.
    reading: str = ""

    @property
    def agreement(self) -> str:
        """Return agrees, agrees with a caveat, or differs."""
        if self.paper == self.computed:
            return "agrees with a caveat" if self.reading else "agrees"
        return "agrees with a caveat" if self.reading else "differs"


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
    found = []
    for measure in fj.PAPER_MEASURES:
        declared = fj.MEASURES[measure].properties
        computed = (
            _fully_defined(measure, small),
            _bounded(measure, small + probes),
            _maximum(measure, small),
            _corrected(measure),
            _uses_scores(measure),
        )
        for name, (mark, evidence, reading) in zip(PROPERTIES, computed, strict=True):
            found.append(Cell(measure, name, getattr(declared, name), mark, evidence, reading))
    return found


def _probed_sizes(n: int) -> list[tuple[int, int, int]]:
    """Return sizes and overlaps at the edges of what n items allow."""
    return [(1, n - 1, 0), (n - 1, 1, 0), (1, 1, 0), (n // 2, n // 2, 0), (n // 2, n // 2, n // 2), (1, n - 1, 1)]


def _fully_defined(measure: str, searched: list[Case]) -> tuple[bool, str, str]:
    """Search for two non-empty sets without a value; where one of them holds all items there is nothing to measure."""
    by_convention = None
    for case in searched:
        if case.value(measure) is None:
            return False, f"no value for sets of different sizes: {case}", ""
        if _zero_by_zero(measure, case):
            if max(case.k1, case.k2) < case.n:
                return False, f"0/0 at {case}: the union gives it nothing to compare", ""
            by_convention = by_convention or case
    evidence = f"{len(searched)} cases tried, a value in each"
    if by_convention is None:
        return True, evidence, ""
    return True, evidence, f"where a set holds all items the formula is 0/0 ({by_convention}) and a convention fills in"


def _zero_by_zero(measure: str, case: Case) -> bool:
    """Return whether the formula itself, without any convention, gives 0/0."""
    if measure in DENOMINATORS:
        return DENOMINATORS[measure](case.n, case.k1, case.k2) == 0
    # The scores are distinct, so that only a union of one item leaves correlation and gamma nothing to compare.
    return measure in EQUAL_LENGTH and case.k1 + case.k2 - case.h == 1


def _bounded(measure: str, searched: list[Case]) -> tuple[bool, str, str]:
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


def _maximum(measure: str, searched: list[Case]) -> tuple[bool, str, str]:
    """Search for equal lists below the maximum, or different ones at it."""
    if measure in EQUAL_LENGTH:
        return _maximum_of_orders(measure)
    found = _maximum_witness(measure, searched, both_ways=False)
    if found is None:
        tried = sum(case.value(measure) is not None for case in searched)
        return True, f"{tried} cases tried: 1 for equal sets, less for others", ""
    reading = ""
    if not fj.MEASURES[measure].symmetric and _maximum_witness(measure, searched, both_ways=True) is None:
        reading = f"the mean of both directions reaches 1 for equal sets only ({len(searched)} cases)"
    return False, found, reading


def _maximum_witness(measure: str, searched: list[Case], *, both_ways: bool) -> str | None:
    """Return a case that breaks the maximum property."""
    for case in searched:
        value = case.value(measure)
        if value is None:
            continue
        if both_ways:
            value = (value + fj.score(case.s, case.r, (case.k2, case.k1), measure)) / 2
        equal = case.h == case.k1 == case.k2
        if equal != (value > 1 - ROUNDING):
            return f"{value:.4g} for {'equal' if equal else 'different'} sets: {case}"
    return None


def _maximum_of_orders(measure: str) -> tuple[bool, str, str]:
    """Search the orders of up to five items for equal top lists below the maximum, or different ones at it."""
    rng = np.random.default_rng(4)
    tried = 0
    for n in range(2, 6):
        for order in permutations(range(n)):
            r = np.arange(n, 0.0, -1.0)
            s = np.sort(rng.random(n))[::-1][np.argsort(order)]
            values = fj.curve(r, s, measure).values
            for k, value in enumerate(values, 1):
                equal = order[:k] == tuple(range(k))
                tried += 1
                if equal != (value > 1 - ROUNDING):
                    which = "equal" if equal else "different"
                    return False, f"{value:.4g} for {which} lists: r = {_short(r)}, s = {_short(s)}, k = {k}", ""
    return True, f"{tried} pairs of lists of equal length tried: 1 for equal ones, less for others", ""


def _corrected(measure: str) -> tuple[bool, str, str]:
    """Average over all permutations: corrected means the same expectation whatever the sizes."""
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
    found = [
        (f"n = {n}, k = {k}", _mean_over_permutations(measure, n, k, corrected=corrected))
        for n in (4, 5)
        for k in range(1, n)
    ]
    if corrected or not fj.MEASURES[measure].unequal or measure in EQUAL_LENGTH:
        return found
    r, s = _scores(4)
    dealt = [s[list(order)] for order in permutations(range(4))]
    for k1, k2 in ((1, 2), (1, 3), (2, 3), (3, 1)):
        mean = float(np.mean([fj.score(r, own, (k1, k2), measure) for own in dealt]))
        found.append((f"n = 4, k1 = {k1}, k2 = {k2}", mean))
    return found


def _mean_over_permutations(measure: str, n: int, k: int, *, corrected: bool = False) -> float:
    """Return a measure's mean over all orders of s's scores."""
    r, s = _scores(n)
    dealt = np.array([s[list(order)] for order in permutations(range(n))])
    found = fj.pairwise(r[None], dealt, measure=measure, ks=[k], corrected=corrected, n_jobs=1, progress=False)
    return float(found.values.mean())


def _scores(n: int) -> tuple[Scores, Scores]:
    """Return two unlike sets of distinct scores."""
    return np.arange(n, 0.0, -1.0), 0.6 ** np.arange(n)


def _uses_scores(measure: str) -> tuple[bool, str, str]:
    """Search for two pairs with the same orders and different values."""
    rng = np.random.default_rng(5)
    tried = 0
    for _ in range(100):
        n = int(rng.integers(2, 9))
        r, s = rng.random((2, n))
        curved = r**3
        before, after = fj.curve(r, s, measure).values, fj.curve(curved, s, measure).values
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
    """Compute the table of properties and judge it cell by cell."""
    cells = table()
    marks = {True: "✓", False: "✗"}
    by_measure = {measure: [c for c in cells if c.measure == measure] for measure in fj.PAPER_MEASURES}
    flag = {"agrees": "", "agrees with a caveat": " *", "differs": " ≠ paper"}
    grid = [
        (fj.MEASURES[measure].title, *(marks[c.computed] + flag[c.agreement] for c in own))
        for measure, own in by_measure.items()
    ]
    detail = [
        (
            fj.MEASURES[c.measure].title,
            TITLES[PROPERTIES.index(c.trait)],
            marks[c.paper],
            marks[c.computed],
            c.agreement,
            c.evidence,
            c.reading,
        )
        for c in cells
    ]
    columns = ("measure", "property", "paper", "computed", "agreement", "evidence", "another reading")
    tables = (
        Table("properties", "The five properties, computed (* see the reading below)", ("measure", *TITLES), grid),
        Table("properties_cells", "Each cell: witness or number of cases tried", columns, detail),
    )
    text = (
        "Each mark is the outcome of a search over all sizes and overlaps of up to "
        f"{MOST_ITEMS} items, over larger sizes at the edges, or over all permutations: a counterexample for ✗, the "
        "number of cases without one for ✓ (for the last property the other way round)."
    )
    return Section("Properties of the thirteen scores", (text,), tables, (), _claims(cells))


def _claims(cells: list[Cell]) -> list[Claim]:
    """Judge each property over the thirteen scores, and the table as a whole."""
    claims = []
    for name, title in zip(PROPERTIES, TITLES, strict=True):
        own = [cell for cell in cells if cell.trait == name]
        claims.append(
            Claim(
                "Properties, Table 1",
                f"The column “{title}”: {', '.join(_titles(own, paper=True))} have the property, the others do not.",
                _judged(own),
                "Search for counterexamples; see the table of cells.",
            )
        )
    return claims


def _titles(cells: list[Cell], *, paper: bool) -> list[str]:
    """Return the measures that the paper marks."""
    return [fj.MEASURES[cell.measure].title for cell in cells if cell.paper == paper]


def _judged(cells: list[Cell]) -> Judged:
    """Return the verdict on several cells."""
    differing = [cell for cell in cells if cell.agreement == "differs"]
    caveats = [cell for cell in cells if cell.agreement == "agrees with a caveat"]
    agree = len(cells) - len(differing) - len(caveats)
    measured = f"{agree} of {len(cells)} cells agree"
    for label, own in (("with a caveat", caveats), ("differ", differing)):
        notes: dict[str, list[str]] = {}
        for cell in own:
            notes.setdefault(cell.reading or cell.evidence, []).append(fj.MEASURES[cell.measure].title)
        if own:
            measured += f"; {len(own)} {label}: " + "; ".join(f"{', '.join(who)} ({why})" for why, who in notes.items())
    return Judged(FAILS if differing else CAVEAT if caveats else HOLDS, measured)
