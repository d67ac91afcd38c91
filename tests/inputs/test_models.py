"""What is read from models of other libraries, against the numbers that the libraries themselves give.

`make models-test` runs these where the libraries are installed; the others are skipped.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import fujiscore as fj
from fujiscore import InputError

pd = pytest.importorskip("pandas")
datasets = pytest.importorskip("sklearn.datasets")

# Deprecations inside other libraries are not ours.
pytestmark = pytest.mark.filterwarnings("default")


def library(name):
    """Return a library, or skip the test; importing it may warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name)


CANCER, MALIGNANT = datasets.load_breast_cancer(return_X_y=True, as_frame=True)
CANCER = CANCER.iloc[:, :6].assign(unused=0.0)
NAMES = list(CANCER.columns)
IRIS, SPECIES = datasets.load_iris(return_X_y=True, as_frame=True)


def scores_of(ranking):
    return dict(zip(ranking.items, ranking.scores.tolist(), strict=True))


@pytest.fixture(scope="module")
def forest():
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(8, random_state=0).fit(CANCER, MALIGNANT)


@pytest.fixture(scope="module")
def boosted():
    return library("xgboost").XGBClassifier(n_estimators=5).fit(CANCER, MALIGNANT)


@pytest.fixture(scope="module")
def light():
    return library("lightgbm").LGBMClassifier(n_estimators=5, verbose=-1).fit(CANCER, MALIGNANT)


@pytest.fixture(scope="module")
def explanation(forest):
    return library("shap").TreeExplainer(forest)(CANCER.iloc[:9])


class TestXGBoost:
    def test_the_default_is_the_librarys(self, boosted):
        ranking = fj.importances(boosted)
        gain = boosted.get_booster().get_score(importance_type="gain")
        assert "unused" not in gain
        assert scores_of(ranking) == {name: gain.get(name, 0.0) for name in NAMES}
        shares = ranking.scores / ranking.scores.sum()
        np.testing.assert_allclose(shares, boosted.feature_importances_, rtol=1e-5)
        assert ranking.notes == ("XGBClassifier: importance_type 'gain', the mean gain of a feature's splits",)

    def test_types_of_importance(self, boosted):
        ranking = fj.importances(boosted, importance_type="total_cover")
        cover = boosted.get_booster().get_score(importance_type="total_cover")
        assert scores_of(ranking) == {name: cover.get(name, 0.0) for name in NAMES}
        with pytest.raises(InputError, match="importance_type must be one of 'gain', 'weight', 'cover'"):
            fj.importances(boosted, importance_type="split")
        weighted = library("xgboost").XGBClassifier(n_estimators=3, importance_type="weight").fit(CANCER, MALIGNANT)
        assert "importance_type 'weight'" in fj.importances(weighted).notes[0]

    def test_native_boosters(self, boosted):
        booster = boosted.get_booster()
        assert scores_of(fj.importances(booster)) == scores_of(fj.importances(boosted))
        assert "of an XGBoost Booster" in fj.importances(booster).notes[0]
        assert fj.auc(booster, boosted) == 1

    def test_bare_arrays(self):
        model = library("xgboost").XGBClassifier(n_estimators=2).fit(CANCER.to_numpy(), MALIGNANT)
        ranking = fj.importances(model)
        gain = model.get_booster().get_score(importance_type="gain")
        assert ranking.items is None
        assert ranking.scores.tolist() == [gain.get(f"f{i}", 0.0) for i in range(7)]
        assert "fitted without feature names: features are positions" in ranking.notes[0]

    def test_linear_boosters_have_coefficients(self):
        xgboost = library("xgboost")
        model = xgboost.XGBRegressor(booster="gblinear", n_estimators=5, n_jobs=1).fit(CANCER, MALIGNANT)
        weights = model.get_booster().get_score(importance_type="weight")
        assert min(weights.values()) < 0
        ranking = fj.importances(model)
        assert scores_of(ranking) == {name: abs(weights.get(name, 0.0)) for name in NAMES}
        assert (ranking.signs == [np.sign(weights.get(name, 0.0)) for name in NAMES]).all()
        several = xgboost.XGBClassifier(booster="gblinear", n_estimators=5, n_jobs=1).fit(IRIS, SPECIES)
        rows = several.get_booster().get_score(importance_type="weight")
        expected = {name: sum(map(abs, values)) / 3 for name, values in rows.items()}
        assert scores_of(fj.importances(several)) == pytest.approx(expected)
        assert "mean magnitude over 3 rows" in fj.importances(several).notes[0]

    def test_unfitted(self):
        with pytest.raises(InputError, match="XGBClassifier must be fitted"):
            fj.importances(library("xgboost").XGBClassifier())

    def test_in_a_pipeline(self):
        from sklearn.compose import ColumnTransformer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder

        rng = np.random.default_rng(0)
        table = pd.DataFrame({"c": rng.choice(list("xyz"), 200), "d": rng.normal(size=200)})
        y = table["d"] + (table["c"] == "x") - (table["c"] == "y")
        prepare = ColumnTransformer([("hot", OneHotEncoder(), ["c"])], remainder="passthrough")
        model = make_pipeline(prepare, library("xgboost").XGBRegressor(n_estimators=10)).fit(table, y)
        total = model[-1].get_booster().get_score(importance_type="total_gain")
        ranking = fj.importances(model, group=True, importance_type="total_gain")
        assert scores_of(ranking) == pytest.approx(
            {"c": sum(total.get(f"f{i}", 0.0) for i in range(3)), "d": total["f3"]}
        )


