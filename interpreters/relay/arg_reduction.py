"""Argmax, argmin and variance."""

from __future__ import annotations

from math import prod

import numpy as np

from xrelay.dialects.relay.ops.tensor_arg_reduce import ArgmaxOp, ArgminOp, ArgReduceOp
from xrelay.dialects.relay.ops.tensor_variance import VarianceOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates


@evaluates(ArgmaxOp, ArgminOp)
def evaluate_arg_reduction(op: ArgReduceOp, data: Array) -> Array:
    """Returns the index of the first extreme element, or of the last: the first in reverse order."""
    axes = op.reduced_axes(data.ndim)
    kept = [axis for axis in range(data.ndim) if axis not in axes]
    count = prod(data.shape[axis] for axis in axes)
    rows = data.transpose([*kept, *axes]).reshape([*(data.shape[axis] for axis in kept), count])
    choose = np.argmax if isinstance(op, ArgmaxOp) else np.argmin
    last = bool(op.select_last_index.value.data)
    found = count - 1 - choose(rows[..., ::-1], axis=-1) if last else choose(rows, axis=-1)
    shape = [1 if axis in axes else extent for axis, extent in enumerate(data.shape)]
    shape = shape if op.keepdims.value.data else [data.shape[axis] for axis in kept]
    return np.asarray(found, np.int32).reshape(shape)


@evaluates(VarianceOp)
def evaluate_variance(op: VarianceOp, data: Array, mean: Array) -> Array:
    """Sums squared differences in double precision."""
    axes = op.reduced_axes(data.ndim)
    count = max(prod(data.shape[axis] for axis in axes) - bool(op.unbiased.value.data), 0)
    distances = data.astype(np.float64) - mean.astype(np.float64)
    total = np.sum(distances * distances, axis=axes, keepdims=bool(op.keepdims.value.data))
    return np.asarray(np.asarray(total) / np.float64(count)).astype(data.dtype)
