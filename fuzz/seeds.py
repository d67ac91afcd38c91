"""Small valid files of every format that fujiscore reads: what the mutations start from."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import json
import warnings
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import feather, parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ITEMS = ("BRCA1", "TP53", "EGFR", "KRAS", "MYC", "PTEN", "RB1", "x y")
SCORES = (0.93, 0.5, 0.41, 0.3, 0.3, 0.25, 1e-3, 0.0)
OTHERS = (3.0, 4.0, 2.5, 0.0, 1.0, 7.0, 0.5, 12.0)
PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": (".gz", lambda content: gzip.compress(content, mtime=0)),
    "zstd": (".zst", lambda content: pa.compress(content, codec="zstd", asbytes=True)),
}


@dataclass(frozen=True)
class Seed:
    """A valid file: its format (a word of the summary), name and content, and how to read it."""

    format: str
    name: str
    content: bytes
    data: bool = False  # features and a target, not rankings
    binary: bool = False
    packing: str = ""  # the content is compressed after it was mutated
    options: tuple[tuple[str, str], ...] = ()  # what reading it needs

    def pack(self, content: bytes) -> bytes:
        """Return content, compressed if that is the format."""
        return PACKED[self.packing][1](content) if self.packing else content


def seeds() -> list[Seed]:
    """Return all seeds; the same ones in every run."""
    plain = [*_delimited(), *_lists(), *_documents(), *_columnar(), *_data()]
    some = [seed for seed in plain if not seed.data and seed.format != "list"][::4]
    packed = [
        Seed(packing, seed.name + suffix, seed.content, binary=seed.binary, packing=packing)
        for packing, (suffix, _) in PACKED.items()
        for seed in some
    ]
    return [*plain, *packed]


def _table(rows: list[list[Any]], separator: str = ",", end: str = "\n", quoting: Any = csv.QUOTE_MINIMAL) -> str:
    """Return rows as a delimited file."""
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)
    return text.getvalue()


def _delimited() -> Iterator[Seed]:
    """Yield delimited files of rankings: separators, quotes, headers, encodings and line ends."""
    one = [["gene", "score"], *([item, score] for item, score in zip(ITEMS, SCORES, strict=True))]
    two = [["gene", "relief", "forest"], *([*row] for row in zip(ITEMS, SCORES, OTHERS, strict=True))]
    long = [["method", "gene", "score"]]
    long += [[name, *row] for name, of in (("a", SCORES), ("b", OTHERS)) for row in zip(ITEMS, of, strict=True)]
    for position, separator in enumerate(",\t;| "):
        suffix = ".tsv" if separator == "\t" else ".csv"
        for kind, rows in (("one", one), ("two", two), ("long", long), ("bare", one[1:])):
            yield Seed("csv", f"{kind}{position}{suffix}", _table(rows, separator).encode())
    yield Seed("csv", "quoted.csv", _table(two, quoting=csv.QUOTE_ALL).encode())
    yield Seed("csv", "crlf.csv", _table(two, end="\r\n").encode())
    yield Seed("csv", "gaps.csv", _table([*two, ["ERBB2", "", "NA"], ["ALK", "nan", -1]]).encode())
    yield Seed("csv", "indexed.csv", _table([["", *two[0]], *([n, *row] for n, row in enumerate(two[1:]))]).encode())
    yield Seed("csv", "rownames.tsv", _table([two[0][1:], *two[1:]], "\t").encode())
    yield Seed("csv", "p.csv", _table([["id", "p_value"], *one[1:]]).encode())
    accents = _table([["gène", "größe"], *one[1:], ["Žiga", 5]])
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "cp1250"):
        yield Seed("csv", f"{encoding}.csv", accents.replace("è", "e").encode(encoding))


def _lists() -> Iterator[Seed]:
    """Yield lists of items, best first, and documents of other shapes that hold one."""
    yield Seed("list", "items.txt", "\n".join(ITEMS[:-1]).encode())
    yield Seed("list", "headed.csv", "\n".join(("item", *ITEMS)).encode())
    yield Seed("list", "numbers.csv", b"item\n12\n5\n7\n1\n")
    yield Seed("list", "items.json", json.dumps(ITEMS).encode())


def _documents() -> Iterator[Seed]:
    """Yield JSON, .fimp and TREC files."""
    one, other = dict(zip(ITEMS, SCORES, strict=True)), dict(zip(ITEMS[::-1], OTHERS, strict=True))
    records = [{"gene": item, "relief": one[item], "forest": other[item]} for item in ITEMS]
    yield Seed("json", "object.json", json.dumps(one).encode())
    yield Seed("json", "indented.json", json.dumps({"a": one, "b": other}, indent=1).encode())
    yield Seed("json", "records.json", json.dumps(records).encode())
    yield Seed("json", "gaps.json", json.dumps([*records, {"gene": "ALK", "relief": None}, {"gene": "RET"}]).encode())
    yield Seed("json", "unnamed", json.dumps({"a": one, "b": other}).encode())
    rows = [f"{n}\t{item}\t[{n}]\t[{score}]" for n, (item, score) in enumerate(one.items(), 1)]
    for name, head in (("ranking.fimp", "Ranking of features\n"), ("rule.txt", "")):
        yield Seed("fimp", name, "\n".join((head + "-" * 30, *rows, "9\tALK\t[9]\t[-0.1]", "")).encode())
    for separator, name in ((" ", "run.trec"), ("\t", "run.run"), (" ", "run.txt")):
        lines = [
            separator.join((query, "Q0", item.replace(" ", "_"), str(rank), repr(score), "bm25"))
            for query, of in (("q1", SCORES), ("q2", OTHERS))
            for rank, (item, score) in enumerate(zip(ITEMS, of, strict=True), 1)
        ]
        yield Seed("trec", name, "\n".join((*lines, "")).encode())


def _columns() -> dict[str, pa.Array]:
    """Return columns of eight rows of many Arrow types."""
    moments = [dt.datetime(2020, 1, day, tzinfo=dt.UTC) for day in range(1, 9)]
    return {
        "string": pa.array(ITEMS),
        "large_string": pa.array(ITEMS, pa.large_string()),
        "dictionary": pa.array(ITEMS).dictionary_encode(),
        "int64": pa.array(range(8), pa.int64()),
        "large_int": pa.array([2**53 + n for n in range(8)], pa.int64()),
        "numbered": pa.array([30, 10, 10, 20, 40, 20, 30, 50], pa.int16()).dictionary_encode(),
        "gaps": pa.array([*ITEMS[:6], None, "NA"]),
        "binary": pa.array([item.encode() for item in ITEMS]),
        "timestamp": pa.array(moments),
        "date": pa.array([moment.date() for moment in moments]),
        "null": pa.nulls(8),
        "bool": pa.array([True, False] * 4),
        "double": pa.array(SCORES),
        "float": pa.array(OTHERS, pa.float32()),
        "half": pa.array(OTHERS, pa.float16()),
        "holes": pa.array([None, *OTHERS[1:7], float("nan")]),
        "decimal": pa.array([Decimal(n) / 8 for n in range(8)], pa.decimal128(9, 4)),
        "uint64": pa.array([2**64 - 1 - n for n in range(8)], pa.uint64()),
        "int8": pa.array([5, 4, 3, 2, 1, 0, -1, 7], pa.int8()),
        "list": pa.array([[n] for n in range(8)]),
        "struct": pa.array([{"a": n} for n in range(8)]),
        "duration": pa.array([dt.timedelta(n) for n in range(8)]),
    }


def _tables() -> Iterator[tuple[str, pa.Table]]:
    """Yield tables of rankings: columns of items of each type beside some scores, and scores of each type."""
    columns = _columns()
    for name, column in columns.items():
        yield f"item-{name}", pa.table({"item": column, "score": columns["double"], "other": columns["int8"]})
        if name not in {"large_string", "dictionary", "gaps", "binary", "date", "struct", "duration"}:
            yield f"score-{name}", pa.table({"item": columns["string"], "score": column})
    chunks = [pa.table({"gene": columns[kind], "score": columns["double"]}) for kind in ("string", "string")]
    yield "chunks", pa.concat_tables([chunks[0].slice(0, 3), chunks[1].slice(3)])
    ranking = pa.array(["a", "b"] * 4).dictionary_encode()
    yield "long", pa.table({"method": ranking, "gene": columns["string"], "score": columns["double"]})
    yield "empty", chunks[0].slice(0, 0)
    yield "nothing", pa.table({})


def _columnar() -> Iterator[Seed]:
    """Yield Parquet and Feather files: of all types, compressed and not."""
    for number, (name, table) in enumerate(_tables()):
        stored = io.BytesIO()
        options = {"use_dictionary": number % 2 == 1, "store_schema": number % 4 > 1}
        parquet.write_table(table, stored, compression=("none", "none", "snappy", "zstd")[number % 4], **options)
        yield Seed("parquet", f"{name}.parquet", stored.getvalue(), binary=True)
        for compression in ("uncompressed", "uncompressed", "lz4", "zstd")[number % 2 :: 2]:
            stored = io.BytesIO()
            feather.write_feather(table, stored, compression=compression)
            yield Seed("feather", f"{name}.feather", stored.getvalue(), binary=True)
    for name in ("string", "int64"):
        stored = io.BytesIO()
        with warnings.catch_warnings(action="ignore"):  # pyarrow discourages version 1, which people still have
            feather.write_feather(pa.table({"item": _columns()[name], "score": SCORES}), stored, version=1)
        yield Seed("feather", f"{name}.v1.feather", stored.getvalue(), binary=True)


def _data() -> Iterator[Seed]:
    """Yield data sets: features of numbers, gaps and categories, and a target."""
    rows = [
        [round(0.37 * n % 3, 2), "" if n == 3 else n % 4, ("red", "green", "blue")[n % 3], ("yes", "no")[n % 5 < 2]]
        for n in range(12)
    ]
    names = ["width", "level", "colour", "class"]
    target = (("target", "class"),)
    for name, separator in (("data.csv", ","), ("data.tsv", "\t"), ("semicolon.csv", ";")):
        yield Seed("data-csv", name, _table([names, *rows], separator).encode(), data=True, options=target)
    numbers = [[*row[:1], n % 4, row[0] * 2 - 1, n % 3] for n, row in enumerate(rows)]
    yield Seed("data-csv", "numbers.csv", _table([names, *numbers]).encode(), data=True, options=target)
    columns = {
        name: [None if value == "" else value for value in column]
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }
    table = pa.table(columns)
    for name in ("dictionary", "timestamp", "bool", "decimal", "null", "list", "binary", "uint64", "half"):
        values = _columns()[name].take(pa.array([n % 4 for n in range(12)]))
        stored = io.BytesIO()
        parquet.write_table(table.append_column(name, values), stored, compression="none")
        yield Seed("data-parquet", f"{name}.parquet", stored.getvalue(), data=True, binary=True, options=target)
        stored = io.BytesIO()
        feather.write_feather(table.append_column(name, values), stored, compression="uncompressed")
        yield Seed("data-feather", f"{name}.feather", stored.getvalue(), data=True, binary=True, options=target)
    kinds = ("real", "integer", "{red, green, blue}", "{yes, 'no'}")
    head = [
        "% a comment",
        "@relation cars",
        *(f"@attribute {name} {kind}" for name, kind in zip(names, kinds, strict=True)),
        "@data",
    ]
    lines = [",".join("?" if value == "" else str(value) for value in row) for row in rows]
    yield Seed("arff", "data.arff", "\n".join((*head, *lines, "")).encode(), data=True, options=target)
    quoted = [line.replace("red", "'red'").replace("yes", '"yes"') for line in lines]
    yield Seed("arff", "quoted.arff", "\n".join((*head, *quoted, "")).encode(), data=True, options=target)
    pairs = [f"{n % 2} 1:{row[0]} 3:{n} # {n}" if n % 3 else f"{n % 2} 2:1 4:{row[0]}" for n, row in enumerate(rows)]
    yield Seed("libsvm", "data.libsvm", "\n".join(pairs).encode(), data=True)
    yield Seed(
        "libsvm", "ranked.svm", "\n".join(f"{n % 2} qid:1 0:{n} 1:{n * n % 7}" for n in range(9)).encode(), data=True
    )
