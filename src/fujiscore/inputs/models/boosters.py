"""Importances of XGBoost, LightGBM and CatBoost models, of scikit-learn's interface and their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, choice, shown, spelled
from fujiscore.inputs.models.source import Origin, positions

if TYPE_CHECKING:
    from fujiscore.inputs.coercion import Labels, Scores

UNITS = "coefficients depend on the units of the features: standardise these first"
LIBRARIES = ("xgboost", "lightgbm", "catboost")
XGBOOST = ("gain", "weight", "cover", "total_gain", "total_cover")
LIGHTGBM = ("split", "gain")
# What the words mean, for notes.
MEANINGS = {
    ("xgboost", "gain"): "the mean gain of a feature's splits",
    ("xgboost", "weight"): "the number of a feature's splits",
    ("xgboost", "cover"): "the mean coverage of a feature's splits",
    ("xgboost", "total_gain"): "the total gain of a feature's splits",
    ("xgboost", "total_cover"): "the total coverage of a feature's splits",
    ("lightgbm", "split"): "the number of a feature's splits",
    ("lightgbm", "gain"): "the total gain of a feature's splits",
}


class FeatureScores(NamedTuple):
    """The scores that a fitted model gives its features, and what they are."""

    scores: Scores
    names: Labels | None
    what: Origin
    negative: str = "clip"  # the policy that suits the scores: importances below 0 are noise
    caveats: tuple[str, ...] = ()
    reached: NDArray[np.bool_] | None = None  # of input columns: which of them the model sees
    positional: bool = False  # a caveat says that features are positions
    underscored: bool = False  # names have underscores in place of blanks
    unsigned: str | None = None  # of coefficients that lost their signs: what they are, and how to keep the signs

    @property
    def signed(self) -> bool:
        """Whether the scores are coefficients: their magnitudes rank."""
        return self.negative == "abs"


def library_of(obj: Any) -> str | None:
    """Return which of the libraries an object comes from, None if it is another one or no model."""
    roots = {base.__module__.partition(".")[0] for base in type(obj).__mro__}
    library = next((name for name in LIBRARIES if name in roots), None)
    is_model = hasattr(type(obj), "fit") or type(obj).__name__ == "Booster"
    return library if is_model else None


def read(model: Any, library: str, wanted: str | None) -> FeatureScores:
    """Return the importances of a model of one of the libraries, of the wanted type or the library's default."""
    return {"xgboost": _xgboost, "lightgbm": _lightgbm, "catboost": _catboost}[library](model, wanted)


def require_no_type(wanted: str | None, name: str) -> None:
    """Raise if a type of importance is wanted of something that has one only."""
    if wanted is not None:
        raise InputError(
            f"{spelled('importance_type')} is for models of XGBoost, LightGBM and CatBoost; {name} is none of these."
        )


def coefficients(values: Any, names: Labels | None, word: str, title: str) -> FeatureScores:
    """Return coefficients with their signs; several rows, for classes or targets, become the mean magnitude."""
    rows = np.atleast_2d(values.toarray() if hasattr(values, "toarray") else np.asarray(values, np.float64))
    scores, over, unsigned = rows[0], "", None
    if len(rows) > 1:
        scores, over = np.abs(rows).mean(axis=0), f", mean magnitude over {len(rows)} rows (classes or targets)"
        remedy = "Pass the coefficients of one class or target, such as model.coef_[0]"
        unsigned = f"mean magnitudes over {len(rows)} rows of coefficients (classes or targets). {remedy}."
    what = Origin((word, title), (over, None))
    return FeatureScores(scores, names, what, negative="abs", caveats=(UNITS,), unsigned=unsigned)


def _xgboost(model: Any, wanted: str | None) -> FeatureScores:
    """Return the importances of an XGBoost model; features that no tree uses are not in its list, and score 0."""
    booster, chosen = model, wanted
    if hasattr(model, "get_booster"):
        booster = _fitted(model.get_booster, model)
        chosen = wanted or getattr(model, "importance_type", None)
    linear = '"gblinear"' in booster.save_config()
    kind = chosen or ("weight" if linear else "gain")
    choice("importance_type", kind, ("weight",) if linear else XGBOOST)
    scores = booster.get_score(importance_type=kind)
    names = booster.feature_names
    keys = names or [f"f{i}" for i in range(booster.num_features())]
    title = type(model).__name__ if hasattr(model, "get_booster") else "an XGBoost Booster"
    if linear:
        none = np.zeros(np.shape(next(iter(scores.values()), 0.0)))
        return coefficients(np.array([scores.get(key, none) for key in keys]).T, names, "coefficients", title)
    values = np.array([scores.get(key, 0.0) for key in keys], np.float64)
    return FeatureScores(values, names, _of_type(kind, title, "xgboost"))


def _of_type(kind: str, title: str, library: str) -> Origin:
    """Return what importances of a type are."""
    return Origin((f"importance_type {kind!r}", title), (f", {MEANINGS[library, kind]}", None))


def _lightgbm(model: Any, wanted: str | None) -> FeatureScores:
    """Return the importances of a LightGBM model."""
    booster, kind = model, wanted or "split"
    title = "a LightGBM Booster"
    if hasattr(type(model), "booster_"):
        booster = _fitted(lambda: model.booster_, model)
        kind, title = wanted or model.importance_type, type(model).__name__
    choice("importance_type", kind, LIGHTGBM)
    names = positions(booster.feature_name(), "Column_{}")
    scores = np.asarray(booster.feature_importance(importance_type=kind), np.float64)
    return FeatureScores(scores, names, _of_type(kind, title, "lightgbm"), underscored=names is not None)


def _catboost(model: Any, wanted: str | None) -> FeatureScores:
    """Return the importances of a CatBoost model; those that need data cannot be had from the model alone."""
    if not model.is_fitted():
        raise not_fitted(model)
    if wanted is None:
        scores, kind = model.feature_importances_, "feature_importances_"
    else:
        kind = f"importance type {wanted!r}"
        try:
            scores = model.get_feature_importance(type=wanted)
        except Exception as error:  # noqa: BLE001 - the library's own, which needs importing
            why = next(iter(str(error).splitlines()), "no reason given")
            raise InputError(
                f"{spelled('importance_type')} must be one that CatBoost computes without data, such as "
                f"'PredictionValuesChange'; got {shown(wanted)}: {why}"
            ) from None
    values = np.asarray(scores, np.float64)
    if values.ndim != 1:
        raise InputError(
            f"{spelled('importance_type')} must give one score per feature; {shown(wanted)} of CatBoost does not."
        )
    return FeatureScores(values, positions(model.feature_names_, "{}"), Origin((str(kind), type(model).__name__)))


def _fitted(get: Any, model: Any) -> Any:
    """Return what only a fitted model has."""
    try:
        return get()
    except (AttributeError, ValueError):  # scikit-learn's NotFittedError is both
        raise not_fitted(model) from None


def not_fitted(model: Any) -> InputError:
    """Return the error for a model that has not been fitted."""
    return InputError(f"{type(model).__name__} must be fitted before its importances can be read: call its fit first.")
