"""`fuji runs`: one comparison per query of two runs, what changed most, and gates for continuous integration."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from os.path import lexists
from typing import TYPE_CHECKING, Any

import click

from fujiscore.charts.result import charts_of
from fujiscore.cli import options
from fujiscore.cli.explain import explained as explained_text
from fujiscore.cli.inputs import STANDARD_INPUT
from fujiscore.cli.output import Report, check_destinations, deliver, draw, heading, note, write_page
from fujiscore.cli.terminal import Screen, fitted, label
from fujiscore.errors import InputError, counted
from fujiscore.pair.gates import require_bounds
from fujiscore.runs.baselines import bless as store
from fujiscore.runs.baselines import require_storable
from fujiscore.runs.compare import compare_runs
from fujiscore.runs.gates import judge
from fujiscore.runs.tables import Run, RunColumns, load_run
from fujiscore.text.tabular import data_of

if TYPE_CHECKING:
    from fujiscore.measures.registry import Measure
    from fujiscore.pair.explain import Explanation
    from fujiscore.runs.results import RunComparison

DEFAULT_MEASURES = ("fuji", "rbo", "jaccard")
SHOWN, EXPLAINED_ROWS = 5, 8
# The widest bar chart, and the lists that the library keeps for explanations unless asked for more.
WIDEST, KEPT = 80, 20


class TwoNumbers(click.ParamType[Any]):
    """Two numbers with a colon between them."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float]:
        """Return the numbers."""
        if isinstance(value, tuple):
            return value
        try:
            first, second = map(float, str(value).split(":"))
        except ValueError:
            return self.fail(f"{value!r} is not two numbers with a colon, as in 0.05:0.5.", param, ctx)
        return first, second


gates = options.together(
    options.option(
        "--fail-under",
        "Exit with 1 if the mean of the first measure (of FUJI: above its floor) is below X.",
        type=float,
        metavar="X",
    ),
    options.option(
        "--fail-under-quantile",
        "Exit with 1 if the Q quantile over the queries is below X, for example 0.05:0.5.",
        type=TwoNumbers(),
        metavar="Q:X",
    ),
    options.option(
        "--fail-share-below",
        "Exit with 1 if more than a share S of the queries is below X, for example 0.5:0.1.",
        type=TwoNumbers(),
        metavar="X:S",
    ),
    options.corrected("Let gates judge the value corrected for chance."),
    options.option(
        "--allow-missing-queries",
        "Let gates ignore queries that B lacks or that have no value; by default these fail.",
        is_flag=True,
    ),
    options.option(
        "--allow-shorter-lists",
        "Let gates pass if B lists fewer items than A, and fewer than k, in a query; needed with --missing drop.",
        is_flag=True,
    ),
)


