"""Pictures: they take an Axes and return it, and draw the computed numbers."""

from __future__ import annotations

import numpy as np
import pytest

import fujiscore as fj
from fujiscore.charts import figure as painter
from fujiscore.charts.slopes import placed
from fujiscore.pair.charts import slopes

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
    with_chance = 1 + len(fj.MEASURES) + 1
    assert len(comparison.plot(ax).lines) == with_chance


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
    assert axes.get_xscale() == ("log" if ks == "exp" or name.startswith("comparison") else "linear")
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

    kendall = fj.curve(R, S, "kendall")
    assert legend(kendall) == [f"Kendall's tau (value over the whole list {kendall.value:.3f})"]
    assert legend(fj.curve(R, S, "kendall", ks=3))[0].startswith("Kendall's tau (value at k = 3 ")
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
    assert len({fj.MEASURES[name].colour for name in fj.PAPER_MEASURES}) == len(fj.PAPER_MEASURES)


def test_nothing_but_chance_is_grey():
    for name in fj.MEASURES:
        red, green, blue = (int(fj.MEASURES[name].colour[i : i + 2], 16) for i in (1, 3, 5))
        assert max(red, green, blue) - min(red, green, blue) > 20
    styles = {(measure.colour, measure.dashed) for measure in fj.MEASURES.values()}
    assert len(styles) == len(fj.MEASURES)


# The picture of a comparison

PARETO = np.random.default_rng(3).pareto(1.0, 60)
NOISY = PARETO * np.random.default_rng(8).lognormal(0, 0.8, 60)


def boxes(texts):
    """Return the boxes of the texts of a drawn figure as the renderer measures them, without annotations' leads."""
    from matplotlib.text import Text

    return [(text.get_text(), Text.get_window_extent(text)) for text in texts if text.get_text()]


def overlapping(found):
    return [
        (a, b)
        for i, (a, first) in enumerate(found)
        for b, second in found[:i]
        if min(first.x1, second.x1) - max(first.x0, second.x0) > 1
        and min(first.y1, second.y1) - max(first.y0, second.y0) > 1
    ]


def outside(figure, found):
    return [text for text, box in found if box.x0 < -1 or box.x1 > figure.bbox.x1 + 1 or box.y0 < -1]


def all_texts(figure):
    """Return every text of a figure that is drawn: titles, labels of axes and ticks, names, legends."""
    from matplotlib.text import Text

    figure.canvas.draw()
    hidden = set()
    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            hidden |= {id(tick.label2)} | (set() if low <= tick.get_loc() <= high else {id(tick.label1)})
    return [text for text in figure.findobj(Text) if id(text) not in hidden and text.get_visible()]


