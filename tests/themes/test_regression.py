"""Rankers of a quantity, and SURF: against brute force, scikit-learn and scikit-rebate; on edge cases and threads."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import rankers_oracle as oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import digamma
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.feature_selection import SelectKBest, f_regression, mutual_info_regression
from sklearn.linear_model import Lasso, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fujiscore as fj
from fujiscore import _kernels
from fujiscore.errors import InputError
from fujiscore.rankers import (
    forest_scores,
    genie3,
    multisurf,
    mutual_information,
    prepare,
    random_forest,
    rank,
    relief,
    surf,
)

relief_module = import_module("fujiscore.rankers.relief")
REGRESSION = {"task": "regression"}
RANKERS = [relief, mutual_information, genie3, random_forest, surf, multisurf]
FAST = {genie3: {"trees": 20}, random_forest: {"trees": 20}}
by_name = pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: ranker.__name__)
without_forests = pytest.mark.parametrize("ranker", [relief, surf, multisurf], ids=lambda ranker: ranker.__name__)


def plain(n=80, m=7, seed=0):
    """Numbers, and a quantity that depends on the third."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    return X, 3 * X[:, 2] + rng.normal(size=n)


def mixed(seed, n=50):
    """Numbers and categories with gaps, and a quantity with ties."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n).round(1)
    table = {f"x{i}": rng.normal(y * (i % 2), 1) for i in range(4)}
    table |= {f"c{i}": rng.integers(0, 2 + i, n).astype(float) for i in range(3)}
    table |= {"flat": np.full(n, 3.0), "whole": rng.integers(0, 4, n).astype(float)}
    frame = pd.DataFrame(table)
    frame = frame.mask(pd.DataFrame(rng.random(frame.shape) < 0.15, columns=frame.columns))
    frame["empty"] = np.nan
    return frame, [name.startswith("c") for name in frame.columns], y


def as_lists(frame):
    """Return the columns as lists, None for missing."""
    values = frame.to_numpy() if isinstance(frame, pd.DataFrame) else frame
    return [[None if np.isnan(v) else v for v in column] for column in values.T.tolist()]


# Small tables of multiples of 1/4, so that distances are exact and many of them tie.
@st.composite
def tables(draw):
    n, m = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    cells = st.sampled_from([0.0, 1.0, 2.0, 4.0, None])
    rows = draw(st.lists(st.lists(cells, min_size=m, max_size=m), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n).filter(lambda y: len(set(y)) > 1))
    return rows, draw(st.lists(st.booleans(), min_size=m, max_size=m)), [float(v) for v in y]


class TestRReliefF:
    @pytest.mark.parametrize("k", [1, 5, 15, 100])
    @pytest.mark.parametrize("seed", range(2))
    def test_brute_force_on_categories_and_gaps(self, seed, k):
        frame, nominal, y = mixed(seed)
        expected = oracle.rrelief(as_lists(frame), nominal, y.tolist(), k)
        actual = relief(frame, y, neighbours=k, categorical=nominal, **REGRESSION)
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9)
        assert np.abs(expected).max() > 0.01

    @given(tables(), st.integers(1, 12))
    @settings(max_examples=60, deadline=None)
    def test_brute_force_on_small_tables(self, table, k):
        rows, nominal, y = table
        expected = oracle.rrelief([list(column) for column in zip(*rows, strict=True)], nominal, y, k)
        X = np.array(rows, dtype=float)
        actual = relief(X, y, neighbours=k, categorical=nominal, **REGRESSION)
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9)

    @pytest.mark.parametrize(("n", "m"), [(127, 1), (129, 33), (300, 17)])
    def test_sizes_around_tiles_and_lanes(self, n, m):
        X, y = plain(n, max(m, 3), seed=n)
        X = X[:, -m:]
        z = (X - X.min(0)) / (X.max(0) - X.min(0))
        gaps = np.abs(z[:, None] - z[None])
        distances = gaps.sum(axis=2) + np.diag(np.full(n, np.inf))
        near = np.argsort(distances, axis=1, kind="stable")[:, :15]
        of_target = (np.abs(y[near] - y[:, None]) / np.ptp(y))[..., None]
        differences = np.take_along_axis(gaps, near[..., None], axis=1)
        expected = (of_target * differences).sum((0, 1)) / of_target.sum()
        expected -= ((1 - of_target) * differences).sum((0, 1)) / (1 - of_target).sum()
        np.testing.assert_allclose(relief(X, y), expected, rtol=0, atol=1e-12)

    def test_two_rows(self):
        assert relief([[1.0, 5], [3, 5]], [2.5, 7.5], **REGRESSION).tolist() == [1.0, 0.0]

    def test_neighbours_of_the_same_target(self):
        # Rows 0 and 1 are nearest to each other and have the same target, and so have rows 2 and 3: no pair differs.
        X = np.array([[0.0, 0], [1, 0], [9, 1], [10, 1]])
        assert relief(X, [1.5, 1.5, 4, 4], neighbours=1, **REGRESSION).tolist() == pytest.approx([-0.1, 0.0])

    def test_scale_of_features_and_target_does_not_matter(self):
        X, y = plain()
        for power in (-1070, -900, 900):
            np.testing.assert_allclose(relief(X, np.ldexp(y, power)), relief(X, y), rtol=0, atol=1e-3)
        np.testing.assert_array_equal(relief(X * 2.0**900, y * 2.0**900), relief(X, y))
        np.testing.assert_allclose(relief(X, y / np.abs(y).max() * 1.7e308), relief(X, y), rtol=0, atol=1e-12)


def spaced(values, noise):
    """Scale numbers to unit standard deviation and add the noise that separates equal ones."""
    scaled = values / (values.std() or 1.0)
    return scaled + 1e-10 * max(1.0, np.abs(scaled).mean()) * noise


class TestMutualInformation:
    @pytest.mark.parametrize("k", [1, 3, 10])
    @pytest.mark.parametrize("n", [30, 200, 801])
    def test_scikit_learn_with_the_same_seed(self, n, k):
        rng = np.random.default_rng(n + k)
        X = rng.normal(size=(n, 9))
        X[:, 1] = np.round(X[:, 1])
        X[:, 2] = X[:, 2] * 1e6 + 1e8
        X[:, 3] = np.where(rng.random(n) < 0.7, 0, X[:, 3])
        X[:, 4] = 7
        X[:, 5] = np.exp(5 * X[:, 5])
        X[:, 6] = rng.integers(0, 2, n)
        targets = [X[:, 0] + rng.normal(size=n), np.round(3 * X[:, 0]), np.where(rng.random(n) < 0.6, 0, X[:, 0])]
        for y in (*targets, np.exp(3 * X[:, 0]), 1000 + np.arange(n)):
            expected = mutual_info_regression(X, y, n_neighbors=k, random_state=5)
            actual = mutual_information(X, y, neighbours=k, random_state=5, **REGRESSION)
            np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-10)

    def test_scikit_learn_with_categories(self):
        X, y = plain(200)
        X[:, [1, 4]] = np.round(X[:, [1, 4]]).clip(-1, 1)
        for mask in (np.arange(7) % 3 == 1, np.ones(7, bool)):
            frame = X if not mask.all() else np.round(X).clip(-1, 1)
            expected = mutual_info_regression(frame, y, discrete_features=mask, random_state=2)
            actual = mutual_information(frame, y, categorical=mask, random_state=2)
            np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-10)

    @pytest.mark.parametrize("order", "CF")
    def test_scikit_learn_in_either_memory_order(self, order):
        X, y = plain(150)
        X = np.array(np.round(X, 1) + 50, order=order)
        expected = mutual_info_regression(X, np.round(y), random_state=1)
        np.testing.assert_allclose(
            mutual_information(X, np.round(y), random_state=1, **REGRESSION), expected, rtol=0, atol=1e-10
        )

    @given(
        st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=40).filter(
            lambda points: len({y for _, y in points}) > 1
        ),
        st.integers(1, 8),
    )
    @settings(max_examples=60, deadline=None)
    def test_brute_force(self, points, k):
        X, y = np.array(points, float)[:, :1], np.array(points, float)[:, 1]
        random = np.random.RandomState(0)
        x, target = (spaced(values, random.standard_normal(y.size)) for values in (X[:, 0], y))
        expected = oracle.kraskov(x.tolist(), target.tolist(), k)
        actual = mutual_information(X, y, neighbours=k, **REGRESSION)[0]
        assert actual == pytest.approx(expected, abs=1e-12)

    def test_exactly_equal_points(self):
        # Noise separates equal values unless they are large: then points coincide, and their distance is 0.
        x, y = np.zeros((1, 12)), np.repeat([0.0, 1.0], 6)
        out = np.empty(1)
        table = np.append(0.0, digamma(np.arange(1, 13)))
        _kernels.neighbours.mean_digammas(x, np.argsort(x, axis=1), y, 3, table, out)
        assert out[0] == pytest.approx(digamma(12) + digamma(6))

    def test_categories_of_one_member(self):
        X = np.arange(6.0)[:, None]
        scores = mutual_information(X, [1.5, 2.5, 3, 4, 5, 6], categorical=[0], **REGRESSION)
        assert scores.tolist() == [0.0]


class TestForests:
    def forest(self, X, y, trees, seed):
        forest = RandomForestRegressor(trees, max_features="sqrt", random_state=seed)
        return forest.fit(X.astype(np.float32), y)

    @pytest.mark.parametrize("restore", [True, False])
    @pytest.mark.parametrize("seed", [0, 7])
    def test_brute_force_with_the_same_permutations(self, seed, restore):
        X, y = plain(150, m=9, seed=seed)
        X[:, 3:5] = np.round(X[:, 3:5])
        y += 5000
        centred = y - y.mean()
        forest = self.forest(X, centred, 25, seed)

        def positions(tree, feature, size):
            out = np.empty(size, np.int32)
            _kernels.forest.permutation(seed, tree, feature, out)
            return out

        expected = oracle.permutation_importance(
            forest, X.astype(np.float32), centred.tolist(), positions, oracle.squared, restore=restore
        )
        both = forest_scores(X, y, trees=25, random_state=seed, restore=restore)
        np.testing.assert_allclose(both["random_forest"], expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(both["genie3"], forest.feature_importances_, rtol=0, atol=1e-15)
        assert np.argmax(expected) == 2 or not restore

    def test_an_offset_or_a_unit_of_the_target_does_not_matter(self):
        X, y = plain()
        X, y = X.round(2), np.round(y * 1024) / 1024
        plainly = forest_scores(X, y, trees=20)
        for power in (-60, 300):
            found = forest_scores(X, np.ldexp(y, power), trees=20)
            np.testing.assert_allclose(found["genie3"], plainly["genie3"], rtol=0, atol=1e-12)
            scaled = np.ldexp(found["random_forest"], -2 * power)
            np.testing.assert_allclose(scaled, plainly["random_forest"], rtol=1e-9, atol=0)
        shifted = forest_scores(X, y + 2.0**40, trees=20)  # ties between splits may be resolved otherwise
        assert all(np.corrcoef(shifted[name], plainly[name])[0, 1] > 0.99 for name in plainly)
        raw = self.forest(X, y + 2.0**40, 20, 0).feature_importances_
        assert np.corrcoef(raw, plainly["genie3"])[0, 1] < 0.9
        with pytest.raises(InputError, match=r"y must be at most 1e\+150 in magnitude for a forest.* Rescale it"):
            genie3(X, y * 1e160)

    def test_an_offset_of_a_feature_does_not_matter(self):
        # Times of one day in seconds: float32 has steps of 128 seconds there.
        X, y = np.random.default_rng(0).integers(0, 86400, (80, 4)).astype(float), plain()[1]
        expected = forest_scores(X, y, trees=20)
        for offset in (1.7e9, -1.7e9, 2.0**50):
            assert len(np.unique(np.float32(X + offset))) < len(np.unique(X))
            actual = forest_scores(X + offset, y, trees=20)
            np.testing.assert_allclose(actual["genie3"], expected["genie3"], rtol=0, atol=1e-12)
            np.testing.assert_allclose(actual["random_forest"], expected["random_forest"], rtol=0, atol=1e-12)


class TestSurf:
    @pytest.mark.parametrize("multi", [False, True])
    @pytest.mark.parametrize("quantity", [False, True])
    @pytest.mark.parametrize("seed", range(2))
    def test_brute_force_on_categories_and_gaps(self, seed, quantity, multi):
        frame, nominal, y = mixed(seed)
        y = y if quantity else np.digitize(y, [-0.7, 0.7])
        expected = oracle.surf(as_lists(frame), nominal, y.tolist(), quantity=quantity, multi=multi)
        actual = (multisurf if multi else surf)(frame, y, categorical=nominal)
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9)
        assert np.abs(expected).max() > 0.01

    @given(tables(), st.booleans(), st.booleans())
    @settings(max_examples=60, deadline=None)
    def test_brute_force_on_small_tables(self, table, quantity, multi):
        rows, nominal, y = table
        if not quantity and len(set(y)) == len(y):
            return
        columns = [list(column) for column in zip(*rows, strict=True)]
        expected = oracle.surf(columns, nominal, y, quantity=quantity, multi=multi)
        task = "regression" if quantity else "classification"
        actual = (multisurf if multi else surf)(np.array(rows, dtype=float), y, categorical=nominal, task=task)
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9)

    @pytest.mark.parametrize("n", [127, 129, 260])
    def test_sizes_around_tiles(self, n):
        X, y = plain(n, 34)
        X[3, 5] = np.nan
        for ranker, multi in ((surf, False), (multisurf, True)):
            expected = oracle.surf(as_lists(X[:, :6]), [False] * 6, y.tolist(), quantity=True, multi=multi)
            np.testing.assert_allclose(ranker(X[:, :6], y), expected, rtol=0, atol=1e-9)
            assert ranker(X, y).argmax() == 2


class TestScikitRebate:
    """Scores that scikit-rebate gave where its definitions are ours; tests/data/make_skrebate.py made them."""

    known = json.loads((Path(__file__).parents[1] / "data" / "skrebate.json").read_text())

    @pytest.mark.parametrize(
        ("name", "ranker", "options"),
        [
            ("multisurf of a quantity", multisurf, {}),
            ("multisurf of classes", multisurf, {}),
            ("relief of a quantity", relief, {"neighbours": 2, **REGRESSION}),
        ],
    )
    def test_agreement(self, name, ranker, options):
        case = self.known[name]
        scores = ranker(np.array(case["x"]), case["y"], **options)
        np.testing.assert_allclose(scores, case["scores"], rtol=0, atol=1e-12)
        assert np.abs(scores).max() > 0.001


class TestAllRankers:
    @by_name
    def test_threads_do_not_matter(self, ranker, monkeypatch):
        monkeypatch.setattr(relief_module, "TASK_DIFFERENCES", 1000)
        X, y = plain(300, m=90)
        one, two, five = (ranker(X, y, n_jobs=n, random_state=2, **FAST.get(ranker, {})) for n in (1, 2, 5))
        assert (one == two).all()
        assert (one == five).all()
        assert one.argmax() == 2

    @by_name
    def test_the_task_can_be_forced(self, ranker):
        X, _ = plain()
        y = np.digitize(X[:, 2], [-1, 0, 1])
        as_classes, as_quantity = (
            ranker(X, y, task=task, **FAST.get(ranker, {})) for task in ("classification", "regression")
        )
        np.testing.assert_array_equal(ranker(X, y, **FAST.get(ranker, {})), as_classes)
        assert (as_classes != as_quantity).any()
        assert as_classes.argmax() == as_quantity.argmax() == 2

    @by_name
    def test_constant_targets_are_refused(self, ranker):
        with pytest.raises(InputError, match=r"y must vary; all 5 rows have 2\.5"):
            ranker(np.arange(10.0).reshape(5, 2), [2.5] * 5, task="regression")

    @by_name
    def test_two_rows(self, ranker):
        scores = ranker([[1.0, 5, 2], [3, 5, 2]], [2.5, 7.5], task="regression", **FAST.get(ranker, {}))
        assert scores.shape == (3,)
        assert np.isfinite(scores).all()

    @by_name
    @pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
    def test_sparse_tables_are_the_same_as_dense_ones(self, ranker, form):
        X, y = plain()
        X[np.abs(X) < 0.7] = 0
        expected = ranker(X, y, **FAST.get(ranker, {}))
        np.testing.assert_array_equal(ranker(form(X), y, **FAST.get(ranker, {})), expected)

    @without_forests
    def test_columns_without_information_score_zero(self, ranker):
        X, y = plain()
        X[:, 0], X[:, 1] = 4.0, np.nan
        scores = ranker(X, y)
        assert (scores[:2] == 0).all()
        np.testing.assert_array_equal(scores[2:], ranker(X[:, 2:], y))


class TestSparse:
    def test_the_conversion_is_noted(self):
        X, y = plain()
        note = "the sparse X was converted to a dense table; entries that are not stored are 0"
        assert note in rank(sparse.csr_matrix(X), y, ["relief"]).notes
        assert note in fj.study(sparse.csr_array(X), y, ["relief"], resamples=3, permutations=0).notes
        assert note not in rank(X, y, ["relief"]).notes

    def test_too_large_ones_are_refused(self):
        X = sparse.csr_matrix((100_000, 100_000))
        with pytest.raises(InputError, match=r"at most 4 GB as a dense table.*shape \(100000, 100000\) is 75 GB"):
            prepare(X, np.arange(100_000) / 7)


class TestPipelines:
    def test_scaled_and_selected_features_keep_their_scores(self):
        X, y = plain()
        scaled = StandardScaler().fit_transform(X)
        found = rank(X, y, {"scaled": make_pipeline(StandardScaler(), Ridge())})
        np.testing.assert_allclose(found["scaled"].scores, np.abs(Ridge().fit(scaled, y).coef_))
        chosen = make_pipeline(StandardScaler(), SelectKBest(f_regression, k=2), Ridge())
        best = np.sort(np.argsort(f_regression(X, y)[0])[-2:])
        scores = rank(X, y, {"chosen": chosen})["chosen"].scores
        assert np.flatnonzero(scores).tolist() == best.tolist()
        np.testing.assert_allclose(scores[best], np.abs(Ridge().fit(scaled[:, best], y).coef_))

    def test_features_made_of_others_are_refused(self):
        X, y = plain()
        with pytest.raises(
            InputError, match="must score the features themselves; a step of it makes columns of several"
        ):
            rank(X, y, [make_pipeline(PCA(), Ridge())])


def test_a_study_of_a_quantity_with_all_kinds_of_methods():
    frame, _, y = mixed(0, 80)
    frame = frame.drop(columns=["flat", "empty"]).assign(colour=np.where(y > 0.5, "red", "blue"))
    own = {"lasso": Lasso(0.01), "boosting": GradientBoostingRegressor(n_estimators=10), "f": f_regression}
    ours = {name: name for name in ("relief", "surf", "multisurf", "mutual_information", "genie3", "random_forest")}
    found = fj.study(frame, y, {**ours, **own}, nan="fill", trees=10, resamples=3, permutations=0)
    assert found.methods == (*ours, *own)
    assert found.settings["task"] == "regression"
    assert "Lasso is given column 'colour' one-hot" in " ".join(found.notes)
    assert found.top[0].feature == "colour"
