"""A study as tables and a summary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fujiscore.errors import LISTED, NAME, counted, one_line, short_names
from fujiscore.measures.registry import find
from fujiscore.text.numbers import p_text, p_words
from fujiscore.text.tables import Table, free_name, markdown_text, text_columns

if TYPE_CHECKING:
    from fujiscore.features.study import Study
    from fujiscore.inputs.coercion import Scores
    from fujiscore.many.stability import Stability

    HeaderAndRows: TypeAlias = tuple[list[str], list[list[Any]]]

HEADING = "# Feature ranking study"
# Columns of a name in a summary of a few lines.
SHORT = 24
COVERS = "Intervals are about resamples of this data set: on new data, rankings may be less similar"
TIERS = "Features of different tiers differ significantly in mean rank over resamples of this data set"


def tables(study: Study) -> dict[str, HeaderAndRows]:
    """Return every table as its header and rows, by file name."""
    labels = [study.rankings.label(position) for position in range(study.rankings.n)]
    result = {
        "rankings.csv": _by_method(study, "feature", labels, study.rankings.matrix().T),
        "matrix.csv": _by_method(study, "method", study.methods, study.matrix.values),
        "curves.csv": _curves(study),
        "stability.csv": _stability(study),
        "stability_comparisons.csv": _comparisons(study),
        "top_features.csv": _top(study),
        "ranks.csv": _ranks(study),
    }
    corrected = None if study.corrected is None else study.corrected.values
    for name, values in (("matrix_corrected.csv", corrected), ("p_values.csv", study.p_values)):
        if values is not None:
            result[name] = _by_method(study, "method", study.methods, values)
    return result


def _by_method(study: Study, label: str, labels: Iterable[Any], values: Scores) -> HeaderAndRows:
    """Return a table with one column per method."""
    return [free_name(label, study.methods), *study.methods], [
        [name, *row] for name, row in zip(labels, values.tolist(), strict=True)
    ]


def _curves(study: Study) -> HeaderAndRows:
    measure, rows = study.matrix.measure, []
    for (a, b), comparison in study.curves.items():
        chance, columns = comparison.chance.get(measure), [comparison.ks, comparison[measure].values]
        if chance is not None:
            columns += [chance.expected, chance.corrected]
            columns += [] if chance.p_values is None else [chance.p_values]
        known = zip(*(column.tolist() for column in columns), strict=True)
        rows += [[a, b, *row, *[np.nan] * (5 - len(columns))] for row in known]
    return ["first", "second", "k", measure, "expected", "corrected", "p_value"], rows


def _stability(study: Study) -> HeaderAndRows:
    header = ["stability", "low", "high", "standard_error", "confidence", "resamples"]
    rows = [
        [name, corrected, s.value, s.low, s.high, s.standard_error, s.confidence, s.m, study.flat_resamples[name]]
        for corrected, kind in ((False, study.stability), (True, study.stability_corrected or {}))
        for name, s in kind.items()
    ]
    return ["method", "corrected", *header, "flat_resamples"], rows


def _comparisons(study: Study) -> HeaderAndRows:
    adjusted = study.adjusted_p_values
    rows = [
        [*pair, c.first.pairs.corrected, c.difference, c.low, c.high, c.p_value, adjusted[pair]]
        for pair, c in study.comparisons.items()
    ]
    return ["first", "second", "corrected", "difference", "low", "high", "p_value", "holm_p_value"], rows


def _top(study: Study) -> HeaderAndRows:
    ranks = [f"rank_{name}" for name in study.methods]
    last = [f"methods_in_top_{study.settings['top']}", "agreement", "frequency"]
    rows = [
        [f.feature, f.mean_rank, *map(f.ranks.get, study.methods), f.in_top, f.agreement, f.frequency]
        for f in study.top
    ]
    return ["feature", "mean_rank", *ranks, *last], rows


def _ranks(study: Study) -> HeaderAndRows:
    header = ["tier", "mean_rank", "low", "high", "best", "worst", f"in_top_{study.settings['top']}"]
    rows = []
    for name, ranks in study.ranks.items():
        items, *numbers = ranks.columns().values()
        rows += [[name, *row] for row in zip(items, *(column.tolist() for column in numbers), strict=True)]
    return ["method", "feature", *header], rows


def markdown(study: Study) -> str:
    """Return the summary of a study."""
    ks = study.matrix.ks
    methods = markdown_text(", ".join(short_methods(study).values()))
    lines = [HEADING, "", f"{sizes(study)}. Methods: {methods}. {described(study)}"]
    if len(study.methods) > 1:
        lines += ["", "## Do the methods agree?", "", f"{area(study)}, k = {ks[0]} to {ks[-1]}.", ""]
        lines += agreement(study).markdown()
    covers = f"Mean {area(study)}, over all pairs of resamples. {COVERS}."
    lines += ["", "## How stable is each method?", "", covers, "", *steadiness(study).markdown()]
    if study.comparisons:
        lines += ["", *(f"- {markdown_text(line)}" for line in verdicts(study))]
    lines += ["", "## Which features matter?", "", *ranked(study).markdown()]
    if study.ranks:
        lines += ["", "## How certain are the ranks?", "", f"{TIERS}.", ""]
        lines += certainty(study).markdown()
    if study.notes:
        lines += ["", "## Notes", "", *(f"- {markdown_text(one_line(note))}" for note in study.notes)]
    return "\n".join(lines) + "\n"


def shown(study: Study, rows: int | None) -> list[Table]:
    """Return the tables of the summary."""
    most = study.settings["top"] if rows is None else max(1, rows // max(len(study.ranks), 1))
    tables = (agreement(study), steadiness(study), ranked(study), certainty(study, most))
    return [_first_rows(table, rows) for table in tables if table.rows]


def _first_rows(table: Table, rows: int | None) -> Table:
    """Return the first rows of a table of many."""
    if rows is None or len(table.rows) <= rows:
        return table
    return replace(table, caption=f"{table.caption} (first {rows} of {len(table.rows)} rows)", rows=table.rows[:rows])


def area(study: Study) -> str:
    """Return what the similarities are."""
    return f"{find(study.matrix.measure).title}, {study.settings['area']}"


def summary(study: Study) -> list[str]:
    """Return the study in a few lines: its size, who agrees, who is stable, what matters."""
    names = short_methods(study, SHORT)
    lines = [f"study of {sizes(study)}, {counted(len(study.methods), 'method')}"]
    if study.curves:
        a, b = most_similar(study)[0]
        lines.append(f"most similar: {names[a]} and {names[b]}, {study.matrix[a, b]:.3f} ({area(study)})")
    best = study.stability_corrected or study.stability
    most = by_stability(study)[0]
    if not np.isnan(best[most].value):
        kind = "corrected stability" if study.stability_corrected else "stability"
        lines.append(f"most stable: {names[most]}, {kind} {best[most].value:.3f}")
    features = short_names((f.feature for f in study.top[:LISTED]), SHORT)
    lines.append(f"top features: {', '.join(features)}" if features else "no feature stands out: every ranking is flat")
    return [*lines, "print shows all tables; .save(folder) writes them"]


def sizes(study: Study) -> str:
    """Return in words how large the data are, and what kind of target they have."""
    settings = study.settings
    target = "regression" if settings["classes"] is None else f"{settings['classes']} classes"
    return f"{settings['rows']} rows, {settings['features']} features, {target}"


def described(study: Study) -> str:
    """Return in a sentence how the resamples were drawn."""
    settings = study.settings
    count, draws, groups = settings["resamples"], settings["permutations"], settings["groups"]
    units = f"the {groups} groups" if groups else "the rows" if settings["classes"] is None else "each class"
    kinds = {
        "subsample": f"subsamples of {settings['fraction']:.0%} of {units}",
        "bootstrap": f"bootstrap samples of {units}",
        "folds": f"samples without one fold{' of groups' if groups else ''}",
        "time": "samples of the first rows, each longer than the one before",
    }
    kind = kinds.get(settings["scheme"], f"training sets of {settings['scheme']}")
    drawn = f", {draws} permutations" if draws else ""
    return f"{count} {kind} (any two share about {settings['overlap']:.0%} of their rows){drawn}."


def agreement(study: Study) -> Table:
    """Return the similarity of each pair, the most similar first; undefined for flat methods."""
    header, rows, names = ["methods", "value", "by chance", "corrected", "p"], [], short_methods(study)
    for a, b in most_similar(study):
        level = study.curves[a, b].levels()[0]
        values = (level.value, level.expected, level.corrected)
        numbers = ["" if value is None else f"{value:.3f}" for value in values]
        numbers.append("" if level.p_value is None else p_text(level.p_value, level.method))
        rows.append([f"{names[a]} and {names[b]}", *numbers])
    for pair in combinations(study.methods, 2):
        if pair not in study.curves:
            marked = [f"{names[name]} (flat)" if name in study.flat else names[name] for name in pair]
            rows.append([" and ".join(marked), "undefined", "", "", ""])
    known = [column for column in range(len(header)) if column < 2 or any(row[column] for row in rows)]
    table = text_columns(f"agreement of the methods ({area(study)})", header, rows)
    return table.without([name for c, name in enumerate(header) if c not in known])


def short_methods(study: Study, most: int = NAME) -> dict[str, str]:
    """Return the methods' names as tables and figures show them."""
    return dict(zip(study.methods, short_names(study.methods, most), strict=True))


