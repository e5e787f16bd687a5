"""Quantisation, dequantisation and requantisation."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.qnn_quantize import DequantizeOp, QuantizeOp, RequantizeOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.numerics.rounding import cast_once
from xrelay.interpreters.relay.fixed_point import divided, saturated
from xrelay.interpreters.relay.registry import evaluates


def along(parameter: Array, data: Array, axis: int) -> Array:
    """Reshapes a number, or a vector along an axis of the data, so that it broadcasts."""
    if parameter.size == 1:
        return parameter.reshape(())
    return parameter.reshape([-1] + [1] * (data.ndim - 1 - axis % data.ndim))


def distance(data: Array, zero_point: Array) -> Array:
    """Subtracts the zero point in 32 bits."""
    return np.subtract(data.astype(np.int32), zero_point)


def near_distance(data: Array, zero_point: Array) -> Array:
    """Subtracts the zero point and saturates to 32 bits."""
    return saturated(np.subtract(data.astype(np.int64), zero_point), np.dtype(np.int32))


def ratio(scale: Array, output_scale: Array, times: float = 1.0) -> Array:
    """Returns the quotient of two scales times a number, in f64."""
    return np.asarray(scale.astype(np.float64) * times / output_scale.astype(np.float64))


def scaled(distances: Array, factor: Array, *, away: bool = False) -> Array:
    """Multiplies differences by a ratio with a significand rounded to 31 bits; rounds to 64-bit integers."""
    finite = np.isfinite(factor)
    significand, exponent = np.frexp(np.where(finite, np.abs(factor), 1.0))
    multiplier = np.floor(significand * 2.0**31 + 0.5).astype(np.int64)
    places = 31 - exponent.astype(np.int64)
    large = ~finite | (places < 0)
    multiplier = np.where(large, 1 << 31, np.where((places > 62) | (factor == 0), 0, multiplier))
    signed = np.where(factor < 0, -multiplier, multiplier)
    return divided(distances.astype(np.int64) * signed, np.where(large, 0, np.clip(places, 0, 62)), away=away)


def scaled_in_floats(distances: Array, factor: Array, dtype: np.dtype, *, away: bool = False) -> Array:
    """Multiplies differences by a ratio in a float type; rounds halves up or away from zero."""
    product = np.asarray(distances.astype(dtype) * factor.astype(dtype))
    if away:
        magnitude = np.abs(product)
        return np.copysign(np.floor(magnitude) + (magnitude - np.floor(magnitude) >= 0.5), product)
    return np.floor(product) + (product - np.floor(product) >= 0.5)


def shifted(whole: Array, zero_point: Array, dtype: np.dtype) -> Array:
    """Adds a zero point to whole numbers and saturates; NaN counts as 0."""
    exact = np.where(np.isnan(whole), 0, whole).astype(np.float64) if whole.dtype.kind == "f" else whole
    limits = np.iinfo(dtype)
    return saturated(exact + np.clip(zero_point, limits.min, limits.max), dtype)


@evaluates(QuantizeOp)
def evaluate_quantize(op: QuantizeOp, data: Array, scale: Array, zero_point: Array) -> Array:
    """Rounds quotients by the scale."""
    axis, wide = op.axis.value.data, np.promote_types(data.dtype, np.float32)
    quotient = data.astype(wide) / along(scale, data, axis).astype(wide)
    return shifted(np.rint(quotient), along(zero_point, data, axis), numpy_dtype(op.out_dtype))


@evaluates(DequantizeOp)
def evaluate_dequantize(op: DequantizeOp, data: Array, scale: Array, zero_point: Array) -> Array:
    """Multiplies differences by the scale."""
    axis, result = op.axis.value.data, numpy_dtype(op.out_dtype)
    wide = np.promote_types(result, np.float32)
    distances = distance(data, along(zero_point, data, axis))
    return cast_once(np.asarray(distances.astype(wide) * along(scale, data, axis).astype(wide)), result)


@evaluates(RequantizeOp)
def evaluate_requantize(
    op: RequantizeOp, data: Array, scale: Array, zero_point: Array, output_scale: Array, output_zero_point: Array
) -> Array:
    """Multiplies differences by the quotient of the scales and rounds."""
    axis, away, dtype = op.axis.value.data, op.rounding.data == "TONEAREST", numpy_dtype(op.compute_dtype)
    distances = distance(data, along(zero_point, data, axis))
    factor = ratio(along(scale, data, axis), output_scale.reshape(()))
    if dtype.kind == "i":
        whole = scaled(distances, factor, away=away)
    else:
        whole = scaled_in_floats(distances, factor, dtype, away=away)
    return shifted(whole, output_zero_point.reshape(()), numpy_dtype(op.out_dtype))
