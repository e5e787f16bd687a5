"""Quantisation parameters from the range of a tensor.

Signed b-bit integers are symmetric around 0: `scale = most / (2**(b-1) - 1)`, zero point 0. Unsigned ones cover the
range from the least to the greatest number, extended to 0: `scale = (high - low) / (2**b - 1)`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xrelay.dialects.relay.structure.weights import Array

BITS = range(2, 9)
"""The supported numbers of bits."""

POWER2, MAX = "power2", "max"
WEIGHT_SCALES = (POWER2, MAX)
"""How the greatest number of a weight becomes a bound: the next power of two, or the number itself."""

_TINY = float(np.finfo(np.float32).tiny)


@dataclass(frozen=True)
class Bounds:
    """The range of a tensor's elements, or the range to which they are clipped."""

    low: float
    high: float

    @property
    def most(self) -> float:
        """The greatest absolute value."""
        return max(abs(self.low), abs(self.high))

    @staticmethod
    def of_domain(most: float, bits: int) -> Bounds:
        """The bounds for numbers below `most`, divided by Relay into `2**(bits-1)` steps: one step below `most`."""
        steps = 2.0 ** (bits - 1)
        reached = most * (steps - 1) / steps
        return Bounds(-reached, reached)

    @staticmethod
    def of_array(array: Array) -> Bounds:
        """The least and the greatest element; 0 for an empty array."""
        if not array.size:
            return Bounds(0.0, 0.0)
        return Bounds(float(array.min()), float(array.max()))


@dataclass(frozen=True)
class Grid:
    """The numbers `scale * (n - zero_point)` for n from `least` to `greatest`: the possible results of rounding."""

    scale: Array
    zero_point: Array
    dtype: str
    least: int
    greatest: int

    @property
    def is_cut(self) -> bool:
        """Whether the dtype has integers greater than `greatest`, so that quantisation must clip."""
        return self.greatest < np.iinfo(self.dtype).max


def activation_grid(bounds: Bounds, bits: int, dtype: str) -> Grid:
    """Returns the grid for numbers within `bounds`, with `bits` bits in elements of `dtype`."""
    if np.iinfo(dtype).min < 0:
        return _signed(np.asarray(bounds.most), bits, dtype)
    low, high = min(bounds.low, 0.0), max(bounds.high, 0.0)
    greatest = 2**bits - 1
    scale = _scale(np.asarray((high - low) / greatest))
    zero_point = np.clip(np.round(-low / scale.astype(np.float64)), 0, greatest)
    return Grid(scale, np.asarray(zero_point, np.int32), dtype, 0, greatest)


def weight_grid(weight: Array, axis: int | None, bits: int, dtype: str, how: str) -> Grid:
    """Returns the grid of a constant: with a scale per index along `axis`, or one scale."""
    others = None if axis is None else tuple(each for each in range(weight.ndim) if each != axis)
    most = np.abs(weight.astype(np.float64)).max(axis=others, initial=0.0)
    if how == POWER2:
        exponents = np.ceil(np.log2(most, where=most > 0, out=np.zeros_like(most)))
        levels = 2.0 ** (bits - 1)
        most = np.where(most > 0, np.exp2(exponents) * ((levels - 1) / levels), 0.0)
    return _signed(np.asarray(most), bits, dtype)


def _signed(most: Array, bits: int, dtype: str) -> Grid:
    greatest = 2 ** (bits - 1) - 1
    scale = _scale(most / greatest)
    return Grid(scale, np.zeros(scale.shape, np.int32), dtype, -greatest, greatest)


def _scale(step: Array) -> Array:
    """Positive f32 scales: 1 if all numbers are 0, and at least the smallest normal number."""
    return np.asarray(np.where(step > 0, np.maximum(step, _TINY), 1.0), np.float32)
