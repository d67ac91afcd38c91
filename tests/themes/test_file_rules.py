"""Rules that hold for every file: missing values, duplicates, lists, directions, names, and what is imported."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import fujiscore as fj
from fujiscore.errors import InputError, spelling
from fujiscore.features import datasets
from fujiscore.io import AS_LIST, documents, load, load_each, merged, read
from fujiscore.io.table import MISSING, number

RULE = "-" * 100
WORDS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"]


def plain(loaded):
    """Return what was loaded as plain Python: name to items and scores."""
    return {source.name: (list(source.items), source.scores.tolist()) for source in loaded.sources}


# Numbers and missing values


def test_the_missing_words_are_these():
    assert set(WORDS) == MISSING


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("word", WORDS)
def test_missing_words_in_rankings_and_data(write, word):
    rows = "".join(f"i{at},{at}.5,{'ab'[at % 2]}\n" for at in range(6))
    path = write("x.csv", f"item,score,class\n{rows}z,{word},a\ny, {word} ,b\n")
    source = load(path, score="score").sources[0]
    assert source.scores[:6].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    assert np.isnan(source.scores[6:]).all()
    assert list(source.items)[6:] == ["z", "y"]
    data = datasets.load(path, "class", drop=["item"])
    np.testing.assert_array_equal(data.X[:, 0], source.scores)
    categories = datasets.load(path, "class", drop=["item"], categorical=["score"])
    assert np.isnan(categories.X[6:, 0]).all()


@pytest.mark.parametrize("word", WORDS)
def test_missing_words_in_json_and_parquet_text(write, tmp_path, word):
    path = write("x.json", json.dumps({"a": 1, "b": word, "c": None}))
    assert np.isnan(load(path).sources[0].scores[1:]).all()
    parquet.write_table(pa.table({"item": ["a", "b"], "score": ["1", word]}), tmp_path / "x.parquet")
    found = load(tmp_path / "x.parquet").sources[0].scores
    assert found[0] == 1
    assert np.isnan(found[1])


@pytest.mark.usefixtures("engine")
def test_missing_words_are_labels_in_the_item_column(write):
    path = write("x.csv", "token,score\n" + "".join(f"{word},{at}\n" for at, word in enumerate(WORDS[1:])))
    assert list(load(path).sources[0].items) == WORDS[1:]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("text", ["1_000", "١٢", "0x10", "1 000", "--1", "1,5", "True", "NAN?", "na"])
def test_what_is_no_number_is_none_in_rankings_and_data(write, text):
    assert number(text) is None
    rows = "".join(f"i{at}\t{at}.5\t{'ab'[at % 2]}\n" for at in range(6))
    path = write("x.tsv", f"item\tscore\tclass\n{rows}z\t{text}\ta\n")
    where = r"line 8, column 'score' must hold a number"
    with pytest.raises(InputError, match=where):
        load(path, score="score")
    with pytest.raises(InputError, match=where):
        datasets.load(path, "class", drop=["item"])


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("text", ["1", "-1.5e3", "+.5", "inf", "-Infinity", " 7 ", "1e400"])
def test_what_is_a_number_is_the_same_row_by_row_and_through_pyarrow(write, text):
    path = write("x.csv", f"item,score\na,{text}\nb,2\n")
    assert load(path).sources[0].scores.tolist() == [float(text), 2.0]


# One sniffer for rankings and data


@pytest.mark.parametrize("separator", [",", "\t", ";", "|", " "])
@pytest.mark.parametrize("row_names", [False, True])
def test_rankings_and_data_split_files_alike(write, separator, row_names):
    rows = [["size", "weight", "class"], *([f"{at}.5", str(at * at), "ab"[at % 2]] for at in range(6))]
    rows = [row if not row_names or at == 0 else [f"r{at}", *row] for at, row in enumerate(rows)]
    path = write("x.csv", "".join(separator.join(row) + "\n" for row in rows))
    data = datasets.load(path, "class")
    assert data.features == ["size", "weight"]
    assert data.X[:, 1].tolist() == [0, 1, 4, 9, 16, 25]
    assert bool(data.notes) == row_names
    loaded = load(path, item=None if row_names else "size", score=["weight"])
    assert loaded.sources[0].scores.tolist() == data.X[:, 1].tolist()


# Columns without names


@pytest.mark.usefixtures("engine")
def test_columns_named_by_numbers_are_a_header(tmp_path):
    frame = pd.DataFrame([["a", 1.0, 4.0], ["b", 2.0, 3.0]])
    frame.to_csv(tmp_path / "three.csv", index=False)
    assert plain(load(tmp_path / "three.csv")) == {"1": (["a", "b"], [1, 2]), "2": (["a", "b"], [4, 3])}
    assert plain(load(tmp_path / "three.csv", item="0", score=1)) == {"three": (["a", "b"], [1, 2])}
    frame[[0, 1]].to_csv(tmp_path / "two.csv", index=False)
    assert plain(load(tmp_path / "two.csv")) == {"two": (["a", "b"], [1, 2])}
    pd.DataFrame([[1.5, 2.5], [3.0, 4.0]]).to_csv(tmp_path / "index.csv")
    assert plain(load(tmp_path / "index.csv")) == {"0": (["0", "1"], [1.5, 3]), "1": (["0", "1"], [2.5, 4])}
    frame[[0]].to_csv(tmp_path / "one.csv", index=False)
    assert list(load(tmp_path / "one.csv").sources[0].items) == ["a", "b"]
    frame.assign(**{"3": ["x", "y"]}).to_csv(tmp_path / "data.csv", index=False)
    assert datasets.load(tmp_path / "data.csv", "3", drop=["0"]).features == ["1", "2"]


@pytest.mark.usefixtures("engine")
def test_two_columns_of_numbers_have_no_header(write):
    assert plain(load(write("x.csv", "0,1\n1,0.5\n2,0.25\n"))) == {"x": (["0", "1", "2"], [1, 0.5, 0.25])}
    assert plain(load(write("x.csv", "word,0.37\nterm,0.2\n"))) == {"x": (["word", "term"], [0.37, 0.2])}
    assert plain(load(write("x.csv", "gene,0\nTP53,0.2\n"))) == {"x": (["TP53"], [0.2])}


# Duplicates


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("policy", ["max", "mean", "first"])
def test_duplicates_are_passed_on_if_asked_for(write, policy):
    path = write("x.csv", "symbol,score\nA,1\nB,2\nA,3\nA,\n")
    source = load(path, duplicates=policy).sources[0]
    assert list(source.items) == ["A", "B", "A", "A"]
    assert source.scores[:3].tolist() == [1, 2, 3]
    assert math.isnan(source.scores[3])
    with pytest.raises(InputError, match=r"lines 2 and 4.*'A' occurs twice\. Pass duplicates='max'"):
        load(path)
    with pytest.raises(InputError, match="duplicates must be one of 'raise', 'max', 'mean', 'first'; got 'min'"):
        load(path, duplicates="min")


def test_duplicates_of_other_formats(write, tmp_path):
    expected = {"x": (["a", "b", "a"], [1, 2, 3])}
    parquet.write_table(pa.table({"item": ["a", "b", "a"], "score": [1.0, 2.0, 3.0]}), tmp_path / "x.parquet")
    paths = [
        write("x.json", '{"a": 1, "b": 2, "a": 3}'),
        write("x.fimp", f"meta\n{RULE}\n1\ta\t[1]\t[1]\n2\tb\t[1]\t[2]\n3\ta\t[1]\t[3]\n"),
        tmp_path / "x.parquet",
    ]
    for path in paths:
        assert plain(load(path, duplicates="first")) == expected
        with pytest.raises(InputError, match=r"'a' occurs twice.*duplicates='max'"):
            load(path)
    nested = write("y.json", '{"r": {"a": 1, "a": 2}, "s": {"b": 3}}')
    assert plain(load(nested, duplicates="max")) == {"r": (["a", "a"], [1, 2]), "s": (["b"], [3])}
    with pytest.raises(InputError, match=r"items 1 and 2.*in ranking 'r'"):
        load(nested)


@pytest.mark.usefixtures("engine")
def test_duplicates_in_long_tables(write):
    path = write("x.csv", "method,gene,score\nr,a,1\ns,a,2\nr,a,3\ns,b,4\n")
    assert plain(load(path, duplicates="max")) == {"r": (["a", "a"], [1, 3]), "s": (["a", "b"], [2, 4])}
    with pytest.raises(InputError, match=r"lines 2 and 4.*in ranking 'r'"):
        load(path)


GENES = "symbol,chromosome,gene_id,score\nTP53,c1,E1,1\nMYC,c1,E2,2\nTP53,c2,E3,3\n"


@pytest.mark.usefixtures("engine")
def test_a_unique_column_replaces_a_guess_with_duplicates(write):
    path = write("x.csv", GENES)
    loaded = load(path)
    assert plain(loaded) == {"x": (["E1", "E2", "E3"], [1, 2, 3])}
    assert loaded.notes[-1] == "item column 'gene_id' instead of 'symbol', which repeats items"
    assert list(load(path, duplicates="max").sources[0].items) == ["TP53", "MYC", "TP53"]
    with pytest.raises(InputError, match=r"lines 2 and 4: column 'symbol'.*Or pass item='gene_id'"):
        load(path, item="symbol")
    both = write("y.csv", GENES.replace("E3", "E1"))
    with pytest.raises(InputError, match=r"column 'symbol' must name each item once; 'TP53'.*each item\.$"):
        load(both)


def test_a_unique_column_replaces_a_guess_in_parquet(tmp_path):
    table = {"gene": ["a", "a"], "note": ["p", "q"], "probe_id": ["x", "y"], "w": [1.0, 2.0]}
    parquet.write_table(pa.table(table), tmp_path / "x.parquet")
    assert list(load(tmp_path / "x.parquet").sources[0].items) == ["x", "y"]


# Lists


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("text", ["b\nNew York\na\n", "item\nb\nNew York\na\n", "Genes\r\n\r\nb\r\nNew York\r\na"])
def test_one_item_per_line_is_a_list_from_best_to_worst(write, text):
    loaded = load(write("x.txt", text))
    assert plain(loaded) == {"x": (["b", "New York", "a"], [1, 1 / 2, 1 / 3])}
    assert loaded.sources[0].transform == "rank"
    assert loaded.notes[-1] == AS_LIST == "no scores: read as a list from best to worst, scores 1/rank"
    assert len(loaded.notes) == (1 if text.startswith("b") else 2)


@pytest.mark.usefixtures("engine")
def test_lists_with_duplicates_and_numbers(write):
    path = write("x.txt", "a\nb\na\n")
    with pytest.raises(InputError, match="lines 1 and 3"):
        load(path)
    assert plain(load(path, duplicates="first")) == {"x": (["a", "b", "a"], [1, 1 / 2, 1 / 3])}
    assert plain(load(write("x.txt", "docid\n7\n3\n"))) == {"x": (["7", "3"], [1, 1 / 2])}
    numbers = write("x.txt", "7\n3\n")
    with pytest.raises(InputError, match=r"its only column, '1', holds numbers.*pass item='1'"):
        load(numbers)
    assert plain(load(numbers, item="1")) == {"x": (["7", "3"], [1, 1 / 2])}


def test_lists_in_json_and_parquet(write, tmp_path):
    loaded = load(write("x.json", '["b", "1", "a"]'))
    assert plain(loaded) == {"x": (["b", "1", "a"], [1, 1 / 2, 1 / 3])}
    assert loaded.notes == (AS_LIST,)
    with pytest.raises(InputError, match="items 1 and 2"):
        load(write("y.json", '["b", "b"]'))
    parquet.write_table(pa.table({"gene": ["q", "p"]}), tmp_path / "x.parquet")
    assert plain(load(tmp_path / "x.parquet")) == {"x": (["q", "p"], [1, 1 / 2])}


@pytest.mark.parametrize(
    "text", ["GO:0008150\nGO:0003674\n", "BRCA-1\nTP-53\n", "chr1:10\nchr1:20\n", "item\nchr1:10\nchr2:20\n"]
)
def test_labels_with_numbers_are_labels(write, text):
    expected = text.removeprefix("item\n").split()
    assert list(load(write("x.txt", text)).sources[0].items) == expected


@pytest.mark.parametrize("text", ["item#score\na#1\nb#2\n", "a:1\nb:2\n", "x=0.5\n", "two words 1\nword 2\n"])
def test_unknown_separators_are_not_lists(write, text):
    with pytest.raises(InputError, match="two columns or more, separated by comma"):
        load(write("x.txt", text))


# Direction


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("name", "what", "remedy"),
    [
        *(
            (name, "p-values", "'neglog10'")
            for name in ("p", "P.Value", "p-val", "p_adj", "PADJ", "adj_p", "adj.P.Val")
        ),
        *((name, "p-values", "'neglog10'") for name in ("FDR", "q", "q value", "qval")),
        *((name, "distances", "'flip' (or transform='reciprocal' if none is 0)") for name in ("distance", "Dist")),
        ("rank", "ranks", "'reciprocal'"),
        *(
            (name, "errors", "'flip' (or transform='reciprocal' if none is 0)")
            for name in ("WER", "loss", "test_error")
        ),
    ],
)
def test_columns_where_small_is_good_are_warned_about(write, name, what, remedy):
    path = write("x.csv", f"gene,{name}\na,0.5\nb,1\nc,\n")
    warning = (
        f"x ({name!r}) looks like {what}, where small means good, and is read as it stands: "
        f"pass transform={remedy}, or transform='as_is' if high means good"
    )
    guess = f"{path}: item column 'gene', score column {name!r}"
    assert read(path, nan="drop").notes[:2] == (guess, warning)
    for transform in (remedy.split("'")[1], "as_is", "rank", np.sqrt, ("as_is",), {"x": "as_is"}):
        notes = read(path, nan="drop", transform=transform).notes
        assert not any("looks like" in note for note in notes), transform
    assert read(path, nan="drop", transform="as_is").scores[0].tolist() == [0.5, 1]


def test_other_columns_get_no_warning(write):
    for name in ("score", "neglog10p", "-log10(p)", "precision", "ranked", "quality"):
        assert len(read(write("x.csv", f"gene,{name}\na,0.5\nb,1\n")).notes) == 1
    assert len(read(write("x.csv", "gene,q\na,0.5\nb,7\n")).notes) == 1  # above 1: no p-value
    beside = load(write("x.csv", "gene,rank,w\na,1,5\nb,2,4\n"))
    assert beside.notes == ("item column 'gene', score column 'w'; left out 'rank' (not a score)",)
    assert "looks like ranks" in read(write("x.csv", "gene,rank,w\na,1,5\nb,2,4\n"), score="rank").notes[-1]
    assert load(write("x.txt", "a\nb\n")).notes == (AS_LIST,)


# Names of columns


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("header", "item", "ranking"),
    [
        ("text,Gene Symbol,w", 1, None),
        ("text,gene_name,w", 1, None),
        ("text,doc_id,w", 1, None),
        ("text,docno,w", 1, None),
        ("text,item_id,w", 1, None),
        ("text,term,w", 1, None),
        ("text,variable,w", 1, None),
        ("symbol,name,w", 1, None),
        ("Query ID,word,w", 1, 0),
        ("q_id,word,w", 1, 0),
        ("topic,word,w", 1, 0),
        ("user,item,w", 1, 0),
        ("model,feature,w", 1, 0),
        ("run,docid,w", 1, 0),
    ],
)
def test_column_names_as_people_write_them(write, header, item, ranking):
    rows = [("x", "a", 1), ("x", "b", 2), ("y", "c", 3), ("y", "d", 4)]
    loaded = load(write("x.csv", header + "\n" + "".join(f"{one},{two},{w}\n" for one, two, w in rows)))
    assert f"item column {header.split(',')[item]!r}" in loaded.notes[0]
    assert [source.name for source in loaded.sources] == (["x"] if ranking is None else ["x", "y"])
    assert loaded.notes[0].startswith("ranking column") == (ranking is not None)


def test_a_user_or_model_names_rankings_only_where_it_repeats(write, tmp_path):
    text = "user,name,w\n10,a,1\n11,b,2\n12,c,3\n"
    assert [len(source.items) for source in load(write("x.csv", text)).sources] == [3]
    table = pd.DataFrame({"user": [1, 2, 3, 1], "item": ["a", "b", "c", "d"], "w": [1.0, 2, 3, 4]})
    table.to_parquet(tmp_path / "x.parquet")
    assert len(load(tmp_path / "x.parquet").sources) == 1
    table.assign(user=[1, 2, 2, 1]).to_parquet(tmp_path / "x.parquet")
    assert [source.name for source in load(tmp_path / "x.parquet").sources] == ["1", "2"]


# Signed formats, notes, and messages for the command line


def test_negative_scores_of_fimp_files_count_as_zero(write):
    path = write("x.fimp", f"meta\n{RULE}\n1\ta\t[1]\t[0.5]\n2\tb\t[2]\t[-0.25]\n3\tc\t[3]\t[-Infinity]\n")
    assert load(path).sources[0].signed
    assert load(path).sources[0].scores.tolist() == [0.5, -0.25, -math.inf]
    rankings = read(path)
    assert rankings["x"].scores.tolist() == [0.5, -0.25, -math.inf]
    assert rankings.notes == ("x: 2 of 3 scores are negative and count as 0",)
    zero = read(write("zero.csv", "item,score\na,1\nb,0.5\nc,0\n"))
    assert fj.fuji(rankings, zero, 1) == fj.fuji([0.5, 0, 0], [1, 0.5, 0], 1)
    finite = write("x.fimp", f"meta\n{RULE}\n1\ta\t[1]\t[0.5]\n2\tb\t[2]\t[-0.25]\n")
    assert read(finite, negative="abs").notes == ("x: 1 negative score replaced by magnitudes",)
    with pytest.raises(InputError, match="non-negative"):
        read(path, negative="raise")
    plain_file = write("y.csv", "item,score\na,1\nb,-1\nc,0\n")
    assert not load(plain_file).sources[0].signed
    with pytest.raises(InputError, match="non-negative"):
        read([path, plain_file])
    negative = write("z.fimp", f"meta\n{RULE}\n1\ta\t[1]\t[-0.5]\n")
    with pytest.raises(InputError, match="all of its scores are negative"):
        fj.fuji(read(negative), {"a": 1}, 1)


def test_notes_of_several_files_name_them(write):
    one, two = write("one.csv", "gene,w\na,1\n"), write("two.csv", "gene,w\na,2\n")
    three = write("three.txt", "a\n")
    paths = [one, two, three]
    assert merged(paths, load_each(paths)).notes == (
        f"{one}, {two}: item column 'gene', score column 'w'",
        f"{three}: {AS_LIST}",
    )


def test_messages_spell_arguments_as_the_caller_does(write):
    path = write("x.csv", GENES + "MYC,c3,E4,7\n")
    token = spelling.set(lambda argument, value: f"--{argument}" + ("" if value is None else f" {value}"))
    try:
        for call, needle in [
            (lambda: load(path, item="symbol"), "Pass --duplicates max"),
            (lambda: load(path, item="symbol"), "Or pass --item gene_id"),
            (lambda: load(path, item="z"), "--item must name a column"),
            (lambda: load(path, format="z"), "--format must be one of"),
            (lambda: datasets.load(path), "pass --target score"),
            (lambda: datasets.load(path, "symbol"), "--drop gene_id"),
            (lambda: datasets.load(path, "symbol", drop=["z"]), "--drop must name a column"),
        ]:
            with pytest.raises(InputError) as caught:
                call()
            assert needle in str(caught.value)
    finally:
        spelling.reset(token)


# What reading costs


def test_small_files_need_no_dataframe_library(write):
    code = (
        "import sys; from fujiscore.io import load, read; from fujiscore.features import datasets\n"
        "[load(path) for path in sys.argv[1:]]; datasets.load(sys.argv[3], 'class')\n"
        "assert 'numba' not in sys.modules; read(sys.argv[1:3])\n"
        "assert not {'pyarrow', 'pandas', 'polars', 'sklearn', 'narwhals'} & set(sys.modules), sys.modules"
    )
    paths = [write("x.csv", "item,score\na,1\nb,2\n"), write("y.csv", "item,score\na,1\nb,2\n")]
    paths += [write("d.csv", "id,a,class\n1,2,x\n2,4,y\n"), write("x.trec", "1 Q0 a 1 2 t\n"), write("x.txt", "a\n")]
    subprocess.run([sys.executable, "-c", code, *paths], check=True)


def test_large_files_are_read_through_pyarrow(write):
    code = "import sys; from fujiscore.io import load; load(sys.argv[1]); assert 'pyarrow' in sys.modules"
    path = write("x.csv", "item,score\n" + "".join(f"item{at},{at}\n" for at in range(100_000)))
    assert path.stat().st_size > documents.SMALL
    subprocess.run([sys.executable, "-c", code, path], check=True)


def test_a_column_of_numbers_under_a_name_is_not_a_list(write):
    with pytest.raises(InputError, match=r"its only column, 'score', holds numbers.*item='score'"):
        load(write("x.csv", "score\n1.5\n2.5\n"))
    assert load(write("x.csv", "score\n1.5\n2.5\n"), item="score").sources[0].items == ["1.5", "2.5"]
    assert load(write("x.csv", "alpha\nbeta\n7\n")).sources[0].items == ["alpha", "beta", "7"]
    assert load(write("x.csv", "alpha\n")).sources[0].items == ["alpha"]


def test_a_note_lists_at_most_five_columns(write):
    names = [f"c{i}" for i in range(1, 9)]
    text = ",".join(["item", *names]) + "\na" + ",1" * 8 + "\n"
    assert load(write("x.csv", text)).notes == (
        "item column 'item', score columns 'c1', 'c2', 'c3', 'c4', 'c5' and 3 more",
    )
