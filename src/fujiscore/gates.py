"""Gates: whether a comparison of runs is good enough, and accepted runs kept as baselines. Imports io."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, counted, first_few, shown, spelled
from fujiscore.files import write_atomically
from fujiscore.io.columnar import need
from fujiscore.io.runs import Asked, load_run
from fujiscore.tables import Table, Tabular

if TYPE_CHECKING:
    from fujiscore.measures import Measure
    from fujiscore.queries import Columns
    from fujiscore.run_results import RunComparison

# The endings of baselines: Parquet, or text where there is no pyarrow.
ENDINGS = (".parquet", ".tsv.gz")
COLUMNS = ("query", "item", "score")
SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which no file can hold


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

    def to_list(self) -> list[dict[str, Any]]:
        """Return one entry per gate for JSON."""
        return [asdict(check) for check in self.checks]


def judge(
    result: RunComparison,
    *,
    fail_under: float | None = None,
    fail_under_quantile: tuple[float, float] | None = None,
    fail_share_below: tuple[float, float] | None = None,
    corrected: bool = False,
    allow_missing_queries: bool = False,
    allow_shorter_lists: bool = False,
) -> Verdict:
    """Return whether a comparison of runs passes the gates, which judge its first measure.

    FUJI is judged by its value above the floor, `fuji_above_floor`: 0 for lists reordered at random, 1 for equal top
    sets, whatever the offset of the scores (FUJI itself where both lists end with their top sets, or items are split by
    sign). Truncated lists are judged by the lower bound of FUJI. A query of `a` that `b` lacks, a query without a
    value, and a query for which `b` lists fewer items than `a` within the first k (lists are compared up to the end of
    the shorter one) fail whatever the values are: a release that lost results does not pass for being good at the
    others. So does `missing="drop"`, which leaves out the items that `b` lacks, unless shorter lists are allowed.

    Parameters
    ----------
    result : RunComparison
        The baseline is its `a`, the new run its `b`.
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
    >>> import numpy as np
    >>> from fujiscore.gates import judge
    >>> from fujiscore.runs import compare_runs
    >>> old = {"q1": {"a": 3, "b": 2}, "q2": {"a": 3, "c": 1}}
    >>> new = {"q1": {"a": 3, "b": 2}, "q2": {"a": 3, "b": 1}}
    >>> for line in judge(compare_runs(old, new, measures=["jaccard"]), fail_under=0.9).lines():
    ...     print(line)
    FAILED: mean Jaccard 0.6667, at least 0.9 required
    """
    gates: Any = {"fail_under": fail_under, "fail_under_quantile": fail_under_quantile}
    gates |= {"fail_share_below": fail_share_below}
    require_bounds(result.measures[0], corrected=corrected, **gates)
    if all(gate is None for gate in gates.values()):
        return Verdict(())
    column, title = _judged(result, corrected=corrected)
    checks = _presence(result, column, title, queries=allow_missing_queries, items=allow_shorter_lists)
    if fail_under is not None:
        mean = at_least(f"mean {title}", result.spread(column).mean, fail_under)
        checks.append(replace(mean, text=mean.text + _floor_words(result, column)))
    if fail_under_quantile is not None:
        q, bound = fail_under_quantile
        checks.append(at_least(f"{100 * q:g} % quantile of {title}", result.quantile(q, column), bound))
    if fail_share_below is not None:
        value, bound = fail_share_below
        share = result.share_below(value, column)
        checks.append(_at_most(f"share of queries with {title} below {value:g}", share, bound))
    return Verdict(tuple(checks))


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


def _judged(result: RunComparison, *, corrected: bool) -> tuple[str, str]:
    """Return the column that gates judge, and what it is called."""
    measure = result.measures[0]
    if not corrected:
        column = f"{measure.name}_above_floor"
        return (
            (column, f"{measure.title} above its floor") if column in result.columns else (measure.name, measure.title)
        )
    column = f"{measure.name}_corrected"
    if column not in result.columns:
        raise InputError(
            f"{spelled('corrected')} needs a value of {measure.name} corrected for chance, which is not known. "
            f"Pass {spelled('universe', 'N')}, or a first measure with a chance level, such as fuji or jaccard."
        )
    return column, f"{measure.title} corrected"


def _floor_words(result: RunComparison, column: str) -> str:
    """Return FUJI and its floor in words, where the value above the floor is judged."""
    if not column.endswith("_above_floor"):
        return ""
    fuji, floor = result.spread("fuji").mean, result.spread("fuji_floor").mean
    return f" (FUJI {_apart(fuji, floor)}; reordered at random {_apart(floor, fuji)})"


def _presence(result: RunComparison, column: str, title: str, *, queries: bool, items: bool) -> list[Check]:
    """Return the checks that nothing was lost, each only where something was: queries, values and items."""
    labels = result.queries
    undefined, short = labels[np.isnan(result.values(column))], labels[result.shorter("b")]
    found = (
        ("of a missing in b", result.only_a, "allow_missing_queries", queries),
        (f"without a value of {title}", undefined, "allow_missing_queries", queries),
        ("with a shorter list in b than in a", short, "allow_shorter_lists", items),
    )
    checks = []
    for what, lost, remedy, allowed in found:
        if len(lost):
            text = f"{counted(len(lost), 'query', 'queries')} {what} ({first_few(lost.tolist())})"
            end = "allowed" if allowed else f"0 allowed; {spelled(remedy)} accepts them"
            checks.append(Check(f"queries {what}", len(lost), 0, allowed, f"{text}, {end}"))
    if result.settings.get("missing") == "drop":
        checks.append(_unseen(allowed=items))
    return checks


def _unseen(*, allowed: bool) -> Check:
    """Return the check of a comparison that leaves out what one run lacks: how much was lost is not known."""
    what = f"items that one run lacks are left out ({spelled('missing', 'drop')})"
    end = "allowed" if allowed else f"where lost items do not show; {spelled('allow_shorter_lists')} accepts it"
    return Check("lost items", float("nan"), 0, allowed, f"{what}, {end}")


def at_least(what: str, value: float, bound: float) -> Check:
    """Return a check of a value against the least that passes; an undefined value fails."""
    passed = value >= bound
    return Check(what, value, bound, passed, f"{what} {_apart(value, bound)}, at least {bound:g} required")


def _at_most(what: str, value: float, bound: float) -> Check:
    """Return a check of a value against the most that passes; an undefined value fails."""
    return Check(what, value, bound, value <= bound, f"{what}: {_apart(value, bound)}, at most {bound:g} allowed")


def _apart(value: float, bound: float) -> str:
    """Return a value in as many digits as tell it from the bound, four or more."""
    if isnan(value):
        return "undefined"
    texts = (f"{value:.{digits}f}" for digits in range(4, 18))
    return next((text for text in texts if value == bound or float(text) != bound), repr(value))


# Baselines: accepted runs, as they were before any policy


def bless(run: Any, path: str | Path, **columns: Any) -> int:
    """Store a run as a baseline, atomically; return its number of queries.

    Parquet (.parquet: zstd, dictionaries, sorted by query) or text (.tsv.gz). Scores are kept to the last bit and as
    they are, before any policy. Labels must be text or integers; they keep their type in Parquet. Equal runs give equal
    files.

    Parameters
    ----------
    run : path, DataFrame, Arrow stream, mapping or 2-D array
        As in `compare_runs`.
    path : path
        The file, which is replaced.
    **columns
        `by`, `item`, `score` and `format`, as in `compare_runs`.
    """
    require_storable(run, path)
    in_parquet = str(path).endswith(ENDINGS[0])
    if in_parquet:
        need("a baseline in Parquet")
    rows = load_run(run, "the run", Asked(**columns)).columns
    _require_labels("queries", rows.queries)
    _require_labels("items", rows.items)
    content = _parquet(rows) if in_parquet else _text(rows)
    write_atomically(path, lambda file: file.write(content))
    return len(set(rows.queries))


def require_storable(run: Any, path: str | Path) -> None:
    """Raise, before any work, if a run cannot be stored as the baseline of a path."""
    if not str(path).endswith(ENDINGS):
        must = f"{spelled('baseline')} must end in {' or '.join(ENDINGS)} to be stored"
        raise InputError(f"{must}; got {shown(str(path))}.")
    named, file = spelled("baseline", str(path)), Path(path)
    if file.is_dir():
        raise InputError(f"{named} must name a file to be stored; it is a folder.")
    if not file.parent.is_dir():
        raise InputError(f"{named}: the folder {file.parent} does not exist. Create it first.")
    if not isinstance(run, (str, os.PathLike)):
        return
    if Path(run).is_dir():
        raise InputError(f"{run} must be a file to become a baseline; it is a folder. Write the run to one file.")
    if Path(run).exists() and file.exists() and file.samefile(run):
        raise InputError(f"{named}: this file is the run itself, which would be rewritten. Name another one.")


def _require_labels(what: str, labels: Any) -> None:
    """Raise unless labels come back from a file as they are: all of them text, or all integers of 64 bits."""
    if not isinstance(labels, list) and getattr(labels, "dtype", None) != np.dtype(object):
        return  # text in Arrow, or int64
    kinds = set()
    for label in labels:
        kind = _kind(label)
        if kind is None:
            must = f"{what} of a baseline must be text or integers of 64 bits, as files hold them"
            raise InputError(f"{must}; got {shown(label)}. Rename it.")
        kinds.add(kind)
    if len(kinds) > 1:
        raise InputError(f"{what} of a baseline must be of one type; got text and integers. Make all of them text.")


def _kind(label: Any) -> type | None:
    """Return the type of a label, None if a file cannot hold it."""
    if isinstance(label, str):
        return str if label and not SURROGATE.search(label) else None
    if isinstance(label, (int, np.integer)) and not isinstance(label, bool):
        return int if -(2**63) <= label < 2**63 else None
    return None


def _parquet(rows: Columns) -> Any:
    """Return a run as the content of a Parquet file, sorted by query."""
    import pyarrow as pa
    from pyarrow import compute, parquet

    try:
        queries, items = pa.array(rows.queries), pa.array(rows.items)
    except pa.ArrowException as error:
        raise InputError(f"queries and items of a baseline must be of one type each, such as text: {error}") from error
    blocks = pa.array(np.repeat(np.arange(len(rows.queries)), rows.sizes))
    table = pa.table({"query": queries.take(blocks), "item": items, "score": pa.array(rows.scores)})
    table = table.take(compute.sort_indices(table, [("query", "ascending")]))  # stable: ties keep their order
    about = json.dumps({"columns": COLUMNS, "queries": len(set(rows.queries)), "rows": len(table)})
    sink = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({"fujiscore": about}), sink, compression="zstd")
    return sink.getbuffer()


def _text(rows: Columns) -> bytes:
    """Return a run as compressed text, sorted by query."""
    queries = np.repeat(np.arange(len(rows.queries)), rows.sizes).tolist()
    items = rows.items.tolist() if isinstance(rows.items, np.ndarray) else rows.items.to_pylist()
    cells = [
        (rows.queries[q], item, repr(value))
        for q, item, value in zip(queries, items, rows.scores.tolist(), strict=True)
    ]
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t", lineterminator="\r\n")  # a label with either of these is quoted
    writer.writerows([COLUMNS, *sorted(cells, key=lambda row: str(row[0]))])
    return gzip.compress(text.getvalue().encode(), mtime=0)


def usual_ending() -> str:
    """Return the ending of a new baseline."""
    return ENDINGS[0] if find_spec("pyarrow") else ENDINGS[1]
