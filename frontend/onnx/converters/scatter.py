"""Scatter, ScatterElements and ScatterND: updates at indices that may be computed."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.gather import tuples_first
from xrelay.frontend.onnx.converters.shared.extents import axis_attribute
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts

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
