"""Pools with given result extents."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.meaning.integer_division import truncated_quotient
from xrelay.dialects.relay.meaning.layouts import from_plain, to_plain
from xrelay.dialects.relay.ops.nn_adaptive_pool import ADAPTIVE_AVG_POOLS, ADAPTIVE_MAX_POOLS, AdaptivePoolOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import evaluates


@evaluates(*ADAPTIVE_AVG_POOLS)
def evaluate_adaptive_avg_pool(op: AdaptivePoolOp, data: Array) -> Array:
    """Returns the mean of each window, summed in double precision; means of integers are truncated."""
    return _of_windows(op, data, _truncated_mean if data.dtype.kind in "iu" else _mean)


@evaluates(*ADAPTIVE_MAX_POOLS)
def evaluate_adaptive_max_pool(op: AdaptivePoolOp, data: Array) -> Array:
    """Returns the greatest element of each window."""
    return _of_windows(op, data, lambda window, axes: np.asarray(np.maximum.reduce(window, axis=axes)))


def _mean(window: Array, axes: tuple[int, ...]) -> Array:
    return np.asarray(np.mean(window, axis=axes, dtype=np.float64))


def _truncated_mean(window: Array, axes: tuple[int, ...]) -> Array:
    count = prod(window.shape[axis] for axis in axes)
    return truncated_quotient(np.asarray(np.sum(window, axis=axes, dtype=np.int64)), count)


def _of_windows(op: AdaptivePoolOp, data: Array, fold: Callable[[Array, tuple[int, ...]], Array]) -> Array:
    layout, out_layout = op.layouts
    plain = to_plain(data, layout, op.image_axes)
    extents, sizes = plain.shape[2:], ints(op.output_size)
    counts = tuple(sizes) * (len(extents) if len(sizes) == 1 else 1) if sizes else extents
    for axis, extent, count in zip(op.AXES, extents, counts, strict=True):
        if count and not extent:
            raise InterpreterError(f"axis {axis} of {count} windows: 0 is less than 1")
    result, axes = np.empty((*plain.shape[:2], *counts), data.dtype), tuple(range(2, plain.ndim))
    for place in product(*map(range, counts)):
        rows = zip(place, extents, counts, strict=True)
        window = [slice(i * extent // count, -(-(i + 1) * extent // count)) for i, extent, count in rows]
        result[(..., *place)] = fold(plain[(..., *window)], axes)
    return from_plain(result, op.image_axes, out_layout)
