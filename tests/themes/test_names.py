"""Names are text: whatever items, columns, rankings and files are called, nothing fails, lies or floods the screen."""

from __future__ import annotations

import csv
import io
import json
import os
import pickle
import re
import subprocess
import sys
import time
import unicodedata

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore.charts.figure import LONGEST
from fujiscore.cli import fuji as command
from fujiscore.cli.terminal import FILE, Screen, display_width, fitted
from fujiscore.errors import NAME, SENTENCE, one_line, printable, short_names, shortened, shown, spelled
from fujiscore.features import files as study_files
from fujiscore.features import report as study_report
from fujiscore.features.study import study
from fujiscore.io.table import did_you_mean
from fujiscore.paper import page
from fujiscore.paper.build import Reproduction
from fujiscore.paper.record import PageTable, Section
from fujiscore.text import tables
from fujiscore.text.data import to_json

MEGABYTE = 1_000_000
LONG = "über_long" * 40
HOSTILE = [
    "$a$",
    "$\\frac$",
    "\\frac{1}{2}",
    "_x_",
    "two\nlines",
    "cr\rlf",
    "\x1b[31mred\x07\x00",
    "right\u202eleft",
    "joined\u200d\u200bnot",
    "line\u2028end\x85",
    "lone\udcff",
    "\ud800",
    "名前",
    "e\u0301",
    "a|b",
    "<script>alert(1)</script>",
    "`code` *strong* [link](http://x) ~~gone~~ &amp;",
    "=1+1",
    LONG,
    LONG[:-1] + "h",
    "Z" + "\u0301" * 5000,
    "",
    " ",
]
# Every character, lone surrogates too.
TEXT = st.text(st.characters(codec=None), max_size=80)
LABELS = st.lists(TEXT | st.sampled_from(HOSTILE), min_size=3, max_size=6, unique=True)


def is_line(text):
    return text.isprintable() and text.encode().decode() == text


def labelled(names):
    return {name: float(len(names) - place) for place, name in enumerate(names)}


class TestOneSafeLine:
    @pytest.mark.parametrize("category", ["Cc", "Cf", "Cs", "Zl", "Zp", "Co"])
    def test_characters_that_do_not_print_are_escaped(self, category):
        every = [chr(code) for code in range(0xF0000) if unicodedata.category(chr(code)) == category]
        assert every
        for character in every:
            assert printable(f"a{character}b") == f"a{repr(character)[1:-1]}b"

    def test_other_text_stays(self):
        for text in ("plain name", "mean_radius", "名前", "שלום", "naïve", "\\n", "$a$"):
            assert printable(text) == text

    @given(TEXT | st.integers() | st.tuples(TEXT, TEXT), st.integers(8, 40))
    def test_printable_and_no_wider_than_asked(self, value, most):
        for text in (printable(value, most), shown(value), one_line(value)):
            assert is_line(text)
        assert display_width(printable(value, most)) <= most

    @given(st.text(max_size=60), st.integers(3, 40))
    def test_the_middle_is_left_out(self, text, most):
        short = shortened(text, most)
        start, mark, end = short.partition("…") if short != text else (text, "", "")
        assert text.startswith(start)
        assert text.endswith(end)
        assert short == text or mark

    def test_long_names_stay_apart(self):
        names = [LONG, LONG[:-1] + "h", LONG[:200] + "x" + LONG[200:], LONG[:200] + "y" + LONG[200:], "a\n", "a\\n"]
        short = short_names(names, 32)
        assert len(set(short)) == len(names)
        assert max(map(display_width, short)) <= 32
        assert short_names(["a", "b"]) == ["a", "b"]

    def test_a_megabyte_takes_no_time(self):
        start = time.perf_counter()
        for name in ("M" * MEGABYTE, "\x01" * MEGABYTE, "名 " * MEGABYTE, "\udcff" * MEGABYTE):
            for text in (printable(name, 40), shown(name), one_line(f"{name} is wrong"), short_names([name] * 9)[0]):
                assert len(text) <= SENTENCE
            assert did_you_mean(name, [name + "x", "score"]) == ""
        assert time.perf_counter() - start < 5


