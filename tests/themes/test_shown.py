"""How results show themselves: short reprs, Markdown, LaTeX and notebooks, whatever their size and names."""

from __future__ import annotations

import itertools
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path
from unicodedata import combining, east_asian_width
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from gallery import HOSTILE, gallery, public_classes
from hypothesis import given
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore.charts import svg
from fujiscore.text.tables import Table, cell_text, columns_table, folded, short_text, spread_places

MANY = 20_000
TAGS = {"div", "p", "b", "br", "table", "thead", "tbody", "tr", "th", "td"}
SHAPES = {"svg", "title", "text", "line", "rect", "path", "polygon", "polyline", "circle"}


@pytest.fixture(scope="module")
def plain():
    return gallery([f"item {i}" for i in range(40)], ["a", "b", "c", "d"])


@pytest.fixture(scope="module")
def hostile():
    return gallery([*HOSTILE, *"abcdefgh"], [*HOSTILE[:6], "[d]*"])


@pytest.fixture(scope="module")
def large():
    """Return results of 20,000 items, and of 500 rankings."""
    rng = np.random.default_rng(0)
    items = [f"gene_{i}_of_a_rather_long_name" for i in range(MANY)]
    scores = rng.lognormal(size=(3, MANY))
    long = fj.rankings({f"model {i}": dict(zip(items, row, strict=True)) for i, row in enumerate(scores)})
    wide = fj.rankings({f"a ranking with a long name {i}": rng.lognormal(size=12) for i in range(500)})
    steady, matrix = fj.stability(wide), fj.pairwise(wide)
    old = {f"q{i}": {"a": 3.0, "b": 2.0, "c": float(i % 7)} for i in range(3000)}
    new = {query: {**scored, "c": 2.5} for query, scored in old.items()}
    compared = fj.compare(long[0], long[1], list(fj.PAPER_MEASURES), ks="exp")
    found = [long, long[0], wide, steady, steady.ranks(), matrix, matrix.dendrogram(), matrix.embed(), compared]
    found += [fj.curve(long[0], long[1]), fj.explain(long[0], long[1], 5000), fj.consensus(long), fj.consensus(wide)]
    return [*found, fj.compare_runs(old, new, k=2), fj.bounds(long[0], long[1])]


@pytest.fixture(params=["plain", "hostile", "large"])
def results(request):
    return request.getfixturevalue(request.param)


