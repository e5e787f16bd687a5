"""Fast approximations in double precision, with which tests compare their decompositions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xrelay.dialects.relay.ops import fast_math as terms
from xrelay.dialects.relay.ops.fast_math import FastErfOp, FastExpOp, FastSoftmaxOp, FastTanhOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.numerics.rounding import cast_once
from xrelay.interpreters.relay.registry import evaluates

_erf = np.frompyfunc(math.erf, 1, 1)


@evaluates(FastExpOp)
def evaluate_fast_exp(op: FastExpOp, x: Array) -> Array:
    """Computes a power of two times a polynomial; for f64 the exponential."""
    return np.exp(x) if x.dtype == np.float64 else cast_once(_fast_exp(x.astype(np.float64)), x.dtype)


@evaluates(FastErfOp)
def evaluate_fast_erf(op: FastErfOp, x: Array) -> Array:
    """Computes a quotient of polynomials; for f64 the error function."""
    if x.dtype == np.float64:
        return np.asarray(_erf(x), np.float64)
    return cast_once(_odd_quotient(x, terms.ERF_BOUND, terms.ERF_ODD, terms.ERF_EVEN), x.dtype)


@evaluates(FastTanhOp)
def evaluate_fast_tanh(op: FastTanhOp, x: Array) -> Array:
    """Computes a quotient of polynomials; for f64 the hyperbolic tangent."""
    if x.dtype == np.float64:
        return np.tanh(x)
    return cast_once(_odd_quotient(x, terms.TANH_BOUND, terms.TANH_ODD, terms.TANH_EVEN), x.dtype)


@evaluates(FastSoftmaxOp)
def evaluate_fast_softmax(op: FastSoftmaxOp, x: Array) -> Array:
    """Divides the exponentials by their sum."""
    axis, wide = op.axis.value.data, x.astype(np.float64)
    shifted = wide - np.max(wide, axis=axis, keepdims=True, initial=-np.inf)
    powers = np.exp(shifted) if x.dtype == np.float64 else _fast_exp(shifted)
    return cast_once(powers / np.sum(powers, axis=axis, keepdims=True), x.dtype)


def _fast_exp(x: Array) -> Array:
    near = np.clip(x, -terms.EXP_BOUND, terms.EXP_BOUND)
    n = np.floor(near * terms.LOG2_E + 0.5)
    f = near - n * terms.LN_2
    # The power of two for the least n is 0, because f32 has no exponent for it.
    power = np.where(n < -126, 0.0, np.exp2(n))
    return np.maximum(power * (np.polyval(terms.EXP_TERMS, f) * f * f + f + 1), x)


def _odd_quotient(x: Array, bound: float, odd: Sequence[float], even: Sequence[float]) -> Array:
    near = np.clip(x.astype(np.float64), -bound, bound)
    return near * np.polyval(odd, near * near) / np.polyval(even, near * near)
