"""Add, Sub, Mul, Div, Reciprocal, Pow, Max, Min, Sum, Mean and Mod."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    ConvertFunction,
    NodeView,
    as_input,
    converted,
    converts,
    is_half,
    numpy_dtype,
)
from xrelay.frontend.onnx.converters.shared.elementwise import converts_binary, converts_limited

for _op_type, _relay_name in {"Add": "add", "Sub": "subtract", "Mul": "multiply", "Div": "divide"}.items():
    converts_binary(_op_type, _relay_name)
converts_limited("Pow", "power")


@converts("Reciprocal", attributes=("consumed_inputs",))
def convert_reciprocal(node: NodeView) -> SSAValue:
    """1 / x."""
    return node.emit("divide", node.scalar_like(1.0, 0), node.input(0))


def _combination(node: NodeView, relay_name: str, operands: Sequence[SSAValue]) -> SSAValue:
    """The left-associative combination of the operands; from opset 8 on they broadcast."""
    if not operands:
        raise node.error(f"{node.proto.op_type} has no inputs")
    total = operands[0]
    for operand in operands[1:]:
        total = node.emit(relay_name, total, operand)
    return total


def _chain(relay_name: str) -> ConvertFunction:
    def convert(node: NodeView) -> SSAValue:
        return _combination(node, relay_name, _all_inputs(node))

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
    return _combination(node, "add", operands)


@converts("Sum", attributes=("consumed_inputs",))
def convert_sum(node: NodeView) -> SSAValue:
    """The sum of the operands."""
    return as_input(node, _sum(node))


@converts("Mean", attributes=("consumed_inputs",))
def convert_mean(node: NodeView) -> SSAValue:
    """The sum of the operands divided by their number."""
    total = _sum(node)
    return as_input(node, node.emit("divide", total, node.scalar(float(len(node.inputs)), total)))


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
    base, exponent = (converted(node, node.input(index), wide) for index in (0, 1))
    return as_input(node, node.emit("power", base, exponent))


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


@converts("Mod", since=10, attributes=("fmod",))
def convert_mod(node: NodeView) -> SSAValue:
    """The remainder with the divisor's sign, or the dividend's with `fmod` (required for floats before opset 28)."""
    truncated, element = node.attribute_flag("fmod"), node.element_type(0)
    if isinstance(element, AnyFloat) and not truncated and node.opset < 28:
        raise node.error(f"attribute 'fmod' must be 1 for {element}")
    divisor = node.constant(1)
    if divisor is not None and divisor.dtype.kind in "iu" and not divisor.all():
        raise node.error("a constant divisor of Mod is 0", help="divisors other than 0 are expected")
    return node.emit("mod" if truncated else "floor_mod", node.input(0), node.input(1))
