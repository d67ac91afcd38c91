"""Which columns hold items and scores: foreign number syntax, numeric ids, stray text, quotes and comments."""

import json
import subprocess
import sys

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

import fujiscore as fj
from fujiscore.cli import fuji as command
from fujiscore.errors import InputError
from fujiscore.features import datasets
from fujiscore.io import documents, load
from fujiscore.io.table import is_foreign_number, number

AMOUNTS = [
    *("90%", "$5", "1,234,567", "1 000", "12ms", "<0.5", "3.1±0.1", "(5)", "\u22125", "12,5", "1,5e-3", "1,234.5"),
    *("1.234,5", "5 kg", "~5", "5 €", "-$5", "1'000", "≤3", "2.5e\u22123", "5*", "1\u202f000", "3.1 +/- 0.1", ".5%"),
]


def scores_in(path, **options):
    """Return what a file holds as plain Python: name to item to score."""
    sources = load(path, **options).sources
    return {source.name: dict(zip(source.items, source.scores.tolist(), strict=True)) for source in sources}


def fuji(*arguments):
    """Run the command as a process."""
    started = [sys.executable, "-m", "fujiscore", *map(str, arguments)]
    return subprocess.run(started, capture_output=True, text=True, encoding="utf-8", check=False)


def refused(path, *needles, **options):
    """Check that reading a file is an error with these words."""
    with pytest.raises(InputError) as error:
        load(path, **options)
    for needle in needles:
        assert needle in str(error.value)


# Scores in another syntax


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("cell", AMOUNTS)
@pytest.mark.parametrize("name", ["score", "Value", "weights", "gini_importance", "MeanScore", "Importance (%)"])
def test_a_column_called_score_is_never_skipped_for_another(write, cell, name):
    assert number(cell) is None
    assert is_foreign_number(cell)
    rows = "".join(f'{item}\t"{cell}"\t{at}\n' for at, item in enumerate("abc"))
    refused(write("x.tsv", f"item\t{name}\tstd\n{rows}"), f"column {name!r} must hold a number", repr(cell), "for 'a'")
    mixed = f"std\t{name}\tlabel\n1\t1\tx\n2\t{cell}\ty\n3\t{cell}\tz\n"
    refused(write("x.tsv", mixed), f"line 3, column {name!r}", repr(cell), "for 'y'")
    records = [{"item": item, name: cell, "std": at} for at, item in enumerate("abc")]
    refused(write("x.json", json.dumps(records)), f"record 1, column {name!r} must hold a number", repr(cell))


@pytest.mark.parametrize("cell", AMOUNTS)
def test_a_text_column_of_parquet_called_score_is_never_skipped(tmp_path, cell):
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"item": ["a", "b"], "score": [cell, cell], "std": [1.0, 2.0]}), path)
    refused(path, "row 1, column 'score' must hold a number", repr(cell))
    parquet.write_table(pa.table({"item": ["a", "b"], "score": ["0.5", "0.25"], "std": [1.0, 2.0]}), path)
    assert scores_in(path)["score"] == {"a": 0.5, "b": 0.25}


def test_opposite_rankings_with_percent_signs_are_not_compared_by_their_deviations(write):
    first = write("a.csv", "item,score,std\nx,90%,1\ny,50%,1\nz,10%,1\n")
    second = write("b.csv", "item,score,std\nx,10%,1\ny,50%,1\nz,90%,1\n")
    ended = fuji("compare", first, second)
    assert ended.returncode == 2
    assert "got '90%' for 'x'. Write plain numbers" in " ".join(ended.stderr.split())
    assert "--score" in ended.stderr


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("cell", AMOUNTS)
def test_amounts_are_not_skipped_where_no_name_says_score(write, cell):
    rows = "".join(f'{item}\t"{cell}"\t{at}\n' for at, item in enumerate("abc"))
    refused(write("x.tsv", f"item\teffect\tstd\n{rows}"), "column 'effect' must hold a number", repr(cell))
    refused(write("x.tsv", f'A\t"{cell}"\nB\t"{cell}"\n'), "line 1 must hold a number", repr(cell), "for 'A'")


@pytest.mark.usefixtures("engine")
def test_other_syntax_beside_a_good_score_is_left_out_with_a_note(write):
    loaded = load(write("x.csv", "item,score,share\na,0.9,90%\nb,0.8,80%\n"))
    assert loaded.notes == ("item column 'item', score column 'score'; left out 'share' (text)",)
    assert loaded.sources[0].scores.tolist() == [0.9, 0.8]
    assert scores_in(write("x.csv", "item,value,importance\na,red,0.9\nb,blue,0.8\n")) == {"x": {"a": 0.9, "b": 0.8}}
    assert scores_in(write("x.csv", "value,count\nred,9\nblue,8\n")) == {"x": {"red": 9, "blue": 8}}


