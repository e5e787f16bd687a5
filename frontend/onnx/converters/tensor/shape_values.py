"""Shape and Size."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.shared.cut import cut
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("Shape", attributes=("start", "end"))
def convert_shape(node: NodeView) -> SSAValue:
    """`shape_of`, then the slice `start:end` (opset 15)."""
    rank = len(node.shape(0))
    first, last, _ = slice(node.attribute_int("start", 0), node.attribute_int("end", rank)).indices(rank)
    shape = node.emit("shape_of", node.input(0))
    return cut(node, shape, {0: range(first, max(first, last))})


@converts("Size")
def convert_size(node: NodeView) -> SSAValue:
    """`ndarray_size`."""
    return node.emit("ndarray_size", node.input(0))
