"""Arithmetic on quantised arrays: the differences from zero points, and their rounding to other scales."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.meaning.fixed_point import divided, saturated
from xrelay.dialects.relay.structure.weights import Array


def broadcast_along(parameter: Array, data: Array, axis: int) -> Array:
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
    """Returns the quotient of two scales times a number, in f64; the second scale is a single number."""
    return np.asarray(scale.astype(np.float64) * times / output_scale.reshape(()).astype(np.float64))


def scale_distances(distances: Array, factor: Array, *, away: bool = False) -> Array:
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


def add_zero_point(whole: Array, zero_point: Array, dtype: np.dtype) -> Array:
    """Adds a zero point to whole numbers and saturates; NaN counts as 0."""
    exact = np.where(np.isnan(whole), 0, whole).astype(np.float64) if whole.dtype.kind == "f" else whole
    limits = np.iinfo(dtype)
    return saturated(exact + np.clip(zero_point, limits.min, limits.max), dtype)


def requantize(distances: Array, scale: Array, output_scale: Array, zero_point: Array, dtype: np.dtype) -> Array:
    """Rounds differences times the quotient of two single scales, and adds a single zero point."""
    return add_zero_point(
        scale_distances(distances, ratio(scale.reshape(()), output_scale)), zero_point.reshape(()), dtype
    )
