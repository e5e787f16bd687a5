"""arith-expand-half: f16 and bf16 are storage types; computations use f32.

Few CPUs compute with 16-bit floats; on the others, LLVM calls functions of a C library that may be missing. So every
operation is done in f32 and rounded, with the same result as a single rounding: the 24 bits of f32 are enough for sums,
products, quotients and roots of numbers with 11 bits.

    %y = arith.addf %a, %b : bf16
    →   %wide = arith.addf (arith.extf %a), (arith.extf %b) : f32
        %y = func.call @xrelay_truncf_f32_bf16(%wide) : (f32) -> bf16

Conversions of bf16 use integer arithmetic on every CPU: the instruction of AVX512-BF16 treats denormals as 0.
Conversions between f16 and f32 are instructions (F16C, NEON) unless `f16` requests integer arithmetic. An f64, and an
integer that is not exact in f32, is first converted to f32 with rounding to odd, so that the conversion to bf16 is the
only effective rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from xdsl.context import Context
from xdsl.dialects import arith, math, vector
from xdsl.dialects.builtin import (
    BFloat16Type,
    FixedBitwidthType,
    Float16Type,
    Float32Type,
    Float64Type,
    ModuleOp,
    bf16,
    f16,
    f32,
    f64,
    i16,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.shared.levels import level_of_class
from xrelay.dialects.upstream.arith_extras import (
    ExtUIOp,
    SIToFPOp,
    TruncIOp,
    UIToFPOp,
    element_type,
    with_element,
)
from xrelay.lowering.arithmetic import Number
from xrelay.lowering.to_llvm.expansions.inlined_ops import InlinedOps, number
from xrelay.lowering.to_llvm.ops import type_suffix
from xrelay.passes.infra.conversion import AnyPattern, ConversionPattern, ConversionRewriter, apply_conversion
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates

F32_INTEGER_BITS, F64_INTEGER_BITS = 24, 53
"""The number of bits of integers that are exact in f32 and in f64."""
MOVING_OPS = (arith.ConstantOp, arith.SelectOp, arith.BitcastOp)
"""Ops of arith that do not interpret their operands as numbers."""


def is_half(type_: Attribute) -> bool:
    """Whether a type is a float of 16 bits, or a vector of them."""
    return type(element_type(type_)) in (Float16Type, BFloat16Type)


def computes_on_halves(op: Operation) -> bool:
    """Whether `op` is of arith or math, or a fused sum of vectors, and has an operand or a result of 16 bits."""
    return _computes(type(op)) and any(is_half(value.type) for value in (*op.operands, *op.results))


@cache
def _computes(kind: type[Operation]) -> bool:
    if level_of_class(kind) in ("arith", "math"):
        return not issubclass(kind, MOVING_OPS)
    return issubclass(kind, vector.FMAOp)


class ComputeInSingle(ConversionPattern[Operation]):
    """`arith.addf %a, %b : f16` → `extf` of both, `arith.addf : f32`, `truncf`; comparisons keep their result type."""

    def handles(self, op_type: type[Operation]) -> bool:
        """Returns True for every class; the types of an op decide whether it is converted."""
        return True

    def rewrite(self, op: Operation, rewriter: ConversionRewriter) -> str | None:
        """Widens, computes and rounds."""
        operands = [_widened(operand, rewriter) if is_half(operand.type) else operand for operand in op.operands]
        types = [with_element(result.type, f32) if is_half(result.type) else result.type for result in op.results]
        wide = rewriter.insert(
            type(op).create(
                operands=operands, result_types=types, properties=dict(op.properties), attributes=dict(op.attributes)
            )
        )
        results = [
            rewriter.insert(arith.TruncFOp(new, old.type)).result if is_half(old.type) else new
            for new, old in zip(wide.results, op.results, strict=True)
        ]
        rewriter.replace(op, results)
        return None


class ChangeSign(ConversionPattern[arith.NegfOp | math.AbsFOp | math.CopySignOp]):
    """`arith.negf %x : f16` → `arith.xori` of its bits; `absf` and `copysign` similarly."""

    def rewrite(self, op: arith.NegfOp | math.AbsFOp | math.CopySignOp, rewriter: ConversionRewriter) -> str | None:
        """Sets, clears or copies the highest bit."""
        bits = number(op.operands[0], rewriter).bits(i16)
        result = bits ^ -0x8000 if isinstance(op, arith.NegfOp) else bits & 0x7FFF
        if isinstance(op, math.CopySignOp):
            result |= number(op.rhs, rewriter).bits(i16) & -0x8000
        rewriter.replace(op, [result.bits(element_type(op.result.type)).value])
        return None


class RoundIntegerOnce(ConversionPattern[arith.SIToFPOp | arith.UIToFPOp]):
    """`arith.sitofp %i : i32 to bf16` → a conversion through f64, which is exact; an i64 is rounded to odd on the way.

    f16 does not need this: integers that are not exact in f32 are infinite in f16.
    """

    def rewrite(self, op: arith.SIToFPOp | arith.UIToFPOp, rewriter: ConversionRewriter) -> str | None:
        """Converts to f64; another pattern converts from there."""
        bits, target = _bitwidth(op.input.type), element_type(op.result.type)
        if bits <= F32_INTEGER_BITS or not isinstance(target, BFloat16Type):
            return "it is exact in f32"
        if bits <= F64_INTEGER_BITS:
            exact = type(op).create(operands=[op.input], result_types=[with_element(op.result.type, f64)])
            wide = rewriter.insert(exact).result
        else:
            wide = _f64_to_odd(number(op.input, rewriter), signed=isinstance(op, arith.SIToFPOp)).value
        rewriter.replace(op, rewriter.insert(arith.TruncFOp(wide, op.result.type)))
        return None


class WidenThroughF32(ConversionPattern[arith.ExtFOp]):
    """`arith.extf %x : f16 to f64` → two exact conversions, through f32."""

    def rewrite(self, op: arith.ExtFOp, rewriter: ConversionRewriter) -> str | None:
        """Replaces the conversion with two."""
        if not isinstance(element_type(op.result.type), Float64Type):
            return "not to f64"
        wide = _widened(op.input, rewriter)
        rewriter.replace(op, rewriter.insert(arith.ExtFOp(wide, op.result.type)))
        return None


class CallConversion(ConversionPattern[arith.TruncFOp | arith.ExtFOp]):
    """`arith.truncf %x : f32 to bf16` → `func.call @xrelay_truncf_f32_bf16(%x)`, created on first use."""

    def __init__(self, inlined: InlinedOps):
        self.inlined = inlined

    def rewrite(self, op: arith.TruncFOp | arith.ExtFOp, rewriter: ConversionRewriter) -> str | None:
        """Calls the function for this op and these types."""
        types = f"{type_suffix(op.input.type)}_{type_suffix(op.result.type)}"
        name = f"xrelay_{op.name.removeprefix('arith.')}_{types}"
        rewriter.replace(op, rewriter.insert(self.inlined.call(op, name)))
        return None


class ExpandConversion(ConversionPattern[arith.TruncFOp | arith.ExtFOp]):
    """Expands the conversion in the body of its function."""

    def rewrite(self, op: arith.TruncFOp | arith.ExtFOp, rewriter: ConversionRewriter) -> str | None:
        """Shifts bits; an f64 is converted to f32 first."""
        x = number(op.input, rewriter)
        if isinstance(op, arith.ExtFOp):
            widen = _f32_of_bf16 if isinstance(element_type(op.input.type), BFloat16Type) else _f32_of_f16
            rewriter.replace(op, [widen(x).value])
        elif isinstance(element_type(op.input.type), Float64Type):
            rewriter.replace(op, rewriter.insert(arith.TruncFOp(_f32_to_odd(x).value, op.result.type)))
        else:
            narrow = _bf16_of_f32 if isinstance(element_type(op.result.type), BFloat16Type) else _f16_of_f32
            rewriter.replace(op, [narrow(x).value])
        return None


def _widened(value: SSAValue, rewriter: ConversionRewriter) -> SSAValue:
    return rewriter.insert(arith.ExtFOp(value, with_element(value.type, f32))).result


def _bitwidth(type_: Attribute) -> int:
    element = element_type(type_)
    assert isinstance(element, FixedBitwidthType), "indices become i64 before they become floats"
    return element.bitwidth


# --- conversions in integer arithmetic, on scalars and on vectors of any width
#
# Narrowing rounds to nearest even. Infinities and denormals convert correctly; a NaN stays a NaN and becomes quiet.

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


def _f32_of_bf16(x: Number) -> Number:
    """Shifts the bits up by 16; exact."""
    return (_low_bits(x) << BF16_SHIFT).bits(f32)


def _bf16_of_f32(x: Number) -> Number:
    """Returns the upper half of the bits after adding a little less than half its last place, or half if it is odd.

    The sum carries into the exponent if necessary, and from the greatest numbers to infinity.
    """
    bits = x.bits(i32)
    odd = bits.shift_right_logical(BF16_SHIFT) & 1
    rounded = bits + ((1 << BF16_SHIFT - 1) - 1) + odd
    quiet = bits | F32_QUIET
    chosen = x.compare("uno", x).select(quiet, rounded)
    return _from_low_bits(chosen.shift_right_logical(BF16_SHIFT), bf16)


def _f32_of_f16(x: Number) -> Number:
    """Moves exponent and mantissa to their places, and corrects the bias of the exponent by a multiplication; exact."""
    bits = _low_bits(x)
    sign = (bits & 0x8000) << 16
    size = (bits & 0x7FFF) << F16_SHIFT
    finite = (size.bits(f32) * 2.0**112).bits(i32)
    special = size | F32_INFINITY
    is_special = size.compare("uge", 0x7C00 << F16_SHIFT)
    return (sign | is_special.select(special, finite)).bits(f32)


def _f16_of_f32(x: Number) -> Number:
    """Rounds normal numbers as `_bf16_of_f32` does, and denormals by adding 0.5, which has their last place."""
    bits = x.bits(i32)
    sign = bits & SIGN
    size = bits - sign
    odd = size.shift_right_logical(F16_SHIFT) & 1
    rounded = size + ((15 - 127 << 23) + (1 << F16_SHIFT - 1) - 1) + odd
    normal = rounded.shift_right_logical(F16_SHIFT)
    half = x.like(0.5)
    small = (size.bits(f32) + half).bits(i32) - half.bits(i32)
    quiet = size.shift_right_logical(F16_SHIFT) & 0x3FF | 0x7E00
    special = size.compare("ugt", F32_INFINITY).select(quiet, bits.like(0x7C00))
    result = size.compare("ult", 113 << 23).select(small, normal)
    result = size.compare("uge", 143 << 23).select(special, result)
    return _from_low_bits(result | sign.shift_right_logical(16), f16)


def _f32_to_odd(x: Number) -> Number:
    """Rounds an f64 to odd in f32: an inexact number becomes its neighbour with an odd last bit.

    Rounding the result to 16 bits equals a single rounding, since an inexact number never looks like the middle between
    two others (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
    """
    near = x.convert(arith.TruncFOp, f32)
    back = near.convert(arith.ExtFOp, f64)
    bits = near.bits(i32)
    is_even = (bits & 1).compare("eq", 0)
    inexact = back.compare("one", x)
    too_large = back.absolute().compare("ogt", x.absolute())
    other = bits + too_large.select(bits.like(-1), bits.like(1))
    return (is_even & inexact).select(other, bits).bits(f32)


def _f64_to_odd(x: Number, *, signed: bool) -> Number:
    """Converts an i64 to f64: exact up to 2⁵³, else rounded to odd to a multiple of 2¹¹."""
    lost = x & 0x7FF
    odd = lost.compare("ne", 0).select(x.like(0x800), x.like(0))
    shortened = (x - lost) | odd
    limit, distance = (2 * EXACT_IN_F64, x + EXACT_IN_F64) if signed else (EXACT_IN_F64, x)
    is_large = distance.compare("ugt", limit)
    return is_large.select(shortened, x).convert(SIToFPOp if signed else UIToFPOp, f64)


def _low_bits(x: Number) -> Number:
    """Returns the bits of a 16-bit float as the low half of an i32."""
    return x.bits(i16).convert(ExtUIOp, i32)


def _from_low_bits(bits: Number, element: Attribute) -> Number:
    return bits.convert(TruncIOp, i16).bits(element)


@dataclass(frozen=True)
class ArithExpandHalfPass(XRelayPass):
    """Computes in f32 on values stored as f16 and bf16, and expands conversions that CPUs lack.

    A conversion is a private function, always inlined, one for each pair of types; its uses are calls.
    """

    name = "arith-expand-half"
    numerics = reassociates("fused sums of 16-bit numbers are rounded once, from f32")

    f16: bool = field(
        default=False, metadata={"help": "expand conversions between f16 and f32, for CPUs without such instructions"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts every op in the module, then expands the called functions."""
        inlined = InlinedOps(op)
        patterns: tuple[AnyPattern, ...] = (
            WidenThroughF32(),
            CallConversion(inlined),
            ChangeSign(),
            RoundIntegerOnce(),
            ComputeInSingle(),
        )
        apply_conversion(op, patterns, is_legal=self._is_legal)
        for function in inlined.made:
            apply_conversion(function, (ExpandConversion(),), is_legal=self._is_legal)
        inlined.add_to_module()

    def _is_legal(self, op: Operation) -> bool:
        if not computes_on_halves(op):
            return True
        if self.f16 or not isinstance(op, arith.TruncFOp | arith.ExtFOp):
            return False
        return {type(element_type(value.type)) for value in (op.input, op.result)} == {Float16Type, Float32Type}
