"""Files and objects that are easily read wrong: read as they are meant, or refused with the remedy."""

import json
from decimal import Decimal
from fractions import Fraction
from time import perf_counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

import fujiscore as fj
from fujiscore.errors import InputError
from fujiscore.features import datasets
from fujiscore.io import documents, load
from fujiscore.io.table import number
from fujiscore.rankers import relief
from fujiscore.rankers.features import prepare

LARGE = 2**53
NAN = float("nan")


def scores_in(path, **options):
    """Return what a file holds as plain Python: name to item to score."""
    sources = load(path, **options).sources
    return {source.name: dict(zip(source.items, source.scores.tolist(), strict=True)) for source in sources}


def outcome(path, **options):
    """Return what reading a file gives, or the error's message."""
    try:
        sources = load(path, **options).sources
    except InputError as error:
        return str(error)
    return [(source.name, list(source.items), [repr(score) for score in source.scores.tolist()]) for source in sources]


def both_ways(path, monkeypatch):
    """Return what reading a file gives row by row, and through pyarrow."""
    results = []
    for small in (1 << 30, 0):
        with monkeypatch.context() as patch:
            patch.setattr(documents, "SMALL", small)
            results.append(outcome(path))
    return results


# Headers


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,0.93\nb,0.5\n", {"id": 0.93, "b": 0.5}),
        ("name,0.93\nb,5\n", {"name": 0.93, "b": 5}),
        ("node,12\nb,7\nc,3\n", {"node": 12, "b": 7, "c": 3}),
        ("id,5\nb,3\n", {"id": 5, "b": 3}),
        ("word,3\nterm,2.5\ntoken,2\n", {"word": 3, "term": 2.5, "token": 2}),
        ("index,5\na,2\n", {"index": 5, "a": 2}),
        ("id;-5\nb;3\n", {"id": -5, "b": 3}),
        ("gene\t1e3\nb\t3\n", {"gene": 1000, "b": 3}),
        ("foo,2000\nbar,300\n", {"foo": 2000, "bar": 300}),
    ],
)
def test_a_first_row_like_those_beneath_is_a_row(write, text, expected):
    path = write("x.csv", text)
    assert scores_in(path) == {"x": expected}
    assert fj.read(path, negative="clip").notes[0] == f"{path}: no header: item column '1', score column '2'"


@pytest.mark.usefixtures("engine")
def test_a_missing_score_of_the_first_item_is_not_the_name_of_a_column(write):
    items = load(write("x.csv", "id,NA\nb,3\n")).sources[0].items
    assert list(items) == ["id", "b"]
    with pytest.raises(InputError, match="1 of 2 is NaN"):
        fj.read(write("x.csv", "node,\nb,3\n"))


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("symbol,2020\nA,0.5\nB,0.25\n", ["x"]),
        ("symbol,2020\nA,5\nB,1\n", ["x"]),
        ("gene,2020\nA,1500.5\nB,2\n", ["x"]),
        ("gene,2020,2021\nA,.5,.3\nB,.2,.1\n", ["2020", "2021"]),
        ("gene,2021,2020\nA,5000,7000\nB,3000,4000\n", ["2021", "2020"]),
        ("gene,0\nA,0.5\nB,0\n", ["x"]),
        ("gene,0\nA,5\nB,0\n", ["x"]),
        ("gene,1,2\nA,5,3\nB,0,2\n", ["1", "2"]),
        ("gene,5,10\nA,.5,3\nB,0,2\n", ["5", "10"]),
        ("gene,100234\nA,0.5\nB,0.25\n", ["x"]),
        (",5\nA,3\nB,2\n", ["x"]),
        ("Unnamed: 0,5\nA,3\nB,2\n", ["x"]),
    ],
)
def test_numbers_unlike_those_beneath_name_columns(write, text, columns):
    path = write("x.csv", text)
    found = scores_in(path)
    assert list(found) == columns
    assert all(list(own) == ["A", "B"] for own in found.values())
    assert f"item column {text.partition(',')[0]!r}, score column" in fj.read(path).notes[0]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "text",
    [
        "name,1\na,3\nb,2\n",
        "id,1\nb,0.5\n",
        "id,500\nb,30\nc,2\n",
        "symbol,2020\nA,2010\n",
        "symbol,2020\nA,1500\nB,300\n",
        "id,5\nb,0.7\nc,0.5\n",
        "id,3,4\nb,2,5\n",
        "country,2020\nSpain,0.5\nCuba,0.25\n",
    ],
)
def test_a_first_row_that_may_be_either_is_refused(write, text):
    first = text.partition("\n")[0]
    with pytest.raises(InputError, match=rf"line 1 must be a header or a row, and '{first}' may be either"):
        load(write("x.csv", text))
    assert outcome(write("x.csv", "item," + "score," * (first.count(",") - 1) + "last\n" + text)) != []


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("cell", ["1_0", "\uff11\uff12", "١٢", "nan(ind)", "1.#IND", "0x1p3"])
def test_a_flaw_in_the_first_row_does_not_make_it_a_header(write, cell):
    with pytest.raises(InputError, match=r"line 1 must hold a number; got .* for 'A'"):
        load(write("x.csv", f"A,{cell}\nB,7\nC,3\n"))


