"""Files to rankings: every format and layout, the guesses about columns, and an error for everything that is wrong."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

from fujiscore.errors import InputError, MissingExtraError
from fujiscore.io import documents, load, read

HERE = Path(__file__).parents[1]
RULE = "-" * 100
LABELS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=12)
SCORES = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.integers(-5, 5).map(float))
TABLES = st.dictionaries(LABELS, st.lists(SCORES, min_size=3, max_size=3), min_size=1, max_size=12)


@contextmanager
def without_pyarrow():
    """Let every import of pyarrow fail, as where it is not installed."""
    with mock.patch.dict(sys.modules, {"pyarrow": None}):
        yield


@pytest.fixture(params=["pyarrow", "csv"])
def engine(request):
    """Run a test with pyarrow and without."""
    if request.param == "pyarrow":
        yield
    else:
        with without_pyarrow():
            yield


@pytest.fixture(autouse=True)
def _pyarrow_for_small_files(monkeypatch):
    """Read small delimited files through pyarrow too, so that both ways are tested on the same files."""
    monkeypatch.setattr(documents, "SMALL", 0)


def held(loaded):
    """Return what was loaded as plain Python: name to item to score."""
    return {own.name: dict(zip(own.items, own.scores.tolist(), strict=True)) for own in loaded.sources}


def same(found, expected):
    """Return whether two lists of floats are equal, NaN included."""
    return len(found) == len(expected) and all(a == b or (a != a and b != b) for a, b in zip(found, expected))  # noqa: B905, PLR0124


def fails(path, *needles, **options):
    """Check that loading fails with one or two lines that hold all the needles."""
    with pytest.raises(InputError) as caught:
        load(path, **options)
    message = str(caught.value)
    assert message.count("\n") < 2
    assert message.endswith((".", "?"))
    for needle in needles:
        assert needle in message, message


# Formats


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("separator", [",", "\t", ";", "|", " "])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt", "a"])
@pytest.mark.usefixtures("engine")
def test_delimited(write, name, separator, mark, ending):
    lines = [["gene", "weight"], ["TP53", "0.5"], ["7", "-2e3"]]
    path = write(name, mark + "".join(separator.join(line) + ending for line in lines))
    loaded = load(path)
    assert held(loaded) == {"a": {"TP53": 0.5, "7": -2000.0}}
    assert loaded.notes == ("item column 'gene', score column 'weight'",)
    assert loaded.sources[0].origin == f"{path}, column 'weight'"
    assert loaded.sources[0].scores.dtype == np.float64
    assert loaded.sources[0].scores.flags.writeable


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("pack", [lambda content: content, gzip.compress])
def test_encodings_and_gzip(write, encoding, pack):
    path = write("x.csv.gz", pack("item,score\né,1\nж,2\n".encode(encoding)))
    assert held(load(path)) == {"x": {"é": 1.0, "ж": 2.0}}


@pytest.mark.parametrize("name", ["x.csv.zst", "x.json.zst", "x.parquet.zst"])
def test_zstd(write, name):
    buffer = io.BytesIO()
    parquet.write_table(pa.table({"item": ["a", "b"], "score": [1.0, 2.0]}), buffer)
    content = {"csv": b"item,score\na,1\nb,2\n", "json": b'{"a": 1, "b": 2}', "parquet": buffer.getvalue()}
    path = write(name, pa.compress(content[name.split(".")[1]], codec="zstd", asbytes=True))
    assert held(load(path)) == {"x": {"a": 1.0, "b": 2.0}}
    with without_pyarrow(), pytest.raises(MissingExtraError, match=r"zstd needs pyarrow: pip install 'fujiscore\[par"):
        load(path)
    path.write_bytes(path.read_bytes()[:-4])
    fails(path, "must be a complete compressed file; it is damaged or truncated (it ends too early)")


@pytest.mark.usefixtures("engine")
def test_missing_and_infinite_scores(write):
    text = "item,score\na,NaN\nb,NA\nc,\nd,inf\ne,-inf\nf,+1\ng, 2 \nh,nan\ni,1e400\nj,.5\n"
    found = load(write("x.csv", text)).sources[0]
    nan = math.nan
    assert same(found.scores.tolist(), [nan, nan, nan, math.inf, -math.inf, 1.0, 2.0, nan, math.inf, 0.5])


@pytest.mark.usefixtures("engine")
def test_quotes_are_those_of_csv(write):
    path = write("x.csv", 'item,score\n"a,b",1\n"c""d",2\ne"f,3\n"g h",4\n"NA","5"\n')
    assert held(load(path)) == {"x": {"a,b": 1.0, 'c"d': 2.0, 'e"f': 3.0, "g h": 4.0, "NA": 5.0}}


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_parquet_and_feather(tmp_path, kind):
    table = pa.table(
        {
            "gene": pa.chunked_array([["a", "b"], ["c"]]),
            "relief": pa.array([1, None, 3], pa.int32()),
            "rank": [1, 2, 3],
            "forest": pa.array([0.5, math.inf, None], pa.float32()),
            "chosen": [True, False, True],
        }
    )
    path = tmp_path / f"x.{kind}"
    (parquet.write_table if kind == "parquet" else feather.write_feather)(table, path)
    loaded = load(path)
    assert [own.name for own in loaded.sources] == ["relief", "forest"]
    assert same(loaded.sources[0].scores.tolist(), [1.0, math.nan, 3.0])
    assert same(loaded.sources[1].scores.tolist(), [0.5, math.inf, math.nan])
    assert list(loaded.sources[0].items) == ["a", "b", "c"]
    assert loaded.notes[0].endswith("left out 'rank' (not a score), 'chosen' (text)")
    assert held(load(f"{path}:rank")) == {"rank": {"a": 1.0, "b": 2.0, "c": 3.0}}
    with without_pyarrow(), pytest.raises(MissingExtraError, match=r"pip install 'fujiscore\[parquet\]'"):
        load(path)


@pytest.mark.parametrize(
    "items", [pa.array([3, 1, 2]), pa.array(["3", "1", "2"]).dictionary_encode(), pa.array(["3", "1", "2"])]
)
def test_labels_are_text_whatever_the_column(tmp_path, items):
    parquet.write_table(pa.table({"id": items, "w": [1.0, 2.0, 3.0]}), tmp_path / "x.parquet")
    (tmp_path / "y.csv").write_text("id,w\n1,5\n2,6\n3,7\n")
    found = read([tmp_path / "x.parquet", tmp_path / "y.csv"])
    assert list(found.labels) == ["3", "1", "2"]
    assert found["y"].scores.tolist() == [7.0, 5.0, 6.0]


def test_labels_that_arrow_cannot_turn_into_text(tmp_path):
    parquet.write_table(pa.table({"item": [[1, 2], [3]], "score": [1.0, 2.0]}), tmp_path / "x.parquet")
    assert held(load(tmp_path / "x.parquet")) == {"x": {"[1, 2]": 1.0, "[3]": 2.0}}


def test_long_tables_in_several_chunks(tmp_path):
    n = 100_000
    columns = {"query": [at % 7 for at in range(n)], "item": [f"i{at // 7}" for at in range(n)], "w": list(range(n))}
    parquet.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=9999)
    expected: dict = {}
    for by, label, score in zip(*columns.values(), strict=True):
        expected.setdefault(str(by), {})[label] = float(score)
    assert held(load(tmp_path / "x.parquet")) == expected


def test_an_arrow_column_of_labels_is_a_sequence(write):
    items = load(write("x.csv", "item,score\na,1\nb,2\nc,3\n")).sources[0].items
    again = load(write("y.csv", "item,score\na,1\nb,2\nc,3\n")).sources[0].items
    assert (len(items), items[0], items[-1], items[1:], items.index("b"), "z" in items) == (
        3,
        "a",
        "c",
        ["b", "c"],
        1,
        False,
    )
    assert items == again
    assert items == ["a", "b", "c"]
    assert items != ["a", "b"]
    assert repr(items) == "['a', 'b', 'c']"


def test_json(write):
    assert held(load(write("x.json", '{"a": 1, "b": 2.5, "c": "inf"}'))) == {"x": {"a": 1.0, "b": 2.5, "c": math.inf}}
    assert same(load(write("x.json", '{"a": NaN, "b": null, "c": "NaN"}')).sources[0].scores.tolist(), [math.nan] * 3)
    path = write("x.json", '{"r": {"a": 1, "b": 2}, "s": {"b": 3}}')
    assert held(load(path)) == {"r": {"a": 1.0, "b": 2.0}, "s": {"b": 3.0}}
    assert held(load(f"{path}:s")) == held(load(path, score="s")) == {"s": {"b": 3.0}}
    path = write("x.json", '[{"item": "1", "score": 2, "rank": 1}, {"score": 1, "item": "b"}]')
    assert held(load(path)) == {"x": {"1": 2.0, "b": 1.0}}
    assert load(path).notes == ("item column 'item', score column 'score'; left out 'rank' (not a score)",)
    assert held(load(write("noext", '{"a": 1}'))) == {"noext": {"a": 1.0}}


def test_fimp(write):
    text = f"Some\nmeta-data\n{RULE}\n1\ta\t[1]\t[0.5]\n2\tb c\t[2]\t[-Infinity]\n"
    for name in ("x.fimp", "x.txt"):
        loaded = load(write(name, text))
        assert held(loaded) == {"x": {"a": 0.5, "b c": -math.inf}}
        assert loaded.notes == ()
    assert held(load(f"{write('x.fimp', text)}:rank")) == {"rank": {"a": 1.0, "b c": 2.0}}


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("separator", [" ", "\t", "  "])
@pytest.mark.parametrize("name", ["x.trec", "x.run", "x.bm25"])
def test_trec(write, name, separator):
    rows = ["301 Q0 d1 1 10.5 t", '301 Q0 "d2 2 9 t', "302 Q0 d1 1 3 t", "301 Q0 d3 3 -1 t"]
    path = write(name, "\n".join(row.replace(" ", separator) for row in rows))
    loaded = load(path)
    assert held(loaded) == {"301": {"d1": 10.5, '"d2': 9.0, "d3": -1.0}, "302": {"d1": 3.0}}
    assert loaded.notes == ()
    assert loaded.sources[1].origin == f"{path}, query '302'"
    assert held(load(f"{path}:302")) == {"302": {"d1": 3.0}}
    fails(f"{path}:303", "must name a ranking; got '303'", "Did you mean '302' or '301'?")


def test_the_published_rankings(shared):
    paths = sorted((shared / "data" / "published_rankings").glob("*.fimp"))
    assert len(paths) == 96
    for path in paths:
        expected = {}
        for line in path.read_text().splitlines()[2:]:
            _, name, _, score = line.split("\t")
            expected[name] = float(score.strip("[]"))
        assert held(load(path)) == {path.stem: expected}


def test_the_examples():
    folder = HERE.parent / "examples"
    files = [path for path in folder.iterdir() if path.suffix in {".csv", ".trec"}]
    assert sum(path.stat().st_size for path in files) < 60_000
    pair = read([folder / "model_a.csv", folder / "model_b.csv"])
    assert (pair.names, pair.n) == (("model_a", "model_b"), 30)
    assert (len(read(folder / "scores.csv")), read(folder / "scores.csv").n) == (4, 64)
    for name in ("forest", "tree"):
        found = read(folder / f"resamples_{name}.csv")
        assert (len(found), found.n, found.names[11]) == (12, 30, "resample_12")
    for name in ("run_a", "run_b"):
        loaded = load(folder / f"{name}.trec")
        assert [(own.name, len(own.items)) for own in loaded.sources] == [("q1", 10), ("q2", 10), ("q3", 10)]


def test_pyarrow_loads_only_for_files_that_need_it(write):
    code = (
        "import sys; from fujiscore.io import load; [load(path) for path in sys.argv[1:]]; "
        "assert not {'pyarrow', 'pandas', 'numba'} & set(sys.modules)"
    )
    paths = [write("x.json", '{"a": 1}'), write("x.fimp", f"meta\n{RULE}\n1\ta\t[1]\t[2]\n")]
    subprocess.run([sys.executable, "-c", code, *paths], check=True)


# Layouts and guesses


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("text", "names", "guess"),
    [
        ("a,1\nb,2\n", ["x"], "no header: item column '1', score column '2'"),
        ("1,0.5\n2,0.7\n", ["x"], "no header: item column '1', score column '2'"),
        ("a,NA\nb,2\n", ["x"], "no header: item column '1', score column '2'"),
        (",0\na,1\nb,2\n", ["x"], "item column '', score column '0'"),
        ("user,w\n10,1\n11,2\n", ["x"], "item column 'user', score column 'w'"),
        ("w,user\n1,a\n2,b\n", ["x"], "item column 'user', score column 'w'"),
        ("GENE,1,2\na,1,2\nb,2,3\n", ["1", "2"], "item column 'GENE', score columns '1', '2'"),
        (",gene,w\n0,a,1\n1,b,2\n", ["x"], "item column 'gene', score column 'w'; left out '' (labels)"),
        ('"w"\n"a",1\n"b",2\n', ["x"], "item column '', score column 'w'"),
        ("item,fold,w\na,1,2\nb,1,3\n", ["x"], "item column 'item', score column 'w'; left out 'fold' (not a score)"),
        ("id,kind,w\n1,p,2\n2,p,3\n", ["x"], "item column 'id', score column 'w'; left out 'kind' (text)"),
        ("method,gene,score,p\nr,a,1,2\ns,a,1,3\n", ["r", "s"], "ranking column 'method', item column 'gene', "),
        ("qid,docid,w\n1,7,2\n2,7,3\n", ["1", "2"], "ranking column 'qid', item column 'docid', score column 'w'"),
        ("method,w,t\nr,1,2\ns,1,3\n", ["w", "t"], "item column 'method', score columns 'w', 't'"),
        ("chromosome,w\n1,5\nX,6\n", ["x"], "item column 'chromosome', score column 'w'"),
    ],
)
def test_guesses(write, text, names, guess):
    loaded = load(write("x.csv", text))
    assert [own.name for own in loaded.sources] == names
    assert loaded.notes[0].startswith(guess)
    assert guess.endswith(", ") or loaded.notes == (guess,)


@pytest.mark.usefixtures("engine")
def test_long_tables(write):
    path = write("x.csv", "ranking,item,score,p\nr,a,1,5\ns,a,2,6\nr,b,3,7\ns,c,4,8\n")
    expected = {"r": {"a": 1.0, "b": 3.0}, "s": {"a": 2.0, "c": 4.0}}
    assert held(load(path)) == held(load(path, ranking="ranking", item="item", score="score")) == expected
    assert load(path, ranking="ranking", item="item", score="score").notes == ()
    assert load(path).sources[1].origin == f"{path}, ranking 's'"
    both = held(load(path, score=["score", "p"]))
    assert both == {"r:score": expected["r"], "r:p": {"a": 5.0, "b": 7.0}} | {
        "s:score": expected["s"],
        "s:p": {"a": 6.0, "c": 8.0},
    }
    numbered = write("y.csv", "ranking,item,score\n1,a,1\n2,a,2\n")
    fails(numbered, "lines 2 and 3", "'a' occurs twice", "pass ranking='ranking'", "duplicates='max'")
    assert held(load(numbered, ranking="ranking")) == {"1": {"a": 1.0}, "2": {"a": 2.0}}


@pytest.mark.usefixtures("engine")
def test_chosen_columns(write):
    path = write("x.csv", "gene,a,rank,b\np,1,2,3\nq,4,5,6\n")
    assert held(load(path, score="rank")) == {"x": {"p": 2.0, "q": 5.0}}
    assert held(load(path, item="a", score=["b"])) == {"b": {"1": 3.0, "4": 6.0}}
    assert load(path, item="a", score=["b"]).notes == ()
    assert held(load(f"{path}:b")) == {"b": {"p": 3.0, "q": 6.0}}
    assert load(f"{path}:b").notes == ("item column 'gene', score column 'b'",)
    odd = write("x.csv:b", "item,score\nz,9\n")
    assert held(load(odd)) == {"x": {"z": 9.0}}
    fails(f"{path}:c", "must name a column; got 'c'", score=None)
    fails(f"{path}:a", "score must not be given with", score="b")


def test_a_flaw_beyond_the_sample_is_found_with_its_line(write):
    body = [f"i{k},{k}" for k in range(50_000)]
    body[40_000] = "i40000,oops"
    fails(write("x.csv", "item,score\n" + "\n".join(body)), "line 40002, column 'score'", "'oops'")
    body[40_000] = "i7,1"
    fails(write("x.csv", "item,score\n" + "\n".join(body)), "lines 9 and 40002", "'i7' occurs twice")
    body[40_000] = "i40000,1,2"
    fails(write("x.csv", "item,score\n" + "\n".join(body)), "line 40002 must have 2 fields", "it has 3")
    body[40_000] = "i\xff,1"
    fails(write("x.csv", ("item,score\n" + "\n".join(body)).encode("latin-1")), "line 40002 must be UTF-8")
    table = pa.table({"item": ["a"] * 2, "score": [1.0, 2.0]})
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    fails(write("x.parquet", buffer.getvalue()), "rows 1 and 2: column 'item'", "'a' occurs twice")


# Round trips


@given(TABLES, st.sampled_from([",", "\t", ";", "|"]), st.sampled_from(["\n", "\r\n"]))
def test_csv_round_trip(tmp_path_factory, table, separator, ending):
    path = tmp_path_factory.mktemp("round") / "x.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator, lineterminator=ending)
        writer.writerows([["item", "r", "s", "t"], *([label, *map(repr, row)] for label, row in table.items())])
    fast = load(path, item="item", score=["r", "s", "t"])
    with without_pyarrow():
        slow = load(path, item="item", score=["r", "s", "t"])
    for loaded in (fast, slow):
        for at, own in enumerate(loaded.sources):
            assert list(own.items) == list(table)
            assert same(own.scores.tolist(), [row[at] for row in table.values()])


@given(st.text(st.sampled_from('ab1.,;"\t\n\r -e'), max_size=40))
def test_pyarrow_and_the_csv_module_read_alike(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("alike") / "x.csv"
    path.write_bytes(b"item,score\n" + text.encode())

    def outcome():
        try:
            return [(own.name, list(own.items), own.scores.tolist()) for own in load(path).sources]
        except InputError as error:
            return str(error)

    fast = outcome()
    with without_pyarrow():
        assert repr(fast) == repr(outcome())


@given(TABLES)
def test_parquet_and_json_round_trips(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("round")
    names = ("r", "s", "t")
    columns = {name: [row[at] for row in table.values()] for at, name in enumerate(names)}
    parquet.write_table(pa.table({"item": list(table), **columns}), folder / "x.parquet")
    feather.write_feather(pa.table({"item": list(table), **columns}), folder / "x.feather")
    objects = {name: dict(zip(table, own, strict=True)) for name, own in columns.items()}
    (folder / "x.json").write_text(json.dumps(objects))
    records = [{"item": label, **dict(zip(names, row, strict=True))} for label, row in table.items()]
    (folder / "y.json").write_text(json.dumps(records), encoding="utf-8")
    for path in sorted(folder.iterdir()):
        loaded = load(path)
        assert [own.name for own in loaded.sources] == list(names)
        for own in loaded.sources:
            assert list(own.items) == list(table)
            assert same(own.scores.tolist(), columns[own.name])


LONG = st.lists(
    st.tuples(st.sampled_from("rst"), LABELS, st.integers(-9, 9)), min_size=1, unique_by=lambda row: row[:2]
)


@given(LONG)
def test_long_round_trip(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("long") / "x.parquet"
    columns = list(zip(*rows, strict=True))
    parquet.write_table(pa.table(dict(zip(("ranking", "item", "score"), map(list, columns), strict=True))), path)
    expected: dict = {}
    for by, label, score in rows:
        expected.setdefault(by, {})[label] = float(score)
    found = held(load(path))
    assert found == expected
    assert [list(own) for own in found.values()] == [list(own) for own in expected.values()]
    assert list(found) == list(expected)


# Errors


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("text", "needles"),
    [
        ("", ["x.csv must hold rankings or data; it is empty"]),
        (" \n\n", ["it is empty"]),
        (b"\xff\xfe", ["it is empty"]),
        ("item,score\n", ["at least one row; it has no rows beneath its header"]),
        ("item\n", ["at least one row; it has no rows beneath its header"]),
        ("0.5\n0.25\n", ["must name its items", "holds numbers", "pass item='1'"]),
        ("a:0.5\nb:.25\n", ["separated by comma, tab, semicolon", "'a:0.5'"]),
        ("one word 1\nanother 2\n", ["separated by comma, tab, semicolon", "'one word 1'"]),
        ("item,score\na,1\nb,abc\n", ["line 3, column 'score' must hold a number; got 'abc'"]),
        ("item,score\na,x\nb,y\n", ["line 2, column 'score' must hold a number; got 'x'"]),
        ("item,score\na,1\nb,1_000\n", ["line 3, column 'score'", "'1_000'"]),
        ("gene,r,s\na,1,2\nb,2,x\nc,3,4\n", ["line 3, column 's' must hold a number; got 'x'"]),
        ("item;score\na;0,5\nb;0,7\n", ["line 2, column 'score'", "'0,5'", "decimal point"]),
        ("item,score\na,1\n\nb,2\na,3\n", ["lines 2 and 5", "'a' occurs twice"]),
        ("item,score\na,1\n,2\n", ["line 3, column 'item' must not be empty"]),
        ("item,score\na,1\nb,2,3\nc,4\n", ["line 3 must have 2 fields", "it has 3"]),
        ("item,score\na,1,2\nb,2\nc,4\n", ["line 2 must have 2 fields", "it has 3"]),
        ("a,b,c,d\nx,1\ny,2\n", ["line 1 must have 2 fields", "it has 4"]),
        ("a,1,2\nb,2,3\n", ["line 1 must name the 3 columns"]),
        ("item,a,a\nx,1,2\n", ["must name each column once; 'a' names columns 2 and 3"]),
        ("relief,forest\n0.1,0.2\n", ["names the items", "'relief', 'forest'", "with item"]),
        ("item,position\na,1\nb,2\n", ["'position' (not a score)", "where higher is better"]),
        ("item,note,more\na,x,y\n", ["'note' (text), 'more' (text)"]),
        ('token\tscore\n"\t1\nb\t2\n"\t3\nc\t4\n', ["lines 2 to 4 must be rows", "close every quote"]),
        ('item,score\n"a,1\nb,2\n', ["fields", "close every quote"]),
        (b"item,score\na,1\n\xe9,2\n", ["line 3 must be UTF-8", "Latin-1"]),
        ("item,score\na,1\n".encode("utf-16-le"), ["UTF-16 without a byte order mark"]),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", ["must be text, Parquet, Feather or NumPy", "binary"]),
        (
            gzip.compress(b"item,score\n" + bytes(range(48, 58)) * 999, mtime=0)[:-9],
            ["complete compressed file", "too early"],
        ),
        (gzip.compress(b"item,score\na,1\n", mtime=0)[:-8] + b"\1\1\1\1\1\1\1\1", ["complete compressed file", "CRC"]),
    ],
)
def test_errors_of_delimited_files(write, text, needles):
    fails(write("x.csv", text), "x.csv", *needles)


@pytest.mark.parametrize(
    ("name", "text", "needles"),
    [
        ("x.json", '{"a": 1,\n "b": }', ["line 2, column 7 must be JSON"]),
        ("x.json", "[1, 2]", ["a list with 1 in it", "list of records"]),
        ("x.json", "3", ["object of item to score", "only 3"]),
        ("x.json", '{"a": [1]}', ["'a' holds [1]"]),
        ("x.json", '{"a": {"x": {"y": 1}}}', ["'x' holds {'y': 1}"]),
        ("x.json", '{"a": {"x": 1}, "b": 2}', ["'a' holds an object and 'b' does not"]),
        ("x.json", '{"a": 1, "b": 2, "b": 3}', ["'b' occurs twice"]),
        ("x.json", '{"a": "high"}', ["item 1, column 'score' must hold a number; got 'high'"]),
        ("x.json", '{"a": true}', ["item 1, column 'score' must hold a number; got True"]),
        ("x.json", "{}", ["empty object"]),
        ("x.json", '{"r": {}}', ["ranking 'r' must hold at least one item"]),
        ("x.json", '{"": 1}', ["item 1, column 'item' must not be empty"]),
        ("x.json", "[]", ["empty list"]),
        ("x.json", "[" * 100_000, ["too many levels"]),
        ("x.json", '{"a": ' + "9" * 5000 + "}", ["ordinary length"]),
        ("x.json", '{"a": ' + "9" * 500 + "}", ["must hold a number; got 999"]),
        ("x.json", b'{"a": 1,\n"\xe9": 2}', ["line 2 must be UTF-8"]),
        ("x.json", '[{"item": "a", "score": 1}, {"item": "b", "score": "x"}]', ["record 2, column 'score'", "'x'"]),
        ("x.fimp", "index,name\n", ["line of dashes"]),
        ("x.fimp", f"meta\n{RULE}\n", ["no rows"]),
        ("x.fimp", f"meta\n{RULE}\n1\ta\t[1]\t[2]\n2\tb\t[1]\n", ["line 4 must be index, name, [rank] and [score]"]),
        ("x.fimp", f"meta\n{RULE}\n1\ta\t[1]\t2\n", ["line 3 must be index, name"]),
        ("x.fimp", f"meta\n{RULE}\n1\ta\t[1]\t[much]\n", ["line 3, column 'score'", "'much'"]),
        ("x.fimp", f"meta\n{RULE}\n1\ta\t[1]\t[2]\n1\ta\t[1]\t[2]\n", ["lines 3 and 4", "'a' occurs twice"]),
        ("x.trec", "1 Q0 a 1 2 t\n1 Q0 b 2\n", ["line 2 must be 'qid Q0 docid rank score tag'; got '1 Q0 b 2'"]),
        ("x.trec", "1 Q0 a 1 high t\n", ["line 1, column 'score'", "'high'"]),
        (
            "x.trec",
            "1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 a 2 2 t\n",
            ["lines 1 and 3", "in ranking '1'", "'a' occurs twice"],
        ),
        ("x.parquet", "PAR1 and then no more", ["complete Parquet file", "damaged"]),
        ("x.parquet", "item,score\na,1\n", ["must be a Parquet file", "first bytes"]),
        ("x.feather", b"ARROW1\0\0", ["complete Feather file", "damaged"]),
        ("x.json", "[null]", ["a list with None in it"]),
        ("x.json", '["a", 1]', ["a list with 'a' in it"]),
    ],
)
def test_errors_of_other_formats(write, name, text, needles):
    fails(write(name, text), name, *needles)


@pytest.mark.parametrize(
    ("columns", "needles"),
    [
        ({"item": ["a", "b"], "note": ["x", "y"], "day": ["u", "v"]}, ["'note' (text), 'day' (text)"]),
        ({"item": ["a", None], "score": [1.0, 2.0]}, ["row 2, column 'item' must not be empty"]),
        ({"ranking": ["r", None], "item": ["a", "b"], "score": [1.0, 2.0]}, ["row 2, column 'ranking' must not be"]),
        ({"method": ["r"], "item": ["a"], "p": [1], "q": [2]}, ["one column of scores", "'p', 'q'", "with score"]),
        ({"method": ["r"], "item": ["a"]}, ["row 1, column 'method' must hold a number; got 'r'"]),
        ({"item": ["a"], "score": [True]}, ["row 1, column 'score' must hold a number; got True"]),
        ({"item": ["a"], "score": ["x"]}, ["row 1, column 'score' must hold a number; got 'x'"]),
        ({"item": pa.array([], pa.string()), "score": pa.array([], pa.float64())}, ["no rows"]),
    ],
)
def test_errors_of_parquet(tmp_path, columns, needles):
    parquet.write_table(pa.table(columns), tmp_path / "x.parquet")
    fails(tmp_path / "x.parquet", "x.parquet", *needles)


def test_damage_beyond_a_parquet_header(write):
    buffer = io.BytesIO()
    parquet.write_table(pa.table({"item": [str(at) for at in range(5000)], "score": [1.0] * 5000}), buffer)
    content = bytearray(buffer.getvalue())
    content[20:4000] = bytes(3980)
    fails(write("x.parquet", bytes(content)), "x.parquet must be a complete Parquet file; it is damaged")


def test_unknown_columns_and_words(write):
    path = write("x.csv", "gene,weight\na,1\n")
    fails(path, "item must name a column; got 'gen'. Did you mean 'gene'?", "'gene', 'weight'", item="gen")
    fails(path, "score must name a column; got 'wieght'. Did you mean 'weight'?", score=["wieght"])
    fails(path, "ranking must name a column; got 'fold'. The columns are", ranking="fold")
    fails(path, "must be different columns", item="gene", score="gene")
    fails(path, "at least one column", score=[])
    fails(path, "format must be one of 'csv'", format="xml")
    objects = write("x.json", '{"r": {"a": 1}}')
    fails(objects, "score must name a ranking; got 'q'", score="q")
    fails(objects, "item must name a column; got 'a'", "'ranking', 'item', 'score'", item="a")
    fails(write("y.json", '{"a": 1}'), "score must name a column; got 'a'", score="a")


def test_files_that_cannot_be_opened(write, tmp_path):
    write("scores.csv", "a,1\n")
    fails(tmp_path / "score.csv", "there is none. Did you mean", "scores.csv?")
    fails(tmp_path / "zzz", "there is none. Check the path.")
    fails(tmp_path / "none" / "a.csv", "there is no folder")
    fails(tmp_path, "it is a folder")
    fails(tmp_path / ("n" * 300), "n" * 300)
    with pytest.raises(InputError, match="at least one file"):
        read([])


@pytest.mark.skipif(sys.platform == "win32", reason="access rights of POSIX")
def test_permission_denied(write):
    path = write("x.csv", "a,1\n")
    path.chmod(0)
    root = os.geteuid() == 0
    if root:  # who may read everything
        os.seteuid(65534)
    try:
        with pytest.raises(InputError, match="ermission"):
            load(path)
    finally:
        if root:
            os.seteuid(0)


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"item,score\na,1\nb,2\n"))))
    loaded = load("-")
    assert held(loaded) == {"stdin": {"a": 1.0, "b": 2.0}}
    assert loaded.sources[0].origin == "standard input, column 'score'"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes of POSIX")
@pytest.mark.usefixtures("engine")
def test_a_pipe_is_read_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("item,score\na,1\nb,2\n",))
    writer.start()
    assert held(load(path)) == {"pipe": {"a": 1.0, "b": 2.0}}
    writer.join()


@pytest.mark.skipif(sys.platform == "win32", reason="the peak of memory is POSIX's")
@pytest.mark.parametrize("start", [b"", b"item,score\na,1\n", b'item,score\n"'])
def test_a_huge_line_is_refused_in_little_memory(write, start):
    path = write("x.csv", start + b"a" * 100_000_000)
    code = (
        "import resource, sys\nfrom fujiscore.io import load\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024\n"
        "import pyarrow.csv; before = peak()\n"
        "try: load(sys.argv[1])\nexcept ValueError as error: print(peak() - before, error)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True, timeout=60)
    more, message = done.stdout.split(" ", 1)
    line = 1 + start.count(b"\n")
    assert f"line {line} must be at most 16 MB long" in message
    assert int(more) < 300


def test_lines_of_many_megabytes_are_read(write):
    width, score = 8_000, "0." + "25" * 150
    text = "item," + ",".join(f"r{at}" for at in range(width)) + "\na," + ",".join([score] * width) + "\n"
    loaded = load(write("x.csv", text))
    assert len(loaded.sources) == width
    assert loaded.sources[-1].scores.tolist() == [float(score)]


def test_an_unclosed_quote_in_a_long_file_is_named(write):
    body = "".join(f"i{at},1\n" for at in range(50_000))
    fails(write("x.csv", 'item,score\nx,1\n"' + body), "lines 3 to 50002", "close every quote")


BEGINNINGS = [
    b"",
    b"PAR1",
    b"ARROW1\0\0",
    b"\x1f\x8b\x08\0",
    b"\x28\xb5\x2f\xfd",
    b"\xff\xfe",
    b"{",
    b"[{",
    b"item,score\n",
]


@given(
    st.sampled_from(BEGINNINGS),
    st.one_of(st.binary(max_size=60), st.text('ab0.:,\t\n"[]{} -', max_size=60).map(str.encode)),
    st.sampled_from(["csv", "tsv", "parquet", "feather", "json", "fimp", "trec", "odd"]),
)
def test_whatever_the_bytes_the_error_is_one_of_ours(tmp_path_factory, beginning, content, suffix):
    path = tmp_path_factory.mktemp("bytes") / f"x.{suffix}"
    path.write_bytes(beginning + content)
    try:
        sources = load(path).sources
    except InputError as error:
        assert "x." in str(error)  # noqa: PT017
    else:
        assert all(len(own.items) == own.scores.size == len(set(own.items)) > 0 for own in sources)


# Aligned rankings


def test_read_aligns_and_checks(write):
    one = write("one.csv", "item,score\na,1\nb,2\n")
    two = write("two.csv", "item,score\nb,4\na,-3\nc,1\n")
    found = read([one, two], missing="drop", negative="clip")
    assert found.names == ("one", "two")
    assert found.labels == ("a", "b")
    assert [own.tolist() for own in found.scores] == [[1.0, 2.0], [-3.0, 4.0]]
    assert read(one)["one"].scores.tolist() == [1.0, 2.0]
    with pytest.raises(InputError, match="one must score every item; it lacks 1 of 3"):
        read([one, two], negative="clip")
    with pytest.raises(InputError, match="two must hold non-negative scores"):
        read([one, two], missing="zero")
    with pytest.raises(InputError, match="NaN"):
        read(write("x.csv", "item,score\na,1\nb,\n"))
    assert read(write("x.csv", "item,score\na,1\nb,\n"), nan="zero")["x"].scores.tolist() == [1.0, 0.0]


def test_read_tells_rankings_of_the_same_name_apart(write, tmp_path):
    (tmp_path / "other").mkdir()
    one, two = write("x.csv", "item,score\na,1\n"), write("other/x.csv", "item,score\na,2\n")
    assert read([one, two]).names == (f"{one}:x", f"{two}:x")
    assert read([one, one]).names == (f"{one}:x (1)", f"{one}:x (2)")
    wide = write("wide.csv", "item,r,s\na,1,2\n")
    assert read([wide, one]).names == ("r", "s", "x")
    assert read([f"{wide}:s", f"{wide}:r"]).names == ("s", "r")