# Numeric ids


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("cell", AMOUNTS)
@pytest.mark.parametrize("score", ["score", "effect"])
@pytest.mark.parametrize("order", [1, -1])
def test_ids_do_not_become_scores_because_the_scores_are_not_plain(write, cell, score, order):
    lines = [["entrez", score], ["672", f'"{cell}"'], ["7157", f'"{cell}"']]
    refused(write("x.csv", "".join(";".join(line[::order]) + "\n" for line in lines)), f"column {score!r}", repr(cell))


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "text",
    [
        "score,entrez\n5,672\n3,7157\n",
        "entrez,score\n672,5\n7157,3\n",
        "hits,entrez_id\n5,672\n3,7157\n",
        "mean_score,probe\n5,672\n3,7157\n",
        "probe,hits\n672,5.5\n7157,3\n",
    ],
)
def test_whole_numbers_that_name_items(write, text):
    [found] = scores_in(write("x.csv", text)).values()
    assert list(found) == ["672", "7157"]


@pytest.mark.usefixtures("engine")
def test_two_columns_that_may_both_be_ids_are_refused(write):
    refused(write("x.csv", "hits,probe\n5,672\n3,7157\n"), "must have a column that names the items", "item")


# Commas in files separated by commas


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "rows", ["a,1,234.5\nb,2,345.6\n", "a,1,5e-3\nb,2,5e-3\n", "a,1,234\nb,2,345\n", "a,-1,5E+3\nb,2,5E+3\n"]
)
@pytest.mark.parametrize("header", ["", "item,score\n", "protein,score\n"])
def test_commas_within_numbers_are_refused(write, rows, header):
    refused(write("x.csv", header + rows), "is one number, write it with a decimal point")


@pytest.mark.usefixtures("engine")
def test_thousands_beneath_three_names_are_not_row_names(write):
    refused(write("x.csv", "protein,score,std\nA,1,234,5\nB,2,345,6\n"), "If 1,234 is one number")


# What pandas writes


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("index", ["feature_name", "gene", "Gene symbol", "feature id", None])
@pytest.mark.parametrize("scores", [[0.5, 0.25, 0.0], [5, 3, 0]])
def test_an_unnamed_series_of_pandas_has_no_item_called_as_its_index(tmp_path, index, scores):
    series = pd.Series(scores, pd.Index(["age", "city", "shoe"], name=index))
    series.to_csv(tmp_path / "x.csv")
    assert scores_in(tmp_path / "x.csv") == {"x": dict(zip(series.index, series.tolist(), strict=True))}


@pytest.mark.usefixtures("engine")
def test_a_word_and_0_in_the_first_line_may_be_either(write):
    refused(write("x.csv", "column,0\nage,0.5\ncity,0.25\n"), "'column,0' may be either", "write a header")


# Targets


def test_classes_with_leading_zeros_are_text(write, tmp_path):
    classes = ["10", "010", "10", "010", "7", "10", "010", "7"]
    csv = write("x.csv", "size,class\n" + "".join(f"{at}.5,{name}\n" for at, name in enumerate(classes)))
    parquet.write_table(pa.table({"size": [float(at) for at in range(8)], "class": classes}), tmp_path / "x.parquet")
    arff = "@relation r\n@attribute size real\n@attribute class {10,010,7}\n@data\n"
    rows = "".join(f"{at},{name}\n" for at, name in enumerate(classes))
    for path in (csv, tmp_path / "x.parquet", write("x.arff", arff + rows)):
        assert datasets.load(path, "class").y.tolist() == classes


def test_numbers_of_a_target_stay_numbers(write):
    data = datasets.load(write("x.csv", "size,class\n1,01\n2,02\n3,01\n"), "class")
    assert data.y.tolist() == [1, 2, 1]
    data = datasets.load(write("x.csv", "size,y\n1,1.5\n2,1.50\n3,0.25\n"), "y")
    assert data.y.tolist() == [1.5, 1.5, 0.25]


def test_the_command_ranks_by_as_many_classes_as_the_library(write):
    classes = ["10", "010"] * 6
    table = [[at % 2 + 0.01 * at, 0.1 * at, (at * 7) % 5] for at in range(12)]
    rows = "".join(f"{a},{b},{c},{name}\n" for (a, b, c), name in zip(table, classes, strict=True))
    out = write("x.csv", "").with_name("out.csv")
    path = write("x.csv", f"a,b,c,y\n{rows}")
    arguments = ["rank", str(path), "--target", "y", "--method", "relief", "--out", str(out)]
    ended = CliRunner().invoke(command, arguments)
    assert ended.exit_code == 0, ended.stderr
    expected = fj.rank(table, classes, methods="relief")["relief"].scores.tolist()
    assert list(scores_in(out)["out"].values()) == pytest.approx(expected)
    assert max(expected) > 0


