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
from xdsl.dialects.builtin import Float32Type, ModuleOp
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.upstream.arith_extras import element_type
from xrelay.lowering.to_llvm.expansions import InlinedOps, Lanes
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
        lanes = Lanes(op.result.type, rewriter)
        x = lanes.at_least(lanes.at_most(op.operand, 89.0), -105.0)
        mantissa, exponent = _exp_parts(lanes, x)
        half = lanes.shift_right(exponent, 1)
        scaled = lanes.mul(mantissa, _power_of_two(lanes, half))
        rewriter.replace(op, [lanes.mul(scaled, _power_of_two(lanes, lanes.sub_integers(exponent, half)))])
        return None


class ExpandLog(ConversionPattern[math.LogOp]):
    """`math.log %x : f32` → `e ln 2 + log(1 + f)`, where x = 2ᵉ (1 + f) and 1 + f is between sqrt ½ and sqrt 2."""

    def rewrite(self, op: math.LogOp, rewriter: ConversionRewriter) -> str | None:
        """Separates exponent and mantissa, computes, and corrects the special cases at the end."""
        lanes, x = Lanes(op.result.type, rewriter), op.operand
        tiny = lanes.compare("olt", x, lanes.number(2.0**-126))
        normal = lanes.select(tiny, lanes.mul(x, lanes.number(2.0**23)), x)
        bits = lanes.bits(normal)
        exponent = lanes.shift_right(lanes.sub_integers(bits, lanes.integer(0x3F3504F3)), 23)
        mantissa = lanes.from_bits(lanes.sub_integers(bits, lanes.shift_left(exponent, 23)))
        e = lanes.sub(lanes.to_float(exponent), lanes.select(tiny, lanes.number(23.0), lanes.number(0.0)))
        f = lanes.sub(mantissa, lanes.number(1.0))
        square = lanes.mul(f, f)
        tail = lanes.mul(lanes.mul(square, f), lanes.polynomial(f, LOG))
        tail = lanes.multiply_add(e, lanes.number(LN2_LOW), tail)
        tail = lanes.multiply_add(square, lanes.number(-0.5), tail)
        result = lanes.multiply_add(e, lanes.number(LN2_HIGH), lanes.add(f, tail))

        zero, infinity = lanes.number(0.0), lanes.number(float("inf"))
        result = lanes.select(lanes.compare("oeq", x, infinity), infinity, result)
        result = lanes.select(lanes.compare("oeq", x, zero), lanes.number(float("-inf")), result)
        negative = lanes.compare("ult", x, zero)
        rewriter.replace(op, [lanes.select(negative, lanes.number(float("nan")), result)])
        return None


class ExpandTanh(ConversionPattern[math.TanhOp]):
    """`math.tanh %x : f32` → `x + x³ p(x²)` near 0, else `1 - 2 / (exp(2|x|) + 1)` with the sign of x."""

    def rewrite(self, op: math.TanhOp, rewriter: ConversionRewriter) -> str | None:
        """Computes both, and selects."""
        lanes, x = Lanes(op.result.type, rewriter), op.operand
        square = lanes.mul(x, x)
        near = lanes.multiply_add(lanes.mul(x, square), lanes.polynomial(square, TANH), x)
        size = lanes.absolute(x)
        double = lanes.at_most(lanes.add(size, size), 20.0)
        one = lanes.number(1.0)
        quotient = lanes.div(lanes.number(2.0), lanes.add(_exp_in_range(lanes, double), one))
        is_near = lanes.compare("olt", size, lanes.number(TANH_SWITCH))
        # The sign comes last: near -0 the terms of the polynomial have different signs, and their sum is 0.
        rewriter.replace(op, [lanes.copy_sign(lanes.select(is_near, near, lanes.sub(one, quotient)), x)])
        return None


class ExpandErf(ConversionPattern[math.ErfOp]):
    """`math.erf %x : f32` → `x + x p(x²)` near 0, else `1 - exp(q(|x|))` with the sign of x."""

    def rewrite(self, op: math.ErfOp, rewriter: ConversionRewriter) -> str | None:
        """Computes both, and selects."""
        lanes, x = Lanes(op.result.type, rewriter), op.operand
        near = lanes.multiply_add(x, lanes.polynomial(lanes.mul(x, x), ERF), x)
        size = lanes.absolute(x)
        exponent = lanes.polynomial(lanes.at_most(size, 4.0), LOG_ERFC)
        far = lanes.copy_sign(lanes.sub(lanes.number(1.0), _exp_in_range(lanes, exponent)), x)
        is_near = lanes.compare("olt", size, lanes.number(ERF_SWITCH))
        rewriter.replace(op, [lanes.select(is_near, near, far)])
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


def _exp_parts(lanes: Lanes, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Returns `m` and the integer `n` with exp x = m · 2ⁿ and m between sqrt ½ and sqrt 2."""
    shifted = lanes.multiply_add(x, lanes.number(LOG2_E), lanes.number(ROUNDING))
    n = lanes.sub(shifted, lanes.number(ROUNDING))
    r = lanes.multiply_add(n, lanes.number(-LN2_HIGH), x)
    r = lanes.multiply_add(n, lanes.number(-LN2_LOW), r)
    tail = lanes.multiply_add(lanes.mul(r, r), lanes.polynomial(r, EXP), r)
    exponent = lanes.sub_integers(lanes.bits(shifted), lanes.integer(ROUNDING_BITS))
    return lanes.add(tail, lanes.number(1.0)), exponent


def _exp_in_range(lanes: Lanes, x: SSAValue) -> SSAValue:
    """Returns exp x; the result and 2ⁿ must be normal floats."""
    mantissa, exponent = _exp_parts(lanes, x)
    return lanes.mul(mantissa, _power_of_two(lanes, exponent))


def _power_of_two(lanes: Lanes, exponent: SSAValue) -> SSAValue:
    """Returns 2ⁿ for -126 ≤ n ≤ 127."""
    return lanes.from_bits(lanes.shift_left(lanes.add_integers(exponent, lanes.integer(127)), 23))


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
