"""The four feature rankers: against published scores, brute force and scikit-learn; on bad data; on any threads."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankers_oracle as oracle
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, f_classif, mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from fujiscore import _kernels
from fujiscore.errors import InputError, MissingExtraError
from fujiscore.rankers import as_ranker, forest_scores, genie3, mutual_information, prepare, random_forest, relief
from fujiscore.rankers import information as information_module
from fujiscore.rankers import relief as _relief_function
from fujiscore.work import tiles

RANKERS = [relief, mutual_information, genie3, random_forest]
FAST = {relief: {}, mutual_information: {}, genie3: {"trees": 20}, random_forest: {"trees": 20}}
relief_module = import_module("fujiscore.rankers.relief")
assert _relief_function is relief
by_name = pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: ranker.__name__)


def dataset(shared, name):
    if name == "digits":
        digits = load_digits()
        return pd.DataFrame(digits.data, columns=[f"a{i + 1}" for i in range(64)]), digits.target
    table = pd.read_parquet(shared / "data" / "datasets" / f"{name}.parquet")
    return table.drop(columns="target"), table["target"]


def published(shared, name, algorithm, columns):
    path = shared / "data" / "published_rankings" / f"{name}_{algorithm}.fimp"
    rows = [line.split("\t") for line in path.read_text().splitlines()[2:]]
    scores = {row[1]: float(row[3].strip("[]")) for row in rows}
    return np.array([scores[column] for column in columns])


def mixed(seed, n=70, classes=(30, 20, 12, 6, 1, 1)):
    """Numbers and categories with gaps, classes of unequal sizes, in random order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(classes)), classes))
    table = {f"x{i}": rng.normal(y * (i % 2), 1) for i in range(5)}
    table |= {f"c{i}": rng.integers(0, 2 + i, n).astype(float) for i in range(4)}
    table |= {"flat": np.full(n, 3.0), "whole": rng.integers(0, 4, n).astype(float)}
    frame = pd.DataFrame(table)
    holes = rng.random(frame.shape) < 0.15
    holes[:, :2] = False
    frame = frame.mask(pd.DataFrame(holes, columns=frame.columns))
    frame["empty"] = np.nan
    nominal = [name.startswith("c") for name in frame.columns]
    return frame, nominal, np.array(list("abcdef"))[y]


def plain(n=80, m=7, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, m))
    X[:, 2] += y
    return X, y


def as_lists(frame):
    return [[None if np.isnan(v) else v for v in frame[name].tolist()] for name in frame.columns]


