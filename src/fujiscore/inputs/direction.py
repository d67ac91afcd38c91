"""Is higher better? What a column's name, a rank column and the order of rows say about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, counted, shown, spelled
from fujiscore.text.notes import Fact, Note

if TYPE_CHECKING:
    Scores: TypeAlias = NDArray[np.float64]

P_VALUES, E_VALUES, DISTANCES, ERRORS, RANKS = "p-values", "E-values", "distances", "errors", "ranks"
# The parts of a name: ends of words in camel case, digits, and whatever is neither a letter nor a digit.
PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
# What follows the word that counts: distance_1, distance_a, loss_v2, distance (km), loss_mean, error rate.
UNIT = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")
NUMBERED = re.compile(r"(?<=[A-Za-z]{2})[_. -]+([0-9]+|v[0-9]+|[a-oA-Or-zR-Z])$")
AFTER = frozenset(["rate", "mean", "avg", "average", "median", "km", "mm", "cm", "nm", "bp", "pct", "percent"])
MINUS = re.compile(r"\s*(1\s*)?[-\u2212]")  # -distance, 1 - p
# A coefficient's p-value in tables of R and statsmodels: Pr(>|t|), Pr(>F), P>|z|, and as R mangles them, Pr...t..
COEFFICIENT = re.compile(r"pr?\s*(\(\s*)?(>|\.{2,})\s*[|.]*\s*(t|z|f|chisq|chi|w)\s*[|.)]*", re.IGNORECASE)
# One word: pval, padj, qvalue, adjpval, pvaladj, ...; FDR and its relatives.
P_WORD = re.compile(
    r"(adj|adjusted|nom|nominal|raw|emp|empirical|fdr|fwer|bh|wald|lrt)?[pq]"
    r"(val|vals|value|values|adj|adjust|adjusted|fdr|fwer|bh|bonf|bonferroni)+|(adj|adjusted)p|l?fdrs?|fwer|lfsr|svalue|svalues"
)
# What beside a p or q of its own makes it a p-value: adj.P.Val, p_val, q.value, p.adjust, p-corr.
BESIDE_P = frozenset(
    {
        *("val", "vals", "value", "values", "adj", "adjust", "adjusted", "fdr", "fwer", "unc", "uncorrected"),
        *("corr", "corrected", "bonf", "bonferroni", "bh"),
    }
)
DISTANCE_WORDS = frozenset(
    {
        *("distance", "distances", "dist", "dists", "l1", "l2", "euclidean", "manhattan", "hamming"),
        *("levenshtein", "mahalanobis", "rmsd"),
    }
)
ERROR_WORDS = frozenset(
    {
        *("error", "errors", "err", "loss", "losses", "wer", "cer", "ter", "eer", "mer", "rmse", "mse", "mae"),
        *("mape", "smape", "rmsle", "msle", "perplexity", "ppl", "nll", "logloss", "brier", "deviance", "aic"),
        *("bic", "crossentropy"),
    }
)
# A rank among others: mean_rank, but not PageRank.
BESIDE_RANK = frozenset(["mean", "avg", "average", "median", "overall", "final", "best", "total"])
# In the name of a quantity that is large where the word beside it is small, or a difference of it.
TURNED = frozenset(
    {
        *("neg", "negative", "minus", "inv", "inverse", "inverted", "reciprocal", "neglog", "nlog"),
        *("mlog", "inc", "increase", "delta", "diff", "change", "drop", "dropout", "decrease", "reduction"),
        *("gain", "improvement", "score", "similarity", "sim"),
    }
)
# Lists count that have this many steps between neighbours of different scores.
FEWEST_STEPS = 2
# Steps in all that make it evidence, of a rank column and of the mere order of rows.
RANK_STEPS, ROW_STEPS = 4, 10
# Shares of the lists that contradict the scores, for an error and for a note.
NEARLY_ALL, MOST = 0.9, 0.5


@dataclass(frozen=True)
class RowOrder:
    """How an order that rows have beside their scores agrees with these."""

    rank: str | None  # the rank column; None for the order of the rows themselves
    lists: int  # those in which at least two steps lead from one score to another
    rising: int  # those of them in which no score falls from one row to the next: the best row has the lowest score
    steps: int  # from one score to a higher one in these


@dataclass(frozen=True)
class Evidence:
    """What is known about the direction of scores apart from their values."""

    name: str  # of the column, the Series or the field
    kind: str | None = None  # what the name says the scores are, if less of it is better
    order: RowOrder | None = None  # of rows or ranks beside the scores


def evidence(name: object, scores: Scores, order: RowOrder | None = None) -> Evidence | None:
    """Return what a name and an order say about the direction of scores; None if they say nothing."""
    kind = kind_of(name) if isinstance(name, str) else None
    most = 1.0 if kind == P_VALUES else np.inf
    if kind is not None and not ((scores >= 0) & (scores <= most) | np.isnan(scores)).all():
        kind = None  # scores do not have the range of what their name says
    if kind is None and (order is None or not order.rising):
        return None
    return Evidence(str(name), kind, order)


def kind_of(name: str) -> str | None:
    """Return what a name says, if that is something of which less is better."""
    name = NUMBERED.sub("", name)
    parts = [part.lower() for part in PARTS.findall(name)]
    words = [*parts, "".join(parts), *re.findall(r"[a-z0-9]+", name.lower())]
    if TURNED.intersection(words) or MINUS.match(name):
        return None
    if COEFFICIENT.fullmatch(name.strip()) or _are_p_values(parts, words):
        return P_VALUES
    if {"evalue", "evalues", "evals"}.intersection(words):
        return E_VALUES
    named = [part.lower() for part in PARTS.findall(UNIT.sub("", name))]
    named = named[:-1] if AFTER.intersection(named[-1:]) else named
    last = {"".join(named), "".join(named[-2:]), *named[-1:]}
    for kind, known in ((DISTANCES, DISTANCE_WORDS), (ERRORS, ERROR_WORDS)):
        if known.intersection(last):
            return kind
    return RANKS if parts and parts[-1] in {"rank", "ranks"} and BESIDE_RANK.issuperset(parts[:-1]) else None


def _are_p_values(parts: list[str], words: list[str]) -> bool:
    """Return whether the words of a name say p-values, not their logarithms."""
    if any("log" in word for word in words):
        return False
    alone = {"p", "q"}.intersection(words)
    return (
        parts in (["p"], ["q"])
        or any(P_WORD.fullmatch(word) for word in words)
        or bool(alone and BESIDE_P.intersection(words))
    )


def by_rows(start: NDArray[np.int64], scores: Scores, fewest: int = FEWEST_STEPS) -> RowOrder:
    """Return how the order of rows agrees with the scores; list q begins at start[q]."""
    return _agreement(None, _lists(start, scores.size), scores, np.arange(scores.size), fewest)


def by_rank(start: NDArray[np.int64], scores: Scores, ranks: Scores, column: str) -> RowOrder:
    """Return how a rank column (1 is best) agrees with the scores; where it holds no ranks, it says nothing."""
    if not bool(((ranks >= 0) & (ranks == np.floor(ranks)) & np.isfinite(ranks)).all()):
        return RowOrder(column, 0, 0, 0)
    lists = _lists(start, scores.size)
    order = np.lexsort((ranks, lists))
    return _agreement(column, lists, scores[order], ranks[order])


def _lists(start: NDArray[np.int64], rows: int) -> NDArray[np.int64]:
    """Return the list of each row."""
    return np.repeat(np.arange(len(start)), np.diff(np.append(start, rows)))


def _agreement(
    rank: str | None, lists: NDArray[np.int64], scores: Scores, places: NDArray[Any], fewest: int = FEWEST_STEPS
) -> RowOrder:
    """Return how the order of rows agrees with their scores; rows at equal places have none."""
    before, after = scores[:-1], scores[1:]
    step = (lists[1:] == lists[:-1]) & (places[1:] > places[:-1])
    number = int(lists[-1]) + 1 if lists.size else 0
    rises = np.bincount(lists[1:][step & (after > before)], minlength=number)
    falls = np.bincount(lists[1:][step & (after < before)], minlength=number)
    counted_lists = rises + falls >= fewest
    rising = counted_lists & (falls == 0)
    return RowOrder(rank, int(counted_lists.sum()), int(rising.sum()), int(rises[rising].sum()))


def judged(found: Evidence | None, name: str) -> tuple[str, ...]:
    """Return notes on scores of which less seems better; raise if ranks, or the rows' order, contradict nearly all."""
    if found is None:
        return ()
    order = found.order
    known = order is not None and order.steps >= (ROW_STEPS if order.rank is None else RANK_STEPS)
    share = order.rising / order.lists if order is not None and known else 0.0
    if order is not None and share >= NEARLY_ALL:
        raise InputError(
            f"{name} must hold scores of which higher is better; {_contradiction(order)}. If lower is better, "
            f"pass {_remedy(found)}; if higher is, {spelled('transform', 'as_is')}."
        )
    notes: list[str] = []
    if found.kind is not None:
        alias = () if found.name == name else (shown(found.name),)
        detail = (
            f"looks like {found.kind}, where small means good, and is read as it stands: pass {_remedy(found)}, or "
            f"{spelled('transform', 'as_is')} if high means good"
        )
        notes.append(Note(Fact("direction", name, examples=alias, named=len(alias), detail=detail)))
    if order is not None and share > MOST:
        notes.append(f"{name}: {_contradiction(order)}; if lower is better, pass {_remedy(found)}")
    return tuple(notes)


def _contradiction(order: RowOrder) -> str:
    """Return which order contradicts the scores, and where."""
    where = "" if order.lists == 1 else f" in {order.rising} of {counted(order.lists, 'list')}"
    if order.rank is None:
        return f"its rows go from the lowest score to the highest{where}"
    return f"its scores rise with column {shown(order.rank)}{where}"


def _remedy(found: Evidence) -> str:
    """Return the transforms for scores of which less is better."""
    if found.kind == P_VALUES:
        return spelled("transform", "neglog10")
    if found.kind in {RANKS, E_VALUES}:
        return spelled("transform", "reciprocal" if found.kind == RANKS else "flip")
    return remedy()


def remedy() -> str:
    """Return the transforms for distances and errors."""
    return f"{spelled('transform', 'flip')} (or {spelled('transform', 'reciprocal')} if none is 0)"
