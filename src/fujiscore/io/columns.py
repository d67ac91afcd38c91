"""Which column is what: the item, score and ranking columns, named or guessed. Imports table and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.errors import InputError, first_few, spelled
from fujiscore.io.table import LISTED, LISTED_IN_NOTES, Roles, listed, unknown

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from fujiscore.io.table import Table

# Names are compared without case, points, dashes, underscores and spaces; the first that a table has counts.
ITEM_NAMES = (
    *("item", "id", "name", "feature", "gene", "symbol", "genesymbol", "genename", "doc", "docid", "docno", "itemid"),
    *("node", "token", "term", "word", "variable"),
)
INDEX_NAMES = ("", "index", "unnamed: 0", "__index_level_0__")  # pandas writes the last two for an unnamed index
RANKING_NAMES = ("ranking", "method", "query", "qid", "queryid", "model", "run", "topic", "user")
LONG_RANKING_NAMES = ("model", "run", "topic", "user")  # only where they repeat: they may as well be another attribute
NUMBERED_RANKINGS = ("query", "qid", "queryid", "topic", "user")  # these name rankings even where they are numbers
SCORE_NAMES = ("score", "scores", "weight", "importance", "value")
NOT_SCORES = ("rank", "ranking", "position", "fold")
P_VALUES = ("p", "pval", "pvalue", "padj", "adjp", "adjpval", "adjpvalue", "fdr", "q", "qval", "qvalue")
SMALL_IS_GOOD = {"distance": "distances", "dist": "distances", "rank": "ranks"}
PUNCTUATION = str.maketrans("", "", " ._-")


def plain(name: str) -> str:
    """Return a column's name without case and punctuation."""
    return name.lower().translate(PUNCTUATION)


def is_item_name(name: str, *, plural: bool = False) -> bool:
    """Return whether a name is one that item columns have."""
    return plain(name) in ITEM_NAMES or (plural and plain(name).removesuffix("s") in ITEM_NAMES)


def is_index_name(name: str) -> bool:
    """Return whether a name is one that unnamed row labels get."""
    return name.lower() in INDEX_NAMES


def direction(name: str, scores: NDArray[np.float64]) -> str | None:
    """Return a warning if a score column's name says that small is good."""
    what, remedy = SMALL_IS_GOOD.get(plain(name)), "reciprocal"
    if plain(name) in P_VALUES and bool(((scores >= 0) & (scores <= 1) | np.isnan(scores)).all()):
        what, remedy = "p-values", "neglog10"
    if what is None:
        return None
    return (
        f"column {name!r} looks like {what}, where small means good, and is read as it stands: "
        f"pass {spelled('transform', remedy)}"
    )


def choose(
    table: Table, item: str | None = None, score: str | Sequence[str] | None = None, ranking: str | None = None
) -> tuple[Roles, str | None]:
    """Return the columns asked for, the others guessed, and a note of what was guessed (None: nothing was)."""
    known = table.known
    item_at = None if item is None else _find(table, "item", item)[0]
    scores = None if score is None else _find(table, "score", score)
    by = None if ranking is None else _find(table, "ranking", ranking)[0]
    named = [position for position in (item_at, by, *(scores or ())) if position is not None]
    if len(set(named)) < len(named):
        arguments = ", ".join(spelled(argument) for argument in ("item", "score", "ranking"))
        raise InputError(f"{table.file}: {arguments} must be different columns; one was named twice.")
    if known:
        item_at, by = known.item if item_at is None else item_at, known.ranking if by is None else by
        return Roles(item_at, tuple(scores or known.scores), by), None
    if len(table.columns) == 1 and score is None and ranking is None:
        return _as_list(table, item_at)
    if by is None:
        by = _guess_ranking(table, item_at, named, scored=scores is not None)
    guessed_item = _guess_item(table, [*named, by]) if item_at is None else item_at
    if guessed_item is None:
        raise InputError(
            f"{table.file} must have a column that names the items, and none of {listed(table.columns)} clearly does. "
            f"Name it with {spelled('item')}."
        )
    roles = Roles(guessed_item, tuple(scores or _guess_scores(table, guessed_item, by)), by)
    guessed = item is None or score is None
    return roles, _describe(table, roles, left_out=score is None) if guessed else None


def _find(table: Table, argument: str, names: Any) -> list[int]:
    """Return the positions of one or more columns by their names."""
    wanted = [str(name) for name in ([names] if isinstance(names, (str, int)) else names)]
    if not wanted:
        raise InputError(f"{table.file}: {spelled(argument)} must name at least one column; got none.")
    for name in wanted:
        if name not in table.columns:
            raise unknown(table.file, spelled(argument), name, table.columns)
    return [table.columns.index(name) for name in wanted]


