"""Elementwise arithmetic and comparisons; Where, Identity, Cast and CastLike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from xdsl.ir import SSAValue

from xrelay.dialects.shared.dtypes import is_half, numpy_dtype
from xrelay.dialects.shared.types import element_type_of
from xrelay.frontend.onnx.carried import carrier_of
from xrelay.frontend.onnx.converters.shared.asked_dtype import asked_dtype
from xrelay.frontend.onnx.converters.shared.carried_cast import carried_cast, carried_dtype
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import ConvertFunction, converts

_UNARY = {
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


def unary(relay_name: str) -> ConvertFunction:
    """Returns a converter to a relay op on the only input."""

    def convert(node: NodeView) -> SSAValue:
        return node.emit(relay_name, node.input(0))

    return convert


for _op_type, _relay_name in _UNARY.items():
    # Only Erf admits integers; `consumed_inputs` is an optimisation hint of opset 1.
    _limits = "floats" if _op_type == "Erf" else ""
    converts(_op_type, attributes=("consumed_inputs",), limits=_limits)(unary(_relay_name))

BINARY = {
    "Add": ("add", 7),
    "Sub": ("subtract", 7),
    "Mul": ("multiply", 7),
    "Div": ("divide", 7),
    "Equal": ("equal", 7),
    "Less": ("less", 7),
    "Greater": ("greater", 7),
    "LessOrEqual": ("less_equal", 12),
    "GreaterOrEqual": ("greater_equal", 12),
}
"""ONNX name → relay name, and the first opset with this meaning."""


def binary(relay_name: str) -> ConvertFunction:
    """Returns a converter to a relay op on two inputs, which broadcast."""

    def convert(node: NodeView) -> SSAValue:
        return node.emit(relay_name, node.input(0), node.input(1))

    return convert


for _op_type, (_relay_name, _since) in BINARY.items():
    converts(_op_type, since=_since)(binary(_relay_name))


def _joined(node: NodeView, relay_name: str, operands: Sequence[SSAValue]) -> SSAValue:
    """The left-associative combination of the operands; from opset 8 on they broadcast."""
    if not operands:
        raise node.error(f"{node.proto.op_type} has no inputs")
    total = operands[0]
    for operand in operands[1:]:
        total = node.emit(relay_name, total, operand)
    return total


def _chain(relay_name: str) -> ConvertFunction:
    def convert(node: NodeView) -> SSAValue:
        return _joined(node, relay_name, _all_inputs(node))

    return convert


def _all_inputs(node: NodeView) -> list[SSAValue]:
    return [node.input(index) for index in range(len(node.inputs))]


for _op_type, _relay_name in {"Max": "maximum", "Min": "minimum"}.items():
    converts(_op_type, attributes=("consumed_inputs",))(_chain(_relay_name))


def _sum(node: NodeView) -> SSAValue:
    """The sum of the operands, accumulated in f32 for 16-bit floats."""
    operands = _all_inputs(node)
    if len(operands) > 2 and is_half(node.element_type(0)):
        operands = [node.emit("cast", operand, dtype="float32") for operand in operands]
    return _joined(node, "add", operands)


@converts("Sum", attributes=("consumed_inputs",))
def convert_sum(node: NodeView) -> SSAValue:
    """The sum of the operands."""
    return _as_input(node, _sum(node))


@converts("Mean", attributes=("consumed_inputs",))
def convert_mean(node: NodeView) -> SSAValue:
    """The sum of the operands divided by their number."""
    total = _sum(node)
    return _as_input(node, node.emit("divide", total, node.scalar(float(len(node.inputs)), total)))


def _as_input(node: NodeView, value: SSAValue) -> SSAValue:
    """`value` in the element type of input 0."""
    dtype = numpy_dtype(node.element_type(0))
    return value if numpy_dtype(element_type_of(value.type)) == dtype else node.emit("cast", value, dtype=dtype)


@converts("Pow", since=7)
def convert_pow(node: NodeView) -> SSAValue:
    """`power`; products for the square, and for small integer exponents of integers.

    The exponent may have another element type; the result has the base's. Integer powers with integer exponents are
    exact and wrap around; with float exponents they are computed in float64, as in onnxruntime.
    """
    base, dtype = node.input(0), numpy_dtype(node.element_type(0))
    whole = _whole_exponent(node)
    if whole == 2 or (whole is not None and 0 < whole <= _MAX_PRODUCT and dtype.kind in "iu"):
        return _product(node, base, whole)
    wide = _type_of_powers(node)
    base, exponent = (
        node.input(index)
        if numpy_dtype(node.element_type(index)) == wide
        else node.emit("cast", node.input(index), dtype=wide)
        for index in (0, 1)
    )
    return _as_input(node, node.emit("power", base, exponent))


def _type_of_powers(node: NodeView) -> np.dtype:
    """The base's dtype if it is a float that represents the exponent, else the exponent's or float64.

    Rounding an odd exponent to an even or infinite one would change the sign of powers of a negative base. Two integers
    get their common dtype; if the exponent is uint64, the base wraps around, which does not change the result modulo
    2^64.
    """
    base, exponent = (numpy_dtype(node.element_type(index)) for index in (0, 1))
    value = node.constant(1)
    if base.kind in "iu":
        wide = exponent if exponent.kind in "iu" else np.dtype(np.float64)
        return wide if wide == np.uint64 else np.result_type(base, wide)
    with np.errstate(over="ignore"):
        if base == exponent or (value is not None and np.array_equal(value.astype(base).astype(exponent), value)):
            return base
    double = exponent.kind in "iu" or max(base.itemsize, exponent.itemsize) > 4
    return np.dtype(np.float64) if double else np.dtype(np.float32)


_MAX_PRODUCT = 64
"""Greater powers of an integer other than -1, 0 and 1 overflow 64 bits."""


def _whole_exponent(node: NodeView) -> int | None:
    """The exponent if it is a constant integer of rank 0, else None."""
    value = node.constant(1)
    if value is None or value.shape != ():
        return None
    number = float(value)
    return int(number) if number.is_integer() else None


def _product(node: NodeView, base: SSAValue, exponent: int) -> SSAValue:
    """The power by repeated squaring, in about log(exponent) products."""
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


@converts(
    "Cast",
    since=6,
    attributes=("to", "saturate", "round_mode"),
    limits="no strings; to numbers of 2 and 4 bits and floats of 8 only where the model converts them back",
)
def convert_cast(node: NodeView) -> SSAValue:
    """`cast`, or `carried_cast` to a type that relay lacks; `saturate` applies to 8-bit floats only."""
    target = node.attribute_int("to", 0, check=lambda value: value in onnx.TensorProto.DataType.values())
    return _cast(node, carried_dtype(target) or asked_dtype(node, "to", target))


@converts("CastLike", since=15, attributes=("saturate", "round_mode"))
def convert_cast_like(node: NodeView) -> SSAValue:
    """`convert_cast` to the element type of input 1."""
    return _cast(node, node.graph.carried.of(node.input(1)) or numpy_dtype(node.element_type(1)))


def _cast(node: NodeView, dtype: np.dtype[Any]) -> SSAValue:
    if carrier_of(dtype) is None:
        return node.emit("cast", node.input(0), dtype=dtype)
    return carried_cast(node, node.input(0), dtype, saturate=bool(node.attribute_int("saturate", 1)))
