"""What asks for signs gets signed scores: magnitudes averaged over outputs, rows or estimators are refused."""

from __future__ import annotations

import numpy as np
import pytest

import fujiscore as fj
from fujiscore import InputError

pytest.importorskip("sklearn")
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.multiclass import OneVsRestClassifier

IRIS, SPECIES = load_iris(return_X_y=True)


class Explanation:
    """The parts of a shap.Explanation that are read; the real one is in tests/inputs/test_models.py."""

    def __init__(self, values, base_values=None, feature_names=None):
        self.values, self.base_values, self.feature_names = np.asarray(values), base_values, feature_names

    def __getitem__(self, key):
        return Explanation(self.values[key], 0.0, self.feature_names)


Explanation.__module__ = "shap._explanation"


def explained(outputs=2, rows=5, features=4, seed=0):
    """Attributions of a model with several outputs; of two, one is the negative of the other."""
    values = np.random.default_rng(seed).normal(size=(rows, features, outputs))
    if outputs == 2:
        values[..., 0] = -values[..., 1]
    return Explanation(values, np.zeros((rows, outputs)), [f"x{i}" for i in range(features)])


def negated(explanation):
    return Explanation(-explanation.values, explanation.base_values, explanation.feature_names)


FOREST = explained()
OPPOSITE = negated(FOREST)
SPLIT = {"negative": "split"}
CALLS = {
    "compare_runs": (lambda a, b, **o: fj.compare_runs(a, b, k=3, **o), "measures"),
    "compare": (fj.compare, "measures"),
    "score": (lambda a, b, **o: fj.score(a, b, 2, **o), "measure"),
    "curve": (fj.curve, "measure"),
    "auc": (fj.auc, "measure"),
    "chance": (lambda a, b, **o: fj.chance(a, b, permutations=9, **o), "measure"),
    "drift": (fj.drift, "measure"),
    "pairwise": (lambda a, b, **o: fj.pairwise({"a": a, "b": b}, **o), "measure"),
    "stability": (lambda a, b, **o: fj.stability({"a": a, "b": b, "c": a}, **o), "measure"),
    "rows": (lambda a, _b, **o: fj.stability(a, **o), "measure"),
    "rankings": (lambda a, _b, **o: fj.rankings(a, **o), None),
    "importances": (lambda a, _b, **o: fj.importances(a, **o), None),
    "each": (lambda a, _b, **o: fj.importances(a, each=True, **o), None),
    "explain": (lambda a, b, **o: fj.explain(a, b, 2, **o), None),
    "fuji": (lambda a, b, **o: fj.fuji(a, b, 2, **o), None),
    "bounds": (fj.bounds, None),
}


@pytest.mark.parametrize("name", CALLS)
def test_outputs_averaged_as_magnitudes(name):
    """compare_runs gave 1 for attributions of the opposite sign, with "split" as by sign agreement."""
    call, measure = CALLS[name]
    asked = [SPLIT]
    if measure is not None:
        some = ("sign_agreement", "signed_rank_agreement")
        asked += [{measure: [one] if measure == "measures" else one} for one in some]
    for options in asked:
        with pytest.raises(InputError, match=r"must have signs for .*mean magnitudes over 2 outputs.*\[\.\.\., 1\]"):
            call(FOREST, OPPOSITE, **options)


@pytest.mark.parametrize("options", [SPLIT, {"measures": ["sign_agreement"]}, {"measures": ["signed_rank_agreement"]}])
def test_one_output_has_signs(options):
    a, b = FOREST[..., 1], OPPOSITE[..., 1]
    for other, value in ((a, 1.0), (b, 0.0)):
        result = fj.compare_runs(a, other, k=3, **options)
        assert result.columns[result.measures[0].name].tolist() == [value] * 5
    alone = Explanation(FOREST.values[..., 1:], np.zeros((5, 1)), FOREST.feature_names)
    result = fj.compare_runs(alone, b, k=3, **options)
    assert result.columns[result.measures[0].name].tolist() == [0.0] * 5


def test_rows_averaged_as_magnitudes():
    """The note said "two signs each" over magnitudes."""
    a, b = FOREST[..., 1], OPPOSITE[..., 1]
    for call in (lambda: fj.compare(a, b, **SPLIT), lambda: fj.compare(a, b, ["sign_agreement"])):
        with pytest.raises(InputError, match=r"r must have signs .* mean magnitudes over 5 rows.*compare_runs"):
            call()
    assert fj.fuji(a[0], b[0], 2, **SPLIT) == 0
    assert fj.compare(a, b).notes


def test_checked_rankings_remember():
    made = fj.importances(FOREST)
    for ranking in (made, fj.rankings([made])[0], fj.rankings({"a": made, "b": made})["a"]):
        with pytest.raises(InputError, match="mean magnitudes over 2 outputs"):
            fj.compare(ranking, ranking, **SPLIT)
        with pytest.raises(InputError, match="mean magnitudes over 2 outputs"):
            fj.score(ranking, ranking, 2, "sign_agreement")
    assert fj.score(made, made, 2, "rank_agreement") == 1


def test_no_opposite_signs_without_signs():
    """Of mean magnitudes against signed coefficients no feature has the opposite sign."""
    signed = dict.fromkeys(FOREST.feature_names, -1.0)
    assert not fj.drift(FOREST, signed, negative="abs").flipped
    assert fj.drift(dict.fromkeys(signed, 1.0), signed, negative="abs").flipped


