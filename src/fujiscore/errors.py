"""The errors that a caller can mend. Imports nothing of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection


class InputError(ValueError):
    """An argument or a file that cannot be used: the message says which, what was required, what came, what to do."""


class MissingExtraError(ImportError):
    """An optional library is needed and not installed: the message says how to install it."""


def choice(argument: str, value: object, allowed: Collection[str]) -> None:
    """Raise unless the value is one of the allowed words."""
    if not (isinstance(value, str) and value in allowed):
        listed = ", ".join(repr(word) for word in allowed)
        raise InputError(f"{argument} must be one of {listed}; got {value!r}.")
