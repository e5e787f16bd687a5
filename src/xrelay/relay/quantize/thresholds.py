"""Where the values of a tensor are cut, so that the steps below are finer: from how they are distributed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xrelay.relay.quantize.histogram import Histogram

SHARE = 0.99999
"""The part of the elements that the percentile keeps, zeros among them, as Relay does."""

MOST_CUT = 0.01
"""The part of the elements, zeros aside, that `kl_threshold` may cut."""


def percentile_threshold(histogram: Histogram, share: float = SHARE) -> float:
    """The end of the bin up to which at least `share` of all elements lie, no more than the greatest of them."""
    reached = histogram.zeros + np.cumsum(histogram.counts)
    if not histogram.limit or histogram.zeros >= share * histogram.total:
        return 0.0 if not histogram.limit else histogram.most
    index = int(np.argmax(reached >= share * histogram.total))
    return min((index + 1) * histogram.width, histogram.most)


def kl_threshold(histogram: Histogram, levels: int) -> float:
    """The threshold whose rounding to `levels` steps loses least of the distribution.

    After S. Migacz, "8-bit inference with TensorRT", GPU Technology Conference 2017. For each number of bins, values
    beyond it are counted in the last bin, which gives a distribution P. Merged into `levels` runs of bins, and each
    run's count spread evenly over its bins that are not empty, the bins give Q. The threshold is the end of the bins
    for which the divergence of Q from P is least.

    Five things differ from the talk. No more than a hundredth of the values is cut: a distribution with a spike, as
    `clip` makes one at its bound, is else cut at another spike in front of it. Cuts before `levels` bins are tried too:
    steps are then finer than bins, so that what is cut counts alone, and one outlier far away decides nothing. Exact
    zeros are not counted, as every threshold keeps them. A cut is tried only behind a bin that is not empty, as behind
    an empty one the same values are cut, with wider steps. And Q keeps the share of values that is not cut, instead of
    being scaled up to a whole, with `sum(P * log(P / Q)) - sum(P) + sum(Q)` as its divergence.
    """
    counts = histogram.counts
    filled = np.flatnonzero(counts)
    if not filled.size:
        return 0.0
    kept = np.cumsum(counts)[filled]
    cuts = filled[kept >= (1.0 - MOST_CUT) * kept[-1]] + 1
    divergences = kl_divergences(counts, cuts, levels)
    return min(int(cuts[np.argmin(divergences)]) * histogram.width, histogram.most)


def kl_divergences(counts: NDArray[np.int64], cuts: NDArray[np.int64], levels: int) -> NDArray[np.float64]:
    """The divergence for each of `cuts`, which lie behind bins that are not empty; see `kl_threshold`.

    With c the counts of n values in all, of which m lie before the cut, s the sum and z the number of filled bins of
    a run, it is `(sum c log c - sum s log(s / z) + change) / n - 1 + m / n`, where the last bin's outliers are the
    change. All sums are differences of running ones, so that every cut costs `levels` steps.
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
    """The sums of the first 0, 1, 2, … values."""
    return np.concatenate([[0.0], np.cumsum(values)])


def _x_log(factor: NDArray[np.float64], value: NDArray[np.float64]) -> NDArray[np.float64]:
    """`factor * log(value)`, 0 where the factor is."""
    return factor * np.log(np.where(factor > 0, value, 1.0))
