"""Convolution of arrays, as a matrix product, and the places of transposed convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from xrelay.dialects.relay.meaning.windows import steps_inside, taps
from xrelay.dialects.relay.structure.weights import Array
from xrelay.index_algebra.windows import WindowAxis


def convolve(data: Array, kernel: Array, window: Sequence[WindowAxis[int]], groups: int) -> Array:
    """Returns the convolution (N, O, …) of data (N, C, …) with kernels (O, C / groups, …)."""
    batch, channels = data.shape[:2]
    out_channels = kernel.shape[0]
    counts = [axis.count(extent) for axis, extent in zip(window, data.shape[2:], strict=True)]
    depth, points = channels // groups * prod(kernel.shape[2:]), prod(counts)
    matrix = kernel.reshape(groups, out_channels // groups, depth)
    result = np.empty((batch, groups, out_channels // groups, points), data.dtype)
    for image in range(batch):
        columns = np.stack(list(taps(data[image : image + 1], window, counts, 0)), axis=2)
        np.matmul(matrix, columns.reshape(groups, depth, points), out=result[image])
    return result.reshape(batch, out_channels, *counts)


def spread(axis: WindowAxis[int], tap: int, extent: int, count: int) -> tuple[slice, slice]:
    """Returns the elements along an axis that a tap adds to a result of `count` elements, and their places in it."""
    first = axis.place(0, tap)
    begin, end = steps_inside(first, axis.stride, extent, count)
    if begin == end:
        return slice(0), slice(0)
    return slice(begin, end), slice(first + begin * axis.stride, first + (end - 1) * axis.stride + 1, axis.stride)
