"""Scatter, ScatterElements, ScatterND and TensorScatter: updates at indices that may be computed."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    NodeView,
    Numbers,
    axis_attribute,
    converts,
    extent_value,
    known_axis,
)
from xrelay.frontend.onnx.converters.tensor.gather import tuples_first

REDUCTIONS = {"none": "update", "add": "add", "mul": "mul", "max": "max", "min": "min"}
"""ONNX name of a reduction → relay name."""


@converts("Scatter", since=9, until=10, attributes=("axis",))
@converts("ScatterElements", since=11, until=15, attributes=("axis",))
@converts("ScatterElements", since=16, attributes=("axis", "reduction"))
def convert_scatter_elements(node: NodeView) -> SSAValue:
    """Updates at indices along one axis, and at their own positions along the others."""
    axis = axis_attribute(node, 0)
    data, indices, updates = (node.input(index) for index in range(3))
    return node.emit("scatter_elements", data, indices, updates, axis=axis, reduction=_reduction(node))


@converts("ScatterND", since=11, until=15)
@converts("ScatterND", since=16, attributes=("reduction",))
def convert_scatter_nd(node: NodeView) -> SSAValue:
    """Updates of slices at tuples of indices."""
    return node.emit("scatter_nd", node.input(0), tuples_first(node), node.input(2), mode=_reduction(node))


def _reduction(node: NodeView) -> str:
    """The relay name of the reduction; max and min are legal from opset 18 on."""
    legal = list(REDUCTIONS) if node.opset >= 18 else ["none", "add", "mul"]
    return REDUCTIONS[node.attribute_string("reduction", "none", legal)]


@converts("TensorScatter", since=24, attributes=("axis", "mode"))
def convert_tensor_scatter(node: NodeView) -> SSAValue:
    """Writes keys and values into a cache by `scatter_elements`, from an index on for each entry of the batch.

    A write past the end fails, or wraps around in mode circular.
    """
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
    trailing = rank - axis - 1
    return node.emit("expand_dims", numbers, axis=1, num_newaxis=trailing) if trailing else numbers
