"""What `importances` reads from scikit-learn's objects, against the numbers that the objects themselves hold.

Models of other libraries are in test_models.py, with an environment of their own.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    f_classif,
    r_regression,
)
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import fujiscore as fj
from fujiscore import InputError
from fujiscore.rankers import as_ranker

CANCER, MALIGNANT = load_breast_cancer(return_X_y=True, as_frame=True)
CANCER = CANCER.iloc[:, :6]
IRIS, SPECIES = load_iris(return_X_y=True, as_frame=True)
NAMES = list(CANCER.columns)
UNITS = "coefficients depend on the units of the features: standardise these first"


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(8, random_state=0).fit(CANCER, MALIGNANT)


@pytest.fixture(scope="module")
def logistic():
    return LogisticRegression(max_iter=5000).fit(CANCER, MALIGNANT)


@pytest.fixture(scope="module")
def people():
    """Return a table with categories whose names look like others', and a target that depends on them."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "age": rng.normal(size=90),
            "a": rng.choice(["x", "b_x", "y"], 90),
            "a_b": rng.choice(["x", "y"], 90),
            "height": rng.normal(size=90),
            "id": np.arange(90),
        }
    )
    y = table["age"] + 2 * (table["a"] == "x") - 3 * (table["a_b"] == "x") + rng.normal(size=90) / 10
    return table, y


def scores_of(ranking):
    """Return a ranking as a dict of item to score."""
    return dict(zip(ranking.items, ranking.scores.tolist(), strict=True))


# Estimators


def test_feature_importances(forest):
    ranking = fj.importances(forest)
    assert isinstance(ranking, fj.Ranking)
    assert scores_of(ranking) == dict(zip(NAMES, forest.feature_importances_.tolist(), strict=True))
    assert ranking.name == "RandomForestClassifier"
    assert ranking.notes == ("RandomForestClassifier: feature_importances_",)


def test_coefficients_rank_by_magnitude_and_keep_their_signs(logistic):
    ranking = fj.importances(logistic)
    row = logistic.coef_[0]
    assert (row < 0).any()
    assert scores_of(ranking) == {name: abs(value) for name, value in zip(NAMES, row.tolist(), strict=True)}
    assert (ranking.signs == np.sign(row)).all()
    assert ranking.notes[0] == f"LogisticRegression: coef_; {UNITS}"
    split = fj.importances(logistic, negative="split")
    assert split.split == tuple(NAMES)
    assert (split.signed == row).all()
    assert (fj.importances(logistic, negative="clip").scores == row).all()


def test_coefficients_of_several_classes_are_averaged():
    model = LogisticRegression(max_iter=5000).fit(IRIS, SPECIES)
    ranking = fj.importances(model)
    means = [sum(abs(row[i]) for row in model.coef_.tolist()) / 3 for i in range(4)]
    np.testing.assert_allclose(ranking.scores, means, rtol=1e-15)
    assert "coef_, mean magnitude over 3 rows (classes or targets)" in ranking.notes[0]


def test_sparse_coefficients(logistic):
    sparse = LogisticRegression(max_iter=5000).fit(CANCER, MALIGNANT).sparsify()
    assert hasattr(sparse.coef_, "toarray")
    assert scores_of(fj.importances(sparse)) == scores_of(fj.importances(logistic))


def test_transforms_are_of_magnitudes(logistic):
    ranked = fj.importances(logistic, transform="rank")
    order = np.argsort(-np.abs(logistic.coef_[0]))
    assert [ranked.items[i] for i in ranked.order] == [NAMES[i] for i in order]


def test_bare_arrays_give_positions():
    model = DecisionTreeClassifier(random_state=0).fit(IRIS.to_numpy(), SPECIES)
    ranking = fj.importances(model)
    assert ranking.items is None
    assert ranking.notes[0].endswith("feature_importances_; fitted without feature names: features are positions")
    named = fj.importances(model, feature_names=IRIS.columns)
    assert scores_of(named) == dict(zip(IRIS.columns, model.feature_importances_.tolist(), strict=True))
    assert named.notes == ("DecisionTreeClassifier: feature_importances_",)


