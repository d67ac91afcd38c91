"""The options that commands share: the same words mean the same everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import reduce, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fujiscore.errors import InputError, spelling
from fujiscore.inference.intervals import ALTERNATIVES
from fujiscore.inputs.options import DUPLICATES, MISSING, NAN, NEGATIVE
from fujiscore.inputs.transforms import TRANSFORMS
from fujiscore.io.formats import FORMATS
from fujiscore.measures.grids import GRIDS
from fujiscore.measures.overlap import TIES, ZERO_TAIL
from fujiscore.measures.registry import MEASURES, Measure, find

if TYPE_CHECKING:
    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

# What a report's file holds, by its ending; a command that has no such form writes text.
FORMS = {".json": "json", ".csv": "csv", ".md": "markdown", ".parquet": "parquet"}
SECTIONS = ("Compute", "Read", "Write", "Other")
ZEROS = "Items tied at 0 with the k-th: include or exclude them as members, or cap top sets at positive scores."
SIGNS = "How to treat negative scores: raise, count as 0, use magnitudes, or split items by sign."


class Command(click.Command):
    """A command whose help has its options in sections, and examples that work."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    def sections(self, ctx: click.Context) -> dict[str, list[click.Option]]:
        """Return the options of each section of the help."""
        sections: dict[str, list[click.Option]] = {name: [] for name in SECTIONS}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option) and not parameter.hidden:
                sections[getattr(parameter, "section", "Other")].append(parameter)
        return {name: options for name, options in sections.items() if options}

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


