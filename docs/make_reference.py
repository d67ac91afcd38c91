"""Write docs/measures.md and docs/api.md from the package itself: `python docs/make_reference.py`."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import fujiscore as fj
from fujiscore import rankers
from fujiscore.inputs.options import Policies
from fujiscore.null.closed_forms import has_closed_form
from fujiscore.text.docstrings import SHARED
from fujiscore.work.tiles import Execution

MEASURES_HEAD = """# Measures

<!-- Generated from the registry by docs/make_reference.py. -->

A measure compares the top sets of two rankings: the k1 best items of r and the k2 best items of s, of n items in
all. h is the number of items in both sets, and E = k1 k2 / n the number that two random sets share on average.
Without ties k1 = k2 = k; with `ties="closed"` the sets also hold the items tied with the k-th. Where the sizes alone
determine the overlap (a set holds all items), the chance-corrected measures and CWrel are 1 for equal sets and 0
otherwise. Which one to use: [Which measure when](choosing.md).

**Headline.** One number stands for a measure: the *area* under its curve over k, or, for measures of whole lists, the
*value over the whole list*. `compare`, `pairwise`, `stability` and the commands report the same headline.

**Names.** Any capitalisation works, and so do the aliases. Parameters are passed as `"rbo:0.98"` or `"rbo(p=0.98)"`, in
Python also as `fj.MEASURES["rbo"](p=0.98)`, and on the command line as `-m rbo:0.98`.

