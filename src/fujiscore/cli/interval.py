"""`fuji compare --missing bounds`: what FUJI can be where each ranking lacks items of the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fujiscore.bounds import bounds
from fujiscore.cli import inputs
from fujiscore.cli.chart import side_by_side
from fujiscore.cli.comparison import sizes_to_show
from fujiscore.cli.comparison_report import heading
from fujiscore.cli.outputs import Report, deliver, draw
from fujiscore.cli.screen import ORANGE, table
from fujiscore.rankings import align

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fujiscore.bounds import Bounds
    from fujiscore.cli.options import Points, Reading, Writing
    from fujiscore.cli.screen import Screen


def refuse(
    measures: tuple[str, ...],
    usual: tuple[str, ...],
    reading: Reading,
    *,
    corrected: bool,
    permutations: int,
    **_: Any,
) -> None:
    """Raise if something was asked for that has no interval."""
    if measures not in {usual, ("fuji",)}:
        raise click.UsageError("--missing bounds is for FUJI only: leave out other measures.")
    if reading.ties != "stable":
        raise click.UsageError("--missing bounds needs --ties stable.")
    if corrected or permutations:
        raise click.UsageError("--missing bounds has no chance level: leave out --corrected and --permutations.")


def report(
    found: Sequence[inputs.Read],
    sizes: Sequence[int],
    points: Points,
    reading: Reading,
    writing: Writing,
    plot: str | None,
) -> float:
    """Print the interval of the area and at each k; return the area's lower bound."""
    objects = [own.scored for own in found]
    along, at = _bounds(found, objects, sizes, points, reading, writing)
    names = inputs.names(found)
    lacking = [along.n - len(own) for own in objects]
    if plot is not None:
        draw(plot, writing, [lambda ax: along.plot(ax=ax).set_title(" and ".join(names))], (6.4, 4.0))
    form = Report(
        "compare",
        lambda screen: _text(screen, names, lacking, along, at),
        lambda: _data(found, names, lacking, along, at),
        ["k", "fuji_low", "fuji_high"],
        lambda: zip(along.ks.tolist(), along.low.tolist(), along.high.tolist(), strict=True),
    )
    deliver(form, writing)
    return along.auc[0]


def _bounds(
    found: Sequence[inputs.Read],
    objects: Sequence[dict[Any, float]],
    sizes: Sequence[int],
    points: Points,
    reading: Reading,
    writing: Writing,
) -> tuple[Bounds, Bounds]:
    """Return the bounds along the path, and at the k to show."""
    policy = inputs.negative_policy(found, objects, reading, writing)
    for own, scored in zip(found, objects, strict=True):  # so that an error names the file
        align([scored], [own.source.origin], negative=policy, nan=reading.nan)
    chosen: Any = {"zero_tail": reading.zero_tail, "negative": policy, "nan": reading.nan}
    r, s = objects
    n = bounds(r, s, ks=[1], **chosen).n
    return (
        bounds(r, s, ks=points.sizes(n, "all"), **chosen),
        bounds(r, s, ks=sizes_to_show(sizes, n), **chosen),
    )


def _data(
    found: Sequence[inputs.Read], names: Sequence[str], lacking: Sequence[int], along: Bounds, at: Bounds
) -> dict[str, Any]:
    """Return everything, for JSON."""
    low, high = along.auc
    shown = zip(at.ks.tolist(), at.low.tolist(), at.high.tolist(), strict=True)
    return {
        "a": {"name": names[0], "origin": found[0].source.origin, "lacks": lacking[0]},
        "b": {"name": names[1], "origin": found[1].source.origin, "lacks": lacking[1]},
        "items": along.n,
        "bounds": {
            "auc": {"low": low, "high": high},
            "at": {k: {"low": least, "high": most} for k, least, most in shown},
            "curve": {"low": along.low, "high": along.high},
        },
        "ks": along.ks,
    }


def _text(screen: Screen, names: Sequence[str], lacking: Sequence[int], along: Bounds, at: Bounds) -> list[str]:
    """Return the report as lines."""
    low, high = along.auc
    rows = [["FUJI", "AUC", f"{low:.4f}", f"{high:.4f}"]]
    for k, least, most in zip(at.ks.tolist(), at.low.tolist(), at.high.tolist(), strict=True):
        rows.append(["", f"k = {k}", f"{least:.4f}", f"{most:.4f}"])
    lines = [
        f"fuji compare: {heading(screen, names)}",
        f"{along.n} items, k = {along.ks[0]} to {along.ks[-1]}; A lacks {lacking[0]} of them, B lacks {lacking[1]}",
        "",
        *table(screen, ["measure", "at", "at least", "at most"], rows, left=(0, 1)),
    ]
    if along.ks.size > 1:
        title = "FUJI lies between the lines, whatever the missing scores"
        lines += ["", *side_by_side(screen, [(title, along.ks, [along.low, along.high], None, ORANGE)])]
    return lines