class TestRelief:
    @pytest.mark.parametrize(
        ("name", "small_classes", "tolerance"),
        [
            ("sonar", "average", 1e-6),
            ("QSAR-biodegradation", "average", 1e-6),
            ("madelon", "average", 1e-6),
            ("digits", "average", 2e-4),
            ("levkemija", "average", 2e-3),
            ("srbct", "drop", 1e-6),
            ("bladderCancer", "drop", 1e-6),
        ],
    )
    def test_published_scores(self, shared, name, small_classes, tolerance):
        X, y = dataset(shared, name)
        expected = published(shared, name, "relief", X.columns)
        np.testing.assert_allclose(relief(X, y, small_classes=small_classes), expected, rtol=0, atol=tolerance)

    def test_averaged_small_classes_correlate_with_published_as_recorded(self, shared):
        for name, correlation in (("srbct", 0.935), ("bladderCancer", 0.549), ("colon", 0.9995)):
            X, y = dataset(shared, name)
            found = np.corrcoef(relief(X, y), published(shared, name, "relief", X.columns))[0, 1]
            assert found == pytest.approx(correlation, abs=6e-4)

    @pytest.mark.parametrize("small_classes", ["average", "drop"])
    @pytest.mark.parametrize("k", [1, 5, 15, 100])
    @pytest.mark.parametrize("seed", range(3))
    def test_brute_force_on_categories_gaps_and_small_classes(self, seed, k, small_classes):
        frame, nominal, y = mixed(seed)
        expected = oracle.relief(as_lists(frame), nominal, y.tolist(), k, small_classes)
        actual = relief(frame, y, neighbours=k, small_classes=small_classes, categorical=nominal)
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9)

    def test_equal_distances_go_by_row(self):
        # All differences are multiples of 1/4, so that distances are exact and most of them tie.
        rng = np.random.default_rng(5)
        X = np.vstack([rng.integers(0, 5, (298, 3)), [[0, 0, 0], [4, 4, 4]]]).astype(float)
        X[rng.random(X.shape) < 0.1] = np.nan
        y = rng.integers(0, 2, 300)
        expected = oracle.relief(as_lists(pd.DataFrame(X)), [False] * 3, y.tolist(), 7)
        np.testing.assert_allclose(relief(X, y, neighbours=7), expected, rtol=0, atol=1e-12)

    def test_the_order_in_which_neighbours_come_does_not_matter(self):
        # With threads they come in any order; with one they come by row, and the rule for ties would not be seen.
        rng = np.random.default_rng(0)
        distances = rng.integers(0, 4, 60).astype(float)
        expected = sorted((distance, row) for row, distance in enumerate(distances.tolist()))[:7]
        for _ in range(20):
            near, rows = np.full(7, np.inf), np.full(7, -1, np.int32)
            for row in rng.permutation(60):
                _kernels.relief.insert(distances[row], row, near, rows)
            assert list(zip(near.tolist(), rows.tolist(), strict=True)) == expected

    @pytest.mark.parametrize("m", [1, 7, 8, 9, 31, 33, 70])
    @pytest.mark.parametrize("n", [127, 129, 300])
    def test_sizes_around_tiles_and_chunks(self, n, m):
        X, y = plain(n, m=max(m, 3), classes=2, seed=n + m)
        X = X[:, -m:]
        z = (X - X.min(0)) / (X.max(0) - X.min(0))
        gaps = np.abs(z[:, None] - z[None])
        distances = gaps.sum(axis=2) + np.diag(np.full(n, np.inf))
        expected = np.zeros(m)
        for i in range(n):
            for c, sign in ((y[i], -1), (1 - y[i], 1)):
                rows = np.flatnonzero(y == c)
                near = rows[np.argsort(distances[i, rows], kind="stable")[:15]]
                expected += sign * gaps[i, near].mean(axis=0) / n
        np.testing.assert_allclose(relief(X, y), expected, rtol=0, atol=1e-12)

    def test_many_small_classes_in_many_groups(self, monkeypatch):
        X, _ = plain(120, m=4)
        y = np.array([f"class {i % 40:02d}" for i in range(120)])
        whole = relief(X, y, neighbours=2)
        expected = oracle.relief(as_lists(pd.DataFrame(X)), [False] * 4, y.tolist(), 2)
        np.testing.assert_allclose(whole, expected, rtol=0, atol=1e-9)
        monkeypatch.setattr(relief_module, "LIST_BYTES", 1000)
        monkeypatch.setattr(relief_module, "TASK_DIFFERENCES", 50)
        for n_jobs in (1, 2, 5):
            assert (relief(X, y, neighbours=2, n_jobs=n_jobs) == whole).all()

    def test_scale_and_shift_do_not_matter(self):
        X, y = plain()
        np.testing.assert_array_equal(relief(X * 2.0**900, y), relief(X, y))
        huge = X / np.abs(X).max() * 1.7e308  # ranges overflow
        np.testing.assert_allclose(relief(huge, y), relief(X, y), rtol=0, atol=1e-12)

    def test_columns_without_information_score_zero(self):
        X, y = plain()
        X[:, 0], X[:, 1] = 4.0, np.nan
        X[:, 3] = np.where(np.arange(80) % 2, 7.0, np.nan)  # constant where known
        scores = relief(X, y)
        assert (scores[[0, 1, 3]] == 0).all()
        np.testing.assert_array_equal(scores[[2, 4, 5, 6]], relief(X[:, [2, 4, 5, 6]], y))
        assert (relief(np.zeros((10, 2)), np.arange(10) % 2) == 0).all()

    def test_a_class_of_one_member_has_misses_only(self):
        X = np.array([[0.0], [0.25], [1.0]])
        # Row 0: hit 0.25, miss 1. Row 1: hit 0.25, miss 0.75. Row 2: no hit, misses 0.75 and 1.
        assert relief(X, ["a", "a", "b"])[0] == pytest.approx((0.75 + 0.5 + 0.875) / 3)
        assert (relief(X, ["a", "a", "b"], small_classes="drop") == 0).all()


