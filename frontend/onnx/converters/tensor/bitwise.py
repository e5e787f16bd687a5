"""BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot and BitShift."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.shared.elementwise import converts_binary, converts_unary
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts

for _op_type in ("And", "Or", "Xor"):
    converts_binary(f"Bitwise{_op_type}", f"bitwise_{_op_type.lower()}", since=18)
converts_unary("BitwiseNot", "bitwise_not", since=18)


@converts("BitShift", since=11, attributes=("direction",))
def convert_bit_shift(node: NodeView) -> SSAValue:
    """A shift of unsigned integers in the direction of the attribute."""
    direction = node.attribute_string("direction", "", ("LEFT", "RIGHT"))
    return node.emit(f"{direction.lower()}_shift", node.input(0), node.input(1))
