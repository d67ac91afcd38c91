"""What comparing two runs gives: one row per query, its summary, and the least similar queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.charts.kinds import Bars, Line, Lines
from fujiscore.charts.result import Result
from fujiscore.errors import InputError, choice, counted, first_few, integer, one_line, printable, shown, spelled
from fujiscore.inference.intervals import Spread
from fujiscore.inputs.transforms import AS_IS
from fujiscore.measures.registry import find
from fujiscore.null.closed_forms import HIGH_FLOOR
from fujiscore.pages.page import Page, Reported
from fujiscore.pair.explain import explain
from fujiscore.runs import gates
from fujiscore.text.tables import Table, bars, frame, markdown_text, text_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fujiscore.charts.kinds import Chart
    from fujiscore.inputs.coercion import Scores
    from fujiscore.inputs.ranking import Ranking
    from fujiscore.measures.registry import Measure
    from fujiscore.pair.explain import Explanation
    from fujiscore.pair.gates import Verdict

# Below this number of queries a note warns of the intervals; above this share of unmatched queries, of the means.
FEW, UNMATCHED = 10, 0.1
# A note suggests a smaller k where the bounds of FUJI are further apart.
WIDE = 0.05
# How many queries Markdown shows, and how many names of unmatched queries JSON holds.
SHOWN, NAMED = 10, 20
# How many groups a summary shows; `by_group` has them all.
GROUPS = 20
# Columns of a query's name in a table.
NAME = 32
# Kinds of columns beside a measure's own.
KINDS = {"_high": ", at most", "_floor": " floor", "_above_floor": " above floor", "_corrected": " corrected"}
# Lists hardly go beyond a k that is more than this part of the shorter one: by chance top sets then share half of
# their union.
SHORT = 2 / 3
# The columns that are counts, and what explanations need of the settings.
COUNTS = ("n_a", "n_b", "shared", "k")
SETS = {"ties": "closed", "zero_tail": "include"}
HEADER = ("measure", "mean", "{} interval", "median", "5 %", "least", "at 1")
OPTIONAL = (("at 1",), ("least",), ("5 %",), ("median",))

# The most points of a line over queries: there may be millions.
POINTS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class RunComparison(Result, Reported):
    """One comparison per query.

    Attributes
    ----------
    queries : ndarray
        The queries that both runs have: integers, or objects such as text.
    columns : mapping of str to ndarray
        One array per column, one entry per query: `n_a`, `n_b`, `shared` (the lists' sizes, and how many items they
        share), `k` (where it was evaluated: the end of a shorter list), each measure under its name, and for FUJI of
        cut-off lists `fuji_high`, the most that it can be, the scores of the items that a list lacks being unknown.
        Also beside FUJI: `fuji_floor`, its expected value if the items of a list were reordered at random (the mean of
        both lists'), `fuji_above_floor`, 0 there and 1 for equal top sets (FUJI itself where both lists end with their
        top sets, whose floor is 1), and at one k `fuji_near`, the part of FUJI that is credit for near misses.
        With a universe, for each measure with a closed form, `*_expected`, `*_corrected` and, where there is a null
        distribution, `*_p`. NaN where a value is undefined.
    measures : tuple of Measure
        The measures, the headline first.
    settings : mapping of str to value
        `k` (one, the name of a grid, or several), `universe`, `missing`, `transform` (one for each run), `ties`,
        `zero_tail`, and both runs' names, `a` and `b`.
    only_a, only_b : ndarray
        The queries that one run alone has; they count in no mean.
    lists : mapping of query to pair of Ranking
        Both rankings of the queries that changed most, for `explain`.
    groups : ndarray, optional
        The group of each query.
    confidence : float
        Level of intervals.
    notes : tuple of str
        What was done to the input, and what the result rests on.

    Examples
    --------
    >>> import fujiscore as fj
    >>> old = {"q1": {"x": 3.0, "y": 2.0, "z": 1.0}, "q2": {"x": 2.0, "y": 1.0, "z": 0.8, "w": 0.1}}
    >>> new = {"q1": {"x": 3.0, "y": 2.0, "z": 1.0}, "q2": {"x": 2.0, "z": 1.0, "y": 0.9, "w": 0.2}}
    >>> result = fj.compare_runs(old, new, k=2)
    >>> result.values("jaccard").round(4), result.values("fuji").round(4)
    (array([1.    , 0.3333]), array([1. , 0.9]))
    >>> result.values("fuji_floor").round(4), result.values("fuji_above_floor").round(4)
    (array([0.7778, 0.6944]), array([1.    , 0.6727]))
    >>> result.explain("q2").kind
    ['near miss', 'near miss', 'shared']
    """

    queries: NDArray[Any]
    columns: Mapping[str, NDArray[Any]]
    measures: tuple[Measure, ...]
    settings: Mapping[str, Any]
    only_a: NDArray[Any]
    only_b: NDArray[Any]
    lists: Mapping[Any, tuple[Ranking, Ranking]] = field(default_factory=dict)
    groups: NDArray[Any] | None = None
    confidence: float = 0.95
    notes: tuple[str, ...] = ()

    def _page(self) -> Page:
        from fujiscore.runs import page

        return page.run_comparison(self)

    def __post_init__(self) -> None:
        """Add notes on what the numbers themselves show."""
        object.__setattr__(self, "notes", tuple(dict.fromkeys([*_caveats(self), *self.notes])))

    def __len__(self) -> int:
        """Return the number of queries that both runs have."""
        return len(self.queries)

    # Numbers over the queries

    def values(self, measure: Any = None) -> Scores:
        """Return one value per query: of a measure (the first if None), or of a column such as "fuji_corrected"."""
        return self.columns[self._column(measure)]

    def _column(self, measure: Any) -> str:
        """Return the name of the column that holds a measure."""
        if measure is None:
            return self.measures[0].name
        name = measure if isinstance(measure, str) and measure in self.columns else find(measure).name
        choice("measure", name, [column for column in self.columns if column not in COUNTS])
        return name

    def spread(self, measure: Any = None) -> Spread:
        """Return mean, interval, median, 5 % quantile and least value of a measure (the first if None)."""
        column = self._column(measure)
        if column not in self._spreads:
            self._spreads[column] = Spread.of(self.columns[column], self.confidence, self._span(column))
        return self._spreads[column]

    @cached_property
    def _spreads(self) -> dict[str, Spread]:
        """The spreads computed so far, by column."""
        return {}

    def _span(self, column: str) -> tuple[float, float]:
        """Return the range of a column."""
        kinds = ("", "_high", "_floor", "_near")
        plain = next((one for one in self.measures if column in {one.name + kind for kind in kinds}), None)
        return (-float("inf"), 1.0) if plain is None else (plain.low, plain.high)

    def interval(self, measure: Any = None) -> tuple[float, float, float]:
        """Return a measure's mean over the queries, with Student's interval."""
        found = self.spread(measure)
        return found.mean, found.low, found.high

    def quantile(self, q: float, measure: Any = None) -> float:
        """Return a quantile of a measure (the first if None) over the queries, between two of them interpolated."""
        if isinstance(q, bool) or not isinstance(q, (int, float)) or not 0 <= q <= 1:
            raise InputError(f"{spelled('q')} must be a number from 0 to 1; got {shown(q)}.")
        values = self.values(measure)
        values = values[~np.isnan(values)]
        return float(np.quantile(values, q)) if values.size else float("nan")

    def share_below(self, value: float, measure: Any = None) -> float:
        """Return the share of queries whose measure (the first if None) is below a value."""
        values = self.values(measure)
        values = values[~np.isnan(values)]
        return float((values < value).mean()) if values.size else float("nan")

    def histogram(self, measure: Any = None) -> dict[str, int]:
        """Return the number of queries in each tenth of a measure's range, those at its maximum apart, these first.

        Values below 0 of a measure without a lower end have one class, and so have undefined ones; classes beneath the
        least value are left out.
        """
        values, (low, high) = self.values(measure), self._span(self._column(measure))
        start = 0.0 if np.isinf(low) else low
        edges = np.round(np.linspace(start, high, 11), 10)
        defined = values[~np.isnan(values)]
        place = np.searchsorted(edges, defined, side="right")
        counts = np.bincount(place, minlength=12)
        names = [f"below {start:g}", *(f"{a:.1f} to {b:.1f}" for a, b in pairwise(edges))]
        names.append(f"{high:g}")
        least = int(place.min()) if place.size else len(names)
        found = {names[i]: int(counts[i]) for i in range(len(names) - 1, least - 1, -1)}
        return found | ({"undefined": values.size - defined.size} if defined.size < values.size else {})

    # Queries and groups

    def changed_most(self, number: int = SHOWN) -> list[int]:
        """Return the places of the queries that changed most by the first measure, the least similar first."""
        values = self.values()
        order = np.argsort(values, kind="stable")
        return order[: min(integer("number", number, 1), int((~np.isnan(values)).sum()))].tolist()  # type: ignore[no-any-return]

    def shorter(self, run: str = "b") -> NDArray[np.bool_]:
        """Return for which queries a run lists fewer items than the other one, and fewer than k."""
        k = self.settings["k"]
        sizes = {name: self.columns[f"n_{name}"] for name in "ab"}
        other = sizes["a" if run == "b" else "b"]
        return sizes[run] < (other if isinstance(k, str) else np.minimum(other, np.max(k)))

    def worst(self, number: int = SHOWN, library: str | None = None) -> Any:
        """Return the queries that changed most by the first measure as a DataFrame, the least similar first."""
        places = self.changed_most(number)
        columns = {name: _picked(values, places) for name, values in self.table().items()}
        return frame(columns, library, self.notes)

    def explain(self, query: Any) -> Explanation:
        """Explain FUJI of one query item by item, at its k; the lists of the queries that changed most are kept."""
        if query not in self.lists:
            raise InputError(self._not_kept(query))
        first, second = self.lists[query]
        k = int(self.columns["k"][self.queries.tolist().index(query)])
        options: Any = {name: self.settings.get(name, usual) for name, usual in SETS.items()}
        missing: Any = "drop" if self.settings.get("missing") == "drop" else "zero"
        return explain(first, second, k, missing=missing, **options)

    def _not_kept(self, query: Any) -> str:
        """Return why a query has no explanation."""
        if query in set(self.queries.tolist()):
            kept = f"the lists of {counted(len(self.lists), 'query', 'queries')} were kept"
            return f"query {shown(query)} cannot be explained: {kept}. Pass {spelled('keep', 'N')} to keep more."
        for run, queries in (("a", self.only_a), ("b", self.only_b)):
            if query in set(queries.tolist()):
                return f"query {shown(query)} is in {run} alone: there is nothing to compare it with."
        return f"query {shown(query)} is in neither run; there are {first_few(self.queries.tolist())}."

    def group_spreads(self, columns: Sequence[str] | None = None) -> dict[Any, dict[str, Spread]]:
        """Return the spread of each measure (of all if None) within each group, groups in order of appearance."""
        if self.groups is None:
            raise InputError(f"there are no groups. Pass {spelled('group_by', 'COLUMN')} to compare_runs.")
        codes: dict[Any, int] = {}
        labels = [None if group != group else group for group in self.groups.tolist()]  # noqa: PLR0124 - NaN
        which = np.array([codes.setdefault(label, len(codes)) for label in labels], np.int64)
        order = np.argsort(which, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(which, minlength=len(codes)))[:-1])
        names = self.shown_columns() if columns is None else columns
        return {
            group: {name: Spread.of(self.columns[name][part], self.confidence, self._span(name)) for name in names}
            for group, part in zip(codes, parts, strict=True)
        }

    def by_group(self, library: str | None = None) -> Any:
        """Return one row per group and measure as a DataFrame: number of queries, mean with interval, quantiles."""
        rows = [(g, name, spread) for g, found in self.group_spreads().items() for name, spread in found.items()]
        columns = {"group": [row[0] for row in rows], "measure": [row[1] for row in rows]}
        columns |= {part: [getattr(row[2], part) for row in rows] for part in Spread._fields}
        return frame(columns, library, self.notes)

    # Forms

    def table(self) -> dict[str, Any]:
        """Return one column per name, one entry per query."""
        groups = {} if self.groups is None else {"group": self.groups.tolist()}
        return {"query": self.queries.tolist(), **groups, **self.columns}

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row per query as a pandas or polars DataFrame, the notes in `.attrs`."""
        return frame(self.table(), library, self.notes)

    def _groups(self) -> list[dict[str, Any]]:
        """Return one entry per group for JSON."""
        return [
            {"group": group, "measures": {name: found._asdict() for name, found in spreads.items()}}
            for group, spreads in self.group_spreads().items()
        ]

    def _data(self) -> dict[str, Any]:
        only = {
            name: {"count": len(queries), "first": queries[:NAMED].tolist()}
            for name, queries in (("only_a", self.only_a), ("only_b", self.only_b))
        }
        groups = {} if self.groups is None else {"groups": self._groups()}
        return {
            "queries": len(self),
            **only,
            "settings": dict(self.settings),
            "confidence": self.confidence,
            "measures": {name: self.spread(name)._asdict() for name in self.shown_columns()},
            "no_shared_item": int((self.columns["shared"] == 0).sum()),
            "histogram": {self.measures[0].name: self.histogram()},
            **groups,
            "changed_most": [self.queries[place] for place in self.changed_most()],
            "columns": self.table(),
        }

    def _metrics(self) -> dict[str, Any]:
        return {"queries": len(self), **{name: self.spread(name)._asdict() for name in self.shown_columns()}}

    def judge(
        self,
        *,
        fail_under: float | None = None,
        fail_under_quantile: tuple[float, float] | None = None,
        fail_share_below: tuple[float, float] | None = None,
        corrected: bool = False,
        allow_missing_queries: bool = False,
        allow_shorter_lists: bool = False,
    ) -> Verdict:
        """Return whether the new run, `b`, passes the gates, which judge the first measure; `a` is the baseline.

        FUJI is judged by its value above the floor, `fuji_above_floor`: 0 for lists reordered at random, 1 for equal
        top sets, whatever the offset of the scores (FUJI itself where both lists end with their top sets, or items are
        split by sign). Truncated lists are judged by the lower bound of FUJI. A query of `a` that `b` lacks, a query
        without a value, and a query for which `b` lists fewer items than `a` within the first k (lists are compared up
        to the end of the shorter one) fail whatever the values are: a release that lost results does not pass for being
        good at the others. So does `missing="drop"`, which leaves out the items that `b` lacks, unless shorter lists
        are allowed.

        Parameters
        ----------
        fail_under : float, optional
            The least mean over the queries.
        fail_under_quantile : (float, float), optional
            A quantile, and the least value that it may have: (0.05, 0.5) allows 5 % of the queries to be below 0.5.
        fail_share_below : (float, float), optional
            A value, and the greatest share of queries that may be below it.
        corrected : bool
            Judge values corrected for chance, which needs a universe.
        allow_missing_queries : bool
            Leave out queries that `b` lacks and those without a value.
        allow_shorter_lists : bool
            Accept lists of `b` that are shorter than those of `a`, and items left out by `missing="drop"`.

        Returns
        -------
        Verdict
            One check per gate.

        Examples
        --------
        >>> import fujiscore as fj
        >>> old = {"q1": {"a": 3, "b": 2}, "q2": {"a": 3, "c": 1}}
        >>> new = {"q1": {"a": 3, "b": 2}, "q2": {"a": 3, "b": 1}}
        >>> print(fj.compare_runs(old, new, measures=["jaccard"]).judge(fail_under=0.9))
        FAILED: mean Jaccard 0.6667, at least 0.9 required
        """
        return gates.judge(
            self,
            fail_under=fail_under,
            fail_under_quantile=fail_under_quantile,
            fail_share_below=fail_share_below,
            corrected=corrected,
            allow_missing_queries=allow_missing_queries,
            allow_shorter_lists=allow_shorter_lists,
        )

    def to_markdown(self, *, rows: int | None = SHOWN, verdict: Sequence[str] = ()) -> str:
        """Return a short report for a pull request: verdict of gates if given, measures, queries that changed most."""
        changed = self.changed_table(len(self.queries) if rows is None else rows)
        title = changed.caption[0].upper() + changed.caption[1:]
        details = [f"<details><summary>{title}</summary>\n", *changed.markdown(), "\n</details>", ""]
        gates = [f"- {markdown_text(one_line(line))}" for line in verdict]
        lines = [
            f"{'; '.join(self.in_words())}.",
            "",
            *([*gates, ""] if gates else []),
            *self.spread_table().markdown(),
            "",
            *([*self.group_table().markdown(), ""] if self.groups is not None else []),
            *(details if changed.rows else []),
            *(f"- {markdown_text(one_line(note))}" for note in self.notes),
        ]
        return "\n".join(lines).rstrip() + "\n"

    # Text

    def _charts(self) -> Sequence[Chart]:
        least, lines = min(measure.low for measure in self.measures), []
        for order, measure in enumerate(self.measures):
            values = np.sort(self.values(measure.name))
            values = values[~np.isnan(values)]
            places = np.unique(np.linspace(0, values.size - 1, min(values.size, POINTS)).astype(np.int64))
            x = np.concatenate([[least], values[places], [measure.high]])
            y = np.concatenate([[0.0], (places + 1) / max(values.size, 1), [1.0]])
            name = f"{self.column_title(measure.name)} (mean {self.spread(measure.name).mean:.3f})"
            # Those beneath the first are wider, so that equal lines are all seen.
            lines.append(Line(y, name, measure.colour, 1.4 + 1.2 * order, measure.dashed, x))
        ends, first = (least, max(measure.high for measure in self.measures)), self.measures[0]
        label = "share of queries up to the value"
        shares = Lines(ends, lines, (), "value", label, steps=True, title=f"{label}, by measure")
        counts, title = self.histogram(), f"queries by {first.title}"
        bars = Bars(list(counts), list(counts.values()), f"number of {title}", first.colour, ".0f", title=title)
        return [shares, bars]

    def _tables(self, rows: int | None) -> list[Table]:
        groups = [] if self.groups is None else [self.group_table()]
        changed = self.changed_table(len(self) if rows is None else min(rows, SHOWN))
        return [self.spread_table(), *groups, *([changed] if changed.rows else [])]

    def shown_columns(self) -> list[str]:
        """Return the columns that summaries show: each measure, what it can be at most, its floor, corrected values."""
        names = []
        for measure in self.measures:
            names += [measure.name, *(measure.name + kind for kind in KINDS if self._is_shown(measure.name + kind))]
        return names

    def _is_shown(self, name: str) -> bool:
        """Return whether there is such a column; upper bounds that are the values themselves are left out."""
        if name not in self.columns or not name.endswith("_high"):
            return name in self.columns
        return not np.array_equal(self.columns[name.removesuffix("_high")], self.columns[name], equal_nan=True)

    def column_title(self, name: str) -> str:
        """Return a column as summaries call it."""
        kind = max((kind for kind in KINDS if name.endswith(kind)), key=len, default="")
        measure = name.removesuffix(kind)
        least = kind == "" and self._is_shown(f"{measure}_high")
        return find(measure).title + KINDS.get(kind, "") + (", at least" if least else "")

    def _header(self) -> list[str]:
        return [part.format(f"{100 * self.confidence:g}%") for part in HEADER]

    def spread_table(self) -> Table:
        """Return the summary: one row per measure."""
        rows = [[self.column_title(name), *_cells(self.spread(name))] for name in self.shown_columns()]
        return text_columns("; ".join(self.in_words()), self._header(), rows, optional=OPTIONAL)

    def group_table(self) -> Table:
        """Return the groups: the first measure of the groups with the lowest means, these first."""
        header = ["group", "queries", *self._header()[1:]]
        name = self.measures[0].name
        means = self.group_spreads([name])
        found = sorted(means.items(), key=lambda entry: (entry[1][name].queries == 0, entry[1][name].mean))
        spreads = {group: spreads[name] for group, spreads in found[:GROUPS]}
        if len(found) > GROUPS:
            header[0] = f"lowest {GROUPS} of {len(found)} groups"
        rows = [[printable(group, NAME), str(s.queries + s.undefined), *_cells(s)] for group, s in spreads.items()]
        return text_columns(f"{self.column_title(name)} by group", header, rows, optional=OPTIONAL)

    def changed_table(self, number: int) -> Table:
        """Return the least similar queries, if the first measure sees a difference in them."""
        most = self.measures[0].high
        places = [place for place in self.changed_most(number) if self.values()[place] < most]
        header = ["query", *(measure.title for measure in self.measures), "shared"]
        rows = []
        for place in places:
            sizes = dict.fromkeys(int(self.columns[side][place]) for side in ("n_a", "n_b"))
            shared = f"{self.columns['shared'][place]} of {' and '.join(map(str, sizes))}"
            values = [self._range(measure.name, place) for measure in self.measures]
            rows.append([printable(self.queries[place], NAME), *values, shared])
        caption = f"the {counted(len(rows), 'query', 'queries')} least alike"
        return text_columns(caption, header, rows, optional=[[name] for name in header[:1:-1]])

    def _range(self, name: str, place: int) -> str:
        """Return a query's value, and the most that it can be where that is more."""
        low, high = (self.columns.get(column, self.columns[name])[place] for column in (name, f"{name}_high"))
        return f"{number(low)} to {number(high)}" if high > low else number(low)

    @property
    def place(self) -> str:
        """Where the lists were compared, in words."""
        k = self.settings["k"]
        if isinstance(k, str):
            return f"over the grid '{k}' of k"
        return f"at k = {k}" if isinstance(k, int) else f"over k = {first_few(list(k))}"

    def in_words(self) -> list[str]:
        """Return what was compared, how many queries did not change, and what near misses explain."""
        none = int((self.columns["shared"] == 0).sum())
        lines = [f"{counted(len(self), 'query', 'queries')} in both runs, compared {self.place}"]
        alone = [
            f"{len(queries)} only in {run}" for run, queries in (("a", self.only_a), ("b", self.only_b)) if len(queries)
        ]
        lines += [f"not compared, and in no mean: {', '.join(alone)}"] if alone else []
        same = f"{self.spread('jaccard').at_1} with the same top sets, " if "jaccard" in self.columns else ""
        lines.append(f"{same}{none} without a shared item")
        return lines + self._near_misses()

    def _near_misses(self) -> list[str]:
        """Return how much of the top sets' difference FUJI gives back: at one k, for items that only just missed."""
        if not {"fuji", "jaccard"} <= set(self.columns):
            return []
        jaccard = np.where(np.isnan(self.columns["fuji"]), np.nan, self.columns["jaccard"])
        lost = np.nansum(1 - jaccard)
        if not lost > 0:
            return []
        least = "at least " if self._is_shown("fuji_high") else ""
        if "fuji_near" in self.columns:
            near = float(np.nansum(self.columns["fuji_near"]) / lost)
            return [f"near misses make up {least}{near:.0%} of the difference that Jaccard sees"]
        credit = float(np.nansum(self.columns["fuji"] - jaccard) / lost)
        return [f"credit for near and far misses makes up {least}{credit:.0%} of the difference that Jaccard sees"]

    def bar_chart(self, width: int, mark: str = "#") -> list[str]:
        """Return the histogram of the first measure as lines of text."""
        return bars((self.column_title(self.measures[0].name), "queries"), self.histogram(), width, mark)

    def _summary(self) -> list[str]:
        lines = [*self.in_words(), "", *self.spread_table().lines(), "", *self.bar_chart(72)]
        return [*lines, "", *self.group_table().lines()] if self.groups is not None else lines


