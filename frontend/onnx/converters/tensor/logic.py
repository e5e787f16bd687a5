"""And, Or, Xor and Not of booleans and of bits, and BitShift."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, converts
from xrelay.frontend.onnx.converters.shared.elementwise import converts_binary, converts_unary

for _op_type, _relay_name in {"And": "logical_and", "Or": "logical_or", "Xor": "logical_xor"}.items():
    converts_binary(_op_type, _relay_name)
converts_unary("Not", "logical_not")


for _op_type in ("And", "Or", "Xor"):
    converts_binary(f"Bitwise{_op_type}", f"bitwise_{_op_type.lower()}", since=18)
converts_unary("BitwiseNot", "bitwise_not", since=18)


@converts("BitShift", since=11, attributes=("direction",))
def convert_bit_shift(node: NodeView) -> SSAValue:
    """A shift of unsigned integers in the direction of the attribute."""
    direction = node.attribute_string("direction", "", ("LEFT", "RIGHT"))
    return node.emit(f"{direction.lower()}_shift", node.input(0), node.input(1))
