"""Parts of tensors: slices that are set, windows, and elements at several indices."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.ops.tensor_windows import AdvIndexOp, SlidingWindowOp, StridedSetOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import evaluates


@evaluates(StridedSetOp)
def evaluate_strided_set(op: StridedSetOp, data: Array, v: Array, begin: Array, end: Array, strides: Array) -> Array:
    """An assignment to a slice, as far as both reach."""
    result, bounds = data.copy(), [each.astype(np.int64).tolist() for each in (begin, end, strides)]
    if 0 in bounds[2]:
        return result
    part = result[tuple(slice(*numbers) for numbers in zip(*bounds, strict=True))]
    common = tuple(slice(0, min(extents)) for extents in zip(part.shape, v.shape, strict=True))
    part[common] = v[common]
    return result


@evaluates(SlidingWindowOp)
def evaluate_sliding_window(op: SlidingWindowOp, data: Array) -> Array:
    """Numpy's views, of which some are left out."""
    axis = op.axis.value.data % data.ndim
    axes = tuple(range(axis, data.ndim))
    windows = np.lib.stride_tricks.sliding_window_view(data, ints(op.window_shape), axes)
    return np.ascontiguousarray(windows[(slice(None),) * axis + tuple(slice(None, None, s) for s in ints(op.strides))])


@evaluates(AdvIndexOp)
def evaluate_adv_index(op: AdvIndexOp, inputs: tuple[Array, ...]) -> Array:
    """As numpy indexes."""
    data, *indices = inputs
    for axis, each in enumerate(indices):
        count = data.shape[axis]
        if np.any((each >= count) | (each < -count)):
            raise InterpreterError(f"an index lies outside of [-{count}, {count - 1}]")
    return data[tuple(indices)]
