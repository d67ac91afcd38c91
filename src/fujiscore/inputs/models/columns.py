"""Which columns a transformer makes: their names, and the input column that each comes from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, spelled
from fujiscore.inputs.coercion import Labels, objects
from fujiscore.inputs.models.source import positions

MARK = "⟦{}⟧"  # stands for an input column in the names of outputs, where no real name can be mistaken for it
MARKS = re.compile(r"⟦(\d+)⟧")
SCALERS = {"StandardScaler", "RobustScaler", "MinMaxScaler", "MaxAbsScaler", "QuantileTransformer", "PowerTransformer"}
# Columns of 0 and 1 have one scale, too.
INDICATORS = {"OneHotEncoder", "MissingIndicator"}


def names_in(estimator: Any) -> list[Any] | None:
    """Return the names of the columns that an estimator was fitted on, None if they had none."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else list(names)


def steps_of(pipeline: Any) -> list[Any]:
    """Return the steps of a pipeline without those that pass the columns through."""
    return [step for _, step in pipeline.steps if step is not None and not isinstance(step, str)]


def names_out(transformers: Sequence[Any], names: Labels | None) -> tuple[Labels | None, str | None]:
    """Return the names of the columns after some transformers, None where unknown, and which of these has no names."""
    named = names is not None
    for transformer in transformers:
        try:
            names = transformer.get_feature_names_out(None if names is None else objects(names))
        except (AttributeError, TypeError, ValueError):
            return None, type(transformer).__name__
    return (None if names is None else list(names)) if named else positions(names, "x{}"), None


def through(transformers: Sequence[Any], width: int) -> NDArray[np.intp]:
    """Return, for each column after some transformers, which of the first one's columns it comes from, or raise."""
    result = np.arange(width)
    for transformer in transformers:
        result = result[origins(transformer, int(getattr(transformer, "n_features_in_", result.size)))]
    return result


def origins(transformer: Any, width: int) -> NDArray[np.intp]:
    """Return, for each column that a transformer makes of `width` columns, the one it comes from, or raise."""
    if hasattr(transformer, "steps"):
        return through(steps_of(transformer), width)
    if hasattr(transformer, "output_indices_") and hasattr(transformer, "transformers_"):
        return _of_columns(transformer)
    if hasattr(transformer, "transformer_list"):
        parts = [part for _, part in transformer.transformer_list if part != "drop"]
        return np.concatenate([_of_part(part, np.arange(width)) for part in parts])
    return _of_names(transformer, width)


def _of_part(part: Any, columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the origins of what a part makes of some columns."""
    return columns if isinstance(part, str) else columns[origins(part, columns.size)]


def _of_columns(transformer: Any) -> NDArray[np.intp]:
    """Return the origins of the columns that a ColumnTransformer makes."""
    names = names_in(transformer)
    blocks: list[tuple[int, NDArray[np.intp]]] = []
    for name, part, columns in transformer.transformers_:
        place = transformer.output_indices_[name]
        if place.stop > place.start:
            blocks.append((place.start, _of_part(part, _places(columns, names, transformer.n_features_in_))))
    return np.concatenate([block for _, block in sorted(blocks, key=lambda entry: entry[0])])


def _places(columns: Any, names: Labels | None, width: int) -> NDArray[np.intp]:
    """Return the positions of the columns that a ColumnTransformer selects by name, position, slice or mask."""
    place = {} if names is None else {name: i for i, name in enumerate(names)}
    if isinstance(columns, slice) and isinstance(columns.start or columns.stop, str):
        last = width if columns.stop is None else place[columns.stop] + 1
        return np.arange(place.get(columns.start, 0), last, columns.step)
    if isinstance(columns, (str, int)):
        columns = [columns]
    if not isinstance(columns, slice) and any(isinstance(column, str) for column in columns):
        return np.array([place[column] for column in columns])
    return np.arange(width)[columns if isinstance(columns, slice) else np.asarray(columns)]


def _of_names(transformer: Any, width: int) -> NDArray[np.intp]:
    """Return the origins by the names that a transformer makes of marked ones."""
    marked = copy(transformer)
    marks = np.array([MARK.format(i) for i in range(width)], object)
    try:
        if hasattr(transformer, "feature_names_in_"):
            marked.feature_names_in_ = marks
        names = marked.get_feature_names_out(marks)
    except (AttributeError, TypeError, ValueError):
        raise _unknown(transformer, "does not name the columns that it makes") from None
    if width == 1:
        return np.zeros(len(names), np.intp)
    found = [set(MARKS.findall(str(name))) for name in names]
    strange = [str(name) for name, sources in zip(names, found, strict=True) if len(sources) != 1]
    if strange:
        example = MARKS.sub(r"[\1]", strange[0])
        raise _unknown(transformer, f"makes columns of several or of none, such as {example}")
    return np.array([int(sources.pop()) for sources in found], np.intp)


def _unknown(transformer: Any, why: str) -> InputError:
    """Return the error for columns whose origin cannot be told."""
    return InputError(
        f"{spelled('group', value=True)} needs transformers that make each column from one; "
        f"{type(transformer).__name__} {why}. Pass a dict of feature to group."
    )


def scaled(transformer: Any) -> bool:
    """Return whether a transformer leaves columns of one scale."""
    if hasattr(transformer, "steps"):
        return any(scaled(step) for step in steps_of(transformer))
    if hasattr(transformer, "output_indices_") and hasattr(transformer, "transformers_"):
        used = [
            part for name, part, _ in transformer.transformers_
            if transformer.output_indices_[name].stop > transformer.output_indices_[name].start
        ]  # fmt: skip
        return all(not isinstance(part, str) and (scaled(part) or _named(part, INDICATORS)) for part in used)
    return _named(transformer, SCALERS)


def _named(transformer: Any, names: set[str]) -> bool:
    """Return whether a transformer, or the last step of a pipeline, is of a class of that name."""
    last = steps_of(transformer)[-1] if hasattr(transformer, "steps") else transformer
    return type(last).__name__ in names
