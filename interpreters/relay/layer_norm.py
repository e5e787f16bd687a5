"""Normalisations by statistics of the data."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.meaning.in_double import in_double
from xrelay.dialects.relay.ops.nn_layer_norm import (
    GroupNormOp,
    InstanceNormOp,
    L2NormalizeOp,
    LayerNormOp,
    NormOp,
    RMSNormOp,
)
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates


@evaluates(GroupNormOp, InstanceNormOp, LayerNormOp)
@in_double
def evaluate_norm(op: NormOp, data: Array, gamma: Array, beta: Array) -> Array:
    """Normalises along one axis, for each instance and channel, or for each group after a reshape."""
    axis, shape = op.axis.value.data % data.ndim, data.shape
    if isinstance(op, GroupNormOp):
        groups = op.num_groups.value.data
        data = data.reshape(*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :])
    over = (axis,) if isinstance(op, LayerNormOp) else tuple(each for each in range(data.ndim) if each not in (0, axis))
    centred = data - _mean(data, over)
    normal = (centred / np.sqrt(_mean(centred**2, over) + op.epsilon.value.data)).reshape(shape)
    scaled = normal * _along(gamma, axis, normal.ndim) if op.scale.value.data else normal
    return scaled + _along(beta, axis, normal.ndim) if op.center.value.data else scaled


@evaluates(RMSNormOp)
@in_double
def evaluate_rms_norm(op: RMSNormOp, data: Array, gamma: Array) -> Array:
    """Evaluates the formula."""
    axis = op.axis.value.data
    return data / np.sqrt(_mean(data**2, (axis,)) + op.epsilon.value.data) * _along(gamma, axis, data.ndim)


@evaluates(L2NormalizeOp)
@in_double
def evaluate_l2_normalize(op: L2NormalizeOp, data: Array) -> Array:
    """Evaluates the formula."""
    axes = None if op.axis is None else ints(op.axis)
    return data / np.sqrt(np.maximum(np.sum(data**2, axis=axes, keepdims=True), op.eps.value.data))


def _mean(data: Array, axes: tuple[int, ...]) -> Array:
    """Returns the mean over `axes`, which keep extent 1; NaN if there are no elements."""
    total = np.sum(data, axis=axes, keepdims=True)
    return total / (data.size // total.size if total.size else 1)


def _along(vector: Array, axis: int, rank: int) -> Array:
    return vector.reshape([-1 if position == axis % rank else 1 for position in range(rank)])
