"""Which columns are items, scores and rankings, named or guessed, and the rankings in them."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, first_few, shown, spelled
from fujiscore.inputs.coercion import EXACT, is_null, is_number, require_apart
from fujiscore.inputs.direction import P_VALUES, Evidence, RowOrder, by_rank, by_rows, evidence, kind_of
from fujiscore.inputs.roles import (
    COMPETITOR_NAMES,
    GROUP_NAMES,
    LONG_RANKING_NAMES,
    QUERY_NAMES,
    RANKING_NAMES,
    is_group_name,
    plain,
)
from fujiscore.io.table import (
    LISTED,
    FileTable,
    Group,
    Roles,
    are_amounts,
    exact,
    is_foreign_number,
    is_quantity,
    listed,
    no_rows,
    not_a_number,
    not_numbers,
    number,
    require_plain_numbers,
    unknown,
)

# Names are compared without case, points, dashes, underscores and spaces; the first that a table has counts.
ITEM_NAMES = (
    *("item", "id", "name", "feature", "gene", "symbol", "genesymbol", "genename", "doc", "docno", "docid", "itemid"),
    *("document", "documentid", "passage", "pid", "product", "productid", "node", "token", "term", "word", "variable"),
    "names",
)
INDEX_NAMES = ("", "index", "unnamed: 0", "__index_level_0__")  # pandas writes the last two for an unnamed index
SCORE_NAMES = ("score", "scores", "sim", "similarity", "weight", "importance", "value")
# The last word of a name that says score: mean_score, GiniImportance, Weight (%).
SCORE_WORDS = frozenset(name + end for name in SCORE_NAMES for end in ("", "s")) | {"similarities"}
NOT_SCORES = ("rank", "ranking", "position", "fold", "chrom", "chr", "chromosome")
RANK_NAMES = ("rank", "ranks")
# The end of the name of a column of numbers that name items.
IDENTIFIER_ENDS = ("id", "ids", "code", "key", "accession", "entrez")
DIGITS = re.compile(r"\s*[0-9]+\s*")
NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# Within a label of several lines: a separator, or a number at the end of a line, as rows have them.
ROWS = re.compile(r"[,;|\t]|\s[-+.0-9][-+.0-9eE]*\s*[\r\n]")


def is_item_name(name: str, *, plural: bool = False) -> bool:
    """Return whether a name is one that item columns have."""
    return plain(name) in ITEM_NAMES or (plural and plain(name).removesuffix("s") in ITEM_NAMES)


def is_index_name(name: str) -> bool:
    """Return whether a name is one that unnamed row labels get."""
    return name.lower() in INDEX_NAMES


def says_score(name: str) -> bool:
    """Return whether a name says that a column holds scores, whatever is in its cells; that of p-values does not."""
    words = NAME_WORD.findall(re.split(r"[(\[]", name)[0])
    return kind_of(name) != P_VALUES and bool(words) and words[-1].lower() in SCORE_WORDS


def is_id_name(name: str) -> bool:
    """Return whether a name is one that columns of numeric ids have."""
    return plain(name).endswith(IDENTIFIER_ENDS) or plain(name) in QUERY_NAMES


def column_evidence(
    table: FileTable, roles: Roles, column: str, scores: NDArray[np.float64], rows: RowOrder | None = None
) -> Evidence | None:
    """Return what is known about the direction of a score column: its name, and a rank column or the order of rows."""
    return _evidence(table, roles, column, scores, rows, _rank_column(table, roles))


def _evidence(
    table: FileTable, roles: Roles, column: str, scores: NDArray[np.float64], rows: RowOrder | None, rank: str | None
) -> Evidence | None:
    """Return what is known about the direction of a score column, given the column of ranks."""
    ranks = None if rank is None or rank == column or roles.by_row else _rank_order(table, roles, column, rank)
    return evidence(column, scores, rows if ranks is None or not ranks.lists else ranks)


def group_evidence(table: FileTable, roles: Roles, groups: Sequence[Group]) -> list[Evidence | None]:
    """Return the same for each score column of rankings; a table may be sorted in any way, but not a query's rows."""
    queries = roles.ranking is not None and plain(roles.ranking) in QUERY_NAMES and not roles.by_row
    known, rank = [], _rank_column(table, roles)
    for column, *parts in zip(roles.scores, *(group.scores for group in groups), strict=True):
        scores = parts[0] if len(parts) == 1 else np.concatenate(parts)
        start = np.cumsum([0, *(part.size for part in parts[:-1])])
        rows = by_rows(start, scores) if queries else None
        known.append(_evidence(table, roles, column, scores, rows, rank))
    return known