class TestLightGBM:
    def test_the_default_is_the_librarys(self, light):
        ranking = fj.importances(light)
        names = [name.replace(" ", "_") for name in NAMES]
        assert scores_of(ranking) == dict(zip(names, light.feature_importances_.tolist(), strict=True))
        assert ranking.notes == ("LGBMClassifier: importance_type 'split', the number of a feature's splits",)

    def test_gain(self, light):
        ranking = fj.importances(light, importance_type="gain")
        assert ranking.scores.tolist() == light.booster_.feature_importance("gain").tolist()
        with pytest.raises(InputError, match="importance_type must be one of 'split', 'gain'; got 'cover'"):
            fj.importances(light, importance_type="cover")

    def test_native_boosters(self, light):
        assert scores_of(fj.importances(light.booster_)) == scores_of(fj.importances(light))

    def test_blanks_in_names_are_matched(self, light, forest):
        compared = fj.compare(forest, light)
        assert compared.rankings.labels == tuple(NAMES)
        assert fj.auc(forest, light) == fj.auc(forest.feature_importances_, light.feature_importances_)
        assert "names with underscores read as those with blanks, which LightGBM replaces" in compared.notes
        ambiguous = {**dict.fromkeys(NAMES, 1.0), "mean_radius": 2.0}
        with pytest.raises(InputError, match="must score every item"):
            fj.compare(ambiguous, light)

    def test_bare_arrays(self):
        model = library("lightgbm").LGBMRegressor(n_estimators=2, verbose=-1).fit(CANCER.to_numpy(), MALIGNANT)
        assert fj.importances(model).items is None

    def test_unfitted(self):
        with pytest.raises(InputError, match="LGBMRegressor must be fitted"):
            fj.importances(library("lightgbm").LGBMRegressor())


