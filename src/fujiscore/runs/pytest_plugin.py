"""What the fixture `ranking_gate` is: gates for rankings and runs within tests."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, counted, shown
from fujiscore.inputs.coercion import is_table, labelled
from fujiscore.inputs.ranking import Ranking, Rankings
from fujiscore.measures.registry import find
from fujiscore.pair.gates import require_bounds
from fujiscore.runs.baselines import ENDINGS, bless, usual_ending
from fujiscore.runs.compare import compare_runs
from fujiscore.runs.gates import judge
from fujiscore.runs.tables import RunColumns, load_run

if TYPE_CHECKING:
    from pathlib import Path

    from fujiscore.runs.results import RunComparison

GATES = ("fail_under", "fail_under_quantile", "fail_share_below")
# How a gate judges, beside the bounds themselves; all other options are those of compare_runs.
JUDGED = (*GATES, "corrected", "allow_missing_queries", "allow_shorter_lists")
NAME = re.compile(r"[\w.+-]+")
SHOWN = 5


class RankingGate:
    """Gates for rankings and runs within tests.

    A ranking is a `Ranking`, a 1-D array, a list, a Series or a dict of item to score; it is judged by the area under
    its curve over all k unless `k` or `ks` is given. A run is what `compare_runs` takes: a file, a table of queries,
    items and scores, a mapping of query to ranking, or a 2-D array. FUJI is judged above its floor, as by
    `fujiscore.gates.judge`.

    Attributes
    ----------
    folder : Path
        Where baselines are stored.
    bless : bool
        Whether to store baselines instead of judging.
    stored : list of str
        What was stored, in words.
    """

    def __init__(self, folder: Path, *, bless: bool = False, stored: list[str] | None = None) -> None:
        self.folder, self.bless = folder, bless
        self.stored: list[str] = [] if stored is None else stored

    def check(self, a: Any, b: Any, **options: Any) -> RunComparison:
        """Compare two rankings or runs, `a` the old one, and fail unless all gates pass.

        Parameters
        ----------
        a, b : ranking or run
            Both of the same kind.
        **options
            The gates, as in `fujiscore.gates.judge`: `fail_under`, `fail_under_quantile`, `fail_share_below` (at least
            one of them), `corrected`, `allow_missing_queries` and `allow_shorter_lists`; and any option of
            `compare_runs`.

        Returns
        -------
        RunComparison
            The comparison that passed.
        """
        __tracebackhide__ = True
        gates = _gates(options)
        (old, single), (new, also) = _as_run(a, "a"), _as_run(b, "b")
        if single != also:
            raise InputError("a and b must both be rankings or both be runs; got one of each.")
        result = compare_runs(old, new, **_compared(options, single=single))
        verdict = judge(result, **gates)
        if not verdict.passed:
            raise AssertionError(_message(result, verdict.failed()))
        return result

    def __call__(self, name: str, current: Any, **options: Any) -> RunComparison:
        """Compare a ranking or run with the baseline of a name, and fail unless all gates pass.

        With `pytest --ranking-bless` it becomes the baseline, whatever the gates say.

        Parameters
        ----------
        name : str
            The baseline's name: letters, digits, and - + . _
        current : ranking or run
            What is judged.
        **options
            As in `check`.

        Returns
        -------
        RunComparison
            The comparison with the baseline (of a new baseline: with itself).
        """
        __tracebackhide__ = True
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise InputError(f"name must be letters, digits, and - + . _ only; got {shown(name)}.")
        gates = _gates(options)
        run, single = _as_run(current, "current")
        paths = [self.folder / f"{name}{ending}" for ending in ENDINGS]
        path = next((path for path in paths if path.exists()), self.folder / f"{name}{usual_ending()}")
        options = _compared(options, single=single)
        if self.bless:
            return self._store(path, run, options)
        if not path.exists():
            advice = "Run pytest --ranking-bless once to store it, and commit the file"
            raise AssertionError(f"ranking_gate: there is no baseline {path}. {advice}.")
        result = compare_runs(path, run, **options)
        verdict = judge(result, **gates)
        if not verdict.passed:
            advice = f"If the change is wanted: pytest --ranking-bless replaces {path}"
            raise AssertionError(_message(result, [*verdict.failed(), advice]))
        return result

    def _store(self, path: Path, run: Any, options: dict[str, Any]) -> RunComparison:
        """Store a run as the baseline; return how it compares with the one before."""
        what = "replaced" if path.exists() else "new"
        columns = {name: options[name] for name in ("by", "item", "score", "format") if name in options}
        if isinstance(run, (str, os.PathLike)):
            run = load_run(run, "current", RunColumns(**columns, group_by=options.get("group_by")))
        result = compare_runs(run, run, **options)  # whether it can be compared at all
        self.folder.mkdir(exist_ok=True)
        queries = bless(run, path, **columns)
        self.stored.append(f"{path} ({what}), {counted(queries, 'query', 'queries')}")
        return result


def _gates(options: dict[str, Any]) -> dict[str, Any]:
    """Return the gates among some options; raise if there is none, for then every change would pass."""
    gates = {name: options[name] for name in JUDGED if name in options}
    if all(gates.get(name) is None for name in GATES):
        raise InputError(f"a gate needs a bound: pass one of {', '.join(GATES)}, such as fail_under=0.9.")
    first = next(iter(options.get("measures", ("fuji",))))
    require_bounds(find(first), **gates)
    return gates


def _compared(options: dict[str, Any], *, single: bool) -> dict[str, Any]:
    """Return the options of the comparison: of two rankings over all k, if none is chosen."""
    rest = {name: value for name, value in options.items() if name not in JUDGED}
    return {"ks": "all", **rest} if single and not {"k", "ks"} & set(rest) else rest


def _as_run(obj: Any, name: str) -> tuple[Any, bool]:
    """Return a run, and whether it is a single ranking, which is a run of one query."""
    if isinstance(obj, Rankings) and len(obj) > 1:
        return dict(obj.items()), False
    if isinstance(obj, Rankings):
        obj = obj[0]
    several = isinstance(obj, (str, os.PathLike))
    if isinstance(obj, Mapping):
        several = bool(obj) and not all(isinstance(score, Real) for score in obj.values())
    elif not several and not isinstance(obj, Ranking):
        several = np.ndim(obj) == 2 if isinstance(obj, np.ndarray) else is_table(obj)
    if several:
        return obj, False
    return {"ranking": obj if isinstance(obj, (Ranking, Mapping)) else labelled(obj, name)}, True


def _message(result: RunComparison, lines: list[str]) -> str:
    """Return why a gate failed: what was judged, the summary, and the queries that are least alike."""
    worst = result.changed_table(SHOWN).lines() if len(result) > 1 else []
    return "\n".join(["ranking_gate", *lines, "", str(result), *([""] if worst else []), *worst])
