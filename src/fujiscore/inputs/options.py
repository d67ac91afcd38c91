"""Options that many functions share: their types, defaults and descriptions, each written once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, TypeVar, cast, get_args

from fujiscore.errors import InputError, spelled
from fujiscore.text.docstrings import documented
from fujiscore.work.tiles import Execution

if TYPE_CHECKING:
    from fujiscore.inputs.transforms import Transforms

Negative: TypeAlias = Literal["raise", "clip", "abs", "split"]
Nan: TypeAlias = Literal["raise", "zero", "drop"]
Missing: TypeAlias = Literal["raise", "zero", "drop"]
Duplicates: TypeAlias = Literal["raise", "max", "mean", "first"]
NEGATIVE, NAN, MISSING, DUPLICATES = map(get_args, (Negative, Nan, Missing, Duplicates))
OF_MODELS = ("feature_names", "group", "each", "importance_type")  # what `importances` takes besides
RENAMED = {"resume": "checkpoint"}
F = TypeVar("F", bound="Callable[..., Any]")


class Policies(TypedDict, total=False):
    """How input is read."""

    negative: Negative
    nan: Nan
    missing: Missing
    duplicates: Duplicates
    transform: Transforms | None
    universe: int | Collection[Hashable] | None


class Options(Policies, Execution, total=False):
    """How input is read, and where the work is done."""


# Of the options above; None for the others.
DEFAULTS = dict.fromkeys(("negative", "nan", "missing", "duplicates"), "raise")


def takes(options: Any, descriptions: str = "", **defaults: Any) -> Callable[[F], F]:
    """Show options by name in a function's signature and docstring; refuse other keywords in the function's name."""

    def decorate(function: F) -> F:
        shown = [p for p in signature(function).parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
        for name, kind in options.__annotations__.items():
            annotation, default = getattr(kind, "__forward_arg__", kind), {**DEFAULTS, **defaults}.get(name)
            shown.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
        function.__signature__ = signature(function).replace(parameters=shown)  # type: ignore[attr-defined]
        return checks_keywords(documented(function, descriptions))

    return decorate


def parted(options: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Return the policies among options, those of execution (all of them), and the others."""
    parts: tuple[Any, Any, Any] = {}, dict.fromkeys(Execution.__annotations__), {}
    for name, value in options.items():
        place = 0 if name in Policies.__annotations__ else 1 if name in Execution.__annotations__ else 2
        parts[place][name] = value
    return parts


def checks_keywords(function: F) -> F:
    """Refuse keywords that a function's signature lacks in its name, and suggest one that it has."""
    known = set(signature(function).parameters)

    @wraps(function)
    def checked(*args: Any, **keywords: Any) -> Any:
        if keywords and not known.issuperset(keywords):
            raise _unknown_keyword(function.__name__, next(name for name in keywords if name not in known), known)
        return function(*args, **keywords)

    return cast("F", checked)


def _unknown_keyword(function: str, name: str, known: Collection[str]) -> Exception:
    """Return the error for a keyword that a function does not have; those of `importances` name the remedy."""
    if name in OF_MODELS:
        return InputError(
            f"{function} has no {spelled(name)}, which is an option of importances. Pass the rankings that it returns: "
            f"{function}(importances(model, {name}=...), ...)."
        )
    near = [RENAMED[name]] if RENAMED.get(name) in known else get_close_matches(name, known, n=1)
    hint = f". Did you mean {near[0]!r}?" if near else ""
    return TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
