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

register_unary(
    {
        "Abs": "abs",
        "Erf": "erf",
        "Exp": "exp",
        "Log": "log",
        "Neg": "negative",
        "Relu": "nn.relu",
        "Sigmoid": "sigmoid",
        "Sqrt": "sqrt",
        "Tanh": "tanh",
    }
)

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
    """`power`, or products for a small whole exponent of integers and for the square.

    The exponent may have another element type; the base's is the result's. Other powers of integers are taken in
    float64, as onnxruntime takes them.
    """
    base, dtype = node.input(0), numpy_dtype(node.element_type(0))
    whole = _whole_exponent(node)
    if whole == 2 or (whole is not None and 0 < whole <= _MAX_PRODUCT and dtype.kind in "iu"):
        return _product(node, base, whole)
    computed = np.dtype(np.float64) if dtype.kind in "iu" else dtype
    exponent = node.input(1)
    if numpy_dtype(node.element_type(1)) != computed:
        exponent = node.emit("cast", exponent, dtype=computed)
    if computed == dtype:
        return node.emit("power", base, exponent)
    return node.emit("cast", node.emit("power", node.emit("cast", base, dtype=computed), exponent), dtype=dtype)


_MAX_PRODUCT = 64
"""Greater powers of an integer other than -1, 0 and 1 do not fit 64 bits."""


def _whole_exponent(node: NodeView) -> int | None:
    """The exponent where it is a constant of rank 0 and a whole number."""
    value = node.constant(1)
    if value is None or value.shape != ():
        return None
    number = float(value)
    return int(number) if number.is_integer() else None


def _product(node: NodeView, base: SSAValue, exponent: int) -> SSAValue:
    """`base` multiplied by itself, in about log(exponent) products."""
    result = base
    for bit in bin(exponent)[3:]:
        result = node.emit("multiply", result, result)
        if bit == "1":
            result = node.emit("multiply", result, base)
    return result


@converts("Where", since=9)
def convert_where(node: NodeView) -> SSAValue:
    """`where`."""
    return node.emit("where", node.input(0), node.input(1), node.input(2))


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
