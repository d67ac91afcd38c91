"""Tables as text, Markdown, CSV, JSON and DataFrames; files appear complete or not at all; arguments spelled."""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from types import MappingProxyType

import numpy as np
import pytest

import fujiscore as fj
from fujiscore.errors import choice, first_few, integer, proportion, spelled, spelling
from fujiscore.text import tables
from fujiscore.text.data import to_json


class TestCsv:
    def test_cells(self):
        cells = [
            None,
            float("nan"),
            np.float32("nan"),
            np.float64("nan"),
            float("inf"),
            1e-300,
            np.int64(3),
            "a,b",
            'q"',
        ]
        text = tables.to_csv(["x"], [[cell] for cell in cells])
        assert [row[0] if row else "" for row in csv.reader(io.StringIO(text))] == [
            *("x", "", "", "", "", "inf", "1e-300", "3", "a,b", 'q"')
        ]

    def test_floats_come_back(self):
        values = np.random.default_rng(0).random(50) * 10.0 ** np.arange(-25, 25)
        text = tables.to_csv(["v"], [[value] for value in values])
        assert [float(line) for line in text.split()[1:]] == values.tolist()

    def test_lines(self):
        assert tables.to_csv(["a", "b"], [[1, "x\ny"]]) == 'a,b\n1,"x\ny"\n'


class TestJson:
    def test_what_json_lacks_becomes_null(self):
        data = {
            "nan": float("nan"),
            "inf": np.inf,
            "list": [1, float("nan"), np.float32("-inf")],
            "array": np.array([[1.5, np.nan], [2, 3]]),
            "none": None,
        }
        assert json.loads(to_json(data)) == {
            "nan": None,
            "inf": None,
            "list": [1, None, None],
            "array": [[1.5, None], [2, 3]],
            "none": None,
        }

    def test_types(self):
        data = {
            "bool": np.True_,
            "int": np.int8(3),
            "float": np.float32(0.5),
            "long": np.longdouble("0.25"),
            "text": np.str_("ž"),
            "range": range(3),
            "tuple": ("a", 1),
            "mapping": MappingProxyType({"k": 1}),
            "date": date(2024, 1, 2),
            "day": np.datetime64("2024-01-02"),
            7: {},
            None: [],
            "keys": {np.int64(1): 2},
        }
        assert json.loads(to_json(data)) == {
            "bool": True,
            "int": 3,
            "float": 0.5,
            "long": 0.25,
            "text": "ž",
            "range": [0, 1, 2],
            "tuple": ["a", 1],
            "mapping": {"k": 1},
            "date": "2024-01-02",
            "day": "2024-01-02",
            "7": {},
            "None": [],
            "keys": {"1": 2},
        }

    def test_layout(self):
        assert to_json({"a": [1, 2], "b": {"c": 1}}) == '{\n  "a": [1, 2],\n  "b": {\n    "c": 1\n  }\n}\n'
        assert to_json({}) == "{}\n"
        assert "ž" in to_json({"ž": 1})

    def test_any_label_can_be_written(self):
        odd = {"a\udc80": '"\\\n', "\x00": "\ud800"}
        assert json.loads(to_json(odd).encode()) == odd


class TestText:
    def test_markdown(self):
        lines = tables.to_markdown(["na|me", "b\n2"], [["x|y", "1"], ["back\\slash", "two\r\nlines"]])
        assert lines[:3] == ["| na\\|me | b\\\\n2 |", "| --- | ---: |", "| x\\|y | 1 |"]
        assert lines[3] == "| back\\\\slash | two\\\\r\\\\nlines |"

    def test_columns_line_up(self):
        assert tables.text_table(["a", "bb"], [["ccc", "d"]]) == ["a    bb", "ccc  d"]
        assert tables.text_table(["a"], []) == ["a"]

    def test_free_names(self):
        assert tables.free_name("item", ["a"]) == "item"
        assert tables.free_name("item", ["item", "item_"]) == "item__"


class TestFrames:
    def test_libraries(self):
        assert tables.frame({"a": [1]}, "pandas", ["n"]).attrs == {"notes": ["n"]}
        assert tables.frame({"a": ["x", 1]}, "polars")["a"].to_list() == ["x", "1"]
        with pytest.raises(fj.InputError, match="library must be one of 'pandas', 'polars'; got 'numpy'"):
            tables.frame({}, "numpy")

    def test_none_installed(self, monkeypatch):
        monkeypatch.setattr(tables, "find_spec", lambda _: None)
        with pytest.raises(
            fj.MissingExtraError, match=r"to_frame needs pandas or polars: pip install 'fujiscore\[frames\]'"
        ):
            tables.frame({"a": [1]})
        with pytest.raises(fj.MissingExtraError, match="to_frame needs polars: pip install polars"):
            tables.frame({"a": [1]}, "polars")


class TestSpelling:
    def test_as_keywords(self):
        assert spelled("missing") == "missing"
        assert spelled("missing", "zero") == "missing='zero'"
        assert spelled("universe", "N") == "universe=N"
        assert spelled("items", "GENE") == "items='GENE'"
        assert spelled("permutations", 1000) == "permutations=1000"

    def test_as_options(self):
        token = spelling.set(lambda argument, value: f"--{argument}" + ("" if value is None else f" {value}"))
        try:
            with pytest.raises(fj.InputError, match=r"lacks 1 of 2 .*pass --universe N .* or --missing zero"):
                fj.auc({"a": 1, "b": 2}, {"a": 1})
            with pytest.raises(fj.InputError, match="--ties must be one of"):
                fj.auc([1, 2], [2, 1], ties="none")
            with pytest.raises(fj.InputError, match="Pass --nan zero to score them 0"):
                fj.auc([1, None], [2, 1])
        finally:
            spelling.reset(token)
        with pytest.raises(fj.InputError, match="pass universe=N"):
            fj.auc({"a": 1, "b": 2}, {"a": 1})


class TestChecks:
    def test_integers(self):
        assert [integer("k", value, 1) for value in (1, np.int8(5), np.uint64(7))] == [1, 5, 7]
        for bad in (0, 1.0, "1", None, True, np.True_, np.float64(3)):
            with pytest.raises(fj.InputError, match="k must be an integer of at least 1; got"):
                integer("k", bad, 1)

    def test_proportions(self):
        assert [proportion("p", value) for value in (0.5, np.float32(0.25))] == [0.5, 0.25]
        for bad in (0, 1, 1.5, -0.1, float("nan"), float("inf"), "0.5", None, True, 1j):
            with pytest.raises(fj.InputError, match="p must be a number between 0 and 1"):
                proportion("p", bad)

    def test_choices(self):
        choice("ties", "closed", ("closed", "stable"))
        for bad in ("Closed", None, 3, ["closed"]):
            with pytest.raises(fj.InputError, match="ties must be one of 'closed', 'stable'; got"):
                choice("ties", bad, ("closed", "stable"))

    def test_first_few(self):
        assert first_few(["a", 2]) == "a, 2"
        assert first_few(range(9)) == "0, 1, 2, 3, 4 and 4 more"
        assert first_few("abcdef", 6) == "a, b, c, d, e, f"
