"""math-expand: expands exponentials, log, tanh, erf, sin, cos and powers into arithmetic, on scalars and vectors.

A call of the C library takes one number and would undo vectorisation; vector libraries are not available everywhere.
The expansions below need no table and stay in vector registers; only sin and cos have a branch, to the C library for
operands of at least 10⁶. Over all inputs including infinities, NaNs, denormals and overflow
(`tests/numeric/kernels/test_to_llvm_math.py` measures every 1021st float and a sample of doubles,
`test_math_special.py` the special ones on CPUs with and without fused multiply-add), the error in
ulp stays below

| function | f32 | f64 | limits |
|---|---|---|---|
| exp | 1.5 | 1 | overflows to inf, underflows through denormals to 0 |
| exp2 | 2 | | as exp |
| log | 1.5 | | log(0) = -inf, log(x < 0) = NaN |
| tanh | 2 | 2 | ±1 |
| erf | 2 | | ±1 |
| powf | 0.6 | | those of the C library's `pow` |
| sin, cos | 2 | 2 | NaN for ±inf |

so that sigmoid, which is `1 / (1 + exp(-x))` at this level, needs no pattern of its own: its error is 3 ulp if the
result is normal, and its limits are 0 and 1. NaN gives NaN for all functions, and -0 gives -0 for the odd ones. f16 and
bf16 are computed as f32 (`arith-expand-half`): their errors are 0.51 ulp. exp2, log, erf and powers on f64 stay calls
of the C library. A power becomes products if its exponent is the constant 2, 3 or 4, and a root or quotient if it is ½,
-½ or -1, with an error below 2.5 ulp; other powers of f32 are computed in f64.

Unless they have another source, polynomials were fitted by iteratively reweighted least squares (Lawson) to the least
maximal error.

Each expansion is emitted once per module and type, as a private function that is always inlined; uses become calls of
it (`expansions.InlinedOps`).

    %y = math.exp %x : vector<16xf32>

    →   %y = func.call @xrelay_exp_v16f32(%x) : (vector<16xf32>) -> vector<16xf32>
        func.func private @xrelay_exp_v16f32(%x: vector<16xf32>) -> vector<16xf32> attributes {llvm.always_inline} {…}
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from math import pi

from xdsl.context import Context
from xdsl.dialects import llvm, math, scf, vector
from xdsl.dialects.arith import DivfOp, ExtFOp, TruncFOp
from xdsl.dialects.builtin import (
    Float32Type,
    ModuleOp,
    VectorType,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Operation
from xdsl.utils.hints import isa

from xrelay.dialects.upstream.arith_extras import SIToFPOp, TruncIOp, element_type
from xrelay.lowering.arithmetic import Number
from xrelay.lowering.to_llvm.expansions.exponentials import (
    DOUBLE,
    EXP2,
    SINGLE,
    ExpandExp,
    ExpandExp2,
    at_least,
    at_most,
    exp_in_range,
    exp_parts,
    format_of,
    power_of_two,
)
from xrelay.lowering.to_llvm.expansions.inlined_ops import InlinedOps, number
from xrelay.lowering.to_llvm.expansions.quotients import (
    ExpandRoundedQuotient,
    constant_number,
    is_rounded_quotient,
)
from xrelay.lowering.to_llvm.ops import type_suffix
from xrelay.passes.infra.conversion import AnyPattern, ConversionPattern, ConversionRewriter, apply_conversion
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates

HALF_PI = (
    1.57079632673412561417e00,
    6.07710050630396597660e-11,
    2.02226624871116645580e-21,
    8.47842766036889956997e-32,
)
"""Summands of π / 2, the first three with 33 bits, so that their products with a number of quadrants are exact."""
QUADRANTS_LIMIT = 1e6
"""The limit of the operands of sin and cos: less than 2²⁰ quadrants."""
LOG = (
    0.3333331346511841,
    -0.25000008940696716,
    0.2000211924314499,
    -0.1666799634695053,
    0.14219552278518677,
    -0.1240558922290802,
    0.11888162046670914,
    -0.11675652116537094,
    0.06746640056371689,
)
"""(log(1 + f) - f + f²/2) / f³ on sqrt ½ - 1 ≤ f ≤ sqrt 2 - 1; error 1e-9."""
ERF = (
    0.12837916612625122,
    -0.37612634897232056,
    0.11283697187900543,
    -0.026859499514102936,
    0.005201286170631647,
    -0.0008145597530528903,
    8.382390660699457e-05,
)
"""erf x / x - 1 in x², on |x| ≤ 0.92; error 4e-10."""
ERF_SWITCH = 0.91
LOG_ERFC = (
    -0.00017749595281202346,
    -1.1277495622634888,
    -0.63705974817276,
    -0.10403735190629959,
    0.02227708324790001,
    -0.003055606270208955,
    0.00019718159455806017,
)
"""log(1 - erf x) on 0.9 ≤ x ≤ 4; the error of erf computed from it is 2e-9."""
LOG2 = (2.885390081790141, 0.9617966732841365, 0.5770835944628011, 0.4116722187274245, 0.3407383343409631)
"""log2((1 + s) / (1 - s)) / s in s², on |s| ≤ 0.1716; relative error 4e-12."""
EXP2_LIMIT = 200.0
"""As an f32, the power of 2 with this exponent is inf, and its reciprocal 0."""


class ExpandLog(ConversionPattern[math.LogOp]):
    """`math.log %x : f32` → `e ln 2 + log(1 + f)`, where x = 2ᵉ (1 + f) and 1 + f is between sqrt ½ and sqrt 2."""

    def rewrite(self, op: math.LogOp, rewriter: ConversionRewriter) -> str | None:
        """Separates exponent and mantissa, computes, and corrects the special cases at the end."""
        x = number(op.operand, rewriter)
        tiny = x.compare("olt", 2.0**-126)
        bits = tiny.select(x * 2.0**23, x).bits(i32)
        exponent = (bits - 0x3F3504F3) >> 23
        mantissa = (bits - (exponent << 23)).bits(f32)
        e = exponent.convert(SIToFPOp, f32) - tiny.select(x.like(23.0), x.like(0.0))
        f = mantissa - 1.0
        square = f * f
        high, low = SINGLE.ln2
        tail = e.multiply_add(low, square * f * f.polynomial(LOG))
        tail = square.multiply_add(-0.5, tail)
        result = e.multiply_add(x.like(high), f + tail)

        zero, infinity = x.like(0.0), x.like(float("inf"))
        result = x.compare("oeq", infinity).select(infinity, result)
        result = x.compare("oeq", zero).select(x.like(float("-inf")), result)
        result = x.compare("ult", zero).select(x.like(float("nan")), result)
        rewriter.replace(op, [result.value])
        return None


class ExpandTanh(ConversionPattern[math.TanhOp]):
    """`math.tanh %x` → `(1 - e) / (1 + e)` with the sign of x, where e = exp(-2|x|) = p + p t.

    Numerator and denominator are `(1 - p) - p t` and `(1 + p) + p t`: p is a power of two, so each is rounded once.
    """

    def rewrite(self, op: math.TanhOp, rewriter: ConversionRewriter) -> str | None:
        """Computes the quotient for a clamped operand."""
        x, format_ = number(op.operand, rewriter), format_of(op)
        double = at_least(x.absolute() * -2.0, format_.tanh_limit)
        tail, _, exponent = exp_parts(double, format_)
        power, one = power_of_two(exponent, format_), x.like(1.0)
        change = tail * power
        quotient = (one - power - change) / (one + power + change)
        rewriter.replace(op, [quotient.copy_sign(x).value])
        return None


class ExpandSine(ConversionPattern[math.SinOp | math.CosOp]):
    """`math.sin %x` → the sine or cosine of r with the sign of the quadrant q, where x = q π/2 + r and |r| ≤ π/4.

    If a lane is greater than `QUADRANTS_LIMIT`, the C library computes all lanes. An f32 is reduced to r in f64.
    """

    def rewrite(self, op: math.SinOp | math.CosOp, rewriter: ConversionRewriter) -> str | None:
        """Computes both, selects, and adds the branch."""
        x = number(op.operand, rewriter)
        quadrant, r = _quadrant(x)
        if isinstance(op, math.CosOp):
            quadrant += 1
        square = r * r
        sine = (r * square).multiply_add(square.polynomial(format_of(op).sin), r).copy_sign(r)
        cosine = (square * square).multiply_add(square.polynomial(format_of(op).cos), square.multiply_add(-0.5, 1.0))
        size = ((quadrant & 1).compare("eq", 0)).select(sine, cosine)
        integer = format_of(op).integer
        sign = (quadrant & 2) << integer.bitwidth - 2
        near = (size.bits(integer) ^ sign).bits(element_type(x.value.type))

        library = (llvm.FCosOp if isinstance(op, math.CosOp) else llvm.FSinOp)(op.operand)
        far = _any(x.absolute().compare("oge", QUADRANTS_LIMIT))
        branches = [library, scf.YieldOp(library.res)], [scf.YieldOp(near.value)]
        rewriter.replace(op, rewriter.insert(scf.IfOp(far.value, [op.result.type], *branches)))
        return None


class ExpandErf(ConversionPattern[math.ErfOp]):
    """`math.erf %x : f32` → `x + x p(x²)` near 0, else `1 - exp(q(|x|))` with the sign of x."""

    def rewrite(self, op: math.ErfOp, rewriter: ConversionRewriter) -> str | None:
        """Computes both, and selects."""
        x = number(op.operand, rewriter)
        near = x.multiply_add((x * x).polynomial(ERF), x)
        size = x.absolute()
        exponent = at_most(size, 4.0).polynomial(LOG_ERFC)
        far = (x.like(1.0) - exp_in_range(exponent, SINGLE)).copy_sign(x)
        rewriter.replace(op, [size.compare("olt", ERF_SWITCH).select(near, far).value])
        return None


class ExpandSimplePower(ConversionPattern[math.PowFOp]):
    """`math.powf %x, 3.0` → `%x * %x * %x`, and products, roots and quotients for the other `SIMPLE_EXPONENTS`."""

    def rewrite(self, op: math.PowFOp, rewriter: ConversionRewriter) -> str | None:
        """Computes the power by the magnitude of the exponent, then the quotient if it is negative."""
        x, exponent = number(op.lhs, rewriter), constant_number(op.rhs)
        if exponent not in SIMPLE_EXPONENTS:
            return f"the exponent is none of {SIMPLE_EXPONENTS}"
        power = _simple_power(x, abs(exponent))
        rewriter.replace(op, [(power if exponent > 0 else x.like(1.0) / power).value])
        return None


def _simple_power(x: Number, exponent: float) -> Number:
    if exponent == 0.5:
        # Unlike the root, the power of -0 is 0, and that of -inf is inf.
        root, infinity = x.square_root().absolute(), x.like(float("inf"))
        return x.compare("oeq", float("-inf")).select(infinity, root)
    if exponent == 1:
        return x
    square = x * x
    return square if exponent == 2 else square * (x if exponent == 3 else square)


class ExpandPower(ConversionPattern[math.PowFOp]):
    """`math.powf %x, %y : f32` → `2^(y log2 |x|)` in f64, with the sign of x if y is odd.

    Powers of a negative x with a fraction are NaN.
    """

    def rewrite(self, op: math.PowFOp, rewriter: ConversionRewriter) -> str | None:
        """Computes the magnitude, then the sign, and corrects the special cases."""
        x, y = number(op.lhs, rewriter), number(op.rhs, rewriter)
        size, one = x.absolute(), x.like(1.0)
        exponent = y.convert(ExtFOp, f64) * _log2(size.convert(ExtFOp, f64))
        power = size.compare("oeq", 1.0).select(one, _exp2(exponent).convert(TruncFOp, f32))
        half, is_fraction = y * 0.5, y.floor().compare("une", y)
        is_even = half.floor().compare("oeq", half)
        power = (is_fraction | is_even).select(power, power.copy_sign(x))
        is_negative = x.compare("olt", 0.0) & size.compare("one", float("inf"))
        power = (is_negative & is_fraction).select(x.like(float("nan")), power)
        rewriter.replace(op, [y.compare("oeq", 0.0).select(one, power).value])
        return None


def _log2(x: Number) -> Number:
    """Returns log2 x for an f64 of at least 0: `e + s p(s²)`, where x = 2ᵉ m, sqrt ½ ≤ m < sqrt 2, s = (m-1)/(m+1)."""
    bits = x.bits(i64)
    exponent = (bits - 0x3FE6A09E667F3BCD) >> 52
    mantissa = (bits - (exponent << 52)).bits(f64)
    e = (exponent + DOUBLE.rounding_bits).bits(f64) - DOUBLE.rounding
    s = (mantissa - 1.0) / (mantissa + 1.0)
    result = s.multiply_add((s * s).polynomial(LOG2), e)
    result = x.compare("olt", float("inf")).select(result, x)
    return x.compare("oeq", 0.0).select(x.like(float("-inf")), result)


def _exp2(x: Number) -> Number:
    """Returns `2ⁿ p(x - n)` for an f64. The result is 0 or inf as f32 if the exact power is."""
    x = at_least(at_most(x, EXP2_LIMIT), -EXP2_LIMIT)
    shifted = x + DOUBLE.rounding
    fraction = x - (shifted - DOUBLE.rounding)
    return fraction.polynomial(EXP2) * power_of_two(shifted.bits(i64) - DOUBLE.rounding_bits, DOUBLE)


SIMPLE_EXPONENTS = (2.0, 3.0, 4.0, 0.5, -0.5, -1.0)
"""The exponents of powers that become products, roots and quotients."""

Expanded = math.ExpOp | math.Exp2Op | math.LogOp | math.TanhOp | math.ErfOp | math.SinOp | math.CosOp | math.PowFOp
_SINGLE_ONLY = math.Exp2Op | math.LogOp | math.ErfOp | math.PowFOp


class CallExpansion(ConversionPattern[Expanded]):
    """`math.exp %x : f32` → `func.call @xrelay_exp_f32(%x)`, a function that is created on first use."""

    def __init__(self, inlined: InlinedOps):
        self.inlined = inlined

    def rewrite(self, op: Expanded, rewriter: ConversionRewriter) -> str | None:
        """Calls the function for this op and type."""
        name = f"xrelay_{op.name.removeprefix('math.')}_{type_suffix(op.result.type)}"
        rewriter.replace(op, rewriter.insert(self.inlined.call(op, name)))
        return None


def _quadrant(x: Number) -> tuple[Number, Number]:
    """Returns the two lowest bits of q, with other bits above them, and r: x = q π/2 + r, and |r| ≤ π/4."""
    is_single = isinstance(element_type(x.value.type), Float32Type)
    wide = x.convert(ExtFOp, f64) if is_single else x
    shifted = wide.multiply_add(2 / pi, DOUBLE.rounding)
    n = shifted - DOUBLE.rounding
    for summand in HALF_PI[:3] if is_single else HALF_PI:
        wide = n.multiply_add(-summand, wide)
    bits = shifted.bits(i64)
    return (bits.convert(TruncIOp, i32), wide.convert(TruncFOp, f32)) if is_single else (bits, wide)


def _any(conditions: Number) -> Number:
    """Returns whether any lane is true."""
    if not isa(conditions.value.type, VectorType):
        return conditions
    kind = vector.CombiningKindAttr(vector.CombiningKindFlag.OR)
    reduction = vector.ReductionOp.create(operands=[conditions.value], result_types=[i1], properties={"kind": kind})
    return Number(conditions.at.insert(reduction).results[0], conditions.at)


def _is_legal(op: Operation) -> bool:
    if type(op) is DivfOp:
        return not is_rounded_quotient(op)
    return _is_legal_function(op)


def _is_legal_function(op: Operation) -> bool:
    if not _is_expanded(type(op)):
        return True
    if isinstance(op, math.PowFOp) and element_type(op.result.type) == f64:
        return constant_number(op.rhs) not in SIMPLE_EXPONENTS
    element = element_type(op.results[0].type)
    return not isinstance(element, Float32Type) and (isinstance(op, _SINGLE_ONLY) or element != f64)


@cache
def _is_expanded(kind: type[Operation]) -> bool:
    return issubclass(kind, Expanded)


@dataclass(frozen=True)
class MathExpandPass(XRelayPass):
    """Expands exp, tanh, sin, cos and powers of simple exponents on f32 and f64, exp2, log, erf and all powers on f32.

    All other math ops stay. An expansion is a private function, always inlined, one for each function and type; its
    uses are calls. A power with one of a few constant exponents becomes products in place. With `fma`, so does an f32
    quotient by a constant if it is rounded to an integer, as in a quantisation.
    """

    name = "math-expand"
    numerics = reassociates(
        "exponentials, log, tanh, erf, sin, cos and powers become polynomials or products, correct within a few "
        "units in the last place"
    )
    per_function = True

    scalef: bool = field(default=False, metadata={"help": "use AVX-512's instructions for powers of two"})

    fma: bool = field(default=False, metadata={"help": "use fused multiply-adds for quotients by constants"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replaces every such op in the module with a call, then expands the called functions."""
        inlined = InlinedOps(op)
        calls = ExpandSimplePower(), CallExpansion(inlined), ExpandRoundedQuotient()
        apply_conversion(op, calls, is_legal=_is_legal if self.fma else _is_legal_function)
        exp = ExpandExp(scalef=self.scalef)
        others = (ExpandLog(), ExpandTanh(), ExpandErf(), ExpandSine(), ExpandPower())
        expansions: tuple[AnyPattern, ...] = (exp, ExpandExp2(scalef=self.scalef), *others)
        for function in inlined.made:
            apply_conversion(function, expansions, is_legal=_is_legal_function)
        inlined.add_to_module()
