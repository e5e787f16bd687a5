"""Pools over height and width."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xrelay.dialects.relay.ops.nn_pool import (
    AvgPool2DOp,
    GlobalAvgPool2DOp,
    GlobalMaxPool2DOp,
    MaxPool2DOp,
    Pool2DOp,
    SpatialOp,
)
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.integer_division import truncated_quotient
from xrelay.interpreters.relay.layouts import from_plain, to_plain
from xrelay.interpreters.relay.reduction import value_range
from xrelay.interpreters.relay.registry import evaluates


@evaluates(MaxPool2DOp)
def evaluate_max_pool2d(op: MaxPool2DOp, data: Array) -> Array:
    """The greatest element of each window."""
    plain = _plain(op, data)
    return _laid_out(op, _fold(op, plain, value_range(data.dtype)[0], np.maximum))


@evaluates(AvgPool2DOp)
def evaluate_avg_pool2d(op: AvgPool2DOp, data: Array) -> Array:
    """The mean of each window, summed in double precision; of integers truncated."""
    plain = _plain(op, data)
    wide = plain.astype(np.int64 if data.dtype.kind in "iu" else np.float64)
    total = _fold(op, wide, 0, np.add)
    height, width = _divisors(op, 0, plain.shape[2]), _divisors(op, 1, plain.shape[3])
    count = np.maximum(height[:, None] * width[None, :], 1)
    mean = truncated_quotient(total, np.broadcast_to(count, total.shape)) if data.dtype.kind in "iu" else total / count
    return _laid_out(op, mean.astype(data.dtype))


@evaluates(GlobalAvgPool2DOp)
def evaluate_global_avg_pool2d(op: GlobalAvgPool2DOp, data: Array) -> Array:
    """The mean over height and width, summed in double precision."""
    plain = _plain(op, data)
    total = np.sum(plain, axis=(2, 3), keepdims=True, dtype=np.float64)
    return _laid_out(op, (total / np.float64(plain.shape[2] * plain.shape[3])).astype(data.dtype))


@evaluates(GlobalMaxPool2DOp)
def evaluate_global_max_pool2d(op: GlobalMaxPool2DOp, data: Array) -> Array:
    """The greatest element over height and width."""
    return _laid_out(op, np.max(_plain(op, data), axis=(2, 3), keepdims=True, initial=value_range(data.dtype)[0]))


def _plain(op: SpatialOp, data: Array) -> Array:
    return to_plain(data, op.layouts[0], "NCHW")


def _laid_out(op: SpatialOp, result: Array) -> Array:
    return from_plain(result, "NCHW", op.layouts[1])


def _count(op: Pool2DOp, index: int, extent: int) -> int:
    """The number of windows along height (index 0) or width (1)."""
    room = extent + op.pads[index] + op.pads[index + 2] - (op.dilation_pair[index] * (op.size_pair[index] - 1) + 1)
    stride = op.stride_pair[index]
    return (room + (stride - 1 if op.ceil_mode.value.data else 0)) // stride + 1


def _fold(op: Pool2DOp, data: Array, neutral: float, combine: Callable[[Array, Array], Array]) -> Array:
    """Combine the elements of every window, one place of the window after the other."""
    height, width = data.shape[2:]
    counts = (_count(op, 0, height), _count(op, 1, width))
    top, left, bottom, right = op.pads
    strides, dilation, size = op.stride_pair, op.dilation_pair, op.size_pair
    spans = [(counts[i] - 1) * strides[i] + dilation[i] * (size[i] - 1) + 1 for i in (0, 1)]
    # With ceil_mode the last window may stick out further than the padding.
    after = [max(bottom, spans[0] - height - top), max(right, spans[1] - width - left)]
    padded = np.pad(data, [(0, 0), (0, 0), (top, after[0]), (left, after[1])], constant_values=neutral)
    result = np.full((*data.shape[:2], *counts), neutral, data.dtype)
    for y in range(size[0]):
        rows = slice(y * dilation[0], y * dilation[0] + (counts[0] - 1) * strides[0] + 1, strides[0])
        for x in range(size[1]):
            columns = slice(x * dilation[1], x * dilation[1] + (counts[1] - 1) * strides[1] + 1, strides[1])
            result = combine(result, padded[:, :, rows, columns])
    return result


def _divisors(op: AvgPool2DOp, index: int, extent: int) -> Array:
    """Returns the number of counted places of each window along one axis."""
    begin_pad, end_pad = op.pads[index], op.pads[index + 2]
    low, high = (-begin_pad, extent + end_pad) if op.count_include_pad.value.data else (0, extent)
    starts = np.arange(_count(op, index, extent)) * op.stride_pair[index] - begin_pad
    places = starts[:, None] + np.arange(op.size_pair[index])[None, :] * op.dilation_pair[index]
    return np.sum((places >= low) & (places < high), axis=1)