def most_similar(study: Study) -> list[tuple[str, str]]:
    """Return the pairs that have a curve, the most similar first."""
    return sorted(study.curves, key=lambda pair: -study.matrix[pair])


def stability_kinds(study: Study) -> dict[str, Mapping[str, Stability]]:
    """Return the stability of each method, raw and, if known, corrected for chance."""
    corrected = study.stability_corrected
    return {"raw": study.stability, **({} if corrected is None else {"corrected for chance": corrected})}


def steadiness(study: Study) -> Table:
    """Return the stability of each method, the most stable first; methods with flat resamples are marked."""
    interval = f"{study.settings['confidence']:.0%} interval"
    header, rows = ["method", "stability", interval, "corrected", interval], []
    kinds, names = stability_kinds(study).values(), short_methods(study)
    for name in by_stability(study):
        flat = study.flat_resamples[name]
        row = [f"{names[name]} (flat in {flat} of {study.settings['resamples']})" if flat else names[name]]
        for s in (kind[name] for kind in kinds):
            row += ["undefined", ""] if np.isnan(s.value) else [f"{s.value:.3f}", f"{s.low:.3f} to {s.high:.3f}"]
        rows.append(row)
    kept = header[: 1 + 2 * len(kinds)]
    return text_columns(f"stability of each method (mean {area(study)})", kept, rows, notes=[COVERS])


