"""Descriptions of parameters that many functions and methods share, and how docstrings get them."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import cleandoc, isfunction, signature
from typing import Any, TypeVar

F = TypeVar("F", bound="Callable[..., Any]")
C = TypeVar("C", bound=type)
SECTIONS = re.compile(r"\n\n(?=[A-Z]\w+\n---+\n)")

# Of functions.
DESCRIPTIONS = """
r, s : array-like, Series, dict of item to score, Ranking or fitted model
    Two rankings of the same n items, higher is better. Labelled ones are aligned by label; others must be in the same
    item order.
rankings : mapping, DataFrame, 2-D array, sequence or Rankings
    The rankings of n items: a mapping of name to ranking, a DataFrame with one column per ranking, a 2-D array with one
    row per ranking, or a sequence of rankings; see `rankings`.
k : int or pair of int
    Number of top items, from 1 to n; a pair (k1, k2) for top sets of different sizes.
measure : str or Measure
    A name in `MEASURES`, with parameters as in "rbo:0.98" or "rbo(p=0.98)".
measures : sequence of str or Measure
    Names in `MEASURES`, with parameters as in "rbo:0.98" or "rbo(p=0.98)".
ks : {"all", "exp", "squared"} or increasing integers
    Where to evaluate: 1..n; 1, 2, 4, ..., n; 1, 4, 9, ..., n; or the given k. For truncated lists n is the length of
    the shorter one.
alternative : {"greater", "less", "two-sided"}
    Which values count as extreme in p-values: at least as large, at most as large, or both.
adjust : {"bh", "holm"}
    How p-values are adjusted for their number: Benjamini-Hochberg controls the share of false discoveries, Holm the
    probability of any.
corrected : bool
    Whether to correct for chance: 0 is chance level, 1 the maximum. The raw values come from the same pass.
confidence : float
    Level of the intervals, between 0 and 1.
random_state : int, Generator, RandomState or None
    Seed of the random numbers; None for a fresh one.
ties : {"closed", "stable"}
    Ties at the k-th score: include every tied item, or break ties by input order (as the published results do).
zero_tail : {"include", "exclude", "cap"}
    Where the k-th score is 0: whether items outside, tied with it at 0, count as members (as in the paper's algorithm
    and results) or not (as its equation says). With "cap" top sets hold positive scores only, so that their size is at
    most the number of these.
negative : {"raise", "clip", "abs", "split"}
    How to treat negative scores: raise; order by them but count them as 0; use magnitudes; or split every item x into
    "x (+)" and "x (-)", ranked by magnitude, so that opposite signs share nothing. -inf is negative.
nan : {"raise", "zero", "drop"}
    How to treat NaN scores: raise, replace with 0, or drop the item from all rankings.
missing : {"raise", "zero", "drop"}
    How to treat items that a ranking lacks: raise; score them 0, below every listed item; or drop them from all
    rankings. With a universe, "raise" means "zero".
duplicates : {"raise", "max", "mean", "first"}
    How to treat items that a ranking lists more than once: raise, or keep the best, the mean or the first score.
transform : {"neglog10", "exp", "reciprocal", "flip", "minmax", "rank", "abs", "as_is"} or callable, optional
    Turn scores into "higher is better, with a meaningful zero": p-values (neglog10), log-probabilities (exp), distances
    or ranks (reciprocal: 1/score), distances and errors (flip: the least becomes 1, the greatest 0), scores with an
    arbitrary zero (minmax: the least becomes 0, the greatest 1), positions (rank: 1/rank), magnitudes (abs), or a
    function of the array. "as_is" says that higher is better: scores stay as they are, whatever their name or order
    suggests. One per ranking, as in ("exp", None), or a mapping of name to transform.
universe : int or collection of items, optional
    The items that truncated lists were drawn from, or their number: what chance depends on.
n_jobs : int, optional
    Number of threads; all cores by default. The result does not depend on it.
executor : concurrent.futures.Executor or distributed.Client, optional
    Where to run instead: a pool of processes, or a Dask cluster.
progress : bool, optional
    Whether to show a progress bar; by default on a terminal, if it takes a while.
"""

# Of methods of results.
OF_METHODS = """
ax : matplotlib Axes, optional
    Where to draw; by default on new Axes.
library : {"pandas", "polars"}, optional
    Whose DataFrame to return; by default the one that is installed, pandas before polars.
rows : int, optional
    The most rows of each table; None for all.
confidence : float
    The level, between 0 and 1.
measure : str or Measure, optional
    One of the result's measures; by default the first.
number : int
    How many to return or show.
verdict : sequence of str
    Lines of gates, to put first.
position : int
    Of the item, from 0.
path : str or path-like
    The file to write.
force : bool
    Whether to replace what is there.
items : int
    The most items to draw.
clustered : bool
    Whether to put similar rankings next to each other.
q : float
    The share of queries below the quantile, from 0 to 1.
value : float
    The value.
run : {"a", "b"}
    The run.
query : object
    The query, as it is named in `.queries`.
first, second : str
    The names of the methods.
names : sequence of str
    What to call those that are compared.
"""


def documented(function: F, descriptions: str = "") -> F:
    """Complete a docstring: every parameter is described in the signature's order, by default as it is elsewhere."""
    # `descriptions` go before the shared ones, those of the docstring itself before both. Without docstrings (python
    # -OO) nothing is done.
    if function.__doc__:
        head, *sections = SECTIONS.split(cleandoc(function.__doc__))
        own = _described(sections.pop(0)) if sections and sections[0].startswith("Parameters") else {}
        known = {**SHARED, **_described(descriptions), **own}
        entries = dict.fromkeys(known[name] for name in signature(function).parameters if name in known)
        described = ["\n".join(["Parameters", "----------", *entries])] if entries else []
        function.__doc__ = "\n\n".join([head, *described, *sections])
    return function


def _described(text: str) -> dict[str, str]:
    """Return the entry of each parameter; those described together share one."""
    entries = text.strip().replace("\n    ", "\0").split("\n")
    split = ((entry.partition(" : ")[0], entry.replace("\0", "\n    ")) for entry in entries)
    return {name.strip(" *"): entry for names, entry in split for name in names.split(",")}


def complete_methods(kind: C) -> C:
    """Complete the docstrings of a class's public methods."""
    for name, member in vars(kind).items():
        code = member.__code__ if isfunction(member) and not name.startswith("_") else None
        if code and code.co_argcount + code.co_kwonlyargcount > 1:
            documented(member, OF_METHODS)
    return kind


SHARED = _described(DESCRIPTIONS)
