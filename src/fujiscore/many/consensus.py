"""One ranking from many, with the agreement of each list with it and with the consensus of the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack

import numpy as np

from fujiscore.charts.kinds import Dots, Ranges, Rows, values_span
from fujiscore.charts.result import Result
from fujiscore.errors import NAME, InputError, choice, counted, first_few, printable, short_names, spelled
from fujiscore.inference.multiplicity import ADJUSTMENTS, adjusted
from fujiscore.inputs.options import Policies, takes
from fujiscore.inputs.ranking import Ranking
from fujiscore.inputs.rankings import rankings as as_rankings
from fujiscore.many.aggregation import METHODS, MISSING_RANKS, corrected_rho, exact_rho, input_notes
from fujiscore.many.pairwise import caveats, task_for
from fujiscore.measures.grids import MANY_PAIRS
from fujiscore.measures.registry import find, headline
from fujiscore.null.closed_forms import correct
from fujiscore.text.tables import Table, columns_table, first_places, frame, short_start
from fujiscore.work.tiles import run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fujiscore.charts.kinds import Chart, Mark
    from fujiscore.inputs.coercion import Scores
    from fujiscore.inputs.ranking import Rankings
    from fujiscore.many.aggregation import Options
    from fujiscore.many.pairwise import PairTask
    from fujiscore.measures.grids import Grid
    from fujiscore.measures.overlap import Ties, ZeroTail

Method: TypeAlias = Literal["borda", "median", "rrf", "rra"]
Adjust: TypeAlias = Literal["bh", "holm"]
# More lists would take long, and Bonferroni's correction serves.
MOST_EXACT = 50
# By method, what depends on the number of all items, and where the items that a list lacks rank.
LACKING = {
    "borda": (MISSING_RANKS, "at the mean of the ranks left"),
    "median": (MISSING_RANKS, "at the mean of the ranks left"),
    "rrf": ("", "without points from it"),
    "rra": ("p-values depend", "at the last rank of all"),
}


@dataclass(frozen=True, eq=False, repr=False)
class Consensus(Result):
    """One ranking from many, and how well they agree with it.

    Attributes
    ----------
    ranking : Ranking
        The consensus. Its scores, higher is better, are for "borda" the mean number of items ranked below the item,
        for "median" the number of items below its median rank, for "rrf" the sum of 1 / (60 + rank), and for "rra"
        -log10 of the rho score.
    method : str
        How it was computed.
    names : tuple of str
        The lists that it was computed from.
    agreement : ndarray
        The similarity of each list with the consensus, to which the list itself belongs.
    left_out : ndarray
        The similarity of each list with the consensus of all other lists.
    measure : str
        The measure of similarity.
    grid : Grid
        Where the similarity was evaluated.
    corrected : bool
        Whether similarities are corrected for chance.
    listed : ndarray of int
        In item order, the number of lists that have the item.
    population : int
        Number of items that the lists rank, or were drawn from.
    p_values : ndarray or None
        In item order, the p-values of "rra"; the other methods have none.
    adjust : str
        How `adjusted_p_values` are adjusted.
    notes : tuple of str
        What was done to the input, and what the result rests on.
    """

    ranking: Ranking
    method: str
    names: tuple[str, ...]
    agreement: Scores
    left_out: Scores
    measure: str
    grid: Grid
    corrected: bool
    listed: NDArray[np.int64]
    population: int
    p_values: Scores | None = None
    adjust: str = "bh"
    notes: tuple[str, ...] = field(default=())

    @property
    def adjusted_p_values(self) -> Scores | None:
        """The p-values adjusted for testing every item of the population."""
        return None if self.p_values is None else adjusted(self.p_values, self.adjust, self.population)

    @property
    def order(self) -> NDArray[np.intp]:
        """The items' positions from best to worst; tied items by their labels, so that no list's order decides."""
        labels = self.ranking.items
        if labels is None or isinstance(labels, range):
            return self.ranking.order.astype(np.intp)
        by_label = np.array(sorted(range(len(labels)), key=lambda i: str(labels[i])), np.intp)
        return by_label[np.argsort(-self.ranking.scores[by_label], kind="stable")]

    @property
    def area(self) -> str:
        """What the similarities are: the name of the area, or "value over the whole list"."""
        name = self.grid.whole if find(self.measure).whole else self.grid.area
        return f"{name}, corrected for chance" if self.corrected else name

    def columns(self) -> dict[str, Any]:
        """Return the columns of the table of items, best first."""
        order = self.order
        columns: dict[str, Any] = {
            "item": [self.ranking.label(position) for position in order.tolist()],
            "rank": self.ranking.ranks[order],
            "score": self.ranking.scores[order],
            "lists": self.listed[order],
        }
        if self.p_values is not None and self.adjusted_p_values is not None:
            columns |= {"p_value": self.p_values[order], "adjusted_p_value": self.adjusted_p_values[order]}
        return columns

    def _data(self) -> dict[str, Any]:
        lists = zip(self.names, self.agreement, self.left_out, strict=True)
        return {
            "method": self.method,
            "items": self.ranking.n,
            "population": self.population,
            "measure": self.measure,
            "value": self.area,
            "corrected": self.corrected,
            "lists": [dict(zip(("list", "agreement", "left_out"), row, strict=True)) for row in lists],
            "consensus": self.columns(),
            "adjust": None if self.p_values is None else self.adjust,
        }

    def _metrics(self) -> dict[str, Any]:
        return {"agreement": _mean(self.agreement), "left_out": _mean(self.left_out), "items": self.ranking.n}

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row per item, best first, as a pandas or polars DataFrame, the notes in `.attrs`."""
        return frame(self.columns(), library, self.notes)

    def agreement_to_frame(self, library: str | None = None) -> Any:
        """Return one row per list with both similarities as a pandas or polars DataFrame, the notes in `.attrs`."""
        columns = {"list": list(self.names), "agreement": self.agreement, "left_out": self.left_out}
        return frame(columns, library, self.notes)

    def best(self, number: int = 5) -> str:
        """Return the first items by name."""
        return first_few([self.ranking.label(i) for i in self.order.tolist()], number, NAME)

    def _summary(self) -> list[str]:
        size = f"{len(self.names)} rankings of {counted(self.ranking.n, 'item')}"
        within = f"{_mean(self.agreement):.4f} with the consensus"
        apart = f"{_mean(self.left_out):.4f} with the consensus of the others"
        lines = [
            f"consensus ({self.method}) of {size}: {self.best()}",
            f"agreement ({find(self.measure).title}, {self.area}) {within}, {apart}",
        ]
        if self.adjusted_p_values is not None:
            count = int((self.adjusted_p_values <= 0.05).sum())
            lines.append(f"{counted(count, 'item')} with p <= 0.05, adjusted by {ADJUSTMENTS[self.adjust]}")
        return lines

    def _charts(self) -> Sequence[Chart]:
        order, measure = self._from_lowest(), find(self.measure)
        alone, within = self.left_out[order], self.agreement[order]
        marks: list[Mark] = [
            Ranges(alone, within, width=1.0),
            Dots(alone, "consensus of the others", measure.colour),
            Dots(within, "consensus of all lists", measure.colour, hollow=True),
        ]
        label = f"similarity with the consensus ({measure.title}, {self.area})"
        title = "agreement with the consensus, lowest first"
        return [Rows([self.names[i] for i in order], marks, label, values_span(alone, within), title=title)]

    def _from_lowest(self) -> NDArray[np.int64]:
        """Return the lists from the least similar to the consensus of the others."""
        return np.argsort(np.nan_to_num(self.left_out, nan=-np.inf), kind="stable")

    def _tables(self, rows: int | None) -> list[Table]:
        formats = {"item": "", "rank": "g", "score": ".5g", "lists": "d", "p_value": "p", "adjusted_p_value": "p"}
        places = first_places(self.ranking.n, rows)
        titles = {"p_value": "p", "adjusted_p_value": "adjusted p"}
        items = {titles.get(name, name): (formats[name], values) for name, values in self.columns().items()}
        items["item"] = ("", short_start(items["item"][1], rows))
        order = self._from_lowest()
        lists: dict[str, tuple[str, Any]] = {
            "list": ("", short_names(self.names)),
            "with the consensus of the others": (".4f", self.left_out),
            "with the consensus": (".4f", self.agreement),
        }
        kind = f"agreement of the lists ({find(self.measure).title}, {self.area}), lowest first"
        shown = order[: len(first_places(order.size, rows))].tolist()
        head = f"consensus ({self.method}) of {len(self.names)} rankings"
        return [
            columns_table(head, items, f"{self.ranking.n} items", places),
            columns_table(kind, lists, f"{len(self.names)} lists", shown),
        ]


