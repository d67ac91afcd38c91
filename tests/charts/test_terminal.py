"""Lines and heat maps in the terminal: no wider than the screen, in Braille or ASCII, with colours or without."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fujiscore.charts.kinds import HeatMap, Line, Lines
from fujiscore.charts.terminal import COLOURS, heat_map, side_by_side
from fujiscore.cli.terminal import Screen
from fujiscore.text.tables import display_width

X = np.arange(1, 101)
FALLING = Lines(X, [Line(1 - X / 100), Line(np.full(100, 0.5), dashed=True)], title="falling (dotted: level)")
NAMES = ["a\nb", "名前", "c"]
CELLS = HeatMap(
    np.array([[1.0, np.nan, -0.5]] * 3), NAMES, NAMES, "value", (-1.0, 1.0), np.eye(3, dtype=bool), "~", title=""
)


def screen(width=80, *, colour=False, unicode=True):
    return Screen(width, colour=colour, unicode=unicode)


@pytest.mark.parametrize("unicode", [True, False])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_charts_fit_and_stand_side_by_side(count, unicode):
    lines = side_by_side(screen(unicode=unicode), [FALLING] * count)
    assert len(lines) == {1: 10, 2: 10, 3: 21}[count]
    assert max(map(display_width, lines)) <= 80
    assert sum(line.count("falling") for line in lines) == count
    assert "".join(lines).isascii() is not unicode


def test_ascii_charts_show_the_line_and_the_level():
    _, *rows, axis, ticks = side_by_side(screen(40, unicode=False), [FALLING])
    assert [row[:5] for row in rows] == [" 1.0+", "    |", "    |", " 0.5+", "    |", "    |", " 0.0+"]
    assert [row[5:].find("*") for row in rows] == sorted(row[5:].find("*") for row in rows)
    assert "." in rows[3]
    assert not any("." in row[5:] for i, row in enumerate(rows) if i != 3)
    assert axis.endswith("-")
    assert ticks.split() == ["k", "=", "1", "50", "100"]


def test_negative_values_start_the_axis_at_minus_1():
    rows = side_by_side(screen(), [Lines(X, [Line(-X / 100)], title="below")])
    assert rows[-3].startswith("-1.0┤")


def test_gaps_and_single_points_are_drawn():
    gaps = np.where(X % 50 < 25, np.nan, 0.5)
    assert len(side_by_side(screen(), [Lines(X, [Line(gaps)], title="gaps")])) == 10
    assert side_by_side(screen(), [Lines(X[:1], [Line([0.5])], title="one")])[-1].strip() == "k = 1"


def test_colours_take_turns_and_are_left_out_where_they_are_not_shown():
    coloured = side_by_side(screen(colour=True), [FALLING] * 5)
    for colour in COLOURS:
        assert f"\x1b[38;5;{colour}m" in "".join(coloured)
    only = "".join(side_by_side(screen(colour=True), [FALLING] * 2, (COLOURS[1],)))
    assert f"\x1b[38;5;{COLOURS[0]}m" not in only
    plain = side_by_side(screen(), [replace(FALLING, title="falling")] * 5)
    assert "\x1b" not in "".join(plain)


def test_heat_maps_have_names_marks_and_gaps():
    header, *rows = heat_map(screen(), CELLS)
    assert header.split() == ["a\\nb", "名前", "c"]
    assert [row.split()[0] for row in rows] == ["a\\nb", "名前", "c"]
    assert [row.count("~") for row in rows] == [1, 0, 1]  # the undefined cell has none
    assert rows[0].split()[1:] == ["1.000~", "-", "-0.500"]
    coloured = "".join(heat_map(screen(colour=True), CELLS))
    assert "\x1b[48;5;228m" in coloured


def test_heat_maps_too_wide_have_numbers_or_give_way():
    many = [f"a ranking with a long name {i}" for i in range(12)]
    wide = HeatMap(np.full((12, 12), 0.5), many, many, "value", title="")
    header, *rows = heat_map(screen(), wide)
    assert header.split() == [f"{i + 1}" for i in range(12)]
    assert max(map(display_width, rows)) <= 80
    assert heat_map(screen(), replace(wide, columns=[*many[:-1], "other"])) is None
    huge = [f"r{i}" for i in range(40)]
    assert heat_map(screen(), HeatMap(np.zeros((40, 40)), huge, huge, "value", title="")) is None