def _rank_column(table: FileTable, roles: Roles) -> str | None:
    """Return the column of ranks, None if there is none."""
    labels = set(roles.labels)
    return next((name for name in table.numeric if plain(name) in RANK_NAMES and name not in labels), None)


def _rank_order(table: FileTable, roles: Roles, column: str, rank: str) -> RowOrder | None:
    """Return how a rank column agrees with the scores in the table's first rows."""
    used = [rank, column, *([] if roles.ranking is None else [roles.ranking])]
    rows = list(zip(*(table.sample(name) for name in used), strict=False))
    lists: dict[str, list[tuple[float, float]]] = {}
    for rank_cell, score_cell, *ranking in rows:
        cells = [number(cell) for cell in (rank_cell, score_cell)]
        lists.setdefault(str(ranking), []).append(tuple(np.nan if cell is None else cell for cell in cells))  # type: ignore[arg-type]
    both = np.array([row for rows_ in lists.values() for row in rows_]).reshape(-1, 2)
    start = np.cumsum([0, *map(len, lists.values())])[:-1]
    return by_rank(start, both[:, 1], both[:, 0], rank)


class RepeatedItemError(InputError):
    """An item occurs twice in a ranking."""


def choose(
    table: FileTable,
    item: str | None = None,
    score: str | Sequence[str] | None = None,
    ranking: str | None = None,
    *,
    by_row: bool = False,
) -> tuple[Roles, str | None]:
    """Return the columns, named or guessed, and a note of the guesses; with by_row, each row may be a ranking."""
    items, scores, by = _find(table, "item", item), _find(table, "score", score), _find(table, "ranking", ranking)
    named = [*items, *scores, *by]
    if len(set(named)) < len(named):
        arguments = ", ".join(spelled(argument) for argument in ("item", "score", "ranking"))
        raise InputError(f"{table.file}: {arguments} must be different columns; one was named twice.")
    if known := table.known:
        return Roles([*items, known.item][0], scores or known.scores, [*by, known.ranking][0]), None
    if len(table.numeric) == 1 and not scores and not by:
        return _as_list(table, guessed=not items)
    by_column = by[0] if by else _guess_ranking(table, items, named, scored=bool(scores))
    item_column = items[0] if items else _guess_item(table, {*named, by_column})
    if item_column is None and by and by_row:
        return _one_per_row(table, by[0], scores)
    if item_column is None:
        if by_row:
            _refuse_either_way(table, next(filter(is_group_name, table.numeric), None), scores)
        among = f"none of {listed(table.numeric)} clearly does. Name it with {spelled('item')}."
        raise InputError(f"{table.file} must have a column that names the items, and {among}")
    roles = Roles(item_column, scores or _guess_scores(table, item_column, by_column), by_column)
    if by_row and by_column is None and not items and is_group_name(item_column):
        _refuse_either_way(table, item_column, scores)
    guessed = not (items and scores) or by_column not in {None, *by}
    return roles, _describe(table, roles, left_out=not scores) if guessed else None


def _one_per_row(table: FileTable, ranking: str, scores: list[str]) -> tuple[Roles, str]:
    """Return the roles in a table with one ranking per row, whose items are the columns of scores."""
    items = scores or _guess_scores(table, ranking, None)
    if len(items) < 2:
        raise InputError(
            f"{table.file} must have a column that names the items beside {ranking!r}, or several columns of scores to "
            f"rank in each row; it has {listed(table.numeric)}. Name the column with {spelled('item')}."
        )
    named = first_few([repr(name) for name in items])
    return Roles(ranking, items, ranking, by_row=True), f"one ranking per row, named by {ranking!r}; items are {named}"


def _refuse_either_way(table: FileTable, ranking: str | None, scores: Sequence[str]) -> None:
    """Raise if the rows of a wide table have names such as those of tasks: rows or columns may be the rankings."""
    columns = [] if ranking is None or scores else _guess_scores(table, ranking, None)
    if len(columns) < 2:
        return
    raise InputError(
        f"{table.file} must say whether its rows or its columns are rankings, for column {ranking!r} may name either. "
        f"Pass {spelled('ranking', ranking)} to rank {listed(columns)} in each row, or {spelled('item', ranking)} to "
        "rank the rows by each column."
    )


