"""Stratified resamples of a table, ranked tile by tile; finished tiles can be kept on disk. Imports tiles, rankers."""

from __future__ import annotations

import hashlib
import marshal
import os
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from fujiscore.errors import InputError, choice
from fujiscore.rankers.data import at_least_one
from fujiscore.studies.ranking import Features, scores_of
from fujiscore.tiles import run

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from fujiscore.rankings import Scores
    from fujiscore.studies.ranking import Methods

SCHEMES = ("subsample", "bootstrap", "folds")
LEAST = 3


@dataclass(frozen=True)
class Plan:
    """How rows are resampled.

    Attributes
    ----------
    count : int
        How many resamples.
    scheme : {"subsample", "bootstrap", "folds"}
        A share of each class without replacement; as many rows of each class with replacement; all but one fold.
    fraction : float
        The share of a subsample.
    seed : int
        The seed of the resamples and of the methods on them.
    """

    count: int
    scheme: str
    fraction: float
    seed: int

    def seeds(self, index: int) -> tuple[int, int]:
        """Return the seeds of one resample's rows and of the methods on it: they depend on nothing else."""
        rows, methods = np.random.SeedSequence([self.seed, index]).generate_state(2, np.uint32).tolist()
        return rows, methods

    def rows(self, codes: NDArray[np.int32], index: int) -> NDArray[np.int64]:
        """Return one resample's rows, in order; every class is among them."""
        groups = [np.flatnonzero(codes == label) for label in range(int(codes.max()) + 1)]
        if self.scheme == "folds":
            return np.sort(np.concatenate(self._without_fold(groups, index)))
        random = np.random.default_rng(self.seeds(index)[0])
        if self.scheme == "bootstrap":
            drawn = [random.choice(group, group.size) for group in groups]
        else:
            sizes = [max(1, round(self.fraction * group.size)) for group in groups]
            drawn = [random.choice(group, size, replace=False) for group, size in zip(groups, sizes, strict=True)]
        return np.sort(np.concatenate(drawn))

    def _without_fold(self, groups: list[NDArray[np.int64]], index: int) -> list[NDArray[np.int64]]:
        """Return each class without its share of a fold; the only row of a class is never left out."""
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
    number = at_least_one("resamples", count)
    if number < LEAST:
        raise InputError(f"resamples must be at least {LEAST}, to judge stability; got {number}.")
    if isinstance(fraction, bool) or not isinstance(fraction, (int, float)) or not 0 < fraction < 1:
        raise InputError(f"fraction must lie between 0 and 1, such as 0.8; got {fraction!r}.")
    found = Plan(number, scheme, float(fraction), seed)
    if scheme == "folds" and number > codes.size:
        raise InputError(f"resamples must be at most the number of rows, {codes.size}, for folds; got {number}.")
    if scheme != "bootstrap" and found.rows(codes, 0).size == codes.size:
        raise InputError(
            f"{scheme} must leave rows out of a resample; with {codes.size} rows in {int(codes.max()) + 1} classes it "
            "leaves out none. Take more rows, a smaller fraction, or scheme='bootstrap'."
        )
    return found


@dataclass(frozen=True)
class Finished:
    """A folder of finished resamples: each in a file that names what it depends on."""

    folder: str
    key: str

    def path(self, index: int) -> Path:
        """Return the file of one resample."""
        return Path(self.folder) / f"resample-{index:04d}-{self.key}.npz"

    def load(self, index: int, shape: tuple[int, int]) -> Scores | None:
        """Return a finished resample's scores, None if there is none or its file is damaged."""
        try:
            with self.path(index).open("rb") as file, np.load(file, allow_pickle=False) as held:
                scores: Scores = held["scores"]
        except (OSError, ValueError, KeyError, EOFError, BadZipFile):
            return None
        return scores if scores.shape == shape and scores.dtype == np.float64 else None

    def keep(self, index: int, scores: Scores) -> None:
        """Write a finished resample, whole or not at all."""
        path = self.path(index)
        unfinished = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.part")
        try:
            with unfinished.open("wb") as file:
                np.savez(file, scores=scores)
            unfinished.replace(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise


def resampled_scores(
    features: Features,
    methods: Methods,
    trees: int,
    chosen: Plan,
    *,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
    resume: Any = None,
) -> Scores:
    """Return scores of shape (resamples, methods, features); finished resamples are taken from the folder."""
    shape = (len(methods), features.values.shape[1])
    finished = None if resume is None else _folder(resume, _key(features, methods, trees, chosen))
    held = {} if finished is None else {i: finished.load(i, shape) for i in range(chosen.count)}
    missing = [i for i in range(chosen.count) if held.get(i) is None]
    tiles = [(features, methods, trees, chosen, i, finished) for i in missing]
    parts = run(_tile, tiles, n_jobs=n_jobs, executor=executor, progress=progress, label="resamples")
    new = dict(zip(missing, parts, strict=True))
    return np.array([new[i] if i in new else held[i] for i in range(chosen.count)])


def _tile(
    features: Features, methods: Methods, trees: int, chosen: Plan, index: int, finished: Finished | None
) -> Scores:
    """Rank one resample with all methods, on one thread."""
    rows = chosen.rows(features.codes, index)
    scores = scores_of(features.at(rows), methods, trees, chosen.seeds(index)[1], n_jobs=1, progress=False)
    if finished is not None:
        finished.keep(index, scores)
    return scores


def _folder(resume: Any, key: str) -> Finished:
    """Return the folder of finished resamples, made if it is not there."""
    folder = Path(resume)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"resume must name a folder; {os.fspath(resume)!r} is a file.") from None
    return Finished(str(folder), key)


def _key(features: Features, methods: Methods, trees: int, chosen: Plan) -> str:
    """Return a fingerprint of all that a resample depends on."""
    from fujiscore import __version__

    found = hashlib.sha256()
    for array in (features.values, features.categorical, features.codes):
        found.update(np.ascontiguousarray(array).tobytes())
    # The number of resamples matters to folds alone: others can be continued with more of them.
    count = chosen.count if chosen.scheme == "folds" else 0
    known = {name: describe(method) for name, method in methods.items()}
    parts = (features.values.shape, known, trees, chosen.scheme, chosen.fraction, chosen.seed, count, __version__)
    found.update(repr(parts).encode())
    return found.hexdigest()[:16]


def describe(method: Any) -> str:
    """Return what a method is known by: name, code and parameters; an address where nothing else tells."""
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
    held = [cell.cell_contents for cell in method.__closure__ or ()]
    return f"{method.__module__}.{method.__qualname__} {hashlib.sha256(marshal.dumps(code)).hexdigest()} {held!r}"