class TestMutualInformation:
    @pytest.mark.parametrize("name", ["sonar", "QSAR-biodegradation", "digits", "madelon", "srbct", "levkemija"])
    def test_scikit_learn_with_the_same_seed(self, shared, name):
        X, y = dataset(shared, name)
        X = X.iloc[:, :200]  # scikit-learn takes long
        for seed in (0, 11):
            np.testing.assert_allclose(
                mutual_information(X, y, random_state=seed),
                mutual_info_classif(X, y, random_state=seed),
                rtol=0,
                atol=1e-10,
            )

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["madelon", "levkemija", "colon", "srbct", "bladderCancer"])
    def test_scikit_learn_on_all_columns(self, shared, name):
        X, y = dataset(shared, name)
        expected = mutual_info_classif(X, y, random_state=3, n_jobs=-1)
        np.testing.assert_allclose(mutual_information(X, y, random_state=3), expected, rtol=0, atol=1e-10)

    def test_scikit_learn_on_rows_in_either_memory_order(self):
        X, y = plain(200)
        X = np.round(X, 1) + 50
        expected = mutual_info_classif(X, y, random_state=1, n_neighbors=5)
        for order in "CF":
            actual = mutual_information(np.array(X, order=order), y, random_state=1, neighbours=5)
            np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-10)

    def test_scikit_learn_with_categories(self):
        X, y = plain(150)
        X[:, [1, 4]] = np.round(X[:, [1, 4]])
        mask = np.array([False, True, False, False, True, False, False])
        expected = mutual_info_classif(X, y, discrete_features=mask, random_state=0)
        np.testing.assert_allclose(mutual_information(X, y, categorical=mask), expected, rtol=0, atol=1e-10)
        assert mutual_information(X, y, categorical=[1])[1] == pytest.approx(
            oracle.information(X[:, 1].tolist(), y.tolist()), abs=1e-12
        )

    def test_small_classes_are_exact_where_scikit_learn_is_not(self):
        # With at most 2k + 1 members scikit-learn computes distances as x² - 2xy + y², which loses what is left of
        # nearly equal values; from 2k + 2 on it is exact.
        rng = np.random.default_rng(0)
        X = rng.integers(0, 5, (60, 20)) * 100.0 + 1000
        y = np.repeat(range(5), [5, 7, 8, 39, 1])
        spaced = information_module._spaced(X, np.random.RandomState(4).standard_normal(X.shape))
        exact = [oracle.ross(values.tolist(), y.tolist(), 3) for values in spaced]
        np.testing.assert_allclose(mutual_information(X, y, random_state=4), exact, rtol=0, atol=1e-12)
        assert np.abs(mutual_info_classif(X, y, random_state=4) - exact).max() > 0.01
        X, y = X[12:59], y[12:59]
        expected = mutual_info_classif(X, y, random_state=4)
        np.testing.assert_allclose(mutual_information(X, y, random_state=4), expected, rtol=0, atol=1e-10)

    @pytest.mark.parametrize("k", [1, 3, 10, 50])
    def test_brute_force(self, k):
        X, y = plain(60, classes=4)
        y[0] = 9
        spaced = information_module._spaced(X, np.random.RandomState(0).standard_normal(X.shape))
        expected = [oracle.ross(values.tolist(), y.tolist(), k) for values in spaced]
        np.testing.assert_allclose(mutual_information(X, y, neighbours=k), expected, rtol=0, atol=1e-12)

    def test_a_random_state_goes_on(self):
        X, y = plain()
        X = np.round(X)
        state, other = np.random.RandomState(5), np.random.RandomState(5)
        for _ in range(2):
            found = mutual_information(X, y, random_state=state)
            np.testing.assert_allclose(found, mutual_info_classif(X, y, random_state=other), rtol=0, atol=1e-10)
        drawn = [mutual_information(X, y, random_state=np.random.default_rng(seed)) for seed in (1, 1, 2)]
        assert (drawn[0] == drawn[1]).all()
        assert (drawn[0] != drawn[2]).any()

    def test_scale_does_not_matter(self):
        X, y = plain()
        for power in (-1000, -60, 60, 1020):
            assert (mutual_information(np.ldexp(X, power), y) == mutual_information(X, y)).all()

    def test_constant_columns_score_nearly_zero(self):
        X, y = plain(300)
        X[:, 0] = 5
        assert mutual_information(X, y)[0] < 0.1