def by_stability(study: Study) -> list[str]:
    """Return the methods from the most to the least stable, undefined ones last."""
    values = {name: s.value for name, s in (study.stability_corrected or study.stability).items()}
    return sorted(study.methods, key=lambda name: float(np.nan_to_num(-values[name], nan=np.inf)))


def verdicts(study: Study) -> list[str]:
    """Return in words which methods are more stable than others."""
    clear, unclear, names = [], [], short_methods(study)
    for (a, b), p_value in study.adjusted_p_values.items():
        difference = study.comparisons[a, b].difference
        more, less = (names[b], names[a]) if difference > 0 else (names[a], names[b])
        if p_value < 1 - study.settings["confidence"]:
            clear.append(f"{more} is more stable than {less} ({abs(difference):.3f}, {p_words(p_value)})")
        else:
            unclear.append(f"{names[a]} and {names[b]}")
    kind = "corrected values, " if study.stability_corrected is not None else ""
    if clear:
        clear[0] += f"; {kind}paired, Holm"
    return clear + ([f"no clear difference: {', '.join(unclear)}"] if unclear else [])


def ranked(study: Study) -> Table:
    """Return the top features with their ranks."""
    rows = []
    for f, feature in zip(study.top, short_names(f.feature for f in study.top), strict=True):
        ranks = [f"{f.ranks[name]:g}" if name in f.ranks else "-" for name in study.methods]
        last = [f"{f.in_top} of {len(f.ranks)}", f"{f.agreement:.2f}", f"{f.frequency:.2f}"]
        rows.append([feature, f"{f.mean_rank:.1f}", *ranks, *last])
    methods, last = short_methods(study).values(), [f"in top {study.settings['top']}", "agreement", "frequency"]
    return text_columns("top features", ["feature", "mean rank", *methods, *last], rows, optional=[list(methods)])


def certainty(study: Study, most: int | None = None) -> Table:
    """Return the features with the best mean rank over the resamples of each method, with intervals and tiers."""
    top, rows, names = study.settings["top"], [], short_methods(study)
    for name, ranks in study.ranks.items():
        for i, feature in enumerate(short_names(ranks.items[: most or top])):
            interval = f"{ranks.low[i]:.1f} to {ranks.high[i]:.1f}"
            numbers = [f"{ranks.mean[i]:.1f}", interval, f"{ranks.in_top[i]:.2f}"]
            rows.append([names[name], str(ranks.tier[i]), feature, *numbers])
    interval = f"{study.settings['confidence']:.0%} interval"
    caption = f"mean ranks over the resamples, first {most or top} of each method"
    header = ["method", "tier", "feature", "mean rank", interval, f"in top {top}"]
    return text_columns(caption, header, rows, range(3), [TIERS])


def tiers(study: Study) -> list[str]:
    """Return in words the tiers of the first features of each method."""
    lines, names = [], short_methods(study)
    for name, ranks in study.ranks.items():
        members: dict[int, list[str]] = {}
        shown = short_names(ranks.items[: study.settings["top"]])
        for feature, tier in zip(shown, ranks.tier.tolist(), strict=False):
            members.setdefault(tier, []).append(feature)
        parts = [f"tier {tier} {', '.join(features)}" for tier, features in members.items()]
        if len(shown) < len(ranks.items):
            more = len(ranks.items) - len(shown)
            parts.append(f"and {more} more, {counted(int(ranks.tier[-1]), 'tier')} in all")
        lines.append(f"{names[name]}: {'; '.join(parts)}")
    return lines