class MeasureName(click.ParamType[Any]):
    """A name in the registry of measures, with parameters as in rbo:0.98."""

    name = "measure"

    def get_metavar(self, *_args: Any, **_kwargs: Any) -> str:
        """Return a word in place of all the names."""
        return "NAME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Measure:
        """Return the measure, or suggest one with a similar name."""
        token = spelling.set(lambda argument, _: argument)  # a measure's parameters are no options
        try:
            return find(value)
        except InputError as error:
            return self.fail(f"{value}: {error} 'fuji measures' lists all of them.", param, ctx)
        finally:
            spelling.reset(token)

    def shell_complete(self, _ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[Any]:
        """Return the names that begin alike."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in MEASURES if name.startswith(incomplete.lower())]


class Count(click.ParamType[int]):
    """An integer of at least a given value; unlike click's, it leaves the help alone."""

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
            return self.fail(f"{value!r} is not an integer of at least {self.least}.", param, ctx)
        return number


class GridType(click.ParamType[Any]):
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


class Transforms(click.ParamType[Any]):
    """A transform for all rankings, or one for each with commas between them, none for those that have none."""

    name = "transform"

    def get_metavar(self, *_args: Any, **_kwargs: Any) -> str:
        """Return the words it can be."""
        return "|".join(TRANSFORMS)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | tuple[Any, ...]:
        """Return a word, or a tuple of words and None."""
        words = [None if word == "none" else word for word in str(value).split(",")]
        wrong = [word for word in words if word is not None and word not in TRANSFORMS]
        if wrong or words == [None]:
            known = ", ".join(TRANSFORMS)
            return self.fail(f"{value!r} must be one of {known}, or one per ranking as in exp,none.", param, ctx)
        return tuple(words) if len(words) > 1 else str(value)

    def shell_complete(self, _ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[Any]:
        """Return the words that begin alike."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(word) for word in TRANSFORMS if word.startswith(incomplete.lower())]


@dataclass(frozen=True)
class Reading:
    """How files become rankings, and how these are compared."""

    item: str | None
    score: tuple[str, ...]
    ranking: str | None
    format: str | None
    negative: str | None
    nan: str
    missing: str
    duplicates: str
    transform: str | tuple[str | None, ...] | None
    universe: str | None
    ties: str
    zero_tail: str

    @property
    def sets(self) -> dict[str, Any]:
        """The library's arguments on top sets."""
        return {"ties": self.ties, "zero_tail": self.zero_tail}


@dataclass(frozen=True)
class Writing:
    """Where the report goes, and in what form."""

    out: str | None
    json: bool
    force: bool
    quiet: bool
    csv: bool = False
    show: int | None = None
    markdown: bool = False

    @property
    def form(self) -> str:
        """The form of the report: as asked for, or by the file's ending."""
        asked = [form for form in ("json", "csv", "markdown") if getattr(self, form)]
        ending = Path(self.out).suffix.lower() if self.out else ""
        return asked[0] if asked else FORMS.get(ending, "text")


@dataclass(frozen=True)
class Points:
    """Where curves are evaluated."""

    ks: str | list[int] | None
    top: int | None

    def sizes(self, n: int, default: str) -> str | list[int]:
        """Return the grid for rankings of n items."""
        if self.top is None:
            return default if self.ks is None else self.ks
        if self.ks is not None:
            raise click.UsageError("--top and --ks both say where to evaluate: pass one of them.")
        if self.top > n:
            raise click.UsageError(f"--top must be at most {n}, the number of items in each ranking; got {self.top}.")
        return list(range(1, self.top + 1))


@dataclass(frozen=True)
class Work:
    """How the work is done."""

    jobs: int | None
    no_progress: bool
    dask: str | None = None

    def arguments(self, writing: Writing) -> dict[str, Any]:
        """Return the library's arguments; a connection to a cluster is closed when the command ends."""
        arguments = {"n_jobs": self.jobs, "progress": False if self.no_progress or writing.quiet else None}
        if self.dask is None:
            return arguments
        from fujiscore.work.executors import connected

        return arguments | {"executor": click.get_current_context().with_resource(connected(self.dask))}


def option(names: str, text: str, *, section: str = "Compute", **attributes: Any) -> Decorator:
    """Return an option in a section of the help, from its names and its help text; defaults are shown."""
    attributes.setdefault("show_default", attributes.get("default") not in (None, False, 0, ()))
    return click.option(*names.split(), cls=Option, section=section, help=text, **attributes)


def measures(default: Sequence[str]) -> Decorator:
    """Return the option that chooses measures."""
    return option(
        "--measure -m measures",
        f"Measure, as listed by 'fuji measures'; repeat for several. [default: {' and '.join(default)}]",
        type=MeasureName(),
        multiple=True,
        default=tuple(default),
        show_default=False,
    )


def corrected(text: str) -> Decorator:
    """Return the switch to values corrected for chance."""
    return option("--corrected", text, is_flag=True)


def seed(text: str = "Seed of the random numbers.") -> Decorator:
    """Return the option for the seed."""
    return option("--seed", text, type=Count(0), default=0, metavar="N")


alternative = option(
    "--alternative",
    "Which values count as extreme in p-values: at least as large, at most as large, or both.",
    type=click.Choice(ALTERNATIVES),
    default="greater",
)
confidence = option("--confidence", "Confidence level of intervals.", type=float, default=0.95, metavar="P")


def plot(text: str) -> Decorator:
    """Return the option that names a figure to draw."""
    return option("--plot", f"{text} (.png, .svg or .pdf).", section="Write", metavar="FILE")


html = option(
    "--html",
    "Write an HTML page with interactive charts and the items behind the numbers (.html).",
    section="Write",
    metavar="FILE",
)


def together(*options: Decorator) -> Decorator:
    """Return a decorator that adds options, in their order."""
    return lambda function: reduce(lambda decorated, add: add(decorated), reversed(options), function)


def packed(kind: type[Any], *options: Decorator) -> Decorator:
    """Return a decorator that adds options and passes their values on as one object, under the class's name."""
    names = [field.name for field in fields(kind)]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(**values: Any) -> Any:
            one = kind(**{name: values.pop(name) for name in names if name in values})
            return function(**values, **{kind.__name__.lower(): one})

        return together(*options)(call)

    return decorate


def _policy(name: str, words: Sequence[str], text: str, default: str | None) -> Decorator:
    """Return the option of a policy."""
    return option(f"--{name}", text, section="Read", type=click.Choice(words), default=default)


def _transform(noun: str) -> Decorator:
    """Return the option that turns scores into "higher is better, with a meaningful zero"."""
    text = (
        "Transform p-values (neglog10), logs (exp), distances or errors (flip, reciprocal), scores with an arbitrary "
        f"zero (minmax); or as_is: higher is better. One per {noun}: exp,none."
    )
    return option("--transform", text, section="Read", type=Transforms())


@dataclass(frozen=True)
class Runs:
    """How tables of queries, items and scores are read and compared; None where the library decides."""

    by: str | None
    item: str | None
    score: str | None
    group_by: str | None
    format: str | None
    negative: str | None
    nan: str | None
    missing: str | None
    duplicates: str | None
    transform: str | tuple[str | None, ...] | None
    universe: int | None
    ties: str | None
    zero_tail: str | None

    def arguments(self) -> dict[str, Any]:
        """Return the library's arguments that were given."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def _reading(missing: Sequence[str], text: str, default: str = "raise") -> Decorator:
    """Return the options on how files become rankings."""
    named = {"section": "Read", "metavar": "COLUMN"}
    return packed(
        Reading,
        option("--item", "Column of items; guessed if not given.", **named),
        option("--score", "Column of scores; repeat for several.", **named, multiple=True),
        option("--ranking", "Column that names rankings, in long tables or with one ranking per row.", **named),
        option("--format", "File format; guessed if not given.", section="Read", type=click.Choice(FORMATS)),
        _policy("negative", NEGATIVE, SIGNS + " [default: raise; clip for .fimp files]", None),
        _policy("nan", NAN, "How to treat NaN scores: raise, replace with 0, or drop the item.", "raise"),
        _policy("missing", missing, text, default),
        _policy(
            "duplicates",
            DUPLICATES,
            "How to treat repeated items: raise, or keep the best, mean or first score.",
            "raise",
        ),
        _transform("ranking"),
        option(
            "--universe",
            "Number of items that truncated lists were drawn from, or a file that lists them.",
            section="Read",
            metavar="N|FILE",
        ),
        _policy("ties", TIES, "Ties at the k-th score: include every tied item, or break by input order.", "closed"),
        _policy("zero-tail", ZERO_TAIL, ZEROS, "include"),
    )


reading = _reading(MISSING, "How to treat items that a ranking lacks: raise, score 0, or drop.")
reading_truncated = _reading(
    (*MISSING, "bounds"), "How to treat items that a ranking lacks: raise, score 0, drop, or bound FUJI."
)
reading_versions = _reading(MISSING, "How to treat features that one version lacks: raise, score 0, or drop.", "zero")

_column = {"section": "Read", "metavar": "COLUMN"}
runs = packed(
    Runs,
    option("--by", "Column of queries; guessed if not given.", **_column),
    option("--item", "Column of items; guessed if not given.", **_column),
    option("--score", "Column of scores; guessed if not given.", **_column),
    option("--group-by", "Column that groups queries, for means by group.", **_column),
    option("--format", "File format; guessed if not given.", section="Read", type=click.Choice(FORMATS)),
    _policy(
        "missing",
        ("bounds", *MISSING),
        "How to treat items that one list lacks: bound FUJI, raise, score 0, or drop. [default: bounds]",
        None,
    ),
    _policy("negative", NEGATIVE, SIGNS, None),
    _policy("nan", NAN, "How to treat NaN scores: raise, replace with 0, or drop the item. [default: raise]", None),
    _policy(
        "duplicates",
        DUPLICATES,
        "How to treat an item that a query lists twice: raise, or keep the best, mean or first score. [default: raise]",
        None,
    ),
    _transform("run"),
    option(
        "--universe",
        "Number of items that lists were drawn from: corrects values for chance.",
        section="Read",
        type=Count(1),
        metavar="N",
    ),
    _policy("ties", TIES, "Ties at the k-th score: include every tied item, or break by input order.", None),
    _policy("zero-tail", ZERO_TAIL, ZEROS, None),
)

_common = (
    option("--force", "Replace existing files.", section="Write", is_flag=True),
    option("--quiet -q", "Print nothing but errors on standard error.", section="Other", is_flag=True),
    option("--debug", "Show a traceback on errors.", section="Other", is_flag=True, expose_value=False),
)
_json = option("--json", "Report as JSON.", section="Write", is_flag=True)
_show = option("--show", "Number of rows to print.", section="Write", type=Count(1), metavar="N")
writing = packed(
    Writing,
    option("--out -o", "Write the report; .csv and .json set the format.", section="Write", metavar="FILE"),
    _json,
    option("--csv", "Report as a CSV table.", section="Write", is_flag=True),
    _show,
    *_common,
)
writing_table = packed(
    Writing,
    option(
        "--out -o",
        "Write the report; .csv, .parquet (one row per query), .json and .md set the format.",
        section="Write",
        metavar="FILE",
    ),
    _json,
    option("--csv", "Report as a CSV table, one row per query.", section="Write", is_flag=True),
    option("--markdown", "Report as Markdown, for a pull request or a job summary.", section="Write", is_flag=True),
    option(
        "--show", "Number of queries to print, the least similar first.", section="Write", type=Count(1), metavar="N"
    ),
    *_common,
)
writing_markdown = packed(
    Writing,
    option("--out -o", "Write the report; .csv, .json and .md set the format.", section="Write", metavar="FILE"),
    _json,
    option("--csv", "Report as a CSV table.", section="Write", is_flag=True),
    option("--markdown", "Report as Markdown, for a pull request or a job summary.", section="Write", is_flag=True),
    _show,
    *_common,
)
writing_folder = packed(
    Writing,
    option("--out -o", "Write tables, figures and a summary to a folder.", section="Write", metavar="DIR"),
    _json,
    _show,
    *_common,
)

points = packed(
    Points,
    option("--ks", "Where to evaluate curves.", type=GridType()),
    option("--top", "Evaluate k = 1 to N only.", type=Count(1), metavar="N"),
)

_work = (
    option("--jobs", "Number of threads; all cores by default.", section="Other", type=Count(1), metavar="N"),
    option("--no-progress", "Show no progress bar.", section="Other", is_flag=True),
)
work = packed(Work, *_work)
work_anywhere = packed(
    Work,
    option(
        "--dask",
        "Run on a Dask cluster: address of its scheduler (tcp://HOST:8786) or its scheduler file.",
        section="Other",
        metavar="ADDRESS",
    ),
    *_work,
)
