"""Exceptions, names as text safe to print, and the one set of argument checks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextvars import ContextVar
from numbers import Real
from operator import index
from typing import Any
from unicodedata import east_asian_width

# How many names a message lists before it says how many more there are.
LISTED = 5
# The most columns of a name within a sentence, of a word (a path, say) there, and of the sentence.
NAME, WORD, SENTENCE = 60, 400, 2000
LONG_WORD = re.compile(rf"\S{{{WORD + 1},}}")
# Larger integers are not exact as floats, nor do they fit compiled code.
LARGEST = 2**53


class InputError(ValueError):
    """An argument or a file that cannot be used: the message says which, what was required, what came, what to do.

    `kind` says in one word what is wrong, for code that has to tell errors apart; it may be empty.
    """

    def __init__(self, message: object = "", kind: str = "") -> None:
        super().__init__(one_line(message))
        self.kind = kind


class MissingExtraError(ImportError):
    """An optional library is needed and not installed: the message says how to install it."""


def printable(value: object, most: int | None = None) -> str:
    """Return a name as one line that is safe to print, no wider than `most` columns.

    Characters that would move the cursor, reverse the text, take no room or cannot be encoded (control and format
    characters, line ends, blanks other than the space, lone surrogates) are escaped as in Python.
    """
    text = str(value)
    if most is not None and len(text) > 2 * most:  # escape only what can remain: a name may be a megabyte
        text = text[:most] + text[-most:]
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if most is None else shortened(text, most)


def shortened(text: str, most: int, mark: str = "…") -> str:
    """Return the text with its middle left out if it takes more than `most` columns."""
    if len(text) <= most and (text.isascii() or sum(map(_columns, text)) <= most):
        return text
    tail = _start(text[: -most - 1 : -1], (most - 1) // 2)
    return _start(text[:most], most - 1 - sum(map(_columns, tail))) + mark + tail[::-1]


def _start(text: str, columns: int) -> str:
    """Return the first characters of a text, as many as fit."""
    for position, character in enumerate(text):
        columns -= _columns(character)
        if columns < 0:
            return text[:position]
    return text


def _columns(character: str) -> int:
    """Return how many columns a character takes at most: a combining mark counts too, for there may be thousands."""
    return 2 if east_asian_width(character) in "WF" else 1


def short_names(names: Iterable[object], most: int = NAME) -> list[str]:
    """Return names for a table or a figure: printable, short, and numbered where two would look the same."""
    short = [printable(name, most) for name in names]
    count = Counter(short)
    if len(count) == len(short):
        return short
    marks = ["" if count[name] == 1 else f" #{place}" for place, name in enumerate(short, 1)]
    return [shortened(name, most - len(mark)) + mark for name, mark in zip(short, marks, strict=True)]


def one_line(text: object) -> str:
    """Return a message or a note as one line that is safe to print, with the long words in it shortened."""
    return printable(LONG_WORD.sub(lambda word: printable(word[0], WORD), str(text)), SENTENCE)


def _keyword(argument: str, value: object) -> str:
    """Spell an argument as a call in Python has it; "N" stands for any number."""
    if value is None:
        return argument
    return f"{argument}={value if value == 'N' else shown(value)}"


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
        raise InputError(f"{spelled(argument)} must be one of {listed}; got {shown(value)}.")


def integer(argument: str, value: Any, least: int = 0, most: int = LARGEST) -> int:
    """Return an integer from `least` to `most`, or raise."""
    try:
        number = least - 1 if isinstance(value, bool) else index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise InputError(f"{spelled(argument)} must be an integer of at least {least}; got {shown(value)}.")
    if number > most:
        raise InputError(f"{spelled(argument)} must be at most {most}; it is larger. Pass {most} or less.")
    return number


def proportion(argument: str, value: Any) -> float:
    """Return a number strictly between 0 and 1, or raise."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise InputError(f"{spelled(argument)} must be a number between 0 and 1 (exclusive); got {shown(value)}.")
    return float(value)


def counted(count: int, noun: str, several: str | None = None) -> str:
    """Return a count with its noun: 1 item, 2 items."""
    return f"{count} {noun}" if count == 1 else f"{count} {several or noun + 's'}"


def shown(value: object) -> str:
    """Return a value for a message, as Python writes it, shortened if it is long."""
    if isinstance(value, str) and len(value) > 2 * NAME:
        value = value[:NAME] + value[-NAME:]
    return printable(repr(value), NAME)


def first_few(names: Sequence[Any], most: int = LISTED, width: int = WORD) -> str:
    """Return the first names of many, and how many more there are."""
    first = ", ".join(printable(name, width) for name in names[:most])
    return first if len(names) <= most else f"{first} and {len(names) - most} more"