def _find(table: FileTable, argument: str, names: Any) -> list[str]:
    """Return the columns that an argument names, none if it was not given."""
    if names is None:
        return []
    columns = [str(name) for name in ([names] if isinstance(names, (str, int)) else names)]
    if not columns:
        raise InputError(f"{table.file}: {spelled(argument)} must name at least one column; got none.")
    for name in columns:
        if name not in table.numeric:
            raise unknown(table.file, spelled(argument), name, list(table.numeric))
    return columns


def _as_list(table: FileTable, *, guessed: bool) -> tuple[Roles, str | None]:
    """Return the roles in a table of one column, which lists items from best to worst."""
    [(name, share)] = table.numeric.items()
    numbers = share == 1 or all(isinstance(cell, str) and is_number(cell) for cell in table.sample(name) or [""])
    if guessed and numbers and not (table.header and is_item_name(name, plural=True)):
        raise InputError(
            f"{table.file} must name its items; its only column, {name!r}, holds numbers. Add a column of labels, or, "
            f"if the numbers name items from best to worst, pass {spelled('item', name)}."
        )
    return Roles(name, ()), f"item column {name!r}" if table.header and guessed else None


def _guess_ranking(table: FileTable, item: Sequence[str], named: Sequence[str], *, scored: bool) -> str | None:
    """Return the column that names rankings in a long table, if others remain for the items and scores."""
    for column, share in table.numeric.items():
        name = plain(column)
        text = share < 1 or name in QUERY_NAMES
        if name not in RANKING_NAMES or not text or column in named:
            continue
        if name in LONG_RANKING_NAMES:
            values = table.sample(column)
            if 2 * len(set(map(str, values))) > len(values):
                continue
        used = {*named, column}
        items = item[0] if item else _guess_item(table, used)
        if name in COMPETITOR_NAMES and items is not None and is_group_name(items):
            continue
        if items is not None and (scored or len({*used, items}) < len(table.numeric)):
            return column
    return None


def _guess_item(table: FileTable, used: Collection[str | None]) -> str | None:
    """Return the column that labels the items: by its name, as the only text, or the first if it is an index."""
    free = {name: share for name, share in table.numeric.items() if name not in used}
    named = [name for name in free if is_item_name(name)]
    if named:
        return min(named, key=lambda name: (free[name] == 1, ITEM_NAMES.index(plain(name))))
    others = {name: share for name, share in free.items() if not is_group_name(name)}
    free = others if min(others.values(), default=1.0) < 1 else free
    first = next(iter(table.numeric))
    identifiers = [name for name in free if is_id_name(name) and _may_be_ids(table, name)]
    if len(identifiers) == 1:
        return identifiers[0]
    text = [name for name, share in free.items() if share < 1 and _may_label(table, name)]
    mostly = [name for name in text if free[name] < 0.5]
    models = [name for name in text[:1] if plain(name) in COMPETITOR_NAMES and _unique(table, name)]
    for labels in (text, mostly, models):  # a column with some text labels items if no other has any
        if len(labels) == 1:
            return None if _has_rival(table, labels[0], free) else labels[0]
    if first in free and (is_index_name(first) or len(free) == len(text) == 2):
        return first
    if first in free and not table.header:  # of numbers with a fraction and whole ones, the latter may be the ids
        fractions = free[first] == 1 and not _whole(table, first)
        return None if fractions and any(_may_be_ids(table, name) for name in free) else first
    return None if text else _guess_ids(table, free)


def _guess_ids(table: FileTable, free: dict[str, float]) -> str | None:
    """Return the column whose whole numbers name items: the only one of text or not called score, or else the first."""
    rest = [name for name in free if not says_score(name) and plain(name) not in NOT_SCORES]
    whole = [name for name in rest if _whole(table, name)]
    typed = [name for name in whole if free[name] < 1]  # in Parquet and JSON numbers may be text
    if len(typed) == 1:
        return typed[0]
    if len(rest) == 1 < len(free) and all(name in rest or says_score(name) for name in free):
        return rest[0] if whole or free[rest[0]] < 1 else None
    if whole[:1] != [next(iter(table.numeric))] or any(_unique(table, name) for name in whole[1:]):
        return None
    return whole[0]


