"""Fast approximations: `relay.fast_exp`, `fast_erf` and `fast_tanh`.

For f32 they evaluate the polynomials of TOPI's functions of the same names (from Cephes for the exponential, from Eigen
for the quotients). Half-precision types are computed in f32. For f64 they are `exp`, `erf` and `tanh`.
`relay-fast-math` replaces the exact functions with them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import f64
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.op_definition import Array, element_type_of, register_relay_op
from xrelay.dialects.relay.ops.tensor.elementwise import ElementwiseCompositeOp
from xrelay.dialects.relay.structure.composite import DecompositionBuilder

EXP_BOUND = 88.3762626647949
"""The greatest x for which `2^round(x / ln 2)` is finite in f32."""
EXP_TERMS = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
"""The polynomial p in `exp(f) = 1 + f + f * f * p(f)`, |f| ≤ ln 2 / 2; highest power first."""
LOG2_E, LN_2 = 1.44269504088896341, 0.6931471805599453

TANH_BOUND = 9.0
"""tanh is 1 in f32 from here on."""
TANH_ODD = (
    *(-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08),
    *(1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03),
)
"""The polynomial p in x² of `tanh(x) = x * p / q`; highest power first."""
TANH_EVEN = (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03)
"""The polynomial q in x²; highest power first."""

ERF_BOUND = 4.0
"""erf is 1 in f32 from here on."""
ERF_ODD = (
    *(-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05),
    *(-7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02),
)
"""The polynomial p in x² of `erf(x) = x * p / q`; highest power first."""
ERF_EVEN = (
    *(-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03),
    -1.42647390514189e-02,
)
"""The polynomial q in x²; highest power first."""


_ERF = np.frompyfunc(math.erf, 1, 1)


def _polynomial(build: DecompositionBuilder, x: SSAValue, terms: Sequence[float]) -> SSAValue:
    """Evaluates the polynomial with the coefficients `terms`, highest power first, by Horner's rule."""
    value = build.op("add", build.op("multiply", x, terms[0]), terms[1])
    for term in terms[2:]:
        value = build.op("add", build.op("multiply", value, x), term)
    return value


def _clamp(build: DecompositionBuilder, x: SSAValue, bound: float) -> SSAValue:
    return build.op("maximum", build.op("minimum", x, bound), -bound)


def _odd_quotient(
    build: DecompositionBuilder, x: SSAValue, bound: float, odd: Sequence[float], even: Sequence[float]
) -> SSAValue:
    """Computes `x * odd(x²) / even(x²)`, with x clamped to ±`bound`."""
    near = _clamp(build, x, bound)
    square = build.op("multiply", near, near)
    numerator = build.op("multiply", near, _polynomial(build, square, odd))
    return build.op("divide", numerator, _polynomial(build, square, even))


def _is_double(value: SSAValue) -> bool:
    return element_type_of(value.type) == f64


def fast_exp(x: Array) -> Array:
    """Computes the approximation of `relay.fast_exp` for an array of f64."""
    near = np.clip(x, -EXP_BOUND, EXP_BOUND)
    n = np.floor(near * LOG2_E + 0.5)
    f = near - n * LN_2
    # The power of two for the least n is 0, because f32 has no exponent for it.
    power = np.where(n < -126, 0.0, np.exp2(n))
    return np.maximum(power * (np.polyval(EXP_TERMS, f) * f * f + f + 1), x)


def _fast_quotient(x: Array, bound: float, odd: Sequence[float], even: Sequence[float]) -> Array:
    """Computes `x * odd(x²) / even(x²)`, with x clamped to ±`bound`, for an array of f64."""
    near = np.clip(x, -bound, bound)
    return near * np.polyval(odd, near * near) / np.polyval(even, near * near)


@register_relay_op
@irdl_op_definition
class FastExpOp(ElementwiseCompositeOp):
    """`exp(x)` as `2^n * (1 + f + f² p(f))` with n = floor(x / ln 2 + 1/2), f = x - n ln 2 and a polynomial p.

    Within 1e-5 of exp(x) for -87.3 ≤ x ≤ 88.3; 0 below -87.7, about 2.4e38 from 88.4 on, and infinite for infinite x.

    Example:
    ```mlir
    %y = relay.fast_exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.fast_exp"

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A polynomial times a power of two, created from its bits; for f64 the exponential."""
        (x,) = build.operands
        if _is_double(x):
            return build.op("exp", x)
        near = _clamp(build, x, EXP_BOUND)
        n = build.op("floor", build.op("add", build.op("multiply", near, LOG2_E), 0.5))
        f = build.op("subtract", near, build.op("multiply", n, LN_2))
        square = build.op("multiply", f, f)
        tail = build.op("multiply", _polynomial(build, f, EXP_TERMS), square)
        mantissa = build.op("add", build.op("add", tail, f), 1.0)
        biased = build.op("cast", build.op("add", n, 127.0), dtype="int32")
        power = build.op("reinterpret", build.op("left_shift", biased, 23), dtype="float32")
        # Infinity and NaN propagate.
        return build.op("maximum", build.op("multiply", power, mantissa), x)

    def function(self, x: Array) -> Array:
        """Computes a power of two times a polynomial."""
        return fast_exp(x)

    def evaluate(self, data: Array) -> Array:
        """Applies the approximation in double precision; for f64 the exponential."""
        return np.exp(data) if data.dtype == np.float64 else super().evaluate(data)


@register_relay_op
@irdl_op_definition
class FastErfOp(ElementwiseCompositeOp):
    """`erf(x)` as a quotient of polynomials in x², with x clamped to -4 … 4; within 1e-6.

    Example:
    ```mlir
    %y = relay.fast_erf(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.fast_erf"

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """The quotient of polynomials; for f64 the error function."""
        (x,) = build.operands
        return build.op("erf", x) if _is_double(x) else _odd_quotient(build, x, ERF_BOUND, ERF_ODD, ERF_EVEN)

    def function(self, x: Array) -> Array:
        """Computes the quotient of polynomials."""
        return _fast_quotient(x, ERF_BOUND, ERF_ODD, ERF_EVEN)

    def evaluate(self, data: Array) -> Array:
        """Applies the approximation in double precision; for f64 the error function."""
        return np.asarray(_ERF(data), np.float64) if data.dtype == np.float64 else super().evaluate(data)


@register_relay_op
@irdl_op_definition
class FastTanhOp(ElementwiseCompositeOp):
    """`tanh(x)` as a quotient of polynomials in x², with x clamped to -9 … 9; within 1e-6.

    Example:
    ```mlir
    %y = relay.fast_tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.fast_tanh"

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """The quotient of polynomials; for f64 the hyperbolic tangent."""
        (x,) = build.operands
        return build.op("tanh", x) if _is_double(x) else _odd_quotient(build, x, TANH_BOUND, TANH_ODD, TANH_EVEN)

    def function(self, x: Array) -> Array:
        """Computes the quotient of polynomials."""
        return _fast_quotient(x, TANH_BOUND, TANH_ODD, TANH_EVEN)

    def evaluate(self, data: Array) -> Array:
        """Applies the approximation in double precision; for f64 the hyperbolic tangent."""
        return np.tanh(data) if data.dtype == np.float64 else super().evaluate(data)