class TestCatBoost:
    def fitted(self, kind="CatBoostClassifier", table=CANCER):
        kind = getattr(library("catboost"), kind)
        options = {"iterations": 5, "verbose": 0, "allow_writing_files": False}
        model = kind(options) if kind.__name__ == "CatBoost" else kind(**options)
        return model.fit(table, MALIGNANT)

    @pytest.mark.parametrize("kind", ["CatBoostClassifier", "CatBoostRegressor", "CatBoost"])
    def test_the_default_is_the_librarys(self, kind):
        model = self.fitted(kind)
        ranking = fj.importances(model)
        assert scores_of(ranking) == dict(zip(NAMES, model.get_feature_importance().tolist(), strict=True))
        assert ranking.notes == (f"{kind}: feature_importances_",)

    def test_types_of_importance(self):
        model = self.fitted()
        same = fj.importances(model, importance_type="PredictionValuesChange")
        assert scores_of(same) == scores_of(fj.importances(model))
        with pytest.raises(InputError, match="must be one that CatBoost computes without data"):
            fj.importances(model, importance_type="LossFunctionChange")

    def test_bare_arrays_and_unfitted(self):
        assert fj.importances(self.fitted(table=CANCER.to_numpy())).items is None
        with pytest.raises(InputError, match="CatBoostClassifier must be fitted"):
            fj.importances(library("catboost").CatBoostClassifier())


class TestShap:
    def test_several_outputs(self, explanation):
        assert explanation.values.shape == (9, 7, 2)
        ranking = fj.importances(explanation)
        np.testing.assert_allclose(ranking.scores, np.abs(explanation.values).mean(axis=(0, 2)))
        assert ranking.items == tuple(NAMES)
        assert ranking.notes == ("shap.Explanation: values; mean magnitude over 2 outputs; mean magnitude over 9 rows",)

    def test_one_output_and_one_row(self, explanation):
        one = explanation[..., 1]
        np.testing.assert_allclose(fj.importances(one).scores, np.abs(one.values).mean(axis=0))
        row = fj.importances(one[0])
        np.testing.assert_allclose(row.scores, np.abs(one.values[0]))
        assert (row.signs == np.sign(one.values[0])).all()
        assert (row.signs < 0).any()

    def test_one_row_of_several_outputs(self):
        from sklearn.ensemble import RandomForestClassifier

        shap = library("shap")
        model = RandomForestClassifier(4, random_state=0).fit(IRIS, SPECIES)
        row = shap.TreeExplainer(model)(IRIS.iloc[:3])[1]
        assert row.values.shape == (4, 3)
        expected = dict(zip(IRIS.columns, np.abs(row.values).mean(axis=1), strict=True))
        assert scores_of(fj.importances(row)) == pytest.approx(expected)
        bare = shap.Explanation(row.values, row.base_values, feature_names=list(IRIS.columns))
        assert scores_of(fj.importances(bare)) == pytest.approx(expected)
        assert "s: values of shap.Explanation; mean magnitude over 3 outputs" in fj.compare(row, row).notes

    def test_names_of_other_features(self, explanation):
        wrong = library("shap").Explanation(explanation.values[:, :, 0], feature_names=NAMES[:2])
        with pytest.raises(InputError, match="has 2 feature_names and values of 7 features"):
            fj.importances(wrong)

    def test_rows(self, explanation, forest):
        one = explanation[..., 1]
        rows = fj.importances(one, each=True)
        np.testing.assert_allclose(rows.matrix(), np.abs(one.values))
        assert fj.stability(one).value == fj.stability(np.abs(one.values)).value
        other = library("shap").Explanation(one.values[::-1].copy(), feature_names=NAMES)
        compared = fj.compare_runs(one, other, k=3)
        expected = [fj.fuji(np.abs(a), np.abs(b), 3) for a, b in zip(one.values, one.values[::-1], strict=True)]
        np.testing.assert_allclose(compared.columns["fuji"], expected)
        assert fj.compare(one, forest).rankings.names == ("shap.Explanation", "RandomForestClassifier")

    def test_without_names_and_interactions(self):
        shap = library("shap")
        bare = fj.importances(shap.Explanation(np.array([[1.0, -2], [3, 4]])))
        assert bare.items is None
        assert bare.scores.tolist() == [2, 3]
        with pytest.raises(InputError, match=r"If these are interactions, pass explanation.values.sum\(axis=-1\)"):
            fj.importances(shap.Explanation(np.ones((5, 3, 3)), base_values=np.zeros(5)))
        with pytest.raises(InputError, match=r"pick one output, explanation\[\.\.\., c\]"):
            fj.importances(shap.Explanation(np.ones((5, 4, 3))))

    @pytest.mark.parametrize("options", [{"negative": "split"}, {"measures": ["sign_agreement"]}])
    def test_signs_need_one_output(self, explanation, options):
        """Of two outputs one is the negative of the other: the mean magnitudes of opposite attributions are equal."""
        shap = library("shap")
        opposite = shap.Explanation(-explanation.values, -explanation.base_values, feature_names=NAMES)
        with pytest.raises(InputError, match=r"mean magnitudes over 2 outputs.*explanation\[\.\.\., 1\]"):
            fj.compare_runs(explanation, opposite, k=3, **options)
        for other, value in ((explanation, 1.0), (opposite, 0.0)):
            result = fj.compare_runs(explanation[..., 1], other[..., 1], k=3, **options)
            assert result.columns[result.measures[0].name].tolist() == [value] * 9


