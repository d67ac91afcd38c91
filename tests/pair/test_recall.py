"""Recall of an approximate search: against the definition, item by item, and what it says about unknown scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

import fujiscore as fj


def worth(true, kth, distances):
    """What one returned item counts, from the definition."""
    if distances:
        return 1.0 if true <= kth else kth / true
    return 1.0 if true >= kth else max(true, 0.0) / kth


def oracle(truth, exact, returned, k, *, distances, epsilon):
    """Recall, plain recall and recall within epsilon of one query whose true scores are all known."""
    top = exact[:k]
    kth = truth[top[-1]]
    answers = list(dict.fromkeys(returned[:k]))
    limit = [truth[x] <= kth * (1 + epsilon) if distances else truth[x] * (1 + epsilon) >= kth for x in answers]
    by_score = sum(worth(truth[x], kth, distances) for x in answers) / k
    return by_score, len(set(answers) & set(top)) / k, sum(limit) / k


# Few levels, so that ties and near ties are common; and zeros.
LEVELS = st.sampled_from([0.0, 0.0, 0.25, 0.5, 0.505, 0.75, 1.0, 2.0])


@st.composite
def searches(draw):
    n, queries = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    listed, answers = draw(st.integers(1, n)), draw(st.integers(1, n + 1))
    truth = [draw(st.lists(LEVELS, min_size=n, max_size=n)) for _ in range(queries)]
    returned = [draw(st.lists(st.integers(0, n - 1), min_size=answers, max_size=answers)) for _ in range(queries)]
    return (
        truth,
        listed,
        returned,
        draw(st.integers(1, listed)),
        draw(st.booleans()),
        draw(st.sampled_from([0, 0.01, 0.5])),
    )


def exact_lists(truth, listed, distances):
    """The best items of each query, and their scores, as ann-benchmarks stores them."""
    ids = [sorted(range(len(own)), key=lambda x, own=own: own[x] if distances else -own[x])[:listed] for own in truth]
    return ids, [[own[x] for x in best] for own, best in zip(truth, ids, strict=True)]


@given(searches())
def test_recall_is_that_of_the_definition(case):
    truth, listed, returned, k, distances, epsilon = case
    ids, best = exact_lists(truth, listed, distances)
    given_scores = [[own[x] for x in row] for own, row in zip(truth, returned, strict=True)]
    options = {"distances": distances, "epsilon": epsilon}
    result = fj.recall((ids, best), returned, k, scores=given_scores, **options)
    expected = [oracle(*row, k, **options) for row in zip(truth, ids, returned, strict=True)]
    assert result.values == pytest.approx([row[0] for row in expected])
    assert result.plain == pytest.approx([row[1] for row in expected])
    assert result.within == pytest.approx([row[2] for row in expected])
    assert result.known
    assert result.upper == pytest.approx(result.values)
    assert result.mean == pytest.approx(np.mean([row[0] for row in expected]))
    assert (result.plain <= result.values + 1e-12).all()
    assert (result.values <= 1 + 1e-12).all()
    assert (result.within <= (1 + epsilon) * result.values + 1e-12).all()


@given(searches())
def test_one_query_at_a_time_gives_the_same(case):
    truth, listed, returned, k, distances, epsilon = case
    ids, best = exact_lists(truth, listed, distances)
    many = fj.recall((ids, best), returned, k, distances=distances, epsilon=epsilon)
    for q, (row, scores) in enumerate(zip(ids, best, strict=True)):
        exact = dict(zip(row, scores, strict=True))
        one = fj.recall(exact, returned[q], k, distances=distances, epsilon=epsilon)
        for name in ("values", "upper", "plain", "within", "within_upper"):
            assert getattr(one, name) == pytest.approx(getattr(many, name)[q : q + 1]), name


@given(searches())
def test_unknown_scores_are_bounded_by_the_last_known_one(case):
    """The bounds hold whatever the truth, and are the worst and the best that the exact list allows."""
    truth, listed, returned, k, distances, epsilon = case
    ids, best = exact_lists(truth, listed, distances)
    options = {"distances": distances, "epsilon": epsilon}
    result = fj.recall((ids, best), returned, k, **options)
    for q, own in enumerate(truth):
        last = best[q][-1]
        at_best = [own[x] if x in ids[q] else last for x in range(len(own))]
        at_worst = [own[x] if x in ids[q] else (np.inf if distances else 0.0) for x in range(len(own))]
        assert result.upper[q] == pytest.approx(oracle(at_best, ids[q], returned[q], k, **options)[0])
        assert result.within_upper[q] == pytest.approx(oracle(at_best, ids[q], returned[q], k, **options)[2])
        if last > 0:
            assert result.values[q] == pytest.approx(oracle(at_worst, ids[q], returned[q], k, **options)[0])
        true = oracle(own, ids[q], returned[q], k, **options)
        assert result.values[q] - 1e-12 <= true[0] <= result.upper[q] + 1e-12
        assert result.within[q] <= true[2] <= result.within_upper[q]
        assert result.plain[q] == pytest.approx(true[1])
    strangers = any(x not in ids[q] for q, row in enumerate(returned) for x in row[:k])
    assert strangers == any("no true score" in note for note in result.notes)


@given(st.permutations(range(8)), st.integers(1, 5))
def test_without_near_ties_it_is_plain_recall(order, k):
    """Items outside the top k are worth nothing where their scores are 0."""
    exact = {x: 9.0 - x if x < k else 0.0 for x in range(8)}
    result = fj.recall(exact, list(order), k)
    expected = len(set(order[:k]) & set(range(k))) / k
    assert (result.mean, result.plain[0]) == pytest.approx((expected, expected))


def test_equally_good_items_are_not_errors():
    exact = {"a": 2.0, "b": 1.0, "c": 1.0, "d": 1.0}
    result = fj.recall(exact, ["d", "c"], 2)
    assert (result.values, result.within, result.plain) == (1.0, 1.0, 0.0)
    near = fj.recall({"a": 1.0, "b": 2.0, "c": 2.0}, ["a", "c"], 2, distances=True)
    assert (near.mean, near.plain[0]) == (1.0, 0.5)


def test_it_is_the_membership_that_fuji_uses():
    """What a returned item is worth is its membership in the exact top k."""
    rng = np.random.default_rng(1)
    exact = {f"x{i}": score for i, score in enumerate(rng.random(30))}
    found = {item: score * rng.uniform(0.5, 1) for item, score in exact.items()}
    for k in (1, 5, 20):
        why = fj.explain(exact, found, k)
        inside = [m for m, s in zip(why.membership_r, why.membership_s, strict=True) if s == 1]
        assert fj.recall(exact, found, k).mean == pytest.approx(sum(inside) / k)


def test_missing_and_repeated_answers_count_nothing_and_are_said():
    ids, near = np.array([[4, 2, 9], [1, 2, 3]]), np.array([[1.0, 2.0, 4.0], [1.0, 1.0, 1.0]])
    result = fj.recall((ids, near), np.array([[4, -1, -1], [2, 2, 3]]), 3, distances=True)
    assert result.values.tolist() == pytest.approx([1 / 3, 2 / 3])
    assert result.upper.tolist() == result.values.tolist()
    assert result.notes == (
        "1 returned item repeated within a query: counted once",
        "2 of 6 answers were not returned: worth 0",
    )
    short = fj.recall((ids, near), np.array([[4], [1]]), 2, distances=True)
    assert short.values.tolist() == [0.5, 0.5]
    assert short.notes == ("2 of 4 answers were not returned: worth 0",)


def test_only_minus_one_stands_for_no_item():
    assert fj.recall(([[-7, 5]], [[2.0, 1.0]]), [[-7]], 1).mean == 1.0
    labels = np.array([[3, 2**64 - 1]], np.uint64)  # -1, unsigned
    result = fj.recall((np.array([[3, 4]], np.uint64), [[2.0, 1.0]]), labels, 2)
    assert (result.mean, result.notes) == (0.5, ("1 of 2 answers were not returned: worth 0",))
    hashes = np.array([[2**63 + 5, 2**64 - 1]], np.uint64)
    assert fj.recall((hashes, [[2.0, 1.0]]), hashes, 2).mean == 1.0


def test_distances_that_are_read_as_scores_are_noticed():
    exact = {"a": 0.1, "b": 0.2, "c": 0.9}
    note = "the returned items run from worst to best by the scores of exact: pass distances=True if lower is better"
    assert fj.recall(exact, ["a", "b"], 2).notes == (note,)
    assert fj.recall(exact, ["a", "b"], 2, distances=True).notes == ()
    assert "pass distances=False" in fj.recall(exact, ["c", "b"], 2, distances=True).notes[0]
    assert fj.recall(exact, ["c"], 1).notes == ()


def test_unknown_scores_give_an_interval_and_a_note():
    exact = {"a": 1.0, "b": 0.8, "c": 0.4}
    result = fj.recall(exact, ["a", "x"], 2)
    assert (result.values[0], result.upper[0]) == (0.5, 0.75)
    assert "recall              0.5000 to 0.7500" in str(result)
    assert "1 of 2 returned items are not in exact and have no true score: worth 0 at least" in result.notes[0]
    assert "pass scores, or a longer exact answer" in result.notes[0]
    assert fj.recall(exact, ["a", "x"], 2, scores={"x": 0.2}).mean == pytest.approx(0.625)
    at_the_end = fj.recall(exact, ["a", "b", "x"], 3)
    assert at_the_end.upper[0] == 1.0
    assert "so that the upper bound counts them fully" in at_the_end.notes[0]
    assert list(result.to_frame().columns) == ["query", "recall", "plain", "within", "recall_upper", "within_upper"]


def test_ids_of_another_kind_are_noticed():
    note = "no returned item is in exact: check that both use the same ids"
    assert note in fj.recall({"1": 2.0, "2": 1.0}, [1, 2], 2).notes
    with pytest.raises(fj.InputError, match="must use the same ids; got int64 and <U1"):
        fj.recall(([[1, 2]], [[2.0, 1.0]]), [["1", "2"]], 2)


def test_a_frame_has_one_row_per_query():
    result = fj.recall(([[1, 2], [3, 4]], [[2.0, 1.0], [4.0, 1.0]]), [[1, 2], [4, 3]], 1)
    table = result.to_frame()
    assert table["recall"].tolist() == [1.0, 0.25]
    assert list(table.columns) == ["query", "recall", "plain", "within"]
    assert str(result).splitlines()[0] == "k = 1, 2 queries"


def test_negative_scores_below_the_top_are_worth_nothing():
    result = fj.recall({"a": 1.0, "b": 0.5, "c": -3.0}, ["a", "c"], 2)
    assert result.mean == 0.5
    zero = fj.recall({"a": 1.0, "b": 0.0, "c": -3.0, "d": 0.0}, ["d", "c"], 2)
    assert (zero.mean, zero.plain[0]) == (0.5, 0.0)


@pytest.mark.parametrize(
    ("exact", "approximate", "options", "message"),
    [
        ({"a": 1.0}, ["a"], {"k": 2}, "k must be at most 1, the length of exact; got 2"),
        ({"a": 1.0}, ["a"], {"k": 0}, "k must be an integer of at least 1"),
        ([3.0, 2.0], [0], {"k": 1}, "exact must label its items"),
        ({"a": 1.0}, [0.5], {"k": 1}, "approximate must list items from best to worst; got numbers that are not whole"),
        ({"a": -1.0}, ["a"], {"k": 1}, "exact must have a k-th score of at least 0"),
        ({"a": -1.0}, ["a"], {"k": 1, "distances": True}, "exact must hold distances of at least 0; got -1"),
        (["a", "b"], ["a"], {"k": 1, "distances": True}, "it is a list without scores"),
        ({"a": 1.0}, ["a"], {"k": 1, "epsilon": -1}, "epsilon must be a number of at least 0; got -1"),
        (
            ([[1, 2]], [[1.0, 2.0]]),
            [[1]],
            {"k": 1},
            "query 0 does not. Sort each row by its scores, or pass distances=True",
        ),
        (([[1, 2]], [[2.0, 1.0]]), [[1]], {"k": 1, "distances": True}, "or pass distances=False if higher is better"),
        (([[1, 1]], [[2.0, 1.0]]), [[1]], {"k": 1}, "exact must list each item once; query 0 repeats one"),
        (([[1, 2]], [[2.0, 1.0]]), [[1], [2]], {"k": 1}, "must answer the same queries; got 1 and 2 rows"),
        (([[1, 2]], [[2.0]]), [[1]], {"k": 1}, r"exact must hold one true score for each id, shape \(1, 2\)"),
        (([[1, 2]], [[2.0, np.nan]]), [[1]], {"k": 1}, "exact must hold finite true scores; query 0 has nan"),
        (([[1.5, 2]], [[2.0, 1.0]]), [[1]], {"k": 1}, r"exact must have ids, .* Pass \(ids, scores\), in this order"),
        (([[1, 2]], [[2.0, 1.0]]), ([[1]], [[2.0]]), {"k": 1}, "Pass true scores apart from ids, as scores"),
        (np.array([[1, 2]]), [[1]], {"k": 1}, r"exact must have true scores beside the ids: pass \(ids, scores\)"),
        (([[1, -1]], [[1.0, 3e38]]), [[1]], {"k": 1, "distances": True}, "exact must list items; -1 stands for none"),
        (([[1, 2]], [[1.0, np.inf]]), [[1]], {"k": 1, "distances": True}, "Leave out columns that some queries do not"),
        (([[1], [2, 3]], [[2.0], [1.0]]), [[1]], {"k": 1}, "got rows of unequal length"),
        (
            ([[1, 2]], [[1.0, 4.0]]),
            [[2]],
            {"k": 1, "distances": True, "scores": [[2.0]]},
            "exact has 4 for the same item",
        ),
        (
            ([[1, 2]], [[1.0, 4.0]]),
            [[3]],
            {"k": 1, "distances": True, "scores": [[2.0]]},
            "exact lacks the item, though",
        ),
        ({"a": 1.0}, ["b"], {"k": 1, "scores": {"b": np.inf}}, "scores must be finite; got inf"),
    ],
)
def test_what_cannot_be_right_is_refused(exact, approximate, options, message):
    with pytest.raises(fj.InputError, match=message):
        fj.recall(exact, approximate, **options)


def test_rounding_of_the_true_scores_is_no_contradiction():
    near = np.array([[0.1, 0.2, 0.3]])
    rounded = near.astype(np.float32)[:, ::-1]
    assert fj.recall(([[5, 6, 7]], near), [[7, 6, 5]], 3, scores=rounded, distances=True).mean == 1.0


def test_many_queries_are_one_pass():
    """Ten thousand queries against the definition of a sample of them."""
    rng = np.random.default_rng(2)
    truth = rng.random((10_000, 40))
    ids = np.argsort(truth, axis=1)[:, :20]
    returned = np.argsort(truth + rng.normal(0, 0.05, truth.shape), axis=1)[:, :10]
    options = {"distances": True, "epsilon": 0.1}
    scores = np.take_along_axis(truth, returned, axis=1)
    result = fj.recall((ids, np.take_along_axis(truth, ids, axis=1)), returned, 10, scores=scores, **options)
    for q in range(0, 10_000, 997):
        expected = oracle(truth[q], ids[q].tolist(), returned[q].tolist(), 10, **options)
        assert (result.values[q], result.plain[q], result.within[q]) == pytest.approx(expected)
    assert result.plain.mean() < result.mean < 1


@pytest.mark.parametrize("tied", [False, True])
def test_ndcg_is_that_of_scikit_learn(tied):
    """With ties in the order as scikit-learn has them: tied items share their mean gain."""
    rng = np.random.default_rng(3)
    for n in (2, 5, 30):
        gains, scores = rng.random(n), rng.random(n)
        if tied:
            gains, scores = np.round(gains, 1) + (np.arange(n) == 0), np.round(scores, 1)
        for k in range(1, n + 1):
            expected = ndcg_score([gains], [scores], k=k)
            assert fj.score(gains, scores, k, "ndcg") == pytest.approx(expected)
        by_order = fj.score(gains, scores, n, "ndcg", ties="stable")
        assert by_order == pytest.approx(ndcg_score([gains], [-np.argsort(np.argsort(-scores, kind="stable"))]))
    assert np.isnan(fj.score([0, 0], [2, 1], 1, "ndcg"))
    assert fj.score([1, -5], [2, 1], 1, "nDCG", negative="clip") == 1
