"""Normalisations by the statistics of the data at hand."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.ops.nn_layer_norm import (
    GroupNormOp,
    InstanceNormOp,
    L2NormalizeOp,
    LayerNormOp,
    NormOp,
    RMSNormOp,
)
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.in_double import in_double
from xrelay.interpreters.relay.registry import evaluates


@evaluates(LayerNormOp)
@in_double
def evaluate_layer_norm(op: LayerNormOp, data: Array, gamma: Array, beta: Array) -> Array:
    """Statistics along one axis."""
    return _scaled(op, _normalised(op, data, [op.axis.value.data]), gamma, beta)


@evaluates(InstanceNormOp)
@in_double
def evaluate_instance_norm(op: InstanceNormOp, data: Array, gamma: Array, beta: Array) -> Array:
    """Statistics of each instance and channel."""
    others = set(range(data.ndim)) - {0, op.axis.value.data % data.ndim}
    return _scaled(op, _normalised(op, data, others), gamma, beta)


@evaluates(GroupNormOp)
@in_double
def evaluate_group_norm(op: GroupNormOp, data: Array, gamma: Array, beta: Array) -> Array:
    """Statistics of each group, which becomes an axis of its own."""
    axis, groups = op.axis.value.data % data.ndim, op.num_groups.value.data
    shape = (*data.shape[:axis], groups, data.shape[axis] // groups, *data.shape[axis + 1 :])
    others = set(range(data.ndim + 1)) - {0, axis}
    return _scaled(op, _normalised(op, data.reshape(shape), others).reshape(data.shape), gamma, beta)


@evaluates(RMSNormOp)
@in_double
def evaluate_rms_norm(op: RMSNormOp, data: Array, gamma: Array) -> Array:
    """The definition."""
    axis = op.axis.value.data
    return data / np.sqrt(_mean(data**2, (axis,)) + op.epsilon.value.data) * _along(gamma, axis, data.ndim)


@evaluates(L2NormalizeOp)
@in_double
def evaluate_l2_normalize(op: L2NormalizeOp, data: Array) -> Array:
    """The definition."""
    axes = None if op.axis is None else ints(op.axis)
    return data / np.sqrt(np.maximum(np.sum(data**2, axis=axes, keepdims=True), op.eps.value.data))


def _normalised(op: NormOp, data: Array, axes: Iterable[int]) -> Array:
    over = tuple(axes)
    centred = data - _mean(data, over)
    return centred / np.sqrt(_mean(centred**2, over) + op.epsilon.value.data)


def _mean(data: Array, axes: tuple[int, ...]) -> Array:
    """The mean over `axes`, which keep extent 1; of no elements it is NaN."""
    total = np.sum(data, axis=axes, keepdims=True)
    return total / (data.size // total.size if total.size else 1)


def _scaled(op: NormOp, normal: Array, gamma: Array, beta: Array) -> Array:
    if op.scale.value.data:
        normal = normal * _along(gamma, op.axis.value.data, normal.ndim)
    return normal + _along(beta, op.axis.value.data, normal.ndim) if op.center.value.data else normal


def _along(vector: Array, axis: int, rank: int) -> Array:
    return vector.reshape([-1 if position == axis % rank else 1 for position in range(rank)])
