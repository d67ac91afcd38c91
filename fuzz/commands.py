"""Command lines: of mutated files, and of hostile values for every option of every command."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.testing import CliRunner

from fujiscore.cli import COMMANDS, fuji
from fuzz.targets import WrongAnswerError, require

if TYPE_CHECKING:
    from random import Random

# `paper` downloads; --debug prints tracebacks.
TRIED = tuple(name for name in COMMANDS if name != "paper")
NEVER = {"--debug", "--help"}
SMALL_WORK = {"trees": "2", "resamples": "3", "permutations": "5", "jobs": "1"}
WAIT = 60  # seconds after which a command does nothing but wait
WORDS = (
    "",
    " ",
    "a",
    "0",
    "-1",
    "1",
    "2",
    "3",
    "nan",
    "inf",
    "1e999",
    "0.5",
    "1_0",
    "\uff11",
    "\u00e9",
    "a:b",
    "x" * 300,
)
WORDS += (
    "\ud800",
    "\x1b[31m",
    "a\nb",
    "--",
    "-",
    "score",
    "gene",
    "rbo:0.9",
    "rbo:2",
    "fuji",
    "1,2",
    "2,1",
    ",",
    "~",
    "%s",
)
HUGE = (str(2**31), str(2**63), str(10**30), "9" * 5000, str(-(10**30)))
# Ordinary values, by option.
VALID = {
    "k": ("1", "2"),
    "ks": ("all", "exp", "1,2"),
    "measure": ("fuji", "jaccard", "kendall"),
    "method": ("relief", "genie3"),
    "score": ("score", "relief"),
    "item": ("gene",),
    "target": ("class",),
    "drop": ("colour",),
    "categorical": ("level",),
    "reference": ("a",),
    "universe": ("20",),
    "top": ("3",),
    "rows": ("9",),
    "show": ("2",),
    "seed": ("7",),
    "confidence": ("0.9",),
    "fraction": ("0.5",),
    "fail_under": ("0.1", "1"),
} | {name: (value,) for name, value in SMALL_WORK.items()}
WORKING = ("permutations", "resamples", "trees", "n_jobs", "jobs", "confidence")  # large values mean long work
OUTPUTS = ("out.csv", "out.json", "out", "out.png", "out.svg", "folder", "folder/out.csv", "no/out.csv", "", "a.csv")
INPUTS = (
    *["a.csv", "b.csv"] * 12,
    "two.csv",
    "mutated",
    "folder",
    "absent.csv",
    "/dev/null",
    "",
    "a.csv:score",
    "-",
    "iris",
)


def of_files(random: Random, files: list[str], target: str | None, *, data: bool) -> list[str]:
    """Return a command line that reads mutated files."""
    if data:
        command = random.choice(("rank", "rank", "rank", "rank", "study"))
        sizes = ["--trees", "2", "--jobs", "1", "--method", random.choice(("relief", "mutual_information", "genie3"))]
        if command == "study":
            sizes += ["--resamples", "3", "--permutations", "0"]
        goal = [] if target is None else ["--target", target]
        return [command, files[0], *goal, *sizes, "--nan", random.choice(("keep", "drop", "fill")), "--json"]
    command = random.choice(("compare", "compare", "explain", "matrix", "matrix", "stability"))
    lenient = ["--negative", "clip", "--nan", "zero", "--missing", "zero", "--duplicates", "max"]
    options = lenient if random.random() < 0.7 else []
    options += random.choice(([], ["--ties", "stable"], ["--zero-tail", "exclude"], ["--top", "3"]))
    several = [files[0], f"{files[1]}:relief"] if command in {"compare", "explain"} else files
    extra = ["-k", "2"] if command == "explain" else []
    return [command, *several, *options, *extra, random.choice(("--json", "--csv", "--json"))]


def hostile(random: Random) -> list[str]:
    """Return a command line of random options with hostile values; it writes relative paths only."""
    name = random.choice(TRIED)
    command = fuji.get_command(click.Context(fuji), name)
    options = [p for p in command.params if isinstance(p, click.Option) and not NEVER & set(p.opts)]
    chosen = random.sample(options, random.choice((0, 1, 1, 2, 3, 6)) % (len(options) + 1))
    given = [word for option in chosen for word in _given(random, option)]
    for option in options:  # keep the work small unless the option is what is tried
        if option.name in SMALL_WORK and option not in chosen:
            given += [option.opts[0], SMALL_WORK[option.name]]
    writes = name == "example"
    positional = [random.choice(OUTPUTS if writes else INPUTS) for _ in range(random.choice((0, 1, 1, 2, 2, 2, 2, 3)))]
    if name == "measures":
        positional = random.choice(([], ["gamma"], [random.choice(WORDS)]))
    if name in {"compare", "explain", "matrix", "stability"} and random.random() < 0.7:
        given += ["--missing", "zero"]
    if name == "explain" and random.random() < 0.7:
        given += ["-k", "2"]
    if name in {"rank", "study"} and random.random() < 0.8:
        positional, given = ["data.csv"], ["--target", "class", "--nan", "fill", *given]
    return [name, *positional, *given] if random.random() < 0.9 else [name, *given, *positional]


def _given(random: Random, option: click.Option) -> list[str]:
    """Return an option as it is given, with a value if it takes one."""
    flag = random.choice([*option.opts, *option.secondary_opts])
    if option.is_flag:
        return [flag]
    if isinstance(option.type, click.Choice) and random.random() < 0.8:
        return [flag, random.choice(list(option.type.choices))]
    if option.name in {"out", "plot"}:
        return [flag, random.choice(OUTPUTS)]
    if option.name in VALID and random.random() < 0.6:
        return [flag, random.choice(VALID[option.name])]
    return [flag, random.choice(WORDS if option.name in WORKING else (*WORDS, *HUGE))]


def in_process(arguments: list[str], folder: Path) -> str:
    """Run a command line in this process, in a folder."""
    home = Path.cwd()
    os.chdir(folder)
    try:
        result = CliRunner(catch_exceptions=False).invoke(fuji, arguments)
    finally:
        os.chdir(home)
    return judged(arguments, result.exit_code, result.stdout, result.stderr)


def as_process(arguments: list[str], folder: Path, limit: int) -> str:
    """Run a command line as a process of its own, in a folder, for so many seconds of the processor at most."""
    command = [
        sys.executable,
        "-m",
        "fujiscore",
        *(os.fsencode(word.encode("utf-8", "surrogatepass")) for word in arguments),
    ]
    bounded = partial(resource.setrlimit, resource.RLIMIT_CPU, (limit, limit))
    pipes = {"stdin": subprocess.DEVNULL, "capture_output": True}
    try:
        ended = subprocess.run(command, cwd=folder, **pipes, timeout=WAIT, preexec_fn=bounded, check=False)
    except subprocess.TimeoutExpired:
        raise WrongAnswerError(f"a command must end in time; {arguments}") from None
    return judged(
        arguments, ended.returncode, *(text.decode("utf-8", "replace") for text in (ended.stdout, ended.stderr))
    )


def judged(arguments: list[str], code: int, output: str, errors: str) -> str:
    """Return how a command ended, or raise if it should not have ended so."""
    end = f"; {arguments} wrote {errors[-900:]}"
    require(code in {0, 2} or (code == 1 and "--fail-under" in arguments), f"exit code must not be {code}{end}")
    require("Traceback" not in output + errors, f"there must be no traceback{end}")
    for line in errors.splitlines():
        require("unexpected" not in line or "report it" not in line, f"must be expected: {line[:100]}{end}")
    require("Warning" not in errors, f"there must be no warning{end}")
    require(code != 2 or errors.strip(), f"exit code 2 must have a reason{end}")
    for text in (output, errors):
        require(all(c.isprintable() or c == "\n" for c in text if ord(c) < 160), f"must print text, no controls{end}")
    if code == 0 and "--json" in arguments and not {"--out", "-o", "--csv", "--quiet", "-q"} & set(arguments):
        json.loads(output, parse_constant=_no_constant)
    return "refused" if code == 2 else "read"


def _no_constant(word: str) -> Any:
    raise ValueError(f"JSON has no {word}")
