"""A study as tables, a summary and pictures, and all of them as files. Imports plots and measures."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, MissingExtraError
from fujiscore.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fujiscore.pairwise import Matrix
    from fujiscore.studies.study import Study

SUMMARY = "summary.md"
HEADING = "# Feature ranking study"
# The first marked words of a legend fit; more pairs than this are drawn without one.
MOST_LINES = 13


def tables(study: Study) -> dict[str, tuple[list[str], list[list[Any]]]]:
    """Return every table as its header and rows, by the name of its file."""
    found = {
        "rankings.csv": _rankings(study),
        "matrix.csv": _matrix(study.methods, study.matrix.values),
        "curves.csv": _curves(study),
        "stability.csv": _stability(study),
        "stability_comparisons.csv": _comparisons(study),
        "top_features.csv": _top(study),
    }
    if study.corrected is not None:
        found["matrix_corrected.csv"] = _matrix(study.methods, study.corrected.values)
    if study.p_values is not None:
        found["p_values.csv"] = _matrix(study.methods, study.p_values)
    return found


def _rankings(study: Study) -> tuple[list[str], list[list[Any]]]:
    columns = zip(*(own.tolist() for own in study.rankings.scores), strict=True)
    rows = [[study.rankings.label(at), *scores] for at, scores in enumerate(columns)]
    return ["feature", *study.methods], rows


def _matrix(names: Sequence[str], values: Any) -> tuple[list[str], list[list[Any]]]:
    rows = [[name, *(_cell(own) for own in row.tolist())] for name, row in zip(names, values, strict=True)]
    return ["method", *names], rows


def _cell(value: float) -> Any:
    """Return a number, or an empty cell for NaN."""
    return "" if np.isnan(value) else value


def _curves(study: Study) -> tuple[list[str], list[list[Any]]]:
    measure = study.matrix.measure
    rows: list[list[Any]] = []
    for (a, b), found in study.curves.items():
        chance = found.chance[measure]
        drawn = found.drawn is not None
        p_values = chance.p_values.tolist() if drawn and chance.p_values is not None else [""] * chance.ks.size
        columns = (own.tolist() for own in (chance.ks, chance.observed, chance.expected, chance.corrected))
        rows += [[a, b, *cells] for cells in zip(*columns, p_values, strict=True)]
    return ["first", "second", "k", measure, "expected", "corrected", "p_value"], rows


def _stability(study: Study) -> tuple[list[str], list[list[Any]]]:
    rows = []
    for corrected, held in ((False, study.stability), (True, study.stability_corrected)):
        for name, own in (held or {}).items():
            rows.append([name, corrected, own.value, own.low, own.high, own.standard_error, own.confidence, own.m])
    header = ["method", "corrected", "stability", "low", "high", "standard_error", "confidence", "resamples"]
    return header, rows


def _comparisons(study: Study) -> tuple[list[str], list[list[Any]]]:
    rows = [
        [a, b, own.first.pairs.corrected, own.difference, own.low, own.high, own.p_value, study.adjusted_p_values[a, b]]
        for (a, b), own in study.comparisons.items()
    ]
    return ["first", "second", "corrected", "difference", "low", "high", "p_value", "holm_p_value"], rows


def _top(study: Study) -> tuple[list[str], list[list[Any]]]:
    header = ["feature", "mean_rank", *(f"rank_{name}" for name in study.methods)]
    header += [f"methods_in_top_{study.settings['top']}", "agreement", "frequency"]
    rows = [
        [own.feature, own.mean_rank, *own.ranks.values(), own.in_top, own.agreement, own.frequency] for own in study.top
    ]
    return header, rows


def markdown(study: Study) -> str:
    """Return the summary of a study."""
    asked, title = study.settings, MEASURES[study.matrix.measure].title
    ks = study.matrix.ks
    data = f"{asked['rows']} rows, {asked['features']} features, {asked['classes']} classes."
    lines = [HEADING, "", f"{data} Methods: {', '.join(study.methods)}. {described(study)}", ""]
    if study.curves:
        lines += ["## Do the methods agree?", "", f"Area under the {title} curve, k = {ks[0]} to {ks[-1]}.", ""]
        lines += _as_markdown(*agreement(study))
    lines += ["", "## How stable is each method?", "", f"Mean {title} area over all pairs of resamples.", ""]
    lines += _as_markdown(*steadiness(study))
    if study.comparisons:
        lines += ["", *(f"- {line}" for line in verdicts(study))]
    lines += ["", "## Which features matter?", "", *_as_markdown(*ranked(study))]
    if study.notes:
        lines += ["", "## Notes", "", *(f"- {note}" for note in study.notes)]
    return "\n".join(lines) + "\n"


def described(study: Study) -> str:
    """Return in a sentence how the resamples were drawn."""
    asked = study.settings
    kinds = {
        "subsample": f"subsamples of {asked['fraction']:.0%} of each class",
        "bootstrap": "bootstrap samples of each class",
        "folds": "folds left out",
    }
    return f"{asked['resamples']} {kinds[asked['scheme']]}, {asked['permutations']} permutations."


def agreement(study: Study) -> tuple[list[str], list[list[str]]]:
    """Return each pair's similarity, the most similar first."""
    header = ["methods", "AUC", "by chance", "corrected", "p"]
    rows = []
    for (a, b), found in sorted(study.curves.items(), key=lambda pair: -study.matrix[pair[0]]):
        chance = found.chance[study.matrix.measure]
        numbers = [f"{value:.3f}" for value in (chance.auc, chance.expected_auc, chance.corrected_auc)]
        p_value = study.p_value(a, b)
        rows.append([f"{a} and {b}", *numbers, "" if p_value is None else f"{p_value:.2g}"])
    return header, rows


