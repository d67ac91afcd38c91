"""Stop commands at random moments, also while they save, and start them again: the results must be the same bytes.

After every stop the folder holds its old state or the new one, and the user's own files in it are untouched; the same
command then ends in exactly the files of a run that was never stopped, and nothing is left beside them.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
STUDY = ("--method", "relief", "--method", "mutual_information", "--permutations", "20", "--jobs", "2", "--quiet")
MINE = {"notes.txt": b"my notes\n", "figures/mine.png": b"my figure\n"}
LONGEST = 300.0


class LostError(Exception):
    """A stop or a restart that left something wrong."""


@dataclass
class Job:
    """A command whose results must survive; `earlier` is run first, for the old state, and may be empty."""

    name: str
    command: tuple[str, ...]
    earlier: tuple[str, ...] = ()
    weight: float = 1.0
    old: dict[str, str] = field(default_factory=dict)
    new: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def prepare(self, place: Path) -> None:
        """Run it undisturbed, and keep the states and how long it took."""
        start_state(self, place)
        self.old = state(place)
        finish(self, place)
        self.new = state(place)
        start = time.perf_counter()  # of a second time, when everything is compiled
        finish(self, place)
        self.seconds = time.perf_counter() - start
        if self.new == self.old:
            raise LostError(f"{self.name}: the command changes nothing")


JOBS = (
    Job("study, new folder", ("study", "data.csv", "--target", "class", *STUDY, "--out", "out"), weight=3),
    Job(
        "study over an earlier one",
        ("study", "data.csv", "--target", "class", *STUDY, "--out", "out"),
        ("study", "data.csv", "--target", "class", *STUDY, "--resamples", "4", "--out", "out"),
        weight=4,
    ),
    Job(
        "matrix over earlier files",
        ("matrix", "scores.csv", "--force", "--out", "out/m.csv", "--plot", "out/m.png", "--quiet"),
        ("matrix", "scores.csv", "--measure", "jaccard", "--out", "out/m.csv", "--plot", "out/m.png", "--quiet"),
        weight=2,
    ),
    Job("paper, new folder", ("paper", "--no-rankings", "--quiet", "--out", "out"), weight=0.5),
)


def run(arguments: tuple[str, ...], place: Path) -> subprocess.Popen[bytes]:
    """Start a command in a folder."""
    command = [sys.executable, "-m", "fujiscore", *arguments]
    return subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finish(job: Job, place: Path, arguments: tuple[str, ...] | None = None) -> None:
    """Run a command to its end."""
    process = run(job.command if arguments is None else arguments, place)
    errors = process.communicate(timeout=LONGEST)[1].decode(errors="replace")
    if process.returncode != 0:
        raise LostError(f"{job.name}: exit code {process.returncode} when started again: {errors.strip()}")


def start_state(job: Job, place: Path) -> None:
    """Put the folder into the state before the command: earlier results, with files of the user's among them."""
    (place / "out").mkdir()
    if not job.earlier:
        (place / "out").rmdir()
        return
    finish(job, place, job.earlier)
    for name, content in MINE.items():
        (place / "out" / name).parent.mkdir(exist_ok=True)
        (place / "out" / name).write_bytes(content)


def state(place: Path) -> dict[str, str]:
    """Return the hash of every file, by name; of empty folders too."""
    paths = sorted(path for path in place.rglob("*") if path.is_file() or not any(path.iterdir()))
    hashes = (hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "" for path in paths)
    return dict(zip((path.relative_to(place).as_posix() for path in paths), hashes, strict=True))


def is_hidden(name: str) -> bool:
    """Return whether a file is in a working folder, or is a temporary one."""
    return any(part.startswith(".") for part in Path(name).parts)


def check(job: Job, place: Path) -> None:
    """Raise unless the files that can be seen are those of the old state, or those of the new one."""
    seen = {name: digest for name, digest in state(place).items() if not is_hidden(name)}
    if job.name.startswith("matrix"):  # two files of their own, each old or new
        mixed = [name for name in {**seen, **job.old} if seen.get(name) not in {job.old.get(name), job.new.get(name)}]
        whole = not mixed
    else:
        whole = seen in (job.old, job.new)
    if not whole:
        raise LostError(f"{job.name}: neither the old state nor the new one: {sorted(set(seen) ^ set(job.new))}")