def number(value: float) -> str:
    """Return a value as text; a dash where it is undefined."""
    return "-" if np.isnan(value) else f"{value:.4f}"


def _cells(spread: Spread) -> list[str]:
    """Return numbers over the queries as text; an interval only where there is a spread to compute it from."""
    ends = "no spread" if spread.sd == 0 else f"{number(spread.low)} to {number(spread.high)}"
    numbers = (spread.median, spread.q05, spread.least)
    return [number(spread.mean), "-" if np.isnan(spread.sd) else ends, *map(number, numbers), str(spread.at_1)]


def _picked(values: Any, places: Sequence[int]) -> Any:
    """Return the entries of a column at some places."""
    return [values[place] for place in places] if isinstance(values, list) else values[places]


def _undefined(result: RunComparison) -> dict[tuple[int, ...], list[str]]:
    """Return the places without a value, and the measures that have none there."""
    found: dict[tuple[int, ...], list[str]] = {}
    for measure in result.measures:
        places = tuple(np.flatnonzero(np.isnan(result.columns[measure.name])).tolist())
        if places:
            found.setdefault(places, []).append(measure.name)
    return found


def _floor_caveats(result: RunComparison) -> list[str]:
    """Return notes on what FUJI cannot see, with the remedies."""
    if "fuji_floor" not in result.columns:
        return []
    floor, columns = result.columns["fuji_floor"], result.columns
    order = f"a measure of order such as {spelled('measures', 'rbo')}"
    notes = []
    whole = int(((floor == 1) & (columns["fuji_above_floor"] == columns["fuji"])).sum())
    if whole:
        queries = counted(whole, "query", "queries")
        ends = f"both lists of {queries} end with their top sets: FUJI does not see their order"
        notes.append(f"{ends}, and its value above the floor is FUJI itself. Pass a smaller {spelled('k')}, or {order}")
    mean = result.spread("fuji_floor").mean
    if mean > HIGH_FLOOR and whole < len(result):
        why, remedy = _why_high(result)
        seen = f"the floor of FUJI is {mean:.4f}: it gives that much to lists reordered at random, for {why}"
        notes.append(f"{seen}. Read the value above the floor, which gates judge, or pass {remedy}{order}")
    return notes


