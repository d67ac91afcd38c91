"""Values as JSON has them, and as the flat numbers that experiment trackers take."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import isnan
from typing import Any

import numpy as np

from fujiscore.text.tables import encodable, free_name

# What names of metrics do not hold: trackers take letters, digits and these.
OTHER = re.compile(r"[^\w./ -]+")


def to_json(data: Mapping[str, Any]) -> str:
    """Return JSON with one line per entry and plain lists on one line; NaN and infinities become null."""
    return encodable(_indented(plain(data), "") + "\n")  # lone surrogates as \\ud800, which is JSON


def ascii_json(text: str) -> str:
    """Return JSON with its other characters escaped, for a place that has none but ASCII."""
    return "".join(part if part.isascii() else json.dumps(part)[1:-1] for part in re.split(r"([^\x00-\x7f]+)", text))


def _indented(value: Any, margin: str) -> str:
    """Return a JSON value with nested containers indented."""
    inner = margin + "  "
    if isinstance(value, dict) and value:
        entries = [f"{json.dumps(key, ensure_ascii=False)}: {_indented(part, inner)}" for key, part in value.items()]
    elif isinstance(value, list) and any(isinstance(part, (dict, list)) for part in value):
        entries = [_indented(part, inner) for part in value]
    else:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    start, end = "{}" if isinstance(value, dict) else "[]"
    return f"{start}\n{inner}" + f",\n{inner}".join(entries) + f"\n{margin}{end}"


def plain(value: Any) -> Any:
    """Return a value that JSON can hold."""
    if isinstance(value, Mapping):
        entries: dict[str, Any] = {}
        for key, part in value.items():
            entries[free_name(str(key), entries)] = plain(part)  # 1 and "1" are two keys
        return entries
    if isinstance(value, np.longdouble):
        return plain(float(value))
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple, range)):
        return [plain(part) for part in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def flat_numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers outside lists by the path of their keys; "value" and what is undefined are left out of it."""
    found: dict[str, float] = {}
    for key, part in data.items():
        name = OTHER.sub("_", str(key)).strip("_")
        if isinstance(part, Mapping):
            inner = flat_numbers(part)
            numbers = {name if end == "value" else f"{name}/{end}": number for end, number in inner.items()}
        elif isinstance(part, (int, float, np.number)) and not isinstance(part, bool) and not isnan(part):
            numbers = {name: float(part)}
        else:
            continue
        found |= {free_name(path, found): number for path, number in numbers.items()}
    return found
