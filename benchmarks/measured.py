"""What the benchmarks share: figures with their bounds, timing in turns, tables, the machine.

Importing it makes fujiscore compile its kernels at first use, also in child processes: figures of warm calls must not
depend on when small inputs stop running uncompiled. `as_installed` undoes it, to measure what users wait for.
"""

from __future__ import annotations

import gc
import operator
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

os.environ["FUJISCORE_COMPILE"] = "always"
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
RELATIONS = {"at most": operator.le, "below": operator.lt, "at least": operator.ge}


def as_installed(**changed):
    """Return the environment of a user's process: kernels compile when it pays, and bytecode is kept."""
    benchmarked = ("FUJISCORE_COMPILE", "PYTHONDONTWRITEBYTECODE")
    return {**{name: value for name, value in os.environ.items() if name not in benchmarked}, **changed}


@dataclass(frozen=True)
class Row:
    """A figure (None: not measured), what it is required to be, and whether that holds (None: not known)."""

    what: str
    figure: float | None
    shown: str
    required: tuple[str, float, str] | None = None

    @property
    def holds(self):
        """Whether the requirement is met."""
        if self.required is None or self.figure is None:
            return None
        return RELATIONS[self.required[0]](self.figure, self.required[1])

    def cells(self):
        """Return the row of the table."""
        required = "" if self.required is None else f"{self.required[0]} {self.required[2]}"
        return [self.what, self.shown, required, {None: "", True: "yes", False: "**no**"}[self.holds]]


def pair(n):
    """Return two noisy copies of the same log-normal scores.

    The noise is as wide as the scores: the area under the Jaccard curve is then 0.51, near the median (0.50) of the
    144 pairs of rankings that the paper's authors published.
    """
    generator = np.random.default_rng(n)
    scores = generator.lognormal(size=n)
    return np.stack([scores * generator.lognormal(size=n) for _ in range(2)])


def fastest(calls, rounds, repeat=()):
    """Return the least time of each call, in seconds; every round makes all of them in turn."""
    repeat = dict(repeat)
    times = {name: float("inf") for name in calls}
    for call in calls.values():
        call()
    gc.disable()
    for _ in range(rounds):
        for name, call in calls.items():
            for _ in range(repeat.get(name, 1)):
                start = perf_counter()
                call()
                times[name] = min(times[name], perf_counter() - start)
    gc.enable()
    return times


def table(header, rows):
    """Return a Markdown table."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, ["---"] * len(header), *rows])


def judged(rows):
    """Return the table that `make bench` prints: figures, bounds, and whether they hold."""
    return table(["measured", "figure", "required", "holds"], [row.cells() for row in rows])


def page_table(rows):
    """Return the table of a page: figures alone, since bounds are the business of `make bench`."""
    return table(["measured", "figure"], [[row.what, row.shown] for row in rows])


def machine():
    """Return the processor, cores and versions, as text."""
    import numba
    import scipy

    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    return (
        f"{model}, {os.cpu_count()} cores; Python {platform.python_version()}, NumPy {np.__version__}, "
        f"Numba {numba.__version__}, SciPy {scipy.__version__}"
    )


def write_between(path, name, text):
    """Put the text between a page's markers of that name, if it has them."""
    page = path.read_text(encoding="utf-8") if path.exists() else ""
    marks = [f"<!-- {name}:{part} -->" for part in ("begin", "end")]
    before, begin, rest = page.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not (begin and end):
        return
    temporary = path.with_suffix(".tmp")
    temporary.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
    temporary.replace(path)
