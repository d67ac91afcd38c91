"""Every kind of chart by every painter that draws it: well-formed, names as text, gaps, and what is left out said."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import fujiscore as fj
from fujiscore.charts import figure, kinds, svg
from fujiscore.charts.kinds import (
    Band,
    Bars,
    Dots,
    HeatMap,
    Line,
    Lines,
    Points,
    Ranges,
    Rows,
    Slopes,
    Style,
    Tree,
    intervals,
    values_span,
)

SVG = "{http://www.w3.org/2000/svg}"
ODD = "<b>&$x_1$\"'"
NAMES = [ODD, "b", "c"]
X = np.arange(1, 6)
GAPS = np.array([0.1, np.nan, 0.5, 0.7, np.nan])
STYLES = {"near": Style("#D55E00", "#A34700"), "far": Style("#222222", "#222222", 1.9, bold=True, dashed=True)}


def lines(**more):
    parts = [Line(GAPS, ODD, "#D55E00"), Line(X / 5, "level", "#7F7F7F", dashed=True)]
    return Lines(X, parts, [Band(GAPS - 0.1, GAPS + 0.1, "#D55E00", "band")], title=ODD, **more)


CHARTS = {
    "lines": lines(),
    "log lines": lines(log=True, heading=ODD),
    "one point": Lines(X[:1], [Line([0.5], "one")], title="one", log=True),
    "steps": Lines((0, 1), [Line(X / 5, ODD, x=X / 5)], steps=True, title=ODD),
    "rows": Rows(
        NAMES,
        [
            Ranges([0, 0.1, np.nan], [0.5, 0.6, 0.7], "range"),
            Dots([0.2, np.nan, 0.4], ODD, ["#D55E00", "#0072B2", "#222222"]),
        ],
        "value",
        groups=["first", "first", ODD],
        title=ODD,
    ),
    "undefined rows": intervals(["a"], [(np.nan, np.nan, np.nan)], "value", "#D55E00"),
    "bars": Bars(NAMES, [1.0, np.nan, -2.0], "value", title=ODD),
    "heat map": HeatMap(
        np.array([[1.0, np.nan, 0.2]] * 3),
        NAMES,
        NAMES,
        "value",
        pale=np.eye(3, dtype=bool),
        mark="~",
        note="pale",
        title=ODD,
    ),
    "tree": Tree(np.array([[0, 1, 0.2, 2], [2, 3, 0.5, 3]]), NAMES, "distance", title=ODD),
    "points": Points(np.array([0.0, 0.1, 0.1]), np.array([0.0, 0.3, 0.3]), NAMES, "x", "y", title=ODD),
    "slopes": Slopes(
        NAMES,
        ["far", "near", "near"],
        np.array([[2.0, 0.5, np.nan], [1.0, 0.0, 0.5]]),
        np.array([[np.log(2), 0, 0], [0, 0, 0]]),
        ["A: a", f"B: {ODD}"],
        {"near": 2, "far": 1},
        STYLES,
        "score",
        title=ODD,
        heading="Top 2",
    ),
}


@pytest.mark.parametrize("name", CHARTS)
def test_svg_is_well_formed_and_names_are_text(name):
    chart = CHARTS[name]
    root = ET.fromstring(svg.draw([chart]))
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title").text == root.get("aria-label") == chart.title
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert ODD in texts or chart.title != ODD
    for element in root.iter():
        for value in element.attrib.values():
            assert not {"nan", "inf"} & set(value.replace(",", " ").split())


@pytest.mark.parametrize("name", CHARTS)
def test_figures_draw_on_the_axes_given(name):
    mpl = pytest.importorskip("matplotlib.figure")
    ax = mpl.Figure(figsize=figure.size(CHARTS[name]), layout="constrained").add_subplot()
    assert figure.draw(CHARTS[name], ax) is ax
    assert ax.get_title() == CHARTS[name].heading
    assert ax.has_data()
    ax.figure.draw_without_rendering()


def test_every_kind_has_its_painters():
    described = {kind for kind in vars(kinds).values() if isinstance(kind, type) and issubclass(kind, kinds.Chart)}
    described.remove(kinds.Chart)
    assert set(svg.PAINTERS) == set(figure.PAINTERS) == described == {type(chart) for chart in CHARTS.values()}


def test_lines_have_gaps():
    path = ET.fromstring(svg.draw([lines()])).findall(f"{SVG}path")[0].get("d")
    assert [path.count(letter) for letter in "ML"] == [2, 1]


def test_what_is_left_out_is_said():
    many = [f"item {i}" for i in range(50)]
    values = np.linspace(0, 1, 50)
    rows = Rows(many, [Dots(values)], "value", title="rows")
    assert "value; first 20 of 50 drawn" in svg.draw([rows])
    assert "value; first 9 of 50 drawn" in svg.draw([replace(rows, most=9)])
    assert "value; first 20 of 50 drawn" in svg.draw([Bars(many, values, "value", title="bars")])
    heat = HeatMap(np.zeros((50, 50)), many, many, "value", title="heat")
    assert "value; 20 of 50 rows and 20 of 50 columns drawn" in svg.draw([heat])
    long = np.arange(1, 1001)
    assert "of 1000 drawn" in svg.draw([Lines(long, [Line(long / 1000)], title="long")])
    assert len(svg.draw([Lines(long, [Line(long / 1000, f"line {i}") for i in range(30)], title="many")])) < 40_000
    ax = pytest.importorskip("matplotlib.figure").Figure().add_subplot()
    assert figure.draw(replace(rows, most=9), ax).get_xlabel() == "value; first 9 of 50 drawn"
    assert [text.get_text() for text in ax.get_yticklabels()] == many[:9]


def test_trees_and_maps_too_large_to_be_read_are_left_out_of_notebooks():
    names = [f"r{i}" for i in range(50)]
    points = Points(np.arange(50.0), np.arange(50.0), names, "x", "y", title="map")
    merges = np.array([[0 if i == 0 else 49 + i, i + 1, i + 1, i + 2] for i in range(49)], float)
    assert svg.draw([points, Tree(merges, names, "distance", title="tree")]) == ""


def test_written_values_are_those_of_the_filled_dots():
    chart = Rows(["a"], [Dots([0.25], hollow=True), Dots([0.75])], "value", title="two")
    texts = [element.text for element in ET.fromstring(svg.draw([chart])).iter(f"{SVG}text")]
    assert "0.750" in texts
    assert "0.250" not in texts


def test_spans():
    assert values_span([0.3, np.nan], [0.9]) == (0.0, 1.0)
    assert values_span([-0.3], [0.9]) == (-0.4, 1.0)
    assert values_span([-7.0]) == (-1.0, 1.0)
    assert Rows(["a", "b"], [Dots([2.0, 5.0]), Ranges([1.0, 0.0], [3.0, 9.0])], "x", title="").ends(1) == (1.0, 3.0)
    assert Rows(["a"], [Dots([2.0])], "x", title="").ends(1) == (2.0, 3.0)
    assert Rows(["a"], [Dots([np.nan])], "x", title="").ends(1) == (0.0, 1.0)


def test_a_notebook_shows_all_charts_of_a_comparison_and_its_figure_too():
    result = fj.compare([4, 3, 2, 1], [4, 2, 3, 1])
    assert result._repr_html_().count("<svg") == 2
    pytest.importorskip("matplotlib").use("Agg")
    assert len(result.plot().figure.axes) == 2
