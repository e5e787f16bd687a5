"""BiasSoftmax."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import MICROSOFT, NodeView, as_input, converts, in_f32, known_axis
from xrelay.frontend.onnx.converters.nn.softmax import flattened_softmax


@converts("BiasSoftmax", domain=MICROSOFT, attributes=("axis", "is_inner_broadcast"))
def convert_bias_softmax(node: NodeView) -> SSAValue:
    """`nn.softmax` of the sum, over the axes from `axis` on, merged into one; the bias broadcasts."""
    rank = len(node.shape(0))
    if len(node.shape(1)) > rank:
        raise node.error(f"the bias {node.input(1).type} does not broadcast to the data {node.input(0).type}")
    known_axis(node, node.attribute_int("axis", 1), rank)
    total = node.emit("add", *(in_f32(node, node.input(index)) for index in range(2)))
    return as_input(node, flattened_softmax(node.with_inputs([total]), "nn.softmax"))
