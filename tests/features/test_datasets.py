"""Data sets from files: the same table in every format, and what is wrong with a file said in a line."""

from __future__ import annotations

from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest

import fujiscore as fj
from fujiscore.features.datasets import BUNDLED, load
from fujiscore.rankers.features import prepare

ROWS = [(0.5, "red", "yes"), (1.25, "blue", "no"), (-3.0, "red", "yes"), (1e-9, "green", "no"), (7.0, "blue", "no")]
FRAME = pd.DataFrame(ROWS, columns=["size", "colour", "class"])
ARFF = """% a comment
@RELATION example
@attribute size NUMERIC
@attribute 'colour' {red, blue, green}
@attribute class {yes,no}
@DATA
"""


def as_arff(path):
    path.write_text(ARFF + "".join(f"{size},{colour},'{own}'\n" for size, colour, own in ROWS))


WRITERS = {
    "d.csv": lambda path: FRAME.to_csv(path, index=False),
    "d.csv.gz": lambda path: FRAME.to_csv(path, index=False),
    "d.tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "semicolon.csv": lambda path: FRAME.to_csv(path, index=False, sep=";"),
    "d.parquet": FRAME.to_parquet,
    "category.parquet": lambda path: FRAME.astype({"colour": "category"}).to_parquet(path),
    "d.feather": FRAME.to_feather,
    "d.arff": as_arff,
    "arff_without_extension": as_arff,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_table(tmp_path, name):
    WRITERS[name](tmp_path / name)
    found = load(tmp_path / name, "class")
    assert found.features == ["size", "colour"]
    assert found.categorical.tolist() == [False, True]
    assert found.X[:, 0].tolist() == [own[0] for own in ROWS]
    assert found.X[:, 1].tolist() == [2, 0, 2, 1, 0]  # blue, green, red
    assert found.y.tolist() == [own[2] for own in ROWS]
    assert found.notes == ("categorical: 'colour'",)


def test_libsvm(tmp_path):
    (tmp_path / "d.libsvm").write_text("1 1:0.5 3:2 # note\n-1 2:1e-3\n\n1 3:-4\n")
    found = load(tmp_path / "d.libsvm")
    assert found.features == ["1", "2", "3"]
    assert found.X.tolist() == [[0.5, 0, 2], [0, 1e-3, 0], [0, 0, -4]]
    assert found.y.tolist() == [1, -1, 1]


def test_libsvm_agrees_with_scikit_learn(tmp_path):
    from sklearn.datasets import dump_svmlight_file

    random = np.random.default_rng(0)
    dense = random.normal(size=(20, 5)) * (random.random((20, 5)) < 0.6)
    dense[0] = 1.0
    dump_svmlight_file(dense, random.integers(0, 3, 20), str(tmp_path / "d"), zero_based=False)
    np.testing.assert_allclose(load(tmp_path / "d").X, dense, rtol=1e-12)


@pytest.mark.parametrize("name", BUNDLED)
def test_data_sets_of_scikit_learn_imply_their_target(name):
    from sklearn import datasets

    held = getattr(datasets, f"load_{name}")()
    found = load(name)
    np.testing.assert_array_equal(found.X, held.data)
    assert found.features == list(held.feature_names)
    if name == "diabetes":
        assert found.y.tolist() == held.target.tolist()
        return
    assert found.y.tolist()[:3] == [
        int(own) if str(own).isdecimal() else str(own) for own in held.target_names[held.target[:3]]
    ]


def test_openml_offline_is_one_line(monkeypatch):
    import sklearn.datasets._openml as module

    def offline(*_args, **_options):
        raise URLError("no route to host")

    monkeypatch.setattr(module, "urlopen", offline)
    monkeypatch.setattr(module.time, "sleep", lambda _: None)
    with pytest.raises(fj.InputError, match=r"^openml:nothing cannot be downloaded: no route to host\.[^\n]*$"):
        load("openml:nothing")


def write(path, header, rows):
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


PLAIN = [f"{i}.5,{i % 7},{'ab'[i % 2]}" for i in range(20)]
BAD = {
    "no target": ("a,b,class", PLAIN, None, "target must name the column of classes.*pass target='class'"),
    "no target, other name": ("a,b,kind", PLAIN, None, "pass target='kind'"),
    "mistyped target": ("a,b,class", PLAIN, "clas", "got 'clas'. Did you mean 'class'"),
    "no header": ("1.5,2,a", PLAIN, "class", "Add a header"),
    "numbers alone": ("1.5,2,3", ["1,2,3"], "class", "line 1 must name the columns"),
    "duplicate names": ("a,a,class", PLAIN, "class", "'a' names columns 1 and 2"),
    "text among numbers": (
        "a,b,class",
        [*PLAIN, "oops,1,a"],
        "class",
        "line 22, column 'a' must hold a number.*'oops'",
    ),
    "text far below": ("a,b,class", [*PLAIN * 40, "oops,1,a"], "class", "line 802, column 'a'.*'oops'"),
    "infinite": ("a,b,class", [*PLAIN, "inf,1,a"], "class", "finite numbers; infinite ones are in 'a'"),
    "identifier": (
        "id,b,class",
        [f"r{i}x,1,{'ab'[i % 2]}" for i in range(9)],
        "class",
        "unique in every row and looks like an identifier.*drop='id'",
    ),
    "decimal comma": (
        "a;b;class",
        [f"1,{i};2;{'ab'[i % 2]}" for i in range(9)],
        "class",
        "column 'a' must hold a number; got '1,0'. Write numbers with a decimal point",
    ),
    "ragged": ("a,b,class", [*PLAIN, "1,2"], "class", "line 22 must have 3 fields"),
    "no rows": ("a,b,class", [], "class", "no rows beneath"),
    "one column": ("class", ["a", "b"], "class", "at least two columns"),
    "only the target": ("a,class", ["1,x", "2,y"], "class", None),
}


@pytest.mark.parametrize("case", [name for name, own in BAD.items() if own[3]])
def test_bad_files_are_refused_in_a_line(tmp_path, case):
    header, rows, target, message = BAD[case]
    path = write(tmp_path / "d.csv", header, rows)
    with pytest.raises(fj.InputError, match=message) as error:
        load(path, target)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("sparse.arff", ARFF + "{0 1, 2 yes}\n", "line 7 must be 3 values, one per @attribute \\(dense, not sparse"),
        (
            "date.arff",
            "@relation r\n@attribute when date\n@data\n",
            "line 2 must be '@attribute name type'.*got '@attribute when date'",
        ),
        ("short.arff", ARFF + "1,red\n", "line 7 must be 3 values.*got '1,red'"),
        ("nodata.arff", "@relation r\n@attribute a numeric\n", "no line @data"),
        ("empty.arff", ARFF, "no rows beneath"),
        ("word.arff", ARFF + "big,red,yes\n", "line 7, column 'size'.*'big'"),
        ("bad.libsvm", "1 1:2\n1 x:3\n", "line 2 must be 'class index:value"),
        ("huge.libsvm", "1 1:2\n0 4000000000:3\n", "fit in memory"),
        ("empty.csv", "", "it is empty"),
        ("damaged.parquet", "PAR1 and nothing else", "damaged or truncated"),
    ],
)
def test_bad_formats_are_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(fj.InputError, match=message):
        load(tmp_path / name, "class")


