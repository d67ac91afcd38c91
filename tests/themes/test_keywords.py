"""Keywords that a function does not have are refused in its name, with one that it has."""

from __future__ import annotations

import inspect

import pytest
from gallery import public_functions

import fujiscore as fj
from fujiscore import InputError

PAIRS = ("auc", "bounds", "chance", "compare", "curve", "drift", "explain", "fuji", "score")
MANY = ("consensus", "pairwise", "rankings", "sequential_rank_agreement", "stability", "stability_curve")
ARGUMENTS = {
    **dict.fromkeys(PAIRS, ([1, 2], [2, 1])),
    **dict.fromkeys(MANY, ([[1, 2], [2, 1]],)),
    **dict.fromkeys(("compare_pairs", "compare_stability", "resampled_similarity"), ([[1, 2]] * 3, [[2, 1]] * 3)),
    "importances": ([1, 2],),
    "compare_runs": ([[0.1, 0.2]], [[0.2, 0.1]]),
}


def test_every_function_with_policies_is_here():
    policies = {"negative", "nan", "missing", "duplicates"}
    functions = public_functions().items()
    taking = {name for name, function in functions if policies <= set(inspect.signature(function).parameters)}
    assert taking - {"read"} == set(ARGUMENTS)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_unknown_keywords(name):
    function = public_functions()[name]
    with pytest.raises(TypeError) as caught:
        function(*ARGUMENTS[name], misssing="zero")
    assert str(caught.value) == f"{name}() got an unexpected keyword argument 'misssing'. Did you mean 'missing'?"
    with pytest.raises(TypeError) as caught:
        function(*ARGUMENTS[name], qwertz=1)
    assert str(caught.value) == f"{name}() got an unexpected keyword argument 'qwertz'"


def test_folders_that_keep_finished_work_are_checkpoints():
    with pytest.raises(TypeError, match=r"argument 'resume'\. Did you mean 'checkpoint'\?"):
        fj.study([[1, 2], [2, 1]], [0, 1], resume="folder")


@pytest.mark.parametrize(
    ("name", "wrong", "right"), [("compare", "measure", "measures"), ("auc", "measures", "measure")]
)
def test_one_measure_or_several(name, wrong, right):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{wrong}'. Did you mean '{right}'?"):
        public_functions()[name](*ARGUMENTS[name], **{wrong: "rbo"})


@pytest.mark.parametrize("name", [name for name in ARGUMENTS if name != "importances"])
@pytest.mark.parametrize("option", ["group", "feature_names", "each", "importance_type"])
def test_options_of_importances_name_the_remedy(name, option):
    """drift(m1, m2, group=True) said "align() got an unexpected keyword argument"."""
    with pytest.raises(InputError, match=rf"{name} has no {option}, which is an option of importances.*{name}\(import"):
        public_functions()[name](*ARGUMENTS[name], **{option: True})


def test_the_remedy_works():
    pytest.importorskip("sklearn")
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"colour": list("abcabcab"), "size": [1, 2, 3, 4, 5, 6, 7, 8]})
    encode = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    models = [
        make_pipeline(encode, RandomForestClassifier(5, random_state=seed)).fit(table, [0, 1] * 4) for seed in (0, 1)
    ]
    result = fj.drift(*(fj.importances(model, group=True) for model in models))
    assert {change.item for change in result.changes} == {"colour", "size"}
