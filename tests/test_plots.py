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


def test_an_axes_of_its_own():
    import matplotlib.pyplot as plt

    own = fj.curve(R, S).plot()
    assert own.get_xlabel() == "k, number of top items"
    plt.close(own.figure)


def test_the_papers_measures_have_colours_of_their_own():
    assert len({plots.colour(name) for name in fj.PAPER_MEASURES}) == len(fj.PAPER_MEASURES)
