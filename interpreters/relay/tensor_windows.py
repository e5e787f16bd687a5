"""Slice assignment, sliding windows and advanced indexing."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.ops.tensor.windows import AdvIndexOp, SlidingWindowOp, StridedSetOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import evaluates


@evaluates(StridedSetOp)
def evaluate_strided_set(op: StridedSetOp, data: Array, v: Array, begin: Array, end: Array, strides: Array) -> Array:
    """Assigns the elements that the slice and `v` have in common."""
    result, bounds = data.copy(), [each.astype(np.int64).tolist() for each in (begin, end, strides)]
    if 0 in bounds[2]:
        return result
    part = result[tuple(slice(*numbers) for numbers in zip(*bounds, strict=True))]
    common = tuple(slice(0, min(extents)) for extents in zip(part.shape, v.shape, strict=True))
    part[common] = v[common]
    return result


@evaluates(SlidingWindowOp)
def evaluate_sliding_window(op: SlidingWindowOp, data: Array) -> Array:
    """Uses `sliding_window_view` with strides."""
    axis = op.axis.value.data % data.ndim
    axes = tuple(range(axis, data.ndim))
    windows = np.lib.stride_tricks.sliding_window_view(data, ints(op.window_shape), axes)
    return np.ascontiguousarray(windows[(slice(None),) * axis + tuple(slice(None, None, s) for s in ints(op.strides))])


@evaluates(AdvIndexOp)
def evaluate_adv_index(op: AdvIndexOp, inputs: tuple[Array, ...]) -> Array:
    """Indexes as numpy does."""
    data, *indices = inputs
    for axis, each in enumerate(indices):
        count = data.shape[axis]
        if np.any((each >= count) | (each < -count)):
            raise InterpreterError(f"an index lies outside of [-{count}, {count - 1}]")
    return data[tuple(indices)]
