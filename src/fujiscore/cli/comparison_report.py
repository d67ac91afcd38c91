"""The report of `fuji compare` as text, JSON, CSV and picture."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fujiscore.cli.chart import side_by_side
from fujiscore.cli.outputs import Report
from fujiscore.cli.screen import BLUE, GREEN, ORANGE, PURPLE, printable, table
from fujiscore.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fujiscore.cli.comparison import Compared, Level
    from fujiscore.cli.screen import Screen

NEAR_MISSES = 5
COLOURS = (ORANGE, BLUE, GREEN, PURPLE)


def report(compared: Compared, origins: Sequence[str]) -> Report:
    """Return the report in its three forms."""
    header = ["k"]
    for name in compared.comparison.curves:
        header += [name, f"{name}_expected", f"{name}_corrected"]
    return Report(
        "compare",
        lambda screen: _text(compared, screen),
        lambda: _data(compared, origins),
        header,
        lambda: _rows(compared),
    )


def plot(compared: Compared, ax: Any) -> None:
    """Draw all curves; a single one against chance."""
    curves, chance = compared.comparison.curves, list(compared.chance.values())
    if len(curves) == 1 and chance:
        chance[0].plot(ax=ax)
    else:
        compared.comparison.plot(ax=ax)
    ax.set_title(" and ".join(compared.names))


def heading(screen: Screen, names: Sequence[str]) -> str:
    """Return which ranking is A and which B."""
    a, b = (screen.fit(name, max(8, (screen.width - 27) // 2)) for name in names)
    return f"A = {a}, B = {b}"


def _rows(compared: Compared) -> Iterator[Sequence[Any]]:
    """Return one row a k; empty cells where the chance level is not known."""
    columns: list[Any] = [compared.comparison.ks.tolist()]
    empty = [""] * len(columns[0])
    for name, curve in compared.comparison.curves.items():
        chance = compared.chance.get(name)
        columns.append(curve.values.tolist())
        columns += [empty, empty] if chance is None else [chance.expected.tolist(), chance.corrected.tolist()]
    return zip(*columns, strict=True)


def _data(compared: Compared, origins: Sequence[str]) -> dict[str, Any]:
    """Return everything, for JSON."""
    why, comparison = compared.explanation, compared.comparison
    measures = {}
    for name, (area, *rest) in compared.levels.items():
        at = {level.k: _fields(level) for level in rest}
        measures[name] = {"auc": _fields(area), "at": at, "curve": comparison[name].values}
    return {
        "a": {"name": compared.names[0], "origin": origins[0]},
        "b": {"name": compared.names[1], "origin": origins[1]},
        "items": comparison.n,
        "ties_cut": comparison.ties_cut,
        "measures": measures,
        "explained": {
            "k": [why.k1, why.k2],
            "fuji": why.value,
            "jaccard": why.jaccard,
            "near_misses": [asdict(own) for own in compared.near_misses],
        },
        "ks": comparison.ks,
    }


def _fields(level: Level) -> dict[str, Any]:
    """Return a level without its place."""
    return {name: value for name, value in asdict(level).items() if name != "k"}


def _text(compared: Compared, screen: Screen) -> list[str]:
    """Return the report as lines."""
    n, ks = compared.comparison.n, compared.comparison.ks
    lines = [
        f"fuji compare: {heading(screen, compared.names)}",
        f"{n} items, k = {ks[0]} to {ks[-1]} ({ks.size} {'point' if ks.size == 1 else 'points'})",
        "",
        *_table(compared, screen),
        "",
    ]
    if ks.size > 1:
        lines += [*side_by_side(screen, _charts(compared)), ""]
    return lines + _near_misses(compared, screen) + _remarks(compared, screen)


def _table(compared: Compared, screen: Screen) -> list[str]:
    """Return values, chance levels and corrected values, the areas first."""
    header = ["measure", "at", "value", "by chance", "corrected", "z", "p"]
    forms = (".4f", ".4f", ".4f", ".2f", ".4g")
    rows = []
    for name, levels in compared.levels.items():
        for level in levels:
            numbers = (level.value, level.expected, level.corrected, level.z, level.p_value)
            cells = ["-" if own is None else format(own, form) for own, form in zip(numbers, forms, strict=True)]
            title = MEASURES[name].title if level.k is None else ""
            rows.append([title, "AUC" if level.k is None else f"k = {level.k}", *cells])
    width = len(header) if compared.permuted else len(header) - 1
    return table(screen, header[:width], [row[:width] for row in rows], left=(0, 1))


def _charts(compared: Compared) -> list[tuple[Any, ...]]:
    """Return the curves to draw, each with its chance level."""
    charts = []
    for i, (name, curve) in enumerate(compared.comparison.curves.items()):
        chance = compared.chance.get(name)
        title = MEASURES[name].title + ("" if chance is None else " (dotted: by chance)")
        level = None if chance is None else chance.expected
        charts.append((title, curve.ks, [curve.values], level, COLOURS[i % len(COLOURS)]))
    return charts


def _near_misses(compared: Compared, screen: Screen) -> list[str]:
    """Return the decomposition of FUJI at one k, and the near misses that give it most."""
    why, near = compared.explanation, compared.near_misses
    sizes = f"k = {why.k1}" if why.k1 == why.k2 else f"k = ({why.k1}, {why.k2})"
    credit = why.value - why.jaccard
    lines = screen.wrap(
        f"At {sizes}: FUJI {why.value:.4f} = Jaccard {why.jaccard:.4f} + {credit:.4f} credit for misses"
    )
    if not near:
        same = why.kind.count("shared") == len(why)
        return [*lines, "No near misses: " + ("the top sets are equal." if same else "no other item comes near.")]
    header = ["near miss", "rank A", "rank B", "credit"]
    rows = [
        [printable(own.item), str(own.rank_a), str(own.rank_b), f"{own.contribution:.4f}"] for own in near[:NEAR_MISSES]
    ]
    lines += table(screen, header, rows)
    if len(near) > NEAR_MISSES:
        lines.append(f"... {len(near) - NEAR_MISSES} more: fuji explain A B -k {why.k1}")
    return lines


def _remarks(compared: Compared, screen: Screen) -> list[str]:
    """Return what a reader must know about ties and about chance levels that are missing."""
    comparison, said = compared.comparison, []
    if compared.ties == "stable" and comparison.ties_cut:
        said.append(
            f"Ties: at {comparison.ties_cut} of {comparison.ks.size} points equal scores straddle the top k, and "
            "their order in the files decides (--ties closed does not depend on it). Chance levels are as if ties "
            "were broken at random."
        )
    without = [name for name in comparison.curves if name not in compared.chance]
    if without:
        said.append(f"No formula for the chance level of {', '.join(without)}: pass --permutations 1000.")
    return [line for text in said for line in ("", *screen.wrap(text))]