class TestTorch:
    def test_gradients_and_types(self):
        torch = library("torch")
        grown = torch.tensor([0.1, 0.3, 0.2], requires_grad=True)
        short = torch.tensor([1.0, 3.0, 2.0], dtype=torch.bfloat16)
        assert fj.auc(grown * 2, short) == fj.auc([0.2, 0.6, 0.4], [1, 3, 2])
        whole = torch.tensor([1, 3, 2])
        assert fj.fuji(torch.nn.Parameter(grown.detach()), whole, 1) == 1
        assert fj.auc(torch.tensor([0.0, 3.0, 2.0]).to_sparse(), whole) == fj.auc([0, 3, 2], [1, 3, 2])

    def test_rows(self):
        torch = library("torch")
        values = torch.tensor([[1.0, -2, 0], [-3, 1, 0.5]], requires_grad=True)
        ranking = fj.importances(values, feature_names=["a", "b", "c"])
        assert scores_of(ranking) == {"a": 2.0, "b": 1.5, "c": 0.25}
        with pytest.raises(InputError, match="must be one-dimensional"):
            fj.compare(values, values)
        compared = fj.compare_runs(values, values.flip(1), k=1, negative="abs")
        assert len(compared.columns["fuji"]) == 2
        assert fj.rankings(values, negative="abs").names == ("0", "1")
        with pytest.raises(InputError, match="must be numbers in rows by features; got shape"):
            fj.importances(torch.zeros(2, 3, 4))

    def test_captum(self):
        torch, attr = library("torch"), library("captum.attr")
        torch.manual_seed(0)
        layer = torch.nn.Linear(4, 1)
        x = torch.randn(6, 4)
        values = attr.IntegratedGradients(layer).attribute(x)
        ranking = fj.importances(values)
        exact = (layer.weight * x).detach().abs().mean(dim=0)  # of a linear model, from a baseline of 0
        np.testing.assert_allclose(ranking.scores, exact.numpy(), rtol=1e-4)
        both = fj.importances((values, values[:, :2]))
        np.testing.assert_allclose(both.scores, [*ranking.scores, *ranking.scores[:2]])
        assert both.items == ("0/0", "0/1", "0/2", "0/3", "1/0", "1/1")
        with pytest.raises(InputError, match="must be tensors of rows by features with the same rows"):
            fj.importances((values, values[:3]))

    def test_runs_of_captum(self):
        torch, attr = library("torch"), library("captum.attr")
        torch.manual_seed(0)
        left, right = torch.nn.Linear(3, 1), torch.nn.Linear(2, 1)
        inputs = torch.randn(6, 3), torch.randn(6, 2)
        values = attr.IntegratedGradients(lambda x, z: left(x) + right(z)).attribute(inputs)
        rows = torch.cat(values, dim=1).detach().numpy()
        other = tuple(part.flip(0) for part in values)
        result = fj.compare_runs(values, other, k=2, negative="abs")
        expected = [fj.fuji(np.abs(a), np.abs(b), 2) for a, b in zip(rows, rows[::-1], strict=True)]
        np.testing.assert_allclose(result.columns["fuji"], expected, rtol=1e-6)
        assert (
            fj.compare_runs(values, tuple(-part for part in values), k=2, negative="split").columns["fuji"].max() == 0
        )

    def test_ids_and_scores(self):
        torch = library("torch")
        ids, scores = torch.tensor([[4, 2, 7]]), torch.tensor([[3.0, 2.0, 1.0]])
        assert fj.compare_runs((ids, scores), (ids.flip(1), scores), k=1).columns["jaccard"].tolist() == [0.0]
        with pytest.raises(InputError, match="whole numbers may be ids"):
            fj.compare_runs(ids, ids)


