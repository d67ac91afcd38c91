"""Stratified resamples of a table, ranked tile by tile; finished tiles can be kept on disk. Imports tiles, rankers."""

from __future__ import annotations

import hashlib
import marshal
import os
import zlib
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from fujiscore.errors import InputError, choice, integer, proportion, spelled
from fujiscore.rankers.adapt import Ranker
from fujiscore.rankers.ranking import scores_of
from fujiscore.tables import write_atomically
from fujiscore.tiles import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fujiscore.rankers.features import Features, Scores
    from fujiscore.rankers.ranking import Rankers

SCHEMES = ("subsample", "bootstrap", "folds")
LEAST_RESAMPLES = 3
STORED = "scores.npy"  # in the archive of a finished resample
LARGEST_HEADER = 1 << 16


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
) -> Scores:
    """Return scores of shape (resamples, methods, features); finished resamples are read from the folder `resume`."""
    paths: list[Path | None] = [None] * schedule.count
    if resume is not None:
        try:
            Path(resume).mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise InputError(f"{spelled('resume')} must name a folder; {os.fspath(resume)!r} is a file.") from None
        key = _key(table, rankers, trees, schedule)
        paths = [Path(resume) / f"resample-{index:04d}-{key}.npz" for index in range(schedule.count)]
    shape = (len(rankers), table.categorical.size)
    scores = [None if path is None else _load(path, shape) for path in paths]
    missing = [index for index, known in enumerate(scores) if known is None]
    tiles = [(table, rankers, trees, schedule, index, paths[index]) for index in missing]
    for index, computed in zip(missing, run(_tile, tiles, label="resamples", **work), strict=True):
        scores[index] = computed
    return np.array(scores)


def _load(path: Path, shape: tuple[int, int]) -> Scores | None:
    """Return a finished resample's scores, None if there are none or the file is damaged."""
    try:
        with ZipFile(path) as archive:
            if archive.getinfo(STORED).file_size > 8 * shape[0] * shape[1] + LARGEST_HEADER:
                return None
            with archive.open(STORED) as file:
                scores: Scores = np.lib.format.read_array(file, allow_pickle=False)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, NotImplementedError, RuntimeError, zlib.error):
        return None
    return scores if scores.shape == shape and scores.dtype == np.float64 else None


def _tile(table: Features, rankers: Rankers, trees: int, schedule: Plan, index: int, path: Path | None) -> Scores:
    """Rank one resample with all methods, on one thread, and keep the scores in a file."""
    rows = schedule.rows(table.codes, index)
    scores = scores_of(table.at(rows), rankers, trees, schedule.seeds(index)[1], n_jobs=1, progress=False)
    if path is not None:
        write_atomically(path, partial(np.savez, scores=scores))
    return scores


def _key(table: Features, rankers: Rankers, trees: int, schedule: Plan) -> str:
    """Return a fingerprint of all that a resample depends on."""
    digest = hashlib.sha256()
    for array in (table.values, table.categorical, table.codes):
        digest.update(np.ascontiguousarray(array).tobytes())
    version = import_module("fujiscore").__version__  # by name: the package itself imports this module
    # The number of resamples matters only to folds: other schemes can be continued with more of them.
    count = schedule.count if schedule.scheme == "folds" else 0
    known = {name: describe(ranker) for name, ranker in rankers.items()}
    parts = (table.values.shape, known, trees, schedule.scheme, schedule.fraction, schedule.seed, count, version)
    digest.update(repr(parts).encode())
    return digest.hexdigest()[:16]


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
