"""Whether the first row of a delimited file names its columns, and commas that may be decimal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite

from fujiscore.errors import InputError, shown
from fujiscore.io.columns import is_id_name, is_index_name, is_item_name, says_score
from fujiscore.io.table import (
    MISSING,
    is_decimal_comma,
    is_foreign_number,
    not_a_number,
    number,
    numeric_share,
)

SEPARATED = "separated by comma, tab, semicolon, | or space"
YEARS = range(1900, 2101)
FAR = 10  # a number more than this many times those beneath it is not one of them
SEPARATOR_LINE = re.compile("sep=.?", re.IGNORECASE)  # for Excel
INTEGER = re.compile(r"[+-]?[0-9]+")
WHOLE = re.compile(r"[+-]?([0-9]+|[1-9][0-9]{0,2}(\.[0-9]{3})+)")  # of a number with a decimal comma
WORD = re.compile(r"[^\W_]+")
DIGITS = re.compile(r"[0-9]+")
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+(e[+-]?[0-9]+)?", re.IGNORECASE)
# What may follow the comma of a number: a fraction (12,5 and 1,5e-3) or, after three digits, more (1,234.5).
FRACTION = re.compile(r"[0-9]+(e[+-]?[0-9]+)?|[0-9]{3}\.[0-9]*(e[+-]?[0-9]+)?", re.IGNORECASE)


def has_header(file: str, rows: Sequence[list[str]], width: int, separator: str, *, data: bool) -> bool:
    """Return whether the first row names the columns: in a data set it must, above one or two of rankings it may."""
    first, *body = rows
    cells = [cell.strip() for cell in first]
    if SEPARATOR_LINE.fullmatch(separator.join(first).strip()) or (cells[0].startswith("#") and len(cells) != width):
        raise InputError(
            f"{file}, line 1 must be a header or a row; {shown(separator.join(first))} is neither. Remove it."
        )
    if width == 1 and not data:
        _refuse_comments(file, [row[0].strip() for row in rows if row])
    whole = [row for row in body if len(row) == width]
    counted = cells == [str(column) for column in range(width)]  # what pandas writes for columns without names
    if len(cells) == width - 1 and separator == ",":
        _require_row_names(file, cells, whole)
        _refuse_words_before_decimals(file, whole)
    if data:
        return _names_data(file, cells, whole, width, counted=counted)
    if len(cells) < width or (counted and (width > 2 or numeric_share(row[0] for row in body) < 1)):
        return True
    if width == 1:  # above numbers only, a word is their column's name, not the best of a list of items
        named = is_item_name(cells[0], plural=True) or is_index_name(cells[0])
        return named or (number(cells[0]) is None and bool(body) and numeric_share(row[0] for row in body) == 1)
    named = _names_columns(file, cells, whole, separator)
    if not named and width > 2:
        raise InputError(
            f"{file}, line 1 must name the {width} columns; it holds numbers. Add a header (only an item column and "
            f"one score column can do without).{decimal_comma([first, *whole], separator)}"
        )
    if not named and separator == ",":
        _refuse_words_before_decimals(file, [first, *whole])
    return named


def _names_data(file: str, cells: list[str], body: Sequence[list[str]], width: int, *, counted: bool) -> bool:
    """Return True, or raise if the first row of a data set is one of its rows."""
    if width < 2:
        must = f"{file} must have at least two columns, {SEPARATED}"
        raise InputError(f"{must}; its first line is one: {shown(cells[0])}.")
    numbers = [cell not in MISSING and number(cell) is not None for cell in cells]
    if counted or not any(numbers):
        return True
    # A class or another category occurs again beneath, the name of a column does not.
    words = [column for column, cell in enumerate(cells) if number(cell) is None]
    again = len(cells) == width and any(cells[column] in {row[column].strip() for row in body} for column in words)
    if all(numbers) or again:
        what = f"a row of data ({shown(','.join(cells))})" if again else "numbers"
        raise InputError(f"{file}, line 1 must name the columns; it holds {what}. Add a header.")
    return True


def _names_columns(file: str, cells: list[str], body: Sequence[list[str]], separator: str) -> bool:
    """Return whether the first of several rows of rankings names the columns, or raise if that cannot be told."""
    label, *others = cells
    named = is_item_name(label) or is_index_name(label)
    wrong = [cell for cell in others if is_decimal_comma(cell) and not (named and len(others) > 1)]
    wrong += [cell for cell in others if is_foreign_number(cell) and not (named or len(others) > 1)]
    if wrong:
        raise not_a_number(f"{file}, line 1", wrong[0], label)
    numbers = [cell for cell in others if cell not in MISSING and number(cell) is not None]
    if all(number(cell) is None for cell in others):
        reverse = len(others) == 1 and not named and number(label) is not None
        if reverse and (is_item_name(others[0]) or number(label) in YEARS):
            raise _either(file, cells, body, separator)
        return named or number(label) is None
    if not all(map(DIGITS.fullmatch, numbers)):
        return False
    index = is_index_name(label) and label.lower() != "index"  # no item has such a label
    if index or (named and (not body or len(numbers) < len(others) > 1)):
        return True
    if len(numbers) < len(others) or number(label) is not None:
        return False
    named = named or all(map(is_item_name, WORD.findall(label)))  # feature_name, gene id
    names = _are_names([float(cell) for cell in numbers], [cell.strip() for row in body for cell in row[1:]], named)
    counted = not named and bool(body) and all(number(row[0]) is not None for row in body)  # labels unlike the first
    if names is None or counted:
        raise _either(file, cells, body, separator)
    return names


def _either(file: str, cells: list[str], body: Sequence[list[str]], separator: str) -> InputError:
    """Return the error for a first line that may be a header or a row."""
    return InputError(
        f"{file}, line 1 must be a header or a row, and {shown(separator.join(cells))} may be either. If it is a "
        "row, write a header such as item,score above it; if it is the header, give the columns names that are not "
        f"numbers.{decimal_comma([cells, *body], separator)}"
    )


def _are_names(numbers: list[float], beneath: list[str], named: bool) -> bool | None:
    """Return whether whole numbers beside a word name columns, not scores like those beneath; None if unclear."""
    present = [cell for cell in beneath if cell not in MISSING]
    whole = [INTEGER.fullmatch(cell) is not None for cell in present]
    scores = [abs(value) for value in map(number, present) if value is not None and isfinite(value)]
    far = min(numbers) > FAR * max(scores, default=0.0)
    years = all(value in YEARS for value in numbers)
    several = len(numbers) > 1
    from_zero = list(range(len(numbers)))  # as pandas numbers columns without names
    if not named:
        unclear = numbers == from_zero if several else numbers == [0] or (years and far)
        return None if unclear else False
    if numbers == from_zero or (several and numbers == [column + 1 for column in from_zero]):
        return True
    ordered = several and numbers in (sorted(set(numbers)), sorted(set(numbers), reverse=True))
    if years and (ordered or far or not all(whole)):
        return True
    if several:
        return None if all(whole) else True
    if any(whole):
        return None if far or years or numbers == [1] else False
    return True if far else None


def decimal_comma(rows: Sequence[Sequence[str]], separator: str, start: int = 0) -> str:
    """Return advice for the end of a message if all rows have what may be a number with a decimal comma somewhere."""
    parts = _parts_of_numbers(rows, separator, start)
    if not parts:
        return ""
    whole, fraction = parts[0]
    one = f"{whole}{fraction}" if "." in fraction else f"{whole.replace('.', '')}.{fraction}"
    point = f"with a decimal point ({one}) and without thousands separators"
    return f" If {whole},{fraction} is one number, write it {point}."


def _parts_of_numbers(rows: Sequence[Sequence[str]], separator: str, start: int) -> list[tuple[str, str]]:
    """Return the neighbouring cells of the first row that may be one number in all rows.

    In a file that is separated by commas, 12,5 is two fields.
    """
    width = min(map(len, rows), default=0) if separator == "," else 0
    columns = ([(row[at].strip(), row[at + 1].strip()) for row in rows] for at in range(start, width - 1))
    return [
        pairs[0]
        for pairs in columns
        if all(WHOLE.fullmatch(whole) and FRACTION.fullmatch(fraction) for whole, fraction in pairs)
    ]


def _require_row_names(file: str, cells: list[str], body: Sequence[list[str]]) -> None:
    """Raise if a header lacks a name because of decimal commas, and not because R leaves out that of the row names."""
    prose = any(cell[:1] == " " for row in body for cell in row)
    if prose or (body and all(is_foreign_number(row[0]) for row in body)):
        raise InputError(
            f"{file}, line 1 must name the {len(cells) + 1} columns; it names {len(cells)}. Quote fields that contain "
            "a comma, or name the first column too."
        )
    labels = [row[0].strip() for row in body]
    numbered = labels == [str(row) for row in range(1, len(labels) + 1)]  # R numbers rows that have no names
    named = any(is_item_name(cell) or is_id_name(cell) or says_score(cell) for cell in cells)
    advice = decimal_comma(body, ",", start=int(numbered))
    parts = _parts_of_numbers(body, ",", int(numbered))
    # 234 or 5e-3 behind a whole number, and 1.234 before one, are rather parts of numbers than columns.
    written = any(len(pair[1]) == 3 or not all(map(INTEGER.fullmatch, pair)) for pair in parts)
    likely = named or written or (not numbered and (len(cells) == 2 or len(set(labels)) < len(labels)))
    if advice and likely:
        raise InputError(
            f"{file}, line 1 must name the {len(cells) + 1} columns; it names {len(cells)}.{advice} If the first "
            "column holds the names of the rows, name it too."
        )


def _refuse_words_before_decimals(file: str, rows: Sequence[list[str]]) -> None:
    """Raise if every row may be a label, a space and a number with a decimal comma: 'A 12,5'."""
    if not rows or any(len(row) != 2 for row in rows):
        return
    parts = [row[0].rsplit(None, 1) for row in rows]
    numbers = [f"{part[-1]},{row[1].strip()}" for part, row in zip(parts, rows, strict=True) if len(part) == 2]
    labels = {part[0] for part in parts if part}
    if len(labels) == len(numbers) == len(rows) and all(map(DECIMAL_COMMA.fullmatch, numbers)):
        header = "If the numbers are separate, write a header such as item,score above them"
        raise InputError(
            f"{file} must have an item and a score per line; in {shown(','.join(rows[0]))} the comma may separate them "
            f"or be a decimal comma. Write numbers with a decimal point. {header}."
        )


def _refuse_comments(file: str, lines: Sequence[str]) -> None:
    """Raise if a list of items begins with a comment, or has one further down; hashtags are items."""
    comments = [line for line in lines if line.startswith("# ")]
    alone = lines[0].startswith("#") and not any(line.startswith("#") for line in lines[1:])
    if (comments or alone) and not all(line.startswith("#") for line in lines):
        raise InputError(
            f"{file} must list items, one per line; {shown((comments or lines)[0])} looks like a comment. Remove "
            "it, or write a header such as item,score and the scores."
        )