def _may_label(table: FileTable, name: str) -> bool:
    """Return whether text may label items: its name does not say score, and it is not numbers, in whatever syntax."""
    other = not_numbers(table.sample(name))
    first = name == next(iter(table.numeric))  # where a whole number with a unit (16S) may be a label
    fractions = any("." in str(cell) for cell in other) and are_amounts(other)
    amounts = fractions or all(map(is_foreign_number if first else is_quantity, other))
    # A value may be a label, as in a table of values and their counts.
    scores = says_score(name) and plain(name) not in {"value", "values"}
    return not (amounts or scores or (plain(name) in NOT_SCORES and not first))


def _may_be_ids(table: FileTable, name: str) -> bool:
    """Return whether whole numbers may name items: each occurs once, and the column's name says nothing else."""
    return not says_score(name) and plain(name) not in NOT_SCORES and _whole(table, name) and _unique(table, name)


def _has_rival(table: FileTable, text: str, free: Collection[str]) -> bool:
    """Return whether a column of whole numbers, the first or one beside doubtful text, may name the items as well."""
    if len(free) < 3:  # a column must remain for the scores
        return False
    first = next(iter(table.numeric))
    # The text repeats or is numbers in part (chromosomes 1, 2, X).
    doubtful = any(number(cell) is not None for cell in table.sample(text)) or not _unique(table, text)
    others = [name for name in free if name != text and (doubtful or name == first)]

    def counts_rows(name: str) -> bool:  # from 0 or 1
        values = list(map(str, table.sample(name)))
        return any(values == [str(start + row) for row in range(len(values))] for start in (0, 1))

    return any(_may_be_ids(table, name) and (doubtful or not counts_rows(name)) for name in others)


def _unique(table: FileTable, name: str) -> bool:
    """Return whether a column is different in every row that is looked at."""
    values = table.sample(name)
    return len(set(map(str, values))) == len(values)


def _whole(table: FileTable, name: str) -> bool:
    """Return whether a column holds whole numbers only."""
    return all(DIGITS.fullmatch(str(value)) for value in table.sample(name))


def _guess_scores(table: FileTable, item: str, ranking: str | None) -> list[str]:
    """Return the columns of scores: all that hold numbers and are not ranks or indices."""
    reasons = _why_not(table, [name for name in table.numeric if name not in {item, ranking}])
    reasons |= dict.fromkeys(_scores_by_name(table, reasons))
    scores = [name for name, reason in reasons.items() if reason is None]
    by_name = [name for name in reasons if plain(name) in SCORE_NAMES]
    ranks = [name for name in reasons if plain(name) == "rank"]
    if scores and (ranking is None or len(scores) == 1):
        if not _has_scores(table):
            text = [name for name, reason in reasons.items() if reason == "text"]
            require_plain_numbers(table, text, f", or name the score column with {spelled('score')}")
        return scores
    if len(by_name) == 1:
        return by_name
    if len(ranks) == 1 and all(reason in {"text", "labels"} for name, reason in reasons.items() if name != ranks[0]):
        return ranks
    if len(reasons) == 1 and plain(next(iter(reasons))) not in NOT_SCORES:
        return list(reasons)
    if scores:
        several = f"{listed(scores)}. Name it with {spelled('score')}"
        beside = f"beside {ranking!r}, which names the rankings"
        raise InputError(f"{table.file} must have one column of scores {beside}; it has {several}.")
    why = first_few([f"{name!r} ({reason})" for name, reason in reasons.items()], LISTED)
    raise InputError(
        f"{table.file} must have a column of scores, that is of numbers where higher is better; it has "
        f"{why or 'no other column'}. Name it with {spelled('score')}, or list only items, one per line, best first."
    )


def _scores_by_name(table: FileTable, names: Collection[str]) -> list[str]:
    """Return the columns of text whose name says score; words (value: red, blue) are none where another column is."""
    text = [name for name in names if says_score(name) and table.numeric[name] < 0.5]
    if not text or not _has_scores(table):
        return text
    cells = {name: not_numbers(table.sample(name)) for name in text}
    return [name for name, other in cells.items() if not other or any(map(is_quantity, other))]


def _has_scores(table: FileTable) -> bool:
    """Return whether a column whose name says score holds nothing but numbers, be they text."""
    named = {name: share for name, share in table.numeric.items() if says_score(name)}
    return any(share == 1 or (share < 0.5 and not not_numbers(table.sample(name))) for name, share in named.items())