def test_given_names_are_checked(forest):
    with pytest.raises(InputError, match="feature_names must have one name per feature; got 2 for the 6 features of"):
        fj.importances(forest, feature_names=["a", "b"])
    with pytest.raises(InputError, match="feature_names must be in the order of RandomForestClassifier's own names"):
        fj.importances(forest, feature_names=NAMES[::-1])
    with pytest.raises(InputError, match="feature_names must differ; 'a' names more than one"):
        fj.importances(forest, feature_names=list("aabcde"))
    with pytest.raises(InputError, match="feature_names must be a sequence of names; got 'abcdef'"):
        fj.importances(forest, feature_names="abcdef")


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingClassifier(max_iter=2),
        SVC(),
        IsolationForest(n_estimators=5),
        make_pipeline(StandardScaler(), SVC()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_without_importances(model):
    model.fit(CANCER, MALIGNANT)
    with pytest.raises(InputError, match=r"has none. Or compute one with sklearn.inspection.permutation_importance"):
        fj.importances(model)
    with pytest.raises(InputError, match="permutation_importance"):
        fj.compare(model, model)


@pytest.mark.parametrize(
    "model",
    [RandomForestClassifier(), LogisticRegression(), make_pipeline(StandardScaler(), Ridge()), SelectKBest()],
    ids=lambda model: type(model).__name__,
)
def test_unfitted_models(model):
    with pytest.raises(InputError, match="must be fitted before its importances can be read: call its fit first"):
        fj.importances(model)


def test_a_class_is_no_model(forest):
    with pytest.raises(InputError, match="s must be a fitted model; got the class RandomForestClassifier"):
        fj.compare(forest, RandomForestClassifier)


# Pipelines and groups


def encoder(**parts):
    return ColumnTransformer([(name, *part) for name, part in parts.items()])


def test_columns_of_one_name_are_refused(people):
    table, y = people
    prepare = encoder(hot=(OneHotEncoder(), ["a", "a_b"]), scaled=(StandardScaler(), ["height", "age"]))
    model = make_pipeline(prepare, Ridge()).fit(table, y)
    assert list(prepare.fit(table).get_feature_names_out()).count("hot__a_b_x") == 2
    with pytest.raises(InputError, match=r"must list each item once; it repeats 1 item \(hot__a_b_x\)"):
        fj.compare(model, model)


def test_pipelines_name_and_group_their_columns(people):
    table, y = people
    table = table.replace({"a": {"b_x": "z"}})
    prepare = encoder(hot=(OneHotEncoder(), ["a", "a_b"]), scaled=(StandardScaler(), ["height", "age"]))
    model = make_pipeline(prepare, Ridge()).fit(table, y)
    c = model[-1].coef_.tolist()
    ranking = fj.importances(model)
    names = ["hot__a_x", "hot__a_y", "hot__a_z", "hot__a_b_x", "hot__a_b_y", "scaled__height", "scaled__age"]
    assert scores_of(ranking) == dict(zip(names, map(abs, c), strict=True))
    assert ranking.name == "Ridge"
    assert ranking.notes[0] == "Ridge: coef_"  # scaled: no caveat on units
    grouped = fj.importances(model, group=True)
    expected = {
        "age": abs(c[6]),
        "a": abs(c[0]) + abs(c[1]) + abs(c[2]),
        "a_b": abs(c[3]) + abs(c[4]),
        "height": abs(c[5]),
    }
    assert scores_of(grouped) == pytest.approx(expected, rel=1e-14)
    assert grouped.items == ("age", "a", "a_b", "height")
    assert "coef_, magnitudes summed over the columns made from one" in grouped.notes[0]
    assert "1 of 5 input columns do not reach the model: id" in grouped.notes[0]


def test_groups_are_by_structure_and_not_by_names(people):
    """The names of the one-hot columns of `a` and `a_b` coincide; the columns are told apart all the same."""
    table, y = people
    model = make_pipeline(encoder(hot=(OneHotEncoder(), ["a", "a_b"])), Ridge()).fit(table, y)
    c = np.abs(model[-1].coef_)
    assert scores_of(fj.importances(model, group=True)) == pytest.approx({"a": c[:3].sum(), "a_b": c[3:].sum()})


@pytest.mark.parametrize(
    "columns",
    [
        ["a", "a_b"],
        [1, 2],
        slice(1, 3),
        slice("a", "a_b"),
        [False, True, True, False, False],
        make_column_selector("^a$|^a_b$"),
    ],
    ids=["names", "positions", "slice", "slice of names", "mask", "function"],
)
def test_groups_of_columns_selected_in_any_way(people, columns):
    table, y = people
    prepare = ColumnTransformer([("hot", OneHotEncoder(), columns)], remainder="passthrough")
    model = make_pipeline(prepare, Ridge()).fit(table, y)
    c = np.abs(model[-1].coef_)
    expected = {"age": c[5], "a": c[:3].sum(), "a_b": c[3:5].sum(), "height": c[6], "id": c[7]}
    assert scores_of(fj.importances(model, group=True)) == pytest.approx(expected)


def test_groups_through_nested_steps(people):
    table, y = people
    table = table.assign(age=table["age"].where(table["age"] > -1.5))
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    binned = KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf")
    prepare = encoder(
        numbers=(numbers, ["height", "age"]),
        text=(OneHotEncoder(drop="first"), ["a_b"]),
        both=(FeatureUnion([("bins", binned), ("scaled", StandardScaler())]), ["height"]),
        none=(StandardScaler(), []),
    )
    model = make_pipeline(prepare, SelectKBest(f_classif, k=5), LogisticRegression()).fit(table, y > 0)
    c = np.abs(model[-1].coef_[0])
    made = ["height", "age", "age", "a_b", "height", "height", "height", "height"]
    kept = [name for name, chosen in zip(made, model[1].get_support(), strict=True) if chosen]
    expected = {}
    for name, value in zip(kept, c.tolist(), strict=True):
        expected[name] = expected.get(name, 0) + value
    assert scores_of(fj.importances(model, group=True)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (PCA(2), r"PCA makes columns of several or of none, such as pca0"),
        (
            PolynomialFeatures(include_bias=False),
            r"PolynomialFeatures makes columns of several or of none, such as \[0\] \[1\]",
        ),
        (FunctionTransformer(np.log1p), "FunctionTransformer does not name the columns that it makes"),
    ],
    ids=["pca", "products", "function"],
)
def test_columns_of_no_single_origin_are_refused(step, why):
    model = make_pipeline(step, LogisticRegression(max_iter=5000)).fit(IRIS, SPECIES)
    with pytest.raises(InputError, match=why):
        fj.importances(model, group=True)


