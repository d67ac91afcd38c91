"""Compiled code sees only checked arrays: damaged Arrow data, wrong constructors, sizes beyond 32 bits."""

import copy
import io
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import fujiscore as fj
from fujiscore.errors import InputError
from fujiscore.features.datasets import load as load_data

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

N = 40
READ = """
import pathlib, sys
import fujiscore as fj
from fujiscore.features.datasets import load
for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    for read in (fj.read, lambda path: load(path, "score")):
        try:
            read(path)
        except fj.errors.InputError:
            pass
print("alive")
"""


def example(kind):
    items = pa.array([f"gene{i}" for i in range(N)])
    items = items.dictionary_encode() if kind == "dictionary" else items.cast(kind)
    return pa.table({"item": items, "score": np.linspace(1, 2, N)})


def stored(table, suffix, **options):
    buffer = io.BytesIO()
    (feather.write_feather if suffix == "feather" else parquet.write_table)(table, buffer, **options)
    return buffer.getvalue()


SEEDS = [
    (suffix, stored(example(kind), suffix, compression=compression))
    for kind in ("string", "large_string", "dictionary")
    for suffix, compression in (
        ("feather", "uncompressed"),
        ("feather", "zstd"),
        ("feather", "lz4"),
        ("parquet", "none"),
        ("parquet", "zstd"),
    )
]


def damaged(content, random):
    changed = bytearray(content)
    place = int(random.integers(0, len(changed) - 8))
    if random.random() < 0.5:
        changed[place] = int(random.integers(0, 256))
    else:
        changed[place : place + 4] = [b"\xff\xff\xff\x7f", b"\xff" * 4, b"\0\0\0\x40"][random.integers(0, 3)]
    return bytes(changed)


@pytest.mark.parametrize("seed", range(3))
def test_damaged_columnar_files_are_errors(tmp_path, seed):
    random = np.random.default_rng(seed)
    for number in range(200):
        suffix, content = SEEDS[random.integers(0, len(SEEDS))]
        (tmp_path / f"{number:03d}.{suffix}").write_bytes(damaged(content, random))
    result = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path)], capture_output=True, text=True, check=False, timeout=300
    )
    assert result.stdout == "alive\n", result.stderr[-2000:]


def test_one_offset(tmp_path):
    content = stored(example("string"), "feather", compression="uncompressed")
    offsets = np.cumsum([0] + [len(f"gene{i}") for i in range(N)]).astype(np.int32).tobytes()
    assert content.count(offsets) == 1
    place = content.index(offsets) + 4 * 20
    (tmp_path / "a.feather").write_bytes(content[:place] + b"\xff\xff\xff\x3f" + content[place + 4 :])
    result = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path)], capture_output=True, text=True, check=False, timeout=60
    )
    assert result.stdout == "alive\n"
    with pytest.raises(InputError, match=r"a\.feather must be a complete Feather file"):
        fj.read(tmp_path / "a.feather")


@pytest.mark.parametrize("suffix", ["feather", "parquet"])
def test_labels_that_are_not_utf8(tmp_path, suffix):
    options = (
        {"compression": "uncompressed"} if suffix == "feather" else {"compression": "none", "use_dictionary": False}
    )
    content = stored(example("string"), suffix, **options).replace(b"gene7gene8", b"gene\xffgene8", 1)
    content = content.replace(b"\x05\0\0\0gene7", b"\x05\0\0\0gene\xff")
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(content)
    with pytest.raises(InputError, match="UTF8"):
        fj.read(path)


def test_feather_of_version_1(tmp_path):
    (tmp_path / "a.feather").write_bytes(b"FEA1" + b"\0" * 100)
    with pytest.raises(InputError, match="version 2"):
        fj.read(tmp_path / "a.feather")


def test_no_columns(tmp_path):
    path = tmp_path / "a.feather"
    path.write_bytes(stored(pa.table({}), "feather"))
    with pytest.raises(InputError, match="must have columns"):
        fj.read(path)
    with pytest.raises(InputError, match="must have columns"):
        load_data(path, "y")