@click.command(
    cls=options.Command,
    short_help="Compare two runs query by query.",
    examples=(
        "fuji runs examples/run_a.trec examples/run_b.trec",
        "fuji runs examples/run_a.trec examples/run_b.trec -k 5 --explain 1",
        "fuji runs examples/run_a.trec examples/run_b.trec --fail-under 0.8 --csv",
        "fuji runs examples/run_a.trec examples/run_b.trec --fail-share-below 0.5:0.1",
        "fuji runs examples/run_b.trec --baseline examples/run_a.trec",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="A B")
@options.measures(DEFAULT_MEASURES)
@options.option(
    "-k k", "Number of top items to compare. [default: 10]", type=options.Count(1), metavar="K", show_default=False
)
@options.option("--ks", "Compare over several k instead: the area under the curve.", type=options.GridType())
@options.confidence
@gates
@options.option("--baseline", "Compare the run with this accepted one; it takes the place of A.", metavar="FILE")
@options.option("--bless", "Store the run as the --baseline, whatever the gates say.", is_flag=True)
@options.runs
@options.option(
    "--explain",
    "Explain the N least similar queries item by item.",
    section="Write",
    type=options.Count(1),
    metavar="N",
)
@options.plot("Draw the share of queries up to each value")
@options.html
@options.writing_table
@options.work_anywhere
def command(
    *,
    files: tuple[str, ...],
    measures: tuple[Measure, ...],
    k: int | None,
    ks: Any,
    confidence: float,
    baseline: str | None,
    bless: bool,
    runs: options.Runs,
    explain: int | None,
    plot: str | None,
    html: str | None,
    writing: options.Writing,
    work: options.Work,
    **gates: Any,
) -> int:
    """Compare two runs query by query: A the old one, B the new one, tables of queries, items and scores.

    A run is a TREC run, CSV, TSV or Parquet file. Prints each measure's mean over the queries with its interval and
    quantiles, a histogram, and the queries that are least alike. Lists are taken to be truncated: FUJI is "at least"
    and "at most", since the scores of items below a list's end are unknown.

    Gates (--fail-...) judge the first measure and set the exit code. FUJI is judged above its floor, the value that
    lists reordered at random would have: scores far from 0 are similar in any order. With truncated lists gates judge
    what it is at least. Queries of A that B lacks, or for which B lists fewer items, fail them.
    """
    check_destinations(writing, [*files, *([baseline] if baseline else [])], plot, html)
    require_bounds(measures[0], **gates)
    old, new = _both(files, baseline, bless=bless)
    chosen: dict[str, Any] = {"measures": measures, "confidence": confidence, "k": k, "ks": ks, **runs.arguments()}
    chosen |= {"keep": max(explain or 0, KEPT), **work.arguments(writing)}
    columns = RunColumns(runs.by, runs.item, runs.score, runs.group_by, runs.format)
    run = load_run(new, "b", columns) if bless else None  # for which it is compared with itself, and stored
    result = compare_runs(old, new, **chosen) if run is None else _blessed(old, run, chosen)
    verdict = judge(result, **gates)
    if plot is not None:
        draw(plot, writing, charts_of(result)[:1])
    if html is not None:
        from fujiscore.runs.page import run_comparison

        write_page(html, writing, run_comparison(result, verdict))
    names, places = (old or new, new), result.changed_most(explain) if explain else []
    explained = {result.queries[place]: result.explain(result.queries[place]) for place in places}
    show = writing.show or SHOWN
    report = Report(
        "runs",
        lambda screen: _text(screen, result, names, show, explained),
        lambda: {"a": names[0], "b": names[1], **result.to_dict(), "explained": _data(explained)},
        result.table,
        result.notes,
        verdict,
        lambda: result.to_markdown(rows=show, verdict=verdict.lines()),
        partial(_write_parquet, result),
    )
    code = deliver(report, writing)
    if run is None:
        return code
    _bless(run, str(baseline), writing)
    return 0


def _both(files: Sequence[str], baseline: str | None, *, bless: bool) -> tuple[str | None, str]:
    """Return the old run, None if it is yet to be stored, and the new one."""
    if files.count(STANDARD_INPUT) > 1:
        raise InputError("standard input (-) can be read once only. Write the run to a file.")
    if baseline is None:
        if bless:
            raise click.UsageError("--bless needs --baseline FILE, where the run is stored.")
        if len(files) != 2:
            raise click.UsageError(
                f"two runs can be compared; got {len(files)}. Name both, or one and --baseline FILE."
            )
        return files[0], files[1]
    if len(files) != 1:
        raise click.UsageError(f"--baseline is compared with one run; got {len(files)}. Name one.")
    if bless:
        require_storable(files[0], baseline)
    if lexists(baseline):
        return baseline, files[0]
    if not bless:
        raise InputError(f"--baseline {baseline} does not exist. Pass --bless to store {files[0]} there.")
    return None, files[0]


def _blessed(old: str | None, new: Run, chosen: dict[str, Any]) -> RunComparison:
    """Return the comparison of a run that is to be stored, with itself if it is the first; raise if it cannot be."""
    alone = compare_runs(new, new, **chosen)  # all its queries, not only those of the old run
    if old is None:
        return replace(alone, notes=(*alone.notes, "there was no baseline: the run is compared with itself"))
    try:
        return compare_runs(old, new, **chosen)
    except InputError as error:
        raise InputError(f"{error} To store {new.name} all the same, delete {old} first.") from error


def _bless(new: Run, baseline: str, writing: options.Writing) -> None:
    """Store the new run, and say what it replaced."""
    what = "replaced" if lexists(baseline) else "new"
    queries = store(new, baseline)
    note(writing, f"baseline: {baseline} ({what}), {counted(queries, 'query', 'queries')} of {new.name}")


def _data(explained: Mapping[Any, Explanation]) -> list[dict[str, Any]]:
    """Return explanations for JSON."""
    return [{"query": query, **data_of(why), "notes": list(why.notes)} for query, why in explained.items()]


def _write_parquet(result: RunComparison, file: Any) -> None:
    """Write one row per query, with the notes and settings as metadata."""
    from fujiscore.io.columnar import need

    need("--out in Parquet")
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table(result.table())
    about = {"settings": {name: str(value) for name, value in result.settings.items()}, "notes": list(result.notes)}
    parquet.write_table(table.replace_schema_metadata({"fujiscore": json.dumps(about)}), file, compression="zstd")


def _text(
    screen: Screen, result: RunComparison, names: tuple[str, str], show: int, explained: Mapping[Any, Explanation]
) -> list[str]:
    """Return the report as lines."""
    changed = result.changed_table(show)
    header = [f"least alike of {len(result)}", *changed.header[1:]]
    lines = [heading(screen, "runs", names)]
    lines += [text for line in result.in_words() for text in screen.wrap(line)]
    lines += ["", *fitted(screen, result.spread_table(), "")]
    lines += ["", *result.bar_chart(min(screen.width, WIDEST), "█" if screen.unicode else "#")]
    lines += [] if result.groups is None else ["", *fitted(screen, result.group_table(), "")]
    lines += ["", *fitted(screen, replace(changed, header=header), "")] if changed.rows else []
    for query, why in explained.items():
        title = screen.style(f"Query {label(query)}", bold=True)
        lines += ["", title, *explained_text(screen, why, EXPLAINED_ROWS)]
    return lines
