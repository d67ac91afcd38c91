"""`fuji measures`: the measures, their ranges and properties, or one of them explained."""

from __future__ import annotations

import textwrap
from dataclasses import fields

import click

from fujiscore.cli import options
from fujiscore.cli.output import Report, check_destinations, deliver
from fujiscore.cli.terminal import Screen, fitted
from fujiscore.measures.registry import MEASURES, Measure, Properties
from fujiscore.null.closed_forms import has_closed_form
from fujiscore.text.tables import text_columns
from fujiscore.text.tabular import data_of, schema

MEANING = {
    "fully_defined": "defined for sets of all sizes",
    "bounded": "bounds that do not depend on n",
    "maximum": "greatest for equal sets only",
    "chance_corrected": "corrected for chance as defined (others: --corrected)",
    "uses_scores": "uses the scores, not only the sets",
}
SHORT = ("sizes", "bounds", "max", "chance", "scores")


@click.command(
    cls=options.Command,
    short_help="List the measures, or explain one.",
    examples=("fuji measures", "fuji measures gamma", "fuji measures --csv"),
)
@click.argument("name", type=options.MeasureName(), required=False, metavar="[NAME]")
@options.writing
def command(*, name: Measure | None, writing: options.Writing) -> None:
    """List the measures with their properties, or explain one of them."""
    check_destinations(writing, [])
    chosen = list(MEASURES.values()) if name is None else [name]
    rows = [{**data_of(measure), "chance_formula": has_closed_form(measure)} for measure in chosen]
    report = Report(
        "measures",
        lambda screen: _table(screen) if name is None else _explained(screen, chosen[0]),
        lambda: {"schema": schema("measures"), "measures": rows},
        lambda: {key: [row[key] for row in rows] for key in rows[0]},
    )
    deliver(report, writing)


def _range(measure: Measure) -> str:
    low = "-inf" if measure.low == -float("inf") else f"{measure.low:g}"
    return f"{low} to {measure.high:g}"


def _table(screen: Screen) -> list[str]:
    """Return one line per measure."""
    names = [field.name for field in fields(Properties)]
    rows = []
    for measure in MEASURES.values():
        known = measure.properties
        marks = ["" if known is None else "yes" if getattr(known, name) else "-" for name in names]
        formula = "yes" if has_closed_form(measure) else "-"
        rows.append([measure.name, _range(measure), *marks, formula])
    legend = [f"  {short:<9} {MEANING[name]}" for short, name in zip(SHORT, names, strict=True)]
    legend.append(f"  {'formula':<9} chance level in closed form; for others, pass --permutations")
    return [
        f"fuji measures: {len(MEASURES)} measures of similarity, to be passed as --measure NAME",
        "",
        *fitted(screen, text_columns("", ["name", "range", *SHORT, "formula"], rows, range(9))),
        "",
        "Properties as in the table of the FUJI paper (blank: not in it):",
        *legend,
    ]


def _explained(screen: Screen, measure: Measure) -> list[str]:
    """Return one measure at length."""
    facts = {
        "formula": measure.formula,
        "where": "h items are shared, k1 and k2 are the set sizes, n is the number of items, E = k1 k2 / n",
        "range": _range(measure),
        "sizes": "any two" if measure.unequal else "equal only",
        "exchange": "the same either way" if measure.symmetric else "depends on which ranking comes first",
        "chance": "closed form" if has_closed_form(measure) else "by permutations (--permutations N)",
        "headline": "value over the whole list" if measure.whole else "area under the curve over k",
    }
    if measure.parameters:
        listed = ", ".join(f"{name}={value}" for name, value in measure.parameters.items())
        facts["parameters"] = (
            f"{listed}; pass --measure {measure.base}:VALUE for another {next(iter(measure.parameters))}"
        )
    if measure.aliases:
        facts["also"] = ", ".join(measure.aliases)
    if measure.properties is not None:
        facts |= {text: "yes" if getattr(measure.properties, name) else "no" for name, text in MEANING.items()}
    facts["reference"] = measure.reference
    width = max(len(name) for name in facts)
    lines = [f"fuji measures: {measure.name} ({measure.title})", ""]
    for name, text in facts.items():
        first, *rest = textwrap.wrap(text, screen.width - width - 2)
        lines += [f"{name:<{width}}  {first}", *(" " * (width + 2) + line for line in rest)]
    return lines
