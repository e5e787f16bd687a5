"""Compress."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, axis_attribute, converts, shape_of


@converts("Compress", since=9, attributes=("axis",))
def convert_compress(node: NodeView) -> SSAValue:
    """`compress`, of the flattened data if there is no axis; a `take` if the condition is constant."""
    data, axis = node.input(0), 0
    if "axis" in node.attribute_names:
        axis = axis_attribute(node, 0)
    elif len(node.shape(0)) != 1:
        data = node.reshape(data, [-1])
    condition, extent = node.constant(1), shape_of(data.type)[axis]
    if condition is None or condition.ndim != 1 or not isinstance(extent, int) or condition.size > extent:
        return node.emit("compress", data, node.input(1), axis=axis)
    places = node.emit_constant(np.flatnonzero(condition), "places")
    return node.emit("take", data, places, axis=axis, mode="fast")
