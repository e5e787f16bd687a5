"""Scalar ops chosen by type: comparisons, conversions, and the range of an element type."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType, f32, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from xrelay.dialects.topi.build import Body, Number, is_unsigned
from xrelay.dialects.topi.named.pool import lowest
from xrelay.errors import LoweringError


def compare(b: Body, x: SSAValue, y: SSAValue, float_predicate: str, integer_predicate: str) -> SSAValue:
    """Compares floats or integers; a signed predicate becomes the unsigned one for unsigned types."""
    if isinstance(x.type, AnyFloat):
        return b.add(arith.CmpfOp(x, y, float_predicate))
    if is_unsigned(x.type):
        integer_predicate = integer_predicate.replace("s", "u")  # slt, sle, … → ult, ule, …
    return b.add(arith.CmpiOp(x, y, integer_predicate))


def value_range(type: Attribute) -> tuple[Number, Number]:
    """Returns the least and the greatest value of an element type."""
    if not isa(type, IntegerType):
        return float("-inf"), float("inf")
    least = lowest(type)
    return least, least + (1 << type.width.data) - 1


def convert_scalar(b: Body, x: SSAValue, target: Attribute) -> SSAValue:
    """Converts `x` to type `target`: floats are truncated to integers; booleans are `x != 0`."""
    source = x.type
    if source == target:
        return x
    if target == i1:
        return compare(b, x, b.constant(0, source), "une", "ne")
    if isinstance(source, AnyFloat) and isinstance(target, AnyFloat):
        return _convert_float(b, x, source, target)
    if isinstance(source, AnyFloat) and isa(target, IntegerType):
        return b.add((arith.FPToUIOp if is_unsigned(target) else arith.FPToSIOp)(x, target))
    if isa(source, IntegerType) and isinstance(target, AnyFloat):
        return b.add((arith.UIToFPOp if is_unsigned(source) else arith.SIToFPOp)(x, target))
    if isa(source, IntegerType) and isa(target, IntegerType):
        return _convert_integer(b, x, source, target)
    raise LoweringError(f"no conversion from {source} to {target}")


def _convert_float(b: Body, x: SSAValue, source: AnyFloat, target: AnyFloat) -> SSAValue:
    """Converts between float types; between f16 and bf16 through f32."""
    if source.bitwidth == target.bitwidth == 16:
        return _convert_float(b, _convert_float(b, x, source, f32), f32, target)
    return b.add((arith.ExtFOp if target.bitwidth > source.bitwidth else arith.TruncFOp)(x, target))


def _convert_integer(b: Body, x: SSAValue, source: IntegerType, target: IntegerType) -> SSAValue:
    if target.width.data == source.width.data:
        # A change of signedness keeps the bits; it becomes a no-op where scalars are signless.
        return b.add(arith.BitcastOp(x, target))
    if target.width.data < source.width.data:
        return b.add(arith.TruncIOp(x, target))
    return b.add((arith.ExtUIOp if is_unsigned(source) else arith.ExtSIOp)(x, target))
