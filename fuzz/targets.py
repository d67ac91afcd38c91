"""What is tried on a mutated file in process, and what must hold of the answer."""

from __future__ import annotations

from math import isclose, isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import feather, parquet

import fujiscore as fj
from fujiscore import io
from fujiscore.features import datasets
from fujiscore.io import documents, formats
from fujiscore.io.columns import RANKING_NAMES
from fujiscore.rankers import prepare
from fujiscore.rankers.features import NAN
from fujiscore.rankers.targets import TASKS
from fuzz import oracles, tables

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

POLICIES: dict[str, tuple[Any, ...]] = {
    "negative": (None, "raise", "clip", "abs"),
    "nan": ("raise", "zero", "drop"),
    "missing": ("raise", "zero", "drop"),
    "duplicates": ("raise", "max", "mean", "first"),
    "transform": (None, None, None, "neglog10", "exp", "reciprocal", "rank", "abs"),
    "universe": (None, None, None, None, 5, 20_000, ["BRCA1", "TP53", "q"]),
}
LENIENT = {"negative": "clip", "nan": "zero", "missing": "zero", "duplicates": "max"}
MEASURES = tuple(fj.MEASURES)
SLACK = 1e-9
PLAIN = (pa.string(), pa.large_string(), pa.int64(), pa.int8(), pa.float64())


class WrongAnswerError(AssertionError):
    """An answer that cannot be right."""


def require(holds: object, what: str) -> None:
    """Raise unless something holds; what stands before the semicolon tells kinds of failures apart."""
    if not holds:
        raise WrongAnswerError(what)


def rankings(random: Random, file: Path, other: Path) -> None:
    """Read a file of rankings in several ways and compare what it holds."""
    _agrees(file, _both_ways(file))
    choices = {name: random.choice(values) for name, values in POLICIES.items() if random.random() < 0.15}
    policies = LENIENT | choices if random.random() < 0.8 else choices
    if random.random() < 0.05:
        policies |= {
            random.choice(("item", "score", "ranking", "format")): random.choice(("1", "gene", "score", "csv"))
        }
    files = [file] if random.random() < 0.5 else [file, other]
    found = fj.read(files, **policies)
    _check_rankings(found)
    io.read_items(file)
    random.choice((_compare, _compare, _curve, _explain, _pairwise))(random, found)


def table(file: Path, truth: dict[str, Any]) -> str:
    """Read a generated table, and compare what was read with what was written."""
    answer = _both_ways(file)
    refused = isinstance(answer, fj.InputError)
    wrong = tables.agrees(
        None if refused else [(s.name, list(s.items), s.scores.tolist()) for s in answer.sources], truth
    )
    require(not wrong, f"{wrong}; {answer if refused else answer.notes}")
    return "refused" if refused else "read"


def data(random: Random, file: Path, target: str | None) -> None:
    """Read a data set and rank its features."""
    options: dict[str, Any] = {}
    if random.random() < 0.2:
        options |= {"drop": random.choice(((), ("level",)))}
    if random.random() < 0.1:
        options |= {"categorical": ("level",)}
    found = datasets.load(file, target, **options)
    require(found.X.shape == (len(found.y), len(found.features)), "X, y and features must have the same sizes")
    require(not np.isinf(found.X).any() and found.X.dtype == np.float64, "X must be finite float64, or NaN")
    require(len(set(found.features)) == len(found.features), "features must be unique")
    _check_notes(found.notes)
    if not options:
        _agrees_data(file, found)
    methods = random.choice((("relief",), ("mutual_information",), ("genie3", "random_forest"), ("multisurf",)))
    treated: Any = {"nan": random.choice(NAN), "task": random.choice(("auto", "auto", *TASKS)), "names": found.features}
    table = prepare(found.X, found.y, found.categorical, inspect=True, **treated)
    if random.random() < 0.2:
        table = table.sampled(random.choice((1, 3, 8)))
    _check_rankings(fj.rank(table, methods=methods, trees=2, n_jobs=1, progress=False))


