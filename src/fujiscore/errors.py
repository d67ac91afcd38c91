"""Exceptions and the one set of argument checks. Imports nothing of the package."""

from __future__ import annotations

from contextvars import ContextVar
from numbers import Real
from operator import index
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

# How many names a message lists before it says how many more there are.
LISTED = 5


# Larger integers are not exact as floats, nor do they fit compiled code.
LARGEST = 2**53


class InputError(ValueError):
    """An argument or a file that cannot be used: the message says which, what was required, what came, what to do."""


class MissingExtraError(ImportError):
    """An optional library is needed and not installed: the message says how to install it."""


def _keyword(argument: str, value: object) -> str:
    """Spell an argument as a call in Python has it; "N" stands for any number."""
    if value is None:
        return argument
    return f"{argument}={value if value == 'N' else repr(value)}"


# How messages spell arguments: as keywords, or, while a command runs, as its options.
spelling: ContextVar[Callable[[str, object], str]] = ContextVar("spelling", default=_keyword)


def spelled(argument: str, value: object = None) -> str:
    """Return an argument, with a value if one is given, as the user would write it: missing='zero' or --missing zero.

    Every message that names an argument goes through here, so that the library and the command line share them.
    """
    return spelling.get()(argument, value)


def choice(argument: str, value: object, allowed: Collection[str]) -> None:
    """Raise unless the value is one of the allowed words."""
    if not (isinstance(value, str) and value in allowed):
        listed = ", ".join(repr(word) for word in allowed)
        raise InputError(f"{spelled(argument)} must be one of {listed}; got {value!r}.")


def integer(argument: str, value: Any, least: int = 0) -> int:
    """Return an integer of at least `least`, or raise."""
    try:
        number = least - 1 if isinstance(value, bool) else index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise InputError(f"{spelled(argument)} must be an integer of at least {least}; got {value!r}.")
    if number > LARGEST:
        raise InputError(f"{spelled(argument)} must be an integer of at most 2^53; got a larger one.")
    return number


def proportion(argument: str, value: Any) -> float:
    """Return a number strictly between 0 and 1, or raise."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise InputError(f"{spelled(argument)} must be a number between 0 and 1 (exclusive); got {value!r}.")
    return float(value)


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: 1 item, 2 items."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def first_few(names: Sequence[Any], most: int = LISTED) -> str:
    """Return the first names of many, and how many more there are."""
    shown = ", ".join(str(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
