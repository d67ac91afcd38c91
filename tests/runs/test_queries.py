"""What compare_runs takes besides files: ids with scores, tables of rows by features, lists, other libraries."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore import InputError

pd = pytest.importorskip("pandas")

JACCARD = {"measures": ["jaccard"], "missing": "zero"}


def as_dicts(ids, scores):
    """Each row as a dict of the ids that are there."""
    return [
        {int(i): float(s) for i, s in zip(row, own, strict=True) if i != -1}
        for row, own in zip(ids, scores, strict=True)
    ]


def neighbours(points, queries, k, noise=0.0, seed=0):
    """The k nearest points of each query as ids and distances, as an index returns them; noise makes it approximate."""
    distances = np.linalg.norm(queries[:, None] - points[None], axis=2)
    seen = distances * (1 + noise * np.random.default_rng(seed).random(distances.shape))
    ids = np.argsort(seen, axis=1)[:, :k]
    return ids, np.sort(np.take_along_axis(distances, ids, axis=1), axis=1).astype(np.float32)


@pytest.fixture(scope="module")
def searches():
    rng = np.random.default_rng(1)
    points, queries = rng.normal(size=(300, 5)), rng.normal(size=(40, 5))
    return neighbours(points, queries, 10), neighbours(points, queries, 10, noise=0.5)


class TestIds:
    @pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint64])
    def test_ids_alone_are_refused(self, searches, kind):
        """Every value was 1: the ids of one row were taken for the scores of the items 0 to 9."""
        (first, _), (second, _) = searches
        for a, b in [(first.astype(kind), second.astype(kind)), (first.tolist(), second.tolist())]:
            with pytest.raises(InputError, match=r"a must hold scores, and whole numbers may be ids.*\(ids, scores\)"):
                fj.compare_runs(a, b)
        masked = np.ma.masked_equal(first, first[0, 0])
        for a, b in [(pd.DataFrame(first), pd.DataFrame(second)), (masked, masked)]:
            with pytest.raises(InputError, match="whole numbers may be ids"):
                fj.compare_runs(a, b)

    def test_ids_alone_of_each_query_are_refused(self):
        for ids in ({"q1": [7, 3, 9], "q2": [4, 8]}, {"q1": np.array([7, 3, 9])}):
            with pytest.raises(InputError, match=r"a must hold scores, and whole numbers may be ids.*\{id: score\}"):
                fj.compare_runs(ids, ids)
        pairs = {"q1": [(7, 3), (3, 2), (9, 1)], "q2": [(4, 1)]}
        dicts = {query: dict(ranking) for query, ranking in pairs.items()}
        assert fj.compare_runs(pairs, dicts).values("rbo").tolist() == [1.0, 1.0]

    def test_ids_and_distances_of_a_single_query_are_no_two_queries(self):
        pair = np.array([7, 3, 9]), np.array([0.3, 0.2, 0.1])
        with pytest.raises(InputError, match=r"whole numbers may be ids; got a row of integers.*pair of 2-D arrays"):
            fj.compare_runs(pair, pair)

    def test_overlap_of_the_sets(self, searches):
        (ids, near), (others, far) = searches
        result = fj.compare_runs((ids, near), (others, far), transform="reciprocal", k=10, **JACCARD)
        expected = [len({*a} & {*b}) / len({*a} | {*b}) for a, b in zip(ids.tolist(), others.tolist(), strict=True)]
        np.testing.assert_allclose(result.columns["jaccard"], expected)
        assert 0.3 < np.mean(expected) < 0.9
        assert result.queries.tolist() == list(range(40))

    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def test_each_row_equals_its_dict(self, data):
        rows, widths = data.draw(st.integers(1, 4)), [data.draw(st.integers(1, 5)) for _ in range(2)]
        pairs = []
        for width in widths:
            ids = [
                [*data.draw(st.lists(st.integers(0, 7), min_size=1, max_size=width, unique=True))] for _ in range(rows)
            ]
            ids = np.array([row + [-1] * (width - len(row)) for row in ids])
            scores = -np.sort(-data.draw(st.integers(0, 99)) / 10 - np.random.default_rng(width).random(ids.shape))
            pairs.append((ids, scores))
        k = data.draw(st.integers(1, 4))
        result = fj.compare_runs(*pairs, k=k)
        alone = fj.compare_runs(*(as_dicts(*pair) for pair in pairs), k=k)
        for name, values in alone.columns.items():
            np.testing.assert_array_equal(result.columns[name], values, err_msg=name)
        padded = [int((ids == -1).sum()) for ids, _ in pairs]
        for name, (ids, _), count in zip("ab", pairs, padded, strict=True):
            note = f"{name}: {count} of {ids.size} ids are -1, which stands for no item: left out"
            assert (note in result.notes) == (count > 0)

    def test_padding_of_faiss_and_its_unsigned_form(self):
        ids, scores = np.array([[3, 5, -1]]), np.array([[0.9, 0.5, -3.4e38]], np.float32)
        unsigned = ids.astype(np.uint64)
        for own in (ids, unsigned):
            result = fj.compare_runs((own, scores), (np.array([[3, 5]]), np.array([[0.9, 0.5]])), k=2)
            assert result.columns["n_a"].tolist() == [2]
            assert result.columns["fuji"].tolist() == pytest.approx([1.0])
        with pytest.raises(InputError, match="a must hold at least one score"):
            fj.compare_runs((np.array([[-1]]), np.array([[0.0]])), (ids, scores))

    def test_distances_need_a_transform(self, searches):
        with pytest.raises(InputError, match="where higher is better; those of 40 of 40 lists rise"):
            fj.compare_runs(*searches)
        (ids, near), (others, far) = searches
        flipped = fj.compare_runs((ids, 1 / near), (others, 1 / far))
        told = fj.compare_runs(*searches, transform="reciprocal")
        np.testing.assert_allclose(told.columns["fuji"], flipped.columns["fuji"], rtol=1e-5)

    def test_whole_distances_of_binary_indexes(self):
        ids, distances = np.array([[4, 2, 9]]), np.array([[1, 2, 8]], np.int32)
        result = fj.compare_runs((ids, distances), (ids, distances), transform="reciprocal", k=2)
        assert result.columns["fuji"].tolist() == [1.0]

    def test_text_ids_and_lists(self):
        a = [["x", "y"], ["z", "x"]], [[2.0, 1.0], [5.0, 4.0]]
        b = np.array([["y", "x"], ["z", "x"]], object), np.array([[2.0, 1.0], [5.0, 4.0]])
        assert fj.compare_runs(a, b, k=1, **JACCARD).columns["jaccard"].tolist() == [0.0, 1.0]

    def test_repeated_ids_follow_the_policy(self):
        pair = np.array([[1, 1, 2]]), np.array([[3.0, 2.0, 1.0]])
        with pytest.raises(InputError, match="query 0 repeats 1 item"):
            fj.compare_runs(pair, pair)
        once = fj.compare_runs(pair, pair, duplicates="max")
        assert once.columns["n_a"].tolist() == [2]

    @pytest.mark.parametrize(
        ("pair", "message"),
        [
            ((np.ones((2, 3)), np.ones((2, 3), int)), "in this order; got float64 and int64. Exchange them"),
            ((np.ones((2, 3), int), np.ones((2, 2))), r"one score for each id, shape \(2, 3\); got shape \(2, 2\)"),
            ((np.array([["a"]]), np.array([["b"]])), "the scores are <U1"),
            ((np.ones((2, 3)), np.ones((2, 3))), r"must be a file, a table"),
            ((np.ones((2, 3), int), np.ones((2, 3, 1))), r"must be a file, a table"),
        ],
    )
    def test_pairs_that_are_none(self, pair, message):
        with pytest.raises(InputError, match=message):
            fj.compare_runs(pair, pair)

    def test_as_many_queries(self):
        pair = np.arange(6).reshape(3, 2), np.tile([2.0, 1.0], (3, 1))
        fewer = pair[0][:2], pair[1][:2]
        with pytest.raises(InputError, match="a and b must have the same queries, matched by position; got 3 and 2"):
            fj.compare_runs(pair, fewer)

    def test_many_queries_are_fast(self):
        rng = np.random.default_rng(0)
        pairs = [
            (rng.permuted(np.tile(np.arange(150), (10_000, 1)), axis=1)[:, :100], -np.sort(-rng.random((10_000, 100))))
            for _ in range(2)
        ]
        fj.compare_runs(*((ids[:3], scores[:3]) for ids, scores in pairs))  # compile
        started = time.perf_counter()
        result = fj.compare_runs(*pairs, k=100, **JACCARD)
        assert time.perf_counter() - started < 10
        sample = [7, 5000, 9999]
        expected = [len({*pairs[0][0][q]} & {*pairs[1][0][q]}) for q in sample]
        np.testing.assert_allclose(result.columns["jaccard"][sample], [h / (200 - h) for h in expected])


def rows_alone(a, b, measure="fuji", k=2, **options):
    """The rows of two tables compared one by one, by the names of their columns."""
    return [fj.score(a.loc[label].to_dict(), b.loc[label].to_dict(), k, measure, **options) for label in a.index]


class TestTables:
    @pytest.fixture
    def table(self):
        values = np.random.default_rng(3).random((4, 3))
        return pd.DataFrame(values, columns=["age", "bmi", "sex"], index=["w", "x", "y", "z"])

    def test_columns_in_another_order(self, table):
        other = table[["sex", "age", "bmi"]] * [1.0, 2.0, 0.5]
        result = fj.compare_runs(table, other, k=2)
        assert result.queries.tolist() == ["w", "x", "y", "z"]
        np.testing.assert_allclose(result.columns["fuji"], rows_alone(table, other))
        same = fj.compare_runs(table, table[["sex", "age", "bmi"]])
        assert same.columns["fuji"].tolist() == [1.0] * 4

    def test_rows_are_matched_by_the_index(self, table):
        result = fj.compare_runs(table, table.iloc[::-1].drop(index="x"))
        assert sorted(result.queries) == ["w", "y", "z"]
        assert result.only_a.tolist() == ["x"]
        assert result.columns["fuji"].tolist() == [1.0] * 3
        with pytest.raises(InputError, match=r"a must label each row once, as a query; its index repeats 'w'"):
            fj.compare_runs(pd.concat([table, table.iloc[:1]]), table)

    def test_other_columns_follow_missing(self, table):
        fewer = table.drop(columns="bmi")
        with pytest.raises(InputError, match="must list the same items for each query"):
            fj.compare_runs(table, fewer, missing="raise")
        zero = fj.compare_runs(table, fewer, k=2, missing="zero")
        np.testing.assert_allclose(zero.columns["fuji"], rows_alone(table, fewer, missing="zero"))
        dropped = fj.compare_runs(table, fewer, k=2, missing="drop")
        assert dropped.columns["fuji"].tolist() == [1.0] * 4

    def test_other_libraries(self, table):
        pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
        plain, turned = table.reset_index(drop=True), table[["bmi", "sex", "age"]].reset_index(drop=True) ** 2
        expected = fj.compare_runs(plain, turned, k=2).columns["fuji"]
        for make in (pl.from_pandas, pa.Table.from_pandas):
            np.testing.assert_array_equal(fj.compare_runs(make(plain), make(turned), k=2).columns["fuji"], expected)
        np.testing.assert_array_equal(fj.compare_runs(plain, pl.from_pandas(turned), k=2).columns["fuji"], expected)

    def test_names_against_positions(self, table):
        with pytest.raises(InputError, match="b must label its items as a does; its items are positions"):
            fj.compare_runs(table.reset_index(drop=True), table.to_numpy())
        numbered = pd.DataFrame(table.to_numpy())
        assert fj.compare_runs(numbered, table.to_numpy()).columns["fuji"].tolist() == [1.0] * 4
        assert fj.compare_runs(numbered[[2, 0, 1]], numbered).columns["fuji"].tolist() == [1.0] * 4

    def test_signs_of_attributions(self, table):
        signed = table - 0.5
        result = fj.compare_runs(signed, -signed, k=2, negative="split")
        assert result.columns["fuji"].tolist() == [0.0] * 4

    def test_missing_cells(self, table):
        table.iloc[0, 0] = np.nan
        with pytest.raises(InputError, match="NaN"):
            fj.compare_runs(table, table)
        assert fj.compare_runs(table, table, nan="drop").columns["n_a"].tolist() == [2, 3, 3, 3]

    def test_named_columns_are_a_long_table(self):
        long = pd.DataFrame({"a": [1, 1, 2], "b": [5, 6, 5], "c": [0.5, 0.2, 0.1]})
        result = fj.compare_runs(long, long, by="a", item="b", score="c")
        assert result.queries.tolist() == [1, 2]


class TestLists:
    def test_dicts(self):
        a = [{"x": 3.0, "y": 1.0}, {"x": 1.0, "z": 2.0}]
        b = [{"x": 3.0, "z": 1.0}, {"x": 1.0, "z": 2.0}]
        result = fj.compare_runs(a, b, k=2, **JACCARD)
        assert result.columns["jaccard"].tolist() == pytest.approx([1 / 3, 1.0])
        same = fj.compare_runs(dict(enumerate(a)), dict(enumerate(b)), k=2, **JACCARD)
        np.testing.assert_array_equal(result.columns["jaccard"], same.columns["jaccard"])
        assert fj.compare_runs(tuple(a), tuple(b), k=2, **JACCARD).columns["jaccard"].tolist() == pytest.approx(
            [1 / 3, 1.0]
        )
        with pytest.raises(InputError, match="matched by position; got 2 and 1"):
            fj.compare_runs(a, b[:1])

    def test_checked_rankings_keep_their_labels(self):
        """A collection of rankings was an array of scores, compared by position."""
        a = fj.rankings({"q1": {"x": 3, "y": 1}, "q2": {"x": 1, "y": 2}})
        b = fj.rankings({"q2": {"y": 2, "x": 1}, "q1": {"y": 1, "x": 3}})
        result = fj.compare_runs(a, b, k=1)
        assert result.queries.tolist() == ["q1", "q2"]
        assert result.columns["fuji"].tolist() == [1.0, 1.0]

    def test_checked_rankings_keep_their_signs(self):
        signed = [{"x": 3.0, "y": -2.0, "z": 1.0}, {"x": -1.0, "y": 5.0, "z": 2.0}]
        a = [fj.rankings([row], negative="abs")[0] for row in signed]
        b = [fj.rankings([{item: -score for item, score in row.items()}], negative="abs")[0] for row in signed]
        assert fj.compare_runs(a, b, k=2).columns["fuji"].tolist() == [1.0, 1.0]
        for options in ({"negative": "split"}, {"measures": ["sign_agreement"]}):
            result = fj.compare_runs(a, b, k=2, **options)
            assert result.columns[result.measures[0].name].tolist() == [0.0, 0.0], options

    def test_mean_magnitudes_have_no_signs(self):
        row = fj.importances(np.array([[1.0, -2.0], [3.0, 1.0]]))
        for options in ({"negative": "split"}, {"measures": ["sign_agreement"]}):
            with pytest.raises(InputError, match=r"a must have signs for .*; it holds mean magnitudes over 2 rows"):
                fj.compare_runs({"q": row}, {"q": row}, **options)


class Run:
    """The parts of a ranx.Run that are read; the real one is in tests/inputs/test_models.py."""

    def __init__(self, run):
        self.run = run

    def to_dict(self):
        return {query: dict(scores) for query, scores in self.run.items()}


Run.__module__ = "ranx.data_structures.run"


def test_runs_of_ranx():
    a, b = {"q1": {"d1": 0.5, "d2": 0.3}}, {"q1": {"d1": 0.5, "d3": 0.3}}
    result = fj.compare_runs(Run(a), Run(b), k=2)
    expected = fj.compare_runs(a, b, k=2)
    assert result.queries.tolist() == ["q1"]
    np.testing.assert_array_equal(result.columns["fuji"], expected.columns["fuji"])
    mixed = fj.compare_runs(Run(a), b, k=2)
    np.testing.assert_array_equal(mixed.columns["fuji"], expected.columns["fuji"])


def test_frames_of_pyterrier():
    """The text of a query is no identifier: two queries may have the same, and one may be rewritten."""
    frame = pd.DataFrame(
        {
            "qid": ["1", "1", "2", "2"],
            "docid": [10, 11, 10, 11],
            "docno": ["d10", "d11", "d10", "d11"],
            "rank": [0, 1, 0, 1],
            "score": [9.0, 8.0, 7.0, 6.0],
            "query": ["apples", "apples", "apples", "apples"],
        }
    )
    other = frame.assign(query="pears", docid=[7, 8, 7, 8], score=[9.0, 8.0, 6.0, 7.0])
    result = fj.compare_runs(frame, other, k=1)
    assert result.queries.tolist() == ["1", "2"]
    assert result.columns["jaccard"].tolist() == [1.0, 0.0]
    assert any("query column 'qid', item column 'docno', score column 'score'" in note for note in result.notes)
    columns = ["query", "docid", "docno", "score", "qid"]
    assert fj.compare_runs(frame[columns], other[columns], k=1).queries.tolist() == ["1", "2"]
    digits = frame.assign(docno=[70, 71, 70, 71]), other.assign(docno=[70, 71, 70, 71])
    assert fj.compare_runs(*digits, k=1).columns["jaccard"].tolist() == [1.0, 0.0]
