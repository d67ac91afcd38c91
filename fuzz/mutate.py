"""Seeded mutations of files: of bytes, of text and its cells, and of the numbers in binary files."""

from __future__ import annotations

import json
import re
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

LARGEST = 200_000  # bytes of a mutated file
CELL = re.compile(rb"[^,;\t| \r\n\[\]{}:]+")
SEPARATORS = (b",", b";", b"\t", b"|", b" ", b":")
TOKENS = tuple(
    text.encode("utf-8", "surrogatepass")
    for text in (
        *(
            '"',
            "'",
            '""',
            '"a',
            "\\",
            '\\"',
            "`",
            ",",
            ";",
            "\t",
            "|",
            " ",
            ":",
            "#",
            "%",
            "@",
            "$",
            "=",
            "+1",
            "-",
            ".",
        ),
        *("\n", "\r", "\r\n", "\n\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u00a0", "\u3000", "\0", "\x1b[31m"),
        *("nan", "NaN", "nan(ind)", "NA", "N/A", "null", "None", "?", "inf", "-inf", "Infinity", "true", "false", ""),
        *(
            "0",
            "-0",
            "-0.0",
            "1",
            "-1",
            "2",
            "1e999",
            "-1e999",
            "1e308",
            "1e-320",
            "5e-324",
            "0x10",
            "1_0",
            "1,5",
            "+5",
        ),
        *("9007199254740993", "9223372036854775808", "18446744073709551616", "4294967296", "2147483648", "1" * 400),
        *(
            "12",
            "\uff11\uff12",
            "\u0661\u0662",
            "\u0967",
            "\u00b2",
            "1.",
            ".5",
            "1e",
            "1e5",
            "1d5",
            "0.1.2",
            "1 000",
            "--",
        ),
        *("{", "}", "[", "]", "{}", "[]", "[[", "]]", '{"a":', '":', "[1, 2]", '{"x": 1}', "[" * 3000, '{"a":' * 3000),
        *(
            "\ufeff",
            "\u202e",
            "\ud800",
            "\U0001f600",
            "\u4e2d\u6587",
            "e\u0301",
            "=1+1",
            "<script>",
            "\\frac",
            "a" * 5000,
        ),
        *("id", "name", "node", "item", "rank", "score", "qid", "method", "index", "p_value", "target", "class", "Q0"),
        *("@data", "@attribute x real", "@relation", "----------", "-" * 40, "0:1", "1:1", "qid:1", "99999999999:1"),
        *("PAR1", "ARROW1", "FEA1", "a,b", "a\tb", "x" * 140_000, "1," * 2000, ",\n" * 200),
    )
)
JSON = (
    0,
    1,
    -1,
    0.5,
    2.5,
    1e308,
    -0.0,
    2**53 + 1,
    10**400,
    float("nan"),
    float("inf"),
    None,
    True,
    "",
    "a",
    "1",
    "NaN",
    "\ud800",
)
JSON += ([], {}, [1], {"a": 1}, ["a"], [["a", 1]], 3, 4, 5, 0.25, 7e-5)
NUMBERS = (0, 1, -1, 2, 7, 8, 9, 64, 127, 128, 255, 256, 2**15, 2**31 - 1, -(2**31), 2**31, 2**32, 2**53, 2**63 - 1)


def mutated(random: Random, content: bytes, other: bytes, *, binary: bool) -> bytes:
    """Return a file changed in one to five places; `other` is a file to splice with."""
    for _ in range(random.choice((1, 1, 1, 1, 2, 3) if binary else (1, 1, 1, 2, 2, 4))):
        operations = BINARY if binary else BYTES if random.random() < 0.15 else TEXT
        if content[:1] in b"{[" and random.random() < 0.6:
            operations = (_values,)
        content = random.choice(operations)(random, content, other)[:LARGEST]
    return content


def _place(random: Random, content: bytes) -> int:
    return random.randint(0, len(content))


def _span(random: Random, content: bytes) -> tuple[int, int]:
    start = _place(random, content)
    return start, min(len(content), start + random.choice((1, 1, 2, 4, 8, 16, 64, len(content))))


def _flip(random: Random, content: bytes, _: bytes) -> bytes:
    place = _place(random, content[:-1])
    changed = content[place : place + 1] or b"\0"
    return content[:place] + bytes((changed[0] ^ 1 << random.randrange(8),)) + content[place + 1 :]


def _set_byte(random: Random, content: bytes, _: bytes) -> bytes:
    place = _place(random, content)
    return content[:place] + bytes((random.randrange(256),)) + content[place + 1 :]


def _delete(random: Random, content: bytes, _: bytes) -> bytes:
    start, stop = _span(random, content)
    return content[:start] + content[stop:]


def _repeat(random: Random, content: bytes, _: bytes) -> bytes:
    start, stop = _span(random, content)
    return content[:stop] + content[start:stop] * random.choice((1, 1, 2, 50)) + content[stop:]


