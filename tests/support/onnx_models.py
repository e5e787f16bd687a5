"""Small ONNX models for the importer's tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Dims = Sequence[int | str | None]


def value(name: str, shape: Dims | None, dtype: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    """A graph input or output."""
    return helper.make_tensor_value_info(name, dtype, shape)


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[str],
    *,
    initializers: dict[str, NDArray[Any]] | None = None,
    opset: int = 17,
) -> onnx.ModelProto:
    """A model of one graph; the types of outputs are unspecified."""
    graph = helper.make_graph(
        list(nodes),
        "graph",
        list(inputs),
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in (initializers or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def conv_model(
    data: Dims = (1, 3, 8, 8), weight: Sequence[int] = (4, 3, 3, 3), opset: int = 17, **attributes: Any
) -> onnx.ModelProto:
    """A Conv named `conv1` of `x` with the weight `w`."""
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="conv1", **attributes)
    return model([node], [value("x", data)], ["y"], initializers={"w": np.zeros(weight, np.float32)}, opset=opset)