def test_a_mistyped_data_set_suggests_one():
    with pytest.raises(fj.InputError, match="Did you mean 'digits'"):
        load("digit")


def test_dates_are_refused(tmp_path):
    FRAME.assign(when=pd.Timestamp("2020-01-01")).to_parquet(tmp_path / "d.parquet")
    with pytest.raises(fj.InputError, match=r"holds datetimes\. Leave it out with drop='when'"):
        load(tmp_path / "d.parquet", "class")
    assert load(tmp_path / "d.parquet", "class", drop=["when"]).features == ["size", "colour"]


def test_columns_can_be_left_out_and_made_categorical(tmp_path):
    path = write(tmp_path / "d.csv", "a,b,class", PLAIN)
    found = load(path, "class", drop=["a"], categorical=["b"])
    assert found.features == ["b"]
    assert found.categorical.tolist() == [True]
    for option in ("drop", "categorical"):
        with pytest.raises(fj.InputError, match=f"{option} must name a column; got 'z'"):
            load(path, "class", **{option: ["z"]})
    with pytest.raises(fj.InputError, match="must not be in drop"):
        load(path, "class", drop=["class"])


def test_an_unnamed_index_is_left_out(tmp_path):
    FRAME.to_csv(tmp_path / "d.csv")
    found = load(tmp_path / "d.csv", "class")
    assert found.features == ["size", "colour"]
    assert "unnamed first column" in found.notes[0]