NAMES = ["W" * 500, "W" * 499 + "X", "$a_1$ $\\frac", "<b>&amp;</b>", "line\nbreak", "x", "A B" * 9]
NAMED = [*NAMES, *(f"item {i}" for i in range(53))]
PAIRS = {
    "two noisy rankings": lambda: fj.compare(PARETO, NOISY),
    "odd names": lambda: fj.compare(dict(zip(NAMED, NOISY, strict=True)), dict(zip(NAMED, PARETO, strict=True))),
    "ties": lambda: fj.compare(np.round(PARETO), np.round(NOISY)),
    "opposite orders": lambda: fj.compare(np.arange(1.0, 41), np.arange(40.0, 0, -1)),
    "equal": lambda: fj.compare(PARETO, PARETO),
    "constant": lambda: fj.compare(np.ones(30), PARETO[:30]),
    "all zero": lambda: fj.compare(np.zeros(12), np.zeros(12)),
    "zero beyond 3": lambda: fj.compare([5, 4, 3, *[0] * 30], [4, 0, 3, 5, *[0] * 29]),
    "3 items": lambda: fj.compare([3.0, 2.0, 1.0], [1.0, 3.0, 2.0]),
    "1 item": lambda: fj.compare([3.0], [1.0]),
    "one k": lambda: fj.compare(PARETO, NOISY, ks=[5]),
    "disjoint": lambda: fj.compare({f"a{i}": i for i in range(20)}, {f"b{i}": i for i in range(20)}, missing="zero"),
    "lists": lambda: fj.compare(list("abcdefghij"), list("abdcxefyhz"), universe=100),
    "clipped": lambda: fj.compare(PARETO - 1, NOISY - 1, negative="clip"),
    "split": lambda: fj.compare(PARETO - 1, 1 - NOISY, negative="split"),
    "great ratios": lambda: fj.compare(10.0 ** np.arange(-300, 300, 15), 10.0 ** np.arange(300, -300, -15)),
    "long names of rankings": lambda: fj.compare(*fj.rankings({"$r" * 99: PARETO, "s_" * 99: NOISY})),
    "every measure": lambda: fj.compare(PARETO, NOISY, list(fj.MEASURES)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_picture(name):
    import matplotlib.pyplot as plt

    result = PAIRS[name]()
    ax = result.plot()
    figure = ax.figure
    try:
        assert figure.axes[0] is ax
        assert len(figure.axes) == 2
        assert figure.get_suptitle() == result.verdict()
        found = boxes(all_texts(figure))
        assert not overlapping(found)
        assert not outside(figure, found)
    finally:
        plt.close(figure)


def test_the_picture_draws_the_computed_numbers():
    import matplotlib.pyplot as plt

    result = fj.compare(PARETO, NOISY, k=[7])
    left = result.plot(k=7)
    right = left.figure.axes[1]
    fuji, jaccard, expected = drawn(left)
    np.testing.assert_array_equal(fuji[1], result["fuji"].values)
    np.testing.assert_array_equal(jaccard[1], result["jaccard"].values)
    np.testing.assert_array_equal(expected[1], result.chance["fuji"].expected)
    assert [line.get_color() for line in left.lines] == [
        *(fj.MEASURES[name].colour for name in ("fuji", "jaccard")),
        "#7F7F7F",
    ]
    assert left.lines[0].get_linewidth() > left.lines[1].get_linewidth()
    low, high = result.chance["fuji"].band()
    band = left.collections[1].get_paths()[0].vertices
    assert {(1.0, low[0]), (1.0, high[0]), (60.0, low[-1])} <= {tuple(point) for point in band}

    described = slopes(result.rankings, result.explain(7))
    chart = placed(described, lines=20, columns=20)
    lines = [line for line in right.lines if list(line.get_xdata()) == [0, 1]]
    np.testing.assert_allclose(sorted(tuple(line.get_ydata()) for line in lines), sorted(map(tuple, chart.heights.T)))
    counts = {kind: described.kinds.count(kind) for kind in ("shared", "near miss", "far miss")}
    legend = [text.get_text() for text in right.get_legend().get_texts()]
    assert legend == [f"{kind} ({count})" for kind, count in counts.items() if count]
    places = {(text.get_text(), round(text.get_position()[1], 9)) for text in right.texts}
    assert places == {(item, round(y, 9)) for side in chart.labels for item, y in zip(chart.items, side, strict=True)}
    why = result.explain(7)
    assert right.get_title() == f"Top k = 7: FUJI {why.value:.2f}, Jaccard {why.jaccard:.2f}"
    plt.close(left.figure)


def test_ties_that_enlarge_the_top_sets_are_told():
    import matplotlib.pyplot as plt

    ax = fj.compare([3, 2, 2, 2, 1], [3, 2, 1, 0.5, 0.2]).plot(k=2)
    assert ax.figure.axes[1].get_title().startswith("Top k = 2 (sets of 4 and 2): FUJI ")
    plt.close(ax.figure)


def test_one_axes_has_the_curves_alone(ax):
    result = fj.compare(R, S)
    assert result.plot(ax=ax) is ax
    assert len(ax.figure.axes) == 1
    assert ax.get_title() == result.verdict()
    with pytest.raises(fj.InputError, match="k chooses the slope chart"):
        result.plot(ax=ax, k=2)


def test_k_of_the_slope_chart():
    import matplotlib.pyplot as plt

    result = fj.compare(PARETO, NOISY, "jaccard")
    alone = result.plot()
    assert len(alone.figure.axes) == 1, "without FUJI there is no credit to show"
    both = result.plot(k=(3, 5))
    assert both.figure.axes[1].get_title().startswith("Top k = (3, 5): ")
    for k in (0, 61, "all"):
        with pytest.raises(fj.InputError, match="k"):
            result.plot(k=k)
    plt.close("all")


def test_many_items_are_drawn_in_time():
    import io
    import time

    rng = np.random.default_rng(0)
    scores = rng.pareto(1, 20_531)
    result = fj.compare(scores, scores * rng.lognormal(0, 1, scores.size))
    start = time.perf_counter()
    figure = result.plot().figure
    file = io.BytesIO()
    painter.write_figure(figure, file, "svg")
    assert time.perf_counter() - start < 20
    assert len(file.getvalue()) < 1_500_000
    assert b"differs most at k = " in file.getvalue(), "text stays text"


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_files_are_the_same_each_time(kind):
    import io

    import matplotlib.pyplot as plt

    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        figure = fj.compare(R, S).plot().figure
        painter.write_figure(figure, file, kind)
        plt.close(figure)
    assert files[0].getvalue() == files[1].getvalue()


def test_emoji_are_written_without_warnings():
    import io

    names = [f"🍣{i}" for i in range(60)]
    result = fj.compare(dict(zip(names, PARETO, strict=True)), dict(zip(names, NOISY, strict=True)))
    painter.write_figure(result.plot().figure, io.BytesIO(), "png")


# Names on maps, in matrices, beside trees


@pytest.mark.parametrize("m", [2, 24, 60])
def test_names_on_a_map_do_not_overlap(m):
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(1)
    scores = {f"ranking number {i}": PARETO * rng.lognormal(0, 0.2 + i % 3, 60) for i in range(m)}
    ax = fj.pairwise(scores).embed().plot()
    ax.figure.canvas.draw()
    found = boxes(ax.texts)
    assert len(found) >= 0.9 * m
    assert not overlapping(found)
    plt.close(ax.figure)


@pytest.mark.parametrize("m", [2, 12, 24, 200])
def test_texts_of_matrices_do_not_overlap(m):
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(1)
    scores = {f"ranking number {i}": PARETO[:20] * rng.lognormal(0, 1, 20) for i in range(m)}
    ax = fj.pairwise(scores, corrected=True, p_values=True).plot()
    texts = all_texts(ax.figure)
    assert not overlapping(boxes(text for text in texts if not text.get_rotation() % 90))
    assert not outside(ax.figure, boxes(texts))
    plt.close(ax.figure)


def test_runs_say_that_bounds_are_bounds():
    a, b = ({"q": {f"d{(i + shift) % 9}": 9.0 - i for i in range(6)}} for shift in (0, 3))
    labels = fj.compare_runs(a, b, k=4, measures=("fuji", "jaccard")).plot().get_legend_handles_labels()[1]
    assert [label.split(" (")[0] for label in labels] == ["FUJI, at least", "Jaccard"]