def test_columns_without_names_are_positions():
    model = make_pipeline(FunctionTransformer(np.log1p, validate=True), LogisticRegression()).fit(IRIS, SPECIES)
    ranking = fj.importances(model)
    assert ranking.items is None
    assert (
        "FunctionTransformer does not name the columns it makes: features are positions among them" in ranking.notes[0]
    )
    scaled = make_pipeline(StandardScaler(), LogisticRegression()).fit(IRIS.to_numpy(), SPECIES)
    assert fj.importances(scaled).items is None


def test_a_mapping_groups_features():
    dummies = pd.get_dummies(pd.DataFrame({"c": list("xyzx") * 5, "d": np.arange(20)}), dtype=float)
    model = LinearRegression().fit(dummies, np.arange(20) % 7)
    c = dict(zip(dummies.columns, np.abs(model.coef_), strict=True))
    grouped = fj.importances(model, group={"c_x": "c", "c_y": "c", "c_z": "c"})
    assert scores_of(grouped) == pytest.approx({"d": c["d"], "c": c["c_x"] + c["c_y"] + c["c_z"]})
    assert "magnitudes summed over the features of each group" in grouped.notes[0]
    with pytest.raises(InputError, match="group must map names of features; LinearRegression has no 'w'"):
        fj.importances(model, group={"w": "c"})
    with pytest.raises(InputError, match="group must be True, False or a mapping of feature to group; got 3"):
        fj.importances(model, group=3)