def steadiness(study: Study) -> tuple[list[str], list[list[str]]]:
    """Return each method's stability, the most stable first."""
    level = f"{study.settings['confidence']:.0%} interval"
    best = study.stability_corrected or study.stability
    header, rows = ["method", "stability", level], []
    if study.stability_corrected is not None:
        header += ["corrected", level]
    for name in sorted(study.methods, key=lambda name: -best[name].value):
        row = [name]
        for held in (study.stability, study.stability_corrected):
            if held is not None:
                row += [f"{held[name].value:.3f}", f"{held[name].low:.3f} to {held[name].high:.3f}"]
        rows.append(row)
    return header, rows


def verdicts(study: Study) -> list[str]:
    """Return which methods are more stable than which, in words."""
    level = 1 - study.settings["confidence"]
    clear, unclear = [], []
    for (a, b), own in study.comparisons.items():
        p_value = study.adjusted_p_values[a, b]
        more, less = (b, a) if own.difference > 0 else (a, b)
        if p_value < level:
            clear.append(f"{more} is more stable than {less} ({abs(own.difference):.3f}, p = {p_value:.2g})")
        else:
            unclear.append(f"{a} and {b}")
    kind = "corrected values, " if study.stability_corrected is not None else ""
    lines = [f"{line}; {kind}paired, Holm" if at == 0 else line for at, line in enumerate(clear)]
    return lines + ([f"no clear difference: {', '.join(unclear)}"] if unclear else [])


def ranked(study: Study) -> tuple[list[str], list[list[str]]]:
    """Return the top features with their ranks."""
    header = ["feature", "mean rank", *study.methods, f"in top {study.settings['top']}", "agreement", "frequency"]
    rows = [
        [
            str(own.feature),
            f"{own.mean_rank:.1f}",
            *(f"{value:g}" for value in own.ranks.values()),
            f"{own.in_top} of {len(study.methods)}",
            f"{own.agreement:.2f}",
            f"{own.frequency:.2f}",
        ]
        for own in study.top
    ]
    return header, rows