class TestMessages:
    def test_errors_are_one_line(self):
        for name in (*HOSTILE, "M" * MEGABYTE, "name with blanks " * 60_000):
            error = fj.InputError(f"{name}: the column {name!r} must be known. Remedy.")
            assert is_line(str(error))
            assert len(str(error)) <= SENTENCE
            assert str(error).endswith("must be known. Remedy.") or "…" in str(error)
            assert str(pickle.loads(pickle.dumps(error))) == str(error)

    def test_what_the_library_raises(self):
        odd = "\x1b[31m\u202e\n" + "M" * MEGABYTE
        wrong = [
            lambda: fj.curve([1, 2], [2, 1], odd),
            lambda: fj.curve([1, 2], [2, 1], ks=odd),
            lambda: fj.curve([1, 2], [2, 1], ties=odd),
            lambda: fj.curve({odd: 1.0}, {"b": 1.0}, missing="raise"),
            lambda: fj.curve({odd: "x"}, {odd: 1.0}),
            lambda: fj.rankings({odd: [1, 2], "b": [2, 1]})["absent"],
            lambda: fj.rankings({odd: [1, 2], "b": [2, 1]})[odd + "x"],
            lambda: fj.read(odd[:200]),
        ]
        for call in wrong:
            with pytest.raises(fj.InputError) as raised:
                call()
            assert is_line(str(raised.value))
            assert len(str(raised.value)) <= SENTENCE

    def test_arguments_as_they_are_spelled(self):
        assert spelled("item", "a\nb") == "item='a\\nb'"
        assert len(spelled("item", "x" * MEGABYTE)) < 2 * NAME

    def test_long_paths_stay_whole(self):
        path = "/" + "folder/" * 30 + "scores.csv"
        assert str(fj.InputError(f"{path} must be a file.")) == f"{path} must be a file."


@settings(max_examples=60, deadline=None)
@given(LABELS, LABELS)
def test_any_name_in_every_form_of_a_result(items, names):
    rankings = fj.rankings({name: labelled(items if i % 2 else items[::-1]) for i, name in enumerate(names)})
    first, second = rankings[0], rankings[1]
    why, matrix = fj.explain(first, second, 2), fj.pairwise(rankings)
    noted = fj.compare({**labelled(items), "only here": 0.5}, labelled(items), missing="zero")
    for text in (repr(rankings), repr(first), *str(why).split("\n"), *str(matrix).split("\n"), *str(noted).split("\n")):
        assert is_line(text)
    assert all(map(is_line, tables.to_markdown(["item", *names], [[item, *names] for item in items])))
    for library in tables.LIBRARIES:
        assert why.to_frame(library)["item"].to_list() == [tables.encodable(item) for item in why.items]
        assert matrix.to_frame(library).shape[0] == len(names)
    rows = list(csv.reader(io.StringIO(tables.to_csv(["item"], [[item] for item in items]), newline="")))
    assert [row[0] for row in rows[1:]] == [tables.encodable(item) for item in items]
    merged = json.loads(json.dumps(dict.fromkeys(items)))  # JSON joins a pair of lone surrogates, whoever writes it
    assert json.loads(to_json(dict.fromkeys(items)).encode()) == merged
    assert all(
        display_width(line) <= FILE.width
        for line in fitted(FILE, tables.text_columns("", ["item"], [[printable(i, 160)] for i in items]))
    )


class TestJson:
    def test_keys_that_look_alike_are_all_kept(self):
        held = json.loads(to_json({1: "number", "1": "text", "1_": "other", None: 0, "None": 1}))
        assert held == {"1": "number", "1_": "text", "1__": "other", "None": 0, "None_": 1}


class TestCsv:
    @pytest.mark.parametrize("cell", ["cr\rin it", "a\r\nb", "a\nb", 'q"', "=1+1", "\x00"])
    def test_every_cell_comes_back(self, cell):
        text = tables.to_csv(["x", cell], [[cell, 1]])
        assert list(csv.reader(io.StringIO(text, newline=""))) == [["x", cell], [cell, "1"]]

    def test_lone_surrogates_stay_legible(self):
        assert tables.to_csv(["a\udcff"], []).encode() == b"a\\udcff\n"


