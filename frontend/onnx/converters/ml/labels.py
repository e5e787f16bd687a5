"""LabelEncoder of numbers."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import TRADITIONAL, Array, NodeView, converts, numpy_dtype
from xrelay.frontend.onnx.converters.ml.features import find_keys


@converts(
    "LabelEncoder",
    domain=TRADITIONAL,
    since=2,
    attributes=(
        *("default_float", "default_int64", "default_string", "default_tensor", "keys_floats", "keys_int64s"),
        *("keys_strings", "keys_tensor", "values_floats", "values_int64s", "values_strings", "values_tensor"),
    ),
    limits="numbers to numbers",
)
def convert_label_encoder(node: NodeView) -> SSAValue:
    """The value of the key that an element equals, else the default; NaN equals NaN."""
    keys, values = _column(node, "keys"), _column(node, "values")
    if len(keys) != len(values):
        raise node.error(f"there are {len(keys)} keys and {len(values)} values")
    dtype = numpy_dtype(node.element_type(0))
    if keys.dtype != dtype:
        raise node.error(f"the keys are {keys.dtype}, the input is {dtype}")
    data, default = node.input(0), node.emit_constant(_default(node, values.dtype), "default")
    table, is_nan = node.emit_constant(values, "values"), np.isnan(keys)
    if not is_nan.all():
        place, is_known = find_keys(node, data, np.where(is_nan, keys[~is_nan][0], keys))
        found = node.emit("where", is_known, node.emit("take", table, place, axis=0, mode="clip"), default)
    else:
        found = node.emit("full_like", node.emit("cast", data, dtype=values.dtype), default)
    if not is_nan.any():
        return found
    of_nan = node.emit_constant(values[is_nan][0], "value_of_nan")
    return node.emit("where", node.emit("isnan", data), of_nan, found)


def _column(node: NodeView, name: str) -> Array:
    """The keys or the values."""
    if node.attribute_strings(f"{name}_strings"):
        raise node.unsupported(f"the {name} are strings, tensors contain numbers; encode the strings before the model")
    tensor = node.attribute_tensor(f"{name}_tensor")
    if tensor is not None:
        return tensor.reshape(-1)
    ints, floats = node.attribute_ints(f"{name}_int64s"), node.attribute_floats(f"{name}_floats")
    if ints is None and floats is None:
        raise node.error(f"the attribute {name}_int64s, {name}_floats or {name}_tensor is missing")
    return np.array(ints, np.int64) if floats is None else np.array(floats, np.float32)


def _default(node: NodeView, dtype: np.dtype[np.generic]) -> Array:
    tensor = node.attribute_tensor("default_tensor")
    if tensor is not None:
        return tensor.reshape(-1)[:1].reshape(()).astype(dtype)
    if dtype.kind == "f":
        return np.array(node.attribute_float("default_float", -0.0), dtype)
    return np.array(node.attribute_int("default_int64", -1), dtype)