class Stream:
    """An object that offers an Arrow stream and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def wrong_labels(what):
    if what == "index":
        return pa.DictionaryArray.from_arrays(pa.array([0, 1, 77]), pa.array(["a", "b"]), safe=False)
    offsets = np.array([0, 1, 2**30, 3] if what == "offset" else [0, 1, 2, 3], np.int32)
    return pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(offsets), pa.py_buffer(b"a\xffc")])


def as_pandas(table):
    pandas = pytest.importorskip("pandas")
    return table.to_pandas(types_mapper=pandas.ArrowDtype)


def as_polars(table):
    return pytest.importorskip("polars").from_arrow(table)


def as_columns(table):
    return {"r": table["item"], "s": table["item"].chunk(0)}


@pytest.mark.parametrize("what", ["offset", "index", "text"])
@pytest.mark.parametrize(
    "make", [lambda table: table, lambda table: table.to_batches()[0], Stream, as_pandas, as_polars, as_columns]
)
def test_damaged_arrow_objects_are_errors(what, make):
    labels = wrong_labels(what)
    table = pa.Table.from_arrays([labels, pa.array([3.0, 2.0, 1.0])], ["item", "score"])
    if make is as_polars and what != "text":
        pytest.skip("polars itself does not survive making such a frame")
    with pytest.raises(InputError, match="consistent Arrow data"):
        fj.rankings(make(table))


def test_sound_arrow_objects():
    table = example("dictionary")
    for obj in (table, table.to_batches()[0], Stream(table), as_polars(table), as_pandas(table)):
        assert list(fj.rankings(obj).labels) == [f"gene{i}" for i in range(N)]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1, float("nan")], "finite"),
        ([1, float("inf")], "finite"),
        (np.ones((2, 2)), "one-dimensional"),
        ([], "at least one"),
        (["x", 1], "numbers"),
        (np.array([1j, 2]), "numbers"),
    ],
)
def test_constructors_check(scores, message):
    with pytest.raises(InputError, match=message):
        fj.Ranking(scores)
    with pytest.raises(InputError, match=message):
        fj.Rankings(["a", "b"], [[1.0, 2.0], scores])


def test_constructors_check_lengths():
    with pytest.raises(InputError, match="lengths"):
        fj.Rankings(["a", "b"], [[1.0, 2.0], [1.0, 2.0, 3.0]])
    with pytest.raises(InputError, match="one label per score"):
        fj.Rankings(["a"], [[1.0, 2.0]], ["x"])
    with pytest.raises(InputError, match="names"):
        fj.Rankings(["a"], [[1.0, 2.0], [1.0, 2.0]])
    with pytest.raises(InputError, match="universe"):
        fj.Ranking([1.0, 2.0], universe=1)


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda obj: pickle.loads(pickle.dumps(obj))])
def test_copies_are_the_same(make):
    rankings = fj.Rankings(["a", "b"], [[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]], ["x", "y", "z"])
    assert fj.auc(*make(rankings)) == fj.auc(*rankings)
    assert fj.auc(make(rankings[0]), rankings[1]) == fj.auc(*rankings)


def test_any_layout_of_an_array():
    wide = np.arange(40.0).reshape(10, 4)
    column, reverse = wide[:, 1], wide[::-1, 2]
    column.flags.writeable = False
    expected = fj.auc(column.tolist(), reverse.tolist())
    for kind in (np.float64, ">f8", np.float32, np.int16, np.uint8, object):
        assert fj.auc(column.astype(kind), reverse.astype(kind)) == expected
    assert fj.auc(column, reverse) == expected
    assert fj.auc(fj.Ranking(column), fj.Ranking(reverse)) == expected


HUGE = np.broadcast_to(0.5, 2**31)  # takes 8 bytes


@pytest.mark.parametrize(
    "call",
    [
        lambda: fj.auc(HUGE, [1.0]),
        lambda: fj.compare([1.0], HUGE),
        lambda: fj.rankings(np.broadcast_to(0.5, (2, 2**31))),
        lambda: fj.rankings([HUGE, HUGE]),
        lambda: fj.Ranking(HUGE),
        lambda: fj.Rankings(["a"], [HUGE]),
        lambda: fj.auc(range(2**31), range(2**31)),
        lambda: fj.auc(np.ma.masked_array(HUGE), HUGE),
        lambda: fj.auc(np.broadcast_to(np.int8(1), 2**31), HUGE),
    ],
)
def test_lists_beyond_32_bits_are_refused(call):
    with pytest.raises(InputError, match=r"fewer than 2\^31 items; it has 2,147,483,648"):
        call()


@pytest.mark.parametrize("n", [2**31, 2**40, 2**53])
def test_set_stability_takes_any_number_of_items(n):
    stability = fj.stats.set_stability([{"a", "b"}, {"a", "b"}, {"a", "c"}], n=n)
    assert stability.value == pytest.approx(2 / 3, rel=1e-6)
    assert stability.n == n


def test_set_stability_is_the_same_as_of_the_matrix():
    matrix = np.random.default_rng(0).random((12, 30)) < 0.3
    matrix[:, -3:] = False
    sets = [np.flatnonzero(row).tolist() for row in matrix]
    assert fj.stats.set_stability(sets, n=30).value == pytest.approx(fj.stats.set_stability(matrix).value, rel=1e-12)
    assert fj.stats.set_stability(sets, n=30).variance == pytest.approx(
        fj.stats.set_stability(matrix).variance, rel=1e-12
    )


@pytest.mark.parametrize("universe", [10**9, 2**31 - 1])
def test_a_universe_costs_nothing(universe):
    first, second = {"a": 3, "b": 2, "c": 1}, {"b": 3, "d": 2, "a": 1}
    assert fj.chance(first, second, universe=universe, permutations=9).auc > 0
    assert fj.stability({"x": first, "y": second, "z": first}, universe=universe).value > 0


@pytest.mark.parametrize("universe", [2**63, 10**30, 10**400])
def test_a_universe_that_is_no_number_of_anything(universe):
    first, second = {"a": 3, "b": 2, "c": 1}, {"b": 3, "d": 2, "a": 1}
    for call in (fj.chance, fj.compare, fj.curve):
        with pytest.raises(InputError, match=r"at most (9007199254740992|2147483647)"):
            call(first, second, universe=universe)
    with pytest.raises(InputError, match=r"at most (9007199254740992|2147483647)"):
        fj.stats.set_stability([["a", "b"], ["a", "c"]], n=universe)


@pytest.mark.parametrize(
    ("scores", "items"),
    [
        ({"x": 1, "y": 2}, ["q", "w"]),
        ({"x": 1, "y": 2}, ["y", "x"]),
        (pd.Series([1.0, 2.0], index=["x", "y"]), ["y", "x"]),
        ([("x", 1), ("y", 2)], ["y", "x"]),
    ],
)
def test_labelled_scores_are_not_given_other_labels(scores, items):
    with pytest.raises(InputError, match="must have one set of labels"):
        fj.Ranking(scores, items)
    with pytest.raises(InputError, match="must have one set of labels"):
        fj.Rankings(["a"], [scores], items)
    assert list(fj.Ranking(scores, ["x", "y"]).items) == ["x", "y"]


def test_a_text_is_not_a_list_of_names():
    with pytest.raises(InputError, match="names must name each"):
        fj.Rankings("ab", [[1, 2], [2, 1]])


@pytest.mark.parametrize("make", [np.array, pd.Series])
def test_what_happens_to_the_users_array_does_not_reach_a_ranking(make):
    scores = make([3.0, 2.0, 1.0])
    both, one = fj.rankings({"a": scores, "b": [3.0, 2.0, 1.0]}), fj.Ranking(scores)
    result = fj.compare(scores, [3.0, 2.0, 1.0])
    scores[0] = -5.0
    assert both["a"].scores.tolist() == one.scores.tolist() == [3.0, 2.0, 1.0]
    assert fj.auc(both["a"], both["b"]) == 1.0
    assert result.explain(1).value == 1.0
