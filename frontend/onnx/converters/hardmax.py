"""Hardmax."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import shape_of
from xrelay.frontend.onnx.converters.shared.extents import axis_attribute, joined_axes
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("Hardmax", until=12, attributes=("axis",))
def convert_hardmax_1(node: NodeView) -> SSAValue:
    """Hardmax of the axes from `axis` on, merged into one."""
    x, rank = node.input(0), len(node.shape(0))
    axis = node.attribute_int("axis", 1, check=lambda value: -rank <= value < rank) % max(rank, 1)
    if axis == rank - 1:
        return _hardmax(node, x, axis)
    return node.emit("reshape_like", _hardmax(node, joined_axes(node, x, axis), axis), x)


@converts("Hardmax", since=13, attributes=("axis",))
def convert_hardmax(node: NodeView) -> SSAValue:
    """1 at the first maximum along the axis, 0 elsewhere."""
    return _hardmax(node, node.input(0), axis_attribute(node, -1))


def _hardmax(node: NodeView, data: SSAValue, axis: int) -> SSAValue:
    first = node.emit("cast", node.emit("argmax", data, axis=axis, keepdims=True), dtype="int64")
    shape = node.emit("shape_of", data, dtype="int64")
    start, at, step = (node.emit_ints(number) for number in (0, axis, 1))
    places = node.emit("arange", start, node.emit("take", shape, at, axis=0, mode="clip"), step)
    behind = len(shape_of(data.type)) - axis - 1
    if behind:
        places = node.emit("expand_dims", places, axis=1, num_newaxis=behind)
    return node.emit("cast", node.emit("equal", first, places), dtype=numpy_dtype(node.element_type(0)))