# Wrappers and selectors


def test_searches_and_other_wrappers(forest):
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.1, 1]}, cv=2
    )
    grid.fit(CANCER, MALIGNANT)
    inner = grid.best_estimator_[-1]
    assert scores_of(fj.importances(grid)) == dict(zip(NAMES, np.abs(inner.coef_[0]).tolist(), strict=True))
    assert fj.importances(grid).name == "LogisticRegression"
    without = GridSearchCV(Ridge(), {"alpha": [1]}, cv=2, refit=False).fit(CANCER, MALIGNANT)
    with pytest.raises(InputError, match="a search has them only with refit=True"):
        fj.importances(without)
    target = TransformedTargetRegressor(Ridge()).fit(CANCER, MALIGNANT)
    assert scores_of(fj.importances(target)) == dict(zip(NAMES, np.abs(target.regressor_.coef_).tolist(), strict=True))
    from_model = SelectFromModel(RandomForestClassifier(8, random_state=0)).fit(CANCER, MALIGNANT)
    assert scores_of(fj.importances(from_model)) == scores_of(fj.importances(forest))


def test_ensembles_of_one_kind_are_averaged():
    calibrated = CalibratedClassifierCV(LogisticRegression(max_iter=5000), cv=3).fit(CANCER, MALIGNANT)
    rows = [np.abs(part.estimator.coef_[0]) for part in calibrated.calibrated_classifiers_]
    ranking = fj.importances(calibrated)
    assert scores_of(ranking) == pytest.approx(dict(zip(NAMES, sum(rows) / 3, strict=True)))
    assert "coef_ of LogisticRegression, mean magnitude over the 3 estimators" in ranking.notes[0]
    rest = OneVsRestClassifier(DecisionTreeClassifier(random_state=0)).fit(IRIS.to_numpy(), SPECIES)
    np.testing.assert_allclose(
        fj.importances(rest).scores, np.mean([tree.feature_importances_ for tree in rest.estimators_], axis=0)
    )
    both = MultiOutputRegressor(Ridge()).fit(IRIS, IRIS[["petal width (cm)", "sepal width (cm)"]])
    np.testing.assert_allclose(fj.importances(both).scores, np.mean([abs(m.coef_) for m in both.estimators_], axis=0))


def test_bagging_on_some_of_the_features():
    bag = BaggingClassifier(DecisionTreeClassifier(), 5, max_features=3, random_state=0).fit(CANCER, MALIGNANT)
    expected = dict.fromkeys(NAMES, 0.0)
    for tree, features in zip(bag.estimators_, bag.estimators_features_, strict=True):
        for feature, value in zip(features, tree.feature_importances_, strict=True):
            expected[NAMES[feature]] += value / 5
    assert scores_of(fj.importances(bag)) == pytest.approx(expected)


def test_bagging_that_draws_a_feature_twice():
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    bag = BaggingClassifier(tree, 3, bootstrap_features=True, random_state=1).fit(CANCER, MALIGNANT)
    assert any(len(set(subset)) < len(subset) for subset in bag.estimators_features_)
    expected = dict.fromkeys(NAMES, 0.0)
    for member, subset in zip(bag.estimators_, bag.estimators_features_, strict=True):
        for place, score in zip(subset, member.feature_importances_, strict=True):
            expected[NAMES[place]] += score / 3
    assert scores_of(fj.importances(bag)) == pytest.approx(expected)


