"""Pictures (matplotlib): each function takes computed results and an Axes, and returns the Axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fujiscore.errors import MissingExtraError
from fujiscore.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fujiscore.compare import Curve

# One colour a measure, everywhere: Okabe and Ito's colour-blind-safe palette first, then darker shades of it.
COLOURS = dict(
    zip(
        MEASURES,
        (
            "#D55E00",
            "#0072B2",
            "#009E73",
            "#E69F00",
            "#56B4E9",
            "#CC79A7",
            "#7F7F7F",
            "#000000",
            "#8C564B",
            "#5B3A8E",
            "#BCBD22",
            "#1B7837",
            "#762A83",
        ),
        strict=True,
    )
)


def new_axes() -> Any:
    """Return the Axes of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("plots need matplotlib: pip install 'fujiscore[plot]'") from error
    _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    return ax


def curves(lines: Sequence[Curve], ax: Any = None) -> Any:
    """Draw curves over k, one a measure, with their areas in the legend."""
    ax = new_axes() if ax is None else ax
    for line in lines:
        measure = MEASURES[line.measure]
        marker = "o" if line.ks.size <= 40 else None
        ax.plot(
            line.ks,
            line.values,
            color=COLOURS[measure.name],
            marker=marker,
            markersize=3,
            label=f"{measure.title} (AUC {line.auc:.3f})",
        )
    low = min((MEASURES[line.measure].low for line in lines), default=0.0)
    ax.set(xlabel="k, number of top items", ylabel="similarity")
    ax.set_ylim(max(low, -1.0) - 0.03, 1.03)
    ax.grid(alpha=0.25)
    ax.legend(frameon=False)
    return ax
