"""Arithmetic and comparisons, element by element; Identity and Cast."""

from __future__ import annotations

import numpy as np
import onnx
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.errors import TypeInferenceError
from xrelay.frontend.onnx.converters.unary import register_unary
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import ConvertFunction, converts
from xrelay.frontend.onnx.signature import type_name

register_unary({"Exp": "exp", "Sqrt": "sqrt", "Neg": "negative", "Log": "log", "Abs": "abs", "Erf": "erf"})

_BINARY = {
    "Add": "add",
    "Sub": "subtract",
    "Mul": "multiply",
    "Div": "divide",
    "Equal": "equal",
    "Less": "less",
    "Greater": "greater",
    "LessOrEqual": "less_equal",
    "GreaterOrEqual": "greater_equal",
}


def _binary(relay_name: str) -> ConvertFunction:
    def convert(node: NodeView) -> SSAValue:
        return node.emit(relay_name, node.input(0), node.input(1))

    return convert


for _op_type, _relay_name in _BINARY.items():
    converts(_op_type, since=7)(_binary(_relay_name))


def _chain(relay_name: str) -> ConvertFunction:
    """The operands joined one after the other; from opset 8 on they broadcast."""

    def convert(node: NodeView) -> SSAValue:
        total = node.input(0)
        for index in range(1, len(node.inputs)):
            total = node.emit(relay_name, total, node.input(index))
        return total

    return convert


for _op_type, _relay_name in {"Sum": "add", "Max": "maximum", "Min": "minimum"}.items():
    converts(_op_type, attributes=("consumed_inputs",))(_chain(_relay_name))


@converts("Mean", attributes=("consumed_inputs",))
def convert_mean(node: NodeView) -> SSAValue:
    """The sum of the operands divided by their number."""
    total = _chain("add")(node)
    if not isinstance(total, SSAValue):
        raise node.error("a sum has one result")
    return node.emit("divide", total, node.scalar_like(float(len(node.inputs)), 0))


@converts("Pow", since=7)
def convert_pow(node: NodeView) -> SSAValue:
    """`power`, or a product for the square; the exponent may have another element type, the base's is the result's.

    Powers of integers are taken in float64.
    """
    value = node.constant(1)
    if value is not None and value.shape == () and value == 2:
        return node.emit("multiply", node.input(0), node.input(0))
    base, dtype = node.input(0), numpy_dtype(node.element_type(0))
    computed = np.dtype(np.float64) if dtype.kind in "iu" else dtype
    exponent = node.input(1)
    if numpy_dtype(node.element_type(1)) != computed:
        exponent = node.emit("cast", exponent, dtype=computed)
    if computed == dtype:
        return node.emit("power", base, exponent)
    return node.emit("cast", node.emit("power", node.emit("cast", base, dtype=computed), exponent), dtype=dtype)


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