@pytest.mark.parametrize(
    "step",
    [
        SelectKBest(k=1),
        OneHotEncoder(handle_unknown="ignore"),
        ColumnTransformer([("last", "passthrough", [1]), ("first", StandardScaler(), [0])]),
    ],
    ids=["fewer columns", "more", "another order"],
)
def test_bagged_pipelines_that_change_the_columns(step):
    bag = BaggingClassifier(make_pipeline(step, LogisticRegression()), 2, max_features=2, random_state=0)
    bag.fit(IRIS.round(), SPECIES)
    with pytest.raises(InputError, match="its pipelines have them for other columns, which group=True sums"):
        fj.importances(bag)
    expected = dict.fromkeys(IRIS.columns, 0.0)
    for member, subset in zip(bag.estimators_, bag.estimators_features_, strict=True):
        grouped = fj.importances(member, group=True)
        for place, score in zip(grouped.items or range(grouped.n), grouped.scores, strict=True):
            expected[IRIS.columns[subset[place]]] += score / 2
    assert scores_of(fj.importances(bag, group=True)) == pytest.approx(expected)


def test_a_pipeline_that_ends_with_passthrough():
    model = Pipeline([("scale", StandardScaler()), ("best", SelectKBest(k=2)), ("last", "passthrough")])
    model.fit(IRIS, SPECIES)
    assert scores_of(fj.importances(model, group=True)) == dict(zip(IRIS.columns, model[1].scores_, strict=True))


def test_unlike_models_are_not_averaged():
    votes = VotingClassifier([("tree", DecisionTreeClassifier()), ("linear", LogisticRegression(max_iter=5000))])
    with pytest.raises(InputError, match="the scores of its members have no common scale"):
        fj.importances(votes.fit(CANCER, MALIGNANT))


def test_selectors():
    best = SelectKBest(f_classif, k=2).fit(CANCER, MALIGNANT)
    ranking = fj.importances(best)
    np.testing.assert_array_equal(ranking.scores, f_classif(CANCER, MALIGNANT)[0])
    assert ranking.items == tuple(NAMES)
    assert ranking.notes == ("SelectKBest: scores_",)
    rfe = RFE(DecisionTreeClassifier(random_state=0), n_features_to_select=2).fit(CANCER, MALIGNANT)
    assert scores_of(fj.importances(rfe)) == {name: 1 / rank for name, rank in zip(NAMES, rfe.ranking_, strict=True)}
    assert fj.importances(rfe).notes == ("RFE: 1 / ranking_; selected features tie at rank 1",)
    forward = SequentialFeatureSelector(Lasso(), n_features_to_select=2, cv=2).fit(CANCER, MALIGNANT)
    with pytest.raises(InputError, match="SequentialFeatureSelector must have feature_importances_, coef_ or another"):
        fj.importances(forward)


def test_selectors_inside_pipelines():
    model = make_pipeline(StandardScaler(), SelectKBest(k=2), LogisticRegression()).fit(CANCER, MALIGNANT)
    kept = [name for name, chosen in zip(NAMES, model[1].get_support(), strict=True) if chosen]
    assert scores_of(fj.importances(model)) == dict(zip(kept, np.abs(model[-1].coef_[0]).tolist(), strict=True))
    ends = Pipeline([("scale", StandardScaler()), ("best", SelectKBest(k=2)), ("none", "passthrough")])
    assert fj.importances(ends.fit(CANCER, MALIGNANT)).items == tuple(NAMES)


def test_signed_scores_of_a_selector_are_the_users_choice():
    """SelectKBest takes the highest scores, not the greatest magnitudes: which of them rank is not for us to say."""
    best = SelectKBest(r_regression, k=2).fit(CANCER, MALIGNANT)
    with pytest.raises(InputError, match="must hold non-negative scores; 6 of 6 are negative"):
        fj.importances(best)
    np.testing.assert_array_equal(fj.importances(best, negative="abs").scores, np.abs(best.scores_))


def test_scores_that_are_nan():
    constant = CANCER.assign(constant=1.0)
    with pytest.warns(UserWarning, match="constant"), np.errstate(invalid="ignore"):
        best = SelectKBest(f_classif, k=2).fit(constant, MALIGNANT)
    with pytest.raises(InputError, match="nan='zero'"):
        fj.importances(best)
    assert fj.importances(best, nan="zero").scores[-1] == 0
    assert fj.importances(best, nan="drop").items == tuple(NAMES)


