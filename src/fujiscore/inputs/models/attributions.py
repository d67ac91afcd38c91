"""Attributions, one row per instance and one column per feature: SHAP explanations, tensors, arrays, tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fujiscore.errors import InputError, counted, shown
from fujiscore.inputs.coercion import Labelled, Labels, as_frame, is_table, unmasked
from fujiscore.inputs.models.source import ModelScores, Origin, is_of

EXPLANATION = "shap.Explanation"


def is_tensor(obj: Any) -> bool:
    """Return whether an object is a PyTorch tensor."""
    return is_of(type(obj), "torch", "Tensor")


def tensor_array(tensor: Any) -> NDArray[Any]:
    """Return a tensor of any device as an array, without its gradient; NumPy has no bfloat16, and no sparse arrays."""
    dense = tensor.detach().to_dense() if tensor.layout.__str__() != "torch.strided" else tensor.detach()
    dense = dense.cpu().resolve_conj().resolve_neg()
    return np.asarray((dense.double() if dense.is_floating_point() else dense).numpy())


def read_explanation(explanation: Any, name: str) -> ModelScores:
    """Return the rows of a shap.Explanation; several outputs become their mean magnitude."""
    values = np.asarray(explanation.values)
    if values.dtype == object or values.ndim not in {1, 2, 3}:
        raise InputError(
            f"{name} must hold one value per row and feature; the values of the shap.Explanation have shape "
            f"{values.shape} and type {values.dtype}. Pass an array of rows by features."
        )
    notes: list[str] = [Origin(("values", EXPLANATION))]
    unsigned = None
    names = explanation.feature_names
    alone = getattr(getattr(explanation, "data", None), "ndim", None) == 1
    if values.ndim == 2 and (alone or (names is not None and len(names) == len(values) != values.shape[1])):
        values = values[None]  # of one row: features by outputs, as the data or the names of the features tell
    if values.ndim == 3:
        outputs = values.shape[2]
        if np.shape(explanation.base_values)[-1:] != (outputs,):
            raise _third_axis(name, values.shape)
        if outputs > 1:
            over = f"over {counted(outputs, 'output')}"
            notes.append(f"mean magnitude {over}")
            unsigned = f"mean magnitudes {over}. Pick one output, such as explanation[..., 1]."
        values = np.abs(values).mean(axis=2) if outputs > 1 else values[..., 0]
    values = np.atleast_2d(values)
    if names is not None and len(names) != values.shape[1]:
        raise InputError(
            f"{name} must have one name per feature; the shap.Explanation has {len(names)} feature_names and values of "
            f"{counted(values.shape[1], 'feature')}. Correct its feature_names, or set them to None."
        )
    return rows_of(values, None if names is None else list(names), notes, unsigned)


def _third_axis(name: str, shape: tuple[int, ...]) -> InputError:
    """Return the error for a third axis that no base values say to be outputs: these must not be summed."""
    must = f"{name} must hold one value per row and feature; its values have shape {shape}"
    pick = "pick one output, explanation[..., c]"
    if shape[1] != shape[2]:
        return InputError(f"{must}. Compare outputs (classes) one by one: {pick}.")
    interactions = "explanation.values.sum(axis=-1)"
    return InputError(f"{must}. If these are interactions, pass {interactions}; if they are outputs, {pick}.")


def read_array(obj: Any, name: str) -> ModelScores | None:
    """Return the rows of an array, tensor or table of attributions; None if the object is none of these."""
    names: Labels | None = None
    if is_several_tensors(obj):
        names, values = joined_tensors(obj, name)
    elif is_tensor(obj):
        values = tensor_array(obj)
    elif isinstance(obj, np.ndarray):
        values = unmasked(obj)
    elif not isinstance(obj, (dict, list, tuple)) and is_table(obj):
        _, frame = as_frame(obj, name)
        text = [column for column in frame.columns if not frame[column].dtype.is_numeric()]
        if text:
            raise InputError(f"{name} must be a table of numbers, one column per feature; {shown(text[0])} is none.")
        names, values = list(frame.columns), np.asarray(frame.to_numpy(), np.float64)
    elif isinstance(obj, (list, tuple)) and obj and isinstance(obj[0], (list, tuple, np.ndarray)) and _is_nested(obj):
        values = np.array(obj)
    else:
        return None
    if values.ndim == 1:
        return None
    if values.ndim != 2 or not values.size or values.dtype.kind not in "fiub":
        raise InputError(
            f"{name} must be numbers in rows by features; got shape {values.shape} of {values.dtype}. Sum or average "
            "other axes first: classes, channels, embeddings."
        )
    return rows_of(values, names, ["attributions"])


def rows_of(
    values: NDArray[Any], names: Labels | None, notes: Sequence[str], unsigned: str | None = None
) -> ModelScores:
    """Return attributions as a source: they add up, and their magnitudes rank."""
    rows = np.array(values, np.float64, order="C")
    parts = [Labelled(names, row) for row in rows]
    unnamed = () if names is not None else ("no feature names: features are positions",)
    return ModelScores(parts, "row", (*notes, *unnamed), "abs", magnitudes=True, unsigned=unsigned)


def is_several_tensors(obj: Any) -> bool:
    """Return whether an object is what captum gives for a model with several inputs."""
    return isinstance(obj, tuple) and bool(obj) and all(map(is_tensor, obj))


def joined_tensors(tensors: tuple[Any, ...], name: str) -> tuple[Labels | None, NDArray[Any]]:
    """Return the attributions to several inputs side by side; features are called 0/0, 0/1, ..., by input and place."""
    arrays = [tensor_array(part) for part in tensors]
    if len({array.shape[:1] for array in arrays}) > 1 or any(array.ndim != 2 for array in arrays):
        shapes = ", ".join(str(array.shape) for array in arrays[:4])
        raise InputError(f"{name} must be tensors of rows by features with the same rows; got {shapes}.")
    names = [f"{i}/{j}" for i, array in enumerate(arrays) for j in range(array.shape[1])]
    return None if len(arrays) == 1 else names, np.concatenate(arrays, axis=1)


def _is_nested(obj: Sequence[Any]) -> bool:
    """Return whether a sequence holds rows of equal lengths rather than (item, score) pairs."""
    try:
        return np.array(obj).dtype.kind in "fiub" and not all(isinstance(row, tuple) and len(row) == 2 for row in obj)
    except ValueError:
        return False
