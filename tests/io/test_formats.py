"""bz2, xz, NumPy files and Arrow streams are read; zip and other binary formats are named, never read as text."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import sqlite3
import tarfile
import zipfile

import numpy as np
import pytest

import fujiscore as fj
from fujiscore.errors import InputError
from fujiscore.features.datasets import load as load_data
from fujiscore.io import load

CSV = b"item,score\na,1\nb,2\n"
LARGE = b"item,score\n" + b"".join(
    b"item%d,%d\n" % (i, i) for i in range(3000)
)  # with the fixture `engine`, also read as large files are
PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def held(path):
    return {source.name: dict(zip(source.items, source.scores.tolist(), strict=True)) for source in load(path).sources}


def fails(path, *needles, call=load):
    with pytest.raises(InputError) as caught:
        call(path)
    assert all(needle in str(caught.value) for needle in needles), str(caught.value)
    assert "\n" not in str(caught.value)


# Compression


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("name", PACK)
@pytest.mark.parametrize("content", [CSV, LARGE], ids=["small", "large"])
def test_compressed_files(write, name, content):
    expected = held(write("x.csv", content))
    assert held(write(f"x.csv.{name}", PACK[name](content))) == expected
    assert list(held(write("y.csv", PACK[name](content))).values()) == list(expected.values())  # whatever its name
    cut = content.index(b"\n", len(content) // 2) + 1
    in_parts = PACK[name](content[:cut]) + PACK[name](content[cut:])
    assert held(write(f"x.csv.{name}", in_parts)) == expected


def test_padding_after_xz(write):
    padded = lzma.compress(CSV) + bytes(300_000)
    assert held(write("x.csv.xz", padded + lzma.compress(b"c,3\n") + bytes(4))) == {"x": {"a": 1, "b": 2, "c": 3}}


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("name", ["bz2", "xz"])
@pytest.mark.parametrize("content", [CSV, LARGE], ids=["small", "large"])
def test_damaged_files_are_refused(write, name, content):
    whole = PACK[name](content)
    fails(write(f"x.csv.{name}", whole[: len(whole) * 2 // 3]), "damaged or truncated", "ends too early")
    fails(write(f"x.csv.{name}", whole + b"garbage"), "damaged or truncated")
    second = bytearray(PACK[name](b"c,3\n"))
    second[1] ^= 1
    fails(write(f"x.csv.{name}", whole + second), "damaged or truncated")
    fails(write(f"x.csv.{name}", PACK[name](b"")), "it is empty")


@pytest.mark.parametrize("name", ["bz2", "xz"])
@pytest.mark.parametrize(("start", "unit"), [(b"item,score\n", b"\n"), (b"[", b"0,"), (b"item,score\na,", b"1")])
def test_bombs(write, monkeypatch, name, start, unit):
    content = PACK[name](start + unit * (5_000_000 // len(unit)))
    assert len(content) < 1 << 16
    monkeypatch.setenv("FUJISCORE_MEMORY_LIMIT", "2MB")
    with pytest.raises(InputError, match=r"must fit in memory|blank lines in a row"):
        load(write(f"x.csv.{name}", content))


def test_an_item_that_begins_like_bz2(write):
    assert held(write("x.csv", "BZh9,3\nb,2\n")) == {"x": {"BZh9": 3, "b": 2}}


# NumPy


def npy(values):
    sink = io.BytesIO()
    np.save(sink, values, allow_pickle=True)
    return sink.getvalue()


@pytest.mark.parametrize("values", [np.array([0.5, 2.5, 1]), np.array([3, 1, 2]), np.array([3, 1, 2], ">f4")])
def test_a_vector_is_one_ranking(write, values):
    expected = {str(place): float(value) for place, value in enumerate(values.tolist())}
    assert held(write("x.npy", npy(values))) == {"x": expected}
    assert held(write("x.npy.gz", gzip.compress(npy(values)))) == {"x": expected}


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_are_rankings_and_queries(write, order):
    first, second = np.random.default_rng(0).random((2, 30, 8))
    paths = [write(f"{len(x)}{x[0, 0]}.npy", npy(np.asarray(x, order=order))) for x in (first, second)]
    assert held(paths[0])["2"] == {str(i): value for i, value in enumerate(first[2].tolist())}
    expected = fj.compare_runs(first, second, k=3).values()
    assert fj.compare_runs(*paths, k=3).values().tolist() == expected.tolist()


@pytest.mark.parametrize(
    "values",
    [np.ones((2, 2, 2)), np.ones((2, 3), int), np.array(1.0), np.array(["a"]), np.array([1j]), np.array([{}]),
     np.zeros(2, [("a", float)])],
)  # fmt: skip
def test_other_arrays_are_refused(write, values):
    fails(write("x.npy", npy(values)), "must be a vector of scores", "shape", "CSV or Parquet")


def test_damaged_arrays_are_refused(write):
    whole = npy(np.arange(300.0))
    for content in (whole[:-1], whole + b"x", whole[:20], whole.replace(b"(300,)", b"(9**9)")):
        fails(write("x.npy", content), "must be a complete NumPy file")
    huge = whole.replace(b"(300,), }       ", b"(3000000000,), }")
    fails(write("x.npy", huge), "its size is not that of its array")
    fails(write("x.npy", npy(np.empty(0))), "must hold at least one row")


def test_data_need_names(write):
    fails(write("x.npy", npy(np.ones((3, 2)))), "must have names of columns", call=lambda path: load_data(path, "y"))


# Arrow streams


def arrow_stream(batch=50):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"item": [f"i{n}" for n in range(200)], "score": np.arange(200.0)})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        for part in table.to_batches(batch):
            writer.write_batch(part)
    return sink.getvalue()


@pytest.mark.usefixtures("engine")
def test_arrow_streams_are_read(write):
    content, expected = arrow_stream(), {f"i{n}": float(n) for n in range(200)}
    for name in ("x.arrows", "x.arrow", "x.bin"):
        assert held(write(name, content)) == {"x": expected}
    assert held(write("x.arrows.gz", gzip.compress(content))) == {"x": expected}
    assert load(write("x.arrows", content), format="feather").sources[0].scores.sum() == sum(expected.values())


@pytest.mark.usefixtures("engine")
def test_arrow_streams_without_their_end_are_refused(write):
    content = arrow_stream()
    for cut in range(4, len(content), 97):
        fails(write("x.arrows", content[:cut]), "x.arrows")
    fails(write("x.arrows", content[:-8]), "must be a complete Arrow stream file", "ends too early")
    fails(write("x.arrows", content + content), "goes on after its end")


# What is not read


def archive(kind):
    sink = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(sink, "w") as file:
            file.writestr("x.csv", CSV)
    elif kind == "tar":
        with tarfile.open(fileobj=sink, mode="w") as file:
            member = tarfile.TarInfo("x.csv")
            member.size = len(CSV)
            file.addfile(member, io.BytesIO(CSV))
    else:
        np.savez(sink, a=np.ones(3))
    return sink.getvalue()


def database():
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (item, score)")
        return connection.serialize()


@pytest.mark.parametrize(
    ("name", "content", "needle"),
    [
        ("x.zip", lambda: archive("zip"), "it is a zip archive"),
        ("x.csv", lambda: archive("zip"), "it is a zip archive"),
        ("x.xlsx", lambda: archive("zip"), ".xlsx"),
        ("x.npz", lambda: archive("npz"), ".npz"),
        ("x.zip", lambda: b"PK\x05\x06" + bytes(18), "an empty zip archive"),
        ("x.tar", lambda: archive("tar"), "a tar archive"),
        ("x.tar.gz", lambda: gzip.compress(archive("tar")), "a tar archive"),
        ("x.db", database, "an SQLite database"),
        ("x.pkl", lambda: pickle.dumps({"a": 1.0}, protocol=5), "a Python pickle"),
        ("x.h5", lambda: b"\x89HDF\r\n\x1a\n" + bytes(8), "an HDF5 file"),
        ("x.xls", lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file"),
        ("x.7z", lambda: b"7z\xbc\xaf\x27\x1c\0\4", "a 7z archive"),
    ],
)
def test_other_formats_are_named(write, name, content, needle):
    fails(write(name, content()), needle)
    fails(write(name, content()), needle, call=lambda path: load_data(path, "y"))
    fails(write(name, content()), needle, call=lambda path: fj.compare_runs(path, path))