# What scikit-learn returns


@pytest.fixture(scope="module")
def permuted(forest):
    return permutation_importance(forest, CANCER, MALIGNANT, n_repeats=4, random_state=0)


def test_permutation_importance(permuted, forest):
    ranking = fj.importances(permuted, feature_names=NAMES)
    np.testing.assert_allclose(ranking.scores, permuted.importances_mean, rtol=1e-14)
    assert ranking.items == tuple(NAMES)
    assert ranking.notes == ("permutation_importance: importances; mean over 4 repeats",)
    repeats = fj.importances(permuted, each=True)
    assert repeats.names == ("repeat 1", "repeat 2", "repeat 3", "repeat 4")
    np.testing.assert_array_equal(repeats.matrix(), permuted.importances.T)
    assert fj.stability(permuted).value == fj.stability(permuted.importances.T).value
    assert "no feature names: features are positions" in " ".join(fj.stability(permuted).notes)
    with pytest.raises(InputError, match=r"has none, so they cannot be aligned.*importances\(\.\.\., feature_names"):
        fj.compare(permuted, forest)


def test_negative_permutation_importances_count_as_0():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(5, 3))
    bunch = {"importances": values, "importances_mean": values.mean(axis=1), "importances_std": values.std(axis=1)}
    negative = int((values.mean(axis=1) < 0).sum())
    assert negative
    assert f"{negative} of 5 scores are negative and count as 0" in fj.importances(bunch).notes[1]


def test_several_scorers(forest):
    scored = permutation_importance(
        forest, CANCER, MALIGNANT, n_repeats=2, scoring=["accuracy", "roc_auc"], random_state=0
    )
    both = fj.rankings(scored)
    assert both.names == ("accuracy", "roc_auc")
    np.testing.assert_allclose(both["roc_auc"].scores, scored["roc_auc"].importances_mean)
    with pytest.raises(InputError, match=r"r must be one ranking; got several, each a mapping. Pass one of them"):
        fj.compare(scored, forest)


def test_cross_validation():
    results = cross_validate(LogisticRegression(max_iter=5000), CANCER, MALIGNANT, cv=4, return_estimator=True)
    rows = np.array([estimator.coef_[0] for estimator in results["estimator"]])
    folds = fj.importances(results)
    assert folds.names == ("fold 1", "fold 2", "fold 3", "fold 4")
    np.testing.assert_array_equal(folds.matrix(), np.abs(rows))
    assert folds.labels == tuple(NAMES)
    stability = fj.stability(results)
    assert stability.value == fj.stability(np.abs(rows)).value
    assert "coef_ of LogisticRegression" in stability.notes
    mean = fj.importances(results, each=False)
    np.testing.assert_allclose(mean.scores, np.abs(rows).mean(axis=0))
    assert "mean magnitude over 4 folds" in mean.notes[0]
    without = cross_validate(Ridge(), CANCER, MALIGNANT, cv=2)
    with pytest.raises(InputError, match="call cross_validate with return_estimator=True"):
        fj.stability(without)


def test_folds_with_other_columns():
    table = pd.DataFrame({"c": ["x"] * 10 + ["y"] * 10 + ["z"] * 10, "d": np.arange(30)})
    prepare = encoder(hot=(OneHotEncoder(handle_unknown="ignore"), ["c"]), scaled=(StandardScaler(), ["d"]))
    results = cross_validate(make_pipeline(prepare, Ridge()), table, np.arange(30), cv=3, return_estimator=True)
    with pytest.raises(InputError, match="missing='zero'"):
        fj.stability(results)
    assert fj.stability(results, missing="zero").m == 3
    with pytest.raises(InputError, match="must score the same features in each fold, to be averaged"):
        fj.importances(results, each=False)
    grouped = fj.importances(results, group=True)
    assert grouped.labels == ("c", "d")


# Attributions


