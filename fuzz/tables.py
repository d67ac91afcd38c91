"""Tables made cell by cell, so that what they hold is known without reading them: ids, foreign numbers, stray text.

A table is read as it was made, or refused. Nothing here asks the package what a cell means.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import parquet

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

ITEM_NAMES = ("item", "gene", "feature", "id", "doc_id", "Gene Symbol", "name")
OTHER_ITEM_NAMES = ("entrez", "probe", "protein", "disease", "movie", "my labels", "feature_name", "uniprot")
SCORE_NAMES = ("score", "value", "weight", "importance", "Mean_Score", "giniImportance", "Score (%)", "similarity")
OTHER_SCORE_NAMES = ("effect", "hits", "logFC", "relief", "amount", "2020")
WORDS = ("alpha", "beta", "gamma", "delta", "kappa", "omega", "sigma", "theta", "zeta", "eta", "iota", "rho")
SEPARATORS = (",", ",", "\t", ";", "|")

# How a number is written: by people, programs and other countries. The first are what the reader takes for numbers.
PLAIN: dict[str, Callable[[float], str]] = {
    "shortest": lambda value: f"{value:g}",
    "fixed": lambda value: f"{value:.3f}",
    "exponent": lambda value: f"{value:.4e}",
    "whole": lambda value: str(round(value)),
}
FOREIGN: dict[str, Callable[[float], str]] = {
    "percent": lambda value: f"{value:g}%",
    "percent with a blank": lambda value: f"{value:.1f} %",
    "dollars": lambda value: f"${value:,.2f}",
    "euros": lambda value: f"{value:.2f} €",
    "thousands": lambda value: f"{1000 + value * 1000:,.0f}",
    "thousands and a fraction": lambda value: f"{1000 + value * 1000:,.2f}",
    "thousands with blanks": lambda value: f"{1000 + value * 1000:,.0f}".replace(",", " "),
    "thousands with narrow blanks": lambda value: f"{1000 + value * 1000:,.0f}".replace(",", "\u202f"),
    "Swiss thousands": lambda value: f"{1000 + value * 1000:,.2f}".replace(",", "'"),
    "German thousands": lambda value: f"{1000 + value * 1000:,.2f}".translate(str.maketrans(",.", ".,")),
    "decimal comma": lambda value: f"{value:.2f}".replace(".", ","),
    "decimal comma and exponent": lambda value: f"{value:.2e}".replace(".", ","),
    "milliseconds": lambda value: f"{value:g}ms",
    "kilograms": lambda value: f"{value:.1f} kg",
    "points": lambda value: f"{value:g} points",
    "bound": lambda value: f"<{value:g}",
    "deviation": lambda value: f"{value:.1f}±0.1",
    "accounting": lambda value: f"({value:g})",
    "Unicode minus": lambda value: f"\u2212{value:g}",
    "Unicode exponent": lambda value: f"{value:.2e}".replace("e-", "e\u2212").replace("e+", "e\u2212"),
    "starred": lambda value: f"{value:g}*",
    "hexadecimal": lambda value: hex(round(value)),
}


@dataclass
class Made:
    """What was written: the columns in their order, those that label rows, and the numbers in those that hold them."""

    names: list[str]
    cells: dict[str, list[str]]
    item: str
    score: str
    numbers: dict[str, list[float]]  # of columns whose cells are all plain numbers
    labels: list[str] = field(default_factory=list)  # columns that name each row
    regular: bool = True  # it must be read, not refused
    header: bool = True

    def truth(self) -> dict[str, Any]:
        """Return what a reader may find: columns of labels, columns of numbers, and which of them must be there."""
        return {
            "labels": [self.cells[name] for name in self.labels],
            "numbers": self.numbers,
            "score": self.score,
            "regular": self.regular,
            "unknown": self.item in OTHER_ITEM_NAMES[1:],
        }


def make(random: Random) -> tuple[str, str, bytes, dict[str, Any]]:
    """Return a table's kind for the summary, its name, content and truth."""
    rows = random.choice((2, 3, 4, 7, 12))
    made = _roles(random, rows)
    for name in random.sample(list(EXTRAS), random.choice((0, 1, 1, 2, 3))):
        EXTRAS[name](random, made, name)
    random.shuffle(made.names)
    if random.random() < 0.6:
        made.names.sort(key=lambda name: name != made.item)
    kind = random.choice(("csv", "csv", "csv", "json", "parquet"))
    if kind == "csv":
        return _delimited(random, made)
    typed = random.random() < 0.5
    columns = {name: made.numbers[name] if typed and name in made.numbers else made.cells[name] for name in made.names}
    if typed and all(cell.isdecimal() and str(int(cell)) == cell for cell in made.cells[made.item]):
        columns[made.item] = [int(cell) for cell in made.cells[made.item]]
    if kind == "parquet":
        stored = io.BytesIO()
        parquet.write_table(pa.table(columns), stored)
        return "parquet", "made.parquet", stored.getvalue(), made.truth()
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return "json", "made.json", json.dumps(records, ensure_ascii=random.random() < 0.5).encode(), made.truth()