# Text beside scores


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("name", ["chrom", "stage"])
@pytest.mark.parametrize("rows", [6, 600])
def test_a_column_of_numbers_and_text_beside_a_good_score(write, name, rows):
    cells = [str(at % 5 + 1) if at % 7 else "X" for at in range(rows)]
    lines = "".join(f"g{at},{cell},{at}.5\n" for at, cell in enumerate(cells))
    path = write("x.csv", f"gene,{name},score\n{lines}")
    assert scores_in(path) == {"x": {f"g{at}": at + 0.5 for at in range(rows)}}
    assert f"left out {name!r}" in load(path).notes[0]


def test_a_typing_error_in_a_score_is_still_an_error(write):
    refused(write("x.csv", "gene,score,other\na,1,2\nb,x,3\nc,3,4\n"), "line 3, column 'score' must hold a number")
    refused(write("x.csv", "gene,a,b\na,1,2\nb,x,3\nc,3,4\n"), "line 3, column 'a' must hold a number", "score")


# Separators and quotes


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
@pytest.mark.parametrize("last", ["type 4 diabetes{0}0.2{0}more", "type 4 diabetes 0.2"])
@pytest.mark.parametrize("score", ["0.5", "90%"])
def test_blanks_in_names_do_not_separate_where_one_line_is_ragged(write, separator, last, score):
    if separator != "\t" and score == "90%":
        return
    rows = "".join(f"type {at} diabetes{separator}{score}\n" for at in range(4))
    text = f"name of disease{separator}score\n{rows}{last.format(separator)}\n"
    refused(write("x.tsv", text), "line 6 must have 2 fields" if score == "0.5" else "got '90%' for 'type 0 diabetes'")


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('item,score,note\na,1,ok\nb,2,"oops\nc,3,fine\nd,4,"ok"\ne,5,x\n', "lines 3 to 5"),
        ('item,score,note\na,1,ok\nb,2,"oops\nc,3,fine\nd,4,ok\n', "lines 3 to 5"),
        ('item,note,score\na,ok,1\nb,"oops,2\nc,fine,3\nd,"ok,4\ne,x,5\n', "lines 3 to 5"),
        ('item,score,note\na,1,ok\n\nb,2,"x\nc,3,y"\nd,4,z\n', "lines 4 to 5"),
    ],
)
def test_a_quote_in_another_column_does_not_swallow_rows(write, text, lines):
    refused(write("x.csv", text), f"{lines} must be rows", "close every quote")


@pytest.mark.usefixtures("engine")
def test_a_note_of_several_lines_is_no_row(write):
    path = write("x.csv", 'item,score,note\na,1,"first,\nsecond, third, and ""last"""\n\nb,2,"x\n\ny"\n')
    assert scores_in(path) == {"x": {"a": 1, "b": 2}}


def test_a_large_file_with_quotes_is_read_at_once(write, monkeypatch):
    path = write("x.csv", '"item","score","note"\n' + "".join(f'"i{at}",{at},"a, b"\n' for at in range(100)))
    monkeypatch.setattr(documents, "SMALL", 0)
    monkeypatch.setattr("fujiscore.io.formats._fields", lambda *_: pytest.fail("read row by row"))
    assert scores_in(path)["x"]["i99"] == 99


# Labels, comments and pages


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
def test_nan_is_not_a_label(tmp_path, kind):
    path = tmp_path / "x.parquet"
    ids = pa.array([1.0, float("nan"), 3.0], kind)
    parquet.write_table(pa.table({"id": ids, "score": [1.0, 2.0, 3.0]}), path)
    refused(path, "row 2, column 'id' must not be empty")
    parquet.write_table(pa.table({"qid": ids, "item": ["a", "b", "c"], "score": [1.0, 2.0, 3.0]}), path)
    refused(path, "row 2, column 'qid' must not be empty")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[{"item": "a", "score": 1, "score": 2}, {"item": "b", "score": 1}]', "record 1 must have each name once"),
        ('{"r": {"a": 1, "b": 2}, "r": {"c": 2, "d": 1}}', "must name each ranking once; 'r' occurs twice"),
        ('{"a": 1, "b": 2, "a": 3}', "'a' occurs twice"),
    ],
)
def test_a_repeated_key_is_refused(write, text, words):
    refused(write("x.json", text), words)


def test_a_column_of_percentages_may_be_the_scores_unless_another_is_named(write):
    path = write("x.csv", "gene,logfc,share\na,5,90%\nb,3,10%\n")
    refused(path, "column 'share' must hold a number; got '90%'", "or name the score column with score")
    assert list(fj.read(path, score="logfc").scores[0]) == [5, 3]


