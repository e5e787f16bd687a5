"""`relay.power` of integers: a fold over the bits of the exponent, which squares and multiplies."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of, read_broadcast
from xrelay.dialects.relay.ops.tensor.arithmetic import PowerOp
from xrelay.dialects.shared.types import element_type_of
from xrelay.dialects.topi.build import Body, is_unsigned, variables
from xrelay.dialects.upstream.arith_extras import IndexCastOp
from xrelay.lowering.relay_to_topi.registry import implements


def _is_of_floats(op: Operation) -> str | None:
    """Returns why a power is not computed bit by bit, or None if it is."""
    return "floats" if isinstance(element_type_of(op.operands[0].type), AnyFloat) else None


@implements(PowerOp, "power.integers", priority=11, condition=_is_of_floats)
def build_power(build: TopiBuilder) -> Sequence[SSAValue]:
    """For each bit from the highest, squares the power, and multiplies it by the base if the bit is set.

    Negative exponents are read as unsigned numbers for bases 1, 0 and -1, whose powers are the same. Powers of other
    bases with a negative exponent truncate to 0.
    """
    lhs, rhs, shape = build.operand(0), build.operand(1), build.result_shape
    element = element_of(lhs)
    assert isinstance(element, IntegerType)
    width = element.width.data

    def fill(b: Body) -> SSAValue:
        base, exponent = (read_broadcast(b, source, shape) for source in (lhs, rhs))
        zero, one, (power,) = b.constant(0, element), b.constant(1, element), b.accumulators
        if not is_unsigned(element):
            is_small = b.compare(b.absolute(base), "eq", one)
            is_whole = b.logical_or(is_small, b.compare(exponent, "ge", zero))
            base = b.select(is_whole, base, zero)
        place = b.add(IndexCastOp(b.index(b.reduction[0] * -1 + (width - 1)), element))
        bit = b.logical_and(b.add(arith.ShRUIOp(exponent, place)), one)
        square = b.times(power, power)
        return b.select(b.compare(bit, "ne", zero), b.times(square, base), square)

    spatial = variables("i", shape)
    return [build.compute("power", spatial, element, fill, reduce={"bit": width}, init=[1])]