def _as_list(table: Table, item: int | None) -> tuple[Roles, str | None]:
    """Return the roles in a table of one column, which lists items from best to worst."""
    name = table.columns[0]
    if item is None and table.numeric[0] == 1 and not (table.header and is_item_name(name, plural=True)):
        raise InputError(
            f"{table.file} must name its items; its only column, {name!r}, holds numbers. Add a column of labels, or, "
            f"if the numbers name items from best to worst, pass {spelled('item', name)}."
        )
    return Roles(0, (), None), f"item column {name!r}" if table.header and item is None else None


def _guess_ranking(table: Table, item: int | None, used: Sequence[int], *, scored: bool) -> int | None:
    """Return the column that names rankings in a long table, if others remain for the items and scores."""
    for position, column in enumerate(table.columns):
        name = plain(column)
        text = table.numeric[position] < 1 or name in NUMBERED_RANKINGS
        if name not in RANKING_NAMES or not text or position in used:
            continue
        if name in LONG_RANKING_NAMES and not _repeats(table, position):
            continue
        others = {*used, position}
        items = item if item is not None else _guess_item(table, others)
        if items is not None and (scored or len(others | {items}) < len(table.columns)):
            return position
    return None


def _repeats(table: Table, column: int) -> bool:
    """Return whether a column's first values occur twice or more on average."""
    values = table.sample(column)
    return 2 * len(set(map(str, values))) <= len(values)


def _guess_item(table: Table, used: Collection[int | None]) -> int | None:
    """Return the column that labels the items: by its name, as the only text, or the first if it is an index."""
    free = [position for position in range(len(table.columns)) if position not in used]
    named = [position for position in free if is_item_name(table.columns[position])]
    if named:
        order = {position: ITEM_NAMES.index(plain(table.columns[position])) for position in named}
        return min(named, key=lambda position: (table.numeric[position] == 1, order[position]))
    for most in (1.0, 0.5):  # a column with some text labels items if no other has any
        text = [position for position in free if table.numeric[position] < most]
        if len(text) == 1:
            return text[0]
    if 0 not in free:
        return None
    name = table.columns[0]
    both_text = len(free) == 2 and all(table.numeric[position] < 1 for position in free)
    if is_index_name(name) or not table.header or both_text:
        return 0
    counted = plain(name) not in NOT_SCORES and all(str(value).strip().isdecimal() for value in table.sample(0))
    return 0 if counted else None


def _guess_scores(table: Table, item: int, ranking: int | None) -> list[int]:
    """Return the columns of scores: all that hold numbers and are not ranks or indices."""
    free = [position for position in range(len(table.columns)) if position not in {item, ranking}]
    reasons = {position: _why_not(table, position) for position in free}
    scores = [position for position in free if reasons[position] is None]
    by_name = [position for position in free if plain(table.columns[position]) in SCORE_NAMES]
    if scores and (ranking is None or len(scores) == 1):
        return scores
    if len(by_name) == 1:
        return by_name
    ranks = [position for position in free if plain(table.columns[position]) == "rank"]
    if len(ranks) == 1 and not any(
        reasons[position] in {None, "not a score"} for position in free if position != ranks[0]
    ):
        return ranks
    if len(free) == 1 and plain(table.columns[free[0]]) not in NOT_SCORES:
        return free
    if scores:
        raise InputError(
            f"{table.file} must have one column of scores beside the ranking's name; it has {table.listed(scores)}. "
            f"Name it with {spelled('score')}."
        )
    why = ", ".join(f"{table.columns[position]!r} ({reasons[position]})" for position in free[:LISTED])
    raise InputError(
        f"{table.file} must have a column of scores, that is of numbers where higher is better; it has "
        f"{why or 'no other column'}. Name it with {spelled('score')}, "
        "or list only the items, one per line, best first."
    )


def _why_not(table: Table, position: int) -> str | None:
    """Return why a column is not read as scores, None if it is."""
    name = table.columns[position]
    if table.numeric[position] < 0.5:
        return "text"
    if plain(name) in NOT_SCORES:
        return "not a score"
    labels = is_item_name(name) or plain(name) in NUMBERED_RANKINGS or (position == 0 and is_index_name(name))
    return "labels" if labels else None


def _describe(table: Table, roles: Roles, *, left_out: bool) -> str:
    """Return in one line which columns are used as what, and which are left out."""
    text = f"item column {table.columns[roles.item]!r}, "
    text += f"score column{'s' if len(roles.scores) > 1 else ''} {table.listed(roles.scores, LISTED_IN_NOTES)}"
    if roles.ranking is not None:
        text = f"ranking column {table.columns[roles.ranking]!r}, {text}"
    if not table.header:
        text = f"no header: {text}"
    used = {roles.item, roles.ranking, *roles.scores}
    left = [position for position in range(len(table.columns)) if left_out and position not in used]
    reasons = [f"{table.columns[position]!r} ({_why_not(table, position) or 'another number'})" for position in left]
    return f"{text}; left out {first_few(reasons, LISTED_IN_NOTES)}" if left else text
