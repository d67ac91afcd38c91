"""Gates: whether a comparison of runs is good enough, and accepted runs kept as baselines. Imports runs and io."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.coercion import labelled
from fujiscore.errors import InputError, counted, first_few, shown, spelled
from fujiscore.files import write_atomically
from fujiscore.io.columnar import need

if TYPE_CHECKING:
    from fujiscore.measures import Measure
    from fujiscore.run_results import RunComparison

# The endings of baselines: Parquet, or text where there is no pyarrow.
ENDINGS = (".parquet", ".tsv.gz")
COLUMNS = ("query", "item", "score")


@dataclass(frozen=True)
class Check:
    """One gate: what was judged, its value, the bound, and whether it passed.

    Attributes
    ----------
    what : str
        What was judged, in words.
    value : float
        Its value.
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


@dataclass(frozen=True)
class Verdict:
    """What the gates say; without any gate everything passes."""

    checks: tuple[Check, ...]

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
) -> Verdict:
    """Return whether a comparison of runs passes the gates, which judge its first measure.

    Truncated lists are judged by the lower bound of FUJI. A query of `a` that `b` lacks and a query without a value
    fail whatever the other values are: a release that lost queries does not pass for being good at the others.

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
    checks = _presence(result, column, title, allowed=allow_missing_queries)
    if fail_under is not None:
        checks.append(_at_least(f"mean {title}", result.spread(column).mean, fail_under))
    if fail_under_quantile is not None:
        q, bound = fail_under_quantile
        checks.append(_at_least(f"{100 * q:g} % quantile of {title}", result.quantile(q, column), bound))
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
        return measure.name, measure.title
    column = f"{measure.name}_corrected"
    if column not in result.columns:
        raise InputError(
            f"{spelled('corrected')} needs a value of {measure.name} corrected for chance, which is not known. "
            f"Pass {spelled('universe', 'N')}, or a first measure with a chance level, such as fuji or jaccard."
        )
    return column, f"{measure.title} corrected"


def _presence(result: RunComparison, column: str, title: str, *, allowed: bool) -> list[Check]:
    """Return the checks that no query was lost and that all have a value; only where some was or has none."""
    undefined = int(np.isnan(result.values(column)).sum())
    lost = f"{counted(len(result.only_a), 'query', 'queries')} of a missing in b ({first_few(result.only_a.tolist())})"
    none = f"{counted(undefined, 'query', 'queries')} without a value of {title}"
    found = [("queries missing in b", len(result.only_a), lost), ("queries without a value", undefined, none)]
    remedy = "allowed" if allowed else f"0 allowed; {spelled('allow_missing_queries')} leaves them out"
    return [Check(what, count, 0, allowed, f"{text}, {remedy}") for what, count, text in found if count]


def _at_least(what: str, value: float, bound: float) -> Check:
    """Return a check of a value against the least that passes; an undefined value fails."""
    passed = value >= bound
    return Check(what, value, bound, passed, f"{what} {_apart(value, bound)}, at least {bound:g} required")


def _at_most(what: str, value: float, bound: float) -> Check:
    """Return a check of a value against the most that passes; an undefined value fails."""
    return Check(what, value, bound, value <= bound, f"{what} {_apart(value, bound)}, at most {bound:g} allowed")


def _apart(value: float, bound: float) -> str:
    """Return a value in as many digits as tell it from the bound, four or more."""
    if isnan(value):
        return "undefined"
    texts = (f"{value:.{digits}f}" for digits in range(4, 18))
    return next((text for text in texts if value == bound or float(text) != bound), repr(value))


# Baselines: accepted runs, as they were before any policy


def bless(
    run: Any, path: str | Path, *, by: str | None = None, item: str | None = None, score: str | None = None
) -> int:
    """Store a run as a baseline, atomically; return its number of queries.

    Parquet (.parquet: zstd, dictionaries, sorted by query) or text (.tsv.gz). Scores are kept to the last bit, and an
    equal run gives an equal file.

    Parameters
    ----------
    run : path, mapping, 2-D array
        As in `compare_runs`.
    path : path
        The file, which is replaced.
    by, item, score : str, optional
        Columns of a file, as in `compare_runs`.
    """
    require_ending(path)
    if str(path).endswith(ENDINGS[0]):
        need("a baseline in Parquet")
        return _write_parquet(_arrow(run, by, item, score), path)
    rows = sorted(_rows(run, by, item, score), key=lambda row: str(row[0]))
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t", lineterminator="\r\n")  # a label with either of these is quoted
    writer.writerow(COLUMNS)
    writer.writerows((query, label, repr(float(value))) for query, label, value in rows)
    packed = gzip.compress(text.getvalue().encode(), mtime=0)
    write_atomically(path, lambda file: file.write(packed))
    return len({row[0] for row in rows})


def require_ending(path: str | Path) -> None:
    """Raise unless a path has the ending of a baseline."""
    if not str(path).endswith(ENDINGS):
        raise InputError(
            f"{spelled('baseline')} must end in {' or '.join(ENDINGS)} to be stored; got {shown(str(path))}."
        )


def _write_parquet(table: Any, path: str | Path) -> int:
    """Write an Arrow table of a run, sorted by query; return the number of queries."""
    from pyarrow import compute, parquet

    table = table.take(compute.sort_indices(table, [("query", "ascending")]))  # stable: ties keep their order
    queries = compute.count_distinct(table.column("query")).as_py()
    about = json.dumps({"columns": COLUMNS, "queries": queries, "rows": len(table)})
    table = table.replace_schema_metadata({"fujiscore": about})
    write_atomically(path, lambda file: parquet.write_table(table, file, compression="zstd"))
    return int(queries)


def _arrow(run: Any, by: str | None, item: str | None, score: str | None) -> Any:
    """Return a run as an Arrow table; labels keep their type in a columnar file or in memory."""
    import pyarrow as pa

    if isinstance(run, (str, Path)) and (table := _columnar(run, by, item, score)) is not None:
        return table
    queries, items, scores = zip(*_rows(run, by, item, score), strict=True)
    try:
        return pa.table({"query": list(queries), "item": list(items), "score": pa.array(scores, pa.float64())})
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(f"queries and items of a baseline must be of one type each, such as text: {error}") from error


def _columnar(path: Any, by: str | None, item: str | None, score: str | None) -> Any:
    """Return the query, item and score columns of a Parquet or Feather file, or None for other formats."""
    from pyarrow import feather, float64, parquet

    from fujiscore.io import formats
    from fujiscore.io.columns import choose
    from fujiscore.io.documents import document

    file = document(path)
    kind = formats.detect(file, None, formats.FORMATS)
    if kind not in {"parquet", "feather"}:
        return None
    roles, _ = choose(formats.table(file, kind), item, score, by)
    if roles.ranking is None or len(roles.scores) != 1:
        raise InputError(f"{path} must have one column of queries and one of scores. Name them: {spelled('by')}, ...")
    names = [roles.ranking, roles.item, roles.scores[0]]
    read = parquet.read_table if kind == "parquet" else feather.read_table
    table = read(path, columns=names).select(names).rename_columns(list(COLUMNS))
    return table.set_column(2, "score", table.column("score").cast(float64()))


def _rows(run: Any, by: str | None, item: str | None, score: str | None) -> list[tuple[Any, Any, float]]:
    """Return the (query, item, score) rows of a run, as it holds them."""
    if isinstance(run, (str, Path)):
        from fujiscore.io import load

        sources = load(run, item=item, score=score, ranking=by, duplicates="first").sources
        lists: Any = ((source.name, source.items, source.scores) for source in sources)
    elif isinstance(run, Mapping):
        parts = {query: labelled(ranking, f"query {query}") for query, ranking in run.items()}
        lists = ((query, part.items, part.scores) for query, part in parts.items())
    elif isinstance(run, np.ndarray) and run.ndim == 2:
        lists = ((row, range(len(scores)), scores) for row, scores in enumerate(run))
    else:
        raise InputError(f"a baseline must be a file, a mapping of query to ranking or a 2-D array; got {shown(run)}.")
    return [
        (query, label, float(value))
        for query, items, scores in lists
        for label, value in zip(items if items is not None else range(len(scores)), scores, strict=True)
    ]


def baseline(path: str | Path) -> dict[Any, dict[Any, float]]:
    """Return a stored run as a mapping of query to scores by item; labels of text files are text."""
    if str(path).endswith(ENDINGS[0]):
        need("a baseline in Parquet")
        from pyarrow import parquet

        columns = [column.to_pylist() for column in parquet.read_table(path, columns=list(COLUMNS)).columns]
        rows: Any = zip(*columns, strict=True)
    else:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file, delimiter="\t"))[1:]
    run: dict[Any, dict[Any, float]] = {}
    for query, label, value in rows:
        run.setdefault(query, {})[label] = float(value)
    return run


def usual_ending() -> str:
    """Return the ending of a new baseline."""
    return ENDINGS[0] if find_spec("pyarrow") else ENDINGS[1]