def _why_not(table: FileTable, names: Sequence[str]) -> dict[str, str | None]:
    """Return for each column why it is not read as scores, None if it is."""
    scored, first = _has_scores(table), next(iter(table.numeric))

    def reason(name: str) -> str | None:
        # Beside a column that is called score, one with numbers and text (chromosomes 1, 2, X) holds text.
        if table.numeric[name] < 0.5 or (scored and table.numeric[name] < 1 and not says_score(name)):
            return "text"
        if plain(name) in NOT_SCORES or (plain(name) in GROUP_NAMES and _whole(table, name)):
            return "not a score"
        index = is_index_name(name) and name == first
        named = is_item_name(name) or plain(name) in QUERY_NAMES or (is_id_name(name) and _whole(table, name))
        return "labels" if index or named else None

    return {name: reason(name) for name in names}


def _describe(table: FileTable, roles: Roles, *, left_out: bool) -> str:
    """Return in one line which columns are used as what, and which are left out."""
    text = "" if table.header else "no header: "
    text += "" if roles.ranking is None else f"ranking column {roles.ranking!r}, "
    text += f"item column {roles.item!r}, score column{'s' if len(roles.scores) > 1 else ''} "
    text += first_few([repr(name) for name in roles.scores])
    left = _why_not(table, _unused(table, roles) if left_out else [])
    reasons = [f"{name!r} ({reason or 'another number'})" for name, reason in left.items()]
    return f"{text}; left out {first_few(reasons)}" if left else text


def _unused(table: FileTable, roles: Roles) -> list[str]:
    """Return the columns without a role."""
    used = {roles.item, roles.ranking, *roles.scores}
    return [name for name in table.numeric if name not in used]


def rankings_in(
    table: FileTable, item: str | None, score: Any, ranking: str | None, *, unique: bool
) -> tuple[Roles, list[Group], list[str]]:
    """Return the columns' roles, the rankings in a table, and notes of what was guessed."""
    roles, guess = choose(table, item, score, ranking, by_row=True)
    if roles.by_row:
        return replace(roles, scores=["value"]), _rows_of(table, roles), [guess] if guess else []
    if table.known is None and roles.ranking is None and roles.scores and (others := _may_name_rankings(table, roles)):
        by = _telling_apart(table, roles, others)  # where items repeat, a column such as task or fold, if it does
        roles, guess = (roles, guess) if by is None else choose(table, item, score, by)
    found, note = groups(table, roles, unique=unique, named=item is not None)
    return roles, found, [text for text in (guess, note) if text]


def _rows_of(table: FileTable, roles: Roles) -> list[Group]:
    """Return one ranking per row."""
    [columns] = _collect(table, Roles(roles.item, roles.scores), unique=False)
    names = Counter(columns.items)
    if len(names) < len(columns.items):
        name = names.most_common(1)[0][0]
        raise InputError(
            f"{table.file} must name each row once in column {roles.item!r} to have one ranking per row; {shown(name)} "
            f"occurs {names[name]} times. If another column names the items, name it with {spelled('item')}."
        )
    rows = np.column_stack(columns.scores)
    return [Group(name, roles.scores, (row,)) for name, row in zip(columns.items, rows, strict=True)]


def _telling_apart(table: FileTable, roles: Roles, others: Sequence[str]) -> str | None:
    """Return the first of some columns whose every value has each item once, None if items do not repeat at all."""
    if _is_unique(table, roles):
        return None
    # Numbers in a column called ranking may be ranks.
    clear = (name for name in others if table.numeric[name] < 1 or plain(name) != "ranking")
    return next((name for name in clear if _is_unique(table, replace(roles, ranking=name), several=True)), None)


def _is_unique(table: FileTable, roles: Roles, *, several: bool = False) -> bool:
    """Return whether each ranking has each item once, and, if asked, several items on average."""
    try:
        found = _collect(table, roles, unique=True)
    except RepeatedItemError:
        return False
    return not several or 2 * len(found) <= sum(len(group.items) for group in found)


def groups(table: FileTable, roles: Roles, *, unique: bool, named: bool) -> tuple[list[Group], str | None]:
    """Return the rankings in a table, and a note if items repeat and another column of text is unique and was taken.

    That column is only suggested if the item column was named by the user.
    """
    try:
        return _collect(table, roles, unique=unique), None
    except RepeatedItemError as error:
        text = [name for name in _unused(table, roles) if table.numeric[name] < 0.5 and _may_label(table, name)]
        identifiers_first = sorted(text, key=lambda name: not plain(name).endswith("id"))
        for other in [] if table.known or _may_name_rankings(table, roles) else identifiers_first:
            try:
                result = _collect(table, replace(roles, item=other), unique=True)
            except InputError:
                continue
            if named:
                hint = f"Or pass {spelled('item', other)}: column {other!r} is different in every row."
                raise RepeatedItemError(f"{error} {_remedy(table, roles)} {hint}", error.kind) from None
            return result, f"item column {other!r} instead of {roles.item!r}, which repeats items"
        raise RepeatedItemError(f"{error} {_remedy(table, roles)}", error.kind) from None


