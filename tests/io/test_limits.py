"""Bombs and endless input: a clear error within seconds, and little memory."""

import gzip
import http.server
import json
import os
import resource
import subprocess
import sys
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

import fujiscore as fj
from fujiscore.errors import InputError
from fujiscore.features import datasets
from fujiscore.io.limits import memory_limit
from fujiscore.paper.sources import fetch

LIMIT = "FUJISCORE_MEMORY_LIMIT"
MEMORY = 1 << 30  # bytes that a command may take; Python and the compiled code take 0.3 GB
READ = """
import sys
import fujiscore as fj
try:
    fj.read(sys.argv[1])
except fj.errors.InputError as error:
    print(error)
"""


def bomb(path, start, unit, size):
    """Write a gzip file of a start and a unit that is repeated."""
    block = unit * (1_000_000 // len(unit))
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(start)
        for _ in range(size // len(block)):
            file.write(block)


def restricted():
    resource.setrlimit(resource.RLIMIT_AS, (4 * MEMORY, 4 * MEMORY))


def report(command, seconds=60, **options):
    """Run a command that must end by itself, with little memory; return what it says."""
    environment = os.environ | {LIMIT: "500MB"}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
        env=environment,
        preexec_fn=restricted,
        **options,
    )
    assert "Traceback" not in done.stderr, done.stderr[-1500:]
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "start", "unit", "message"),
    [
        ("a.csv.gz", b"", b"\n", "it is empty"),
        ("a.csv.gz", b"item,score\n", b"\n", "blank lines in a row"),
        ("a.csv.gz", b"item,score\na,1\n", b'"\n"\n', "blank lines in a row"),
        ("a.csv.gz", b"item,score\n", b"a,1\n", "occurs twice"),
        ("a.csv.gz", b"item,score\na,1\n", b"b", "at most 16 MB long"),
        ("a.fimp.gz", b"----------\n", b"\n", "blank lines in a row"),
        ("a.json.gz", b"[", b"0,", "must fit in memory"),
        ("a.json.gz", b"[", b"{},", "must fit in memory"),
        ("a.json.gz", b"", b"[", "must fit in memory"),
        ("a.json.gz", b'{"a":1', b" ", "must fit in memory"),
        ("a.json.gz", b"[", b'{"item":"a","score":1},', "must fit in memory"),
    ],
)
def test_compressed_bombs(tmp_path, name, start, unit, message):
    bomb(tmp_path / name, start, unit, 1 << 28)
    assert (tmp_path / name).stat().st_size < 3 << 20
    assert message in report([sys.executable, "-c", READ, str(tmp_path / name)])


@pytest.mark.parametrize(
    ("producer", "message"),
    [
        ("cat /dev/zero", "another kind of binary file"),
        ("yes", "occurs twice"),
        ("yes ''", "it is empty"),
        ("yes '\"'", "blank lines in a row"),
        ("tr '\\0' a < /dev/zero", "at most 16 MB long"),
        ("yes '[0,0,0,0'", "must fit in memory"),
        ("seq 1 1000000000 | sed 's/$/,1/'", "must fit in memory"),
    ],
)
def test_endless_pipes(tmp_path, producer, message):
    (tmp_path / "b.csv").write_text("item,score\na,1\nb,2\n")
    command = f"{producer} | {sys.executable} -m fujiscore compare - b.csv; echo code $?"
    said = report(["bash", "-c", command], cwd=tmp_path, seconds=120)
    assert message in said
    assert "code 2" in said


