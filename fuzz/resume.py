"""Studies that resume from damaged files: whatever these hold, the results are those of an undisturbed run."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

import fujiscore as fj
from fuzz import watch
from fuzz.mutate import mutated
from fuzz.targets import require

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.arange(12) % 2


def studied(folder: Path) -> fj.results.Study:
    """Run a small study with its finished resamples in a folder."""
    return fj.study(X, Y, ("relief",), resamples=3, permutations=0, n_jobs=1, progress=False, checkpoint=folder)


def told(study: fj.results.Study) -> str:
    """Return all that a study says."""
    return f"{study}\n{study.rankings.scores}\n{study.matrix.values}\n{study.notes}"


def finished() -> dict[str, bytes]:
    """Return the files that a study leaves for resuming."""
    with tempfile.TemporaryDirectory() as folder:
        studied(Path(folder))
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def prepare(files: dict[str, bytes], seed: int, index: int, slot: Path) -> tuple[str, Callable[[], str]]:
    """Make a folder where one of the files is damaged, missing, or a folder."""
    random = Random(f"{seed} resume {index}")
    folder = slot / "resume"
    folder.mkdir()
    damaged = random.choice(list(files))
    for name, content in files.items():
        if name != damaged:
            (folder / name).write_bytes(content)
        elif random.random() < 0.02:
            (folder / name).mkdir()
        elif random.random() < 0.98:
            donor = random.choice(list(files.values()))
            (folder / name).write_bytes(mutated(random, content, donor, binary=True))
    case = {"kind": "resume", "choice": 0}
    watch.described(case, slot)
    return "resume", partial(attempt, slot, case)


def attempt(slot: Path, _: dict[str, Any]) -> str:
    """Resume, and compare with a study that was never interrupted."""
    with tempfile.TemporaryDirectory() as fresh:
        expected = told(studied(Path(fresh)))
    require(told(studied(slot / "resume")) == expected, "the results must be those of an undisturbed run")
    return "read"
