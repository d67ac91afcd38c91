"""What a file holds, and FUJI, written a second time and simply: None where the file is not plainly regular."""

from __future__ import annotations

import csv
import json
import re
from fractions import Fraction
from typing import Any

NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?([eE][+-]?\d{1,2})?", re.ASCII)
WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*", re.ASCII)
NOT_LABELS = {"na", "nan", "null", "none", "inf", "infinity", "q0", "infinit"}
# Names of columns that change how others are read.
ROLES = {"rank", "index", "method", "ranking", "query", "qid", "run", "model", "system", "topic", "resample", "fold"}

Columns = dict[str, list[Any]]


def table(content: bytes) -> Columns | None:
    """Return the columns of a delimited file: a header of words, then rows of a word and plain numbers."""
    try:
        lines = content.decode("utf-8-sig").removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        return None
    lines = [line.removesuffix("\r") for line in lines]
    separators = {character for character in lines[0] if character in ",;\t|"}
    if len(separators) != 1 or not all(line.isascii() and line.isprintable() for line in "\t".join(lines).split("\t")):
        return None
    try:
        header, *rows = csv.reader(lines, delimiter=separators.pop())
    except csv.Error:
        return None
    words = [*header, *(row[0] for row in rows if row)]
    numbers = [cell for row in rows for cell in row[1:]]
    regular = (
        rows
        and len(header) > 1
        and len(set(header)) == len(header)
        and all(len(row) == len(header) for row in rows)
        and all(WORD.fullmatch(cell) and cell.lower() not in NOT_LABELS for cell in words)
        and all(NUMBER.fullmatch(cell) for cell in numbers)
        and not ROLES & {cell.lower() for cell in header}
    )
    if not regular:
        return None
    columns = list(zip(*rows, strict=True))
    scores = {name: [float(cell) for cell in column] for name, column in zip(header[1:], columns[1:], strict=True)}
    return {header[0]: list(columns[0]), **scores}


def run(content: bytes) -> dict[str, list[tuple[str, float]]] | None:
    """Return the items and scores of each query of a TREC run of plain words and numbers."""
    if not content.isascii() or re.search(rb"[^\t\n -~]", content):
        return None
    queries: dict[str, list[tuple[str, float]]] = {}
    for line in content.decode().removesuffix("\n").split("\n"):
        cells = line.split()
        if len(cells) != 6 or not NUMBER.fullmatch(cells[4]) or '"' in line:
            return None
        queries.setdefault(cells[0], []).append((cells[2], float(cells[4])))
    return queries


def mapping(content: bytes) -> list[tuple[str, float]] | None:
    """Return the items and scores of a JSON object of item to score."""
    try:
        pairs = json.loads(content, object_pairs_hook=list)
    except (ValueError, RecursionError):
        return None
    plain = content.lstrip().startswith(b"{") and all(
        WORD.fullmatch(item) and type(score) in {int, float} and abs(score) < 1e15 for item, score in pairs
    )
    return [(item, float(score)) for item, score in pairs] if plain and pairs else None


def vectors(content: bytes) -> tuple[list[float], list[dict[int, float]]] | None:
    """Return the classes and the features of a libsvm file of plain numbers, each feature once per row."""
    classes, rows = [], []
    if not content.isascii() or re.search(rb"[^\n -~]", content):
        return None
    for line in content.decode().removesuffix("\n").split("\n"):
        first, *cells = line.partition("#")[0].split() or [""]
        pairs = [cell.split(":") for cell in cells if not cell.startswith("qid:")]
        plain = all(len(p) == 2 and re.fullmatch(r"\d{1,5}", p[0]) and NUMBER.fullmatch(p[1]) for p in pairs)
        if not (NUMBER.fullmatch(first) and plain) or len({int(p[0]) for p in pairs}) < len(pairs):
            return None
        classes.append(float(first))
        rows.append({int(p[0]): float(p[1]) for p in pairs})
    return classes, rows


def fuji(r: list[float], s: list[float], k: int) -> float:
    """Return FUJI at k from its definition, with closed ties."""
    members = []
    for scores in (r, s):
        kth = sorted(scores, reverse=True)[k - 1]
        floor = max(Fraction(kth), Fraction(0))
        members.append([1 if x >= kth else max(Fraction(x), Fraction(0)) / floor if floor else 1 for x in scores])
    inside = [sorted(scores, reverse=True)[k - 1] for scores in (r, s)]
    union = [i for i in range(len(r)) if r[i] >= inside[0] or s[i] >= inside[1]]
    low = sum(min(members[0][i], members[1][i]) for i in union)
    return float(low / sum(max(members[0][i], members[1][i]) for i in union))
