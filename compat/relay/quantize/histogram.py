"""Histograms of the absolute values of a tensor, in bounded memory for any number of batches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xrelay.passes.qnn.quantization_points import Bounds

BINS = 2048
"""The number of bins of equal width between 0 and the limit."""


_AT_ONCE = 1 << 20
"""The number of elements that are processed at once, as 64-bit floats."""


class Histogram:
    """Counts of absolute values. Exact zeros, which every quantisation preserves, are counted separately.

    For a value above the limit, the limit is doubled and pairs of bins are merged, as often as necessary. So the
    greatest value stays in the upper half, and bins are never wider than a 1024th of it.
    """

    counts: NDArray[np.int64]
    """The number of values in each bin."""
    limit: float
    """The end of the last bin; 0 before the first non-zero value."""
    zeros: int
    """The number of zeros."""
    low: float
    high: float
    """The least and the greatest value, including 0."""
    is_finite: bool
    """Whether all values were finite. Other values are not counted."""

    def __init__(self) -> None:
        self.counts = np.zeros(BINS, np.int64)
        self.limit = self.low = self.high = 0.0
        self.zeros, self.is_finite = 0, True

    @property
    def total(self) -> int:
        """The number of counted values."""
        return int(self.counts.sum()) + self.zeros

    @property
    def width(self) -> float:
        """The width of a bin."""
        return self.limit / BINS

    @property
    def most(self) -> float:
        """The greatest absolute value."""
        return max(-self.low, self.high)

    def add(self, array: NDArray[np.generic]) -> None:
        """Counts the elements of an array of floats."""
        flat = array.reshape(-1)
        for start in range(0, flat.size, _AT_ONCE):
            self._add(flat[start : start + _AT_ONCE].astype(np.float64))

    def bounds(self, threshold: float) -> Bounds:
        """Returns the bounds of the values clipped at `threshold`."""
        return Bounds(max(self.low, -threshold), min(self.high, threshold))

    def _add(self, values: NDArray[np.float64]) -> None:
        finite = np.isfinite(values)
        if not finite.all():
            self.is_finite = False
            values = values[finite]
        if not values.size:
            return
        self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
        sizes = np.abs(values)
        sizes = sizes[sizes > 0]
        self.zeros += values.size - sizes.size
        if sizes.size:
            self._widen(float(sizes.max()))
            # Divides first, because the reciprocal of a small limit overflows.
            bins = np.minimum(np.floor(sizes / self.limit * BINS), BINS - 1).astype(np.int64)
            self.counts += np.bincount(bins, minlength=BINS)

    def _widen(self, most: float) -> None:
        """Doubles the limit until it is at least `most`."""
        if self.limit == 0.0:
            self.limit = most
        while self.limit < most:
            halves = self.counts.reshape(-1, 2).sum(axis=1)
            self.counts = np.concatenate([halves, np.zeros(BINS - halves.size, np.int64)])
            self.limit *= 2.0
