"""Write docs/measures.md and docs/api.md from the package itself: `python docs/make_reference.py`."""

from __future__ import annotations

import inspect
from pathlib import Path

import fujiscore as fj

MEASURES_HEAD = """# Measures

<!-- Generated from the registry by docs/make_reference.py. -->

A measure compares the top sets of two rankings: the k1 best items of r and the k2 best items of s, of n items in
all. h is the number of items in both sets, and E = k1 k2 / n the number that two random sets share on average.
Where the sizes alone decide the overlap (a set holds all items), the chance-corrected measures and CWrel are 1 for
equal sets and 0 otherwise.

The five properties are those of the paper's Table 1: defined for any two non-empty sets, bounded, maximal if and only
if the rankings agree, expectation 0 for random rankings, use of the scores. FUJI's correction for chance is the one
that the paper leaves open: see [chance](chance.md). The measures below the first thirteen are not in the paper.
"""


def mark(value):
    """Return a property as a mark."""
    return "yes" if value else ""


def measures_page():
    """Return the page of measures."""
    lines = [MEASURES_HEAD, "| measure | range | unequal sizes | defined | bounded | maximum | chance | scores |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for name, measure in fj.MEASURES.items():
        marks = [mark(own) for own in vars(measure.properties).values()] if measure.properties else ["n/a"] * 5
        span = f"{measure.low:g} to {measure.high:g}"
        lines.append(f"| `{name}` | {span} | {mark(measure.unequal)} | " + " | ".join(marks) + " |")
    lines.append("\n## Formulas and references\n")
    for name, measure in fj.MEASURES.items():
        lines.append(f"**`{name}`** ({measure.title}): {measure.formula}. {measure.reference}.\n")
    return "\n".join(lines).rstrip() + "\n"


API_HEAD = """# Public names

<!-- Generated from the docstrings by docs/make_reference.py. -->

Everything is in `import fujiscore as fj`. `help(fj.compare)` shows parameters and examples. Options are keyword-only,
and policies are the same words everywhere, also on the command line:

| policy | words | meaning |
|---|---|---|
| `negative` | `raise`, `clip`, `abs` | negative scores: refuse them; count them as 0 (in their order); use magnitudes |
| `nan` | `raise`, `zero`, `drop` | NaN: refuse it; score it 0; leave the item out of all rankings |
| `missing` | `raise`, `zero`, `drop`, `bounds` | items one ranking lacks: refuse; score 0; leave out; bounds |
| `ties` | `stable`, `closed` | equal scores around the k-th: keep the input order; take all of them in |
| `zero_tail` | `include`, `exclude` | the k-th score is 0: items tied with it count as members, or do not |

`-inf` counts as negative; `+inf` is an error.
"""


CONSTANTS = {
    "MEASURES": "The registry: name to `Measure`.",
    "PAPER_MEASURES": "The names of the paper's thirteen measures.",
}


def summary(name):
    """Return a public name's line: its call and the first line of its docstring."""
    thing = getattr(fj, name)
    if not callable(thing):
        return f"- `{name}`: {CONSTANTS[name]}"
    first = inspect.getdoc(thing).splitlines()[0]
    if inspect.isclass(thing):
        return f"- `{name}`: {first}"
    required = [
        parameter.name
        for parameter in inspect.signature(thing).parameters.values()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    ]
    return f"- `{name}({', '.join(required)}, ...)`: {first}"


def api_page():
    """Return the page of public names."""
    functions = [name for name in fj.__all__ if name[0].islower()]
    constants = [name for name in fj.__all__ if name.isupper() and not inspect.isclass(getattr(fj, name))]
    classes = [name for name in fj.__all__ if name not in functions and name not in constants]
    lines = [API_HEAD]
    for title, names in (("Functions", functions), ("Registry", constants), ("Results and errors", classes)):
        lines += [f"## {title}\n", *map(summary, names), ""]
    return "\n".join(lines).rstrip() + "\n"


PAGES = {"measures.md": measures_page, "api.md": api_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (Path(__file__).parent / name).write_text(page(), encoding="utf-8")