class TestForests:
    def forest(self, X, y, trees, seed):
        return RandomForestClassifier(trees, max_features="sqrt", random_state=seed).fit(X.astype(np.float32), y)

    def permutation(self, seed):
        def positions(tree, feature, size):
            out = np.empty(size, np.int32)
            _kernels.forest.permutation(seed, tree, feature, out)
            return out

        return positions

    @pytest.mark.parametrize("restore", [True, False])
    @pytest.mark.parametrize("seed", [0, 7])
    def test_brute_force_with_the_same_permutations(self, seed, restore):
        X, y = plain(150, m=9, seed=seed)
        X[:, 3:5] = np.round(X[:, 3:5])
        forest = self.forest(X, y, 25, seed)
        expected = oracle.permutation_importance(
            forest, X.astype(np.float32), y.tolist(), self.permutation(seed), oracle.wrong, restore=restore
        )
        actual = random_forest(X, y, trees=25, random_state=seed, restore=restore)
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-13)
        assert np.count_nonzero(expected) == 9

    def test_trees_without_out_of_bag_rows_do_not_count(self):
        X, y = np.arange(5.0)[:, None], [0, 0, 1, 1, 1]
        forest = self.forest(X, y, 200, 0)
        assert any(len(set(bag.tolist())) == 5 for bag in forest.estimators_samples_)
        expected = oracle.permutation_importance(forest, X.astype(np.float32), y, self.permutation(0), oracle.wrong)
        assert expected[0] > 0.01
        np.testing.assert_allclose(random_forest(X, y), expected, rtol=0, atol=1e-13)

    def test_permutations_are_uniform(self):
        counts = np.zeros((6, 6))
        out = np.empty(6, np.int32)
        for tree in range(6000):
            _kernels.forest.permutation(1, tree, 3, out)
            counts[np.arange(6), out] += 1
        assert sorted(out.tolist()) == list(range(6))
        # 25 degrees of freedom: below 52.6 in 99.9% of cases.
        assert ((counts - 1000) ** 2 / 1000).sum() < 52.6

    def test_genie3_is_the_forest_s_impurity_decrease(self):
        X, y = plain()
        expected = self.forest(X, y, 30, 4).feature_importances_
        np.testing.assert_allclose(genie3(X, y, trees=30, random_state=4), expected, rtol=0, atol=1e-15)

    @pytest.mark.parametrize("name", ["digits", "sonar", "QSAR-biodegradation"])
    def test_genie3_agrees_with_the_published_scores(self, shared, name):
        X, y = dataset(shared, name)
        expected = published(shared, name, "Genie3", X.columns)
        assert np.corrcoef(genie3(X, y), expected)[0, 1] > 0.95

    @pytest.mark.parametrize("name", ["digits", "QSAR-biodegradation"])
    def test_only_without_restoring_are_the_published_scores_met(self, shared, name):
        X, y = dataset(shared, name)
        expected = published(shared, name, "RForest", X.columns)
        restored, accumulated = (random_forest(X, y, trees=100, restore=restore) for restore in (True, False))
        assert np.corrcoef(accumulated, expected)[0, 1] > 0.95
        assert np.corrcoef(restored, expected)[0, 1] < 0.7
        assert np.corrcoef(restored, genie3(X, y, trees=100))[0, 1] > 0.9

    def test_one_forest_serves_both(self):
        X, y = plain()
        both = forest_scores(X, y, trees=20, random_state=3)
        assert list(both) == ["genie3", "random_forest"]
        assert (both["genie3"] == genie3(X, y, trees=20, random_state=3)).all()
        assert (both["random_forest"] == random_forest(X, y, trees=20, random_state=3)).all()
        assert list(forest_scores(X, y, ["random_forest"], trees=2)) == ["random_forest"]
        with pytest.raises(InputError, match="methods must be one of"):
            forest_scores(X, y, ["relief"])

    def test_unused_features_score_zero(self):
        X, y = plain()
        X[:, 5] = 1
        scores = forest_scores(X, y, trees=20)
        assert scores["genie3"][5] == scores["random_forest"][5] == 0
        assert all((own == 0).all() for own in forest_scores(np.ones((20, 2)), np.arange(20) % 2, trees=3).values())

    def test_numbers_beyond_float32(self):
        X, y = plain()
        X[3, 2] = 1e39
        for ranker in (genie3, random_forest):
            with pytest.raises(InputError, match=r"float32's range .* column 2 exceed"):
                ranker(X, y)

    def test_scikit_learn_missing(self, monkeypatch):
        X, y = plain()
        monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'fujiscore\[ml\]'"):
            genie3(X, y)
        monkeypatch.setitem(sys.modules, "sklearn.base", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'fujiscore\[ml\]'"):
            as_ranker(LogisticRegression())


class TestAllRankers:
    @by_name
    def test_threads_do_not_matter(self, ranker, monkeypatch):
        monkeypatch.setattr(relief_module, "TASK_DIFFERENCES", 1000)
        X, y = plain(400, m=150)
        one, two, five = (ranker(X, y, n_jobs=n_jobs, random_state=2, **FAST[ranker]) for n_jobs in (1, 2, 5))
        assert (one == two).all()
        assert (one == five).all()
        assert one.argmax() == 2

    @by_name
    def test_all_cores_by_either_name(self, ranker):
        X, y = plain()
        assert (ranker(X, y, n_jobs=-1, **FAST[ranker]) == ranker(X, y, **FAST[ranker])).all()
        for wrong in (0, -2, 1.5, "two"):
            with pytest.raises(InputError, match="n_jobs must be a positive number of threads"):
                ranker(X, y, n_jobs=wrong)

    @by_name
    def test_score_function_of_scikit_learn(self, ranker):
        X, y = plain()
        assert SelectKBest(ranker, k=1).fit(X, y).get_support().nonzero()[0].tolist() == [2]

    @by_name
    def test_input_is_left_alone(self, ranker):
        X, y = plain()
        before = X.copy()
        X.setflags(write=False)
        ranker(X, y, **FAST[ranker])
        assert (before == X).all()

    @by_name
    def test_any_kind_of_table(self, ranker):
        X, y = plain()
        X = np.round(X, 2)
        names = [f"f{i}" for i in range(7)]
        frame = pd.DataFrame(X, columns=names)
        expected = ranker(X, y, **FAST[ranker])
        same = [X.tolist(), np.asfortranarray(X), X.astype(object), frame, frame.convert_dtypes(), frame.astype(object)]
        same += [pl.DataFrame(X, names), pa.table(frame), np.ma.masked_array(X)]
        for table in same:
            np.testing.assert_array_equal(ranker(table, y, **FAST[ranker]), expected)
        assert np.abs(ranker(X.astype(np.float32), y, **FAST[ranker]) - expected).max() < 0.05

    @by_name
    def test_any_kind_of_class(self, ranker):
        X, y = plain(classes=2)
        expected = ranker(X, y, **FAST[ranker])
        words = np.array(["no", "yes"])[y]
        same = [y.tolist(), y.astype(float), y.astype(bool), words, words.tolist(), words.astype(object), y[:, None]]
        same += [
            pd.Series(words),
            pd.Series(words, dtype="category"),
            pl.Series(words),
            pl.Series(words, dtype=pl.Enum(["no", "yes"])),
        ]
        same += [pl.Series(words).cast(pl.Categorical), pd.Series(y, dtype="Int64"), pd.DataFrame({"y": y}), y + 5]
        for target in same:
            np.testing.assert_array_equal(ranker(X, target, **FAST[ranker]), expected)

    @by_name
    def test_categories_by_type_mask_position_or_name(self, ranker):
        rng = np.random.default_rng(1)
        X, y = plain()
        words = np.array(["ash", "beech", "elm"])[(y + rng.integers(0, 2, 80)) % 3]
        codes = np.unique(words, return_inverse=True)[1]
        table = np.column_stack([X[:, :2], codes])
        expected = ranker(table, y, categorical=[False, False, True], **FAST[ranker])
        by_position = ranker(table, y, categorical=[2], **FAST[ranker])
        np.testing.assert_array_equal(by_position, expected)
        frame = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(tree=words)
        polars = pl.from_pandas(frame)
        trees = ["ash", "beech", "elm"]
        tables = [frame.astype({"tree": "category"}), polars.with_columns(pl.col("tree").cast(pl.Enum(trees)))]
        tables.append(frame.assign(tree=pd.Categorical(words, [*trees, "oak"])))
        for own in tables:
            np.testing.assert_array_equal(ranker(own, y, **FAST[ranker]), expected)
        for categorical in (["tree"], "tree", [2], [-1], np.array([False, False, True])):
            np.testing.assert_array_equal(ranker(frame, y, categorical=categorical, **FAST[ranker]), expected)
        np.testing.assert_array_equal(ranker(polars, y, categorical=["tree"], **FAST[ranker]), expected)

    def test_the_order_of_categories_is_the_column_s(self):
        y = np.repeat([0, 1, 0], 20)
        sizes = pd.Categorical(np.repeat(["small", "middle", "large"], 20), ["small", "middle", "large"], ordered=True)
        numbers = np.repeat([0.0, 1.0, 2.0], 20)[:, None]
        found = forest_scores(pd.DataFrame({"size": sizes}), y, trees=10)
        for method, scores in forest_scores(numbers, y, trees=10).items():
            assert (found[method] == scores).all()

    @by_name
    def test_bools_are_categories(self, ranker):
        X, y = plain()
        bits = X > 0
        expected = ranker(bits.astype(float), y, categorical=[True] * 7, **FAST[ranker])
        for table in (bits, pd.DataFrame(bits), pl.DataFrame(bits)):
            np.testing.assert_array_equal(ranker(table, y, **FAST[ranker]), expected)

    @by_name
    def test_progress(self, ranker, monkeypatch, capsys):
        monkeypatch.setattr(tiles, "PATIENCE", 0)
        X, y = plain()
        expected = ranker(X, y, **FAST[ranker])
        assert not capsys.readouterr().err
        np.testing.assert_array_equal(ranker(X, y, progress=True, **FAST[ranker]), expected)
        assert ranker.__name__.replace("mutual_", "mutual ") in capsys.readouterr().err
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        ranker(X, y, progress=False, **FAST[ranker])
        assert not capsys.readouterr().err

    @by_name
    def test_one_feature(self, ranker):
        X, y = plain()
        assert ranker(X[:, [2]], y, **FAST[ranker]).shape == (1,)

    @by_name
    def test_a_class_of_one_member(self, ranker):
        X, y = plain()
        y[7] = 99
        scores = ranker(X, y, **FAST[ranker])
        assert np.isfinite(scores).all()
        assert scores.argmax() == 2

    def test_importing_them_is_light(self):
        heavy = "numba sklearn pandas polars scipy narwhals tqdm"
        code = f"import sys, fujiscore.rankers; print([m for m in '{heavy}'.split() if m in sys.modules])"
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert found.stdout.strip() == "[]"

    def test_relief_and_mutual_information_need_no_scikit_learn(self):
        code = "import sys; sys.modules['sklearn'] = None\nfrom fujiscore.rankers import relief, mutual_information\n"
        code += (
            "X = [[1., 2], [2, 1], [3, 5], [4, 0]]\nprint(relief(X, [0, 0, 1, 1]), mutual_information(X, [0, 0, 1, 1]))"
        )
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


class TestPreparedTable:
    """A prepared table, and rows of it, give what the same data give when they are prepared anew."""

    @staticmethod
    def data(seed, *, gaps):
        frame, nominal, y = mixed(seed)
        if not gaps:
            frame = frame.drop(columns="empty").fillna(1.0)
        return frame, nominal[: frame.shape[1]], y

    @by_name
    def test_a_prepared_table_is_taken_as_it_is(self, ranker):
        frame, nominal, y = self.data(1, gaps=ranker is relief)
        prepared = prepare(frame, y, nominal)
        expected = ranker(frame, y, categorical=nominal, **FAST[ranker])
        np.testing.assert_array_equal(ranker(prepared, **FAST[ranker]), expected)
        np.testing.assert_array_equal(as_ranker(ranker, **FAST[ranker])(prepared), expected)
        with pytest.raises(InputError, match="X is a prepared table"):
            ranker(prepared, y)

    @by_name
    @pytest.mark.parametrize("seed", range(4))
    def test_rows_of_it(self, ranker, seed):
        frame, nominal, y = self.data(seed, gaps=ranker is relief)
        rng = np.random.default_rng(seed)
        # Few enough rows for classes and categories to vanish, and some of them twice.
        rows = np.sort(rng.choice(np.flatnonzero(np.isin(y, ["a", "c", "f"])), 25))
        part = prepare(frame, y, nominal).at(rows)
        expected = ranker(frame.iloc[rows], y[rows], categorical=nominal, **FAST[ranker])
        np.testing.assert_array_equal(ranker(part, **FAST[ranker]), expected)
        assert part.target.counts.tolist() == np.unique(y[rows], return_counts=True)[1].tolist()
        assert part.target.values.tolist() == np.unique(y[rows], return_inverse=True)[1].tolist()

    def test_missing_values_are_named(self):
        frame, nominal, y = self.data(0, gaps=True)
        with pytest.raises(InputError, match="mutual_information cannot use missing values; columns 'x2', 'x3'"):
            mutual_information(prepare(frame, y, nominal))

    def test_rows_of_one_class_are_refused(self):
        prepared = prepare(X, Y)
        with pytest.raises(InputError, match="at least two classes"):
            prepared.at(np.flatnonzero(Y == 1))
        with pytest.raises(InputError, match="a class with at least two rows"):
            prepared.at(np.array([int(np.argmax(label == Y)) for label in range(3)]))


X, Y = plain()
FRAME = pd.DataFrame(X, columns=list("abcdefg"))


def with_value(value):
    table = X.copy()
    table[5, 3] = value
    return table


class TestBadData:
    @by_name
    @pytest.mark.parametrize(
        ("table", "target", "message"),
        [
            (X, np.zeros(80), "y must hold at least two classes; all 80 rows are of class 0.0"),
            (
                X[:12],
                np.arange(12),
                "class with at least two rows.* Pass task=.regression. if it is a quantity",
            ),
            (X, [str(i) for i in range(80)], "y must hold a class with at least two rows"),
            (X, Y[:-1], "same number of rows; they have 80 and 79"),
            (X, [], "y must hold the target of each row; it is empty"),
            (X, np.where(Y == 0, np.nan, Y), "y must give every row a target"),
            (X, np.where(Y == 0, np.inf, Y), "y must give every row a target"),
            (X, [None, *Y[1:].tolist()], "y must give every row a target; 1 of 80"),
            (X, [None, *(["a", "b"] * 40)[1:]], "y must give every row a target; 1 of 80"),
            (X, pd.Series([None, *Y[1:].tolist()], dtype="Int64"), "y must give every row a target; 1 of 80"),
            (X, np.column_stack([Y, Y]), r"y must be one-dimensional: one target per row. Got shape \(80, 2\)"),
            (X, [[1], [1, 2]], "y must be one-dimensional"),
            (with_value(np.inf), Y, "X must hold finite numbers; column 3 has infinite"),
            (FRAME.replace(FRAME.iloc[5, 3], -np.inf), Y, "X must hold finite numbers; column 'd' has infinite"),
            (X[:0], [], "X must have rows and columns; got 0 rows and 7 columns"),
            (X[:, :0], Y, "X must have rows and columns; got 80 rows and 0 columns"),
            (FRAME.iloc[:0], [], "X must have rows and columns; got 0 rows"),
            (X[:, 0], Y, r"two-dimensional.* got shape \(80,\). Pass X.reshape"),
            ([[1, 2], [3]], [0, 1], "X must be a table; its rows have unequal lengths"),
            (FRAME.assign(b="high"), Y, "X must hold numbers; column 'b' holds 'high'"),
            (pl.from_pandas(FRAME).with_columns(b=pl.lit("?")), Y, "column 'b' holds '?'"),
            (np.where(X > 2.9, "?", X.astype(object)), Y, "X must hold numbers; column . holds '?'"),
            (X.astype(str), Y, "X must hold numbers; column 0 holds"),
            (X + 1j, Y, "X must hold numbers; column 0 holds"),
            (FRAME.assign(b=pd.Timestamp("2020-01-01")), Y, "X must hold numbers; column 'b' holds"),
            (FRAME.rename(columns={"b": "a"}), Y, "X must have unique column names; 'a' names more than one"),
            (FRAME, pd.Series(Y)[::-1], "rows in the same order; their indexes differ"),
        ],
    )
    def test_clear_errors(self, ranker, table, target, message):
        with pytest.raises(InputError, match=message):
            ranker(table, target)

    @pytest.mark.parametrize("ranker", RANKERS[1:], ids=lambda ranker: ranker.__name__)
    def test_missing_values_where_the_method_has_no_use_for_them(self, ranker):
        message = f"{ranker.__name__} cannot use missing values; columns 'c', 'd' have some"
        frame = FRAME.copy()
        frame.loc[3, ["c", "d"]] = np.nan
        for table in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), frame.convert_dtypes()):
            with pytest.raises(InputError, match=message):
                ranker(table, Y)
        with pytest.raises(InputError, match=r"columns 0, 1, 2, 3, 4 and 2 more have some"):
            ranker(X * np.nan, Y)

    def test_missing_values_of_any_kind_are_the_same_to_relief(self):
        frame = FRAME.round(1)
        frame.loc[::7, "c"] = np.nan
        words = pd.Series(np.where(frame["a"] > 0, "up", "down"), dtype=object)
        words[::5] = None
        frame["word"] = words.astype("category")
        expected = relief(frame, Y)
        polars = pl.from_pandas(frame).with_columns(pl.col("c").fill_nan(None))
        as_objects = frame.astype(object)
        as_objects.loc[::7, "c"] = None
        as_objects.loc[::14, "c"] = pd.NA
        for table in (polars, pa.Table.from_pandas(frame), frame.convert_dtypes(), as_objects):
            np.testing.assert_array_equal(relief(table, Y, categorical=["word"]), expected)

    @pytest.mark.parametrize("value", [0, -1, 2.5, "3", None])
    def test_counts(self, value):
        for ranker, option in ((relief, "neighbours"), (mutual_information, "neighbours"), (genie3, "trees")):
            with pytest.raises(InputError, match=f"{option} must be an integer of at least 1"):
                ranker(X, Y, **{option: value})

    @pytest.mark.parametrize("value", [-1, 2**32, 0.5, "seed"])
    def test_seeds(self, value):
        for ranker in RANKERS[1:]:
            with pytest.raises(InputError, match="random_state must be an integer from 0"):
                ranker(X, Y, random_state=value)

    def test_choices(self):
        with pytest.raises(InputError, match="small_classes must be one of 'average', 'drop'"):
            relief(X, Y, small_classes="ignore")
        with pytest.raises(InputError, match="categorical must have one entry per column of X, 7; got 2"):
            relief(X, Y, categorical=[True, False])
        for wrong in (["z"], [7], [1.5]):
            with pytest.raises(InputError, match="categorical must be a mask of 7 bools, or a list of columns"):
                relief(FRAME, Y, categorical=wrong)

    def test_few_float_classes_are_classes(self):
        assert (relief(X, Y * 0.5) == relief(X, Y)).all()
        fresh = [mutual_information(np.round(X), Y, random_state=None) for _ in range(2)]
        assert (fresh[0] != fresh[1]).any()