def test_a_list_says_that_its_first_line_is_a_header(write):
    path = write("x.csv", "id\na\nb\n")
    assert fj.read(path).notes[0] == f"{path}: item column 'id'"


def test_a_row_of_data_is_not_the_header_of_a_data_set(write):
    path = write("x.csv", "5.1,3.5,setosa\n4.9,3.0,setosa\n6.3,3.3,virginica\n")
    with pytest.raises(InputError, match=r"line 1 must name the columns; it holds a row of data \('5.1,3.5,setosa'\)"):
        datasets.load(path, "setosa")
    wavelengths = write("x.csv", "400.5,401,class\n0.1,0.2,a\n0.3,0.4,b\n")
    assert datasets.load(wavelengths, "class").features == ["400.5", "401"]


# Decimal commas


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "text",
    [
        "A,12,5\nB,7,25\n",
        "A,12,5\n",
        "A,12,5,1,5\nB,7,25,2,5\n",
        "A,7\nB,12,5\nC,3\n",
        "id,12,5\nB,7,25\n",
        "item,score\nA,12,5\nB,7,25\n",
        "item,score\nA,12,5\nB,7\n",
        "Merkmal,Wichtigkeit\nA,12,5\nB,7,25\n",
        "id,weight,size\n1,12,5,3\n2,7,25,4\n",
        "gene,relief,forest\nA,12,5,3,2\nB,7,25,1,1\n",
        "A;12,5\nB;7,25\n",
        "A;12,5\nB;7\nC;3\n",
        "item;score\nA;12,5\nB;7,25\n",
        "gene;logFC;count\nA;12,5;3\nB;7,25;4\n",
        "A\t12,5\nB\t7,25\n",
        "A 12,5\nB 7,25\n",
        "item score\nA 12,5\nB 7,25\n",
        'item,score\nA,"12,5"\nB,"7,25"\n',
        'A,"12,5"\nB,"7,25"\n',
    ],
)
def test_decimal_commas_are_refused_with_the_remedy(write, text):
    with pytest.raises(InputError, match="with a decimal point") as error:
        load(write("x.csv", text))
    assert "12,5" in str(error.value)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("item,a,b\nA,12,5\nB,7,25\n", {"a": {"A": 12, "B": 7}, "b": {"A": 5, "B": 25}}),
        ('"a","b"\n"1",12,5\n"2",7,25\n', {"a": {"1": 12, "2": 7}, "b": {"1": 5, "2": 25}}),
        ('"a","b"\n"g1",12,0.5\n"g2",7,2.5\n', {"a": {"g1": 12, "g2": 7}, "b": {"g1": 0.5, "g2": 2.5}}),
        ("a,b,c\ng1,1,2,3\ng2,4,5,6\n", {"a": {"g1": 1, "g2": 4}, "b": {"g1": 2, "g2": 5}, "c": {"g1": 3, "g2": 6}}),
        ("Feature 1,5\nFeature 2,3\n", {"x": {"Feature 1": 5, "Feature 2": 3}}),
        ("item,score\nA 1,5\nB 2,3\n", {"x": {"A 1": 5, "B 2": 3}}),
        ('"12,5",7\n"1,5",8\n', {"x": {"12,5": 7, "1,5": 8}}),
    ],
)
def test_columns_of_integers_are_not_decimal_commas(write, text, expected):
    assert scores_in(write("x.csv", text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "size,class\n5,1,a\n4,9,b\n5,0,a\n",
        "size;class\n5,1;a\n4,9;b\n5,0;a\n",
        "id,size,class\n1,5,1,a\n2,4,9,b\n3,5,0,a\n",
    ],
)
def test_decimal_commas_in_data(write, text):
    with pytest.raises(InputError, match="with a decimal point"):
        datasets.load(write("x.csv", text), "class")


def test_row_names_of_r_above_integers_are_row_names(write):
    data = datasets.load(write("x.csv", '"size","class"\n"1",5,"a"\n"2",7,"b"\n"3",5,"a"\n'), "class")
    assert (data.features, data.X.tolist()) == (["size"], [[5], [7], [5]])
    assert data.notes == ("left out the unnamed first column, which labels the rows",)


# ARFF


def arff(write, rows, kinds=("string", "string", "{x,y}")):
    """Write an ARFF file of the attributes a, b and c."""
    head = "".join(f"@attribute {name} {kind}\n" for name, kind in zip("abc", kinds, strict=True))
    return write("x.arff", f"@relation r\n{head}@data\n" + "".join(f"{row}\n" for row in rows))