def _roles(random: Random, rows: int) -> Made:
    """Return a table of items and scores."""
    known, plain = random.random() < 0.5, random.random() < 0.5
    ids = random.random() < 0.5
    item = random.choice(ITEM_NAMES if known else OTHER_ITEM_NAMES)
    named = random.random() < 0.7
    score = random.choice(SCORE_NAMES if named else OTHER_SCORE_NAMES)
    labels = _ids(random, rows) if ids else _words(random, rows)
    values = [float(f"{random.uniform(0, 9):.2f}") for _ in range(rows)]
    way = random.choice(list(PLAIN if plain else FOREIGN))
    cells = [(PLAIN | FOREIGN)[way](value) for value in values]
    if not plain and random.random() < 0.3:  # some cells only
        cells = [cell if row == 0 or random.random() < 0.5 else f"{values[row]:g}" for row, cell in enumerate(cells)]
        random.shuffle(cells)
    numbers = {score: [float(cell) for cell in cells]} if plain else {}
    regular = known and named and plain and not ids
    return Made([item, score], {item: labels, score: cells}, item, score, numbers, [item], regular)


def _ids(random: Random, rows: int) -> list[str]:
    """Return whole numbers that name items, each once: Entrez-like, counted, or with leading zeros."""
    start = random.randrange(3)
    kinds = [str(number) for number in random.sample(range(1, 99_999), rows)], [str(start + row) for row in range(rows)]
    labels = random.choice(kinds)
    return [label.zfill(5) for label in labels] if random.random() < 0.1 else labels


def _words(random: Random, rows: int) -> list[str]:
    """Return names of one word or several, each once."""
    form = random.choice(("{}", "{}", "{} {}", "type {1} {0}", "{}{}", "{0}, {1}"))
    words = random.sample(WORDS, rows)
    if form == "{}":
        return words
    return [form.format(word, row) for row, word in enumerate(words)]


def _deviation(random: Random, made: Made, name: str) -> None:
    made.numbers[name] = [float(f"{random.uniform(0, 1):.3f}") for _ in made.cells[made.item]]
    _add(made, name, [str(value) for value in made.numbers[name]])


def _count(random: Random, made: Made, name: str) -> None:
    made.numbers[name] = [float(random.randrange(1, 50)) for _ in made.cells[made.item]]
    _add(made, name, [f"{value:.0f}" for value in made.numbers[name]])
    made.regular = False  # whole numbers may be ids


def _chromosome(random: Random, made: Made, name: str) -> None:
    rows = len(made.cells[made.item])
    cells = ["2", "X", *(random.choice(("1", "2", "17", "X", "Y")) for _ in range(rows - 2))]
    random.shuffle(cells)
    _add(made, name, cells)


def _share(random: Random, made: Made, name: str) -> None:
    _add(made, name, [f"{random.randrange(100)}%" for _ in made.cells[made.item]])


def _category(random: Random, made: Made, name: str) -> None:
    rows = len(made.cells[made.item])
    _add(made, name, ["low", "low", *(random.choice(("low", "high")) for _ in range(rows - 2))])


def _description(random: Random, made: Made, name: str) -> None:
    _add(made, name, [f"the {word}, or so" for word in random.sample(WORDS, len(made.cells[made.item]))])
    made.labels.append(name)


