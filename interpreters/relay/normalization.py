"""Batch normalisation and softmax."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.nn_activation import SoftmaxOp
from xrelay.dialects.relay.ops.nn_norm import BatchNormOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates


@evaluates(BatchNormOp)
def evaluate_batch_norm(
    op: BatchNormOp, data: Array, gamma: Array, beta: Array, mean: Array, variance: Array
) -> tuple[Array, Array, Array]:
    """Normalises in double precision and returns the statistics unchanged."""
    axis = op.axis.value.data % data.ndim
    along = [-1 if position == axis else 1 for position in range(data.ndim)]
    scale = 1.0 / np.sqrt(variance.astype(np.float64) + op.epsilon.value.data)
    if op.scale.value.data:
        scale = scale * gamma.astype(np.float64)
    shift = -mean.astype(np.float64) * scale
    if op.center.value.data:
        shift = shift + beta.astype(np.float64)
    normal = data.astype(np.float64) * scale.reshape(along) + shift.reshape(along)
    return normal.astype(data.dtype), mean, variance


@evaluates(SoftmaxOp)
def evaluate_softmax(op: SoftmaxOp, data: Array) -> Array:
    """Divides exponentials relative to the greatest element by their sum, in double precision."""
    axis = op.axis.value.data
    wide = data.astype(np.float64)
    exponential = np.exp(wide - np.max(wide, axis=axis, keepdims=True, initial=-np.inf))
    return (exponential / np.sum(exponential, axis=axis, keepdims=True)).astype(data.dtype)