@pytest.mark.parametrize(
    ("row", "values"),
    [
        ("'a','b',x", ["a", "b", "x"]),
        ("""'a',"b,c",x""", ["a", "b,c", "x"]),
        (""""it's",'b',x""", ["it's", "b", "x"]),
        ("""'say "yes"',"it's, yes",x""", ['say "yes"', "it's, yes", "x"]),
        (r"'it\'s',b,x", ["it's", "b", "x"]),
        ("'it''s',b,x", ["it's", "b", "x"]),
        ('"5""",b,x', ['5"', "b", "x"]),
        (r"'a\\b','c\td',x", [r"a\b", "c\td", "x"]),
        (r"a\b,'c',x", [r"a\b", "c", "x"]),
        ("it's,5\" wide,x", ["it's", '5" wide', "x"]),
        (" 'a b' , ' c ' , x ", ["a b", " c ", "x"]),
        ("a b,'?',x", ["a b", "?", "x"]),
        ("?,'NA',x", [None, "NA", "x"]),
        ("'',b,x", ["", "b", "x"]),
        ("'{a}','%b',x", ["{a}", "%b", "x"]),
    ],
)
def test_arff_quotes_each_value_by_itself(write, row, values):
    columns = datasets._columns(arff(write, [row, "b,c,y"]), None, ())
    assert [column.tolist()[0] for column in columns.values.values()] == values


@pytest.mark.parametrize("row", ["'a,b,x", "'a'b,c,x", "'a' 'b',c,x", 'a,b,"x', "a,b", "a,b,x,", "{0 a, 1 b}"])
def test_arff_rows_of_other_shapes_are_refused(write, row):
    with pytest.raises(InputError, match="line 6 must be 3 values"):
        datasets.load(arff(write, [row, "b,c,y"]), "c")


def test_arff_names_and_numbers_in_quotes(write):
    text = (
        "@relation r\n@attribute 'it\\'s' numeric\n@attribute \"a b\" REAL\n@attribute 'it''s \"c\"' {'x y',\"z\"}\n"
        "@data\n'1',\"2.5\",'x y'\n3,?,\"z\"\n"
    )
    data = datasets.load(write("x.arff", text), 'it\'s "c"')
    assert data.features == ["it's", "a b"]
    np.testing.assert_array_equal(data.X, [[1, 2.5], [3, NAN]])
    assert data.y.tolist() == ["x y", "z"]
    with pytest.raises(InputError, match=r"line 7, column 'b' must hold a number; got '\?'"):
        datasets.load(arff(write, ["a,1,x", "b,'?',y"], ("string", "numeric", "{x,y}")), "c")


# One syntax of numbers

NO_NUMBERS = [
    *(
        "1_0",
        "1_000.5",
        "\uff11\uff12",
        "١٢",
        "1٢",
        "\uff11.\uff15",
        "nan(ind)",
        "-nan(ind)",
        "NaN(snan)",
        "nan()",
        "1.#IND",
        "-1.#INF",
    ),
    *(
        "1.#QNAN",
        "0x10",
        "0x1p3",
        "0X1.8P1",
        "1d5",
        "1f",
        "1e",
        "e5",
        ".",
        "--1",
        "+-1",
        "infin",
        "½",
        "²",
        "\u22125",
        "1 0",
    ),
    *("1\u00a00", "1e٣", "0b1", "0o7", "1j", "True", "1.2.3"),
]
NUMBERS = {
    **{text: float(text) for text in ("1", "-1.5e3", "+.5", "5.", "1E+5", "007", "1e-400", "1e400", "-0")},
    **{text: float("inf") for text in ("inf", "INF", "+Inf", "infinity", "Infinity", "INFINITY", "iNfInItY")},
    **{text: float("-inf") for text in ("-inf", "-INFINITY")},
    **dict.fromkeys(("NAN", "-nan", "+NaN", "nAn", "nan", "?"), NAN),
}


