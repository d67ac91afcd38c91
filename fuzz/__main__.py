"""Try mutated files and arguments until something fails: python -m fuzz --help."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any

from fuzz import watch

if TYPE_CHECKING:
    from collections.abc import Callable

OUTCOMES = ("read", "refused", "failed")


def prepared_files(kind: str, seed: int, formats: list[str]) -> watch.Prepare:
    """Return the maker of cases of mutated files, tried in this process or as a process."""
    from fuzz.mutate import mutated
    from fuzz.seeds import seeds

    every = seeds()
    names = [name for name in dict.fromkeys(one.format for one in every) if not formats or name in formats]
    by_format = {name: [one for one in every if one.format == name] for name in names}
    intact = next(one for one in every if one.name == "two0.csv")

    def prepare(index: int, slot: Path) -> tuple[str, Callable[[], str]]:
        random = Random(f"{seed} {kind} {index}")
        chosen = random.choice(by_format[names[index % len(names)]])
        donor = random.choice([one for one in every if one.binary == chosen.binary or random.random() < 0.01])
        content = mutated(random, chosen.content, donor.content, binary=chosen.binary)
        content = chosen.pack(content)
        if chosen.packing and random.random() < 0.15:
            content = mutated(random, content, donor.content, binary=True)
        name = chosen.name if random.random() < 0.9 else f"renamed{random.choice(('', '.txt', '.csv', '.json'))}"
        (slot / name).write_bytes(content)
        (slot / "intact.csv").write_bytes(intact.content)
        case = {
            "kind": kind,
            "file": name,
            "data": chosen.data,
            "options": dict(chosen.options),
            "choice": random.random(),
        }
        watch.described(case, slot)
        return chosen.format, partial(attempted, case, slot)

    return prepare


def prepared_tables(seed: int) -> watch.Prepare:
    """Return the maker of tables whose content is known."""
    from fuzz import tables

    def prepare(index: int, slot: Path) -> tuple[str, Callable[[], str]]:
        kind, name, content, truth = tables.make(Random(f"{seed} tables {index}"))
        (slot / name).write_bytes(content)
        case = {"kind": "tables", "file": name, "truth": truth, "choice": 0}
        watch.described(case, slot)
        return kind, partial(attempted, case, slot)

    return prepare


def attempted(case: dict[str, Any], slot: Path) -> str:
    """Try a case that was made or kept."""
    from fuzz import commands, resume, targets

    random = Random(case["choice"])
    match case["kind"]:
        case "files":
            if case["data"]:
                targets.data(random, slot / case["file"], case["options"].get("target"))
            else:
                targets.rankings(random, slot / case["file"], slot / "intact.csv")
            return "read"
        case "processes":
            files = [case["file"], "intact.csv"]
            arguments = commands.of_files(random, files, case["options"].get("target"), data=case["data"])
            return commands.as_process(arguments, slot, watch.LIMIT)
        case "tables":
            return targets.table(slot / case["file"], case["truth"])
        case "resume":
            return resume.attempt(slot, case)
    if case["process"]:
        return commands.as_process(case["arguments"], slot, commands.WAIT)
    return commands.in_process(case["arguments"], slot)


def prepared_arguments(seed: int) -> watch.Prepare:
    """Return the maker of hostile command lines."""
    from fuzz.commands import hostile
    from fuzz.mutate import mutated
    from fuzz.seeds import seeds

    by_name = {one.name: one.content for one in seeds()}

    def prepare(index: int, slot: Path) -> tuple[str, Callable[[], str]]:
        random = Random(f"{seed} arguments {index}")
        for name, content in (
            ("a.csv", "one0.csv"),
            ("b.csv", "one2.csv"),
            ("two.csv", "two0.csv"),
            ("data.csv", "data.csv"),
        ):
            (slot / name).write_bytes(by_name[content])
        (slot / "mutated").write_bytes(mutated(random, by_name["two0.csv"], b"", binary=False))
        (slot / "folder").mkdir()
        case = {"kind": "arguments", "process": index % 50 == 0, "choice": 0, "arguments": hostile(random)}
        watch.described(case, slot)
        return case["arguments"][0], partial(attempted, case, slot)

    return prepare


def prepared_resume(seed: int) -> watch.Prepare:
    """Return the maker of studies that find damaged files of an interrupted run."""
    from fuzz import resume

    return partial(resume.prepare, resume.finished(), seed)


def main() -> int:
    """Run the campaigns asked for, or repeat a case; return 1 if something failed."""
    options = parsed()
    os.environ["FUJISCORE_COMPILE"] = "never"  # compiling takes seconds, and would look like hanging
    for heavy in ("scipy.cluster.hierarchy", "scipy.stats", "sklearn.ensemble", "fuzz.resume", "fuzz.seeds"):
        import_module(heavy)  # once, before workers need it
    from fujiscore.errors import InputError, MissingExtraError
    from fuzz import commands

    if options.repeat:
        return repeated(options.repeat.resolve(), (InputError, MissingExtraError))
    campaigns = {
        "files": (partial(prepared_files, "files", options.seed, options.formats), options.files),
        "tables": (partial(prepared_tables, options.seed), options.tables),
        "processes": (partial(prepared_files, "processes", options.seed, options.formats), options.processes),
        "resume": (partial(prepared_resume, options.seed), options.resume),
        "arguments": (partial(prepared_arguments, options.seed), options.arguments),
    }
    bad = 0
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        for kind, (prepare_all, count) in campaigns.items():
            start, tally = monotonic(), watch.Tally(options.keep)
            limit = watch.LIMIT if kind in {"files", "tables", "resume"} else 2 * commands.WAIT
            allowed = (InputError, MissingExtraError)
            watch.campaign(kind, prepare_all, count, tally, Path(scratch), allowed, limit=limit)
            bad += summarised(kind, count, tally, monotonic() - start)
    return int(bad > 0)


def repeated(folder: Path, allowed: tuple[type[Exception], ...]) -> int:
    """Try a kept case again in this process; return 1 if it still fails."""
    case = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    ended, _, text = watch.outcome(partial(attempted, case, folder), allowed)
    print(f"{case}\n{text}{ended}")
    return int(ended == "failed")


def summarised(kind: str, count: int, tally: watch.Tally, seconds: float) -> int:
    """Print how many cases of each format were read, refused and failed; return the failures."""
    total = [sum(n for (_, word), n in tally.outcomes.items() if word == outcome) for outcome in OUTCOMES]
    if count:
        print(
            f"\n{kind}: {count} in {seconds:.0f} s; "
            + ", ".join(f"{n} {w}" for n, w in zip(total, OUTCOMES, strict=True))
        )
        for name in sorted({name for name, _ in tally.outcomes}):
            print(f"  {name:14}" + "".join(f"{tally.outcomes[name, word]:7} {word}" for word in OUTCOMES))
        for what, names in sorted(tally.failures.items(), key=lambda item: -len(item[1])):
            print(f"  FAILED {len(names)} times: {what} ({', '.join(names[: watch.KEPT])})")
    sys.stdout.flush()
    return total[2]


def parsed() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser("python -m fuzz", description=__doc__)
    parser.add_argument("--files", type=int, default=0, help="mutated files read in process")
    parser.add_argument("--tables", type=int, default=0, help="generated tables whose labels and scores are known")
    parser.add_argument("--processes", type=int, default=0, help="mutated files read by fuji as a process")
    parser.add_argument("--resume", type=int, default=0, help="studies that resume from damaged files")
    parser.add_argument("--arguments", type=int, default=0, help="command lines with hostile options")
    parser.add_argument("--seed", type=int, default=0, help="seed of all mutations")
    parser.add_argument("--formats", nargs="*", default=[], help="formats of --files and --processes, all by default")
    parser.add_argument("--keep", type=Path, default=Path("out/fuzz"), help="folder for files that fail")
    parser.add_argument("--repeat", type=Path, help="a kept folder: try this case again")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