class TestMarkdown:
    def test_markup_is_shown_not_obeyed(self):
        assert tables.markdown_text("<script>&amp;") == "&lt;script&gt;&amp;amp;"
        assert tables.markdown_text("a\\|b`c`*d*[e]~f~$g$") == r"a\\\|b\`c\`\*d\*\[e\]\~f\~\$g\$"
        assert tables.markdown_text("_x_ mean_radius __y") == r"\_x\_ mean_radius \_\_y"

    @given(TEXT)
    def test_one_cell_remains_one_cell(self, text):
        row = tables.to_markdown(["x"], [[text]])[2]
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 2
        assert not set("<>\r\n") & set(row)


class TestWidths:
    def test_marks_take_no_room_and_wide_characters_two(self):
        assert display_width("e\u0301\u20dd") == 1
        assert display_width("名前") == 4

    def test_columns_of_a_printed_table_line_up(self):
        lines = tables.text_table(["item", "rank"], [["名前", "1"], ["e\u0301", "2"], ["abcd", "3"]])
        assert {display_width(line[:-1].rstrip("ran")) for line in lines} == {6}

    def test_the_end_of_a_long_name_is_seen(self):
        rows = [["x" * 90 + end, "1"] for end in "ab"]
        lines = fitted(Screen(60, colour=False, unicode=True), tables.text_columns("", ["item", "n"], rows))
        assert lines[1] != lines[2]
        assert max(map(display_width, lines)) <= 60


def drawn_texts(axes):
    """Return the names of a figure, each drawn as it is, after drawing everything."""
    figure = axes.figure
    figure.canvas.draw()
    legend = axes.get_legend()
    texts = [*([] if legend is None else legend.get_texts())]
    texts += [label for label in (*axes.get_xticklabels(), *axes.get_yticklabels()) if not label.get_parse_math()]
    texts += [axes.title] if axes.get_title() else []
    for text in texts:
        assert not text.get_parse_math()
        assert not text.get_usetex()
        assert is_line(text.get_text())
        assert len(text.get_text()) <= 2 * LONGEST + 40
    return [text.get_text() for text in texts]


@pytest.mark.filterwarnings("ignore:Glyph .* missing")
class TestFigures:
    def test_matrix(self):
        import matplotlib.pyplot as plt

        names = [*HOSTILE[:20], "M" * MEGABYTE, "$ " * MEGABYTE]
        scores = np.random.default_rng(0).random((len(names), 9))
        axes = fj.pairwise(dict(zip(names, scores, strict=True))).plot()
        texts = drawn_texts(axes)
        assert texts[: len(names)] == texts[len(names) :]
        assert len(set(texts)) == len(names)
        assert {"$a$", "$\\frac$", "\\frac{1}{2}", "_x_", "two\\nlines", "名前"} <= set(texts)
        assert max(axes.figure.get_size_inches()) < 20
        plt.close(axes.figure)

    @settings(max_examples=8, deadline=None)
    @given(LABELS)
    def test_any_name(self, names):
        import matplotlib.pyplot as plt

        axes = fj.pairwise({name: [1.0, 2.0, i] for i, name in enumerate(names)}).plot()
        assert len(drawn_texts(axes)) == 2 * len(names)
        plt.close(axes.figure)


ODD_METHODS = ["$\\frac$", "a|b <script>", "M" * MEGABYTE, "nl\n# heading\udcff", "feature"]


@pytest.fixture(scope="module")
def odd_study():
    random = np.random.default_rng(0)
    x = random.normal(size=(40, len(HOSTILE)))
    methods = {
        name: (lambda x, y, random_state, i=i: np.abs(x[y == 1].mean(0) + i * x[0] / 9))  # noqa: ARG005
        for i, name in enumerate(ODD_METHODS)
    }
    return study(x, (x[:, 0] > 0).astype(int), methods, features=HOSTILE, resamples=3, permutations=9)