def _mean(values: Scores) -> float:
    """Return the mean of the defined values."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


@takes(Policies)
def consensus(
    rankings: Any,
    method: Method = "borda",
    *,
    exact: bool = False,
    adjust: Adjust = "bh",
    measure: Any = "jaccard",
    ks: Any = MANY_PAIRS,
    corrected: bool = False,
    n_jobs: int | None = None,
    progress: bool | None = None,
    ties: Ties = "closed",
    zero_tail: ZeroTail = "include",
    **policies: Unpack[Policies],
) -> Consensus:
    """Return one ranking from many, and the agreement of each list with it and with the consensus of the others.

    Only ranks count. Tied items share the mean of their ranks ("rra": the last one, so that p-values are valid). Items
    that a list lacks rank below its listed ones: at the mean of the ranks left ("borda", "median"), at the last rank
    ("rra"), or with no points from that list ("rrf"). The order of the lists does not matter.

    Parameters
    ----------
    method : {"borda", "median", "rrf", "rra"}
        Mean rank; median rank; reciprocal rank fusion, sum of 1 / (60 + rank); or robust rank aggregation, which finds
        items that rank high in more of the lists than chance explains, also if the other lists are noise.
    exact : bool
        For "rra", whether p-values follow the exact distribution of rho instead of Bonferroni's correction; for at
        most 50 lists.
    measure : str or Measure
        A name in `MEASURES`, for the agreement of the lists with the consensus; by default one of sets, as only ranks
        count.
    universe : int or collection of items, optional
        The items that truncated lists were drawn from, or their number, which their ranks and p-values depend on;
        without it, the items that any list has are taken for all.

    Returns
    -------
    Consensus
        With `.ranking`, `.agreement`, `.left_out`, `.p_values` and `.adjusted_p_values` ("rra" only), `.notes`,
        `.to_frame()`, `.agreement_to_frame()` and `.plot()`.

    Notes
    -----
    "rra": an item's m ranks, divided by the number of all items and sorted, are compared with m independent uniform
    values. rho is the smallest of I_x(k, m - k + 1) over k, where x is the k-th smallest; the p-value is m rho, at most
    1, as in the R package RobustRankAggreg. It holds for lists that are independent of each other.

    References
    ----------
    Kolde, Laur, Adler, Vilo (2012), Robust rank aggregation for gene list integration and meta-analysis.
    Cormack, Clarke, Buettcher (2009), Reciprocal rank fusion outperforms Condorcet and individual rank learning.

    Examples
    --------
    >>> import fujiscore as fj
    >>> lists = {"x": {"a": 9, "b": 7, "c": 1}, "y": {"b": 5, "a": 4, "c": 2}, "z": {"a": 8, "c": 5, "b": 3}}
    >>> result = fj.consensus(lists)
    >>> print(result)
    consensus (borda) of 3 rankings of 3 items: a, b, c
    agreement (Jaccard, top-weighted AUC) 0.8056 with the consensus, 0.7083 with the consensus of the others
    >>> result.ranking.scores.round(3), result.left_out.round(3)
    (array([1.667, 1.   , 0.333]), array([1.   , 0.583, 0.542]))
    >>> fj.consensus(lists, "rra", universe=100).p_values
    array([2.4e-05, 8.1e-05, 8.1e-05])
    """
    choice("method", method, METHODS)
    choice("adjust", adjust, ADJUSTMENTS)
    lists = as_rankings(rankings, **policies)
    _require(lists, method, exact=exact)
    population = lists.universe or lists.n
    task = task_for(lists, measure, ks=ks, corrected=corrected, ties=ties, zero_tail=zero_tail)
    options = {"n_jobs": n_jobs, "progress": progress}
    scores, without = METHODS[method](lists, population, options)
    ranking = Ranking.checked("consensus", scores, lists.labels, lists.universe)
    agreement, left_out = _agreements(lists, ranking, without, task, options)
    p_values = None
    if method == "rra":
        p_values = exact_rho(scores, len(lists), options) if exact else corrected_rho(scores, len(lists))
    notes = (*_notes(lists, method, p_values), *_caveats(ranking, lists, task, agreement, left_out))
    final = tuple(dict.fromkeys(notes))
    return Consensus(
        ranking.renamed("consensus", lists.universe, final),
        method,
        lists.names,
        agreement,
        left_out,
        task.measure.name,
        task.grid,
        corrected,
        _listed(lists),
        population,
        p_values,
        adjust,
        final,
    )


def _require(lists: Rankings, method: str, *, exact: bool) -> None:
    """Raise if there are too few lists, or too many for exact p-values."""
    if len(lists) < 2:
        raise InputError(f"a consensus needs at least 2 rankings; got {len(lists)}. Add rankings of the same items.")
    if exact and method != "rra":
        raise InputError(f"{spelled('exact')} needs {spelled('method', 'rra')}: {method} has no p-values.")
    if exact and len(lists) > MOST_EXACT:
        raise InputError(
            f"{spelled('exact')} needs at most {MOST_EXACT} rankings; got {len(lists)}. Leave it out: Bonferroni's "
            "correction is close for small p-values, and never too small."
        )


def _listed(lists: Rankings) -> NDArray[np.int64]:
    """Return how many lists have each item."""
    counts = np.full(lists.n, len(lists), np.int64)
    for ranking in lists:
        if ranking.absent is not None:
            counts -= ranking.absent
    return counts


def _agreements(
    lists: Rankings,
    ranking: Ranking,
    without: Callable[[int], Scores],
    task: PairTask,
    options: Options,
) -> tuple[Scores, Scores]:
    """Return the similarity of each list with the consensus, and with that of the others."""
    ranking.tie_groups  # noqa: B018 - kept by the ranking, before threads share it

    def work(number: int) -> tuple[float, float]:
        single = lists[number].detached()
        others = Ranking.checked("consensus of the others", without(number), lists.labels, lists.universe)
        return _similarity(task, single, ranking), _similarity(task, single, others)

    tiles = [(number,) for number in range(len(lists))]
    values = np.array(run(work, tiles, **options, label="lists"))
    return values[:, 0], values[:, 1]


def _similarity(task: PairTask, single: Ranking, consensus: Ranking) -> float:
    """Return the headline of a list and a consensus; NaN if the consensus orders nothing."""
    if consensus.constant:
        return float("nan")
    values, expected = task.curves(single, consensus)
    value = headline(task.measure, values)
    return float(value if expected is None else correct(value, headline(task.measure, expected)))


def _notes(lists: Rankings, method: str, p_values: Scores | None) -> list[str]:
    """Return what was done to the lists, and what the consensus rests on."""
    depends, lacking = LACKING[method]
    notes = input_notes(lists, depends, f", {lacking}")
    if p_values is None:
        return notes
    if any((ranking.tie_groups[0] + 1 < ranking.tie_groups[1])[: ranking.listed].any() for ranking in lists):
        notes.append("tied items count with the last of their ranks, which keeps p-values valid")
    notes += _copies(lists)
    notes.append(
        "p-values assume lists independent of each other: lists from the same data or method give too small ones"
    )
    least = float(np.finfo(np.float64).tiny)
    if (p_values <= least).any():
        notes.append(f"p-values below {least:.1e} are given as that; scores tell them apart")
    return notes


def _copies(lists: Rankings) -> list[str]:
    """Return a note on lists with the same scores."""
    first: dict[bytes, str] = {}
    for ranking in lists:
        earlier = first.setdefault(ranking.scores.tobytes(), ranking.name)
        if earlier != ranking.name:
            pair = f"{printable(earlier, NAME)} and {printable(ranking.name, NAME)}"
            return [f"{pair} have the same scores: copies of a list are no independent evidence"]
    return []


def _caveats(ranking: Ranking, lists: Rankings, task: PairTask, agreement: Scores, left_out: Scores) -> list[str]:
    """Return what the agreement rests on."""
    notes = caveats(lists, task, np.concatenate((agreement, left_out)), "comparisons of a list and a consensus")
    if ranking.constant:
        notes.append("the consensus gives every item the same score, so that agreement with it is undefined")
    elif np.isnan(left_out).any():
        apart = [name for name, value in zip(lists.names, left_out, strict=True) if np.isnan(value)]
        notes.append(f"without {first_few(apart)}, the consensus gives every item the same score")
    if task.measure.name == "fuji":
        notes.append("FUJI uses the scores of the consensus, which are made from ranks; a set measure does not")
    return notes
