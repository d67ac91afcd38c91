"""Columns to a dataframe of the library that the user has. Imports errors only."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fujiscore.errors import MissingExtraError, choice

if TYPE_CHECKING:
    from collections.abc import Mapping

LIBRARIES = ("pandas", "polars")


def frame(columns: Mapping[str, Any], library: str | None = None) -> Any:
    """Return the columns as a pandas or polars DataFrame: the named one, or the first that is installed."""
    if library is not None:
        choice("library", library, LIBRARIES)
    wanted = LIBRARIES if library is None else (library,)
    for name in wanted:
        if find_spec(name):
            return import_module(name).DataFrame(dict(columns))
    raise MissingExtraError(f"to_frame needs {' or '.join(wanted)}: pip install {wanted[0]}")
