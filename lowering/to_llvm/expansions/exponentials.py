"""The expansions of exp and exp2 of `math-expand`, and helpers of other expansions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import factorial

from xdsl.dialects import llvm, math
from xdsl.dialects.builtin import Float32Type, IntegerType, VectorType, f32, f64, i8, i16, i32, i64
from xdsl.ir import Attribute, Operation

from xrelay.dialects.upstream.arith_extras import element_type
from xrelay.lowering.arithmetic import Number
from xrelay.lowering.to_llvm.expansions.inlined_ops import number
from xrelay.lowering.to_llvm.ops import call_intrinsic
from xrelay.passes.infra.conversion import ConversionPattern, ConversionRewriter

LOG2_E = 1.4426950408889634


@dataclass(frozen=True)
class Format:
    """The constants of the expansions for a type of floats."""

    integer: IntegerType
    """The integers with the bits of such floats."""
    fraction: int
    """The number of bits after the point."""
    rounding: float
    """1.5 · 2^fraction: adding it rounds a float to an integer, which is then in the low bits."""
    rounding_bits: int
    """The bits of `rounding`."""
    ln2: tuple[float, float]
    """ln 2 with so few bits that its product with an exponent is exact, and the rest of ln 2."""
    exp: tuple[float, ...]
    """(exp r - 1 - r) / r² on |r| ≤ ln 2 / 2."""
    exp_limits: tuple[float, float]
    """The result of exp is 0 below these limits, and inf above."""
    tanh_limit: float
    """exp of this limit is so small that tanh rounds to ±1."""
    sin: tuple[float, ...]
    """(sin r - r) / r³ in r², on |r| ≤ π / 4."""
    cos: tuple[float, ...]
    """(cos r - 1 + r²/2) / r⁴ in r², on |r| ≤ π / 4."""

    @property
    def bias(self) -> int:
        """Returns the exponent of 1 as it is stored."""
        return (1 << self.integer.bitwidth - self.fraction - 2) - 1


SINGLE = Format(
    i32,
    23,
    12582912.0,
    0x4B400000,
    (0.693359375, -2.1219444005469057e-4),
    (0.4999999403953552, 0.1666652113199234, 0.04166838899254799, 0.008368710055947304, 0.001381461275741458),
    (-105.0, 89.0),
    -20.0,
    (-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4),
    (4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5),
)
"""The error of the polynomial of exp is 3e-9. Those of sin and cos are from Cephes (`sinf`)."""
DOUBLE = Format(
    i64,
    52,
    6755399441055744.0,
    0x4338000000000000,
    (6.93147180369123816490e-01, 1.90821492927058770002e-10),
    tuple(1 / factorial(power) for power in range(2, 14)),
    (-746.0, 710.0),
    -40.0,
    (
        -1.66666666666666324348e-01,
        8.33333333332248946124e-03,
        -1.98412698298579493134e-04,
        2.75573137070700676789e-06,
        -2.50507602534068634195e-08,
        1.58969099521155010221e-10,
    ),
    (
        4.16666666666666019037e-02,
        -1.38888888888741095749e-03,
        2.48015872894767294178e-05,
        -2.75573143513906633035e-07,
        2.08757232129817482790e-09,
        -1.13596475577881948265e-11,
    ),
)
"""The polynomial of exp is Taylor's, with an error of 2e-17. Those of sin and cos are from FreeBSD's `msun`."""

EXP2 = (
    1.0000000005541676,
    0.6931472057372587,
    0.24022646890614754,
    0.0555032877697927,
    0.009618488959214563,
    0.0013399931214604062,
    0.00015345811435723221,
)
"""2ˣ on |x| ≤ ½; relative error 2e-9."""
EXP2_FRACTION = (
    1.0000000018558008,
    0.6931469838406834,
    0.24022983627316605,
    0.05548334198810759,
    0.009678840989102393,
    0.0012439687890891534,
    0.00021702255245287084,
)
"""2ˣ on 0 ≤ x < 1; relative error 2e-9."""
EXP2_RANGE = (-151.0, 129.0)
"""As an f32, the power of 2 is 0 below these limits, and inf above."""
REDUCE = "x86.avx512.mask.reduce.ps.512"
"""The instruction of AVX-512 that computes the fractions of 16 floats."""

SCALEF: Mapping[Attribute, tuple[str, IntegerType]] = {
    VectorType(f32, [16]): ("x86.avx512.mask.scalef.ps.512", i16),
    VectorType(f64, [8]): ("x86.avx512.mask.scalef.pd.512", i8),
}
"""Maps types to the instruction of AVX-512 that multiplies floats by powers of two, and the type of its mask."""

_CURRENT_ROUNDING = 4
_FLOOR = 9
"""The operand of `REDUCE` for fractions of at least 0, without an exception for inexact results."""


class ExpandExp(ConversionPattern[math.ExpOp]):
    """`math.exp %x` → `2ⁿ · p(r)`, where x = n ln 2 + r.

    The multiplication by 2ⁿ is one instruction with `scalef`, which LLVM selects for `llvm.ldexp` if it vectorises a
    loop itself. Otherwise it takes two factors, since 2ⁿ may be denormal or too great. The results have the same bits.
    Below the range the result is 0 without a multiplication, because CPUs take a hundred cycles for a product that
    underflows: masks of attention add -10⁹. The instruction masks these lanes; without it, their operand is replaced by
    0 and the result is selected.
    """

    def __init__(self, *, scalef: bool):
        self._scalef = scalef

    def rewrite(self, op: math.ExpOp, rewriter: ConversionRewriter) -> str | None:
        """Limits the operand to the range beyond which the result is 0 or inf, and computes."""
        x, format_ = number(op.operand, rewriter), format_of(op)
        low, high = format_.exp_limits
        most = at_most(x, high)
        if self._scalef and op.result.type in SCALEF:
            tail, n, _ = exp_parts(most, format_)
            rewriter.replace(op, [_scaled(tail + 1.0, n, where=x.compare("uge", low)).value])
            return None
        zero, is_below = x.like(0.0), x.compare("olt", low)
        tail, _, exponent = exp_parts(is_below.select(zero, most), format_)
        if self._scalef and format_ is SINGLE:
            result = _ldexp(tail + 1.0, exponent)
        else:
            first, second = _two_powers(exponent, format_)
            result = tail.multiply_add(first, first) * second
        rewriter.replace(op, [is_below.select(zero, result).value])
        return None


class ExpandExp2(ConversionPattern[math.Exp2Op]):
    """`math.exp2 %x : f32` → `2ⁿ · p(x - n)`, where n is an integer near x.

    AVX-512 has an instruction for the fraction of x, and `scalef` multiplies by 2 to the floor of x. Otherwise n is
    rounded, and the result is computed as that of `math.exp`.
    """

    def __init__(self, *, scalef: bool):
        self._scalef = scalef

    def rewrite(self, op: math.Exp2Op, rewriter: ConversionRewriter) -> str | None:
        """Computes the power of the fraction, and multiplies it."""
        x = number(op.operand, rewriter)
        if self._scalef and op.result.type in SCALEF:
            rewriter.replace(op, [_scaled(_fraction(x).polynomial(EXP2_FRACTION), x).value])
            return None
        low, high = EXP2_RANGE
        zero, is_below = x.like(0.0), x.compare("olt", low)
        inside = is_below.select(zero, at_most(x, high))
        shifted = inside + SINGLE.rounding
        power = (inside - (shifted - SINGLE.rounding)).polynomial(EXP2)
        exponent = shifted.bits(i32) - SINGLE.rounding_bits
        if self._scalef:
            result = _ldexp(power, exponent)
        else:
            first, second = _two_powers(exponent, SINGLE)
            result = power * first * second
        rewriter.replace(op, [is_below.select(zero, result).value])
        return None


def format_of(op: Operation) -> Format:
    """Returns the constants for the type of the result of an op."""
    return SINGLE if isinstance(element_type(op.results[0].type), Float32Type) else DOUBLE


def at_most(x: Number, bound: float) -> Number:
    """Returns `min(x, bound)`; NaN is preserved. This form is one instruction on x86."""
    limit = x.like(bound)
    return limit.compare("olt", x).select(limit, x)


def at_least(x: Number, bound: float) -> Number:
    """Returns `max(x, bound)`, like `at_most`."""
    limit = x.like(bound)
    return limit.compare("ogt", x).select(limit, x)


def _scaled(x: Number, n: Number, where: Number | None = None) -> Number:
    """Returns `x · 2ⁿ` with the floor of a float n, by the instruction for this type.

    `where` is the condition of each lane, whose result is 0 if it fails; without it, all lanes are computed.
    """
    name, mask = SCALEF[x.value.type]
    lanes = x.at.constant(-1, mask) if where is None else x.at.insert(llvm.BitcastOp(where.value, mask)).results[0]
    operands = [x.value, n.value, x.like(0.0).value, lanes, x.at.constant(_CURRENT_ROUNDING, i32)]
    return Number(x.at.insert(call_intrinsic(name, operands, x.value.type)).results[0], x.at)


def _ldexp(x: Number, exponent: Number) -> Number:
    """Returns `x · 2ⁿ` for a float and an integer, by one instruction of AVX-512; on other CPUs it is a call."""
    types = (x.value.type, exponent.value.type)
    product = call_intrinsic("ldexp", [x.value, exponent.value], x.value.type, overloads=types)
    return Number(x.at.insert(product).results[0], x.at)


def _fraction(x: Number) -> Number:
    """Returns the differences of 16 floats to their floors; 0 for infinities."""
    numbers = (x.at.constant(each, type_) for each, type_ in ((_FLOOR, i32), (-1, i16), (_CURRENT_ROUNDING, i32)))
    floor, lanes, rounding = numbers
    reduced = call_intrinsic(REDUCE, [x.value, floor, x.value, lanes, rounding], x.value.type)
    return Number(x.at.insert(reduced).results[0], x.at)


def _two_powers(exponent: Number, format_: Format) -> tuple[Number, Number]:
    """Returns two floats with the product 2ⁿ, which may be denormal or inf."""
    half = exponent >> 1
    return power_of_two(half, format_), power_of_two(exponent - half, format_)


def exp_parts(x: Number, format_: Format) -> tuple[Number, Number, Number]:
    """Returns `t` and `n` with exp x = (1 + t) · 2ⁿ and 1 + t between sqrt ½ and sqrt 2; n as float and as integer."""
    shifted = x.multiply_add(LOG2_E, format_.rounding)
    n = shifted - format_.rounding
    high, low = format_.ln2
    r = n.multiply_add(-low, n.multiply_add(-high, x))
    square = r * r
    tail = square.multiply_add(r.polynomial(format_.exp), r)
    exponent = shifted.bits(format_.integer) - format_.rounding_bits
    return tail, n, exponent


def exp_in_range(x: Number, format_: Format) -> Number:
    """Returns exp x; the result and 2ⁿ must be normal floats."""
    tail, _, exponent = exp_parts(x, format_)
    return (tail + 1.0) * power_of_two(exponent, format_)


def power_of_two(exponent: Number, format_: Format) -> Number:
    """Returns 2ⁿ if it is a normal float."""
    return ((exponent + format_.bias) << format_.fraction).bits(f32 if format_ is SINGLE else f64)
