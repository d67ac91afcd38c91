"""Pictures: they take an Axes and return it, and draw the computed numbers."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

import fujiscore as fj
from fujiscore import plots

mpl.use("Agg")

R, S = [5.0, 4.0, 3.0, 2.0, 1.0], [4.0, 5.0, 1.0, 3.0, 2.0]


@pytest.fixture
def ax():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def drawn(ax):
    return [(line.get_xdata(), line.get_ydata()) for line in ax.lines]


def test_curve_and_comparison(ax):
    curve = fj.curve(R, S)
    assert curve.plot(ax) is ax
    np.testing.assert_array_equal(drawn(ax)[0], (curve.ks, curve.values))
    comparison = fj.compare(R, S, list(fj.MEASURES), ks=[1, 3, 5])
    assert len(comparison.plot(ax).lines) == 1 + len(fj.MEASURES)


def test_chance_bounds_and_stability(ax):
    found = fj.chance(R, S)
    assert found.plot(ax) is ax
    np.testing.assert_array_equal(drawn(ax)[1][1], found.expected)
    bounds = fj.bounds({"a": 2, "b": 1}, {"a": 2, "c": 1})
    np.testing.assert_array_equal(drawn(bounds.plot(ax))[2][1], bounds.low)
    stability = fj.stability_curve([R, S, R], ks="all")
    np.testing.assert_array_equal(drawn(stability.plot(ax))[4][1], stability.values)


def test_matrix(ax):
    found = fj.pairwise({"one": R, "two": S, "three": R[::-1]})
    assert found.plot(ax, clustered=True) is ax
    assert {label.get_text() for label in ax.get_yticklabels()} == {"one", "two", "three"}
    np.testing.assert_array_equal(ax.images[0].get_array(), found.clustered().values)


def test_dendrogram(ax):
    tree = fj.pairwise({"one": R, "two": S, "three": R[::-1]}).dendrogram()
    assert tree.plot(ax) is ax
    assert [label.get_text() for label in ax.get_yticklabels()] == list(tree.leaves)
    assert sorted(max(heights) for heights, _ in drawn(ax)) == pytest.approx(tree.merges[:, 2])
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "the first leaf is on top, as in the matrix"


def test_embedding(ax):
    result = fj.pairwise({"one": R, "two": S, "three": R[::-1]}).embed()
    assert result.plot(ax) is ax
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), result.coordinates)
    assert {text.get_text() for text in ax.texts} == {"one", "two", "three"}
    assert ax.get_xlabel() == f"axis 1 ({result.shares[0]:.0%} of the variation)"


@pytest.mark.parametrize("m", [2, 5, 70])
@pytest.mark.parametrize("kind", ["dendrogram", "embed"])
def test_trees_and_maps_draw_without_warnings(kind, m):
    scores = np.random.default_rng(0).uniform(size=(m, 20))
    scores[1] = scores[0]
    matrix = fj.pairwise({f"$ranking_{i}": own for i, own in enumerate(scores)})
    drawn_without_warnings(getattr(matrix, kind)().plot())


def drawn_without_warnings(axes):
    """Draw the whole figure: layout and fonts warn only then, and warnings are errors."""
    import matplotlib.pyplot as plt

    axes.figure.canvas.draw()
    plt.close(axes.figure)


LISTS = {"a": 3.0, "b": 2.0, "c": 1.0}, {"b": 3.0, "d": 2.0, "a": 1.0}
RESULTS = {
    "curve": lambda **o: fj.curve(R, S, **o),
    "undefined curve": lambda **o: fj.curve([1, 1, 1, 1, 1], S, "kendall", **o),
    "comparison": lambda **o: fj.compare(R, S, list(fj.MEASURES), **o),
    "comparison with undefined values": lambda **o: fj.compare([2, 2, 1, 1, 0], S, list(fj.MEASURES), **o),
    "chance": lambda **o: fj.chance(R, S, **o),
    "chance of a whole list": lambda **o: fj.chance(R, S, "kendall", permutations=10, **o),
    "chance of the dead": lambda **o: fj.chance([1, 1, 1, 1, 1], [0, 0, 0, 0, 0], **o),
    "bounds": lambda **o: fj.bounds(*LISTS, **o),
    "universe": lambda **o: fj.chance(*LISTS, universe=30, **o),
    "stability": lambda **o: fj.stability_curve([R, S, R[::-1]], **o),
    "corrected stability": lambda **o: fj.stability_curve([R, S, R[::-1]], corrected=True, **o),
    "undefined stability": lambda **o: fj.stability_curve([R, S, [1] * 5], "kendall", **o),
}


@pytest.mark.parametrize("ks", ["all", "exp", "squared", 2, [1, 2, 3]])
@pytest.mark.parametrize("name", RESULTS)
def test_every_result_over_every_grid(name, ks):
    axes = RESULTS[name](ks=ks).plot()
    assert axes.get_xscale() == ("log" if ks == "exp" else "linear")
    assert axes.get_legend() is not None
    drawn_without_warnings(axes)


def test_one_item():
    for ks in ("all", "exp"):
        drawn_without_warnings(fj.compare([1.0], [2.0], ks=ks).plot())


def test_the_area_seen_is_the_area_computed():
    n = 64  # a power of two: the grid's points are evenly spaced on the log axis
    rng = np.random.default_rng(0)
    curve = fj.curve(rng.random(n), rng.random(n), ks="exp")
    x, y = drawn(curve.plot())[0]
    seen = np.log2(x) / np.log2(n)
    assert np.trapezoid(y, seen) == pytest.approx(curve.auc)


def test_legends_name_what_they_show(ax):
    def legend(result):
        texts = [text.get_text() for text in result.plot(ax).get_legend().get_texts()]
        ax.clear()
        return texts

    kendall = fj.compare(R, S, "kendall")
    assert legend(kendall) == [f"Kendall's tau (value over the whole list {kendall.auc['kendall']:.3f})"]
    assert legend(fj.compare(R, S, "kendall", ks=3))[0].startswith("Kendall's tau (value at k = 3 ")
    assert legend(fj.chance(R, S, "kendall", permutations=9))[0].startswith("Kendall's tau (value over the whole list")
    assert legend(fj.curve(R, S, ks="exp"))[0].startswith("FUJI (top-weighted AUC ")
    assert legend(fj.curve(R, S))[0].startswith("FUJI (AUC ")


def test_negative_corrected_values_are_inside_the_picture(ax):
    rankings = np.random.default_rng(6).permuted(np.tile(np.arange(12.0), (3, 1)), axis=1)
    result = fj.stability_curve(rankings, "jaccard", ks=[1, 2, 3], corrected=True)
    assert result.low.min() < -0.03
    assert result.plot(ax).get_ylim()[0] <= max(result.low.min(), -1)


class TestMatrices:
    def test_undefined_cells(self):
        result = fj.pairwise({"a": R, "dead": [1] * 5, "c": S}, measure="kendall")
        axes = result.plot()
        texts = [text.get_text() for text in axes.texts]
        assert texts.count("undefined") == 5
        drawn_without_warnings(axes)
        drawn_without_warnings(result.plot(clustered=True))
        drawn_without_warnings(fj.pairwise([[1, 1], [1, 1]], measure="kendall").plot())

    def test_odd_names(self):
        names = ["x" * 300, "$a_1$ and $", "$\\frac", "_hidden", "50 %", ""]
        result = fj.pairwise(dict(zip(names, np.random.default_rng(0).random((6, 20)), strict=True)))
        axes = result.plot()
        labels = [label.get_text() for label in axes.get_yticklabels()]
        assert labels == ["x" * 16 + "…" + "x" * 15, *names[1:]]
        drawn_without_warnings(axes)

    @pytest.mark.parametrize("shape", [(1, 1), (2, 30), (30, 2), (60, 60)])
    def test_sizes(self, shape):
        rng = np.random.default_rng(1)
        result = fj.pairwise(rng.random((shape[0], 8)), rng.random((shape[1], 8)), corrected=True)
        axes = result.plot()
        assert (len(axes.get_xticklabels()) == shape[1]) or shape[1] > 40
        drawn_without_warnings(axes)


def test_an_axes_of_its_own():
    import matplotlib.pyplot as plt

    own = fj.curve(R, S).plot()
    assert own.get_xlabel() == "k, number of top items"
    plt.close(own.figure)


def test_the_papers_measures_have_colours_of_their_own():
    assert len({plots.colour(name) for name in fj.PAPER_MEASURES}) == len(fj.PAPER_MEASURES)