class TestStudies:
    def test_summary(self, odd_study):
        text = study_report.markdown(odd_study)
        lines = text.rstrip("\n").split("\n")
        assert all(map(is_line, lines))
        assert len(text) < 20_000
        assert "<script>" not in text
        questions = "## Do the", "## How stable", "## Which features", "## How certain"
        headings = "# Feature ranking study", *questions, "## Notes"
        found = [line for line in lines if line.startswith("#")]
        assert all(line.startswith(start) for line, start in zip(found, headings, strict=True))

    def test_tables_hold_the_names_in_full(self, odd_study):
        header, rows = study_report.tables(odd_study)["rankings.csv"]
        assert header == ["feature_", *ODD_METHODS]
        assert [row[0] for row in rows] == HOSTILE

    @pytest.mark.filterwarnings("ignore:Glyph .* missing")
    def test_figures(self, odd_study):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 4.6), layout="constrained")
        study_files.figures(odd_study)["stability"][1](figure)
        assert any("$\\frac$" in text for text in drawn_texts(figure.axes[0]))
        size, draw = study_files.figures(odd_study)["curves"]
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        figure.canvas.draw()
        names = set()
        for ax in figure.axes:
            assert not ax.title.get_parse_math()
            *pair, value = ax.get_title().split("\n")
            assert len(pair) == 2
            assert all(map(is_line, pair))
            assert 0 <= float(value) <= 1
            names |= set(pair)
        assert {"$\\frac$", "a|b <script>"} <= names

    def test_files(self, odd_study, tmp_path, recwarn):
        odd_study.save(tmp_path, pictures=True)
        assert not [str(warning.message) for warning in recwarn if "Glyph" in str(warning.message)]
        assert (tmp_path / "summary.md").read_text(encoding="utf-8").count("\r") == 0


def test_the_page_shows_names_as_they_are(tmp_path):
    names = ["<script>", "a\x00\x1b\udcff", '"q"']
    section = Section("t <b>", text=names, figures=(), tables=[PageTable("n", "t", ["<i>"], [names[:1]])], claims=())
    text = page.html(Reproduction([section], names, 0.0), tmp_path)
    assert text.encode()
    assert "&lt;script&gt;" in text
    assert r"a\x00\x1b\udcff" in text
    assert not {"<script", "<i>", "\x00", "\x1b"} & set(re.findall(r"<script|<i>|\x00|\x1b", text))


# The command line