def test_arrays_of_attributions():
    values = np.array([[1.0, -2, 0], [-3, 1, 0.5]])
    ranking = fj.importances(values)
    assert ranking.scores.tolist() == [2.0, 1.5, 0.25]
    assert "attributions; no feature names: features are positions; mean magnitude over 2 rows" in ranking.notes[0]
    rows = fj.importances(values, each=True, feature_names=["a", "b", "c"])
    assert rows.names == ("row 0", "row 1")
    assert rows["row 1"].scores.tolist() == [3, 1, 0.5]
    assert rows["row 1"].signs.tolist() == [-1, 1, 1]
    frame = pd.DataFrame(values, columns=["a", "b", "c"])
    assert scores_of(fj.importances(frame)) == {"a": 2.0, "b": 1.5, "c": 0.25}
    assert fj.importances(values.tolist()).scores.tolist() == [2.0, 1.5, 0.25]


def test_attributions_add_up_with_their_signs():
    frame = pd.DataFrame([[1.0, -2, 0], [-3, 1, 0.5]], columns=["a", "b", "c"])
    grouped = fj.importances(frame, group={"a": "ab", "b": "ab"})
    assert scores_of(grouped) == {"ab": (abs(1 - 2) + abs(-3 + 1)) / 2, "c": 0.25}


@pytest.mark.parametrize("values", [np.zeros((2, 3, 4)), np.zeros((0, 3)), np.array([["a", "b"]])], ids=str)
def test_arrays_that_are_no_attributions(values):
    with pytest.raises(InputError, match="must be numbers in rows by features; got shape"):
        fj.importances(values)


def test_two_dimensional_arrays_are_not_taken_for_attributions_unasked():
    with pytest.raises(InputError, match=r"must be one-dimensional.*importances of attributions"):
        fj.compare(np.ones((2, 3)), np.ones((2, 3)))


def test_a_table_with_text_is_refused():
    with pytest.raises(InputError, match="must be a table of numbers, one column per feature; 'b' is none"):
        fj.importances(pd.DataFrame({"a": [1.0], "b": ["x"]}))


def test_plain_scores():
    assert scores_of(fj.importances({"a": 1, "b": 2})) == {"a": 1.0, "b": 2.0}
    assert scores_of(fj.importances([1, 2], feature_names=["a", "b"])) == {"a": 1.0, "b": 2.0}
    for options in ({"group": True}, {"each": True}, {"importance_type": "gain"}):
        with pytest.raises(InputError, match="must be a model to have groups, types or parts"):
            fj.importances([1, 2], **options)


def test_several_models_are_no_ranking(forest, logistic):
    for several in ([forest, logistic], {"a": forest, "b": logistic}):
        with pytest.raises(InputError, match=r"must be one model; got 2. Read several with fujiscore.rankings"):
            fj.importances(several)
    with pytest.raises(InputError, match=r"got the model RandomForestClassifier. Pass fujiscore.importances of it"):
        fj.Ranking(forest)
    again = fj.importances(fj.importances(forest))
    assert again.name == "RandomForestClassifier"


def test_options_that_do_not_apply(forest, permuted):
    with pytest.raises(InputError, match="importance_type is for models of XGBoost, LightGBM and CatBoost"):
        fj.importances(forest, importance_type="gain")
    with pytest.raises(InputError, match="importance_type is for models of XGBoost, LightGBM and CatBoost"):
        fj.importances(permuted, importance_type="gain")
    with pytest.raises(InputError, match="each=True needs repeats, rows or folds; RandomForestClassifier gives one"):
        fj.importances(forest, each=True)
    with pytest.raises(InputError, match="group=True needs a pipeline; importances does not tell which columns"):
        fj.importances(np.ones((3, 2)), group=True)


# Every function takes models


def test_every_function_of_two_rankings_takes_models(forest, logistic):
    r, s = fj.importances(forest), fj.importances(logistic)
    for function in (fj.auc, fj.compare, fj.chance, fj.curve):
        assert str(function(forest, logistic)) == str(function(r, s))
    assert str(fj.explain(forest, logistic, 2)) == str(fj.explain(r, s, 2))
    assert fj.fuji(forest, logistic, 2) == fj.fuji(r, s, 2)
    assert fj.score(forest, logistic, 2, measure="jaccard") == fj.score(r, s, 2, measure="jaccard")
    assert float(fj.rbo(forest, logistic)) == float(fj.rbo(r, s))
    found, expected = (str(fj.recall(*both, k=2)).partition("note:")[0] for both in ((logistic, forest), (s, r)))
    assert found == expected


