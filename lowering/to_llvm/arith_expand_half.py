"""arith-expand-half: f16 and bf16 are storage types; computations use f32.

Few CPUs compute with 16-bit floats; on the others, LLVM calls functions of a C library that may be missing. So every
operation is done in f32 and rounded, with the same result as a single rounding: the 24 bits of f32 are enough for sums,
products, quotients and roots of numbers with 11 bits.

    %y = arith.addf %a, %b : bf16
    →   %wide = arith.addf (arith.extf %a), (arith.extf %b) : f32
        %y = func.call @xrelay_truncf_f32_bf16(%wide) : (f32) -> bf16

Conversions of bf16 use integer arithmetic on every CPU: the instruction of AVX512-BF16 treats denormals as 0.
Conversions between f16 and f32 are instructions (F16C, NEON) unless `f16` requests integer arithmetic. An f64 is first
rounded to odd to f32, and so is an integer that is not exact in f32, so that it is not rounded twice on its way to
bf16.
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
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.shared.levels import level_of_class
from xrelay.dialects.upstream.arith_extras import (
    CmpfOp,
    ExtUIOp,
    SIToFPOp,
    TruncIOp,
    UIToFPOp,
    element_type,
    with_element,
)
from xrelay.lowering.to_llvm.expansions import InlinedOps, Lanes
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
        if isinstance(op, math.CopySignOp):
            result = copy_sign(op.lhs, op.rhs, rewriter)
        else:
            result = (flip_sign if isinstance(op, arith.NegfOp) else clear_sign)(op.operand, rewriter)
        rewriter.replace(op, [result])
        return None


class RoundIntegerOnce(ConversionPattern[arith.SIToFPOp | arith.UIToFPOp]):
    """`arith.sitofp %i : i32 to bf16` → a conversion through f64, which is exact; an i64 is rounded to odd on the way.

    f16 does not need this: integers that are not exact in f32 are infinite in f16.
    """

    def rewrite(self, op: arith.SIToFPOp | arith.UIToFPOp, rewriter: ConversionRewriter) -> str | None:
        """Converts to f64; another pattern converts from there."""
        bits, target = _bitwidth(op.input.type), element_type(op.result.type)
        if bits <= F32_INTEGER_BITS or not isinstance(target, BFloat16Type):
            return "f32 holds it"
        if bits <= F64_INTEGER_BITS:
            exact = type(op).create(operands=[op.input], result_types=[with_element(op.result.type, f64)])
            wide = rewriter.insert(exact).result
        else:
            wide = f64_to_odd(op.input, rewriter, signed=isinstance(op, arith.SIToFPOp))
        rewriter.replace(op, rewriter.insert(arith.TruncFOp(wide, op.result.type)))
        return None


class WidenInSteps(ConversionPattern[arith.ExtFOp]):
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
        x = op.input
        if isinstance(op, arith.ExtFOp):
            widen = f32_of_bf16 if isinstance(element_type(x.type), BFloat16Type) else f32_of_f16
            rewriter.replace(op, [widen(x, rewriter)])
            return None
        if isinstance(element_type(x.type), Float64Type):
            narrow = arith.TruncFOp(f32_to_odd(x, rewriter), op.result.type)
            rewriter.replace(op, rewriter.insert(narrow))
            return None
        narrow_bits = bf16_of_f32 if isinstance(element_type(op.result.type), BFloat16Type) else f16_of_f32
        rewriter.replace(op, [narrow_bits(x, rewriter)])
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


@dataclass(frozen=True)
class ArithExpandHalfPass(XRelayPass):
    """Computes in f32 on values stored as f16 and bf16, and expands conversions that CPUs lack.

    A conversion is a private function, always inlined, one for each pair of types; its uses are calls.
    """

    name = "arith-expand-half"
    numerics = reassociates("fused sums of 16-bit numbers are rounded once, from f32")

    f16: bool = field(
        default=False, metadata={"help": "expand conversions between f16 and f32, for CPUs that have none"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts every op in the module, then expands the called functions."""
        inlined = InlinedOps(op)
        patterns: tuple[AnyPattern, ...] = (
            WidenInSteps(),
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
