"""Shape arithmetic at import: nodes on small constants are evaluated by onnx's reference implementation."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, cast

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from xrelay.dialects.relay.structure.weights import Array
from xrelay.frontend.onnx.node import NodeView

FOLD_LIMIT = 64
"""Results of more elements than this stay in the graph, where the constant folder of the compiler sees them."""

_RANDOM = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}
)

_GROWING = frozenset({"Pad", "Tile", "Resize", "Upsample"})
"""Ops whose results are as large as an input says; the compiler's constant folder has them."""


def fold_node(node: NodeView) -> dict[str, Array] | None:
    """The node's outputs by name where all its inputs are constants and its results are small; else `None`.

    Raises `ModelImportError` for a shape or bound that is none.
    """
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
    return None if _is_large(node) else _evaluate(node, feeds)


def _is_large(node: NodeView) -> bool:
    """Whether the result of an op that makes more of its inputs exceeds the limit: found without making it."""
    if node.proto.op_type in ("ConstantOfShape", "Expand"):
        return prod(node.required_ints(len(node.inputs) - 1, "shape")) > FOLD_LIMIT
    if node.proto.op_type == "Range":
        start, limit, delta = (node.required_number(index, "bound") for index in range(3))
        return delta == 0 or (limit - start) / delta > FOLD_LIMIT
    return node.proto.op_type in _GROWING


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
    try:
        evaluator = ReferenceEvaluator(model)
        run = cast(Callable[[None, dict[str, Array]], list[Any]], getattr(evaluator, "run"))  # noqa: B009
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