def _both_ways(file: Path) -> Any:
    """Return what a file holds, or the error; large files take another way, which must find the same."""
    small, answers = documents.SMALL, []
    try:
        for documents.SMALL in (small, 0):
            try:
                answers.append(io.load(file))
            except fj.InputError as error:
                answers.append(error)
    finally:
        documents.SMALL = small
    one, two = answers
    same = type(one) is type(two) and (
        str(one) == str(two) if isinstance(one, fj.InputError) else _content(one) == _content(two)
    )
    require(same, f"as a small and as a large file it must hold the same; {_shown(one)} and {_shown(two)}")
    return one


def _content(loaded: io.Loaded) -> list[tuple[str, list[str], bytes]]:
    return [(source.name, list(source.items), source.scores.tobytes()) for source in loaded.sources]


def _shown(answer: Any) -> str:
    return str(answer) if isinstance(answer, Exception) else repr([(s.items[:9], s.scores[:9]) for s in answer.sources])


def _agrees(file: Path, answer: Any) -> None:
    """Check what was read against a second, simple reading of files that are plainly regular."""
    content = file.read_bytes()
    if not isinstance(answer, fj.InputError):
        _check_notes(answer.notes)
        if content.startswith((b"PAR1", b"ARROW1")) and content.endswith((b"PAR1", b"ARROW1")):
            _check_columnar(content, answer)
    if content.startswith(tuple(formats.MAGIC)) or file.suffix in {
        ".gz",
        ".zst",
        ".parquet",
        ".feather",
        ".fimp",
        ".json",
    }:
        expected = oracles.mapping(content) if file.suffix == ".json" else None
        if expected is not None and len(dict(expected)) == len(expected):
            _same(answer, [([item for item, _ in expected], [score for _, score in expected])])
    elif file.suffix in {".trec", ".run"}:
        queries = oracles.run(content)
        if queries and all(len(dict(pairs)) == len(pairs) for pairs in queries.values()):
            _same(answer, [tuple(map(list, zip(*pairs, strict=True))) for pairs in queries.values()])
    elif bare := oracles.pairs(content):
        _same(answer, [bare])
    elif columns := oracles.table(content):
        items, *scores = columns.values()
        named = io.load(file, item=next(iter(columns)), score=list(columns)[1:])
        _same(named, [(items, column) for column in scores])
        found = [] if isinstance(answer, fj.InputError) else _pairs(answer)
        if not set(RANKING_NAMES) & {name.lower() for name in columns}:
            require(all(pair in [(items, column) for column in scores] for pair in found), "a column must be as it is")


def _pairs(loaded: io.Loaded) -> list[tuple[list[str], list[float]]]:
    return [(list(source.items), source.scores.tolist()) for source in loaded.sources]


def _same(answer: Any, expected: list[Any]) -> None:
    require(not isinstance(answer, fj.InputError), f"a regular file must be read; got {answer}")
    pairs = _pairs(answer)
    require(pairs == expected, f"must hold {str(expected)[:300]}; got {str(pairs)[:300]}")


def _check_columnar(content: bytes, answer: io.Loaded) -> None:
    """Check that what was read from a columnar file is valid, and its items those of a column."""
    read = parquet.read_table if content.startswith(b"PAR1") else feather.read_table
    table = read(pa.BufferReader(content))
    table.validate(full=True)
    plain = all(kind in PLAIN for kind in table.schema.types)
    columns = [[str(value) for value in column.to_pylist()] for column in table.columns if plain]
    for source in answer.sources[:1]:
        if plain and len(source.items) == table.num_rows and table.schema.types[0] != pa.float64():
            require(list(source.items) in columns, "items must be a column")


def _agrees_data(file: Path, found: datasets.Data) -> None:
    """Check a data set against a second, simple reading of libsvm files."""
    expected = oracles.vectors(file.read_bytes()) if file.suffix in {".libsvm", ".svm"} else None
    if expected is not None:
        classes, rows = expected
        wanted = [[row.get(int(name), 0.0) for name in found.features] for row in rows]
        require(found.y.tolist() == classes and found.X.tolist() == wanted, "must hold the vectors of the file")


