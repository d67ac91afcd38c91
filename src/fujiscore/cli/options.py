"""The options that commands share: the same words mean the same everywhere. Imports click and the registries."""

from __future__ import annotations

from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from fujiscore.chance import has_closed_form
from fujiscore.io.formats import FORMATS
from fujiscore.measures import MEASURES
from fujiscore.overlap import GRIDS, TIES, ZERO_TAIL
from fujiscore.rankings import MISSING, NAN, NEGATIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

SECTIONS = ("Compute", "Read", "Write", "Other")


class Command(click.Command):
    """A command whose help has its options in sections, and examples that work."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    def sections(self, ctx: click.Context) -> dict[str, list[click.Option]]:
        """Return the options of each section of the help."""
        found: dict[str, list[click.Option]] = {name: [] for name in SECTIONS}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option) and not parameter.hidden:
                found[getattr(parameter, "section", "Other")].append(parameter)
        return {name: options for name, options in found.items() if options}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        for name, options in self.sections(ctx).items():
            records = [record for option in options if (record := option.get_help_record(ctx))]
            with formatter.section(name):
                formatter.write_dl(records)

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, unwrapped so that they can be copied."""
        with formatter.section("Examples"):
            for line in self.examples:
                formatter.write(f"  {line}\n")


class Option(click.Option):
    """An option that knows its section of the help."""

    def __init__(self, *args: Any, section: str = "Other", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section


class MeasureName(click.Choice[str]):
    """A name in the registry of measures."""

    def __init__(self) -> None:
        super().__init__(tuple(MEASURES))

    def get_metavar(self, *_args: Any, **_kwargs: Any) -> str:
        """Return a word in place of all the names."""
        return "NAME"

    def get_missing_message(self, *_args: Any, **_kwargs: Any) -> str:
        """Return where the names are listed."""
        return "'fuji measures' lists them."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or suggest one that is near."""
        if value in MEASURES:
            return str(value)
        near = get_close_matches(str(value), MEASURES, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        return self.fail(f"there is no measure {value!r}.{hint} 'fuji measures' lists them.", param, ctx)


class Count(click.ParamType[int]):
    """An integer from a least one up; unlike click's, it leaves the help alone."""

    name = "integer"

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the integer."""
        try:
            number = int(value)
        except ValueError:
            number = self.least - 1
        if number < self.least:
            return self.fail(f"{value!r} is not an integer from {self.least} up.", param, ctx)
        return number


class Grid(click.ParamType[Any]):
    """Where curves are evaluated: a grid's name, or increasing integers."""

    name = "grid"

    def get_metavar(self, *_args: Any, **_kwargs: Any) -> str:
        """Return the forms it can take."""
        return f"{'|'.join(GRIDS)}|1,2,5"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | list[int]:
        """Return a grid's name or a list of integers."""
        if value in GRIDS or isinstance(value, list):
            return value  # type: ignore[no-any-return]
        try:
            return [int(part) for part in str(value).split(",")]
        except ValueError:
            return self.fail(f"{value!r} is neither {', '.join(GRIDS)} nor integers such as 1,2,5.", param, ctx)


@dataclass(frozen=True)
class Reading:
    """How files become rankings."""

    item: str | None
    score: tuple[str, ...]
    ranking: str | None
    format: str | None
    negative: str | None
    nan: str
    missing: str
    ties: str
    zero_tail: str


@dataclass(frozen=True)
class Writing:
    """Where the report goes, and in what form."""

    out: str | None
    json: bool
    csv: bool
    force: bool
    quiet: bool


@dataclass(frozen=True)
class Points:
    """Where curves are evaluated."""

    ks: str | list[int] | None
    top: int | None

    def sizes(self, n: int, default: str) -> str | list[int]:
        """Return the grid for n items."""
        if self.top is None:
            return default if self.ks is None else self.ks
        if self.ks is not None:
            raise click.UsageError("--top and --ks both say where to evaluate: pass one of them.")
        if self.top > n:
            raise click.UsageError(f"--top must be at most the number of items, {n}; got {self.top}.")
        return list(range(1, self.top + 1))


@dataclass(frozen=True)
class Work:
    """How the work is done."""

    jobs: int | None
    no_progress: bool

    def arguments(self, writing: Writing) -> dict[str, Any]:
        """Return the library's arguments."""
        return {"n_jobs": self.jobs, "progress": False if self.no_progress or writing.quiet else None}


def option(*names: str, section: str, **attributes: Any) -> Decorator:
    """Return an option in a section of the help."""
    return click.option(*names, cls=Option, section=section, **attributes)


def measures(default: Sequence[str]) -> Decorator:
    """Return the option that chooses measures."""
    return option(
        "--measure",
        "-m",
        "measures",
        section="Compute",
        type=MeasureName(),
        multiple=True,
        default=tuple(default),
        help=f"A measure of 'fuji measures'; repeat for several. [default: {' and '.join(default)}]",
    )


def corrected(text: str) -> Decorator:
    """Return the switch to values corrected for chance."""
    return option("--corrected", section="Compute", is_flag=True, help=text)


def require_formula(names: Sequence[str], *, corrected: bool) -> None:
    """Raise if all pairs are to be corrected by a measure whose chance level has no formula."""
    for name in names if corrected else ():
        if not has_closed_form(MEASURES[name]):
            raise click.UsageError(
                f"--corrected: {name} has no formula for its chance level. For one pair, use "
                f"fuji compare A B --measure {name} --permutations 1000."
            )


def plot(text: str) -> Decorator:
    """Return the option that names a picture to draw."""
    return option("--plot", section="Write", metavar="FILE", help=f"{text} (.png, .svg or .pdf).")


def _packed(kind: type[Any], *options: Decorator) -> Decorator:
    """Return a decorator that adds options and passes their values on as one object, under the class's name."""
    names = [field.name for field in fields(kind)]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(**values: Any) -> Any:
            own = kind(**{name: values.pop(name) for name in names})
            return function(**values, **{kind.__name__.lower(): own})

        decorated: Callable[..., Any] = call
        for add in reversed(options):
            decorated = add(decorated)
        return decorated

    return decorate


def _policy(name: str, words: Sequence[str], text: str, default: str | None) -> Decorator:
    """Return the option of a policy."""
    return option(
        f"--{name}", section="Read", type=click.Choice(words), default=default, show_default=bool(default), help=text
    )


def _reading(missing: Sequence[str], text: str) -> Decorator:
    """Return the options on how files become rankings."""
    named = {"section": "Read", "metavar": "COLUMN"}
    signed = "Negative scores: refuse, order by them but count them as 0, or rank by magnitude. "
    return _packed(
        Reading,
        option("--item", **named, help="The column of items; guessed if not given."),
        option("--score", **named, multiple=True, help="The column of scores; repeat for several."),
        option("--ranking", **named, help="The column that tells rankings apart, in long tables."),
        option("--format", section="Read", type=click.Choice(FORMATS), help="By the files' content if not given."),
        _policy("negative", NEGATIVE, signed + "[default: raise; clip for .fimp files]", None),
        _policy("nan", NAN, "Scores that are no numbers: refuse, score 0, or leave those items out.", "raise"),
        _policy("missing", missing, text, "raise"),
        _policy("ties", TIES, "Equal scores about the k-th: the files' order decides, or all are in.", "stable"),
        _policy("zero-tail", ZERO_TAIL, "Where the k-th score is 0: whether other zeros count as members.", "include"),
    )


reading = _reading(MISSING, "Items that a ranking lacks: refuse, score 0, or leave out.")
reading_cut_off = _reading(
    (*MISSING, "bounds"), "Items that a ranking lacks: refuse, score 0, leave out, or give FUJI's interval."
)

writing = _packed(
    Writing,
    option("--out", section="Write", metavar="FILE", help="Write the report to a file."),
    option("--json", section="Write", is_flag=True, help="Report as JSON, in full."),
    option("--csv", section="Write", is_flag=True, help="Report as a CSV table."),
    option("--force", section="Write", is_flag=True, help="Replace files that are there already."),
    option("--quiet", "-q", section="Other", is_flag=True, help="No notes on standard error."),
    option("--debug", section="Other", is_flag=True, expose_value=False, help="Show a traceback on errors."),
)

points = _packed(
    Points,
    option("--ks", section="Compute", type=Grid(), help="Where to evaluate curves."),
    option("--top", section="Compute", type=Count(1), metavar="N", help="Only the top N: k = 1 to N."),
)

work = _packed(
    Work,
    option("--jobs", section="Other", type=Count(1), metavar="N", help="Threads; all cores if not given."),
    option("--no-progress", section="Other", is_flag=True, help="No progress bar."),
)
