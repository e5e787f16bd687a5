"""Arithmetic: Add, Sub, Mul, Div, Sum, Exp, Sqrt, Neg, Identity, Cast."""

from __future__ import annotations

import onnx
from xdsl.ir import SSAValue

from xrelay.errors import TypeInferenceError
from xrelay.frontend.onnx.converters.unary import register_unary
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import ConvertFunction, converts
from xrelay.frontend.onnx.signature import type_name

register_unary({"Exp": "exp", "Sqrt": "sqrt", "Neg": "negative"})

_BINARY = {"Add": "add", "Sub": "subtract", "Mul": "multiply", "Div": "divide"}


def _binary(relay_name: str) -> ConvertFunction:
    def convert(node: NodeView) -> SSAValue:
        return node.emit(relay_name, node.input(0), node.input(1))

    return convert


for _op_type, _relay_name in _BINARY.items():
    converts(_op_type, since=7)(_binary(_relay_name))


@converts("Sum", attributes=("consumed_inputs",))
def convert_sum(node: NodeView) -> SSAValue:
    """A chain of additions; from opset 8 on the operands broadcast."""
    total = node.input(0)
    for index in range(1, len(node.inputs)):
        total = node.emit("add", total, node.input(index))
    return total


@converts("Identity")
def convert_identity(node: NodeView) -> SSAValue:
    """The operand itself."""
    return node.input(0)


@converts("Cast", since=6, attributes=("to", "saturate", "round_mode"))
def convert_cast(node: NodeView) -> SSAValue:
    """`cast`; `saturate` and `round_mode` concern 8-bit floats alone."""
    target = node.attribute_int("to", 0, check=lambda value: value in onnx.TensorProto.DataType.values())
    try:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(target)
        return node.emit("cast", node.input(0), dtype=dtype)
    except (KeyError, TypeInferenceError) as error:
        raise node.error(f"attribute 'to' asks for {type_name(target)}, which is not supported") from error
