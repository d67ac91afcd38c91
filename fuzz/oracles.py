"""What a file holds, and FUJI, written a second time and simply: None where the file is not plainly regular."""

from __future__ import annotations

import csv
import json
import re
from fractions import Fraction
from typing import Any

NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?([eE][+-]?\d{1,2})?", re.ASCII)
WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*( [a-z]+)?", re.ASCII)
NOT_LABELS = {"na", "nan", "null", "none", "inf", "infinity", "q0", "infinit"}

Columns = dict[str, list[Any]]


def _rows(content: bytes) -> list[list[str]] | None:
    """Return the rows of a delimited file of printable ASCII, all of the same width, two or more."""
    try:
        lines = content.decode("utf-8-sig").removesuffix("\n").split("\n")
        lines = [line.removesuffix("\r") for line in lines]
        separators = {character for character in lines[0] if character in ",;\t|"}
        plain = all(line.isascii() and line.replace("\t", "").isprintable() for line in lines)
        rows = list(csv.reader(lines, delimiter=separators.pop())) if plain and len(separators) == 1 else []
    except (UnicodeDecodeError, csv.Error):
        return None
    widths = {len(row) for row in rows}
    return rows if len(widths) == 1 and widths != {1} else None


def _labels(cells: list[str]) -> bool:
    """Return whether cells are words, each once, that cannot be numbers or missing values."""
    words = all(WORD.fullmatch(cell) and cell.lower() not in NOT_LABELS for cell in cells)
    return words and len(set(cells)) == len(cells)


def table(content: bytes) -> Columns | None:
    """Return the columns of a delimited file: a header of words, then rows of a word and plain numbers."""
    header, *rows = _rows(content) or [[]]
    numbers = all(NUMBER.fullmatch(cell) for row in rows for cell in row[1:])
    if not (rows and numbers and _labels(header) and _labels([row[0] for row in rows])):
        return None
    columns = list(zip(*rows, strict=True))
    scores = {name: [float(cell) for cell in column] for name, column in zip(header[1:], columns[1:], strict=True)}
    return {header[0]: list(columns[0]), **scores}


def pairs(content: bytes) -> tuple[list[str], list[float]] | None:
    """Return items and scores of a file without a header: its first score is a decimal, which no column is called."""
    rows = _rows(content) or []
    regular = rows and len(rows[0]) == 2 and "." in rows[0][1] and all(NUMBER.fullmatch(row[1]) for row in rows)
    if not regular or not _labels([row[0] for row in rows]):
        return None
    return [row[0] for row in rows], [float(row[1]) for row in rows]


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