class TestAsRanker:
    @pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: ranker.__name__)
    def test_names(self, ranker):
        options = FAST[ranker]
        found = as_ranker(ranker.__name__, **options)(X, Y, 3)
        assert (found == ranker(X, Y, random_state=3, **options)).all()
        assert (as_ranker(ranker, **options)(X, Y, 3) == found).all()

    def test_functions(self):
        assert (as_ranker(f_classif)(X, Y, 0) == f_classif(X, Y)[0]).all()
        found = as_ranker(mutual_info_classif, n_neighbors=4)(X, Y, 5)
        assert (found == mutual_info_classif(X, Y, random_state=5, n_neighbors=4)).all()
        assert as_ranker(lambda X, y: [1] * len(X[0]))(X.tolist(), Y, 0).tolist() == [1] * 7  # noqa: ARG005

    def test_estimators(self):
        forest = RandomForestClassifier(5)
        expected = RandomForestClassifier(5, random_state=2).fit(FRAME, Y).feature_importances_
        assert (as_ranker(forest)(FRAME, Y, 2) == expected).all()
        assert not hasattr(forest, "estimators_")
        assert forest.random_state is None
        logistic = LogisticRegression()
        rows = logistic.fit(X, Y).coef_
        means = [sum(abs(row[f]) for row in rows) / len(rows) for f in range(7)]
        np.testing.assert_allclose(as_ranker(LogisticRegression())(X, Y, 0), means)
        binary = as_ranker(LinearSVC())(X, Y > 0, 0)
        np.testing.assert_allclose(binary, np.abs(LinearSVC(random_state=0).fit(X, Y > 0).coef_[0]))
        sparse = LogisticRegression().fit(X, Y).sparsify().coef_
        assert hasattr(sparse, "toarray")

    @pytest.mark.parametrize("wrong", ["ReliefF", 3, None, LogisticRegression])
    def test_what_is_no_ranker(self, wrong):
        with pytest.raises(InputError, match="ranker must be one of 'relief', 'mutual_information'"):
            as_ranker(wrong)

    def test_what_ranks_badly(self):
        with pytest.raises(InputError, match="KNeighborsClassifier has neither"):
            as_ranker(KNeighborsClassifier())(X, Y, 0)
        with pytest.raises(InputError, match=r"must return one score per feature, .*\(7,\); got shape \(2,\)"):
            as_ranker(lambda X, y: [1, 2])(X, Y, 0)  # noqa: ARG005
        with pytest.raises(InputError, match="must give every feature a finite score; it gives nan for columns 0, 1"):
            as_ranker(lambda X, y: [np.nan, np.nan] + [1] * 5)(X, Y, 0)  # noqa: ARG005
        with pytest.raises(InputError, match="An estimator takes no options here; got trees"):
            as_ranker(LogisticRegression(), trees=3)
