"""What a page embeds: names as text, numbers in few bytes, curves thinned on a log grid."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import category

import numpy as np

from fujiscore.errors import shortened
from fujiscore.text.tables import Table, encodable

if TYPE_CHECKING:
    from fujiscore.measures.grids import Sizes

# Characters of one name, and of all names of a collection together, that a page holds.
LONGEST, ALL_NAMES = 1000, 600_000
DIGITS = 5
# The most k of a curve that a page draws.
POINTS = 240
# What would end a script element or a line of JavaScript.
UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def text(label: object, most: int = LONGEST) -> str:
    """Return a name as a page shows it: control characters escaped, all others as they are."""
    name = shortened(str(label), most)
    if name.isprintable():
        return name
    return "".join(c.encode("unicode_escape").decode() if category(c) in {"Cc", "Cs"} else c for c in name)


def texts(labels: Sequence[object]) -> list[str]:
    """Return many names; where they are very long, shorter ones."""
    most = max(40, min(LONGEST, ALL_NAMES // max(len(labels), 1)))
    return [text(label, most) for label in labels]


def number(value: Any) -> float | None:
    """Return a number in few digits, None where it is undefined."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{float(value):.{DIGITS}g}")


def numbers(values: Any) -> list[Any]:
    """Return an array as nested lists of numbers in few digits."""
    return [numbers(part) if np.ndim(part) else number(part) for part in values]


def table_part(table: Table, title: str = "") -> dict[str, Any]:
    """Return a table for the script: text, and numbers that it can sort by."""
    cells = [[text(cell) if isinstance(cell, (str, bool)) else number(cell) for cell in row] for row in table.rows]
    return {"kind": "table", "title": title or table.caption, "header": [*map(text, table.header)], "rows": cells}


def packed(values: Any, kind: str = "<f4") -> str:
    """Return an array as base64 of its bytes, of which a script makes a typed array."""
    return b64encode(np.ascontiguousarray(values, np.dtype(kind)).tobytes()).decode()


def thinned(ks: Sizes, most: int = POINTS, keep: Sequence[int] = ()) -> Sizes:
    """Return the positions of about `most` k, evenly spaced on a log axis, with those of the k to keep."""
    if ks.size <= most:
        return np.arange(ks.size)
    wanted = np.geomspace(ks[0], ks[-1], most)
    positions = np.minimum(np.searchsorted(ks, wanted), ks.size - 1)
    kept = np.searchsorted(ks, [k for k in keep if k in ks])
    return np.unique(np.concatenate([positions, kept]).astype(np.int64))


def log_grid(depth: int, most: int) -> Sizes:
    """Return about `most` k from 1 to a depth, evenly spaced on a log axis."""
    return np.unique(np.round(np.geomspace(1, depth, most)).astype(np.int64))


def script_json(data: Any) -> str:
    """Return JSON that may stand within a script element."""
    plain = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return encodable(plain.translate(UNSAFE))