@pytest.fixture
def folder(tmp_path):
    """Return a folder of hostile names: of items, columns and files."""
    unfit = re.compile(r"[\x00\r\n\x85\u2028\ud800-\udfff]")  # for a label in a file of lines
    items = [name for name in (*HOSTILE, "\x1b[31mred") if name.strip() and not unfit.search(name)]
    random = np.random.default_rng(0)

    def write(name, columns):
        path = tmp_path / name
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["item", *columns])
            writer.writerows([item, *random.random(len(columns)).tolist()] for item in items)
        return name

    try:
        bad = write("bad\udcff$x$.csv", ["score"])
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")
    write("nl\n\x1b[31m\u202e.csv", ["score"])
    write("wide.csv", items)
    for number in range(2):
        content = dict(zip([*items, "M" * MEGABYTE, "名 " * MEGABYTE], random.random(99).tolist(), strict=False))
        (tmp_path / f"big{number}.json").write_text(json.dumps(content), encoding="utf-8")
    random_rows = [[*random.normal(size=len(items)).tolist(), "ab"[row % 2]] for row in range(30)]
    with (tmp_path / "data.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[*items, "cl$ass\x1b"], *random_rows])
    return tmp_path, bad


def fuji(*arguments):
    """Return the exit code, and what was printed, as text that must be UTF-8; warnings are errors."""
    done = CliRunner().invoke(command, [str(argument) for argument in arguments], prog_name="fuji")
    return done.exit_code, done.stdout_bytes.decode(), done.stderr_bytes.decode()


def check_screen(text):
    assert all(map(is_line, text.split("\n"))), ascii(text)
    assert len(text) < 12_000
    assert "Warning" not in text


def test_commands_print_lines(folder, monkeypatch):
    path, bad = folder
    monkeypatch.chdir(path)
    for arguments in (
        ("compare", bad, "nl\n\x1b[31m\u202e.csv", "--plot", "a.png"),
        ("explain", bad, "nl\n\x1b[31m\u202e.csv", "-k", 5),
        ("matrix", "wide.csv", "--plot", "m.png"),
        ("matrix", "wide.csv", "--reference", "$a$"),
        ("stability", "wide.csv", "--plot", "s.svg"),
        ("rank", "data.csv", "--target", "cl$ass\x1b", "--method", "relief"),
        ("compare", "big0.json", "big1.json", "--plot", "big.png"),
        ("explain", "big0.json", "big1.json", "-k", 9),
    ):
        code, out, err = fuji(*arguments)
        assert code == 0, err
        check_screen(out)
        check_screen(err)
    assert (path / "big.png").stat().st_size < MEGABYTE


def test_files_of_results_hold_the_names(folder, monkeypatch):
    path, bad = folder
    monkeypatch.chdir(path)
    other = "nl\n\x1b[31m\u202e.csv"
    _, out, _ = fuji("compare", bad, other, "--json")
    held = json.loads(out)
    assert (held["a"], held["b"], held["files"]) == ("bad\udcff$x$", other[:-4], [bad, other])
    _, out, _ = fuji("explain", "big0.json", "big1.json", "-k", 15, "--json")
    assert "M" * MEGABYTE in [row["item"] for row in json.loads(out)["rows"]]


def test_a_file_whose_name_is_not_utf_8(folder):
    path, bad = folder
    arguments = ["matrix", bad, "wide.csv", "--out", "out\udcff.csv"]
    done = subprocess.run([sys.executable, "-m", "fujiscore", *arguments], cwd=path, capture_output=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, rb"report: out\udcff.csv")
    text = (path / "out\udcff.csv").read_text(encoding="utf-8")
    assert r"bad\udcff$x$" in next(csv.reader(io.StringIO(text, newline="")))


def test_errors_and_hints_are_one_line(folder, monkeypatch):
    path, bad = folder
    monkeypatch.chdir(path)
    odd, long = "\x1b[31m\u202e\udcff\n", "M" * 100_000
    for arguments in (
        ("compare", bad, odd),
        ("compare", bad, long),
        ("compare", f"{bad}:{odd}", bad),
        ("compare", f"wide.csv:{long}", bad),
        ("compare", "wide.csv", bad),
        ("compare", bad, bad, "--item", odd),
        ("compare", bad, bad, "--measure", odd),
        ("compare", bad, bad, "--measure", long),
        ("compare", bad, bad, "--ks", odd),
        ("compare", bad, bad, f"--{odd}"),
        ("compare", bad, bad, "--out", f"{odd}/x.csv"),
        ("matrix", "wide.csv", "--reference", odd),
        ("matrix", "wide.csv", "--reference", long),
        ("rank", "data.csv", "--target", odd),
        ("rank", "data.csv", "--target", "cl$ass"),
        ("rank", "data.csv"),
        ("measures", odd),
        (odd,),
    ):
        code, out, err = fuji(*arguments)
        assert (code, out) == (2, ""), arguments
        check_screen(err)
        assert err.count("\n") == 1, ascii(err)
        assert len(err) < SENTENCE


def test_labels_that_standard_output_does_not_have(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("item,a,b\né,3,1\n\U0001f600,2,2\nz,1,3\n", encoding="utf-8")
    command = [sys.executable, "-m", "fujiscore", "explain", path, "-k", "2"]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    as_json, as_csv = (
        subprocess.run([*command, form], env=environment, capture_output=True, check=True).stdout.decode("latin-1")
        for form in ("--json", "--csv")
    )
    assert {item["item"] for item in json.loads(as_json)["rows"]} == {"é", "\U0001f600", "z"}
    assert "é" in as_csv
    assert "\\U0001f600" in as_csv
