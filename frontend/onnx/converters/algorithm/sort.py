"""TopK."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, converts, known_axis, numpy_dtype


@converts("TopK", until=9, attributes=("axis", "k"))
@converts("TopK", since=10, attributes=("axis", "largest", "sorted"))
def convert_topk(node: NodeView) -> Sequence[SSAValue]:
    """`topk`, or `dyn.topk` if k is not known; the result is sorted even if `sorted` is 0.

    k is an attribute before opset 10, then an input.
    """
    axis = known_axis(node, node.attribute_int("axis", -1), len(node.shape(0)))
    is_ascend = not node.attribute_flag("largest", True)
    node.attribute_flag("sorted", True)
    if node.opset >= 10 and node.constant(1) is None:
        both = node.emit("dyn.topk", node.input(0), node.input(1), axis=axis, is_ascend=is_ascend, dtype="int64")
        return [node.tuple_field(both, 0), node.tuple_field(both, 1)]
    k = node.required_int(1, "k") if node.opset >= 10 else node.attribute_int("k")
    extent = node.shape(0)[axis]
    if k < 0 or (isinstance(extent, int) and k > extent):
        raise node.error(f"k is {k}, axis {axis} has {extent} elements", help="set k from 0 to the extent")
    if k == 0:
        return _nothing(node, axis)
    both = node.emit("topk", node.input(0), k=k, axis=axis, is_ascend=is_ascend, dtype="int64")
    return [node.tuple_field(both, 0), node.tuple_field(both, 1)]


def _nothing(node: NodeView, axis: int) -> Sequence[SSAValue]:
    """The results for k = 0, for which relay's `topk` returns all elements; constants if the shape is known."""
    extents = [extent for extent in node.shape(0) if isinstance(extent, int)]
    if len(extents) < len(node.shape(0)):
        values = node.emit("strided_slice", node.input(0), begin=(0,), end=(0,), axes=(axis,))
        return [values, node.emit("cast", values, dtype="int64")]
    extents[axis] = 0
    dtype = numpy_dtype(node.element_type(0))
    return [
        node.emit_filled(np.zeros((), dtype), extents, "values"),
        node.emit_filled(np.zeros((), np.int64), extents, "indices"),
    ]
