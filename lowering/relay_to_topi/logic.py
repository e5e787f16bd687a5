"""Boolean and bitwise operators, remainders, rounding, float predicates, and trigonometric functions."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, i1
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops import tensor_logic as logic
from xrelay.dialects.relay.ops import tensor_rounding as rounding
from xrelay.dialects.relay.ops import tensor_trigonometry as trigonometry
from xrelay.dialects.topi.build import Body, is_unsigned
from xrelay.dialects.topi.scalars import compare
from xrelay.dialects.topi.shapes import bit_width
from xrelay.dialects.upstream.arith_remainder import RemFOp
from xrelay.lowering.relay_to_topi.elementwise import Binary, Unary, binary, unary
from xrelay.lowering.relay_to_topi.registry import implements


def _less(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    return compare(b, x, y, "olt", "slt")


def _select(b: Body, condition: SSAValue, x: SSAValue, y: SSAValue) -> SSAValue:
    return b.add(arith.SelectOp(condition, x, y))


def _function(op: Callable[[SSAValue], Operation]) -> Unary:
    """Returns a function of floats that is an op of the math dialect."""
    return lambda b, x: b.add(op(x))


def _rounding(op: Callable[[SSAValue], Operation]) -> Unary:
    """Returns a rounding function of floats that returns integers unchanged."""
    return lambda b, x: b.add(op(x)) if isinstance(x.type, AnyFloat) else x


def _compare_with(predicate: str, value: float) -> Unary:
    """Returns a comparison of the magnitude of a float with a number."""
    return lambda b, x: b.add(arith.CmpfOp(b.add(math.AbsFOp(x)), b.constant(value, x.type), predicate))


def _question(of_floats: Unary, *, of_integers: bool) -> Unary:
    """Returns a float predicate that is constant for integers."""
    return lambda b, x: of_floats(b, x) if isinstance(x.type, AnyFloat) else b.constant(of_integers, i1)


def _sign(b: Body, x: SSAValue) -> SSAValue:
    """Computes the sign: 1, -1, 0, or NaN."""
    if x.type == i1:
        return x
    zero, one = b.constant(0, x.type), b.constant(1, x.type)
    positive = _less(b, zero, x)
    if is_unsigned(x.type):
        return _select(b, positive, one, zero)
    rest = b.plus(x, zero) if isinstance(x.type, AnyFloat) else zero
    return _select(b, positive, one, _select(b, _less(b, x, zero), b.constant(-1, x.type), rest))


def _not(b: Body, x: SSAValue) -> SSAValue:
    all_bits = (1 << bit_width(x.type)) - 1 if is_unsigned(x.type) else -1
    return b.add(arith.XOrIOp(x, b.constant(all_bits, x.type)))


def _shift(op: type[arith.ShLIOp | arith.ShRSIOp | arith.ShRUIOp]) -> Binary:
    """Returns a shift that is defined for all shift amounts; in arith those beyond the width are undefined."""

    def fill(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
        most = b.constant(bit_width(x.type) - 1, x.type)
        shifted = b.add(op(x, b.add(arith.MinUIOp(y, most))))
        if op is arith.ShRSIOp:
            return shifted
        inside = b.add(arith.CmpiOp(y, most, "ule"))
        return _select(b, inside, shifted, b.constant(0, x.type))

    return fill


def _right_shift(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    return _shift(arith.ShRUIOp if is_unsigned(x.type) else arith.ShRSIOp)(b, x, y)


def _remainder(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    if isinstance(x.type, AnyFloat):
        return b.add(RemFOp(x, y))
    return b.add((arith.RemUIOp if is_unsigned(x.type) else arith.RemSIOp)(x, y))


def _rounds_up(b: Body, remainder: SSAValue, y: SSAValue) -> SSAValue:
    """Returns whether a truncated division with this remainder rounded up."""
    zero = b.constant(0, y.type)
    signs = b.add(arith.XOrIOp(_less(b, remainder, zero), _less(b, y, zero)))
    return b.add(arith.AndIOp(compare(b, remainder, zero, "une", "ne"), signs))


def _floor_mod(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    """Computes the floor remainder; a zero has the divisor's sign, as in numpy."""
    remainder = _remainder(b, x, y)
    if is_unsigned(y.type):
        return remainder
    moved = _select(b, _rounds_up(b, remainder, y), b.plus(remainder, y), remainder)
    return b.add(math.CopySignOp(moved, y)) if isinstance(y.type, AnyFloat) else moved


def _floor_divide(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    quotient = b.divide(x, y)
    if isinstance(x.type, AnyFloat):
        return b.add(math.FloorOp(quotient))
    if is_unsigned(x.type):
        return quotient
    return _select(b, _rounds_up(b, _remainder(b, x, y), y), b.minus(quotient, b.constant(1, x.type)), quotient)


_UNARY: dict[type[RelayOp], Unary] = {
    trigonometry.AcosOp: _function(math.AcosOp),
    trigonometry.AcoshOp: _function(math.AcoshOp),
    trigonometry.AsinOp: _function(math.AsinOp),
    trigonometry.AsinhOp: _function(math.AsinhOp),
    trigonometry.AtanOp: _function(math.AtanOp),
    trigonometry.AtanhOp: _function(math.AtanhOp),
    trigonometry.CosOp: _function(math.CosOp),
    trigonometry.CoshOp: _function(math.CoshOp),
    trigonometry.SinOp: _function(math.SinOp),
    trigonometry.SinhOp: _function(math.SinhOp),
    trigonometry.TanOp: _function(math.TanOp),
    rounding.CeilOp: _rounding(math.CeilOp),
    rounding.FloorOp: _rounding(math.FloorOp),
    rounding.RoundOp: _rounding(math.RoundEvenOp),
    rounding.TruncOp: _rounding(math.TruncOp),
    rounding.SignOp: _sign,
    rounding.IsfiniteOp: _question(_compare_with("olt", inf), of_integers=True),
    rounding.IsinfOp: _question(_compare_with("oeq", inf), of_integers=False),
    rounding.IsnanOp: _question(lambda b, x: b.add(arith.CmpfOp(x, x, "uno")), of_integers=False),
    logic.BitwiseNotOp: _not,
    logic.LogicalNotOp: _not,
}
_BINARY: dict[type[RelayOp], Binary] = {
    logic.BitwiseAndOp: lambda b, x, y: b.add(arith.AndIOp(x, y)),
    logic.BitwiseOrOp: lambda b, x, y: b.add(arith.OrIOp(x, y)),
    logic.BitwiseXorOp: lambda b, x, y: b.add(arith.XOrIOp(x, y)),
    logic.LogicalAndOp: lambda b, x, y: b.add(arith.AndIOp(x, y)),
    logic.LogicalOrOp: lambda b, x, y: b.add(arith.OrIOp(x, y)),
    logic.LogicalXorOp: lambda b, x, y: b.add(arith.XOrIOp(x, y)),
    logic.LeftShiftOp: _shift(arith.ShLIOp),
    logic.RightShiftOp: _right_shift,
    logic.ModOp: _remainder,
    logic.FloorModOp: _floor_mod,
    logic.FloorDivideOp: _floor_divide,
}

for _op, _fill in _UNARY.items():
    implements(_op, f"{_op.relay_name()}.generic")(unary(_fill))
for _op, _pair in _BINARY.items():
    implements(_op, f"{_op.relay_name()}.generic")(binary(_pair))