def test_the_numbered_names_of_a_table_without_names_are_a_header(tmp_path):
    pd.DataFrame([[1.0, 2.0, 0], [3.0, 4.0, 1]]).to_csv(tmp_path / "d.csv", index=False)
    assert load(tmp_path / "d.csv", "2").features == ["0", "1"]


GAPS = ["1,red,x", ",red,y", "3,?,x", "5,blue,y", "7,red,NA"]


def prepared(data, **options):
    return prepare(data.X, data.y, data.categorical, names=data.features, inspect=True, **options)


def test_missing_values_can_be_kept_dropped_and_filled(tmp_path):
    data = load(write(tmp_path / "d.csv", "a,colour,class", [*GAPS[:4], "3,red,y"]), "class")
    kept = prepared(data)
    assert kept.incomplete.tolist() == [True, True]
    assert np.isnan(kept.values).sum() == 2
    dropped = prepared(data, nan="drop")
    assert dropped.values[:, 0].tolist() == [1, 5, 3]
    assert dropped.notes[0] == "left out 2 rows with missing values"
    filled = prepared(data, nan="fill")
    assert filled.values.tolist() == [[1, 1], [3, 1], [3, 1], [5, 0], [3, 1]]
    assert filled.notes[0] == "filled in 2 missing values: medians, most frequent categories"


def test_rows_without_a_target_are_left_out(tmp_path):
    found = load(write(tmp_path / "d.csv", "a,colour,class", GAPS), "class")
    assert found.y.tolist() == ["x", "y", "x", "y"]
    assert found.X.shape == (4, 2)
    assert found.notes[-1] == "left out 1 row without a target"
    numeric = load(write(tmp_path / "n.csv", "a,y", ["1,2", "2,", "3,5", "4,2"]), "y")
    assert (numeric.y.tolist(), numeric.y.dtype.kind) == ([2, 5, 2], "i")


def test_a_column_without_values_is_constant_once_filled(tmp_path):
    data = load(write(tmp_path / "d.csv", "a,e,class", ["1,,x", "2,,y", "3,,y"]), "class")
    filled = prepared(data, nan="fill")
    assert filled.values[:, 1].tolist() == [0, 0, 0]
    assert any("'e'" in note or ": e" in note for note in filled.notes)
    with pytest.raises(fj.InputError, match=r"rows without missing values.* leave out columns 'e', 'a'"):
        prepared(data, nan="drop")


def test_a_column_of_groups_is_no_feature(tmp_path):
    path = write(tmp_path / "d.csv", "patient,a,class", ["p,1,x", "p,2,y", "q,3,", "q,4,y"])
    found = load(path, "class", groups="patient")
    assert (found.features, found.groups.tolist()) == (["a"], ["p", "p", "q"])
    with pytest.raises(fj.InputError, match="groups must name a column"):
        load(path, "class", groups="site")
    with pytest.raises(fj.InputError, match="the target 'class' must not be in"):
        load(path, "class", groups="class")


def test_whole_numbers_are_classes_and_fractions_a_quantity(tmp_path):
    whole = write(tmp_path / "w.csv", "a,y", [f"{i},{i % 30}" for i in range(90)])
    assert load(whole, "y").y.dtype.kind == "i"
    split = write(tmp_path / "f.csv", "a,y", [f"{i},{i}.5" for i in range(90)])
    assert load(split, "y").y.dtype.kind == "f"


def test_a_sample_keeps_every_class_in_its_share(tmp_path):
    path = write(tmp_path / "d.csv", "a,class", [f"{i},{'x' if i % 10 else 'y'}" for i in range(1000)])
    table = prepared(load(path, "class"))
    found = table.sampled(100)
    assert found.target.counts.tolist() == [90, 10]
    assert found.notes[-1] == "a sample of 100 of 1000 rows"
    np.testing.assert_array_equal(found.values, table.sampled(100).values)
    assert table.sampled(5000) is table