def _add(made: Made, name: str, cells: list[str]) -> None:
    made.names.append(name)
    made.cells[name] = cells


EXTRAS: dict[str, Callable[[Random, Made, str], None]] = {
    "std": _deviation,
    "count": _count,
    "chrom": _chromosome,
    "stage": _chromosome,
    "share": _share,
    "level": _category,
    "description": _description,
}


def _delimited(random: Random, made: Made) -> tuple[str, str, bytes, dict[str, Any]]:
    """Return a table as a delimited file, perhaps without a header, without quotes, or with one line damaged."""
    separator = random.choice(SEPARATORS)
    rows = [list(row) for row in zip(*(made.cells[name] for name in made.names), strict=True)]
    header = made.names
    if len(header) == 2 and header[0] == made.item and random.random() < 0.3:  # without a header the first is the item
        header = []
    elif len(header) == 2 and header[0] == made.item and random.random() < 0.2:  # as pandas writes an unnamed Series
        header = [random.choice((made.item, "")), "0"]
        made.numbers = dict(zip(["0"], made.numbers.values(), strict=False))
        made.score = "0"
    lines = [header, *rows] if header else rows
    quoted = random.random() < 0.8
    made.regular = made.regular and quoted and header == made.names
    if quoted:
        text = _written(lines, separator, random.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL)))
    else:
        text = "".join(separator.join(line) + "\n" for line in lines)
    if len(rows) > 3 and random.random() < 0.2:  # most rows show what the others should be
        text = _damaged(random, text, separator)
        made.regular = False
    kind = f"{'comma' if separator == ',' else 'other'}{'' if quoted else ', unquoted'}"
    name = random.choice(("made.csv", "made.csv", "made.tsv", "made.txt"))
    return kind, name, text.encode(), made.truth() | ({} if header else {"score": None})


def _written(lines: list[list[str]], separator: str, quoting: Any) -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator, quoting=quoting, lineterminator="\n").writerows(lines)
    return stream.getvalue()


def _damaged(random: Random, text: str, separator: str) -> str:
    """Return a table with one line that is longer or shorter than the others, or with a quote that is not closed."""
    lines = text.splitlines()
    at = random.randrange(1, len(lines))
    cells = lines[at].split(separator)
    column = random.randrange(len(cells))
    damage = random.choice(("quote", "longer", "shorter", "blank"))
    if damage == "quote" and '"' not in lines[at].replace(cells[column], "", 1):
        cells[column] = cells[column][:-1] if cells[column].endswith('"') else f'"{cells[column]}'
    elif damage == "longer":
        cells.append("more")
    elif damage == "shorter" and len(cells) > 1 and '"' not in lines[at]:
        del cells[column]
    joined = " ".join(cells) if damage == "blank" else separator.join(cells)
    return "\n".join([*lines[:at], joined, *lines[at + 1 :], ""])


def agrees(answer: list[tuple[str, list[str], list[float]]] | None, truth: dict[str, Any]) -> str:
    """Return what is wrong with an answer, empty if nothing is: rankings by name, None if the table was refused."""
    if answer is None:
        return "a regular table must be read" if truth["regular"] else ""
    columns = {name: list(map(repr, values)) for name, values in truth["numbers"].items()}
    # Beside another column of labels, numeric ids of an unknown name are one of several columns of numbers.
    ids = truth["labels"][0]
    if truth["unknown"] and all(map(str.isdecimal, ids)) and any(items != ids for _, items, _ in answer):
        columns["ids"] = [repr(float(label)) for label in ids]
    found = [list(map(repr, scores)) for _, _, scores in answer]
    for _, items, _ in answer:
        if items not in truth["labels"]:
            return f"items must be those of a column of labels; got {items[:5]}"
    for name, _, scores in answer:
        if list(map(repr, scores)) not in columns.values():
            return f"scores must be those of a column of numbers; got {scores[:5]} for {name!r}"
    needed = truth["score"] if truth["score"] is not None else next(iter(columns), None)
    if needed not in columns:
        return "scores that are not plain numbers must be refused"
    return "" if columns[needed] in found else f"the scores {needed!r} must not be skipped"