def test_every_function_of_many_rankings_takes_models(forest, logistic):
    tree = DecisionTreeClassifier(random_state=0).fit(CANCER[NAMES[::-1]], MALIGNANT)
    models = [forest, logistic, tree]
    names = ("RandomForestClassifier", "LogisticRegression", "DecisionTreeClassifier")
    matrix = fj.pairwise(models)
    assert matrix.names == names
    checked = [fj.importances(model) for model in models]
    np.testing.assert_array_equal(matrix.values, fj.pairwise(checked).values)
    np.testing.assert_array_equal(fj.consensus(models).ranking.scores, fj.consensus(checked).ranking.scores)
    assert fj.stability(models).value == fj.stability(checked).value
    assert fj.pairwise([forest, forest]).names == ("0", "1")


def test_models_are_aligned_by_name(forest):
    reversed_columns = RandomForestClassifier(8, random_state=0).fit(CANCER[NAMES[::-1]], MALIGNANT)
    both = fj.rankings({"a": forest, "b": reversed_columns})
    expected = dict(zip(NAMES[::-1], reversed_columns.feature_importances_, strict=True))
    np.testing.assert_array_equal(both["b"].scores, [expected[name] for name in NAMES])
    fewer = RandomForestClassifier(8, random_state=0).fit(CANCER[NAMES[:4]], MALIGNANT)
    with pytest.raises(InputError, match=r"s must score every item; it lacks 2 of 6 \(first: 'mean smoothness'\)"):
        fj.compare(forest, fewer)


def test_opposite_coefficients():
    y = CANCER["mean radius"]
    up, down = LinearRegression().fit(CANCER, y), LinearRegression().fit(CANCER, -y)
    assert fj.auc(up, down) == pytest.approx(1, abs=1e-9)
    assert fj.fuji(up, down, 1, negative="split") == 0


def test_rows_by_compare_runs():
    class Explanation:
        """The parts of a shap.Explanation that are read; the real one is in tests/inputs/test_models.py."""

        feature_names = ("a", "b", "c")
        base_values = 0.0

        def __init__(self, values):
            self.values = np.array(values)

    Explanation.__module__ = "shap._explanation"
    first = Explanation([[1.0, -2, 3], [4, 5, 6]])
    second = Explanation([[1.0, 2, -3], [6, 5, -4]])
    compared = fj.compare_runs(first, second, k=1)
    assert compared.queries.tolist() == [0, 1]
    np.testing.assert_allclose(
        compared.columns["fuji"], [fj.fuji([1, 2, 3], [1, 2, 3], 1), fj.fuji([4, 5, 6], [6, 5, 4], 1)]
    )
    assert "a: values of shap.Explanation" in compared.notes
    assert any("negative scores replaced by magnitudes" in note for note in compared.notes)
    with pytest.raises(InputError, match="a must be several rankings; a model gives one"):
        fj.compare_runs(LinearRegression().fit(IRIS, SPECIES), first)


# Rankers


def test_pipelines_as_rankers_score_input_columns():
    """The columns that a ColumnTransformer reorders are scored in the order of the table."""
    X = CANCER.to_numpy()
    swapped = ColumnTransformer([("last", StandardScaler(), [5, 3]), ("first", StandardScaler(), [0, 1])])
    scores = as_ranker(make_pipeline(swapped, LogisticRegression()))(X, MALIGNANT, 0)
    model = make_pipeline(swapped, LogisticRegression(random_state=0)).fit(X, MALIGNANT)
    c = np.abs(model[-1].coef_[0])
    np.testing.assert_allclose(scores, [c[2], c[3], 0, c[1], 0, c[0]])
