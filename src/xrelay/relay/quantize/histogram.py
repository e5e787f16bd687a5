"""How the absolute values of a tensor are distributed, in bounded memory, whatever many batches are looked at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xrelay.passes.qnn.quantization_bounds import Bounds

BINS = 2048
"""Between 0 and the limit lie so many bins of equal width."""


_AT_ONCE = 1 << 20
"""So many elements are looked at together, as numbers of 64 bits."""


class Histogram:
    """Counts of absolute values; exact zeros, which every quantisation keeps, are counted apart.

    Where a greater number comes, the limit is doubled, and neighbouring bins become one, as often as it takes: the
    greatest number stays in the upper half, so that bins are never wider than a 1024th of it.
    """

    counts: NDArray[np.int64]
    """How many values lie in each bin."""
    limit: float
    """The end of the last bin; 0 as long as there was no number but 0."""
    zeros: int
    """How many values are 0."""
    low: float
    high: float
    """The least and the greatest value, 0 included."""
    is_finite: bool
    """Whether all values were finite; what was not is not counted."""

    def __init__(self) -> None:
        self.counts = np.zeros(BINS, np.int64)
        self.limit = self.low = self.high = 0.0
        self.zeros, self.is_finite = 0, True

    @property
    def total(self) -> int:
        """How many values were counted."""
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
        """Count the elements of an array of floats."""
        flat = array.reshape(-1)
        for start in range(0, flat.size, _AT_ONCE):
            self._add(flat[start : start + _AT_ONCE].astype(np.float64))

    def bounds(self, threshold: float) -> Bounds:
        """The values, cut at `threshold`, lie between these."""
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
            # The quotient is taken first: a small limit has no reciprocal.
            bins = np.minimum(np.floor(sizes / self.limit * BINS), BINS - 1).astype(np.int64)
            self.counts += np.bincount(bins, minlength=BINS)

    def _widen(self, most: float) -> None:
        """Double the limit until it is not below `most`."""
        if self.limit == 0.0:
            self.limit = most
        while self.limit < most:
            halves = self.counts.reshape(-1, 2).sum(axis=1)
            self.counts = np.concatenate([halves, np.zeros(BINS - halves.size, np.int64)])
            self.limit *= 2.0
