"""Shape arithmetic at import: nodes on small constants are evaluated by onnx's reference implementation."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, cast

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from xrelay.dialects.relay.weights import Array
from xrelay.frontend.onnx.node import NodeView

FOLD_LIMIT = 64
"""Results of more elements than this stay in the graph, where the constant folder of the compiler sees them."""

_RANDOM = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}
)


def fold_node(node: NodeView) -> dict[str, Array] | None:
    """The node's outputs by name where all its inputs are constants and its results are small; else `None`."""
    if node.proto.op_type == "Shape":
        return _fold_shape(node)
    if not node.inputs or node.proto.op_type in _RANDOM or node.proto.domain not in ("", "ai.onnx"):
        return None
    feeds: dict[str, Array] = {}
    for index, name in enumerate(node.proto.input):
        if not name:
            continue
        value = node.constant(index)
        if value is None or value.size > FOLD_LIMIT:
            return None
        feeds[name] = value
    if (
        node.proto.op_type == "ConstantOfShape"
        and prod(int(extent) for extent in node.required_constant(0, "shape")) > FOLD_LIMIT
    ):
        return None
    return _evaluate(node, feeds)


def _evaluate(node: NodeView, feeds: dict[str, Array]) -> dict[str, Array] | None:
    outputs = [name for name in node.proto.output if name]
    graph = onnx.helper.make_graph(
        [node.proto],
        "folded",
        [
            onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
            for name, value in feeds.items()
        ],
        [onnx.helper.make_empty_tensor_value_info(name) for name in outputs],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", node.opset)])
    # onnx does not type this method's first parameter.
    run = cast(Callable[[None, dict[str, Array]], list[Any]], getattr(ReferenceEvaluator(model), "run"))  # noqa: B009
    try:
        values = run(None, feeds)
    except Exception:  # the reference has no common error; its refusal only means that the node stays in the graph
        return None
    arrays = [np.asarray(value) for value in values]
    if any(array.size > FOLD_LIMIT or array.dtype == object for array in arrays):
        return None
    return dict(zip(outputs, arrays, strict=True))


def _fold_shape(node: NodeView) -> dict[str, Array] | None:
    """`Shape` of a value whose extents are known; opset 15 adds the slice `start:end`."""
    shape = node.shape(0)
    start = node.attribute_int("start", 0)
    end = node.attribute_int("end", len(shape))
    extents = shape[slice(start, end)]
    if not all(isinstance(extent, int) for extent in extents):
        return None
    return {node.proto.output[0]: np.array(extents, dtype=np.int64)}