def test_coefficients_averaged_as_magnitudes():
    several = LogisticRegression(max_iter=500).fit(IRIS, SPECIES)
    one = LinearRegression().fit(IRIS, SPECIES)
    for model, why in [
        (several, r"mean magnitudes over 3 rows of coefficients.*coef_\[0\]"),
        (
            OneVsRestClassifier(LogisticRegression()).fit(IRIS, SPECIES),
            "mean magnitudes over the 3 estimators of OneVs",
        ),
    ]:
        with pytest.raises(InputError, match=why):
            fj.compare(model, model, **SPLIT)
        with pytest.raises(InputError, match=why):
            fj.score(model, one, 2, "sign_agreement")
    assert fj.fuji(one, one, 2, **SPLIT) == 1
    assert fj.fuji(several.coef_[0], -several.coef_[0], 2, **SPLIT) == 0


def test_folds_and_groups():
    folds = cross_validate(LinearRegression(), IRIS, SPECIES, cv=3, return_estimator=True)
    with pytest.raises(InputError, match=r"mean magnitudes over 3 folds.*each=True"):
        fj.compare(folds, folds, **SPLIT)
    assert fj.importances(folds, **SPLIT).names == ("fold 1", "fold 2", "fold 3")
    model = LinearRegression().fit(IRIS, SPECIES)
    with pytest.raises(InputError, match=r"sums of magnitudes\. Leave out group"):
        fj.importances(model, feature_names=list("abcd"), group={"a": "ab", "b": "ab"}, **SPLIT)
    rows = fj.importances(FOREST[..., 1], each=True, group={"x0": "x", "x1": "x"}, **SPLIT)
    assert rows.n_whole == 3  # attributions add up with their signs


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((6, 4, 3), r"Compare outputs \(classes\) one by one: pick one output, explanation\[\.\.\., c\]"),
        ((6, 3, 3), r"interactions, pass explanation.values.sum\(axis=-1\); if they are outputs, pick one"),
    ],
)
def test_a_third_axis_without_base_values(shape, message):
    """Summed over three classes, attributions cancel: the advice gave 0.25 instead of 0.9."""
    with pytest.raises(InputError, match=message):
        fj.compare_runs(Explanation(np.ones(shape)), Explanation(np.ones(shape)))


class TestSignAgreementByDefinition:
    """Krishna et al.: the share of the top k that both have with sign(a) = sign(b), as OpenXAI computes it."""

    def test_zero_agrees_with_zero_alone(self):
        r, s = [3.0, 2.0, 0.0, -1.0], [0.0, 2.0, 0.0, 0.0]
        assert fj.score(r, s, 4, "sign_agreement", negative="abs") == 0.5
        assert fj.score([0.0, 1.0], [5.0, 1.0], 2, "sign_agreement") == 0.5

    @pytest.mark.parametrize("seed", range(5))
    def test_single_and_batch(self, seed):
        rng = np.random.default_rng(seed)
        a, b = (rng.integers(-2, 3, (30, 6)).astype(float) for _ in range(2))
        result = fj.compare_runs(a, b, k=3, negative="abs", measures=["sign_agreement", "signed_rank_agreement"])
        for q in range(30):
            best = [{x: sum(abs(y) > abs(own[x]) for y in own) for x in range(6)} for own in (a[q], b[q])]
            first, second = ({x for x in places if places[x] < 3} for places in best)
            same = {x for x in first & second if np.sign(a[q, x]) == np.sign(b[q, x])}
            ranked = {x for x in same if best[0][x] == best[1][x]}
            size = max(len(first), len(second))
            for name, items in (("sign_agreement", same), ("signed_rank_agreement", ranked)):
                expected = pytest.approx(len(items) / size)
                assert result.columns[name][q] == expected
                assert fj.score(a[q], b[q], 3, name, negative="abs") == expected


@pytest.mark.parametrize("transform", ["exp", "minmax", "flip", "rank", "abs", ("exp", None)])
def test_transforms_that_leave_no_signs_are_refused_where_signs_are_asked_for(transform):
    a, b = {"x": -3.0, "y": 2.0, "z": 1.0}, {"x": 3.0, "y": 2.0, "z": -1.0}
    for compared in (
        lambda: fj.compare(a, b, negative="split", transform=transform),
        lambda: fj.compare_runs({"q": a}, {"q": b}, k=2, negative="split", transform=transform),
    ):
        with pytest.raises(fj.InputError, match=r"must have signs for negative='split'.*Leave out transform"):
            compared()


def test_sign_agreement_of_transformed_scores_is_refused_but_of_magnitudes_it_is_not():
    a, b = {"x": -3.0, "y": 2.0, "z": 1.0}, {"x": 3.0, "y": 2.0, "z": -1.0}
    with pytest.raises(fj.InputError, match="must have signs for sign_agreement"):
        fj.compare(a, b, measures=["sign_agreement"], transform="exp")
    with pytest.raises(fj.InputError, match="must have signs for sign_agreement"):
        fj.compare_runs({"q": a}, {"q": b}, k=2, measures=["sign_agreement"], transform="exp")
    assert fj.score(a, b, 2, "sign_agreement", transform="abs") == 0.5
