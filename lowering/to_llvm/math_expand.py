"""math-expand: expands exp, log, tanh and erf into arithmetic, on scalars and on vectors of any width.

A call of the C library takes one number and would undo vectorisation; vector libraries are not available everywhere.
The expansions below need no table and no branch, so they stay in vector registers. On f32, over all inputs including
infinities, NaNs, denormals and overflow (`tests/numeric/kernels/test_to_llvm_math.py` measures every 1021st float,
`test_math_special.py` the special ones on CPUs with and without fused multiply-add), the error stays below

| function | error | limits |
|---|---|---|
| exp | 1.5 ulp | overflows to inf, underflows through denormals to 0 |
| log | 1.5 ulp | log(0) = -inf, log(x < 0) = NaN |
| tanh | 2 ulp | ±1 |
| erf | 2 ulp | ±1 |

so that sigmoid, which is `1 / (1 + exp(-x))` at this level, needs no pattern of its own: its error is 3 ulp if the
result is normal, and its limits are 0 and 1. NaN gives NaN for all functions, and -0 gives -0 for the odd ones. f16 and
bf16 are computed as f32 (`arith-expand-half`): their errors are 0.51 ulp. f64 stays an intrinsic, that is, a call of
the C library, since models compute in f32 and narrower types.

Polynomials were fitted by iteratively reweighted least squares (Lawson) to the least maximal error.

Each expansion is emitted once per module and type, as a private function that is always inlined; uses become calls of
it (`expansions.InlinedOps`).

    %y = math.exp %x : vector<16xf32>

    →   %y = func.call @xrelay_exp_v16f32(%x) : (vector<16xf32>) -> vector<16xf32>
        func.func private @xrelay_exp_v16f32(%x: vector<16xf32>) -> vector<16xf32> attributes {llvm.always_inline} {…}
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from xdsl.context import Context
from xdsl.dialects import math
from xdsl.dialects.builtin import Float32Type, ModuleOp, f32, i32
from xdsl.ir import Operation

from xrelay.dialects.upstream.arith_extras import SIToFPOp, element_type
from xrelay.lowering.arithmetic import Number
from xrelay.lowering.to_llvm.expansions import InlinedOps, number
from xrelay.lowering.to_llvm.ops import type_suffix
from xrelay.passes.infra.conversion import AnyPattern, ConversionPattern, ConversionRewriter, apply_conversion
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693359375
"""ln 2 with so few bits that its product with an exponent is exact."""
LN2_LOW = -2.1219444005469057e-4
"""ln 2 minus `LN2_HIGH`."""
ROUNDING = 12582912.0
"""1.5 · 2²³: adding it rounds a float to an integer, which is then in the low bits."""
ROUNDING_BITS = 0x4B400000
EXP = (0.4999999403953552, 0.1666652113199234, 0.04166838899254799, 0.008368710055947304, 0.001381461275741458)
"""(exp r - 1 - r) / r² on |r| ≤ ln 2 / 2; error 3e-9."""
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
TANH = (-0.33333268761634827, 0.133310928940773, -0.05370965600013733, 0.020538819953799248, -0.005591016262769699)
"""(tanh x - x) / x³ in x², on |x| ≤ 0.64; error 6e-9."""
TANH_SWITCH = 0.625
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


class ExpandExp(ConversionPattern[math.ExpOp]):
    """`math.exp %x : f32` → `2ⁿ · p(r)`, where x = n ln 2 + r.

    The multiplication by 2ⁿ takes two factors, since n is between -152 (denormals) and 129 (overflow).
    """

    def rewrite(self, op: math.ExpOp, rewriter: ConversionRewriter) -> str | None:
        """Clamps the operand to the range beyond which the result is 0 or inf, and computes."""
        x = _at_most(number(op.operand, rewriter), 89.0)
        least = x.like(-105.0)
        mantissa, exponent = _exp_parts(least.compare("ogt", x).select(least, x))
        half = exponent >> 1
        result = mantissa * _power_of_two(half) * _power_of_two(exponent - half)
        rewriter.replace(op, [result.value])
        return None


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
        tail = e.multiply_add(LN2_LOW, square * f * f.polynomial(LOG))
        tail = square.multiply_add(-0.5, tail)
        result = e.multiply_add(x.like(LN2_HIGH), f + tail)

        zero, infinity = x.like(0.0), x.like(float("inf"))
        result = x.compare("oeq", infinity).select(infinity, result)
        result = x.compare("oeq", zero).select(x.like(float("-inf")), result)
        result = x.compare("ult", zero).select(x.like(float("nan")), result)
        rewriter.replace(op, [result.value])
        return None


class ExpandTanh(ConversionPattern[math.TanhOp]):
    """`math.tanh %x : f32` → `x + x³ p(x²)` near 0, else `1 - 2 / (exp(2|x|) + 1)` with the sign of x."""

    def rewrite(self, op: math.TanhOp, rewriter: ConversionRewriter) -> str | None:
        """Computes both, and selects."""
        x = number(op.operand, rewriter)
        square = x * x
        near = (x * square).multiply_add(square.polynomial(TANH), x)
        size = x.absolute()
        double = _at_most(size + size, 20.0)
        one = x.like(1.0)
        quotient = x.like(2.0) / (_exp_in_range(double) + one)
        is_near = size.compare("olt", TANH_SWITCH)
        # The sign comes last: near -0 the terms of the polynomial have different signs, and their sum is 0.
        rewriter.replace(op, [is_near.select(near, one - quotient).copy_sign(x).value])
        return None


class ExpandErf(ConversionPattern[math.ErfOp]):
    """`math.erf %x : f32` → `x + x p(x²)` near 0, else `1 - exp(q(|x|))` with the sign of x."""

    def rewrite(self, op: math.ErfOp, rewriter: ConversionRewriter) -> str | None:
        """Computes both, and selects."""
        x = number(op.operand, rewriter)
        near = x.multiply_add((x * x).polynomial(ERF), x)
        size = x.absolute()
        exponent = _at_most(size, 4.0).polynomial(LOG_ERFC)
        far = (x.like(1.0) - _exp_in_range(exponent)).copy_sign(x)
        rewriter.replace(op, [size.compare("olt", ERF_SWITCH).select(near, far).value])
        return None


Expanded = math.ExpOp | math.LogOp | math.TanhOp | math.ErfOp


class CallExpansion(ConversionPattern[Expanded]):
    """`math.exp %x : f32` → `func.call @xrelay_exp_f32(%x)`, a function that is created on first use."""

    def __init__(self, inlined: InlinedOps):
        self.inlined = inlined

    def rewrite(self, op: Expanded, rewriter: ConversionRewriter) -> str | None:
        """Calls the function for this op and type."""
        name = f"xrelay_{op.name.removeprefix('math.')}_{type_suffix(op.result.type)}"
        rewriter.replace(op, rewriter.insert(self.inlined.call(op, name)))
        return None


def _at_most(x: Number, bound: float) -> Number:
    """Returns `min(x, bound)`; NaN is preserved. This form is one instruction on x86."""
    limit = x.like(bound)
    return limit.compare("olt", x).select(limit, x)


def _exp_parts(x: Number) -> tuple[Number, Number]:
    """Returns `m` and the integer `n` with exp x = m · 2ⁿ and m between sqrt ½ and sqrt 2."""
    shifted = x.multiply_add(LOG2_E, ROUNDING)
    n = shifted - ROUNDING
    r = n.multiply_add(-LN2_LOW, n.multiply_add(-LN2_HIGH, x))
    tail = (r * r).multiply_add(r.polynomial(EXP), r)
    exponent = shifted.bits(i32) - ROUNDING_BITS
    return tail + 1.0, exponent


def _exp_in_range(x: Number) -> Number:
    """Returns exp x; the result and 2ⁿ must be normal floats."""
    mantissa, exponent = _exp_parts(x)
    return mantissa * _power_of_two(exponent)


def _power_of_two(exponent: Number) -> Number:
    """Returns 2ⁿ for -126 ≤ n ≤ 127."""
    return ((exponent + 127) << 23).bits(f32)


EXPANSIONS: tuple[AnyPattern, ...] = (ExpandExp(), ExpandLog(), ExpandTanh(), ExpandErf())
"""The patterns that expand the bodies of the functions, for f32."""


def _is_legal(op: Operation) -> bool:
    return not _is_expanded(type(op)) or not isinstance(element_type(op.results[0].type), Float32Type)


@cache
def _is_expanded(kind: type[Operation]) -> bool:
    return issubclass(kind, Expanded)


@dataclass(frozen=True)
class MathExpandPass(XRelayPass):
    """Expands exp, log, tanh and erf on f32 into arithmetic; leaves other types and all other math ops unchanged.

    An expansion is a private function, always inlined, one for each function and type; its uses are calls.
    """

    name = "math-expand"
    numerics = reassociates("exp, log, tanh and erf become polynomials, correct within a few units in the last place")
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replaces every such op in the module with a call, then expands the called functions."""
        inlined = InlinedOps(op)
        apply_conversion(op, (CallExpansion(inlined),), is_legal=_is_legal)
        for function in inlined.made:
            apply_conversion(function, EXPANSIONS, is_legal=_is_legal)
        inlined.add_to_module()
