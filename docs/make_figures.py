"""Draw the small figures of the measures: `python docs/make_figures.py`.

They are written as SVG directly rather than by matplotlib: a few kilobytes each, and the same bytes everywhere, so that
a test can compare them with what this script would write. The white background is legible on light and dark pages.
"""

from __future__ import annotations

from html import escape
from math import log10
from pathlib import Path
from typing import NamedTuple

import numpy as np

import fujiscore as fj

FOLDER = Path(__file__).with_name("pictures")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 340, 210, 36, 12, 40, 34
GREY = "#6E6E6E"
FONT = "font-family='system-ui, sans-serif' font-size='11' fill='#222222'"


class Line(NamedTuple):
    """A line over k: label, values at k = 1, 2, 3, ..., colour, and the pattern of dashes."""

    label: str
    values: np.ndarray
    colour: str
    dash: str = ""


def thinned(values, most=160):
    """Return the k to draw, all of them or evenly spaced on the logarithmic axis, and their values."""
    n = len(values)
    ks = np.arange(1, n + 1)
    if n > most:
        ks = np.unique(np.geomspace(1, n, most).round().astype(int))
    return ks, np.asarray(values)[ks - 1]


def chart(title, lines, low=0.0):
    """Return the figure of some lines over k, with a logarithmic axis, as the text of an SVG file."""
    n = len(lines[0].values)

    def x(k):
        return LEFT + (WIDTH - LEFT - RIGHT) * log10(k) / log10(n)

    def y(value):
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - low) / (1 - low))

    parts = [f"<title>{escape(title)}</title>", f"<rect width='{WIDTH}' height='{HEIGHT}' rx='6' fill='#FFFFFF'/>"]
    for value in (low, (1 + low) / 2, 1.0):
        parts.append(f"<path d='M{LEFT} {y(value):.1f}H{WIDTH - RIGHT}' stroke='#DDDDDD'/>")
        parts.append(f"<text x='{LEFT - 5}' y='{y(value) + 4:.1f}' text-anchor='end' {FONT}>{value:g}</text>")
    for k in [10**power for power in range(5) if 10**power <= n]:
        anchor = "end" if k == n else "middle"
        parts.append(f"<text x='{x(k):.1f}' y='{HEIGHT - BOTTOM + 14}' text-anchor='{anchor}' {FONT}>{k:,}</text>")
    parts.append(f"<text x='{(LEFT + WIDTH - RIGHT) / 2:.0f}' y='{HEIGHT - 5}' text-anchor='middle' {FONT}>k</text>")
    for line in lines:
        ks, values = thinned(line.values)
        points = [
            (x(k), y(min(1.0, max(low, value)))) for k, value in zip(ks, values, strict=True) if np.isfinite(value)
        ]
        path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
        dash = f" stroke-dasharray='{line.dash}'" if line.dash else ""
        parts.append(f"<path d='{path}' fill='none' stroke='{line.colour}' stroke-width='1.8'{dash}/>")
    return svg([*parts, *legend(lines)])