def _check_notes(notes: Any) -> None:
    for note in notes:
        require(isinstance(note, str) and note.isprintable(), f"a note must be one line; got {note!r}")


def _check_rankings(found: fj.Rankings) -> None:
    labels = None if found.labels is None else list(found.labels)
    require(len(set(found.names)) == len(found.names), "names must be unique")
    require(labels is None or len(set(labels)) == len(labels) == found.n, "labels must be unique, one per item")
    for ranking in found:
        scores = ranking.scores
        require(scores.dtype == np.float64 and scores.shape == (found.n,), "one float64 score per item")
        require(np.isfinite(scores[scores != -np.inf]).all(), "scores must be finite or -inf")
        require((ranking.ranked_raw[1:] <= ranking.ranked_raw[:-1]).all(), "the order must be descending")
    _check_notes(found.notes)
    require(repr(found), "must have a repr")


def _check_values(measure: str, values: Any, notes: Any) -> None:
    known = fj.MEASURES[measure]
    for value in np.ravel(values).tolist():
        if isnan(value):
            require(notes, f"{measure} must not be NaN without a note")
        else:
            require(known.low - SLACK <= value <= known.high + SLACK, f"{measure} must be in its range; got {value!r}")


def _two(random: Random, found: fj.Rankings) -> tuple[fj.Ranking, fj.Ranking]:
    return found[random.randrange(len(found))], found[random.randrange(len(found))]


def _tied(random: Random) -> dict[str, Any]:
    return {"ties": random.choice(("closed", "stable")), "zero_tail": random.choice(("include", "exclude"))}


def _compare(random: Random, found: fj.Rankings) -> None:
    r, s = _two(random, found)
    measures = random.sample(MEASURES, 3)
    result = fj.compare(r, s, measures, **_tied(random), ks=random.choice(("all", "exp", "squared")))
    for name, curve in result.curves.items():
        _check_values(name, [curve.value, *curve.values], result.notes)
    _check_notes(result.notes)
    require(str(result), "must print")


def _curve(random: Random, found: fj.Rankings) -> None:
    """FUJI is what its definition says, the same both ways, and 1 for a ranking with itself."""
    r, s = _two(random, found)
    curve, back = fj.curve(r, s), fj.curve(s, r)
    require(curve.values.tolist() == back.values.tolist(), "FUJI must be symmetric")
    require((r is not s) or (curve.values == 1).all(), "a ranking must be like itself")
    if (
        r.absent is None
        and s.absent is None
        and r.n <= 40
        and np.isfinite(r.scores).all()
        and np.isfinite(s.scores).all()
    ):
        at = random.randrange(len(curve.ks))
        wanted = oracles.fuji(r.scores.tolist(), s.scores.tolist(), int(curve.ks[at]))
        require(isclose(curve.values[at], wanted, abs_tol=1e-9), f"FUJI must be {wanted!r}; got {curve.values[at]!r}")
    _check_values("fuji", curve.values, curve.notes)


def _explain(random: Random, found: fj.Rankings) -> None:
    r, s = _two(random, found)
    options = _tied(random)
    k = random.randint(1, min(r.listed, s.listed))
    result = fj.explain(r, s, k, **options)
    value = fj.fuji(r, s, k, **options)
    undefined = isnan(result.value) and max((r.scores > 0).sum(), (s.scores > 0).sum()) < k  # all beyond are zeros
    same = undefined or isclose(result.value, value, abs_tol=1e-12)
    require(same, f"explained value must be FUJI, {value}; got {result.value}")
    _check_notes(result.notes)
    require(str(result), "must print")


def _pairwise(random: Random, found: fj.Rankings) -> None:
    measure = random.choice(MEASURES)
    result = fj.pairwise(found, measure=measure, n_jobs=1, progress=False, **_tied(random))
    values = np.asarray(result.values)
    if fj.MEASURES[measure].symmetric:
        require(np.array_equal(values, values.T, equal_nan=True), f"the matrix of {measure} must be symmetric")
    _check_values(measure, values, result.notes)
    _check_notes(result.notes)