def test_devices_and_pipes_as_files(tmp_path):
    with pytest.raises(InputError, match="/dev/zero must be text"):
        fj.read("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["bash", "-c", f"yes '[0,0,0,0' > {tmp_path / 'pipe'}"], stderr=subprocess.DEVNULL):
        assert "must fit in memory" in report([sys.executable, "-c", READ, str(tmp_path / "pipe")])


def test_large_pipes_are_read_in_full(tmp_path):
    (tmp_path / "a.csv").write_text("item,score\n" + "".join(f"gene{i},{i}\n" for i in range(50_000)))
    for compress in ("cat", "gzip -c"):
        command = f"{compress} a.csv | {sys.executable} -c \"import fujiscore as fj; print(fj.read('-'))\""
        assert "1 ranking of 50000 items" in report(["bash", "-c", command], cwd=tmp_path)


def test_the_limit_can_be_set(tmp_path, monkeypatch):
    bomb(tmp_path / "a.json.gz", b"[", b'"a",', 1 << 20)
    monkeypatch.setenv(LIMIT, "1MB")
    with pytest.raises(InputError, match=r"a\.json\.gz must fit in memory: reading may take 1MB.*set FUJISCORE_MEM"):
        fj.read(tmp_path / "a.json.gz")
    monkeypatch.setenv(LIMIT, "1GB")
    with pytest.raises(InputError, match="must be JSON"):
        fj.read(tmp_path / "a.json.gz")
    monkeypatch.setenv(LIMIT, "1.5 gb")
    assert memory_limit() == 1_500_000_000
    monkeypatch.setenv(LIMIT, "much")
    with pytest.raises(InputError, match="FUJISCORE_MEMORY_LIMIT must be a size such as 500MB or 8GB; got 'much'"):
        fj.read(tmp_path / "a.json.gz")
    monkeypatch.delenv(LIMIT)
    assert memory_limit() > 10**8


def test_plain_text_is_not_refused_for_its_size(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("item,score\n" + "".join(f"gene{i},{i}\n" for i in range(200_000)))
    monkeypatch.setenv(LIMIT, "1MB")
    assert fj.read(tmp_path / "a.csv").n == 200_000


def test_a_run_of_equal_values_in_parquet(tmp_path, monkeypatch):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = 2_000_000
    labels = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), ["a"])
    parquet.write_table(pa.table({"item": labels, "score": pa.repeat(1.0, rows)}), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 1 << 16
    monkeypatch.setenv(LIMIT, "10MB")
    with pytest.raises(InputError, match="must fit in memory"):
        fj.read(tmp_path / "a.parquet")


@pytest.mark.parametrize("depth", [100, 900, 950, 980, 990, 1000, 100_000])
@pytest.mark.parametrize("unit", ["[]", '{"a":}'])
def test_deep_json(tmp_path, depth, unit):
    content = unit[:-1] * depth + "1" + unit[-1] * depth
    for text in (content, f"[1,{content}]", f'{{"a":{content}}}', f'{{"x":{{"a":{content}}}}}'):
        (tmp_path / "a.json").write_text(text)
        with pytest.raises(InputError, match=r"it is|must hold"):
            fj.read(tmp_path / "a.json")


def test_records_without_common_names(tmp_path):
    records = [{"item": f"g{i}", f"c{i}": 1} for i in range(20_000)]
    (tmp_path / "a.json").write_text(json.dumps(records))
    start = time.process_time()
    with pytest.raises(InputError, match="20,000 records have 20,001 names in all, and 40,000 values"):
        fj.read(tmp_path / "a.json")
    assert time.process_time() - start < 20


def linear(name, text, **options):
    """Return a case: a text in a file of that name, which is read or refused in linear time."""
    return pytest.param(name, text, options, id=f"{name}-{text[:12]!r}")


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        linear("a.csv", "item," + ",".join(f"c{i}" for i in range(5000)) + "\n" + "a" + ",1" * 5000 + "\n"),
        linear("a.csv", "item," + ",".join(["c"] * 50_000) + "\n" + "a" + ",1" * 50_000 + "\n"),
        linear("a.csv", "ranking,item,score\n" + "".join(f"r{i},a,1\n" for i in range(20_000)), missing="zero"),
        linear("a.csv", "item,score\n" + '"' * 4_000_000 + "\n"),
        linear("a.csv", "item,score\n" + '""' * 60_000 + "\n"),
        linear("a.csv", "item" + " " * 4_000_000 + "score\na 1\n"),
        linear("a.fimp", "----------\n" + "1\ta\t" + " " * 1_000_000 + "\n"),
        linear("a.fimp", "----------\n" + "1\ta\t[1]" + " " * 1_000_000 + "x\n"),
        linear("a.fimp", "----------\n" + "1\ta\t" + "[" * 1_000_000 + "\n"),
        linear("a.run", "q Q0 d 1 2 t" + " " * 50_000 + "x\n"),
        linear("a.run", " " * 1_000_000 + "q\n"),
        linear("a.run", "q " * 100_000 + "\n"),
        linear("a.json", "[" * 1_000_000),
        linear("a.json", '{"a' + "\\" * 1_000_001 + '":1}'),
        linear("a.json", '{"a":' + "1" * 1_000_000 + "}"),
        linear("a.json", json.dumps(dict.fromkeys(map(str, range(100_000)), 1))),
    ],
)
def test_no_text_takes_quadratic_time(tmp_path, name, text, options):
    (tmp_path / name).write_text(text)
    start = time.process_time()
    with suppress(InputError):
        fj.read(tmp_path / name, **options)
    assert time.process_time() - start < 20


@pytest.mark.parametrize(
    "text", ["@attribute '" + "a\\" * 200_000, "@attribute " + " " * 500_000, "@attribute " + "a" * 500_000]
)
def test_arff_headers_take_linear_time(tmp_path, text):
    (tmp_path / "a.arff").write_text(f"@relation r\n{text}\n@data\n1\n")
    start = time.process_time()
    with pytest.raises(InputError):
        datasets.load(tmp_path / "a.arff", "y")
    assert time.process_time() - start < 20


def test_repeated_names_are_found_in_linear_time():
    pandas = pytest.importorskip("pandas")
    names = [*map(str, range(100_000)), "99999"]
    table = pandas.DataFrame(np.ones((1, len(names))), columns=names)
    start = time.process_time()
    for call in (lambda: fj.Rankings(names, np.ones((len(names), 1))), lambda: fj.rankings(table)):
        with pytest.raises(InputError, match="'99999' names more than one"):
            call()
    with pytest.raises(InputError, match="repeats 1 item"):
        fj.rankings(pandas.DataFrame({"item": names, "score": 1.0}), items="item")
    assert time.process_time() - start < 20


class Endless(http.server.BaseHTTPRequestHandler):
    """A server that sends zeros until the client hangs up."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(bytes(1 << 16))
        except OSError:
            pass

    def log_message(self, *_):
        pass


def test_an_endless_download(tmp_path):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        with pytest.raises(InputError, match="sends more than 32 MB, not the published file"):
            fetch(url, tmp_path, {"a.fimp": "0" * 64}, progress=False)
    finally:
        server.shutdown()
        server.server_close()
    assert not list(tmp_path.iterdir())
