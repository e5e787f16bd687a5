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


PERCENTILE_SHARE = 0.99999
"""The share of elements that the percentile keeps, including zeros, as in Relay."""

MAX_CUT = 0.01
"""The share of non-zero elements that `kl_threshold` may clip."""


def percentile_threshold(histogram: Histogram, share: float = PERCENTILE_SHARE) -> float:
    """Returns the end of the first bin at which a `share` of all elements is reached, at most the greatest element."""
    reached = histogram.zeros + np.cumsum(histogram.counts)
    if not histogram.limit or histogram.zeros >= share * histogram.total:
        return 0.0 if not histogram.limit else histogram.most
    index = int(np.argmax(reached >= share * histogram.total))
    return min((index + 1) * histogram.width, histogram.most)


def kl_threshold(histogram: Histogram, levels: int) -> float:
    """Returns the threshold for which quantisation to `levels` steps has the least KL divergence.

    After S. Migacz, "8-bit inference with TensorRT", GPU Technology Conference 2017. For each number of bins, values
    beyond it are counted in the last bin, which yields a distribution P. Q merges the bins into `levels` runs and
    spreads each run's count evenly over its non-empty bins. The threshold is the end of the bins for which the
    divergence of Q from P is least.

    The method differs from the talk in five ways. (1) At most a hundredth of the values is clipped: otherwise a
    distribution with a spike, such as that of `clip` at its bound, is clipped at another spike before it. (2) Cuts
    below `levels` bins are tried too: steps are then finer than bins, so only the clipped values count, and one distant
    outlier is not decisive. (3) Exact zeros are not counted, as every threshold preserves them. (4) A cut is tried only
    after a non-empty bin: after an empty one, the same values are clipped, with wider steps. (5) Q keeps the share of
    values that is not clipped, instead of being normalised, with `sum(P * log(P / Q)) - sum(P) + sum(Q)` as its
    divergence.
    """
    counts = histogram.counts
    filled = np.flatnonzero(counts)
    if not filled.size:
        return 0.0
    kept = np.cumsum(counts)[filled]
    cuts = filled[kept >= (1.0 - MAX_CUT) * kept[-1]] + 1
    divergences = kl_divergences(counts, cuts, levels)
    return min(int(cuts[np.argmin(divergences)]) * histogram.width, histogram.most)


def kl_divergences(counts: NDArray[np.int64], cuts: NDArray[np.int64], levels: int) -> NDArray[np.float64]:
    """Returns the divergence for each of `cuts`, which follow non-empty bins; see `kl_threshold`.

    With c the counts of n values in total, m of them before the cut, s the sum and z the number of non-empty bins of a
    run, it is `(sum c log c - sum s log(s / z) + change) / n - 1 + m / n`, where `change` is the effect of the outliers
    in the last bin. All sums are differences of prefix sums, so each cut costs `levels` steps.
    """
    floats = counts.astype(np.float64)
    sums, filled, entropy = (
        _running(each) for each in (floats, (counts > 0).astype(np.float64), _x_log(floats, floats))
    )
    edges = (np.arange(levels + 1)[None, :] * cuts[:, None]) // levels
    run_sums, run_filled = np.diff(sums[edges], axis=1), np.diff(filled[edges], axis=1)
    spread = run_sums / np.maximum(run_filled, 1.0)
    total, kept = sums[-1], sums[cuts]
    last, outliers = floats[cuts - 1], total - kept
    own = entropy[cuts] - _x_log(last, last) + _x_log(last + outliers, last + outliers)
    other = _x_log(run_sums, spread).sum(axis=1) + outliers * np.log(spread[:, -1])
    return (own - other) / total - outliers / total


def _running(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the sums of the first 0, 1, 2, … values."""
    return np.concatenate([[0.0], np.cumsum(values)])


def _x_log(factor: NDArray[np.float64], value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns `factor * log(value)`, and 0 if the factor is 0."""
    return factor * np.log(np.where(factor > 0, value, 1.0))