def rankings_with(write, text):
    """Yield files of rankings of every text format whose third score is a text."""
    yield write("x.csv", f"item,score\na,1.5\nb,2\nc,{text}\n")
    yield write("x.tsv", f"item\tscore\tother\na\t1.5\t1\nb\t2\t1\nc\t{text}\t1\n")
    yield write("x.json", json.dumps({"a": 1.5, "b": 2, "c": text}))
    yield write(
        "y.json", json.dumps([{"item": "a", "score": 1.5}, {"item": "b", "score": 2}, {"item": "c", "score": text}])
    )
    dashes = "-" * 20
    yield write("x.fimp", f"{dashes}\n1\ta\t[1]\t[1.5]\n2\tb\t[2]\t[2]\n3\tc\t[3]\t[{text}]\n")
    if " " not in text:
        yield write("x.run", f"q Q0 a 1 1.5 t\nq Q0 b 2 2 t\nq Q0 c 3 {text} t\n")
        yield write("y.run", f"q\tQ0\ta\t1\t1.5\tt\nq\tQ0\tb\t2\t2\tt\nq\tQ0\tc\t3\t{text}\tt\n")


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_number_is_refused_in_every_format(write, tmp_path, text):
    assert number(text) is None
    for path in rankings_with(write, text):
        with pytest.raises(InputError, match="must hold a number"):
            load(path, score=None if path.suffix in {".json", ".fimp", ".run"} and path.stem == "x" else "score")
    parquet.write_table(pa.table({"item": ["a", "b"], "score": ["1", text]}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match="row 2, column 'score' must hold a number"):
        load(tmp_path / "x.parquet", score="score")
    rows = "".join(f"{at}.5,{'ab'[at % 2]}\n" for at in range(6))
    with pytest.raises(InputError, match="line 8, column 'size' must hold a number"):
        datasets.load(write("x.csv", f"size,class\n{rows}{text},a\n"), "class")
    with pytest.raises(InputError, match="column 'b' must hold a number"):
        datasets.load(arff(write, ["a,1,x", f"b,{text},y"], ("string", "numeric", "{x,y}")), "c")
    if " " not in text and "\u00a0" not in text:
        for row in (f"1 1:{text}", f"{text} 1:2"):
            with pytest.raises(InputError, match=r"line 2 must be 'class index:value"):
                datasets.load(write("x.libsvm", f"0 1:2\n{row}\n"))


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("text", NUMBERS)
def test_what_is_a_number_is_the_same_in_every_format(write, text):
    for path in rankings_with(write, text):
        np.testing.assert_equal(load(path).sources[0].scores[2], NUMBERS[text])


@pytest.mark.parametrize("text", ["1_0", "\uff11\uff12", "١٢"])
def test_other_digits_are_refused_where_they_fill_a_column(write, text):
    column = [text, text.replace(text[0], "2"), text + text[1:]]
    if text != "1_0":
        column = [text, text * 2, text * 3]
    rows = "".join(f"{item},{cell}\n" for item, cell in zip("abc", column, strict=True))
    for path in (write("x.csv", f"item,score\n{rows}"), write("x.csv", rows), write("x.csv", "\n".join(column))):
        with pytest.raises(InputError, match="number"):
            load(path)
    for header in ("size,class\n", "class,size\n"):
        body = "".join(
            f"{cell},{name}\n" if header[0] == "s" else f"{name},{cell}\n"
            for cell, name in zip(column, "aba", strict=True)
        )
        with pytest.raises(InputError, match=r"column 'size' must hold a number.*categorical"):
            datasets.load(write("x.csv", header + body), "class")
    for scores in (
        column,
        np.array(column),
        pd.Series(column),
        pl.Series(column),
        dict(zip("abc", column, strict=True)),
    ):
        with pytest.raises(InputError, match="must hold numbers"):
            fj.rankings({"r": scores})
    with pytest.raises(InputError, match="line 1 must be 'class index:value"):
        datasets.load(write("x.libsvm", "1 \uff11:2\n0 2:3\n"))


CELLS = st.sampled_from(
    [*NO_NUMBERS, *NUMBERS, "NA", "", " 1 ", "\t2", "3\x0b", "\u00a04", "5\x0c", "9007199254740993"]
)


@settings(deadline=None, max_examples=150)
@given(st.lists(CELLS, min_size=1, max_size=3), st.sampled_from(["csv", "run"]))
def test_small_and_large_files_are_read_alike(tmp_path_factory, cells, suffix):
    rows = enumerate(["0.5", *cells])
    text = "item;score\n" + "".join(f"i{at};{cell}\n" for at, cell in rows)
    if suffix == "run":
        text = "".join(f"q Q0 d{at} {at} {cell} t\n" for at, cell in enumerate(["0.5", *cells]))
    path = tmp_path_factory.mktemp("alike") / f"x.{suffix}"
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        row_by_row, through_pyarrow = both_ways(path, patch)
    assert row_by_row == through_pyarrow


@pytest.mark.parametrize("blank", ["", " ", "\x0c", "\u00a0", "\x1c"])
def test_a_blank_line_is_not_an_item_of_a_list(write, monkeypatch, blank):
    path = write("x.txt", f"item\na\n{blank}\nb\n{blank}")
    assert both_ways(path, monkeypatch) == [[("x", ["a", "b"], ["1.0", "0.5"])]] * 2


# Blanks in TREC runs

TREC_ROWS = [
    "q1 Q0 d1 1 0.9 t",
    "q1\tQ0\td1\t1\t0.9\tt",
    "q1  Q0 \t d1 1 0.9 t",
    " q1 Q0 d1 1 0.9 t ",
    "\tq1\tQ0\td1\t1\t0.9\tt\t",
    "q1 Q0 d1 1 0.9 t\x0b",
    "q1\x0cQ0 d1 1 0.9 t",
]
OTHER_TREC_ROWS = [
    "q1  Q0 d1 1 0.9",  # without a tag: read by its separators alone, this is document Q0 of score 1
    "q1 Q0 d1 1 0.9 ",
    " q1 Q0 d1 1 0.9",
    "q1 Q0 d1  0.9 t",
    "q1\tQ0\td 1\t1\t0.9\tt",
    "q1\tQ0 x\td1\t1\t0.9\tt",
    "q1 Q0 d1 1 0.9 t\tu",
    "q1 Q0 d\x0c1 1 0.9 t",
    "q1\tQ0\td1\t1\t0.9\tt\x0bu",
]


@pytest.mark.parametrize("other", ["q1 Q0 d2 2 0.5 t", "q1\tQ0\td2\t2\t0.5\tt"])
@pytest.mark.parametrize("first", [False, True])
def test_blanks_in_trec_runs(write, monkeypatch, other, first):
    for row in TREC_ROWS:
        path = write("x.run", f"{row}\n{other}\n" if first else f"{other}\n{row}\n")
        expected = sorted([("d1", "0.9"), ("d2", "0.5")], reverse=not first)
        for [(name, items, scores)] in both_ways(path, monkeypatch):
            assert (name, list(zip(items, scores, strict=True))) == ("q1", expected)
    for row in OTHER_TREC_ROWS:
        path = write("x.run", f"{row}\n{other}\n" if first else f"{other}\n{row}")
        for message in both_ways(path, monkeypatch):
            assert f"line {1 if first else 2} must be 'qid Q0 docid rank score tag'" in message


@pytest.mark.parametrize("blank", ["\u00a0", "\u2003", "\u2028", "\x85", "\x1c", "\u3000"])
@pytest.mark.parametrize("separator", [" ", "\t"])
def test_other_blanks_are_part_of_a_label(write, monkeypatch, blank, separator):
    rows = [f"q{blank} Q0 d{blank}1 1 0.9 {blank}t", f"q{blank} Q0 d2 2 0.5 t"]
    path = write("x.run", "".join(row.replace(" ", separator) + "\n" for row in rows))
    for result in both_ways(path, monkeypatch):
        assert result == [(f"q{blank}", [f"d{blank}1", "d2"], ["0.9", "0.5"])]


@settings(deadline=None, max_examples=150)
@given(st.lists(st.text("ab1 \t\n\r\x0b\x0c\u00a0", max_size=12), max_size=3))
def test_trec_runs_of_any_blanks_are_read_alike(tmp_path_factory, middle):
    path = tmp_path_factory.mktemp("alike") / "x.run"
    path.write_text(f"q Q0 a 1 0.5 t\n{'q Q0'.join(middle)}\nq Q0 b 2 .25 t\n", encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        row_by_row, through_pyarrow = both_ways(path, patch)
    assert row_by_row == through_pyarrow


def test_a_gap_at_the_end_of_a_block_is_seen(write, monkeypatch):
    monkeypatch.setattr("fujiscore.io.columnar.BLOCK", 3)
    good = "q1 Q0 d1 1 0.9 t\nq1 Q0 d2 2 0.5 t\n"
    for row in ("q1  Q0 d3 1 0.9", "q1 Q0 d3 1 0.9 ", "q1 Q0 d3 1  0.9"):
        for shift in range(4):
            path = write("x.run", f"{'z' * shift}{good}{row}\n")
            row_by_row, through_pyarrow = both_ways(path, monkeypatch)
            assert "line 3 must be" in row_by_row
            assert row_by_row == through_pyarrow


# Masks


class Tensor:
    """An object that makes an array of itself."""

    def __array__(self, dtype=None, copy=None):
        """Return a masked array."""
        return np.ma.array([3.0, 9.0, 1.0], mask=[False, True, False])


@pytest.mark.parametrize(
    "scores",
    [
        np.ma.array([3.0, 9.0, 1.0], mask=[0, 1, 0], dtype=object),
        np.ma.array([3.0, None, 1.0], mask=[0, 1, 0], dtype=object),
        np.ma.array([3.0, "x", 1.0], mask=[0, 1, 0], dtype=object),
        np.ma.array([Decimal(3), Decimal(9), Decimal(1)], mask=[0, 1, 0], dtype=object),
        np.ma.array([3, 9, 1], mask=[0, 1, 0]),
        np.ma.array([3, 9, 1], mask=[0, 1, 0], dtype=np.float32),
        np.ma.array([3, 2**64 - 1, 1], mask=[0, 1, 0], dtype=np.uint64),
        Tensor(),
    ],
)
def test_a_mask_hides_scores(scores):
    assert fj.rankings({"r": scores}, nan="zero").scores[0].tolist() == [3, 0, 1]
    with pytest.raises(InputError, match="1 of 3 is NaN"):
        fj.fuji(scores, [1, 2, 3], 1)


@pytest.mark.parametrize("dtype", [float, int, object])
def test_a_mask_hides_scores_in_two_dimensions(dtype):
    table = np.ma.array([[3, 9, 1], [1, 2, 3]], mask=[[0, 1, 0], [0, 0, 0]], dtype=dtype)
    both = fj.rankings(table, nan="zero")
    assert both.matrix().tolist() == [[3, 0, 1], [1, 2, 3]]
    assert fj.rankings(dict(zip("ab", table, strict=True)), nan="zero").matrix().tolist() == both.matrix().tolist()


def test_masked_labels_are_refused():
    with pytest.raises(InputError, match="r must hold numbers"):
        fj.rankings({"r": np.ma.array(["a", "b"], mask=[False, True])})
    with pytest.raises(InputError, match="label"):
        fj.Ranking([1, 2], items=np.ma.array(["a", "b"], mask=[False, True]))
    with pytest.raises(InputError, match="universe must have hashable labels"):
        fj.rankings({"r": ["a"]}, universe=np.ma.array(["a", "b"], mask=[False, True]))


def test_a_mask_hides_classes_and_features():
    X = np.arange(8.0).reshape(4, 2)
    for y in (np.ma.array([0, 1, 0, 1], mask=[0, 1, 0, 0]), np.ma.array(list("abab"), mask=[0, 1, 0, 0], dtype=object)):
        with pytest.raises(InputError, match="y must give every row a target; 1 of 4"):
            relief(X, y)
    colours = np.ma.array([["r"], ["g"], ["r"], ["b"]], mask=[[0], [0], [0], [1]], dtype=object)
    table = prepare(colours, [0, 1, 0, 1], [0])
    np.testing.assert_array_equal(table.values[:, 0], [1, 0, 1, NAN])


# Large integers

LARGE_INTEGERS = {
    "int64": np.array([LARGE, LARGE + 1]),
    "uint64": np.array([2**64 - 1, 2**64 - 2], np.uint64),
    "negative": np.array([-LARGE, -LARGE - 1]),
    "objects": np.array([LARGE, LARGE + 1], object),
    "list": [LARGE, LARGE + 1],
    "beside floats": [LARGE + 1, 0.5, LARGE],
    "beyond int64": [10**30, 10**30 + 1],
    "mixed signs": [2**63, 2**63 + 1, -1],
    "dict": {"a": LARGE, "b": LARGE + 1},
    "pairs": [("a", LARGE), ("b", LARGE + 1)],
    "decimals": [Decimal(LARGE), Decimal(LARGE + 1)],
    "pandas": pd.Series([LARGE, LARGE + 1]),
    "pandas with NA": pd.Series([LARGE, None, LARGE + 1], dtype="Int64"),
    "polars": pl.Series([LARGE, LARGE + 1]),
    "polars with null": pl.Series([LARGE, None, LARGE + 1]),
    "arrow": pa.array([LARGE, LARGE + 1]),
    "arrow with null": pa.chunked_array([[LARGE, None], [LARGE + 1]]),
    "masked": np.ma.array([LARGE, 5, LARGE + 1], mask=[0, 1, 0]),
}


@pytest.mark.parametrize("kind", LARGE_INTEGERS)
def test_integers_that_float64_would_merge_are_refused(kind):
    with pytest.raises(InputError, match=r"r must hold numbers that float64 tells apart; -?\d+ and -?\d+ become equal"):
        fj.rankings({"r": LARGE_INTEGERS[kind]}, nan="zero", negative="clip")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("gap", [[], [None]])
def test_integers_that_float64_would_merge_are_refused_in_tables(make, gap):
    kinds = {"dtype": "Int64"} if make is pd.DataFrame else {}
    with pytest.raises(InputError, match="float64 tells apart"):
        fj.rankings(make({"r": [LARGE, LARGE + 1, *gap]}, **kinds), nan="zero")
    with pytest.raises(InputError, match="float64 tells apart"):
        fj.rankings(np.array([[LARGE, LARGE + 1], [1, 2]]))


def test_large_integers_that_stay_apart_are_scores():
    for scores in ([LARGE, LARGE + 2], [LARGE + 1, LARGE - 1, LARGE + 1], [LARGE + 1, 5], [10**300, 1], [1e300, LARGE]):
        values = fj.rankings({"r": scores}).scores[0]
        assert values.tolist() == [float(score) for score in scores]


@pytest.mark.usefixtures("engine")
def test_integers_that_float64_would_merge_are_refused_in_files(write, tmp_path):
    pair = (LARGE, LARGE + 1)
    dashes = "-" * 20
    write("x.csv", "item,score\n" + "".join(f"i{score}, {score}\n" for score in pair))
    write("x.run", "".join(f"q Q0 d{score} 1 {score} t\n" for score in pair))
    write("x.fimp", f"{dashes}\n" + "".join(f"1\td{score}\t[1]\t[{score}]\n" for score in pair))
    write("x.json", json.dumps({f"i{score}": score for score in pair}))
    write("y.json", json.dumps([{"item": f"i{score}", "score": score} for score in pair]))
    table = pa.table({"item": ["a", "b"], "score": pair})
    parquet.write_table(table, tmp_path / "x.parquet")
    feather.write_feather(table, tmp_path / "x.feather")
    parquet.write_table(pa.table({"item": ["a", "b"], "score": list(map(str, pair))}), tmp_path / "text.parquet")
    parquet.write_table(pa.table({"item": ["a", "b"], "score": list(map(Decimal, pair))}), tmp_path / "decimal.parquet")
    files = [path for path in tmp_path.iterdir() if path.is_file()]
    assert len(files) == 9
    for path in files:
        with pytest.raises(InputError, match=f"float64 tells apart; {LARGE} and {LARGE + 1} become equal") as error:
            load(path, score="score" if path.stem == "text" else None)
        assert path.name in str(error.value)


@pytest.mark.usefixtures("engine")
def test_large_integers_of_different_rankings_or_apart_are_scores_in_files(write, tmp_path):
    path = write(
        "x.csv", f"qid,docid,score\n1,a,{LARGE}\n2,a,{LARGE + 1}\n2,b,1e300\n2,c,{LARGE + 4}.0\n2,d,{'9' * 400}\n"
    )
    assert scores_in(path)["1"] == {"a": LARGE}
    assert scores_in(path)["2"] == {"a": LARGE, "b": 1e300, "c": LARGE + 4, "d": float("inf")}
    parquet.write_table(pa.table({"item": ["a", "b", "c"], "score": [LARGE, LARGE + 2, None]}), tmp_path / "x.parquet")
    np.testing.assert_equal(load(tmp_path / "x.parquet").sources[0].scores, [LARGE, LARGE + 2, NAN])


def test_classes_that_float64_would_merge_are_refused(write, tmp_path):
    path = write("x.csv", f"size,class\n1,{LARGE}\n2,{LARGE + 1}\n3,{LARGE}\n")
    parquet.write_table(pa.table({"size": [1, 2], "class": [LARGE, LARGE + 1]}), tmp_path / "x.parquet")
    for source in (path, tmp_path / "x.parquet"):
        with pytest.raises(InputError, match="column 'class' must hold numbers that float64 tells apart"):
            datasets.load(source, "class")
    assert datasets.load(path, "class", categorical=["class"]).y.tolist() == [str(LARGE), str(LARGE + 1), str(LARGE)]


# Missing labels

MISSING_LABELS = [
    *(None, NAN, np.float64("nan"), np.float32("nan"), np.float16("nan"), np.longdouble("nan"), Decimal("NaN"), pd.NA),
    *(pd.NaT, np.datetime64("NaT"), np.timedelta64("NaT"), complex(NAN, 0), ("a", NAN), ("a", ("b", None))),
    frozenset([NAN]),
]


@pytest.mark.parametrize("label", MISSING_LABELS, ids=repr)
def test_missing_labels_are_refused_at_every_door(label):
    for scores in ({label: 1, "b": 2}, [(label, 1), ("b", 2)]):
        with pytest.raises(InputError, match="r must label every item; the label at position 0 is missing"):
            fj.rankings({"r": scores})
        with pytest.raises(InputError, match="label every item"):
            fj.Ranking(scores if isinstance(scores, dict) else dict(scores))
    with pytest.raises(InputError, match="ranking must label every item; the label at position 1 is missing"):
        fj.Ranking([1, 2], items=["a", label])
    with pytest.raises(InputError, match="universe must label every item; the label at position 2 is missing"):
        fj.rankings({"r": {"a": 1, "b": 2}}, universe=["a", "b", label])
    index = pd.Index(["a", label], dtype=object, tupleize_cols=False)
    for obj in (pd.DataFrame({"s": [1, 2]}, index=index), {"s": pd.Series([1, 2], index=index)}):
        with pytest.raises(InputError, match="s must label every item; the label at position 1 is missing"):
            fj.rankings(obj)
    frame = pd.DataFrame({"s": [1, 2], "g": pd.Series(["a", label], dtype=object)})
    with pytest.raises(InputError, match="s must label every item; the label at position 1 is missing"):
        fj.rankings(frame, items="g")


@pytest.mark.parametrize("labels", [["a", None], [1.0, NAN], [1, None]])
@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_missing_labels_are_refused_in_other_tables(make, labels):
    with pytest.raises(InputError, match="s must label every item; the label at position 1 is missing"):
        fj.rankings(make({"s": [1, 2], "g": labels}), items="g")


def test_the_index_of_several_levels_may_lack_a_level():
    index = pd.MultiIndex.from_tuples([("a", 1.0), ("b", NAN)])
    with pytest.raises(InputError, match="the label at position 1 is missing"):
        fj.rankings({"r": pd.Series([1, 2], index=index)})


# Notes


@pytest.mark.parametrize(
    ("text", "options", "note"),
    [
        ("a,1\nb,2\n", {}, "no header: item column '1', score column '2'"),
        ("gene,w\na,1\nb,2\n", {}, "item column 'gene', score column 'w'"),
        ("gene,w,t\na,1,x\nb,2,y\n", {}, "item column 'gene', score column 'w'; left out 't' (text)"),
        ("gene,w,v\na,1,3\nb,2,4\n", {"item": "gene"}, "item column 'gene', score columns 'w', 'v'"),
        ("gene,w\na,1\nb,2\n", {"score": "w"}, "item column 'gene', score column 'w'"),
        (
            "method,gene,w\nr,a,1\nr,b,2\ns,a,1\ns,b,2\n",
            {"item": "gene", "score": "w"},
            "ranking column 'method', item column 'gene', score column 'w'",
        ),
        ("gene,probe,w\na,p,1\na,q,2\n", {}, "item column 'probe' instead of 'gene', which repeats items"),
        ("gene\na\nb\n", {}, "item column 'gene'"),
        ("a\nb\n", {}, "no scores: read as a list from best to worst, scores 1/rank"),
    ],
)
def test_what_was_guessed_is_in_the_notes(write, text, options, note):
    path = write("x.csv", text)
    found = fj.read(path, **options).notes
    assert any(own.startswith(f"{path}: {note}") for own in found), found
    assert fj.read(path, **options)[0].notes == found


def test_nothing_is_noted_where_nothing_was_guessed(write):
    path = write("x.csv", "method,gene,w\nr,a,1\nr,b,2\ns,a,1\ns,b,2\n")
    assert fj.read(path, item="gene", score="w", ranking="method").notes == ()
    assert fj.read(write("y.csv", "gene,w\na,1\nb,2\n"), item="gene", score="w").notes == ()


def test_what_was_guessed_about_data_is_in_the_notes(write):
    path = write("x.csv", ",size,colour,class\n0,1,red,a\n1,2,blue,b\n2,3,red,a\n")
    assert datasets.load(path, "class").notes == (
        "left out the unnamed first column, which labels the rows",
        "categorical: 'colour'",
    )


# Repeated labels


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_repeated_label_is_found_in_linear_time(make):
    labels = [f"gene{at}" for at in range(200_000)]
    labels[-1] = labels[5]
    table = make({"gene": labels, "score": np.arange(200_000)})
    start = perf_counter()
    with pytest.raises(InputError, match=r"it repeats 1 item \(gene5\)"):
        fj.rankings(table, items="gene")
    assert perf_counter() - start < 5


def test_a_repeated_name_is_found_in_linear_time():
    names = [f"r{at}" for at in range(100_000)]
    frame = pd.DataFrame(np.ones((1, 100_000)), columns=[*names[:-1], names[-2]])
    mapping = {**dict.fromkeys(range(100_000), (1.0,)), "99999": (1.0,)}
    start = perf_counter()
    with pytest.raises(InputError, match="'r99998' names more than one"):
        fj.rankings(frame)
    with pytest.raises(InputError, match="'99999' names more than one"):
        fj.rankings(mapping)
    assert perf_counter() - start < 5


@pytest.mark.parametrize("name", ["PAR1", "PAR10", "FEA1", "ARROW1"])
@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_an_item_called_as_the_mark_of_a_binary_format(tmp_path, name, separator):
    path = tmp_path / "genes.csv"
    path.write_text(f"{name}{separator}0.9\nTP53{separator}0.5\nKRAS{separator}0.25\n")
    assert list(fj.read(path).labels) == [name, "TP53", "KRAS"]
    path.write_text(f"{name}\nTP53\nKRAS\n")
    assert list(fj.read(path).labels) == [name, "TP53", "KRAS"]


@pytest.mark.parametrize("label", [["a"], {"id": 1}, []])
def test_labels_of_json_records_are_text_or_numbers(tmp_path, label):
    path = tmp_path / "records.json"
    path.write_text(json.dumps([{"item": "a", "score": 2}, {"item": label, "score": 1}]))
    with pytest.raises(fj.InputError, match="record 2, column 'item' must be a label"):
        fj.read(path)


def test_a_json_label_that_is_nan_is_missing(tmp_path):
    path = tmp_path / "records.json"
    path.write_text('[{"item": NaN, "score": 1}, {"item": "B", "score": 2}]')
    with pytest.raises(fj.InputError, match="record 1, column 'item' must not be empty"):
        fj.read(path)


def test_an_index_occurs_once_in_a_row_of_libsvm(tmp_path):
    path = tmp_path / "d.libsvm"
    path.write_text("1 1:0.5 2:1\n0 1:0.5 1:1\n")
    with pytest.raises(fj.InputError, match=r"line 2 must be 'class index:value ...' with each index once"):
        datasets.load(path)


@pytest.mark.parametrize(
    "scores", [[2**53 + 1, float(2**53), 1], [Fraction(2**54 + 1, 2) * 2, 2**54, 1], [Decimal(2**53 + 1), 2.0**53, 1]]
)
def test_large_numbers_of_several_kinds_are_told_apart(scores):
    with pytest.raises(fj.InputError, match="that float64 tells apart"):
        fj.rankings([scores])


def test_large_numbers_with_a_point_are_told_apart(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("item,score\na,9007199254740993.0\nb,9007199254740992\nc,1\n")
    with pytest.raises(fj.InputError, match="that float64 tells apart"):
        fj.read(path)
    path.write_text("item,score\na,1e20\nb,100000000000000000000\nc,1.5e300\n")
    assert fj.read(path)[0].scores.tolist() == [1e20, 1e20, 1.5e300]


def test_names_of_several_lines_and_of_a_megabyte(tmp_path):
    path = tmp_path / "scores.csv"
    long = "x" * 10**6
    path.write_text(f'item,score\n"line\nbreak",3\n"{long}",2\nz,1\n')
    assert list(fj.read(path).labels) == ["line\nbreak", long, "z"]
    path.write_text('item,score\n"A,3\nB",2\nz,1\n')  # a quote that is closed too late
    with pytest.raises(fj.InputError, match="which may be several rows"):
        fj.read(path)
    path.write_text('"A\nB"\nC\n')
    with pytest.raises(fj.InputError, match="which may be several rows"):
        fj.read(path)


@pytest.mark.parametrize("first", ["sep=;", "SEP=,", "# genes of 2020", "#comment"])
def test_a_first_line_that_is_neither_header_nor_row_is_named(write, first):
    with pytest.raises(fj.InputError, match=r"line 1 must be a header or a row; .* is neither\. Remove it"):
        fj.read(write("x.csv", f"{first}\ngene;score\na;3\nb;2\n"))
    assert fj.read(write("y.csv", "#gene;score\na;3\nb;2\n"), item="#gene", score="score").n == 2