def columns(text):
    """Return how many columns a terminal may take for a text: at least one for each character that is not combining."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def test_the_gallery_has_every_public_result(plain):
    assert {type(result) for result in plain} == set(public_classes().values())


def test_reprs_are_short(results):
    for result in results:
        lines = repr(result).split("\n")
        assert 1 <= len(lines) <= 20, repr(result)
        assert max(map(columns, lines)) <= 100
        assert all(line.isprintable() for line in lines)
        assert not repr(result).startswith("<fujiscore")


def test_what_a_repr_leaves_out_is_said():
    many = short_text([f"line {i}" for i in range(50)], [f"fact {i}" for i in range(50)]).split("\n")
    assert len(many) == 20
    assert many[13] == "... 37 more lines: print shows them"
    assert many[-1] == "... 50 notes in all: see .notes"
    assert short_text(["a"] * 14, ["b"] * 6) == "\n".join(["a"] * 14 + ["note: b"] * 6)
    assert short_text(["a"] * 21, []).split("\n")[-1] == "... 2 more lines: print shows them"


@given(st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "), max_size=600))
def test_folding_keeps_the_words(line):
    parts = folded(line)
    assert max(map(columns, parts)) <= 100
    if all(columns(word) + 2 <= 100 and len(word) <= 98 for word in line.split()):
        assert " ".join(parts).split() == line.split()


def test_notes_and_tables_are_in_every_form(plain):
    for result in plain:
        for form in (result.to_markdown(), result.to_latex(), result._repr_html_()):
            assert len(form) > 40
        for note in getattr(result, "notes", ()):
            assert note[:20] in result.to_markdown().replace("\\", "")
            assert note[:20] in "".join(ET.fromstring(result._repr_html_()).itertext())


# --- plain values


def test_results_are_plain_values_and_json(results):
    for result in results:
        data = result.to_dict()
        assert json.loads(result.to_json()) == data, type(result)
        assert list(data)[:2] == ["schema", "version"]
        assert list(data)[-1] == "notes"
        assert data["notes"] == list(getattr(result, "notes", ()))


def test_the_keys_of_every_kind_are_documented(plain):
    keys = {}
    for result in plain:
        data = result.to_dict()
        own = keys.setdefault((data["schema"], type(result).__name__), [])
        own += [key for key in list(data)[2:-1] if key not in own]
    rows = [
        f"| `{schema}` | `{kind}` | {', '.join(f'`{key}`' for key in own)} |" for (schema, kind), own in keys.items()
    ]
    text = (Path(__file__).parents[2] / "docs" / "output-formats.md").read_text(encoding="utf-8")
    assert sorted(line for line in text.splitlines() if line.startswith("| `fujiscore.")) == sorted(rows)


def test_what_is_undefined_is_none_in_plain_values():
    data = fj.curve([1, 1, 1], [1, 2, 3], "kendall").to_dict()
    assert data["value"] is None
    assert data["values"] == [None] * 3


def test_pickled_results_are_the_same(plain, hostile):
    for result in (*plain, *hostile):
        assert pickle.loads(pickle.dumps(result)).to_dict() == result.to_dict(), type(result)


def test_metrics_are_flat_floats(results):
    without = {"Dendrogram", "TopFeature"}
    for result in results:
        metrics = result.metrics()
        assert all(type(value) is float and not np.isnan(value) for value in metrics.values()), type(result)
        assert all(re.fullmatch(r"[\w./ -]+", name) for name in metrics), (type(result), metrics)
        assert metrics or type(result).__name__ in without, type(result)


def test_metrics_have_the_numbers_of_the_result():
    result = fj.compare([4, 3, 2, 1], [4, 2, 3, 1], ["fuji", "rbo(p=0.5)"], k=[2])
    metrics = result.metrics()
    assert metrics["fuji/auc"] == result.auc["fuji"]
    assert metrics["fuji/auc/expected"] == result.chance["fuji"].expected_auc
    assert metrics["fuji/at/2"] == result["fuji"].values[1]
    assert metrics["rbo_p_0.5/auc"] == result.auc["rbo(p=0.5)"]


# --- notebooks


def test_html_is_well_formed_and_inert(results):
    for result in results:
        html = result._repr_html_()
        assert len(html) < 80_000, type(result)
        html.encode()
        for element in ET.fromstring(html).iter():
            tag = element.tag.removeprefix("{http://www.w3.org/2000/svg}")
            assert tag in (SHAPES if element.tag.startswith("{") else TAGS)
            assert not [name for name in element.attrib if name.startswith(("on", "href", "src", "class", "id"))]
        assert "http" not in html.replace('xmlns="http://www.w3.org/2000/svg"', "")


def test_names_are_text_in_html():
    name = HOSTILE[0]
    ranking = fj.Ranking([2.0, 1.0], [name, "b"], name=name)
    root = ET.fromstring(ranking._repr_html_())
    assert "<script" not in ranking._repr_html_()
    cells = [element.text for element in root.iter("td")]
    assert cells == [name, "2", "1", "b", "1", "2"]
    assert name in [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_pictures_are_where_they_help(plain):
    without = {"FeatureChange", "Level", "Permutations", "Rankings", "TopFeature", "Measure", "Verdict"}
    assert {type(result).__name__ for result in plain if "<svg" not in result._repr_html_()} == without


def test_every_picture_is_a_figure_too(plain):
    mpl = pytest.importorskip("matplotlib")
    mpl.use("Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    drawn = [result for result in plain if hasattr(result, "_charts")]
    assert {type(result).__name__ for result in drawn} == {
        type(result).__name__ for result in plain if "<svg" in result._repr_html_()
    } - {"Ranking"}
    for result in drawn:
        ax = result.plot()
        ax.figure.canvas.draw()
        assert ax.has_data(), type(result)
        plt.close(ax.figure)


def test_a_page_of_any_colour_can_show_them(plain):
    """Text has the colour of the page, or stands on a cell of a heat map."""
    for result in plain:
        for element in ET.fromstring(result._repr_html_()).iter("{http://www.w3.org/2000/svg}text"):
            assert element.get("fill") in {"currentColor", "#ffffff", "#000000"}
            if element.get("fill") != "currentColor":
                assert type(result).__name__ in {"Matrix", "Study"}


def test_thinning_is_said(large):
    _long, first, wide, _, _ranks, matrix, *_ = large
    assert f"{MANY} items (first 10 shown)" in first._repr_html_()
    assert "500 rankings of 12 items (first 20 shown)" in wide.to_markdown()
    assert "20 of 500 rows and 20 of 500 columns drawn" in matrix._repr_html_()
    assert "20 of 500 rows and 20 of 500 columns shown" in matrix.to_latex()
    assert len(matrix.to_markdown(rows=None).split("\n")) > 500
    curve = next(result for result in large if isinstance(result, fj.results.Curve))
    assert f"of {MANY} drawn" in curve._repr_html_()
    assert f"20 of {MANY} k shown" in curve.to_markdown()


def test_colours_are_those_of_the_figures():
    result = fj.compare([4, 3, 2, 1], [4, 2, 3, 1], ["jaccard", "fuji"])
    for name in ("jaccard", "fuji"):
        assert f'stroke="{fj.MEASURES[name].colour}"' in result._repr_html_()


def test_heat_maps_have_matplotlibs_colours():
    import matplotlib as mpl

    cividis = mpl.colormaps["cividis"]
    for share in np.linspace(0, 1, 101):
        here, ink = svg.shade(float(share))
        mixed = [int(here[i : i + 2], 16) for i in (1, 3, 5)]
        assert np.abs(np.array(mixed) - np.array(cividis(share)[:3]) * 255).max() <= 25
        assert contrast(mixed, [int(ink[i : i + 2], 16) for i in (1, 3, 5)]) >= 4.5


def contrast(*colours):
    """Return the contrast of two colours as WCAG defines it."""
    parts = np.array(colours) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    dark, light = np.sort(linear @ [0.2126, 0.7152, 0.0722])
    return (light + 0.05) / (dark + 0.05)


def test_showing_loads_no_drawing_library():
    script = (
        "import fujiscore as fj, sys; r = fj.compare([4, 3, 2, 1], [4, 2, 3, 1]);"
        "r._repr_html_(), r.to_latex(), r.to_markdown(); fj.pairwise([[3, 2, 1], [1, 2, 3]])._repr_html_();"
        "print([name for name in ('matplotlib', 'pandas', 'polars', 'sklearn', 'IPython') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- pieces


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (None, ".4f", "-"),
        (float("nan"), ".4f", "undefined"),
        (-0.00001, ".4f", "0.0000"),
        (-0.0, "+.4f", "+0.0000"),
        (0.5, "+.4f", "+0.5000"),
        (np.int64(7), "d", "7"),
        (np.float64(1e-9), ".3g", "1e-09"),
        (True, "", "yes"),
        (np.False_, "", "no"),
        ("a\nb", ".4f", "a\\nb"),
    ],
)
def test_cells(value, form, text):
    assert cell_text(value, form) == text


@given(st.integers(1, 10**6), st.integers(1, 60))
def test_places_are_spread_from_the_first_to_the_last(count, most):
    places = spread_places(count, most)
    assert places[0] == 0
    assert len(places) <= most
    assert all(a < b for a, b in itertools.pairwise(places))
    assert most == 1 or places[-1] == count - 1


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_few_and_inside(low, width):
    found = svg.ticks(low, low + width)
    assert 1 <= len(found) <= 7
    assert all(low - 1e-6 * width <= tick <= low + 1.000001 * width for tick in found)


def test_columns_that_are_cut_say_so():
    whole = columns_table("x", {"a": ("d", [1, 2, 3])}, "3 rows", range(3))
    assert (whole.caption, whole.rows) == ("x", [[1], [2], [3]])
    assert columns_table("x", {"a": ("d", [1, 2, 3])}, "3 rows", [0, 2]).caption == "x (2 of 3 rows shown)"


def test_markdown_tables_are_rectangular(results):
    for result in results:
        text = result.to_markdown()
        assert "<script" not in text
        for block in text.split("\n\n"):
            bars = [line.replace("\\|", "").count("|") for line in block.split("\n") if line.startswith("|")]
            assert len(set(bars)) <= 1


@pytest.mark.parametrize("rows", [0, -1, 1.5, "many"])
def test_rows_are_checked(rows):
    with pytest.raises(fj.InputError, match="rows must be an integer of at least 1"):
        fj.Ranking([1.0]).to_markdown(rows=rows)


def test_tables_of_text_and_numbers():
    table = Table("c", ["name", "n"], [["a", 1.5]], ["", ".2f"])
    assert (table.text, table.cells()) == ([0], [["a", "1.50"]])


DEGENERATE = {
    "one item": lambda: fj.compare([1.0], [1.0]),
    "two items": lambda: fj.chance([2.0, 1.0], [1.0, 2.0]),
    "one k": lambda: fj.compare([3, 2, 1], [1, 2, 3], ks=[2]),
    "two sizes": lambda: fj.chance([3, 2, 1], [1, 2, 3], k=(1, 2)),
    "constant": lambda: fj.compare([1, 1, 1], [1, 1, 1], ["fuji", "kendall"]),
    "undefined": lambda: fj.curve([1, 1, 1], [1, 2, 3], "kendall"),
    "undefined pairs": lambda: fj.pairwise([[1, 2, 3], [1, 1, 1], [3, 2, 1]], measure="kendall"),
    "one ranking": lambda: fj.pairwise([[1, 2, 3]]),
    "same rankings": lambda: fj.pairwise([[1, 2, 3]] * 3).embed(),
    "a tree of height 0": lambda: fj.pairwise([[1, 2, 3]] * 3).dendrogram(),
    "no spread": lambda: fj.stability([[1, 2, 3]] * 3),
    "nothing in common": lambda: fj.explain({"a": 1, "b": 0.5}, {"c": 2, "d": 1}, 1, missing="zero"),
    "opposite consensus": lambda: fj.consensus([[1, 2, 3], [3, 2, 1]]),
    "infinite": lambda: fj.Ranking([-np.inf, 1.0, -3.0]),
    "negative": lambda: fj.Ranking([-2.0, -1.0]),
    "of all sizes": lambda: fj.Ranking([1e300, 1e-300, 0.0]),
    "split": lambda: fj.explain([1.0, -2, 3], [2.0, 1, -3], 2, negative="split"),
    "one query": lambda: fj.compare_runs({"q": {"a": 1.0}}, {"q": {"a": 1.0}}),
    "no band": lambda: fj.stats.sequential_rank_agreement([[1, 2, 3], [3, 2, 1]], permutations=0),
    "no method": lambda: fj.study(np.zeros((30, 3)), np.arange(30) % 2, ["relief"], resamples=3, permutations=0),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_results_show_themselves(name):
    result = DEGENERATE[name]()
    for element in ET.fromstring(result._repr_html_()).iter():
        for value in element.attrib.values():
            assert not {"nan", "inf", "-inf"} & set(value.replace(",", " ").split())
    assert repr(result)
    assert r"\toprule" in result.to_latex(rows=1)
    assert "| ---" in result.to_markdown()
