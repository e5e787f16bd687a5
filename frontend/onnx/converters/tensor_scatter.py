"""TensorScatter: writes new keys and values into a cache, at an index per batch entry."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.shared.extents import extent_value, known_axis
from xrelay.frontend.onnx.converters.shared.numbers import Numbers
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("TensorScatter", since=24, attributes=("axis", "mode"))
def convert_tensor_scatter(node: NodeView) -> SSAValue:
    """`scatter_elements` along the axis; a write past the end fails, or wraps around in mode circular."""
    rank = len(node.shape(0))
    axis = known_axis(node, node.attribute_int("axis", -2), rank)
    if axis == 0 or len(node.shape(1)) != rank:
        raise node.error(f"axis {axis} of {node.input(0).type}, updated with {node.input(1).type}")
    circular = node.attribute_string("mode", "linear", ("linear", "circular")) == "circular"
    numbers = Numbers(node)
    places = _along(node, numbers.arange(0, extent_value(node, node.input(1), axis)), axis, rank)
    if node.optional_input(2) is not None:
        if len(node.shape(2)) != 1:
            raise node.error(f"input #2 (write_indices) must have an index for each entry, found {node.input(2).type}")
        places = node.emit("add", _along(node, node.input(2), 0, rank), places)
    if circular:
        places = node.emit("floor_mod", places, extent_value(node, node.input(0), axis))
    places = node.emit("broadcast_to_like", places, node.input(1))
    return node.emit("scatter_elements", node.input(0), places, node.input(1), axis=axis)


def _along(node: NodeView, numbers: SSAValue, axis: int, rank: int) -> SSAValue:
    """A list of numbers along `axis`, with trailing axes of extent 1."""
    behind = rank - axis - 1
    return node.emit("expand_dims", numbers, axis=1, num_newaxis=behind) if behind else numbers