def _may_name_rankings(table: FileTable, roles: Roles) -> list[str]:
    """Return the columns without a role whose names are those of columns that tell rankings apart."""
    names = [name for name in _unused(table, roles) if is_group_name(name) or plain(name) in COMPETITOR_NAMES]
    return [name for name in names if table.numeric[name] < 1 or _whole(table, name)]


def _collect(table: FileTable, roles: Roles, *, unique: bool) -> list[Group]:
    """Return the rankings: at once if all is well, or row by row, to say where a row is wrong."""
    result = table.fast(roles, unique) if table.fast else None
    if result is not None:
        return result
    collected: dict[str | None, tuple[list[str], dict[str, int], list[array[float]]]] = {}
    large: dict[tuple[str | None, str], list[Any]] = {}  # values that float64 need not hold exactly
    used = [roles.item, roles.item if roles.ranking is None else roles.ranking, *roles.scores]
    for place, (item, ranking, *values) in table.rows(used):
        name = None if roles.ranking is None else label_of(table, place, roles.ranking, ranking)
        label = label_of(table, place, roles.item, item)
        if name not in collected:
            collected[name] = [], {}, [array("d") for _ in roles.scores]
        items, places, scores = collected[name]
        if unique and label in places:
            within = "" if name is None else f" in ranking {shown(name)}"
            raise RepeatedItemError(
                f"{table.file}, {table.unit}s {places[label]} and {place}: column {roles.item!r} must name each item "
                f"once{within}; {shown(label)} occurs twice.",
                "duplicates",
            )
        items.append(label)
        places[label] = place
        for column, value, numbers in zip(roles.scores, values, scores, strict=True):
            score = number(value)
            if score is None:
                remedy = f", or name the score columns with {spelled('score')}" if len(roles.scores) > 1 else ""
                raise not_a_number(table.place(place, column), value, label, remedy)
            numbers.append(score)
            if score >= EXACT or score <= -EXACT:
                large.setdefault((name, column), []).append(exact(value))
    if not collected:
        raise no_rows(table.file)
    for (_, column), values in large.items():
        require_apart(values, f"{table.file}, column {column!r} must hold")
    return [
        Group(name, items, tuple(np.array(numbers, dtype=np.float64) for numbers in scores))
        for name, (items, _, scores) in collected.items()
    ]


def label_of(table: FileTable, place: int, column: str, value: Any) -> str:
    """Return a label as text, or raise if it is missing or spans lines."""
    if isinstance(value, (list, dict)):
        raise InputError(f"{table.place(place, column)} must be a label; got {shown(value)}. Use text or a number.")
    label = "" if is_null(value) else str(value)
    if not label:
        raise InputError(f"{table.place(place, column)} must not be empty: every row needs a label there.")
    if table.unit == "line" and ("\n" in label or "\r" in label) and (len(table.numeric) == 1 or ROWS.search(label)):
        raise InputError(
            f"{table.place(place, column)} must be one label; got {shown(label)}, which may be several rows. "
            "If a quote is opened and not closed, close it, or write it twice inside quotes."
        )
    return label


def _remedy(table: FileTable, roles: Roles) -> str:
    """Return what to do about repeated items: name the column that tells rankings apart, or merge."""
    merge = f"Pass {spelled('duplicates', 'max')} to keep the highest score of each item."
    others = [] if table.known else _may_name_rankings(table, roles)
    if not others:
        return merge
    alone = [] if roles.ranking else [name for name in others if _is_unique(table, replace(roles, ranking=name))]
    if alone:
        return f"If column {alone[0]!r} tells several rankings apart, pass {spelled('ranking', alone[0])}. {merge}"
    columns = [*([roles.ranking] if roles.ranking else []), *others]
    if len(columns) == 1:
        return merge
    together = f"If columns {listed(columns)} together tell rankings apart, write them as one column"
    return f"{together} and name it with {spelled('ranking')}. {merge}"
