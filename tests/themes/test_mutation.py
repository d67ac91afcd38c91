"""Results do not change when the data they were made of does, and making them does not change the data."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from gallery import public_functions

import fujiscore as fj

N = 40
ITEMS = [f"item {i}" for i in range(N)]
RNG = np.random.default_rng(0)
BASE = np.sort(RNG.lognormal(size=N))[::-1]
ROWS = np.round(BASE * RNG.lognormal(0, 0.5, (6, N)) * 1000)
# Public functions that take no rankings: numbers, files, or data tables with a target.
NO_RANKINGS = {"expected_jaccard", "top_weight", "read", "scan", "rank", "study"}
# Methods that draw or write files.
DRAWN = {"plot", "report"}


def reverse(array):
    """Reverse an array in place, along its last axis."""
    array[...] = array[..., ::-1].copy()


def array_of(kind, order="C"):
    """Return a maker of arrays of one type."""

    def make(scores):
        array = np.array(scores, kind, order=order)
        return array, lambda: reverse(array)

    return make


def strided(scores):
    array = np.repeat(scores, 2, axis=-1)
    return array[..., ::2], lambda: reverse(array)


def series(scores):
    """Return a Series that shares its memory with an array, and its index with nobody."""
    buffer = np.array(scores)
    made = pd.Series(buffer, index=ITEMS, copy=False)

    def change():
        reverse(buffer)
        made.iloc[:3] = [9e9, 8e9, 7e9]

    return made, change


def as_dict(scores):
    made = dict(zip(ITEMS, scores.tolist(), strict=True))

    def change():
        made.update(zip(ITEMS, scores[::-1].tolist(), strict=True))
        made["another"] = 5.0

    return made, change


def as_list(scores):
    made = scores.tolist()
    return made, made.reverse


def pairs(scores):
    made = list(zip(ITEMS, scores.tolist(), strict=True))
    return made, lambda: made.__setitem__(slice(None), [("x", 1.0)])


def items(scores):
    """Return a list of items from best to worst."""
    made = [ITEMS[i] for i in np.argsort(-scores)]
    return made, made.reverse


def labelled(scores):
    """Return a Ranking of an array and a list of labels, which both change."""
    array, names = np.array(scores), list(ITEMS)

    def change():
        reverse(array)
        names.reverse()

    return fj.Ranking(array, names), change


def pandas_frame(rows):
    block = np.array(rows)
    made = pd.DataFrame(block.T, index=ITEMS, columns=[f"r{i}" for i in range(len(block))], copy=False)

    def change():
        reverse(block)
        made.iloc[:2, :] = 9e9

    return made, change


def polars_frame(rows):
    arrays = {f"r{i}": np.array(row) for i, row in enumerate(rows)}
    made = pl.DataFrame({"item": ITEMS, **{name: pl.Series(array) for name, array in arrays.items()}})

    def change():
        for name, array in arrays.items():
            array.flags.writeable = True
            reverse(array)
            made[0, name] = 9e9

    return made, change


def several(kind):
    """Return a maker of lists of rankings of one kind."""

    def make(rows):
        made = [SINGLE[kind](row) for row in rows]

        def change():
            for _, one in made:
                one()

        return [obj for obj, _ in made], change

    return make


def named(kind):
    """Return a maker of mappings of name to ranking of one kind."""

    def make(rows):
        objects, change = several(kind)(rows)
        made = {f"r{i}": obj for i, obj in enumerate(objects)}

        def all_of_it():
            change()
            made.clear()

        return made, all_of_it

    return make


SINGLE = {
    "float64": array_of(np.float64),
    "float32": array_of(np.float32),
    "int64": array_of(np.int64),
    "strided": strided,
    "series": series,
    "dict": as_dict,
    "list": as_list,
    "pairs": pairs,
    "ranking": labelled,
}
MANY = {
    "float64": array_of(np.float64),
    "fortran": array_of(np.float64, "F"),
    "float32": array_of(np.float32),
    "strided": strided,
    "pandas": pandas_frame,
    "polars": polars_frame,
    **{f"list of {kind}": several(kind) for kind in SINGLE},
    **{f"mapping of {kind}": named(kind) for kind in ("float64", "series", "dict", "ranking")},
}
# Of each way in which data are kept one: all functions of many rankings read them alike.
SOME = {name: MANY[name] for name in ("float64", "strided", "polars", "list of dict", "mapping of ranking")}
ARRAYS = {name: MANY[name] for name in ("float64", "fortran", "float32", "strided")}
LABELLED = {name: SINGLE[name] for name in ("series", "dict", "pairs", "ranking")}
LISTS = {**{name: SINGLE[name] for name in ("series", "dict", "ranking")}, "items": items}
# For each function: the kinds of input, and the call with as many of them as it takes.
PAIRS = {
    "auc": (SINGLE, fj.auc),
    "curve": (SINGLE, fj.curve),
    "score": (SINGLE, lambda r, s: fj.score(r, s, 5, "kendall")),
    "fuji": (SINGLE, lambda r, s: fj.fuji(r, s, 5)),
    "compare": (SINGLE, lambda r, s: fj.compare(r, s, ["fuji", "jaccard", "kendall"], k=[3])),
    "chance": (SINGLE, fj.chance),
    "bounds": (LABELLED, fj.bounds),
    "explain": (SINGLE, lambda r, s: fj.explain(r, s, 7)),
    "rbo": (LISTS, fj.rbo),
    "average_overlap": (LISTS, fj.average_overlap),
    "drift": (SINGLE, fj.drift),
    "importances": (SINGLE, lambda r, s: [fj.importances(r), fj.importances(s)]),
    "recall": (LABELLED, lambda r, s: fj.recall(r, s, 5)),
}
COLLECTIONS = {
    "rankings": (MANY, fj.rankings),
    "pairwise": (MANY, lambda a: fj.pairwise(a, corrected=True)),
    "consensus": (SOME, fj.consensus),
    "sequential_rank_agreement": (SOME, lambda a: fj.stats.sequential_rank_agreement(a, permutations=9)),
    "stability": (MANY, fj.stability),
    "stability_curve": (SOME, fj.stability_curve),
    "compare_stability": (SOME, fj.stats.compare_stability),
    "resampled_similarity": (SOME, fj.stats.resampled_similarity),
    "compare_pairs": (SOME, fj.stats.compare_pairs),
    "compare_runs": (ARRAYS, lambda a, b: fj.compare_runs(a, b, k=5)),
    "set_stability": ({"int64": array_of(np.int64), "bool": array_of(np.bool_)}, fj.stats.set_stability),
    "compare_set_stability": (
        {"int64": array_of(np.int64), "bool": array_of(np.bool_)},
        lambda a, b: fj.stats.compare_set_stability(fj.stats.set_stability(a), fj.stats.set_stability(b)),
    ),
}
# What results show only for arguments.
ASKED = {"compare_runs": lambda result: [result.explain(query) for query in result.queries[:2]]}
SETS = {"set_stability", "compare_set_stability"}


def shown(obj, depth=3):
    """Return as text all that an object shows: its public attributes, and what its methods without arguments return."""
    if isinstance(obj, (np.ndarray, str)):
        return repr(obj.tolist() if isinstance(obj, np.ndarray) else str(obj))
    if isinstance(obj, (list, tuple)):
        return repr([shown(entry, depth) for entry in obj])
    if isinstance(obj, dict):
        return repr({str(key): shown(value, depth) for key, value in obj.items()})
    if hasattr(obj, "to_csv"):
        return obj.to_csv()
    if not type(obj).__module__.startswith("fujiscore") or depth == 0:
        return repr(obj) if type(obj).__repr__ is not object.__repr__ else type(obj).__name__
    parts = [] if type(obj).__repr__ is object.__repr__ else [repr(obj), str(obj)]
    for name in sorted(dir(obj)):
        if name.startswith("_") or name in DRAWN:
            continue
        try:
            value = getattr(obj, name)
            if callable(value):
                if any(
                    p.default is p.empty and p.kind < p.VAR_POSITIONAL
                    for p in inspect.signature(value).parameters.values()
                ):
                    continue
                value = value()
        except (fj.InputError, TypeError, NotImplementedError) as error:
            value = str(error)
        parts.append(f"{name}: {shown(value, depth - 1)}")
    return "\n".join(parts)


def made(kinds, kind, name, call):
    """Return as many inputs of a kind as a call takes, and what changes them all."""
    count = sum(p.default is p.empty for p in inspect.signature(call).parameters.values() if p.kind < p.VAR_POSITIONAL)
    rows = np.median(ROWS, axis=1)[:, None] < ROWS if name in SETS else ROWS
    if name in PAIRS:
        inputs = [kinds[kind](rows[i]) for i in range(count)]
    else:
        inputs = [kinds[kind](np.roll(rows, i, axis=0)) for i in range(count)]
    return [obj for obj, _ in inputs], [change for _, change in inputs]


def flags(obj):
    """Return whether arrays can be written to."""
    return obj.flags.writeable if isinstance(obj, np.ndarray) else None


CALLS = {**PAIRS, **COLLECTIONS}
CASES = [(name, kind) for name, (kinds, _) in CALLS.items() for kind in kinds]


def test_every_public_function_is_here():
    assert set(public_functions()) == set(CALLS) | NO_RANKINGS


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_results_rest_on_no_data_of_the_caller(name, kind):
    kinds, call = CALLS[name]
    untouched, _ = made(kinds, kind, name, call)
    inputs, changes = made(kinds, kind, name, call)
    before = [pickle.dumps(obj) for obj in inputs], [flags(obj) for obj in inputs]
    result = call(*inputs)
    assert ([pickle.dumps(obj) for obj in inputs], [flags(obj) for obj in inputs]) == before or kind.endswith("ranking")
    for change in changes:
        change()
    expected = call(*untouched)
    further = ASKED.get(name, lambda _: None)
    assert shown(result) == shown(expected)
    assert shown(further(result)) == shown(further(expected))


@pytest.mark.parametrize("ks", ["exp", "all"])
def test_one_buffer_in_a_loop(ks):
    rng = np.random.default_rng(1)
    rows, other, buffer = rng.random((3, 2000)), rng.random(2000), np.empty(2000)
    results = []
    for row in rows:
        buffer[:] = row
        results.append(fj.compare(buffer, other, ks=ks))
    for row, result in zip(rows, results, strict=True):
        alone = fj.compare(row.copy(), other, ks=ks)
        assert result.auc == alone.auc
        assert result.chance["fuji"].p_value == alone.chance["fuji"].p_value
        assert shown(result.explain()) == shown(alone.explain())


@pytest.mark.parametrize("make", [array_of(np.float64), array_of(np.float64, "F"), pandas_frame, polars_frame])
def test_rankings_of_a_table_do_not_follow_it(make):
    table, change = make(ROWS)
    rankings = fj.rankings(table)
    change()
    np.testing.assert_array_equal(rankings.matrix(), ROWS)
    for ranking, row in zip(rankings, ROWS, strict=True):
        np.testing.assert_array_equal(ranking.scores, row)


def test_models_do_not_reach_rankings():
    sklearn = pytest.importorskip("sklearn.linear_model")
    X, y = np.random.default_rng(0).normal(size=(50, 5)), np.arange(50) % 2
    model = sklearn.LogisticRegression().fit(X, y)
    ranking = fj.importances(model)
    expected = ranking.scores.tolist(), ranking.signs.tolist()
    model.coef_[:] = 0.0
    assert (ranking.scores.tolist(), ranking.signs.tolist()) == expected


def test_a_transform_that_keeps_its_arrays():
    kept = []

    def transform(scores):
        kept.append(np.sqrt(scores))
        return kept[-1]

    rankings = fj.rankings(ROWS, transform=transform)
    for array in kept:
        array[:] = 0.0
    np.testing.assert_array_equal(rankings.matrix(), np.sqrt(ROWS))


class TestFrozen:
    @pytest.fixture
    def rankings(self):
        a = dict(zip("vwxyz", [5.0, -2.0, 2.0, 2.0, 0.0], strict=True))
        return fj.rankings({"a": a, "b": {"v": 1.0, "u": -3.0}}, negative="abs", missing="zero")

    def test_attributes_cannot_be_set(self, rankings):
        for obj in (rankings, rankings[0]):
            public = [name for name in dir(obj) if not name.startswith("_") and not callable(getattr(obj, name))]
            assert {"scores", "notes", "universe", "n"} <= set(public)
            for name in public:
                with pytest.raises(AttributeError):
                    setattr(obj, name, None)

    def test_arrays_cannot_be_written_to(self, rankings):
        arrays = [rankings.matrix(), *rankings.scores, np.asarray(rankings[0])]
        for ranking in rankings:
            for name in dir(ranking):
                value = None if name.startswith("_") else getattr(ranking, name)
                arrays += [
                    part for part in (value if isinstance(value, tuple) else [value]) if isinstance(part, np.ndarray)
                ]
        assert len(arrays) > 20
        for array in arrays:
            if array.base is not None or not array.flags.writeable:
                with pytest.raises(ValueError, match="read-only"):
                    array[...] = 0
            else:  # made for the caller
                array[...] = 0
        again = fj.rankings({"a": rankings[0], "b": rankings[1]})
        assert shown(again) == shown(fj.rankings({"a": copy.deepcopy(rankings[0]), "b": rankings[1]}))

    def test_labels_cannot_change(self, rankings):
        items = ["p", "q"]
        ranking = fj.Ranking([1.0, 2.0], items)
        items[0] = "changed"
        assert ranking.items == ("p", "q")
        assert isinstance(rankings.labels, tuple)
        assert all(one.items is rankings.labels for one in rankings)
        split = fj.rankings({"a": {"x": -1.0, "y": 2.0}}, negative="split")
        assert (split.split, split[0].items) == (("x", "y"), ("x (+)", "y (+)", "x (-)", "y (-)"))

    @pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda obj: pickle.loads(pickle.dumps(obj))])
    def test_copies(self, rankings, duplicate):
        for warm in (False, True):
            if warm:
                shown(rankings)
            other = duplicate(rankings)
            assert shown(other) == shown(rankings)
            assert shown(duplicate(rankings[0])) == shown(rankings[0])
            assert fj.auc(other[0], other[1]) == fj.auc(*rankings)
            with pytest.raises(AttributeError):
                other[0].scores = None