def _truncate(random: Random, content: bytes, _: bytes) -> bytes:
    return content[: _place(random, content)]


def _splice(random: Random, content: bytes, other: bytes) -> bytes:
    return content[: _place(random, content)] + other[_place(random, other) :]


def _zero(random: Random, content: bytes, _: bytes) -> bytes:
    start, stop = _span(random, content)
    return content[:start] + bytes(stop - start) + content[stop:]


def _number(random: Random, content: bytes, _: bytes) -> bytes:
    """Write a number at an aligned place, where columnar files have offsets, lengths and values."""
    kind = random.choice("bihqfd")
    value = random.choice((*NUMBERS, random.randrange(64)))
    size = struct.calcsize(kind)
    packed = struct.pack(f"<{kind}", value) if kind in "fd" else (value % 256**size).to_bytes(size, "little")
    place = _place(random, content) // size * size
    return content[:place] + packed + content[place + size :]


def _footer(random: Random, content: bytes, other: bytes) -> bytes:
    """Change the end of a columnar file, which says where everything is."""
    place = max(0, len(content) - random.choice((8, 12, 64, 400)))
    return content[:place] + random.choice((_flip, _set_byte, _delete, _zero, _number))(random, content[place:], other)


def _body(random: Random, content: bytes, other: bytes) -> bytes:
    """Change the first half of a columnar file, where its values are."""
    place = len(content) // 2
    return random.choice((_flip, _set_byte, _zero, _number, _number))(random, content[:place], other) + content[place:]


def _token(random: Random, content: bytes, _: bytes) -> bytes:
    place = _place(random, content)
    return content[:place] + random.choice(TOKENS) + content[place:]


def _cell(random: Random, content: bytes, _: bytes) -> bytes:
    """Replace a cell by a token, or by another cell."""
    cells = list(CELL.finditer(content, 0, 20_000))
    if not cells:
        return content
    cell = random.choice(cells)
    value = random.choice(TOKENS) if random.random() < 0.8 else random.choice(cells)[0]
    return content[: cell.start()] + value + content[cell.end() :]


def _lines(random: Random, content: bytes, _: bytes) -> bytes:
    """Delete, double, swap or join lines, or change how they end."""
    lines = content.splitlines(keepends=True) or [b""]
    one, two = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(6):
        case 0:
            del lines[one]
        case 1:
            lines.insert(two, lines[one])
        case 2:
            lines[one], lines[two] = lines[two], lines[one]
        case 3:
            lines[one] = lines[one].rstrip(b"\r\n")
        case 4:
            lines = [line.rstrip(b"\r\n") + random.choice((b"\r", b"\r\n", b"\n\n", b" \n")) for line in lines]
        case _:
            del lines[0]
    return b"".join(lines)


def _columns(random: Random, content: bytes, _: bytes) -> bytes:
    """Swap, drop or double columns, in all rows or in the header only."""
    separator = max(SEPARATORS[:4], key=content.count)
    lines = content.split(b"\n")
    width = lines[0].count(separator) + 1
    order = random.choices(range(width), k=random.choice((width, width, width + 1, max(1, width - 1))))
    changed = lines[:1] if random.random() < 0.3 else lines
    for position, line in enumerate(changed):
        cells = line.split(separator)
        if len(cells) == width:
            lines[position] = separator.join(cells[column] for column in order)
    return b"\n".join(lines)


def _separators(random: Random, content: bytes, _: bytes) -> bytes:
    return content.replace(random.choice(SEPARATORS), random.choice((*SEPARATORS, b"  ", b", ")))


def _values(random: Random, content: bytes, other: bytes) -> bytes:
    """Change a value or a name of a JSON document so that it stays one; other text as `_cell` does."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    if not document or not isinstance(document, (dict, list)):
        return _cell(random, content, other)
    inner = [part for part in (document.values() if isinstance(document, dict) else document) if isinstance(part, dict)]
    part = random.choice(inner) or document if inner and random.random() < 0.9 else document
    place = random.choice(list(part) if isinstance(part, dict) else range(len(part)))
    if isinstance(part, dict) and random.random() < 0.3:
        part[random.choice(TOKENS).decode("utf-8", "surrogatepass")] = part.pop(place)
    else:
        part[place] = random.choice(JSON)
    return json.dumps(document, ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass")


def _recode(random: Random, content: bytes, _: bytes) -> bytes:
    """Store the text in another encoding, or say so falsely."""
    mark = random.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b""))
    if mark:
        return mark + content
    return content.decode("utf-8", "replace").encode(
        random.choice(("utf-16", "utf-16-le", "latin-1", "utf-7")), "replace"
    )


BYTES = (_flip, _set_byte, _delete, _repeat, _truncate, _splice)
BINARY = (*BYTES, _flip, _set_byte, _zero, _number, _number, _number, _footer, *[_body] * 9)
TEXT = (_token, _token, _cell, _cell, _cell, _lines, _lines, _columns, _separators, _delete, _repeat, _splice, _recode)