**Chance.** "closed form" means that the [value expected by chance](chance.md) is computed exactly; the other measures
need permutations (`permutations=1000`). FUJI, Jaccard and all measures that are linear in the shared items, average
overlap and RBO among them, also have [p-values without permutations](chance.md#p-values-without-permutations).

**Undefined values** are NaN, with a note: rank correlations of constant scores, and measures of equal sizes where ties
make the sizes differ. `correlation` and `gamma` give 1 there instead, as the paper does, also with a note.

## All measures
"""

PROPERTIES_HEAD = """
## Properties

Of the paper's thirteen measures, the five properties in its Table 1: defined for any two non-empty sets, bounded,
maximal if and only if the sets are equal, corrected for chance, use of the scores. Corrected for chance means the same
for all: the value as defined has the same expectation for random rankings at all sizes. FUJI and correlation, which the
paper marks as corrected, do not: raw FUJI is not corrected for chance. `corrected=True` corrects FUJI, and every other
measure with a closed form, [exactly](chance.md).
"""


def mark(value):
    """Return a property as a mark."""
    return "yes" if value else ""


def table(header, rows):
    """Return the lines of a Markdown table."""
    return [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows)]


def listed(parameters):
    """Return a measure's parameters with their defaults."""
    return ", ".join(f"`{name}={value}`" for name, value in parameters.items())


def measure_entry(name, measure):
    """Return a measure's own section: formula, figure, and what there is to know."""
    headline = "value over the whole list" if measure.whole else "area under the curve"
    chance = "closed form" if has_closed_form(measure) else "permutations"
    facts = [
        f"{measure.low:g} to {measure.high:g}",
        f"headline: {headline}",
        f"chance: {chance}",
        *([] if measure.symmetric else ["not symmetric"]),
        *([] if measure.unequal else ["sets of equal size only"]),
        *([f"parameters: {listed(measure.parameters)}"] if measure.parameters else []),
    ]
    return [
        f"### `{name}`",
        "",
        f"**{measure.title}**: {measure.formula}.",
        "",
        f"{'; '.join(facts)}. {measure.reference}.",
        "",
        f"![{measure.title} over k for three pairs of rankings](pictures/measures/{name}.svg)",
        "",
    ]


def measures_page():
    """Return the page of measures."""
    rows, properties, formulas = [], [], []
    for name, measure in fj.MEASURES.items():
        rows.append(
            [
                f"`{name}`",
                f"{measure.low:g} to {measure.high:g}",
                "whole list" if measure.whole else "area",
                "closed form" if has_closed_form(measure) else "permutations",
                mark(measure.unequal and not measure.one_k),
                listed(measure.parameters),
                ", ".join(f"`{alias}`" for alias in measure.aliases),
            ]
        )
        if measure.properties:
            properties.append([f"`{name}`", *map(mark, vars(measure.properties).values())])
        formulas += measure_entry(name, measure)
    header = ["measure", "range", "headline", "chance", "unequal sizes", "parameters", "aliases"]
    marks = ["measure", "defined", "bounded", "maximum", "chance", "scores"]
    lines = [MEASURES_HEAD, *table(header, rows), PROPERTIES_HEAD, *table(marks, properties)]
    return "\n".join([*lines, FORMULAS_HEAD, *formulas, DISTANCES]).rstrip() + "\n"


FORMULAS_HEAD = """
## Formulas, figures and references

Every figure shows the measure over k for the same three pairs of rankings of 100 items: a ranking and a noisy copy, two
rankings in which all nearly equal neighbours have swapped places (dotted), and two unrelated rankings (dashed grey),
which is what chance looks like. Drawn by `docs/make_figures.py`.
"""

DISTANCES = """## Distances

1 - FUJI is not a metric. Two rankings with the same top set are at distance 0 whatever their scores, and the triangle
inequality can fail: of two items, at k = 1, let a = (0.379, 0.440), b = (0.404, 0.398) and c = (5.032, 0.021). The
distance of a and c is 0.567, although that of a and b is 0.077 and that of b and c is 0.000. `Matrix.dendrogram()` does
not need the inequality, and `Matrix.embed()` says how much of the variation its map cannot show. Methods that assume a
metric, such as vantage-point trees, may err.
"""

API_HEAD = """# Python reference

<!-- Generated from the docstrings by docs/make_reference.py. -->

Functions, rankings and errors are in `import fujiscore as fj`, the classes of results in `fj.results`, further
statistics in `fj.stats`, and the feature rankers in `fujiscore.rankers`. Options are keyword-only. `help(fj.compare)`
describes all parameters of a function; this page describes two groups of options once.

**Policies.** `**policies` in a signature stands for `negative`, `nan`, `missing`, `duplicates`, `transform` and
`universe`: how input is read. They mean the same everywhere and are described under [`rankings`](#rankings); on the
command line they are options of the same names. [Inputs](inputs.md) has examples.

**Execution.** `**execution` stands for `n_jobs`, `executor` and `progress`: where the work is done. They are described
under [`pairwise`](#pairwise); [Scale](scale.md) has examples.

**One meaning per word.** `k` is always a number of top items, and `ks` a grid of them. `measure` is one measure,
`measures` several. Functions of one pair evaluate every k by default (`ks="all"`), functions of many pairs k = 1, 2, 4,
... (`ks="exp"`); [Choosing](choosing.md#which-k) says why, and which number is the same in all of them.
"""

CONSTANTS = {
    "MEASURES": "The registry: a read-only mapping of name to `Measure`. See [measures](measures.md).",
    "PAPER_MEASURES": "The names of the paper's thirteen measures.",
}
# Methods that the package itself uses.
INTERNAL = {
    "at",
    "bar_chart",
    "block",
    "by_depth",
    "changed_rows",
    "checked",
    "column_title",
    "columns",
    "detached",
    "ends_at_zero",
    "group_spreads",
    "higher_of_two",
    "is_sorted",
    "kth",
    "level",
    "level_moments",
    "loaded",
    "made_of",
    "mover_tables",
    "of",
    "one_k",
    "ordered",
    "over",
    "pairs_table",
    "rearranged",
    "renamed",
    "require_complete",
    "shuffled",
    "signed",
    "whole_items",
}
# Options that the page describes in one place: their type, the functions that describe them, and a reference to them.
GROUPS = {
    "**policies": (Policies, ("rankings", "read"), "How input is read; see `rankings`."),
    "**execution": (Execution, ("pairwise",), "Where the work is done; see `pairwise`."),
}


def headings():
    """Return the sections of the page, and the names in each."""
    functions = [name for name in fj.__all__ if inspect.isfunction(getattr(fj, name))]
    return {
        "Functions": functions,
        "Rankings and errors": [name for name in fj.__all__ if inspect.isclass(getattr(fj, name))],
        "Registry": list(CONSTANTS),
        "Results: `fj.results`": fj.results.__all__,
        "Statistics: `fj.stats`": fj.stats.__all__,
        "Feature rankers: `fujiscore.rankers`": [name for name in rankers.__all__ if name not in functions],
    }


def thing(name):
    """Return the public object of a name."""
    return next(getattr(module, name) for module in (fj, fj.results, fj.stats, rankers) if name in module.__all__)


def heading(name):
    """Return a name's heading. Classes say so: GitHub and the site number anchors that differ only in case unlike."""
    return f"### class `{name}`" if inspect.isclass(thing(name)) else f"### `{name}`"


def anchors():
    """Return the anchor of each name."""
    names = (name for names in headings().values() for name in names)
    return {name: f"#class-{name.lower()}" if inspect.isclass(thing(name)) else f"#{name.lower()}" for name in names}


ANCHORS = anchors()


def linked(text, own):
    """Return a text with every public name in backticks as a link, except a name's own."""

    def link(match):
        name = match[1].removeprefix("fujiscore.")
        return f"[`{name}`]({ANCHORS[name]})" if name in ANCHORS and name != own else match[0]

    return re.sub(r"`([\w.]+)`", link, text)


def sections(docstring):
    """Return the parts of a numpydoc docstring: the text before any section under "", then by title."""
    parts, title = {"": []}, ""
    lines = docstring.splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if line and below == "-" * len(line):
            title = line
            parts[title] = []
        elif title == "" or line != "-" * len(title):
            parts[title].append(line)
    return {name: "\n".join(part).strip("\n") for name, part in parts.items()}


def entries(section):
    """Return the entries of a section of parameters as (names, type, text)."""
    found = []
    for line in section.splitlines():
        if line and not line.startswith(" "):
            names, _, kind = line.partition(" : ")
            found.append((names, kind, []))
        elif line:
            found[-1][2].append(line.strip())
    return [(names, kind, " ".join(text)) for names, kind, text in found]


def parameters(section, own, left_out=()):
    """Return the lines of a list of parameters or attributes."""
    lines = []
    for names, kind, text in entries(section):
        if names not in left_out:
            shown = ", ".join(f"`{name.strip()}`" for name in names.split(","))
            lines.append(f"- {shown}{f' ({kind})' if kind else ''}: {linked(text, own)}")
    return lines


def grouped(name, function):
    """Return the options of a function that the page describes elsewhere, by group."""
    section = sections(inspect.getdoc(function)).get("Parameters", "")
    described = {names: text for names, _, text in entries(section)}
    found = {}
    for group, (options, homes, _) in GROUPS.items():
        same = [each for each in options.__annotations__ if described.get(each) == entries(SHARED[each])[0][2]]
        if name not in homes and set(options.__annotations__) <= set(inspect.signature(function).parameters):
            found[group] = same
    return found


def signature(name, function):
    """Return the call with its defaults; options that are described elsewhere are one entry."""
    shown, starred, groups = [], False, grouped(name, function)
    for parameter in inspect.signature(function).parameters.values():
        if any(parameter.name in names for names in groups.values()):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            shown.append("*")
            starred = True
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        shown.append(f"{parameter.name}{default}")
    return f"{name}({', '.join([*shown, *groups])})".replace("'", '"')


def function_entry(name, function):
    """Return a function's part of the page."""
    parts = sections(inspect.getdoc(function))
    lines = [
        heading(name),
        "",
        f"```text\n{wrapped(signature(name, function))}\n```",
        "",
        linked(parts[""], name),
        "",
    ]
    if "Parameters" in parts:
        groups = grouped(name, function)
        lines += parameters(parts["Parameters"], name, [each for names in groups.values() for each in names])
        lines += [*(f"- `{group}`: {linked(GROUPS[group][2], name)}" for group in groups), ""]
    if "Returns" in parts:
        kinds = [
            f"*{names}*: {linked(text, name)}" if text else f"*{names}*" for names, _, text in entries(parts["Returns"])
        ]
        lines += [f"Returns {'; '.join(kinds)}", ""]
    if "References" in parts:
        lines += [f"References: {' '.join(parts['References'].split())}", ""]
    if "Examples" in parts:
        lines += ["```python", parts["Examples"], "", "```", ""]
    return lines


def wrapped(call):
    """Return a call on lines of at most 92 characters, broken between arguments."""
    if len(call) <= 92:
        return call
    lines, indent = [""], " " * 4
    head, _, rest = call.partition("(")
    for argument in re.split(r", (?![^()]*\))", rest.removesuffix(")")):
        if len(lines[-1]) + len(argument) > 84:
            lines.append("")
        lines[-1] += f"{argument}, "
    return "\n".join([f"{head}(", *(f"{indent}{line.rstrip()}" for line in lines), ")"])


def _members(kind):
    """Return a class's own attributes, after those that all results share."""
    return {
        name: member
        for base in reversed(kind.__mro__)
        if base.__module__.startswith("fujiscore")
        for name, member in vars(base).items()
    }


def class_entry(name, kind):
    """Return a class's part of the page: what it is, its attributes, and what it offers besides."""
    parts = sections(inspect.getdoc(kind))
    lines = [heading(name), "", linked(parts[""], name), ""]
    known = [entry for title in ("Parameters", "Attributes") for entry in entries(parts.get(title, ""))]
    for title in ("Parameters", "Attributes"):
        if title in parts:
            lines += [*parameters(parts[title], name), ""]
    described = {part.strip() for names, _, _ in known for part in names.split(",")}
    more = [
        line
        for attribute, member in _members(kind).items()
        if not attribute.startswith("_") and attribute not in INTERNAL | described
        for line in member_lines(attribute, member, name)
    ]
    if more and lines[-2].startswith("- "):
        lines.pop()
    return [*lines, *more, ""] if more else lines


def member_lines(attribute, member, own):
    """Return the lines of a property or a method, with the method's parameters beneath; none for plain values."""
    shown = shown_member(attribute, member)
    if shown is None:
        return []
    parts = sections(inspect.getdoc(member))
    lines = [f"- {shown}: {linked(' '.join(parts[''].split()), own)}"]
    return lines + [f"    {line}" for line in parameters(parts.get("Parameters", ""), own)]


def shown_member(attribute, member):
    """Return a property as `.name` and a method as `.name(arguments)`, with defaults; None for plain values."""
    if inspect.isfunction(member):
        given = list(inspect.signature(member).parameters.values())[1:]
        plain = (parameter.replace(annotation=parameter.empty, kind=parameter.KEYWORD_ONLY) for parameter in given)
        return f"`.{attribute}({', '.join(str(parameter) for parameter in plain)})`".replace("'", '"')
    computed = hasattr(member, "__get__") and not isinstance(member, (classmethod, staticmethod))
    return f"`.{attribute}`" if computed else None


def api_page():
    """Return the page of public names."""
    lines = [API_HEAD]
    for title, names in headings().items():
        lines += [f"## {title}", ""]
        for name in names:
            if name in CONSTANTS:
                lines += [heading(name), "", linked(CONSTANTS[name], name), ""]
            else:
                entry = class_entry if inspect.isclass(thing(name)) else function_entry
                lines += entry(name, thing(name))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


PAGES = {"measures.md": measures_page, "api.md": api_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (Path(__file__).parent / name).write_text(page(), encoding="utf-8")
