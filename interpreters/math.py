"""Semantics of the `math` ops on numpy values."""

from __future__ import annotations

from math import erf as _erf_of_float
from typing import Any

import numpy as np
from xdsl.ir import Operation

from xrelay.dialects.shared.numerics.powers import float_power
from xrelay.interpreters.scalar_meaning import (
    ScalarCompiler,
    ScalarFunction,
    Value,
    caster,
    numpy_dtype,
    plain,
    rounded,
)


def _erf(value: Value) -> Value:
    """Computes `math.erf` in double precision, element by element, because numpy has no erf."""
    flat = [_erf_of_float(float(x)) for x in np.ravel(value)]
    return np.array(flat, dtype=np.float64).reshape(np.shape(value))


def _rsqrt(value: Value) -> Value:
    return 1 / np.sqrt(value)


def _round_half_away(value: Value) -> Value:
    return np.copysign(np.floor(np.abs(value) + 0.5), value)


def _fma(op: Operation) -> ScalarFunction:
    """Compiles a multiply-add with one rounding; products of narrow floats are exact in double precision."""
    dtype = numpy_dtype(op.results[0].type)
    cast, widen = caster(dtype), caster(np.dtype(np.float64))

    def fma(a: Value, b: Value, c: Value) -> Value:
        return cast(widen(a) * widen(b) + widen(c))

    return fma


def _bits(dtype: np.dtype[Any]) -> int:
    return 1 if dtype == np.bool_ else dtype.itemsize * 8


def _counting(count: ScalarFunction) -> ScalarCompiler:
    """Compiles a function of bit patterns: `count(pattern as Python int, width)` for each element."""

    def compiler(op: Operation) -> ScalarFunction:
        dtype = numpy_dtype(op.results[0].type)
        width, cast = _bits(dtype), caster(dtype)
        mask = (1 << width) - 1

        def function(value: Value) -> Value:
            flat = [count(int(x) & mask, width) for x in np.ravel(value)]
            return cast(np.array(flat, dtype=np.int64).reshape(np.shape(value)))

        return function

    return compiler


def _leading_zeros(pattern: int, width: int) -> int:
    return width - pattern.bit_length()


def _trailing_zeros(pattern: int, width: int) -> int:
    return width if pattern == 0 else (pattern & -pattern).bit_length() - 1


def _ones(pattern: int, width: int) -> int:
    return pattern.bit_count()


MATH: dict[str, ScalarCompiler] = {
    "math.absf": plain(np.abs),
    "math.absi": plain(np.abs),
    "math.acos": rounded(np.arccos),
    "math.acosh": rounded(np.arccosh),
    "math.asin": rounded(np.arcsin),
    "math.asinh": rounded(np.arcsinh),
    "math.atan": rounded(np.arctan),
    "math.atan2": rounded(np.arctan2),
    "math.atanh": rounded(np.arctanh),
    "math.cbrt": rounded(np.cbrt),
    "math.ceil": plain(np.ceil),
    "math.copysign": plain(np.copysign),
    "math.cos": rounded(np.cos),
    "math.cosh": rounded(np.cosh),
    "math.ctlz": _counting(_leading_zeros),
    "math.ctpop": _counting(_ones),
    "math.cttz": _counting(_trailing_zeros),
    "math.erf": rounded(_erf),
    "math.exp": rounded(np.exp),
    "math.exp2": rounded(np.exp2),
    "math.expm1": rounded(np.expm1),
    "math.floor": plain(np.floor),
    "math.fma": _fma,
    "math.fpowi": rounded(np.power),
    "math.ipowi": rounded(np.power),
    "math.log": rounded(np.log),
    "math.log10": rounded(np.log10),
    "math.log1p": rounded(np.log1p),
    "math.log2": rounded(np.log2),
    "math.powf": rounded(float_power),
    "math.round": plain(_round_half_away),
    "math.roundeven": plain(np.rint),
    "math.rsqrt": rounded(_rsqrt),
    "math.sin": rounded(np.sin),
    "math.sinh": rounded(np.sinh),
    "math.sqrt": rounded(np.sqrt),
    "math.tan": rounded(np.tan),
    "math.tanh": rounded(np.tanh),
    "math.trunc": plain(np.trunc),
}
"""The compiler of each op, by name."""
