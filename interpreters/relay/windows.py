"""Windows over arrays: what convolutions and pools do tap by tap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from xrelay.dialects.relay.structure.weights import Array
from xrelay.index_algebra.windows import WindowAxis


def taps(data: Array, window: Sequence[WindowAxis[int]], counts: Sequence[int], value: float) -> Iterator[Array]:
    """For every tap of the window, in order, what it sees in all windows of (N, C, …): (N, C, *counts).

    Around the data is `value`, in the padding and where windows stick out of that too.
    """
    ends = [axis.covered(count) for axis, count in zip(window, counts, strict=True)]
    sides = [
        (axis.before, max(0, end - extent - axis.before))
        for axis, end, extent in zip(window, ends, data.shape[2:], strict=True)
    ]
    padded = np.pad(data, [(0, 0), (0, 0), *sides], constant_values=value)
    for tap in np.ndindex(*(axis.size for axis in window)):
        steps = zip(window, tap, counts, strict=True)
        yield padded[
            (..., *(slice(t * a.dilation, t * a.dilation + (n - 1) * a.stride + 1, a.stride) for a, t, n in steps))
        ]
