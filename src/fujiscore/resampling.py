"""Stratified resamples of a table, ranked tile by tile; finished ones can be kept. Imports tiles, rankers."""

from __future__ import annotations

import hashlib
import marshal
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.checkpoint import finished_tiles, key_of, sum_of, version
from fujiscore.errors import InputError, choice, integer, proportion, spelled
from fujiscore.rankers.adapt import Ranker
from fujiscore.rankers.ranking import scores_of
from fujiscore.tiles import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fujiscore.rankers.features import Features, Scores
    from fujiscore.rankers.ranking import Rankers

SCHEMES = ("subsample", "bootstrap", "folds")
LEAST_RESAMPLES = 3


@dataclass(frozen=True)
class Plan:
    """How rows are resampled: the number of resamples, the scheme, the fraction of a subsample, and the seed."""

    count: int
    scheme: str
    fraction: float
    seed: int

    def seeds(self, index: int) -> tuple[int, int]:
        """Return the seeds of one resample's rows and of the methods on it, which depend on nothing else."""
        rows, methods = np.random.SeedSequence([self.seed, index]).generate_state(2, np.uint32).tolist()
        return rows, methods

    def rows(self, codes: NDArray[np.int32], index: int) -> NDArray[np.int64]:
        """Return one resample's rows, in order; every class is among them."""
        groups = [np.flatnonzero(codes == label) for label in range(int(codes.max()) + 1)]
        if self.scheme == "folds":
            return np.sort(np.concatenate(self._without_fold(groups, index)))
        random, whole = np.random.default_rng(self.seeds(index)[0]), self.scheme == "bootstrap"
        sizes = [group.size if whole else max(1, round(self.fraction * group.size)) for group in groups]
        drawn = [random.choice(group, size, replace=whole) for group, size in zip(groups, sizes, strict=True)]
        return np.sort(np.concatenate(drawn))

    def _without_fold(self, groups: list[NDArray[np.int64]], index: int) -> list[NDArray[np.int64]]:
        """Return each class without its part of a fold; the only row of a class is always kept."""
        random = np.random.default_rng(self.seeds(self.count)[0])
        kept, offset = [], 0
        for group in groups:
            fold = (np.arange(group.size) + offset) % self.count
            shuffled = random.permutation(group)
            kept.append(group if group.size == 1 else shuffled[fold != index])
            offset += group.size
        return kept


def plan(codes: NDArray[np.int32], count: Any, scheme: str, fraction: Any, seed: int) -> Plan:
    """Return a checked plan."""
    choice("scheme", scheme, SCHEMES)
    number, n = integer("resamples", count, LEAST_RESAMPLES), codes.size
    checked = Plan(number, scheme, proportion("fraction", fraction), seed)
    if scheme == "folds" and number > n:
        raise InputError(f"{spelled('resamples')} must be at most the number of rows, {n}, for folds; got {number}.")
    if scheme != "bootstrap" and checked.rows(codes, 0).size == n:
        raise InputError(
            f"{spelled('scheme', scheme)} must leave rows out of a resample; with {n} rows in {int(codes.max()) + 1} "
            f"classes it leaves out none. Use more rows, a smaller {spelled('fraction')}, or "
            f"{spelled('scheme', 'bootstrap')}."
        )
    return checked


def resampled_scores(
    table: Features, rankers: Rankers, trees: int, schedule: Plan, *, resume: Any = None, **work: Any
) -> tuple[Scores, int]:
    """Return scores of shape (resamples, methods, features), and how many of the resamples the folder `resume` held."""
    shared = (table, rankers, trees, schedule)
    tiles = [(index,) for index in range(schedule.count)]
    with nullcontext() if resume is None else finished_tiles(resume, "resume", "resample", _key(*shared)) as kept:
        scores = np.array(run(_tile, tiles, shared=shared, kept=kept, label="resamples", **work))
    return scores, 0 if kept is None else kept.found


def _tile(table: Features, rankers: Rankers, trees: int, schedule: Plan, index: int) -> Scores:
    """Rank one resample with all methods, on one thread."""
    rows = schedule.rows(table.codes, index)
    return scores_of(table.at(rows), rankers, trees, schedule.seeds(index)[1], n_jobs=1, progress=False)


def _key(table: Features, rankers: Rankers, trees: int, schedule: Plan) -> str:
    """Return a fingerprint of all that a resample depends on."""
    # The number of resamples matters only to folds: other schemes can be continued with more of them.
    count = schedule.count if schedule.scheme == "folds" else 0
    known = {name: describe(ranker) for name, ranker in rankers.items()}
    parts = (known, trees, schedule.scheme, schedule.fraction, schedule.seed, count, version())
    return key_of(sum_of((table.values, table.categorical, table.codes, parts)))


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
