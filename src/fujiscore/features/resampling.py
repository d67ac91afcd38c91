"""Resamples of a table's rows, ranked tile by tile; finished ones can be kept."""

from __future__ import annotations

import hashlib
import marshal
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fujiscore._version import __version__
from fujiscore.errors import InputError, choice, counted, integer, proportion, spelled
from fujiscore.rankers.adapt import Ranker
from fujiscore.rankers.ranking import Rankers, scores_of
from fujiscore.work.checkpoint import finished_tiles, key_of, sum_of
from fujiscore.work.tiles import run

if TYPE_CHECKING:
    from fujiscore.rankers.features import Features, Scores

SCHEMES = ("subsample", "bootstrap", "folds", "time")
# Schemes that draw rows of each class, without groups.
PLAIN = ("subsample", "bootstrap", "folds")
LEAST_RESAMPLES = 3
# At most this many resamples are compared for the rows that they share.
MOST_COMPARED = 20


@dataclass(frozen=True, eq=False)
class Plan:
    """How rows are resampled: the number of resamples, the scheme, the fraction of a subsample, and the seed.

    `rows_of` holds the rows of each resample where a splitter has chosen them, `notes` what to know about them.
    """

    count: int
    scheme: str
    fraction: float
    seed: int
    rows_of: tuple[NDArray[np.int64], ...] = ()
    notes: tuple[str, ...] = ()

    def seeds(self, index: int) -> tuple[int, int]:
        """Return the seeds of one resample's rows and of the methods on it, which depend on nothing else."""
        rows, methods = np.random.SeedSequence([self.seed, index]).generate_state(2, np.uint32).tolist()
        return rows, methods

    def rows(self, table: Features, index: int) -> NDArray[np.int64]:
        """Return one resample's rows, in order; every class is among them, unless whole groups are drawn."""
        if self.rows_of:
            return self.rows_of[index]
        if self.scheme == "time":
            # As scikit-learn's TimeSeriesSplit: all rows before one of `count` equal parts at the end.
            return np.arange(table.rows - (self.count - index) * (table.rows // (self.count + 1)))
        if table.groups is None:
            return np.sort(np.concatenate(self._drawn(table.target.strata(), index)))
        chosen = np.concatenate(self._drawn([np.arange(int(table.groups.max()) + 1)], index))
        members = [np.flatnonzero(table.groups == group) for group in np.sort(chosen).tolist()]
        return np.sort(np.concatenate(members))

    def _drawn(self, strata: list[NDArray[np.int64]], index: int) -> list[NDArray[np.int64]]:
        """Return what is drawn of each stratum of rows, or of all groups."""
        if self.scheme == "folds":
            return self._without_fold(strata, index)
        random, whole = np.random.default_rng(self.seeds(index)[0]), self.scheme == "bootstrap"
        sizes = [stratum.size if whole else max(1, round(self.fraction * stratum.size)) for stratum in strata]
        return [random.choice(stratum, size, replace=whole) for stratum, size in zip(strata, sizes, strict=True)]

    def _without_fold(self, strata: list[NDArray[np.int64]], index: int) -> list[NDArray[np.int64]]:
        """Return each stratum without its part of a fold; the only row of a class is always kept."""
        random = np.random.default_rng(self.seeds(self.count)[0])
        kept, offset = [], 0
        for stratum in strata:
            fold = (np.arange(stratum.size) + offset) % self.count
            shuffled = random.permutation(stratum)
            kept.append(stratum if stratum.size == 1 else shuffled[fold != index])
            offset += stratum.size
        return kept


def plan(table: Features, count: Any, scheme: Any, fraction: Any, seed: int) -> Plan:
    """Return a checked plan; a scheme may be a splitter of scikit-learn."""
    if hasattr(scheme, "split") and not isinstance(scheme, str):
        return _checked(table, _split(table, scheme, proportion("fraction", fraction), seed))
    choice("scheme", scheme, SCHEMES)
    checked = Plan(integer("resamples", count, LEAST_RESAMPLES), scheme, proportion("fraction", fraction), seed)
    _require_units(table, checked)
    if scheme != "bootstrap" and checked.rows(table, 0).size == table.rows:
        units = table.target.described if table.groups is None else counted(int(table.groups.max()) + 1, "group")
        raise InputError(
            f"{spelled('scheme', scheme)} must leave rows out of a resample; with {table.rows} rows and "
            f"{units} it leaves out none. Use more rows, a smaller {spelled('fraction')}, or "
            f"{spelled('scheme', 'bootstrap')}."
        )
    balanced = table.groups is None and scheme != "time" and not table.target.is_quantity
    return checked if balanced else _checked(table, checked)


def _checked(table: Features, schedule: Plan) -> Plan:
    """Return a plan with a note on resamples that lack a class; raise if the target of one does not vary."""
    lacking = 0
    for index in range(schedule.count):
        try:
            target = table.target.at(schedule.rows(table, index))
        except InputError as error:
            raise InputError(f"resample {index + 1} of {schedule.count} cannot be ranked: {error}") from None
        lacking += target.counts.size < table.target.counts.size
    if not lacking:
        return schedule
    note = f"{lacking} of {schedule.count} resamples lack a class, since groups or time determine their rows"
    return replace(schedule, notes=(note,))


def overlap(table: Features, schedule: Plan) -> float:
    """Return about which share of its rows a resample has in common with another."""
    if table.groups is None and schedule.scheme in PLAIN:
        return {
            "subsample": schedule.fraction,
            "bootstrap": 1 - exp(-1),
            "folds": (schedule.count - 2) / (schedule.count - 1),
        }[schedule.scheme]
    rows = [np.unique(schedule.rows(table, index)) for index in range(min(schedule.count, MOST_COMPARED))]
    shares = [2 * np.intersect1d(a, b, assume_unique=True).size / (a.size + b.size) for a, b in combinations(rows, 2)]
    return float(np.mean(shares))


def _require_units(table: Features, checked: Plan) -> None:
    """Raise if there are fewer rows or groups than the scheme needs."""
    units, what = (table.rows, "rows") if table.groups is None else (int(table.groups.max()) + 1, "groups")
    if checked.scheme == "folds" and checked.count > units:
        raise InputError(
            f"{spelled('resamples')} must be at most the number of {what}, {units}, for folds; got {checked.count}."
        )
    if checked.scheme == "time" and table.rows < 2 * (checked.count + 1):
        most = table.rows // 2 - 1
        raise InputError(
            f"{spelled('resamples')} must be at most {most} for {spelled('scheme', 'time')} with {table.rows} rows; "
            f"got {checked.count}."
        )
    if checked.scheme == "time" and table.groups is not None:
        raise InputError(
            f"{spelled('scheme', 'time')} uses the order of the rows and no groups: leave out {spelled('groups')}."
        )
    if table.groups is not None and units < LEAST_RESAMPLES:
        raise InputError(f"{spelled('groups')} must name at least {LEAST_RESAMPLES} groups; got {units}.")


def _split(table: Features, splitter: Any, fraction: float, seed: int) -> Plan:
    """Return a plan of the training rows that a splitter of scikit-learn chooses."""
    name = type(splitter).__name__
    try:
        splits = list(splitter.split(table.values, table.target.values, table.groups))
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} cannot split these data: {error}") from None
    rows_of = tuple(np.sort(np.arange(table.rows)[train]) for train, _ in splits)  # positions, or a mask
    if len(rows_of) < LEAST_RESAMPLES:
        raise InputError(f"{name} must give at least {LEAST_RESAMPLES} splits for a study; it gives {len(rows_of)}.")
    return Plan(len(rows_of), name, fraction, seed, rows_of)


def resampled_scores(
    table: Features, rankers: Rankers, trees: int, schedule: Plan, *, checkpoint: Any = None, **work: Any
) -> tuple[Scores, int]:
    """Return scores of shape (resamples, methods, features), and how many resamples the checkpoint held."""
    shared = (table, rankers, trees, schedule)
    tiles = [(index,) for index in range(schedule.count)]
    with nullcontext() if checkpoint is None else finished_tiles(checkpoint, "resample", _key(*shared)) as kept:
        scores = np.array(run(_tile, tiles, shared=shared, kept=kept, label="resamples", **work))
    return scores, 0 if kept is None else kept.found


def _tile(table: Features, rankers: Rankers, trees: int, schedule: Plan, index: int) -> Scores:
    """Rank one resample with all methods, on one thread."""
    return scores_of(
        table.at(schedule.rows(table, index)), rankers, trees, schedule.seeds(index)[1], n_jobs=1, progress=False
    )


def _key(table: Features, rankers: Rankers, trees: int, schedule: Plan) -> str:
    """Return a fingerprint of all that a resample depends on."""
    # The number of resamples matters to folds and windows: other schemes can be continued with more of them.
    count = 0 if schedule.scheme in {"subsample", "bootstrap"} else schedule.count
    known = {name: describe(ranker) for name, ranker in rankers.items()}
    parts = (known, trees, schedule.scheme, schedule.fraction, schedule.seed, count, __version__)
    data = (table.values, table.categorical, table.target.task, table.target.values, table.groups)
    return key_of(sum_of((*data, *schedule.rows_of, parts)))


def describe(method: Any) -> str:
    """Return what identifies a method: name, code and parameters; an address where nothing else tells."""
    if isinstance(method, Ranker):
        return f"{describe(method.method)} {sorted(method.options.items())!r}"
    if isinstance(method, str):
        return method
    if isinstance(method, partial):
        return f"partial({describe(method.func)}, {method.args!r}, {sorted(method.keywords.items())!r})"
    if hasattr(method, "get_params"):
        kind = type(method)
        return f"{kind.__module__}.{kind.__qualname__}({sorted(method.get_params().items())!r})"
    code = getattr(method, "__code__", None)
    if code is None:
        return repr(method)
    closure = [cell.cell_contents for cell in method.__closure__ or ()]
    values = (closure, method.__defaults__, method.__kwdefaults__)
    return f"{method.__module__}.{method.__qualname__} {hashlib.sha256(marshal.dumps(code)).hexdigest()} {values!r}"
