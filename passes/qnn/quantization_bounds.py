"""From the range of a tensor's numbers to the steps that they are rounded to.

Signed integers of b bits are spread evenly around 0: `scale = most / (2**(b-1) - 1)`, zero point 0. Unsigned ones cover
from the least to the greatest number and always hold 0: `scale = (high - low) / (2**b - 1)`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xrelay.dialects.relay.structure.weights import Array

BITS = range(2, 9)
"""How many bits the integers may have."""

POWER2, MAX = "power2", "max"
WEIGHT_SCALES = (POWER2, MAX)
"""How the greatest number of a weight becomes a bound: the power of two above it, or itself."""

_TINY = float(np.finfo(np.float32).tiny)


@dataclass(frozen=True)
class Bounds:
    """Between which numbers a tensor's elements lie, or to which they are cut."""

    low: float
    high: float

    @property
    def most(self) -> float:
        """The greatest absolute value."""
        return max(abs(self.low), abs(self.high))

    @staticmethod
    def of_domain(most: float, bits: int) -> Bounds:
        """Numbers below `most`, of which Relay makes `2**(bits-1)` steps: the greatest integer is one step below it."""
        steps = 2.0 ** (bits - 1)
        reached = most * (steps - 1) / steps
        return Bounds(-reached, reached)

    @staticmethod
    def of_array(array: Array) -> Bounds:
        """The least and the greatest element; an empty array has 0 alone."""
        if not array.size:
            return Bounds(0.0, 0.0)
        return Bounds(float(array.min()), float(array.max()))


@dataclass(frozen=True)
class Grid:
    """The numbers `scale * (n - zero_point)` for the n from `least` to `greatest`: steps that may be rounded to."""

    scale: Array
    zero_point: Array
    dtype: str
    least: int
    greatest: int

    @property
    def is_cut(self) -> bool:
        """Whether the dtype holds integers beyond the greatest, so that rounding has to cut."""
        return self.greatest < np.iinfo(self.dtype).max


def activation_grid(bounds: Bounds, bits: int, dtype: str) -> Grid:
    """The steps for numbers within `bounds`, of `bits` bits in elements of `dtype`."""
    if np.iinfo(dtype).min < 0:
        return _signed(np.asarray(bounds.most), bits, dtype)
    low, high = min(bounds.low, 0.0), max(bounds.high, 0.0)
    greatest = 2**bits - 1
    scale = _scale(np.asarray((high - low) / greatest))
    zero_point = np.clip(np.round(-low / scale.astype(np.float64)), 0, greatest)
    return Grid(scale, np.asarray(zero_point, np.int32), dtype, 0, greatest)


def weight_grid(weight: Array, axis: int | None, bits: int, dtype: str, how: str) -> Grid:
    """The steps for a constant: its own for each place along `axis`, or the same for all."""
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
    """Scales in f32 that are positive: 1 where all numbers are 0, and no less than the least normal one."""
    return np.asarray(np.where(step > 0, np.maximum(step, _TINY), 1.0), np.float32)