def test_json_objects_that_are_columns_are_not_rankings(write):
    table = {"id": {"0": 672, "1": 675}, "score": {"0": 3, "1": 2}}
    refused(write("x.json", json.dumps(table)), "'id' and 'score' look like the columns of a table", 'orient="records"')


def test_json_objects_of_a_score_each_are_items_not_rankings(write):
    refused(write("x.json", '{"age": {"score": 0.5}, "city": {"score": 0.3}}'), "'score' alone", '{"age": 0.5, ...}')
    assert fj.read(write("y.json", '{"q1": {"d1": 0.5}, "q2": {"d1": 0.3}}')).names == ("q1", "q2")


@pytest.mark.parametrize("text", ["# best first\nBRCA1\nTP53\n", "#genes\nBRCA1\nTP53\n", "BRCA1\n# weak ones\nTP53\n"])
def test_a_comment_in_a_list_is_not_an_item(write, text):
    refused(write("x.txt", text), "looks like a comment. Remove it")


def test_hashtags_are_items(write):
    assert list(load(write("x.txt", "#one\n#two\n#three\n")).sources[0].items) == ["#one", "#two", "#three"]
    assert list(load(write("x.txt", "the\n#\nof\n")).sources[0].items) == ["the", "#", "of"]


@pytest.mark.parametrize(
    "text",
    [
        "<!DOCTYPE html>\n<html><head><title>Sign in</title></head>\n<body></body></html>\n",
        "\ufeff\n<HTML lang='en'>\n<body>a, b</body>\n<p>c, d</p></html>\n",
        "<?xml version='1.0'?>\n<items><item>a</item></items>\n",
    ],
)
def test_a_page_is_not_a_ranking(write, text):
    path = write("x.csv", text)
    refused(path, "Download the file itself", "XML" if "xml" in text else "HTML")
    with pytest.raises(InputError, match="Download the file itself"):
        datasets.load(path, "a")


def test_tags_are_items(write):
    assert scores_in(write("x.csv", "token,score\n<html>,1\n<p>,2\n")) == {"x": {"<html>": 1, "<p>": 2}}


# What generated tables showed


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "text",
    [
        "feature_name,stage,score\n3595,Y,5\n92923,2,4\n",
        "stage,score,disease\nX,2.5,30665\n1,4.5,40439\n",
        "score,my labels,count,share,stage\n6.3,85004,21,3%,2\n7.6,33321,24,22%,X\n5.8,36395,27,7%,X\n",
        "count;score;stage;label\n23;7.9;Y;alpha\n28;2.8;X;iota\n14;4.9;X;kappa\n",
        "3.74,2\n1.89,3\n",
        "2020,id\n1,rho\n5,gamma\n",
        "2020,uniprot\n8,rho\n3,gamma\n",
        "disease,2020\n1,6\n2,4\n3,5\n",
        "labels,2020\nkappa,8\neta,6\n",
        "item;std;hits\na;0.7;0.06 points\nb;0.3;8.2 points\n",
        "score,count,name,level\n5 kg,32,iota, 0,low\n9 kg,45,delta, 1,low\n",
        "movie,2020,std\n914,8.730,00,0.6\n470,2.850,00,0.1\n",
        "effect,std,feature\n5,26e+00,0.6,gamma\n7,35e+00,0.1,beta\n",
        "stage,hits,uniprot\nX,7,350,beta\n2,2,440,zeta\n",
        "value,entrez,count\n0,99,93911,3\n5,05,53786,7\n",
        "value;share;count;gene\n3,25;9%;15;gamma\n5,21;2%;47\n6,71;9%;18;alpha\n",
        "2\t5,71\n3\t0,41\n6,94\n5\t6,53\n",
        "effect,doc_id\n2.39 points,sigma\n8.8 points\n",
        'relief,gene\n6.1,a\n6.8,"b\n',
    ],
)
def test_tables_that_may_be_read_in_two_ways_are_refused(write, text):
    refused(write("x.csv", text), "must")


def test_ids_that_are_text_beside_scores_that_are_text(tmp_path):
    parquet.write_table(pa.table({"2020": ["1.59", "0.63"], "protein": ["34730", "95850"]}), tmp_path / "x.parquet")
    assert scores_in(tmp_path / "x.parquet") == {"x": {"34730": 1.59, "95850": 0.63}}
    table = pa.table({"label": ["a", "b"], "effect": ["\u22125.49", "0.66"], "std": [0.7, 0.6]})
    parquet.write_table(table, tmp_path / "x.parquet")
    refused(tmp_path / "x.parquet", "column 'effect' must hold a number")
