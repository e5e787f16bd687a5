"""Conversions to and from 16-bit floats in integer arithmetic, on scalars and on vectors of any width.

Narrowing rounds to nearest even. Infinities and denormals convert correctly; a NaN stays a NaN and becomes quiet.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import bf16, f16, f32, f64, i16, i32, i64
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.upstream.arith_extras import (
    CmpfOp,
    ExtUIOp,
    SIToFPOp,
    TruncIOp,
    UIToFPOp,
    element_type,
    with_element,
)
from xrelay.lowering.to_llvm.lanes import Lanes
from xrelay.passes.infra.conversion import ConversionRewriter

BF16_SHIFT = 16
"""A bf16 is the upper half of an f32."""
F16_SHIFT = 13
"""The difference in bits between the mantissas of f32 and f16."""
F32_INFINITY = 0x7F800000
F32_QUIET = 0x400000
"""The highest bit of the mantissa, which is set in a quiet NaN."""
SIGN = -0x80000000
EXACT_IN_F64 = 1 << 53
"""All integers up to this one are exact in f64."""


def f32_of_bf16(x: SSAValue, rewriter: ConversionRewriter) -> SSAValue:
    """Shifts the bits up by 16; exact."""
    lanes = Lanes(x.type, rewriter)
    return lanes.from_bits(lanes.shift_left(_bits(x, rewriter), BF16_SHIFT))


def bf16_of_f32(x: SSAValue, rewriter: ConversionRewriter) -> SSAValue:
    """Returns the upper half of the bits, after adding a little less than half of its last place, or half if it is odd.

    The sum carries into the exponent if necessary, and from the greatest numbers to infinity.
    """
    lanes = Lanes(x.type, rewriter)
    bits = lanes.bits(x)
    odd = lanes.and_bits(lanes.shift_right_logical(bits, BF16_SHIFT), lanes.integer(1))
    rounded = lanes.add_integers(lanes.add_integers(bits, lanes.integer((1 << BF16_SHIFT - 1) - 1)), odd)
    quiet = lanes.or_bits(bits, lanes.integer(F32_QUIET))
    chosen = lanes.select(lanes.compare("uno", x, x), quiet, rounded)
    return _from_low_bits(lanes.shift_right_logical(chosen, BF16_SHIFT), bf16, rewriter)


def f32_of_f16(x: SSAValue, rewriter: ConversionRewriter) -> SSAValue:
    """Moves exponent and mantissa to their places, and corrects the bias of the exponent by a multiplication; exact."""
    lanes = Lanes(x.type, rewriter)
    bits = _bits(x, rewriter)
    sign = lanes.shift_left(lanes.and_bits(bits, lanes.integer(0x8000)), 16)
    size = lanes.shift_left(lanes.and_bits(bits, lanes.integer(0x7FFF)), F16_SHIFT)
    finite = lanes.bits(lanes.mul(lanes.from_bits(size), lanes.number(2.0**112)))
    special = lanes.or_bits(size, lanes.integer(F32_INFINITY))
    is_special = lanes.compare_integers("uge", size, lanes.integer(0x7C00 << F16_SHIFT))
    return lanes.from_bits(lanes.or_bits(sign, lanes.select(is_special, special, finite)))


def f16_of_f32(x: SSAValue, rewriter: ConversionRewriter) -> SSAValue:
    """Rounds normal numbers as in `bf16_of_f32`, and denormals by adding 0.5, which rounds at the right place."""
    lanes = Lanes(x.type, rewriter)
    bits = lanes.bits(x)
    sign = lanes.and_bits(bits, lanes.integer(SIGN))
    size = lanes.sub_integers(bits, sign)
    odd = lanes.and_bits(lanes.shift_right_logical(size, F16_SHIFT), lanes.integer(1))
    rebias = lanes.integer((15 - 127 << 23) + (1 << F16_SHIFT - 1) - 1)
    rounded = lanes.add_integers(lanes.add_integers(size, rebias), odd)
    normal = lanes.shift_right_logical(rounded, F16_SHIFT)
    half = lanes.number(0.5)
    small = lanes.sub_integers(lanes.bits(lanes.add(lanes.from_bits(size), half)), lanes.bits(half))
    payload = lanes.and_bits(lanes.shift_right_logical(size, F16_SHIFT), lanes.integer(0x3FF))
    quiet = lanes.or_bits(payload, lanes.integer(0x7E00))
    is_nan = lanes.compare_integers("ugt", size, lanes.integer(F32_INFINITY))
    special = lanes.select(is_nan, quiet, lanes.integer(0x7C00))
    result = lanes.select(lanes.compare_integers("ult", size, lanes.integer(113 << 23)), small, normal)
    result = lanes.select(lanes.compare_integers("uge", size, lanes.integer(143 << 23)), special, result)
    return _from_low_bits(lanes.or_bits(result, lanes.shift_right_logical(sign, 16)), f16, rewriter)


def f32_to_odd(x: SSAValue, rewriter: ConversionRewriter) -> SSAValue:
    """Rounds an f64 to odd in f32: an inexact number becomes its neighbour with an odd last bit.

    Rounding the result to 16 bits equals a single rounding, since an inexact number never looks like the middle between
    two others (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
    """
    lanes, insert = Lanes(x.type, rewriter), rewriter.insert
    near = insert(arith.TruncFOp(x, with_element(x.type, f32))).result
    back = insert(arith.ExtFOp(near, x.type)).result
    bits = lanes.bits(near)
    is_even = lanes.compare_integers("eq", lanes.and_bits(bits, lanes.integer(1)), lanes.integer(0))
    inexact = insert(CmpfOp(back, x, "one")).result
    wide = Lanes(x.type, rewriter, floats=f64, integers=i64)
    too_large = insert(CmpfOp(wide.absolute(back), wide.absolute(x), "ogt")).result
    step = lanes.select(too_large, lanes.integer(-1), lanes.integer(1))
    other = lanes.add_integers(bits, step)
    return lanes.from_bits(lanes.select(insert(arith.AndIOp(is_even, inexact)).result, other, bits))


def f64_to_odd(x: SSAValue, rewriter: ConversionRewriter, *, signed: bool) -> SSAValue:
    """Converts an i64 to f64: exact up to 2⁵³, else rounded to odd to a multiple of 2¹¹."""
    wide, insert = Lanes(x.type, rewriter, floats=f64, integers=i64), rewriter.insert
    lost = wide.and_bits(x, wide.integer(0x7FF))
    odd = wide.select(wide.compare_integers("ne", lost, wide.integer(0)), wide.integer(0x800), wide.integer(0))
    shortened = wide.or_bits(wide.sub_integers(x, lost), odd)
    limit, distance = EXACT_IN_F64, x
    if signed:
        limit, distance = 2 * EXACT_IN_F64, wide.add_integers(x, wide.integer(EXACT_IN_F64))
    is_large = wide.compare_integers("ugt", distance, wide.integer(limit))
    cast = SIToFPOp if signed else UIToFPOp
    return insert(cast(wide.select(is_large, shortened, x), wide.floats)).result


def flip_sign(x: SSAValue, rewriter: ConversionRewriter) -> SSAValue:
    """Returns `-x` for a 16-bit float."""
    halves = Lanes(x.type, rewriter, floats=element_type(x.type), integers=i16)
    return halves.from_bits(rewriter.insert(arith.XOrIOp(halves.bits(x), halves.integer(-0x8000))).result)


def clear_sign(x: SSAValue, rewriter: ConversionRewriter) -> SSAValue:
    """Returns `|x|` for a 16-bit float."""
    halves = Lanes(x.type, rewriter, floats=element_type(x.type), integers=i16)
    return halves.from_bits(halves.and_bits(halves.bits(x), halves.integer(0x7FFF)))


def copy_sign(magnitude: SSAValue, sign: SSAValue, rewriter: ConversionRewriter) -> SSAValue:
    """Returns `magnitude` with the sign of `sign`, both 16-bit floats."""
    halves = Lanes(sign.type, rewriter, floats=element_type(sign.type), integers=i16)
    size = halves.and_bits(halves.bits(magnitude), halves.integer(0x7FFF))
    return halves.from_bits(halves.or_bits(size, halves.and_bits(halves.bits(sign), halves.integer(-0x8000))))


def _bits(x: SSAValue, rewriter: ConversionRewriter) -> SSAValue:
    """Returns the bits of a 16-bit float as the low half of an i32."""
    bits = rewriter.insert(arith.BitcastOp(x, with_element(x.type, i16))).result
    return rewriter.insert(ExtUIOp(bits, with_element(x.type, i32))).result


def _from_low_bits(bits: SSAValue, type_: Attribute, rewriter: ConversionRewriter) -> SSAValue:
    low = rewriter.insert(TruncIOp(bits, with_element(bits.type, i16))).result
    return rewriter.insert(arith.BitcastOp(low, with_element(bits.type, type_))).result
