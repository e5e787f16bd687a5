"""Arithmetic, comparison and logic before opset 7: operand 1 broadcasts only if the attribute `broadcast` is set."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters import elementwise, logic
from xrelay.frontend.onnx.converters.shared.extents import known_axis
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import ConvertFunction, converts
from xrelay.index_algebra.dims import certainly_differ, shape_text


def _convert(relay_name: str) -> ConvertFunction:
    def convert(node: NodeView) -> SSAValue:
        """Returns the relay op; the result has the shape of operand 0."""
        return node.emit(relay_name, node.input(0), _aligned(node))

    return convert


for _op_type, (_relay_name, _since) in {**elementwise.BINARY, **logic.BINARY, "Pow": ("power", 7)}.items():
    if _since == 7:  # the others were added later, and always broadcast
        converts(_op_type, until=6, attributes=("axis", "broadcast", "consumed_inputs"))(_convert(_relay_name))


def _aligned(node: NodeView) -> SSAValue:
    """Operand 1 with trailing axes of extent 1, which align its own axes with `axis` of operand 0, or with its end."""
    data, other = node.shape(0), node.shape(1)
    axis = node.attribute_int("axis", -1)
    behind = 0
    if node.attribute_int("broadcast", 0, check=lambda value: value in (0, 1)):
        if len(other) > len(data):
            raise node.error(f"the second operand has rank {len(other)}, the first {len(data)}: it cannot be broadcast")
        if "axis" in node.attribute_names and axis != -1:
            behind = len(data) - known_axis(node, axis, max(len(data), 1)) - len(other)
        if behind < 0:
            raise node.illegal("axis", axis, f"the data has fewer than {len(other)} axes from there")
        data = data[len(data) - behind - len(other) : len(data) - behind]
    apart = len(data) != len(other) or any(
        certainly_differ(wanted, found) and found != 1 for wanted, found in zip(data, other, strict=True)
    )
    if apart or (not node.attribute_int("broadcast", 0) and data != other and 1 in other):
        text = f"{shape_text(node.shape(0))} and {shape_text(other)}"
        raise node.error(f"shapes {text} differ", help="set the attribute 'broadcast', or use opset 7")
    return node.emit("expand_dims", node.input(1), axis=len(other), num_newaxis=behind) if behind else node.input(1)