def test_runs_of_ranx():
    ranx = library("ranx")
    a, b = {"q1": {"d1": 0.5, "d2": 0.3}, "q2": {"d1": 1.0}}, {"q1": {"d1": 0.5, "d3": 0.3}, "q2": {"d1": 1.0}}
    result = fj.compare_runs(ranx.Run(a), ranx.Run(b), k=2)
    np.testing.assert_array_equal(result.columns["fuji"], fj.compare_runs(a, b, k=2).columns["fuji"])


def test_searches_of_faiss():
    """The overlaps of the id sets; without a transform, distances are an error."""
    faiss = library("faiss")
    rng = np.random.default_rng(0)
    points, queries = rng.random((500, 8), np.float32), rng.random((30, 8), np.float32)
    flat, graph = faiss.IndexFlatL2(8), faiss.IndexHNSWFlat(8, 2)
    for index in (flat, graph):
        index.add(points)
    near, exact = flat.search(queries, 10)
    far, ids = graph.search(queries, 10)
    with pytest.raises(InputError, match="as distances do"):
        fj.compare_runs((exact, near), (ids, far))
    with pytest.raises(InputError, match="Exchange them"):
        fj.compare_runs((near, exact), (far, ids))
    result = fj.compare_runs((exact, near), (ids, far), k=10, transform="reciprocal")
    shared = [len({*a} & {*b}) for a, b in zip(exact.tolist(), ids.tolist(), strict=True)]
    np.testing.assert_allclose(result.columns["jaccard"], [h / (20 - h) for h in shared])


class TestNetworkx:
    def test_centralities_and_degrees(self):
        nx = library("networkx")
        graph = nx.karate_club_graph()
        pagerank = nx.pagerank(graph)
        assert scores_of(fj.importances(pagerank)) == pagerank
        degrees = fj.importances(graph.degree)
        assert scores_of(degrees) == {node: float(degree) for node, degree in graph.degree}
        assert degrees.name == "degree"
        assert fj.auc(pagerank, graph.degree) == fj.auc(pagerank, dict(graph.degree))
        assert float(fj.rbo(pagerank, graph.degree)) == float(fj.rbo(pagerank, dict(graph.degree)))
        weighted = graph.degree(weight="weight")
        assert scores_of(fj.importances(weighted)) == {node: float(degree) for node, degree in weighted}
        directed = graph.to_directed()
        assert fj.importances(directed.in_degree).scores.sum() == directed.number_of_edges()
        assert fj.pairwise([pagerank, graph.degree]).values.shape == (2, 2)

    def test_a_graph_is_no_ranking(self):
        nx = library("networkx")
        with pytest.raises(InputError, match="r must be scores of nodes; got a networkx DiGraph"):
            fj.compare(nx.DiGraph([(0, 1)]), {0: 1, 1: 2})


def test_libraries_are_loaded_only_by_those_who_use_them():
    """Recognising objects imports nothing."""
    import subprocess
    import sys

    script = (
        "import sys, fujiscore as fj\n"
        "fj.importances({'a': 1.0, 'b': 2.0}); fj.compare([1.0, 2.0], [2.0, 1.0])\n"
        "names = ('sklearn', 'xgboost', 'lightgbm', 'catboost', 'shap', 'torch', 'networkx')\n"
        "print([name for name in names if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