def _as_markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table of Markdown."""
    safe = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    marks = ["---"] + ["---:"] * (len(header) - 1)
    return [f"| {' | '.join(cells)} |" for cells in (header, marks, *safe)]


def save(study: Study, folder: str | os.PathLike[str], *, pictures: bool | None = None) -> list[Path]:
    """Write all files of a study; the summary last, so that its presence means that all are there."""
    drawn = find_spec("matplotlib") is not None if pictures is None else pictures
    if drawn and find_spec("matplotlib") is None:
        raise MissingExtraError("pictures need matplotlib: pip install 'fujiscore[plot]'")
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"folder must name a folder; {os.fspath(folder)!r} is a file. Name another one.") from None
    files: dict[str, Callable[[Any], Any]] = {}
    for name, table in tables(study).items():
        files[name] = partial(_write_table, table)
    for name, draw in (_pictures(study) if drawn else {}).items():
        files[name] = partial(_write_picture, draw)
    files[SUMMARY] = lambda file: file.write(markdown(study).encode())
    for name, write in files.items():
        _write_whole(target / name, write)
    return [target / name for name in files]


def _write_whole(path: Path, write: Callable[[Any], Any]) -> None:
    """Write a file under another name beside it, and rename it when it is complete."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with unfinished.open("wb") as file:
            write(file)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _write_table(table: tuple[list[str], list[list[Any]]], file: Any) -> None:
    """Write a table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table[0])
    writer.writerows(table[1])
    file.write(text.getvalue().encode())


def _write_picture(draw: tuple[tuple[float, float], Callable[[Any], Any]], file: Any) -> None:
    """Draw on a figure of its own, and write it."""
    from matplotlib.figure import Figure

    size, on = draw
    figure = Figure(figsize=size, layout="constrained")
    on(figure.add_subplot())
    figure.savefig(file, format="png", dpi=150)


def _pictures(study: Study) -> dict[str, tuple[tuple[float, float], Callable[[Any], Any]]]:
    """Return each picture's size and what draws it."""
    side = min(len(study.methods), 24)
    heat = (3.2 + 0.8 * side, 2.2 + 0.6 * side)
    found: dict[str, tuple[tuple[float, float], Callable[[Any], Any]]] = {}
    names = study.matrix.clustered().names
    found["matrix.png"] = (heat, _in_order(study.matrix, names).plot)
    if study.corrected is not None:
        found["matrix_corrected.png"] = (heat, _in_order(study.corrected, names).plot)
    if study.curves:
        found["curves.png"] = ((7.0, 4.6), partial(draw_curves, study))
    found["stability.png"] = ((6.4, 1.6 + 0.5 * side), partial(draw_stability, study))
    return found


def _in_order(matrix: Matrix, names: tuple[str, ...]) -> Matrix:
    """Return a matrix with its rankings in another order, so that two heat maps can be compared."""
    order = [matrix.names.index(name) for name in names]
    return replace(matrix, names=names, columns=names, values=matrix.values[np.ix_(order, order)])


def draw_curves(study: Study, ax: Any) -> Any:
    """Draw every pair's curve over k on a matplotlib Axes."""
    from fujiscore.plots import PALETTE

    measure = study.matrix.measure
    pairs = sorted(study.curves, key=lambda pair: -study.matrix[pair])
    for at, (a, b) in enumerate(pairs):
        curve = study.curves[a, b][measure]
        label = f"{a} and {b} ({curve.auc:.3f})"
        ax.plot(curve.ks, curve.values, color=PALETTE[at % len(PALETTE)], label=label, marker="o", markersize=3)
    ax.set(xlabel="k, number of top features", ylabel=MEASURES[measure].title)
    ax.set_xscale("log", base=2)
    ax.grid(alpha=0.25)
    if len(pairs) <= MOST_LINES:
        ax.legend(frameon=False, fontsize=8, title="AUC", title_fontsize=8)
    return ax


def draw_stability(study: Study, ax: Any) -> Any:
    """Draw each method's stability with its interval on a matplotlib Axes."""
    from fujiscore.plots import PALETTE

    best = study.stability_corrected or study.stability
    names = sorted(study.methods, key=lambda name: best[name].value)
    kinds = [("raw", study.stability), ("corrected for chance", study.stability_corrected)]
    for at, (label, held) in enumerate((label, held) for label, held in kinds if held is not None):
        values = np.array([held[name].value for name in names])
        reach = np.array([[held[name].value - held[name].low, held[name].high - held[name].value] for name in names])
        places = np.arange(len(names)) + (0.12 if at == 0 else -0.12)
        ax.errorbar(values, places, xerr=reach.T, fmt="o", color=PALETTE[1 - at], capsize=3, label=label)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(-0.6, len(names) - 0.4)
    confidence = f"{study.settings['confidence']:.0%} interval"
    ax.set_xlabel(f"stability: mean {MEASURES[study.matrix.measure].title} area over resamples, {confidence}")
    ax.grid(alpha=0.25, axis="x")
    ax.legend(frameon=False, fontsize=8)
    return ax