def _why_high(result: RunComparison) -> tuple[str, str]:
    """Return why the floor is high, and what to pass against it."""
    columns = result.columns
    if not isinstance(result.settings["k"], int):
        return "areas count large k, where any order has nearly the same top sets", ""
    if np.mean(columns["k"] / np.maximum(np.minimum(columns["n_a"], columns["n_b"]), 1)) > SHORT:
        return "lists hardly go beyond k", f"a smaller {spelled('k')} or "
    plain = {None, AS_IS}.issuperset(result.settings.get("transform", ()))  # others are not to be replaced
    remedy = f"{spelled('transform', 'minmax')} or " if plain else ""
    return "the scores outside the top k are far from 0", remedy


def _caveats(result: RunComparison) -> list[str]:
    """Return what a reader of the means must know."""
    n, alone = len(result), len(result.only_a) + len(result.only_b)
    notes = []
    if alone > UNMATCHED * (n + alone):
        notes.append(f"the means cover {n} of {n + alone} queries: {alone} are in one run only")
    notes += _floor_caveats(result)
    for undefined, names in _undefined(result).items():
        rest = "there is no mean" if len(undefined) == n else "means leave them out"
        queries = first_few([result.queries[place] for place in undefined])
        notes.append(f"{', '.join(names)} undefined for {len(undefined)} of {n} queries ({queries}): {rest}")
    for run in "ab":
        short = int(result.shorter(run).sum())
        if short:
            notes.append(
                f"for {counted(short, 'query', 'queries')} {run} lists fewer items: compared up to its end, where what "
                "it lacks does not show"
            )
    gap = result.spread("fuji_high").mean - result.spread("fuji").mean if "fuji_high" in result.columns else 0.0
    if gap > WIDE:
        how = f"lists end at k or soon after it. Pass a smaller {spelled('k')}, or longer lists"
        notes.append(f"the mean of FUJI is known within {gap:.2f} only: {how}")
    if n == 1:
        notes.append("one query only: no interval")
    elif n < FEW:
        notes.append(f"{n} queries are few: Student's intervals assume that the mean of so many is about normal")
    return notes