def is_saving(place: Path) -> bool:
    """Return whether a command has begun to write its results."""
    new = place / ".out.fujiscore" / "new"
    return any(place.glob("out/.*.part")) or (new.is_dir() and any(new.iterdir()))


def stop(job: Job, place: Path, choice: random.Random, *, saving: bool) -> str:
    """Start the command, stop it at a random moment, and return what happened."""
    process = run(job.command, place)
    if saving:
        while process.poll() is None and not is_saving(place):
            time.sleep(0.002)
        time.sleep(choice.choice((0.0, 0.02, 0.1, 0.4, 1.0)) * choice.random())
    else:
        time.sleep(choice.random() * job.seconds)
    was_saving = is_saving(place)
    chosen = choice.choice(SIGNALS)
    process.send_signal(chosen)
    errors = process.communicate(timeout=LONGEST)[1].decode(errors="replace")
    if "Traceback" in errors and "fujiscore" in errors:  # else Python itself was still starting
        raise LostError(f"{job.name}: {errors}")
    if process.returncode == 0:
        return "too late"
    return f"{chosen.name}{' while saving' if was_saving else ''}"


def trial(job: Job, kept: Path, seed: int) -> Counter[str]:
    """Stop a command once or twice, start it again, and count what happened."""
    choice, counts = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "place"
        shutil.copytree(kept, place)
        for _ in range(choice.choice((1, 1, 2))):
            counts[stop(job, place, choice, saving=choice.random() < 0.5)] += 1
            check(job, place)
        finish(job, place)
        if state(place) != job.new:
            differing = {name for name in {**job.new, **state(place)} if job.new.get(name) != state(place).get(name)}
            raise LostError(f"{job.name}, seed {seed}: not the same after a restart: {sorted(differing)}")
    return counts


def inputs(place: Path) -> None:
    """Write the files that the commands read."""
    choice = random.Random(0)
    rows = [[choice.gauss(i % 3 * (j < 4), 1) for j in range(12)] for i in range(240)]
    lines = [",".join([*(f"{value:.4f}" for value in row), "xyz"[i % 3]]) for i, row in enumerate(rows)]
    header = ",".join([*(f"f{j}" for j in range(12)), "class"])
    (place / "data.csv").write_text("\n".join([header, *lines]) + "\n")
    scores = [",".join([f"g{i}", *(f"{choice.random():.4f}" for _ in range(6))]) for i in range(300)]
    (place / "scores.csv").write_text("\n".join(["item,a,b,c,d,e,f", *scores]) + "\n")


def main() -> int:
    """Stop commands as often as asked; return 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="how many stops (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="how many at once (default: %(default)s)")
    arguments = parser.parse_args()
    choice, counts, failures, total = random.Random(arguments.seed), Counter[str](), [], 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.jobs) as pool:
        places = {}
        for number, job in enumerate(JOBS):
            places[job.name] = Path(folder) / str(number)
            places[job.name].mkdir()
            inputs(places[job.name])
            spare = Path(folder) / "spare"
            shutil.copytree(places[job.name], spare)
            job.prepare(spare)
            shutil.rmtree(spare)
            start_state(job, places[job.name])
            print(f"{job.name}: {job.seconds:.1f} s undisturbed", flush=True)
        while total < arguments.kills and len(failures) < 5:
            chosen = choice.choices(JOBS, [job.weight for job in JOBS], k=2 * arguments.jobs)
            seeds = [choice.randrange(2**32) for _ in chosen]
            futures = [pool.submit(trial, job, places[job.name], seed) for job, seed in zip(chosen, seeds, strict=True)]
            for future in futures:
                try:
                    counts += future.result()
                except LostError as error:
                    failures.append(str(error))
                    print(f"FAILED {error}", flush=True)
            total = counts.total() - counts["too late"]
            print(f"{total} stops, {len(failures)} failures", end="\r", flush=True)
    saving = sum(count for name, count in counts.items() if "saving" in name)
    print(f"{total} stops, {saving} of them while saving: {dict(sorted(counts.items()))}")
    print(f"{len(failures)} failures")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