def legend(lines):
    """Return the legend: two columns above the lines."""
    parts = []
    for number, line in enumerate(lines):
        left, top = 12 + 164 * (number % 2), 14 + 15 * (number // 2)
        dash = f" stroke-dasharray='{line.dash}'" if line.dash else ""
        parts.append(f"<path d='M{left} {top - 4}h20' stroke='{line.colour}' stroke-width='2.5'{dash}/>")
        parts.append(f"<text x='{left + 25}' y='{top}' {FONT}>{escape(line.label)}</text>")
    return parts


def svg(parts):
    """Return a whole file."""
    size = f"width='{WIDTH}' height='{HEIGHT}' viewBox='0 0 {WIDTH} {HEIGHT}'"
    return "\n".join([f"<svg xmlns='http://www.w3.org/2000/svg' {size}>", *parts, "</svg>"]) + "\n"


# Three pairs of rankings, on which every measure is shown.


def scores(n=100):
    """Return scores that fall steadily, and slowly at the top."""
    return np.linspace(1, 0.02, n)


def near_ties(n=100):
    """Return two rankings that differ in the order of neighbours only, whose scores are nearly equal."""
    r = scores(n)
    s = r.copy()
    s[0::2], s[1::2] = r[1::2], r[0::2]
    return r, s


def noisy(n=100):
    """Return a ranking and a noisy copy."""
    r = scores(n)
    return r, r * np.exp(0.15 * np.random.default_rng(1).normal(size=n))


def unrelated(n=100):
    """Return a ranking, and the same scores in random order."""
    r = scores(n)
    return r, np.random.default_rng(2).permutation(r)


def line_of(name, pair, label=None, dash="", **options):
    """Return a measure's line for two rankings, in the measure's colour."""
    return Line(
        label or fj.MEASURES[name].title, fj.curve(*pair, name, **options).values, fj.MEASURES[name].colour, dash
    )


def of_measure(name):
    """Return a measure's figure: neighbours exchanged, a noisy copy, unrelated rankings."""
    measure = fj.MEASURES[name]
    lines = [
        line_of(name, noisy(), "noisy copy"),
        line_of(name, near_ties(), "nearly equal neighbours swapped", "2 3"),
        line_of(name, unrelated(), "unrelated")._replace(colour=GREY, dash="6 3"),
    ]
    lines[1], lines[2] = lines[2], lines[1]
    return chart(f"{measure.title} over k for three pairs of rankings", lines, low=-1.0 if measure.low < 0 else 0.0)


# What goes wrong, one figure per measure or family.


def jaccard_jumps():
    """Nearly equal neighbours swapped: sets differ at every other k, scores hardly do."""
    return "Jaccard jumps where nearly equal items swap places", [line_of(m, near_ties()) for m in ("jaccard", "fuji")]


def fuji_offset():
    """Unrelated rankings with scores far from zero: every ratio is near 1."""
    generator = np.random.default_rng(3)
    r, s = 0.75 + 0.05 * generator.random((2, 200))
    chance = fj.chance(r, s)
    lines = [
        Line("FUJI", chance.observed, fj.MEASURES["fuji"].colour),
        Line("corrected for chance", chance.corrected, fj.MEASURES["fuji"].colour, "2 3"),
    ]
    return "Raw FUJI of unrelated scores between 0.75 and 0.80 is near 1", lines


def hamming_empty():
    """Unrelated rankings: most items are outside both sets, and count as agreement."""
    return "Hamming of unrelated rankings is near 1 for small k", [
        line_of(m, unrelated(1000)) for m in ("hamming", "dice")
    ]


def kendall_tail():
    """Take rankings with the same top 20 of 1,000 items, and nothing else in common."""
    generator = np.random.default_rng(4)
    r = np.linspace(1, 0.001, 1000)
    s = np.concatenate([r[:20], generator.permutation(r[20:])])
    lines = [line_of("kendall", (r, s)), line_of("fuji", (r, s)), line_of("jaccard", (r, s))]
    return "Kendall's tau of two rankings that share their top 20 of 1,000", lines


def rbo_blind():
    """Swap the first items with a near or a far neighbour: RBO sees the same change."""
    near = np.array([1.0, 0.99, *np.linspace(0.5, 0.05, 48)])
    far = np.array([1.0, 0.2, *np.linspace(0.19, 0.01, 48)])
    pairs = [(r, r[[1, 0, *range(2, 50)]]) for r in (near, far)]
    lines = [
        line_of(m, pair, f"{fj.MEASURES[m].title}, {word}", dash)
        for m in ("rbo", "fuji")
        for pair, word, dash in zip(pairs, ("1.00 and 0.99", "1.00 and 0.20"), ("", "2 3"), strict=True)
    ]
    return "RBO when the first two items swap: the scores do not matter", lines


def kuncheva_jumps():
    """Corrected for chance by design, but a set measure like the others."""
    return "Kuncheva's index jumps with the choice of k", [
        line_of("kuncheva", near_ties()),
        line_of("fuji", near_ties()),
    ]


def correlation_outlier():
    """Two unrelated rankings that share one huge score."""
    r, s = (values.copy() for values in unrelated())
    s[0] = r[0] = 30.0
    return "One large score makes the correlation of unrelated rankings 1", [
        line_of("correlation", (r, s)),
        line_of("spearman", (r, s)),
    ]


def ndcg_flat():
    """Judge a random order by gains between 0.5 and 1."""
    generator = np.random.default_rng(5)
    r, s = 0.5 + 0.5 * generator.random((2, 300))
    return "nDCG of a random order is high when gains are alike", [line_of("ndcg", (r, s)), line_of("jaccard", (r, s))]


WRONG = {
    "jaccard": jaccard_jumps,
    "fuji": fuji_offset,
    "hamming": hamming_empty,
    "kuncheva": kuncheva_jumps,
    "kendall": kendall_tail,
    "rbo": rbo_blind,
    "correlation": correlation_outlier,
    "ndcg": ndcg_flat,
}


def wrong(name):
    """Return the figure of what goes wrong with a measure."""
    title, lines = WRONG[name]()
    return chart(title, lines, low=-1.0 if any(np.nanmin(line.values) < -0.1 for line in lines) else 0.0)


def figures():
    """Return {path in the folder: function that draws it}."""
    return {f"measures/{name}.svg": (of_measure, name) for name in fj.MEASURES} | {
        f"wrong-{name}.svg": (wrong, name) for name in WRONG
    }


if __name__ == "__main__":
    for place, (draw, name) in figures().items():
        path = FOLDER / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(draw(name), encoding="utf-8")
